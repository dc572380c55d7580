"""U, V and W as sums over bodies and what else acts: complete, and each share what a change of its source alone changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from eslabon.model import Body
from randomness import examples, seeded
from strategies import State, moving_loops, moving_trees

SUM = 1e-11  # of the largest entry: the same terms in another order


def complete(m, lm):
    made = lm.contributions()
    for name in "UVW":
        total, parts = getattr(lm, name), getattr(made, name)
        assert parts.shape == (*lm.batch, len(made.sources), lm.dof, lm.dof)
        size = max(1.0, np.abs(parts).max(initial=0.0), np.abs(total).max(initial=0.0))
        np.testing.assert_allclose(parts.sum(axis=-3), total, rtol=0, atol=SUM * size)
    assert made.weight.shape == (*lm.batch, len(m.bodies), lm.dof, lm.dof)
    return made


@examples(4)  # two formulas are compiled for each
@given(moving_trees())
def test_the_contributions_add_up_to_the_linear_model_of_a_tree(s: State):
    complete(s.m, s.m.linearize(s.q, s.v, np.ones(s.m.nu)))


@examples(4)
@given(moving_loops(most=3))
def test_and_of_a_closed_mechanism(s: State):
    complete(s.m, s.m.linearize(s.q, s.v, np.ones(s.m.nu)))


def heavier(m, name):
    """The mechanism with one body twice as heavy."""
    bodies = tuple(
        Body(b.name, 2 * b.mass, b.com, tuple(2 * x for x in b.inertia)) if b.name == name else b
        for b in m.bodies
    )
    return es.Mechanism(replace(m.description, bodies=bodies))


def moving(name):
    m, rng = es.load(name), seeded("moving")
    if not m.closed:
        return m, *(rng.normal(size=m.nv) for _ in range(3))
    at = m.project(m.home())
    q = (at[0] if isinstance(at, tuple) else at)[..., list(m.actuated_coordinates)]
    return m, *m.complete(q + 0.01, rng.normal(size=m.nu), rng.normal(size=m.nu))


@pytest.mark.parametrize("name", ["rojas_t3", "five_bar", "planar_3rrr"])
def test_a_body_twice_as_heavy_contributes_twice(name):
    m, q, v, a = moving(name)
    lm = m.linearize(q, v, a=a)
    made = complete(m, lm)
    for body in (m.bodies[1].name, m.bodies[-1].name):
        other = heavier(m, body).linearize(q, v, a=a)
        for part, letter in zip(made.of(body), "UVW", strict=True):
            change = getattr(other, letter) - getattr(lm, letter)
            np.testing.assert_allclose(
                part, change, rtol=0, atol=1e-10 * max(1e-3, np.abs(change).max())
            )


def test_weight_is_what_gravity_does():
    m, q, v, a = moving("puma560")
    made = m.linearize(q, v, a=a).contributions()
    np.testing.assert_allclose(
        made.weight.sum(axis=0), m.derivative("gravity_forces", "q", q), atol=1e-11
    )
    at_rest = m.linearize(q).contributions()
    np.testing.assert_allclose(at_rest.W, at_rest.weight, atol=1e-12)
    floating = (
        es.Mechanism(replace(m.description, gravity=(0.0, 0.0, 0.0)))
        .linearize(q, v, a=a)
        .contributions()
    )
    assert not floating.weight.any()
    np.testing.assert_allclose(made.W - made.weight, floating.W, atol=1e-11)


def arm():
    b = es.Builder("arm")
    b.body("upper", 2.0, (0.3, 0, 0), (0.01, 0.1, 0.1))
    b.body("lower", 1.0, (0.2, 0, 0), (0.01, 0.05, 0.05))
    b.joint(
        "shoulder",
        "revolute",
        "ground",
        "upper",
        axis="y",
        motor_inertia=1e-3,
        gear_ratio=10.0,
        viscous=0.4,
    )
    b.joint(
        "elbow",
        "revolute",
        "upper",
        "lower",
        ((0.6, 0, 0), (0, 0, 0)),
        axis="y",
        stiffness=5.0,
        rest=0.1,
        coulomb=0.2,
    )
    b.spring(
        "spring",
        "lower",
        "ground",
        (0.4, 0, 0),
        (0, 0, 1.0),
        stiffness=30.0,
        length=0.5,
        damping=2.0,
    )
    b.frame("tip", "lower", (0.4, 0, 0))
    return b.actuate("shoulder", "elbow").build()


def test_motors_springs_friction_and_wrenches_have_their_own_rows():
    m, q, v = arm(), [0.3, -0.5], [0.2, 0.7]
    lm = m.linearize(q, v, external={"tip": [0, 0.5, 0, 3.0, 0, -8.0]})
    made = complete(m, lm)
    assert made.sources == ("upper", "lower", "motors", "springs", "friction", "wrenches")
    U, V, W = made.of("motors")
    np.testing.assert_allclose(U, [[0.1, 0], [0, 0]])
    assert not V.any()
    assert not W.any()
    U, V, W = made.of("friction")
    np.testing.assert_allclose(V, np.diag([0.4, V[1, 1]]))
    assert not U.any()
    assert not W.any()
    U, V, W = made.of("springs")
    assert not U.any()
    assert V[0, 0] > 0
    assert W[1, 1] != 0  # the elbow's, and that between points
    assert made.of("wrenches")[2].any()
    assert not made.of("wrenches")[1].any()


def test_forces_of_actuators_on_dependent_joints_contribute():
    m = es.load("five_bar")
    q, v, _ = m.complete([2.0, 1.0], [0.3, 0.2], [0.0, 0.0])
    lm = m.linearize(q, v, [0.4, -0.2], independent=("theta3", "theta4"))
    made = complete(m, lm)
    assert made.sources[-1] == "actuators"
    assert made.of("actuators")[2].any()
    assert "actuators" not in m.linearize(q, v, [0.4, -0.2]).contributions().sources


def test_many_states_and_parameters_at_once():
    m = es.load("five_bar")
    q, v, a = m.complete([[2.0, 1.0], [2.1, 0.9], [1.9, 1.1]], np.ones((3, 2)), np.ones((3, 2)))
    made = complete(m, m.linearize(q, v, a=a))
    single = m.linearize(q[1], v[1], a=a[1]).contributions()
    for x, y in zip(made.of("link3"), single.of("link3"), strict=True):
        np.testing.assert_allclose(x[1], y, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(made[1].W, made.W[1])
    name = next(iter(es.load("cart_pole").parameters))
    cart = es.load("cart_pole")
    complete(cart, cart.linearize([0.0, 0.2], parameters={name: [0.5, 1.5]}))


def test_tables_pictures_and_mistakes():
    m, q, v, a = moving("rojas_t3")
    made = m.linearize(q, v, a=a).contributions()
    assert made.table().splitlines()[-1].startswith("total")
    lines = made.table(made.coordinates[0], made.coordinates[1]).splitlines()
    assert len(lines) == 2 + len(m.bodies)
    assert repr(made) == f"<Contributions to U, V, W of rojas_t3: {', '.join(made.sources)}>"
    assert len(made.plot().axes) == 3
    with pytest.raises(es.ModelError, match="no contribution of 'link9'; did you mean"):
        made.of("link9")
    with pytest.raises(es.ModelError, match="no coordinate 'elbow'"):
        made.table("elbow", made.coordinates[0])
    with pytest.raises(es.InputError, match="or neither"):
        made.table(made.coordinates[0])
    with pytest.raises(es.InputError, match="those of one state"):
        made[0]
    many = m.linearize(np.stack([q, q])).contributions()
    for ask in (many.table, many.plot):
        with pytest.raises(es.InputError, match="choose one state first"):
            ask()
    assert "2 states" in repr(many)
