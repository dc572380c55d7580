"""What a singular configuration loses and gains is told, and the ellipsoid is what unit rates make of the frame."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import eslabon as es
from eslabon.model import KINDS
from eslabon.model.configuration import difference, integrate, velocity_names
from eslabon.numerics import rotation_z
from eslabon.solve.constraints.closed_configurations import beside
from eslabon.solve.singular.singularity import in_words
from random_mechanisms import random_closed, random_coordinates, random_tree
from randomness import seeded

PARTS = {"all": slice(0, 6), "rotation": slice(0, 3), "translation": slice(3, 6)}


def elbow_arm():
    return es.load("puma560")


def singular_along(m, q, k, values):
    """A configuration where det J is zero, found by bisection along one joint."""

    def det(x):
        return np.linalg.det(m.jacobian(np.where(np.arange(m.nq) == k, x, q)))

    found = [det(x) for x in values]
    after = next(i for i in range(1, len(values)) if found[i - 1] * found[i] < 0)
    x = brentq(det, values[after - 1], values[after], xtol=1e-15)
    return np.where(np.arange(m.nq) == k, x, q)


def assert_lost(m, q, told, frame=None, part="all"):
    """Carried wrenches do no work in any motion of the joints: exactly on J, and by finite differences of the pose."""
    J = m.jacobian(q, frame, axes="aligned")
    assert np.abs(told.carried @ J).max() < 1e-9 * np.abs(J).max()
    step = 1e-5
    for v in seeded("assert_lost").normal(size=(5, m.nv)):
        before, after = (m.pose(integrate(m, q, sign * step * v), frame) for sign in (-1, 1))
        turn = after[:3, :3] @ before[:3, :3].T
        moved = np.concatenate(
            [
                [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]],
                np.zeros(3),
            ]
        )
        moved[:3] /= 2
        moved[3:] = after[:3, 3] - before[:3, 3]
        assert np.abs(told.carried @ moved).max() < 1e-4 * np.linalg.norm(moved)
        assert np.abs(moved[PARTS[part]]).max() > 1e-7


# -- lost and gained --------------------------------------------------------------------------------------------------


def test_the_wrist_of_a_puma():
    m = elbow_arm()
    q = np.array([0.3, 0.7, -2.5, 0.4, 0.0, 0.2])
    told = m.singularity(q)
    assert told.exact
    assert told.lost.shape == (1, 6)
    assert_lost(m, q, told)
    assert told.words[1] == "q4, q6 can move without moving 'tool'"
    fourth, fifth = m.jacobian(q, axes="aligned")[:3, 3:5].T
    assert np.allclose(np.abs(told.lost[0, :3]), np.abs(np.cross(fourth, fifth)), atol=1e-9)
    # in the plane of the arm it is the pure rotation about the third direction of the wrist
    assert (
        m.singularity([0, 0.8, -2.4, 0, 0, 0])
        .words[0]
        .startswith("'tool' has lost its rotation about (")
    )


def test_the_elbow_and_the_shoulder_of_a_puma():
    m = elbow_arm()
    q = np.array([0.1, 0.3, 0.0, 0.2, 0.9, 0.1])
    stretched = singular_along(m, q, 2, np.linspace(-3, 0, 50))
    told = m.singularity(stretched)
    assert_lost(m, stretched, told)
    # the wrist centre, which here is the tool's origin, cannot come nearer to the shoulder nor go away from it
    shoulder = m.jacobian(stretched, axes="aligned")[:, 1]
    reach = np.cross(shoulder[:3], shoulder[3:])
    reach /= np.linalg.norm(reach)
    assert abs(told.lost[0, 3:] @ reach) > 0.95  # but for the offset of the shoulder
    assert "translation along" in told.words[0]
    above = singular_along(m, np.array([0.1, 0.0, -1.0, 0.2, 0.9, 0.1]), 1, np.linspace(0, 3, 50))
    told = m.singularity(above)
    assert_lost(m, above, told)
    side = rotation_z(0.1) @ [
        0,
        1,
        0,
    ]  # the wrist centre over the shoulder's axis, offset to one side, loses that way
    assert np.allclose(np.abs(told.lost[0]), np.abs([0, 0, 0, *side]), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_random_arms_lose_one_direction_where_the_determinant_is_zero(seed):
    rng = seeded(seed)
    m = random_tree(
        rng,
        ["revolute", "revolute", "helical", "revolute", "prismatic", "revolute"],
        branched=False,
    )
    q = rng.uniform(-1, 1, 6)
    try:
        q = singular_along(m, q, 3, np.linspace(-np.pi, np.pi, 60))
    except StopIteration:
        q = singular_along(m, q, 1, np.linspace(-np.pi, np.pi, 60))
    told = m.singularity(q)
    assert told.lost.shape == told.carried.shape == (1, 6)
    assert_lost(m, q, told)
    assert told.self_motions.shape == (1, 6)
    assert np.abs(m.jacobian(q) @ told.self_motions[0]).max() < 1e-9
    aside = beside(m, q, rng)
    assert m.singularity(aside).words == ()
    # next to it the same direction is nearly lost
    near = integrate(m, q, 1e-4 * rng.normal(size=6))
    nearly = m.singularity(near, tolerance=1e-2)
    assert not nearly.exact
    assert nearly.lost.shape[0] >= 1
    assert (
        min(np.abs(nearly.lost - s * told.lost).max() for s in (-1, 1)) < 0.1
        or nearly.lost.shape[0] > 1
    )


@pytest.mark.parametrize("seed", range(6))
def test_no_random_mechanism_is_told_to_have_lost_anything(seed):
    rng = seeded(seed)
    kinds = [k for k in KINDS if k != "fixed"]
    m = random_tree(rng, list(rng.choice(kinds, size=4)))
    for part in PARTS:
        told = m.singularity(random_coordinates(rng, m), "tip", part)
        assert not len(told.lost)
        assert not len(told.gained)
        assert not told.locked


@pytest.mark.parametrize("cut", ["revolute", "cylindrical", "universal", "planar"])
def test_self_motions_of_random_loops_keep_them_closed_and_the_frame_at_rest(cut, rng):
    m, q = random_closed(rng, ["spherical", "universal", "cylindrical", "planar", "helical"], [cut])
    q = m.project(q)
    told = m.singularity(q, "tip")
    assert not len(told.lost)
    assert not len(told.gained)
    free = m.nv - np.linalg.matrix_rank(m.constraint_jacobian(q))
    both = np.vstack([m.constraint_jacobian(q), m.jacobian(q, "tip")])
    assert len(told.self_motions) == m.nv - np.linalg.matrix_rank(both) <= free
    assert np.abs(both @ told.self_motions.T).max(initial=0.0) < 1e-9


def test_motions_that_locked_actuators_do_not_hold():
    m = es.load("parallelogram")
    told = m.singularity(np.zeros(3), "coupler")
    assert "locked actuators do not hold q2, q3, a rotation about (0, 0, 1)" in told.words[0]
    assert told.gained.shape == (1, 3)
    assert not len(m.singularity(m.home(), "coupler").gained)

    five = es.load("five_bar").with_parameters(L2=0.07, L5=0.07)
    # both distal links in one line, at an angle
    ends = np.array([0.1 - 0.2 * np.cos(0.3), -0.2 * np.sin(0.3)])

    def gap(x):  # from the end of crank 1 along the line of 0.2 m to the end of crank 2
        return np.hypot(*(0.07 * np.array([np.cos(x), np.sin(x)]) - ends)) - 0.07

    x = brentq(gap, 2.0, 3.5)
    crank = 0.07 * np.array([np.cos(x), np.sin(x)]) - ends
    y = np.arctan2(crank[1], crank[0])
    q = np.array([x, 0.3 - x, y, 0.3 + np.pi - y])
    assert np.abs(five.constraint(q)).max() < 1e-12
    told = five.singularity(q, part="translation")
    assert told.gained.shape == (1, 4)
    assert np.allclose(told.gained[0, [0, 2]], 0, atol=1e-9)
    assert np.abs(five.constraint_jacobian(q) @ told.gained[0]).max() < 1e-9
    # the point moves across the line
    way = five.velocity(q, told.gained[0], axes="aligned")[3:]
    assert abs(way @ [np.cos(0.3), np.sin(0.3), 0]) < 1e-9 < np.linalg.norm(way)
    with pytest.raises(es.SingularityError, match="parallel singular configuration"):
        five.manipulability(q)


def test_a_delta_with_level_rods_holds_nothing_out_of_their_plane():
    lean = np.pi / 3
    own = {"L_rod": 0.15 + 0.35 * np.cos(lean), "bend": np.pi - lean}
    d = es.load("delta").description
    m = es.Mechanism(
        replace(d, parameters=tuple((name, own.get(name, x)) for name, x in d.parameters))
    )
    q = np.zeros(m.nq)
    for k in (1, 2, 3):
        q[m.coordinates[f"arm{k}"]] = lean
        for side in "ab":
            q[m.coordinates[f"elbow{k}{side}"]] = (np.pi - lean, 0)
    q[m.coordinates["ball1a"]] = (0, 0, -1, 0)
    told = m.singularity(q)
    assert told.gained.shape[0] == 3
    assert np.linalg.matrix_rank(told.gained_twists, tol=1e-9) == 3
    assert np.allclose(
        told.gained_twists[:, [2, 3, 4]], 0, atol=1e-9
    )  # neither turning about z nor shifting in the plane
    assert np.abs(m.constraint_jacobian(q) @ told.gained.T).max() < 1e-9


def test_a_dead_centre_locks_the_slider():
    m = es.load("slider_crank")
    q = m.assemble([0.0])
    told = m.singularity(q, "slider")
    assert told.locked == ("slide",)
    assert told.words[0] == "'slider' has lost its translation along (1, 0, 0)"
    squeezer = es.load("andrews_squeezer")  # at home the crank is at a dead centre
    told = squeezer.singularity(squeezer.project(squeezer.home()), squeezer.bodies[-1].name)
    assert len(told.lost) == len(told.self_motions) == 1
    assert told.locked
    assert not m.singularity(m.assemble([0.5]), "slider").words


def test_twists_in_words():
    assert in_words(np.array([0, 0, 0, 0, -3.0, 0]), np.zeros(3)) == "translation along (0, 1, 0)"
    screw = np.array([0, 0, 1.0, 0, 2.0, 0.5])
    assert (
        in_words(screw, np.array([0, 0, 1.0]))
        == "screw motion about (0, 0, 1) through (-2, 0, 1) with pitch 0.5 m/rad"
    )


# -- the ellipsoid ----------------------------------------------------------------------------------------------------


def assert_ellipsoid(found, T):
    """The images of unit rates fill it: each lies on it or within, and T T^T is its matrix."""
    assert np.allclose(found.matrix, T, atol=1e-12)
    made = np.einsum("ki,k,kj->ij", found.axes, found.lengths**2, found.axes)
    assert np.allclose(made, T @ T.T, atol=1e-9 * max(1.0, np.abs(T).max() ** 2))
    sizes = np.linalg.svd(T, compute_uv=False)
    sizes = sizes[sizes > 1e-9 * sizes.max()]
    assert found.measure == pytest.approx(np.prod(sizes))
    assert np.allclose(found.forces * found.lengths, 1)
    u = seeded("assert_ellipsoid").normal(size=(20, T.shape[1]))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    inside = np.sum((u @ T.T @ found.axes.T / found.lengths) ** 2, axis=1)
    assert np.all(inside <= 1 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("part", PARTS)
def test_the_ellipsoid_of_random_trees(seed, part):
    rng = seeded(seed)
    m = random_tree(
        rng,
        [*rng.choice([k for k in KINDS if k != "fixed"], size=3), "revolute"],
        branched=seed % 2 == 0,
    )
    q = random_coordinates(rng, m)
    assert_ellipsoid(
        m.manipulability(q, "tip", part), m.jacobian(q, "tip", axes="aligned")[PARTS[part]]
    )


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "delta", "stewart_gough"])
@pytest.mark.parametrize("part", ["all", "translation"])
def test_the_ellipsoid_of_parallel_robots(name, part):
    m = es.load(name)
    q = m.project(m.home())
    frame = m.frames[0].name
    T = []
    own = np.concatenate([q[m.coordinates[name]] for name in m.actuated])
    for rates in np.eye(m.nu):  # one actuator at a time
        _, v, _ = m.complete(own, rates, np.zeros(m.nu), q)
        T.append(m.velocity(q, v, frame, axes="aligned")[PARTS[part]])
    assert_ellipsoid(m.manipulability(q, frame, part), np.array(T).T)


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_the_ellipsoid_of_random_loops(seed):
    rng = seeded(seed)
    m, q = random_closed(rng, ["universal", "cylindrical", "spherical", "revolute"], ["revolute"])
    q = m.project(q)
    found = m.manipulability(q, "tip")
    free = np.linalg.svd(m.constraint_jacobian(q))[2][
        np.linalg.matrix_rank(m.constraint_jacobian(q)) :
    ]
    places = [velocity_names(m).index(name) for name in m.independent_coordinates()]
    v = free.T @ np.linalg.inv(free[:, places].T)  # unit independent velocities, one a column
    assert_ellipsoid(found, m.jacobian(q, "tip", axes="aligned") @ v)


def test_a_batch_of_ellipsoids_is_its_single_ones_and_shared_actuation(rng):
    m = elbow_arm()
    q = rng.uniform(-1, 1, (2, 3, 6))
    many = m.manipulability(q, part="translation")
    assert many.lengths.shape == (2, 3, 3)
    one = m.manipulability(q[1, 2], part="translation")
    assert np.allclose(many.measure[1, 2], one.measure)
    assert np.isclose(one.volume, 4 / 3 * np.pi * np.prod(one.lengths))
    crank = es.load("slider_crank").with_actuated(["crank", "slide"])
    q = crank.assemble({"crank": 0.7})
    _, v, _ = crank.complete({"crank": 0.7}, [1.0], [0.0], q)
    found = crank.manipulability(q, "slider", "translation")
    assert np.isclose(found.lengths[0], abs(v[2]) / np.hypot(v[0], v[2]))
    wrist = elbow_arm().manipulability([0, 0.8, -2.4, 0, 0, 0])
    assert wrist.measure < 1e-15
    assert np.isinf(wrist.forces[-1])
    for call, sentence in [
        (
            lambda: m.manipulability(np.zeros(6), part="place"),
            "part is 'all', 'rotation' or 'translation'",
        ),
        (lambda: m.singularity(np.zeros((2, 6))), "one configuration"),
        (
            lambda: es.load("delta").manipulability(es.load("delta").home(), part="rotation"),
            "no actuators turn 'centre'",
        ),
        (lambda: es.load("five_bar").singularity(np.zeros(4)), "violates loop closure"),
        (lambda: m.singularity(np.zeros(6), tolerance=-1), "greater than zero"),
    ]:
        with pytest.raises(es.EslabonError, match=sentence):
            call()


def test_planar_arms_are_judged_by_what_they_can_do():
    arm = es.from_dh([(0, 0, 1, 0)] * 4, name="planar")  # four joints for three directions
    assert arm.conditions([0.3, 0.4, 0.5, 0.6]).serial > 0.01
    assert arm.conditions(np.zeros(4)).serial < 1e-12
    assert (
        arm.singularity(np.zeros(4)).words[0] == "'tool' has lost its translation along (1, 0, 0)"
    )


# -- along a motion ---------------------------------------------------------------------------------------------------


def test_the_next_singular_configuration_along_a_motion():
    m = elbow_arm()
    start = np.array([0.1, 0.3, -3.0, 0.2, 0.9, 0.1])
    there = singular_along(m, start, 2, np.linspace(-3, 0, 50))[2]
    angles = np.linspace(-3.0, there + 0.6, 40)
    q = np.tile(start, (40, 1))
    q[:, 2] = angles
    found = m.conditions(q)
    passage = found.closest
    t = np.linspace(0, 2, 40)
    assert (passage.kind, passage.value) == ("serial", 0.0)
    assert np.interp(passage.at, range(40), angles) == pytest.approx(there, abs=2e-4)
    assert passage.distance == pytest.approx(there + 3.0, abs=2e-4)
    assert np.interp(passage.at, range(40), t) == pytest.approx(
        (there + 3.0) / (there + 3.6) * 2, abs=1e-3
    )
    before = angles < there
    assert np.allclose(found.distance[before], there - angles[before], atol=2e-4)
    assert np.all(np.isinf(found.distance[~before]))
    # turned back before it: the nearest place is told, and no passage
    back = m.conditions(np.concatenate([q[before], q[before][::-1]]))
    assert back.passages == ()
    assert back.closest.value > 0
    assert np.all(np.isinf(back.distance))


def test_a_passage_by_the_side_is_estimated_between_rows():
    """Beside a singular configuration the square of the condition is a parabola, whose lowest point lies between rows."""
    m = elbow_arm()
    x = np.linspace(-0.3, 0.3, 1001)
    angle = np.stack([0 * x, 0.8 + 0 * x, -2.4 + 0 * x, x, np.hypot(x, 0.05), 0 * x], axis=-1)
    fine, coarse = m.conditions(angle), m.conditions(angle[7::90])
    assert coarse.closest.value == pytest.approx(fine.serial.min(), rel=0.05)
    assert abs(7 + 90 * coarse.closest.at - fine.serial.argmin()) < 20


def test_passages_of_loops():
    m = es.load("parallelogram")
    q = m.assemble(np.linspace(1.0, -4.0, 51)[:, None], continuation=True, singular="ignore")
    found = m.conditions(q)
    assert [p.kind for p in found.passages] == ["parallel", "parallel"]
    places = [np.interp(p.at, range(51), q[:, 0]) for p in found.passages]
    assert np.allclose(places, [0.0, -np.pi], atol=1e-2)
    path = np.linalg.norm(difference(m, q[1:], q[:-1]), axis=1)
    assert found.closest.distance == pytest.approx(
        np.interp(found.closest.at, range(51), [0, *np.cumsum(path)])
    )
    with pytest.raises(es.ModelError, match="along one motion"):
        _ = m.conditions(q[0]).closest
