"""The topology drawn: bodies as boxes under the ground, joints as labels on the lines between them.

A body stands as many layers below the ground as there are joints on the shortest way to it, so a platform hangs under
all its legs and every joint, cut ones too, has its place between two layers. All writing stands on shapes of its own
colour, and lines are of a middle grey: it reads on white and on dark.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import networkx as nx

from eslabon.drawing.topology_layout import GAP, across
from eslabon.language import phrase, translated
from eslabon.model import GROUND, KINDS, Model
from eslabon.model.closures import CLOSURES
from eslabon.plotting import LIGHT
from eslabon.solve.mobility.closed_chains import all_joints, ends

BODY, LABEL, ROW, MARGIN = (
    34,
    24,
    52,
    20,
)  # heights of a box, of a label and of a layer; the edge of the page
LONGEST = 26  # letters shown of a name; the whole of it is in the tooltip
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

# What each is called, the sign it has in the legend, its fill, its edge, and the width and dashes of its lines.
STYLES = {
    "ground": ("", "", LIGHT.role("ground"), LIGHT.role("ground"), 0.0, ""),
    "body": ("body", "", "#e9eff6", "#52647a", 0.0, ""),
    "joint": ("joint", "", "#ffffff", "#66788c", 2.0, ""),
    "actuated": ("actuated joint", "M", "#ffe3c7", LIGHT.role("actuated"), 2.0, ""),
    "cut": ("cut joint", "×", "#dcebff", LIGHT.role("cut"), 2.0, "6 4"),
    "spring": ("spring", "k", "#e3f5ef", LIGHT.role("spring"), 1.2, "2 3"),
    "coupling": ("coupling", "i", "#f9eaf2", LIGHT.role("coupling"), 1.2, "2 3"),
}


@dataclass(frozen=True)
class Node:
    """A box or a label: what it is, its name, its symbol if it is a joint, its layer, and the nodes it hangs on."""

    sort: str
    name: str
    symbol: str = ""
    layer: int = 0
    on: tuple[int, ...] = ()

    @property
    def boxed(self) -> bool:
        return self.sort in ("ground", "body")

    @property
    def width(self) -> float:
        text = text_width(shortened(self.name))
        return max(1.12 * text + 24, 64.0) if self.boxed else text + 16 + LABEL

    @property
    def height(self) -> float:
        return BODY if self.boxed else LABEL


def topology_svg(m: Model, language: str = "en") -> str:
    """The topology of a mechanism as the text of an SVG picture, with a legend of what occurs in it in a language.

    >>> from eslabon import load
    >>> picture = topology_svg(load("five_bar"))
    >>> picture[:4], picture.count('class="body"'), picture.count('class="cut"')
    ('<svg', 4, 1)
    """
    nodes = list(nodes_of(m))
    x = places(nodes)
    y = [BODY / 2 + ROW * node.layer for node in nodes]
    counted = {"bodies": len(m.bodies), "joints": len(all_joints(m)), "loops": len(m.loops)}
    head = translated(
        phrase(
            "{name}: bodies {bodies}, joints {joints}, loops {loops}",
            name=shortened(m.name, 48),
            **counted,
        ),
        language,
    )
    drawn = max(x[k] + node.width / 2 for k, node in enumerate(nodes))
    wide = max(drawn, 1.12 * text_width(head), 420.0)
    rows = legend_rows(nodes, wide, language)
    tall = max(y) + ROW
    width, height = f"{wide + 2 * MARGIN:.0f}", f"{tall + 30 + 30 * len(rows) + MARGIN:.0f}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="{FONT}" font-size="13" text-anchor="middle">',
            f"<title>{escape(printable(m.name))}: topology</title>",
            f'<g transform="translate({MARGIN + (wide - drawn) / 2:.1f} {MARGIN})">',
            *_lines(nodes, x, y),
            *(_shape(node, x[k], y[k]) for k, node in enumerate(nodes)),
            "</g>",
            f'<g class="legend" transform="translate({MARGIN} {tall:.0f})">',
            f'<rect width="{wide:.0f}" height="{30 + 30 * len(rows)}" rx="8" fill="#ffffff" stroke="#c3ccd6"/>',
            f'<text x="12" y="20" text-anchor="start" font-weight="700" fill="{LIGHT.ink}">{escape(head)}</text>',
            *(
                _shape(node, at, 44 + 30 * k, "legend-")
                for k, row in enumerate(rows)
                for at, node in row
            ),
            "</g>",
            "</svg>",
            "",
        ]
    )


def nodes_of(m: Model) -> Iterator[Node]:
    """The ground, the bodies, then the labels of joints, springs and couplings, each after what it hangs on."""
    number = {GROUND: 0, **{b.name: k for k, b in enumerate(m.bodies, start=1)}}
    graph = nx.Graph(ends(joint) for joint in all_joints(m))
    depth = {
        name: 2 * d for name, d in nx.single_source_shortest_path_length(graph, GROUND).items()
    }
    yield Node("ground", GROUND)
    yield from (Node("body", b.name, "", depth[b.name]) for b in m.bodies)
    joints: dict[str, tuple[int, int]] = {}
    cut = {x.name for x in m.loops}
    for k, joint in enumerate(all_joints(m), start=len(number)):
        a, b = ends(joint)
        layer = min(depth[a], depth[b]) + 1
        sort = "cut" if joint.name in cut else "actuated" if joint.name in m.actuated else "joint"
        joints[joint.name] = k, layer
        yield Node(sort, joint.name, joint.kind.symbol, layer, (number[a], number[b]))
    for s in m.springs:
        a, b = s.first.body, s.second.body
        high, low = sorted((depth[a], depth[b]))
        yield Node(
            "spring", s.name, "k", (high if low - high == 2 else low) + 1, (number[a], number[b])
        )
    for c in m.couplings:
        (i, one), (j, two) = joints[c.joint], joints[c.source or c.joint]
        yield Node("coupling", c.name, "i", max(one, two) + 1, (i, j))


def places(nodes: Sequence[Node]) -> list[float]:
    """Where the nodes stand across the page."""
    links = [
        (other, k)
        for k, node in enumerate(nodes)
        for other in node.on
        if node.sort not in ("spring", "coupling")
        or nodes[other].layer < node.layer  # nothing hangs on a spring or a coupling
    ]
    return across([node.width for node in nodes], [node.layer for node in nodes], links)


SYMBOLS = {**KINDS, **CLOSURES}


def legend_rows(
    nodes: Sequence[Node], wide: float, language: str = "en"
) -> list[list[tuple[float, Node]]]:
    """The entries of the legend and where they stand, in rows no wider than the drawing."""
    symbols, sorts = {node.symbol for node in nodes}, {node.sort for node in nodes}
    entries = [
        Node("joint", translated(name, language), kind.symbol)
        for name, kind in SYMBOLS.items()
        if kind.symbol in symbols
    ]
    entries += [
        Node(sort, translated(STYLES[sort][0], language), STYLES[sort][1])
        for sort in STYLES
        if sort in sorts and STYLES[sort][1]
    ]
    rows: list[list[tuple[float, Node]]] = [[]]
    left = GAP
    for node in entries:
        if rows[-1] and left + node.width + GAP > wide:
            rows.append([])
            left = GAP
        rows[-1].append((left + node.width / 2, node))
        left += node.width + GAP
    return rows


def _lines(nodes: Sequence[Node], x: Sequence[float], y: Sequence[float]) -> Iterator[str]:
    """The lines from each label to what it hangs on, thin ones first and so below."""
    for k, node in sorted(enumerate(nodes), key=lambda item: STYLES[item[1].sort][4]):
        _, _, _, edge, width, dash = STYLES[node.sort]
        style = (
            f'fill="none" stroke="{edge}" stroke-width="{width}"'
            + f' stroke-dasharray="{dash}"' * bool(dash)
        )
        for other in node.on:
            down = 1 if y[other] > y[k] else -1
            start, end = y[k] + down * node.height / 2, y[other] - down * nodes[other].height / 2
            points = ((x[k], (start + end) / 2), (x[other], (start + end) / 2), (x[other], end))
            curve = " ".join(f"{a:.1f} {b:.1f}" for a, b in points)
            yield f'<path d="M{x[k]:.1f} {start:.1f}C{curve}" {style}/>'


def _shape(node: Node, x: float, y: float, prefix: str = "") -> str:
    """A box with a name in it; a label has its symbol in a disc at its left end."""
    what, _, fill, edge, _, dash = STYLES[node.sort]
    w, h = node.width, node.height
    kind = next((name for name, kind in SYMBOLS.items() if kind.symbol == node.symbol), "")
    tip = " ".join(filter(None, (kind, what, printable(node.name))))
    ink = f'dy=".35em" stroke="none" fill="{"#ffffff" if node.sort == "ground" else LIGHT.ink}"'
    dashes = f' stroke-dasharray="{dash}"' if node.sort == "cut" else ""
    left = LABEL / 2 - w / 2
    disc = f'<circle cx="{left:.1f}" r="{LABEL / 2 - 2}" fill="{edge}" stroke="none"/><text x="{left:.1f}" dy=".35em" '
    disc += f'fill="#ffffff" stroke="none" font-weight="700">{node.symbol}</text>'
    return (
        f'<g class="{prefix}{node.sort}" transform="translate({x:.1f} {y:.1f})" fill="{fill}" stroke="{edge}" '
        f'stroke-width="1.5"><title>{escape(tip)}</title><rect x="{-w / 2:.1f}" y="{-h / 2}" width="{w:.1f}" height="{h}" '
        f'rx="{9 if node.boxed else h / 2}"{dashes}/>'
        + (
            f'<text {ink} font-weight="600">'
            if node.boxed
            else f'{disc}<text x="{LABEL / 2}" {ink}>'
        )
        + f"{escape(shortened(node.name))}</text></g>"
    )


def shortened(name: str, most: int = LONGEST) -> str:
    """A name of at most so many letters, its middle left out, since both ends tell names apart.

    >>> shortened("the_left_front_leg_of_the_machine_joint_17")
    'the_left_fron…ine_joint_17'
    """
    name = printable(name)
    return (
        name
        if len(name) <= most
        else f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"
    )


def printable(name: str) -> str:
    """A name without the characters that XML does not allow."""
    return "".join(c if c.isprintable() else "\ufffd" for c in name)


def text_width(text: str) -> float:
    """About how wide a text of 13 pixels is, on the generous side, as the reader's font is not known."""
    narrow, wide = "iljtfrI.,:;'|!()[] ", "mwMW@%"
    return 13 * sum(
        1.05
        if unicodedata.east_asian_width(c) in "WF"
        else 0.4
        if c in narrow
        else 0.92
        if c in wide
        else 0.68
        for c in text
    )
