"""The table of a sweep: a row for each design, columns with units, in memory or in Parquet files larger than it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats, file_path, known_words, text
from eslabon.arguments import names as words
from eslabon.atomic_files import replace_file
from eslabon.displays import displayed
from eslabon.errors import InputError, MissingDependencyError, ReadError, format_value, suggest
from eslabon.sheets import inert
from eslabon.sweeps.table_contents import Contents, contents
from eslabon.sweeps.table_display import described, shown_pieces
from eslabon.sweeps.table_statistics import Summary, percentiles, statistics

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from eslabon.plotting import Theme

POINT, STATE, REASON = "point", "state", "reason"


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its unit ("" for none), whether it is a "parameter" that was varied or a "value", and for a
    parameter what it is in the description."""

    name: str
    unit: str
    role: str
    nominal: float = float("nan")

    @property
    def label(self) -> str:
        """For axes and headings: name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def arrow() -> Any:
    """pyarrow, or a sentence."""
    try:
        import pyarrow
    except ImportError:
        raise MissingDependencyError("a sweep needs pyarrow for its table; install it with pip install 'eslabon[sweep]'.") from None  # fmt: skip
    return pyarrow


def schema_of(columns: Sequence[Column], states: int) -> pyarrow.Schema:
    """The columns of a table as Parquet has them, of so many states of each design."""
    pa = arrow()
    state = [(STATE, pa.int64())] if states > 1 else []
    own = {
        role: [(c.name, pa.float64()) for c in columns if c.role == role]
        for role in ("parameter", "value")
    }
    return pa.schema(
        [(POINT, pa.int64()), *own["parameter"], *state, *own["value"], (REASON, pa.string())]
    )


@contextmanager
def _undamaged(title: str) -> Iterator[None]:
    """What is read from files, or a sentence."""
    try:
        yield
    except (OSError, arrow().ArrowInvalid) as error:
        said = str(error).partition("\n")[0].rstrip(".")
        raise ReadError(f"{title}: a file of its folder is damaged ({said}); the same sweep into this folder measures anew what is lost.") from None  # fmt: skip


@displayed
class SweepTable:
    """Rows of designs: the number of the `point`, the parameters that were varied, the values, and the `reason` why there are none.

    `table["L2"]` is a column as an array; `to_pandas`, `to_arrow` and `save` take it elsewhere; `plot` draws it.
    """

    def __init__(
        self, title: str, columns: Sequence[Column], parts: Any, about: dict[str, Any] | None = None
    ) -> None:
        """`parts` is a pyarrow.Table, or a pyarrow.dataset.Dataset of Parquet files; `about` says how it was made."""
        self.title, self.columns, self._parts, self.about = (
            title,
            tuple(columns),
            parts,
            dict(about or {}),
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of what was varied."""
        return tuple(c.name for c in self.columns if c.role == "parameter")

    @property
    def values(self) -> tuple[str, ...]:
        """The names of what was measured."""
        return tuple(c.name for c in self.columns if c.role == "value")

    def column(self, name: str) -> Column:
        """A column's name, unit and role."""
        found = next((c for c in self.columns if isinstance(name, str) and c.name == name), None)
        if found is None:
            raise InputError(
                f"{self.title} has no column {format_value(name)}{suggest(name, [c.name for c in self.columns])}"
            )
        return found

    def __len__(self) -> int:
        with _undamaged(self.title):
            return int(
                self._parts.num_rows
                if hasattr(self._parts, "num_rows")
                else self._parts.count_rows()
            )

    def __getitem__(self, name: str) -> Floats:
        if name not in (POINT, STATE):
            self.column(text(name, "the name of a column"))
        return np.asarray(self._read([name]).column(name).to_numpy())

    def _read(self, names: Sequence[str] | None = None) -> pyarrow.Table:
        """Columns as a whole."""
        if hasattr(self._parts, "num_rows"):
            return self._parts if names is None else self._parts.select(list(names))
        with _undamaged(self.title):
            return self._parts.to_table(columns=names if names is None else list(names))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pyarrow.RecordBatch]:
        """Its rows piece by piece, for what is larger than memory; only the columns of some names if these are given."""
        known = self._parts.schema.names
        known_words(
            known if names is None else words(names, "names"),
            known,
            f"{self.title} has no column",
            InputError,
        )
        if hasattr(self._parts, "num_rows"):
            yield from self._read(names).to_batches()
            return
        wanted = {"schema": self._parts.schema, "columns": names if names is None else list(names)}
        with _undamaged(self.title):
            for (
                chunk
            ) in self._parts.get_fragments():  # one is in memory, however slowly they are used
                yield from chunk.to_batches(**wanted)

    @cached_property
    def contents(self) -> Contents:
        """How many designs there are, which failed and why, and from where to where each column goes."""
        return contents(self)

    @property
    def states(self) -> tuple[str, ...]:
        """The column of states, where a design is measured at each of several."""
        return (STATE,) if STATE in self._parts.schema.names else ()

    def nominal(self, name: str) -> float:
        """What a column is at the design of the description; NaN where that is not known."""
        return float(self.about.get("nominal", {}).get(name, self.column(name).nominal))

    def percentiles(self, percent: Sequence[float] = (5, 50, 95)) -> Summary:
        """Below which values so many per cent of the designs are. The designs count as they were drawn: of a tolerance or a
        distribution it is a probability, of a range it says that all of it is equally likely.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> table = es.sweep(m, lambda m: m.gravity_forces([0.0, 0.0])[0], over={"m2": "±10 % normal"}, samples=256)
        >>> table.percentiles()
        <Percentiles of sweep of elbow: 256 designs>
        value     5 %   50 %    95 %
        value  18.824  19.62  20.417
        """
        return percentiles(self, percent)

    def statistics(self) -> Summary:
        """Mean, standard deviation, least and greatest of each value.

        >>> import eslabon as es
        >>> table = es.sweep(es.load("elbow"), lambda m: m.parameters["a1"], over={"a1": (1.0, 3.0)}, samples=64)
        >>> round(table.statistics()["value"]["mean"], 2)
        2.0
        """
        return statistics(self)

    def to_arrow(self) -> pyarrow.Table:
        """All of it as a pyarrow.Table, which polars.from_arrow reads too."""
        return self._read()

    def to_pandas(self) -> pandas.DataFrame:
        """All of it as a pandas.DataFrame, the points as its index."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise MissingDependencyError(
                "to_pandas needs pandas; install it with pip install pandas."
            ) from None
        return self.to_arrow().to_pandas().set_index(POINT)

    def plot(
        self, kind: str | None = None, x: str | None = None, y: str | None = None, of: str | Sequence[str] | None = None,
        log: bool = False, theme: str | Theme | None = None, path: str | Path | None = None,
    ) -> Any:  # fmt: skip
        """Draw it: a matplotlib figure, written to a file too where a path is given.

        Parameters
        ----------
        kind : "curves" of values over a parameter; a "map" of each value over two; a "scatter" matrix of parameters and values
            with their rank correlations; a "histogram" of each value with percentiles. Left out, what suits the parameters.
        x, y : the parameters along the axes of curves and maps; the first ones if left out.
        of : the columns to show; all values if left out.
        log : whether values have a logarithmic scale.
        theme : "light" or "dark".

        Designs that failed are grey crosses. Of more than 50,000 rows as many are drawn, chosen at random, and a map has means of
        all; the figure says so.
        """
        from eslabon.plotting import saved
        from eslabon.sweeps.sweep_plot import sweep_figure

        return saved(sweep_figure(self, kind, x, y, of, log, theme), path)

    def __repr__(self) -> str:
        return described(self)

    def _pieces(self) -> Iterator[str]:
        yield from shown_pieces(self)

    def save(self, path: str | Path) -> Path:
        """Write it as one file, .parquet or .csv, whole or not at all."""
        arrow()
        import pyarrow.csv
        import pyarrow.parquet

        writers = {".parquet": pyarrow.parquet.ParquetWriter, ".csv": pyarrow.csv.CSVWriter}
        ending = file_path(path).suffix.lower()
        if ending not in writers:
            raise InputError(f"a table is saved as .parquet or .csv; {path} ends in neither.")
        schema, batches = self._parts.schema, self.batches()
        if ending == ".csv":
            schema, batches = _inert_schema(schema), map(_inert_batch, batches)
        with replace_file(path) as file, writers[ending](file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return Path(path)


def _inert_schema(schema: pyarrow.Schema) -> pyarrow.Schema:
    """The same columns, under names that no spreadsheet takes for formulas."""
    return arrow().schema([field.with_name(inert(field.name)) for field in schema])


def _inert_batch(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """The same rows, with names and texts that no spreadsheet takes for formulas."""
    pa = arrow()
    columns = [
        pa.array([x and inert(x) for x in column.to_pylist()], column.type)
        if pa.types.is_string(column.type)
        else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, schema=_inert_schema(batch.schema))
