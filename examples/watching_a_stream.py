"""
Watching a live stream
======================

A model that learns in production should be seen, not trusted blindly: is it still better than the plain mean of its
experts, who leads, has it stopped? With ``record=`` and a path it keeps a log of bounded size, and any other process
can draw the run from it while it goes on. Here two demands take turns, and the expert that is good returns with its
own.
"""

import logging
import sys
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from sklearn.linear_model import SGDRegressor

from ltm_sklearn import LongTermMemoryRegressor
from ltm_sklearn.display import LiveDisplay

# %%
# The process that learns. ``verbose=1`` prints a line whenever its rounds have doubled; what the memory does, and
# experts that fail, are logged by the logger ``ltm_sklearn``.
log = Path(mkdtemp()) / "run.jsonl"
events, handler = logging.getLogger("ltm_sklearn"), logging.StreamHandler(sys.stdout)
events.setLevel(logging.INFO)
events.addHandler(handler)

rng = np.random.default_rng(0)
weekday, holiday = np.array([1.0, -1.0, 2.0]), np.array([-2.0, 1.0, 0.0])
experts = [(f"rate {rate:g}", SGDRegressor(eta0=rate, random_state=0)) for rate in (0.001, 0.01)]
model = LongTermMemoryRegressor(experts, loss="absolute_error", record=log, verbose=1)


def learn(n_rounds: int, demand: np.ndarray) -> None:
    """Ten rows a round."""
    for _ in range(n_rounds):
        X = rng.normal(size=(10, 3))
        model.partial_fit(X, X @ demand + 0.1 * rng.normal(size=10))


for demand in (weekday, holiday, weekday):
    learn(50, demand)

# %%
# Another process looks in. It needs the path, nothing else; ``LiveDisplay(log).watch()`` would draw it again every
# second, in a window or a notebook, and ``watch(out="status.html")`` writes a page that loads itself anew. In a
# terminal it is ``ltm-sklearn watch run.jsonl``.
live = LiveDisplay.from_log(log)
now = live.log_.now
print(f"\nfrom the log: {now}\n")

# %%
# The stream goes on, and so does the view. When the second demand returns, the snapshot from its first time leads at
# once: what the mixture loses stays far below what the plain mean of the experts does.
for demand in (holiday, weekday):
    learn(50, demand)
live.plot()
print(f"\nfrom the log: {live.log_.now}")
assert live.log_.now.row > now.row

events.removeHandler(handler)
events.setLevel(logging.NOTSET)
