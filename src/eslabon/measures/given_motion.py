"""Motions and configurations as they are given to a measure: of joints, or of a frame, as arrays.

Arrays can be sent to another process and told from others; a path, which is a function of the time, is sampled once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, count, finite, names, text
from eslabon.errors import InputError, ModelError, format_value
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.measures.assembled_designs import Completed, one_by_one
from eslabon.measures.native_batches import Designs
from eslabon.measures.prescribed_designs import completed_designs, followed_designs
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import values_by_joint
from eslabon.motion.interpolation import formula_in_time
from eslabon.motion.measured_tables import read_joint_table
from eslabon.motion.motion_forms import WORDS, spline_rates
from eslabon.motion.paths.frame_path import Path, Samples
from eslabon.motion.paths.joint_path import JointPath
from eslabon.motion.signal_files import as_path
from eslabon.motion.trajectory import Trajectory
from eslabon.solve.constraints.closure_violation import check_closed
from eslabon.solve.designs import depended_on, limiting
from eslabon.solve.determinacy import determinacy
from eslabon.solve.problem import Problem
from eslabon.solve.solve_options import PASSIVE
from eslabon.solve.target import Target
from eslabon.solve.workspace.sampled_workspace import spanning_joints

PARTS = ("pose", "position")
HINT = (
    "a motion is a Trajectory, a joint path of es.paths, arrays (t, q) or (t, q, v, a), a saved file, what m.follow or path.sample "
    "gives, or the path of a frame"
)


@dataclass(frozen=True, eq=False)
class JointStates:
    """Coordinates, velocities and accelerations of joints, (k, ...): of all, or of those that determine the others.

    Attributes
    ----------
    v, a : None at rest, for so many velocities as the coordinates have.
    t : the times of a motion, or None where each row is a configuration by itself.
    joints : the prescribed joints; None for the actuated ones.
    guess : a configuration or the name of a mode to start from; None for home.
    passive : what becomes of motions that the joints do not determine, as in `m.complete`.
    """

    q: Floats
    v: Floats | None
    a: Floats | None
    t: Floats | None = None
    joints: tuple[str, ...] | None = None
    guess: Any = None
    passive: str = "refuse"

    def __len__(self) -> int:
        return len(self.q)

    def check(self, m: Mechanism) -> None:
        """Refuse what is no state of a mechanism."""
        if m.rheonomic:
            raise ModelError(
                f"the constraints of {m.name} depend on the time; measure it by a function of one's own, f(mechanism)."
            )
        if self.whole(m):
            if m.closed:
                check_closed(m, self.q, "a measure")
        elif not m.closed:
            raise InputError(
                f"q has {self.q.shape[1]} values in its last axis; {m.name} has {m.nq} coordinates, and no loops from which "
                "some would follow."
            )
        else:
            joints, *_ = self.prescribed(m)
            left = determinacy(m, Problem(joints)).open
            if left and self.passive == "refuse":
                raise ModelError(
                    f"{', '.join(joints) or 'no joint'} does not determine the motion of {m.name}: {left} more "
                    f"degree{'s' * (left > 1)} of freedom stay{'s' * (left == 1)} open; prescribe more joints, or with "
                    "passive='minimum_norm' let what nothing drives, such as the spin of a rod, move as little as it can."
                )

    def whole(self, m: Mechanism) -> bool:
        """Whether these are whole states of a mechanism."""
        return self._has(m.nq, m.nv)

    def _has(self, coordinates: int, velocities: int) -> bool:
        """Whether its rows have so many of each; at rest any number of velocities will do."""
        rates = {x.shape[1] for x in (self.v, self.a) if x is not None}
        return self.q.shape[1] == coordinates and rates <= {velocities}

    def _rates(self, velocities: int) -> tuple[Floats, Floats]:
        """Velocities and accelerations, so many of each."""
        v, a = (np.zeros((len(self.q), velocities)) if x is None else x for x in (self.v, self.a))
        return v, a

    def moved_by(self, m: Mechanism, parameters: Iterable[str]) -> tuple[str, ...]:
        """Without loops nothing follows; with them all that moves the loops, or the limits that joints keep."""
        names = tuple(parameters)
        return (
            tuple(dict.fromkeys((*depended_on(m, names), *limiting(m, names)))) if m.closed else ()
        )

    def completed(self, m: Mechanism) -> tuple[Floats, Floats, Floats]:
        """The states of all joints: as given, where all are; else with the loops closed."""
        if self.whole(m):
            return self.q, *self._rates(m.nv)
        joints, q, v, a = self.prescribed(m)
        motion = self.t is not None
        return m.complete(
            values_by_joint(m, joints, q),
            v,
            a,
            self.guess,
            continuation=motion,
            passive=self.passive,
            singular="error",
        )

    def in_designs(self, m: Mechanism, designs: Designs) -> Completed:
        """The same in designs whose loops are others: from where the mechanism as it is described stands."""
        joints, q, v, a = self.prescribed(m)
        if limiting(m, tuple(designs)):
            start = self.q[0] if self.whole(m) else self.guess
            return one_by_one(m, designs, JointStates(q, v, a, self.t, joints, start, self.passive))
        start = self.q if self.whole(m) else self.guess
        start = (
            start[0]
            if self.t is not None and isinstance(start, np.ndarray) and start.ndim == 2
            else start
        )
        return completed_designs(m, designs, joints, (q, v, a), start, self.t is not None)

    def prescribed(self, m: Mechanism) -> tuple[tuple[str, ...], Floats, Floats, Floats]:
        """The prescribed joints with their own columns."""
        joints = (
            spanning_joints(m)
            if self.joints is None
            else tuple(m.joint(name).name for name in self.joints)
        )
        for given in (tuple(j.name for j in m.joints), joints, m.actuated):
            own = Problem(given)
            q, v = own.coordinates(m), own.velocities(m)
            if self._has(len(q), len(v)):
                kept = Problem(joints)
                at, rates = (
                    [x.index(k) for k in y]
                    for x, y in ((q, kept.coordinates(m)), (v, kept.velocities(m)))
                )
                moving = self._rates(len(v))
                return joints, self.q[:, at], moving[0][:, rates], moving[1][:, rates]
        own, widths = Problem(joints), [x.shape[1] for x in (self.v, self.a) if x is not None]
        also = f" and {widths[0]} velocities" if widths else ""
        raise InputError(
            f"the states have {self.q.shape[1]} coordinates{also}; {m.name} has {m.nq} and {m.nv} velocities, and "
            f"{', '.join(joints) or 'no joint'}, from which the others follow, {len(own.coordinates(m))} and {len(own.velocities(m))}."
        )


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """Poses (k, 4, 4), twists and accelerations (k, 6) of a frame in time, in the ground's axes, of which a part counts."""

    t: Floats
    pose: Floats
    twist: Floats
    acceleration: Floats
    frame: str | None = None
    part: str = "pose"
    guess: Any = None

    def __len__(self) -> int:
        return len(self.t)

    def check(self, m: Mechanism) -> None:
        """Refuse a frame that a mechanism has not."""
        chosen_frame(m, self.frame)
        if m.rheonomic:
            raise ModelError(
                f"the constraints of {m.name} depend on the time; measure it by a function of one's own, f(mechanism)."
            )

    def moved_by(self, m: Mechanism, parameters: Iterable[str]) -> tuple[str, ...]:
        """All that moves the loops, the frame, or the limits that joints keep."""
        names = tuple(parameters)
        return tuple(
            dict.fromkeys(
                (*depended_on(m, names, chosen_frame(m, self.frame).name), *limiting(m, names))
            )
        )

    def completed(self, m: Mechanism) -> tuple[Floats, Floats, Floats]:
        """The states of all joints, each from the one before."""
        return m.complete(
            self._target, *self._rates, self.guess, continuation=True, singular="error"
        )

    def in_designs(self, m: Mechanism, designs: Designs) -> Completed:
        """The same in designs that are others."""
        if limiting(m, tuple(designs)):
            return one_by_one(m, designs, self)
        return followed_designs(m, designs, self._target, self._rates, self.t, self.guess)

    @property
    def _target(self) -> Target:
        """What counts of the frame, as `m.complete` takes it."""
        if self.part == "pose":
            return Target(self.frame, pose=self.pose)
        return Target(self.frame, position=self.pose[:, :3, 3])

    @property
    def _rates(self) -> tuple[Floats, Floats]:
        """How it changes: velocities and accelerations."""
        if self.part == "pose":
            return self.twist, self.acceleration
        return self.twist[:, 3:], self.acceleration[:, 3:]


Given = JointStates | FrameMotion


def given_motion(
    motion: Any, samples: int = 101, frame: str | None = None, part: str = "pose", joints: Any = None, guess: Any = None,
    passive: str = "refuse", timed: bool = False,
) -> Given:  # fmt: skip
    """What users give as a motion, or as configurations, as arrays; with `timed` only what has times.

    >>> import eslabon as es
    >>> path = es.paths.joint_path([[2.0, 1.0], [2.2, 0.9]], es.paths.quintic(0.5))
    >>> len(given_motion(path, samples=11)), given_motion([[2.0, 1.0], [2.2, 0.9]]).t
    (11, None)
    """
    if isinstance(motion, JointStates | FrameMotion):
        return motion
    if isinstance(motion, JointPath | Path):
        motion = motion.sample(n=count(samples, "samples", 2))
    if isinstance(motion, Samples):
        chosen = choice(part, "part", PARTS)
        named = frame if frame is None else text(frame, "frame")
        t, pose, twist, acceleration = (np.asarray(x) for x in motion)
        return FrameMotion(t, pose, twist, acceleration, named, chosen, _guess(guess))
    if frame is not None or choice(part, "part", PARTS) != "pose":
        raise ModelError(
            "frame and part go with the path of a frame, such as es.paths.along gives; this motion is one of joints."
        )
    made = _joint_states(
        motion,
        None if joints is None else names(joints, "joints"),
        _guess(guess),
        choice(passive, "passive", PASSIVE),
    )
    if timed and made.t is None:
        raise InputError(f"{HINT}; it has no times.")
    return made


def _joint_states(
    motion: Any, joints: tuple[str, ...] | None, guess: Any, passive: str
) -> JointStates:
    if isinstance(motion, str | FilePath):
        motion, joints = _of_file(motion, joints)
    if isinstance(motion, Mapping) and set(motion) <= set(WORDS) and "q" in motion:
        parts = [motion.get(x) for x in "tqva"]
    elif all(hasattr(motion, x) for x in "tqva"):
        parts = [getattr(motion, x) for x in "tqva"]
    elif (
        isinstance(motion, tuple) and len(motion) in (2, 4, 5) and np.ndim(motion[0])
        and (callable(motion[1]) or np.ndim(motion[1]) > np.ndim(motion[0]))
    ):  # fmt: skip
        parts = [*motion[:4], *[None] * (4 - len(motion))]
    elif isinstance(motion, np.ndarray | list | tuple):
        parts = [None, motion, None, None]
    else:
        raise InputError(f"{HINT}; it is {format_value(motion)}.")
    if parts[0] is not None and callable(parts[1]):
        parts = [parts[0], *formula_in_time(parts[1]).numbers(finite(parts[0], "t of the motion"))]
    t, rows, v, a = (
        x if x is None else finite(x, f"{name} of the motion")
        for x, name in zip(parts, "tqva", strict=True)
    )
    q = np.atleast_2d(finite([] if rows is None else rows, "q"))
    if q.ndim != 2 or not len(q):
        raise InputError(
            f"a measure takes one state or rows of them (k, coordinates); q has shape {q.shape}."
        )
    v, a = (x if x is None else np.atleast_2d(x) for x in (v, a))
    if t is not None and (
        t.ndim != 1 or len(t) != len(q) or len(t) < 2 or not (np.diff(t) > 0).all()
    ):
        raise InputError(
            f"t of a motion are two or more times that increase, one for each of its {len(q)} rows; its shape is {t.shape}."
        )
    if t is not None and (v is None or a is None):
        v, a = spline_rates(t, q, v)
    for x, name in ((v, "v"), (a, "a")):
        if x is not None and (x.ndim != 2 or len(x) not in (1, len(q))):
            raise InputError(
                f"{name} of the motion has shape {x.shape}; a row for each of the {len(q)} rows of q is expected."
            )
    v, a = (x if x is None else np.broadcast_to(x, (len(q), x.shape[1])) for x in (v, a))
    return JointStates(q, v, a, t, joints, guess, passive)


def _of_file(path: Any, joints: tuple[str, ...] | None) -> tuple[Any, tuple[str, ...] | None]:
    """What a file holds, a motion that was saved or a table of what was measured, and the joints that it tells."""
    if as_path(path).suffix.lower() != ".csv":
        return Trajectory.load(path), joints
    found = read_joint_table(path)
    return (found, joints) if isinstance(found, Trajectory) else (found[0], joints or found[1])


def _guess(guess: Any) -> Any:
    return guess if guess is None or isinstance(guess, str) else finite(guess, "guess")
