"""Save and load estimators, mixtures, algorithms and bandits exactly; save runs periodically.

``save`` and ``load`` are for files, ``dumps`` and ``loads`` for bytes. :class:`Checkpoint` saves a run periodically and
resumes it after a crash.
"""

from ._archive import BadFileError
from ._checkpoint import Checkpoint, CheckpointWarning
from ._files import dumps, load, loads, save
from ._parameters import describe_parameters
from ._writing import sync_folder, write_atomically

__all__ = [
    "BadFileError",
    "Checkpoint",
    "CheckpointWarning",
    "describe_parameters",
    "dumps",
    "load",
    "loads",
    "save",
    "sync_folder",
    "write_atomically",
]
