"""The verbs that print: equations, code and counts, of trees and of mechanisms with loops; and what the package offers."""

import pickle

import numpy as np
import pytest

import eslabon as es


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
    assert (counts.multiplications, counts.additions) == (188, 153)
    assert m.operations(formulation="lagrange").total > counts.total
    assert "puma560_inverse_dynamics" in m.c_source().header


def test_a_parallel_robot_has_equations_code_and_counts_too():
    m = es.load("five_bar")
    code = m.c_source("forward_dynamics")
    assert "residual" not in code.header
    assert 100 < m.operations("inverse_dynamics").total < 700
    with pytest.raises(es.ModelError, match="solves for its loops"):
        m.equations()
    assert m.operations("forward_dynamics", formulation="gibbs_appell").total > 0


def test_a_mechanism_travels_between_processes():
    m = es.load("five_bar")
    m.pose(m.home(), "ground")
    again = pickle.loads(pickle.dumps(m))
    assert again == m
    assert isinstance(again, es.Mechanism)
    assert np.array_equal(again.home(), m.home())


def test_names_that_load_their_rooms_late():
    assert es.Motion is es.simulate.Motion
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
        assert np.array_equal(getattr(used, quantity)(*arrays, **options), getattr(fresh, quantity)(*arrays, **options))
        for by in ("q", "a1"):
            assert np.array_equal(
                used.derivative(quantity, by, *arrays, **options), fresh.derivative(quantity, by, *arrays, **options)
            )


def test_parameters_of_a_call_are_those_of_another_mechanism():
    m = es.load("elbow")
    q = np.array([[0.3, 0.4], [1.0, -0.2]])
    values = np.array([0.7, 1.3])
    many = m.mass_matrix(q, parameters={"a1": values})
    for k in range(2):
        other = m.with_parameters(a1=values[k])
        np.testing.assert_allclose(many[k], other.mass_matrix(q[k]), rtol=1e-14)
        np.testing.assert_allclose(m.mass_matrix(q[k], parameters={"a1": float(values[k])}), many[k], rtol=1e-14)
    both = {"a2": 0.5, "a1": 0.7}
    np.testing.assert_allclose(
        m.pose(q[0], frame="tool", parameters=both), m.with_parameters(**both).pose(q[0], frame="tool"), rtol=1e-14
    )


@pytest.mark.parametrize(
    ("name", "value"), [("mass", -1.0), ("mass", np.nan), ("moment", -0.1), ("axis", 0.0), ("length", 0.0)]
)
def test_values_that_no_mechanism_has_are_refused_in_a_call_too(name, value):
    b = es.Builder("odd")
    mass, moment, axis, length = (
        b.parameter(x, y) for x, y in (("mass", 1.0), ("moment", 0.1), ("axis", 1.0), ("length", 2.0))
    )
    b.body("rod", mass=mass, com=(1 / length, 0, 0), inertia=(moment, 0.2, 0.2))
    m = b.joint("q1", "revolute", "ground", "rod", axis=(0, 0, axis)).build()
    good = m.mass_matrix([0.0])
    for call in (m.mass_matrix, lambda q, **more: m.forward_dynamics(q, [0.0], [0.0], **more)):
        with pytest.raises(es.EslabonError, match=r"\.$"):
            call([0.0], parameters={name: value})
        with pytest.raises(es.EslabonError, match=r"\.$"):
            call(np.zeros((3, 1)), parameters={name: np.array([m.parameters[name], value, m.parameters[name]])})
    assert np.array_equal(m.mass_matrix([0.0], parameters={name: m.parameters[name]}), good)


def test_a_quaternion_of_length_zero_is_no_configuration():
    """Wherever a configuration goes in; what is not a number goes through, as everywhere."""
    b = es.Builder("ball")
    b.body("a", mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1)).joint("first", "free", "ground", "a")
    m = b.body("b", mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1)).joint("second", "spherical", "a", "b").build()
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
