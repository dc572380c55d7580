"""Handouts of the documents: what is in them, in English and in Spanish, on the screen and on paper."""

from __future__ import annotations

import re
from html import unescape
from string import Formatter

import numpy as np
import pytest
from typer.testing import CliRunner

import eslabon as es
from eslabon.cli import app
from eslabon.language import tables, translated, watched
from eslabon.reproductions import DOCUMENTS, Verdict, write_index
from eslabon.reproductions.html_tables import lettered

FIGURES = {"diaz": 3, "mendez": 4}
MOST = 2_500_000  # bytes of a handout that can be sent by mail


def words(html: str) -> str:
    """The text of a page, without tags."""
    return unescape(
        re.sub(r"<style.*?</style>|<script.*?</script>|<[^>]+>", " ", html, flags=re.DOTALL)
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_handout_has_all_of_the_report(report, name):
    made = report(name)
    page = made.html(figures=False)
    text = words(page)
    assert page.count("<math") == len(made.document.equations) >= 3
    for section, row in made.rows():
        assert unescape(lettered(row.what)) in text
        assert unescape(lettered(row.remark)) in text
        assert section.title in text
    for verdict in Verdict:
        assert verdict.value in text
    assert made.document.title in text
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page), "a handout needs no other file"


def check_figures(made, path):
    """In a handout in Spanish are all figures with their captions."""
    page, pictures = path.read_text("utf-8"), made.figures
    assert '<html lang="es">' in page
    assert page.count("<figure") == page.count("<svg") == len(pictures) == FIGURES[made.name]
    assert path.stat().st_size < MOST
    for picture in pictures:
        assert translated(picture.caption, "es") in words(page)


def test_its_figures_are_in_it(report, tmp_path):
    """Those of mendez are looked at where the command draws them: `test_all_from_the_shell`."""
    made = report("diaz")
    check_figures(made, made.save(tmp_path / "es" / "diaz.html", language="es"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_it_says_to_run_runs(report, name):
    document = report(name).document
    exec(document.python, {"np": np, "es": es, "print": lambda *_: None})
    for command in document.commands:
        arguments = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', command)][1:]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output


# -- in Spanish -------------------------------------------------------------------------------------------------------


def test_every_text_is_in_the_catalogue_and_every_entry_is_used(report, tmp_path):
    with watched() as usage:
        for name in DOCUMENTS:
            made = report(name).in_language("es")
            made.html(figures=False)
            assert made.title.endswith("recalculado")
            for picture in made.figures:
                for text in picture.texts():
                    translated(text, "es")
            write_index([made], tmp_path)
    assert not usage.missing, sorted(usage.missing)
    entries = {
        text
        for table, own in tables("es").items()
        if table.startswith("reproductions")
        for text in own
    }
    unused = sorted(entries - usage.used - CONDITIONAL)
    assert not unused, unused


# What is said only where something is otherwise than it is now.
CONDITIONAL = {"Nothing was found.", "{names}; and one more", "Figures"}


def test_translations_have_the_fields_of_their_texts():
    def fields(text: str) -> list[str]:
        return sorted({name or "" for _, name, _, _ in Formatter().parse(text) if name is not None})

    def numbers(text: str) -> int:
        return text.count("{}")

    for table in tables("es").values():
        for text, said in table.items():
            assert fields(text) == fields(said), text
            assert numbers(text) == numbers(said), text


def test_spanish_reads_in_a_terminal_and_as_markdown(report):
    made, english = report("diaz").in_language("es"), report("diaz")
    for text in (made.plain(), made.markdown()):
        assert "Dinámica directa de robots paralelos" in text
        assert "impreso erróneo" in text
        assert "El par que mantiene la barra 1 a 1 rad/s." in " ".join(text.split())
    assert made.in_language("es") is made
    for (_, own), (_, row) in zip(made.rows(), english.rows(), strict=True):
        assert own.verdict is row.verdict
        assert re.findall(r"\d+\.\d+", own.printed) == re.findall(
            r"\d+\.\d+", row.printed
        )  # the point stays a point
    with pytest.raises(es.EslabonError, match="no language 'fr'"):
        english.save("never.md", language="fr")


# -- all of them ------------------------------------------------------------------------------------------------------


def test_all_from_the_shell(report, monkeypatch, tmp_path):
    monkeypatch.setattr("eslabon.reproductions.DOCUMENTS", ("mendez",))
    monkeypatch.setattr("eslabon.reproductions.reproduce", report)
    folder = tmp_path / "pack"
    result = CliRunner().invoke(
        app, ["reproduce", "all", "--folder", str(folder), "--language", "es"]
    )
    assert result.exit_code == 0, result.output
    assert "Filas por veredicto" in result.output
    assert "Cuaderno: " in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "mendez"]
    assert {"mendez.html", "mendez.md", "mendez.txt", "free_swing.png"} <= {
        p.name for p in (folder / "mendez").iterdir()
    }
    index = (folder / "index.html").read_text("utf-8")
    assert 'href="mendez/mendez.html"' in index
    assert "Documentos publicados, recalculados" in index
    assert "Energía cinética" in (folder / "mendez" / "mendez.html").read_text("utf-8")
    check_figures(report("mendez"), folder / "mendez" / "mendez.html")


def test_all_of_them_are_no_file(monkeypatch, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", "all", "--out", str(tmp_path / "all.html")])
    assert "use --folder, not --out" in str(result.exception)


WIDER = (
    "[...document.querySelectorAll('table')].filter(t => t.scrollWidth > t.clientWidth + 1).length"
)


def test_in_a_browser_and_on_paper(report, tab, tmp_path):
    """Long formulas wrap: no table is wider than the page, so that its verdicts are seen."""
    path = tmp_path / "mendez.html"
    path.write_text(report("mendez").html(figures=False), encoding="utf-8")
    for scheme, media in (("light", "screen"), ("dark", "screen"), ("light", "print")):
        tab.page.emulate_media(color_scheme=scheme, media=media)
        tab.page.set_viewport_size({"width": 700 if media == "print" else 1000, "height": 800})
        tab.page.goto(path.as_uri())
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert tab.page.evaluate(WIDER) == 0
    paper = tab.page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) > 3
    assert not tab.complaints
