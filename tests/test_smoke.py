"""One test for every part of the house above the formulas: what `make quick` runs of them."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import eslabon as es


@pytest.fixture(scope="module")
def five_bar():
    return es.load("five_bar")


def test_loops_close_and_poses_are_reached(five_bar):
    q = five_bar.assemble([2.0, 1.0])
    assert np.abs(five_bar.constraint(q)).max() < 1e-12
    elbow = es.load("elbow")
    T = elbow.pose([0.3, 0.4], "tool")
    assert np.allclose(
        elbow.pose(elbow.inverse_kinematics(T, guess=[0.2, 0.3]), "tool"), T, atol=1e-9
    )


def test_a_simulation_keeps_energy_and_loops(five_bar):
    q, v, _ = five_bar.complete([2.0, 1.0], [1.0, -2.0], [0.0, 0.0])
    run = five_bar.simulate(q, v, np.linspace(0, 0.2, 11))
    assert np.ptp(run.q, axis=0).min() > 0.01
    assert run.closure.max() < 1e-10
    assert np.ptp(run.energy.total) < 1e-6 * run.energy.kinetic.max()


def test_a_linear_model_is_stabilised():
    pole = es.load("cart_pole")
    linear = pole.linearize([0.0, 0.0])
    gains = es.control.lqr(linear, Q=np.eye(4), R=np.eye(1))
    assert np.linalg.eigvals(linear.A).real.max() > 0
    assert np.linalg.eigvals(linear.A - linear.B @ gains.K).real.max() < 0


def test_a_bond_graph_moves_as_its_mechanism():
    arm = es.load("elbow")
    q, v, tau = [0.3, 0.4], [0.5, -0.2], [1.0, 2.0]
    assert np.allclose(
        arm.forward_dynamics(q, v, tau, "bond_graph"), arm.forward_dynamics(q, v, tau), rtol=1e-9
    )


def test_designs_are_swept():
    table = es.sweep(
        es.load("elbow"), "condition", over={"a1": (0.5, 1.5)}, samples=8, motion=[0.3, 0.4]
    )
    assert len(table) == 8


def test_a_drawing_is_written(five_bar, tmp_path):
    five_bar.plot(five_bar.assemble([2.0, 1.0]), path=tmp_path / "robot.svg")
    assert "<svg" in (tmp_path / "robot.svg").read_text("utf-8")


def test_a_command_answers():
    from eslabon.cli import app

    result = CliRunner().invoke(app, ["pose", "elbow", "--q", "0 0"])
    assert result.exit_code == 0, result.output
