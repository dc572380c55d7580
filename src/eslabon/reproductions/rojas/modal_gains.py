"""Section 5.6: gains, state matrices and eigenvalues of tables 5.6.3 and 5.6.4, and the poles that the gains give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.comparison import THESIS, Exhibit, Row, Section
from eslabon.reproductions.rojas.derivation import arm
from eslabon.reproductions.rojas.listing import SLIPS, position_matrix
from eslabon.reproductions.rojas.rojas_tables import (
    EIGENVALUES,
    KD,
    KP,
    MIDDLE,
    START,
    U_INV,
    U_INV_V,
    U_INV_W,
    Instant,
)
from eslabon.reproductions.rojas.straight_line import HALF_ULP, SUM, linear
from eslabon.reproductions.verdicts import (
    as_printed,
    erratum,
    greatest,
    last_unit,
    number,
    statement,
)
from eslabon.systems.linear import LinearModel

FREQUENCY, DAMPING = 1.0, np.sqrt(0.5)  # Omega and Psi of the example
ROOT = float(np.sqrt(HALF_ULP))  # what single precision leaves of a double zero
Matrix = Sequence[Sequence[str]]

LISTING = "The listing's W is not d tau / d theta (5.3): with its slips the printed value comes out, see below."
BUT_ONE_DIGIT = "The listing's W is not d tau / d theta (5.3): with its slips the printed value comes out, see below, but for one digit."
SYMMETRIC = "U^-1 is symmetric; the print has {other} at ({j},{i})."
OWN_V = (
    "U^-1 V is sqrt(2) 1 - U^-1 Kd; with the thesis' own U^-1 and Kd its entry (4,2), printed {printed}, were {wrong}, and with the "
    "value computed here {right}."
)
OWN_KD = "The thesis' own Kd and U^-1 give {right} here, with the other sign: sqrt(2) 1 - U^-1 Kd."
EXPONENT = "Zero; with E-08, as in the rest of the column, it were noise."
HEADING = "It is -U^-1 {letter}, by 5.3.3: the print has U^-1 {letter}. The eigenvalues of table 5.6.4 are those of the right sign."


@cache
def listed(at: Instant) -> Floats:
    """W with the listing's slips."""
    return position_matrix(arm(at), SLIPS)


def gains(lm: LinearModel, W: Floats) -> tuple[Floats, Floats]:
    """Kp = U Omega² - W and Kd = 2 U Psi Omega - V (5.6.7, 5.6.8)."""
    return lm.U * FREQUENCY**2 - W, 2 * lm.U * DAMPING * FREQUENCY - lm.V


def state_matrix(lm: LinearModel, W: Floats) -> Floats:
    """A of eq. 5.2.4 with this W."""
    n = len(W)
    return np.block(
        [[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(lm.U, W), -np.linalg.solve(lm.U, lm.V)]]
    )


def sections() -> tuple[Section, ...]:
    return *table_563(), table_564(), closed_loop()


def matrices(at: Instant) -> Section:
    """U, V and W and what is made of them; of these the thesis prints none at 0.05 s."""
    lm = linear(at)
    Kp, Kd = gains(lm, lm.W)
    inverse = np.asarray(np.linalg.inv(lm.U), dtype=float)
    shown: dict[str, Floats] = {
        "U, kg m²": lm.U, "V, N m s": lm.V, "W, N m": lm.W, "W of the listing": listed(at), "Kp": Kp, "Kd": Kd,
        "U^-1 W": inverse @ lm.W, "U^-1 V": inverse @ lm.V, "U^-1": inverse,
    }  # fmt: skip
    text = "Exact, at the five decimals of the table, with the listing's gravity; W of the listing beside it."
    return Section(
        phrase("5.3 U, V and W, t = {t} s", t=at.t),
        text,
        (),
        THESIS,
        tuple(_shown(*x) for x in shown.items()),
    )


def _shown(title: str, matrix: Floats) -> Exhibit:
    def cell(x: float) -> str:
        return "0" if abs(x) < 1e-9 * greatest(matrix) else f"{x:.5g}"

    lines = tuple((f"{k}", *map(cell, row)) for k, row in enumerate(matrix, start=1))
    return Exhibit((title, *map(str, range(1, len(matrix) + 1))), lines)


# -- table 5.6.3 ------------------------------------------------------------------------------------------------------


def table_563() -> tuple[Section, ...]:
    lm, W = linear(MIDDLE), listed(MIDDLE)
    (Kp, Kd), (slipped, _) = gains(lm, lm.W), gains(lm, W)
    inverse = np.asarray(np.linalg.inv(lm.U), dtype=float)
    where = "t = 0.45 s, at the five decimals of table 5.6.1, listing's gravity. Noise: 2^-22 of the greatest entry."
    as_it_is, mended = _rates_from_gains(Kd[3, 1])
    digits = phrase(
        OWN_V,
        printed=U_INV_V[3][1],
        **{
            k: as_printed(x[3, 1], U_INV_V[3][1])
            for k, x in (("wrong", as_it_is), ("right", mended))
        },
    )
    sign = phrase(OWN_KD, right=as_printed(mended[2, 1], U_INV_V[2][1]))
    symmetric = {
        (i, j): phrase(SYMMETRIC, other=U_INV[j][i], i=i + 1, j=j + 1)
        for i in range(6)
        for j in range(6)
    }
    heads = [
        _heading("a) is headed", "dp'/dtheta", U_INV_W, inverse @ W, phrase(HEADING, letter="W")),
        _heading("b) is headed", "dp'/dp", U_INV_V, inverse @ lm.V, phrase(HEADING, letter="V")),
    ]
    return (
        Section(
            "Table 5.6.3 (L2417-2424): Kp", phrase("Kp = U - W with the exact W; {where}", where=where), tuple(entries("Kp", KP, Kp, slipped)),
            exhibits=(_shown("Kp, listing", slipped),),
        ),
        Section(
            "Table 5.6.3 (L2426-2431): Kd", phrase("Kd = sqrt(2) U - V; {where}", where=where),
            tuple(entries("Kd", KD, Kd, reasons={(3, 1): digits})),
        ),
        Section(
            "Table 5.6.3 a) (L2437-2442): U^-1 W", phrase("With the exact W; {where}", where=where),
            (heads[0], *entries("a", U_INV_W, inverse @ lm.W, inverse @ W)), exhibits=(_shown("U^-1 W, listing", inverse @ W),),
        ),
        Section(
            "Table 5.6.3 b) (L2446-2451): U^-1 V", where,
            (heads[1], *entries("b", U_INV_V, inverse @ lm.V, reasons={(2, 1): sign, (1, 4): EXPONENT})),
        ),
        Section(
            "Table 5.6.3 c) (L2455-2460): U^-1", where, tuple(entries("c", U_INV, inverse, reasons=symmetric)),
        ),
    )  # fmt: skip


def _heading(what: str, printed: str, table: Matrix, positive: Floats, reason: str) -> Row:
    """Which sign a table has: most entries are near the one, and as far as can be from the other."""
    values, size = np.array(table, dtype=float), greatest(positive)
    errors = (float(np.median(np.abs(values - x)[:, :4])) / size for x in (-positive, positive))
    return erratum(
        what, printed, f"-{printed}", (next(errors), next(errors)), tolerance=1e-5, reason=reason
    )


def _rates_from_gains(value: float) -> tuple[Floats, Floats]:
    """U^-1 V = sqrt(2) 1 - U^-1 Kd from the printed U^-1 and Kd: as it is, and with this value at (4,2).

    Of U^-1 the part above the diagonal is taken; the damaged (4,6) from below it.
    """
    upper, Kd = np.triu(np.array(U_INV, dtype=float)), np.array(KD, dtype=float)
    upper[3, 5] = float(U_INV[5][3])
    inverse = upper + np.triu(upper, 1).T
    mended = Kd.copy()
    mended[3, 1] = value
    unit = 2 * DAMPING * FREQUENCY * np.eye(6)
    return unit - inverse @ Kd, unit - inverse @ mended


def entries(
    name: str, printed: Matrix, exact: Floats, slipped: Floats | None = None, reasons: Mapping[tuple[int, int], str] | None = None
) -> list[Row]:  # fmt: skip
    """A row for each entry of a matrix. Where the print is not exact, the listing's W is the reason if it makes the print."""
    rows, noise = [], SUM * greatest(exact)
    for (i, j), x in np.ndenumerate(exact):
        text, reason = printed[i][j], (reasons or {}).get((i, j), "")
        if slipped is not None and abs(slipped[i, j] - float(text)) <= last_unit(text) / 2 + noise:
            reason = LISTING
        elif (
            slipped is not None
            and number("", text, float(slipped[i, j]), noise=noise).verdict == "print damaged"
        ):
            reason = BUT_ONE_DIGIT
        rows.append(number(f"{name}({i + 1},{j + 1})", text, float(x), noise=noise, reason=reason))
    return rows


# -- table 5.6.4 ------------------------------------------------------------------------------------------------------


def table_564() -> Section:
    lm, down = linear(MIDDLE), linear(MIDDLE, -9.81)
    printed = np.array([complex(float(a), float(b)) for a, b in EIGENVALUES])
    A, slipped = state_matrix(lm, lm.W), state_matrix(lm, listed(MIDDLE))
    values, noise = _eigenvalues(slipped)
    places = _matched(printed, values)
    listing, noise = values[places], noise[places]
    exact = _eigenvalues(A)[0]
    exact = exact[_matched(printed, exact)]
    rows = []
    for k, texts in enumerate(EIGENVALUES):
        comes = abs(listing[k] - printed[k]) <= last_unit(texts[0]) + noise[k]
        for part, text, x in zip(("Re", "Im"), texts, (exact[k].real, exact[k].imag), strict=True):
            rows.append(
                number(f"{part} {k + 1}", text, x, noise=noise[k], reason=LISTING if comes else "")
            )
    others = [_ordered(_eigenvalues(state_matrix(x, x.W))[0]) for x in (linear(START), down)]
    lines = tuple(
        (
            f"{k + 1}",
            _complex(printed[k]),
            _complex(listing[k]),
            _complex(exact[k]),
            *(_complex(x[k]) for x in others),
        )
        for k in range(12)
    )
    columns = ("", "printed, 0.45 s", "listing's W", "exact W", "exact, 0.05 s", "g down, 0.45 s")
    text = (
        "Eigenvalues of A at t = 0.45 s, computed with the exact W. Noise: 2^-24 |A| times the condition number of the eigenvalue; "
        "a double zero moves with the root of round-off, and is given 2^-12 sqrt|A|. A turn about the vertical costs nothing, so that "
        "the exact A has a zero more than the listing's. Those of t = 0.05 s, and with gravity as it is, are not printed."
    )
    return Section(
        "Table 5.6.4 (L2401-2415): eigenvalues",
        text,
        tuple(rows),
        exhibits=(Exhibit(columns, lines, "Eigenvalues"),),
    )


def _eigenvalues(A: Floats) -> tuple[Any, Floats]:
    """Eigenvalues, and what single precision leaves uncertain in each."""
    from scipy.linalg import eig

    values, left, right = eig(A, left=True, right=True)
    overlap = np.abs(np.einsum("ij,ij->j", left.conj(), right))
    size = np.linalg.norm(A, 2)
    return values, np.minimum(HALF_ULP * size / np.maximum(overlap, 1e-30), ROOT * np.sqrt(size))


def _matched(printed: Any, values: Any) -> Any:
    """Which of the values belongs to which printed one: the pairs that are nearest in all."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(np.abs(printed[:, None] - values[None, :]))[1]


def _ordered(values: Any) -> Any:
    return values[np.lexsort((-values.imag, -values.real.round(9)))]


def _complex(z: complex) -> str:
    real, imaginary = (0.0 if abs(x) < 1e-6 else x for x in (z.real, z.imag))
    return f"{real:.6g}" + (
        f" {'+' if imaginary > 0 else '-'} {abs(imaginary):.6g}i" if imaginary else ""
    )


# -- the closed loop --------------------------------------------------------------------------------------------------


def closed_loop() -> Section:
    """The poles with the gains of 5.6.7 and 5.6.8, and with those that were printed."""
    wanted = FREQUENCY * np.array(
        [-DAMPING + 1j * np.sqrt(1 - DAMPING**2), -DAMPING - 1j * np.sqrt(1 - DAMPING**2)]
    )
    rows, lines = [], {}
    for at in (START, MIDDLE):
        lm = linear(at)
        for name, W in (("exact W", lm.W), ("listing's W", listed(at))):
            poles = np.linalg.eigvals(lm.A - lm.B @ np.hstack(gains(lm, W)))
            lines[phrase("t = {t}, {name}", t=at.t, name=name)] = _ordered(poles)
            if name == "exact W":
                error = np.abs(poles[:, None] - wanted).min(axis=1).max()
                even = abs(int((poles.imag > 0).sum()) - 6)
                rows.append(
                    statement(
                        phrase("t = {t} s: 12 poles", t=at.t),
                        "-0.7071 +- 0.7071i",
                        "six times",
                        error + even,
                        tolerance=1e-8,
                    )
                )
    columns = ("", *lines)
    shown = tuple((f"{k + 1}", *(_complex(x[k]) for x in lines.values())) for k in range(12))
    text = (
        "Kp and Kd of 5.6.7 and 5.6.8 about the exact linear model: delta theta'' + sqrt(2) delta theta' + delta theta = 0 for each "
        "joint, so that all poles are at -0.7071 +- 0.7071i. Beside them the poles that the exact model has with the gains of the "
        "listing's W, which at t = 0.45 s are the printed ones."
    )
    return Section(
        "5.6 The closed loop", text, tuple(rows), THESIS, (Exhibit(columns, shown, "Poles"),)
    )
