"""A mechanism is data: ordered, immutable, with parameters put in."""

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from eslabon.formulas.kinematics.tree import placements
from eslabon.model import KINDS
from random_mechanisms import random_coordinates, random_tree


def four_bar():
    b = es.Builder("four_bar", gravity=(0, -9.81, 0))
    for name, mass, length in (("crank", 1.0, 1.0), ("coupler", 2.0, 3.0), ("rocker", 1.5, 1.75)):
        b.body(name, mass=mass, com=(length / 2, 0, 0), inertia=(0, mass, mass))
    b.joint("q1", "revolute", "ground", "crank", at=(0, 0, 0), axis="z", home=0.785)
    b.joint("q2", "revolute", "crank", "coupler", at=(1, 0, 0), axis="z", home=0.3236 - 0.785)
    b.joint("q3", "revolute", "ground", "rocker", at=(3, 0, 0), axis="z", home=np.pi - 1.8915)
    b.loop("close", "revolute", "coupler", "rocker", first=(3, 0, 0), second=(1.75, 0, 0), axis="z")
    b.spring(
        "s",
        "coupler",
        "ground",
        first=(1, 0, 0),
        second=(0, 2, 0),
        stiffness=4530,
        damping=0,
        length=0.08,
    )
    b.actuate("q1")
    b.frame("tip", "coupler", at=(3, 0, 0))
    return b


def test_the_builder_of_the_handbook():
    m = four_bar().build()
    assert (m.nq, m.nv, m.nu, m.actuated) == (3, 3, 1, ("q1",))
    assert [b.name for b in m.bodies] == ["crank", "coupler", "rocker"]
    assert m.gravity == (0.0, -9.81, 0.0)
    assert m.frame("tip").at.position == (3.0, 0.0, 0.0)
    assert m.springs[0].second.body == "ground"
    assert m.loop("close").second.at.position == (1.75, 0.0, 0.0)
    assert repr(m) == "<Mechanism four_bar: 3 bodies, 3 joints, 1 loop, 1 actuator>"


@pytest.mark.parametrize(
    "inertia",
    [(1, 2, 3), (1, 2, 3, 0, 0, 0), np.diag([1.0, 2.0, 3.0]), [[1, 0, 0], [0, 2, 0], [0, 0, 3]]],
)
def test_an_inertia_in_its_three_forms(inertia):
    b = es.Builder("one").body("a", 1, inertia=inertia).joint("j", "revolute", "ground", "a")
    assert np.array_equal(b.build().bodies[0].inertia_matrix(), np.diag([1.0, 2.0, 3.0]))


def test_six_moments_are_matrix_entries():
    b = (
        es.Builder("one")
        .body("a", 1, inertia=(3, 4, 5, 0.1, 0.2, 0.3))
        .joint("j", "revolute", "ground", "a")
    )
    expected = [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]]
    assert np.array_equal(b.build().bodies[0].inertia_matrix(), expected)


def test_a_pose_in_its_three_forms():
    rpy = (0.3, -0.4, 1.1)
    R = es.model.Pose(rpy=rpy).rotation()
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, (1, 2, 3)
    first, second, third = (
        es.Builder("p").body("a").joint("j", "revolute", "ground", "a", at=at).build().joints[0].at
        for at in ((1, 2, 3), ((1, 2, 3), rpy), T)
    )
    assert first.position == second.position == third.position == (1.0, 2.0, 3.0)
    assert np.allclose(second.rpy, third.rpy, atol=1e-15)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 - 1e-5])
def test_a_matrix_pose_keeps_its_rotation_at_the_singular_pitch(pitch):
    from eslabon.model.parsing import pose

    T = np.eye(4)
    T[:3, :3] = es.model.Pose(rpy=(0.7, pitch, -0.4)).rotation()
    assert np.allclose(pose(T, "p").rotation(), T[:3, :3], atol=4e-16)


def test_joints_come_parents_first_and_bodies_follow_them():
    b = es.Builder("order")
    for name in "abc":
        b.body(name)
    b.joint("third", "revolute", "b", "c").joint("second", "prismatic", "a", "b").joint(
        "first", "revolute", "ground", "a"
    )
    m = b.build()
    assert [j.name for j in m.joints] == ["first", "second", "third"]
    assert [x.name for x in m.bodies] == ["a", "b", "c"]
    assert m.parents == (-1, 0, 1)


def test_a_written_order_that_works_is_kept():
    b = es.Builder("order")
    for name in "abcd":
        b.body(name)
    b.joint("one", "revolute", "ground", "a").joint("two", "spherical", "ground", "b")
    b.joint("three", "fixed", "a", "c").joint("four", "planar", "b", "d")
    m = b.build()
    assert [j.name for j in m.joints] == ["one", "two", "three", "four"]
    assert m.coordinates["four"] == slice(5, 8)
    assert m.velocities["four"] == slice(4, 7)


def test_neutral_is_where_outer_frames_are_inner_ones(rng):
    m = random_tree(rng, list(KINDS))
    placed = placements(m, m.neutral())
    for joint in m.joints:
        R, p = joint.kind.transform(m.neutral()[m.coordinates[joint.name]])
        assert np.array_equal(R, np.eye(3))
        assert np.array_equal(p, np.zeros(3))
    assert len(placed) == len(m.bodies) + 1


def test_actuation_has_a_default_for_trees_and_none_for_loops():
    tree = (
        es.Builder("t")
        .body("a")
        .body("b")
        .joint("j", "revolute", "ground", "a")
        .joint("w", "fixed", "a", "b")
    )
    assert tree.build().actuated == ("j",)
    assert tree.actuate().build().actuated == ()
    closed = four_bar()
    closed._actuated = None
    assert closed.build().actuated == ()


def test_a_joint_of_several_degrees_of_freedom_has_several_actuators():
    m = es.Builder("u").body("a").joint("u", "universal", "ground", "a").actuate("u").build()
    assert (m.nu, m.actuated_velocities) == (2, (0, 1))


def test_optional_data_have_a_value_for_each_degree_of_freedom():
    b = es.Builder("data").body("a").body("b")
    b.joint(
        "u",
        "universal",
        "ground",
        "a",
        viscous=0.1,
        stiffness=(1, 2),
        limits=((-1, 1), (-2, 2)),
        home=(0.1, 0.2),
    )
    b.joint(
        "q",
        "revolute",
        "a",
        "b",
        limits=(-1, float("inf")),
        motor_inertia=2e-4,
        gear_ratio=-62.6,
        coulomb=0.4,
        rest=0.3,
    )
    u, q = b.build().joints
    assert (u.viscous, u.stiffness, u.limits) == (
        (0.1, 0.1),
        (1.0, 2.0),
        ((-1.0, 1.0), (-2.0, 2.0)),
    )
    assert (q.limits, q.motor_inertia, q.gear_ratio, q.rest) == (
        ((-1.0, float("inf")),),
        (2e-4,),
        (-62.6,),
        (0.3,),
    )


def test_a_mechanism_cannot_be_changed():
    m = four_bar().build()
    for name in ("bodies", "name", "colour", "description"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(m, name, None)
    with pytest.raises(AttributeError):
        m.bodies[0].mass = 3
    with pytest.raises(TypeError):
        m.parameters["L"] = 1


def test_equal_descriptions_make_equal_mechanisms():
    assert four_bar().build() == four_bar().build()
    assert hash(four_bar().build()) == hash(four_bar().build())
    assert four_bar().build() != four_bar().frame("other", "crank").build()
    assert four_bar().build() != "four_bar"


# -- parameters ---------------------------------------------------------------------------------------------------


def arm():
    b = es.Builder("arm")
    L, m = b.parameter("L", 0.5), b.parameter("m", 2.0)
    b.parameter("I", "m*L**2/12")
    b.body("rod", mass=m, com=(L / 2, 0, 0), inertia=(0, "I", "I"))
    b.joint(
        "j",
        "helical",
        "ground",
        "rod",
        at=("-L", 0, "L*sin(30*deg)"),
        axis=("L", 0, 1),
        pitch="L/100",
    )
    b.spring("s", "rod", "ground", first=(L, 0, 0), stiffness="10*m", length="L/4")
    return b.build()


def test_numbers_follow_the_parameters():
    m = arm()
    assert dict(m.parameters) == {"L": 0.5, "m": 2.0}
    assert m.bodies[0].inertia[1] == pytest.approx(2 * 0.25 / 12)
    longer = m.with_parameters(L=0.8)
    assert longer.bodies[0].com == (0.4, 0.0, 0.0)
    assert longer.bodies[0].inertia[1] == pytest.approx(2 * 0.64 / 12)
    assert longer.joints[0].at.position == pytest.approx((-0.8, 0, 0.4))
    assert longer.joints[0].kind.pitch == 0.008
    assert longer.joints[0].kind.axis == (0.8, 0.0, 1.0)
    assert longer.springs[0].length == 0.2
    assert m.bodies[0].com == (0.25, 0.0, 0.0)
    assert isinstance(longer, es.Mechanism)
    assert longer.with_parameters(L=0.5) == m


def test_parameters_are_checked_again():
    m = arm()
    with pytest.raises(es.ModelError, match="body 'rod': the mass is -1"):
        m.with_parameters(m=-1)
    with pytest.raises(es.ModelError, match="'I' is defined as 'm\\*L\\*\\*2/12'"):
        m.with_parameters(I=1)
    with pytest.raises(es.ModelError, match="no parameter 'l'"):
        m.with_parameters(l=1)
    with pytest.raises(es.ModelError, match="plain number"):
        m.with_parameters(L="m")
    with pytest.raises(es.ModelError, match="finite"):
        m.with_parameters(L=float("nan"))


def test_symbols_stand_for_parameters():
    m = arm()
    L = casadi.SX.sym("L")
    traced = m.with_symbols({"L": L})
    value = casadi.Function("I", [L], [traced.bodies[0].inertia[1]])
    assert float(value(0.8)) == pytest.approx(2 * 0.64 / 12, rel=1e-15)
    q = casadi.SX.sym("q", 1)
    R, p = placements(traced, q)["rod"]
    numeric = placements(m.with_parameters(L=0.7), np.array([0.4]))["rod"]
    got = casadi.Function("f", [q, L], [R, p])(0.4, 0.7)
    assert np.allclose(np.array(got[0]), numeric[0], atol=1e-15)
    assert np.allclose(np.array(got[1]).ravel(), numeric[1], atol=1e-15)


@given(st.integers(0, 2**32 - 1))
def test_random_trees_build_and_place(seed):
    rng = np.random.default_rng(seed)
    m = random_tree(rng)
    q = random_coordinates(rng, m)
    assert m.nq == len(q) == sum(j.nq for j in m.joints)
    batch = placements(m, np.stack([q, m.neutral()]))
    for name, (R, p) in placements(m, q).items():
        assert np.allclose(R @ np.transpose(R), np.eye(3), atol=1e-14)
        many = np.asarray(batch[name][0])
        assert np.allclose(many[0] if many.ndim == 3 else many, R, atol=1e-15)
        assert np.all(np.isfinite(p))


def test_what_is_found_by_name():
    m = four_bar().build()
    assert m.carriers["coupler"] is m.joint("q2")
    assert [m.bodies[m.body_places[b.name]] for b in m.bodies] == list(m.bodies)
    for find in (m.body, m.joint, m.loop, m.frame, m.configuration):
        for nonsense in ("zzz", "", 5, None, ["q1"], {"a": 1}, 10**5000):
            with pytest.raises(es.ModelError, match="four_bar has no"):
                find(nonsense)


def test_expressions_are_as_deep_as_recursion_can_take():
    b = es.Builder("deep")
    L = b.parameter("L", 1.0)
    b.body("a", mass=sum([L] * 150)).joint("j", "revolute", "ground", "a")
    assert b.build().bodies[0].mass == 150
    with pytest.raises(es.ModelError, match="make a part of it a parameter"):
        sum([L] * 300)
