"""The iteration of section 3.3 itself: where it starts, with six and with seven equations, and what is singular in it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.numerics.rotations import vect
from eslabon.reproductions.comparison import THESIS, Exhibit, Section
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.rojas import rojas_loops, straight_line
from eslabon.reproductions.verdicts import greatest, statement

NEAR = 0.001  # rad by which a start is off the closed form: branches of the loop meet next to 138 and 222 degrees
LEAST = 1e-9  # what a logarithmic axis shows of an error that is zero
CAPTION = (
    "Errors of θ2 and its rates against the closed form, by six equations and by seven, of which one is redundant. The thesis has the "
    "redundant one filter round-off; here it makes little difference. The loop is singular at 120, 180 and 240 degrees."
)
WAYS = {"6 x 6": "vector", "7 x 6": "invariants"}

NOT_INVARIANT = (
    "True of the Jacobian of the hand's twist, whose rows theta1 and theta6 only turn. The first four rows of 3.3.1.19 are that "
    "of the angular velocity times [1 tr P - P; -2 vect(P)^T], whose singular values 2, 2 cos(phi/2), 2 cos(phi/2) change with "
    "the angle phi of the hand, and so with theta1 and theta6."
)


def condition(m: es.Mechanism, q: Floats) -> Floats:
    """The condition number of the Jacobian of the hand's twist, lengths in units of the arm's size."""
    return 1 / np.asarray(m.conditions(q).serial)


# -- 3.3.1 ------------------------------------------------------------------------------------------------------------


def start() -> Section:
    m = es.load("rojas_t3")
    q = m.home() + 0.3 * np.sin(np.arange(6))
    turned = q + np.outer(np.arange(1, 6), [1.0, 0, 0, 0, 0, 0.7])
    printed = m.newton_gauss(m.pose(turned), turned, iterations=0).condition[0]
    alone = m.newton_gauss(m.pose(q), q, iterations=0).condition[0]
    steps = _steps(m)
    text = (
        "The start is the configuration of least cond(J) (eq. 3.3.1.12), here `m.well_conditioned()`; lengths in units of the "
        "arm's reach, joints without limits. The thesis prints none. From there each pose of a path starts from the one "
        "before; the move of section 4.4 with its 21 nodes, to the listing's 1e-6."
    )
    rows = (
        statement(
            "cond, twist of the hand", "free of theta1, theta6", "5 other angles", greatest(condition(m, turned) - condition(m, q))
        ),
        statement("cond(J) of 3.3.1.19", "free of theta1, theta6", "5 other angles", greatest(printed - alone), reason=NOT_INVARIANT),
        statement("iterations for a pose", "2 or 3, at times 1", phrase("{low} to {high}", low=min(steps), high=max(steps)), max(0, max(steps) - 3), tolerance=0),
    )  # fmt: skip
    lines = []
    for name in ("rojas_t3", "puma560", "stanford_arm"):
        arm = es.load(name)
        best = arm.well_conditioned(limits=False)
        lines.append((name, f"{condition(arm, arm.home()):.1f}", f"{condition(arm, best):.1f}"))
    found = Exhibit(("", "cond at home", "least cond"), tuple(lines), "Best-conditioned starts")
    return Section("3.3.1 The best-conditioned start", text, rows, THESIS, (found,))


def _steps(m: es.Mechanism) -> list[int]:
    """How many iterations each pose of the straight move takes, the first left out: it is where the robot stands."""
    q, counts = m.home(), []
    for t in np.linspace(0, 1, 21):
        pose = es.algebra.pose(
            straight_line.ORIENTATION,
            [straight_line.X, float(straight_line.law()(t)), straight_line.Z],
        )
        found = m.newton_gauss(pose, q, tolerance=straight_line.STOP)
        q = found.q[-1]
        counts.append(len(found.q) - 1)
    return counts[1:]


# -- 3.3.3 ------------------------------------------------------------------------------------------------------------


@cache
def solved() -> dict[tuple[str, Any], Any]:
    """The 7R loop by six and by seven equations, in double and in single precision."""
    exact = rojas_loops.seven_motion()
    chain, pose, twist, change = rojas_loops.six_joint_task()
    return {
        (name, kind): chain.newton_gauss(
            pose, exact[0] + NEAR, twist=twist, acceleration=change, equations=word, iterations=8, tolerance=0.0, dtype=kind
        )
        for name, word in WAYS.items()
        for kind in (float, np.float32)
    }  # fmt: skip


@cache
def errors_of_theta2() -> dict[tuple[str, Any], list[Floats]]:
    """Of theta2 and its two rates, against the closed form."""
    exact = rojas_loops.seven_motion()
    return {
        way: [
            np.abs(x[:, 1] - y[:, 1]) for x, y in zip((run.q[-1], run.v, run.a), exact, strict=True)
        ]
        for way, run in solved().items()
    }


def six_and_seven() -> Section:
    """Errors of theta2 and its rates against the closed form, as in figures 3.3.3 to 3.3.5."""
    found, errors = solved(), errors_of_theta2()
    labels = ("theta2, rad", "theta2', rad/s", "theta2'', rad/s²")
    many = f"worst of {len(rojas_loops.SEVEN)} configurations"
    rows = tuple(
        statement(
            phrase("{name}: {label}", name=name, label=label),
            "3.3.3.7, differentiated",
            many,
            error.max(),
            tolerance=1e-8,
        )
        for name in WAYS
        for label, error in zip(labels, errors[name, float], strict=True)
    )
    singly = tuple(
        (
            label,
            *(
                f"{pick(errors[name, np.float32][k]):.0e}"
                for name in WAYS
                for pick in (np.median, np.max)
            ),
        )
        for k, label in enumerate(labels)
    )
    columns = (
        "",
        *(
            phrase("{name}, {word}", name=name, word=word)
            for name in WAYS
            for word in ("median", "worst")
        ),
    )
    residuals = tuple(
        (f"{k}", *(f"{found[name, float].residual[k].max():.0e}" for name in WAYS))
        for k in range(6)
    )
    text = (
        "The 7R loop again, by the plain iteration `m.newton_gauss` with the equations 3.3.1.9: all seven, and six without the "
        "redundant one of the trace (3.3.1.9b); starts 0.001 rad off. The curves of figures 3.3.3 to 3.3.5, which are to show "
        "how the redundant row filters round-off, are lost. In single precision it makes little difference here, where the hand "
        "turns by 122 to 180 degrees and neither matrix is spuriously singular. Tolerance 1e-8: double precision times cond(J), "
        "up to 1.5e4, for each derivative once more."
    )
    exhibits = (
        Exhibit(columns, singly, "Errors in single precision"),
        Exhibit(("iteration", *WAYS), residuals, "Residual by step"),
    )
    return Section(
        "3.3.3 Six equations and seven (figures 3.3.3 to 3.3.5)", text, rows, THESIS, exhibits
    )


def figure() -> Figure:
    """Figures 3.3.3 to 3.3.5, in single precision as the thesis ran."""
    x = np.degrees(rojas_loops.SEVEN)
    kinds = (
        ("Angle θ2", "error [rad]"),
        ("Its rate", "error [rad/s]"),
        ("Its acceleration", "error [rad/s²]"),
    )
    panels = []
    for k, (title, label) in enumerate(kinds):
        curves = {name: np.maximum(errors_of_theta2()[name, np.float32][k], LEAST) for name in WAYS}
        panels.append(Panel(title, label, x, curves, "θ1 [°]", "y"))
    steps = np.arange(6.0)
    left = {name: solved()[name, float].residual[:6].max(axis=1) for name in WAYS}
    panels.append(
        Panel(
            "Residual by iteration, double precision",
            "residual [m, rad]",
            steps,
            left,
            "iteration",
            "y",
        )
    )
    title = "Figures 3.3.3 to 3.3.5: errors of the 7R loop in single precision"
    return Figure("figures_3_3_3_to_3_3_5_round_off", title, panels, caption=CAPTION)


# -- 3.4 --------------------------------------------------------------------------------------------------------------


def spurious() -> Section:
    """Where S = 1 tr R - R is singular though the robot is not."""
    axis, angles = np.array([1.0, 2.0, 2.0]) / 3, np.radians([10, 40, 75, 100, 130, 170])
    R = np.stack([es.algebra.rotation_about(axis, x) for x in angles])
    trace = np.trace(R, axis1=1, axis2=2)
    inverse = (R * trace[:, None, None] + np.swapaxes(R, 1, 2)) / (trace**2 - 1)[:, None, None]
    quarter, half = (_ranks(es.algebra.rotation_about(axis, x)) for x in (np.pi / 2, np.pi))
    many = f"worst of {len(angles)} angles"
    rows = (
        statement("S^-1", "(R tr R + R^T)/(tr² R - 1)", many, greatest(_matrix(R)[:, :3] @ inverse - np.eye(3))),
        statement("tr² R - 1", "4 (1 + cos phi) cos phi", many, greatest(trace**2 - 1 - 4 * (1 + np.cos(angles)) * np.cos(angles))),
        statement("phi = 90: rank of S", "2", f"{quarter[0]}", abs(quarter[0] - 2), tolerance=0),
        statement("phi = 90: with the trace", "full, 3", f"{quarter[1]}", abs(quarter[1] - 3), tolerance=0),
        statement("phi = 180: with the trace", "deficient", f"{half[1]}", float(half[1] >= 3), tolerance=0),
    )  # fmt: skip
    text = (
        "S = 1 tr R - R stands in the rows of the rotation (3.3.1.15a). Six equations are singular at phi = 90 degrees where the "
        "robot is not; the row of the trace makes up for it. `m.inverse_kinematics` iterates on the error of the rotation, "
        "which is small at a solution, and has neither singularity."
    )
    return Section("3.4 Spurious singularities", text, rows, THESIS)


def _matrix(R: Any) -> Any:
    """[1 tr R - R; -2 vect(R)^T]."""
    S = np.trace(R, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - R
    return np.concatenate([S, -2 * np.asarray(vect(R))[..., None, :]], axis=-2)


def _ranks(R: Any) -> tuple[int, int]:
    """Of S, and of S with the row of the trace."""
    return tuple(int(np.linalg.matrix_rank(_matrix(R)[:k], tol=1e-9)) for k in (3, 4))  # type: ignore[return-value]
