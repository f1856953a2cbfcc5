# cython: language_level=3, boundscheck=False, wraparound=False
"""Losses of class probabilities and of their mixtures, and the stack, compiled.

`ClassificationScore`, `RoundLosses` and `Stack` have the definitions.
"""

from ._classes cimport blend_loss, mistake, rival
from ._softmax cimport stack_probabilities, stack_inputs, stack_step

import numpy as np


def mistakes(const double[:, :, ::1] predictions, const Py_ssize_t[::1] targets):
    """Mistakes (n_experts, n_rows) of probabilities (n_experts, n_rows, n_classes)."""
    cdef Py_ssize_t n_experts = predictions.shape[0], n_rows = predictions.shape[1], n_classes = predictions.shape[2]
    cdef Py_ssize_t e, n
    wrong_array = np.empty((n_experts, n_rows))
    cdef double[:, ::1] wrong = wrong_array
    with nogil:
        for e in range(n_experts):
            for n in range(n_rows):
                wrong[e, n] = mistake(&predictions[e, n, 0], n_classes, targets[n])
    return wrong_array


def blend(const double[:, :, ::1] predictions, const Py_ssize_t[::1] targets, const double[:, ::1] member_weights,
          double safe_margin):
    """Linear losses (n_experts, n_rows) around the second member's mixtures, and losses (2, n_rows) of both members.

    Experts must be awake in all rows, or asleep in all with a weight of 0: the losses of sleeping experts mean nothing.
    """
    cdef Py_ssize_t n_experts = predictions.shape[0], n_rows = predictions.shape[1], n_classes = predictions.shape[2]
    cdef Py_ssize_t e, n, c, m, y, other
    linear_array, losses_array = np.zeros((n_experts, n_rows)), np.empty((2, n_rows))
    cdef double[:, ::1] linear = linear_array, losses = losses_array
    cdef double[::1] mixture = np.empty(n_classes)
    with nogil:
        for n in range(n_rows):
            y = targets[n]
            for m in range(2):
                for c in range(n_classes):
                    mixture[c] = 0.0
                for e in range(n_experts):
                    for c in range(n_classes):
                        mixture[c] += member_weights[m, e] * predictions[e, n, c]
                losses[m, n] = blend_loss(&mixture[0], n_classes, y)
            other = rival(&mixture[0], n_classes, y, safe_margin)
            if other >= 0:
                for e in range(n_experts):
                    linear[e, n] = (1.0 + predictions[e, n, other] - predictions[e, n, y]) / 2.0
    return linear_array, losses_array


def stack(const double[:, :, ::1] predictions, const double[:, ::1] coefficients, double least,
          const Py_ssize_t[::1] targets=None, const double[::1] row_weights=None, double[:, ::1] trained=None,
          double[:, ::1] squares=None, double rate=0.0):
    """Probabilities (n_rows, n_classes) of the stack from those of the experts, (n_experts, n_rows, n_classes).

    With targets, each row is learned before the next one is predicted. ``trained`` are the coefficients once more:
    those that are only read may be read-only.
    """
    cdef Py_ssize_t n_experts = predictions.shape[0], n_rows = predictions.shape[1], n_classes = predictions.shape[2]
    cdef Py_ssize_t n_inputs = n_experts * n_classes, n
    cdef bint learns = targets is not None
    probabilities_array = np.empty((n_rows, n_classes))
    cdef double[:, ::1] probabilities = probabilities_array
    cdef double[::1] inputs = np.empty(n_inputs)
    with nogil:
        for n in range(n_rows):
            stack_inputs(&predictions[0, n, 0], n_rows * n_classes, n_experts, n_classes, least, &inputs[0])
            stack_probabilities(&inputs[0], n_inputs, n_classes, &coefficients[0, 0], &probabilities[n, 0])
            if learns:
                stack_step(&inputs[0], n_inputs, n_classes, &probabilities[n, 0], targets[n], row_weights[n], rate,
                           &trained[0, 0], &squares[0, 0])
    return probabilities_array
