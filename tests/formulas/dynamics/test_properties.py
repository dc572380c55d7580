"""All facts of mechanics on mechanisms that hypothesis draws: any joint kinds, fixed ones anywhere, bodies without mass,
any cut joints and gears, movable, locked and redundant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given

import eslabon as es
import facts
from cases import Moving
from randomness import examples, seeds
from small_mechanisms import fixed_loop, light_beside_a_loop, locked_coupling, locked_loop
from strategies import State, degenerate_loops, degenerate_trees, moving_loops, moving_trees

pytestmark = pytest.mark.slow(
    reason="states all facts of mechanisms that are compiled for it alone"
)


def in_motion(s: State, seed: int) -> Moving:
    return Moving(s.m, s.q, np.random.default_rng(seed), s.v, label=seed)


def at_rest(make: Callable[[], es.Mechanism]) -> State:
    m = make()
    return State(m, m.home(), np.zeros(m.nv), np.zeros(m.nv))


@examples(8)
@given(degenerate_trees(), seeds)
def test_facts_of_any_trees(s: State, seed: int) -> None:
    facts.check_all(in_motion(s, seed))


@examples(4)
@given(moving_trees(most=3, subset=False), seeds)
def test_facts_of_trees_with_mass_and_motors_everywhere(s: State, seed: int) -> None:
    facts.check_all(in_motion(s, seed))


@examples(6)
@given(moving_loops(most=3), seeds)
def test_facts_of_loops_that_move(s: State, seed: int) -> None:
    facts.check_all(in_motion(s, seed))


@examples(6)
@given(degenerate_loops(most=3), seeds)
@example(at_rest(locked_loop), 0)
@example(at_rest(fixed_loop), 1)
@example(at_rest(locked_coupling), 2)
@example(at_rest(light_beside_a_loop), 3)
def test_facts_of_any_loops(s: State, seed: int) -> None:
    facts.check_all(in_motion(s, seed))
