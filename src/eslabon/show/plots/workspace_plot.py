"""A workspace as a figure: a cloud in a plane or in space, coloured by a reciprocal condition number, singular curves on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.quantities import quantity
from eslabon.model.configuration import difference
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import COINCIDENT, NEAR_SINGULAR, ROUND_OFF
from eslabon.plotting import (
    colour_bar,
    colour_map,
    direction_name,
    drawing_plane,
    equal_axes,
    legend,
    new_figure,
    panel_title,
    saved,
)
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import conditions
from eslabon.solve.singular.singular_set import inputs, square_part
from eslabon.solve.workspace.sampled_workspace import KINDS, Workspace

GAP = 12.0  # typical distances between neighbours: a curve is not drawn across more
LOOKS = {
    "parallel": ("singular", "o"),
    "serial": ("boundary", "s"),
}  # the role of their colour, and their marks


def figure(
    space: Workspace,
    *,
    of: str | None = None,
    singular: bool = True,
    theme: str | None = None,
    path: str | Path | None = None,
) -> Any:
    """See `Workspace.plot`."""
    made = new_figure(theme, figsize=(7.2, 5.8))
    position = space.poses[:, :3, 3]
    plane = drawing_plane(position)
    ax = made.add_subplot(
        **({"projection": "3d", "computed_zorder": False} if plane is None else {})
    )
    values, label = _values(space, of or ("parallel" if space.m.closed else "serial"))
    colour_bar(ax, _cloud(ax, _shown(position, plane), values), label)
    points = [_shown(position, plane)]
    pose = evaluate(space.m, quantity(space.m, "pose"), frame=space.frame)
    for kind in KINDS if singular else ():
        q, certain = _singular(space, kind)
        if len(q):
            points.append(_shown(pose(q)[:, :3, 3], plane))
            _draw_singular(ax, space, kind, q if certain else None, points[-1])
    names = ("x", "y", "z") if plane is None else tuple(direction_name(row) for row in plane)
    equal_axes(
        ax, np.concatenate(points), tuple(f"{name} of {space.frame}" for name in names), zoom=1.0
    )
    legend(ax, "below")
    panel_title(ax, f"{space.name}: {space.reached:.0%} of {space.samples:,} samples reached")
    return saved(made, path)


def _cloud(ax: Any, points: Floats, values: Floats) -> Any:
    """The samples, those near to singular ones on top."""
    order = np.argsort(values)[::-1]
    shades = colour_map(ax.get_figure(root=True).theme)
    most = max(float(values.max(initial=0.0)), 1e-3)
    depth: Any = {"depthshade": False} if points.shape[1] == 3 else {}
    return ax.scatter(
        *points[order].T,
        c=values[order],
        s=7,
        cmap=shades,
        vmin=0.0,
        vmax=most,
        linewidths=0,
        **depth,
    )


def _singular(space: Workspace, kind: str) -> tuple[Floats, bool]:
    """Singular configurations and True; of a matrix without a determinant, such as that of an arm with a joint too many, the
    samples that are nearly singular, and False."""
    if kind == "serial" and square_part(space.m, space.frame) is None:
        return space.q[space.conditions.serial < NEAR_SINGULAR], False
    return space.singular_configurations(kind), True


def _values(space: Workspace, of: str) -> tuple[Floats, str]:
    """Reciprocal condition numbers, of that part of the twist that goes with the singular curves, and what they are called."""
    part = square_part(space.m, space.frame) or "all"
    if of == "parallel" or part == "all":
        return getattr(space.conditions, of), f"reciprocal condition number, {of} kind"
    values = conditions(space.m, space.q, space.frame, part).serial
    return values, f"reciprocal condition number, serial kind, of its {part}"


def _shown(position: Floats, plane: Floats | None) -> Floats:
    return position if plane is None else position @ plane.T


def _draw_singular(ax: Any, space: Workspace, kind: str, q: Floats | None, points: Floats) -> None:
    """Curves where two actuators move the frame in a plane; else dots, since they would be surfaces, or are only nearly so."""
    from matplotlib.collections import LineCollection

    role, marker = LOOKS[kind]
    colour = ax.get_figure(root=True).theme.role(role)
    label = f"{'nearly ' if q is None else ''}singular, {kind} kind"
    if q is not None and points.shape[1] == inputs(space.m) == 2:
        lines = list(points[_chains(space, q)])
        ax.add_collection(
            LineCollection(lines, colors=colour, linewidths=1.8, label=label, zorder=3)
        )
    else:
        ax.scatter(
            *points.T,
            s=12 if q is None else 8,
            color=colour,
            marker=marker,
            linewidths=0,
            label=label,
            zorder=3,
        )


def _chains(space: Workspace, q: Floats) -> Floats:
    """Neighbours along curves of configurations, (pairs, 2): the shortest tree through all, without its long branches, and closed
    where its two ends are neighbours."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    apart = _distances(space, q)
    tree = minimum_spanning_tree(apart).tocoo()
    far = GAP * max(float(np.median(tree.data)) if tree.nnz else 0.0, COINCIDENT)
    pairs = np.stack([tree.row, tree.col], axis=-1)[tree.data <= far]
    links = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=apart.shape)
    count, chain = connected_components(links, directed=False)
    ends = np.bincount(pairs.ravel(), minlength=len(q)) == 1
    loose = [np.flatnonzero(ends & (chain == k)) for k in range(count)]
    closing = [two for two in loose if len(two) == 2 and apart[two[0], two[1]] <= far]
    return np.concatenate([pairs, np.array(closing, dtype=int).reshape(-1, 2)])


def _distances(space: Workspace, q: Floats) -> Floats:
    """How far configurations are from one another, (n, n); a whole turn is nothing where it changes nothing."""
    m = space.m
    rows, columns = np.triu_indices(len(q), 1)
    away = difference(m, q[rows], q[columns]) * velocity_scales(m)
    if m.nq == m.nv:
        away = np.where(Ranges.of(m).turning, 2 * np.sin(away / 2), away)
    apart = np.zeros((len(q), len(q)))
    apart[rows, columns] = np.linalg.norm(away, axis=-1) + ROUND_OFF  # the tree takes zero for none
    return apart + apart.T
