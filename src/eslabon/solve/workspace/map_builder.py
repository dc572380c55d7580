"""The arrays of a map: working modes followed over a fine grid, and what is known at its poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.errors import AssemblyError
from eslabon.model import Model
from eslabon.progress import Progress
from eslabon.solve.workspace.map_blocks import checked_blocks
from eslabon.solve.workspace.map_branches import Branch, PoseSolver, fill_holes, flood, lattices
from eslabon.solve.workspace.map_conditions import condition_numbers
from eslabon.solve.workspace.map_grid import MapGrid, home_values
from eslabon.solve.workspace.pose_coordinates import following_coordinates, pose_coordinates_at
from eslabon.solve.workspace.working_modes import (
    coincide,
    mode_names,
    select_modes,
    within_limits,
    working_modes,
)

Arrays = dict[str, Any]  # of a mode, by name
FINE = {
    2: 48,
    3: 16,
}  # poses along a coordinate, at least, of the grid that branches are followed on


@dataclass(frozen=True)
class MapRequest:
    """What a map is to have.

    Attributes
    ----------
    part : of the frame's twist, whose condition is told.
    limits : whether joints keep theirs.
    configurations : whether they are kept.
    threads : of native code.
    """

    part: str
    limits: bool
    configurations: bool
    threads: int | None


class MapBuilder:
    """Follows branches of a mechanism on a grid that is fine enough for Newton's method."""

    def __init__(self, m: Model, grid: MapGrid, request: MapRequest, bar: Progress) -> None:
        self.m, self.grid, self.request, self.bar = m, grid, request, bar
        least = FINE[len(grid.shape)]
        self.times = tuple(
            max(1, -(-least // n) // 2 * 2 + 1 if n < least else 1) for n in grid.shape
        )
        self.blocks = checked_blocks(m, grid)
        self.solver = PoseSolver(m, grid.finer(self.times), self.blocks, request.threads)
        self.levels = lattices(self.solver.grid.shape)
        self.following = following_coordinates(m, grid.frame, grid.pose)
        self.work = self.done = 0

    def modes(self, wanted: Any) -> dict[str, Arrays]:
        """The arrays of each mode that is wanted, by its name."""
        coarse = working_modes(self.solver, self.levels[0], self.request.limits)
        named = dict(zip(mode_names(coarse, self.blocks), coarse, strict=True))
        selected = select_modes(self.solver, named, wanted, self.levels[0])
        self.work = len(selected) * self.solver.grid.size
        found = zip(selected, self._arrays_of(list(selected.values())), strict=True)
        return {name: x for name, x in found if x is not None} or self._refuse()

    def _arrays_of(self, branches: list[Branch]) -> list[Arrays | None]:
        """The arrays of each branch; None of those that are nowhere within the limits, or turn out
        to be one before. Branches with the same signs are followed together, for one not to be
        taken for the other."""
        made: list[Arrays | None] = [None] * len(branches)
        every: list[Branch] = []
        for code in dict.fromkeys(x.code for x in branches):
            fine: list[Branch] = []
            for k in (k for k, x in enumerate(branches) if x.code == code):
                branch = self._refined(branches[k], fine)
                thin = branch.thinned(self.levels[0])
                if any(coincide(self.solver, thin, other) for other in every):
                    continue
                every.append(thin)
                fine.append(branch)
                found = self._arrays(branch)
                counts = found["within_limits"] if self.request.limits else found["closes"]
                made[k] = found if counts.any() else None
        return made

    def _refined(self, branch: Branch, others: list[Branch]) -> Branch:
        """A branch on all poses."""
        for strides in self.levels[1:]:
            branch = branch.refined(strides)
            beside = tuple(x.thinned(strides) for x in others)
            flood(branch, self.solver, beside, self._advance)
        fill_holes(branch, self.solver, tuple(others))
        return branch

    def _advance(self, reached: int) -> None:
        self.done += reached
        self.bar.update(min(1.0, self.done / max(1, self.work)))

    def _arrays(self, branch: Branch) -> Arrays:
        """What a map has of a branch."""
        m, frame, request = self.m, self.grid.frame, self.request
        cells = tuple(slice(t // 2, None, t) for t in self.times)
        closes = branch.known.reshape(branch.shape)[cells].copy()
        q = branch.q.reshape(*branch.shape, -1)[cells][closes]

        def placed(values: Any, nothing: Any, kind: Any) -> Any:
            array = np.full((*closes.shape, *values.shape[1:]), nothing, dtype=kind)
            array[closes] = values
            return array

        made = {"closes": closes, "within_limits": placed(within_limits(m, q), False, bool)}
        found = condition_numbers(m, q, frame, request.part, request.threads)
        for name in ("parallel", "serial"):
            made[name] = placed(getattr(found, name), np.nan, float)
        for name in ("sign", "serial_sign"):
            made[name] = placed(getattr(found, name), 0, np.int8)
        values = pose_coordinates_at(m, frame, self.following, q)
        for name, x in zip(self.following, values.T, strict=True):
            made[name] = placed(x, np.nan, float)
        if request.configurations:
            made["q"] = placed(q, np.nan, float)
        return made

    def _refuse(self) -> dict[str, Arrays]:
        pairs = zip(
            self.grid.names, home_values(self.m, self.grid.problem, self.grid.units), strict=True
        )
        values = ", ".join(f"{name} = {x + 0.0:.4g}" for name, x in pairs)
        hint = "take other ranges or values" + ", or pass limits=False" * self.request.limits
        raise AssemblyError(
            f"{self.m.name} closes at no pose of this map; {hint} (at home it has {values})."
        )
