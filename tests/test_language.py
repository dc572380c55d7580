"""Texts in the reader's language."""

import pickle

import pytest

import eslabon as es
from eslabon.answers import Message
from eslabon.language import (
    checked,
    needs_no_translation,
    phrase,
    plural,
    tables,
    translated,
    watched,
)


def test_a_phrase_is_its_english_text():
    text = phrase("{n} degrees of freedom", n=3)
    assert text == "3 degrees of freedom"
    assert translated(text, "en") is text
    again = pickle.loads(pickle.dumps(text))
    assert isinstance(again, Message)
    assert translated(again, "es") == "3 grados de libertad"


def test_texts_within_a_phrase_are_translated_too():
    inner = phrase("{n} degrees of freedom", n=2)
    assert (
        translated(phrase("theta1: {what}, {x:.2f} rad", what=inner, x=0.5), "es")
        == "theta1: 2 grados de libertad, 0.50 rad"
    )


def test_plural():
    assert [plural(n, "{n} pole", "{n} poles") for n in (0, 1, 2)] == [
        "0 poles",
        "1 pole",
        "2 poles",
    ]


@pytest.mark.parametrize(
    "text",
    ["", " ", "9.81", "theta2', rad/s", "m.pose", "`es.load('delta')`", "p13·cos(q3)", "q_a"],
)
def test_symbols_need_no_translation(text):
    with watched() as usage:
        assert translated(text, "es") == text
    assert not usage.missing


def test_what_a_catalogue_lacks_and_uses_is_noted():
    with watched() as usage:
        translated("degrees of freedom", "es")
        assert translated("no such text", "es") == "no such text"
        translated(phrase("no such phrase {x}", x=1), "es")
    assert usage.used == {"degrees of freedom"}
    assert usage.missing == {"no such text", "no such phrase {x}"}


def test_no_text_has_two_translations():
    texts = [text for table in tables("es").values() for text in table]
    assert sorted(set(texts)) == sorted(texts)
    assert not needs_no_translation("torque", "es")


def test_a_language_that_is_not_there():
    with pytest.raises(es.EslabonError, match="no language 'sp'"):
        checked("sp")
