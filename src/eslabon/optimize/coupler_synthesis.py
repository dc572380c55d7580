"""Dimensional synthesis: a mechanism of one degree of freedom whose coupler point passes through prescribed points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from eslabon.arguments import MAX_SEED, Floats, count, finite, flag, positive
from eslabon.errors import EslabonError, InputError, ModelError, format_value
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import difference
from eslabon.numerics.scalars import casadi
from eslabon.optimize.curve_assignment import Assignment, assigned
from eslabon.optimize.description_domain import domains
from eslabon.optimize.design_problem import APART, CLOSED, SAME, rows_of
from eslabon.optimize.design_quantities import Demand, DesignState, demands_of
from eslabon.optimize.instant_equations import InstantEquations
from eslabon.optimize.nonlinear_program import NonlinearProgram, sobol_starts
from eslabon.optimize.optimal_design import ranges_of
from eslabon.optimize.optimum import Check, Checks, Optimum
from eslabon.optimize.sought_parameters import SoughtParameters

PLACES = 90  # of the crank, at which a curve is compared with the points
CANDIDATES = 16  # designs that are looked at for each that the solver starts from
SHARP = 1e-11  # of the solver, for the sum of squares of distances to be zero where it can
AHEAD = 1e-3  # rad, that the crank turns at least from point to point
BETWEEN = 8  # configurations from point to point in the verification
DRAWN = 121  # places of half a turn in a figure
FEW = 5  # steps of Newton's method from a place of the crank to the next
TURNS = 30  # places of a full turn that have to close, among those above
TURNING = 0.15  # of a determinant over the lengths of its columns: what is left of it on a full turn, all the way around


@dataclass(frozen=True, eq=False)
class OfCrank:
    """A crank at an angle, turning at one radian a second: what stands for a motion where none is given in time."""

    place: int
    velocity: int
    duration: float = 1.0

    def judged(self, m: Mechanism) -> tuple[str, str]:
        return chosen_frame(m, None).name, "translation"

    def data(self, t: Floats) -> Floats:
        return np.asarray(t, dtype=float)[:, None]

    def equations(
        self, m: Mechanism, parameters: Mapping[str, Any], q: Any, v: Any, a: Any, data: Any
    ) -> tuple[Any, Any, Any]:
        return q[self.place] - data, v[self.velocity] - 1.0, a[self.velocity]

    def states(self, m: Mechanism, t: Floats, guess: Any) -> tuple[Floats, Floats, Floats]:
        one = np.ones((len(t), 1))
        return m.complete(
            t[:, None], one, 0 * one, guess, continuation=True, singular="error", limits=False
        )


def coupler_curve(
    m: Mechanism,
    frame: str | None,
    points: Any,
    over: Mapping[str, Any],
    *,
    timing: Any = None,
    full_turn: bool = False,
    subject_to: Mapping[str, Any] | None = None,
    starts: int = 8,
    seed: int = 0,
    tolerance: float = 0.02,
    iterations: int = 200,
    progress: bool | None = None,
) -> Optimum:
    """The parameters for which a frame of a mechanism of one degree of freedom passes nearest to points, in their order.

    Parameters
    ----------
    frame : whose origin draws the curve; None for the only one there is.
    points : (k, 2), x and y on the ground, or (k, 3).
    over : the parameters that are sought, each with its range: lengths, the place of the coupler point, of the base, its angle.
    timing : the angles of the crank at the points, counted from the first, where they are prescribed; left out, the crank is
        where it suits, but passes the points in their order, forwards or backwards, within one turn.
    full_turn : whether the crank has to be able to turn around, with a transmission angle whose sine is 0.15 at least.
    subject_to : as in `design`; quantities of parameters alone, functions of the state, and "condition", which keeps
        away from where the mechanism locks.
    starts, seed : of sixteen times as many designs within the ranges (a Sobol sequence, with the mechanism as it is first, each
        in its assembly modes) those whose curves come nearest to the points are where the solver starts from.

    The value is the root mean square of the distances. The design is verified by a crank that turns from the first point
    to the last on the mechanism assembled anew: it must pass all points without another assembly.

    >>> import numpy as np, eslabon as es
    >>> m = es.load("diaz_four_bar").with_frame("pen", "bar2", at=("L2/2", "0.4*L2", 0))
    >>> other = m.with_parameters(L1=0.8, L3=2.0)
    >>> points = other.pose(other.assemble(np.linspace(0, 3, 6)[:, None]), "pen")[:, :2, 3]
    >>> best = es.optimize.coupler_curve(m, "pen", points, {"L1": (0.5, 1.2), "L3": (1.5, 2.5)}, starts=1)
    >>> {name: round(x, 6) for name, x in best.parameters.items()}
    {'L1': 0.8, 'L3': 2.0}
    """
    if not isinstance(m, Mechanism):
        raise InputError(f"a design is one of a mechanism; it was given {format_value(m)}.")
    ranges, demands = ranges_of(m, over), demands_of(m, subject_to)
    if moving := [
        d.quantity.name
        for d in demands
        if d.quantity.moving and d.quantity.kind != "parallel" and not d.everywhere
    ]:
        raise ModelError(
            f"{moving[0]} takes a motion in time, and a coupler curve has none; bound it in es.optimize.design."
        )
    aim = finite(points, "points")
    if aim.ndim != 2 or aim.shape[1] not in (2, 3) or len(aim) < 2:
        raise InputError(
            f"points are (k, 2) or (k, 3), two at least; they have the shape {aim.shape}."
        )
    turned = None if timing is None else finite(timing, "timing")
    if turned is not None and (turned.shape != (len(aim),) or not _one_direction(turned)):
        raise InputError(
            f"timing is an angle of the crank for each of the {len(aim)} points, all increasing or all decreasing."
        )
    name = chosen_frame(m, frame).name
    problem = CurveProblem(m, ranges, name, aim, turned, flag(full_turn, "full_turn"), demands, positive(tolerance, "tolerance"))  # fmt: skip
    return _solved(problem, count(starts, "starts", 1), count(seed, "seed", most=MAX_SEED), {"iterations": iterations, "progress": progress})  # fmt: skip


def _one_direction(x: Floats) -> bool:
    steps = np.diff(x)
    return bool((steps > 0).all() or (steps < 0).all())


@dataclass(frozen=True, eq=False)
class CurveProblem(SoughtParameters):
    """Points for a frame of a mechanism, as a nonlinear program: the parameters, and at each point the crank's angle and the
    configuration, whose loops close by equality constraints."""

    frame: str
    points: Floats
    timing: Floats | None
    full_turn: bool
    demands: tuple[Demand, ...]
    tolerance: float

    @cached_property
    def crank(self) -> OfCrank:
        m = self.m
        if m.dof != 1 or m.nu != 1 or not m.closed:
            raise ModelError(
                f"a coupler curve is that of a closed mechanism with one degree of freedom and one actuated joint; {m.name} has {m.dof} and "
                f"{m.nu}."
            )
        return OfCrank(m.actuated_coordinates[0], m.actuated_velocities[0])

    @cached_property
    def turns(self) -> bool:
        """Whether the crank is an angle."""
        return self.m.joint(self.m.actuated[0]).kind.coordinates[0].periodic

    @cached_property
    def equations(self) -> InstantEquations:
        return InstantEquations(self.m, self.names, self.crank)

    @cached_property
    def size(self) -> float:
        """The extent of the points, in which distances are judged."""
        return float(max(np.ptp(self.points, axis=0).max(), 1e-9))

    @cached_property
    def position(self) -> Any:
        """The frame's place as a CasADi function of p and q."""
        e = self.equations
        place = self.m.pose(e.q, self.frame, parameters=e.parameters)[: self.points.shape[1], 3]
        return casadi.Function("position", [e.p, e.q], [place])

    # -- the program ------------------------------------------------------------------------------------------------

    @cached_property
    def program(self) -> NonlinearProgram:
        made, e, k = (
            NonlinearProgram(f"coupler curve of {self.m.name}", "design"),
            self.equations,
            len(self.points),
        )
        begin = np.clip(self.described, *self.bounds)
        p = made.variable("parameters", begin, *self.bounds)
        angles = made.variable("crank", np.zeros(k), scale=1.0)
        q = made.variable("q", np.zeros((k, self.m.nq)), scale=1.0).T
        away = self.position.map("places", "serial", k, [0], [])(p, q) - casadi.DM(self.points.T)
        made.minimize(casadi.sumsqr(away / self.size) / k)
        first = self._close(made, "loop closure", p, q, angles.T, None)
        if self.timing is not None:
            made.constrain("timing", angles - angles[0] - casadi.DM(self.timing))
        else:
            steps = angles[1:] - angles[:-1]
            made.constrain("order", steps * steps[0], AHEAD**2, np.inf)
            if self.turns:
                made.constrain(
                    "one turn", (angles[-1] - angles[0]) ** 2, -np.inf, (2 * np.pi - AHEAD) ** 2
                )
        if self.full_turn:
            around = made.variable("around", np.zeros((TURNS, self.m.nq)), scale=1.0).T
            self._close(
                made, "full turn", p, around, casadi.DM(self.turned[:: PLACES // TURNS]).T, first
            )
        for domain in domains(self.m, e.parameters):
            f = casadi.Function("domain", [e.p], [domain.expression])
            made.constrain(domain.name, f(p), domain.lower, domain.upper)
        self._demand(made, p, q)
        return made

    def _close(
        self, program: NonlinearProgram, name: str, p: Any, q: Any, angles: Any, first: Any
    ) -> Any:
        """Loops closed at angles of the crank, on one branch: that of the first point, whose determinant is returned."""
        e, n, m = self.equations, q.shape[1], self.m
        volume = casadi.vertcat(casadi.SX(0, 1), *e.signs()[:1])
        f = casadi.Function("closed", e.inputs, casadi.cse([e.residual[0], e.lengths, volume]))
        still = [casadi.DM.zeros(m.nv, n)] * 2
        left, lengths, side = f.map("all_closed", "serial", n, [0], [])(p, q, *still, angles)
        program.constrain(name, left, scale=np.tile(self._row_sizes, n))
        if e.lengths.numel():
            program.constrain("quaternions", lengths)
        if not volume.numel():
            return None
        if first is None:
            program.constrain("branch", side * side[0], APART**2, np.inf)
            return side[0]
        program.constrain(
            "branch of the full turn",
            side * first / casadi.sqrt(first**2 + APART**4),
            TURNING,
            np.inf,
        )
        return first

    @cached_property
    def _row_sizes(self) -> Floats:
        q, e = self.modes[0], self.equations
        rest = np.zeros((1, self.m.nv))
        J = e.evaluated(self.described, q[None], rest, rest, q[None, [self.crank.place]])[3][0]
        return np.maximum(np.abs(J).max(axis=1), 1e-9)

    def _demand(self, program: NonlinearProgram, p: Any, q: Any) -> None:
        e, k = self.equations, len(self.points)
        state = DesignState(self.m, e.q, e.v, e.a, e.parameters, {})
        for demand in self.demands:
            quantity = demand.quantity
            rows = (
                e.parallel_conditioning()
                if quantity.kind == "parallel"
                else rows_of(quantity, state)
            )
            if casadi.depends_on(rows, casadi.vertcat(e.v, e.a)):
                raise ModelError(
                    f"'{quantity.name}' depends on velocities, and a coupler curve has no motion in time."
                )
            f = casadi.Function("demand", [e.p, e.q], [rows])
            each = (
                f.map("demands", "serial", k, [0], [])(p, q)
                if casadi.depends_on(rows, e.q)
                else f(p, q[:, 0])
            )
            if quantity.kind == "parallel":
                most = quantity.inside(demand.lower)
                program.constrain(quantity.name, each, -np.inf, most, scale=most)
            else:
                program.constrain(quantity.name, each, demand.lower, demand.upper)

    # -- where it starts ----------------------------------------------------------------------------------------------

    @cached_property
    def modes(self) -> Floats:
        """The assembly modes of the mechanism as it is, with the crank at home."""
        home = self.m.assemble(self.m.home()[[self.crank.place]], limits=False)
        return np.asarray(self.m.assembly_modes(home[[self.crank.place]], limits=False))

    @cached_property
    def turned(self) -> Floats:
        """The places of the crank at which curves are looked at: a turn about its home, or as far to both sides as points reach."""
        span = 2 * np.pi if self.turns else 2 * self.size
        return np.asarray(
            self.modes[0, self.crank.place] + span * (np.arange(PLACES) / PLACES - 0.5)
        )

    def curves(self, p: Floats) -> tuple[Floats, Floats, Any]:
        """For designs (n, parameters) in each mode, over a turn of the crank: its angles (places,), configurations
        (n modes, places, nq), and which of them close."""
        e, modes = self.equations, self.modes
        every, q = np.repeat(p, len(modes), axis=0), np.tile(modes, (len(p), 1))
        home = np.full((len(q), 1), modes[0, self.crank.place])
        q, closes = e.continued(self.described, q, every, home)
        angles = self.turned
        found, good = np.zeros((len(q), PLACES, self.m.nq)), np.zeros((len(q), PLACES), dtype=bool)
        for places in (range(PLACES // 2, PLACES), range(PLACES // 2 - 1, -1, -1)):
            here, alive = q, closes
            for k in places:
                new, closed = e.corrected(every, here, np.full((len(q), 1), angles[k]), FEW)
                alive = alive & closed & (np.abs(difference(self.m, new, here)).max(axis=1) < 0.7)
                here = np.where(alive[:, None], new, here)
                found[:, k], good[:, k] = here, alive
        return angles, found, good

    def placed(self, p: Floats, q: Floats) -> Floats:
        """Where the frame is, (n, 2 or 3), of designs (n, parameters) in configurations (n, nq)."""
        return np.asarray(
            self.position.map(len(q))(np.broadcast_to(p, (len(q), len(self.names))).T, q.T)
        ).T

    def starts(self, n: int, seed: int) -> list[dict[str, Any]]:
        """Those of many designs whose curves come nearest to the points, the mechanism as it is first."""
        p = np.concatenate(
            [
                np.clip(self.described, *self.bounds)[None],
                sobol_starts(*self.bounds, CANDIDATES * n - 1, seed),
            ]
        )
        angles, q, good = self.curves(p)
        every = np.repeat(p, len(self.modes), axis=0)
        place = self.placed(np.repeat(every, PLACES, axis=0), q.reshape(-1, self.m.nq)).reshape(
            len(q), PLACES, -1
        )
        fits = [self._fit(x, ok, angles) for x, ok in zip(place, good, strict=True)]
        cost = np.array([fit.cost for fit in fits])
        if self.full_turn:  # those that turn come first
            cost = cost + np.where(
                good.all(axis=1), 0.0, np.max(cost, where=np.isfinite(cost), initial=0.0)
            )
        own = int(cost[: len(self.modes)].argmin())
        order = [own, *(int(k) for k in np.argsort(cost, kind="stable") if k != own)]
        usable = [k for k in order if np.isfinite(cost[k])][:n]
        if not usable:
            raise EslabonError(
                f"none of {len(p)} designs of {self.m.name} within the ranges can be assembled at {len(self.points)} places of its crank; give "
                "other ranges."
            )
        return [self._start(every[k], angles, q[k], good[k], fits[k]) for k in usable]

    def _fit(self, place: Floats, good: Any, angles: Floats) -> Assignment:
        squares = np.square(self.points[:, None] - place).sum(axis=-1)
        squares[:, ~good] = np.inf
        if self.timing is not None:
            return self._timed(squares, angles)
        gap = int(np.argmin(good))  # the curve begins after what does not close
        shift = 0 if good.all() else gap
        found = assigned(np.roll(squares, -shift, axis=1), around=bool(good.all()) and self.turns)
        return found._replace(places=(found.places + shift) % len(angles))

    def _timed(self, squares: Floats, angles: Floats) -> Assignment:
        """The first angle of the crank alone is open."""
        assert self.timing is not None
        steps = np.rint((self.timing - self.timing[0]) / (angles[1] - angles[0])).astype(int)
        places = np.arange(len(angles))[:, None] + steps
        inside = (
            np.ones_like(places, dtype=bool)
            if self.turns
            else (places >= 0) & (places < len(angles))
        )
        cost = np.where(inside, squares[np.arange(len(steps)), places % len(angles)], np.inf).mean(
            axis=1
        )
        return Assignment(
            float(cost.min()), places[int(cost.argmin())] % len(angles), 1 if steps[-1] > 0 else -1
        )

    def _start(
        self, p: Floats, angles: Floats, q: Floats, good: Floats, fit: Assignment
    ) -> dict[str, Any]:
        """A design with its crank at the places that points were assigned to; angles go on beyond a turn."""
        begun, own = angles[fit.places].copy(), q[fit.places].copy()
        for k in range(1, len(begun)):
            while self.turns and fit.direction * (begun[k] - begun[k - 1]) < 0:
                begun[k] += fit.direction * 2 * np.pi
        own[:, self.crank.place] = begun
        made = {"parameters": p, "crank": begun, "q": own}
        if self.full_turn:
            made["around"] = q[:: PLACES // TURNS]
        return made

    # -- what is found, looked at again -------------------------------------------------------------------------------

    def checked(self, values: Mapping[str, Floats], value: float) -> Checks:
        """The crank of the mechanism assembled anew turns from the first point to the last."""
        m = self.m.variant(**dict(zip(self.names, map(float, values["parameters"]), strict=True)))
        angles, claimed = values["crank"], self.told(value)
        fine = np.interp(
            np.arange(BETWEEN * (len(angles) - 1) + 1) / BETWEEN, np.arange(len(angles)), angles
        )
        q = m.assemble(
            fine[:, None], values["q"][0], continuation=True, singular="error", limits=False
        )
        at = q[::BETWEEN]
        away = np.linalg.norm(
            m.pose(at, self.frame)[:, : self.points.shape[1], 3] - self.points, axis=1
        )
        room = self.tolerance * claimed + 1e-6 * self.size
        made = [
            Check("distance from the points, rms [m]", claimed, float(np.sqrt(np.mean(away**2))), claimed - room, claimed + room),
            Check("loop closure [m, rad]", 0.0, float(np.abs(m.constraint(q)).max()), 0.0, CLOSED),
            Check("configurations assembled anew, off by [m, rad]", 0.0, float(np.abs(difference(m, at, values["q"])).max()), 0.0, SAME),
        ]  # fmt: skip
        if self.timing is None:
            steps = np.diff(angles)
            made.append(
                Check(
                    "steps of the crank in order [rad]",
                    np.nan,
                    float(np.min(steps * np.sign(steps[0]))),
                    0.0,
                    np.inf,
                )
            )
        if self.full_turn:
            around = fine[0] + np.linspace(0, 2 * np.pi, 181)
            whole = m.assemble(
                around[:, None], at[0], continuation=True, singular="error", limits=False
            )
            turned = float(np.abs(np.exp(1j * whole[-1]) - np.exp(1j * whole[0])).max())
            made.append(
                Check("configuration after a full turn, off by [rad]", 0.0, turned, 0.0, SAME)
            )
        return Checks([*made, *self._measured_demands(m, at)])

    def _measured_demands(self, m: Mechanism, q: Floats) -> list[Check]:
        e, made = self.equations, []
        p = np.array([m.parameters[name] for name in self.names])
        for demand in self.demands:
            if demand.quantity.kind == "parallel":
                rows = np.asarray(m.conditions(q).parallel)
            else:
                state = DesignState(self.m, e.q, e.v, e.a, e.parameters, {})
                f = casadi.Function("demand", [e.p, e.q], [rows_of(demand.quantity, state)])
                rows = np.asarray(f.map(len(q))(np.broadcast_to(p, (len(q), len(p))).T, q.T))
            room = self.tolerance * max(1e-3, float(np.abs(rows).max()))
            made.append(
                Check(
                    f"least {demand.quantity.name}",
                    np.nan,
                    float(rows.min()),
                    demand.lower - room,
                    np.inf,
                )
            )
            made.append(
                Check(
                    f"greatest {demand.quantity.name}",
                    np.nan,
                    float(rows.max()),
                    -np.inf,
                    demand.upper + room,
                )
            )
        return [c for c in made if np.isfinite(c.lower) or np.isfinite(c.upper)]

    def told(self, value: float) -> float:
        """The root mean square of the distances, of what was minimised."""
        return float(self.size * np.sqrt(max(value, 0.0)))


def _solved(problem: CurveProblem, starts: int, seed: int, options: Mapping[str, Any]) -> Optimum:
    looked: dict[bytes, Checks] = {}

    def verify(values: Mapping[str, Floats], value: float) -> str | None:
        try:
            checks = problem.checked(values, value)
        except EslabonError as error:
            return str(error)
        looked[values["parameters"].tobytes()] = checks
        return "; ".join(f"{c}" for c in checks if not c.passed) or None

    begun = problem.starts(starts, seed)
    found = problem.program.solve(begun, verify=verify, tolerance=SHARP, **options)
    parameters = dict(zip(problem.names, map(float, found.values["parameters"]), strict=True))
    checks, made = (
        looked[found.values["parameters"].tobytes()],
        problem.m.with_parameters(**parameters),
    )
    first = begun[0]
    before = problem.placed(first["parameters"], first["q"]) - problem.points
    rms = float(np.sqrt(np.square(before).sum(axis=1).mean()))
    figure = partial(_drawn, problem, found.values, first)
    return Optimum(
        made, parameters, f"distance of '{problem.frame}' from {len(problem.points)} points", "m", checks[0].measured, rms, checks,
        found.starts.told(problem.told), problem.m, figure,
    )  # fmt: skip


def _drawn(
    problem: CurveProblem,
    values: Mapping[str, Floats],
    first: Mapping[str, Floats],
    theme: str | None,
) -> Any:
    """The coupler curves before and after, with the points."""
    from eslabon.plotting import equal_axes, legend, new_figure, panel_title

    made = new_figure(theme, figsize=(6.4, 5.2))
    flat = problem.points.shape[1] == 2
    ax = made.add_subplot(**({} if flat else {"projection": "3d"}))
    drawn = [problem.points]
    for word, own, k, line in (("before", first, 0, "--"), ("optimum", values, 1, "-")):
        place = _whole_curve(problem, own)
        ax.plot(*place.T, line, color=made.theme.curves[k], label=word, zorder=2 + k)
        drawn.append(place)
    ax.plot(
        *problem.points.T,
        "o",
        color=made.theme.ink,
        markersize=5,
        linestyle="none",
        label="points",
        zorder=5,
    )
    equal_axes(ax, np.concatenate(drawn))
    legend(ax, "below")
    panel_title(ax, f"{problem.m.name}: curve of '{problem.frame}'")
    return made


def _whole_curve(problem: CurveProblem, own: Mapping[str, Floats]) -> Floats:
    """The curve of a design on its branch, as far to both sides as the crank turns."""
    e, angle = problem.equations, own["crank"][0]
    span = np.pi if problem.turns else float(np.ptp(own["crank"]))
    sides = []
    for sign in (1, -1):
        here, places = own["q"][:1], []
        for k in range(DRAWN):
            here, closes = e.corrected(
                own["parameters"], here, np.array([[angle + sign * span * k / (DRAWN - 1)]]), FEW
            )
            if not closes[0]:
                break
            places.append(problem.placed(own["parameters"], here)[0])
        sides.append(places)
    return np.array([*sides[1][:0:-1], *sides[0]])
