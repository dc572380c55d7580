"""Own solids and hulls against trimesh's and SciPy's, which are slow to import and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from eslabon.scene import primitives
from eslabon.scene.primitives import hull
from eslabon.scene.solids import bar, plate
from randomness import examples, seeded

create = trimesh.creation
SOLIDS = {
    "cylinder": (primitives.cylinder(2.0, 3.0), create.cylinder(2.0, 3.0)),
    "tube": (primitives.cylinder(2.0, 3.0, 28), create.cylinder(2.0, 3.0, 28)),
    "capsule": (primitives.capsule(2.0, 3.0), create.capsule(3.0, 2.0)),
    "bar": (primitives.capsule(2.0, 3.0, 14, 14), create.capsule(3.0, 2.0, [14, 14])),
    "ball": (primitives.ball(2.0), create.icosphere(2, 2.0)),
    "box": (primitives.box((1.0, 2.0, 3.0)), create.box((1.0, 2.0, 3.0))),
}


def triangles(solid) -> np.ndarray:
    """Its triangles, each from its first corner on, in an order that no list of vertices decides."""
    found = np.round(np.asarray(solid.vertices)[np.asarray(solid.faces)], 9) + 0.0
    turned = [
        min((np.roll(t, k, axis=0) for k in range(3)), key=lambda x: x.tolist()) for t in found
    ]
    return np.array(sorted(turned, key=lambda x: x.tolist()))


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_have_the_triangles_of_trimesh(name):
    own, theirs = SOLIDS[name]
    np.testing.assert_allclose(triangles(own), triangles(theirs), atol=1e-8)
    assert len(own.vertices) == len(theirs.vertices)
    assert trimesh.Trimesh(*own, process=False).is_volume  # closed, and seen from outside


def test_small_solids_are_whole():
    made = trimesh.Trimesh(*bar(np.zeros(3), np.array([1e-5, 0.0, 0.0]), 1e-6), process=False)
    assert made.is_watertight
    assert len(made.faces) == 14 * (2 * 14 + 2 - 2)


def test_a_plate_is_the_hull_of_its_rims(rng):
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    points = np.column_stack([rng.normal(size=(5, 2)), np.zeros(5)]) @ R.T
    made = trimesh.Trimesh(*plate(points, 0.1, R[:, 2]), process=False)
    assert made.is_volume
    assert made.volume == pytest.approx(0.1 * ConvexHull(made.vertices @ R[:, :2]).volume, rel=1e-9)
    gaps = np.linalg.norm(made.vertices[:, None] - points, axis=-1).min(axis=1)
    np.testing.assert_allclose(gaps, np.hypot(0.1, 0.05))


@examples(60)
@given(seed=st.integers(0, 10_000), count=st.integers(3, 40), grid=st.booleans())
def test_hulls_are_those_of_qhull(seed, count, grid):
    rng = seeded(seed)
    points = rng.integers(0, 6, (count, 2)).astype(float) if grid else rng.normal(size=(count, 2))
    assume(np.linalg.matrix_rank(points - points[0]) == 2)
    found, theirs = points[hull(points)], ConvexHull(points)
    assert {tuple(p) for p in found} == {tuple(p) for p in points[theirs.vertices]}
    x, y = found.T
    assert 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)) == pytest.approx(
        theirs.volume
    )  # counterclockwise


def test_points_on_a_line_have_two_corners():
    assert len(hull(np.outer(np.arange(5.0), [1.0, 2.0]))) == 2


def test_few_points_have_a_hull():
    for count in (0, 1, 2):
        assert hull(np.zeros((count, 2))) == list(range(count))
    assert len(hull(np.zeros((4, 2)))) <= 2
    assert sorted(hull(np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]))) == [0, 1]
