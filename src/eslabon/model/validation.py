"""Is this a mechanism, whatever its numbers? Every refusal names the item and the cure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import Any

from eslabon.errors import ModelError, suggest
from eslabon.model.items import GROUND, ITEMS, Coupling, Description, Joint, Loop, Spring
from eslabon.model.parameter_expressions import (
    ParameterExpression,
    check_parameter_name,
    dependency_order,
    leaves,
)
from eslabon.model.schema import check_name, items_of, references

TIME = "t"  # in an expression of what may depend on the time, unless a parameter has that name


def uses_time(d: Description) -> bool:
    """Whether a loop or a coupling depends on the time."""
    if any(name == TIME for name, _ in d.parameters):
        return False
    return any(TIME in x.names() for item in (*d.loops, *d.couplings) for x in _timed(item))


def _timed(item: Any) -> Iterator[ParameterExpression]:
    """The expressions that may depend on the time: not where the frames of a loop are, which belongs to bodies."""
    return (
        x
        for x in leaves(item.kind if isinstance(item, Loop) else item)
        if isinstance(x, ParameterExpression)
    )


def check_structure(d: Description) -> Description:
    """Names, references and the tree: everything that does not depend on the parameters' values."""
    for sentence in violations(d):
        raise ModelError(sentence)
    return d


def violations(d: Description, tree: bool = True) -> Iterator[str]:
    """All that keeps a description from being a mechanism, a sentence each; without `tree`, of a part of one."""
    if tree and not d.joints:
        yield "the mechanism has no joints; add at least one with its body."
    yield from _names(d)
    yield from _parameters(d)
    yield from _references(d)
    yield from _coordinates(d)
    if tree:
        yield from _tree(d)


def _names(d: Description) -> Iterator[str]:
    check_name(d.name, "mechanism")
    rooms: dict[str, list[str]] = {}
    for section, kind in ITEMS.items():
        rooms.setdefault(kind.room, []).extend(x.name for x in getattr(d, section))
    rooms["parameter"] = [name for name, _ in d.parameters]
    for what, names in rooms.items():
        for name, count in Counter(names).items():
            check_name(name, what)
            if count > 1:
                yield f"the name '{name}' is used for {count} items of the kind {what}; names are unique."
    if GROUND in rooms["body or frame"]:
        yield f"the name '{GROUND}' is the fixed frame's own; give the body or frame another name."


def _parameters(d: Description) -> Iterator[str]:
    known = {check_parameter_name(name) for name, _ in d.parameters}
    complete = True
    for owner in (d.gravity, *(value for _, value in d.parameters), *items_of(d)):
        for expression in leaves(owner):
            for name in expression.names() if isinstance(expression, ParameterExpression) else ():
                if name in known or (name == TIME and _may_vary(owner, expression)):
                    continue
                complete = False
                label = f"'{owner.name}' uses" if hasattr(owner, "name") else "the mechanism uses"
                if name == TIME:
                    yield (
                        f"{label} the time t in '{expression}'; only what a loop or a coupling holds may depend on it, "
                        "such as the length of a distance. A parameter of that name is to be declared."
                    )
                else:
                    yield (
                        f"{label} the parameter '{name}' in '{expression}', and no parameter has that name"
                        f"{suggest(name, known, '; add it to the parameters.')}"
                    )
    if complete:
        dependency_order(dict(d.parameters))


def _may_vary(owner: Any, expression: Any) -> bool:
    """Whether an expression of an item may depend on the time."""
    return isinstance(owner, Loop | Coupling) and any(expression is x for x in _timed(owner))


def _references(d: Description) -> Iterator[str]:
    """What items say of bodies."""
    bodies = {GROUND, *(b.name for b in d.bodies)}
    for item in items_of(d):
        for _, kind, name in references(item):
            if kind == "body" and name not in bodies:
                hint = suggest(name, bodies, "; add it.")
                yield f"{item.word} '{item.name}' refers to the body '{name}', and there is none{hint}"
    pairs: tuple[Loop | Spring, ...] = (*d.loops, *d.springs)
    for pair in pairs:
        if pair.first.body == pair.second.body:
            yield f"{pair.word} '{pair.name}' joins the body '{pair.first.body}' to itself; name two bodies."


def _coordinates(d: Description) -> Iterator[str]:
    """What modes, actuators and couplings say of joints."""
    joints = {j.name: j for j in d.joints}
    mentions = [("the list of actuated joints", name) for name in d.actuated]
    mentions += [
        (f"{x.word} '{x.name}'", name)
        for x in items_of(d)
        for _, kind, name in references(x)
        if kind == "joint"
    ]
    for owner, name in dict.fromkeys(mentions):
        if name not in joints:
            hint = suggest(name, joints, "; add it.")
            if any(loop.name == name for loop in d.loops):
                hint = "; it is a loop, and a cut joint carries no coordinate: make it a tree joint and cut another."
            yield f"{owner} names the joint '{name}', and there is none{hint}"
    for mode in d.modes:
        for name, values in mode.coordinates:
            if name in joints and len(values) != (nq := joints[name].nq):
                yield f"mode '{mode.name}': the joint '{name}' has {nq} coordinates, not {len(values)}."
    for name, count in Counter(d.actuated).items():
        if count > 1:
            yield f"the joint '{name}' is actuated {count} times; name it once."
        if name in joints and joints[name].nv == 0:
            yield f"the joint '{name}' is fixed and cannot be actuated; take it from the list."
    for c in d.couplings:
        if c.joint == c.source:
            yield f"coupling '{c.name}' couples the joint '{c.joint}' to itself; name two joints."
        for name in (c.joint, c.source or c.joint):
            if name in joints and joints[name].nv != 1:
                kind = joints[name].kind.kind
                yield f"coupling '{c.name}' needs joints of one degree of freedom; '{name}' is {kind}."


def _tree(d: Description) -> Iterator[str]:
    carrier: dict[str, Joint] = {}
    for j in d.joints:
        if j.child == GROUND:
            yield f"joint '{j.name}' has the ground as its child; exchange its parent and child."
        elif j.child in carrier:
            yield (
                f"the body '{j.child}' has two parents, through the joints '{carrier[j.child].name}' and '{j.name}'; "
                "keep one and make the other a loop."
            )
        else:
            carrier[j.child] = j
    for body in d.bodies:
        if body.name not in carrier:
            yield (
                f"the body '{body.name}' hangs on nothing; add a joint with '{body.name}' as its child "
                "(of kind free if it moves freely)."
            )
    try:
        TopologicalSorter({child: [j.parent] for child, j in carrier.items()}).prepare()
    except CycleError as error:
        circle = ", ".join(error.args[1][1:])
        yield f"the bodies {circle} hang on one another in a circle; hang one on the ground."


def tree_order(d: Description) -> Description:
    """The joints parents first, otherwise in the order they were written; the bodies in the order of their joints."""
    written = {j.name: k for k, j in enumerate(d.joints)}
    carried: dict[str, list[int]] = {}
    for j in d.joints:
        carried.setdefault(j.parent, []).append(written[j.name])
    ready, ordered = carried.get(GROUND, [])[:], []  # a heap: the joint written first comes first
    while ready:
        ordered.append(d.joints[heappop(ready)])
        for k in carried.get(ordered[-1].child, ()):
            heappush(ready, k)
    bodies = {b.name: b for b in d.bodies}
    rank = {j.name: k for k, j in enumerate(ordered)}
    return replace(
        d,
        joints=tuple(ordered),
        bodies=tuple(bodies[j.child] for j in ordered),
        actuated=tuple(sorted(d.actuated, key=lambda name: rank[name])),
    )
