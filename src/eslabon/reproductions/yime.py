"""Yime, Saltaren and Roldan, "Análisis dinámico inverso de robots paralelos: un tutorial con álgebra de Lie", RIAI 20, 2023.

The three examples: five-bar, spatial four-bar, planar 3-RRR. The paper shows its results as curves, which are lost; so
the compiled dynamics are held against its data and sentences, against values recomputed from its data by other programs,
and against its own equations followed number by number (`by_the_paper`), in which its slips can be put back. L123 is line
123 of the scanned text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

import eslabon as es
from eslabon.algebra import adjoint, bracket, cobracket, inertia_matrix, pose, pose_inverse, rotation_about
from eslabon.model import GROUND
from eslabon.reproductions.figures import Drawing, Panel, sheet
from eslabon.reproductions.report import Exhibit, Report, Row, Section
from eslabon.reproductions.verdicts import erratum, number, statement

Floats = np.ndarray[Any, np.dtype[np.float64]]

TEXT = (
    "The curves of figures 4 to 17 are lost. Printed are data, start angles, one torque and sentences; each is set beside "
    "what eslabon computes. Values called recomputed were got from the printed data by other programs. Every motion is also worked out by the paper's own equations, number by number. SI units."
)
OTHERS = ("", "recomputed", "eslabon")
SIDES = ("", "the paper", "eslabon")


# -- the paper's equations, number by number --------------------------------------------------------------------------


@dataclass(frozen=True)
class Slips:
    """What the print has wrong, to be put back one at a time; as it stands, the text is right."""

    rho: float = -1.0  # the sign of eq. 44, printed as +1 (L528, L661, L844)
    weight: float = 1.0  # that of F_g in eq. 43, printed as -1 (L518)
    twice: bool = False  # the two axes of one universal joint bracketed besides S' (L834)
    turned: bool = False  # the brackets of 7.3.4 the other way round (L1017, L1031)
    rates: bool = True  # the speeds in the Coriolis terms, which 7.1.4 leaves out (L629-649)


RIGHT = Slips()


@dataclass(frozen=True)
class Worked:
    """All velocities and accelerations, and the torques, from those of the actuated joints."""

    v: Floats
    a: Floats
    tau: Floats


@dataclass(frozen=True)
class Chain:
    """A frame on a tree, with what moves it: the columns Ad S of its joints, and which velocities they belong to."""

    m: es.Mechanism
    q: Floats
    places: Mapping[str, Floats]  # the poses of all bodies
    body: str
    at: Floats

    @cached_property
    def joints(self) -> list[Any]:
        found: list[Any] = []
        body = self.body
        while body != GROUND:
            joint = next(j for j in self.m.joints if j.child == body)
            found.insert(0, joint)
            body = joint.parent
        return found

    @cached_property
    def back(self) -> Floats:
        """From the ground to this frame."""
        return pose_inverse(self.places[self.body] @ self.at)

    def carried(self, joint: Any) -> Floats:
        """Ad from the joint's frame to this one."""
        return adjoint(self.back @ self.places[joint.child])

    def columns(self, joint: Any) -> Floats:
        return self.carried(joint) @ np.asarray(joint.kind.motion(self.q[self.m.coordinates[joint.name]]))

    def jacobian(self) -> Floats:
        """Eq. 10: V = J v."""
        J = np.zeros((6, self.m.nv))
        for joint in self.joints:
            J[:, self.m.velocities[joint.name]] = self.columns(joint)
        return J

    def coriolis(self, v: Floats, slips: Slips) -> Floats:
        """Eq. 17: the acceleration while the joints' speeds are constant."""
        total, before = np.zeros(6), np.zeros(6)
        for joint in self.joints:
            place = self.m.velocities[joint.name]
            speeds = v[place] if slips.rates else np.ones(place.stop - place.start)
            rate = np.asarray(joint.kind.motion_rate(self.q[self.m.coordinates[joint.name]], v[place]))
            columns = self.columns(joint)
            total += self.carried(joint) @ rate @ v[place]
            total += (-1 if slips.turned else 1) * bracket(before) @ columns @ speeds
            if slips.twice and joint.nv == 2:
                total += bracket(columns[:, 0] * speeds[0]) @ columns[:, 1] * speeds[1]
            before = before + columns @ speeds
        return total


def by_the_paper(m: es.Mechanism, q: Floats, va: Floats, aa: Floats, slips: Slips = RIGHT) -> Worked:
    """Velocities (eq. 32), accelerations (35, 36) and torques (42 to 46) of a closed posture."""
    places = {GROUND: np.eye(4)} | {body.name: m.pose(q, body.name) for body in m.bodies}
    phi, gamma_of = _loops(m, q, places, slips)
    act = list(m.actuated_velocities)
    pas = [k for k in range(m.nv) if k not in act]
    back = np.linalg.pinv(phi[:, pas], rcond=1e-9)
    v, a = np.zeros(m.nv), np.zeros(m.nv)
    v[act], v[pas] = va, -back @ phi[:, act] @ va
    a[act], a[pas] = aa, back @ (gamma_of(v) - phi[:, act] @ aa)
    rho = np.zeros((m.nv, len(act)))
    rho[act], rho[pas] = np.eye(len(act)), slips.rho * back @ phi[:, act]
    tau = np.zeros(len(act))
    for body in m.bodies:
        frame = Chain(m, q, places, body.name, np.eye(4))
        J, R = frame.jacobian(), places[body.name][:3, :3]
        V, A = J @ v, J @ a + frame.coriolis(v, RIGHT)
        M = inertia_matrix(body.mass, np.array(body.com), body.inertia_matrix())
        pull = body.mass * R.T @ np.array(m.gravity, dtype=float)
        weight = np.concatenate([np.cross(np.array(body.com, dtype=float), pull), pull])
        tau += (J @ rho).T @ (M @ A + cobracket(V) @ M @ V - slips.weight * weight)
    return Worked(v, a, tau)


def _loops(m: es.Mechanism, q: Floats, places: Mapping[str, Floats], slips: Slips) -> tuple[Floats, Any]:
    """The Jacobian of the constraints (eq. 28), and gamma (35) as a function of the velocities."""
    ends = []
    for loop in m.loops:
        left, right = (
            Chain(m, q, places, e.body, pose(e.at.rotation(), e.at.translation())) for e in (loop.first, loop.second)
        )
        across = left.back @ pose_inverse(right.back)
        C = np.asarray(loop.kind.covectors(across[:3, :3], across[:3, 3]))
        ends.append((left, right, C, adjoint(pose_inverse(across))))

    def gamma(v: Floats) -> Floats:
        rows = []
        for left, right, C, Ad in ends:
            product = bracket(right.jacobian() @ v) @ Ad @ left.jacobian() @ v
            rows.append(-C.T @ (right.coriolis(v, slips) - Ad @ left.coriolis(v, slips) + product))
        return np.concatenate(rows)

    phi = np.concatenate([C.T @ (right.jacobian() - Ad @ left.jacobian()) for left, right, C, Ad in ends])
    return phi, gamma


# -- the three motions ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A mechanism along its motion: times, all joints' q, v, a, and the actuators' torques."""

    m: es.Mechanism
    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats

    def at(self, *instants: float) -> list[int]:
        return [int(np.abs(self.t - t).argmin()) for t in instants]

    def column(self, joint: str, part: int = 0) -> int:
        return int(self.m.velocities[joint].start) + part

    def torque(self, m: es.Mechanism, a: Floats | None = None) -> Floats:
        """The torques of another mechanism of the same shape on this motion; `a` may be a wrong one."""
        return m.inverse_dynamics(self.q, self.v, self.a if a is None else a, tolerance=10.0)

    def departure(self, instants: Sequence[int], slips: Slips = RIGHT) -> tuple[float, float]:
        """How far the paper's equations are from eslabon, relative to the greatest: accelerations and torques."""
        act = list(self.m.actuated_velocities)
        worked = [by_the_paper(self.m, self.q[k], self.v[k, act], self.a[k, act], slips) for k in instants]
        return (
            apart(np.array([w.a for w in worked]), self.a[instants]),
            apart(np.array([w.tau for w in worked]), self.tau[instants]),
        )


def apart(found: Floats, wanted: Floats) -> float:
    """The greatest difference, relative to the greatest value."""
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def run(m: es.Mechanism, t: Floats, qa: Floats, va: Floats, aa: Floats) -> Run:
    q, v, a = m.complete(qa, va, aa)
    return Run(m, t, q, v, a, m.inverse_dynamics(q, v, a))


@cache
def five_bar() -> Run:
    """theta2 = 120 + 30 sin t, theta5 = 60 - 30 sin t degrees for a second (L709-715)."""
    t = np.linspace(0, 1, 1001)
    swing = np.radians(30) * np.stack([np.sin(t), np.cos(t), -np.sin(t)])[..., None] * [1, -1]
    return run(es.load("five_bar"), t, np.radians([120, 60]) + swing[0], swing[1], swing[2])


@cache
def spatial_four_bar() -> Run:
    """One turn at 1 rpm from theta2 = 90 degrees (L876, L880)."""
    t = np.linspace(0, 60, 2401)
    speed = np.full((len(t), 1), 2 * np.pi / 60)
    return run(es.load("spatial_four_bar"), t, np.pi / 2 + speed * t[:, None], speed, 0 * speed)


@cache
def planar_3rrr() -> Run:
    """All three motors at 6 degrees a second for 3 s (L1083)."""
    t = np.linspace(0, 3, 301)
    speed = np.full((len(t), 3), np.radians(6))
    return run(es.load("planar_3rrr"), t, np.radians(30) + speed * t[:, None], speed, 0 * speed)


# -- the sections -----------------------------------------------------------------------------------------------------


def report() -> Report:
    """The three examples, what the paper says of them, and what is wrong in its formulas."""
    title = "Yime, Saltaren and Roldan, Inverse dynamics of parallel robots: a tutorial with Lie algebra, recomputed"
    sections = (
        *five_bar_sections(),
        *four_bar_sections(),
        published_torque(),
        *three_rrr_sections(),
        joint_tables(),
        constraint_tables(),
        slips_in_use(),
    )
    return Report("yime", title, TEXT, sections)


def own_equations(r: Run, count: int = 7) -> Row:
    """The paper's equations against eslabon along a motion: the greater of both departures."""
    instants = np.linspace(0, len(r.t) - 1, count).astype(int).tolist()
    return statement("a and tau by eqs. 28-46", "number by number", "compiled", max(r.departure(instants)))


def lie(r: Run) -> Row:
    """The formulation named after the paper against the default one."""
    error = apart(r.m.inverse_dynamics(r.q, r.v, r.a, "lie"), r.tau)
    return statement("formulation 'lie'", "virtual work", "default formulation", error)


def motion_table(
    r: Run, joint: str, part: int, instants: Sequence[float], motors: Sequence[str], title: str
) -> Exhibit:
    """A joint's motion and the torques at selected instants."""
    k = r.column(joint, part)
    lines = [
        (
            f"{r.t[i]:g}",
            *(f"{round(x, 8) + 0.0:.8f}" for x in (r.q[i, k], r.v[i, k], r.a[i, k])),
            *(f"{x:.6e}" if abs(x) > 1e-15 else "0" for x in r.tau[i, : len(motors)]),
        )
        for i in r.at(*instants)
    ]
    return Exhibit(("t, s", "angle, rad", "rad/s", "rad/s²", *(f"{name}, N m" for name in motors)), tuple(lines), title)


FIVE_BAR = (  # t, theta3 and its two rates, torque on bar 2 without and with gravity
    ("0", "-1.298996272", "-0.777581488", "0.013549226", "7.368249701e-06", "-8.111649914e-03"),
    ("0.5", "-1.668938714", "-0.669321703", "0.405174968", "-9.355559369e-06", "-1.019218287e-02"),
    ("1", "-1.940857538", "-0.398142848", "0.647397241", "-2.570554661e-05", "-1.118950734e-02"),
)
NOT_CLOSED = (
    "With the printed angles the two ends of links 3 and 4 are {gap:.3f} mm apart; the computed ones close exactly."
)
RELATIVE = (
    "True of the links' absolute speeds. The joint rates theta3' and theta4', which the figure is said to show, reach "
    "{passive:.3f} rad/s, the motors' {active:.3f}."
)


def five_bar_sections() -> tuple[Section, Section]:
    r = five_bar()
    heavy = r.torque(r.m.with_parameters(g=9.81))
    three, four, two, five = (r.column(f"theta{k}") for k in (3, 4, 2, 5))
    rough = r.q[0].copy()
    rough[[three, four]] = np.radians([-74.46, 74.46])
    gap = float(np.linalg.norm(r.m.constraint(rough))) * 1e3
    fast = {"passive": np.abs(r.v[:, [three, four]]).max(), "active": np.abs(r.v[:, [two, five]]).max()}
    tip = r.m.pose(r.q, "point")[:, 0, 3]
    said = [
        number("theta3 start, deg (L705)", "-74.46", np.degrees(r.q[0, three]), reason=NOT_CLOSED.format(gap=gap)),
        number("theta4 start, deg (L705)", "74.46", np.degrees(r.q[0, four]), reason=NOT_CLOSED.format(gap=gap)),
        statement("speeds (L729)", "greatest in 2 and 5", f"{fast['passive']:.4f} in 3 and 4", fast["passive"] - fast["active"],
                  reason=RELATIVE.format(**fast)),
        statement("accelerations 2, 5 (L734)", "equal and opposite", "sum", float(np.abs(r.a[:, two] + r.a[:, five]).max())),
        statement("accelerations 3, 4 (L734)", "equal and opposite", "sum", float(np.abs(r.a[:, three] + r.a[:, four]).max())),
        statement("torques (L739)", "symmetric about 0", "sum / greatest", float(np.abs(r.tau.sum(1)).max() / np.abs(r.tau).max())),
        statement("path of the tip (L739)", "along y", f"x = {tip[0]:.3f} m", float(np.ptp(tip))),
        own_equations(r),
        lie(r),
    ]  # fmt: skip
    rows = []
    for (t, *values), i in zip(FIVE_BAR, r.at(0, 0.5, 1), strict=True):
        ours = (r.q[i, three], r.v[i, three], r.a[i, three], r.tau[i, 0], heavy[i, 0])
        names = ("theta3, rad", "theta3', rad/s", "theta3'', rad/s²", "tau2, N m", "tau2 with g, N m")
        rows += [number(f"t = {t}: {n}", x, y) for n, x, y in zip(names, values, ours, strict=True)]
    text = (
        "Lengths 100, 40, 100, 100, 40 mm, masses 8.29 and 20.14 g, slender links; theta2 = 120 + 30 sin t, theta5 = 60 - 30 "
        f"sin t degrees for 1 s. Without gravity the torques stay below {np.abs(r.tau).max():.3g} N m; with g = 9.81 m/s² along "
        f"-y, which the paper leaves out, they reach {np.abs(heavy).max():.3g} N m."
    )
    shown = motion_table(r, "theta3", 0, (0, 0.25, 0.5, 0.75, 1), ("tau2", "tau5"), "Joint 3 and the torques")
    return (
        Section("7.1 Five-bar: what the paper says", text, tuple(said), SIDES),
        Section(
            "7.1 Five-bar: values", "Joint 3 and the torque on bar 2 at three instants.", tuple(rows), OTHERS, (shown,)
        ),
    )


# Joint, part, and the extremes of angle, rate and acceleration over a turn in degrees. Those of theta3u'' are
# by_the_paper's: a grid of whole seconds misses them and shows 4.132.
RANGES = (
    ("theta4", "theta4", 0, ("112.774", "149.644"), ("-2.077", "2.077"), ("-0.149", "0.244")),
    ("theta3u", "theta3", 0, ("-72.429", "72.429"), ("-18.947", "18.947"), ("-4.207", "4.207")),
    ("theta3", "theta3", 1, ("97.582", "115.916"), ("-1.887", "1.887"), ("-0.277", "0.834")),
)


def four_bar_sections() -> tuple[Section, Section]:
    r = spatial_four_bar()
    crank, passive = r.column("theta2"), [r.column("theta4"), r.column("theta3"), r.column("theta3", 1)]
    most = [np.ptp(r.q[:, passive], axis=0), *(np.abs(x[:, passive]).max(0) for x in (r.v, r.a))]
    start = dict(zip(("theta4", "theta3u", "theta3"), np.degrees(r.q[0, passive]), strict=True))
    said = [
        number("theta4 start, deg (L880)", "112.77", start["theta4"]),
        number("theta3u start, deg (L880)", "0", start["theta3u"]),
        number("theta3 start, deg (L880)", "97.58", start["theta3"]),
        *(
            statement(f"{what} (L{line})", "greatest in theta3u", f"{np.degrees(m[1]):.4g}°", float(max(m[0], m[2]) - m[1]))
            for what, line, m in zip(("range", "rate", "acceleration"), (884, 898, 900), most, strict=True)
        ),
        statement("one turn", "comes back", "end - start", float(np.abs(r.q[-1, passive] - r.q[0, passive]).max())),
        own_equations(r, 13),
        lie(r),
    ]  # fmt: skip
    rows = []
    for name, joint, part, *printed in RANGES:
        k = r.column(joint, part)
        for unit, x, texts in zip(
            ("deg", "deg/s", "deg/s²"), np.degrees([r.q[:, k], r.v[:, k], r.a[:, k]]), printed, strict=True
        ):
            rows += [
                number(f"{name}, {which}, {unit}", text, y)
                for which, text, y in zip(("least", "greatest"), texts, (x.min(), x.max()), strict=True)
            ]
    down = es.Mechanism(replace(r.m.description, gravity=(0.0, 0.0, -9.81)))
    p = r.m.parameters
    closed_form = (p["m2"] + p["m3"]) / 2 * p["L2"] * 9.81 * np.sin(r.q[:, crank])
    sideways, upright = r.torque(r.m.with_parameters(g=9.81))[:, 0], r.torque(down)[:, 0]
    rows += [
        number("torque, greatest, N m", "3.943e-06", np.abs(r.tau).max()),
        number("with g along -y, greatest, N m", "0.2316", np.abs(sideways).max()),
        number("with g along -z, greatest, N m", "0.122625", np.abs(upright).max()),
        statement("with g along -z, all angles", "(m2+m3)/2 L2 g sin theta2", "tau - tau without g",
                  apart(upright - r.tau[:, 0], closed_form)),
    ]  # fmt: skip
    text = (
        "RSUR, lengths 150, 50, 120, 120 mm, masses 0.1, 0.4, 0.4 kg, slender links; the crank turns once in 60 s. With gravity "
        "along -z only crank and coupler are lifted, by half the height of the crank's tip each: a closed form."
    )
    shown = motion_table(r, "theta3", 0, (0, 10, 20, 30, 40, 50, 60), ("tau2",), "Joint theta3u and the torque")
    return (
        Section("7.2 Spatial four-bar: what the paper says", text, tuple(said), SIDES),
        Section(
            "7.2 Spatial four-bar: values over a turn",
            "Extremes of the passive joints and of the torque. Those of theta3u'' are by the paper's equations, number by number.",
            tuple(rows),
            OTHERS,
            (shown,),
        ),
    )


def doubled(r: Run) -> Floats:
    """The accelerations with the term of L834 too many: the axes of the universal joint bracketed besides S'.

    The surplus turns the coupler, and moves its end, L3 along x from the joint; the constraint is that end, in its axes.
    """
    _, *passive = range(r.m.nv)
    first, second = r.column("theta3"), r.column("theta3", 1)
    theta = r.q[:, second]
    axis = np.stack([-np.sin(theta), 0 * theta, np.cos(theta)], -1)  # of theta3u, seen from the coupler
    spin = np.cross(axis, [0, 1, 0]) * (r.v[:, first] * r.v[:, second])[:, None]
    surplus = np.cross(spin, [r.m.parameters["L3"], 0, 0])
    wrong = r.a.copy()
    wrong[:, passive] -= np.linalg.solve(r.m.constraint_jacobian(r.q)[..., passive], surplus[..., None])[..., 0]
    return wrong


def permuted(m: es.Mechanism) -> es.Mechanism:
    """Crank and coupler with each other's length in their centres of mass and inertias, not in the geometry."""
    p, bodies = m.parameters, []
    for body, length in zip(m.description.bodies, (p["L3"], p["L4"], p["L2"]), strict=True):
        moment = float(p[f"m{ {'crank': 2, 'rocker': 4, 'coupler': 3}[body.name] }"]) * length**2 / 12
        bodies.append(replace(body, com=(length / 2, 0.0, 0.0), inertia=(0.0, moment, moment, 0.0, 0.0, 0.0)))
    return es.Mechanism(replace(m.description, bodies=tuple(bodies)))


@cache
def variants() -> tuple[Floats, dict[str, Floats]]:
    """Times, and the torque in kg mm²/s² for right and permuted lengths, right and doubled term."""
    r = spatial_four_bar()
    other, wrong = permuted(r.m), doubled(r)
    return r.t, {
        "right": r.tau[:, 0] * 1e6,
        "term counted twice": r.torque(r.m, wrong)[:, 0] * 1e6,
        "lengths permuted": r.torque(other)[:, 0] * 1e6,
        "both": r.torque(other, wrong)[:, 0] * 1e6,
    }


TORQUES = (("right", "3.943"), ("term counted twice", "4.180"), ("lengths permuted", "5.221"), ("both", "5.261"))
UNITS = (
    "The published program works in kg and mm: its curve is in kg mm²/s², a millionth of a N m, and peaks at {both:.2f}. It "
    "also counts the Coriolis term of the universal joint twice (L834) and takes the lengths in its inertias in "
    "another order; with the crank's length for the coupler its peak comes out. Right is {right:.3g} N m."
)


def published_torque() -> Section:
    r, (_, curves) = spatial_four_bar(), variants()
    peak = {name: float(np.abs(x).max()) for name, x in curves.items()}
    right = float(np.abs(r.tau).max())
    why = UNITS.format(both=peak["both"], right=right)
    rows = [statement("peak torque (L904)", "about 6 N m", f"{right:.4g} N m", 6 - right, tolerance=0.5, reason=why)]
    rows += [number(f"{name}, kg mm²/s²", text, peak[name]) for name, text in TORQUES]
    text = (
        "The torque printed as about 6 N m, in the unit of the published program and with its two mistakes put back one at a "
        "time: the surplus term is added to gamma, and the accelerations that follow go into the virtual work."
    )
    return Section(
        "7.2 Spatial four-bar: the published torque", text, tuple(rows), ("", "printed or recomputed", "eslabon")
    )


THREE_RRR = (("0", "-2.251885e-04"), ("1", "3.606886e-05"), ("2", "1.847977e-04"), ("3", "6.293685e-04"))


def three_rrr_sections() -> tuple[Section, Section]:
    r = planar_3rrr()
    p = r.m.parameters
    legs = [r.column(f"theta{k}") for k in (2, 5, 7)]
    home = np.radians([30, 120, -150, 30, 120, 30, 120])
    like = max(float(np.abs(x[:, legs] - x[:, legs[:1]]).max()) for x in (r.q, r.v, r.a))
    rod = p["m_link"] * p["L"] ** 2 / 12
    said = [
        statement("start angles (L1079)", "close", "loops' residual, m", float(np.abs(r.m.constraint(home)).max())),
        statement("legs 5 and 7 (L1109)", "move like leg 2", "q, v, a apart", like),
        statement("three motors (L1122)", "same torque", "apart / greatest", apart(r.tau, r.tau[:, :1] * np.ones(3))),
        erratum("unit of inertia (L1095)", "kg mm²", "kg m²", (p["I_across"] / (rod * 1e6) - 1, p["I_across"] / rod - 1),
                tolerance=0.1, reason=f"m L²/12 of a link is {rod:.4g} kg m², the printed number {p['I_across']:.4g}; read as "
                "kg mm² it would be a millionth of that."),
        own_equations(r),
        lie(r),
    ]  # fmt: skip
    rows = [
        number(f"t = {t}: tau1, N m", text, r.tau[i, 0])
        for (t, text), i in zip(THREE_RRR, r.at(0, 1, 2, 3), strict=True)
    ]
    rows += [
        number("t = 3: theta2, deg", "108.031031", np.degrees(r.q[-1, legs[0]])),
        number("t = 3: theta2', rad/s", "-0.152516", r.v[-1, legs[0]]),
        number("t = 3: theta2'', rad/s²", "-0.087662", r.a[-1, legs[0]]),
    ]
    text = (
        "Base radius 255, platform radius 55, links 200 mm; links 0.32841 kg, platform 0.70994 kg; the three motors turn at "
        "6°/s for 3 s. Gravity is normal to the plane. The distance l_ee between platform joints is not printed; it is "
        f"sqrt(3) r_ee = {3**0.5 * p['r_ee'] * 1e3:.3f} mm, with which the start angles close exactly."
    )
    shown = motion_table(r, "theta2", 0, (0, 0.5, 1, 1.5, 2, 2.5, 3), ("tau1",), "Joint 2 and the torque of motor 1")
    return (
        Section("7.3 Planar 3-RRR: what the paper says", text, tuple(said), SIDES),
        Section("7.3 Planar 3-RRR: values", "Torques, and joint 2 at the end.", tuple(rows), OTHERS, (shown,)),
    )


# -- errata that are cheap to show ------------------------------------------------------------------------------------


def constraint_tables() -> Section:
    """Constraint covectors, eq. 27 and table 4."""
    rng = np.random.default_rng(1)
    turns = [rotation_about(tuple(rng.normal(size=3)), x) for x in rng.uniform(0.5, 2.5, 2)]
    Rm, Rn = (np.asarray(R) for R in turns)
    um, un, wm, wn, vm, vn = rng.normal(size=(6, 3))  # spins in body axes
    rate = (Rm @ np.cross(wm, um)) @ (Rn @ un) + (Rm @ um) @ (Rn @ np.cross(wn, un))
    covector, between = np.cross(un, Rn.T @ Rm @ um), np.eye(4)
    between[:3, :3] = Rn.T @ Rm
    relative = np.concatenate([wn, vn]) - adjoint(between) @ np.concatenate([wm, vm])
    along = float(covector @ relative[3:] - rate), float(covector @ relative[:3] - rate)
    x, y, z = np.eye(3)
    turn = np.asarray(rotation_about((0, 0, 1), 0.3))  # a revolute or cylindrical joint at 0.3 rad
    spare = float(y @ turn @ x), float(z @ turn @ x)  # u_m . R u_n
    printed_row, right_row = np.cross(z, turn.T @ x), np.cross(x, turn.T @ z)
    quarter = np.asarray(rotation_about((0, 0, 1), np.pi / 2))
    rank = np.linalg.matrix_rank(np.stack([np.cross(y, quarter.T @ z), np.cross(z, quarter.T @ x)]), tol=1e-9)
    rows = [
        erratum("covector (27), L357", "[0; u_n x R u_m]", "[u_n x R u_m; 0]", along,
                reason="Against the exact rate of (R_m u_m).(R_n u_n) for two bodies in random motion. The covector is a "
                "moment, and stands in the angular half."),
        erratum("cylindrical, row 4", "(y_m, x_n)", "(z_m, x_n)", spare,
                reason=f"The printed constraint is sin(theta), here {spare[0]:.3f} at theta = 0.3: it forbids the joint's own turn."),
        erratum("revolute, row 5: C", "(x_m, z_n): [0,1,0]", "(z_m, x_n): [0,-1,0]",
                (float(np.abs(printed_row - y).max()), float(np.abs(right_row + y).max())),
                reason="The pair (x_m, z_n) has C = ({:.3f}, {:.3f}, {:.3f}) at theta = 0.3, not a constant, and at 90° it repeats "
                "the row above: the two rows have rank {}.".format(*printed_row, rank)),
    ]  # fmt: skip
    return Section(
        "4 Constraints: eq. 27 and table 4",
        "Covectors of constraints. The difference is the error of the printed form.",
        tuple(rows),
        FORMS,
    )


FORMS = ("", "as printed", "as it must read")


def joint_tables() -> Section:
    """Tables 2 and 3 against the Jacobian of chains of one-axis joints, and its exact rate."""
    rng = np.random.default_rng(2)
    ball = _chain(("revolute", "z"), ("revolute", "y"), ("revolute", "x"))
    plane = _chain(("prismatic", "x"), ("prismatic", "y"), ("revolute", "z"))
    q, v = rng.normal(size=(2, 3))
    (_, s2, s3), (_, c2, c3), (_, w2, w3) = np.sin(q), np.cos(q), v
    S, rate = ball.jacobian(q, "tip"), ball.derivative("jacobian", "q", q, frame="tip") @ v
    first = rate[1, 0]
    flat = np.zeros((6, 3))
    flat[2, 0] = flat[3, 1] = flat[4, 2] = 1.0
    bent = np.zeros((6, 3))
    bent[3:5, :2], bent[2, 2] = [[c3, s3], [-s3, c3]], 1.0
    shift = plane.jacobian(q, "tip")
    lost = "The first axis seen from the outer frame is (-s2, c2 s3, c2 c3); the factor s3 is lost."
    follows = "The rate of the printed entry, and wrong as that is."
    sign = "The rate of c3; the sign is lost."
    rows = [
        erratum("ball S_1y (table 2)", "c2", "c2 s3", (c2 - S[1, 0], c2 * s3 - S[1, 0]), reason=lost),
        erratum("ball S_1y' (table 3)", "-s2 w2", "-s2 s3 w2 + c2 c3 w3",
                (-s2 * w2 - first, -s2 * s3 * w2 + c2 * c3 * w3 - first), reason=follows),
        erratum("ball S_2y' (table 3)", "s3 w3", "-s3 w3", (s3 * w3 - rate[1, 1], -s3 * w3 - rate[1, 1]), reason=sign),
        erratum("planar S (table 2)", "rot z, x, y", "(c3,-s3), (s3,c3), z",
                (float(np.abs(flat - shift).max()), float(np.abs(bent - shift).max())),
                reason="The printed columns are rates along the body's axes, in another order than theta1, theta2, theta3 of "
                "table 1; for those coordinates S turns with theta3, and S' is not zero (L200 says only the universal and "
                "the spherical joint have one)."),
    ]  # fmt: skip
    text = "Motion subspaces against the Jacobians of chains z-y-x and shift-shift-turn at a random posture, and their exact rates."
    return Section("2, 3 Joint tables", text, tuple(rows), FORMS)


def _chain(*axes: tuple[str, str]) -> es.Mechanism:
    """One-axis joints one after the other, without offsets."""
    b, parent = es.Builder("chain"), GROUND
    for k, (kind, axis) in enumerate(axes, start=1):
        b.body(f"body{k}", mass=1.0, inertia=(1, 1, 1))
        b.joint(f"q{k}", kind, parent, f"body{k}", axis=axis)
        parent = f"body{k}"
    b.frame("tip", parent)
    return b.build()


def slips_in_use() -> Section:
    """The slips that change numbers, put back one at a time into the paper's own equations."""
    five, four, three = five_bar(), spatial_four_bar(), planar_3rrr()
    heavy = five.m.with_parameters(g=9.81)
    weighed = replace(five, m=heavy, tau=five.torque(heavy))
    rows = []

    def put_back(what: str, printed: str, right: str, r: Run, slips: Slips, of: int, reason: str) -> None:
        instants = r.at(*np.linspace(0.2, 0.9, 4) * r.t[-1])
        errors = r.departure(instants, slips)[of], r.departure(instants)[of]
        rows.append(erratum(what, printed, right, errors, reason=reason))

    put_back("five-bar: rho (L661)", "Φp⁻¹ Φa", "-Φp⁻¹ Φa", five, Slips(rho=1.0), 1,
             "Of the torques. The 3-RRR section has the sign right (L1055).")  # fmt: skip
    put_back("four-bar: rho (L844)", "Φp⁻¹ Φa", "-Φp⁻¹ Φa", four, Slips(rho=1.0), 1,
             "Of the torques. The 3-RRR section has the sign right (L1055).")  # fmt: skip
    put_back("five-bar: weight (43), L518", "F_ext - F_g", "F_ext + F_g", weighed, Slips(weight=-1.0), 1,
             "Of the torques with g = 9.81 along -y: the motors would press the links down, not hold them.")  # fmt: skip
    put_back("five-bar: A_c (L629-649)", "no speeds", "times the two speeds", five, Slips(rates=False), 0,
             "Of the accelerations.")  # fmt: skip
    put_back("four-bar: A_c (L834)", "S' and ad_S3u S3", "S' only", four, Slips(twice=True), 0,
             "Of the accelerations. S' of a universal joint already is the bracket of its two axes; the published program "
             "makes the same mistake.")  # fmt: skip
    put_back("3-RRR: A_c (L1017, L1031)", "ad_S2 Ad S1", "ad_S1 Ad S2", three, Slips(turned=True), 0,
             "Of the accelerations. The bracket changes its sign with its order; L1037 is right.")  # fmt: skip
    text = (
        "Each slip put back alone into the paper's equations, at four instants of the motion. The difference is the greatest "
        "error it makes, relative to the greatest value."
    )
    return Section("5, 7 Formulas as printed, in use", text, tuple(rows), FORMS)


# -- figures ----------------------------------------------------------------------------------------------------------


def figures(folder: str | Path = "out/yime", suffix: str = "png") -> list[Path]:
    """Write figures 4 to 7, 9 to 12 and 14 to 17 anew, and the four torques of the spatial four-bar."""
    to = Path(folder)
    return [
        _five_bar_sheet(to / f"figures_4_to_7_five_bar.{suffix}"),
        _four_bar_sheet(to / f"figures_9_to_12_spatial_four_bar.{suffix}"),
        _three_rrr_sheet(to / f"figures_14_to_17_planar_3rrr.{suffix}"),
        _torque_sheet(to / f"torques_published_and_with_gravity.{suffix}"),
    ]


def _motion_panels(r: Run, columns: dict[str, int], numbers: Sequence[int]) -> list[Panel]:
    kinds = (
        ("Positions", "angle / °", r.q),
        ("Velocities", "rate / (°/s)", r.v),
        ("Accelerations", "acceleration / (°/s²)", r.a),
    )
    return [
        Panel(f"{kind} (figure {n})", label, r.t, {name: np.degrees(x[:, k]) for name, k in columns.items()})
        for n, (kind, label, x) in zip(numbers, kinds, strict=False)
    ]


def _points(r: Run, at: int, *ends: tuple[str, tuple[float, float, float]]) -> Floats:
    """Points of bodies at an instant, `(points, 3)`."""
    return np.array([(r.m.pose(r.q[at], body) @ [*p, 1.0])[:3] for body, p in ends])


O = (0.0, 0.0, 0.0)


def _five_bar_sheet(path: Path) -> Path:
    r = five_bar()
    line = (("link2", O), ("link3", O), ("link3", (0.1, 0.0, 0.0)), ("link4", O), ("link5", O))
    instants = {f"t = {r.t[k]:g} s": (_points(r, k, *line),) for k in r.at(0, 0.5, 1)}
    panels = _motion_panels(r, {f"θ{k}": r.column(f"theta{k}") for k in (2, 3, 4, 5)}, (4, 5, 6))
    panels.append(
        Panel(
            "Torques, no gravity (figure 7)", "torque / µN m", r.t, {"τ2": r.tau[:, 0] * 1e6, "τ5": r.tau[:, 1] * 1e6}
        )
    )
    drawing = Drawing("Five-bar", instants, np.array([[0, 0, 0], [0.1, 0, 0]]))
    return sheet(path, "Five-bar: θ2 = 120° + 30° sin t, θ5 = 60° - 30° sin t", panels, drawing)


def _four_bar_sheet(path: Path) -> Path:
    r = spatial_four_bar()
    line = (("crank", O), ("crank", (0.05, 0.0, 0.0)), ("coupler", O), ("rocker", O))
    instants = {f"t = {r.t[k]:g} s": (_points(r, k, *line),) for k in r.at(0, 15, 30, 45)}
    columns = {"θ4": r.column("theta4"), "θ3u": r.column("theta3"), "θ3": r.column("theta3", 1)}
    panels = _motion_panels(r, columns, (9, 10, 11))
    panels.append(Panel("Torque, no gravity (figure 12)", "torque / µN m", r.t, {"τ2": r.tau[:, 0] * 1e6}))
    drawing = Drawing("Spatial four-bar", instants, np.array([[0, 0, 0], [0.15, 0, 0]]), solid=True)
    return sheet(path, "Spatial four-bar: the crank turns at 1 rpm", panels, drawing)


def _three_rrr_sheet(path: Path) -> Path:
    r = planar_3rrr()
    ends = [tuple(float(x) for x in loop.second.at.position) for loop in r.m.loops]
    platform = [("platform", O), ("platform", ends[0]), ("platform", ends[1])]
    lines = [
        (("link1", O), ("link2", O), platform[0]),
        (("link4", O), ("link5", O), platform[1]),
        (("link6", O), ("link7", O), platform[2]),
        (*platform, platform[0]),
    ]
    instants = {f"t = {r.t[k]:g} s": tuple(_points(r, k, *line) for line in lines) for k in r.at(0, 1.5, 3)}  # type: ignore[arg-type]
    panels = _motion_panels(r, {"θ2": r.column("theta2"), "θ3": r.column("theta3")}, (14, 15, 16))
    panels.append(Panel("Torque of each motor (figure 17)", "torque / mN m", r.t, {"τ1 = τ4 = τ6": r.tau[:, 0] * 1e3}))
    pivots = _points(r, 0, ("link1", O), ("link4", O), ("link6", O))
    return sheet(path, "Planar 3-RRR: the motors turn at 6°/s", panels, Drawing("Planar 3-RRR", instants, pivots))


def _torque_sheet(path: Path) -> Path:
    five, four = five_bar(), spatial_four_bar()
    t, curves = variants()
    heavy = five.torque(five.m.with_parameters(g=9.81)) * 1e3
    down = es.Mechanism(replace(four.m.description, gravity=(0.0, 0.0, -9.81)))
    weights = {"g along -y": four.torque(four.m.with_parameters(g=9.81))[:, 0], "g along -z": four.torque(down)[:, 0]}
    panels = [
        Panel("Spatial four-bar: the published torque", "torque / µN m (= kg mm²/s²)", t, dict(curves)),
        Panel("The same, less the right one", "torque / µN m", t, {k: x - curves["right"] for k, x in curves.items() if k != "right"}),
        Panel("Five-bar with gravity along -y", "torque / mN m", five.t, {"τ2": heavy[:, 0], "τ5": heavy[:, 1]}),
        Panel("Spatial four-bar with gravity", "torque / N m", four.t, weights),
    ]  # fmt: skip
    return sheet(path, "Torques: published mistakes put back, and gravity, which the paper leaves out", panels)
