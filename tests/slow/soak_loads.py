"""What is run for a long time: one class a part of the library, with drift that returns, sleep, comings and goings.

All take their rows from tables that are drawn once and gone through again and again, and use models that do not grow,
so that what grows is the library's.
"""

import functools
import itertools

import numpy as np
import pandas as pd
from river import linear_model, optim, preprocessing
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from support.bandit_algorithms import BANDITS
from support.bounds import RATES
from support.expert_algorithms import ANY_SIZE, WITH_HORIZON

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, streams
from ltm_sklearn.experts._long_term_memory import MODELS_SHARE, POTENTIAL_FLOOR
from ltm_sklearn.river import LongTermMemoryClassifier as RiverClassifier

CHUNK = 1000  #: rounds between two looks at the clock
N_CHUNKS = 24  #: of a table
K, GUESTS = 6, 2  #: experts that stay, and that come and go


@functools.cache
def loss_chunks(seed):
    """Chunks of losses in [0, 1]: three experts take turns in being good for 250 rounds; a tenth sleeps."""
    rng = np.random.default_rng(seed)
    good = np.arange(N_CHUNKS * CHUNK) // 250 % 3
    losses = rng.random((len(good), K + GUESTS))
    losses[np.arange(len(good)), good] *= 0.4
    losses[:, 1:][rng.random((len(good), K + GUESTS - 1)) < 0.1] = np.nan
    return np.split(losses, N_CHUNKS), np.split(good, N_CHUNKS)


class Load:
    """Something that learns for ever."""

    n_rounds = 0

    def learn(self):
        """A chunk of rounds, and nothing that is not the library's."""

    def account(self):
        """What is kept for `problems`, outside of the time that is measured."""
        self.n_rounds += CHUNK

    def problems(self):
        """What is wrong with it after all these rounds, in words."""
        return []


def troubles_of(weights, state):
    """Weights that are no distribution, and numbers in a state that are not finite, or so small that they are slow."""
    found = []
    if not (np.isfinite(weights).all() and (weights >= 0.0).all() and abs(weights.sum() - 1.0) < 1e-9):
        found.append(f"the weights are no distribution: {weights}")
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray) and value.dtype.kind == "f"}
    for name, value in arrays.items():
        if not np.isfinite(value).all():
            found.append(f"{name} is not finite")
        if ((value != 0.0) & (np.abs(value) < np.finfo(float).tiny)).any():
            found.append(f"{name} has denormal numbers")
    return found


class Experts(Load):
    """An expert algorithm. Every fourth chunk is learned with confidences, ten rounds of each one by one."""

    def __init__(self, make, seed, comings_and_goings=True):
        self.algorithm, self.seed, self.changes = make(), seed, comings_and_goings
        self.columns, self.at = list(range(K)), 0
        self.bound = None if comings_and_goings else Bound()

    def learn(self):
        losses = loss_chunks(self.seed)[0][self.at % N_CHUNKS][:, self.columns]
        self.awake = np.where(np.arange(len(self.columns)) % 2, 0.5, 1.0) if self.at % 4 == 3 else None
        awake = None if self.awake is None else np.tile(self.awake, (CHUNK - 10, 1))
        self.losses, self.played = losses, np.empty_like(losses)
        self.played[:-10] = self.algorithm.run(losses[:-10], awake)
        for t in range(CHUNK - 10, CHUNK):
            confidence = np.where(np.isnan(losses[t]), 0.0, 1.0 if self.awake is None else self.awake)
            self.played[t] = self.algorithm.weights(len(self.columns), awake=confidence)
            self.algorithm.update(losses[t], self.awake)
        if self.changes:
            self._change_pool()
        self.at += 1

    def _change_pool(self):
        """Two come, then one that has long been there goes and comes back, and the last goes."""
        step = self.at % 4
        if step < GUESTS:
            self.algorithm.add_expert()
            self.columns.append(next(each for each in range(K + GUESTS) if each not in self.columns))
        else:
            gone = 3 if step == 2 else len(self.columns) - 1
            self.algorithm.drop_expert(gone)
            del self.columns[gone]

    def account(self):
        super().account()
        if self.bound is not None:
            good = loss_chunks(self.seed)[1][(self.at - 1) % N_CHUNKS]
            self.bound.add(self.played, self.losses, self.awake, good)
        self.losses = self.played = None

    def problems(self):
        found = troubles_of(self.algorithm.weights(), self.algorithm.state_)
        if self.algorithm.n_rounds_ != self.n_rounds:
            found.append(f"{self.algorithm.n_rounds_} rounds are counted, not {self.n_rounds}")
        if self.bound is not None and self.bound.regret > self.bound.most():
            found.append(f"the regret is {self.bound.regret}, and the bound {self.bound.most()}")
        return found


class Bound:
    """Regret of LongTermMemory against the experts that take turns, and what it may be: see `bounds.py`."""

    def __init__(self):
        self.regret, self.n_rounds, self.last = 0.0, 0, None
        self.second = np.zeros((K, len(RATES)))
        self.moving = np.full(K, np.log(2.0))

    def add(self, played, losses, awake, good):
        """A chunk."""
        confidence = np.where(np.isnan(losses), 0.0, 1.0 if awake is None else awake)
        losses = np.nan_to_num(losses)
        regret = confidence * ((played * losses).sum(axis=1, keepdims=True) - losses)
        mine = regret[np.arange(len(good)), good]
        self.regret += mine.sum()
        g = mine[:, np.newaxis] - RATES * np.abs(mine[:, np.newaxis])
        share = 1.0 / (self.n_rounds + np.arange(len(good)) + 2.0)  # between a round and the one before it
        before = np.append(good[:1] if self.last is None else self.last, good[:-1])
        for expert in range(K):
            here = good == expert
            self.second[expert] += (np.abs(mine[here, np.newaxis]) + g[here] ** 2).sum(axis=0)
            moves = here != (before == expert)
            self.moving[expert] += np.where(moves, np.log(2.0 / share), -np.log1p(-share / 2.0)).sum()
        self.n_rounds, self.last = self.n_rounds + len(good), good[-1]

    def most(self):
        """The third inequality of `bounds.tight_excess`, summed over the experts that were good at a time."""
        complexity = np.log((1.0 + POTENTIAL_FLOOR * self.n_rounds) * len(RATES) * K / MODELS_SHARE)
        of_rates = (complexity + self.moving[:, np.newaxis]) / RATES + RATES * self.second
        return of_rates.min(axis=1)[:3].sum()


class Bandit(Load):
    """A bandit algorithm. Ten rounds of each chunk are drawn one by one, some with arms asleep."""

    def __init__(self, make, seed):
        self.bandit, self.seed, self.at = make(seed), seed, 0
        self.awake = np.arange(K + 1) != 2

    def learn(self):
        n_arms = getattr(self.bandit, "n_arms_", K)
        losses = np.nan_to_num(loss_chunks(self.seed)[0][self.at % N_CHUNKS][:, :n_arms], nan=0.5)
        self.bandit.run(losses[:-10])
        for t in range(CHUNK - 10, CHUNK):
            arm = self.bandit.draw(awake=self.awake[:n_arms] if t % 2 else None)
            self.bandit.update(arm, losses[t, arm])
        if self.at % 2:
            self.bandit.drop_arm(self.at % 3)
        else:
            self.bandit.add_arm()
        self.at += 1

    def problems(self):
        found = troubles_of(self.bandit.probabilities, self.bandit.state_)
        if self.bandit.n_rounds_ != self.n_rounds:
            found.append(f"{self.bandit.n_rounds_} rounds are counted, not {self.n_rounds}")
        return found


@functools.cache
def forecast_chunks(seed):
    """Forecasts, of which a twentieth is missing, and targets; the good forecaster changes."""
    rng = np.random.default_rng(seed)
    chunks = []
    for losses in loss_chunks(seed)[0]:
        y = rng.normal(size=CHUNK)
        spread = np.nan_to_num(losses, nan=0.5)
        X = y[:, np.newaxis] + spread * rng.normal(size=spread.shape)
        X[:, 1:][rng.random((CHUNK, X.shape[1] - 1)) < 0.05] = np.nan
        chunks.append((X, y))
    return chunks


class Mixture(Load):
    """ExpertMixture. Two columns join after a while, and are away in two of three chunks."""

    def __init__(self, mixture, seed):
        self.mixture, self.seed, self.at = mixture, seed, 0

    def learn(self):
        X, y = forecast_chunks(self.seed)[self.at % N_CHUNKS]
        guests = [K + guest for guest in range(GUESTS) if self.at >= 5 * (guest + 1) and self.at % 3 == guest]
        there = [*range(K), *guests]
        # a new frame, as pandas keeps a list in each of all that were made of it
        frame = pd.DataFrame(X[:, there], columns=[f"model {at}" for at in there])
        if self.mixture.series:
            frame["id"] = np.arange(CHUNK) % 20
        self.mixture.partial_fit(frame, y)
        self.said = self.mixture.predict(frame[:20])
        self.at += 1

    def problems(self):
        found = [] if np.isfinite(self.said).all() else ["a prediction is not finite"]
        for weights in np.atleast_2d(self.mixture.weights_):
            found += troubles_of(weights, {}) if not self.mixture.bias else []
        if self.mixture.n_samples_seen_ != self.n_rounds:
            found.append(f"{self.mixture.n_samples_seen_} rows are counted, not {self.n_rounds}")
        if not 0.0 < self.mixture.mixture_loss_ < np.nanmin(self.mixture.loss_):
            found.append(f"the mean loss is {self.mixture.mixture_loss_}")
        return found


class Moody(linear_model.LogisticRegression):
    """Fails now and then, with words of its own each time."""

    def predict_proba_one(self, x):
        if x["a"] < -1.726:
            raise RuntimeError(f"no answer to {x['a']}")
        return super().predict_proba_one(x)


class MoodyBayes(GaussianNB):
    """The same."""

    def predict_proba(self, X):
        if (X[:, 0] < 0.006).any():
            raise RuntimeError(f"no answer to {X[0, 0]}")
        return super().predict_proba(X)


@functools.cache
def labelled_rows(seed):
    """Rows of a stream with three concepts that return, as River takes them, and as arrays."""
    stream = streams.sea([5.0, 10.0, 15.0], order="random", length=500, noise=0.1, seed=seed)
    rows = list(itertools.islice(stream, N_CHUNKS * CHUNK))
    return rows, np.array([list(x.values()) for x, _ in rows]), np.array([y for _, y in rows])


class River(Load):
    """River's classifier with snapshots. Of 400 rows the labels of 40 come 30 rows late, and those of five never."""

    def __init__(self, seed, memory="auto"):
        self.seed, self.at, self.waiting = seed, 0, []
        models = [
            preprocessing.StandardScaler() | kind(optim.SGD(rate))
            for kind, rate in [
                (Moody, 0.03),
                (linear_model.LogisticRegression, 0.01),
                (linear_model.LogisticRegression, 0.1),
            ]
        ]
        self.model, self.n_right = (
            RiverClassifier(
                {f"m{at}": each for at, each in enumerate(models)}, memory=memory, max_pending=40, seed=seed
            ),
            0,
        )

    def learn(self):
        rows = labelled_rows(self.seed)[0]
        for at in range(self.at, self.at + CHUNK):
            x, y = rows[at % len(rows)]
            if at % 400 >= 40:
                self.n_right += self.model.predict_one(x) == y
                self.model.learn_one(x, y)
            else:
                self.n_right += self.model.predict_one(x, id=at) == y
                if at % 8:
                    self.waiting.append((at, x, y))
            if self.waiting and self.waiting[0][0] <= at - 30:
                late, x, y = self.waiting.pop(0)
                self.model.learn_one(x, y, id=late)
        self.at += CHUNK

    def problems(self):
        found = troubles_of(np.array(self.model.weights_), {})
        share = self.n_right / self.n_rounds
        if share < 0.7:  # of at most 0.9
            found.append(f"only {share:.3f} of the labels are right")
        return found


class Ensemble(Load):
    """The scikit-learn classifier in batches of 50 rows, of which a quarter are issued under ids; some never come."""

    def __init__(self, seed, memory="auto"):
        self.seed, self.at, self.n_right = seed, 0, 0
        learners = {
            "bayes": GaussianNB(),
            "sgd": SGDClassifier(loss="log_loss", random_state=seed),
            "moody": MoodyBayes(),
        }
        self.model = LongTermMemoryClassifier(
            list(learners.items()), memory=memory, max_pending=60, record=8, random_state=seed
        )

    def learn(self):
        _, X, y = labelled_rows(self.seed)
        for at in range(self.at, self.at + CHUNK, 50):
            here = np.arange(at, at + 50)
            rows, targets = X[here % len(X)], y[here % len(X)]
            if at % 200 or not at:
                if at:
                    self.n_right += (self.model.predict(rows) == targets).sum()
                self.model.partial_fit(rows, targets, classes=[0, 1])
            else:
                self.n_right += (self.model.issue(rows, ids=here.tolist()) == targets).sum()
                self.model.learn(here[:-5].tolist(), targets[:-5])
        self.at += CHUNK

    def problems(self):
        found = troubles_of(np.array(self.model.weights_), {})
        share = self.n_right / self.n_rounds
        if share < 0.7:
            found.append(f"only {share:.3f} of the labels are right")
        return found


#: Left out, as they grow by design: copies that are never pruned, and a window of about √T rounds.
GROWS = {"tv-all", "window-ucb"}

FAST = {
    "LongTermMemory": lambda seed: Experts(ANY_SIZE["long-term-memory"], seed, comings_and_goings=False),
    "LongTermMemory, experts come and go": lambda seed: Experts(ANY_SIZE["long-term-memory"], seed),
    "ExpertMixture": lambda seed: Mixture(ExpertMixture(), seed),
    "ExpertMixture, 20 series, lag, bias, record": lambda seed: Mixture(
        ExpertMixture(series="id", lag=2, bias=True, record=20), seed
    ),
    **{
        f"bandit {name}": functools.partial(Bandit, make)
        for name, make in BANDITS.items()
        if "horizon" not in name and name != "sparse-free" and name not in GROWS
    },
}  #: each gets all the rounds that are asked for

SLOW = {
    f"experts {name}": functools.partial(Experts, make)
    for name, make in ANY_SIZE.items()
    if name not in WITH_HORIZON and name not in GROWS and not name.startswith("long-term-memory")
}  #: without a kernel; each gets a hundredth

ROWS = {"River": River, "scikit-learn": Ensemble}  #: each gets all the rows
