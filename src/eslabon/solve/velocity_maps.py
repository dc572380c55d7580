"""How all velocities follow from those of the actuated joints (Yime, eqs. 30-36 and 41-46).

On a closed chain the actuated velocities va determine all others: v = N(q) va. The rows of N that
belong to passive joints are Yime's rho = -Phi_pas^# Phi_act (eqs. 32 and 44), the others are those
of the identity. Accelerations are a = N aa + N' va, where N' va follows from gamma, the right-hand
side of J a = gamma (eqs. 33-36). The twist of a link is V = J_i va, J_i being the link's Jacobian
by the actuated velocities (eqs. 41, 45 and 46).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eslabon.answers import Answer, Block, Column, Message, Table
from eslabon.arguments import Floats, choice, names, states
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import SINGULAR_CHOICES, ModelError, report_singularity
from eslabon.formulas.inputs import Q, V
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.model.memory import per_model
from eslabon.model.scale import row_scales, velocity_scales
from eslabon.numerics.tolerances import RANK, ROUND_OFF, SINGULAR
from eslabon.solve.batches import flattened
from eslabon.solve.constraints.closed_configurations import generic, jacobian_at
from eslabon.solve.constraints.closure_violation import check_closed
from eslabon.solve.constraints.independent_coordinates import velocities_of
from eslabon.solve.mobility.closed_branches import surroundings
from eslabon.solve.mobility.closed_chains import Network
from eslabon.solve.mobility.passive_motions import passive_motions

PASSIVE = ("refuse", "minimum_norm")


@dataclass(frozen=True, eq=False, repr=False)
class ActuationMap(Answer):
    """The map from the velocities of the actuated joints to all velocities.

    Attributes
    ----------
    velocities, actuated : tuple of str
        The names of all velocities, and of those that are given.
    N : ndarray
        v = N va, (..., nv, nu).
    condition : ndarray
        The reciprocal condition number of the passive columns of the closure Jacobian, (...): zero
        at a singular configuration, where the others do not follow from the actuated velocities.
    gamma : ndarray, optional
        The right-hand side of J a = gamma for the given velocities (Yime, eq. 34), (..., rows), J
        being `constraint_jacobian`.
    rate : ndarray, optional
        N' va for the given velocities, (..., nv): the accelerations are a = N aa + rate.
    """

    velocities: tuple[str, ...]
    actuated: tuple[str, ...]
    N: Floats
    condition: Floats
    gamma: Floats | None = None
    rate: Floats | None = None
    _passive: tuple[int, ...] = field(default=(), repr=False)

    @property
    def passive(self) -> tuple[str, ...]:
        """The names of the velocities that follow from the actuated ones."""
        return tuple(self.velocities[k] for k in self._passive)

    @property
    def rho(self) -> Floats:
        """The rows of N of the passive velocities: v_passive = rho va (Yime, eqs. 32 and 44)."""
        return self.N[..., list(self._passive), :]

    def contents(self) -> Iterator[Block]:
        if self.N.ndim > 2:
            lead = " x ".join(map(str, self.N.shape[:-2]))
            yield Message(f"v = N va at {lead} configurations; N has shape {self.N.shape}.")
            return
        columns = (Column("velocity"), *(Column(f"by {name}") for name in self.actuated))
        rows = [(name, *map(float, row)) for name, row in zip(self.velocities, self.N, strict=True)]
        yield Table(columns, rows)

    def __repr__(self) -> str:
        return f"<ActuationMap: v = N va, N {self.N.shape}; by {', '.join(self.actuated)}>"


def actuation_map(
    m: Model,
    q: Any,
    va: Any = None,
    *,
    joints: Sequence[str] | None = None,
    passive: str = "refuse",
    singular: str = "error",
) -> ActuationMap:
    """N with v = N va at closed configurations q (..., nq), and with `va` also gamma and N' va.

    `joints` are the joints whose velocities are given, by default the actuated ones. Motions that
    they do not determine are refused, or are the least possible with passive="minimum_norm". The
    spin of a rod between two balls moves nothing else, and is always the least possible.
    `singular` ("error", "warn" or "ignore") says how to treat singular configurations; there the
    minimum-norm map is returned if it is not an error.
    """
    choice(passive, "passive", PASSIVE)
    choice(singular, "singular", SINGULAR_CHOICES)
    fixed = (
        m.actuated_velocities
        if joints is None
        else velocities_of(m, names(joints, "joints"), "joints")
    )
    free = tuple(k for k in range(m.nv) if k not in fixed)
    _refuse_undetermined(m, fixed, free, passive)
    given = {"configurations": (states(q, "q", m.nq, m.name), 1)}
    known = [velocity_names(m)[k] for k in fixed]
    if va is not None:
        owner = ", ".join(known) or "no joint"
        given["velocities"] = (states(va, "va", len(fixed), owner, "velocities"), 1)
    lead, (flat, *rates) = flattened(**given)
    check_closed(m, flat, "actuation_map")
    solved = _passive_equations(m, flat, fixed, free)
    if not np.all(solved.condition > SINGULAR):
        report_singularity(
            singular,
            f"{m.name} is at a singular configuration for {', '.join(known) or 'no joint'}: the "
            "other velocities do not follow from theirs; take another configuration, or give other "
            "joints.",
        )
    N = solved.map()
    gamma, rate = solved.accelerations((N @ rates[0][..., None])[..., 0]) if rates else (None, None)
    return ActuationMap(
        tuple(velocity_names(m)),
        tuple(known),
        N.reshape(*lead, m.nv, len(fixed)),
        solved.condition.reshape(lead),
        None if gamma is None else gamma.reshape(*lead, gamma.shape[-1]),
        None if rate is None else rate.reshape(*lead, m.nv),
        free,
    )


def link_jacobian(
    m: Model, q: Any, body: str | None = None, axes: str = "body", **options: Any
) -> Floats:
    """The Jacobian J_i of a link, or of a frame, by the actuated velocities: V_i = J_i va (Yime,
    eqs. 41, 45 and 46), (..., 6, nu); options are those of `actuation_map`."""
    found = actuation_map(m, q, **options)
    J = evaluate(m, quantity(m, "jacobian"), frame=body, axes=axes)(np.asarray(q, dtype=float))
    return np.asarray(J @ found.N)


@dataclass(frozen=True, eq=False)
class _PassiveEquations:
    """The closure equations J v = 0 at configurations (k, nq), solved for the passive velocities.

    Attributes
    ----------
    fixed, free : the places of the given velocities and of the others.
    J : the closure Jacobian, in comparable rows.
    inverse : the pseudoinverse of its passive columns.
    condition : the reciprocal condition number of these columns.
    """

    m: Model
    q: Floats
    fixed: list[int]
    free: list[int]
    J: Floats
    inverse: Floats
    condition: Floats

    def map(self) -> Floats:
        """N: the identity for the given velocities, rho for the others."""
        N = np.zeros((len(self.q), self.m.nv, len(self.fixed)))
        N[:, self.fixed, range(len(self.fixed))] = 1.0
        N[:, self.free] = -self.inverse @ self.J[:, :, self.fixed]
        return N

    def accelerations(self, v: Floats) -> tuple[Floats, Floats]:
        """gamma, and all accelerations where the given joints have none."""
        closed = bool(self.m.closed and self.m.nv)
        gamma = evaluate(self.m, CLOSURE_GAMMA)(self.q, v) if closed else self.J.sum(axis=-1)
        rate = np.zeros_like(v)
        rate[:, self.free] = (self.inverse @ gamma[..., None])[..., 0]
        return gamma / row_scales(self.m), rate


def _passive_equations(
    m: Model, q: Floats, fixed: tuple[int, ...], free: tuple[int, ...]
) -> _PassiveEquations:
    J, number = jacobian_at(m, q), _ranks(m, free)[1]
    scale = velocity_scales(m)[list(free)]
    U, s, Vt = np.linalg.svd(J[:, :, list(free)] / scale, full_matrices=False)
    largest = s.max(axis=-1, initial=0.0)
    condition = np.ones(len(q))
    if number:
        condition = s[:, number - 1] / np.maximum(largest, ROUND_OFF)
    kept = (np.arange(s.shape[-1]) < number) & (s > SINGULAR * largest[:, None])
    gains = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    inverse = np.swapaxes(Vt, -1, -2) @ (gains[..., None] * np.swapaxes(U, -1, -2))
    return _PassiveEquations(m, q, list(fixed), list(free), J, inverse / scale[:, None], condition)


def closure_gamma(m: Model, q: Any, v: Any) -> Any:
    """gamma of every row of the closure equations."""
    return equations(m, q, v, tuple(range(len(row_names(m))))).gamma


CLOSURE_GAMMA = Formula(
    "closure_gamma",
    closure_gamma,
    (Q, V),
    (Argument("gamma", lambda m: (len(row_names(m)),)),),
    rare=True,
)


@per_model
def _ranks(m: Model, free: tuple[int, ...]) -> tuple[int, int]:
    """The ranks of the closure Jacobian and of its passive columns where the mechanism is not
    singular."""
    J = jacobian_at(m, generic(m)) / velocity_scales(m)

    def rank(A: Floats) -> int:
        s = np.linalg.svd(A, compute_uv=False)
        return int(np.sum(s > RANK * max(float(s.max(initial=0.0)), ROUND_OFF)))

    return rank(J), rank(J[:, list(free)])


def _refuse_undetermined(
    m: Model, fixed: tuple[int, ...], free: tuple[int, ...], passive: str
) -> None:
    """Refuse given velocities that do not determine the others, or that depend on one another."""
    whole, own = _ranks(m, free)
    given = ", ".join(velocity_names(m)[k] for k in fixed) or "no velocity"
    if whole > own:
        raise ModelError(
            f"{given} of {m.name} cannot all be given: its loops leave {len(fixed) - whole + own} "
            f"of these {len(fixed)} independent; name so many of them in joints."
        )
    left = len(free) - own
    if not left or passive == "minimum_norm":
        return
    spins = len(passive_motions(surroundings(m).generic.screws, Network(m)))
    if left > spins:
        J = jacobian_at(m, generic(m))[:, list(free)]
        motion = np.abs(np.linalg.svd(J)[2][-1]) if J.size else np.ones(len(free))
        name = velocity_names(m)[free[int(motion.argmax())]]
        more = "degree of freedom stays" if left == 1 else "degrees of freedom stay"
        raise ModelError(
            f"{given} do{'es' * (len(fixed) < 2)} not determine the motion of {m.name}: {left} "
            f"{more} open, such as that of '{name}'; name more in joints, or pass "
            "passive='minimum_norm'."
        )
