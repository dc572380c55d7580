"""The one table of calls: name, verb, arguments, and what is read of the answer.

A verb that is renamed costs a line here; the first word of a line, the name in the recording,
stays. Calls on a mechanism get a `MechanismCase` c: the mechanism c.m in the state c.q, c.v, c.a,
c.tau.

Every call is recorded at mechanisms chosen by a rule:

* `EVERYWHERE`: the library and all drawn mechanisms.
* `THOROUGH`: the library and every fifth drawn mechanism; calls that compile large graphs or
  search.
* `AT_SOME`: eight small mechanisms of the library, `FEW`, and every tenth drawn one; formulations
  and ways to impose loops.
* `AT_FEW`: `FEW` alone; calls that take seconds, or whose numbers another call gives too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import casadi
import numpy as np

import eslabon as es
from baseline.answers import Counts
from baseline.cases import FunctionCase, GraphCase, MechanismCase
from baseline.compare import GROWTH, TOLERANCE, Precision
from baseline.states import TIME, drawn_names

FEW = (
    "cart_pole",
    "double_pendulum",
    "elbow",
    "five_bar",
    "four_bar_spring",
    "planar_3rrr",
    "puma560",
    "slider_crank",
)
GRAPH = "graph:"
FUNCTIONS = "functions"
FORWARD = np.array([0.002, 0.001, 0.0])  # m, a short way that a frame is led


# -- where -----------------------------------------------------------------------------------------


@cache
def drawn() -> list[str]:
    return drawn_names()


def EVERYWHERE(name: str) -> bool:
    return True


def THOROUGH(name: str) -> bool:
    return name not in drawn() or drawn().index(name) % 5 == 0


def AT_FEW(name: str) -> bool:
    return name in FEW


def AT_SOME(name: str) -> bool:
    return name in FEW or (name in drawn() and drawn().index(name) % 10 == 0)


def at(*names: str) -> Callable[[str], bool]:
    return lambda name: name in names


# -- what is read of an answer ---------------------------------------------------------------------

Reader = Callable[[Any], Any]


def whole(x: Any) -> Any:
    return x


def fields(*names: str, **renamed: str) -> Reader:
    """Some attributes by name; `label="attribute"` records an attribute under the name that it once
    had."""
    wanted = {**{name: name for name in names}, **renamed}
    return lambda x: {label: getattr(x, attribute) for label, attribute in wanted.items()}


def data_of(*names: str) -> Reader:
    """Some data of a control law by name."""
    return lambda law: {name: law.data[name] for name in names}


def each(read: Reader) -> Reader:
    return lambda items: [read(x) for x in items]


def span(rows: Any) -> Any:
    """The projector onto the space of some rows: bases of one space may differ by signs and
    turns."""
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    if rows.size == 0:
        return rows.shape[-1]
    _, sizes, right = np.linalg.svd(rows, full_matrices=False)
    kept = right[sizes > 1e-9 * sizes.max()]
    return kept.T @ kept


def outline(m: Any) -> dict[str, Any]:
    """What tells a mechanism from another: names, numbers of things, masses, home."""
    return {
        "name": m.name, "joints": [j.name for j in m.joints], "bodies": [b.name for b in m.bodies],
        "loops": [x.name for x in m.loops], "frames": [f.name for f in m.frames],
        "actuated": m.actuated,
        "nq": m.nq, "nv": m.nv, "gravity": np.array(m.gravity, dtype=float),
        "parameters": dict(m.parameters),
        "home": m.home(), "inertial_parameters": m.inertial_parameters(),
        "limits": [repr(j.limits) for j in m.joints],
        "viscous": [repr(j.viscous) for j in m.joints],
    }  # fmt: skip


def singular_motions(x: Any) -> dict[str, Any]:
    spaces = {
        name: span(getattr(x, name)) for name in ("lost", "carried", "gained", "self_motions")
    }
    return {**fields("parallel", "serial", "locked", "words")(x), **spaces}


def mobility(x: Any) -> dict[str, Any]:
    words = fields(
        "agree", "bodies", "couplings", "dof", "gruebler", "herve", "infinitesimal",
        "joint_dof", "joints",
        "kind", "order", "planar", "redundant", "rows", "trouble", "useful", "velocities",
    )(x)  # fmt: skip
    words["dof_at_home"] = x.instantaneous_dof
    words["table"] = x.table()
    words["sentences"] = [y for y in x.sentences() if not y.startswith("A search")]
    words["loops"] = [{"joints": loop.joints, "subgroup": str(loop.subgroup)} for loop in x.loops]
    words["chains"] = [
        fields("joints", "loops", "dof", "trivial", "infinitesimal", "inactive", "kind")(y)
        for y in x.chains
    ]
    return words


def but_for_turns(q: Any) -> list[Any]:
    """Angles without whole turns, which a search may add."""
    return [np.cos(q), np.sin(q)]


def motion(x: Any) -> dict[str, Any]:
    """A motion without the number of its steps, which round-off may change."""
    energy = x.energy
    return {
        **fields("t", "q", "v", "a", "tau", "closure")(x), "kinetic": energy.kinetic,
        "total": energy.total,
        "events": {name: np.shape(found.t) for name, found in x.events.items()},
        "method": x.statistics.method,
    }  # fmt: skip


def conditions(x: Any) -> dict[str, Any]:
    return fields("parallel", "serial", "mobility", "sign", "serial_sign")(x)


CONDITIONS_ALONG = fields("parallel", "serial", "crossings", "passages", "closest", "distance")
LINEAR = fields("A", "B", "C", "D", "U", "V", "W", "states", "inputs", "outputs", "coordinates")
MODES = fields("poles", "frequencies", "damping", "participation")
EQUILIBRIUM = fields("q", "v", "tau", "stability", "energy", "poles")
JOINT_MOTION = fields("t", "q", "v", "a")
CONFIGURATIONS = fields("q", "converged", "distance", "angle")
OBSERVER = fields("gains", "F", "G", "M", "N", "poles", "stable", "size", "covariance")
RANK = fields("kind", "size", "rank", "full", "doubtful", "singular_values")


# -- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A line of the table.

    name : in the recording; it stays when verbs are renamed.
    verbs : the public names that the call covers, separated by blanks: a verb of `Mechanism`, or
        "es.load", "control.lqr", "BondGraph.rates" and the like.
    tolerance, floor, tree_tolerance, closed_growth : see `Precision`; `reason` says why the first
        two are not the usual ones.
    """

    name: str
    verbs: str
    make: Callable[[Any], Any]
    read: Reader = whole
    where: Callable[[str], bool] = EVERYWHERE
    tolerance: float = TOLERANCE
    floor: float = 0.0
    reason: str = ""
    tree_tolerance: float | None = None
    closed_growth: float = GROWTH


SOLVER = {
    "tolerance": 1e-9,
    "floor": 1e-10,
    "reason": "an iteration stops where its step is small, not at the last bit",
}
SEARCH = {
    "tolerance": 1e-6,
    "floor": 1e-8,
    "reason": "a search stops at its own tolerance; its minimum is flat",
}
POLES = {
    "tolerance": 1e-6, "floor": 1e-6,
    "reason": "a double pole moves by the root of the round-off in its matrix",
}  # fmt: skip
INTEGRATED = {
    "tolerance": 1e-6,
    "floor": 1e-9,
    "reason": "round-off changes the steps, each of which has an error of 1e-8",
}
INDEPENDENT_COLUMNS = {
    "tolerance": 1e-5,
    "floor": 1e-7,
    "reason": "samples make columns nearly dependent, so that round-off shows in their sums",
}
CANCELLING = {"floor": 1e-12, "reason": "terms of the size of metres and radians cancel to zero"}
RESOLVED: dict[str, Any] = {
    "tolerance": 1e-10, "floor": 1e-14,
    "reason": "linear equations are solved, whose condition number multiplies round-off",
}  # fmt: skip
LOOP_FORCES = {
    **RESOLVED,
    "tree_tolerance": TOLERANCE,
}  # nothing is solved where there are no loops

# The quantities that are compiled, with their inputs: each is evaluated, and its operations are
# counted.
QUANTITIES = {
    "pose": "q", "jacobian": "q", "velocity": "q v", "acceleration": "q v a",
    "position_hessian": "q", "constraint": "q", "constraint_jacobian": "q",
    "inverse_dynamics": "q v a", "forward_dynamics": "q v tau", "hybrid_dynamics": "q v a",
    "mass_matrix": "q", "coriolis_matrix": "q v", "gravity_forces": "q", "energy": "q v",
    "reactions": "q v a", "coupling_forces": "q v a", "regressor": "q v a",
    "inverse_dynamics_derivatives": "q v a", "forward_dynamics_derivatives": "q v tau",
    "state_matrix": "q v tau", "input_matrix": "q v tau",
}  # fmt: skip
UNDER_FORCES = {
    "reactions": "reactions_under_forces",
    "coupling_forces": "coupling_forces_under_forces",
}
FRAMED = ("pose", "jacobian", "velocity", "acceleration", "position_hessian")
TIMED = (
    "constraint", "constraint_jacobian", "inverse_dynamics", "forward_dynamics", "hybrid_dynamics",
    "reactions", "coupling_forces", "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
    "state_matrix", "input_matrix",
)  # fmt: skip
LARGE = (
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "state_matrix", "input_matrix",
    "coriolis_matrix",
)  # fmt: skip
INVERSE = ("inverse_dynamics", "inverse_dynamics_derivatives", "reactions", "coupling_forces")
KINDS_OF_OPERATIONS = (
    "multiplications", "additions", "divisions", "trigonometric", "square_roots", "other",
)  # fmt: skip
FORMULATIONS = ("newton_euler", "lagrange", "lie", "gibbs_appell", "quaternion", "bond_graph")
LINEARIZED = ("state_matrix", "input_matrix")  # `linearize` gives their numbers
# As `TIMED`, what solves linear equations where there are loops, and returns a closure check there.
LINEAR_EQUATIONS = TIMED[2:]
CHECKED_GROWTH = 1.05  # of operations: rows of equations in one unit cost a product an entry


def evaluate(quantity: str, **options: Any) -> Callable[[MechanismCase], Any]:
    """A compiled verb at the stored state."""

    def make(c: MechanismCase) -> Any:
        state = {"q": c.q, "v": c.v, "a": c.a, "tau": c.tau}
        more = {"frame": c.frame} if quantity in FRAMED else {}
        more |= c.timed if quantity in TIMED else {}
        return getattr(c.m, quantity)(
            *(state[x] for x in QUANTITIES[quantity].split()), **more, **options
        )

    return make


def count(quantity: str, **options: Any) -> Callable[[MechanismCase], Any]:
    def make(c: MechanismCase) -> Counts:
        more = {"frame": c.frame} if quantity in FRAMED else {}
        found = c.m.operations(quantity, **more, **options)
        return Counts({name: getattr(found, name) for name in KINDS_OF_OPERATIONS})

    return make


def quantities() -> Iterator[Call]:
    for name in QUANTITIES:
        precision: dict[str, Any] = CANCELLING if name == "constraint" else {}
        if name in LINEAR_EQUATIONS:
            precision = LOOP_FORCES if name in INVERSE else RESOLVED
        where = THOROUGH if name in LARGE else EVERYWHERE
        read = list if name == "energy" else whole  # kinetic and potential, each to its last digit
        evaluated = AT_FEW if name in LINEARIZED else where
        yield Call(name, name, evaluate(name), read, evaluated, **precision)
        growth = CHECKED_GROWTH if name in LINEAR_EQUATIONS else GROWTH
        yield Call(
            f"operations.{name}", "operations", count(name), where=where, closed_growth=growth
        )
    for name, quantity in UNDER_FORCES.items():
        yield Call(f"{name}.under_forces", name, under_forces(name), where=THOROUGH, **RESOLVED)
        yield Call(
            f"operations.{quantity}",
            "operations",
            count(quantity),
            where=THOROUGH,
            closed_growth=CHECKED_GROWTH,
        )
    for formulation in FORMULATIONS:
        chosen = {"formulation": formulation}
        for name, where, precision in (
            ("inverse_dynamics", AT_SOME, LOOP_FORCES),
            ("forward_dynamics", AT_FEW, RESOLVED),
        ):
            make = evaluate(name, **chosen)
            yield Call(f"{name}.{formulation}", name, make, where=where, **precision)
            yield Call(
                f"operations.{name}.{formulation}", "operations", count(name, **chosen), where=where
            )
    for constraints in ("multipliers", "elimination", "udwadia_kalaba"):
        chosen = {"constraints": constraints}
        for name in ("inverse_dynamics", "forward_dynamics"):
            yield Call(
                f"{name}.{constraints}", name, evaluate(name, **chosen), where=AT_SOME, **RESOLVED
            )
    for axes in ("spatial", "aligned"):
        for name in ("jacobian", "velocity", "acceleration"):
            yield Call(f"{name}.{axes}", name, evaluate(name, axes=axes), where=AT_FEW)


def under_forces(name: str) -> Callable[[MechanismCase], Any]:
    return lambda c: getattr(c.m, name)(c.q, c.v, tau=c.tau, **c.timed)


DATA = (
    Call("outline", "name gravity parameters values inertial_parameters", lambda c: outline(c.m)),
    Call("structure",
        "nq nv nu closed rheonomic joints bodies loops couplings frames springs wrenches shapes "
        "actuated actuated_coordinates actuated_velocities coordinates velocities parents "
        "body_places carriers nominal modes",
        lambda c: {
            "sizes": (c.m.nq, c.m.nv, c.m.nu), "closed": c.m.closed, "rheonomic": c.m.rheonomic,
            "plain": c.m.nominal == c.m,
            "joints": [(j.name, repr(j.kind), j.parent, j.child) for j in c.m.joints],
            "bodies": [(b.name, float(b.mass)) for b in c.m.bodies],
            "loops": [(x.name, repr(x.kind)) for x in c.m.loops],
            "named": [[x.name for x in items]
                for items in (c.m.couplings, c.m.springs, c.m.wrenches, c.m.shapes)],
            "actuated": (
                c.m.actuated, list(c.m.actuated_coordinates), list(c.m.actuated_velocities)),
            "coordinates": dict(c.m.coordinates), "velocities": dict(c.m.velocities),
            "parents": c.m.parents,
            "places": dict(c.m.body_places),
            "carriers": {name: j.name for name, j in c.m.carriers.items()},
            "modes": dict(c.m.modes),
        }),
    Call("note", "note", lambda c: c.m.note),
    Call("suspicions", "plausibility_warnings warn", lambda c: list(c.m.plausibility_warnings)),
    Call("dof", "dof", lambda c: c.m.dof),
    Call("home", "home", lambda c: c.m.home()),
    Call("neutral", "neutral", lambda c: c.m.neutral()),
    Call("configuration", "configuration",
        lambda c: {name: c.m.configuration(name) for name in c.m.modes}),
    Call("configuration.unknown", "configuration", lambda c: c.m.configuration("sideways")),
    Call("index", "index velocity_index",
        lambda c: [(c.m.index(j.name), c.m.velocity_index(j.name))
            for j in c.m.joints if j.nv == 1]),
    Call("named", "named", lambda c: c.m.named(c.q)),
    Call("items", "joint body frame loop shape",
        lambda c: [repr(x) for x in (c.m.joint(c.m.joints[0].name), c.m.body(c.m.bodies[-1].name),
            *(c.m.frame(f.name) for f in c.m.frames), *(c.m.loop(x.name) for x in c.m.loops),
            *(c.m.shape(x.name) for x in c.m.shapes))]),
    Call("joint.unknown", "joint", lambda c: c.m.joint("absent")),
    Call("body.unknown", "body", lambda c: c.m.body("absent")),
    Call("frame.unknown", "frame", lambda c: c.m.frame("absent")),
    Call("loop.unknown", "loop", lambda c: c.m.loop("absent")),
    Call("shape.unknown", "shape", lambda c: c.m.shape("absent")),
    Call("free_numbers", "free_numbers", lambda c: dict(c.m.free_numbers())),
    Call("inertial_parameters", "inertial_parameters", lambda c: c.m.inertial_parameters()),
    Call("check_parameters", "check_parameters", lambda c: c.m.check_parameters(["nothing"])),
    Call("save.toml", "save", lambda c: c.save(".toml").read_text()),
    Call("save.toml.load", "save es.load", lambda c: (es.load(c.save(".toml")) == c.m,
        outline(es.load(c.save(".toml"))))),
    Call("save.urdf", "save", lambda c: c.save(".urdf").read_text()),
    Call("save.urdf.load", "save es.load", lambda c: outline(es.load(c.save(".urdf")))),
    Call("save.unknown", "save", lambda c: c.save(".docx")),
    Call("check", "es.check", lambda c: es.check(c.save(".toml")),
        each(fields("level", "line", "sentence"))),
    Call("check.urdf", "es.check", lambda c: es.check(c.save(".urdf")),
        each(fields("level", "line", "sentence")), THOROUGH),
)  # fmt: skip


def changed(name: str, verbs: str, make: Callable[[MechanismCase], Any], suffix: str = "") -> Call:
    return Call(f"{name}{suffix}", verbs, make, outline)


CHANGES = (
    changed("with_parameters", "with_parameters",
        lambda c: c.m.with_parameters(**{c.parameter: 1.01 * c.parameter_value})),
    changed("variant", "variant", lambda c: c.m.variant(**{c.parameter: 1.01 * c.parameter_value})),
    changed("with_joint", "with_joint", lambda c: c.m.with_joint(c.m.joints[0].name, viscous=0.3)),
    changed("with_joint", "with_joint", lambda c: c.m.with_joint(c.m.joints[0].name, colour=1),
        ".unknown"),
    changed("with_body", "with_body", lambda c: c.m.with_body(c.m.bodies[-1].name, mass=3.25)),
    changed("with_body", "with_body", lambda c: c.m.with_body(c.m.bodies[-1].name, mass=-1.0),
        ".negative"),
    changed("with_frame", "with_frame", lambda c: c.m.with_frame("camera", c.m.bodies[-1].name,
        at=(0.1, 0.2, 0.3))),
    Call("with_shape", "with_shape", lambda c: c.m.with_shape("extra", body=c.m.bodies[0].name,
        kind="sphere", size=0.1),
        lambda m: [repr(x) for x in m.shapes]),
    changed("with_actuated", "with_actuated", lambda c: c.m.with_actuated([c.m.joints[-1].name])),
    changed("with_gravity", "with_gravity", lambda c: c.m.with_gravity((0.5, -9.0, 1.0))),
    changed("with_payload", "with_payload", lambda c: c.m.with_payload(c.frame, 0.5,
        (0.01, 0.02, 0.03))),
    changed("with_free", "with_free", lambda c: c.m.with_free(next(iter(c.m.free_numbers()),
        "nothing.mass"))),
    changed("with_free", "with_free", lambda c: c.m.with_free("nothing.mass"), ".unknown"),
    changed("with_clearance", "with_clearance", lambda c: c.m.with_clearance((*c.m.loops,
        *c.m.joints)[0].name)),
    Call("with_mode", "with_mode", lambda c: c.m.with_mode("here", c.q), lambda m: dict(m.modes),
        **CANCELLING),
    changed("with_time", "with_time time", lambda c: c.m.with_time(0.7)),
    changed("at_time", "at_time", lambda c: c.m.at_time(TIME)),
    changed("without", "without", lambda c: c.m.without(c.m.joints[-1].name)),
    changed("without", "without", lambda c: c.m.without("absent"), ".unknown"),
    changed("locked", "locked",
        lambda c: c.m.locked({c.m.joints[0].name: c.q[c.m.coordinates[c.m.joints[0].name]]})),
    changed("subtree", "subtree", lambda c: c.m.subtree(c.m.bodies[-1].name, "part")),
    changed("join", "es.join", lambda c: es.join(c.m, es.load("elbow"), at=c.frame,
        prefix="second_")),
    Call("with_symbols", "with_symbols symbols",
        lambda c: sorted(c.m.with_symbols({c.parameter: casadi.SX.sym("letter")}).symbols)),
)  # fmt: skip

LOOPS = (
    Call("mobility", "mobility", lambda c: c.m.mobility(), mobility),
    Call("bond", "bond", lambda c: {
        body.name: str(c.m.bond("ground", body.name).group) for body in c.m.bodies[-2:]}),
    Call("actuation_map", "actuation_map", lambda c: c.m.actuation_map(c.q,
        c.motors(c.v, True), passive="minimum_norm"), fields("N", "condition", "gamma", "rate"),
        **SOLVER),
    Call("link_jacobian", "link_jacobian", lambda c: c.m.link_jacobian(c.q, c.frame,
        passive="minimum_norm"), **SOLVER),
    Call("assemble", "assemble", lambda c: c.m.assemble(c.motors(c.q), **c.timed), **SOLVER),
    Call("assemble.near", "assemble", lambda c: c.m.assemble(c.motors(c.q) + 0.03, c.q, **c.timed),
        **SOLVER),
    Call("assemble.far", "assemble", lambda c: c.m.assemble(c.motors(c.q) + 40.0, **c.timed),
        where=THOROUGH, **SOLVER),
    Call("assemble.pose", "assemble es.Target",
        lambda c: c.m.assemble(es.Target(c.frame, pose=c.pose), c.q, **c.timed),
        where=THOROUGH, **SOLVER),
    Call("complete", "complete",
        lambda c: c.m.complete(c.motors(c.q), c.motors(c.v, True), c.motors(c.a, True), c.q,
        **c.timed), **SOLVER),
    Call("complete.minimum_norm", "complete",
        lambda c: c.m.complete(c.motors(c.q), c.motors(c.v, True), c.motors(c.a, True), c.q,
        passive="minimum_norm",
            singular="ignore", **c.timed), where=THOROUGH, **SOLVER),
    Call("project", "project", lambda c: c.m.project(c.q + 0.01, c.v + 0.1, c.a - 0.1, **c.timed),
        **SOLVER),
    Call("assembly_modes", "assembly_modes", lambda c: c.m.assembly_modes(c.motors(c.q)),
        where=THOROUGH, **SOLVER),
    Call("independent_coordinates", "independent_coordinates",
        lambda c: c.m.independent_coordinates()),
    Call("independent_coordinates.here", "independent_coordinates",
        lambda c: c.m.independent_coordinates(c.q)),
    Call("conditions", "conditions", lambda c: c.m.conditions(c.q, c.frame), conditions,
        **RESOLVED),
    Call("conditions.translation", "conditions", lambda c: c.m.conditions(c.q, c.frame,
        part="translation"), conditions,
        THOROUGH, **RESOLVED),
    Call("conditions.along", "conditions",
        lambda c: c.m.conditions(c.m.assemble(np.linspace(c.motors(c.q), c.motors(c.q) + 0.1, 5),
        c.q), c.frame),
        CONDITIONS_ALONG, THOROUGH, **SOLVER),
    Call("singularity", "singularity", lambda c: c.m.singularity(c.q, c.frame), singular_motions,
        **SOLVER),
    Call("singularity.nearly", "singularity", lambda c: c.m.singularity(c.q, c.frame,
        tolerance=0.05), singular_motions,
        THOROUGH, **SOLVER),
    Call("manipulability", "manipulability", lambda c: c.m.manipulability(c.q, c.frame),
        fields("lengths", "measure", "volume", "condition", "forces", "matrix"), **RESOLVED),
    Call("determined_reactions", "determined_reactions", lambda c: c.m.determined_reactions(c.q)),
    Call("base_parameters", "base_parameters", lambda c: c.m.base_parameters(),
        fields("columns", "values"), THOROUGH, **INDEPENDENT_COLUMNS),
    Call("base_parameters.expressions", "base_parameters", lambda c: c.m.base_parameters(),
        fields("expressions", "regrouping"), AT_FEW, **INDEPENDENT_COLUMNS),
)  # fmt: skip

KINEMATICS = (
    Call("pose.default_frame", "pose", lambda c: c.m.pose(c.q), where=THOROUGH),
    Call("pose.batch", "pose", lambda c: c.m.pose(np.stack([c.q, c.q, c.m.neutral()]), c.frame)),
    Call("pose.too_short", "pose", lambda c: c.m.pose(c.q[:-1], c.frame)),
    Call("pose.nan", "pose", lambda c: c.m.pose(c.q * np.nan, c.frame)),
    Call("pose.unknown_frame", "pose", lambda c: c.m.pose(c.q, "nowhere")),
    Call("pose.unknown_option", "pose", lambda c: c.m.pose(c.q, c.frame, axis="z")),
    Call("pose.unknown_parameter", "pose", lambda c: c.m.pose(c.q, c.frame,
        parameters={"nothing": 1.0})),
    Call("pose.parameter", "pose", lambda c: c.m.pose(c.q, c.frame,
        parameters={c.parameter: 1.01 * c.parameter_value}),
        where=THOROUGH),
    Call("inverse_kinematics", "inverse_kinematics",
        lambda c: c.m.inverse_kinematics(es.Target(c.frame, pose=c.pose), c.q, report=True),
        CONFIGURATIONS, THOROUGH, **SOLVER),
    Call("inverse_kinematics.position", "inverse_kinematics",
        lambda c: c.m.inverse_kinematics(es.Target(c.frame, position=c.position + 0.01), c.q,
        report=True), fields("converged", "distance"), THOROUGH, **SEARCH),
    Call("inverse_kinematics.position.q", "inverse_kinematics",
        lambda c: c.m.inverse_kinematics(es.Target(c.frame, position=c.position + 0.01), c.q,
        report=True), fields("q"), AT_FEW, **SEARCH),
    Call("inverse_kinematics.solutions", "inverse_kinematics es.Target",
        lambda c: c.m.inverse_kinematics(es.Target(c.frame, position=c.position), c.q,
        solutions=4), but_for_turns, AT_FEW, **SOLVER),
    Call("inverse_kinematics.targets", "inverse_kinematics es.Target",
        lambda c: c.m.inverse_kinematics([es.Target(c.frame, position=c.position)], guess=c.q),
        where=AT_FEW, **SOLVER),
    Call("inverse_kinematics.unreachable", "inverse_kinematics",
        lambda c: c.m.inverse_kinematics(es.Target(c.frame, position=c.position + 100.0), c.q),
        where=AT_FEW, **SEARCH),
    Call("complete.pose", "complete es.Target",
        lambda c: c.m.complete(es.Target(c.frame, pose=c.pose),
            c.m.velocity(c.q, c.v, c.frame, axes="aligned"),
            c.m.acceleration(c.q, c.v, c.a, c.frame, axes="aligned"), c.q, report=True),
        fields("q", "v", "a", "slip", "condition"), THOROUGH, **SOLVER),
    Call("newton_gauss", "newton_gauss", lambda c: c.m.newton_gauss(c.pose, c.q + 0.02, c.frame),
        fields("q", "residual"), THOROUGH, **SOLVER),
    Call("well_conditioned", "well_conditioned", lambda c: c.m.well_conditioned(c.frame),
        where=AT_FEW, **SEARCH),
    Call("follow", "follow paths.along paths.line paths.cycloidal",
        lambda c: c.m.follow(es.paths.along(es.paths.line(c.position,
        c.position + FORWARD),
            es.paths.cycloidal(0.5)), c.q, frame=c.frame, part="position",
            times=np.linspace(0, 0.5, 4), singular="ignore"),
        JOINT_MOTION, THOROUGH, **SOLVER),
    Call("workspace", "workspace", lambda c: c.m.workspace(c.frame, samples=16, guess=c.q,
        progress=False),
        lambda w: {"q": w.q, "poses": w.poses, "reached": w.reached,
        "conditions": conditions(w.conditions)},
        THOROUGH, **SOLVER),
    Call("workspace_map", "workspace_map",
        lambda c: c.m.workspace_map(c.frame, {"x": (c.position[0] - 0.05, c.position[0] + 0.05),
            "y": (c.position[1] - 0.05, c.position[1] + 0.05)}, 5, configurations=True,
            progress=False),
        fields("modes", "mode_joints", "closes", "within_limits", "parallel", "serial", "sign",
        "serial_sign", "q"),
        AT_FEW, **SOLVER),
)  # fmt: skip

DYNAMICS = (
    Call("inverse_dynamics.external", "inverse_dynamics",
        lambda c: c.m.inverse_dynamics(c.q, c.v, c.a, external={c.m.bodies[-1].name: [0.1, 0.2, 0.3,
        1.0, 2.0, 3.0]}, **c.timed),
        where=THOROUGH, **LOOP_FORCES),
    Call("inverse_dynamics.batch", "inverse_dynamics",
        lambda c: c.m.inverse_dynamics(np.stack([c.q, c.q]), c.v, np.stack([c.a, c.a]), **c.timed),
        **LOOP_FORCES),
    Call("inverse_dynamics.unknown_formulation", "inverse_dynamics",
        lambda c: c.m.inverse_dynamics(c.q, c.v, c.a, formulation="hamilton", **c.timed)),
    Call("inverse_dynamics.open", "inverse_dynamics", lambda c: c.m.inverse_dynamics(c.q + 0.2, c.v,
        c.a, **c.timed),
        **LOOP_FORCES),
    Call("forward_dynamics.time", "forward_dynamics", lambda c: c.m.forward_dynamics(c.q, c.v,
        c.tau, t=TIME),
        where=THOROUGH, **RESOLVED),
    Call("derivative.q", "derivative", lambda c: c.m.derivative("pose", "q", c.q, frame=c.frame),
        where=THOROUGH),
    Call("derivative.inverse_dynamics.q", "derivative",
        lambda c: c.m.derivative("inverse_dynamics", "q", c.q, c.v, c.a, **c.timed), where=AT_FEW,
        **LOOP_FORCES),
    Call("derivative.parameter", "derivative",
        lambda c: c.m.derivative("energy", c.parameter, c.q, c.v), where=THOROUGH),
    Call("derivative.along_closed", "derivative",
        lambda c: c.m.derivative("configuration", c.parameter, c.q, along="closed", **c.timed),
        where=THOROUGH, **RESOLVED),
    Call("derivative.conditions", "derivative",
        lambda c: c.m.derivative("conditions", c.parameter, c.q, frame=c.frame),
        fields("parallel", "serial"), AT_FEW, **SOLVER),
    Call("derivative.poles", "derivative", lambda c: c.m.derivative("poles", c.parameter, c.q,
        along="closed"), where=AT_FEW, **POLES),
    Call("derivative.unknown", "derivative", lambda c: c.m.derivative("colour", "q", c.q)),
    Call("operations.unknown", "operations", lambda c: c.m.operations("colour")),
    Call("equations", "equations", lambda c: str(c.m.equations()),
        where=at("cart_pole", "elbow", "slider_crank")),
    Call("equations.mass_matrix", "equations", lambda c: c.m.equations("mass_matrix"),
        lambda e: {"text": str(e), "latex": e.latex()}, AT_FEW),
    Call("equations.refused", "equations", lambda c: str(c.m.equations("colour"))),
    Call("c_source", "c_source", lambda c: c.m.c_source("inverse_dynamics"),
        fields("name", "header"), THOROUGH),
    Call("c_source.numbers", "c_source", lambda c: run_c(c, "mass_matrix"), where=AT_FEW),
    Call("bond_graph", "bond_graph", lambda c: c.graph,
        fields("states", "inputs", "outputs", "order"), THOROUGH),
    Call("bond_graph.rates", "bond_graph BondGraph.rates",
        lambda c: c.graph.rates(c.graph.state(c.q, c.v), c.tau), where=AT_FEW, **RESOLVED),
    Call("bond_graph.platform", "bond_graph",
        lambda c: c.m.bond_graph(gravity="platform"), fields("states", "inputs", "outputs",
        "order"), AT_FEW),
    Call("symbols", "pose",
        lambda c: casadi.Function("f", [x := casadi.SX.sym("q", c.m.nq)],
        [c.m.pose(x, c.frame)])(c.q).full(), where=THOROUGH),
)  # fmt: skip


def run_c(c: MechanismCase, quantity: str) -> Any:
    """The numbers that the C code gives, compiled by the C compiler of this machine."""
    import ctypes
    import shutil
    import subprocess

    source = c.m.c_source(quantity)
    if not (compiler := shutil.which("cc")):
        return "no C compiler on this machine"
    source.write(c.folder)
    library = c.folder / f"{source.name}.so"
    files = sorted(str(f) for f in c.folder.glob(f"{source.name}*.c"))
    subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), *files, "-lm"],
        check=True,
        capture_output=True,
    )
    function = getattr(ctypes.CDLL(str(library)), source.name)
    state = {"q": c.q, "v": c.v, "a": c.a, "tau": c.tau}
    out = np.zeros_like(np.asarray(evaluate(quantity)(c)))
    inputs = [np.ascontiguousarray(state[x]) for x in QUANTITIES[quantity].split()]
    function(*(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*inputs, out)))
    return out


LINEAR_MODELS = (
    Call("linearize", "linearize linear.linearize es.LinearModel", lambda c: c.linear_model, LINEAR,
        THOROUGH, **RESOLVED),
    Call("linearize.rest", "linearize", lambda c: c.rest_model, LINEAR, AT_FEW, **RESOLVED),
    Call("modes", "linear.Modes", lambda c: c.linear_model.modes(), MODES, THOROUGH, **POLES),
    Call("modes.table", "linear.Modes", lambda c: repr(c.linear_model.modes()), where=AT_FEW),
    Call("equilibrium", "equilibrium", lambda c: c.m.equilibrium(c.q), EQUILIBRIUM, THOROUGH,
        **POLES),
    Call("equilibrium.forces", "equilibrium", lambda c: c.m.equilibrium(tau=np.zeros(c.m.nu),
        guess=c.q), EQUILIBRIUM,
        THOROUGH, **POLES),
    Call("contributions", "linear.contributions", lambda c: es.linear.contributions(c.rest_model),
        fields("sources", "coordinates", "U", "V", "W", "weight"), AT_FEW, **RESOLVED),
    Call("compare_response", "linear.compare_response",
        lambda c: es.linear.compare_response(c.m, (c.q, c.rest, c.rest),
            (c.m.assemble(c.motors(c.q) + 1e-3, c.q) if c.m.closed else c.q + 1e-3, c.rest,
            c.rest)),
        fields("dq", "dv", "da", "W_dq", "V_dv", "U_da", "true"), AT_FEW, **RESOLVED),
    Call("to_control_nonlinear", "to_control_nonlinear control.nonlinear_system",
        lambda c: c.m.to_control_nonlinear(c.q if c.m.closed else None), lambda s: {
            "states": s.state_labels, "inputs": s.input_labels, "outputs": s.output_labels,
            "rates": s.dynamics(0.0, np.full(s.nstates, 0.1), np.full(s.ninputs, 0.2)),
        }, AT_FEW, **SOLVER),
)  # fmt: skip


def tracked(make: Callable[[MechanismCase], Any]) -> Callable[[MechanismCase], Any]:
    """The forces that a control law gives in the stored state, a little after its start."""
    return lambda c: make(c)(0.1, c.q, c.v)


CONTROL = (
    Call("control.lqr", "control.lqr", lambda c: es.control.lqr(c.rest_model, 1.0, 0.1),
        fields("K", "S", "poles"), AT_FEW, **POLES),
    Call("control.place", "control.place",
        lambda c: es.control.place(c.rest_model, -2.0 - np.arange(len(c.rest_model.states))),
        fields("K", "poles", "condition", "method"), AT_FEW, **POLES),
    Call("control.place.wrong", "control.place", lambda c: es.control.place(c.rest_model, [-1.0]),
        where=AT_FEW),
    Call("control.controllability", "control.controllability",
        lambda c: es.control.controllability(c.rest_model), RANK,
        AT_FEW, **POLES),
    Call("control.observability", "control.observability",
        lambda c: es.control.observability(c.rest_model), RANK,
        AT_FEW, **POLES),
    Call("control.controllability_gramian", "control.controllability_gramian",
        lambda c: es.control.controllability_gramian(c.rest_model, 0.5), where=AT_FEW, **SOLVER),
    Call("control.observability_gramian", "control.observability_gramian",
        lambda c: es.control.observability_gramian(c.rest_model, 0.5), where=AT_FEW, **SOLVER),
    Call("control.luenberger", "control.luenberger",
        lambda c: es.control.luenberger(c.rest_model, -8.0 - np.arange(len(c.rest_model.states))),
        OBSERVER, AT_FEW, **POLES),
    Call("control.reduced_order", "control.reduced_order",
        lambda c: es.control.reduced_order(c.m.linearize(c.q, outputs=[c.m.actuated[0]]),
            -8.0 - np.arange(len(c.rest_model.states) - 1)), OBSERVER, AT_FEW, **POLES),
    Call("control.kalman", "control.kalman",
        lambda c: es.control.kalman(c.rest_model, 0.1, 1e-4, through=c.rest_model.B), OBSERVER,
        AT_FEW, **POLES),
    Call("control.kalman_filter", "control.kalman_filter",
        lambda c: es.control.kalman_filter(c.rest_model, 0.1, 1e-4, 0.01, through=c.rest_model.B,
        period=0.01).covariances(5),
        lambda x: [np.asarray(y) for y in x], AT_FEW, **SOLVER),
    Call("control.output_feedback", "control.output_feedback",
        lambda c: es.control.output_feedback(c.rest_model, es.control.lqr(c.rest_model, 1.0, 0.1),
            es.control.luenberger(c.rest_model, -8.0 - np.arange(len(c.rest_model.states)))),
            fields("poles"), AT_FEW, **POLES),
    Call("control.finite_horizon_lqr", "control.finite_horizon_lqr",
        lambda c: es.control.finite_horizon_lqr(np.linspace(0, 0.5, 3), c.rest_model.A,
        c.rest_model.B, 1.0, 1.0),
        fields("t", "K", "S"), AT_FEW, **SEARCH),
    Call("control.state_feedback", "control.state_feedback",
        tracked(lambda c: es.control.state_feedback(c.m, c.rest_model,
        es.control.lqr(c.rest_model, 1.0, 0.1))),
        where=AT_FEW, **POLES),
    Call("control.law", "control.law", tracked(lambda c: es.control.law(c.m, lambda t, q,
        v: -2.0 * v[: c.m.nu])), where=AT_FEW),
    Call("control.pd_gravity", "control.pd_gravity",
        tracked(lambda c: es.control.pd_gravity(c.m, c.motors(c.q) + 0.1, 50.0, 5.0)), where=AT_FEW,
        **RESOLVED),
    Call("control.computed_torque", "control.computed_torque",
        tracked(lambda c: es.control.computed_torque(c.m, c.motors(c.q) + 0.1, 10.0)), where=AT_FEW,
        **RESOLVED),
    Call("control.adaptive", "control.adaptive",
        lambda c: es.control.adaptive(c.m, c.motors(c.q) + 0.1, rate=5.0, Kd=20.0),
        lambda x: {"base": list(x.data["base"].expressions), "state": x.state,
            "adaptation": x.data["adaptation"]},
        AT_FEW, **SOLVER),
    Call("control.modal", "control.modal", lambda c: es.control.modal(c.m, c.joint_path, 10.0,
        guess=c.q),
        data_of("t", "Kp", "Kd", "tau"), at("elbow", "five_bar"), **RESOLVED),
    Call("control.tracking_lqr", "control.tracking_lqr",
        lambda c: es.control.tracking_lqr(c.m, c.joint_path, 1.0, 1.0, guess=c.q),
        data_of("t", "K", "S", "tau", "states"),
        at("elbow", "five_bar"), **SEARCH),
    Call("control.reference", "es.as_trajectory", lambda c: es.as_trajectory(c.m,
        c.joint_path).at(0.2),
        fields("q", "v", "a"), AT_FEW, **CANCELLING),
    Call("control.perturbed", "control.perturbed",
        lambda c: dict(es.control.perturbed(c.m, 0.1, 3).parameters), where=AT_FEW),
    Call("control.extended_kalman_filter", "control.extended_kalman_filter",
        lambda c: es.control.extended_kalman_filter(c.m, process=1e-4, measurement=1e-6,
        period=0.01),
        fields("states", "outputs", "period"), AT_FEW),
)  # fmt: skip

SIMULATION = (
    Call("simulate", "simulate simulate.simulate", lambda c: c.motion, motion, THOROUGH,
        **INTEGRATED),
    Call("simulate.rk4", "simulate", lambda c: c.m.simulate(c.q, c.v, 0.05, None, method="rk4",
        step=0.005), motion,
        AT_FEW, **RESOLVED),
    Call("simulate.law", "simulate control.computed_torque",
        lambda c: c.m.simulate(c.q, None, np.linspace(0.0, 0.2, 5),
            es.control.computed_torque(c.m, c.motors(c.q) + 0.1, 10.0)), motion,
        AT_FEW, **INTEGRATED),
    Call("simulate.sampled", "simulate.sampled",
        lambda c: c.m.simulate(c.q, None, 0.1, es.simulate.sampled(lambda t, q,
        v: -0.1 * c.motors(np.asarray(v), True), 0.02,
            noise=1e-3, seed=3)), motion, at("elbow", "five_bar"), **INTEGRATED),
    Call("simulate.traced", "simulate.traced",
        lambda c: c.m.simulate(c.q, None, 0.1, es.simulate.traced(lambda t, q,
        v: -0.1 * v[: c.m.nu])), motion,
        at("elbow", "double_pendulum"), **INTEGRATED),
    Call("simulate.symplectic", "simulate", lambda c: c.m.simulate(c.q, c.v, 0.1,
        method="symplectic", step=0.01), motion,
        AT_FEW, **RESOLVED),
    Call("simulate.unknown_method", "simulate", lambda c: c.m.simulate(c.q, None, 0.1,
        method="leap"), motion),
    Call("identify", "identify identification.identify",
        lambda c: c.m.identify(c.recorded_motion, friction=()),
        fields("names", "values", "verdict", "condition"),
        at("elbow", "double_pendulum", "puma560"), **SOLVER),
    Call("identification.base_parameters",
        "identification.base_parameters identification.inertial_parameters",
        lambda c: es.identification.base_parameters(c.m),
        fields("columns", "values", "expressions"), AT_FEW, **SOLVER),
    Call("identification.parameter_names", "identification.parameter_names",
        lambda c: es.identification.parameter_names(c.m)),
    Call("identification.pseudo_inertias", "identification.pseudo_inertias",
        lambda c: es.identification.pseudo_inertias(c.m.inertial_parameters())),
    Call("identification.excitation", "identification.excitation",
        lambda c: es.identification.excitation(c.m, 2.0, 2, starts=1, iterations=3),
        fields("condition", "random"),
        at("elbow"), **SEARCH),
)  # fmt: skip

# -- many designs ----------------------------------------------------------------------------------

FIVE_BAR = at("five_bar")


def swing() -> Any:
    return es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))


def measured(
    make: Callable[[], Any], over: dict[str, list[float]]
) -> Callable[[MechanismCase], Any]:
    """The values of a measure over some designs."""

    def call(c: MechanismCase) -> dict[str, Any]:
        found = make().measured(c.m, {name: np.array(values) for name, values in over.items()})
        return {
            "values": dict(found.values),
            "reasons": {str(k): text for k, text in found.reasons.items()},
        }

    return call


LENGTHS = {"L2": [0.03, 0.04, 0.05]}
DESIGNS = (
    *(Call(f"measures.{name}", f"measures.{name}", measured(lambda name=name: getattr(es.measures,
        name)(swing()), LENGTHS),
        where=FIVE_BAR, **SOLVER)
        for name in ("PeakTorque", "RmsTorque", "PeakPower", "EnergyConsumption", "Condition",
        "PeakReaction")),
    Call("measures.NaturalFrequency", "measures.NaturalFrequency",
        measured(lambda: es.measures.NaturalFrequency(), {"L1": [0.5, 1.0]}),
        where=at("double_pendulum"), **POLES),
    Call("measures.ClosedLoopDamping", "measures.ClosedLoopDamping",
        measured(lambda: es.measures.ClosedLoopDamping([0.0, 0.0], "lqr", Q=1.0, R=0.1),
        {"m_pole": [0.05, 0.1, 0.4]}),
        where=at("cart_pole"), **POLES),
    Call("measures.Quantity", "measures.Quantity",
        measured(lambda: es.measures.Quantity("energy", q=[0.3, 0.2], v=[1.0, 0.0]),
        {"m1": [0.1, -1.0]}), where=at("elbow")),
    Call("measures.ReachableWorkspace", "measures.ReachableWorkspace",
        measured(lambda: es.measures.ReachableWorkspace({"x": (0.0, 0.1), "y": (0.05, 0.12)}, 6),
        LENGTHS), where=FIVE_BAR,
        **SOLVER),
    Call("measures.TrackingError", "measures.TrackingError",
        measured(lambda: es.measures.TrackingError("computed_torque", swing(), frequency=20.0,
        step=0.01), LENGTHS),
        where=FIVE_BAR, **INTEGRATED),
    Call("measures.Called", "measures.Called",
        measured(lambda: es.measures.Called(lambda m: m.pose([0.0, 0.0], "tool")[0, 3], "reach"),
        {"a1": [0.5, 1.0]}),
        where=at("elbow")),
    Call("measures.Several", "measures.Several",
        measured(lambda: es.measures.Several({"peak": es.measures.PeakTorque(swing()),
        "rms": es.measures.RmsTorque(swing())}),
            LENGTHS), where=FIVE_BAR, **SOLVER),
    Call("measures.measure_of", "measures.measure_of measures.MEASURES",
        lambda c: [sorted(es.measures.MEASURES), repr(es.measures.measure_of("peak_torque",
        {"motion": swing()}))],
        where=FIVE_BAR),
    Call("sweep", "es.sweep sweeps.sweep",
        lambda c: es.sweep(c.m, es.measures.PeakTorque(swing()),
        {"L2": (0.03, 0.05), "L3": (0.09, 0.11)}, 8, progress=False),
        lambda t: {column.name: np.asarray(t[column.name]) for column in t.columns}, FIVE_BAR,
        **SOLVER),
    Call("sweep.gravity_forces", "es.sweep",
        lambda c: es.sweep(c.m, "gravity_forces", {"m1": (0.5, 1.5)}, 5, q=[0.1, 0.2],
        progress=False),
        lambda t: {column.name: np.asarray(t[column.name]) for column in t.columns}, at("elbow")),
    Call("sweep.unknown", "es.sweep", lambda c: es.sweep(c.m, "gravity_forces",
        {"nothing": (0.5, 1.5)}, 5, q=c.q), str),
    Call("sweeps.sensitivities", "sweeps.sensitivities",
        lambda c: es.sweeps.sensitivities(c.m, "gravity_forces",
        {"m1": (0.5, 1.5), "a1": (0.9, 1.1)}, 8, q=[0.1, 0.2],
            progress=False),
        lambda s: {name: fields("std", "first", "total")(x) for name, x in s.attributions.items()},
        at("elbow"), **SOLVER),
    Call("sweeps.variables_of", "sweeps.variables_of",
        lambda c: [repr(x) for x in es.sweeps.variables_of(c.m, {c.parameter: (0.5, 1.5)})[1]],
        where=AT_FEW),
    Call("optimize.design", "optimize.design",
        lambda c: es.optimize.design(c.m, "peak_torque", {"L3": (0.08, 0.12), "L4": (0.08, 0.12)},
            es.paths.joint_path([[2.0, 1.0], [1.7, 1.3]], es.paths.cycloidal(0.3)), samples=15,
            starts=2, progress=False),
        lambda x: {**fields("value", "before", "unit", "objective")(x),
        "parameters": dict(x.parameters),
            "passed": x.checks.passed}, FIVE_BAR, tolerance=1e-4, reason=SEARCH["reason"]),
    Call("optimize.motion", "optimize.motion",
        lambda c: es.optimize.motion(c.m, [0.0, 0.0], [0.5, 0.5], "jerk", duration=1.0, starts=1,
        progress=False),
        fields("value", "unit", "t", "q", "v", "tau"), at("elbow"), tolerance=1e-4,
        reason=SEARCH["reason"]),
    Call("optimize.coupler_curve", "optimize.coupler_curve", lambda c: coupler_curve(c.m),
        lambda x: {"parameters": dict(x.parameters), "before": x.before}, at("diaz_four_bar"),
        tolerance=1e-4, floor=1e-6,
        reason=SEARCH["reason"]),
)  # fmt: skip


def coupler_curve(m: Any) -> Any:
    m = m.with_frame("pen", "bar2", at=("L2/2", "0.4*L2", 0))
    other = m.with_parameters(L1=0.8, L3=2.0)
    points = other.pose(other.assemble(np.linspace(0, 3, 6)[:, None]), "pen")[:, :2, 3]
    return es.optimize.coupler_curve(
        m, "pen", points, {"L1": (0.5, 1.2), "L3": (1.5, 2.5)}, starts=1, progress=False
    )


# -- bond graphs -----------------------------------------------------------------------------------

GRAPHS = (
    Call("outline",
        "BondGraph.load BondGraph.bonds BondGraph.elements BondGraph.name BondGraph.note "
        "BondGraph.parameters "
        "BondGraph.values BondGraph.domains BondGraph.open_ports",
        lambda c: {"name": c.g.name, "note": c.g.note, "elements": [repr(x) for x in c.g.elements],
        "ports": c.g.open_ports(),
            "bonds": [repr(x) for x in c.g.bonds], "parameters": dict(c.g.parameters)}),
    Call("states", "BondGraph.states BondGraph.inputs BondGraph.outputs BondGraph.order",
        lambda c: c.g,
        fields("states", "inputs", "outputs", "order")),
    Call("causality", "BondGraph.causality", lambda c: c.g.causality(),
        fields("preference", "states", "order")),
    Call("causality.derivative", "BondGraph.causality", lambda c: c.g.causality("derivative"),
        fields("preference", "states", "order")),
    Call("junction_structure", "BondGraph.junction_structure",
        lambda c: (s := c.g.junction_structure(), {name: s.at(c.x, c.u,
        name) for name in s.blocks})[1], **CANCELLING),
    Call("rates", "BondGraph.rates", lambda c: c.g.rates(c.x, c.u), **RESOLVED),
    Call("rates.too_short", "BondGraph.rates", lambda c: c.g.rates(c.x[:-1], c.u)),
    Call("output", "BondGraph.output", lambda c: c.g.output(c.x, c.u), **RESOLVED),
    Call("energy", "BondGraph.energy", lambda c: c.g.energy(c.x, c.u)),
    Call("bond_variables", "BondGraph.bond_variables", lambda c: c.g.bond_variables(c.x, c.u),
        fields("names", "e", "f", "power"),
        **RESOLVED),
    Call("affine", "BondGraph.affine", lambda c: c.g.affine(c.x), **RESOLVED),
    Call("motion_terms", "BondGraph.motion_terms",
        lambda c: c.g.motion_terms(c.x[-len(c.x) // 2 :]),
        fields("M", "C", "G", "B", "Q", "velocities"), **RESOLVED),
    Call("derivative", "BondGraph.derivative", lambda c: c.g.derivative("x", c.x, c.u), **RESOLVED),
    Call("linearize", "BondGraph.linearize", lambda c: c.g.linearize(c.x, c.u),
        fields("A", "B", "C", "D", "states"), **RESOLVED),
    Call("linearize.poles", "BondGraph.linearize", lambda c: c.g.linearize(c.x, c.u).poles,
        **POLES),
    Call("linearized_graph", "BondGraph.linearized_graph",
        lambda c: c.g.linearized_graph(c.x, c.u), fields("states", "inputs", "order")),
    Call("controllability", "BondGraph.controllability", lambda c: c.g.controllability(),
        fields("order", "rank", "structural")),
    Call("controllability.here", "BondGraph.controllability",
        lambda c: c.g.controllability(c.x, c.u),
        fields("order", "rank", "agrees")),
    Call("observability", "BondGraph.observability", lambda c: c.g.observability(),
        fields("order", "rank", "structural")),
    Call("structural_rank", "BondGraph.structural_rank", lambda c: c.g.structural_rank(),
        fields("order", "rank", "causal_rank", "structure_rank", "full", "staying")),
    Call("causal_paths", "BondGraph.causal_paths", lambda c: [repr(x) for x in c.g.causal_paths()]),
    Call("causal_loops", "BondGraph.causal_loops", lambda c: [repr(x) for x in c.g.causal_loops()]),
    Call("nonlinear_paths", "BondGraph.nonlinear_paths",
        lambda c: [repr(x) for x in c.g.nonlinear_paths()]),
    Call("steady_state", "BondGraph.steady_state", lambda c: c.g.steady_state(c.u, c.x),
        fields("x", "u"), **SEARCH),
    Call("inverse_statics", "BondGraph.inverse_statics",
        lambda c: c.g.inverse_statics(dict(list(zip(c.g.states, c.x, strict=True))[-len(c.u) :])),
        fields("x", "u"), **SEARCH),
    Call("observer_graph", "BondGraph.observer_graph",
        lambda c: c.g.observer_graph(-10.0 - np.arange(len(c.x))), fields("states", "inputs"),
        **POLES),
    Call("feedback_graph", "BondGraph.feedback_graph",
        lambda c: c.g.feedback_graph(np.ones((len(c.u), len(c.x)))).rates(c.x, c.u)),
    Call("simulate", "BondGraph.simulate", lambda c: c.g.simulate(c.x, np.linspace(0, 0.1, 4), c.u),
        fields("t", "x", "u"),
        **INTEGRATED),
    Call("equations", "BondGraph.equations", lambda c: str(c.g.equations()),
        where=at("pendulum", "dc_motor")),
    Call("c_source", "BondGraph.c_source", lambda c: c.g.c_source(), fields("name", "header")),
    Call("save", "BondGraph.save BondGraph.digest",
        lambda c: es.BondGraph.load(c.g.save(c.folder / "graph.toml")).digest == c.g.digest),
    Call("with_parameters", "BondGraph.with_parameters",
        lambda c: dict(c.g.with_parameters(**{next(iter(c.g.parameters),
        "nothing"): 2.0}).parameters)),
    Call("with_detectors", "BondGraph.with_detectors",
        lambda c: c.g.with_detectors(y="f1").outputs),
    Call("dualized", "BondGraph.dualized", lambda c: c.g.dualized().causality("integral").order),
)  # fmt: skip


# -- functions -------------------------------------------------------------------------------------

ANGLES = np.array([0.3, -0.5, 0.8])
TURN = np.asarray(es.algebra.rotation_from_rpy(ANGLES))
QUATERNION = np.array([0.8, 0.2, -0.4, 0.4])  # of unit length
TWIST = np.array([0.3, -0.2, 0.5, 1.0, 0.4, -0.6])
PLACED = np.block([[TURN, np.array([[0.1], [0.2], [0.3]])], [np.zeros((1, 3)), np.ones((1, 1))]])
# Arguments of the functions of es.algebra by their names.
ARGUMENTS: dict[str, Any] = {
    "pose": PLACED, "rotation": TURN, "twist": TWIST, "u": ANGLES, "angles": ANGLES, "angle": 0.7,
    "axis": ANGLES / 0.99,
    "position": TWIST[3:], "q": QUATERNION, "p": np.array([0.5, 0.5, -0.5, 0.5]), "rate": TWIST[:4],
    "v": ANGLES, "a": 0.4,
    "t": 0.3, "angular_velocity": ANGLES, "axis_angle": np.array([0.6, 0.0, 0.8, 0.7]), "mass": 2.0,
    "com": ANGLES,
    "inertia": np.diag([1.0, 2.0, 2.5]), "value": TURN, "source": "matrix", "target": "quaternion",
    "first": PLACED,
    "others": (PLACED,), "m": TURN - TURN.T,
    "invariants": np.asarray(es.algebra.invariants_from_rotation(TURN)),
}  # fmt: skip
FOUR_BY_FOUR = {"vee6": np.asarray(es.algebra.hat6(TWIST))}
VECTORS = {"quaternion_from_rodrigues": ANGLES, "quaternion_rotate": QUATERNION}


def algebra(name: str) -> Callable[[FunctionCase], Any]:
    """A function of es.algebra with arguments by their names."""
    from inspect import Parameter, signature

    def make(c: FunctionCase) -> Any:
        function = getattr(es.algebra, name)
        given: list[Any] = []
        for p in signature(function).parameters.values():
            value = FOUR_BY_FOUR.get(
                name, VECTORS.get(name, ARGUMENTS[p.name]) if p.name == "p" else ARGUMENTS[p.name]
            )
            given += list(value) if p.kind is Parameter.VAR_POSITIONAL else [value]
        return np.asarray(function(*given))

    return make


def curve(make: Callable[[], Any]) -> Callable[[FunctionCase], Any]:
    """A curve at five places, with three derivatives."""
    return lambda c: {
        "length": make().length,
        **{f"{k}": make().derivative(np.linspace(0, 1, 5), k) for k in range(4)},
    }


def path(make: Callable[[], Any]) -> Callable[[FunctionCase], Any]:
    return lambda c: list(make().sample(n=6))


def arc() -> Any:
    return es.paths.arc([0, 0, 0], [1, 0, 0], [0, 0, 1], 1.2)


def along(law: Any, orientation: Any = None) -> Any:
    return es.paths.along(es.paths.line([0, 0, 0], [1, 0.5, 0.2]), law, orientation)


CURVES: dict[str, Callable[[], Any]] = {
    "line": lambda: es.paths.line([0, 0, 0], [1, 2, 3]), "arc": arc,
    "arc_through": lambda: es.paths.arc_through([0, 0, 0], [1, 1, 0], [2, 0, 0]),
    "helix": lambda: es.paths.helix([0, 0, 0], [1, 0, 0], [0, 0, 1], 3.0, 0.2),
    "spline": lambda: es.paths.spline([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]], 3),
    "rounded": lambda: es.paths.rounded([[0, 0, 0], [1, 0, 0], [1, 1, 0]], 0.2),
    "chain": lambda: es.paths.chain(es.paths.line([0, 0, 0], [1, 0, 0]),
    es.paths.line([1, 0, 0], [2, 0, 0])),
    "evenly": lambda: es.paths.evenly(es.paths.spline([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]],
    3)),
    "point": lambda: es.paths.point([1, 2, 3]),
    "curve": lambda: es.paths.curve(lambda s: (s, s**2, s**3)),
}  # fmt: skip
LAWS: dict[str, Callable[[], Any]] = {
    "cycloidal": lambda: es.paths.cycloidal(2.0), "quintic": lambda: es.paths.quintic(2.0),
    "septic": lambda: es.paths.septic(2.0),
    "trapezoidal": lambda: es.paths.trapezoidal(2.0),
    "spline_law": lambda: es.paths.spline_law([0.0, 0.5, 2.0], [0.0, 0.3, 1.0]),
}  # fmt: skip
ORIENTATIONS: dict[str, Callable[[], Any]] = {
    "fixed": lambda: es.paths.fixed(TURN), "turning": lambda: es.paths.turning([np.eye(3), TURN]),
    "frenet": lambda: es.paths.frenet(arc()), "minimal": lambda: es.paths.minimal(arc()),
}  # fmt: skip
SMOOTH = {
    "tolerance": 1e-9,
    "floor": 1e-10,
    "reason": "lengths come from quadrature, and derivatives from splines",
}


def functions() -> Iterator[Call]:
    for name in sorted(set(es.algebra.__all__) - {"REPRESENTATIONS"}):
        yield Call(f"algebra.{name}", f"algebra.{name}", algebra(name))
    yield Call(
        "algebra.REPRESENTATIONS",
        "algebra.REPRESENTATIONS",
        lambda c: sorted(es.algebra.REPRESENTATIONS),
    )
    for name, make in CURVES.items():
        yield Call(f"paths.{name}", f"paths.{name}", curve(make), **SMOOTH)
    for name, make in LAWS.items():
        yield Call(
            f"paths.{name}",
            f"paths.{name} paths.along",
            path(lambda make=make: along(make())),
            **SMOOTH,
        )
    for name, make in ORIENTATIONS.items():
        yield Call(f"paths.{name}", f"paths.{name}",
            path(lambda make=make: es.paths.along(arc(), es.paths.quintic(1.0), make())),
            **SMOOTH)  # fmt: skip
    yield from OTHERS


OTHERS = (
    Call("paths.joint_path", "paths.joint_path",
        path(lambda: es.paths.joint_path([[0, 0], [1, 2], [2, 1]], es.paths.quintic(1.0))),
        **SMOOTH),
    Call("paths.pose_path", "paths.pose_path",
        path(lambda: es.paths.pose_path([np.eye(4), PLACED], es.paths.cycloidal(1.0))), **SMOOTH),
    Call("paths.wrong", "paths.arc_through", lambda c: es.paths.arc_through([0, 0, 0], [1, 0, 0],
        [2, 0, 0]).length),
    Call("robots", "es.robots", lambda c: es.robots()),
    Call("load.unknown", "es.load", lambda c: repr(es.load("five_bra"))),
    Call("load.missing_file", "es.load", lambda c: repr(es.load("/nowhere/arm.toml"))),
    Call("check.missing_file", "es.check",
        lambda c: [x.sentence for x in es.check("/nowhere/arm.toml")]),
    Call("from_dh", "es.from_dh",
        lambda c: es.from_dh([(0.0, 0.2, 0.5, 0.1), (0.0, 0.0, 0.3, -0.4)]),
        outline),
    Call("builder", "es.Builder",
        lambda c: es.Builder("rod").body("bar", mass=1.0, com=(0.5, 0, 0)).joint("q", "revolute",
        "ground", "bar").build(), outline),
    Call("builder.wrong", "es.Builder",
        lambda c: es.Builder("rod").body("bar", mass=-1.0).joint("q", "revolute", "ground",
        "bar").build(), outline),
    Call("bond_graph.library", "BondGraph.library", lambda c: es.BondGraph.library()),
    Call("bond_graph.of_mechanical_parts", "BondGraph.of_mechanical_parts",
        lambda c: es.BondGraph.of_mechanical_parts("two",
        {"force": ("Se", "v1"), "mass": ("I: 2", "v1"), "spring": ("C: 0.1", "v1")}),
        fields("states", "inputs")),
    Call("bond_graph.of_circuit_parts", "BondGraph.of_circuit_parts",
        lambda c: es.BondGraph.of_circuit_parts("rc", {"source": ("Se", "a"), "C": ("C: 2", "b"),
        "R": ("R: 3", "a", "b")}), fields("states", "inputs")),
)  # fmt: skip

MECHANISM_CALLS: tuple[Call, ...] = (
    *DATA, *CHANGES, *quantities(), *LOOPS, *KINEMATICS, *DYNAMICS, *LINEAR_MODELS, *CONTROL,
    *SIMULATION, *DESIGNS,
)  # fmt: skip
FUNCTION_CALLS = tuple(functions())
GRAPH_CALLS = tuple(replace(call, name=f"{GRAPH}{call.name}") for call in GRAPHS)
ALL_CALLS = (*MECHANISM_CALLS, *FUNCTION_CALLS, *GRAPH_CALLS)


def subjects() -> list[str]:
    """Everything that is recorded: the library, drawn mechanisms, bond graphs, functions."""
    return [
        *es.robots(),
        *drawn(),
        *(f"{GRAPH}{name}" for name in es.BondGraph.library()),
        FUNCTIONS,
    ]


def calls_of(subject: str) -> tuple[Any, list[Call]]:
    """The case of a subject and the calls that are made on it, in the order of the table."""
    if subject == FUNCTIONS:
        return FunctionCase(), list(FUNCTION_CALLS)
    if subject.startswith(GRAPH):
        name = subject.removeprefix(GRAPH)
        return GraphCase(name), [call for call in GRAPH_CALLS if call.where(name)]
    return MechanismCase(subject), [call for call in MECHANISM_CALLS if call.where(subject)]


def precisions() -> dict[str, Precision]:
    return {
        c.name: Precision(c.tolerance, c.floor, c.tree_tolerance, c.closed_growth)
        for c in ALL_CALLS
    }
