"""How it moves: an animation to turn and scrub, coordinates in time, where it can go, and where it is singular."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.errors import MissingDependencyError
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import coordinate_columns, velocity_columns
from eslabon.model.scale import characteristic_length
from eslabon.motion.trajectory import columns
from eslabon.sheets import Sheet
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import Conditions
from eslabon.solve.workspace.sampled_workspace import spanning_joints
from eslabon.studies.section import Section
from eslabon.studies.subject import Subject
from eslabon.studies.time_plots import Panel, by_unit, figure_in_time, plot_in_time

SAMPLES, FEWER = 3000, 500  # of the workspace; fewer where many joints follow from a few
MANY = 12  # velocities
CURVES = 10  # velocities, above which only actuated joints have curves
NEAR = 0.02  # reciprocal condition number below which a motion is told to come near to a singular configuration


def how_it_moves(subject: Subject, page: Section) -> None:
    """The motion, and where it can go."""
    m = subject.m
    if not subject.moves:
        page.say(
            "{name} does not move: its joints and loops leave no degree of freedom.", name=m.name
        )
        return
    with page.timed("motion"):
        motion = subject.movement
    page.data |= {
        "motion": motion.kind,
        "duration": float(motion.t[-1] - motion.t[0]),
        "followed": subject.tip,
    }
    page.say(
        "The study follows one motion: {title}, over {seconds:.3g} s. Where a point is followed, it is that of {tip}.",
        title=motion.title, seconds=float(motion.t[-1] - motion.t[0]), tip=subject.named_tip,
    )  # fmt: skip
    _tell_limits(subject, page)
    if motion.kind == "rest_to_rest" and subject.choices.motion is None:
        page.say(
            "The study chose it: each actuated joint moves a good way, less where limits or singular configurations are near, by a polynomial "
            "of the seventh degree, so that velocities, accelerations and jerks vanish at both ends. `--motion` takes another one."
        )
    with page.part("animation"):
        _animation(subject, page)
    with page.part("coordinates in time"):
        _in_time(subject, page)
    _singular(subject, page)
    _workspace(subject, page)


def _tell_limits(subject: Subject, page: Section) -> None:
    """Where a joint passes its limits, which stop nothing by themselves."""
    motion, ranges = subject.movement, Ranges.of(subject.m)
    row = ranges.first_passed(motion.q)
    if row is not None:
        name = next(j.name for j in subject.m.joints if not ranges.within(j.name, motion.q[row]))
        page.note(
            "'{joint}' passes its limits at t = {t:.3g} s.", joint=name, t=float(motion.t[row])
        )


def _animation(subject: Subject, page: Section) -> None:
    motion = subject.movement
    if len(motion.t) < 2:
        return
    try:
        from eslabon.drawing.recording import recorded
    except ImportError:
        raise MissingDependencyError(
            "animations need viser; pip install 'eslabon[view]' brings it."
        ) from None
    page.scene(
        recorded(subject.m, motion.t, motion.q, trace=subject.tip),
        "Drag to turn it, scroll to come nearer, and move the bar below to any instant.",
    )


def _in_time(subject: Subject, page: Section) -> None:
    """All coordinates, velocities and accelerations as tables; curves of all, or of the actuated joints where they are many."""
    m, motion = subject.m, subject.movement
    for key, own, values in (
        ("coordinates", coordinate_columns(m), motion.q), ("velocities", velocity_columns(m), motion.v),
        ("accelerations", columns(m)["a"], motion.a),
    ):  # fmt: skip
        heads = ("t [s]", *(f"{c} [{c.unit}]" if c.unit else str(c) for c in own))
        rows = [(float(t), *map(float, row)) for t, row in zip(motion.t, values, strict=True)]
        page.numbers(Sheet(key, heads, rows))
    drawn: list[Panel] = []
    many = m.nv > CURVES and m.nu > 0
    for name, own, values in (
        ("coordinate", coordinate_columns(m), motion.q),
        ("velocity", velocity_columns(m), motion.v),
    ):
        kept = [k for k, c in enumerate(own) if not many or c.joint in m.actuated]
        drawn += by_unit(name, [own[k] for k in kept], values[:, kept])
    if subject.tip:
        position = m.pose(motion.q, subject.tip)[:, :3, 3]
        named = {f"{subject.tip}.{x}": position[:, k] for k, x in enumerate("xyz")}
        drawn.append(Panel("position", "m", named))
        page.numbers(
            Sheet(
                "tip",
                ("t [s]", *(f"{x} [m]" for x in "xyz")),
                [(float(t), *map(float, p)) for t, p in zip(motion.t, position, strict=True)],
            )
        )
    page.figure(
        figure_in_time(page, motion.t, drawn),
        "Coordinates and velocities of the actuated joints, and the position of {tip}; those of the other joints stand in the files beside this "
        "page. Curves that lie on one another are named together."
        if many
        else "Coordinates and velocities of all joints, and the position of {tip}. Curves that lie on one another are named together.",
        tip=subject.named_tip,
    )


# -- singular configurations ------------------------------------------------------------------------------------------


def _singular(subject: Subject, page: Section) -> None:
    """How near the motion comes to singular configurations."""
    m, motion = subject.m, subject.movement
    if m.rheonomic or len(motion.t) < 2 or subject.tip is None:
        return
    with page.part("conditions along the motion"):
        found = m.conditions(motion.q, subject.tip)
        page.head("How near it comes to singular configurations")
        _explain_conditions(subject, page)
        kind, at, value = _nearest(m, found, motion.t)
        page.data["closest"] = {"kind": kind, "t": at, "value": value}
        page.say(
            "Along this motion the least is {value:.3g}, of the {kind} kind, at t = {t:.3g} s.",
            value=value,
            kind=kind,
            t=at,
        )
        if value < NEAR:
            page.note(
                "That is very near to a singular configuration: torques and reactions become large there."
            )
        kinds = {page.said("serial"): found.serial} | (
            {page.said("parallel"): found.parallel} if m.closed else {}
        )
        plot_in_time(
            page, "conditions", motion.t, [Panel("reciprocal condition number", "", kinds)],
            "Reciprocal condition numbers along the motion.",
        )  # fmt: skip


def _nearest(m: Mechanism, found: Conditions, t: np.ndarray) -> tuple[str, float, float]:
    """Where the motion comes nearest to a singular configuration: its kind, when, and how near. A tree has only the serial kind."""
    if m.closed:
        nearest = found.closest
        return nearest.kind, float(np.interp(nearest.at, range(len(t)), t)), nearest.value
    k = int(np.argmin(found.serial))
    return "serial", float(t[k]), float(found.serial[k])


def _explain_conditions(subject: Subject, page: Section) -> None:
    if subject.m.closed:
        page.say(
            "Two reciprocal condition numbers tell it, from 1 at best to 0 at a singular configuration; how good they get depends on a mechanism's "
            "dimensions, so that they compare configurations of one mechanism. The serial kind is about {tip}: at zero "
            "it cannot move in some direction. The parallel kind is about loops: at zero the actuators, though locked, no longer hold the mechanism.",
            tip=subject.named_tip,
        )
    else:
        page.say(
            "A reciprocal condition number tells it, from 1 at best to 0 at a singular configuration, where {tip} cannot move in some direction; how good "
            "it gets depends on a mechanism's dimensions, so that it compares configurations of one mechanism.",
            tip=subject.named_tip,
        )


# -- workspace --------------------------------------------------------------------------------------------------------


def _workspace(subject: Subject, page: Section) -> None:
    m, tip = subject.m, subject.tip
    joints = spanning_joints(m) if m.nu and not m.rheonomic else ()
    page.head("Where it can go")
    if not joints or tip is None:
        page.say("Without actuators that could be set there is no workspace to show.")
        return
    if any(m.joint(name).nq != 1 for name in joints):
        page.say(
            "An actuated joint has several coordinates, so that no map is drawn of where {tip} can go.",
            tip=subject.named_tip,
        )
        return
    with page.part("workspace"):
        ranges = _ranges(m, subject.start, joints)
        space = m.workspace(
            tip,
            ranges=ranges,
            samples=SAMPLES if m.nv <= MANY else FEWER,
            guess=subject.start,
            progress=False,
        )
        kinds = ["parallel", "serial"] if m.closed else ["serial"]
        told = [(kind, float(np.min(getattr(space.conditions, kind)))) for kind in kinds]
        page.data["workspace"] = {"reached": space.reached, "asked": space.samples, **dict(told)}
        page.say(
            "The actuated joints were set to {asked} combinations spread evenly over their limits{ranges}; {reached:.0%} of them are reached from the "
            "start without passing a singular configuration.",
            asked=space.samples, reached=space.reached,
            ranges=" (for joints without limits: a whole turn, or some of the mechanism's size)" if _unlimited(m, joints) else "",
        )  # fmt: skip
        position = space.poses[:, :3, 3]
        rows = [
            (*map(float, p), float(a), float(b))
            for p, a, b in zip(
                position, space.conditions.parallel, space.conditions.serial, strict=True
            )
        ]
        page.numbers(
            Sheet("workspace_points", ("x [m]", "y [m]", "z [m]", "parallel", "serial"), rows)
        )
        with page.pair():
            for kind in kinds:
                figure = space.plot(kind)
                for ax in figure.axes:  # the text says it already
                    for place in ("left", "center", "right"):
                        ax.set_title("", loc=place)
                page.foreign(figure)
                page.figure(
                    figure,
                    "Where {tip} goes, coloured by the reciprocal condition number of the {kind} kind; zero is singular.",
                    tip=subject.named_tip, kind=kind,
                )  # fmt: skip


def _unlimited(m: Mechanism, joints: tuple[str, ...]) -> bool:
    return any(m.joint(name).limits is None for name in joints)


def _ranges(m: Mechanism, start: np.ndarray, joints: tuple[str, ...]) -> dict[str, Any]:
    """Ranges of those joints that slide without limits."""
    made = {}
    for name in joints:
        joint = m.joint(name)
        limited = (
            joint.limits is not None and np.isfinite(np.array(joint.limits, dtype=float)).all()
        )
        if not limited and not all(c.periodic for c in joint.kind.coordinates):
            here, far = float(start[m.coordinates[name]][0]), 0.5 * characteristic_length(m)
            made[name] = (here - far, here + far)
    return made
