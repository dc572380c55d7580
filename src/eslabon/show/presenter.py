"""Answers as HTML for notebooks: a function for each type of block, chosen by
`functools.singledispatch`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch
from typing import Any

from eslabon.answers import Message, Panel, Source, Table
from eslabon.model import Model
from eslabon.motion.trajectory import Trajectory
from eslabon.pages import paragraph, table
from eslabon.pages.notebook import beside, cell, drawn, folded, framed, in_time, source_text, titled
from eslabon.sheets import Sheet
from eslabon.solve.singular.manipulability import Manipulability
from eslabon.systems.linear.modes import Mode


def notebook_html(answer: object) -> str | None:
    """The HTML of an answer; None, and so its text, where that fails: a display never raises.

    >>> import eslabon as es
    >>> "0.00829" in notebook_html(es.load("five_bar").bodies[0])
    True
    """
    try:
        return framed(heading(answer), *pieces(answer))
    except Exception:
        return None


@singledispatch
def pieces(answer: Any) -> Iterable[str]:
    """What stands below the heading of an answer, as pieces of a page: its figure, if it has one,
    and its blocks."""
    return [*_figure_pieces(answer), *map(block_html, answer.contents())]


def _figure_pieces(answer: Any) -> Iterable[str]:
    from eslabon.show.plots.registered_figures import figure

    if figure.dispatch(type(answer)) is figure.dispatch(object):
        return ()
    return drawn(lambda: figure(answer))


@pieces.register
def _(answer: Model) -> Iterable[str]:
    from eslabon.show.mechanism_page import mechanism_pieces

    return mechanism_pieces(answer)


@pieces.register
def _(answer: Trajectory) -> Iterable[str]:
    return map(block_html, answer.contents())  # its curves; a figure takes longer to draw


@pieces.register
def _(answer: Manipulability) -> Iterable[str]:
    blocks = tuple(map(block_html, answer.contents()))
    return (beside(*drawn(answer.plot), *blocks),) if answer.lengths.ndim == 1 else blocks


@pieces.register
def _(answer: Mode) -> Iterable[str]:
    picture = drawn(lambda: answer.plot(size=(4.6, 3.6), title=""))
    return (beside(*picture, *map(block_html, answer.contents())),)


@singledispatch
def heading(answer: object) -> str:
    """The line above the blocks of an answer."""
    return titled(answer)


@heading.register(dict)
@heading.register(list)
def _(answer: object) -> str:
    return ""  # their text would only repeat the table


@singledispatch
def block_html(block: object) -> str:
    """A block as a piece of a page."""
    raise TypeError(f"a notebook has no way to show a block of type {type(block).__name__}")


@block_html.register
def _(block: Table) -> str:
    rows = [tuple(map(cell, row)) for row in block.rows]
    return table(Sheet.from_table(replace(block, rows=rows)))


@block_html.register
def _(block: Panel) -> str:
    curves = ((name, block.unit, values) for name, values in block.curves.items())
    return folded(block.title, in_time(block.x, curves), opened=True)


@block_html.register
def _(block: Source) -> str:
    return folded(block.name, source_text(block.text))


@block_html.register
def _(block: Message) -> str:
    return paragraph(block)
