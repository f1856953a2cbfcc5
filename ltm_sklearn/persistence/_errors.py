"""What is wrong with a file."""

from __future__ import annotations


def in_words(error: Exception) -> str:
    """An error's kind, and what it says if that is text: any other object of a file would run if it were shown."""
    is_text = all(type(part) in (str, int, bytes, type(None)) for part in error.args)
    return f"{type(error).__name__}: {error}" if is_text else type(error).__name__


class BadFile(ValueError):
    """A file that is not loaded: it is damaged, of another kind, newer, or not trusted."""


class Damaged(BadFile):
    """A file that is not as it was written."""
