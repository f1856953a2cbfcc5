# cython: language_level=3
"""Declarations of the kernel for other compiled modules."""


cdef extern from "_rounds.h" nogil:
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
        double *sharp_start
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


cdef class MemoryRounds:
    cdef ltm_memory m
    cdef double *block
    cdef double *next
    cdef Py_ssize_t left
    cdef dict rest
    cdef bint avx2

    cdef double *part(self, rows, Py_ssize_t stride, Py_ssize_t n_rows) except? NULL
    cdef void learn(self, const double *losses, const double *awake) noexcept nogil
    cdef void learn_late(self, const double *played, const double *trackers, const double *losses,
                         const double *awake) noexcept nogil
    cdef void view(self, double *trackers) noexcept nogil
