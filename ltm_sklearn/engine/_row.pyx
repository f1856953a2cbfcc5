# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled rounds of one row: a fast path with the same results as the engine.

It applies where every expert returns valid predictions. Otherwise a round returns None before anything has changed, and
the engine does it.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs, isfinite, log

from ..aggregation._classes cimport blend_loss, brier, likeliest, mistake, rival
from ..aggregation._softmax cimport stack_probabilities, stack_inputs, stack_step
from ..experts._kernel cimport MemoryRounds

from numbers import Real

import numpy as np

#: Losses of class probabilities.
ZERO_ONE, BRIER, LOG = range(3)


cdef inline bint is_real(value) except -1:
    """Return whether a value is a real number; complex and masked ones would be converted with a warning."""
    return isinstance(value, (float, int)) or isinstance(value, Real)


cdef bint all_fixed(dict x):
    """Return whether all values of a row are immutable."""
    for value in x.values():
        if not (value is None or isinstance(value, (float, int, str, np.generic))):
            return False
    return True


cdef bint same_row(dict one, x):
    """Return whether a row holds the same objects. Equality is not enough: 1, 1.0 and True are equal."""
    if type(x) is not dict or len(<dict> x) != len(one):
        return False
    for name, value in one.items():
        if (<dict> x).get(name, one) is not value:
            return False
    return True


cdef class RowMember:
    """An expert algorithm with its losses of this round and its weights."""

    cdef object algorithm
    cdef MemoryRounds rounds  #: its compiled rounds; None where it has none
    cdef object loss_array
    cdef double[::1] losses, weights

    def __init__(self, algorithm, MemoryRounds rounds, Py_ssize_t n):
        self.algorithm, self.rounds = algorithm, rounds
        self.loss_array = np.empty(n)
        self.losses = self.loss_array
        self.weights = algorithm.current_weights()

    cdef learn(self):
        """Update the algorithm with the losses, in [0, 1]; nothing has changed if it raises an error."""
        cdef Py_ssize_t i
        if self.rounds is None:
            self.algorithm.update(self.loss_array)
            self.weights = self.algorithm.current_weights()
            return
        self.rounds.learn(&self.losses[0], NULL)
        for i in range(self.weights.shape[0]):
            self.weights[i] = self.rounds.m.played[i]


cdef class RowRound:
    """The methods of the experts, and their predictions for the row that was predicted last."""

    cdef list predictors  #: the method of each expert; None for the stack
    cdef list trainers  #: indices and methods of the experts that learn
    cdef list live
    cdef list members
    cdef RowMember arbiter  #: chooses arbiter two members; None if there is one
    cdef Py_ssize_t chosen  #: the member whose mixture is returned
    cdef Py_ssize_t n_experts, n_outputs
    cdef double[:, ::1] outputs  #: predictions, (n_experts, n_outputs)
    cdef double[:, ::1] mixtures  #: of each member, (n_members, n_outputs)
    cdef double[::1] losses
    cdef double[::1] rounds, total_loss, total_weight, recent_rounds, recent_loss  #: of :class:`ExpertStats`
    cdef dict x  #: a copy of the row that was predicted last; None if its predictions are not valid any more

    def __init__(self, list predictors, list trainers, list live, list members, arbiter, stats,
                 Py_ssize_t n_outputs):
        self.predictors, self.trainers, self.live = predictors, trainers, live
        self.rounds, self.total_loss, self.total_weight = stats.rounds, stats.loss, stats.weight
        self.recent_rounds, self.recent_loss = stats.recent_rounds, stats.recent_loss
        self.n_experts, self.n_outputs = len(predictors), n_outputs
        self.members = [RowMember(*member, self.n_experts) for member in members]
        self.arbiter = None if arbiter is None else RowMember(*arbiter, 2)
        self.outputs = np.empty((self.n_experts, n_outputs))
        self.mixtures = np.empty((len(members), n_outputs))
        self.losses = np.empty(self.n_experts)
        self.x = None
        self.choose_member()

    cdef choose_member(self):
        """Choose the member with the larger weight."""
        self.chosen = 0
        if self.arbiter is not None and self.arbiter.weights[1] > self.arbiter.weights[0]:
            self.chosen = 1

    cdef bint store(self, Py_ssize_t i, output) except -1:
        """Store the prediction of an expert; return whether it is valid."""
        raise NotImplementedError

    cdef bint predict(self, x) except -1:
        """Query all experts, unless this row was predicted last; return whether all predictions are valid."""
        cdef Py_ssize_t i
        cdef RowMember member
        if self.x is not None:
            if same_row(self.x, x):
                return True
            self.x = None
        try:
            for i in range(self.n_experts):
                predictor = self.predictors[i]
                if predictor is not None and not self.store(i, predictor(x)):
                    return False
        except Exception:  # the engine will query again, and report it
            return False
        self.predict_stack()
        for i, member in enumerate(self.members):
            self.mix(member.weights, &self.mixtures[i, 0])
        if type(x) is dict and all_fixed(<dict> x):
            self.x = (<dict> x).copy()  # a copy, as the caller may use his dictionary for other rows
        return True

    cdef predict_stack(self):
        """Let the stack predict from the predictions of the others."""

    cdef double *mixture(self) noexcept:
        return &self.mixtures[self.chosen, 0]

    cdef void mix(self, const double[::1] weights, double *mixture) noexcept:
        cdef Py_ssize_t i, j
        for j in range(self.n_outputs):
            mixture[j] = 0.0
        for i in range(self.n_experts):
            for j in range(self.n_outputs):
                mixture[j] += weights[i] * self.outputs[i, j]
        for j in range(self.n_outputs):  # a mean of finite numbers may overflow by rounding
            mixture[j] = min(max(mixture[j], -DBL_MAX), DBL_MAX)

    cdef update(self):
        """Update the members with their losses, then the statistics."""
        cdef Py_ssize_t i
        cdef RowMember member
        for member in self.members:
            member.learn()
        if self.arbiter is not None:
            self.arbiter.learn()
        self.choose_member()
        member = self.members[self.chosen]
        for i in range(self.n_experts):
            self.rounds[i] += 1.0
            self.total_loss[i] += self.losses[i]
            self.total_weight[i] += member.weights[i]
            self.recent_rounds[i] += 1.0
            self.recent_loss[i] += self.losses[i]
        self.x = None

    cdef list train(self, x, y):
        """Train the experts; return the indices and errors of those that failed."""
        failed = []
        for at, trainer in self.trainers:
            try:
                trainer(x, y)
            except BaseException as error:  # an exit or an interrupt is raised when the round is complete
                failed.append((at, error))
        return failed

    def predictions(self):
        """Return the predictions for the last row, (n_experts, 1, n_outputs)."""
        return np.asarray(self.outputs)[:, np.newaxis]

    def losses_of_live(self):
        """Return the losses of the live learners in the last round."""
        cdef Py_ssize_t at
        return [self.losses[at] for at in self.live]


cdef class ClassificationRound(RowRound):
    """A round of one row with class probabilities."""

    cdef dict classes
    cdef list labels
    cdef int loss
    cdef double rounding, smallest, safe_margin, absurd
    cdef Py_ssize_t n_stacked, n_inputs  #: experts whose predictions the stack takes, and its inputs; or 0
    cdef double rate
    cdef double[:, ::1] cells, squares
    cdef double[::1] inputs

    def __init__(self, predictors, trainers, live, members, arbiter, stats, dict classes, int loss, double rounding,
                 double smallest, double safe_margin, double absurd, stack):
        super().__init__(predictors, trainers, live, members, arbiter, stats, len(classes))
        self.classes, self.labels, self.loss = dict(classes), list(classes), loss
        self.rounding, self.smallest, self.safe_margin, self.absurd = rounding, smallest, safe_margin, absurd
        self.n_stacked = 0 if stack is None else stack.n_experts
        self.n_inputs = self.n_stacked * self.n_outputs
        if stack is not None:
            self.rate = stack.rate
            tables = stack.for_classes(self.n_outputs)  # read-only, perhaps, if it comes from a file
            stack.coefficients, stack.squares = [np.require(table, requirements="CW") for table in tables]
            self.cells, self.squares, self.inputs = stack.coefficients, stack.squares, np.empty(self.n_inputs)

    cdef predict_stack(self):
        if self.n_stacked:
            stack_inputs(&self.outputs[0, 0], self.n_outputs, self.n_stacked, self.n_outputs, self.smallest,
                         &self.inputs[0])
            stack_probabilities(&self.inputs[0], self.n_inputs, self.n_outputs, &self.cells[0, 0],
                          &self.outputs[self.n_stacked, 0])

    cdef bint store(self, Py_ssize_t i, output) except -1:
        cdef double total = 0.0, chance
        cdef Py_ssize_t j
        if not isinstance(output, dict) or not output:
            return False
        for j in range(self.n_outputs):
            self.outputs[i, j] = 0.0
        for label, value in output.items():
            at = self.classes.get(label)
            if at is not None:
                if not is_real(value):
                    return False
                chance = value
                if chance < 0.0:
                    return False
                j = at
                self.outputs[i, j] = chance
                total += chance
        if not total <= self.absurd:
            return False
        if total > 1.0 + self.rounding:
            for j in range(self.n_outputs):
                self.outputs[i, j] /= total
        return True

    def label(self, x):
        """Return the likeliest class; None if some prediction is not valid."""
        if not self.predict(x):
            return None
        return self.labels[likeliest(self.mixture(), self.n_outputs, -1)]

    def chances(self, x):
        """Return the probabilities of the classes; None if some prediction is not valid."""
        cdef Py_ssize_t j
        cdef double total = 0.0
        cdef double *mixture = self.mixture()
        if not self.predict(x):
            return None
        for j in range(self.n_outputs):
            total += mixture[j]
        if not total > 0.0:
            return {label: 1.0 / self.n_outputs for label in self.labels}
        return {self.labels[j]: mixture[j] / total for j in range(self.n_outputs)}

    cdef double loss_of(self, const double *chances, Py_ssize_t truth) noexcept:
        if self.loss == 0:
            return mistake(chances, self.n_outputs, truth)
        if self.loss == 1:
            return brier(chances, self.n_outputs, truth)
        return log(min(max(chances[truth], self.smallest), 1.0)) / log(self.smallest)

    cdef score_blender(self, Py_ssize_t truth):
        """Set the losses of the blender: the slope of the margin of its own mixture, mapped to [0, 1]."""
        cdef Py_ssize_t i, other = rival(&self.mixtures[1, 0], self.n_outputs, truth, self.safe_margin)
        cdef RowMember blender = self.members[1]
        for i in range(self.n_experts):
            blender.losses[i] = 0.0
            if other >= 0:
                blender.losses[i] = min(max((1.0 + self.outputs[i, other] - self.outputs[i, truth]) / 2.0, 0.0), 1.0)

    def learn(self, x, y, Py_ssize_t truth, score):
        """Do a round; return the indices and errors of experts that could not learn, or None if the engine must do it."""
        cdef Py_ssize_t i
        cdef double[::1] counts
        cdef RowMember member = self.members[0]
        if truth >= self.n_outputs or not self.predict(x):
            return None
        for i in range(self.n_experts):
            self.losses[i] = member.losses[i] = self.loss_of(&self.outputs[i, 0], truth)
        if self.arbiter is not None:
            self.score_blender(truth)
            for i in range(2):
                self.arbiter.losses[i] = blend_loss(&self.mixtures[i, 0], self.n_outputs, truth)
        self.update()
        counts = score.counts
        counts[truth] += 1.0
        if self.n_stacked:
            stack_step(&self.inputs[0], self.n_inputs, self.n_outputs, &self.outputs[self.n_stacked, 0], truth, 1.0,
                       self.rate, &self.cells[0, 0], &self.squares[0, 0])
        return self.train(x, y)


cdef class RegressionRound(RowRound):
    """A round of one row with numbers, scored with the slope of the loss at the mixture."""

    cdef object score
    cdef bint squared
    cdef double above, below, margin, growth, fading, largest, rounding
    cdef double low, high, absurd

    def __init__(self, predictors, trainers, live, members, arbiter, stats, score, slopes, double margin, double growth,
                 double fading, double largest, double rounding):
        super().__init__(predictors, trainers, live, members, arbiter, stats, 1)
        self.score = score
        self.squared = slopes is None
        self.above, self.below = (0.0, 0.0) if slopes is None else slopes
        self.margin, self.growth, self.fading, self.largest = margin, growth, fading, largest
        self.rounding = rounding
        self.widen()

    cdef widen(self):
        """Set the range to which predictions are clipped, and the largest valid one."""
        cdef double low = self.score.low, high = self.score.high
        self.low, self.high = low - self.margin * (high - low), high + self.margin * (high - low)
        self.absurd = self.score.prediction_limit()

    cdef bint store(self, Py_ssize_t i, output) except -1:
        cdef double number
        if not is_real(output):
            return False
        number = output
        if not fabs(number) <= self.absurd:  # also if it is NaN
            return False
        self.outputs[i, 0] = min(max(number, self.low), self.high)
        return True

    def number(self, x):
        """Return the mixture; None if some prediction is not valid."""
        return self.mixture()[0] if self.predict(x) else None

    cdef double bounded(self, double value) noexcept:
        return min(max(value, -self.largest), self.largest)

    cdef double difference(self, double output, double mixture) noexcept:
        cdef double difference = self.bounded(output - mixture)
        return 0.0 if fabs(difference) <= self.rounding * max(fabs(output), fabs(mixture)) else difference

    cdef double loss_of(self, double error) noexcept:
        if self.squared:
            return self.bounded(error * error)
        return self.bounded(self.above * error if error > 0.0 else -self.below * error)

    cdef double slope(self, double error) noexcept:
        if self.squared:
            return self.bounded(2.0 * error)
        return self.above if error > 0.0 else -self.below if error < 0.0 else 0.0

    def learn(self, x, y):
        """Do a round; return the indices and errors of experts that could not learn, or None if the engine must do it."""
        cdef Py_ssize_t i
        cdef double target, slope, beyond, mixture, least = INFINITY, most = -INFINITY, widest
        cdef RowMember member = self.members[0]
        if not is_real(y):
            return None
        try:
            target = y
        except OverflowError:  # a whole number beyond all floats
            return None
        if not isfinite(target) or not self.predict(x):
            return None
        mixture = self.mixture()[0]
        slope = self.slope(mixture - target)
        for i in range(self.n_experts):
            self.losses[i] = self.loss_of(self.outputs[i, 0] - target)
            member.losses[i] = self.bounded(slope * self.difference(self.outputs[i, 0], mixture))
            least, most = min(least, member.losses[i]), max(most, member.losses[i])
        widest = self.score.widest_gap
        beyond = most - least
        if widest > 0.0:
            beyond = min(beyond, self.growth * widest)
        widest = max(self.fading * widest, beyond)
        for i in range(self.n_experts):
            member.losses[i] = min(member.losses[i] - least, widest) / widest if widest > 0.0 else 0.0
        self.update()
        score = self.score
        score.widest_gap = widest
        score.scale_was_known = True
        score.n_targets += 1
        score.mean += target / score.n_targets - score.mean / score.n_targets
        if not score.low <= target <= score.high:
            score.low, score.high = min(score.low, target), max(score.high, target)
            self.widen()
        return self.train(x, y)
