"""The plane of motion: one for targets, maps and pictures, with y upward."""

import numpy as np
import pytest

import eslabon as es
from cases import MOBILITY
from eslabon.model.plane_of_motion import plane_directions, plane_of_motion
from eslabon.scene.scene import scene_of


def sliding(*axes, gravity=(0, 0, -9.81)) -> es.Mechanism:
    b = es.Builder("table", gravity=gravity)
    for k, axis in enumerate(axes):
        b.body(f"b{k}", mass=1.0)
        b.joint(f"s{k}", "prismatic", f"b{k - 1}" if k else "ground", f"b{k}", axis=axis)
    return (
        b.frame("tool", f"b{len(axes) - 1}", at=(0, 0, 0))
        .actuate(*(f"s{k}" for k in range(len(axes))))
        .build()
    )


def test_a_target_in_the_plane_of_a_cart_and_its_pole_is_above_the_rail_as_its_picture_is():
    m = es.load("cart_pole")
    q = m.inverse_kinematics(es.Target("tip", planar=[0.2, 0.3]))
    np.testing.assert_allclose(m.pose(q, "tip")[:3, 3], [0.2, 0.0, 0.3], atol=1e-9)
    np.testing.assert_allclose(scene_of(m).plane[:2], plane_directions(m))


@pytest.mark.parametrize("axes", ["xz", "zx", "xy", "yz"])
def test_a_table_moves_in_the_plane_of_its_slides(axes):
    m = sliding(*axes)
    first, second = sorted(axes)
    want = [np.eye(3)["xyz".index(x)] for x in (first, second)]
    np.testing.assert_allclose(plane_of_motion(m)[:2], want, atol=1e-15)
    q = m.inverse_kinematics(es.Target("tool", planar=[0.2, 0.3]))
    np.testing.assert_allclose(m.pose(q, "tool")[:3, 3], 0.2 * want[0] + 0.3 * want[1], atol=1e-12)


def test_gravity_that_points_another_way_turns_the_plane():
    np.testing.assert_allclose(
        plane_of_motion(sliding("x", "y", gravity=(0, 9.81, 0)))[:2], [[1, 0, 0], [0, -1, 0]]
    )
    np.testing.assert_allclose(plane_of_motion(sliding("x", "z", gravity=(0, 0, 0)))[1], [0, 0, 1])


def test_a_planar_joint_with_any_normal_moves_in_its_plane():
    b = es.Builder("puck").body("a", mass=1.0, inertia=(1, 1, 1))
    b.joint("j", "planar", "ground", "a", axis="y").actuate("j").frame("tool", "a", at=(0.1, 0, 0))
    m = b.build()
    np.testing.assert_allclose(plane_of_motion(m)[:2], [[1, 0, 0], [0, 0, 1]], atol=1e-15)
    q = m.inverse_kinematics(es.Target("tool", planar=[0.2, 0.3]))
    np.testing.assert_allclose(m.pose(q, "tool")[:3, 3], [0.2, 0.0, 0.3], atol=1e-9)


def test_an_arm_with_parallel_axes_and_a_slide_along_them_has_directions_across_these():
    b = es.Builder("arm").body("a", mass=1.0).body("b", mass=1.0).body("c", mass=1.0)
    b.joint("A", "revolute", "ground", "a", axis="y")
    b.joint("B", "revolute", "a", "b", axis="y", at=(1, 0, 0))
    m = b.joint("C", "prismatic", "b", "c", axis="y", at=(1, 0, 0)).build()
    assert plane_of_motion(m) is None
    np.testing.assert_allclose(plane_directions(m), [[1, 0, 0], [0, 0, 1]], atol=1e-15)


@pytest.mark.parametrize("name", MOBILITY)
def test_the_plane_is_right_handed_and_nothing_points_down(name, library):
    m = library(name)
    if (plane := plane_of_motion(m)) is None:
        assert plane_directions(m) is not None
        return
    np.testing.assert_allclose(plane @ plane.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(plane) > 0
    assert np.array(m.gravity) @ plane[1] <= 1e-9
    assert abs(np.array(m.gravity) @ plane[0]) <= 1e-9
