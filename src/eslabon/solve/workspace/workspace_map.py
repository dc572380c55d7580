"""Workspace and singularity maps: a grid of poses, and for each pose and working mode whether the mechanism closes, and how well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from eslabon.answers import figure
from eslabon.arguments import Floats, choice, count, flag, known_words, text
from eslabon.displays import displayed
from eslabon.errors import AssemblyError, MissingDependencyError, ModelError
from eslabon.model import Model
from eslabon.model.configuration import difference, velocity_names
from eslabon.pages import table
from eslabon.pages.notebook import drawn
from eslabon.plotting import saved
from eslabon.progress import Progress
from eslabon.sheets import Sheet
from eslabon.solve.assembly.prescription import home
from eslabon.solve.designs import one_design
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import PARTS
from eslabon.solve.singular.singular_set import square_part
from eslabon.solve.workspace.map_branches import Branch, Steps, fill_holes, lattices, spread
from eslabon.solve.workspace.map_conditions import driving, judged
from eslabon.solve.workspace.map_grid import MapGrid, map_grid, values_at
from eslabon.solve.workspace.pose_equations import checked_blocks
from eslabon.solve.workspace.working_modes import chosen, coincide, named, working_modes

KINDS = ("parallel", "serial")
COLUMNS = ("closes", "within_limits", "parallel", "serial", "sign", "serial_sign")
MOST = 4_000_000  # poses
TELLING = 10  # cells: fewer, on the grid, at the ends of singular curves, are counted as no region
FINE = {
    2: 48,
    3: 16,
}  # poses along a coordinate, at least, of the grid that branches are followed on
LANES = 1 << 17


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class WorkspaceMap:
    """A regular grid over coordinates of a frame's pose, or of joints, by working mode (the branches of the inverse kinematics).

    Arrays have an axis for the modes, then one for each coordinate. Poses are the centres of equal cells that fill the ranges.

    Attributes
    ----------
    modes : the modes by name: the signs of the determinants of groups of joints, as `mode_joints` has them, such as legs.
    axes : the values along each coordinate, by name.
    closes : whether the loops close there.
    within_limits : whether they do with every joint within its limits.
    parallel, serial : reciprocal condition numbers, as `conditions` gives them of the `part` of the frame's twist; NaN where it does not close.
    sign, serial_sign : the signs of both determinants, 0 where it does not close or is singular.
    square : whether the matrix from the actuators' rates to the twist has a determinant, so that serial_sign means something.
    limits : whether the limits of joints count in what is reached.
    driven : whether all joints that it is over are actuated.
    q : configurations, NaN where it does not close, if they were asked for.

    >>> import eslabon as es
    >>> found = es.load("five_bar").workspace_map(over={"x": (-0.1, 0.2), "y": (-0.15, 0.15)}, shape=60)
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
    closes: Any
    within_limits: Any
    parallel: Floats
    serial: Floats
    sign: Any
    serial_sign: Any
    limits: bool
    driven: bool
    q: Floats | None = None

    # -- what it is over ----------------------------------------------------------------------------------------------------

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
        """The unit of a coordinate: "m" or "rad"."""
        known_words([name], self.grid.names, "the map has no coordinate")
        return self.grid.units[self.grid.names.index(name)]

    def mode(self, name: str) -> WorkspaceMap:
        """The map of one mode alone."""
        known_words([text(name, "mode")], self.modes, f"this map of {self.name} has no mode")
        return self._of(slice(k := self.modes.index(name), k + 1))

    def slice(self, **at: float) -> WorkspaceMap:
        """The map over two of its three coordinates: the poses nearest to a value of the third."""
        if len(at) != 1 or len(self.axes) != 3:
            raise ModelError("slice takes one coordinate of a map over three, as in slice(z=0.1).")
        ((name, value),) = at.items()
        known_words([name], self.axes, f"this map of {self.name} is not over")
        place, axis = list(self.axes).index(name), self.axes[name]
        k = int(np.argmin(np.abs(axis - value)))
        fixed = tuple(
            float(axis[k]) if n == name else x
            for n, x in zip(self.grid.names, self.grid.fixed, strict=True)
        )
        ranges = tuple(r for r in self.grid.ranges if r[0] != name)
        shape = tuple(n for i, n in enumerate(self.grid.shape) if i != place)
        taken = self._of((slice(None),) * (place + 1) + (k,))
        return replace(
            taken,
            grid=replace(self.grid, fixed=fixed, ranges=ranges, shape=shape),
            modes=self.modes,
        )

    def _of(self, part: Any) -> WorkspaceMap:
        """Some modes, or some poses, of all arrays."""
        taken = {
            name: x[part] for name in (*COLUMNS, "q") if (x := getattr(self, name)) is not None
        }
        return replace(
            self, modes=self.modes[part] if isinstance(part, slice) else self.modes, **taken
        )

    # -- how large, how well --------------------------------------------------------------------------------------------------

    @property
    def reached(self) -> Any:
        """Where each mode closes, within the limits of the joints if these count."""
        return self.closes & self.within_limits if self.limits else self.closes

    @property
    def area(self) -> float:
        """What the poses reached in any mode fill of the plane of two coordinates, in the product of their units, to `resolution`: the
        number of cells times that of one."""
        return self._filled(2, "area")

    @property
    def volume(self) -> float:
        """What the poses reached in any mode fill of the space of three coordinates, as `area`."""
        return self._filled(3, "volume")

    def _filled(self, axes: int, what: str) -> float:
        if len(self.axes) != axes:
            other = {2: "volume", 3: "area"}[axes]
            raise ModelError(
                f"a map over {len(self.axes)} coordinates has no {what}; ask for its {other}."
            )
        return float(np.count_nonzero(self.reached.any(axis=0)) * np.prod(self.grid.steps))

    @property
    def dexterity(self) -> float:
        """The global conditioning index (Gosselin and Angeles, 1991): the mean, over all poses reached in all modes, of the
        reciprocal condition number from the actuators' rates to the frame's twist, which is `serial`."""
        return float(self.serial[self.reached].mean()) if self.reached.any() else 0.0

    @cached_property
    def components(self) -> Any:
        """For each mode the regions without a singular configuration inside, numbered from 1, the largest first; 0 where it is not
        reached, or is singular. Two poses of one region are joined by a motion that keeps both determinants' signs, as far as the grid tells."""
        from scipy.ndimage import label

        made = np.zeros(self.closes.shape, dtype=np.int32)
        for mine, reached, *signs in zip(
            made, self.reached, self.sign, self.serial_sign, strict=True
        ):
            last = 0
            for both in ((a, b) for a in (-1, 1) for b in (-1, 1)):
                numbered, more = label(reached & (signs[0] == both[0]) & (signs[1] == both[1]))
                mine[numbered > 0] = numbered[numbered > 0] + last
                last += more
            order = np.argsort(-np.bincount(mine.ravel(), minlength=last + 1)[1:], kind="stable")
            place = np.zeros(last + 1, dtype=np.int32)
            place[1 + order] = 1 + np.arange(last)
            mine[...] = place[mine]
        return made

    # -- singular -------------------------------------------------------------------------------------------------------------

    def singular_curves(self, kind: str, mode: str | None = None) -> list[Floats]:
        """Curves of singular poses of the "parallel" or "serial" kind in a map over two coordinates, of one mode or, left out, of all:
        a list of points `(k, 2)` for each.

        They are where the sign of the determinant changes, and the border of where the mechanism closes, if that is of a kind: legs are
        stretched or folded (serial), or, in a map over the actuated joints, the loops cannot follow (parallel). Of a twist that has more
        components than there are actuators, or fewer, the border alone is known of the serial kind.
        """
        from eslabon.solve.workspace.map_curves import border_curves, sign_curves

        if len(self.axes) != 2:
            raise ModelError("singular_curves are of a map over two coordinates; take a slice of this one first, as in slice(z=0.1).")  # fmt: skip
        choice(kind, "kind", KINDS)
        own = self if mode is None else self.mode(mode)
        made: list[Floats] = []
        for k in range(len(own.modes)):
            for value in own._signed(kind, k):
                made += sign_curves(self.grid.axes, value)
            if kind == self.border_kind:
                made += border_curves(self.grid.axes, own.closes[k], getattr(own, kind)[k])
        return made

    def _signed(self, kind: str, k: int) -> Iterator[Floats]:
        """Numbers that go through zero where a mode is singular, NaN where they tell nothing. At a parallel singularity the map from the
        actuators' rates to the twist grows beyond bounds, and its determinant may change its sign without being zero: so the serial kind is
        looked for on each side alone."""
        if kind == "parallel":
            yield np.where(self.closes[k], self.parallel[k] * self.sign[k], np.nan)
        elif self.square:
            for side in (-1, 1):
                yield np.where(
                    self.closes[k] & (self.sign[k] == side),
                    self.serial[k] * self.serial_sign[k],
                    np.nan,
                )

    @property
    def border_kind(self) -> str | None:
        """The kind of singularity at the border of where the mechanism closes: serial of a map over poses, parallel of one over the
        actuated joints, and none where other joints, or joints and poses together, are prescribed."""
        pose, joints = self.grid.asked.pose, len(self.grid.names) - len(self.grid.asked.pose)
        return "serial" if not joints else "parallel" if self.driven and not pose else None

    # -- tables and figures -----------------------------------------------------------------------------------------------------

    def table(self) -> Sheet:
        """A row for each mode: its area or volume, dexterity, the least reciprocal condition numbers, and how many regions without
        singular configurations it has, of ten cells or more."""
        rows = []
        for k, name in enumerate(self.modes):
            at = self.reached[k]
            fill = float(np.count_nonzero(at) * np.prod(self.grid.steps))
            least = [float(np.min(x[k][at], initial=1.0)) for x in (self.parallel, self.serial)]
            regions = int(np.count_nonzero(np.bincount(self.components[k].ravel())[1:] >= TELLING))
            rows.append((name, fill, self.mode(name).dexterity, *least, regions))
        what = f"{'area' if len(self.axes) == 2 else 'volume'} [{self._measure}]"
        heads = ("mode", what, "dexterity", "least parallel", "least serial", "regions")
        return Sheet("", heads, rows, self._about)

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
        """A pyarrow.Table with a row for each mode and pose: the mode, the coordinates, and what the map says there."""
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
        for name in COLUMNS:
            columns[name] = getattr(self, name).ravel()
        return pyarrow.table(columns)

    def plot(
        self, kind: str | None = None, mode: str | None = None, *, singular: bool = True, theme: str | None = None,
        path: str | Path | None = None,
    ) -> Any:  # fmt: skip
        """A matplotlib figure of each mode, or of one: coloured by the reciprocal condition number of the "parallel" or "serial" `kind`
        (serial, which is dexterity, if left out), grey where it does not close, hatched beyond limits, with curves of singular
        configurations of both kinds. Of a map over three coordinates there are slices. `theme` is "light" or "dark"; with a `path` the
        figure is written too, as .png, .svg or .pdf."""
        own = self if mode is None else self.mode(mode)
        of = "serial" if kind is None else choice(kind, "kind", KINDS)
        return saved(figure(own, of=of, singular=flag(singular, "singular"), theme=theme), path)

    def _pieces(self) -> Iterator[str]:
        yield from drawn(self.plot)
        yield table(self.table())

    def __repr__(self) -> str:
        filled = f"{self.area if len(self.axes) == 2 else self.volume:.3g} {self._measure} reached"
        modes = f"{len(self.modes)} working mode{'s' * (len(self.modes) != 1)}"
        over = ", ".join(f"{name} {n}" for n, name in zip(self.grid.shape, self.axes, strict=True))
        return f"<WorkspaceMap of {self.name}: {over}; {modes}, {filled} ({self._about}), dexterity {self.dexterity:.2g}>"


def workspace_map(
    m: Model, frame: str | None = None, over: Any = None, shape: Any = None, modes: Any = "all", *, part: str | None = None,
    limits: bool = True, configurations: bool = False, parameters: Mapping[str, float] | None = None, most: int = MOST,
    progress: bool | None = None, threads: int | None = None,
) -> WorkspaceMap:  # fmt: skip
    """See `Mechanism.workspace_map`."""
    limits, configurations = flag(limits, "limits"), flag(configurations, "configurations")
    most = count(most, "most", 1)
    threads = None if threads is None else count(threads, "threads", 1)
    m = one_design(m, parameters, "workspace_map")
    _check(m)
    grid = map_grid(m, frame if frame is None else text(frame, "frame"), over, shape, most)
    own = square_part(m, grid.asked.frame) or "all" if part is None else choice(part, "part", PARTS)
    with Progress(
        f"map of {m.name}", progress if progress is None else flag(progress, "progress")
    ) as bar:
        made = _Making(m, grid, own, limits, configurations, threads, bar)
        return made.map(modes)


def _check(m: Model) -> None:
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time; ask for the map of m.at_time(t)."
        )
    if not m.nv or not m.actuated:
        raise ModelError(f"{m.name} has no actuated joints, so that no configuration of it is nearer to singular than another; actuate some.")  # fmt: skip


class _Making:
    """Branches followed on a fine grid, and what is kept of them."""

    def __init__(
        self,
        m: Model,
        grid: MapGrid,
        part: str,
        limits: bool,
        keep: bool,
        threads: int | None,
        bar: Progress,
    ) -> None:
        self.m, self.grid, self.part, self.limits = m, grid, part, limits
        self.keep, self.threads, self.bar = keep, threads, bar
        least = FINE[len(grid.shape)]
        self.times = tuple(
            max(1, -(-least // n) // 2 * 2 + 1 if n < least else 1) for n in grid.shape
        )
        self.blocks = checked_blocks(m, grid)
        self.steps = Steps(m, grid.finer(self.times), self.blocks, threads)
        self.levels = lattices(self.steps.grid.shape)

    def map(self, modes: Any) -> WorkspaceMap:
        """All of it."""
        coarse = self._ordered(working_modes(self.steps, self.levels[0], self.limits))
        wanted = chosen(
            self.steps,
            dict(zip(named(coarse, self.blocks), coarse, strict=True)),
            modes,
            self.levels[0],
        )
        self.work, self.done = len(wanted) * self.steps.grid.size, 0
        kept = {
            name: x
            for name, x in zip(wanted, self._modes(list(wanted.values())), strict=True)
            if x is not None
        }
        if not kept:
            self._refuse()
        stacked: dict[str, Any] = {
            y: np.stack([x[y] for x in kept.values()]) for y in next(iter(kept.values()))
        }
        names, frame = velocity_names(self.m), self.grid.asked.frame
        joints = tuple(tuple(names[k] for k in own) for own in self.blocks.columns if len(own) > 1)
        square = driving(self.m, frame, self.part).square
        return WorkspaceMap(
            self.m.name, frame, self.part, square, self.grid, tuple(kept), joints, limits=self.limits, driven=self._driven, **stacked
        )  # fmt: skip

    @property
    def _driven(self) -> bool:
        """Whether all joints that the map is over are actuated."""
        places = [k for name in self.m.actuated for k in range(self.m.nq)[self.m.coordinates[name]]]
        return set(self.grid.asked.joints) <= set(places)

    def _modes(self, branches: list[Branch]) -> list[dict[str, Any] | None]:
        """What a map has of each branch; None of those that are nowhere within the limits, or turn out to be one before. Branches with
        the same signs are followed together, for one not to be taken for the other."""
        made: list[dict[str, Any] | None] = [None] * len(branches)
        every: list[Branch] = []
        for code in dict.fromkeys(x.code for x in branches):
            fine: list[Branch] = []
            for k in (k for k, x in enumerate(branches) if x.code == code):
                own = self._refined(branches[k], fine)
                thin = own.thinned(self.levels[0])
                if any(coincide(self.steps, thin, other) for other in every):
                    continue
                every.append(thin)
                fine.append(own)
                found = self._arrays(own)
                made[k] = (
                    found
                    if (found["closes"] & (found["within_limits"] | (not self.limits))).any()
                    else None
                )
        return made

    def _ordered(self, branches: list[Branch]) -> list[Branch]:
        """The one that comes nearest to home first."""

        def far(branch: Branch) -> float:
            q = branch.q[branch.known]
            return float(
                np.abs(difference(self.m, q, np.broadcast_to(home(self.m), q.shape)))
                .max(axis=-1)
                .min()
            )

        return sorted(branches, key=far)

    def _refined(self, branch: Branch, others: list[Branch]) -> Branch:
        """A branch on all poses."""
        for strides in self.levels[1:]:
            branch = branch.refined(strides)
            spread(branch, self.steps, tuple(x.thinned(strides) for x in others), self._tell)
        fill_holes(branch, self.steps, tuple(others))
        return branch

    def _tell(self, reached: int) -> None:
        self.done += reached
        self.bar.update(min(1.0, self.done / max(1, self.work)))

    def _arrays(self, branch: Branch) -> dict[str, Any]:
        """What a map has of a branch, by name."""
        cells = tuple(slice(t // 2, None, t) for t in self.times)
        closes = branch.known.reshape(branch.shape)[cells].copy()
        q = branch.q.reshape(*branch.shape, -1)[cells][closes]
        found = judged(self.m, q, self.grid.asked.frame, self.part, self.threads)

        def placed(values: Any, nothing: Any, kind: Any) -> Any:
            made = np.full((*closes.shape, *values.shape[1:]), nothing, dtype=kind)
            made[closes] = values
            return made

        made = {"closes": closes, "within_limits": placed(self._within(q), False, bool)}
        made |= {
            name: placed(getattr(found, name), np.nan, float) for name in ("parallel", "serial")
        }
        made |= {name: placed(getattr(found, name), 0, np.int8) for name in ("sign", "serial_sign")}
        return made | ({"q": placed(q, np.nan, float)} if self.keep else {})

    def _within(self, q: Floats) -> Any:
        ranges, made = Ranges.of(self.m), np.ones(len(q), dtype=bool)
        if np.isfinite(ranges.lower).any() or np.isfinite(ranges.upper).any():
            for k in range(0, len(q), LANES):
                block = q[k : k + LANES]
                made[k : k + LANES] = ranges.contain(ranges.turned(block, block))
        return made

    def _refuse(self) -> NoReturn:
        here = values_at(self.m, self.grid.asked, home(self.m))
        told = ", ".join(
            f"{name} = {x + 0.0:.4g}" for name, x in zip(self.grid.names, here, strict=True)
        )
        hint = "take other ranges or values" + (", or pass limits=False" if self.limits else "")
        raise AssemblyError(
            f"{self.m.name} closes at no pose of this map; {hint} (at home it has {told})."
        )
