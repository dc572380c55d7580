"""The topology drawn: bodies as boxes under the ground, joints as labels on the lines between them.

A body stands as many layers below the ground as there are joints on the shortest way to it, so a platform hangs under
all its legs and every joint, cut ones too, has its place between two layers. All writing stands on shapes of its own
colour, and lines are of a middle grey: it reads on white and on dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import networkx as nx
import numpy as np

from eslabon.model import GROUND, KINDS, Mechanism
from eslabon.structure.chains import all_joints, ends
from eslabon.structure.layout import Layered, positions
from eslabon.structure.legend import MARGIN, legend
from eslabon.structure.shapes import (
    FONT,
    LINE,
    STYLES,
    dashed,
    digits,
    disc,
    motor,
    printable,
    rectangle,
    shortened,
    sign,
    text,
    text_width,
)

BODY, LABEL, ROW = 34, 24, 52  # heights of a box, of a label and of a layer


@dataclass(frozen=True)
class Node:
    """A box or a label: what it is, its name, its symbol if it is a joint, its layer, and the nodes it hangs on."""

    sort: str
    name: str
    symbol: str
    layer: int
    on: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return shortened(self.name)

    @property
    def width(self) -> float:
        if self.sort in ("ground", "body"):
            return max(text_width(self.text, 13, bold=True) + 24, 64)
        return text_width(self.text, 12) + 16 + LABEL * (2 if self.sort == "actuated" else 1)

    @property
    def height(self) -> float:
        return BODY if self.sort in ("ground", "body") else LABEL


def topology_svg(m: Mechanism) -> str:
    """The topology of a mechanism as the text of an SVG picture, with a legend of what occurs in it.

    >>> from eslabon.read import load
    >>> picture = topology_svg(load("five_bar"))
    >>> picture[:4], picture.count('class="body"'), picture.count('class="cut"')
    ('<svg', 4, 1)
    """
    nodes = list(_nodes(m))
    x = _across(nodes)
    y = [MARGIN + BODY / 2 + ROW * node.layer for node in nodes]
    width = float(max(x[k] + node.width / 2 for k, node in enumerate(nodes)))
    height = max(y) + BODY / 2 + MARGIN / 2
    counted = [
        (len(m.bodies), "body", "bodies"),
        (len(all_joints(m)), "joint", "joints"),
        (len(m.loops), "loop", "loops"),
    ]
    counts = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counted)
    panel = legend(m.name, counts, {n.sort for n in nodes}, {n.symbol for n in nodes}, width, height)
    across, down = (digits(size) for size in panel.page)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}" '
            f'font-family="{FONT}" font-size="13">',
            f"<title>{escape(printable(m.name))}: topology</title>",
            f'<g transform="translate({digits(panel.shift)} 0)">',
            *_lines(nodes, x, y),
            *_boxes(nodes, x, y),
            "</g>",
            *panel.shapes(),
            "</svg>",
            "",
        ]
    )


# --- what stands where -------------------------------------------------------------------------------------------


def _nodes(m: Mechanism) -> Iterator[Node]:
    """The ground, the bodies, then the labels of joints, springs and couplings, each after what it hangs on."""
    number = {GROUND: 0, **{b.name: k for k, b in enumerate(m.bodies, start=1)}}
    graph = nx.Graph(ends(joint) for joint in all_joints(m))
    depth = {name: 2 * d for name, d in nx.single_source_shortest_path_length(graph, GROUND).items()}
    yield Node("ground", GROUND, "", 0)
    yield from (Node("body", b.name, "", depth[b.name]) for b in m.bodies)
    joints: dict[str, tuple[int, int]] = {}
    for k, joint in enumerate(all_joints(m), start=len(number)):
        a, b = ends(joint)
        layer = min(depth[a], depth[b]) + 1
        sort = "cut" if k >= len(number) + len(m.joints) else "actuated" if joint.name in m.actuated else "joint"
        joints[joint.name] = k, layer
        yield Node(sort, joint.name, joint.kind.symbol, layer, (number[a], number[b]))
    for s in m.springs:
        a, b = s.first.body, s.second.body
        high, low = sorted((depth[a], depth[b]))
        yield Node("spring", s.name, "", (high if low - high == 2 else low) + 1, (number[a], number[b]))
    for c in m.couplings:
        (i, one), (j, two) = joints[c.joint], joints[c.source]
        yield Node("coupling", c.name, "", max(one, two) + 1, (i, j))


def _across(nodes: Sequence[Node]) -> np.ndarray:
    """Where the nodes stand across the page."""
    first = _first_order(nodes)
    layers: list[list[int]] = [[] for _ in range(max(node.layer for node in nodes) + 1)]
    for k in sorted(range(len(nodes)), key=lambda k: first[k]):
        layers[nodes[k].layer].append(k)
    links = [
        (k, other) for k, node in enumerate(nodes) for other in node.on if abs(nodes[other].layer - node.layer) == 1
    ]
    return positions(Layered([node.width for node in nodes], layers, links))


def _first_order(nodes: Sequence[Node]) -> list[float]:
    """A number for each node to begin from: its turn in a walk down the tree, or the middle of what it hangs on."""
    carried: dict[int, list[tuple[int, int]]] = {}
    for k, node in enumerate(nodes):
        if node.sort in ("joint", "actuated"):
            carried.setdefault(node.on[0], []).append((k, node.on[1]))
    turn = [0.0] * len(nodes)
    walk, count = [0], 0
    while walk:
        body = walk.pop()
        count += 1
        turn[body] = count
        for joint, child in reversed(carried.get(body, [])):
            walk.append(child)
            turn[joint] = -1.0
    for k, node in enumerate(nodes):
        if node.sort in ("joint", "actuated"):
            turn[k] = turn[node.on[1]]
        elif node.on:
            turn[k] = sum(turn[n] for n in node.on) / len(node.on)
    return turn


# --- how it looks ------------------------------------------------------------------------------------------------


def _lines(nodes: Sequence[Node], x: np.ndarray, y: Sequence[float]) -> Iterator[str]:
    """The lines from each label to what it hangs on, the light ones first and so below."""
    for k, node in sorted(enumerate(nodes), key=lambda item: STYLES[item[1].sort].line):
        style = STYLES[node.sort]
        colour = LINE if node.sort == "joint" else style.edge
        for other in node.on:
            down = 1 if y[other] > y[k] else -1
            start, end = y[k] + down * node.height / 2, y[other] - down * nodes[other].height / 2
            here, there, half = digits(x[k]), digits(x[other]), digits((start + end) / 2)
            curve = f"M{here} {digits(start)}C{here} {half} {there} {half} {there} {digits(end)}"
            yield f'<path d="{curve}" fill="none" stroke="{colour}" stroke-width="{style.line}"{dashed(style.dash)}/>'


def _boxes(nodes: Sequence[Node], x: np.ndarray, y: Sequence[float]) -> Iterator[str]:
    for k, node in enumerate(nodes):
        shape = _body(node) if node.sort in ("ground", "body") else _label(node)
        yield f'<g class="{node.sort}" transform="translate({digits(x[k])} {digits(y[k])})">{_title(node)}{shape}</g>'


def _body(node: Node) -> str:
    style = STYLES[node.sort]
    grounded = node.sort == "ground"
    box = rectangle(node.width, node.height, 4 if grounded else 9, style)
    return (_hatch(node) if grounded else "") + box + text(node.text, 0, style.text, weight=600)


def _hatch(node: Node) -> str:
    """The engineer's sign of what is fixed: strokes off the box, on top of it as all hangs below."""
    top = digits(-node.height / 2)
    strokes = (f"M{digits(s)} {top}l7 -8" for s in np.arange(-node.width / 2 + 4, node.width / 2 - 6, 10))
    return f'<path d="{"".join(strokes)}" stroke="{LINE}" stroke-width="1.5" fill="none"/>'


def _label(node: Node) -> str:
    """A joint's label: its symbol in a disc, its name, and the mark of a motor at the other end if it has one."""
    style, left = STYLES[node.sort], -node.width / 2
    box = rectangle(node.width, node.height, node.height / 2, style, dash="4 3" if node.sort == "cut" else "")
    symbol = disc(left + LABEL / 2, LABEL / 2 - 2, style.edge) + sign(node.sort, node.symbol, left + LABEL / 2)
    driven = node.sort == "actuated"
    name = text(node.text, 0 if driven else LABEL / 2, style.text, size=12)
    return box + symbol + name + (motor(-left - LABEL / 2, LABEL / 2 - 4, style) if driven else "")


def _title(node: Node) -> str:
    """The tooltip: what it is, and the whole of its name."""
    kind = next((name for name, kind in KINDS.items() if kind.symbol == node.symbol), "")
    what = {"ground": "", "cut": "cut joint", "actuated": "actuated joint"}.get(node.sort, node.sort)
    return f"<title>{escape(' '.join(filter(None, (kind, what, printable(node.name)))))}</title>"
