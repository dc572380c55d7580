"""The verbs that print: equations, code and counts, of trees and of mechanisms with loops; and what the package offers."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.quantities import quantity
from eslabon.model.memory import FrozenDict
from eslabon.solve.constraints.constraint_structure import constraint_structure
from eslabon.verbs import NativeVerbs
from random_mechanisms import random_closed, random_tree
from randomness import seeded


def test_equations_of_motion_by_formulation():
    m = es.load("elbow")
    plain = str(m.equations(formulation="lagrange"))
    assert "inverse_dynamics[1] = " in plain
    assert "cos(q1 + q2)" in plain
    assert "\\cos" in m.equations().latex()
    numbers = str(m.equations("mass_matrix", parameters=False))
    assert "a1" not in numbers
    assert "cos(q2)" in numbers


def test_counts_and_code():
    m = es.load("puma560")
    counts = m.operations()
    assert (counts.multiplications, counts.additions) == (182, 153)
    assert m.operations(formulation="lagrange").total > counts.total
    assert "puma560_inverse_dynamics" in m.c_source().header


def test_a_parallel_robot_has_equations_code_and_counts_too():
    m = es.load("five_bar")
    code = m.c_source("forward_dynamics")
    assert "residual" not in code.header
    assert 100 < m.operations("inverse_dynamics").total < 700
    assert "M v' + h = Q + J^T lambda" in str(m.equations())
    assert m.operations("forward_dynamics", formulation="gibbs_appell").total > 0


def test_a_mechanism_travels_between_processes():
    m = es.load("five_bar")
    m.pose(m.home(), "ground")
    again = pickle.loads(pickle.dumps(m))
    assert again == m
    assert isinstance(again, es.Mechanism)
    assert np.array_equal(again.home(), m.home())


def test_whatever_belongs_to_a_mechanism_travels_and_stays_as_it_is():
    m = es.load("five_bar").with_mode("mine", es.load("five_bar").home())
    m.inverse_dynamics(m.project(m.home()), np.zeros(m.nv), np.zeros(m.nv))
    tables = (m.parameters, m.coordinates, m.velocities, m.body_places, m.carriers)
    for again in (
        pickle.loads(pickle.dumps(tables)),
        copy.deepcopy(tables),
        [copy.copy(x) for x in tables],
    ):
        assert list(again) == list(tables)
        for table in again:
            for change in (
                lambda t: t.update(x=1),
                lambda t: t.pop(next(iter(t))),
                lambda t: t.setdefault("x", 1),
            ):
                with pytest.raises(TypeError, match="cannot be changed"):
                    change(table)
    assert np.array_equal(pickle.loads(pickle.dumps(m.modes))["mine"], m.modes["mine"])
    for again in (copy.deepcopy(m), copy.copy(m), pickle.loads(pickle.dumps(m))):
        assert again == m
        assert np.array_equal(again.pose(again.home()), m.pose(m.home()))


def test_names_that_load_their_rooms_late():
    assert es.Trajectory is es.simulate.Trajectory
    assert not hasattr(es, "nonsense")


@pytest.mark.parametrize("quantity", ["pose", "jacobian", "velocity", "acceleration"])
def test_what_was_asked_before_changes_no_answer(quantity):
    """Options are told apart by their names, whatever was compiled before and in whatever order they are given."""
    used = es.load("scara")
    arrays = [np.linspace(0.1, 0.4, used.nq), np.ones(used.nv), np.ones(used.nv)]
    arrays = arrays[: {"velocity": 2, "acceleration": 3}.get(quantity, 1)]
    frames = ["ground", used.bodies[1].name, None]
    asked = [{"frame": f} for f in frames]
    if quantity != "pose":
        asked += [{"axes": x} for x in ("aligned", "body", "spatial")]
        asked += [
            dict(pair)
            for f in frames
            for pair in ([("axes", "aligned"), ("frame", f)], [("frame", f), ("axes", "spatial")])
        ]
    for options in asked:
        fresh = es.load("scara")
        assert np.array_equal(
            getattr(used, quantity)(*arrays, **options),
            getattr(fresh, quantity)(*arrays, **options),
        )
        for by in ("q", "a1"):
            assert np.array_equal(
                used.derivative(quantity, by, *arrays, **options),
                fresh.derivative(quantity, by, *arrays, **options),
            )


def test_parameters_of_a_call_are_those_of_another_mechanism():
    m = es.load("elbow")
    q = np.array([[0.3, 0.4], [1.0, -0.2]])
    values = np.array([0.7, 1.3])
    many = m.mass_matrix(q, parameters={"a1": values})
    for k in range(2):
        other = m.with_parameters(a1=values[k])
        np.testing.assert_allclose(many[k], other.mass_matrix(q[k]), rtol=1e-14)
        np.testing.assert_allclose(
            m.mass_matrix(q[k], parameters={"a1": float(values[k])}), many[k], rtol=1e-14
        )
    both = {"a2": 0.5, "a1": 0.7}
    np.testing.assert_allclose(
        m.pose(q[0], frame="tool", parameters=both),
        m.with_parameters(**both).pose(q[0], frame="tool"),
        rtol=1e-14,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("mass", -1.0), ("mass", np.nan), ("moment", -0.1), ("axis", 0.0), ("length", 0.0)],
)
def test_values_that_no_mechanism_has_are_refused_in_a_call_too(name, value):
    b = es.Builder("odd")
    mass, moment, axis, length = (
        b.parameter(x, y)
        for x, y in (("mass", 1.0), ("moment", 0.1), ("axis", 1.0), ("length", 2.0))
    )
    b.body("rod", mass=mass, com=(1 / length, 0, 0), inertia=(moment, 0.2, 0.2))
    m = b.joint("q1", "revolute", "ground", "rod", axis=(0, 0, axis)).build()
    good = m.mass_matrix([0.0])
    for call in (m.mass_matrix, lambda q, **more: m.forward_dynamics(q, [0.0], [0.0], **more)):
        with pytest.raises(es.EslabonError, match=r"\.$"):
            call([0.0], parameters={name: value})
        with pytest.raises(es.EslabonError, match=r"\.$"):
            call(
                np.zeros((3, 1)),
                parameters={name: np.array([m.parameters[name], value, m.parameters[name]])},
            )
    assert np.array_equal(m.mass_matrix([0.0], parameters={name: m.parameters[name]}), good)


def test_a_quaternion_of_length_zero_is_no_configuration():
    """Wherever a configuration goes in; what is not a number goes through, as everywhere."""
    b = es.Builder("ball")
    b.body("a", mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1)).joint("first", "free", "ground", "a")
    m = (
        b.body("b", mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1))
        .joint("second", "spherical", "a", "b")
        .build()
    )
    zero, rest = m.neutral(), np.zeros(m.nv)
    zero[m.coordinates["second"]] = 0.0
    many = np.array([m.neutral(), zero, m.neutral()])
    calls = {
        "pose": (), "jacobian": (), "velocity": (rest,), "mass_matrix": (), "energy": (rest,), "gravity_forces": (),
        "inverse_dynamics": (rest, rest), "forward_dynamics": (rest, np.zeros(m.nu)), "reactions": (rest, rest),
    }  # fmt: skip
    for verb, others in calls.items():
        options = {"frame": "b"} if verb in ("pose", "jacobian", "velocity") else {}
        with pytest.raises(es.EslabonError, match="quaternion of 'second' has length zero"):
            getattr(m, verb)(zero, *others, **options)
        with pytest.raises(es.EslabonError, match="in state 1"):
            getattr(m, verb)(many, *others, **options)
        with pytest.raises(es.EslabonError, match="length zero"):
            m.derivative(verb, "q", zero, *others, **options)
    assert np.isnan(m.pose(np.full(m.nq, np.nan), frame="b")).any()


def a_motion(m: es.Mechanism) -> dict[str, np.ndarray]:
    """A state that keeps the loops closed."""
    rng = seeded("a_motion")
    q, v, a = m.home() + 0.1, rng.normal(size=m.nv), rng.normal(size=m.nv)
    if m.closed:
        q, v, a = m.project(m.home(), v, a)
    return {"q": q, "v": v, "a": a, "tau": rng.normal(size=m.nu)}


VERBS = ("pose", "mass_matrix", "inverse_dynamics", "hybrid_dynamics", "reactions")


def verbs_of(m: es.Mechanism) -> dict[str, list[np.ndarray]]:
    """Verbs of every kind with a state."""
    state = a_motion(m)
    return {name: [state[x] for x in quantity(m, name).input_names] for name in VERBS}


def flat(found: Any) -> np.ndarray:
    """All numbers of a result, which may be a tuple."""
    return np.concatenate([np.ravel(x) for x in (found if isinstance(found, tuple) else (found,))])


@pytest.mark.parametrize("name", ["five_bar", "elbow"])
def test_what_was_asked_once_is_found_at_once(name, monkeypatch):
    """Whatever a verb or a derivative is given, the careful way is gone once."""
    m = es.load(name)
    parameters = dict([next(iter(m.parameters.items()))])
    for verb, arrays in verbs_of(m).items():
        known = quantity(m, verb)
        own = {"frame": m.bodies[-1].name} if "frame" in known.options else {}
        bounds = {"tolerance": 1e-3} if m.closed and known.checks else {}
        found = getattr(m, verb)(*arrays, **own)
        out = tuple(map(np.empty_like, found)) if isinstance(found, tuple) else np.empty_like(found)
        some = {"parameters": parameters}
        calls = [
            (getattr(m, verb), arrays, x)
            for x in ({}, some, {"threads": 2}, {"out": out}, {**some, **bounds}, bounds)
        ]
        calls += [
            (m.derivative, [verb, "q", *arrays], x) for x in ({}, some, {"threads": 2}, bounds)
        ]
        for f, given, more in calls:
            expected = flat(f(*given, **own, **more))
            with monkeypatch.context() as patch:
                patch.setattr(NativeVerbs, "careful", None)
                assert np.array_equal(flat(f(*given, **own, **more)), expected)


@pytest.mark.parametrize("name", ["five_bar", "elbow"])
def test_names_in_turns_change_no_answer(name):
    m = es.load(name)
    some = list(m.parameters.items())[:2]
    for verb, arrays in verbs_of(m).items():
        call = getattr(m, verb)
        plain = flat(call(*arrays))
        for given in (
            dict(some),
            dict(some[:1]),
            {},
            dict(some[::-1]),
            FrozenDict(some),
            None,
            dict(some[:1]),
        ):
            found = flat(call(*arrays, parameters=given))
            np.testing.assert_allclose(
                found, plain, rtol=1e-9, atol=1e-10 * max(1.0, np.abs(plain).max())
            )


def test_a_derivative_takes_what_its_verb_takes(rng):
    m = random_tree(rng, ["revolute", "prismatic", "revolute"])
    q, v, a = rng.normal(size=(3, m.nv))
    wrench = {m.bodies[-1].name: rng.normal(size=6)}
    got = m.derivative("inverse_dynamics", "q", q, v, a, external=wrench)
    step = 1e-6 * np.eye(m.nv)
    ahead, behind = (m.inverse_dynamics(q + s * step, v, a, external=wrench) for s in (1, -1))
    np.testing.assert_allclose(got, (ahead - behind).T / 2e-6, rtol=1e-6, atol=1e-7)
    out = np.empty_like(got)
    assert (
        m.derivative("inverse_dynamics", "q", q, v, a, external=wrench, out=out, threads=1) is out
    )
    assert np.array_equal(out, got)
    closed = es.load("five_bar")
    s = a_motion(closed)
    off = (s["q"] + 1e-4, s["v"], s["a"])
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        closed.derivative("inverse_dynamics", "a", *off)
    assert closed.derivative("inverse_dynamics", "a", *off, tolerance=1.0).shape == (2, 4)
    for word, refusal in (
        ({"external": {"nobody": np.zeros(6)}}, "nobody"), ({"singular": "warn"}, "leave singular out"), ({"frame": "tool"}, "option"),
        ({"thread": 1}, "did you mean 'threads'"),
    ):  # fmt: skip
        with pytest.raises(es.ModelError, match=refusal):
            closed.derivative("forward_dynamics", "q", *off, **word)
    with pytest.raises(es.ModelError, match="leave tolerance"):
        m.derivative("mass_matrix", "q", q, tolerance=1.0)


@pytest.mark.parametrize("name", ["five_bar", "elbow"])
def test_the_derivative_by_a_parameter_is_that_of_a_call_with_it(name):
    """Whether a parameter's value is the model's own or given, and for results that are tuples too."""
    m = es.load(name)
    parameter, value = next(iter(m.parameters.items()))
    for verb, arrays in verbs_of(m).items():
        own = flat(m.derivative(verb, parameter, *arrays))
        given = flat(m.derivative(verb, parameter, *arrays, parameters={parameter: value}))
        np.testing.assert_allclose(own, given, rtol=1e-9, atol=1e-10 * max(1.0, np.abs(own).max()))


def test_hybrid_dynamics_writes_into_both_arrays():
    m = es.load("five_bar")
    s = a_motion(m)
    forces, accelerations = m.hybrid_dynamics(s["q"], s["v"], s["a"])
    slopes = m.derivative("hybrid_dynamics", "a", s["q"], s["v"], s["a"])
    assert [x.shape for x in slopes] == [(m.nu, m.nv), (m.nv, m.nv)]
    for many in ((), (3,)):
        q, v, a = (np.broadcast_to(s[x], (*many, len(s[x]))) for x in "qva")
        out = np.empty((*many, m.nu)), np.empty((*many, m.nv))
        found = m.hybrid_dynamics(q, v, a, out=out)
        assert found[0] is out[0]
        assert found[1] is out[1]
        np.testing.assert_array_equal(out[0], np.broadcast_to(forces, out[0].shape))
        np.testing.assert_array_equal(out[1], np.broadcast_to(accelerations, out[1].shape))
    with pytest.raises(es.InputError, match="a tuple of 2 arrays"):
        m.hybrid_dynamics(s["q"], s["v"], s["a"], out=np.empty(m.nu + m.nv))


@pytest.mark.parametrize("cut", ["spherical", "universal", None])
def test_a_row_that_is_no_number_stays_by_itself(cut, rng):
    m, q = random_closed(
        rng, ["revolute", "spherical", "revolute", "prismatic"], [cut] if cut else []
    )
    v, a, tau = rng.normal(size=m.nv), rng.normal(size=m.nv), rng.normal(size=m.nu)
    q, v, a = m.project(q, v, a) if m.closed else (q, v, a)
    for verb, last in (("forward_dynamics", tau), ("hybrid_dynamics", a)):
        call = getattr(m, verb)
        good = flat(call(q, v, last))
        for place in range(2):
            rows = [np.array([x] * 3) for x in (q, v, last)]
            rows[place][1] = np.nan
            found = call(*rows)
            each = [
                flat(tuple(x[k] for x in found) if isinstance(found, tuple) else found[k])
                for k in range(3)
            ]
            np.testing.assert_allclose(each[0], good, rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(each[0], each[2])
            np.testing.assert_array_equal(flat(call(*(x[1] for x in rows))), each[1])
            assert np.isnan(each[1]).any()


def test_a_violation_with_other_parameters_names_the_mechanism_that_has_them():
    m = es.load("five_bar")
    s = a_motion(m)
    longer = {"L2": 1.1 * m.parameters["L2"]}
    with pytest.raises(
        es.AssemblyError, match=r"m\.with_parameters\(\.\.\.\).* m\.complete.* m\.project"
    ):
        m.inverse_dynamics(s["q"], s["v"], s["a"], parameters=longer)
    with pytest.raises(es.AssemblyError) as plain:
        m.inverse_dynamics(s["q"] + 0.1, s["v"], s["a"])
    assert "with_parameters" not in str(plain.value)
    other = m.with_parameters(**longer)
    np.testing.assert_allclose(m.inverse_dynamics(*other.project(s["q"], s["v"], s["a"]), parameters=longer),
        other.inverse_dynamics(*other.project(s["q"], s["v"], s["a"])), rtol=1e-9)  # fmt: skip


@pytest.mark.parametrize("first", ["verb", "function", "tolerance", "derivative"])
def test_the_kind_of_an_error_does_not_depend_on_earlier_calls(first):
    m = es.load("five_bar")
    q, v, tau = m.home() + np.array([0.0, 0.3, 0.0, 0.0]), np.zeros(m.nv), np.zeros(m.nu)
    calls = {
        "verb": lambda: m.forward_dynamics(q, v, tau),
        "function": lambda: evaluate(
            m, quantity(m, "forward_dynamics"), prepare=constraint_structure
        )(q, v, tau),
        "tolerance": lambda: m.forward_dynamics(q, v, tau, tolerance=1e-9),
        "derivative": lambda: m.derivative("forward_dynamics", "q", q, v, tau),
    }
    with pytest.raises(es.EslabonError):
        calls[first]()
    with pytest.raises(
        es.AssemblyError, match="forward_dynamics: the given motion violates loop closure"
    ):
        calls["verb"]()
    with pytest.raises(es.AssemblyError, match="1e-09"):
        calls["tolerance"]()
    with pytest.raises(
        es.EslabonError, match="forward_dynamics of five_bar is not valid here: its residual"
    ) as found:
        calls["function"]()
    assert type(found.value) is es.EslabonError


@pytest.mark.parametrize("option", ["constraints", "weights", "independent"])
@pytest.mark.parametrize(
    "verb", ["inverse_dynamics", "forward_dynamics", "hybrid_dynamics", "reactions"]
)
def test_a_tree_has_no_loops_to_treat(verb, option, library):
    m, zeros = library("double_pendulum"), [0.0, 0.0]
    with pytest.raises(
        (es.ModelError, TypeError), match=f"leave {option} out|unexpected keyword|has no option"
    ):
        getattr(m, verb)(zeros, zeros, zeros, **{option: "nonsense"})
