"""A control law that knows the mechanism it was designed for: to be simulated, asked for numbers,
or written as C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer, Block, Column, quantities_table
from eslabon.arguments import Floats, finite, has_symbols, positive, states, text
from eslabon.compiler.source_digest import code_digest
from eslabon.errors import InputError, format_value
from eslabon.model import Model, as_model
from eslabon.motion.law_data import NO_NUMBERS, LawData, matrix
from eslabon.motion.simulation.native_laws import Law, Traced, columns, law_at, symbolic_state
from eslabon.motion.simulation.sampled_laws import Sampled, sampled
from eslabon.numerics.scalars import casadi

if TYPE_CHECKING:
    from eslabon.export.c_source import CSource


@dataclass(frozen=True, eq=False, repr=False)
class ControlLaw(Answer, Traced):
    """tau = law(t, q, v), or (tau, dx/dt) = law(t, q, v, x) with states x, for one mechanism; of
    one that steps from sample to sample (tau, next x).

    It is a `traced` law: `m.simulate(q0, v0, t, law)` compiles it into the equations of motion, and
    so for thousands of trajectories at once. The mechanism that is simulated may have other
    inertias than the one the law was designed for. Called with arrays it gives numbers, with
    CasADi's symbols an expression. Where that looks into a table, such as the samples of a
    reference, `eslabon.compiler.calls.inlined` gives the same as one that can be differentiated.

    Attributes
    ----------
    m : the mechanism it was designed for.
    title : what kind of law it is.
    state : the states at the start, or None.
    data : what it was designed with, by name: gains, their times, the forces that go with a
        reference.
    stepwise : whether it gives the next states, once a period, and not their rates.
    numbers : what its formula takes as `n` before t, q and v. They go into compiled code as data:
        another gain, schedule or reference compiles nothing.

    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> law = es.control.law(m, lambda t, q, v: 10 * (1 - q) - v)
    >>> law
    <law of elbow: 2 actuators>
    >>> law(0.0, [[0.5, 1.0], [1.0, 1.0]], [0.0, 0.0])
    array([[5., 0.],
           [0., 0.]])
    """

    m: Model = field(kw_only=True)
    title: str = field(kw_only=True, default="law")
    data: Mapping[str, Any] = field(kw_only=True, default_factory=dict)
    stepwise: bool = field(kw_only=True, default=False)
    numbers: LawData = field(kw_only=True, default=NO_NUMBERS)
    # By the number of states, whatever they are at the start: a filter's graph takes longer to
    # trace than many a run takes.
    graphs: dict[int, Law] = field(kw_only=True, default_factory=dict)

    @property
    def changed(self) -> str:
        """What it gives beside forces if it has states."""
        return "x_next" if self.stepwise else "x_rate"

    def __call__(self, *arguments: Any) -> Any:
        if has_symbols(*arguments):
            return self._in_symbols(*arguments)
        return self.at(*arguments)

    @property
    def formula(self) -> Callable[..., Any]:
        """The law of t, q and v, and of its states, its numbers constants."""
        return partial(self.law, self.numbers.symbolic(None)) if self.numbers.parts else self.law

    def _in_symbols(self, t: Any, q: Any, v: Any, x: Any = None) -> Any:
        """What `at` gives, as expressions."""
        size = 0 if self.state is None else self.state.shape[-1]
        if x is not None and not size:
            raise InputError(f"the {self.title} has no states; x is {format_value(x)}.")
        own = self.state if x is None else x
        return self.formula(*symbolic_state(self.m, size, t, q, v, own))

    def at(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, x: ArrayLike | None = None) -> Any:
        """The actuators' forces at states `(..., nq)` and `(..., nv)`, and the rates of the law's
        states if it has some."""
        m, law = self.m, self.graph(self.m)
        own = law.state if x is None else states(x, "x", law.size, f"the {self.title}", "states")
        q, v = states(q, "q", m.nq, m.name), states(v, "v", m.nv, m.name, "velocities")
        times = finite(t, "t")
        try:
            batch = np.broadcast_shapes(times.shape, q.shape[:-1], v.shape[:-1], own.shape[:-1])
        except ValueError:
            raise InputError(
                f"leading axes do not fit together: t has {times.shape}, q {q.shape[:-1]}, v {v.shape[:-1]}."
            ) from None
        q, v, own = (np.broadcast_to(y, (*batch, y.shape[-1])) for y in (q, v, own))
        tau, rates = law_at(m, law, times, q, v, own)
        return (tau, rates) if law.size else tau

    def graph(self, m: Model) -> Law:
        """The law in symbols, for a mechanism with the same joints and actuators."""
        as_model(m)
        if (m.nq, m.nv, m.actuated) != (self.m.nq, self.m.nv, self.m.actuated):
            raise InputError(
                f"the {self.title} was designed for {self.m.name} with {self.m.nq} coordinates and the actuators "
                f"{', '.join(self.m.actuated)}; {m.name} has {m.nq} and {', '.join(m.actuated) or 'none'}."
            )
        size = 0 if self.state is None else self.state.shape[-1]
        if size not in self.graphs:
            self.graphs[size] = self._graph(self.m, self.numbers)
        kept = self.graphs[size]
        return kept if self.state is None else replace(kept, state=self.state)

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which makes its own graphs."""
        return {**vars(self), "graphs": {}}

    def fingerprint(self) -> str:
        """Tells this law from every other one, in any process: its graph, its numbers, and the
        states it starts from."""
        law = self.graph(self.m)
        return code_digest(law.graph.digest, self.numbers.content, law.state, lasting=True)

    def sampled(self, period: float, **options: Any) -> Sampled:
        """The law as a digital controller runs it: asked once a period, with the options of
        `es.simulate.sampled`. Where it gives rates of its states, these go by Euler's steps, x +
        period dx/dt."""
        if self.state is None:
            return sampled(self, period, **options)
        step, law, rates = positive(period, "period"), self.law, not self.stepwise

        def following(*given: Any) -> Any:
            tau, found = law(*given)
            return tau, given[-1] + step * found if rates else found

        stepwise = replace(self, law=following, state=None, stepwise=True, graphs={})
        return sampled(stepwise, period, state=self.state, **options)

    def c_source(self, name: str | None = None) -> CSource:
        """The law as C99 for a microcontroller: one function of t, q and v, and of its states x,
        that gives tau, and the rates of x. It needs math.h alone, and no memory but its own.

        >>> import eslabon as es
        >>> law = es.control.pd_gravity(es.load("elbow"), [1.0, 0.5], 50.0, 5.0)
        >>> print(law.c_source().header.splitlines()[-5])
        void pd_gravity_elbow(const double *t, const double *q, const double *v, double *tau);
        """
        from eslabon.export.c_source import source

        size = self.graph(self.m).size  # or a sentence
        sizes = {"t": 1, "q": self.m.nq, "v": self.m.nv} | ({"x": size} if size else {})
        symbols = [casadi.SX.sym(word, size) for word, size in sizes.items()]
        found = columns(self.formula, symbols, bool(size))
        word = (
            f"{self.title} {self.m.name}".replace(" ", "_") if name is None else text(name, "name")
        )
        made = casadi.Function(
            "law", symbols, found, list(sizes), ["tau", self.changed][: len(found)]
        )
        return source(made, word, f"{self.title} of {self.m.name}")

    def contents(self) -> Iterator[Block]:
        """What the law was designed for, and with."""
        actuators = ", ".join(self.m.actuated)
        first = [
            (Column("law"), self.title),
            (Column("mechanism"), self.m.name),
            (Column("actuators"), actuators),
        ]
        yield quantities_table([*first, *((Column(name), x) for name, x in self.data.items())])

    def __repr__(self) -> str:
        own = "" if self.state is None else f", {self.state.shape[-1]} states"
        return f"<{self.title} of {self.m.name}: {self.m.nu} actuators{own}>"


def law(
    m: Model, function: Any, state: ArrayLike | None = None, title: str = "law",
    numbers: Mapping[str, ArrayLike] | None = None,
) -> ControlLaw:  # fmt: skip
    """A law of one's own for a mechanism: tau = function(t, q, v), or (tau, dx/dt) = function(t, q,
    v, x) with states that start from `state`. It is written as for `es.simulate.traced`, which it
    is; here it also gives numbers and C.

    What it closes over is constant in its compiled code. `numbers`, vectors and matrices by name,
    are not: the function takes them as keywords, each a column or a matrix of CasADi's, and a law
    with other ones compiles nothing.

    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> damper = es.control.law(m, lambda t, q, v: -2 * v, title="damper")
    >>> damper(0.0, [0.0, 0.0], [1.0, 2.0])
    array([-2., -4.])
    >>> tuned = es.control.law(m, lambda t, q, v, K: -K @ v, numbers={"K": [[2.0, 0.0], [0.0, 3.0]]})
    >>> tuned(0.0, [0.0, 0.0], [1.0, 2.0])
    array([-2., -6.])
    """
    from eslabon.motion.simulation.native_laws import traced

    if isinstance(function, ControlLaw):
        function, state = function.formula, function.state if state is None else state
    made, m = traced(function, state), as_model(m)
    if numbers is None:
        return ControlLaw(made.law, made.state, m=m, title=text(title, "title"))
    data = {name: _number(name, x) for name, x in _mapping(numbers).items()}
    own = LawData({name: matrix(x) for name, x in data.items()})

    def with_numbers(n: Any, *given: Any) -> Any:
        return made.law(*given, **vars(n))

    return ControlLaw(
        with_numbers, made.state, m=m, title=text(title, "title"), data=data, numbers=own
    )


def _mapping(numbers: Any) -> Mapping[str, Any]:
    if not isinstance(numbers, Mapping) or not all(
        isinstance(x, str) and x.isidentifier() for x in numbers
    ):
        raise InputError(
            f"numbers are arrays by name, as in numbers={{'K': [[1.0]]}}; they are {format_value(numbers)}."
        )
    return numbers


def _number(name: str, value: ArrayLike) -> Floats:
    found = finite(value, name)
    if not found.size or found.ndim > 2:
        raise InputError(
            f"{name} of the law is a number, a vector or a matrix; its shape is {found.shape}."
        )
    return np.atleast_1d(found)


def law_c_source(law: ControlLaw | Sampled, name: str | None) -> CSource:
    """A law as C, in continuous time or from sample to sample."""
    if isinstance(law, ControlLaw):
        return law.c_source(name)
    assert isinstance(law.law, ControlLaw)
    return law.law.with_state(law.state).c_source(name)
