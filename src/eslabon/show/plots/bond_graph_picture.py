"""Bond graphs drawn as Karnopp, Margolis and Rosenberg draw them.

A half arrow points where power counts as positive, its barb on the side of the flow: below, or to the right. A stroke
across an end is where the effort goes. Signals, of active bonds, to detectors and to modulated elements, have full arrows. The
picture is a list of lines and writings, which become SVG, or a figure of matplotlib.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, flag
from eslabon.bond_graph.causality import PREFERENCES, causality
from eslabon.bond_graph.elements import DETECTORS, JUNCTIONS, PORT, Bond, Element
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.placement import places
from eslabon.drawing.topology_drawing import printable, shortened, text_width
from eslabon.errors import InputError, ModelError, ReadError, format_value, suggest
from eslabon.model.parameter_expressions import ParameterExpression
from eslabon.plotting import LIGHT

INK, GREY, NUMBER = LIGHT.ink, LIGHT.quiet, LIGHT.curves[0]
PATHS = LIGHT.curves[1:-1]
NAME, SMALL, TINY = 15.0, 11.0, 10.0  # sizes of writing
LINE, MARGIN = 14.0, 18.0  # from one line of writing to the next; the edge of the page
BARB, STROKE, HEAD = 9.0, 7.0, 8.0  # of half arrows, causal strokes and full arrows
BESIDE = 22.0  # of bonds between the same two elements
ROUND = 19.0  # the least radius of a junction
STUB = 26.0  # of the arrow from a modulus to its element
NEAR = 10.0  # how close writings may come to anything
LONGEST = 24  # letters of a value; the tooltip of the element has all


@dataclass(frozen=True)
class Line:
    """A line through points, or with `filled` the area within."""

    points: tuple[tuple[float, float], ...]
    width: float = 1.4
    colour: str = INK
    dashes: str = ""
    opacity: float = 1.0
    filled: bool = False
    role: str = ""


@dataclass(frozen=True)
class Writing:
    """A text with its middle at a place; `tip` is what a tooltip says."""

    text: str
    at: tuple[float, float]
    size: float = NAME
    colour: str = INK
    bold: bool = False
    tip: str = ""
    role: str = ""

    @property
    def width(self) -> float:
        return text_width(self.text) * self.size / 13

    @property
    def box(self) -> tuple[float, float, float, float]:
        (x, y), w, h = self.at, self.width, self.size * 1.1
        return x - w / 2, y - h / 2, x + w / 2, y + h / 2


Item = Line | Writing


@dataclass(frozen=True)
class Picture:
    """What is on the page, and the size of it."""

    title: str
    items: tuple[Item, ...]
    size: tuple[float, float]


def picture(
    g: Graph, preference: str | None = "integral", values: bool = True, paths: Any = ()
) -> Picture:
    """A graph on a page; see `BondGraph.draw`."""
    if not g.bonds:
        raise ModelError(f"{g.name} has no bonds to draw.")
    page = _Page(g, flag(values, "values"), _strokes(g, preference))
    chosen = highlighted(g, paths)
    items: list[Item] = [*page.bonds(), *page.elements()]
    _fitted(items, page.numbers())
    _fitted(items, page.moduli())
    items = [*page.bands(chosen), *items]
    items, (wide, tall) = _cropped(items)
    items += _legend(chosen, tall)
    wide = max(
        [wide, *(MARGIN + x.box[2] for x in items if isinstance(x, Writing) and x.role == "legend")]
    )
    return Picture(printable(g.name), tuple(items), (wide, tall + LINE * 1.6 * len(chosen)))


def _strokes(g: Graph, preference: str | None) -> dict[str, str]:
    """At which element's end of each bond a stroke stands; none while a graph has open ports."""
    if preference is not None:
        choice(preference, "the preferred causality", PREFERENCES)
    if preference is None or g.open_ports():
        return {}
    return dict(causality(g, preference).strokes)


def highlighted(g: Graph, paths: Any) -> list[tuple[str, ...]]:
    """The bonds of each path that is to be shown: of one path or of several, each an object with `.bonds` or a sequence."""
    own = getattr(paths, "bonds", paths)
    if isinstance(own, str | bytes) or not isinstance(own, Collection):
        raise InputError(
            f"paths are sequences of bonds such as [2, 4, 5]; it is {format_value(paths)}."
        )
    members = list(own)
    if members and all(isinstance(x, str | int) for x in members):
        members = [members]
    made = []
    for path in members:
        inside = getattr(path, "bonds", path)
        if isinstance(inside, str | int) or not hasattr(inside, "__iter__"):
            raise InputError(
                f"a path is a sequence of bonds such as [2, 4, 5]; it is {format_value(path)}."
            )
        names = tuple(str(getattr(b, "name", b)) for b in inside)
        for name in names:
            if name not in g.bonds:
                raise ModelError(f"{g.name} has no bond {name!r}{suggest(name, g.bonds)}")
        made.append(names)
    return made


# -- what elements are called -----------------------------------------------------------------------------------------


def is_modulated(g: Graph, x: Element) -> bool:
    """Whether its value is drawn as a signal: that of a modulated element with variables in it."""
    return x.kind.startswith("M") and not isinstance(x.value, float | int | type(None))


def title_of(x: Element) -> str:
    """The first line of an element: its symbol with its name, of junctions the symbol alone."""
    if x.kind in JUNCTIONS:
        return x.kind
    name = shortened(x.name, LONGEST)
    return name if x.kind == PORT else f"{x.kind} : {name}"


def value_of(g: Graph, x: Element) -> str:
    """The second line: of junctions the name, of others the value, with its number if it has letters."""
    if x.kind in JUNCTIONS:
        return shortened(x.name, LONGEST)
    if x.law is not None:
        return shortened(
            f"law {x.law}" if isinstance(x.law, ParameterExpression) else "law", LONGEST
        )
    if x.value is None or is_modulated(g, x):
        return ""
    if isinstance(x.value, tuple):
        return f"{len(x.value)}×{len(x.value[0])}"
    if not isinstance(x.value, ParameterExpression):
        return f"{x.value:g}" if isinstance(x.value, float | int) else ""
    text = str(x.value)
    try:
        number = f"{float(x.value.evaluate(dict(g.values))):.4g}"
    except Exception:  # it has variables of the graph in it, and no number of its own
        return shortened(text, LONGEST)
    return f"= {number}" if text == x.name else shortened(f"{text} = {number}", LONGEST)


def modulus_of(x: Element) -> str:
    """What modulates an element."""
    if isinstance(x.value, tuple):
        return f"{len(x.value)}×{len(x.value[0])} of states"
    return (
        shortened(str(x.value), LONGEST)
        if isinstance(x.value, ParameterExpression)
        else "of states"
    )


# -- the page ---------------------------------------------------------------------------------------------------------


@dataclass
class _Page:
    """A graph with places for its elements."""

    g: Graph
    values: bool
    strokes: dict[str, str]
    at: dict[str, Floats] = field(init=False)
    half: dict[str, Floats] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [self._size(x) for x in self.g.elements.values()]
        self.at = dict(zip(self.g.elements, places(self.g, sizes), strict=True))
        self.half = {
            name: np.array(size) / 2 for name, size in zip(self.g.elements, sizes, strict=True)
        }

    def _lines(self, x: Element) -> tuple[str, str]:
        return title_of(x), value_of(self.g, x) if self.values or x.kind in JUNCTIONS else ""

    def _size(self, x: Element) -> tuple[float, float]:
        first, second = self._lines(x)
        width = max(Writing(first, (0, 0), NAME).width, Writing(second, (0, 0), SMALL).width)
        return width + 8, NAME * 1.15 + (LINE - 1 if second else 0)

    def elements(self) -> Iterator[Writing]:
        """The writings of all elements."""
        for x in self.g.elements.values():
            first, second = self._lines(x)
            cx, cy = self.at[x.name]
            top = cy - (LINE / 2 if second else 0)
            tip = f"{x.kind} {printable(x.name)}" + (
                f": {x.value}" if isinstance(x.value, ParameterExpression) else ""
            )
            yield Writing(first, (cx, top), NAME, bold=x.kind in JUNCTIONS, tip=tip, role="element")
            if second:
                yield Writing(second, (cx, top + LINE), SMALL, GREY, role="value")

    def ends(self, bond: Bond) -> tuple[Floats, Floats]:
        """The points between which a bond is drawn: the edges of the two writings."""
        a, b = self.at[bond.tail], self.at[bond.head]
        along = (b - a) / np.linalg.norm(b - a)
        beside = [
            x.name for x in self.g.bonds.values() if {x.tail, x.head} == {bond.tail, bond.head}
        ]
        aside = BESIDE * (beside.index(bond.name) - (len(beside) - 1) / 2) * flow_side(along)
        return a + along * self._reach(bond.tail, along) + aside, b - along * self._reach(
            bond.head, along
        ) + aside

    def _reach(self, name: str, along: Floats) -> float:
        """From an element's middle to the edge of its writing, and a little more."""
        if self.g.elements[name].is_junction:  # round, so that the strokes about it have room
            return float(1 / np.linalg.norm(along / np.maximum(self.half[name] + 4.0, ROUND)))
        with np.errstate(divide="ignore"):
            return float(np.min((self.half[name] + 6.0) / np.abs(along)))

    def bonds(self) -> Iterator[Line]:
        """Lines with half arrows and strokes; signals with full arrows."""
        for bond in self.g.bonds.values():
            a, b = self.ends(bond)
            along = (b - a) / np.linalg.norm(b - a)
            across = flow_side(along)
            if bond.signal or self.g.elements[bond.head].kind in DETECTORS:
                yield from arrow(a, b, "signal")
                continue
            yield Line((_point(a), _point(b)), role="bond")
            yield Line(
                (_point(b), _point(b - BARB * along + 0.62 * BARB * across)), role="half arrow"
            )
            if bond.name in self.strokes:
                end = b if self.strokes[bond.name] == bond.head else a
                yield Line(
                    (_point(end - STROKE * across), _point(end + STROKE * across)),
                    2.0,
                    role="stroke",
                )

    def bands(self, chosen: Sequence[tuple[str, ...]]) -> Iterator[Line]:
        """Broad bands of colour under the bonds of paths, the first of them broadest, so that all are seen."""
        for k, names in enumerate(chosen):
            width = 7.0 + 4.0 * (len(chosen) - 1 - k)
            for name in dict.fromkeys(names):
                a, b = self.ends(self.g.bonds[name])
                yield Line(
                    (_point(a), _point(b)), width, PATHS[k % len(PATHS)], opacity=0.45, role="path"
                )

    def numbers(self) -> Iterator[list[list[Item]]]:
        """The bonds' names, on the side of the effort, in the middle or elsewhere along the bond."""
        for bond in self.g.bonds.values():
            a, b = self.ends(bond)
            across = flow_side((b - a) / np.linalg.norm(b - a))
            width = Writing(bond.name, (0, 0), TINY).width
            away = (4 + abs(across[0]) * width / 2 + abs(across[1]) * TINY / 2) * across
            spots = [
                a + part * (b - a) - side * away
                for side in (1, -1)
                for part in (0.5, 0.4, 0.6, 0.3, 0.7)
            ]
            yield [
                [Writing(bond.name, _point(spot), TINY, NUMBER, role="number")] for spot in spots
            ]

    def moduli(self) -> Iterator[list[list[Item]]]:
        """Arrows into modulated elements with what modulates them at their other end, in many directions."""
        for x in self.g.elements.values():
            if is_modulated(self.g, x):
                yield list(self._stubs(x))

    def _stubs(self, x: Element) -> Iterator[list[Item]]:
        text, middle = modulus_of(x), self.at[x.name]
        for length in (STUB, 1.6 * STUB):
            for angle in np.radians(
                90 + 15 * np.array([0, 12, 1, -1, 11, 13, *range(2, 11), *range(14, 23)])
            ):
                along = np.array([np.cos(angle), np.sin(angle)])
                tip = middle + along * self._reach(x.name, along)
                start = tip + length * along
                with np.errstate(divide="ignore"):
                    half = np.array([Writing(text, (0, 0), SMALL).width / 2 + 3, SMALL * 0.7])
                    centre = start + along * np.min(half / np.abs(along))
                yield [
                    *arrow(start, tip, "modulation"),
                    Writing(text, _point(centre), SMALL, role="modulus"),
                ]


def flow_side(along: Floats) -> Floats:
    """Across a bond, to the side of the flow: below it, or to the right of it."""
    across = np.array([-along[1], along[0]])
    below = across[1] > 1e-9 if abs(across[1]) > 0.2 else across[0] > 0
    return across if below else -across


def arrow(a: Floats, b: Floats, role: str) -> Iterator[Line]:
    """A thin line with a full arrow."""
    along = (b - a) / np.linalg.norm(b - a)
    across, back = np.array([-along[1], along[0]]), b - HEAD * along
    yield Line((_point(a), _point(back)), 1.0, role=role)
    yield Line(
        (_point(b), _point(back + 0.35 * HEAD * across), _point(back - 0.35 * HEAD * across)),
        filled=True,
        role="head",
    )


def _point(x: Floats) -> tuple[float, float]:
    return float(x[0]), float(x[1])


def _fitted(items: list[Item], wanted: Iterator[list[list[Item]]]) -> None:
    """Add of each choice what is least in the way of all before it; the first of equals."""
    from scipy.spatial import KDTree

    taken = np.concatenate([_samples(x) for x in items])
    for choices in wanted:
        tree = KDTree(taken)

        def clash(made: list[Item], tree: Any = tree) -> float:
            points = np.concatenate([_samples(x)[1 if isinstance(x, Line) else 0 :] for x in made])
            return float(np.round(np.maximum(0.0, NEAR - tree.query(points)[0]).sum(), 6))

        best = min(choices, key=clash)
        items += best
        taken = np.concatenate([taken, *(_samples(x) for x in best)])


def _samples(x: Item) -> Floats:
    """Points all along a line or a writing."""
    if isinstance(x, Line):
        ends = np.array(x.points[:2])
        count = 2 + int(np.linalg.norm(ends[1] - ends[0]) / 8)
        return ends[0] + np.linspace(0, 1, count)[:, None] * (ends[1] - ends[0])
    left, _, right, _ = x.box
    across = np.linspace(left, right, 2 + int((right - left) / 8))
    return np.stack([across, np.full_like(across, x.at[1])], axis=-1)


def _legend(chosen: Sequence[tuple[str, ...]], tall: float) -> Iterator[Item]:
    """What the colours of paths mean."""
    for k, names in enumerate(chosen):
        y, text = tall + LINE * 1.6 * (k + 0.3), " ".join(names)
        yield Line(
            ((MARGIN, y), (MARGIN + 30, y)), 7.0, PATHS[k % len(PATHS)], opacity=0.45, role="legend"
        )
        yield Writing(
            text, (MARGIN + 40 + Writing(text, (0, 0), SMALL).width / 2, y), SMALL, role="legend"
        )


def _cropped(items: Sequence[Item]) -> tuple[list[Item], tuple[float, float]]:
    """Everything moved onto a page that has just room for it."""
    corners = np.array(
        [p for x in items for p in (x.points if isinstance(x, Line) else (x.box[:2], x.box[2:]))],
        dtype=float,
    )
    low, high = corners.min(axis=0) - MARGIN, corners.max(axis=0) + MARGIN

    def moved(p: tuple[float, float]) -> tuple[float, float]:
        return p[0] - float(low[0]), p[1] - float(low[1])

    made: list[Item] = []
    for x in items:
        if isinstance(x, Line):
            made.append(replace(x, points=tuple(moved(p) for p in x.points)))
        else:
            made.append(replace(x, at=moved(x.at)))
    return made, (float(high[0] - low[0]), float(high[1] - low[1]))


# -- files ------------------------------------------------------------------------------------------------------------


def draw(
    g: Graph, path: str | Path, preference: str | None, values: bool, paths: Any, theme: str | None = None
) -> Path:  # fmt: skip
    """See `BondGraph.draw`."""
    from eslabon.atomic_files import write
    from eslabon.bond_graph.picture_files import figure, svg
    from eslabon.plotting import save_figure, theme_of

    if not isinstance(path, str | Path) or Path(path).suffix.lower() not in (
        ".svg",
        ".png",
        ".pdf",
    ):
        raise ReadError(
            f"{format_value(path)}: bond graphs are drawn as .svg, .png or .pdf; let the name end so."
        )
    look, made = theme_of(theme), picture(g, preference, values, paths)
    if Path(path).suffix.lower() == ".svg":
        return write(path, svg(made, look))
    return save_figure(figure(made, look), Path(path), dpi=150)
