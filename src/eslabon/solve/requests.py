"""Which solver answers: for values of joints, for a target of a frame or several, for a mechanism that is driven in time.

`words` are the parts of one target by name (position, orientation, axis, planar, rows), None where they were left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats, choice, flag, known_options, text
from eslabon.errors import SINGULAR_CHOICES, ModelError
from eslabon.model import Model
from eslabon.solve.designs import each_design, one_design

if TYPE_CHECKING:
    from eslabon.solve.inverse import Configurations, JointMotion

Words = Mapping[str, Any]


def inverse_kinematics(
    m: Model,
    pose: Any,
    guess: Any,
    frame: str | None,
    report: bool,
    words: Words,
    options: dict[str, Any],
) -> Floats | Configurations:
    """Of the whole pose of an arm by its own search, of all else by targets."""
    flag(report, "report")
    axis = words["axis"]
    partial = _given({**words, "axis": axis if pose is None else None})
    several = _are_targets(pose)
    if (
        partial
        or several
        or (m.closed and (report or axis is not None or set(options) - {"limits", "parameters"}))
    ):
        from eslabon.solve.targets import Target, reach

        if several and (partial or axis is not None or frame is not None):
            raise ModelError(
                "a list of targets says all by itself; leave frame and the words for one target out."
            )
        asked = pose if several else Target(frame, pose, **words)
        known_options("inverse_kinematics", reach, options)
        targets = list(asked) if isinstance(asked, list | tuple) else [asked]
        made = reach(m, targets, guess, **{"strict": not report, **options})
        return made if report else _found(made, options)
    if pose is None:
        raise ModelError(
            "inverse_kinematics takes the pose that a frame is to have, (..., 4, 4), or a part: position=..."
        )
    if m.closed:
        return assemble(m, None, guess, None, pose, frame, words, None, **options)
    from eslabon.solve import inverse

    options = options if axis is None else {"axis": axis, **options}
    known_options("inverse_kinematics", inverse.inverse_kinematics, options)
    found = inverse.inverse_kinematics(m, pose, guess, frame, **{"strict": not report, **options})
    return found if report else _found(found, options)


def follow(
    m: Model,
    path: Any,
    guess: Any,
    frame: str | None,
    part: str,
    options: dict[str, Any],
    parameters: Any = None,
) -> JointMotion:
    """Of an arm that its pose determines by its own continuation, of all else by targets."""
    m = one_design(m, parameters, "follow")
    part = text(part, "part")
    if part == "pose" and options.get("axis") is not None:
        part = "axis"
    if m.closed or part != "pose" or _is_redundant(m, frame):
        from eslabon.solve.targets.following import follow_target

        known_options("follow", follow_target, options)
        return follow_target(m, path, guess, frame, part=part, **options)
    from eslabon.solve import inverse

    known_options("follow", inverse.follow, options)
    return inverse.follow(m, path, guess, frame=frame, **options)


def assemble(
    m: Model, actuated: Any, guess: Any, joints: tuple[str, ...] | None, pose: Any, frame: str | None, words: Words,
    t: Any = None, *, strict: bool = True, continuation: bool = False, singular: str = "warn", limits: bool = True,
    parameters: Any = None,
) -> Floats:  # fmt: skip
    """Full coordinates that close the loops."""
    if _given(words):
        from eslabon.solve.targets import Target, reach, reach_along

        if actuated is not None or joints is not None:
            raise ModelError("assemble takes joint values or a target of a frame, not both.")
        target = Target(frame, pose, **words)
        if flag(continuation, "continuation"):
            return reach_along(
                m,
                [target],
                guess,
                limits=limits,
                strict=strict,
                singular=singular,
                parameters=parameters,
            ).q
        return reach(m, [target], guess, limits=limits, strict=strict, parameters=parameters).q
    if m.rheonomic or t is not None:
        from eslabon.solve.assembly.driven import assemble_at

        return assemble_at(m, actuated, guess, t, joints, continuation, pose=pose, frame=frame,
            strict=strict, singular=singular, limits=limits, parameters=parameters)  # fmt: skip
    from eslabon.solve import assembly

    return assembly.assemble(m, actuated, guess, joints=joints, pose=pose, frame=frame, strict=strict,
        continuation=continuation, singular=singular, limits=limits, parameters=parameters)  # fmt: skip


def complete(
    m: Model, motion: tuple[Any, Any, Any], guess: Any, joints: tuple[str, ...] | None, pose: Any, frame: str | None,
    words: Words, rates: Words, t: Any, *, passive: str, singular: str | None, limits: bool, continuation: bool,
    parameters: Any = None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Full q, v, a from the motion of joints, or of a frame with its `rates`."""
    if singular is not None:
        choice(singular, "singular", SINGULAR_CHOICES)
    if pose is not None or _given(words):
        from eslabon.solve.targets import Target
        from eslabon.solve.targets.following import complete_target

        if any(x is not None for x in (*motion, joints)):
            raise ModelError("complete takes the motion of joints or that of a frame, not both.")
        if text(passive, "passive") != "refuse":
            raise ModelError(
                "what a frame leaves open moves as little as it can by itself; leave passive out."
            )
        return complete_target(m, [Target(frame, pose, **words)], guess, **rates,
            continuation=continuation, singular="error" if singular is None else singular, limits=limits, parameters=parameters)  # fmt: skip
    if frame is not None or _given(rates):
        raise ModelError(
            "frame, twist, velocity and acceleration go with a target, such as pose= or position=."
        )
    if m.rheonomic or t is not None:
        from eslabon.solve.assembly.driven import complete_at

        return complete_at(
            m,
            *motion,
            guess,
            t,
            joints,
            continuation,
            limits,
            passive,
            "error" if singular is None else singular,
            parameters,
        )
    from eslabon.solve import assembly

    return assembly.complete(m, *motion, guess, joints=joints, continuation=continuation,
        passive=passive, singular=singular, limits=limits, parameters=parameters)  # fmt: skip


def assembly_modes(
    m: Model, actuated: Any, joints: tuple[str, ...] | None, pose: Any, frame: str | None, words: Words, limits: bool,
    parameters: Any = None,
) -> Floats:  # fmt: skip
    """The assembly modes for values of joints, or for a target of a frame; of many designs with as many places as the one
    with the most of them has, NaN where there are fewer."""
    if parameters is not None:
        lead, each = each_design(
            m,
            parameters,
            lambda own: assembly_modes(own, actuated, joints, pose, frame, words, limits),
        )
        made = np.full((len(each), max((len(q) for q in each), default=0), m.nq), np.nan)
        for place, q in zip(made, each, strict=True):
            place[: len(q)] = q
        return made.reshape(*lead, *made.shape[1:])
    if _given(words):
        from eslabon.solve.targets import Target, modes_of

        if actuated is not None or joints is not None:
            raise ModelError("assembly_modes takes joint values or a target of a frame, not both.")
        return modes_of(m, Target(frame, pose, **words), limits)
    from eslabon.solve import assembly

    return assembly.assembly_modes(
        m, actuated, joints=joints, pose=pose, frame=frame, limits=limits
    )


def _given(words: Words) -> bool:
    return any(x is not None for x in words.values())


def _are_targets(x: Any) -> bool:
    """Whether something is a target, or a list of them."""
    if x is None or isinstance(x, np.ndarray):
        return False  # without loading what knows targets
    from eslabon.solve.targets import Target

    return isinstance(x, Target) or (
        isinstance(x, list | tuple) and any(isinstance(y, Target) for y in x)
    )


def _found(made: Configurations, options: Mapping[str, Any]) -> Floats:
    """The configurations; of several asked for, those that are not there are NaN."""
    if options.get("solutions", 1) == 1:
        return made.q
    return np.where(np.asarray(made.converged)[..., None], made.q, np.nan)


def _is_redundant(m: Model, frame: str | None) -> bool:
    """Whether more than six velocities move a frame."""
    from eslabon.formulas.kinematics.frames import chosen_frame
    from eslabon.formulas.kinematics.tree import chain

    return sum(j.nv for j in chain(m, chosen_frame(m, frame).body)) > 6
