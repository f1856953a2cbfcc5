"""Estimators, mixtures, algorithms and bandits in files, to go on from exactly; and checkpoints of runs."""

from ._checkpoint import Checkpoint, CheckpointWarning
from ._file import load, save

__all__ = ["Checkpoint", "CheckpointWarning", "load", "save"]

# for the other packages
from ._encode import Encoder as Encoder
from ._errors import BadFile as BadFile
from ._file import _dump as _dump
from ._file import _load as _load
from ._models import dumped as dumped
from ._models import untrusted_types as untrusted_types
from ._setting import setting_of as setting_of
from ._writing import sync_folder as sync_folder
from ._writing import write_whole as write_whole
