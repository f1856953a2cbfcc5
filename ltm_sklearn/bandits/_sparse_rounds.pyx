# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rounds of the sparse bandits, compiled. The NumPy definitions are in `_sparse` and `_hybrid_regularizer`.

Besides the multiplier, u = γη/w of each arm is kept between steps, so that u + ln u = y usually needs a single logarithm.
"""

from libc.math cimport exp, fabs, log

from ._draws cimport draw_from

import numpy as np

cdef double LEAST_CHANCE = 1e-100
cdef double TOLERANCE = 1e-13
cdef double LOWEST = -40.0
cdef double LARGEST = 1e300
cdef int MOST_STEPS = 200
cdef int MOST_INNER_STEPS = 50


cdef inline double start_value(double y) noexcept nogil:
    """Return a start value of u in u + ln u = y, with an error of about a quarter of 1 + u."""
    if y > 1.0:
        return y - log(y)
    if y < -1.0:
        return exp(y)
    return 0.5671432904097838 * exp(y / 1.5671432904097838)


cdef inline double solved(double y, double u) noexcept nogil:
    """Solve u + ln u = y from a start value, by steps of order four (Fritsch, Shafer and Crowley)."""
    cdef double missing, stretch
    cdef int step
    if y > 1e8:  # where squares below might overflow, and this is exact to the last digit
        return y - log(y - log(y))
    missing = y - u - log(u) if u > 0.0 else 1e300
    if not fabs(missing) <= 0.25 * (1.0 + u):
        u = start_value(y)
        missing = y - u - log(u)
    for step in range(MOST_INNER_STEPS):
        stretch = 2.0 * (1.0 + u) * (1.0 + u + 2.0 / 3.0 * missing)
        u *= 1.0 + missing / (1.0 + u) * (stretch - missing) / (stretch - 2.0 * missing)
        if fabs(missing) <= 2e-4 * (1.0 + u):  # the error after this step is of its fourth power
            break
        missing = y - u - log(u)
    return u


cdef double leader_weights(const double* losses, double* weights, double* inner, double* beyond, Py_ssize_t n_arms,
                 double rate, double barrier, double multiplier) noexcept nogil:
    """Write the weights of the regularised leader on these losses, and return the multiplier."""
    cdef double strength = rate * barrier, log_strength = log(strength) if strength > 0.0 else 0.0
    cdef double low = -(1.0 + 1e-9) * (log(<double>n_arms) + strength * n_arms), high = -strength
    cdef double least = losses[0], total = 1.0, slope, excess, following, w, y
    cdef Py_ssize_t i
    cdef int step
    for i in range(n_arms):
        least = losses[i] if losses[i] < least else least
    for i in range(n_arms):
        beyond[i] = rate * (losses[i] - least)
        beyond[i] = beyond[i] if beyond[i] < LARGEST else LARGEST
    multiplier = low if multiplier < low else high if multiplier > high else multiplier
    for step in range(MOST_STEPS):
        total = 0.0
        slope = 0.0
        for i in range(n_arms):
            y = log_strength - (multiplier - beyond[i])
            if strength == 0.0 or y < LOWEST:
                w = exp(multiplier - beyond[i])
                slope += w
            else:
                inner[i] = solved(y, inner[i])
                w = strength / inner[i]
                slope += w / (1.0 + inner[i])
            weights[i] = w
            total += w
        excess = log(total)
        if fabs(excess) <= TOLERANCE:
            break
        if excess > 0.0:
            high = multiplier
        else:
            low = multiplier
        following = multiplier - excess * total / slope
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if following == multiplier:
            break
        multiplier = following
    for i in range(n_arms):
        weights[i] /= total
    return multiplier


def play(const double[:, ::1] losses, const double[::1] uniforms, Py_ssize_t[::1] played, double[::1] cumulative,
         double[::1] weights, double[::1] confidence, double multiplier, const double[::1] rates, double barrier,
         double floor, double bias, double exploration):
    """Play all rounds, update the arrays in place, and return the last multiplier."""
    cdef Py_ssize_t n_rounds = losses.shape[0], n_arms = losses.shape[1], t, i, arm
    cdef double[::1] p = np.empty(n_arms), levels = np.empty(n_arms), inner = np.zeros(n_arms), beyond = np.empty(n_arms)
    cdef double total, level, estimate, mixture, regret, inverse, last_rate = -1.0
    with nogil:
        for t in range(n_rounds):
            total = 0.0
            for i in range(n_arms):
                p[i] = confidence[i] * weights[i]
                total += p[i]
            level = 0.0
            for i in range(n_arms):
                p[i] /= total
                level += (1.0 - exploration) * p[i] + exploration / n_arms
                levels[i] = level
            arm = draw_from(&levels[0], n_arms, uniforms[t])
            played[t] = arm

            estimate = (1.0 - exploration) * p[arm] + exploration / n_arms
            estimate = losses[t, arm] / (estimate if estimate > LEAST_CHANCE else LEAST_CHANCE)
            if estimate == 0.0 and rates[t] == last_rate:
                continue  # nothing changes
            mixture = p[arm] * estimate
            for i in range(n_arms):
                regret = mixture - (estimate if i == arm else 0.0)
                cumulative[i] -= confidence[i] * regret
                if i == arm:
                    cumulative[i] -= bias * confidence[i] * estimate * estimate
                if floor < 1.0:
                    inverse = 1.0 / confidence[i] - rates[t] * regret
                    confidence[i] = 1.0 / inverse if inverse > 1.0 else 1.0
                    if confidence[i] < floor:
                        confidence[i] = floor
            multiplier = leader_weights(&cumulative[0], &weights[0], &inner[0], &beyond[0], n_arms, rates[t], barrier,
                                        multiplier)
            last_rate = rates[t]
    return multiplier
