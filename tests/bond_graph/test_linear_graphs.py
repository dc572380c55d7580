"""Linearized bond graphs (procedure 5.1): their matrices are the Jacobian of the graph they come from, everywhere."""

import numpy as np
import pytest

import eslabon as es

TANKS = es.BondGraph(
    "tanks",
    {"pump": "Sf", "p": "0", "tank": {"kind": "C", "law": "q + q**3"}, "valve": {"kind": "R", "law": "e + 0.2*e**2"}, "m": "1",
     "flow": {"kind": "I", "law": "p/2 + p**3"}, "loss": {"kind": "R", "law": "f + 0.1*q2*f**3"}, "back": "MSe: -q2*p5 + t*f5",
     "y": "De", "w": "Df"},
    ["pump -> p -> tank", "p -> valve", "p -> m -> flow", "m -> loss", "back -> m", "p -> y", "m -> w"],
)  # fmt: skip
VARYING = es.BondGraph(
    "varying",
    {"V": "Se", "a": "1", "L": "I: 0.5", "R": "MGY: 1 + q11**2", "b": "1", "J": "I: J", "d": {"kind": "R", "value": "2 + p2**2"},
     "k": {"kind": "C", "value": 0.3, "state": "x"}, "T": "MTF: exp(0.3*x) + sin(t)", "c": "1", "m": "I: 1.5", "e": "R: 0.4"},
    ["V -> a -> L", "a -> R -> b -> J", "b -> d", "b -> T -> c -> m", "c -> e", "b -> k"],
    {"J": 0.8},
)  # fmt: skip
MATRIX = es.BondGraph(
    "matrix",
    {"F": "Se", "G": "Se", "a": "1", "b": "1", "m": "I: 1", "n": "I: 2", "ka": "C: 1", "kb": "C: 2",
     "T": {"kind": "MTF", "value": [["cos(q5)", "q6"], ["-q5", "1 + q6**2"]]}, "c": "1", "d": "1", "M": "I: 3", "N": "I: 4",
     "D": "R: 0.5"},
    ["F -> a -> m", "G -> b -> n", "a -> ka", "b -> kb", "a -> T", "b -> T", "T -> c", "T -> d", "c -> M", "d -> N", "d -> D"],
)  # fmt: skip
SIGNALS = es.BondGraph(
    "signals",
    {"V": "Se", "r": "1", "Q": "R: 1", "o": "0", "C": "C: 2", "R": "R: 3", "T": "MTF: 1 + q4**2", "s": "1", "L": "I: 0.5",
     "S": "R: 1"},
    ["V -> r -> Q", "r -> o -> C", "o -> R", "o => T -> s -> L", "s -> S"],
)  # fmt: skip
GRAPHS = [
    TANKS, VARYING, MATRIX, SIGNALS, "morales_puma", "morales_stanford", "morales_stanford_constant", "morales_stanford_gravity",
    "pendulum", "pendulum_tip_mass", "double_pendulum", "planar_arm", "gravity_platform",
]  # fmt: skip


def graph(g):
    if g == "morales_puma":
        return es.BondGraph.load(g).with_parameters(ix=0.4, iy=1.7).with_detectors(y="f3", e="e12")
    return es.BondGraph.load(g) if isinstance(g, str) else g


@pytest.mark.parametrize("g", GRAPHS, ids=str)
def test_the_linearized_graph_is_the_jacobian(g, rng):
    """Wherever, at rest or not, A, B, C and D are those of the exact linear model, and so is the order of the states."""
    g = graph(g)
    x, u = rng.uniform(0.2, 0.8, g.order), rng.normal(size=len(g.inputs))
    made, exact = g.linearized_graph(x, u, t=0.3), g.linearize(x, u, t=0.3)
    assert (made.states, made.inputs, made.outputs) == (g.states, g.inputs, g.outputs)
    zero = np.zeros(g.order), np.zeros(len(u))
    found = made.linearize(*zero)
    for name in "ABCD":
        a, b = getattr(found, name), getattr(exact, name)
        np.testing.assert_allclose(
            a, b, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(b).max(initial=0.0))
        )
    dx, du = (
        rng.normal(size=(2, g.order)),
        rng.normal(size=(2, len(u))),
    )  # it is linear: exactly so, not only near zero
    np.testing.assert_allclose(
        made.rates(dx, du), dx @ exact.A.T + du @ exact.B.T, rtol=1e-8, atol=1e-8
    )


def test_a_linear_graph_is_its_own():
    g = es.BondGraph("rlc", {"V": "Se", "j": "1", "L": "I: L", "R": "R: 2", "C": "C: 0.1"}, ["V -> j -> L", "j -> R", "j -> C"],
        {"L": 0.5})  # fmt: skip
    made = g.linearized_graph([0.3, 0.4], [1.0])
    assert made.elements == g.elements
    assert made.bonds == g.bonds
    assert made.parameters == g.parameters


def test_what_is_added_off_the_steady_state():
    """At rest constants alone; in motion sources beside the elements whose moduli vary."""
    g = es.BondGraph.load("morales_puma")
    rest = g.steady_state([2.0, 1.0])
    still = g.linearized_graph(rest.x, rest.u)
    assert len(still.bonds) == len(g.bonds)
    assert not {x.kind for x in still.elements.values()} & {"MTF", "MGY", "MSe", "MSf"}
    moving = g.linearized_graph([0.1, 0.2, 0.3, 0.4], [2.0, 1.0])
    assert {x.kind for x in moving.elements.values()} >= {"MSe", "MSf"}
    assert not moving.nonlinear_paths()


def test_the_nominal_paths_of_the_puma():
    """k1 of (5.37) in S11, and k3 of (5.40) as what the nominal flow f24 does by the variation of q3: p12 and p13 apart."""
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7)
    x, u = np.array([0.3, 0.08, 0.5, 0.1]), np.array([1.0, 2.0])
    nominal = g.bond_variables(x, u)
    s, c, f24 = np.sin(0.5), np.cos(0.5), nominal["f24"]
    p12, p13 = 0.4 * s * f24, 1.7 * c * f24
    made = g.linearized_graph(x, u)
    S = made.junction_structure()
    zero = np.zeros(4), np.zeros(2)
    np.testing.assert_allclose(S.at(*zero, "S11")[0, 1], p12 * c - p13 * s, atol=1e-12)
    moved = np.array([0.0, 0.0, 1.0, 0.0])  # a deviation of q3 alone
    sources = {n: made.bond_variables(moved, zero[1])[n] for n in S.key["u"]}
    row = dict(zip(S.key["u"], S.at(*zero, "S13")[0], strict=True))
    flows = [n for n in sources if n.startswith("f")]  # beside the transformers
    assert set(flows) == {"f16_nominal", "f17_nominal"}
    k3 = sum(row[n] * sources[n] for n in flows)
    np.testing.assert_allclose(k3, -f24 * (p13 * c + p12 * s), rtol=1e-10)


def test_nothing_is_added_where_nobody_listens(rng):
    """The platform is not loaded: bonds 32 and 33 carry its velocity alone, and no effort comes back to be varied."""
    g = es.BondGraph.load("morales_stanford")
    made = g.linearized_graph(rng.uniform(0.2, 0.8, 7), np.ones(4))
    assert {"32", "33"} == {b.name for b in made.bonds.values() if b.signal}
    assert all(made.bonds[b].head == g.bonds[b].head for b in ("32", "33"))


def test_the_puma_at_rest_keeps_what_the_print_lost():
    """(5.41) without 1/c2 and lemma 5.6 without E: here -1/c2 / E11 = -0.8333."""
    g = es.BondGraph.load("morales_puma")
    A = g.linearized_graph(np.zeros(4), np.zeros(2)).linearize(np.zeros(4), np.zeros(2)).A
    np.testing.assert_allclose(A[0], [-2.5, 0, -5 / 6, 0], atol=1e-12)


def test_linear_and_nonlinear_responses_agree_near_the_operating_point():
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7)
    u, du = np.array([2.0, 1.0]), np.array([1e-3, -2e-3])
    rest = g.steady_state(u)
    linear = g.linearized_graph(rest.x, u)
    times = np.linspace(0, 5, 26)
    nonlinear = g.simulate(rest.x, times, u + du, rtol=1e-10, atol=1e-12).x - rest.x
    np.testing.assert_allclose(
        linear.simulate(None, times, du, rtol=1e-10, atol=1e-12).x, nonlinear, atol=2e-6
    )


@pytest.mark.parametrize("g", [TANKS, "double_pendulum", "morales_stanford"], ids=str)
def test_it_is_saved_and_loaded(g, tmp_path, rng):
    g = graph(g)
    made = g.linearized_graph(rng.uniform(0.2, 0.8, g.order), rng.normal(size=len(g.inputs)))
    back = es.BondGraph.load(made.save(tmp_path / "linear.toml"))
    zero = np.zeros(g.order), np.zeros(len(g.inputs))
    np.testing.assert_allclose(
        back.linearize(*zero).A, made.linearize(*zero).A, rtol=1e-12, atol=1e-12
    )


def test_conversion_to_python_control():
    import control

    g = graph("morales_puma")
    x, u = [0.1, 0.2, 0.3, 0.4], [1.0, 2.0]
    linear = g.linearize(x, u)
    system = linear.to_control()
    assert isinstance(system, control.StateSpace)
    assert (system.state_labels, system.input_labels, system.output_labels) == (
        [*g.states],
        [*g.inputs],
        [*g.outputs],
    )
    np.testing.assert_allclose(np.sort_complex(system.poles()), np.sort_complex(linear.poles))
    other = g.linearized_graph(x, u).linearize(np.zeros(4), np.zeros(2)).to_control()
    np.testing.assert_allclose(other(1.5j), system(1.5j), rtol=1e-9)
    bare = es.BondGraph.load("morales_puma").linearize(x, u).to_control()
    assert bare.output_labels == [*g.states]


def test_what_is_refused():
    g = es.BondGraph.load("morales_puma")
    with pytest.raises(es.InputError, match="one state"):
        g.linearized_graph(np.zeros((2, 4)), np.zeros(2))
    with pytest.raises(es.InputError, match="one state"):
        g.linearized_graph(np.zeros(4), np.zeros(2), t=[0.0, 1.0])
    with pytest.raises(es.EslabonError, match="give u"):
        g.linearized_graph(np.zeros(4))
    with pytest.raises(es.ModelError, match="no states"):
        es.BondGraph(
            "static", {"V": "Se", "j": "1", "R": "R: 2"}, ["V -> j -> R"]
        ).linearized_graph([])
