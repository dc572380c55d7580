"""Facts on which the report on Rojas rests."""

import numpy as np
import pytest

import eslabon as es
from eslabon.reproductions.rojas import (
    derivation,
    histories,
    iterations,
    listing,
    modal_gains,
    modal_responses,
    nonlinear_control,
    operations,
    path_synthesis,
    perturbed_path,
    straight_line,
)
from eslabon.reproductions.rojas.rojas_tables import KP, MIDDLE, PERTURBED, START, TERMS


@pytest.mark.parametrize("at", [START, MIDDLE])
def test_joint_rates_move_the_hand_as_the_table_says(at):
    """By central differences of the forward kinematics: step 1e-4, so that 1e-8 of truncation is left."""
    m, joints, h = straight_line.robot(), straight_line.as_tabled(at), 1e-4
    y, dy, ddy = (float(text) for text in at.hand)
    path = [m.pose(joints.q + t * joints.v + t**2 / 2 * joints.a) for t in (-h, 0.0, h)]
    np.testing.assert_allclose(path[1][:3, 3], [straight_line.X, y, straight_line.Z], atol=1e-9)
    np.testing.assert_allclose(path[1][:3, :3], straight_line.ORIENTATION, atol=1e-9)
    np.testing.assert_allclose((path[2] - path[0])[:3, 3] / (2 * h), [0, dy, 0], atol=1e-6)
    np.testing.assert_allclose(
        (path[2] - 2 * path[1] + path[0])[:3, 3] / h**2, [0, ddy, 0], atol=1e-5
    )


def test_gravity_turned_over_turns_only_the_weight_over():
    joints = straight_line.as_tabled(MIDDLE)
    down, up, none = (joints.torques(g) for g in (-9.81, 9.81, 0.0))
    np.testing.assert_allclose(down + up, 2 * none, rtol=1e-12, atol=1e-9)
    assert np.abs(down - up).max() > 1e3


def test_our_counts_are_below_the_thesis_on_an_arm_without_special_numbers():
    m = operations.robot("general 6R")
    assert all(abs(x) > 1e-2 for j in m.joints[1:] for x in (*j.at.position[::2], j.at.rpy[0]))
    assert all(abs(x) > 1e-2 for x in m.gravity)
    for _, products, sums, quantity, formulation in operations.METHODS:
        found = operations.operations("general 6R", quantity, formulation)
        assert (found.multiplications, found.additions) < (products, sums)
        assert found.additions < sums
    special = operations.operations("rojas_t3", "inverse_dynamics", "newton_euler")
    assert (
        special.total
        < operations.operations("general 6R", "inverse_dynamics", "newton_euler").total / 2
    )


# -- chapter 5 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [START, MIDDLE])
def test_the_formulas_without_slips_are_the_linear_model(at):
    state, lm = derivation.arm(at), straight_line.linear(at)
    for found, exact in (
        (listing.position_matrix(state), lm.W),
        (listing.rate_matrix(state), lm.V),
    ):
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-11 * np.abs(exact).max())


def test_the_exact_position_matrix_is_the_slope_of_the_torques():
    """By central differences of sixth order, whose error is that of round-off."""
    m, joints = straight_line.robot(9.81), straight_line.as_tabled(MIDDLE)
    nodes = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    step = 2e-3
    columns = [
        sum(
            w * m.inverse_dynamics(joints.q + k * step * e, joints.v, joints.a)
            for k, w in nodes.items()
        )
        / step
        for e in np.eye(6)
    ]
    np.testing.assert_allclose(straight_line.linear(MIDDLE).W, np.transpose(columns), atol=1e-6)


def test_all_four_slips_are_needed_for_the_printed_gains():
    state, lm, printed = derivation.arm(), straight_line.linear(MIDDLE), np.array(KP, dtype=float)

    def apart(slips):
        return np.abs(lm.U - listing.position_matrix(state, slips) - printed).max()

    assert apart(listing.SLIPS) < 0.06  # half a unit of .24760E+04
    for slip in listing.SLIPS:
        assert apart(set(listing.SLIPS) - {slip}) > 1


def test_a_slip_at_another_instant_explains_what_it_was_not_fitted_to():
    deltas = np.array(PERTURBED["delta theta"], dtype=float)
    found = modal_gains.listed(START) @ deltas
    assert found[0] == pytest.approx(float(TERMS["W delta theta"][0]), rel=1e-4)
    assert abs(straight_line.linear(START).W[0] @ deltas - found[0]) > 0.009


def test_the_gains_put_every_pole_where_it_is_wanted():
    for at in (START, MIDDLE):
        lm = straight_line.linear(at)
        K = np.hstack(modal_gains.gains(lm, lm.W))
        poles = np.linalg.eigvals(lm.A - lm.B @ K)
        np.testing.assert_allclose(poles.real, -np.sqrt(0.5), atol=1e-9)
        np.testing.assert_allclose(np.abs(poles.imag), np.sqrt(0.5), atol=1e-9)


def test_the_response_of_the_whole_motion_holds_the_table():
    found = perturbed_path.response()
    k = int(np.abs(found.t - START.t).argmin())
    printed = np.array(PERTURBED["delta f"], dtype=float)
    np.testing.assert_allclose(found.true[k], printed, atol=0.011)  # the print lacks a term of z''
    half = np.abs(found.residual).max(axis=0) / np.abs(found.true).max(axis=0, initial=1.0)
    assert half[:4].max() < 0.1


def test_figures_are_drawn(tmp_path, monkeypatch):
    """One of a kind: each takes a second."""
    monkeypatch.setattr(histories, "JOINTS", range(5, 6))
    drawn = [
        iterations.figure(),
        path_synthesis.figure(),
        *histories.figures(),
        modal_responses.figure(),
        nonlinear_control.figure(),
    ]
    made = [figure.save(tmp_path) for figure in drawn]
    assert [path.stem for path in made] == [
        "figures_3_3_3_to_3_3_5_round_off", "section_3_6_path_synthesis", "figure_4_4_2_motion_law", "figure_4_4_8_joint_6",
        "figure_5_4_2_joint_6", "table_5_4_2_response", "section_5_6_modal_control",
        "section_5_6_nonlinear",
    ]  # fmt: skip
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)


def test_the_law_of_modal_control_has_these_gains():
    m = straight_line.robot(9.81)
    law = es.control.modal(m, straight_line.whole(), frequency=1.0, damping=np.sqrt(0.5))
    k = int(np.abs(law.data["t"] - MIDDLE.t).argmin())
    near = es.as_trajectory(m, straight_line.whole()).at(law.data["t"][k])
    lm = m.linearize(near.q, near.v, a=near.a)
    for found, want in zip(
        (law.data["Kp"][k], law.data["Kd"][k]), modal_gains.gains(lm, lm.W), strict=True
    ):
        np.testing.assert_allclose(found, want, atol=1e-6)


def test_least_gains_place_the_poles_that_modal_gains_have():
    """With equal oscillators the modal gains are the only ones; with others there are smaller ones."""
    lm = straight_line.linear(MIDDLE)
    assert np.linalg.norm(nonlinear_control.least_gains()) < np.linalg.norm(
        np.hstack(modal_gains.gains(lm, lm.W))
    )
    pair = [complex(-np.sqrt(0.5), np.sqrt(0.5)), complex(-np.sqrt(0.5), -np.sqrt(0.5))]
    only = es.control.place(lm, pair * 6, method="minimum_norm").K
    np.testing.assert_allclose(only, np.hstack(modal_gains.gains(lm, lm.W)), rtol=0, atol=1e-3)


def test_the_hand_comes_back_under_modal_control_and_not_under_that_of_single_joints():
    ends = {
        name: nonlinear_control.hand_error(nonlinear_control.run(name, nonlinear_control.OFF))[-1]
        for name in (nonlinear_control.EXACT, nonlinear_control.JOINTS)
    }
    assert ends[nonlinear_control.EXACT] < 1.0
    assert ends[nonlinear_control.JOINTS] > 100.0
