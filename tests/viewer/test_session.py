"""A mechanism moved by hand: loops stay closed, limits are kept, and what is in the way is said."""

import re

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import limits
from eslabon.viewer.session import Session, drives_of, frames_of, quantity, task_of


def drive(session, name):
    return next(d for d in session.drives if d.name == name)


def closed(session):
    return not session.m.closed or np.abs(session.m.constraint(session.q)).max() < 1e-9


@pytest.mark.parametrize(
    "name", ["five_bar", "planar_3rrr", "stewart_gough", "excavator", "puma560", "rssr"]
)
def test_sliders_move_their_joints_alone_and_loops_stay_closed(name):
    s = Session.of(es.load(name))
    rng = np.random.default_rng(0)
    for d in s.drives:
        before = s.q.copy()
        value = before[d.place] + rng.uniform(-1, 1) * 0.03 * (d.upper - d.lower)
        said = s.move(d, value)
        assert closed(s)
        if not said:
            assert s.q[d.place] == pytest.approx(value, abs=1e-12)
        others = [e.place for e in s.drives if e.place != d.place]
        assert np.abs(s.q[others] - before[others]).max(initial=0.0) < 1e-9


def test_a_slider_that_sweeps_its_whole_range_stays_on_its_branch_within_limits():
    s = Session.of(es.load("stewart_gough"))
    lower, upper = limits(s.m)
    for value in (0.85, 0.5, 0.7, -3.0, 9.0):
        s.move(s.drives[0], value)
        assert closed(s)
        assert ((s.q >= lower - 1e-9) & (s.q <= upper + 1e-9)).all()


def test_a_joint_goes_as_far_as_the_loops_close_and_says_so():
    s = Session.of(es.load("slider_crank").with_actuated(["slide"]))
    d = drive(s, "slide")
    said = s.move(d, d.upper + 10)
    assert "slide stops at" in said
    assert "singular configuration" in said
    assert closed(s)
    # Where crank and rod are in line: nothing is left beyond.
    stretched = float(s.m.pose(s.q, s.m.bodies[-1].name)[0, 3])
    assert s.q[d.place] > 0.99 * max(stretched, s.q[d.place])
    assert s.m.conditions(s.q).parallel < 0.3


def test_limits_of_an_arm_are_kept_and_said_in_degrees():
    s = Session.of(es.load("puma560"))
    assert s.move(drive(s, "q1"), -4.0) == "q1 stands at its limit of -160°."
    assert s.q[0] == pytest.approx(np.deg2rad(-160))


def test_limits_of_other_joints_are_kept_too():
    m = es.load("five_bar")
    q = Session.of(m).q
    m = m.with_joint("theta3", limits=(q[1] - 0.2, q[1] + 0.2))
    s = Session.of(m)
    said = s.move(drive(s, "theta2"), s.q[0] + 1.0)
    assert "'theta3'" in said
    assert "beyond its limits" in said
    assert closed(s)
    assert abs(s.q[1] - q[1]) <= 0.2 + 1e-9


@pytest.mark.parametrize(
    ("name", "frame", "task"),
    [
        ("delta", "centre", "position"),
        ("planar_3rrr", "centre", "pose"),
        ("five_bar", "point", "position"),
        ("puma560", "tool", "pose"),
        ("rssr", "lever", "orientation"),
    ],
)
def test_what_can_be_asked_of_a_frame(name, frame, task):
    assert task_of(es.load(name), frame) == task


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "delta", "puma560"])
def test_a_frame_that_is_led_is_followed(name):
    s = Session.of(es.load(name))
    goal = s.pose(s.frame).copy()
    goal[:2, 3] += 0.04 * goal[2, 3] or 0.004
    assert s.reach(s.frame, goal) == ""
    assert np.abs(s.pose(s.frame)[:3, 3] - goal[:3, 3]).max() < 1e-8
    assert closed(s)


def test_a_frame_goes_as_near_as_it_can_and_says_how_near():
    s = Session.of(es.load("excavator"))
    lower, upper = limits(s.m)
    goal = s.pose("teeth").copy()
    goal[0, 3] += 30.0
    for _ in range(12):
        said = s.reach("teeth", goal)
        assert closed(s)
        assert ((s.q >= lower - 1e-9) & (s.q <= upper + 1e-9)).all()
    assert "'teeth' st" in said


def test_a_frame_does_not_jump_to_another_branch():
    s = Session.of(es.load("five_bar"))
    before = s.q.copy()
    goal = s.pose("point").copy()
    goal[:2, 3] += 1.0
    s.reach("point", goal)
    assert closed(s)
    assert np.sign(s.m.conditions(s.q).sign) == np.sign(s.m.conditions(before).sign)


def test_parameters_change_the_mechanism_and_loops_close_again():
    s = Session.of(es.load("five_bar"))
    held = s.q[list(s.m.actuated_coordinates)]
    for length in np.linspace(0.1, 0.13, 6):
        assert s.change("L3", length) == ""
        assert closed(s)
        assert np.abs(s.q[list(s.m.actuated_coordinates)] - held).max() == 0
    assert s.m.parameters["L3"] == pytest.approx(0.13)
    assert np.allclose(s.poses[-1], s.m.pose(s.q, s.m.bodies[-1].name))


@pytest.mark.parametrize(
    ("name", "parameter", "value", "sentence"),
    [
        ("cart_pole", "m_cart", -1.0, "it cannot be negative"),
        ("rssr", "l", -0.55, "does not close any more"),
        ("stewart_gough", "r_base", 5.0, "beyond its limits|does not close"),
        ("five_bar", "L9", 1.0, "L9"),
    ],
)
def test_a_parameter_that_cannot_be_stays_and_says_so(name, parameter, value, sentence):
    m = es.load(name)
    s = Session.of(m)
    q = s.q.copy()
    said = s.change(parameter, value)
    assert re.search(sentence, said), said
    assert s.m is m
    assert (s.q == q).all()


def test_assembly_modes_close_for_the_same_actuated_values_and_look_different():
    s = Session.of(es.load("five_bar"))
    modes = s.assembly_modes()
    assert len(modes) == 2
    places = list(s.m.actuated_coordinates)
    for q in modes.values():
        assert np.allclose(q[places], s.q[places])
        assert np.abs(s.m.constraint(q)).max() < 1e-9


def test_working_modes_of_an_arm_and_named_modes():
    m = es.load("elbow").with_mode("up", [0.3, 0.4])
    assert "named: up" in Session.of(m).assembly_modes()
    s = Session.of(es.load("puma560"))
    modes = s.assembly_modes()
    assert len(modes) > 1
    for q in modes.values():
        assert np.allclose(s.m.pose(q), s.pose("tool"), atol=1e-6)


def test_what_is_no_configuration_is_refused():
    m = es.load("five_bar")
    with pytest.raises(es.EslabonError, match="one configuration"):
        Session.of(m, np.zeros((2, 4)))
    with pytest.raises(es.EslabonError, match="4"):
        Session.of(m, [0.0])
    with pytest.raises(es.ModelError, match="did you mean 'point'"):
        Session.of(m, frame="pont")


def test_every_mechanism_of_the_library_has_something_to_move():
    for name in es.robots():
        m = es.load(name)
        assert drives_of(m), name
        assert frames_of(m), name
        assert all(d.lower < d.upper for d in drives_of(m)), name


def test_quantities_for_people():
    assert quantity(-0.5, "m") == "-500 mm"
