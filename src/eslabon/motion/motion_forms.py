"""The forms in which a motion can be given, in any verb: `as_trajectory` makes a trajectory of
each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats, count, finite, flag, known_words, names
from eslabon.errors import AssemblyError, InputError, ModelError
from eslabon.model import Model, as_model
from eslabon.model.configuration import normalize
from eslabon.motion.interpolation import (
    ENDLESS,
    Interpolant,
    State,
    TimeFunction,
    coordinates_in_time,
    formula_in_time,
    held_configuration,
)
from eslabon.motion.paths.frame_path import Path as FramePath
from eslabon.motion.paths.frame_path import Samples
from eslabon.motion.paths.joint_path import JointPath
from eslabon.motion.signals import Statistics
from eslabon.motion.trajectory import Trajectory, columns

SAMPLES = 101  # of a path
WORDS = ("t", "q", "v", "a", "tau")
FEWEST = 6  # samples through which a quintic spline goes
FORMS = (
    "a motion is a Trajectory, a joint path of es.paths, arrays (t, q), (t, q, v, a) or {'t': ..., 'q': ...}, the path of a "
    ".csv or .npz file, a function of time, or a configuration"
)


def as_trajectory(
    m: Model,
    motion: Any,
    *,
    samples: int = SAMPLES,
    need: tuple[str, ...] = ("q", "v", "a"),
    on_loops: bool = True,
) -> Trajectory:
    """The motion of a mechanism, from any form in which it can be given.

    Parameters
    ----------
    m : the mechanism.
    motion : one of

        * a `Trajectory`, as `m.simulate` and `m.follow` give;
        * a joint path of `es.paths`;
        * times and what holds then: (t, q), (t, q, v), (t, q, v, a) or with the forces (t, q, v, a,
          tau), rows of arrays; or a mapping with these words; q may be a function of time;
        * the path of a .csv or .npz file: saved by `Trajectory.save`, or a table with columns `t
          [s]` and `joint.q [rad]`;
        * a function of the time that can be called with a symbol and gives the coordinates; its
          rates are exact derivatives;
        * a configuration, which is held.

        Coordinates are those of all joints, or of the actuated ones.
    samples : the number of times at which a path is sampled.
    need : the groups that the motion must hold. Velocities and accelerations that were not given
        are those of a quintic spline.
    on_loops : whether coordinates of all joints must close the loops.

    At any time (`at`, `at_symbol`) a path is a table of polynomials of degree five that meet q, v
    and a at their ends, as many as bring it within 1e-8 of the path. Outside its span a motion
    stays where it begins or ends, at rest.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> es.as_trajectory(m, [2.0, 1.0])
    <Trajectory of five_bar: a configuration>
    >>> import casadi
    >>> es.as_trajectory(m, lambda t: casadi.vertcat(2 + 0.1 * casadi.sin(t), 1.0)).at(0.0).v
    array([0.1, 0. ])
    >>> t = np.linspace(0.0, 1.0, 11)
    >>> es.as_trajectory(m, (t, np.column_stack([2 + 0.1 * t, 1 + 0 * t])))
    <Trajectory of five_bar: the actuated coordinates, 0 to 1 s, 11 times, samples>
    """
    as_model(m)
    need, on_loops = names(need, "need"), flag(on_loops, "on_loops")
    made = _trajectory(m, motion, count(samples, "samples", 2), need)
    made = _with_rates(made, need)
    if missing := [word for word in need if word not in made.groups and word != "a"]:
        raise InputError(f"{made!r} holds no {' and no '.join(missing)}, which this needs.")
    if on_loops and not isinstance(motion, Trajectory):
        _require_closed(m, made)
    return made


def _trajectory(m: Model, motion: Any, samples: int, need: tuple[str, ...] = ()) -> Trajectory:
    match motion:
        case Trajectory():
            return _fitting(m, motion)
        case JointPath():
            return _of_path(m, motion, samples)
        case FramePath() | Samples():
            raise InputError(
                "a path of a frame is followed by joints as m.follow(path) says; give what that gives."
            )
        case str() | Path():
            from eslabon.motion.signal_files import read_motion

            needed = tuple(word for word in need if word in ("q", "tau"))
            return _trajectory(m, read_motion(m, motion, needed), samples)
        case Mapping():
            return _of_words(m, motion)
        case tuple() if len(motion) in (2, 3, 4, 5) and (callable(motion[1]) or np.ndim(motion[0])):
            return _of_words(m, dict(zip(WORDS, motion, strict=False)))
    if all(hasattr(motion, x) for x in "tqva"):
        return _of_words(m, {x: getattr(motion, x) for x in WORDS if hasattr(motion, x)})
    if callable(motion):
        return _of_function(m, motion)
    return _held(m, motion)


def _made(
    m: Model, t: Floats, groups: Mapping[str, Floats], what: str, source: TimeFunction | None = None
) -> Trajectory:
    """A trajectory of all joints of a mechanism, or of the actuated ones."""
    joints = None if _whole(m, groups["q"].shape[-1]) else tuple(m.actuated)
    own = {word: np.array(x) for word, x in groups.items()}
    return Trajectory(
        np.array(t), own, columns(m, joints), m.name, {}, Statistics(what), m, source=source
    )


def _whole(m: Model, number: int) -> bool:
    """Whether so many coordinates are all of them, or those of the actuated joints."""
    own = len(m.actuated_coordinates)
    if number in (m.nq, own):
        return number == m.nq
    raise InputError(
        f"the motion has {number} coordinates; {m.name} has {m.nq}, of which {own} are of actuated joints."
    )


def _turning(m: Model, whole: bool) -> list[str]:
    """The joints with coordinates that are parts of a quaternion."""
    own = [j.name for j in m.joints] if whole else m.actuated
    return [name for name in own if m.joint(name).kind.has_quaternion]


def _require_rates(m: Model, whole: bool, hint: str) -> None:
    """Refuse coordinates whose rates are no velocities."""
    if turning := _turning(m, whole):
        raise InputError(
            f"joint '{turning[0]}' of {m.name} turns by quaternions, {hint}; give samples (t, q, v, a)."
        )


def _fitting(m: Model, motion: Trajectory) -> Trajectory:
    """A trajectory of the same joints."""
    if tuple(motion.columns["q"]) not in (columns(m)["q"], columns(m, tuple(m.actuated))["q"]):
        raise ModelError(
            f"{motion!r} has other joints than {m.name}; it is another mechanism's motion."
        )
    return motion if motion.m is not None else replace(motion, m=m)


def _require_closed(m: Model, motion: Trajectory) -> None:
    """Refuse configurations that do not close the loops."""
    if not motion.whole or not m.closed or m.rheonomic:
        return
    from eslabon.solve.constraints.closed_configurations import residuals_at
    from eslabon.solve.constraints.closure_violation import accepts, violation_of

    q = motion.q.reshape(-1, m.nq)
    worst = float(violation_of(residuals_at(m, q)).max(initial=0.0))
    if not accepts(worst):
        raise AssemblyError(
            f"the motion violates loop closure of {m.name} by {worst:.3g} (rad, or lengths of its size); take it from m.assemble, "
            "m.complete or m.follow, or give the actuated coordinates alone."
        )


# -- forms ---------------------------------------------------------------------------------------------


def _held(m: Model, configuration: Any) -> Trajectory:
    try:
        q = finite(configuration, "the motion")
    except InputError as error:
        raise InputError(f"{FORMS}; {str(error).rstrip('.')}.") from None
    if q.ndim != 1:
        raise InputError(f"{FORMS}; it is an array of shape {q.shape}.")
    whole = _whole(m, len(q))
    q = normalize(m, q) if whole else q
    v = np.zeros((1, m.nv if whole else m.nu))
    source = held_configuration(q, v.shape[1])
    return _made(m, np.zeros(1), {"q": q[None], "v": v, "a": v}, "a configuration", source)


def _of_function(m: Model, function: Callable[[Any], Any]) -> Trajectory:
    """A function of time, whose rates are exact; its one row is that of t = 0."""
    source = formula_in_time(function)
    start = source.numbers(np.zeros(1))
    _require_rates(m, _whole(m, start.q.shape[-1]), "whose velocities are no rates")
    return _made(m, np.zeros(1), start._asdict(), "a function of time", source)


def _of_path(m: Model, path: JointPath, samples: int) -> Trajectory:
    whole = _whole(m, path.position(0.0).shape[-1])
    _require_rates(m, whole, "which no joint path tells")
    t = np.linspace(0.0, path.duration, samples)
    state = State(*path(t))
    source = coordinates_in_time(Interpolant.of_path(path))
    return _made(m, t, state._asdict(), path.title, source)


def _of_words(m: Model, given: Mapping[str, Any]) -> Trajectory:
    """Arrays by name."""
    known_words(given, list(WORDS), "a motion has no", InputError)
    if "q" not in given:
        raise InputError("a motion has coordinates 'q'; there are none.")
    if given.get("t") is None:
        if callable(given["q"]) or np.ndim(given["q"]) == 1:
            return _trajectory(m, given["q"], SAMPLES)
        raise InputError("a motion has times 't'; there are none.")
    t = finite(given["t"], "t of the motion")
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        raise InputError("the times of a motion are two or more, and increase.")
    if callable(given["q"]):
        made = formula_in_time(given["q"])
        _require_rates(
            m, _whole(m, made.numbers(t[:1]).q.shape[-1]), "whose velocities are no rates"
        )
        source = TimeFunction((float(t[0]), float(t[-1])), made.numbers, _resting(made, t))
        return _made(m, t, made.numbers(t)._asdict(), "a function of time", source)
    groups = {
        x: finite(given[x], f"{x} of the motion") for x in WORDS[1:] if given.get(x) is not None
    }
    q = groups["q"]
    if q.ndim < 2 or q.shape[-2] != len(t):
        raise InputError(
            f"a motion has a row of q for each of its {len(t)} times; q has shape {q.shape}."
        )
    whole = _whole(m, q.shape[-1])
    velocities = m.nv if whole else m.nu
    for word, width in (("v", velocities), ("a", velocities), ("tau", m.nu)):
        shape = (*q.shape[:-1], width)
        if word in groups and groups[word].shape != shape:
            raise InputError(
                f"{word} of the motion has shape {groups[word].shape}; {shape} is expected."
            )
    return _made(m, t, groups, "samples")


def _resting(made: TimeFunction, t: Floats) -> Callable[[Any], State]:
    """A function of time that rests outside a span."""
    from eslabon.numerics.scalars import casadi

    first, last = float(t[0]), float(t[-1])

    def symbols(time: Any) -> State:
        inside = casadi.logic_and(time >= first, time <= last)
        at = made.symbols(casadi.fmin(casadi.fmax(time, first), last))
        return State(at.q, inside * at.v, inside * at.a)

    return symbols


def _with_rates(motion: Trajectory, need: tuple[str, ...]) -> Trajectory:
    """The motion with velocities and accelerations, where they are needed, from a quintic
    spline."""
    missing = [x for x in ("v", "a") if x in need and x not in motion.groups]
    if not missing or ("v" not in missing and "tau" in motion.groups and motion.source is None):
        return motion  # accelerations follow from the forces of a simulated motion
    m = motion.m
    assert m is not None
    if turning := _turning(m, motion.whole):
        raise InputError(
            f"joint '{turning[0]}' of {m.name} turns by quaternions, whose rates are no velocities; give v and a of the motion too."
        )
    v, a = spline_rates(motion.t, motion.q, motion.groups.get("v"))
    return replace(motion, groups={**motion.groups, "v": v, "a": a})


def spline_rates(t: Floats, q: Floats, v: Floats | None = None) -> tuple[Floats, Floats]:
    """Velocities and accelerations of coordinates in time (..., times, n), by a quintic spline."""
    from scipy.interpolate import make_interp_spline

    if len(t) < FEWEST:
        raise InputError(
            f"velocities and accelerations of a motion follow from {FEWEST} times or more; give v and a too."
        )
    if v is not None:
        return v, make_interp_spline(t, v, k=5, axis=-2)(t, 1)
    spline = make_interp_spline(t, q, k=5, axis=-2)
    return spline(t, 1), spline(t, 2)


def require_span(motion: Trajectory) -> Trajectory:
    """Refuse a motion without an end, where its times are needed."""
    if motion.source is not None and motion.source.span == ENDLESS:
        raise InputError(f"{motion!r} has no end; give times with it, as (t, function) or (t, q).")
    return motion


def joint_path_of(motion: Trajectory) -> JointPath:
    """A motion with an end as a joint path, which can be joined, reversed and stretched; of a
    closed mechanism that of its actuated joints."""
    m, (start, end) = motion.m, motion.span
    assert m is not None
    places: Any = slice(None), slice(None)
    if motion.whole and m.closed:
        places = list(m.actuated_coordinates), list(m.actuated_velocities)

    def at(t: Floats) -> tuple[Floats, Floats, Floats]:
        q, v, a = motion.at(start + t)
        return q[..., places[0]], v[..., places[1]], a[..., places[1]]

    return JointPath(end - start, at, motion.statistics.method, np.array([0.0, end - start]))
