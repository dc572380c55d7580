"""Tables: columns that were asked for are printed, and no cell of a CSV file is run by a spreadsheet."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import eslabon as es
from eslabon.sheets import Sheet, from_inert, inert

FORMULA = "=HYPERLINK(A1)"
RUN = "=+-@\t\r\n"


def printed(sheet, width=80):
    text = io.StringIO()
    Console(file=text, width=width).print(sheet)
    return text.getvalue()


def run_by_a_spreadsheet(cell):
    """A cell that begins like a formula, is longer than its mark, and is no row of numbers."""
    if not cell.startswith(tuple(RUN)) or len(cell) == 1:
        return False
    try:
        [float(part) for part in cell.split()]
    except ValueError:
        return True
    return False


# -- columns of zeros -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, 1e-15, (0.0, 0.0, 0.0)])
def test_a_column_of_zeros_is_printed_unless_it_is_optional(zero):
    plain = Sheet("", ("joint", "force [N m]", "unit"), [("a", zero, "N m"), ("b", zero, "N m")])
    lines = printed(plain).splitlines()
    assert lines[0].split() == ["joint", "force", "N", "m", "unit"]
    assert all(line.split()[1] == "0" for line in lines[1:])
    hidden = Sheet("", plain.columns, plain.rows, optional=("force [N m]",))
    assert printed(hidden).splitlines()[0].split() == ["joint", "unit"]
    assert ("Zero in all rows: force N m." in printed(hidden)) == (not isinstance(zero, tuple))
    for sheet in (plain, hidden):
        assert "force [N m]" in sheet.csv()
        assert "force" in sheet.records()[0]


def test_an_optional_column_with_one_number_is_printed_and_zero_vectors_in_it_are_blank():
    sheet = Sheet(
        "", ("name", "at [m]"), [("a", (0.0, 0.0)), ("b", (0.0, 1.0))], optional=("at [m]",)
    )
    assert [line.split() for line in printed(sheet).splitlines()[1:]] == [["a"], ["b", "0", "1"]]


def test_a_column_without_anything_is_left_out():
    assert printed(Sheet("", ("a", "b", "c"), [(1, "", None), (2, "", ())])).splitlines()[
        0
    ].split() == ["a"]


# -- CSV ------------------------------------------------------------------------------------------------------------


@given(st.text(alphabet=st.sampled_from("'=+-@\t\r\n 1.ea"), max_size=6) | st.text())
def test_no_cell_is_run_and_the_text_comes_back(text):
    assert not run_by_a_spreadsheet(inert(text))
    assert from_inert(inert(text)) == text


@given(st.floats() | st.integers())
def test_numbers_stay_numbers(x):
    for number in (repr(x), f"+{abs(x)!r}"):
        assert inert(number) == number
    assert Sheet("", ("x",), [(x,)]).csv().splitlines()[1] in (repr(x), '""')


@pytest.mark.parametrize("mark", RUN)
def test_sheets_write_names_that_spreadsheets_do_not_run(mark):
    name = f"{mark}cmd|' /C calc'!A0"
    text = Sheet("", (name, "x"), [(name, -1.5), ("safe", (-1.0, 2.0))]).csv()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert not any(run_by_a_spreadsheet(cell) for row in rows for cell in row)
    assert [from_inert(rows[0][0]), from_inert(rows[1][0])] == [name, name]
    assert [rows[1][1], rows[2][1]] == ["-1.5", "-1.0 2.0"]


def swinging():
    body = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": (0.1, 0.1, 0.1)}
    return (
        es.Builder("odd")
        .body("arm", **body)
        .joint(FORMULA, "revolute", "ground", "arm")
        .actuate(FORMULA)
    )


def test_motions_write_joints_that_spreadsheets_do_not_run_and_read_them_back(tmp_path):
    m = swinging().build()
    motion = m.simulate([0.3], None, 0.05)
    path = motion.save(tmp_path / "swing.csv")
    head, *rows = csv.reader(io.StringIO(path.read_text(), newline=""))
    assert f"'{FORMULA}.q [rad]" in head
    assert not any(run_by_a_spreadsheet(cell) for cell in head)
    assert float(rows[0][head.index(f"'{FORMULA}.q [rad]")]) == 0.3
    again = es.Trajectory.load(path)
    assert again.columns == motion.columns
    assert (again.q == motion.q).all()
    table = (
        tmp_path / "table.csv"
    )  # a table of the user's own, with names as a spreadsheet shows them and as they are
    for name in (FORMULA, f"'{FORMULA}"):
        lines = [f"t,{name}.q,{name}.tau", *(f"{0.01 * k},0.1,0.2" for k in range(20))]
        table.write_text("\n".join(lines))
        assert len(es.as_trajectory(m, table).t) == 20


def test_sweeps_write_names_and_reasons_that_spreadsheets_do_not_run(tmp_path):
    body = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": (0.1, 0.1, 0.1)}
    m = (
        es.Builder("odd")
        .body("=arm", **body)
        .joint("q", "revolute", "ground", "=arm")
        .actuate("q")
        .build()
    )

    def weight(design):
        if design.bodies[0].mass > 2.5:
            raise es.InputError(f"{FORMULA} is too heavy.")
        return {"=weight": -design.bodies[0].mass}

    table = es.sweep(m, weight, {"=arm.mass": (1.0, 2.0, 3.0)}, method="grid")
    head, *rows = csv.reader(
        io.StringIO(table.save(tmp_path / "table.csv").read_text(), newline="")
    )
    assert not any(run_by_a_spreadsheet(cell) for row in (head, *rows) for cell in row)
    names = [from_inert(cell) for cell in head]
    assert {"=weight", "reason"} <= set(names)
    assert [row[names.index("=weight")] for row in rows[:2]] == ["-1", "-2"]
    assert from_inert(rows[2][names.index("reason")]).startswith(FORMULA)
