"""Targets of which only a part counts: reached where they can be, else as near as any allowed motion leads."""

from itertools import product

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import integrate
from eslabon.model.plane_of_motion import plane_directions
from eslabon.model.scale import characteristic_length
from eslabon.numerics import rotation_from_rotation_vector
from eslabon.solve.target import read_targets
from random_mechanisms import random_closed, random_tree
from randomness import seeded

KINDS = ["revolute", "prismatic", "spherical", "universal", "cylindrical", "helical", "planar"]


def a_state(m, seed, far=0.15):
    """A configuration some way from home, closed and within the limits."""
    rng = seeded(seed)
    q = integrate(m, m.home(), far * rng.normal(size=m.nv))
    return m.project(q, limits=False) if m.closed else q


def targets_of(m, q, frame):
    """Every kind of target, as the configuration has it."""
    T = m.pose(q, frame)
    return {
        "position": {"position": T[:3, 3]},
        "orientation": {"orientation": T[:3, :3]},
        "pose": {"pose": T},
        "axis": {"axis": T[:3, 2]},
        "position and axis": {"position": T[:3, 3], "axis": {"x": T[:3, 0]}},
        "rows": {"pose": T, "rows": ("rz", "x", "z")},
        "planar": {
            "planar": np.array(plane_directions(m)) @ T[:3, 3]
        },  # across the axis, where there is one revolute joint
    }


def error(m, q, targets):
    """|r|^2 / 2 of targets, by the forward kinematics and written here anew, lengths in units of what the solver takes."""
    rows, values = read_targets(m, targets)
    total, place, unit = 0.0, 0, characteristic_length(m)
    for part in rows:
        x = values[place : place + part.size]
        place += part.size
        T = m.pose(q, part.frame)
        name = type(part).__name__
        if name == "Position":
            r = (T[:3, 3] - x) / unit
        elif name == "Orientation":
            E = T[:3, :3] @ x.reshape(3, 3).T
            angle = np.arccos(np.clip((np.trace(E) - 1) / 2, -1, 1))
            r = np.array([angle])
        elif name == "AxisRows":
            r = T[:3, :3] @ part.axis - x
        else:
            r = (np.array([part.first, part.second]) @ T[:3, 3] - x) / unit
        total += part.weight * r @ r / 2
    return total


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_configuration_has_is_reached(closed, seed):
    """Every kind of target by a tree and by a closed mechanism; each of three takes every third kind, from three guesses."""
    rng = seeded(seed)
    m = random_closed(rng, KINDS[:5], ["spherical"])[0] if closed else random_tree(rng, KINDS)
    frame = m.bodies[-1].name
    q = a_state(m, seed)
    kinds = list(targets_of(m, q, frame).items())
    for (name, words), start in product(kinds[seed::3], (10, 11, 12)):
        guess = a_state(m, seed + start, 0.05)
        found = m.inverse_kinematics(es.Target(frame, **words), guess, limits=False, report=True)
        assert found.converged, name
        if m.closed:
            assert np.abs(m.constraint(found.q)).max() < 1e-10
        T, S = m.pose(found.q, frame), m.pose(q, frame)
        if "position" in words or ("pose" in words and "rows" not in words):
            np.testing.assert_allclose(T[:3, 3], S[:3, 3], atol=1e-9)
        if "orientation" in words:
            np.testing.assert_allclose(T[:3, :3], S[:3, :3], atol=1e-9)
        if name == "axis":
            np.testing.assert_allclose(T[:3, 2], S[:3, 2], atol=1e-9)


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "delta", "puma560", "stewart_gough"])
def test_as_near_as_possible_is_a_least(name, rng):
    """No motion that keeps the loops closed and the limits leads nearer, by differences of the error itself."""
    m = es.load(name)
    frame = m.frames[-1].name
    T = m.pose(m.assemble(m.home()[: m.nu]) if name == "five_bar" else m.project(m.home()), frame)
    targets = [es.Target(frame, position=T[:3, 3] + [3.0, 1.0, 2.0])]
    found = m.inverse_kinematics(targets, report=True)
    assert not found.converged
    q = found.q
    if m.closed:
        assert np.abs(m.constraint(q)).max() < 1e-10
        J = m.constraint_jacobian(q)
        _, size, Vt = np.linalg.svd(J)
        free = Vt[int((size > 1e-7 * size[0]).sum()) :]
    else:
        free = np.eye(m.nv)
    least = error(m, q, targets)
    low, high = (np.array(x) for x in _limits(m))
    for _ in range(40):
        v = rng.normal(size=len(free)) @ free
        for h in (1e-3, 1e-2, 0.1):
            try:
                beside = integrate(m, q, h * v)
                beside = (
                    np.clip(beside, low, high) if not m.closed else m.project(beside, limits=False)
                )
            except es.AssemblyError:
                continue
            if (beside >= low - 1e-12).all() and (beside <= high + 1e-12).all():
                assert error(m, beside, targets) >= least - 1e-9 * max(1.0, least)


def _limits(m):
    pairs = [p for j in m.joints for p in (j.limits or [(-np.inf, np.inf)] * j.nq)]
    return zip(*pairs, strict=True)


def test_several_frames_share_by_their_weights():
    """Two points that cannot both be had: the gradient of the weighted sum vanishes, and weight draws nearer."""
    m = es.load("puma560")
    frames = [m.bodies[2].name, m.bodies[-1].name]
    places = [np.array([0.4, 0.3, 0.2]), np.array([-0.5, 0.2, 0.4])]

    def misses(weight):
        targets = [
            es.Target(frames[0], position=places[0]),
            es.Target(frames[1], position=places[1], weight=weight),
        ]
        q = m.inverse_kinematics(targets, report=True, limits=False).q
        return [
            np.linalg.norm(m.pose(q, f)[:3, 3] - p) for f, p in zip(frames, places, strict=True)
        ]

    even, heavy = misses(1.0), misses(100.0)
    assert heavy[1] < even[1]
    assert heavy[0] > even[0]


def test_a_batch_is_its_single_calls(rng):
    m = es.load("five_bar")
    q = m.assemble(np.array([2.0, 1.0]) + 0.2 * rng.normal(size=(2, 3, 2)))
    p = m.pose(q)[..., :3, 3]
    found = m.inverse_kinematics(es.Target(position=p))
    assert found.shape == (2, 3, m.nq)
    np.testing.assert_allclose(m.pose(found)[..., :3, 3], p, atol=1e-9)
    for k in np.ndindex(2, 3):
        np.testing.assert_allclose(
            found[k], m.inverse_kinematics(es.Target(position=p[k])), atol=1e-7
        )
    assert m.inverse_kinematics(es.Target(position=np.zeros((0, 3)))).shape == (0, m.nq)


def test_working_modes_of_a_point():
    """A five-bar reaches a point with each leg bent to either side."""
    m = es.load("five_bar")
    p = m.pose(m.assemble([2.0, 1.0]))[:3, 3]
    modes = m.assembly_modes(es.Target(position=p))
    assert len(modes) == 4
    np.testing.assert_allclose(m.pose(modes)[:, :3, 3], np.broadcast_to(p, (4, 3)), atol=1e-9)
    assert m.inverse_kinematics(es.Target(position=p), solutions=4).shape == (4, m.nq)


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "puma560", "delta"])
def test_rates_are_those_of_the_motion(name):
    """Position, velocity and acceleration given; the joints' motion gives them back, and keeps the loops."""
    m = es.load(name)
    frame = m.frames[-1].name
    p = m.pose(m.project(m.home()), frame)[:3, 3]
    flat = name in ("five_bar", "planar_3rrr")
    v, a = np.array([0.1, -0.2, 0.0 if flat else 0.3]), np.array([0.5, 0.4, 0.0 if flat else -0.3])
    q, qd, qdd = m.complete(es.Target(frame, position=p), v, a)
    np.testing.assert_allclose(m.velocity(q, qd, frame, "aligned")[3:], v, atol=1e-8)
    np.testing.assert_allclose(m.acceleration(q, qd, qdd, frame, "aligned")[3:], a, atol=1e-7)
    if m.closed:
        m.inverse_dynamics(q, qd, qdd)  # which refuses what violates closure


def circle(m, frame, radius, duration=1.0, normal=(0, 0, 1)):
    T = m.pose(m.project(m.home()), frame)
    start = T[:3, 3]
    center = start - radius * np.array([1.0, 0, 0])
    return es.paths.along(
        es.paths.arc(center, start, normal, 2 * np.pi), es.paths.cycloidal(duration)
    )


@pytest.mark.parametrize("name", ["five_bar", "delta", "puma560"])
def test_a_position_is_followed_with_exact_rates(name):
    m = es.load(name)
    frame = m.frames[-1].name
    path = circle(m, frame, 0.01)
    motion = m.follow(
        path, guess=m.project(m.home()), frame=frame, part="position", times=np.linspace(0, 1, 41)
    )
    for k in (7, 20, 33):
        t = motion.t[k]
        np.testing.assert_allclose(
            m.pose(motion.q[k], frame)[:3, 3], path.pose(t)[:3, 3], atol=1e-9
        )
        v = m.velocity(motion.q[k], motion.v[k], frame, "aligned")[3:]
        a = m.acceleration(motion.q[k], motion.v[k], motion.a[k], frame, "aligned")[3:]
        np.testing.assert_allclose(v, path.twist(t)[3:], atol=1e-8)
        np.testing.assert_allclose(a, path.acceleration(t)[3:], atol=1e-7)


def test_a_parallel_robot_follows_poses():
    m = es.load("stewart_gough")
    frame = m.frames[-1].name
    T = m.pose(m.project(m.home()), frame)

    class Rise:
        duration = 1.0

        def pose(self, t):
            made = T.copy()
            made[:3, :3] = (
                rotation_from_rotation_vector(np.array([0.0, 0.0, 0.1 * t**2])) @ T[:3, :3]
            )
            made[2, 3] += 0.02 * t**2
            return made

        def twist(self, t):
            return np.array([0, 0, 0.2 * t, 0, 0, 0.04 * t])

        def acceleration(self, t):
            return np.array([0, 0, 0.2, 0, 0, 0.04])

    motion = m.follow(Rise(), frame=frame, times=np.linspace(0, 1, 11))
    np.testing.assert_allclose(
        m.pose(motion.q, frame), [Rise().pose(t) for t in motion.t], atol=1e-8
    )
    np.testing.assert_allclose(
        m.velocity(motion.q, motion.v, frame, "aligned"),
        [Rise().twist(t) for t in motion.t],
        atol=1e-7,
    )
    m.inverse_dynamics(motion.q, motion.v, motion.a)


def test_a_path_out_of_reach_says_when():
    m = es.load("five_bar")
    p = m.pose(m.project(m.home()))[:3, 3]
    path = es.paths.along(es.paths.line(p, p + np.array([0.5, 0, 0])), es.paths.cycloidal(2.0))
    with pytest.raises(
        es.InverseKinematicsError, match=r"cannot follow the path: .* between t = 0\.\d+ and"
    ):
        m.follow(path, part="position")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"position": [0, 0]}, "position is 3 numbers"),
        ({"orientation": np.zeros((3, 3))}, "rotation|orientation"),
        ({"orientation": [1.0, 2.0]}, "a 3x3 rotation or a quaternion"),
        ({"axis": [0, 0, 0]}, "the direction is zero"),
        ({"planar": 3}, "planar is"),
        ({"position": "there"}, "position"),
        ({"rows": ["x"]}, "give pose= too"),
        ({"pose": np.eye(4), "rows": ["up"]}, "rows are some of"),
        ({"position": [9, 0, 0]}, "does not reach this target"),
        ({}, "a target needs a pose"),
    ],
)  # fmt: skip
def test_mistakes_end_in_a_sentence(words, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        es.load("five_bar").inverse_kinematics(es.Target(**words))


def test_mistaken_options_end_in_a_sentence():
    m, target = es.load("five_bar"), es.Target(position=[0, 0.1, 0])
    for call, sentence in (
        (lambda: m.inverse_kinematics(target, solutions=0), "solutions"),
        (lambda: m.inverse_kinematics(target, wishes=3), "no option"),
        (lambda: m.inverse_kinematics(None), "takes the pose"),
        (lambda: m.inverse_kinematics([target, "tip"]), r"es\.Target"),
        (lambda: m.assemble(target, strict=False), "no option 'strict'"),
    ):
        with pytest.raises(es.EslabonError, match=sentence):
            call()


@pytest.mark.parametrize(
    ("name", "part", "shift"),
    [
        ("excavator", "position", (-1.5, 0.2, 0)),
        ("panda_like", "pose", (0.05, 0.15, -0.1)),
        ("panda_like", "axis", (0.05, 0.1, 0)),
    ],
)
def test_a_motion_with_freedom_left_has_its_own_rates(name, part, shift):
    """Where a path leaves freedom, v is the rate of q and a that of v: by differences along the motion."""
    m = es.load(name)
    frame = m.frames[-1].name
    q0 = (
        m.inverse_kinematics(es.Target(planar=(7.0, -1.0, -2.0)))
        if name == "excavator"
        else m.home()
    )
    T = m.pose(q0, frame)
    path = es.paths.along(
        es.paths.line(T[:3, 3], T[:3, 3] + np.array(shift)), es.paths.cycloidal(2.0), T[:3, :3]
    )
    f = m.follow(path, guess=q0, frame=frame, part=part, times=np.linspace(0, 2, 401))
    h = f.t[1]
    five = lambda x: (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * h)  # noqa: E731
    np.testing.assert_allclose(five(f.q), f.v[2:-2], atol=1e-6 * np.abs(f.v).max())
    np.testing.assert_allclose(five(f.v), f.a[2:-2], atol=1e-5 * np.abs(f.a).max())
    assert f.distance.max() < 1e-9


def test_dense_rows_are_followed_too():
    m = es.load("five_bar")
    p = m.pose(m.project(m.home()))[:3, 3]
    path = es.paths.along(
        es.paths.line(p, p + np.array([0.002, 0.002, 0])), es.paths.cycloidal(1.0)
    )
    assert m.follow(path, part="position", times=np.linspace(0, 1, 401)).distance.max() < 1e-10


def test_driven_mechanisms_are_asked_at_an_instant():
    b = es.Builder("driven")
    for k in range(3):
        b.body(f"b{k}", mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
        b.joint(
            f"q{k}", "revolute", f"b{k - 1}" if k else "ground", f"b{k}", at=(0.5 * (k > 0), 0, 0)
        )
    m = b.frame("tip", "b2", at=(0.5, 0, 0)).drive("motor", "q0", "0.5*sin(2*t)").build()
    target = es.Target("tip", position=[0.3, 0.8, 0])
    for verb in (m.inverse_kinematics, m.assemble, m.complete):
        with pytest.raises(es.ModelError, match=r"give it, as t=0\.5"):
            verb(target)
    with pytest.raises(es.ModelError, match="at_time"):
        m.conditions(np.zeros(3), "tip")
    for q in (
        m.at_time(0.5).inverse_kinematics(target),
        m.inverse_kinematics(target, t=0.5),
        m.assemble(target, t=0.5),
        m.complete(target, t=0.5)[0],
    ):
        assert np.abs(m.constraint(q, t=0.5)).max() < 1e-10
        assert np.abs(m.pose(q, "tip")[:3, 3] - [0.3, 0.8, 0]).max() < 1e-9


def test_modes_are_single_and_missing_ones_are_no_copies():
    m = es.load("excavator")
    with pytest.raises(es.ModelError, match="leaves 1 degree of freedom of excavator open"):
        m.assembly_modes(es.Target(planar=(6.5, -1.0)))
    assert len(m.assembly_modes(es.Target(planar=(6.5, -1.0, -2.2)))) >= 1
    several = m.inverse_kinematics(es.Target(planar=(6.5, -1.0, -2.2)), solutions=5)
    kept = several[np.isfinite(several).all(axis=1)]
    assert len(np.unique(kept.round(6), axis=0)) == len(kept)
