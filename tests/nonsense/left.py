"""The findings that are left in wings that are not rebuilt yet: `left.toml`, a list that only gets shorter.

    python tests/nonsense/left.py         # makes the calls that the tests make, and takes out what is mended; a minute
    python tests/nonsense/left.py --new   # puts in what is new too: after a kind of nonsense was added to the tests

Of a call it has [wing."function"] and argument = { Error = ["kind of nonsense", ...] }; `without_valid_call` are functions of
which no example and no guess makes a valid call, so that no nonsense is tried on them.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit

LIST = Path(__file__).with_name("left.toml")
HEAD = """\
Calls with nonsense that end in a raw error, in a leaked warning or in a message that is no sentence, by wing.
The list only gets shorter: `python tests/nonsense/left.py` takes out what is mended.
"""


class Entry(NamedTuple):
    """One finding: where it belongs, and the call and the error that it is."""

    wing: str
    function: str
    argument: str
    kind: str
    error: str


WITHOUT = "without_valid_call"


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def read_without_valid_call(path: Path = LIST) -> set[str]:
    """The functions that are not tried."""
    return {*_read(path)[WITHOUT]}


def read_left(path: Path = LIST) -> set[Entry]:
    """All entries of the list."""
    return {
        Entry(wing, function, argument, kind, error)
        for wing, functions in _read(path).items()
        if wing != WITHOUT
        for function, arguments in functions.items()
        for argument, errors in arguments.items()
        for error, kinds in errors.items()
        for kind in kinds
    }


def write_left(entries: Iterable[Entry], without: Iterable[str], path: Path = LIST) -> None:
    """The list in its order: wings, functions, arguments, errors, kinds."""
    tables: dict[str, dict[str, dict[str, dict[str, list[str]]]]] = {}
    for x in sorted(entries):
        errors = tables.setdefault(x.wing, {}).setdefault(x.function, {}).setdefault(x.argument, {})
        errors.setdefault(x.error, []).append(x.kind)
    document = tomlkit.document()
    for line in HEAD.splitlines():
        document.add(tomlkit.comment(line))
    document.add(WITHOUT, tomlkit.array([*sorted(without)]).multiline(True))  # type: ignore[arg-type]
    for wing, functions in tables.items():
        made = tomlkit.table(is_super_table=True)
        for function, arguments in functions.items():
            own = tomlkit.table()
            for argument, errors in arguments.items():
                inline = tomlkit.inline_table()
                inline.update(errors)
                own.add(argument, inline)
            made.add(function, own)
        document.add(wing, made)
    path.write_text(tomlkit.dumps(document), "utf-8")


def found_now() -> tuple[set[Entry], set[str]]:
    """All findings of the tests' calls, and the functions without a valid call."""
    import eslabon as es
    from nonsense.rounds import groups, tried, without_valid_call
    from nonsense.valid_calls import Examples

    examples, found = Examples(cache(es.load)), set[Entry]()
    for group in groups():
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder, "empty")
            empty.mkdir()
            found |= {x.entry for x in tried(group, examples, empty) if x.entry is not None}
    return found, without_valid_call(examples)


def main(new_too: bool) -> None:
    """Keep of the list what still occurs."""
    left, left_without = read_left(), read_without_valid_call()
    found, without = found_now()
    new = [*map(str, sorted(found - left)), *sorted(without - left_without)]
    print(
        "\n".join(
            [f"{len(left - found)} of {len(left)} entries are mended; {len(new)} are new.", *new]
        )
    )
    write_left(*((found, without) if new_too else (left & found, left_without & without)))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(new_too="--new" in sys.argv[1:])
