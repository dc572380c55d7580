"""Changing a mechanism without its file: the changed one is the one that would have been built."""

import casadi
import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from eslabon.files.toml_format import read_toml, to_toml
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.formulas.motion_state import MotionState
from eslabon.model import KINDS
from eslabon.model.configuration import integrate
from random_mechanisms import random_builder, random_inertia, random_pose, random_tree
from randomness import examples, seeds


def state(rng, m):
    q = integrate(m, m.neutral(), rng.normal(size=m.nv))
    return q, rng.normal(size=m.nv), rng.normal(size=m.nv)


def reads_back(m):
    assert read_toml(to_toml(m.description)) == m.description
    return m


def places(m, joints, which):
    """The places of joints in q or v, in the order given."""
    return np.concatenate(
        [np.arange(m.nq + m.nv)[getattr(m, which)[name]] for name in joints] or [[]]
    ).astype(int)


def forces(m, *motion):
    """The forces along every velocity, from the formula itself, for compiling takes longer."""
    symbols = [casadi.SX.sym(name, len(x)) for name, x in zip("qva", motion, strict=True)]
    return np.array(
        casadi.Function("f", symbols, [MotionState(m, *symbols[:2]).joint_forces(symbols[2])])(
            *motion
        )
    )[:, 0]


def pose(m, q, frame):
    R, p = on_body(placements(m, q), m.frame(frame).body, m.frame(frame).at)
    return np.column_stack([R, p])


def assert_same_dynamics(m, other, rng):
    """Of two mechanisms with the same joints in whatever order."""
    q, v, a = state(rng, m)
    names = [j.name for j in other.joints]
    qs, vs = places(m, names, "coordinates"), places(m, names, "velocities")
    assert sorted(names) == sorted(j.name for j in m.joints)
    assert forces(other, q[qs], v[vs], a[vs]) == pytest.approx(
        forces(m, q, v, a)[vs], rel=1e-9, abs=1e-10
    )


# -- one item ---------------------------------------------------------------------------------------------------------


def pendulum(**joint):
    b = (
        es.Builder("pendulum")
        .body("rod", mass=2.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
        .body("tip", 0.1)
    )
    b.joint("q1", "revolute", "ground", "rod", **joint).joint(
        "q2", "revolute", "rod", "tip", at=(1, 0, 0)
    )
    return b.frame("end", "tip", at=(0.2, 0, 0)).build()


@pytest.mark.parametrize(
    "changed",
    [{"viscous": 0.1}, {"coulomb": 0.2, "limits": (-1, 1)}, {"axis": "y"}, {"kind": "prismatic"}, {"at": (1, 2, 3)},
     {"kind": "helical", "pitch": 0.1}, {"kind": "spherical"}, {"home": 0.3, "velocity_limit": 2}, {"kind": "universal", "axis": ("x", "y")}],
)  # fmt: skip
def test_a_changed_joint_is_a_joint_built_so(changed):
    built = pendulum(**changed) if "kind" not in changed else None
    m = reads_back(pendulum().with_joint("q1", **changed))
    if built is not None:
        assert m == built
    else:
        assert m.joint("q1").kind.kind == changed["kind"]
    assert pendulum().joint("q1").viscous is None  # the first one is what it was


def test_what_a_joint_has_stays_until_it_is_taken_away():
    m = pendulum(axis=(0, 0.6, 0.8), viscous=0.1, limits=(-1, 2), home=0.5)
    slider = m.with_joint("q1", kind="prismatic")
    assert slider.joint("q1").kind.axis == (0, 0.6, 0.8)
    assert slider.joint("q1").limits == m.joint("q1").limits
    assert m.with_joint("q1", limits=None, viscous=None).joint("q1").limits is None
    with pytest.raises(
        es.ModelError,
        match="joint 'q1': limits need a joint whose coordinates are angles or lengths",
    ):
        m.with_joint("q1", kind="spherical", home=None, viscous=0.2)


def test_bodies_frames_actuators_and_gravity():
    m = pendulum()
    assert reads_back(m.with_body("rod", mass=3)).body("rod").mass == 3.0
    assert m.with_body("rod", mass=3).body("rod").com == m.body("rod").com
    assert reads_back(m.with_frame("end", at=(0.3, 0, 0))).frame("end").body == "tip"
    assert pose(m.with_frame("side", "rod", ((0, 1, 0), (0, 0, 1))), np.zeros(2), "side")[
        :, 3
    ].tolist() == [0, 1, 0]
    assert reads_back(m.with_actuated(["q2"])).actuated == ("q2",)
    assert m.with_actuated([]).nu == 0
    assert np.allclose(
        forces(m.with_gravity((0, 0, 0)), *np.array([[0.3, 0.1], [0, 0], [0, 0]])), 0
    )


def test_expressions_stay_expressions():
    m = es.load("elbow")
    heavy = reads_back(
        m.with_payload("tool", "m1/2", com=(0.1, 0.2, 0), inertia=("m1", "m1", "m1")).with_joint(
            "theta1", viscous="m2/10"
        )
    )
    other = m.with_parameters(m1=3.0).with_payload(
        "tool", 1.5, com=(0.1, 0.2, 0), inertia=(3.0, 3.0, 3.0)
    )
    assert heavy.with_parameters(m1=3.0).body("link2").inertia == pytest.approx(
        other.body("link2").inertia, rel=1e-12
    )
    assert heavy.parameters == m.parameters


@examples(12)
@given(seeds)
def test_a_payload_is_a_welded_body(seed):
    rng = np.random.default_rng(seed)
    b = random_builder(rng, list(rng.choice(list(KINDS), 3)))
    T, mass = random_pose(rng), 1.5
    m = b.frame("grip", b.describe().bodies[-1].name, at=T).build()
    load = {"com": rng.normal(size=3), "inertia": random_inertia(rng, mass)}
    welded = (
        b.body("load", mass, **load)
        .joint("weld", "fixed", b.describe().frames[-1].body, "load", at=T)
        .build()
    )
    loaded = reads_back(m.with_payload("grip", mass, **load))
    motion = state(rng, m)
    assert forces(loaded, *motion) == pytest.approx(forces(welded, *motion), rel=1e-9, abs=1e-10)


# -- fewer items ------------------------------------------------------------------------------------------------------


@examples(12)
@given(seeds)
def test_a_locked_joint_is_one_that_does_not_move(seed):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, list(rng.choice(list(KINDS), 5)))
    q, v, a = state(rng, m)
    held = [j.name for j in m.joints if j.nv and rng.random() < 0.5]
    free = [j.name for j in m.joints if j.name not in held]
    lock = reads_back(m.locked({name: q[m.coordinates[name]] for name in held}))
    still, qs, vs = (
        places(m, held, "velocities"),
        places(m, free, "coordinates"),
        places(m, free, "velocities"),
    )
    v[still], a[still] = 0.0, 0.0
    assert forces(lock, q[qs], v[vs], a[vs]) == pytest.approx(
        forces(m, q, v, a)[vs], rel=1e-9, abs=1e-10
    )
    for body in m.bodies:
        assert pose(lock, q[qs], body.name) == pytest.approx(pose(m, q, body.name), abs=1e-12)


@examples(12)
@given(seeds)
def test_what_is_split_and_joined_is_the_whole(seed):
    rng = np.random.default_rng(seed)
    b = random_builder(rng, list(rng.choice(list(KINDS), 5)))
    joint = b.describe().joints[int(rng.integers(1, 5))]
    b.spring(
        "stay", joint.parent, joint.child, rng.normal(size=3), rng.normal(size=3), 10.0, 1.0, 0.1
    )
    b.frame("there", joint.child, at=random_pose(rng))
    whole = b.build()
    rest, part = reads_back(whole.without(joint.name)), reads_back(whole.subtree(joint.child))
    assert {x.name for x in rest.joints}.isdisjoint(x.name for x in part.joints)
    assert_same_dynamics(whole, reads_back(es.join(rest, part, at=joint.parent)), rng)


@examples(12)
@given(seeds)
def test_a_mechanism_on_a_frame_moves_as_on_the_ground_there(seed):
    rng = np.random.default_rng(seed)
    arm, tool = (
        random_tree(rng, list(rng.choice(list(KINDS), 2))),
        random_tree(rng, list(rng.choice(list(KINDS), 2))),
    )
    T = random_pose(rng)
    arm = arm.with_frame("flange", arm.bodies[-1].name, T)
    both = reads_back(es.join(arm, tool, at="flange", prefix="tool_"))
    q = integrate(both, both.neutral(), rng.normal(size=both.nv))
    for body in tool.bodies:
        there = pose(arm, q[: arm.nq], "flange") @ np.vstack(
            [pose(tool, q[arm.nq :], body.name), [0, 0, 0, 1]]
        )
        clashes = any(b.name == body.name for b in arm.bodies)
        assert pose(both, q, f"tool_{body.name}" if clashes else body.name) == pytest.approx(
            there, abs=1e-12
        )


def test_loops_couplings_and_modes_follow_their_joints():
    m = es.load("five_bar").with_mode("up", es.load("five_bar").home())
    open_chain = reads_back(m.without(m.loops[0].name))
    assert not open_chain.closed
    first = m.joints[0]
    left = reads_back(m.without(first.name))
    assert not left.loops
    assert left.modes.keys() == {"up"}
    assert first.name not in left.actuated
    both = es.join(left, m.subtree(first.child), at="ground")
    assert both.configuration("up").size == m.nq


def test_an_unknown_item_is_answered_with_the_known_ones_in_order():
    m = es.load("five_bar")
    with pytest.raises(es.ModelError) as refused:
        m.without("?", kind="joint")
    assert str(refused.value).endswith(f"(known: {', '.join(sorted(j.name for j in m.joints))}).")


def test_parameters_that_differ_get_the_prefix():
    arm = es.load("elbow")
    same = reads_back(es.join(arm, arm, at="tool", prefix="b_"))
    assert same.parameters == arm.parameters
    other = reads_back(
        es.join(arm, arm.with_parameters(a1=0.5), at="tool", prefix="b_", name="two")
    )
    assert other.parameters["b_a1"] == 0.5
    tip = pose(other.with_parameters(b_a1=0.25), np.zeros(4), "b_tool")[0, 3]
    assert tip == pytest.approx(1 + 1 + 0.25 + 1)


def test_a_coupling_is_locked_with_its_two_joints():
    b = (
        es.Builder("gear")
        .body("a", 1)
        .body("b", 1)
        .joint("x", "revolute", "ground", "a")
        .joint("y", "revolute", "ground", "b")
    )
    m = b.couple("gear", "y", "x", 2.0).build()
    assert not reads_back(m.locked({"x": 0.5, "y": 1.0})).closed
    with pytest.raises(es.ModelError, match="'x' is coupled to 'y' by 'gear'; lock both"):
        m.locked({"x": 0.5})
    with pytest.raises(es.ModelError, match=r"the coupling 'gear' is missed by 0\.5"):
        m.locked({"x": 0.5, "y": 1.5})


# -- mistakes ---------------------------------------------------------------------------------------------------------

SLIDE = es.Builder("slide").body("a", 1)
SLIDE.parameter("u", 1.0)
SLIDE = SLIDE.joint("s", "revolute", "ground", "a", axis=("u", 0, 1)).build()
MISTAKES = {
    "joint": (lambda m: m.with_joint("q3", viscous=1), "pendulum has no joint 'q3'"),
    "field": (lambda m: m.with_joint("q1", viscos=1), "a joint has no field 'viscos'; did you mean 'viscous'"),
    "value": (lambda m: m.with_joint("q1", viscous=-1), "joint 'q1': the viscous is -1; it cannot be negative"),
    "kind": (lambda m: m.with_joint("q1", kind="ball"), "joint 'q1': there is no joint kind 'ball'"),
    "kind and axis": (lambda m: m.with_joint("q1", kind=KINDS["revolute"](), axis="x"), "leave them out"),
    "circle": (lambda m: m.with_joint("q1", parent="tip"), "hang on one another in a circle"),
    "parameter": (lambda m: m.with_body("rod", mass="M"), "uses the parameter 'M' in 'M', and no parameter has that name"),
    "body": (lambda m: m.with_body("ground", mass=1), "pendulum has no body 'ground'"),
    "new frame": (lambda m: m.with_frame("other"), "no frame 'other' yet; name the body that carries it"),
    "frame's body": (lambda m: m.with_frame("other", "rood"), "the body 'rood', and there is none; did you mean 'rod'"),
    "actuated": (lambda m: m.with_actuated(["q5"]), "the list of actuated joints names the joint 'q5'"),
    "gravity": (lambda m: m.with_gravity(9.81), "gravity needs 3 numbers"),
    "payload frame": (lambda m: m.with_payload("ende", 1), "has no frame or body 'ende'; did you mean 'end'"),
    "payload on the ground": (lambda m: m.with_payload("ground", 1), "fixed to the ground, where a payload weighs on nothing"),
    "payload": (lambda m: m.with_payload("end", -1), "the payload on 'end': the mass is -1; it cannot be negative"),
    "without": (lambda m: m.without("q3"), "pendulum has no item 'q3'"),
    "without all": (lambda m: m.without("q1"), "the mechanism has no joints"),
    "without a kind": (lambda m: m.without("q1", kind="gear"), "there is no kind of item 'gear'"),
    "locked": (lambda m: m.locked({"q3": 1}), "pendulum has no joint 'q3'"),
    "locked twice": (lambda m: m.locked({"q1": (1, 2)}), "the coordinates of 'q1' needs 1 number and has 2"),
    "locked by name": (lambda m: m.locked({"q1": "a"}), "'q1' is locked at plain numbers"),
    "locked where": (lambda m: m.locked("q1"), "joints gives values by name"),
    "locked axis": (lambda m: SLIDE.locked({"s": 0.1}), "joint 's' has an axis or pitch made of parameters"),
    "subtree": (lambda m: m.subtree("ground"), "pendulum has no body 'ground'"),
    "join": (lambda m: es.join(m, m, at="end"), "both pendulum and pendulum have the body 'end'; give a prefix"),
    "join a file": (lambda m: es.join(m, "five_bar", at="end"), "join takes two mechanisms"),
    "join where": (lambda m: es.join(m, m, at="tool", prefix="b"), "has no frame or body 'tool'"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_a_sentence(case):
    change, sentence = MISTAKES[case]
    with pytest.raises(es.ModelError, match=sentence) as caught:
        change(pendulum())
    assert str(caught.value).endswith((".", "?"))


def test_a_name_of_two_kinds_needs_the_kind():
    b = (
        es.Builder("two")
        .body("a", 1)
        .body("b", 1)
        .joint("x", "revolute", "ground", "a")
        .joint("y", "revolute", "a", "b")
    )
    m = b.spring("y", "ground", "b").build()
    with pytest.raises(es.ModelError, match="'y' is a joint and a spring; say which with kind="):
        m.without("y")
    assert m.without("y", kind="spring").nv == 2
    assert m.without("y", kind="joint").nv == 1


def test_only_what_is_new_is_suspicious():
    with pytest.warns(es.ModelWarning, match="no solid"):
        odd = pendulum().with_body("rod", inertia=(1, 0.1, 0.1))
    assert odd.with_joint("q1", viscous=0.1).plausibility_warnings  # known, and not said again


def test_a_motor_is_its_inertia_and_gear():
    m = es.load("elbow").with_joint("theta1", motor=(1e-4, 50.0))
    assert (m.joint("theta1").motor_inertia, m.joint("theta1").gear_ratio) == ((1e-4,), (50.0,))
    assert es.load("elbow").with_joint("theta1", motor=2e-4).joint("theta1").motor_inertia == (
        2e-4,
    )
    with pytest.raises(es.ModelError, match="inertia, gear ratio"):
        m.with_joint("theta1", motor=(1, 2, 3))
