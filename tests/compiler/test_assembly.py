"""Machine code as it is put together: two kernels apart, one or two objects, no word of LLVM's fast arithmetic."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import replace
from fractions import Fraction
from typing import Any

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import native, operators
from eslabon.compiler.calls import call, repeat
from eslabon.compiler.llvm import cpython, emit, kernel_assembly, machine, products
from eslabon.compiler.llvm.kernel_assembly import Assembled
from eslabon.compiler.program import Instruction, Program, read
from pendulum_chain import pendulum_chain
from randomness import seeded
from traced_graph import traced_graph


def run(f: Assembled, state: np.ndarray) -> np.ndarray:
    """What a kernel makes of one state, in all of its lanes."""
    numbers = (f.layout.input_size, f.scratch_size, f.layout.output_size)
    memory = [np.zeros(n * f.width + 8) for n in numbers]
    source, scratch, target = (
        x[(-x.ctypes.data % 64) // 8 :][: n * f.width] for x, n in zip(memory, numbers, strict=True)
    )
    source[:] = np.repeat(state, f.width)
    loaded = cpython.kernel_code(f.code, f.elementary, f.width)
    kernel = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(loaded.function(f.name))
    kernel(*(x.ctypes.data for x in (source, scratch, target)))
    lanes = target.reshape(-1, f.width)
    assert np.array_equal(lanes, np.repeat(lanes[:, :1], f.width, axis=1))
    return lanes[:, 0].copy()


def with_loops(n: int = 5) -> Any:
    """Calls, repeated ones, a factor, solutions and products of matrices, among straight code."""
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    mixed = ca.Function(
        "mixed", [a, b], [ca.dot(a, b) * ca.sin(a[0]) - b[1] / a[2], ca.cross(a, b)]
    )
    rows = operators.lower(ca.SX.ones(n, n))

    def formula(x: Any) -> Any:
        i, j = (k.tolist() for k in np.divmod(np.arange(n * n), n))
        products, crossed = repeat(mixed, (x, i), (x, j))
        M = products.reshape((n, n))
        M = M @ M.T + 3 * ca.SX.eye(n)
        found = operators.solved(rows, operators.factored(rows, M), crossed[:, :n].T)
        left = operators.multiplied(operators.entries(M), M, found, crossed[:, :n].T)
        return found, left, call(mixed, x[:, 0], x[:, 1])[0], ca.sum1(x**2) * ca.cos(x[0, :])

    return traced_graph("with_loops", [ca.SX.sym("x", 3, n)], formula)


GRAPHS = {"straight": pendulum_chain(4), "with loops": with_loops()}
HOWEVER = [(level, long) for level in ("0", "1") for long in (False, True)]


@pytest.mark.parametrize("graph", GRAPHS)
def test_neither_lanes_nor_levels_nor_cuts_nor_objects_change_a_bit(graph, monkeypatch) -> None:
    program = read(GRAPHS[graph])
    state = seeded(graph).normal(size=emit.Layout.of(program).input_size)
    found = []
    for level, long in HOWEVER:
        monkeypatch.setenv("ESLABON_OPTIMIZATION", level)
        monkeypatch.setattr(machine, "LONG", 0 if long else 10**9)
        for piece in (None, 7):
            monkeypatch.setattr(emit.kernel, "__defaults__", (piece,))
            found += [
                run(make(program), state)
                for make in (kernel_assembly.assembled_batch, kernel_assembly.assembled_single)
            ]
    assert np.all(np.isfinite(found[0]))
    assert np.ptp(found[0]) > 0
    for x in found[1:]:
        assert np.array_equal(x, found[0])


# Products ------------------------------------------------------------------------------------------------------------


def random_products(seed: int, steps: int = 60) -> Any:
    """Sums, differences, products, squares and quotients of one another; some are used once, some often, some twice by one."""
    rng, x = np.random.default_rng(seed), ca.SX.sym("x", 4)
    values = [*ca.vertsplit(x), ca.SX(0.7)]
    for _ in range(steps):
        a, b = (values[int(k)] for k in rng.integers(max(0, len(values) - 9), len(values), 2))
        make = rng.choice(["+", "-", "*", "*", "sq", "/", "twice", "neg", "inv"])
        made = {
            "+": a + b, "-": a - b, "*": a * b, "sq": a * a, "/": a / values[1], "twice": 2 * a, "neg": -a, "inv": 1 / (a + 3)
        }  # fmt: skip
        values.append(made[str(make)])
    return ca.Function("f", [x], [ca.cse(ca.vertcat(*values[-12:]))])


def rounded(x: Fraction) -> float:
    return x.numerator / x.denominator


def exactly(program: Program, state: np.ndarray, fused: bool) -> np.ndarray:
    """The program's numbers by exact arithmetic, rounded after each operation but for products that are used once, by a sum;
    of two in one sum the earlier is rounded."""
    steps = program.instructions
    used = [a for i in steps for a in i.args]
    divisors = [i.args[1] for i in steps if i.name == "div"]
    shared = {k for k in divisors if divisors.count(k) >= products.SHARED}
    values: list[Fraction] = []
    whole: dict[int, Fraction] = {}  # products before they are rounded
    result = np.zeros(program.output_shapes[0][0])
    for k, i in enumerate(steps):
        given = [values[a] for a in i.args]
        if i.name in ("add", "sub"):
            once = [a for a in i.args if fused and a in whole and used.count(a) == 1]
            given = [whole[a] if a == max(once, default=-1) else values[a] for a in i.args]
        found = exact_operation(i, given, state, i.name == "div" and i.args[1] in shared)
        if i.name in ("mul", "sq") or (i.name == "div" and i.args[1] in shared):
            whole[k] = found
        if i.name == "output":
            result[i.place[1]] = rounded(found)
        values.append(Fraction(rounded(found)))
    return result


def exact_operation(
    i: Instruction, given: list[Fraction], state: np.ndarray, by_inverse: bool
) -> Fraction:
    if i.name in ("input", "const"):
        return Fraction(float(state[i.place[1]]) if i.name == "input" else i.value)
    if by_inverse:
        return given[0] * Fraction(rounded(1 / given[1]))
    x, y = given[0], given[-1]
    made = {
        "add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y, "sq": lambda: x * x, "div": lambda: x / y,
        "twice": lambda: 2 * x, "neg": lambda: -x, "inv": lambda: 1 / x, "output": lambda: x,
    }  # fmt: skip
    return made[i.name]()


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_products_are_rounded_unless_a_sum_is_all_that_uses_them(seed, fused, monkeypatch) -> None:
    here = machine.host()
    monkeypatch.setattr(machine, "host", lambda: replace(here, fused=fused))
    program = read(random_products(seed))
    state = seeded("products", seed).uniform(0.5, 1.5, 4)
    got = run(kernel_assembly.assembled_batch(program), state)
    assert np.array_equal(got, exactly(program, state, fused))


def test_fused_products_occur_with_every_sign_and_others_stay() -> None:
    """So that the test above says something."""
    names = [
        i.name
        for seed in range(6)
        for i in products.arithmetic(read(random_products(seed)).instructions, fused=True)
    ]
    assert {products.PLUS, products.MINUS, products.FROM, "mul", "sq", "inv", "add", "sub"} <= set(
        names
    )
    kept = products.arithmetic(read(random_products(0)).instructions, fused=False)
    assert not {products.PLUS, products.MINUS, products.FROM} & {i.name for i in kept}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("fused", [True, False])
def test_llvm_is_left_no_choice_of_rounding(graph, fused) -> None:
    program = read(GRAPHS[graph])
    for made in (emit.kernel(program, 4, fused), emit.single_kernel(program, 4, fused)):
        words = set(made.text.split())
        assert words.isdisjoint(
            {"contract", "fast", "reassoc", "arcp", "afn", "nnan", "ninf", "nsz"}
        )
        assert ("@llvm.fma." in made.text) == fused


# Objects -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_length_of_one_kernel_decides_on_the_level_of_its_straight_code(
    graph, levels, monkeypatch
) -> None:
    program = read(GRAPHS[graph])
    kernels = 2 if emit.has_loops(program) else 1
    for limit, made in ((program.length, [1]), (program.length - 1, [1, 0])):
        monkeypatch.setattr(machine, "LONG", limit)
        native.compile(GRAPHS[graph], cache=False)
        assert levels == kernels * made
        levels.clear()
    monkeypatch.setenv("ESLABON_OPTIMIZATION", "0")
    native.compile(GRAPHS[graph], cache=False)
    assert levels == kernels * [0]


def test_loops_are_not_among_the_straight_code() -> None:
    program = read(GRAPHS["with loops"])
    for made in (emit.kernel(program, 4, True), emit.single_kernel(program, 4, True)):
        loops, straight = machine._parted(made.text)
        assert " br " in loops
        assert " phi " in loops
        assert " br " not in straight
        assert straight.count("\ndefine ") > 1


def test_what_assemble_did_not_make_is_refused_not_run() -> None:
    code = machine.assemble("define void @f() {\n  ret void\n}\n")
    (bare,) = machine.objects(code)
    for other in (bare, code[:-1], code[:3], code + bare, b"\0" * 100):
        with pytest.raises(ValueError, match="no machine code"):
            machine.Loaded(other)


OFF, ON = "-enable-misched=false", "-enable-misched=true"
NOTHING = "define void @f() {\n  ret void\n}\n"


@pytest.fixture
def switched(monkeypatch) -> list[str]:
    """What LLVM's options are set to."""
    binding, found = machine.llvm(), []
    set_option = binding.set_option
    monkeypatch.setattr(
        binding, "set_option", lambda name, option: found.append(option) or set_option(name, option)
    )
    return found


def test_only_long_code_goes_unscheduled_and_others_find_the_switch_on_again(
    switched, monkeypatch
) -> None:
    machine.assemble(NOTHING, machine.SCHEDULED)
    assert switched == []
    machine.assemble(NOTHING, machine.SCHEDULED + 1)
    assert switched == [OFF, ON]
    with pytest.raises(RuntimeError):
        machine.assemble("this is no code", machine.SCHEDULED + 1)
    assert switched == [OFF, ON] * 2
    monkeypatch.setenv("ESLABON_OPTIMIZATION", "0")  # at which LLVM schedules nothing anyway
    machine.assemble(NOTHING, machine.SCHEDULED + 1)
    assert switched == [OFF, ON] * 2


def test_threads_do_not_switch_at_cross_purposes(switched) -> None:
    together = [
        threading.Thread(target=machine.assemble, args=(NOTHING, machine.LONG)) for _ in range(4)
    ]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert switched == [OFF, ON] * 4
