# cython: language_level=3, boundscheck=False, wraparound=False
"""Best sequences of experts, compiled. `_sequences` has the definitions.

Cells of one expert lie side by side over the number of switches, so that all loops inside a row vectorise.
"""

from libc.math cimport INFINITY

import numpy as np


cdef inline void begin_row(double* lowest, double* enter, Py_ssize_t n_levels) noexcept nogil:
    """The best of each level can be left for any expert on the level above."""
    cdef Py_ssize_t s
    enter[0] = INFINITY
    for s in range(n_levels - 1):
        enter[s + 1] = lowest[s]
    for s in range(n_levels):
        lowest[s] = INFINITY


cdef inline void charge(double* least, const double* enter, double* lowest, double loss,
                        Py_ssize_t n_levels) noexcept nogil:
    """One expert in one row."""
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
    """Take in rows (n_rows, n_experts); ``least`` (n_experts, max_switches + 1) is changed in place."""
    cdef Py_ssize_t n_rows = losses.shape[0], n_experts = least.shape[0], n_levels = least.shape[1], t, k
    cdef double[::1] lowest = np.empty(n_levels), enter = np.empty(n_levels)
    with nogil:
        find_lowest(least, &lowest[0])
        for t in range(n_rows):
            begin_row(&lowest[0], &enter[0], n_levels)
            for k in range(n_experts):
                charge(&least[k, 0], &enter[0], &lowest[0], losses[t, k], n_levels)


def run_record(const double[:, ::1] losses, double[:, ::1] least, int[:, ::1] lead, int[:, ::1] since):
    """The same from the first row on; also who is best on each level after each row, and since when it is followed."""
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
    """Least losses (n_groups, max_switches + 1) of sequences within each group; ``columns`` (n_experts, n_rows)."""
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
                    charge(&least[k, 0], &enter[0], &totals[g, 0], columns[groups[g, k], t], n_levels)
    return totals_array
