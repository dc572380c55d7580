"""Example 2, figure 4: the planar 3-RRR from rest under constant torques."""

from __future__ import annotations

from functools import cache

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.comparison import PAPER, RECOMPUTED, Exhibit, Row, Section
from eslabon.reproductions.diaz.diaz_equations import Loops, cut, explicit_error
from eslabon.reproductions.diaz.forms import Answer, Augmented, Reduced, integrate
from eslabon.reproductions.document_figures import Figure, Panel, moved, three_legs
from eslabon.reproductions.verdicts import erratum, greatest, number, numbers, statement
from eslabon.solve.constraints.independent_coordinates import partition

ANGLES = ("1.047", "-0.865", "1.116", "2.751", "-1.424", "0.679", "-2.718")
PRINTED = np.array([float(x) for x in ANGLES])
DEPENDENT = (2, 3, 5, 7)
PUSH = np.array([0.1, 0.1, -0.1])
AFTER = (
    "1.10188183",
    "-0.95807413",
    "1.13974961",
    "2.79747542",
    "-1.46230170",
    "0.59455333",
    "-2.69078113",
)

BAR_5 = "L_1,4,5 must read L_1,4,6, as the masses do: with bar 5 of 0.4 m the loop is open by the difference, in m."
PLATE = "A triangular plate of side {side:.3f} m has the printed moment; the side L3 is 0.4 m. The printed moment is used."
SHAPES = (
    "As printed the shapes do not fit (X^T D_ie: {i}x{e} times {i}x{e}); the difference is how many columns are left over. With "
    "D_ei eq. 4, number by number, gives the accelerations of all three compiled ways."
)


def push(t: float) -> Floats:
    return PUSH


@cache
def start() -> tuple[es.Mechanism, Floats]:
    """The mechanism and its start: the printed theta1, theta4, theta6, and what closes."""
    m = es.load("diaz_3rrr")
    return m, m.assemble(PRINTED[[0, 3, 5]], guess=PRINTED)


@cache
def one_second() -> dict[str, Answer]:
    """The motion from rest under constant torques, in both forms, as accurately as doubles allow."""
    m, home = start()
    still = np.zeros(m.nv)
    return {
        "reduced": integrate(Reduced(m, push, home), still, 1.0, "DOP853", 1e-12),
        "augmented": integrate(Augmented(m, push, home, project=True), still, 1.0, "DOP853", 1e-12),
    }


@cache
def base_sides() -> tuple[float, float]:
    """The shortest and the longest side of the base that angles within half a unit of the printed ones allow."""
    from scipy.optimize import linprog

    m, _ = start()
    rows = list(partition(m).rows)
    found = []
    for sign in (1.0, -1.0):
        change, b = np.zeros(m.nq), float(m.parameters["b"])
        for _ in range(4):  # the loops are all but linear in so small a change
            q = PRINTED + change
            values = {"b": b}
            left = m.constraint(q, parameters=values)[rows]
            by_b = m.derivative("constraint", "b", q, parameters=values)[..., rows]
            J = m.constraint_jacobian(q, parameters=values)[rows]
            limits = [(-5e-4 - x, 5e-4 - x) for x in change]
            step = linprog(
                [0] * m.nq + [sign],
                A_eq=np.column_stack([J, by_b]),
                b_eq=-left,
                bounds=[*limits, (None, None)],
            )
            change, b = change + step.x[:-1], b + float(step.x[-1])
        found.append(b)
    return found[0], found[1]


# -- sections ---------------------------------------------------------------------------------------------------------


def sections() -> tuple[Section, ...]:
    return data_and_forms(), end()


def data_and_forms() -> Section:
    run, other = one_second().values()
    same = greatest(run.q[-1] - other.q[-1])
    rows = (
        *_data(),
        *_equations(run),
        statement("after 1 s (L117)", "both forms identical", "angles apart", same),
    )
    shortest, longest = base_sides()
    text = phrase(
        "Planar 3-RRR from rest under 0.1, 0.1, -0.1 N m for 1 s. theta1, theta4, theta6 are printed and kept; the others are "
        "those that close the loops. The side of the base is not printed: the printed digits allow {shortest:.5f} to {longest:.5f} "
        "m, and 1.301 m is taken.",
        shortest=shortest,
        longest=longest,
    )
    return Section("Example 2: data, equations and forms", text, rows, PAPER)


def _data() -> list[Row]:
    m, home = start()
    p, gap = m.parameters, greatest(m.constraint(PRINTED))
    side = np.sqrt(12 * 0.0817 / p["m3"])
    return [
        *(number(f"theta{k}, rad (L110)", ANGLES[k - 1], home[k - 1]) for k in DEPENDENT),
        statement("printed angles", "close", "gap, m", gap, tolerance=5e-4),
        erratum("length of bar 5, m (L110)", "0.4", "0.6", (_gap_with_short_bar_5(), gap), tolerance=5e-4, reason=BAR_5),
        number("I of bars 1, 4, 6 = m L²/12", "0.04", p["m1"] * p["L1"] ** 2 / 12),
        number("I of bars 2, 5, 7 = m L²/12", "0.12", p["m2"] * p["L2"] ** 2 / 12),
        number("I of the platform = m L²/12", "0.0817", p["m3"] * p["L3"] ** 2 / 12, reason=phrase(PLATE, side=side)),
    ]  # fmt: skip


def _gap_with_short_bar_5() -> float:
    """How far the end of leg 2 is from the platform if bar 5 has the printed 0.4 m."""
    m, _ = start()
    leg = m.pose(PRINTED, "bar5") @ [0.4, 0, 0, 1]
    joint = m.pose(PRINTED, "platform") @ [*(float(x) for x in m.loops[0].second.at.position), 1]
    return float(np.linalg.norm(leg - joint))


def _equations(run: Answer) -> list[Row]:
    m, home = start()
    D, legs = cut(m).mass_matrix(run.q[-1]), ([0, 1, 2], [3, 4], [5, 6])
    across = max(greatest(D[np.ix_(x, y)]) for x in legs for y in legs if x != y)
    loops = Loops(m, home)
    e, i = len(loops.e), len(loops.i)
    mended = explicit_error(m, run.q[::4], run.v[::4], np.tile(PUSH, (len(run.q[::4]), 1)))
    return [
        statement("D over the legs (7)", "block diagonal", "greatest outside", across),
        erratum(
            "S in eq. 4 (L52)",
            "- X^T D_ie",
            "- X^T D_ei",
            (float(e - i), mended),
            reason=phrase(SHAPES, i=i, e=e),
        ),
    ]


def end() -> Section:
    (m, home), run = start(), one_second()["reduced"]
    work = PUSH @ (run.q[-1] - run.q[0])[Loops(m, home).i]
    energy = float(m.energy(run.q[-1], run.v[-1])[0])
    shortest, longest = base_sides()
    rows = [
        *numbers([phrase("theta{k} after 1 s, rad", k=k) for k in range(1, 8)], AFTER, run.q[-1]),
        statement(
            "kinetic energy, J",
            f"work {work:.10f}",
            f"{energy:.10f}",
            abs(energy - work),
            tolerance=1e-12,
        ),
        number("shortest base side, m", "1.30063", shortest),
        number("longest base side, m", "1.30119", longest),
    ]
    lines = [
        (f"theta{k}", *(f"{x:.8f}" for x in line))
        for k, line in enumerate(zip(run.q[0], run.q[-1], run.v[-1], strict=True), start=1)
    ]
    shown = Exhibit(
        ("", "start, rad", "after 1 s, rad", "rate, rad/s"), tuple(lines), "Start and end"
    )
    text = "After one second, and the base that the printed digits allow."
    return Section("Example 2: the end", text, tuple(rows), RECOMPUTED, (shown,))


def figure() -> Figure:
    """Figure 4, and what belongs to it."""
    m, home = start()
    form = Reduced(m, push, home)
    run = integrate(
        form, np.zeros(m.nv), 1.0, "RK45", 1e-11
    )  # of small steps, which make smooth curves
    t, q, v = run.t, run.q, run.v
    a = m.forward_dynamics(q, v, PUSH)
    energies = {
        "kinetic energy": m.energy(q, v)[:, 0] * 1e3,
        "work of the motors": (q - home)[:, form.loops.i] @ PUSH * 1e3,
    }

    def each(x: Floats) -> dict[str, Floats]:
        return {f"θ{k}": x[:, k - 1] for k in range(1, 8)}

    panels = [
        Panel("Angles since the start (figure 4)", "change [rad]", t, each(q - home)),
        Panel("Rates", "rate [rad/s]", t, each(v)),
        Panel("Accelerations", "acceleration [rad/s²]", t, each(a)),
        Panel("Energy", "energy [mJ]", t, energies),
    ]
    drawing = moved(
        "Planar 3-RRR", m, t, q, (0, -1), three_legs(m, "bar"), pivots=("bar1", "bar4", "bar6")
    )
    caption = (
        "The planar 3-RRR at the start and after one second; how its seven angles, rates and accelerations change under constant "
        "torques; and kinetic energy, which is the work that the motors have done."
    )
    return Figure(
        "figure_4_planar_3rrr", "Example 2: 0.1, 0.1, -0.1 N m from rest", panels, drawing, caption
    )
