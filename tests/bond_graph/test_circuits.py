"""Circuits, hydraulics and drives against state equations derived by hand."""

import numpy as np
import pytest

import eslabon as es
from randomness import seeded


def affine_in_state(g, x, u):
    """A, B and what the rates say, to compare with matrices."""
    linear = g.linearize(x, u)
    return linear.A, linear.B, g.rates(x, u)


def test_series_rlc(rng):
    L, R, C = rng.uniform(0.5, 2, 3)
    g = es.BondGraph(
        "rlc", {"V": "Se", "j": "1", "L": "I: L", "R": "R: R", "C": "C: C", "uC": "0", "y": "De"},
        ["V -> j -> L", "j -> R", "j -> uC -> C", "uC -> y"], {"L": L, "R": R, "C": C},
    )  # fmt: skip
    x, u = rng.normal(size=2), rng.normal(size=1)
    A, B, rates = affine_in_state(g, x, u)
    expected = np.array([[-R / L, -1 / C], [1 / L, 0]])
    np.testing.assert_allclose(A, expected, atol=1e-13)
    np.testing.assert_allclose(B, [[1], [0]], atol=1e-13)
    np.testing.assert_allclose(rates, expected @ x + [u[0], 0], atol=1e-12)
    assert g.outputs == ("e6",)
    np.testing.assert_allclose(g.output(x, u), [x[1] / C])
    np.testing.assert_allclose(g.linearize(x, u).C, [[0, 1 / C]])


def test_parallel_capacitors_depend_on_one_another(rng):
    C1, C2, R = rng.uniform(0.5, 2, 3)
    g = es.BondGraph(
        "parallel", {"I": "Sf", "j": "0", "C1": "C: C1", "C2": "C: C2", "R": "R: R"},
        ["I -> j -> C1", "j -> C2", "j -> R"], {"C1": C1, "C2": C2, "R": R},
    )  # fmt: skip
    assert g.order == 1
    assert g.causality().dependent == ("q3",)
    E = g.junction_structure().fields([0.3], [1.0])["E"]
    np.testing.assert_allclose(E, [[1 + C2 / C1]])
    # The total charge follows (C1 + C2) v' = i - v / R.
    np.testing.assert_allclose(g.rates([0.3], [1.0]), C1 * (1.0 - 0.3 / C1 / R) / (C1 + C2))
    bonds = g.bond_variables([0.3], [1.0])
    np.testing.assert_allclose(bonds["f2"] + bonds["f3"] + bonds["f4"], 1.0)


def test_motor_with_gear_on_a_stiff_shaft(rng):
    """A gyrator, a transformer, and a rotor and a load that depend on one another."""
    L, R, k, J, n, JL, b = rng.uniform(0.5, 2, 7)
    g = es.BondGraph(
        "drive",
        {"V": "Se", "loop": "1", "L": "I: L", "R": "R: R", "k": "GY: k", "motor": "1", "J": "I: J", "gear": "TF: n", "shaft": "1",
         "JL": "I: JL", "b": "R: b"},
        ["V -> loop -> L", "loop -> R", "loop -> k -> motor -> J", "motor -> gear -> shaft -> JL", "shaft -> b"],
        {"L": L, "R": R, "k": k, "J": J, "n": n, "JL": JL, "b": b},
        {"electrical": "V L R", "rotation": "J JL b"},
    )  # fmt: skip
    total = J + n**2 * JL
    A, B, _ = affine_in_state(g, [0.0, 0.0], [0.0])
    np.testing.assert_allclose(
        A, [[-R / L, -k / J], [J / total * k / L, -J / total * n**2 * b / J]], atol=1e-13
    )
    np.testing.assert_allclose(B, [[1], [0]], atol=1e-13)


def test_two_tanks(rng):
    A1, A2, R1, R2 = rng.uniform(0.5, 2, 4)
    g = es.BondGraph.of_circuit_parts(
        "tanks",
        {"pump": ("Sf", "p1"), "tank1": ("C: A1", "p1"), "valve": ("R: R1", "p1", "p2"), "tank2": ("C: A2", "p2"),
         "outlet": ("R: R2", "p2")},
        parameters={"A1": A1, "A2": A2, "R1": R1, "R2": R2}, domains={"hydraulic": ["pump"]},
    )  # fmt: skip
    A, B, _ = affine_in_state(g, [0.0, 0.0], [0.0])
    np.testing.assert_allclose(
        A, [[-1 / R1 / A1, 1 / R1 / A2], [1 / R1 / A1, -(1 / R1 + 1 / R2) / A2]], atol=1e-13
    )
    np.testing.assert_allclose(B, [[1], [0]], atol=1e-13)
    assert set(g.domains.values()) == {"hydraulic"}
    assert set(g.domains) == set(g.bonds)


def test_resistors_alone_form_an_algebraic_loop(rng):
    """A ladder whose middle node no storage settles: R1 in series with R2 parallel to R3 in series with a coil."""
    L, R1, R2 = rng.uniform(0.5, 2, 3)
    g = es.BondGraph.of_circuit_parts(
        "ladder", {"V": ("Se", "a"), "R1": ("R: R1", "a", "b"), "R2": ("R: R2", "b", "c"), "L": ("I: L", "c"),
                   "Rp": ("R: 3", "b")},
        parameters={"L": L, "R1": R1, "R2": R2},
    )  # fmt: skip
    v, p = 1.3, 0.4
    i = p / L
    b = (v / R1 - i) / (1 / R1 + 1 / 3)  # the potential of the middle node
    np.testing.assert_allclose(g.rates([p], [v]), [b - R2 * i], rtol=1e-12)
    S = g.junction_structure()
    assert abs(S.at([p], [v], "S22")).max() > 0
    M = S.fields([p], [v])
    np.testing.assert_allclose(
        M["M"], np.linalg.solve(np.eye(3) - M["L"] @ S.at([p], [v], "S22"), M["L"])
    )


def test_a_nonlinear_algebraic_loop_is_solved():
    """A source over a linear resistor and one with e = f + f^3 in series has one current, and no storage sets it."""
    g = es.BondGraph(
        "cubic", {"V": "Se", "s": "1", "R": "R: 2", "N": {"kind": "R", "law": "f + f**3"}, "m": "0", "P": "R: 5", "t": "1",
                  "C": "C: 1", "Q": "R: 1"},
        ["V -> s -> R", "s -> m -> N", "m -> P", "m -> t -> Q", "t -> C"],
    )  # fmt: skip
    q = np.linspace(-2, 2, 9)[:, None]
    v = np.array([3.0])
    bonds = g.bond_variables(q, v)
    e = {name: bonds[f"e{name}"] for name in g.bonds}
    f = {name: bonds[f"f{name}"] for name in g.bonds}
    np.testing.assert_allclose(e["4"], f["4"] + f["4"] ** 3, atol=1e-9)
    np.testing.assert_allclose(e["2"], 2 * f["2"], atol=1e-9)
    np.testing.assert_allclose(f["3"], f["4"] + f["5"] + f["6"], atol=1e-9)
    np.testing.assert_allclose(g.rates(q, v)[:, 0], f["8"], atol=1e-12)


def test_laws_as_text_and_as_functions_agree(rng):
    parts = ["F -> j -> m", "j -> k", "j -> b"]
    text = {
        "k": {"kind": "C", "law": "3*q + q**3"},
        "b": {"kind": "R", "law": "0.5*f + 0.2*tanh(f/0.1)"},
    }
    code = {
        "k": {"kind": "C", "law": lambda q: 3 * q + q**3},
        "b": {"kind": "R", "law": lambda f: 0.5 * f + 0.2 * np.tanh(f / 0.1)},
    }
    both = [
        es.BondGraph("duffing", {"F": "Se", "j": "1", "m": "I: 2", **laws}, parts)
        for laws in (text, code)
    ]
    x, u = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    v = x[:, 0] / 2
    expected = np.stack(
        [u[:, 0] - 3 * x[:, 1] - x[:, 1] ** 3 - 0.5 * v - 0.2 * np.tanh(v / 0.1), v], axis=-1
    )
    for g in both:
        np.testing.assert_allclose(g.rates(x, u), expected, rtol=1e-12)
    np.testing.assert_allclose(
        both[0].energy(x, u), x[:, 0] ** 2 / 4 + 1.5 * x[:, 1] ** 2 + x[:, 1] ** 4 / 4, rtol=1e-12
    )


def test_a_law_with_an_inverse_may_depend():
    """Two cubic springs at one force: the second follows the first by the inverse of its law."""
    law = {"kind": "C", "law": "8*q**3", "inverse": "sign(e)*(abs(e)/8)**(1/3)"}
    g = es.BondGraph(
        "springs", {"v": "Sf", "j": "0", "a": "C: 0.5", "b": law}, ["v -> j -> a", "j -> b"]
    )
    assert g.causality().dependent == ("q3",)
    q, v = 0.7, 0.3
    e = q / 0.5
    compliance = (1 / 8) ** (1 / 3) / 3 * e ** (-2 / 3)
    np.testing.assert_allclose(g.rates([q], [v]), [v / (1 + compliance / 0.5)], rtol=1e-12)
    law = {"kind": "C", "law": "8*q**3 + q"}
    g = es.BondGraph(
        "springs", {"v": "Sf", "j": "0", "a": "C: 0.5", "b": law}, ["v -> j -> a", "j -> b"]
    )
    assert g.states == ("q3",)  # which cannot depend, so that the linear one does
    two = es.BondGraph(
        "springs", {"v": "Sf", "j": "0", "a": law, "b": law}, ["v -> j -> a", "j -> b"]
    )
    with pytest.raises(
        es.ModelError,
        match="bonds 2 and 3 both impose the effort of the 0-junction 'j'; it is asked for by 'a'",
    ):
        two.rates([0.0], [0.0])


def test_a_field_of_coupled_coils(rng):
    """p = L i with mutual inductance, in integral and in derivative causality."""
    L = np.array([[2.0, 0.5], [0.5, 1.0]])
    g = es.BondGraph(
        "coils", {"V": "Se", "a": "1", "b": "1", "L": {"kind": "I", "value": L}, "R1": "R: 3", "R2": "R: 4"},
        ["V -> a", "a -> L", "b -> L", "a -> R1", "b -> R2"],
    )  # fmt: skip
    x, u = rng.normal(size=2), np.array([1.5])
    np.testing.assert_allclose(
        g.rates(x, u), [1.5, 0] - np.diag([3, 4]) @ np.linalg.solve(L, x), rtol=1e-12
    )
    np.testing.assert_allclose(g.energy(x, u), x @ np.linalg.solve(L, x) / 2)
    driven = es.BondGraph(
        "rigid", {"F": "Se", "j": "1", "m": "I: 3", "a": "TF: 2", "b": "TF: -1", "u": "1", "v": "1",
                  "M": {"kind": "I", "value": L}},
        ["F -> j -> m", "j -> a -> u -> M", "j -> b -> v -> M"],
    )  # fmt: skip
    T = np.array([2.0, -1.0])
    assert len(driven.causality().dependent) == 2
    np.testing.assert_allclose(driven.rates([0.6], [1.0]), 3 / (3 + T @ L @ T), rtol=1e-12)


def test_a_field_with_both_causalities():
    """Coupled coils, one on a source of voltage and one on a source of current: p1' = V, whatever the other carries."""
    L = np.array([[2.0, 0.5], [0.5, 1.0]])
    coils = {"kind": "I", "value": L, "state": ["a", "b"]}
    g = es.BondGraph(
        "coils", {"V": "Se", "j": "1", "L": coils, "R": "R: 3", "I": "MSf: sin(t)"}, ["V -> j -> L", "I -> L", "j -> R"]
    )  # fmt: skip
    assert g.states == ("a",)
    assert g.causality().dependent == ("b",)
    x, V, t = 0.7, 1.5, 0.4
    i1 = (x - 0.5 * np.sin(t)) / 2
    np.testing.assert_allclose(g.rates([x], [V], t), [V - 3 * i1], rtol=1e-12)
    bonds = g.bond_variables([x], [V], t)
    i1_rate = (V - 3 * i1 - 0.5 * np.cos(t)) / 2
    np.testing.assert_allclose(
        [bonds["f2"], bonds["e3"]], [i1, 0.5 * i1_rate + np.cos(t)], rtol=1e-12
    )
    np.testing.assert_allclose(
        g.energy([x], [V], t), np.array([i1, np.sin(t)]) @ L @ [i1, np.sin(t)] / 2, rtol=1e-12
    )


@pytest.mark.parametrize("order", [("v -> M", "j -> M"), ("j -> M", "v -> M")])
def test_a_field_whose_ports_depend_on_one_another(order):
    """A body with products of inertia on one axle: the second port turns n times as fast as the first."""
    M, n = np.array([[2.0, 0.5], [0.5, 1.0]]), 1.7
    g = es.BondGraph(
        "body", {"F": "Se", "j": "1", "T": f"TF: {n}", "v": "1", "M": {"kind": "I", "value": M}, "r": "R: 0.3", "w": "R: 0.2"},
        ["F -> j -> T -> v", *order, "j -> r", "v -> w"],
    )  # fmt: skip
    assert g.order == 1
    speeds = np.array([1.0, n]) if order[0].startswith("j") else np.array([n, 1.0])
    total = speeds @ M @ speeds
    friction = 0.3 + n**2 * 0.2
    f = 0.8  # of j
    x = (M @ speeds)[0] * f
    state_rate = (M @ speeds)[0] / total
    np.testing.assert_allclose(g.rates([x], [1.0]), [state_rate * (1.0 - friction * f)], rtol=1e-12)
    np.testing.assert_allclose(g.energy([x], [1.0]), total * f**2 / 2, rtol=1e-12)
    variables = g.bond_variables([x], [1.0])
    np.testing.assert_allclose(variables["f2"], f, rtol=1e-12)
    with pytest.raises(es.ModelError, match="the ports of the field 'M' have both causalities"):
        g.junction_structure().fields([x], [1.0])


def test_a_resistive_field_with_both_causalities():
    R = np.array([[2.0, 0.5], [-0.3, 1.5]])
    g = es.BondGraph(
        "field", {"I": "Sf", "j": "1", "R": {"kind": "R", "value": R}, "o": "0", "C": "C: 2", "L": "I: 1"},
        ["I -> o -> C", "o -> R", "j -> L", "j -> R"],
    )  # fmt: skip
    q, p = 0.6, 0.4
    e1, f2 = q / 2, p
    f1 = (e1 - R[0, 1] * f2) / R[0, 0]
    e2 = R[1, 0] * f1 + R[1, 1] * f2
    np.testing.assert_allclose(g.rates([p, q], [1.0]), [-e2, 1.0 - f1], rtol=1e-12)


def test_a_multiport_transformer():
    """f_out = M f_in and e_in = M^T e_out, whichever side the efforts come from."""
    M = [[1.0, 0.5], ["a", 2.0]]
    g = es.BondGraph(
        "plane", {"Fx": "Se", "Fy": "Se", "x": "1", "y": "1", "M": {"kind": "TF", "value": M}, "u": "1", "v": "1", "mu": "I: 2",
                  "mv": "I: 3"},
        ["Fx -> x", "Fy -> y", "x -> M", "y -> M", "M -> u -> mu", "M -> v -> mv"], {"a": 0.3},
    )  # fmt: skip
    numbers = np.array([[1.0, 0.5], [0.3, 2.0]])
    F = np.array([1.0, -2.0])
    np.testing.assert_allclose(g.rates([0.0, 0.0], F), np.linalg.solve(numbers.T, F), rtol=1e-12)
    bonds = g.bond_variables([0.4, -0.1], F)
    f_in, f_out = np.array([bonds["f3"], bonds["f4"]]), np.array([bonds["f5"], bonds["f7"]])
    np.testing.assert_allclose(f_out, numbers @ f_in, rtol=1e-12)


def test_modulation_by_time_and_by_flows():
    g = es.BondGraph(
        "timed", {"S": "MSe: sin(w*t) - k*f2**3", "j": "1", "m": "I: 2", "R": "R: 1 + q4**2", "C": "C: 1"},
        ["S -> j -> m", "j -> R", "j -> C"], {"w": 3.0, "k": 0.1},
    )  # fmt: skip
    p, q, t = 0.8, -0.3, 0.7
    v = p / 2
    np.testing.assert_allclose(
        g.rates([p, q], t=t), [np.sin(3 * t) - 0.1 * v**3 - (1 + q**2) * v - q, v], rtol=1e-12
    )
    assert g.inputs == ()


def test_a_storage_on_a_source_that_varies():
    """A capacitor across a source draws C dv/dt, which is known where the source is a function of the time."""
    g = es.BondGraph(
        "across", {"V": "MSe: sin(2*t)", "j": "0", "C": "C: 3", "s": "1", "L": "I: 1", "R": "R: 1"},
        ["V -> j -> C", "j -> s -> L", "s -> R"],
    )  # fmt: skip
    t = 0.4
    bonds = g.bond_variables([0.2], t=t)
    np.testing.assert_allclose(bonds["f2"], 3 * 2 * np.cos(2 * t), rtol=1e-12)
    np.testing.assert_allclose(bonds["f1"], 3 * 2 * np.cos(2 * t) + 0.2, rtol=1e-12)


def test_an_input_whose_rate_would_be_needed_is_refused():
    g = es.BondGraph(
        "rate", {"v": "Sf", "a": "0", "b": "1", "m": "I: 1", "n": "I: 1", "k": "C: 1", "j": "1"},
        ["v -> a", "b -> m", "b -> a", "a -> j -> n", "b -> k"],
    )  # fmt: skip
    with pytest.raises(es.ModelError, match="the input 'v' sets p5 directly"):
        g.rates(np.zeros(g.order), [1.0])


def test_x_dot_is_affine_in_the_inputs(rng):
    g = es.BondGraph.load("morales_stanford")
    x, u = rng.normal(size=(4, 7)), rng.normal(size=(4, 4))
    f, gain = g.affine(x)
    np.testing.assert_allclose(f + np.einsum("kij,kj->ki", gain, u), g.rates(x, u), rtol=1e-10)


def test_parameters_are_inputs_of_the_native_code(rng):
    g = es.BondGraph.load("morales_puma")
    x, u = rng.normal(size=4), rng.normal(size=2)
    ix = np.array([0.5, 1.5, 2.5])
    made = g.rates(x, u, parameters={"ix": ix})
    np.testing.assert_allclose(
        made, [g.with_parameters(ix=float(v)).rates(x, u) for v in ix], rtol=1e-12
    )


@pytest.mark.parametrize("reference", ["ground", "a"])
def test_the_reference_may_be_any_node(reference):
    """Which node is called zero changes no current."""
    parts = {
        "V": ("Se", "a", "ground"),
        "R": ("R: 2", "a", "b"),
        "L": ("I: 3", "b", "c"),
        "C": ("C: 0.5", "c", "ground"),
    }
    g = es.BondGraph.of_circuit_parts("loop", parts, reference)
    A = g.linearize([0.0, 0.0], [0.0])
    np.testing.assert_allclose(A.A, [[-2 / 3, -2], [1 / 3, 0]], atol=1e-13)
    np.testing.assert_allclose(abs(A.B), [[1], [0]], atol=1e-13)


def test_mechanical_parts(rng):
    m1, m2, k, b, n = rng.uniform(0.5, 2, 5)
    parts = {"F": ("Se", "v1"), "m1": ("I: m1", "v1"), "k": ("C: 1/k", "v1", "v2"), "b": ("R: b", "v1", "v2"), "m2": ("I: m2", "v2"),
             "lever": ("TF: n", "v2", "v3"), "wall": ("R: 1", "v3"), "y": ("Df", "v2")}  # fmt: skip
    g = es.BondGraph.of_mechanical_parts(
        "masses", parts, parameters={"m1": m1, "m2": m2, "k": k, "b": b, "n": n}
    )
    A = g.linearize(np.zeros(3), [0.0])
    expected = [[-b / m1, b / m2, -k], [b / m1, -(b + n**2) / m2, k], [1 / m1, -1 / m2, 0]]
    np.testing.assert_allclose(A.A, expected, atol=1e-13)
    np.testing.assert_allclose(A.C, [[0, 1 / m2, 0]], atol=1e-13)


def test_a_transformer_between_differences_of_potentials():
    """Four nodes: the secondary side floats on a resistor."""
    parts = {
        "V": ("Se", "a"),
        "T": ("TF: 0.5", "a", "ground", "b", "c"),
        "L": ("I: 2", "b", "c"),
        "R": ("R: 1", "c"),
    }
    g = es.BondGraph.of_circuit_parts("transformer", parts)
    np.testing.assert_allclose(g.rates([0.3], [1.0]), [1.0 / 0.5], rtol=1e-12)


def test_random_networks_of_masses_equal_their_matrices():
    """M v' + B v + K q = F with graph Laplacians, whatever the order of the parts."""
    for seed in range(5):
        rng = seeded(seed)
        n = int(rng.integers(2, 5))
        mass, parts = rng.uniform(0.5, 2, n), {}
        for k in range(n):
            parts[f"m{k}"] = (f"I: {mass[k]}", f"v{k}")
        B, ends, stiffness = np.zeros((n, n)), [], []
        for k in range(n + 1):
            a, b = (
                (k, k + 1) if k < n - 1 else rng.choice(n, 2, replace=False) if k < n else (0, None)
            )
            d = np.eye(n)[a] - (np.eye(n)[b] if b is not None else 0)
            nodes = (f"v{a}", f"v{b}") if b is not None else (f"v{a}",)
            c, r = rng.uniform(0.5, 2, 2)
            parts[f"k{k}"], parts[f"b{k}"] = (f"C: {1 / c}", *nodes), (f"R: {r}", *nodes)
            B += r * np.outer(d, d)
            ends.append(d)
            stiffness.append(c)
        names = [*parts]
        order = [names[i] for i in rng.permutation(len(names))]
        g = es.BondGraph.of_mechanical_parts("network", {name: parts[name] for name in order})
        D, k = np.array(ends), np.array(stiffness)
        masses = [int(name[1:]) for name in order if name[0] == "m"]
        springs = [int(name[1:]) for name in order if name[0] == "k"]
        A = np.block(
            [
                [-B @ np.diag(1 / mass), -D.T @ np.diag(k)],
                [D @ np.diag(1 / mass), np.zeros((n + 1, n + 1))],
            ]
        )
        places = [*masses, *(n + i for i in springs)]
        np.testing.assert_allclose(
            g.linearize(np.zeros(2 * n + 1)).A, A[np.ix_(places, places)], atol=1e-12
        )


def test_random_resistor_networks_equal_nodal_analysis():
    """Algebraic loops through many resistors: the current of a source into a network."""
    for seed in range(5):
        rng = seeded(seed)
        n = 4
        parts, G = {"V": ("Se", "n0"), "L": ("I: 1", "n3")}, np.zeros((n, n))
        for k, (a, b) in enumerate([(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (1, None), (2, None)]):
            r = rng.uniform(0.5, 2)
            d = np.eye(n)[a] - (np.eye(n)[b] if b is not None else 0)
            G += np.outer(d, d) / r
            parts[f"R{k}"] = (f"R: {r}", f"n{a}", *([f"n{b}"] if b is not None else []))
        g = es.BondGraph.of_circuit_parts("network", parts)
        v, i = rng.normal(size=2)
        inner = np.linalg.solve(G[1:, 1:], -G[1:, 0] * v - np.array([0, 0, i]))
        np.testing.assert_allclose(g.rates([i], [v]), [inner[2]], rtol=1e-9)


def test_derivatives(rng):
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4)
    x, u, h = rng.normal(size=4), rng.normal(size=2), 1e-6
    up, down = (g.with_parameters(ix=0.4 + s * h).rates(x, u) for s in (1, -1))
    np.testing.assert_allclose(
        g.derivative("ix", x, u), (up - down) / (2 * h), rtol=1e-6, atol=1e-8
    )
    linear = g.linearize(x, u)
    np.testing.assert_allclose(g.derivative("x", x, u), linear.A, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(g.derivative("u", x, u), linear.B, rtol=1e-12, atol=1e-13)
    assert g.derivative("x", rng.normal(size=(3, 4)), u).shape == (3, 4, 4)
    with pytest.raises(es.ModelError, match="does not depend on 'w'"):
        g.derivative("w", x, u)
