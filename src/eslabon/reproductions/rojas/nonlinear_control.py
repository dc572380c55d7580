"""Section 5.6 carried on: modal control on the nonlinear robot along its move, as the end of chapter 5 leaves it to be done."""

from __future__ import annotations

from functools import cache

import numpy as np

from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.motion.motion_forms import as_trajectory
from eslabon.motion.simulation.simulate import simulate
from eslabon.motion.trajectory import Trajectory
from eslabon.reproductions.comparison import THESIS, Exhibit, Section
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.rojas.listing import SLIPS, Arm, position_matrix
from eslabon.reproductions.rojas.modal_gains import DAMPING, FREQUENCY
from eslabon.reproductions.rojas.rojas_tables import MIDDLE
from eslabon.reproductions.rojas.straight_line import linear, robot, whole
from eslabon.reproductions.verdicts import greatest, statement
from eslabon.systems.control.control_law import ControlLaw
from eslabon.systems.control.modal_law import modal, scheduled_feedback
from eslabon.systems.control.perturbed_inertias import perturbed
from eslabon.systems.control.pole_placement import place

GRAVITY = 9.81  # upward, as the listing has it
INSTANTS = np.linspace(0.0, 1.0, 41)  # of the tables of gains
OFF, SMALL = 0.01, 1e-5  # rad by which every joint starts off
END = 6.0  # s; the hand rests at its goal from 1 s on
HEAVIER = 1.01  # the robot's inertias over those that the laws know
EXACT, LISTING, JOINTS, LEAST = (
    "exact K(t)",
    "K(t) of the listing",
    "independent joints",
    "least norm, constant",
)
SPREAD = np.linspace(
    0.75, 1.25, 6
)  # frequencies of six oscillators, since equal ones leave the gains no choice
WITH_SLIPS = "With the listing's W the gains are not those of the model, by 5.3: the joints couple."
TEXT = (
    "The robot with its full equations of motion along the straight line of one metre, under the torques of the move and a feedback of "
    "deviations: the gains Kp(t) and Kd(t) of 5.6.7 and 5.6.8 with the exact W, the same with the listing's W, and each joint by itself "
    "with the mean of its own inertia, which the thesis means to improve upon. Omega is 1 rad/s, as in the thesis. The hand's distance "
    "from where it should be, in mm, after all joints start 0.01 rad off, and with inertias one hundredth larger than the laws know. Of "
    "least norm (Keel) are constant gains that place the poles of six oscillators of 0.75 to 1.25 rad/s at 0.45 s; six equal ones leave "
    "no choice, and their gains are the modal ones. The least gains make badly conditioned eigenvectors, which amplify deviations."
)


@cache
def laws() -> dict[str, ControlLaw]:
    """The four laws, with the same torques along the move."""
    m, move = robot(GRAVITY), as_trajectory(robot(GRAVITY), whole())
    state = move.at(INSTANTS)
    lm = m.linearize(state.q, state.v, a=state.a)
    spring, damper = FREQUENCY**2, 2 * DAMPING * FREQUENCY
    listed = np.array([
        position_matrix(Arm.of(m, *x), SLIPS) for x in zip(state.q, state.v, state.a, strict=True)
    ])  # fmt: skip
    own = np.broadcast_to(np.diag(np.diagonal(lm.U, axis1=1, axis2=2).mean(axis=0)), lm.U.shape)
    least = np.broadcast_to(least_gains(), (len(INSTANTS), 6, 12))
    damping = damper * lm.U - lm.V
    gains = {
        LISTING: np.concatenate([spring * lm.U - listed, damping], axis=-1),
        JOINTS: np.concatenate([spring * own, damper * own], axis=-1),
        LEAST: least,
    }
    others = {
        name: scheduled_feedback(m, move, INSTANTS, np.concatenate([K, lm.tau[..., None]], -1), "scheduled feedback")
        for name, K in gains.items()
    }  # fmt: skip
    return {EXACT: modal(m, move, FREQUENCY, DAMPING), **others}


@cache
def least_gains() -> Floats:
    """K at 0.45 s with the poles of six oscillators, of least norm."""
    half = DAMPING + 1j * np.sqrt(1 - DAMPING**2)
    poles = np.concatenate([-SPREAD * half, -SPREAD * half.conjugate()])
    return place(linear(MIDDLE, GRAVITY), poles, method="minimum_norm").K


def run(name: str, off: float, inertia: float = 1.0) -> Trajectory:
    """The nonlinear robot under a law, all joints off by so much at the start."""
    m, move = robot(GRAVITY), whole()
    tried, _ = perturbed(m, 0.5, 1)
    factors = {p: inertia for p in tried.parameters if p not in m.parameters}
    t = np.linspace(0.0, END, 601)
    return simulate(
        tried, move.q[0] + off, move.v[0], t, laws()[name], parameters=factors, method="rk4", step=2e-3, progress=False
    )  # fmt: skip


def hand_error(motion: Trajectory) -> Floats:
    """How far the hand is from where it should be, in mm."""
    m, move = robot(GRAVITY), as_trajectory(robot(GRAVITY), whole())
    wanted = move.at(np.minimum(motion.t, move.span[1])).q
    apart = m.pose(motion.q, "tool")[..., :3, 3] - m.pose(wanted, "tool")[..., :3, 3]
    return np.asarray(1e3 * np.linalg.norm(apart, axis=-1))


def oscillation(t: Floats) -> Floats:
    """x of x'' + 2 zeta w x' + w^2 x = 0 from x = 1 at rest."""
    w, rate = FREQUENCY * np.sqrt(1 - DAMPING**2), FREQUENCY * DAMPING
    return np.asarray(np.exp(-rate * t) * (np.cos(w * t) + rate / w * np.sin(w * t)))


def departure(name: str) -> float:
    """How far small deviations of the joints are from those of the oscillator, over the deviation at the start."""
    motion = run(name, SMALL)
    rest = run(name, 0.0).q  # what is left of the interpolation of the move
    deviation = (motion.q - rest) / SMALL
    return greatest(deviation - oscillation(motion.t)[:, None])


def section() -> Section:
    rows = (
        statement(EXACT, "each joint an oscillator", "small deviations", departure(EXACT), tolerance=1e-2),
        statement(LISTING, "each joint an oscillator", "small deviations", departure(LISTING), tolerance=1e-2, reason=WITH_SLIPS),
    )  # fmt: skip
    lines = []
    for name in laws():
        errors = [hand_error(run(name, OFF)), hand_error(run(name, 0.0, HEAVIER))]
        size = np.linalg.norm(gains_at(name), axis=(-2, -1)).max()
        lines.append(
            (name, f"{size:.0f}", *(f"{f(x):.2f}" for x in errors for f in (np.max, _rms, _last)))
        )
    columns = (
        "law", "|K|", "off: greatest, mm", "off: rms, mm", "off: at 6 s, mm",
        "heavier: greatest, mm", "heavier: rms, mm", "heavier: at 6 s, mm",
    )  # fmt: skip
    shown = Exhibit(columns, tuple(lines), "Error of the hand on the nonlinear robot")
    return Section("5.6 The nonlinear robot", TEXT, rows, THESIS, (shown,))


def gains_at(name: str) -> Floats:
    """Kp and Kd side by side, at the instants."""
    data = laws()[name].data
    return np.concatenate([data["Kp"], data["Kd"]], axis=-1)


def _rms(x: Floats) -> float:
    return float(np.sqrt(np.mean(x**2)))


def _last(x: Floats) -> float:
    return float(x[-1])


def figure() -> Figure:
    """The error of the hand in time."""
    panels = []
    for title, off, inertia in (
        ("All joints 0.01 rad off", OFF, 1.0),
        ("Inertias one hundredth larger", 0.0, HEAVIER),
    ):
        runs = {name: run(name, off, inertia) for name in (EXACT, LISTING, JOINTS)}
        t = next(iter(runs.values())).t
        panels.append(
            Panel(title, "error of the hand [mm]", t, {n: hand_error(x) for n, x in runs.items()})
        )
    caption = "The hand of the nonlinear T3 on its straight line, which ends after one second, under three feedbacks."
    return Figure(
        "section_5_6_nonlinear", phrase("Section 5.6: the nonlinear robot"), panels, caption=caption
    )
