"""States of a mechanism assembled anew for other values of a parameter s, what is held staying as it was: by Newton's iteration and
least squares in NumPy, so that derivatives along the closed configuration have something of another derivation beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import eslabon as es
from eslabon.model import Pose
from eslabon.model.configuration import integrate, velocity_names
from eslabon.model.parameter_expressions import number
from eslabon.model.poses import End
from eslabon.numerics.quaternions import rotation_vector_from_quaternion
from eslabon.numerics.rotations import quaternion_from_rotation
from random_mechanisms import random_closed

STEP = 2e-4
WEIGHTS = {1: 45.0, 2: -9.0, 3: 1.0}  # of central differences of sixth order, by 60 h
OFFSETS = np.array([k * sign for k in WEIGHTS for sign in (1, -1)])


def differences(f: Callable[[float], Any], h: float = STEP) -> Any:
    """The derivative at zero by central differences of sixth order."""
    return sum(w * (f(k * h) - f(-k * h)) for k, w in WEIGHTS.items()) / (60 * h)


def slope(values: np.ndarray, h: float = STEP) -> np.ndarray:
    """The same of values at h times the offsets, along the first axis."""
    weights = np.array([w * sign for w in WEIGHTS.values() for sign in (1, -1)])
    return np.tensordot(weights, values, axes=1) / (60 * h)


def designed(seed: int, kinds: list[str], cuts: list[str]) -> tuple[es.Mechanism, np.ndarray]:
    """A closed mechanism of which a length, a mass and the place of its tip depend on the parameter s.

    Seeds stand for fixed mechanisms for which this module finds states at other values of s. For many other seeds it
    finds none ("what is held cannot be"); whether there are none was not looked into.
    """
    m, q = random_closed(np.random.default_rng(seed), kinds, cuts)
    d = m.description
    loop, body, tip = d.loops[0], d.bodies[-1], d.frames[0]

    def moved(at: Pose) -> Pose:
        x, y, z = at.position
        return Pose((number(f"{float(x)!r} + s"), y, z), at.rpy)

    longer = replace(loop, first=End(loop.first.body, moved(loop.first.at)))
    heavier = replace(body, mass=number(f"{float(body.mass)!r} + s"))
    made = replace(
        d, parameters=(("s", 0.0),), loops=(longer, *d.loops[1:]), bodies=(*d.bodies[:-1], heavier),
        frames=(replace(tip, at=moved(tip.at)), *d.frames[1:]),
    )  # fmt: skip
    return es.Mechanism(made), q


@dataclass
class Held:
    """What stays: velocities by their places, and rows of a frame's pose."""

    m: es.Mechanism
    names: tuple[str, ...] = ()
    frame: str | None = None
    rows: tuple[int, ...] = ()
    parameter: str = "s"

    def values(self, s: Any) -> dict[str, Any]:
        """The parameter, s more than it is."""
        return {"parameters": {self.parameter: self.m.parameters[self.parameter] + s}}

    @property
    def places(self) -> list[int]:
        return [velocity_names(self.m).index(name) for name in self.names]

    def stacked(self, q: np.ndarray, **values: Any) -> np.ndarray:
        """The rows of the loops, of held velocities and of the frame."""
        parts = [self.m.constraint_jacobian(q, **values), np.eye(self.m.nv)[self.places]]
        if self.frame is not None:
            parts.append(self.m.jacobian(q, self.frame, "aligned", **values)[list(self.rows)])
        return np.concatenate(parts)

    def off(self, q: np.ndarray, start: np.ndarray, T: Any, **values: Any) -> np.ndarray:
        """By how much a configuration violates closure, and what is held."""
        parts = [self.m.constraint(q, **values), np.zeros(len(self.places))]
        if self.frame is not None:
            here = self.m.pose(q, self.frame, **values)
            turn = rotation_vector_from_quaternion(
                quaternion_from_rotation(here[:3, :3] @ T[:3, :3].T)
            )
            parts.append(np.concatenate([turn, here[:3, 3] - T[:3, 3]])[list(self.rows)])
        return np.concatenate(parts)

    def state(
        self, s: float, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The state beside (q, v, a) at another value of s."""
        values = self.values(s)
        T = None if self.frame is None else self.m.pose(q, self.frame)
        start = self.stacked(q)
        speeds, pushes = start @ v, start @ a + self._bias(q, v)
        here = q
        for _ in range(10):
            left = self.off(here, q, T, **values)
            here = np.asarray(integrate(self.m, here, -_solved(self.stacked(here, **values), left)))
        rows = self.stacked(here, **values)
        speed = _solved(rows, speeds)
        return here, speed, _solved(rows, pushes - self._bias(here, speed, **values))

    def _bias(self, q: np.ndarray, v: np.ndarray, **values: Any) -> np.ndarray:
        """What the rows' rates make of the velocities, by differences along the motion."""
        return differences(
            lambda h: self.stacked(np.asarray(integrate(self.m, q, h * v)), **values) @ v, 1e-3
        )

    def states(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, h: float = STEP
    ) -> dict[str, np.ndarray]:
        """Those at h times the offsets, with the steps of the parameter as "s"."""
        s = h * OFFSETS
        found = [np.stack(x) for x in zip(*(self.state(float(x), q, v, a) for x in s), strict=True)]
        return {**dict(zip("qva", found, strict=True)), "s": s}


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    found = np.linalg.lstsq(A, b, rcond=1e-9)[0]
    assert np.abs(A @ found - b).max() < 1e-6, "what is held cannot be"
    return found


def motion(
    m: es.Mechanism, q: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and accelerations that keep the loops closed."""
    J, held = m.constraint_jacobian(q), Held(m)
    v = rng.normal(size=m.nv)
    v -= np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
    a = rng.normal(size=m.nv)
    return v, a - np.linalg.pinv(J, rcond=1e-9) @ (J @ a + held._bias(q, v))
