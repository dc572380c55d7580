"""Section 2, tables 2 and 3: what is wrong in the motion subspaces S of the joints and in their rates S'."""

from __future__ import annotations

import numpy as np

import eslabon as es
from eslabon.mechanism import Floats
from eslabon.model import GROUND
from eslabon.reproductions.comparison import FORMS, Row, Section
from eslabon.reproductions.verdicts import erratum, greatest

LOST = "The first axis seen from the outer frame is (-s2, c2 s3, c2 c3); the factor s3 is lost."
FOLLOWS = "The rate of the printed entry, and wrong as that is."
SIGN = "The rate of c3; the sign is lost."
TURNS = (
    "The printed columns are rates along the body's axes, in another order than theta1, theta2, theta3 of table 1; for those "
    "coordinates S turns with theta3, and S' is not zero (L200 says only the universal and the spherical joint have one)."
)


def sections() -> tuple[Section, ...]:
    q, v = np.random.default_rng(2).normal(size=(2, 3))
    text = "Motion subspaces against the Jacobians of chains z-y-x and shift-shift-turn at a random configuration, and their exact rates."
    return (Section("2, 3 Joint tables", text, (*ball(q, v), plane(q)), FORMS),)


def ball(q: Floats, v: Floats) -> list[Row]:
    """The spherical joint against the Jacobian of a chain of revolute ones."""
    m = _chain(("revolute", "z"), ("revolute", "y"), ("revolute", "x"))
    (_, s2, s3), (_, c2, c3), (_, w2, w3) = np.sin(q), np.cos(q), v
    S, rate = m.jacobian(q, "tip"), m.derivative("jacobian", "q", q, frame="tip") @ v
    first, second = rate[1, :2]
    return [
        erratum("ball S_1y (table 2)", "c2", "c2 s3", (c2 - S[1, 0], c2 * s3 - S[1, 0]), reason=LOST),
        erratum("ball S_1y' (table 3)", "-s2 w2", "-s2 s3 w2 + c2 c3 w3",
                (-s2 * w2 - first, -s2 * s3 * w2 + c2 * c3 * w3 - first), reason=FOLLOWS),
        erratum("ball S_2y' (table 3)", "s3 w3", "-s3 w3", (s3 * w3 - second, -s3 * w3 - second), reason=SIGN),
    ]  # fmt: skip


def plane(q: Floats) -> Row:
    """The planar joint against the Jacobian of two prismatic joints and a revolute one."""
    S = _chain(("prismatic", "x"), ("prismatic", "y"), ("revolute", "z")).jacobian(q, "tip")
    s3, c3 = np.sin(q)[2], np.cos(q)[2]
    printed, right = np.zeros((2, 6, 3))
    printed[2, 0] = printed[3, 1] = printed[4, 2] = 1.0
    right[3:5, :2], right[2, 2] = [[c3, s3], [-s3, c3]], 1.0
    errors = greatest(printed - S), greatest(right - S)
    return erratum(
        "planar S (table 2)", "rot z, x, y", "(c3,-s3), (s3,c3), z", errors, reason=TURNS
    )


def _chain(*axes: tuple[str, str]) -> es.Mechanism:
    """One-axis joints one after the other, without offsets."""
    b, parent = es.Builder("chain"), GROUND
    for k, (kind, axis) in enumerate(axes, start=1):
        b.body(f"body{k}", mass=1.0, inertia=(1, 1, 1))
        b.joint(f"q{k}", kind, parent, f"body{k}", axis=axis)
        parent = f"body{k}"
    b.frame("tip", parent)
    return b.build()
