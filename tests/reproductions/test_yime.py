"""Facts on which the report on Yime rests: the paper's own equations against the compiled ones, slips; and figures."""

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from eslabon.reproductions import figures_of
from eslabon.reproductions.yime import (
    published_torque,
    spatial_four_bar,
    yime_five_bar,
    yime_planar_3rrr,
)
from eslabon.reproductions.yime.yime_equations import Slips, by_the_paper


@pytest.mark.parametrize("name", ["slider_crank", "rojas_7r_loop"])
def test_the_papers_equations_hold_for_other_loops(name):
    m, rng = es.load(name), np.random.default_rng(0)
    act = list(m.actuated_velocities)
    q, v, a = m.complete(m.assemble(m.home()[act])[act] + 0.02, *rng.normal(size=(2, m.nu)))
    worked = by_the_paper(m, q, v[act], a[act])
    assert np.allclose(worked.v, v, atol=1e-9 * np.abs(v).max())
    assert np.allclose(worked.a, a, atol=1e-8 * np.abs(a).max())
    bare = es.Mechanism(
        replace(
            m.description,
            joints=tuple(
                replace(j, viscous=None, coulomb=None, motor_inertia=None)
                for j in m.description.joints
            ),
        )
    )
    assert np.allclose(worked.tau, bare.inverse_dynamics(q, v, a), rtol=1e-8)


def test_the_surplus_term_is_the_same_in_both_programs():
    r = spatial_four_bar.motion()
    wrong = published_torque.doubled(r)
    for k in r.at(2, 17, 31, 58):
        worked = by_the_paper(r.m, r.q[k], r.v[k, :1], r.a[k, :1], Slips(twice=True))
        assert np.allclose(worked.a, wrong[k], atol=1e-12)
        assert not np.allclose(worked.a, r.a[k], atol=1e-4)


def test_the_extremes_of_theta3u_by_the_papers_equations():
    r = spatial_four_bar.motion()
    k = r.column("theta3")
    for at in (r.a[:, k].argmin(), r.a[:, k].argmax()):
        worked = by_the_paper(r.m, r.q[at], r.v[at, :1], r.a[at, :1])
        assert abs(np.degrees(worked.a[k])) == pytest.approx(4.207, abs=5e-4)


def test_accelerations_are_the_slopes_of_the_rates():
    """By central differences."""
    for r in (yime_five_bar.motion(), spatial_four_bar.motion(), yime_planar_3rrr.motion()):
        slope = (r.v[2:] - r.v[:-2]) / (r.t[2:] - r.t[:-2])[:, None]
        assert np.abs(slope - r.a[1:-1]).max() < 1e-3 * np.abs(r.a).max()


def test_figures(tmp_path):
    files = figures_of("yime", tmp_path / "deep" / "yime")
    assert len(files) == 4
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_size > 20_000


def test_figures_that_cannot_be_written_end_in_a_sentence(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(es.ReadError, match="cannot be written"):
        figures_of("yime", tmp_path / "taken")
