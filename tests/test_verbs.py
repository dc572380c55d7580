"""The verbs that print: equations, code and counts, of trees and of mechanisms with loops; and what the package offers."""

import pickle

import numpy as np
import pytest

import eslabon as es


def test_equations_of_motion_by_formulation():
    m = es.load("elbow")
    plain = str(m.equations(formulation="lagrange"))
    assert "inverse_dynamics[1] = " in plain
    assert "cos(q1 + q2)" in plain
    assert "\\cos" in m.equations().latex()
    numbers = str(m.equations("mass_matrix", parameters=False))
    assert "a1" not in numbers
    assert "cos(q2)" in numbers


def test_counts_and_code():
    m = es.load("puma560")
    counts = m.operations()
    assert (counts.multiplications, counts.additions) == (188, 153)
    assert m.operations(formulation="lagrange").total > counts.total
    assert "puma560_inverse_dynamics" in m.c_source().header


def test_a_parallel_robot_has_equations_code_and_counts_too():
    m = es.load("five_bar")
    code = m.c_source("forward_dynamics")
    assert "residual" not in code.header
    assert 100 < m.operations("inverse_dynamics").total < 700
    with pytest.raises(es.ModelError, match="solves for its loops"):
        m.equations()
    assert m.operations("forward_dynamics", formulation="gibbs_appell").total > 0


def test_a_mechanism_travels_between_processes():
    m = es.load("five_bar")
    m.pose(m.home(), "ground")
    again = pickle.loads(pickle.dumps(m))
    assert again == m
    assert isinstance(again, es.Mechanism)
    assert np.array_equal(again.home(), m.home())


def test_names_that_load_their_rooms_late():
    assert es.Motion is es.simulate.Motion
    assert not hasattr(es, "nonsense")
