"""Equilibria and steady motions: against closed forms, against dynamics, and by what topology says of them."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import fsolve

import eslabon as es
from random_mechanisms import random_closed, random_coordinates, random_tree
from randomness import seeded

EVERY_KIND = ["revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar"]


def pendulum(name: str = "pendulum", **joint: object) -> es.Mechanism:
    """A rod of 1 kg and 1 m that hangs about y, at rest at zero."""
    b = es.Builder(name).body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0.0))
    return b.joint("swing", "revolute", "ground", "rod", axis="y", **joint).actuate("swing").build()


def planar_chain(rng: np.random.Generator, links: int = 2, springs: int = 2) -> es.Mechanism:
    """Links that turn in a vertical plane, with springs from the ground to their ends."""
    b, parent = es.Builder("chain", gravity=(0, -9.81, 0)), "ground"
    for k in range(links):
        b.body(
            f"link{k}",
            mass=rng.uniform(0.5, 2),
            com=(rng.uniform(0.2, 0.6), rng.uniform(-0.2, 0.2), 0),
            inertia=0.05 * np.eye(3),
        )
        b.joint(f"q{k}", "revolute", parent, f"link{k}", at=(0.0 if k == 0 else 0.8, 0, 0))
        parent = f"link{k}"
    for k in range(springs):
        numbers = {"stiffness": rng.uniform(5, 40), "length": rng.uniform(0.2, 1)}
        b.spring(
            f"spring{k}",
            "ground",
            f"link{rng.integers(links)}",
            (*rng.normal(size=2), 0.3),
            (0.7, 0.1, 0),
            **numbers,
        )
    return b.build()


# -- the benchmark -------------------------------------------------------------------------------------------------


def spring_four_bar(start, c):
    """Equilibrium and poles of (5/3) x'' + c sin^2(x/2) x' + V'(x) = 0 with V = 2 g sin x + k (2 cos(x/2) - sqrt 2)^2 / 2, to
    30 digits."""
    with mp.workdps(30):
        g, k, rest = mp.mpf("9.81"), mp.mpf(25), mp.sqrt(2)
        slope = lambda x: 2 * g * mp.cos(x) - k * (2 * mp.cos(x / 2) - rest) * mp.sin(x / 2)  # noqa: E731
        x = mp.findroot(slope, start)
        K = (
            -2 * g * mp.sin(x)
            + k * mp.sin(x / 2) ** 2
            - k * (2 * mp.cos(x / 2) - rest) * mp.cos(x / 2) / 2
        )
        M, D = mp.mpf(5) / 3, c * mp.sin(x / 2) ** 2
        root = mp.sqrt(4 * M * K - D * D)
        return float(x), complex(-D / (2 * M), root / (2 * M))


@pytest.mark.parametrize("start", [-1.5, 2.3])
@pytest.mark.parametrize("c", [0.0, 1.0])
def test_the_four_bar_with_a_diagonal_spring_to_twelve_digits(start, c):
    m = es.load("four_bar_spring").with_parameters(c=c)
    angle, pole = spring_four_bar(start, c)
    eq = m.equilibrium(guess=m.assemble([start], singular="ignore"))
    assert eq.stability == "stable"
    np.testing.assert_allclose(eq.q, [angle, -angle, angle], rtol=1e-12)
    for poles in (eq.poles, m.linearize(eq.q, tau=eq.tau).poles):
        np.testing.assert_allclose(
            np.sort_complex(poles), [np.conj(pole), pole], rtol=1e-12, atol=1e-12
        )
    mode = m.linearize(eq.q, tau=eq.tau).modes()[0]
    np.testing.assert_allclose(
        [mode.frequency, mode.damping], [abs(pole), -pole.real / abs(pole)], rtol=1e-11, atol=1e-13
    )


# -- forces that hold a configuration ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_forces_that_hold_a_tree_are_those_of_inverse_dynamics(seed):
    rng = seeded(seed)
    tree = random_tree(rng, list(rng.permutation(EVERY_KIND)[:4]))
    m = tree.with_actuated([j.name for j in tree.joints])
    q = np.array([random_coordinates(rng, m) for _ in range(5)])
    eq = m.equilibrium(q)
    np.testing.assert_allclose(
        eq.tau, m.inverse_dynamics(q, np.zeros(m.nv), np.zeros(m.nv)), atol=1e-10
    )
    assert np.abs(m.forward_dynamics(q, np.zeros(m.nv), eq.tau)).max() < 1e-8
    assert eq.stability.shape == (5,)
    np.testing.assert_allclose(eq[2].poles, m.equilibrium(q[2]).poles, atol=1e-8)


def test_redundant_actuators_share_by_their_weights():
    m = (
        es.load("five_bar")
        .with_gravity((0, -9.81, 0))
        .with_actuated(["theta2", "theta5", "theta3"])
    )
    q = m.project(m.home())
    still = np.zeros(m.nv)
    for weights in (None, (1.0, 2.0, 5.0)):
        tau = m.equilibrium(q, weights=weights).tau
        np.testing.assert_allclose(
            tau, m.inverse_dynamics(q, still, still, weights=weights), atol=1e-9
        )


def test_what_no_actuator_holds_is_named():
    m = es.load("cart_pole")
    with pytest.raises(
        es.EquilibriumError, match=r"'theta' needs -0.0?4[0-9]* N m more, which no actuator gives"
    ):
        m.equilibrium([0.0, 0.1])
    left = m.equilibrium([0.0, 0.1], strict=False)
    assert left.residual == pytest.approx(0.5 * 9.81 * np.sin(0.1) * 0.1, rel=1e-6)
    with pytest.raises(es.EquilibriumError, match=r"\(state 1\)"):
        m.equilibrium([[0.0, 0.0], [0.0, 0.1]])


def test_some_joints_are_held_and_the_others_come_to_rest():
    m = es.load("double_pendulum")
    eq = m.equilibrium({"q1": 0.7}, guess=[0.0, -0.5])
    np.testing.assert_allclose(eq.q, [0.7, -0.7], atol=1e-12)
    assert abs(eq.tau[1]) < 1e-12
    np.testing.assert_allclose(eq.tau, m.inverse_dynamics(eq.q, [0, 0], [0, 0]), atol=1e-10)
    assert m.equilibrium({"q1": [0.1, 0.2, 0.3]}).q.shape == (3, 2)
    bars = es.load("five_bar").with_gravity((0, -9.81, 0))
    both = bars.equilibrium({"theta2": 2.0, "theta5": 1.0}, all=True)
    np.testing.assert_allclose(
        np.sort(both.q, axis=0), np.sort(bars.assembly_modes([2.0, 1.0]), axis=0), atol=1e-9
    )
    still = np.zeros((2, bars.nv))
    np.testing.assert_allclose(both.tau, bars.inverse_dynamics(both.q, still, still), atol=1e-12)
    with pytest.raises(es.AssemblyError, match="hold the joints elsewhere"):
        es.load("slider_crank").equilibrium({"slide": 5.0}, restarts=5)


# -- configurations that rest under forces -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_all_equilibria_on_a_torus_obey_morse(seed):
    """On a torus the numbers of critical points of even and of odd index are the same (its Euler characteristic is zero): a
    search that misses one is found out."""
    rng = seeded(seed)
    m = planar_chain(rng)
    eq = m.equilibrium(all=True)
    assert np.abs(m.forward_dynamics(eq.q, np.zeros(2), eq.tau)).max() < 1e-8
    index = (eq.poles.real > 1e-6).sum(axis=-1)
    assert (-1.0) ** index @ np.ones(len(eq)) == 0
    assert (eq.stable == (index == 0)).all()
    assert eq.stable.any()
    apart = np.abs(np.exp(1j * eq.q)[:, None] - np.exp(1j * eq.q)[None]).max(axis=-1) + np.eye(
        len(eq)
    )
    assert apart.min() > 1e-4


def test_a_constant_torque_moves_the_equilibria_and_too_much_leaves_none():
    m = pendulum()
    eq = m.equilibrium(tau=[1.0], all=True)
    low = np.arcsin(1.0 / (0.5 * 9.81))
    np.testing.assert_allclose(np.abs(np.sin(eq.q[:, 0])), np.sin(low), rtol=1e-12)
    assert list(eq.stability) == ["stable", "unstable"]
    np.testing.assert_allclose(
        eq.poles[0].imag.max() ** 2, 0.5 * 9.81 * np.cos(low) * 3, rtol=1e-10
    )
    with pytest.raises(
        es.EquilibriumError,
        match=r"no equilibrium of pendulum .* 'swing' is left -?0.095 N m short",
    ):
        m.equilibrium(tau=[5.0])


@pytest.mark.parametrize("seed", range(2))
def test_closed_chains_rest_where_dynamics_says_so(seed):
    rng = seeded(seed)
    kinds = ["revolute", "spherical", "universal", "revolute", "cylindrical"]
    m, q = random_closed(rng, kinds, ["spherical"])
    m = m.with_joint("joint0", stiffness=5.0).with_joint("joint3", stiffness=2.0)
    m = m.with_joint("joint4", stiffness=(1.0, 20.0))  # nothing else holds what slides down an axis
    eq = m.equilibrium(guess=q, restarts=30)
    assert np.abs(m.constraint(eq.q)).max() < 1e-10
    a = m.forward_dynamics(eq.q, np.zeros(m.nv), eq.tau, tolerance=1e-9)
    assert np.abs(a).max() < 1e-6
    lm = m.linearize(eq.q, tau=eq.tau)
    np.testing.assert_allclose(
        np.sort(np.abs(lm.poles)),
        np.sort(np.abs(eq.poles)),
        rtol=1e-5,
        atol=1e-5 * np.abs(lm.poles).max(),
    )


def test_a_quaternion_joint_hangs_or_stands_whichever_way_it_turns():
    b = es.Builder("ball").body(
        "bob", mass=1.0, com=(0, 0, -0.5), inertia=np.diag([0.1, 0.1, 0.02])
    )
    m = b.joint("ball", "spherical", "ground", "bob").actuate().build()
    eq = m.equilibrium(all=True)
    assert list(eq.stability) == ["marginal", "unstable"]
    assert list(eq.family) == [1, 1]  # it may turn about the vertical
    np.testing.assert_allclose(eq.energy, [-0.5 * 9.81, 0.5 * 9.81], rtol=1e-12)
    np.testing.assert_allclose(np.abs(eq.poles[0])[2:], np.sqrt(0.5 * 9.81 / 0.35), rtol=1e-9)


def test_a_continuum_is_said_to_be_one():
    m = es.load("five_bar").with_gravity((0, 0, 0))
    eq = m.equilibrium(all=True)
    assert len(eq) == 1
    assert eq.family[0] == 2
    assert eq.stability[0] == "marginal"
    assert "2-parameter" in repr(eq)
    quartic = pendulum().with_gravity((0, 0, 0))
    assert quartic.equilibrium().family == 1


def test_batches_of_forces_and_of_parameters_equal_their_single_calls(rng):
    m = es.load("double_pendulum")
    tau = rng.normal(size=(2, 3, 2))
    eq = m.equilibrium(tau=tau)
    assert eq.q.shape == (2, 3, 2)
    one = m.equilibrium(tau=tau[1, 2])
    np.testing.assert_allclose(eq.q[1, 2], one.q, atol=1e-12)
    assert (
        m.equilibrium(tau=np.zeros((0, 2))).q.shape
        == m.equilibrium(np.zeros((0, 2))).tau.shape
        == (0, 2)
    )
    bar = es.load("four_bar_spring")
    guess = bar.assemble([2.3], singular="ignore")
    eq = bar.equilibrium(guess=guess, parameters={"k": [24.0, 25.0, 30.0]})
    for k, value in enumerate((24.0, 25.0, 30.0)):
        np.testing.assert_allclose(
            eq.q[k], bar.with_parameters(k=value).equilibrium(guess=guess).q, atol=1e-11
        )


def test_wrenches_hold_too():
    """A force along the ground's axes at the rod's end, which the model leaves to the caller."""
    b = es.Builder("pendulum").body(
        "rod", mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0.0)
    )
    b.joint("swing", "revolute", "ground", "rod", axis="y").wrench(
        "wind", "rod", at=(0, 0, -1.0), axes="ground"
    )
    m = b.actuate().build()
    eq = m.equilibrium(external={"wind": [0, 0, 0, 2.0, 0, 0]})
    np.testing.assert_allclose(np.tan(eq.q), -2.0 / (0.5 * 9.81), rtol=1e-12)
    assert eq.stable


@pytest.mark.parametrize(("load", "word"), [(2.0, "marginal"), (2.2, "unstable")])
def test_zieglers_column_flutters_under_a_following_load(load, word):
    """Two rods of length 1 with springs of stiffness 1 and masses 2 and 1 flutter from 7/2 - sqrt 2 = 2.086 on (Ziegler, 1952)."""
    b = (
        es.Builder("column", gravity=(0, 0, 0))
        .body("low", mass=2.0, com=(1, 0, 0))
        .body("high", mass=1.0, com=(1, 0, 0))
    )
    b.joint("q1", "revolute", "ground", "low", stiffness=1.0).joint(
        "q2", "revolute", "low", "high", at=(1, 0, 0), stiffness=1.0
    )
    m = b.frame("tip", "high", at=(1, 0, 0)).actuate().build()
    eq = m.equilibrium(external={"tip": [0, 0, 0, -load, 0, 0]})
    np.testing.assert_allclose(eq.q, 0, atol=1e-12)
    assert eq.stability == word


def test_limits_are_kept_or_named():
    b = es.Builder("stop").body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0.0))
    m = (
        b.joint("swing", "revolute", "ground", "rod", axis="y", limits=(2.0, 4.0), home=2.5)
        .actuate()
        .build()
    )
    assert m.equilibrium().q[0] == pytest.approx(np.pi)
    narrow = m.with_joint("swing", limits=(2.0, 3.0), home=2.5)
    with pytest.raises(
        es.EquilibriumError, match=r"only with 'swing' at .* beyond its limits 2 to 3"
    ):
        narrow.equilibrium()
    assert narrow.equilibrium(limits=False, all=True).q.shape == (2, 1)


# -- steady motions ------------------------------------------------------------------------------------------------


def conical() -> es.Mechanism:
    """A point of 1 kg at 1 m on a rod, about y on a shaft about z."""
    b = (
        es.Builder("conical")
        .body("shaft", mass=0.1, inertia=0.01 * np.eye(3))
        .body("bob", mass=1.0, com=(0, 0, -1.0))
    )
    b.joint("spin", "revolute", "ground", "shaft").joint(
        "swing", "revolute", "shaft", "bob", axis="y", home=-0.3
    )
    return b.actuate("spin").build()


def test_a_conical_pendulum_opens_above_its_critical_speed():
    m, critical = conical(), np.sqrt(9.81)
    slow = m.equilibrium(v={"spin": 0.9 * critical}, all=True)
    assert list(slow.stability) == ["stable", "unstable"]
    fast = m.equilibrium(v={"spin": 2.0 * critical}, all=True)
    assert sorted(fast.stability) == ["stable", "stable", "unstable", "unstable"]
    np.testing.assert_allclose(np.cos(fast.q[:2, 1]), 0.25, rtol=1e-12)
    assert np.abs(fast.tau).max() < 1e-12
    # Constant momentum: x'' = -(dU/dx) with U = p^2 / 2 (I + sin^2 x) - g cos x
    c, w2, inertia = 0.25, 4 * 9.81, 0.01
    s2 = 1 - c * c
    stiff = s2 * w2 + 4 * w2 * s2 * c * c / (inertia + s2)
    np.testing.assert_allclose(np.abs(fast.poles[0]).max(), np.sqrt(stiff), rtol=1e-9)


def test_the_governor_at_speed_stands_as_its_potential_says_and_stays():
    m, w = es.load("flyball_governor"), 2 * np.pi
    eq = m.equilibrium(v={"spin": w})
    half, free, ball, k = 0.05, 0.5, 5.0, 8e5
    rod, slider = 3000 * 0.01**2, 3000 * 0.1**3
    along, across = rod * 0.01**2 / 6, rod * (1 + 0.01**2) / 12

    def slope(x):
        """The gradient of V - w^2 I / 2 of the symmetric governor, by hand."""
        s, alpha = x
        c, sn = np.cos(alpha), np.sin(alpha)
        dx, dz = c / 2, 1 - sn / 2 - s
        d = np.hypot(dx, dz)
        pull = 2 * k * (d - free) / d
        weight = 2 * 9.81 * c * (ball + rod / 2)
        inertia = 2 * (
            -2 * ball * (half + c) * sn - rod * (half + c / 2) * sn + 2 * c * sn * (along - across)
        )
        return [
            -pull * dz + slider * 9.81,
            -pull * (dx * sn + dz * c) / 2 - weight - w * w * inertia / 2,
        ]

    s, alpha = fsolve(slope, [0.69, 0.31], xtol=1e-13)
    np.testing.assert_allclose(eq.q[1:], [s, alpha, alpha], rtol=1e-9)
    assert eq.stability == "stable"
    assert abs(eq.tau[0]) < 1e-9
    motion = m.simulate(eq.q, eq.v, np.linspace(0, 1, 5), method="Radau", rtol=1e-9, atol=1e-11)
    assert np.abs(motion.q[:, 1:] - eq.q[1:]).max() < 1e-7
    np.testing.assert_allclose(motion.q[-1, 0], w, rtol=1e-8)


def porter(ball: float = 2.0, sleeve: float = 8.0, length: float = 0.3) -> es.Mechanism:
    """A governor of rods without mass, from the top of its shaft to the balls and from these to the sleeve: closed loops."""
    b = (
        es.Builder("porter")
        .body("shaft", mass=0.1, inertia=0.01 * np.eye(3))
        .body("sleeve", mass=sleeve, inertia=0.02 * np.eye(3))
    )
    b.joint("spin", "revolute", "ground", "shaft").joint(
        "slide", "prismatic", "shaft", "sleeve", home=-length
    )
    for side, axis in (("left", "y"), ("right", "-y")):
        along = (length if side == "left" else -length, 0, 0)
        b.body(f"{side} arm", mass=ball, com=along).body(f"{side} rod")
        b.joint(f"{side} top", "revolute", "shaft", f"{side} arm", axis=axis, home=np.pi / 6)
        b.joint(
            f"{side} ball",
            "revolute",
            f"{side} arm",
            f"{side} rod",
            at=along,
            axis=axis,
            home=2 * np.pi / 3,
        )
        b.loop(f"{side} foot", "spherical", f"{side} rod", "sleeve", along, (0, 0, 0))
    return b.actuate("spin").build()


def test_porters_governor_rises_with_its_speed():
    """Its height is (m + M) / m g / omega^2 (Porter, 1858); the loops turn with the shaft."""
    m, length = porter(), 0.3
    speed = np.array([15.0, 18.0, 21.0])
    eq = m.equilibrium(v={"spin": speed}, guess=m.project(m.home()))
    height = (2.0 + 8.0) / 2.0 * 9.81 / speed**2
    slide = m.coordinates["slide"].start
    np.testing.assert_allclose(eq.q[:, slide], -2 * height, rtol=1e-10)
    assert (height < length).all()
    assert (eq.stability == "stable").all()
    assert np.abs(eq.tau).max() < 1e-10
    lm = m.linearize(eq.q[1], eq.v[1], eq.tau[1])
    np.testing.assert_allclose(np.sort(np.abs(lm.poles)), np.sort(np.abs(eq.poles[1])), atol=1e-5)
    motion = m.simulate(eq.q[1], eq.v[1], 1.0, rtol=1e-10, atol=1e-12)
    assert np.abs(motion.q[:, slide] - eq.q[1, slide]).max() < 1e-7


def test_what_a_gear_turns_goes_on_with_its_shaft():
    b = (
        es.Builder("geared")
        .body("shaft", mass=1.0, inertia=0.1 * np.eye(3))
        .body("wheel", mass=1.0, inertia=0.1 * np.eye(3))
    )
    b.body("bob", mass=1.0, com=(0, 0, -1.0))
    b.joint("spin", "revolute", "ground", "shaft").joint(
        "wheel", "revolute", "ground", "wheel", at=(1, 0, 0), viscous=0.5
    )
    b.joint("swing", "revolute", "shaft", "bob", axis="y", home=0.8)
    m = b.couple("gear", "wheel", "spin", ratio=-2.0).actuate("spin").build()
    eq = m.equilibrium(v={"spin": 5.0})
    np.testing.assert_allclose(eq.v, [5.0, -10.0, 0.0])
    np.testing.assert_allclose(np.cos(eq.q[2]), 9.81 / 25, rtol=1e-12)
    np.testing.assert_allclose(eq.tau, [0.5 * 10.0 * 2.0], rtol=1e-12)


def test_friction_of_the_shaft_is_the_motors_torque():
    m = conical().with_joint("spin", viscous=0.2)
    eq = m.equilibrium(v={"spin": 5.0})
    np.testing.assert_allclose(eq.tau, [1.0], rtol=1e-12)
    with pytest.raises(
        es.EquilibriumError, match="'spin' of conical has no actuator, and would need 1 N m"
    ):
        m.with_actuated(["swing"]).equilibrium(v={"spin": 5.0})


def top(kinds: tuple[str, ...]) -> es.Mechanism:
    """A symmetric top with m g l = 2, I1 = 0.5 about its point, I3 = 0.2."""
    mass, length = 1.0, 2 / 9.81
    inertia = np.diag([0.5 - mass * length**2, 0.5 - mass * length**2, 0.2])
    b, parent = es.Builder("top"), "ground"
    for k, (kind, axis, name) in enumerate(
        zip(kinds, "zxz", ("precession", "tilt", "spin"), strict=False)
    ):
        last = k == len(kinds) - 1
        b.body(
            f"body{k}",
            mass=mass if last else 0.0,
            com=(0, 0, length if last else 0.0),
            inertia=inertia if last else np.zeros((3, 3)),
        )
        b.joint(name, kind, parent, f"body{k}", **({} if kind == "spherical" else {"axis": axis}))
        parent = f"body{k}"
    return b.actuate().build()


@pytest.mark.parametrize("share", [0.9, 0.99, 1.01, 1.5])
def test_a_sleeping_top_wakes_below_its_critical_spin(share):
    """omega^2 = 4 m g l I1 / I3^2 (Klein and Sommerfeld); below it grows by sqrt(4 m g l I1 - I3^2 omega^2) / (2 I1)."""
    m, spin = top(("spherical",)), share * np.sqrt(4 * 2 * 0.5) / 0.2
    eq = m.equilibrium([1.0, 0, 0, 0], v={"precession.wz": spin})
    assert eq.stability == ("unstable" if share < 1 else "gyroscopic")
    rate = np.sqrt(max(0.0, 4 - 0.04 * spin**2))
    assert eq.poles.real.max() == pytest.approx(rate, abs=1e-6)
    searched = m.equilibrium(v={"precession.wz": spin}, guess=[1.0, 0.05, 0, 0])
    assert np.abs(m.pose(searched.q, "body0")[:2, 2]).max() < 1e-9


def test_a_top_precesses_steadily_at_the_tilt_of_its_two_speeds():
    m, turn, spin = top(("revolute",) * 3), 0.8, 13.0
    eq = m.equilibrium(v={"precession": turn, "spin": spin}, guess=[0, 1.0, 0])
    np.testing.assert_allclose(
        0.2 * turn * (spin + turn * np.cos(eq.q[1])) - 0.5 * turn**2 * np.cos(eq.q[1]),
        2.0,
        rtol=1e-11,
    )
    assert eq.stability == "stable"
    motion = m.simulate(eq.q, eq.v, np.linspace(0, 3, 7), rtol=1e-10, atol=1e-12)
    assert np.abs(motion.q[:, 1] - eq.q[1]).max() < 1e-7


def test_a_coordinate_that_is_not_cyclic_is_named():
    with pytest.raises(es.EquilibriumError, match="q1 goes on, so that it is no cyclic coordinate"):
        es.load("double_pendulum").equilibrium([0.0, 0.0], v={"q1": 1.0})


# -- what cannot be ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"q": [0.0, 0.0], "tau": [0.0, 0.0]}, "give one of them"),
        ({"q": [0.0]}, "1 value in its last axis; double_pendulum has 2 coordinates"),
        ({"tau": [np.nan, 0.0]}, "tau holds a number that is not finite"),
        ({"tau": "text"}, "tau holds text"),
        ({"tau": {"q7": 1.0}}, "tau names 'q7'"),
        ({"v": {"spin": 1.0}}, "v names 'spin'"),
        ({"q": {"q1": [[0.0, 0.0]], "q2": [1.0, 2.0, 3.0]}}, "do not fit together"),
        ({"q": {"q1": 0.1}, "tau": [0.0, 0.0]}, "actuators of held joints"),
        ({"q": {"q1": 0.1}, "tau": {"q1": 0.0}}, "'q1' is held"),
        ({"q": [0.0, 0.0], "all": True}, "nothing to search"),
        ({"q": [0.0, 0.0], "guess": [0.0, 0.0]}, "leave guess out"),
        ({"tau": [[0.0, 0.0]], "all": True}, "one set of forces"),
        ({"all": 1}, "all is True or False"),
        ({"restarts": -1}, "restarts is a whole number"),
        ({"weights": [1.0]}, "weights needs a positive number"),
        ({"external": {"sky": [0.0] * 6}}, "no body, frame or open wrench 'sky'"),
        ({"parameters": {"x": 1.0}}, "x"),
        ({"gues": [0.0, 0.0]}, "no option 'gues'; did you mean 'guess'"),
    ],
)
def test_mistakes_end_in_a_sentence(arguments, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        es.load("double_pendulum").equilibrium(**arguments)


def test_what_has_no_equilibrium_says_so():
    with pytest.raises(
        es.EquilibriumError, match=r"from 11 starts: at best 'q3' is left -?19.62 N short"
    ):
        es.load("scara").equilibrium(restarts=10)
    with pytest.raises(es.AssemblyError, match="violates loop closure of five_bar"):
        es.load("five_bar").equilibrium([0.1, 0.2, 0.3, 0.4])
    driven = es.Builder("fan").body("blade", mass=2.0, com=(0.5, 0, 0)).actuate()
    m = driven.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.1*t").build()
    with pytest.raises(es.ModelError, match="depend on the time"):
        m.equilibrium()


def test_a_mechanism_that_cannot_move_rests():
    m = (
        es.Builder("rock")
        .body("rock", mass=1.0)
        .joint("hold", "fixed", "ground", "rock")
        .actuate()
        .build()
    )
    eq = m.equilibrium()
    assert eq.q.shape == (0,)
    assert eq.stability == "stable"
    assert m.equilibrium([]).tau.shape == (0,)


def test_many_are_one_table():
    eq = es.load("double_pendulum").equilibrium(all=True)
    assert (
        repr(eq).splitlines()[0]
        == "4 equilibria of double_pendulum, found by a search: 1 stable, 3 unstable"
    )
    assert len(list(eq)) == 4
    with pytest.raises(es.InputError, match="one equilibrium"):
        eq[0][0]


def test_a_spring_that_winds_has_all_its_equilibria():
    """k theta + m g l sin(theta) = 0 has 21 roots, up to ten turns of the spring to either side together."""
    k, weight = 0.3, 9.81
    b = es.Builder("wound", gravity=(0, -weight, 0)).body(
        "bob", mass=1.0, com=(0, -1.0, 0), inertia=(0, 0, 0)
    )
    m = b.joint("hinge", "revolute", "ground", "bob", stiffness=k).build()
    found = np.sort(m.equilibrium(all=True).q[:, 0])
    x = np.linspace(-40, 40, 800_002)
    force = k * x + weight * np.sin(x)
    assert len(found) == np.count_nonzero(force[1:] * force[:-1] < 0) == 21
    np.testing.assert_allclose(k * found + weight * np.sin(found), 0, atol=1e-7)
    np.testing.assert_allclose(found, -found[::-1], atol=1e-8)


def test_a_joint_spring_is_wound_beyond_a_turn() -> None:
    """Every zero of the torque of a pendulum with a soft spring, which are counted on a grid."""
    b = es.Builder("swing").body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    m = b.joint("q", "revolute", "ground", "bar", axis=(0, 1, 0), stiffness=0.3).build()
    found = m.equilibrium(all=True)
    q = np.linspace(-60.0, 60.0, 400_001)[:, None]
    torque = m.inverse_dynamics(q, 0 * q, 0 * q)[:, 0]
    assert len(found) == np.sum(np.diff(np.sign(torque)) != 0) == 11
    assert np.abs(found.q).max() > 2 * np.pi
    assert "found by a search" in repr(found)
