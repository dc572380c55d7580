"""Causal paths and loops: their gains add up to the junction structure, Mason's rule gives the poles, and Morales' lists come out."""

from itertools import combinations

import numpy as np
import pytest
import sympy
from hypothesis import assume, given

import eslabon as es
from bond_graph_strategies import built, graphs
from randomness import examples


def listed(text):
    """A path as the thesis prints it."""
    return tuple(text.split(","))


def turned(path):
    return path[::-1]


# (5.30) and (5.47), where T12 lacks bond 20 in print
PUMA = {listed(t) for t in ("2,4,5,9,11,17,20,22,24", "2,4,5,7,10,16,18,22,24")}
PUMA |= {turned(p) for p in PUMA}
STANFORD_BOTH_WAYS = {
    listed(t)
    for t in (
        "2,4,5,26,27,38,40,41,39,51,50",
        "2,4,5,26,27,38,44,46,49,29,28,17,20,22,24",
        "24,22,20,17,28,29,49,47,45,39,51,50",
    )
}
STANFORD_FROM_THE_PLATFORM = {
    listed(t)
    for t in (
        "31,33,35,37,39,41,40,38,27,26,5,4,2",
        "31,32,34,36,38,44,46,49,29,28,17,20,22,24",
        "31,33,35,37,39,45,47,49,29,28,17,20,22,24",
        "31,32,34,36,38,40,41,39,51,50",
    )
}
STANFORD = (
    PUMA | STANFORD_BOTH_WAYS | {turned(p) for p in STANFORD_BOTH_WAYS} | STANFORD_FROM_THE_PLATFORM
)  # fmt: skip


def test_nonlinear_paths_of_the_puma():
    """(5.30)."""
    found = es.BondGraph.load("morales_puma").nonlinear_paths()
    assert {p.bonds for p in found} == PUMA
    assert len(found) == 4
    assert {p.kind for p in found} == {"mixed direct"}


@pytest.mark.parametrize("name", ["morales_stanford", "morales_stanford_constant"])
def test_nonlinear_paths_of_the_stanford_arm(name):
    """(5.47), with bond 20 in T12."""
    found = es.BondGraph.load(name).nonlinear_paths()
    assert {p.bonds for p in found} == STANFORD
    assert len(found) == 14


def from_the_output(name, ends):
    """Bonds of the paths from the dualised detector of f3, bond 3 standing for the detector's as in the thesis."""
    g = es.BondGraph.load(name).with_detectors(y="f3").dualized("y")
    return {("3", *p.bonds[1:]) for p in g.causal_paths("y", ends, indirect=True)}


def test_paths_from_the_output_of_the_puma():
    """(5.71): T1, T2, T3 and T4, where bonds 3 and 4 are printed twice without an element between."""
    found = from_the_output("morales_puma", ("i2", "i1", "c2", "c1"))
    for path in ("3,2", "3,4,5,7,10,16,18,22,24", "3,3", "3,4,5,7,10,16,18,22,24,24,23"):
        assert listed(path) in found


def test_paths_from_the_output_of_the_stanford_arm():
    """(5.79): T1 to T6; none leads to the platform, as active bonds carry nothing back."""
    ends = ("c2", "i2", "i1", "c1", "i3", "c3")
    found = from_the_output("morales_stanford", ends)
    beginning = "3,4,5,26,27,38,40,41,39,51,50"
    for path in (
        "3,3",
        "3,2",
        "3,4,5,7,10,16,18,22,24",
        "3,4,5,7,10,16,18,22,24,24,23",
        beginning,
        f"{beginning},50,53",
    ):
        assert listed(path) in found
    assert not from_the_output("morales_stanford", ("ig",))


def test_the_platform_is_seen_by_the_output():
    """The other way round there is a path, by T9 and i2."""
    g = es.BondGraph.load("morales_stanford").with_detectors(y="f3")
    path = g.observability().paths["p31"]
    assert path.bonds == (*listed("31,33,35,37,39,41,40,38,27,26,5,4,2"), "2", "y")


def entry(g, block, row, column, x, u):
    S = g.junction_structure()
    rows = {"S11": "x", "S12": "x", "S13": "x", "S21": "D_in", "S22": "D_in"}
    columns = {"S11": "z", "S12": "D_out", "S13": "u", "S21": "z", "S22": "D_out"}
    return S.at(x, u, block)[S.key[rows[block]].index(row), S.key[columns[block]].index(column)]


@pytest.mark.parametrize(
    "name", ["morales_puma", "morales_stanford", "double_pendulum", "morales_stanford_gravity"]
)
def test_gains_between_storages_add_up_to_the_structure(name, rng):
    g = es.BondGraph.load(name)
    x, u = rng.uniform(0.2, 0.8, g.order), rng.normal(size=len(g.inputs))
    c, S11 = g.causality(), g.junction_structure().at(x, u, "S11")
    for j, start in enumerate(c.integral):
        for i, end in enumerate(c.integral):
            paths = g.causal_paths(start.element.name, end.element.name)
            total = sum((p.at(x, u) for p in paths), 0.0)
            np.testing.assert_allclose(total, S11[i, j], atol=1e-12)


@examples(30)
@given(graphs())
def test_gains_add_up_in_random_graphs(drawn):
    g = built(*drawn)
    assume(not g.causal_loops(indirect=False))
    S = g.junction_structure()
    x, u = np.zeros(g.order), np.zeros(len(g.inputs))
    resistors = [e for e, _ in S.structure.resistors]
    blocks = {
        "S12": (resistors, g.causality().integral),
        "S13": (S.structure.sources, g.causality().integral),
    }
    for block, (starts, ends) in blocks.items():
        numbers = S.at(x, u, block)
        for j, start in enumerate(starts):
            for i, end in enumerate(ends):
                total = sum((p.at(x, u) for p in g.causal_paths(start.name, end.element.name)), 0.0)
                np.testing.assert_allclose(total, numbers[i, j], atol=1e-12)


def mason(loops, x, u, s):
    """1 - sum of loops + sum of products of two that share no variable - ..."""
    gains = [complex(loop.at(x, u, s=s)) for loop in loops]
    sets = [set(loop.variables) for loop in loops]
    total, groups = 1.0 + 0j, [((), frozenset(), 1.0 + 0j)]
    for size in range(1, len(loops) + 1):
        groups = [
            ((*own, k), used | sets[k], product * gains[k])
            for own, used, product in groups
            for k in range(own[-1] + 1 if own else 0, len(loops))
            if not used & sets[k]
        ]
        if not groups:
            break
        total += (-1) ** size * sum(product for *_, product in groups)
    return total


CIRCUIT = es.BondGraph(
    "filter",
    {"V": "Se", "a": "1", "L": "I: 0.4", "R": "R: 2", "o": "0", "C": "C: 0.3", "C2": "C: 0.7", "G": "R: 5", "T": "TF: 3", "b": "1",
     "m": "I: 0.9", "d": "R: 0.2", "k": "C: 0.6"},
    ["V -> a -> L", "a -> R", "a -> o -> C", "o -> C2", "o -> G", "o -> T -> b -> m", "b -> d", "b -> k"],
)  # fmt: skip
BRIDGE = es.BondGraph.of_circuit_parts(
    "bridge", {"V": ("Se", "a"), "R1": ("R: 1", "a", "b"), "R2": ("R: 2", "a", "c"), "R3": ("R: 3", "b"), "C": ("C: 0.1", "c"),
               "R5": ("R: 5", "b", "c"), "R4": ("R: 4", "c")},
)  # fmt: skip

RING = es.BondGraph(
    "ring", {"V": "Se", "a": "1", "C": "C: 0.5", "R": "R: 3", "T": "TF: 2", "U": "TF: 5", "b": "0", "L": "I: 0.2"},
    ["V -> a -> C", "a -> R", "a -> T -> b", "a -> U -> b", "b -> L"],
)  # fmt: skip


@pytest.mark.parametrize("g", [CIRCUIT, BRIDGE, RING, "morales_puma"])
def test_masons_rule_gives_the_characteristic_polynomial(g):
    """Its determinant is that of s 1 - A but for a constant and s^n: loops through R, between storages, and dependent ones."""
    if isinstance(g, str):
        rest = es.BondGraph.load(g)
        x = rest.steady_state([1.0, 2.0]).x
        g = rest.linearized_graph(x, [1.0, 2.0])
    x, u = np.zeros(g.order), np.zeros(len(g.inputs))
    A, loops = g.linearize(x, u).A, g.causal_loops()
    ratios = [
        mason(loops, x, u, s) * s**g.order / np.linalg.det(s * np.eye(g.order) - A)
        for s in (0.7 + 0.2j, -1.3 + 2j, 3.0, 0.1j)
    ]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


def test_kinds():
    g = es.BondGraph(
        "motor",
        {
            "V": "Se",
            "i": "1",
            "L": "I: L",
            "R": "R: R",
            "motor": "GY: k",
            "w": "1",
            "J": "I: J",
            "b": "R: b",
            "speed": "Df",
        },
        ["V -> i -> L", "i -> R", "i -> motor -> w -> J", "w -> b", "w -> speed"],
        {"L": 0.5, "R": 1.0, "k": 0.1, "J": 0.01, "b": 0.1},
    )
    (simple,) = g.causal_paths("V", "L")
    (direct,) = g.causal_paths("L", "J")
    (indirect,) = g.causal_paths("V", "speed", indirect=True)
    assert [p.kind for p in (simple, direct, indirect)] == [
        "simple",
        "mixed direct",
        "mixed indirect",
    ]
    assert indirect.bonds == ("1", "2", "2", "4", "5", "6", "6", "8")
    assert indirect.variables == ("e1", "e2", "p2", "f2", "f4", "e5", "e6", "p6", "f6", "f8")
    assert indirect.elements == ("L", "motor", "J")
    assert indirect.power == -2
    k, L, J = sympy.symbols("k L J", real=True)
    assert sympy.simplify(indirect.gain - k / (L * J * sympy.Symbol("s") ** 2)) == 0
    np.testing.assert_allclose(indirect.at([0.0, 0.0], [0.0], s=2.0), 0.1 / (0.5 * 0.01 * 4))
    assert not g.causal_paths("V", "J")
    loops = g.causal_loops()
    assert {loop.gain for loop in loops} == {
        -sympy.Symbol("R", real=True) / (L * sympy.Symbol("s")),
        -sympy.Symbol("b", real=True) / (J * sympy.Symbol("s")),
        -(k**2) / (L * J * sympy.Symbol("s") ** 2),
    }
    assert all(loop.closed for loop in loops)


def test_the_transfer_function_is_masons():
    """Sum of the gains of forward paths, each times the determinant of the loops it does not touch, over that of all."""
    g = CIRCUIT.with_detectors(y="f8")
    x, u, s = np.zeros(g.order), np.zeros(1), 0.4 + 1.1j
    loops, total = g.causal_loops(), 0.0
    for path in g.causal_paths("V", "y", indirect=True):
        apart = [loop for loop in loops if not set(loop.variables) & set(path.variables)]
        total += path.at(x, u, s=s) * mason(apart, x, u, s)
    linear = g.linearize(x, u)
    expected = linear.C @ np.linalg.solve(s * np.eye(g.order) - linear.A, linear.B) + linear.D
    np.testing.assert_allclose(total / mason(loops, x, u, s), expected[0, 0], rtol=1e-9)


def test_loops_inside_the_junction_structure():
    """Two transformers between the same junctions: a loop of efforts and one of flows, with one gain as power is conserved."""
    one, other = RING.causal_loops(indirect=False)
    assert one.kind == other.kind == "simple"
    assert set(one.bonds) == set(other.bonds) == {"4", "5", "6", "7"}
    assert {v[0] for v in one.variables} | {v[0] for v in other.variables} == {"e", "f"}
    np.testing.assert_allclose([loop.at([0.0, 0.0], [0.0]) for loop in (one, other)], -2.5)


def test_gains_of_laws_are_slopes():
    g = es.BondGraph(
        "valve", {"Q": "Sf", "p": "0", "tank": {"kind": "C", "law": "q**3"}, "out": {"kind": "R", "law": "e**2"}},
        ["Q -> p -> tank", "p -> out"],
    )  # fmt: skip
    (path,) = g.causal_paths("tank", "tank", indirect=True)
    np.testing.assert_allclose(
        path.at([[0.5], [2.0]], [1.0]), [-2 * 0.125, -2 * 8.0]
    )  # through R alone: -2 e
    (loop,) = g.causal_loops()
    np.testing.assert_allclose(loop.at([0.5], [1.0], s=3.0), -2 * 0.125 * 3 * 0.25 / 3)


def test_paths_through_a_field_and_a_modulated_source():
    """Mason's rule once more: a field couples its ports, and a source feeds a displacement back."""
    g = es.BondGraph(
        "coupled",
        {"V": "Se", "a": "1", "b": "1", "M": {"kind": "I", "value": [[2, 0.5], [0.5, 1]]}, "R": "R: 1", "S": "R: 2", "G": "GY: 0.7",
         "k": "C: 0.3", "back": "MSe: -2*q9 - f2"},
        ["V -> a -> M", "a -> R", "a -> G -> b", "b -> M", "b -> S", "back -> a", "b -> k"],
    )  # fmt: skip
    assert any(p.elements == ("k", "back") for p in g.causal_paths("M", "M", indirect=True))
    x, u = np.zeros(g.order), np.zeros(1)
    A, loops = g.linearize(x, u).A, g.causal_loops()
    ratios = [
        mason(loops, x, u, s) * s**g.order / np.linalg.det(s * np.eye(g.order) - A)
        for s in (0.7 + 0.2j, -1.3 + 2j, 3)
    ]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


def test_paths_of_derivative_causality():
    g = es.BondGraph.load("morales_puma")
    (path,) = g.causal_paths("tau2", "c2", preference="derivative")
    assert path.bonds == ("1", "3")
    assert path.kind == "simple"


def test_what_is_refused():
    g = es.BondGraph.load("morales_puma")
    with pytest.raises(es.ModelError, match="no causal paths from or to 'i9'"):
        g.causal_paths("i9")
    with pytest.raises(es.ModelError, match="no causal paths from or to 'dt2'"):
        g.causal_paths("dt2", "i2")
    with pytest.raises(es.ModelError, match="more than 3 causal loops"):
        g.causal_loops(limit=3)
    with pytest.raises(es.InputError, match="limit is a whole number"):
        g.causal_paths(limit=0)
    with pytest.raises(es.InputError, match="indirect is True or False"):
        g.causal_paths(indirect="yes")
    with pytest.raises(es.ModelError, match="start are names"):
        g.causal_paths(3)
    path = g.causal_paths("tau2", "c2", indirect=True)[0]
    with pytest.raises(es.SingularityError, match="not finite at s = 0"):
        path.at(np.zeros(4), np.zeros(2), s=0)
    with pytest.raises(es.InputError, match="s is a finite number"):
        path.at(np.zeros(4), np.zeros(2), s="a")
    with pytest.raises(es.ModelError, match="did you mean 'integral'"):
        g.causal_paths("i2", "i1", preference="integrl")
    with pytest.raises(es.ModelError, match="open ports"):
        es.BondGraph.load("euler_ring").causal_paths()
    with pytest.raises(es.ModelError, match="no input or detector 'i2'"):
        g.dualized("i2")
    with pytest.raises(es.ModelError, match="no effort or flow 'q3'"):
        g.with_detectors(y="q3")
    with pytest.raises(es.ModelError, match="measures an effort or a flow"):
        g.with_detectors(y=3)
    with pytest.raises(es.ModelError, match="already"):
        g.with_detectors(i2="f3")


def test_a_graph_without_storages_has_no_nonlinear_paths():
    g = es.BondGraph("static", {"V": "Se", "j": "1", "R": "R: 2"}, ["V -> j -> R"])
    assert g.nonlinear_paths() == ()
    assert len(g.causal_paths("V", "R")) == 1


@pytest.mark.parametrize("pair", list(combinations(("e3", "f3", "f24", "e12", "f16"), 2)))
def test_detectors_change_nothing(pair, rng):
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4)
    seen = g.with_detectors(a=pair[0], b=pair[1])
    x, u = rng.uniform(0.2, 0.8, 4), rng.normal(size=2)
    np.testing.assert_allclose(seen.rates(x, u), g.rates(x, u), atol=1e-12)
    variables = g.bond_variables(x, u)
    np.testing.assert_allclose(seen.output(x, u), [variables[n] for n in pair], atol=1e-12)
