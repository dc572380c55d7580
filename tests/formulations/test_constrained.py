"""The equations of loops: walked around they are the derivatives of the residual, and multipliers solve them."""

from dataclasses import replace

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.formulations.constrained import Constrained, multipliers, udwadia_kalaba
from eslabon.formulations.factor import factors
from eslabon.kinematics.closure import constraint, equations, row_names, tidy
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import KINDS
from eslabon.model.expressions import parameter
from random_mechanisms import random_closed

CUTS = [k for k in KINDS if k != "free"]
TREE = ["free", "revolute", "spherical", "prismatic", "universal", "helical", "planar", "cylindrical", "fixed"]
RNG = np.random.default_rng(5)


def differentiated(m, q, v):
    """Phi, J and gamma by differentiating the residual along the coordinates."""
    N = coordinate_rates(m, q)
    phi, along = casadi.SX(constraint(m, q)), casadi.mtimes(N, v)
    rate = casadi.jtimes(phi, q, along)
    return phi, casadi.mtimes(casadi.jacobian(phi, q), N), -casadi.jtimes(rate, q, along)


def agree_at_open_postures(m, parameters=()):
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    every = tuple(range(len(row_names(m))))
    both = [*equations(m, q, v, every), *differentiated(m, q, v)]
    f = casadi.Function("f", [q, v, *parameters], [casadi.densify(x) for x in both])
    for _ in range(3):
        posture = tidy(m, m.home() + 0.2 * RNG.normal(size=m.nq))
        found = [np.array(x) for x in f(posture, RNG.normal(size=m.nv), *([0.3] * len(parameters)))]
        for got, want in zip(found[:3], found[3:], strict=True):
            np.testing.assert_allclose(got, want, atol=1e-11 * max(1.0, np.abs(want).max()))
    assert np.abs(found[0]).max() > 1e-3  # the loops are open, so that nothing holds by being closed


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_walk_around_a_loop_is_the_derivative_of_its_residual(cut, seed):
    m, _ = random_closed(np.random.default_rng(seed), TREE, [cut, "spherical"])
    agree_at_open_postures(m)


def test_couplings_and_chosen_rows():
    b = es.Builder("geared")
    for k in range(3):
        b.body(f"body{k}", 1.0, (0.1, 0, 0), np.eye(3))
        b.joint(
            f"joint{k}", parent=f"body{k - 1}" if k else "ground", child=f"body{k}", kind="revolute", at=(0.3, 0, 0)
        )
    b.couple("gear", "joint2", "joint0", ratio=-2.0, offset=0.1)
    b.loop("pin", kind="spherical", body_a="ground", body_b="body2")
    m = b.build()
    agree_at_open_postures(m)
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    whole, chosen = equations(m, q, v, (0, 1, 2, 3)), equations(m, q, v, (3, 0))
    for one, other in zip(whole, chosen, strict=True):
        assert casadi.is_equal(casadi.densify(one[[3, 0], :]), casadi.densify(other), 50)


def test_a_parameter_of_the_cut_joint_stays_a_letter():
    m, _ = random_closed(np.random.default_rng(2), TREE, ["helical"])
    loop = m.description.loops[0]
    lettered = replace(loop, kind=replace(loop.kind, pitch=parameter("lead")))
    m = es.Mechanism(replace(m.description, loops=(lettered,), parameters=(("lead", 0.3),)))
    lead = casadi.SX.sym("lead")
    agree_at_open_postures(m.with_symbols({"lead": lead}), (lead,))


def test_what_carries_the_whole_loop_has_no_part_in_it():
    b = es.Builder("floating")
    for name in ("base", "one", "two"):
        b.body(name, 1.0, (0.1, 0, 0), np.eye(3))
    b.joint("float", kind="free", parent="ground", child="base")
    b.joint("left", kind="revolute", parent="base", child="one", axis="x", at=(0, 0.2, 0))
    b.joint("right", kind="revolute", parent="base", child="two", axis="y")
    b.loop("cut", kind="spherical", body_a="one", body_b="two")
    m = b.build()
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    phi, J, gamma = equations(m, q, v, (0, 1, 2))
    legs = {m.velocities[name].start for name in ("left", "right")}
    assert set(J.sparsity().get_col()) <= legs
    assert not casadi.depends_on(casadi.vertcat(phi, gamma), q[:7])


@pytest.mark.parametrize("ease", [0.0, 1e-6])
def test_multipliers_solve_the_equations_of_motion(ease):
    n, rows = 9, 4
    A, J = RNG.normal(size=(n, n)), RNG.normal(size=(rows, n)) * (RNG.random((rows, n)) < 0.5)
    M, h, f, gamma = A @ A.T + np.eye(n), *RNG.normal(size=(2, n)), RNG.normal(size=rows)
    c = Constrained(*(casadi.SX(casadi.sparsify(casadi.DM(x))) for x in (M, h, f, J, gamma)))
    K = np.block([[M, -J.T], [J, np.zeros((rows, rows))]])
    want = np.linalg.solve(K, np.concatenate([f - h, gamma]))
    a, reaction, _ = multipliers(c, [ease] * c.J.shape[0] if ease else ())
    for got in (a, udwadia_kalaba(c)):
        np.testing.assert_allclose(np.array(casadi.DM(got)).ravel(), want[:n], atol=1e-10)
    np.testing.assert_allclose(np.array(casadi.DM(reaction)).ravel(), want[n:], atol=1e-10)


def test_the_inward_half_of_a_solution_stays_among_ancestors():
    """M of two arms on the ground: what acts on one leaves the other out of its half."""
    pattern = casadi.diagcat(casadi.DM.ones(3, 3), casadi.DM.ones(2, 2)).sparsity()
    M, b = casadi.SX.sym("M", pattern), casadi.SX(5, 1)
    b[1] = casadi.SX.sym("b")
    solver = factors(M)
    assert solver.inward(b).sparsity().row() == [0, 1]
    assert solver.solve(b).sparsity().row() == [0, 1, 2]
