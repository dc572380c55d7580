"""The gallery: a picture and five lines of every mechanism of the library, made from the models themselves.

Written in `docs/gallery.md` as `<!-- gallery -->`; pictures of single mechanisms, `gallery/NAME.svg`, serve all pages.
"""

import re
from collections import Counter
from functools import cache
from io import StringIO
from math import pi

import numpy as np
from mkdocs.structure.files import File, Files

import eslabon as es

PLACE = "<!-- gallery -->"
GROUPS = {"Parallel robots and closed linkages": True, "Serial arms and other trees": False}


@cache
def mechanisms() -> dict[str, es.Mechanism]:
    return {name: es.load(name) for name in es.robots()}


def on_files(files: Files, config, **_) -> Files:
    for name in mechanisms():
        files.append(File.generated(config, f"gallery/{name}.svg", content=drawn(name)))
    files.append(File.generated(config, "gallery/circle.svg", content=circle()))
    return files


def on_page_markdown(markdown: str, **_) -> str:
    return markdown.replace(PLACE, page()) if PLACE in markdown else markdown


@cache
def drawn(name: str) -> str:
    """The mechanism at home, as the text of an SVG."""
    return svg(mechanisms()[name].plot(theme="light", title="", size=(4.2, 3.2)))


@cache
def circle() -> str:
    """What the tutorial draws: the 3-RRR on its way around a circle."""
    way = es.paths.along(es.paths.arc([0, 0, 0], [0.03, 0, 0], [0, 0, 1], 2 * pi), es.paths.cycloidal(1.0), np.eye(3))
    q = mechanisms()["planar_3rrr"].follow(way, times=np.linspace(0, 1, 101)).q
    return svg(mechanisms()["planar_3rrr"].plot(q[::4], trace="centre", theme="light", title="", size=(5, 4)))


def svg(figure) -> str:
    text = StringIO()
    figure.savefig(text, format="svg")
    return text.getvalue()


def page() -> str:
    parts = []
    for title, closed in GROUPS.items():
        parts += [f"## {title}", '<div class="gallery" markdown>']
        parts += [card(name, m) for name, m in mechanisms().items() if bool(m.loops) is closed]
        parts += ["</div>"]
    return "\n\n".join(parts)


def card(name: str, m: es.Mechanism) -> str:
    """A heading, a picture and five lines."""
    freedom = f"{counted(m.dof, 'degree')} of freedom, driven at {listed(m.actuated) or 'no joint'}"
    frames = listed(f.name for f in m.frames) or "none named"
    return "\n\n".join(
        [
            '<div class="card" markdown>',
            f"### {name}",
            f"![{name}, drawn at its home configuration](gallery/{name}.svg){{ loading=lazy }}",
            f"{headline(m.note)}.",
            f"- {counted(len(m.bodies), 'body', 'bodies')}; joints: {kinds(m.joints)}"
            + (f"; cut joints: {kinds(m.loops)}" if m.loops else "")
            + f"\n- {freedom}\n- parameters: {listed(m.parameters) or 'none, all numbers'}\n- frames: {frames}"
            + f'\n- `es.load("{name}")`',
            "</div>",
        ]
    )


def headline(note: str) -> str:
    """The beginning of a note, up to the first stop that is not within brackets.

    >>> headline("A robot (after Gough. 1962): six legs. It moves.")
    'A robot (after Gough. 1962)'
    """
    depth, text = 0, " ".join(note.split())
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in ".:;" and text[k + 1 : k + 2] in ("", " "):
            return text[:k]
    return text


def kinds(items) -> str:
    """How many of each kind.

    >>> kinds(es.load("slider_crank").joints)
    '2 revolute, 1 prismatic'
    """
    found = Counter(re.sub(r"_", " ", item.kind.kind) for item in items)
    return ", ".join(f"{number} {kind}" for kind, number in found.most_common())


def counted(number: int, thing: str, things: str = "") -> str:
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def listed(names, most: int = 8) -> str:
    """Names in backticks, the first few of them."""
    every = [f"`{name}`" for name in names]
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")
