"""Rigid motions: the group and its algebra, power the same in every frame, exp and log against SciPy's."""

import casadi
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.linalg import expm, logm

import eslabon.numerics as al
from batches import each
from eslabon.errors import RotationError
from randomness import examples, seeded

PI = np.pi
LAST_BITS = 4e-15  # on numbers of order one, after a few products


def random_pose(rng, *batch):
    return al.pose(
        al.rotation_from_quaternion(rng.normal(size=(*batch, 4))), rng.normal(size=(*batch, 3))
    )


def unit(rng, n):
    e = rng.normal(size=(n, 3))
    return e / np.linalg.norm(e, axis=-1, keepdims=True)


# --- poses -----------------------------------------------------------------------------------------------------------


def test_a_pose_is_its_rotation_and_position():
    r, p = al.rotation_from_rpy([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    t = al.pose(r, p)
    assert al.rotation_of(t).tolist() == r.tolist()
    assert al.position_of(t).tolist() == p.tolist()
    assert t[3].tolist() == [0, 0, 0, 1]


def test_inverse_and_composition(rng):
    a, b, c = random_pose(rng, 3)
    assert al.compose(a, al.pose_inverse(a)) == pytest.approx(np.eye(4), abs=LAST_BITS)
    assert al.pose_inverse(a) == pytest.approx(np.linalg.inv(a), abs=LAST_BITS)
    assert al.compose(a, b, c) == pytest.approx(a @ b @ c, abs=1e-16)
    assert al.compose(a).tolist() == a.tolist()
    backwards = al.compose(al.pose_inverse(b), al.pose_inverse(a))
    assert al.pose_inverse(al.compose(a, b)) == pytest.approx(backwards, abs=LAST_BITS)


def test_hat_is_the_vector_product_and_vee_undoes_it(rng):
    a, b = rng.normal(size=(2, 3))
    assert al.hat(a) @ b == pytest.approx(np.cross(a, b), abs=1e-15)
    assert al.vee(al.hat(a)).tolist() == a.tolist()
    twist = rng.normal(size=6)
    assert al.vee6(al.hat6(twist)).tolist() == twist.tolist()
    assert al.hat6(twist)[:3, :3].tolist() == al.hat(twist[:3]).tolist()
    assert al.hat6(twist)[:3, 3].tolist() == twist[3:].tolist()


# --- operators -------------------------------------------------------------------------------------------------------


def test_adjoint_conjugates_twists_and_is_a_homomorphism(rng):
    a, b = random_pose(rng, 2)
    twist = rng.normal(size=6)
    conjugate = a @ al.hat6(twist) @ np.linalg.inv(a)
    assert al.hat6(al.adjoint(a) @ twist) == pytest.approx(conjugate, abs=LAST_BITS)
    assert al.adjoint(a @ b) == pytest.approx(al.adjoint(a) @ al.adjoint(b), abs=LAST_BITS)
    assert al.adjoint(al.pose_inverse(a)) == pytest.approx(
        np.linalg.inv(al.adjoint(a)), abs=LAST_BITS
    )
    assert al.adjoint(a)[3:, :3] == pytest.approx(al.hat(a[:3, 3]) @ a[:3, :3], abs=1e-16)


def test_power_is_the_same_in_every_frame(rng):
    t, twist, wrench = random_pose(rng), rng.normal(size=6), rng.normal(size=6)
    power = (al.adjoint(t) @ twist) @ (al.coadjoint(t) @ wrench)
    assert power == pytest.approx(twist @ wrench, abs=LAST_BITS)
    assert al.coadjoint(t) == pytest.approx(np.linalg.inv(al.adjoint(t)).T, abs=LAST_BITS)


def test_a_force_has_its_moment_about_the_other_origin():
    r, force = np.array([1.0, 2.0, 3.0]), np.array([4.0, -1.0, 0.5])
    moved = al.coadjoint(al.pose(np.eye(3), r)) @ [0, 0, 0, *force]
    assert moved.tolist() == [*np.cross(r, force), *force]


def test_brackets(rng):
    a, b, c = rng.normal(size=(3, 6))
    commutator = al.hat6(a) @ al.hat6(b) - al.hat6(b) @ al.hat6(a)
    assert al.hat6(al.bracket(a) @ b) == pytest.approx(commutator, abs=1e-15)
    assert al.bracket(a) @ b == pytest.approx(-al.bracket(b) @ a, abs=1e-15)
    assert al.bracket(a) @ a == pytest.approx(np.zeros(6), abs=1e-15)
    assert al.cobracket(a).tolist() == (0 - al.bracket(a).T).tolist()
    jacobi = sum(al.bracket(x) @ al.bracket(y) @ z for x, y, z in ((a, b, c), (b, c, a), (c, a, b)))
    assert jacobi == pytest.approx(np.zeros(6), abs=2e-14)
    assert expm(al.bracket(a)) == pytest.approx(al.adjoint(al.motion_exp(a)), abs=1e-13)


def test_the_adjoint_of_a_moving_pose_changes_by_the_bracket(rng):
    t0, twist, x = random_pose(rng), rng.normal(size=6), casadi.SX.sym("x")
    moving = al.adjoint(al.compose(t0, al.motion_exp(casadi.SX(twist) * x)))
    rate = casadi.Function("f", [x], [casadi.jacobian(moving, x)])(0)
    expected = al.adjoint(t0) @ al.bracket(twist)  # Yime, eq. 13
    assert np.array(casadi.reshape(rate, 6, 6)) == pytest.approx(expected, abs=1e-14)


# --- exponential and logarithm ---------------------------------------------------------------------------------------


def extended_exp(m):
    """The exponential series in extended precision, where its cancellation costs nothing that counts."""
    term = total = np.eye(4, dtype=np.longdouble)
    for k in range(1, 80):
        term = term @ m.astype(np.longdouble) / k
        total = total + term
    return total.astype(float)


def test_exp_agrees_with_the_matrix_exponential(rng):
    for twist in rng.normal(size=(200, 6)):
        assert al.motion_exp(twist) == pytest.approx(
            expm(al.hat6(twist)), rel=0, abs=1e-13
        )  # SciPy's own accuracy
        assert al.motion_exp(twist) == pytest.approx(
            extended_exp(al.hat6(twist)), rel=0, abs=LAST_BITS
        )


def test_log_agrees_with_the_matrix_logarithm(rng):
    for t in random_pose(rng, 40):
        twist = al.motion_log(t)
        if (
            np.linalg.norm(twist[:3]) < 3.0
        ):  # the general logarithm loses digits towards half a turn
            assert al.hat6(twist) == pytest.approx(logm(t), abs=1e-12)


ANGLES = [
    0,
    1e-200,
    1e-12,
    1e-9,
    1e-5,
    0.1,
    0.19,
    0.21,
    0.999,
    1.001,
    2,
    3,
    PI - 1e-5,
    PI - 1e-8,
    PI - 1e-9,
    PI,
]


@each("angle", ANGLES)
def test_log_undoes_exp_from_no_turn_to_half_a_turn(angle, rng):
    for e, v in zip(unit(rng, 30), rng.normal(size=(30, 3)), strict=True):
        twist = np.array([*(angle * e), *v])
        t = al.motion_exp(twist)
        found = al.motion_log(t)
        assert al.motion_exp(found) == pytest.approx(t, rel=0, abs=LAST_BITS)
        if angle != PI:
            assert found[:3] == pytest.approx(twist[:3], rel=1e-14, abs=2e-15 * angle)
            assert found[3:] == pytest.approx(v, rel=0, abs=LAST_BITS * 2)


@each("e", [*np.eye(3), *-np.eye(3), *unit(seeded("half turns"), 10)])
def test_at_exactly_half_a_turn_the_largest_component_of_the_axis_is_positive(e):
    t = al.pose(2 * np.outer(e, e) - np.eye(3), [1, 2, 3])
    twist = al.motion_log(t)
    w = twist[:3]
    assert np.linalg.norm(w) == pytest.approx(PI, rel=1e-15)
    assert w[np.argmax(np.abs(w))] > 0
    assert al.motion_exp(twist) == pytest.approx(t, rel=0, abs=LAST_BITS)


def test_small_turns_are_as_accurate_as_the_series_to_third_order(rng):
    e, v = unit(rng, 1)[0], rng.normal(size=3)
    for angle in (1e-4, 1e-6, 1e-8):
        h = al.hat(angle * e)
        g = np.eye(3) + h / 2 + h @ h / 6 + h @ h @ h / 24
        assert al.motion_exp([*(angle * e), *v])[:3, 3] == pytest.approx(g @ v, rel=1e-15)


@examples(100)
@given(
    st.lists(st.floats(-1.8, 1.8), min_size=3, max_size=3),
    st.lists(st.floats(-10, 10), min_size=3, max_size=3),
)
def test_log_undoes_exp_for_any_twist_within_half_a_turn(w, v):
    assume(np.linalg.norm(w) < PI - 1e-6)
    found = al.motion_log(al.motion_exp([*w, *v]))
    assert found == pytest.approx([*w, *v], rel=1e-14, abs=4e-14)


def test_a_screw_motion_goes_round_its_axis():
    # One turn about the vertical line through (1, 0, 0) with a pitch of 0.5: up by the pitch, and back.
    line = al.pose(np.eye(3), [1, 0, 0])
    twist = al.adjoint(line) @ [0, 0, 2 * PI, 0, 0, 0.5]
    assert al.motion_exp(twist) == pytest.approx(al.pose(np.eye(3), [0, 0, 0.5]), abs=LAST_BITS)


def test_exp_and_log_have_exact_derivatives_at_the_identity():
    twist, t = casadi.SX.sym("twist", 6), casadi.SX.sym("t", 4, 4)
    exp = casadi.Function("f", [twist], [casadi.jacobian(al.motion_exp(twist), twist)])
    log = casadi.Function("f", [t], [casadi.jacobian(al.motion_log(t), t)])
    columns = np.array([al.hat6(e).ravel(order="F") for e in np.eye(6)]).T
    assert np.array(exp(np.zeros(6))).tolist() == columns.tolist()
    assert np.array(log(np.eye(4))) @ columns == pytest.approx(np.eye(6), abs=1e-16)


# --- inertia ---------------------------------------------------------------------------------------------------------


def test_inertia_matrix_gives_the_kinetic_energy_of_the_body(rng):
    mass, com, root = 2.5, rng.normal(size=3), rng.normal(size=(3, 3))
    inertia = root @ root.T
    inertia = (inertia + inertia.T) / 2
    m = al.inertia_matrix(mass, com, inertia)
    w, v = rng.normal(size=(2, 3))
    centre = v + np.cross(w, com)
    twist = np.array([*w, *v])
    assert twist @ m @ twist == pytest.approx(mass * centre @ centre + w @ inertia @ w, rel=1e-14)
    assert np.array_equal(m, m.T)
    assert np.linalg.eigvalsh(m).min() > 0


def test_inertia_matrix_moves_with_the_coadjoint(rng):
    mass, com, inertia = 1.5, rng.normal(size=3), np.diag([1.0, 2.0, 2.5])
    t = random_pose(rng)
    r, p = t[:3, :3], t[:3, 3]
    moved = al.inertia_matrix(mass, r @ com + p, r @ inertia @ r.T)
    there = al.adjoint(al.pose_inverse(t))
    assert there.T @ al.inertia_matrix(mass, com, inertia) @ there == pytest.approx(
        moved, abs=1e-13
    )


# --- errors ----------------------------------------------------------------------------------------------------------


def test_what_is_no_pose_is_refused():
    with pytest.raises(
        RotationError,
        match=r"this pose does not end in the row \(0, 0, 0, 1\), which it misses by 0\.5",
    ):
        al.check_pose(np.diag([1, 1, 1, 1.5]))
    with pytest.raises(RotationError, match="this pose has a position that is not finite"):
        al.check_pose([[1, 0, 0, np.nan], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    with pytest.raises(RotationError, match="is not a rotation but a reflection"):
        al.check_pose(np.diag([1, 1, -1, 1]))
    with pytest.raises(
        RotationError, match=r"the pose at index \(1,\) of the batch does not end in the row"
    ):
        al.motion_log(np.array([np.eye(4), np.full((4, 4), np.nan)]))
    with pytest.raises(ValueError, match="a 4x4 matrix was expected"):
        al.check_pose(np.eye(3))
    with pytest.raises(RotationError, match="miss being orthonormal by 3 "):
        al.pose(2 * np.eye(3), [0, 0, 0])
    assert al.check_pose(np.eye(4)).tolist() == np.eye(4).tolist()


# --- batches and symbols ---------------------------------------------------------------------------------------------

T, S = random_pose(seeded("T"), 4, 3), random_pose(seeded("S"), 4, 3)
R, V3, V6 = (
    al.rotation_of(T),
    seeded("V3").normal(size=(4, 3, 3)),
    seeded("V6").normal(size=(4, 3, 6)),
)
M = seeded("M").uniform(1, 2, size=(4, 3))
I3 = np.einsum("...ij,...kj->...ik", R, R * [1.0, 2.0, 2.5])
CASES = [
    (al.pose, (R, V3)),
    (al.rotation_of, (T,)),
    (al.position_of, (T,)),
    (al.check_pose, (T,)),
    (al.pose_inverse, (T,)),
    (al.compose, (T, S)),
    (al.hat, (V3,)),
    (al.vee, (al.hat(V3),)),
    (al.hat6, (V6,)),
    (al.vee6, (al.hat6(V6),)),
    (al.adjoint, (T,)),
    (al.coadjoint, (T,)),
    (al.bracket, (V6,)),
    (al.cobracket, (V6,)),
    (al.motion_exp, (V6,)),
    (al.motion_exp, (1e-3 * V6,)),
    (al.motion_log, (T,)),
    (al.motion_log, (al.motion_exp(1e-3 * V6),)),
    (al.inertia_matrix, (M, V3, I3)),
]
IDS = [f.__name__ for f, _ in CASES]


@each(("function", "arguments"), CASES)
def test_a_batch_equals_its_single_calls(function, arguments):
    batch = function(*arguments)
    for i in np.ndindex(4, 3):
        assert batch[i] == pytest.approx(function(*(a[i] for a in arguments)), rel=1e-14, abs=1e-15)


@each(("function", "arguments"), [c for c in CASES if len(c[1]) > 1])
def test_leading_axes_broadcast(function, arguments):
    first, *others = arguments
    outer = function(first[:, :1], *(a[:1] for a in others))
    for i, j in np.ndindex(4, 3):
        assert outer[i, j] == pytest.approx(
            function(first[i, 0], *(a[0, j] for a in others)), rel=1e-14, abs=1e-15
        )


@each(("function", "arguments"), CASES)
def test_symbols_give_the_same_numbers(function, arguments):
    symbols = [casadi.SX.sym(f"s{i}", *(a.shape[2:] or (1,))) for i, a in enumerate(arguments)]
    compiled = casadi.Function("f", symbols, [casadi.densify(function(*symbols))])
    for i in np.ndindex(4, 3):
        expected = function(*(a[i] for a in arguments))
        assert np.array(compiled(*(a[i] for a in arguments))) == pytest.approx(
            expected.reshape(len(expected), -1), rel=1e-14, abs=LAST_BITS
        )


def test_numbers_and_symbols_mix_and_known_zeros_stay():
    angle = casadi.SX.sym("angle")
    joint = al.pose(al.rotation_z(angle), [0, 0, 0])
    link = al.pose(np.eye(3), [2.0, 0, 0])
    assert joint.nnz() == 6
    assert al.compose(joint, link).nnz() == 8  # two more: the position
    assert al.compose(link, joint).nnz() == 7
    assert al.adjoint(joint).nnz() == 10
    assert al.coadjoint(al.compose(link, joint)).nnz() == 13
    assert al.inertia_matrix(angle, [0, 0, 1.0], np.eye(3)).nnz() == 10
    tip = casadi.Function("f", [angle], [al.position_of(al.compose(joint, link))])(PI / 2)
    assert np.array(tip)[:, 0] == pytest.approx([0, 2, 0], abs=2e-16)
