"""Where LAPACK finds no result, or rounds to a singular matrix, there is an answer by another way, or a sentence."""

import warnings

import control
import numpy as np
import pytest

import eslabon as es

C = es.control


def test_a_singular_t_is_a_sentence_and_other_g_are_an_answer():
    """T_ij = G_ij / (a_i - s_j) is (1, 1; 1, 1): singular to the last digit, or almost so, as the LAPACK at hand rounds."""
    A, B, poles = np.diag([1.0, 2.0]), np.eye(2), [-1.0, -2.0]
    with pytest.raises(es.SingularityError, match="singular for this G"):
        C.place((A, B), poles, G=[[2.0, 3.0], [3.0, 4.0]])
    assert C.place((A, B), poles).poles.real == pytest.approx([-1.0, -2.0])


def test_solvers_that_give_up_are_a_sentence(monkeypatch):
    """As with a LAPACK that rounds otherwise: every factorization of T meets a zero pivot."""

    def give_up(*_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "solve", give_up)
    with pytest.raises(es.SingularityError, match="every G that was tried"):
        C.place(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [-1, -2])


def systems(seed):
    """Systems of any sizes of numbers: singular, of rank one, of units that are worlds apart, beyond what can be squared."""
    rng = np.random.default_rng(seed)
    n, m, p = rng.integers(1, 5), rng.integers(1, 3), rng.integers(1, 3)

    def matrix(rows, columns):
        X = rng.normal(size=(rows, columns))
        kinds = (
            X, np.round(X), np.zeros_like(X), X * 10.0 ** rng.integers(-200, 200, (rows, 1)), np.outer(X[:, 0], np.ones(columns)),
            X * 1e160, X * 1e-160,
        )  # fmt: skip
        return kinds[rng.integers(len(kinds))]

    return (
        matrix(n, n),
        matrix(n, m),
        matrix(p, n),
        -rng.uniform(0.5, 3.0, n) * 10.0 ** rng.integers(-2, 3),
    )


@pytest.mark.parametrize("seed", range(30))
def test_every_design_answers_or_says_why_not(seed):
    A, B, out, poles = systems(seed)
    none = np.zeros((len(out), B.shape[1]))
    flowing, stepping = (
        control.ss(A, B, out, none, remove_useless_states=False),
        control.ss(A, B, out, none, 0.1),
    )
    designs = [
        *(
            lambda method=method: C.place((A, B), poles, method=method)
            for method in ("sylvester", "YT", "KNV0")
        ),
        lambda: C.lqr((A, B), 1.0, 1.0),
        lambda: C.lqr((A, B), 1.0, 1.0, discrete=True),
        lambda: C.controllability((A, B)),
        lambda: C.observability((A, out)),
        lambda: C.controllability_gramian((A, B)),
        lambda: C.observability_gramian((A, out), horizon=1.0),
        lambda: C.controllability_gramian(stepping),
        *(lambda s=s: C.kalman(s, 1.0, 1.0) for s in (flowing, stepping)),
        *(lambda s=s: C.luenberger(s, poles).poles for s in (flowing, stepping)),
        lambda: C.luenberger(flowing, poles, period=0.1),
        lambda: C.kalman(flowing, 1.0, 1.0, period=0.1),
        lambda: C.reduced_order(flowing, poles[: max(0, len(A) - len(out))]),
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for design in designs:
            try:
                design()
            except es.EslabonError as error:
                assert str(error).endswith(".")


def test_a_plant_in_steps_that_forgets_a_state_has_observers():
    """A of a delay is singular; the estimate that uses the measurement at once exists all the same."""
    A, B, out = np.array([[0.0, 1.0], [0.0, 0.5]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]])
    plant = control.ss(A, B, out, 0, 1.0)
    for observer in (C.luenberger(plant, [-2.0, -3.0]), C.kalman(plant, 0.1, 0.2)):
        assert observer.stable
        x, z = np.array([1.0, -2.0]), np.zeros(2)
        for _ in range(60):
            y = out @ x
            x_hat = observer.M @ z + observer.N @ y
            np.testing.assert_allclose(x_hat, z + observer.N @ (y - out @ z), atol=1e-12)
            z, x = A @ z + observer.gains @ (y - out @ z), A @ x
        np.testing.assert_allclose(z, x, atol=1e-6)
    gain = C.kalman(plant, 0.1, 0.2)
    np.testing.assert_allclose(
        A @ gain.N, gain.gains, atol=1e-12
    )  # z is what the estimate becomes in a step


def test_errors_are_not_measured_by_a_singular_covariance():
    from eslabon.systems.control.estimates import Estimates

    t, zero = np.arange(3.0), np.zeros((3, 2))
    made = Estimates(
        t, zero, zero, zero, ("a", "b"), ("", ""), "filter", covariance=np.zeros((3, 2, 2))
    )
    with pytest.raises(es.SingularityError, match="singular covariance"):
        _ = made.nees
