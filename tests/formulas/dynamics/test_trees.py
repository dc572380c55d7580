"""Dynamics of trees beside the facts that all mechanisms share: wrenches by name, batches, base parameters, mistakes,
motions without mass, and mechanisms of any size."""

import numpy as np
import pytest

import eslabon as es
from covering import FORMULATIONS
from eslabon.formulas.dynamics import articulated_bodies_pay
from eslabon.formulas.kinematics.links import reduced_links
from facts import agree
from random_mechanisms import random_builder, random_tree


@pytest.mark.parametrize("branched", [True, False])
def test_articulated_bodies_are_for_long_chains(branched, rng):
    m = random_builder(rng, ["revolute"] * 20, branched).build()
    assert articulated_bodies_pay(reduced_links(m)) is not branched


def test_wrenches_by_body_frame_and_name_in_every_formulation(rng):
    b, bare = (
        random_builder(np.random.default_rng(4), ["revolute", "universal", "revolute"])
        for _ in range(2)
    )
    b.wrench(
        "fixed", "body2", force=(1, 2, 3), moment=(0.1, 0, 0), at=(0.1, 0.2, 0.3), axes="ground"
    )
    b.wrench("open", "body1", at=(0, 0, 0.5), axes="body")
    m, bare = b.build(), bare.build()
    q, v, a = rng.normal(size=(3, m.nv))
    on_tip, on_body = rng.normal(size=(2, 6))
    J, lever = m.jacobian(q, "body2", axes="aligned"), m.pose(q, "body2")[:3, :3] @ [0.1, 0.2, 0.3]
    work = m.jacobian(q, "tip").T @ on_tip
    work += J[:3].T @ (np.array([0.1, 0, 0]) + np.cross(lever, [1, 2, 3])) + J[3:].T @ [1, 2, 3]
    J = m.jacobian(q, "body1")
    work += J[:3].T @ (on_body[:3] + np.cross([0, 0, 0.5], on_body[3:])) + J[3:].T @ on_body[3:]
    for name in (None, *FORMULATIONS[:-1]):
        without = bare.inverse_dynamics(q, v, a, name)
        tau = m.inverse_dynamics(q, v, a, name, external={"tip": on_tip, "open": on_body})
        agree(without - tau, work, without, tau, digits=11)


def test_the_puma_has_36_base_parameters(library):
    base = library("puma560").base_parameters()
    assert len(base) == 36
    assert base.expressions[0].startswith("Izz(link1)")


def test_a_batch_of_500_and_designs(library, rng):
    m = library("double_pendulum")
    Q, V, A = rng.normal(size=(3, 500, 2))
    tau = m.inverse_dynamics(Q, V, A)
    assert tau.shape == (500, 2)
    for k in (0, 77, 499):
        agree(tau[k], m.inverse_dynamics(Q[k], V[k], A[k]), digits=14)
    name, values = next(iter(m.parameters)), np.linspace(0.5, 1.5, 7)
    designs = m.inverse_dynamics(Q[0], V[0], A[0], parameters={name: values})
    for k, x in enumerate(values):
        agree(
            designs[k], m.with_parameters(**{name: x}).inverse_dynamics(Q[0], V[0], A[0]), digits=13
        )


MISTAKES = [
    (lambda m, x: m.inverse_dynamics(x, x, x, "newton"), "it is 'newton'"),
    (
        lambda m, x: m.inverse_dynamics(x, x, x, external={"tol": [0] * 6}),
        "no body, frame or open wrench 'tol'; did you mean 'tool'?",
    ),
    (lambda m, x: m.inverse_dynamics(x, x, x, external={"tool": [0] * 5}), "tool has 5 values"),
    (lambda m, x: m.mass_matrix(x, external={"tool": [0] * 6}), "takes no external inputs"),
    (
        lambda m, x: m.forward_dynamics(x, x, x[:3]),
        "tau has 3 values in its last axis; puma560 has 6 actuators",
    ),
    (
        lambda m, x: random_tree(np.random.default_rng(0), ["spherical"]).inverse_dynamics(
            [1, 0, 0, 0], [0] * 3, [0] * 3, "quaternion"
        ),
        "'joint0' is spherical",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(call, sentence, library):
    with pytest.raises(es.EslabonError, match=sentence):
        call(library("puma560"), np.zeros(6))


def test_a_massless_motion_is_named_when_its_inverse_is_needed(rng):
    b = es.Builder("light").body("arm", 1.0, (0.3, 0, 0), (0, 0.1, 0.1)).body("wrist").body("hand")
    b.joint("shoulder", "revolute", "ground", "arm").joint(
        "bend", "revolute", "arm", "wrist", axis="y"
    ).joint("spin", "revolute", "wrist", "hand")
    m = b.build()
    q, v, a = rng.normal(size=(3, 3))
    assert np.all(np.isfinite(m.inverse_dynamics(q, v, a)))
    with pytest.raises(
        es.ModelError, match=r"forward_dynamics of light: the motion of '(bend|spin)' moves no mass"
    ):
        m.forward_dynamics(q, v, a)


def test_a_massless_link_between_two_joints_is_fine(rng):
    b = es.Builder("cardan").body("cross").body("hand", 1.0, (0.1, 0, 0.2), (0.1, 0.1, 0.1))
    b.joint("first", "revolute", "ground", "cross", axis="x").joint(
        "second", "revolute", "cross", "hand", axis="y"
    )
    m = b.build()
    q, v, a = rng.normal(size=(3, 2))
    tau = m.inverse_dynamics(q, v, a)
    agree(m.forward_dynamics(q, v, tau), a, np.linalg.solve(m.mass_matrix(q), tau), digits=10)


@pytest.mark.parametrize(("length", "mass"), [(1e-2, 1e-9), (1e-5, 1e-12), (1e4, 1e9)])
def test_small_and_big_mechanisms_are_as_right_as_others(length, mass, rng):
    b = es.Builder("two", gravity=(0, -9.81, 0))
    for name in "AB":
        about = mass * length**2
        b.body(name, mass, (length / 2, 0, 0), (1e-3 * about, about / 12, about / 12))
    b.joint("q0", "revolute", "ground", "A").joint("q1", "revolute", "A", "B", at=(length, 0, 0))
    m = b.build()
    q, v, a = rng.normal(size=(3, 2))
    tau = m.inverse_dynamics(q, v, a, "lagrange")
    agree(m.inverse_dynamics(q, v, a), tau, digits=11)
    fall = np.linalg.solve(
        m.mass_matrix(q), np.abs(tau)
    )  # g / length, which is 1e6 where it is small
    for name in (None, "newton_euler", "lie"):
        agree(m.forward_dynamics(q, v, tau, name), a, fall, digits=11)


def test_nothing_moves_where_all_joints_are_fixed():
    b = (
        es.Builder("still")
        .body("a", 1.0, (0.1, 0, 0), (1, 1, 1))
        .joint("weld", "fixed", "ground", "a")
    )
    m, none = b.build(), np.zeros(0)
    assert m.mass_matrix(none).shape == (0, 0)
    assert (
        m.inverse_dynamics(none, none, none).shape
        == m.forward_dynamics(none, none, none).shape
        == (0,)
    )
    assert m.reactions(none, none, none)[0] == pytest.approx([0, -0.981, 0, 0, 0, 9.81])


def test_a_motion_without_mass_and_without_motors_is_named():
    m = es.Builder("light").body("a").joint("spin", "revolute", "ground", "a").actuate().build()
    for q in ([0.0], [[0.0], [1.0]]):
        with pytest.raises(es.ModelError, match="the motion of 'spin' moves no mass"):
            m.forward_dynamics(q, [0.0], [])
