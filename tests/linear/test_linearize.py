"""Linear models against differences of the nonlinear mechanism: every joint and closure kind, at rest and in motion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

import eslabon as es
from eslabon.model.configuration import difference, integrate, velocity_names
from random_mechanisms import State, closed_states, few, states

# A central difference of sixth order: its error is that of round-off, about 1e-11 of the largest derivative.
NODES = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
STEP = 2e-3


def differenced(f, h=STEP):
    return sum(w * f(k * h) for k, w in NODES.items()) / h


class Nonlinear:
    """The mechanism as a function of its independent coordinates: passive joints found anew by Newton's method."""

    def __init__(self, m, q, v, tau, lm, **options):
        self.m, self.q, self.v, self.tau, self.options = m, q, v, tau, options
        names = list(velocity_names(m))
        self.i = [names.index(x) for x in lm.coordinates]
        self.e = [k for k in range(m.nv) if k not in self.i]

    def configuration(self, x):
        step = np.zeros(self.m.nv)
        step[self.i] = x
        q = integrate(self.m, self.q, step)
        for _ in range(12 if self.e else 0):
            back = np.zeros(self.m.nv)
            phi, J = self.m.constraint(q), self.m.constraint_jacobian(q)
            back[self.e] = np.linalg.lstsq(J[:, self.e], -phi, rcond=1e-10)[0]
            q = integrate(self.m, q, back)
        return q

    def velocities(self, q, y):
        v = np.zeros(self.m.nv)
        v[self.i] = self.v[self.i] + y
        if self.e:
            J = self.m.constraint_jacobian(q)
            v[self.e] = np.linalg.lstsq(J[:, self.e], -J[:, self.i] @ v[self.i], rcond=1e-10)[0]
        return v

    def state(self, x, y):
        q = self.configuration(x)
        return q, self.velocities(q, y)

    def accelerations(self, x, y, u):
        return self.m.forward_dynamics(*self.state(x, y), self.tau + u, **self.options)

    def matrices(self):
        """A and B by differences. Displacements are taken along the moving tangent space."""
        n, nu = len(self.i), self.m.nu
        zero, none = np.zeros(n), np.zeros(nu)
        unit, force = np.eye(n), np.eye(nu)
        a_x = [differenced(lambda h, e=e: self.accelerations(h * e, zero, none))[self.i] for e in unit]
        a_y = [differenced(lambda h, e=e: self.accelerations(zero, h * e, none))[self.i] for e in unit]
        a_u = [differenced(lambda h, e=e: self.accelerations(zero, zero, h * e))[self.i] for e in force]
        x_x = [differenced(lambda h, e=e: self.displacement_rate(h * e))[self.i] for e in unit]
        A = np.block(
            [[_columns(x_x, n), np.eye(n)], [_columns(a_x, n), _columns(a_y, n)]],
        )  # fmt: skip
        return A, np.vstack([np.zeros((n, nu)), _columns(a_u, n)])

    def displacement_rate(self, x):
        """How the displacement to a neighbour with other positions and the same independent velocities grows."""
        q, v = self.state(x, np.zeros(len(self.i)))
        own = self.v

        def at(h):
            return difference(self.m, integrate(self.m, q, h * v), integrate(self.m, self.q, h * own))

        return differenced(at)


def _columns(rows, n):
    return np.array(rows).reshape(len(rows), n).T


def near(got, want, rtol):
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1.0, np.abs(want).max(initial=0.0))


def check(m, q, v, tau, rtol=1e-8):
    lm = m.linearize(q, v, tau)
    A, B = Nonlinear(m, q, v, tau, lm).matrices()
    near(lm.A, A, rtol)
    near(lm.B, B, rtol)
    n = lm.dof
    near(lm.U @ lm.A[n:, :n], -lm.W, 1e-9)
    near(lm.U @ lm.A[n:, n:], -lm.V, 1e-9)
    near(lm.U @ lm.B[n:], lm.F, 1e-9)
    return lm


@pytest.mark.parametrize(
    "name", ["cart_pole", "puma560", "five_bar", "planar_3rrr", "delta", "slider_crank", "rssr", "excavator"]
)
@pytest.mark.parametrize("moving", [False, True])
def test_library_mechanisms_against_differences(name, moving):
    m, rng = es.load(name), np.random.default_rng(3)
    q, v = m.home(), np.zeros(m.nv)
    if m.closed:
        q = m.project(m.home())
        q = q[0] if isinstance(q, tuple) else q
    if moving:
        v = rng.normal(size=m.nv)
        v = m.project(q, v)[1] if m.closed else v
    check(m, q, v, rng.normal(size=m.nu))


@few
@given(states())
def test_trees_against_differences(s: State):
    m, rng = s.m, np.random.default_rng(0)
    assume(m.nv)
    try:
        m.forward_dynamics(s.q, s.v, np.zeros(m.nu))
    except es.ModelError:
        assume(False)
    assume(np.linalg.cond(m.mass_matrix(s.q)) < 1e4)
    check(m, s.q, s.v, rng.normal(size=m.nu))


@few
@given(closed_states())
def test_closed_mechanisms_against_differences(s: State):
    m, rng = s.m, np.random.default_rng(0)
    try:
        lm = m.linearize(s.q, s.v, rng.normal(size=m.nu))
    except (es.SingularityError, es.ModelError):
        assume(False)
    assume(lm.dof and np.linalg.cond(lm.U) < 1e4 and np.abs(lm.position_map).max() < 30)
    check(m, s.q, s.v, lm.tau, rtol=1e-7)
