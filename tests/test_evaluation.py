"""CasADi's evaluation, which spares tests the compiler, and native code give the same numbers."""

import numpy as np
import pytest

import eslabon as es
import evaluation
from eslabon.graph.evaluator import FEW
from eslabon.graph.native.batched import Batched
from random_mechanisms import random_builder, random_coordinates

KINDS = ["revolute", "prismatic", "spherical", "universal", "free"]


@pytest.fixture
def spared(monkeypatch, tmp_path):
    """No graph is compiled before it is asked for many states, or was compiled before."""
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))
    monkeypatch.delenv("ESLABON_TEST_NATIVE", raising=False)
    monkeypatch.setattr(evaluation, "chosen", lambda graph: False)


def drawn(seed):
    rng = np.random.default_rng(seed)
    m = random_builder(rng, KINDS[: 2 + seed]).build()
    return m, random_coordinates(rng, m), *rng.normal(size=(2, m.nv))


def answers(m, q, v, a):
    yield m.pose(q, m.bodies[-1].name)
    yield m.mass_matrix(q)
    yield m.energy(q, v)
    tau = m.inverse_dynamics(q, v, a)
    yield tau
    yield m.forward_dynamics(q, v, tau)
    yield m.derivative("inverse_dynamics", "q", q, v, a)


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_give_the_same(seed, spared, monkeypatch):
    m, *state = drawn(seed)
    by_casadi = list(answers(m, *state))
    monkeypatch.setenv("ESLABON_TEST_NATIVE", "all")
    for one, other in zip(by_casadi, answers(es.Mechanism(m.description), *state), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_what_is_asked_for_many_states_is_compiled(spared, monkeypatch):
    made = []
    interpreted = evaluation.interpreted
    monkeypatch.setattr(
        evaluation, "interpreted", lambda *args, **options: made.append(interpreted(*args, **options)) or made[-1]
    )
    m, q, *_ = drawn(3)
    once = m.mass_matrix(q)
    (function,) = made
    assert isinstance(function, Batched)
    assert function._evaluate.native is None
    many = m.mass_matrix(np.broadcast_to(q, (FEW + 1, m.nq)))
    assert function._evaluate.native is not None
    np.testing.assert_allclose(many, np.broadcast_to(once, many.shape), rtol=1e-12, atol=1e-12)


def test_the_library_is_compiled(spared, monkeypatch):
    monkeypatch.setattr(evaluation, "interpreted", lambda *args, **options: pytest.fail("it is not"))
    assert es.load("elbow").mass_matrix([0.1, 0.2]).shape == (2, 2)


def test_a_library_may_be_spared_too(interpreted, spared, monkeypatch):
    monkeypatch.setenv("ESLABON_TEST_NATIVE", "few")
    assert not evaluation.always("elbow")
