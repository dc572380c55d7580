"""Facts on which the report on Rojas rests."""

import numpy as np
import pytest

from eslabon.reproductions.rojas import operations, straight_line
from eslabon.reproductions.rojas.tables import MIDDLE, START


@pytest.mark.parametrize("at", [START, MIDDLE])
def test_joint_rates_move_the_hand_as_the_table_says(at):
    """By central differences of the forward kinematics: step 1e-4, so that 1e-8 of truncation is left."""
    m, joints, h = straight_line.robot(), straight_line.as_tabled(at), 1e-4
    y, dy, ddy = (float(text) for text in at.hand)
    path = [m.pose(joints.q + t * joints.v + t**2 / 2 * joints.a) for t in (-h, 0.0, h)]
    np.testing.assert_allclose(path[1][:3, 3], [straight_line.X, y, straight_line.Z], atol=1e-9)
    np.testing.assert_allclose(path[1][:3, :3], straight_line.ORIENTATION, atol=1e-9)
    np.testing.assert_allclose((path[2] - path[0])[:3, 3] / (2 * h), [0, dy, 0], atol=1e-6)
    np.testing.assert_allclose((path[2] - 2 * path[1] + path[0])[:3, 3] / h**2, [0, ddy, 0], atol=1e-5)


def test_gravity_turned_over_turns_only_the_weight_over():
    joints = straight_line.as_tabled(MIDDLE)
    down, up, none = (joints.torques(g) for g in (-9.81, 9.81, 0.0))
    np.testing.assert_allclose(down + up, 2 * none, rtol=1e-12, atol=1e-9)
    assert np.abs(down - up).max() > 1e3


def test_our_counts_are_below_every_row_of_the_table():
    for robot in ("rojas_t3", "puma560"):
        best = {
            "inverse_dynamics": operations.operations(robot, "inverse_dynamics", "newton_euler"),
            "forward_dynamics": operations.operations(robot, "forward_dynamics", None),
        }
        for _, products, sums, quantity, _ in operations.METHODS:
            assert best[quantity].multiplications < products
            assert best[quantity].additions < sums
