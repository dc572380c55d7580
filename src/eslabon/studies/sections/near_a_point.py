"""How it behaves near a point: where it rests, its linear model there, poles and modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.errors import EquilibriumError
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import coordinate_columns, velocity_names
from eslabon.model.scale import velocity_scales
from eslabon.motion.trajectory import columns
from eslabon.plotting import axis_label, legend, new_figure
from eslabon.plotting.pole_plane import pole_plane
from eslabon.sheets import Sheet
from eslabon.studies.section import Section
from eslabon.studies.subject import Subject
from eslabon.systems.linear.modes import Mode

SHOWN = 8  # coordinates of an equilibrium in the page
SMALL = 8  # states of a linear model that is shown unfolded
MOST = 12  # equilibria in the page


def near_a_point(subject: Subject, page: Section) -> None:
    """Equilibria, then the linear model about the point of the study."""
    m = subject.m
    if not subject.moves:
        page.say("{name} does not move, so that nothing happens near a point.", name=m.name)
        return
    if m.rheonomic:
        page.say(
            "The constraints of {name} depend on the time, so that it has no equilibrium; `m.linearize(q, t=...)` gives its linear model at an instant.",
            name=m.name,
        )
        return
    with page.part("equilibria"):
        _equilibria(subject, page)
    with page.part("linear model"):
        _linear(subject, page)


# -- equilibria -------------------------------------------------------------------------------------------------------


def _equilibria(subject: Subject, page: Section) -> None:
    m = subject.m
    page.head("Where it rests by itself")
    try:
        found = subject.equilibria
    except EquilibriumError:
        page.say("No configuration was found that rests without forces of the actuators.")
        return
    names = [f"{c} [{c.unit}]" if c.unit else str(c) for c in coordinate_columns(m)]
    rows = [
        (
            str(found.stability[k]),
            float(found.energy[k]),
            int(found.family[k]),
            *map(float, found.q[k]),
        )
        for k in range(len(found))
    ]
    page.say(
        "With actuators that give no force, gravity and springs alone decide. An equilibrium is stable if it comes back after a small push; one "
        "that belongs to a family has neighbours that rest as well."
    )
    heads = ("stability", "potential energy [J]", "dimension of its family", *names)
    page.numbers(Sheet("equilibria", heads, rows))
    shown = [tuple(row[: 3 + SHOWN]) for row in rows[:MOST]]
    page.show(Sheet("equilibria", heads[: 3 + SHOWN], shown), words=("stability",))
    if len(rows) > MOST or len(names) > SHOWN:
        page.say("All {n}, with all coordinates, stand in the files beside this page.", n=len(rows))


# -- the linear model -------------------------------------------------------------------------------------------------


def _linear(subject: Subject, page: Section) -> None:
    m = subject.m
    q, tau, held = subject.point
    lm = subject.linear_model
    page.head("Its linear model")
    where = (
        "where the study starts"
        if np.array_equal(q, subject.start)
        else "at an equilibrium without forces"
    )
    page.say(
        "Small changes x about a configuration follow dx/dt = A x + B u: x are changes of independent coordinates and of their velocities, u changes of the "
        "actuators' forces. The matrices are exact, taken {where}, at rest.",
        where=where,
    )
    if not held:
        page.note(
            "No constant forces of the actuators hold it there: the state moves on, and the model is about that instant."
        )
    point = [(str(c), c.unit, float(x)) for c, x in zip(coordinate_columns(m), q, strict=True)]
    forces = [(f"tau({c})", c.unit, float(x)) for c, x in zip(columns(m)["tau"], tau, strict=True)]
    page.table(
        Sheet(
            "point",
            ("what", "unit", "value"),
            point + forces,
            caption="Coordinates, and forces that hold them.",
        ),
        fold=12,
    )
    page.data |= {"held": held, "U": lm.U, "V": lm.V, "W": lm.W, "drift": lm.drift}
    _matrices(lm, page)
    _modes(m, lm, page)


def _matrices(lm: Any, page: Section) -> None:
    fold = SMALL if len(lm.states) <= SMALL else 0
    for name, heads, values in (("A", lm.states, lm.A), ("B", lm.inputs, lm.B)):
        rows = [(state, *map(float, row)) for state, row in zip(lm.states, values, strict=True)]
        page.table(Sheet(name, ("", *heads), rows), fold=fold)


def _modes(m: Mechanism, lm: Any, page: Section) -> None:
    found = lm.modes()
    modes, poles = list(found), found.poles  # in which what is zero is zero
    page.say(
        "Its poles, the eigenvalues of A, tell what such a change does: in the left half of the plane it dies away, in the right one it grows, and off the real "
        "axis it oscillates. Each pole, or pair of poles, has a mode: what moves together."
    )
    rows = [_row(m, mode) for mode in modes]
    heads = (
        "kind",
        "pole [1/s]",
        "frequency [Hz]",
        "damping ratio",
        "time constant [s]",
        "what moves",
    )
    page.table(Sheet("modes", heads, rows, prose=("what moves",)), words=("kind",))
    page.numbers(
        Sheet(
            "poles",
            ("real [1/s]", "imaginary [1/s]"),
            [(float(p.real), float(p.imag)) for p in poles],
        )
    )
    if np.abs(poles).max(initial=0.0) > 0:
        pole_map(page, {page.said("poles"): poles}, "The poles of the linear model.")
    else:
        page.say(
            "All poles are at zero: no force answers to a small displacement, so that it stays where it is put, or drifts on."
        )


def _row(m: Mechanism, mode: Mode) -> tuple[Any, ...]:
    names, swings = velocity_names(m), mode.kind == "oscillation"
    order = np.argsort(-np.abs(mode.shape * velocity_scales(m)), kind="stable")[:4]
    moves = ", ".join(
        f"{names[k]} {mode.shape[k].real + 0.0:.3g}" for k in order if abs(mode.shape[k]) > 1e-9
    )
    p = complex(round(mode.pole.real, 9) + 0.0, round(mode.pole.imag, 9) + 0.0)
    pole = f"{p.real:.4g} ± {p.imag:.4g}i" if p.imag else f"{p.real:.4g}"
    finite = np.isfinite(mode.time_constant) and abs(mode.damping) > 1e-12
    return (
        mode.kind, pole, float(mode.hertz) if swings else "", float(mode.damping) if swings else "",
        float(mode.time_constant) if finite else "", moves,
    )  # fmt: skip


def pole_map(page: Section, groups: dict[str, np.ndarray], caption: str) -> None:
    """Poles in the complex plane, each group by its own mark."""
    figure = new_figure(figsize=(5.2, 3.8))
    ax = figure.add_subplot()
    pole_plane(ax, np.concatenate(list(groups.values())))
    for k, ((name, poles), mark) in enumerate(zip(groups.items(), ("x", "o", "^"), strict=False)):
        colour = figure.theme.curves[k]
        options = {"facecolors": "none", "edgecolors": colour} if mark == "o" else {"color": colour}
        ax.scatter(poles.real, poles.imag, marker=mark, s=46, label=name, zorder=3, **options)
    ax.set_xlabel(axis_label(page.said("real part"), "1/s"))
    ax.set_ylabel(axis_label(page.said("imaginary part"), "rad/s"))
    if len(groups) > 1:
        legend(ax, "below")
    page.figure(figure, caption)


__all__ = ["near_a_point", "pole_map"]
