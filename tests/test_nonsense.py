"""Every argument of every verb, given nonsense: one sentence of ours, or an answer, and never an error of someone else's."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import eslabon as es

NONSENSE: list[Any] = [
    5, -1, 2.5, float("nan"), float("inf"), True, "", "nonsense", "a" * 300, b"bytes", [], ["x"], [[]], {}, {"x": 1}, {1: 2},
    (), ("nonsense",), object(), np.zeros(0), np.zeros(50), np.full(4, np.nan), np.array("text"), np.array([object()]),
    np.zeros((2, 3, 5)), 1j, [1, [2, 3]], {"nonsense": np.nan}, lambda: None, np.array([1j]), range(3), None,
]  # fmt: skip

# The verbs, with arguments that make sense.
ARRAYS = {"q": None, "v": None, "a": None, "tau": None}
COMMON = {"parameters": {}, "external": {}, "out": None, "threads": None, "tolerance": 1e-6, "singular": "error"}
NUMERIC = {
    "pose": ("q",), "jacobian": ("q",), "velocity": ("q", "v"), "acceleration": ("q", "v", "a"), "position_hessian": ("q",),
    "constraint": ("q",), "constraint_jacobian": ("q",), "mass_matrix": ("q",), "coriolis_matrix": ("q", "v"),
    "gravity_forces": ("q",), "energy": ("q", "v"), "regressor": ("q", "v", "a"), "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"), "hybrid_dynamics": ("q", "v", "a"), "reactions": ("q", "v", "a"),
    "determined_reactions": ("q",), "conditions": ("q",), "project": ("q", "v", "a"),
    "singularity": ("q",), "manipulability": ("q",), "independent_coordinates": ("q",),
}  # fmt: skip
# Those take seconds where nonsense turns out to be sense.
OTHERS: dict[str, dict[str, Any]] = {
    "derivative": {"quantity": "mass_matrix", "by": "q"},
    "operations": {"quantity": "mass_matrix"},
    "c_source": {"quantity": "mass_matrix"},
    "equations": {"quantity": "constraint", "parameters": False},
    "with_parameters": {},
    "with_mode": {"name": "mine", "q": None},
    "save": {"path": "x.toml"},
}


@pytest.fixture(scope="module", params=["five_bar", "double_pendulum"])
def state(request: pytest.FixtureRequest) -> tuple[es.Mechanism, dict[str, Any]]:
    m = es.load(request.param)
    q = m.project(m.home()) if m.closed else m.home() + 0.1
    return m, {"q": q, "v": np.zeros(m.nv), "a": np.zeros(m.nv), "tau": np.zeros(m.nu)}


def answers(call: Any, what: str) -> None:
    """The call answers, or refuses in one sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except es.EslabonError as error:
            sentence = str(error)
            assert sentence.endswith((".", "?")), f"{what}: {sentence!r} is no sentence"
            assert len(sentence) < 700, f"{what}: {sentence!r} is more than a sentence"
        except TypeError as error:  # a keyword that does not exist, which Python itself refuses well
            assert "unexpected keyword" in str(error) or "required positional" in str(error), f"{what}: {error!r}"
        except BaseException as error:
            raise AssertionError(f"{what} ended in {error!r}") from error


@pytest.mark.parametrize("verb", sorted(NUMERIC))
def test_numeric_verbs(verb: str, state: tuple[es.Mechanism, dict[str, Any]]) -> None:
    m, good = state
    arrays = {name: good[name] for name in NUMERIC[verb]}
    method = getattr(m, verb)
    options = [p for p in inspect.signature(method).parameters.values() if p.name not in (*arrays, "more")]
    takes_more = "more" in inspect.signature(method).parameters
    for nonsense in NONSENSE:
        for name in arrays:
            answers(lambda: method(**{**arrays, name: nonsense}), f"{verb}({name}={nonsense!r})")  # noqa: B023
        for name in [p.name for p in options] + (list(COMMON) if takes_more else []):
            answers(lambda: method(**arrays, **{name: nonsense}), f"{verb}({name}={nonsense!r})")  # noqa: B023


@pytest.mark.parametrize("verb", sorted(OTHERS))
def test_other_verbs(verb: str, state: tuple[es.Mechanism, dict[str, Any]], tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    m, good = state
    given = {k: good.get(k) if v is None else v for k, v in OTHERS[verb].items()}
    arrays = (good["q"],) if verb == "derivative" else ()
    names = [*given, *(["frame", "formulation", "parameters", "nonsense"] if verb != "save" else [])]
    for nonsense in NONSENSE:
        for name in names:
            words = {**given, name: nonsense}
            first = [words.pop(k) for k in list(given) if verb == "derivative"]
            answers(lambda: getattr(m, verb)(*first, *arrays, **words), f"{verb}({name}={nonsense!r})")  # noqa: B023
