"""Every representation of a rotation from every other, to the last bits, also where each of them is singular."""

import itertools
import math

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import eslabon.numerics as al
from batches import each
from eslabon.errors import RotationError
from eslabon.numerics import quaternions, rotations
from randomness import examples, seeded

PI = math.pi
NAMES = list(al.REPRESENTATIONS)
LAST_BITS = 1e-15  # a few units in the last place on entries of order one

AXES = np.array([a for a in itertools.product((-1, 0, 1), repeat=3) if any(a)], dtype=float)
AXES /= np.linalg.norm(AXES, axis=-1, keepdims=True)
DIRECTIONS = np.vstack(
    [
        AXES,
        (r := seeded("directions").normal(size=(10, 3)))
        / np.linalg.norm(r, axis=-1, keepdims=True),
    ]
)
TURNS = [
    0,
    1e-200,
    1e-12,
    1e-9,
    1e-5,
    0.1,
    1,
    PI / 2,
    2,
    2 * PI / 3,
    3,
    PI - 1e-5,
    PI - 1e-9,
    PI - 1e-12,
    PI,
]
SPECIAL = [(e, turn) for e in DIRECTIONS for turn in TURNS]

# Gimbal locks and their neighbourhood: the middle angle of Euler (0, π) and of Bryant and roll-pitch-yaw (±π/2).
OFFSETS = [0, 1e-17, 3e-16, 1e-15, 1e-13, 1e-9, 1e-8, 1e-7, 1e-4]
LOCKED = [
    (name, first, lock + sign * offset, third)
    for name, locks in (
        ("euler", (0, PI)),
        ("bryant", (PI / 2, -PI / 2)),
        ("rpy", (PI / 2, -PI / 2)),
    )
    for lock in locks
    for offset in OFFSETS
    for sign in (1, -1)
    for first, third in ((0, 0), (0.3, 1.1), (-2.5, 2.9), (PI, -PI / 2), (1.2, -1.2))
]


def random_rotations(rng, n):
    return Rotation.random(n, rng=rng).as_matrix()


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def turn_about(e, angle):
    """e⊗e + cos(1 - e⊗e) + sin ê, for comparison."""
    return np.outer(e, e) + np.cos(angle) * (np.eye(3) - np.outer(e, e)) + np.sin(angle) * skew(e)


def special_matrices():
    return np.array([turn_about(e, turn) for e, turn in SPECIAL])


def assert_rotation(r, tolerance=3e-15):
    assert np.abs(np.swapaxes(r, -1, -2) @ r - np.eye(3)).max() < tolerance
    assert np.linalg.det(r) == pytest.approx(np.ones(r.shape[:-2]), abs=2 * tolerance)


# --- facts -----------------------------------------------------------------------------------------------------------


def test_elementary_rotations_are_right_handed_and_exact_at_quarter_turns():
    x, y, z = np.eye(3)
    for turn, axis, start, end in (
        (al.rotation_x, x, y, z),
        (al.rotation_y, y, z, x),
        (al.rotation_z, z, x, y),
    ):
        assert (turn(PI / 2) @ start).tolist() == end.tolist()
        assert (turn(PI / 2) @ axis).tolist() == axis.tolist()
        assert turn(0.7) == pytest.approx(al.rotation_about(axis, 0.7), abs=1e-16)
        assert turn(0.7) == pytest.approx(expm(0.7 * skew(axis)), abs=LAST_BITS)


@each(
    ("name", "sequence"),
    [("euler", "ZXZ"), ("bryant", "XYZ"), ("rpy", "xyz")],
)
def test_three_angles_agree_with_scipy(name, sequence, rng):
    angles = rng.uniform(-PI, PI, size=(2000, 3))
    r = al.convert(angles, name, "matrix")
    assert_rotation(r)
    assert r == pytest.approx(Rotation.from_euler(sequence, angles).as_matrix(), rel=0, abs=2e-15)
    # Away from the locks the angles themselves are well conditioned: divide by the distance.
    expected = Rotation.from_matrix(r).as_euler(sequence)
    distance = np.sin(expected[:, 1]) if name == "euler" else np.cos(expected[:, 1])
    off = np.abs(al.convert(r, "matrix", name) - expected)
    assert np.max(np.minimum(off, 2 * PI - off) * distance[:, None]) < 2e-15


def test_roll_pitch_yaw_is_the_urdf_product():
    roll, pitch, yaw = 0.3, -0.4, 0.5
    product = al.rotation_z(yaw) @ al.rotation_y(pitch) @ al.rotation_x(roll)
    assert al.rotation_from_rpy([roll, pitch, yaw]).tolist() == product.tolist()
    assert al.rpy_from_rotation(product) == pytest.approx([roll, pitch, yaw], abs=LAST_BITS)


def test_a_vector_turns_by_the_angle_about_the_axis():
    e, angle = DIRECTIONS[-1], 0.8
    assert al.rotation_about(5 * e, angle) == pytest.approx(expm(angle * skew(e)), abs=LAST_BITS)
    assert al.rotation_from_axis_angle([*e, angle]) == pytest.approx(
        expm(angle * skew(e)), abs=LAST_BITS
    )
    assert al.rotation_from_rotation_vector(angle * e) == pytest.approx(
        expm(angle * skew(e)), abs=LAST_BITS
    )


def test_rotation_vectors_of_any_length(rng):
    v = rng.normal(size=(500, 3)) * rng.uniform(0, 4, size=(500, 1))
    r = al.rotation_from_rotation_vector(v)
    assert_rotation(r, 4e-15)
    assert r == pytest.approx(
        Rotation.from_rotvec(v).as_matrix(), rel=0, abs=8e-15
    )  # ten radians cost their own bits


def test_euler_parameters_satisfy_rojas_formulas(rng):
    for r in random_rotations(rng, 50):
        q0, *q = al.quaternion_from_rotation(r)
        assert q0**2 == pytest.approx((1 + np.trace(r)) / 4, abs=LAST_BITS)
        assert np.square(q) == pytest.approx(np.diag(r) / 2 - (np.trace(r) - 1) / 4, abs=LAST_BITS)
        assert r == pytest.approx(
            (2 * q0**2 - 1) * np.eye(3) + 2 * (np.outer(q, q) + q0 * skew(q)), abs=2e-15
        )


def test_matrix_to_quaternion_agrees_with_scipy_for_thousands_of_rotations(rng):
    r = random_rotations(rng, 5000)
    q, expected = (
        al.quaternion_from_rotation(r),
        Rotation.from_matrix(r).as_quat(scalar_first=True, canonical=True),
    )
    assert np.all(q[:, 0] >= 0)
    assert np.abs((q * expected).sum(axis=-1)) == pytest.approx(np.ones(5000), abs=LAST_BITS)
    assert q * np.sign((q * expected).sum(axis=-1))[:, None] == pytest.approx(
        expected, rel=0, abs=LAST_BITS
    )


@each("turn", TURNS)
def test_matrix_to_quaternion_is_exact_at_special_turns(turn):
    for e in DIRECTIONS:
        q = al.quaternion_from_rotation(turn_about(e, turn))
        expected = np.array([np.cos(turn / 2), *(np.sin(turn / 2) * e)])
        if turn == PI:
            expected *= np.sign(q @ expected)
        assert q == pytest.approx(expected, rel=0, abs=4e-16)
        assert al.rotation_from_quaternion(q) == pytest.approx(
            turn_about(e, turn), rel=0, abs=LAST_BITS
        )


@each("e", DIRECTIONS)
def test_at_exactly_half_a_turn_the_largest_component_of_the_axis_is_positive(e):
    q = al.quaternion_from_rotation(2 * np.outer(e, e) - np.eye(3))
    largest = np.flatnonzero(np.abs(e) > np.abs(e).max() - 1e-9)
    assert q[0] == 0
    assert q[1 + largest].max() > 0
    assert q[1:] * np.sign(q[1:] @ e) == pytest.approx(e, rel=0, abs=4e-16)


def test_rotation_from_a_quaternion_of_any_length_agrees_with_scipy(rng):
    q = rng.normal(size=(2000, 4)) * 10.0 ** rng.uniform(-3, 3, size=(2000, 1))
    r = al.rotation_from_quaternion(q)
    assert_rotation(r)
    assert r == pytest.approx(
        Rotation.from_quat(q, scalar_first=True).as_matrix(), rel=0, abs=2e-15
    )
    assert al.rotation_from_quaternion(1e-200 * q[0]) == pytest.approx(r[0], rel=0, abs=2e-15)
    unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
    assert al.rotation_from_unit_quaternion(unit) == pytest.approx(r, rel=0, abs=2e-15)


def test_linear_invariants_are_vect_and_trace(rng):
    for r in random_rotations(rng, 50):
        cosine, *v = al.invariants_from_rotation(r)
        assert skew(v) == pytest.approx((r - r.T) / 2, abs=1e-16)
        assert al.vect(r).tolist() == v
        assert al.trace(r) == pytest.approx(np.trace(r), abs=1e-15)
        assert cosine == pytest.approx((np.trace(r) - 1) / 2, abs=LAST_BITS)
        rojas = cosine * np.eye(3) + np.outer(v, v) / (1 + cosine) + skew(v)
        assert rojas == pytest.approx(r, abs=1e-15 / (1 + cosine))
        assert al.rotation_from_invariants([cosine, *v]) == pytest.approx(
            r, abs=1e-15 / np.linalg.norm(v)
        )


@each("turn", [t for t in TURNS if t != PI and t != PI - 1e-12])
def test_exact_invariants_give_the_exact_matrix_near_half_a_turn(turn):
    for e in DIRECTIONS:
        sine = 2 * np.sin(turn / 2) * np.cos(turn / 2)
        r = al.rotation_from_invariants([np.cos(turn), *(sine * e)])
        assert r == pytest.approx(turn_about(e, turn), rel=0, abs=LAST_BITS)
        assert_rotation(r)


# --- each from each --------------------------------------------------------------------------------------------------


@each(("source", "target"), [*itertools.product(NAMES, NAMES)])
def test_each_representation_from_each_by_round_trip_over_thousands(source, target, rng):
    r = random_rotations(rng, 1500)
    angle = Rotation.from_matrix(r).magnitude()
    r, angle = r[angle < 3.1], angle[angle < 3.1]
    value = al.convert(r, "matrix", source)
    there = al.convert(value, source, target)
    back = al.convert(al.convert(there, target, source), source, "matrix")
    # Invariants hold the axis times sin φ: near half a turn they keep correspondingly fewer digits.
    lost = 1 / np.sin(np.maximum(angle, PI / 2))
    assert np.max(np.abs(al.convert(there, target, "matrix") - r).max(axis=(-2, -1)) / lost) < 6e-15
    assert np.max(np.abs(back - r).max(axis=(-2, -1)) / lost) < 6e-15


@each(("source", "target"), [*itertools.product(NAMES, NAMES)])
def test_each_from_each_at_special_rotations(source, target):
    e, turn = (np.array(column) for column in zip(*SPECIAL, strict=True))
    if {"rodrigues", "invariants"} & {
        source,
        target,
    }:  # half a turn is refused: see the tests below
        e, turn = e[turn < PI - 1e-8], turn[turn < PI - 1e-8]
    value = al.convert(np.concatenate([e, turn[:, None]], axis=-1), "axis_angle", source)
    found = al.convert(al.convert(value, source, target), target, "matrix")
    error = np.abs(found - [turn_about(*case) for case in zip(e, turn, strict=True)]).max(
        axis=(-2, -1)
    )
    # A detour over the matrix leaves invariants with 1e-16 / sin φ.
    detour = (
        np.where(turn > 3, 4e-16 / np.sin(turn + 1e-300), 0)
        if "invariants" in (source, target)
        else 0
    )
    assert np.all(error < 2e-15 + detour)


KIN = ["quaternion", "rodrigues", "invariants", "axis_angle", "rotation_vector"]


@each(("source", "target"), [*itertools.product(KIN, KIN)])
@each("turn", [1e-200, 1e-12, 1e-9, 1e-5, 1.0, PI - 1e-5, PI - 1e-9])
def test_representations_that_share_the_axis_never_lose_it(source, target, turn):
    assert len(rotations.route(source, target)) <= 2
    assert rotations.rotation_from_quaternion not in rotations.route(source, target)
    for e in DIRECTIONS[::4]:
        value = al.convert([*e, turn], "axis_angle", source)
        *axis, angle = al.convert(al.convert(value, source, target), target, "axis_angle")
        assert axis == pytest.approx(e, rel=0, abs=4e-15)
        assert angle == pytest.approx(turn, rel=4e-15)


@each("turn", [1e-200, 1e-12, 1e-9, 1e-5])
def test_a_tiny_turn_keeps_all_its_digits_through_the_matrix(turn):
    for e in DIRECTIONS:
        *axis, angle = al.convert(al.rotation_about(e, turn), "matrix", "axis_angle")
        assert angle == pytest.approx(turn, rel=1e-15)
        assert axis == pytest.approx(e, rel=0, abs=1e-15)


@each("short", [0, 1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-5])
def test_axis_and_angle_near_half_a_turn_through_the_matrix(short):
    for e in DIRECTIONS:
        *axis, angle = al.convert(turn_about(e, PI - short), "matrix", "axis_angle")
        sign = np.sign(e @ axis) if short <= 1e-15 else 1
        assert sign * np.array(axis) == pytest.approx(e, rel=0, abs=1e-15)
        assert angle == pytest.approx(PI - short, rel=0, abs=2e-15)


def test_no_turn_has_axis_z():
    assert al.convert(np.eye(3), "matrix", "axis_angle").tolist() == [0, 0, 1, 0]
    assert al.convert(np.eye(3), "matrix", "rotation_vector").tolist() == [0, 0, 0]


@examples(200)
@given(
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3),
    st.sampled_from([n for n in NAMES if n not in ("rodrigues", "invariants")]),
    st.sampled_from([n for n in NAMES if n not in ("rodrigues", "invariants")]),
)
def test_any_quaternion_survives_any_pair(q, first, second):
    r = al.rotation_from_quaternion(q)
    value = al.convert(
        al.convert(al.convert(q, "quaternion", first), first, second), second, "matrix"
    )
    assert value == pytest.approx(r, rel=0, abs=3e-15)


def test_a_value_in_its_own_representation_is_returned():
    for name in NAMES:
        value = al.convert([1, 0, 0, 1], "quaternion", name)
        assert al.convert(value, name, name).tolist() == value.tolist()
        assert rotations.route(name, name) == ()


# --- gimbal lock -----------------------------------------------------------------------------------------------------


@each("name", ["euler", "bryant", "rpy"])
def test_angles_rebuild_the_matrix_at_and_near_their_lock(name):
    angles = np.array([case[1:] for case in LOCKED if case[0] == name], dtype=float)
    r = al.convert(angles, name, "matrix")
    found = al.convert(r, "matrix", name)
    # Two matrix products and the trigonometry of their angles, at two last bits of lock: measured 7e-16.
    assert al.convert(found, name, "matrix") == pytest.approx(r, rel=0, abs=1.2e-15)
    assert np.all(np.abs(found) <= PI)
    special = special_matrices()
    again = al.convert(al.convert(special, "matrix", name), name, "matrix")
    assert again == pytest.approx(special, rel=0, abs=1.2e-15)


@each("name", ["euler", "bryant", "rpy"])
@each("offset", [0.0, 1e-17])
def test_at_the_lock_the_third_angle_is_zero(name, offset):
    for middle in (0, PI) if name == "euler" else (PI / 2, -PI / 2):
        first, second, third = al.convert(
            al.convert([0.4, middle + offset, 0.7], name, "matrix"), "matrix", name
        )
        # Which combination of the outer angles is left: their sum or their difference.
        sign = {
            "euler": 1 if middle == 0 else -1,
            "bryant": np.sign(middle),
            "rpy": -np.sign(middle),
        }[name]
        assert third == 0
        assert second == pytest.approx(middle, abs=1e-16)
        assert first == pytest.approx(0.4 + sign * 0.7, abs=LAST_BITS)


def test_angles_lie_in_their_documented_ranges(rng):
    r = np.concatenate([random_rotations(rng, 500), special_matrices()])
    assert al.euler_from_rotation(r)[:, 1].min() >= 0
    for name in ("bryant", "rpy"):
        assert np.abs(al.convert(r, "matrix", name)[:, 1]).max() <= PI / 2
    assert al.euler_from_rotation(np.diag([-1, -1, 1])).tolist() == [PI, 0, 0]
    assert al.rpy_from_rotation(np.diag([-1, -1, 1]))[2] in (PI, -PI)


# --- errors ----------------------------------------------------------------------------------------------------------

FROM_MATRIX = [f for (source, _), f in rotations.FORMULAS.items() if source == "matrix"] + [
    al.check_rotation
]


@each("function", FROM_MATRIX)
def test_what_is_no_rotation_is_refused_with_the_size_of_the_error(function):
    with pytest.raises(
        RotationError,
        match=r"this matrix is not a rotation, .* orthonormal by 0\.0201 \(1e-06 is all",
    ):
        function(1.01 * np.eye(3))
    with pytest.raises(
        RotationError,
        match="not a rotation but a reflection, for its determinant is -1; turn one of",
    ):
        function(np.diag([1, 1, -1]))
    with pytest.raises(
        RotationError, match="this matrix is not a rotation, for it has entries that are not finite"
    ):
        function(np.full((3, 3), np.nan))
    with pytest.raises(
        RotationError, match=r"the matrix at index \(0, 1\) of the batch is not a rotation"
    ):
        function(np.array([[np.eye(3), np.zeros((3, 3))]]))
    with pytest.raises(ValueError, match="a 3x3 matrix was expected"):
        function(np.eye(4))
    function(np.eye(3) * (1 + 4e-7))  # rounding of printed digits is forgiven


def test_half_a_turn_has_no_rodrigues_parameters():
    for e in DIRECTIONS:
        with pytest.raises(
            RotationError,
            match="Rodrigues parameters do not exist; use a quaternion or axis and angle",
        ):
            al.convert(turn_about(e, PI), "matrix", "rodrigues")
        near = al.convert(turn_about(e, PI - 1e-9), "matrix", "rodrigues")
        assert al.convert(near, "rodrigues", "matrix") == pytest.approx(
            turn_about(e, PI - 1e-9), rel=0, abs=2e-15
        )


def test_invariants_of_half_a_turn_have_lost_the_axis():
    for e in DIRECTIONS:
        lost = al.convert(turn_about(e, PI), "matrix", "invariants")
        assert lost == pytest.approx([-1, 0, 0, 0], abs=1e-15)
        for target in NAMES:
            if target != "invariants":
                with pytest.raises(
                    RotationError, match="half a turn, where they lose the axis; use a quaternion"
                ):
                    al.convert(lost, "invariants", target)


def test_an_unknown_representation_is_told_the_known_ones():
    with pytest.raises(
        RotationError,
        match=r"^source: no representation is called 'quaternoin'; did you mean 'quaternion'\?$",
    ):
        al.convert([1, 0, 0, 0], "quaternoin", "matrix")
    with pytest.raises(
        RotationError,
        match=r"no representation is called 'nothing' \(known: matrix, euler, bryant, r",
    ):
        al.convert(np.eye(3), "matrix", "nothing")


def test_zero_axis_and_zero_quaternion_are_refused_on_every_way():
    for target in NAMES:
        if target != "quaternion":
            with pytest.raises(RotationError, match="stands for no rotation"):
                al.convert([0, 0, 0, 0], "quaternion", target)
        if target != "axis_angle":
            with pytest.raises(RotationError, match="has no direction"):
                al.convert([0, 0, 0, 1], "axis_angle", target)


# --- batches and symbols ---------------------------------------------------------------------------------------------

MATRICES = random_rotations(seeded("matrices"), 12).reshape(4, 3, 3, 3)
PAIRS = [p for p in itertools.product(NAMES, NAMES) if p[0] != p[1]]
ANGLE, VECTOR = seeded("angle").normal(size=(4, 3)), seeded("vector").normal(size=(4, 3, 3))
CASES = [
    (al.rotation_x, (ANGLE,)),
    (al.rotation_y, (ANGLE,)),
    (al.rotation_z, (ANGLE,)),
    (al.rotation_about, (VECTOR, ANGLE)),
    (al.vect, (MATRICES,)),
    (al.trace, (MATRICES,)),
    (al.check_rotation, (MATRICES,)),
    (al.rotation_from_unit_quaternion, (al.quaternion_from_rotation(MATRICES),)),
]
IDS = [f.__name__ for f, _ in CASES]


def symbolic(function, arguments):
    symbols = [casadi.SX.sym(f"s{i}", *(a.shape[2:] or (1,))) for i, a in enumerate(arguments)]
    return casadi.Function("f", symbols, [casadi.densify(function(*symbols))])


def assert_alike(function, arguments):
    """A batch equals its single calls, and symbols evaluated equal them too."""
    batch, compiled = function(*arguments), symbolic(function, arguments)
    for i in np.ndindex(4, 3):
        single = np.asarray(function(*(a[i] for a in arguments)))
        assert batch[i] == pytest.approx(single, rel=1e-14, abs=5e-16)
        assert np.array(compiled(*(a[i] for a in arguments))).ravel() == pytest.approx(
            single.ravel(), rel=2e-14, abs=2e-15
        )


@each(("function", "arguments"), CASES)
def test_functions_serve_batches_and_symbols(function, arguments):
    assert_alike(function, arguments)


@each(("source", "target"), PAIRS)
def test_conversions_serve_batches_and_symbols(source, target):
    value = al.convert(MATRICES, "matrix", source)
    assert_alike(lambda v: al.convert(v, source, target), (value,))


@each(("source", "target"), [p for p in PAIRS if not {"rodrigues", "invariants"} & set(p)])
def test_symbols_are_right_at_singular_rotations_too(source, target):
    shape = (3, 3) if source == "matrix" else (len(al.convert(np.eye(3), "matrix", source)),)
    value = casadi.SX.sym("v", *shape)
    compiled = casadi.Function("f", [value], [casadi.densify(al.convert(value, source, target))])
    for angles in (
        [0, 0, 0],
        [0, PI / 2, 0],
        [PI, 0, 0],
        [0, 0, PI],
        [0.3, -PI / 2, 0.4],
        [PI / 2, PI / 2, PI / 2],
    ):
        r = al.rotation_from_bryant(angles)
        found = np.array(compiled(al.convert(r, "matrix", source)))
        found = found if target == "matrix" else found[:, 0]
        assert al.convert(found, target, "matrix") == pytest.approx(r, rel=0, abs=2e-15)


def test_a_symbolic_turn_about_a_coordinate_axis_has_only_its_two_functions():
    angle = casadi.SX.sym("angle")
    for axis, turn in zip(np.eye(3), (al.rotation_x, al.rotation_y, al.rotation_z), strict=True):
        for r in (turn(angle), al.rotation_about(axis, angle)):
            assert r.nnz() == 5
            assert casadi.Function("f", [angle], [r]).n_instructions() <= 16
    assert al.rotation_from_euler(casadi.vertcat(angle, 0, 0)).nnz() == 5


def test_the_derivative_of_the_exponential_at_no_turn_is_hat():
    v = casadi.SX.sym("v", 3)
    jacobian = casadi.Function("f", [v], [casadi.jacobian(al.rotation_from_rotation_vector(v), v)])(
        [0, 0, 0]
    )
    for i, e in enumerate(np.eye(3)):
        assert np.array(jacobian)[:, i].reshape(3, 3).T.tolist() == skew(e).tolist()


def test_symbols_are_not_judged():
    r = casadi.SX.sym("r", 3, 3)
    assert al.check_rotation(r) is r
    f = casadi.Function("f", [r], [al.invariants_from_rotation(r)])
    assert np.array(f(2 * np.eye(3)))[0, 0] == 2.5


def test_the_table_covers_the_module():
    """Each formula of the table is named after what it does."""
    for (source, target), formula in rotations.FORMULAS.items():
        start, end = ("rotation" if n == "matrix" else n for n in (source, target))
        assert formula.__name__ == f"{end}_from_{start}"
        assert hasattr(rotations, formula.__name__) or hasattr(quaternions, formula.__name__)
        assert hasattr(al, formula.__name__)
