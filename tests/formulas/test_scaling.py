"""Nothing depends on the unit of length: a mechanism a million times smaller, or a hundred thousand times larger, has the
same structure, and every quantity of it is the same number after it is scaled back by its dimension."""

import numpy as np
import pytest

import eslabon as es
from cases import MOBILITY
from eslabon.model.scale import characteristic_length, row_units
from eslabon.solve.constraints.closed_configurations import generic
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.solve.constraints.independent_coordinates import redundancy_is_constant
from randomness import PROFILE
from scaling import scaled, scaled_coordinates, velocity_factors

FACTORS = (1e-6, 1e5)
# The structure, on which all numbers rest, is compared at both scales for every mechanism. Numbers are compared at one of
# them, in turn, since each mechanism at each scale is compiled anew; the nightly run compares them at both.
SCALES = [
    pytest.param(name, factor, id=f"{name}-{factor:.0e}")
    for k, name in enumerate(MOBILITY)
    for factor in (FACTORS if PROFILE == "nightly" else FACTORS[k % 2 :][:1])
]
TWIST = np.array([0, 0, 0, 1, 1, 1])  # powers of a length in it
WRENCH = np.array([2, 2, 2, 1, 1, 1])


LEAST = 1e-12  # kg, rad and s: what is less in both is zero, as the residual of a closed loop is


def same(found, wanted, powers, factor, length=1.0, digits=9):
    """Whether numbers are the others times the factor to the powers, to so many digits of the largest of them all, lengths
    being measured by the characteristic length."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    powers = np.broadcast_to(powers, wanted.shape)
    found, wanted = found / (factor * length) ** powers, wanted / length**powers
    size = 10.0**-digits * np.abs(wanted).max(initial=0.0) + LEAST
    np.testing.assert_allclose(found, wanted, rtol=0, atol=size)


class Pair:
    """A mechanism, the same at another scale, and a state of both that keeps the loops closed."""

    def __init__(self, m, factor):
        self.m, self.big, self.factor = m, scaled(m, factor), factor
        self.slides = velocity_factors(m, 2.0) == 2.0
        self.speed = velocity_factors(m, factor)
        self.q = np.array(generic(m))
        rng = np.random.default_rng(5)
        self.v, self.a = (rng.normal(size=m.nv) for _ in range(2))
        self.tau = rng.normal(size=m.nu)
        if m.closed:
            J = m.constraint_jacobian(self.q)
            N = np.eye(m.nv) - np.linalg.pinv(J, rcond=1e-9) @ J
            self.v = N @ self.v
        self.forces = np.where(self.slides, 1, 2)
        self.motors = self.forces[list(m.actuated_velocities)]
        self.Q = scaled_coordinates(m, self.q, factor)
        self.V, self.A = self.v * self.speed, self.a * self.speed
        self.TAU = self.tau * factor**self.motors


@pytest.fixture(scope="module", params=FACTORS, ids=lambda f: f"{f:.0e}")
def factor(request):
    return request.param


@pytest.mark.parametrize("name", MOBILITY)
def test_the_structure_does_not_depend_on_the_unit_of_length(name, factor, library):
    m = library(name)
    big, L = scaled(m, factor), characteristic_length(m)
    coordinates = np.where(scaled_coordinates(m, np.ones(m.nq), 2.0) == 2.0, 1, 0)
    one, other = structure(m), structure(big)
    assert (one.partition, one.rows) == (other.partition, other.rows)
    if m.closed:
        assert redundancy_is_constant(m) == redundancy_is_constant(big)
        assert (one.penalty == 0) == (other.penalty == 0)
        same(other.row_sizes, one.row_sizes, -2, factor, L, 6)
        same(generic(big), generic(m), coordinates, factor, L, 7)
    slides = velocity_factors(m, 2.0) == 2.0
    same(other.floor, one.floor, np.where(slides, 0, 2), factor, L)
    assert characteristic_length(big) == pytest.approx(factor * characteristic_length(m), rel=1e-14)


@pytest.mark.parametrize(("name", "factor"), SCALES)
def test_every_quantity_scales_by_its_dimension(name, factor, library):
    p = Pair(library(name), factor)
    m, big, f, lengths = p.m, p.big, p.factor, np.where(p.slides, 1, 0)
    L = characteristic_length(m)
    same(big.mass_matrix(p.Q), m.mass_matrix(p.q), np.add.outer(1 - lengths, 1 - lengths), f, L)
    same(big.gravity_forces(p.Q), m.gravity_forces(p.q), p.forces, f, L)
    C = np.add.outer(1 - lengths, 1 - lengths)
    same(big.coriolis_matrix(p.Q, p.V), m.coriolis_matrix(p.q, p.v), C, f, L)
    same(big.energy(p.Q, p.V), m.energy(p.q, p.v), 2, f, L)
    frame = m.bodies[-1].name
    same(big.pose(p.Q, frame)[:3, 3], m.pose(p.q, frame)[:3, 3], 1, f, L)
    J = TWIST[:, None] - lengths
    same(big.jacobian(p.Q, frame), m.jacobian(p.q, frame), J, f, L)
    same(big.velocity(p.Q, p.V, frame), m.velocity(p.q, p.v, frame), TWIST, f, L)
    a, A = m.forward_dynamics(p.q, p.v, p.tau), big.forward_dynamics(p.Q, p.V, p.TAU)
    same(A, a, lengths, f, L, 7)
    same(big.reactions(p.Q, p.V, tau=p.TAU), m.reactions(p.q, p.v, tau=p.tau), WRENCH, f, L, 6)
    if not m.closed or len(m.actuated) == MOBILITY[name]:
        tau, TAU = m.inverse_dynamics(p.q, p.v, a), big.inverse_dynamics(p.Q, p.V, A)
        same(TAU, tau, p.motors, f, L, 6)
    if m.closed:
        rows = np.array([unit == "m" for unit in row_units(m)], dtype=int)
        J = rows[:, None] - lengths
        same(big.constraint_jacobian(p.Q), m.constraint_jacobian(p.q), J, f, L)
        x = m.home() + 0.0
        same(big.constraint(scaled_coordinates(m, x, f)), m.constraint(x), rows, f, L, 6)
    one, other = m.conditions(p.q), big.conditions(p.Q)
    assert (one.mobility, one.sign) == (other.mobility, other.sign)
    assert other.parallel == pytest.approx(one.parallel, rel=1e-7, abs=1e-12)
    assert other.serial == pytest.approx(one.serial, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize(("name", "factor"), SCALES)
def test_every_derivative_scales_by_its_dimension(name, factor, library):
    p = Pair(library(name), factor)
    m, big, f, lengths = p.m, p.big, p.factor, np.where(p.slides, 1, 0)
    L = characteristic_length(m)
    for by, shape in (("q", -lengths), ("v", -lengths), ("tau", -p.motors)):
        wanted = m.derivative("forward_dynamics", by, p.q, p.v, p.tau)
        found = big.derivative("forward_dynamics", by, p.Q, p.V, p.TAU)
        same(found, wanted, np.add.outer(lengths, shape), f, L, 6)


@pytest.mark.parametrize(("name", "factor"), SCALES)
def test_linear_models_and_partly_prescribed_motions_scale_by_their_dimension(
    name, factor, library
):
    p = Pair(library(name), factor)
    m, big, f, lengths = p.m, p.big, p.factor, np.where(p.slides, 1, 0)
    L, frame = characteristic_length(m), m.bodies[-1].name
    found = big.acceleration(p.Q, p.V, p.A, frame)
    same(found, m.acceleration(p.q, p.v, p.a, frame), TWIST, f, L)
    assert big.mobility().dof == m.mobility().dof
    one, other = m.linearize(p.q, p.v, p.tau), big.linearize(p.Q, p.V, p.TAU)
    state = np.tile(lengths[list(structure(m).partition.independent)], 2)
    same(other.A, one.A, np.subtract.outer(state, state), f, L, 6)
    same(other.B, one.B, np.subtract.outer(state, p.motors), f, L, 6)
    if set(m.actuated_velocities) <= set(structure(m).partition.independent):
        forces, a = m.hybrid_dynamics(p.q, p.v, p.a)
        FORCES, A = big.hybrid_dynamics(p.Q, p.V, p.A)
        same(FORCES, forces, p.motors, f, L, 6)
        same(A, a, lengths, f, L, 6)


@pytest.mark.parametrize("name", ["five_bar", "slider_crank", "stewart_gough", "bennett"])
def test_what_violates_closure_is_refused_at_every_scale(name, factor, library):
    """A thousandth of a radian, or of the characteristic length, is refused, and a thousand-millionth is not."""
    p = Pair(library(name), factor)
    for m, q, v, tau in ((p.m, p.q, p.v, p.tau), (p.big, p.Q, p.V, p.TAU)):
        off = np.zeros(m.nq)
        off[0] = characteristic_length(m) if p.slides[0] else 1.0
        with pytest.raises(es.AssemblyError, match="violates loop closure"):
            m.forward_dynamics(q + 1e-3 * off, v, tau)
        m.forward_dynamics(q + 1e-10 * off, v, tau)
