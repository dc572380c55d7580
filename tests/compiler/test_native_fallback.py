"""Without LLVM, CasADi's evaluator behind the same call."""

from __future__ import annotations

import warnings
from typing import Any

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import native
from eslabon.compiler import store as cache
from eslabon.compiler.llvm import machine
from pendulum_chain import pendulum_chain as chain


@pytest.fixture
def no_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "llvm", lambda: None)
    cache.warn_once.cache_clear()


def both(f: Any, no_llvm: pytest.MonkeyPatch, **described: Any) -> tuple[Any, Any]:
    """The function natively and by CasADi."""
    fast = native.compile(f, **described)
    with no_llvm.context() as patch:
        patch.setattr(machine, "llvm", lambda: None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", native.NativeWarning)
            return fast, native.compile(f, **described)


def test_it_warns_once(no_llvm: None) -> None:
    x = ca.SX.sym("x")
    with pytest.warns(native.NativeWarning, match="llvmlite"):
        native.compile(ca.Function("f", [x], [x]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert native.compile(ca.Function("f", [x], [2 * x]))([3.0]) == 6.0
    assert native.load("anything") is None


@pytest.mark.parametrize(
    "shapes", [[(6,)] * 3, [(4, 6), (6,), (1, 6)], [(3, 1, 6), (2, 6), (6,)], [(0, 6), (6,), (6,)]]
)
def test_it_broadcasts_like_native_code(monkeypatch, shapes: list[tuple[int, ...]], rng) -> None:
    fast, slow = both(chain(6), monkeypatch)
    x = [rng.normal(size=s) for s in shapes]
    np.testing.assert_allclose(slow(*x), fast(*x), rtol=1e-12, atol=1e-12)
    assert slow(*x).shape == fast(*x).shape


def test_matrices_empty_arguments_outputs_and_errors(monkeypatch: pytest.MonkeyPatch, rng) -> None:
    a, none = ca.SX.sym("a", 2, 3), ca.SX.sym("n", 0)
    f = ca.Function("f", [a, none], [a.T @ a, ca.SX(0, 1), ca.sum1(a)], ["a", "n"], ["s", "e", "t"])
    outputs = [native.Argument("s"), native.Argument("e"), native.Argument("t", (3,))]
    fast, slow = both(f, monkeypatch, outputs=outputs)
    A = rng.normal(size=(5, 2, 3))
    for got, want in zip(slow(A, np.ones(0)), fast(A, np.ones(0)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-14)
        assert got.shape == want.shape
    out = np.empty((5, 3, 3))
    assert slow(A, np.ones(0), out=(out, None, None), threads=2)[0] is out
    np.testing.assert_allclose(out, A.swapaxes(1, 2) @ A, rtol=1e-14)
    for g in (fast, slow):
        with pytest.raises(
            native.InputError, match=r"a has shape \(3, 2\); 2x3 values are expected"
        ):
            g(np.ones((3, 2)), np.ones(0))
