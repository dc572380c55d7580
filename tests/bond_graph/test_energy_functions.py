"""Storages with an energy function of all their ports, and resistors whose heat is followed."""

import numpy as np
import pytest

import eslabon as es

CONDENSER = {
    "kind": "C",
    "energy": "charge**2*(d + gap)/(2*k) + s*gap**2/2",
    "state": ["charge", "gap"],
}
SOLENOID = {"kind": "IC", "energy": "flux**2*(1 + gap/a)/(2*L)", "state": ["flux", "gap"]}
MOVED = {"V": "Se", "loop": "1", "R": "R: 2", "v": "1", "m": "I: 0.1", "b": "R: 0.3"}
BONDS = ["V -> loop -> R", "loop -> x", "v -> x", "v -> m", "v -> b"]


def condenser():
    return es.BondGraph(
        "condenser", {**MOVED, "x": CONDENSER}, BONDS, {"d": 0.1, "k": 1.0, "s": 50.0}
    )


def solenoid():
    elements = {**MOVED, "x": SOLENOID, "spring": "C: 0.01"}
    return es.BondGraph("solenoid", elements, [*BONDS, "v -> spring"], {"a": 0.1, "L": 1.0})


def two_coils():
    """Two coils about one core that moves: two momenta, one displacement."""
    x = {
        "kind": "IC",
        "momenta": 2,
        "energy": "(one**2 + two**2 - 0.6*one*two)*(1 + gap**2)/2",
        "state": ["one", "two", "gap"],
    }
    return es.BondGraph(
        "coils",
        {**MOVED, "x": x, "W": "Se", "other": "1", "R2": "R: 5"},
        [
            "V -> loop -> R",
            "loop -> x",
            "W -> other -> R2",
            "other -> x",
            "v -> x",
            "v -> m",
            "v -> b",
        ],
    )


GRAPHS = {"condenser": condenser, "solenoid": solenoid, "two coils": two_coils}


@pytest.fixture(params=GRAPHS.values(), ids=GRAPHS)
def g(request):
    return request.param()


def test_the_plates_of_a_condenser_attract_one_another():
    """Voltage q (d + x)/k, force q^2/(2 k) and that of the spring (Karnopp, Margolis and Rosenberg, 8.1)."""
    g, q, x = condenser(), 0.3, 0.02
    assert g.states == ("p5", "charge", "gap")
    v = g.bond_variables([0.0, q, x], [1.0])
    assert v["e3"] == pytest.approx(q * (0.1 + x), rel=1e-14)
    assert v["e4"] == pytest.approx(q**2 / 2 + 50 * x, rel=1e-14)


def test_a_solenoid_pulls_its_core():
    """Current and force of the energy flux^2/(2 L(x)): the force is that of (1/2) i^2 dL/dx, against the gap."""
    g, flux, gap = solenoid(), 0.4, 0.03
    assert g.states == ("p5", "flux", "gap", "q7")
    v = g.bond_variables([0.0, flux, gap, 0.0], [1.0])
    L = 1.0 / (1 + gap / 0.1)
    slope = -(1.0 / 0.1) / (1 + gap / 0.1) ** 2
    assert v["f3"] == pytest.approx(flux / L, rel=1e-14)
    assert v["e4"] == pytest.approx(-0.5 * (flux / L) ** 2 * slope, rel=1e-14)


def test_ports_act_on_one_another_by_equal_amounts(g, rng):
    """The slopes of a field are symmetric: of flows by momenta, of efforts by displacements and across."""
    x = rng.uniform(0.1, 0.5, g.order)
    F = g.junction_structure().fields(x, np.zeros(len(g.inputs)))["F"]
    np.testing.assert_allclose(F, F.T, rtol=1e-12, atol=1e-14)
    assert np.abs(F - np.diag(np.diag(F))).max() > 0.01  # and they do act


def test_no_energy_is_lost_in_it(g, rng):
    x = rng.uniform(0.1, 0.3, g.order)
    u = rng.uniform(-1, 1, len(g.inputs))
    balance = g.simulate(x, np.linspace(0, 1, 5001), u, method="rk4").energy_balance()
    assert balance.error < 1e-9  # Simpson's rule between reports
    assert np.abs(balance["x"]).max() > 1e-3


def test_power_in_is_change_of_energy(g, rng):
    """dH/dt of the energy is the power of the bonds, at any state."""
    x, u = rng.uniform(0.1, 0.5, g.order), rng.normal(size=len(g.inputs))
    v = g.bond_variables(x, u)
    into = sum(v.power[list(g.bonds).index(p.bond.name)] for p in g.ports["x"])
    rates, h = g.rates(x, u), 1e-6
    held = [g.energy(x + s * h * rates, u) for s in (1, -1)]
    others = sum(
        v.power[list(g.bonds).index(g.ports[n][0].bond.name)]
        for n in ("m", "spring")
        if n in g.elements
    )
    assert (held[0] - held[1]) / (2 * h) == pytest.approx(into + others, rel=1e-7, abs=1e-9)


def test_the_linearized_graph_has_the_exact_slopes(g, rng):
    x, u = rng.uniform(0.1, 0.5, g.order), rng.normal(size=len(g.inputs))
    linear = g.linearized_graph(x, u)
    found = linear.linearize(np.zeros(g.order), np.zeros(len(g.inputs)))
    np.testing.assert_allclose(found.A, g.linearize(x, u).A, rtol=1e-12, atol=1e-12)


def test_it_is_written_and_read(g, tmp_path):
    assert es.BondGraph.load(g.save(tmp_path / "g.toml")) == g


def test_it_is_drawn_with_its_energy(g, tmp_path):
    assert "energy" in g.draw(tmp_path / "g.svg").read_text()


def test_it_stays_itself_in_a_submodel():
    inner = es.BondGraph(
        "plates",
        {"x": CONDENSER, "a": "port", "b": "port"},
        ["a -> x", "b -> x"],
        {"d": 0.1, "k": 1.0, "s": 50.0},
    )
    outer = es.BondGraph(
        "outer",
        {**MOVED, "x": inner},
        ["V -> loop -> R", "loop -> x.a", "v -> x.b", "v -> m", "v -> b"],
    )
    x = [0.1, 0.3, 0.02]
    assert outer.states == ("p5", "x_charge", "x_gap")
    np.testing.assert_array_equal(outer.rates(x, [1.0]), condenser().rates(x, [1.0]))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"kind": "C", "energy": "q**2"}, "needs names for its energy variables"),
        ({**CONDENSER, "value": 2}, "and so no value and no law"),
        ({**CONDENSER, "state": ["charge"]}, "has 2 bonds .*; it has 1 port"),
        ({"kind": "C", "energy": "charge*z", "state": ["charge", "gap"]}, "unknown name 'z'"),
        ({"kind": "R", "energy": "f**2"}, "is a R and stores no energy"),
        ({"kind": "IC", "value": 3}, "is an IC and needs an energy function"),
        ({**SOLENOID, "momenta": 2}, "an IC has both momenta and displacements"),
        ({**CONDENSER, "momenta": 1}, "momenta is said of an IC"),
    ],
)
def test_what_is_no_energy_function_is_refused(written, said):
    parameters = {"d": 0.1, "k": 1.0, "s": 50.0, "a": 0.1, "L": 1.0}
    with pytest.raises(es.ModelError, match=said):
        es.BondGraph("g", {**MOVED, "x": written}, BONDS, parameters)


# -- heat -----------------------------------------------------------------------------------------


def heater(domain):
    return es.BondGraph(
        "heater",
        {"V": "Se", "loop": "1", "RS": "RS: 2", "L": "I: 1", "body": "0", "C": "C: 5"},
        ["V -> loop -> RS", "loop -> L", "RS -> body -> C"],
        domains={domain: ["C"], "electrical": ["V"]},
    )


@pytest.mark.parametrize("domain", ["thermal", "entropy"])
def test_what_a_resistor_takes_is_heat(domain, rng):
    """The heat flow is e f; the flow of entropy is e f / T, and no power is lost."""
    g, x = heater(domain), np.array([0.5, 300.0])
    v = g.bond_variables(x, [1.0])
    heat = v["f4"] * (v["e4"] if domain == "entropy" else 1)
    assert heat == pytest.approx(v["e2"] * v["f2"], rel=1e-14)
    assert g.unit("f4") == {"thermal": "W", "entropy": "W/K"}[domain]
    balance = g.simulate(x, np.linspace(0, 1, 501), [3.0]).energy_balance()
    assert balance.error < 1e-8 * balance.supplied.max()
    assert np.abs(balance["RS"]).max() < 1e-12
    assert balance["C"][-1] == pytest.approx(balance.supplied[-1] - balance["L"][-1], rel=1e-9)
    assert max(g.junction_structure().violations(x, [1.0]).values()) == 0


@pytest.mark.parametrize("domain", ["thermal", "entropy"])
def test_the_linearized_graph_of_a_heater(domain, rng):
    g, x = heater(domain), np.array([0.5, 300.0])
    linear = g.linearized_graph(x, [1.0])
    np.testing.assert_allclose(linear.linearize([0, 0], [0]).A, g.linearize(x, [1.0]).A, rtol=1e-13)


def test_heat_passes_a_resistance_between_two_bodies():
    """In a domain of heat flows a resistor between temperatures takes nothing: what one body loses the other gains."""
    g = es.BondGraph(
        "wall",
        {"a": "0", "A": "C: 2", "w": "1", "R": "R: 3", "b": "0", "B": "C: 5"},
        ["a -> A", "a -> w -> b", "w -> R", "b -> B"],
        domains={"thermal": ["A"]},
    )
    balance = g.simulate([600.0, 1000.0], np.linspace(0, 5, 501)).energy_balance()
    assert balance.error < 1e-6
    assert np.abs(balance["R"]).max() == 0
    np.testing.assert_allclose(balance["A"], -balance["B"], atol=1e-6)
    assert g.energy([600.0, 1000.0]) == pytest.approx(1600.0)  # J, not J K


def test_a_resistor_with_a_law_heats():
    g = es.BondGraph(
        "brake",
        {
            "F": "Se",
            "v": "1",
            "m": "I: 2",
            "pad": {"kind": "RS", "law": "3*tanh(f)"},
            "T": "0",
            "C": "C: 4",
        },
        ["F -> v -> m", "v -> pad -> T -> C"],
    )
    x = np.array([0.8, 1200.0])
    rates = g.rates(x, [0.5])
    force, v, T = 3 * np.tanh(0.4), 0.4, 300.0
    np.testing.assert_allclose(rates, [0.5 - force, force * v / T], rtol=1e-13)
    linear = g.linearized_graph(x, [0.5])
    np.testing.assert_allclose(
        linear.linearize([0, 0], [0]).A, g.linearize(x, [0.5]).A, rtol=1e-12, atol=1e-14
    )


def test_an_RS_without_a_bond_for_its_heat_is_refused():
    with pytest.raises(
        es.ModelError, match=r"has 0 bonds that leave it .*; it has one, for its heat"
    ):
        es.BondGraph(
            "g", {"V": "Se", "j": "1", "r": "RS: 2", "m": "I: 1"}, ["V -> j -> r", "j -> m"]
        )


@pytest.mark.parametrize("g", [make() for make in (condenser, solenoid, two_coils)], ids=GRAPHS)
def test_structural_ranks_are_those_of_the_matrices_at_almost_any_state(g, rng):
    """A law without an inverse has slopes that have one: its storages count like linear ones."""
    ranks = []
    for _ in range(3):
        A = g.linearize(rng.uniform(0.1, 0.5, g.order), rng.normal(size=len(g.inputs))).A
        sizes = np.linalg.svd(A, compute_uv=False)
        ranks.append(int((sizes > 1e-9 * sizes[0]).sum()))
    assert g.structural_rank().rank == max(ranks)
    found = g.controllability(rng.uniform(0.1, 0.5, g.order))
    assert found.structural == found.kalman.full


def test_a_stop_counts_as_the_spring_it_is():
    """A law with two terms has no inverse; the motor on it is controllable all the same."""
    g = es.BondGraph(
        "stop",
        {"F": "Se", "v": "1", "m": "I: 2", "k": {"kind": "C", "law": "q + q**3"}},
        ["F -> v -> m", "v -> k"],
    )
    assert g.structural_rank().full
    assert g.controllability().structural
