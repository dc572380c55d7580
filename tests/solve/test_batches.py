"""A batch of any leading axes, empty ones too, is the same as its single calls, and what is no number spoils no neighbour."""

import warnings

import numpy as np
import pytest

import eslabon as es
from eslabon.solve.constraints.independent_coordinates import partition
from random_mechanisms import random_closed, random_tree
from randomness import seeded

LEADS = [(), (0,), (2, 3), (2, 0)]


def closed_verbs(m, q):
    """The verbs of a closed mechanism as functions of states next to a closed configuration q."""
    place = list(partition(m).independent)  # of joints with one coordinate each
    joints = tuple(m.joints[k].name for k in place)
    frame = (m.frames or m.bodies[-1:])[0].name  # whose pose leaves nothing open
    rates = np.linspace(0.1, 0.2, len(place))

    def prescribed(s):
        return {name: q[k] + s for name, k in zip(joints, place, strict=True)}

    def assembled(s, guess, **options):
        return m.assemble(prescribed(s), guess, **options)

    return {
        "assemble": lambda s: assembled(s, q),
        "assemble from guesses": lambda s: assembled(s, np.broadcast_to(q, (*s.shape, m.nq))),
        "assemble motions": lambda s: assembled(
            np.stack([s, 2 * s], axis=-1), q, continuation=True
        ),
        "assemble poses": lambda s: m.assemble(
            es.Target(frame, pose=m.pose(assembled(s, q), frame)), guess=q
        ),
        "complete": lambda s: m.complete(
            prescribed(s), s[..., None] * rates, s[..., None] * rates, q
        )[2],
        "project": lambda s: m.project(q + s[..., None]),
        "project rates": lambda s: m.project(
            q + s[..., None], s[..., None] * np.ones(m.nv), np.ones(m.nv)
        )[2],
        "conditions": lambda s: m.conditions(assembled(s, q), frame).parallel,
    }


def open_verbs(m, q):
    def poses(s):
        return m.pose(q + s[..., None], "tip")

    def found(s, **options):
        return m.inverse_kinematics(
            es.Target("tip", pose=poses(s)), limits=False, report=True, **options
        )

    return {
        "from a guess": lambda s: found(s, guess=q).q,
        "from starts": lambda s: found(s).distance,
        "several": lambda s: found(s, solutions=2).q,
        "points": lambda s: m.inverse_kinematics(
            es.Target("tip", places=poses(s)[..., None, :3, 3], points=[[0, 0, 0]]), q
        ),
        "conditions": lambda s: m.conditions(q + s[..., None], "tip").serial,
    }


def mechanisms():
    rng = seeded("mechanisms")
    arm = random_tree(
        rng, ["revolute", "prismatic", "revolute", "revolute", "universal"], branched=False
    )
    yield "arm", open_verbs, arm, arm.home()
    loop, q = random_closed(
        rng, ["revolute", "prismatic", "helical", "revolute", "revolute", "revolute"], ["spherical"]
    )
    yield "random loop", closed_verbs, loop, q
    planar = es.load("planar_3rrr")
    yield "planar_3rrr", closed_verbs, planar, planar.project(planar.home())


CASES = [
    (f"{name}: {verb}", call)
    for name, verbs, m, q in mechanisms()
    for verb, call in verbs(m, q).items()
]


@pytest.mark.parametrize(("name", "call"), CASES, ids=[name for name, _ in CASES])
def test_a_batch_is_its_single_calls(name, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        core = np.shape(call(np.float64(0.01)))
        for lead in LEADS:
            s = np.linspace(0.005, 0.02, int(np.prod(lead))).reshape(lead)
            made = call(s)
            assert np.shape(made) == (*lead, *core)
            for k in np.ndindex(lead):
                assert np.allclose(made[k], call(s[k]), rtol=0, atol=1e-8)


def test_what_is_no_number_is_refused_in_a_sentence():
    arm, loop = es.load("puma560"), es.load("planar_3rrr")
    T, q = np.stack([arm.pose(arm.home())] * 2), np.stack([loop.project(loop.home())] * 2)
    T[1, 0, 3] = q[1, 0] = np.nan
    calls = [
        lambda: arm.inverse_kinematics(T),
        lambda: arm.inverse_kinematics(T[1], arm.home()),
        lambda: arm.inverse_kinematics(T[0], np.full(6, np.nan)),
        lambda: loop.project(q),
        lambda: loop.assemble(q[:, :3]),
        lambda: loop.assemble(q[0, :3], q[1]),
        lambda: loop.conditions(q),
    ]
    for call in calls:
        with pytest.raises(es.EslabonError, match="finite"):
            call()


def test_leading_axes_that_do_not_fit_are_told():
    arm, loop = es.load("puma560"), es.load("planar_3rrr")
    q, T = np.tile(loop.project(loop.home()), (2, 1)), np.stack([arm.pose(arm.home())] * 2)
    actuated = q[:, [0, 3, 5]]
    for call in (
        lambda: loop.project(q, np.zeros((3, loop.nv))),
        lambda: loop.assemble(actuated, np.tile(q[0], (3, 1))),
        lambda: loop.complete(actuated, np.zeros((3, 3)), np.zeros(3), q[0]),
        lambda: arm.inverse_kinematics(T, np.zeros((3, 6))),
    ):
        with pytest.raises(
            es.InputError, match=r"leading axes of .* \(2,\).* \(3,\)|\(3,\).* \(2,\)"
        ):
            call()


@pytest.mark.parametrize("name", ["planar_3rrr", "delta", "rssr", "sarrus"])
def test_the_near_way_is_the_general_way(name, rng):
    """One native call for what is near, and continuation for what is not, lead to the same configuration."""
    m = es.load(name)
    q = m.project(m.home())
    place = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
    x = q[place] + rng.uniform(-0.05, 0.05, (60, len(place)))
    assert np.allclose([m.assemble(row, q) for row in x], m.assemble(x, q), rtol=0, atol=1e-11)


def test_a_near_solution_keeps_to_limits_and_turns(rng):
    """A near solution within the limits and without a whole turn is the general one; beyond them it is not taken."""
    m = es.load("puma560")
    q = rng.uniform(-0.5, 0.5, (40, 6))
    for row in q:
        guess = row + rng.uniform(-0.1, 0.1, 6)
        assert np.allclose(
            m.inverse_kinematics(m.pose(row), guess),
            m.inverse_kinematics(m.pose(row)[None], guess)[0],
        )
    beyond = q[0].copy()
    beyond[0] = 6.0  # radians: a whole turn less is within the limits
    found = m.inverse_kinematics(m.pose(beyond), beyond, limits=True)
    assert np.isclose(found[0], 6.0 - 2 * np.pi)
    assert np.allclose(m.inverse_kinematics(m.pose(beyond), beyond, limits=False), beyond)
