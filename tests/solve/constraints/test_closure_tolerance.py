"""What one verb accepts, the next does not refuse: closure of a given state is judged by one tolerance.

States violate it by 0.3 or 3 times the tolerance, in mechanisms of their own size and a hundred thousand
times smaller.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import integrate
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION
from eslabon.solve.constraints.closed_configurations import comparable_jacobian_at, residuals_at
from eslabon.solve.constraints.closure_violation import violation_of
from scaling import scaled

NAMES = ("five_bar", "slider_crank", "spatial_four_bar", "planar_3rrr")
FACTORS = (1.0, 1e-5)
Verb = Callable[[es.Mechanism, np.ndarray, np.ndarray], object]

OF_STATES: dict[str, Verb] = {
    "inverse_dynamics": lambda m, q, v: m.inverse_dynamics(q, v, followed(m, q, v)),
    "forward_dynamics": lambda m, q, v: m.forward_dynamics(q, v, np.zeros(m.nu)),
    "hybrid_dynamics": lambda m, q, v: m.hybrid_dynamics(q, v, np.zeros(m.nv)),
    "reactions": lambda m, q, v: m.reactions(q, v, followed(m, q, v)),
    "linearize": lambda m, q, v: m.linearize(q, v, np.zeros(m.nu)),
    "simulate": lambda m, q, v: m.simulate(q, v, 1e-4),
    "bond_graph": lambda m, q, v: graph(m).simulate(graph(m).state(q, v), 1e-4),
}
OF_CONFIGURATIONS: dict[str, Verb] = {
    "equilibrium": lambda m, q, v: m.equilibrium(q),
    "singularity": lambda m, q, v: m.singularity(q),
    "conditions": lambda m, q, v: m.conditions(q),
    "determined_reactions": lambda m, q, v: m.determined_reactions(q),
    "manipulability": lambda m, q, v: m.manipulability(q, frame=m.bodies[-1].name),
    "independent_coordinates": lambda m, q, v: m.independent_coordinates(q),
}


@cache
def graph(m: es.Mechanism) -> es.BondGraph:
    return m.bond_graph()


@cache
def mechanism(name: str, factor: float) -> es.Mechanism:
    m = es.load(name)
    return m if factor == 1.0 else scaled(m, factor)


def followed(m: es.Mechanism, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Accelerations that keep the loops closed."""
    return m.forward_dynamics(q, v, np.zeros(m.nu), tolerance=1.0)


def refused(verb: Verb, m: es.Mechanism, q: np.ndarray, v: np.ndarray) -> bool:
    try:
        verb(m, q, v)
    except (es.AssemblyError, es.InputError) as error:
        assert re.search("violates? loop closure", str(error))
        return True
    return False


def pushed(m: es.Mechanism, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A direction of comparable velocities that opens the loops."""
    J = comparable_jacobian_at(m, q)
    return J.T @ rng.normal(size=len(J))


def opened(m: es.Mechanism, q: np.ndarray, push: np.ndarray, violation: float) -> np.ndarray:
    """The configuration moved until closure is violated by so much."""
    size = violation / np.linalg.norm(comparable_jacobian_at(m, q) @ push)
    for _ in range(3):
        moved = integrate(m, q, size * push / velocity_scales(m))
        size *= violation / violation_of(residuals_at(m, moved))
    return integrate(m, q, size * push / velocity_scales(m))


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", NAMES)
def test_all_verbs_judge_a_configuration_alike(name: str, factor: float, rng) -> None:
    m = mechanism(name, factor)
    q = m.project(m.home())
    push = pushed(m, q, rng)
    for times in (0.3, 3.0):
        there = opened(m, q, push, times * ACCEPTED_VIOLATION)
        verdicts = {
            verb: refused(call, m, there, np.zeros(m.nv))
            for verb, call in {**OF_STATES, **OF_CONFIGURATIONS}.items()
        }
        assert verdicts == dict.fromkeys(verdicts, times > 1)


@pytest.mark.parametrize("speed", [0.1, 50.0])
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", NAMES)
def test_all_verbs_judge_velocities_alike(name, factor, speed, rng) -> None:
    """Rows of velocities are measured by the largest velocity, if that is more than one."""
    m = mechanism(name, factor)
    q = m.project(m.home())
    v = m.project(q, rng.normal(size=m.nv) / velocity_scales(m))[1]
    v *= speed / np.abs(v * velocity_scales(m)).max()
    push, J = pushed(m, q, rng), comparable_jacobian_at(m, q)
    push *= ACCEPTED_VIOLATION * max(1.0, speed) / np.linalg.norm(J @ push)
    for times in (0.3, 3.0):
        off = v + times * push / velocity_scales(m)
        verdicts = {verb: refused(call, m, q, off) for verb, call in OF_STATES.items()}
        assert verdicts == dict.fromkeys(verdicts, times > 1)


def test_a_tiny_loop_that_is_open_by_a_part_of_a_link_is_refused(rng) -> None:
    """At 1e-5 m a gap of 5 % of a link is half a micrometre."""
    m = mechanism("five_bar", 1e-5)
    q = m.project(m.home())
    there = opened(m, q, pushed(m, q, rng), 0.05)
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        m.inverse_dynamics(there, np.zeros(m.nv), np.zeros(m.nv))


def test_a_start_is_judged_whatever_its_neighbours_do(rng) -> None:
    """A fast trajectory beside a slow one makes no room for the slow one's violation."""
    m = mechanism("five_bar", 1.0)
    q = m.project(m.home())
    v = m.project(q, rng.normal(size=m.nv))[1]
    push = pushed(m, q, rng)
    push *= 3 * ACCEPTED_VIOLATION / np.linalg.norm(comparable_jacobian_at(m, q) @ push)
    slow = 0.1 * v / np.abs(v).max() + push
    with pytest.raises(es.AssemblyError, match="trajectory 1"):
        m.simulate(q, np.stack([100 * v, slow]), 1e-4)
