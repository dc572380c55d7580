"""The one evaluator: what is compiled, and how, is decided by the request alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.llvm import machine
from eslabon.solve.constraints.closed_configurations import CLOSURE


@pytest.fixture
def quick(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each kernel was to be compiled quickly, in a folder of this test alone."""
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))
    found: list[bool] = []
    assemble = machine.assemble
    monkeypatch.setattr(
        machine, "assemble", lambda *given: found.append(given[2]) or assemble(*given)
    )
    return found


def test_a_rare_formula_is_compiled_quickly_and_at_once(
    quick: list[bool], rng: np.random.Generator
) -> None:
    m = es.load("five_bar")
    assert CLOSURE.rare
    f = evaluate(m, CLOSURE)
    assert quick == [True]
    q = rng.normal(size=(400, m.nq))
    residuals, jacobians = f(q)
    for k in range(len(q)):
        phi, J = f(q[k])
        assert np.array_equal(phi, residuals[k])
        assert np.array_equal(J, jacobians[k])
    assert evaluate(m, CLOSURE) is f
    evaluate(es.load("five_bar"), CLOSURE)(q)
    assert quick == [True]


def test_a_rare_formula_differs_from_another_by_its_code_alone(
    quick: list[bool], rng: np.random.Generator
) -> None:
    m = es.load("planar_3rrr")
    f, well = evaluate(m, CLOSURE), evaluate(m, replace(CLOSURE, rare=False))
    assert quick == [True, False]
    q = rng.normal(size=(50, m.nq))
    for x, y in zip(f(q), well(q), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-14)
