"""Laws of random mechanisms of every joint kind, open and closed: forward dynamics gives what inverse dynamics promised."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import difference, integrate
from eslabon.systems.control.commanded_coordinates import commanded
from random_mechanisms import MOVING, allowed, random_closed, random_coordinates, random_tree
from randomness import seeded
from small_mechanisms import SMALL

C = es.control
CLOSED = [  # joint kinds of the tree, and of the cut joints
    (["revolute", "universal", "spherical", "revolute"], ["spherical"]),
    (["revolute", "spherical", "prismatic", "universal"], ["universal"]),
    (["helical", "planar", "cylindrical", "revolute", "universal"], ["spherical", "planar"]),
]


def asked(m, q: np.ndarray, v: np.ndarray, goal: np.ndarray, w: float) -> np.ndarray:
    """The accelerations that computed torque asks for at rest."""
    own = list(commanded(m))
    return (w**2 * difference(m, goal, q) - 2 * w * v)[own]


def compare(m, q: np.ndarray, v: np.ndarray, goal: np.ndarray) -> None:
    law = C.computed_torque(m, goal, frequency=3.0)
    a = m.forward_dynamics(q, v, law(0.0, q, v), **({"tolerance": 1e-5} if m.closed else {}))
    wanted = asked(m, q, v, goal, 3.0)
    np.testing.assert_allclose(
        a[list(commanded(m))], wanted, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(a).max())
    )


@pytest.mark.parametrize("seed", range(4))
def test_trees_get_the_accelerations_they_are_to_have(seed: int) -> None:
    rng = seeded(seed)
    m = random_tree(rng, [str(k) for k in rng.choice(MOVING, size=4)])
    q, v, goal = random_coordinates(rng, m), rng.normal(size=m.nv), random_coordinates(rng, m)
    joints = [j.name for j in m.joints]
    motors = (
        joints,
        joints[:2],
        joints[::-1],
        joints[1::2],
    )  # in another order, and not all of them; two of these for each
    for actuated in (motors[seed], motors[(seed + 1) % 4]):
        compare(m.with_actuated(actuated), q, v, goal)


@pytest.mark.parametrize(("kinds", "cuts"), CLOSED, ids=["-".join(cuts) for _, cuts in CLOSED])
def test_closed_chains_get_the_accelerations_they_are_to_have(
    kinds: list[str], cuts: list[str]
) -> None:
    rng = seeded(kinds, cuts)
    m, q = random_closed(rng, kinds, cuts)
    v = allowed(m.constraint_jacobian(q)) @ rng.normal(size=m.nv)
    goal = m.project(
        integrate(m, q, 0.05 * allowed(m.constraint_jacobian(q)) @ rng.normal(size=m.nv))
    )
    names = [j.name for j in m.joints]
    tried = 0
    for actuated in (names, names[:1], names[1:], names[-2:]):
        driven = m.with_actuated(actuated)
        try:
            commanded(driven)
        except es.ModelError:
            continue
        compare(driven, q, v, goal)
        tried += 1
    assert tried


@pytest.mark.parametrize("seed", range(3))
def test_what_holds_it_holds_it(seed: int) -> None:
    """At the goal and at rest PD control with gravity compensation leaves no acceleration."""
    rng = seeded(seed)
    m = random_tree(rng, [str(k) for k in rng.choice(MOVING, size=3)])
    m, q = m.with_actuated([j.name for j in m.joints]), random_coordinates(rng, m)
    still = np.zeros(m.nv)
    tau = C.pd_gravity(m, q, 5.0, 1.0)(0.0, q, still)
    np.testing.assert_allclose(m.forward_dynamics(q, still, tau), 0.0, atol=1e-8)


def test_a_driven_mechanism_is_commanded_at_its_time() -> None:
    """The first joint follows a function of time, and the second is the law's."""
    b = (
        es.Builder("driven")
        .body("one", 1.0, (0.5, 0, 0), (0.0, 0.1, 0.1))
        .body("two", 1.0, (0.5, 0, 0), (0.0, 0.1, 0.1))
    )
    b.joint("first", "revolute", "ground", "one", axis="y").joint(
        "second", "revolute", "one", "two", (1, 0, 0), axis="y"
    )
    m = b.drive("motor", "first", "0.3*sin(2*t)").actuate("second").build()
    t, w = np.linspace(0.0, 1.0, 11), 8.0
    motion = m.simulate([0.0, 0.2], None, t, C.computed_torque(m, [0.5], frequency=w))
    np.testing.assert_allclose(motion.q[:, 0], 0.3 * np.sin(2 * t), atol=1e-6)
    e0, v0 = 0.5 - motion.q[0, 1], motion.v[0, 1]
    np.testing.assert_allclose(
        0.5 - motion.q[:, 1], (e0 + (w * e0 - v0) * t) * np.exp(-w * t), atol=1e-5
    )
    with pytest.raises(es.ModelError, match="depend on the time"):
        C.adaptive(m, [0.5], 1.0, 1.0)


def test_what_cannot_move_is_not_commanded() -> None:
    m = SMALL["locked_loop"]().with_actuated(["A"])
    with pytest.raises(es.ModelError, match="leave it no motion"):
        C.computed_torque(m, m.home(), 1.0)
    with pytest.raises(es.ModelError, match="has no actuators"):
        C.computed_torque(SMALL["all_fixed"](), [], 1.0)
