# cython: language_level=3
"""BanditWeighting of an arm in the compiled rounds."""


cdef inline Py_ssize_t draw_from(const double* levels, Py_ssize_t n_arms, double uniform) noexcept nogil:
    """Return the arm at which the cumulative chances exceed a uniform number; see `draw_from` in `_base`."""
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
    """Return the sum, computed in four independent parts for speed."""
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
