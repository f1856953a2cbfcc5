# cython: language_level=3, boundscheck=False, wraparound=False
"""What experts and mixtures of them are charged for class probabilities, and the stack, compiled.

`ClassificationScore` and `Stack` have the definitions.
"""

from ._classes cimport blend_loss, mistake, rival
from ._softmax cimport stack_chances, stack_inputs, stack_step

import numpy as np


def mistakes(const double[:, :, ::1] said, const Py_ssize_t[::1] truth):
    """Mistakes (n_experts, n_rows) of probabilities (n_experts, n_rows, n_classes)."""
    cdef Py_ssize_t n_experts = said.shape[0], n_rows = said.shape[1], n_classes = said.shape[2], e, n
    wrong_array = np.empty((n_experts, n_rows))
    cdef double[:, ::1] wrong = wrong_array
    with nogil:
        for e in range(n_experts):
            for n in range(n_rows):
                wrong[e, n] = mistake(&said[e, n, 0], n_classes, truth[n])
    return wrong_array


def blend(const double[:, :, ::1] said, const Py_ssize_t[::1] truth, const double[:, ::1] parts, double safe_margin):
    """Around the second part's mixtures, charges (n_experts, n_rows); losses (2, n_rows) of both parts.

    Experts are awake in all rows, or asleep in all with a weight of 0: then what is said of them means nothing.
    """
    cdef Py_ssize_t n_experts = said.shape[0], n_rows = said.shape[1], n_classes = said.shape[2]
    cdef Py_ssize_t e, n, c, p, y, other
    charged_array, lost_array = np.zeros((n_experts, n_rows)), np.empty((2, n_rows))
    cdef double[:, ::1] charged = charged_array, lost = lost_array
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
                lost[p, n] = blend_loss(&mixture[0], n_classes, y)
            other = rival(&mixture[0], n_classes, y, safe_margin)
            if other >= 0:
                for e in range(n_experts):
                    charged[e, n] = (1.0 + said[e, n, other] - said[e, n, y]) / 2.0
    return charged_array, lost_array


def stack(const double[:, :, ::1] said, const double[:, ::1] cells, double least, const Py_ssize_t[::1] truth=None,
          const double[::1] row_weights=None, double[:, ::1] trained=None, double[:, ::1] squares=None,
          double rate=0.0):
    """Probabilities (n_rows, n_classes) from those of the experts, (n_experts, n_rows, n_classes).

    Where the truth is told, each row is learned before the next one is taken; ``trained`` are the cells once more, as
    those that are only read may be read-only.
    """
    cdef Py_ssize_t n_experts = said.shape[0], n_rows = said.shape[1], n_classes = said.shape[2], n
    cdef Py_ssize_t n_inputs = n_experts * n_classes
    cdef bint learns = truth is not None
    chances_array = np.empty((n_rows, n_classes))
    cdef double[:, ::1] chances = chances_array
    cdef double[::1] inputs = np.empty(n_inputs)
    with nogil:
        for n in range(n_rows):
            stack_inputs(&said[0, n, 0], n_rows * n_classes, n_experts, n_classes, least, &inputs[0])
            stack_chances(&inputs[0], n_inputs, n_classes, &cells[0, 0], &chances[n, 0])
            if learns:
                stack_step(&inputs[0], n_inputs, n_classes, &chances[n, 0], truth[n], row_weights[n], rate,
                           &trained[0, 0], &squares[0, 0])
    return chances_array
