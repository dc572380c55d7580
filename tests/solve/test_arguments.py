"""Nonsense for every argument of every verb of this room ends in a sentence, or works because it means something."""

import warnings

import numpy as np
import pytest

import eslabon as es
from eslabon import paths

NONSENSE = {
    "nothing": None, "number": 5, "negative": -1, "fraction": 1.5, "not a number": np.nan, "endless": np.inf, "text": "zz",
    "no text": "", "true": True, "list": ["a"], "table": {"a": 1}, "empty": [], "ragged": [[1.0], [1.0, 2.0]],
    "object": object(), "complex": 1j, "function": len, "cube": np.zeros((2, 2, 5)), "nan array": np.full(7, np.nan),
    "set": {1}, "bytes": b"abc",
}  # fmt: skip


def loops():
    m = es.load("five_bar")
    q = m.project(m.home())
    x, frame = q[[0, 2]], m.bodies[-1].name
    T = m.pose(q, frame)
    both = {
        "guess": q,
        "limits": True,
        "report": False,
        "continuation": False,
        "singular": "warn",
        "restarts": 3,
        "tolerance": 1e-9,
    }
    return m, {
        "assemble": (lambda **k: m.assemble(**k), {"given": x, **both}),
        "assemble joints": (lambda value, **k: m.assemble({m.actuated[0]: value, m.actuated[1]: x[1]}, **k), {"value": x[0], "guess": q}),
        "assemble a pose": (lambda pose, frame, **k: m.assemble(es.Target(frame, pose=pose), **k), {"pose": T, "frame": frame, "guess": q}),
        "complete": (lambda **k: m.complete(**k), {"given": x, "velocity": x, "acceleration": x, **both, "passive": "refuse"}),
        "complete a pose": (lambda pose, frame, **k: m.complete(es.Target(frame, pose=pose), **k), {
            "pose": T, "velocity": np.zeros(6), "acceleration": np.zeros(6), "guess": q, "frame": frame, "singular": "warn"}),
        "project": (lambda **k: m.project(**k), {"q": q, "v": q, "a": q, "limits": True}),
        "assembly_modes": (lambda **k: m.assembly_modes(**k), {"given": x, "report": False, "limits": True}),
        "conditions": (lambda **k: m.conditions(**k), {"q": q, "frame": frame, "part": "all"}),
        "singularity": (lambda **k: m.singularity(**k), {"q": q, "frame": frame, "part": "rotation", "tolerance": 1e-5}),
        "manipulability": (lambda **k: m.manipulability(**k), {"q": q, "frame": frame, "part": "translation"}),
        "well_conditioned": (lambda **k: m.well_conditioned(**k), {"frame": frame, "limits": 1.5}),
        "workspace": (lambda **k: m.workspace(**k), {"frame": frame, "ranges": {m.actuated[0]: (1.9, 2.1)}, "samples": 5, "guess": q, "limits": True}),
        "inverse_kinematics": (lambda frame, pose, **k: m.inverse_kinematics(es.Target(frame, pose=pose), **k), {
            "pose": T, "guess": q, "frame": frame, "limits": True, "report": False}),
        "follow": (lambda **k: m.follow(**k), {"path": None}),
    }  # fmt: skip


def trees():
    m = es.load("puma560")
    q, T = m.home(), m.pose(m.home())
    path = paths.along(
        paths.line(T[:3, 3], T[:3, 3] + [0, 0, 0.01]), paths.cycloidal(1.0), T[:3, :3]
    )
    return m, {
        "inverse_kinematics": (lambda **k: m.inverse_kinematics(**k), {
            "target": T, "guess": q, "solutions": 1, "limits": True, "tolerance": 1e-9, "restarts": 1, "threads": 1, "report": False}),
        "targets": (lambda **k: m.inverse_kinematics(es.Target(**k)), {
            "frame": "tool", "position": T[:3, 3], "axis": {"x": T[:3, 0]}, "weight": 2.0}),
        "points": (lambda **k: m.inverse_kinematics(es.Target(**k)), {"places": T[None, :3, 3], "points": [[0.0, 0.0, 0.0]]}),
        "follow": (lambda **k: m.follow(**k), {
            "path": path, "guess": q, "frame": "tool", "times": [0.0, 1.0], "axis": "x", "limits": True, "tolerance": 1e-9,
            "report": False, "singular": "warn", "part": "axis"}),
        "conditions": (lambda **k: m.conditions(**k), {"q": q, "frame": "tool", "part": "all"}),
        "singularity": (lambda **k: m.singularity(**k), {"q": q, "frame": "tool", "part": "all", "tolerance": 1e-5}),
        "manipulability": (lambda **k: m.manipulability(**k), {"q": q, "frame": "tool", "part": "all"}),
        "complete": (lambda pose, frame, **k: m.complete(es.Target(frame, pose=pose), **k), {
            "pose": T, "velocity": np.zeros(6), "acceleration": np.zeros(6), "guess": q, "frame": "tool", "limits": True,
            "tolerance": 1e-9, "report": False, "singular": "warn"}),
        "newton_gauss": (lambda **k: m.newton_gauss(**k), {
            "pose": T, "guess": q, "frame": "tool", "twist": np.zeros(6), "equations": "vector", "iterations": 3,
            "tolerance": 1e-9, "dtype": float}),
        "workspace": (lambda **k: m.workspace(**k), {"frame": "tool", "ranges": {}, "samples": 5, "guess": q, "limits": True}),
        "assemble": (lambda **k: m.assemble(**k), {"given": q, "guess": q, "limits": True}),
        "project": (lambda **k: m.project(**k), {"q": q, "v": q, "a": q, "limits": True}),
    }  # fmt: skip


# What has a meaning after all.
MEANS = {
    "nothing": {"guess", "frame", "ranges", "v", "a", "axis", "position", "threads", "times", "singular", "velocity", "acceleration", "twist", "dtype"},
    "number": {"value", "weight", "samples", "solutions", "tolerance", "threads", "restarts", "iterations"},
    "negative": {"value"}, "fraction": {"tolerance", "value", "weight"}, "true": {"value", "limits", "report", "continuation"},
    "table": set(), "empty": {"value"}, "cube": {"value"}, "text": set(),
}  # fmt: skip


@pytest.mark.parametrize("family", [loops, trees])
def test_nonsense_ends_in_a_sentence(family):
    _, verbs = family()
    wrong = []
    for verb, (call, good) in verbs.items():
        for name in good:
            for what, value in NONSENSE.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        call(**{**good, name: value})
                    except es.EslabonError as error:
                        assert str(error)
                    except Exception as error:
                        wrong.append(f"{verb}({name}={what}): {type(error).__name__}: {error}")
                    else:
                        wrong += [f"{verb}({name}={what}) was accepted"] * (
                            name not in MEANS.get(what, set())
                        )
    assert not wrong, "\n".join(wrong)


def test_the_tolerance_says_how_near_is_near_enough_in_assembly_too():
    """A five-bar that stays open by two parts in a thousand of its size, and one to be closed better
    than numbers allow."""
    m = es.load("five_bar")
    edge = m.assemble([2.0, 1.0])

    def apart(a):  # the crank ends, with both cranks turned outward by a
        v = m.parameters
        first = v["L2"] * np.array([np.cos(np.pi - a), np.sin(np.pi - a)])
        second = np.array([v["L1"], 0]) + v["L5"] * np.array([np.cos(a), np.sin(a)])
        return np.linalg.norm(second - first)

    long = m.variant(L3=apart(0.0) / 2 - 2e-4, L4=apart(0.0) / 2)
    with pytest.raises(es.AssemblyError, match="cannot be assembled"):
        long.assemble([np.pi, 0.0], singular="ignore")
    q = long.assemble([np.pi, 0.0], tolerance=1e-2, singular="ignore")
    assert 1e-5 < np.abs(long.constraint(q)).max() < 1e-2
    assert not m.assemble([2.1, 1.0], edge, tolerance=1e-30, report=True).converged
    assert m.assemble([2.1, 1.0], edge, report=True).converged


def test_a_target_has_as_many_restarts_in_assembly_as_are_given(monkeypatch):
    from eslabon.solve import branch_assembly

    seen, search = [], branch_assembly.Solver.search

    def counted(self, lanes, guessed, restarts):
        seen.append((restarts, self.threads))
        return search(self, lanes, guessed, restarts)

    monkeypatch.setattr(branch_assembly.Solver, "search", counted)
    m = es.load("planar_3rrr")
    far = np.eye(4)
    far[:2, 3] = 5.0
    m.assemble(es.Target("centre", pose=far), report=True, restarts=3, threads=1)
    assert (3, 1) in seen
