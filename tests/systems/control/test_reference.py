"""References: tables against the paths they come from, exact rates of functions, and what cannot be followed."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import difference, integrate
from eslabon.motion.interpolation import Interpolant


def native(reference, times) -> list[np.ndarray]:
    """What a reference gives for a symbol, evaluated."""
    t = casadi.SX.sym("t")
    f = casadi.Function("f", [t], [casadi.densify(x) for x in reference.at_symbol(t)])
    return [np.array(x).T for x in f(np.atleast_1d(times)[None, :])]


@pytest.mark.parametrize(
    "law",
    [es.paths.quintic(2.0), es.paths.cycloidal(2.0), es.paths.trapezoidal(2.0)],
    ids=lambda law: law.name,
)
def test_a_table_comes_near_its_path(law, rng) -> None:
    m = es.load("elbow")
    path = es.paths.joint_path([[0.0, 1.0], [2.0, -1.0]], law)
    followed = es.as_trajectory(m, path)
    # Anywhere, and just before its acceleration may jump.
    t = np.concatenate([rng.uniform(0.0, 2.0, 50), path.breaks[1:] - 1e-3, path.breaks[1:] - 1e-9])
    for made in (native(followed, t), followed.at(t)):
        for x, y, tolerance in zip(made, path(t), (1e-7, 1e-5, 1e-3), strict=True):
            np.testing.assert_allclose(x, y, atol=tolerance)


def test_outside_its_span_it_rests_where_it_ends() -> None:
    m = es.load("elbow")
    followed = es.as_trajectory(
        m, ([1.0, 2.0], [[0.0, 1.0], [1.0, 3.0]], [[1.0, 2.0]] * 2, np.zeros((2, 2)))
    )
    q, v, a = native(followed, [0.0, 1.5, 3.0])
    np.testing.assert_allclose(q, [[0, 1], [0.5, 2], [1, 3]], atol=1e-12)
    np.testing.assert_allclose(v, [[0, 0], [1, 2], [0, 0]], atol=1e-12)
    np.testing.assert_allclose(a, 0, atol=1e-9)
    with pytest.raises(es.InputError, match="defined from 1 to 2 s; t = 3 s lies outside"):
        followed.at(3.0)


def test_functions_have_exact_rates() -> None:
    m = es.load("elbow")
    followed = es.as_trajectory(m, lambda t: [casadi.sin(2 * t), t**3])
    q, v, a = followed.at([0.3, 0.7])
    t = np.array([0.3, 0.7])
    np.testing.assert_allclose(q, np.column_stack([np.sin(2 * t), t**3]))
    np.testing.assert_allclose(v, np.column_stack([2 * np.cos(2 * t), 3 * t**2]))
    np.testing.assert_allclose(a, np.column_stack([-4 * np.sin(2 * t), 6 * t]))
    for x, y in zip(native(followed, t), (q, v, a), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-14)


def test_pieces_meet_values_and_derivatives(rng: np.random.Generator) -> None:
    t, (q, v, a) = np.array([0.0, 0.4, 1.0, 1.1]), rng.normal(size=(3, 4, 2))
    s = casadi.SX.sym("t")
    f = casadi.Function("f", [s], Interpolant.hermite(t, q, v, a).at_symbol(s, 2))
    for k, time in enumerate(t):
        for x, y in zip(f(time), (q, v, a), strict=True):
            np.testing.assert_allclose(np.array(x).ravel(), y[k], atol=1e-8)


def test_motions_and_followed_paths_are_references() -> None:
    m = es.load("five_bar")
    q0 = m.assemble([2.0, 1.0])
    motion = m.simulate(q0, [0.0] * 4, np.linspace(0, 0.2, 21), [0.001, 0.0])
    followed = es.as_trajectory(m, motion)
    assert followed.whole
    np.testing.assert_allclose(followed.at(0.1).q, motion.q[10], atol=1e-9)
    path = es.paths.along(es.paths.line([0.05, 0.08, 0], [0.06, 0.09, 0]), es.paths.cycloidal(1.0))
    joints = m.follow(path, part="position", times=np.linspace(0, 1, 21))
    np.testing.assert_allclose(es.as_trajectory(m, joints).at(0.5).v, joints.v[10], atol=1e-9)
    with pytest.raises(es.InputError, match=r"m.follow\(path\)"):
        es.as_trajectory(m, path)


def test_actuated_coordinates_are_completed_with_the_loops() -> None:
    m = es.load("planar_3rrr")
    path = es.paths.joint_path([[0.55, 0.5, 0.6], [0.65, 0.55, 0.7]], es.paths.quintic(1.0))
    followed = es.as_trajectory(m, path)
    assert not followed.whole
    t = np.linspace(0.0, 1.0, 5)
    q, v, a = followed.completed_at(t)
    assert np.abs(m.constraint(q)).max() < 1e-9
    assert np.abs(np.einsum("tij,tj->ti", m.constraint_jacobian(q), v)).max() < 1e-9
    np.testing.assert_allclose(q[:, list(m.actuated_coordinates)], path.position(t), atol=1e-7)
    np.testing.assert_allclose(a[:, list(m.actuated_velocities)], path.acceleration(t), atol=1e-5)


def test_orientations_keep_unit_length_and_the_near_sign() -> None:
    b = es.Builder("ball").body("rod", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
    m = b.joint("ball", "spherical", "ground", "rod").actuate("ball").build()
    t, w = np.linspace(0.0, 4.0, 41), np.array([0.3, 0.9, -0.5])
    q = np.array([integrate(m, m.neutral(), w * s) for s in t])
    q[20:] *= -1  # the other quaternion of the same orientation
    followed = es.as_trajectory(m, (t, q, np.broadcast_to(w, (41, 3)), np.zeros((41, 3))))
    times = np.linspace(0.05, 3.95, 17)
    true = np.array([integrate(m, m.neutral(), w * s) for s in times])
    for made in (followed.at(times), native(followed, times)):
        np.testing.assert_allclose(difference(m, made[0], true), 0, atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(made[0], axis=-1), 1.0, atol=1e-12)
        np.testing.assert_allclose(made[1], np.broadcast_to(w, (17, 3)), atol=1e-9)


BALL = (
    es.Builder("ball")
    .body("rod", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
    .joint("ball", "spherical", "ground", "rod")
)


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("elbow", [0.0], "the motion has 1 coordinates; elbow has 2, of which 2 are of actuated joints"),
        ("elbow", [0.0, np.nan], "not finite"),
        ("elbow", [[0.0, 0.0]], "or a configuration; it is an array of shape"),
        ("elbow", "text", "loaded from .npz or .csv"),
        ("elbow", ([0.0], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]]), "two or more, and increase"),
        ("elbow", ([1.0, 0.0], *np.zeros((3, 2, 2))), "two or more, and increase"),
        ("elbow", ([0.0, 1.0], *np.zeros((3, 3, 2))), "a row of q for each"),
        ("elbow", ([0.0, 1.0], np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2))), r"v of the motion has shape \(2, 3\)"),
        ("elbow", lambda t: [float(t), 0.0], "cannot be called with a symbol"),
        ("elbow", lambda t: casadi.vertcat(t, t, t), "3 coordinates"),
        ("five_bar", [2.0, 0.0, 1.0, 0.0], "violates loop closure of five_bar"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed(name: str, given, sentence: str) -> None:
    with pytest.raises(es.EslabonError, match=sentence):
        es.as_trajectory(es.load(name), given)


def test_quaternions_are_no_joint_path() -> None:
    m = BALL.actuate("ball").build()
    with pytest.raises(es.InputError, match="quaternions"):
        es.as_trajectory(m, es.paths.joint_path(np.eye(4)[:2], es.paths.quintic(1.0)))
    with pytest.raises(es.InputError, match="quaternions"):
        es.as_trajectory(m, lambda t: casadi.vertcat(t, 0, 0, 0))


def test_what_does_not_follow_is_refused() -> None:
    m = es.load("cart_pole")
    with pytest.raises(es.ModelError, match="the others do not follow"):
        es.as_trajectory(m, [0.5]).completed_at(np.zeros(1))
    with pytest.raises(es.ModelError, match="other joints than elbow"):
        es.as_trajectory(es.load("elbow"), es.as_trajectory(m, [0.5]))
