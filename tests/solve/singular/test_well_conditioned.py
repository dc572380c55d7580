"""A well-conditioned configuration is one of greatest reciprocal condition number, as `conditions` reports it."""

import numpy as np
import pytest

import eslabon as es
from scaling import scaled, scaled_coordinates


@pytest.mark.parametrize(
    ("name", "limits", "least"),
    [
        ("panda_like", True, 3.06),
        ("stanford_arm", False, 2.84),
        ("stanford_arm", True, 3.03),  # the wrist at its limit
        ("ur5e_like", True, 3.09),
    ],
)
def test_the_least_condition_numbers_of_arms(name, limits, least):
    m = es.load(name)
    q = m.well_conditioned(limits=limits)
    assert 1 / m.conditions(q).serial < least
    np.testing.assert_array_equal(q, es.load(name).well_conditioned(limits=limits))


def test_loops_are_closed_and_no_sample_is_better():
    m = es.load("five_bar")
    q = m.well_conditioned()
    assert np.abs(m.constraint(q)).max() < 1e-9
    found, many = m.conditions(q), m.workspace(samples=500).conditions
    assert min(found.parallel, found.serial) >= np.minimum(many.parallel, many.serial).max() - 1e-9


@pytest.mark.parametrize("factor", [1e-7, 1e6])
def test_the_unit_of_length_makes_no_difference(factor):
    m = es.load("stanford_arm")
    q = scaled(m, factor).well_conditioned("tool" if m.frames else None)
    expected = m.conditions(m.well_conditioned()).serial
    assert scaled(m, factor).conditions(q).serial == pytest.approx(float(expected), rel=1e-6)


# -- what else must not depend on the unit of length -------------------------------------------------


@pytest.mark.parametrize("factor", [1e-7, 1e6])
def test_lost_and_gained_motions_scale(factor):
    m = es.load("parallelogram")
    one = m.singularity(np.zeros(3), "coupler")
    other = scaled(m, factor).singularity(scaled_coordinates(m, np.zeros(3), factor), "coupler")
    assert (one.exact, len(one.gained), one.locked) == (
        other.exact,
        len(other.gained),
        other.locked,
    )
    np.testing.assert_allclose(other.gained, one.gained, rtol=1e-9)
    arm = es.load("puma560")
    q = np.array([0.3, 0.7, -2.5, 0.4, 0.0, 0.2])
    one, other = arm.singularity(q), scaled(arm, factor).singularity(q)
    np.testing.assert_allclose(other.lost[:, :3], one.lost[:, :3], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.lost[:, 3:] / factor, one.lost[:, 3:], rtol=1e-6, atol=1e-9)
    assert [x.split()[:4] for x in one.words] == [x.split()[:4] for x in other.words]


@pytest.mark.parametrize("factor", [1e-7, 1e6])
def test_ellipsoids_scale(factor):
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    small = scaled(m, factor).manipulability(scaled_coordinates(m, q, factor), part="translation")
    expected = m.manipulability(q, part="translation").lengths
    np.testing.assert_allclose(small.lengths / factor, expected, rtol=1e-9)


def test_a_lane_is_singular_whatever_its_neighbours_are():
    m = es.load("parallelogram")
    flat, home = np.zeros(3), m.home()
    assert m.conditions(flat).singular
    assert m.conditions(np.stack([flat, flat])).singular.all()
    assert list(m.conditions(np.stack([home, flat])).singular) == [False, True]
