"""The baseline: its table covers every public verb, and a comparison finds every kind of difference."""

from __future__ import annotations

import copy
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eslabon as es

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from baseline import calls, compare, coverage, record, run, states
from baseline.answers import ROOT, Counts, answer, decode_array, encode, without_paths


def recording(**answers: Any) -> dict[str, Any]:
    """A recording of one closed mechanism and one tree, with the same answers."""
    made = {name: answer(lambda x=x: x() if callable(x) else x) for name, x in answers.items()}
    return {
        "subjects": {"loop": "closed", "arm": "tree"},
        "answers": {"loop": made, "arm": copy.deepcopy(made)},
    }


def fail() -> None:
    raise es.AssemblyError("loop 'tip' stays open by 0.0416 m after 12 steps.")


def failures(base: dict[str, Any], new: dict[str, Any], *expected: compare.Expected) -> list[str]:
    """The kinds of the differences that fail."""
    return [d.kind for d in compare.sorted_out(list(compare.differences(base, new)), expected)[0]]


BASE = {
    "pose": np.linspace(0.1, 1.0, 7),
    "rank": 3,
    "words": ["a", "b"],
    "cost": Counts(add=100, mul=100),
    "refused": fail,
}


# -- the table -------------------------------------------------------------------------------------


def test_every_public_verb_is_in_the_table_or_excused() -> None:
    assert coverage.uncovered_names() == []


def test_the_table_names_nothing_that_does_not_exist() -> None:
    public = set(coverage.public_names())
    assert coverage.covered_names() <= public
    assert set(coverage.EXCEPTIONS) <= public - coverage.covered_names()
    assert all(reason.strip() for reason in coverage.EXCEPTIONS.values())


def test_every_quantity_is_evaluated_and_counted() -> None:
    from eslabon.formulas.quantities import QUANTITIES

    assert {*calls.QUANTITIES, *calls.UNDER_FORCES.values()} == {*QUANTITIES}
    counted = {call.name for call in calls.MECHANISM_CALLS if call.where("five_bar")}
    assert {f"operations.{name}" for name in QUANTITIES} <= counted


def test_names_are_unique_and_tolerances_have_reasons() -> None:
    assert max(Counter(call.name for call in calls.ALL_CALLS).values()) == 1
    for call in calls.ALL_CALLS:
        usual = (call.tolerance, call.floor) == (compare.TOLERANCE, 0.0)
        assert usual or call.reason, call.name


# -- drawn mechanisms ------------------------------------------------------------------------------


def test_a_hundred_drawn_mechanisms_load_and_most_loops_move() -> None:
    names = states.drawn_names()
    assert len(names) == 100
    closed = moving = 0
    kinds = set()
    for name in names:
        m = states.load(name)
        q, v, _, _ = (np.array(states.stored_states()[name][key]) for key in ("q", "v", "a", "tau"))
        assert (m.name, len(q), len(v)) == (name, m.nq, m.nv)
        assert (states.DRAWN / f"{name}.toml").read_text().startswith("# "), (
            "a comment says how it was drawn"
        )
        kinds |= {type(j.kind).__name__ for j in m.joints}
        closed += m.closed
        moving += (
            m.closed and np.abs(v).max(initial=0.0) > 1e-6
        )  # the velocities keep the loops closed
    assert len(kinds) == 9
    assert closed >= 40
    assert moving >= 30


def test_every_mechanism_of_the_library_has_a_state() -> None:
    for name in es.robots():
        assert len(states.stored_states()[name]["q"]) == es.load(name).nq


def test_the_folder_is_small() -> None:
    assert (
        sum(f.stat().st_size for f in states.HERE.rglob("*") if f.suffix != ".pyc" and f.is_file())
        < 500_000
    )


# -- answers ---------------------------------------------------------------------------------------


def test_numbers_keep_every_bit() -> None:
    for x in (
        np.random.default_rng(0).normal(size=(2, 3)),
        np.array([np.nan, np.inf, -0.0]),
        np.array(1 + 2j),
    ):
        found = decode_array(encode(x))
        assert found.tobytes() == x.tobytes()
        assert found.shape == x.shape


def test_texts_have_no_paths_of_this_machine() -> None:
    assert (
        without_paths(f"{ROOT}/src/a.toml and {Path.home()}/b") == "<root>/src/a.toml and <home>/b"
    )


def test_an_object_must_be_read_by_the_table() -> None:
    assert answer(lambda: es.load("elbow"))["raw"]


def test_a_subject_is_recorded_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [
        c
        for c in calls.MECHANISM_CALLS
        if c.name in ("outline", "home", "joint.unknown", "pose.too_short")
    ]
    monkeypatch.setattr(record, "calls_of", lambda name: (calls.MechanismCase(name), wanted))
    found = record.record_subject("elbow")
    made = {"subjects": {"elbow": found.kind}, "answers": {"elbow": found.answers}}
    record.write(made, tmp_path / "a.json.gz")
    record.write(made, tmp_path / "b.json.gz")
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert compare.read_recording(tmp_path / "a.json.gz") == made
    assert found.answers["joint.unknown"]["error"][0] == "ModelError"
    assert [f.name for f in tmp_path.iterdir() if ".json.gz." in f.name] == []


def test_a_base_without_a_recorder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="give a checkout with a recorder, or a recording"):
        run.record(tmp_path, "base")


# -- comparison ------------------------------------------------------------------------------------


def test_equal_recordings_agree() -> None:
    assert failures(recording(**BASE), recording(**BASE)) == []


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("pose", np.linspace(0.1, 1.0, 7) + np.array([0, 0, 0, 0, 1e-11, 0, 0]), "number"),
        ("pose", np.linspace(0.1, 1.0, 7) * np.array([np.nan, 1, 1, 1, 1, 1, 1]), "number"),
        ("pose", np.linspace(0.1, 1.0, 6), "verdict"),
        ("rank", 2, "verdict"),
        ("rank", None, "verdict"),
        ("rank", fail, "verdict"),
        ("words", ["a", "c"], "message"),
        ("words", ["a"], "verdict"),
        ("cost", Counts(add=100, mul=111), "count"),
        ("refused", 1.0, "verdict"),
    ],
)
def test_a_change_is_found(name: str, value: Any, kind: str) -> None:
    assert failures(recording(**BASE), recording(**{**BASE, name: value})) == [kind, kind]


def test_round_off_is_no_difference() -> None:
    nearly = BASE["pose"] * (1 + 1e-14)
    assert failures(recording(**BASE), recording(**{**BASE, "pose": nearly})) == []


def test_a_missing_call_fails_and_a_new_one_does_not() -> None:
    less = recording(**{k: x for k, x in BASE.items() if k != "rank"})
    assert failures(recording(**BASE), less) == ["missing", "missing"]
    assert failures(less, recording(**BASE)) == []


def test_counts_may_grow_by_two_per_cent_and_by_five_where_loops_are_checked() -> None:
    def grown(total: int) -> list[str]:
        new = recording(**{**BASE, "cost": Counts(add=100, mul=total - 100)})
        allowed = {"cost": compare.Precision(closed_growth=1.05)}
        found = compare.sorted_out(list(compare.differences(recording(**BASE), new, allowed)), [])[
            0
        ]
        return sorted(d.subject for d in found)

    assert (grown(190), grown(203), grown(208), grown(212)) == ([], [], ["arm"], ["arm", "loop"])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("loop 'tip' stays open by 0.0417 m after 12 steps.", True),
        ("loop 'tip' stays open by 0.0419 m after 12 steps.", False),
        ("loop 'tip' stays open by 0.0416 m after 13 steps.", False),
        ("loop 'top' stays open by 0.0416 m after 12 steps.", False),
    ],
)
def test_messages_are_compared_word_by_word_and_number_by_number(text: str, same: bool) -> None:
    def other() -> None:
        raise es.AssemblyError(text)

    kinds = [] if same else ["message", "message"]
    assert failures(recording(**BASE), recording(**{**BASE, "refused": other})) == kinds


def test_another_type_of_error_is_another_verdict() -> None:
    def other() -> None:
        raise es.SingularityError("loop 'tip' stays open by 0.0416 m after 12 steps.")

    assert failures(recording(**BASE), recording(**{**BASE, "refused": other})) == [
        "verdict",
        "verdict",
    ]


def test_round_off_in_a_message_is_no_difference_and_digits_in_names_are_letters() -> None:
    assert compare.same_text("misses by 3.1e-17 m", "misses by 8e-16 m")
    assert not compare.same_text("theta2 is locked", "theta3 is locked")
    assert compare.same_text("0.5*cos(q1)", "0.50000000000000011*cos(q1)")


# -- expected differences --------------------------------------------------------------------------


def write_list(folder: Path, text: str) -> Path:
    path = folder / "expected.toml"
    path.write_text(text)
    return path


def test_a_listed_difference_is_accepted_and_one_that_does_not_occur_is_reported(
    tmp_path: Path,
) -> None:
    text = """[[expected]]
    reason = "issue 1: the rank is two"
    calls = "ra*"
    subjects = "loop"
    kinds = ["verdict"]
    [[expected]]
    reason = "issue 2: done long ago"
    calls = "pose"
    """
    listed = compare.read_expected(write_list(tmp_path, text))
    base, new = recording(**BASE), recording(**{**BASE, "rank": 2})
    failing, _, absent = compare.sorted_out(list(compare.differences(base, new)), listed)
    assert [(d.subject, d.call) for d in failing] == [("arm", "rank")]
    assert [e.reason for e in absent] == ["issue 2: done long ago"]
    told, agree = compare.report(base, new, compare.read_expected(tmp_path / "expected.toml"))
    assert not agree
    assert "verdict  arm: rank: the answer: 3 became 2" in told
    assert "does not occur: pose of * (issue 2: done long ago)" in told


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('calls = "pose"', "has no reason"),
        ('reason = " "\ncalls = "pose"', "has no reason"),
        ('reason = "issue 1"', "covers everything"),
        ('reason = "issue 1"\ncalls = "pose"\nkinds = ["digit"]', "unknown kinds"),
        ('reason = "issue 1"\ncall = "pose"', "unknown keys"),
    ],
)
def test_a_list_without_reasons_or_limits_is_refused(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(SystemExit, match=sentence):
        compare.read_expected(write_list(tmp_path, f"[[expected]]\n{text}"))


def test_the_committed_list_can_be_read() -> None:
    compare.read_expected()
