"""What is wrong or odd in a file: raised at the first mistake when it is loaded, gathered with lines when it is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import NamedTuple, Protocol

from eslabon.answers import Answer, Column, Message, Table, answer
from eslabon.errors import EslabonError

ITEM = re.compile(r"(?:\b(\w+) )?'((?:[^'\\]|\\.)+)'")  # joint 'elbow'
QUOTED = re.compile(r"'((?:[^'\\]|\\.)+)'")


@answer
class Finding(NamedTuple):
    """A sentence about a file: an "error", for which it is refused, or a "warning"."""

    level: str
    file: str
    line: int | None
    sentence: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.level}: {self.sentence}"


class CheckReport(Answer, list[Finding]):
    """All findings of a check, errors first; an empty one is a file without fault."""

    def contents(self) -> Iterator[Table | Message]:
        if not self:
            yield Message("nothing is wrong or odd")
            return
        columns = (
            Column("level"),
            Column("file"),
            Column("line"),
            Column("sentence", kind="prose"),
        )
        yield Table(columns, [(x.level, PurePath(x.file).name, x.line, x.sentence) for x in self])

    def __str__(self) -> str:
        return "\n".join(map(str, self or self.contents()))


class Parts(Protocol):
    """What is written of an item: keys of a table, elements of XML."""

    @property
    def parts(self) -> Collection[str]: ...

    def drop(self, part: str) -> None: ...


class Findings:
    """Where a reader's mistakes go.

    `lines` says where an item, by its name, or a key of it, by both, is written; `unread` are the names of items that could
    not be read at all, of which nothing more is said.
    """

    def __init__(self, gather: bool = False) -> None:
        self.gather = gather
        self.errors: list[tuple[str, int | None]] = []
        self.odd: list[tuple[str, int | None]] = []  # what only a check tells
        self.lines: dict[tuple[str, ...], int] = {}
        self.unread: set[str] = set()

    @contextmanager
    def of(self, name: str, *item: str, line: int | None = None) -> Iterator[None]:
        """What goes wrong in reading an item; it is unread then, and the next one comes."""
        try:
            yield
        except EslabonError as error:
            self.add(error, line or self.line(str(error), *item))
            self.unread.add(name)

    def add(self, error: EslabonError, line: int | None) -> None:
        if not self.gather:
            raise error
        self.errors.append((str(error), line))

    def read(
        self, add: Callable[[], None], source: Parts, required: Collection[str], *item: str
    ) -> None:
        """Add an item. Where mistakes are gathered it is read again without the part at fault, as long as that can be
        told and spared."""
        while True:
            try:
                return add()
            except EslabonError as error:
                sentence = str(error)
                self.add(error, self.line(sentence, *item))
                said = sentence.replace(f"'{item[-1]}'", "").replace(".".join(item), "")
                places = {part: _word(part.removesuffix("_deg"), said) for part in source.parts}
                found = {part: k for part, k in places.items() if k is not None}
                blamed = min(found, key=lambda part: found[part], default=None)
                if blamed is None or blamed in required:
                    self.unread.add(item[-1])
                    return
                source.drop(blamed)

    def line(self, sentence: str, *item: str) -> int | None:
        """The line that a sentence is about: of a key of the item that it names, or of the item, or of the first item
        that it quotes."""
        path = item if item and item in self.lines else self._mentioned(sentence)
        if path is None:
            return None
        keys = [
            other
            for other in self.lines
            if other[:-1] == path and _word(other[-1], sentence) is not None
        ]
        return self.lines[keys[0] if keys else path]

    def _mentioned(self, sentence: str) -> tuple[str, ...] | None:
        """The first item that a sentence quotes, the word before its name telling a joint from a body of that name; or the
        key of the whole file that it names."""
        for kind, name in ITEM.findall(sentence):
            paths = [path for path in self.lines if len(path) == 2 and path[-1] == name]
            if paths:
                return min(paths, key=lambda path: path[0][:3] != kind[:3])
        return next(
            (
                path
                for path in self.lines
                if len(path) == 1 and _word(path[0], sentence) is not None
            ),
            None,
        )

    def concerns_unread(self, sentence: str) -> bool:
        return bool(self.unread & set(QUOTED.findall(sentence)))


def _word(word: str, sentence: str) -> int | None:
    """Where a whole word stands in a sentence."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence)
    return found.start() if found else None


def toml_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of every table and key of a TOML text, by path; an entry of an array of tables has its number in it."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    closing = ""  # of a text of several lines
    for number, line in enumerate(text.splitlines(), start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := re.match(r"\s*\[\[?([^]]+)\]", line):
            table = _path(header[1])
            lines.setdefault(table or (header[1],), number)
        elif key := re.match(r"""\s*((?:"[^"]*"|'[^']*'|[\w.\- ])+?)\s*=""", line):
            path = (*table, *(_path(key[1]) or (key[1],)))
            lines.setdefault(path, number)
            for inner in re.finditer(r"[{,]\s*([\w-]+)\s*=", line):
                lines.setdefault((*path, inner[1]), number)
        for quotes in ('"""', "'''"):
            if line.count(quotes) % 2:
                closing = quotes
    return lines


def _path(dotted: str) -> tuple[str, ...]:
    parts = re.findall(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))\s*""", dotted)
    return tuple(a or b or c for a, b, c in parts)
