"""Constitutive laws: what an element answers at its ports, as CasADi expressions.

A law is written once, in the direction its causality gives it: I, f(p) or in derivative causality p(f); C, e(q) or q(e); R,
e(f) or f(e). Values may be matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np

from eslabon.bonds.elimination import SingularError, solve
from eslabon.bonds.items import OWN_LETTERS, RESISTOR, Element, Law, Traced
from eslabon.bonds.validation import resistor_input
from eslabon.errors import ModelError
from eslabon.model.expressions import Expression

SX = Any
Valued = Callable[..., Any]  # the value of an expression, with names of its own


def co_energy(x: Element, energy: SX, value: Valued) -> SX:
    """f of p for an inertia, e of q for a compliance."""
    if x.law is not None:
        return _said(x.law, OWN_LETTERS[x.kind][0], energy, value)
    return _quotient(x, energy, value)


def stored(x: Element, given: SX, value: Valued) -> SX:
    """p of f for an inertia, q of e for a compliance: derivative causality."""
    if x.law is not None:
        assert x.inverse is not None  # causality has seen to it
        return _said(x.inverse, OWN_LETTERS[x.kind][1], given, value)
    return _product(x, given, value)


def dissipated(x: Element, given: SX, letter: str, value: Valued) -> SX:
    """e of f or f of e for a resistor, by what it is given."""
    if x.law is not None:
        own = x.law if resistor_input(x) == letter else x.inverse
        assert own is not None
        return _said(own, letter, given, value)
    return _product(x, given, value) if letter == "f" else _quotient(x, given, value)


def energy(x: Element, own: SX, value: Valued) -> SX:
    """What a storage holds: the integral of the co-energy variable from zero, by Gauss's rule where the law is a function.

    The rule with 20 points is exact for polynomials up to degree 39.
    """
    if x.law is None:
        return casadi.dot(co_energy(x, own, value), own) / 2
    points, weights = np.polynomial.legendre.leggauss(20)
    parts = [w / 2 * co_energy(x, (p + 1) / 2 * own, value) for p, w in zip(points, weights, strict=True)]
    return sum(parts[1:], parts[0]) * own


def _said(law: Law, letter: str, given: SX, value: Valued) -> SX:
    if isinstance(law, Traced):
        return law.function(given)
    return casadi.SX(value(law, {letter: given}) if isinstance(law, Expression) else law)


def _matrix(x: Element, value: Valued) -> SX:
    if isinstance(x.value, Traced):
        return casadi.sparsify(value(x.value))
    assert isinstance(x.value, tuple)
    return casadi.sparsify(casadi.vertcat(*(casadi.horzcat(*(casadi.SX(value(e)) for e in row)) for row in x.value)))


def _product(x: Element, given: SX, value: Valued) -> SX:
    if isinstance(x.value, tuple | Traced):
        return casadi.mtimes(_matrix(x, value), given)
    return value(x.value) * given


def _quotient(x: Element, given: SX, value: Valued) -> SX:
    if isinstance(x.value, tuple | Traced):
        try:
            return solve(_matrix(x, value), given)
        except SingularError:
            raise ModelError(
                f"the matrix of the field '{x.name}' is singular, and its causality needs the inverse."
            ) from None
    divisor = value(x.value)
    if isinstance(divisor, float) and divisor == 0:
        noun = "resistance" if x.kind == RESISTOR else "inertia" if x.kind == "I" else "compliance"
        raise ModelError(
            f"'{x.name}' has the {noun} zero, and its causality divides by it; take it away or give it a value."
        )
    return given / divisor
