"""Keys by content: what a wing's code depends on, and nothing else, changes its digest."""

from __future__ import annotations

import ast
import functools
import gc
import importlib.util
import pkgutil
import sys
import threading
import time
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import eslabon as es
from eslabon.compiler import source_digest as digests
from eslabon.compiler.formula import Formula
from eslabon.compiler.source_digest import SHOWING, code_digest, source_digest
from eslabon.formulas.quantities import QUANTITIES

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
NAMES = [wing for row in es.WINGS for wing in row]
DATA = {"bond_graphs", "languages", "robots"}  # folders without code


def test_the_wings_are_those_of_the_contract() -> None:
    contracts = tomllib.loads(PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (x for x in contracts if x["type"] == "layers")
    rows = [
        tuple(x.strip().removeprefix("eslabon.") for x in row.split("|"))
        for row in contract["layers"]
    ]
    assert tuple(rows) == es.WINGS


def test_no_file_of_the_core_shares_its_name() -> None:
    """A file that is looked for by its name is found once."""
    here = Path(es.__file__).parent
    files = [x.relative_to(here) for x in here.rglob("*.py") if x.name != "__init__.py"]
    core = [x for x in files if x.parts[0] in ("numerics", "model", "files", "formulas")]
    twins = [x for x in core if any(x.name == y.name and x != y for y in files)]
    assert not twins


def test_every_part_of_the_package_is_in_a_wing() -> None:
    here = Path(es.__file__).parent

    def parts(folder: Path, above: str = "") -> set[str]:
        """A folder is one part, unless its files stand in rows of their own."""
        found = {f"{above}{p.stem}" for p in folder.iterdir() if p.suffix == ".py" or p.is_dir()}
        found -= {f"{above}__init__", f"{above}__pycache__", *DATA}
        apart = {x for x in found if any(name.startswith(f"{x}.") for name in NAMES)}
        return found - apart | {y for x in apart for y in parts(folder / x, f"{x}.")}

    assert parts(here) == set(NAMES)
    assert not ast.parse((here / "formulas" / "__init__.py").read_text()).body[
        1:
    ]  # a docstring: it is in no digest
    assert not [p for name in DATA for p in (here / name).rglob("*.py") if p.read_text().strip()]
    assert set(NAMES) >= SHOWING


def forget() -> None:
    for remembered in (digests._digest_of_wings, digests._digest_of_wing, digests._content):
        remembered.cache_clear()


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package with a file in each wing, every other one a folder."""
    monkeypatch.setattr(digests, "HERE", tmp_path)
    monkeypatch.setattr(digests, "STARTED", time.time_ns() + 10**12)
    for k, name in enumerate(NAMES):
        place = tmp_path.joinpath(*name.split("."))
        file = place.with_suffix(".py") if k % 2 else place / "inner" / "room.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n")
    forget()
    yield tmp_path
    forget()


def all_digests() -> dict[str, str]:
    forget()
    return {name: source_digest([f"eslabon.{name}.room"]) for name in NAMES}


@pytest.mark.parametrize("touched", NAMES)
def test_a_change_in_a_wing_counts_in_it_and_above(house: Path, touched: str) -> None:
    before = all_digests()
    place = house.joinpath(*touched.split("."))
    file = place.with_suffix(".py")
    file = file if file.exists() else place / "inner" / "room.py"
    file.write_text("x = 2\n")
    after = all_digests()
    row = {name: k for k, row in enumerate(es.WINGS) for name in row}
    above = (
        {name for name in NAMES if row[name] < row[touched]} if touched not in SHOWING else set()
    )
    assert {name for name in NAMES if before[name] != after[name]} == {touched, *above}


def test_names_of_files_count_and_times_do_not(house: Path) -> None:
    before = all_digests()
    for file in house.rglob("*.py"):
        file.touch()
    assert all_digests() == before
    folder = next(x for x in house.iterdir() if (x / "inner").is_dir())
    (folder / "inner" / "room.py").rename(folder / "inner" / "hall.py")
    assert all_digests()[folder.name] != before[folder.name]


def test_a_file_is_read_once_and_what_no_formula_needs_not_at_all(house: Path) -> None:
    for _ in range(3):
        source_digest(["eslabon.formulas.dynamics"])
        source_digest(["eslabon.numerics", "eslabon.model"])
    read = digests._content.cache_info().misses
    below = [name for row in es.WINGS[es.WINGS.index(("formulas.dynamics",)) :] for name in row]
    assert read == len(set(below) - SHOWING)


def test_a_file_changed_after_the_process_began_may_not_be_what_runs(house, monkeypatch) -> None:
    known = all_digests()
    monkeypatch.setattr(digests, "STARTED", 0)
    unknown = all_digests()
    assert not set(known.values()) & set(unknown.values())
    digests._of_this_process.cache_clear()  # as in another process
    assert not set(unknown.values()) & set(all_digests().values())


def test_every_formula_of_the_package_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them refers to something that only this process knows."""

    def refuse() -> bytes:
        raise AssertionError("there is something that cannot be told from another one")

    monkeypatch.setattr(digests, "_of_this_process", refuse)
    for module in pkgutil.walk_packages(es.__path__, "eslabon."):
        if module.name.split(".")[1] not in ("__main__", "cli"):
            import_module(module.name)
    rows = [row.formula(closed) for row in QUANTITIES.values() for closed in (False, True)]
    formulas = [
        x for x in gc.get_objects() if isinstance(x, Formula) and "eslabon" in x.function.__module__
    ]
    assert len(formulas) > 100
    for formula in formulas:
        code_digest(formula)
    assert {*map(id, rows)} <= {*map(id, formulas)}
    assert len({code_digest(x) for x in rows[::2]}) == len(QUANTITIES)


# Functions of one's own ---------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`written(text).f`: the function of a module with that text, as another process would read it."""
    monkeypatch.setattr(digests, "STARTED", time.time_ns() + 10**12)

    def module(text: str, name: str = "one_of_a_kind") -> Any:
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        spec: Any = importlib.util.spec_from_file_location(name, file)
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, made)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            spec.loader.exec_module(made)
        finally:
            sys.dont_write_bytecode = before
        digests._content.cache_clear()
        digests._users_own.cache_clear()
        return made

    yield module
    digests._content.cache_clear()
    digests._users_own.cache_clear()


TEXTS = {
    "its text": ("def f(m): return m / 2\n", "def f(m): return m / 8\n"),
    "a comment in its file": ("def f(m): return m\n# one\n", "def f(m): return m\n# two\n"),
    "what it closes over": (
        "def g(k): return lambda m: k * m\nf = g(2)\n",
        "def g(k): return lambda m: k * m\nf = g(8)\n",
    ),
    "a default": ("def f(m, k=2): return m * k\n", "def f(m, k=8): return m * k\n"),
    "a function that it calls": (
        "def h(): return 2\ndef f(m): return h()\n",
        "def h(): return 8\ndef f(m): return h()\n",
    ),
    "a decorator": (
        "import functools\ndef d(f):\n  @functools.wraps(f)\n  def g(m): return 2 * f(m)\n  return g\n@d\ndef f(m): return m\n",
        "import functools\ndef d(f):\n  @functools.wraps(f)\n  def g(m): return 8 * f(m)\n  return g\n@d\ndef f(m): return m\n",
    ),
    "a method that is inherited": (
        "class A:\n  def __call__(self, m): return 2 * m\nclass B(A): pass\nf = B()\n",
        "class A:\n  def __call__(self, m): return 8 * m\nclass B(A): pass\nf = B()\n",
    ),
}
# What a function refers to: a class with each kind of method, objects, and functions behind others.
REFERENCES = {
    "a constant of a class": "class A: k = {k}\ndef f(m): return A.k\n",
    "a property": "class A:\n  @property\n  def k(self): return {k}\ndef f(m): return A().k\n",
    "a cached property": "import functools\nclass A:\n  @functools.cached_property\n  def k(self): return {k}\nf = A()\n",
    "a static method": "class A:\n  @staticmethod\n  def k(): return {k}\ndef f(m): return A.k()\n",
    "an object of its module": "class A: pass\na = A()\na.k = int('{k}')\ndef f(m): return a.k\n",
    "an object with slots": "class A: __slots__ = ('k',)\na = A()\na.k = int('{k}')\ndef f(m): return a.k\n",
    "a function with a cache": "import functools\n@functools.cache\ndef k(): return {k}\ndef f(m): return k()\n",
    "a method in C": "f = {{'a': int('{k}')}}.get\n",
    "one of two lambdas": "a, b = (lambda: 2), (lambda: 8)\ng = lambda *x: lambda m: x\nf = g(a, b, [a, b][{k} > 5])\n",
    "a field that is not compared": "from dataclasses import *\n@dataclass\nclass A:\n  k: int = field(compare=False)\nf = A(int('{k}'))\n",
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_users_function_counts_by_its_content(written: Any, what: str) -> None:
    one, other = TEXTS[what]
    first = code_digest(written(one).f)
    assert code_digest(written(one).f) == first
    assert code_digest(written(other).f) != first


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("what", REFERENCES)
def test_all_that_a_function_refers_to_counts(
    written: Any, monkeypatch: Any, what: str, lasting: bool
) -> None:
    """By what it is, whatever the text of its file is."""
    monkeypatch.setattr(digests, "_content", functools.cache(lambda file: b""))
    first, again, other = (
        code_digest(written(REFERENCES[what].format(k=k)).f, lasting=lasting) for k in (2, 2, 8)
    )
    assert first == again != other


def test_neither_the_text_around_nor_the_name_of_a_module_counts_in_what_lasts(
    written: Any,
) -> None:
    text = "K = 2\nclass A: pass\ndef f(m): return A, K * m\n"
    first = code_digest(written(text).f, lasting=True)
    assert code_digest(written(f"# more\n{text}", "of_another_name").f, lasting=True) == first


def test_a_long_chain_of_functions_is_read_to_its_end(written: Any) -> None:
    """Whatever the depth of the stack is."""
    chain = (
        "".join(f"def f{k}(m): return f{k + 1}(m)\n" for k in range(2000))
        + "def f2000(m): return {}\nf = f0\n"
    )
    assert code_digest(written(chain.format(2)).f, lasting=True) != code_digest(
        written(chain.format(8)).f, lasting=True
    )


@pytest.mark.parametrize(
    "reached", ["import far\ndef f(m): return far.k()", "from far import k\ndef f(m): return k()"]
)
def test_a_users_other_files_count(written: Any, reached: str) -> None:
    def digest(number: int) -> str:
        written(f"def k(): return {number}\n", "far")
        return code_digest(written(reached).f)

    assert digest(2) == digest(2) != digest(8)


def test_values_a_users_function_takes_from_its_module_count(written: Any) -> None:
    """They may come from the command line or from a file of numbers."""
    made = written("K = 2\ndef f(m): return K * m\n")
    first = code_digest(made.f)
    made.K = 8
    assert code_digest(made.f) != first


@pytest.mark.parametrize("module", ["__console__", "eslabon.systems.control.control_law"])
def test_what_was_typed_counts_by_its_code(module: str) -> None:
    """Also where it is typed into a module of the package, as in a doctest."""

    def typed(text: str) -> Any:
        names: dict[str, Any] = {"__name__": module}
        exec(text, names)
        return names["f"]

    first = code_digest(typed("def f(m): return m in ('a', 'b') or m in {'x', 'y'} or m / 2"))
    assert (
        code_digest(typed("def f(m): return m in ('a', 'b') or m in {'x', 'y'} or m / 2")) == first
    )
    assert (
        code_digest(typed("def f(m): return m in ('a', 'b') or m in {'x', 'y'} or m / 8")) != first
    )


def test_functions_inside_a_function_of_the_package_are_told_apart_by_their_code() -> None:
    """All lambdas have one name; two of them may stand in one function."""
    text = "def make():\n    return [lambda t: 2 * t, lambda t: 3 * t, lambda t: 2 * t]\n"
    names: dict[str, Any] = {"__name__": "eslabon.systems.control.control_law"}
    exec(
        compile(text, import_module("eslabon.systems.control.control_law").__file__ or "", "exec"),
        names,
    )
    two, three, again = (digests.data_digest(f) for f in names["make"]())
    assert two == again != three
    assert two is not None


def test_equal_values_have_equal_digests() -> None:
    array = np.linspace(0, 1, 5000)
    assert code_digest((array, array)) == code_digest([array.copy(), array.copy()])
    other = array.copy()
    other[2500] = np.nextafter(other[2500], 1)
    assert code_digest(other) != code_digest(array)
    assert code_digest(0.0) != code_digest(-0.0)
    assert code_digest(1) != code_digest(1.0)
    assert code_digest(functools.partial(np.add, 1)) == code_digest(functools.partial(np.add, 1))
    assert code_digest({"a": [1, 2]}) != code_digest({"a": [1], "b": 2})
    round_trip: list[Any] = []
    round_trip.append(round_trip)
    assert code_digest(round_trip) == code_digest(round_trip)


def test_what_cannot_be_read_is_never_found_again() -> None:
    graph = ca.SX.sym("x")
    first = code_digest(graph)
    assert code_digest(graph) == first
    assert code_digest(ca.SX.sym("x")) != first
    digests._of_this_process.cache_clear()  # as in another process
    assert code_digest(graph) != first


@pytest.mark.parametrize(
    "made", [threading.Lock, lambda: ca.SX.sym("x"), object, lambda: (x for x in ())]
)
def test_what_cannot_be_read_has_no_fingerprint_that_lasts(made: Any) -> None:
    thing = made()
    for value in (thing, [thing], functools.partial(max, thing), lambda m: thing):
        with pytest.raises(
            es.ModelError, match=r"cannot be told from another .* give numbers, arrays or functions"
        ):
            code_digest(value, lasting=True)
