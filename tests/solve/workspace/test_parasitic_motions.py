"""Coordinates of a platform that a map does not prescribe follow from the loops, and are layers of the map."""

import numpy as np
import pytest

import eslabon as es
from eslabon.numerics.rotations import rotation_from_rpy
from parallel_robots import L_ROD, R_BASE, R_PLATFORM, schoenflies, three_prs, three_rps

OVER = {"z": (0.1, 0.5), "roll": (-0.9, 0.9), "pitch": (-0.9, 0.9)}
LEGS = 2 * np.pi * np.arange(3) / 3


@pytest.fixture(scope="module")
def prs():
    m = three_prs()
    return m, m.workspace_map(
        "centre", OVER, (3, 12, 11), m.home(), limits=False, configurations=True
    )


def tilted(found):
    """Rotation and position of the platform where each ball stays in the vertical plane of its leg: then R is symmetric in x, y."""
    roll, pitch = (
        np.broadcast_to(x, found.grid.shape)
        for x in np.meshgrid(*found.axes.values(), indexing="ij")[1:]
    )
    yaw = np.arctan2(np.sin(roll) * np.sin(pitch), np.cos(roll) + np.cos(pitch))
    R = np.stack(
        [rotation_from_rpy(x) for x in np.stack([roll, pitch, yaw], axis=-1).reshape(-1, 3)]
    )
    R = R.reshape(*roll.shape, 3, 3)
    x = R_PLATFORM / 2 * (R[..., 0, 0] - R[..., 1, 1])
    return R, x, -R_PLATFORM * R[..., 1, 0], yaw


def balls(found):
    """Where the balls are, (legs, ..., 3), in the axes of their legs: along the radius, across, and up."""
    R, x, y, _ = tilted(found)
    z = np.broadcast_to(np.meshgrid(*found.axes.values(), indexing="ij")[0], x.shape)
    p = np.stack([x, y, z], axis=-1)
    made = []
    for a in LEGS:
        ball = p + R @ (R_PLATFORM * np.array([np.cos(a), np.sin(a), 0]))
        radial, across = np.array([np.cos(a), np.sin(a), 0]), np.array([-np.sin(a), np.cos(a), 0])
        made.append(np.stack([ball @ radial, ball @ across, ball[..., 2]], axis=-1))
    return np.stack(made)


def test_the_parasitic_motions_of_a_3prs_are_those_of_its_vertical_planes(prs):
    _, found = prs
    assert tuple(found.layers) == ("x", "y", "yaw")
    _, x, y, yaw = tilted(found)
    at = found.closes[0]
    assert np.abs(balls(found)[..., 1]).max() < 1e-15  # the formulas keep the balls in the planes
    for name, exact in (("x", x), ("y", y), ("yaw", yaw)):
        np.testing.assert_allclose(found.layers[name][0][at], exact[at], atol=1e-12)
        assert np.isnan(found.layers[name][0][~at]).all()


def test_a_3prs_closes_where_every_rod_spans_from_its_column_to_its_ball(prs):
    _, found = prs
    closes = (np.abs(R_BASE - balls(found)[..., 0]) <= L_ROD).all(axis=0)
    assert 0.05 < closes.mean() < 0.95
    np.testing.assert_array_equal(found.closes[0], closes)


def test_configurations_of_a_3prs_have_the_prescribed_coordinates(prs):
    m, found = prs
    q = found.q[found.closes]
    assert np.abs(m.constraint(q)).max() < 1e-12
    pose = m.pose(q, "centre")
    z, roll, pitch = (
        np.broadcast_to(x, found.grid.shape)[found.closes[0]]
        for x in np.meshgrid(*found.axes.values(), indexing="ij")
    )
    np.testing.assert_allclose(pose[:, 2, 3], z, atol=1e-12)
    np.testing.assert_allclose(np.arctan2(pose[:, 2, 1], pose[:, 2, 2]), roll, atol=1e-12)
    np.testing.assert_allclose(-np.arcsin(pose[:, 2, 0]), pitch, atol=1e-12)


def test_every_rod_of_a_3prs_is_below_its_slider_or_above():
    m = three_prs()
    found = m.workspace_map("centre", {**OVER, "z": 0.3}, 10, limits=False, configurations=True)
    assert len(found.modes) == 8
    signs = np.sign(np.sin(found.q[..., [1, 3, 5]]))
    each = [np.unique(own[at], axis=0) for own, at in zip(signs, found.closes, strict=True)]
    assert all(len(own) == 1 for own in each)
    assert len(np.unique(np.concatenate(each), axis=0)) == 8


def test_layers_are_in_tables_slices_modes_and_figures(prs, tmp_path):
    _, found = prs
    slice_ = found.slice(z=0.3)
    np.testing.assert_array_equal(slice_.layers["yaw"], found.layers["yaw"][:, 1])
    assert found.mode(found.modes[0]).layers["x"].shape == found.layers["x"].shape
    assert found.unit("yaw") == "rad"
    figure = slice_.plot("yaw", path=tmp_path / "yaw.png")
    assert figure.axes[-1].get_ylabel() == "yaw of centre [rad]"
    with pytest.raises(es.EslabonError, match="kind is 'parallel', 'serial', 'x', 'y' or 'yaw'"):
        found.plot("z")
    assert "yaw from, to [rad]" in found.table().columns
    pytest.importorskip("pyarrow")
    assert found.to_arrow().column_names[-3:] == ["x", "y", "yaw"]


def test_hunts_3rps_has_the_same_parasitic_motions():
    m = three_rps()
    over = {"z": 0.5, "roll": (-0.5, 0.5), "pitch": (-0.5, 0.5)}
    found = m.workspace_map("centre", over, 9, m.home(), limits=False)
    roll, pitch = np.meshgrid(*found.axes.values(), indexing="ij")
    yaw = np.arctan2(np.sin(roll) * np.sin(pitch), np.cos(roll) + np.cos(pitch))
    assert found.closes.all()
    np.testing.assert_allclose(found.layers["yaw"][0], yaw, atol=1e-12)


def test_a_map_over_pitch_and_yaw_or_roll_alone_finds_the_same_configurations(prs):
    """Which three coordinates are prescribed changes nothing, as long as they determine the platform."""
    m, found = prs
    k = (1, 8, 7)
    q = found.q[0][k]
    at = {name: axis[i] for (name, axis), i in zip(found.axes.items(), k, strict=True)}
    at |= {name: layer[0][k] for name, layer in found.layers.items()}
    half = {"z": 0.02, "x": 0.002, "y": 0.002}
    for names in (
        ("z", "pitch", "yaw"),
        ("z", "roll", "yaw"),
        ("x", "z", "roll"),
        ("y", "z", "pitch"),
    ):
        over = {name: at[name] for name in names}
        for name in names[:2]:
            over[name] = at[name] - half.get(name, 0.02), at[name] + half.get(name, 0.02)
        again = m.workspace_map("centre", over, 3, q, limits=False, configurations=True)
        np.testing.assert_allclose(again.q[0, 1, 1], q, atol=1e-9, err_msg=str(names))


def test_a_robot_that_shifts_and_turns_about_the_vertical_keeps_its_tilt():
    m = schoenflies()
    over = {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "z": 0.2, "yaw": 0.2}
    found = m.workspace_map("centre", over, 7, m.home(), limits=False, configurations=True)
    assert found.closes.all()
    assert not found.layers
    pose = m.pose(found.q[0], "centre")
    np.testing.assert_allclose(pose[..., 2, :3], np.broadcast_to([0, 0, 1], (7, 7, 3)), atol=1e-10)
    np.testing.assert_allclose(np.arctan2(pose[..., 1, 0], pose[..., 0, 0]), 0.2, atol=1e-10)
    assert np.abs(m.constraint(found.q[0])).max() < 1e-10


def test_the_angle_of_a_five_bars_coupler_is_a_layer():
    m = es.load("five_bar")
    found = m.workspace_map(over={"x": (0.0, 0.1), "y": (0.0, 0.15)}, shape=8, configurations=True)
    assert tuple(found.layers) == ("angle",)
    R = m.pose(found.q[found.closes], found.frame)
    np.testing.assert_allclose(
        np.arctan2(R[:, 1, 0], R[:, 0, 0]), found.layers["angle"][found.closes], atol=1e-12
    )


def test_a_map_over_joints_has_the_pose_as_layers():
    m = es.load("elbow")
    found = m.workspace_map(over={"theta1": (-1.0, 1.0), "theta2": (0.2, 2.0)}, shape=4)
    a, b = np.meshgrid(*found.axes.values(), indexing="ij")
    np.testing.assert_allclose(found.layers["x"][0], np.cos(a) + np.cos(a + b), atol=1e-12)
    np.testing.assert_allclose(found.layers["angle"][0], a + b, atol=1e-12)


@pytest.mark.parametrize(("make", "over", "sentence"), [
    (lambda: es.load("planar_3rrr"), {"x": (-0.1, 0.1), "y": (-0.1, 0.1)}, "leaves 1 degree of freedom of planar_3rrr open"),
    (three_prs, {"z": (0.1, 0.3), "roll": (-0.1, 0.1)}, r"leaves 1 degree of freedom of three_prs open.*\(x, y, pitch, yaw\)"),
    (three_prs, {**OVER, "yaw": 0.1}, "cannot move along"),
    (three_prs, {"z": (0.1, 0.3), "pitch": (-2.0, 2.0)}, "a pitch without roll and yaw is between -90 and 90"),
    (schoenflies, {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "z": 0.2}, "leaves 1 degree of freedom of schoenflies open.*yaw"),
    (schoenflies, {"x": (-0.1, 0.1), "roll": (-0.1, 0.1), "z": 0.2, "yaw": 0.0}, "schoenflies cannot move along 'roll'"),
    (lambda: es.load("puma560"), {"x": (0.1, 0.3), "y": (0.1, 0.3), "z": 0.0, "roll": 0.0, "pitch": 0.4}, r"leaves 1 degree.*\(yaw\)"),
])  # fmt: skip
def test_what_is_prescribed_is_independent_and_complete(make, over, sentence):
    with pytest.raises(es.ModelError, match=sentence):
        make().workspace_map(over=over)
