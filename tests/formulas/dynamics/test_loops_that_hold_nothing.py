"""A cut joint parallel to the joint of the tree allows all that the tree does: its Jacobian is round-off, and holds nothing."""

import numpy as np
import pytest

import eslabon as es

KINDS = ["planar", "prismatic", "cylindrical"]
METHODS = ["multipliers", "elimination", "udwadia_kalaba"]
AXES = [(0.0, 0.0, 1.0), (1.0, 1.0, 0.0), (1.0, 2.0, 3.0), (0.3, -0.5, 0.1)]


def body_on(kind, axis, loops):
    b = es.Builder("twice", gravity=(0.0, 1.0, -9.81)).body(
        "plate", mass=1.5, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.0, 0.05)
    )
    b.joint("slide", kind, "ground", "plate", axis=axis).actuate("slide")
    for k in range(loops):
        b.loop(f"again{k}", kind, "plate", "ground", axis=axis)
    return b.build()


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_mechanism_moves_as_its_tree(kind, axis, rng):
    """By default, and by one method more: every method meets every kind and every axis."""
    method = METHODS[(KINDS.index(kind) + AXES.index(axis)) % len(METHODS)]
    closed, tree = body_on(kind, axis, 2), body_on(kind, axis, 0)
    q, v, a = 0.1 * rng.normal(size=tree.nq), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    assert closed.dof == tree.dof == tree.nv
    tau = tree.inverse_dynamics(q, v, a)
    for constraints in (None, method):
        np.testing.assert_allclose(
            closed.inverse_dynamics(q, v, a, constraints=constraints), tau, rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(
            closed.forward_dynamics(q, v, tau, constraints=constraints), a, rtol=1e-9, atol=1e-9
        )
    np.testing.assert_allclose(closed.hybrid_dynamics(q, v, a)[0], tau, rtol=1e-9, atol=1e-9)
    ends = [m.simulate(q, v, 0.1, tau, rtol=1e-10).q[-1] for m in (closed, tree)]
    np.testing.assert_allclose(*ends, atol=1e-7)
