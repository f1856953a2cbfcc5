"""What applies to all tests."""

# With an editable install, the import compiles edited kernels: once, before pytest-xdist starts its workers.
import ltm_sklearn  # noqa: F401
