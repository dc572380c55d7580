"""Section 4, eq. 27 and table 4: what is wrong in the covectors of the constraints."""

from __future__ import annotations

import numpy as np

from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.numerics import adjoint, rotation_about
from eslabon.reproductions.comparison import FORMS, Row, Section
from eslabon.reproductions.verdicts import erratum, greatest

X, Y, Z = np.eye(3)


def sections() -> tuple[Section, ...]:
    text = "Covectors of constraints. The difference is the error of the printed form."
    return (
        Section(
            "4 Constraints: eq. 27 and table 4", text, (angular(), cylindrical(), revolute()), FORMS
        ),
    )


def angular() -> Row:
    """Eq. 27 for two bodies m and n in random motion."""
    rng = np.random.default_rng(1)
    Rm, Rn = (
        np.asarray(rotation_about(tuple(rng.normal(size=3)), x)) for x in rng.uniform(0.5, 2.5, 2)
    )
    um, un, wm, wn, vm, vn = rng.normal(size=(6, 3))  # spins in body axes
    rate = (Rm @ np.cross(wm, um)) @ (Rn @ un) + (Rm @ um) @ (Rn @ np.cross(wn, un))
    covector, between = np.cross(un, Rn.T @ Rm @ um), np.eye(4)
    between[:3, :3] = Rn.T @ Rm
    relative = np.concatenate([wn, vn]) - adjoint(between) @ np.concatenate([wm, vm])
    errors = float(covector @ relative[3:] - rate), float(covector @ relative[:3] - rate)
    return erratum(
        "covector (27), L357", "[0; u_n x R u_m]", "[u_n x R u_m; 0]", errors,
        reason="Against the exact rate of (R_m u_m).(R_n u_n) for two bodies in random motion. The covector is a moment, and "
        "stands in the angular half.",
    )  # fmt: skip


def cylindrical() -> Row:
    """Table 4: u_m . R u_n of row 4, at 0.3 rad."""
    turn = _about_z(0.3)
    errors = float(Y @ turn @ X), float(Z @ turn @ X)
    return erratum(
        "cylindrical, row 4", "(y_m, x_n)", "(z_m, x_n)", errors,
        reason=phrase("The printed constraint is sin(theta), here {x:.3f} at theta = 0.3: it forbids the joint's own turn.", x=errors[0]),
    )  # fmt: skip


def revolute() -> Row:
    """Table 4: the covector of row 5, at 0.3 rad, and with row 4 at 90 degrees."""
    turn, quarter = _about_z(0.3), _about_z(np.pi / 2)
    printed, right = np.cross(Z, turn.T @ X), np.cross(X, turn.T @ Z)
    rank = np.linalg.matrix_rank(
        np.stack([np.cross(Y, quarter.T @ Z), np.cross(Z, quarter.T @ X)]), tol=1e-9
    )
    return erratum(
        "revolute, row 5: C", "(x_m, z_n): [0,1,0]", "(z_m, x_n): [0,-1,0]",
        (greatest(printed - Y), greatest(right + Y)),
        reason=phrase("The pair (x_m, z_n) has C = ({x:.3f}, {y:.3f}, {z:.3f}) at theta = 0.3, not a constant, and at 90° it repeats "
        "the row above: the two rows have rank {rank}.", x=printed[0], y=printed[1], z=printed[2], rank=rank),
    )  # fmt: skip


def _about_z(angle: float) -> Floats:
    return np.asarray(rotation_about((0, 0, 1), angle))
