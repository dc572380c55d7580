"""The folder of a sweep's results: what sweep it is, and a Parquet file for each finished chunk, written whole or not at all.

    results/sweep.json            which mechanism, quantity, variables, method, seed
    results/chunk-000000.parquet

A run that was killed goes on from what is there; the folder of another sweep is refused. Pages have checksums, and a chunk says
which sweep it is of, so that one that was damaged, or comes from elsewhere, is measured again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eslabon.atomic_files import check_writable, replace_file, write
from eslabon.errors import InputError, ReadError, format_value
from eslabon.sweeps.chunks import Chunk
from eslabon.sweeps.sweep_table import REASON, Column, SweepTable, arrow, schema_of

if TYPE_CHECKING:
    import pyarrow

MANIFEST = "sweep.json"
CHUNKS = "chunk-*.parquet"
UNFINISHED = (f".{MANIFEST}.*.part", ".chunk-*.part")  # of a run that was killed while it wrote
WORDS = {
    "eslabon": "the version of eslabon", "mechanism": "the mechanism", "description": "the numbers of the mechanism",
    "quantity": "the quantity", "over": "what it is over", "method": "the method", "samples": "the number of samples",
    "seed": "the seed", "chunk": "the size of chunks",
}  # fmt: skip


class ResultsFolder:
    """The results of one sweep on disk."""

    def __init__(self, path: str | Path, manifest: Mapping[str, Any]) -> None:
        self.path, self.manifest = folder_of(path), dict(manifest)
        said = json.dumps({key: self.manifest[key] for key in WORDS}, sort_keys=True)
        self.key = hashlib.sha256(said.encode()).hexdigest()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The folder made ready, or refused: that of another sweep, or one that another process writes into."""
        try:
            taken = self.path.exists() and not self.path.is_dir()
        except (
            OSError,
            ValueError,
        ) as error:  # a name too long for any folder, or with half a character
            why = getattr(error, "strerror", None) or "no folder has such a name"
            raise ReadError(
                f"{format_value(str(self.path))}: it cannot be a folder ({why}); choose another one."
            ) from None
        if taken:
            raise InputError(f"{self.path} is a file; the results of a sweep need a folder.")
        file = self.path / MANIFEST
        check_writable(file)
        with _alone(self.path):
            if file.exists():
                self._check_same(read_manifest(self.path))
            elif any(x for x in self.path.iterdir() if not x.name.startswith(".")):
                raise InputError(
                    f"{self.path} has other files in it, and no {MANIFEST}; choose an empty folder."
                )
            else:
                self._write(self.manifest)
            yield

    def _check_same(self, there: Mapping[str, Any]) -> None:
        mine = json.loads(json.dumps(self.manifest))
        other = [WORDS[key] for key in WORDS if mine.get(key) != there.get(key)]
        if other:
            what = " and ".join([", ".join(other[:-1]), other[-1]] if len(other) > 1 else other)
            raise InputError(
                f"{self.path} has the results of another sweep: {what} {'differ' if len(other) > 1 else 'differs'}; choose "
                "another folder, or ask for the sweep as it was."
            )

    def file(self, chunk: Chunk) -> Path:
        return self.path / f"chunk-{chunk.number:06d}.parquet"

    def failed(self, chunk: Chunk) -> int | None:
        """How many designs of a chunk failed, if it is there: whole, not damaged, and of this sweep."""
        import pyarrow.parquet

        try:
            with pyarrow.parquet.ParquetFile(
                self.file(chunk), page_checksum_verification=True
            ) as file:
                rows = file.read()
        except (OSError, arrow().ArrowException):
            return None
        states, own = self.manifest["states"], self._metadata(chunk)
        if len(rows) != chunk.points * states or any(
            (rows.schema.metadata or {}).get(x) != own[x] for x in own
        ):
            return None
        return int((len(rows) - rows.column(REASON).null_count) // states)

    def _metadata(self, chunk: Chunk) -> dict[bytes, bytes]:
        """What tells the file of a chunk from that of any other, here or in another sweep."""
        return {b"sweep": self.key.encode(), b"chunk": str(chunk.number).encode()}

    def keep(self, chunk: Chunk, rows: pyarrow.Table) -> None:
        """Write a chunk, whole or not at all."""
        import pyarrow.parquet

        repeated = (
            "parameter" if self.manifest["states"] > 1 else ""
        )  # with every state of a design
        split = [c["name"] for c in self.manifest["columns"] if c["role"] != repeated]
        others = [name for name in rows.column_names if name not in split]
        with replace_file(self.file(chunk)) as file:
            pyarrow.parquet.write_table(
                rows.replace_schema_metadata(self._metadata(chunk)), file, compression="zstd", use_dictionary=others,
                use_byte_stream_split=split, write_page_checksum=True,
            )  # fmt: skip

    def compare_with(self, nominal: Callable[[], dict[str, float]]) -> None:
        """Note the values of the description's own design, once all chunks are there."""
        there = read_manifest(self.path)
        if "nominal" not in there:
            self._write({**there, "nominal": nominal()})

    def _write(self, manifest: Mapping[str, Any]) -> None:
        write(
            self.path / MANIFEST,
            json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n",
        )


def folder_of(path: str | Path) -> Path:
    """A folder as users name it."""
    if (
        not isinstance(path, str | os.PathLike)
        or not os.fspath(path)
        or isinstance(os.fspath(path), bytes)
    ):
        raise InputError(f"a folder is a path, such as 'results'; it is {format_value(path)}.")
    if any(
        "\ud800" <= c <= "\udfff" for c in os.fspath(path)
    ):  # half a character: other libraries cannot open it
        raise InputError(
            f"a folder has a name in Unicode, such as 'results'; it is {format_value(path)}."
        )
    return Path(path)


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Which sweep a folder has the results of."""
    file = Path(path) / MANIFEST
    try:
        said = json.loads(file.read_text("utf-8"))
        assert isinstance(said, dict)
        return said
    except FileNotFoundError:
        raise ReadError(
            f"{path}: it is no folder of a sweep's results, for there is no {MANIFEST} in it."
        ) from None
    except (OSError, ValueError, AssertionError) as error:
        raise ReadError(f"{file}: it cannot be read ({error}).") from None


def read(path: str | Path) -> SweepTable:
    """The table of a sweep from the folder of its results, finished or not.

    >>> import eslabon as es
    >>> es.sweeps.read("nowhere")
    Traceback (most recent call last):
    ...
    eslabon.errors.ReadError: nowhere: it is no folder of a sweep's results, for there is no sweep.json in it.
    """
    arrow()
    import pyarrow.dataset as ds

    folder = folder_of(path)
    said = read_manifest(folder)
    files = sorted(folder.glob(CHUNKS), key=_number)
    if not files:
        raise ReadError(f"{path}: no chunk of this sweep is finished; run it.")
    try:
        columns = [
            Column(**{key: x for key, x in column.items() if x is not None})
            for column in said["columns"]
        ]
        about = {key: said[key] for key in (*WORDS, "points")} | {
            "nominal": said.get("nominal", {})
        }
        title, schema = said["title"], schema_of(columns, said["states"])
    except (KeyError, TypeError, AttributeError):
        raise ReadError(f"{folder / MANIFEST}: it is no description of a sweep; run the sweep into another folder.") from None  # fmt: skip
    checked = ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True))  # fmt: skip
    parts = ds.dataset([str(file) for file in files], schema=schema, format=checked)
    return SweepTable(title, columns, parts, about)


def _number(file: Path) -> int:
    """Of a chunk, by its file."""
    return int("".join(re.findall(r"\d+", file.name)) or 0)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else writes into the folder meanwhile; the system forgets of it when the process ends, however it does."""
    try:
        import fcntl
    except (
        ImportError
    ):  # where there are no such locks, two runs write the same bytes into the same files
        yield
        return
    try:
        file = (folder / ".lock").open("w")
    except OSError as error:
        raise ReadError(
            f"{folder}: it cannot be written ({error.strerror}); choose another folder."
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another process is writing into {folder}; wait for it, or choose another folder."
            ) from None
        except OSError:  # a file system without locks
            yield
            return
        for pattern in UNFINISHED:
            for left in folder.glob(pattern):
                with suppress(OSError):
                    left.unlink()
        yield
