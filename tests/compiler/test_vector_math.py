"""Accuracy of the vector functions in units in the last place, against 200-bit arithmetic and extended precision."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest

from eslabon.compiler import native

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-320, -1e-320, 1e308, -1e308])


def elementary(name: str, arguments: int = 1) -> Any:
    """A function of numbers, evaluated natively."""
    symbols = [ca.SX.sym(s) for s in "xy"[:arguments]]
    f = ca.Function(name, symbols, [getattr(ca, name)(*symbols)])
    scalars = [native.Argument(s, ()) for s in "xyz"]
    return native.compile(f, inputs=scalars[:arguments], outputs=scalars[2:])


def ulps(got: np.ndarray, exact: list[Any]) -> np.ndarray:
    with mp.workprec(200):
        return np.array(
            [
                float(abs(mp.mpf(g) - e)) / math.ulp(float(e))
                for g, e in zip(got.tolist(), exact, strict=True)
            ]
        )


def near_quarter_turns(rng: np.random.Generator) -> np.ndarray:
    """The doubles on both sides of multiples of pi/2 up to 1e5, where all leading bits cancel."""
    with mp.workprec(200):
        turns = [
            float(k * mp.pi / 2)
            for k in [*range(-40, 41), *rng.integers(-63_000, 63_000, 800).tolist()]
            if k
        ]
    return np.concatenate([np.nextafter(turns, -1e9), turns, np.nextafter(turns, 1e9)])


def angles(rng: np.random.Generator) -> list[np.ndarray]:
    near = [rng.uniform(-4, 4, 2000), rng.uniform(-1e5, 1e5, 2000)]
    return [*near, near_quarter_turns(rng), 10 ** rng.uniform(-300, 5, 500)]


def unit(rng: np.random.Generator) -> list[np.ndarray]:
    return [
        rng.uniform(-1, 1, 2000),
        10 ** rng.uniform(-20, 0, 500),
        1 - 10 ** rng.uniform(-15, -1, 500),
    ]


DOMAINS = {  # where a function is tried, and the ulps that it may be off
    "sin": (angles, 2),
    "cos": (angles, 2),
    "tan": (angles, 3),
    "asin": (unit, 2.5),
    "acos": (unit, 2.5),
    "atan": (lambda rng: [rng.uniform(-5, 5, 2000), 10 ** rng.uniform(-20, 20, 1000)], 2),
    "exp": (lambda rng: [rng.uniform(-700, 709, 2000), rng.uniform(-1, 1, 1000)], 1.5),
    "log": (lambda rng: [10 ** rng.uniform(-307, 308, 2000), rng.uniform(0.5, 2, 2000)], 1.5),
    "expm1": (
        lambda rng: [
            rng.uniform(-3, 3, 2000),
            -(10 ** rng.uniform(-20, 2.8, 500)),
            10 ** rng.uniform(-20, 2.8, 500),
        ],
        2.5,
    ),
    "tanh": (lambda rng: [rng.uniform(-3, 3, 2000), 10 ** rng.uniform(-20, 2, 1000)], 3),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_error_in_ulps(name: str, rng: np.random.Generator) -> None:
    draw, bound = DOMAINS[name]
    x = np.concatenate(draw(rng))
    with mp.workprec(200):
        exact = [getattr(mp, name)(mp.mpf(v)) for v in x.tolist()]
    assert ulps(elementary(name)(x), exact).max() < bound


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="the C library's extended precision is the reference"
)
@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize("size", [4.0, 1e5])
def test_sine_and_cosine_on_a_large_sample(
    name: str, size: float, rng: np.random.Generator
) -> None:
    x = rng.uniform(-size, size, 200_000)
    exact = getattr(np, name)(x.astype(np.longdouble))
    error = np.abs(elementary(name)(x).astype(np.longdouble) - exact) / np.spacing(
        np.abs(exact).astype(float)
    )
    assert error.max() < 2


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles_are_still_right(name: str, rng) -> None:
    x = np.concatenate([rng.uniform(1e5, 2e9, 300), 10 ** rng.uniform(6, 308, 300)])
    x = np.concatenate([x, -x, rng.uniform(-3, 3, 200)])
    rng.shuffle(x)  # near and far angles in the same block
    with mp.workprec(1200):
        exact = [getattr(mp, name)(mp.mpf(v)) for v in x.tolist()]
    assert ulps(elementary(name)(x), exact).max() < 3


def test_a_far_angle_does_not_change_its_neighbours() -> None:
    sin = elementary("sin")
    x = np.array([0.3, 1e300, -2.0, np.inf, 1e12, 5.0, np.nan, 0.1])
    alone = np.array([sin(np.array(v)) for v in x])
    assert np.array_equal(sin(x), alone, equal_nan=True)


NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


@pytest.mark.parametrize("name", [*DOMAINS, "sinh", "cosh", "asinh", "log1p"])
def test_special_values(name: str) -> None:
    reference = NUMPY.get(name, "arcsinh" if name == "asinh" else name)
    with np.errstate(all="ignore"):
        want = getattr(np, reference)(SPECIAL)
    got = elementary(name)(SPECIAL)
    np.testing.assert_allclose(got, want, rtol=1e-15)
    number = ~np.isnan(want)
    assert np.array_equal(np.signbit(got[number]), np.signbit(want[number]))


def test_atan2_in_all_quadrants_and_at_the_edges(rng) -> None:
    atan2 = elementary("atan2", 2)
    y, x = (g.ravel() for g in np.meshgrid(SPECIAL, SPECIAL))
    want = np.arctan2(y, x)
    got = atan2(y, x)
    np.testing.assert_allclose(got, want, rtol=4e-16)
    number = ~np.isnan(want)
    assert np.array_equal(np.signbit(got[number]), np.signbit(want[number]))
    y, x = rng.normal(size=(2, 3000)) * 10 ** rng.uniform(-150, 150, (2, 3000))
    with mp.workprec(200):
        exact = [
            mp.atan2(mp.mpf(a), mp.mpf(b)) for a, b in zip(y.tolist(), x.tolist(), strict=True)
        ]
    assert ulps(atan2(y, x), exact).max() < 2


def test_exp_and_log_where_numbers_are_subnormal(rng) -> None:
    x = rng.uniform(-745.1, -708, 500)
    np.testing.assert_allclose(elementary("exp")(x), np.exp(x), atol=5e-324, rtol=1e-15)
    tiny = 10 ** rng.uniform(-323, -308, 500)
    np.testing.assert_allclose(elementary("log")(tiny), np.log(tiny), rtol=4e-16)


def test_a_processor_without_fused_operations_uses_the_c_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dataclasses import replace

    from eslabon.compiler.llvm import machine

    plain = replace(machine.host(), fused=False)
    monkeypatch.setattr(machine, "host", lambda: plain)
    x = ca.SX.sym("x")
    f = ca.Function(
        "f",
        [x],
        [ca.vertcat(ca.sin(x), ca.cos(x), ca.tan(x), ca.exp(x), ca.atan2(x, 2), ca.tanh(x))],
    )
    got = native.compile(f, cache=False)(np.linspace(-3, 3, 11)[:, None])
    want = np.array([np.array(f(v)).ravel() for v in np.linspace(-3, 3, 11)])
    np.testing.assert_allclose(got, want, rtol=3e-16)
