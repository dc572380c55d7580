"""The manipulability ellipsoid (Yoshikawa): what unit rates of the actuators make of a frame's
velocity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gamma, pi, prod
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.answers import Answer, Block, Column, Table, figure
from eslabon.arguments import Floats, choice, text
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import ModelError, SingularityError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.closure_violation import check_closed
from eslabon.solve.singular.actuated_motions import actuated_motions, inputs_count
from eslabon.solve.singular.conditions import PARTS, in_designs, reachable_twists

# the units of semi-axes, for a unit rate of the actuators
UNITS = {"all": "rad/s, m/s", "rotation": "rad/s", "translation": "m/s"}


@dataclass(frozen=True, eq=False, repr=False)
class Manipulability(Answer):
    """The ellipsoid of a frame's velocities T u, for rates u of the actuators with |u| <= 1.

    Attributes
    ----------
    axes : unit directions `(..., k, d)` of its semi-axes, longest first, in the ground's axes at
        the frame's origin; d is 3, or 6 for the whole twist (angular part first), and k the number
        of directions that the frame has in general.
    lengths : of the semi-axes, `(..., k)`: rad/s or m/s for a unit rate.
    matrix : T itself, `(..., d, inputs)`.
    part : of the twist: "all", "translation" or "rotation".
    frame, name : the frame's name and the mechanism's.
    position : of the frame's origin, `(..., 3)`.

    >>> import numpy as np
    >>> import eslabon as es
    >>> ellipsoid = es.load("elbow").manipulability([0.0, np.pi / 2], "tool", part="translation")
    >>> ellipsoid.lengths.round(3), ellipsoid.forces.round(3)
    (array([1.618, 0.618]), array([0.618, 1.618]))
    """

    axes: Floats
    lengths: Floats
    matrix: Floats
    part: str
    frame: str
    name: str
    position: Floats

    @property
    def measure(self) -> Floats:
        """Yoshikawa's measure, the product of the lengths: sqrt(det T T^T); zero at a singular
        configuration."""
        return np.prod(self.lengths, axis=-1)

    @property
    def volume(self) -> Floats:
        """The volume of the ellipsoid, or the area of an ellipse."""
        k = self.lengths.shape[-1]
        return pi ** (k / 2) / gamma(k / 2 + 1) * self.measure

    @property
    def condition(self) -> Floats:
        """Shortest over longest semi-axis: 1 where the frame moves evenly in all directions
        (isotropy)."""
        longest = self.lengths[..., 0]
        return np.where(
            longest > 0, self.lengths[..., -1] / np.where(longest > 0, longest, 1.0), 0.0
        )[()]

    @property
    def forces(self) -> Floats:
        """The semi-axes of the force ellipsoid along the same axes, `(..., k)`: what the frame
        presses with for actuators' forces of norm one. It is infinite where a direction is lost,
        and the structure carries the load."""
        with np.errstate(divide="ignore"):
            return 1.0 / np.where(self.lengths > RANK * self.lengths[..., :1], self.lengths, 0.0)

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure: of one configuration the velocity ellipsoid and the force ellipsoid,
        in the plane or in space, with their semi-axes; of many the velocity ellipsoids at the
        positions of the frame. Of a whole twist it is the translation.

        >>> import eslabon as es
        >>> made = es.load("elbow").manipulability([0.0, 1.0], "tool", part="translation")
        >>> [ax.get_xlabel() for ax in made.plot().axes]
        ['x [m/s]', 'x [N]']
        """
        return figure(self, theme=theme, path=path)

    def contents(self) -> Iterator[Block]:
        if self.lengths.ndim > 1:
            title = f"{prod(self.lengths.shape[:-1]):,} configurations of '{self.frame}'"
            named = [("measure", self.measure), ("condition", np.asarray(self.condition))]
            rows = [(name, x.min(), x.max()) for name, x in named if x.size]
            yield Table((Column("attribute"), Column("least"), Column("greatest")), rows, title)
            return
        columns = (
            Column("direction"),
            Column("semi-axis", UNITS[self.part]),
            Column("force ellipsoid"),
        )
        axes = zip(self.axes, self.lengths, self.forces, strict=True)
        rows = [(direction, length, force) for direction, length, force in axes]
        yield Table(columns, rows, f"velocity ellipsoid of '{self.frame}', {self.name}")
        values = [("measure", float(self.measure)), ("volume", float(self.volume))]
        yield Table((Column("attribute"), Column("value")), values)

    def __repr__(self) -> str:
        if self.lengths.ndim > 1:
            return f"<Manipulability of {prod(self.lengths.shape[:-1]):,} configurations: measure from {self.measure.min(initial=np.inf):.3g}>"
        lengths = ", ".join(f"{x:.3g}" for x in self.lengths)
        return f"<Manipulability: semi-axes {lengths}, measure {self.measure:.3g}>"


def manipulability(
    m: Model, q: Any, frame: str | None = None, part: str = "all", *, parameters: Any = None
) -> Manipulability:
    """The ellipsoids of configurations `(..., nq)`, with `parameters` each in its own design."""
    chosen = chosen_frame(m, frame if frame is None else text(frame, "frame")).name
    rows = PARTS[choice(part, "part", PARTS)]
    lead, flat, designs = in_designs(m, q, parameters)
    check_closed(m, flat, "manipulability", designs)
    made = actuated_motions(m, flat, designs)
    bad = np.flatnonzero(made.parallel <= RANK)
    if len(bad):
        at = f" (configuration {bad[0]})" if len(flat) > 1 else ""
        raise SingularityError(
            f"manipulability: {m.name} is at a parallel singular configuration{at}, where its actuators do not determine how it "
            "moves; m.singularity tells what they do not hold."
        )
    k = reachable_twists(m, chosen, part).rank
    if not k:
        what = {"all": "move", "rotation": "turn", "translation": "shift"}[part]
        raise ModelError(
            f"manipulability: no actuators {what} '{chosen}' of {m.name}; ask for another part or frame."
        )
    inputs = made.velocities
    if len(m.actuated_velocities) > inputs_count(
        m
    ):  # surplus actuators share the unit of speed, in rad/s and m/s
        inputs = actuated_motions(m, flat, designs, length=1.0).velocities
    own: dict[str, Any] = {"frame": chosen, "parameters": designs.names}
    J = evaluate(m, quantity(m, "jacobian"), axes="aligned", **own)(flat, *designs.inputs)
    T = J[:, rows] @ inputs
    position = evaluate(m, quantity(m, "pose"), **own)(flat, *designs.inputs)[:, :3, 3]
    U, lengths, _ = np.linalg.svd(T)
    axes = np.swapaxes(U, -1, -2)[:, :k]
    axes, lengths, T, position = (
        x.reshape(*lead, *x.shape[1:]) for x in (axes, lengths[:, :k], T, position)
    )
    return Manipulability(axes, lengths, T, part, chosen, m.name, position)
