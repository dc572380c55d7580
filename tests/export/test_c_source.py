"""C source, compiled with the system compiler, against native numbers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st

from eslabon.compiler import GraphError, native
from eslabon.errors import ModelError, ReadError
from eslabon.export import c_source as c
from eslabon.mechanism import Builder
from pendulum_chain import pendulum_chain as chain
from randomness import examples
from small_mechanisms import SMALL

STRICT = [
    "-std=c99",
    "-O1",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Wconversion",
    "-Werror",
    "-shared",
    "-fPIC",
]


needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform == "win32",
    reason="there is no C compiler that takes these options",
)


def built(source: c.CSource, folder: Path) -> Any:
    """The function in a shared library."""
    _, code = source.write(folder)
    library = folder / f"{source.name}.so"
    subprocess.run(["cc", *STRICT, str(code), "-o", str(library), "-lm"], check=True, cwd=folder)
    return getattr(ctypes.CDLL(str(library)), source.name)


def called(
    function: Any, inputs: list[np.ndarray], shapes: list[tuple[int, ...]]
) -> list[np.ndarray]:
    outputs = [np.full(s, np.nan) for s in shapes]
    pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*inputs, *outputs)]
    function(*pointers)
    return outputs


@needs_compiler
def test_c_agrees_with_native_code(tmp_path: Path, rng) -> None:
    f = chain(6)
    function, fast = built(c.source(f), tmp_path), native.compile(f)
    for _ in range(20):
        x = [rng.normal(size=6) for _ in range(3)]
        np.testing.assert_allclose(called(function, x, [(6,)])[0], fast(*x), rtol=1e-12, atol=1e-12)


@needs_compiler
def test_every_operation_in_c(tmp_path: Path, rng) -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    one = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log log1p expm1 sqrt fabs sign floor ceil erf
        logic_not"""
    values = [getattr(ca, name)(x) for name in one.split()]
    two = "atan2 fmin fmax fmod remainder copysign hypot logic_and logic_or"
    values += [getattr(ca, name)(x, y) for name in two.split()]
    values += [
        x + y,
        x - (y - x),
        x * y,
        x / (y / x),
        x**y,
        x < y,
        x <= y,
        x == y,
        x != y,
        -x,
        x**2,
        2 * x,
        1 / x,
    ]
    values += [
        x**2.5,
        ca.if_else(x < y, x - y, -(x**2)),
        ca.if_else(ca.logic_or(x < 0, y < 0), x, y),
        -(-x * -y) - -3.5,
    ]
    values += [
        ca.if_else(ca.logic_and(x < y, ca.logic_not(x + y)), 1, 2),
        (x + y) * (x - y),
        ca.SX(1e-300),
        ca.SX.inf(),
    ]
    f = ca.Function("f", [x, y], [ca.vertcat(*values)])
    function, fast = built(c.source(f), tmp_path), native.compile(f)
    for a, b in [*rng.normal(size=(30, 2)), *rng.uniform(-1, 1, (10, 2)), (0.0, 0.0), (1.0, -1.0)]:
        state = [np.array([a]), np.array([b])]
        got, want = called(function, state, [(len(values),)])[0], fast(*state)
        np.testing.assert_allclose(got, want, rtol=2e-15)


@needs_compiler
def test_dense_row_order_with_zeros_and_unused_inputs(tmp_path: Path, rng) -> None:
    a, unused = ca.SX.sym("a", 2, 3), ca.SX.sym("double", 2)
    sparse = ca.SX(2, 2)
    sparse[0, 1] = a[1, 2]
    function = built(
        c.source(ca.Function("f", [a, unused], [a.T, sparse], ["a", "double"], ["t0", "a_"])),
        tmp_path,
    )
    A = rng.normal(size=(2, 3))
    transposed, square = called(function, [A, np.zeros(2)], [(3, 2), (2, 2)])
    assert np.array_equal(transposed, A.T)
    assert np.array_equal(square, [[0, A[1, 2]], [0, 0]])


@needs_compiler
def test_an_output_may_be_an_input(tmp_path: Path) -> None:
    x = ca.SX.sym("x", 3)
    function = built(c.source(ca.Function("turn", [x], [ca.vertcat(x[1], x[2], x[0])])), tmp_path)
    v = np.array([1.0, 2.0, 3.0])
    pointer = v.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    function(pointer, pointer)
    assert v.tolist() == [2.0, 3.0, 1.0]


def test_the_text_is_the_same_each_time_and_works_in_cpp(tmp_path: Path) -> None:
    first, second = c.source(chain(4)), c.source(chain(4))
    assert first == second
    assert 'extern "C"' in first.header
    assert max(map(len, first.code.splitlines())) < 160


def test_what_c_does_not_have_is_named() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(GraphError, match="erfinv"):
        c.source(ca.Function("f", [x], [ca.erfinv(x)]))


def pendulum(name: str) -> Any:
    b = Builder(name).body("rod", 1.0, (0.5, 0, 0), (0.0, 0.1, 0.1))
    return b.joint("hinge", kind="revolute", axis="y", parent="ground", child="rod").build()


@needs_compiler
@examples(25)
@given(
    name=st.text(
        st.sampled_from("*/\\?\n\r\"' aµé\u202e\u2028") | st.characters(), min_size=1, max_size=12
    )
)
@example(name="a/*b*/")
@example(name="/*/")
@example(name="ends in a backslash\\")
@example(name="two\nlines */ int x;")
@example(name="what??/")
def test_any_name_makes_c_that_compiles(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        m = pendulum(name)
    except ModelError:
        reject()  # not every text is a name
    built(m.c_source("inverse_dynamics"), tmp_path_factory.mktemp("c"))


@needs_compiler
@pytest.mark.parametrize("name", ["main", "round", "gamma", "NAN", "int", "sin", "t1", "9", ""])
def test_names_that_c_has_taken(name: str, tmp_path: Path) -> None:
    x = ca.SX.sym("x")
    function = built(c.source(ca.Function("f", [x], [2 * x], ["NAN"], ["j0"]), name), tmp_path)
    assert called(function, [np.array([3.0])], [(1,)])[0] == 6.0


@needs_compiler
@pytest.mark.parametrize("name", SMALL)
def test_mechanisms_without_motion_compile(name: str, tmp_path: Path) -> None:
    for quantity in ("mass_matrix", "gravity_forces", "constraint_jacobian", "regressor"):
        built(SMALL[name]().c_source(quantity), tmp_path)


def test_the_folder_is_made_and_files_are_whole(tmp_path: Path) -> None:
    source = pendulum("p").c_source("mass_matrix")
    deep = tmp_path / "some" / "new" / "folder"
    header, code = source.write(deep)
    assert (header.read_text(), code.read_text()) == (source.header, source.code)
    source.write(deep)
    assert sorted(p.name for p in deep.iterdir()) == ["p_mass_matrix.c", "p_mass_matrix.h"]
    with pytest.raises(ReadError, match="cannot be written"):
        source.write(header / "below_a_file")
    assert header.read_text() == source.header


def test_it_shows_itself_in_a_line() -> None:
    assert repr(pendulum("p").c_source("mass_matrix")).startswith("<CSource p_mass_matrix: ")
    assert len(repr(pendulum("p").c_source("mass_matrix"))) < 100
