"""What is wrong or lost in the paper's print, each shown by numbers where it can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import eslabon as es
from eslabon.export.operation_counts import count
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.numerics import (
    quaternion_about,
    quaternion_conjugate,
    quaternion_from_vector,
    quaternion_product,
    quaternion_rotate,
    rotation_from_quaternion,
    vector_part,
)
from eslabon.numerics.scalars import casadi
from eslabon.reproductions.comparison import Exhibit, Row, Section
from eslabon.reproductions.mendez.chains import apart, random_chain
from eslabon.reproductions.verdicts import erratum, statement

NOTATION = (
    ("2", "(11), (12)", "P_v, Q_v", "the vector parts of P_1 and P_2"),
    ("5", "(19)", "the number stands twice", "acceleration L192, Lagrangian L204"),
    ("7", "L235", "y_1 = (v_x, ...)", "the direction is v"),
    (
        "14",
        "L268",
        "local and global P_1, P_2",
        "the global second one turns about the turned axis (13)",
    ),
    ("15", "(28)", "tau_i = a vector", "tau"),
    ("16", "L45", "(R^4, *) is a group", "without the zero quaternion"),
    ("17", "Figs. 3, 4", "the caption of Fig. 2", "inertia axes; the two-bar arm"),
    ("18", "title", "a planar example", "no parameter values and no result are given"),
)


def sections() -> tuple[Section, ...]:
    return shown(), efficiency()


def shown() -> Section:
    rows = (*_kinematic(), *_inertial(), *_planar())
    text = (
        "Formulas as printed and as they must read; ' is a dot, ~ a conjugate, rho(p, u) = p u p~. The difference is the error "
        "of the formula as printed, relative, against eslabon's compiled kinematics and energies; the corrected formulas are "
        "put to the same test and pass it (1e-9). Chains of two and four random bodies, and mendez_2r at home."
    )
    listed = Exhibit(("no.", "where", "printed", "meant"), NOTATION, "Notation and omissions")
    return Section(
        "Errata", text, rows, ("no. and place", "as printed", "as it must read"), (listed,)
    )


# -- kinematics -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turned:
    """A random chain in a configuration, with what the paper's formulas are made of: L_m, w_i, alpha_i and the quaternions."""

    m: es.Mechanism
    q: Floats
    v: Floats
    a: Floats
    base: Floats
    links: list[Floats]
    axes: list[Floats]
    quaternions: list[Floats]

    @classmethod
    def of(cls, n: int, seed: int) -> Turned:
        rng = np.random.default_rng(seed)
        m = random_chain(rng, ["revolute"] * n)
        rest = m.neutral()
        places = [m.pose(rest, f"body{k}") for k in range(1, n + 1)]
        origins = [T[:3, 3] for T in places] + [m.pose(rest, "tip")[:3, 3]]
        directions = [np.array(j.kind.axes[0], dtype=float) for j in m.joints]
        axes = [T[:3, :3] @ u / np.linalg.norm(u) for T, u in zip(places, directions, strict=True)]
        q, v, a = rng.normal(size=(3, n))
        whole, turned, quaternions = np.array([1.0, 0.0, 0.0, 0.0]), [], []
        for u, angle in zip(axes, q, strict=True):
            turned.append(quaternion_rotate(whole, u))
            whole = quaternion_product(quaternion_about(turned[-1], angle), whole)
            quaternions.append(whole)
        links = [second - first for first, second in pairwise(origins)]
        return cls(m, q, v, a, origins[0], links, turned, quaternions)

    def reach(self) -> list[Floats]:
        """L_m = rho(P_m ... P_1, l_m)."""
        return [quaternion_rotate(p, l) for p, l in zip(self.quaternions, self.links, strict=True)]

    def motion(self) -> tuple[Floats, Floats]:
        """Velocity and acceleration of the tip as compiled."""
        v = self.m.velocity(self.q, self.v, "tip", axes="aligned")[3:]
        return v, self.m.acceleration(self.q, self.v, self.a, "tip", axes="aligned")[3:]


def _kinematic() -> list[Row]:
    two, four = Turned.of(2, 1), Turned.of(4, 4)
    L, u, (velocity, _) = two.reach(), two.axes, two.motion()

    def eq14(rate: Floats) -> Floats:
        w = [r * x for r, x in zip(rate, u, strict=True)]
        return np.cross(w[0], L[0]) + np.cross(w[1], L[1]) + np.cross(w[0], L[1])

    pairs = list(zip(four.quaternions, four.links, strict=True))
    position = four.m.pose(four.q, "tip")[:3, 3]

    def eq17(right: Callable[[Floats], Floats]) -> Floats:
        parts = [
            quaternion_product(quaternion_product(p, quaternion_from_vector(l)), right(p))
            for p, l in pairs
        ]
        return four.base + sum((vector_part(x) for x in parts), np.zeros(3))

    acceleration = four.motion()[1]
    return [
        erratum(
            "1 (14) L130", "f1 u1 x L1 + f2 u2 x L2 + f1 u1 x L2", "f1' u1 x L1 + f2' u2 x L2 + f1' u1 x L2",
            (apart(eq14(two.q), velocity), apart(eq14(two.v), velocity)),
        ),
        erratum(
            "3 (17) L174", "L = P l P", "L = P l P~",
            (apart(eq17(lambda p: p), position), apart(eq17(quaternion_conjugate), position)),
        ),
        erratum(
            "4 (19) L192", "w x w x L", "w x (w x L)",
            (apart(_eq19(four, _from_the_left), acceleration), apart(_eq19(four, _bracketed), acceleration)),
            reason="Without brackets, read from the left, the centripetal terms vanish.",
        ),
    ]  # fmt: skip


def _from_the_left(a: Floats, b: Floats, c: Floats) -> Floats:
    return np.cross(np.cross(a, b), c)


def _bracketed(a: Floats, b: Floats, c: Floats) -> Floats:
    return np.cross(a, np.cross(b, c))


def _eq19(chain: Turned, triple: Callable[[Floats, Floats, Floats], Floats]) -> Floats:
    total = np.zeros(3)
    w = [rate * u for rate, u in zip(chain.v, chain.axes, strict=True)]
    for m, L in enumerate(chain.reach()):
        for i in range(m + 1):
            total = total + np.cross(chain.a[i] * chain.axes[i], L) + triple(w[i], w[i], L)
            for k in range(i):
                total = total + 2 * triple(w[k], w[i], L)
    return total


# -- inertia ----------------------------------------------------------------------------------------------------------


def _inertial() -> list[Row]:
    rng = np.random.default_rng(3)
    half = rng.normal(size=(3, 3))
    I = np.trace(half @ half.T) * np.eye(3) - half @ half.T
    p = quaternion_about(rng.normal(size=3), 1.0)
    R = rotation_from_quaternion(p)
    u, v = R[:, 0], R[:, 1]
    in_ground = R @ I @ R.T
    moments = {sign: _moments(I, p if sign > 0 else quaternion_conjugate(p)) for sign in (1, -1)}
    return [
        erratum(
            "6 (22) L233", "Ixy (ux uy + uy vx) + Iyz (uy uz + uz vy) + Izx (uz ux + ux vz)",
            "Ixy (ux vy + uy vx) + Iyz (uy vz + uz vy) + Izx (uz vx + ux vz)",
            (apart(_product(I, u, v, u), -u @ I @ v), apart(_product(I, u, v, v), -u @ I @ v)),
            reason="The second direction is lost in each of the three brackets.",
        ),
        erratum(
            "8 (23) L239", "u = rho(P, e)", "u = rho(P~, e)",
            (apart(moments[1], np.diag(in_ground)), apart(moments[-1], np.diag(in_ground))),
            reason="(22) wants the ground's axes as the body sees them. Whether the bar was lost or never there, the text "
            "does not tell.",
        ),
    ]  # fmt: skip


def _moments(I: Floats, p: Floats) -> list[float]:
    """The moments about the ground's axes by (22), with directions turned by a quaternion."""
    directions = [quaternion_rotate(p, e) for e in np.eye(3)]
    return [float(u @ I @ u) for u in directions]


def _product(I: Floats, u: Floats, v: Floats, in_brackets: Floats) -> float:
    """The product of inertia for two directions by (22), the first of each bracket's terms with u and another vector."""
    Ixy, Iyz, Izx = -I[0, 1], -I[1, 2], -I[2, 0]  # the paper's products are integrals of +xy
    x, y, z = 0, 1, 2
    total = -I[x, x] * u[x] * v[x] - I[y, y] * u[y] * v[y] - I[z, z] * u[z] * v[z]
    for product, a, b in ((Ixy, x, y), (Iyz, y, z), (Izx, z, x)):
        total += product * (u[a] * in_brackets[b] + u[b] * v[a])
    return float(total)


# -- the planar arm ---------------------------------------------------------------------------------------------------


def _planar() -> list[Row]:
    m = es.load("mendez_2r")
    n, q, v = m.parameters, m.home(), np.array([1.1, -0.7])
    angle, spin = (np.cumsum(x) for x in (q, v))
    along = [np.array([np.cos(x), np.sin(x), 0.0]) for x in angle]
    across = [np.array([-np.sin(x), np.cos(x), 0.0]) for x in angle]
    z = np.array([0.0, 0.0, 1.0])
    velocities = _centre_velocities(m, q, v)
    kinetic = float(m.energy(q, v)[0])
    centres = [n["lc1"] * along[0], n["l1"] * along[0] + n["lc2"] * along[1]]

    def energy(moments: list[Any]) -> float:
        parts = zip((n["m1"], n["m2"]), velocities, moments, spin, strict=True)
        return float(sum(mass * (w @ w) / 2 + I * rate**2 / 2 for mass, w, I, rate in parts))

    own = [n["I1"], n["I2"]]
    about_ground = [
        I + mass * (c @ c) for I, mass, c in zip(own, (n["m1"], n["m2"]), centres, strict=True)
    ]
    lower = q - 0.4
    drop = float(m.energy(q, v)[1] - m.energy(lower, v)[1])
    weight = -n["g"] * np.array([0.0, 1.0, 0.0])
    rise = float(weight @ (_moment(m, q) - _moment(m, lower)))
    second = n["l1"] * v[0] + n["lc2"] * spin[1]
    right = v[0] * n["l1"] * across[0] + spin[1] * n["lc2"] * across[1]
    acceleration = np.array([0.5, 0.3])
    turning = m.velocity(q, v, "bar1", axes="aligned")[:3]
    return [
        erratum(
            "9 (24) L237-255", "K = m v²/2 + w I_O w/2", "K = m v²/2 + w I_G w/2",
            (apart(energy(about_ground), kinetic), apart(energy(own), kinetic)),
            reason=phrase("Mg(..., L_Tng, m) adds m L² to the moments, and m v²/2 has it already: translation is counted twice "
            "(K = {wrong:.6f} J for {right:.6f} J here).", wrong=energy(about_ground), right=kinetic),
        ),
        erratum(
            "10 (25), (27)", "V = m L·g", "V = -m L·g", (apart(rise, drop), apart(-rise, drop)),
            reason="With g the acceleration of gravity. It is right if the paper's G means -g, which it does not say.",
        ),
        erratum(
            "11 L281", "v1 = theta1' lc1 rho(P1, z)", "v1 = theta1' lc1 rho(P1, y)",
            (apart(v[0] * n["lc1"] * z, velocities[0]), apart(v[0] * n["lc1"] * across[0], velocities[0])),
            reason="w_3 is the axis of rotation; a velocity is perpendicular to it.",
        ),
        erratum(
            "12 L285", "v2 = theta1' l1 w1 + (theta1' + theta2') lc2 w1",
            "v2 = theta1' l1 rho(P1, y) + (theta1' + theta2') lc2 rho(P2 P1, y)",
            (apart(second * across[0], velocities[1]), apart(right, velocities[1])),
            reason="The two terms have two directions; even with w1 = rho(P1, y) for the first the second is wrong.",
        ),
        erratum(
            "13 L287-289", "w1 = theta1'' z", "w1 = theta1' z",
            (apart(acceleration[0] * z, turning), apart(v[0] * z, turning)),
            reason="An angular velocity has first derivatives; shown with theta1'' = 0.5 rad/s², theta1' = 1.1 rad/s.",
        ),
    ]  # fmt: skip


def _moment(m: es.Mechanism, q: Floats) -> Floats:
    """The sum of m L over the bars."""
    total = np.zeros(3)
    for body in m.bodies:
        T = m.pose(q, body.name)
        total = total + body.mass * (T[:3, 3] + T[:3, :3] @ np.array(body.com, dtype=float))
    return total


def _centre_velocities(m: es.Mechanism, q: Floats, v: Floats) -> list[Floats]:
    """The velocities of the bars' centres of mass, compiled."""
    made = []
    for body in m.bodies:
        twist = m.velocity(q, v, body.name, axes="aligned")
        arm = m.pose(q, body.name)[:3, :3] @ np.array(body.com, dtype=float)
        made.append(twist[3:] + np.cross(twist[:3], arm))
    return made


# -- the claim of efficiency ------------------------------------------------------------------------------------------


def rotation_counts() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Multiplications and additions by quaternions and by matrices: of turning a vector, and of composing two rotations."""
    p, r, u = casadi.SX.sym("p", 4), casadi.SX.sym("r", 4), casadi.SX.sym("u", 3)
    R, S = casadi.SX.sym("R", 3, 3), casadi.SX.sym("S", 3, 3)
    whole = quaternion_product(
        quaternion_product(p, quaternion_from_vector(u)), quaternion_conjugate(p)
    )
    turn = _count([p, u], vector_part(whole)), _count([R, u], R @ u)
    return turn, (_count([p, r], quaternion_product(p, r)), _count([R, S], R @ S))


def efficiency() -> Section:
    (turn, turn_matrix), (compose, compose_matrix) = rotation_counts()
    rows = (
        _fewer(
            "turning a vector",
            turn,
            turn_matrix,
            "p u p~ takes more than R u; what is saved is in composing.",
        ),
        _fewer("composing two rotations", compose, compose_matrix, ""),
    )
    text = "L315 says it is proved that a rotation takes fewer operations with quaternions than by other methods; no count is given."
    return Section(
        "6 The claim of fewer operations",
        text,
        rows,
        ("", "the paper", "multiplications and additions"),
    )


def _count(inputs: list[Any], output: Any) -> tuple[int, int]:
    found = count(casadi.Function("f", inputs, [casadi.SX(output)]))
    return found.multiplications, found.additions


def _fewer(what: str, ours: tuple[int, int], matrix: tuple[int, int], reason: str) -> Row:
    text = f"quaternions {ours[0]} + {ours[1]}, matrices {matrix[0]} + {matrix[1]}"
    return statement(
        what, "fewer than others", text, sum(ours) - sum(matrix), tolerance=-1, reason=reason
    )
