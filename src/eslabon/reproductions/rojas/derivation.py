"""Section 5.3: the formulas of U, V and W, each against the derivative that the graph gives, at t = 0.45 s."""

from __future__ import annotations

from itertools import product

import numpy as np

from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.comparison import FORMS, THESIS, Exhibit, Section
from eslabon.reproductions.rojas.listing import SLIPS, Arm, cross, position_matrix, rate_matrix
from eslabon.reproductions.rojas.rojas_tables import KP, MIDDLE, START, Instant
from eslabon.reproductions.rojas.straight_line import as_tabled, linear, robot
from eslabon.reproductions.verdicts import erratum, greatest, last_unit, statement

SIGN = "With f* grows p': eq. 5.3.1 has + I^-1 delta f*, and table 5.6.3c prints it without the minus too."
LATER = "A joint moves the axes beyond it, not its own and those before it (2.6.15a), so that 5.3.10 and all after it fail for k >= j."
IDENTITY = (
    "Its sides differ by (e_j x u).I w_i + (e_j x w_i).I u with u = e_k x w_k, which is not zero."
)
TWICE = (
    "d³r/dtheta_k dtheta_p dtheta_q with p <= q turns with the first of the three joints alone; the appendix adds both products "
    "where k < p. It is exact as e_k x r_pq for k < p, else e_p x r_kq."
)
OTHER_SIGN = "Against eq. 5.3.15, which has the plus."
RESULT = (
    "What the moments add is wrong, by 5.3.10 and 5.3.13; 5.3.18 turns the sign of the last term of 5.3.17 besides. "
    "Exact is the sum of m (d²r_i/dtheta_j dtheta_k).(r'' - g) + m (dr_i/dtheta_j).(dr''/dtheta_k) + [k < j] (e_k x e_j).n_i + e_j.dn_i/dtheta_k."
)  # fmt: skip
HALVES = (
    "Its first product is that of k >= j, its last that of k < j; as a sum for all k it is neither."
)


def sections() -> tuple[Section, ...]:
    return formulas(), slips()


def arm(at: Instant = MIDDLE) -> Arm:
    joints = as_tabled(at)
    return Arm.of(robot(9.81), joints.q, joints.v, joints.a)


def formulas() -> Section:
    """What section 5.3 derives."""
    m, joints, state, lm = robot(9.81), as_tabled(MIDDLE), arm(), linear(MIDDLE)
    axes = np.stack(
        [m.derivative("pose", "q", joints.q, frame=body.name)[:3, 2] for body in m.bodies]
    )
    third = np.moveaxis(m.derivative("position_hessian", "q", joints.q, frame="tool"), 0, -1)
    turning = m.derivative(
        "acceleration", "q", joints.q, joints.v, np.zeros(6), frame="tool", axes="aligned"
    )[:3]
    answer = m.derivative("forward_dynamics", "tau", joints.q, joints.v, lm.tau)
    inverse = np.asarray(np.linalg.inv(lm.U), dtype=float)

    def departure(found: Floats, exact: Floats) -> float:
        return greatest(found - exact) / greatest(exact)

    rows = [
        erratum("dp'/df* (5.3.2c)", "-I^-1", "I^-1", _relative(answer, -inverse, inverse), reason=SIGN),
        erratum("de_j/dtheta_k (5.3.10)", "e_k x e_j", "e_k x e_j if k < j, else 0", _relative(axes, *_turned(state)), reason=LATER),
        statement("identity 5.3.13", "holds", "all i, j, k", _identity(state), reason=IDENTITY),
        erratum("d³r (L2920-2924)", "e_p x r_kq + e_k x r_pq", "e_k x r_pq if k < p", _relative(third, *_thirds(state)), reason=TWICE),
        erratum("d(A' theta')/d (L2930)", "... - e_m x (e_k x w_k)", "... + e_m x (e_k x w_k)", _relative(turning, *_biases(state)), reason=OTHER_SIGN),
        statement("V (5.5.2)", "d tau / d theta'", "36 entries", departure(rate_matrix(state), lm.V)),
        statement("W (5.3.17)", "d tau / d theta", "36 entries", departure(position_matrix(state, ("formula",)), lm.W), reason=RESULT),
        statement("W (5.5.7)", "d tau / d theta", "36 entries", departure(_interpreted(state), lm.W), reason=HALVES),
        statement("W as it must be", "d tau / d theta", "36 entries", departure(position_matrix(state), lm.W)),
        statement("its first column", "0: turns about g", "6 entries", greatest(lm.W[:, 0]) / greatest(lm.W)),
    ]  # fmt: skip
    text = (
        "Both forms of each formula against the derivative of the graph, at t = 0.45 s and the listing's gravity; the difference is "
        "the greatest error, as a part of the greatest value."
    )
    return Section("5.3 The formulas of U, V and W", text, tuple(rows), FORMS)


def _relative(exact: Floats, printed: Floats, right: Floats) -> tuple[float, float]:
    return greatest(printed - exact) / greatest(exact), greatest(right - exact) / greatest(exact)


def _turned(state: Arm) -> tuple[Floats, Floats]:
    """de_j/dtheta_k as printed and as it is, (joints, 3, joints)."""
    printed = np.moveaxis(cross(state.axis[None, :], state.axis[:, None]), -1, 1)
    return printed, printed * np.tri(state.count, k=-1)[:, None, :]


def _identity(state: Arm) -> float:
    """The greatest difference of both sides of 5.3.13, against the greatest of a side."""
    sides = []
    for i, j, k in product(range(state.count), repeat=3):
        e, w, I = state.axis, state.w, state.inertia[i]
        pushed = cross(cross(e[j], w[i]) @ I, e[k])
        sides.append(
            (cross(e[j], cross(e[k], w[k])) @ I @ w[i] + pushed @ w[i], (w[i] - w[k]) @ pushed)
        )
    left, right = np.array(sides).T
    return greatest(left - right) / greatest(left)


def _thirds(state: Arm) -> tuple[Floats, Floats]:
    """Third derivatives of the hand, which is the last link's centre of mass: as in the appendix and as they are."""
    printed, right = (
        np.stack([state.third(state.count - 1, k, slips) for k in range(state.count)], axis=-2)
        for slips in (("third",), ())
    )
    return printed, right


def _biases(state: Arm) -> tuple[Floats, Floats]:
    last = state.count - 1
    printed, right = (
        np.stack([state.bias_slope(last, k, s) for k in range(state.count)], axis=-1)
        for s in (-1, 1)
    )
    return printed, right


def _interpreted(state: Arm) -> Floats:
    """W by eq. 5.5.7."""
    W = np.zeros((state.count, state.count))
    for i in range(state.count):
        first, e, push = state.first(i), state.axis[: i + 1], state.mass[i] * state.acceleration(i)
        for k in range(i + 1):
            moment = state.moment_slope(i, k) - cross(state.axis[k], state.moment(i))
            W[: i + 1, k] += e @ (cross(first[k], push) + moment) + state.mass[
                i
            ] * first @ state.acceleration_slope(i, k)
    return W


def shares() -> Section:
    """Section 5.5: what each link adds to U, V and W."""
    lm = linear(MIDDLE)
    made = lm.contributions()
    link, j, k = np.indices(made.V.shape)
    beyond = greatest(made.V[np.maximum(j, k) > link])
    left = max(
        greatest(x.sum(axis=0) - y) / greatest(y)
        for x, y in ((made.U, lm.U), (made.V, lm.V), (made.W, lm.W))
    )
    rows = (
        statement("sum over the links", "U, V and W", "108 entries", left),
        statement("link 1 in V (5.5.6)", "0", "36 entries", greatest(made.of("link1")[1])),
        statement("link i in V_jk (5.5.6)", "0 unless i >= max(j, k)", "125 entries", beyond),
    )
    lines = tuple(
        (name, *(f"{greatest(x):.5g}" for x in (*made.of(name), weight)))
        for name, weight in zip(made.sources, made.weight, strict=True)
    )
    text = (
        "`lm.contributions()` at t = 0.45 s, listing's gravity: U, V and W of each link alone, exact. The thesis interprets the "
        "terms and prints no values; in 5.5.6 the scan has i > max(j, k), with the bar lost. Below the greatest entry of each, and of W that of the weight alone."
    )
    exhibit = Exhibit(
        ("", "U, kg m²", "V, N m s", "W, N m", "W by weight"), lines, "Greatest entries"
    )
    return Section("5.5 What each link contributes", text, rows, FORMS, (exhibit,))


def slips() -> Section:
    """Which slips of the listing it takes to come to the printed gains."""
    state, lm, printed = arm(), linear(MIDDLE), np.array(KP, dtype=float)
    unit = np.array([[last_unit(text) for text in row] for row in KP])
    rest, lines = arm(START), []
    exact = {at: linear(at).W for at in (START, MIDDLE)}
    for chosen in ((), *((name,) for name in SLIPS), tuple(SLIPS)):
        W = position_matrix(state, chosen)
        out = [greatest(position_matrix(rest, chosen) - exact[START]), greatest(W - exact[MIDDLE])]
        agree = int(
            (np.abs(lm.U - W - printed) <= unit / 2 + 4 * 2.0**-24 * greatest(printed)).sum()
        )
        name = "all four" if len(chosen) > 1 else "none: the exact W" if not chosen else chosen[0]
        lines.append((name, *(f"{x:.3g}" if x > 1e-9 else "0" for x in out), f"{agree}"))
    text = phrase(
        "W as the listing computes it has four slips: `formula`: {formula}; `third`: {third}; `column`: {column}; `axis`: {axis}. "
        "The first is certain, the others were inferred: the listing is damaged where they stand, and they were found by "
        "trying what makes the printed Kp. Support that was not used for that: with them W delta theta of table 5.4.2, at "
        "another instant, comes out. `axis` acts only with `formula`. What follows sets the print beside the exact W and "
        "gives the listing's W as the reason where that makes the printed value.",
        **SLIPS,
    )
    columns = ("slips", "error of W, t = 0.05", "t = 0.45", "Kp of 36 as printed")
    return Section("5.3 The listing's W", text, (), THESIS, (Exhibit(columns, tuple(lines)),))
