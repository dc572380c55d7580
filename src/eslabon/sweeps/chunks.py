"""A sweep cut into chunks, each a pure function of the mechanism, the measure and its designs, so that it gives the same bytes
wherever and whenever it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.llvm.machine import optimization
from eslabon.measures import Measure, Measured
from eslabon.measures.native_batches import reason_of
from eslabon.mechanism import Mechanism
from eslabon.sweeps.sampling import Sampling
from eslabon.sweeps.sweep_table import POINT, REASON, STATE, Column, arrow, schema_of

if TYPE_CHECKING:
    import pyarrow

STATES = 1 << 17  # of one chunk, about
MOST = 4096  # designs of one chunk


class Chunk(NamedTuple):
    """Some consecutive points of a sweep."""

    number: int
    first: int
    last: int

    @property
    def points(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class Task:
    """What is the same for all chunks: the mechanism, the measure, and the columns of the table."""

    m: Mechanism
    measure: Measure
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pyarrow.Schema:
        """The table's columns as Parquet has them."""
        return schema_of(self.columns, self.measure.states())


def chunks_of(sampling: Sampling, size: int) -> Iterator[Chunk]:
    """All points of a sweep, chunk by chunk."""
    for number, first in enumerate(range(0, sampling.points, size)):
        yield Chunk(number, first, min(first + size, sampling.points))


def chunk_size(measure: Measure) -> int:
    """How many designs go together: so many that native code is busy for a while, and that little is lost with one."""
    return max(1, min(measure.together(), STATES // measure.states(), MOST))


@lru_cache(maxsize=8)
def _kept(digest: str, optimization: int) -> list[Mechanism]:
    """Where a process keeps a mechanism from chunk to chunk and from sweep to sweep: what is compiled for it stays with it."""
    return []


def run_chunk(task: Task, chunk: Chunk, designs: Mapping[str, Floats]) -> pyarrow.Table:
    """The rows of a chunk."""
    own = _kept(task.m.digest, optimization())
    if not own:
        own.append(task.m)
    task = replace(task, m=own[0])
    return _table(task, chunk, designs, measured(task, designs, chunk.points))


def measured(task: Task, designs: Mapping[str, Floats], n: int) -> Measured:
    """A measure of n designs; where all of them together raise an error, of each half, down to the one that is the reason."""
    try:
        return task.measure.measured(task.m, designs)
    except (
        Exception,
        SystemExit,
    ) as error:  # whatever it is: the others go on, and this design says why it does not
        if n == 1:
            names = [c.name for c in task.columns if c.role == "value"]
            return Measured(
                {x: np.full((1, task.measure.states()), np.nan) for x in names},
                {0: reason_of(error)},
            )
    middle = n // 2
    halves = [
        measured(task, {name: x[part] for name, x in designs.items()}, size)
        for part, size in ((slice(None, middle), middle), (slice(middle, None), n - middle))
    ]
    reasons = {
        **halves[0].reasons,
        **{middle + k: reason for k, reason in halves[1].reasons.items()},
    }
    shape = (-1, task.measure.states())
    return Measured(
        {
            x: np.concatenate([np.reshape(h.values[x], shape) for h in halves])
            for x in halves[0].values
        },
        reasons,
    )


def _table(
    task: Task, chunk: Chunk, designs: Mapping[str, Floats], found: Measured
) -> pyarrow.Table:
    pa, k = arrow(), task.measure.states()
    rows: dict[str, Any] = {POINT: np.repeat(np.arange(chunk.first, chunk.last), k)}
    rows |= {name: np.repeat(np.asarray(x, dtype=float), k) for name, x in designs.items()}
    rows[STATE] = np.tile(np.arange(k), chunk.points)
    rows |= {
        name: np.asarray(x, dtype=float).reshape(chunk.points * k)
        for name, x in found.values.items()
    }
    rows[REASON] = (
        [found.reasons.get(i) for i in range(chunk.points) for _ in range(k)]
        if found.reasons
        else None
    )
    if rows[REASON] is None:
        rows[REASON] = pa.nulls(chunk.points * k, pa.string())
    return pa.table([rows[name] for name in task.schema.names], schema=task.schema)
