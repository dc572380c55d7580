"""Singular postures of both kinds are found, and how near others are is told without units."""

import numpy as np
import pytest

import eslabon as es


def test_a_stretched_five_bar_is_singular_in_the_parallel_way():
    m = es.load("five_bar").with_parameters(L2=0.05, L5=0.05)
    # both distal links in one line: the loop cannot be held by the cranks
    reach = np.linspace(0.9, 0.999999, 5)
    worst = []
    for r in reach:
        span = 2 * 0.1 * r
        opening = (span - 0.1) / 2  # how far each crank leans outward along x
        lean = np.arccos(np.clip(-opening / 0.05, -1, 1))
        q = m.assemble([lean, np.pi - lean], guess=m.assemble([2.0, np.pi - 2.0]))
        worst.append(float(m.conditions(q).parallel))
    assert np.all(np.diff(worst) < 0)
    assert worst[-1] < 0.01 < worst[0]


def test_a_stretched_elbow_is_singular_in_the_serial_way():
    m = es.load("puma560")
    q = m.home()
    straight = q.copy()
    straight[4] = 0.0  # two wrist axes in line
    found = m.conditions(np.stack([q, straight]))
    assert found.serial[0] > 1e-3
    assert found.serial[1] < 1e-12
    assert list(found.singular) == [False, True]
    assert np.all(found.parallel == 1)


def test_a_flat_parallelogram_has_one_freedom_more():
    m = es.load("parallelogram")
    found = m.conditions(np.stack([m.home(), np.zeros(3)]))
    assert list(found.mobility) == [1, 2]
    assert found.parallel[1] < 1e-12 < found.parallel[0]


def test_millimetres_make_no_difference():
    m = es.load("planar_3rrr")
    small = m.with_parameters(r_base=0.255e-3, r_ee=0.055e-3, L=0.2e-3)
    big, tiny = (x.conditions(x.home(), "centre") for x in (m, small))
    assert big.serial == pytest.approx(tiny.serial, rel=1e-9)
    assert big.mobility == tiny.mobility == 3


def test_shapes_and_mistakes():
    m = es.load("planar_3rrr")
    assert m.conditions(np.tile(m.home(), (2, 3, 1)), "centre").serial.shape == (2, 3)
    with pytest.raises(es.ModelError, match="q has 3 values in its last axis; planar_3rrr has 7 coordinates"):
        m.conditions([0, 0, 0])
