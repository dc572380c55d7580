"""Random mechanisms of every joint kind, serial, branched and closed, from a generator. tests/strategies.py has those
that hypothesis draws and shrinks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.mechanism import Builder, Mechanism
from eslabon.model import KINDS, JointKind
from eslabon.model.parsing import joint_kind, pose

MOVING = [k for k in KINDS if k != "fixed"]
CUTS = tuple(k for k in KINDS if k != "free")
ONE_FREEDOM = ["revolute", "prismatic", "helical"]


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else -Q


def random_pose(rng: np.random.Generator) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = random_rotation(rng), rng.normal(size=3) / 3
    return T


def random_kind(rng: np.random.Generator, kind: str) -> dict:
    """Arguments for Builder.joint or Builder.loop."""
    made: dict = {"kind": kind}
    if kind == "universal":
        made["axis"] = (rng.normal(size=3), rng.normal(size=3))
    elif kind not in ("spherical", "free", "fixed"):
        made["axis"] = (
            rng.normal(size=3) if rng.random() < 0.7 else rng.choice(["x", "y", "z", "-x", "-z"])
        )
    if kind == "helical":
        made["pitch"] = rng.choice([-1, 1]) * rng.uniform(0.05, 0.5)
    return made


def random_inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    """The inertia of a cloud of points, which any solid body's is."""
    x = rng.normal(size=(5, 3)) * 0.1
    x -= x.mean(axis=0)
    return mass / 5 * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in x)


def random_coordinates(rng: np.random.Generator, m: Mechanism) -> np.ndarray:
    """Coordinates within reach of neutral, quaternions of unit length anywhere."""
    q = rng.uniform(-1.5, 1.5, m.nq)
    for joint in m.joints:
        if joint.nq != joint.nv:
            quaternion = q[m.coordinates[joint.name]][-4:]
            quaternion[:] = rng.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
    return q


def random_builder(rng: np.random.Generator, kinds: list[str], branched: bool = True) -> Builder:
    b = Builder("random", gravity=rng.normal(size=3))
    for k, kind in enumerate(kinds):
        mass = rng.uniform(0.5, 2.0)
        b.body(f"body{k}", mass, rng.normal(size=3) / 5, random_inertia(rng, mass))
        start = rng.integers(-1, k) if branched else k - 1
        parent = "ground" if start < 0 else f"body{start}"
        b.joint(
            f"joint{k}",
            parent=parent,
            child=f"body{k}",
            at=random_pose(rng),
            **random_kind(rng, kind),
        )
    b.frame("tip", f"body{len(kinds) - 1}", random_pose(rng))
    return b


def random_tree(
    rng: np.random.Generator, kinds: list[str] | None = None, branched: bool = True
) -> Mechanism:
    """A tree with the given joint kinds, or a few of any kind."""
    kinds = list(rng.choice(list(KINDS), size=rng.integers(2, 7))) if kinds is None else kinds
    return random_builder(
        rng, kinds if any(k != "fixed" for k in kinds) else ["revolute"], branched
    ).build()


def random_closed(
    rng: np.random.Generator, kinds: list[str], cuts: list[str]
) -> tuple[Mechanism, np.ndarray]:
    """A tree with cut joints between random bodies, and a configuration that closes them."""
    b = random_builder(rng, kinds)
    tree = b.build()
    q = random_coordinates(rng, tree)
    placed = placements(tree, q)
    b._items["joints"] = [
        replace(j, home=tuple(q[tree.coordinates[j.name]]) or None) for j in b._items["joints"]
    ]
    for k, kind in enumerate(cuts):
        here, there = (f"body{i}" for i in rng.choice(len(kinds), size=2, replace=False))
        arguments = random_kind(rng, kind)
        cut, at = (
            joint_kind(kind, arguments.get("axis"), arguments.get("pitch"), "cut"),
            random_pose(rng),
        )
        coordinate = rng.uniform(-1, 1, cut.nq) if cut.nq == cut.nv else rng.normal(size=cut.nq)
        add_loop(b, f"loop{k}", cut, placed, here, there, at, coordinate)
    return b.build(), q


def add_loop(
    b: Builder,
    name: str,
    cut: JointKind,
    placed: Any,
    here: str,
    there: str,
    at: Any,
    coordinate: np.ndarray,
) -> None:
    """A cut joint from `at` on the body `here` to wherever the body `there` stands if the joint has this coordinate."""
    first, second = pose(at, "first"), np.eye(4)
    end = on_body(placed, here, first) @ cut.transform(coordinate)
    second[:3, :3], second[:3, 3] = end.relative_to(placed[there])
    b.loop(name, cut, here, there, first, second)


def allowed(J: np.ndarray) -> np.ndarray:
    """The projector onto the velocities that constraints allow."""
    _, sizes, V = np.linalg.svd(J)
    free = V[(sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))).sum() :]
    return free.T @ free
