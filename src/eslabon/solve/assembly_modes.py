"""Assembly modes: the different ways a mechanism closes for the same prescribed values, found from
many starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eslabon.answers import Answer, Block, Column, Message, Table
from eslabon.arguments import Floats, flag
from eslabon.errors import AssemblyError, ModelError
from eslabon.model import Model
from eslabon.model.configuration import coordinate_names, difference, integrate
from eslabon.model.scale import characteristic_length
from eslabon.numerics.ordering import stable_order
from eslabon.numerics.tolerances import DISTINCT
from eslabon.solve.assembly_messages import refuse
from eslabon.solve.branch_assembly import Assembly
from eslabon.solve.configurations import distinct, distinct_marks
from eslabon.solve.constraints.closed_configurations import unclosed
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.designs import DESCRIBED, one_design
from eslabon.solve.driven import at_instants
from eslabon.solve.inverse_kinematics import modes_of_target
from eslabon.solve.prescribed import home
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.solve_options import read_options
from eslabon.solve.solver import SETTINGS, Lanes, Solver

STARTS = 400  # from which ways to close are looked for


@dataclass(frozen=True, eq=False, repr=False)
class AssemblyModes(Answer):
    """The assembly modes that a search found.

    Attributes
    ----------
    q : a configuration of each mode, (modes, nq), the nearest home first.
    starts : how many starts were tried. The count of modes is not proved: others may exist.
    names : of the coordinates.
    """

    q: Floats
    starts: int
    names: tuple[str, ...]

    def contents(self) -> Iterator[Block]:
        """The modes in rows, and what their count proves.

        >>> import eslabon as es
        >>> modes = es.load("five_bar").assembly_modes([2.0, 1.0], report=True)
        >>> table, message = modes.contents()
        >>> len(table.rows)
        2
        """
        yield Table(tuple(map(Column, self.names)), [tuple(row) for row in self.q])
        yield Message(
            "{modes} modes were found from {starts} starts; a search does not prove that there are no more.",
            modes=len(self.q),
            starts=self.starts,
        )

    def __repr__(self) -> str:
        modes = f"{len(self.q)} mode{'s' * (len(self.q) != 1)}"
        return f"<AssemblyModes: {modes} found from {self.starts} starts, which proves no count>"


def assembly_modes(m: Model, given: Any = None, *, report: bool = False, **options: Any) -> Any:
    """The different ways the mechanism closes; see `Mechanism.assembly_modes`."""
    flag(report, "report")
    o = read_options("assembly_modes", options)
    m = one_design(m, o.parameters, "assembly_modes")
    m, problem, x, o = at_instants(m, given, replace(o, parameters=None))
    m = one_design(m, o.parameters, "assembly_modes")
    if problem.rows:
        q, starts = modes_of_target(m, problem, x, replace(o, parameters=None)), SETTINGS.starts
    else:
        q, starts = _modes(m, problem, x, o.limits), STARTS + 1
    return AssemblyModes(q, starts, coordinate_names(m)) if report else q


def _modes(m: Model, problem: Problem, x: Floats, limits: bool) -> Floats:
    """For held joints: what nothing drives makes no new mode. The pose of a free base stays at
    home, and configurations whose joints all stand in the same places are one."""
    if x.ndim != 1:
        raise ModelError("assembly_modes takes one set of values; call it for each.")
    if not m.nv:
        return home(m)[None]
    ranges = Ranges.of(m) if limits else Ranges.of(m).unlimited
    x = Assembly(m, problem, ranges).admitted(x[None, None])[0, 0]
    begin, passive = _scattered(m), _passive(m, problem)
    begin[:, problem.coordinates(m)] = x
    holding = Problem((*problem.held, *_driven_by_nothing(m, passive)))
    places = holding.coordinates(m)
    begin[:, places] = begin[0, places]
    solver = Solver(m, holding, ranges.unlimited)
    lanes = Lanes(begin, begin[:, places], np.zeros((len(begin), 0)))
    found = solver.walk(lanes, patient=True)
    closed = ~unclosed(m, np.sqrt(found.error))
    if not closed.any():
        size = np.sqrt(found.error[:1])
        refuse(m, problem, found.q[:1], size, x[None], DESCRIBED)
    every = _distinct(m, holding, found.q[closed], bool(passive))
    turned = [ranges.turned(q, q) for q in every]
    inside = [q for q in turned if ranges.contain(q)]
    if not inside:
        raise AssemblyError(
            f"{m.name} closes only with {ranges.outside(every[0])}; prescribe other values, or pass "
            "limits=False."
        )
    made = np.array(inside)
    far = np.abs(difference(m, made, np.broadcast_to(home(m), made.shape)))
    return made[stable_order(far.max(axis=-1))]


def _distinct(m: Model, holding: Problem, closed: Floats, passive: bool) -> Floats:
    """One configuration of each mode, its angles within half a turn of home's; where motions are
    passive, configurations with every joint in the same place are one mode."""
    middle, places = np.broadcast_to(home(m), closed.shape), holding.coordinates(m)
    near = np.array(integrate(m, middle, difference(m, closed, middle)))
    near[:, places] = closed[:, places]
    found = near[distinct(near, Ranges.of(m).apart, DISTINCT)]
    if passive:
        found = found[distinct_marks(m, found)]
    return found


def _passive(m: Model, problem: Problem) -> set[int]:
    """Velocities that stay free whatever the held joints do."""
    held = tuple(problem.velocities(m))
    return set(partition(m, held).independent) - set(held)


def _driven_by_nothing(m: Model, passive: set[int]) -> list[str]:
    """Joints all of whose motions are passive, such as that of a base in the air."""
    return [j.name for j in m.joints if j.nv and set(range(m.nv)[m.velocities[j.name]]) <= passive]


def _scattered(m: Model) -> Floats:
    """Home, and configurations all around, always the same ones; lengths stay in reach."""
    rng, middle, length = np.random.default_rng(0), home(m), float(characteristic_length(m))
    ranges = Ranges.of(m, length)
    spread = ranges.unlimited.admitted(rng.uniform(-np.pi, np.pi, (STARTS, m.nq)))
    reach = middle * rng.uniform(0.3, 1.7, (STARTS, m.nq))
    reach = reach + length * rng.uniform(-0.2, 0.2, (STARTS, m.nq))
    return np.vstack([middle, np.where(ranges.lengths, reach, spread)])
