"""Facts of mechanics on trees that hypothesis draws: any joint kinds, fixed ones anywhere, bodies without mass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from eslabon.model.configuration import integrate
from oracles import Oracle, pin, unbalanced
from randomness import examples
from strategies import State, degenerate_trees

FORMULATIONS = ["newton_euler", "lagrange", "lie", "gibbs_appell", "bond_graph"]
SIMPLE = {"revolute", "prismatic", "fixed"}  # what quaternions alone describe


def near(got, want, rtol=1e-10, size=0.0):
    """Equal up to round-off, relative to the largest entry or to the size of what was added up; all here is of order 1."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1.0, size, np.abs(want).max(initial=0.0))


def resisted(M):
    """The least part of a motion's own inertia that is left when the others are free: 1e-16 is round-off."""
    scale = np.sqrt(np.maximum(np.diag(M), 1e-16 * np.diag(M).max(initial=1.0)))
    return np.linalg.eigvalsh(M / np.outer(scale, scale)).min(initial=1.0)


def forward(s: State, M, tau, formulation=None):
    """Forward dynamics, which is refused in a sentence where, and only where, a motion moves no mass."""
    try:
        a = s.m.forward_dynamics(s.q, s.v, tau, formulation)
    except es.ModelError as error:
        assert "moves no mass" in str(error)
        assert resisted(M) < 1e-9
        return None
    assert resisted(M) > 1e-16
    return a


def slope(f, s: State, h=2e-3):
    """The derivative by q along each velocity, by central differences at h and h/2 extrapolated: h^4 is left."""
    steps = np.eye(s.m.nv)
    one, two = ((f(integrate(s.m, s.q, x * steps)) - f(integrate(s.m, s.q, -x * steps))) / (2 * x) for x in (h, h / 2))
    return np.moveaxis((4 * two - one) / 3, 0, -1)


@examples(8)
@given(degenerate_trees(acting=False), st.sampled_from([None, *FORMULATIONS]))
def test_formulations_agree_with_one_another_and_with_pinocchio(s, other):
    m, oracle, driven = s.m, Oracle(s.m), list(s.m.actuated_velocities)
    state = [oracle.q(s.q), oracle.v(s.v), oracle.v(s.a)]
    needed = pin.rnea(oracle.model, oracle.data, *state)[oracle.v_map]
    M = pin.crba(oracle.model, oracle.data, state[0])
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(oracle.v_map, oracle.v_map)]
    near(m.mass_matrix(s.q), M)
    for name in (None, *FORMULATIONS, "quaternion"):
        try:
            near(m.inverse_dynamics(s.q, s.v, s.a, name), needed[driven])
        except es.ModelError as error:
            assert name == "quaternion"
            assert any(f"'{j.name}' is {j.kind.kind}" in str(error) for j in m.joints if j.kind.kind not in SIMPLE)
    still = pin.rnea(oracle.model, oracle.data, *state[:2], 0 * state[2])[oracle.v_map]
    tau, force = needed[driven], np.zeros(m.nv)
    force[driven] = tau
    if (a := forward(s, M, tau, other)) is not None:
        near(M @ a + still, force, 1e-10, np.abs(M).max(initial=0.0) * np.abs(a).max(initial=0.0))


@examples(8)
@given(degenerate_trees(subset=False))
def test_energy_and_its_rates(s):
    m, q, v, a = s.m, s.q, s.v, s.a
    M, C, tau = m.mass_matrix(q), m.coriolis_matrix(q, v), m.inverse_dynamics(q, v, a)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min(initial=0.0) >= -1e-13 * np.abs(M).max(initial=0.0)
    twice = m.derivative("mass_matrix", "q", q) @ v - 2 * C
    near(twice, -twice.T, 1e-12)
    kinetic, _ = m.energy(q, v)
    near(kinetic, v @ M @ v / 2, 1e-12)
    gradient = m.derivative("energy", "q", q, v)
    near(gradient[1], m.inverse_dynamics(q, 0 * v, 0 * a))
    if not m.springs and not any(j.stiffness for j in m.joints):
        near(gradient[1], m.gravity_forces(q))
    near(M @ a + C @ v + gradient[1], tau, 1e-10)
    near(gradient[0] @ v + v @ M @ a + gradient[1] @ v, tau @ v, 1e-10, np.abs(tau).max(initial=0.0))
    if (found := forward(s, M, tau)) is not None:
        near(M @ (found - a), 0 * a, 1e-10, np.abs(M).max(initial=0.0) * np.abs(found).max(initial=0.0))


@examples(8)
@given(degenerate_trees())
def test_reactions_balance_every_body_and_hybrid_dynamics_is_forward_dynamics(s):
    m, q, v, a = s.m, s.q, s.v, s.a
    carried = m.reactions(q, v, a)
    left, size = unbalanced(m, q, v, a, carried)
    near(left, 0 * left, 1e-10, size)
    try:
        tau, all_a = m.hybrid_dynamics(q, v, a)
    except es.ModelError as error:
        loose = [k for k in range(m.nv) if k not in m.actuated_velocities]
        assert "moves no mass" in str(error)
        assert resisted(m.mass_matrix(q)[np.ix_(loose, loose)]) < 1e-9
        return
    driven = list(m.actuated_velocities)
    near(all_a[driven], a[driven], 1e-9, np.abs(all_a).max(initial=0.0))
    near(m.inverse_dynamics(q, v, all_a), tau, 1e-9, np.abs(all_a).max(initial=0.0))
    M = m.mass_matrix(q)
    if (found := forward(s, M, tau)) is not None:
        near(M @ (found - all_a), 0 * a, 1e-9, np.abs(M).max(initial=0.0) * np.abs(found).max(initial=0.0))
        force = np.zeros(m.nv)
        force[driven] = tau
        for joint, wrench in zip(m.joints, m.reactions(q, v, tau=tau), strict=True):
            if joint.nv and not joint.motor_inertia:  # along its freedoms a joint transmits its motor's force
                S, place = np.asarray(joint.kind.motion(q[m.coordinates[joint.name]])), m.velocities[joint.name]
                near(S.T @ wrench, force[place], 1e-8, np.abs(m.reactions(q, v, found)).max())


@examples(8)
@given(degenerate_trees(most=3), st.sampled_from(["size", "density"]))
def test_derivatives_batches_and_parameters(s, name):
    m, q, v, a = s.m, s.q, s.v, s.a
    got = m.derivative("inverse_dynamics", "q", q, v, a)
    near(got, slope(lambda x: m.inverse_dynamics(x, v, a), s), 1e-7)
    batch = [np.stack([x, y]) for x, y in ((q, m.neutral()), (v, -v), (a, v))]
    many = m.inverse_dynamics(*batch)
    for k in range(2):
        near(many[k], m.inverse_dynamics(*(x[k] for x in batch)), 1e-14)
    values = np.array([0.5, 1.0, 1.7])
    designs = m.inverse_dynamics(q, v, a, parameters={name: values})
    near(designs[1], many[0], 1e-12)
    near(designs[2], m.with_parameters(**{name: 1.7}).inverse_dynamics(q, v, a), 1e-12)
    h = np.array([-2e-3, -1e-3, 1e-3, 2e-3])
    low, less, more, high = m.inverse_dynamics(q, v, a, parameters={name: 1.0 + h})
    near(m.derivative("inverse_dynamics", name, q, v, a), (8 * (more - less) - (high - low)) / 12e-3, 1e-7)
    tau, M = np.zeros(m.nu), m.mass_matrix(q)
    if forward(s, M, tau) is not None and resisted(M) > 1e-4:  # else accelerations are steeper than differences see
        got = m.derivative("forward_dynamics", "q", q, v, tau)
        near(got, slope(lambda x: m.forward_dynamics(x, v, tau), s), 1e-5)


def test_nothing_moves_where_all_joints_are_fixed():
    b = es.Builder("still").body("a", 1.0, (0.1, 0, 0), (1, 1, 1)).joint("weld", "fixed", "ground", "a")
    m, none = b.build(), np.zeros(0)
    assert m.mass_matrix(none).shape == (0, 0)
    assert m.inverse_dynamics(none, none, none).shape == m.forward_dynamics(none, none, none).shape == (0,)
    assert m.reactions(none, none, none)[0] == pytest.approx([0, -0.981, 0, 0, 0, 9.81])


def test_a_motion_without_mass_and_without_motors_is_named():
    m = es.Builder("light").body("a").joint("spin", "revolute", "ground", "a").actuate().build()
    for q in ([0.0], [[0.0], [1.0]]):
        with pytest.raises(es.ModelError, match="the motion of 'spin' moves no mass"):
            m.forward_dynamics(q, [0.0], [])
