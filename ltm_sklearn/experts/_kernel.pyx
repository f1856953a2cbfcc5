# cython: language_level=3
"""Compiled rounds of LongTermMemory and Share-θ; the NumPy code of the algorithms is the definition."""

from libc.stdlib cimport calloc, free


import numpy as np


cdef extern from "_rounds.h" nogil:
    const int CELLS
    const bint HAS_AVX2
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
    void ltm_late(ltm_memory *m, const double *played, const double *trackers, const double *losses,
                  const double *awake)



cdef void load(double *rows, const double[:, ::1] values, Py_ssize_t stride) noexcept nogil:
    """Copy a table into rows of ``stride`` doubles, padded with zeros."""
    cdef Py_ssize_t i, j
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            rows[j * stride + i] = values[j, i]


cdef object unload(const double *rows, shape, Py_ssize_t stride):
    cdef Py_ssize_t i, j
    array = np.empty(shape)
    cdef double[:, ::1] values = array.reshape(-1, shape[-1])
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            values[j, i] = rows[j * stride + i]
    return array


def as_rows(values):
    values = np.ascontiguousarray(values, dtype=np.float64)
    return values.reshape(values.size // max(values.shape[-1], 1), values.shape[-1])


cdef class MemoryRounds:
    """State of a running LongTermMemory, with compiled rounds."""

    def __cinit__(self, dict state, rates, tracker_rates, switching, double memory, sharpening_prior,
                  double potential_floor, double tracker_sharing, double belief_floor, double weight_floor,
                  double sharpened_from, avx2=None):
        cdef ltm_memory *m = &self.m
        cdef Py_ssize_t n, b, g, j
        if len(switching) != CELLS:
            raise ValueError(f"the kernel is compiled for bundles of {CELLS} cells")
        self.rest = {"horizon": state["horizon"]}
        self.avx2 = HAS_AVX2 if avx2 is None else avx2
        m.n_experts = state["prior"].shape[0]
        m.stride = n = (m.n_experts + 3) // 4 * 4
        m.n_rates = j = len(rates)
        m.n_bundles = b = len(tracker_rates)
        m.n_trackers = g = 2 * b
        m.rounds = state["rounds"]
        m.horizon = state["horizon"] or 0
        m.first_rate = tracker_rates[0] if b else 0.0
        m.memory = memory
        m.potential_floor, m.tracker_sharing, m.belief_floor = potential_floor, tracker_sharing, belief_floor
        m.weight_floor, m.sharpened_from = weight_floor, sharpened_from
        m.trackers_prior = state["tracker_prior"].sum()

        # All arrays are parts of one block of memory.
        self.left = 8 * n + 2 * j * n + (b + 1) * n + (CELLS + 4) * b * n + 2 * j * g + 2 * g + 2 * CELLS * b + 2 * b
        self.left += j + CELLS
        self.block = self.next = <double *> calloc(self.left, sizeof(double))
        if self.block == NULL:
            raise MemoryError()
        m.rates = self.part(as_rows(rates), j, 1)
        m.switching = self.part(as_rows(switching), CELLS, 1)
        m.doublings = self.part(as_rows(np.diff(np.log2(tracker_rates)).round()) if b > 1 else None, b, 1)
        start = sharpening_prior(state["prior"])
        m.start = self.part(as_rows(state["prior"] / state["prior"].sum()), n, 1)
        m.sharp_start = self.part(as_rows(start), n, 1)
        m.inverse_start = self.part(as_rows(1.0 / start), n, 1)
        m.prior = self.part(as_rows(state["prior"]), n, 1)
        m.potential = self.part(as_rows(state["potential"]), n, j)
        m.confidence = self.part(as_rows(state["confidence"]), n, j)
        m.tracker_prior = self.part(as_rows(state["tracker_prior"]) if b else None, g, j)
        m.tracker_potential = self.part(as_rows(state["tracker_potential"]) if b else None, g, j)
        m.belief = self.part(as_rows(state["belief"]), CELLS, b)
        m.tracked = self.part(as_rows(state["tracked"]), n, CELLS * b)
        m.remembered = self.part(as_rows(state["remembered"]), n, 2 * b)
        m.tracker_weights = self.part(as_rows(state["mixture"]), n, b)
        self.part(as_rows(state["sharpened"]), n, b)  # the second half of the trackers' weights
        m.scale = self.part(as_rows(state["sharpened_scale"]) if b else None, b, 1)
        m.played = self.part(as_rows(state["weights"]), n, 1)
        m.losses = self.part(None, n, 1)
        m.regret = self.part(None, n, 1)
        m.share = self.part(None, n, 1)
        m.likelihood = self.part(None, n, b + 1)
        m.evidence = self.part(None, CELLS, b)
        m.tracker_share = self.part(None, g, 1)
        m.tracker_regret = self.part(None, g, 1)
        if self.left != 0:
            raise AssertionError("the block is not what its parts need")

    cdef double *part(self, rows, Py_ssize_t stride, Py_ssize_t n_rows) except? NULL:
        """Return the next ``n_rows`` rows of the block, filled with the given values."""
        cdef double *at = self.next
        self.left -= stride * n_rows
        if self.left < 0:
            raise AssertionError("the block is not what its parts need")
        self.next += stride * n_rows
        if rows is not None and rows.size:
            load(at, rows, stride)
        return at

    def __dealloc__(self):
        free(self.block)

    @property
    def rounds(self):
        return int(self.m.rounds)

    def state(self):
        """Return the state as the dictionary of arrays that the NumPy code uses."""
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
        """Return the weights of the coming round."""
        cdef Py_ssize_t i
        played = np.empty(self.m.n_experts)
        cdef double[::1] row = played
        for i in range(self.m.n_experts):
            row[i] = self.m.played[i]
        return played

    def run(self, const double[:, ::1] losses, const double[:, ::1] awake=None):
        """Learn validated rounds; return the weights of each round as if all experts were awake."""
        cdef Py_ssize_t n_rounds = losses.shape[0]
        played = np.empty((n_rounds, self.m.n_experts))
        cdef double[:, ::1] out = played
        if n_rounds:
            with nogil:
                ltm_run(&self.m, &losses[0, 0], NULL if awake is None else &awake[0, 0], &out[0, 0], n_rounds,
                        self.avx2)
        return played

    def update(self, losses):
        """Learn one round if all experts are awake and all losses lie in [0, 1]; otherwise return False."""
        cdef const double[::1] row
        cdef Py_ssize_t i
        if type(losses) is not np.ndarray or losses.ndim != 1 or losses.dtype != np.float64:
            return False
        if not losses.flags.c_contiguous:
            return False
        row = losses
        if row.shape[0] != self.m.n_experts:
            return False
        for i in range(row.shape[0]):
            if not (row[i] >= 0.0 and row[i] <= 1.0):
                return False
        self.learn(&row[0], NULL)
        return True

    cdef void learn(self, const double *losses, const double *awake) noexcept nogil:
        """Learn one round with losses in [0, 1]; ``awake`` is NULL if all experts are awake."""
        ltm_run(&self.m, losses, awake, NULL, 1, self.avx2)

    cdef void learn_late(self, const double *played, const double *trackers, const double *losses,
                         const double *awake) noexcept nogil:
        """Learn a delayed round; the weights are those of models and trackers at prediction time."""
        ltm_late(&self.m, played, trackers, losses, awake)

    cdef void view(self, double *trackers) noexcept nogil:
        """Write the weights of the trackers to an array of shape (n_trackers, n_experts)."""
        cdef Py_ssize_t g, i, b = self.m.n_bundles, k = self.m.n_experts
        cdef double scale
        for g in range(self.m.n_trackers):
            scale = 1.0 if g < b else self.m.scale[g - b]
            for i in range(k):
                trackers[g * k + i] = scale * self.m.tracker_weights[g * self.m.stride + i]


def share_rounds(const double[:, ::1] losses, const double[:, ::1] awake, weights, memory, double rate,
                 const double[::1] switching, const double[::1] memory_rates, double weight_floor, avx2=None):
    """Run rounds of Share-θ; return weights as if all were awake, final weights, memory and number of rounds learned."""
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
    """Return whether this processor runs the AVX2 version of the loops."""
    return bool(HAS_AVX2)
