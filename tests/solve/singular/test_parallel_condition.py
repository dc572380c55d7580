"""The parallel condition belongs to the mechanism: no model of the same loops gives another number."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.model.parsing import joint_kind
from eslabon.model.scale import characteristic_length
from eslabon.numerics.rotations import quaternion_from_rotation
from eslabon.solve.constraints.closed_configurations import around
from eslabon.solve.singular.actuated_motions import error_rows, measured_bodies
from eslabon.solve.singular.parallel_condition import symbolic_parallel_condition
from parallel_robots import three_prs
from scaling import scaled, scaled_coordinates

FACTORS = (1e-7, 1e-3, 1e6)


def towards(direction: np.ndarray) -> np.ndarray:
    """A rotation that turns z into a direction."""
    z = direction / np.linalg.norm(direction)
    x = np.cross([0.0, 1.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


class Platform:
    """The geometry of the library's Stewart-Gough platform, and one of its poses."""

    def __init__(self, lengths: np.ndarray | None = None) -> None:
        self.m = es.load("stewart_gough")
        home = self.m.project(self.m.home())
        own = home[list(self.m.actuated_coordinates)]
        self.q = self.m.assemble(own if lengths is None else lengths, guess=home)
        self.pose = self.m.pose(self.q, "platform")
        self.base = [self.m.joint(f"base{k}").at.translation() for k in range(1, 7)]
        balls = [self.m.loop(f"ball{k}").second.at.translation() for k in range(2, 7)]
        self.balls = [np.zeros(3), *balls]
        self.base, self.balls = (np.array(x, dtype=float) for x in (self.base, self.balls))

    def built(self, base: str, ball: str, outward: bool = True) -> tuple[es.Mechanism, np.ndarray]:
        """Legs of these joints with a platform that no joint carries: with the cut at the balls, or
        hanging from the platform with the cut at the base."""
        R, p = self.pose[:3, :3], self.pose[:3, 3]
        home = tuple(map(float, [*p, *quaternion_from_rotation(R)]))
        b = es.Builder("platform").body("platform", mass=1.0)
        b.joint("place", "free", "ground", "platform", home=home)
        for k, (foot, head) in enumerate(zip(self.base, self.balls, strict=True), 1):
            leg = p + R @ head - foot
            length = float(np.linalg.norm(leg))
            b.body(f"lower{k}").body(f"upper{k}")
            start, end = (f"lower{k}", f"upper{k}") if outward else (f"upper{k}", f"lower{k}")
            kind, parent, at = (base, "ground", foot) if outward else (ball, "platform", head)
            axes = {"axis": ("x", "y")} if kind == "universal" else {}
            own = tuple(map(float, turned(kind, leg if outward else -R.T @ leg)))
            b.joint(f"first{k}", kind, parent, start, at=tuple(at), home=own, **axes)
            b.joint(f"slide{k}", "prismatic", start, end, axis="z", home=length)
            ends = ("platform", head, ball) if outward else ("ground", foot, base)
            cut = {"axis": ("x", "y")} if ends[2] == "universal" else {}
            b.loop(f"cut{k}", ends[2], ends[0], end, first=tuple(ends[1]), **cut)
        m = b.actuate(*(f"slide{k}" for k in range(1, 7))).build()
        return m, m.project(m.home())


def turned(kind: str, leg: np.ndarray) -> list[float]:
    """The coordinates of a joint whose z axis goes along a leg."""
    if kind == "spherical":
        return list(quaternion_from_rotation(towards(leg)))
    x, y, z = leg / np.linalg.norm(leg)
    return [float(np.arctan2(-y, z)), float(np.arcsin(x))]


PAIRS = [("universal", "spherical", True), ("spherical", "spherical", True),
         ("spherical", "spherical", False), ("spherical", "universal", False)]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_legs_that_spin_and_legs_that_do_not_are_alike(pair, rng):
    geometry = Platform(0.65 + 0.03 * rng.normal(size=6))
    expected = geometry.m.conditions(geometry.q)
    m, q = geometry.built(*pair)
    found = m.conditions(q, "platform")
    assert found.parallel == pytest.approx(float(expected.parallel), rel=1e-9)
    assert not found.singular
    longer = geometry.m.conditions(geometry.q, length=0.2).parallel
    assert m.conditions(q, length=0.2).parallel == pytest.approx(float(longer), rel=1e-9)
    assert abs(longer - expected.parallel) > 0.01  # the length is heeded


def test_rods_of_a_delta_may_spin():
    m = es.load("delta")
    q = m.assemble([0.1, 0.3, -0.2])
    d, own, names = m.description, [], {j.name for j in m.joints if j.name.startswith("elbow")}
    for joint in m.joints:
        x = q[m.coordinates[joint.name]]
        own.append(
            quaternion_from_rotation(joint.kind.transform(x)[0]) if joint.name in names else x
        )
    ball = joint_kind("spherical", None, None, "elbow")
    joints = [
        replace(j, kind=ball, home=None, limits=None) if j.name in names else j for j in d.joints
    ]
    spinning = es.Mechanism(replace(d, joints=tuple(joints)))
    found, expected = spinning.conditions(np.concatenate(own)), m.conditions(q)
    assert spinning.dof == m.dof + 6
    assert found.parallel == pytest.approx(float(expected.parallel), rel=1e-9)
    assert found.serial == pytest.approx(float(expected.serial), rel=1e-9)


def cut_elsewhere() -> es.Mechanism:
    """The five-bar cut at the elbow of its second crank and not at the tip."""
    b = es.Builder("five_bar")
    for name in ("link2", "link3", "link4", "link5"):
        b.body(name, mass=0.01)
    b.joint("theta2", "revolute", "ground", "link2").joint(
        "theta3", "revolute", "link2", "link3", at=(0.04, 0, 0)
    )
    b.joint("tip", "revolute", "link3", "link4", at=(0.1, 0, 0))
    b.joint("theta5", "revolute", "ground", "link5", at=(0.1, 0, 0))
    b.loop("theta4", "revolute", "link5", "link4", first=(0.04, 0, 0), second=(0.1, 0, 0))
    return b.actuate("theta2", "theta5").frame("point", "link3", at=(0.1, 0, 0)).build()


def test_which_joint_is_cut_makes_no_difference(rng):
    m, other = es.load("five_bar"), cut_elsewhere()
    for motors in [2.0, 1.0] + 0.2 * rng.normal(size=(4, 2)):
        q = m.assemble(motors)
        x = dict(zip(("theta2", "theta3", "theta5", "theta4"), q, strict=True))
        tip = x["theta5"] + x["theta4"] + np.pi - x["theta2"] - x["theta3"]
        found = other.conditions(other.project([x["theta2"], x["theta3"], tip, x["theta5"]]))
        expected = m.conditions(q)
        assert found.parallel == pytest.approx(float(expected.parallel), rel=1e-9)
        assert found.serial == pytest.approx(float(expected.serial), rel=1e-9)


def test_redundant_rows_make_no_difference():
    """A hinge of a planar loop holds five components, a ball three, of which one is redundant too."""
    m = es.load("planar_3rrr")
    d, ball = m.description, joint_kind("spherical", None, None, "cut")
    other = es.Mechanism(replace(d, loops=tuple(replace(x, kind=ball) for x in d.loops)))
    q = m.project(m.home())
    assert other.conditions(q).parallel == pytest.approx(float(m.conditions(q).parallel), rel=1e-9)


def test_where_the_base_stands_makes_no_difference():
    geometry = Platform()
    far = Platform()
    far.base = far.base + np.array([3e3, 2e3, 0])
    far.pose = far.pose + np.array([[0, 0, 0, 3e3], [0, 0, 0, 2e3], [0, 0, 0, 0], [0, 0, 0, 0]])
    (m, q), (moved, p) = (x.built("spherical", "spherical") for x in (geometry, far))
    expected = float(m.conditions(q).parallel)
    assert moved.conditions(p).parallel == pytest.approx(expected, rel=1e-9)


def test_it_goes_smoothly_through_zero_with_a_sign():
    """At a flat parallelogram two branches meet, and the actuator holds it less and less before."""
    m = es.load("parallelogram")
    angles = np.linspace(0.3, -0.3, 60)
    q = m.assemble(angles[:, None], guess=m.assemble([0.3]), continuation=True, singular="ignore")
    found = m.conditions(q)
    signed = found.parallel * found.sign
    assert np.abs(np.diff(signed, 2)).max() < 1e-3
    (passage,) = found.passages
    assert np.interp(passage.at, range(60), angles) == pytest.approx(0.0, abs=1e-4)


def test_a_slider_that_drives_is_held_no_more_at_a_dead_centre():
    m = es.load("slider_crank").with_actuated(["slide"])
    q = es.load("slider_crank").assemble(np.linspace(0.5, 1e-6, 4)[:, None])
    found = m.conditions(q).parallel
    assert np.all(np.diff(found) < 0)
    assert found[-1] < 1e-5
    both = m.with_actuated(["crank", "slide"]).conditions(q)  # the crank holds it there
    assert both.parallel.min() > 0.1
    assert np.all(both.sign == 1)


def test_spherical_linkages_count_by_their_bodies():
    """All axes meet in the ground's origin, where all joints are: no centre moves."""
    b, turn = es.Builder("spherical"), np.pi / 3
    for k in range(1, 4):
        b.body(f"link{k}", mass=1.0)
        at = (0, 0, 0), (turn if k > 1 else 0, 0, 0)
        b.joint(
            f"q{k}",
            "revolute",
            f"link{k - 1}" if k > 1 else "ground",
            f"link{k}",
            at=at,
            home=0.4 * k,
        )
    tree = b.build()
    T = tree.pose(tree.home(), "link3")
    second = np.eye(4)
    second[:3, :3] = T[:3, :3].T @ es.algebra.rotation_about([0, 1, 0], 0.8)
    first = np.eye(4)
    first[:3, :3] = es.algebra.rotation_about([0, 1, 0], 0.8)
    m = (
        b.loop("cut", "revolute", "ground", "link3", first=first, second=second)
        .actuate("q1")
        .build()
    )
    found = m.conditions(m.project(m.home()))
    assert len(measured_bodies(m).twists) == 3
    assert 0.01 < found.parallel < 1


@pytest.mark.parametrize(
    "name", ["five_bar", "slider_crank", "stewart_gough", "bennett", "excavator"]
)
@pytest.mark.parametrize("factor", FACTORS)
def test_no_digit_depends_on_the_unit_of_length(name, factor):
    m = es.load(name)
    small, q = scaled(m, factor), m.project(m.home())
    p, frame = scaled_coordinates(m, q, factor), m.bodies[-1].name
    one, other = m.conditions(q, frame), small.conditions(p, frame)
    for word in ("parallel", "serial", "mobility", "sign", "serial_sign"):
        np.testing.assert_allclose(
            getattr(other, word), getattr(one, word), rtol=1e-9, err_msg=word
        )
    assert one.singular == other.singular
    given = small.conditions(p, frame, length=0.3 * factor)
    assert given.parallel == pytest.approx(
        float(m.conditions(q, frame, length=0.3).parallel), rel=1e-9
    )


# -- in symbols ------------------------------------------------------------------------------------


def with_motors(m: es.Mechanism, count: int) -> es.Mechanism:
    """The same with so many more of its joints driven."""
    others = [j.name for j in m.joints if j.nv == 1 and j.name not in m.actuated]
    return es.Mechanism(replace(m.description, actuated=(*m.actuated, *others[:count])))


SYMBOLIC = {
    "planar": lambda: es.load("planar_3rrr"),
    "spatial": lambda: es.load("rojas_7r_loop"),
    "redundant": lambda: es.load("sarrus"),
    "redundant on its manifold alone": lambda: es.load("bennett"),
    "flexible": lambda: es.load("rojas_hexiflex"),
    "surplus in a plane": lambda: with_motors(es.load("five_bar"), 1),
    "surplus in space": lambda: with_motors(three_prs(), 2),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_in_symbols_it_is_the_same_number(name):
    m = SYMBOLIC[name]()
    q, unit = np.stack(list(around(m))), float(characteristic_length(m))
    x = casadi.SX.sym("q", m.nq)
    found = symbolic_parallel_condition(m, x, unit, measured_bodies(m), error_rows(m))
    values = casadi.Function("condition", [x], [found])(q.T).full().ravel()
    np.testing.assert_allclose(values, m.conditions(q).parallel, rtol=0, atol=1e-12)


def test_surplus_motors_of_a_planar_loop_hold_it_better_whatever_is_cut():
    """Locked motors that are more than its degrees of freedom leave errors with which the loop cannot
    close; those do not count."""
    m, other = (
        es.Mechanism(replace(x.description, actuated=("theta2", "theta5", "theta3")))
        for x in (es.load("five_bar"), cut_elsewhere())
    )
    for motors in ([2.0, 1.0], [2.2, 0.8]):
        q = es.load("five_bar").assemble(motors)
        x = dict(zip(("theta2", "theta3", "theta5", "theta4"), q, strict=True))
        tip = x["theta5"] + x["theta4"] + np.pi - x["theta2"] - x["theta3"]
        found = other.conditions(other.project([x["theta2"], x["theta3"], tip, x["theta5"]]))
        assert found.parallel == pytest.approx(float(m.conditions(q).parallel), rel=1e-9)
