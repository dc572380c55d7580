"""Facts on which the report on Morales rests: Lagrange's equations, the printed formulas, observers; and figures."""

import numpy as np
import pytest
import sympy

import eslabon as es
from eslabon.reproductions import figures_of
from eslabon.reproductions.morales import (
    linear_models,
    morales_causal_paths,
    morales_lagrange,
    morales_observers,
    robot_forms,
    steady_states,
)
from eslabon.reproductions.morales.matrices import block, letters
from eslabon.reproductions.verdicts import number
from eslabon.systems.control.observers import luenberger


def test_the_robot_form_is_that_of_a_mechanism():
    """M, C and B from the energies, against eslabon's own mass matrix and Coriolis terms of the same arm."""
    robot = (
        es.Builder("stanford")
        .body("first", 1.0, inertia=(0.35, 0.35, 0.35))
        .body("second")
        .body("third", 0.7, inertia=(0.3, 0.4, 0.5))
        .joint("j1", "revolute", "ground", "first", axis="y")
        .joint("j2", "revolute", "first", "second", axis="z", motor_inertia=0.2)
        .joint("j3", "prismatic", "second", "third", axis="x")
        .build()
    )
    q, v = np.array([0.4, 0.6, 0.8]), np.array([0.3, -0.5, 0.7])
    M, C, B = morales_lagrange.robot_form(3)
    values = {
        "jx": 0.3,
        "jy": 0.4,
        "jz": 0.5,
        "i1": 0.35,
        "j1": 0.0,
        "i2": 0.2,
        "i3": 0.0,
        "m": 0.7,
        "theta2": 0.6,
        "theta3": 0.8,
    }
    at = {sympy.Symbol(k, real=True): x for k, x in values.items()}
    numbers = [np.array(x.subs(at), dtype=float) for x in (M, C, B)]
    np.testing.assert_allclose(numbers[0], robot.mass_matrix(q), atol=1e-6)
    products = np.array([v[0] * v[1], v[0] * v[2], v[1] * v[2]])
    rates = numbers[1] @ v**2 + numbers[2] @ products
    free = robot.inverse_dynamics(q, v, np.zeros(3)) - robot.inverse_dynamics(
        q, np.zeros(3), np.zeros(3)
    )
    np.testing.assert_allclose(rates, free, atol=1e-6)


def test_the_graphs_equal_lagrange_and_the_printed_forms_do_not():
    assert morales_lagrange.puma_errors(morales_lagrange._right) < 1e-10
    assert morales_lagrange.puma_errors(morales_lagrange._printed_h1) > 0.1
    assert morales_lagrange.stanford_error(-1.0) < 1e-10
    assert morales_lagrange.stanford_error(1.0) > 0.1


def test_a_block_with_a_wrong_entry_is_told_entry_by_entry():
    names = letters("a", "b")
    right = sympy.Matrix([[names["a"], 0], [1, names["b"]]])
    assert [row.what for row in block("S", ("a 0", "1 b"), right, names)] == ["S"]
    rows = block("S", ("a 0", "-1 2*b"), right, names, {(2, 1): "Because."})
    assert [row.what for row in rows] == ["S", "S, (2,1)", "S, (2,2)"]
    assert rows[0].printed == "2 of 4 entries"
    assert rows[1].remark == "Because."
    assert str(rows[2].verdict) == "not explained"
    with pytest.raises(ValueError, match="is printed"):
        block("S", ("a 0",), right, names)


def test_the_printed_formulas_are_not_the_jacobian_but_give_the_printed_digits():
    formulas, noise = linear_models.stanford_printed()
    printed = np.array([[float(x) for x in row] for row in linear_models.STANFORD_A])
    np.testing.assert_allclose(formulas, printed, rtol=1e-4, atol=1e-12)
    assert (noise >= 0).all()
    assert noise.max() < 1e-6
    right = linear_models.stanford_linear("morales_stanford").A
    assert abs(formulas - right).max() > 1


def test_right_linear_models_follow_the_graph():
    """A small step: the linear response stays by the nonlinear one, the printed one does not."""
    g = es.BondGraph.load("morales_stanford_constant")
    u, du, t = morales_observers.AT, np.array([1e-3, 1e-3, 1e-3, 0.0]), np.linspace(0, 5, 51)
    rest = g.steady_state(u)
    lm = g.linearize(rest.x, rest.u)
    B = {"linear": lm.B, "as printed": np.eye(7)[:, :4]}
    runs = linear_models.responses(
        g, u, du, {"linear": lm.A, "as printed": linear_models.stanford_printed()[0]}, t, B
    )
    moved = abs(runs["nonlinear"] - rest.x).max()
    assert abs(runs["linear"] - runs["nonlinear"]).max() < 0.01 * moved
    assert abs(runs["as printed"] - runs["nonlinear"]).max() > 0.2 * moved


@pytest.mark.parametrize("name", ["morales_puma", "morales_stanford_constant"])
def test_the_printed_gains_through_the_graph(name):
    """E^-1 H is what the graph of the observer makes of moduli H."""
    g = es.BondGraph.load(name)
    lm = linear_models.puma_linear() if g.order == 4 else morales_observers.stanford_linear(name)
    H, C = morales_observers.printed_gains(g.order), linear_models.output(g, lm)
    gains = (lm.A - morales_observers.through_graph(g, lm)) @ np.linalg.pinv(C)
    made = g.with_detectors(y="f2").observer_graph(gains=gains, x=lm.x, u=lm.u)
    np.testing.assert_allclose(made.port_gains, H, atol=1e-9)
    poles = np.linalg.eigvals(morales_observers.through_graph(g, lm))
    np.testing.assert_allclose(np.sort_complex(made.poles), np.sort_complex(poles), atol=1e-6)


def test_no_gain_observes_the_stanford_arm_from_joint_2():
    lm, g = morales_observers.stanford_linear(), es.BondGraph.load("morales_stanford")
    C = linear_models.output(g, lm)
    with pytest.raises(es.EslabonError, match="cannot be observed"):
        luenberger((lm.A, lm.B, C), [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0])
    pair = np.linalg.eigvals(lm.A - np.random.default_rng(0).normal(size=(7, 1)) @ C)
    assert min(abs(pair - 2.26455j)) < 1e-4


def test_errors_of_the_working_observers_die_out():
    t = np.array([0.0, 5.0, 20.0])
    for name, measured in (("morales_puma", ("f2",)), ("morales_stanford", morales_observers.ALL)):
        made = morales_observers.observer(name, *measured)
        assert made.stable
        errors = abs(made.errors(morales_observers.watched(made, t))).max(axis=-1)
        assert errors[0] > 0.04
        assert errors[-1] < 1e-6


def test_noise_of_poles_bounds_their_motion():
    rng = np.random.default_rng(3)
    F, spread = np.diag([-1.0, -2.0, -4.0]) + 0.1 * rng.normal(size=(3, 3)), np.full((3, 3), 1e-6)
    poles, noise = morales_observers.noisy_poles(F, spread)
    for _ in range(20):
        moved = np.linalg.eigvals(F + spread * rng.uniform(-1, 1, (3, 3)))
        apart = abs(moved[:, None] - poles[None, :]).min(axis=0)
        assert (apart < noise * 1.001).all()


def test_paths_without_repetitions():
    assert morales_causal_paths.collapsed("3 3 4 4 5 24 24 23") == "3 4 5 24 23"
    assert all(
        len(paths) == (0 if element == "ig" else len(paths))
        for element, paths in morales_causal_paths.from_output("(5.79)").items()
    )
    assert not morales_causal_paths.from_output("(5.79)")["ig"]


def test_case_b_is_an_equilibrium():
    found = steady_states.held()
    g = steady_states.constant()
    np.testing.assert_allclose(g.rates(found.x, found.u), 0, atol=1e-9)
    assert found["q53"] == pytest.approx(0.5)


def test_figures(tmp_path):
    files = figures_of("morales", tmp_path / "deep" / "morales")
    assert len(files) == 11
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_size > 15_000


def test_a_printed_zero_agrees_with_zero_only():
    rows = {row.what: row for row in linear_models.puma().rows}
    lost = rows["A(1,3) (5.73)"]
    assert lost.printed == "0"
    assert lost.difference == pytest.approx(5 / 6)  # 1/c2 by E
    assert str(lost.verdict) == "print is wrong"
    assert str(number("x", "0", 0.3, reason="Because.").verdict) == "print is wrong"
    assert str(number("x", "0", 1e-12).verdict) == "agrees"
    assert str(number("x", "0.0", 0.03).verdict) == "agrees"


EVERY = [
    *(f"(4.{k})" for k in (*range(61, 71), 102, *range(109, 119), 122, 152, 153, 161)),
    *(f"(4.{k})" for k in (175, 176, 177, 180)),
    *(f"(5.{k})" for k in (*range(33, 41), 51)),
]
WRONG = {"(4.62)", "(4.112)", "(4.115)", "(4.175)", "(4.176)", "(4.177)", "(5.51)"}


def test_every_equation_of_the_robot_forms_has_a_row_and_a_reason_if_it_is_wrong():
    rows = [row for section in robot_forms.sections() for row in section.rows]
    missing = [where for where in EVERY if not any(where in row.what for row in rows)]
    assert missing == []
    assert not [row.what for row in rows if str(row.verdict) == "not explained"]
    wrong = [row for row in rows if str(row.verdict) == "print is wrong"]
    assert {row.what[row.what.index("(") :][:7].rstrip(",") for row in wrong} <= WRONG
    assert all(any(where in row.what for row in wrong) for where in WRONG)
    assert all(row.remark for row in wrong)
