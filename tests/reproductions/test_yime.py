"""The reproduction of Yime: verdicts, the paper's own equations against the compiled ones, slips, and figures."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import eslabon as es
from eslabon.reproductions import Report, Verdict, yime
from eslabon.reproductions.report import WIDTH

WRONG = Verdict.WRONG

# All that does not simply agree: how many rows a section has, and which of them are what.
EXPECTED = {
    "7.1 Five-bar: what the paper says": (
        9,
        {"theta3 start, deg (L705)", "theta4 start, deg (L705)", "speeds (L729)"},
    ),
    "7.1 Five-bar: values": (15, set()),
    "7.2 Spatial four-bar: what the paper says": (9, set()),
    "7.2 Spatial four-bar: values over a turn": (22, set()),
    "7.2 Spatial four-bar: the published torque": (5, {"peak torque (L904)"}),
    "7.3 Planar 3-RRR: what the paper says": (6, {"unit of inertia (L1095)"}),
    "7.3 Planar 3-RRR: values": (7, set()),
    "2, 3 Joint tables": (4, {"ball S_1y (table 2)", "ball S_1y' (table 3)", "ball S_2y' (table 3)", "planar S (table 2)"}),
    "4 Constraints: eq. 27 and table 4": (3, {"covector (27), L357", "cylindrical, row 4", "revolute, row 5: C"}),
    "5, 7 Formulas as printed, in use": (
        6,
        {
            "five-bar: rho (L661)",
            "four-bar: rho (L844)",
            "five-bar: weight (43), L518",
            "five-bar: A_c (L629-649)",
            "four-bar: A_c (L834)",
            "3-RRR: A_c (L1017, L1031)",
        },
    ),
}  # fmt: skip


@cache
def made() -> Report:
    return yime.report()


def test_every_row_has_the_verdict_it_is_known_to_have():
    assert [section.title for section in made().sections] == list(EXPECTED)
    for section in made().sections:
        count, wrong = EXPECTED[section.title]
        assert len(section.rows) == count
        assert {row.what: row.verdict for row in section.rows if row.verdict is not Verdict.AGREES} == dict.fromkeys(
            wrong, WRONG
        )


def test_text_fits_a_terminal():
    assert max(map(len, made().plain().splitlines())) <= WIDTH
    assert "kg mm²/s²" in made().markdown()


@pytest.mark.parametrize("name", ["slider_crank", "rojas_7r_loop"])
def test_the_papers_equations_hold_for_other_loops(name):
    m, rng = es.load(name), np.random.default_rng(0)
    act = list(m.actuated_velocities)
    q, v, a = m.complete(m.assemble(m.home()[act])[act] + 0.02, *rng.normal(size=(2, m.nu)))
    worked = yime.by_the_paper(m, q, v[act], a[act])
    assert np.allclose(worked.v, v, atol=1e-9 * np.abs(v).max())
    assert np.allclose(worked.a, a, atol=1e-8 * np.abs(a).max())
    bare = es.Mechanism(
        replace(
            m.description,
            joints=tuple(replace(j, viscous=None, coulomb=None, motor_inertia=None) for j in m.description.joints),
        )
    )
    assert np.allclose(worked.tau, bare.inverse_dynamics(q, v, a), rtol=1e-8)


def test_the_surplus_term_is_the_same_in_both_programs():
    r = yime.spatial_four_bar()
    wrong = yime.doubled(r)
    for k in r.at(2, 17, 31, 58):
        worked = yime.by_the_paper(r.m, r.q[k], r.v[k, :1], r.a[k, :1], yime.Slips(twice=True))
        assert np.allclose(worked.a, wrong[k], atol=1e-12)
        assert not np.allclose(worked.a, r.a[k], atol=1e-4)


def test_the_extremes_of_theta3u_by_the_papers_equations():
    r = yime.spatial_four_bar()
    k = r.column("theta3")
    for at in (r.a[:, k].argmin(), r.a[:, k].argmax()):
        worked = yime.by_the_paper(r.m, r.q[at], r.v[at, :1], r.a[at, :1])
        assert abs(np.degrees(worked.a[k])) == pytest.approx(4.207, abs=5e-4)


def test_accelerations_are_the_slopes_of_the_rates():
    """By central differences."""
    for r in (yime.five_bar(), yime.spatial_four_bar(), yime.planar_3rrr()):
        slope = (r.v[2:] - r.v[:-2]) / (r.t[2:] - r.t[:-2])[:, None]
        assert np.abs(slope - r.a[1:-1]).max() < 1e-3 * np.abs(r.a).max()


def test_figures(tmp_path):
    files = yime.figures(tmp_path / "deep" / "yime")
    assert len(files) == 4
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_size > 20_000


def test_figures_that_cannot_be_written_end_in_a_sentence(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(es.ReadError, match="cannot be written"):
        yime.figures(tmp_path / "taken")
