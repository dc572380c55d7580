"""The pages in Spanish say what those in English say: the same code, options, links and sections, and they are spelled.

Code that is the same needs to run once, on the English page (`test_docs`)."""

import ast
import re
import tomllib
from os.path import normpath
from pathlib import Path

import pytest
from spellchecker import SpellChecker

from test_docs import BLOCK
from test_words import NO_PROSE

HERE = Path(__file__).parents[1]
PAGES = {  # Spanish: English
    "README.es.md": "README.md",
    "docs/es/tutorial.md": "docs/tutorial.md",
    "docs/es/guide.md": "docs/guide.md",
}
OF_SPANISH_ONLY = {"--language es"}


@pytest.fixture(params=PAGES, ids=str)
def pair(request):
    """The text of a page in Spanish and in English, with their names."""
    names = request.param, PAGES[request.param]
    return [(name, (HERE / name).read_text(encoding="utf-8")) for name in names]


def meaning(kind, code):
    """What of a block of code must be the same in both languages: all but comments."""
    if kind == "python":
        return ast.dump(ast.parse(code))
    return tomllib.loads(code) if kind == "toml" else code


def test_every_spanish_page_is_known():
    found = [*HERE.glob("*.es.md"), *(HERE / "docs" / "es").rglob("*.md")]
    assert {p.relative_to(HERE).as_posix() for p in found} == set(PAGES)


def test_the_code_is_the_same_but_for_comments(pair):
    (name, spanish), (original, english) = pair
    ours, theirs = BLOCK.findall(spanish), BLOCK.findall(english)
    for k, ((kind, title, code), other) in enumerate(zip(ours, theirs, strict=False), 1):
        same = (kind, title) == other[:2] and meaning(kind, code) == meaning(kind, other[2])
        assert same, (
            f"block {k} of {name} is not that of {original}, which begins\n{other[2][:200]}"
        )
    assert len(ours) == len(theirs), (
        f"{original} has {len(theirs)} blocks of code, {name} {len(ours)}"
    )


def prose(text):
    return re.sub(r"^```.*?^```$|^    .*?$", "", text, flags=re.S | re.M)


def test_options_and_names_are_the_same(pair):
    """What stands between back ticks is for the computer, in any language."""
    ours, theirs = (
        set(re.findall(r"`([^`]+)`", " ".join(prose(text).split()))) for _, text in pair
    )
    assert ours - theirs <= OF_SPANISH_ONLY
    assert not theirs - ours


def test_links_lead_to_the_same_pages(pair):
    """To the Spanish page where there is one."""
    ours, theirs = (
        {target(name, link) for link in re.findall(r"\]\(([^)]+)\)", text)} for name, text in pair
    )
    translated = {english: spanish for spanish, english in PAGES.items()}
    (name, _), (original, _) = pair
    wanted = {translated.get(page, page) for page in theirs - {name}}
    assert ours - {original} == wanted - {original}
    assert (original in ours) == (name in theirs) == name.startswith("README")


def target(page, link):
    return (
        normpath((Path(page).parent / link.partition("#")[0]).as_posix())
        if link[0] != "#"
        else page
    )


def test_sections_are_the_same(pair):
    ours, theirs = (
        [len(x) for x in re.findall(r"^(#+) ", prose(text), flags=re.M)] for _, text in pair
    )
    assert ours == theirs


ENDINGS = (
    ("", ""),
    ("s", ""),
    ("es", ""),
    ("iones", "ión"),
    ("ces", "z"),
    ("a", "o"),
    ("as", "o"),
    ("ores", "or"),
)


@pytest.fixture(scope="module")
def known():
    """The dictionary has singulars; verbs are in the list as the pages use them."""
    words = SpellChecker(language="es")
    words.word_frequency.load_words(
        (HERE / "docs_build" / "words_es.txt").read_text(encoding="utf-8").split()
    )
    return lambda word: any(
        word.removesuffix(x) + y in words for x, y in ENDINGS if word.endswith(x)
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_spanish_page_is_spelled(known, page):
    """Words in small letters, those in comments of the code too; names are left to their owners."""
    text = (HERE / page).read_text(encoding="utf-8")
    comments = [
        found for _, _, code in BLOCK.findall(text) for found in re.findall(r"\s# (.*)", code)
    ]
    comments += re.findall(r"^    .*\s# (.*)", text, flags=re.M)
    for pattern in NO_PROSE:
        text = re.sub(pattern, " ", text, flags=re.S | re.M if "*?" in pattern else re.M)
    text += "\n".join(
        re.sub(r"`[^`]*`|\S*[_.=()\[\]\"'`^]\S+|delta is to have.*", " ", c) for c in comments
    )
    text = re.sub(r'"[\w-]+"', " ", text)  # values of options
    words = set(re.findall(r"(?<![\w.'-])[a-záéíóúüñ]{3,}(?![\w-]|\.\w|')", text))
    unknown = sorted(word for word in words if not known(word))
    assert not unknown, f"{page}: {unknown}; if they are right, add them to docs_build/words_es.txt"
