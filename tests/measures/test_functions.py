"""Functions of one's own, several measures at once, names, and fingerprints."""

from __future__ import annotations

import ast
import importlib.util
import os
import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import eslabon as es
from eslabon.measures import (
    Called,
    Condition,
    Measure,
    NaturalFrequency,
    PeakTorque,
    Quantity,
    Several,
    measure_of,
)

ELBOW = es.load("elbow")
SWING = es.paths.joint_path([[0.0, 0.0], [1.0, 0.5]], es.paths.quintic(1.0))
DESIGNS = {"a1": np.array([0.5, 1.0, 1.5])}


def reach(m, factor=1.0):
    return factor * m.pose([0.0, 0.0], "tool")[0, 3]


@pytest.mark.parametrize(
    ("function", "columns"),
    [
        (reach, {"value": [1.5, 2.0, 2.5]}),
        (partial(reach, factor=2.0), {"value": [3.0, 4.0, 5.0]}),
        (lambda m: {"x": reach(m), "y": 1}, {"x": [1.5, 2.0, 2.5], "y": [1, 1, 1]}),
        (
            lambda m: m.pose([0.0, 0.0], "tool")[:2, 3],
            {"value[1]": [1.5, 2.0, 2.5], "value[2]": [0, 0, 0]},
        ),
        (lambda m: np.float32(2.0), {"value": [2, 2, 2]}),
    ],
)
def test_what_a_function_gives(function, columns: dict) -> None:
    measure = measure_of(function)
    assert dict(measure.columns(ELBOW)) == dict.fromkeys(columns, "")
    found = measure.measured(ELBOW, DESIGNS)
    assert not found.reasons
    for name, expected in columns.items():
        np.testing.assert_allclose(found.values[name], expected, atol=1e-15)


def test_what_a_function_raises_is_a_reason() -> None:
    def some(m):
        if m.parameters["a1"] == 0.5:
            return 1 / 0
        if m.parameters["a1"] == 1.5:
            return "long"
        return m.inverse_kinematics(es.Target(position=[9.0, 0, 0]))

    found = Called(some, columns="value").measured(ELBOW, DESIGNS)
    assert found.reasons[0] == "ZeroDivisionError: division by zero"
    assert "elbow does not reach this target" in found.reasons[1]
    assert "gives 'long'; a number" in found.reasons[2]
    assert np.isnan(found.values["value"]).all()

    def stop(m):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Called(stop, columns="value").measured(ELBOW, DESIGNS)


def test_what_is_no_number_is_a_reason() -> None:
    def some(m):
        if m.parameters["a1"] == 0.5:
            return {"x": np.nan, "y": 1.0}
        if m.parameters["a1"] == 1.5:
            sys.exit("too long")
        return {"y": 3.0, "x": 2.0}  # names tell, not their order

    found = Called(some, columns=("x", "y")).measured(ELBOW, DESIGNS)
    assert found.reasons == {0: "x has no finite value.", 2: "SystemExit: too long"}
    np.testing.assert_array_equal(found.values["x"], [np.nan, 2.0, np.nan])
    np.testing.assert_array_equal(found.values["y"], [1.0, 3.0, np.nan])
    for nothing in ({}, []):
        assert (
            "a number, numbers by name or a row"
            in Called(lambda m, x=nothing: x).measured(ELBOW, DESIGNS).reasons[0]
        )


def test_where_the_description_has_no_columns_designs_do() -> None:
    def some(m):
        if m.parameters["a1"] < 1.2:
            raise ValueError("too short")
        return {"x": 1.0, "y": 2.0}

    table = es.sweep(ELBOW, {"own": some}, {"a1": (0.5, 1.5)}, samples=11, method="grid")
    assert table.values == ("own.x", "own.y")
    assert table.contents.reasons[0].sentence == "own: ValueError: too short"
    assert (table.contents.failed, np.isfinite(table["own.y"]).sum()) == (7, 4)


def test_other_columns_elsewhere_are_a_reason() -> None:
    found = Called(lambda m: {"x": 1.0} if m.parameters["a1"] < 1.2 else {"y": 1.0}).measured(
        ELBOW, DESIGNS
    )
    assert list(found.reasons) == [2]
    assert "gives y here, and x elsewhere" in found.reasons[2]


def test_several_at_once() -> None:
    measure = measure_of(
        {
            "tau": PeakTorque(SWING),
            "close": Condition(SWING, twist="translation"),
            "reach": reach,
            "xy": lambda m: {"x": 1.0},
        }
    )
    assert dict(measure.columns(ELBOW)) == {
        "tau": "N m", "tau.theta1": "N m", "tau.theta2": "N m", "close": "", "reach": "", "xy.x": ""
    }  # fmt: skip
    found = measure.measured(ELBOW, DESIGNS).values
    alone = PeakTorque(SWING).measured(ELBOW, DESIGNS).values
    np.testing.assert_array_equal(found["tau.theta2"], alone["peak_torque.theta2"])
    np.testing.assert_array_equal(found["reach"], [1.5, 2.0, 2.5])


def test_one_that_fails_leaves_the_others() -> None:
    def broken(m):
        raise ValueError("no")

    found = Several({"a": broken, "b": reach, "c": broken}).measured(ELBOW, DESIGNS)
    assert found.reasons == dict.fromkeys(range(3), "a, c: ValueError: no")
    assert np.isfinite(found.values["b"]).all()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: measure_of("peak_torq", {}), "no measure or quantity 'peak_torq'; did you mean 'peak_torque'"),
        (lambda: measure_of("enrgy", {}), "did you mean 'energy'"),
        (lambda: measure_of("peak_torque", {}), "peak_torque needs motion"),
        (lambda: measure_of("peak_torque", {"motion": SWING, "sampels": 5}), "no option 'sampels'; did you mean 'samples'"),
        (lambda: measure_of("energy", {}), "'energy' needs states"),
        (lambda: measure_of(PeakTorque(SWING), {"samples": 3}), "has its own already"),
        (lambda: measure_of(reach, {"factor": 3}), "has its own already"),
        (lambda: measure_of(PeakTorque), "is a kind of measure"),
        (lambda: measure_of(5), "what is measured is a name"),
        (lambda: measure_of({}), "there is none"),
        (lambda: Several({"a": Quantity("energy", [[0, 0], [1, 1]], [[0, 0]]), "b": reach}), "as many rows a design: a 2, b 1"),
        (lambda: Several({"a": lambda m: {"b": 1}, "a.b": reach}).columns(ELBOW), "two of the measures have a column 'a.b'"),
        (lambda: Called(3), r"a function f\(mechanism\)"),
    ],
)  # fmt: skip
def test_bad_input(make, sentence: str) -> None:
    with pytest.raises(es.EslabonError, match=sentence):
        make()


# -- fingerprints -------------------------------------------------------------------------------------------------------


def alike() -> list[Measure]:
    """Measures of every kind, made anew."""
    path = es.paths.joint_path([[0.0, 0.0], [1.0, 0.5]], es.paths.quintic(1.0))
    law = es.control.computed_torque(ELBOW, path, frequency=5.0)
    return [
        PeakTorque(path), PeakTorque(path, samples=51), Condition([[0.1, 0.2]]), Condition([[0.1, 0.2]], reduce="mean"),
        NaturalFrequency([0.0, 0.0]), NaturalFrequency([0.0, 0.0], mode=1), Quantity("energy", [0.0, 0.1]),
        Quantity("energy", [0.0, 0.1], reduce="peak"), Quantity("pose", [0.0, 0.1], frame="tool"), Called(reach),
        Called(partial(reach, factor=2.0)), Called(lambda m: 1.0), Called(lambda m: 2.0), closing_over(1.0), closing_over(2.0),
        Several({"a": reach}), Several({"b": reach}), es.measures.TrackingError(law, path),
        es.measures.ClosedLoopDamping([0.0, 0.0], "lqr", Q=1.0, R=1.0),
    ]  # fmt: skip


def closing_over(x: float) -> Called:
    return Called(lambda m: x * m.nq)


def test_fingerprints_tell_measures_apart_in_any_process() -> None:
    own = [measure.fingerprint() for measure in alike()]
    assert len(set(own)) == len(own)
    assert own == [measure.fingerprint() for measure in alike()]
    script = "from measures.test_functions import alike\nfor x in alike(): print(x.fingerprint())"
    told = subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True, check=True)  # fmt: skip
    assert told.stdout.split() == own


def test_a_function_is_told_by_the_numbers_of_its_module() -> None:
    text = "LIMIT = {}\ndef f(m):\n    return LIMIT * m.nq\n"
    made = []
    for limit in (1, 1, 2):
        room: dict = {}
        exec(text.format(limit), room)
        made.append(Called(room["f"]).fingerprint())
    assert made[0] == made[1] != made[2]


SCRIPT = """
import sys
from dataclasses import dataclass
import eslabon as es
import {helpers} as helpers
from {helpers} import {name}
PATH = es.paths.joint_path([[0.0], [{end}]], es.paths.quintic(1.0))
TWICE = es.load("elbow")
@dataclass
class Limits:
    low: float = {low}
class Reach:
    def __init__(self, factor): self.factor = factor
    def __call__(self, m): return {inside} * self.factor * m.nq
LIMITS = Limits()
quantities = dict(
    module=lambda m: helpers.{name}(m), imported=lambda m: {name}(m), path=lambda m: PATH.position(0.5)[0], words=lambda m: m.name in {{"a", "b", "c"}},
    instance=lambda m: LIMITS.low, callable=Reach(2.0), mechanism=lambda m: TWICE.nq, logged=lambda m: logger.name,
)
import logging
logger = logging.getLogger("anything")
logger.warning("")
print({{key: es.measures.Called(f).fingerprint() for key, f in quantities.items()}})
"""


def test_a_function_is_told_by_all_that_it_makes_use_of(tmp_path) -> None:
    """Its helpers in other files, classes, and objects of its module; whatever the hashes of texts are in a process."""

    def told(seed, *changes):
        """The fingerprints of a script for each of some changes of it, in one process."""
        plain = {"helpers": "one", "name": "own", "end": 1.0, "low": 0.1, "inside": 1.0}
        runs = []
        for k, change in enumerate(changes):
            runs.append(tmp_path / str(k) / "run.py")
            runs[-1].parent.mkdir(exist_ok=True)
            runs[-1].write_text(SCRIPT.format(**{**plain, **change}))
        each = (
            "import runpy, sys\nfor path in sys.argv[1:]: runpy.run_path(path, run_name='__main__')"
        )
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
            "PYTHONHASHSEED": seed,
        }
        command = [sys.executable, "-c", each, *map(str, runs)]
        run = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
        )
        return [ast.literal_eval(line) for line in run.stdout.splitlines()]

    (tmp_path / "one.py").write_text("def own(m):\n    return 1.0\n")
    (tmp_path / "two.py").write_text("def own(m):\n    return 2.0\n")
    differ = [
        ({}, set()), ({"helpers": "two"}, {"module", "imported"}), ({"end": 2.0}, {"path"}), ({"low": 0.2}, {"instance"}),
        ({"inside": 3.0}, {"callable"}),
    ]  # fmt: skip
    found = told("1", *(change for change, _ in differ))
    first = found[0]
    assert len(set(first.values())) == len(first)
    assert told("2", {}) == [first]
    for other, (_, keys) in zip(found, differ, strict=True):
        assert {key for key in first if first[key] != other[key]} == keys


INDIRECT = {
    "the decorator": """
from functools import wraps
def decorated(f):
    @wraps(f)
    def g(m):
        return {k} * f(m)
    return g
@decorated
def f(m):
    return m.nq
""",
    "a method that is inherited": """
class Base:
    def __call__(self, m):
        return {k} * m.nq
class Own(Base):
    pass
f = Own()
""",
    "a function that a method calls": """
def helper(m):
    return {k} * m.nq
class Own:
    def __call__(self, m):
        return helper(m)
f = Own()
""",
}


@pytest.mark.parametrize("what", INDIRECT)
def test_what_stands_behind_a_function_belongs_to_it(tmp_path, monkeypatch, what: str) -> None:
    made = []
    for number, k in enumerate((2, 2, 8)):
        file = tmp_path / f"file{number}.py"
        file.write_text(INDIRECT[what].format(k=k))
        spec = importlib.util.spec_from_file_location("one_of_mine", file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "one_of_mine", module)
        spec.loader.exec_module(module)
        made.append(Called(module.f).fingerprint())
    assert made[0] == made[1] != made[2]


def test_measures_can_be_sent_to_another_process() -> None:
    for measure in (
        PeakTorque(SWING),
        NaturalFrequency([0.0, 0.0]),
        Quantity("energy", [0.0, 0.1]),
        Several({"a": reach}),
    ):
        again = pickle.loads(pickle.dumps(measure))
        assert again == measure
        assert hash(again) == hash(measure)
