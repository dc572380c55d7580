"""Texts in the reader's language: English as they are written, or what a catalogue says in its place.

A catalogue is a file ``languages/es.toml``: tables, which may have tables in them, from an English text to its translation. Its
list ``same`` has the words that are the same in both languages, such as symbols and names; a text of nothing else needs no
entry. What varies in a text is written in one of two ways:

* `phrase("{gap:.3f} mm apart", gap=0.02)` is the English text and remembers its template, which is what the catalogue has;
* in a plain text a number stands as ``{}`` in the catalogue, so that one entry serves every value.

Names and titles are `Verbatim`, and stay as they are.

`watched` notes what a catalogue lacks, and what of it is used.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from typing import Any

from eslabon.answers import Message
from eslabon.errors import InputError, format_value, suggest

LANGUAGES = ("en", "es")
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?%?(?!\w)")
WORD = re.compile(
    r"(?<![^\W\d_])[A-Za-zÀ-ÖØ-öø-ÿ]{2,}(?![\w.]*[\d_(])"
)  # theta2, q_a and f(x) are symbols, not words
FIELD = re.compile(r"{[^}]*}")
CODE = re.compile(r"`[^`]*`|\b[A-Za-z]\w*(?:[._]\w+)+")


def checked(language: str) -> str:
    """A language we have, or a sentence."""
    if not isinstance(language, str) or language not in LANGUAGES:
        raise InputError(
            f"there is no language {format_value(language)}{suggest(language, LANGUAGES)}"
        )
    return language


# -- texts ------------------------------------------------------------------------------------------------------------


class Verbatim(str):
    """A text that is the same in every language: a name, a title, a quotation."""


def phrase(template: str, **values: Any) -> Message:
    """A text with values in it, in English; `translated` says it in another language.

    >>> text = phrase("{n} degrees of freedom", n=3)
    >>> text
    '3 degrees of freedom'
    >>> translated(text, "es")
    '3 grados de libertad'
    """
    return Message(template, **values)


def plural(n: int, one: str, many: str, **values: Any) -> Message:
    """One of two templates, by a number that both may name ``{n}``.

    >>> plural(1, "{n} loop", "{n} loops"), plural(2, "{n} loop", "{n} loops")
    ('1 loop', '2 loops')
    """
    return Message(one if n == 1 else many, n=n, **values)


# -- catalogues -------------------------------------------------------------------------------------------------------


@cache
def tables(language: str) -> dict[str, dict[str, str]]:
    """The tables of a catalogue by their names, such as "reproductions.rojas"."""
    read = tomllib.loads((files("eslabon") / "languages" / f"{language}.toml").read_text("utf-8"))
    made: dict[str, dict[str, str]] = {}

    def gather(name: str, table: Mapping[str, Any]) -> None:
        made[name] = {text: said for text, said in table.items() if isinstance(said, str)}
        for inner, more in table.items():
            if isinstance(more, dict):
                gather(f"{name}.{inner}", more)

    for name, table in read.items():
        if isinstance(table, dict):
            gather(name, table)
    return made


@cache
def catalogue(language: str) -> dict[str, str]:
    """The translations of a language, by the English text."""
    if language == "en":
        return {}
    return {text: said for table in tables(language).values() for text, said in table.items()}


@cache
def same_words(language: str) -> frozenset[str]:
    """The words that are the same in English and in a language."""
    read = tomllib.loads((files("eslabon") / "languages" / f"{language}.toml").read_text("utf-8"))
    return frozenset(word for line in read.get("same", []) for word in line.split())


def needs_no_translation(text: str, language: str) -> bool:
    """Whether a text is numbers, symbols, code and words that are the same in both languages.

    >>> needs_no_translation("theta2, rad", "es"), needs_no_translation("the angle theta2", "es")
    (True, False)
    """
    return same_words(language).issuperset(WORD.findall(CODE.sub(" ", text)))


def translated(text: str, language: str = "en") -> str:
    """A text in a language; what the catalogue does not have stays English.

    >>> translated("degrees of freedom", "es"), translated("degrees of freedom")
    ('grados de libertad', 'degrees of freedom')
    """
    if checked(language) == "en" or not text.strip() or isinstance(text, Verbatim):
        return text
    known = catalogue(language)
    if isinstance(text, Message):
        inner = partial(translated, language=language)
        if text.template in known:
            _note(text.template)
            return text.render(known[text.template], inner)
        if needs_no_translation(FIELD.sub(" ", text.template), language):
            return text.render(text.template, inner)
    for key, values in ((text, ()), (NUMBER.sub("{}", text), NUMBER.findall(text))):
        if key in known:
            _note(key)
            return known[key].format(*values) if values else known[key]
    if not needs_no_translation(text, language):
        _note("", text.template if isinstance(text, Message) else text)
    return text


# -- what is used, what lacks -----------------------------------------------------------------------------------------


@dataclass
class Usage:
    """The entries of a catalogue that were used, and the texts that it does not have."""

    used: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)


_usage: ContextVar[Usage | None] = ContextVar("usage", default=None)


@contextmanager
def watched() -> Iterator[Usage]:
    """Note what is translated meanwhile.

    >>> with watched() as usage:
    ...     said = translated("a text that nobody has translated", "es")
    >>> usage.missing
    {'a text that nobody has translated'}
    """
    usage = Usage()
    token = _usage.set(usage)
    try:
        yield usage
    finally:
        _usage.reset(token)


def _note(used: str, missing: str = "") -> None:
    usage = _usage.get()
    if usage is not None:
        (usage.missing if missing else usage.used).add(missing or used)
