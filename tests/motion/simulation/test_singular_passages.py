"""A motion that passes a singular configuration says so, and when, however few of its states are reported."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import eslabon as es

METHODS = [
    ("DOP853", {}),
    ("RK45", {"rtol": 1e-5}),
    ("Radau", {"rtol": 1e-5}),
    ("rk4", {"step": 2e-3}),
]
DRIVEN = [("DOP853", {}), ("rk4", {"step": 5e-3})]


def told(m, q0, v0, t, **options):
    """The time at which a run says that it passed a singular configuration; None where it is silent."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        m.simulate(q0, v0, t, **options)
    found = [
        re.search(r"at t = (\S+) s", str(w.message))
        for w in said
        if w.category is es.SingularityWarning
    ]
    assert len(found) < 2
    return float(found[0][1]) if found else None


def flat(m, q0, v0, duration):
    """When the crank first comes to lie along the base."""
    fine = m.simulate(
        q0, v0, np.linspace(0, duration, 2001), singular="ignore", rtol=1e-10, atol=1e-12
    )
    crank = fine.q[:, 0] / np.pi
    passed = np.flatnonzero(np.floor(crank[1:]) != np.floor(crank[:-1]))
    return fine.t[passed[0]] if len(passed) else None


@pytest.mark.parametrize(("method", "options"), METHODS)
@pytest.mark.parametrize("name", ["parallelogram", "n_four_bar"])
def test_the_time_is_the_same_whatever_is_reported(name, method, options, rng):
    m = es.load(name)
    for _ in range(3):
        q0, v0, _ = m.complete([rng.uniform(0.5, 2.5)], [rng.normal() * 3], [0.0])
        want, seldom = flat(m, q0, v0, 2.0), {"every": 700} if method == "rk4" else {}
        for t, more in (([0.0, 1.0, 2.0], {}), (np.linspace(0, 2, 7), {}), (2.0, seldom)):
            got = told(m, q0, v0, t, method=method, **options, **more)
            assert (got is None) == (want is None)
            assert want is None or abs(got - want) < 0.02


@pytest.mark.parametrize(("method", "options"), DRIVEN)
def test_a_python_function_hides_nothing(method, options):
    m = es.load("parallelogram")
    q0, v0, _ = m.complete([1.0], [-6.0], [0.0])
    law = {"control": lambda t, q, v: np.zeros(m.nu)}
    assert told(m, q0, v0, [0, 0.5, 1], method=method, **options, **law) == pytest.approx(
        flat(m, q0, v0, 1.0), abs=0.01
    )


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_as_an_error_it_comes_with_the_motion_before(method, options):
    m = es.load("parallelogram")
    q0, v0, _ = m.complete([1.0], [-6.0], [0.0])
    with pytest.raises(es.SingularityError, match=r"at t = 0\.\d+ s") as caught:
        m.simulate(q0, v0, [0, 0.05, 2.0, 4.0], method=method, singular="error", **options)
    assert (caught.value.motion.t == [0, 0.05]).all()


@pytest.mark.parametrize(("method", "options"), [("DOP853", {}), ("rk4", {"step": 2e-3})])
def test_of_many_trajectories_those_that_pass_are_counted(method, options):
    m = es.load("parallelogram")
    q0, v0, _ = m.complete(
        np.array([[1.0], [1.0], [1.5]]), np.array([[-6.0], [0.0], [-6.0]]), np.zeros((3, 1))
    )
    with pytest.warns(
        es.SingularityWarning, match=r"in 2 of 3 trajectories, the first at t = 0\.\d+ s"
    ):
        m.simulate(q0, v0, [0, 0.1, 0.28], method=method, **options)


@pytest.mark.parametrize(
    "name",
    ["slider_crank", "diaz_four_bar", "five_bar", "planar_3rrr", "rssr", "bennett", "bricard"],
)
def test_dead_centres_and_redundant_rows_are_no_singularities(name, rng):
    """There other coordinates are independent, or other rows redundant, and no branches meet."""
    m = es.load(name)
    q0 = m.project(m.home())
    v0 = m.project(q0, 5 * rng.normal(size=m.nv))[1]
    assert told(m, q0, v0, [0.0, 1.0, 2.0]) is None
    assert told(m, q0, v0, 1.0, method="rk4", step=1e-3, every=300) is None
