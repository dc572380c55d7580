"""The mechanisms whose drawings are compared with pictures; run, by `make pictures`, it makes the pictures again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.text import Text

import eslabon as es

IMAGES = Path(__file__).with_name("images")
# Planar and spatial, open and closed, with what can be drawn besides. Letters are left out: versions of
# matplotlib set them otherwise.
LIBRARY: dict[str, dict[str, Any]] = {
    "five_bar": {"coms": True},
    "planar_3rrr": {"theme": "dark"},
    "slider_crank": {},
    "excavator": {},
    "four_bar_spring": {"theme": "dark", "reactions": True},
    "stewart_gough": {},
    "delta": {"theme": "dark"},
    "puma560": {"external": {"tool": [0.0, 0.0, 1.0, 0.0, 3.0, 0.0]}},
    "scara": {"view": (30, -50), "frames": False},
    "spatial_four_bar": {"coms": True},
}
KINDS: dict[str, dict[str, Any]] = {
    "revolute": {"axis": "z"}, "prismatic": {"axis": "x"}, "helical": {"axis": "z", "pitch": 0.02}, "cylindrical": {"axis": "z"},
    "universal": {}, "spherical": {}, "planar": {"axis": "z"}, "free": {}, "fixed": {},
}  # fmt: skip
CUTS: dict[str, dict[str, Any]] = {
    "revolute": {"axis": "z"}, "prismatic": {"axis": "x"}, "cylindrical": {"axis": "x"}, "universal": {}, "spherical": {},
    "planar": {"axis": "z"}, "fixed": {}, "distance": {"length": 0.3}, "point_on_plane": {},
}  # fmt: skip


def every_kind() -> es.Mechanism:
    """A body on the ground by each kind of joint, and a shape."""
    b = es.Builder("every_kind")
    for k, (kind, more) in enumerate(KINDS.items()):
        at = (0.4 * (k % 3), 0.5 * (k // 3), 0)
        b.body(f"body{k}", mass=1.0, com=(0, 0.1, 0.2)).joint(
            kind, kind, "ground", f"body{k}", at=at, **more
        )
        b.frame(f"end{k}", f"body{k}", (0, 0.1, 0.25))
    return b.shape(
        "cap", "body5", "box", (0.1, 0.2, 0.15), at=(0, 0, 0.1), colour="#e69f00"
    ).build()


def every_cut() -> es.Mechanism:
    """A planar mechanism with a cut joint or constraint of each kind, and joints of all that stay in the plane."""
    b, tree = (
        es.Builder("every_cut", gravity=(0, -9.81, 0)),
        ["revolute", "prismatic", "planar", "fixed"],
    )
    for k, (kind, more) in enumerate(CUTS.items()):
        inner = tree[k % len(tree)]
        axis = {} if inner == "fixed" else {"axis": "y" if inner == "prismatic" else "z"}
        b.body(f"arm{k}", mass=1.0).joint(
            f"pin{k}", "revolute", "ground", f"arm{k}", at=(0.5 * (k % 5), k // 5, 0)
        )
        b.body(f"hand{k}", mass=1.0).joint(
            f"{inner}{k}", inner, f"arm{k}", f"hand{k}", at=(0, 0.4, 0), **axis
        )
        b.loop(
            kind,
            kind,
            f"hand{k}",
            "ground",
            (0.2, 0.1, 0),
            (0.5 * (k % 5) + 0.2, k // 5 + 0.5, 0),
            **more,
        )
    b.shape("disc", "hand0", "cylinder", (0.05, 0.02), at=(0.1, 0.05, 0), colour="#e69f00")
    return b.actuate("pin0", "pin4").build()


def picture(name: str) -> Any:
    """The figure of a name: of the library, or one of the two above."""
    made = {"every_kind": every_kind, "every_cut": every_cut}
    m = made[name]() if name in made else es.load(name)
    q = m.home() if name in made else None
    figure = m.plot(q, title="", size=(3.6, 3.2), **LIBRARY.get(name, {}))
    figure.axes[0].set_axis_off()
    for words in figure.findobj(Text):
        words.set_text("")
    return figure


NAMES = [*LIBRARY, "every_kind", "every_cut"]

if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name in NAMES:
        picture(name).savefig(IMAGES / f"{name}.png", dpi=70)
