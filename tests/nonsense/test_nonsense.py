"""Every public function refuses nonsense in one sentence: calls are drawn from signatures, so that a new function is tried too.

`fuzzing` says what a finding is, `left.toml` which ones are left in wings that are not rebuilt yet.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eslabon as es
from nonsense import public_functions
from nonsense.fuzzing import finding
from nonsense.left import Entry, read_left, read_without_valid_call, write_left
from nonsense.rounds import EACH, SLOW, UNTRIED, groups, tried, without_valid_call
from nonsense.valid_calls import Examples
from randomness import SCALE, SHIFT

# No call may end in a raw error in these; of others, left.toml has those that do.
REBUILT = {
    "arguments",
    "atomic_files",
    "compiler",
    "errors",
    "eslabon",
    "export",
    "files",
    "formulas",
    "mechanism",
    "model",
    "numerics",
    "progress",
    "verbs",
}
AS_LISTED = (
    SCALE == 1 and SHIFT == 0
)  # the calls that left.toml is made from, no more and no others


@pytest.fixture(scope="module")
def examples(library: Callable[[str], es.Mechanism]) -> Examples:
    return Examples(library)


@pytest.mark.parametrize("group", groups())
def test_nonsense_is_refused_in_a_sentence(group: str, examples: Examples, tmp_path: Path) -> None:
    left = read_left()
    made = list(tried(group, examples, tmp_path, EACH * SCALE))
    found = {x.entry: x.found.said for x in made if x.found}
    new = sorted(x for x in found.keys() - left if AS_LISTED or x.wing in REBUILT)
    lines = [
        f"{x.function}({x.argument} = {x.kind}), {x.wing}: {x.error}: {found[x][:300]}" for x in new
    ]
    assert not new, "\n".join(
        [f"{len(new)} of {len(made)} calls are not refused as they should be:", *lines]
    )
    calls = {(x.function, x.argument, x.kind) for x in made}
    mended = sorted(x for x in left - found.keys() if (x.function, x.argument, x.kind) in calls)
    assert not mended, "\n".join(["mended, and to be taken out of left.toml:", *map(str, mended)])


def test_nothing_is_left_in_wings_that_are_rebuilt() -> None:
    assert not [x for x in read_left() if x.wing in REBUILT]


@pytest.mark.slow(
    reason="an example of every public function, whose code is compiled by whoever asks first"
)
def test_a_valid_call_is_known_of_every_other_function(examples: Examples) -> None:
    assert without_valid_call(examples) == read_without_valid_call()


def test_lists_name_public_functions() -> None:
    known = public_functions.public_functions().keys()
    assert {
        *SLOW,
        *UNTRIED,
        *read_without_valid_call(),
        *(x.function for x in read_left()),
    } <= known


# -- the fuzzer itself ------------------------------------------------------------------------------------------------


def refuse(message: str) -> Callable[[], Any]:
    def call() -> None:
        raise es.InputError(message)

    return call


def leak() -> Any:
    return np.array([1.0]) / np.array([0.0])


def silent() -> Any:
    with np.errstate(all="ignore"):
        return leak()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: 3, None),
        (refuse("q is a text; real numbers are expected."), None),
        (refuse("did you mean 'mass'?"), None),
        (lambda: es.load(), None),  # Python itself says what is missing
        (silent, None),
        (lambda: None + 1, "TypeError"),
        (lambda: {}["name"], "KeyError"),
        (lambda: exit(1), "SystemExit"),
        (leak, "RuntimeWarning"),
        (lambda: np.array([1j]).astype(float), "ComplexWarning"),
        (lambda: (1 / x for x in [0]), "ZeroDivisionError"),  # an iterator is used
        (refuse(""), "message is empty"),
        (refuse("wrong"), "message is no sentence"),
        (refuse("two\nlines."), "message has several lines"),
        (refuse("word " * 200 + "."), "message is too long"),
    ],
)
def test_what_a_finding_is(call: Callable[[], Any], error: str | None, tmp_path: Path) -> None:
    found = finding(call, tmp_path)
    assert (found and found.error) == error


def test_errors_quote_endless_names_shortened(tmp_path: Path) -> None:
    assert finding(refuse(f"there is no {'a' * 5000}."), tmp_path) is None
    error = es.InputError("there is no " + "a" * 5000 + ".")
    assert len(str(error)) < 100


def test_a_call_does_not_find_what_another_wrote(tmp_path: Path) -> None:
    def call() -> None:
        Path("nonsense").touch(exist_ok=False)

    assert finding(call, tmp_path) is None
    assert finding(call, tmp_path) is None


def doubled(x: Any) -> Any:
    """Twice a number, and no gate.

    >>> doubled(2)
    4
    """
    return x + x


@pytest.fixture
def with_doubled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The library with one more public function."""
    memories = [f for f in vars(public_functions).values() if hasattr(f, "cache_clear")]
    monkeypatch.setattr(es, "doubled", doubled, raising=False)
    monkeypatch.setattr(es, "__all__", ["doubled"])
    for memory in memories:
        memory.cache_clear()
    yield
    for memory in memories:
        memory.cache_clear()


@pytest.mark.usefixtures("with_doubled")
def test_a_new_function_is_tried_without_being_listed(
    library: Callable[[str], es.Mechanism], tmp_path: Path
) -> None:
    made = list(tried("eslabon", Examples(library), tmp_path, each=1000))
    assert {x.function for x in made} == {"doubled"}
    assert {x.kind for x in made if x.found and x.found.error == "TypeError"} >= {
        "None",
        "object",
        "set",
        "function",
    }


def test_every_verb_is_tried_on_a_tree_and_on_a_closed_mechanism(examples: Examples) -> None:
    for name in ("pose", "forward_dynamics", "reactions", "energy", "mass_matrix"):
        calls = examples.calls_of(getattr(es.Mechanism, name))
        assert {call.function.__self__.closed for call in calls} == {True, False}


def test_calls_in_examples_are_valid(
    examples: Examples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, thing in public_functions.public_functions().items():
            if name.startswith(("Builder.", "algebra.", "identification.", "paths.")) and ">>>" in (
                thing.__doc__ or ""
            ):
                for call in examples.calls_of(thing) if name not in SLOW else ():
                    call.made()


def test_the_list_is_written_as_it_is_read(tmp_path: Path) -> None:
    entries = {
        Entry("paths", "paths.arc", "normal", kind, "RuntimeWarning") for kind in ("nan", "inf")
    }
    write_left(entries, {"paths.line"}, tmp_path / "left.toml")
    assert read_left(tmp_path / "left.toml") == entries
    assert read_without_valid_call(tmp_path / "left.toml") == {"paths.line"}
