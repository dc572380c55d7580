"""The line of every table and key of a TOML text, for messages."""

from __future__ import annotations

import re
import tomllib
from collections import Counter

from eslabon.errors import Place

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
KEY = re.compile(r"""[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s.=\[\]"']+)[ \t]*""")
VALUE = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^,\[\]{}#\n]+''',
    re.DOTALL,
)


def toml_lines(text: str) -> dict[Place, int]:
    """The line of every table and key of a valid TOML text. A table in a list has its number, from
    1, in its place.

    >>> toml_lines("[bodies.rod]\\nmass = 1.0\\ncom_deg = {x = 1}")[("bodies", "rod", "mass")]
    2
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


class _Scanner:
    """A walk over a TOML text that its parser has accepted; `at` is where it stands."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Place, int] = {}
        self.lists: Counter[Place] = Counter()  # how many tables [[path]] there were
        self._counted, self._line = 0, 1

    def document(self) -> None:
        table: Place = ()
        self._pass(BLANK)
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self._in_lists(self._key(2))
                self.lists[table] += 1
                table = (*table, str(self.lists[table]))
                self._note(table)
                self.at += 2
            elif self.text[self.at] == "[":
                table = self._in_lists(self._key(1))
                self._note(table)
                self.at += 1
            else:
                self._pair(table)
            self._pass(BLANK)

    def _pair(self, table: Place) -> None:
        place = (*table, *self._key(0))
        self._note(place)
        self.at += 1  # the equals sign
        self._pass(BLANK)
        self._value(place)

    def _value(self, place: Place) -> None:
        """Pass a value, and note the keys in it. Lists may be nested as deep as the parser
        allows."""
        if self.text[self.at] == "{":
            self._note(place)
            self.at += 1
            self._pass(BLANK)
            while self.text[self.at] != "}":
                self._pair(place)
                self._pass_comma()
            self.at += 1
        elif self.text[self.at] == "[":
            self.at += 1
            self._pass(BLANK)
            count = 0
            while self.text[self.at] != "]":
                count += 1
                self._value((*place, str(count)))
                self._pass_comma()
            self.at += 1
        else:
            self._pass(VALUE)

    def _key(self, brackets: int) -> Place:
        """The parts of a dotted key, behind so many brackets."""
        self.at += brackets
        parts = []
        while True:
            found = KEY.match(self.text, self.at)
            assert found is not None, "the parser has accepted the text"
            (part,) = tomllib.loads(f"{found[1]} = 0") if found[1][0] in "\"'" else (found[1],)
            parts.append(part)
            self.at = found.end()
            if self.text[self.at] != ".":
                return tuple(parts)
            self.at += 1

    def _in_lists(self, key: Place) -> Place:
        """A table's place, with the number of the last table of each list that it is in."""
        place: Place = ()
        for k, part in enumerate(key):
            place = (*place, part)
            if k < len(key) - 1 and place in self.lists:
                place = (*place, str(self.lists[place]))
        return place

    def _note(self, place: Place) -> None:
        """The line here is that of a place, of the tables around it unless they have one, and of a
        key in degrees."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        for length in range(1, len(place) + 1):
            self.lines.setdefault(place[:length], self._line)
        self.lines.setdefault((*place[:-1], place[-1].removesuffix("_deg")), self._line)

    def _pass(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else len(self.text)

    def _pass_comma(self) -> None:
        self._pass(BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self._pass(BLANK)
