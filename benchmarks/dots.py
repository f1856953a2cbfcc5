"""Picture of each algorithm's regret divided by that of the best rival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure


def dots(ratios: Mapping[str, Sequence[float]], styles: Mapping[str, dict[str, Any]], cases: Sequence[str]) -> Figure:
    """Draw the ratios of each label, one for each case, on a logarithmic axis."""
    figure = Figure(figsize=(9, 2 + 0.3 * len(cases)), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(cases))[::-1]
    for label, values in ratios.items():
        axes.scatter(values, places, label=label, **styles[label])
    axes.axvline(1, color="0.7", lw=1, zorder=0)
    axes.set(xscale="log", xlabel="regret / regret of the best hindsight-tuned rival")
    axes.set_yticks(places, cases)
    axes.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    return figure
