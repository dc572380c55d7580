"""Workspace and singularity maps: a grid of poses, and for each pose and working mode whether the
mechanism closes, and how near to singular it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.answers import Answer, Block, Column, Message, Table, figure
from eslabon.arguments import Floats, choice, count, flag, known_words, text
from eslabon.errors import MissingDependencyError, ModelError
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.progress import Progress
from eslabon.sheets import Sheet
from eslabon.solve.coordinate_rows import POSE, POSITION
from eslabon.solve.designs import one_design
from eslabon.solve.prescribed import actuated
from eslabon.solve.singular.conditions import PARTS
from eslabon.solve.singular.singular_set import square_part
from eslabon.solve.workspace.map_builder import MapBuilder, MapRequest
from eslabon.solve.workspace.map_conditions import condition_matrices
from eslabon.solve.workspace.map_grid import SETTINGS as GRID_SETTINGS
from eslabon.solve.workspace.map_grid import MapGrid, map_grid
from eslabon.solve.workspace.pose_coordinates import constant_turns

KINDS = ("parallel", "serial")
COLUMNS = ("closes", "within_limits", "parallel", "serial", "sign", "serial_sign")
LEAST_REGION = 10  # cells: fewer, at the ends of singular curves, count as no region


@dataclass(frozen=True, eq=False, repr=False)
class WorkspaceMap(Answer):
    """A regular grid over coordinates of a frame's pose, or of joints, by working mode (the
    branches of the inverse kinematics).

    Arrays have an axis for the modes, then one for each coordinate. Poses are the centres of equal
    cells that fill the ranges.

    Attributes
    ----------
    modes : the modes by name: the signs of the determinants of groups of joints, as `mode_joints`
        has them, such as legs.
    axes : the values along each coordinate, by name.
    closes : whether the loops close there.
    within_limits : whether they do with every joint within its limits.
    parallel, serial : reciprocal condition numbers, as `conditions` gives them of the `part` of the
        frame's twist; NaN where it does not close.
    sign, serial_sign : the signs of both determinants, 0 where it does not close or is singular.
    layers : the coordinates of the frame's pose that the map does not prescribe and that change, by
        name: parasitic motions, such as x, y and yaw of a 3-PRS robot over z, roll and pitch; NaN
        where it does not close.
    square : whether the matrix from the actuators' rates to the twist has a determinant, so that
        serial_sign means something.
    limits : whether the limits of joints count in what is reached.
    driven : whether all joints that it is over are actuated.
    q : configurations, NaN where it does not close, if they were asked for.

    >>> import eslabon as es
    >>> over = {"x": (-0.1, 0.2), "y": (-0.15, 0.15)}
    >>> found = es.load("five_bar").workspace_map(over=over, shape=60)
    >>> sorted(found.modes), found.closes.shape, round(found.area, 5)
    (['++', '+-', '-+', '--'], (4, 60, 60), 0.0158)
    """

    name: str
    frame: str
    part: str
    square: bool
    grid: MapGrid
    modes: tuple[str, ...]
    mode_joints: tuple[tuple[str, ...], ...]
    closes: NDArray[np.bool_]
    within_limits: NDArray[np.bool_]
    parallel: Floats
    serial: Floats
    sign: NDArray[np.int8]
    serial_sign: NDArray[np.int8]
    limits: bool
    driven: bool
    layers: Mapping[str, Floats] = field(default_factory=dict)
    q: Floats | None = None

    # -- what it is over ---------------------------------------------------------------------------

    @property
    def axes(self) -> Mapping[str, Floats]:
        names = (name for name, _, _ in self.grid.ranges)
        return MappingProxyType(dict(zip(names, self.grid.axes, strict=True)))

    @property
    def fixed(self) -> Mapping[str, float]:
        """The coordinates that have one value in the whole map."""
        pairs = zip(self.grid.names, self.grid.fixed, strict=True)
        return MappingProxyType({name: x for name, x in pairs if not np.isnan(x)})

    @property
    def resolution(self) -> Mapping[str, float]:
        """The sides of a cell, by coordinate."""
        return MappingProxyType(dict(zip(self.axes, self.grid.steps, strict=True)))

    def unit(self, name: str) -> str:
        """The unit of a coordinate or a layer: "m" or "rad"."""
        known_words([name], (*self.grid.names, *self.layers), "the map has no coordinate")
        if name in POSE:
            return "m" if name in POSITION else "rad"
        return self.grid.units[self.grid.names.index(name)]

    def mode(self, name: str) -> WorkspaceMap:
        """The map of one mode alone."""
        known_words([text(name, "mode")], self.modes, f"this map of {self.name} has no mode")
        k = self.modes.index(name)
        return replace(self._of(slice(k, k + 1)), modes=(name,))

    def slice(self, **at: float) -> WorkspaceMap:
        """The map over two of its three coordinates: the poses nearest to a value of the third."""
        if len(at) != 1 or len(self.axes) != 3:
            raise ModelError("slice takes one coordinate of a map over three, as in slice(z=0.1).")
        ((name, value),) = at.items()
        known_words([name], self.axes, f"this map of {self.name} is not over")
        place, axis = list(self.axes).index(name), self.axes[name]
        k = int(np.argmin(np.abs(axis - value)))
        values = zip(self.grid.names, self.grid.fixed, strict=True)
        grid = replace(
            self.grid,
            fixed=tuple(float(axis[k]) if n == name else x for n, x in values),
            ranges=tuple(r for r in self.grid.ranges if r[0] != name),
            shape=tuple(n for i, n in enumerate(self.grid.shape) if i != place),
        )
        return replace(self._of((slice(None),) * (place + 1) + (k,)), grid=grid)

    def _of(self, part: Any) -> WorkspaceMap:
        """Some modes, or some poses, of all arrays."""
        arrays = {name: getattr(self, name)[part] for name in COLUMNS}
        layers = {name: x[part] for name, x in self.layers.items()}
        q = None if self.q is None else self.q[part]
        return replace(self, **arrays, layers=MappingProxyType(layers), q=q)

    # -- how large, how well -----------------------------------------------------------------------

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Where each mode closes, within the limits of the joints if these count."""
        return self.closes & self.within_limits if self.limits else self.closes

    @property
    def area(self) -> float:
        """What the poses reached in any mode fill of the plane of two coordinates, in the product
        of their units, to `resolution`: the number of cells times the area of one."""
        return self._filled(2, "area", "volume")

    @property
    def volume(self) -> float:
        """What the poses reached in any mode fill of the space of three coordinates, as `area`."""
        return self._filled(3, "volume", "area")

    def _filled(self, axes: int, what: str, other: str) -> float:
        if len(self.axes) != axes:
            raise ModelError(
                f"a map over {len(self.axes)} coordinates has no {what}; ask for its {other}."
            )
        return self._size(self.reached.any(axis=0))

    def _size(self, poses: NDArray[np.bool_] | np.bool_) -> float:
        return float(np.count_nonzero(poses) * np.prod(self.grid.steps))

    @property
    def dexterity(self) -> float:
        """The global conditioning index (Gosselin and Angeles, 1991): the mean, over all poses
        reached in all modes, of the reciprocal condition number from the actuators' rates to the
        frame's twist, which is `serial`."""
        return float(self.serial[self.reached].mean()) if self.reached.any() else 0.0

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """For each mode the regions without a singular configuration inside, numbered from 1, the
        largest first; 0 where it is not reached, or is singular. Two poses of one region are joined
        by a motion that keeps both determinants' signs, as far as the grid tells."""
        from eslabon.solve.workspace.map_curves import regions

        modes = zip(self.reached, self.sign, self.serial_sign, strict=True)
        numbers = np.zeros(self.closes.shape, dtype=np.int32)
        for own, (reached, *signs) in zip(numbers, modes, strict=True):
            own[...] = regions(reached, *signs)
        return numbers

    # -- singular ----------------------------------------------------------------------------------

    def singular_curves(self, kind: str, mode: str | None = None) -> list[Floats]:
        """Curves of singular poses of the "parallel" or "serial" kind in a map over two
        coordinates, of one mode or, left out, of all: a list of points `(k, 2)` for each.

        They are where the sign of the determinant changes, and the border of where the mechanism
        closes, if that is of a kind: legs are stretched or folded (serial), or, in a map over the
        actuated joints, the loops cannot follow (parallel). Of a twist that has more components
        than there are actuators, or fewer, the border alone is known of the serial kind.
        """
        from eslabon.solve.workspace.map_curves import border_curves, sign_curves

        if len(self.axes) != 2:
            raise ModelError(
                "singular_curves are of a map over two coordinates; take a slice of this one first, "
                "as in slice(z=0.1)."
            )
        choice(kind, "kind", KINDS)
        own = self if mode is None else self.mode(mode)
        curves: list[Floats] = []
        for k in range(len(own.modes)):
            for value in own._signed(kind, k):
                curves += sign_curves(self.grid.axes, value)
            if kind == self.border_kind:
                value = getattr(own, kind)[k]
                if (
                    kind == "parallel"
                ):  # so that its square vanishes as the distance to the border does
                    value = value / np.sqrt(np.maximum(1 - value**2, np.finfo(float).eps))
                curves += border_curves(self.grid.axes, own.closes[k], value)
        return curves

    def _signed(self, kind: str, k: int) -> Iterator[Floats]:
        """Numbers that go through zero where a mode is singular, NaN where they tell nothing. At a
        parallel singularity the map from the actuators' rates to the twist grows beyond bounds, and
        its determinant may change its sign without being zero: so the serial kind is looked for on
        each side alone."""
        if kind == "parallel":
            yield np.where(self.closes[k], self.parallel[k] * self.sign[k], np.nan)
        elif self.square:
            for side in (-1, 1):
                at = self.closes[k] & (self.sign[k] == side)
                yield np.where(at, self.serial[k] * self.serial_sign[k], np.nan)

    @property
    def border_kind(self) -> str | None:
        """The kind of singularity at the border of where the mechanism closes: serial of a map over
        poses, parallel of one over the actuated joints, and none where other joints, or joints and
        poses together, are prescribed."""
        if not self.grid.problem.held:
            return "serial"
        return "parallel" if self.driven and not self.grid.pose else None

    # -- tables and figures ------------------------------------------------------------------------

    def contents(self) -> Iterator[Block]:
        yield self._modes_table()
        yield Message(
            "Working modes are found by a search, which does not prove that there are no others."
        )

    def _modes_table(self) -> Table:
        rows = []
        for k, name in enumerate(self.modes):
            at, own = self.reached[k], self.mode(name)
            least = [float(np.min(x[k][at], initial=1.0)) for x in (self.parallel, self.serial)]
            sizes = np.bincount(self.components[k].ravel())[1:]
            large = int(np.count_nonzero(sizes >= LEAST_REGION))
            ranges = [(float(x[k][at].min()), float(x[k][at].max())) for x in self.layers.values()]
            rows.append((name, self._size(at), own.dexterity, *least, large, *ranges))
        columns = (
            Column("mode"),
            Column("area" if len(self.axes) == 2 else "volume", self._measure),
            *map(Column, ("dexterity", "least parallel", "least serial", "regions")),
            *(Column(f"{name} from, to", self.unit(name)) for name in self.layers),
        )
        return Table(columns, rows, caption=self._about)

    def table(self) -> Sheet:
        """A row for each mode: its area or volume, dexterity, the least reciprocal condition
        numbers, how many regions without singular configurations it has, of ten cells or more, and
        the range of each layer."""
        return Sheet.from_table(self._modes_table())

    @property
    def _measure(self) -> str:
        """The unit of what poses fill."""
        units = [self.unit(name) for name in self.axes]
        powers = {u: units.count(u) for u in dict.fromkeys(units)}
        return " ".join(f"{u}{n if n > 1 else ''}" for u, n in powers.items())

    @property
    def _about(self) -> str:
        steps = " x ".join(f"{x:.3g} {self.unit(name)}" for name, x in self.resolution.items())
        held = ", ".join(
            f"{name} = {x + 0.0:.4g} {self.unit(name)}" for name, x in self.fixed.items()
        )
        return f"cells of {steps}" + (f"; {held}" if held else "")

    def to_arrow(self) -> Any:
        """A pyarrow.Table with a row for each mode and pose: the mode, the coordinates, and what
        the map says there, its layers too."""
        try:
            import pyarrow
        except ImportError:
            raise MissingDependencyError(
                "to_arrow needs pyarrow; install it with pip install 'eslabon[sweep]'."
            ) from None
        shape = self.closes.shape
        columns: dict[str, Any] = {"mode": np.repeat(self.modes, self.grid.size)}
        for name, x in zip(self.axes, np.meshgrid(*self.grid.axes, indexing="ij"), strict=True):
            columns[name] = np.broadcast_to(x, shape).ravel()
        columns |= {name: getattr(self, name).ravel() for name in COLUMNS}
        return pyarrow.table(columns | {name: x.ravel() for name, x in self.layers.items()})

    def plot(
        self,
        kind: str | None = None,
        mode: str | None = None,
        *,
        singular: bool = True,
        theme: str | None = None,
        path: str | Path | None = None,
    ) -> Any:
        """A matplotlib figure of each mode, or of one: coloured by the reciprocal condition number
        of the "parallel" or "serial" `kind` (serial, which is dexterity, if left out) or by a layer
        such as "yaw", grey where it does not close, hatched beyond limits, with curves of singular
        configurations of both kinds. Of a map over three coordinates there are slices. `theme` is
        "light" or "dark"; with a `path` the figure is written too, as .png, .svg or .pdf."""
        of = "serial" if kind is None else choice(kind, "kind", (*KINDS, *self.layers))
        own = self if mode is None else self.mode(mode)
        return figure(own, of=of, singular=flag(singular, "singular"), theme=theme, path=path)

    def __repr__(self) -> str:
        filled = f"{self._size(self.reached.any(axis=0)):.3g} {self._measure} reached"
        modes = f"{len(self.modes)} working mode{'s' * (len(self.modes) != 1)}"
        over = ", ".join(f"{name} {n}" for n, name in zip(self.grid.shape, self.axes, strict=True))
        return (
            f"<WorkspaceMap of {self.name}: {over}; {modes}, {filled} ({self._about}), "
            f"dexterity {self.dexterity:.2g}>"
        )


def workspace_map(
    m: Model,
    frame: str | None = None,
    over: Any = None,
    shape: Any = None,
    modes: Any = "all",
    *,
    part: str | None = None,
    limits: bool = True,
    configurations: bool = False,
    parameters: Mapping[str, float] | None = None,
    most: int = GRID_SETTINGS.poses,
    progress: bool | None = None,
    threads: int | None = None,
) -> WorkspaceMap:
    """See `Mechanism.workspace_map`."""
    limits, configurations = flag(limits, "limits"), flag(configurations, "configurations")
    most = count(most, "most", 1)
    threads = None if threads is None else count(threads, "threads", 1)
    m = one_design(m, parameters, "workspace_map")
    _check(m)
    grid = map_grid(m, frame if frame is None else text(frame, "frame"), over, shape, most)
    frame = grid.frame
    part = _usual_part(m, grid) if part is None else choice(part, "part", PARTS)
    shown = progress if progress is None else flag(progress, "progress")
    with Progress(f"map of {m.name}", shown) as bar:
        builder = MapBuilder(m, grid, MapRequest(part, limits, configurations, threads), bar)
        found = builder.modes(modes)
    first = next(iter(found.values()))
    arrays = {y: np.stack([x[y] for x in found.values()]) for y in first}
    layers = MappingProxyType({name: arrays.pop(name) for name in builder.following})
    names = velocity_names(m)
    return WorkspaceMap(
        name=m.name,
        frame=frame,
        part=part,
        square=condition_matrices(m, frame, part).square,
        grid=grid,
        modes=tuple(found),
        mode_joints=tuple(
            tuple(names[k] for k in own) for own in builder.blocks.columns if len(own) > 1
        ),
        limits=limits,
        driven={*grid.problem.coordinates(m)} <= {*actuated(m).coordinates(m)},
        layers=layers,
        **arrays,
    )


def _check(m: Model) -> None:
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time; ask for the map of m.at_time(t)."
        )
    if not m.nv or not m.actuated:
        raise ModelError(
            f"{m.name} has no actuated joints, so that no configuration of it is nearer to singular "
            "than another; actuate some."
        )


def _usual_part(m: Model, grid: MapGrid) -> str:
    """The part of the twist that as many actuators move and that has all coordinates of the map."""
    frame, pose = grid.frame, {*grid.pose}
    part = square_part(m, frame)
    without = {
        "translation": {*POSE} - {*POSITION, *constant_turns(m, frame)},
        "rotation": {*POSITION},
    }
    return "all" if part is None or pose & without.get(part, set()) else part
