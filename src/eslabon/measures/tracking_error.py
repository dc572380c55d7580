"""How well a controller makes each design follow a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import Floats, choice, positive
from eslabon.errors import InputError, ModelError, format_value
from eslabon.measures.along_motion import AlongMotion, mean_in_time, require_actuators, with_largest
from eslabon.measures.assembled_designs import States, variant
from eslabon.measures.controller_options import check_options, is_law
from eslabon.measures.given_motion import JointStates, given_motion
from eslabon.measures.labels import of_each
from eslabon.measures.native_batches import threads
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import difference, velocity_columns

LAWS = ("computed_torque", "pd_gravity")
DESIGNED = ("nominal", "each")
METHODS = ("rk4", "symplectic")
REDUCTIONS = ("rms", "peak")


@dataclass(frozen=True, eq=False, repr=False, init=False, kw_only=True)
class TrackingError(AlongMotion):
    """The tracking error of each actuated joint in a simulation under a controller: its root mean square
    sqrt(1/T int (q_d - q)^2 dt), or with reduce="peak" its greatest size; and the greatest of all joints.

    Each design starts on the reference, and is simulated by fixed steps in native code.

    Parameters
    ----------
    controller : a law of `es.control`; "computed_torque" or "pd_gravity" with their options (frequency, damping; Kp, Kd), which
        follows the reference; or a function that gives a law for a mechanism.
    reference : the motion of the joints, as in `AlongMotion`.
    designed : "nominal" makes a named law, or one that a function gives, for the mechanism as it is, and all designs keep it;
        "each" makes it anew for every design, which compiles anew.
    step : of the integration, in seconds.
    method : "rk4" or "symplectic".
    samples, joints, guess, passive : as in `AlongMotion`.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> swing = es.paths.joint_path([[0.0, 0.0], [1.0, 0.5]], es.paths.quintic(1.0))
    >>> error = es.measures.TrackingError("computed_torque", swing, frequency=20.0, step=1e-2)
    >>> error.measured(m, {"m2": np.array([0.5, 1.0, 1.5])}).values["tracking_error"].round(4)
    array([0.0143, 0.    , 0.015 ])
    """

    name: ClassVar[str] = "tracking_error"
    controller: Any
    motion: Any
    designed: str
    step: float
    method: str
    reduce: str
    options: Mapping[str, Any]

    def __init__(
        self, controller: Any, reference: Any, *, designed: str = "nominal", step: float = 1e-3, method: str = "rk4",
        reduce: str = "rms", samples: int = 101, joints: Any = None, guess: Any = None, passive: str = "refuse",
        **options: Any,
    ) -> None:  # fmt: skip
        motion = given_motion(
            reference, samples, joints=joints, guess=guess, passive=passive, timed=True
        )
        if not isinstance(motion, JointStates) or len(motion) < 3:
            raise InputError(
                "the reference is a motion of joints at three or more times; m.follow makes one of a frame's path."
            )
        values = {
            "controller": _controller(controller, designed, options), "motion": motion,
            "designed": choice(designed, "designed", DESIGNED), "step": positive(step, "step"),
            "method": choice(method, "method", METHODS), "reduce": choice(reduce, "reduce", REDUCTIONS),
            "options": dict(sorted(options.items())),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def together(self) -> int:
        return 256 if self.designed == "nominal" else 4

    def _columns(self, m: Mechanism) -> dict[str, str]:
        require_actuators(m, "tracking error")
        columns = velocity_columns(m)
        return of_each(
            self.name,
            {str(columns[k]): columns[k].unit.removesuffix("/s") for k in m.actuated_velocities},
        )

    def _values(self, states: States) -> Mapping[str, Floats]:
        m = states.m
        q = (
            np.stack(self._each(states))
            if self.designed == "each"
            else self._simulated(states, self._law(m))
        )
        error = np.abs(difference(m, q, states.q))[..., list(m.actuated_velocities)]
        found = (
            error.max(axis=1)
            if self.reduce == "peak"
            else np.sqrt(mean_in_time(self.motion.t, error**2))
        )
        return with_largest(self.name, self._columns(m), found)

    def _law(self, m: Mechanism) -> Any:
        """The law for a mechanism."""
        if isinstance(self.controller, str):
            from eslabon.systems import control

            q, v, a = self.motion.prescribed(m)[1:] if m.closed else self.motion.completed(m)
            return getattr(control, self.controller)(m, (self.motion.t, q, v, a), **self.options)
        return self.controller if is_law(self.controller) else self.controller(m)

    def _simulated(self, states: States, law: Any) -> Floats:
        """Configurations (designs, times, nq), all from one batch."""
        m, q, v = states.m, states.q[:, 0], states.v[:, 0]
        own = {name: x[:, 0] for name, x in states.parameters.items()}
        return m.simulate(
            q, v, self.motion.t, law, parameters=own, threads=threads(), **self._how
        ).q

    def _each(self, states: States) -> list[Floats]:
        """The same with a law for each design."""
        found = []
        designs = {name: x[:, 0] for name, x in states.parameters.items()}
        for k in range(len(states.rows)):
            own, at = variant(states.m, designs, k), min(k, len(states.q) - 1)
            found.append(self._one(own, states.q[at, 0], states.v[at, 0], self._law(own)))
        return found

    def _one(self, m: Mechanism, q: Floats, v: Floats, law: Any) -> Floats:
        return m.simulate(q, v, self.motion.t, law, **self._how).q

    @property
    def _how(self) -> dict[str, Any]:
        return {"method": self.method, "step": self.step, "singular": "error", "progress": False}

    def _told(self) -> str:
        name = (
            self.controller if isinstance(self.controller, str) else type(self.controller).__name__
        )
        return f" under {name}{super()._told()}"


def _controller(given: Any, designed: str, options: Mapping[str, Any]) -> Any:
    """A law, the name of one, or a function of a mechanism."""
    if isinstance(given, str):
        from eslabon.systems import control

        check_options(given, getattr(control, choice(given, "controller", LAWS)), 2, options)
        return given
    if options:
        raise ModelError(
            f"{', '.join(options)}: options go with the name of a law; this controller has its own already."
        )
    if is_law(given) and designed == "each":
        raise ModelError(
            "designed='each' is for the name of a law or a function that gives one; this law is given: leave it out."
        )
    if not callable(given):
        raise InputError(
            f"a controller is a law of es.control, the name of one ({', '.join(LAWS)}) or a function that gives one for a mechanism; it is {format_value(given)}."
        )
    return given
