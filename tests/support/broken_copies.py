"""Copies of a module with one line changed, to show that a comparison notices the change."""

import inspect
import types


def broken_copy(module, line, instead):
    """Execute the module's source with one piece of text replaced; the text must occur exactly once."""
    source = inspect.getsource(module)
    assert source.count(line) == 1, f"{line!r} occurs {source.count(line)} times in {module.__name__}"
    copy = types.ModuleType(module.__name__)
    exec(source.replace(line, instead), copy.__dict__)
    return copy
