"""Files of real data: gzipped CSV, with rows in the order of time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class File:
    """The target and the segments of a file."""

    target: str
    starts: list[int] = field(default_factory=list)  #: of segments, in which two concepts take turns, where known
    batch_size: int = 10  #: of ours


LABELLED = {
    "usenet1": File("interesting", [0, 300, 600, 900, 1200]),
    "elist_email": File("class", [0, 300, 600, 900, 1200]),
    "arabic_digits_recurring": File("digit", [0, 2200, 4400, 6600]),
    "insects_laser_abrupt": File("class", [0, 1775, 3550]),
    "elec2": File("class", batch_size=1),
    "noaa_weather": File("rain"),
    "bike_demand_class": File("demand", batch_size=1),
}

#: Forecasts of prices, by market; of the load; and a demand to be forecast.
PRICES = {"NP": "experts_epf_NP", "PJM": "experts_epf_PJM"}
LOAD = "opera_regional_experts"
DEMAND = "ts_vic_electricity"


def path_of(folder: Path, name: str) -> Path:
    """Return the path of a file by name."""
    return folder / f"{name}.csv.gz"
