"""What identification finds: base parameters with their errors, whether the model is right, and the
mechanism they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eslabon.answers import Answer, Block, Column, Message, Table, answer, figure
from eslabon.arguments import Floats, flag, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import InputError, format_value
from eslabon.model import Model, as_model
from eslabon.model.configuration import velocity_names
from eslabon.systems.identification.base_parameters import base_parameters
from eslabon.systems.identification.consistency import Masses, Task, consistent_parameters
from eslabon.systems.identification.estimation import (
    EXACT,
    Equations,
    Estimate,
    equations_of,
    estimate,
    model_forces,
    noise_of,
    prior_factor,
    refuse_silence,
    silent_parameters,
    standing,
)
from eslabon.systems.identification.inertial_parameters import BaseParameters
from eslabon.systems.identification.parameters import Terms, described, terms_of
from eslabon.systems.identification.recordings import recordings, sampled
from eslabon.systems.identification.regressor_equations import ACTUATOR_REGRESSOR, independent
from eslabon.systems.identification.residual_tests import (
    ResidualTest,
    chi_squared,
    missing_term,
    tests,
)


class Settings(NamedTuple):
    """How recordings become equations."""

    noise: Floats | None
    cutoff: float | None
    guess: Any


@answer
class CrossValidation(NamedTuple):
    """How well identified parameters predict the forces of another motion: for each equation the
    root mean square of the measured force and of the error, and their ratio.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m, t = es.load("elbow"), np.linspace(0, 2, 101)
    >>> q = np.stack([np.sin(3 * t), np.cos(5 * t)], axis=-1)
    >>> v, a = np.stack([3 * np.cos(3 * t), -5 * np.sin(5 * t)], axis=-1), -q * [9, 25]
    >>> data = {"t": t, "q": q, "v": v, "a": a, "tau": m.inverse_dynamics(q, v, a)}
    >>> bool(m.identify(data, friction=()).cross_validate(data).relative.max() < 1e-6)
    True
    """

    coordinates: tuple[str, ...]
    force: Floats
    error: Floats
    relative: Floats

    def contents(self) -> Iterator[Block]:
        """Force and error of each equation."""
        names = ("coordinate", "force, root mean square", "error, root mean square", "relative")
        rows = zip(self.coordinates, self.force, self.error, self.relative, strict=True)
        yield Table(tuple(map(Column, names)), [(name, *map(float, x)) for name, *x in rows])

    def __repr__(self) -> str:
        rows = zip(self.coordinates, self.force, self.error, self.relative, strict=True)
        lines = [
            f"  {name:<16} force {f:10.4g}   error {e:10.4g}   {r:7.2%}" for name, f, e, r in rows
        ]
        return "\n".join([f"<CrossValidation: errors up to {self.relative.max():.2%}>", *lines])


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Answer):
    """Base parameters found from recorded motions.

    Attributes
    ----------
    base : what each parameter is: `.expressions` in words, `.values` those of the model before.
    values, standard_errors : the parameters and their standard deviations, infinite for what the
        motion does not excite.
    confidence : the probability of `confidence_intervals`.
    condition : the condition number of the weighted regressor with columns of unit length.
    tests : what the residuals of each equation say of the model; `rejected` if one of them refuses
        it.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m, t = es.load("elbow"), np.linspace(0, 2, 101)
    >>> q = np.stack([np.sin(3 * t), np.cos(5 * t)], axis=-1)
    >>> v, a = np.stack([3 * np.cos(3 * t), -5 * np.sin(5 * t)], axis=-1), -q * [9, 25]
    >>> found = m.identify({"t": t, "q": q, "v": v, "a": a, "tau": m.inverse_dynamics(q, v, a)}, friction=())
    >>> len(found.names) == len(found.values) == len(m.base_parameters())
    True
    """

    m: Model
    terms: Terms
    base: BaseParameters
    values: Floats
    confidence: float
    tests: tuple[ResidualTest, ...]
    settings: Settings
    task: Task
    several: list[Equations]

    # -- the numbers --------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """What each parameter is, in words."""
        return self.base.expressions

    @property
    def found(self) -> Estimate:
        """The least-squares solution itself."""
        return self.task.found

    @property
    def condition(self) -> float:
        return self.found.condition

    @property
    def excited(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which parameters the motion tells."""
        return self.found.excited

    @property
    def unexcited(self) -> tuple[str, ...]:
        """What the motion does not tell, and stays as the model has it."""
        return tuple(name for name, told in zip(self.names, self.excited, strict=True) if not told)

    @cached_property
    def standard_errors(self) -> Floats:
        return np.where(self.excited, np.sqrt(np.diag(self.found.covariance)), np.inf)

    @cached_property
    def relative_errors(self) -> Floats:
        """Standard errors over values."""
        with np.errstate(divide="ignore"):
            return self.standard_errors / np.abs(self.values)

    @property
    def degrees_of_freedom(self) -> int:
        """Equations more than parameters."""
        return sum(r.size for r in self.found.residuals) - int(self.excited.sum())

    @cached_property
    def confidence_intervals(self) -> Floats:
        """The least and the greatest value of each parameter, (parameters, 2), that the noise
        allows: by Student's t about the least-squares solution."""
        from scipy.stats import t

        half = (
            t.ppf((1 + self.confidence) / 2, max(1, self.degrees_of_freedom)) * self.standard_errors
        )
        centre = self.base.values + self.found.change
        return np.stack([centre - half, centre + half], axis=-1)

    @cached_property
    def r_squared(self) -> Floats:
        """For each equation the part of the measured force's variance that is explained; NaN where
        no force was measured."""
        r = np.concatenate(self.residuals)
        y = np.concatenate([e.left + e.Y @ self.base.values for e in self.several])
        spread = np.var(y, axis=0)
        small = spread <= 1e-18 * max(float(np.max(np.mean(y**2, axis=0), initial=0.0)), 1e-300)
        return np.where(small, np.nan, 1 - np.mean(r**2, axis=0) / np.where(small, 1.0, spread))

    @cached_property
    def residuals(self) -> list[Floats]:
        """What the identified model leaves of the forces along the independent coordinates,
        (samples, equations) each."""
        change = self.values - self.base.values
        return [e.left - e.Y @ change for e in self.several]

    @property
    def noise(self) -> Floats:
        """The standard deviation of each equation's error."""
        return self.found.sigma

    # -- is the model right? ------------------------------------------------------------------------------------------

    @cached_property
    def chi_squared(self) -> tuple[float, int, float] | None:
        """The residuals' sum of squares in units of the known noise, its degrees of freedom, and
        how likely a right model has more; None where the noise is not known."""
        return (
            None
            if self.settings.noise is None
            else chi_squared(self.found, int(self.excited.sum()))
        )

    @cached_property
    def rejected(self) -> bool:
        """Whether what is left of the forces is more than noise: the model is wrong, or lacks
        something."""
        beyond = self.chi_squared is not None and self.chi_squared[2] < 1e-4
        return beyond or any(test.rejects for test in self.tests)

    @cached_property
    def verdict(self) -> str:
        """The same in a sentence."""
        worst = max(self.tests, key=lambda test: (test.rejects, test.ratio))
        if not self.rejected:
            return f"the residuals are noise, {max(t.relative for t in self.tests):.2g} of the forces at most"
        why, p = (
            f"of '{worst.coordinate}', {worst.relative:.1%} of its forces, follow the motion",
            worst.p,
        )
        if not worst.rejects and self.chi_squared is not None:
            chi, free, p = self.chi_squared
            why = f"are {np.sqrt(chi / max(1, free)):.3g} times the known noise"
        guess = missing_term(self.m, self.several, self.found, self.terms)
        return f"the model is rejected: the residuals {why} (p = {p:.1g})" + (
            f"; {guess}" if guess else ""
        )

    def contents(self) -> Iterator[Block]:
        """The verdict, and the parameters with their errors."""
        yield Message("{verdict}.", verdict=f"{self.verdict[0].upper()}{self.verdict[1:]}")
        names = ("value", "standard error", "of the model before")
        columns = (Column("combination of parameters", kind="prose"), *map(Column, names))
        rows = zip(self.names, self.values, self.standard_errors, self.base.values, strict=True)
        yield Table(columns, [(name, *map(float, x)) for name, *x in rows])

    def __repr__(self) -> str:
        samples = sum(len(e.t) for e in self.several)
        head = f"<Identification of {self.m.name}: {len(self.values)} parameters from {samples:,} samples, condition {self.condition:.3g}>"
        lines = [f"  {self.verdict}"]
        if self.unexcited:
            still = standing(self.m, self.several)
            why = f": {', '.join(still)} stands still" if still else ""
            lines.append(f"  not excited{why}: {'; '.join(_short(x) for x in self.unexcited)}")
        rows = zip(self.names, self.values, self.standard_errors, self.base.values, strict=True)
        width = max((len(_short(name)) for name in self.names), default=0)
        lines += [
            f"  {_short(name):<{width}}  {x:12.5g} +- {s:<9.2g} was {x0:.5g}"
            for name, x, s, x0 in rows
        ]
        return "\n".join([head, *lines])

    # -- the mechanism ------------------------------------------------------------------------------------------------

    @cached_property
    def _consistent(self) -> tuple[Floats, bool]:
        return consistent_parameters(self.task)

    @property
    def parameters(self) -> Floats:
        """All parameters, ten a body and those of joints: bodies can have them, and they are as
        near to the model's as the motion allows. Where the least-squares solution is beyond what
        bodies can have, the most likely ones that they can."""
        return self._consistent[0]

    def mechanism(self) -> Any:
        """The mechanism with the identified inertias, friction and motor inertias; offsets are left
        out."""
        return type(self.m)(described(self.m, self.terms, self.parameters))

    def torques(self, q: Any, v: Any, a: Any) -> Floats:
        """The actuators' forces for a motion by the identified parameters, offsets of the
        measurement included."""
        forces = model_forces(self.m, q, v, a)
        Y = evaluate(self.m, ACTUATOR_REGRESSOR, terms=self.terms)(q, v, a)
        with np.errstate(over="ignore", invalid="ignore"):  # what is no number stays in its row
            return forces + Y[..., list(self.base.columns)] @ (self.values - self.base.values)

    def cross_validate(self, motion: Any) -> CrossValidation:
        """How well the identified parameters predict the forces of another recorded motion, in the
        same filter."""
        several = _equations(self.m, self.base, motion, self.terms, self.settings)
        Y = np.concatenate([e.Y for e in several])
        measured = np.concatenate([e.left for e in several]) + Y @ self.base.values
        force, error = (
            np.sqrt(np.mean(x**2, axis=0)) for x in (measured, measured - Y @ self.values)
        )
        parts = np.sqrt(
            np.mean(np.sum((Y * self.values) ** 2, axis=-1), axis=0)
        )  # where no force acts they are in balance
        size = np.maximum(np.where(force > EXACT * parts, force, parts), np.finfo(float).tiny)
        names = tuple(velocity_names(self.m)[k] for k in independent(self.m))
        return CrossValidation(names, force, error, error / size)

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure: for each equation the measured force, the model's and what is left;
        motions one after another."""
        return figure(self, theme=theme, path=path)

    def in_time(self) -> tuple[Floats, Floats, Floats]:
        """Times, measured forces and residuals of all motions, one after another, a gap between
        them."""
        rows, start = [], 0.0
        for e, r in zip(self.several, self.residuals, strict=True):
            t = e.t - e.t[0] + start
            values = np.concatenate([t[:, None], e.left + e.Y @ self.base.values, r], axis=1)
            rows += [values, np.full((1, values.shape[1]), np.nan)]
            start = float(t[-1])
        whole = np.concatenate(rows[:-1])
        measured, left = np.split(whole[:, 1:], 2, axis=1)
        return whole[:, 0], measured, left


def _short(name: str, most: int = 48) -> str:
    return name if len(name) <= most else name[: most - 4] + " ..."


def _equations(
    m: Model, base: BaseParameters, motion: Any, terms: Terms, settings: Settings
) -> list[Equations]:
    several = [sampled(m, r, settings.cutoff, settings.guess) for r in recordings(m, motion)]
    return [equations_of(m, base, s, terms, settings.noise) for s in several]


def identify(
    m: Model, motion: Any, *, friction: Any = ("viscous", "coulomb"), motors: bool = False, consistent: bool = False,
    noise: Any = None, cutoff: float | None = None, mass: Any = None, confidence: float = 0.95, guess: Any = None,
) -> Identification:  # fmt: skip
    """Base parameters, friction and motor inertias from recorded motions, by weighted least
    squares.

    Parameters
    ----------
    motion : what was recorded: any motion with forces (`es.as_trajectory`): a `Trajectory`, the
        path of a .csv or .npz file, arrays by name ("t", "q", "tau", and "v", "a" where they were
        measured), or a list of these. With loops the coordinates of the actuated joints are enough.
    friction : kinds of friction to identify, of "viscous", "coulomb" and "offset" (of the measured
        force), at the independent and the actuated joints; or the joints by kind, as in {"viscous":
        ("q1", "q2")}. What is not asked for, springs and the like stay as the model has them.
    motors : whether the inertias of motors, seen at the joint, are identified too; along its own
        axis a body's inertia cannot be told from that of its motor.
    consistent : whether the result keeps to what bodies can have: positive definite
        pseudo-inertias, friction not negative. `mechanism()` always does.
    noise : the standard deviation of the measured forces, one number or one for each actuator; left
        out, it is estimated.
    cutoff : of the low-pass filter, in Hz. Left out, nothing is filtered where q, v and a were all
        measured, as in a `Trajectory`; else it is well above the highest frequency at which the
        coordinates stand out of their noise.
    mass : what is known of masses: that of all bodies together, as a number or (least, most), or
        such by body.
    confidence : the probability of the confidence intervals.
    guess : with loops, the configuration or mode near which the motion begins, where q is that of
        the actuated joints alone.

    >>> import eslabon as es, numpy as np
    >>> from eslabon.systems.identification import identify
    >>> m = es.load("double_pendulum")
    >>> law = lambda t, q, v: [6 * np.sin(3 * t), 3 * np.cos(5 * t)]
    >>> motion = m.simulate([0.3, 0.2], None, np.linspace(0, 4, 401), law)
    >>> found = identify(m.with_body("bar2", mass=2.0), motion, friction=())
    >>> bool(np.allclose(found.values, m.base_parameters().values, atol=1e-5)), found.rejected
    (True, False)
    """
    for name, value in (("motors", motors), ("consistent", consistent)):
        flag(value, name)
    if not 0 < positive(confidence, "confidence") < 1:
        raise InputError(
            f"confidence is a probability between 0 and 1; it is {format_value(confidence)}."
        )
    terms, settings = (
        terms_of(as_model(m), friction, motors),
        Settings(noise_of(m, noise), cutoff, guess),
    )
    base = base_parameters(m, terms=terms)
    several = _equations(m, base, motion, terms, settings)
    refuse_silence(m, base, several)
    prior = prior_factor(m, terms, several)
    found = estimate(base, prior, several, silent_parameters(m, base, several))
    if not found.excited.any() and not len(found.information):
        raise InputError(
            f"the motion excites nothing of {m.name}: what its parameters do is lost in the noise; move faster and farther."
        )
    task = Task(m, terms, base, found, prior, Masses.of(m, mass))
    values = base.values + found.change
    if consistent:
        values = base.regrouping @ consistent_parameters(task)[0]
    said = tuple(tests(m, several, found, base.values + found.change))
    return Identification(m, terms, base, values, float(confidence), said, settings, task, several)
