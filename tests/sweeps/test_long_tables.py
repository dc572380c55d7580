"""Tables longer than memory: numbers are those of the whole, and no more than a piece of it is read at a time."""

import os
import subprocess
import sys

import numpy as np
import pytest

import eslabon as es
from eslabon.sweeps.table_statistics import order_statistics

ELBOW = es.load("elbow")
SCRIPT = """
import resource, sys
import numpy as np
import eslabon as es
from eslabon.sweeps.table_sheets import ends_sheet, values_sheet

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def run(samples, folder):
    q = np.stack([np.linspace(0, 1, 64), np.zeros(64)], axis=-1)
    over = {"m1": (0.1, 1.0), "a1": (0.5, 1.0)}
    es.sweep(es.load("elbow"), "mass_matrix", over, samples, q=q, folder=folder, progress=False)
    table = es.sweeps.read(folder)
    table.percentiles(), table.statistics(), ends_sheet(table), values_sheet(table), repr(table)
    table.save(folder + "/table.parquet")
    for kind in ("map", "histogram"):
        table.plot(kind)
    return len(table)

run(10_000, sys.argv[1] + "/first")  # what does not grow with the table: code, libraries, the rows of a figure
before = peak()
print(run(60_000, sys.argv[1] + "/second") * 9 * 8 / 2**20, peak() - before)
"""


@pytest.mark.slow(reason="a table longer than memory may grow")
def test_memory_does_not_grow_with_the_table(tmp_path):
    pytest.importorskip("resource")
    run = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, check=True)  # fmt: skip
    size, grown = map(float, run.stdout.split())
    assert size > 250
    assert grown < 80, run.stdout  # MiB


@pytest.mark.parametrize("chunk", [7, 1000])
def test_numbers_of_pieces_are_those_of_the_whole(tmp_path, chunk):
    """Of both signs, zeros, ties, some very large and very small ones, and some missing."""

    def value(m):
        x = (m.parameters["a1"] - 1.5) * 1e3
        return {
            "spread": np.copysign(abs(x) ** 9, x),
            "ties": np.round(x / 200),
            "none": np.nan,
            "some": x if x > 100 else np.inf,
        }

    with pytest.warns(es.ModelWarning, match="none has no finite value"):
        table = es.sweep(
            ELBOW, value, {"a1": (1.0, 2.0)}, samples=257, chunk=chunk, folder=tmp_path
        )
    percent = (0, 5, 33.3, 50, 95, 100)
    found, told = table.percentiles(percent), table.statistics()
    for name in ("spread", "ties", "some"):
        x = table[name][np.isfinite(table[name])]
        np.testing.assert_allclose(
            list(found[name].values()), np.percentile(x, percent), rtol=1e-12, atol=1e-12
        )
        whole = [x.mean(), x.std(ddof=1), x.min(), x.max()]
        np.testing.assert_allclose(
            list(told[name].values()), whole, rtol=1e-12, atol=1e-12 * np.abs(x).max()
        )
    assert np.isnan([*found["none"].values(), *told["none"].values()]).all()
    ranks = order_statistics(table, {"spread": range(257)})["spread"]
    np.testing.assert_array_equal(list(ranks.values()), np.sort(table["spread"]))
