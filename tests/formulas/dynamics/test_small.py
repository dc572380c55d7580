"""Mechanisms of one, no or locked degrees of freedom, motions without mass, and springs whose ends meet."""

import casadi
import numpy as np
import pytest

import eslabon as es
from cases import LIBRARY
from covering import FORMULATIONS, METHODS
from eslabon.formulas.formulations import crba
from eslabon.formulas.kinematics.links import reduced_links
from random_mechanisms import random_builder
from randomness import PROFILE
from small_mechanisms import SMALL

IMMOBILE = ["all_fixed", "locked_loop", "fixed_loop"]


@pytest.mark.parametrize("name", [*IMMOBILE, "one_joint_and_fixed"])
def test_every_pair_answers_for_one_and_no_degree_of_freedom(name):
    m = SMALL[name]()
    q, v = m.home(), np.zeros(m.nv)
    for formulation, constraints in zip(FORMULATIONS, METHODS * 2, strict=True):
        pair = {"formulation": formulation, **({"constraints": constraints} if m.closed else {})}
        a = m.forward_dynamics(q, v, np.zeros(m.nu), **pair)
        assert a.shape == (m.nv,)
        assert np.isfinite(a).all()
        if name in IMMOBILE:
            assert np.abs(a).max(initial=0.0) < 1e-9
        tau, accelerations = m.hybrid_dynamics(q, v, a, **pair)
        assert tau.shape == (m.nu,)
        np.testing.assert_allclose(accelerations, a, atol=1e-9)
    assert m.derivative("forward_dynamics", "q", q, v, np.zeros(m.nu)).shape == (m.nv, m.nv)


def test_a_motion_without_mass_is_named_where_it_is():
    m = SMALL["massless_wrist"]()
    bent, v = np.array([0.3, 0.7, -0.2]), np.zeros(3)
    a = np.array([1.0, -2.0, 0.5])
    assert np.isfinite(m.forward_dynamics(bent, v, np.zeros(m.nu))).all()
    for formulation in FORMULATIONS:
        with pytest.raises(
            es.ModelError, match=r"the motion of 'z[12]' moves no mass at this configuration"
        ):
            m.forward_dynamics(np.zeros(3), v, np.zeros(m.nu), formulation)
    with pytest.raises(es.ModelError, match=r"\(state 1\)"):
        m.forward_dynamics([bent, np.zeros(3)], v, np.zeros(m.nu))
    with pytest.raises(es.ModelError, match="moves no mass"):
        m.derivative("forward_dynamics", "q", np.zeros(3), v, np.zeros(m.nu))
    assert np.isfinite(m.inverse_dynamics(np.zeros(3), v, a)).all()


@pytest.mark.parametrize("rest", [0.0, 0.3])
def test_a_spring_whose_ends_meet_pulls_nowhere(rest):
    b = es.Builder("met", gravity=(0, 0, 0)).body("a", 1.0, (0, 0, 0), (1, 1, 1))
    b.joint("slide", "prismatic", "ground", "a", axis="x")
    m = b.spring("s", "a", "ground", stiffness=40, length=rest).build()
    zero = np.zeros(1)
    assert m.inverse_dynamics(zero, zero, zero) == 0
    assert m.energy(zero, zero)[1] == pytest.approx(20 * rest**2)
    for quantity, arrays in (("inverse_dynamics", (zero, zero, zero)), ("energy", (zero, zero))):
        assert np.isfinite(m.derivative(quantity, "q", *arrays)).all()
    assert m.inverse_dynamics([0.5], zero, zero) == pytest.approx(40 * (0.5 - rest))


CLOSED = [case.name for case in LIBRARY if "closed" in case.traits]
DEFAULT = {"forward_dynamics": "multipliers", "inverse_dynamics": "elimination"}


@pytest.mark.parametrize("name", CLOSED)
def test_no_named_pair_takes_fewer_operations_than_the_default(name):
    """A formulation adds its own to what a method for the constraints takes, so that each may be varied by itself.
    Elimination is no default of forward dynamics, since it needs independent coordinates.

    What formulations add grows with the tree alone: it is counted up to a dozen velocities, by turns, and in the nightly
    run everywhere.
    """
    m, nightly = es.load(name), PROFILE == "nightly"
    by_turns = ["lagrange", "lie"] if nightly else ["lagrange", "lie"][CLOSED.index(name) % 2 :][:1]
    for verb in ["forward_dynamics", *(["inverse_dynamics"] if m.nu >= m.dof else [])]:
        least = m.operations(verb).total
        pairs = [
            ("newton_euler", method)
            for method in METHODS
            if method not in (DEFAULT[verb], "elimination")
        ]
        pairs += [(formulation, DEFAULT[verb]) for formulation in by_turns if m.nv <= 12 or nightly]
        for formulation, constraints in pairs:
            assert (
                m.operations(verb, formulation=formulation, constraints=constraints).total >= least
            )


@pytest.mark.parametrize("verb", DEFAULT)
def test_the_default_by_its_name_is_the_default(verb):
    for name in ("five_bar", "spatial_four_bar"):
        m = es.load(name)
        named = m.operations(verb, formulation="newton_euler", constraints=DEFAULT[verb])
        assert named.total == m.operations(verb).total


def test_an_old_spelling_says_what_to_pass():
    m = es.load("five_bar")
    q = m.project(m.home())
    with pytest.raises(es.ModelError, match="pass constraints='multipliers'"):
        m.forward_dynamics(q, np.zeros(4), np.zeros(2), "multipliers")
    with pytest.raises(es.ModelError, match="formulation is"):
        m.forward_dynamics(q, np.zeros(4), np.zeros(2), "")
    with pytest.raises(es.ModelError, match="has no loops"):
        es.load("elbow").forward_dynamics(*np.zeros((3, 2)), constraints="multipliers")


def test_the_mass_matrix_seen_from_the_ground_is_the_same(rng):
    m = random_builder(
        rng, ["revolute", "prismatic", "universal", "fixed", "spherical"] * 2
    ).build()
    q = casadi.SX.sym("q", m.nq)
    ways = (crba.of_links, crba.in_ground)
    f = casadi.Function("f", [q], [casadi.densify(way(reduced_links(m), q, m.nv)) for way in ways])
    one, other = (np.array(x) for x in f(m.neutral() + 0.1 * rng.normal(size=m.nq)))
    np.testing.assert_allclose(one, other, atol=1e-13 * np.abs(one).max())
