"""State equations of a bond graph and what belongs to them, as formulas for the one evaluator.

Each is a function of a graph, its states x, its inputs u and the time; `evaluation` says what they
are made of.
"""

from __future__ import annotations

import math
from typing import Any

from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.elements import Element
from eslabon.bond_graph.elimination import SingularError, solve
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.junction_structure import junction_structure
from eslabon.bond_graph.state_equations import Evaluation
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.numerics.scalars import Expression, casadi

UNSOLVED = 1e-9  # of an algebraic loop that is not linear, relative to what enters it


def order(g: Graph) -> int:
    """The number of states."""
    return causality(g.nominal).order


def input_names(g: Graph) -> tuple[str, ...]:
    """The inputs: e or f with the bond's name."""
    return tuple(
        g.ports[x.name][0].bond.signal_name(x.imposes[0]) for x in g.elements.values() if x.is_input
    )


def output_names(g: Graph) -> tuple[str, ...]:
    """What the detectors measure."""
    return junction_structure(g.nominal).key["y"]


def rates(
    g: Graph, x: Expression, u: Expression, t: Expression, du: Expression | None = None
) -> list[Expression]:
    """x', and what algebraic loops that are not linear leave unsolved."""
    e = Evaluation.of_state(g, x, u, t, du)
    return e.loops.settled([e.rates, e.residual, size_of(e.rates)])


def rates_derivative(
    g: Graph, by: str | Expression, x: Expression, u: Expression, t: Expression
) -> list[Expression] | None:
    """The derivatives of x' through algebraic loops; None where there are none."""
    e = Evaluation.of_state(g, x, u, t)
    e.rates  # noqa: B018 - which meets the loops
    if not e.loops.made:
        return None
    v = {"x": x, "u": u, "t": t}[by] if isinstance(by, str) else by
    made = e.jacobian(e.rates, v)
    return e.loops.settled([casadi.densify(made), e.residual, size_of(made)])


def outputs(
    g: Graph, x: Expression, u: Expression, t: Expression, du: Expression | None = None
) -> list[Expression]:
    """What the detectors measure."""
    e = Evaluation.of_state(g, x, u, t, du)
    y = e.combined(e.structure.matrix["y"])
    return e.loops.settled([y, e.residual, size_of(y)])


def bond_variables(
    g: Graph, x: Expression, u: Expression, t: Expression, du: Expression | None = None
) -> list[Expression]:
    """Efforts and flows of all bonds, in the order of the bonds."""
    e = Evaluation.of_state(g, x, u, t, du)
    made = bonds(e)
    return e.loops.settled([*made, e.residual, size_of(*made)])


def bonds(e: Evaluation) -> list[Expression]:
    """Efforts and flows of all bonds of an evaluation."""
    rows = [casadi.vertcat(*(e.structure.rows[b, letter] for b in e.g.bonds)) for letter in "ef"]
    return [e.combined(own) for own in rows]


def linearization(g: Graph, x: Expression, u: Expression, t: Expression) -> list[Expression]:
    """A, B, C, D of the exact Jacobian, dependent storages included."""
    e = Evaluation.of_state(g, x, u, t)
    y = e.combined(e.structure.matrix["y"])
    made = [casadi.densify(e.jacobian(f, v)) for f in (e.rates, y) for v in (x, u)]
    return e.loops.settled([*made, e.residual, size_of(*made)])


def size_of(*values: Expression) -> Expression:
    """The sum of absolute values, which is finite if all are."""
    return sum(
        (casadi.norm_1(casadi.densify(casadi.vec(x))) for x in values if x.numel()), casadi.SX(0)
    )


def jacobian(g: Graph, x: Expression, u: Expression, t: Expression) -> Expression:
    """The derivative of x' by x, for implicit methods of integration."""
    e = Evaluation.of_state(g, x, u, t)
    return e.loops.settled([casadi.densify(e.jacobian(e.rates, x))])[0]


def statics(g: Graph, x: Expression, u: Expression, t: Expression) -> list[Expression]:
    """f of E x' = f where nothing changes, and the energy variables of all storages, each with its
    derivatives by x and u."""
    e = Evaluation.of_state(g, x, u, t, still=True)
    made = []
    for y in (e.forces, casadi.vertcat(x, e.xd)):
        made += [y, e.jacobian(y, x), e.jacobian(y, u)]
    return e.loops.settled([casadi.densify(matrix) for matrix in made])


def structure_block(
    g: Graph, x: Expression, u: Expression, t: Expression, preference: str, block: str
) -> Expression:
    """A block of the junction structure at a state."""
    e = Evaluation.of_state(g, x, u, t)
    made = e.filled(getattr(junction_structure(g.nominal, preference), block))
    return e.loops.settled([casadi.densify(made)])[0]


def fields(g: Graph, x: Expression, u: Expression, t: Expression) -> list[Expression]:
    """F, F_d, L, E, M and the rate of Z1 (Morales, 2.33-2.36, 2.46, 2.47, 4.91); of laws that are
    not linear, their derivatives."""
    e = Evaluation.of_state(g, x, u, t)
    S14, S22, Z1 = (e.filled(getattr(e.structure, name)) for name in ("S14", "S22", "Z1"))
    F, stored = casadi.jacobian(e.z, x), e.stored_by_co_energy()
    D = casadi.SX.sym("D", S22.shape[0])
    L = casadi.jacobian(e.answers([*range(D.numel())], D), D) if D.numel() else casadi.SX(0, 0)
    L = casadi.substitute(L, D, e.combined(e.structure.matrix["D_in"])) if D.numel() else L
    E = e.own_rates - casadi.mtimes([S14, stored, Z1, F])
    M = solve(casadi.SX.eye(L.shape[0]) - casadi.mtimes(L, S22), L)
    try:
        Fd = solve(stored, casadi.SX.eye(stored.shape[0]))
    except SingularError:
        raise ModelError(f"{g.name} has storages in derivative causality whose matrices are singular, so that F_d has no "
            "numbers; its E still follows from the rates.") from None  # fmt: skip
    change = e.jacobian(casadi.vec(Z1), casadi.vertcat(x, t)) @ casadi.vertcat(e.rates, 1)
    made = (F, Fd, L, E, M, casadi.reshape(change, *Z1.shape))
    return e.loops.settled([casadi.densify(matrix) for matrix in made])


def derivative_fields(g: Graph, x: Expression, u: Expression, t: Expression) -> list[Expression]:
    """L_d and M_d of derivative causality, A* and B* of z_d = A* x_d' + B* u (Morales,
    4.185-4.188), at a state."""
    e = Evaluation.of_state(g, x, u, t)
    c = causality(g.nominal, "derivative")
    if c.integral:
        raise ModelError(
            f"{g.name}: {', '.join(c.states)} keep integral causality, so that there is no B*."
        )
    known = {s.name: e.energy_of(s) for s in (*e.causality.integral, *e.causality.derivative)}
    d = Evaluation(g, known, u, t, "derivative")
    J = {
        name: e.filled(getattr(d.structure, name))
        for name in ("J11", "J12", "J13", "J21", "J22", "J23")
    }
    D = casadi.SX.sym("D", J["J22"].shape[0])
    L = casadi.jacobian(d.answers([*range(D.numel())], D), D) if D.numel() else casadi.SX(0, 0)
    L = (
        casadi.substitute(L, D, e.combined(stacked_rows(e, d.structure.key["D_in"])))
        if D.numel()
        else L
    )
    M = solve(casadi.SX.eye(L.shape[0]) - casadi.mtimes(L, J["J22"]), L)
    star = [J[f"J1{k}"] + casadi.mtimes([J["J12"], M, J[f"J2{k}"]]) for k in (1, 3)]
    return e.loops.settled(d.loops.settled([casadi.densify(matrix) for matrix in (L, M, *star)]))


def stacked_rows(e: Evaluation, names: tuple[str, ...]) -> Expression:
    """Rows of bond variables by their names."""
    found = [e.g.signals[name] for name in names]
    return casadi.vertcat(*(e.structure.rows[bond.name, letter] for letter, bond in found))


def dependence(g: Graph, x: Expression, u: Expression, t: Expression) -> Expression:
    """E of E x' = S11 z + S12 D_out + S13 u + ...: 1 - S14 dx_d/dx, with all that x_d depends on,
    and - S14 dx_d/dx for sinks."""
    e = Evaluation.of_state(g, x, u, t)
    S14 = e.filled(e.structure.block("x_rate", "xd_rate"))
    made = casadi.densify(e.own_rates - casadi.mtimes(S14, e.jacobian(e.xd, x)))
    return e.loops.settled([made])[0]


def affine(g: Graph, x: Expression, t: Expression) -> list[Expression]:
    """f and g of x' = f(x) + g(x) u."""
    u = casadi.SX.sym("u", len(input_names(g)))
    e = Evaluation.of_state(g, x, u, t)
    made, gain = e.rates, e.jacobian(e.rates, u)
    if casadi.depends_on(gain, casadi.vertcat(u, e.loops.w)) and casadi.sparsify(gain).nnz():
        raise ModelError(
            f"{g.name}: x' is not f(x) + g(x) u, as a law makes the inputs appear in it otherwise."
        )
    without = casadi.substitute(e.loops.settled([made])[0], u, casadi.SX.zeros(u.shape[0]))
    return [without, *e.loops.settled([casadi.densify(gain)])]


def storages(g: Graph) -> tuple[Element, ...]:
    """The storages, inertias first, in the order of the elements."""
    own = [x for x in g.elements.values() if x.stores]
    return tuple(sorted(own, key=lambda x: x.letter))


def _n(g: Graph, **_: Any) -> tuple[int]:
    return (order(g),)


def _nu(g: Graph, **_: Any) -> tuple[int]:
    return (len(input_names(g)),)


def _nX(g: Graph, **_: Any) -> tuple[int]:
    c = causality(g.nominal)
    return (len(c.integral) + len(c.derivative),)


def _ny(g: Graph, **_: Any) -> tuple[int]:
    return (len(output_names(g)),)


def _nd(g: Graph, **_: Any) -> tuple[int]:
    return (len(causality(g.nominal).derivative),)


def _ns(g: Graph, **_: Any) -> tuple[int]:
    return (len(junction_structure(g.nominal).sources),)


def _nD(g: Graph, **_: Any) -> tuple[int]:
    return (len(junction_structure(g.nominal).key["D_in"]),)


def _block_shape(g: Graph, preference: str, block: str) -> tuple[int, int]:
    shape: tuple[int, int] = getattr(junction_structure(g.nominal, preference), block).shape
    return shape


def _nb(g: Graph, **_: Any) -> tuple[int]:
    return (len(g.bonds),)


def _by(rows: Any, columns: Any) -> Any:
    return lambda g, **_: (*rows(g), *columns(g))


X, U, T = Argument("x", _n, "states"), Argument("u", _nu, "inputs"), Argument("t", ())
SOLVED = Argument("algebraic_loop", (), bound=("<=", UNSOLVED))
FINITE = Argument("size", (), bound=("<", math.inf))
RATES = Formula(
    "bond_graph_rates",
    rates,
    (X, U, T),
    (Argument("rates", _n),),
    checks=(SOLVED, FINITE),
    derivative=rates_derivative,
)
OUTPUTS = Formula(
    "bond_graph_outputs",
    outputs,
    (X, U, T),
    (Argument("y", _ny),),
    checks=(SOLVED, FINITE),
    rare=True,
)
BOND_VARIABLES = Formula(
    "bond_variables", bond_variables, (X, U, T), (Argument("e", _nb), Argument("f", _nb)), checks=(SOLVED, FINITE), rare=True
)  # fmt: skip
DU = Argument("input_rates", _nu, "inputs")
WITH_INPUT_RATES = {
    f: Formula(
        f"{f.name}_of_moving_inputs",
        f.function,
        (*f.inputs, DU),
        f.outputs,
        checks=f.checks,
        rare=True,
    )
    for f in (RATES, OUTPUTS, BOND_VARIABLES)
}
LINEARIZATION = Formula(
    "bond_graph_linearization", linearization, (X, U, T),
    (Argument("A", _by(_n, _n)), Argument("B", _by(_n, _nu)), Argument("C", _by(_ny, _n)), Argument("D", _by(_ny, _nu))),
    checks=(SOLVED, FINITE), rare=True,
)  # fmt: skip
JACOBIAN = Formula("bond_graph_jacobian", jacobian, (X, U, T), (Argument("A", _by(_n, _n)),))
STATICS = Formula(
    "bond_graph_statics", statics, (X, U, T),
    (Argument("f", _n), Argument("f_by_x", _by(_n, _n)), Argument("f_by_u", _by(_n, _nu)), Argument("energy_variables", _nX),
     Argument("energy_by_x", _by(_nX, _n)), Argument("energy_by_u", _by(_nX, _nu))), rare=True,
)  # fmt: skip
STRUCTURE = Formula(
    "junction_structure", structure_block, (X, U, T), (Argument("block", _block_shape),),
    {"preference": "integral", "block": "S11"}, rare=True,
)  # fmt: skip
FIELDS = Formula(
    "bond_graph_fields", fields, (X, U, T),
    (Argument("F", _by(_n, _n)), Argument("Fd", _by(_nd, _nd)), Argument("L", _by(_nD, _nD)), Argument("E", _by(_n, _n)),
     Argument("M", _by(_nD, _nD)), Argument("Z1_rate", _by(_nd, _n))), rare=True,
)  # fmt: skip
DERIVATIVE_FIELDS = Formula(
    "bond_graph_derivative_fields", derivative_fields, (X, U, T),
    (Argument("Ld", _by(_nD, _nD)), Argument("Md", _by(_nD, _nD)), Argument("A_star", _by(_nX, _nX)),
     Argument("B_star", _by(_nX, _ns))), rare=True,
)  # fmt: skip
DEPENDENCE = Formula(
    "bond_graph_dependence", dependence, (X, U, T), (Argument("E", _by(_n, _n)),), rare=True
)
AFFINE = Formula(
    "bond_graph_affine", affine, (X, T), (Argument("f", _n), Argument("g", _by(_n, _nu))), rare=True
)
