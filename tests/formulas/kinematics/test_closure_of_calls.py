"""Closure equations of configurations that are results of calls, as in a step of a continuation."""

from __future__ import annotations

from pathlib import Path

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.calls import inlined, subroutine
from eslabon.formulas.kinematics.closure import equations, row_names

DRAWN = Path(__file__).parents[3] / "benchmarks" / "baseline" / "drawn"


@pytest.mark.parametrize(
    "name", [DRAWN / "driven_1.toml", "excavator", "five_bar", "flyball_governor"]
)
def test_they_are_those_of_the_plain_expressions(name, rng) -> None:
    m = es.load(name)
    q, v, rows = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv), tuple(range(len(row_names(m))))
    half_q, half_v = (
        subroutine("half", lambda x: x / 2, n) for n in (m.nq, m.nv)
    )  # which has no derivatives
    called, plain = equations(m, half_q(q), half_v(v), rows), equations(m, q / 2, v / 2, rows)
    still, zero = casadi.SX(m.nv, 1), casadi.SX.zeros(m.nv)
    for found, want in zip(equations(m, q, still, rows), equations(m, q, zero, rows), strict=True):
        assert casadi.is_equal(casadi.densify(found), casadi.densify(want), 99)
    numbers = [rng.normal(size=m.nq), rng.normal(size=m.nv)]
    for found, want in zip(called, plain, strict=True):
        one, other = (casadi.Function("f", [q, v], [inlined(x)])(*numbers) for x in (found, want))
        np.testing.assert_allclose(np.array(one), np.array(other), rtol=1e-12, atol=1e-12)
