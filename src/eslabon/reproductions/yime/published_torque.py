"""Section 7.2, figure 12: how the published program comes to a torque of about 6 N m for the spatial four-bar (L904)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.comparison import Section
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.verdicts import greatest, number, statement
from eslabon.reproductions.yime import spatial_four_bar, yime_five_bar
from eslabon.reproductions.yime.motions import Run

PEAKS = (
    ("right", "3.943"),
    ("term counted twice", "4.180"),
    ("lengths permuted", "5.221"),
    ("both", "5.261"),
)
UNITS = (
    "The published program works in kg and mm: its curve is in kg mm²/s², a millionth of a N m, and peaks at {both:.2f}. It "
    "also counts the Coriolis term of the universal joint twice (L834) and takes the lengths in its inertias in "
    "another order; with the crank's length for the coupler its peak comes out. Right is {right:.3g} N m."
)


def doubled(r: Run) -> Floats:
    """The accelerations with the term of L834 too many: the axes of the universal joint bracketed besides S'.

    The surplus turns the coupler, and moves its end, L3 along x from the joint; the constraint is that end, in its axes.
    """
    _, *passive = range(r.m.nv)
    first, second = r.column("theta3"), r.column("theta3", 1)
    theta = r.q[:, second]
    axis = np.stack(
        [-np.sin(theta), 0 * theta, np.cos(theta)], -1
    )  # of theta3u, seen from the coupler
    spin = np.cross(axis, [0, 1, 0]) * (r.v[:, first] * r.v[:, second])[:, None]
    surplus = np.cross(spin, [r.m.parameters["L3"], 0, 0])
    wrong = r.a.copy()
    wrong[:, passive] -= np.linalg.solve(
        r.m.constraint_jacobian(r.q)[..., passive], surplus[..., None]
    )[..., 0]
    return wrong


def permuted(m: es.Mechanism) -> es.Mechanism:
    """Crank and coupler with each other's length in their centres of mass and inertias, not in the geometry."""
    p, bodies = m.parameters, []
    for body, length in zip(m.description.bodies, (p["L3"], p["L4"], p["L2"]), strict=True):
        moment = (
            float(p[f"m{ {'crank': 2, 'rocker': 4, 'coupler': 3}[body.name] }"]) * length**2 / 12
        )
        bodies.append(
            replace(body, com=(length / 2, 0.0, 0.0), inertia=(0.0, moment, moment, 0.0, 0.0, 0.0))
        )
    return es.Mechanism(replace(m.description, bodies=tuple(bodies)))


@cache
def variants() -> dict[str, Floats]:
    """The torque in kg mm²/s² for right and permuted lengths, right and doubled term."""
    r = spatial_four_bar.motion()
    other, wrong = permuted(r.m), doubled(r)
    return {
        "right": r.tau[:, 0] * 1e6,
        "term counted twice": r.torque(r.m, wrong)[:, 0] * 1e6,
        "lengths permuted": r.torque(other)[:, 0] * 1e6,
        "both": r.torque(other, wrong)[:, 0] * 1e6,
    }


def sections() -> tuple[Section, ...]:
    peak = {name: greatest(x) for name, x in variants().items()}
    right = greatest(spatial_four_bar.motion().tau)
    why = phrase(UNITS, both=peak["both"], right=right)
    rows = [
        statement(
            "peak torque (L904)",
            "about 6 N m",
            f"{right:.4g} N m",
            6 - right,
            tolerance=0.5,
            reason=why,
        )
    ]
    rows += [
        number(phrase("{name}, kg mm²/s²", name=name), text, peak[name]) for name, text in PEAKS
    ]
    text = (
        "The torque printed as about 6 N m, in the unit of the published program and with its two mistakes put back one at a "
        "time: the surplus term is added to gamma, and the accelerations that follow go into the virtual work."
    )
    headings = ("", "printed or recomputed", "eslabon")
    return (Section("7.2 Spatial four-bar: the published torque", text, tuple(rows), headings),)


def figure() -> Figure:
    """The torques with those mistakes, and the torques of both mechanisms with gravity."""
    five, t, curves = yime_five_bar.weighed(), spatial_four_bar.motion().t, variants()
    heavy = five.tau * 1e3
    errors = {
        name: x - curves["right"] for name, x in curves.items()
    }  # the right one too: colours stay the same
    panels = [
        Panel("Spatial four-bar: the published torque", "torque [µN m = kg mm²/s²]", t, curves),
        Panel("The same, less the right one", "torque [µN m]", t, errors),
        Panel(
            "Five-bar with gravity along -y",
            "torque [mN m]",
            five.t,
            {"τ2": heavy[:, 0], "τ5": heavy[:, 1]},
        ),
        Panel("Spatial four-bar with gravity", "torque [N m]", t, spatial_four_bar.with_gravity()),
    ]
    title = "Torques: published mistakes put back, and gravity, which the paper leaves out"
    caption = (
        "Above, the torque of the spatial four-bar as it is and with the mistakes of the published program, one at a time; below, what "
        "the motors of both mechanisms have to give once gravity acts."
    )
    return Figure("torques_published_and_with_gravity", title, panels, caption=caption)
