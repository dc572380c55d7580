"""Feedback of states and of estimates as a graph: its poles are those of A - B K, and those of the observer (separation)."""

import numpy as np
import pytest

import eslabon as es


def motor():
    return es.BondGraph(
        "motor",
        {"V": "Se", "loop": "1", "coil": "I: 0.5", "wire": "R: 1", "motor": "GY: 0.1",
         "shaft": "1", "rotor": "I: 0.01", "bearing": "R: 0.1", "speed": "Df"},
        ["V -> loop -> coil", "loop -> wire", "loop -> motor -> shaft -> rotor", "shaft -> bearing", "shaft -> speed"],
    )  # fmt: skip


def tanks():
    """Flow sources, a pump at each tank; the second one is drawn with its half arrow the other way."""
    return es.BondGraph(
        "tanks",
        {
            "Q": "Sf",
            "a": "0",
            "A": "C: 2",
            "pipe": "R: 3",
            "w": "1",
            "b": "0",
            "B": "C: 5",
            "drain": "Sf",
            "y": "De",
        },
        ["Q -> a -> A", "a -> w -> b", "w -> pipe", "b -> B", "b -> drain", "b -> y"],
    )


def puma():
    return es.BondGraph.load("morales_puma").with_detectors(y="f3", z="f24")


GRAPHS = {"motor": motor, "tanks": tanks, "puma": puma}


@pytest.fixture(params=GRAPHS.values(), ids=GRAPHS)
def g(request):
    return request.param()


def by_size(poles):
    return np.sort_complex(np.round(poles, 9))


def test_the_poles_are_those_of_the_fed_back_matrices(g, rng):
    x, u = rng.uniform(0.1, 0.4, g.order), rng.normal(size=len(g.inputs))
    linear = g.linearize(x, u)
    K = rng.normal(size=linear.B.T.shape)
    closed = g.feedback_graph(K, x=x)  # at x nothing is fed back, so that the inputs are the same
    assert (closed.states, len(closed.inputs)) == (g.states, len(g.inputs))
    found = closed.linearize(x, u)
    np.testing.assert_allclose(found.A, linear.A - linear.B @ K, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.B, linear.B, rtol=1e-12)


def test_estimates_have_the_poles_of_both(g, rng):
    """Separation: eigenvalues of A - B K and of A - L C."""
    x, u = np.zeros(g.order), np.zeros(len(g.inputs))
    if g.name == "morales_puma":
        x, u = g.steady_state([2.0, 1.0]).x, np.array([2.0, 1.0])
        g = g.linearized_graph(x, u)
        x, u = np.zeros(g.order), np.zeros(2)
    poles = -np.arange(5.0, 5.0 + g.order)
    observer = g.observer_graph(poles)
    linear = g.linearize(x, u)
    K = rng.normal(size=linear.B.T.shape)
    both = g.feedback_graph(K, estimate=observer)
    assert len(both.states) == 2 * g.order
    found = both.linearize(np.zeros(2 * g.order), u).poles
    wanted = [*np.linalg.eigvals(linear.A - linear.B @ K), *poles]
    np.testing.assert_allclose(by_size(found), by_size(wanted), rtol=1e-6, atol=1e-7)


def test_a_regulator_holds_a_state_from_its_estimates():
    """With a regulator's gains states and errors of estimates die out."""
    g = motor()
    linear = g.linearize([0.0, 0.0], [0.0])
    observer = g.observer_graph([-30.0, -40.0])
    closed = g.feedback_graph(es.control.lqr(linear, [1.0, 1.0], 0.1), estimate=observer)
    start = observer.start([0.3, 0.01], [0.0, 0.0])
    run = closed.simulate(start, np.linspace(0, 5, 501), [0.0])
    assert np.abs(run.end).max() < 1e-4
    late = run.t > 0.5  # errors die out as exp(-30 t)
    np.testing.assert_allclose(run["p2"][late], run["p2_hat"][late], atol=1e-5)


def test_what_the_feedback_supplies_is_counted():
    """The source that is modulated takes the energy that a damper would."""
    g = motor()
    run = g.feedback_graph([[4.0, 0.0]]).simulate([0.3, 0.01], np.linspace(0, 1, 2001), [0.0])
    balance = run.energy_balance()
    assert balance.error < 1e-7
    assert balance["V_feedback"][-1] > 0.01  # J
    np.testing.assert_allclose(run["e1_feedback"], -4 * run["p2"], atol=1e-12)


def test_the_reference_is_added():
    g = motor()
    K = np.array([[2.0, 3.0]])
    closed = g.feedback_graph(K)
    x, r = np.array([0.2, 0.004]), np.array([1.5])
    np.testing.assert_allclose(closed.rates(x, r), g.rates(x, r - K @ x), rtol=1e-13)


def test_it_is_written_and_read(g, tmp_path, rng):
    closed = g.feedback_graph(rng.normal(size=(len(g.inputs), g.order)))
    again = es.BondGraph.load(closed.save(tmp_path / "g.toml"))
    x, u = rng.uniform(0.1, 0.4, g.order), rng.normal(size=len(g.inputs))
    np.testing.assert_array_equal(again.rates(x, u), closed.rates(x, u))


def test_what_is_no_feedback_is_refused():
    g = motor()
    with pytest.raises(es.InputError, match="gains have shape"):
        g.feedback_graph([[1.0, 2.0, 3.0]])
    with pytest.raises(es.InputError, match="estimate is an observer of motor"):
        g.feedback_graph([[1.0, 2.0]], estimate=tanks().observer_graph([-5.0, -6.0]))
    with pytest.raises(es.ModelError, match="has no inputs to feed back to"):
        es.BondGraph(
            "g", {"j": "0", "C": "C: 1", "R": "R: 1"}, ["j -> C", "j -> R"]
        ).feedback_graph([[1.0]])
    with pytest.raises(es.InputError, match="x is one state"):
        g.feedback_graph([[1.0, 2.0]], x=np.zeros((3, 2)))
