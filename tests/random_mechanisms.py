"""Random mechanisms of every joint kind, serial, branched and closed: by seed, and as strategies of hypothesis.

A strategy draws from few numbers, so that a failing example shrinks to one that can be read; it is printed as the TOML
from which `es.load` makes the mechanism again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from eslabon.algebra.rotations import rotation_from_rpy
from eslabon.kinematics.tree import compose, on_body, placements, relative
from eslabon.mechanism import Builder, Mechanism
from eslabon.model import KINDS, JointKind
from eslabon.model.builder import joint_kind, pose
from eslabon.model.configuration import integrate
from eslabon.write.toml import to_toml

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
        made["axis"] = rng.normal(size=3) if rng.random() < 0.7 else rng.choice(["x", "y", "z", "-x", "-z"])
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
        b.joint(f"joint{k}", parent=parent, child=f"body{k}", at=random_pose(rng), **random_kind(rng, kind))
    b.frame("tip", f"body{len(kinds) - 1}", random_pose(rng))
    return b


def random_tree(rng: np.random.Generator, kinds: list[str] | None = None, branched: bool = True) -> Mechanism:
    """A tree with the given joint kinds, or a few of any kind."""
    kinds = list(rng.choice(list(KINDS), size=rng.integers(2, 7))) if kinds is None else kinds
    return random_builder(rng, kinds if any(k != "fixed" for k in kinds) else ["revolute"], branched).build()


def random_closed(rng: np.random.Generator, kinds: list[str], cuts: list[str]) -> tuple[Mechanism, np.ndarray]:
    """A tree with cut joints between random bodies, and a configuration that closes them."""
    b = random_builder(rng, kinds)
    tree = b.build()
    q = random_coordinates(rng, tree)
    placed = placements(tree, q)
    b._items["joints"] = [replace(j, home=tuple(q[tree.coordinates[j.name]]) or None) for j in b._items["joints"]]
    for k, kind in enumerate(cuts):
        here, there = (f"body{i}" for i in rng.choice(len(kinds), size=2, replace=False))
        arguments = random_kind(rng, kind)
        cut, at = joint_kind(kind, arguments.get("axis"), arguments.get("pitch"), "cut"), random_pose(rng)
        coordinate = rng.uniform(-1, 1, cut.nq) if cut.nq == cut.nv else rng.normal(size=cut.nq)
        add_loop(b, f"loop{k}", cut, placed, here, there, at, coordinate)
    return b.build(), q


def add_loop(
    b: Builder, name: str, cut: JointKind, placed: Any, here: str, there: str, at: Any, coordinate: np.ndarray
) -> None:
    """A cut joint from `at` on the body `here` to wherever the body `there` stands if the joint has this coordinate."""
    first, second = pose(at, "first"), np.eye(4)
    end = compose(on_body(placed, here, first), cut.transform(coordinate))
    second[:3, :3], second[:3, 3] = relative(placed[there], end)
    b.loop(name, cut, here, there, first, second)


# -- strategies -------------------------------------------------------------------------------------------------------

# Each new mechanism is traced, and some compiled, so that a few examples are what there is time for; every run draws others,
# but on a server, where hypothesis draws the same each time.
few = settings(
    max_examples=8, deadline=None, database=None, print_blob=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)  # fmt: skip

lengths = st.sampled_from([0.0, 0.5, -0.3, 0.8])
points = st.tuples(lengths, lengths, lengths)
axes = st.sampled_from(["z", "x", "y", "-z", (1, 1, 0), (1, -2, 3)])
turns = st.sampled_from([(0, 0, 0), (0.7, 0, 0), (0, -0.4, 0), (0.3, 0.9, -1.2)])
eighths = st.integers(-12, 12).map(lambda k: k / 8)  # of a radian or metre, also a second


@dataclass(frozen=True)
class State:
    """A mechanism in motion: a configuration that closes its loops, and any velocities and accelerations."""

    m: Mechanism
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        state = (f"{name} = {getattr(self, name).tolist()}" for name in "qva")
        printer.text("\n".join(["", to_toml(self.m.description), *state]))


@st.composite
def joint_kinds(draw: st.DrawFn, names: tuple[str, ...] = tuple(KINDS)) -> JointKind:
    """A joint kind with its axis and pitch."""
    name = draw(st.sampled_from(names))
    axis = None
    if name == "universal":
        axis = draw(axes.filter(lambda x: x != "y")), "y"
    elif name not in ("spherical", "free", "fixed"):
        axis = draw(axes)
    return joint_kind(name, axis, draw(st.sampled_from([0.2, -0.1])) if name == "helical" else None, "joint")


@st.composite
def solids(draw: st.DrawFn, light: bool) -> tuple[float, tuple, np.ndarray]:
    """Mass, centre and moments of a box, thick, flat or thin; perhaps of nothing."""
    mass = draw(st.sampled_from([1.0, 2.0, 0.4, *([0.0] if light else [])]))
    thin = [(0.5, 0, 0), (0.4, 0.3, 0)] if light else []
    a, b, c = draw(st.sampled_from([(0.3, 0.2, 0.1), (0.2, 0.2, 0.2), *thin]))
    R = np.asarray(rotation_from_rpy(draw(turns)))
    inertia = mass * R @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ R.T
    return mass, draw(points), inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


@st.composite
def builders(
    draw: st.DrawFn, most: int = 4, names: tuple[str, ...] = tuple(KINDS), light: bool = True, acting: bool = True
) -> Builder:
    """A tree of one to `most` bodies, fixed joints anywhere, scaled by the parameters `size` and `density`.

    `light` allows bodies without mass and rods without thickness; `acting` allows springs and motors with inertia.
    """
    b = Builder("drawn", gravity=draw(st.sampled_from([(0, 0, -9.81), (0, 0, 0), (1.0, -2.0, 9.0)])))
    size, density = b.parameter("size", 1.0), b.parameter("density", 1.0)
    link = st.tuples(st.integers(0, most), joint_kinds(names), points, turns, solids(light), st.integers(0, 3))
    bodies = ["ground"]
    for k, (parent, kind, xyz, rpy, (mass, com, moments), motor) in enumerate(
        draw(st.lists(link, min_size=1, max_size=most))
    ):
        more = {}
        if acting and kind.nv and motor == 3:
            more = {"motor_inertia": 1e-2, "gear_ratio": 3.0} | ({"stiffness": 4.0, "rest": 0.2} if kind.plain else {})
        b.body(f"body{k}", mass * density, com, tuple(x * density for x in moments))
        at = tuple(x * size for x in xyz), rpy
        b.joint(f"joint{k}", kind, bodies[parent % len(bodies)], f"body{k}", at, **more)
        bodies.append(f"body{k}")
    if acting and draw(st.booleans()):
        other = draw(st.sampled_from(bodies[:-1]))
        b.spring("spring", bodies[-1], other, draw(points), (1.1, 0.6, -0.9), stiffness=30.0, length=0.4)
    return b


def vectors(size: int) -> st.SearchStrategy[np.ndarray]:
    """So many velocities."""
    return st.lists(eighths, min_size=size, max_size=size).map(np.array)


def subsets(items: list[str]) -> st.SearchStrategy[list[str]]:
    """All, some or none of them."""
    return st.lists(st.booleans(), min_size=len(items), max_size=len(items)).map(
        lambda out: [x for x, left in zip(items, out, strict=True) if not left]
    )


@st.composite
def states(draw: st.DrawFn, subset: bool = True, **options: Any) -> State:
    """A tree in motion, with motors in all joints, or in a subset of them, perhaps in none."""
    b = draw(builders(**options))
    moving = [j.name for j in b._items["joints"] if j.nv]
    m = Mechanism(b.actuate(*(draw(subsets(moving)) if subset else moving)).describe())
    return State(m, integrate(m, m.neutral(), draw(vectors(m.nv))), draw(vectors(m.nv)), draw(vectors(m.nv)))


@st.composite
def closed_states(draw: st.DrawFn, cuts: tuple[str, ...] = CUTS, **options: Any) -> State:
    """A mechanism closed by cut joints of any kind and by gears where its tree stands: many move, and many are locked.

    The velocities keep the loops closed; the accelerations are any.
    """
    b = draw(builders(**options))
    tree = Mechanism(b.describe())
    q = integrate(tree, tree.neutral(), draw(vectors(tree.nv)))
    own = {j.name: q[tree.coordinates[j.name]].tolist() for j in tree.joints}
    b._items["joints"] = [replace(j, home=tuple(own[j.name]) or None) for j in b._items["joints"]]
    single, bodies = [name for name, values in own.items() if len(values) == 1], [body.name for body in tree.bodies]
    geared = len(single) > 1 and draw(st.integers(0, 2)) == 2
    if geared:
        one, other = single[0], draw(st.sampled_from(single[1:]))
        b.couple("gear", other, one, ratio=2.0, offset=own[other][0] - 2.0 * own[one][0])
    ends = st.tuples(st.sampled_from(bodies), st.sampled_from(["ground", *bodies]), points, turns).filter(
        lambda x: x[0] != x[1]
    )
    loops = st.lists(st.tuples(ends, joint_kinds(cuts), vectors(5)), min_size=1 - geared, max_size=2)
    for k, ((here, there, *at), cut, move) in enumerate(draw(loops)):
        coordinate = cut.integrate(np.array(cut.neutral()), move[: cut.nv])
        add_loop(b, f"loop{k}", cut, placements(tree, q), here, there, at, coordinate)
    m = Mechanism(b.actuate(*draw(subsets([j.name for j in tree.joints if j.nv]))).describe())
    return State(m, q, allowed(m.constraint_jacobian(q)) @ draw(vectors(m.nv)), draw(vectors(m.nv)))


def allowed(J: np.ndarray) -> np.ndarray:
    """The projector onto the velocities that constraints allow."""
    _, sizes, V = np.linalg.svd(J)
    free = V[(sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))).sum() :]
    return free.T @ free
