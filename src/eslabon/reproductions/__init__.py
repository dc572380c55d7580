"""Published documents recomputed: what each prints beside what eslabon computes, row by row, with a verdict.

>>> DOCUMENTS
('mendez', 'rojas')

`reproduce(name)` makes a report, `eslabon reproduce NAME` shows it.
"""

from __future__ import annotations

from importlib import import_module

from eslabon.errors import ReadError, suggest
from eslabon.reproductions.report import Report, Row, Section, Verdict

DOCUMENTS = ("mendez", "rojas")

__all__ = ["DOCUMENTS", "Report", "Row", "Section", "Verdict", "reproduce"]


def reproduce(name: str) -> Report:
    """The report on a document, by its short name."""
    if name not in DOCUMENTS:
        raise ReadError(f"there is no reproduction '{name}'{suggest(name, DOCUMENTS)}")
    made: Report = import_module(f"eslabon.reproductions.{name}").report()
    return made
