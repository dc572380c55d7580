"""The formulas for n bodies (17)-(19), and the direct D, C, g that the paper leaves open, on random chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import eslabon as es
from eslabon.formulas.formulations.quaternion import matrices
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.numerics.scalars import casadi
from eslabon.reproductions.comparison import PAPER, Row, Section
from eslabon.reproductions.recursions import by_quaternions, forward
from eslabon.reproductions.verdicts import greatest, statement

R, P = "revolute", "prismatic"
CHAINS = ((R, R, R), (R, P, R))


def random_chain(rng: np.random.Generator, kinds: Sequence[str]) -> es.Mechanism:
    """A chain in space with a tip, in which no length, angle or inertia is special."""
    b, parent = es.Builder("chain", gravity=tuple(rng.normal(size=3))), "ground"
    for k, kind in enumerate(kinds, start=1):
        half = rng.normal(size=(3, 3))
        solid = half @ half.T
        b.body(
            f"body{k}",
            mass=rng.uniform(0.5, 2.0),
            com=tuple(rng.normal(size=3)),
            inertia=np.trace(solid) * np.eye(3) - solid,
        )
        b.joint(
            f"q{k}",
            kind,
            parent,
            f"body{k}",
            at=(rng.normal(size=3), rng.normal(size=3)),
            axis=tuple(rng.normal(size=3)),
        )
        parent = f"body{k}"
    b.frame("tip", parent, at=rng.normal(size=3))
    return b.build()


def sections() -> tuple[Section, ...]:
    return kinematics(), dynamics()


def apart(found: Any, wanted: Any) -> float:
    """The greatest difference, relative to the greatest value."""
    return greatest(np.asarray(found) - wanted) / max(1.0, greatest(wanted))


def kinematics() -> Section:
    rng = np.random.default_rng(4)
    m = random_chain(rng, ["revolute"] * 4)
    q, v, a = rng.normal(size=(3, 4))
    pose = m.pose(q, "tip")
    twist, change = (
        m.velocity(q, v, "tip", axes="aligned"),
        m.acceleration(q, v, a, "tip", axes="aligned"),
    )
    rows: list[Row] = []
    for who, by in (("its sums", by_quaternions), ("Rojas 2.6", forward)):
        point = by(m, q, v, a, "tip")
        rows += [
            statement(phrase("position (17), {who}", who=who), "L = sum L_m", "m.pose", apart(point.position, pose[:3, 3])),
            statement(phrase("orientation (13), {who}", who=who), "P_m ... P_1", "m.pose", apart(point.rotation, pose[:3, :3])),
            statement(phrase("velocity (18), {who}", who=who), "sum w_i x L_m", "m.velocity", apart(point.velocity, twist[3:])),
            statement(phrase("spin, {who}", who=who), "sum w_i", "m.velocity", apart(point.angular_velocity, twist[:3])),
            statement(phrase("acceleration (19), {who}", who=who), "L192, with brackets", "m.acceleration", apart(point.acceleration, change[3:])),
        ]  # fmt: skip
    text = (
        "A random chain of four bodies in space. The sums (13), (17)-(19), with the dots, bars and brackets of the errata put "
        "back, number by number (`eslabon.reproductions.recursions`), the recursions of Rojas, and the compiled kinematics."
    )
    return Section("4 Kinematics of n bodies", text, tuple(rows), PAPER)


def dynamics() -> Section:
    rng = np.random.default_rng(5)
    worst: dict[str, float] = {}

    def note(what: str, error: float) -> None:
        worst[what] = max(worst.get(what, 0.0), error)

    for kinds in CHAINS:
        m = random_chain(rng, kinds)
        q, v, a = rng.normal(size=(3, m.nv))
        D, C, g = _evaluated(m, q, v)
        slope = m.derivative("mass_matrix", "q", q) @ v
        note("D", apart(D, m.mass_matrix(q)))
        note("g", apart(g, m.gravity_forces(q)))
        note("C", apart(C @ v + g, m.inverse_dynamics(q, v, 0 * a, "lagrange")))
        note("skew", apart(slope - 2 * C, -(slope - 2 * C).T))
        tau = D @ a + C @ v + g
        for formulation in ("lagrange", "newton_euler", "lie", "gibbs_appell"):
            note(formulation, apart(tau, m.inverse_dynamics(q, v, a, formulation)))
        note("forward", apart(np.linalg.solve(D, tau - C @ v - g), m.forward_dynamics(q, v, tau)))
    says = {
        "D": ("D", "m.mass_matrix"),
        "g": ("g", "m.gravity_forces"),
        "C": ("C theta' + g", "lagrange, no acceleration"),
        "skew": ("D' - 2 C", "skew, D' by m.derivative"),
        **{f: ("tau (28)", f) for f in ("lagrange", "newton_euler", "lie", "gibbs_appell")},
        "forward": ("D^-1 (tau - C theta' - g)", "m.forward_dynamics"),
    }
    many = f"worst of {len(CHAINS)} chains"
    rows = [statement(what, against, many, worst[key]) for key, (what, against) in says.items()]
    text = (
        "The paper leaves the direct computation of D and C for n bodies open (L307-311). `formulas.formulations.quaternion` does it: "
        "Christoffel's C from exact derivatives of quaternion Jacobians, prismatic joints included. Random chains RRR "
        "and RPR in space, against formulations derived in other ways. Relative errors."
    )
    return Section(
        "5.3 D, C and g for n bodies", text, tuple(rows), ("", "compared with", "on random data")
    )


def _evaluated(m: es.Mechanism, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    x, y = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    D, C, g = casadi.Function("model", [x, y], list(matrices(m, x, y)))(q, v)
    return D.full(), C.full(), g.full().ravel()
