"""Quaternions obey their algebra, turn vectors as matrices do, and agree with SciPy; batches and symbols alike."""

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation, Slerp

import eslabon.numerics as al
from batches import each
from eslabon.errors import RotationError
from eslabon.numerics.quaternions import unit_axis
from randomness import examples, seeded

NEAR = {"rel": 0, "abs": 4e-15}  # a handful of last bits on numbers of order one


def unit(rng, n, size=4):
    q = rng.normal(size=(n, size))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def scipy_rotation(q):
    return Rotation.from_quat(q, scalar_first=True)


components = st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda v: round(v, 6))
quaternion = st.lists(components, min_size=4, max_size=4).map(np.array)


@examples(100)
@given(quaternion, quaternion, quaternion)
def test_products_associate_distribute_and_multiply_norms(p, q, r):
    scale = 1e-14 * (1 + np.prod([al.quaternion_norm(x) for x in (p, q, r)]))
    both = al.quaternion_product(p, al.quaternion_product(q, r))
    assert al.quaternion_product(al.quaternion_product(p, q), r) == pytest.approx(
        both, rel=0, abs=scale
    )
    spread = al.quaternion_sum(al.quaternion_product(p, q), al.quaternion_product(p, r))
    size = 1e-14 * (1 + al.quaternion_norm(p) * (al.quaternion_norm(q) + al.quaternion_norm(r)))
    assert al.quaternion_product(p, al.quaternion_sum(q, r)) == pytest.approx(
        spread, rel=0, abs=size
    )
    product = al.quaternion_norm(p) * al.quaternion_norm(q)
    assert al.quaternion_norm(al.quaternion_product(p, q)) == pytest.approx(
        product, rel=1e-13, abs=1e-14
    )


def test_hamiltons_units():
    one, i, j, k = np.eye(4)
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        assert al.quaternion_product(a, b).tolist() == c.tolist()
        assert al.quaternion_product(b, a).tolist() == (-c).tolist()
        assert al.quaternion_product(a, a).tolist() == (-one).tolist()


def test_embeddings_and_their_inverses(rng):
    v = rng.normal(size=(6, 3))
    assert al.vector_part(al.quaternion_from_vector(v)).tolist() == v.tolist()
    assert np.all(al.scalar_part(al.quaternion_from_vector(v)) == 0)
    assert al.scalar_part(al.quaternion_from_scalar(v[:, 0])).tolist() == v[:, 0].tolist()
    assert np.all(al.vector_part(al.quaternion_from_scalar(2)) == 0)
    q = rng.normal(size=4)
    doubled = al.quaternion_product(al.quaternion_from_scalar(2), q)
    assert doubled.tolist() == (2 * q).tolist()


def test_inverse_and_conjugate(rng):
    q = rng.normal(size=(50, 4))
    assert al.quaternion_product(q, al.quaternion_inverse(q)) == pytest.approx(
        np.eye(4)[[0] * 50], **NEAR
    )
    square = al.quaternion_product(q, al.quaternion_conjugate(q))
    assert square[:, 0] == pytest.approx(al.quaternion_norm(q) ** 2, rel=1e-14)
    assert np.abs(square[:, 1:]).max() < 1e-14
    assert al.quaternion_norm(al.quaternion_normalize(q)) == pytest.approx(np.ones(50), **NEAR)
    assert al.quaternion_inverse([0, 0, 1e-200, 0])[2] == pytest.approx(-1e200, rel=1e-15)


def test_rotation_of_vectors_agrees_with_scipy_and_ignores_length(rng):
    q, v = unit(rng, 2000), rng.normal(size=(2000, 3))
    expected = scipy_rotation(q).apply(v)
    assert al.quaternion_rotate(q, v) == pytest.approx(expected, rel=0, abs=1e-14)
    assert al.quaternion_rotate(-7.5 * q, v) == pytest.approx(expected, rel=0, abs=1e-14)


def test_product_does_the_right_factor_first(rng):
    p, q, v = unit(rng, 100), unit(rng, 100), rng.normal(size=(100, 3))
    one_by_one = al.quaternion_rotate(p, al.quaternion_rotate(q, v))
    assert al.quaternion_rotate(al.quaternion_product(p, q), v) == pytest.approx(
        one_by_one, rel=0, abs=1e-14
    )


def test_quaternion_about_an_axis(rng):
    axis, angle = 3 * unit(rng, 500, 3), rng.uniform(-7, 7, 500)
    e = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    expected = Rotation.from_rotvec(e * angle[:, None])
    q = al.quaternion_about(axis, angle)
    assert (scipy_rotation(q) * expected.inv()).magnitude() == pytest.approx(np.zeros(500), **NEAR)
    assert q[:, 0] == pytest.approx(np.cos(angle / 2), **NEAR)  # not moved to the other cover
    assert al.quaternion_about([0, 1, 0], np.pi).tolist() == [0, 0, 1, 0]


ANGLES = [
    0.0,
    1e-200,
    1e-12,
    1e-9,
    1e-5,
    0.02,
    0.19,
    0.21,
    1.0,
    np.pi / 2,
    3.0,
    np.pi - 1e-5,
    np.pi - 1e-9,
    np.pi,
]


@each("angle", ANGLES)
def test_exp_and_log_are_exact_from_no_turn_to_half_a_turn(angle, rng):
    for e in unit(rng, 20, 3):
        v = e * angle / 2
        q = al.quaternion_exp(v)
        assert al.quaternion_norm(q) == pytest.approx(1, **NEAR)
        assert q == pytest.approx(
            [np.cos(angle / 2), *(e * np.sin(angle / 2))], rel=1e-14, abs=4e-16 * angle
        )
        # Relative: a tiny angle keeps all its digits. At half a turn rounding may choose the other sign.
        sign = np.sign(al.quaternion_log(q) @ v) if angle > 3.14159265 else 1.0
        assert sign * al.quaternion_log(q) == pytest.approx(v, rel=1e-14, abs=2e-16 * angle)
        assert (
            al.quaternion_log(-3.0 * q) == pytest.approx(al.quaternion_log(q), rel=1e-14)
            or angle > 3.14159265
        )
        assert al.rotation_vector_from_quaternion(q) == pytest.approx(
            2 * al.quaternion_log(q), rel=1e-15
        )
        assert al.quaternion_from_rotation_vector(2 * v) == pytest.approx(q, rel=1e-15, abs=1e-17)


def test_log_at_half_a_turn_keeps_the_sign_of_the_axis(rng):
    e = unit(rng, 20, 3)
    half = np.concatenate([np.zeros((20, 1)), e], axis=-1)
    assert al.quaternion_log(half) == pytest.approx(e * np.pi / 2, **NEAR)


@each("angle", ANGLES)
def test_axis_and_angle_keep_their_digits(angle, rng):
    for e in unit(rng, 20, 3):
        q = al.quaternion_about(e, angle)
        *axis, found = al.axis_angle_from_quaternion(q)
        assert found == pytest.approx(angle, rel=4e-16)
        assert axis == pytest.approx(e if angle else [0, 0, 1], **NEAR)
        assert al.quaternion_from_axis_angle([*e, angle]).tolist() == q.tolist()


def test_axis_angle_is_the_shortest_turn():
    assert al.axis_angle_from_quaternion(al.quaternion_about([0, 0, 1], 5.0)) == pytest.approx(
        [0, 0, -1, 2 * np.pi - 5.0], **NEAR
    )
    assert al.axis_angle_from_quaternion([-1, 0, 0, 0]).tolist() == [0, 0, 1, 0]


@each("angle", [0.0, 1e-9, 0.3, np.pi / 2, 2.0, np.pi - 1e-5, np.pi - 1e-9])
def test_rodrigues_parameters_and_invariants_keep_the_digits(angle, rng):
    for e in unit(rng, 20, 3):
        q = al.quaternion_about(e, angle)
        p, invariants = al.rodrigues_from_quaternion(q), al.invariants_from_quaternion(q)
        assert p == pytest.approx(e * np.sin(angle / 2) / np.cos(angle / 2), rel=1e-14)
        # Absolute in the cosine, relative in the sine: so is the axis kept near half a turn.
        assert invariants[0] == pytest.approx(np.cos(angle), **NEAR)
        assert invariants[1:] == pytest.approx(
            e * 2 * np.sin(angle / 2) * np.cos(angle / 2), rel=1e-14
        )
        assert al.quaternion_from_rodrigues(p) == pytest.approx(q, **NEAR)
        assert al.quaternion_from_invariants(invariants) == pytest.approx(q, **NEAR)


def test_huge_rodrigues_parameters_do_not_overflow():
    assert al.quaternion_from_rodrigues([0, 1e300, 0]).tolist() == [1e-300, 0, 1, 0]


def test_slightly_rough_invariants_still_give_a_unit_quaternion():
    q = al.quaternion_from_invariants(np.array([np.cos(2.0), 0, np.sin(2.0), 0]) * (1 + 5e-7))
    assert al.quaternion_norm(q) == pytest.approx(1, **NEAR)


def test_slerp_agrees_with_scipy_and_goes_the_short_way(rng):
    for p, q in zip(unit(rng, 30), unit(rng, 30), strict=True):
        t = np.linspace(0, 1, 7)
        expected = Slerp([0, 1], scipy_rotation(np.array([p, q])))(t)
        way = al.slerp(p, q, t)
        assert (scipy_rotation(way) * expected.inv()).magnitude() == pytest.approx(
            np.zeros(7), abs=1e-14
        )
        assert way[0] == pytest.approx(p, **NEAR)
        assert way[-1] == pytest.approx(q * np.sign(p @ q), **NEAR)
    assert al.slerp(p, p, 0.3) == pytest.approx(p, **NEAR)


def test_rates_and_body_rates_undo_each_other(rng):
    q, w = unit(rng, 100), rng.normal(size=(100, 3))
    rate = al.quaternion_rate(q, w)
    assert np.abs((q * rate).sum(axis=-1)).max() < 1e-15  # the norm does not change
    assert al.body_rates(q, rate) == pytest.approx(w, rel=0, abs=1e-14)
    assert al.body_rates(3 * q, 3 * rate) == pytest.approx(
        w, rel=0, abs=1e-14
    )  # nor does drift matter


def test_a_constant_body_rate_integrates_to_the_exponential_on_the_right(rng):
    q0, w = unit(rng, 1)[0], np.array([0.3, -1.1, 0.7])
    end = solve_ivp(lambda _, q: al.quaternion_rate(q, w), (0, 2), q0, rtol=1e-12, atol=1e-13).y[
        :, -1
    ]
    assert end == pytest.approx(
        al.quaternion_product(q0, al.quaternion_exp(w)), abs=1e-10
    )  # the integrator's accuracy


# --- errors ----------------------------------------------------------------------------------------------------------


@each(
    "function",
    [
        al.quaternion_inverse,
        al.quaternion_normalize,
        al.quaternion_log,
        al.axis_angle_from_quaternion,
        al.rotation_vector_from_quaternion,
        al.rodrigues_from_quaternion,
        al.invariants_from_quaternion,
        al.rotation_from_quaternion,
        lambda q: al.quaternion_rotate(q, [1, 0, 0]),
        lambda q: al.body_rates(q, [1, 0, 0, 0]),
        lambda q: al.slerp(q, [1, 0, 0, 0], 0.5),
        lambda q: al.slerp([1, 0, 0, 0], q, 0.5),
    ],
)
@each("bad", [0.0, np.nan, np.inf])
def test_a_quaternion_without_direction_is_refused(function, bad):
    with pytest.raises(
        RotationError,
        match=rf"stands for no rotation, for its norm is {bad}; the identity is \(1, 0",
    ):
        function([bad, bad, 0.0, 0.0])


def test_the_error_names_the_member_of_the_batch():
    with pytest.raises(
        RotationError, match=r"^the quaternion at index \(2,\) of the batch stands for no rotation"
    ):
        al.quaternion_normalize([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]])


@each(
    "function",
    [
        unit_axis,
        lambda e: al.quaternion_about(e, 1),
        lambda e: al.quaternion_from_axis_angle([*e, 1]),
    ],
)
@each("bad", [0.0, np.nan, np.inf])
def test_an_axis_without_direction_is_refused(function, bad):
    with pytest.raises(
        RotationError,
        match=rf"this axis has no direction, for its length is {bad}; give a finite, non",
    ):
        function([0.0, bad, 0.0])


@each("q", [[0, 0, 1, 0], [1e-16, 0.6, 0, 0.8], [0, -5, 0, 0]])
def test_rodrigues_parameters_of_half_a_turn_are_refused_with_a_cure(q):
    with pytest.raises(
        RotationError,
        match="half a turn, for which Rodrigues parameters do not exist; use a quaternion",
    ):
        al.rodrigues_from_quaternion(q)


def test_rodrigues_parameters_must_be_finite():
    with pytest.raises(
        RotationError,
        match="this triple of Rodrigues parameters is not finite; give a half turn as a",
    ):
        al.quaternion_from_rodrigues([np.inf, 0, 0])


@each("function", [al.quaternion_from_invariants, al.rotation_from_invariants])
def test_invariants_that_are_none_or_lost_their_axis_are_refused(function):
    with pytest.raises(
        RotationError,
        match=r"does not satisfy λ0² \+ \|λ\|² = 1, for the root of the left side is 2\.0",
    ):
        function([0, 2, 0, 0])
    with pytest.raises(RotationError, match="left side is nan"):
        function([np.nan, 0, 0, 0])
    with pytest.raises(RotationError, match="left side is 0"):
        function([0, 0, 0, 0])
    for sine in (0.0, 1e-16, -9e-11):
        with pytest.raises(
            RotationError, match="half a turn, where they lose the axis; use a quaternion, axis and"
        ):
            function([-1.0, 0.0, sine, 0.0])


# --- batches and symbols ---------------------------------------------------------------------------------------------

UNIT_INVARIANTS = al.invariants_from_quaternion(unit(seeded("invariants"), 12)).reshape(4, 3, 4)
Q, P = seeded("Q, P").normal(size=(2, 4, 3, 4))
V, W = seeded("V").normal(size=(4, 3, 3)), seeded("W").normal(size=(4, 3))
CASES = [
    (al.quaternion_from_scalar, (W,)),
    (al.quaternion_from_vector, (V,)),
    (al.scalar_part, (Q,)),
    (al.vector_part, (Q,)),
    (al.quaternion_sum, (P, Q)),
    (al.quaternion_product, (P, Q)),
    (al.quaternion_conjugate, (Q,)),
    (al.quaternion_norm, (Q,)),
    (al.quaternion_inverse, (Q,)),
    (al.quaternion_normalize, (Q,)),
    (al.quaternion_rotate, (Q, V)),
    (al.quaternion_exp, (V,)),
    (al.quaternion_exp, (1e-3 * V,)),
    (al.quaternion_log, (Q,)),
    (al.quaternion_log, (Q + 9 * np.eye(4)[0],)),
    (al.slerp, (P, Q, W)),
    (al.quaternion_rate, (Q, V)),
    (al.body_rates, (Q, P)),
    (al.quaternion_about, (V, W)),
    (al.quaternion_from_axis_angle, (Q,)),
    (al.axis_angle_from_quaternion, (Q,)),
    (al.quaternion_from_rotation_vector, (V,)),
    (al.rotation_vector_from_quaternion, (Q,)),
    (al.quaternion_from_rodrigues, (V,)),
    (al.rodrigues_from_quaternion, (Q,)),
    (al.invariants_from_quaternion, (Q,)),
    (al.quaternion_from_invariants, (UNIT_INVARIANTS,)),
]
IDS = [f.__name__ for f, _ in CASES]


@each(("function", "arguments"), CASES)
def test_a_batch_equals_its_single_calls(function, arguments):
    batch = function(*arguments)
    for i in np.ndindex(4, 3):
        single = function(*(a[i] for a in arguments))
        assert batch[i] == pytest.approx(single, rel=2e-15, abs=1e-16)


@each(("function", "arguments"), [c for c in CASES if len(c[1]) > 1])
def test_leading_axes_broadcast(function, arguments):
    first, *others = arguments
    outer = function(first[:, :1], *(a[:1] for a in others))
    for i, j in np.ndindex(4, 3):
        assert outer[i, j] == pytest.approx(
            function(first[i, 0], *(a[0, j] for a in others)), rel=2e-15, abs=1e-16
        )


@each(("function", "arguments"), CASES)
def test_symbols_give_the_same_numbers(function, arguments):
    symbols = [casadi.SX.sym(f"s{i}", *(a.shape[2:] or (1,))) for i, a in enumerate(arguments)]
    compiled = casadi.Function("f", symbols, [casadi.densify(function(*symbols))])
    for i in np.ndindex(4, 3):
        expected = np.atleast_1d(function(*(a[i] for a in arguments)))
        assert np.array(compiled(*(a[i] for a in arguments)))[:, 0] == pytest.approx(
            expected, rel=1e-14, abs=1e-15
        )


def test_exp_and_log_have_exact_derivatives_at_no_turn():
    v, q = casadi.SX.sym("v", 3), casadi.SX.sym("q", 4)
    exp = casadi.Function("f", [v], [casadi.jacobian(al.quaternion_exp(v), v)])
    log = casadi.Function("f", [q], [casadi.jacobian(al.quaternion_log(q), q)])
    rows = np.vstack([np.zeros(3), np.eye(3)])
    assert np.array(exp([0, 0, 0])).tolist() == rows.tolist()
    assert np.array(log([1, 0, 0, 0])).tolist() == rows.T.tolist()


def test_symbols_are_not_judged():
    q = casadi.SX.sym("q", 4)
    f = casadi.Function("f", [q], [al.rodrigues_from_quaternion(q)])
    assert np.isinf(np.array(f([0, 1, 0, 0]))).any()
