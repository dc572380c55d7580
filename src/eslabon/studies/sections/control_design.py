"""How to control it: gains that hold it, an observer for what is not measured, a law that follows the motion, each tried on the
nonlinear mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eslabon.errors import EslabonError
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import (
    SignalColumn,
    difference,
    integrate,
    velocity_columns,
    velocity_units,
)
from eslabon.model.scale import characteristic_length
from eslabon.motion.trajectory import columns
from eslabon.sheets import Sheet
from eslabon.studies.section import Section
from eslabon.studies.sections.near_a_point import pole_map
from eslabon.studies.subject import Subject
from eslabon.studies.time_plots import Panel, by_unit, plot_in_time

BANDWIDTH = 6.0  # rad/s, about, of the regulator
AWAY, AWAY_LENGTH = 0.1, 0.05  # what counts as a large error: rad, and sizes of the mechanism
TRACKING = 10.0  # rad/s, of computed torque
SENSOR = 1e-3  # standard deviation of what encoders show, in rad and in sizes of the mechanism
TIMES = 161
SHARES = (
    0.5,
    0.1,
    0.02,
)  # of what counts as large: displacements that are tried, until the law holds


def control(subject: Subject, page: Section) -> None:
    """Regulator, observer, tracking."""
    m = subject.m
    if not m.nu or not subject.moves:
        page.say("Nothing drives {name}, so that there is nothing to control it by.", name=m.name)
        return
    if m.rheonomic:
        page.say("The constraints of {name} depend on the time and drive it already.", name=m.name)
        return
    _, _, held = subject.point
    if held:
        with page.part("regulator"):
            _regulator(subject, page)
    else:
        page.say(
            "No constant forces hold it where it is linearized, so that no regulator is designed there."
        )
    _tracking(subject, page)


# -- regulator and observer -------------------------------------------------------------------------------------------


def _regulator(subject: Subject, page: Section) -> None:
    import eslabon.systems.control as laws

    m, lm = subject.m, subject.linear_model
    page.head("Holding it: a linear-quadratic regulator")
    reach = laws.controllability(lm)
    page.data["controllability_rank"] = [reach.rank, reach.size]
    if not reach.full:
        lost = ", ".join(mode.states for mode in reach.lost_modes)
        page.say(
            "Its actuators do not reach every mode of the linear model: {lost} stay as they are. No gains can hold these.",
            lost=lost,
        )
        if any(mode.pole.real > -1e-9 for mode in reach.lost_modes):
            page.say(
                "What they do not reach does not die away by itself, so that no regulator is designed."
            )
            return
    large, force = _scales(m, lm)
    Q, R = 1 / large**2, 1 / force**2
    found = laws.lqr(lm, Q, R)
    page.say(
        "The regulator u = −K x makes the sum of squared errors and squared forces least, each measured by what counts as large: {angle} rad, {length:.2g} m, "
        "velocities that go with a bandwidth of {bandwidth} rad/s, and the forces these need.",
        angle=AWAY, length=AWAY_LENGTH * characteristic_length(m), bandwidth=BANDWIDTH,
    )  # fmt: skip
    rows = [(name, *map(float, row)) for name, row in zip(lm.inputs, found.K, strict=True)]
    page.table(Sheet("gains", ("", *lm.states), rows), fold=8)
    page.numbers(
        Sheet(
            "closed_loop_poles",
            ("real [1/s]", "imaginary [1/s]"),
            [(float(p.real), float(p.imag)) for p in found.poles],
        )
    )
    pole_map(
        page,
        {
            page.said("without control"): lm.poles,
            page.said("with the regulator"): np.asarray(found.poles),
        },
        "Poles of the linear model without and with the regulator.",
    )
    law = laws.state_feedback(m, lm, found)
    with page.timed("closed loop, nonlinear"):
        q0, run, share = _held(subject, large, lambda q: _run(m, q, found.poles, law))
    _response(subject, page, "regulated", run, np.asarray(difference(m, q0, subject.point[0])))
    page.data["regulated"]["share_of_large"] = share
    if share < SHARES[0]:
        page.note(
            "From {n} times this displacement the run broke down: the regulator holds it in a small neighbourhood only.",
            n=round(SHARES[SHARES.index(share) - 1] / share),
        )
    if _rubs(m):
        page.say(
            "Coulomb friction holds it where the regulator asks for less than friction takes, so that a part of the error stays."
        )
    with page.part("observer"):
        _observer(subject, page, found, large, force, q0)


def _scales(m: Mechanism, lm: Any) -> tuple[np.ndarray, np.ndarray]:
    """What counts as large: of each state, and of each actuator's force."""
    units = {str(c): c.unit for c in velocity_columns(m)}
    position = np.array(
        [
            AWAY if units[name] == "rad/s" else AWAY_LENGTH * characteristic_length(m)
            for name in lm.coordinates
        ]
    )
    inertial = np.abs(np.linalg.pinv(lm.F)) @ (
        np.abs(lm.U) @ position * BANDWIDTH**2 + np.abs(lm.W) @ position
    )
    force = np.maximum(inertial, 1e-6 * max(float(inertial.max(initial=0.0)), 1e-12))
    return np.concatenate([position, BANDWIDTH * position]), force


def _held(
    subject: Subject, large: np.ndarray, run: Callable[[np.ndarray], Any]
) -> tuple[np.ndarray, Any, float]:
    """A closed configuration beside the point, as far away as the law still holds, the motion from there, and which part of what
    counts as large it is away."""
    for share in SHARES:
        try:
            q = _displaced(subject, share * large)
            return q, run(q), share
        except EslabonError:
            if share == SHARES[-1]:
                raise
    raise AssertionError


def _displaced(subject: Subject, away: np.ndarray) -> np.ndarray:
    """A closed configuration beside the point."""
    m, lm = subject.m, subject.linear_model
    q, n = subject.point[0], len(lm.coordinates)
    made = np.asarray(
        integrate(m, q, lm.position_map @ (away[:n] * np.resize([1.0, -0.8, 0.6], n)))
    )
    return m.project(made) if m.closed else made


def _settling(poles: Any) -> float:
    """How long it takes until little is left."""
    slowest = float(np.min(np.abs(np.real(poles)), initial=np.inf))
    return float(np.clip(6.0 / max(slowest, 1e-9), 0.5, 10.0))


def _run(m: Mechanism, q0: np.ndarray, poles: Any, law: Any) -> Any:
    """The nonlinear mechanism under a law, by steps that follow the fastest pole: should it not hold, the run ends all the
    same."""
    end = _settling(poles)
    fastest = float(np.abs(poles).max(initial=1.0))
    inner = int(np.clip(np.ceil(end / (TIMES - 1) * fastest / 0.2), 1, 100))
    if _rubs(m):  # friction turns over within a creep, which is stiff
        return m.simulate(q0, None, np.linspace(0.0, end, TIMES), law, method="LSODA", rtol=1e-6)
    return m.simulate(q0, None, end, law, method="rk4", step=end / (TIMES - 1) / inner, every=inner)


def _rubs(m: Mechanism) -> bool:
    """Whether joints have Coulomb friction."""
    return any(np.any(j.coulomb) for j in m.joints if j.coulomb is not None)


def _response(subject: Subject, page: Section, key: str, run: Any, x0: np.ndarray) -> None:
    m, lm = subject.m, subject.linear_model
    own = list(lm.layout.partition.independent)
    away = np.asarray(difference(m, run.q, subject.point[0]))[:, own]
    units = velocity_units(m)
    heads = [
        SignalColumn(name, "", "rad" if units[k] == "rad/s" else "m")
        for name, k in zip(lm.coordinates, own, strict=True)
    ]
    drawn = [panel._replace(name="error") for panel in by_unit("error", heads, away, ".error")]
    drawn += by_unit("force", columns(m)["tau"], run.tau, ".tau")
    page.data[key] = {
        "largest_error_at_start": float(np.abs(x0).max(initial=0.0)),
        "largest_error_at_end": float(np.abs(away[-1]).max(initial=0.0)),
    }
    plot_in_time(
        page, f"{key}_in_time", run.t, drawn,
        "The nonlinear mechanism, let go beside the point and held by the regulator: errors of the independent coordinates, and what the actuators give.",
    )  # fmt: skip


def _observer(
    subject: Subject,
    page: Section,
    gains: Any,
    large: np.ndarray,
    force: np.ndarray,
    q0: np.ndarray,
) -> None:
    import eslabon.systems.control as laws

    m, lm, (q, tau, _) = subject.m, subject.linear_model, subject.point
    measured = [str(c) for c in velocity_columns(m) if c.joint in m.actuated]
    measured = list(dict.fromkeys([*measured, *lm.coordinates])) if lm.dof > m.nu else measured
    lm = m.linearize(q, np.zeros(m.nv), tau, outputs=measured)
    page.head("What is not measured: an observer")
    seen = laws.observability(lm)
    page.data["observability_rank"] = [seen.rank, seen.size]
    if not seen.full:
        page.say(
            "Encoders at the actuated joints do not show every mode of the linear model, so that no observer is designed; measure more than {outputs}.",
            outputs=", ".join(measured),
        )
        return
    noise = np.array(
        [
            SENSOR if unit == "rad/s" else SENSOR * characteristic_length(m)
            for unit in _units(m, measured)
        ]
    )
    shaken = lm.B @ np.diag((0.2 * force) ** 2) @ lm.B.T + np.diag(
        (0.02 * large) ** 2
    )  # forces, and a little of everything
    observer = laws.kalman(lm, shaken, np.diag(noise**2))
    feedback = laws.output_feedback(lm, gains, observer)
    page.say(
        "Encoders show {outputs}; velocities are not measured. A Kalman filter estimates all states from them, and the regulator acts on the estimates. At the "
        "start the observer knows nothing of the displacement.",
        outputs=", ".join(measured),
    )
    with page.timed("output feedback, nonlinear"):
        run = _run(m, q0, feedback.poles, feedback.law())
        found = feedback.estimates(run)
    page.numbers(
        Sheet(
            "observer_gains",
            ("", *lm.outputs),
            [
                (s, *map(float, row))
                for s, row in zip(lm.states, np.asarray(observer.gains), strict=True)
            ],
        )
    )
    drawn = [
        Panel(
            "error of estimates",
            unit,
            {name: found.error[:, k] for k, name in enumerate(lm.states) if found.units[k] == unit},
            ".estimate_error",
        )
        for unit in dict.fromkeys(found.units)
    ]
    page.data["observed"] = {
        "largest_error_at_end": float(np.abs(found.error[-1]).max(initial=0.0))
    }
    plot_in_time(
        page,
        "observed_in_time",
        run.t,
        drawn,
        "What the observer does not know yet: states of the nonlinear mechanism less their estimates.",
    )


def _units(m: Mechanism, names: list[str]) -> list[str]:
    units = {str(c): c.unit for c in velocity_columns(m)}
    return [units[name] for name in names]


# -- tracking ---------------------------------------------------------------------------------------------------------


def _tracking(subject: Subject, page: Section) -> None:
    import eslabon.systems.control as laws

    m, motion = subject.m, subject.movement
    if motion.kind not in ("rest_to_rest", "given") or motion.tau is None or len(motion.t) < 2:
        return
    with page.part("computed torque"):
        page.head("Following the motion: computed torque")
        page.say(
            "Computed torque is inverse dynamics of the acceleration that is wanted, corrected by the error: e″ + 2 ω e′ + ω² e = 0 with ω = {w:g} rad/s. The nonlinear "
            "mechanism starts beside the motion, and the error dies away as this equation says.",
            w=TRACKING,
        )
        law = laws.computed_torque(m, (motion.t, motion.q, motion.v, motion.a), frequency=TRACKING)
        with page.timed("computed torque, nonlinear"):
            run = m.simulate(_beside(m, motion.q[0]), motion.v[0], motion.t, law)
        error = np.asarray(difference(m, motion.q, run.q))
        own = [k for k, c in enumerate(velocity_columns(m)) if c.joint in m.actuated]
        heads = [
            SignalColumn(c.joint, c.name, "rad" if c.unit == "rad/s" else "m")
            for k, c in enumerate(velocity_columns(m))
            if k in own
        ]
        page.data["tracked"] = {
            "largest_error_at_start": float(np.abs(error[0, own]).max(initial=0.0)),
            "largest_error_at_end": float(np.abs(error[-1, own]).max(initial=0.0)),
        }
        drawn = [
            panel._replace(name="error")
            for panel in by_unit("error", heads, error[:, own], ".error")
        ]
        drawn += by_unit("force", columns(m)["tau"], run.tau, ".tau")
        plot_in_time(
            page,
            "tracked_in_time",
            run.t,
            drawn,
            "Errors of the actuated joints along the motion, and what the actuators give.",
        )


def _beside(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """A configuration a little beside another."""
    units = velocity_units(m)
    step = np.array(
        [0.03 if unit == "rad/s" else 0.01 * characteristic_length(m) for unit in units]
    ) * np.resize([1.0, -0.7, 0.5], m.nv)
    if not m.closed:
        return np.asarray(integrate(m, q, step))
    try:
        _, step = m.project(q, step)
        return m.project(np.asarray(integrate(m, q, step)))
    except EslabonError:
        return q
