"""Diaz, Provenzano, Vergara and Chacon, "Dinámica directa de robots paralelos utilizando las ecuaciones de Gibbs-Appell".

Both examples are integrated as the paper does it: only the independent coordinates and rates are states, the dependent
ones follow from the loops at every evaluation, and the accelerations come from the explicit Gibbs-Appell equations. All
curves are lost, and of table 1 one row is left. L123 is line 123 of the scanned text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import eslabon as es
from eslabon.kinematics.closure import partition
from eslabon.reproductions.figures import Drawing, Panel, sheet
from eslabon.reproductions.report import Exhibit, Report, Section
from eslabon.reproductions.verdicts import erratum, number, statement

Floats = np.ndarray[Any, np.dtype[np.float64]]

TEXT = (
    "The five figures are lost, and of table 1 one row is left. Printed are data and start angles; centres of mass, gravity "
    "of example 1 and base of example 2 are not, and are inferred (see `eslabon show diaz_four_bar`, `diaz_3rrr`). Values "
    "called recomputed were got from the same data by other programs. SI units."
)
SIDES = ("", "the paper", "eslabon")
OTHERS = ("", "recomputed", "eslabon")
CLOSED = 1e-13  # metres: where Newton's iteration on the loops stops
STRIDE = 0.2  # radians
WAYS = ("gibbs_appell", "multipliers", "udwadia_kalaba")


# -- the paper's equations --------------------------------------------------------------------------------------------


@dataclass
class Loops:
    """The closure of a mechanism, split into independent and dependent coordinates (eq. 3)."""

    m: es.Mechanism
    guess: Floats  # the last posture found, where the next search begins

    def __post_init__(self) -> None:
        split = partition(self.m)
        self.rows = list(split.rows)
        self.i, self.e = list(self.m.actuated_velocities), [
            k for k in range(self.m.nv) if k not in self.m.actuated_velocities
        ]  # fmt: skip

    def jacobian(self, q: Floats) -> Floats:
        return self.m.constraint_jacobian(q)[self.rows]

    def state(self, qi: Floats, vi: Floats) -> tuple[Floats, Floats]:
        """All coordinates by Newton's iteration, all rates by q_e' = -Phi_e^-1 Phi_i q_i'.

        Far states, which integrators try, are reached in strides: one Newton run might find the other way to close.
        """
        q, v = self.guess.copy(), np.zeros(self.m.nv)
        way = qi - q[self.i]
        strides = max(1, int(np.ceil(np.abs(way).max() / STRIDE)))
        for k in reversed(range(strides)):
            q[self.i] = qi - way * (k / strides)
            self._close(q)
        J = self.jacobian(q)
        v[self.i], v[self.e] = vi, -np.linalg.solve(J[:, self.e], J[:, self.i] @ vi)
        self.guess = q
        return q, v

    def _close(self, q: Floats) -> None:
        for _ in range(20):
            left = self.m.constraint(q)[self.rows]
            if np.abs(left).max() < CLOSED:
                return
            q[self.e] -= np.linalg.solve(self.jacobian(q)[:, self.e], left)
        raise es.AssemblyError(f"{self.m.name} does not close: {np.abs(left).max():.1e} m are left.")

    def projected(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The nearest closed posture and the nearest rates that keep it closed, for all coordinates alike."""
        for _ in range(20):
            left = self.m.constraint(q)[self.rows]
            if np.abs(left).max() < CLOSED:
                break
            q = q - np.linalg.pinv(self.jacobian(q)) @ left
        J = self.jacobian(q)
        return q, v - np.linalg.pinv(J) @ (J @ v)


def explicit(m: es.Mechanism, q: Floats, v: Floats, tau: Floats) -> Floats:
    """Eq. 4 corrected, number by number: the legs' mass matrix and bias, S, and the accelerations."""
    loops, open_legs = Loops(m, q), cut(m)
    i, e = loops.i, loops.e
    D, force = open_legs.mass_matrix(q), np.zeros(m.nv)
    force[i] = tau
    force -= open_legs.inverse_dynamics(q, v, np.zeros(m.nv))  # the idea of Walker and Orin (L78)
    J = loops.jacobian(q)
    b = -(m.derivative("constraint_jacobian", "q", q) @ v @ v)[loops.rows]
    X, drift = np.linalg.solve(J[:, e], J[:, i]), np.linalg.solve(J[:, e], b)
    D_ee, D_ei, D_ie, D_ii = (D[np.ix_(r, c)] for r in (e, i) for c in (e, i))
    S = D_ii + X.T @ D_ee @ X - D_ie @ X - X.T @ D_ei
    a = np.zeros(m.nv)
    a[i] = np.linalg.solve(S, force[i] - X.T @ force[e] + (X.T @ D_ee - D_ie) @ drift)
    a[e] = drift - X @ a[i]
    return a


@cache
def cut(m: es.Mechanism) -> es.Mechanism:
    """The legs without their loops, every joint with its force."""
    every = tuple(j.name for j in m.description.joints)
    return es.Mechanism(replace(m.description, loops=(), actuated=every))


# -- two forms to integrate -------------------------------------------------------------------------------------------

Torque = Callable[[float], Any]


@dataclass
class Reduced:
    """The independent coordinates and rates under explicit Gibbs-Appell equations."""

    m: es.Mechanism
    tau: Torque
    home: Floats
    loops: Loops = field(init=False)

    def __post_init__(self) -> None:
        self.loops = Loops(self.m, self.home)

    def start(self, v: Floats) -> Floats:
        return np.concatenate([self.home[self.loops.i], v[self.loops.i]])

    def state(self, y: Floats) -> tuple[Floats, Floats]:
        n = len(self.loops.i)
        return self.loops.state(y[:n], y[n:])

    def rates(self, t: float, y: Floats) -> Floats:
        q, v = self.state(y)
        a = self.m.forward_dynamics(q, v, self.tau(t), "gibbs_appell")
        return np.concatenate([v[self.loops.i], a[self.loops.i]])

    def settled(self, y: Floats) -> Floats:
        return y


@dataclass
class Augmented(Reduced):
    """All coordinates and rates, with multipliers for the loops; projected after every step, or left to drift."""

    project: bool = False

    def start(self, v: Floats) -> Floats:
        return np.concatenate([self.home, v])

    def state(self, y: Floats) -> tuple[Floats, Floats]:
        return y[: self.m.nq], y[self.m.nq :]

    def rates(self, t: float, y: Floats) -> Floats:
        q, v = self.state(y)
        return np.concatenate([v, self.m.forward_dynamics(q, v, self.tau(t), "multipliers", tolerance=1.0)])

    def settled(self, y: Floats) -> Floats:
        return np.concatenate(self.loops.projected(*self.state(y))) if self.project else y


@dataclass(frozen=True)
class Answer:
    """A run: times, all coordinates and rates, the evaluations it took and the seconds."""

    t: Floats
    q: Floats
    v: Floats
    evaluations: int
    seconds: float

    def gap(self, m: es.Mechanism) -> float:
        return float(np.abs(m.constraint(self.q)).max())


def integrate(form: Reduced, v: Floats, end: float, method: str, tolerance: float) -> Answer:
    """Step by step with SciPy's adaptive solver of that name; the end is a step."""
    import scipy.integrate

    evaluations = 0

    def rates(t: float, y: Floats) -> Floats:
        nonlocal evaluations
        evaluations += 1
        return form.rates(t, y)

    begun = perf_counter()
    solver = getattr(scipy.integrate, method)(rates, 0.0, form.start(v), end, rtol=tolerance, atol=tolerance)
    ts, ys = [0.0], [solver.y.copy()]
    while solver.status == "running":
        solver.step()
        settled = form.settled(solver.y)
        if settled is not solver.y:
            solver.y, solver.f = settled, rates(solver.t, settled)
        ts.append(solver.t)
        ys.append(solver.y.copy())
    seconds = perf_counter() - begun
    if solver.status != "finished":
        raise es.EslabonError(f"{method} stopped at t = {solver.t:g} s.")
    states = [form.state(y) for y in ys]
    q, rate = (np.array([state[k] for state in states]) for k in (0, 1))
    return Answer(np.array(ts), q, rate, evaluations, seconds)


# -- example 1 --------------------------------------------------------------------------------------------------------


@cache
def four_bar() -> tuple[es.Mechanism, Floats, tuple[Floats, Floats, Floats], Floats]:
    """Bar 1 at 1 rad/s for 2.5 s (L101): times, motion, torque."""
    m, t = es.load("diaz_four_bar"), np.linspace(0, 2.5, 251)
    motion = m.complete(0.785 + t[:, None], np.ones((len(t), 1)), np.zeros((len(t), 1)))
    return m, t, motion, m.inverse_dynamics(*motion)


def exact_torque(t: float) -> Floats:
    m, times, (q, _, _), _ = four_bar()
    return m.inverse_dynamics(*m.complete([0.785 + t], [1.0], [0.0], guess=q[np.abs(times - t).argmin()]))


@cache
def forward_runs() -> dict[str, Answer]:
    """Forward runs under the torque, by what gives it and how it is integrated."""
    from scipy.interpolate import CubicSpline

    m, t, (q, v, _), tau = four_bar()
    spline = CubicSpline(t, tau)
    return {
        "exact torque, 1e-12": integrate(Reduced(m, exact_torque, q[0]), v[0], 2.5, "DOP853", 1e-12),
        "251 samples, 1e-12": integrate(Reduced(m, spline, q[0]), v[0], 2.5, "DOP853", 1e-12),
        "251 samples, Adams, 1e-6": integrate(Reduced(m, spline, q[0]), v[0], 2.5, "LSODA", 1e-6),
    }


def deviation(run: Answer) -> float:
    """The greatest departure of theta1 from the straight line."""
    return float(np.abs(run.q[:, 0] - 0.785 - run.t).max())


TORQUES = (
    ("0", "1.312927165"), ("0.5", "0.694364457"), ("1", "-0.014869180"), ("1.5", "-0.585937339"), ("2", "-0.875272081"),
    ("2.5", "-0.584766831"),
)  # fmt: skip
CUT_OFF = "{exact:.6f} rounds to {rounded:.3f}; the print has cut the digits off."


def example_1() -> tuple[Section, Section]:
    m, t, (q, v, a), tau = four_bar()
    theta2, theta3 = q[0, 0] + q[0, 1], q[0, 2] - np.pi
    p, printed = m.parameters, np.array([0.785, 0.323, -1.892])
    bars = np.array([p["L1"], p["L2"], p["L3"]])
    gap = np.array([bars @ np.cos(printed) - p["L4"], bars @ np.sin(printed)])
    power = (m.derivative("energy", "q", q, v)[:, 0] * v).sum(-1) + (m.derivative("energy", "v", q, v)[:, 0] * a).sum(
        -1
    )
    runs = forward_runs()
    said = [
        number("theta2, rad (L101)", "0.323", theta2, reason=CUT_OFF.format(exact=theta2, rounded=theta2)),
        number("theta3, rad (L101)", "-1.892", theta3),
        statement("printed angles", "close", "({:.4f}, {:.4f}) m".format(*gap), float(np.abs(gap).max()), tolerance=2e-3),
        statement("torque by virtual work", "tau w1 = dT/dt", "rate of m.energy", float(np.abs(tau[:, 0] - power).max())),
        statement("eq. 4 number by number", "accelerations", "a1 = 0", _explicit_error(m, q[::25], v[::25], tau[::25])),
    ]  # fmt: skip
    said += [
        statement(name, "theta1 linear (L108)", f"{run.evaluations} evaluations", deviation(run), tolerance=limit)
        for (name, run), limit in zip(runs.items(), (1e-9, 1e-9, 1e-5), strict=True)
    ]
    rows = [number(f"t = {s}: torque, N m", text, tau[round(100 * float(s)), 0]) for s, text in TORQUES]
    text = (
        "One-freedom four-bar, bars 1, 3, 1.75 m on a ground of 3 m; the angles are absolute, theta3 from coupler to ground. "
        "Inverse dynamics at a constant 1 rad/s gives the torque; under it forward dynamics must give the straight line theta1 "
        "= 0.785 + t back. The difference is the greatest departure, in rad. Centres of mass in the middle of the bars and no "
        "gravity are assumed; the printed moments are not those of uniform bars, which would be m L²/12."
    )
    lines = [
        (
            f"{s:g}",
            *(f"{x:.6f}" for x in (q[k, 0], q[k, 0] + q[k, 1], q[k, 2] - np.pi, v[k, 1] + 1, v[k, 2], tau[k, 0])),
        )
        for k, s in ((k, t[k]) for k in range(0, 251, 50))
    ]
    columns = ("t, s", "theta1", "theta2", "theta3", "theta2', rad/s", "theta3', rad/s", "torque, N m")
    return (
        Section("Example 1: there and back", text, tuple(said), SIDES),
        Section("Example 1: the torque", "The torque that keeps bar 1 at 1 rad/s.", tuple(rows), OTHERS, (Exhibit(columns, tuple(lines), "The motion in the paper's angles, rad"),)),
    )  # fmt: skip


def _explicit_error(m: es.Mechanism, q: Floats, v: Floats, tau: Floats) -> float:
    """Eq. 4 against the compiled ways, all of them, relative to the greatest acceleration."""
    worst = 0.0
    for state in zip(q, v, tau, strict=True):
        mine = explicit(m, *state)
        worst = max([worst, *(float(np.abs(m.forward_dynamics(*state, way) - mine).max()) for way in WAYS)])
    return worst


# -- example 2 --------------------------------------------------------------------------------------------------------

ANGLES = ("1.047", "-0.865", "1.116", "2.751", "-1.424", "0.679", "-2.718")
PUSH = np.array([0.1, 0.1, -0.1])
AFTER = ("1.10188183", "-0.95807413", "1.13974961", "2.79747542", "-1.46230170", "0.59455333", "-2.69078113")
DEPENDENT = (2, 3, 5, 7)


def push(t: float) -> Floats:
    return PUSH


@cache
def three_rrr() -> tuple[es.Mechanism, Floats]:
    """The mechanism and its start: the printed theta1, theta4, theta6, and what closes."""
    m = es.load("diaz_3rrr")
    printed = np.array([float(x) for x in ANGLES])
    return m, m.assemble(printed[[0, 3, 5]], guess=printed)


@cache
def one_second() -> dict[str, Answer]:
    """The motion from rest under constant torques, in both forms, as accurately as doubles allow."""
    m, home = three_rrr()
    still = np.zeros(m.nv)
    return {
        "reduced": integrate(Reduced(m, push, home), still, 1.0, "DOP853", 1e-12),
        "augmented": integrate(Augmented(m, push, home, project=True), still, 1.0, "DOP853", 1e-12),
    }


def base_sides() -> tuple[float, float]:
    """The shortest and the longest side of the base that angles within half a unit of the printed ones allow."""
    from scipy.optimize import linprog

    m, _ = three_rrr()
    rows = list(partition(m).rows)
    found = []
    for sign in (1.0, -1.0):
        change, b = np.zeros(m.nq), float(m.parameters["b"])
        for _ in range(4):  # the loops are all but linear in so small a change
            q = np.array([float(x) for x in ANGLES]) + change
            values = {"b": b}
            left = m.constraint(q, parameters=values)[rows]
            by_b = m.derivative("constraint", "b", q, parameters=values)[..., rows]
            J = m.constraint_jacobian(q, parameters=values)[rows]
            limits = [(-5e-4 - x, 5e-4 - x) for x in change]
            step = linprog(
                [0] * m.nq + [sign], A_eq=np.column_stack([J, by_b]), b_eq=-left, bounds=[*limits, (None, None)]
            )
            change, b = change + step.x[:-1], b + float(step.x[-1])
        found.append(b)
    return found[0], found[1]


def example_2() -> tuple[Section, Section]:
    m, home = three_rrr()
    p, runs = m.parameters, one_second()
    run, other = runs["reduced"], runs["augmented"]
    printed = np.array([float(x) for x in ANGLES])
    loops = Loops(m, home)
    work = PUSH @ (run.q[-1] - run.q[0])[loops.i]
    energy = float(m.energy(run.q[-1], run.v[-1])[0])
    legs = [[0, 1, 2], [3, 4], [5, 6]]
    D = cut(m).mass_matrix(run.q[-1])
    across = max(float(np.abs(D[np.ix_(x, y)]).max()) for x in legs for y in legs if x != y)
    n_e, n_i = len(loops.e), len(loops.i)
    shapes = f"X^T D_ie: {n_i}x{n_e} times {n_i}x{n_e}"
    mended = _explicit_error(m, run.q[::4], run.v[::4], np.tile(PUSH, (len(run.q[::4]), 1)))
    shortest, longest = base_sides()
    short = _gap_with_short_bar_5(m, printed)
    said = [
        *(number(f"theta{k}, rad (L110)", ANGLES[k - 1], home[k - 1]) for k in DEPENDENT),
        statement("printed angles", "close", "gap, m", float(np.abs(m.constraint(printed)).max()), tolerance=5e-4),
        erratum("length of bar 5, m (L110)", "0.4", "0.6", (short, float(np.abs(m.constraint(printed)).max())), tolerance=5e-4,
                reason="L_1,4,5 must read L_1,4,6, as the masses do: with bar 5 of 0.4 m the loop is open by the difference, in m."),
        number("I of bars 1, 4, 6 = m L²/12", "0.04", p["m1"] * p["L1"] ** 2 / 12),
        number("I of bars 2, 5, 7 = m L²/12", "0.12", p["m2"] * p["L2"] ** 2 / 12),
        number("I of the platform = m L²/12", "0.0817", p["m3"] * p["L3"] ** 2 / 12,
               reason=f"A triangular plate of side {np.sqrt(12 * 0.0817 / p['m3']):.3f} m has the printed moment; the side L3 is "
               "0.4 m. The printed moment is used."),
        statement("D over the legs (7)", "block diagonal", "greatest outside", across),
        erratum("S in eq. 4 (L52)", "- X^T D_ie", "- X^T D_ei", (float(n_e - n_i), mended),
                reason=f"As printed the shapes do not fit ({shapes}); the difference is how many columns are left over. With D_ei eq. "
                "4, number by number, gives the accelerations of all three compiled ways."),
        statement("after 1 s (L117)", "both forms identical", "angles apart", float(np.abs(run.q[-1] - other.q[-1]).max())),
    ]  # fmt: skip
    rows = [number(f"theta{k} after 1 s, rad", text, run.q[-1, k - 1]) for k, text in enumerate(AFTER, start=1)]
    rows += [
        statement("kinetic energy, J", f"work {work:.10f}", f"{energy:.10f}", abs(energy - work), tolerance=1e-12),
        number("shortest base side, m", "1.30063", shortest),
        number("longest base side, m", "1.30119", longest),
    ]
    text = (
        "Planar 3-RRR from rest under 0.1, 0.1, -0.1 N m for 1 s. theta1, theta4, theta6 are printed and kept; the others are "
        f"those that close the loops. The side of the base is not printed: the printed digits allow {shortest:.5f} to {longest:.5f} "
        "m, and 1.301 m is taken."
    )
    lines = [
        (f"theta{k}", f"{x:.8f}", f"{y:.8f}", f"{z:.8f}")
        for k, (x, y, z) in enumerate(zip(run.q[0], run.q[-1], run.v[-1], strict=True), start=1)
    ]
    shown = Exhibit(("", "start, rad", "after 1 s, rad", "rate, rad/s"), tuple(lines), "Start and end")
    return (
        Section("Example 2: data, equations and forms", text, tuple(said), SIDES),
        Section(
            "Example 2: the end",
            "After one second, and the base that the printed digits allow.",
            tuple(rows),
            OTHERS,
            (shown,),
        ),
    )


def _gap_with_short_bar_5(m: es.Mechanism, q: Floats) -> float:
    """How far the end of leg 2 is from the platform if bar 5 has the printed 0.4 m."""
    leg = m.pose(q, "bar5") @ [0.4, 0, 0, 1]
    joint = m.pose(q, "platform") @ [*(float(x) for x in m.loops[0].second.at.position), 1]
    return float(np.linalg.norm(leg - joint))


# -- table 1 ----------------------------------------------------------------------------------------------------------

METHODS = {"LSODA": "Adams", "RK45": "Runge-Kutta 5(4)", "BDF": "implicit (BDF)"}
REDUCED, DRIFTING, PROJECTED = "reduced (GAE)", "multipliers, drifting", "multipliers, projected"
TRIED = {"LSODA": (REDUCED, DRIFTING), "RK45": (REDUCED, DRIFTING, PROJECTED), "BDF": (DRIFTING,)}
TOLERANCES = (1e-6, 1e-9)
REPEATS = 3


@dataclass(frozen=True)
class Cost:
    """One line of table 1 redone."""

    form: str
    method: str
    tolerance: float
    evaluations: int
    seconds: float
    gap: float
    error: float


def forms() -> dict[str, Reduced]:
    m, home = three_rrr()
    return {
        REDUCED: Reduced(m, push, home),
        DRIFTING: Augmented(m, push, home),
        PROJECTED: Augmented(m, push, home, project=True),
    }


def cost(form: str, method: str, tolerance: float) -> Cost:
    """What one second of example 2 takes, and how good it is; the time is the best of a few."""
    m, _ = three_rrr()
    runs = [integrate(forms()[form], np.zeros(m.nv), 1.0, method, tolerance) for _ in range(REPEATS)]
    best = min(runs, key=lambda run: run.seconds)
    error = float(np.abs(best.q[-1] - one_second()["reduced"].q[-1]).max())
    return Cost(form, method, tolerance, best.evaluations, best.seconds, best.gap(m), error)


@cache
def costs() -> dict[tuple[str, str, float], Cost]:
    """Table 1 redone, by form, method and tolerance. A multistep method cannot be projected after every step."""
    return {
        (form, method, tolerance): cost(form, method, tolerance)
        for tolerance in TOLERANCES
        for method, tried in TRIED.items()
        for form in tried
    }


def table_1() -> Section:
    made = costs()
    ours, theirs = made[REDUCED, "LSODA", 1e-6], made[DRIFTING, "BDF", 1e-6]
    counts = f"{ours.evaluations} and {theirs.evaluations} evaluations"
    less = ours.evaluations - theirs.evaluations
    rows = [statement("Adams and implicit, 1e-06", "GAE costs less (L117)", counts, less, tolerance=-1)]
    pairs = [(made[REDUCED, k, x], made[DRIFTING, k, x]) for k in ("LSODA", "RK45") for x in TOLERANCES]
    most = max(abs(one.evaluations - two.evaluations) for one, two in pairs)
    lines = [
        ("G-A augmented", "ode23t", "", "61", "3421.9", "", ""),
        ("GAE", "ode113", "1e-06", "lost", "lost", "", ""),
        *(
            (c.form, METHODS[c.method], f"{c.tolerance:.0e}", str(c.evaluations), f"{c.seconds * 1e3:.1f}", f"{c.gap:.0e}", f"{c.error:.0e}")
            for c in made.values()
        ),
    ]  # fmt: skip
    columns = ("form", "integrator", "tolerance", "evaluations", "ms", "gap, m", "error, rad")
    each = {form: made[form, "RK45", 1e-9] for form in (REDUCED, DRIFTING)}
    micro = {form: 1e6 * c.seconds / c.evaluations for form, c in each.items()}
    text = (
        "One second of example 2. Of the printed table only the multiplier form is left, 61 evaluations and 3.4219 s in Matlab; "
        "the row of the paper's own GAE is lost, and its text says that GAE took less time. The paper gave the forms different "
        "integrators, Adams (ode113) for GAE and an implicit one (ode23t) for the multipliers, and so does the row below, in "
        f"evaluations; with the same integrator their numbers differ by {most} at most. So what GAE saves is the implicit "
        "integrator, and what it gives is loops that stay closed. The times are of this run, on this machine: an evaluation of "
        f"the reduced form takes {micro[REDUCED]:.0f} µs and one with multipliers {micro[DRIFTING]:.0f}, because the dependent coordinates are found by "
        "Newton's iteration in Python; the accelerations themselves are compiled, and take a few microseconds in either form."
    )
    shown = Exhibit(columns, tuple(lines), "Table 1: printed (first two lines), and measured now")
    return Section("Table 1: work of both forms", text, tuple(rows), SIDES, (shown,))


def report() -> Report:
    """Both examples and table 1."""
    title = "Diaz, Provenzano, Vergara and Chacon, Dinamica directa de robots paralelos (Gibbs-Appell), recomputed"
    return Report("diaz", title, TEXT, (*example_1(), *example_2(), table_1()))


# -- figures ----------------------------------------------------------------------------------------------------------


def figures(folder: str | Path = "out/diaz", suffix: str = "png") -> list[Path]:
    """Write figures 2 and 4 anew, and the work and closure of both forms."""
    to = Path(folder)
    return [
        _four_bar_sheet(to / f"figure_2_four_bar.{suffix}"),
        _three_rrr_sheet(to / f"figure_4_planar_3rrr.{suffix}"),
        _work_sheet(to / f"table_1_work.{suffix}"),
    ]


def _points(m: es.Mechanism, q: Floats, *ends: tuple[str, tuple[float, float, float]]) -> Floats:
    """Points of bodies in a posture, `(points, 3)`."""
    return np.array([(m.pose(q, body) @ [*p, 1.0])[:3] for body, p in ends])


O = (0.0, 0.0, 0.0)


def _four_bar_sheet(path: Path) -> Path:
    m, t, (q, _, _), tau = four_bar()
    line = (("bar1", O), ("bar2", O), ("bar2", (3.0, 0.0, 0.0)), ("bar3", O))
    instants = {f"t = {t[k]:g} s": (_points(m, q[k], *line),) for k in (0, 100, 250)}
    samples = forward_runs()["251 samples, 1e-12"]
    theta1 = np.interp(t, samples.t, samples.q[:, 0])
    others = {"θ2": q[:, 0] + q[:, 1], "θ3": q[:, 2] - np.pi}
    departure = np.abs(samples.q[1:, 0] - 0.785 - samples.t[1:])
    panels = [
        Panel("Angle of bar 1 (figure 2)", "θ1 / rad", t, {"forward dynamics": theta1, "0.785 + t": 0.785 + t}),
        Panel("Torque from inverse dynamics", "torque / N m", t, {"τ1": tau[:, 0]}),
        Panel("The other angles", "angle / rad", t, others),
        Panel("θ1 less the straight line, 251 samples", "|departure| / rad", samples.t[1:], {"": departure}, logarithmic="y"),
    ]  # fmt: skip
    drawing = Drawing("Four-bar", instants, np.array([[0, 0, 0], [3, 0, 0]]))
    return sheet(path, "Example 1: the torque of inverse dynamics drives forward dynamics", panels, drawing)


def _three_rrr_sheet(path: Path) -> Path:
    m, home = three_rrr()
    form = Reduced(m, push, home)
    run = integrate(form, np.zeros(m.nv), 1.0, "RK45", 1e-11)  # of small steps, which make smooth curves
    t, q, v = run.t, run.q, run.v
    a = m.forward_dynamics(q, v, PUSH)
    ends = [tuple(float(x) for x in loop.second.at.position) for loop in m.loops]
    platform: list[Any] = [("platform", O), ("platform", ends[0]), ("platform", ends[1])]
    lines: list[Any] = [
        (("bar1", O), ("bar2", O), platform[0]),
        (("bar4", O), ("bar5", O), platform[1]),
        (("bar6", O), ("bar7", O), platform[2]),
        (*platform, platform[0]),
    ]
    instants = {f"t = {t[k]:g} s": [_points(m, q[k], *line) for line in lines] for k in (0, -1)}
    pivots = _points(m, q[0], ("bar1", O), ("bar4", O), ("bar6", O))
    energy, work = m.energy(q, v)[:, 0] * 1e3, (q - home)[:, form.loops.i] @ PUSH * 1e3
    names = {f"θ{k}": k - 1 for k in range(1, 8)}
    panels = [
        Panel("Angles since the start (figure 4)", "change / rad", t, {n: q[:, k] - home[k] for n, k in names.items()}),
        Panel("Rates", "rate / (rad/s)", t, {n: v[:, k] for n, k in names.items()}),
        Panel("Accelerations", "acceleration / (rad/s²)", t, {n: a[:, k] for n, k in names.items()}),
        Panel("Energy", "energy / mJ", t, {"kinetic energy": energy, "work of the motors": work}),
    ]
    return sheet(path, "Example 2: 0.1, 0.1, -0.1 N m from rest", panels, Drawing("Planar 3-RRR", instants, pivots))


def _work_sheet(path: Path) -> Path:
    """Evaluations, accuracy and closure of the three forms over the tolerance, all with the same Runge-Kutta method."""
    tolerances = np.logspace(-4, -10, 7)
    made = {form: [cost(form, "RK45", x) for x in tolerances] for form in (REDUCED, DRIFTING, PROJECTED)}

    def panel(title: str, label: str, value: Callable[[Cost], float], axes: str) -> Panel:
        curves = {form: np.array([value(c) for c in line]) for form, line in made.items()}
        return Panel(title, label, tolerances, curves, "tolerance", axes)

    panels = [
        panel("Function evaluations", "evaluations", lambda c: c.evaluations, "x"),
        panel("Time on this machine", "time / ms", lambda c: 1e3 * c.seconds, "xy"),
        panel("Error of the angles after 1 s", "error / rad", lambda c: c.error, "xy"),
        panel("How far the loops open", "gap / m", lambda c: c.gap, "xy"),
    ]
    return sheet(path, "Table 1 redone: 1 s of example 2 with Runge-Kutta 5(4)", panels)
