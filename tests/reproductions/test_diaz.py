"""The reproduction of Diaz: verdicts, there and back, both forms, and figures."""

from functools import cache

import numpy as np
import pytest

import eslabon as es
from eslabon.reproductions import Report, Verdict, diaz
from eslabon.reproductions.report import WIDTH

# All that does not simply agree: how many rows a section has, and which of them are wrong.
EXPECTED = {
    "Example 1: there and back": (8, {"theta2, rad (L101)"}),
    "Example 1: the torque": (6, set()),
    "Example 2: data, equations and forms": (
        12,
        {"length of bar 5, m (L110)", "I of the platform = m L²/12", "S in eq. 4 (L52)"},
    ),
    "Example 2: the end": (10, set()),
    "Table 1: work of both forms": (1, set()),
}


@cache
def made() -> Report:
    return diaz.report()


def test_every_row_has_the_verdict_it_is_known_to_have():
    assert [section.title for section in made().sections] == list(EXPECTED)
    for section in made().sections:
        count, wrong = EXPECTED[section.title]
        assert len(section.rows) == count
        assert {row.what: row.verdict for row in section.rows if row.verdict is not Verdict.AGREES} == dict.fromkeys(
            wrong, Verdict.WRONG
        )


def test_text_fits_a_terminal():
    assert max(map(len, made().plain().splitlines())) <= WIDTH


def test_far_states_stay_on_their_branch():
    """An integrator may try a state a radian away; from there the way back must end where it began."""
    m, _, (q, _, _), _ = diaz.four_bar()
    loops = diaz.Loops(m, q[0])
    for angle in (2.0, 3.2, 0.785):
        found, _ = loops.state(np.array([angle]), np.ones(1))
        assert np.abs(m.constraint(found)).max() < 1e-12
    assert np.allclose(found, q[0], atol=1e-12)


def test_what_does_not_close_is_refused():
    m, home = diaz.three_rrr()
    with pytest.raises((es.AssemblyError, np.linalg.LinAlgError)):
        diaz.Loops(m, home).state(home[[0, 3, 5]] + np.array([2.0, -2.0, 2.0]), np.zeros(3))


def test_evaluations_counted_are_evaluations_made():
    m, home = diaz.three_rrr()
    made = []

    def push(t):
        made.append(t)
        return diaz.PUSH

    for form in (diaz.Reduced(m, push, home), diaz.Augmented(m, push, home, project=True)):
        made.clear()
        assert diaz.integrate(form, np.zeros(m.nv), 0.5, "RK45", 1e-6).evaluations == len(made)


def test_closure_of_the_forms():
    made = diaz.costs()
    assert made[diaz.REDUCED, "RK45", 1e-6].gap < 1e-12
    assert made[diaz.PROJECTED, "RK45", 1e-6].gap < 1e-12
    assert made[diaz.DRIFTING, "RK45", 1e-6].gap > 1e-9
    assert all(cost.error < 10 * cost.tolerance for cost in made.values())


def test_figures(tmp_path):
    files = diaz.figures(tmp_path / "diaz", "svg")
    assert len(files) == 3
    for file in files:
        assert "<svg" in file.read_text(encoding="utf-8")[:2000]
