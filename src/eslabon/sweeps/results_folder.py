"""The folder of a sweep's results: what sweep it is, and a Parquet file for each finished chunk, written whole or not at all.

    results/sweep.json            which mechanism, quantity, variables, method, seed
    results/chunk-000000.parquet

A run that was killed goes on from what is there; the folder of another sweep is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eslabon.errors import InputError, ReadError
from eslabon.files import check_writable, replacing, write
from eslabon.sweeps.chunks import Chunk
from eslabon.sweeps.sweep_table import Column, SweepTable, arrow

if TYPE_CHECKING:
    import pyarrow

MANIFEST = "sweep.json"
WORDS = {
    "eslabon": "the version of eslabon", "mechanism": "the mechanism", "description": "the numbers of the mechanism",
    "quantity": "the quantity", "over": "what it is over", "method": "the method", "samples": "the number of samples",
    "seed": "the seed", "chunk": "the size of chunks",
}  # fmt: skip


class ResultsFolder:
    """The results of one sweep on disk."""

    def __init__(self, path: str | Path, manifest: Mapping[str, Any]) -> None:
        self.path, self.manifest = Path(path), dict(manifest)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The folder made ready, or refused: that of another sweep, or one that another process writes into."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is a file; the results of a sweep need a folder.")
        file = self.path / MANIFEST
        check_writable(file)
        with _alone(self.path):
            if file.exists():
                self._check_same(read_manifest(self.path))
            elif any(x for x in self.path.iterdir() if not x.name.startswith(".")):
                raise InputError(f"{self.path} has other files in it, and no {MANIFEST}; choose an empty folder.")
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

    def has(self, chunk: Chunk) -> bool:
        """Whether a chunk is there, whole."""
        import pyarrow.parquet

        try:
            found = pyarrow.parquet.read_metadata(self.file(chunk)).num_rows
        except (OSError, arrow().ArrowInvalid):
            return False
        return bool(found == chunk.points * self.manifest["states"])

    def keep(self, chunk: Chunk, rows: pyarrow.Table) -> None:
        """Write a chunk, whole or not at all."""
        import pyarrow.parquet

        repeated = "parameter" if self.manifest["states"] > 1 else ""  # with every state of a design
        split = [c["name"] for c in self.manifest["columns"] if c["role"] != repeated]
        others = [name for name in rows.column_names if name not in split]
        with replacing(self.file(chunk)) as file:
            pyarrow.parquet.write_table(
                rows, file, compression="zstd", use_dictionary=others, use_byte_stream_split=split
            )

    def compare_with(self, nominal: Callable[[], dict[str, float]]) -> None:
        """Note the values of the description's own design, once all chunks are there."""
        there = read_manifest(self.path)
        if "nominal" not in there:
            self._write({**there, "nominal": nominal()})

    def _write(self, manifest: Mapping[str, Any]) -> None:
        write(self.path / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Which sweep a folder has the results of."""
    file = Path(path) / MANIFEST
    try:
        said = json.loads(file.read_text("utf-8"))
        assert isinstance(said, dict)
        return said
    except FileNotFoundError:
        raise ReadError(f"{path}: it is no folder of a sweep's results, for there is no {MANIFEST} in it.") from None
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
    import pyarrow.dataset

    said = read_manifest(path)
    files = sorted(Path(path).glob("chunk-*.parquet"))
    if not files:
        raise ReadError(f"{path}: no chunk of this sweep is finished; run it.")
    parts = pyarrow.dataset.dataset([str(file) for file in files], format="parquet")
    columns = [Column(**column) for column in said["columns"]]
    about = {key: said[key] for key in (*WORDS, "points")}
    return SweepTable(said["title"], columns, parts, {**about, "nominal": said.get("nominal", {})})


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else writes into the folder meanwhile; the system forgets of it when the process ends, however it does."""
    try:
        import fcntl
    except ImportError:  # where there are no such locks, two runs write the same bytes into the same files
        yield
        return
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"another process is writing into {folder}; wait for it, or choose another folder."
            ) from None
        yield
