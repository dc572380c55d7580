"""Facts of mechanics on closed mechanisms that hypothesis draws: any cut joints and gears, movable, locked and redundant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import eslabon as es
from eslabon.kinematics.tree import on_body, placements, relative
from eslabon.model.configuration import integrate
from oracles import unbalanced
from random_mechanisms import allowed
from randomness import examples
from small_mechanisms import fixed_loop, light_beside_a_loop, locked_coupling, locked_loop
from strategies import State, degenerate_loops

PAIRS = [(f, c) for f in ("newton_euler", "lagrange", "lie", "gibbs_appell") for c in ("multipliers", "elimination", "udwadia_kalaba")]  # fmt: skip
REFUSALS = (es.ModelError, es.SingularityError)


def near(got, want, rtol, size=0.0):
    """Equal relative to the largest entry, or to the size of what was added up; all here is of order 1."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1.0, size, np.abs(want).max(initial=0.0))


def at_rest(make: Callable[[], es.Mechanism]) -> State:
    m = make()
    return State(m, m.home(), np.zeros(m.nv), np.zeros(m.nv))


class Known:
    """What the tree's mass matrix, its forces and every row of the loops say, solved by singular values."""

    def __init__(self, s: State) -> None:
        m, q, v = s.m, s.q, s.v
        every = tuple(j.name for j in m.description.joints if j.nv)
        tree = es.Mechanism(replace(m.description, loops=(), couplings=(), actuated=every))
        self.M, self.h = tree.mass_matrix(q), tree.inverse_dynamics(q, v, np.zeros(m.nv))
        self.J = m.constraint_jacobian(q)
        self.gamma = -(m.derivative("constraint_jacobian", "q", q) @ v @ v)
        _, sizes, V = np.linalg.svd(self.J)
        self.rank = int((sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))).sum())
        self.free = V[self.rank :].T  # the motions that the loops allow
        reduced = self.free.T @ self.M @ self.free
        held = np.linalg.lstsq(self.J, self.gamma, rcond=1e-9)[0]
        self.keeps = np.abs(self.J @ held - self.gamma).max(initial=0.0) < 1e-8 * max(
            1.0, np.abs(self.gamma).max(initial=0)
        )
        least = np.linalg.eigvalsh(reduced).min(initial=1.0)
        # How well determined the answer is: the least inertia of an allowed motion, the least singular value of the rows
        self.margin = min(least, sizes[: self.rank].min(initial=1.0) ** 2)
        self._held, self._reduced = held, reduced

    def accelerations(self, force):
        along = self.free.T @ (force - self.h - self.M @ self._held)
        return self._held + self.free @ np.linalg.solve(self._reduced, along)


def on_joints(m, tau):
    force = np.zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    return force


def regular(s: State, known: Known) -> bool:
    """Whether the loops hold as many velocities nearby as here; where they do not, the configuration is singular."""
    if not known.keeps:
        return False
    ranks = set()
    rng = np.random.default_rng(0)
    for _ in range(3):
        try:
            q = s.m.project(integrate(s.m, s.q, 0.02 * allowed(known.J) @ rng.normal(size=s.m.nv)))
        except es.EslabonError:
            return False
        sizes = np.linalg.svd(s.m.constraint_jacobian(q), compute_uv=False)
        ranks.add(int((sizes > 1e-7 * max(1.0, sizes.max(initial=0.0))).sum()))
    return ranks == {known.rank}


def forward(s: State, known: Known, tau, *pair):
    """Forward dynamics, which may be refused only at singular configurations and for motions without mass."""
    try:
        return s.m.forward_dynamics(s.q, s.v, tau, *pair)
    except REFUSALS as error:
        assert "\n" not in str(error)
        assert known.margin < 1e-6 or not regular(s, known), str(error)
        return None


@examples(5)
@given(degenerate_loops(), st.lists(st.sampled_from(PAIRS), min_size=2, max_size=2), st.integers(0, 99))
@example(at_rest(locked_loop), PAIRS[:2], 0)
@example(at_rest(fixed_loop), PAIRS[5:7], 0)
@example(at_rest(locked_coupling), PAIRS[10:], 0)
@example(at_rest(light_beside_a_loop), PAIRS[3:5], 0)
def test_accelerations(s, pairs, seed):
    m, q, v, known = s.m, s.q, s.v, Known(s)
    assert np.abs(known.J @ v).max(initial=0.0) < 1e-9
    there = m.constraint(integrate(m, q, 1e-4 * s.a)) - m.constraint(integrate(m, q, -1e-4 * s.a))
    near(there / 2e-4, known.J @ s.a, 1e-6)  # J v is the rate of the constraint, h^2 is left
    tau = np.random.default_rng(seed).normal(size=m.nu)
    a = forward(s, known, tau)
    if a is None:
        return
    rtol = 1e-11 / min(1e-2, known.margin)
    near(known.J @ a, known.gamma, 1e-8, np.abs(a).max(initial=0.0))
    force = on_joints(m, tau)
    if known.margin > 1e-6:
        near(a, known.accelerations(force), rtol)
        for pair in pairs:
            if (other := forward(s, known, tau, *pair)) is not None:
                near(other, a, rtol)
    by_q, by_v = m.derivative("energy", "q", q, v), m.derivative("energy", "v", q, v)
    terms = np.array([*(by_q @ v), *(by_v @ a)])
    near(terms.sum(), force @ v, 1e-9, np.abs(terms).max() + np.abs(a).max(initial=0.0))  # loops do no work


@examples(8)
@given(degenerate_loops(most=3), st.integers(0, 99))
def test_reactions_balance_every_body_and_do_no_work(s, seed):
    m, q, v, known = s.m, s.q, s.v, Known(s)
    tau = np.random.default_rng(seed).normal(size=m.nu)
    a = forward(s, known, tau)
    if a is None or known.margin < 1e-6:
        return
    try:
        carried = m.reactions(q, v, tau=tau)
    except REFUSALS as error:
        assert not regular(s, known), str(error)
        return
    if m.couplings:  # a gear's forces are between joints, and belong to no one of them
        return
    left, size = unbalanced(m, q, v, a, carried)
    near(left, 0 * left, 1e-11 / min(1e-2, known.margin), size)
    placed = placements(m, q)
    for cut, wrench in zip(m.loops, carried[len(m.joints) :], strict=True):
        R, p = relative(*(on_body(placed, end.body, end.at) for end in (cut.first, cut.second)))
        C = np.asarray(cut.kind.covectors(R, p), dtype=float)
        near(C @ np.linalg.lstsq(C, wrench, rcond=None)[0], wrench, 1e-9)  # it holds what it constrains, and no more


@examples(8)
@given(degenerate_loops(most=3, light=False))
def test_inverse_and_hybrid_dynamics_batches_and_parameters(s):
    m, q, v, known = s.m, s.q, s.v, Known(s)
    tau = np.linspace(-1, 1, m.nu)
    a = forward(s, known, tau)
    if a is None or known.margin < 1e-6 or not regular(s, known):
        return
    rtol = 1e-10 / min(1e-2, known.margin)
    both = m.forward_dynamics(np.stack([q, q]), np.stack([v, 0 * v]), tau)
    near(both[0], a, 1e-12)
    near(both[1], m.forward_dynamics(q, 0 * v, tau), 1e-12)
    near(
        m.forward_dynamics(q, v, tau, parameters={"density": [1.0, 3.0]})[1],
        m.with_parameters(density=3.0).forward_dynamics(q, v, tau),
        rtol,
    )
    driven = list(m.actuated_velocities)
    reached = np.linalg.matrix_rank(known.free[driven], 1e-6)
    if reached == known.free.shape[1]:  # the actuators reach every motion that the loops allow
        least = m.inverse_dynamics(q, v, a)
        near(known.free.T @ on_joints(m, least - tau), np.zeros(known.free.shape[1]), rtol, np.abs(a).max(initial=0.0))
    if reached == len(driven):  # and are independent of one another
        try:
            found, all_a = m.hybrid_dynamics(q, v, a)
        except es.ModelError as error:
            pytest.fail(str(error))
        near(all_a, a, rtol)
        near(found, tau, rtol, np.abs(a).max(initial=0.0))
