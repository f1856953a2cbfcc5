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


def subclass(base, **methods):
    """Return a subclass with some methods replaced."""
    return type(f"Broken{base.__name__}", (base,), methods)


def wrong_sign(base):
    """Return a subclass of an algorithm that takes losses for gains."""
    return subclass(base, _next_state=lambda self, s, w, losses: base._next_state(self, s, w, -losses))
