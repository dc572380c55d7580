"""Assembly modes: the different ways a mechanism closes for the same prescribed values."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import flag
from eslabon.errors import AssemblyError, ModelError
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import Model
from eslabon.model.configuration import difference, integrate
from eslabon.model.scale import characteristic_length
from eslabon.numerics.tolerances import CONVERGED
from eslabon.solve.assembly.assemble import Assembly, refuse
from eslabon.solve.assembly.closing_formulas import solve_closure
from eslabon.solve.assembly.prescription import Prescription, home, prescribed
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.ranges import Ranges, distinct

Floats = np.ndarray[Any, np.dtype[np.float64]]
STARTS = 400  # from which ways of closing are looked for


def assembly_modes(
    m: Model, values: Any = None, *, joints: tuple[str, ...] | None = None, pose: Any = None, frame: str | None = None,
    limits: bool = True,
) -> Floats:  # fmt: skip
    """The different ways the mechanism closes for prescribed joint values or a pose, (modes, nq), the one nearest home
    first; angles are within half a turn of home's, or within their limits.

    What nothing drives makes no new mode: the pose of a free base stays at home, and configurations whose joints all
    stand in the same places, such as those of a rod that has spun between its balls, are one.
    """
    flag(limits, "limits")
    given, x = prescribed(m, values, joints, pose, frame)
    if x.ndim != given.core:
        raise ModelError("assembly_modes takes one set of values; call it for each.")
    if not m.nv:
        return home(m)[None]
    ranges = Ranges.of(m) if limits else Ranges.of(m).unlimited
    x = Assembly(m, given, ranges).admitted(x[None, None])[0, 0]
    q, passive = _scattered(m), _passive(m, given)
    places = given.coordinates(m)
    q[:, places] = x if given.frame is None else q[:, places]
    if given.frame is None:
        given = Prescription((*given.joints, *_driven_by_nothing(m, passive)))
        places = given.coordinates(m)
        x = q[0, places]
        q[:, places] = x
    poses = None if given.frame is None else np.broadcast_to(x, (len(q), 4, 4))
    q, size = solve_closure(m, given, ranges.unlimited, q, poses, iterations=100)
    found = _distinct(m, given, q[size < CONVERGED], bool(passive))
    if not found:
        refuse(m, given, q[:1], size[:1], x[None])
    inside = [p for p in (ranges.turned(p, p) for p in found) if ranges.contain(p)]
    if not inside:
        raise AssemblyError(
            f"{m.name} closes only with {ranges.outside(found[0])}; prescribe other values, or pass limits=False."
        )
    made = np.array(inside)
    return made[np.argsort(np.abs(difference(m, made, home(m))).max(axis=-1), kind="stable")]


def _distinct(m: Model, given: Prescription, closed: Floats, passive: bool) -> list[Floats]:
    """One configuration of each mode, its angles within half a turn of home's; where motions are passive, configurations
    with every joint in the same place are one mode."""
    middle, places = np.broadcast_to(home(m), closed.shape), given.coordinates(m)
    near = integrate(m, middle, difference(m, closed, middle))
    near[:, places] = closed[:, places]
    found = near[distinct(near, Ranges.of(m).apart, 1e-6)]
    if passive:
        points = np.array([_places(m, q) for q in found]).reshape(len(found), -1)
        scale = max(1.0, float(np.abs(points).max(initial=0.0)))
        found = found[
            distinct(points, lambda others, x: np.abs(others - x).max(axis=-1), 1e-6 * scale)
        ]
    return list(found)


def _passive(m: Model, given: Prescription) -> set[int]:
    """Velocities that stay free whatever the prescribed joints do; with a pose, whatever the actuators do."""
    held = tuple(given.velocities(m)) if given.core == 1 else m.actuated_velocities
    return set(partition(m, held).independent) - set(held)


def _driven_by_nothing(m: Model, passive: set[int]) -> list[str]:
    """Joints all of whose motions are passive, such as that of a base in the air."""
    return [j.name for j in m.joints if j.nv and set(range(m.nv)[m.velocities[j.name]]) <= passive]


def _places(m: Model, q: Floats) -> Floats:
    """Where the joints and loops stand."""
    placed = placements(m, q)
    points = [on_body(placed, j.parent, j.at)[1] for j in m.joints]
    points += [on_body(placed, loop.second.body, loop.second.at)[1] for loop in m.loops]
    return np.array([np.ravel(p) for p in points], dtype=float)


def _scattered(m: Model) -> Floats:
    """Home, and configurations all around: the same ones always. Lengths stay in reach."""
    rng, middle = np.random.default_rng(0), home(m)
    ranges = Ranges.of(m, characteristic_length(m))
    spread = ranges.unlimited.admitted(rng.uniform(-np.pi, np.pi, (STARTS, m.nq)))
    reach = middle * rng.uniform(0.3, 1.7, (STARTS, m.nq)) + characteristic_length(m) * rng.uniform(
        -0.2, 0.2, (STARTS, m.nq)
    )
    return np.vstack([middle, np.where(ranges.lengths, reach, spread)])
