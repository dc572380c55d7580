"""Linear models against differences of the nonlinear mechanism: every joint and closure kind, at rest and in motion."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from hypothesis import assume, given

import eslabon as es
from eslabon.model.configuration import difference, integrate, velocity_names
from randomness import examples
from strategies import State, moving_loops, moving_trees

# A central difference of sixth order: its error is that of round-off, about 1e-11 of the largest derivative.
NODES = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
STEP = 2e-3


def differenced(f, h=STEP):
    return sum(w * f(k * h) for k, w in NODES.items()) / h


class Nonlinear:
    """The mechanism as a function of its independent coordinates: passive joints found anew by Newton's method."""

    def __init__(self, m, q, v, tau, lm, **options):
        self.m, self.q, self.v, self.tau, self.options = m, q, v, tau, options
        names = list(velocity_names(m))
        self.i = [names.index(x) for x in lm.coordinates]
        self.e = [k for k in range(m.nv) if k not in self.i]

    def configuration(self, x):
        step = np.zeros(self.m.nv)
        step[self.i] = x
        q = integrate(self.m, self.q, step)
        for _ in range(12 if self.e else 0):
            back = np.zeros(self.m.nv)
            phi, J = self.m.constraint(q), self.m.constraint_jacobian(q)
            back[self.e] = np.linalg.lstsq(J[:, self.e], -phi, rcond=1e-10)[0]
            q = integrate(self.m, q, back)
        return q

    def velocities(self, q, y):
        v = np.zeros(self.m.nv)
        v[self.i] = self.v[self.i] + y
        if self.e:
            J = self.m.constraint_jacobian(q)
            v[self.e] = np.linalg.lstsq(J[:, self.e], -J[:, self.i] @ v[self.i], rcond=1e-10)[0]
        return v

    def state(self, x, y):
        q = self.configuration(x)
        return q, self.velocities(q, y)

    def accelerations(self, x, y, u):
        return self.m.forward_dynamics(*self.state(x, y), self.tau + u, **self.options)

    def matrices(self):
        """A and B by differences. Displacements are taken along the moving tangent space."""
        n, nu = len(self.i), self.m.nu
        zero, none = np.zeros(n), np.zeros(nu)
        unit, force = np.eye(n), np.eye(nu)
        a_x = [
            differenced(lambda h, e=e: self.accelerations(h * e, zero, none))[self.i] for e in unit
        ]
        a_y = [
            differenced(lambda h, e=e: self.accelerations(zero, h * e, none))[self.i] for e in unit
        ]
        a_u = [
            differenced(lambda h, e=e: self.accelerations(zero, zero, h * e))[self.i] for e in force
        ]
        x_x = [differenced(lambda h, e=e: self.displacement_rate(h * e))[self.i] for e in unit]
        A = np.block(
            [[_columns(x_x, n), np.eye(n)], [_columns(a_x, n), _columns(a_y, n)]],
        )  # fmt: skip
        return A, np.vstack([np.zeros((n, nu)), _columns(a_u, n)])

    def displacement_rate(self, x):
        """How the displacement to a neighbour with other positions and the same independent velocities grows."""
        q, v = self.state(x, np.zeros(len(self.i)))
        own = self.v

        def at(h):
            return difference(
                self.m, integrate(self.m, q, h * v), integrate(self.m, self.q, h * own)
            )

        return differenced(at)


def _columns(rows, n):
    return np.array(rows).reshape(len(rows), n).T


def near(got, want, rtol):
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1.0, np.abs(want).max(initial=0.0))


def check(m, q, v, tau, rtol=1e-8):
    lm = m.linearize(q, v, tau)
    A, B = Nonlinear(m, q, v, tau, lm).matrices()
    near(lm.A, A, rtol)
    near(lm.B, B, rtol)
    n = lm.dof
    near(lm.U @ lm.A[n:, :n], -lm.W, 1e-9)
    near(lm.U @ lm.A[n:, n:], -lm.V, 1e-9)
    near(lm.U @ lm.B[n:], lm.F, 1e-9)
    return lm


@pytest.mark.parametrize(
    "name",
    [
        "cart_pole",
        "puma560",
        "five_bar",
        "planar_3rrr",
        "delta",
        "slider_crank",
        "rssr",
        "excavator",
    ],
)
@pytest.mark.parametrize("moving", [False, True])
def test_library_mechanisms_against_differences(name, moving, rng):
    m = es.load(name)
    q, v = m.home(), np.zeros(m.nv)
    if m.closed:
        q = m.project(m.home())
        q = q[0] if isinstance(q, tuple) else q
    if moving:
        v = rng.normal(size=m.nv)
        v = m.project(q, v)[1] if m.closed else v
    check(m, q, v, rng.normal(size=m.nu))


@examples(8)
@given(moving_trees())
def test_trees_against_differences(s: State):
    assume(np.linalg.cond(s.m.mass_matrix(s.q)) < 1e4)
    check(s.m, s.q, s.v, np.linspace(-1, 2, s.m.nu))


@examples(8)
@given(moving_loops(most=3))
@pytest.mark.slow(reason="compiles linear models of drawn mechanisms")
def test_closed_mechanisms_against_differences(s: State):
    lm = s.m.linearize(s.q, s.v, np.linspace(-1, 2, s.m.nu))
    assume(np.linalg.cond(lm.U) < 1e4 and np.abs(lm.position_map).max() < 30)
    check(s.m, s.q, s.v, lm.tau, rtol=1e-7)


# Outputs ---------------------------------------------------------------------------------------------------------------

OUTPUTS = {
    "planar_3rrr": (
        "theta2",
        "theta2'",
        "theta3''",
        "centre",
        "centre.x'",
        "centre''",
        "reaction(theta1)",
        "states",
    ),
    "puma560": ("positions", "velocities", "tool'", "tool''", "reaction(q3).fx", "q2''"),
    "rssr": ("rod", "rod'", "rod.z''"),  # a ball joint in a spatial loop
    "cart_pole": ("theta", "theta''", "pole.rz", "reaction(theta)"),
}


def measured(m, q, v, a, tau, name, q0):
    """The numbers of an output, straight from the verbs."""
    plain = name.rstrip("'")
    order = len(name) - len(plain)
    if plain.startswith("reaction("):
        joint, _, component = plain[9:].partition(")")
        k = [*(j.name for j in m.joints), *(loop.name for loop in m.loops)].index(joint)
        wrench = m.reactions(q, v, tau=tau)[k]
        return (
            wrench
            if not component
            else wrench[[["mx", "my", "mz", "fx", "fy", "fz"].index(component[1:])]]
        )
    if plain in ("positions", "velocities", "states"):
        places = list(m.actuated_velocities)
        both = difference(m, q, q0)[places], v[places]
        return np.concatenate(both) if plain == "states" else both[plain == "velocities"]
    names = list(velocity_names(m))
    if plain in names:
        return (difference(m, q, q0), v, a)[order][[names.index(plain)]]
    frame, _, component = plain.partition(".")
    if order:
        y = (
            m.velocity(q, v, frame, "aligned")
            if order == 1
            else m.acceleration(q, v, a, frame, "aligned")
        )
    else:
        T, T0 = m.pose(q, frame), m.pose(q0, frame)
        R = T[:3, :3] @ T0[:3, :3].T
        skew = (R - R.T) / 2
        y = np.array([skew[2, 1], skew[0, 2], skew[1, 0], *(T[:3, 3] - T0[:3, 3])])
    return y if not component else y[[["rx", "ry", "rz", "x", "y", "z"].index(component)]]


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_against_differences(name, rng):
    m = es.load(name)
    frames = {f.name for f in m.frames} | {b.name for b in m.bodies}
    outputs = [y for y in OUTPUTS[name] if y.rstrip("'").partition(".")[0] in frames | set(velocity_names(m)) or "(" in y or y in ("states", "positions", "velocities")]  # fmt: skip
    assert len(outputs) == len(OUTPUTS[name])
    q, v, tau = m.home(), rng.normal(size=m.nv), rng.normal(size=m.nu)
    if m.closed:
        q, v = m.project(q, v)
    lm = m.linearize(q, v, tau, outputs=outputs)
    f = Nonlinear(m, q, v, tau, lm)

    def y(x, u):
        n = lm.dof
        p, w = f.state(x[:n], x[n:])
        a = m.forward_dynamics(p, w, tau + u)
        return np.concatenate([measured(m, p, w, a, tau + u, name, q) for name in outputs])

    n, nu = 2 * lm.dof, m.nu
    C = np.array([differenced(lambda h, e=e: y(h * e, np.zeros(nu))) for e in np.eye(n)]).T
    D = np.array([differenced(lambda h, e=e: y(np.zeros(n), h * e)) for e in np.eye(nu)]).T
    assert len(lm.outputs) == len(C)
    near(lm.C, C, 1e-8)
    near(lm.D, D, 1e-8)


# Parameters ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("five_bar", None), ("planar_3rrr", None), ("cart_pole", "L"), ("four_bar_spring", "L")],
)
def test_derivative_by_a_parameter_follows_the_loops(name, parameter, rng):
    m = es.load(name)
    parameter = parameter or next(iter(m.parameters))
    q, v, tau = m.home(), rng.normal(size=m.nv), rng.normal(size=m.nu)
    if m.closed:
        q, v = m.project(q, v)
    lm = m.linearize(q, v, tau)
    value = m.parameters[parameter]

    def at(h):
        other = m.variant(**{parameter: value + h})  # which shares its code with all others
        f = Nonlinear(other, q, v, tau, lm)
        p, w = f.state(np.zeros(lm.dof), np.zeros(lm.dof))
        found = other.linearize(p, w, tau)
        return np.concatenate([x.ravel() for x in (found.A, found.B, found.U, found.V, found.W)])

    made = lm.derivative(parameter)
    got = np.concatenate([made[x].ravel() for x in ("A", "B", "U", "V", "W")])
    near(got, differenced(at, 1e-3 * value), 1e-7)
    given = m.linearize(q, v, tau, parameters={parameter: value})
    near(given.A, lm.A, 1e-10)
    near(given.derivative(parameter)["A"], made["A"], 1e-9)


# Batches, names, choices ---------------------------------------------------------------------------------------------


def test_a_trajectory_in_one_call_equals_its_states(rng):
    m = es.load("planar_3rrr")
    q = m.assemble(
        m.project(m.home())[[m.coordinates[x].start for x in m.actuated]]
        + 0.05 * rng.normal(size=(7, 3))
    )
    q, v = m.project(q, rng.normal(size=(7, m.nv)))
    tau = rng.normal(size=(7, m.nu))
    lm = m.linearize(q, v, tau)
    assert lm.batch == (7,)
    assert len(lm) == 7
    for k in range(7):
        one = m.linearize(q[k], v[k], tau[k])
        near(lm[k].A, one.A, 1e-11)
        near(lm.C[k], one.C, 0.0)
        assert lm[k].states == one.states
    np.testing.assert_allclose(
        np.sort_complex(lm.poles[3]), np.sort_complex(np.linalg.eigvals(lm.A[3]))
    )


def test_actuated_joints_are_the_coordinates():
    m = es.load("planar_3rrr")
    lm = m.linearize(m.project(m.home()))
    assert lm.coordinates == m.actuated
    assert lm.inputs == tuple(f"tau({name})" for name in m.actuated)
    assert np.array_equal(lm.F, np.eye(3))


def test_coordinates_are_chosen_where_the_actuators_do_not_determine_the_motion():
    b = (
        es.Builder("slider")
        .body("crank", mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        .body("rod", mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    )
    b.body("block", mass=1).joint("crank", "revolute", "ground", "crank").joint(
        "knee", "revolute", "crank", "rod", at=(1, 0, 0)
    )
    b.joint("slide", "prismatic", "ground", "block", axis="x").loop(
        "pin", "revolute", "rod", "block", first=(1, 0, 0)
    )
    m = b.actuate("slide").build()
    q = m.project([0.0, 0.0, 2.0])  # stretched: the slide cannot turn the crank
    lm = m.linearize(q, np.zeros(3), [0.0])
    assert lm.coordinates != ("slide",)
    check_slide = m.linearize(m.project([0.5, -1.0, 1.75]), np.zeros(3), [0.0])
    assert check_slide.coordinates == ("slide",)
    assert m.linearize(m.project([0.5, -1.0, 1.75]), independent=("crank",)).coordinates == (
        "crank",
    )


def test_matrices_by_themselves_are_quantities():
    m = es.load("slider_crank")
    q, v, _ = m.complete([0.8], [1.0], [0.0])
    for independent in (None, ("slide",)):
        lm = m.linearize(q, v, [0.1], independent=independent)
        near(m.state_matrix(q, v, [0.1], independent=independent), lm.A, 1e-11)
        near(m.input_matrix(q, v, [0.1], independent=independent), lm.B, 1e-11)
    assert "slider_crank_state_matrix" in m.c_source("state_matrix").code
    tree = es.load("elbow")
    by = tree.derivative("state_matrix", "a1", [0.1, 0.2], [0.3, 0.4], [0.0, 0.0])
    near(by, tree.linearize([0.1, 0.2], [0.3, 0.4], [0.0, 0.0]).derivative("a1")["A"], 1e-11)


def test_forces_that_hold_a_state_are_found(rng):
    m = es.load("five_bar").with_gravity((0, -9.81, 0))
    q = m.project(m.home())
    lm = m.linearize(q)
    assert lm.equilibrium
    np.testing.assert_allclose(
        lm.tau, m.inverse_dynamics(q, np.zeros(m.nv), np.zeros(m.nv)), atol=1e-12
    )
    assert not m.linearize(q, tau=lm.tau + 1.0).equilibrium
    m = es.load("puma560")
    v, a = rng.normal(size=(2, 6))
    lm = m.linearize(m.home(), v, a=a)
    np.testing.assert_allclose(lm.a, a, rtol=1e-9, atol=1e-9)
    with pytest.raises(es.ModelError, match="no forces of the actuators"):
        es.load("cart_pole").linearize([0.0, 0.3], a=[0.0, 1.0])


@pytest.mark.parametrize("name", ["planar_3rrr", "puma560"])
@pytest.mark.parametrize("measured", [False, True])
def test_forces_that_hold_a_motion_stop_only_its_independent_velocities(name, measured, rng):
    m = es.load(name)
    outputs = (f"{m.actuated[0]}''",) if measured else None
    q, v = m.home(), rng.normal(size=m.nv)
    if m.closed:
        q, v = m.project(q, v)
    lm = m.linearize(
        q, v, outputs=outputs, external={m.bodies[-1].name: [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]}
    )
    n = lm.dof
    np.testing.assert_allclose(lm.drift[n:], 0.0, atol=1e-9)
    assert np.abs(lm.drift[:n]).max() > 0.1
    assert not m.closed or np.abs(lm.a).max() > 0.1  # the dependent ones follow


def test_forces_that_hold_a_state_need_no_formula_of_their_own(monkeypatch):
    module = import_module("eslabon.systems.linear.linearize")
    asked, native = [], module._native
    monkeypatch.setattr(
        module,
        "_native",
        lambda m, formula, *more: asked.append(formula) or native(m, formula, *more),
    )
    for name in ("five_bar", "elbow", "cart_pole"):
        asked.clear()
        m = es.load(name)
        m.linearize(m.home())
        assert len(asked) == 2
        assert len(set(asked)) == 1


def test_driven_mechanisms_are_linearized_at_a_time():
    b = (
        es.Builder("cam", gravity=(0, -9.81, 0))
        .body("arm", mass=2, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
        .body("tip", mass=1, com=(0.2, 0, 0), inertia=(0.05, 0.05, 0.05))
    )
    b.joint("q1", "revolute", "ground", "arm").joint(
        "q2", "revolute", "arm", "tip", at=(0.6, 0, 0)
    ).drive("motor", "q1", "0.3*t + 0.1*t**2")
    m = b.build()
    t, q2, w2 = 0.4, 0.7, -0.3
    q, v = np.array([0.3 * t + 0.1 * t**2, q2]), np.array([0.3 + 0.2 * t, w2])
    lm = m.linearize(q, v, [0.0] * m.nu, t=t)
    assert lm.coordinates == ("q2",)

    def acceleration(x, y):
        return m.forward_dynamics(q + np.array([0, x]), v + np.array([0, y]), [0.0] * m.nu, t=t)[1]

    near(
        lm.A[1],
        np.array(
            [differenced(lambda h: acceleration(h, 0)), differenced(lambda h: acceleration(0, h))]
        ),
        1e-8,
    )
    with pytest.raises(es.ModelError, match="depend on the time"):
        m.linearize(q, v)


def test_python_control_gets_named_signals():
    import control

    m = es.load("cart_pole")
    lm = m.linearize([0.0, 0.0], outputs=("x", "theta", "pole.y'"))
    system = lm.to_control()
    assert isinstance(system, control.StateSpace)
    assert system.input_labels == ["tau(x)"]
    assert system.output_labels == ["x", "theta", "pole_y'"]
    np.testing.assert_allclose(
        np.sort_complex(system.poles()), np.sort_complex(lm.poles), atol=1e-9
    )
    sampled = lm.sampled(0.01).to_control()
    assert sampled.dt == 0.01
    np.testing.assert_allclose(sampled.A, control.sample_system(system, 0.01, "zoh").A, atol=1e-12)
    control.frequency_response(system, [1.0, 10.0])


def test_mechanisms_of_no_degree_of_freedom_have_an_empty_model():
    from small_mechanisms import all_fixed, locked_loop

    for m in (all_fixed(), locked_loop()):
        lm = m.linearize(m.home())
        assert lm.A.shape == (0, 0)
        assert lm.poles.shape == (0,)
        assert "0 states" in repr(lm)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m: m.linearize([0.0]), "has 1 value"),
        (lambda m: m.linearize("home"), "text"),
        (lambda m: m.linearize([0.0, np.nan]), "not finite"),
        (lambda m: m.linearize([0.0, 0.0], outputs="tol"), "no output 'tol'"),
        (lambda m: m.linearize([0.0, 0.0], outputs="theta'''"), "third derivative"),
        (lambda m: m.linearize([0.0, 0.0], outputs="reaction(thet)"), "no joint or loop 'thet'"),
        (lambda m: m.linearize([0.0, 0.0], outputs="reaction(theta).q"), "no component 'q'"),
        (lambda m: m.linearize([0.0, 0.0], tau=[0.0], a=[0.0, 0.0]), "one of the two"),
        (lambda m: m.linearize([0.0, 0.0], t=0.0), "do not depend on the time"),
        (lambda m: m.linearize([0.0, 0.0], otputs="x"), "otputs"),
        (lambda m: m.linearize([0.0, 0.0]).derivative("mass"), "no parameter 'mass'"),
        (lambda m: m.linearize(np.zeros((3, 2))).to_control(), "takes one"),
        (lambda m: m.linearize([0.0, 0.0])[0], "no others to choose from"),
        (lambda m: m.linearize([0.0, 0.0]).sampled(-1.0), "period"),
    ],
)
def test_mistakes_are_told(ask, said):
    with pytest.raises(es.EslabonError, match=said):
        ask(es.load("cart_pole"))


def test_singular_and_open_configurations_are_told():
    m = es.load("five_bar")
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        m.linearize(m.project(m.home()) + 0.1)
    q = es.load("n_four_bar")
    flat = q.project(q.home())
    assert q.linearize(flat).dof == q.dof


@pytest.mark.parametrize("name", ["planar_3rrr", "delta", "double_pendulum"])
def test_small_perturbations_move_as_the_linear_model_says(name, rng):
    """From a state beside an equilibrium, the nonlinear mechanism's motion against exp(A t) x."""
    from scipy.linalg import expm

    m = es.load(name)
    q0 = m.project(m.home()) if m.closed else m.home() + 0.3
    lm = m.linearize(q0)
    size, times = 1e-5, np.linspace(0.0, 0.2, 5)
    x = rng.normal(size=2 * lm.dof) * size
    f = Nonlinear(m, q0, np.zeros(m.nv), lm.tau, lm)
    motion = m.simulate(*f.state(x[: lm.dof], x[lm.dof :]), times, lm.tau, rtol=1e-11, atol=1e-13)
    for t, q, v in zip(times, motion.q, motion.v, strict=True):
        y = expm(lm.A * t) @ x
        got = np.concatenate([difference(m, q, q0)[f.i], v[f.i]])
        assert np.abs(got - y).max() < 1e-3 * np.abs(y).max()
        moved = lm.position_map @ y[: lm.dof]
        assert np.abs(difference(m, q, q0) - moved).max() < 1e-3 * np.abs(moved).max()


def test_where_branches_meet_there_is_no_linear_model():
    with pytest.raises(es.SingularityError, match="branches of its motion meet"):
        es.load("parallelogram").linearize([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5])


def test_motions_without_mass_are_named():
    b = es.Builder("light")
    m = b.body("a").joint("j", "revolute", "ground", "a").build()
    for rest in ((), ([0.0], [0.0])):
        with pytest.raises(
            es.ModelError, match="linearize of light: the motion of 'j' moves no mass"
        ):
            m.linearize([0.0], *rest)


def test_what_is_no_number_stays_in_its_row():
    m, z = es.load("double_pendulum"), np.zeros((2, 2))
    for _ in range(2):  # the first call is the careful one
        A = m.linearize([[0.1, 1.0], [np.nan, 1.0]], z, z).A
        assert np.isfinite(A[0]).all()
        assert np.isnan(A[1]).any()


def test_any_index_chooses_among_many():
    m = es.load("five_bar")
    q = m.assemble(np.array([2.0, 1.0]) + 0.01 * np.arange(24).reshape(4, 3, 2))
    lm = m.linearize(q)
    for index in (1, (1, 2), (..., 0), slice(1, 3), (slice(None), [0, 2])):
        np.testing.assert_array_equal(
            lm[index].A, lm.A[index if index != (..., 0) else (slice(None), 0)]
        )
        np.testing.assert_array_equal(
            lm[index].q, q[index if index != (..., 0) else (slice(None), 0)]
        )
    with pytest.raises(es.InputError, match="4x3 linear models"):
        lm[1, 2, 3]


def test_coordinates_of_a_batch_suit_its_worst_state():
    m = es.load("slider_crank").with_actuated(["slide"])
    at = es.load("slider_crank").assemble(
        [[0.8], [0.0]], singular="ignore"
    )  # the second at its dead centre
    for q in (at, at[::-1]):
        assert m.linearize(q, np.zeros((2, 3)), np.zeros((2, 1))).coordinates != ("slide",)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m: m.linearize([0, 0], outputs=3), "outputs are names"),
        (lambda m: m.linearize([0, 0], outputs=["x", "x"]), "twice"),
        (
            lambda m: es.load("five_bar").linearize(es.load("five_bar").home(), tolerance="x"),
            "tolerance",
        ),
        (
            lambda m: es.load("five_bar").linearize(es.load("five_bar").home(), tolerance=-1),
            "tolerance",
        ),
    ],
)
def test_more_mistakes_are_told(ask, said):
    with pytest.raises(es.EslabonError, match=said):
        ask(es.load("cart_pole"))


def test_the_slightest_motion_is_no_equilibrium() -> None:
    m = es.load("elbow")
    assert m.linearize([0.0, 0.0]).equilibrium
    assert not m.linearize([0.0, 0.0], [1e-9, 0.0]).equilibrium
