"""Published documents recomputed: what each prints beside what eslabon computes, row by row, with a verdict.

>>> DOCUMENTS
('diaz', 'mendez', 'morales', 'rojas', 'yime')

`reproduce(name)` makes a report, `eslabon reproduce NAME` shows it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from eslabon.errors import ReadError, suggest
from eslabon.reproductions.report import Report, Row, Section, Verdict

DOCUMENTS = ("diaz", "mendez", "morales", "rojas", "yime")

__all__ = ["DOCUMENTS", "Report", "Row", "Section", "Verdict", "figures_of", "reproduce"]


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


def figures_of(name: str, folder: Path) -> list[Path]:
    """Draw a document's figures into a folder, if it has any.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import eslabon as es
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = es.reproductions.figures_of("mendez", Path(folder))
    """
    module = import_module(f"eslabon.reproductions.{name}")
    made: list[Path] = module.figures(folder) if hasattr(module, "figures") else []
    return made
