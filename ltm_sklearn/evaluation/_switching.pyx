# cython: language_level=3, boundscheck=False, wraparound=False
"""Compiled kernel for the best sequences of experts; `_sequences` defines the results.

The cells of one expert are contiguous over the number of switches, so that the inner loops vectorise.
"""

from libc.math cimport INFINITY

import numpy as np


cdef inline void begin_row(double* lowest, double* enter, Py_ssize_t n_levels) noexcept nogil:
    """Set the loss at which each level is entered, that of the best sequence of the level below."""
    cdef Py_ssize_t s
    enter[0] = INFINITY
    for s in range(n_levels - 1):
        enter[s + 1] = lowest[s]
    for s in range(n_levels):
        lowest[s] = INFINITY


cdef inline void add_loss(double* least, const double* enter, double* lowest, double loss,
                        Py_ssize_t n_levels) noexcept nogil:
    """Add the loss of one expert in one row."""
    cdef Py_ssize_t s
    cdef double total
    for s in range(n_levels):
        total = (least[s] if least[s] < enter[s] else enter[s]) + loss
        least[s] = total
        lowest[s] = total if total < lowest[s] else lowest[s]


cdef void find_lowest(const double[:, ::1] least, double* lowest) noexcept nogil:
    cdef Py_ssize_t k, s
    for s in range(least.shape[1]):
        lowest[s] = INFINITY
    for k in range(least.shape[0]):
        for s in range(least.shape[1]):
            if least[k, s] < lowest[s]:
                lowest[s] = least[k, s]


def advance(const double[:, ::1] losses, double[:, ::1] least):
    """Add rows (n_rows, n_experts) to the cells ``least`` (n_experts, max_switches + 1), in place."""
    cdef Py_ssize_t n_rows = losses.shape[0], n_experts = least.shape[0], n_levels = least.shape[1], t, k
    cdef double[::1] lowest = np.empty(n_levels), enter = np.empty(n_levels)
    with nogil:
        find_lowest(least, &lowest[0])
        for t in range(n_rows):
            begin_row(&lowest[0], &enter[0], n_levels)
            for k in range(n_experts):
                add_loss(&least[k, 0], &enter[0], &lowest[0], losses[t, k], n_levels)


def trace_paths(const double[:, ::1] losses, double[:, ::1] least, int[:, ::1] lead, int[:, ::1] since):
    """Add all rows; record the best expert of each level after each row, and the row since which it is followed."""
    cdef Py_ssize_t n_rows = losses.shape[0], n_experts = least.shape[0], n_levels = least.shape[1], t, k, s
    cdef double[::1] lowest = np.empty(n_levels), enter = np.empty(n_levels)
    cdef int[:, ::1] start = np.zeros((n_experts, n_levels), dtype=np.intc)
    cdef double total, loss
    with nogil:
        find_lowest(least, &lowest[0])
        for t in range(n_rows):
            begin_row(&lowest[0], &enter[0], n_levels)
            for k in range(n_experts):
                loss = losses[t, k]
                for s in range(n_levels):
                    total = least[k, s]
                    if enter[s] < total:
                        total = enter[s]
                        start[k, s] = <int>t
                    total += loss
                    least[k, s] = total
                    if total < lowest[s]:
                        lowest[s] = total
                        lead[t, s] = <int>k
            for s in range(n_levels):
                since[t, s] = start[lead[t, s], s]


def among(const double[:, ::1] columns, const Py_ssize_t[:, ::1] groups, Py_ssize_t max_switches):
    """Return the least losses (n_groups, max_switches + 1) within each group; ``columns`` is (n_experts, n_rows)."""
    cdef Py_ssize_t n_rows = columns.shape[1], n_groups = groups.shape[0], size = groups.shape[1], g, t, k, s
    cdef Py_ssize_t n_levels = max_switches + 1
    totals_array = np.zeros((n_groups, n_levels))
    cdef double[:, ::1] totals = totals_array
    cdef double[:, ::1] least = np.empty((size, n_levels))
    cdef double[::1] enter = np.empty(n_levels)
    with nogil:
        for g in range(n_groups):
            for k in range(size):
                for s in range(n_levels):
                    least[k, s] = 0.0
            for t in range(n_rows):
                begin_row(&totals[g, 0], &enter[0], n_levels)
                for k in range(size):
                    add_loss(&least[k, 0], &enter[0], &totals[g, 0], columns[groups[g, k], t], n_levels)
    return totals_array
