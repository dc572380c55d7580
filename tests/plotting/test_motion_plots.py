"""Motions as figures: phase, reactions, power, torque over speed with its limits; names, units and sentences."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es


@pytest.fixture(scope="module")
def driven():
    """A pendulum of one bar, driven beyond both of its limits."""
    m = es.load("double_pendulum").with_joint("q1", velocity_limit=3.0, effort_limit=5.0)
    return m.simulate(
        [0.3, 0.2], None, np.linspace(0, 1, 41), lambda t, q, v: [6 * np.sin(9 * t), 0.1]
    )


@pytest.fixture(scope="module")
def closed():
    m = es.load("five_bar")
    return m.simulate(m.assemble([2.0, 1.0]), None, np.linspace(0, 0.2, 9))


def labels(ax):
    return ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()


def test_units_stand_on_all_axes(driven):
    figure = driven.plot("coordinates", "velocities", "accelerations", "forces", "energy", "power")
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "[rad]",
        "[rad/s]",
        "[rad/s²]",
        "[N m]",
        "[J]",
        "[W]",
    ]
    assert [ax.get_xlabel() for ax in figure.axes] == [""] * 4 + ["t [s]"] * 2


def test_phase(driven):
    (ax,) = driven.plot("phase", joints=["q2"]).axes
    assert labels(ax) == ("phase", "q2 [rad]", "rate of q2 [rad/s]")
    np.testing.assert_array_equal(
        ax.get_lines()[0].get_xydata(), np.stack([driven.q[:, 1], driven.v[:, 1]], axis=1)
    )
    (both,) = driven.plot("phase").axes
    assert labels(both) == ("phase", "coordinate [rad]", "rate of coordinate [rad/s]")
    assert len(both.get_legend().get_texts()) == 2


def test_power_is_what_the_energy_grows_by(driven):
    given = np.sum([line.get_ydata() for line in driven.plot("power").axes[0].get_lines()], axis=0)
    work = np.trapezoid(given, driven.t)
    assert work == pytest.approx(driven.energy.total[-1] - driven.energy.total[0], rel=5e-3)


def test_torque_over_speed_says_which_limits_are_exceeded(driven):
    first, second = driven.plot("torque_speed").axes
    title, across, up = labels(first)
    assert (across, up) == ("angular rate [rad/s]", "torque [N m]")
    name, effort, velocity = title.split("\n")
    assert name == "q1"
    assert effort == "exceeds its effort limit of 5 N m: 6 N m"
    assert velocity.startswith("exceeds its velocity limit of 3 rad/s: ")
    marked = first.get_lines()[-1].get_xydata()
    outside = (np.abs(driven.v[:, 0]) > 3) | (np.abs(driven.tau[:, 0]) > 5)
    np.testing.assert_array_equal(
        marked, np.stack([driven.v[:, 0], driven.tau[:, 0]], axis=1)[outside]
    )
    corners = np.concatenate([lines.get_segments() for lines in first.collections]).reshape(-1, 2)
    assert {tuple(x) for x in corners} == {(x, y) for x in (-3.0, 3.0) for y in (-5.0, 5.0)}
    assert second.get_title(loc="left") == "q2\nno limits are given"


def test_limits_that_are_kept(driven):
    m = es.load("double_pendulum").with_joint("q1", effort_limit=5.0)
    law = lambda t, q, v: [6 * np.sin(9 * t), 0.0]  # noqa: E731
    held = m.simulate([0.3, 0.2], None, np.linspace(0, 1, 21), law, saturate=True)
    (ax,) = held.plot("torque_speed", joints="q1").axes
    assert ax.get_title(loc="left") == "q1\nwithin its limits"


def test_reactions_of_joints_and_cut_joints(closed):
    forces, moments = closed.plot("reactions").axes
    assert [ax.get_ylabel() for ax in (forces, moments)] == ["[N]", "[N m]"]
    m = closed.m
    wrenches = m.reactions(closed.q, closed.v, tau=closed.tau)
    np.testing.assert_allclose(closed.reactions, wrenches, rtol=0, atol=1e-12)
    names = "".join(text.get_text() for text in forces.get_legend().get_texts())
    for name in (*(j.name for j in m.joints), *(f"{x.name} (cut)" for x in m.loops)):
        assert name in names
    (one, _) = closed.plot("reactions", joints=m.loops[0].name).axes
    np.testing.assert_allclose(
        one.get_lines()[0].get_ydata(), np.linalg.norm(wrenches[:, -1, 3:], axis=-1)
    )


def test_reactions_under_wrenches_and_of_many_trajectories():
    m = es.load("double_pendulum")
    body, push = m.bodies[1].name, np.array([0, 0, 0, 1.0, 2.0, 3.0])
    motion = m.simulate(
        [[0.1, 0.2], [0.3, 0.4]], None, np.linspace(0, 0.1, 3), external={body: push}
    )
    found = m.reactions(motion.q, motion.v, motion.a, external={body: push})
    np.testing.assert_allclose(motion.reactions, found, rtol=0, atol=1e-12)
    assert len(motion.plot("reactions").axes[0].get_lines()) == 4


def test_closure_is_logarithmic(closed):
    (ax,) = closed.plot("closure").axes
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "violation [rad, m/L]"


def test_a_motion_from_a_file_has_no_mechanism(driven, tmp_path):
    known = es.Trajectory.load(driven.save(tmp_path / "motion.npz"))
    assert known.plot("torque_speed").axes[0].get_title(loc="left").endswith("no limits are given")
    assert len(known.plot().axes) == 4
    with pytest.raises(es.ModelError, match="no reactions: it comes from a file"):
        known.plot("reactions")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.plot("phases"), "did you mean 'phase'"),
        (lambda m: m.plot("phase", joints=["q3"]), "has no joint 'q3' .known: q1, q2"),
        (lambda m: m.plot(theme="drak"), "did you mean 'dark'"),
        (lambda m: m.plot("closure"), "nothing to plot of closure"),
        (lambda m: m.plot("phase", joints=3), "joints are names"),
    ],
)
def test_what_cannot_be_plotted(driven, call, sentence):
    with pytest.raises(es.ModelError, match=sentence):
        call(driven)


def test_dark_figures_are_dark(driven):
    figure = driven.plot("phase", "torque_speed", theme="dark")
    figure.draw_without_rendering()
    assert figure.theme.name == "dark"
    assert {sum(ax.get_facecolor()[:3]) < 0.5 for ax in figure.axes} == {True}
