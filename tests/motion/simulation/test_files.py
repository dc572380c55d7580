"""Files of motions: whatever happens to one, it gives the motion back exactly, or a sentence."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import eslabon as es
from eslabon.motion.signal_files import _digest
from eslabon.motion.simulation import SimulationError, Trajectory, simulate, traced


def same(a, b):
    for what in ("t", "q", "v", "a", "tau", "closure"):
        if not np.array_equal(getattr(a, what), getattr(b, what)):
            return False
    return np.array_equal(a.energy, b.energy) and dict(a.columns) == dict(b.columns)


@pytest.fixture(scope="module")
def motion():
    m = es.load("double_pendulum")
    return simulate(
        m, [0.5, 0.1], None, np.linspace(0, 1, 21), [0.1, 0.2], events={"low": lambda t, q, v: q[0]}
    )


def damaged(content, rng):
    """Cut short, with bytes flipped, taken out or exchanged."""
    data = bytearray(content)
    kind, place = rng.integers(4), int(rng.integers(len(data)))
    if kind == 0:
        return bytes(data[:place])
    if kind == 1:
        for k in rng.integers(len(data), size=rng.integers(1, 4)):
            data[k] ^= 1 << int(rng.integers(8))
    elif kind == 2:
        del data[place : place + int(rng.integers(1, 40))]
    else:
        other = int(rng.integers(len(data)))
        data[place], data[other] = data[other], data[place]
    return bytes(data)


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_a_damaged_file_is_refused_or_means_the_same(motion, tmp_path, ending, rng):
    path = motion.save(tmp_path / f"m.{ending}")
    whole, refused = path.read_bytes(), 0
    assert same(Trajectory.load(path), motion)
    for _ in range(300):
        path.write_bytes(damaged(whole, rng))
        try:
            back = Trajectory.load(path)
        except es.ReadError as error:
            refused += 1
            assert str(path) in str(error)
        else:
            assert same(back, motion)
            assert ending == "csv" or (
                back.statistics == motion.statistics and list(back.events) == ["low"]
            )
    assert refused > 200


def test_a_table_cut_at_the_end_of_a_row_is_refused(motion, tmp_path):
    path = motion.save(tmp_path / "m.csv")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    with pytest.raises(es.ReadError, match="changed or damaged"):
        Trajectory.load(path)


@pytest.mark.parametrize("name", ['a,b"c', "señal ω", "x.q.v [rad]", "'"])
def test_names_of_any_kind_survive(tmp_path, name):
    b = es.Builder("named").body("arm", 1.0, (0.1, 0, 0), (0.01, 0.01, 0.01))
    m = b.joint(name, "spherical", "ground", "arm").build()
    motion = simulate(m, m.neutral(), [0.1, 0.2, 0.3], [0, 0.1, 0.2])
    for ending in ("npz", "csv"):
        back = Trajectory.load(motion.save(tmp_path / f"m.{ending}"))
        assert same(back, motion)
        assert back.joint(name).q.shape == (3, 4)
        np.testing.assert_array_equal(back[name].q, back.joint(name).q)


def forged(path, change):
    """A file whose content was changed and whose checksum was written anew."""
    with np.load(path) as file:
        data = {name: file[name] for name in file.files if name != "digest"}
    about = json.loads(str(data.pop("about")))
    change(about, data)
    text = json.dumps(about)
    np.savez(path, about=np.array(text), digest=np.array(_digest(text, data)), **data)


FORGERIES = {
    "version 1": lambda about, data: about.update(version=1),
    "version 3": lambda about, data: about.update(version=3),
    "no version": lambda about, data: about.pop("version"),
    "shapes": lambda about, data: data.update({"group v": data["group v"][:-1]}),
    "columns": lambda about, data: data.update({"group q": data["group q"][:, :1]}),
    "times": lambda about, data: data.update(t=data["t"][::-1].copy()),
    "times of two axes": lambda about, data: data.update(t=data["t"][:, None]),
    "texts": lambda about, data: data.update({"group q": data["group q"].astype(str)}),
    "complex": lambda about, data: data.update({"group q": data["group q"] + 0j}),
    "names": lambda about, data: about["columns"].update(q=[[1, 2, 3], [1, 2, 3]]),
    "columns of two": lambda about, data: about["columns"].update(q=[["a"], ["b"]]),
    "events": lambda about, data: data.update({"event 0 q": np.zeros((99, 2))}),
    "missing event": lambda about, data: about["events"].append("other"),
    "energy": lambda about, data: data.update({"group energy": data["group energy"][:, :1]}),
    "no coordinates": lambda about, data: about["groups"].remove("q"),
    "statistics": lambda about, data: about["statistics"].update(other=1),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_forged_file_ends_in_a_sentence(motion, tmp_path, kind):
    """Of another version, or with arrays that do not fit together under a right checksum."""
    path = motion.save(tmp_path / "m.npz")
    forged(path, lambda about, data: None)
    assert same(Trajectory.load(path), motion)
    forged(path, FORGERIES[kind])
    with pytest.raises(es.ReadError, match="no motion that was saved before"):
        Trajectory.load(path)


@pytest.mark.parametrize(
    "headings",
    [
        "t [s],q1.q [rad],q1.q [rad],q2.q [rad]",
        "t [s],q1.q [rad],q1.q [deg],q2.q [rad]",
        "t [s],time [s],q1.q [rad],q2.q [rad]",
    ],
)
def test_a_table_with_one_column_twice_is_refused(tmp_path, headings):
    """Which of the two is meant cannot be known; before, the last one was taken."""
    table = tmp_path / "m.csv"
    rows = "".join(f"{0.01 * k},{k},{k},{k}\n" for k in range(30))
    table.write_text(f"{headings}\n{rows}")
    with pytest.raises(es.ReadError, match="are the same quantity; leave one out"):
        es.as_trajectory(es.load("double_pendulum"), table)


def test_saving_over_a_file_that_fails_leaves_the_old_one(motion, tmp_path, monkeypatch):
    path = motion.save(tmp_path / "m.npz")
    monkeypatch.setattr(
        "eslabon.atomic_files.os.fsync",
        lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")),
    )
    with pytest.raises(es.ReadError, match="No space left"):
        motion.until(0.5).save(path)
    assert same(Trajectory.load(path), motion)
    assert list(tmp_path.iterdir()) == [path]


def at_work(speed):
    """In another process: with a law that cannot be pickled, with loops, or a run that fails."""
    if speed is None:
        m = es.load("five_bar")
        return m.simulate(m.project(m.home()), None, 0.1)
    law = traced(lambda t, q, v: 5 * v**3)
    return simulate(
        es.load("double_pendulum"), [0.1, 0.0], [speed, 0.0], 0.2, law, method="rk4", step=1e-3
    )


def test_a_motion_comes_back_from_a_worker():
    with ProcessPoolExecutor(1) as pool:
        tree, closed, failed = (pool.submit(at_work, speed) for speed in (0.1, None, 1e3))
    for motion in (tree.result(), closed.result()):
        assert motion.a.shape == motion.v.shape
        assert motion.tau.shape[0] == len(motion.t)
        assert np.isfinite(motion.energy.total).all()
        assert same(pickle.loads(pickle.dumps(motion)), motion)
    error = failed.exception()
    assert isinstance(error, SimulationError)
    assert error.motion.t[-1] < 0.2
