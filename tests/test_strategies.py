"""What the strategies draw: mechanisms that move, of all joint kinds, and bond graphs that have states.

A mechanism moves if a small step along its velocities can be projected back onto loop closure without being undone. The
closure is computed here from the poses of the bodies, and its Jacobian by differences.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis.vendor.pretty import pretty

import eslabon as es
from bond_graph_strategies import degenerate_graphs, graphs
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import KINDS
from eslabon.model.configuration import difference, integrate
from random_mechanisms import CUTS
from strategies import State, degenerate_loops, moving_loops, moving_trees

COUNT = 100
STEP = 1e-2  # of a radian or metre


@cache
def draws(strategy: Any, *options: tuple[str, Any], count: int = COUNT) -> list[Any]:
    """The first examples of a strategy, as every test by hypothesis gets its own."""
    examples: list[Any] = []

    @settings(max_examples=count, phases=[Phase.generate])
    @given(strategy(**dict(options)))
    def collect(example: Any) -> None:
        examples.append(example)

    collect()
    return examples


@cache
def closure_function(m: es.Mechanism) -> casadi.Function:
    """The residuals of all cut joints and gears, from where the bodies stand."""
    q = casadi.SX.sym("q", m.nq)
    placed, rows = placements(m, q), []
    for loop in m.loops:
        first, second = (on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        rows.append(loop.kind.residual(*second.relative_to(first)))
    rows += [
        q[m.coordinates[c.joint]] - c.ratio * q[m.coordinates[c.source]] - c.offset
        for c in m.couplings
    ]
    return casadi.Function("closure", [q], [casadi.densify(casadi.vertcat(*rows))])


def closure(m: es.Mechanism, q: np.ndarray) -> np.ndarray:
    """The residuals at one or several configurations."""
    rows = np.array(closure_function(m)(np.atleast_2d(q).T)).T
    return rows if q.ndim > 1 else rows[0]


def jacobian(m: es.Mechanism, q: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """By the velocities, from central differences: 1e-9 is left."""
    ahead, behind = (closure(m, integrate(m, q, sign * h * np.eye(m.nv))) for sign in (1, -1))
    return (ahead - behind).T / (2 * h)


def moves(s: State) -> bool:
    """Whether the velocities are allowed, not zero, and those of a finite motion."""
    m, size = s.m, np.linalg.norm(s.v)
    if size < 1e-3:
        return False
    J = jacobian(m, s.q)
    if np.abs(closure(m, s.q)).max(initial=0.0) > 1e-10 or np.abs(J @ s.v).max(initial=0.0) > 1e-7:
        return False
    step, back = STEP * s.v / size, np.linalg.pinv(J, rcond=1e-6)
    q = integrate(m, s.q, step)
    for _ in range(
        12
    ):  # of Newton's method with a constant Jacobian, which gains about two digits in each
        q = integrate(m, q, -back @ closure(m, q))
    closed = np.abs(closure(m, q)).max(initial=0.0) < 1e-11
    return closed and np.linalg.norm(difference(m, q, s.q) - step) < STEP / 4


def kinds_of(states: list[State]) -> tuple[set[str], set[str]]:
    """The kinds of their joints and of their cut joints."""
    return {j.kind.kind for s in states for j in s.m.joints}, {
        c.kind.kind for s in states for c in s.m.loops
    }


def test_loops_move() -> None:
    states = draws(moving_loops)
    assert len(states) == COUNT
    assert sum(map(moves, states)) >= 95
    assert all(s.m.loops or s.m.couplings for s in states)
    assert min(np.linalg.norm(s.a) for s in states) > 1e-3
    assert sum(len(s.m.loops) > 1 for s in states) >= 5
    assert any(s.m.couplings for s in states)
    assert any(s.m.springs for s in states)
    assert any(j.motor_inertia for s in states for j in s.m.joints)


SMALL = ("most", 3), ("scaled", True), ("acting", False)


@pytest.mark.slow(reason="draws hundreds of mechanisms")
def test_loops_are_made_of_all_kinds() -> None:
    joints, cuts = kinds_of(draws(moving_loops) + draws(moving_loops, *SMALL, count=40))
    assert joints == set(KINDS)
    for kind in set(CUTS) - cuts:  # a kind that happens not to be among so few is found soon
        find(
            moving_loops(),
            lambda s, kind=kind: kind in kinds_of([s])[1],
            settings=settings(max_examples=1000, phases=[Phase.generate]),
        )


def test_loops_of_few_bodies_that_scale_move() -> None:
    states = draws(moving_loops, *SMALL, count=40)
    assert sum(map(moves, states)) >= 38
    assert {"size", "density"} == set.intersection(*(set(s.m.parameters) for s in states))
    assert not any(s.m.springs for s in states)


def test_trees_move() -> None:
    states = draws(moving_trees)
    assert len(states) == COUNT
    assert all(s.m.nv and np.abs(s.v).min() > 0 and np.abs(s.a).min() > 0 for s in states)
    assert kinds_of(states)[0] == set(KINDS)
    assert all(body.mass > 0 for s in states for body in s.m.bodies)


def test_degenerate_loops_are_locked_at_rest_or_massless_too() -> None:
    states = draws(degenerate_loops, count=50)
    assert kinds_of(states)[0] == set(KINDS)
    assert len(kinds_of(states)[1]) >= 6
    assert 5 <= sum(map(moves, states)) <= 45
    assert any(body.mass == 0 for s in states for body in s.m.bodies)
    assert any(np.linalg.matrix_rank(jacobian(s.m, s.q), 1e-6) == s.m.nv for s in states)


def test_accelerations_keep_loops_closed() -> None:
    """Along q + h v + h^2 a / 2 the residuals grow with the third power of h."""
    for s in draws(moving_loops)[:25]:
        if all(j.nq == j.nv for j in s.m.joints):  # where coordinates add
            paths = [s.q + h * s.v + h * h / 2 * s.a for h in (1e-3, -1e-3)]
            size = max(1.0, np.linalg.norm(s.v) ** 3, np.linalg.norm(s.v) * np.linalg.norm(s.a))
            assert max(np.abs(closure(s.m, q)).max() for q in paths) < 3e-8 * size


def verdict(drawn: tuple[dict, list]) -> str:
    try:
        g = es.BondGraph("drawn", *drawn)
        if not g.order:
            return "no states"
        return (
            "finite"
            if np.isfinite(g.rates(np.ones(g.order), np.ones(len(g.inputs)))).all()
            else "not finite"
        )
    except es.ModelError as error:
        return "one bond" if "at least two" in str(error) else "conflict"


def kinds_in(drawn: list[tuple[dict, list]]) -> set[str]:
    return {kind.partition(":")[0] for elements, _ in drawn for kind in elements.values()}


@pytest.mark.parametrize(
    "options", [(), (("loops", 0),), (("ends", ("Se", "I: 1", "C: 1", "R: 1")),)]
)
def test_bond_graphs_have_states_and_finite_rates(options: tuple) -> None:
    drawn = draws(graphs, *options, count=40 if options else COUNT)
    verdicts = [verdict(x) for x in drawn]
    assert verdicts.count("finite") >= 0.95 * len(verdicts)
    sources = {"Se", "Sf"} if "ends" not in dict(options) else {"Se"}
    assert kinds_in(drawn) == {"0", "1", "TF", "GY", "I", "C", "R"} | sources


def test_degenerate_bond_graphs_are_refused_too() -> None:
    verdicts = [verdict(x) for x in draws(degenerate_graphs)]
    assert {"finite", "no states", "conflict", "one bond"} <= set(verdicts)


def test_an_example_prints_as_a_file_that_makes_it_again(tmp_path: Path) -> None:
    for k, s in enumerate(draws(moving_loops)[:5]):
        text, _, numbers = pretty(s).rpartition("q = ")
        (tmp_path / f"{k}.toml").write_text(text)
        again, state = es.load(tmp_path / f"{k}.toml"), tomllib.loads(f"q = {numbers}")
        assert np.abs(closure(again, np.array(state["q"]))).max() < 1e-10
        np.testing.assert_array_equal(state["v"], s.v)
