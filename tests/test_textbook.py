"""Equations of whole mechanisms: what is printed of M, h, Phi, J, gamma and of the reduced equations is what native code
computes, every line can be typeset, and the text grows no faster than the graph."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from artifacts import make_once
from eslabon.model.configuration import integrate
from eslabon.solve.constraints.constraint_structure import structure
from library_names import CLOSED
from randomness import examples, seeded
from strategies import State, degenerate_loops, degenerate_trees, moving_loops, moving_trees

READABLE = [name for name in CLOSED if name not in ("delta", "stewart_gough")]


NAMES = {
    "equations_of_motion": ("M", "h", "Q", "Phi", "J", "gamma", "Phi_t"),
    "velocity_coefficients": ("gamma", "Phi_t", "K", "d", "K_t"),
    "reduced_equations": ("gamma", "Phi_t", "K", "d", "K_t", "M_r", "h_r", "Q_r"),
}


@cache
def of_the_library(name: str, quantity: str) -> Any:
    """SymPy takes up to a second and more for it, and several tests look at the same."""
    sources = "src/**/*.py", f"src/eslabon/robots/{name}.*"
    return make_once(
        f"equations-{name}-{quantity}", sources, lambda: es.load(name).equations(quantity)
    )


def terms(m: es.Mechanism, quantity: str, *inputs: Any) -> dict[str, np.ndarray]:
    """The printed results by name, as matrices; the inputs are in the equations' order."""
    found = of_the_library(m.name, quantity) if m.name in READABLE else m.equations(quantity)
    shown = [
        n
        for n in NAMES[quantity]
        if (m.closed or n in "MhQ") and (m.rheonomic or not n.endswith("_t"))
    ]
    values = [
        x.reshape(e.shape) for x, e in zip(found.function()(*inputs), found.results, strict=True)
    ]
    return dict(
        zip(shown, values, strict=True)
    )  # a letter of a parameter is not the name of a result


def joint_forces(m: es.Mechanism, q: np.ndarray, v: np.ndarray, **more: Any) -> np.ndarray:
    """The forces in every joint of the tree at rest of acceleration: the bias."""
    tree = m
    for kind, items in (("loop", m.loops), ("coupling", m.couplings)):
        tree = tree.without(*(x.name for x in items), kind=kind) if items else tree
    tree = tree.with_actuated([j.name for j in m.joints if j.nv])
    return tree.inverse_dynamics(q, v, np.zeros(m.nv), **more)


def check_motion(
    m: es.Mechanism, q: np.ndarray, v: np.ndarray, tau: np.ndarray, **given: Any
) -> None:
    """M, h, Q, Phi, J and gamma at any state, loops closed or not."""
    found = terms(m, "equations_of_motion", q, v, tau, *given.values(), *m.parameters.values())
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(found["M"], m.mass_matrix(q), **close)
    np.testing.assert_allclose(found["h"][:, 0], joint_forces(m, q, v), **close)
    np.testing.assert_allclose(found["Q"][list(m.actuated_velocities), 0], tau)
    assert np.count_nonzero(found["Q"]) <= m.nu
    if not m.closed:
        return
    rows = list(structure(m).rows)
    np.testing.assert_allclose(found["Phi"][:, 0], m.constraint(q, **given)[rows], **close)
    np.testing.assert_allclose(found["J"], m.constraint_jacobian(q, **given)[rows], **close)
    if not given:
        change = m.derivative("constraint_jacobian", "q", q)[rows] @ v
        np.testing.assert_allclose(found["gamma"][:, 0], -change @ v, **close)


def check_reduced(
    m: es.Mechanism, q: np.ndarray, v_i: np.ndarray, tau: np.ndarray, **given: Any
) -> None:
    """At a closed configuration the velocities keep the loops closed, and the accelerations are the native ones."""
    p = structure(m).partition
    i, e = list(p.independent), list(p.dependent)
    v, a, numbers = (
        np.zeros((m.nv, 1)),
        np.zeros((m.nv, 1)),
        (*given.values(), *m.parameters.values()),
    )
    found = terms(m, "velocity_coefficients", q, v, *numbers)
    v[i, 0] = v_i
    v[e] = found["K"] @ v[i] + found.get("K_t", 0.0)
    found = terms(m, "reduced_equations", q, v, tau, *numbers)
    a[i] = np.linalg.solve(found["M_r"], found["Q_r"] - found["h_r"])
    a[e] = found["K"] @ a[i] + found["d"]
    want = m.forward_dynamics(
        q, v[:, 0], tau, **given
    )  # which refuses velocities that violate closure
    np.testing.assert_allclose(a[:, 0], want, rtol=1e-7, atol=1e-7 * np.abs(want).max())


@pytest.mark.parametrize("name", READABLE)
def test_the_library(name: str) -> None:
    m, rng = es.load(name), seeded(len(name))
    q, v, tau = (
        integrate(m, m.home(), rng.normal(size=m.nv) / 3),
        rng.normal(size=m.nv),
        rng.normal(size=m.nu),
    )
    check_motion(m, q, v, tau)
    if m.nv <= 5:
        check_reduced(m, m.project(q), rng.normal(size=m.dof), tau)


@examples(4)
@given(moving_loops(most=3) | degenerate_loops(most=3))
def test_any_closed_mechanism(s: State) -> None:
    check_motion(s.m, s.q, s.v, np.arange(1.0, s.m.nu + 1))


@examples(4)
@given(moving_trees(most=2) | degenerate_trees(most=2))
def test_any_tree(s: State) -> None:
    check_motion(s.m, s.q, s.v, np.arange(1.0, s.m.nu + 1))


def driven_arm() -> es.Mechanism:
    b = es.Builder("arm", gravity=(0, -9.81, 0))
    for k in (1, 2):
        b.body(f"b{k}", mass=k, com=(0.2, 0.1, 0), inertia=(0.1, 0.2, 0.25))
        b.joint(f"q{k}", "revolute", f"b{k - 1}" if k > 1 else "ground", f"b{k}", at=(0.3, 0, 0))
    return b.actuate("q2").drive("motor", "q1", "0.3*sin(2*t)").build()


def test_driving_constraints_print_the_time() -> None:
    m, t = driven_arm(), 0.7
    q, v, tau = (
        np.array([0.3 * np.sin(2 * t), 0.4]),
        np.array([0.6 * np.cos(2 * t), -0.8]),
        np.array([0.5]),
    )
    check_motion(m, q, v, tau, t=t)
    check_reduced(m, q, v[1:], tau, t=t)
    found = terms(m, "equations_of_motion", q, v, tau, t)
    np.testing.assert_allclose(found["J"] @ v + found["Phi_t"][:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(
        found["J"] @ m.forward_dynamics(q, v, tau, t=t), found["gamma"][:, 0], atol=1e-9
    )
    assert "Phi_t = -0.6*cos(2*t)" in str(m.equations("equations_of_motion"))
    assert "t" in m.c_source("constraint").header


def test_what_a_textbook_prints() -> None:
    lines = str(es.load("slider_crank").equations()).splitlines()
    assert lines[0] == "M v' + h = Q + J^T lambda, J v' = gamma, Phi = 0"
    assert "c12 = cos(q1 + q2)" in lines
    assert "M[1,2] = M[2,1] = c2*l*m_rod*r/2 + l**2*m_rod/3" in lines
    assert "Phi[1] = -c1*r - c12*l + q3" in lines
    assert "gamma[1] = -c1*r*v1**2 - c12*l*(v1 + v2)**2" in lines
    reduced = str(es.load("diaz_four_bar").equations("reduced_equations")).splitlines()
    assert "K2 = -L1*s2/(-L1*s2 + L4*s12)" in reduced
    assert "Q_r = tau" in reduced


# Typesetting ----------------------------------------------------------------------------------------------------------


def formulas(latex: str) -> list[str]:
    """Lines of an align environment, and cells of its matrices and cases, which mathtext has not, one by one."""
    made = []
    for line in re.split(r" \\\\\n", latex):
        *cells, rest = re.split(r"\\\\|&", re.sub(r"\\(begin|end)\{(matrix|cases)\}", "&", line))
        made += [re.sub(r"\\(left|right) *[\[\]{}.]", "", cell) for cell in (*cells, rest)]
    return [cell for cell in made if cell.strip()]


def with_every_word(lines: list[str]) -> list[str]:
    """Lines, the shortest first, that together have every word of all: a command and what it holds, whatever the names and
    numbers are."""
    chosen, seen = [], set[str]()
    for line in sorted(lines, key=len):
        words = set(re.sub(r"(?<![\\a-zA-Z])[a-zA-Z]+", "x", re.sub(r"\d+", "0", line)).split())
        if not words <= seen:
            chosen.append(line)
            seen |= words
    return chosen


@pytest.mark.parametrize("name", es.robots())
def test_every_line_can_be_typeset(name: str) -> None:
    """Every brace and bracket is closed. Matplotlib, which takes a hundredth of a second for a line, typesets every word of the
    small mechanisms, and of the large ones a few lines drawn at random."""
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    m = es.load(name)
    quantities = (
        ["gravity_forces"] if name not in READABLE else ["equations_of_motion", "reduced_equations"]
    )
    for quantity in quantities if m.closed else ["equations_of_motion", "energy"]:
        text = of_the_library(name, quantity).latex()
        lines = formulas(text)
        for line in lines:
            assert line.count("{") == line.count("}")
            assert line.count(r"\left") == line.count(r"\right")
        few = seeded(name).choice(lines, min(12, len(lines)), replace=False)
        for formula in with_every_word(lines) if m.nv <= 4 else few:
            parser.parse(f"${formula}$")
    assert r"\mathrm{gravity\_forces}" in of_the_library(name, "gravity_forces").latex()


# Length ---------------------------------------------------------------------------------------------------------------


@examples(4)
@given(moving_loops(most=3))
def test_equations_are_no_longer_than_the_graph(s: State) -> None:
    """Also where loops are solved for, at most so many operations are written as are computed."""
    m = s.m
    found, operations = (
        m.equations("forward_dynamics", long=True),
        m._graph("forward_dynamics", {}).n_instructions(),
    )
    lines = {e for _, e in found.definitions} | {e for result in found.results for e in result}
    assert sum(int(e.count_ops()) for e in lines) < 2 * operations + 100


def test_what_is_too_long_to_be_read_is_printed_on_demand() -> None:
    m = es.load("delta")
    about = r"equations_of_motion of delta takes about (\d+) operations.* print it with long=True"
    with pytest.raises(es.ModelError, match=about) as refused:
        m.equations()
    found = m.equations(long=True)
    assert found.results[0].shape == (18, 18)
    operations = int(re.search(about, str(refused.value))[1])  # of the graph: 5596
    lines = {e for _, e in found.definitions} | {e for result in found.results for e in result}
    assert (
        sum(int(e.count_ops()) for e in lines) < 2 * operations
    )  # what is longer would not be printed in seconds


def test_reduced_equations_need_loops() -> None:
    with pytest.raises(
        es.ModelError, match="elbow has no loops, so all its velocities are independent"
    ):
        es.load("elbow").equations("reduced_equations")


def test_a_function_of_equations_says_what_it_takes() -> None:
    f = es.load("elbow").equations("mass_matrix").function()
    with pytest.raises(
        es.InputError, match=r"in this order and with so many numbers each: q \(2\), a1 \(1\)"
    ):
        f([0.1, 0.2])
