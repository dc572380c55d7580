"""The one evaluator: the same formula gives the same numbers, however often it is asked."""

from __future__ import annotations

import numpy as np

import eslabon as es
from eslabon.compiler.evaluate import MANY, Seldom, evaluate
from eslabon.coordinates.closing import CLOSURE


def test_a_seldom_formula_is_compiled_when_many_states_are_asked_for(tmp_path, monkeypatch, rng):
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))
    m = es.Mechanism(es.load("five_bar").description)
    f = evaluate(m, CLOSURE)
    assert isinstance(f, Seldom)
    q = rng.normal(size=(MANY + 1, m.nq))
    few = [f(x) for x in q]
    assert f.left >= 0
    residuals, jacobians = f(q)
    assert f.left < 0
    np.testing.assert_allclose([r for r, _ in few], residuals, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose([J for _, J in few], jacobians, rtol=1e-13, atol=1e-14)
    assert evaluate(m, CLOSURE) is f
