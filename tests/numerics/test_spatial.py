"""Rigid transforms, twists, wrenches and inertias agree with the 4x4 and 6x6 matrices of the papers."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.numerics import spatial
from eslabon.numerics.spatial import Inertia, RigidTransform

LAST_BITS = 2e-14  # sums of four products of numbers up to five


def transform(rng, batch=()):
    q = rng.normal(size=(*batch, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return RigidTransform(es.algebra.rotation_from_quaternion(q), rng.normal(size=(*batch, 3)))


def matrix(T):
    return es.algebra.pose(*T)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_products_and_inverses_are_those_of_4x4_matrices(rng, batch):
    A, B = transform(rng, batch), transform(rng, batch)
    assert isinstance(A @ B, RigidTransform)
    assert matrix(A @ B) == pytest.approx(matrix(A) @ matrix(B), abs=LAST_BITS)
    assert matrix(A.inverse()) == pytest.approx(np.linalg.inv(matrix(A)), abs=LAST_BITS)
    seen = np.linalg.inv(matrix(B)) @ matrix(A)
    assert matrix(A.relative_to(B)) == pytest.approx(seen, abs=2 * LAST_BITS)


def test_symbols_and_numbers_agree(rng):
    numbers = [casadi.DM(x) for _ in range(2) for x in transform(rng)]
    symbols = [casadi.SX.sym(name, *x.shape) for name, x in zip("ABCD", numbers, strict=True)]
    A, B = RigidTransform(*symbols[:2]), RigidTransform(*symbols[2:])
    for formula in (
        lambda a, b: a @ b,
        lambda a, b: a.relative_to(b),
        lambda a, b: a.inverse(),
    ):
        got = casadi.Function("f", symbols, [*formula(A, B)]).call(numbers)
        a, b = (RigidTransform(*(np.array(x) for x in numbers[k : k + 2])) for k in (0, 2))
        wanted = formula(*(RigidTransform(x.R, x.p.ravel()) for x in (a, b)))
        for x, y in zip(got, wanted, strict=True):
            np.testing.assert_allclose(np.array(x).ravel(), y.ravel(), atol=LAST_BITS)


def test_a_frame_seen_from_another_costs_one_product_with_the_rotation():
    # R2^T (p1 - p2): written as an inverse and a product it would be R2^T p1 - R2^T p2
    names = [
        casadi.SX.sym(name, *shape)
        for name, shape in zip("RpQr", [(3, 3), (3, 1)] * 2, strict=True)
    ]
    A, B = RigidTransform(*names[:2]), RigidTransform(*names[2:])

    def multiplications(x):
        f = casadi.Function("f", names, [x])
        return [f.instruction_id(k) for k in range(f.n_instructions())].count(casadi.OP_MUL)

    assert multiplications(A.relative_to(B).p) == 9
    assert multiplications((B.inverse() @ A).p) == 18


def test_twists_and_wrenches_are_carried_by_the_adjoints(rng):
    T, x = transform(rng), rng.normal(size=6)
    Ad = es.algebra.adjoint(matrix(T))
    assert spatial.twist_to_parent(T, x) == pytest.approx(Ad @ x, abs=1e-14)
    assert spatial.twist_to_child(T, x) == pytest.approx(np.linalg.solve(Ad, x), abs=1e-14)
    assert spatial.wrench_to_parent(T, x) == pytest.approx(
        es.algebra.coadjoint(matrix(T)) @ x, abs=1e-14
    )


def test_the_inertia_of_a_moved_body_is_that_of_the_congruence(rng):
    """M' = Ad^-T M Ad^-1: the kinetic energy of a body does not depend on the frame it is written in."""
    m, com, A = 1.3, rng.normal(size=3), rng.normal(size=(3, 3))
    central = np.trace(A @ A.T) * np.eye(3) - A @ A.T
    here = Inertia.from_mass_properties(m, com[:, None], central)
    M = es.algebra.inertia_matrix(m, com, central)
    assert here.matrix() == pytest.approx(M, abs=1e-13)
    T = transform(rng)
    back = np.linalg.inv(es.algebra.adjoint(matrix(T)))
    column = RigidTransform(T.R, T.p[:, None])
    for moved in (here.in_parent_frame(column), here.moments_in_parent_frame(column)):
        assert moved.matrix() == pytest.approx(back.T @ M @ back, abs=1e-12)


def test_a_pose_of_the_model_is_the_same_transform(rng):
    first, second = (
        es.model.Pose(tuple(rng.normal(size=3)), tuple(rng.uniform(-1.4, 1.4, size=3)))
        for _ in range(2)
    )
    both = first.transform() @ second.transform()
    assert matrix((first @ second).transform()) == pytest.approx(matrix(both), abs=LAST_BITS)
