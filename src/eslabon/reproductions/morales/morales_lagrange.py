"""Sections 4.3.5 to 4.3.8: both arms by Euler and Lagrange, and the bond graphs against them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.language import phrase
from eslabon.numerics.scalars import casadi
from eslabon.reproductions.comparison import FORMS, THESIS, Section
from eslabon.reproductions.morales.junction_structures import symbolic
from eslabon.reproductions.morales.matrices import block, letters
from eslabon.reproductions.verdicts import erratum, formula, greatest

SAMPLES = 20
PARALLEL = "The mass at the distance theta3 cos theta2 from axis 1 has the inertia m theta3² cos² theta2; the print itself has it in (4.161)."
CENTRIFUGAL = "From the derivative of M11 = i1 + j1 + jx s² + (jy + m theta3²) c² by theta2."
PUSHED = "Centrifugal force pushes the mass outwards: the term is -(1/2) of the derivative of M11 by theta3, as with theta2'² in the same row."
TWICE = "The Coriolis term is the whole derivative of M by theta3, which has a factor 2."
ALSO = "The mass m has its part in the derivative of M11 by theta2 too."


# -- energies ---------------------------------------------------------------------------------------------------------


def energies(p: Any, q: Any, v: Any, g: float = 0.0) -> tuple[Any, Any]:
    """Of the joints 1, 2 (and 3): motors, link 1, and link 2 turning with (sin q2 v1, cos q2 v1, v2), its mass at q3."""
    import sympy

    lib: Any = casadi if isinstance(q[0], casadi.SX) else sympy
    s, c = lib.sin(q[1]), lib.cos(q[1])
    kinetic = (
        (p["i1"] + p["i"] + p["ix"] * s**2 + p["iy"] * c**2) * v[0] ** 2
        + (p["i2"] + p["iz"]) * v[1] ** 2
    ) / 2
    if len(q) == 2:
        return kinetic, 0
    m = p["m"]
    kinetic += (
        p["i3"] * v[2] ** 2 + m * (v[2] ** 2 + q[2] ** 2 * v[1] ** 2 + (q[2] * c * v[0]) ** 2)
    ) / 2
    return kinetic, m * g * q[2] * s


@cache
def robot_form(joints: int) -> tuple[Any, Any, Any]:
    """M, C and B of M a + C [v_i²] + B [v_i v_j] = tau (4.25), from the kinetic energy, in the letters of the print."""
    import sympy

    n = letters("jx", "jy", "jz", "i1", "i2", "i3", "j1", "m", "theta2", "theta3")
    p = {
        "i1": n["i1"],
        "i2": n["i2"],
        "i3": n["i3"],
        "i": n["j1"],
        "ix": n["jx"],
        "iy": n["jy"],
        "iz": n["jz"],
        "m": n["m"],
    }
    q = [sympy.Symbol("theta1", real=True), n["theta2"], n["theta3"]][:joints]
    v = [sympy.Symbol(f"v{k}", real=True) for k in range(joints)]
    M = sympy.hessian(energies(p, q, v)[0], v)

    def christoffel(i: int, j: int, k: int) -> Any:
        return (
            sympy.diff(M[i, j], q[k]) + sympy.diff(M[i, k], q[j]) - sympy.diff(M[j, k], q[i])
        ) / 2

    pairs = [(i, j) for i in range(joints) for j in range(i + 1, joints)]
    C = sympy.Matrix(joints, joints, lambda i, j: sympy.factor(christoffel(i, j, j)))
    B = sympy.Matrix(joints, len(pairs), lambda i, k: sympy.factor(2 * christoffel(i, *pairs[k])))
    return M.applyfunc(sympy.expand), C, B


def accelerations(
    p: Any, springs: tuple[float, ...], q: Floats, v: Floats, tau: Floats, g: float = 0.0
) -> Floats:
    """Euler and Lagrange's equations solved, with the springs of the joints; all numbers."""
    n = len(q)
    x, y = casadi.SX.sym("q", n), casadi.SX.sym("v", n)
    kinetic, potential = energies(p, casadi.vertsplit(x), casadi.vertsplit(y), g)
    momenta = casadi.gradient(kinetic, y)
    bias = casadi.jtimes(momenta, x, y) - casadi.gradient(kinetic - potential, x)
    f = casadi.Function("lagrange", [x, y], [casadi.jacobian(momenta, y), bias])
    M, h = (np.array(z) for z in f(q, v))
    return np.asarray(np.linalg.solve(M, tau - q / np.array(springs) - h[:, 0]))


# -- the bond graphs --------------------------------------------------------------------------------------------------


def puma_graph() -> BondGraph:
    """Without friction, and with ix and iy unequal: the printed numbers have ix = iy, with which no Coriolis term is left."""
    return BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.3, R1=0.0, R2=0.0)


def puma_errors(S11: Any) -> float:
    """The greatest difference of the rates that (4.91) gives with a changed S11 to Euler and Lagrange's."""
    g, rng, worst = puma_graph(), np.random.default_rng(1), 0.0
    p, structure = g.parameters, g.junction_structure()
    for _ in range(SAMPLES):
        q, v, tau = rng.normal(size=(3, 2))  # joints 1, 2
        a = accelerations(p, (p["c1"], p["c2"]), q, v, tau)
        x, u = np.array([p["i2"] * v[1], p["i1"] * v[0], q[1], q[0]]), tau[::-1]
        f, S = structure.fields(x, u), {n: structure.at(x, u, n) for n in ("S11", "S13", "S14")}
        p12, p13 = p["ix"] * np.sin(q[1]) * v[0], p["iy"] * np.cos(q[1]) * v[0]
        changed = S11(S["S11"].copy(), p12, p13, q[1])
        right = (changed + S["S14"] @ np.linalg.solve(f["Fd"], f["Z1_rate"])) @ f["F"] @ x + S[
            "S13"
        ] @ u
        worst = max(
            worst, greatest(np.linalg.solve(f["E"], right)[:2] / [p["i2"], p["i1"]] - a[::-1])
        )
    return worst


def _right(S11: Floats, *_: float) -> Floats:
    return S11


def _printed_h1(S11: Floats, p12: float, p13: float, q3: float) -> Floats:
    h1 = p13 * np.cos(q3) + p12 * np.sin(q3)
    S11[0, 1], S11[1, 0] = -h1, h1
    return S11


def _without_spring(S11: Floats, *_: float) -> Floats:
    S11[1, 3] = 0.0
    return S11


def stanford_error(tyx: float) -> float:
    """The same for the Stanford arm on a platform that accelerates at g, by the sign of the transformer tyx."""
    g = BondGraph.load("morales_stanford").with_parameters(
        ix=0.2, iy=0.5, iz=0.35, ig=1.0, R1=0.0, R2=0.0, R3=0.0, tyx=tyx
    )
    p, rng, worst = g.parameters, np.random.default_rng(2), 0.0
    values = {**p, "m": p["mx"]}
    for _ in range(SAMPLES):
        q, v, tau = rng.normal(size=(3, 3))
        a = accelerations(values, (p["c1"], p["c2"], p["c3"]), q, v, tau, 9.81)
        momenta = np.array([p["i2"], p["i1"], p["i3"]])
        x = np.concatenate([momenta * v[[1, 0, 2]], [0.0], q[[1, 0, 2]]])
        rates = g.rates(x, [tau[1], tau[0], tau[2], 9.81])
        worst = max(worst, greatest(rates[:3] / momenta - a[[1, 0, 2]]))
    return worst


# -- sections ---------------------------------------------------------------------------------------------------------


def sections() -> tuple[Section, ...]:
    return matrices(), models()


def matrices() -> Section:
    """Equations 4.71 to 4.73 and 4.119 to 4.121."""
    names = letters("jx", "jy", "jz", "i1", "i2", "i3", "j1", "m", "theta2", "theta3")
    import sympy

    names |= {"s": sympy.sin(names["theta2"]), "c": sympy.cos(names["theta2"])}
    M, C, B = robot_form(2)
    rows = block("PUMA: M (4.71)", ("s**2*jx+c**2*jy+i1+j1 0", "0 i2+jz"), M, names)
    rows += block("PUMA: C (4.72)", ("0 0", "-(jx-jy)*s*c 0"), C, names)
    rows += block("PUMA: B (4.73)", ("2*(jx-jy)*s*c", "0"), B, names)
    M, C, B = robot_form(3)
    rows += block("Stanford: M (4.119)", ("m*theta3**2+jy*c**2+s**2*jx+i1+j1 0 0", "0 m*theta3**2+i2+jz 0", "0 0 m+i3"), M, names,
                  {(1, 1): PARALLEL})  # fmt: skip
    rows += block("Stanford: C (4.120)", ("0 0 0", "-(m*theta3**2+jx+jy)*s*c 0 0", "c**2*m*theta3 -m*theta3 0"), C, names,
                  {(2, 1): CENTRIFUGAL, (3, 1): PUSHED})  # fmt: skip
    rows += block("Stanford: B (4.121)", ("2*(jx-jy)*s*c c**2*m*theta3 0", "0 0 m*theta3", "0 0 0"), B, names,
                  {(1, 1): ALSO, (1, 2): TWICE, (2, 3): TWICE})  # fmt: skip
    text = (
        "M a + C [theta_i'²] + B [theta_i' theta_j'] from the kinetic energies, by SymPy; s and c are sin and cos of theta2. "
        "The thesis takes these from its algebraic-differential equations."
    )
    return Section("4.3.5, 4.3.7 The robots' matrices", text, tuple(rows), THESIS)


def models() -> Section:
    """What the thesis says at L1904 and L2153: the bond graphs' models are Euler and Lagrange's."""
    right = puma_errors(_right)
    rows = [
        erratum("PUMA: h1 (4.81)", "p13 cos q3 + p12 sin q3", "p13 sin q3 - p12 cos q3", (puma_errors(_printed_h1), right),
                reason="S11 is skew-symmetric either way, so that energy is conserved with the wrong h1 too; trajectories are not "
                "Lagrange's."),
        erratum("PUMA: S11(2,4) (4.82)", "0", "-1", (puma_errors(_without_spring), right),
                reason="The spring of joint 1 would not act."),
        erratum("Stanford: modulus of tyx (4.132)-(4.140)", "+q53", "-q53", (stanford_error(1.0), stanford_error(-1.0)),
                reason="v = w x r gives v_z = -q53 w_y; with it h5 and the terms with r and s in h1, h3 and h4 change their signs, and "
                "the platform acts by its acceleration alone."),
    ]  # fmt: skip
    names = letters("q3", "q53", "f2", "f50", "n")
    acting = symbolic("morales_stanford_constant", "integral", "S11")[0, 2] * names["f50"]
    rows.append(
        formula(
            "Stanford: V, first row (4.167)",
            "-n*q3*f50",
            acting,
            names,
            reason="It is -n q53 f50 in (4.166).",
        )
    )
    text = phrase(
        "Accelerations at {samples} random states against the Euler-Lagrange equations, ix and iy unequal; the difference is the "
        "greatest of the printed form, in rad/s² or m/s². The thesis' own numbers have ix = iy, with which the PUMA has no "
        "Coriolis term at all and nothing of this shows. With the corrections both graphs equal Euler and Lagrange's models.",
        samples=SAMPLES,
    )
    return Section(
        "4.3.6, 4.3.8 The bond graphs against Euler and Lagrange", text, tuple(rows), FORMS
    )
