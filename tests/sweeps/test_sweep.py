"""Sweeps: the same bytes wherever they run, nothing lost when something dies, a sentence for what cannot be."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import eslabon as es
from eslabon.sweeps.sampling import METHODS, Sampling
from eslabon.sweeps.variables import variables_of
from sweeps import sweeping

M = es.load("five_bar")


def condition(m):
    return m.conditions(m.assemble([2.0, 1.0])).parallel


def content(folder):
    return {
        file.name: file.read_bytes()
        for file in sorted(Path(folder).glob("*.*"))
        if not file.name.startswith(".")
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a sweep that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, sweeping.run(folder)


# -- what is measured ---------------------------------------------------------------------------------------------------


def test_a_grid_is_every_combination_in_order():
    table = es.sweep(
        M, condition, {"L2": (0.03, 0.05), "L5": [0.03, 0.04, 0.05, 0.06]}, samples=3, method="grid"
    )
    assert (len(table), table.parameters, table.values) == (12, ("L2", "L5"), ("value",))
    np.testing.assert_allclose(table["L2"].reshape(3, 4)[:, 0], [0.03, 0.04, 0.05])
    np.testing.assert_allclose(table["L5"].reshape(3, 4)[1], [0.03, 0.04, 0.05, 0.06])
    for L2, L5, found in zip(table["L2"], table["L5"], table["value"], strict=True):
        assert found == pytest.approx(condition(M.with_parameters(L2=L2, L5=L5)), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_designs_are_the_same_however_they_are_cut(method):
    _, variables = variables_of(M, {"L2": (0.03, 0.05), "m2": (0.0, 1.0)})
    drawn = Sampling(method, variables, (8, 9) if method == "grid" else (72,), seed=3)
    whole, parts = drawn.designs(0, 72), [drawn.designs(k, k + 8) for k in range(0, 72, 8)]
    for name, x in whole.items():
        np.testing.assert_array_equal(x, np.concatenate([part[name] for part in parts]))
    assert (whole["L2"] >= 0.03).all()
    assert (whole["L2"] <= 0.05).all()
    if method != "grid":
        other = Sampling(method, variables, (72,), seed=4).designs(0, 72)
        assert (other["L2"] != whole["L2"]).any()


def test_a_design_that_fails_says_why_and_the_others_go_on():
    with np.errstate(all="ignore"):
        table = es.sweep(M, condition, {"L2": (0.03, 0.3)}, samples=9, method="grid")
    frame = table.to_pandas()
    good = frame["reason"].isna()
    assert 0 < good.sum() < 9
    assert frame["value"][good].notna().all()
    assert frame["value"][~good].isna().all()
    assert frame["reason"][~good].str.len().min() > 10


def test_a_sweep_of_which_nothing_comes_says_so_at_once():
    def far(m):
        return 1.0 if m.parameters["L2"] == 0.04 else 1.0 / 0.0

    with pytest.warns(
        es.ModelWarning, match="all 3 designs of the first chunk failed: ZeroDivisionError"
    ):
        table = es.sweep(M, far, {"L2": (0.03, 0.039)}, samples=3)
    assert np.isnan(table["value"]).all()


# -- where it runs ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    """A real cluster of processes."""
    from eslabon.sweeps.cluster import local_client

    with local_client() as client:
        client.wait_for_workers(2)
        yield client


def test_code_is_made_once_a_worker_and_never_once_a_chunk(client, tmp_path):
    """Twelve chunks, then the sweep of another quantity: what a worker has compiled or loaded for the mechanism stays."""
    swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    given = {
        "over": {"L2": (0.03, 0.05), "theta2.viscous": (0.0, 1e-5)},
        "samples": 48,
        "chunk": 4,
        "motion": swing,
    }
    client.run(sweeping.count_compilations)
    es.sweep(M, "peak_torque", **given, folder=tmp_path / "cluster", cluster=client)
    made = client.run(sweeping.compilations)
    assert all(sum(own.values()) == len(own) > 0 for own in made.values()), made
    es.sweep(M, "rms_torque", **given, cluster=client)
    assert client.run(sweeping.compilations) == made
    es.sweep(M, "peak_torque", **given, folder=tmp_path / "here")
    assert content(tmp_path / "cluster") == content(tmp_path / "here")


class Locked:
    """A quantity that only this process can ask for."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, m):
        return m.parameters["L2"]

    def fingerprint(self):
        return "locked"


def test_what_cannot_be_sent_is_said(client):
    assert len(es.sweep(M, Locked(), {"L2": (0.03, 0.05)}, samples=2)) == 2
    with pytest.raises(
        es.InputError, match=r"cannot be sent to other processes .*lock.* leave cluster out"
    ):
        es.sweep(M, Locked(), {"L2": (0.03, 0.05)}, samples=2, cluster=client)


class OnlyHere:
    """A quantity that needs something which workers do not have."""

    def __init__(self):
        self.process = os.getpid()

    def __call__(self, m):
        if os.getpid() != self.process:
            raise FileNotFoundError("table.csv is not there")
        return {"first": m.parameters["L2"], "second": 1.0}

    def fingerprint(self):
        return "only here"


def test_a_chunk_whose_designs_all_fail_on_a_worker_has_their_reasons(client):
    with pytest.warns(es.ModelWarning, match="all 3 designs .*table.csv is not there"):
        found = es.sweep(M, OnlyHere(), {"L2": (0.03, 0.05)}, samples=3, cluster=client)
    assert np.isnan(found["first"]).all()
    assert np.isnan(found["second"]).all()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_worker_changes_not_a_byte(whole, client, tmp_path):
    """One of the workers is killed in the middle."""
    victim = next(iter(client.run(os.getpid).values()))

    def kill():
        while len(list(tmp_path.glob("chunk-*"))) < 4:
            time.sleep(0.02)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    sweeping.run(tmp_path, client)
    killer.join()
    assert victim not in client.run(os.getpid).values()
    assert content(tmp_path) == content(whole[0])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_sweep_goes_on_where_it_was(whole, tmp_path):
    code = f"from sweeps import sweeping; sweeping.run({str(tmp_path)!r})"
    run = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    while len(list(tmp_path.glob("chunk-*"))) < 3:
        time.sleep(0.02)
        assert run.poll() is None
    run.kill()
    run.wait()
    finished = {file: file.stat().st_mtime_ns for file in tmp_path.glob("chunk-*")}
    assert 3 <= len(finished) < 20
    sweeping.run(tmp_path)
    assert content(tmp_path) == content(whole[0])
    assert all(
        file.stat().st_mtime_ns == at for file, at in finished.items()
    )  # nothing is done twice


def test_what_was_compiled_before_changes_not_a_bit(tmp_path, monkeypatch):
    """A function that makes use of another mechanism, of which code is on disk the second time."""
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))

    def beside(m):
        other = es.Mechanism(M.description)
        q = other.assemble([2.0 + 0.1 * m.parameters["a1"], 1.0])
        return {"sum": q.sum(), "condition": other.conditions(q).parallel}

    given = {"quantity": beside, "over": {"a1": (0.5, 1.5)}, "samples": 8}
    first = es.sweep(es.load("elbow"), **given).to_pandas()
    other = es.Mechanism(M.description)
    other.conditions(other.assemble(np.linspace([2.0, 1.0], [2.1, 0.9], 300)))
    for _ in range(40):
        other.assemble([2.0, 1.0], other.home())
    assert es.sweep(es.load("elbow"), **given).to_pandas().equals(first)


def test_in_memory_and_on_disk_are_the_same_table(whole):
    assert sweeping.run(None).to_pandas().equals(whole[1].to_pandas())
    assert es.sweeps.read(whole[0]).to_pandas().equals(whole[1].to_pandas())


def small(m):
    if m.parameters["L2"] > 0.045:
        raise ValueError("too long")
    return m.parameters["L2"]


def finished(folder, **changed):
    return es.sweep(
        M, small, {"L2": (0.03, 0.05)}, **{"samples": 24, "chunk": 4, "folder": folder, **changed}
    )


def damaged(data):
    """A byte in the middle of the pages is another one; the end, by which a file is read, is whole."""
    return data[:60] + bytes([data[60] ^ 0xFF]) + data[61:]


@pytest.mark.parametrize(
    "damage", [lambda x: b"", lambda x: x[: len(x) // 2], damaged], ids=["empty", "cut", "changed"]
)
def test_a_damaged_chunk_is_told_and_measured_again(tmp_path, damage):
    finished(tmp_path)
    before, file = content(tmp_path), tmp_path / "chunk-000003.parquet"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(
        es.ReadError, match=r"a file of its folder is damaged .*measures anew what is lost"
    ):
        es.sweeps.read(tmp_path).to_pandas()
    finished(tmp_path)
    assert content(tmp_path) == before


def test_the_chunk_of_another_sweep_is_measured_again(tmp_path):
    finished(tmp_path / "own")
    before = content(tmp_path / "own")
    for other in (finished(tmp_path / "other", seed=1), None):
        name = "chunk-000002.parquet" if other else "chunk-000001.parquet"
        source = tmp_path / ("other" if other else "own") / "chunk-000002.parquet"
        (tmp_path / "own" / name).write_bytes(source.read_bytes())
        finished(tmp_path / "own")
        assert content(tmp_path / "own") == before


def test_what_a_killed_run_left_half_written_is_swept_away(tmp_path):
    (tmp_path / ".chunk-000001.parquet.abc.part").write_bytes(b"half")
    (tmp_path / ".lock").write_text("a process that is no more")
    finished(tmp_path)
    assert not list(tmp_path.glob(".*.part"))


def test_chunks_stand_in_the_order_of_their_numbers(tmp_path):
    finished(tmp_path)
    before = es.sweeps.read(tmp_path)["point"]
    (tmp_path / "chunk-000005.parquet").rename(
        tmp_path / "chunk-1000000.parquet"
    )  # a million chunks later
    np.testing.assert_array_equal(es.sweeps.read(tmp_path)["point"], before)


def test_the_manifest_is_json_for_any_reader(tmp_path):
    def refuse(word):
        raise AssertionError(word)

    finished(tmp_path)
    json.loads((tmp_path / "sweep.json").read_text(), parse_constant=refuse)
    (tmp_path / "sweep.json").write_text("{}")
    with pytest.raises(es.ReadError, match="no description of a sweep"):
        es.sweeps.read(tmp_path)


def test_a_full_disk_is_a_sentence_and_costs_nothing_that_was_finished(tmp_path):
    """From the fourth chunk on no file can be longer than 100 bytes, as if there were no room."""
    code = f"""
import resource, signal
import eslabon as es
from sweeps.test_sweep import M
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def own(m):
    if m.parameters["L2"] > 0.045:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    return m.parameters["L2"]
try:
    es.sweep(M, own, {{"L2": [0.03, 0.035, 0.04, 0.046, 0.047]}}, chunk=1, folder={str(tmp_path)!r})
except es.EslabonError as error:
    print(error)
"""
    pytest.importorskip("resource")
    run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, check=False)  # fmt: skip
    assert "chunk-000003.parquet: it cannot be written (File too large)" in run.stdout, run.stderr
    assert len(es.sweeps.read(tmp_path)) == 3
    assert not list(tmp_path.glob(".*.part"))


def test_the_bar_counts_what_failed_before_too(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "eslabon.progress.Progress.update",
        lambda self, fraction, note="": seen.append((fraction, note)),
    )
    table = finished(tmp_path)
    failed = table.contents.failed
    assert seen[-1] == (1.0, f"24 done, {failed} failed, 0 to go")
    (tmp_path / "chunk-000003.parquet").unlink()
    seen.clear()
    finished(tmp_path)
    assert seen == [(1.0, f"24 done, {failed} failed, 0 to go")]
    assert 0 < failed < 24


def test_what_was_finished_is_there_after_an_interrupt(tmp_path):
    calls = []

    def stopped(m):
        calls.append(m)
        if len(calls) == 6:  # the first is the mechanism as it is described
            raise KeyboardInterrupt
        return m.parameters["L2"]

    with pytest.raises(
        es.sweeps.Interrupted,
        match=r"stopped after 4 of 8 points, which are in .*goes on from there",
    ):
        es.sweep(M, stopped, {"L2": (0.03, 0.05)}, samples=8, chunk=2, folder=tmp_path)
    assert len(es.sweeps.read(tmp_path)) == 4


# -- what cannot be -----------------------------------------------------------------------------------------------------


def test_the_folder_of_another_sweep_is_refused(whole, tmp_path):
    folder = whole[0]
    before = content(folder)
    for other, words in (
        ({"seed": 1}, "the seed differs"),
        ({"samples": 30}, "the number of samples differs"),
        ({"over": {"L2": (0.03, 0.05), "m2": (0.005, 0.02)}}, "what it is over differs"),
        ({"quantity": condition, "chunk": 5}, "the quantity and the size of chunks differ"),
    ):
        given = {
            "quantity": sweeping.slow,
            "over": sweeping.OVER,
            "samples": 60,
            "chunk": 3,
            **other,
        }
        with pytest.raises(es.InputError, match=f"another sweep: {words}"):
            es.sweep(M, folder=folder, **given)
    with pytest.raises(es.InputError, match="the numbers of the mechanism differ"):
        es.sweep(
            M.with_parameters(L3=0.11),
            sweeping.slow,
            sweeping.OVER,
            samples=60,
            chunk=3,
            folder=folder,
        )
    assert content(folder) == before
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(es.InputError, match="has other files in it"):
        es.sweep(M, condition, {"L2": (0.03, 0.05)}, samples=2, folder=tmp_path)
    with pytest.raises(es.InputError, match="is a file"):
        es.sweep(M, condition, {"L2": (0.03, 0.05)}, samples=2, folder=tmp_path / "thesis.txt")


def test_two_runs_do_not_write_into_one_folder(tmp_path):
    pytest.importorskip("fcntl", reason="no such locks here")

    def nested(m):
        if m.parameters["L2"] != 0.04:
            es.sweep(M, condition, {"L2": (0.03, 0.05)}, samples=2, folder=tmp_path)
        return 0.0

    with pytest.warns(es.ModelWarning, match="another process is writing into"):
        es.sweep(M, nested, {"L2": (0.03, 0.05)}, samples=1, folder=tmp_path)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"over": {"L22": (0.1, 0.2)}}, "L22.*did you mean 'L2'"),
        ({"over": {}}, "over"),
        ({"over": {"L2": (0.05, 0.03)}}, "L2"),
        ({"method": "sobl"}, "did you mean 'sobol'"),
        ({"samples": 0}, "samples"),
        ({"samples": 2000, "most": 1000}, "2,000 points, more than most=1,000"),
        ({"samples": (3, 4), "method": "grid"}, "one for each of the 1 variables"),
        ({"quantity": "peak_torq"}, "peak_torque"),
        ({"cluster": 5}, "cluster is"),
        ({"seed": -1}, "seed"),
        ({"progress": "yes"}, "progress"),
        ({"folder": 3}, "a folder is a path"),
        ({"folder": ""}, "a folder is a path"),
        ({"folder": "half \udc80"}, "a folder has a name in Unicode"),
    ],
)
@pytest.mark.slow(reason="the first of them imports Arrow and Dask")
def test_what_is_wrong_is_said_in_a_sentence(given, words):
    with pytest.raises(es.EslabonError, match=words):
        es.sweep(M, **{"quantity": condition, "over": {"L2": (0.03, 0.05)}, "samples": 2, **given})
    with pytest.raises(es.InputError, match="a mechanism first"):
        es.sweep("five_bar", condition, {"L2": (0.03, 0.05)})
