"""Requests by content: two that are one key have one graph, and what has no content that could be compared is refused."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula, canonical, requested
from eslabon.formulas.inputs import Q
from eslabon.formulas.quantities import quantity


@dataclass(frozen=True)
class Gain:
    """An array that is not compared, as arrays in dataclasses often are not."""

    name: str
    values: Any = field(compare=False)


@dataclass(frozen=True)
class Known(Gain):
    @property
    def digest(self) -> str:
        return f"{self.values.tolist()}"


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Open:
    k: float = 1.0


def _force(m: Any, q: Any, gain: Any) -> Any:
    return float(gain.values[0]) * q


FORCE = Formula("force", _force, (Q,), (Argument("force", lambda m, **_: (m.nq,)),), {"gain": None})


def test_two_gains_have_two_keys_or_none() -> None:
    m = es.load("elbow")
    gains = [np.array([2.0]), np.array([8.0])]
    two, eight = (evaluate(m, FORCE, gain=Known("k", x))([1.0, 1.0]) for x in gains)
    assert two.tolist() == [2.0, 2.0]
    assert eight.tolist() == [8.0, 8.0]
    for x in gains:
        with pytest.raises(
            es.ModelError,
            match="force: gain is a text, a number, a tuple of such or left out; it is Gain",
        ):
            evaluate(m, FORCE, gain=Gain("k", x))


VALUES = [
    None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), float("nan"), float("inf"), "", "1", "None", "true",
    (), (1,), (1.0,), ("1",), ((1,),), (1, 1), (None,), Pair(1, 1), Pair(1, (1,)), Pair((1,), 1), (Pair(1, 1),),
    Known("k", np.zeros(1)), Known("k", np.ones(1)), Gain("k", 1.0), Gain("k", 1), Gain("l", 1),
]  # fmt: skip


def test_values_have_one_key_only_if_they_are_one() -> None:
    keys = [canonical(x) for x in VALUES]
    assert len(set(keys)) == len(VALUES)
    assert [canonical(x) for x in VALUES] == keys


def test_a_number_counts_by_its_bits_whatever_made_it() -> None:
    assert canonical(np.float64(0.1)) == canonical(0.1) != canonical(np.float64(np.float32(0.1)))
    assert canonical(np.str_("tool")) == canonical("tool")


@pytest.mark.parametrize(
    "value",
    [
        [1.0],
        {"a": 1},
        {1},
        np.zeros(2),
        np.int64(1),
        1j,
        b"1",
        len,
        Gain,
        Open(),
        Gain("k", [1]),
        object(),
        (1, [2]),
    ],
)
def test_what_cannot_be_told_from_another_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be told from another"):
        canonical(value)


def test_a_verb_refuses_such_an_option_in_a_sentence() -> None:
    m = es.load("elbow")
    for value in (object(), 1j, len):
        with pytest.raises(es.ModelError, match="frame is a text"):
            m.pose([0.1, 0.2], value)


def test_equal_requests_have_one_function_and_one_key() -> None:
    m = es.load("five_bar")
    jacobian = quantity(m, "jacobian")
    one, other = (
        requested(m, jacobian, {"frame": "point", "axes": axes})
        for axes in ("body", "".join(["bo", "dy"]))
    )
    assert one.identity == other.identity
    assert one.key(m) == other.key(m)
    assert evaluate(m, jacobian, frame="point") is evaluate(m, jacobian, axes="body", frame="point")
    assert requested(m, jacobian).key(m) != one.key(m)


def test_reading_every_formula_loads_no_casadi() -> None:
    text = (
        "import pkgutil, sys, eslabon; from importlib import import_module\n"
        "above = ('__main__', 'cli', 'reproductions', 'studies', 'viewer')\n"
        "wings = [import_module(f'eslabon.{x.name}') for x in pkgutil.iter_modules(eslabon.__path__) if x.name not in above]\n"
        "rooms = [x for x in wings if hasattr(x, '__path__')]\n"
        "for x in rooms: [import_module(y.name) for y in pkgutil.walk_packages(x.__path__, f'{x.__name__}.')]\n"
        "print('casadi' in sys.modules, 'eslabon.formulas.quantities' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=600
    )
    assert run.stdout == "False True\n"


def test_memory_dies_with_the_mechanism() -> None:
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    m.derivative("pose", "L2", q, along="closed")
    m.variant(L2=0.05).pose(q)
    dead = [weakref.ref(m), weakref.ref(evaluate(m, quantity(m, "pose")))]
    del m
    gc.collect()
    assert [x() for x in dead] == [None, None]
