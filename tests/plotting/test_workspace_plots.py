"""Workspaces: in the plane or in space with equal axes, coloured by condition, singular where the determinant changes its sign."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.plotting import drawing_plane
from eslabon.solve.singular.singular_set import square_part


@pytest.fixture(scope="module")
def arm():
    return es.load("elbow").workspace("tool", samples=150)


@pytest.fixture(scope="module")
def five_bar():
    return es.load("five_bar").workspace(samples=80)


def test_a_planar_arm_is_drawn_in_its_plane_with_equal_axes(arm):
    ax, bar = arm.plot().axes
    assert ax.name == "rectilinear"
    assert ax.get_aspect() == 1.0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x of tool [m]", "y of tool [m]")
    assert bar.get_ylabel() == "reciprocal condition number, serial kind, of its translation"
    np.testing.assert_allclose(
        np.sort(ax.collections[0].get_offsets()[:, 0]), np.sort(arm.poses[:, 0, 3])
    )


def test_the_singular_curves_of_an_arm_are_where_it_is_stretched_and_folded(arm):
    ax = arm.plot().axes[0]
    curves = ax.collections[1]
    ends = np.concatenate(curves.get_segments())
    assert curves.get_label() == "singular, serial kind"
    np.testing.assert_allclose(np.unique(np.linalg.norm(ends, axis=1).round(6)), [0.0, 2.0])
    turn = np.arctan2(ends[:, 1], ends[:, 0])[np.linalg.norm(ends, axis=1) > 1]
    assert np.diff(np.sort(turn)).max() < 0.5  # all around, with no gap
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["singular, serial kind"]


def test_the_determinant_vanishes_on_the_curves(five_bar):
    m = five_bar.m
    found = five_bar.singular_configurations("serial")
    made = m.conditions(found, five_bar.frame, "translation")
    assert len(found) > 20
    assert made.serial.max() < 1e-6
    assert made.parallel.min() > 1e-3
    assert np.abs(m.constraint(found)).max() < 1e-9


def test_parallel_singular_configurations_are_beyond_what_actuators_reach():
    m = es.load("planar_3rrr")
    space = m.workspace("centre", samples=60)
    found = space.singular_configurations("parallel")
    assert len(found) > 5
    assert m.conditions(found, "centre").parallel.max() < 1e-6
    assert len(space.plot(singular=False).axes[0].collections) == 1
    labels = [x.get_label() for x in space.plot().axes[0].collections[1:]]
    assert labels[0] == "singular, parallel kind"


def test_a_spatial_robot_is_drawn_in_space_with_equal_axes():
    space = es.load("puma560").workspace(samples=60)
    ax, bar = space.plot(theme="dark").axes
    assert ax.name == "3d"
    assert ax.get_zlabel() == "z of tool [m]"
    limits = np.array([np.ptp(limit) for limit in (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())])
    np.testing.assert_allclose(limits / ax._box_aspect, limits[0] / ax._box_aspect[0])
    assert bar.get_ylabel() == "reciprocal condition number, serial kind"
    assert len(ax.collections[0].get_offsets()) == 60
    assert (
        es.load("puma560").conditions(space.singular_configurations("serial"), "tool").serial.max()
        < 1e-6
    )


def test_the_plane_of_a_cloud(rng):
    flat = rng.normal(size=(30, 2))
    for k in range(3):
        np.testing.assert_array_equal(
            drawing_plane(np.insert(flat, k, 0.5, axis=1)), np.delete(np.eye(3), k, axis=0)
        )
    slanted = flat @ np.array([[1.0, 0, 0], [0, 0.6, 0.8]])
    plane = drawing_plane(slanted)
    np.testing.assert_allclose(plane @ plane.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(slanted @ plane.T, axis=1), np.linalg.norm(slanted, axis=1)
    )
    assert drawing_plane(rng.normal(size=(30, 3))) is None
    assert drawing_plane(np.zeros((4, 3))).shape == (2, 3)
    line = np.outer(np.linspace(0, 1, 5), [1.0, 1.0, 1.0])
    assert drawing_plane(line).shape == (2, 3)


def test_which_part_of_a_twist_has_a_determinant():
    assert square_part(es.load("elbow"), "tool") == "translation"
    assert square_part(es.load("puma560"), "tool") == "all"
    assert (
        square_part(es.load("panda_like"), es.load("panda_like").frames[0].name) is None
    )  # seven joints


def test_what_is_no_kind(arm):
    for call in (lambda: arm.plot("paralel"), lambda: arm.singular_configurations("paralel")):
        with pytest.raises(es.ModelError, match="did you mean 'parallel'"):
            call()
    with pytest.raises(es.InputError, match="singular is True or False"):
        arm.plot(singular="yes")


def test_of_an_arm_with_a_joint_too_many_nearly_singular_samples_are_marked():
    m = es.load("panda_like")
    space = m.workspace(m.frames[0].name, samples=200)
    marked = space.plot().axes[0].collections[1]
    assert marked.get_label() == "nearly singular, serial kind"
    assert len(marked.get_offsets()) == (space.conditions.serial < 0.02).sum() > 0
    assert not len(space.singular_configurations("serial"))
