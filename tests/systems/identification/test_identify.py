"""Identification recovers known parameters from noisy data, says how sure it is, and rejects a wrong model."""

import re

import numpy as np
import pytest

import eslabon as es
from eslabon.systems.identification import base_parameters, identify, pseudo_inertias
from randomness import seeded

T = np.linspace(0, 8, 1201)


def recording(t, q, tau, v=None, a=None):
    """What was measured, by name."""
    return {"t": t, "q": q, "tau": tau, "v": v, "a": a}


def fourier(m, t=T, seed=0, wide=0.8):
    """A smooth motion of independent coordinates about home."""
    rng, w = seeded(seed), 2 * np.pi / 8
    places = (
        [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]] if m.closed else range(m.nq)
    )
    q, v, a = (
        np.tile(m.home()[list(places)], (len(t), 1)),
        np.zeros((len(t), len(places))),
        np.zeros((len(t), len(places))),
    )
    for k in range(1, 6):
        c, s = wide * rng.normal(size=(2, len(places))) / k / 2
        at = t[:, None] * k * w
        q += c * np.cos(at) + s * np.sin(at)
        v += k * w * (s * np.cos(at) - c * np.sin(at))
        a += -((k * w) ** 2) * (c * np.cos(at) + s * np.sin(at))
    return q, v, a


@pytest.fixture(scope="module")
def arm():
    """An arm with friction, a model of it that is wrong in all masses and without friction, and a motion with its forces."""
    model = es.load("rojas_3r")
    true = model
    for j in model.joints:
        true = true.with_joint(j.name, viscous=0.3, coulomb=0.5)
    for b in model.bodies:
        model = model.with_body(b.name, mass=1.3 * b.mass)
    q, v, a = fourier(true)
    return true, model, q, v, a, true.inverse_dynamics(q, v, a)


def truth(true, found):
    return base_parameters(true, terms=found.terms).values


# -- trees ------------------------------------------------------------------------------------------------------------


def test_without_noise_the_parameters_are_exact(arm):
    true, model, q, v, a, tau = arm
    found = model.identify({"t": T, "q": q, "v": v, "a": a, "tau": tau})
    assert np.allclose(found.values, truth(true, found), atol=1e-9)
    assert not found.rejected
    assert found.excited.all()
    assert np.allclose(found.r_squared, 1.0)
    made = found.mechanism()
    assert (np.linalg.eigvalsh(pseudo_inertias(made.inertial_parameters())) > -1e-9).all()
    assert np.allclose(made.inverse_dynamics(q, v, a), tau, atol=1e-7)
    assert made.joint("theta1").viscous == pytest.approx((0.3,), abs=1e-8)
    assert np.allclose(found.torques(q, v, a), tau, atol=1e-8)


def test_confidence_intervals_hold_at_the_stated_rate(arm, rng):
    """In 25 recordings of 21 parameters each, 95 % of the intervals hold the true value: about 26 of 525 do not, with a
    standard deviation of some 5 or, since parameters of one recording go together, 10."""
    true, model, q, v, a, tau = arm
    sigma, held = 0.02 * tau.std(axis=0), []
    for _ in range(25):
        noisy = recording(T, q, tau + sigma * rng.normal(size=tau.shape), v, a)
        found = identify(model, noisy)
        low, high = found.confidence_intervals.T
        held.append((low < truth(true, found)) & (truth(true, found) < high))
        assert not found.rejected
    assert 0.88 < np.mean(held) < 0.995
    assert np.allclose(found.noise, sigma, rtol=0.1)


def test_coordinates_with_noise_are_filtered_and_differentiated(arm, rng):
    true, model, q, _, _, tau = arm
    noisy = recording(
        T,
        q + 2e-5 * rng.normal(size=q.shape),
        tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape),
    )
    found = identify(model, noisy)
    assert np.abs((found.values - truth(true, found)) / found.standard_errors).max() < 5
    assert found.relative_errors[np.abs(found.values) > 0.2].max() < 0.1
    assert not found.rejected
    uneven = T + 1e-3 * np.sin(7 * T)
    uneven = (uneven - uneven[0]) * 8 / (uneven[-1] - uneven[0])
    q2, v2, a2 = fourier(true, uneven)
    smooth = es.load("rojas_3r")
    again = identify(model, recording(uneven, q2, smooth.inverse_dynamics(q2, v2, a2)), friction=())
    assert np.allclose(again.values, truth(smooth, again), atol=1e-2)


@pytest.mark.parametrize("friction", [(), ("viscous",)])
def test_a_model_without_the_friction_there_is_gets_rejected(arm, friction, rng):
    _, model, q, v, a, tau = arm
    noisy = tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    found = identify(model, recording(T, q, noisy, v, a), friction=friction)
    assert found.rejected
    assert "the model is rejected" in repr(found)
    assert "friction of 'theta" in found.verdict


def test_a_model_of_another_length_gets_rejected(arm, rng):
    _, model, q, v, a, tau = arm
    noisy = tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    found = identify(model.with_parameters(d2=1.3), recording(T, q, noisy, v, a))
    assert found.rejected
    right = identify(model, recording(T, q, noisy, v, a))
    assert not right.rejected
    assert (
        right.cross_validate(recording(T, q, noisy, v, a)).relative.max()
        < found.cross_validate(recording(T, q, noisy, v, a)).relative.max()
    )


def test_known_noise_weighs_and_tells_of_a_wrong_model(arm, rng):
    _, model, q, v, a, tau = arm
    sigma = 0.02 * tau.std(axis=0)
    noisy = recording(T, q, tau + sigma * rng.normal(size=tau.shape), v, a)
    found = identify(model, noisy, noise=sigma)
    chi, free, p = found.chi_squared
    assert abs(chi - free) < 5 * np.sqrt(2 * free)
    assert p > 1e-6
    assert not found.rejected
    wrong = identify(model, noisy, noise=sigma / 1.5)
    assert wrong.rejected
    assert re.search(r"1\.[45]\d* times the known noise", wrong.verdict)
    filtered = identify(model, recording(T, q, noisy["tau"]), noise=sigma, cutoff=15.0)
    chi, free, _ = filtered.chi_squared
    assert 0.7 < chi / free < 1.3  # filtered noise is white but for the last decimals


def test_motor_inertias_and_offsets(arm):
    true, model, q, v, a, _ = arm
    true = true.with_joint("theta2", motor=(0.002, 10.0)).with_joint("theta3", motor=(0.004, 5.0))
    tau = true.inverse_dynamics(q, v, a) + np.array([0.4, -0.2, 0.1])
    found = identify(
        model, recording(T, q, tau, v, a), friction=("viscous", "coulomb", "offset"), motors=True
    )
    assert np.allclose(
        [found.values[found.names.index(f"offset(theta{k})")] for k in (1, 2, 3)],
        [0.4, -0.2, 0.1],
        atol=1e-7,
    )
    assert found.values[found.names.index("motor inertia(theta3)")] == pytest.approx(0.1, abs=1e-7)
    made = found.mechanism()
    assert np.allclose(made.inverse_dynamics(q, v, a), tau - np.array([0.4, -0.2, 0.1]), atol=1e-6)


def test_springs_and_wrenches_stay_as_the_model_has_them():
    b = (
        es.Builder("pendulum", gravity=(0, -9.81, 0))
        .body("rod", 1.0, (0.5, 0, 0), (0, 0.1, 0.1))
        .actuate("q")
    )
    b.joint("q", "revolute", "ground", "rod", stiffness=3.0, rest=0.2, viscous=0.1)
    b.spring("spring", "ground", "rod", (1, 1, 0), (0.5, 0, 0), stiffness=20.0, length=0.5)
    true = b.wrench("push", "rod", force=(1.0, 2.0, 0.0)).build()
    q, v, a = fourier(true)
    tau = true.inverse_dynamics(q, v, a)
    found = identify(
        true.with_body("rod", mass=2.0, com=(0.1, 0.1, 0)), recording(T, q, tau, v, a), friction=()
    )
    assert np.allclose(found.values, [0.5, 0.0, 0.35], atol=1e-9)
    assert found.names == ("mx(rod)", "my(rod)", "Izz(rod)")
    assert not found.rejected
    missing = identify(true.with_joint("q", stiffness=0.0), recording(T, q, tau, v, a), friction=())
    assert missing.rejected
    assert "would explain" in missing.verdict


def test_an_underactuated_tree_is_told_by_its_one_actuator():
    true = es.load("cart_pole")

    def law(t, q, v):
        return [8 * np.sin(3 * t) - 20 * q[0] - 4 * v[0]]

    motion = true.simulate([0.0, 0.4], None, np.linspace(0, 6, 601), law)
    heavy = true.with_body("cart", mass=3.0).with_body("pole", mass=1.0)
    found = identify(heavy, motion, friction=())
    assert np.allclose(found.values, truth(true, found), atol=1e-6)
    assert not found.rejected
    assert np.allclose(
        identify(heavy, [motion, motion], friction=()).values, truth(true, found), atol=1e-6
    )


def test_a_batch_of_motions_counts_as_so_many_recordings(rng):
    true = es.load("double_pendulum")
    starts = rng.normal(size=(3, 2))
    motions = true.simulate(starts, None, np.linspace(0, 2, 101), [3.0, -1.0])
    found = identify(true.with_body("bar1", mass=2.0), motions, friction=())
    assert len(found.several) == 3
    assert np.allclose(found.values, truth(true, found), atol=1e-5)


def test_gears_are_loops_too():
    b = es.Builder("geared", gravity=(0, -9.81, 0)).body("a", 1.0, (0.3, 0, 0), (0.01, 0.02, 0.02))
    b.body("b", 2.0, (0.1, 0.1, 0), (0.01, 0.03, 0.03)).joint("q1", "revolute", "ground", "a")
    b.joint("q2", "revolute", "ground", "b", at=(1, 0, 0)).couple(
        "gear", "q2", "q1", ratio=-2.0
    ).actuate("q1")
    true = b.build()
    t = np.linspace(0, 8, 401)
    qa, va, aa = fourier(true, t)
    tau = true.inverse_dynamics(*true.complete(qa, va, aa))
    found = identify(true.with_body("b", mass=5.0), recording(t, qa, tau, va, aa), friction=())
    assert np.allclose(found.values, truth(true, found), atol=1e-7)
    assert any("4 Izz(b)" in name for name in found.names)


def test_a_free_body_with_a_quaternion(rng):
    b = (
        es.Builder("ball")
        .body("ball", 2.0, (0.1, 0.2, -0.1), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
        .actuate("j")
    )
    true = b.joint("j", "free", "ground", "ball").build()
    t = np.linspace(0, 4, 401)
    motion = true.simulate(
        true.home(),
        rng.normal(size=6),
        t,
        lambda t, q, v: 20 * np.sin(np.arange(1, 7) * t),
        method="DOP853",
    )
    model = true.with_body("ball", mass=3.0, com=(0, 0, 0))
    found = identify(model, motion, friction=())
    assert np.allclose(found.values, true.inertial_parameters(), atol=1e-5)
    assert np.allclose(found.mechanism().body("ball").com, (0.1, 0.2, -0.1), atol=1e-5)
    with pytest.raises(es.InputError, match="turns by a quaternion"):
        identify(model, recording(t, motion.q, motion.tau))


# -- loops ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def five_bar():
    true = es.load("five_bar").with_gravity((0, -9.81, 0))
    for name in true.actuated:
        true = true.with_joint(name, viscous=2e-4, coulomb=1e-3)
    qa, va, aa = fourier(true, wide=0.25)
    return true, true.complete(qa, va, aa, continuation=True), (qa, va, aa)


def test_a_loop_from_its_actuated_joints_alone(five_bar, tmp_path, rng):
    true, (q, v, a), (qa, va, aa) = five_bar
    tau = true.inverse_dynamics(q, v, a)
    model = es.load("five_bar").with_gravity((0, -9.81, 0))
    for body in model.bodies:
        model = model.with_body(body.name, mass=1.5 * body.mass)
    exact = identify(model, recording(T, qa, tau, va, aa))
    scale = np.linalg.norm(exact.base.values)
    assert np.allclose(exact.values, truth(true, exact), atol=1e-7 * scale)
    assert np.allclose(exact.torques(q, v, a), tau, atol=1e-6 * np.abs(tau).max())
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        exact.torques(q + 0.1, v, a)
    made = exact.mechanism()
    assert np.allclose(made.inverse_dynamics(q, v, a), tau, atol=1e-5 * np.abs(tau).max())

    noisy = tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    table, (first, second) = tmp_path / "run.csv", true.actuated
    head = f"time [ms],{first}.q [deg],{second}.q [deg],{first}.tau [N m],{second}.tau [mNm],temperature"
    values = np.column_stack(
        [
            1e3 * T,
            np.degrees(qa + 1e-5 * rng.normal(size=qa.shape)),
            noisy[:, 0],
            1e3 * noisy[:, 1],
            0 * T,
        ]
    )
    np.savetxt(table, values, delimiter=",", header=head, comments="")
    found = identify(model, str(table))
    assert np.abs((found.values - truth(true, found)) / found.standard_errors).max() < 5
    assert not found.rejected
    assert found.cross_validate(recording(T, qa, tau, va, aa)).relative.max() < 0.02
    assert identify(model, table, friction=()).rejected


def test_all_joints_of_a_loop_are_projected_onto_it(five_bar, rng):
    true, (q, v, a), _ = five_bar
    tau = true.inverse_dynamics(q, v, a)
    found = identify(
        es.load("five_bar").with_gravity((0, -9.81, 0)),
        recording(T, q + 1e-5 * rng.normal(size=q.shape), tau),
    )
    assert np.abs((found.values - truth(true, found)) / found.standard_errors).max() < 6
    assert found.cross_validate(recording(T, q, tau, v, a)).relative.max() < 1e-3
    simulated = true.simulate(q[0], None, np.linspace(0, 1, 201), [1e-3, -2e-3])
    assert identify(true, simulated).cross_validate(simulated).relative.max() < 1e-4


# -- bodies that can be -----------------------------------------------------------------------------------------------


def test_consistent_parameters_belong_to_bodies(arm, rng):
    """With so much noise that the least-squares solution does not."""
    _, model, q, v, a, tau = arm
    q, v, a, tau = (x[::20] for x in (q, v, a, tau))
    noisy = tau + 0.3 * tau.std(axis=0) * rng.normal(size=tau.shape)
    free = identify(model, recording(T[::20], q, noisy, v, a))
    found = identify(model, recording(T[::20], q, noisy, v, a), consistent=True, mass=(2.0, 4.0))
    assert not found.task.possible(found.task.nearest())
    made = found.mechanism()
    assert (np.linalg.eigvalsh(pseudo_inertias(made.inertial_parameters())) > 0).all()
    assert 2.0 - 1e-6 < sum(b.mass for b in made.bodies) < 4.0 + 1e-6
    assert all(x >= 0 for j in made.joints for x in (*j.viscous, *j.coulomb))
    clean = recording(T[::20], q, tau, v, a)
    assert (
        found.cross_validate(clean).relative.max() < 1.5 * free.cross_validate(clean).relative.max()
    )
    assert np.allclose(
        found.torques(q, v, a), made.inverse_dynamics(q, v, a), atol=1e-6 * np.abs(tau).max()
    )
    assert not np.allclose(found.values, free.values, rtol=1e-3)


def test_bounds_on_masses(arm):
    _, model, q, v, a, tau = arm
    name = model.bodies[1].name
    found = identify(model, recording(T, q, tau, v, a), mass={name: (2.5, 3.0)}, consistent=True)
    assert 2.5 - 1e-6 < found.mechanism().body(name).mass < 3.0 + 1e-6
    assert np.allclose(
        found.mechanism().inverse_dynamics(q, v, a), tau, atol=1e-3 * np.abs(tau).max()
    )
    with pytest.raises(es.ModelError, match="has no body 'nobody'"):
        identify(model, recording(T, q, tau, v, a), mass={"nobody": 1.0})
    with pytest.raises(es.InputError, match="least, most"):
        identify(model, recording(T, q, tau, v, a), mass=(3.0, 2.0))


def test_without_the_solver_a_sentence_says_where_it_is(arm, monkeypatch):
    _, model, q, v, a, tau = arm
    found = identify(model, recording(T, q, tau, v, a), mass={model.bodies[1].name: (2.5, 3.0)})
    monkeypatch.setitem(__import__("sys").modules, "cvxpy", None)
    with pytest.raises(es.MissingDependencyError, match=r"eslabon\[identification\]"):
        found.mechanism()


# -- motions that tell little -----------------------------------------------------------------------------------------


def test_what_is_not_excited_is_named_and_stays(arm):
    true, model, q, v, a, _ = arm
    q, v, a = q.copy(), v.copy(), a.copy()
    q[:, 2], v[:, 2], a[:, 2] = 0.3, 0.0, 0.0
    tau = true.inverse_dynamics(q, v, a)
    found = identify(model, recording(T, q, tau, v, a))
    assert "viscous(theta3)" in found.unexcited
    assert np.isinf(found.standard_errors[found.names.index("viscous(theta3)")])
    assert "not excited: theta3 stands still" in repr(found)
    assert np.allclose(found.torques(q, v, a), tau, atol=1e-6)
    assert not found.rejected


def test_a_motion_that_excites_nothing_is_refused():
    m = es.load("double_pendulum").with_gravity((0, 0, 0))
    still = np.zeros((len(T), 2))
    with pytest.raises(
        es.InputError, match="excites nothing of double_pendulum: q1, q2 stands still"
    ):
        identify(m, recording(T, still, still, still, still))
    hanging = es.load("double_pendulum")
    swing = hanging.simulate([0.5, 0.2], None, np.linspace(0, 2, 201))
    with pytest.raises(es.InputError, match="measured forces of double_pendulum are zero"):
        identify(hanging, swing, friction=())


def test_nonsense_is_refused(arm, tmp_path):
    _, model, q, v, a, tau = arm
    good = {"t": T, "q": q, "v": v, "a": a, "tau": tau}
    for changes, words in (
        ({"q": q[:, :2]}, "the motion has 2 coordinates; rojas_3r has 3"),
        ({"tau": tau[:5]}, "tau of the motion has shape"),
        ({"tau": np.where(tau > 0, np.nan, tau)}, "not finite"),
        ({"t": T[::-1]}, "two or more, and increase"),
        ({"t": T[:3], "q": q[:3], "v": v[:3], "a": a[:3], "tau": tau[:3]}, "at least 20 times"),
    ):
        with pytest.raises(es.InputError, match=words):
            identify(model, {**good, **changes})
    for given, words in (
        (3, "a motion is a Trajectory"),
        ([], "no motion"),
        ({"t": T}, "coordinates 'q'"),
    ):
        with pytest.raises(es.InputError, match=words):
            identify(model, given)
    with pytest.raises(es.InputError, match="a motion has no 'torque'"):
        identify(model, {**good, "torque": tau})
    with pytest.raises(es.InputError, match="noise is the standard deviation"):
        identify(model, good, noise=[1.0, 2.0])
    with pytest.raises(es.InputError, match="probability"):
        identify(model, good, confidence=95.0)
    with pytest.raises(es.InputError, match="leaves nothing of 8 s"):
        identify(model, good, cutoff=0.2)
    with pytest.raises(es.ModelError, match="did you mean 'friction'"):
        model.identify(good, frictions=())
    with pytest.raises(es.ModelError, match="no actuator"):
        identify(model.with_actuated(()), {**good, "tau": tau[:, :0]})
    other = es.load("double_pendulum").simulate([0.1, 0.0], None, 0.5)
    with pytest.raises(es.ModelError, match="another mechanism's"):
        identify(model, other)


def test_tables_that_cannot_be_read(tmp_path):
    m, table = es.load("double_pendulum"), tmp_path / "run.csv"
    with pytest.raises(es.ReadError, match="cannot be read"):
        identify(m, tmp_path / "nowhere.csv")
    rows = "\n".join(f"{0.1 * k},{np.sin(k)},0.2,0.3,0.4" for k in range(30))
    for text, words in (
        ("q1.q,q2.q\n1,2\n", "one of them 't'"),
        ("t,q1.q,q2.q,q1.tau,q2.torque\n" + rows, "no column 'q2.tau'"),
        ("t,q1.q,q3.q,q1.tau,q2.tau\n" + rows, "no joint 'q3'"),
        (
            "t,q1.q [inch],q2.q,q1.tau,q2.tau\n" + rows,
            "'q1.q .inch.' is in a unit that does not fit",
        ),
        (
            "t,q1.q,q2.q,q1.tau [deg],q2.tau\n" + rows,
            "'q1.tau .deg.' is in a unit that does not fit",
        ),
        ("t,q1.q,q2.q,q1.tau,q2.tau\n0,1,2,3,4\n1,2,x,4,5\n", "line 3 has no number under 'q2.q'"),
    ):
        table.write_text(text)
        with pytest.raises(es.ReadError, match=words):
            identify(m, table)


def test_motions_from_files(tmp_path):
    m = es.load("double_pendulum")
    motion = m.simulate(
        [0.3, 0.2],
        None,
        np.linspace(0, 4, 401),
        lambda t, q, v: [6 * np.sin(3 * t), 3 * np.cos(5 * t)],
    )
    values = m.base_parameters().values
    for name in ("run.csv", "run.npz"):
        found = identify(m.with_body("bar2", mass=2.0), motion.save(tmp_path / name), friction=())
        assert np.allclose(found.values, values, atol=1e-6)
    table = tmp_path / "run.csv"
    table.write_bytes(table.read_bytes().replace(b"0.3", b"0.4", 1))
    with pytest.raises(es.ReadError, match="checksum"):
        identify(m, table)
    assert found.plot().axes
    assert repr(found).startswith(
        "<Identification of double_pendulum: 6 parameters from 401 samples"
    )
    assert "errors up to" in repr(found.cross_validate(motion))


def test_a_driven_mechanism_is_refused():
    b = es.Builder("fan", gravity=(0, 0, 0)).body("blade", mass=2.0, com=(0.5, 0, 0)).actuate()
    m = b.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.1*t**3").build()
    with pytest.raises(es.ModelError, match="depend on the time"):
        m.base_parameters()
