"""The two closed chains with which the thesis checks its inverse kinematics: the 7R loop and the Hexiflex."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import eslabon as es
from eslabon.formulas.kinematics.closure import constraint
from eslabon.mechanism import Floats
from eslabon.numerics.scalars import casadi
from eslabon.reproductions.comparison import THESIS, Row, Section
from eslabon.reproductions.verdicts import greatest, statement
from eslabon.solve.target import Target

# 120, 180 and 240 degrees of the 7R loop and -120 and 120 of the Hexiflex are singular and left out.
SEVEN = np.radians(np.r_[122:180:2, 182:239:2])
HEXIFLEX = np.radians(np.r_[-115:116:5])
RATE, CHANGE = 0.7, -0.4  # of the input, in rad/s and rad/s²: any will do
# rad by which every start is off the closed form, so that there is something to solve; at 138 degrees
# another solution of the 6R chain is 0.042 rad away
OFF = 0.01


def motion_of(f: Any, x: Any, at: Floats) -> tuple[Floats, Floats, Floats]:
    """f(x), its rate and the rate of that, while x moves with RATE and CHANGE."""
    import sympy

    slopes = [f, sympy.diff(f, x), sympy.diff(f, x, 2)]
    value, first, second = (
        np.broadcast_to(sympy.lambdify(x, e, "numpy")(at), at.shape) for e in slopes
    )
    return value, first * RATE, second * RATE**2 + first * CHANGE


def worst(found: Floats, wanted: Any) -> float:
    return greatest(found - wanted)


def gap(name: str, q: Floats) -> float:
    """By how much given configurations violate the loop closure of a mechanism, in metres and radians."""
    m = es.load(name)
    x = casadi.SX.sym("q", m.nq)
    phi = casadi.Function("closure", [x], [casadi.SX(constraint(m, x))])
    return greatest(phi(q.T).full())


# -- 3.3.3 ------------------------------------------------------------------------------------------------------------


def seven_motion() -> tuple[Floats, Floats, Floats]:
    """q, v and a of the six joints in closed form."""
    import sympy

    theta = sympy.Symbol("theta1", real=True)
    second = sympy.acos(-sympy.Rational(3, 2) / sympy.cos(theta) - 2)  # eq. 3.3.3.7
    columns = [
        motion_of(f, theta, SEVEN) for f in (theta, second, -second, 2 * theta, second, -second)
    ]
    q, v, a = (np.stack(rows, axis=-1) for rows in zip(*columns, strict=True))
    return q, v, a


def seven() -> Section:
    q, v, a = seven_motion()
    chain, pose, twist, change = six_joint_task()
    found = chain.complete(Target(pose=pose), twist, change, q + OFF, limits=False)
    angles, rates, accelerations = found
    c1, c2 = np.cos(angles[:, 0]), np.cos(angles[:, 1])
    many = f"worst of {len(SEVEN)} configurations"
    rows: list[Row] = [
        statement("relation 3.3.3.7", "(2 + C2) C1 = -1.5", many, worst((2 + c2) * c1, -1.5)),
        statement("symmetry", "theta1 = theta7", many, worst(angles[:, 0], SEVEN)),
        statement("symmetry", "theta2 = -theta3", many, worst(angles[:, 1], -angles[:, 2])),
        statement(
            "symmetry",
            "theta2 = theta5 = -theta6",
            many,
            worst(angles[:, 4:] * [1, -1], angles[:, [1, 1]]),
        ),
        statement("symmetry", "theta4 = 2 theta1", many, worst(angles[:, 3], 2 * angles[:, 0])),
        statement("rates, rad/s", "3.3.3.7 differentiated", many, worst(rates, v)),
        statement(
            "accelerations, rad/s²", "3.3.3.7 differentiated twice", many, worst(accelerations, a)
        ),
        statement(
            "the closed loop, m and rad", "closes on that branch", many, gap("rojas_7r_loop", q)
        ),
    ]
    text = (
        "3.3.3 (L1132): lengths 1, 1, 1, 1, 1, 1, 3, no offsets. As in the thesis it is solved as the inverse problem "
        "of a 6R chain, whose hand is to stand at R = Rz(-theta7), p = (-3, 0, 0), by "
        "`m.complete` from starts 0.01 rad off. theta1 goes from 122 to 238 degrees; it is "
        "singular at 120, 180 and 240. Tolerance 1e-9: the solver stops at 1e-10. The thesis' curves of errors are lost."
    )
    return Section("3.3.3 The 7R loop in closed form", text, tuple(rows), THESIS)


def six_joint_task() -> tuple[es.Mechanism, Floats, Floats, Floats]:
    """The 6R chain, and the pose, twist and acceleration of its hand for theta7 = theta1."""
    m = es.load("rojas_7r_loop")
    chain = es.Mechanism(replace(m.description, loops=(), actuated=()))
    pose = np.zeros((len(SEVEN), 4, 4))
    pose[:, :3, :3] = es.algebra.rotation_z(-SEVEN)
    pose[:, :, 3] = (-3, 0, 0, 1)
    twist = np.broadcast_to([0, 0, -RATE, 0, 0, 0], (len(SEVEN), 6))
    change = np.broadcast_to([0, 0, -CHANGE, 0, 0, 0], (len(SEVEN), 6))
    return chain, pose, twist, change


# -- 3.5.2 ------------------------------------------------------------------------------------------------------------


def hexiflex() -> Section:
    import sympy

    angle = sympy.Symbol("beta", real=True)
    first = sympy.acos(1 / (1 + sympy.cos(angle)) - 1)  # eq. 3.5.2.7 with theta2 = beta
    columns = [motion_of(f, angle, HEXIFLEX) for f in (first, angle, first, angle, first)]
    q, v, a = (np.stack(rows, axis=-1) for rows in zip(*columns, strict=True))
    angles, rates, accelerations = _five_joints(q + OFF)
    c1, c2 = np.cos(angles[:, 0]), np.cos(angles[:, 1])
    many = f"worst of {len(HEXIFLEX)} configurations"
    loop = np.column_stack([q[:, :4], HEXIFLEX])
    rows = [
        statement(
            "relation 3.5.2.7", "(1 + C1)(1 + C2) = 1", many, worst((1 + c1) * (1 + c2), 1.0)
        ),
        statement("angles, rad", "3.5.2.7 with theta2 = beta", many, worst(angles, q)),
        statement("rates, rad/s", "3.5.2.7 differentiated", many, worst(rates, v)),
        statement(
            "accelerations, rad/s²", "3.5.2.7 differentiated twice", many, worst(accelerations, a)
        ),
        statement(
            "the closed loop, m and rad",
            "closes with that relation",
            many,
            gap("rojas_hexiflex", loop),
        ),
    ]
    text = (
        "3.5.2 (L1245): five unit links whose last one passes through P = (-(1 + cos beta), 0, -sin beta) and "
        "P' = (-1, 0, 0), solved by two points of the tool line. The twists are not printed; -90, 90, -90, 90, -90 "
        "degrees are inferred, as the one pattern of right angles that gives the printed P. beta goes from -115 to "
        "115 degrees; it is singular at -120 and 120. Tolerance 1e-9, as above."
    )
    return Section("3.5.2 The Hexiflex in closed form", text, tuple(rows), THESIS)


def _five_joints(guess: Floats) -> tuple[Floats, Floats, Floats]:
    """Angles, rates and accelerations of the 5R chain by the two points of the tool line."""
    chain = es.from_dh(
        [(0, 0, 1, sign * 90) for sign in (-1, 1, -1, 1, -1)], degrees=True, name="hexiflex_chain"
    )
    c, s = np.cos(HEXIFLEX), np.sin(HEXIFLEX)
    ends, velocity, acceleration = np.zeros((3, len(HEXIFLEX), 2, 3))
    ends[:, 0, 0], ends[:, 0, 2], ends[:, 1, 0] = -(1 + c), -s, -1
    velocity[:, 0, 0], velocity[:, 0, 2] = s * RATE, -c * RATE  # P' stays
    acceleration[:, 0, 0] = c * RATE**2 + s * CHANGE
    acceleration[:, 0, 2] = s * RATE**2 - c * CHANGE
    target = Target(points=[(-1, 0, 0), (0, 0, 0)], places=ends)
    first, second = (x.reshape(len(HEXIFLEX), 6) for x in (velocity, acceleration))
    return chain.complete(target, first, second, guess)
