"""Panels of series and pools of experts on clusters: Dask, Ray and Spark through Fugue, and Dask."""

from ._dask_workers import DaskWorkers
from ._panel_mixture import PanelMixture
from ._remote_estimator import OnWorker

__all__ = ["DaskWorkers", "OnWorker", "PanelMixture"]
