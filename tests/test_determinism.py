"""No test passes by luck: random numbers, examples and clocks that would differ from run to run are forbidden in tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCKS = {
    f"{clock}{unit}"
    for clock in ("time", "perf_counter", "monotonic", "process_time")
    for unit in ("", "_ns")
}
PROFILE = {
    "deadline",
    "derandomize",
    "database",
}  # of hypothesis: for all tests alike, in randomness.py
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def called(node: ast.AST) -> list[str]:
    """The parts of the name of a function that is called, as in `np.random.normal`; otherwise nothing."""
    return ast.unparse(node.func).split(".") if isinstance(node, ast.Call) else []


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """All that is evaluated when a module is imported: defaults and decorators, but no bodies of functions."""
    parts = ast.iter_child_nodes(node)
    if isinstance(node, FUNCTIONS):
        parts = iter(
            [
                *node.args.defaults,
                *filter(None, node.args.kw_defaults),
                *getattr(node, "decorator_list", []),
            ]
        )
    for part in parts:
        yield part
        yield from at_import(part)


def shared(value: ast.AST | None) -> bool:
    """Whether a value is a generator, or a method of one, from which many tests would draw in turn."""
    if isinstance(value, ast.Tuple | ast.List):
        return any(map(shared, value.elts))
    while isinstance(value, ast.Attribute):
        value = value.value
    return value is not None and called(value)[-1:] == ["seeded"]


def own_statements(function: ast.AST) -> Iterator[ast.AST]:
    for part in ast.iter_child_nodes(function):
        if not isinstance(part, FUNCTIONS):
            yield part
            yield from own_statements(part)


def offences(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    for node in at_import(tree):
        if called(node)[-1:] == ["default_rng"]:
            yield (
                node,
                "a generator at module level: a table takes seeded(...), a test the fixture rng",
            )
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and shared(node.value):
            yield (
                node,
                "a generator that tests share: draw from seeded(...) at once, or take the fixture rng",
            )
        if isinstance(node, FUNCTIONS) and any(
            map(shared, [*node.args.defaults, *node.args.kw_defaults])
        ):
            yield node, "a generator as a default, which all calls share"
    for node in ast.walk(tree):
        name = called(node)
        if (
            name[:-1] in (["np", "random"], ["random"])
            and name[-1].islower()
            and name[-1] != "default_rng"
        ):
            yield node, "the generator of the whole process"
        if name[-1:] == ["default_rng"] and not (node.args or node.keywords):
            yield node, "a generator without a seed"
        if isinstance(node, ast.Import | ast.ImportFrom) and "random" in (
            *(alias.name for alias in node.names),
            getattr(node, "module", None),
        ):
            yield node, "the module random"
        if name[-1:] == ["example"] and not (node.args or node.keywords):
            yield node, "an example of a strategy drawn by hand"
        if name[-1:] == ["settings"] and PROFILE & {word.arg for word in node.keywords}:
            yield node, f"settings of hypothesis that the profile has: {', '.join(sorted(PROFILE))}"
        if isinstance(node, ast.FunctionDef):
            given = any(called(decorator)[-1:] == ["given"] for decorator in node.decorator_list)
            for part in own_statements(node):
                if given and isinstance(part, ast.Return) and part.value is None:
                    yield part, "an example that is passed over in silence: assume(...) counts it"
                if (
                    node.name.startswith("test_")
                    and called(part)[:1] == ["time"]
                    and called(part)[-1] in CLOCKS
                ):
                    yield part, "a clock in a test: count steps or calls"


def test_nothing_in_the_tests_depends_on_luck():
    found = [
        f"{path.relative_to(TESTS.parent)}:{node.lineno}: {offence}"
        for path in sorted(TESTS.rglob("*.py"))
        if path.name != "randomness.py"
        for node, offence in offences(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "RNG = np.random.default_rng(3)",
        "class A:\n    rng = np.random.default_rng(3)",
        "TABLE = [np.random.default_rng(k).normal() for k in range(3)]",
        "RNG = seeded('all tests')",
        "A, RNG = 1, seeded('all tests')",
        "draw = seeded('all tests').normal",
        "def f(x, rng=seeded('f')): ...",
        "def f(x, *, rng=np.random.default_rng(1)): ...",
        "@pytest.mark.parametrize('x', np.random.default_rng(1).normal(size=3))\ndef test_x(x): ...",
        "def test_x():\n    x = np.random.normal()",
        "def test_x():\n    np.random.seed(0)",
        "def test_x():\n    rng = np.random.default_rng()",
        "import random",
        "from random import shuffle",
        "def test_x():\n    x = st.integers().example()",
        "@settings(max_examples=3, deadline=None)\n@given(x)\ndef test_x(x): ...",
        "few = settings(derandomize=True)",
        "@given(x)\ndef test_x(x):\n    if not x:\n        return\n    assert x > 0",
        "def test_x():\n    start = time.perf_counter()\n    f()\n    assert time.perf_counter() - start < 1",
    ],
)
def test_it_is_found(code):
    assert [*offences(ast.parse(code))]


@pytest.mark.parametrize(
    "code",
    [
        "TABLE = seeded('table').normal(size=3)",
        "def test_x(rng):\n    assert rng.normal() < 10",
        "@given(seeds)\ndef test_x(seed):\n    rng = np.random.default_rng(seed)\n    def f():\n        return\n    f()",
        "def random_pose(rng: np.random.Generator): ...",
        "@settings(examples(3), suppress_health_check=[HealthCheck.too_slow])\n@given(x)\ndef test_x(x): ...",
        "@example(3)\n@given(x)\ndef test_x(x):\n    assume(x)",
        "def wait(end):\n    while time.monotonic() < end: ...",
    ],
)
def test_what_is_repeatable_is_allowed(code):
    assert not [*offences(ast.parse(code))]
