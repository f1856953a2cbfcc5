# Class probabilities, compiled: what `ClassificationScore` and its losses define.


cdef inline Py_ssize_t likeliest(const double *chances, Py_ssize_t n_classes, Py_ssize_t but) noexcept nogil:
    """The class with the largest probability; the largest of the others if there is a ``but`` that is not -1."""
    cdef Py_ssize_t c, best = 1 if but == 0 else 0
    for c in range(best + 1, n_classes):
        if chances[c] > chances[best] and c != but:
            best = c
    return best


cdef inline double mistake(const double *chances, Py_ssize_t n_classes, Py_ssize_t truth) noexcept nogil:
    """1 where the likeliest class is not the true one, or none has any chance."""
    cdef Py_ssize_t c
    cdef double total = 0.0
    for c in range(n_classes):
        total += chances[c]
    return 0.0 if total > 0.0 and likeliest(chances, n_classes, -1) == truth else 1.0


cdef inline double brier(const double *chances, Py_ssize_t n_classes, Py_ssize_t truth) noexcept nogil:
    """Half the squared distance from the truth."""
    cdef Py_ssize_t c
    cdef double squares = 0.0
    for c in range(n_classes):
        squares += chances[c] * chances[c]
    return max((squares + 1.0) / 2.0 - chances[truth], 0.0)


cdef inline double blend_loss(const double *chances, Py_ssize_t n_classes, Py_ssize_t truth) noexcept nogil:
    """Mistakes and the Brier score, half each."""
    return (mistake(chances, n_classes, truth) + brier(chances, n_classes, truth)) / 2.0


cdef inline Py_ssize_t rival(const double *mixture, Py_ssize_t n_classes, Py_ssize_t truth,
                             double safe_margin) noexcept nogil:
    """The strongest other class; -1 if there is none, or the true one is safely ahead of it."""
    cdef Py_ssize_t strongest
    if n_classes < 2:
        return -1
    strongest = likeliest(mixture, n_classes, truth)
    return strongest if mixture[truth] - mixture[strongest] < safe_margin else -1
