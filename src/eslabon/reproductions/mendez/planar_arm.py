"""The planar arm of section 5.3: its model as closed-form equations, which the paper leaves to the reader's software."""

from __future__ import annotations

from typing import Any

import eslabon as es
from eslabon.export.equations import equations
from eslabon.formulas.formulations.quaternion import matrices
from eslabon.numerics.scalars import casadi
from eslabon.reproductions.comparison import PAPER, Row, Section
from eslabon.reproductions.verdicts import formula, statement

# The textbook's model of the same arm (the paper's reference [5], Spong and Vidyasagar), with h = m2 l1 lc2 s2.
MODEL = {
    "D11": "m1*lc1**2 + I1 + m2*(l1**2 + lc2**2 + 2*l1*lc2*c2) + I2",
    "D12": "m2*(lc2**2 + l1*lc2*c2) + I2",
    "D21": "m2*(lc2**2 + l1*lc2*c2) + I2",
    "D22": "m2*lc2**2 + I2",
    "C11": "-h*v2",
    "C12": "-h*(v1 + v2)",
    "C21": "h*v1",
    "C22": "0",
    "g1": "(m1*lc1 + m2*l1)*g*c1 + m2*lc2*g*c12",
    "g2": "m2*lc2*g*c12",
}


def names() -> dict[str, Any]:
    """What the letters of the textbook stand for in the model's equations."""
    import sympy

    m = es.load("mendez_2r")
    letters = {
        name: sympy.Symbol(name, real=True)
        for name in (*m.parameters, "q1", "q2", "v1", "v2", "a1", "a2")
    }
    q1, q2 = letters["q1"], letters["q2"]
    made = {
        "c1": sympy.cos(q1),
        "c2": sympy.cos(q2),
        "c12": sympy.cos(q1 + q2),
        "s2": sympy.sin(q2),
    }
    return letters | made | {"h": letters["m2"] * letters["l1"] * letters["lc2"] * sympy.sin(q2)}


def quaternion_model() -> dict[str, Any]:
    """D, C and g of the quaternion formulation, entry by entry, with the model's parameters as letters."""
    m = es.load("mendez_2r")
    parameters = {name: casadi.SX.sym(name) for name in m.parameters}
    q, v = casadi.SX.sym("q", 2), casadi.SX.sym("v", 2)
    outputs = [casadi.densify(x) for x in matrices(m.with_symbols(parameters), q, v)]
    f = casadi.Function(
        "model", [q, v, *parameters.values()], outputs, ["q", "v", *parameters], ["D", "C", "G"]
    )  # fmt: skip
    D, C, g = equations(f).expanded()
    entries = {
        f"{name}{i + 1}{j + 1}": M[i, j]
        for name, M in (("D", D), ("C", C))
        for i in (0, 1)
        for j in (0, 1)
    }
    return entries | {"g1": g[0], "g2": g[1]}


def sections() -> tuple[Section, ...]:
    return model(), from_energies()


def model() -> Section:
    letters, found = names(), quaternion_model()
    rows = [formula(f"{name} (28)", text, found[name], letters) for name, text in MODEL.items()]
    text = (
        "D, C and g of eslabon's quaternion formulation for mendez_2r, with every parameter a letter, beside the textbook's "
        "form: bars l1, l2, centres of mass at lc1, lc2, moments I1, I2 about them; c12 = cos(q1 + q2), h = m2 l1 lc2 s2, "
        "v = theta'. The paper stops before these equations and leaves the direct computation of D and C open (L307-311). Equal "
        "means that SymPy reduces the difference to zero."
    )
    return Section(
        "5.3 The planar arm in closed form",
        text,
        tuple(rows),
        ("", "textbook", "eslabon, quaternion"),
    )


def from_energies() -> Section:
    """Equation 20 carried out on the Lagrangian 27, with the velocities corrected."""
    import sympy

    n = names()
    q, v, a = ([n[f"{x}{k}"] for k in (1, 2)] for x in "qva")
    lagrangian, torques = _lagrangian(n), []
    for k in (0, 1):
        momentum = sympy.diff(lagrangian, v[k])
        rate = sum(
            sympy.diff(momentum, q[j]) * v[j] + sympy.diff(momentum, v[j]) * a[j] for j in (0, 1)
        )
        torques.append(rate - sympy.diff(lagrangian, q[k]))
    rows: list[Row] = []
    for formulation in ("quaternion", "lagrange", "newton_euler"):
        found = (
            es.load("mendez_2r")
            .equations("inverse_dynamics", formulation=formulation)
            .expanded()[0]
        )
        for k in (0, 1):
            left = reduced(torques[k] - found[k], q)
            says, does = "(20) applied to (27), corrected", f"difference reduces to {left}"
            rows.append(statement(f"tau{k + 1}, {formulation}", says, does, float(left != 0)))
    text = (
        "The paper's way: its Lagrangian (27), with positions (L275), velocities and energies as corrected below, put "
        "through the Euler-Lagrange equations (20) by SymPy; and the torques that eslabon gives in three formulations."
    )
    return Section("5.3 The planar arm from its energies", text, tuple(rows), PAPER)


def reduced(e: Any, angles: list[Any]) -> Any:
    """A polynomial in sines and cosines in its normal form, with no square of a sine: zero if and only if it is zero."""
    import sympy

    e = sympy.expand(sympy.expand_trig(e))
    for q in angles:
        e = sympy.rem(e, sympy.sin(q) ** 2 + sympy.cos(q) ** 2 - 1, sympy.sin(q))
    return sympy.expand(e)


def _lagrangian(n: dict[str, Any]) -> Any:
    """K - V with L_1g, L_2g of L275, ground axes, gravity along -y."""
    import sympy

    q1, q2, v1, v2 = (n[x] for x in ("q1", "q2", "v1", "v2"))
    along1, along2 = (sympy.Matrix([sympy.cos(x), sympy.sin(x)]) for x in (q1, q1 + q2))
    centres = (n["lc1"] * along1, n["l1"] * along1 + n["lc2"] * along2)
    total = sympy.Integer(0)
    for k, (centre, spin) in enumerate(zip(centres, (v1, v1 + v2), strict=True), start=1):
        velocity = centre.diff(q1) * v1 + centre.diff(q2) * v2
        total += (
            n[f"m{k}"] * velocity.dot(velocity) / 2
            + n[f"I{k}"] * spin**2 / 2
            - n[f"m{k}"] * n["g"] * centre[1]
        )
    return total
