"""Estimators, mixtures, algorithms and bandits in files, to go on from exactly; and checkpoints of runs."""

from ._checkpoint import Checkpoint, CheckpointWarning
from ._file import load, save

__all__ = ["Checkpoint", "CheckpointWarning", "load", "save"]
