"""Facts of motion on mechanisms that hypothesis draws: energy, reversal in time, closed loops, many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given

import eslabon as es
from eslabon.model.configuration import difference, integrate
from randomness import examples
from small_mechanisms import SMALL
from strategies import State, degenerate_loops, degenerate_trees, moving_loops, moving_trees

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
SPAN = 0.2  # s: long enough to turn by a radian, too short for chaos to eat digits


def at_rest(name: str) -> State:
    m = SMALL[name]()
    return State(m, m.home(), np.zeros(m.nv), np.zeros(m.nv))


def light_body_on_a_spring() -> State:
    """A free body pulled by a spring, so that it accelerates too much for rk4 with long steps."""
    b = es.Builder("spun")
    b.body("free", 0.4, (0.5, 0.8, 0.5), (0.02, 0.04, 0.052))
    b.joint("free", "free", "ground", "free", ((0.5, -0.3, 0.8), (0.7, 0, 0)))
    b.body("arm", 0.4, (-0.3, 0.5, 0.8), (0.032, 0.032, 0.032))
    b.joint("arm", "universal", "ground", "arm", (-0.3, 0, -0.3), axis=("-z", "y"))
    b.spring("spring", "arm", "free", (0.5, 0.5, 0.5), (1.1, 0.6, -0.9), stiffness=30.0, length=0.4)
    m = b.actuate("free").build()
    q = integrate(m, m.neutral(), np.array([1.25, -1.25, -0.875, -0.875, 0.5, 1.25, -0.375, 0.0]))
    return State(
        m, q, np.array([-0.25, 0.875, -1.125, 1.375, -1.375, -1.375, 1.375, 1.5]), np.zeros(8)
    )


def moved(s: State, **options):
    """A run, or None where it is refused in a sentence: at singular configurations, and for motions without mass."""
    try:
        return s.m.simulate(s.q, s.v, SPAN, singular="error", **options)
    except es.EslabonError as error:
        assert str(error).strip()
        assert "\n" not in str(error)
        return None


def drift(motion) -> float:
    """The change of energy, relative to what there is of it and of the work done."""
    total = motion.energy.total
    return np.ptp(total) / max(1.0, motion.energy.kinetic.max(), np.abs(total).max())


def turns_back(s: State, motion, **options) -> None:
    """With its velocities reversed a conservative mechanism goes back the way it came."""
    m, (q, v) = s.m, motion.end
    back = m.simulate(q, -v, SPAN, singular="ignore", **options)
    size = max(1.0, np.abs(motion.v).max(initial=0.0), np.abs(motion.a).max(initial=0.0))
    assert np.abs(difference(m, back.q[-1], s.q)).max(initial=0.0) < 1e-6 * size
    assert np.abs(back.v[-1] + s.v).max(initial=0.0) < 1e-6 * size**2


def alike(s: State, span: float = 0.02) -> None:
    """Many trajectories of rk4 are the single ones, and near the adaptive one."""
    m, fixed = s.m, {"method": "rk4", "step": 2e-3, "singular": "ignore"}
    many = m.simulate(np.stack([s.q, s.q]), np.stack([s.v, 0 * s.v]), span, **fixed)
    assert many.closure.max() < 1e-10
    for k, v in enumerate((s.v, 0 * s.v)):
        one = m.simulate(s.q, v, span, **fixed)
        for x, y in ((many.q[k], one.q), (many.v[k], one.v)):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
        if (
            drift(one) >= 1e-6
        ):  # of fast motions, where the error falls with the fourth power of the step
            assert drift(m.simulate(s.q, v, span, **fixed | {"step": 1e-3})) < drift(one) / 8


def check_tree(s: State, motion) -> None:
    assert motion.t[-1] == SPAN
    assert drift(motion) < 1e-7
    assert not motion.closure.any()
    if (
        np.abs(motion.a).max(initial=0.0) < 1e4
    ):  # thin bodies may spin up beyond what digits are left for
        turns_back(s, motion, **TIGHT)
        alike(s)


@examples(6)
@given(moving_trees(most=3))
@example(at_rest("one_joint_and_fixed"))
@example(light_body_on_a_spring())
def test_trees(s):
    check_tree(s, s.m.simulate(s.q, s.v, SPAN, **TIGHT))


@examples(4)
@given(degenerate_trees(most=3))
@example(at_rest("massless_wrist"))
def test_degenerate_trees_move_or_are_refused(s):
    motion = moved(s, **TIGHT)
    if motion is None:
        assert np.linalg.eigvalsh(s.m.mass_matrix(s.q)).min(initial=0.0) < 1e-6 or not s.m.nv
    else:
        check_tree(s, motion)


@examples(6)
@given(moving_loops(most=3))
def test_closed_mechanisms(s):
    motion = moved(s, **TIGHT)
    assume(motion is not None)  # the motion may lead through a singular configuration
    check_closed(s, motion)


@examples(3)
@given(degenerate_loops(most=3, light=False))
def test_degenerate_loops_move_or_are_refused(s):
    motion = moved(s, **TIGHT)
    if motion is not None:
        check_closed(s, motion)


def check_closed(s: State, motion) -> None:
    assert motion.t[-1] == SPAN
    assert motion.closure.max() < 1e-10
    assert drift(motion) < 1e-7
    J = s.m.constraint_jacobian(motion.q)
    assert np.abs(np.einsum("kij,kj->ki", J, motion.v)).max(initial=0.0) < 1e-8 * max(
        1.0, np.abs(motion.v).max(initial=0.0)
    )
    if np.abs(motion.a).max(initial=0.0) < 1e4:
        turns_back(s, motion, **TIGHT)
        alike(s)


@pytest.mark.parametrize("name", ["all_fixed", "locked_loop", "fixed_loop", "locked_coupling"])
def test_what_cannot_move_stays_or_is_refused_in_a_sentence(name):
    s = at_rest(name)
    for options in ({}, {"method": "rk4", "step": 0.01}):
        motion = moved(s, **options)
        if motion is not None:
            assert np.ptp(motion.q, axis=0).max(initial=0.0) < 1e-10
