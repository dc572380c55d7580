"""Runs, steady states, linear models and text of bond graphs."""

import numpy as np
import pytest

import eslabon as es


def oscillator():
    return es.BondGraph(
        "mass",
        {"F": "Se", "j": "1", "m": "I: 2", "k": "C: 0.1", "b": "R: 0.5"},
        ["F -> j -> m", "j -> k", "j -> b"],
    )


def exact(t, x0, force):
    from scipy.linalg import expm

    A = np.array([[-0.25, -10], [0.5, 0]])
    rest = np.array([0, force * 0.1])
    return np.array([rest + expm(A * s) @ (x0 - rest) for s in t])


@pytest.mark.parametrize("method", ["DOP853", "RK45", "LSODA", "Radau", "BDF"])
def test_adaptive_methods(method):
    t, x0 = np.linspace(0, 3, 7), np.array([1.0, 0.2])
    run = oscillator().simulate(x0, t, [3.0], method=method, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(run.x, exact(t, x0, 3.0), atol=1e-5)
    assert run.t.tolist() == t.tolist()
    np.testing.assert_allclose(run["p2"], run.x[:, 0])
    np.testing.assert_allclose(run["f2"], run.x[:, 0] / 2)
    np.testing.assert_allclose(run["e1"], 3.0)


def test_rk4_takes_many_at_once_and_is_of_order_four(rng):
    g, x0 = oscillator(), rng.normal(size=(5, 2))
    runs = [g.simulate(x0, 2.0, [1.0], method="rk4", step=h) for h in (0.02, 0.01)]
    assert runs[0].x.shape == (5, 101, 2)
    assert runs[0].u.shape == (5, 101, 1)
    errors = [abs(run.end - [exact([2.0], x, 1.0)[0] for x in x0]).max() for run in runs]
    assert 12 < errors[0] / errors[1] < 20
    every = g.simulate(x0, 2.0, [1.0], method="rk4", step=0.01, every=20)
    np.testing.assert_allclose(every.x, runs[1].x[:, ::20], rtol=1e-12, atol=1e-14)


def test_inputs_in_time():
    g, x0 = oscillator(), np.array([0.0, 0.1])
    jump = exact([1.0, 2.0], exact([1.0], x0, 2.0)[0], -1.0)[[0]]
    for options in ({}, {"method": "rk4", "step": 1e-3}):
        run = g.simulate(x0, [0.0, 1.0, 2.0], ([0.0, 1.0], [2.0, -1.0]), **options)
        np.testing.assert_allclose(run.end, jump[0], atol=1e-7)
        np.testing.assert_allclose(run["e1"], [2, -1, -1])
        by_name = g.simulate(x0, 1.0, {"e1": 2.0}, **options)
        np.testing.assert_allclose(by_name.end, exact([1.0], x0, 2.0)[0], atol=1e-7)
        told = g.simulate(x0, 1.0, lambda t: [np.sin(t)], **options).end
        drawn = g.simulate(
            x0,
            1.0,
            es.simulate.Table(
                np.linspace(0, 1, 101), np.sin(np.linspace(0, 1, 101))[:, None], "cubic"
            ),
            **options,
        ).end
        np.testing.assert_allclose(told, drawn, atol=1e-6)
    timed = es.BondGraph(
        "mass", {"F": "MSe: sin(t)", "j": "1", "m": "I: 2", "k": "C: 0.1", "b": "R: 0.5"}, ["F -> j -> m", "j -> k", "j -> b"]
    )  # fmt: skip
    np.testing.assert_allclose(timed.simulate(x0, 1.0).end, told, atol=1e-6)


def test_runs_say_what_is_wrong():
    g = oscillator()
    for arguments, options, match in [
        (([0.0], 1.0), {}, "x has 1 value"), (([0.0, 0.0], -1.0), {}, "t must increase"), ((None, 1.0, [1.0, 2.0]), {}, "inputs have shape"),
        ((None, 1.0), {"method": "rk4"}, "rk4 needs a step"), ((None, 1.0), {"method": "euler"}, "method is"),
        ((None, 1.0, {"e9": 1}), {}, "mass has no input 'e9'"), ((np.zeros((2, 2)), 1.0), {}, "takes one state at the start"),
        ((None, 1.0), {"every": 3}, "chooses its own steps"), ((None, 1.0, lambda t: [1, 2]), {}, "have shape .2,.; mass has 1 inputs"),
        ((None, 1.0, ([0.5, 1.0], [[1.0], [2.0]])), {}, "the table of inputs starts at 0.5 s"),
        ((None, 1.0, np.nan), {}, "not finite"), ((None, 1.0), {"rtol": 2}, "rtol lies between"),
    ]:  # fmt: skip
        with pytest.raises(es.EslabonError, match=match):
            g.simulate(*arguments, **options)
    with pytest.raises(es.ModelError, match="the response of mass has no 'x'"):
        g.simulate(None, 1.0)["x"]
    unstable = es.BondGraph(
        "grows",
        {"F": "MSe: 1e6*f2**3", "j": "1", "m": "I: 1", "r": "R: 0"},
        ["F -> j -> m", "j -> r"],
    )
    with pytest.raises(es.EslabonError, match="grows broke down"):
        unstable.simulate([1.0], 1.0, method="rk4", step=0.01)


def test_a_graph_without_inputs():
    g = es.BondGraph("free", {"j": "1", "m": "I: 1", "k": "C: 1"}, ["j -> m", "j -> k"])
    run = g.simulate([1.0, 0.0], np.pi / 2)
    np.testing.assert_allclose(run.end, [0, 1], atol=1e-7)
    assert g.linearize([0.0, 0.0]).B.shape == (2, 0)
    assert run.u.shape[-1] == 0
    fixed = g.simulate([1.0, 0.0], 1.0, method="rk4", step=0.01)
    np.testing.assert_allclose(fixed.end, [np.cos(1), np.sin(1)], atol=1e-8)
    np.testing.assert_allclose(g.steady_state().x, [0, 0], atol=1e-12)


def test_steady_states_of_laws():
    g = es.BondGraph(
        "spring", {"F": "Se", "j": "1", "m": "I: 2", "k": {"kind": "C", "law": "q + q**3", "inverse": "e"}, "b": "R: 1"},
        ["F -> j -> m", "j -> k", "j -> b"],
    )  # fmt: skip
    rest = g.steady_state([[2.0], [10.0], [0.0]])
    np.testing.assert_allclose(rest["q3"], [1.0, 2.0, 0.0], atol=1e-12)
    assert rest.x.shape == (3, 2)
    held = g.inverse_statics({"q3": np.array([1.0, 2.0])})
    np.testing.assert_allclose(held.u[:, 0], [2.0, 10.0], atol=1e-12)
    stays = es.BondGraph(
        "spring", {"F": "Se", "j": "1", "m": "I: 2", "k": {"kind": "C", "law": "q + q**3"}, "b": "R: 1"},
        ["F -> j -> m", "j -> k", "j -> b"],
    )  # fmt: skip
    np.testing.assert_allclose(
        stays.steady_state([10.0])["q3"], 2.0, atol=1e-10
    )  # without the inverse of its law


def test_steady_states_that_are_none():
    g = es.BondGraph(
        "rolls",
        {"F": "Se", "j": "1", "m": "I: 2", "k": {"kind": "C", "law": 0.0}, "b": "R: 1"},
        ["F -> j -> m", "j -> k", "j -> b"],
    )
    with pytest.raises(
        es.SingularityError, match="rolls has no steady state, or a whole family of them"
    ):
        g.steady_state([1.0])
    free = es.BondGraph("free", {"F": "Se", "j": "1", "m": "I: 2"}, ["F -> j -> m"])
    with pytest.raises(es.SingularityError, match="p2 keep integral causality"):
        free.steady_state([1.0])
    h = oscillator()
    with pytest.raises(es.ModelError, match=r"1 states are held and 0 inputs are left open .none."):
        h.inverse_statics({"q3": 1.0}, {"e1": 2.0})
    with pytest.raises(es.ModelError, match="no energy variable 'q4'"):
        h.inverse_statics({"q4": 1.0})
    with pytest.raises(es.ModelError, match="guess has shape"):
        h.steady_state([1.0], guess=[1.0])
    with pytest.raises(es.ModelError, match="a steady state has no 'x'"):
        h.steady_state([1.0])["x"]


def test_to_control():
    model = es.BondGraph.load("morales_puma").linearize(np.zeros(4), np.zeros(2)).to_control()
    assert model.state_labels == ["p2", "p24", "q3", "q23"]
    assert model.input_labels == ["e1", "e25"]
    np.testing.assert_allclose(model.dcgain()[2:], np.diag([0.2, 0.1]), atol=1e-12)


def test_printed_equations_and_c_are_the_numbers(rng):
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7)
    x, u = rng.normal(size=4), rng.normal(size=2)
    printed = g.equations(parameters=False)
    np.testing.assert_allclose(printed.function()(x, u, 0.0), g.rates(x, u), rtol=1e-12)
    assert "p24" in str(g.equations())
    source = g.c_source()
    assert (
        "void morales_puma_rates(const double *x, const double *u, const double *t, double *rates)"
        in source.code
    )
    measured = es.BondGraph.load("planar_arm")
    np.testing.assert_allclose(
        measured.equations("outputs", parameters=False).function()(x, u, 0.0),
        measured.output(x, u),
        rtol=1e-12,
    )


def test_batches_equal_single_calls(rng):
    g = es.BondGraph.load("morales_stanford")
    x, u = rng.normal(size=(3, 4, 7)), rng.normal(size=(4, 4))
    together = g.rates(x, u)
    assert together.shape == (3, 4, 7)
    np.testing.assert_allclose(together[2, 1], g.rates(x[2, 1], u[1]), rtol=1e-12)
    assert g.bond_variables(x, u)["e3"].shape == (3, 4)
    assert g.energy(x, u).shape == (3, 4)
    assert g.junction_structure().at(x, u, "S11").shape == (3, 4, 7, 7)


def test_what_is_not_finite_or_not_solved_is_refused():
    divides = es.BondGraph(
        "divides", {"F": "MSe: 1/q3", "j": "1", "m": "I: 1", "k": "C: 1"}, ["F -> j -> m", "j -> k"]
    )
    assert np.isfinite(divides.rates([1.0, 1.0])).all()
    for ask in (divides.rates, divides.linearize, divides.bond_variables):
        with pytest.raises(es.SingularityError, match="divides has no finite"):
            ask([1.0, 0.0])
    with pytest.raises(es.SingularityError, match="divides has no finite rates at this state"):
        divides.simulate([1.0, 0.0], 1.0)
    diode = es.BondGraph(
        "diode", {"V": "Se", "s": "1", "R": "R: 2", "D": {"kind": "R", "law": "exp(40*f) - 1"}, "m": "0", "P": "R: 5", "t": "1",
                  "C": "C: 1", "Q": "R: 1"},
        ["V -> s -> R", "s -> m -> D", "m -> P", "m -> t -> Q", "t -> C"],
    )  # fmt: skip
    assert diode.junction_structure().algebraic_loops == (("R", "D", "P", "Q"),)
    bonds = diode.bond_variables([0.0], [1000.0])  # an exponential law at any voltage
    np.testing.assert_allclose(bonds["e4"], np.expm1(40 * bonds["f4"]), rtol=1e-9)
    np.testing.assert_allclose(bonds["e1"], bonds["e2"] + bonds["e3"], rtol=1e-9)
    none = es.BondGraph(
        "none", {"V": "Se", "s": "1", "R": "R: 2", "D": {"kind": "R", "law": "f**2 + 10"}, "P": "R: 3", "m": "0", "t": "1", "C": "C: 1", "Q": "R: 1"},
        ["V -> s -> R", "s -> m -> P", "s -> D", "m -> t -> Q", "t -> C"],
    )  # fmt: skip
    for ask in (none.rates, none.bond_variables):
        with pytest.raises(
            es.SingularityError, match=r"none: the algebraic loop through .* could not be"
        ):
            ask([0.0], [0.0])
    for options in ({}, {"method": "rk4", "step": 0.01}):
        with pytest.raises(es.EslabonError, match="none"):
            none.simulate([0.0], 1.0, [0.0], **options)


def diode(law="1e-12*(exp(e/0.026)-1)"):
    """A source, a resistor and a diode in series, beside a storage."""
    return es.BondGraph(
        "rectifier",
        {"V": "Se", "s": "1", "R": "R: 50", "D": {"kind": "R", "law": law}, "n": "0", "p": "1", "C": "C: 1e-3", "S": "R: 10", "P": "R: 2e3"},
        ["V -> s -> R", "s -> D", "s -> n -> p -> C", "p -> S", "n -> P"],
    )  # fmt: skip


@pytest.mark.parametrize("voltage", [-1e4, -5.0, 0.0, 0.3, 1.0, 24.0, 1e3, 1e5])
def test_a_diode_with_a_resistor_at_any_voltage(voltage):
    g = diode()
    x = [2e-4]
    bonds = g.bond_variables(x, [voltage])
    e, f = bonds["e3"], bonds["f3"]
    np.testing.assert_allclose(
        f, 1e-12 * np.expm1(e / 0.026), rtol=1e-8, atol=1e-18 + 1e-12 * abs(voltage)
    )
    np.testing.assert_allclose(bonds["e1"], bonds["e2"] + e + bonds["e4"], rtol=1e-9, atol=1e-12)
    rest = g.steady_state([voltage])
    np.testing.assert_allclose(g.rates(rest.x, [voltage]), 0.0, atol=1e-9 * (1 + abs(voltage)))


def test_derivatives_through_an_algebraic_loop():
    """By the implicit function theorem, against differences."""
    g, x, u, h = diode(), np.array([2e-4]), np.array([1.5]), 1e-6
    A = g.linearize(x, u)
    by_u = (g.rates(x, u + h) - g.rates(x, u - h)) / (2 * h)
    by_x = (g.rates(x + 1e-3 * h, u) - g.rates(x - 1e-3 * h, u)) / (2e-3 * h)
    np.testing.assert_allclose(A.B[:, 0], by_u, rtol=1e-5)
    np.testing.assert_allclose(A.A[:, 0], by_x, rtol=1e-5)
    np.testing.assert_allclose(g.derivative("u", x, u), A.B)
    many = g.rates(np.tile(x, (5, 1)), np.linspace(-3, 3, 5)[:, None])
    np.testing.assert_array_equal(many[4], g.rates(x, [3.0]))


SLED = {"F": "Se", "j": "1", "m": "I: 2", "rub": {"kind": "R", "law": "mu*sign(f)"}, "k": "C: 1"}


def sled():
    return es.BondGraph("sled", SLED, ["F -> j -> m", "j -> rub", "j -> k"], {"mu": 1.0})


@pytest.mark.parametrize("method", ["DOP853", "RK45", "LSODA", "Radau", "BDF"])
def test_dry_friction_brings_a_mass_to_rest(method):
    """Each half swing takes 2 mu C off the amplitude, 5.5, 3.5, 1.5, 0.5, and less than mu C holds: then nothing moves."""
    g, half = sled(), np.pi * np.sqrt(2.0)
    run = g.simulate([0.0, 5.5], half * np.arange(6), [0.0], method=method)
    np.testing.assert_allclose(run["q4"], [5.5, -3.5, 1.5, 0.5, 0.5, 0.5], atol=2e-4)
    np.testing.assert_allclose(run["p2"][3:], 0, atol=1e-4)
    later = g.simulate([0.0, 5.5], np.linspace(0, 6 * half, 7), [0.0], method=method)
    assert abs(later["p2"][-2:]).max() < 1e-12


def test_what_holds_lets_go():
    """A force beyond the friction: from rest it slides with what is left, (F - mu - k q)/m."""
    g, half = sled(), np.pi * np.sqrt(2.0)
    run = g.simulate([0.0, 0.0], np.array([0.0, 2.0, 2.0 + half]), ([0.0, 2.0], [[0.9], [3.0]]))
    assert np.abs(run.x[1]).max() < 1e-12
    assert run["q4"][-1] == pytest.approx(2 * (3.0 - 1.0), rel=1e-6)


def test_friction_that_holds_shows_what_it_holds():
    """At rest its effort is that of the spring and the force, not mu."""
    g, t = sled(), np.linspace(0, 12, 25)
    run = g.simulate([0.0, 0.0], t, ([0.0, 6.0], [[0.4], [-0.7]]))
    force = np.where(t < 6, 0.4, -0.7)
    np.testing.assert_allclose(run["e3"], force, atol=1e-12)  # of the later input at the jump
    moved = g.simulate([0.0, 5.5], np.linspace(0, 30, 16), [0.0])
    np.testing.assert_allclose(moved["e3"][-3:], -moved["q4"][-3:], atol=1e-9)


def test_dry_friction_takes_what_the_mass_loses():
    g = sled()
    t = np.linspace(0, 4.0, 4001)  # within the first half swing there is no jump
    balance = g.simulate([0.0, 5.5], t, [0.0]).energy_balance()
    assert balance.error < 1e-6
    assert balance["rub"][-1] == pytest.approx(
        5.5 - g.simulate([0.0, 5.5], t, [0.0])["q4"][-1], rel=1e-6
    )


def test_a_force_in_time_against_dry_friction():
    """The same as with short steps of a fixed length, which jump to and fro."""
    g, t = sled(), np.linspace(0, 10, 21)

    def force(t):
        return [2.5 * np.sin(t)]

    fixed = g.simulate([0.0, 0.0], t, force, method="rk4", step=1e-4)
    np.testing.assert_allclose(g.simulate([0.0, 0.0], t, force).x, fixed.x, atol=2e-3)


def test_only_laws_that_jump_have_modes():
    """sign(e)*sqrt(abs(e)) goes through zero without a jump; friction and a relay have two sides."""
    from eslabon.bond_graph.graph_switching import choices_of

    def tank(law):
        elements = {"Q": "Sf", "p": "0", "C": "C: 2", "out": {"kind": "R", "law": law}}
        return es.BondGraph("tank", elements, ["Q -> p -> C", "p -> out"])

    assert choices_of(tank("sign(e)*sqrt(abs(e))")) is None
    assert choices_of(tank("e*abs(e)")) is None
    assert choices_of(tank("3*sign(e - 2) + e")).names
    assert choices_of(sled()).names
