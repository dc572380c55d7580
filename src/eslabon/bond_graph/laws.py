"""Constitutive laws: what an element answers at its ports, as CasADi expressions.

A law is written once, in the direction its causality gives it: I, f(p) or in derivative causality p(f); C, e(q) or q(e); R,
e(f) or f(e). Values may be matrices, whose ports need not all have the same causality.
"""

from __future__ import annotations

from eslabon.bond_graph.definitions import Reader
from eslabon.bond_graph.elements import OWN_LETTERS, RESISTOR, Element, Law
from eslabon.bond_graph.elimination import SingularError, solve
from eslabon.bond_graph.graph_checks import resistor_input
from eslabon.errors import ModelError
from eslabon.numerics.scalars import Expression, casadi


def answers(x: Element, given: Expression, integral: list[bool], value: Reader) -> Expression:
    """What a storage answers port by port: in integral causality the co-energy variable to the energy variable, f to p or e to
    q, else the energy variable to the co-energy variable."""
    if x.law is not None:
        own = x.law if integral[0] else x.inverse
        assert own is not None  # causality has seen to it
        return _said(own, OWN_LETTERS[x.kind][0 if integral[0] else 1], given, value)
    return _linear(x, given, [not own for own in integral], value)


def co_energy(x: Element, energy: Expression, value: Reader) -> Expression:
    """f of p for an inertia, e of q for a compliance, at all ports."""
    return answers(x, energy, [True] * energy.shape[0], value)


def dissipated(x: Element, given: Expression, letters: list[str], value: Reader) -> Expression:
    """e of f or f of e for a resistor, by what it is given at each port."""
    if x.law is not None:
        own = x.law if resistor_input(x, value.definitions) == letters[0] else x.inverse
        assert own is not None
        return _said(own, letters[0], given, value)
    return _linear(x, given, [letter == "f" for letter in letters], value)


def written(x: Element, own: Expression, value: Reader) -> Expression:
    """The law of an element as it is written, of its own variable."""
    assert x.law is not None
    return casadi.SX(
        _said(
            x.law,
            resistor_input(x, value.definitions) if x.kind == RESISTOR else OWN_LETTERS[x.kind][0],
            own,
            value,
        )
    )


def _said(law: Law, letter: str, given: Expression, value: Reader) -> Expression:
    return casadi.SX(value(law, {letter: given}))


def _linear(x: Element, given: Expression, direct: list[bool], value: Reader) -> Expression:
    """y = K g where the law is taken as it is written, e = R f, p = I f, q = C e, and its inverse at the other ports.

    With b for the latter, g_b = K_ba g_a + K_bb y_b and y_a = K_aa g_a + K_ab y_b.
    """
    if not isinstance(x.value, tuple):
        return value(x.value) * given if direct[0] else _quotient(x, given, value)
    K = value.matrix(x.value)
    a, b = (
        [k for k, own in enumerate(direct) if own],
        [k for k, own in enumerate(direct) if not own],
    )
    made = casadi.SX(given.shape[0], 1)
    try:
        made[b, :] = solve(K[b, b], given[b, :] - casadi.mtimes(K[b, a], given[a, :]))
    except SingularError:
        raise ModelError(
            f"the matrix of the field '{x.name}' is singular, and its causality needs the inverse."
        ) from None
    made[a, :] = casadi.mtimes(K[a, a], given[a, :]) + casadi.mtimes(K[a, b], made[b, :])
    return made


def _quotient(x: Element, given: Expression, value: Reader) -> Expression:
    divisor = value(x.value)
    if isinstance(divisor, float) and divisor == 0:
        noun = "resistance" if x.kind == RESISTOR else "inertia" if x.kind == "I" else "compliance"
        raise ModelError(
            f"'{x.name}' has the {noun} zero, and its causality divides by it; take it away or give it a value."
        )
    return given / divisor
