"""Texts in the reader's language: English as they are written, or what a catalogue says in its place.

A catalogue is a file ``languages/es.toml`` of sections, each a table from an English text to its translation. A number in
a text stands as ``{}`` in the catalogue, so that one entry serves every value.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from eslabon.errors import InputError, suggest

LANGUAGES = ("en", "es")
NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?%?(?![\w])")


def checked(language: str) -> str:
    """A language we have, or a sentence."""
    if language not in LANGUAGES:
        raise InputError(f"there is no language '{language}'{suggest(str(language), LANGUAGES)}")
    return language


@cache
def catalogue(language: str) -> dict[str, str]:
    """The translations of a language, by the English text with its numbers taken out."""
    if language == "en":
        return {}
    tables = tomllib.loads((files("eslabon") / "languages" / f"{language}.toml").read_text("utf-8"))
    return {text: said for table in tables.values() for text, said in table.items()}


def translated(text: str, language: str = "en") -> str:
    """A text in a language; what the catalogue does not have stays English.

    >>> translated("degrees of freedom", "es"), translated("degrees of freedom")
    ('grados de libertad', 'degrees of freedom')
    """
    if language == "en" or not text.strip():
        return text
    known = catalogue(language)
    if text in known:
        return known[text]
    numbers = NUMBER.findall(text)
    template = known.get(NUMBER.sub("{}", text))
    return text if template is None else template.format(*numbers)
