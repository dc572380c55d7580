"""The extended Kalman filter's two steps on the equations of motion, as formulas that native code
loops over.

What is believed of a state is a configuration and velocities that keep the loops closed, and the
covariance of small errors of the independent coordinates and velocities, in their tangent space: a
column (q, v, P). In time the state follows the equations of motion by Runge and Kutta's step, and
errors follow the linear model at its middle, exp(A h), exact but for h^3 (Magnus). A measurement
moves the independent coordinates, and the others so that the loops stay closed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.constrained.independent_motion import IndependentMotion
from eslabon.formulas.derivatives.linearization import linear_terms
from eslabon.formulas.derivatives.measured_outputs import Output
from eslabon.formulas.kinematics.closure import Closure, equations
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.model.configuration import integrate, normalize
from eslabon.motion.simulation import equations_of_motion, step_formulas
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.systems.control.kalman_formulas import corrected, packed, predicted, unpacked
from eslabon.systems.control.measurements import displacement

TERMS = 6  # of the series of exp(A h / 2)
CLOSINGS = 2  # Newton's corrections of the dependent coordinates


class Design(NamedTuple):
    """What code for a filter is made for, beside the mechanism: what is independent and measured,
    what the noise acts on, and the period, in so many steps of integration."""

    partition: Partition
    outputs: tuple[Output, ...]
    through: str
    period: float
    steps: int

    @property
    def n(self) -> int:
        """The number of states of errors."""
        return 2 * len(self.partition.independent)

    def noises(self, m: Model) -> int:
        """The number of process noises."""
        return {"forces": m.nu, "accelerations": self.n // 2, "states": self.n}[self.through]

    def size(self, m: Model) -> int:
        """The numbers of a belief."""
        return m.nq + m.nv + self.n * (self.n + 1) // 2

    @property
    def constant_outputs(self) -> Any:
        """C, where the outputs are states themselves; else None."""
        i, n = self.partition.independent, self.n // 2
        if not all(y.of == "joint" and y.place in i for y in self.outputs):
            return None
        C = casadi.SX(len(self.outputs), self.n)
        for row, y in enumerate(self.outputs):
            C[row, i.index(y.place) + y.order * n] = 1
        return C


class Belief(NamedTuple):
    """A state, and the covariance of its error."""

    q: Expression
    v: Expression
    P: Expression

    @staticmethod
    def of(m: Model, x: Expression, n: int) -> Belief:
        return Belief(x[: m.nq], x[m.nq : m.nq + m.nv], unpacked(x[m.nq + m.nv :], n))

    def joined(self) -> Expression:
        return casadi.vertcat(self.q, self.v, packed(self.P))


class Filter:
    """The steps of one design, whose larger parts native code has once; `process` and `measurement`
    are the intensity and the covariance of the noises."""

    def __init__(self, m: Model, design: Design, process: Expression, measurement: Expression) -> None:  # fmt: skip
        self.m, self.design, self.process, self.measurement = m, design, process, measurement
        self._made: dict[str, Any] = {}

    def _call(self, formula: Callable[..., Expression], *columns: Expression) -> Expression:
        """What a formula of columns gives, by a function that is made when it is first needed."""
        name = formula.__name__.strip("_")
        if name not in self._made:
            self._made[name] = subroutine(name, formula, *(x.numel() for x in columns))
        return self._made[name](*columns)

    # -- the two steps ------------------------------------------------------------------------------------------------

    def predict(self, belief: Belief, tau: Expression, duration: float) -> Belief:
        """What is believed after a time under constant forces."""
        h = duration / self.design.steps
        for _ in range(self.design.steps):
            belief = self._step(belief, tau, h)
        return belief

    def update(self, belief: Belief, q: Expression, v: Expression) -> Belief:
        """What is believed after the outputs of a state (q, v) were measured."""
        C = self.design.constant_outputs
        if C is None:
            C = casadi.reshape(
                self._call(self._output_matrix, casadi.vertcat(*belief[:2])),
                len(self.design.outputs),
                self.design.n,
            )
        gain, P = corrected(belief.P, C, self.measurement)
        moved = gain @ displacement(self.m, q, v, belief.q, belief.v, self.design.outputs)
        n = self.design.n // 2
        dv = zeros(self.m.nv)
        dv[list(self.design.partition.independent), :] = moved[n:]
        shift = moved[:n]
        if self.design.partition.dependent:
            shift = (
                casadi.reshape(self._call(self._independent_map, belief.q), self.m.nv, n) @ shift
            )
        return Belief(*self._closed(integrate(self.m, belief.q, shift), belief.v + dv), P)

    def _step(self, belief: Belief, tau: Expression, h: float) -> Belief:
        m, n, x = self.m, self.design.n, casadi.vertcat(*belief[:2])
        rate = self._call(self._rates, x, tau)
        after = step_formulas.rk4(lambda k, x: self._call(self._rates, x, tau) if k else rate, x, h)
        middle = x + h / 2 * rate
        middle = casadi.vertcat(normalize(m, middle[: m.nq]), middle[m.nq :])
        both: Expression = casadi.reshape(self._call(self._linear_model, middle, tau), n, n + n)
        P = _spread(belief.P, both[:, :n], both[:, n:], h)
        return Belief(*self._closed(normalize(m, after[: m.nq]), after[m.nq :]), P)

    # -- what is called -----------------------------------------------------------------------------------------------

    def _rates(self, x: Expression, tau: Expression) -> Expression:
        return equations_of_motion.rates(self.m, zeros(1), x, tau)[0]

    def _linear_model(self, x: Expression, tau: Expression) -> Expression:
        """A, and the intensity of process noise along the states."""
        m, n, through = self.m, self.design.n, self.design.through
        q, v = x[: m.nq], x[m.nq :]
        made = linear_terms(self._state(q, v), tau)
        W = self.process
        if through == "states":
            return casadi.vec(casadi.horzcat(made.A, W))
        G = (
            made.B
            if through == "forces"
            else casadi.vertcat(zeros(n // 2, n // 2), casadi.SX.eye(n // 2))
        )
        return casadi.vec(casadi.horzcat(made.A, G @ W @ G.T))

    def _output_matrix(self, x: Expression) -> Expression:
        m, d = self.m, self.design
        q, v = x[: m.nq], x[m.nq :]
        return casadi.vec(linear_terms(self._state(q, v), zeros(m.nu), d.outputs).C)

    def _state(self, q: Expression, v: Expression) -> MotionState:
        known = structure(self.m.nominal)
        return MotionState(self.m, q, v, Method(structure=known, partition=self.design.partition))

    def _independent_map(self, q: Expression) -> Expression:
        """N of dq = N x: how all joints move with the independent ones."""
        return casadi.vec(self._motion(q)[1].N)

    def _closing(self, q: Expression) -> Expression:
        """Newton's correction of the dependent coordinates."""
        found, motion = self._motion(q)
        return integrate(self.m, q, motion.dependent_motion(-found.phi))

    def _following(self, q: Expression, v: Expression) -> Expression:
        """The velocities, the dependent ones as the loops ask for."""
        motion = self._motion(q)[1]
        return motion.whole(v[motion.independent, :])

    def _motion(self, q: Expression) -> tuple[Closure, IndependentMotion]:
        p = self.design.partition
        found = equations(self.m, q, None, p.rows)
        return found, IndependentMotion(found.J, p.independent, p.dependent)

    def _closed(self, q: Expression, v: Expression) -> tuple[Expression, Expression]:
        """A state whose independent part is the given one and which keeps the loops closed."""
        if not self.m.closed:
            return q, v
        for _ in range(CLOSINGS):
            q = self._call(self._closing, q)
        return q, self._call(self._following, q, v)


def _spread(P: Expression, A: Expression, W: Expression, h: float) -> Expression:
    """The covariance after a time: Phi P Phi^T and what noise adds, the integral of exp(A s) W
    exp(A^T s), by Simpson's rule."""
    half = casadi.SX.eye(A.shape[0])
    for k in reversed(range(1, TERMS + 1)):
        half = casadi.SX.eye(A.shape[0]) + h / 2 / k * A @ half
    whole = half @ half
    added = h / 6 * (W + 4 * predicted(W, half, 0) + predicted(W, whole, 0))
    return predicted(P, whole, added)


def recorded_step(
    m: Model,
    x: Expression,
    u: Expression,
    process: Expression,
    measurement: Expression,
    design: Design,
) -> Expression:
    """Beliefs before and after a measurement, from those at the measurement before: u are the
    forces since then, and what is measured now."""
    filtering, size, n = Filter(m, design, process, measurement), design.size(m), design.n
    tau, q, v = u[: m.nu, :], u[m.nu : m.nu + m.nq], u[m.nu + m.nq :]
    before = filtering.predict(Belief.of(m, x[size:], n), tau, design.period)
    after = filtering.update(before, q, v)
    return casadi.densify(casadi.vertcat(before.joined(), after.joined()))


def first_step(
    m: Model,
    x: Expression,
    u: Expression,
    process: Expression,
    measurement: Expression,
    design: Design,
) -> Expression:
    """The same at the first measurement, x being what is believed before it."""
    q, v = u[m.nu : m.nu + m.nq], u[m.nu + m.nq :]
    filtering = Filter(m, design, process, measurement)
    after = filtering.update(Belief.of(m, x, design.n), q, v)
    return casadi.densify(casadi.vertcat(x, after.joined()))


def _sizes(m: Model, design: Design) -> tuple[int]:
    return (2 * design.size(m),)


_X = Argument("x", _sizes)
_U = Argument("u", lambda m, **_: (m.nu + m.nq + m.nv,))
_NOISES = (
    Argument("process", lambda m, design: (design.noises(m),) * 2),
    Argument("measurement", lambda m, design: (len(design.outputs),) * 2),
)
_BELIEF = Argument("x", lambda m, design: (design.size(m),))
FIRST = Formula(
    "extended_kalman_first", first_step, (_BELIEF, _U, *_NOISES), (_X,), {"design": None}, rare=True
)
RECORDED = Formula(
    "extended_kalman", recorded_step, (_X, _U, *_NOISES), (_X,), {"design": None}, states=1, varying=1
)  # fmt: skip
