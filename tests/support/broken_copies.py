"""Broken copies of code, with which tests show that they would fail."""

import inspect
import types


def broken_copy(module, line, instead):
    """Return a module made of another one's source with a text replaced, which must occur exactly once."""
    source = inspect.getsource(module)
    assert source.count(line) == 1, f"{line!r} occurs {source.count(line)} times in {module.__name__}"
    copy = types.ModuleType(module.__name__)
    exec(source.replace(line, instead), copy.__dict__)
    return copy
