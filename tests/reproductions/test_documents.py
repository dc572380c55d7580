"""Every row of the reproductions has the verdict it is known to have."""

from __future__ import annotations

from pathlib import Path

import pytest

import eslabon as es
from eslabon.reproductions import DOCUMENTS, Verdict, reproduce
from eslabon.reproductions.report import WIDTH

WRONG, DAMAGED, NOISE = Verdict.WRONG, Verdict.DAMAGED, Verdict.NOISE

NOISY = ("theta'4", "theta'6", "theta''4", "theta''6", "f grav. 5", "f 6")


def entries(name: str, *places: int) -> list[str]:
    """Entries of a matrix, as in Kp(1,2) for 12."""
    return [f"{name}({k // 10},{k % 10})" for k in places]


def places(name: str, *where: int) -> list[str]:
    """Entries of a printed block, as in J11, (1,2) for 12."""
    return [f"{name}, ({k // 10},{k % 10})" for k in where]


SLIPPED = (
    21,
    22,
    23,
    24,
    31,
    32,
    33,
    34,
    41,
    42,
    43,
    44,
)  # and more, where the listing's W is not the exact one

# All that does not simply agree: how many rows a section has, and which of them are what.
EXPECTED = {
    "morales": {
        "4.3.4 Euler's ring": (
            12,
            dict.fromkeys(
                ("x1' (4.48)", "x2' (4.49)", "y2 (4.56)", *(f"x{k}' (4.57)" for k in (2, 4, 5, 6))),
                WRONG,
            ),
        ),
        "4.3.6 PUMA: the junction structure S": (
            14,
            dict.fromkeys(
                ("x_d (4.74)", "z_d (4.75)", "D_out (4.75)", "S11 (4.82), (2,4)", "h1 (4.81)"),
                WRONG,
            ),
        ),
        "4.3.8 Stanford: the junction structure S": (10, {"L (4.127)": WRONG}),
        "4.3.5, 4.3.7 The robots' matrices": (
            12,
            {
                "Stanford: M (4.119), (1,1)": WRONG,
                **dict.fromkeys(places("Stanford: C (4.120)", 21, 31), WRONG),
                **dict.fromkeys(places("Stanford: B (4.121)", 11, 12, 23), WRONG),
            },
        ),
        "4.3.6, 4.3.8 The bond graphs against Euler and Lagrange": (
            4,
            {
                "PUMA: h1 (4.81)": WRONG,
                "PUMA: S11(2,4) (4.82)": WRONG,
                "Stanford: modulus of tyx (4.132)-(4.140)": WRONG,
                "Stanford: V, first row (4.167)": DAMAGED,
            },
        ),
        "4.3.5 PUMA: states and non-states": (
            16,
            {"x1' (4.61)": DAMAGED, "name of z4 (4.62)": WRONG},
        ),
        "4.3.6 PUMA: the form of robots": (
            11,
            dict.fromkeys(("M' - 2 C (4.112)", "V, second row of (4.115)"), WRONG),
        ),
        "4.3.8 Stanford: the form of robots": (
            8,
            dict.fromkeys(
                (f"V of joint {k} (4.{n})" for k, n in ((2, 175), (1, 176), (3, 177))), WRONG
            ),
        ),
        "5.3 Linearized junction structures": (20, {"-h9 of S11 (5.51)": WRONG}),
        "4.4.3 PUMA: the junction structure J": (
            19,
            {
                **dict.fromkeys(
                    places("J11 (4.202)", 17, 27, 38, 48, 58, 68, 71, 72, 78, 83, 84, 85, 86, 87),
                    WRONG,
                ),
                "J13 (4.204): rows": WRONG,
            },
        ),
        "4.4.4 Stanford: the junction structure J": (
            14,
            {
                "J11, second (4.223)": WRONG,
                **dict.fromkeys(places("J21, first (4.225)", 15, 16, 26, 27, 34, 35), WRONG),
                "h8 (4.228)": DAMAGED,
            },
        ),
        "4.4.3 PUMA: steady states": (8, {"z_ss (4.210)": WRONG}),
        "4.4.4 Stanford: the steady state in formulas": (
            9,
            dict.fromkeys(("e25 (4.239)", "e43, printed e3 (4.240)", "e26 (4.246)"), WRONG),
        ),
        "4.4.4 Stanford: case A": (4, {}),
        "4.4.4 Stanford: case B": (5, {"e26 (4.247)": WRONG}),
        "5.3, 5.4 Causal paths": (9, {"(5.47): T12": WRONG, "(5.79): y reaches": WRONG}),
        "5.3.4 PUMA: the linear model": (
            8,
            {f"{entry} (5.73)": WRONG for entry in entries("A", 11, 13, 22, 24)},
        ),
        "5.4.4 Stanford: A of (5.80) from the printed formulas": (22, {}),
        "5.4.4 Stanford: the right A": (
            22,
            {
                f"{entry} (5.80)": WRONG
                for entry in entries(
                    "A", 11, 12, 13, 14, 15, 17, 21, 22, 23, 24, 25, 26, 27, 31, 32, 34, 35, 37
                )
            },
        ),
        "5.4.3 PUMA: the printed observer": (
            7,
            {
                "pole 1 (L3052)": NOISE,
                "A - H C (5.75), (5.76)": WRONG,
                "observed from f3 (L3011)": WRONG,
            },
        ),
        "5.4.4 Stanford: the printed observer": (
            9,
            dict.fromkeys(
                ("pole 13.33 (L3121)", "it converges (L3130)", "observed from f3 (L3075)"), WRONG
            ),
        ),
        "5.4 Observers that do": (0, {}),
        "A.3 A link behind a gear": (4, {"inertia (A.23)": WRONG, "B (A.26)": WRONG}),
    },
    "rojas": {
        "What of the thesis is here, and what is not": (0, {}),
        "2.5 The 3R positioner": (
            20,
            {"Q(2,1) (2.5.13)": DAMAGED, **{f"e{k} sin phi (2.5.15d)": WRONG for k in (1, 2, 3)}},
        ),
        "3.3.1 The best-conditioned start": (3, {"cond(J) of 3.3.1.19": WRONG}),
        "3.3.3 The 7R loop in closed form": (8, {}),
        "3.3.3 Six equations and seven (figures 3.3.3 to 3.3.5)": (6, {}),
        "3.4 Spurious singularities": (5, {}),
        "3.5.2 The Hexiflex in closed form": (5, {}),
        "4.4 Table 4.4.1: the T3 robot": (5, {}),
        "4.4 The move as a whole": (10, {}),
        "Table 5.4.1 (L2207-2225), t = 0.05 s": (33, dict.fromkeys(NOISY, NOISE)),
        "Tables 5.6.1 and 5.6.2 (L2381-2399), t = 0.45 s": (
            33,
            dict.fromkeys(("theta'6", "theta''6", "f grav. 5", "f 6"), NOISE),
        ),
        "5.4, 5.6 Two configurations in one table": (0, {}),
        "4.3 The sign of gravity": (1, {"g, m/s² (L1678)": WRONG}),
        "4.4, 4.5 Formulas for the number of operations": (
            12,
            {"Newton-Euler, add. (L1862)": DAMAGED, "its items, add. (L1854)": WRONG},
        ),
        "4.4 The thesis' procedure on a general arm": (8, {}),
        "4.4, 4.5 Operations counted": (3, {}),
        "5.3 The formulas of U, V and W": (
            10,
            dict.fromkeys(
                (
                    "dp'/df* (5.3.2c)",
                    "de_j/dtheta_k (5.3.10)",
                    "identity 5.3.13",
                    "d³r (L2920-2924)",
                    "d(A' theta')/d (L2930)",
                    "W (5.3.17)",
                    "W (5.5.7)",
                ),
                WRONG,
            ),
        ),
        "5.3 The listing's W": (0, {}),
        "5.3 U, V and W, t = 0.05 s": (0, {}),
        "5.3 U, V and W, t = 0.45 s": (0, {}),
        "Table 5.4.1, second half (L2227-2235)": (
            24,
            {
                **dict.fromkeys(("delta theta''1", "delta theta''5", "delta f 5"), NOISE),
                **dict.fromkeys(
                    (*(f"delta theta''{k}" for k in (2, 3, 4)), "delta f 2", "delta f 3"), WRONG
                ),
            },
        ),
        "Table 5.4.1, second half, once more": (
            12,
            {
                **dict.fromkeys(("delta theta''1", "delta theta''5", "delta f 5"), NOISE),
                "delta theta''3": WRONG,
            },
        ),
        "Table 5.4.2 (L2255-2263)": (
            24,
            {
                **{f"W delta theta {k}": WRONG for k in (1, 2, 5)},
                **{f"U delta theta'' {k}": WRONG for k in (3, 4)},
                **dict.fromkeys(
                    (
                        "V delta theta' 6",
                        "U delta theta'' 5",
                        "U delta theta'' 6",
                        "delta f* - delta f 6",
                    ),
                    NOISE,
                ),
            },
        ),
        "5.4 Linear and true response": (3, {"their torques, N m": WRONG}),
        "5.5 What each link contributes": (3, {}),
        "Table 5.6.3 (L2417-2424): Kp": (
            36,
            {
                **dict.fromkeys(entries("Kp", 11, 12, 13, *SLIPPED, 51, 52, 53), WRONG),
                **dict.fromkeys(entries("Kp", 16, 56, 61, 65), NOISE),
            },
        ),
        "Table 5.6.3 (L2426-2431): Kd": (
            36,
            {"Kd(4,2)": WRONG, **dict.fromkeys(entries("Kd", 16, 56, 61, 65), NOISE)},
        ),
        "Table 5.6.3 a) (L2437-2442): U^-1 W": (
            37,
            {
                "a) is headed": WRONG,
                **dict.fromkeys(
                    entries("a", 11, 12, 13, *SLIPPED, 51, 52, 53, 54, 61, 62, 63, 64), WRONG
                ),
                **dict.fromkeys(entries("a", 16, 26, 36, 46, 56, 66), NOISE),
            },
        ),
        "Table 5.6.3 b) (L2446-2451): U^-1 V": (
            37,
            {
                **dict.fromkeys(("b) is headed", "b(2,5)", "b(3,2)"), WRONG),
                **dict.fromkeys(entries("b", 15, 35, 45, 55, 65, 16, 26, 36, 46, 56, 66), NOISE),
            },
        ),
        "Table 5.6.3 c) (L2455-2460): U^-1": (36, {"c(4,2)": WRONG, "c(4,6)": DAMAGED}),
        "Table 5.6.4 (L2401-2415): eigenvalues": (
            24,
            {
                **{f"Re {k}": WRONG for k in range(1, 11)},
                **{f"Im {k}": WRONG for k in (2, 3, 5, 6)},
                **{f"{part} {k}": NOISE for part in ("Re", "Im") for k in (11, 12)},
            },
        ),
        "5.6 The closed loop": (2, {}),
        "5.6 The nonlinear robot": (2, {"K(t) of the listing": WRONG}),
    },
    "mendez": {
        "5.3 The planar arm in closed form": (10, {}),
        "5.3 The planar arm from its energies": (6, {}),
        "4 Kinematics of n bodies": (10, {}),
        "5.3 D, C and g for n bodies": (9, {}),
        "Errata": (
            10,
            {
                **dict.fromkeys(
                    ("1 (14) L130", "3 (17) L174", "4 (19) L192", "8 (23) L239"), DAMAGED
                ),
                **dict.fromkeys(
                    (
                        "6 (22) L233",
                        "9 (24) L237-255",
                        "10 (25), (27)",
                        "11 L281",
                        "12 L285",
                        "13 L287-289",
                    ),
                    WRONG,
                ),
            },
        ),
        "6 The claim of fewer operations": (2, {"turning a vector": WRONG}),
    },
    "yime": {
        "7.1 Five-bar: what the paper says": (
            9,
            dict.fromkeys(
                ("theta3 start, deg (L705)", "theta4 start, deg (L705)", "speeds (L729)"), WRONG
            ),
        ),
        "7.1 Five-bar: values": (15, {}),
        "7.2 Spatial four-bar: what the paper says": (9, {}),
        "7.2 Spatial four-bar: values over a turn": (22, {}),
        "7.2 Spatial four-bar: the published torque": (5, {"peak torque (L904)": WRONG}),
        "7.3 Planar 3-RRR: what the paper says": (6, {"unit of inertia (L1095)": WRONG}),
        "7.3 Planar 3-RRR: values": (7, {}),
        "2, 3 Joint tables": (
            4,
            dict.fromkeys(
                (
                    "ball S_1y (table 2)",
                    "ball S_1y' (table 3)",
                    "ball S_2y' (table 3)",
                    "planar S (table 2)",
                ),
                WRONG,
            ),
        ),
        "4 Constraints: eq. 27 and table 4": (
            3,
            dict.fromkeys(
                ("covector (27), L357", "cylindrical, row 4", "revolute, row 5: C"), WRONG
            ),
        ),
        "5, 7 Formulas as printed, in use": (
            6,
            dict.fromkeys(
                (
                    "five-bar: rho (L661)",
                    "four-bar: rho (L844)",
                    "five-bar: weight (43), L518",
                    "five-bar: A_c (L629-649)",
                    "four-bar: A_c (L834)",
                    "3-RRR: A_c (L1017, L1031)",
                ),
                WRONG,
            ),
        ),
    },
    "diaz": {
        "Example 1: there and back": (8, {"theta2, rad (L101)": WRONG}),
        "Example 1: the torque": (6, {}),
        "Example 2: data, equations and forms": (
            12,
            dict.fromkeys(
                ("length of bar 5, m (L110)", "I of the platform = m L²/12", "S in eq. 4 (L52)"),
                WRONG,
            ),
        ),
        "Example 2: the end": (10, {}),
        "Table 1: work of both forms": (3, {"time over that of multipliers, drifting": WRONG}),
    },
}


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.slow(reason="makes the report of a document")
def test_every_verdict_is_the_expected_one(report, name):
    found = {
        section.title: (
            len(section.rows),
            {row.what: row.verdict for row in section.rows if row.verdict is not Verdict.AGREES},
        )
        for section in report(name).sections
    }
    assert found == EXPECTED[name]
    assert list(found) == list(EXPECTED[name])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_where_the_print_is_wrong_a_sentence_says_why(report, name):
    for _, row in report(name).rows():
        assert row.verdict is not Verdict.UNEXPLAINED
        assert row.remark.endswith(".") == bool(row.remark)
        assert row.remark or row.verdict is not WRONG
    page = (Path(__file__).parents[2] / "docs" / "documents" / f"{name}.md").read_text(
        encoding="utf-8"
    )
    for section in report(name).sections:
        wrong = any(row.verdict in (WRONG, DAMAGED) for row in section.rows)
        assert (f"### {section.title}\n" in page) == wrong, "the page is old; make docs-documents"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_reads_well_in_a_terminal_and_as_markdown(report, name, tmp_path):
    made = report(name)
    text = made.plain()
    assert max(map(len, text.splitlines())) <= WIDTH
    assert all(section.title in text for section in made.sections)
    markdown = made.markdown()
    for suffix, want in ((".txt", text), (".md", markdown)):
        assert made.save(tmp_path / "new" / f"{name}{suffix}").read_text(encoding="utf-8") == want
    assert all(row.what in markdown for _, row in made.rows())
    lines = markdown.splitlines()
    tables = [line for line in lines if line.startswith("| ")]
    assert len(tables) > sum(1 for _ in made.rows())
    with pytest.raises(es.ReadError, match="cannot be written"):
        made.save("/proc/none/report.md")


def test_a_document_that_is_not_there():
    with pytest.raises(es.ReadError, match="did you mean 'rojas'"):
        reproduce("roja")
