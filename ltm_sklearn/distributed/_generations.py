"""The state of a panel in a folder, generation by generation."""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn import config_context

from ..persistence import sync_folder, write_atomically

FORMAT = 2
READ = (1, FORMAT)  #: what can be read; in the first, generations had no names of calls


@dataclass(frozen=True)
class Header:
    """What all buckets of a generation have in common: workers are sent no more, however many buckets there are."""

    number: int
    n_buckets: int
    target: str
    parameters: dict[str, str]  #: of the mixture
    experts: list[str]  #: in the order of their coming
    n_first: int  #: how many of them were there from the beginning
    call: str = ""  #: the one that has made it, by which it is told from another in a folder that was made again


@dataclass(frozen=True)
class Generation(Header):
    """What a panel has learned after so many calls."""

    files: dict[str, str] = field(default_factory=dict)  #: of the buckets, by their numbers
    n_series: dict[str, int] = field(default_factory=dict)
    n_rows: dict[str, int] = field(default_factory=dict)

    def header(self) -> Header:
        """Without its buckets."""
        return Header(**{each.name: getattr(self, each.name) for each in fields(Header)})


@dataclass(frozen=True)
class Generations:
    """A folder with a file for each bucket, and for each generation one that says which files it is made of.

    A call that learns writes files of its own, and at its end the file of the next generation, which is what makes them
    count. So a call that fails, or is killed, changes nothing; a task that is run again writes the same file again; and
    a task of a failed call that still runs somewhere writes what nobody reads.

    Parameters
    ----------
    folder : Path
        Which all workers reach.
    """

    folder: Path

    def path(self, file: str) -> Path:
        """Of a bucket's file."""
        return self.folder / "buckets" / file

    def new_file(self, generation: int, call: str, bucket: int) -> str:
        """The name of the file that a call writes for a bucket."""
        return f"{bucket:06d}-{generation:08d}-{call}.ltm"

    def numbers(self) -> list[int]:
        """Of the generations that are there."""
        found = [re.fullmatch(r"generation-(\d{8,})\.json", path.name) for path in self.folder.glob("generation-*")]
        return sorted(int(match[1]) for match in found if match)

    def read(self) -> Generation | None:
        """The last one; None if there is none."""
        while numbers := self.numbers():
            try:
                return self._read(numbers[-1])
            except FileNotFoundError:  # other processes have learned meanwhile, and it is the last no longer
                continue
        return None

    def _read(self, number: int) -> Generation:
        path = self._file_of(number)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content.pop("format") not in READ:
                raise ValueError("it is of another version of ltm_sklearn")
            return Generation(**content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not the state of a panel: {error}") from error

    def file_of(self, header: Header, bucket: int) -> Path | None:
        """Of a bucket of a generation; None if that has none."""
        file = _files(self, header.number, header.call).get(str(bucket)) if header.number else None
        return None if file is None else self.path(file)

    def begin(self) -> str:
        """Make the folders, and a name for a call."""
        above = self.folder.absolute().parent
        if not above.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {above} to make {self.folder.name} in")
        (self.folder / "buckets").mkdir(parents=True, exist_ok=True)
        return uuid4().hex[:12]

    def check_no_other(self, number: int) -> None:
        """That no other process has made a generation meanwhile: its tidying up would make errors that mislead."""
        last = max(self.numbers(), default=0)  # several may have been made, and that number tidied away
        if last >= number:
            raise self._too_late(last)

    def _too_late(self, number: int) -> RuntimeError:
        return RuntimeError(
            f"another process has learned into {self.folder} meanwhile, up to generation {number}: what this call "
            "learned is left out"
        )

    def add(self, generation: Generation) -> None:
        """Make it the last one, unless another process has made one meanwhile."""
        self.check_no_other(generation.number)
        path = self._file_of(generation.number)
        beside = self.folder / f".{path.name}.{uuid4().hex[:8]}"
        write_atomically(json.dumps({"format": FORMAT, **asdict(generation)}).encode(), str(beside))
        try:
            _rename_to_new(beside, path)
        except FileExistsError as error:
            raise self._too_late(generation.number) from error
        finally:
            beside.unlink(missing_ok=True)
        sync_folder(str(self.folder))

    def discard(self, call: str, after: int) -> None:
        """Remove what a call has written that failed. Not more: another process may be about to add a generation.

        Nothing is removed if a generation after the given one is made of it: the call was broken off when it counted
        already.
        """
        with suppress(OSError, ValueError):  # what is left over does no harm
            later = [self._read(number) for number in self.numbers() if number > after]
            if any(file.endswith(f"-{call}.ltm") for each in later for file in each.files.values()):
                return
            for path in self.path("").glob(f"*-{call}.ltm"):
                path.unlink(missing_ok=True)

    def tidy(self, keep: int, last: int) -> None:
        """Remove all files up to a generation but those of the last ones that are kept.

        Files of later ones are left alone: another process may have begun where this call ended.
        """
        # another process may be tidying up, too; a generation that is damaged goes in its time
        with suppress(OSError, ValueError):
            numbers = self.numbers()
            needed = {file for number in numbers[-keep:] for file in self._read(number).files.values()}
            for path in self.path("").iterdir():
                if path.name not in needed and self._generation_of(path.name) <= last:
                    path.unlink(missing_ok=True)
            for number in numbers[:-keep]:
                self._file_of(number).unlink(missing_ok=True)

    def _generation_of(self, file: str) -> int:
        """Of a file, or of one that was not written to its end."""
        match = re.match(r"\.?\d+-(\d+)-", file)
        return int(match[1]) if match else 0

    def _file_of(self, number: int) -> Path:
        return self.folder / f"generation-{number:08d}.json"


@lru_cache(maxsize=4)  # a process works on many buckets of the same generation
def _files(generations: Generations, number: int, call: str) -> dict[str, str]:
    """The files of its buckets, which never change."""
    generation = generations._read(number)
    if generation.call != call:
        raise FileNotFoundError(f"generation {number} is another one")
    return generation.files


def _rename_to_new(path: Path, name: Path) -> None:
    """Fails if the name is there, of two processes for one; where disks have no links it is looked up before."""
    try:
        os.link(path, name)
    except FileExistsError:
        raise
    except OSError:
        if name.exists():
            raise FileExistsError(name) from None
        os.replace(path, name)


def described(parameters: dict[str, Any]) -> dict[str, str]:
    """Parameters as texts, by which two mixtures are told apart; where an object lives in memory does not count."""
    free = ("n_jobs", "verbose")
    with config_context(print_changed_only=True):
        return {name: _described(value) for name, value in parameters.items() if name not in free}


def _described(value: Any) -> str:
    values = np.asarray(value).tolist() if isinstance(value, list | tuple | np.ndarray) else value
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(values))
