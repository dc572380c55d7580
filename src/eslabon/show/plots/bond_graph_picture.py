"""Bond graphs drawn as Karnopp, Margolis and Rosenberg draw them: what stands on the page.

A half arrow points where power counts as positive, its barb on the side of the flow: below, or to
the right. A stroke stands at the end of a bond that receives the effort. Active bonds and the bonds
of detectors have full arrows; so have the signals that modulate elements, each drawn from its
origin, the junction or the storage whose variable it is. A picture is a list of lines and writings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, flag
from eslabon.bond_graph.causality import PREFERENCES, causality
from eslabon.bond_graph.elements import Bond, Element
from eslabon.bond_graph.graph import Graph
from eslabon.drawing.topology_drawing import printable, text_width
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.model.parameter_expressions import ParameterExpression, leaves
from eslabon.plotting import LIGHT
from eslabon.show.plots.bond_graph_layout import Extent, distance_to_edge, places
from eslabon.show.plots.signal_routes import Box, Router

INK, GREY, NUMBER = LIGHT.ink, LIGHT.quiet, LIGHT.curves[0]
PATHS = LIGHT.curves[1:-1]
NAME, SMALL, TINY = 15.0, 11.0, 10.0  # sizes of writing
LINE, MARGIN = 14.0, 18.0  # from one line of writing to the next; the edge of the page
BARB, STROKE, HEAD = 9.0, 7.0, 8.0  # of half arrows, causal strokes and full arrows
BESIDE = 22.0  # of bonds between the same two elements
ROUND = 14.0  # the radius of a junction: strokes about it have room
AROUND = 6.0  # from the edge of a writing to the ends of its bonds
NEAR = 10.0  # how close writings may come to anything
LONGEST = 26  # letters of a line; longer laws are wrapped
TITLE = 14  # letters, above which a name stands below its symbol
FULLEST = 72  # letters of a matrix, above which its size stands for it


@dataclass(frozen=True)
class Line:
    """A line through points, or with `filled` the area within."""

    points: tuple[tuple[float, float], ...]
    width: float = 1.4
    colour: str = INK
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
    """A graph on a page; see `BondGraph.draw`.

    >>> import eslabon as es
    >>> p = picture(es.BondGraph.load("morales_puma"))
    >>> sum(item.role == "bond" for item in p.items)
    25
    """
    if not g.bonds:
        raise ModelError(f"{g.name} has no bonds to draw.")
    page = _Page(g, flag(values, "values"), _strokes(g, preference))
    chosen = highlighted(g, paths)
    items: list[Item] = [*page.bonds(), *page.elements()]
    items += page.modulations()
    _fit(items, page.signal_names())
    _fit(items, page.numbers())
    _fit(items, page.junction_names())
    items, (wide, tall) = _cropped([*page.bands(chosen), *items])
    items += _legend(chosen, tall)
    legend = [x.box[2] for x in items if isinstance(x, Writing) and x.role == "legend"]
    wide = max([wide, *(MARGIN + right for right in legend)])
    return Picture(printable(g.name), tuple(items), (wide, tall + LINE * 1.6 * len(chosen)))


def _strokes(g: Graph, preference: str | None) -> dict[str, str]:
    """At which element's end of each bond a stroke stands; none while a graph has open ports."""
    if preference is not None:
        choice(preference, "the preferred causality", PREFERENCES)
    if preference is None or g.open_ports():
        return {}
    return dict(causality(g, preference).strokes)


def highlighted(g: Graph, paths: Any) -> list[tuple[str, ...]]:
    """The bonds of each path to show: of one path or of several, each an object with `.bonds` or a
    sequence.

    >>> import eslabon as es
    >>> highlighted(es.BondGraph.load("morales_puma"), [2, 4, 5])
    [('2', '4', '5')]
    """
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


# -- what is written -------------------------------------------------------------------------------


def title_of(x: Element) -> str:
    """The first line of an element: its symbol with its name, if that is short; of junctions the
    symbol alone."""
    if x.is_port:
        return printable(x.name)
    return f"{x.kind} : {printable(x.name)}" if named_in_title(x) else x.kind


def named_in_title(x: Element) -> bool:
    """Whether the name of an element stands beside its symbol: no junction's, and only a short one."""
    return x.is_port or not (x.is_junction or len(f"{x.kind} : {printable(x.name)}") > TITLE)


def value_lines(g: Graph, x: Element) -> list[str]:
    """Its value with its number if it has letters, its modulus or its law."""
    if x.law is not None:
        return [*wrapped(printable(f"law {_entry(x.law)}")), *_defined(g, x)]
    if x.energy is not None:
        return [*wrapped(printable(f"energy {_entry(x.energy)}")), *_defined(g, x)]
    if isinstance(x.value, tuple):
        rows = [" ".join(map(_entry, row)) for row in x.value]
        if x.shape == (1, 1):
            return [*wrapped(f"[{rows[0]}]"), *_defined(g, x)]
        if sum(map(len, rows)) <= FULLEST and max(map(len, rows)) <= LONGEST:
            return [*(f"[{row}]" for row in rows), *_defined(g, x)]
        return _sized(g, x)
    if isinstance(x.value, ParameterExpression):
        return [*wrapped(printable(_with_number(g, x, x.value))), *_defined(g, x)]
    return [] if x.value is None else [_entry(x.value)]


def _defined(g: Graph, x: Element) -> list[str]:
    """The definitions that a value or a law uses, one after another."""
    definitions = dict(g.flat.definitions)
    left: list[Any] = [x.value, x.law, x.energy]
    lines: list[str] = []
    while left:
        for leaf in leaves(left.pop(0)):
            for name in leaf.names() if isinstance(leaf, ParameterExpression) else ():
                if name in definitions:
                    left.append(definitions.pop(name))
                    lines += wrapped(printable(f"{name} = {left[-1]}"))
    return lines


def _entry(value: object) -> str:
    return f"{value:g}" if isinstance(value, float | int) else printable(str(value))


def _sized(g: Graph, x: Element) -> list[str]:
    """The size of a matrix too large to be written, and the variables that it depends on."""
    size, names = "×".join(map(str, x.shape)), ", ".join(variables(g, x))
    return wrapped(f"{size} ({names})" if names else size)  # the same in every language


def _with_number(g: Graph, x: Element, value: ParameterExpression) -> str:
    text = str(value)
    try:
        number = f"{float(value.evaluate(dict(g.values))):.4g}"
    except Exception:  # it has variables of the graph in it, and no number of its own
        return text
    return f"= {number}" if text == x.name else f"{text} = {number}"


def wrapped(text: str, most: int = LONGEST) -> list[str]:
    """A text in lines of about as many letters, broken after operators and commas; nothing is cut.

    >>> wrapped("k*(abs(spool) + spool)/2*e/sqrt(abs(e) + smooth)")
    ['k*(abs(spool) + spool)/2*e', '/sqrt(abs(e) + smooth)']
    """
    words = re.findall(r"\d[\d.]*[eE][-+]?\d+|\*\*[^\s*/+,\-]*|[^\s*/+,\-]+|\s|[*/+,\-]", text)
    lines, line = [], ""
    for word in words:
        if line.strip() and len(line) + len(word.strip()) > most:
            lines.append(line.strip())
            line = ""
        line += word
    return [*lines, line.strip()] if line.strip() else lines


def variables(g: Graph, x: Element) -> list[str]:
    """The variables of the graph that the value or the law of an element depends on.

    >>> import eslabon as es
    >>> g = es.BondGraph.load("morales_puma")
    >>> variables(g, g.elements["tx"])
    ['q3']
    """
    definitions = dict(g.flat.definitions)
    found: dict[str, None] = {}
    left: list[Any] = [x.value, x.law]
    while left:
        for leaf in leaves(left.pop()):
            for name in leaf.names() if isinstance(leaf, ParameterExpression) else ():
                if name in g.signals:
                    found[name] = None
                elif name in definitions:
                    left.append(definitions.pop(name))
    return [*found]


def origin_of(g: Graph, name: str) -> str:
    """The element from which the signal of a variable comes: the storage whose state it is, or the
    junction on its bond where all bonds share it.

    >>> import eslabon as es
    >>> g = es.BondGraph.load("morales_puma")
    >>> origin_of(g, "q3"), origin_of(g, "p13"), origin_of(g, "f5")
    ('c2', 'iy', 'joint2')
    """
    letter, bond = g.signals[name]
    if letter not in ("e", "f") or (g.elements[bond.head].has_state and name not in _own(bond)):
        return bond.head
    ends = (bond.tail, bond.head)
    for end in ends:
        if g.elements[end].common == letter:
            return end
    return next((end for end in ends if not g.elements[end].is_junction), bond.tail)


def _own(bond: Bond) -> tuple[str, str]:
    """What the effort and the flow of a bond are called."""
    return bond.signal_name("e"), bond.signal_name("f")


# -- the page --------------------------------------------------------------------------------------


@dataclass
class _Page:
    """A graph with places for its elements."""

    g: Graph
    values: bool
    strokes: dict[str, str]
    lines: Mapping[str, list[tuple[str, str]]] = field(init=False)
    extents: Mapping[str, Extent] = field(init=False)
    at: Mapping[str, Floats] = field(init=False)
    routes: dict[str, list[Floats]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        elements = self.g.elements
        self.lines = {x.name: [*self._lines(x)] for x in elements.values()}
        self.extents = {x.name: self._extent(x) for x in elements.values()}
        number = {name: k for k, name in enumerate(elements)}
        links = tuple((number[b.tail], number[b.head]) for b in self.g.bonds.values())
        rooms = [Writing(name, (0, 0), TINY).width + 2 * BARB for name in self.g.bonds]
        found = places(links, [*self.extents.values()], rooms)
        self.at = dict(zip(elements, found, strict=True))

    def _lines(self, x: Element) -> Iterator[tuple[str, str]]:
        """What stands below the symbol of an element, and its role."""
        if x.is_junction:
            return
        if not named_in_title(x):
            yield printable(x.name), "name"
        if self.values:
            yield from ((line, "value") for line in value_lines(self.g, x))

    def _extent(self, x: Element) -> Extent:
        if x.is_junction:
            return Extent(ROUND, ROUND, ROUND, ROUND)
        width = Writing(title_of(x), (0, 0), NAME).width
        below = [Writing(line, (0, 0), SMALL).width for line, _ in self.lines[x.name]]
        half, high = max([width, *below]) / 2 + AROUND, NAME * 0.55 + AROUND / 2
        return Extent(half, half, high, high + LINE * len(below) + 1)

    @cached_property
    def boxes(self) -> dict[str, Box]:
        """Where each element with its lines stands."""
        made = {}
        for name, (x, y) in self.at.items():
            e = self.extents[name]
            made[name] = Box(x - e.left, y - e.up, x + e.right, y + e.down)
        return made

    def elements(self) -> Iterator[Writing]:
        """The writings of all elements."""
        for x in self.g.elements.values():
            cx, cy = _point(self.at[x.name])
            tip = f"{x.kind} {printable(x.name)}"
            if isinstance(x.value, ParameterExpression):
                tip += f": {x.value}"
            yield Writing(title_of(x), (cx, cy), NAME, bold=x.is_junction, tip=tip, role="element")
            for k, (line, role) in enumerate(self.lines[x.name], start=1):
                colour = INK if role == "name" else GREY
                yield Writing(line, (cx, cy + k * LINE + 1), SMALL, colour, role=role)

    def ends(self, bond: Bond) -> tuple[Floats, Floats]:
        """The points between which a bond is drawn: the edges of the two writings."""
        a, b = self.at[bond.tail], self.at[bond.head]
        along = (b - a) / np.linalg.norm(b - a)
        beside = [
            x.name for x in self.g.bonds.values() if {x.tail, x.head} == {bond.tail, bond.head}
        ]
        aside = BESIDE * (beside.index(bond.name) - (len(beside) - 1) / 2) * flow_side(along)
        start = a + along * self._reach(bond.tail, along)
        return start + aside, b - along * self._reach(bond.head, -along) + aside

    def _reach(self, name: str, along: Floats) -> float:
        """From an element's middle to the edge of its writing: of the title, or of lines below."""
        if self.g.elements[name].is_junction:
            return ROUND
        whole = self.extents[name]
        title = Writing(title_of(self.g.elements[name]), (0, 0), NAME).width / 2 + AROUND
        first = Extent(title, title, whole.up, whole.up)
        reach = distance_to_edge(np.array(first).reshape(2, 2), along)
        far = distance_to_edge(np.array(whole).reshape(2, 2), along)
        below = far * along[1] > whole.up - AROUND / 2  # through the lines, or beside them
        return far if below else reach

    def bonds(self) -> Iterator[Line]:
        """Lines with half arrows and strokes; signals with full arrows."""
        for bond in self.g.bonds.values():
            a, b = self.ends(bond)
            along = (b - a) / np.linalg.norm(b - a)
            across = flow_side(along)
            if bond.signal or self.g.elements[bond.head].measures:
                yield from arrow([a, b], "signal")
                continue
            yield Line((_point(a), _point(b)), role="bond")
            barb = b - BARB * along + 0.62 * BARB * across
            yield Line((_point(b), _point(barb)), role="half arrow")
            if bond.name in self.strokes:
                end = b if self.strokes[bond.name] == bond.head else a
                stroke = (_point(end - STROKE * across), _point(end + STROKE * across))
                yield Line(stroke, 2.0, role="stroke")

    def bands(self, chosen: Sequence[tuple[str, ...]]) -> Iterator[Line]:
        """Broad bands of colour under the bonds of paths, the first of them broadest, so that all
        are seen."""
        for k, names in enumerate(chosen):
            width, colour = 7.0 + 4.0 * (len(chosen) - 1 - k), PATHS[k % len(PATHS)]
            for name in dict.fromkeys(names):
                a, b = self.ends(self.g.bonds[name])
                yield Line((_point(a), _point(b)), width, colour, opacity=0.45, role="path")

    def modulations(self) -> Iterator[Line]:
        """Signals from the junction or storage of each variable to the elements that it modulates."""
        goals: dict[str, list[str]] = {}
        for x in self.g.elements.values():
            for name in variables(self.g, x):
                bond = self.g.signals[name][1]
                carried = bond.signal and bond.head == x.name  # by a bond that is drawn already
                if origin_of(self.g, name) != x.name and not carried:
                    goals.setdefault(name, []).append(x.name)
        if not goals:
            return
        router = Router([*self.boxes.values()], [self.ends(b) for b in self.g.bonds.values()])
        for name, own in goals.items():
            origin = self.boxes[origin_of(self.g, name)]
            self.routes[name] = router.ways(origin, [self.boxes[goal] for goal in own])
            for way in self.routes[name]:
                yield from arrow([*way], "modulation", GREY)
            yield from _branches(self.routes[name])

    def signal_names(self) -> Iterator[list[list[Item]]]:
        """The names of modulating variables, beside their signals near their origins."""
        for name, ways in self.routes.items():
            way = min(ways, key=len)
            width = Writing(name, (0, 0), TINY).width
            spots = []
            for a, b in pairwise(way):
                along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
                across = flow_side(along)
                away = (4 + abs(across[0]) * width / 2 + abs(across[1]) * TINY / 2) * across
                near = min(float(np.linalg.norm(b - a)) / 2, width / 2 + 8)
                spots += [a + near * along - away, a + near * along + away]
                for part in (0.5, 0.25, 0.75):
                    middle = a + part * (b - a)
                    spots += [middle - away, middle + away]
            yield [[Writing(name, _point(spot), TINY, GREY, role="modulating")] for spot in spots]

    def numbers(self) -> Iterator[list[list[Item]]]:
        """The bonds' names, on the side of the effort, in the middle or elsewhere on the bond."""
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

    def junction_names(self) -> Iterator[list[list[Item]]]:
        """The names of junctions, in a corner between their bonds."""
        for x in self.g.elements.values():
            if not x.is_junction:
                continue
            text = printable(x.name)
            width = Writing(text, (0, 0), TINY).width
            spots = [
                self.at[x.name] + [h * (width / 2 + out), v * (TINY / 2 + out)]
                for out in (6.0, 10.0, 14.0)
                for h, v in ((1, -1), (-1, -1), (1, 1), (-1, 1))
            ] + [
                self.at[x.name] + [h * (width / 2 + ROUND), v * (TINY / 2 + ROUND)]
                for h, v in ((0, -1), (0, 1), (1, 0), (-1, 0))
            ]
            yield [[Writing(text, _point(spot), TINY, GREY, role="junction")] for spot in spots]


def flow_side(along: Floats) -> Floats:
    """Across a bond, to the side of the flow: below it, or to the right of it.

    >>> flow_side(np.array([1.0, 0.0])).tolist()  # y is downwards
    [-0.0, 1.0]
    """
    across = np.array([-along[1], along[0]])
    below = across[1] > 1e-9 if abs(across[1]) > 0.2 else across[0] > 0
    return across if below else -across


def arrow(points: Sequence[Floats], role: str, colour: str = INK) -> Iterator[Line]:
    """A thin line with a full arrow."""
    a, b = points[-2:]
    along = (b - a) / np.linalg.norm(b - a)
    across, back = np.array([-along[1], along[0]]), b - HEAD * along
    yield Line((*map(_point, points[:-1]), _point(back)), 1.0, colour, role=role)
    head = (b, back + 0.35 * HEAD * across, back - 0.35 * HEAD * across)
    yield Line(tuple(map(_point, head)), colour=colour, filled=True, role="head")


def _branches(ways: Sequence[Floats]) -> Iterator[Line]:
    """A dot where the way of a signal to one goal leaves that to another."""
    for k, way in enumerate(ways):
        shared = [_shared_part(way, other) for other in ways[:k]]
        if shared and (place := max(shared, key=lambda x: x[0]))[0] > 1.0:
            turns = np.pi * np.arange(8) / 4
            dot = place[1] + 2.2 * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
            yield Line(tuple(map(_point, dot)), colour=GREY, filled=True, role="branch")


def _shared_part(one: Floats, other: Floats) -> tuple[float, Floats]:
    """How far two ways from one origin run together, and where they part."""
    length, at = 0.0, one[0]
    if np.abs(one[0] - other[0]).max() > 1e-6:
        return 0.0, at
    for a, b, c in zip(one[:-1], one[1:], other[1:], strict=False):
        first, second = b - a, c - a
        sizes = float(np.linalg.norm(first)), float(np.linalg.norm(second))
        if first @ second < (1 - 1e-9) * sizes[0] * sizes[1]:
            break
        length, at = length + min(sizes), a + first * (min(sizes) / sizes[0])
        if abs(sizes[0] - sizes[1]) > 1e-6:
            break
    return length, at


def _point(x: Floats) -> tuple[float, float]:
    return float(x[0]), float(x[1])


def _fit(items: list[Item], wanted: Iterator[list[list[Item]]]) -> None:
    """Add of each choice what is least in the way of all before it; the first of equals."""
    from scipy.spatial import KDTree

    taken = np.concatenate([_samples(x) for x in items])
    for choices in wanted:
        tree = KDTree(taken)

        def clash(made: list[Item], tree: Any = tree) -> float:
            points = np.concatenate([_samples(x) for x in made])
            return float(np.round(np.maximum(0.0, NEAR - tree.query(points)[0]).sum(), 6))

        best = min(choices, key=clash)
        items += best
        taken = np.concatenate([taken, *(_samples(x) for x in best)])


def _samples(x: Item) -> Floats:
    """Points all along a line or a writing."""
    if isinstance(x, Line):
        points = np.array(x.points)
        parts = []
        for a, b in pairwise(points):
            count = 2 + int(np.linalg.norm(b - a) / 8)
            parts.append(a + np.linspace(0, 1, count)[:, None] * (b - a))
        return np.concatenate(parts)
    left, _, right, _ = x.box
    across = np.linspace(left, right, 2 + int((right - left) / 8))
    return np.stack([across, np.full_like(across, x.at[1])], axis=-1)


def _legend(chosen: Sequence[tuple[str, ...]], tall: float) -> Iterator[Item]:
    """What the colours of paths mean."""
    for k, names in enumerate(chosen):
        y, text, colour = tall + LINE * 1.6 * (k + 0.3), " ".join(names), PATHS[k % len(PATHS)]
        band = ((MARGIN, y), (MARGIN + 30, y))
        yield Line(band, 7.0, colour, opacity=0.45, role="legend")
        middle = MARGIN + 40 + Writing(text, (0, 0), SMALL).width / 2
        yield Writing(text, (middle, y), SMALL, role="legend")


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
