"""A long function, or one with loops, has two kernels, each made when a call first needs it: the same bits, and no more is made
than called for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import native
from eslabon.compiler.calls import repeat
from eslabon.compiler.formula import Argument
from eslabon.compiler.llvm import emit, machine
from randomness import seeded

A = np.arange(1.0, 9.0).reshape(2, 4)
MANY = np.stack([A] * (1 + native.FEW))
KEY = "late kernels"


def graph() -> Any:
    """The products of all pairs of columns, in a loop, and a number with a bound."""
    a, b, m = ca.SX.sym("a", 2), ca.SX.sym("b", 2), ca.SX.sym("m", 2, 4)
    angle = ca.Function("angle", [a, b], [ca.dot(a, b) / ca.norm_2(a)])
    pairs = [(i, j) for i in range(4) for j in range(4)]
    first, second = (list(x) for x in zip(*pairs, strict=True))
    return ca.Function("angles", [m], [repeat(angle, (m, first), (m, second)).T, m[0, 0]])


def compiled(again: bool = True) -> Any:
    outputs = [Argument("angles", (16,)), Argument("first", (), bound=("<", 1e3))]
    return native.compile(graph(), outputs=outputs, key=KEY, again=graph if again else None)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that are made, in their order."""
    found: list[str] = []
    assemble = machine.assemble

    def seen(text: str, *more: Any) -> bytes:
        if "kernel" in text:
            found.append("one" if "@one.kernel" in text else "block")
        return assemble(text, *more)

    monkeypatch.setattr(machine, "assemble", seen)
    return found


def test_a_call_makes_the_kernel_that_it_needs_and_no_other(kernels: list[str]) -> None:
    f = compiled()
    assert kernels == []
    alone = f(A)
    assert kernels == ["one"]
    few = f(np.stack([A, A + 1, A]))
    assert kernels == ["one"]
    many = f(np.stack([A, A + 1, *MANY]))
    assert kernels == ["one", "block"]
    np.testing.assert_array_equal(many[:3], few)
    np.testing.assert_array_equal(many[0], alone)
    np.testing.assert_array_equal(f(A.tolist()), alone)
    np.testing.assert_array_equal(f.general(A), alone)
    assert kernels == ["one", "block"]


def test_the_order_of_calls_changes_no_bit(folder: Path) -> None:
    first = compiled()
    alone, many = first(A), first(MANY)
    for file in folder.glob("*.native"):
        file.unlink()
    second = compiled()
    np.testing.assert_array_equal(second(MANY), many)
    np.testing.assert_array_equal(second(A), alone)


@pytest.mark.parametrize("general", [False, True])
def test_one_state_in_the_general_call_is_that_of_the_quick_one(general: bool) -> None:
    f = compiled()
    call = f.general if general else f
    np.testing.assert_array_equal(call(np.asfortranarray(A)), f(A))
    np.testing.assert_array_equal(call(A.astype(np.float32)), f(A))
    assert f.all_outputs(2048 * A)[1] == 2048
    with pytest.raises(Exception, match=r"first is 2\.05e"):
        call(2048 * A)


def test_functions_that_share_code_share_its_kernels(kernels: list[str]) -> None:
    f = compiled()
    other = f.with_checks({"first": 1e4})
    f(A)
    np.testing.assert_array_equal(other(2048 * A), f(A) * 2048)
    assert kernels == ["one"]


def test_a_process_that_loads_the_code_traces_it_for_a_kernel_that_is_not_there(
    kernels: list[str],
) -> None:
    alone = compiled()(A)
    traced: list[int] = []

    def again() -> Any:
        traced.append(1)
        return graph()

    f = native.load(KEY, again)
    assert f is not None
    np.testing.assert_array_equal(f(A), alone)
    assert not traced
    np.testing.assert_array_equal(f(MANY)[1], alone)
    assert traced
    assert kernels == ["one", "block"]
    loaded = native.load(KEY)  # where nobody can trace it, all must be there
    assert loaded is not None
    np.testing.assert_array_equal(loaded(MANY)[1], alone)
    assert kernels == ["one", "block"]


def test_a_process_that_finds_the_kernel_for_blocks_uses_it_for_few_states_too(
    kernels: list[str],
) -> None:
    many = compiled()(MANY)
    assert kernels == ["block"]
    f = native.load(KEY, graph)
    assert f is not None
    np.testing.assert_array_equal(f(MANY[:2]), many[:2])
    np.testing.assert_array_equal(f(MANY[:2]), many[:2])
    assert kernels == ["block"]


def test_few_states_at_a_time_are_counted(kernels: list[str]) -> None:
    f = compiled()
    for _ in range(native.FEW // 2):
        f(MANY[:2])
    assert kernels == ["one"]
    alone = f(A)
    np.testing.assert_array_equal(f(MANY[:2]), [alone, alone])
    assert kernels == ["one", "block"]
    f(MANY[:2])
    assert kernels == ["one", "block"]


def test_threads_that_share_a_batch_make_one_kernel(kernels: list[str]) -> None:
    f = compiled()
    many = f(np.concatenate([MANY] * 4), threads=4)
    assert kernels == ["block"]
    np.testing.assert_array_equal(many, [f(A)] * len(many))


def test_a_long_function_without_loops_has_two_kernels_of_the_same_bits(
    kernels: list[str],
) -> None:
    rng, x = seeded("long function"), ca.SX.sym("x", 5)
    values = [ca.sin(x[k]) for k in range(5)]
    while len(values) < emit.SHORT + 10:
        a, b = (values[k] for k in rng.integers(0, len(values), 2))
        values.append(a * b + x[int(rng.integers(5))])
    long = ca.Function("long", [x], [ca.vertcat(*values[-20:], sum(values))])
    f = native.compile(long, cache=False, again=lambda: long)
    states = rng.uniform(-0.5, 0.5, (native.FEW + 3, 5))
    alone = [f(state) for state in states]
    assert kernels == ["one"]
    np.testing.assert_array_equal(f(states), alone)
    assert kernels == ["one", "block"]


def test_without_a_way_back_to_the_graph_all_kernels_are_made_at_once(kernels: list[str]) -> None:
    compiled()(A)
    assert native.load(KEY) is None
    compiled(again=False)
    assert sorted(kernels) == ["block", "one"]
    assert native.load(KEY) is not None


def test_what_is_no_number_makes_no_kernel(kernels: list[str]) -> None:
    f = compiled()
    for nonsense in ("text", None, {}, [None], [[["x"]]]):
        with pytest.raises(Exception, match=r"m|angles"):
            f(nonsense)
    assert kernels == []
