# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The rounds of a aggregator, fused. `_council.py` and `_cells.py` are their definition."""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, expm1, fabs, log1p, tanh
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from ..experts._kernel cimport MemoryRounds

import numpy as np

#: Losses.
SQUARED, ABSOLUTE, PINBALL, PERCENTAGE, HUBER, LOG_COSH = range(6)

cdef enum:
    squared, absolute, pinball, percentage, huber, log_cosh

cdef double LARGEST = 1e300
cdef double TINY = 1e-300
cdef double ROUNDING_OF_REGRET = 1e-14
cdef double ROUNDING_OF_MIXTURE = 1e-13


cdef inline double bounded(double value) noexcept nogil:
    return min(max(value, -LARGEST), LARGEST)


cdef inline double clip_to_floats(double mean) noexcept nogil:
    return min(max(mean, -DBL_MAX), DBL_MAX)


cdef inline double apart(double forecast, double mixture) noexcept nogil:
    cdef double difference = bounded(forecast - mixture)
    return 0.0 if fabs(difference) <= ROUNDING_OF_MIXTURE * max(fabs(forecast), fabs(mixture)) else difference


cdef inline double loss_of(int kind, double parameter, double y, double prediction) noexcept nogil:
    cdef double error = prediction - y, size = fabs(error), near
    if kind == squared:
        return bounded(error * error)
    if kind == absolute:
        return bounded(size)
    if kind == pinball:
        return bounded(max(-parameter * error, (1.0 - parameter) * error))
    if kind == percentage:
        return bounded(size / fabs(y))
    if kind == huber:
        near = min(size, parameter)
        return bounded(near * (size - near / 2.0))
    return bounded(size + log1p(expm1(-2.0 * size) / 2.0))


cdef inline double slope_of(int kind, double parameter, double y, double prediction) noexcept nogil:
    cdef double error = prediction - y
    if kind == squared:
        return bounded(2.0 * error)
    if kind == absolute:
        return (error > 0.0) - (error < 0.0)
    if kind == pinball:
        return 1.0 - parameter if error > 0.0 else -parameter if error < 0.0 else 0.0
    if kind == percentage:
        return bounded(((error > 0.0) - (error < 0.0)) / fabs(y))
    if kind == huber:
        return min(max(error, -parameter), parameter)
    return tanh(error)


cdef struct aggregator:
    Py_ssize_t n_experts, n_members
    int kind
    bint follow_linear
    double growth, fading
    double gaps[3]               # the widest of late: of the first member, of ML-Poly, of the arbiter
    # ML-Poly; NULL where there is none
    const double *poly_prior
    double *regret
    double *inverse_rate
    double largest
    double *played               # what it plays
    # of the round
    double *lost                 # [3][n_experts]: what is charged
    double *heard                # [n_experts]
    double *part                 # [n_experts]
    double *mixed                # [n_members] mixtures of a row
    double *row                  # [n_experts] what is played in a row
    double *effective            # [n_experts] the same of all members together


cdef double restricted(const double *own, const double *awake, double *row, Py_ssize_t k) noexcept nogil:
    """What is played in a row, p ∝ a·w; 0 if all are fully awake and it is what it was."""
    cdef Py_ssize_t i
    cdef double largest = 0.0, total = 0.0, confident = 0.0, asleep = 0.0
    for i in range(k):
        largest = max(largest, awake[i])
        asleep += awake[i] != 1.0
    if asleep == 0.0:
        for i in range(k):
            row[i] = own[i]
        return 0.0
    for i in range(k):
        row[i] = awake[i] / largest * own[i]
        total += row[i]
        confident += awake[i] / largest
    for i in range(k):
        row[i] = row[i] / total if total > TINY else awake[i] / largest / confident
    return 1.0


cdef void rescale(aggregator *c, double *losses, const double *part, int which, Py_ssize_t n) noexcept nogil:
    """Losses of a round in [0, 1], and the range of such; as LossRange does it."""
    cdef Py_ssize_t i
    cdef double least = INFINITY, gap = 0.0, widest = c.gaps[which]
    for i in range(n):
        if part[i] > 0.0:
            least = min(least, losses[i])
    for i in range(n):
        if part[i] > 0.0:
            gap = max(gap, losses[i] - least)
    if widest > 0.0:
        gap = min(gap, c.growth * widest)
    widest = max(c.fading * widest, gap)
    c.gaps[which] = widest
    for i in range(n):
        losses[i] = min(losses[i] - least, widest) / widest if widest > 0.0 and part[i] > 0.0 else 0.0


cdef void poly_weights(aggregator *c) noexcept nogil:
    """What ML-Poly plays."""
    cdef Py_ssize_t i
    cdef double total = 0.0, prior = 0.0
    for i in range(c.n_experts):
        c.played[i] = c.poly_prior[i] * max(c.regret[i], 0.0) / max(c.inverse_rate[i], TINY)
        total += c.played[i]
        prior += c.poly_prior[i]
    for i in range(c.n_experts):
        c.played[i] = c.played[i] / total if total > 0.0 else c.poly_prior[i] / prior


cdef void poly_learn(aggregator *c, const double *own, double *losses, const double *awake) noexcept nogil:
    """A round of ML-Poly with losses in [0, 1], which was issued with these weights; ``awake`` is NULL if all are."""
    cdef Py_ssize_t i
    cdef double mixture = 0.0, largest = c.largest, regret
    cdef const double *played = own
    if awake != NULL:
        restricted(own, awake, c.row, c.n_experts)
        played = c.row
    for i in range(c.n_experts):
        mixture += played[i] * losses[i]
    if awake != NULL:
        for i in range(c.n_experts):
            losses[i] = mixture + awake[i] * (losses[i] - mixture)
        mixture = 0.0
        for i in range(c.n_experts):
            mixture += own[i] * losses[i]
    for i in range(c.n_experts):
        regret = mixture - losses[i]
        losses[i] = 0.0 if fabs(regret) < ROUNDING_OF_REGRET else regret
        largest = max(largest, losses[i] * losses[i])
    for i in range(c.n_experts):
        c.regret[i] += losses[i]
        c.inverse_rate[i] += losses[i] * losses[i] + (largest - c.largest)
    c.largest = largest
    poly_weights(c)


cdef void note(aggregator *c, const double *follow, const double *arbiter, const double *mean, double *page) noexcept nogil:
    """Write what would be issued now: trust, then each member's weights."""
    cdef Py_ssize_t i, k = c.n_experts, m = c.n_members
    for i in range(m):
        page[i] = arbiter[i] if m > 1 else 1.0
    memcpy(page + m, follow, k * sizeof(double))
    if m > 1:
        memcpy(page + m + k, c.played, k * sizeof(double))
        memcpy(page + m + 2 * k, mean, k * sizeof(double))


def run(MemoryRounds follow not None, bint follow_linear, dict poly, MemoryRounds arbiter, const double[::1] mean,
        double[::1] gaps, const long long[::1] held_until, const double[:, ::1] held, const long long[::1] starts,
        const long long[::1] issue, const long long[::1] known_at, Py_ssize_t n_complete,
        const double[:, ::1] forecasts, const double[::1] targets, const double[:, ::1] awake,
        const double[::1] row_weights, int kind, const double[::1] parameters, double growth, double fading,
        long long[::1] kept_until, double[:, ::1] kept, double[::1] predictions, double[:, ::1] weights,
        double[:, ::1] tally, Py_ssize_t n_further):
    """Rounds of one cell; returns how many pages of the book are kept.

    A page says what was issued after a round, and from when on: ``held`` at the start, ``kept`` at the end. ``poly``
    is the state of ML-Poly, ``arbiter`` and ``mean`` are there if it is. The last rounds, from ``n_complete`` on, are
    issued but not learned yet. The first ``n_further`` experts do not count in the plain mean.
    """
    cdef aggregator c
    cdef Py_ssize_t k = forecasts.shape[1], m = 3 if poly is not None else 1, width = held.shape[1]
    cdef Py_ssize_t n_held = held.shape[0], n_rounds = starts.shape[0] - 1, n_pages = kept.shape[0]
    cdef Py_ssize_t r, i, v, at, newest = n_held - 1, basis = 0, n_learned = 0
    cdef double weight, total_weight, y, mixture, value, slope, parameter, plain, confident, asleep, lost
    cdef double centre, total
    cdef Py_ssize_t n_seen = follow.m.n_trackers * k
    cdef bint late
    cdef double *pages
    cdef long long *until
    cdef double *page
    cdef const double *x
    cdef const double *conf
    cdef const double[::1] poly_prior
    cdef double[::1] regret, inverse_rate
    c.n_experts, c.n_members, c.kind, c.follow_linear = k, m, kind, follow_linear
    c.growth, c.fading = growth, fading
    for i in range(3):
        c.gaps[i] = gaps[i]
    cdef double *block = <double *> calloc(7 * k + 2 * m, sizeof(double))
    if block == NULL:
        raise MemoryError()
    c.lost, c.heard, c.part, c.row, c.effective = block, block + 3 * k, block + 4 * k, block + 5 * k, block + 6 * k
    c.mixed = block + 7 * k
    pages = <double *> calloc(n_pages * width + k, sizeof(double))
    until = <long long *> calloc(n_pages, sizeof(long long))
    if pages == NULL or until == NULL:
        free(block)
        free(pages)
        free(until)
        raise MemoryError()
    try:
        c.played = pages + n_pages * width
        if poly is not None:
            poly_prior, regret, inverse_rate = poly["prior"], poly["regret"], poly["inverse_rate"]
            c.poly_prior, c.regret, c.inverse_rate = &poly_prior[0], &regret[0], &inverse_rate[0]
            c.largest = poly["largest"]
            poly_weights(&c)
        for i in range(n_held):
            memcpy(pages + i * width, &held[i, 0], width * sizeof(double))
            until[i] = held_until[i]
        with nogil:
            for r in range(n_rounds):
                while basis < newest and until[(basis + 1) % n_pages] <= issue[r]:
                    basis += 1
                page = pages + (basis % n_pages) * width
                for i in range(4 * k):
                    block[i] = 0.0
                for v in range(m):
                    c.mixed[m + v] = 0.0  # what the arbiter is charged
                total_weight = 0.0
                for at in range(starts[r], starts[r + 1]):
                    x, y = &forecasts[at, 0], targets[at]
                    conf = NULL if awake is None else &awake[at, 0]
                    parameter = parameters[at if parameters.shape[0] > 1 else 0]
                    weight = 1.0 if row_weights is None else row_weights[at]
                    mixture = 0.0
                    for i in range(k):
                        c.effective[i] = 0.0
                    for v in range(m):
                        value = 0.0
                        if conf == NULL:
                            memcpy(c.row, page + m + v * k, k * sizeof(double))
                        else:
                            restricted(page + m + v * k, conf, c.row, k)
                        for i in range(k):
                            value += c.row[i] * x[i]
                            c.effective[i] += page[v] * c.row[i]
                        c.mixed[v] = clip_to_floats(value)
                        mixture += page[v] * c.mixed[v]
                    mixture = clip_to_floats(mixture)
                    predictions[at] = mixture
                    if weights is not None:
                        for i in range(k):
                            weights[at, i] = c.effective[i]
                    if r >= n_complete or weight == 0.0:
                        continue
                    total_weight += weight
                    plain = confident = centre = total = 0.0
                    lost = loss_of(kind, parameter, y, mixture)
                    for i in range(k):
                        value = 1.0 if conf == NULL else conf[i]
                        centre += value * x[i]
                        total += value
                        if i >= n_further:
                            plain += value * x[i]
                            confident += value
                    centre /= total
                    for i in range(k):
                        value = weight if conf == NULL else weight * conf[i]
                        c.heard[i] += value
                        tally[0, i] += value * loss_of(kind, parameter, y, x[i])
                        tally[1, i] += value
                        tally[2, i] += value * lost
                        if not follow_linear:
                            slope = x[i] if apart(x[i], centre) != 0.0 else centre  # what is rounding is no difference
                            c.lost[i] += value * loss_of(kind, parameter, y, slope)
                    tally[0, k] += weight * lost
                    tally[0, k + 1] += weight * loss_of(kind, parameter, y, plain / confident)
                    for i in range(k, k + 2):
                        tally[1, i] += weight
                        tally[2, i] += weight * lost
                    for v in range(m if m == 1 else 2):
                        if v == 0 and not follow_linear:
                            continue
                        slope = slope_of(kind, parameter, y, c.mixed[v])
                        for i in range(k):
                            value = weight if conf == NULL else weight * conf[i]
                            c.lost[v * k + i] += value * bounded(slope * apart(x[i], c.mixed[v]))
                    if m > 1:
                        slope = slope_of(kind, parameter, y, mixture)
                        for v in range(m):
                            c.mixed[m + v] += weight * bounded(slope * apart(c.mixed[v], mixture))
                if r >= n_complete:
                    continue
                if total_weight > 0.0:
                    n_learned += 1
                    asleep = 0.0
                    for i in range(k):
                        c.part[i] = min(c.heard[i] / (starts[r + 1] - starts[r]), 1.0)
                        asleep += c.part[i] != 1.0
                        for v in range(m if m == 1 else 2):
                            if c.heard[i] > 0.0:
                                c.lost[v * k + i] /= c.heard[i]
                    rescale(&c, c.lost, c.part, 0, k)
                    conf = c.part if asleep > 0.0 else NULL
                    late = basis < newest
                    if late:
                        follow.learn_late(page + m, page + m + m * k, c.lost, conf)
                    else:
                        follow.learn(c.lost, conf)
                    if m > 1:
                        rescale(&c, c.lost + k, c.part, 1, k)
                        poly_learn(&c, page + m + k, c.lost + k, conf)
                        value = min(total_weight / (starts[r + 1] - starts[r]), 1.0)
                        for v in range(m):
                            c.mixed[v] = value
                            c.mixed[m + v] /= total_weight
                        rescale(&c, c.mixed + m, c.mixed, 2, m)
                        conf = c.mixed if value != 1.0 else NULL
                        if late:
                            arbiter.learn_late(page, page + m + m * k + n_seen, c.mixed + m, conf)
                        else:
                            arbiter.learn(c.mixed + m, conf)
                newest += 1
                note(&c, follow.m.played, arbiter.m.played if m > 1 else NULL, &mean[0] if m > 1 else NULL,
                     pages + (newest % n_pages) * width)
                if width > m + m * k:  # with what rounds that are learned late must know
                    follow.view(pages + (newest % n_pages) * width + m + m * k)
                    if m > 1:
                        arbiter.view(pages + (newest % n_pages) * width + m + m * k + n_seen)
                until[newest % n_pages] = known_at[r]
                basis = max(basis, newest - n_pages + 1)
        for i in range(newest - basis + 1):
            memcpy(&kept[i, 0], pages + ((basis + i) % n_pages) * width, width * sizeof(double))
            kept_until[i] = until[(basis + i) % n_pages]
        for i in range(3):
            gaps[i] = c.gaps[i]
        if poly is not None:
            poly["largest"] = np.asarray(c.largest)
            poly["rounds"] += n_learned
    finally:
        free(block)
        free(pages)
        free(until)
    return newest - basis + 1
