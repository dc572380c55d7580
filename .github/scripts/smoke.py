"""A first use of an installed eslabon without any extra: load, close loops, forces, simulate, linearize, equations, C.

The package is imported from where it is installed; the repository keeps its source in src, which is not on the path.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import eslabon as es


def check(fact: str, holds: bool) -> None:
    if not holds:
        sys.exit(f"smoke test: not true that {fact}.")
    print(f"  {fact}")


def verbs() -> None:
    """The verbs that a newcomer meets first, on a robot with two loops."""
    m = es.load("planar_3rrr")
    q, v, a = m.complete([0.55, 0.5, 0.6], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0])
    tau = m.inverse_dynamics(q, v, a)
    check("three motors have a force each", tau.shape == (3,))
    check(
        "forward dynamics undoes inverse dynamics",
        np.allclose(m.forward_dynamics(q, v, tau), a, atol=1e-8),
    )
    motion = m.simulate(q, v, 0.1, tau)
    check("a simulation ends at its time", bool(np.isclose(motion.t[-1], 0.1)))
    check(
        "a linear model has two states for a degree of freedom",
        m.linearize(q, v, tau).A.shape == (6, 6),
    )
    elbow = es.load("elbow")
    pose = elbow.pose([0.3, 0.4])
    check(
        "inverse kinematics finds the pose",
        np.allclose(elbow.pose(elbow.inverse_kinematics(pose)), pose, atol=1e-8),
    )
    check("equations are printed", "cos(q1)" in str(elbow.equations("pose", frame="tool")))


def files() -> None:
    """Write and read a mechanism, write C, all in a folder that goes away."""
    with TemporaryDirectory() as folder:
        saved = es.load("five_bar").save(Path(folder) / "five_bar.toml")
        check("a saved mechanism is the same mechanism", es.load(saved).dof == 2)
        es.load("elbow").c_source("jacobian").write(folder)
        check("C code is written", any(Path(folder).glob("*.c")))


def missing_extra() -> None:
    """A feature whose extra is not installed says which extra it needs."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        try:
            es.load("elbow").plot([0.3, 0.4])
        except es.MissingDependencyError as error:
            check("a figure without matplotlib names its extra", "eslabon[plot]" in str(error))
        else:
            check("a figure without matplotlib is an error", False)


def command_line() -> None:
    for arguments in (
        ["--version"],
        ["list"],
        ["pose", "delta", "--actuated", "10 20 30", "--degrees"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "eslabon", *arguments], capture_output=True, check=False
        )
        check(f"`eslabon {' '.join(arguments)}` works", done.returncode == 0 and bool(done.stdout))


if __name__ == "__main__":
    print(
        f"eslabon {es.__version__} on Python {sys.version.split()[0]}, {sys.platform}, from {Path(es.__file__).parent}"
    )
    verbs()
    files()
    missing_extra()
    command_line()
