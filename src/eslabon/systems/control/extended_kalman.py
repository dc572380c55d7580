"""The extended Kalman filter of a mechanism: its own equations of motion predict, exact linear
models weigh, and the loops stay closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer
from eslabon.arguments import Floats, choice, count, finite, known_words, positive, states
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, InputError, ModelError, format_value
from eslabon.model import Model, as_model
from eslabon.model.configuration import difference, normalize
from eslabon.motion.law_data import Datum, LawData, matrix
from eslabon.motion.motion_forms import as_trajectory
from eslabon.motion.simulation.constraint_projection import project
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.native_laws import Traced
from eslabon.motion.simulation.run_options import effort_limits
from eslabon.motion.simulation.sampled_laws import Sampled, sampled
from eslabon.numerics.scalars import casadi, concatenate
from eslabon.solve.constraints.closure_violation import VIOLATIONS, accepts
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.solve.constraints.independent_coordinates import partition_by
from eslabon.solve.constraints.massless_motions import refuse_massless
from eslabon.systems.control.control_law import ControlLaw, law_c_source
from eslabon.systems.control.estimates import (
    SENSING,
    Estimates,
    at_samples,
    positions,
    state_units,
)
from eslabon.systems.control.kalman_formulas import packed, unpacked
from eslabon.systems.control.measurements import sensors
from eslabon.systems.control.weight_matrices import covariance as covariance_of
from eslabon.systems.linear.output_names import state_names

if TYPE_CHECKING:
    from eslabon.export.c_source import CSource
    from eslabon.motion.trajectory import Trajectory
    from eslabon.systems.control.extended_kalman_formulas import Design

THROUGH = ("forces", "accelerations", "states")


@dataclass(frozen=True, eq=False, repr=False)
class ExtendedKalmanFilter(Answer):
    """A filter of the nonlinear mechanism; see `extended_kalman_filter`.

    Attributes
    ----------
    process, measurement : the intensity and the covariance of the noises.
    states : the names of the independent coordinates and velocities, whose errors it weighs.
    outputs : the names of what is measured.
    period : in seconds.

    >>> import eslabon as es
    >>> es.control.extended_kalman_filter(es.load("elbow"), process=1e-4, measurement=1e-6, period=0.01).period
    0.01
    """

    m: Model
    design: Design
    process: Floats
    measurement: Floats
    states: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def period(self) -> float:
        """The sampling period in seconds."""
        return self.design.period

    def law(
        self, control: Any, q0: ArrayLike, v0: ArrayLike | None = None, covariance: ArrayLike = 0.0, *, delay: float = 0.0,
        saturate: bool = False, **options: Any,
    ) -> Sampled:  # fmt: skip
        """A law that sees estimates: tau = control(t, q_hat, v_hat), once a period, for
        `m.simulate`.

        Parameters
        ----------
        control : a law in symbols, such as `es.control.computed_torque(...)` or one written as for
            `es.simulate.traced`; None for no forces.
        q0, v0 : what is believed of the state at the start, (..., nq) and (..., nv), projected onto
            closed loops; v0 left out is rest.
        covariance : of that belief, along the `states`: a variance, one for each, or a matrix.
        delay : of computation in seconds, at most a period, which the filter takes into account.
        saturate : whether forces stay within the effort limits of the joints; the filter is told
            what is left of them.
        options : `noise`, `velocity_noise`, `force_noise`, `seed`, `quantisation` and `rate_limit`
            of `es.simulate.sampled`, of which the filter is not told.
        """
        if not self.m.nu:
            raise ModelError(f"{self.m.name} has no actuators that a law could drive; use follow.")
        if isinstance(control, Sampled) or (
            isinstance(control, Traced) and control.state is not None
        ):
            raise InputError(
                "control is a law of t, q and v without states or samples of its own; the filter has both."
            )
        if control is not None and not callable(control):
            raise InputError(f"control is a law of t, q and v; it is {format_value(control)}.")
        known_words(options, SENSING, "the law has no option", InputError)
        late = positive(delay, "delay", zero=True)
        if late > self.period * (1 + 1e-9):
            raise InputError(
                f"delay is {late:g} s; it is at most the filter's period of {self.period:g} s."
            )
        belief, limit = self._belief(q0, v0, covariance), effort_limits(self.m, saturate)
        state = concatenate(belief, belief, np.zeros(self.m.nu))
        numbers: dict[str, Datum] = {
            "process": matrix(self.process),
            "measurement": matrix(self.measurement),
        }
        law = control.law if isinstance(control, Traced) else control
        if isinstance(control, ControlLaw) and control.numbers.parts:
            numbers["control"] = control.numbers
        sample = _sample(
            self.m, self.design, law, "control" in numbers, min(late, self.period), limit
        )
        own = ControlLaw(
            sample, m=self.m, title="filtered law", stepwise=True, numbers=LawData(numbers)
        )
        return sampled(own, self.period, delay=late, state=state, **options)

    def c_source(
        self, control: Any, *, delay: float = 0.0, saturate: bool = False, name: str | None = None
    ) -> CSource:
        """The filter with its law as C99: one function of t, what is measured of q and v, and its
        states x, that gives tau and the next x. x is that of `law(...).state` at the start."""
        return law_c_source(self.law(control, self.m.home(), delay=delay, saturate=saturate), name)

    def follow(
        self, t: ArrayLike, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, *, q0: ArrayLike,
        v0: ArrayLike | None = None, covariance: ArrayLike = 0.0,
    ) -> FollowedState:  # fmt: skip
        """The estimates from a record, in native code, of one experiment or of many.

        Parameters
        ----------
        t : (times,), a period apart.
        q, v : what was measured, (..., times, nq) and (..., times, nv), of which only the outputs
            are looked at.
        tau : the actuators' forces from each time on, (..., times, nu); left out, none.
        q0, v0, covariance : what is believed at the start, as for `law`.
        """
        from eslabon.systems.control.extended_kalman_formulas import FIRST, RECORDED

        m = self.m
        times = finite(t, "t")
        if (
            times.ndim != 1
            or len(times) < 2
            or not np.allclose(np.diff(times), self.period, rtol=1e-6)
        ):
            raise InputError(
                f"t are two times or more, the filter's period of {self.period:g} s apart."
            )
        if v is None and any(y.order for y in self.design.outputs):
            raise InputError(
                f"the outputs {', '.join(self.outputs)} have velocities among them; give what was measured of v."
            )
        given = (
            states(q, "q", m.nq, m.name), np.zeros((len(times), m.nv)) if v is None else states(v, "v", m.nv, m.name, "velocities"),
            np.zeros((len(times), m.nu)) if tau is None else states(tau, "tau", m.nu, m.name, "actuators"),
        )  # fmt: skip
        for x, name in zip(given, ("q", "v", "tau"), strict=True):
            if x.shape[-2:-1] != (len(times),):
                raise InputError(
                    f"{name} has shape {x.shape}; a record of {len(times)} times is (..., {len(times)}, {x.shape[-1]})."
                )
        seen_q, seen_v, forces = given
        before = np.concatenate(
            [forces[..., :1, :], forces[..., :-1, :]], axis=-2
        )  # those since the sample before
        rows, noises = (
            concatenate(before, normalize(m, seen_q), seen_v),
            (self.process, self.measurement),
        )
        first = evaluate(m, FIRST, design=self.design)(
            self._belief(q0, v0, covariance), rows[..., 0, :], *noises
        )
        later = evaluate(m, RECORDED, design=self.design)(first, rows[..., 1:, :], *noises)
        made = np.concatenate(
            [np.broadcast_to(first[..., None, :], (*later.shape[:-2], 1, later.shape[-1])), later],
            axis=-2,
        )
        return self._followed(times, made[..., self.design.size(m) :])

    def estimates(self, motion: Trajectory) -> Estimates:
        """What the filter made of a motion that its law drove, beside the truth, with its own
        standard deviations, at those of the motion's times that are samples."""
        m, size = self.m, self.design.size(self.m)
        expected = 2 * size + m.nu
        motion = as_trajectory(m, motion, need=("q", "v", "x"))
        if motion.x.shape[-1] != expected or not motion.whole:
            raise InputError(
                f"{motion!r} was not driven by this filter's law: it has {motion.x.shape[-1]} states of a law, not {expected}."
            )
        samples = at_samples(motion, self.period)
        return self._followed(samples.t, samples.x[..., size : 2 * size])._beside(
            samples.q, samples.v
        )

    def _followed(self, t: Floats, x: Floats) -> FollowedState:
        m = self.m
        q, v, P = (
            x[..., : m.nq],
            x[..., m.nq : m.nq + m.nv],
            unpacked(x[..., m.nq + m.nv :], self.design.n),
        )
        return FollowedState(self, t, q, v, P)

    def _belief(self, q0: ArrayLike, v0: ArrayLike | None, covariance: ArrayLike) -> Floats:
        m = self.m
        q = normalize(m, states(q0, "q0", m.nq, m.name))
        v = np.zeros(m.nv) if v0 is None else states(v0, "v0", m.nv, m.name, "velocities")
        x = project(m, project(m, concatenate(q, v)))
        if m.closed and not accepts(worst := float(np.max(evaluate(m, VIOLATIONS)(x)[0]))):
            raise AssemblyError(f"q0 violates loop closure of {m.name} by {worst:.3g} (rad, or lengths of its size) even when projected; assemble it from "
                "the actuated joints.")  # fmt: skip
        P = covariance_of(covariance, "covariance", self.design.n, "states")
        return concatenate(x, packed(P))

    def __repr__(self) -> str:
        return f"<extended Kalman filter of {self.m.name}: {len(self.states)} states from {', '.join(self.outputs)}, every {self.period:g} s>"


def _sample(
    m: Model, design: Design, law: Any, numbered: bool, delay: float, limit: tuple[float, ...]
) -> Callable[..., tuple[Any, Any]]:
    """A law that sees estimates, `numbered` if it takes numbers: forces, and what is believed at
    the next sample and at this."""

    def sample(n: Any, t: Any, q: Any, v: Any, x: Any) -> tuple[Any, Any]:
        from eslabon.systems.control.extended_kalman_formulas import Belief, Filter

        size = design.size(m)
        filtering = Filter(m, design, n.process, n.measurement)
        after = filtering.update(Belief.of(m, x[:size], design.n), q, v)
        own = (n.control,) if numbered else ()
        tau = casadi.SX.zeros(m.nu) if law is None else _column(law(*own, t, after.q, after.v), m)
        tau, following = within(tau, limit), after
        if delay:
            following = filtering.predict(following, x[2 * size :], delay)
        if delay < design.period:
            following = filtering.predict(following, tau, design.period - delay)
        return tau, casadi.vertcat(following.joined(), after.joined(), tau)

    return sample


@dataclass(frozen=True, eq=False, repr=False)
class FollowedState(Answer):
    """Estimated configurations, velocities and covariances at times: (..., times, nq), (..., times,
    nv), (..., times, 2n, 2n)."""

    filter: ExtendedKalmanFilter
    t: Floats
    q: Floats
    v: Floats
    covariance: Floats

    def beside(self, motion: Any) -> Estimates:
        """With the truth: the motion at the same times, in any form that `es.as_trajectory` takes.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> motion = m.simulate([0.1, 0.2], None, 0.1, method="rk4", step=0.01)
        >>> kalman = es.control.extended_kalman_filter(m, process=1e-4, measurement=1e-6, period=0.01)
        >>> found = kalman.follow(motion.t, motion.q, q0=[0.0, 0.0], covariance=0.1)
        >>> found.beside(motion)
        <Estimates of elbow: 4 states, 0 to 0.1 s>
        """
        truth = as_trajectory(self.filter.m, motion, need=("q", "v"))
        if (
            not truth.whole
            or truth.t.shape != self.t.shape
            or np.abs(truth.t - self.t).max() > 1e-6 * self.filter.period
        ):
            raise InputError(
                f"{truth!r} is not the motion of all joints at the {len(self.t)} times of the estimates; "
                "simulate it at these times."
            )
        try:
            np.broadcast_shapes(truth.q.shape[:-1], self.q.shape[:-1])
        except ValueError:
            raise InputError(
                f"{truth!r} has trajectories of shape {truth.batch}, the estimates {self.q.shape[:-2]}."
            ) from None
        return self._beside(truth.q, truth.v)

    def _beside(self, q: Floats, v: Floats) -> Estimates:
        m, f = self.filter.m, self.filter
        i = list(f.design.partition.independent)
        x, x_hat = (
            np.concatenate([positions(m, own)[..., i], rate[..., i]], axis=-1)
            for own, rate in ((q, v), (self.q, self.v))
        )
        error = np.concatenate([difference(m, q, self.q)[..., i], (v - self.v)[..., i]], axis=-1)
        deviation = np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=-2, axis2=-1), 0.0))
        return Estimates(
            self.t,
            x,
            x_hat,
            error,
            f.states,
            state_units(m, tuple(i)),
            m.name,
            deviation,
            self.covariance,
        )

    def __repr__(self) -> str:
        return f"<{len(self.t):,} estimates by {self.filter!r}>"


def _column(tau: Any, m: Model) -> Any:
    made = casadi.SX(
        casadi.vertcat(*np.ravel(tau)) if isinstance(tau, list | tuple | np.ndarray) else tau
    )
    if made.shape != (m.nu, 1):
        raise InputError(
            f"the control law gives {'x'.join(map(str, made.shape))} forces; {m.name} has {m.nu} actuators."
        )
    return made


def extended_kalman_filter(
    m: Model, process: ArrayLike, measurement: ArrayLike, period: float, *, outputs: Any = None, through: str = "forces",
    independent: Any = None, steps: int = 1,
) -> ExtendedKalmanFilter:  # fmt: skip
    """Kalman's filter on the equations of motion themselves, of trees and of closed chains, from
    sample to sample.

    Between samples the estimate moves by the mechanism's own forward dynamics and its covariance by
    the exact linear model along the way; a sample corrects the independent coordinates, and the
    passive joints follow so that the loops stay closed. Quaternions are corrected in their tangent
    space.

    Parameters
    ----------
    m : the mechanism, or what is thought of it.
    process : the intensity of process noise: a number, one for each, or a matrix. A random force of
        the standard deviation s that is held over a period has the intensity s^2 period.
    measurement : the covariance of one sample of the outputs, likewise; positive definite.
    period : between samples, in seconds.
    outputs : names of what is measured, as for `m.linearize`: positions and velocities of joints
        and frames; left out, the positions of the actuated joints.
    through : what the process noise acts on: the actuators' "forces", the "accelerations" of the
        independent coordinates, or the "states", each of them.
    independent : names of the independent coordinates; left out, as for `m.linearize`.
    steps : of integration in a period.

    Returns
    -------
    an `ExtendedKalmanFilter`: `.law(control, q0)` to be simulated, `.estimates(motion)` of what
    that gives, and `.follow(...)` of what was recorded.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> observer = extended_kalman_filter(m, process=1e-4, measurement=1e-6, period=0.01)
    >>> law = observer.law(None, [0.4, 0.0], covariance=0.01, noise=1e-3)           # it starts from a wrong belief
    >>> motion = m.simulate([0.5, 0.1], None, 2.0, law, method="rk4", step=0.01)
    >>> estimates = observer.estimates(motion)
    >>> bool(abs(estimates.error[-1]).max() < 0.02 < abs(estimates.x[-1] - [0.5, 0.1, 0, 0]).max())
    True
    """
    from eslabon.systems.control.extended_kalman_formulas import Design

    if not as_model(m).nv:
        raise ModelError(f"{m.name} has no joint that moves: there is nothing to estimate.")
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time, which its state does not tell; leave its drives out."
        )
    refuse_massless(m.nominal)
    p = (
        structure(m.nominal).partition
        if independent is None
        else partition_by(m, independent, "elimination")
    )
    n = len(p.independent)
    if not n:
        raise ModelError(f"{m.name} has no degrees of freedom: there is nothing to estimate.")
    names, sensed = sensors(m, outputs, p.independent)
    choice(through, "through", THROUGH)
    if through == "forces" and not m.nu:
        raise InputError(
            f"{m.name} has no actuators whose forces could be noisy; say through='accelerations'."
        )
    noises = {"forces": m.nu, "accelerations": n, "states": 2 * n}[through]
    W = covariance_of(process, "process", noises, "noises")
    V = covariance_of(measurement, "measurement", len(sensed), "outputs", definite=True)
    design = Design(p, sensed, through, positive(period, "period"), count(steps, "steps", 1))
    return ExtendedKalmanFilter(m, design, W, V, state_names(m, p.independent), names)
