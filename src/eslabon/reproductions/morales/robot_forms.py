"""Sections 4.3.5 to 4.3.8 and 5.3: both arms in the form of robots, and their linearized junction structures, as printed and as they follow
from the kinetic energy and from the graphs."""

from __future__ import annotations

from functools import cache
from typing import Any

from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.language import phrase
from eslabon.reproductions.comparison import FORMS, THESIS, Row, Section
from eslabon.reproductions.morales.junction_structures import symbolic
from eslabon.reproductions.morales.matrices import block, letters
from eslabon.reproductions.morales.morales_lagrange import robot_form
from eslabon.reproductions.verdicts import erratum, formula, statement

BRACKET = (
    "Of the brackets that close one is never opened; taken away at the end, u1 has the wrong sign."
)
NUMBERED = "The fourth non-state, of iz at joint 2, is printed z1; (4.61) has z1 already."
PRODUCT = "(4.114) and (4.118) have the product of the two rates here, not their difference."
SKEW = (
    "The matrix shown is minus its own transpose, as power is conserved; equal to it is only zero."
)
REVERSED = "V has the wrong sign in (4.162), and r and s follow from the printed sign of tyx; the derivatives of M11 and M22 give this."
TWO_TERMS = "Both translations act, my through s and mx through r: with my = mx the entry is zero."
VARYING = ("morales_stanford_constant", "integral")


def sections() -> tuple[Section, ...]:
    return puma_state_form(), puma_robot_form(), stanford_robot_form(), linearized()


def _time_derivative(matrix: Any, rates: dict[Any, Any]) -> Any:
    """The derivative of a matrix of displacements by the time."""
    import sympy

    zero = sympy.zeros(*matrix.shape)
    return sum((matrix.diff(q) * rate for q, rate in rates.items()), zero)


def _field(name: str, key: str, of: str) -> Any:
    """The diagonal matrix of a graph's inertias and compliances that belong to the entries of a key vector."""
    import sympy

    g = BondGraph.load(name)
    owner = {
        g.state_name(port): x.name
        for x in g.elements.values()
        if x.stores
        for port in g.ports[x.name]
    }
    own = g.junction_structure().key[key]
    value = [sympy.Symbol(owner[state], real=True) for state in own]
    return sympy.diag(*value) if of == "F^-1" else sympy.diag(*(1 / v for v in value))


@cache
def _implicit(name: str) -> Any:
    """E F^-1 = F^-1 - S14 F_d^-1 Z1 of a graph: with x = F^-1 z, the inertias that the joints feel."""
    coupling = symbolic(name, "integral", "S14") * _field(name, "xd", "F^-1")
    return _field(name, "x", "F^-1") - coupling * symbolic(name, "integral", "Z1")


@cache
def _turning(name: str) -> Any:
    """S14 F_d^-1 Z1' of a graph."""
    import sympy

    rates = {sympy.Symbol(q, real=True): sympy.Symbol(f"d{q}", real=True) for q in ("q3", "q53")}
    turned = _time_derivative(symbolic(name, "integral", "Z1"), rates)
    return symbolic(name, "integral", "S14") * _field(name, "xd", "F^-1") * turned


def puma_state_form() -> Section:
    """Equations 4.61 to 4.70."""
    import sympy

    names = letters(
        "jx", "jy", "jz", "i1", "i2", "j1", "x1", "x2", "x3", "x4", "u1", "u2",
        "dz1", "dz2", "dz3", "dz4",
    )  # fmt: skip
    n = names
    s, c = sympy.sin(n["x4"]), sympy.cos(n["x4"])
    v = n["x1"] / n["i1"], n["x3"] / n["i2"]
    wx, wy, wz = s * v[0], c * v[0], v[1]
    z = {"z1": n["j1"] * v[0], "z2": n["jx"] * wx, "z3": n["jy"] * wy, "z4": n["jz"] * wz}
    # Moments of the ring about its own axes: the rate of h plus w x h.
    torque = (
        n["dz2"] + wy * z["z4"] - wz * z["z3"],
        n["dz3"] + wz * z["z2"] - wx * z["z4"],
        n["dz4"] + wx * z["z3"] - wy * z["z2"],
    )
    first = n["u1"] - n["dz1"] - s * torque[0] - c * torque[1]
    second = n["u2"] - torque[2]
    inside = "(jx-jy)*cos(x4)*x1*x3+i2*i1*dz2)*sin(x4)-(u1-dz1)*i2*i1+cos(x4)*i2*i1*dz3"
    readings = (
        f"(-({inside})/(i2*i1)",
        f"(-(({inside}))/(i2*i1)",
    )  # without and with the lost bracket
    apart = [formula("", text, first, names).difference for text in readings]
    rows: list[Row] = [
        erratum("x1' (4.61)", f"(-({inside}))/(i2*i1)", readings[1], (apart[0], apart[1]), reason=BRACKET),
        formula("x2' (4.61)", "x1/i1", v[0], names),
        formula("x3' (4.61)", "((jx-jy)*sin(x4)*cos(x4)*x1**2+(u2-dz4)*i1**2)/i1**2", second, names),
        formula("x4' (4.61)", "x3/i2", v[1], names),
        formula("z1 (4.61)", "j1*x1/i1", z["z1"], names),
        formula("z2 (4.61)", "sin(x4)*jx*x1/i1", z["z2"], names),
        formula("z3 (4.61)", "cos(x4)*jy*x1/i1", z["z3"], names),
        formula("z1 (4.62), which is z4", "jz*x3/i2", z["z4"], names),
        statement("name of z4 (4.62)", "z1", "z4", 1.0, reason=NUMBERED),
        formula("y1 (4.63), (4.68)", "x1/i1", v[0], names),
        formula("y2 (4.63), (4.69)", "x3/i2", v[1], names),
    ]  # fmt: skip
    still = dict.fromkeys((n["dz1"], n["dz2"], n["dz3"], n["dz4"]), 0)
    for what, text, right in (
        ("f1 + u1 (4.64)", "(-((jx-jy)*sin(x4)*cos(x4)*x1*x3-i2*i1*u1))/(i2*i1)", first),
        ("f2 (4.65)", "x1/i1", v[0]),
        ("f3 + u2 (4.66)", "((jx-jy)*sin(x4)*cos(x4)*x1**2+i1**2*u2)/i1**2", second),
        ("f4 (4.67)", "x3/i2", v[1]),
    ):
        rows.append(formula(what, text, sympy.sympify(right).xreplace(still), names))
    states = sympy.Matrix([n[f"x{k}"] for k in range(1, 5)])
    acting = sympy.Matrix([[1, s, c, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    E = sympy.eye(4) + acting * sympy.Matrix([*z.values()]).jacobian(states)
    printed = (
        "(sin(x4)**2*jx+cos(x4)**2*jy+i1+j1)/i1 0 0 (jx-jy)*sin(x4)*cos(x4)*x1/i1",
        "0 1 0 0",
        "0 0 (i2+jz)/i2 0",
        "0 0 0 1",
    )
    rows += block("E (4.70)", printed, E, names)
    text = (
        "States x = (h1, theta1, h2, theta2), non-states z the momenta of link 1 and of the ring: Euler's equations about its axes, "
        "with wx = sin x4 x1/i1 and wy = cos x4 x1/i1, give the printed form. dz1 to dz4 are the rates of z."
    )
    return Section("4.3.5 PUMA: states and non-states", text, tuple(rows), FORMS)


def puma_robot_form() -> Section:
    """Equations 4.102 and 4.109 to 4.118, joint 2 before joint 1."""
    import sympy

    names = letters("ix", "iy", "iz", "i", "i1", "i2", "q3", "dq3", "f2", "f24")
    n = names
    rows = block("S14 Fd^-1 S31' (4.101), but for h3", ("0 0 0 0", "0 h3 0 0", "0 0 0 0", "0 0 0 0"),
                 _turning("morales_puma"), names | {"h3": _turning("morales_puma")[1, 1]})  # fmt: skip
    rows.append(
        formula("h3 (4.102)", "-(ix-iy)*sin(q3)*cos(q3)*dq3", _turning("morales_puma")[1, 1], names)
    )
    M = _implicit("morales_puma")[:2, :2].applyfunc(sympy.simplify)
    inertia = ("i2+iz 0", "0 i1+ix*sin(q3)**2+iy*cos(q3)**2+i")
    rows += block("M (4.109), (4.116)", inertia, M, names)
    v = sympy.Matrix([n["f2"], n["f24"]])
    rate = {n["q3"]: n["f2"]}
    by = [M.diff(n["q3"]), sympy.zeros(2, 2)]  # by the angles of joints 2 and 1

    def christoffel(a: int, b: int) -> Any:
        return sum((by[k][a, b] + by[b][a, k] - by[a][b, k]) * v[k] / 2 for k in range(2))

    C = sympy.Matrix(2, 2, christoffel)
    k = "(ix-iy)*sin(q3)*cos(q3)"
    rows += block("C (4.110)", (f"0 -{k}*f24", f"{k}*f24 {k}*f2"), C, names)
    turning = _time_derivative(M, rate)
    rows += block("M' (4.111)", ("0 0", f"0 2*{k}*f2"), turning, names)
    difference = turning - 2 * C
    rows += block("M' - 2 C (4.112)", (f"0 2*{k}*f24", f"-2*{k}*f24 0"), difference, names)
    apart = sum(sympy.simplify(x) != 0 for x in difference - difference.T)
    rows.append(
        statement(
            "M' - 2 C (4.112)",
            "its own transpose",
            "minus its transpose",
            float(apart),
            reason=SKEW,
        )
    )
    V = C * v
    rows += block("C, squares (4.117)", (f"0 -{k}", "0 0"),
                  sympy.Matrix(2, 2, lambda a, b: sympy.expand(V[a]).coeff(v[b], 2)), names)  # fmt: skip
    products = sympy.Matrix([sympy.expand(V[a]).coeff(v[0], 1).coeff(v[1], 1) for a in range(2)])
    rows += block("B, products (4.118)", ("0", f"2*{k}"), products, names)
    left = V - sympy.Matrix([n["f24"] ** 2 * C[0, 1] / n["f24"], products[1] * n["f2"] * n["f24"]])
    rest = sum(sympy.simplify(x) != 0 for x in left)
    rows.append(
        statement("V of (4.113), (4.114)", "B [f2 f24] + C [f2², f24²]", "the same", float(rest))
    )
    rows.append(formula("V, second row of (4.115)", f"2*{k}*(f2-f24)", V[1], names, reason=PRODUCT))
    text = (
        "From the graph: M = E F^-1 of the rows of inertias, C by Christoffel's symbols of this M, in the order joint 2, joint 1. "
        "Frictions and springs are left out, as in the thesis."
    )
    return Section("4.3.6 PUMA: the form of robots", text, tuple(rows), FORMS)


def stanford_robot_form() -> Section:
    """Equations 4.122, 4.152, 4.153, 4.161, 4.175 to 4.177 and 4.180."""
    import sympy

    name = VARYING[0]
    names = letters(
        "ix", "iy", "iz", "i", "i1", "i2", "i3", "mx", "my", "mz", "q3", "q53", "dq3", "dq53"
    )
    alpha = _turning(name)[1, 1]
    zero = "0 0 0 0 0 0 0"
    printed = (
        "-my*dq53*q53 0 0 my*dq3*q53*sin(q3) 0 0 0", "0 alpha3 0 0 0 0 0", "0 0 0 -mx*dq3*cos(q3) 0 0 0", *(zero,) * 4,
    )  # fmt: skip
    rows = block("S14 Fd^-1 S31' (4.152)", printed, _turning(name), names | {"alpha3": alpha})
    text = "-ix*dq3*sin(q3)*cos(q3)+iy*dq3*sin(q3)*cos(q3)-q53*cos(q3)*mz*(-q53*dq3*sin(q3)+dq53*cos(q3))"
    rows.append(formula("alpha3 (4.153)", text, alpha, names))
    inertia = (
        "i2+iz+q53**2*my 0 0", "0 cos(q3)**2*(iy+q53**2*mz)+ix*sin(q3)**2+i+i1 0", "0 0 i3+mx",
    )  # fmt: skip
    rows += block("M (4.161)", inertia, _implicit(name)[:3, :3], names)
    names |= letters("theta3")
    weights = _implicit(name)[:3, [3]].subs({names["q53"]: names["theta3"]})
    rows += block("G (4.180)", ("my*theta3*cos(q3)", "0", "mx*sin(q3)"), weights, names)
    n = letters("theta2", "theta3", "m", "jx", "jy", "v1", "v2", "v3")
    height = n["theta3"] * sympy.sin(n["theta2"])
    angles = sympy.Symbol("theta1", real=True), n["theta2"], n["theta3"]
    gravity = sympy.Matrix([sympy.diff(n["m"] * height, q) for q in angles])
    rows += block(
        "G (4.122), of a unit acceleration",
        ("0", "cos(theta2)*m*theta3", "sin(theta2)*m"),
        gravity,
        n,
    )
    _, C, B = robot_form(3)
    v = sympy.Matrix([n["v1"], n["v2"], n["v3"]])
    V = C * sympy.Matrix([x**2 for x in v]) + B * sympy.Matrix(
        [v[0] * v[1], v[0] * v[2], v[1] * v[2]]
    )
    own = n | {"ix": n["jx"], "iy": n["jy"], "mx": n["m"], "my": n["m"], "mz": n["m"]}
    sc = "sin(theta2)*cos(theta2)"
    for joint, where, printed_row, right in (
        (2, "(4.175)", f"{sc}*(ix-iy+mx*theta3**2)*v1**2-theta3*v2*v3*(my+mz)", V[1]),
        (1, "(4.176)",
         f"{sc}*2*(iy-ix)*v1*v2+(my-mx)*theta3*cos(theta2)**2*v1*v3+{sc}*(mz-mx)*v1*v2*theta3**2", V[0]),
        (3, "(4.177)", "-my*theta3*cos(theta2)**2*v1+mz*theta3*v2", V[2]),
    ):  # fmt: skip
        rows.append(
            formula(
                phrase("V of joint {joint} {where}", joint=joint, where=where),
                printed_row,
                right,
                own,
                reason=REVERSED,
            )
        )
    text = (
        "Inertias, derivatives and the platform's weight from the graph morales_stanford_constant with letters; the velocity terms "
        "from the kinetic energy with mx = my = mz = m, v1, v2, v3 the rates of the joints. G stands without the factor g, as in "
        "(4.45)."
    )
    return Section("4.3.8 Stanford: the form of robots", text, tuple(rows), FORMS)


def linearized() -> Section:
    """Equations 5.33 to 5.40 and 5.51."""
    import sympy

    names = letters("p12", "p13", "q3", "f2", "f24", "R1", "R2", "i1", "i2", "c1", "c2")
    n = names
    S = {
        of: symbolic("morales_puma", "integral", of)
        for of in ("S11", "S12", "S13", "S14", "S21", "Z1", "S22", "S23")
    }
    k1 = S["S11"][0, 1]
    slope = sympy.diff(k1, n["q3"])
    rows = block(
        "S11 (5.33)",
        ("0 k1 -1 0", "-k1 0 0 -1", "1 0 0 0", "0 1 0 0"),
        S["S11"],
        names | {"k1": k1},
    )
    ends = ("0 0", "0 0")
    rows += block("S12 (5.33)", ("-1 0", "0 -1", *ends), S["S12"], names)
    rows += block("S13 (5.34)", ("1 0", "0 1", *ends), S["S13"], names)
    rows += block(
        "S14 (5.34)", ("-1 0 0 0", "0 -sin(q3) -cos(q3) -1", "0 0 0 0", "0 0 0 0"), S["S14"], names
    )
    rows += block("S21 (5.35)", ("1 0 0 0", "0 1 0 0"), S["S21"], names)
    rows += block(
        "S41 (5.35)", ("1 0 0 0", "0 sin(q3) 0 0", "0 cos(q3) 0 0", "0 1 0 0"), S["Z1"], names
    )
    seen = (
        BondGraph.load("morales_puma").with_detectors(y="f2").junction_structure().symbolic("S31")
    )
    rows += block("S31 (5.35)", ("1 0 0 0",), seen, names)
    rows += block("S22, S23 (5.36)", (*ends, *ends), S["S22"].col_join(S["S23"]), names)
    rows.append(formula("k1 (5.37)", "-p13*sin(q3)+p12*cos(q3)", k1, names))
    rows.append(formula("k2 (5.37), of a small q3", "-p13*cos(q3)-p12*sin(q3)", slope, names))
    flow = sympy.Matrix([[n["f2"]], [n["f24"]]])
    moved = S["S11"][:2, :2].diff(n["q3"]) * flow  # of nominal flows, by the angle
    rows.append(formula("k3 (5.40)", "-f24*(p13*cos(q3)+p12*sin(q3))", moved[0], names))
    rows.append(formula("k4 (5.40)", "f2*(p13*cos(q3)+p12*sin(q3))", moved[1], names))
    added = sympy.zeros(4, 4)
    added[:2, 2] = moved
    rows += block("S13^1 (5.39)", ("0 0 k3 0", "0 0 k4 0", "0 0 0 0", "0 0 0 0"), added,
                  names | {"k3": moved[0], "k4": moved[1]})  # fmt: skip
    L = sympy.diag(n["R2"], n["R1"])
    A = (S["S11"] + S["S12"] * L * S["S21"]) * _field("morales_puma", "x", "F") + added
    own = names | {"k1": k1, "k3": moved[0], "k4": moved[1]}
    printed = ("-R2/i2 k1/i1 -1/c2+k3 0", "-k1/i2 -R1/i1 k4 -1/c1", "1/i2 0 0 0", "0 1/i1 0 0")
    rows += block("A (5.38), multiplied out", printed, A, own)
    names = letters("p12", "p13", "q3", "q53", "f2", "f24", "mx", "my", "mz", "n", "r", "s")
    n = names
    s, c = sympy.sin(n["q3"]), sympy.cos(n["q3"])
    gyrators = {
        n["n"]: n["mz"] * n["f2"],
        n["r"]: n["mx"] * n["f24"] * s,
        n["s"]: n["my"] * n["f24"] * c,
    }
    S11 = symbolic(*VARYING, "S11").subs(gyrators)
    entries = {
        "h1": (0, 1, "p12*cos(q3)-p13*sin(q3)+q53**2*mx*f24*sin(q3)*cos(q3)"),
        "-h2": (0, 2, "-q53*mz*f2"),
        "-h3": (0, 3, "-q53*mz*f2*sin(q3)"),
        "h8": (1, 2, "q53*my*f24*cos(q3)**2"),
        "-h9": (1, 3, "-q53*mx*f24*sin(q3)*cos(q3)**2"),
        "h13": (2, 3, "mz*f2*cos(q3)"),
    }
    for h, (i, j, text) in entries.items():
        rows.append(
            formula(phrase("{h} of S11 (5.51)", h=h), text, S11[i, j], names, reason=TWO_TERMS)
        )
    text = (
        "Procedure 5.1 on the graph of the PUMA: momenta p12 and p13 held at their nominal values, as the thesis does, and the paths "
        "added by derivatives of the moduli by q3. Hats are left out. Of the Stanford arm (5.51) has the moduli at nominal values, "
        "n, r and s put in by (4.169)-(4.171)."
    )
    return Section("5.3 Linearized junction structures", text, tuple(rows), THESIS)
