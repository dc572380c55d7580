"""Formulations as values: each has its own M and C, and all agree on trees of every joint kind."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import eslabon as es
from cases import rate_along
from eslabon.compiler.formula import requested
from eslabon.formulas.formulations.formulation import FORMULATIONS, LAGRANGE, LIE
from eslabon.formulas.quantities import quantity
from eslabon.verbs import ALL_FORMULATIONS
from random_mechanisms import MOVING, random_coordinates, random_tree

PLAIN = ("revolute", "prismatic", "fixed")
CHRISTOFFEL = ("newton_euler", "lie", "gibbs_appell", "bond_graph")


def near(got, want, size=1e-10):
    np.testing.assert_allclose(got, want, rtol=0, atol=size * max(1.0, np.abs(want).max()))


def tree(kind, *others):
    """A tree with a joint of a kind and others, and a state of it."""
    rng = np.random.default_rng(MOVING.index(kind))
    m = random_tree(rng, [kind, *others])
    return m, random_coordinates(rng, m), rng.normal(size=m.nv)


def names(m):
    """The formulations that apply; quaternions know hinges and sliders alone."""
    plain = all(joint.kind.kind in PLAIN for joint in m.joints)
    return [name for name in ALL_FORMULATIONS if plain or name != "quaternion"]


@pytest.mark.parametrize("kind", MOVING)
def test_every_formulation_has_the_same_mass_matrix(kind):
    m, q, _ = tree(kind, "revolute", kind, "fixed", "prismatic")
    want = m.mass_matrix(q)
    for name in names(m):
        near(m.mass_matrix(q, formulation=name), want)


@pytest.mark.parametrize("kind", MOVING)
def test_every_coriolis_matrix_gives_the_velocity_forces_and_is_skew(kind):
    """C v + g is the inverse dynamics without acceleration, and C + C^T is dM/dt."""
    m, q, v = tree(kind, "revolute", "fixed", "prismatic")
    m = m.with_actuated([joint.name for joint in m.joints if joint.nv])
    forces = m.inverse_dynamics(q, v, np.zeros(m.nv)) - m.gravity_forces(q)
    rate = rate_along(m, m.mass_matrix, q, v)
    for name in (None, *names(m)):
        C = m.coriolis_matrix(q, v, formulation=name)
        near(C @ v, forces)
        near(C + C.T, rate, 1e-9)


@pytest.mark.parametrize("kind", MOVING)
def test_the_matrices_of_christoffel_agree(kind):
    """Also in quasi-velocities, where it is the matrix of the metric connection."""
    m, q, v = tree(kind, "revolute", "fixed", "prismatic")
    own = [name for name in (*CHRISTOFFEL, "quaternion") if name in names(m)]
    for one, other in pairwise(m.coriolis_matrix(q, v, name) for name in own):
        near(one, other)


def test_the_matrix_of_kane_is_not_that_of_christoffel():
    m, q, v = tree("universal", "revolute", "universal", "fixed", "prismatic")
    assert np.abs(m.coriolis_matrix(q, v) - m.coriolis_matrix(q, v, "lie")).max() > 1e-3


def test_kane_is_a_name_of_lagrange_s_equations():
    assert FORMULATIONS["kane"] is FORMULATIONS["lagrange"] is LAGRANGE
    m = es.load("double_pendulum")
    state = [0.3, 0.4], [1.0, 2.0], [0.5, -0.5]
    same = (m.inverse_dynamics(*state, formulation=name) for name in ("kane", "lagrange"))
    np.testing.assert_array_equal(*same)
    near(
        m.simulate([0.5, 0.0], None, 0.1, formulation="kane").q[-1],
        m.simulate([0.5, 0.0], None, 0.1).q[-1],
        1e-6,
    )


@pytest.mark.parametrize("verb", ["mass_matrix", "coriolis_matrix", "inverse_dynamics", "simulate"])
def test_an_unknown_name_is_refused_with_the_names_that_there_are(verb):
    m = es.load("elbow")
    given = {"mass_matrix": 1, "coriolis_matrix": 2, "inverse_dynamics": 3}
    arrays = [np.zeros(2)] * given.get(verb, 2) + ([0.1] if verb == "simulate" else [])
    with pytest.raises(es.ModelError, match="did you mean 'lagrange'") as caught:
        getattr(m, verb)(*arrays, formulation="lagrang")
    said = str(caught.value)
    assert all(repr(name) in said for name in ALL_FORMULATIONS)
    assert "Lagrange's equations in Kane's form" in said
    with pytest.raises(es.ModelError, match="pass constraints='elimination'"):
        getattr(m, verb)(*arrays, formulation="elimination")


def test_the_key_of_a_formulation_is_that_of_its_functions():
    """Not of its name alone: another function under the same name is another formulation."""
    m = es.load("elbow")
    formula = quantity(m, "inverse_dynamics")
    other = replace(LAGRANGE, inverse_dynamics=LIE.inverse_dynamics)
    assert other.name == LAGRANGE.name
    keys = {requested(m, formula, {"formulation": x}).key(m) for x in (LAGRANGE, other, LIE, None)}
    assert len(keys) == 4
    assert len({x.digest for x in ALL_FORMULATIONS.values()}) == len(ALL_FORMULATIONS) - 1


def test_a_formulation_of_one_s_own_serves_every_verb():
    """Half of Lagrange's inertia, and none of its other terms."""

    def forces(m, q, v, a, wrenches):
        return LAGRANGE.mass_matrix(m, q) @ a / 2

    def equations(m, q, v, wrenches):
        return LAGRANGE.mass_matrix(m, q) / 2, 0 * v

    own = replace(LAGRANGE, inverse_dynamics=forces, equations_of_motion=equations)
    m, q, v, a = es.load("elbow"), [0.3, 0.4], [1.0, 2.0], [0.5, -0.5]
    tau = m.inverse_dynamics(q, v, a, formulation=own)
    near(tau, m.mass_matrix(q) @ a / 2)
    near(m.forward_dynamics(q, v, tau, formulation=own), a)
    near(m.mass_matrix(q, own), m.mass_matrix(q) / 2)


def test_words_for_loops_are_refused_of_trees():
    m = es.load("elbow")
    state = [np.zeros(2)] * 3
    for verb in (m.inverse_dynamics, m.forward_dynamics, m.hybrid_dynamics):
        with pytest.raises(es.ModelError, match=r"has no loops.* leave constraints out"):
            verb(*state, constraints="nonsense")
    closed = es.load("five_bar")
    q = closed.project(closed.home())
    for verb in (closed.forward_dynamics, closed.hybrid_dynamics, closed.inverse_dynamics):
        size = closed.nu if verb == closed.forward_dynamics else closed.nv
        with pytest.raises(es.ModelError, match="constraints is 'multipliers'"):
            verb(q, np.zeros(closed.nv), np.zeros(size), constraints="nonsense")
