"""The structure of a mechanism's constraints: what formulas of dynamics are told of its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from eslabon.formulas.structure import Partition, Structure
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.scale import velocity_scales
from eslabon.solve.constraints.independent_coordinates import partition, retained_rows
from eslabon.solve.constraints.massless_motions import largest_inertia, row_sizes, stiffening
from eslabon.solve.constraints.passive_spins import passive_spins


@per_model
def structure(m: Model) -> Structure:
    """What the formulas of dynamics are to know of a model's numbers."""
    floor = tuple((largest_inertia(m) * velocity_scales(m) ** 2).tolist())
    p = partition(m) if m.closed else Partition((), tuple(range(m.nv)), ())
    passive = tuple(k for k in p.independent if k not in m.actuated_velocities)
    if not m.closed:
        return Structure(p, floor=floor, passive=passive)
    spins = passive_spins(m)
    return Structure(p, retained_rows(m), stiffening(m), row_sizes(m), floor, passive, spins)


def constraint_structure(m: Model) -> Mapping[str, Structure]:
    """The structure as an option: the rule that requests of dynamics bring, by which it is found
    when they are traced."""
    return {"structure": structure(m)}
