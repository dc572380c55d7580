"""Links rewritten to save work: the same mechanics from fewer operations."""

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.dynamics import mass_matrix
from eslabon.formulas.formulations import crba, rnea
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.links import links, reduced_links
from eslabon.formulas.motion_state import MotionState
from random_mechanisms import random_closed, random_coordinates, random_tree


@pytest.mark.parametrize("seed", range(6))
def test_rewriting_changes_neither_joint_forces_nor_the_mass_matrix(seed, rng):
    m = random_tree(rng)
    q, v, a = (casadi.SX.sym(s, n) for s, n in (("q", m.nq), ("v", m.nv), ("a", m.nv)))
    made = [
        (rnea.joint_forces(m, tree, q, v, a), of_links(tree, q, m.nv))
        for tree in (links(m), reduced_links(m))
        for of_links in (crba.of_links, crba.in_ground)
    ]
    f = casadi.Function("f", [q, v, a], [casadi.densify(x) for pair in made for x in pair])
    forces, *others = (
        np.array(x) for x in f(random_coordinates(rng, m), *rng.normal(size=(2, m.nv)))
    )
    M, *others = others
    for one, other in zip(others[::2], others[1::2], strict=True):
        np.testing.assert_allclose(one, forces, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(other, M, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ["rojas_3r", "five_bar", "bricard", "stewart_gough"])
def test_symbols_for_parameters_give_the_mass_matrix_of_their_values(name):
    m = es.load(name)
    q, p = casadi.SX.sym("q", m.nq), casadi.SX.sym("p", len(m.parameters))
    symbolic = m.with_symbols({parameter: p[k] for k, parameter in enumerate(m.parameters)})
    f = casadi.Function(
        "f",
        [q, p],
        [mass_matrix(MotionState.at_rest(symbolic, q)) - mass_matrix(MotionState.at_rest(m, q))],
    )
    assert abs(np.array(f(m.home() + 0.3, list(m.parameters.values())))).max() < 1e-12


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("bricard", 149),
        ("rojas_7r_loop", 197),
        ("rojas_hexiflex", 72),
        ("puma560", 198),
        ("delta", 298),
    ],
)
def test_the_mass_matrix_takes_no_more_operations_than_it_did(name, most):
    assert es.load(name).operations("mass_matrix").total <= most


def test_a_mechanism_at_rest_has_the_closure_of_one_that_moves(rng):
    m, home = random_closed(rng, ["revolute", "spherical", "helical"], ["spherical"])
    q, rows = casadi.SX.sym("q", m.nq), tuple(range(len(row_names(m))))
    at_rest, moving = equations(m, q, None, rows), equations(m, q, casadi.SX.sym("v", m.nv), rows)
    f = casadi.Function("f", [q], [casadi.densify(x) for x in (*at_rest[:2], *moving[:2])])
    phi, J, same_phi, same_J = (np.array(x) for x in f(home + 0.1))
    assert np.array_equal(phi, same_phi)
    assert np.array_equal(J, same_J)
    assert not at_rest[2].nnz() or casadi.SX(at_rest[2]).is_zero()
