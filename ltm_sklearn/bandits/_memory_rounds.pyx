# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rounds of LongTermMemoryBandit, compiled. The definitions are in `_long_term_memory_bandit` and `_bayes_filter`."""

from libc.math cimport exp, log, sqrt

from ._draws cimport draw_from, total

import numpy as np


cdef struct Sums:
    double lowest, highest, good_count, good_loss, good_squares, bad_count, bad_loss


cdef struct FilterConstants:
    double belief_sharing, memory, novelty, fading, first_count, first_good, first_bad, least_distance, margin
    double least_dispersion, largest_ratio, same, tiny, growth, shrinking


cdef struct Levels:
    double good, bad, dispersion


cdef struct RuleConstants:
    double pulls_a_change, least_pulls, most_pulls, even_pulls, search
    double rate, switching, memory, exploration
    double implicit, confidence, master_rate, master_sharing, master_implicit


cdef double between(double value, double low, double high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef void widen(Sums* sums, double loss, const FilterConstants* c) noexcept nogil:
    """Update the range with a loss."""
    cdef double good, bad, low, high, beyond, lowest = sums.lowest, highest = sums.highest
    if highest - lowest > c.same:
        good = sums.good_loss / sums.good_count
        bad = sums.bad_loss / sums.bad_count if sums.bad_count > c.same else good
        low, high = (good, bad) if good < bad else (bad, good)
        lowest += c.shrinking * (low - lowest if low > lowest else 0.0)
        highest -= c.shrinking * (highest - high if highest > high else 0.0)
        beyond = (c.growth - 1.0) * (highest - lowest)
        low = loss if loss > lowest - beyond else lowest - beyond
        high = loss if loss < highest + beyond else highest + beyond
    else:
        low = high = loss
    sums.lowest = low if low < lowest else lowest
    sums.highest = high if high > highest else highest


cdef double level(double count, double loss, double first, const Sums* sums,
                  const FilterConstants* c) noexcept nogil:
    cdef double gains = (sums.highest * count - loss) / (sums.highest - sums.lowest)
    return (c.first_count * first + gains) / (c.first_count + count)


cdef Levels levels_of(const Sums* sums, const FilterConstants* c) noexcept nogil:
    cdef double good = level(sums.good_count, sums.good_loss, c.first_good, sums, c)
    cdef double bad = level(sums.bad_count, sums.bad_loss, c.first_bad, sums, c)
    cdef double width = sums.highest - sums.lowest, inside = between(good, c.margin, 1.0 - c.margin)
    cdef double squares = sums.good_squares / (width * width) / (inside * (1.0 - inside))
    cdef double of_good = c.first_count + sums.good_count, of_bad = c.first_count + sums.bad_count, middle, least
    cdef double dispersion = between((c.first_count + squares) / of_good, c.least_dispersion, 1.0)
    least = c.least_distance * sqrt(dispersion)
    if good - bad < least:
        middle = (good * of_good + bad * of_bad) / (of_good + of_bad)
        good, bad = middle + least / 2.0, middle - least / 2.0
    bad = between(bad, c.margin, 1.0 - c.margin - least / 2.0)
    good = between(good, bad + least / 2.0, 1.0 - c.margin)
    return Levels(good, bad, dispersion)


cdef void share(double* tracked, double* remembered, Py_ssize_t n_arms, double scale, double alpha, double theta,
                double novelty) noexcept nogil:
    """``w ← (1-α) ẇ + α v`` and ``v ← (1-θ) v + θ ẇ`` for ``ẇ = scale · w``."""
    cdef Py_ssize_t i
    cdef double posterior, keep = 1.0 - alpha, recall = alpha * (1.0 - novelty), even = alpha * novelty / n_arms
    for i in range(n_arms):
        posterior = scale * tracked[i]
        tracked[i] = keep * posterior + recall * remembered[i] + even
        remembered[i] = (1.0 - theta) * remembered[i] + theta * posterior


cdef void upper_bounds(const double* pulls, const double* sums, double* bounds, Py_ssize_t n_arms, double n_pulls,
                  double n_untried, const Sums* losses, const RuleConstants* c, double same) noexcept nogil:
    """Write the uniform distribution over the arms with the best bound, or with the fewest draws."""
    cdef double width = losses.highest - losses.lowest, best = pulls[0], spread, ties = 0.0
    cdef Py_ssize_t i
    if n_untried > 0.0 or not width > same:
        for i in range(n_arms):
            best = pulls[i] if pulls[i] < best else best
            bounds[i] = pulls[i]
    else:
        spread = c.confidence * log(n_pulls)
        for i in range(n_arms):
            bounds[i] = (losses.highest - sums[i] / pulls[i]) / width + sqrt(spread / pulls[i])
        best = bounds[0]
        for i in range(n_arms):
            best = bounds[i] if bounds[i] > best else best
    for i in range(n_arms):
        bounds[i] = 1.0 if bounds[i] == best else 0.0
        ties += bounds[i]
    for i in range(n_arms):
        bounds[i] /= ties


def memory_rounds(const double[:, ::1] losses, const double[::1] uniforms, Py_ssize_t[::1] played, dict state,
                  const double[::1] switching, const double[::1] prior_belief, const double[::1] prior_trust,
                  dict filter_constants, dict constants):
    """Play the rows of ``losses``, write the arms into ``played``, and return the state afterwards."""
    cdef FilterConstants fc = filter_constants
    cdef RuleConstants c = constants
    cdef Sums sums = {name: state[name] for name in (
        "lowest", "highest", "good_count", "good_loss", "good_squares", "bad_count", "bad_loss")}
    cdef Py_ssize_t n_rounds = losses.shape[0], n_arms = losses.shape[1], n_cells = switching.shape[0]
    after = {name: np.array(state[name]) for name in (
        "tracked", "remembered", "belief", "weights", "memory", "pulls", "sums", "trust")}
    cdef double[:, ::1] tracked = after["tracked"], remembered = after["remembered"]
    cdef double[::1] belief = after["belief"], weights = after["weights"], memory = after["memory"]
    cdef double[::1] pulls = after["pulls"], pulled = after["sums"], trust = after["trust"]
    cdef double[::1] filtered = np.empty(n_arms), before = np.empty(n_arms), best_bounds = np.empty(n_arms)
    cdef double[::1] chances = np.empty(n_arms), cumulated = np.empty(n_arms), evidence = np.empty(n_cells)
    cdef double rounds = state["rounds"], n_pulls = 0.0, n_untried = 0.0
    cdef double alpha, theta, others, mass, loss, gain, estimate, width, ratio, is_good, mode, expected, grown, logs
    cdef double of_share, slow, even, recall, search
    cdef bint known
    cdef Py_ssize_t t, i, k, arm
    cdef Levels now
    for i in range(n_arms):
        n_pulls += pulls[i]
        n_untried += 1.0 if pulls[i] == 0.0 else 0.0
    with nogil:
        for t in range(n_rounds):
            slow = 1.0 / (rounds + 2.0)
            # The distributions of the three rules, and their mixture.
            for i in range(n_arms):
                filtered[i] = 0.0
                before[i] = 0.0
            others = 0.0
            for k in range(n_cells):
                alpha = switching[k] if switching[k] > 0.0 else slow
                others += belief[k] * alpha
                for i in range(n_arms):
                    filtered[i] += belief[k] * tracked[k, i]
                    before[i] += belief[k] * remembered[k, i]
            others = between(c.pulls_a_change * others + c.least_pulls / sqrt(rounds + 1.0), 0.0, c.most_pulls)
            for i in range(n_arms):
                filtered[i] *= filtered[i]
            mode = 1.0 / total(&filtered[0], n_arms)
            for i in range(n_arms):
                filtered[i] *= mode
                before[i] *= 1.0 - filtered[i]
            mass = total(&before[0], n_arms)
            known = sums.highest - sums.lowest > fc.same
            search = 0.0
            if known:
                now = levels_of(&sums, &fc)
                search = between((1.0 - now.good) / (now.good - now.bad), 0.0, 1.0)
                search = c.search * search * search
            recall = others * (1.0 - c.even_pulls) / mass if mass > fc.tiny else 0.0
            even = (search + others * (c.even_pulls if mass > fc.tiny else 1.0)) / n_arms
            mode = 1.0 - others - search
            upper_bounds(&pulls[0], &pulled[0], &best_bounds[0], n_arms, n_pulls, n_untried, &sums, &c, fc.same)
            of_share = c.exploration / n_arms
            for i in range(n_arms):
                filtered[i] = mode * filtered[i] + recall * before[i] + even if known else best_bounds[i]
                chances[i] = (trust[0] * filtered[i] + trust[1] * ((1.0 - c.exploration) * weights[i] + of_share)
                              + trust[2] * best_bounds[i])
            mass = 0.0
            for i in range(n_arms):
                mass += chances[i]
                cumulated[i] = mass
            arm = draw_from(&cumulated[0], n_arms, uniforms[t])
            played[t] = arm
            loss = losses[t, arm]
            # The observed loss.
            rounds += 1.0
            n_pulls += 1.0
            n_untried -= 1.0 if pulls[arm] == 0.0 else 0.0
            pulls[arm] += 1.0
            pulled[arm] += loss
            widen(&sums, loss, &fc)
            loss = between(loss, sums.lowest, sums.highest)
            width = sums.highest - sums.lowest
            known = width > fc.same
            gain = (sums.highest - loss) / width if known else 0.0
            estimate = gain / (chances[arm] + c.master_implicit)
            # The master.
            trust[0] *= exp(c.master_rate * filtered[arm] * estimate)
            trust[1] *= exp(c.master_rate * ((1.0 - c.exploration) * weights[arm] + of_share) * estimate)
            trust[2] *= exp(c.master_rate * best_bounds[arm] * estimate)
            mass = trust[0] + trust[1] + trust[2]
            for k in range(3):
                trust[k] = (1.0 - c.master_sharing) * (trust[k] / mass) + c.master_sharing * prior_trust[k]
            # Share-theta on the estimated gain.
            grown = exp(c.rate * gain / (chances[arm] + c.implicit))
            weights[arm] *= grown
            share(&weights[0], &memory[0], n_arms, 1.0 / total(&weights[0], n_arms), c.switching, c.memory, fc.novelty)
            # The filter.
            ratio, expected = 1.0, sums.highest
            if known:
                now = levels_of(&sums, &fc)
                logs = gain * log(now.good / now.bad) + (1.0 - gain) * log((1.0 - now.good) / (1.0 - now.bad))
                ratio = exp(between(logs / now.dispersion, -fc.largest_ratio, fc.largest_ratio))
                expected = sums.highest - width * now.good
            theta = fc.memory if fc.memory > slow else slow
            mass = 0.0
            for k in range(n_cells):
                tracked[k, arm] *= ratio
                evidence[k] = total(&tracked[k, 0], n_arms)
                belief[k] *= evidence[k]
                mass += belief[k]
            is_good = 0.0
            for k in range(n_cells):
                belief[k] /= mass
                is_good += belief[k] * tracked[k, arm] / evidence[k]
                alpha = switching[k] if switching[k] > 0.0 else slow
                share(&tracked[k, 0], &remembered[k, 0], n_arms, 1.0 / evidence[k], alpha, theta, fc.novelty)
                belief[k] = (1.0 - fc.belief_sharing) * belief[k] + fc.belief_sharing * prior_belief[k]
            sums.good_count = fc.fading * sums.good_count + is_good
            sums.good_loss = fc.fading * sums.good_loss + is_good * loss
            sums.good_squares = fc.fading * sums.good_squares + is_good * (loss - expected) * (loss - expected)
            sums.bad_count = fc.fading * sums.bad_count + (1.0 - is_good)
            sums.bad_loss = fc.fading * sums.bad_loss + (1.0 - is_good) * loss
    return {**state, **after, **sums, "rounds": int(rounds)}
