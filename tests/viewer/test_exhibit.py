"""What goes on in a view without anybody looking: simulations, pushes, motions, mode shapes, readings."""

import numpy as np
import pytest

import eslabon as es
from eslabon.viewer.exhibit import Exhibit
from eslabon.viewer.live_simulation import LiveSimulation
from eslabon.viewer.playback import clips
from eslabon.viewer.readings import gauges
from eslabon.viewer.session import Session


def exhibit(name, q=None, motion=None):
    m = es.load(name) if isinstance(name, str) else name
    return Exhibit(Session.of(m, q), clips(m, motion))


def closure(x):
    return np.abs(x.m.constraint(x.q)).max()


def test_let_go_keeps_energy_and_loops():
    x = exhibit("four_bar_spring", es.load("four_bar_spring").assemble([1.2]))
    x.let_go()
    before = x.run.energy.sum()
    start = x.q.copy()
    for _ in range(60):
        x.tick(1 / 60)
        assert closure(x) < 1e-9
    assert x.run.t == pytest.approx(1.0, abs=0.05)
    assert np.abs(x.q - start).max() > 0.01
    assert x.run.energy.sum() == pytest.approx(before, abs=1e-6 * abs(x.run.energy).sum())


def test_a_simulation_is_that_of_the_library():
    m = es.load("double_pendulum")
    run = LiveSimulation(m, [0.7, -0.2])
    run.advance(0.5)
    motion = m.simulate([0.7, -0.2], None, 0.5)
    assert np.abs(run.q - motion.q[-1]).max() < 1e-6
    assert np.abs(run.v - motion.v[-1]).max() < 1e-5


def test_stiff_springs_get_shorter_steps():
    m = es.load("flyball_governor")
    run = LiveSimulation(m, m.home())
    for _ in range(60):  # the springs get stiffer as the rods fall
        run.advance(0.016)
    assert np.abs(run.q - m.simulate(m.home(), None, 0.96, method="Radau").q[-1]).max() < 1e-6


def test_what_cannot_move_is_not_simulated():
    x = exhibit(es.Builder("rigid").body("a", 1.0).joint("j", "fixed", "ground", "a").build())
    x.attempt(x.let_go)
    assert "nothing to simulate" in x.said


def test_servos_hold_a_ball_joint():
    b = (
        es.Builder("ball")
        .body("a", 1.0, (0, 0, -0.3), (1, 1, 1))
        .joint("j", "spherical", "ground", "a")
        .actuate("j")
    )
    run = LiveSimulation(b.build(), [np.cos(0.2), np.sin(0.2), 0.0, 0.0], servos=True)
    run.advance(0.4)
    assert run.q == pytest.approx([np.cos(0.2), np.sin(0.2), 0.0, 0.0], abs=1e-4)


def test_a_push_is_a_force_in_the_grounds_axes_at_the_centre_of_mass():
    m = es.load("double_pendulum")
    q, force = np.array([0.4, 0.3]), np.array([3.0, -1.0, 2.0])
    body = m.bodies[-1]
    run = LiveSimulation(m, q)
    run.push(body.name, force)
    com = m.with_frame("com", body.name, at=tuple(float(x) for x in body.com))
    J = com.jacobian(q, "com", axes="aligned")[3:]
    pushed = m.forward_dynamics(
        q, np.zeros(2), np.zeros(2), external={body.name: run.wrenches[body.name]}
    )
    free = m.forward_dynamics(q, np.zeros(2), np.zeros(2))
    assert np.allclose(m.mass_matrix(q) @ (pushed - free), J.T @ force)
    run.let_be()
    assert not any(w.any() for w in run.wrenches.values())


def test_a_pull_is_a_spring_that_does_work():
    x = exhibit("five_bar")
    body = x.m.bodies[0].name
    grip = x.poses[1][:3, 3] + 0.01
    x.pull(body, grip, grip + np.array([0.0, 0.02, 0.0]))
    for _ in range(5):
        x.tick(0.01)
    assert x.run.energy[0] > 0
    assert closure(x) < 1e-9


@pytest.mark.parametrize("name", ["planar_3rrr", "puma560"])
def test_servos_hold_a_mechanism_under_gravity_and_follow_sliders(name):
    x = exhibit(name)
    x.drive_by(servos=True, stops=False)
    x.let_go()
    before = x.q.copy()
    for _ in range(20):
        x.tick(0.02)
    assert np.abs(x.q - before).max() < 1e-3
    drive = x.session.drives[0]
    x.move(drive, before[drive.place] + 0.1)
    for _ in range(60):
        x.tick(0.02)
    assert x.q[drive.place] == pytest.approx(before[drive.place] + 0.1, abs=5e-3)
    assert x.run is not None


def test_stops_keep_joints_near_their_limits():
    m = es.load("double_pendulum").with_joint("q1", limits=(-0.3, 0.3), home=0.0)
    x = exhibit(m, [0.2, 0.0])
    x.drive_by(servos=False, stops=True)
    x.let_go()
    for _ in range(60):
        x.tick(0.02)
    assert -0.4 < x.q[0] < 0.4


def test_pause_reset_and_hands_end_a_simulation():
    x = exhibit("double_pendulum", [0.5, 0.0])
    x.let_go()
    x.tick(0.05)
    x.pause()
    held = x.q.copy()
    x.tick(0.05)
    assert (x.q == held).all()
    x.reset()
    assert x.q.tolist() == [0.5, 0.0]
    x.let_go()
    x.move(x.session.drives[0], 0.1)
    assert x.run is None


def test_an_error_is_said_and_time_stands_still():
    b = es.Builder("feather").body("a").joint("q", "revolute", "ground", "a").actuate()
    x = exhibit(b.build())
    x.attempt(x.let_go)
    assert "mass" in x.said
    x.attempt(x.play, "nothing")
    assert x.said == "there is no motion 'nothing' to play."
    assert not x.going


def test_motions_are_played_in_time_and_end():
    m = es.load("five_bar")
    t = np.linspace(0.0, 1.0, 6)
    q = m.assemble(np.linspace([2.0, 1.0], [2.2, 1.2], 6), continuation=True)
    x = exhibit(m, motion=(t, q))
    x.play("motion")
    x.tick(0.5)
    assert closure(x) < 1e-9
    assert x.q[0] == pytest.approx(2.1, abs=1e-3)
    x.tick(2.0)
    assert (x.q == q[-1]).all()
    assert not x.going
    x.show("motion", 0.0)
    assert (x.q == q[0]).all()


def test_motions_of_simulations_and_of_paths_are_played():
    m = es.load("elbow")
    swing = m.simulate([0.3, 0.2], None, 0.1)
    path = m.follow(
        es.paths.along(es.paths.line([1.2, 0.5, 0], [1.0, 0.8, 0]), es.paths.cycloidal(1.0)),
        part="position",
    )
    assert [c.name for c in clips(m, {"swing": swing, "path": path})] == ["swing", "path"]


@pytest.mark.parametrize(
    ("motion", "sentence"),
    [
        (3, "a motion is a Trajectory"),
        (([0.0, 1.0], np.zeros((3, 2))), "a row of q for each"),
        (([1.0, 0.0], np.zeros((2, 2))), "two or more, and increase"),
        (([0.0], np.zeros((1, 3))), "two or more"),
    ],
)
def test_what_is_no_motion_is_refused(motion, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        clips(es.load("elbow"), motion)


def test_a_motion_of_another_mechanism_is_refused():
    with pytest.raises(es.InputError, match="another mechanism"):
        clips(es.load("five_bar"), ([0.0, 1.0], [[1.0, 2.0, 3.0, 4.0]] * 2))


def test_mode_shapes_are_closed_and_come_again():
    x = exhibit("four_bar_spring", es.load("four_bar_spring").assemble([3.0]))
    x.find_mode_shapes()
    name = next(iter(x.clips))
    assert "Hz" in name
    start = x.q.copy()
    x.play(name)
    seen = []
    for _ in range(30):
        x.tick(0.1)
        assert closure(x) < 1e-9
        seen.append(x.q.copy())
    assert np.ptp(seen, axis=0).max() > 0.05
    assert x.going
    assert np.abs(np.mean(seen, axis=0) - start).max() < 0.2


def test_gauges_turn_red_where_a_configuration_is_singular():
    m = es.load("elbow")
    words = {g.colour: g.words for g in gauges(m, [0.3, 1e-4], "tool")}
    assert list(words) == ["red"]
    assert "lost its translation" in words["red"][0]
    assert [g.colour for g in gauges(m, [0.3, 1.5], "tool")] == ["green"]
    m = es.load("five_bar")
    assert [g.kind for g in gauges(m, m.project(m.home()), "point")] == ["parallel", "serial"]


def test_modes_are_found_and_chosen():
    x = exhibit("five_bar")
    x.find_modes()
    before = x.q.copy()
    for name in x.modes:
        x.choose_mode(name)
    assert np.abs(x.q - before).max() > 0.5
    x.attempt(x.change, "L3", 0.11)
    assert x.modes == {}
    assert x.shaped == 1
