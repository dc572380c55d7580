"""Which coordinates elimination keeps is the user's choice: whichever they are, the motion and the forces are the same."""

from itertools import combinations

import numpy as np
import pytest

import eslabon as es
from facts import agree
from random_mechanisms import random_closed

NAMES = ["five_bar", "slider_crank", "planar_3rrr", "spatial_four_bar"]


def moving(m, seed=0):
    """A state away from singular configurations, with forces."""
    rng = np.random.default_rng(seed)
    q = m.home() if not m.closed else m.project(m.home())
    v, a = m.project(q, rng.normal(size=m.nv), rng.normal(size=m.nv))[1:]
    return q, v, a, rng.normal(size=m.nu)


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_independent_the_answers_are_the_same(name):
    m = es.load(name)
    q, v, a, tau = moving(m)
    J = m.constraint_jacobian(q)
    tried = 0
    for joints in combinations([j.name for j in m.joints if j.nv], m.dof):
        passive = [
            k for j in m.joints if j.name not in joints for k in range(m.nv)[m.velocities[j.name]]
        ]
        size = np.linalg.svd(J[:, passive], compute_uv=False)
        if len(passive) + m.dof != m.nv or size[len(passive) - 1] < 0.03 * size[0]:
            continue
        tried += 1
        how = {"constraints": "elimination", "independent": joints}
        agree(m.forward_dynamics(q, v, tau, **how), m.forward_dynamics(q, v, tau), digits=9)
        agree(m.inverse_dynamics(q, v, a, **how), m.inverse_dynamics(q, v, a), digits=9)
        if tried == 2:
            break
    assert tried
    for verb in (m.reactions, m.coupling_forces)[: 1 + bool(m.couplings)]:
        agree(verb(q, v, tau=tau, **how), verb(q, v, tau=tau), digits=9)
        agree(verb(q, v, a, **how), verb(q, v, a), digits=9)
    default = {"constraints": "elimination", "independent": m.independent_coordinates()}
    agree(m.hybrid_dynamics(q, v, a, **default)[0], m.hybrid_dynamics(q, v, a)[0], digits=9)


@pytest.mark.parametrize("seed", range(3))
def test_parts_of_joints_may_be_independent(seed):
    rng = np.random.default_rng(seed)
    m, _ = random_closed(rng, ["spherical", "universal", "cylindrical", "planar"], ["revolute"])
    m = m.with_actuated(())
    q, v, _, tau = moving(m, seed)
    names = m.independent_coordinates(q)
    assert any("." in name for name in names)
    J = m.constraint_jacobian(q)
    assert len(names) == m.nv - np.linalg.matrix_rank(J)
    found = m.forward_dynamics(q, v, tau, constraints="elimination", independent=names)
    agree(found, m.forward_dynamics(q, v, tau), digits=9)


def test_bennett_keeps_the_choice_though_its_rows_change():
    m = es.load("bennett")
    angles = np.linspace(0.5, 1.5, 4)[:, None]
    q, v, _ = m.complete(angles, np.ones_like(angles), 0 * angles)
    tau = np.ones((4, m.nu))
    other = next(j.name for j in m.joints if j.name not in m.actuated)
    found = m.forward_dynamics(q, v, tau, constraints="elimination", independent=other)
    agree(found, m.forward_dynamics(q, v, tau), digits=8)


def test_a_simulation_keeps_the_choice():
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    t = np.linspace(0, 0.2, 5)
    how = {"rtol": 1e-10, "atol": 1e-12}
    chosen = m.simulate(
        q, None, t, constraints="elimination", independent=("theta3", "theta4"), **how
    )
    agree(chosen.q, m.simulate(q, None, t, **how).q, digits=8)


def test_a_choice_that_does_not_do_is_refused():
    m = es.load("slider_crank")
    angle = [[0.0]]  # a dead centre: the slider does not determine the crank
    q, v, _ = (x[0] for x in m.complete(angle, [[1.0]], [[0.0]]))
    how = {"constraints": "elimination"}
    with pytest.raises(
        es.SingularityError,
        match=r"the independent slide cannot determine .* leave independent out",
    ):
        m.forward_dynamics(q, v, [0.1], independent="slide", **how)
    agree(
        m.forward_dynamics(q, v, [0.1], independent="crank", **how),
        m.forward_dynamics(q, v, [0.1]),
        digits=9,
    )
    assert m.independent_coordinates(q) != ("slide",)
    five = es.load("five_bar")
    q, v, a, tau = moving(five)
    for call, sentence in [
        (
            lambda: five.forward_dynamics(q, v, tau, independent=("theta2", "theta3")),
            'give constraints="elimination" too',
        ),
        (lambda: five.forward_dynamics(q, v, tau, independent="theta2", **how), "do not determine"),
        (
            lambda: five.forward_dynamics(
                q, v, tau, independent=("theta2", "theta3", "theta4"), **how
            ),
            "follows from the others; it has 2 degrees of freedom",
        ),
        (
            lambda: five.forward_dynamics(q, v, tau, independent=("theta2", "theta6"), **how),
            "no joint 'theta6'",
        ),
        (
            lambda: five.forward_dynamics(q, v, tau, independent=("theta2", "theta2"), **how),
            "twice",
        ),
        (lambda: five.forward_dynamics(q, v, tau, independent=3, **how), "independent are names"),
        (
            lambda: five.hybrid_dynamics(q, v, a, independent=("theta3", "theta4"), **how),
            "name them too",
        ),
        (
            lambda: five.simulate(q, None, 1.0, independent=("theta3", "theta4")),
            'give constraints="elimination" too',
        ),
        (lambda: five.mass_matrix(q, independent=("theta3",)), "no option 'independent'"),
        (lambda: five.independent_coordinates(np.stack([q, q])), "one configuration"),
    ]:
        with pytest.raises(es.EslabonError, match=sentence):
            call()
    arm = es.load("puma560")
    for verb in (arm.forward_dynamics, arm.hybrid_dynamics):
        with pytest.raises(es.ModelError, match="no loops"):
            verb(arm.home(), np.zeros(6), np.zeros(6), independent=("q1",))
    assert arm.independent_coordinates() == ("q1", "q2", "q3", "q4", "q5", "q6")
