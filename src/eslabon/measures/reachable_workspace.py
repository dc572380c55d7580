"""How large the workspace of each design is, and how well it moves there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import floats, mapping, positive
from eslabon.errors import EslabonError, InputError, format_value
from eslabon.measures.assembled_designs import variant
from eslabon.measures.measure import Measure, Measured, as_mechanism
from eslabon.measures.native_batches import Designs, as_designs, number_of, threads
from eslabon.mechanism import Mechanism
from eslabon.solve.workspace.map_grid import map_grid

POWERS = {1: "", 2: "²", 3: "³"}


@dataclass(frozen=True, eq=False, repr=False)
class ReachableWorkspace(Measure):
    """What the poses that a frame reaches fill of a box, as an area or a volume and as a share of the box, and the global
    conditioning index there, the mean reciprocal condition number of the way from the actuators to the frame's twist (Gosselin
    and Angeles, 1991).

    The poses are the cells of a regular grid, the same for all designs; `m.workspace_map` looks at each.

    Parameters
    ----------
    box : ranges of two or three coordinates of the frame's pose (x, y, z, angle, roll, pitch, yaw) or of joints, and
        values of others, as in {"x": (-0.1, 0.2), "y": (0, 0.2), "angle": 0.0}.
    shape : how many poses along each coordinate, one number or one for each.
    frame, modes, part, limits : as in `m.workspace_map`.
    least : a reciprocal condition number, of both kinds: poses below it do not count.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> size = es.measures.ReachableWorkspace({"x": (-0.1, 0.2), "y": (0.0, 0.15)}, shape=40)
    >>> size.columns(m)
    {'workspace': 'm²', 'workspace.share': '', 'workspace.dexterity': ''}
    >>> found = size.measured(m, {"L2": np.array([0.03, 0.05])}).values["workspace"]
    >>> bool(found[0] < found[1])
    True
    """

    name: ClassVar[str] = "workspace"
    box: Mapping[str, Any]
    shape: Any = 50
    frame: str | None = None
    modes: Any = field(default="all", kw_only=True)
    part: str | None = field(default=None, kw_only=True)
    limits: bool = field(default=True, kw_only=True)
    least: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        box = {name: _range(x, name) for name, x in mapping(self.box, "box").items()}
        if sum(isinstance(x, tuple) for x in box.values()) not in (2, 3):
            raise InputError(
                "box gives the ranges of two or three coordinates that the workspace is looked at in, as in "
                "box={'x': (-0.1, 0.2), 'y': (0, 0.2)}."
            )
        object.__setattr__(self, "box", box)
        positive(self.least, "least", zero=True)

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        grid = map_grid(as_mechanism(m), self.frame, self.box, self.shape)  # or a sentence
        units = [grid.units[k] for k in grid.varied]
        unit = " ".join(u + POWERS[units.count(u)] for u in dict.fromkeys(units))
        return {self.name: unit, f"{self.name}.share": "", f"{self.name}.dexterity": ""}

    def together(self) -> int:
        return 16  # designs of so many poses each

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        columns, designs = list(self.columns(m)), as_designs(designs)
        n = number_of(designs)
        found, reasons = np.full((n, len(columns)), np.nan), {}
        for k in range(n):
            try:
                found[k] = self._one(variant(m, designs, k))
            except EslabonError as error:
                reasons[k] = str(error)
        return Measured({column: found[:, k] for k, column in enumerate(columns)}, reasons)

    def _one(self, m: Mechanism) -> tuple[float, float, float]:
        """The size, the share and the conditioning of one design."""
        made = m.workspace_map(
            self.frame, self.box, self.shape, self.modes, part=self.part, limits=self.limits, progress=False, threads=threads()
        )  # fmt: skip
        good = made.reached & ~(np.fmin(made.parallel, made.serial) < self.least)
        share = float(good.any(axis=0).mean())
        whole = float(np.prod([y[1] - y[0] for y in self.box.values() if isinstance(y, tuple)]))
        return share * whole, share, float(made.serial[good].mean()) if good.any() else 0.0

    def _told(self) -> str:
        return f" over {', '.join(self.box)}"


def _range(value: Any, name: str) -> float | tuple[float, float]:
    """A value, or a range from a lower to a greater one."""
    pair = floats(value, f"box['{name}']")
    if pair.shape == () and np.isfinite(pair):
        return float(pair)
    if pair.shape != (2,) or not np.isfinite(pair).all() or not pair[0] < pair[1]:
        raise InputError(
            f"box['{name}'] is a value, or a lower and a greater upper one; it is {format_value(value)}."
        )
    return float(pair[0]), float(pair[1])
