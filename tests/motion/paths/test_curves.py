"""Curves: derivatives, geometry, curvature and torsion in closed form and by differences."""

import casadi
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from batches import each
from eslabon import paths
from eslabon.motion.paths.space_curve import Curve
from eslabon.numerics.scalars import cos, sin
from eslabon.reproductions.rojas.path_program import sphere_cylinder
from motion.paths.differences import away_from, derivative

POINTS = np.array(
    [[0, 0, 0], [1, 0.5, 0.2], [1.5, 1.5, 1], [0.5, 2, 1.2], [-0.5, 1, 0.4], [-0.2, 0.2, 0.9]]
)
KNOT = paths.curve(
    lambda u: (np.sin(u) + 2 * np.sin(2 * u), np.cos(u) - 2 * np.cos(2 * u), -np.sin(3 * u)), 0, 6
)
HELIX = paths.helix([1, 2, 3], [2, 2, 5], [1, 1, 2], angle=3.0, pitch=0.2)
GIVEN = paths.curve(
    lambda u: (u, u**2, u**3),
    0.5,
    2.0,
    name="cubic",
)
CURVES = [
    paths.line([1, 2, 3], [2, 0, 1]),
    paths.point([1, 2, 3]),
    paths.arc([1, 2, 3], [2, 2, 5], [1, 1, 2], angle=-2.0),
    paths.arc_through([1, 0, 0], [0, 1, 1], [-1, 0.5, 0]),
    HELIX,
    paths.spline(POINTS),
    paths.spline(POINTS, degree=3),
    paths.spline(POINTS, periodic=True),
    paths.spline(POINTS, degree=3, periodic=True),
    sphere_cylinder(0.5, 0.2),
    KNOT,
    GIVEN,
    KNOT.part(0.2, 0.7),
    KNOT.reversed(),
    paths.evenly(KNOT.part(0.0, 0.4)),
    paths.evenly(paths.spline(POINTS)),
    paths.rounded(POINTS, radius=0.1),
    paths.chain(KNOT.part(0.0, 0.3), KNOT.part(0.3, 0.5)),
]
BENT = [c for c in CURVES if c.name not in ("line", "point", "chain of 9 curves")]


def names(curve):
    return curve.name


@each("curve", CURVES)
def test_every_derivative_is_that_of_the_one_before(curve: Curve):
    s = away_from(curve.breaks, np.linspace(0.0, 1.0, 41), margin=5e-4)
    assert len(s) > 10
    for order in (1, 2, 3, 4):
        found = curve(s, order)
        # With a step of 1e-4 rounding leaves 1e-12 of the function, and the knot's 1e6 for a ninth derivative 1e-12.
        expected = derivative(lambda x, k=order - 1: curve(x, k), s, step=1e-4)
        scale = np.abs(curve(s, order - 1)).max() + np.abs(found).max()
        assert found == pytest.approx(expected, abs=3e-9 * scale)


@each("curve", CURVES)
def test_any_shape_of_parameters(curve: Curve):
    s = np.linspace(0, 1, 12)
    for order in range(5):
        flat = curve(s, order)
        assert flat.shape == (12, 3)
        assert curve(s.reshape(3, 1, 4), order).reshape(12, 3).tolist() == flat.tolist()
        assert curve(s[5], order) == pytest.approx(flat[5], rel=1e-13, abs=1e-13)
        assert curve(np.empty((0, 2)), order).shape == (0, 2, 3)


@each("curve", CURVES)
def test_length_is_that_of_a_fine_polygon(curve: Curve):
    p = curve(np.linspace(0, 1, 20001))
    # A polygon of n sides is short by a part of (turn/n)²/24.
    assert curve.length == pytest.approx(np.linalg.norm(np.diff(p, axis=0), axis=1).sum(), rel=1e-6)


@each("curve", [c for c in CURVES if c.even])
def test_even_curves_have_even_speed(curve: Curve):
    speed = np.linalg.norm(curve(np.linspace(0, 1, 77), 1), axis=-1)
    assert speed == pytest.approx(np.full(77, curve.length), rel=1e-11)


def test_arcs_stay_on_their_circle():
    center, normal = np.array([1.0, 2, 3]), np.array([1.0, 1, 2]) / np.sqrt(6)
    start = center + 2 * np.cross(normal, [1, 0, 0])
    p = paths.arc(center, start, normal, 5.0)(np.linspace(0, 1, 50)) - center
    assert np.linalg.norm(p, axis=1) == pytest.approx(
        np.full(50, np.linalg.norm(start - center)), rel=1e-14
    )
    assert p @ normal == pytest.approx(np.zeros(50), abs=1e-14)


coordinate = st.floats(-10, 10).map(lambda x: round(x, 3))
triple = st.tuples(coordinate, coordinate, coordinate).map(np.array)


@given(triple, triple, triple)
def test_the_arc_through_three_points_meets_them_in_order(a, b, c):
    sides = [np.linalg.norm(x) for x in (b - a, c - b, a - c)]
    assume(min(sides) > 0.1)
    assume(np.linalg.norm(np.cross(b - a, c - a)) > 0.05 * sides[0] * sides[2])
    arc = paths.arc_through(a, b, c)
    assert arc(0.0) == pytest.approx(a, abs=1e-9)
    assert arc(1.0) == pytest.approx(c, abs=1e-9)
    ahead, inward = (
        arc(0.0, 1),
        arc(0.0, 2),
    )  # p = centre + cos(whole s) first + sin(whole s) second
    whole = np.linalg.norm(inward) / np.linalg.norm(ahead)
    first, second = -inward / whole**2, ahead / whole
    angle = np.arctan2((b - a + first) @ second, (b - a + first) @ first) % (2 * np.pi)
    assert 0 < angle < whole < 2 * np.pi
    assert arc(angle / whole) == pytest.approx(b, abs=1e-9)


def test_curvature_and_torsion_of_a_helix_in_closed_form():
    r, pitch, s = 2.0, 0.3, np.linspace(0, 1, 9)
    for sign in (1, -1):
        helix = paths.helix([0, 0, 0], [r, 0, 1], [0, 0, 3], angle=4.0, pitch=sign * pitch)
        assert helix.curvature(s) == pytest.approx(np.full(9, r / (r**2 + pitch**2)), rel=1e-14)
        assert helix.torsion(s) == pytest.approx(
            np.full(9, sign * pitch / (r**2 + pitch**2)), rel=1e-13
        )
        assert helix.curvature_rate(s) == pytest.approx(np.zeros(9), abs=1e-14)
        assert helix.torsion_rate(s) == pytest.approx(np.zeros(9), abs=1e-14)
        assert helix.length == pytest.approx(4.0 * np.hypot(r, pitch), rel=1e-14)


@each("turns", [1, 2, 3, 4, 5, 8, 100])
def test_the_length_of_a_curve_that_comes_round_often(turns):
    """Looking at evenly spaced places must not take whole turns for none."""
    once = paths.curve(lambda u: (2 * np.cos(u), np.sin(u), 0), 0, 2 * np.pi)
    often = paths.curve(lambda u: (2 * np.cos(u), np.sin(u), 0), 0, 2 * np.pi * turns)
    assert once.length == pytest.approx(9.688448220547675, rel=1e-14)  # 8 E(3/4)
    assert often.length == pytest.approx(turns * once.length, rel=1e-13)
    assert paths.evenly(often)(1 / turns) == pytest.approx([2, 0, 0], abs=1e-11)


def test_even_a_cusp_has_a_length():
    cusp = paths.curve(lambda u: (u**2, u**3, 0), -1, 1)
    assert cusp.length == pytest.approx(
        2 * (13**1.5 - 8) / 27, rel=1e-9
    )  # twice that of Neile's parabola


def test_curvature_does_not_depend_on_how_fast_a_curve_is_run():
    u = np.linspace(0.1, 0.9, 9)
    for curve in (KNOT.part(0.0, 0.4), sphere_cylinder(0.5, 0.2)):
        even = paths.evenly(curve)
        s = curve.travelled(u) / curve.length
        assert even(s) == pytest.approx(curve(u), abs=1e-12)
        assert even.curvature(s) == pytest.approx(curve.curvature(u), rel=1e-11)
        assert even.torsion(s) == pytest.approx(curve.torsion(u), rel=1e-9)
        # By the length travelled the derivatives are the same too.
        speed = np.linalg.norm(curve(u, 1), axis=-1)
        assert even.curvature_rate(s) / even.length == pytest.approx(
            curve.curvature_rate(u) / speed, rel=1e-8
        )
        assert even.torsion_rate(s) / even.length == pytest.approx(
            curve.torsion_rate(u) / speed, rel=1e-7
        )


@each("curve", BENT)
def test_rates_of_curvature_and_torsion_by_differences(curve: Curve):
    s = away_from(curve.breaks, np.linspace(0.0, 1.0, 41), margin=5e-4)
    for value, rate in (
        (curve.curvature, curve.curvature_rate),
        (curve.torsion, curve.torsion_rate),
    ):
        expected = derivative(value, s, step=1e-4)
        scale = curve.curvature(s).max() + np.abs(expected).max()
        assert rate(s) == pytest.approx(expected, abs=1e-7 * scale)


def test_the_curve_of_rojas_lies_on_its_sphere_and_cylinder():
    a, b = 0.3, 0.7
    x, y, z = sphere_cylinder(a, b)(np.linspace(0, 1, 60)).T
    assert x**2 + z**2 == pytest.approx(np.full(60, a**2), rel=1e-14)
    assert (x - a) ** 2 + (y + b) ** 2 + z**2 == pytest.approx(np.full(60, 16 * a**2), rel=1e-14)


def test_the_accelerations_printed_by_rojas():
    """3.6: p̈_y = a/√D (sin β β̈ + (14 cos β - cos² β - 1) β̇²/D), D = 14 - 2 cos β."""
    a, curve, law = 0.3, sphere_cylinder(0.3, 0.7), paths.cycloidal(60.0)
    t = np.linspace(0, 60, 121)
    beta, rate, change = (2 * np.pi * law(t, k) for k in range(3))
    D = 14 - 2 * np.cos(beta)
    acceleration = paths.along(curve, law).acceleration(t)
    expected = (
        a
        / np.sqrt(D)
        * (np.sin(beta) * change + (14 * np.cos(beta) - np.cos(beta) ** 2 - 1) * rate**2 / D)
    )
    assert acceleration[:, 4] == pytest.approx(expected, abs=1e-16)
    assert acceleration[:, 3] == pytest.approx(
        a * (np.sin(beta) * change + np.cos(beta) * rate**2), abs=1e-16
    )


def test_splines_meet_their_points_and_close():
    for degree in (3, 5):
        spline = paths.spline(POINTS, degree)
        assert spline(spline.knots) == pytest.approx(POINTS, abs=1e-14)
        closed = paths.spline(POINTS, degree, periodic=True)
        assert closed(closed.knots[:-1]) == pytest.approx(POINTS, abs=1e-13)
        for order in range(degree):
            scale = np.abs(closed(np.linspace(0, 1, 50), order)).max()
            assert closed(0.0, order) == pytest.approx(closed(1.0, order), abs=1e-10 * scale)
            # and at each inner knot
            sides = (
                closed(closed.knots[1:-1], order),
                closed(np.nextafter(closed.knots[1:-1], 0), order),
            )
            assert sides[0] == pytest.approx(sides[1], abs=1e-10 * scale)


def test_splines_through_few_points():
    for degree in (3, 5):
        two = paths.spline(POINTS[:2], degree)
        assert two(0.25) == pytest.approx(0.25 * POINTS[1], abs=1e-15)
        for n in (3, 4, 5):
            spline = paths.spline(POINTS[:n], degree, knots=np.arange(n))
            assert spline(np.linspace(0, 1, n)) == pytest.approx(POINTS[:n], abs=1e-13)


def test_a_formula_may_be_written_with_numpy_casadi_or_our_own_functions():
    s = np.linspace(0, 1, 7)
    ways = [
        lambda u: (np.cos(u), np.sin(u), u),
        lambda u: [casadi.cos(u), casadi.sin(u), u],
        lambda u: casadi.vertcat(casadi.cos(u), casadi.sin(u), u),
        lambda u: np.array([cos(u), sin(u), u]),
    ]
    curves = [paths.curve(f, 0, 3) for f in ways]
    for order in range(5):
        for other in curves[1:]:
            assert other(s, order) == pytest.approx(curves[0](s, order), abs=1e-14)
    # Constants are welcome among the components.
    assert paths.curve(lambda u: (u, 0, 1.5))(0.5).tolist() == [0.5, 0, 1.5]


@pytest.mark.parametrize(
    "given",
    [None, "abc", 5, (1j, 0, 0), (None, 0, 0), ("a", "b", "c"), ([[1], [2, 3]], 0, 0)],
    ids=str,
)
def test_whatever_a_users_function_gives(given):
    with pytest.raises(paths.PathError, match="the curve's function"):
        paths.curve(lambda u: given)


def test_chains_are_continuous_and_know_their_joints():
    bend = paths.rounded([[0, 0, 0], [2, 0, 0], [2, 2, 0], [2, 2, 2]], radius=0.5)
    joints = bend.knots[1:-1]
    for order in (0, 1):
        assert bend(joints, order) == pytest.approx(bend(joints - 1e-13, order), abs=1e-10)
    assert bend(1.0) == pytest.approx([2, 2, 2], abs=1e-15)
    assert bend.curvature(np.linspace(0, 1, 300)) == pytest.approx(
        2.0 * (bend.curvature(np.linspace(0, 1, 300)) > 1)
    )
    # Four times a quarter of the corners' shortening is gone.
    assert bend.length == pytest.approx(6 - 2 * (2 * 0.5 - 0.5 * np.pi / 2), rel=1e-13)


def test_a_chain_of_parts_is_the_curve_run_evenly():
    parts = paths.chain(KNOT.part(0.0, 0.3), KNOT.part(0.3, 0.5))
    even = paths.evenly(KNOT.part(0.0, 0.5))
    s = np.linspace(0, 1, 30)
    for order in range(5):
        scale = np.abs(even(s, order)).max()
        assert parts(s, order) == pytest.approx(even(s, order), abs=1e-9 * scale)


def test_rounding_leaves_straight_points_and_touching_arcs_alone():
    straight = paths.rounded([[0, 0, 0], [1, 0, 0], [2, 0, 0]], radius=0.3)
    assert straight.length == pytest.approx(2.0)
    touching = paths.rounded([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], radius=0.5)
    assert len(touching.pieces) == 4  # the middle side is used up by its two arcs


def test_reversal_runs_the_same_points_backwards():
    s = np.linspace(0, 1, 9)
    assert KNOT.reversed()(s) == pytest.approx(KNOT(1 - s), abs=1e-15)
    assert KNOT.reversed().torsion(s) == pytest.approx(KNOT.torsion(1 - s), rel=1e-9)
    assert KNOT.reversed().reversed()(s) == pytest.approx(KNOT(s), abs=1e-14)
    assert "reversed" in repr(KNOT.reversed())
