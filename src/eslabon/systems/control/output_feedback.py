"""Output feedback: the state that an observer estimates, fed back by the gains of a state feedback.

    tau = tau0 - K x_hat

with x_hat the estimated deviation from the state the linear model belongs to. By the separation
principle the poles of the closed loop are those of the state feedback and those of the observer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer
from eslabon.arguments import Floats, finite, known_words, positive, states
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import InputError
from eslabon.formulas.derivatives.measured_outputs import Output
from eslabon.model import Model
from eslabon.model.configuration import difference
from eslabon.motion.law_data import LawData, matrix
from eslabon.motion.motion_forms import as_trajectory
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.run_options import effort_limits
from eslabon.motion.simulation.sampled_laws import Sampled, sampled
from eslabon.numerics.scalars import concatenate
from eslabon.systems.control.control_law import ControlLaw, law_c_source
from eslabon.systems.control.estimates import SENSING, Estimates, at_samples, state_units
from eslabon.systems.control.kalman import KalmanFilter
from eslabon.systems.control.measurements import DISPLACEMENT, displacement, sensors
from eslabon.systems.control.observers import Observer
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.linear_system import LinearSystem, zero_order_hold

if TYPE_CHECKING:
    from eslabon.export.c_source import CSource
    from eslabon.motion.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class OutputFeedback(Answer):
    """Gains, an observer and what they were designed for; see `output_feedback`.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> feedback = es.control.output_feedback(lm, es.control.lqr(lm, 1.0, 0.1), es.control.luenberger(lm, [-20, -22, -24, -26]))
    >>> len(feedback.poles), bool((feedback.poles.real < 0).all())
    (8, True)
    """

    model: LinearModel
    gains: Floats
    observer: Observer | KalmanFilter
    delay: float
    limit: tuple[float, ...]
    outputs: tuple[Output, ...]

    @property
    def m(self) -> Model:
        """The mechanism."""
        return self.model.layout.model

    @property
    def period(self) -> float | None:
        """The sampling period in seconds; None in continuous time."""
        return self.observer.period

    @property
    def poles(self) -> np.ndarray:
        """Of the closed loop of the linear model, in 1/s, or with a period those of its steps."""
        A = self._closed_loop()
        states = tuple(f"x{k + 1}" for k in range(len(A)))
        none, nothing = np.zeros((len(A), 0)), np.zeros((0, len(A)))
        loop = LinearSystem(A, none, nothing, np.zeros((0, 0)), states, (), (), self.period)
        return loop.poles

    def law(self, start: ArrayLike | None = None, **options: Any) -> ControlLaw | Sampled:
        """The law, for `m.simulate` and native as every traced one.

        Parameters
        ----------
        start : the estimated deviation from the linear model's state at the start, (..., 2n),
            positions and velocities of the independent coordinates; left out, zero.
        options : of a law with a period: `noise`, `velocity_noise`, `force_noise`, `seed`,
            `quantisation` and `rate_limit` of `es.simulate.sampled`, of which the observer is not
            told.
        """
        n = len(self.model.states)
        estimate = (
            np.zeros(n)
            if start is None
            else states(start, "start", n, self.m.name, "states of the linear model")
        )
        own = self.observer.start(estimate)
        if self.period is None:
            if options:
                raise InputError(
                    f"a law in continuous time has no {next(iter(options))!r}; design the observer with a period."
                )
            return self._law(own)
        before = np.zeros(self.m.nu) - self.model.tau  # until the first forces act there are none
        known_words(options, SENSING, "the law has no option", InputError)
        state = concatenate(own, estimate, before)
        return sampled(self._law(), self.period, delay=self.delay, state=state, **options)

    def estimates(self, motion: Trajectory) -> Estimates:
        """What the observer made of a motion that the law drove; with a period at those of its
        times that are samples."""
        m, lm, n = self.m, self.model, len(self.model.states)
        i, size = list(lm.layout.partition.independent), self.observer.size
        expected = size + (0 if self.period is None else n + m.nu)
        motion = as_trajectory(m, motion, need=("q", "v", "x"))
        if motion.x.shape[-1] != expected or not motion.whole:
            raise InputError(
                f"{motion!r} was not driven by this law: it has {motion.x.shape[-1]} states of a law, not {expected}."
            )
        run = motion if self.period is None else at_samples(motion, self.period)
        x = np.concatenate([difference(m, run.q, lm.q)[..., i], (run.v - lm.v)[..., i]], axis=-1)
        if self.period is None:
            y = evaluate(m, DISPLACEMENT, outputs=self.outputs)(run.q, run.v, lm.q, lm.v)
            x_hat = self.observer.estimate(run.x, y)
        else:
            x_hat = run.x[..., size : size + n]
        P = self._covariance(run.t)
        spread = None if P is None else np.broadcast_to(P, (*x.shape, n))
        deviation = (
            None
            if P is None
            else np.broadcast_to(np.sqrt(np.diagonal(P, axis1=-2, axis2=-1)), x.shape)
        )
        units = state_units(m, tuple(i))
        return Estimates(run.t, x, x_hat, x - x_hat, lm.states, units, m.name, deviation, spread)

    def _covariance(self, t: Floats) -> Floats | None:
        """That of the estimates, or those at the times of samples from the start on."""
        if isinstance(self.observer, Observer):
            return self.observer.covariance
        number = np.round((t - t[0]) / self.observer.plant.period).astype(int)
        return self.observer.covariances(int(number[-1]) + 1)[1][number]

    def c_source(self, name: str | None = None) -> CSource:
        """The law as C99 for a microcontroller: one function of t, what is measured of q and v, and
        its states x, that gives tau and the rates of x, or with a period the next x."""
        return law_c_source(self.law(), name)

    def to_control(self) -> Any:
        """The compensator as python-control's `StateSpace`: outputs go in, changes of the forces
        come out."""
        if not isinstance(self.observer, Observer):
            raise InputError(
                "the gains of this filter change with the time; the settled one, from kalman, is a StateSpace."
            )
        o, lm, K = self.observer, self.model, self.gains
        F, G, H, J = (np.array(x) for x in (o.F, o.G, -K @ o.M, -K @ o.N))
        now, before = self._input_matrices()
        F, G = F + o.Z @ now @ H, G + o.Z @ now @ J
        if self.delay:  # the forces before are one more state
            F = np.block([[F, o.Z @ before], [H, np.zeros((len(K), len(K)))]])
            G, H = np.vstack([G, J]), np.hstack([H, np.zeros((len(K), len(K)))])
        own = tuple(f"z{k + 1}" for k in range(len(F)))
        made = LinearSystem(F, G, H, J, own, lm.outputs, lm.inputs, self.period, "output_feedback")
        return made.to_control()

    # -- formulas ---------------------------------------------------------------------------------------------------

    def _law(self, state: Floats | None = None) -> ControlLaw:
        """The law with its numbers as data: closures see only what code is made for."""
        m, outputs, limit, size = self.m, self.outputs, self.limit, self.observer.size
        steps, states, stepwise = (
            type(self.observer.steps),
            len(self.model.states),
            self.period is not None,
        )

        def estimated(n: Any, q: Any, v: Any, z: Any) -> tuple[Any, ...]:
            """The observer, what is measured, the estimate, the forces, and their changes from
            those of the linear model."""
            y = displacement(m, q, v, n.q, n.v, outputs)
            observer = steps(*(getattr(n, name) for name in steps._fields))
            x = observer.estimate(z, y)
            tau = within(n.tau - n.K @ x, limit)
            return observer, y, x, tau, tau - n.tau

        def continuous(n: Any, t: Any, q: Any, v: Any, z: Any) -> tuple[Any, Any]:
            observer, y, x, tau, u = estimated(n, q, v, z)
            return tau, observer.advance(z, y, x, n.later @ u)

        def in_steps(n: Any, t: Any, q: Any, v: Any, state: Any) -> tuple[Any, Any]:
            z, before = state[:size], state[size + states :]
            observer, y, x, tau, u = estimated(n, q, v, z)
            drive = n.later @ u + n.sooner @ before
            return tau, concatenate(observer.advance(z, y, x, drive), x, u)

        later, sooner = self._input_matrices()
        lm, own = self.model, self.observer.steps._asdict()
        own |= {"K": self.gains, "tau": lm.tau, "q": lm.q, "v": lm.v, "later": later}
        own |= {"sooner": sooner} if stepwise else {}
        numbers = LawData({name: matrix(x) for name, x in own.items()})
        law = in_steps if stepwise else continuous
        return ControlLaw(
            law, state, m=m, title="output feedback", stepwise=stepwise, numbers=numbers
        )

    # -- numbers ----------------------------------------------------------------------------------------------------

    def _input_matrices(self) -> tuple[Floats, Floats]:
        """What the forces of this sample, and of the one before, add to the state until the next:
        with a delay d of a period T those before act for d, and these for T - d."""
        A, B, T, d = self.model.A, self.model.B, self.period, self.delay
        if T is None:
            return B, np.zeros_like(B)
        onward, now = zero_order_hold(A, B, T - d)
        return now, onward @ zero_order_hold(A, B, d)[1]

    def _closed_loop(self) -> Floats:
        """(x, z), and with a delay the forces before, without saturation."""
        if not isinstance(self.observer, Observer):
            raise InputError(
                "the gains of this filter change with the time, so that the loop has no poles; kalman gives settled ones."
            )
        o, lm, K = self.observer, self.model, self.gains
        A = lm.A if self.period is None else lm.sampled(self.period).A
        later, sooner = self._input_matrices()
        n, nu = len(A), len(K)
        u = -K @ np.hstack([o.N @ lm.C, o.M])  # of (x, z)
        free = np.block([[A, np.zeros((n, o.size))], [o.G @ lm.C, o.F]])
        driven = np.vstack([np.eye(n), o.Z])
        closed = free + driven @ later @ u
        if not self.delay:
            return closed
        return np.block([[closed, driven @ sooner], [u, np.zeros((nu, nu))]])

    def __repr__(self) -> str:
        delay = f", {self.delay:g} s late" if self.delay else ""
        return f"<output feedback of {self.m.name} by {self.observer!r}{delay}>"


def output_feedback(
    model: LinearModel,
    gains: Any,
    observer: Observer | KalmanFilter,
    *,
    delay: float = 0.0,
    saturate: bool = False,
) -> OutputFeedback:
    """A controller from what is measured: the gains of a state feedback act on what an observer
    estimates.

    Parameters
    ----------
    model : the linear model at an equilibrium (`m.linearize(q, outputs=...)`), whose outputs are
        measured: positions and velocities of joints and frames.
    gains : K of u = -K x, (actuators, states), such as those of `lqr`.
    observer : of this linear model, by `luenberger`, `reduced_order`, `kalman` or `kalman_filter`.
        If it has a period, the controller is digital.
    delay : of computation in seconds, at most a period, which the observer takes into account.
    saturate : whether forces stay within the effort limits of the joints; the observer is told what
        is left of them.

    Returns
    -------
    an `OutputFeedback`: `.law(...)` to be simulated, `.poles` of the closed loop,
    `.estimates(motion)`, `.to_control()`.

    >>> import eslabon as es
    >>> m = es.load("cart_pole")
    >>> lm = m.linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> feedback = output_feedback(lm, es.control.lqr(lm, 1.0, 0.1), es.control.luenberger(lm, [-20, -22, -24, -26]))
    >>> motion = m.simulate([0.1, 0.1], None, 8.0, feedback.law())
    >>> bool(abs(motion.end[0]).max() < 0.02)
    True
    """
    if not isinstance(model, LinearModel):
        raise InputError(
            f"model is a linear model of a mechanism, as m.linearize gives it; it is a {type(model).__name__}."
        )
    if model.batch:
        raise InputError(
            f"there are {int(np.prod(model.batch))} linear models of {model.name} here; a controller is for one, such as lm[0]."
        )
    if not model.equilibrium:
        raise InputError(
            f"{model.name} is not at an equilibrium where it is linearized, so that no constant forces hold it there."
        )
    if not isinstance(observer, Observer | KalmanFilter):
        raise InputError(
            f"observer is what luenberger, reduced_order, kalman or kalman_filter gives; it is a {type(observer).__name__}."
        )
    m = model.layout.model
    if m.rheonomic:
        raise InputError(
            f"the constraints of {m.name} depend on the time, and its linear model with it; leave its drives out."
        )
    if not m.nu:
        raise InputError(f"{m.name} has no actuators that a controller could drive.")
    _, outputs = sensors(m, model.outputs, model.layout.partition.independent)
    _check_fit(model, observer)
    K = finite(getattr(gains, "K", gains), "gains")
    if K.shape != (m.nu, len(model.states)):
        raise InputError(
            f"gains have shape {K.shape}; a row for each actuator and a column for each state is {(m.nu, len(model.states))}."
        )
    late = positive(delay, "delay", zero=True)
    if late > (observer.period or 0.0) * (1 + 1e-9):
        raise InputError(
            f"delay is {late:g} s; it is at most a period, and the observer's is {observer.period or 0:g} s."
        )
    return OutputFeedback(model, K, observer, late, effort_limits(m, saturate), outputs)


def _check_fit(model: LinearModel, observer: Observer | KalmanFilter) -> None:
    """Refuse an observer of another linear model."""
    plant = observer.plant
    A = model.A if plant.period is None else model.sampled(plant.period).A
    for own, other, name in ((plant.A, A, "A"), (plant.C, model.C, "C")):
        if own.shape != other.shape or not np.allclose(
            own, other, rtol=1e-6, atol=1e-9 * (1 + np.abs(other).max(initial=0.0))
        ):
            raise InputError(
                f"the observer was designed for another linear model: its {name} is not that of {model!r}."
            )
