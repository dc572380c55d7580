"""A mechanism and the ranges of its map times any factor: the same poses, modes and condition numbers."""

import numpy as np
import pytest

import eslabon as es
from parallel_robots import three_prs
from scaling import scaled

FACTORS = (1e-7, 1e-2, 1e6)
CASES = {
    "five_bar": (lambda: es.load("five_bar"), {"x": (-0.1, 0.2), "y": (-0.15, 0.15)}, 13),
    "planar_3rrr": (lambda: es.load("planar_3rrr"), {"x": (-0.25, 0.25), "y": (-0.25, 0.25), "angle": 0.3}, 12),
    "slides": (lambda: es.load("scara"), {"x": (-0.7, 0.7), "z": (0.1, 0.4), "y": 0.2, "yaw": 0.5}, (12, 5)),
    "delta": (lambda: es.load("delta"), {"x": (-0.9, 0.9), "y": (-0.9, 0.9), "z": -0.5}, 9),
    "three_prs": (three_prs, {"z": (0.1, 0.5), "roll": (-0.9, 0.9), "pitch": 0.3}, 9),
}  # fmt: skip
LENGTHS = ("x", "y", "z")


def times(over, factor):
    return {name: np.multiply(x, factor if name in LENGTHS else 1.0) for name, x in over.items()}


@pytest.mark.parametrize("name", list(CASES))
def test_no_pose_mode_or_condition_number_depends_on_the_unit_of_length(name):
    make, over, shape = CASES[name]
    m = make()
    first = m.workspace_map(over=over, shape=shape)
    assert 0 < first.closes.mean() <= 1
    for factor in FACTORS:
        found = scaled(m, factor).workspace_map(over=times(over, factor), shape=shape)
        assert found.modes == first.modes
        assert found.mode_joints == first.mode_joints
        assert found.part == first.part
        for own in ("closes", "within_limits", "sign", "serial_sign", "components"):
            np.testing.assert_array_equal(getattr(found, own), getattr(first, own), err_msg=own)
        for own in ("parallel", "serial"):
            np.testing.assert_allclose(getattr(found, own), getattr(first, own), rtol=0, atol=1e-9)
        assert tuple(found.layers) == tuple(first.layers)
        for own, layer in first.layers.items():
            unit = factor if own in LENGTHS else 1.0
            np.testing.assert_allclose(found.layers[own] / unit, layer, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.dexterity, first.dexterity, rtol=1e-9)


def test_a_variant_of_another_size_is_judged_by_its_own_length():
    """Variants share compiled code, in which the length is an input."""
    m = es.load("five_bar")
    lengths = ("L1", "L2", "L3", "L4", "L5")
    over = {"x": (-0.1, 0.2), "y": (-0.15, 0.15)}
    first = m.workspace_map(over=over, shape=11)
    for factor in (1e-6, 1e4):
        design = {name: m.parameters[name] * factor for name in lengths}
        found = m.workspace_map(over=times(over, factor), shape=11, parameters=design)
        assert found.modes == first.modes
        np.testing.assert_array_equal(found.closes, first.closes)
        np.testing.assert_allclose(found.serial, first.serial, rtol=0, atol=1e-9)


@pytest.mark.parametrize("factor", FACTORS)
def test_samples_of_a_workspace_scale(factor):
    m = three_prs()
    first, found = (x.workspace("centre", samples=40) for x in (m, scaled(m, factor)))
    np.testing.assert_array_equal(found.is_reached, first.is_reached)
    np.testing.assert_allclose(
        found.poses[:, :3, 3], first.poses[:, :3, 3] * factor, rtol=0, atol=1e-9 * factor
    )
    np.testing.assert_allclose(found.conditions.serial, first.conditions.serial, rtol=0, atol=1e-9)


def test_round_off_decides_no_mode():
    """A 3-PRS has mirror images, whose legs are equally far from home: which of them begins a mode is
    no matter of the last digit."""
    over = {"z": (0.2, 0.4), "pitch": (-0.3, 0.3), "yaw": 0.05}
    m = three_prs()
    first = m.workspace_map("centre", over, 8, limits=False)
    for factor in (1 + 1e-13, 1 - 1e-13, 1.1):
        found = scaled(m, factor).workspace_map("centre", times(over, factor), 8, limits=False)
        assert found.modes == first.modes
        np.testing.assert_allclose(found.parallel, first.parallel, rtol=0, atol=1e-9)
