# cython: language_level=3
"""Compiled rounds. The NumPy code beside it is the definition; this is its fused fast path."""

from libc.stdlib cimport calloc, free

import numpy as np


cdef extern from "_rounds.h" nogil:
    const int CELLS
    const bint HAS_AVX2
    ctypedef struct ltm_memory:
        Py_ssize_t n_experts, stride, n_rates, n_bundles, n_trackers
        double rounds, horizon
        const double *rates
        const double *switching
        double memory
        const double *doublings
        double first_rate, potential_floor, tracker_sharing, trackers_prior, belief_floor, weight_floor, sharpened_from
        double *prior
        double *start
        double *inverse_start
        double *potential
        double *confidence
        double *tracker_prior
        double *tracker_potential
        double *belief
        double *tracked
        double *remembered
        double *tracker_weights
        double *scale
        double *played
        double *losses
        double *regret
        double *share
        double *likelihood
        double *evidence
        double *tracker_share
        double *tracker_regret
    ctypedef struct sharing:
        Py_ssize_t n_experts, stride
        double rate, weight_floor
        double *weights
        double *memory
        double *losses
        double *posterior
    Py_ssize_t sharing_run(sharing *s, const double *losses, const double *awake, const double *alphas,
                           const double *thetas, double *out, Py_ssize_t n_rounds, bint avx2)
    void ltm_run(ltm_memory *m, const double *losses, const double *awake, double *out, Py_ssize_t n_rounds, bint avx2)



cdef void load(double *rows, const double[:, ::1] values, Py_ssize_t stride) noexcept nogil:
    """Copy a table into rows of ``stride`` doubles; the padding stays zero."""
    cdef Py_ssize_t i, j
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            rows[j * stride + i] = values[j, i]


cdef object unload(const double *rows, shape, Py_ssize_t stride):
    cdef Py_ssize_t i, j
    cdef double[:, ::1] values = np.empty((int(np.prod(shape[:-1])), shape[-1]))
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            values[j, i] = rows[j * stride + i]
    return np.asarray(values).reshape(shape)


def as_rows(values):
    return np.ascontiguousarray(values, dtype=np.float64).reshape(-1, np.shape(values)[-1])


cdef class MemoryRounds:
    """The state of a running LongTermMemory, and its rounds."""

    cdef ltm_memory m
    cdef double *block
    cdef dict rest
    cdef bint avx2

    def __cinit__(self, dict state, rates, tracker_rates, switching, double memory,
                  double potential_floor, double tracker_sharing, double belief_floor, double weight_floor,
                  double sharpened_from, avx2=None):
        cdef ltm_memory *m = &self.m
        cdef Py_ssize_t n, used = 0
        if len(switching) != CELLS:
            raise ValueError(f"the kernel is compiled for bundles of {CELLS} cells")
        self.rest = {"horizon": state["horizon"]}
        self.avx2 = HAS_AVX2 if avx2 is None else avx2
        m.n_experts = state["prior"].shape[0]
        m.stride = n = (m.n_experts + 3) // 4 * 4
        m.n_rates = len(rates)
        m.n_bundles = len(tracker_rates)
        m.n_trackers = 2 * m.n_bundles
        m.rounds = state["rounds"]
        m.horizon = state["horizon"] or 0
        m.first_rate = tracker_rates[0] if m.n_bundles else 0.0
        m.potential_floor, m.tracker_sharing, m.belief_floor = potential_floor, tracker_sharing, belief_floor
        m.weight_floor, m.sharpened_from = weight_floor, sharpened_from
        m.trackers_prior = state["tracker_prior"].sum()

        sizes = [n] * 5 + [(m.n_bundles + 1) * n] + [m.n_rates * n] * 2 + [m.n_rates * m.n_trackers] * 2 + [m.n_bundles * CELLS]
        sizes += [m.n_bundles * CELLS * n, m.n_bundles * 2 * n, m.n_trackers * n] + [m.n_trackers] * 3
        sizes += [m.n_rates, CELLS, m.n_bundles, n, n, m.n_bundles * CELLS]
        self.block = <double *> calloc(sum(sizes) + 1, sizeof(double))
        if self.block == NULL:
            raise MemoryError()
        cdef double *at[23]
        for index, size in enumerate(sizes):
            at[<int> index] = self.block + used
            used += size
        m.prior, m.played, m.losses, m.regret, m.share, m.likelihood = at[0], at[1], at[2], at[3], at[4], at[5]
        m.potential, m.confidence, m.tracker_prior, m.tracker_potential = at[6], at[7], at[8], at[9]
        m.belief, m.tracked, m.remembered, m.tracker_weights = at[10], at[11], at[12], at[13]
        m.scale, m.tracker_share, m.tracker_regret = at[14], at[15], at[16]
        m.rates, m.switching, m.doublings, m.start, m.inverse_start = at[17], at[18], at[19], at[20], at[21]
        load(at[17], as_rows(rates), m.n_rates)
        load(at[18], as_rows(switching), CELLS)
        if m.n_bundles > 1:
            load(at[19], as_rows(np.diff(np.log2(tracker_rates)).round()), m.n_bundles)
        m.evidence = at[22]
        m.memory = memory
        load(m.prior, as_rows(state["prior"]), n)
        start = state["prior"] / state["prior"].sum()
        load(m.start, as_rows(start), n)
        load(m.inverse_start, as_rows(1.0 / start), n)
        load(m.potential, as_rows(state["potential"]), n)
        load(m.confidence, as_rows(state["confidence"]), n)
        if m.n_bundles:
            load(m.tracker_prior, as_rows(state["tracker_prior"]), m.n_trackers)
            load(m.tracker_potential, as_rows(state["tracker_potential"]), m.n_trackers)
            load(m.belief, as_rows(state["belief"]), CELLS)
            load(m.tracked, as_rows(state["tracked"]), n)
            load(m.remembered, as_rows(state["remembered"]), n)
            load(m.tracker_weights, as_rows(state["mixture"]), n)
            load(m.tracker_weights + m.n_bundles * n, as_rows(state["sharpened"]), n)
            load(m.scale, as_rows(state["sharpened_scale"]), m.n_bundles)
        load(m.played, as_rows(state["weights"]), n)

    def __dealloc__(self):
        free(self.block)

    @property
    def rounds(self):
        return int(self.m.rounds)

    def state(self):
        """The state as NumPy arrays, as the NumPy code has it."""
        cdef ltm_memory *m = &self.m
        cdef Py_ssize_t n = m.stride
        k, rates, bundles, trackers = m.n_experts, m.n_rates, m.n_bundles, m.n_trackers
        return {
            **self.rest,
            "rounds": self.rounds,
            "prior": unload(m.prior, (k,), n),
            "potential": unload(m.potential, (rates, k), n),
            "confidence": unload(m.confidence, (rates, k), n),
            "tracker_prior": unload(m.tracker_prior, (rates, trackers), trackers),
            "tracker_potential": unload(m.tracker_potential, (rates, trackers), trackers),
            "belief": unload(m.belief, (bundles, CELLS), CELLS),
            "tracked": unload(m.tracked, (bundles, CELLS, k), n),
            "remembered": unload(m.remembered, (bundles, 2, k), n),
            "mixture": unload(m.tracker_weights, (bundles, k), n),
            "sharpened": unload(m.tracker_weights + m.n_bundles * n, (bundles, k), n),
            "sharpened_scale": unload(m.scale, (bundles,), bundles),
            "weights": self.weights(),
        }

    def weights(self):
        """What is played next."""
        return unload(self.m.played, (self.m.n_experts,), self.m.stride)

    def run(self, const double[:, ::1] losses, const double[:, ::1] awake=None):
        """Learn rounds that have been checked; returns what would be played in each if all were awake."""
        cdef Py_ssize_t n_rounds = losses.shape[0]
        played = np.empty((n_rounds, self.m.n_experts))
        cdef double[:, ::1] out = played
        if n_rounds:
            with nogil:
                ltm_run(&self.m, &losses[0, 0], NULL if awake is None else &awake[0, 0], &out[0, 0], n_rounds,
                        self.avx2)
        return played

    def update(self, losses):
        """Learn one round if it is a plain one, all awake and all losses in [0, 1]; otherwise do nothing, say False."""
        cdef const double[::1] row
        cdef Py_ssize_t i
        try:
            row = losses
        except (TypeError, ValueError):
            return False
        if row.shape[0] != self.m.n_experts:
            return False
        for i in range(row.shape[0]):
            if not (row[i] >= 0.0 and row[i] <= 1.0):
                return False
        ltm_run(&self.m, &row[0], NULL, NULL, 1, self.avx2)
        return True


def share_rounds(const double[:, ::1] losses, const double[:, ::1] awake, weights, memory, double rate,
                 const double[::1] switching, const double[::1] memory_rates, double weight_floor, avx2=None):
    """Rounds of Share-θ; returns what would be played if all were awake, then weights, memory and rounds learned."""
    cdef sharing s
    cdef Py_ssize_t n, learned, n_rounds = losses.shape[0]
    cdef bint wide = HAS_AVX2 if avx2 is None else avx2
    s.n_experts = losses.shape[1]
    s.stride = n = (s.n_experts + 3) // 4 * 4
    s.rate, s.weight_floor = rate, weight_floor
    rows = np.zeros((4, n))
    rows[0, :s.n_experts] = weights
    rows[1, :s.n_experts] = memory
    cdef double[:, ::1] row = rows
    s.weights, s.memory, s.losses, s.posterior = &row[0, 0], &row[1, 0], &row[2, 0], &row[3, 0]
    played = np.empty((n_rounds, s.n_experts))
    cdef double[:, ::1] out = played
    if n_rounds == 0:
        return played, weights, memory, 0
    with nogil:
        learned = sharing_run(&s, &losses[0, 0], NULL if awake is None else &awake[0, 0], &switching[0],
                              &memory_rates[0], &out[0, 0], n_rounds, wide)
    return played, rows[0, :s.n_experts].copy(), rows[1, :s.n_experts].copy(), learned


def has_avx2():
    """Whether this processor runs the AVX2 version of the loops."""
    return bool(HAS_AVX2)
