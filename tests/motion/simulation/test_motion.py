"""A motion has names, survives being saved, and shows itself."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import eslabon as es
from eslabon.motion.simulation import Trajectory, simulate
from random_mechanisms import random_builder, random_coordinates
from randomness import seeded

KINDS = [
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "fixed",
    "helical",
]


@pytest.fixture(scope="module")
def motion():
    rng = seeded("motion")
    m = random_builder(rng, KINDS).build()
    q = random_coordinates(rng, m)
    happened = {"start of joint0": lambda t, q, v: q[0] - 1.2 * t}
    return simulate(
        m, q, rng.normal(size=m.nv), np.linspace(0, 1, 11), np.full(m.nv, 0.1), events=happened
    )


@pytest.fixture(scope="module")
def flight():
    rng = seeded("flight")
    m = random_builder(rng, ["free", "revolute"]).build()
    q = np.array([random_coordinates(rng, m) for _ in range(6)]).reshape(2, 3, m.nq)
    return simulate(m, q, rng.normal(size=(2, 3, m.nv)), 1.0, method="rk4", step=0.05)


def same(a, b):
    for what in ("t", "q", "v", "a", "tau", "closure"):
        assert np.array_equal(getattr(a, what), getattr(b, what)), what
    assert np.array_equal(a.energy.kinetic, b.energy.kinetic)
    assert np.array_equal(a.energy.total, b.energy.total)
    assert dict(a.columns) == dict(b.columns)


def test_npz_gives_everything_back(motion, flight, tmp_path):
    for k, one in enumerate((motion, flight)):
        back = Trajectory.load(one.save(tmp_path / f"m{k}.npz"))
        same(one, back)
        assert back.statistics == one.statistics
        assert repr(back) == repr(one)
        assert list(back.events) == list(one.events)
        for name, happened in one.events.items():
            assert all(
                np.array_equal(x, y) for x, y in zip(happened, back.events[name], strict=True)
            )


def test_csv_gives_the_numbers_back_with_names_and_units(motion, tmp_path):
    path = motion.save(str(tmp_path / "m.csv"))
    back = Trajectory.load(path)
    same(motion, back)
    with path.open(encoding="utf-8") as file:
        headings = next(csv.reader(file))
    for wanted in (
        "t [s]",
        "joint0.q [rad]",
        "joint1.v [m/s]",
        "joint4.q.w []",
        "joint4.tau.wx [N m]",
        "joint2.q.slide [m]",
    ):
        assert wanted in headings
    assert headings[-4:-1] == ["kinetic energy [J]", "potential energy [J]", "closure"]
    assert headings[-1].startswith("sha256 ")


def test_joints_trajectories_and_times_by_name_and_number(motion, flight):
    hinge = motion.joint("joint0")
    assert np.array_equal(hinge.q, motion.q[:, 0])
    assert np.array_equal(hinge.tau, motion.tau[:, 0])
    ball = motion.joint("joint4")
    assert ball.q.shape == (11, 4)
    assert ball.a.shape == ball.v.shape == (11, 3)
    np.testing.assert_allclose(np.linalg.norm(ball.q, axis=-1), 1.0, atol=1e-14)
    assert flight.joint("joint1").q.shape == (2, 3, 21)
    one = flight[1, 2]
    assert one.q.shape == (21, 8)
    assert np.array_equal(one.a, flight.a[1, 2])
    assert np.array_equal(one.energy.total, flight.energy.total[1, 2])
    assert flight[0].q.shape == (3, 21, 8)
    early = flight.until(0.51)
    assert early.t[-1] == pytest.approx(0.5)
    assert early.a.shape == (2, 3, 11, 7)
    assert np.array_equal(flight.end[0], flight.q[..., -1, :])
    assert repr(flight) == "<Trajectory of random: 6 trajectories, 0 to 1 s, 21 times, rk4>"


def test_a_passive_joint_has_no_force():
    m = es.load("cart_pole")
    motion = simulate(m, [0.0, 0.1], None, 0.5)
    passive = next(j.name for j in m.joints if j.name not in m.actuated)
    assert motion.joint(passive).tau is None
    assert motion.joint(m.actuated[0]).tau.shape == motion.t.shape


def test_it_plots_itself(motion, flight, tmp_path):
    figure = motion.plot()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == [
        "angles",
        "positions",
        "quaternions",
        "angular rates",
        "speeds",
        "torques",
        "forces",
        "energy",
    ]
    assert figure.axes[0].get_ylabel() == "[rad]"
    assert "joint0" in [t.get_text() for t in figure.axes[0].get_legend().get_texts()]
    for k, one in enumerate((motion, flight, flight[0, 1])):
        one.plot().savefig(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 10_000


MISTAKES = [
    (lambda m, f, p: m.save(p / "m.mat"), "saved as .npz or .csv"),
    (lambda m, f, p: f.save(p / "m.csv"), r"a table holds one trajectory; save motion\[k\]"),
    (lambda m, f, p: Trajectory.load(p / "none.npz"), "cannot be read"),
    (lambda m, f, p: Trajectory.load(p / "none.txt"), "loaded from .npz or .csv"),
    (lambda m, f, p: ((p / "bad.csv").write_text("a,b,c,d,e\n1,2,3,4,5\n"), Trajectory.load(p / "bad.csv")), "no motion that was saved"),
    (lambda m, f, p: (np.savez(p / "bad.npz", x=1), Trajectory.load(p / "bad.npz")), "no motion that was saved"),
    (lambda m, f, p: ((p / "bad.npz").write_text("hello"), Trajectory.load(p / "bad.npz")), "no motion that was saved"),
    (lambda m, f, p: m.joint("joint00"), "no moving joint 'joint00'; did you mean"),
    (lambda m, f, p: m[0], "cannot be indexed"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(motion, flight, tmp_path, call, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        call(motion, flight, tmp_path)


def test_parts_of_a_motion_cut_its_events_too():
    """A part of a motion has the events that happened in it."""
    m = es.load("double_pendulum")
    motion = m.simulate([0.5, 0.0], None, 2.0, events={"straight": lambda t, q, v: q[0]})
    happened = motion.events["straight"].t
    assert len(happened) > 1
    middle = float(happened[:2].mean())
    assert list(motion.until(middle).events["straight"].t) == [happened[0]]
    part = motion.between(middle, motion.t[-1]).events["straight"]
    assert np.array_equal(part.t, happened[1:])
    assert np.array_equal(part.q, motion.events["straight"].q[1:])
    assert not len(motion.until(happened[0] / 2).events["straight"].q)


def test_a_part_of_a_motion_keeps_what_was_computed(motion):
    whole = motion.energy.total, motion.a
    part = motion.between(0.25, 0.75)
    inside = (motion.t >= 0.25) & (motion.t <= 0.75)
    assert np.array_equal(part.energy.total, whole[0][inside])
    assert np.array_equal(part.a, whole[1][inside])
    assert np.array_equal(part.t, motion.t[inside])
