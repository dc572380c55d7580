"""From pose to pose in native code: loops and prescribed coordinates as one square system, Newton's
method, and the signs that tell branches from one another.

All rows and columns are comparable: lengths count in units of the characteristic length. The
Jacobian A falls into blocks that follow from one another, as the legs of a parallel robot do from
its platform (`map_blocks`). Newton's method solves block by block, and the signs of the blocks'
determinants tell a leg with its elbow on the left from one with it on the right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.frames import placement
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.formulas.small_matrices import triangular
from eslabon.model import Model
from eslabon.model.configuration import (
    coordinate_rates,
    coordinate_units,
    coordinate_velocities,
    normalize,
)
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.rotations import rotation_from_rpy
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import SINGULAR
from eslabon.solve.ranges import Ranges
from eslabon.solve.workspace.map_grid import PrescribedCoordinates
from eslabon.solve.workspace.pose_coordinates import POSITION, TURNS, plane_projections


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
    """The diagonal blocks of A: their rows, among those of all loops and then of what is
    prescribed, and their velocities."""

    rows: tuple[tuple[int, ...], ...] = ()
    columns: tuple[tuple[int, ...], ...] = ()

    @property
    def size(self) -> int:
        return sum(map(len, self.columns))


# -- what is prescribed ----------------------------------------------------------------------------


def prescribed_rows(
    m: Model, q: Expression, x: Expression, prescribed: PrescribedCoordinates
) -> tuple[Expression, Expression]:
    """Rows that vanish where all is as prescribed, and rows that vanish there too, but not where an
    angle is half a turn off."""
    values = casadi.vertsplit(x)
    value = dict(zip(prescribed.pose, values, strict=False))
    per_length, units = 1 / casadi.SX(characteristic_length(m)), coordinate_units(m)
    rows, checks = [], []
    if value:
        R, p = placement(m, q, m.frame(prescribed.frame))
        rows += [per_length * (p[k] - value[a]) for k, a in enumerate(POSITION) if a in value]
        if "angle" in value:
            cosine, sine = plane_projections(m, R)
            c, s = casadi.cos(value["angle"]), casadi.sin(value["angle"])
            rows.append(sine * c - cosine * s)
            checks.append(1 - cosine * c - sine * s)
        turned, half = turn_rows(R, {a: value[a] for a in TURNS if a in value})
        rows, checks = rows + turned, checks + half
    for k, y in zip(prescribed.joints, values[len(prescribed.pose) :], strict=True):
        rows.append((q[k] - y) * (per_length if units[k] == "m" else 1))
    return casadi.vertcat(*rows), casadi.vertcat(casadi.SX(0, 1), *checks)


def turn_rows(
    R: Expression, value: Mapping[str, Expression]
) -> tuple[list[Expression], list[Expression]]:
    """The same for those of roll, pitch and yaw that are prescribed: a row for each, smooth in R.

    All three are a rotation, and its error E = R R_d^T has the vector of sines. Roll and pitch are
    the direction of the ground's z in the frame, pitch and yaw that of the frame's x on the ground:
    both are sound at a pitch of 90 degrees too.
    """
    c = {name: casadi.cos(x) for name, x in value.items()}
    s = {name: casadi.sin(x) for name, x in value.items()}
    match tuple(value):
        case ("roll", "pitch", "yaw"):
            E = R @ casadi.SX(rotation_from_rpy(casadi.vertcat(*value.values()))).T
            sines = [(E[2, 1] - E[1, 2]) / 2, (E[0, 2] - E[2, 0]) / 2, (E[1, 0] - E[0, 1]) / 2]
            return sines, [(3 - casadi.trace(E)) / 2]
        case ("roll", "pitch"):
            return _direction_rows(
                [R[2, 1], R[2, 2], -R[2, 0]], (c["roll"], s["roll"]), (c["pitch"], s["pitch"])
            )
        case ("pitch", "yaw"):
            return _direction_rows(
                [R[1, 0], R[0, 0], -R[2, 0]], (c["yaw"], s["yaw"]), (c["pitch"], s["pitch"])
            )
    rows, checks = [], []
    for name, sine, cosine in (("roll", R[2, 1], R[2, 2]), ("yaw", R[1, 0], R[0, 0])):
        if name in value:
            rows.append(sine * c[name] - cosine * s[name])
            ahead = sine * s[name] + cosine * c[name]  # the cosine of the pitch, if all is well
            checks.append(ahead < SINGULAR)
    if "pitch" in value:
        rows.append(-R[2, 0] - s["pitch"])
    return rows, checks


def _direction_rows(
    direction: list[Expression],
    turn: tuple[Expression, Expression],
    pitch: tuple[Expression, Expression],
) -> tuple[list[Expression], list[Expression]]:
    """Rows of a unit vector (cos p sin a, cos p cos a, sin p) with pitch p and another angle a, each
    given by its cosine and sine: its parts along both derivatives of the wanted one."""
    (c, s), (cp, sp) = turn, pitch
    u, v, w = direction
    along = s * u + c * v
    return [c * u - s * v, cp * w - sp * along], [1 - cp * along - sp * w]


# -- the system ------------------------------------------------------------------------------------


def system(
    m: Model, q: Expression, x: Expression, prescribed: PrescribedCoordinates
) -> tuple[Expression, Expression, Expression]:
    """Residuals of the loops and of what is prescribed, their Jacobian A by comparable velocities,
    and what must vanish besides."""
    r, checks = prescribed_rows(m, q, x, prescribed)
    phi, J, *_ = equations(m, q, None, tuple(range(len(row_names(m)))))
    slope = casadi.mtimes(casadi.jacobian(r, q), coordinate_rates(m, q))
    A = casadi.mtimes(casadi.vertcat(J, slope), casadi.diag(1 / _scales(m)))
    return casadi.vertcat(phi, r), A, checks


def slopes(
    m: Model, q: Expression, x: Expression, prescribed: PrescribedCoordinates
) -> list[Expression]:
    """A of all rows, and the derivative of what is prescribed by its values."""
    _, A, _ = system(m, q, x, prescribed)
    rows, _ = prescribed_rows(m, q, x, prescribed)
    return [casadi.densify(A), casadi.densify(casadi.jacobian(rows, x))]


def newton(
    m: Model, q: Expression, x: Expression, prescribed: PrescribedCoordinates, blocks: Blocks
) -> list[Expression]:
    """Steps of Newton's method towards prescribed values: where they lead, what was missing before
    the last one, how far that went, how far all went together and the first alone, and the signs of
    the blocks' determinants as a binary number.

    After a last step of size s the error is of the order of its square.
    """
    step = subroutine("map_step", lambda q, x: _step(m, q, x, prescribed, blocks), m.nq, x.shape[0])
    total = casadi.SX.zeros(m.nv)
    first = residual = last = code = casadi.SX(0)
    for k in range(SETTINGS.steps):
        q, v, residual, code = step(q, x)
        total, last = total + v, _largest(v)
        first = last if k == 0 else first
    return [q, residual, last, _largest(total), first, code]


def _step(
    m: Model, q: Expression, x: Expression, prescribed: PrescribedCoordinates, blocks: Blocks
) -> list[Expression]:
    """The next configuration, the comparable velocities that lead there, what is missing here, and
    the signs of the blocks here."""
    r, A, checks = system(m, q, x, prescribed)
    v, code = casadi.SX.zeros(m.nv), casadi.SX(0)
    for k, (rows, columns) in enumerate(zip(blocks.rows, blocks.columns, strict=True)):
        known = -r[list(rows)] - casadi.mtimes(A[list(rows), :], v)
        factors = triangular(A[list(rows), list(columns)], known)
        v[list(columns)] = factors.solution()
        code = code + 2.0**k * (factors.sign > 0)
    v = v / casadi.fmax(1.0, _largest(v) / SETTINGS.longest)
    following = casadi.SX(normalize(m, q + coordinate_velocities(m, q, v / _scales(m))))
    missing = _largest(casadi.vertcat(r, checks))
    return [casadi.densify(following), casadi.densify(v), missing, code]


def _scales(m: Model) -> Expression:
    return casadi.SX(velocity_scales(m))


def _largest(x: Expression) -> Expression:
    return casadi.mmax(casadi.fabs(casadi.densify(x)))


def features(m: Model, q: Expression) -> Expression:
    """What configurations that differ by passive motions alone have in common: the actuated joints'
    coordinates, and where all joints and loops stand, in units of L."""
    placed, turning = placements(m, q), Ranges.of(m.nominal).turning
    per_length, units = 1 / casadi.SX(characteristic_length(m)), coordinate_units(m)
    rows = []
    for k in (k for name in m.actuated for k in range(m.nq)[m.coordinates[name]]):
        if turning[k]:
            rows += [casadi.cos(q[k]), casadi.sin(q[k])]
        else:
            rows.append(q[k] * per_length if units[k] == "m" else q[k])
    places = [on_body(placed, joint.parent, joint.at)[1] for joint in m.joints]
    places += [on_body(placed, loop.second.body, loop.second.at)[1] for loop in m.loops]
    rows += [per_length * casadi.vec(casadi.SX(p)) for p in places]
    return casadi.densify(casadi.vertcat(*rows))


X = Argument("x", lambda m, prescribed, **_: (prescribed.size,))
SLOPES = Formula(
    "map_slopes",
    slopes,
    (Q, X),
    (Argument("A", None), Argument("by_values", None)),
    {"prescribed": PrescribedCoordinates()},
    rare=True,
)
NEWTON = Formula(
    "map_newton",
    newton,
    (Q, X),
    (
        Argument("q", lambda m, **_: (m.nq,)),
        *(Argument(name, ()) for name in ("residual", "last", "moved", "first", "code")),
    ),
    {"prescribed": PrescribedCoordinates(), "blocks": Blocks()},
    rare=True,
)
FEATURES = Formula("map_features", features, (Q,), (Argument("features", None),), rare=True)
