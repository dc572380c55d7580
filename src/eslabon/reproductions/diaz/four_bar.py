"""Example 1, figure 2: the four-bar, there by inverse dynamics and back by forward dynamics."""

from __future__ import annotations

from functools import cache

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.comparison import PAPER, RECOMPUTED, Exhibit, Row, Section
from eslabon.reproductions.diaz.diaz_equations import explicit_error
from eslabon.reproductions.diaz.forms import Answer, Reduced, integrate
from eslabon.reproductions.document_figures import ORIGIN, Figure, Panel, moved
from eslabon.reproductions.verdicts import greatest, number, statement

TORQUES = (
    ("0", "1.312927165"), ("0.5", "0.694364457"), ("1", "-0.014869180"), ("1.5", "-0.585937339"), ("2", "-0.875272081"),
    ("2.5", "-0.584766831"),
)  # fmt: skip
CUT_OFF = "{exact:.6f} rounds to {rounded:.3f}; the print has cut the digits off."


@cache
def motion() -> tuple[es.Mechanism, Floats, tuple[Floats, Floats, Floats], Floats]:
    """Bar 1 at 1 rad/s for 2.5 s (L101): times, motion, torque."""
    m, t = es.load("diaz_four_bar"), np.linspace(0, 2.5, 251)
    q, v, a = m.complete(0.785 + t[:, None], np.ones((len(t), 1)), np.zeros((len(t), 1)))
    return m, t, (q, v, a), m.inverse_dynamics(q, v, a)


def printed_angles(q: Floats) -> Floats:
    """The angles as the paper has them: absolute, the third from coupler to ground."""
    return np.stack([q[..., 0], q[..., 0] + q[..., 1], q[..., 2] - np.pi], axis=-1)


def exact_torque(t: float) -> Floats:
    m, times, (q, _, _), _ = motion()
    return m.inverse_dynamics(
        *m.complete([0.785 + t], [1.0], [0.0], guess=q[np.abs(times - t).argmin()])
    )


@cache
def forward_runs() -> dict[str, Answer]:
    """Forward runs under the torque, by what gives it and how it is integrated."""
    from scipy.interpolate import CubicSpline

    m, t, (q, v, _), tau = motion()
    spline = CubicSpline(t, tau)
    return {
        "exact torque, 1e-12": integrate(
            Reduced(m, exact_torque, q[0]), v[0], 2.5, "DOP853", 1e-12
        ),
        "251 samples, 1e-12": integrate(Reduced(m, spline, q[0]), v[0], 2.5, "DOP853", 1e-12),
        "251 samples, Adams, 1e-6": integrate(Reduced(m, spline, q[0]), v[0], 2.5, "LSODA", 1e-6),
    }


def departure(run: Answer) -> Floats:
    """How far theta1 is from the straight line."""
    return np.abs(run.q[:, 0] - 0.785 - run.t)


# -- sections ---------------------------------------------------------------------------------------------------------


def sections() -> tuple[Section, ...]:
    return there_and_back(), torque()


def there_and_back() -> Section:
    rows = [*_start(), *_equations()]
    rows += [
        statement(name, "theta1 linear (L108)", f"{run.evaluations} evaluations", greatest(departure(run)), tolerance=limit)
        for (name, run), limit in zip(forward_runs().items(), (1e-9, 1e-9, 1e-5), strict=True)
    ]  # fmt: skip
    text = (
        "One-freedom four-bar, bars 1, 3, 1.75 m on a ground of 3 m; the angles are absolute, theta3 from coupler to ground. "
        "Inverse dynamics at a constant 1 rad/s gives the torque; under it forward dynamics must give the straight line theta1 "
        "= 0.785 + t back. The difference is the greatest departure, in rad. Centres of mass in the middle of the bars and no "
        "gravity are assumed; the printed moments are not those of uniform bars, which would be m L²/12."
    )
    return Section("Example 1: there and back", text, tuple(rows), PAPER)


def _start() -> list[Row]:
    m, _, (q, _, _), _ = motion()
    _, theta2, theta3 = printed_angles(q[0])
    p, printed = m.parameters, np.array([0.785, 0.323, -1.892])
    bars = np.array([p["L1"], p["L2"], p["L3"]])
    gap = np.array([bars @ np.cos(printed) - p["L4"], bars @ np.sin(printed)])
    return [
        number(
            "theta2, rad (L101)",
            "0.323",
            theta2,
            reason=phrase(CUT_OFF, exact=theta2, rounded=theta2),
        ),
        number("theta3, rad (L101)", "-1.892", theta3),
        statement(
            "printed angles",
            "close",
            "({:.4f}, {:.4f}) m".format(*gap),
            greatest(gap),
            tolerance=2e-3,
        ),
    ]


def _equations() -> list[Row]:
    m, _, (q, v, a), tau = motion()
    by_q, by_v = (m.derivative("energy", x, q, v)[:, 0] for x in "qv")
    power = (by_q * v).sum(-1) + (by_v * a).sum(-1)
    error = explicit_error(m, q[::25], v[::25], tau[::25])
    return [
        statement(
            "torque by virtual work",
            "tau w1 = dT/dt",
            "rate of m.energy",
            greatest(tau[:, 0] - power),
        ),
        statement("eq. 4 number by number", "accelerations", "a1 = 0", error),
    ]


def torque() -> Section:
    _, t, (q, v, _), tau = motion()
    rows = [
        number(f"t = {s}: torque, N m", text, tau[round(100 * float(s)), 0]) for s, text in TORQUES
    ]
    lines = [
        (
            f"{t[k]:g}",
            *(f"{x:.6f}" for x in (*printed_angles(q[k]), v[k, 1] + 1, v[k, 2], tau[k, 0])),
        )
        for k in range(0, 251, 50)
    ]
    columns = (
        "t, s",
        "theta1",
        "theta2",
        "theta3",
        "theta2', rad/s",
        "theta3', rad/s",
        "torque, N m",
    )
    shown = Exhibit(columns, tuple(lines), "The motion in the paper's angles, rad")
    text = "The torque that keeps bar 1 at 1 rad/s."
    return Section("Example 1: the torque", text, tuple(rows), RECOMPUTED, (shown,))


def figure() -> Figure:
    """Figure 2, and what belongs to it."""
    m, t, (q, _, _), tau = motion()
    samples = forward_runs()["251 samples, 1e-12"]
    theta1 = np.interp(t, samples.t, samples.q[:, 0])
    _, theta2, theta3 = printed_angles(q).T
    off = {"": departure(samples)[1:]}
    panels = [
        Panel(
            "Angle of bar 1 (figure 2)",
            "θ1 [rad]",
            t,
            {"forward dynamics": theta1, "0.785 + t": 0.785 + t},
        ),
        Panel("Torque from inverse dynamics", "torque [N m]", t, {"τ1": tau[:, 0]}),
        Panel("The other angles", "angle [rad]", t, {"θ2": theta2, "θ3": theta3}),
        Panel(
            "θ1 less the straight line, 251 samples",
            "|departure| [rad]",
            samples.t[1:],
            off,
            logarithmic="y",
        ),
    ]
    line = (("bar1", ORIGIN), ("bar2", ORIGIN), ("bar2", (3.0, 0.0, 0.0)), ("bar3", ORIGIN))
    drawing = moved("Four-bar", m, t, q, (0, 100, 250), [line], pivots=("bar1", "bar3"))
    title = "Example 1: the torque of inverse dynamics drives forward dynamics"
    caption = (
        "The four-bar at three instants; the angle of bar 1 that forward dynamics gives back, on the straight line it must be; the torque "
        "that inverse dynamics asks for; the other two angles; and how far forward dynamics has come off the line."
    )
    return Figure("figure_2_four_bar", title, panels, drawing, caption)
