# Softmax regression of the stack, compiled. `Stack` has the definition.

from libc.math cimport exp, log, sqrt


cdef inline void stack_inputs(const double *predictions, Py_ssize_t step, Py_ssize_t n_experts, Py_ssize_t n_classes,
                              double least, double *inputs) noexcept nogil:
    """Centred log-probabilities of the experts, whose predictions begin `step` numbers apart."""
    cdef Py_ssize_t i, c, n_awake = 0
    cdef double mean, total
    for i in range(n_experts):
        mean = total = 0.0
        for c in range(n_classes):
            total += predictions[i * step + c]
            inputs[i * n_classes + c] = log(max(predictions[i * step + c], least))
            mean += inputs[i * n_classes + c] / n_classes
        for c in range(n_classes):
            inputs[i * n_classes + c] -= mean
        n_awake += total > 0.0
    if 0 < n_awake < n_experts:
        for i in range(n_experts * n_classes):
            inputs[i] *= <double> n_experts / n_awake


cdef inline void stack_probabilities(const double *inputs, Py_ssize_t n_inputs, Py_ssize_t n_classes, const double *coefficients,
                               double *probabilities) noexcept nogil:
    """The softmax of the inputs times the coefficients."""
    cdef Py_ssize_t j, d
    cdef double most, total = 0.0
    for d in range(n_classes):
        probabilities[d] = 0.0
    for j in range(n_inputs):
        for d in range(n_classes):
            probabilities[d] += inputs[j] * coefficients[j * n_classes + d]
    most = probabilities[0]
    for d in range(1, n_classes):
        most = max(most, probabilities[d])
    for d in range(n_classes):
        probabilities[d] = exp(probabilities[d] - most)
        total += probabilities[d]
    for d in range(n_classes):
        probabilities[d] /= total


cdef inline void stack_step(const double *inputs, Py_ssize_t n_inputs, Py_ssize_t n_classes, const double *probabilities,
                            Py_ssize_t target, double weight, double rate, double *coefficients,
                            double *squares) noexcept nogil:
    """Learn one row: a step against the gradient of the log loss, with a learning rate for each coefficient."""
    cdef Py_ssize_t j, d
    cdef double gradient
    for j in range(n_inputs):
        for d in range(n_classes):
            gradient = weight * inputs[j] * (probabilities[d] - (1.0 if d == target else 0.0))
            squares[j * n_classes + d] += gradient * gradient
            coefficients[j * n_classes + d] -= rate * gradient / sqrt(squares[j * n_classes + d])
