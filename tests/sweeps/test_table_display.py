"""A table tells of itself: its columns, how many designs failed, and why, in words and in a notebook."""

from __future__ import annotations

import numpy as np

from hand_made_tables import grid, on_disk, sampled, table


def test_in_words():
    lines = repr(grid()).splitlines()
    assert lines[0] == "<SweepTable five_bar: 525 designs, 23 failed>"
    assert lines[1].split() == ["column", "unit", "least", "greatest"]
    assert lines[2].split() == ["L2", "m", "0.03", "0.06"]
    assert lines[4].split()[:3] == ["torque", "N", "m"]
    assert lines[5].startswith("23 failed: five_bar: the loop is open by ")


def test_reasons_that_differ_by_numbers_are_counted_together():
    x = np.arange(50.0)
    made = table({"L2": x}, {("torque", "N m"): x}, x > 40)
    (reason,) = made.contents.reasons
    assert (reason.count, reason.point) == (9, 41)
    assert reason.sentence == "five_bar: the loop is open by 5.125 m."


def test_a_design_at_several_states_is_one_design(tmp_path):
    """Also where the files of a table part the rows of a design."""
    x = np.repeat(np.arange(40.0), 6)
    made = table({"L2": x}, {("torque", "N m"): x}, x > 30, states=6)
    for each in (made, on_disk(made, tmp_path, 7)):
        found = each.contents
        assert (found.rows, found.designs, found.failed) == (240, 40, 9)
        assert found.extremes == {"L2": (0.0, 39.0), "torque": (0.0, 30.0)}
        assert "40 designs at 6 states each, 9 failed" in repr(each)


def test_without_rows_and_without_values():
    empty = table({"L2": np.zeros(0)}, {("torque", "N m"): np.zeros(0)})
    assert "0 designs" in repr(empty)
    assert "first rows" in empty._repr_html_()
    failed = table({"L2": np.ones(3)}, {("torque", "N m"): np.ones(3)}, [True] * 3)
    assert repr(failed).splitlines()[3].split() == ["torque", "N", "m", "-", "-"]


def test_in_a_notebook():
    page = sampled(50)._repr_html_()
    assert "50 designs" in page.split("</div>")[0]
    assert page.count("<table") == 2
    assert "L2 <small>m</small>" in page
    assert "data:image/png;base64" in page
    assert "failed: five_bar: the loop is open by" in page
