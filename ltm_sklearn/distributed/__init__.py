"""More than one machine: more series than one process holds, and experts that live on Dask's workers."""

from ._dask_workers import DaskWorkers
from ._on_worker import OnWorker
from ._panel_mixture import PanelMixture

__all__ = ["DaskWorkers", "OnWorker", "PanelMixture"]
