"""Facts on which the report on Díaz rests: loops that stay on their branch, both forms; and figures."""

import numpy as np
import pytest

import eslabon as es
from eslabon.reproductions import figures_of
from eslabon.reproductions.diaz import diaz_planar_3rrr, four_bar, table_1
from eslabon.reproductions.diaz.diaz_equations import Loops
from eslabon.reproductions.diaz.forms import Augmented, Reduced, integrate


def test_far_states_stay_on_their_branch():
    """An integrator may try a state a radian away; from there the way back must end where it began."""
    m, _, (q, _, _), _ = four_bar.motion()
    loops = Loops(m, q[0])
    for angle in (2.0, 3.2, 0.785):
        found, _ = loops.state(np.array([angle]), np.ones(1))
        assert np.abs(m.constraint(found)).max() < 1e-12
    assert np.allclose(found, q[0], atol=1e-12)


def test_what_does_not_close_is_refused():
    m, home = diaz_planar_3rrr.start()
    with pytest.raises((es.AssemblyError, np.linalg.LinAlgError)):
        Loops(m, home).state(home[[0, 3, 5]] + np.array([2.0, -2.0, 2.0]), np.zeros(3))


def test_evaluations_counted_are_evaluations_made():
    m, home = diaz_planar_3rrr.start()
    made = []

    def push(t):
        made.append(t)
        return diaz_planar_3rrr.PUSH

    for form in (Reduced(m, push, home), Augmented(m, push, home, project=True)):
        made.clear()
        assert integrate(form, np.zeros(m.nv), 0.5, "RK45", 1e-6).evaluations == len(made)


def test_closure_of_the_forms():
    made = table_1.costs()
    assert made[table_1.REDUCED, "RK45", 1e-6].gap < 1e-12
    assert made[table_1.PROJECTED, "RK45", 1e-6].gap < 1e-12
    assert made[table_1.DRIFTING, "RK45", 1e-6].gap > 1e-9
    assert all(cost.error < 10 * cost.tolerance for cost in made.values())


def test_figures(tmp_path):
    files = figures_of("diaz", tmp_path / "diaz", "svg")
    assert len(files) == 3
    for file in files:
        assert "<svg" in file.read_text(encoding="utf-8")[:2000]
