"""State of a panel in a folder: a file for each bucket, and a file for each generation that lists its buckets."""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from ..persistence import sync_folder, write_atomically

FORMAT = 2


@dataclass(frozen=True)
class GenerationHeader:
    """Fields that all buckets of a generation share; their size does not grow with the number of buckets."""

    number: int
    n_buckets: int
    target: str
    parameters: dict[str, str]  #: of the mixture
    experts: list[str]  #: in order of first appearance
    n_first: int  #: number of experts of the first call
    call: str = ""  #: the call that made it, which differs from that of an equal number in a folder that was remade


@dataclass(frozen=True)
class Generation(GenerationHeader):
    """State of a panel after a number of calls of ``partial_fit``; dictionaries have the buckets as keys."""

    files: dict[str, str] = field(default_factory=dict)
    n_series: dict[str, int] = field(default_factory=dict)
    n_rows: dict[str, int] = field(default_factory=dict)

    def header(self) -> GenerationHeader:
        """Return the generation without its buckets."""
        return GenerationHeader(**{each.name: getattr(self, each.name) for each in fields(GenerationHeader)})


@dataclass(frozen=True)
class PanelState:
    """Generations of a panel in a folder.

    A call of ``partial_fit`` writes new files for its buckets and, at its end, the file of the next generation, which
    makes them valid. A call that fails or is killed therefore changes nothing; a task that is repeated writes the same
    file again; a task of a failed call that still runs somewhere writes a file that no generation lists.

    Parameters
    ----------
    folder : Path
        A folder that all workers reach.
    """

    folder: Path

    def path(self, file: str) -> Path:
        """Return the path of a bucket's file."""
        return self.folder / "buckets" / file

    def new_file(self, generation: int, call: str, bucket: int) -> str:
        """Return the name of the file that a call writes for a bucket."""
        return f"{bucket:06d}-{generation:08d}-{call}.ltm"

    def numbers(self) -> list[int]:
        """Return the numbers of the stored generations in ascending order."""
        found = [re.fullmatch(r"generation-(\d{8,})\.json", path.name) for path in self.folder.glob("generation-*")]
        return sorted(int(match[1]) for match in found if match)

    def read(self) -> Generation | None:
        """Return the last generation; None if there is none."""
        while numbers := self.numbers():
            try:
                return self._read(numbers[-1])
            except FileNotFoundError:  # another process has added generations and removed this one
                continue
        return None

    def _read(self, number: int) -> Generation:
        path = self._file_of(number)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content.pop("format") != FORMAT:
                raise ValueError("it is of another version of ltm_sklearn")
            return Generation(**content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not the state of a panel: {error}") from error

    def bucket_path(self, header: GenerationHeader, bucket: int) -> Path | None:
        """Return the path of a bucket's file in a generation; None if the bucket has no rows yet."""
        file = _files(self, header.number, header.call).get(str(bucket)) if header.number else None
        return None if file is None else self.path(file)

    def begin_call(self) -> str:
        """Make the folders, and return a unique name for a call."""
        parent = self.folder.absolute().parent
        if not parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {parent} to make {self.folder.name} in")
        (self.folder / "buckets").mkdir(parents=True, exist_ok=True)
        return uuid4().hex[:12]

    def check_is_next(self, number: int) -> None:
        """Raise an error if another process has added a generation with this number or a later one."""
        last = max(self.numbers(), default=0)  # this number itself may have been removed already
        if last >= number:
            raise self._conflict(last)

    def _conflict(self, number: int) -> RuntimeError:
        return RuntimeError(
            f"another process has updated the panel in {self.folder} up to generation {number} during this call. This "
            "call was discarded; call partial_fit again"
        )

    def add(self, generation: Generation) -> None:
        """Add the next generation; raise an error if another process was faster."""
        self.check_is_next(generation.number)
        path = self._file_of(generation.number)
        new = self.folder / f".{path.name}.{uuid4().hex[:8]}"
        write_atomically(json.dumps({"format": FORMAT, **asdict(generation)}).encode(), str(new))
        try:
            _rename_to_new(new, path)
        except FileExistsError as error:
            raise self._conflict(generation.number) from error
        finally:
            new.unlink(missing_ok=True)
        sync_folder(str(self.folder))

    def discard(self, call: str, after: int) -> None:
        """Remove the files of a failed call, unless a generation after the given one lists them.

        A call that was interrupted after its generation was added is valid.
        """
        with suppress(OSError, ValueError):  # left-over files do no harm
            later = [self._read(number) for number in self.numbers() if number > after]
            if any(file.endswith(f"-{call}.ltm") for each in later for file in each.files.values()):
                return
            for path in self.path("").glob(f"*-{call}.ltm"):
                path.unlink(missing_ok=True)

    def prune(self, keep: int, last: int) -> None:
        """Remove all files of generations up to ``last``, except those that the ``keep`` newest generations list.

        Files of later generations stay: another process may be writing them.
        """
        # another process may be pruning, too; a damaged generation is removed when its turn comes
        with suppress(OSError, ValueError):
            numbers = self.numbers()
            needed = {file for number in numbers[-keep:] for file in self._read(number).files.values()}
            for path in self.path("").iterdir():
                match = re.match(r"\.?\d+-(\d+)-", path.name)  # with a dot if it was not written to its end
                if path.name not in needed and (int(match[1]) if match else 0) <= last:
                    path.unlink(missing_ok=True)
            for number in numbers[:-keep]:
                self._file_of(number).unlink(missing_ok=True)

    def _file_of(self, number: int) -> Path:
        return self.folder / f"generation-{number:08d}.json"


@lru_cache(maxsize=4)  # a process works on many buckets of one generation
def _files(state: PanelState, number: int, call: str) -> dict[str, str]:
    """Return the files of a generation by bucket; they never change."""
    generation = state._read(number)
    if generation.call != call:
        raise FileNotFoundError(f"generation {number} is another one")
    return generation.files


def _rename_to_new(path: Path, name: Path) -> None:
    """Rename a file, and fail if the name exists; atomic except on disks without links."""
    try:
        os.link(path, name)
    except FileExistsError:
        raise
    except OSError:
        if name.exists():
            raise FileExistsError(name) from None
        os.replace(path, name)
