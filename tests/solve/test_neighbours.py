"""A lane never depends on its neighbours, on the order of a batch, or on how many lanes there are: every verb, bit for
bit where the same code runs."""

import warnings

import numpy as np
import pytest

import eslabon as es

TARGETS = {
    "pose": lambda T: T,
    "position and orientation": lambda T: es.Target(
        position=T[..., :3, 3], orientation=T[..., :3, :3]
    ),
    "position": lambda T: es.Target(position=T[..., :3, 3]),
    "axis": lambda T: es.Target(position=T[..., :3, 3], axis=T[..., :3, 2]),
    "rows": lambda T: es.Target(pose=T, rows=("x", "y", "rz")),
    "points": lambda T: es.Target(
        points=[[0, 0, 0], [0, 0, 0.1]],
        places=np.stack([T[..., :3, 3], T[..., :3, 3] + 0.1 * T[..., :3, 2]], axis=-2),
    ),
}


def far_poses(m, rng, count):
    lower, upper = np.array([j.limits[0] for j in m.joints], dtype=float).T
    return m.pose(rng.uniform(lower, upper, (count, m.nq))), rng.uniform(
        lower, upper, (count, m.nq)
    )


@pytest.mark.parametrize("kind", TARGETS)
def test_a_target_finds_the_same_alone_as_in_a_batch_of_any_order(kind, rng):
    """Of 60 poses of puma560 given as position and orientation 8 to 12 once ended elsewhere in a batch than alone."""
    m = es.load("puma560")
    T, guess = far_poses(m, rng, 24)
    target = TARGETS[kind]
    together = m.inverse_kinematics(target(T), guess, report=True)
    order = rng.permutation(len(T))
    shuffled = m.inverse_kinematics(target(T[order]), guess[order], report=True)
    assert np.array_equal(shuffled.q, together.q[order])
    for k in range(0, len(T), 3):
        alone = m.inverse_kinematics(target(T[k]), guess[k], report=True)
        assert np.array_equal(alone.q, together.q[k])
        assert bool(alone.converged) == bool(together.converged[k])
        assert int(alone.iterations) == int(together.iterations[k])


@pytest.mark.parametrize("limits", [True, False])
def test_the_native_search_for_one_pose_is_that_of_a_batch(limits, rng):
    m = es.load("panda_like")
    T, guess = far_poses(m, rng, 30)
    for restarts in (0, 4):
        options = {"limits": limits, "restarts": restarts, "report": True}
        together = m.inverse_kinematics(T, guess, **options)
        for k in range(len(T)):
            alone = m.inverse_kinematics(T[k], guess[k], **options)
            assert bool(alone.converged) == bool(together.converged[k])
            assert np.array_equal(alone.q, together.q[k])
    without = m.inverse_kinematics(T, limits=limits, report=True)
    for k in range(len(T)):
        assert np.array_equal(m.inverse_kinematics(T[k], limits=limits), without.q[k])


def test_a_stretched_arm_is_singular_beside_any_lane():
    """It was answered alone, and refused as singular beside a regular lane."""
    m = es.load("elbow")
    stretched, bent = [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]
    options = {"velocity": [0.0, 0.1, 0.0], "acceleration": [0.0, 0.0, 0.0]}
    target = es.Target("tool", position=stretched)
    with pytest.raises(es.SingularityError, match="singular"):
        m.complete(target, guess=[0.0, 0.0], **options)
    with pytest.raises(es.SingularityError, match="singular"):
        m.complete(
            es.Target("tool", position=[stretched, bent]), guess=[[0.0, 0.0], [0.0, 1.5]], **options
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = m.complete(target, guess=[0.0, 0.0], singular="warn", **options)
        both = m.complete(
            es.Target("tool", position=[stretched, bent]),
            guess=[[0.0, 0.0], [0.0, 1.5]],
            singular="warn",
            **options,
        )
    for one, two in zip(alone, both, strict=True):
        assert np.array_equal(one, two[0])


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "delta", "slider_crank"])
def test_assemblies_and_rates_are_the_same_alone_as_in_a_batch(name, rng):
    m = es.load(name)
    q = m.project(m.home())
    place = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
    size = np.where([m.joint(j).kind.coordinates[0].unit == "m" for j in m.actuated], 0.02, 0.3)
    x = q[place] + size * rng.uniform(-1, 1, (12, len(place)))
    va, aa = rng.normal(size=(2, 12, len(place)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = m.assemble(x, q, report=True, limits=False)
        good = np.flatnonzero(found.converged)
        assert len(good) > 3
        moved = m.complete(x[good], va[good], aa[good], q, report=True, limits=False)
        projected = m.project(found.q[good] + 0.01)
    order = rng.permutation(len(good))
    shuffled = m.complete(
        x[good][order], va[good][order], aa[good][order], q, report=True, limits=False
    )
    for one, two in ((moved.q, shuffled.q), (moved.v, shuffled.v), (moved.a, shuffled.a)):
        assert np.array_equal(one[order], two)
    for place, k in enumerate(good[:4]):
        alone = m.complete(x[k], va[k], aa[k], q, report=True, limits=False, restarts=1)
        for one, two in ((alone.q, moved.q), (alone.v, moved.v), (alone.a, moved.a)):
            assert np.allclose(one, two[place], rtol=0, atol=1e-11 * max(1.0, np.abs(two).max()))
        again = m.project(found.q[k] + 0.01)
        assert np.array_equal(again, projected[place])
