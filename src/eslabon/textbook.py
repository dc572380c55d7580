"""A quantity of a mechanism as equations: which formulas are printed, in which letters, and what they are the terms of.

Besides the quantities there are the equations of motion themselves (`formulas.terms`). Those in independent velocities
are printed in stages, each in the results of the one before: gamma, the velocity coefficients, then what these reduce.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from eslabon.arguments import flag, names, text
from eslabon.compiler.formula import NOTHING, Argument, Formula, requested
from eslabon.compiler.program import simplified
from eslabon.compiler.trace import trace
from eslabon.coordinates.massless import structure
from eslabon.errors import ModelError
from eslabon.formulas import terms
from eslabon.formulas.inputs import STATE, TAU, Q, V
from eslabon.formulas.kinematics.closure import Partition
from eslabon.formulas.quantities import FORMULATION, quantity, structure_of
from eslabon.model import Model
from eslabon.model.validation import TIME
from eslabon.verbs import options_of

if TYPE_CHECKING:
    from eslabon.export.equations import Equations

LIMIT = 2500  # operations, above which equations are of no use to a reader
MOTION = "equations_of_motion"
INDEPENDENT = (
    "velocity_coefficients",
    "reduced_equations",
)  # what is said in independent velocities


def equations(
    m: Model,
    name: str | None,
    parameters: tuple[str, ...] | bool,
    long: bool,
    options: Mapping[str, Any],
) -> Equations:
    """See `Mechanism.equations`."""
    from eslabon.export import equations as printed

    name = text(name, "quantity") if name is not None else default_quantity(m)
    formulas, kept = _formulas(m, name), _letters(m, parameters)
    graphs = [
        graph(m, formula, options if formula is formulas[-1] else {}, kept) for formula in formulas
    ]
    operations = sum(f.n_instructions() for f in graphs)
    if not flag(long, "long") and operations > LIMIT:
        raise ModelError(
            f"the {name} of {m.name} takes about {operations} operations, too many for anyone to read; print it with "
            "long=True, or ask for c_source, or for a part of it, such as mass_matrix or constraint."
        )
    stages = [
        printed.Stage(f, _results_in(formula)) for f, formula in zip(graphs, formulas, strict=True)
    ]
    return printed.equations(stages, statement=_statement(m, name))


def default_quantity(m: Model) -> str:
    """What is printed where no quantity is named."""
    return MOTION if m.closed else "inverse_dynamics"


def graph(
    m: Model, formula: Formula, options: Mapping[str, Any], parameters: tuple[str, ...] = ()
) -> Any:
    """The plain graph of a formula as a `casadi.Function`; the time is an input where it counts."""
    time = (TIME,) if m.rheonomic and formula.timed else ()
    request = requested(m, formula, options_of(m, formula, options), (*time, *parameters))
    return simplified(trace(m, request, checks=False))


def _letters(m: Model, parameters: tuple[str, ...] | bool) -> tuple[str, ...]:
    """Which parameters stay letters."""
    if isinstance(parameters, bool):
        return tuple(m.parameters) if parameters else ()
    return names(parameters, "parameters")


def _formulas(m: Model, name: str) -> list[Formula]:
    """What is asked for, last, and the formulas it is written in."""
    if name == MOTION:
        closed = ("Phi", "J", "gamma", *(["Phi_t"] * m.rheonomic)) if m.closed else ()
        return [
            _terms(m, terms.equations_of_motion, (Q, V, TAU), ("M", "h", "Q", *closed), FORMULATION)
        ]
    if name not in INDEPENDENT:
        return [quantity(m, name)]
    if not m.closed:
        raise ModelError(
            f"{m.name} has no loops, so all its velocities are independent; ask for its {MOTION}."
        )
    p = _partition(m)
    i, e = len(p.independent), len(p.dependent)
    rows = [Argument(name, (e,)) for name in ("gamma", *(["Phi_t"] * m.rheonomic))]
    coefficients = [Argument("K", (e, i)), Argument("d", (e,))]
    made = [
        _terms(m, terms.independent_rows, (Q, V), tuple(x.name for x in rows)),
        _terms(m, terms.dependent_velocities, (Q, *rows), ("K", "d", *(["K_t"] * m.rheonomic))),
        _terms(
            m,
            terms.reduced_equations,
            (Q, V, TAU, *coefficients),
            ("M_r", "h_r", "Q_r"),
            FORMULATION,
        ),
    ]
    return made[: 2 + INDEPENDENT.index(name)]


def _terms(
    m: Model,
    function: Callable[..., Any],
    inputs: tuple[Argument, ...],
    outputs: tuple[str, ...],
    options: Mapping[str, Any] = NOTHING,
) -> Formula:
    prepare = structure_of if m.closed else None
    return Formula(
        function.__name__,
        function,
        inputs,
        tuple(map(Argument, outputs)),
        options,
        prepare=prepare,
        timed=True,
    )


def _results_in(formula: Formula) -> dict[int, str]:
    """Which inputs are results of earlier formulas."""
    return {k: x.name for k, x in enumerate(formula.inputs) if x not in STATE}


def _partition(m: Model) -> Partition:
    return structure(m).partition


def _statement(m: Model, name: str) -> tuple[str, str]:
    """What the terms belong to, in words and in LaTeX; names of results and of velocities stand in braces."""
    if name not in (MOTION, *INDEPENDENT):
        return "", ""
    if name == MOTION and not m.closed:
        said = ["{M} v' + {h} = {Q}"]
    elif name == MOTION:
        said = ["{M} v' + {h} = {Q} + {J}^T lambda", "{J} v' = {gamma}", "{Phi} = 0"]
    else:
        said = ["{M_r} v_i' + {h_r} = {Q_r}"] if name == "reduced_equations" else []
        said += [f"v_e = {{K}} v_i{' + {K_t}' * m.rheonomic}", "v_e' = {K} v_i' + {d}"]
        for half, places in (("v_i", _partition(m).independent), ("v_e", _partition(m).dependent)):
            said.append(f"{half} = ({', '.join(f'{{v{k + 1}}}' for k in places)})")
    latex = r", \quad ".join(said).replace("lambda", r"\lambda")
    return ", ".join(said), re.sub(r"\bv(_\w)?'", r"\\dot{v}\1", latex)
