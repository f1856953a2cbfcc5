# cython: language_level=3, boundscheck=False, wraparound=False
"""One row a round, compiled. The engine's own code is the definition; this is its fast path where all is as usual.

As usual is: every expert answers, and with numbers. Otherwise a row says so before anything has changed.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs, isfinite, log

from ..aggregation._classes cimport blend_loss, brier, likeliest, mistake, rival
from ..aggregation._softmax cimport stack_probabilities, stack_inputs, stack_step
from ..experts._kernel cimport MemoryRounds

from numbers import Real

import numpy as np

#: Losses of classes.
ZERO_ONE, BRIER, LOG = range(3)


cdef inline bint is_real(value) except -1:
    """Not what is turned into a number with a warning: complex or masked ones."""
    return isinstance(value, (float, int)) or isinstance(value, Real)


cdef bint all_fixed(dict x):
    """Whether no value can change in its place."""
    for value in x.values():
        if not (value is None or isinstance(value, (float, int, str, np.generic))):
            return False
    return True


cdef bint same_row(dict one, x):
    """Whether a row has the same objects; that they are equal is too little: 1, 1.0 and True are."""
    if type(x) is not dict or len(<dict> x) != len(one):
        return False
    for name, value in one.items():
        if (<dict> x).get(name, one) is not value:
            return False
    return True


cdef class Member:
    """An expert algorithm, what it is charged in this round, and its weights."""

    cdef object algorithm
    cdef MemoryRounds rounds  #: its compiled rounds; None where it has none
    cdef object charged_array
    cdef double[::1] charged, weights

    def __init__(self, algorithm, MemoryRounds rounds, Py_ssize_t n):
        self.algorithm, self.rounds = algorithm, rounds
        self.charged_array = np.empty(n)
        self.charged = self.charged_array
        self.weights = algorithm.current_weights()

    cdef learn(self):
        """Learn what was charged, which lies in [0, 1]; nothing has changed if the algorithm raises an error."""
        cdef Py_ssize_t i
        if self.rounds is None:
            self.algorithm.update(self.charged_array)
            self.weights = self.algorithm.current_weights()
            return
        self.rounds.learn(&self.charged[0], NULL)
        for i in range(self.weights.shape[0]):
            self.weights[i] = self.rounds.m.played[i]


cdef class Row:
    """The experts' seats, and what they said of the row that was asked about last."""

    cdef list asks
    cdef list learns
    cdef list live
    cdef list members
    cdef Member between  #: says which of two members to trust; None if there is one
    cdef Py_ssize_t trusted  #: which member
    cdef Py_ssize_t n_experts, n_outputs
    cdef double[:, ::1] said
    cdef double[:, ::1] mixtures  #: of each member
    cdef double[::1] losses
    cdef double[:, ::1] expert_stats
    cdef dict x  #: a copy of that row; None where nothing is known

    def __init__(self, list asks, list learns, list live, list members, between, double[:, ::1] expert_stats,
                 Py_ssize_t n_outputs):
        self.asks, self.learns, self.live, self.expert_stats = asks, learns, live, expert_stats
        self.n_experts, self.n_outputs = len(asks), n_outputs
        self.members = [Member(*member, self.n_experts) for member in members]
        self.between = None if between is None else Member(*between, 2)
        self.said = np.empty((self.n_experts, n_outputs))
        self.mixtures = np.empty((len(members), n_outputs))
        self.losses = np.empty(self.n_experts)
        self.x = None
        self.trust()

    cdef trust(self):
        """Choose a member."""
        self.trusted = 0
        if self.between is not None and self.between.weights[1] > self.between.weights[0]:
            self.trusted = 1

    cdef bint hear(self, Py_ssize_t i, answer) except -1:
        """Note what an expert said; whether it is an answer."""
        raise NotImplementedError

    cdef bint ask(self, x) except -1:
        """Ask all experts, unless this row was the last one; whether all answered."""
        cdef Py_ssize_t i
        cdef Member member
        if self.x is not None:
            if same_row(self.x, x):
                return True
            self.x = None
        try:
            for i in range(self.n_experts):
                ask = self.asks[i]
                if ask is not None and not self.hear(i, ask(x)):
                    return False
        except Exception:  # the engine will ask again, and report it
            return False
        self.take_together()
        for i, member in enumerate(self.members):
            self.mix(member.weights, &self.mixtures[i, 0])
        if type(x) is dict and all_fixed(<dict> x):
            self.x = (<dict> x).copy()  # a copy, as the caller may use his dictionary for other rows
        return True

    cdef take_together(self):
        """Let the stack say what it makes of what the others said."""

    cdef double *mixture(self) noexcept:
        return &self.mixtures[self.trusted, 0]

    cdef void mix(self, const double[::1] weights, double *mixture) noexcept:
        cdef Py_ssize_t i, j
        for j in range(self.n_outputs):
            mixture[j] = 0.0
        for i in range(self.n_experts):
            for j in range(self.n_outputs):
                mixture[j] += weights[i] * self.said[i, j]
        for j in range(self.n_outputs):  # the mean of finite numbers, whatever rounding makes of it
            mixture[j] = min(max(mixture[j], -DBL_MAX), DBL_MAX)

    cdef settle(self):
        """Let the members learn what they were charged, and keep the expert_stats."""
        cdef Py_ssize_t i
        cdef Member member
        cdef double[:, ::1] expert_stats = self.expert_stats
        for member in self.members:
            member.learn()
        if self.between is not None:
            self.between.learn()
        self.trust()
        member = self.members[self.trusted]
        for i in range(self.n_experts):
            expert_stats[0, i] += 1.0
            expert_stats[1, i] += self.losses[i]
            expert_stats[2, i] += member.weights[i]
            expert_stats[3, i] += 1.0
            expert_stats[4, i] += self.losses[i]
        self.x = None

    cdef list train(self, x, y):
        """Let the learners learn; returns the seats and the errors of those that could not."""
        failed = []
        for seat, learn in self.learns:
            try:
                learn(x, y)
            except BaseException as error:  # an exit or an interrupt is raised when the round is complete
                failed.append((seat, error))
        return failed

    def answers(self):
        """What the experts said of the last row, (n_experts, 1, n_outputs)."""
        return np.asarray(self.said)[:, np.newaxis]

    def losses_of_live(self):
        """What the live learners lost in the last round."""
        cdef Py_ssize_t seat
        return [self.losses[seat] for seat in self.live]


cdef class ClassRow(Row):
    """Class probabilities."""

    cdef dict classes
    cdef list labels
    cdef int loss
    cdef double rounding, smallest, safe_margin, absurd
    cdef Py_ssize_t n_stacked, n_inputs  #: experts that the stack was made for, and what it is told by them; or 0
    cdef double rate
    cdef double[:, ::1] cells, squares
    cdef double[::1] inputs

    def __init__(self, asks, learns, live, members, between, expert_stats, dict classes, int loss, double rounding,
                 double smallest, double safe_margin, double absurd, stack):
        super().__init__(asks, learns, live, members, between, expert_stats, len(classes))
        self.classes, self.labels, self.loss = dict(classes), list(classes), loss
        self.rounding, self.smallest, self.safe_margin, self.absurd = rounding, smallest, safe_margin, absurd
        self.n_stacked = 0 if stack is None else stack.n_experts
        self.n_inputs = self.n_stacked * self.n_outputs
        if stack is not None:
            self.rate = stack.rate
            tables = stack.for_classes(self.n_outputs)  # read-only, perhaps, if it comes from a file
            stack.coefficients, stack.squares = [np.require(table, requirements="CW") for table in tables]
            self.cells, self.squares, self.inputs = stack.coefficients, stack.squares, np.empty(self.n_inputs)

    cdef take_together(self):
        if self.n_stacked:
            stack_inputs(&self.said[0, 0], self.n_outputs, self.n_stacked, self.n_outputs, self.smallest,
                         &self.inputs[0])
            stack_probabilities(&self.inputs[0], self.n_inputs, self.n_outputs, &self.cells[0, 0],
                          &self.said[self.n_stacked, 0])

    cdef bint hear(self, Py_ssize_t i, answer) except -1:
        cdef double total = 0.0, chance
        cdef Py_ssize_t j
        if not isinstance(answer, dict) or not answer:
            return False
        for j in range(self.n_outputs):
            self.said[i, j] = 0.0
        for label, value in answer.items():
            at = self.classes.get(label)
            if at is not None:
                if not is_real(value):
                    return False
                chance = value
                if chance < 0.0:
                    return False
                j = at
                self.said[i, j] = chance
                total += chance
        if not total <= self.absurd:
            return False
        if total > 1.0 + self.rounding:
            for j in range(self.n_outputs):
                self.said[i, j] /= total
        return True

    def label(self, x):
        """The likeliest class; None if the experts do not all answer."""
        if not self.ask(x):
            return None
        return self.labels[likeliest(self.mixture(), self.n_outputs, -1)]

    def chances(self, x):
        """Probabilities of the classes; None if the experts do not all answer."""
        cdef Py_ssize_t j
        cdef double total = 0.0
        cdef double *mixture = self.mixture()
        if not self.ask(x):
            return None
        for j in range(self.n_outputs):
            total += mixture[j]
        if not total > 0.0:
            return {label: 1.0 / self.n_outputs for label in self.labels}
        return {self.labels[j]: mixture[j] / total for j in range(self.n_outputs)}

    cdef double lost(self, const double *chances, Py_ssize_t truth) noexcept:
        if self.loss == 0:
            return mistake(chances, self.n_outputs, truth)
        if self.loss == 1:
            return brier(chances, self.n_outputs, truth)
        return log(min(max(chances[truth], self.smallest), 1.0)) / log(self.smallest)

    cdef charge_blender(self, Py_ssize_t truth):
        """The slope of the margin of its own mixture, mapped to [0, 1]."""
        cdef Py_ssize_t i, other = rival(&self.mixtures[1, 0], self.n_outputs, truth, self.safe_margin)
        cdef Member blender = self.members[1]
        for i in range(self.n_experts):
            blender.charged[i] = 0.0
            if other >= 0:
                blender.charged[i] = min(max((1.0 + self.said[i, other] - self.said[i, truth]) / 2.0, 0.0), 1.0)

    def learn(self, x, y, Py_ssize_t truth, score):
        """A round; returns the seats and errors of experts that could not learn, or None if not all is as usual."""
        cdef Py_ssize_t i
        cdef double[::1] counts
        cdef Member member = self.members[0]
        if truth >= self.n_outputs or not self.ask(x):
            return None
        for i in range(self.n_experts):
            self.losses[i] = member.charged[i] = self.lost(&self.said[i, 0], truth)
        if self.between is not None:
            self.charge_blender(truth)
            for i in range(2):
                self.between.charged[i] = blend_loss(&self.mixtures[i, 0], self.n_outputs, truth)
        self.settle()
        counts = score.counts
        counts[truth] += 1.0
        if self.n_stacked:
            stack_step(&self.inputs[0], self.n_inputs, self.n_outputs, &self.said[self.n_stacked, 0], truth, 1.0,
                       self.rate, &self.cells[0, 0], &self.squares[0, 0])
        return self.train(x, y)


cdef class TargetRow(Row):
    """Numbers, charged by the slope of the loss at the mixture."""

    cdef object score
    cdef bint squared
    cdef double above, below, margin, growth, fading, largest, rounding
    cdef double low, high, absurd

    def __init__(self, asks, learns, live, members, between, expert_stats, score, slopes, double margin, double growth,
                 double fading, double largest, double rounding):
        super().__init__(asks, learns, live, members, between, expert_stats, 1)
        self.score = score
        self.squared = slopes is None
        self.above, self.below = (0.0, 0.0) if slopes is None else slopes
        self.margin, self.growth, self.fading, self.largest = margin, growth, fading, largest
        self.rounding = rounding
        self.widen()

    cdef widen(self):
        """Where predictions are clipped, and beyond what they are none."""
        cdef double low = self.score.low, high = self.score.high
        self.low, self.high = low - self.margin * (high - low), high + self.margin * (high - low)
        self.absurd = self.score.prediction_limit()

    cdef bint hear(self, Py_ssize_t i, answer) except -1:
        cdef double number
        if not is_real(answer):
            return False
        number = answer
        if not fabs(number) <= self.absurd:  # also if it is NaN
            return False
        self.said[i, 0] = min(max(number, self.low), self.high)
        return True

    def number(self, x):
        """The mixture; None if the experts do not all answer."""
        return self.mixture()[0] if self.ask(x) else None

    cdef double bounded(self, double value) noexcept:
        return min(max(value, -self.largest), self.largest)

    cdef double apart(self, double said, double mixture) noexcept:
        cdef double difference = self.bounded(said - mixture)
        return 0.0 if fabs(difference) <= self.rounding * max(fabs(said), fabs(mixture)) else difference

    cdef double lost(self, double error) noexcept:
        if self.squared:
            return self.bounded(error * error)
        return self.bounded(self.above * error if error > 0.0 else -self.below * error)

    cdef double slope(self, double error) noexcept:
        if self.squared:
            return self.bounded(2.0 * error)
        return self.above if error > 0.0 else -self.below if error < 0.0 else 0.0

    def learn(self, x, y):
        """A round; returns the seats and errors of experts that could not learn, or None if not all is as usual."""
        cdef Py_ssize_t i
        cdef double target, slope, beyond, mixture, least = INFINITY, most = -INFINITY, widest
        cdef Member member = self.members[0]
        if not is_real(y):
            return None
        try:
            target = y
        except OverflowError:  # a whole number beyond all floats
            return None
        if not isfinite(target) or not self.ask(x):
            return None
        mixture = self.mixture()[0]
        slope = self.slope(mixture - target)
        for i in range(self.n_experts):
            self.losses[i] = self.lost(self.said[i, 0] - target)
            member.charged[i] = self.bounded(slope * self.apart(self.said[i, 0], mixture))
            least, most = min(least, member.charged[i]), max(most, member.charged[i])
        widest = self.score.widest_gap
        beyond = most - least
        if widest > 0.0:
            beyond = min(beyond, self.growth * widest)
        widest = max(self.fading * widest, beyond)
        for i in range(self.n_experts):
            member.charged[i] = min(member.charged[i] - least, widest) / widest if widest > 0.0 else 0.0
        self.settle()
        score = self.score
        score.widest_gap = widest
        score.scale_was_known = True
        score.n_targets += 1
        score.mean += target / score.n_targets - score.mean / score.n_targets
        if not score.low <= target <= score.high:
            score.low, score.high = min(score.low, target), max(score.high, target)
            self.widen()
        return self.train(x, y)
