"""Newton's method for problems that determine a mechanism, block by block, and the signs that tell
branches from one another.

The Jacobian A of a square problem falls into blocks that follow from one another, as the legs of a
parallel robot do from its platform (`workspace.map_blocks`). Newton's method solves block by block,
and the signs of the blocks' determinants tell a leg with its elbow on the left from one with it on
the right.
"""

from __future__ import annotations

from dataclasses import dataclass

from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.frames import placement
from eslabon.formulas.small_matrices import triangular
from eslabon.model import Model
from eslabon.model.configuration import normalize
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.kernels import OPTIONS, X, equations, moved, per_speed, target_errors
from eslabon.solve.problem import Problem


@dataclass(frozen=True)
class NewtonSettings:
    """Newton's method from pose to pose.

    Attributes
    ----------
    steps : in one native call.
    longest : what a joint moves in one step at most, in radians or lengths over L.
    """

    steps: int = 3
    longest: float = 0.6


SETTINGS = NewtonSettings()


@dataclass(frozen=True)
class Blocks:
    """The diagonal blocks of A: their rows, among those of all loops and then of the problem, and
    their velocities."""

    rows: tuple[tuple[int, ...], ...] = ()
    columns: tuple[tuple[int, ...], ...] = ()

    @property
    def size(self) -> int:
        return sum(map(len, self.columns))


def slopes(m: Model, q: Expression, x: Expression, problem: Problem) -> list[Expression]:
    """A of all rows, and the derivative of the problem's rows by their values."""
    A = per_speed(m, equations(m, q, x, problem).J)
    errors = target_errors(m, q, x, problem).r
    return [casadi.densify(A), casadi.densify(casadi.jacobian(errors, x))]


def newton(
    m: Model, q: Expression, x: Expression, problem: Problem, blocks: Blocks
) -> list[Expression]:
    """Steps of Newton's method towards the value x: where they lead, what was missing before the
    last one, how far that went, how far all went together and the first alone, and the signs of the
    blocks' determinants as a binary number.

    After a last step of size s the error is of the order of its square.
    """
    step = subroutine("block_step", lambda q, x: _step(m, q, x, problem, blocks), m.nq, x.shape[0])
    total = casadi.SX.zeros(m.nv)
    first = residual = last = code = casadi.SX(0)
    for k in range(SETTINGS.steps):
        q, s, residual, last, code = step(q, x)
        total = total + s
        first = last if k == 0 else first
    return [q, residual, last, _largest(total), first, code]


def _step(
    m: Model, q: Expression, x: Expression, problem: Problem, blocks: Blocks
) -> list[Expression]:
    """The next configuration, the comparable velocities that lead there, what is missing here, the
    largest motion, and the signs of the blocks here. Held coordinates move with the others, along
    the tangent."""
    r, J = equations(m, q, x, problem)
    A, s, code = per_speed(m, J), casadi.SX.zeros(m.nv), casadi.SX(0)
    held, places = problem.velocities(m), problem.coordinates(m)
    if held:
        s[held] = (x[: len(held)] - q[places]) * casadi.SX(velocity_scales(m))[held]
    missing = _largest(casadi.vertcat(r, s, *_half_turns(m, q, x, problem)))
    for k, (rows, columns) in enumerate(zip(blocks.rows, blocks.columns, strict=True)):
        known = -r[list(rows)] - casadi.mtimes(A[list(rows), :], s)
        factors = triangular(A[list(rows), list(columns)], known)
        s[list(columns)] = factors.solution()
        code = code + 2.0**k * (factors.sign > 0)
    after, s, motion = moved(m, q, s, SETTINGS.longest)
    after = casadi.SX(normalize(m, after))
    return [casadi.densify(after), casadi.densify(s), missing, motion, code]


def _half_turns(m: Model, q: Expression, x: Expression, problem: Problem) -> list[Expression]:
    """Rows that do not vanish where an angle is half a turn off."""
    pairs = problem.values_of(m, x)
    return [y.half_turns(placement(m, q, m.frame(y.frame)).R, value) for y, value in pairs]


def _largest(x: Expression) -> Expression:
    return casadi.mmax(casadi.fabs(casadi.densify(x)))


SLOPES = Formula(
    "slopes",
    slopes,
    (Q, X),
    (Argument("A", None), Argument("by_values", None)),
    OPTIONS,
    rare=True,
)
NEWTON = Formula(
    "block_newton",
    newton,
    (Q, X),
    (
        Argument("q", lambda m, **_: (m.nq,)),
        *(Argument(name, ()) for name in ("residual", "last", "moved", "first", "code")),
    ),
    {**OPTIONS, "blocks": Blocks()},
    rare=True,
)
