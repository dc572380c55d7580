"""Dynamics with loops beside the facts that all mechanisms share: singular configurations, light bodies, motors that share
a load, published torques, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from cases import Moving, all_driven, state_of
from covering import METHODS
from eslabon.solve.constraints.closed_configurations import close
from facts import agree


def slider_driven():
    """A slider-crank driven at its slider, which loses its hold on the crank where crank and rod are in line."""
    return es.Mechanism(replace(es.load("slider_crank").description, actuated=("slide",)))


def test_elimination_selects_other_independent_coordinates_where_they_are_a_poor_choice():
    m = slider_driven()
    angles = np.linspace(0, 2 * np.pi, 73)[:, None]  # both dead centres among them
    q, v, _ = m.complete({"crank": angles[:, 0]}, np.ones_like(angles), 0 * angles)
    tau = np.ones((73, 1))
    agree(
        m.forward_dynamics(q, v, tau, constraints="elimination"),
        m.forward_dynamics(q, v, tau),
        digits=9,
    )
    agree(
        m.forward_dynamics(q[0], v[0], tau[0], constraints="elimination"),
        m.forward_dynamics(q[0], v[0], tau[0]),
        digits=9,
    )
    with pytest.raises(es.SingularityError, match="singular configuration"):
        m.inverse_dynamics(
            q[0], v[0], m.forward_dynamics(q[0], v[0], tau[0])
        )  # here no slider force turns the crank


def test_one_actuator_more_than_needed_carries_the_others_over_their_singular_configurations():
    m = es.Mechanism(replace(es.load("slider_crank").description, actuated=("slide", "crank")))
    angles = np.linspace(0, 2 * np.pi, 73)[:, None]
    q, v, a = m.complete({"crank": angles[:, 0]}, np.ones_like(angles), 0 * angles)
    tau = m.inverse_dynamics(q, v, a)
    agree(m.forward_dynamics(q, v, tau), a, digits=8)


def test_an_actuator_that_is_singular_at_home_is_not_judged_by_that():
    d = slider_driven().description
    flat = [replace(j, home=(0.0,) if j.name != "slide" else (0.4,)) for j in d.joints]
    m = es.Mechanism(replace(d, joints=tuple(flat)))
    q, v, a = m.complete({"crank": 0.8}, [1.0], [0.5])
    agree(m.forward_dynamics(q, v, m.inverse_dynamics(q, v, a)), a, digits=9)


def test_reactions_take_accelerations_or_forces():
    m = es.load("double_pendulum")
    with pytest.raises(es.ModelError, match="one of the two"):
        m.reactions(m.home(), np.zeros(m.nv))


def test_dynamics_at_a_singular_configuration_as_the_caller_asks():
    m, rest = es.load("parallelogram"), np.zeros(3)
    with pytest.raises(es.SingularityError, match="singular configuration"):
        m.forward_dynamics(rest, rest, [1.0])
    with pytest.warns(es.SingularityWarning, match="minimum-norm"):
        a = m.forward_dynamics(rest, rest, [1.0], singular="warn")
    assert np.abs(m.constraint_jacobian(rest) @ a).max() < 1e-9
    still = Moving(m, rest, np.random.default_rng(0), rest)
    agree(still.accelerations(np.array([1.0, 0, 0])), a, digits=6)
    assert np.array_equal(m.forward_dynamics([rest, rest], rest, [1.0], singular="ignore"), [a, a])
    with pytest.raises(
        es.SingularityError, match="no actuators' forces give parallelogram this motion"
    ):
        m.inverse_dynamics(rest, rest, rest, singular="ignore")
    with pytest.raises(
        es.ModelError, match="reactions of parallelogram has no answer at a singular configuration"
    ):
        m.reactions(rest, rest, rest, singular="warn")
    with pytest.raises(es.ModelError, match="'error', 'warn' or 'ignore'"):
        m.forward_dynamics(rest, rest, [1.0], singular="no")


def test_massless_rods_move_where_the_loops_carry_them():
    """A crank and a rocker with mass, and a coupler without: as in a textbook."""
    d = es.load("diaz_four_bar").description
    light = [
        replace(b, mass=0.0, inertia=(0.0,) * 6) if k == 1 else b for k, b in enumerate(d.bodies)
    ]
    m = es.Mechanism(replace(d, bodies=tuple(light)))
    q, v, a = m.complete([0.8], [1.0], [2.0])
    tau = m.inverse_dynamics(q, v, a)
    for constraints in (None, *METHODS):
        agree(m.forward_dynamics(q, v, tau, constraints=constraints), a, digits=8)
    motion = m.simulate(q, v, 2.0, rtol=1e-10, atol=1e-12)
    assert np.ptp(motion.energy.total) < 1e-8 * motion.energy.kinetic.max()
    none = es.Mechanism(
        replace(d, bodies=tuple(replace(b, mass=0.0, inertia=(0.0,) * 6) for b in d.bodies))
    )
    with pytest.raises(es.ModelError, match="moves no mass"):
        none.forward_dynamics(q, v, tau)


def ball_rod(axial, mass=0.8):
    """A crank and a rocker joined by a rod between two ball joints, which may spin about its own axis."""
    b = es.Builder("ball_rod", gravity=(0, 0, -9.81))
    b.body("crank", 1, (0.05, 0, 0.02), (0.001, 0.002, 0.0025)).body(
        "rocker", 1.2, (0, 0.1, 0.01), (0.004, 0.001, 0.004)
    )
    b.body("rod", mass, (0.2, 0, 0), (axial, mass * 0.16 / 12, mass * 0.16 / 12))
    b.joint("a", "revolute", "ground", "crank", axis="z", home=0.3)
    b.joint("s", "spherical", "crank", "rod", at=(0.1, 0, 0.05))
    b.joint("c", "revolute", "ground", "rocker", at=(0.4, -0.1, 0.1), axis="x", home=0.8)
    b.loop("l", "spherical", "rod", "rocker", first=(0.4, 0, 0), second=(0, 0.25, 0))
    return b.actuate("a").build()


def test_the_spin_of_a_rod_matters_to_nothing_else_and_without_inertia_is_refused():
    thick = ball_rod(1e-4)
    q, v, a = thick.complete([0.3], [1.0], [2.0], passive="minimum_norm")
    v[thick.velocities["s"]] -= v[thick.velocities["s"]][0] * np.array(
        [1.0, 0, 0]
    )  # no spin about the rod
    q, v = thick.project(q, v)
    want = thick.forward_dynamics(q, v, [-0.2])
    thin = ball_rod(1e-12)
    for constraints in METHODS:
        assert thin.forward_dynamics(q, v, [-0.2], constraints=constraints)[0] == pytest.approx(
            want[0], rel=1e-6
        )
    for mass in (0.8, 0.0):
        none = ball_rod(0.0, mass)
        for constraints in METHODS:
            with pytest.raises(es.ModelError, match="the motion of 's' moves no mass"):
                none.forward_dynamics(q, v, [-0.2], constraints=constraints)
        with pytest.raises(es.ModelError, match="the motion of 's' moves no mass"):
            none.hybrid_dynamics(q, v, a)


@pytest.mark.parametrize("share", [1e-6, 1e-9, 1e-12, 1e-15])
def test_light_bodies_cost_no_digits(share):
    m = es.load("diaz_four_bar")
    light = [replace(b, mass=b.mass * share, inertia=tuple(x * share for x in b.inertia)) if k == 1 else b for k, b in enumerate(m.bodies)]  # fmt: skip
    m = es.Mechanism(replace(m.description, bodies=tuple(light)))
    q, v, a = m.complete([0.8], [1.0], [2.0])
    tau = m.inverse_dynamics(q, v, a)
    for constraints in METHODS:
        agree(m.forward_dynamics(q, v, tau, constraints=constraints), a, digits=9)


def test_yime_torques():
    """Yime's three examples in SI, as recomputed independently."""
    t = np.arange(4.0)
    m = es.load("planar_3rrr")
    qa = np.radians(30 + 6 * t)[:, None] * np.ones(3)
    state = m.complete(qa, np.full_like(qa, np.radians(6)), 0 * qa)
    for k in range(3):
        assert np.allclose(
            m.inverse_dynamics(*state)[:, k],
            [-2.251885e-4, 3.606886e-5, 1.847977e-4, 6.293685e-4],
            rtol=1e-6,
        )
    m, t = es.load("five_bar"), np.array([0, 0.5, 1.0])
    qa = np.radians(np.stack([120 + 30 * np.sin(t), 60 - 30 * np.sin(t)], -1))
    va = np.radians(np.stack([30 * np.cos(t), -30 * np.cos(t)], -1))
    tau = m.inverse_dynamics(
        *m.complete(qa, va, np.radians(np.stack([-30 * np.sin(t), 30 * np.sin(t)], -1)))
    )
    assert np.allclose(tau[:, 0], [7.368249701e-06, -9.355559369e-06, -2.570554661e-05], rtol=1e-9)
    assert np.allclose(tau[:, 1], -tau[:, 0], rtol=1e-9)
    m = es.load("spatial_four_bar")
    turn = np.pi / 2 + np.linspace(0, 2 * np.pi, 721)[:, None]
    tau = m.inverse_dynamics(*m.complete(turn, np.full_like(turn, 2 * np.pi / 60), 0 * turn))
    assert np.abs(tau).max() == pytest.approx(3.943e-6, rel=2e-4)


def test_diaz_torque_of_the_four_bar():
    m = es.load("diaz_four_bar")
    angle = 0.785 + np.arange(6)[:, None] * 0.5
    tau = m.inverse_dynamics(*m.complete(angle, np.ones((6, 1)), np.zeros((6, 1))))
    assert np.allclose(
        tau[:, 0],
        [1.312927165, 0.694364457, -0.014869180, -0.585937339, -0.875272081, -0.584766831],
        atol=2e-9,
    )


def test_more_actuators_than_freedoms_share_the_load():
    five = es.load("five_bar")
    m = all_driven(five)
    s = state_of("five_bar")
    q, v, a = s.q, s.v, s.a
    least, two = m.inverse_dynamics(q, v, a), five.inverse_dynamics(q, v, a)
    given = np.zeros(4)
    given[list(five.actuated_velocities)] = two
    agree(m.forward_dynamics(q, v, least), a, digits=8)
    assert np.linalg.norm(least) < np.linalg.norm(given)
    J = m.constraint_jacobian(q)
    free = np.linalg.svd(J)[2][2:]
    assert np.allclose(
        free @ (least - given), 0, atol=1e-12
    )  # the same work in every motion the loops allow
    assert np.linalg.norm(least - free.T @ (free @ least)) < 1e-12  # and nothing that does none


def test_uncontrolled_motions_are_named_or_follow_their_own_dynamics():
    """A five-bar linkage with one motor."""
    m = es.load("five_bar").with_actuated([es.load("five_bar").actuated[0]])
    q, still = m.project(m.home()), np.zeros(m.nv)
    with pytest.raises(
        es.ModelError, match=r"leave 1 of them uncontrolled, such as the motion of .*hybrid"
    ):
        m.inverse_dynamics(q, still, still)
    wanted = np.zeros(m.nv)
    wanted[m.velocities[m.actuated[0]]] = 2.0
    tau, a = m.hybrid_dynamics(q, still, wanted)
    assert a[m.velocities[m.actuated[0]]] == pytest.approx(2.0)
    agree(m.forward_dynamics(q, still, tau), a, digits=9)


def test_batches_and_designs():
    s = state_of("five_bar")
    m, q, v, a = s.m, s.q, s.v, s.a
    tau = m.inverse_dynamics(q, v, a)
    batch = m.inverse_dynamics(np.tile(q, (5, 1)), np.tile(v, (5, 1)), np.tile(a, (5, 1)))
    assert np.allclose(batch, tau, rtol=1e-13)
    name = "m2" if "m2" in m.parameters else next(n for n in m.parameters if n.startswith("m"))
    masses = m.parameters[name] * np.array([1.0, 2.0])
    other = m.with_parameters(**{name: masses[1]}).inverse_dynamics(q, v, a)
    agree(m.inverse_dynamics(q, v, a, parameters={name: masses})[1], other, digits=9)


def test_inconsistent_states_are_refused():
    s = state_of("planar_3rrr")
    m, q, v, a = s.m, s.q, s.v, s.a
    for bad in ((q + 1e-3, v, a), (q, v + 1e-3, a), (q, v, a + 1e-3)):
        with pytest.raises(
            es.AssemblyError,
            match=r"violates loop closure of planar_3rrr by .* m.complete.* m.project",
        ):
            m.inverse_dynamics(*bad)
    with pytest.raises(es.AssemblyError, match="violates"):
        m.forward_dynamics(q + 1e-3, v, np.zeros(3))
    assert m.inverse_dynamics(q, v, a + 1e-3, tolerance=1.0).shape == (3,)
    with pytest.raises(es.AssemblyError, match=r"\(state 1\)"):
        m.inverse_dynamics(np.stack([q, q + 1e-3]), v, a)
    assert np.isnan(m.inverse_dynamics(q * np.nan, v, a)).all()


def test_singular_configurations_are_refused():
    m = es.load("parallelogram")
    flat = np.zeros(m.nq)
    with pytest.raises(es.SingularityError, match="singular configuration"):
        m.forward_dynamics(flat, np.zeros(m.nv), np.zeros(m.nu))


def test_massless_rods_in_a_loop_move_all_the_same():
    b = es.Builder("light_four_bar", gravity=(0, -9.81, 0))
    b.body("crank", 1.0, (0.5, 0, 0), (0, 0.1, 0.1)).body("coupler").body(
        "rocker", 1.0, (0.8, 0, 0), (0, 0.3, 0.3)
    )
    b.joint("q1", "revolute", "ground", "crank", home=0.785).joint(
        "q2", "revolute", "crank", "coupler", at=(1, 0, 0), home=-0.4614
    )
    b.joint("q3", "revolute", "ground", "rocker", at=(3, 0, 0), home=1.2501)
    b.loop("close", "revolute", "coupler", "rocker", first=(3, 0, 0), second=(1.75, 0, 0)).actuate(
        "q1"
    )
    m = b.build()
    q, v, a = m.complete([0.8], [1.0], [0.5])
    agree(m.forward_dynamics(q, v, m.inverse_dynamics(q, v, a)), a, digits=9)


def test_weights_move_the_load_to_the_cheaper_actuators():
    m = all_driven(es.load("five_bar"))
    s = state_of("five_bar")
    q, v, a = s.q, s.v, s.a
    heavy = np.array([1.0, 100.0, 1.0, 100.0])
    even, skewed = m.inverse_dynamics(q, v, a), m.inverse_dynamics(q, v, a, weights=tuple(heavy))
    agree(m.forward_dynamics(q, v, skewed), a, digits=8)
    assert skewed @ (heavy * skewed) < even @ (heavy * even)
    with pytest.raises(es.ModelError, match="positive number for each of the 4 actuators"):
        m.inverse_dynamics(q, v, a, weights=(1.0, 2.0))
    with pytest.raises(es.ModelError, match="has no loops"):
        es.load("puma560").inverse_dynamics(*np.zeros((3, 6)), weights=(1.0,) * 6)


def test_what_redundant_constraints_leave_open():
    planar = es.load("planar_3rrr")
    known = planar.determined_reactions(close(planar))
    assert known.shape == (9, 6)
    assert np.all(known[:, [2, 3, 4]])  # the moment about the hinges and the forces in the plane
    assert not known[:, [0, 1, 5]].any()  # what acts across the plane
    stewart = es.load("stewart_gough")
    assert stewart.determined_reactions(close(stewart)).all()
    assert es.load("puma560").determined_reactions(np.zeros(6)).all()
    bennett = es.load("bennett")
    assert not bennett.determined_reactions(close(bennett)).all()
