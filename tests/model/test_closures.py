"""Constraints that are no joint: rows of a closure equation by themselves."""

import numpy as np
import pytest

import eslabon as es
from randomness import seeded

AXIS = (0.6, 0.0, 0.8)
FRAMES = {
    "first": ((0.1, -0.2, 0.3), (0.3, -0.2, 0.5)),
    "second": ((-0.2, 0.1, 0.05), (-0.4, 0.1, 0.9)),
}
POINT, ORIENTATION = ("spherical", {}), ("same_orientation", {})
LINE, PLANE = ("point_on_line", {"axis": AXIS}), ("point_on_plane", {"axis": AXIS})
PARALLEL = ("parallel_axes", {"axis": (AXIS, AXIS)})
ANGLE = ("constant_angle", {"axis": ("z", "y")})
# What a joint holds, taken apart.
JOINTS = [
    ("fixed", {}, (POINT, ORIENTATION)),
    ("revolute", {"axis": AXIS}, (POINT, PARALLEL)),
    ("prismatic", {"axis": AXIS}, (LINE, ORIENTATION)),
    ("cylindrical", {"axis": AXIS}, (LINE, PARALLEL)),
    ("planar", {"axis": AXIS}, (PLANE, PARALLEL)),
    ("universal", {"axis": ("z", "y")}, (POINT, ANGLE)),
]


def two_bodies(*loops):
    """Two bodies on spherical joints and sliders, bound by loops."""
    b = es.Builder("two_bodies")
    for k, (kind, at) in enumerate((("free", (0, 0, 0)), ("free", (0.5, 0.2, 0.1)))):
        b.body(
            f"b{k}",
            mass=1.0 + k,
            com=(0.1, 0.05 * k, -0.1),
            inertia=(0.1, 0.2, 0.25, 0.01, -0.02, 0.03),
        )
        b.joint(f"j{k}", kind, "ground", f"b{k}", at=at)
    for k, (kind, more) in enumerate(loops):
        b.loop(f"loop{k}", kind, "b0", "b1", **FRAMES, **more)
    return b.build()


def closed_state(m, seed=0):
    rng = seeded(seed)
    q = m.neutral() + 0.3 * rng.normal(size=m.nq)
    return m.project(q, rng.normal(size=m.nv))


@pytest.mark.parametrize(
    ("kind", "more", "parts"), JOINTS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_joint_is_the_constraints_it_is_made_of(kind, more, parts):
    joint, taken_apart = two_bodies((kind, more)), two_bodies(*parts)
    q, v = closed_state(joint)
    assert np.abs(taken_apart.constraint(q)).max() < 1e-9
    assert taken_apart.mobility().dof == joint.mobility().dof
    a = joint.forward_dynamics(q, v, [])
    for constraints in ("multipliers", "elimination", "udwadia_kalaba"):
        np.testing.assert_allclose(
            taken_apart.forward_dynamics(q, v, [], constraints=constraints), a, atol=1e-9
        )
    whole = joint.reactions(q, v, tau=[])[2]
    np.testing.assert_allclose(
        taken_apart.reactions(q, v, tau=[])[2:].sum(axis=0), whole, atol=1e-8
    )


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        PLANE, LINE, PARALLEL, ANGLE, ORIENTATION,
        ("point_on_plane", {"axis": "x", "offset": -0.2}),
        ("constant_angle", {"axis": ("x", AXIS), "angle": 1.1}),
        ("parallel_axes", {"axis": ("x", AXIS)}),
        ("distance", {"length": 0.7}),
    ],
)  # fmt: skip
def test_a_constraint_does_no_work_and_keeps_its_rows(kind, more):
    m = two_bodies((kind, more))
    q, v = closed_state(m, 1)
    assert m.dof == 12 - m.loops[0].kind.rows == 12 - len(m.constraint(q))
    a = m.forward_dynamics(q, v, [])
    power = np.einsum("ij,ij->", _wrenches(m, q, v, a), _twists(m, q, v))
    assert (
        abs(power) < 1e-9
    )  # forces on both bodies together, in the motion that the constraint leaves
    motion = m.simulate(q, v, np.linspace(0, 0.5, 11))
    assert np.abs(m.constraint(motion.q)).max() < 1e-9
    energy = m.energy(motion.q, motion.v).sum(axis=-1)
    np.testing.assert_allclose(energy, energy[0], atol=1e-6)


def _wrenches(m, q, v, a):
    """What the loop does to its bodies: the joint forces they need, less those of free bodies."""
    M, h = m.mass_matrix(q), m.coriolis_matrix(q, v) @ v + m.gravity_forces(q)
    return (M @ a + h).reshape(2, 6)


def _twists(m, q, v):
    return v.reshape(2, 6)


def test_distance_is_a_massless_rod():
    """A planar four-bar whose coupler has no mass, and the same with a distance in the coupler's place."""

    def four_bar(rod):
        b = es.Builder("four_bar", gravity=(0, -9.81, 0))
        b.body("crank", mass=1.0, com=(0.1, 0, 0), inertia=(0, 0.01, 0.01))
        b.body("rocker", mass=2.0, com=(0.2, 0, 0), inertia=(0, 0.03, 0.03))
        b.joint("q1", "revolute", "ground", "crank", home=1.0)
        if rod:
            b.body("coupler")
            b.joint("q2", "revolute", "crank", "coupler", at=(0.2, 0, 0), home=-0.8)
        b.joint("q3", "revolute", "ground", "rocker", at=(0.5, 0, 0), home=1.4)
        b.actuate("q1")
        if rod:
            b.loop("tip", "revolute", "coupler", "rocker", first=(0.5, 0, 0), second=(0.4, 0, 0))
        else:
            b.loop(
                "rod",
                "distance",
                "crank",
                "rocker",
                first=(0.2, 0, 0),
                second=(0.4, 0, 0),
                length=0.5,
            )
        return b.build()

    rod, distance = four_bar(True), four_bar(False)
    q, v, a = rod.complete([1.1], [2.0], [-3.0])
    tau = rod.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(distance.constraint(q[[0, 2]]), 0, atol=1e-9)
    np.testing.assert_allclose(
        distance.inverse_dynamics(q[[0, 2]], v[[0, 2]], a[[0, 2]]), tau, atol=1e-9
    )
    np.testing.assert_allclose(
        distance.forward_dynamics(q[[0, 2]], v[[0, 2]], tau), a[[0, 2]], atol=1e-9
    )


def test_constraints_are_written_and_read(tmp_path):
    m = two_bodies(
        ("distance", {"length": 0.7}), ("constant_angle", {"axis": ("x", AXIS), "angle": 1.1})
    )
    m.save(tmp_path / "two.toml")
    assert es.load(tmp_path / "two.toml") == m
    assert "distance" in str(m.mobility()) or m.mobility().dof == 10


@pytest.mark.parametrize(
    ("kind", "more", "sentence"),
    [
        ("distance", {}, "needs its length"),
        ("distance", {"length": -1}, "a distance is positive"),
        ("distance", {"length": 1, "axis": "x"}, "has no axis"),
        ("distance", {"length": 1, "pitch": 1}, "has no pitch"),
        ("constant_angle", {"axis": ("x", "y"), "angle": 0.0}, "of kind parallel_axes"),
        ("constant_angle", {"axis": "x"}, "two axes"),
        ("point_on_plane", {"axis": (0, 0, 0)}, "axis is zero"),
        ("revolute", {"length": 1}, "has no length"),
        ("nearness", {}, "there is no joint kind"),
    ],
)
def test_mistakes_end_in_a_sentence(kind, more, sentence):
    with pytest.raises(es.ModelError, match=sentence):
        two_bodies((kind, more))


def test_a_constraint_carries_no_body():
    with pytest.raises(es.ModelError, match="make it a loop"):
        es.Builder("x").joint("j", "distance", "ground", "b")
