# Losses of class probabilities, compiled. `ClassificationScore` and its losses have the definitions.


cdef inline Py_ssize_t likeliest(const double *probabilities, Py_ssize_t n_classes, Py_ssize_t but) noexcept nogil:
    """The class with the largest probability; the largest of the others if there is a ``but`` that is not -1."""
    cdef Py_ssize_t c, best = 1 if but == 0 else 0
    for c in range(best + 1, n_classes):
        if probabilities[c] > probabilities[best] and c != but:
            best = c
    return best


cdef inline double mistake(const double *probabilities, Py_ssize_t n_classes, Py_ssize_t target) noexcept nogil:
    """1 where the likeliest class is not the true one, or all probabilities are 0."""
    cdef Py_ssize_t c
    cdef double total = 0.0
    for c in range(n_classes):
        total += probabilities[c]
    return 0.0 if total > 0.0 and likeliest(probabilities, n_classes, -1) == target else 1.0


cdef inline double brier(const double *probabilities, Py_ssize_t n_classes, Py_ssize_t target) noexcept nogil:
    """Half the squared distance from the true class."""
    cdef Py_ssize_t c
    cdef double squares = 0.0
    for c in range(n_classes):
        squares += probabilities[c] * probabilities[c]
    return max((squares + 1.0) / 2.0 - probabilities[target], 0.0)


cdef inline double blend_loss(const double *probabilities, Py_ssize_t n_classes, Py_ssize_t target) noexcept nogil:
    """Mean of the mistake and the Brier score."""
    return (mistake(probabilities, n_classes, target) + brier(probabilities, n_classes, target)) / 2.0


cdef inline Py_ssize_t rival(const double *mixture, Py_ssize_t n_classes, Py_ssize_t target,
                             double safe_margin) noexcept nogil:
    """The strongest other class; -1 if there is none, or the true class is safely ahead of it."""
    cdef Py_ssize_t strongest
    if n_classes < 2:
        return -1
    strongest = likeliest(mixture, n_classes, target)
    return strongest if mixture[target] - mixture[strongest] < safe_margin else -1
