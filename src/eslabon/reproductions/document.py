"""A document that is reproduced: who wrote it, what it does, its equations, and how to compute the same with eslabon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from eslabon.answers import Message
from eslabon.language import Verbatim, phrase, translated


@dataclass(frozen=True)
class Equation:
    """An equation of the document in LaTeX, with a sentence on it."""

    latex: str
    text: str


@dataclass(frozen=True)
class Document:
    """A published document. Names and title are as the document writes them, in its own language."""

    authors: tuple[str, ...]
    title: str
    where: str  # what kind of document, where it appeared, when
    does: tuple[str, ...] = ()  # paragraphs
    equations: tuple[Equation, ...] = ()
    commands: tuple[str, ...] = field(default=())
    python: str = ""

    def cited(self) -> Message:
        """Authors, title and where it appeared."""
        names = joined([name.split(". ")[-1] for name in self.authors])
        return phrase(
            "{authors}, {title} ({where})",
            authors=names,
            title=Verbatim(self.title),
            where=self.where,
        )

    def in_language(self, language: str) -> Document:
        return replace(
            self,
            where=Verbatim(translated(self.where, language)),
            does=tuple(translated(text, language) for text in self.does),
            equations=tuple(replace(e, text=translated(e.text, language)) for e in self.equations),
        )


def joined(names: Sequence[str]) -> str:
    """Names with an "and" before the last one.

    >>> joined(["Yime", "Saltarén", "Roldán"])
    'Yime, Saltarén and Roldán'
    """
    *most, last = names
    return (
        phrase("{names} and {last}", names=Verbatim(", ".join(most)), last=Verbatim(last))
        if most
        else Verbatim(last)
    )
