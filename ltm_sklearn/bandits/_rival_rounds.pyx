# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rounds of Exp3 and UCB bandits, compiled. The NumPy definitions are in `_exp3` and `_ucb`.

Each function plays the rows of ``losses`` with the random numbers ``uniforms``, writes the arms into ``played``, and
updates the given arrays in place. Only the weight of the drawn arm needs an exponential.
"""

from libc.math cimport INFINITY, exp, log, sqrt

from ._draws cimport draw_from, total

import numpy as np


cdef inline double chances_of(const double* weights, double* chances, double* levels, Py_ssize_t n_arms, double scale,
                              double floor) noexcept nogil:
    """Write ``scale · w + floor`` for each arm, and the cumulative sums."""
    cdef double level = 0.0
    cdef Py_ssize_t k
    for k in range(n_arms):
        chances[k] = scale * weights[k] + floor
    for k in range(n_arms):
        level += chances[k]
        levels[k] = level
    return level


def exponential_rounds(const double[:, ::1] losses, const double[::1] uniforms, Py_ssize_t[::1] played, double[::1] gains,
                       double rate, double exploration, double implicit, double baseline, double smallest_chance,
                       double low, double high):
    """Play Exp3 (``baseline`` 0) or Exp3-IX (``baseline`` 1): ``(gain - baseline)/(chance + implicit)`` per round."""
    cdef Py_ssize_t n_rounds = losses.shape[0], n_arms = losses.shape[1], t, k, arm
    cdef double[::1] weights = np.empty(n_arms), chances = np.empty(n_arms), levels = np.empty(n_arms)
    cdef double whole = 0.0, reference = 0.0, chance, gain
    with nogil:
        for t in range(n_rounds):
            if t:
                whole = total(&weights[0], n_arms)
            if not 1e-100 < whole < 1e100:  # no weights yet, or relative to a gain far from the largest
                reference = gains[0]
                for k in range(n_arms):
                    if gains[k] > reference:
                        reference = gains[k]
                for k in range(n_arms):
                    weights[k] = exp(rate * (gains[k] - reference))
                whole = total(&weights[0], n_arms)
            chances_of(&weights[0], &chances[0], &levels[0], n_arms, (1.0 - exploration) / whole, exploration / n_arms)
            arm = draw_from(&levels[0], n_arms, uniforms[t])
            chance = chances[arm] + implicit
            if chance < smallest_chance:
                chance = smallest_chance
            gain = (high - losses[t, arm]) / (high - low)
            gains[arm] += (gain - baseline) / chance
            weights[arm] = exp(rate * (gains[arm] - reference))
            played[t] = arm


def sharing_rounds(const double[:, ::1] losses, const double[::1] uniforms, Py_ssize_t[::1] played, double[::1] weights,
                   double rate, double exploration, double share, double smallest_chance, double largest_exponent,
                   double smallest_weight, double low, double high):
    """Play Exp3.S; each arm receives ``share`` of the sum of the weights per round."""
    cdef Py_ssize_t n_rounds = losses.shape[0], n_arms = losses.shape[1], t, k, arm
    cdef double[::1] chances = np.empty(n_arms), levels = np.empty(n_arms)
    cdef double whole, chance, exponent
    with nogil:
        for t in range(n_rounds):
            chances_of(&weights[0], &chances[0], &levels[0], n_arms, 1.0 - exploration, exploration / n_arms)
            arm = draw_from(&levels[0], n_arms, uniforms[t])
            chance = chances[arm]
            if chance < smallest_chance:
                chance = smallest_chance
            exponent = rate * ((high - losses[t, arm]) / (high - low) / chance)
            weights[arm] *= exp(exponent if exponent < largest_exponent else largest_exponent)
            for k in range(n_arms):
                weights[k] += share
            whole = total(&weights[0], n_arms)
            for k in range(n_arms):
                weights[k] /= whole
                weights[k] = weights[k] if weights[k] > smallest_weight else smallest_weight
            played[t] = arm


cdef inline Py_ssize_t draw_largest(const double* counts, const double* sums, double* bounds, double* levels,
                                    Py_ssize_t n_arms, double spread, double tiny, double rounding,
                                    double uniform) noexcept nogil:
    """Draw uniformly among the arms with the largest bound."""
    cdef double largest = -INFINITY, level = 0.0, even
    cdef Py_ssize_t k, n_best = 0, last = 0
    for k in range(n_arms):
        bounds[k] = sums[k] / counts[k] + spread / sqrt(counts[k])
    for k in range(n_arms):
        if counts[k] <= tiny:
            bounds[k] = INFINITY
        if bounds[k] > largest:
            largest = bounds[k]
    for k in range(n_arms):
        if bounds[k] >= largest - rounding:
            n_best += 1
            last = k
    if n_best == 1:
        return last
    even = 1.0 / n_best
    for k in range(n_arms):
        if bounds[k] >= largest - rounding:
            level += even
        levels[k] = level
    return draw_from(levels, n_arms, uniform)


def discounted_rounds(const double[:, ::1] losses, const double[::1] uniforms, Py_ssize_t[::1] played, double[::1] counts,
                      double[::1] sums, double discount, double exploration, double tiny, double rounding, double low,
                      double high):
    """Play discounted UCB."""
    cdef Py_ssize_t n_rounds = losses.shape[0], n_arms = losses.shape[1], t, k, arm
    cdef double[::1] bounds = np.empty(n_arms), levels = np.empty(n_arms)
    cdef double whole
    with nogil:
        for t in range(n_rounds):
            whole = total(&counts[0], n_arms)
            arm = draw_largest(&counts[0], &sums[0], &bounds[0], &levels[0], n_arms,
                               sqrt(4.0 * exploration * log(whole if whole > 1.0 else 1.0)), tiny, rounding, uniforms[t])
            for k in range(n_arms):
                counts[k] *= discount
                sums[k] *= discount
            counts[arm] += 1.0
            sums[arm] += (high - losses[t, arm]) / (high - low)
            played[t] = arm


cdef void count_all(const Py_ssize_t* seen, const double* gains, Py_ssize_t n_seen, double* counts, double* sums,
                    Py_ssize_t n_arms) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n_arms):
        counts[k] = 0.0
        sums[k] = 0.0
    for k in range(n_seen):
        if seen[k] >= 0:
            counts[seen[k]] += 1.0
            sums[seen[k]] += gains[k]


def window_rounds(const double[:, ::1] losses, const double[::1] uniforms, Py_ssize_t[::1] played,
                  const Py_ssize_t[::1] before, const double[::1] gains_before, Py_ssize_t window, double exploration,
                  double rounding, double low, double high):
    """Play sliding-window UCB and return the arms and gains in the window at the end."""
    cdef Py_ssize_t n_rounds = losses.shape[0], n_arms = losses.shape[1], t, arm, first = 0, last = before.shape[0]
    cdef Py_ssize_t until_recount = window
    cdef double[::1] bounds = np.empty(n_arms), levels = np.empty(n_arms), counts = np.zeros(n_arms)
    cdef double[::1] sums = np.zeros(n_arms)
    seen_array = np.append(before, np.empty(n_rounds, dtype=np.intp))
    gains_array = np.append(gains_before, np.empty(n_rounds))
    cdef Py_ssize_t[::1] seen = seen_array
    cdef double[::1] gains = gains_array
    with nogil:
        if last:
            count_all(&seen[0], &gains[0], last, &counts[0], &sums[0], n_arms)
        for t in range(n_rounds):
            arm = draw_largest(&counts[0], &sums[0], &bounds[0], &levels[0], n_arms,
                               sqrt(exploration * log(last - first if last > first else 1)), 0.0, rounding, uniforms[t])
            seen[last] = arm
            gains[last] = (high - losses[t, arm]) / (high - low)
            counts[arm] += 1.0
            sums[arm] += gains[last]
            last += 1
            if last - first > window:
                if seen[first] >= 0:
                    counts[seen[first]] -= 1.0
                    sums[seen[first]] -= gains[first]
                first += 1
            until_recount -= 1
            if until_recount == 0:  # so that rounding errors of additions and subtractions do not accumulate
                count_all(&seen[first], &gains[first], last - first, &counts[0], &sums[0], n_arms)
                until_recount = window
            played[t] = arm
    return seen_array[first:last].copy(), gains_array[first:last].copy()
