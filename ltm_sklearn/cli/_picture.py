"""A picture of a report."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .._optional import import_extra

DPI = 150  #: sharp on screens with two dots a pixel, and in print


class Picture(NamedTuple):
    """One of them."""

    name: str  #: of its file, without .png
    title: str
    caption: str  #: how to read it
    alt: str  #: what it says, for those who do not see it
    png: bytes
    width: int  #: in dots
    height: int


@contextmanager
def plain_style() -> Iterator[None]:
    """Whatever style the user's matplotlib has; letters that the font lacks are boxes."""
    style = import_extra("matplotlib.style", "pictures", "plot")
    with style.context("default"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def drawn(
    name: str, plot: Callable[[Any], Any], size: tuple[float, float], words: tuple[str, str], alt: str
) -> Picture:
    """What ``plot`` draws on axes of a figure of this size in inches; ``words`` are title and caption."""
    # not through pyplot, which would keep the figure
    figure = import_extra("matplotlib.figure", "pictures", "plot").Figure(figsize=size, layout="constrained")
    plot(figure.subplots())
    held = io.BytesIO()
    figure.savefig(held, format="png", dpi=DPI)
    return Picture(name, *words, alt, held.getvalue(), round(size[0] * DPI), round(size[1] * DPI))
