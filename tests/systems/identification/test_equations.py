"""The equations of identification: linear in the parameters, for every joint kind, on trees and with loops."""

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.systems.identification import base_parameters, inertial_parameters, pseudo_inertias
from eslabon.systems.identification.parameters import Terms, described, model_parameters, terms_of
from eslabon.systems.identification.regressor_equations import (
    ACTUATOR_REGRESSOR,
    EXCITATION_GRADIENT,
    INDEPENDENT_MOTION,
    LINEAR_EQUATIONS,
    independent,
)
from random_mechanisms import MOVING, random_closed, random_coordinates, random_inertia, random_tree
from randomness import seeded


def other_numbers(m, rng):
    """The same mechanism with other bodies, friction and motors."""
    for body in m.bodies:
        mass = rng.uniform(0.5, 2.0)
        m = m.with_body(
            body.name, mass=mass, com=rng.normal(size=3) / 5, inertia=random_inertia(rng, mass)
        )
    for joint in (j for j in m.joints if j.nv):
        values = {key: tuple(rng.uniform(0.1, 0.5, joint.nv)) for key in ("viscous", "coulomb")}
        motor = (
            (tuple(rng.uniform(0.01, 0.1, joint.nv)), (3.0,) * joint.nv)
            if joint.name in m.actuated
            else None
        )
        m = m.with_joint(joint.name, **values, **({"motor": motor} if motor else {}))
    return m


@pytest.mark.parametrize("seed", range(3))
def test_the_forces_of_other_parameters_follow_from_the_regressor(seed):
    rng = seeded(seed)
    m = random_tree(rng, list(np.roll(MOVING, 3 * seed)[:5]))
    m = m.with_actuated([j.name for j in m.joints])
    changed = other_numbers(m, rng)
    q = np.array([random_coordinates(rng, m) for _ in range(5)])
    v, a = rng.normal(size=(2, 5, m.nv))
    terms = terms_of(m, ("viscous", "coulomb"), motors=True)
    change = model_parameters(changed, terms) - model_parameters(m, terms)
    tau = changed.inverse_dynamics(q, v, a)
    Y, left, B, _ = evaluate(m, LINEAR_EQUATIONS, terms=terms)(q, v, a, tau)
    assert np.allclose(Y @ change, left, atol=1e-10 * np.abs(tau).max())
    assert np.allclose(B, np.eye(m.nv))
    base = base_parameters(m, terms=terms)
    assert np.allclose(
        Y[..., list(base.columns)] @ (base.regrouping @ change), left, atol=1e-7 * np.abs(tau).max()
    )
    again = type(m)(described(m, terms, model_parameters(changed, terms)))
    assert np.allclose(again.inverse_dynamics(q, v, a), tau, atol=1e-10 * np.abs(tau).max())


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "slider_crank", "sarrus"])
def test_with_loops_the_actuators_forces_do(name, rng):
    m = es.load(name)
    changed = other_numbers(m, rng)
    qa = m.home()[[k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]]
    va, aa = rng.normal(size=(2, 4, m.nu))
    q, v, a = m.complete(qa + 0.02 * rng.normal(size=(4, m.nu)), va, aa)
    everywhere = tuple(j.name for j in m.joints if j.nv)
    terms = terms_of(m, {"viscous": everywhere, "coulomb": everywhere}, motors=True)
    change = model_parameters(changed, terms) - model_parameters(m, terms)
    tau = changed.inverse_dynamics(q, v, a)
    Y, left, B, _ = evaluate(m, LINEAR_EQUATIONS, terms=terms)(q, v, a, tau)
    assert np.allclose(B, np.eye(m.nu), atol=1e-9)
    assert np.allclose(Y @ change, left, atol=1e-8 * np.abs(tau).max())
    forces = evaluate(m, ACTUATOR_REGRESSOR, terms=terms)(q, v, a)
    assert np.allclose(
        m.inverse_dynamics(q, v, a) + forces @ change, tau, atol=1e-8 * np.abs(tau).max()
    )
    base = base_parameters(m, terms=terms)
    assert np.allclose(
        Y[..., list(base.columns)] @ (base.regrouping @ change), left, atol=1e-6 * np.abs(tau).max()
    )


@pytest.mark.parametrize(
    ("seed", "cuts"), [(0, ["spherical"]), (1, ["revolute"]), (2, ["universal", "spherical"])]
)
def test_random_loops_by_their_null_space(seed, cuts):
    """With every joint actuated N^T B is N^T: its rows keep the loops closed, and N^T f are the forces of the tree."""
    rng = seeded(seed)
    kinds = list(
        rng.permutation(["revolute", "prismatic", "spherical", "cylindrical", "universal", "free"])
    )
    m, q = random_closed(rng, kinds, cuts)
    m = m.with_actuated([j.name for j in m.joints])
    changed = other_numbers(m, rng)
    terms = terms_of(
        m, {kind: tuple(j.name for j in m.joints) for kind in ("viscous", "coulomb")}, motors=True
    )
    change = model_parameters(changed, terms) - model_parameters(m, terms)
    q, v, a = m.project(q, *rng.normal(size=(2, m.nv)))
    tau = rng.normal(size=m.nv)
    Y, left, B, _ = evaluate(m, LINEAR_EQUATIONS, terms=terms)(q, v, a, tau)
    J = m.constraint_jacobian(q)
    assert np.abs(J @ B.T).max() < 1e-8 * max(1.0, np.abs(B).max())
    assert np.linalg.matrix_rank(B) == m.nv - np.linalg.matrix_rank(J, tol=1e-8)
    trees = [x.without(*(loop.name for loop in x.loops)) for x in (m, changed)]
    before, after = (x.inverse_dynamics(q, v, a) for x in trees)
    size = np.abs(B).max() * np.abs(after).max()
    assert np.allclose(left, B @ (tau - before), atol=1e-8 * size)
    assert np.allclose(Y @ change, B @ (after - before), atol=1e-8 * size)


def test_redundant_actuation_is_told_by_the_work_of_all_actuators(rng):
    m = es.load("planar_3rrr")
    m = m.with_actuated([*m.actuated, next(j.name for j in m.joints if j.name not in m.actuated)])
    changed = other_numbers(m, rng)
    home = m.assemble({}, m.home())
    v, a = m.project(home, np.full(m.nv, 0.3), np.zeros(m.nv))[1:]
    terms = terms_of(m, ("viscous", "coulomb"), motors=True)
    everything = {
        j.name: {"viscous": None, "coulomb": None}
        for j in changed.joints
        if j.name not in m.actuated
    }
    for joint, nothing in everything.items():
        changed = changed.with_joint(joint, **nothing)
    change = model_parameters(changed, terms) - model_parameters(m, terms)
    tau = changed.inverse_dynamics(home, v, a)
    Y, left, B, _ = evaluate(m, LINEAR_EQUATIONS, terms=terms)(home, v, a, tau)
    assert B.shape == (3, 4)
    forces = evaluate(m, ACTUATOR_REGRESSOR, terms=terms)(home, v, a)
    assert np.allclose(
        m.inverse_dynamics(home, v, a) + forces @ change, tau, atol=1e-8 * np.abs(tau).max()
    )
    assert np.allclose(Y @ change, left, atol=1e-8 * np.abs(tau).max())


@pytest.mark.parametrize(
    ("name", "number"), [("puma560", 36), ("parallelogram", 3), ("cart_pole", 4)]
)
def test_numbers_of_base_parameters(name, number):
    assert len(base_parameters(es.load(name))) == number


def test_loops_tell_less_than_the_tree_they_close():
    m = es.load("five_bar")
    assert len(m.base_parameters()) < len(m.without(m.loops[0].name).base_parameters())


@pytest.mark.parametrize("name", ["rojas_3r", "slider_crank", "rssr"])
def test_derivatives_of_the_regressor_along_the_loops(name, rng):
    """By converged differences in the independent coordinates."""
    m = es.load(name)
    n, terms = len(independent(m)), terms_of(m, ("viscous",), motors=False)
    vi, ai = rng.normal(size=(2, n))
    q = m.assemble({}, m.home()) if m.closed else m.home() + 0.3
    native = evaluate(m, EXCITATION_GRADIENT, terms=terms)
    weight = rng.normal(size=(n, 10 * len(m.bodies) + len(terms.listed())))
    Y, by_q, by_v, by_a, _ = native(q, vi, ai, weight)
    h = 1e-5

    def value(q, vi, ai):
        return np.sum(weight * native(q, vi, ai, weight)[0])

    for k, unit in enumerate(h * np.eye(n)):
        assert np.isclose(
            (value(q, vi + unit, ai) - value(q, vi - unit, ai)) / 2 / h,
            by_v[k],
            rtol=1e-6,
            atol=1e-7,
        )
        assert np.isclose(
            (value(q, vi, ai + unit) - value(q, vi, ai - unit)) / 2 / h,
            by_a[k],
            rtol=1e-6,
            atol=1e-7,
        )
        along = evaluate(m, INDEPENDENT_MOTION)(q, unit, 0 * unit)
        ahead, behind = (_moved(m, q, sign * along[0], sign * unit) for sign in (1, -1))
        assert np.isclose(
            (value(ahead, vi, ai) - value(behind, vi, ai)) / 2 / h, by_q[k], rtol=1e-5, atol=1e-6
        )
    assert Y.shape == weight.shape


def _moved(m, q, step, unit):
    from eslabon.model.configuration import integrate

    near = integrate(m, q, step)
    if not m.closed:
        return near
    names = tuple(
        j.name for j in m.joints if set(range(m.nv)[m.velocities[j.name]]) & set(independent(m))
    )
    values = {name: near[m.coordinates[name]] for name in names}
    given = {name: x[0] if len(x) == 1 else x for name, x in values.items()}
    return m.assemble(given, near, limits=False)


def test_pseudo_inertias_are_second_moments(rng):
    points, masses = rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, 6)
    c = masses @ points / masses.sum()
    J = sum(
        x * ((p - c) @ (p - c) * np.eye(3) - np.outer(p - c, p - c))
        for x, p in zip(masses, points, strict=True)
    )
    b = es.Builder("cloud").body("cloud", masses.sum(), c, J).joint("q", "free", "ground", "cloud")
    homogeneous = np.column_stack([points, np.ones(6)])
    expected = (homogeneous.T * masses) @ homogeneous
    assert np.allclose(pseudo_inertias(inertial_parameters(b.build()))[0], expected)


def test_bad_terms_are_refused():
    m = es.load("double_pendulum")
    with pytest.raises(es.ModelError, match="did you mean 'viscous'"):
        terms_of(m, ("viscos",), False)
    with pytest.raises(es.ModelError, match="has no joint 'q3'"):
        terms_of(m, {"viscous": ("q3",)}, False)
    with pytest.raises(es.ModelError, match="offset is that of an actuator"):
        terms_of(es.load("cart_pole"), {"offset": [es.load("cart_pole").joints[1].name]}, False)
    assert terms_of(m, None, False) == Terms()
