"""Luenberger observers as bond graphs (procedure 5.2): errors decay as asked, and Morales' gains do what they do."""

import numpy as np
import pytest
from scipy.linalg import expm

import eslabon as es

POLES = np.array([-2.0, -3.0, -4.0 + 1j, -4.0 - 1j])


def puma(**measured):
    return (
        es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7).with_detectors(**measured)
    )


def linear(**measured):
    """A plant with dependent storages, linear, away from rest so that all states are seen from one joint."""
    return puma(**measured).linearized_graph([0.3, 0.8, 0.4, 0.2], [1.0, 2.0])


def poles_of(g):
    return np.sort_complex(
        np.linalg.eigvals(g.linearize(np.zeros(g.order), np.zeros(len(g.inputs))).A)
    )


@pytest.mark.parametrize(
    "measured",
    [{"y": "f3"}, {"y": "e3"}, {"a": "f3", "b": "e23"}, {"a": "e3", "b": "e23"}],
    ids=str,
)
def test_poles_are_those_of_the_plant_and_those_asked_for(measured):
    plant = linear(**measured)
    observer = plant.observer_graph(POLES)
    assert observer.stable
    np.testing.assert_allclose(np.sort_complex(observer.poles), np.sort_complex(POLES), atol=1e-6)
    expected = np.sort_complex(np.concatenate([poles_of(plant), POLES]))
    np.testing.assert_allclose(poles_of(observer.graph), expected, atol=1e-5)


@pytest.mark.parametrize("measured", [{"y": "f3"}, {"a": "f3", "b": "e23"}], ids=str)
def test_errors_decay_by_the_poles_whatever_the_inputs(measured, rng):
    """(5.68): x - x_hat = exp((A - L C) t) of what it was."""
    plant = linear(**measured)
    observer = plant.observer_graph(POLES)
    model = plant.linearize(np.zeros(4), np.zeros(2))
    x, guess, times = rng.normal(size=4), rng.normal(size=4), np.linspace(0, 3, 13)
    run = observer.simulate(
        x, guess, times, ([0.0, 1.5], [[1.0, -2.0], [0.5, 3.0]]), rtol=1e-10, atol=1e-12
    )
    F = model.A - observer.gains @ model.C
    expected = np.array([expm(F * t) @ (x - guess) for t in times])
    np.testing.assert_allclose(observer.errors(run), expected, atol=1e-6 * np.abs(expected).max())


def test_transformers_and_gyrators():
    """Step 7: a transformer where output and state are of one kind, else a gyrator."""
    kinds = {}
    for name, signal in {"flow": "f3", "effort": "e3"}.items():
        graph = linear(y=signal).observer_graph(POLES).graph
        kinds[name] = [graph.elements[f"H_{s}_y"].kind for s in ("p2", "p24", "q3", "q23")]
    assert kinds["flow"] == ["GY", "GY", "TF", "TF"]
    assert kinds["effort"] == ["TF", "TF", "GY", "GY"]


def test_the_copy_follows_without_an_error():
    """From the same state both do the same, and the plant feels nothing of its observer."""
    plant = puma(y="f3")
    observer = plant.observer_graph(
        gains=[-2.0, -2.0, -2.0, -2.0], x=[0.3, 0.8, 0.4, 0.2], u=[1.0, 2.0]
    )
    x, times = np.array([0.1, -0.2, 0.3, 0.1]), np.linspace(0, 2, 9)
    run = observer.simulate(x, x, times, [1.0, 2.0])
    np.testing.assert_allclose(observer.errors(run), 0, atol=1e-9)
    alone = plant.simulate(x, times, [1.0, 2.0])
    for name in plant.states:
        np.testing.assert_allclose(run[name], alone[name], atol=1e-7)


def test_a_nonlinear_plant_and_a_nonlinear_copy():
    plant = puma(a="f3", b="f24")
    u = np.array([2.0, 1.0])
    rest = plant.steady_state(u)
    observer = plant.observer_graph([-4.0, -5.0, -6.0, -7.0], x=rest.x, u=u)
    run = observer.simulate(rest.x + 0.05, rest.x - 0.05, 6.0, u)
    errors = np.abs(observer.errors(run)).max(axis=-1)
    assert errors[-1] < 1e-6 * errors[0]


def test_gains_at_ports_where_storages_depend(rng):
    """What acts at the storages is E L, and the parameters of the graph are these."""
    plant = linear(y="f3")
    gains = rng.normal(size=4)
    observer = plant.observer_graph(gains=gains)
    np.testing.assert_allclose(observer.gains[:, 0], gains)
    p = plant.parameters
    np.testing.assert_allclose(observer.port_gains[0, 0], (1 + p["iz"] / p["i2"]) * gains[0])
    np.testing.assert_allclose(observer.graph.parameters["H_p2_y"], observer.port_gains[0, 0])
    model = plant.linearize(np.zeros(4), np.zeros(2))
    expected = np.linalg.eigvals(model.A - np.outer(gains, model.C[0]))
    np.testing.assert_allclose(
        np.sort_complex(observer.poles), np.sort_complex(expected), atol=1e-9
    )


def test_the_printed_gains_of_the_puma():
    """H = -2 (5.76): unstable as gains of the right linear model; at the ports, as in the figure, joint 1 is not corrected."""
    g = (
        es.BondGraph.load("morales_puma")
        .with_detectors(y="f3")
        .linearized_graph(np.zeros(4), np.zeros(2))
    )
    H = np.full(4, -2.0)
    observer = g.observer_graph(gains=H)
    assert not observer.stable
    assert "do not die out" in repr(observer)
    np.testing.assert_allclose(np.sort(observer.poles.real)[-2:], [2.5, 5.0], atol=1e-9)
    ports = g.observer_graph(gains=np.linalg.solve(np.diag([6.0, 21.0, 1.0, 1.0]), H))
    np.testing.assert_allclose(ports.port_gains[:, 0], H)
    expected = [-0.4167 - 3.511j, -0.4167 + 3.511j, -0.9524 - 1.9634j, -0.9524 + 1.9634j]
    np.testing.assert_allclose(
        sorted(ports.poles, key=lambda s: (-s.real, s.imag)), expected, atol=1e-3
    )


def test_printed_matrices_of_the_puma():
    """(5.73)-(5.76): their poles, of which one is zero, so that nothing is observed; and why: rank 1 of 4."""
    A = np.array([[-15.0, 0, 0, 0], [0, -40, 0, -10], [5, 0, 0, 0], [0, 10, 0, 0]])
    C = np.array([[5.0, 0, 0, 0]])
    poles = np.sort(np.linalg.eigvals(A - np.full((4, 1), -2.0) @ C).real)
    np.testing.assert_allclose(poles, [-37.320508, -5, -2.679492, 0], atol=1e-6)
    assert es.control.observability((A, C)).rank == 1


def test_an_observer_that_does_observe_the_puma():
    """At rest f3 shows joint 2 alone, and no gains help; with a detector at each joint any poles will do."""
    g = (
        es.BondGraph.load("morales_puma")
        .with_detectors(y="f3")
        .linearized_graph(np.zeros(4), np.zeros(2))
    )
    with pytest.raises(es.EslabonError, match="observ"):
        g.observer_graph(POLES)
    both = (
        es.BondGraph.load("morales_puma")
        .with_detectors(y="f3", z="f24")
        .linearized_graph(np.zeros(4), np.zeros(2))
    )
    observer = both.observer_graph([-2.0, -3.0, -4.0, -5.0])
    run = observer.simulate(None, [0.1, 0.2, 0.3, 0.4], 8.0, [2.0, 1.0])
    assert np.abs(observer.errors(run)[-1]).max() < 1e-5


def test_zero_gains_leave_no_bonds():
    plant = linear(y="f3")
    copy = plant.observer_graph(gains=np.zeros(4))
    assert len(copy.graph.bonds) == 2 * len(plant.bonds)
    half = plant.observer_graph(gains=[1.0, 0.0, 0.0, 2.0])
    ports = dict(zip(plant.states, half.port_gains[:, 0], strict=True))
    expected = {f"H_{name}_y" for name, h in ports.items() if h != 0}
    assert {n for n in half.graph.parameters if n.startswith("H_")} == expected


def test_batches_and_files(tmp_path, rng):
    observer = linear(y="f3").observer_graph(POLES)
    x = rng.normal(size=(3, 4))
    run = observer.simulate(x, None, 1.0, [1.0, 2.0], method="rk4", step=1e-3, every=500)
    assert observer.errors(run).shape == (3, 3, 4)
    one = observer.simulate(x[1], None, 1.0, [1.0, 2.0], method="rk4", step=1e-3, every=500)
    np.testing.assert_allclose(observer.errors(run)[1], observer.errors(one), atol=1e-12)
    assert es.BondGraph.load(observer.graph.save(tmp_path / "observer.toml")) == observer.graph


def test_a_graph_with_submodels(rng):
    """Angles of free joints do not show in velocities; gains of any kind make a graph all the same."""
    arm, x = es.BondGraph.load("planar_arm"), [0.0, 0.0, 0.4, 0.3]
    assert arm.outputs
    with pytest.raises(es.EslabonError, match="observ"):
        arm.observer_graph([-3.0, -4.0, -5.0, -6.0], x=x)
    observer = arm.observer_graph(gains=rng.normal(size=(4, len(arm.outputs))), x=x)
    assert set(observer.graph.states) == {*arm.states, *observer.estimates}
    model = arm.linearize(x, np.zeros(2))
    both = observer.graph.linearize(observer.start(x, x), np.zeros(2))
    expected = np.concatenate([np.linalg.eigvals(model.A), observer.poles])
    np.testing.assert_allclose(np.poly(both.A), np.poly(expected).real, rtol=1e-6, atol=1e-6)


def test_a_field_whose_ports_depend_on_another_inertia():
    g = es.BondGraph(
        "coupled",
        {"V": "Se", "a": "1", "b": "1", "M": {"kind": "I", "value": [[2, 0.5], [0.5, 1]], "state": ["la", "lb"]}, "R": "R: 1",
         "S": "R: 2", "G": "GY: 0.7", "c": "1", "m": "I: 3", "y": "Df"},
        ["V -> a -> M", "a -> R", "a -> G -> b", "b -> M", "b -> S", "b -> y", "b -> c", "c -> m"],
    )  # fmt: skip
    observer = g.observer_graph([-2.0, -4.0])
    assert observer.estimates == ("la_hat", "lb_hat")
    expected = np.sort_complex(np.concatenate([poles_of(g), [-2.0, -4.0]]))
    np.testing.assert_allclose(poles_of(observer.graph), expected, atol=1e-6)


def test_a_law_written_as_a_python_function():
    g = es.BondGraph(
        "tank", {"Q": "Sf", "p": "0", "C": {"kind": "C", "law": lambda q: q + q**3}, "R": "R: 2", "y": "De"},
        ["Q -> p -> C", "p -> R", "p -> y"],
    )  # fmt: skip
    observer = g.observer_graph([-7.0], x=[0.5], u=[0.1])
    run = observer.simulate([0.5], [0.45], 3.0, [0.3])
    assert abs(observer.errors(run)[-1]).max() < 1e-6


def test_the_observer_of_an_observer():
    """Names stay apart, and gains too."""
    plant = es.BondGraph(
        "rlc", {"V": "Se", "j": "1", "L": "I: 0.5", "R": "R: 2", "C": "C: 0.1", "y": "Df"},
        ["V -> j -> L", "j -> R", "j -> C", "j -> y"],
    )  # fmt: skip
    first = plant.observer_graph([-8.0, -9.0])
    second = first.graph.observer_graph([-5.0, -6.0, -7.0, -10.0])
    expected = np.sort_complex(np.concatenate([poles_of(first.graph), second.poles]))
    np.testing.assert_allclose(poles_of(second.graph), expected, atol=1e-5)


def test_a_graph_without_inputs():
    g = es.BondGraph(
        "decay", {"j": "0", "C": "C: 2", "R": "R: 4", "y": "De"}, ["j -> C", "j -> R", "j -> y"]
    )
    observer = g.observer_graph([-3.0])
    run = observer.simulate([1.0], [0.0], [0.0, 0.5, 1.0])
    np.testing.assert_allclose(observer.errors(run)[:, 0], np.exp(-3 * run.t), rtol=1e-6)


def test_what_is_refused():
    g = es.BondGraph.load("morales_puma")
    with pytest.raises(es.ModelError, match="no detectors"):
        g.observer_graph(POLES)
    plant = linear(y="f3")
    with pytest.raises(es.InputError, match="poles or its gains"):
        plant.observer_graph()
    with pytest.raises(es.InputError, match="poles or its gains"):
        plant.observer_graph(POLES, gains=np.ones(4))
    with pytest.raises(es.InputError, match="gains have shape"):
        plant.observer_graph(gains=np.ones((3, 1)))
    with pytest.raises(es.InputError, match="4 poles; 2"):
        plant.observer_graph([-1.0, -2.0])
    observer = plant.observer_graph(POLES)
    with pytest.raises(es.ModelError, match="not a run of this observer"):
        observer.errors(plant.simulate(None, 1.0))
    with pytest.raises(es.EslabonError, match="states"):
        observer.start([0.0, 1.0])
    with pytest.raises(es.InputError, match="do not fit together"):
        observer.start(np.zeros((2, 4)), np.zeros((3, 4)))
    with pytest.raises(es.ModelError, match="not a run"):
        observer.errors(3)
