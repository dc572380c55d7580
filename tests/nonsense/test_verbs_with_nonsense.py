"""Every verb of a mechanism, with all kinds of nonsense in every argument and option, and not only with those that are drawn.

A verb looks its native function up by the values of its options, so that values that are no keys could end in an error of the
lookup: lists, arrays, sets, numbers that equal nothing, objects that cannot be hashed or compared.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eslabon as es
from nonsense.fuzzing import finding
from nonsense.kinds import VALUES
from nonsense.public_functions import public_functions
from nonsense.rounds import SLOW
from nonsense.valid_calls import Call, state_of, with_state


class BrokenHash:
    def __hash__(self) -> int:
        raise ArithmeticError("no hash")


@dataclass(frozen=True, eq=False)
class BrokenEquality:
    """Has the hash of another value, so that a lookup compares the two."""

    twin: Any

    def __hash__(self) -> int:
        return hash(self.twin)

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError("no comparison")


class BrokenDigest:
    @property
    def digest(self) -> str:
        raise ArithmeticError("no digest")


@dataclass(frozen=True)
class Frozen:
    value: Any


ODD: dict[str, Callable[[], Any]] = {
    "list": lambda: ["q1"],
    "list in a tuple": lambda: ("q1", ["q1"]),
    "array": lambda: np.zeros(3),
    "array of a text": lambda: np.array("q1"),
    "set": lambda: {"q1"},
    "dictionary": lambda: {"m1": [1.0]},
    "nan": lambda: float("nan"),
    "list of nan": lambda: [float("nan")],
    "broken hash": BrokenHash,
    "broken hash in a list": lambda: [BrokenHash()],
    "broken hash in a dataclass": lambda: Frozen(BrokenHash()),
    "list in a dataclass": lambda: Frozen([1]),
    "unequal to None": lambda: BrokenEquality(None),
    "unequal to a name": lambda: BrokenEquality("q1"),
    "unequal to a name, in a list": lambda: [BrokenEquality("q1")],
    "unequal to a name, in a set": lambda: frozenset([BrokenEquality("q1")]),
    "broken digest": BrokenDigest,
    "class": lambda: Frozen,
}
QUESTION = ("formulation", "frame", "nonsense", "parameters")  # words that hide in **options
# Options of formulas, some of which stand in no signature and come with **more; and one of none.
WORDS = (
    "axes",
    "by",
    "along",
    "constraints",
    "formulation",
    "frame",
    "held",
    "independent",
    "nonsense",
    "quantity",
    "weights",
)


def findings(
    call: Call, folder: Path, words: tuple[str, ...] = (), others: tuple[str, ...] = WORDS
) -> list[str]:
    """What is wrong with a call if one of its arguments, of its options or of some words more is any kind of nonsense, or if
    another word, which it need not know, is an odd one."""
    known = [
        p.name
        for p in inspect.signature(call.function).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]
    own = dict.fromkeys((*range(len(call.arguments)), *call.options, *known, *words))
    found = []
    for name in dict.fromkeys((*own, *others)):
        for kind, make in {**(VALUES if name in own else {}), **ODD}.items():
            arguments, options = list(call.arguments), dict(call.options)
            (arguments if isinstance(name, int) else options)[name] = make()
            wrong = finding(lambda: call.function(*arguments, **options), folder)  # noqa: B023
            if wrong is not None:
                found.append(
                    f"{call.function.__name__}({name} = {kind}): {wrong.error}: {wrong.said[:200]}"
                )
    return found


@pytest.mark.parametrize("mechanism", ["double_pendulum", "five_bar"])
def test_verbs_of_states(
    mechanism: str, library: Callable[[str], es.Mechanism], tmp_path: Path
) -> None:
    verbs = [
        name.split(".")[1]
        for name in public_functions()
        if name.startswith("Mechanism.") and name not in SLOW
    ]
    calls = [
        call
        for verb in verbs
        if (call := with_state(getattr(library(mechanism), verb))) is not None
    ]
    assert len(calls) > 20
    assert not [line for call in calls for line in findings(call, tmp_path)]


@pytest.mark.parametrize("mechanism", ["double_pendulum", "five_bar"])
def test_verbs_of_quantities(
    mechanism: str, library: Callable[[str], es.Mechanism], tmp_path: Path
) -> None:
    m = library(mechanism)
    q, v, a = (state_of(m)[name] for name in ("q", "v", "a"))
    calls = [
        Call(m.derivative, ("pose", "q", q)),
        Call(m.derivative, ("inverse_dynamics", "q", q, v, a)),
        Call(m.derivative, ("inverse_dynamics", ("m1",), q, v, a), {"along": "closed"}),
        Call(m.linearize, (q,)),
        Call(m.operations, ("mass_matrix",)),
        Call(m.equations, ("gravity_forces",), {"parameters": False}),
        Call(m.c_source, ("mass_matrix",)),
    ]
    assert not [line for call in calls for line in findings(call, tmp_path, QUESTION)]


@pytest.mark.parametrize("mechanism", ["double_pendulum", "five_bar"])
def test_verbs_that_change_and_save(
    mechanism: str, library: Callable[[str], es.Mechanism], tmp_path: Path
) -> None:
    m = library(mechanism)
    calls = [
        Call(m.with_parameters),
        Call(m.with_mode, ("mine", state_of(m)["q"])),
        Call(m.save, ("x.toml",)),
    ]
    assert not [line for call in calls for line in findings(call, tmp_path, QUESTION, ())]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_quantities_have_names(
    odd: Callable[[], Any], library: Callable[[str], es.Mechanism], tmp_path: Path
) -> None:
    m = library("double_pendulum")
    for question in (m.operations, m.equations, m.c_source):
        with pytest.raises(es.EslabonError):
            question(odd())
    with pytest.raises(es.EslabonError):
        m.derivative(odd(), "q", m.home())
    assert finding(lambda: m.derivative("mass_matrix", odd(), m.home()), tmp_path) is None


def test_a_verb_is_not_differentiated_by_an_option(library: Callable[[str], es.Mechanism]) -> None:
    m = library("double_pendulum")
    with pytest.raises(es.ModelError, match=r"^pose has no option 'by'"):
        m.pose(m.home(), by="q")


def test_the_option_at_fault_is_named(library: Callable[[str], es.Mechanism]) -> None:
    m = library("five_bar")
    q = m.project(m.home())
    with pytest.raises(es.ModelError, match=r"^constraints is a text.* it is \['penalty'\]"):
        m.forward_dynamics(
            q, 0 * q, [0.0, 0.0], formulation=np.str_("lie"), constraints=["penalty"]
        )
    with pytest.raises(es.ModelError, match=r"constraints is a text.* it is \['penalty'\]"):
        m.derivative("inverse_dynamics", "q", q, 0 * q, 0 * q, constraints=["penalty"])
    with pytest.raises(
        es.ModelError, match=r"^axes is 'body', 'spatial' or 'aligned'; it is BrokenEquality"
    ):
        m.jacobian(q, frame=np.str_("point"), axes=BrokenEquality("q1"))
    m.jacobian(q)
    with pytest.raises(
        es.ModelError, match=r"^axes is a text.* it is BrokenEquality"
    ):  # it meets the key with "body"
        m.jacobian(q, axes=BrokenEquality("body"))


@pytest.mark.parametrize(
    "names", [{"theta2", "theta5"}, dict.fromkeys(("theta2", "theta5")).keys()], ids=["set", "keys"]
)
def test_names_in_any_collection_are_the_same_option(names: Any) -> None:
    m = es.load("five_bar")
    q = m.project(m.home())
    options = {"constraints": "elimination", "independent": ("theta2", "theta5")}
    expected = m.forward_dynamics(q, 0 * q, [1.0, 2.0], **options)
    for _ in range(3):
        given = m.forward_dynamics(q, 0 * q, [1.0, 2.0], **{**options, "independent": names})
        np.testing.assert_allclose(given, expected, rtol=1e-12)
    assert len(m._native) <= 2


class Series:
    """Holds numbers, but is no array."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        return np.array([1.0, 2.0])


def test_a_value_that_is_no_key_leaves_nothing_behind() -> None:
    m = es.load("five_bar")
    q = m.project(m.home())
    expected = m.inverse_dynamics(q, 0 * q, 0 * q, weights=[1.0, 2.0])
    before = len(m._native), len(m._native._entries)
    for _ in range(3):
        assert (m.inverse_dynamics(q, 0 * q, 0 * q, weights=Series()) == expected).all()
    assert (len(m._native), len(m._native._entries)) == before
