"""Velocities and accelerations of all joints from those of frames, for trees and loops: exact, from one factorisation.

With C the rows that the parts of a target ask of v, and J those of the loops,

    [C; J] v = [y'; -Phi_t],    [C; J] a = [y'' - C' v; gamma]    (Rojas, 3.3.2 and 3.3.3; Yime, 30-36),

solved by least squares of least norm. Nothing is differenced.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q, V
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.frames import jacobian, placement
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.solve.designs import DESCRIBED, Designs
from eslabon.solve.targets.parts import Part

Floats = NDArray[np.float64]
Parts = tuple[Part, ...]
LOST = 1e-9  # of the largest singular value: a motion that no joint makes


class Rates(NamedTuple):
    """v and a, what is missing of the rates asked for, and the reciprocal condition number of the motions they ask."""

    v: Floats
    a: Floats
    slip: Floats
    condition: Floats


def rates(
    m: Model,
    parts: Parts,
    q: Floats,
    first: Floats,
    second: Floats,
    smooth: bool = False,
    designs: Designs = DESCRIBED,
) -> Rates:
    """From the rates of the parts' values and the rates of these, at configurations (..., nq).

    What they leave free is of least norm: v at each instant, and a too, or with `smooth` the rate of such a v along a motion.
    """
    names, values = designs.names, designs.inputs
    A, ahead = evaluate(m, ASKED, names, parts=parts)(q, *values)
    scale = 1 / velocity_scales(m)
    U, s, Vt = np.linalg.svd(A * scale, full_matrices=False)
    least = LOST * s.max(axis=-1, keepdims=True, initial=0.0)
    gains = np.where(s > least, 1 / np.maximum(s, 1e-300), 0.0)

    def solved(b: Floats) -> Floats:
        return scale * np.einsum("...ji,...j,...kj,...k->...i", Vt, gains, U, b)

    v = solved(
        np.concatenate(
            [np.broadcast_to(first, (*ahead.shape[:-1], first.shape[-1])), -ahead], axis=-1
        )
    )
    drift, gamma = evaluate(m, DRIFT, names, parts=parts)(q, v, *values)
    a = solved(np.concatenate([second - drift, gamma], axis=-1))
    if smooth:
        # v = S^2 A^T mu is of least norm at every instant: a has the rate of that choice, in what A leaves free.
        mu = np.einsum("...ij,...j,...jk,...k->...i", U, gains, Vt, v / scale)
        turned = scale * evaluate(m, TURNING, names, parts=parts)(q, v, mu, *values)
        kept = Vt * (s > least)[..., None]
        a = a + scale * (turned - np.einsum("...ji,...jk,...k->...i", kept, kept, turned))
    slip = np.abs(np.einsum("...ij,...j->...i", A, v) - np.concatenate([np.broadcast_to(first, drift.shape), -ahead], axis=-1)).max(axis=-1, initial=0.0)  # fmt: skip
    moving = np.where(s > least, s, np.inf).min(axis=-1, initial=np.inf)
    needed = (s > least).sum(axis=-1)
    condition = np.where(
        needed == np.max(needed, initial=0),
        moving / np.maximum(s.max(axis=-1, initial=0.0), 1e-300),
        0.0,
    )
    return Rates(v, a, slip, np.minimum(condition, 1.0))


def freedom(m: Model, parts: Parts, q: Floats) -> int:
    """How many degrees of freedom the parts leave open at a configuration."""
    A = evaluate(m, ASKED, parts=parts)(q)[0] / velocity_scales(m)
    size = np.linalg.svd(A, compute_uv=False)
    return m.nv - int((size > 1e-7 * size.max(initial=0.0)).sum())


def rates_of_twists(
    m: Model,
    parts: Parts,
    q: Floats,
    twist: Floats,
    acceleration: Floats,
    designs: Designs = DESCRIBED,
) -> tuple[Floats, Floats]:
    """The rates of the parts' values, and of these, that twists of their frame mean, in the ground's axes at its origin."""
    first, second = evaluate(m, OF_TWISTS, designs.names, parts=parts)(
        q, twist, acceleration, *designs.inputs
    )
    return first, second


# Formulas ------------------------------------------------------------------------------------------------------------


def _rows(m: Model, q: Any, parts: Parts) -> Any:
    """C of all parts."""
    rows = []
    for part in parts:
        R, _ = placement(m, q, m.frame(part.frame))
        rows.append(part.rate(R) @ jacobian(m, q, part.frame, axes="aligned"))
    return casadi.vertcat(*rows)


def asked(m: Model, q: Any, parts: Parts) -> list[Any]:
    """[C; J] and Phi_t."""
    _, J, _, rate = equations(m, q, None, tuple(range(len(row_names(m)))))
    return [casadi.densify(casadi.vertcat(_rows(m, q, parts), J)), casadi.densify(rate)]


def drift(m: Model, q: Any, v: Any, parts: Parts) -> list[Any]:
    """C' v and gamma."""
    gamma = equations(m, q, v, tuple(range(len(row_names(m))))).gamma
    change = casadi.jtimes(_rows(m, q, parts) @ v, q, coordinate_rates(m, q) @ v)
    return [casadi.densify(change), casadi.densify(gamma)]


def turning(m: Model, q: Any, v: Any, mu: Any, parts: Parts) -> list[Any]:
    """(dA/dt)^T mu for A = [C; J]."""
    J = equations(m, q, None, tuple(range(len(row_names(m))))).J
    A = casadi.vertcat(_rows(m, q, parts), J)
    return [casadi.densify(casadi.jtimes(A.T @ mu, q, coordinate_rates(m, q) @ v))]


def of_twists(m: Model, q: Any, twist: Any, acceleration: Any, parts: Parts) -> list[Any]:
    """C_V V and its rate for a frame that turns with V."""
    first, second = [], []
    for part in parts:
        R, turned = placement(m, q, m.frame(part.frame))[0], casadi.SX.sym("R", 3, 3)
        here = casadi.SX(part.rate(turned))
        change = casadi.jtimes(
            here @ twist, casadi.vec(turned), casadi.vec(casadi.skew(twist[:3]) @ turned)
        )
        pair = casadi.substitute([here, change], [turned], [casadi.densify(casadi.SX(R))])
        first.append(pair[0] @ twist)
        second.append(pair[0] @ acceleration + pair[1])
    return [casadi.densify(casadi.vertcat(*x)) for x in (first, second)]


def rate_rows(parts: Parts) -> int:
    """How many rates the parts have together."""
    return sum(part.rate_rows for part in parts)


def _closure(m: Model, parts: Parts) -> tuple[int]:
    return (len(row_names(m)),)


def _rates(m: Model, parts: Parts) -> tuple[int]:
    return (rate_rows(parts),)


OPTIONS: dict[str, Any] = {"parts": ()}
TWISTS = tuple(Argument(name, (6,), "components of a twist") for name in ("twist", "acceleration"))
ASKED = Formula(
    "target_rates", asked, (Q,),
    (Argument("A", lambda m, parts: (rate_rows(parts) + len(row_names(m)), m.nv)), Argument("ahead", _closure)),
    OPTIONS, rare=True,
)  # fmt: skip
DRIFT = Formula(
    "target_drift",
    drift,
    (Q, V),
    (Argument("drift", _rates), Argument("gamma", _closure)),
    OPTIONS,
    rare=True,
)
TURNING = Formula(
    "target_turning", turning, (Q, V, Argument("mu", lambda m, parts: (rate_rows(parts) + len(row_names(m)),))),
    (Argument("turned", lambda m, parts: (m.nv,)),), OPTIONS, rare=True,
)  # fmt: skip
OF_TWISTS = Formula(
    "rates_of_twists", of_twists, (Q, *TWISTS), (Argument("first", _rates), Argument("second", _rates)), OPTIONS,
    rare=True,
)  # fmt: skip
