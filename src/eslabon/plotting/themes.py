"""The colours of figures: one palette, the roles that things have in drawings, and a light and a dark theme.

The palette is that of Okabe and Ito (Color Universal Design, 2008): with any of the common deficiencies of colour vision its
colours stay apart. What a colour says is said by a second sign too (a dash, a label, a symbol).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from eslabon.arguments import choice, count
from eslabon.errors import InputError, format_value

PALETTE: Mapping[str, str] = MappingProxyType({
    "blue": "#0072b2", "vermillion": "#d55e00", "green": "#009e73", "purple": "#cc79a7", "orange": "#e69f00",
    "sky": "#56b4e9", "yellow": "#f0e442", "black": "#000000",
})  # fmt: skip

DASHES = (
    "-",
    (0, (5, 2)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (1, 1.2)),
)  # of curves beyond the number of colours
VARIABLE = "ESLABON_THEME"  # of the environment: the theme of a session that sets none


@dataclass(frozen=True, eq=False)
class Theme:
    """What figures are made of: paper, ink, quiet ink for what stands aside, lines of the grid; colours of curves, in order, and
    of roles; and the part (least, most) of the map viridis that stands out from the paper.

    >>> import eslabon as es
    >>> es.plotting.LIGHT.name, es.plotting.DARK.paper
    ('light', '#14181d')
    """

    name: str
    paper: str
    ink: str
    quiet: str
    grid: str
    curves: tuple[str, ...]
    roles: Mapping[str, str]
    shades: tuple[float, float]

    def curve(self, k: int) -> dict[str, Any]:
        """Colour and dashes of the curve number k: after the last colour the first comes again, dashed."""
        turn, place = divmod(count(k, "k"), len(self.curves))
        return {"color": self.curves[place], "linestyle": DASHES[turn % len(DASHES)]}

    def role(self, name: str) -> str:
        """The colour of a role: "link", "actuated", "force", ...

        >>> LIGHT.role("actuated")
        '#d55e00'
        """
        return self.roles[choice(name, "a role", self.roles)]

    def __reduce__(self) -> tuple[Any, ...]:
        """A figure that was put away has the same theme when it is taken out."""
        return theme_of, (self.name,)

    @cached_property
    def parameters(self) -> Any:
        """As parameters of matplotlib."""
        from cycler import cycler

        text = dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor"), self.ink)
        lines = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), self.quiet)
        papers = dict.fromkeys(
            ("figure.facecolor", "savefig.facecolor", "axes.facecolor", "legend.facecolor"),
            self.paper,
        )
        panes = dict.fromkeys((f"axes3d.{x}axis.panecolor" for x in "xyz"), self.paper)
        return {**SHAPES, **text, **lines, **papers, **panes, "xtick.labelcolor": self.ink, "ytick.labelcolor": self.ink,
            "grid.color": self.grid, "legend.edgecolor": self.grid, "axes.prop_cycle": cycler(color=self.curves),
            "hatch.color": self.quiet, "patch.edgecolor": self.ink}  # fmt: skip


# What both themes share: letters, grid, spines, lines, and files that are the same from run to run.
SHAPES: Mapping[str, Any] = MappingProxyType({
    "font.family": "sans-serif", "font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left", "axes.labelsize": 9,
    "figure.titlesize": 10, "legend.fontsize": 8, "xtick.labelsize": 8, "ytick.labelsize": 8, "axes.grid": True,
    "grid.linewidth": 0.8, "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.8, "legend.frameon": False, "legend.handlelength": 1.6, "lines.linewidth": 1.5,
    "axes.formatter.useoffset": False, "axes.formatter.limits": (-4, 5), "axes.unicode_minus": True,
    "svg.fonttype": "none", "svg.hashsalt": "eslabon", "pdf.fonttype": 42,
})  # fmt: skip

# What things are in drawings: their colours on light and on dark paper.
ROLES: Mapping[str, tuple[str, str]] = MappingProxyType({
    "link": ("#6b7f93", "#8ea3b8"),
    "joint": ("#26323d", "#dfe6ec"),
    "actuated": (PALETTE["vermillion"], PALETTE["vermillion"]),
    "cut": (PALETTE["blue"], PALETTE["sky"]),
    "ground": ("#37424e", "#a9b4be"),
    "force": (PALETTE["purple"], PALETTE["purple"]),
    "reaction": (PALETTE["green"], PALETTE["green"]),
    "com": ("#1c2733", PALETTE["yellow"]),
    "spring": (PALETTE["green"], PALETTE["green"]),
    "coupling": (PALETTE["purple"], PALETTE["purple"]),
    "path": (PALETTE["orange"], PALETTE["orange"]),
    "ghost": ("#b9c5d0", "#4d5b68"),
    "singular": (PALETTE["vermillion"], PALETTE["vermillion"]),
    "boundary": (PALETTE["purple"], PALETTE["purple"]),
    "limit": ("#1c2733", "#e8edf2"),
    "x": (PALETTE["vermillion"], PALETTE["vermillion"]),
    "y": (PALETTE["green"], PALETTE["green"]),
    "z": (PALETTE["blue"], PALETTE["sky"]),
})  # fmt: skip


def _colours(*names: str) -> tuple[str, ...]:
    return tuple(PALETTE[name] for name in names)


LIGHT = Theme("light", "#ffffff", "#1c2733", "#5c6b7a", "#e3e8ed", (*_colours("blue", "vermillion", "green", "purple", "orange", "sky"), "#1c2733"),
    MappingProxyType({name: colours[0] for name, colours in ROLES.items()}), (0.0, 0.94))  # fmt: skip
DARK = Theme("dark", "#14181d", "#e8edf2", "#a9b4be", "#303841", (*_colours("sky", "orange", "green", "purple", "vermillion", "yellow"), "#e8edf2"),
    MappingProxyType({name: colours[1] for name, colours in ROLES.items()}), (0.24, 1.0))  # fmt: skip
THEMES: Mapping[str, Theme] = MappingProxyType({"light": LIGHT, "dark": DARK})

_session: list[str] = []  # the name that set_theme was given last


def set_theme(name: str | None) -> None:
    """The theme of all figures of this session that are not told theirs; None for that of the environment's ESLABON_THEME, else
    light.

    >>> set_theme("dark")
    >>> theme_of().name
    'dark'
    >>> set_theme(None)
    """
    _session[:] = [] if name is None else [choice(name, "theme", THEMES)]


def theme_of(name: str | Theme | None = None) -> Theme:
    """The theme of that name; the session's if left out.

    >>> theme_of("dark").paper
    '#14181d'
    >>> theme_of("dakr")
    Traceback (most recent call last):
    ...
    eslabon.errors.ModelError: theme is 'light' or 'dark'; it is 'dakr'; did you mean 'dark'?
    """
    if isinstance(name, Theme):
        return name
    if name is None:
        if not _session:
            return THEMES[choice(os.environ.get(VARIABLE) or "light", VARIABLE, THEMES)]
        name = _session[0]
    return THEMES[choice(name, "theme", THEMES)]


def theme_at(ax: Any) -> Theme:
    """The theme of the figure that has these axes; the session's if it is a figure of somebody else.

    >>> import eslabon as es
    >>> figure, (axes,) = es.plotting.panels(1, theme="dark")
    >>> es.plotting.theme_at(axes).name
    'dark'
    """
    if not hasattr(ax, "get_figure"):
        raise InputError(
            f"ax are the axes of a figure, as es.plotting.panels gives them; it is {format_value(ax)}."
        )
    theme = getattr(ax.get_figure(root=True), "theme", None)
    return theme if isinstance(theme, Theme) else theme_of()
