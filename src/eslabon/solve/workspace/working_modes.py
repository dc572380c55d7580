"""Working modes: the branches of the inverse kinematics of a mechanism over a lattice of poses, found from many starts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, known_words, states
from eslabon.arguments import names as names_of
from eslabon.errors import AssemblyError, ModelError
from eslabon.model import Model
from eslabon.model.configuration import difference, integrate
from eslabon.model.scale import characteristic_length
from eslabon.solve.assembly.assemble import Assembly
from eslabon.solve.assembly.prescription import Prescription, home
from eslabon.solve.ranges import Ranges
from eslabon.solve.workspace.map_branches import Branch, Steps, apart, spread
from eslabon.solve.workspace.map_grid import POSITION, values_at
from eslabon.solve.workspace.pose_equations import Blocks

STARTS = 8  # at each of so many poses
POSES = 600
MANY = 200  # starts at one pose near home
PATIENCE = 14  # rounds of Newton's method from a start
LEG_POSES, LEG_STARTS = 4, 16  # poses of a mode, and starts of each of its blocks there
MOST = 64  # modes
NEAREST = 8  # nodes that a configuration is led to, if it cannot be led to the nearest
NEAR, SHORTEST = (
    0.3,
    1 / 256,
)  # how far joints go in a step there, and the shortest step, in parts of the way


class Seeds(NamedTuple):
    """Configurations that close at nodes of a lattice, all different at each node, with the signs of their blocks."""

    node: Any
    q: Floats
    code: Floats
    features: Floats

    def of(self, chosen: Any) -> Seeds:
        return Seeds(*(x[chosen] for x in self))


def seeds(steps: Steps, strides: tuple[int, ...]) -> Seeds:
    """Closed configurations at poses spread over the coarsest lattice and at one near home, from home and from starts all over the
    joints' ranges."""
    m, lattice, ranges = (
        steps.m,
        Branch(steps.grid, strides, 0, 0.0),
        Ranges.of(steps.m, characteristic_length(steps.m)),
    )
    nodes = _spread_nodes(lattice.shape)
    begin, node = [np.tile(home(m), (len(nodes), 1))], [nodes, np.tile(nodes, STARTS)]
    if (first := led(steps, lattice, home(m))) is not None:
        begin.append(first[1][None])
        node += [np.array([first[0]]), np.full(MANY, first[0])]
        node[1], node[2] = node[2], node[1]
    drawn = ranges.spread(sum(map(len, node)) - sum(map(len, begin)))
    begin.append(np.random.default_rng(0).permutation(drawn))
    return _converged(steps, lattice, np.concatenate(begin), np.concatenate(node))


def _converged(steps: Steps, lattice: Branch, q: Floats, node: Any) -> Seeds:
    """Where starts lead that converge at their nodes, all different."""
    found = steps.towards(q, lattice.values(node), PATIENCE)
    good = np.flatnonzero(found.good)
    q = _near_home(steps, found.q[good])
    return _different(Seeds(node[good], q, found.code[good], steps.features(q)), steps.m)


def _inside(steps: Steps, q: Floats, limits: bool) -> Any:
    ranges = Ranges.of(steps.m)
    return ranges.contain(ranges.turned(q, q)) if limits else np.ones(len(q), dtype=bool)


def _near_home(steps: Steps, q: Floats) -> Floats:
    """The same with angles within half a turn of home's, but for prescribed ones."""
    middle = np.broadcast_to(home(steps.m), q.shape)
    made = np.array(integrate(steps.m, middle, difference(steps.m, q, middle)))
    joints = list(steps.grid.asked.joints)
    made[:, joints] = q[:, joints]
    return made


def led(steps: Steps, lattice: Branch, q: Floats) -> tuple[int, Floats] | None:
    """A node near the pose of a closed configuration, and the configuration there on the same branch, if a straight way leads there."""
    asked, grid = steps.grid.asked, steps.grid
    here = values_at(steps.m, asked, q)
    way = lattice.values(np.arange(len(lattice.known))) - here
    turns = [k for k, name in enumerate(asked.pose) if name not in POSITION]
    way[:, turns] = (way[:, turns] + np.pi) % (2 * np.pi) - np.pi
    spans = [high - low for _, low, high in grid.ranges]
    order = np.argsort(np.abs(way[:, list(grid.varied)] / spans).max(axis=-1), kind="stable")
    for node in order[:NEAREST]:
        there = _continued(steps, q, here, way[node])
        if there is not None:
            return int(node), there
    return None


def _continued(steps: Steps, q: Floats, here: Floats, way: Floats) -> Floats | None:
    """The configuration at the end of a straight way of prescribed values, by steps in which no joint goes far."""
    code = steps.towards(q[None], here[None]).code[0]
    share, step = 0.0, 1.0
    while share < 1.0:
        found = steps.towards(q[None], (here + min(1.0, share + step) * way)[None])
        if found.good[0] and found.moved[0] <= NEAR and found.code[0] == code:
            q, share, step = found.q[0], share + step, 2 * step
        elif step > SHORTEST:
            step /= 2
        else:
            return None
    return q


def _spread_nodes(shape: tuple[int, ...]) -> Any:
    """Flat places of nodes, not many more than `POSES`, evenly over a lattice."""
    thin = 1
    while np.prod([-(-n // thin) for n in shape]) > 2 * POSES:
        thin += 1
    axes = [np.arange((n - 1) % thin // 2, n, thin) for n in shape]
    return np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), shape).ravel()


def _different(found: Seeds, m: Model) -> Seeds:
    """Of configurations that are the same at a node the one nearest home."""
    far = np.abs(difference(m, found.q, np.broadcast_to(home(m), found.q.shape))).max(
        axis=-1, initial=0.0
    )
    found = found.of(np.lexsort((far, found.node)))
    kept: list[int] = []
    ends = [0, *(np.flatnonzero(np.diff(found.node)) + 1), len(found.node)]
    for first, last in pairwise(ends):
        own: list[int] = []
        for k in range(first, last):
            if not own or apart(found.features[own], found.features[k]).all():
                own.append(k)
        kept += own
    return found.of(kept)


def working_modes(steps: Steps, strides: tuple[int, ...], limits: bool) -> list[Branch]:
    """A branch for each working mode, over the coarsest lattice.

    Legs are bent anew in each mode that is found, until that gives none which is not known yet: where there are many joints, few
    starts of all of them at once converge. What is found beyond limits counts if its branch leads to poses within them.
    """
    branches: list[Branch] = []
    found = seeds(steps, strides)
    inside = _inside(steps, found.q, limits)
    _begin(steps, strides, branches, found.of(inside))
    _begin(steps, strides, branches, _left(steps, branches, found.of(~inside)), limits)
    for branch in branches:  # which grows on the way
        _begin(steps, strides, branches, _left(steps, branches, bent_anew(steps, branch, limits)))
    return branches


def _begin(
    steps: Steps,
    strides: tuple[int, ...],
    branches: list[Branch],
    found: Seeds,
    limits: bool = False,
) -> None:
    """More branches for what was found; with `limits` those that are somewhere within them.

    The pose with the most configurations begins a branch with each; what is found elsewhere and is on no branch yet goes on one with
    the same signs, in a region that is not connected with the first, or begins another. That may turn out to be a known one whose
    coordinates are others, as a universal joint has two pairs of angles for each direction.
    """
    beyond: list[Branch] = []
    while len(found.node):
        node = _most_common(found.node)
        for k in np.flatnonzero(found.node == node):
            branch = next(
                (s for s in branches + beyond if s.code == found.code[k] and not s.known[node]),
                None,
            )
            is_new = branch is None
            branch = branch or Branch(steps.grid, strides, steps.m.nq, float(found.code[k]))
            branch.put(node, found.q[k])
            spread(branch, steps, alike(branches + beyond, branch))
            if is_new and not any(coincide(steps, branch, other) for other in branches + beyond):
                (
                    branches if _inside(steps, branch.q[branch.known], limits).any() else beyond
                ).append(branch)
        if len(beyond) > MOST:
            break
        if len(branches) > MOST:
            raise ModelError(
                f"{steps.m.name} has more than {MOST} working modes over this map; give one configuration or its mode as modes=."
            )
        found = _left(steps, branches + beyond, found.of(found.node != node))


def coincide(steps: Steps, first: Branch, second: Branch) -> bool:
    """Whether two branches are mostly the same configurations where both are known; at folds different ones meet."""
    both = np.flatnonzero(first.known & second.known)
    if not len(both):
        return False
    return bool(apart(steps.features(first.q[both]), steps.features(second.q[both])).mean() < 0.5)


def bent_anew(steps: Steps, branch: Branch, limits: bool) -> Seeds:
    """Configurations at poses of a branch from starts in which the joints of one block, such as those of a leg, are elsewhere."""
    m, known = steps.m, np.flatnonzero(branch.known)
    known = known[_inside(steps, branch.q[known], limits)]
    blocks = [list(own) for own in steps.blocks.columns if len(own) > 1]
    if len(blocks) == 1 or not len(known):  # of one block all starts were tried already
        blocks = []
    nodes = (
        known[np.linspace(0, len(known) - 1, LEG_POSES + 2).round().astype(int)[1:-1]]
        if blocks
        else known[:0]
    )
    node = np.tile(np.repeat(nodes, LEG_STARTS), len(blocks))
    drawn = np.random.default_rng(0).permutation(
        Ranges.of(m, characteristic_length(m)).spread(len(node))
    )
    way = np.array(difference(m, drawn, branch.q[node]))
    for k, own in enumerate(blocks):
        others = [i for i in range(m.nv) if i not in own]
        way[k * len(nodes) * LEG_STARTS :][: len(nodes) * LEG_STARTS, others] = 0.0
    found = _converged(steps, branch, np.asarray(integrate(m, branch.q[node], way)), node)
    return found.of(_inside(steps, found.q, limits))


def named(branches: list[Branch], blocks: Blocks) -> list[str]:
    """A name for each mode: the signs of the determinants of blocks of several joints; a number more where they do not tell modes
    from one another."""
    signs = [k for k, own in enumerate(blocks.columns) if len(own) > 1]
    made: list[str] = []
    for branch in branches:
        name = "".join("+" if int(branch.code) >> k & 1 else "-" for k in signs) or "+"
        count = sum(x.split()[0] == name for x in made)
        made.append(f"{name} {count + 1}" if count else name)
    return made


def chosen(
    steps: Steps, branches: dict[str, Branch], modes: Any, strides: tuple[int, ...]
) -> dict[str, Branch]:
    """Those that are asked for: all, some by name, or the one that a configuration is on."""
    if isinstance(modes, str) and modes == "all":
        return branches
    if isinstance(modes, str) or (
        isinstance(modes, list | tuple) and modes and all(isinstance(x, str) for x in modes)
    ):
        made: dict[str, Branch] = {}
        for name in names_of(modes, "modes"):
            if name in branches:
                made[name] = branches[name]
            else:
                known_words(
                    [name],
                    ["all", *branches, *steps.m.modes],
                    f"{steps.m.name} has no working mode",
                )
                made[name] = _through(steps, branches, steps.m.configuration(name), strides)
        return made
    q = states(modes, "modes", steps.m.nq, steps.m.name)
    if q.ndim != 1:
        raise ModelError(
            f"modes is 'all', names of working modes, or one configuration; it has shape {q.shape}."
        )
    through = _through(steps, branches, q, strides)
    return {next((name for name, x in branches.items() if x is through), "of the guess"): through}


def _through(
    steps: Steps, branches: dict[str, Branch], q: Floats, strides: tuple[int, ...]
) -> Branch:
    """The branch that a configuration is on."""
    m, lattice = steps.m, Branch(steps.grid, strides, 0, 0.0)
    closed = Assembly(m, Prescription(), Ranges.of(m).unlimited).started(q[None])[0]
    found = led(steps, lattice, closed)
    if found is None:
        raise AssemblyError(f"no straight way leads from this configuration of {m.name} to the poses of the map; give one nearer to them.")  # fmt: skip
    node, there = found
    features = steps.features(there[None])
    for branch in branches.values():
        if branch.known[node] and not apart(steps.features(branch.q[node][None]), features)[0]:
            return branch
    code = float(steps.towards(there[None], lattice.values(np.array([node]))).code[0])
    made = Branch(steps.grid, strides, m.nq, code)
    made.put(node, there)
    spread(made, steps)
    return made


def alike(branches: list[Branch], branch: Branch) -> tuple[Branch, ...]:
    """Other branches with the same signs."""
    return tuple(s for s in branches if s is not branch and s.code == branch.code)


def _most_common(nodes: Any) -> int:
    values, counts = np.unique(nodes, return_counts=True)
    return int(values[np.argmax(counts)])


def _left(steps: Steps, branches: list[Branch], found: Seeds) -> Seeds:
    """What is on no branch."""
    new = np.ones(len(found.node), dtype=bool)
    for branch in branches:
        both = np.flatnonzero(new & branch.known[found.node])
        if len(both):
            new[both] = apart(found.features[both], steps.features(branch.q[found.node[both]]))
    return found.of(new)
