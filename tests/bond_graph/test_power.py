"""Power and energy: the junction structure creates none, storages keep it, resistors only take it."""

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from bond_graph_strategies import built, degenerate_graphs, graphs
from randomness import examples, seeds


def energy_variables(elements, bonds):
    g = built(elements, bonds)
    return [f"{x.letter}{g.ports[n][0].bond.name}" for n, x in g.elements.items() if x.stores]


def numbered(elements, seed, storages):
    """Random values in place of ones; some transformers and gyrators are modulated by an energy variable."""
    rng = np.random.default_rng(seed)
    values = {}
    for name, kind in elements.items():
        letter, number = kind.split(":")[0], f"{rng.uniform(0.5, 2):.6f}"
        if letter in ("TF", "GY") and storages and rng.random() < 0.7:
            values[name] = f"M{letter}: {number} + 0.3*sin({rng.choice(storages)})"
        else:
            values[name] = f"{letter}: {number}" if ":" in kind else kind
    return values


def state_of(g, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=g.order), rng.normal(size=len(g.inputs))


@examples(15)
@given(graphs(loops=1), seeds)
def test_power_in_equals_power_stored_and_dissipated(written, seed):
    elements, bonds = written
    g = built(numbered(elements, seed, built(*written).states), bonds)
    check_power(g, *state_of(g, seed))


@examples(25)
@given(degenerate_graphs(loops=1), seeds)
def test_degenerate_graphs_keep_power_or_are_refused(written, seed):
    elements, bonds = written
    g = built(numbered(elements, seed, energy_variables(*written)), bonds)
    try:
        x, u = state_of(g, seed)
        g.bond_variables(x, u)
    except (
        es.ModelError
    ) as error:  # a conflict, a rate of an input, a loop of junctions without an element
        reasons = (
            "no causality",
            "its rate is needed",
            "form a loop",
            "rates of",
            "compute itself",
            "no states",
        )
        assert any(words in str(error) for words in reasons)
    else:
        check_power(g, x, u)


def check_power(g, x, u):
    """Junctions, transformers and gyrators pass all power on, storages take what changes them, resistors only take."""
    variables, S, rates = g.bond_variables(x, u), g.junction_structure(), g.rates(x, u)
    power = dict(zip(variables.bonds, variables.power, strict=True))
    scale = 1 + max(map(abs, power.values()))
    for name, element in g.elements.items():
        if element.is_junction or element.kind in ("TF", "GY", "MTF", "MGY"):
            total = sum(p.sign * power[p.bond.name] for p in g.ports[name])
            assert abs(total) < 1e-9 * scale
    for name, violation in S.violations(x, u).items():
        assert violation < 1e-10, name
    for k, s in enumerate(g.causality().integral):
        assert abs(variables[s.port.bond.signal_name(s.letters[0])] - rates[k]) < 1e-9 * scale
    for name, element in g.elements.items():
        if element.kind == "R":
            assert power[g.ports[name][0].bond.name] >= -1e-12 * scale


@pytest.mark.parametrize("name", ["morales_puma", "double_pendulum", "pendulum_tip_mass"])
def test_energy_is_kept_without_friction_and_inputs(name, rng):
    g = es.BondGraph.load(name)
    g = g.with_parameters(**{p: 0.0 for p in g.parameters if p.startswith("R")})
    if name == "morales_puma":
        g = g.with_parameters(ix=0.4, iy=1.7)
    x0 = 0.4 * rng.normal(size=g.order)
    run = g.simulate(x0, np.linspace(0, 3, 31), rtol=1e-11, atol=1e-12)
    energy = g.energy(run.x, run.u)
    weights = [x for x in g.elements.values() if x.kind == "Se" and x.value not in (None, 0.0)]
    if weights:  # their work is potential energy
        fine = g.simulate(x0, np.linspace(0, 3, 3001), rtol=1e-11, atol=1e-12)
        variables, bonds = fine.bond_variables(), [g.ports[x.name][0].bond for x in weights]
        power = sum(variables[b.signal_name("e")] * variables[b.signal_name("f")] for b in bonds)
        work = np.concatenate([[0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(fine.t))])[
            ::100
        ]
        np.testing.assert_allclose(energy - work, energy[0], atol=2e-4 * (1 + energy[0]))
    else:
        np.testing.assert_allclose(energy, energy[0], rtol=1e-8)


def test_friction_only_takes_energy(rng):
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7)
    run = g.simulate(rng.normal(size=4), np.linspace(0, 5, 101))
    assert (np.diff(g.energy(run.x, run.u)) <= 1e-9).all()


def test_blocks_of_the_documents_graphs(rng):
    for name in ("morales_puma", "double_pendulum", "morales_stanford_gravity"):
        g = es.BondGraph.load(name)
        x, u = rng.normal(size=(3, g.order)), rng.normal(size=(3, len(g.inputs)))
        assert max(g.junction_structure().violations(x, u).values()) < 1e-12
        assert max(g.junction_structure("derivative").violations(x, u).values()) < 1e-12
    stanford = es.BondGraph.load(
        "morales_stanford"
    )  # whose active bonds carry power to the arm and none back
    broken = stanford.junction_structure().violations(rng.normal(size=7), rng.normal(size=4))
    assert broken["S14 = -Z1^T"] > 0.1
    assert broken["S12 = -S21^T"] == 0


def test_detectors_take_no_power():
    g = es.BondGraph(
        "measured", {"V": "Se", "j": "1", "L": "I: 1", "c": "0", "C": "C: 1", "i": "Df", "v": "De"},
        ["V -> j -> L", "j -> c -> C", "j -> i", "c -> v"],
    )  # fmt: skip
    assert g.outputs == ("f5", "e6")
    np.testing.assert_allclose(g.output([0.3, 0.7], [1.0]), [0.3, 0.7])
    variables = g.bond_variables([0.3, 0.7], [1.0])
    assert variables["e5"] == variables["f6"] == 0
    np.testing.assert_allclose(g.rates([0.3, 0.7], [1.0]), [1 - 0.7, 0.3])


def test_an_active_bond_amplifies():
    """E(t) = G e0(t): the second circuit does not load the first."""
    g = es.BondGraph(
        "amplifier", {"I": "Sf", "a": "0", "C": "C: 2", "R": "R: 1", "gain": "TF: 0.25", "b": "1", "L": "I: 1", "r": "R: 3"},
        ["I -> a -> C", "a -> R", "a => gain", "gain -> b -> L", "b -> r"],
    )  # fmt: skip
    x, u = np.array([0.6, 0.2]), np.array([1.0])
    p, q = x
    np.testing.assert_allclose(g.rates(x, u), [q / 2 / 0.25 - 3 * p, 1 - q / 2], rtol=1e-12)


def test_power_along_a_run_is_the_change_of_energy():
    """Of storages in derivative causality too, whose efforts need the rates of the states."""
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7)
    run = g.simulate(
        [0.3, 0.5, 0.7, -0.2], np.linspace(0, 1, 1001), [1.0, -2.0], rtol=1e-11, atol=1e-12
    )
    variables = run.bond_variables()
    assert abs(variables["e13"]).max() > 0.1
    own = [g.ports[x.name][0].bond.name for x in g.elements.values() if x.stores]
    power = sum(variables[f"e{b}"] * variables[f"f{b}"] for b in own)
    change = np.gradient(g.energy(run.x, run.u), run.t)
    np.testing.assert_allclose(power[1:-1], change[1:-1], atol=1e-3)
    given = variables["e1"] * variables["f1"] + variables["e25"] * variables["f25"]
    lost = variables["e6"] * variables["f6"] + variables["e21"] * variables["f21"]
    np.testing.assert_allclose(given - lost, power, atol=1e-9)
