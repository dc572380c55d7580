"""Joint stops: they push and never pull, and no impact gains energy."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.motion.simulation import Stops, simulate
from motion.simulation.samples import pendulum
from random_mechanisms import random_builder
from randomness import seeded

METHODS = [
    {"method": "rk4", "step": 1e-3},
    {"step": 1e-3},
    {"method": "Radau"},
    {"method": "LSODA"},
]


def between(m, width):
    """The mechanism with limits about home on all its joints."""
    for j in m.joints:
        if j.nv:
            home = m.home()[m.coordinates[j.name]]
            m = m.with_joint(
                j.name,
                limits=[(x - width, x + width) for x in home]
                if j.nq > 1
                else (home[0] - width, home[0] + width),
            )
    return m


def falls(energy, tolerance):
    """Whether energy is never larger than it was before."""
    return (np.maximum.accumulate(energy) - energy)[-1] >= 0 and np.diff(energy).max() <= tolerance


@pytest.mark.parametrize("options", METHODS)
@pytest.mark.parametrize("seed", range(2))
def test_no_impact_of_a_tree_gains_energy(options, seed):
    rng = seeded(seed)
    m = between(random_builder(rng, ["revolute", "prismatic", "cylindrical"]).build(), 0.2)
    v0 = rng.normal(size=m.nv) * 2
    motion = simulate(m, m.home(), v0, 0.5, stops=True, **options)
    total, scale = motion.energy.total, motion.energy.kinetic.max()
    assert falls(total, 1e-6 * scale)
    assert np.abs(motion.q - m.home()).max() > 0.2  # there was an impact


def test_an_impact_loses_what_its_damping_says():
    m = pendulum().with_gravity((0, 0, 0)).with_joint("hinge", limits=(-0.3, 0.3))
    inertia, k = 2.0, 1e5
    for share in (0.1, 0.3, 0.6):
        c = 2 * share * np.sqrt(k * inertia)
        motion = simulate(m, [0.0], [2.0], 0.2, stops=Stops(k, c), rtol=1e-10, atol=1e-12)
        # A spring and damper that lets go where it would pull: half a swing, cut short.
        root = np.sqrt(1 - share**2)
        angle = np.arctan2(2 * share * root, 2 * share**2 - 1)
        assert motion.v[-1, 0] == pytest.approx(-2.0 * np.exp(-share / root * angle), rel=1e-3)
    elastic = simulate(m, [0.0], [2.0], 0.2, stops=Stops(k, 0.0), rtol=1e-10, atol=1e-12)
    assert elastic.v[-1, 0] == pytest.approx(-2.0, rel=1e-7)


def test_a_joint_comes_to_rest_on_its_stop():
    m = pendulum().with_joint("hinge", limits=(0.5, 1.0))
    for options in (*METHODS, {"method": "symplectic", "step": 1e-3}):
        motion = simulate(m, [0.8], None, 4.0, stops=True, **options)
        assert motion.end[0][0] == pytest.approx(0.5, abs=0.01)
        assert abs(motion.end[1][0]) < 1e-4
        assert abs(motion.a[-1, 0]) < 1e-2  # with what the stop pushes
    free = simulate(m, [0.8], None, 4.0)
    assert free.q.min() < 0.4  # without them nothing holds


@pytest.mark.parametrize("constraints", [None, "udwadia_kalaba"])
@pytest.mark.parametrize("options", METHODS[:2])
def test_stops_of_a_mechanism_with_loops(constraints, options):
    m = es.load("five_bar")
    q0 = m.assemble([2.0, 1.0])
    m = m.with_joint(m.actuated[0], limits=(1.9, 2.1))
    motion = simulate(
        m,
        q0,
        None,
        0.5,
        [0.02, 0.0],
        stops=True,
        constraints=constraints,
        singular="ignore",
        **options,
    )
    assert 2.1 < motion.q[:, 0].max() < 2.2
    work = 0.02 * (motion.q[:, 0] - q0[0])
    assert falls(motion.energy.total - work, 1e-6 * motion.energy.kinetic.max())
    assert motion.closure.max() < 1e-12


def test_mistakes_get_a_sentence():
    m = pendulum().with_joint("hinge", limits=(0.5, 1.0))
    loop = es.load("five_bar")
    loop = loop.with_joint(loop.actuated[0], limits=(1.9, 2.1))
    for call, sentence in (
        (
            lambda: simulate(pendulum(), [0.1], None, 1.0, stops=True),
            "no joint of pendulum has limits",
        ),
        (lambda: simulate(m, [0.6], None, 1.0, stops="hard"), "stops is True, False or Stops"),
        (
            lambda: simulate(m, [0.6], None, 1.0, stops=Stops(-1.0)),
            "stiffness of stops is not less than zero",
        ),
        (lambda: simulate(m, [0.6], None, 1.0, stops=Stops(1.0, [1, 2])), "one number or 1"),
        (
            lambda: simulate(loop, loop.home(), None, 1.0, stops=True, constraints="elimination"),
            "elimination has no place for the stops",
        ),
    ):
        with pytest.raises(es.EslabonError, match=sentence):
            call()
