"""Poses, Jacobians, twists and their rates, against Pinocchio and against one another, on trees of every joint kind."""

import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model import KINDS
from eslabon.numerics import adjoint
from oracles import Oracle
from random_mechanisms import random_coordinates, random_tree
from randomness import seeded


def a_tree(seed):
    rng = seeded(seed)
    kinds = list(rng.permutation(list(KINDS))) if seed % 2 else None
    m = random_tree(rng, kinds, branched=bool(seed % 3))
    return m, Oracle(m), random_coordinates(rng, m), rng.normal(size=m.nv), rng.normal(size=m.nv)


SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_agrees(seed):
    m, oracle, q, v, a = a_tree(seed)
    for name in ("tip", *(b.name for b in m.bodies)):
        V, A = oracle.motion(q, v, a, name)
        assert np.allclose(m.pose(q, name), oracle.pose(q, name), atol=1e-12)
        assert np.allclose(m.jacobian(q, name), oracle.jacobian(q, name), atol=1e-12)
        assert np.allclose(m.velocity(q, v, name), V, atol=1e-12)
        assert np.allclose(m.acceleration(q, v, a, name), A, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_twist_in_its_three_ways_of_telling(seed):
    m, _, q, v, _ = a_tree(seed)
    T, J = m.pose(q, "tip"), m.jacobian(q, "tip")
    turn = np.kron(np.eye(2), T[:3, :3])
    assert np.allclose(m.jacobian(q, "tip", axes="spatial"), adjoint(T) @ J, atol=1e-13)
    assert np.allclose(m.jacobian(q, "tip", axes="aligned"), turn @ J, atol=1e-13)
    for axes in ("body", "spatial", "aligned"):
        assert np.allclose(
            m.velocity(q, v, "tip", axes), m.jacobian(q, "tip", axes) @ v, atol=1e-13
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_acceleration_is_the_rate_of_the_velocity(seed):
    m, _, q, v, a = a_tree(seed)
    for axes in ("body", "spatial", "aligned"):
        along_v = m.derivative("velocity", "q", q, v, frame="tip", axes=axes) @ v
        along_a = m.jacobian(q, "tip", axes) @ a
        assert np.allclose(m.acceleration(q, v, a, "tip", axes), along_v + along_a, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_hessian_gives_the_acceleration_of_the_point(seed):
    m, _, q, v, a = a_tree(seed)
    H, J = m.position_hessian(q, "tip"), m.jacobian(q, "tip", axes="aligned")[3:]
    expected = m.acceleration(q, v, a, "tip", axes="aligned")[3:]
    assert np.allclose(J @ a + np.einsum("ijk,j,k->i", H, v, v), expected, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_jacobian_is_the_derivative_of_the_pose(seed):
    m, _, q, _, _ = a_tree(seed)
    dT = m.derivative("pose", "q", q, frame="tip")
    J = m.jacobian(q, "tip", axes="aligned")
    assert np.allclose(dT[:3, 3], J[3:], atol=1e-13)
    for k in range(m.nv):
        w = dT[:3, :3, k] @ m.pose(q, "tip")[:3, :3].T
        assert np.allclose([w[2, 1], w[0, 2], w[1, 0]], J[:3, k], atol=1e-13)


def test_batches_equal_single_calls_and_broadcast(rng):
    m, _, _, _, _ = a_tree(3)
    Q = np.array([[random_coordinates(rng, m) for _ in range(7)] for _ in range(3)])
    V = rng.normal(size=(7, m.nv))
    poses, twists = m.pose(Q, "tip"), m.velocity(Q, V, "tip")
    assert poses.shape == (3, 7, 4, 4)
    assert twists.shape == (3, 7, 6)
    for i, j in np.ndindex(3, 7):
        assert np.allclose(poses[i, j], m.pose(Q[i, j], "tip"), rtol=0, atol=1e-15)
        assert np.allclose(twists[i, j], m.velocity(Q[i, j], V[j], "tip"), rtol=1e-14, atol=1e-15)
    big = np.broadcast_to(Q[0, 0], (20_000, m.nq))
    assert np.array_equal(m.pose(big, "tip", threads=1), m.pose(big, "tip", threads=2))
    out = np.empty((3, 7, 4, 4))
    assert m.pose(Q, "tip", out=out) is out
    assert np.array_equal(out, poses)


def test_designs_are_one_call():
    m = es.load("five_bar")
    lengths = np.linspace(0.03, 0.06, 5)
    batch = m.pose(m.home(), "ground", parameters={"L2": lengths})
    assert batch.shape == (5, 4, 4)
    name = m.bodies[-1].name
    moved = m.pose(m.home(), name, parameters={"L2": lengths, "L5": 0.05})
    for k, L in enumerate(lengths):
        assert np.allclose(
            moved[k], m.with_parameters(L2=L, L5=0.05).pose(m.home(), name), atol=1e-15
        )


def test_derivatives_by_parameters_are_exact():
    m = es.load("five_bar")
    name, h = m.bodies[1].name, 1e-6
    slope = m.derivative("pose", "L2", m.home(), frame=name)
    difference = (
        m.with_parameters(L2=0.04 + h).pose(m.home(), name)
        - m.with_parameters(L2=0.04 - h).pose(m.home(), name)
    ) / (2 * h)
    assert np.allclose(slope, difference, atol=1e-9)
    assert np.abs(slope).max() > 0.1
    at = m.derivative("pose", "L2", m.home(), frame=name, parameters={"L2": [0.04, 0.05]})
    assert at.shape == (2, 4, 4)
    assert np.allclose(at[0], slope, atol=1e-15)


MISTAKES = [
    (lambda m: m.pose([0.0] * 5), "q has 5 values in its last axis; puma560 has 6 coordinates"),
    (lambda m: m.pose([0.0] * 6, frame="tol"), "no frame or body 'tol'; did you mean 'tool'?"),
    (lambda m: m.jacobian([0.0] * 6, axes="bodi"), "it is 'bodi'; did you mean 'body'?"),
    (
        lambda m: m.velocity([0.0] * 6, [0.0]),
        "v has 1 value in its last axis; puma560 has 6 velocities",
    ),
    (lambda m: m.pose("abc"), "real numbers"),
    (lambda m: m.pose([1j] * 6), "complex"),
    (lambda m: m.pose([0.0] * 6, parameters={"zzz": 1}), "'zzz'"),
    (
        lambda m: m.derivative("poze", "q", [0.0] * 6),
        "no quantity 'poze' of puma560; did you mean 'pose'?",
    ),
    (lambda m: m.derivative("pose", "zzz", [0.0] * 6), "'zzz'"),
    (lambda m: m.derivative("pose", "q"), r"pose takes 1 arguments \(q\), not 0"),
    (lambda m: m.velocity(np.zeros((3, 6)), np.zeros((4, 6))), "leading axes"),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        call(es.load("puma560"))


def test_without_a_frame_the_only_one_is_meant():
    m = es.load("puma560")
    assert np.array_equal(m.pose(np.zeros(6)), m.pose(np.zeros(6), "tool"))


def tree(*joints):
    """A tree from (kind, parent, child) in letters; g is the ground."""
    b = es.Builder("tree")
    for k, (kind, parent, child) in enumerate(joints):
        b.body(child, 1.0).joint(
            f"j{k}", kind, parent.replace("g", "ground"), child, at=(0.1, 0.2, 0.3)
        )
    return b


R, W = "revolute", "fixed"
SERIAL = [(W, "g", "a"), (R, "a", "b"), (R, "b", "c"), (W, "a", "plate"), (W, "c", "tool")]
FRAMES = {
    "the leaf": (lambda: tree(*SERIAL), "tool"),
    "a named frame before a leaf": (lambda: tree(*SERIAL).frame("f", "b"), "f"),
    "not a frame on the ground": (lambda: tree(*SERIAL).frame("world", "ground").frame("seat", "a"), "tool"),
    "a frame that moves, not the one that stands": (lambda: tree(*SERIAL).frame("world", "ground").frame("f", "c"), "f"),
    "a leaf on no loop": (lambda: tree(*SERIAL, (R, "g", "d")).loop("l", R, "d", "c"), "tool"),
    "two leaves": (lambda: tree(*SERIAL, (R, "b", "d")), None),
    "two frames": (lambda: tree(*SERIAL).frame("f", "b").frame("h", "c"), None),
    "a closed chain": (lambda: tree((R, "g", "a"), (R, "a", "b")).loop("l", R, "b", "ground"), None),
    "nothing that moves": (lambda: tree((W, "g", "a")).frame("f", "a"), None),
}  # fmt: skip


@pytest.mark.parametrize("case", FRAMES)
def test_the_frame_that_is_meant_moves_and_is_the_only_one(case):
    build, name = FRAMES[case]
    m = build().build()
    if name is not None:
        assert chosen_frame(m, None).name == name
        return
    with pytest.raises(es.ModelError, match="needs the name of a frame or body") as error:
        chosen_frame(m, None)
    for known in (*m.frames, *m.bodies):
        assert known.name in str(error.value)
