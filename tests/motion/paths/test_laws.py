"""Laws start and end as they say, and their derivatives are theirs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eslabon import paths
from eslabon.reproductions.rojas.path_program import splined_cycloid
from motion.paths.differences import away_from, derivative

SMOOTH = [paths.cycloidal(1.7), paths.quintic(1.7), paths.septic(1.7), splined_cycloid(1.7)]
LAWS = [
    *SMOOTH,
    paths.trapezoidal(1.7),
    paths.trapezoidal(1.7, fraction=0.5),
    paths.spline_law([0, 0.4, 1.1, 1.7], [0, 0.3, 0.8, 1]),
    paths.spline_law([0, 0.4, 1.1, 1.7], [0, 0.3, 0.8, 1], degree=5),
    paths.spline_law([0, 0.4, 1.1, 1.7], [0, 0.3, 0.8, 1], ends="free"),
    paths.spline_law([0, 0.4, 1.1, 1.7], [0, 1, 0.2, 0], ends="periodic"),
    paths.spline_law([0, 0.4, 1.1, 1.7], [0, 1, 0.2, 0], degree=5, ends="periodic"),
]


def names(law):
    return law.name


@pytest.mark.parametrize("law", LAWS, ids=names)
def test_every_derivative_is_that_of_the_one_before(law):
    t = away_from(law.breaks, np.linspace(0.01, 1.69, 57))
    for order in (1, 2, 3):
        scale = law.profile.peak(order) + law.profile.peak(order - 1)
        # The fifth derivative of the cycloid's s'' is (2π)⁶ = 6e4, and 6e4 h⁴/30 = 2e-9 with h = 1e-3.
        assert law(t, order) == pytest.approx(
            derivative(lambda x, k=order - 1: law(x, k), t), abs=1e-8 * scale
        )


@pytest.mark.parametrize("law", LAWS, ids=names)
def test_a_law_stays_at_its_ends(law):
    start, end = law(0.0), law(law.duration)
    assert law([-3.0, -1e-9]).tolist() == [start, start]
    assert law([law.duration + 1e-9, 9.0]).tolist() == [end, end]
    for order in (1, 2, 3):
        assert not law([-3.0, -1e-9, law.duration + 1e-9, 9.0], order).any()


@pytest.mark.parametrize("law", SMOOTH, ids=names)
def test_laws_that_rest_run_from_0_to_1_without_turning_back_and_end_in_rest(law):
    assert law([0.0, law.duration]) == pytest.approx([0.0, 1.0], abs=1e-15)
    for order in (1, 2):
        assert law([0.0, law.duration], order) == pytest.approx([0.0, 0.0], abs=1e-13)
    assert law.rests
    assert "rests at both ends" in repr(law)
    assert (law(np.linspace(0, law.duration, 101), 1) > -1e-15).all()
    # They are symmetric about the middle.
    t = np.linspace(0, law.duration, 50)
    assert law(t) + law(law.duration - t) == pytest.approx(np.ones(50), abs=1e-14)


def test_laws_that_do_not_rest_say_so():
    assert [law.rests for law in LAWS[4:]] == [False, False, False, True, False, False, False]
    assert "jumps at the ends" in repr(paths.trapezoidal(1.0))


def test_the_septic_has_no_jerk_at_its_ends():
    assert paths.septic(2.0)([0.0, 2.0], 3).tolist() == [0.0, 0.0]


def test_a_trapezium_has_constant_acceleration_velocity_and_deceleration():
    law = paths.trapezoidal(2.0, fraction=0.2)
    assert law([0.1, 1.0, 1.9], 2) == pytest.approx(
        [1 / (0.2 * 0.8 * 4), 0.0, -1 / (0.2 * 0.8 * 4)]
    )
    assert law([0.4, 1.0, 1.6], 1) == pytest.approx([1 / (0.8 * 2)] * 3)
    assert law([0.0, 2.0]) == pytest.approx([0.0, 1.0], abs=1e-15)
    assert law([0.0, 2.0], 1) == pytest.approx([0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize(
    ("t", "printed"), [(0.05, (0.00082, 0.04894, 1.95774)), (0.45, (0.40082, 1.95106, 1.95774))]
)
def test_the_splined_cycloid_gives_rojas_printed_motion(t, printed):
    """Tables 5.4.1 and 5.6.1 print five decimals."""
    law = splined_cycloid(1.0)
    assert [law(t, order) for order in (0, 1, 2)] == pytest.approx(printed, abs=5e-6)


def test_the_splined_cycloid_gives_the_joint_angle_that_tells_it_from_the_cycloid():
    """θ1 = 0.05073 degrees at t = 0.05: the wrist is 1.33125 - 0.41 m from the first axis; a pure cycloid has 0.05090."""
    wrist = 1.33125 - 0.41
    splined, pure = (
        math.degrees(math.atan2(law(0.05), wrist))
        for law in (splined_cycloid(1), paths.cycloidal(1))
    )
    assert splined == pytest.approx(0.05073, abs=5e-6)
    assert pure == pytest.approx(0.05090, abs=5e-6)


def test_the_splined_cycloid_meets_its_definition_at_the_nodes_and_becomes_the_cycloid():
    tau, h = np.linspace(0, 1, 21), 0.05
    law = splined_cycloid(1.0)
    assert law(tau, 1) == pytest.approx(1 - np.cos(2 * np.pi * tau), abs=1e-14)
    assert law(tau, 2) == pytest.approx(
        2 / h * np.tan(np.pi * h) * np.sin(2 * np.pi * tau), abs=1e-13
    )
    t = np.linspace(0, 1, 301)
    errors = [
        np.abs(splined_cycloid(1.0, n)(t) - paths.cycloidal(1.0)(t)).max() for n in (21, 41, 81)
    ]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.05)  # as a cubic spline should, with h⁴
    assert errors[1] / errors[2] == pytest.approx(16, rel=0.05)


def test_splines_go_through_their_points_and_end_as_asked():
    times, values = [1.0, 1.4, 2.1, 2.7], [0, 0.3, 0.8, 1]
    clamped = paths.spline_law(times, values)
    assert clamped(np.array(times) - 1.0) == pytest.approx(values, abs=1e-15)
    assert clamped([0.0, clamped.duration], 1) == pytest.approx([0, 0], abs=1e-14)
    periodic = paths.spline_law(times, [0, 1, 0.2, 0], ends="periodic")
    for order in (0, 1, 2):
        assert periodic(0.0, order) == pytest.approx(periodic(periodic.duration, order), abs=1e-12)
    quintic = paths.spline_law(times, [0, 1, 0.2, 0], degree=5, ends="periodic")
    for order in (0, 1, 2, 3):
        scale = quintic.profile.peak(order + 1)
        assert quintic(0.0, order) == pytest.approx(
            quintic(quintic.duration, order), abs=1e-12 * scale
        )


def test_waiting_shifts_the_law_and_keeps_its_speed():
    law, waited = paths.quintic(1.0), paths.quintic(1.0).wait(before=0.5, after=0.25)
    t = np.linspace(0, 1, 11)
    assert waited.duration == 1.75
    for order in range(4):
        assert waited(t + 0.5, order) == pytest.approx(law(t, order), abs=1e-12)
    assert waited([0.0, 0.4, 1.6, 1.75]).tolist() == [0, 0, 1, 1]
    assert waited.rests
    assert waited.lasting(3.5)(1.0 + 2 * t) == pytest.approx(law(t), abs=1e-14)


@pytest.mark.parametrize("law", LAWS, ids=names)
def test_peaks_are_the_greatest_values(law):
    t = np.linspace(0, law.duration, 20001)
    for order in (1, 2):
        seen = np.abs(law(t, order)).max() * law.moving**order
        assert seen <= law.profile.peak(order) * (1 + 1e-12)
        assert seen == pytest.approx(law.profile.peak(order), rel=1e-3)


def test_peaks_of_the_textbook():
    assert paths.cycloidal(1).profile.peak(1) == 2.0
    assert paths.cycloidal(1).profile.peak(2) == pytest.approx(2 * math.pi)
    assert paths.quintic(1).profile.peak(1) == pytest.approx(15 / 8)
    assert paths.quintic(1).profile.peak(2) == pytest.approx(10 / math.sqrt(3))
    assert paths.septic(1).profile.peak(1) == pytest.approx(35 / 16)


@given(
    law=st.sampled_from(LAWS),
    travel=st.floats(0.01, 100),
    velocity=st.floats(0.01, 100),
    acceleration=st.floats(0.01, 100),
)
def test_the_shortest_duration_keeps_both_limits_and_meets_one(law, travel, velocity, acceleration):
    fast = law.within(travel, velocity=velocity, acceleration=acceleration)
    peaks = [travel * law.profile.peak(k) / fast.moving**k for k in (1, 2)]
    parts = [peaks[0] / velocity, peaks[1] / acceleration]
    assert max(parts) == pytest.approx(1.0, rel=1e-12)


def test_limits_may_be_one_for_each_joint_and_rests_are_kept():
    law = paths.cycloidal(9.0).wait(before=1.0)
    assert law.within([1.0, -3.0], velocity=[1.0, 2.0]).duration == pytest.approx(3.0 + 1.0)
    assert law.within(1.0, acceleration=2 * math.pi).duration == pytest.approx(2.0)


def test_any_shape_of_times():
    t = np.linspace(-1, 3, 24)
    for law in LAWS:
        for order in range(4):
            assert law(t.reshape(2, 3, 4), order).ravel().tolist() == [law(x, order) for x in t]
