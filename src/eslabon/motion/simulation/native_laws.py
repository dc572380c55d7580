"""Control laws that become a part of the graph: traced once a run with symbols, and native from
then on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, has_symbols, is_symbolic
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.compiler.program import Program
from eslabon.compiler.source_digest import data_digest
from eslabon.displays import displayed
from eslabon.errors import EslabonError, InputError, format_value
from eslabon.formulas.inputs import Q, V
from eslabon.model import Model, as_model
from eslabon.motion.law_data import NO_NUMBERS, LawData
from eslabon.motion.simulation.python_laws import frozen, pair
from eslabon.numerics.scalars import Expression, casadi


@displayed
@dataclass(frozen=True)
class Traced:
    """A control law to be traced into the graph; see `traced`.

    >>> import eslabon as es
    >>> law = es.simulate.traced(lambda t, q, v: -20 * q - 3 * v)
    >>> es.load("elbow").simulate([0.5, 0.0], None, 0.5, law)
    <Trajectory of elbow: 0 to 0.5 s, ... times, DOP853>
    """

    law: Callable[..., Any]
    state: Floats | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self.law(*arguments)

    def with_state(self, state: Floats | None) -> Self:
        """The same law with other states at the start."""
        return replace(self, state=state)

    def graph(self, m: Model) -> Law:
        """The law as it is now, for a mechanism.

        One of this package is known by what its formula closes over, and is called with symbols
        when a graph that contains it is made. One of a user's own is called at once, and known by
        what it gives then.
        """
        return self._graph(m, NO_NUMBERS)

    def _graph(self, m: Model, numbers: LawData) -> Law:
        state = np.zeros(0) if self.state is None else self.state
        size = None if self.state is None else state.shape[-1]
        made = LawGraph(self.law, as_model(m), size, numbers)
        known = data_digest(self.law, made.states, numbers.structure)
        return Law(known or made.digest, made, state, numbers)


@dataclass(frozen=True, eq=False)
class LawGraph:
    """A law in symbols: made, and looked at, when it is first needed. `states` is how many it has,
    or None. A law with numbers takes these first."""

    law: Callable[..., Any]
    m: Model
    states: int | None
    numbers: LawData = NO_NUMBERS

    @property
    def function(self) -> Any:
        """A `casadi.Function`."""
        return self._made[0]

    @property
    def digest(self) -> str:
        """A fingerprint of what the law computes."""
        return self._made[1].digest

    @cached_property
    def _made(self) -> tuple[Any, Program]:
        from eslabon.compiler.program import read

        m, states = self.m, () if self.states is None else (self.states,)
        symbols = [casadi.SX.sym("t"), casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)]
        symbols += [casadi.SX.sym("x", n) for n in states]
        law, inputs = self.law, list(symbols)
        if self.numbers.parts:
            data = casadi.SX.sym("data", self.numbers.size)
            law, inputs = partial(self.law, self.numbers.symbolic(data)), [*symbols, data]
        with _refused():
            found = columns(law, symbols, bool(states))
            made = casadi.Function("control", inputs, found)
            program = read(made)
            if any(
                i.name == "const" and math.isnan(i.value)
                for p in program.family()
                for i in p.instructions
            ):
                raise ValueError(
                    "a number in it is NaN"
                )  # what CasADi gives for the value of a symbol
        wanted = [(m.nu, "forces", f"{m.name} has {m.nu} actuators")]
        wanted += [(n, "rates of states", f"it has {n}") for n in states]
        for x, (size, noun, has) in zip(found, wanted, strict=True):
            if x.shape != (size, 1):
                raise InputError(f"the control law gives {_size(x)} {noun}; {has}.")
        return made, program


@contextmanager
def _refused() -> Iterator[None]:
    """A sentence in place of whatever error a law raises when it is called with symbols."""
    try:
        yield
    except EslabonError:
        raise  # a sentence already
    except Exception as error:
        raise InputError(
            f"the control law cannot be traced ({type(error).__name__}: {str(error).splitlines()[0]}); write it with "
            "arithmetic and casadi's or NumPy's functions and without asking for the value of t, q or v, or leave "
            "out `traced`: it is then called as it is, more slowly."
        ) from error


def _size(x: Any) -> str:
    return str(x.shape[0]) if x.shape[1] == 1 else "x".join(map(str, x.shape))


@dataclass(frozen=True, repr=False)
class Law:
    """A traced law: from t, q, v and its states, if it has some, to forces and the rates of the
    states (or, if it is sampled, their next values). Its digest stands for its formula wherever
    graphs are kept; its numbers go into these as data."""

    digest: str
    graph: LawGraph = field(compare=False)
    state: Floats = field(compare=False)  # at the start, (..., states)
    numbers: LawData = field(compare=False, default=NO_NUMBERS)
    symbols: Expression | None = field(compare=False, default=None)  # in place of the numbers

    @property
    def size(self) -> int:
        return self.state.shape[-1]

    @property
    def data_size(self) -> int:
        """How many numbers there are."""
        return self.numbers.size

    def with_data(self, data: Expression) -> Law:
        """The same with symbols in place of the numbers."""
        return replace(self, symbols=data)

    def __call__(self, t: Any, q: Any, v: Any, x: Any) -> tuple[Any, Any]:
        own = symbolic_state(self.graph.m, self.size, t, q, v, x)
        if self.data_size:
            assert self.symbols is not None, "numbers are no part of a graph that is kept"
            own.append(self.symbols)
        made = self.graph.function(*own)
        return made if self.size else (made, x)

    def pick(self, batch: tuple[int, ...], index: Any) -> Law:
        """The law of one trajectory of a batch."""
        return replace(self, numbers=self.numbers.pick(batch, index))

    def __repr__(self) -> str:
        return f"Law({self.digest})"


def symbolic_state(m: Model, size: int, t: Any, q: Any, v: Any, x: Any) -> list[Any]:
    """What a law is called with, each a column of CasADi's: t, q and v, and the law's states if it
    has some."""
    given = [
        (t, "t", 1, "a law is asked at one time"),
        (q, "q", m.nq, f"{m.name} has {m.nq} coordinates"),
    ]
    given += [(v, "v", m.nv, f"{m.name} has {m.nv} velocities")]
    given += [(x, "x", size, f"the law has {size} states")] if size else []
    return [_symbolic_column(*own) for own in given]


def _symbolic_column(value: Any, name: str, size: int, wanted: str) -> Any:
    """Symbols, or symbols among numbers, or numbers, as a column of so many."""
    made = value
    if not is_symbolic(value):
        try:
            listed = has_symbols(value)
            made = casadi.SX(casadi.vertcat(*value) if listed else finite(value, name))
        except NotImplementedError:  # of CasADi: more than two axes, or objects among the symbols
            raise InputError(f"{name} is a column of symbols or numbers; {wanted}.") from None
    if made.shape != (size, 1):
        raise InputError(f"{name} is {'x'.join(map(str, made.shape))}; {wanted}.")
    return made


def columns(law: Callable[..., Any], symbols: Sequence[Any], states: bool) -> list[Any]:
    """What a law gives for symbols, each a column, a list or an array of them: forces, or forces
    and states."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", FutureWarning
        )  # CasADi's, about its ways with NumPy's functions
        value = law(*symbols)
        parts = list(pair(value, "the control law")) if states else [value]
        rows = [
            list(np.ravel(x)) if isinstance(x, (list, tuple, np.ndarray)) else [x] for x in parts
        ]
        return [casadi.densify(casadi.SX(casadi.vertcat(*own))) for own in rows]


def traced(law: Callable[..., Any], state: ArrayLike | None = None) -> Traced:
    """Mark a control law tau = law(t, q, v) as one that may be called with symbols, once a run, and
    stays native then.

    It is written with arithmetic, functions of `casadi` or NumPy, and the mechanism's own terms,
    such as `m.inverse_dynamics(q, v, a)` or `m.pose(q, frame)`, which become a part of the same
    native graph; numbers it closes over become constants. q and v are columns. What it does with
    `if` is decided when it is traced: choose by `casadi.if_else` instead. The terms are not checked
    as verbs of numbers are: with loops take the actuators' forces of desired accelerations from
    `m.hybrid_dynamics`, which needs those of the actuated joints only.

    With a `state`, its values at the start, `(..., states)`, the law is (tau, dx/dt) = law(t, q, v,
    x): integrators, filters and observers are integrated with the motion.

    >>> traced(lambda t, q, v: 10 * (1 - q) - v)
    Traced(law=<function ...>, state=None)
    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> law = traced(lambda t, q, v: m.inverse_dynamics(q, v, 100 * (0.5 - q) - 20 * v))      # computed torque
    >>> m.simulate([0.0, 0.0], None, 2.0, law).end[0].round(6)
    array([0.5, 0.5])
    >>> law = traced(lambda t, q, v, x: (20 * (0.5 - q) + 20 * x - 8 * v, 0.5 - q), state=[0.0, 0.0])    # PID
    >>> m.simulate([0.0, 0.0], None, 40.0, law).end[0].round(4)
    array([0.5, 0.5])
    """
    if not callable(law):
        raise InputError(f"a control law is a function of t, q and v; it is {format_value(law)}.")
    if isinstance(law, Traced):
        return law if state is None else traced(law.law, state)
    return Traced(law, None if state is None else states_at_start(state))


def states_at_start(state: ArrayLike) -> Floats:
    """The states of a law at the start, (..., states)."""
    values = frozen(finite(state, "state"))
    if not values.ndim or not values.shape[-1]:
        raise InputError(
            f"state holds the law's states at the start, (..., states); its shape is {values.shape}."
        )
    return values


def law_forces(m: Model, t: Any, q: Any, v: Any, x: Any, law: Law) -> list[Any]:
    """What a traced law gives: forces, and rates or next values of its states."""
    return list(law(t, q, v, x))


def _states(m: Model, law: Law) -> tuple[int]:
    return (law.size,)


T, Z = Argument("t", ()), Argument("state", _states)
FORCES = Formula(
    "law", law_forces, (T, Q, V, Z), (Argument("tau", lambda m, **_: (m.nu,)), Z), {"law": None}
)


def law_at(
    m: Model, law: Law, t: ArrayLike, q: Floats, v: Floats, x: Floats, along: bool = False
) -> tuple[Floats, Floats]:
    """The numbers of a traced law: forces, and rates or next values of its states; `along` the
    times of motions, the last leading axis."""
    own = law.numbers.data
    own = own[..., None, :] if along and own.ndim > 1 else own
    numbers = [own] if law.data_size else []
    tau, state = evaluate(m, FORCES, law=law)(np.broadcast_to(t, q.shape[:-1]), q, v, x, *numbers)
    return tau, state
