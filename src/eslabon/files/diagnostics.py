"""What is wrong or odd in a file, each with its place: loading raises the first mistake, checking
collects all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from eslabon.answers import Answer, Column, Message, Table, answer
from eslabon.errors import (
    EslabonError,
    ModelWarning,
    Place,
    ReadError,
    located,
    user_stacklevel,
)
from eslabon.model import Builder
from eslabon.model.items import ITEMS
from eslabon.model.schema import required_keys
from eslabon.model.validation import Names

MOST_NAMES = 4  # that a sentence on what is left out lists


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


class Position(NamedTuple):
    """A line of a file; None where it is not known."""

    file: Path
    line: int | None

    def prefix(self) -> str:
        """How a sentence about it begins."""
        line = f":{self.line}" if self.line else ""
        return f"{self.file.name}{line}: " if self.file.name else ""


class SourceText:
    """A file, and the lines of the places in it.

    A place is written where a reader says (`write_down`), or where the text itself has it
    (`lines_from`): a table and its keys, an element and those inside. The lines are searched when
    the first of them is asked for."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path()
        self._searches: list[tuple[Path, Callable[[], Mapping[Place, int]]]] = []
        self._lines: dict[Place, Position] = {}
        self._written: dict[Place, tuple[Place, Mapping[str, Place]]] = {}

    def lines_from(
        self, search: Callable[[], Mapping[Place, int]], file: Path | None = None
    ) -> None:
        """Where the lines of the places of this file, or of one beside it, come from."""
        self._searches.append((file or self.path, search))

    def line(self, number: int, file: Path | None = None) -> Place:
        """The place that a line by its number is: where a parser stopped."""
        place = (f"line {number}",)
        self._lines[place] = Position(file or self.path, number)
        return place

    def write_down(
        self, item: Place, place: Place, fields: Mapping[str, Place] | None = None
    ) -> None:
        """That an item of the description stands at a place of the text, and its fields at places
        in that one."""
        self._written.setdefault(item, (place, fields or {}))

    def position(self, place: Place) -> Position:
        """The line of a place, or of the smallest one around it that has a line."""
        while place and self._searches:
            file, search = self._searches.pop()
            found = ((key, Position(file, line)) for key, line in search().items())
            self._lines = {**dict(found), **self._lines}
        for length in range(len(place), 0, -1):
            outer, inner = place[:length], place[length:]
            if outer in self._lines:
                return self._lines[outer]
            if outer in self._written:
                base, fields = self._written[outer]
                return self.position(
                    (*base, *fields.get(inner[0], inner[:1]), *inner[1:]) if inner else base
                )
        return Position(self.path, None)


class _Reading:
    """A part of a file that is being read; when mistakes are collected, one of them ends this part
    alone."""

    def __init__(self, diagnostics: Diagnostics, place: Place, item: Place) -> None:
        self.diagnostics, self.place, self.item = diagnostics, place, item

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, EslabonError):
            return False
        if not error.place:
            error.at(*self.place)
        if self.diagnostics.collect:
            self.diagnostics.abandon(error, self.place, self.item)
        return self.diagnostics.collect


class Diagnostics:
    """Where a reader's and a writer's mistakes, warnings and losses go.

    `collect` gathers mistakes where loading raises the first one: an item whose field fails is read
    without it, and `unread` names the items, by section, that could not be read at all. `strict`
    makes an error of what is left out."""

    def __init__(
        self, source: SourceText | None = None, *, collect: bool = False, strict: bool = False
    ) -> None:
        self.source = source or SourceText()
        self.collect, self.strict = collect, strict
        self.errors: list[EslabonError] = []
        self.warnings: list[ModelWarning] = []
        self.losses: dict[str, dict[str, None]] = {}  # what is lost, and whose it is, each once
        self.unread: dict[str, set[str]] = {}
        self.abandoned: set[Place] = set()  # where reading stopped at a mistake

    # -- mistakes ----------------------------------------------------------------------------------

    def add(self, error: EslabonError) -> None:
        if not self.collect:
            raise error
        self.errors.append(error)

    def reading(self, *place: str, item: Place = ()) -> _Reading:
        """Mistakes inside are at this place unless they have their own; `item`, section and name,
        is unread then."""
        return _Reading(self, place, item)

    def abandon(self, error: EslabonError, place: Place, item: Place) -> None:
        """Reading stopped here at a mistake, and goes on behind it."""
        self.add(error)
        self.abandoned |= {place, error.place}
        if item:
            self.lose_item(*item)

    def read(self, build: Callable[[], object], drop: Callable[[Place], bool]) -> bool:
        """Build something; when collecting, again without the part at fault as long as `drop` can
        spare it."""
        known: set[Place] = set()
        while True:
            try:
                build()
                return True
            except EslabonError as error:
                if error.place not in known:
                    self.add(error)
                known.add(error.place)
                if not drop(error.place):
                    return False

    def add_item(
        self,
        b: Builder,
        section: str,
        name: str,
        written: Mapping[str, Any],
        prepare: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
    ) -> None:
        """Add an item to a mechanism; when collecting, without the keys at fault unless it needs
        them.

        `prepare` makes the Builder's keys of what the file has; `key_deg` goes with `key`.
        """
        entry, required = dict(written), required_keys(ITEMS[section])

        def build() -> None:
            with located(section, name):
                given = prepare(entry)
            b.add(section, name, **given)

        def drop(place: Place) -> bool:
            key = place[2] if len(place) > 2 else ""
            faulty = [k for k in (key, f"{key}_deg") if k in entry]
            for k in faulty:
                del entry[k]
            return bool(faulty) and key not in required

        if not self.read(build, drop):
            self.lose_item(section, name)

    def lose_item(self, section: str, name: str) -> None:
        self.unread.setdefault(section, set()).add(name)

    def unread_items(self) -> Names | None:
        """The items that could not be read; None where all could."""
        return self.unread if self.errors else None

    # -- warnings and losses -----------------------------------------------------------------------

    def warn(self, sentence: str, *place: str) -> None:
        """A warning: at once when loading, gathered when collecting."""
        if self.collect:
            self.warnings.append(ModelWarning(sentence).at(*place))
        else:
            where = self.source.position(place).prefix()
            warnings.warn(ModelWarning(where + sentence).at(*place), stacklevel=user_stacklevel())

    def leave_out(self, sentence: str, *place: str) -> None:
        """Something of the file is not read: a warning, or an error where that is asked for."""
        if self.strict:
            self.add(ReadError(sentence).at(*place))
        else:
            self.warn(sentence, *place)

    def lose(self, what: str, *names: str) -> None:
        """Something that the description, or the format that is written, has no place for."""
        self.losses.setdefault(what, {}).update(dict.fromkeys(names))

    def lost(self) -> str:
        """All losses, for a sentence."""
        return "; ".join(what + _listed([*names]) for what, names in self.losses.items())

    # -- what was found ----------------------------------------------------------------------------

    def findings(self) -> CheckReport:
        """All errors, then all warnings."""
        found: list[Finding] = []
        for level, sentences in (("error", self.errors), ("warning", self.warnings)):
            for said in sentences:
                file, line = self.source.position(said.place)
                found.append(Finding(level, str(file), line, str(said)))
        return CheckReport(dict.fromkeys(found))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" * (len(names) > MOST_NAMES)
    return " " * bool(names) + ", ".join(f"'{name}'" for name in names[:MOST_NAMES]) + more
