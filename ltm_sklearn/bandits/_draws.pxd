# cython: language_level=3
"""How the compiled rounds draw an arm."""


cdef inline Py_ssize_t draw_from(const double* levels, Py_ssize_t n_arms, double uniform) noexcept nogil:
    """As in `_base`: how many of the sums are not above the uniform part of the last."""
    cdef double target = uniform * levels[n_arms - 1]
    cdef Py_ssize_t low = 0, high = n_arms, middle
    while low < high:
        middle = (low + high) // 2
        if levels[middle] <= target:
            low = middle + 1
        else:
            high = middle
    return low if low < n_arms else n_arms - 1


cdef inline double total(const double* values, Py_ssize_t n) noexcept nogil:
    """The sum, in four parts that a processor adds side by side."""
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    cdef Py_ssize_t k = 0
    while k + 3 < n:
        a += values[k]
        b += values[k + 1]
        c += values[k + 2]
        d += values[k + 3]
        k += 4
    while k < n:
        a += values[k]
        k += 1
    return (a + b) + (c + d)
