# The stack's softmax regression, compiled: what `Stack` defines.

from libc.math cimport exp, log, sqrt


cdef inline void stack_inputs(const double *said, Py_ssize_t step, Py_ssize_t n_experts, Py_ssize_t n_classes,
                              double least, double *inputs) noexcept nogil:
    """Centred log-probabilities; those of an expert begin a step behind those of the one before it."""
    cdef Py_ssize_t i, c, n_heard = 0
    cdef double mean, total
    for i in range(n_experts):
        mean = total = 0.0
        for c in range(n_classes):
            total += said[i * step + c]
            inputs[i * n_classes + c] = log(max(said[i * step + c], least))
            mean += inputs[i * n_classes + c] / n_classes
        for c in range(n_classes):
            inputs[i * n_classes + c] -= mean
        n_heard += total > 0.0
    if 0 < n_heard < n_experts:
        for i in range(n_experts * n_classes):
            inputs[i] *= <double> n_experts / n_heard


cdef inline void stack_chances(const double *inputs, Py_ssize_t n_inputs, Py_ssize_t n_classes, const double *cells,
                               double *chances) noexcept nogil:
    """The softmax of the inputs times the cells."""
    cdef Py_ssize_t j, d
    cdef double most, total = 0.0
    for d in range(n_classes):
        chances[d] = 0.0
    for j in range(n_inputs):
        for d in range(n_classes):
            chances[d] += inputs[j] * cells[j * n_classes + d]
    most = chances[0]
    for d in range(1, n_classes):
        most = max(most, chances[d])
    for d in range(n_classes):
        chances[d] = exp(chances[d] - most)
        total += chances[d]
    for d in range(n_classes):
        chances[d] /= total


cdef inline void stack_step(const double *inputs, Py_ssize_t n_inputs, Py_ssize_t n_classes, const double *chances,
                            Py_ssize_t truth, double weight, double rate, double *cells,
                            double *squares) noexcept nogil:
    """A step down the log loss, of each cell by its own rate."""
    cdef Py_ssize_t j, d
    cdef double slope
    for j in range(n_inputs):
        for d in range(n_classes):
            slope = weight * inputs[j] * (chances[d] - (1.0 if d == truth else 0.0))
            squares[j * n_classes + d] += slope * slope
            cells[j * n_classes + d] -= rate * slope / sqrt(squares[j * n_classes + d])
