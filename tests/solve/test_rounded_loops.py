"""Loops whose numbers are rounded so that no configuration closes them exactly: the best fit counts as closed, and is said."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import eslabon as es
from eslabon.files import library_text, read_toml
from eslabon.solve.constraints.closed_configurations import close

ROUNDED = "no configuration closes loop .* better than"


def parallelogram(gap: float, size: float = 1.0) -> es.Mechanism:
    """A linkage in a plane, but for a step of a bar out of it, which no motion takes back."""
    b = es.Builder("bars")
    for name in "abc":
        b.body(name, mass=1, com=[0.2 * size, 0, 0], inertia=[0.01 * size**2] * 3)
    b.joint("crank", "revolute", "ground", "a", home=1.0)
    b.joint("coupler", "revolute", "a", "b", at=[0.4 * size, 0, gap * size], home=-1.0)
    b.joint("rocker", "revolute", "ground", "c", at=[size, 0, 0], home=1.0)
    b.loop("pin", "revolute", "b", "c", [size, 0, 0], [0.4 * size, 0, 0])
    return b.actuate("crank").build()


@pytest.mark.parametrize("size", [1.0, 0.01])
@pytest.mark.parametrize("gap", [1e-8, 3e-7])
def test_a_loop_that_is_open_by_its_decimals_moves_as_the_exact_one(
    gap: float, size: float
) -> None:
    exact, m = parallelogram(0.0, size), parallelogram(gap, size)
    with pytest.warns(es.ModelWarning, match=ROUNDED) as said:
        q = m.assemble([0.7])
    assert len(said) == 1
    assert m.dof == exact.dof == 1  # and no more warnings, which are errors here
    np.testing.assert_allclose(q, exact.assemble([0.7]), atol=1e-6)
    np.testing.assert_allclose(m.project(m.home()), exact.home(), atol=1e-6)
    v, tau = np.array([1.0, -1.0, 1.0]), np.array([0.3])
    np.testing.assert_allclose(
        m.forward_dynamics(q, v, tau), exact.forward_dynamics(q, v, tau), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_a_gap_that_no_rounding_explains_is_refused(size: float) -> None:
    m = parallelogram(5e-6, size)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (lambda: m.assemble([0.7]), lambda: m.project(m.home()), lambda: m.dof):
            with pytest.raises(es.AssemblyError, match="'pin'"):
                call()


def test_a_bennett_linkage_of_seven_digits_is_fitted_next_to_its_home() -> None:
    """It moves only because of a relation between its lengths and twists, which rounded numbers do not keep."""
    exact, text = es.load("bennett"), library_text("bennett")
    for name in ("b", "turn"):
        number = round(float(exact.values[name]), 7)
        text = re.sub(rf"^{name} = .*$", f"{name} = {number}", text, flags=re.MULTILINE)
    m = es.Mechanism(read_toml(text))
    with pytest.warns(es.ModelWarning, match=ROUNDED):
        q = close(m)
    np.testing.assert_allclose(q, exact.home(), atol=1e-6)
    assert m.dof == exact.dof == 1
    zero = np.zeros(m.nv)
    np.testing.assert_allclose(
        m.forward_dynamics(q, zero, [0.0]),
        exact.forward_dynamics(exact.home(), zero, [0.0]),
        rtol=1e-5,
    )


def test_a_check_of_a_file_lists_it(tmp_path) -> None:
    path = parallelogram(1e-8).save(tmp_path / "bars.toml")
    found = [x for x in es.check(path) if re.search(ROUNDED, x.sentence)]
    assert [x.level for x in found] == ["warning"]
