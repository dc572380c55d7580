"""Published documents recomputed: what each prints beside what eslabon computes, row by row, with a verdict.

>>> DOCUMENTS
('diaz', 'mendez', 'morales', 'rojas', 'yime')

`reproduce(name)` makes a report; `report.save("rojas.html")` writes a handout with its figures, `language="es"` in Spanish, and
`eslabon reproduce NAME` shows it. `reproduce_all(folder)` writes the handouts of all documents, and a page that leads to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from eslabon.arguments import file_path
from eslabon.errors import ReadError, format_value, suggest
from eslabon.reproductions.comparison import Row, Section, Verdict
from eslabon.reproductions.report import Report

DOCUMENTS = ("diaz", "mendez", "morales", "rojas", "yime")

__all__ = [
    "DOCUMENTS",
    "Report",
    "Row",
    "Section",
    "Verdict",
    "figures_of",
    "reproduce",
    "reproduce_all",
    "write_index",
]


def reproduce(name: str) -> Report:
    """The report on a document, by its short name.

    >>> import eslabon as es
    >>> es.reproductions.reproduce("rojaz")
    Traceback (most recent call last):
        ...
    eslabon.errors.ReadError: there is no reproduction 'rojaz'; did you mean 'rojas'?
    """
    if name not in DOCUMENTS:
        raise ReadError(f"there is no reproduction '{name}'{suggest(name, DOCUMENTS)}")
    made: Report = import_module(f"eslabon.reproductions.{name}").report()
    return made


def figures_of(name: str, folder: Path, suffix: str = "png", language: str = "en") -> list[Path]:
    """Draw a document's figures into a folder.

    >>> import eslabon as es
    >>> es.reproductions.figures_of("rojas", "figures/rojas")                 # doctest: +SKIP
    """
    module = import_module(f"eslabon.reproductions.{name}")
    return [picture.save(Path(folder), suffix, language) for picture in module.figures()]


def reproduce_all(folder: str | Path, language: str = "en") -> list[Report]:
    """The handouts of all documents, each in a folder of its own, and `index.html`, which leads to them. It takes minutes.

    >>> import eslabon as es
    >>> es.reproductions.reproduce_all("handouts", language="es")             # doctest: +SKIP
    """
    reports = [reproduce(name).in_language(language) for name in DOCUMENTS]
    for report in reports:
        report.write(Path(folder) / report.name)
    write_index(reports, folder)
    return reports


def write_index(reports: Sequence[Report], folder: str | Path) -> Path:
    """A page that leads to handouts that `report.write(folder / report.name)` has written.

    >>> import tempfile
    >>> from eslabon.reproductions.document import Document
    >>> from eslabon.reproductions.verdicts import number
    >>> section = Section("Gravity", "At sea level.", (number("g", "9.81", 9.8066),))
    >>> report = Report("g", Document(("A. Author",), "On falling", "1687"), "Recomputed.", (section,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_index([report], folder).name)
    index.html
    """
    from eslabon.reproductions.handout import index

    if (
        not isinstance(reports, list | tuple)
        or not reports
        or not all(isinstance(x, Report) for x in reports)
    ):
        raise ReadError(
            f"reports are what es.reproductions.reproduce gives, in a list; it is {format_value(reports)}."
        )
    return index(reports, file_path(folder, "folder") / "index.html", reports[0].language)


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
