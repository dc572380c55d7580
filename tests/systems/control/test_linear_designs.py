"""Pole assignment, regulators, ranks and Gramians of linear systems, against definitions and against python-control."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm
from scipy.optimize import linear_sum_assignment

import eslabon as es
from randomness import seeded

C = es.control
DOUBLE_INTEGRATOR = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])


def apart(found, asked) -> float:
    """The greatest distance between two sets of poles, paired as well as can be."""
    distance = np.abs(np.asarray(found)[:, None] - np.asarray(asked)[None, :])
    return float(distance[linear_sum_assignment(distance)].max())


def random_poles(rng: np.random.Generator, n: int) -> np.ndarray:
    """Distinct ones in the left half-plane, some of them in pairs."""
    pairs = [
        complex(-rng.uniform(0.5, 3), rng.uniform(0.5, 3))
        for _ in range(rng.integers(0, n // 2 + 1))
    ]
    return np.array([*pairs, *np.conj(pairs), *(-rng.uniform(0.5, 3, n - 2 * len(pairs)))])


# -- poles --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sylvester", "minimum_norm"])
@pytest.mark.parametrize(("n", "inputs"), [(2, 1), (4, 1), (4, 2), (6, 3), (12, 6)])
def test_poles_are_those_asked_for(n: int, inputs: int, method: str) -> None:
    rng = seeded(10 * n + inputs)
    for _ in range(3):
        A, B, poles = rng.normal(size=(n, n)), rng.normal(size=(n, inputs)), random_poles(rng, n)
        found = C.place((A, B), poles, method=method)
        assert found.K.shape == (inputs, n)
        assert apart(np.linalg.eigvals(A - B @ found.K), poles) < 1e-6


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_repeated_poles_and_those_of_the_system_itself(inputs: int) -> None:
    rng = seeded(inputs)
    A, B = rng.normal(size=(6, 6)), rng.normal(size=(6, inputs))
    # a pole that repeats r times in one Jordan block is known to the r-th root of round-off
    assert apart(np.linalg.eigvals(A - B @ C.place((A, B), [-1.0] * 6).K), [-1.0] * 6) < 0.05
    pairs = [-1 + 1j, -1 - 1j] * 3
    assert apart(np.linalg.eigvals(A - B @ C.place((A, B), pairs).K), pairs) < 1e-2
    own = np.linalg.eigvals(A)
    assert apart(np.linalg.eigvals(A - B @ C.place((A, B), own).K), own) < 1e-6
    mixed = [*own[:0], *([-2.0] * 4), -3.0, -3.0]
    assert apart(np.linalg.eigvals(A - B @ C.place((A, B), mixed).K), mixed) < 0.05


def test_given_g_solves_sylvesters_equation(rng: np.random.Generator) -> None:
    A, B, G = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
    poles = np.array([-1.0, -2.0, -3.0, -4.0])
    K = C.place((A, B), poles, G=G).K
    # the columns of T are eigenvectors of A - B K, each so long that K T = G
    values, T = np.linalg.eig(A - B @ K)
    T = T[:, [int(np.argmin(abs(values - p))) for p in poles]].real
    T = T * (G / (K @ T))[0]
    np.testing.assert_allclose(A @ T - T @ np.diag(poles), B @ G, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(K @ T, G, rtol=1e-6)


def test_one_input_has_one_answer(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 1))
    from scipy.signal import place_poles

    poles = [-1, -2, -3, -4]
    expected = place_poles(A, B, poles).gain_matrix
    for method in ("sylvester", "minimum_norm"):
        np.testing.assert_allclose(C.place((A, B), poles, method=method).K, expected, rtol=1e-6)


def test_least_gains_of_a_driven_pair_are_those_of_a_normal_matrix() -> None:
    """With A = 0 and B = 1 the gains have the opposite poles, and the Frobenius norm of a matrix is at least that of its
    eigenvalues, which normal matrices have (Schur's inequality)."""
    for poles in ([-1.0, -2.0], [-1 + 2j, -1 - 2j], [-3.0, -1 + 1j, -1 - 1j]):
        n = len(poles)
        found = C.place((np.zeros((n, n)), np.eye(n)), poles, method="minimum_norm")
        assert apart(found.poles, poles) < 1e-7
        least = np.linalg.norm(poles)
        assert np.linalg.norm(found.K) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize(("n", "inputs"), [(4, 2), (6, 3), (12, 6)])
def test_minimum_norm_gains_are_stationary_and_less_than_others(n: int, inputs: int) -> None:
    from scipy.signal import place_poles

    rng = seeded("minimum norm", n)
    A, B, poles = rng.normal(size=(n, n)), rng.normal(size=(n, inputs)), random_poles(rng, n)
    found = C.place((A, B), poles, method="minimum_norm")
    size = np.linalg.norm(found.K)
    others = [C.place((A, B), poles).K, place_poles(A, B, poles).gain_matrix]
    assert all(size < np.linalg.norm(K) for K in others)


def test_no_gains_near_those_of_least_norm_are_smaller() -> None:
    """Nearby eigenvectors, which give nearby gains with the same poles, give larger ones."""
    rng = seeded("least gains nearby")
    A, B, poles = (
        rng.normal(size=(4, 4)),
        rng.normal(size=(4, 2)),
        np.array([-1.0, -2.0, -3.0, -4.0]),
    )
    K = C.place((A, B), poles, method="minimum_norm").K
    values, T = np.linalg.eig(A - B @ K)
    for _ in range(20):
        G = K @ T.real + 1e-3 * rng.normal(size=K.shape)
        columns = [
            np.linalg.solve(A - s.real * np.eye(4), B @ g) for s, g in zip(values, G.T, strict=True)
        ]
        other = G @ np.linalg.inv(np.array(columns).T)
        assert apart(np.linalg.eigvals(A - B @ other), poles) < 1e-6
        assert np.linalg.norm(other) > np.linalg.norm(K) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("poles", "sentence"),
    [
        ([-1.0], "1 poles are asked for; the system has 2 states"),
        ([-1 + 1j, -2], r"s = -1\+1i has no conjugate"),
        ([-1 - 1j, -1 - 1j], "s = -1-1i has no conjugate"),
        ([-1.0, np.nan], "not finite"),
        (["a", "b"], "poles are numbers"),
    ],
)
def test_poles_that_no_real_system_has(poles, sentence: str) -> None:
    with pytest.raises(es.InputError, match=sentence):
        C.place(DOUBLE_INTEGRATOR, poles)


def test_modes_that_no_input_moves_are_named() -> None:
    A, B = np.diag([-1.0, -2.0, 3.0]), np.array([[1.0], [1.0], [0.0]])
    with pytest.raises(
        es.SingularityError, match=r"s = 3 \(of x3\): the inputs u1 do not act on it"
    ):
        C.place((A, B), [-1, -2, -3])
    close = (
        np.diag(np.linspace(1, 2, 14)),
        np.ones((14, 1)),
    )  # so badly conditioned that nothing can be done
    with pytest.raises(
        es.SingularityError, match=r"cannot be placed|T is singular|no feedback moves"
    ):
        C.place(close, -np.linspace(1, 1.001, 14))


@pytest.mark.parametrize(
    ("system", "sentence"),
    [
        (np.eye(2), "a linear system is what m.linearize gives"),
        ((np.eye(2),) * 5, "5 arrays were given"),
        ((np.ones((2, 3)), np.ones((2, 1))), "A is a square matrix"),
        ((np.eye(2), np.ones((3, 1))), r"B has shape \(3, 1\)"),
        ((np.eye(2), np.ones((2, 0))), "has no inputs"),
        ((np.zeros((0, 0)), np.zeros((0, 1))), "at least one state"),
        ((np.full((2, 2), np.nan), np.ones((2, 1))), "not finite"),
        ((np.ones((3, 2, 2)), np.ones((3, 2, 1))), "take one of them, such as"),
        ("text", "a linear system is"),
    ],
)
def test_what_is_no_system(system, sentence: str) -> None:
    for design in (lambda s: C.place(s, [-1, -2]), lambda s: C.lqr(s, 1.0, 1.0), C.controllability):
        with pytest.raises(es.InputError, match=sentence):
            design(system)


def test_wrong_options_of_place() -> None:
    with pytest.raises(es.ModelError, match="method is 'sylvester'"):
        C.place(DOUBLE_INTEGRATOR, [-1, -2], method="ackermann")
    with pytest.raises(es.InputError, match="G has shape"):
        C.place(DOUBLE_INTEGRATOR, [-1, -2], G=[1.0, 1.0])
    with pytest.raises(es.SingularityError, match="singular for this G"):
        C.place((np.diag([1.0, 2.0]), np.eye(2)), [-1, -2], G=np.zeros((2, 2)))


# -- regulators -----------------------------------------------------------------------------------------------------------


def spent(A, B, K, Q, R, x0) -> float:
    """The cost of u = -K x from x0, by its Lyapunov equation."""
    from scipy.linalg import solve_continuous_lyapunov

    S = solve_continuous_lyapunov((A - B @ K).T, -(Q + K.T @ R @ K))
    return float(x0 @ S @ x0)


def test_no_other_gains_cost_less(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    Q, R = np.diag([1.0, 2.0, 3.0, 0.0]), np.array([[1.0, 0.2], [0.2, 2.0]])
    found = C.lqr((A, B), Q, R)
    x0 = rng.normal(size=4)
    least = spent(A, B, found.K, Q, R, x0)
    assert least == pytest.approx(x0 @ found.S @ x0, rel=1e-8)
    for _ in range(20):
        other = found.K + 0.05 * rng.normal(size=found.K.shape)
        if np.linalg.eigvals(A - B @ other).real.max() < 0:
            assert spent(A, B, other, Q, R, x0) > least


def test_regulators_agree_with_python_control(rng: np.random.Generator) -> None:
    import control

    A, B, N = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), 0.1 * rng.normal(size=(3, 2))
    K, S, _ = control.lqr(A, B, np.eye(3), np.eye(2), N)
    mine = C.lqr((A, B), 1.0, 1.0, N=N)
    np.testing.assert_allclose(mine.K, K, rtol=1e-8)
    np.testing.assert_allclose(mine.S, S, rtol=1e-8)
    K, S, _ = control.dlqr(A, B, np.eye(3), np.eye(2))
    mine = C.lqr(control.ss(A, B, np.eye(3), 0, 0.1), 1.0, 1.0, discrete=True)
    np.testing.assert_allclose(mine.K, K, rtol=1e-8)
    assert np.abs(mine.poles).max() < 1


def test_regulators_that_cannot_be() -> None:
    A, B = np.diag([1.0, -1.0]), np.array([[0.0], [1.0]])
    with pytest.raises(
        es.SingularityError, match=r"no gains stabilize the mode at s = 1 \(of x1\)"
    ):
        C.lqr((A, B), 1.0, 1.0)
    with pytest.raises(es.SingularityError, match="costs nothing in Q"):
        C.lqr(DOUBLE_INTEGRATOR, 0.0, 1.0)
    for Q, R, sentence in [
        (-1.0, 1.0, "Q is not positive semidefinite"),
        (1.0, 0.0, "R is not positive definite"),
        ([[1.0, 1.0], [0.0, 1.0]], 1.0, "Q is not symmetric"),
        (np.ones(3), 1.0, "Q is a number, 2 of them"),
    ]:
        with pytest.raises(es.InputError, match=sentence):
            C.lqr(DOUBLE_INTEGRATOR, Q, R)
    with pytest.raises(es.InputError, match="N has shape"):
        C.lqr(DOUBLE_INTEGRATOR, 1.0, 1.0, N=[1.0])


def test_a_long_horizon_tends_to_the_stationary_regulator(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    stationary, t = C.lqr((A, B), 1.0, 1.0), np.linspace(0.0, 30.0, 31)
    found = C.finite_horizon_lqr(t, A, B, 1.0, 1.0)
    np.testing.assert_allclose(found.K[0], stationary.K, rtol=1e-5, atol=1e-6)
    assert np.abs(found.S[-1]).max() < 1e-12
    same = C.finite_horizon_lqr(t, np.broadcast_to(A, (31, 4, 4)), B, 1.0, 1.0, end=stationary.S)
    np.testing.assert_allclose(
        same.S, np.broadcast_to(stationary.S, (31, 4, 4)), rtol=1e-6, atol=1e-7
    )


def test_cost_to_come_of_a_varying_system() -> None:
    """x^T S(0) x is what the closed loop costs along its own trajectory."""
    from scipy.integrate import solve_ivp
    from scipy.interpolate import CubicSpline

    t = np.linspace(0.0, 2.0, 81)
    A = np.array([[[0.0, 1.0], [-1.0 - np.sin(s), 0.1 * s]] for s in t])
    B = np.array([[[0.0], [1.0 + 0.5 * np.cos(s)]] for s in t])
    found = C.finite_horizon_lqr(t, A, B, [2.0, 1.0], 0.5, end=[3.0, 1.0])
    at_A, at_B, at_K = (CubicSpline(t, x) for x in (A, B, found.K))

    def rate(s: float, y: np.ndarray) -> np.ndarray:
        u = -at_K(s) @ y[:2]
        return np.array(
            [*(at_A(s) @ y[:2] + at_B(s) @ u), y[:2] @ np.diag([2.0, 1.0]) @ y[:2] + 0.5 * u @ u]
        )

    x0 = np.array([1.0, -0.5])
    end = solve_ivp(rate, (0, 2), [*x0, 0.0], rtol=1e-9, atol=1e-11).y[:, -1]
    assert end[2] + end[:2] @ np.diag([3.0, 1.0]) @ end[:2] == pytest.approx(
        x0 @ found.S[0] @ x0, rel=1e-5
    )


def test_horizons_that_cannot_be() -> None:
    A, B = DOUBLE_INTEGRATOR
    with pytest.raises(es.InputError, match="t are two times or more"):
        C.finite_horizon_lqr([0.0], A, B, 1.0, 1.0)
    with pytest.raises(es.InputError, match="A has shape"):
        C.finite_horizon_lqr([0.0, 1.0], np.ones((3, 2, 2)), B, 1.0, 1.0)


# -- ranks ----------------------------------------------------------------------------------------------------------------


def test_ranks_by_a_change_of_coordinates(rng: np.random.Generator) -> None:
    """A system with a part that inputs do not reach keeps it in any coordinates, and in any units."""
    A = np.block(
        [
            [rng.normal(size=(3, 3)), rng.normal(size=(3, 2))],
            [np.zeros((2, 3)), np.diag([-0.5, 0.3])],
        ]
    )
    B = np.vstack([rng.normal(size=(3, 1)), np.zeros((2, 1))])
    T = np.array([1.0, 1e3, 1e-3, 10.0, 1.0])[:, None] * rng.normal(size=(5, 5))
    back = np.linalg.inv(T)
    found = C.controllability((T @ A @ back, T @ B))
    assert not found.full
    assert found.rank == 3
    assert apart([mode.pole for mode in found.lost_modes], [-0.5, 0.3]) < 1e-6
    dual = C.observability(((T @ A @ back).T, (T @ B).T))
    assert dual.rank == 3
    assert "not completely observable: rank 3 of 5" in repr(dual)
    whole = C.controllability((A, rng.normal(size=(5, 1))))
    assert whole.full
    assert not whole.doubtful
    assert "completely controllable: rank 5 of 5" in repr(whole)


def test_a_doubtful_rank_is_said_to_be() -> None:
    A, B = np.diag([-1.0, -2.0]), np.array([[1.0], [1e-9]])
    found = C.controllability((A, B))
    assert found.doubtful
    assert "numerically doubtful" in repr(found)
    assert not C.controllability((A, np.array([[1.0], [1e-3]]))).doubtful


def test_repeated_poles_count_once_for_each_direction_lost() -> None:
    A, B = np.zeros((4, 4)), np.zeros((4, 1))
    A[0, 2] = A[1, 3] = 1.0
    B[3] = 1.0
    found = C.controllability((A, B))
    assert found.rank == 2
    assert [mode.lost for mode in found.modes] == [1]  # one chain of two: PBH sees its end
    assert found.modes[0].multiplicity == 4
    assert found.modes[0].states == "x3"


# -- Gramians -------------------------------------------------------------------------------------------------------------


def test_gramians_are_their_integrals(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    integral = quad_vec(lambda t: expm(A * t) @ B @ B.T @ expm(A.T * t), 0.0, 1.5)[0]
    np.testing.assert_allclose(C.controllability_gramian((A, B), horizon=1.5), integral, rtol=1e-7)
    stable = A - 4 * np.eye(3)
    W = C.controllability_gramian((stable, B))
    np.testing.assert_allclose(stable @ W + W @ stable.T, -B @ B.T, atol=1e-10)
    np.testing.assert_allclose(
        C.controllability_gramian((stable, B), horizon=40.0), W, rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(C.observability_gramian((stable.T, B.T)), W, rtol=1e-9)
    with pytest.raises(es.InputError, match=r"the pole at s = .* does not decay; give a horizon"):
        C.controllability_gramian(DOUBLE_INTEGRATOR)
    with pytest.raises(es.InputError, match="horizon is a number greater than zero"):
        C.controllability_gramian(DOUBLE_INTEGRATOR, horizon=0.0)
