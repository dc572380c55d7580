"""What drives it: forces, power and energy along the motion, what the joints carry, and whether the formulations agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eslabon.errors import EslabonError
from eslabon.language import phrase
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import SignalColumn
from eslabon.motion.trajectory import columns
from eslabon.sheets import Sheet
from eslabon.studies.movement import Movement
from eslabon.studies.section import Section
from eslabon.studies.subject import Subject
from eslabon.studies.time_plots import Panel, by_unit, plot_in_time

FORMULATIONS = ("newton_euler", "lagrange", "lie", "gibbs_appell", "quaternion", "bond_graph")
CONSTRAINTS = ("multipliers", "elimination", "udwadia_kalaba")
WRITTEN = {
    "newton_euler": "Newton and Euler", "lagrange": "Lagrange", "lie": "Lie algebra", "gibbs_appell": "Gibbs and Appell",
    "quaternion": "quaternions", "bond_graph": "bond graph", "multipliers": "Lagrange's multipliers",
    "elimination": "elimination", "udwadia_kalaba": "Udwadia and Kalaba", "": "",
}  # fmt: skip
MOST_CURVES = 14  # reactions that a figure still tells apart
ROWS = 40  # of the motion, for the comparison


def what_drives_it(subject: Subject, page: Section) -> None:
    """Forces, reactions and the formulations' agreement."""
    m = subject.m
    if not m.bodies:
        page.say("There are no bodies, so that nothing needs a force.")
        return
    motion = subject.movement
    if m.nv:
        _actuators(m, motion, page)
        with page.part("energy"):
            _energy(m, motion, page)
    with page.part("reactions"):
        _reactions(m, motion, page)
    if m.nv:
        _agreement(m, motion, page)


# -- actuators --------------------------------------------------------------------------------------------------------


def _actuators(m: Mechanism, motion: Movement, page: Section) -> None:
    if not m.nu:
        page.say(
            "No actuator drives it; what follows is about a motion that is {title}.",
            title=motion.title,
        )
        return
    if motion.tau is None:
        page.fail(motion.reason)
        return
    tau, rates = motion.tau, motion.v[:, list(m.actuated_velocities)]
    own = columns(m)["tau"]
    power = tau * rates
    heads = (
        "actuator",
        "unit",
        "peak",
        "limit",
        "RMS",
        "peak velocity [rad/s, m/s]",
        "peak power [W]",
    )
    rows = [
        (str(c), c.unit, float(np.abs(tau[:, k]).max()), _limit(m, c), float(np.sqrt(np.mean(tau[:, k] ** 2))),
         float(np.abs(rates[:, k]).max()), float(np.abs(power[:, k]).max()))
        for k, c in enumerate(own)
    ]  # fmt: skip
    if len(motion.t) == 1:
        page.say("To hold it at rest the actuators give these forces and torques.")
        page.table(
            Sheet(
                "holding forces",
                ("actuator", "unit", "force or torque"),
                [(r[0], r[1], float(tau[0, k])) for k, r in enumerate(rows)],
            )
        )
        return
    page.say(
        "Inverse dynamics gives the forces and torques that the actuators need for the motion ({title}): weight, inertia and friction together.",
        title=motion.title,
    )
    page.table(Sheet("forces and torques of the actuators", heads, rows), key="actuators")
    plot_in_time(
        page, "forces", motion.t,
        [*by_unit("force", own, tau, ".tau"), Panel("power", "W", {str(c): power[:, k] for k, c in enumerate(own)}, ".power")],
        "Forces and torques of the actuators, and their power: negative where the motion drives the actuator.",
    )  # fmt: skip


def _limit(m: Mechanism, column: SignalColumn) -> float | str:
    """The largest force that an actuator gives; nothing where none is said."""
    bound, own = (
        m.joint(column.joint).effort_limit,
        [c for c in columns(m)["tau"] if c.joint == column.joint],
    )
    return "" if bound is None else float(bound[own.index(column)])


def _energy(m: Mechanism, motion: Movement, page: Section) -> None:
    """Energy in time, and whether the work of the actuators is its change."""
    if len(motion.t) < 2:
        return
    kinetic, potential = m.energy(motion.q, motion.v, **motion.times(m)).T
    total = kinetic + potential
    named = {
        page.said("kinetic"): kinetic,
        page.said("potential"): potential,
        page.said("total"): total,
    }
    plot_in_time(
        page,
        "energy",
        motion.t,
        [Panel("energy", "J", named)],
        "Energy along the motion; the potential counts weight and springs.",
    )
    if motion.tau is None or m.rheonomic:
        return
    from scipy.integrate import simpson

    power = (
        (motion.tau * motion.v[:, list(m.actuated_velocities)]).sum(axis=-1)
        if m.nu
        else np.zeros(len(total))
    )
    work, change = float(simpson(power, x=motion.t)), float(total[-1] - total[0])
    k = max(len(motion.t) // 4, 2) + 1
    until, gained = float(simpson(power[:k], x=motion.t[:k])), float(total[k - 1] - total[0])
    page.data["work"] = {
        "actuators": work, "energy_change": change, "until": float(motion.t[k - 1]), "actuators_until": until, "energy_change_until": gained,
    }  # fmt: skip
    page.say(
        "In the first quarter of the motion, until t = {t:.3g} s, the actuators do {work:.4g} J of work, and the energy changes by {change:.4g} J; the rest, {rest:.1g} J, is what friction "
        "takes, and the error of summing over {n} instants.",
        t=float(motion.t[k - 1]), work=until, change=gained, rest=until - gained, n=k,
    )  # fmt: skip


# -- reactions --------------------------------------------------------------------------------------------------------


def _reactions(m: Mechanism, motion: Movement, page: Section) -> None:
    given = (
        {"a": motion.a}
        if motion.kind in ("rest_to_rest", "given", "still") and motion.tau is not None
        else {"tau": motion.tau}
    )
    if given.get("tau", 0) is None:
        return
    wrench = m.reactions(motion.q, motion.v, **given, **motion.times(m))
    names = [j.name for j in m.joints] + [x.name for x in m.loops]
    force, moment = (
        np.linalg.norm(wrench[..., 3:], axis=-1),
        np.linalg.norm(wrench[..., :3], axis=-1),
    )
    kinds = ["joint"] * len(m.joints) + ["cut joint"] * len(m.loops)
    rows = [
        (name, kind, float(force[:, k].max()), float(moment[:, k].max()))
        for k, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    page.head("What the joints carry")
    page.say(
        "A reaction is the wrench that a joint passes on to the body it carries: a force and a moment, of which the actuator's own is a part. These are the "
        "largest along the motion."
    )
    page.table(
        Sheet("reactions", ("joint", "kind", "largest force [N]", "largest moment [N m]"), rows),
        words=("kind",),
    )
    if m.loops and not m.rheonomic:
        known = m.determined_reactions(motion.q[0])
        if not known.all():
            some = [name for name, row in zip(names, known, strict=True) if not row.all()]
            page.note(
                "Constraints repeat one another, so that loads may be locked in that no motion shows; some components in {joints} are not determined. For "
                "them the answer without such loads is given.",
                joints=", ".join(some[:8]) + (", ..." if len(some) > 8 else ""),
            )
    order = np.argsort(-force.max(axis=0))[:MOST_CURVES]
    if len(motion.t) > 1:
        drawn = [
            Panel("reaction force", "N", {names[k]: force[:, k] for k in sorted(order)}, ".force"),
            Panel(
                "reaction moment", "N m", {names[k]: moment[:, k] for k in sorted(order)}, ".moment"
            ),
        ]
        plot_in_time(
            page, "reactions_in_time", motion.t, drawn, "Magnitudes of the reactions in time."
        )
    heads = [
        f"{name}.{x}"
        for name in names
        for x in ("mx [N m]", "my [N m]", "mz [N m]", "fx [N]", "fy [N]", "fz [N]")
    ]
    flat = wrench.reshape(len(motion.t), -1)
    page.numbers(
        Sheet(
            "wrenches",
            ("t [s]", *heads),
            [(float(t), *map(float, row)) for t, row in zip(motion.t, flat, strict=True)],
        )
    )


# -- agreement --------------------------------------------------------------------------------------------------------


def _agreement(m: Mechanism, motion: Movement, page: Section) -> None:
    """The same answer from every formulation."""
    inverse = (
        m.nu > 0 and motion.tau is not None and motion.kind in ("rest_to_rest", "given", "still")
    )
    if not inverse and motion.tau is None:
        return
    page.head("Do the formulations agree?")
    rows: list[tuple[Any, ...]] = []
    refused: list[str] = []
    chosen = np.unique(np.linspace(0, len(motion.t) - 1, min(ROWS, len(motion.t))).astype(int))
    reference: np.ndarray | None = None
    for formulation, constraints in _pairs(m):
        try:
            with page.timed(_lap(inverse, formulation, constraints)):
                found = _by(m, motion, chosen, inverse, formulation, constraints)
        except EslabonError as error:
            refused.append(f"{WRITTEN[formulation]}: {error}")
            continue
        reference = found if reference is None else reference
        size = float(np.abs(reference).max(initial=0.0)) or 1.0
        away = float(np.abs(found - reference).max(initial=0.0))
        rows.append((WRITTEN[formulation], WRITTEN[constraints or ""], away, away / size))
    quantity = "forces of the actuators" if inverse else "accelerations"
    page.say(
        "Each formulation derives the equations of motion in its own way, so that none can hide the mistake of another. These are the largest "
        "differences of the {quantity} along the motion from those of the first row; what is left is round-off.",
        quantity=quantity,
    )
    heads: tuple[str, ...] = (
        "formulation",
        "constraints",
        "largest difference",
        "of the largest value",
    )
    if not m.closed:
        rows, heads = [(row[0], *row[2:]) for row in rows], (heads[0], *heads[2:])
    page.numbers(Sheet("agreement", heads, rows))
    told = [(*row[:-2], *(f"{x:.1e}" if x else "0" for x in row[-2:])) for row in rows]
    page.show(
        Sheet("agreement", heads, told),
        words=[x for x in ("formulation", "constraints") if x in heads],
    )
    page.data["agreement_of"] = quantity
    if refused:
        page.data["refused_formulations"] = refused
        page.say(
            "Formulations that do not know all of its joints: {names}.",
            names=", ".join(x.split(":")[0] for x in refused),
        )


def _lap(inverse: bool, formulation: str, constraints: str | None) -> str:
    """What is timed."""
    quantity = "inverse dynamics" if inverse else "forward dynamics"
    if constraints is None:
        return phrase(
            "{quantity}, {formulation}", quantity=quantity, formulation=WRITTEN[formulation]
        )
    names = {"formulation": WRITTEN[formulation], "constraints": WRITTEN[constraints]}
    return phrase("{quantity}, {formulation}, {constraints}", quantity=quantity, **names)


def _pairs(m: Mechanism) -> Iterator[tuple[str, str | None]]:
    yield from ((f, "multipliers" if m.closed else None) for f in FORMULATIONS)
    if m.closed:
        yield from (("newton_euler", c) for c in CONSTRAINTS[1:])


def _by(
    m: Mechanism,
    motion: Movement,
    rows: np.ndarray,
    inverse: bool,
    formulation: str,
    constraints: str | None,
) -> np.ndarray:
    at = {"t": motion.t[rows]} if m.rheonomic else {}
    last = motion.a[rows] if inverse else motion.tau[rows]  # type: ignore[index]
    verb = m.inverse_dynamics if inverse else m.forward_dynamics
    return verb(motion.q[rows], motion.v[rows], last, formulation, constraints, **at)
