"""Variants of a mechanism: other values of parameters, the same native code."""

import pickle

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler import evaluate as evaluator
from randomness import seeded

DESIGN = {
    "five_bar": {"L2": 0.045, "m2": 0.01},
    "planar_3rrr": {"L": 0.21, "m_link": 0.4},
    "scara": {"a1": 0.3, "m2": 5.0},
}


def answers(m):
    """A little of all that a mechanism is asked for: kinematics, dynamics, linear models, simulation."""
    rng = seeded("answers")
    home = m.project(m.home()) if m.closed else m.home() + 0.3
    q, v, a = home, np.zeros(m.nv), np.zeros(m.nv)
    if m.closed:
        driven = home[list(m.actuated_coordinates)] + 0.05
        q, v, a = m.complete(driven, *(rng.normal(size=(2, m.nu))))
    else:
        v, a = rng.normal(size=(2, m.nv))
    tau = rng.normal(size=m.nu)
    free = m.forward_dynamics(q, v, tau)
    moved = m.simulate(q, v, 0.02, tau, method="rk4", step=1e-3).q[-1]
    return [q, v, a, m.inverse_dynamics(q, v, a), free, m.inverse_dynamics(q, v, free), m.reactions(q, v, a), m.energy(q, v),
        m.linearize(q, v=v, tau=tau).A, m.conditions(q).parallel, m.pose(q), moved, m.simulate(q, v, 0.02).q[-1],
        m.derivative("inverse_dynamics", "q", q, v, a), m.derivative("inverse_dynamics", next(iter(DESIGN[m.name])), q, v, a)]  # fmt: skip


@pytest.mark.parametrize("name", DESIGN)
def test_a_variant_answers_as_the_mechanism_with_these_parameters(name):
    m = es.load(name)
    for found, expected in zip(
        answers(m.variant(**DESIGN[name])), answers(m.with_parameters(**DESIGN[name])), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_many_variants_compile_no_more_than_one(monkeypatch):
    made = []
    compiled = evaluator._compiled
    monkeypatch.setattr(
        evaluator,
        "_compiled",
        lambda m, request, key: made.append(request) or compiled(m, request, key),
    )
    m = es.load("five_bar")
    for L in np.linspace(0.038, 0.042, 4):
        answers(m.variant(L2=L, m2=0.009))
    several = len(made)
    answers(m.variant(L2=0.0413, m2=0.0091))
    assert (
        len(made) == several
    )  # what was interpreted at first has been asked for often enough by now


def test_a_variant_of_a_variant_differs_in_both():
    m = es.load("five_bar")
    twice = m.variant(L2=0.05).variant(m2=0.01)
    assert twice == m.with_parameters(L2=0.05, m2=0.01)
    there = pickle.loads(pickle.dumps(twice))
    assert there == twice
    np.testing.assert_allclose(there.assemble([2.0, 1.0]), twice.assemble([2.0, 1.0]), atol=1e-12)


def test_parameters_of_a_call_go_before_those_of_a_variant():
    m = es.load("five_bar")
    v = m.variant(L2=0.05, m2=0.01)
    q, w, a = v.complete([2.0, 1.0], [1.0, 0.5], [0.0, 0.0])
    masses = np.array([0.01, 0.02])
    expected = [m.with_parameters(L2=0.05, m2=x).inverse_dynamics(q, w, a) for x in masses]
    for _ in range(2):  # the careful way, then the quick one
        np.testing.assert_allclose(
            v.inverse_dynamics(q, w, a, parameters={"m2": masses}), expected, rtol=1e-12
        )


def test_a_variant_refuses_what_the_mechanism_does():
    m = es.load("five_bar")
    with pytest.raises(es.ModelError, match="the mass is -1"):
        m.variant(m2=-1.0)
    v = m.variant(L2=0.05)
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        v.inverse_dynamics(m.assemble([2.0, 1.0]), [0.0] * 4, [0.0] * 4)
    with pytest.raises(es.ModelError):
        v.inverse_dynamics(v.assemble([2.0, 1.0]), [0.0] * 4, [0.0] * 4, parameters={"m2": -1.0})
