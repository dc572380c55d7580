"""The plain iteration of Newton and Gauss on rotation invariants, step by step (Rojas, 3.3.1): to
be looked at.

`inverse_kinematics` is what finds configurations. It is damped and iterates on the error of the
rotation; here the equations are the thesis' own, with and without the redundant one of the trace,
and in single precision as the thesis ran them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from eslabon.answers import Answer, Block, Column, Panel, Table
from eslabon.arguments import Floats, choice, count, positive, states, text
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Formula
from eslabon.compiler.program import read
from eslabon.errors import InputError, ModelError, format_value
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.kinematics.tree import chain
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.numerics.subspaces import count_nonzero_values
from eslabon.solve.batches import flattened
from eslabon.solve.constraints.closed_configurations import around
from eslabon.solve.singular.conditions import scaled_twists
from eslabon.solve.target import checked_poses

Numbers = NDArray[Any]  # in single or in double precision

# the rows of 2 vect P, tr P - 3 and p, with that of the trace and without
ROWS = {"invariants": [0, 1, 2, 3, 4, 5, 6], "vector": [0, 1, 2, 4, 5, 6]}


@dataclass(frozen=True, eq=False, repr=False)
class Iterations(Answer):
    """An iteration, iterate by iterate; leading axes of the poses follow the first.

    Attributes
    ----------
    q : the iterates, (k + 1, ..., nq), the guess first. A pose that is reached stays as it is.
    residual : the norm of the equations at each, (k + 1, ...), lengths in units of the
        characteristic length.
    condition : the condition number of J at each, (k + 1, ...), of as many directions as the frame
        can move in.
    v, a : velocities and accelerations of the joints at the last iterate, where twist and
        acceleration were given.

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> found = m.newton_gauss(m.pose([0.3, 0.7, -2.6, 0.2, 0.8, 0.1]), guess=[0.3, 0.8, -2.5, 0.1, 0.7, 0.2])
    >>> bool(found.residual[-1] < 1e-12)
    True
    """

    q: Floats
    residual: Floats
    condition: Floats
    v: Floats | None = None
    a: Floats | None = None

    def contents(self) -> Iterator[Block]:
        worst = [
            x.reshape(len(x), -1).max(axis=1, initial=0.0) for x in (self.residual, self.condition)
        ]
        columns = (Column("iteration"), Column("residual"), Column("condition number"))
        rows = [(k, float(x), float(y)) for k, (x, y) in enumerate(zip(*worst, strict=True))]
        yield Table(columns, rows, "worst of all poses" if self.residual.ndim > 1 else "")
        if len(rows) > 1:
            steps = np.arange(len(rows), dtype=float)
            yield Panel("residual by iteration", steps, {"residual": worst[0]})

    def __repr__(self) -> str:
        residual = float(np.max(self.residual[-1], initial=0.0))
        condition = float(np.max(self.condition[-1], initial=0.0))
        told = f"condition number {condition:.2g}"
        if condition * np.finfo(float).eps > 1:
            told = "singular"
        return f"<Iterations: {len(self.q) - 1} steps, residual {residual:.2g}, {told}>"


def newton_gauss(
    m: Model,
    pose: ArrayLike,
    guess: ArrayLike | None = None,
    frame: str | None = None,
    *,
    twist: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    equations: str = "invariants",
    iterations: int = 20,
    tolerance: float = 1e-12,
    dtype: DTypeLike = float,
) -> Iterations:
    """Solve J dθ = -f, θ <- θ + dθ (eq. 3.3.1.10) with

        f = [2 vect P - 2 vect R; tr P - tr R; p - p*],   J = [(1 tr P - P) A; -2 vect(P)^T A; dp/dθ]   (3.3.1.9, 3.3.1.19)

    until the residual of a pose is not above the tolerance, and rates and accelerations from the
    same J (3.3.2, 3.3.3).
    """
    rows, most = ROWS[choice(equations, "equations", ROWS)], count(iterations, "iterations")
    number, tolerance = _arithmetic(dtype), positive(tolerance, "tolerance", zero=True)
    arm = Arm.of(m, None if frame is None else text(frame, "frame"), number)
    start = states(m.home() if guess is None else guess, "guess", m.nq, m.name)
    moved = {
        name: (states(x, name, 6, "a frame", "components"), 1)
        for name, x in (("twist", twist), ("acceleration", acceleration))
        if x is not None
    }
    if "acceleration" in moved and "twist" not in moved:
        raise InputError(
            "newton_gauss takes the acceleration of a frame together with its twist; give twist too."
        )
    lead, (q, target, *spatial) = flattened(
        guess=(start, 1), pose=(checked_poses(pose), 2), **moved
    )
    wanted, turned = arm.invariants(target.astype(number), rows)
    q, history = q.astype(number), []
    while True:
        f, S = arm.invariants(arm.pose(q), rows)
        f, factor = f - wanted, Factor.of(S @ arm.jacobian(q), arm.rank)
        history.append((q.astype(float), np.linalg.norm(f, axis=-1), factor.condition))
        far = history[-1][1] > tolerance
        if len(history) > most or not far.any():
            break
        q = np.where(far[:, None], arm.moved(q, factor.solve(-f)), q)
    rates = _rates(
        arm, q, turned, S, factor, [np.ascontiguousarray(x, dtype=number) for x in spatial]
    )
    found = (
        np.reshape(np.stack(x).astype(float), (len(x), *lead, *x[0].shape[1:]))
        for x in zip(*history, strict=True)
    )
    return Iterations(*found, *(x.astype(float).reshape((*lead, m.nv)) for x in rates))


class Factor(NamedTuple):
    """J = U diag(s) V^T for a batch of matrices, of which `rank` singular values are other than
    zero in general.

    Rojas takes Householder's triangle. The singular values are as orthogonal, and say besides how
    near the configuration is to a singular one, which of a triangle can only be estimated.
    """

    U: Numbers
    s: Numbers
    Vt: Numbers

    @staticmethod
    def of(J: Numbers, rank: int) -> Factor:
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        return Factor(*map(np.ascontiguousarray, (U[..., :rank], s[..., :rank], Vt[..., :rank, :])))

    @property
    def condition(self) -> Floats:
        """The largest singular value over the least: without bound at an intrinsic singularity
        (Rojas, 3.4)."""
        s = self.s.astype(float)
        return np.asarray(s[..., 0] / np.maximum(s[..., -1], s[..., 0] * np.finfo(float).tiny))

    def solve(self, b: Numbers) -> Numbers:
        """The least-squares solution of least norm; directions that are lost to round-off stay at
        rest."""
        kept = self.s > np.finfo(self.s.dtype).eps * self.s[..., :1]
        inverse = np.where(kept, 1 / np.where(kept, self.s, 1), 0).astype(self.s.dtype)
        along = inverse[..., None] * (np.swapaxes(self.U, -1, -2) @ b[..., None])
        return np.asarray((np.swapaxes(self.Vt, -1, -2) @ along)[..., 0])


@dataclass(frozen=True)
class Arm:
    """The joints that move a frame of a tree, and its kinematics in one arithmetic."""

    m: Model
    frame: str
    number: np.dtype[Any]
    length: float  # the unit of lengths
    rank: int  # directions in which the frame can move in general
    moving: tuple[int, ...]  # velocities that move it

    @staticmethod
    def of(m: Model, frame: str | None, number: np.dtype[Any]) -> Arm:
        if m.closed:
            raise ModelError(
                f"{m.name} has loops: m.assemble(pose=..., frame=...) brings a frame to a pose, and with continuation=True along "
                "the poses of a path."
            )
        chosen = chosen_frame(m, frame)
        moving = tuple(k for j in chain(m, chosen.body) for k in range(m.nv)[m.velocities[j.name]])
        if not moving:
            raise ModelError(f"{m.name}: no joint moves '{chosen.name}'.")
        directions = _rank_of_frame(m, chosen.name)
        length = float(characteristic_length(m))
        return Arm(m, chosen.name, number, length, directions, tuple(sorted(moving)))

    def pose(self, q: Numbers) -> Numbers:
        """The poses of the frame, (k, 4, 4)."""
        return self._call("pose", q)

    def jacobian(self, q: Numbers) -> Numbers:
        """Its Jacobians in aligned axes, by the velocities that move it."""
        J = self._call("jacobian", q, axes="aligned")
        return np.ascontiguousarray(J[..., list(self.moving)])

    def bias(self, q: Numbers, v: Numbers) -> Numbers:
        """Its accelerations by velocities alone, in aligned axes."""
        return self._call("acceleration", q, v, np.zeros_like(v), axes="aligned")

    def _call(self, name: str, *arrays: Numbers, **options: Any) -> Numbers:
        if self.number == np.float64:
            native = evaluate(self.m, quantity(self.m, name), frame=self.frame, **options)
            return np.asarray(native(*arrays))
        return _interpreted(self.m, name, self.frame, tuple(options.items()))(*arrays)

    def invariants(self, pose: Numbers, rows: list[int]) -> tuple[Numbers, Numbers]:
        """Rows of 2 vect P, tr P - 3 and p, (k, 7), and of the matrix S of their rates for a twist
        in aligned axes, (k, 7, 6): 1 tr P - P, -2 vect(P)^T and 1 (3.3.1.9, 3.3.1.19)."""
        P, p = pose[:, :3, :3], pose[:, :3, 3]
        turn = np.stack(
            [P[:, 2, 1] - P[:, 1, 2], P[:, 0, 2] - P[:, 2, 0], P[:, 1, 0] - P[:, 0, 1]], axis=-1
        )
        trace = P[:, 0, 0] + P[:, 1, 1] + P[:, 2, 2]
        length = self.number.type(self.length)
        f = np.concatenate([turn, (trace - self.number.type(3))[:, None], p / length], axis=-1)
        S = np.zeros((len(pose), 7, 6), dtype=self.number)
        S[:, :3, :3] = trace[:, None, None] * np.eye(3, dtype=self.number) - P
        S[:, 3, :3] = -turn
        S[:, 4:, 3:] = np.eye(3, dtype=self.number) / length
        # in one order in memory, so that a batch is rounded as its single calls are
        return np.ascontiguousarray(f[:, rows]), np.ascontiguousarray(S[:, rows])

    def velocities(self, moving: Numbers) -> Numbers:
        """Velocities of the whole mechanism from those that move the frame; the others are zero."""
        v = np.zeros((*moving.shape[:-1], self.m.nv), dtype=self.number)
        v[..., list(self.moving)] = moving
        return v

    def moved(self, q: Numbers, step: Numbers) -> Numbers:
        """Configurations a step further."""
        v = self.velocities(step)
        made = q + v if self.m.nq == self.m.nv else np.asarray(integrate(self.m, q, v))
        return made.astype(self.number)


@per_model
def _rank_of_frame(m: Model, frame: str) -> int:
    """In how many directions all joints together can move a frame in general."""
    J = scaled_twists(m, np.stack(list(around(m))), frame) / velocity_scales(m)
    return max(int(count_nonzero_values(np.linalg.svd(J, compute_uv=False)).max()), 1)


@per_model
def _interpreted(
    m: Model, name: str, frame: str, options: tuple[tuple[str, Any], ...]
) -> Callable[..., Numbers]:
    """A quantity of a frame, evaluated operation by operation in the precision of its arguments:
    native code is in double precision only."""
    formula: Formula = quantity(m, name)
    sizes = [m.nq, m.nv, m.nv][: len(formula.inputs)]
    symbols = [casadi.SX.sym(f"x{k}", n) for k, n in enumerate(sizes)]
    made = formula.function(m, *symbols, frame=frame, **dict(options))
    made = casadi.densify(made[0] if isinstance(made, list) else made)
    program = read(casadi.Function(name, symbols, [made]))
    columns = made.shape[1]

    def run(*arrays: Numbers) -> Numbers:
        number, k = arrays[0].dtype, len(arrays[0])
        out = np.zeros((k, made.numel()), dtype=number)
        values: list[Any] = []
        for step in program.instructions:
            match step.name:
                case "input":
                    value = arrays[step.place[0]][:, step.place[1]]
                case "const":
                    value = np.full(k, step.value, dtype=number)
                case "output":
                    value = values[step.args[0]]
                    out[:, step.place[1]] = value
                case _:
                    value = OPERATIONS[step.name](*(values[i] for i in step.args))
            values.append(value)
        return out.reshape(k, -1, columns) if columns > 1 else out

    return run


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sq": np.square,
    "twice": lambda x: x + x,
    "inv": np.reciprocal,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
}


def _rates(
    arm: Arm, q: Numbers, turned: Numbers, S: Numbers, factor: Factor, spatial: list[Numbers]
) -> list[Numbers]:
    """J v = S(R) V and J a = S(R) A - S(P) J' v: the target's own rotation stands on the right
    (3.3.2.9, 3.3.3.5)."""
    if not spatial:
        return []
    made = [arm.velocities(factor.solve(_times(turned, spatial[0])))]
    if len(spatial) > 1:
        right = _times(turned, spatial[1]) - _times(S, arm.bias(q, made[0]))
        made.append(arm.velocities(factor.solve(right)))
    return made


def _times(M: Numbers, b: Numbers) -> Numbers:
    return np.asarray((M @ b[..., None])[..., 0])


def _arithmetic(dtype: DTypeLike) -> np.dtype[Any]:
    """Single or double precision."""
    try:
        number = np.dtype(dtype)
    except TypeError:
        number = np.dtype(object)
    if number not in (np.float32, np.float64):
        raise InputError(
            f"dtype is float, or np.float32 for single precision; it is {format_value(dtype)}."
        )
    return number
