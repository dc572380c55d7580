"""Is this a mechanism? Every refusal names the item and the cure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from heapq import heappop, heappush
from math import hypot
from typing import TYPE_CHECKING, Any
from unicodedata import category

import numpy as np

from eslabon.errors import ModelError, shown, suggest
from eslabon.model.expressions import check_parameter_name, dependency_order, expressions
from eslabon.model.items import GROUND, Body, Coupling, Description, Joint, Loop

if TYPE_CHECKING:
    from eslabon.model.model import Model

# Published moments carry about six digits; what they miss by is no reason to refuse or to warn.
ROUNDING = 1e-6
# Control characters, lone surrogates, and what breaks lines: they break tables, sentences and files.
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")


TIME = "t"  # in an expression of what may depend on the time, unless a parameter has that name


def uses_time(d: Description) -> bool:
    """Whether a loop or a coupling depends on the time."""
    if any(name == TIME for name, _ in d.parameters):
        return False
    return any(TIME in x.names() for item in (*d.loops, *d.couplings) for x in _timed(item))


def _timed(item: Any) -> Iterator[Any]:
    """The expressions that may depend on the time: not where the frames of a loop are, which belongs to bodies."""
    return expressions(item.kind if isinstance(item, Loop) else item)


def check_structure(d: Description) -> Description:
    """Names, references and the tree: everything that does not depend on the parameters' values."""
    if not d.joints:
        raise ModelError("the mechanism has no joints; add at least one with its body.")
    _check_names(d)
    _check_parameters(d)
    _check_references(d)
    _check_tree(d)
    return d


def check_name(name: Any, what: str) -> str:
    """The name, if it can stand in a file, a table and a sentence: any text without control characters."""
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"a {what} has no name, for {shown(name)} is none; give it one, a text.")
    if any(category(letter) in UNPRINTABLE for letter in name):
        raise ModelError(f"the name {name!a} of a {what} has a control character, such as a line break; take it out.")
    return name


def _check_names(d: Description) -> None:
    check_name(d.name, "mechanism")
    rooms: dict[str, list[str]] = {
        "body or frame": [*(b.name for b in d.bodies), *(f.name for f in d.frames)],
        "joint or loop": [*(j.name for j in d.joints), *(x.name for x in d.loops), *(c.name for c in d.couplings)],
        "spring": [x.name for x in d.springs],
        "mode": [x.name for x in d.modes],
        "wrench": [x.name for x in d.wrenches],
        "parameter": [name for name, _ in d.parameters],
    }
    for what, names in rooms.items():
        for name, count in Counter(names).items():
            check_name(name, what)
            if count > 1:
                raise ModelError(f"the name '{name}' is used for {count} items of the kind {what}; names are unique.")
    if GROUND in rooms["body or frame"]:
        raise ModelError(f"the name '{GROUND}' is the fixed frame's own; give the body or frame another name.")


def _check_parameters(d: Description) -> None:
    known = {check_parameter_name(name) for name, _ in d.parameters}
    items = (d.bodies, d.joints, d.loops, d.couplings, d.springs, d.wrenches, d.frames, d.modes)
    for owner in (d.gravity, *(value for _, value in d.parameters), *(item for kind in items for item in kind)):
        for expression in expressions(owner):
            for name in expression.names():
                if name == TIME and name not in known and _may_vary(owner, expression):
                    continue
                if name not in known:
                    label = f"'{owner.name}' uses" if hasattr(owner, "name") else "the mechanism uses"
                    if name == TIME:
                        raise ModelError(
                            f"{label} the time t in '{expression}'; only what a loop or a coupling holds may depend on it, "
                            "such as the length of a distance. A parameter of that name is to be declared."
                        )
                    raise ModelError(
                        f"{label} the parameter '{name}' in '{expression}', and no parameter has that name"
                        f"{suggest(name, known, '; add it to the parameters.')}"
                    )
    dependency_order(dict(d.parameters))


def _may_vary(owner: Any, expression: Any) -> bool:
    """Whether an expression of an item may depend on the time."""
    return isinstance(owner, Loop | Coupling) and any(expression is x for x in _timed(owner))


def _check_references(d: Description) -> None:
    bodies = {GROUND, *(b.name for b in d.bodies)}
    joints = {j.name: j for j in d.joints}

    def body(name: str, owner: str) -> None:
        if name not in bodies:
            raise ModelError(
                f"{owner} refers to the body '{name}', and there is none{suggest(name, bodies, '; add it.')}"
            )

    for j in d.joints:
        body(j.parent, f"joint '{j.name}'")
        body(j.child, f"joint '{j.name}'")
    for what, ends in (("loop", d.loops), ("spring", d.springs)):
        for x in ends:
            body(x.first.body, f"{what} '{x.name}'")
            body(x.second.body, f"{what} '{x.name}'")
            if x.first.body == x.second.body:
                raise ModelError(f"{what} '{x.name}' joins the body '{x.first.body}' to itself; name two bodies.")
    for what, owners in (("wrench", d.wrenches), ("frame", d.frames)):
        for y in owners:
            body(y.body, f"{what} '{y.name}'")
    for mode in d.modes:
        for name, values in mode.coordinates:
            if name not in joints:
                raise ModelError(
                    f"mode '{mode.name}' places the joint '{name}', and there is none{suggest(name, joints)}"
                )
            if len(values) != joints[name].nq:
                raise ModelError(
                    f"mode '{mode.name}': the joint '{name}' has {joints[name].nq} coordinates, not {len(values)}."
                )
    for name, owner in [(n, "the list of actuated joints") for n in d.actuated] + [
        (n, f"coupling '{c.name}'") for c in d.couplings for n in (c.joint, c.source) if n is not None
    ]:
        if name not in joints:
            hint = suggest(name, joints, "; add it.")
            if any(loop.name == name for loop in d.loops):
                hint = "; it is a loop, and a cut joint carries no coordinate: make it a tree joint and cut another."
            raise ModelError(f"{owner} names the joint '{name}', and there is none{hint}")
    for name, count in Counter(d.actuated).items():
        if count > 1:
            raise ModelError(f"the joint '{name}' is actuated {count} times; name it once.")
        if joints[name].nv == 0:
            raise ModelError(f"the joint '{name}' is fixed and cannot be actuated; take it from the list.")
    for c in d.couplings:
        if c.joint == c.source:
            raise ModelError(f"coupling '{c.name}' couples the joint '{c.joint}' to itself; name two joints.")
        for name in (c.joint, c.source or c.joint):
            if joints[name].nv != 1:
                raise ModelError(
                    f"coupling '{c.name}' needs joints of one degree of freedom; '{name}' is {joints[name].kind.kind}."
                )


def _check_tree(d: Description) -> None:
    carrier: dict[str, Joint] = {}
    for j in d.joints:
        if j.child == GROUND:
            raise ModelError(f"joint '{j.name}' has the ground as its child; exchange its parent and child.")
        if j.child in carrier:
            raise ModelError(
                f"the body '{j.child}' has two parents, through the joints '{carrier[j.child].name}' and '{j.name}'; "
                "keep one and make the other a loop."
            )
        carrier[j.child] = j
    hung = {GROUND}  # what is known to hang on the ground, so that no way up is walked twice
    for body in d.bodies:
        name, path = body.name, dict.fromkeys([body.name])
        while name not in hung:
            if name not in carrier:
                raise ModelError(
                    f"the body '{name}' hangs on nothing; add a joint with '{name}' as its child "
                    "(of kind free if it moves freely)."
                )
            name = carrier[name].parent
            if name in path:
                circle = [*path][[*path].index(name) :]
                raise ModelError(
                    f"the bodies {', '.join(reversed(circle))} hang on one another in a circle; hang one on the ground."
                )
            path[name] = None
        hung.update(path)


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


def check_numbers(m: Model) -> None:
    """All that depends on the parameters' values."""
    for body, moments in zip(m.bodies, _principal_moments(m), strict=True):
        if body.mass < 0:
            raise ModelError(f"body '{body.name}': the mass is {body.mass:g}; it cannot be negative.")
        if moments[0] < -_round_off(body, moments):
            raise ModelError(
                f"body '{body.name}': the inertia has the negative principal value {moments[0]:g}; "
                "check its entries and that it is about the centre of mass."
            )
    for what, kind in [(f"joint '{j.name}'", j.kind) for j in m.joints] + [
        (f"loop '{x.name}'", x.kind) for x in m.loops
    ]:
        try:
            kind.check()
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None
    for j in m.joints:
        _check_joint_data(j)
    for spring in m.springs:
        for what in ("stiffness", "damping", "length"):
            if getattr(spring, what) < 0:
                raise ModelError(
                    f"spring '{spring.name}': the {what} is {getattr(spring, what):g}; it cannot be negative."
                )
    for coupling in m.couplings:
        if coupling.ratio == 0:
            raise ModelError(f"coupling '{coupling.name}': the ratio is zero; make the joint '{coupling.joint}' fixed.")


def _check_joint_data(j: Joint) -> None:
    for lower, upper in j.limits or ():
        if lower > upper:
            raise ModelError(
                f"joint '{j.name}': the lower limit {lower:g} is above the upper {upper:g}; exchange them."
            )
    for what in ("velocity_limit", "effort_limit", "viscous", "coulomb", "stiffness", "motor_inertia"):
        for value in getattr(j, what) or ():
            if value < 0:
                raise ModelError(f"joint '{j.name}': the {what.replace('_', ' ')} is {value:g}; it cannot be negative.")
    for ratio in j.gear_ratio or ():
        if ratio == 0:
            raise ModelError(f"joint '{j.name}': the gear ratio is zero; it is motor turns a joint turn.")
    if j.home is not None and not j.kind.plain:
        length = hypot(*(x for x, c in zip(j.home, j.kind.coordinates, strict=True) if not c.unit))
        if abs(length - 1) > 1e-6:
            raise ModelError(f"joint '{j.name}': home's quaternion has the length {length:g}; it must be 1.")


def _principal_moments(m: Model) -> np.ndarray:
    """The principal moments of every body, a row each, smallest first."""
    xx, yy, zz, xy, xz, yz = np.array([body.inertia for body in m.bodies], dtype=float).T
    largest = np.abs([xx, yy, zz, xy, xz, yz]).max(axis=0) + np.finfo(float).tiny  # scaled, so that nothing overflows
    matrices = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / largest
    return np.linalg.eigvalsh(np.moveaxis(matrices, -1, 0)) * largest[:, None]


def _round_off(body: Body, moments: Any) -> float:
    """What the moments may miss by: their last published digit, and round-off of the m d^2 they were moved by."""
    distance = hypot(*body.com)
    return float(ROUNDING * np.abs(moments).max()) + 1e-15 * body.mass * distance * distance


def suspicions(m: Model) -> Iterator[str]:
    """What is legal and yet looks like a slip."""
    for body, (small, middle, large) in zip(m.bodies, _principal_moments(m), strict=True):
        if large > small + middle + _round_off(body, (small, middle, large)):
            yield (
                f"body '{body.name}' has the principal moments {small:.4g}, {middle:.4g}, {large:.4g}, and no solid "
                "body can: the largest exceeds the sum of the others. Published tables often give only the moments that matter."
            )
        if body.mass == 0 and large > 0:
            yield f"body '{body.name}' has moments of inertia and no mass."
    for j in m.joints:
        for value, (lower, upper) in zip(j.home or (), j.limits or (), strict=False):
            if not lower <= value <= upper:
                yield f"joint '{j.name}' starts at {value:.4g}, outside its limits {lower:.4g} to {upper:.4g}."
