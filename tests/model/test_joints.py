"""Facts about every joint kind: its motion subspace is the rate of its pose, its constraints hold what it does not move."""

import casadi
import numpy as np

from batches import each
from eslabon.model.constraints import perpendicular
from eslabon.model.joints import KINDS
from eslabon.model.parsing import joint_kind
from eslabon.numerics.quaternions import unit_axis
from eslabon.numerics.rotations import rotation_about
from random_mechanisms import MOVING, random_kind
from randomness import seeded

CASES = [(kind, seed) for kind in KINDS for seed in range(4)]


def a_joint(kind, seed):
    rng = seeded(seed)
    arguments = random_kind(rng, kind)
    joint = joint_kind(kind, arguments.get("axis"), arguments.get("pitch"), "joint")
    q = rng.uniform(-2, 2, joint.nq)
    return joint, joint.normalize(q), rng.normal(size=joint.nv), rng


def symbolic(joint):
    """R, p, S and dq/dt as CasADi functions of q and v."""
    q, v = casadi.SX.sym("q", joint.nq), casadi.SX.sym("v", joint.nv)
    R, p = joint.transform(q)
    return (
        q,
        v,
        casadi.SX(R),
        casadi.SX(p),
        casadi.SX(joint.motion(q)),
        casadi.SX(joint.coordinate_rates(q, v)),
    )


def twist_of(R, Rdot, pdot):
    w = R.T @ Rdot
    return np.array([w[2, 1], w[0, 2], w[1, 0], *(R.T @ pdot)])


@each(("kind", "seed"), [c for c in CASES if c[0] in MOVING])
def test_the_motion_subspace_is_the_rate_of_the_pose(kind, seed):
    joint, q0, v0, _ = a_joint(kind, seed)
    q, v, R, p, _, rates = symbolic(joint)
    derivative = casadi.Function(
        "d", [q, v], [casadi.jtimes(casadi.vec(R), q, rates), casadi.jtimes(p, q, rates)]
    )
    Rdot, pdot = derivative(q0, v0)
    R0, _ = joint.transform(q0)
    twist = twist_of(
        np.asarray(R0), np.array(Rdot).reshape(3, 3, order="F"), np.array(pdot).ravel()
    )
    assert np.allclose(joint.motion(q0) @ v0, twist, atol=1e-14)


@each(("kind", "seed"), [c for c in CASES if c[0] in MOVING])
def test_the_rate_of_the_motion_subspace_is_its_derivative(kind, seed):
    joint, q0, v0, _ = a_joint(kind, seed)
    q, v, _, _, S, rates = symbolic(joint)
    derivative = casadi.Function("d", [q, v], [casadi.jtimes(casadi.vec(S), q, rates)])
    expected = np.array(derivative(q0, v0)).reshape(6, joint.nv, order="F")
    assert np.allclose(joint.motion_rate(q0, v0), expected, atol=1e-14)


@each(("kind", "seed"), CASES)
def test_motions_and_constraints_complete_each_other(kind, seed):
    joint, q, _, _ = a_joint(kind, seed)
    S, C = joint.motion(q), joint.covectors(*joint.transform(q))
    assert S.shape == (6, joint.nv)
    assert C.shape == (6, 6 - joint.nv)
    assert np.allclose(C.T @ S, 0, atol=1e-14)
    assert np.linalg.matrix_rank(np.hstack([S, C])) == 6


@each(("kind", "seed"), CASES)
def test_a_joint_that_moves_as_it_may_leaves_no_residual(kind, seed):
    joint, q, _, _ = a_joint(kind, seed)
    assert np.allclose(joint.residual(*joint.transform(q)), 0, atol=1e-14)


@each(("kind", "seed"), CASES)
def test_the_covectors_are_the_derivative_of_the_residual(kind, seed):
    joint, q, _, rng = a_joint(kind, seed)
    R0, p0 = (np.asarray(x) for x in joint.transform(q))
    twist, step = rng.normal(size=6), 1e-6
    skew = np.cross(np.eye(3), twist[:3])

    def residual(h):
        turn = np.eye(3) + h * skew + h * h / 2 * skew @ skew
        return joint.residual(R0 @ turn, p0 + h * R0 @ twist[3:])

    difference = (residual(step) - residual(-step)) / (2 * step)
    assert np.allclose(joint.covectors(R0, p0).T @ twist, difference, atol=1e-8)


@each(("kind", "seed"), CASES)
def test_a_chain_of_hinges_takes_the_body_where_the_joint_takes_it(kind, seed):
    joint, q, _, _ = a_joint(kind, seed)
    hinges, angles = joint.hinges(), joint.hinge_coordinates(tuple(q))
    R, p = np.eye(3), np.zeros(3)
    if len(hinges) == 1:
        assert hinges[0].kind is joint
        angles = (angles,)
    for hinge, own in zip(hinges, angles, strict=True):
        turn, shift = (np.asarray(x) for x in hinge.kind.transform(np.atleast_1d(own)))
        R, p = R @ turn, p + R @ shift
    assert np.allclose(R, joint.transform(q)[0], atol=1e-14)
    assert np.allclose(p, joint.transform(q)[1], atol=1e-14)
    for hinge, own in zip(hinges, angles, strict=True):
        assert hinge.ratio is None or np.isclose(own, hinge.ratio * angles[0], rtol=1e-14)


@each("kind", ["revolute", "prismatic", "helical", "cylindrical", "planar", "fixed"])
def test_half_a_turn_away_is_not_closed(kind):
    for seed in range(4):
        joint, q, _, rng = a_joint(kind, seed)
        R, p = (np.asarray(x) for x in joint.transform(q))
        across = (
            perpendicular(unit_axis(joint.axes[0]))[0]
            if joint.axes
            else unit_axis(rng.normal(size=3))
        )
        half_turn = 2 * np.outer(across, across) - np.eye(3)
        almost = half_turn @ rotation_about(unit_axis(rng.normal(size=3)), 0.05)
        assert np.abs(joint.residual(R @ almost, p)).max() > 10


@each(("kind", "seed"), CASES)
def test_numbers_batches_and_symbols_agree(kind, seed):
    joint, _, _, rng = a_joint(kind, seed)
    Q, V = rng.normal(size=(3, joint.nq)), rng.normal(size=(3, joint.nv))
    q, v = casadi.SX.sym("q", joint.nq), casadi.SX.sym("v", joint.nv)

    def everything(q, v):
        R, p = joint.transform(q)
        return (
            R,
            p,
            joint.motion(q),
            joint.motion_rate(q, v),
            joint.coordinate_rates(q, v),
            joint.covectors(R, p),
            joint.residual(R, p),
        )

    traced = casadi.Function("f", [q, v], [casadi.SX(x) for x in everything(q, v)])
    batch = everything(Q, V)
    for k in range(3):
        for one, many, symbol in zip(
            everything(Q[k], V[k]), batch, traced(Q[k], V[k]), strict=True
        ):
            many = np.asarray(many)
            row = many[k] if many.ndim > np.ndim(one) else many
            assert np.allclose(one, row, atol=1e-15)
            assert np.allclose(one, np.array(symbol).reshape(np.shape(one)), atol=1e-14)


def test_an_axis_along_a_coordinate_leaves_exact_zeros():
    q = casadi.SX.sym("q")
    R, _ = KINDS["revolute"]().transform(q)
    assert R.nnz() == 5
    assert str(R[2, 2]) == "1"


@each("axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.6, 0, -0.8)])
def test_perpendicular_directions_are_right_handed(axis):
    along, across = perpendicular(tuple(float(a) for a in axis))
    assert np.allclose(np.cross(along, across), axis, atol=1e-15)


def test_yime_table_2_and_3():
    """S and dS/dt of the universal and planar joints as the paper's tables have them, corrected."""
    c, s, rate = np.cos(0.7), np.sin(0.7), 1.3
    universal = KINDS["universal"]()
    assert np.allclose(
        universal.motion([0.4, 0.7]), np.array([[-s, 0, c, 0, 0, 0], [0, 1, 0, 0, 0, 0]]).T
    )
    assert np.allclose(
        universal.motion_rate([0.4, 0.7], [9, rate])[:, 0], [-c * rate, 0, -s * rate, 0, 0, 0]
    )
    planar = KINDS["planar"]()
    assert np.allclose(
        planar.motion([1, 2, 0.7]),
        np.array([[0, 0, 0, c, -s, 0], [0, 0, 0, s, c, 0], [0, 0, 1, 0, 0, 0]]).T,
    )
    assert np.allclose(
        planar.motion_rate([1, 2, 0.7], [9, 9, rate])[:, 1], rate * np.array([0, 0, 0, c, -s, 0])
    )


def test_yime_table_4_universal_cut():
    """The universal joint's single angular covector is (cos theta2, 0, sin theta2) (notes to table 4)."""
    joint = KINDS["universal"]()
    C = joint.covectors(*joint.transform([0.4, 0.7]))
    assert np.allclose(C[:, 3], [np.cos(0.7), 0, np.sin(0.7), 0, 0, 0])
