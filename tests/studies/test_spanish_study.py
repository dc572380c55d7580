"""A study in Spanish has no English text but what its file says and what names are."""

import re
from html import unescape

import pytest

import eslabon as es
from eslabon.language import tables, watched

ENGLISH = re.compile(
    r"\b(the|of|and|is|are|with|without|at|from|to|for|which|what|where|joints?|forces?|motion|largest)\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def spanish():
    with watched() as usage:
        made = (
            es.study("elbow", language="es"),
            es.study("four_bar_spring", language="es", sections=["what_it_is", "equations"]),
        )
    return made, usage


def text(html):
    """What a person reads: without code, scenes, and what is marked as English."""
    html = re.sub(
        r'srcdoc="[^"]*"|<(style|script|code|math)\b.*?</\1>|<!--.*?-->', " ", html, flags=re.DOTALL
    )
    html = re.sub(r'<(p|div)\b[^>]*lang="en"[^>]*>.*?</\1>', " ", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "\n", html))


def test_no_text_stays_english(spanish):
    studies, _ = spanish
    for made in studies:
        english = [line.strip() for line in text(made.html).splitlines() if ENGLISH.search(line)]
        assert not english


def test_every_text_has_a_translation(spanish):
    _, usage = spanish
    names = set()
    for m in (es.load("elbow"), es.load("four_bar_spring")):
        names |= {m.name, *(x.name for x in (*m.joints, *m.loops, *m.frames, *m.bodies))}
    missing = {x for x in usage.missing if not set(re.findall(r"[A-Za-z]\w+", x)) <= names}
    assert not missing


def test_the_page_says_its_language(spanish):
    (elbow, _), _ = spanish
    assert '<html lang="es">' in elbow.html
    assert "grados de libertad" in elbow.html
    assert elbow["what_it_is"]["dof"] == 2  # numbers have their English names for programs


def test_translations_have_the_same_values():
    for english, said in tables("es")["study"].items():
        fields = [sorted(set(re.findall(r"{(\w*)", x))) for x in (english, said)]
        assert fields[0] == fields[1]
