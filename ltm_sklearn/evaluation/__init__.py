"""Models side by side on a stream: test, then train; scores, what changes cost, regret, and a picture."""

from ._display import PrequentialDisplay
from ._prequential import prequential
from ._result import PrequentialResult

__all__ = ["PrequentialDisplay", "PrequentialResult", "prequential"]
