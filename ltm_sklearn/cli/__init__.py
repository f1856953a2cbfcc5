"""Command line: demo, evaluate, mixture, watch."""

from ._main import main

__all__ = ["main"]
