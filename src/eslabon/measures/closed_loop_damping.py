"""The damping of the closed loop: of each design under one controller, or under one designed for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import Floats, choice, finite
from eslabon.errors import InputError, ModelError, format_value
from eslabon.measures.controller_options import check_options, is_law
from eslabon.measures.law_derivatives import LawDerivatives
from eslabon.measures.linear_designs import operating_point
from eslabon.measures.measure import Measure, Measured
from eslabon.measures.native_batches import Designs, in_blocks, number_of
from eslabon.mechanism import Mechanism
from eslabon.systems.linear.linear_model import LinearModel

DESIGNERS = ("lqr", "place")
DESIGNED = ("nominal", "each")
COLUMNS = {"closed_loop_damping": "", "closed_loop_damping.decay": "1/s"}


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ClosedLoopDamping(Measure):
    """The least damping ratio -Re(s) / |s| of the poles s of the closed loop, and how fast it decays at least, -max Re(s).

    The plant is x' = A x + B u of each design about a configuration, held by the forces that this design needs there; the
    controller is u = -K x, or what a law's derivatives say.

    Parameters
    ----------
    at : the configuration that is held; left out, the equilibrium under `tau` next to a `guess`, as in `NaturalFrequency`.
    controller : gains K (actuators, states), or an object that has them, such as what `es.control.lqr` gives; a law of
        `es.control`, states of its own included; "lqr" or "place", with the options Q and R, or poles; or a function that
        gives gains for a linear model.
    designed : for a name or a function, "nominal" designs it once, for the mechanism as it is, and all designs keep it; "each"
        designs it anew for every one.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("cart_pole")
    >>> kept = es.measures.ClosedLoopDamping([0.0, 0.0], "lqr", Q=1.0, R=0.1)
    >>> found = kept.measured(m, {"m_pole": np.array([0.05, 0.1, 0.4])}).values
    >>> found["closed_loop_damping"].round(3)
    array([0.983, 0.934, 0.727])
    """

    name: ClassVar[str] = "closed_loop_damping"
    at: Any
    controller: Any
    designed: str
    options: Mapping[str, Any]

    def __init__(
        self, at: Any = None, controller: Any = None, *, designed: str = "nominal", tau: Any = None, guess: Any = None,
        **options: Any,
    ) -> None:  # fmt: skip
        values = {
            "at": operating_point(at, tau, guess), "controller": _controller(controller, options),
            "designed": choice(designed, "designed", DESIGNED), "options": dict(sorted(options.items())),
        }  # fmt: skip
        if designed == "each" and (
            is_law(controller) or not (callable(controller) or isinstance(controller, str))
        ):
            raise ModelError(
                "designed='each' is for 'lqr', 'place' or a function that gives gains; these are given: leave it out."
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        self._feedback(m)
        return dict(COLUMNS)

    def _feedback(self, m: Mechanism) -> Any:
        """The gains, or the law's derivatives, that all designs keep; None, where each has its own."""
        self.at.check(m)
        if not m.nu:
            raise ModelError(
                f"{m.name} has no actuators, so that no controller can drive it; add some with m.with_actuated."
            )
        if self.designed == "each":
            return None
        if is_law(self.controller):
            return LawDerivatives.of(m, self.controller)
        return self._gains(self.at.of(m))

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        kept = self._feedback(m)
        return in_blocks(lambda own: self._block(m, own, kept), designs, COLUMNS, 1)

    def gains(self, m: Mechanism) -> Floats | None:
        """The gains K that all designs keep; None of a law that is none, or that is designed for each."""
        return (
            None
            if self.designed == "each" or is_law(self.controller)
            else self._gains(self.at.of(m))
        )

    def _gains(self, lm: LinearModel) -> Floats:
        """Gains for one linear model."""
        from eslabon.systems import control
        from eslabon.systems.control.state_feedback import gain_matrix

        made = self.controller
        if isinstance(made, str):
            made = getattr(control, made)(lm, **self.options)
        elif callable(made):
            made = made(lm)
        return gain_matrix(made, len(lm.inputs), len(lm.states))

    def _block(self, m: Mechanism, designs: Designs, kept: Any) -> Measured:
        found = np.full((number_of(designs), len(COLUMNS)), np.nan)
        rows, lm, reasons = self.at.models(m, designs)
        if lm is not None:
            found[rows] = self._margins(lm, kept)
        return Measured({column: found[:, k] for k, column in enumerate(COLUMNS)}, reasons)

    def _margins(self, lm: LinearModel, kept: Any) -> Floats:
        """The least damping ratio, and the slowest decay, of each."""
        if isinstance(kept, LawDerivatives):
            closed = kept.closed_loop(lm)
        else:
            single = [lm[k] for k in np.ndindex(lm.batch)] if kept is None else []
            closed = lm.A - lm.B @ (
                np.stack([self._gains(one) for one in single]) if kept is None else kept
            )
        poles = np.atleast_2d(np.linalg.eigvals(closed))
        size = np.abs(poles)
        ratio = np.where(size > 0, -poles.real / np.where(size > 0, size, 1.0), 0.0)
        return np.stack([ratio.min(axis=-1), -poles.real.max(axis=-1)], axis=-1)

    def _told(self) -> str:
        return f" under {self.controller if isinstance(self.controller, str) else type(self.controller).__name__}, designed for {self.designed}"


def _controller(given: Any, options: Mapping[str, Any]) -> Any:
    """Gains, a law, a name or a function."""
    if isinstance(given, str):
        from eslabon.systems import control

        check_options(given, getattr(control, choice(given, "controller", DESIGNERS)), 1, options)
        return given
    if options:
        raise ModelError(
            f"{', '.join(options)} are options of 'lqr' or 'place'; the controller is given already: leave them out."
        )
    if is_law(given):
        return given
    if hasattr(given, "K"):
        return finite(given.K, "K")
    if callable(given):
        return given
    if given is None:
        raise InputError(
            "closed_loop_damping needs a controller: gains K, a law of es.control, 'lqr', 'place', or a function of a linear model."
        )
    return finite(
        given, f"the controller, which is no law, no name and no function ({format_value(given)}),"
    )
