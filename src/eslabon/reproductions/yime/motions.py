"""What the three examples of section 7 share: a mechanism along its motion, and the rows, table and curves made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.comparison import Exhibit, Row
from eslabon.reproductions.document_figures import Panel
from eslabon.reproductions.verdicts import greatest, statement
from eslabon.reproductions.yime.yime_equations import RIGHT, Slips, by_the_paper


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
        worked = [
            by_the_paper(self.m, self.q[k], self.v[k, act], self.a[k, act], slips) for k in instants
        ]
        return (
            apart(np.array([w.a for w in worked]), self.a[instants]),
            apart(np.array([w.tau for w in worked]), self.tau[instants]),
        )


def run(m: es.Mechanism, t: Floats, qa: Floats, va: Floats, aa: Floats) -> Run:
    """The motion of all joints and its torques, from that of the actuated joints."""
    q, v, a = m.complete(qa, va, aa)
    return Run(m, t, q, v, a, m.inverse_dynamics(q, v, a))


def apart(found: Floats, wanted: Floats) -> float:
    """The greatest difference, relative to the greatest value."""
    return greatest(found - wanted) / greatest(wanted)


def other_ways(r: Run, count: int = 7) -> list[Row]:
    """The paper's equations along a motion, and the formulation named after the paper, against the default one."""
    instants = np.linspace(0, len(r.t) - 1, count).astype(int).tolist()
    lie = apart(r.m.inverse_dynamics(r.q, r.v, r.a, "lie"), r.tau)
    return [
        statement(
            "a and tau by eqs. 28-46", "number by number", "compiled", max(r.departure(instants))
        ),
        statement("formulation 'lie'", "virtual work", "default formulation", lie),
    ]


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
    return Exhibit(
        ("t, s", "angle, rad", "rad/s", "rad/s²", *(f"{name}, N m" for name in motors)),
        tuple(lines),
        title,
    )


def motion_panels(r: Run, columns: Mapping[str, int], first: int) -> list[Panel]:
    """Angles, rates and accelerations of some joints: three figures of the paper, by the number of the first."""
    kinds = (
        ("Positions", "angle [°]", r.q),
        ("Velocities", "rate [°/s]", r.v),
        ("Accelerations", "acceleration [°/s²]", r.a),
    )
    return [
        Panel(
            phrase("{kind} (figure {n})", kind=kind, n=n),
            label,
            r.t,
            {name: np.degrees(x[:, k]) for name, k in columns.items()},
        )
        for n, (kind, label, x) in enumerate(kinds, start=first)
    ]
