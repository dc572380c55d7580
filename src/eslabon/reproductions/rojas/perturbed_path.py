"""Section 5.4: the perturbed path, its joint motions and torques, and the linear response beside the true one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.motion import paths
from eslabon.reproductions.comparison import THESIS, Exhibit, Row, Section
from eslabon.reproductions.rojas.modal_gains import LISTING, listed
from eslabon.reproductions.rojas.rojas_tables import PERTURBED, REST, START, TERMS
from eslabon.reproductions.rojas.straight_line import (
    ORIENTATION,
    STOP,
    SUM,
    Joints,
    X,
    Z,
    as_tabled,
    column,
    joints,
    law,
    linear,
    robot,
    solved,
    whole,
)  # fmt: skip
from eslabon.reproductions.verdicts import as_printed, greatest, last_unit, number, statement
from eslabon.systems.linear import Response, compare_response

BUMP = 0.03  # of the perturbed path, z = 1.79875 + 0.03 sin(2 pi beta)

NO_SQUARE = (
    "Comes out if z'' lacks its term -0.03 (2 pi)² sin(2 pi beta) beta'² = {term:.2g} m/s², as if beta' were 0; see the next "
    "table."
)
SUM_RULE = (
    "The hand keeps its orientation, so that joints 2, 3 and 4 must add to zero; as printed they add to {total:.1g}, with "
    "{right} for {printed} to {mended:.1g}."
)
NOT_PRINTED = (
    "Not with the printed delta theta'': joints 2, 3 and 4 of these must add to zero, and row 6, {entry:.5g} times their sum, "
    "says that they added to {total:.1e}; the printed ones add to {printed:.0e}. With {right} for the {wrong} of joint 3 rows 1 to 4 "
    "come out."
)
ONLY_MOTION = "Angles, rates and accelerations are identical, the torques of joint 1 are not: table 5.4.1 itself has a difference of {f} N m."


def sections() -> tuple[Section, ...]:
    return (*perturbation(), table_542(), response_along())


# -- the second half of table 5.4.1 -----------------------------------------------------------------------------------


def _bump(square: float) -> list[float]:
    """z, z', z'' on the perturbed path; `square` is 0 to leave out the term with beta'²."""
    beta, rate, change = (float(law()(START.t, order)) for order in range(3))
    w = 2 * np.pi
    return [
        Z + BUMP * np.sin(w * beta),
        BUMP * w * np.cos(w * beta) * rate,
        BUMP * (w * np.cos(w * beta) * change - square * w**2 * np.sin(w * beta) * rate**2),
    ]


def perturbation() -> tuple[Section, Section]:
    beta = [float(law()(START.t, order)) for order in range(3)]
    nominal = as_tabled(START)
    exact, without = (joints(beta, _bump(square)) for square in (1.0, 0.0))
    term = -BUMP * (2 * np.pi) ** 2 * np.sin(2 * np.pi * beta[0]) * beta[1] ** 2
    lost = phrase(NO_SQUARE, term=term)
    column = PERTURBED["delta theta''"]
    right = as_printed(float((without.a - nominal.a)[2]), column[2])
    total, mended = (sum(map(float, (column[1], third, column[3]))) for third in (column[2], right))
    rule = phrase(SUM_RULE, total=total, right=right, printed=column[2], mended=mended)
    text = (
        "The path with z = 1.79875 + 0.03 sin(2 pi beta) (L2198; the print has theta for beta), t = 0.05 s, listing's gravity; "
        "rad, rad/s, rad/s², N m. Perturbed motion on the law less the nominal one at the five decimals: only so do "
        "joints 1 and 5, which the perturbation does not move, have the printed differences. Angles and rates carry six "
        "decimals. Noise: 1e-6 rad in angles, twice that of the tables above in the rest."
    )
    first = Section(
        "Table 5.4.1, second half (L2227-2235)", text, tuple(_differences(exact, nominal, lost))
    )
    again = Section(
        "Table 5.4.1, second half, once more",
        "Accelerations and torques if z'' lacks its term with beta'². This slip is inferred; it makes all entries agree but one.",
        tuple(list(_differences(without, nominal, rule))[12:]),
    )
    return first, again


def _differences(perturbed: Joints, nominal: Joints, reason: str) -> Iterator[Row]:
    columns = [perturbed.q - nominal.q, perturbed.v - nominal.v, perturbed.a - nominal.a]
    noises = [
        STOP,
        2 * solved(nominal.condition, nominal.v),
        2 * solved(nominal.condition, nominal.a),
    ]
    torque = nominal.torques(9.81)
    columns.append(perturbed.torques(9.81) - torque)
    noises.append(2 * SUM * greatest(torque))
    for (label, texts), values, noise in zip(PERTURBED.items(), columns, noises, strict=True):
        unit = {"unit": 1e-6} if label in ("delta theta", "delta theta'") else {}
        yield from column(
            f"{label}{' ' if label == 'delta f' else ''}", texts, values, noise, reason, **unit
        )


# -- table 5.4.2 ------------------------------------------------------------------------------------------------------


def table_542() -> Section:
    """The terms of eq. 5.4.1 for the perturbation as printed."""
    lm, W = linear(START), listed(START)
    dq, dv, da, df = (np.array(texts, dtype=float) for texts in PERTURBED.values())
    exact, listing = (lm.W @ dq, lm.V @ dv, lm.U @ da), W @ dq
    rows = []
    for (label, texts), values in zip(TERMS.items(), exact, strict=True):
        noise = SUM * greatest(values)
        for k, text in enumerate(texts):
            reason = ""
            if (
                label == "W delta theta"
                and abs(listing[k] - float(text)) <= last_unit(text) / 2 + noise
            ):
                reason = LISTING
            elif label == "U delta theta''":
                reason = _other_accelerations(lm.U)
            rows.append(number(f"{label} {k + 1}", text, values[k], noise=noise, reason=reason))
    terms = np.array([[float(text) for text in texts] for texts in TERMS.values()])
    for k, text in enumerate(REST):
        digits = sum(last_unit(texts[k]) / 2 for texts in (*TERMS.values(), PERTURBED["delta f"]))
        rows.append(
            number(f"delta f* - delta f {k + 1}", text, terms[:, k].sum() - df[k], noise=digits)
        )
    lines = tuple(
        (f"{k + 1}", *(f"{x:.5g}" for x in (listing[k], *(y[k] for y in exact)))) for k in range(6)
    )
    text = (
        "t = 0.05 s, listing's gravity: the exact U, V and W times the perturbation as table 5.4.1 prints it. N m. Noise: 2^-22 of the "
        "column's greatest. The last column is what the printed terms and the printed delta f leave, within half a unit of each: the "
        "table adds up. What is truly left, with all digits, is in the next section."
    )
    columns = ("", "W delta theta, listing", "W delta theta", "V delta theta'", "U delta theta''")
    return Section(
        "Table 5.4.2 (L2255-2263)", text, tuple(rows), exhibits=(Exhibit(columns, lines, "Terms"),)
    )


def _other_accelerations(U: Floats) -> str:
    """Why the printed delta theta'' cannot be those that the program had, and what joint 3 must have had."""
    texts = PERTURBED["delta theta''"]
    used = float(TERMS["U delta theta''"][5]) / U[5, 1]
    printed = np.array(texts, dtype=float)
    low, high = -np.inf, np.inf
    for k, text in enumerate(TERMS["U delta theta''"][:4]):
        lacking, half = (
            float(text) - U[k] @ printed,
            last_unit(text) / 2 + SUM * float(TERMS["U delta theta''"][1]),
        )
        low, high = max(low, (lacking - half) / U[k, 2]), min(high, (lacking + half) / U[k, 2])
    assert low < high, "no value of joint 3 explains rows 1 to 4"
    right = printed[2] + (low + high) / 2
    return phrase(
        NOT_PRINTED,
        entry=U[5, 1],
        total=used,
        printed=printed[1:4].sum(),
        right=f"{right:.6f}",
        wrong=texts[2],
    )


# -- the whole motion -------------------------------------------------------------------------------------------------


@cache
def perturbed_motion() -> Any:
    """The joints' motion along the perturbed path, at the instants of the nominal one."""
    bent = paths.curve(lambda s: (X, s, Z + BUMP * np.sin(2 * np.pi * s)), 0.0, 1.0)
    hand = paths.along(bent, law(), ORIENTATION)
    return robot().follow(hand, robot().home(), limits=False)


@cache
def response(gravity: float = 9.81) -> Response:
    """The linear and the true response along the whole motion."""
    return compare_response(robot(gravity), whole(), perturbed_motion())


def response_along() -> Section:
    r, nominal = response(), robot(9.81).inverse_dynamics(whole().q, whole().v, whole().a)
    at = r[int(np.abs(whole().t - START.t).argmin())]
    still = [0, 4, 5]
    rows = (
        statement("joints 1, 5, 6", "identical (L2200)", "101 instants", max(greatest(x[:, still]) for x in (r.dq, r.dv, r.da))),
        statement(
            "their torques, N m", "identical (L2200)", "101 instants", greatest(r.true[:, still]),
            reason=phrase(ONLY_MOTION, f=float(PERTURBED["delta f"][0])),
        ),
        statement(
            "the error at 0.05 s", "small beside f (L2202)", "part of f", greatest(at.residual) / greatest(nominal), tolerance=1e-4
        ),
    )  # fmt: skip
    lines = tuple(
        (
            f"{k + 1}",
            *(f"{x[k]:.5g}" for x in (at.W_dq, at.V_dv, at.U_da, at.linear, at.true, at.residual)),
        )
        for k in range(6)
    )
    columns = (
        "",
        "W delta theta",
        "V delta theta'",
        "U delta theta''",
        "linear",
        "true",
        "linear - true",
    )
    worst = tuple(
        (f"{k + 1}", *(f"{greatest(x[:, k]):.4g}" for x in (nominal, r.true, r.residual)))
        for k in range(6)
    )
    text = phrase(
        "`es.linear.compare_response` of the nominal and the perturbed motion, both on the law and with all digits, listing's "
        "gravity; its exact W. At 0.05 s the perturbation is {now:.2g} mm, and joint 1 is left with {left:.1g} N m, where the listing's W "
        "leaves 0.009. At a quarter of the way it is 30 mm; what the linear model leaves grows with its square. The curves of figure 5.4.2 are lost, and drawn again here.",
        now=1e3 * (_bump(1.0)[0] - Z),
        left=abs(at.residual[0]),
    )
    exhibits = (
        Exhibit(columns, lines, "Linear and true response at 0.05 s, N m"),
        Exhibit(
            ("", "f, greatest", "delta f", "linear - true"), worst, "Over the whole motion, N m"
        ),
    )
    return Section("5.4 Linear and true response", text, rows, THESIS, exhibits)
