"""Strategies of hypothesis for mechanisms in motion: trees and closed loops that move, and degenerate ones apart.

A strategy draws from few numbers, so that a failing example shrinks to one that can be read; it is printed as the TOML
from which `es.load` makes the mechanism again. `moving_trees` and `moving_loops` are made so that they move, with
velocities and accelerations that are not zero. `degenerate_trees` and `degenerate_loops` draw anything: locked
mechanisms, infinitesimal mobility, bodies without mass, no velocity; they are for tests of what is refused, and of what
holds without exception. tests/test_strategies.py counts what the strategies draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import casadi
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import eslabon as es
from eslabon.files.toml_format import to_toml
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.tree import chain, placements
from eslabon.mechanism import Builder, Mechanism
from eslabon.model import KINDS, JointKind
from eslabon.model.configuration import integrate
from eslabon.model.parameter_expressions import parameter
from eslabon.model.parsing import joint_kind
from eslabon.numerics.rotations import rotation_from_rpy
from random_mechanisms import CUTS, add_loop, allowed

ALL_KINDS = tuple(KINDS)
GRAVITY = st.sampled_from([(0, 0, -9.81), (0, 0, 0), (1.0, -2.0, 9.0)])
axes = st.sampled_from(["z", "x", "y", "-z", (1, 1, 0), (1, -2, 3)])
turns = st.sampled_from([(0, 0, 0), (0.7, 0, 0), (0, -0.4, 0), (0.3, 0.9, -1.2)])
lengths = st.sampled_from([0.0, 0.5, -0.3, 0.8])
points = st.tuples(lengths, lengths, lengths)
eighths = st.integers(-12, 12).map(lambda k: k / 8)  # of a radian or metre, also a second
nonzero_eighths = st.integers(-12, 11).map(lambda k: (k + (k >= 0)) / 8)


@dataclass(frozen=True)
class State:
    """A mechanism in motion: a configuration that closes its loops, velocities and accelerations."""

    m: Mechanism
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        state = (f"{name} = {getattr(self, name).tolist()}" for name in "qva")
        printer.text("\n".join(["", to_toml(self.m.description), *state]))


# -- parts --------------------------------------------------------------------------------------------------------


@st.composite
def joint_kinds(draw: st.DrawFn, names: tuple[str, ...] = ALL_KINDS) -> JointKind:
    """A joint kind with its axis and pitch."""
    name = draw(st.sampled_from(names))
    axis = None
    if name == "universal":
        axis = draw(axes.filter(lambda x: x != "y")), "y"
    elif name not in ("spherical", "free", "fixed"):
        axis = draw(axes)
    pitch = draw(st.sampled_from([0.2, -0.1])) if name == "helical" else None
    return joint_kind(name, axis, pitch, "joint")


@st.composite
def planar_kinds(draw: st.DrawFn, names: tuple[str, ...]) -> JointKind:
    """A joint kind that leaves bodies in the plane z = 0: turns about z, slides along the plane."""
    name = draw(st.sampled_from(names))
    along = (
        draw(st.sampled_from(["x", "y", (1, 2, 0)])) if name in ("prismatic", "universal") else "z"
    )
    axis = {"spherical": None, "fixed": None, "universal": ("z", along)}.get(name, along)
    return joint_kind(name, axis, None, "joint")


@st.composite
def solids(draw: st.DrawFn, light: bool) -> tuple[float, tuple, np.ndarray]:
    """Mass, centre and moments of a box, thick, flat or thin; perhaps of nothing."""
    mass = draw(st.sampled_from([1.0, 2.0, 0.4, *([0.0] if light else [])]))
    thin = [(0.5, 0, 0), (0.4, 0.3, 0)] if light else []
    a, b, c = draw(st.sampled_from([(0.3, 0.2, 0.1), (0.2, 0.2, 0.2), *thin]))
    R = np.asarray(rotation_from_rpy(draw(turns)))
    inertia = mass * R @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ R.T
    return mass, draw(points), inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def vectors(size: int, numbers: Any = eighths) -> st.SearchStrategy[np.ndarray]:
    """So many velocities."""
    return st.lists(numbers, min_size=size, max_size=size).map(np.array)


def subsets(items: list[str]) -> st.SearchStrategy[list[str]]:
    """All, some or none of them."""
    return st.lists(st.booleans(), min_size=len(items), max_size=len(items)).map(
        lambda out: [x for x, left in zip(items, out, strict=True) if not left]
    )


def start(draw: st.DrawFn) -> Builder:
    """No bodies yet; the parameters `size` and `density` will scale all lengths and masses."""
    b = Builder("drawn", gravity=draw(GRAVITY))
    b.parameter("size", 1.0)
    b.parameter("density", 1.0)
    return b


def add_body(
    draw: st.DrawFn, b: Builder, kind: JointKind, parent: str, at: Any, light: bool, acting: bool
) -> str:
    """One more body on its joint; the joint may have a motor with inertia and a spring."""
    size, density = parameter("size"), parameter("density")
    k, (xyz, rpy), (mass, com, moments) = len(b._items["bodies"]), at, draw(solids(light))
    more: dict[str, Any] = {}
    if acting and kind.nv and draw(st.integers(0, 3)) == 3:
        more = {"motor_inertia": 1e-2, "gear_ratio": 3.0} | (
            {} if kind.has_quaternion else {"stiffness": 4.0, "rest": 0.2}
        )
    b.body(f"body{k}", mass * density, com, tuple(x * density for x in moments))
    b.joint(f"joint{k}", kind, parent, f"body{k}", (tuple(x * size for x in xyz), rpy), **more)
    return f"body{k}"


def add_spring(draw: st.DrawFn, b: Builder) -> None:
    """A spring from the last body to the ground or another body, or none."""
    *others, last = "ground", *(body.name for body in b._items["bodies"])
    if draw(st.booleans()):
        b.spring(
            "spring",
            last,
            draw(st.sampled_from(others)),
            draw(points),
            (1.1, 0.6, -0.9),
            stiffness=30.0,
            length=0.4,
        )


# -- trees --------------------------------------------------------------------------------------------------------


@st.composite
def builders(
    draw: st.DrawFn,
    most: int = 4,
    names: tuple[str, ...] = ALL_KINDS,
    light: bool = True,
    acting: bool = True,
) -> Builder:
    """A tree of one to `most` bodies, fixed joints anywhere, scaled by the parameters `size` and `density`.

    `light` allows bodies without mass and rods without thickness; `acting` allows springs and motors with inertia.
    """
    b, bodies = start(draw), ["ground"]
    for _ in range(draw(st.integers(1, most))):
        kind, parent = draw(joint_kinds(names)), bodies[draw(st.integers(0, most)) % len(bodies)]
        bodies.append(add_body(draw, b, kind, parent, (draw(points), draw(turns)), light, acting))
    if acting:
        add_spring(draw, b)
    return b


def actuated(draw: st.DrawFn, b: Builder, subset: bool = True) -> Mechanism:
    """The mechanism with motors in all joints, or in a subset of them, perhaps in none."""
    moving = [j.name for j in b._items["joints"] if j.nv]
    return Mechanism(b.actuate(*(draw(subsets(moving)) if subset else moving)).describe())


@st.composite
def degenerate_trees(draw: st.DrawFn, subset: bool = True, **options: Any) -> State:
    """Any tree, with any velocities: bodies without mass, joints all fixed, and velocities of zero are among them."""
    m = actuated(draw, draw(builders(**options)), subset)
    return State(
        m, integrate(m, m.neutral(), draw(vectors(m.nv))), draw(vectors(m.nv)), draw(vectors(m.nv))
    )


@st.composite
def moving_trees(
    draw: st.DrawFn,
    subset: bool = True,
    most: int = 4,
    names: tuple[str, ...] = ALL_KINDS,
    acting: bool = True,
) -> State:
    """A tree of bodies with mass whose first joint moves; no velocity is zero."""
    moving = tuple(x for x in names if x != "fixed")
    b, bodies = start(draw), ["ground"]
    for k in range(draw(st.integers(1, most))):
        kind, parent = draw(joint_kinds(names if k else moving)), bodies[draw(st.integers(0, k))]
        at = draw(points), draw(turns)
        bodies.append(add_body(draw, b, kind, parent, at, light=False, acting=acting))
    if acting:
        add_spring(draw, b)
    m = actuated(draw, b, subset)
    q = integrate(m, m.neutral(), draw(vectors(m.nv)))
    return State(m, q, *(draw(vectors(m.nv, nonzero_eighths)) for _ in "va"))


# -- closed loops -------------------------------------------------------------------------------------------------


def stand(draw: st.DrawFn, b: Builder, numbers: Any) -> tuple[Mechanism, np.ndarray]:
    """The tree in a drawn configuration, which becomes the home of its joints."""
    tree = Mechanism(b.describe())
    q = integrate(tree, tree.neutral(), draw(vectors(tree.nv, numbers)))
    homes = {j.name: tuple(q[tree.coordinates[j.name]].tolist()) or None for j in tree.joints}
    b._items["joints"] = [replace(j, home=homes[j.name]) for j in b._items["joints"]]
    return tree, q


def add_gear(draw: st.DrawFn, b: Builder, tree: Mechanism, q: np.ndarray) -> bool:
    """A gear between the first joint of one coordinate and another, or none."""
    single = [j.name for j in tree.joints if j.nq == 1]
    if len(single) < 2 or draw(st.integers(0, 2)) < 2:
        return False
    one, other = single[0], draw(st.sampled_from(single[1:]))
    first, second = (float(q[tree.coordinates[name]][0]) for name in (one, other))
    b.couple("gear", other, one, ratio=2.0, offset=second - 2.0 * first)
    return True


def closure_equations(m: Mechanism) -> Callable[..., list[np.ndarray]]:
    """Phi, J and gamma as a function of q and v, by CasADi's evaluator: compiling it for one state takes longer."""
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    formulas = equations(m, q, v, tuple(range(len(row_names(m)))))[:3]
    function = casadi.Function("closure", [q, v], [casadi.densify(x) for x in formulas])
    return lambda q, v: [np.array(x) for x in function(q, v)]


@st.composite
def degenerate_loops(draw: st.DrawFn, **options: Any) -> State:
    """Any tree closed by cut joints of any kind and by gears where it stands: many move, and many are locked.

    The velocities keep the loops closed, and may be zero; the accelerations are any.
    """
    b = draw(builders(**options))
    tree, q = stand(draw, b, eighths)
    bodies = [body.name for body in tree.bodies]
    geared = add_gear(draw, b, tree, q)
    ends = st.tuples(
        st.sampled_from(bodies), st.sampled_from(["ground", *bodies]), points, turns
    ).filter(lambda x: x[0] != x[1])
    loops = st.tuples(ends, joint_kinds(CUTS), vectors(5))
    for k, ((here, there, *at), cut, move) in enumerate(
        draw(st.lists(loops, min_size=1 - geared, max_size=2))
    ):
        coordinate = cut.integrate(np.array(cut.neutral()), move[: cut.nv])
        add_loop(b, f"loop{k}", cut, placements(tree, q), here, there, at, coordinate)
    m = actuated(draw, b)
    J = closure_equations(m)(q, np.zeros(m.nv))[1]
    return State(m, q, allowed(J) @ draw(vectors(m.nv)), draw(vectors(m.nv)))


# -- loops that move ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Cut joints with the number of constraints that each adds, and the poses of their frames.

    A cut joint takes fewer degrees of freedom than the joints between its two bodies have, and all
    together take fewer than the tree has: whatever the lengths are, some velocities are left.
    """

    constraints: dict[str, int]
    kinds: Callable[..., st.SearchStrategy[JointKind]]
    poses: st.SearchStrategy[Any]


DOF = {name: len(kind.velocities) for name, kind in KINDS.items()}
spans = st.sampled_from([0.5, -0.3, 0.8])
about_z = st.sampled_from([0.0, 0.7, -1.2]).map(lambda angle: (0.0, 0.0, angle))
offsets = st.tuples(spans, spans, lengths)
SPATIAL = Family({name: 6 - DOF[name] for name in CUTS}, joint_kinds, st.tuples(offsets, turns))
PLANAR = Family(
    {"revolute": 2, "prismatic": 2, "cylindrical": 2, "spherical": 2, "universal": 2, "planar": 0, "fixed": 3},
    planar_kinds,
    st.tuples(offsets, about_z),
)  # fmt: skip


def dof_between(tree: Mechanism, here: str, there: str) -> int:
    """The degrees of freedom of the joints between two bodies."""
    first, second = ({j.name: j.nv for j in chain(tree, body)} for body in (here, there))
    return sum((first | second)[name] for name in first.keys() ^ second.keys())


def add_moving_loops(
    draw: st.DrawFn, b: Builder, tree: Mechanism, q: np.ndarray, family: Family, first: str
) -> None:
    """One or two cut joints, the first of the given kind if it can be, and perhaps a gear."""
    bodies = [body.name for body in reversed(tree.bodies)]
    pairs = [(x, y) for x in bodies for y in ("ground", *bodies) if x != y]
    paths = {pair: dof_between(tree, *pair) for pair in pairs}
    geared = tree.nv > 1 and add_gear(draw, b, tree, q)
    dof = tree.nv - geared
    for k in range(draw(st.sampled_from([1, 2, 0] if geared else [1, 2]))):
        most = min(dof, max(paths.values()))
        kinds = tuple(name for name, count in family.constraints.items() if count < most)
        if not kinds:
            return
        cut = draw(family.kinds((first,) if k == 0 and first in kinds else kinds))
        count = family.constraints[cut.kind]
        here, there = draw(st.sampled_from([x for x in pairs if paths[x] > count]))
        coordinate = cut.integrate(np.array(cut.neutral()), draw(vectors(5))[: cut.nv])
        add_loop(
            b, f"loop{k}", cut, placements(tree, q), here, there, draw(family.poses), coordinate
        )
        dof -= count


def close_loops(
    draw: st.DrawFn, b: Builder, family: Family, first: str, acting: bool
) -> tuple[Mechanism, np.ndarray]:
    """The tree closed where it stands, with springs and motors."""
    if acting:
        add_spring(draw, b)
    tree, q = stand(draw, b, nonzero_eighths)
    add_moving_loops(draw, b, tree, q, family, first)
    return actuated(draw, b), q


@st.composite
def planar_loops(draw: st.DrawFn, most: int, acting: bool) -> tuple[Mechanism, np.ndarray]:
    """A chain with parallel axes in any plane, closed to a four-bar, a slider-crank and the like."""
    b, plane, bodies = start(draw), draw(turns), ["ground"]
    for k in range(draw(st.integers(3, most + 1))):
        last = "planar" if k < 3 else "fixed"
        kind = draw(planar_kinds(("revolute", "prismatic", "revolute", last)))
        parent = bodies[-1] if k < 3 else draw(st.sampled_from(bodies[::-1]))
        xyz, rpy = draw(PLANAR.poses)
        at = xyz, plane if parent == "ground" else rpy
        bodies.append(add_body(draw, b, kind, parent, at, light=False, acting=acting))
    return close_loops(draw, b, PLANAR, draw(st.sampled_from(list(PLANAR.constraints))), acting)


@st.composite
def spatial_loops(draw: st.DrawFn, most: int, acting: bool) -> tuple[Mechanism, np.ndarray]:
    """A chain with more degrees of freedom than its cut joint takes, and perhaps a branch."""
    b, first, bodies = start(draw), draw(st.sampled_from(CUTS)), ["ground"]
    count, missing = draw(st.integers(2, most)), SPATIAL.constraints[first] + 1
    for k in range(count):
        least = missing - 6 * (count - 1 - k)  # the joints that follow cannot give more
        kind = draw(joint_kinds(tuple(x for x in ALL_KINDS if DOF[x] >= least)))
        at = draw(SPATIAL.poses)
        bodies.append(add_body(draw, b, kind, bodies[-1], at, light=False, acting=acting))
        missing -= kind.nv
    if count < most and draw(st.booleans()):
        kind, parent = draw(joint_kinds()), draw(st.sampled_from(bodies))
        add_body(draw, b, kind, parent, draw(SPATIAL.poses), light=False, acting=acting)
    return close_loops(draw, b, SPATIAL, first, acting)


LENGTHS = {
    "diaz_four_bar": ("L1", "L2", "L3", "L4"), "slider_crank": ("r", "l"), "five_bar": ("L1", "L2", "L3", "L4", "L5"),
    "parallelogram": ("r", "d"), "bennett": ("a", "alpha"), "rssr": ("r", "s", "l", "d"), "four_bar_spring": ("L", "k"),
    "spatial_four_bar": ("L1", "L2", "L3", "L4"), "n_four_bar": ("L", "m"), "sarrus": ("L", "b"),
    "rojas_7r_loop": ("a", "a7"), "planar_3rrr": ("r_base", "r_ee", "L"), "excavator": ("boom", "stick"),
}  # fmt: skip
library = cache(es.load)


@st.composite
def library_loops(draw: st.DrawFn, most: int, acting: bool) -> tuple[Mechanism, np.ndarray]:
    """A closed mechanism of the library with other lengths, assembled near its home configuration."""
    names = [x for x in LENGTHS if library(x).nv <= 2 * most and (acting or not library(x).springs)]
    name = draw(st.sampled_from(names))
    factors = {x: draw(st.sampled_from([1.0, 1.1, 0.9])) for x in LENGTHS[name]}
    other = library(name).with_parameters(
        **{x: library(name).parameters[x] * f for x, f in factors.items()}
    )
    motors = draw(subsets([j.name for j in other.joints if j.nv]))
    m = Mechanism(replace(other.description, name=f"drawn_{name}", actuated=tuple(motors)))
    return m, assemble(m, integrate(m, m.home(), draw(vectors(m.nv)) / 8))


def assemble(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """The closed configuration that Newton's method finds from q; an example without one does not count."""
    closure = closure_equations(m)
    for _ in range(15):
        phi, J, _ = closure(q, np.zeros(m.nv))
        if np.abs(phi).max() < 1e-13:
            break
        q = integrate(m, q, -np.linalg.lstsq(J, phi[:, 0], rcond=1e-9)[0])
    assume(np.abs(phi).max() < 1e-11)
    return q


def basis_of_motions(J: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span the velocities which constraints allow, the same on every machine.

    LAPACK may return any basis of a null space; these are columns of its projector, the longest first.
    """
    rest, columns = allowed(J), []
    while (sizes := np.linalg.norm(rest, axis=0).round(6)).max(initial=0.0) > 1e-4:
        unit = rest[:, sizes.argmax()] / np.linalg.norm(rest[:, sizes.argmax()])
        columns.append(unit)
        rest = rest - np.outer(unit, unit @ rest)
    return np.array(columns).reshape(-1, J.shape[1]).T


@st.composite
def moving_loops(
    draw: st.DrawFn, most: int = 4, acting: bool = True, scaled: bool = False
) -> State:
    """A closed mechanism that moves: planar, spatial, or of the library with other lengths.

    It has at most about `most` bodies, all with mass. The velocities keep the loops closed and are
    not zero; the accelerations keep them closed too. `acting` allows springs and motors with
    inertia; with `scaled`, the parameters `size` and `density` scale lengths and masses.
    """
    kinds = (
        (planar_loops, spatial_loops) if scaled else (planar_loops, spatial_loops, library_loops)
    )
    m, q = draw(st.one_of(*(kind(most, acting) for kind in kinds)))
    closure = closure_equations(m)
    J = closure(q, np.zeros(m.nv))[1]
    basis = basis_of_motions(J)
    along_v, along_a = (draw(vectors(m.nv, nonzero_eighths))[: basis.shape[1]] for _ in "va")
    v = basis @ along_v
    gamma = closure(q, v)[2][:, 0]
    return State(m, q, v, basis @ along_a + np.linalg.lstsq(J, gamma, rcond=1e-9)[0])
