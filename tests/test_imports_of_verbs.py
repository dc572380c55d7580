"""What everyday verbs import, in a new process with an empty cache: a slow library only where it is needed."""

from __future__ import annotations

import os
import subprocess
import sys

SLOW = ("scipy", "sympy", "matplotlib", "networkx", "trimesh", "control", "pandas")
CALLS = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import eslabon as es

def loaded(step):
    print(step, *sorted({slow} & set(sys.modules)))

loaded("import")
for name in ("five_bar", "elbow"):
    m = es.load(name)
    q, v = m.home(), np.zeros(m.nv)
    frame = m.frames[0].name
    m.pose(q, frame), m.jacobian(q, frame), m.assemble(q[[m.coordinates[j].start for j in m.actuated]])
    m.inverse_dynamics(q, v, v), m.forward_dynamics(q, v, np.zeros(m.nu)), m.linearize(q)
loaded("numbers")
es.load("five_bar").plot(), es.load("delta").plot()
loaded("pictures")
"""


def test_numbers_need_no_scipy_and_pictures_matplotlib_alone(tmp_path):
    environment = {**os.environ, "ESLABON_CACHE": str(tmp_path), "MPLBACKEND": "agg"}
    code = CALLS.replace("{slow}", repr(set(SLOW)))
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert made.stdout.splitlines() == ["import", "numbers", "pictures matplotlib"]
