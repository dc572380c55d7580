"""Working modes: the branches of the inverse kinematics of a mechanism over a lattice of poses,
found from many starts. This is a search: a mode that exists in a small region may be missed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, known_words, states
from eslabon.arguments import names as names_of
from eslabon.errors import AssemblyError, ModelError
from eslabon.model import Model
from eslabon.model.configuration import difference, integrate
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.ordering import stable_order
from eslabon.numerics.tolerances import DISTINCT
from eslabon.solve.block_newton import Blocks
from eslabon.solve.constraints.closed_configurations import close
from eslabon.solve.prescribed import home
from eslabon.solve.ranges import Ranges
from eslabon.solve.workspace.map_branches import Branch, Mask, Places, PoseSolver, differ, flood


@dataclass(frozen=True)
class ModeSettings:
    """How working modes are searched for.

    Attributes
    ----------
    poses, starts : poses all over the lattice, about so many, and starts at each.
    home_starts : starts at one pose near home.
    rounds : calls of Newton's method from a start.
    leg_poses, leg_starts : poses of a mode, and starts of each of its blocks there.
    modes : at most.
    nearest : nodes that a configuration is led to, one after the other, until one is reached.
    stride, shortest : how far joints move in a step on the way there, in radians or lengths over L,
        and the shortest step, in parts of the way.
    lanes : configurations that are compared with limits at a time.
    """

    poses: int = 600
    starts: int = 8
    home_starts: int = 200
    rounds: int = 14
    leg_poses: int = 4
    leg_starts: int = 16
    modes: int = 64
    nearest: int = 8
    stride: float = 0.3
    shortest: float = 1 / 256
    lanes: int = 1 << 17


SETTINGS = ModeSettings()


class Seeds(NamedTuple):
    """Configurations that close at nodes of a lattice, all different at each node, with the signs
    of their blocks."""

    node: Places
    q: Floats
    code: Floats
    fingerprint: Floats

    def take(self, rows: Any) -> Seeds:
        return Seeds(*(x[rows] for x in self))


# -- starts ----------------------------------------------------------------------------------------


def first_seeds(solver: PoseSolver, strides: tuple[int, ...]) -> Seeds:
    """Closed configurations at poses spread over the coarsest lattice and at one near home, from
    home and from starts all over the joints' ranges."""
    m, lattice = solver.m, Branch(solver.grid, strides, 0)
    nodes = _spread_nodes(lattice.shape)
    begin, node = [np.tile(home(m), (len(nodes), 1))], [nodes]
    if (near := lead_to_node(solver, lattice, home(m))) is not None:
        begin.append(near[1][None])
        node += [np.array([near[0]]), np.full(SETTINGS.home_starts, near[0])]
        node.insert(2, np.tile(nodes, SETTINGS.starts))
    else:
        node.append(np.tile(nodes, SETTINGS.starts))
    begin.append(_random_starts(m, sum(map(len, node)) - sum(map(len, begin))))
    return _converged(solver, lattice, np.concatenate(begin), np.concatenate(node))


def leg_seeds(solver: PoseSolver, branch: Branch, limits: bool) -> Seeds:
    """Configurations at poses of a branch from starts in which the joints of one block, such as
    those of a leg, are elsewhere."""
    m, known = solver.m, np.flatnonzero(branch.known)
    known = known[within_limits(m, branch.q[known], limits)]
    blocks = [list(own) for own in solver.blocks.columns if len(own) > 1]
    if len(blocks) == 1 or not len(known):  # of one block all starts were tried already
        blocks = []
    spread = np.linspace(0, len(known) - 1, SETTINGS.leg_poses + 2).round().astype(int)[1:-1]
    nodes = known[spread] if blocks else known[:0]
    node = np.tile(np.repeat(nodes, SETTINGS.leg_starts), len(blocks))
    away = np.array(difference(m, _random_starts(m, len(node)), branch.q[node]))
    each = len(nodes) * SETTINGS.leg_starts
    for k, own in enumerate(blocks):
        others = [i for i in range(m.nv) if i not in own]
        away[k * each : (k + 1) * each, others] = 0.0
    found = _converged(solver, branch, np.asarray(integrate(m, branch.q[node], away)), node)
    return found.take(within_limits(m, found.q, limits))


def _random_starts(m: Model, count: int) -> Floats:
    """Configurations all over the joints' ranges, the same every time, in no order."""
    spread = Ranges.of(m, characteristic_length(m)).spread(count)
    return np.random.default_rng(0).permutation(spread)


def _spread_nodes(shape: tuple[int, ...]) -> Places:
    """Flat places of nodes, not many more than wanted, evenly over a lattice."""
    thin = 1
    while np.prod([-(-n // thin) for n in shape]) > 2 * SETTINGS.poses:
        thin += 1
    axes = [np.arange((n - 1) % thin // 2, n, thin) for n in shape]
    return np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), shape).ravel()


def _converged(solver: PoseSolver, lattice: Branch, q: Floats, node: Places) -> Seeds:
    """Where starts lead that converge at their nodes, all different."""
    found = solver.solve(q, lattice.values(node), SETTINGS.rounds)
    good = np.flatnonzero(found.converged)
    q = _near_home(solver, found.q[good])
    seeds = Seeds(node[good], q, found.code[good], solver.fingerprints(q))
    seeds = seeds.take(stable_order(distance_from_home(solver.m, q)))
    seeds = seeds.take(np.argsort(seeds.node, kind="stable"))
    kept: list[int] = []
    ends = [0, *(np.flatnonzero(np.diff(seeds.node)) + 1), len(seeds.node)]
    for first, last in pairwise(ends):
        own: list[int] = []
        for k in range(first, last):
            if not own or differ(seeds.fingerprint[own], seeds.fingerprint[k]).all():
                own.append(k)
        kept += own
    return seeds.take(kept)


def _near_home(solver: PoseSolver, q: Floats) -> Floats:
    """The same with angles within half a turn of home's, but for prescribed ones."""
    middle = np.broadcast_to(home(solver.m), q.shape)
    near = np.array(integrate(solver.m, middle, difference(solver.m, q, middle)))
    held = solver.grid.problem.coordinates(solver.m)
    near[:, held] = q[:, held]
    return near


def distance_from_home(m: Model, q: Floats) -> Floats:
    """How far the joints of configurations (k, nq) are from home at most, in radians or lengths
    over L."""
    away = difference(m, q, np.broadcast_to(home(m), q.shape)) * velocity_scales(m)
    return np.asarray(np.abs(away).max(axis=-1, initial=0.0))


def within_limits(m: Model, q: Floats, limits: bool = True) -> Mask:
    """Whether configurations are within the joints' limits, if these count."""
    ranges, inside = Ranges.of(m), np.ones(len(q), dtype=bool)
    if limits and (np.isfinite(ranges.lower) | np.isfinite(ranges.upper)).any():
        for k in range(0, len(q), SETTINGS.lanes):
            some = q[k : k + SETTINGS.lanes]
            inside[k : k + SETTINGS.lanes] = ranges.contain(ranges.turned(some, some))
    return inside


# -- from a configuration to a node ----------------------------------------------------------------


def lead_to_node(solver: PoseSolver, lattice: Branch, q: Floats) -> tuple[int, Floats] | None:
    """A node near the pose of a closed configuration, and the configuration there on the same
    branch, if a straight way leads there."""
    grid, problem = solver.grid, solver.grid.problem
    here = problem.values(solver.m, q)
    nodes = lattice.values(np.arange(len(lattice.known)))
    way = problem.displacement(solver.m, nodes, here)
    spans = [high - low for _, low, high in grid.ranges]
    order = stable_order(np.abs(way[:, list(grid.varied)] / spans).max(axis=-1))
    for node in order[: SETTINGS.nearest]:
        there = _continued(solver, q, here, way[node])
        if there is not None:
            return int(node), there
    return None


def _continued(solver: PoseSolver, q: Floats, here: Floats, way: Floats) -> Floats | None:
    """The configuration at the end of a straight way of prescribed values, by steps in which no
    joint moves far."""
    code = solver.solve(q[None], here[None]).code[0]
    share, step = 0.0, 1.0
    while share < 1.0:
        found = solver.solve(q[None], (here + min(1.0, share + step) * way)[None])
        if found.converged[0] and found.moved[0] <= SETTINGS.stride and found.code[0] == code:
            q, share, step = found.q[0], share + step, 2 * step
        elif step > SETTINGS.shortest:
            step /= 2
        else:
            return None
    return q


# -- branches --------------------------------------------------------------------------------------


def working_modes(solver: PoseSolver, strides: tuple[int, ...], limits: bool) -> list[Branch]:
    """A branch for each working mode over the coarsest lattice, the one that comes nearest to home
    first.

    Legs are bent otherwise in each mode that is found, until that gives none which is not known
    yet: where there are many joints, few starts of all of them at once converge. What is found
    beyond limits counts if its branch leads to poses within them.
    """
    branches: list[Branch] = []
    seeds = first_seeds(solver, strides)
    inside = within_limits(solver.m, seeds.q, limits)
    _add_branches(solver, strides, branches, seeds.take(inside))
    beyond = _on_no_branch(solver, branches, seeds.take(~inside))
    _add_branches(solver, strides, branches, beyond, limits)
    for branch in branches:  # which grows on the way
        seeds = _on_no_branch(solver, branches, leg_seeds(solver, branch, limits))
        _add_branches(solver, strides, branches, seeds)
    return _ordered(solver, branches)


def _ordered(solver: PoseSolver, branches: list[Branch]) -> list[Branch]:
    """The branch that comes nearest to home first. Those that come equally near, as in symmetric
    mechanisms, are ordered by their signs, plus before minus, then by where joints stand at a pose
    that both have: round-off has no part in it."""
    m = solver.m
    near = [float(distance_from_home(m, x.q[x.known]).min()) for x in branches]

    def compare(i: int, j: int) -> int:
        first, second = branches[i], branches[j]
        if abs(near[i] - near[j]) > DISTINCT:
            return -1 if near[i] < near[j] else 1
        if differing := int(first.code) ^ int(second.code):
            return -1 if int(first.code) & (differing & -differing) else 1
        both = np.flatnonzero(first.known & second.known)[:1]
        apart = (solver.fingerprints(first.q[both]) - solver.fingerprints(second.q[both])).ravel()
        distinct = apart[np.abs(apart) > DISTINCT]
        return 0 if not len(distinct) else -1 if distinct[0] > 0 else 1

    return [branches[k] for k in sorted(range(len(branches)), key=cmp_to_key(compare))]


def _add_branches(
    solver: PoseSolver,
    strides: tuple[int, ...],
    branches: list[Branch],
    seeds: Seeds,
    limits: bool = False,
) -> None:
    """More branches from seeds; with `limits` those that are somewhere within them.

    The pose with the most configurations begins a branch with each. A seed elsewhere that is on no
    branch yet goes on one with the same signs, in a region that is not connected with the first, or
    begins another. That may turn out to be a known one whose coordinates are others, as a universal
    joint has two pairs of angles for each direction.
    """
    m, beyond = solver.m, list[Branch]()
    while len(seeds.node) and len(beyond) <= SETTINGS.modes:
        node = _most_common(seeds.node)
        for k in np.flatnonzero(seeds.node == node):
            known, code = branches + beyond, float(seeds.code[k])
            branch = next((b for b in known if b.code == code and not b.known[node]), None)
            is_new = branch is None
            branch = branch or Branch(solver.grid, strides, m.nq, code)
            branch.put(node, seeds.q[k])
            others = [b for b in known if b is not branch and b.code == code]
            flood(branch, solver, tuple(others))
            if is_new and not any(coincide(solver, branch, other) for other in known):
                inside = within_limits(m, branch.q[branch.known], limits).any()
                (branches if inside else beyond).append(branch)
        if len(branches) > SETTINGS.modes:
            raise ModelError(
                f"{m.name} has more than {SETTINGS.modes} working modes over this map; give one "
                "configuration or its mode as modes=."
            )
        seeds = _on_no_branch(solver, branches + beyond, seeds.take(seeds.node != node))


def coincide(solver: PoseSolver, first: Branch, second: Branch) -> bool:
    """Whether two branches are mostly the same configurations where both are known; at folds
    different ones meet."""
    both = np.flatnonzero(first.known & second.known)
    return bool(len(both)) and bool(solver.differ(first.q[both], second.q[both]).mean() < 0.5)


def _on_no_branch(solver: PoseSolver, branches: list[Branch], seeds: Seeds) -> Seeds:
    new = np.ones(len(seeds.node), dtype=bool)
    for branch in branches:
        both = np.flatnonzero(new & branch.known[seeds.node])
        if len(both):
            there = solver.fingerprints(branch.q[seeds.node[both]])
            new[both] = differ(seeds.fingerprint[both], there)
    return seeds.take(new)


def _most_common(nodes: Places) -> int:
    values, counts = np.unique(nodes, return_counts=True)
    return int(values[np.argmax(counts)])


# -- names and choice ------------------------------------------------------------------------------


def mode_names(branches: list[Branch], blocks: Blocks) -> list[str]:
    """A name for each mode: the signs of the determinants of blocks of several joints; a number
    more where they do not tell modes from one another."""
    signs = [k for k, own in enumerate(blocks.columns) if len(own) > 1]
    names: list[str] = []
    for branch in branches:
        name = "".join("+" if int(branch.code) >> k & 1 else "-" for k in signs) or "+"
        count = sum(x.split()[0] == name for x in names)
        names.append(f"{name} {count + 1}" if count else name)
    return names


def select_modes(
    solver: PoseSolver, branches: dict[str, Branch], modes: Any, strides: tuple[int, ...]
) -> dict[str, Branch]:
    """All modes, some by name, or the one that a configuration is on."""
    if isinstance(modes, str) and modes == "all":
        return branches
    m = solver.m
    if isinstance(modes, str) or (
        isinstance(modes, list | tuple) and modes and all(isinstance(x, str) for x in modes)
    ):
        selected: dict[str, Branch] = {}
        for name in names_of(modes, "modes"):
            known_words([name], ["all", *branches, *m.modes], f"{m.name} has no working mode")
            selected[name] = (
                branches[name]
                if name in branches
                else _branch_of(solver, branches, m.configuration(name), strides)
            )
        return selected
    q = states(modes, "modes", m.nq, m.name)
    if q.ndim != 1:
        raise ModelError(
            f"modes is 'all', names of working modes, or one configuration; it has shape {q.shape}."
        )
    branch = _branch_of(solver, branches, q, strides)
    return {next((name for name, x in branches.items() if x is branch), "of the guess"): branch}


def _branch_of(
    solver: PoseSolver, branches: dict[str, Branch], q: Floats, strides: tuple[int, ...]
) -> Branch:
    """The branch that a configuration is on."""
    m, lattice = solver.m, Branch(solver.grid, strides, 0)
    found = lead_to_node(solver, lattice, close(m, q) if m.closed else q)
    if found is None:
        raise AssemblyError(
            f"no straight way leads from this configuration of {m.name} to the poses of the map; "
            "give one nearer to them."
        )
    node, there = found
    for branch in branches.values():
        if branch.known[node] and not solver.differ(branch.q[node][None], there[None])[0]:
            return branch
    code = solver.solve(there[None], lattice.values(np.array([node]))).code[0]
    own = Branch(solver.grid, strides, m.nq, float(code))
    own.put(node, there)
    flood(own, solver)
    return own
