"""From a mechanism and a state to its linear model: the state's forces, the independent
coordinates, one native call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, floats, mapping, names, positive, states, text
from eslabon.compiler.evaluate import function_of
from eslabon.compiler.formula import Argument, Formula, requested
from eslabon.errors import ModelError, SingularityError, suggest
from eslabon.formulas.derivatives import linearization
from eslabon.formulas.derivatives.measured_outputs import Output
from eslabon.formulas.inputs import TAU, WRENCH, A, Q, V
from eslabon.formulas.motion_state import StateFunction
from eslabon.formulas.quantities import Checks, Quantity, quantity
from eslabon.formulas.structure import Partition
from eslabon.model import Model, as_model
from eslabon.model.configuration import velocity_names
from eslabon.model.memory import per_model
from eslabon.model.validation import TIME
from eslabon.solve.constraints.closed_configurations import jacobian_at
from eslabon.solve.constraints.constraint_structure import constraint_structure, structure
from eslabon.solve.constraints.independent_coordinates import partition_at, partition_by
from eslabon.solve.constraints.state_checks import checked
from eslabon.solve.designs import DESCRIBED, Designs
from eslabon.systems.linear.linear_model import Layout, LinearModel
from eslabon.systems.linear.output_names import actuator_names, measured, state_names

MATRICES = ("U", "V", "W", "F", "A", "B", "C", "D")


def _shape(name: str) -> Any:
    def shape(
        m: Model, partition: Partition, outputs: tuple[Any, ...] = (), **_: Any
    ) -> tuple[int, ...]:
        n, nu, ny, nv = len(partition.independent), m.nu, len(outputs), m.nv
        return {
            "U": (n, n), "V": (n, n), "W": (n, n), "F": (n, nu), "A": (2 * n, 2 * n), "B": (2 * n, nu), "drift": (2 * n,),
            "a": (nv,), "position_map": (nv, n), "velocity_map": (nv, 2 * n), "C": (ny, 2 * n), "D": (ny, nu),
            "a_by_x": (n, 2 * n), "a_by_u": (n, nu),
            "needed": (n,),
        }[name]  # fmt: skip

    return shape


def _row(
    name: str,
    function: Callable[..., Any],
    inputs: tuple[Argument, ...],
    values: tuple[str, ...],
    checks: Checks = Checks.MASS,
    **options: Any,
) -> Quantity:
    return Quantity(
        name,
        StateFunction(function),
        inputs,
        tuple(Argument(x, _shape(x)) for x in values),
        {"partition": None, **options},
        external=WRENCH,
        checks=checks,
    )


MEASURED, TERMS = ("C", "D"), ("U", "V", "W", "F", "position_map", "velocity_map")
LINEAR_MODEL = _row(
    "linear_model",
    linearization.linear_model,
    (Q, V, TAU),
    ("A", "B", "a", *MEASURED, *TERMS, "needed"),
    outputs=(),
).formula(closed=True)
# The matrices of trees are larger than what they are made of: what is the same in every state is
# left out, and U, V and W wait until somebody asks.
TREE_MODEL = _row(
    "linear_model_of_tree",
    linearization.linear_model_of_tree,
    (Q, V, TAU),
    ("A", "B", "a", *MEASURED, "needed"),
    outputs=(),
).formula(closed=False)
PLAIN_TREE_MODEL = _row(
    "linear_model_of_plain_tree",
    linearization.linear_model_of_plain_tree,
    (Q, V, TAU),
    ("a_by_x", "a_by_u", "a", "needed"),
    outputs=(),
).formula(closed=False)
TREE_TERMS = _row(
    "linear_terms_of_tree",
    linearization.linear_terms_of_tree,
    (Q, V, A),
    ("U", "V", "W"),
    Checks.NONE,
).formula(closed=False)
HOLDING = _row(
    "holding_forces", linearization.holding_forces, (Q, V, A), ("F", "needed"), Checks.CLOSURE
)
SENSITIVITY = _row(
    "linear_sensitivity",
    linearization.linear_sensitivity,
    (
        Q,
        V,
        TAU,
        Argument("value", ()),
        Argument("moved", _shape("needed")),
        Argument("sped", _shape("needed")),
        Argument("forced", lambda m, **_: (m.nu,)),
    ),
    (*MATRICES, "a"),
    outputs=(),
    parameter=None,
)


def linearize(
    m: Model, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, *, a: ArrayLike | None = None,
    outputs: Any = None, independent: Any = None, external: Mapping[str, ArrayLike] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None, tolerance: float | None = None, t: ArrayLike | None = None,
) -> LinearModel:  # fmt: skip
    """The exact linear model about a state, or about many in one native call.

    Parameters
    ----------
    q, v, tau : the state and the actuators' forces. v left out is rest. tau left out are the forces
        that hold the state without acceleration of the independent coordinates; where none do,
        those that come nearest (see `LinearModel.drift`).
    a : accelerations of all joints, in place of tau: the forces are those that go with them.
    outputs : names of what is measured (see `eslabon.systems.linear.output_names`); left out, the
        positions of the actuated joints.
    independent : names of the independent coordinates; left out, the actuated ones in their order
        where they determine the motion, else such as pivoting finds.
    external, parameters, tolerance, t : as for `forward_dynamics`.

    >>> import eslabon as es
    >>> es.linear.linearize(es.load("cart_pole"), [0.0, 0.0])
    <LinearModel: linear model of cart_pole in x, theta; 4 states, 1 inputs, 1 outputs>
    """
    call = _Call(as_model(m), external, parameters, tolerance, t)
    asked = outputs if outputs is None or isinstance(outputs, str) else names(outputs, "outputs")
    chosen = None if independent is None else partition_by(m, independent, "elimination")
    needs = (
        finite if tau is None else floats
    )  # with all given, a NaN stays in its row, as in every verb
    q = states(q, "q", m.nq, m.name, values=needs)
    v = np.zeros(m.nv) if v is None else states(v, "v", m.nv, m.name, "velocities", needs)
    if tau is not None and a is not None:
        raise ModelError(
            "linearize takes the actuators' forces tau or the accelerations a: one of the two."
        )
    for p in _partitions(call, chosen, q):
        try:
            if tau is not None:
                forces = states(tau, "tau", m.nu, m.name, "actuators", floats)
            elif a is not None:
                forces = _forces_of(call, p, q, v, a)
            else:
                forces = _holding_forces(call, p, asked, q, v)
            return _at(call, p, asked, q, v, forces)
        except SingularityError as error:
            if p == chosen or not m.closed:
                raise
            refused = error
    raise refused


def _formula_of(m: Model, outputs: tuple[Output, ...]) -> Formula:
    if m.closed:
        return LINEAR_MODEL
    return (
        PLAIN_TREE_MODEL
        if not outputs and not any(j.kind.has_quaternion for j in m.description.joints)
        else TREE_MODEL
    )


def usual(m: Model) -> Callable[[ArrayLike, ArrayLike, ArrayLike], LinearModel]:
    """What is asked most, of q, v and tau alone, made ready: a call costs little more than the
    native one.

    Where the actuated coordinates do not determine the motion it raises SingularityError, and
    `linearize` looks for others.
    """
    p = _own(m)
    outputs, layout = _layout(m, p, None)
    layout = replace(layout, request=_Call(m, None, None, None, None))
    f = _native(m, layout.formula, (("partition", p), ("outputs", outputs)), (), (), None)
    return lambda q, v, tau: LinearModel(layout, f(q, v, tau), q, v, tau)


class _Call:
    """What all native calls of one request have in common."""

    def __init__(
        self, m: Model, external: Any, parameters: Any, tolerance: float | None, t: Any
    ) -> None:
        self.m = m
        self.tolerance = (
            None
            if tolerance is None
            else positive(tolerance, "tolerance", zero=True, infinite=True)
        )
        self.external, self.parameters = (
            dict(mapping(external, "external")),
            dict(mapping(parameters, "parameters")),
        )
        if (t is None) == m.rheonomic:
            said = (
                "depend on the time; give it, as t=0.5"
                if t is None
                else "do not depend on the time; leave t out"
            )
            raise ModelError(f"linearize: the constraints of {m.name} {said}.")
        if t is not None:
            self.parameters[TIME] = finite(t, "t")
        if self.external:
            from eslabon.formulas.applied_loads import check_external

            check_external(m, tuple(self.external))

    def __call__(
        self, formula: Formula, options: Mapping[str, Any], *arrays: Any
    ) -> tuple[Floats, ...]:
        f = _native(
            self.m, formula, tuple(options.items()), tuple(self.parameters), tuple(self.external), self.tolerance
        )  # fmt: skip
        made: tuple[Floats, ...] = f(*arrays, *self.external.values(), *self.parameters.values())
        return made

    def designs(self, q: Floats) -> tuple[tuple[int, ...], Designs]:
        """The leading axes of configurations and parameters, and the design of each, one after the
        other."""
        values = {name: np.asarray(x, dtype=float) for name, x in self.parameters.items()}
        lead = np.broadcast_shapes(q.shape[:-1], *(x.shape for x in values.values()))
        if not values:
            return lead, DESCRIBED
        together = np.stack([np.broadcast_to(x, lead).ravel() for x in values.values()], axis=-1)
        return lead, Designs(tuple(values), together)

    def of(self, batch: tuple[int, ...], places: Any) -> _Call:
        """The same for some of many states, by their places one after the other."""
        made = copy(self)
        made.external = {
            k: np.broadcast_to(w, (*batch, 6)).reshape(np.prod(batch), 6)[places]
            for k, w in self.external.items()
        }
        made.parameters = {
            k: np.broadcast_to(x, batch).ravel()[places] for k, x in self.parameters.items()
        }
        return made

    def without(self, parameter: str) -> _Call:
        """The same with a parameter left to the model."""
        made = copy(self)
        made.parameters = {name: x for name, x in self.parameters.items() if name != parameter}
        return made


@per_model
def _native(
    m: Model, formula: Formula, options: tuple[tuple[str, Any], ...], parameters: tuple[str, ...],
    external: tuple[str, ...], tolerance: float | None,
) -> Any:  # fmt: skip
    request = requested(
        m, formula, dict(options), parameters, external, prepare=constraint_structure
    )
    return checked(m, request, tolerance) if formula.checks else function_of(m, request)


def _partitions(call: _Call, chosen: Partition | None, q: Floats) -> Iterator[Partition]:
    """The caller's choice, or that of the mechanism and after it that of the configuration where it
    is poorest."""
    m = call.m
    own = _own(m) if chosen is None else chosen
    yield own
    lead, designs = call.designs(q)
    flat = np.broadcast_to(q, (*lead, m.nq)).reshape(-1, m.nq)
    known = np.flatnonzero(np.isfinite(flat).all(axis=-1))
    if chosen is None and m.closed and len(known):
        J = jacobian_at(m, flat[known], designs[known] if designs.names else designs)
        J = J[:, list(own.rows)][..., list(own.dependent)]
        worst = known[
            int(np.linalg.svd(J, compute_uv=False)[:, -1].argmin()) if own.dependent else 0
        ]
        other = partition_at(
            m, flat[worst], m.actuated_velocities, designs[worst] if designs.names else designs
        )
        if len(other.rows) < len(own.rows):
            raise SingularityError(
                f"linearize: {m.name} is at a singular configuration where branches of its motion meet and its loops hold less than "
                "elsewhere; no linear model describes them all. Linearize beside it."
            )
        yield other


@per_model
def _own(m: Model) -> Partition:
    return structure(m).partition


def _holding_forces(call: _Call, p: Partition, outputs: Any, q: Floats, v: Floats) -> Floats:
    """The actuators' forces that hold a state, or come nearest: F tau = N^T (h + M d), of which
    neither side depends on tau."""
    named, layout = _layout(call.m, p, outputs)
    found = call(layout.formula, {"partition": p, "outputs": named}, q, v, np.zeros(call.m.nu))
    known = {**dict(zip(layout.values, found, strict=True)), **layout.constant}
    return _least_forces(known["F"], known["needed"])


def _forces_of(call: _Call, p: Partition, q: Floats, v: Floats, a: ArrayLike) -> Floats:
    """The actuators' forces that go with accelerations: F tau = N^T (M v' + h). Passive spins
    follow their own dynamics, whatever accelerations are given for them."""
    m = call.m
    accelerations = states(a, "a", m.nv, m.name, "velocities")
    if p.spins and not structure(m).uncontrolled:
        return np.asarray(call(quantity(m, "inverse_dynamics"), {}, q, v, accelerations))
    F, needed = call(HOLDING.formula(m.closed), {"partition": p}, q, v, accelerations)
    tau = _least_forces(F, needed)
    left = np.abs(np.einsum("...ij,...j->...i", F, tau) - needed).max(initial=0.0)
    if left > 1e-6 * max(1.0, float(np.abs(needed).max(initial=0.0))):
        raise ModelError(
            f"linearize: no forces of the actuators of {m.name} give it these accelerations ({left:.3g} N or N m is missing in "
            "a direction they do not reach); give tau instead of a."
        )
    return tau


def _least_forces(F: Floats, needed: Floats) -> Floats:
    """The least tau that comes nearest to F tau = needed."""
    n, nu = F.shape[-2:]
    if n == nu and np.all(np.eye(nu) == F):
        return needed
    return (
        np.einsum("...ij,...j->...i", np.linalg.pinv(F), needed)
        if nu
        else np.zeros((*needed.shape[:-1], 0))
    )


def _at(call: _Call, p: Partition, outputs: Any, q: Floats, v: Floats, tau: Floats) -> LinearModel:
    named, layout = _layout(call.m, p, outputs)
    values = call(layout.formula, {"partition": p, "outputs": named}, q, v, tau)
    return LinearModel(replace(layout, request=call), values, q, v, tau)


@per_model
def _layout(m: Model, p: Partition, outputs: Any) -> tuple[tuple[Output, ...], Layout]:
    """The outputs that are computed, and all that does not depend on the state."""
    i = p.independent
    named, n = measured(m, outputs, i), len(i)
    constant = {} if m.closed else _of_trees(m)
    asked = tuple(y for _, y in named)
    if all(y.of == "joint" and y.order < 2 and y.place in i for y in asked):
        C = np.zeros((len(named), 2 * n))
        for row, y in enumerate(asked):
            C[row, i.index(y.place) + y.order * n] = 1.0
        constant, asked = {**constant, "C": C, "D": np.zeros((len(named), m.nu))}, ()
    formula = _formula_of(m, asked)
    values = tuple(x.name for x in formula.outputs)
    layout = Layout(
        m, p, tuple(velocity_names(m)[k] for k in i), state_names(m, i), actuator_names(m),
        tuple(name for name, _ in named), formula, values, constant, later, None,
    )  # fmt: skip
    return asked, layout


def _of_trees(m: Model) -> dict[str, Floats]:
    """What is the same in every state of a tree."""
    one = np.eye(m.nv)
    velocity_map = np.hstack([np.zeros((m.nv, m.nv)), one])
    return {
        "F": one[:, list(m.actuated_velocities)],
        "position_map": one,
        "velocity_map": velocity_map,
    }


def later(lm: LinearModel, name: str) -> dict[str, Floats]:
    """A and B of a tree from their lower halves, or its U, V and W."""
    if name in ("A", "B"):
        lower = lm._known["a_by_x" if name == "A" else "a_by_u"]
        whole = np.zeros((*lm.batch, 2 * lm.dof, lower.shape[-1]))
        whole[..., lm.dof :, :] = lower
        if name == "A":
            whole[..., range(lm.dof), range(lm.dof, 2 * lm.dof)] = 1.0
        return {name: whole}
    found = lm.layout.request(TREE_TERMS, {"partition": lm.layout.partition}, lm.q, lm.v, lm.a)
    return dict(zip("UVW", found, strict=True))


def sensitivity(
    lm: LinearModel,
    parameter: str,
    moved: Floats | None = None,
    sped: Floats | None = None,
    forced: Floats | None = None,
) -> dict[str, Floats]:
    """The derivatives of a linear model's matrices, and of its accelerations, by a parameter, where
    the independent coordinates, their velocities and the actuators' forces change with it so
    much."""
    layout, call = lm.layout, lm.layout.request
    m, parameter = layout.model, text(parameter, "parameter")
    if parameter not in m.parameters:
        raise ModelError(
            f"{m.name} has no parameter '{parameter}'{suggest(parameter, m.parameters)}"
        )
    value = call.parameters.get(parameter, m.parameters[parameter])
    outputs = _layout(m, layout.partition, layout.outputs or None)[0]
    asked = {"partition": layout.partition, "outputs": outputs, "parameter": parameter}
    steps = (
        np.zeros(n) if x is None else x
        for x, n in ((moved, lm.dof), (sped, lm.dof), (forced, m.nu))
    )
    formula = SENSITIVITY.formula(m.closed)
    made = call.without(parameter)(formula, asked, lm.q, lm.v, lm.tau, value, *steps)
    found = dict(zip((*MATRICES, "a"), made, strict=True))
    for name in ("C", "D"):
        if name in layout.constant:
            found[name] = np.zeros((*lm.batch, *layout.constant[name].shape))
    return found
