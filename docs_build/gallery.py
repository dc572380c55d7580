"""The gallery: a picture and five lines of every mechanism of the library, made from the models themselves.

In the repository `docs/gallery.md` has a table between two marks (`make images` writes it); on the site the cards replace it.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

from images import NAMES, drawing
from mkdocs.structure.files import File, Files

import eslabon as es

PAGE = Path(__file__).parents[1] / "docs" / "gallery.md"
BEGIN, END = "<!-- gallery -->", "<!-- end of the gallery -->"
PLACE = re.compile(f"{BEGIN}.*{END}", flags=re.DOTALL)
GROUPS = {"Parallel robots and closed linkages": True, "Serial arms and other trees": False}


@cache
def mechanisms() -> dict[str, es.Mechanism]:
    return {name: es.load(name) for name in es.robots()}


def on_files(files: Files, config, **_) -> Files:
    for name in mechanisms():
        files.append(File.generated(config, f"gallery/{name}.svg", content=drawing(name)))
    return files


def on_page_markdown(markdown: str, **_) -> str:
    return PLACE.sub(lambda _: page(), markdown)


def table() -> str:
    """The mechanisms in a table, for readers of the repository."""
    rows = [
        f"| `{name}` | {headline(m.note)} | {m.dof} | {len(m.loops) or ''} |"
        for closed in GROUPS.values()
        for name, m in mechanisms().items()
        if bool(m.loops) is closed
    ]
    return "\n".join(
        ["| name | mechanism | degrees of freedom | loops |", "|---|---|---:|---:|", *rows]
    )


def pictures() -> str:
    """The committed drawings in a row, as a table."""
    images = [f"![{name}, drawn at its home configuration](images/{name}.svg)" for name in NAMES]
    rows = [[f"`{name}`" for name in NAMES], ["---"] * len(NAMES), images]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def with_table(text: str) -> str:
    """The text of the page with fresh tables between its marks."""
    return PLACE.sub(lambda _: "\n\n".join([BEGIN, pictures(), table(), END]), text)


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


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
