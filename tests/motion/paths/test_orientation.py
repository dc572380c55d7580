"""Orientations: rates are those of the rotation by differences; Frenet and rotation-minimising frames follow the curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from eslabon import paths
from eslabon.motion.paths.frame_orientation import Orientation
from eslabon.numerics import rotation_about, rotation_x, rotation_z
from eslabon.reproductions.rojas.path_program import sphere_cylinder
from motion.paths.differences import angular, away_from, derivative
from randomness import seeded

GIVEN = Rotation.random(5, rng=seeded("orientations")).as_matrix()
KNOT = paths.curve(
    lambda u: (np.sin(u) + 2 * np.sin(2 * u), np.cos(u) - 2 * np.cos(2 * u), -np.sin(3 * u)), 0, 6
)
ROJAS = sphere_cylinder(0.5, 0.2)
HELIX = paths.helix([1, 2, 3], [2, 2, 5], [1, 1, 2], angle=5.0, pitch=0.4)
SPLINE = paths.spline(seeded("spline").normal(size=(6, 3)))
# An S with an inflection in the middle, and a curve with a straight part between two bends out of one plane.
ESS = paths.curve(lambda u: (u, np.sin(u), 0), 0, 2 * np.pi)
PAUSE = paths.rounded([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], radius=0.3)
ORIENTATIONS = {
    "fixed": paths.fixed(GIVEN[0]),
    "slerp": paths.turning(GIVEN[:2]),
    "three": paths.turning(GIVEN[:3]),
    "five": paths.turning(GIVEN, knots=[0, 1, 3, 4, 5]),
    "Frenet, helix": paths.frenet(HELIX),
    "Frenet, Rojas": paths.frenet(ROJAS),
    "Frenet, knot": paths.frenet(KNOT),
    "Frenet, spline": paths.frenet(SPLINE),
    "Frenet, evenly": paths.frenet(paths.evenly(ROJAS)),
    "minimal, helix": paths.minimal(HELIX),
    "minimal, Rojas": paths.minimal(ROJAS),
    "minimal, knot": paths.minimal(KNOT, normal=[0, 0, 1]),
    "minimal, spline": paths.minimal(SPLINE),
    "minimal, inflection": paths.minimal(ESS),
    "minimal, straight part": paths.minimal(PAUSE),
    "minimal, line": paths.minimal(paths.line([0, 0, 0], [1, 2, 3])),
    "turned": paths.frenet(HELIX).turned(GIVEN[1]),
}
BREAKS = {
    "three": [0.5],
    "five": [0.2, 0.6, 0.8],
    "Frenet, spline": SPLINE.breaks,
    "minimal, straight part": PAUSE.breaks,
}


@pytest.mark.parametrize("name", ORIENTATIONS)
def test_rates_are_those_of_the_rotation(name):
    orientation: Orientation = ORIENTATIONS[name]
    s = away_from(BREAKS.get(name, [-1.0]), np.linspace(0.01, 0.99, 33))
    R, w, dw = orientation(s)
    assert np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max() < 3e-14
    assert np.linalg.det(R) == pytest.approx(np.ones(len(s)), abs=1e-13)
    expected, asymmetry = angular(R, derivative(lambda x: orientation(x).rotation, s))
    # The fifth derivative of a frame that turns at a rate w is w⁵, its error w⁵ h⁴/30.
    fastest = np.linalg.norm(w, axis=-1).max() + np.abs(dw).max() ** 0.5
    tolerance = 1e-11 + fastest**5 * 1e-12
    assert asymmetry < tolerance
    assert w == pytest.approx(expected, abs=tolerance)
    assert dw == pytest.approx(
        derivative(lambda x: orientation(x).rate, s), abs=30 * fastest * tolerance
    )


@pytest.mark.parametrize("name", ORIENTATIONS)
def test_any_shape_of_parameters(name):
    s = np.linspace(0, 1, 12)
    flat, shaped = ORIENTATIONS[name](s), ORIENTATIONS[name](s.reshape(3, 2, 2))
    for a, b in zip(flat, shaped, strict=True):
        assert a == pytest.approx(b.reshape(a.shape), abs=1e-12)
    for a, b in zip(flat, ORIENTATIONS[name](s[5]), strict=True):
        assert a[5] == pytest.approx(b, abs=1e-12)


# --- interpolation -----------------------------------------------------------------------------------------------


def test_slerp_turns_at_a_constant_rate_about_one_axis():
    R, w, dw = paths.turning(GIVEN[:2])(np.linspace(0, 1, 9))
    assert R[0] == pytest.approx(GIVEN[0], abs=1e-15)
    assert R[-1] == pytest.approx(GIVEN[1], abs=1e-14)
    assert np.ptp(w, axis=0).max() < 20 * np.spacing(
        np.pi
    )  # rounding: two products of matrices, rates up to pi
    assert np.abs(dw).max() < 1e-14
    assert np.linalg.norm(w[0]) == pytest.approx(
        Rotation.from_matrix(GIVEN[1] @ GIVEN[0].T).magnitude(), abs=1e-14
    )


@given(st.integers(0, 10**6), st.integers(3, 7), st.floats(0.1, 1.5))
def test_a_turn_through_several_meets_each_and_its_acceleration_is_continuous(seed, count, size):
    rng = np.random.default_rng(seed)
    steps = Rotation.from_rotvec(size * rng.uniform(-1, 1, size=(count, 3)))
    R = [steps[0]]
    for step in steps[1:]:
        R.append(R[-1] * step)
    given_R = np.array([r.as_matrix() for r in R])
    knots = np.linspace(0, 1, count)
    orientation = paths.turning(given_R)
    assert orientation(knots).rotation == pytest.approx(given_R, abs=1e-12)
    before, after = (orientation(knots[1:-1] + side * 1e-12) for side in (-1, 1))
    scale = np.abs(orientation(np.linspace(0, 1, 50)).rate_change).max() + 1
    assert before.rate == pytest.approx(after.rate, abs=1e-9 * scale)
    assert before.rate_change == pytest.approx(
        after.rate_change, abs=1e-6 * scale
    )  # SciPy iterates to 1e-9 of rates


def test_turning_the_short_way():
    R = paths.turning([np.eye(3), rotation_z(3.5)])(0.5).rotation
    assert pytest.approx(rotation_z((3.5 - 2 * np.pi) / 2), abs=1e-15) == R


# --- the Frenet frame --------------------------------------------------------------------------------------------


def test_the_frenet_frame_of_a_helix_turns_steadily_about_its_axis():
    """ω = |p'| (τ e_t + κ e_b) = angle times the axis, whatever the pitch."""
    axis = np.array([1, 1, 2]) / np.sqrt(6)
    R, w, dw = paths.frenet(HELIX)(np.linspace(0, 1, 7))
    assert w == pytest.approx(np.tile(5.0 * axis, (7, 1)), abs=1e-13)
    assert dw == pytest.approx(np.zeros((7, 3)), abs=1e-12)
    turned = rotation_about(axis, 5.0 * np.linspace(0, 1, 7)) @ R[0]
    assert pytest.approx(turned, abs=1e-14) == R


@pytest.mark.parametrize("curve", [HELIX, ROJAS, KNOT, SPLINE], ids=lambda c: c.name)
def test_the_frenet_frame_is_of_tangent_normal_and_binormal(curve):
    s = np.linspace(0, 1, 21)
    R = paths.frenet(curve)(s).rotation
    assert R[..., 0] == pytest.approx(curve.tangent(s), abs=1e-15)
    # The acceleration lies in the plane of tangent and normal, on the normal's side.
    along = np.einsum("ni,nij->nj", curve(s, 2), R)
    assert (along[:, 1] > 0).all()
    assert along[:, 2] == pytest.approx(np.zeros(21), abs=1e-12 * np.abs(along).max())


@pytest.mark.parametrize(
    ("curve", "place"),
    [
        (paths.line([0, 0, 0], [1, 0, 0]), "0"),
        (ESS, "0.5"),
        (paths.curve(lambda u: (u, u**4, 0), -1, 2), "0.333"),
        (PAUSE, "0"),
    ],
    ids=["line", "inflection", "flat point", "straight part"],
)
def test_where_the_curvature_vanishes_the_frenet_frame_says_so(curve, place):
    with pytest.raises(
        paths.PathError, match=rf'is straight at s = {place}.*use orientation="minimal"'
    ):
        paths.frenet(curve)
    paths.minimal(curve)


def test_where_two_arcs_bend_opposite_ways_the_frenet_frame_says_so():
    up = paths.arc([0, 1, 0], [0, 0, 0], [0, 0, 1], 1.0)
    down = paths.arc([0, -1, 0], [0, 0, 0], [0, 0, -1], 1.0)
    ess = paths.chain(up.reversed(), paths.arc([0, -1, 0], [0, 0, 0], [0, 0, 1], 1.0))
    with pytest.raises(
        paths.PathError, match=r"jumps at s = 0\.5, where the curve bends another way"
    ):
        paths.frenet(ess)
    # The same way on, it is one circle's.
    assert paths.frenet(paths.chain(down.reversed().part(0, 0.5), down.reversed().part(0.5, 1)))


def test_curvature_that_vanishes_where_it_is_asked():
    with pytest.raises(paths.PathError, match=r"is straight at s = 0\.5"):
        ESS.torsion([0.2, 0.5])
    assert ESS.curvature(0.5) == pytest.approx(0.0, abs=1e-15)


# --- the rotation-minimising frame -------------------------------------------------------------------------------

FOLLOWED = {
    "helix": HELIX,
    "Rojas": ROJAS,
    "knot": KNOT,
    "spline": SPLINE,
    "inflection": ESS,
    "straight part": PAUSE,
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_the_minimal_frame_follows_the_tangent_and_does_not_spin_about_it(name):
    curve, s = FOLLOWED[name], np.linspace(0, 1, 101)
    R, w, _ = paths.minimal(curve)(s)
    assert R[..., 0] == pytest.approx(curve.tangent(s), abs=1e-13)
    assert np.einsum("ni,ni->n", w, curve.tangent(s)) == pytest.approx(
        np.zeros(101), abs=1e-13 * np.abs(w).max()
    )


@pytest.mark.parametrize("name", FOLLOWED)
def test_the_minimal_frame_is_the_limit_of_double_reflections(name):
    """Wang, Juettler, Zheng and Liu (2008): two reflections a step, with a global error of fourth order."""
    curve = FOLLOWED[name]
    n = 4000
    s = np.unique(np.concatenate([np.linspace(0, 1, n + 1), curve.breaks]))
    p, t = curve(s), curve.tangent(s)
    minimal = paths.minimal(curve)
    r = minimal(0.0).rotation[:, 1]
    for k in range(len(s) - 1):
        v = p[k + 1] - p[k]
        r, left = (x - 2 / (v @ v) * (v @ x) * v for x in (r, t[k]))
        u = t[k + 1] - left
        r = r - 2 / (u @ u) * (u @ r) * u
    # Rounding: the second reflection divides by |t + t|, harmless; 4,000 steps of 1e-16 and (20/4000)⁴.
    assert minimal(1.0).rotation[:, 1] == pytest.approx(r, abs=1e-8)


@pytest.mark.parametrize("curve", [HELIX, ROJAS], ids=["helix", "Rojas"])
def test_the_minimal_frame_turns_against_the_frenet_frame_by_the_total_torsion(curve):
    R, F = paths.minimal(curve)(1.0).rotation, paths.frenet(curve)(1.0).rotation
    x, weights = np.polynomial.legendre.leggauss(60)
    s = (x + 1) / 2
    total = weights / 2 @ (curve.torsion(s) * np.linalg.norm(curve(s, 1), axis=-1))
    turned = F @ rotation_x(-total)
    assert pytest.approx(turned, abs=1e-11) == R


def test_in_a_plane_the_minimal_frame_is_the_frenet_frame():
    arc = paths.arc([0, 0, 0], [1, 0, 0], [1, 0, 5], 4.0)
    s = np.linspace(0, 1, 9)
    for a, b in zip(paths.minimal(arc)(s), paths.frenet(arc)(s), strict=True):
        assert a == pytest.approx(b, abs=1e-13)


def test_the_minimal_frame_stands_still_on_a_straight_part_and_is_carried_through():
    minimal = paths.minimal(PAUSE)
    a, b = PAUSE.knots[2:4]  # the straight part between the two bends
    middle = minimal(np.linspace(a, b, 9))
    assert np.ptp(middle.rotation[:-1], axis=0).max() < 1e-14
    assert not middle.rate[:-1].any()
    before, after = (minimal(PAUSE.knots[1:-1] + side * 1e-12).rotation for side in (-1, 1))
    assert before == pytest.approx(after, abs=1e-10)


def test_through_an_inflection_the_second_axis_keeps_its_side():
    s = np.linspace(0, 1, 201)
    R = paths.minimal(ESS, normal=[0, 0, 1])(s).rotation
    assert R[..., 1] == pytest.approx(np.tile([0.0, 0, 1], (201, 1)), abs=1e-13)


@pytest.mark.parametrize("turns", [1, 2, 4, 8, 500])
def test_many_turns_are_neither_overlooked_nor_a_corner(turns):
    """A helix's frame turns against the Frenet frame by torsion times length."""
    helix = paths.helix([0, 0, 0], [1, 0, 0], [0, 0, 1], 2 * np.pi * turns, pitch=0.05)
    R = paths.minimal(helix)(1.0).rotation
    total = helix.torsion(0.0) * helix.length
    assert pytest.approx(paths.frenet(helix)(1.0).rotation @ rotation_x(-total), abs=1e-9) == R


def test_the_minimal_frame_starts_as_asked():
    assert paths.minimal(KNOT, normal=[1, 2, 3])(0.0).rotation[:, 1] @ KNOT.tangent(
        0.0
    ) == pytest.approx(0, abs=1e-15)
    line = paths.minimal(paths.line([0, 0, 0], [0, 0, 2]), normal=[1, 0, 5])
    assert line(0.3).rotation[:, 1] == pytest.approx([1, 0, 0], abs=1e-15)


def test_a_tool_on_a_frame_turns_with_it():
    frame, tool = paths.frenet(HELIX), rotation_x(0.3)
    s = np.linspace(0, 1, 5)
    assert frame.turned(tool)(s).rotation == pytest.approx(frame(s).rotation @ tool, abs=1e-15)
    assert frame.turned(tool)(s).rate.tolist() == frame(s).rate.tolist()
    assert repr(frame.turned(tool)) == "<Orientation: Frenet frame, turned>"
