"""Laws that need no linear model: errors decay as predicted, energy falls, batches and C have the same numbers."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from scipy.integrate import cumulative_simpson
from scipy.linalg import expm

import eslabon as es
from eslabon.model.configuration import difference, integrate

C = es.control


def actuated(m, q: np.ndarray) -> np.ndarray:
    return q[..., list(m.actuated_coordinates)]


def started(m, shift: float = 0.0) -> np.ndarray:
    """A closed configuration beside home."""
    own = actuated(m, m.home()) + shift
    return m.assemble(own) if m.closed else m.home() + shift


@pytest.mark.parametrize("name", ["puma560", "planar_3rrr", "five_bar", "spatial_four_bar"])
def test_the_error_decays_as_predicted(name: str) -> None:
    """Under computed torque e(t) = e0 (1 + w t) exp(-w t) in every commanded coordinate, whatever the motion."""
    m = es.load(name)
    start, w = actuated(m, started(m)), 15.0
    path = es.paths.joint_path(
        [start, start + np.linspace(0.1, 0.2, len(start))], es.paths.quintic(0.6)
    )
    law = C.computed_torque(m, path, frequency=w)
    e0 = 0.02 * np.cos(np.arange(len(start)))
    q0 = m.assemble(start - e0) if m.closed else start - e0
    t = np.linspace(0.0, 0.6, 13)
    motion = m.simulate(q0, None, t, law)
    predicted = e0 * ((1 + w * t) * np.exp(-w * t))[:, None]
    np.testing.assert_allclose(path.position(t) - actuated(m, motion.q), predicted, atol=2e-6)
    if m.closed:
        assert motion.closure.max() < 1e-9


def test_frequencies_and_damping_of_each_coordinate() -> None:
    m, t = es.load("scara"), np.linspace(0.0, 1.0, 6)
    w, zeta = np.array([3.0, 5.0, 8.0, 4.0]), np.array([0.5, 1.5, 0.7, 1.0])
    q0 = m.home()
    motion = m.simulate(q0 + 0.1, None, t, C.computed_torque(m, q0, w, zeta))
    for k in range(4):
        A = np.array([[0.0, 1.0], [-(w[k] ** 2), -2 * zeta[k] * w[k]]])
        np.testing.assert_allclose(
            motion.q[:, k] - q0[k], [0.1 * expm(A * s)[0, 0] for s in t], atol=1e-6
        )


def test_actuated_joints_alone_are_commanded_where_others_are_free() -> None:
    m, t, w = es.load("cart_pole"), np.linspace(0.0, 1.0, 11), 6.0
    motion = m.simulate([0.0, 0.3], None, t, C.computed_torque(m, [0.5], frequency=w))
    np.testing.assert_allclose(0.5 - motion.q[:, 0], 0.5 * (1 + w * t) * np.exp(-w * t), atol=1e-6)
    assert np.abs(motion.q[:, 1] - 0.3).max() > 0.1  # the pole does what it wants


def test_more_actuators_than_degrees_of_freedom_share_the_forces() -> None:
    m = es.load("five_bar")
    redundant = m.with_actuated([j.name for j in m.joints])
    q0, t, w = m.assemble([2.0, 1.0]), np.linspace(0.0, 0.5, 6), 10.0
    law = C.computed_torque(redundant, m.assemble([2.1, 1.05]), frequency=w)
    motion = redundant.simulate(q0, None, t, law)
    own = [redundant.velocity_index(name) for name in redundant.independent_coordinates()]
    goal = m.assemble([2.1, 1.05])
    decay = ((1 + w * t) * np.exp(-w * t))[:, None]
    np.testing.assert_allclose((goal - motion.q)[:, own], decay * (goal - q0)[own], atol=1e-6)


def test_orientations_are_followed_too() -> None:
    b = es.Builder("ball").body("rod", 1.0, (0.1, 0, 0), (0.1, 0.2, 0.3))
    m = b.joint("ball", "spherical", "ground", "rod").actuate("ball").build()
    goal = integrate(m, m.neutral(), np.array([0.5, -1.0, 0.7]))
    for law in (C.computed_torque(m, goal, frequency=8.0), C.pd_gravity(m, goal, 20.0, 4.0)):
        q, v = m.simulate(m.neutral(), None, 5.0, law).end
        assert np.abs(difference(m, q, goal)).max() < 1e-5
        assert np.abs(v).max() < 1e-4


@pytest.mark.parametrize("name", ["double_pendulum", "five_bar"])
def test_energy_falls_under_pd_control(name: str) -> None:
    """V = v^T M v / 2 + e^T Kp e / 2 falls by v^T Kd v, since the weight is compensated."""
    m = es.load(name)
    m = m.with_gravity((0.0, -9.81, 0.0)) if m.closed else m
    q0 = started(m)
    size = float(np.diag(m.mass_matrix(q0)).max())
    Kp, Kd = 100 * size, 10 * size
    goal = actuated(m, q0) + 0.1
    motion = m.simulate(q0, None, np.linspace(0.0, 1.5, 1501), C.pd_gravity(m, goal, Kp, Kd))
    e, v = goal - actuated(m, motion.q), motion.v[:, list(m.actuated_velocities)]
    V = motion.energy.kinetic + Kp * (e**2).sum(axis=1) / 2
    lost = cumulative_simpson(Kd * (v**2).sum(axis=1), dx=motion.t[1])
    np.testing.assert_allclose(V[0] - V[1:], lost, atol=2e-3 * V[0])
    assert V[-1] < 0.05 * V[0]


def test_pd_control_holds_against_springs() -> None:
    m = es.load("double_pendulum").with_joint("q1", stiffness=5.0, rest=0.2)
    law = C.pd_gravity(m, [0.5, 0.3], 30.0, 10.0)
    np.testing.assert_allclose(
        m.simulate([0.0, 0.0], None, 10.0, law).end[0], [0.5, 0.3], atol=1e-4
    )


# -- numbers, batches, C --------------------------------------------------------------------------------------------------


def test_laws_give_numbers_and_expressions(rng: np.random.Generator) -> None:
    m = es.load("puma560")
    law = C.computed_torque(m, m.home(), frequency=3.0)
    q, v = rng.normal(size=(2, 4, 6))
    found = law(0.0, q, v)
    expected = m.inverse_dynamics(q, v, 9 * difference(m, m.home(), q) - 6 * v)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    one = casadi.Function(
        "f", [x := casadi.SX.sym("q", 6), y := casadi.SX.sym("v", 6)], [law(casadi.SX(0), x, y)]
    )
    np.testing.assert_allclose(np.array(one(q[0], v[0])).ravel(), found[0], rtol=1e-9, atol=1e-9)
    assert repr(law) == "<computed_torque of puma560: 6 actuators>"


def test_a_law_in_symbols_takes_columns_or_lists_of_them_and_numbers() -> None:
    m = es.load("elbow")
    t, q = casadi.SX.sym("t"), casadi.SX.sym("q", 2)
    law = C.law(m, lambda t, q, v: 10 * (1 - q) - v)
    wanted = law(0.0, [0.5, 0.2], [1.0, 2.0])
    for given in (q, [q[0], q[1]], (q[0], 0.2), np.array([q[0], q[1]], dtype=object)):
        found = casadi.Function("f", [q], [law(0.0, given, [1.0, 2.0])])
        np.testing.assert_allclose(np.array(found([0.5, 0.2])).ravel(), wanted, rtol=1e-15)
    found = casadi.Function("f", [t], [law(t, [0.5, 0.2], [1.0, 2.0])])
    np.testing.assert_allclose(np.array(found(0.0)).ravel(), wanted, rtol=1e-15)
    summed = C.law(m, lambda t, q, v, x: (x - v, q), state=[1.0, 2.0])
    tau, rates = summed(t, q, [0.0, 0.0])  # from the states at the start
    np.testing.assert_array_equal(np.array(casadi.DM(tau)).ravel(), [1.0, 2.0])
    assert casadi.is_equal(rates, q)


X = casadi.SX.sym("x", 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((X, [0.0, 0.0], [0.0, 0.0]), "t is 2x1; a law is asked at one time."),
        ((0.0, casadi.SX.sym("q", 3), [0.0, 0.0]), "q is 3x1; elbow has 2 coordinates."),
        ((0.0, X, [0.0]), "v is 1x1; elbow has 2 velocities."),
        ((0.0, X, np.zeros((2, 2, 2))), "v is a column of symbols or numbers"),
        ((0.0, X, ["text", X]), "v is a column of symbols or numbers"),
        ((0.0, X, "text"), "v holds text; real numbers are expected."),
        ((0.0, X, [0.0, 0.0], 1.0), "the law has no states; x is 1.0."),
    ],
)
def test_a_law_in_symbols_refuses_other_shapes(given: tuple[Any, ...], message: str) -> None:
    law = C.law(es.load("elbow"), lambda t, q, v: 10 * (1 - q) - v)
    with pytest.raises(es.InputError, match=message):
        law(*given)


def test_a_batch_is_its_single_runs_with_other_inertias_too() -> None:
    m = es.load("five_bar")
    law = C.computed_torque(m, [2.1, 1.1], frequency=10.0)
    tried, parameters = C.perturbed(m, 0.3, 3, seed=4)
    q0 = m.assemble(np.array([[2.0, 1.0], [2.05, 1.0], [2.0, 1.05]]))
    options: dict[str, Any] = {"method": "rk4", "step": 2e-3, "every": 25}
    motion = tried.simulate(q0, None, 0.2, law, parameters=parameters, **options)
    for k in range(3):
        one = tried.with_parameters(**{name: float(x[k]) for name, x in parameters.items()})
        np.testing.assert_allclose(
            motion.q[k], one.simulate(q0[k], None, 0.2, law, **options).q, atol=1e-12
        )
    single = {name: x[1] for name, x in parameters.items()}
    for more in ({}, {"constraints": "elimination"}):
        end = tried.simulate(q0[1], None, 0.2, law, parameters=single, **more).end[0]
        np.testing.assert_allclose(end, motion.q[1, -1], atol=1e-7)


def test_perturbed_inertias_are_within_their_tolerance() -> None:
    m = es.load("delta")
    tried, parameters = C.perturbed(m, 0.1, 500, seed=1)
    assert len(parameters) == len(m.bodies)
    values = np.array(list(parameters.values()))
    assert values.min() > 0.9
    assert values.max() < 1.1
    assert values.std() > 0.05
    q = m.assemble(actuated(m, m.home()))
    np.testing.assert_allclose(tried.mass_matrix(q), m.mass_matrix(q))
    doubled = tried.mass_matrix(q, parameters=dict.fromkeys(parameters, 2.0))
    np.testing.assert_allclose(doubled, 2 * m.mass_matrix(q), rtol=1e-12)
    for wrong, sentence in ((1.0, "below 1"), (-0.1, "not less than zero")):
        with pytest.raises(es.InputError, match=sentence):
            C.perturbed(m, wrong, 3)
    with pytest.raises(es.InputError, match="samples is a whole number, at least 1"):
        C.perturbed(m, 0.1, 0)


def test_a_sampled_law_in_a_batch() -> None:
    m = es.load("double_pendulum")
    law = C.pd_gravity(m, [0.5, 0.2], 40.0, 12.0)
    sampled = es.simulate.sampled(law, period=0.01, delay=0.002)
    motion = m.simulate(np.zeros((4, 2)), None, 4.0, sampled, method="rk4", step=2e-3, every=500)
    np.testing.assert_allclose(motion.q[:, -1], np.broadcast_to([0.5, 0.2], (4, 2)), atol=1e-3)


@pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform == "win32",
    reason="there is no C compiler that takes these options",
)
@pytest.mark.parametrize("kind", ["computed_torque", "pd_gravity", "adaptive", "modal"])
@pytest.mark.parametrize("name", ["puma560", "five_bar"])
def test_c_of_a_law_compiles_and_agrees(
    name: str, kind: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    m = es.load(name)
    start = actuated(m, started(m))
    path = es.paths.joint_path([start, start + 0.1], es.paths.quintic(1.0))
    law = {
        "computed_torque": lambda: C.computed_torque(m, path, frequency=10.0),
        "pd_gravity": lambda: C.pd_gravity(m, path, 10.0, 1.0),
        "adaptive": lambda: C.adaptive(m, path, 5.0, 1.0, 0.5),
        "modal": lambda: C.modal(m, path, 5.0),
    }[kind]()
    source = law.c_source()
    assert source.name == f"{kind}_{name}"
    _, code = source.write(tmp_path)
    library = tmp_path / "law.so"
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *strict, str(code), "-o", str(library), "-lm"], check=True)
    function = getattr(ctypes.CDLL(str(library)), source.name)
    q = started(m, 0.03)
    v = rng.normal(size=m.nv)
    state = [] if law.state is None else [law.state + 0.1 * rng.normal(size=law.state.shape)]
    for t in (0.0, 0.37, 1.5):
        inputs = [np.array([t]), q, v, *state]
        outputs = [np.full(m.nu, np.nan), *(np.full(x.shape, np.nan) for x in state)]
        function(*(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*inputs, *outputs)))
        expected = law(t, q, v, *state)
        for x, y in zip(outputs, expected if state else [expected], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-8)


# -- what cannot be -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda m: C.computed_torque(m, [0.0, 0.0], frequency=0.0), "frequency is greater than zero"),
        (lambda m: C.computed_torque(m, [0.0, 0.0], frequency=[1.0, 2.0, 3.0]), "one for each of the 2 coordinates"),
        (lambda m: C.computed_torque(m, [0.0, 0.0], frequency="fast"), "holds text"),
        (lambda m: C.pd_gravity(m, [0.0, 0.0], -1.0, 1.0), "Kp is not positive definite"),
        (lambda m: C.pd_gravity(m, [0.0, 0.0], 1.0, -1.0), "Kd is not positive semidefinite"),
        (lambda m: C.pd_gravity(m, [0.0, 0.0], np.ones((3, 3)), 1.0), "2x2 matrix"),
        (lambda m: C.adaptive(m, [0.0, 0.0], 1.0, 1.0, -1.0), "adaptation is greater than zero"),
        (lambda m: C.adaptive(m, [0.0, 0.0], 1.0, 1.0, [1.0, 2.0]), "adaptation is a number"),
        (lambda m: C.law(m, 3.0), "a control law is a function"),
        (lambda m: C.law(m, lambda t, q, v: q[:1])(0.0, [0.0, 0.0], [0.0, 0.0]), "gives 1 forces; elbow has 2"),
        (lambda m: C.computed_torque(m, [0.0, 0.0], 1.0)(0.0, [0.0], [0.0, 0.0]), "q has 1 value"),
        (lambda m: C.computed_torque(m, [0.0, 0.0], 1.0)([0.0] * 3, np.zeros((2, 2)), [0.0, 0.0]), "leading axes"),
    ],
)  # fmt: skip
def test_mistakes_end_in_a_sentence(make, sentence: str) -> None:
    with pytest.raises(es.InputError, match=sentence):
        make(es.load("elbow"))


def test_mechanisms_that_no_law_drives() -> None:
    m = es.load("elbow").with_actuated([])
    for make in (
        lambda: C.computed_torque(m, [0.0, 0.0], 1.0),
        lambda: C.pd_gravity(m, [0.0, 0.0], 1.0, 1.0),
    ):
        with pytest.raises(es.ModelError, match="has no actuators"):
            make()
    with pytest.raises(
        es.ModelError, match="adaptive control of cart_pole: its actuators leave theta uncontrolled"
    ):
        C.adaptive(es.load("cart_pole"), [0.0, 0.0], 1.0, 1.0)
    loose = es.load("five_bar").with_actuated(["theta2"])
    with pytest.raises(es.ModelError, match="uncontrolled"):
        C.pd_gravity(loose, [2.0], 1.0, 1.0)


def test_a_law_of_another_mechanism_is_refused() -> None:
    law = C.pd_gravity(es.load("elbow"), [0.0, 0.0], 1.0, 1.0)
    with pytest.raises(es.InputError, match="designed for elbow with 2 coordinates"):
        es.load("puma560").simulate(np.zeros(6), None, 0.1, law)


def test_a_start_that_does_not_close_with_other_lengths_is_refused() -> None:
    m = es.load("five_bar")
    with pytest.raises(
        es.AssemblyError,
        match=r"q0 violates loop closure of five_bar with L2 = 0\.1 by .* m\.project\(\.\.\., parameters=",
    ):
        m.simulate(m.home(), None, 0.1, parameters={"L2": 0.1})


def test_every_law_is_one_kind_of_law_with_its_gains_as_data():
    m = es.load("elbow")
    path = es.paths.joint_path([[0.0, 0.0], [0.3, 0.2]], es.paths.quintic(1.0))
    lm = m.linearize([0.3, 0.2])
    K = es.control.lqr(lm, 1.0, 1.0).K
    laws = {
        "state_feedback": es.control.state_feedback(m, lm, K),
        "modal": es.control.modal(m, path, 5.0),
        "tracking_lqr": es.control.tracking_lqr(m, path, 1.0, 1.0),
        "adaptive": es.control.adaptive(m, path, 5.0, 20.0),
        "pd_gravity": es.control.pd_gravity(m, path, 50.0, 5.0),
    }
    for title, law in laws.items():
        assert type(law) is es.control.ControlLaw
        assert law.title == title
        assert title in str(law)
    np.testing.assert_array_equal(laws["state_feedback"].data["K"], K)
    assert laws["modal"].data["Kp"].shape[1:] == (2, 2)
    assert laws["tracking_lqr"].data["S"].shape[1:] == (4, 4)
    assert not any(law.stepwise for law in laws.values())


def test_a_law_of_a_sample_keeps_its_graph_whatever_its_states_are():
    lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x", "theta"])
    observer = es.control.luenberger(lm, [-20, -22, -24, -26], period=0.01)
    K = es.control.lqr(lm.sampled(0.01), 1.0, 0.1)
    run = es.control.output_feedback(lm, K, observer).law()
    law = run.law.with_state(run.state)
    assert law.stepwise
    assert law.with_state(2.0 + run.state).graph(law.m).graph is law.graph(law.m).graph


@pytest.mark.parametrize("nothing", ["elbow", None, 3.0])
def test_designs_of_what_is_no_mechanism_end_in_a_sentence(nothing):
    C = es.control
    for design in (
        lambda m: C.nonlinear_system(m),
        lambda m: C.pd_gravity(m, [0.0], 1.0, 1.0),
        lambda m: C.computed_torque(m, [0.0], 1.0),
        lambda m: C.modal(m, [0.0], 1.0),
        lambda m: C.adaptive(m, [0.0], 1.0, 1.0),
        lambda m: C.tracking_lqr(m, [0.0], 1.0, 1.0),
        lambda m: C.state_feedback(m, [0.0], 1.0),
        lambda m: es.linear.compare_response(m, [0.0], [0.0]),
        lambda m: es.identification.excitation(m, 1.0),
    ):
        with pytest.raises(es.EslabonError):
            design(nothing)
