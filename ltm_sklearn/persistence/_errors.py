"""What is wrong with a file."""

from __future__ import annotations


class BadFile(ValueError):
    """A file that is not loaded: it is damaged, of another kind, newer, or not trusted."""


class Damaged(BadFile):
    """A file that is not as it was written."""
