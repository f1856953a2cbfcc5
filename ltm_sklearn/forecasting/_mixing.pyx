# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rounds of an aggregator, compiled. `Aggregator` and `SeriesState` have the definitions."""

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
    double gaps[3]               # widest gaps of the losses: of the first member, of ML-Poly, of the arbiter
    # ML-Poly; NULL where there is none
    const double *poly_prior
    double *regret
    double *inverse_rate
    double largest
    double *used                 # weights of ML-Poly
    # of the round
    double *losses               # [3][n_experts]: what the members learn from
    double *total                # [n_experts]: weights of the rows in which each expert is awake, summed
    double *part                 # [n_experts]
    double *mixed                # [n_members] mixtures of a row
    double *row                  # [n_experts] weights of a member in a row
    double *combined             # [n_experts] weights of the aggregator in a row


cdef double restricted(const double *own, const double *awake, double *row, Py_ssize_t k) noexcept nogil:
    """Weights in a row, p ∝ a·w; returns 0 if all experts are fully awake, so that weights stay as they are."""
    cdef Py_ssize_t i
    cdef double largest = 0.0, total = 0.0, confidence = 0.0, asleep = 0.0
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
        confidence += awake[i] / largest
    for i in range(k):
        row[i] = row[i] / total if total > TINY else awake[i] / largest / confidence
    return 1.0


cdef void rescale(aggregator *c, double *losses, const double *part, int which, Py_ssize_t n) noexcept nogil:
    """Rescale the losses of a round to [0, 1] and learn their range, as `LossRange` does."""
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
    """Weights of ML-Poly."""
    cdef Py_ssize_t i
    cdef double total = 0.0, prior = 0.0
    for i in range(c.n_experts):
        c.used[i] = c.poly_prior[i] * max(c.regret[i], 0.0) / max(c.inverse_rate[i], TINY)
        total += c.used[i]
        prior += c.poly_prior[i]
    for i in range(c.n_experts):
        c.used[i] = c.used[i] / total if total > 0.0 else c.poly_prior[i] / prior


cdef void poly_learn(aggregator *c, const double *own, double *losses, const double *awake) noexcept nogil:
    """Learn a round of ML-Poly with losses in [0, 1], issued with these weights; ``awake`` is NULL if all are."""
    cdef Py_ssize_t i
    cdef double mixture = 0.0, largest = c.largest, regret
    cdef const double *used = own
    if awake != NULL:
        restricted(own, awake, c.row, c.n_experts)
        used = c.row
    for i in range(c.n_experts):
        mixture += used[i] * losses[i]
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


cdef void write_version(aggregator *c, const double *follow, const double *arbiter, const double *mean,
                        double *version) noexcept nogil:
    """Write what would be issued now: the arbiter's weights, then each member's."""
    cdef Py_ssize_t i, k = c.n_experts, m = c.n_members
    for i in range(m):
        version[i] = arbiter[i] if m > 1 else 1.0
    memcpy(version + m, follow, k * sizeof(double))
    if m > 1:
        memcpy(version + m + k, c.used, k * sizeof(double))
        memcpy(version + m + 2 * k, mean, k * sizeof(double))


def run(MemoryRounds follow not None, bint follow_linear, dict poly, MemoryRounds arbiter, const double[::1] mean,
        double[::1] gaps, const long long[::1] old_from, const double[:, ::1] old_versions, const long long[::1] starts,
        const long long[::1] issue, const long long[::1] known_at, Py_ssize_t n_complete,
        const double[:, ::1] forecasts, const double[::1] targets, const double[:, ::1] awake,
        const double[::1] row_weights, int kind, const double[::1] parameters, double growth, double fading,
        long long[::1] new_from, double[:, ::1] new_versions, double[::1] predictions, double[:, ::1] weights,
        double[:, ::1] loss_sums, Py_ssize_t n_further):
    """Learn the rounds of a series state; returns how many weight versions are kept.

    A version holds what was issued after a round: ``old_versions`` before these rounds, ``new_versions`` after them,
    and the numbers of known rows from which on they are in force. ``poly`` is the state of ML-Poly; without it ``arbiter``
    and ``mean`` are None. Rounds from ``n_complete`` on are issued but not learned yet. The first ``n_further`` experts
    do not count in the plain mean.
    """
    cdef aggregator c
    cdef Py_ssize_t k = forecasts.shape[1], m = 3 if poly is not None else 1, width = old_versions.shape[1]
    cdef Py_ssize_t n_old = old_versions.shape[0], n_rounds = starts.shape[0] - 1, n_versions = new_versions.shape[0]
    cdef Py_ssize_t r, i, v, at, newest = n_old - 1, at_issue = 0, n_learned = 0
    cdef double weight, total_weight, y, mixture, value, slope, parameter, plain, confidence, asleep, loss
    cdef double centre, total
    cdef Py_ssize_t view_width = follow.m.n_trackers * k
    cdef bint late
    cdef double *versions
    cdef long long *in_force_from
    cdef double *version
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
    c.losses, c.total, c.part = block, block + 3 * k, block + 4 * k
    c.row, c.combined = block + 5 * k, block + 6 * k
    c.mixed = block + 7 * k
    versions = <double *> calloc(n_versions * width + k, sizeof(double))
    in_force_from = <long long *> calloc(n_versions, sizeof(long long))
    if versions == NULL or in_force_from == NULL:
        free(block)
        free(versions)
        free(in_force_from)
        raise MemoryError()
    try:
        c.used = versions + n_versions * width
        if poly is not None:
            poly_prior, regret, inverse_rate = poly["prior"], poly["regret"], poly["inverse_rate"]
            c.poly_prior, c.regret, c.inverse_rate = &poly_prior[0], &regret[0], &inverse_rate[0]
            c.largest = poly["largest"]
            poly_weights(&c)
        for i in range(n_old):
            memcpy(versions + i * width, &old_versions[i, 0], width * sizeof(double))
            in_force_from[i] = old_from[i]
        with nogil:
            for r in range(n_rounds):
                while at_issue < newest and in_force_from[(at_issue + 1) % n_versions] <= issue[r]:
                    at_issue += 1
                version = versions + (at_issue % n_versions) * width
                for i in range(4 * k):
                    block[i] = 0.0
                for v in range(m):
                    c.mixed[m + v] = 0.0  # what the arbiter learns from
                total_weight = 0.0
                for at in range(starts[r], starts[r + 1]):
                    x, y = &forecasts[at, 0], targets[at]
                    conf = NULL if awake is None else &awake[at, 0]
                    parameter = parameters[at if parameters.shape[0] > 1 else 0]
                    weight = 1.0 if row_weights is None else row_weights[at]
                    mixture = 0.0
                    for i in range(k):
                        c.combined[i] = 0.0
                    for v in range(m):
                        value = 0.0
                        if conf == NULL:
                            memcpy(c.row, version + m + v * k, k * sizeof(double))
                        else:
                            restricted(version + m + v * k, conf, c.row, k)
                        for i in range(k):
                            value += c.row[i] * x[i]
                            c.combined[i] += version[v] * c.row[i]
                        c.mixed[v] = clip_to_floats(value)
                        mixture += version[v] * c.mixed[v]
                    mixture = clip_to_floats(mixture)
                    predictions[at] = mixture
                    if weights is not None:
                        for i in range(k):
                            weights[at, i] = c.combined[i]
                    if r >= n_complete or weight == 0.0:
                        continue
                    total_weight += weight
                    plain = confidence = centre = total = 0.0
                    loss = loss_of(kind, parameter, y, mixture)
                    for i in range(k):
                        value = 1.0 if conf == NULL else conf[i]
                        centre += value * x[i]
                        total += value
                        if i >= n_further:
                            plain += value * x[i]
                            confidence += value
                    centre /= total
                    for i in range(k):
                        value = weight if conf == NULL else weight * conf[i]
                        c.total[i] += value
                        loss_sums[0, i] += value * loss_of(kind, parameter, y, x[i])
                        loss_sums[1, i] += value
                        loss_sums[2, i] += value * loss
                        if not follow_linear:
                            slope = x[i] if apart(x[i], centre) != 0.0 else centre  # a difference that is rounding
                            c.losses[i] += value * loss_of(kind, parameter, y, slope)
                    loss_sums[0, k] += weight * loss
                    loss_sums[0, k + 1] += weight * loss_of(kind, parameter, y, plain / confidence)
                    for i in range(k, k + 2):
                        loss_sums[1, i] += weight
                        loss_sums[2, i] += weight * loss
                    for v in range(m if m == 1 else 2):
                        if v == 0 and not follow_linear:
                            continue
                        slope = slope_of(kind, parameter, y, c.mixed[v])
                        for i in range(k):
                            value = weight if conf == NULL else weight * conf[i]
                            c.losses[v * k + i] += value * bounded(slope * apart(x[i], c.mixed[v]))
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
                        c.part[i] = min(c.total[i] / (starts[r + 1] - starts[r]), 1.0)
                        asleep += c.part[i] != 1.0
                        for v in range(m if m == 1 else 2):
                            if c.total[i] > 0.0:
                                c.losses[v * k + i] /= c.total[i]
                    rescale(&c, c.losses, c.part, 0, k)
                    conf = c.part if asleep > 0.0 else NULL
                    late = at_issue < newest
                    if late:
                        follow.learn_late(version + m, version + m + m * k, c.losses, conf)
                    else:
                        follow.learn(c.losses, conf)
                    if m > 1:
                        rescale(&c, c.losses + k, c.part, 1, k)
                        poly_learn(&c, version + m + k, c.losses + k, conf)
                        value = min(total_weight / (starts[r + 1] - starts[r]), 1.0)
                        for v in range(m):
                            c.mixed[v] = value
                            c.mixed[m + v] /= total_weight
                        rescale(&c, c.mixed + m, c.mixed, 2, m)
                        conf = c.mixed if value != 1.0 else NULL
                        if late:
                            arbiter.learn_late(version, version + m + m * k + view_width, c.mixed + m, conf)
                        else:
                            arbiter.learn(c.mixed + m, conf)
                newest += 1
                write_version(&c, follow.m.played, arbiter.m.played if m > 1 else NULL, &mean[0] if m > 1 else NULL,
                              versions + (newest % n_versions) * width)
                if width > m + m * k:  # the views that late rounds need
                    follow.view(versions + (newest % n_versions) * width + m + m * k)
                    if m > 1:
                        arbiter.view(versions + (newest % n_versions) * width + m + m * k + view_width)
                in_force_from[newest % n_versions] = known_at[r]
                at_issue = max(at_issue, newest - n_versions + 1)
        for i in range(newest - at_issue + 1):
            memcpy(&new_versions[i, 0], versions + ((at_issue + i) % n_versions) * width, width * sizeof(double))
            new_from[i] = in_force_from[(at_issue + i) % n_versions]
        for i in range(3):
            gaps[i] = c.gaps[i]
        if poly is not None:
            poly["largest"] = np.asarray(c.largest)
            poly["rounds"] += n_learned
    finally:
        free(block)
        free(versions)
        free(in_force_from)
    return newest - at_issue + 1
