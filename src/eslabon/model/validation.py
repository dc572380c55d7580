"""Which descriptions are mechanisms: structure, numbers, plausibility. An error names the item,
says the cure, and has its place.

Numbers and symbols alike: values given for one call are not checked one by one in Python. The least
of the margins is computed beside the result, and where it is negative, or no number,
`check_numbers` finds the sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from math import hypot
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import ModelError, ModelWarning, Place, suggest
from eslabon.model.items import (
    GROUND,
    ITEMS,
    Body,
    Coupling,
    Description,
    Item,
    Joint,
    Loop,
    Spring,
)
from eslabon.model.parameter_expressions import (
    ParameterExpression,
    check_parameter_name,
    dependency_order,
    leaves,
)
from eslabon.model.schema import (
    check_name,
    expressions_of,
    items_of,
    nonnegative_numbers,
    place_of,
    references,
)
from eslabon.numerics.scalars import Expression, casadi, is_symbolic
from eslabon.numerics.tolerances import INPUT_DIGITS, ROUND_OFF

if TYPE_CHECKING:
    from eslabon.model.model import Model

TIME = "t"  # in an expression of what may depend on the time, unless a parameter has that name
LARGEST = 1e100  # of any number: what an expression has no value for is beyond
Names = Mapping[str, Collection[str]]  # of items, by their section


# -- structure -------------------------------------------------------------------------------------


def uses_time(d: Description) -> bool:
    """Whether a loop or a coupling depends on the time."""
    if any(name == TIME for name, _ in d.parameters):
        return False
    items: tuple[Loop | Coupling, ...] = (*d.loops, *d.couplings)
    return any(TIME in x.names() for item in items for x in _timed(item))


def _timed(item: Loop | Coupling) -> Iterator[ParameterExpression]:
    """The expressions that may depend on the time: not the frames of a loop, which belong to
    bodies."""
    return (
        x
        for x in leaves(item.kind if isinstance(item, Loop) else item)
        if isinstance(x, ParameterExpression)
    )


def check_structure(d: Description) -> Description:
    """Names, references and the tree: everything that does not depend on the parameters' values."""
    for error in violations(d):
        raise error
    return d


def violations(d: Description, unread: Names | None = None) -> Iterator[ModelError]:
    """All that keeps a description from being a mechanism, each with its place.

    `unread` names the items of a file that could not be read. Whoever refers to them is right, and
    nothing is said of the tree, which is not whole.
    """
    whole, unread = unread is None, unread or {}
    if whole and not d.joints:
        yield ModelError("the mechanism has no joints; add at least one with its body.")
    yield from _name_errors(d)
    yield from _parameter_errors(d, unread.get("parameters", ()))
    yield from _body_errors(d, unread.get("bodies", ()))
    yield from _joint_errors(d, unread.get("joints", ()))
    if whole:
        yield from _tree_errors(d)


def _name_errors(d: Description) -> Iterator[ModelError]:
    yield from _wrong_name(d.name, "mechanism", ("name",))
    rooms: dict[str, list[tuple[str, str]]] = {}
    for section, kind in ITEMS.items():
        rooms.setdefault(kind.room, []).extend((x.name, section) for x in getattr(d, section))
    rooms["parameter"] = [(name, "parameters") for name, _ in d.parameters]
    for what, names in rooms.items():
        counts = Counter(name for name, _ in names)
        sections = dict(names)  # of a name that is used twice, the last section
        for name, count in counts.items():
            place = (sections[name], name)
            yield from _wrong_name(name, what, place)
            if count > 1:
                yield ModelError(
                    f"the name '{name}' is used for {count} items of the kind {what}; names are unique."
                ).at(*place)
            if name == GROUND and what == "body or frame":
                yield ModelError(
                    f"the name '{GROUND}' is the fixed frame's own; give the body or frame another name."
                ).at(*place)


def _wrong_name(name: str, what: str, place: Place) -> Iterator[ModelError]:
    try:
        check_name(name, what)
    except ModelError as error:
        yield error.at(*place)


def _parameter_errors(d: Description, unread: Collection[str]) -> Iterator[ModelError]:
    """Names of parameters, and expressions of parameters that are not there."""
    known, complete = {*unread, *(name for name, _ in d.parameters)}, not unread
    for name, _ in d.parameters:
        try:
            check_parameter_name(name)
        except ModelError as error:
            yield error.at("parameters", name)
    for owner, place, expression in _expressions(d):
        for name in expression.names():
            if name in known or (name == TIME and _may_vary(owner, expression)):
                continue
            complete = False
            label = f"'{owner.name}' uses" if owner is not None else "the mechanism uses"
            if name == TIME:
                sentence = (
                    f"{label} the time t in '{expression}'; only what a loop or a coupling holds may depend on it, "
                    "such as the length of a distance. A parameter of that name is to be declared."
                )
            else:
                hint = suggest(name, known, "; add it to the parameters.")
                sentence = f"{label} the parameter '{name}' in '{expression}', and no parameter has that name{hint}"
            yield ModelError(sentence).at(*place)
    if complete:
        try:
            dependency_order(dict(d.parameters))
        except ModelError as error:
            yield error


def _expressions(
    d: Description,
) -> Iterator[tuple[Item | None, Place, ParameterExpression]]:
    """All expressions of a description: the item that holds one, its place, and itself."""
    yield from ((None, ("gravity",), x) for x in d.gravity if isinstance(x, ParameterExpression))
    for name, value in d.parameters:
        if isinstance(value, ParameterExpression):
            yield None, ("parameters", name), value
    for item in items_of(d):
        yield from ((item, place, x) for place, x in expressions_of(item))


def _may_vary(owner: Item | None, expression: ParameterExpression) -> bool:
    """Whether an expression of an item may depend on the time."""
    return isinstance(owner, Loop | Coupling) and any(expression is x for x in _timed(owner))


def _body_errors(d: Description, unread: Collection[str]) -> Iterator[ModelError]:
    """What items say of bodies."""
    bodies = {GROUND, *unread, *(b.name for b in d.bodies)}
    for item in items_of(d):
        for place, kind, name in references(item):
            if kind == "body" and name not in bodies:
                hint = suggest(name, bodies, "; add it.")
                yield ModelError(
                    f"{item.word} '{item.name}' refers to the body '{name}', and there is none{hint}"
                ).at(*place)
    pairs: tuple[Loop | Spring, ...] = (*d.loops, *d.springs)
    for pair in pairs:
        if pair.first.body == pair.second.body:
            yield ModelError(
                f"{pair.word} '{pair.name}' joins the body '{pair.first.body}' to itself; name two bodies."
            ).at(*place_of(pair), "second", "body")


def _joint_errors(d: Description, unread: Collection[str]) -> Iterator[ModelError]:
    """What modes, actuators and couplings say of joints."""
    joints = {j.name: j for j in d.joints}
    mentions: dict[tuple[str, str], Place] = {
        ("the list of actuated joints", name): ("actuated",) for name in d.actuated
    }
    for x in items_of(d):
        for place, kind, name in references(x):
            if kind == "joint":
                mentions.setdefault((f"{x.word} '{x.name}'", name), place)
    for (owner, name), place in mentions.items():
        if name not in joints and name not in unread:
            hint = suggest(name, joints, "; add it.")
            if any(loop.name == name for loop in d.loops):
                hint = "; it is a loop, and a cut joint carries no coordinate: make it a tree joint and cut another."
            yield ModelError(f"{owner} names the joint '{name}', and there is none{hint}").at(
                *place
            )
    for mode in d.modes:
        for name, values in mode.coordinates:
            if name in joints and len(values) != (nq := joints[name].nq):
                yield ModelError(
                    f"mode '{mode.name}': the joint '{name}' has {nq} coordinates, not {len(values)}."
                ).at("modes", mode.name, name)
    for name, count in Counter(d.actuated).items():
        if count > 1:
            sentence = f"the joint '{name}' is actuated {count} times; name it once."
            yield ModelError(sentence).at("actuated")
        if name in joints and joints[name].nv == 0:
            sentence = f"the joint '{name}' is fixed and cannot be actuated; take it from the list."
            yield ModelError(sentence).at("actuated")
    for c in d.couplings:
        if c.joint == c.source:
            sentence = (
                f"coupling '{c.name}' couples the joint '{c.joint}' to itself; name two joints."
            )
            yield ModelError(sentence).at("couplings", c.name, "source")
        for field, name in (("joint", c.joint), ("source", c.source or c.joint)):
            if name in joints and joints[name].nv != 1:
                kind = joints[name].kind.kind
                yield ModelError(
                    f"coupling '{c.name}' needs joints of one degree of freedom; '{name}' is {kind}."
                ).at("couplings", c.name, field)


def _tree_errors(d: Description) -> Iterator[ModelError]:
    carrier: dict[str, Joint] = {}
    for j in d.joints:
        if j.child == GROUND:
            yield ModelError(
                f"joint '{j.name}' has the ground as its child; exchange its parent and child."
            ).at("joints", j.name, "child")
        elif j.child in carrier:
            yield ModelError(
                f"the body '{j.child}' has two parents, through the joints '{carrier[j.child].name}' and '{j.name}'; "
                "keep one and make the other a loop."
            ).at("joints", j.name, "child")
        else:
            carrier[j.child] = j
    for body in d.bodies:
        if body.name not in carrier:
            yield ModelError(
                f"the body '{body.name}' hangs on nothing; add a joint with '{body.name}' as its child "
                "(of kind free if it moves freely)."
            ).at("bodies", body.name)
    try:
        TopologicalSorter({child: [j.parent] for child, j in carrier.items()}).prepare()
    except CycleError as error:
        first, *_ = circle = error.args[1][1:]
        yield ModelError(
            f"the bodies {', '.join(circle)} hang on one another in a circle; hang one on the ground."
        ).at("joints", carrier[first].name, "parent")


def tree_order(d: Description) -> Description:
    """The joints parents first, otherwise in the order they were written; the bodies in the order
    of their joints."""
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


# -- numbers ---------------------------------------------------------------------------------------


class Requirement(NamedTuple):
    """What must not be negative, whose field it is, and the sentence with the numbers it shows."""

    margin: Any
    item: Item
    field: str
    sentence: str
    numbers: tuple[Any, ...] = ()

    @property
    def owner(self) -> str:
        return f"{self.item.word} '{self.item.name}'"

    def error(self) -> ModelError:
        said = self.sentence.format(*self.numbers) if self.numbers else self.sentence
        return ModelError(f"{self.owner}: {said}").at(*place_of(self.item), self.field)


def requirements(m: Model) -> Iterator[Requirement]:
    """What must not be negative of a model with numbers or symbols."""
    for item in (*m.bodies, *m.joints, *m.loops, *m.springs):
        for key, x in nonnegative_numbers(item):
            word = key.replace("_", " ")
            yield Requirement(x, item, key, f"the {word} is {{:g}}; it cannot be negative.", (x,))
        if isinstance(item, Joint | Loop):
            for margin, field, why in item.kind.requirements():
                yield Requirement(margin, item, field, why)
    for j in m.joints:
        for ends in j.limits or ():
            crossed = "the lower limit {:g} is above the upper {:g}; exchange them."
            yield Requirement(ends[1] - ends[0], j, "limits", crossed, ends)
        for ratio in j.gear_ratio or ():
            zero = "the gear ratio is zero; it is motor turns a joint turn."
            yield Requirement(ratio * ratio - ROUND_OFF**2, j, "gear_ratio", zero)
    for c in m.couplings:
        zero = f"the ratio is zero; make the joint '{c.joint}' fixed."
        yield Requirement(c.ratio * c.ratio - ROUND_OFF**2, c, "ratio", zero)


def check_numbers(m: Model) -> None:
    """Refuse numbers that no mechanism has."""
    try:
        for error in inadmissible(m):
            raise error
    except ModelError as error:
        if not error.place:  # of an expression without a value
            for placed in without_value(m.description):
                raise placed from None
        raise


def without_value(d: Description) -> Iterator[ModelError]:
    """The expressions that have no value, such as 1/0, each at its place; not those of parameters
    without one."""
    values, errors = _parameter_values(d)
    yield from errors
    for _, place, expression in _expressions(d):
        if place[0] != "parameters" and values.keys() >= set(expression.names()):
            try:
                expression.evaluate(values)
            except ModelError as error:
                yield error.at(*place)


def with_values(d: Description) -> Description:
    """The description without the parameters and items that have no value, for their expressions
    have none."""
    values, _ = _parameter_values(d)
    wrong = {error.place[:2] for error in without_value(d)}
    wrong |= {
        place[:2]
        for _, place, expression in _expressions(d)
        if not values.keys() >= set(expression.names())
    }
    items: dict[str, Any] = {
        section: tuple(x for x in getattr(d, section) if place_of(x) not in wrong)
        for section in ITEMS
    }
    parameters = tuple((n, x) for n, x in d.parameters if ("parameters", n) not in wrong)
    return replace(d, parameters=parameters, **items)


def _parameter_values(d: Description) -> tuple[dict[str, Any], list[ModelError]]:
    """The values of the parameters that have one, and what is wrong with those that could."""
    values: dict[str, Any] = {n: x for n, x in d.parameters if isinstance(x, float)}
    if uses_time(d):
        values[TIME] = 0.0
    errors, definitions = list[ModelError](), dict(d.parameters)
    try:
        order = dependency_order(definitions)
    except ModelError:  # the structure is wrong, and was told so
        return values, errors
    for name in order:
        x = definitions.get(name)
        if isinstance(x, ParameterExpression) and values.keys() >= set(x.names()):
            try:
                values[name] = x.evaluate(values)
            except ModelError as error:
                errors.append(error.at("parameters", name))
    return values, errors


def inadmissible(m: Model) -> Iterator[ModelError]:
    """The numbers that no mechanism has, each with its place."""
    for requirement in requirements(m):
        if requirement.margin < 0:
            yield requirement.error()
    extents = _extents(m)
    for body, moments in zip(m.bodies, principal_moments(m.bodies), strict=True):
        if moments[0] < -_round_off(body, moments, extents[body.name]):
            yield ModelError(
                f"body '{body.name}': the inertia has the negative principal value {moments[0]:g}; "
                "check its entries and that it is about the centre of mass."
            ).at("bodies", body.name, "inertia")
    for shape in m.shapes:
        place = ("shapes", shape.name, "size")
        if shape.kind != "mesh" and min(shape.size) <= 0:  # a mesh may be mirrored
            yield ModelError(
                f"shape '{shape.name}': the size {min(shape.size):g} is not positive; give lengths in metres."
            ).at(*place)
        elif 0.0 in shape.size:
            yield ModelError(
                f"shape '{shape.name}': a scale of zero makes the mesh flat; 1 is the size that its file has."
            ).at(*place)
    for j in m.joints:
        if (
            j.home is not None
            and (squared := j.kind.length(np.array(j.home))) is not None
            and abs(squared - 1) > 2 * INPUT_DIGITS
        ):
            yield ModelError(
                f"joint '{j.name}': home's quaternion has the length {squared**0.5:g}; it must be 1."
            ).at("joints", j.name, "home")


def margin(m: Model) -> Expression:
    """The least of all margins of a model with symbols: zero or more where its parameters are
    admissible."""
    # A home is where a mechanism starts from, and nothing in a call depends on it.
    joints = tuple(replace(joint, home=None) for joint in m.joints)
    items = (m.gravity, m.bodies, joints, m.loops, m.couplings, m.springs, m.wrenches, m.frames)
    margins = [LARGEST - abs(x) for x in leaves(items) if is_symbolic(x)]
    margins += [x.margin for x in requirements(m)] + [
        x for body in m.bodies for x in _inertia_margins(body)
    ]
    least = casadi.SX(1.0)
    for x in margins:
        if is_symbolic(x):
            # A margin that is no number counts as a violation, which `fmin` alone would pass over.
            least = casadi.if_else(x >= 0, casadi.fmin(least, x), -1.0)
    return least


def _inertia_margins(body: Body) -> Iterator[Expression]:
    """A symmetric matrix has no negative principal value where no coefficient of its characteristic
    polynomial is."""
    if not is_symbolic(*body.inertia):
        return
    I = casadi.SX(body.inertia_matrix())
    size = casadi.sqrt(casadi.sumsqr(I))
    I = I / casadi.if_else(size > 0, size, 1.0) + INPUT_DIGITS * casadi.SX.eye(3)
    minors = [I[i, i] * I[j, j] - I[i, j] * I[j, i] for i, j in ((0, 1), (0, 2), (1, 2))]
    yield from (casadi.trace(I), minors[0] + minors[1] + minors[2], casadi.det(I))


def principal_moments(bodies: Sequence[Body]) -> Floats:
    """The principal moments of bodies, a row each, smallest first."""
    xx, yy, zz, xy, xz, yz = (
        np.array([body.inertia for body in bodies], dtype=float).reshape(-1, 6).T
    )
    # scaled, so that nothing overflows
    largest = np.abs([xx, yy, zz, xy, xz, yz]).max(axis=0) + np.finfo(float).tiny
    matrices = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / largest
    return np.linalg.eigvalsh(np.moveaxis(matrices, -1, 0)) * largest[:, None]


def nearest_inertia(I: Floats) -> Floats:
    """The inertia closest to a matrix, in Frobenius' norm, of those that a solid body can have:
    symmetric, with principal moments Ji = pj + pk of second moments p that are not negative, so
    that none exceeds the sum of the others.

    >>> import numpy as np
    >>> nearest_inertia(np.diag([-0.1, 2.0, 2.0])).round(12) + 0.0
    array([[0., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    from scipy.optimize import nnls

    size = float(np.abs(I).max()) or 1.0
    values, axes = np.linalg.eigh((I / size + I.T / size) / 2)
    sums = np.ones((3, 3)) - np.eye(3)
    nearest = (axes * (sums @ nnls(sums, values)[0])) @ axes.T
    return (nearest + nearest.T) / 2 * size


def round_off_moment(body: Body, extent: float) -> float:
    """The size of a moment or product of inertia that is round-off: of the largest, and of the mass
    at the distance of the farthest point of the body that is known."""
    largest, distance = max(map(abs, body.inertia)), max(extent, hypot(*body.com))
    return 1e-15 * max(largest, abs(body.mass) * distance * distance)


def _extents(m: Model) -> dict[str, float]:
    """How far from its origin a body reaches: to the joints, loops and frames on it; to the
    farthest of all bodies' if it says nothing of that."""
    found = {body.name: hypot(*body.com) for body in m.bodies}
    places = [(end.body, end.at) for loop in m.loops for end in (loop.first, loop.second)]
    places += [(x.body, x.at) for x in m.frames] + [(x.parent, x.at) for x in m.joints]
    for body, at in places:
        found[body] = max(found.get(body, 0.0), hypot(*at.position))
    farthest = max(found.values(), default=0.0) or 1.0
    return {name: x or farthest for name, x in found.items()}


def _round_off(body: Body, moments: Floats, extent: float) -> float:
    """What the moments may miss by: their last published digit, and round-off."""
    return float(INPUT_DIGITS * np.abs(moments).max()) + round_off_moment(body, extent)


# -- plausibility ----------------------------------------------------------------------------------


def implausible(m: Model) -> Iterator[ModelWarning]:
    """What is legal and yet looks like a slip, each with its place."""
    extents = _extents(m)
    for body, moments in zip(m.bodies, principal_moments(m.bodies), strict=True):
        small, middle, large = moments
        if large > small + middle + _round_off(body, moments, extents[body.name]):
            yield ModelWarning(
                f"body '{body.name}' has the principal moments {small:.4g}, {middle:.4g}, {large:.4g}, and no solid "
                "body can: the largest exceeds the sum of the others. Published tables often give only the moments that matter."
            ).at("bodies", body.name, "inertia")
        if body.mass == 0 and large > 0:
            yield ModelWarning(f"body '{body.name}' has moments of inertia and no mass.").at(
                "bodies", body.name, "inertia"
            )
    for j in m.joints:
        for value, (lower, upper) in zip(j.home or (), j.limits or (), strict=False):
            if not lower <= value <= upper:
                yield ModelWarning(
                    f"joint '{j.name}' starts at {value:.4g}, outside its limits {lower:.4g} to {upper:.4g}."
                ).at("joints", j.name, "home")


def moving_bodies_weigh_nothing(m: Model) -> Iterator[ModelWarning]:
    """The sentence about a mechanism whose bodies that move are all without mass and inertia: as
    often as not a file that lost them. A sketch for kinematics is made so on purpose, and therefore
    only files are asked."""
    moving: set[str] = set()
    for j in m.joints:  # parents first
        if j.nv or j.parent in moving:
            moving.add(j.child)
    if moving and not any(
        body.mass or any(body.inertia) for body in m.bodies if body.name in moving
    ):
        yield ModelWarning(
            "no moving body has a mass or a moment of inertia, so that nothing but kinematics can be computed; "
            "give the bodies their masses and inertias."
        )
