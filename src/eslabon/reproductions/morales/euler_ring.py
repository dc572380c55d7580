"""Section 4.3.4: Euler's ring, with torques, with imposed velocities, and with translation."""

from __future__ import annotations

from typing import Any

from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.reproductions.comparison import THESIS, Section
from eslabon.reproductions.morales.matrices import letters
from eslabon.reproductions.verdicts import formula

INPUT = "A torque counts with a plus sign, as in (4.50) and in the first line of (4.57)."
CROSS = "p' = u - w x p: one of the two products has a plus sign."
BOTH = "p' = u - w x p: x1 x6 has a plus sign, and the other product is x3 x4."
RATE = "Newton's law has the torque equal to the rate of z2 = jy wy plus the gyroscopic term; z1' has its plus sign."

TURNING = {  # (4.48)-(4.50)
    "x1' (4.48)": "(-(jz-jy)*x2*x3-jz*jy*u1)/(jz*jy)",
    "x2' (4.49)": "((jz-jx)*x1*x3-jz*jx*u2)/(jz*jx)",
    "x3' (4.50)": "-((jy-jx)*x1*x2-jy*jx*u3)/(jy*jx)",
}
MOVING = {  # (4.57)
    "x1' (4.57)": "(-((jz-jy)*x2*x3-jz*jy*u1))/(jz*jy)",
    "x2' (4.57)": "((jz-jx)*x1*x3-jz*jx*u2)/(jz*jx)",
    "x3' (4.57)": "(-((jy-jx)*x1*x2-jy*jx*u3))/(jy*jx)",
    "x4' (4.57)": "((jy*u4-x2*x6)*jz-jy*x3*x5)/(jz*jy)",
    "x5' (4.57)": "((jx*u5-x1*x6)*jz-jx*x3*x5)/(jz*jx)",
    "x6' (4.57)": "((jx*u6-x1*x5)*jy-jx*x2*x4)/(jy*jx)",
}
IMPOSED = {  # (4.53), (4.56): wx and wy imposed, a torque about z
    "x1' (4.53)": "(jx-jy)*u1*u2+u3",
    "y1 (4.56)": "-((jy-jz)*x1*u2-jz*dz1)/jz",
    "y2 (4.56)": "((jx-jz)*x1*u1-jz*dz2)/jz",
}
PORTS = {"euler_ring": "x y z", "rigid_body": "x y z fx fy fz"}
REASONS = {
    "y2 (4.56)": RATE,
    "x1' (4.48)": INPUT,
    "x2' (4.49)": INPUT,
    "x2' (4.57)": INPUT,
    "x4' (4.57)": CROSS,
    "x5' (4.57)": BOTH,
    "x6' (4.57)": CROSS,
}


def driven(block: str, ports: str) -> BondGraph:
    """A block of the library with a source of effort at each port."""
    sources = {f"s{k}": "Se" for k in range(1, len(ports.split()) + 1)}
    bonds = [
        f"{source} -> body.{port}" for source, port in zip(sources, ports.split(), strict=True)
    ]
    return BondGraph(f"driven_{block}", {"body": BondGraph.load(block), **sources}, bonds)


def rates(g: BondGraph) -> tuple[list[Any], dict[str, Any]]:
    """x' as SymPy expressions, and what x1, u1 and the parameters of the print are called in them."""
    import sympy

    (found,) = g.equations().expanded()
    names: dict[str, Any] = {}
    for k, state in enumerate(g.states, start=1):
        names[f"x{k}"] = sympy.Symbol(state, real=True)
    for k, name in enumerate(g.inputs, start=1):
        names[f"u{k}"] = sympy.Symbol(name, real=True)
    short = {name: name.rpartition("_")[2] for name in g.parameters}
    renamed = {sympy.Symbol(name, real=True): letters(own)[own] for name, own in short.items()}
    back = {value: sympy.Symbol(name, real=True) for name, value in names.items()}
    made = [sympy.simplify(x).xreplace({**renamed, **back}) for x in list(found)]
    return made, letters(
        *short.values(),
        *(f"x{k + 1}" for k in range(len(g.states))),
        *(f"u{k + 1}" for k in range(len(g.inputs))),
    )


def imposed() -> tuple[list[Any], dict[str, Any]]:
    """The ring's equations solved for the torques about x and y, with h = j w for these, which the print calls z."""
    found, names = rates(driven("euler_ring", PORTS["euler_ring"]))
    n = letters("jx", "jy", "jz", "x1", "u1", "u2", "u3", "dz1", "dz2")
    gyroscopic = [found[k] - names[f"u{k + 1}"] for k in range(3)]
    place = {names["x1"]: n["jx"] * n["u1"], names["x2"]: n["jy"] * n["u2"], names["x3"]: n["x1"]}
    terms = [x.xreplace(place) for x in gyroscopic]
    return [terms[2] + n["u3"], n["dz1"] - terms[0], n["dz2"] - terms[1]], n


def sections() -> tuple[Section, ...]:
    rows = []
    turning, moving = (rates(driven(block, PORTS[block])) for block in ("euler_ring", "rigid_body"))
    for (found, names), printed in ((turning, TURNING), (imposed(), IMPOSED), (moving, MOVING)):
        for (what, text), right in zip(printed.items(), found, strict=True):
            rows.append(formula(what, text, right, names, reason=REASONS.get(what, "")))
    text = (
        "State equations of the blocks euler_ring and rigid_body with a source at each port, traced and printed, beside "
        "(4.48)-(4.57); for (4.56) solved for the torques that hold wx and wy."
    )
    return (Section("4.3.4 Euler's ring", text, tuple(rows), THESIS),)
