"""The pages are spelled: English words, and those of the field in docs_build/words.txt."""

import re
from pathlib import Path

import pytest
from spellchecker import SpellChecker

HERE = Path(__file__).parents[1]
NO_PROSE = (
    r"^```.*?^```$",  # code
    r"^    .*$",
    r"`[^`]*`",
    r"\$\$?.*?\$\$?",  # equations
    r"^\|.*\|$",  # tables: names and numbers
    r"\]\([^)]*\)",  # addresses
    r"<[^>]*>",
    r"\*[^*\n]+(\n[^*\n]+)?\*",  # titles, in their own language
)
SPANISH = re.compile(r"docs/es/|\.es\.md$")


@pytest.fixture(scope="module")
def known():
    words = SpellChecker()
    words.word_frequency.load_words(
        (HERE / "docs_build" / "words.txt").read_text(encoding="utf-8").split()
    )
    return words


def pages():
    every = [*HERE.glob("*.md"), *(HERE / "docs").rglob("*.md")]
    return sorted(name for p in every if not SPANISH.search(name := p.relative_to(HERE).as_posix()))


@pytest.mark.parametrize("page", pages())
def test_a_page_is_spelled(known, page):
    """Words in small letters; names are left to their owners."""
    text = (HERE / page).read_text(encoding="utf-8")
    for pattern in NO_PROSE:
        text = re.sub(pattern, " ", text, flags=re.S | re.M if "*?" in pattern else re.M)
    words = {
        word.removesuffix("'s")
        for word in re.findall(r"(?<![\w.'-])[a-z]{3,}(?:'s)?(?![\w-]|\.\w|')", text)
    }
    unknown = known.unknown(words)
    assert not unknown, (
        f"{page}: {sorted(unknown)}; if they are right, add them to docs_build/words.txt"
    )
