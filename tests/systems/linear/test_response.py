"""The linear response beside the true one: what is left between them is of second order in the perturbation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import integrate
from eslabon.systems.linear import compare_response
from random_mechanisms import random_coordinates, random_tree
from randomness import seeded

TREES = [
    ["spherical", "revolute", "free"],
    ["universal", "planar", "helical"],
    ["cylindrical", "prismatic", "revolute"],
]


def orders(m, motion, steps=(2e-3, 1e-3)):
    """By how much the residual shrinks when the perturbation is halved: by four."""
    nominal = motion(0.0)
    found = [compare_response(m, nominal, motion(h)) for h in steps]
    assert found[1].residual.shape == found[1].true.shape
    np.testing.assert_array_equal(found[0].linear, found[0].U_da + found[0].V_dv + found[0].W_dq)
    assert np.abs(found[1].residual).max() < 0.05 * np.abs(found[1].linear).max()
    return np.abs(found[0].residual).max() / np.abs(found[1].residual).max()


@pytest.mark.parametrize("kinds", TREES)
def test_of_trees_with_every_joint(kinds):
    rng = seeded(len(kinds[0]))
    tree = random_tree(rng, kinds)
    m = es.Mechanism(replace(tree.description, actuated=tuple(j.name for j in tree.joints)))
    q, (v, a, dq, dv, da) = random_coordinates(rng, m), rng.normal(size=(5, m.nv))
    ratio = orders(m, lambda h: (integrate(m, q, h * dq), v + h * dv, a + h * da))
    assert ratio == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr"])
def test_of_closed_mechanisms(name, rng):
    m = es.load(name)
    at = m.project(m.home())
    qa = (at[0] if isinstance(at, tuple) else at)[..., list(m.actuated_coordinates)]
    va, aa, dq, dv, da = rng.normal(size=(5, m.nu)) / 3
    assert orders(m, lambda h: m.complete(qa + h * dq, va + h * dv, aa + h * da)) == pytest.approx(
        4, rel=0.1
    )


def test_with_more_actuators_than_degrees_of_freedom():
    m = es.load("five_bar")
    m = es.Mechanism(replace(m.description, actuated=(*m.actuated, "theta3")))

    def motion(h):
        return m.complete({"theta2": 2.0 + h, "theta5": 1.0}, [0.4, 0.2], [1.0, 2.0 * h])

    found = [compare_response(m, motion(0.0), motion(h)) for h in (2e-3, 1e-3)]
    assert found[0].true.shape == (2,)
    ratio = np.abs(found[0].residual).max() / np.abs(found[1].residual).max()
    assert ratio == pytest.approx(4, rel=0.15)


def test_motions_of_a_mechanism_without_enough_actuators():
    """Two free motions of a cart and pole: no force differs, and the terms of the linear response cancel."""
    m, t = es.load("cart_pole"), np.linspace(0.0, 0.5, 6)
    nominal, near = (
        m.simulate([0.0, x], [0.1, 0.0], t, method="rk4", step=1e-3) for x in (0.4, 0.4001)
    )
    found = compare_response(m, nominal, near)
    np.testing.assert_array_equal(found.t, t)
    np.testing.assert_allclose(found.true, 0, atol=1e-12)
    assert np.abs(found.residual).max() < 1e-3 * np.abs(found.U_da).max()


def test_along_a_path_of_the_hand():
    m = es.load("elbow")
    q = np.array([0.3, 0.6]) + np.linspace(0, 1, 11)[:, None] * [0.5, -0.4]
    v, a = np.broadcast_to([0.5, -0.4], q.shape), np.zeros(q.shape)
    found = compare_response(m, (q, v, a), (q + 1e-4, v, a), t=np.linspace(0, 1, 11))
    np.testing.assert_allclose(found.dq, 1e-4)
    assert not found.dv.any()
    single = compare_response(m, (q[3], v[3], a[3]), (q[3] + 1e-4, v[3], a[3]))
    np.testing.assert_allclose(found[3].residual, single.residual, rtol=0, atol=1e-13)
    assert found.table(0.29) == single.table() == found[3].table()
    lines = found.table(0.3).splitlines()
    assert lines[0].split() == [
        "W",
        "dq",
        "V",
        "dv",
        "U",
        "da",
        "linear",
        "true",
        "linear",
        "-",
        "true",
    ]
    assert [line.split()[0] for line in lines[1:]] == list(found.coordinates)
    assert repr(found).startswith("<Response of elbow: 11 states, up to")
    assert len(found.plot().axes) == 2


def test_many_trajectories_at_once(rng):
    m, t = es.load("elbow"), np.linspace(0, 1, 4)
    q, v, a = rng.normal(size=(3, 5, 4, 2))
    found = compare_response(m, (q, v, a), (q + 1e-4, v, a), t=t)
    one = compare_response(m, (q[2], v[2], a[2]), (q[2] + 1e-4, v[2], a[2]), t=t)
    np.testing.assert_allclose(found[2].residual, one.residual, rtol=0, atol=1e-12)
    assert found[2].table(1.0) == one.table(1.0) == found[2, 3].table()
    np.testing.assert_array_equal(found[1:3].t, t)
    assert found[:, 3].t is None
    with pytest.raises(es.InputError, match="choose one state first"):
        found.table(1.0)
    with pytest.raises(es.InputError, match="of one trajectory"):
        found.plot()
    none = np.zeros((0, 2))
    assert compare_response(m, (none, none, none), (none, none, none)).residual.shape == (0, 2)


def test_the_residual_of_no_perturbation_is_none():
    m = es.load("five_bar")
    motion = m.complete([2.0, 1.0], [0.3, 0.1], [0.2, 0.4])
    found = compare_response(m, motion, motion)
    assert not found.residual.any()
    assert not found.true.any()


def test_mistakes():
    m = es.load("elbow")
    q, t = np.zeros((4, 2)), np.arange(4.0)
    fine = compare_response(m, (q, q, q), (q + 0.1, q, q), t=t)
    whole = (q, q, q)
    for nominal, perturbed, said in (
        ((q, q), whole, "the times of a motion are two or more"),
        (whole, 3.0, "a motion is a Trajectory, a joint path"),
        (whole, (q[:2], q[:2], q[:2]), "nominal motion is 4 states and the perturbed one 2 states"),
        (
            (q, q[:3], q),
            whole,
            "q, v and a of the nominal motion are 4 states, 3 states and 4 states",
        ),
        (whole, (q[:, :1], q, q), "perturbed q has 1 value in its last axis"),
        (whole, (q * np.nan, q, q), "not finite"),
    ):
        with pytest.raises(es.InputError, match=said):
            compare_response(m, nominal, perturbed)
    with pytest.raises(es.InputError, match="t has the shape"):
        compare_response(m, whole, whole, t=t[:3])
    for t_ in (None, 7.0, -0.1, np.nan):
        with pytest.raises(es.InputError, match=r"between 0 and 3 s|not finite"):
            fine.table(t_)
    with pytest.raises(es.InputError, match="choose one state first"):
        compare_response(m, whole, whole).table(1.0)
    with pytest.raises(es.InputError, match="drawn over time"):
        compare_response(m, whole, whole).plot()
    with pytest.raises(es.InputError, match="that of one state"):
        fine[0][0]


def driven():
    b = es.Builder("crank", gravity=(0, -9.81, 0)).actuate()
    b.body("arm", mass=1.0, com=(0.3, 0, 0), inertia=(0, 0.03, 0.03)).joint(
        "q1", "revolute", "ground", "arm"
    )
    b.body("load", 0.5, (0.2, 0, 0), (0, 0.01, 0.01)).joint(
        "q2", "revolute", "arm", "load", at=(0.6, 0, 0)
    )
    return b.drive("motor", "q1", "0.5*sin(2*t)").build()


def test_of_a_mechanism_that_is_driven_in_time():
    m, t = driven(), np.linspace(0.0, 0.4, 5)
    nominal, near = (m.simulate([0.0, x], None, t, method="rk4", step=1e-3) for x in (0.3, 0.3001))
    found = compare_response(m, nominal, near)
    assert found.coordinates == ("q2",)
    assert not found.true.any()  # no actuator
    assert np.abs(found.residual).max() < 1e-2 * np.abs(found.W_dq).max()
    made = found.model.contributions()
    np.testing.assert_allclose(made.W.sum(axis=-3), found.model.W, atol=1e-12)


def test_of_a_structure_that_cannot_move():
    b = es.Builder("locked")
    b.body("bar", 1.0, (0.3, 0, 0), (0.01, 0.1, 0.1)).joint("q1", "revolute", "ground", "bar")
    b.loop("held", "fixed", "bar", "ground")
    m, still = b.build(), ([0.0], [0.0], [0.0])
    found = compare_response(m, still, still)
    assert found.true.shape == (0,)
    assert found.table().split() == [
        "W",
        "dq",
        "V",
        "dv",
        "U",
        "da",
        "linear",
        "true",
        "linear",
        "-",
        "true",
    ]
    assert found.model.contributions().table().splitlines()[-1].split() == ["total", "0", "0", "0"]
