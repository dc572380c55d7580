"""Curves of the planar arm: its motion by the paper's sums, what the errata change, and its free swing. The paper has none."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import eslabon as es
from eslabon.mechanism import Floats
from eslabon.reproductions.document_figures import ORIGIN, Figure, Panel, moved
from eslabon.reproductions.recursions import by_quaternions

MOVING = (
    "The arm swings both joints; velocity and acceleration of its tip by the sums (18) and (19) of the paper, and the torques by the "
    "quaternion formulation (28). The compiled kinematics gives the same to round-off."
)
SLIPPED = (
    "Along the same motion: kinetic energy as printed counts translation twice (erratum 9); potential energy has the other sign (10); "
    "the velocity of the second centre of mass has one direction where it needs two (12); and without brackets the centripetal "
    "terms of (19) vanish (4)."
)
SWINGING = (
    "Let go from rest under gravity, integrated with the quaternion formulation: energies, whose sum is kept, and how far the same "
    "run with Lagrange's formulation has come off by round-off and steps."
)


@cache
def motion() -> tuple[es.Mechanism, Floats, Floats, Floats, Floats]:
    """theta1 = 30 + 40 sin(pi t), theta2 = 60 - 50 sin(pi t) degrees for two seconds."""
    m, t = es.load("mendez_2r"), np.linspace(0, 2, 201)
    size, w = np.radians([40, -50]), np.pi
    q = np.radians([30, 60]) + np.sin(w * t)[:, None] * size
    return m, t, q, w * np.cos(w * t)[:, None] * size, -(w**2) * np.sin(w * t)[:, None] * size


@cache
def tip() -> tuple[Floats, Floats]:
    """Velocity and acceleration of the tip by the paper's sums, in the plane."""
    m, _, *states = motion()
    points = [by_quaternions(m, q, v, a, "tip") for q, v, a in zip(*states, strict=True)]
    return np.array([p.velocity[:2] for p in points]), np.array(
        [p.acceleration[:2] for p in points]
    )


def moving() -> Figure:
    m, t, q, v, a = motion()
    velocity, acceleration = tip()
    torques = m.inverse_dynamics(q, v, a, "quaternion")
    panels = [
        Panel("Angles", "angle [°]", t, {"θ1": np.degrees(q[:, 0]), "θ2": np.degrees(q[:, 1])}),
        Panel(
            "Velocity of the tip (18)",
            "velocity [m/s]",
            t,
            {"x": velocity[:, 0], "y": velocity[:, 1]},
        ),
        Panel(
            "Acceleration of the tip (19)",
            "acceleration [m/s²]",
            t,
            {"x": acceleration[:, 0], "y": acceleration[:, 1]},
        ),
        Panel("Torques (28)", "torque [N m]", t, {"τ1": torques[:, 0], "τ2": torques[:, 1]}),
    ]
    line: Any = (("bar1", ORIGIN), ("bar2", ORIGIN), ("tip", ORIGIN))
    drawing = moved("The planar arm", m, t, q, (0, 25, 50, 150), [line], ("bar1",))
    return Figure(
        "planar_arm_motion",
        "The planar arm along a motion, by quaternions",
        panels,
        drawing,
        MOVING,
    )


def slipped() -> Figure:
    m, t, q, v, a = motion()
    n, kinetic, potential = m.parameters, *m.energy(q, v).T
    spin, angle = np.cumsum(v, axis=1), np.cumsum(q, axis=1)
    second = (n["l1"] + n["lc2"] * np.exp(1j * q[:, 1])) * np.exp(
        1j * angle[:, 0]
    )  # centre of mass of bar 2
    twice = (
        kinetic
        + (n["m1"] * (n["lc1"] * spin[:, 0]) ** 2 + n["m2"] * np.abs(second) ** 2 * spin[:, 1] ** 2)
        / 2
    )
    right = np.hypot(
        *(
            n["l1"] * spin[:, :1] * _across(angle[:, 0])
            + n["lc2"] * spin[:, 1:] * _across(angle[:, 1])
        ).T
    )
    wrong = np.abs(n["l1"] * spin[:, 0] + n["lc2"] * spin[:, 1])
    acceleration = tip()[1]
    tangential = np.array(
        [m.jacobian(x, "tip", axes="aligned")[3:5] @ y for x, y in zip(q, a, strict=True)]
    )
    panels = [
        Panel("Kinetic energy, erratum 9", "energy [J]", t, {"right": kinetic, "as printed": twice}),
        Panel("Potential energy, erratum 10", "energy [J]", t, {"right": potential, "as printed": -potential}),
        Panel("Speed of the second centre, erratum 12", "speed [m/s]", t, {"right": right, "as printed": wrong}),
        Panel("Acceleration of the tip, erratum 4", "acceleration [m/s²]", t,
              {"right": np.hypot(*acceleration.T), "without brackets": np.hypot(*tangential.T)}),
    ]  # fmt: skip
    return Figure(
        "errata_in_use",
        "What the errata of the print change along the motion",
        panels,
        caption=SLIPPED,
    )


def _across(angle: Floats) -> Floats:
    return np.stack([-np.sin(angle), np.cos(angle)], axis=-1)


def swinging() -> Figure:
    m, t = es.load("mendez_2r"), np.linspace(0, 4, 401)
    start = np.radians([0.0, 40.0])
    run, other = (
        m.simulate(start, None, t, formulation=f, rtol=1e-10, atol=1e-12)
        for f in ("quaternion", "lagrange")
    )
    kinetic, potential = m.energy(run.q, run.v).T
    apart = np.maximum(np.abs(run.q - other.q).max(axis=1), 1e-16)
    panels = [
        Panel(
            "Angles",
            "angle [°]",
            run.t,
            {"θ1": np.degrees(run.q[:, 0]), "θ2": np.degrees(run.q[:, 1])},
        ),
        Panel(
            "Energy",
            "energy [J]",
            run.t,
            {"kinetic": kinetic, "potential": potential, "sum": kinetic + potential},
        ),
        Panel(
            "Departure of the sum",
            "|change| [J]",
            run.t[1:],
            {"": _positive(kinetic + potential)},
            logarithmic="y",
        ),
        Panel(
            "Quaternions and Lagrange", "|Δθ| [rad]", run.t[1:], {"": apart[1:]}, logarithmic="y"
        ),
    ]
    drawing_line: Any = (("bar1", ORIGIN), ("bar2", ORIGIN), ("tip", ORIGIN))
    drawing = moved("Free swing", m, run.t, run.q, (0, 40, 80, 120), [drawing_line], ("bar1",))
    return Figure(
        "free_swing", "The planar arm let go, integrated by quaternions", panels, drawing, SWINGING
    )


def _positive(total: Floats) -> Floats:
    """Its change since the start, at least round-off, for a logarithmic axis."""
    return np.asarray(np.maximum(np.abs(total[1:] - total[0]), 1e-16))
