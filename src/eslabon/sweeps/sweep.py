"""A quantity of many designs: sampled, cut into chunks, measured on threads or on a cluster, kept as a table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats, count, flag
from eslabon.errors import InputError, ModelError, ModelWarning, format_value, user_stacklevel
from eslabon.measures import Measure, measure_of
from eslabon.mechanism import Mechanism
from eslabon.progress import Progress
from eslabon.sweeps.chunks import Chunk, Task, chunk_size, chunks_of, measured, run_chunk
from eslabon.sweeps.results_folder import ResultsFolder, read
from eslabon.sweeps.sampling import Sampling, sampling_of
from eslabon.sweeps.sweep_table import POINT, REASON, STATE, Column, SweepTable, arrow
from eslabon.sweeps.variables import Variable, variables_of

MOST = 10_000_000  # points without a word
PROBED = 16  # designs of which a function is asked for its columns, where the mechanism as it is described has none
Finished = Iterator[tuple[Chunk, Any]]  # with the rows of each


class TooManyPoints(InputError):
    """A sweep with more points than it may have: `points` of them.

    >>> import eslabon as es
    >>> try:
    ...     es.sweep(es.load("elbow"), "natural_frequency", {"a1": (0.5, 1.5)}, samples=1000, most=100)
    ... except es.sweeps.TooManyPoints as error:
    ...     error.points
    1000
    """

    def __init__(self, sentence: str, points: int) -> None:
        super().__init__(sentence)
        self.points = points


class Interrupted(KeyboardInterrupt):
    """A sweep stopped from the keyboard; what was finished is in its folder, if it has one."""


def sweep(
    m: Mechanism, quantity: Any, over: Mapping[str, Any], samples: Any = None, method: str | None = None, *,
    cluster: Any = None, folder: str | Path | None = None, seed: int = 0, most: int = MOST, chunk: int | None = None,
    progress: bool | None = None, **options: Any,
) -> SweepTable:  # fmt: skip
    """A quantity of many designs of a mechanism, as a table.

    Parameters
    ----------
    quantity : the name of a measure or of a quantity, with its `options` (`es.measures` has them all); a measure; a Python
        function of a mechanism that gives a number, several by name, or an array; or several of these by name.
    over : what is varied, by parameter: a range (low, high); levels; a text with a unit, "10..30 cm"; a tolerance about what it is,
        "±0.1 mm" or "±2 % normal" (3 sigma, cut off there); or a frozen distribution of SciPy. A number that is no parameter
        goes by its path, "link2.mass" (`m.free_numbers` lists them), what it is off by, whatever it follows from, is
        "link2.mass.deviation", a point mass at a frame "tool.payload", and play of a pin or ball within a radius "tip.clearance".
    samples : how many designs; of a grid how many along each axis, one number or one for each.
    method : "grid", "random", "latin_hypercube", "sobol" or "halton"; if left out a grid where all variables have levels, else
        a Sobol sequence. "saltelli" draws what Sobol indices are made of (`es.sweeps.sensitivities`): 2 + d designs a sample.
    cluster : None: this process, with native code on all cores. "local": a process of its own for each core. An address of a
        Dask scheduler, or a `distributed.Client`: wherever its workers are. The table does not depend on it.
    folder : where finished chunks are kept. The same call goes on from what is there, and the result may be larger than memory.
    seed : of all that is drawn.
    most : points that the sweep may have.
    chunk : how many designs are measured together; a finished chunk is safe.
    progress : whether a bar shows what is done, has failed, and remains; left out, on a terminal, if it takes long.

    A design that cannot be measured, such as one that cannot be assembled, has its `reason` in the table, and no values.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> table = es.sweep(m, lambda m: m.conditions(m.assemble([2.0, 1.0])).parallel, over={"L2": (0.03, 0.05)}, samples=3, method="grid")
    >>> table["value"].round(3)
    array([0.774, 0.773, 0.77 ])
    """
    if not isinstance(m, Mechanism):
        raise InputError(f"sweep takes a mechanism first; it is {format_value(m)}.")
    arrow()
    varied, variables = variables_of(m, over)
    sampling = sampling_of(variables, samples, method, seed)
    measure = measure_of(quantity, options).with_columns(
        varied, sampling.designs(0, min(PROBED, sampling.points))
    )
    task = _task(varied, measure, variables)
    _check_size(sampling, measure, count(most, "most", 1))
    size = chunk_size(measure) if chunk is None else count(chunk, "chunk", 1)
    manifest = _manifest(task, sampling, size)
    wanted = progress if progress is None else flag(progress, "progress")
    run = _Run(task, sampling, size, wanted, _evaluator(cluster))
    if folder is None:
        import pyarrow

        kept: dict[int, Any] = {}
        run(lambda _: None, lambda piece, rows: kept.update({piece.number: rows}))
        parts = pyarrow.concat_tables([kept[number] for number in sorted(kept)])
        return SweepTable(
            manifest["title"], task.columns, parts, {**manifest, "nominal": _nominal(task)}
        )
    results = ResultsFolder(folder, manifest)
    with results.opened():
        run(results.failed, results.keep, results.path)
        results.compare_with(lambda: _nominal(task))
    return read(folder)


def _task(m: Mechanism, measure: Measure, variables: tuple[Variable, ...]) -> Task:
    values = measure.columns(m)
    names = [x.name for x in variables]
    for name in (*names, *values):
        if name in (POINT, STATE, REASON) or [*names, *values].count(name) > 1:
            raise ModelError(
                f"two columns of the sweep would be called '{name}'; rename the parameter or the value."
            )
    columns = [Column(x.name, x.unit, "parameter", x.nominal) for x in variables]
    columns += [Column(name, unit, "value") for name, unit in values.items()]
    return Task(m, measure, tuple(columns))


def _check_size(sampling: Sampling, measure: Measure, most: int) -> None:
    rows = sampling.points * measure.states()
    if rows > most:
        by = " x ".join(
            f"{n:,}"
            for n in (*sampling.counts, *([measure.states()] if measure.states() > 1 else []))
        )
        equal = f" ({by})" if "x" in by else ""
        raise TooManyPoints(
            f"the sweep has {rows:,} points{equal}, more than most={most:,}; take fewer samples, or pass most={rows}.",
            rows,
        )


def _manifest(task: Task, sampling: Sampling, size: int) -> dict[str, Any]:
    """Which sweep it is: all that its numbers depend on."""
    from eslabon import __version__

    columns = [{"name": c.name, "unit": c.unit, "role": c.role, "nominal": c.nominal if np.isfinite(c.nominal) else None} for c in task.columns]  # fmt: skip
    return {
        "title": f"sweep of {task.m.name}", "eslabon": __version__, "mechanism": task.m.name, "description": task.m.digest,
        "quantity": task.measure.fingerprint(), "over": [x.describe() for x in sampling.variables], "method": sampling.method,
        "samples": list(sampling.counts), "seed": sampling.seed, "chunk": size, "points": sampling.points,
        "states": task.measure.states(), "columns": columns, "random": any(x.uncertain for x in sampling.variables),
    }  # fmt: skip


def _nominal(task: Task) -> dict[str, float]:
    """The values of the design that the description has, where it has any; to compare others with."""
    if task.measure.states() > 1:
        return {}
    design = {c.name: np.array([c.nominal]) for c in task.columns if c.role == "parameter"}
    found = measured(task, design, 1).values.items()
    return {name: float(x) for name, value in found if np.isfinite(x := np.ravel(value)[0])}


# -- the run ----------------------------------------------------------------------------------------------------------


def here(task: Task, pieces: Iterator[tuple[Chunk, Mapping[str, Floats]]]) -> Finished:
    """Chunks one after the other; native code takes all cores for each."""
    for chunk, designs in pieces:
        yield chunk, run_chunk(task, chunk, designs)


def _evaluator(cluster: Any) -> Callable[..., Any]:
    """What runs chunks: this process, or a cluster."""
    if cluster is None:
        return lambda: nullcontext(here)
    from eslabon.sweeps.cluster import on_cluster

    return lambda: on_cluster(cluster)


class _Run:
    """All chunks of a sweep that are not there yet, each kept as soon as it is finished."""

    def __init__(
        self,
        task: Task,
        sampling: Sampling,
        size: int,
        progress: bool | None,
        evaluator: Callable[..., Any],
    ) -> None:
        self.task, self.sampling, self.size, self.progress, self.evaluator = (
            task,
            sampling,
            size,
            progress,
            evaluator,
        )
        self.done = self.failed = 0

    def __call__(
        self,
        finished: Callable[[Chunk], int | None],
        keep: Callable[[Chunk, Any], None],
        folder: Path | None = None,
    ) -> None:
        """`finished` says how many designs of a chunk failed, if it is there."""
        waiting = []
        for chunk in chunks_of(self.sampling, self.size):
            if (failed := finished(chunk)) is None:
                waiting.append(chunk)
            else:
                self.done, self.failed = self.done + chunk.points, self.failed + failed
        if not waiting:
            return
        with (
            Progress(f"sweep of {self.task.m.name}", self.progress) as bar,
            self.evaluator() as evaluate,
        ):
            try:
                for chunk, rows in evaluate(
                    self.task, ((c, self.sampling.designs(c.first, c.last)) for c in waiting)
                ):
                    keep(chunk, rows)
                    self._count(chunk, rows, bar)
            except KeyboardInterrupt:
                raise Interrupted(self._stopped(folder)) from None

    def _count(self, chunk: Chunk, rows: Any, bar: Progress) -> None:
        """What is done, what has failed, what remains."""
        reasons = rows.column(REASON)
        failed = (len(reasons) - reasons.null_count) // self.task.measure.states()
        if failed == chunk.points and not self.done:
            warnings.warn(
                f"all {failed:,} designs of the first chunk failed: {reasons[0].as_py()}",
                ModelWarning,
                stacklevel=user_stacklevel(),
            )
        self.done, self.failed = self.done + chunk.points, self.failed + failed
        left = self.sampling.points - self.done
        bar.update(
            self.done / self.sampling.points,
            f"{self.done:,} done, {self.failed:,} failed, {left:,} to go",
        )

    def _stopped(self, folder: Path | None) -> str:
        said = f"the sweep was stopped after {self.done:,} of {self.sampling.points:,} points"
        if folder is None:
            return f"{said}, which are lost; with a folder the same call goes on from there."
        return f"{said}, which are in {os.fspath(folder)}; the same call goes on from there."
