"""The straight-line move of the T3 robot, sections 4.4, 5.4 and 5.6: joint motions and torques at two instants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.motion import paths
from eslabon.reproductions.comparison import FORMS, THESIS, Exhibit, Row, Section
from eslabon.reproductions.rojas.path_program import splined_cycloid
from eslabon.reproductions.rojas.rojas_tables import (
    CENTRES,
    LENGTHS,
    MASSES,
    MIDDLE,
    MOMENTS,
    START,
    Instant,
)
from eslabon.reproductions.verdicts import as_printed, erratum, greatest, number, numbers, statement
from eslabon.solve.target import Target
from eslabon.systems.linear import LinearModel

# -- the accuracy of the print ----------------------------------------------------------------------------------------

STOP = 1e-6  # the Newton-Gauss of the listing stops there (TOL, L3127-3203), in metres and radians
ANGLES = float(
    np.degrees(2 * STOP)
)  # what that leaves in an angle: |J^-1| is up to 3 here, 1 to 2 for most joints
HALF_ULP = 2.0**-24  # of a REAL*4
SUM = 4 * HALF_ULP  # a torque is a sum over links: a few roundings of its largest terms

UPWARD = (
    "The text puts Z1 upwards and g = (0, 0, -9.81) (L1678); the listing has the opposite sign (L4629, L4686, L4740), and "
    "the print follows the listing: its torques hold the arm down."
)
ROUNDED = (
    "For a single instant the listing reads y, y', y'' with five decimals (L3021-3029; here y = {rounded} for {law:.9f}) "
    "and prints, in degrees, the angles it starts from (L3054), as it seems those of an earlier run along the law. So the "
    "tables' angles belong to the law, their rates and torques to the rounded task."
)

# -- the task ---------------------------------------------------------------------------------------------------------

X, Z = 1.33125, 1.79875
ORIENTATION = np.array(
    [[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]
)  # 2 vect = (1, 1, -1), trace 0


@cache
def robot(gravity: float = -9.81) -> es.Mechanism:
    return es.Mechanism(replace(es.load("rojas_t3").description, gravity=(0.0, 0.0, gravity)))


def law() -> Any:
    """The motion law beta(t), which the thesis does not print: inferred from y, y', y'' at the two instants."""
    return splined_cycloid(1.0)


@dataclass(frozen=True)
class Joints:
    """Angles, rates and accelerations of the joints, and the condition number of the Jacobian."""

    q: Floats
    v: Floats
    a: Floats
    condition: float

    def torques(self, gravity: float) -> Floats:
        return robot(gravity).inverse_dynamics(self.q, self.v, self.a)


def joints(y: Sequence[float], z: Sequence[float] = (Z, 0.0, 0.0)) -> Joints:
    """The joints' motion while the hand is at y and z, moving with their rates and accelerations."""
    pose = es.algebra.pose(ORIENTATION, [X, y[0], z[0]])
    twist, change = ([0.0, 0.0, 0.0, 0.0, y[order], z[order]] for order in (1, 2))
    m = robot()
    made = m.complete(Target(pose=pose), twist, change, m.home(), limits=False, report=True)
    return Joints(made.q, made.v, made.a, float(made.condition))


def on_the_law(t: float) -> Joints:
    return joints([float(law()(t, order)) for order in range(3)])


def as_tabled(at: Instant) -> Joints:
    """With y and its rates to the five decimals that the table has."""
    return joints([float(text) for text in at.hand])


@cache
def linear(at: Instant, gravity: float = 9.81) -> LinearModel:
    """The exact linear model at an instant of the tables, with the listing's gravity unless another is given."""
    moving = as_tabled(at)
    return robot(gravity).linearize(moving.q, moving.v, a=moving.a)


@cache
def whole() -> Any:
    """The joints' motion along the whole path, at 101 instants."""
    hand = paths.along(paths.line([X, 0, Z], [X, 1, Z]), law(), ORIENTATION)
    return robot().follow(hand, robot().home(), limits=False)


# -- sections ---------------------------------------------------------------------------------------------------------


def sections() -> tuple[Section, ...]:
    return (
        data(), whole_motion(),
        *(instant(at) for at in (START, MIDDLE)), two_configurations(), gravity_sign(),
    )  # fmt: skip


def data() -> Section:
    m = es.load("rojas_t3")
    links = [_link(m, k) for k in range(6)]
    columns = (
        "link",
        "d m",
        "b m",
        "alpha deg",
        "theta deg",
        "mass kg",
        "rho m",
        "Ixx Iyy Izz kg m²",
    )
    lines = tuple(
        (
            f"{k + 1}",
            *(_n(x) for x in (*link[:4], link[4])),
            " ".join(map(_n, link[5:8])),
            " ".join(map(_n, link[8:])),
        )
        for k, link in enumerate(links)
    )
    printed = np.column_stack([LENGTHS, MASSES, CENTRES, MOMENTS])
    error = np.abs(np.array(links) - printed).max(axis=0)
    parts = {
        "d, b": slice(0, 2),
        "alpha, theta": slice(2, 4),
        "masses": slice(4, 5),
        "rho": slice(5, 8),
        "I": slice(8, 11),
    }
    rows = tuple(
        statement(
            name, f"{6 * len(error[part])} numbers", "as loaded", error[part].max(), tolerance=1e-12
        )
        for name, part in parts.items()
    )
    text = (
        "The robot as `es.load('rojas_t3')` has it, taken back to the thesis' frames: rho from the far frame of each "
        "link, I about the centre of mass. Products of inertia are zero."
    )
    return Section(
        "4.4 Table 4.4.1: the T3 robot",
        text,
        rows,
        ("", "printed", "computed"),
        (Exhibit(columns, lines),),
    )


def _link(m: es.Mechanism, k: int) -> tuple[float, ...]:
    """d, b, alpha, theta, mass, rho and moments of a link in the frame at its far end."""
    far = m.joints[k + 1].at if k < 5 else m.frame("tool").at
    body, R, p = m.bodies[k], np.asarray(far.rotation()), np.asarray(far.translation())
    rho = R.T @ (np.array(body.com, dtype=float) - p)
    moments = np.diag(R.T @ np.asarray(body.inertia_matrix()) @ R)
    return (p[0], p[2], *np.degrees([far.rpy[0], m.home()[k]]), body.mass, *rho, *moments)


def _n(x: float) -> str:
    return f"{round(float(x), 9) + 0.0:.6g}"


def whole_motion() -> Section:
    """What the thesis says of the motion as a whole (L1866), at 101 instants."""
    m = robot()
    motion = whole()
    deg = np.degrees(motion.q)
    torques = {f: m.inverse_dynamics(motion.q, motion.v, motion.a, f) for f in FORMULATIONS}
    reference, every = torques["newton_euler"], "worst of 101 instants"
    scale = greatest(reference)
    rows = [
        statement(
            phrase("{name}, relative", name=name),
            "agrees to 7 digits",
            every,
            greatest(tau - reference) / scale,
            tolerance=1e-7,
        )
        for name, tau in torques.items()
        if name != "newton_euler"
    ]
    rows += [
        statement("theta6, deg", "90", every, greatest(deg[:, 5] - 90)),
        statement("its rates", "0", every, max(greatest(motion.v[:, 5]), greatest(motion.a[:, 5]))),
        statement("its torque, N m", "0", every, greatest(reference[:, 5])),
        statement(
            "theta5 - theta1, deg",
            "90 (in the tables)",
            every,
            greatest(deg[:, 4] - deg[:, 0] - 90),
        ),
        statement(
            "theta2 + theta3 + theta4",
            "0 (in the tables)",
            every,
            greatest(deg[:, 1:4].sum(axis=1)),
        ),
        statement(
            "greatest torque",
            "that of joint 2",
            "over the motion",
            float(_strongest(reference) != 2),
            tolerance=0,
        ),
    ]
    text = (
        "The thesis had Lagrange's equations (4.3.33) and Newton-Euler's (4.2.3, 4.2.4) agree to the seventh digit "
        "(L1866); here all five formulations are run along the move and compared with Newton-Euler. Tolerance 1e-9 for "
        "the rest."
    )
    return Section("4.4 The move as a whole", text, tuple(rows), THESIS)


FORMULATIONS = ("newton_euler", "lagrange", "lie", "gibbs_appell", "quaternion")


def _strongest(torques: Floats) -> int:
    """The joint with the greatest torque."""
    return int(np.abs(torques).max(axis=0).argmax()) + 1


def solved(condition: float, column: Floats) -> float:
    """The noise that solving a linear system in single precision leaves in a column."""
    return HALF_ULP * condition * greatest(column)


def column(
    label: str, texts: Sequence[str], values: Floats, noise: float, reason: str = "", **more: Any
) -> list[Row]:
    """A column of a table, joint by joint."""
    names = [f"{label}{k}" for k in range(1, len(texts) + 1)]
    return numbers(names, texts, values, noise=noise, reason=reason, **more)


def instant(at: Instant) -> Section:
    """The table as it was computed: with the listing's gravity."""
    configuration, moving = on_the_law(at.t), as_tabled(at)
    gravity, torque = robot(9.81).gravity_forces(moving.q), moving.torques(9.81)
    rows = [
        number(name, text, float(law()(at.t, order)))
        for order, (name, text) in enumerate(
            zip(("y, m", "y', m/s", "y'', m/s²"), at.hand, strict=True)
        )
    ]
    rows += column("theta", at.angle, np.degrees(configuration.q), ANGLES)
    rows += column("theta'", at.rate, moving.v, solved(moving.condition, moving.v))
    rows += column("theta''", at.acceleration, moving.a, solved(moving.condition, moving.a))
    rows += column("f grav. ", at.gravity, gravity, SUM * greatest(gravity))
    rows += column("f ", at.torque, torque, SUM * greatest(torque))
    text = phrase(
        "t = {t} s, g = +9.81 along Z1 as in the listing; degrees, rad/s, rad/s², N m. beta(t) is not printed: a "
        "cycloid carried by a spline with 21 nodes is inferred from y, y', y'' at both instants. Angles are those of "
        "the law; rates and torques those of the five printed decimals of y, y', y'' (see below). Noise: "
        "{angles:.1e} degrees in angles (the listing stops at 1e-6); 2^-24 cond(J) = {rates:.1e} of the "
        "column's largest in rates and accelerations, 2^-22 of it in torques (single precision).",
        t=at.t,
        angles=ANGLES,
        rates=HALF_ULP * moving.condition,
    )
    return Section(phrase("{name}, t = {t} s", name=at.name, t=at.t), text, tuple(rows))


def two_configurations() -> Section:
    """What shows that the tables mix two values of y; nothing is judged, for neither choice is a statement of the thesis."""
    lines = []
    for at in (START, MIDDLE):
        law_, tabled = on_the_law(at.t), as_tabled(at)
        shown = [("theta1, deg", at.angle[0], np.degrees(law_.q[0]), np.degrees(tabled.q[0]))]
        shown += [
            (f"theta'{k}, rad/s", at.rate[k - 1], law_.v[k - 1], tabled.v[k - 1]) for k in (2, 3)
        ]
        shown += [
            (f"theta''{k}, rad/s²", at.acceleration[k - 1], law_.a[k - 1], tabled.a[k - 1])
            for k in (2, 3)
        ]
        lines += [
            (
                phrase("t = {t}: {what}", t=at.t, what=what),
                text,
                as_printed(x, text),
                as_printed(y, text),
            )
            for what, text, x, y in shown
        ]
    rounded = phrase(ROUNDED, rounded=START.hand[0], law=float(law()(START.t)))
    text = phrase("{rounded} Below, both choices for what tells them apart.", rounded=rounded)
    found = Exhibit(("", "printed", "y of the law", "y of five decimals"), tuple(lines))
    return Section("5.4, 5.6 Two configurations in one table", text, exhibits=(found,))


def gravity_sign() -> Section:
    """Which way gravity acts in the tables, and the torques with gravity as it is."""
    departures, lines = [], []
    for at in (START, MIDDLE):
        moving = as_tabled(at)
        printed = np.array([float(text) for text in (*at.gravity, *at.torque)])
        weights = {
            g: np.r_[robot(g).gravity_forces(moving.q), moving.torques(g)] for g in (-9.81, 9.81)
        }
        departures.append(
            [greatest(printed - weights[g]) / greatest(printed) for g in (-9.81, 9.81)]
        )
        lines += [
            (
                phrase("t = {t}: joint {k}", t=at.t, k=k + 1),
                at.gravity[k],
                _n(weights[-9.81][k]),
                at.torque[k],
                _n(weights[-9.81][k + 6]),
            )
            for k in range(6)
        ]
    text_sign, listing_sign = np.max(departures, axis=0)
    rows = (
        erratum("g, m/s² (L1678)", "(0, 0, -9.81)", "(0, 0, 9.81)", (text_sign, listing_sign), tolerance=1e-4, reason=UPWARD),
    )  # fmt: skip
    columns = ("N m", "f grav. printed", "g downward", "f printed", "g downward ")
    text = (
        "The greatest departure of both tables' torques, as a part of the greatest one, with either sign; half a unit of five "
        "digits is 5e-5. Below, what the motors of a standing robot have to give, with g = (0, 0, -9.81)."
    )
    return Section(
        "4.3 The sign of gravity", text, rows, FORMS, (Exhibit(columns, tuple(lines), "Torques"),)
    )
