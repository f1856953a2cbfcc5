# cython: language_level=3, boundscheck=False, wraparound=False
"""What the blender is charged, compiled. `ClassScore` has the definition."""

import numpy as np


def blend(const double[:, :, ::1] said, const Py_ssize_t[::1] truth, const double[:, ::1] parts, double safe_margin):
    """Mistakes and, around the second part's mixtures, charges (n_experts, n_rows); losses (2, n_rows) of both parts.

    Experts are awake in all rows, or asleep in all with a weight of 0: then what is said of them means nothing.
    """
    cdef Py_ssize_t n_experts = said.shape[0], n_rows = said.shape[1], n_classes = said.shape[2]
    cdef Py_ssize_t e, n, c, p, y, best, rival
    cdef double squares, total
    wrong_array, charged_array, lost_array = (np.zeros((k, n_rows)) for k in (n_experts, n_experts, 2))
    cdef double[:, ::1] wrong = wrong_array, charged = charged_array, lost = lost_array
    cdef double[::1] mixture = np.empty(n_classes)
    with nogil:
        for n in range(n_rows):
            y = truth[n]
            for p in range(2):
                for c in range(n_classes):
                    mixture[c] = 0.0
                for e in range(n_experts):
                    for c in range(n_classes):
                        mixture[c] += parts[p, e] * said[e, n, c]
                best, rival, squares, total = 0, 1 if y == 0 else 0, 0.0, 0.0
                for c in range(n_classes):
                    squares += mixture[c] * mixture[c]
                    total += mixture[c]
                    if mixture[c] > mixture[best]:
                        best = c
                    if c != y and mixture[c] > mixture[rival]:
                        rival = c
                lost[p, n] = ((0.0 if best == y and total > 0.0 else 1.0) + (squares + 1.0) / 2.0 - mixture[y]) / 2.0
            for e in range(n_experts):
                best, total = 0, 0.0
                for c in range(n_classes):
                    total += said[e, n, c]
                    if said[e, n, c] > said[e, n, best]:
                        best = c
                wrong[e, n] = 0.0 if best == y and total > 0.0 else 1.0
            if n_classes > 1 and mixture[y] - mixture[rival] < safe_margin:
                for e in range(n_experts):
                    charged[e, n] = (1.0 + said[e, n, rival] - said[e, n, y]) / 2.0
    return wrong_array, charged_array, lost_array
