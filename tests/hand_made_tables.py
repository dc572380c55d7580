"""Tables as sweeps give them, made by hand."""

from __future__ import annotations

import numpy as np

from eslabon.sweeps import Column, SweepTable
from randomness import seeded


def table(
    parameters,
    values,
    failed=None,
    *,
    states=1,
    nominal=0.045,
    reason="five_bar: the loop is open by {} m.",
    **about,
):
    """A table of parameters (rows,) by name and of values by name and unit; failed rows have a reason."""
    import pyarrow as pa

    rows = len(next(iter(parameters.values())))
    failed = np.zeros(rows, dtype=bool) if failed is None else np.asarray(failed)
    columns = {"point": np.repeat(np.arange(rows // states), states)}
    if states > 1:
        columns["state"] = np.tile(np.arange(states), rows // states)
    columns |= parameters
    columns |= {name: np.where(failed, np.nan, value) for (name, _), value in values.items()}
    columns["reason"] = pa.array(
        [reason.format(k / 8) if bad else None for k, bad in enumerate(failed)], pa.string()
    )
    known = [Column(name, "m", "parameter", nominal) for name in parameters]
    known += [Column(name, unit, "value") for name, unit in values]
    return SweepTable("five_bar", known, pa.table(columns), about)


def on_disk(made, folder, rows=1000):
    """The same in Parquet files of so many rows."""
    import pyarrow.dataset
    import pyarrow.parquet

    whole = made.to_arrow()
    for k in range(0, len(whole), rows):
        pyarrow.parquet.write_table(whole.slice(k, rows), folder / f"{k:09}.parquet")
    return SweepTable(made.title, made.columns, pyarrow.dataset.dataset(folder), made.about)


def hill(x, y):
    return 1 / (0.003 + (x - 0.04) ** 2 + (y - 0.05) ** 2)


def grid(x=25, y=21):
    """Two parameters on a grid; long links fail."""
    a, b = (
        each.ravel() for each in np.meshgrid(np.linspace(0.03, 0.06, x), np.linspace(0.03, 0.06, y))
    )
    return table({"L2": a, "L3": b}, {("torque", "N m"): hill(a, b)}, a + b > 0.112, method="grid")


def sampled(count=300, parameters=("L2", "L3"), **about):
    """Parameters anywhere."""
    x = seeded("sampled").uniform(0.03, 0.06, (len(parameters), count))
    values = {("torque", "N m"): hill(x[0], x[1]), ("frequency", "Hz"): 100 * x[-1]}
    return table(
        dict(zip(parameters, x, strict=True)), values, x[0] + x[1] > 0.112, method="sobol", **about
    )
