"""What is drawn of a mechanism is where mechanics says it is."""

import numpy as np
import pytest

import eslabon as es
from eslabon.scene import body_poses, external_arrows, moved, reaction_arrows, scene_of
from random_mechanisms import random_closed, random_coordinates, random_tree

KINDS = [
    "revolute",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "fixed",
]


def test_body_poses_are_those_of_the_frames_and_a_batch_is_its_single_calls(
    rng: np.random.Generator,
) -> None:
    m = random_tree(rng, KINDS)
    q = np.array([random_coordinates(rng, m) for _ in range(3)])
    poses = body_poses(m, q)
    for k, body in enumerate(scene_of(m).bodies):
        np.testing.assert_allclose(
            poses[:, k], np.broadcast_to(m.pose(q, body), (3, 4, 4)), atol=1e-12
        )
    np.testing.assert_array_equal(poses[1], body_poses(m, q[1]))


def test_body_poses_take_parameters() -> None:
    m = es.load("elbow")
    longer = body_poses(m, [0.3, 0.4], {"a1": 1.7})
    np.testing.assert_allclose(
        longer, body_poses(m.with_parameters(a1=1.7), [0.3, 0.4]), atol=1e-14
    )


def test_both_sides_of_every_cut_joint_meet_in_a_closed_configuration(
    rng: np.random.Generator,
) -> None:
    m, q = random_closed(rng, ["revolute"] * 7, ["spherical"])
    s, poses = scene_of(m), body_poses(m, q)
    for mark in (j for j in s.joints if j.role == "cut"):
        first, second = (
            poses[s.bodies.index(b)] @ T
            for b, T in ((mark.parent, mark.on_parent), (mark.child, mark.on_child))
        )
        np.testing.assert_allclose(first[:3, 3], second[:3, 3], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_drawn_axes_are_the_motions_that_the_joint_leaves_free(
    kind: str, rng: np.random.Generator
) -> None:
    m = random_tree(rng, [kind])
    mark = scene_of(m).joints[0]
    S = np.array(
        m.joints[0].kind.motion(np.array(m.joints[0].kind.neutral())), dtype=float
    ).reshape(6, -1)
    assert len(mark.rotations) + len(mark.translations) == S.shape[1]
    assert np.allclose(
        np.linalg.norm(np.concatenate([mark.rotations, mark.translations]), axis=-1), 1.0
    )


PLANAR = [
    "five_bar",
    "planar_3rrr",
    "cart_pole",
    "excavator",
    "slider_crank",
    "double_pendulum",
    "andrews_squeezer",
]
SPATIAL = [
    "delta",
    "stewart_gough",
    "puma560",
    "scara",
    "bennett",
    "rssr",
    "sarrus",
    "spatial_four_bar",
]


@pytest.mark.parametrize("name", PLANAR + SPATIAL)
def test_planar_mechanisms_are_known_as_such(name: str) -> None:
    assert (scene_of(es.load(name)).plane is not None) == (name in PLANAR)


@pytest.mark.parametrize("name", PLANAR)
def test_nothing_moves_out_of_the_plane_and_gravity_points_down(
    name: str, rng: np.random.Generator
) -> None:
    m = es.load(name)
    s = scene_of(m)
    assert s.plane is not None
    np.testing.assert_allclose(s.plane @ s.plane.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(s.plane) == pytest.approx(1.0)
    right, up, normal = s.plane
    assert right @ m.gravity == pytest.approx(0.0, abs=1e-9)
    assert up @ m.gravity <= 1e-9
    v = rng.normal(size=m.nv)
    for b in m.bodies:
        twist = m.velocity(m.home(), v, b.name, axes="aligned")
        assert abs(twist[3:] @ normal) + np.linalg.norm(np.cross(twist[:3], normal)) < 1e-9


def test_a_mechanism_of_slides_alone_lies_in_a_plane_or_in_space() -> None:
    def table(*axes: str) -> es.Mechanism:
        b = es.Builder("table", gravity=(0, 0, 0))
        for k, axis in enumerate(axes):
            b.body(f"b{k}", mass=1.0).joint(
                f"q{k}", "prismatic", "ground" if k == 0 else f"b{k - 1}", f"b{k}", axis=axis
            )
        return b.build()

    assert scene_of(table("x", "y")).plane is not None
    assert scene_of(table("x", "y", "z")).plane is None


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_closed_solids_of_known_bodies(kind: str, rng: np.random.Generator) -> None:
    m = random_tree(rng, [kind, "revolute", kind])
    s = scene_of(m)
    for part in s.parts:
        assert part.body in s.bodies
        assert np.isfinite(part.vertices).all()
        assert part.faces.min() >= 0
        assert part.faces.max() < len(part.vertices)
        edges = np.sort(part.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all(), part.name  # watertight


def test_every_link_reaches_all_the_points_where_something_is_attached() -> None:
    s = scene_of(es.load("stewart_gough"))
    for link in s.links:
        if link.body == "ground":
            continue
        solids = np.concatenate([p.vertices for p in s.primitives if p.body == link.body])
        for point in link.points:
            assert np.linalg.norm(solids - point, axis=1).min() < s.size / 30


def test_a_mechanism_without_extent_or_motion_still_has_a_scene() -> None:
    b = es.Builder("stone").body("stone", mass=1.0)
    m = b.joint("held", "fixed", "ground", "stone").build()
    s = scene_of(m)
    assert s.size > 0
    assert s.plane is None
    assert s.parts


def test_reactions_point_as_the_balance_of_forces_says() -> None:
    m = es.load("double_pendulum")
    q = np.array([0.4, 0.9])
    arrows = reaction_arrows(m, q, m.reactions(q, np.zeros(2), np.zeros(2)))
    weight = sum(float(b.mass) for b in m.bodies) * -np.array(m.gravity)
    np.testing.assert_allclose(arrows.forces[0], weight, atol=1e-9)
    np.testing.assert_allclose(arrows.points[1], m.pose(q, m.bodies[1].name)[:3, 3], atol=1e-12)


def test_external_wrenches_are_seen_in_the_grounds_axes() -> None:
    m = es.load("elbow")
    q = [np.pi / 2, 0.0]
    arrows = external_arrows(m, q, {"tool": [0, 0, 0, 1.0, 0, 0]})
    np.testing.assert_allclose(arrows.forces[0], m.pose(q)[:3, 0], atol=1e-12)
    np.testing.assert_allclose(arrows.points[0], m.pose(q)[:3, 3], atol=1e-12)


def test_moved_places_points_of_many_configurations(rng: np.random.Generator) -> None:
    m = es.load("elbow")
    q = rng.normal(size=(5, 2))
    placed = moved(body_poses(m, q)[:, 1], [[0.1, 0.2, 0.3], [0, 0, 0]])
    assert placed.shape == (5, 2, 3)
