"""Numbers of bodies that can be: among all that agree with the identified base parameters, those
nearest to the model's.

With x = S^-1 (theta - theta_0), so that |x| measures the change (`estimation.prior_factor`), they
are the solution of

    minimise |x|^2    so that    R K S x = R dbeta,    every pseudo-inertia positive definite, friction not negative

or, where noise has driven the base parameters beyond what bodies can have, of the same with |R (K S
x - dbeta)|^2 + |x|^2 / 100 as the cost: the most likely parameters, if those of the model are known
to within ten times their size. Both are semidefinite programs (Traversaro and others, 2016;
Wensing, Kim and Slotine, 2018), which CVXPY and Clarabel solve.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.errors import (
    EslabonError,
    InputError,
    MissingDependencyError,
    ModelError,
    format_value,
    suggest,
)
from eslabon.model import Model
from eslabon.systems.identification.estimation import Estimate
from eslabon.systems.identification.inertial_parameters import BaseParameters
from eslabon.systems.identification.parameters import (
    UNITS,
    Terms,
    model_parameters,
    pseudo_inertias,
    reference_inertias,
)

KNOWN = 10.0  # times its size: how well the model's own parameters are known
LEAST = 1e-6  # of the reference's pseudo-inertia: what is less is no body's
ROUND_OFF = 1e-9


@dataclass(frozen=True)
class Masses:
    """Bounds on sums of masses: a row of ones and zeros by body, and the least and the most."""

    rows: Floats
    least: Floats
    most: Floats

    @staticmethod
    def of(m: Model, mass: Any) -> Masses:
        """From the mass of the whole mechanism, as a number or (least, most), or from such by
        body."""
        count = len(m.bodies)
        bounds = mass if isinstance(mass, Mapping) else {} if mass is None else {None: mass}
        rows, least, most = (
            np.zeros((len(bounds), count)),
            np.zeros(len(bounds)),
            np.zeros(len(bounds)),
        )
        known = [b.name for b in m.bodies]
        for k, (name, bound) in enumerate(bounds.items()):
            if name is not None and name not in known:
                raise ModelError(f"{m.name} has no body {format_value(name)}{suggest(name, known)}")
            values = finite(bound, "mass").ravel()
            if values.size not in (1, 2) or not 0 <= values[0] <= values[-1]:
                raise InputError(
                    f"a mass is a number or (least, most), not negative; it is {format_value(bound)}."
                )
            rows[k] = 1.0 if name is None else np.eye(count)[known.index(name)]
            least[k], most[k] = values[0], values[-1]
        return Masses(rows, least, most)

    def kept(self, theta: Floats, count: int) -> bool:
        """Whether parameters keep the bounds, to round-off."""
        sums = self.rows @ theta[: 10 * count : 10]
        slack = ROUND_OFF * np.maximum(1.0, self.most)
        return bool(((sums >= self.least - slack) & (sums <= self.most + slack)).all())


@dataclass(frozen=True, eq=False)
class Task:
    """A mechanism, what was found of its base parameters, and what is known beforehand."""

    m: Model
    terms: Terms
    base: BaseParameters
    found: Estimate
    prior: Floats
    masses: Masses

    @property
    def signed(self) -> list[int]:
        """The parameters of joints that are not negative."""
        first = 10 * len(self.m.bodies)
        return [first + k for k, (kind, _) in enumerate(self.terms.listed()) if kind != "offset"]

    def possible(self, theta: Floats) -> bool:
        """Whether bodies and joints can have these parameters."""
        count = len(self.m.bodies)
        L = np.linalg.inv(np.linalg.cholesky(reference_inertias(self.m)))
        P = L @ pseudo_inertias(theta[: 10 * count]) @ np.swapaxes(L, -1, -2)
        least = np.linalg.eigvalsh(P).min(initial=0.0)
        sizes = np.linalg.norm(self.prior, axis=1)
        signs = (theta[self.signed] >= -ROUND_OFF * sizes[self.signed]).all()
        return bool(least > -ROUND_OFF and signs and self.masses.kept(theta, count))

    def nearest(self) -> Floats:
        """The smallest change that agrees with the base parameters, whatever it makes of bodies."""
        A = self.found.information @ self.base.regrouping @ self.prior
        x = np.linalg.lstsq(A, self.found.information @ self.found.change, rcond=1e-12)[0]
        return model_parameters(self.m, self.terms) + self.prior @ x


def consistent_parameters(task: Task) -> tuple[Floats, bool]:
    """Parameters that bodies can have, and whether they agree with the estimated base parameters to
    the last digit."""
    theta = task.nearest()
    if task.possible(theta):
        return _cleared(task, theta), True
    exact = _solve(task, exact=True)
    if exact is not None:
        return _cleared(task, exact), True
    likely = _solve(task, exact=False)
    if likely is None:
        raise EslabonError(
            f"no bodies of {task.m.name} agree with the motion and the bounds on masses; check these, and the units of forces."
        )
    return _cleared(task, likely), False


def _cleared(task: Task, theta: Floats) -> Floats:
    """Without the round-off below zero."""
    theta = theta.copy()
    theta[task.signed] = np.maximum(theta[task.signed], 0.0)
    masses = theta[: 10 * len(task.m.bodies) : 10]
    masses[:] = np.maximum(masses, 0.0)
    return theta


def _solve(task: Task, exact: bool) -> Floats | None:
    try:
        cp: Any = import_module("cvxpy")
    except ImportError:
        raise MissingDependencyError(
            "physically consistent parameters need CVXPY; pip install 'eslabon[identification]' brings it."
        ) from None
    m, S = task.m, task.prior
    theta_0 = model_parameters(m, task.terms)
    x = cp.Variable(len(theta_0))
    # Rows of the information in units of the prior: what is known best has the largest singular
    # value.
    U, s, Vt = np.linalg.svd(task.found.information @ task.base.regrouping @ S, full_matrices=False)
    z = (U.T @ (task.found.information @ task.found.change)) / s
    conditions = [*_bodies(cp, task, theta_0, x), *_joints(task, theta_0, x)]
    if exact:
        conditions.append(Vt @ x == z)
        cost = cp.sum_squares(x)
    else:  # what the prior can hardly move is capped: a solver has sixteen digits
        weights = np.minimum(s, 1e6)
        top = float(weights.max(initial=1.0))
        cost = (
            cp.sum_squares(cp.multiply(weights / top, Vt @ x - z))
            + cp.sum_squares(x) / (KNOWN * top) ** 2
        )
    problem = cp.Problem(cp.Minimize(cost), conditions)
    enough = ("optimal",) if exact else ("optimal", "optimal_inaccurate")
    try:
        with warnings.catch_warnings():  # of what is inaccurate, which is looked at here
            warnings.simplefilter("ignore")
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    except cp.error.SolverError:
        return None
    if problem.status not in enough:
        return None
    theta: Floats = theta_0 + S @ x.value
    return theta


def _bodies(cp: Any, task: Task, theta_0: Floats, x: Any) -> list[Any]:
    """Every body's pseudo-inertia, in units of the reference's, is positive definite; masses keep
    their bounds."""
    made, count = [], len(task.m.bodies)
    for k, P in enumerate(reference_inertias(task.m)):
        own = slice(10 * k, 10 * k + 10)
        L = np.linalg.inv(np.linalg.cholesky(P))
        units = (L @ UNITS @ L.T).reshape(10, 16).T
        values = units @ theta_0[own] + (units @ task.prior[own]) @ x
        matrix = cp.reshape(values, (4, 4), order="C")
        made.append((matrix + matrix.T) / 2 >> LEAST * np.eye(4))
    if len(task.masses.rows):
        rows = np.zeros((len(task.masses.rows), len(theta_0)))
        rows[:, : 10 * count : 10] = task.masses.rows
        total = rows @ theta_0 + (rows @ task.prior) @ x
        made += [total >= task.masses.least, total <= task.masses.most]
    return made


def _joints(task: Task, theta_0: Floats, x: Any) -> list[Any]:
    """Friction and motor inertias are not negative, in units of what they could be."""
    if not (own := task.signed):
        return []
    sizes = np.linalg.norm(task.prior[own], axis=1)
    return [theta_0[own] / sizes + (task.prior[own] / sizes[:, None]) @ x >= 0]
