"""The language: graphs in code and in files, submodels, and a sentence for each mistake."""

import pickle
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from bond_graph_strategies import built, degenerate_graphs, graphs
from eslabon.bond_graph import graph_files
from randomness import examples

RLC = {"V": "Se", "j": "1", "L": "I: 0.1", "R": "R: 2", "C": "C: 1e-3"}
WIRES = ["V -> j -> L", "j -> R", "j -> C"]


def graph(changed=None, bonds=WIRES, **options):
    elements = {**RLC, **(changed or {})}
    return es.BondGraph(
        "rlc", {k: v for k, v in elements.items() if v is not None}, bonds, **options
    )


def test_every_graph_of_the_library_survives_a_file(tmp_path):
    for name in es.BondGraph.library():
        g = es.BondGraph.load(name)
        again = es.BondGraph.load(g.save(tmp_path / f"{name}.toml"))
        assert again == g
        assert again.description == g.description
        assert again.digest == g.digest
        assert hash(again) == hash(g)


def test_all_there_is_survives_a_file(tmp_path):
    inner = es.BondGraph(
        "leg", {"a": "port", "j": "1", "m": {"kind": "I", "value": "m", "state": "h"}, "r": "R: r"}, ["a -> j -> m", "j -> r"],
        {"m": 2.0, "r": 1.0}, note="a leg",
    )  # fmt: skip
    g = es.BondGraph(
        "all",
        {"V": "MSe: sin(t)*k", "j": "0", "leg": {"model": inner, "parameters": {"m": "k**2"}}, "x": {"kind": "C", "law": "k*q**3"},
         "d": {"kind": "R", "law": "tanh(f)", "inverse": "0.5*log((1+e)/(1-e))"}, "o": "1", "M": {"kind": "TF", "value": [["k"], [2.0]]},
         "f1": {"kind": "I", "value": [[2.0, 0.5], [0.5, "k"]]}, "y": "De", "s": "1", "w": "R: 1", "F": "Se"},
        {"b1": "V -> s", "b2": "s -> j", "b3": "j -> leg.a", "b4": "j -> o", "b5": "o -> x", "b6": "o -> d", "b7": "o -> w",
         "b8": {"bond": "j => y", "signal": "effort"}, "b9": "F -> M", "b10": "M -> f1", "b11": "M -> f1"},
        {"k": 3.0}, {"translation": ["x", "d"]}, "two\nlines",
    )  # fmt: skip
    again = es.BondGraph.load(g.save(tmp_path / "all.toml"))
    assert again.description == g.description
    assert again.flat == g.flat


def test_the_file_of_the_guide():
    page = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    text = page[page.index('name = "tank"') :].split("```")[0]
    g = es.BondGraph.from_description(graph_files.read(text))
    np.testing.assert_allclose(g.rates([8.0], [1.0]), [1.0 - 2.0])


def test_files_say_what_is_wrong(tmp_path):
    def refused(text, match):
        (tmp_path / "g.toml").write_text(text)
        with pytest.raises(es.EslabonError, match=match):
            es.BondGraph.load(tmp_path / "g.toml")

    refused(
        'name = "x"\n[elements]\nV = "Se"\n[bonds]\n1 = "V -> j"',
        "g.toml: bond 1 leads to 'j', which is no element",
    )
    refused('name = "x"\nbond = 3', "unknown key 'bond'; did you mean 'bonds'")
    refused("name = ", "not valid TOML")
    refused("x = 1", "needs a name")
    refused('name = "x"\nelements = 3', "elements must be a table")
    refused('name = "x"\n[elements]\nV = 3', "the element 'V' is written as")
    refused(
        'name = "x"\n[elements]\nV = {kind = "Se", vlaue = 3}',
        "unknown key 'vlaue'; did you mean 'value'",
    )
    refused(
        'name = "x"\n[elements]\nV = {model = "rigid_bra"}',
        "'rigid_bra', which is no model here; did you mean 'rigid_bar'",
    )
    refused('name = "x"\n[elements]\nV = "Se: __import__(1)"', "no function '__import__'")
    with pytest.raises(es.ReadError, match="there is no such file"):
        es.BondGraph.load("nowhere.toml")
    with pytest.raises(es.ReadError, match="did you mean 'morales_puma'"):
        es.BondGraph.load("morales_pumas")
    with pytest.raises(es.ReadError, match=r"ends in .toml"):
        es.BondGraph.load("x.yaml")
    with pytest.raises(es.ReadError, match=r"let the name end in .toml"):
        graph().save("x.json")
    with pytest.raises(es.ModelError, match="cannot be traced"):
        graph({"C": {"kind": "C", "law": lambda q: 1 / 0 if q > 1 else q}})


@pytest.mark.parametrize(
    ("changed", "bonds", "match"),
    [
        ({}, [*WIRES, "j -> K"], "bond 5 leads to 'K', which is no element"),
        ({}, [*WIRES, "j -> Cc"], "bond 5 leads to 'Cc', which is no element; did you mean 'C'"),
        ({}, [*WIRES, "j -> j"], "bond 5 leads from 'j' to itself"),
        ({"k": "1"}, [*WIRES, "j -> k"], "the 1-junction 'k' has 1 bond .5.; it joins at least two"),
        ({"k": "0"}, WIRES, "the 0-junction 'k' has 0 bonds .none."),
        ({"T": "TF", "M": "I: 1"}, [*WIRES, "j -> T -> M"], "the transformer 'T' .bonds 5, 6. has no modulus"),
        ({"T": "GY", "M": "I: 1"}, [*WIRES, "j -> T -> M"], "the gyrator 'T' .bonds 5, 6. has no modulus"),
        ({"T": "TF: 2", "M": "I: 1"}, [*WIRES, "j -> T", "j -> T"], "'T' has 2 bonds in and 0 out .5, 6.; its modulus is 1x1"),
        ({"T": "TF: sin(q4)", "M": "I: 1"}, [*WIRES, "j -> T -> M"], "the value of 'T' depends on q4, a variable .*let it be MTF"),
        ({"T": "MTF: sin(q9)", "M": "I: 1"}, [*WIRES, "j -> T -> M"], "uses the unknown name 'q9'"),
        ({"L": "I"}, WIRES, "'L' .I. needs a value"),
        ({"L": "I: -1"}, WIRES, "the inertia 'L' is -1; it must be greater than zero"),
        ({"C": "C: 0"}, WIRES, "the compliance 'C' is zero"),
        ({"L": "I: f3"}, WIRES, "the value of 'L' depends on f3, a variable of the graph; it must be constant"),
        ({"L": "I: nothing"}, WIRES, "the value of 'L' uses the unknown name 'nothing'"),
        ({"L": "J: 1"}, WIRES, "the kind of 'L' is"),
        ({}, ["V -> j", "L -> j", "j -> R", "j -> C"], "bond 2 points away from 'L'; power is counted into I, C and R: write 'j -> L'"),
        ({}, [*WIRES, "j -> R"], "'R' .R. has 2 bonds .3, 5.; it has 1 port"),
        ({}, [*WIRES, "j"], "bond 5 leads from one element to another"),
        ({}, [*WIRES, 3], "bond 5 is a text"),
        ({"y": "De"}, [*WIRES, "j -> y"], "bond 5 leads from 'j' to the detector 'y'; De measures the effort of a 0-junction"),
        ({"y": "Df"}, [*WIRES, "y -> j"], "bond 5 leaves the detector 'y'"),
        ({"k": "0", "c": "C: 1"}, [*WIRES, "j => c"], "active bonds leave junctions"),
        ({"C": {"kind": "C", "law": "q", "value": 2}}, WIRES, "needs a value, .* or a law, and not both"),
        ({"R": {"kind": "R", "law": "e + f"}}, WIRES, "the law of 'R' is a function of its flow f or of its effort e, not of both"),
        ({"C": {"kind": "C", "value": [[1, 2], [3, 4, 5]]}}, WIRES, "a matrix given by its rows"),
        ({"C": {"kind": "C", "value": [[1, 2]]}}, WIRES, "the field 'C' is 1x2; it must be square"),
        ({"L": "I: 1/0"}, WIRES, "divi"),
        ({"a -> b": "I: 1"}, WIRES, "a name without arrows"),
        ({"V": "Se: q4"}, WIRES, "the value of 'V' depends on q4, .* let it be MSe"),
    ],
)  # fmt: skip
def test_mistakes_are_sentences(changed, bonds, match):
    with pytest.raises(es.ModelError, match=match) as error:
        graph(changed, bonds)
    assert str(error.value).count("\n") == 0


def test_mistakes_in_numbers():
    g = graph()
    for x, match in [
        ([1.0], "x has 1 value in its last axis; rlc has 2 states"), (1.0, "x is a single number"), ([1, np.nan], "not finite"),
        ("ab", "text"), ([], "x has 0 values"),
    ]:  # fmt: skip
        with pytest.raises(es.InputError, match=match):
            g.rates(x, [1.0])
    with pytest.raises(es.InputError, match="rlc has the inputs e1; give u"):
        g.rates([1.0, 2.0])
    with pytest.raises(es.InputError, match="u has 2 values in its last axis; rlc has 1 inputs"):
        g.rates([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(es.ModelError, match="there is no parameter 'L'"):
        g.with_parameters(L=3)
    with pytest.raises(es.ModelError, match="no bond variable 'e9'"):
        g.bond_variables([1.0, 2.0], [1.0])["e9"]
    with pytest.raises(AttributeError, match="cannot be changed"):
        g.name = "other"
    with pytest.raises(es.ModelError, match="static has no states"):
        es.BondGraph("static", {"V": "Se", "R": "R: 1"}, ["V -> R"]).simulate(None, 1.0, [1.0])
    with pytest.raises(es.ModelError, match="a block is"):
        g.junction_structure().symbolic("S51")
    with pytest.raises(es.InputError, match="a linear model is that of one state"):
        g.linearize([[1.0, 2.0]], [1.0])


def test_parameters():
    g = graph({"L": "I: L", "C": "C: c"}, parameters={"L": 2.0, "c": "L/4"})
    assert dict(g.parameters) == {"L": 2.0}
    assert g.values["c"] == 0.5
    assert g.with_parameters(L=4.0).values["c"] == 1.0
    with pytest.raises(es.ModelError, match="parameter 'c' is defined as 'L/4'"):
        g.with_parameters(c=1.0)
    with pytest.raises(es.ModelError, match="inertia 'L' is -1"):
        g.with_parameters(L=-1.0)
    with pytest.raises(
        es.ModelError, match="parameter 'q' has the name of the own variable of an element"
    ):
        graph(parameters={"q": 1.0})
    with pytest.raises(es.ModelError, match="parameter 'e1' has the name of a variable of bond 1"):
        graph(parameters={"e1": 1.0})
    with pytest.raises(es.ModelError, match="parameter 'a' is defined by itself"):
        graph(parameters={"a": "b", "b": "a"})
    assert pickle.loads(pickle.dumps(g)) == g


def test_domains_do_not_mix():
    with pytest.raises(
        es.ModelError,
        match=r"bond \d joins '\w' .electrical. and '\w' .rotation.; put a transformer",
    ):
        graph(domains={"electrical": "V L", "rotation": ["C"]})
    with pytest.raises(es.ModelError, match="'L' is put in two domains"):
        graph(domains={"electrical": "V L", "rotation": ["L"]})
    with pytest.raises(es.ModelError, match="a domain is"):
        graph(domains={"electric": "V"})
    heat = {"V": "Se", "j": "1", "R": "R: 1", "T": "TF: 2", "w": "1", "C": "C: 1"}
    with pytest.raises(
        es.ModelError,
        match="'T' joins electrical and thermal; the product of effort and flow of a pseudo bond",
    ):
        es.BondGraph(
            "heat",
            heat,
            ["V -> j -> R", "j -> T -> w -> C"],
            domains={"electrical": ["V"], "thermal": ["C"]},
        )
    wall = es.BondGraph(
        "wall", {"T": "Se", "j": "1", "R": "R: 1", "o": "0", "C": "C: 2"}, ["T -> j -> R", "j -> o -> C"], domains={"thermal": "T"}
    )  # fmt: skip
    np.testing.assert_allclose(wall.rates([1.0], [3.0]), [3.0 - 0.5])


def test_submodels_nest():
    """Two masses on springs, each a submodel, in a submodel: the same equations as one flat graph."""
    leg = es.BondGraph(
        "leg", {"inn": "port", "out": "port", "j": "1", "m": {"kind": "I", "value": "m", "state": "h"}, "o": "0", "k": "C: 1/k"},
        ["inn -> j -> m", "j -> o -> k", "o -> out"], {"m": 1.0, "k": 10.0},
    )  # fmt: skip
    pair = es.BondGraph(
        "pair", {"a": leg, "b": {"model": leg, "parameters": {"m": "2*mass"}}, "inn": "port", "out": "port"},
        ["inn -> a.inn", "a.out -> b.inn", "b.out -> out"], {"mass": 3.0},
    )  # fmt: skip
    g = es.BondGraph(
        "chain",
        {"F": "Se", "p": {"model": pair, "parameters": {"mass": "M"}}, "wall": "R: 2"},
        ["F -> p.inn", "p.out -> wall"],
        {"M": 5.0},
    )
    assert g.states == ("p_a_h", "p_b_h", "q_p_a_4", "q_p_b_4")
    assert g.parameters["p_a_m"] == 1.0
    assert g.values["p_b_m"] == 10.0
    A = g.linearize(np.zeros(4), [0.0]).A
    k, m1, m2 = 10.0, 1.0, 10.0
    np.testing.assert_allclose(
        A,
        [[0, 0, -k, 0], [0, 0, k, -k], [1 / m1, -1 / m2, 0, 0], [0, 1 / m2, 0, -k / 2]],
        atol=1e-12,
    )
    changed = g.with_parameters(p_a_m=7.0, p_a_k=3.0)
    assert changed.values["p_a_m"] == 7.0
    assert changed.values["p_b_k"] == 10.0
    np.testing.assert_allclose(changed.linearize(np.zeros(4), [0.0]).A[:2, 2], [-3, 3])
    with pytest.raises(es.ModelError, match=r"parameter 'p_b_m' is defined as"):
        g.with_parameters(p_b_m=1.0)
    with pytest.raises(es.ModelError, match=r"leg has open ports .inn, out."):
        leg.rates([0.0, 0.0])
    assert repr(leg) == "<BondGraph leg: 5 bonds, 0 inputs, 2 open ports>"
    with pytest.raises(
        es.ModelError,
        match=r"bond 1 and the bond inside the port 'p.inn' point against one another",
    ):
        es.BondGraph(
            "chain", {"F": "Se", "p": leg, "wall": "R: 2"}, ["p.inn -> F", "p.out -> wall"]
        )
    with pytest.raises(es.ModelError, match="the port 'out' of 'p' has 0 bonds in chain"):
        es.BondGraph("chain", {"F": "Se", "p": leg}, ["F -> p.inn"])
    with pytest.raises(es.ModelError, match=r"'p.in', which is no port of 'p'"):
        es.BondGraph(
            "chain",
            {"F": "Se", "p": leg, "w": "R: 1", "v": "R: 1"},
            ["F -> p.inn", "p.out -> w", "p.in -> v"],
        )
    with pytest.raises(es.ModelError, match="the submodel 'p' has no parameter 'n'"):
        es.BondGraph(
            "chain",
            {"F": "Se", "p": {"model": leg, "parameters": {"n": 1}}, "w": "R: 2"},
            ["F -> p.inn", "p.out -> w"],
        )


def test_a_modulus_that_needs_itself():
    g = es.BondGraph(
        "circle", {"F": "Se", "j": "1", "m": "I: 1", "T": "MTF: 1 + f4", "k": "1", "M": "I: 1"}, ["F -> j -> m", "j -> T -> k -> M"]
    )  # fmt: skip
    with pytest.raises(es.ModelError, match=r"circle: f4 is needed to compute itself .f4 -> f4."):
        g.rates([0.0], [1.0])


def test_a_resistor_modulated_by_what_resistors_answer():
    g = es.BondGraph(
        "circle", {"F": "Se", "j": "1", "R": "R: 1 + e5**2", "o": "0", "P": "R: 2", "Q": "R: 3", "m": "I: 1"},
        ["F -> j -> m", "j -> R", "j -> o -> P", "o -> Q"],
    )  # fmt: skip
    with pytest.raises(
        es.ModelError,
        match="circle: e5 modulates an element, but it depends on what resistors answer",
    ):
        g.rates([0.0], [1.0])


def test_parts_lists_say_what_is_wrong():
    make = es.BondGraph.of_mechanical_parts
    for parts, match in [
        ({}, "parts gives each element"), ({"m": "I: 1"}, "the part 'm' is an element and the nodes"),
        ({"m": ("I: 1", "a", "b")}, "the inertia 'm' lies between two velocities"),
        ({"m": ("C: 1", "a", "b", "c")}, "lies between 3 nodes"), ({"m": ("1", "a")}, "junctions follow from the nodes"),
        ({"y": ("De", "a")}, "here it is a Df"), ({"r": ("R: 1", "a", "a")}, "lies between 'a' and itself"), ({"m": ("I: 1", "m")}, "a part and a node"), ({"T": ("TF: 1", "a")}, "joins 1 nodes"),
    ]:  # fmt: skip
        with pytest.raises(es.ModelError, match=match):
            make("x", parts)


@examples(30)
@given(graphs() | degenerate_graphs())
def test_random_graphs_survive_text(written):
    g = built(*written)
    assert graph_files.read(graph_files.text(g.description)) == g.description


def test_units():
    g = es.BondGraph.load("morales_puma")
    assert [g.unit(name) for name in ("e1", "f13", "p24", "q3")] == ["N m", "rad/s", "N m s", "rad"]
    assert graph().unit("e1") == ""
    with pytest.raises(es.ModelError, match="rlc has no variable 'x'"):
        graph().unit("x")


JUNK = [
    None,
    3,
    np.nan,
    "",
    "x",
    b"x",
    [],
    [1],
    [[1]],
    {},
    {"a": 1},
    {1: 2},
    object(),
    lambda: 1,
    np.zeros(3),
    True,
    1j,
    [None],
]


@pytest.mark.parametrize("junk", JUNK, ids=lambda x: type(x).__name__)
def test_nonsense_ends_in_sentences(junk, tmp_path):
    """Whatever is given works or is refused in a sentence."""
    g = graph()
    calls = [
        lambda: es.BondGraph(junk, RLC, WIRES), lambda: es.BondGraph("g", junk, WIRES), lambda: es.BondGraph("g", RLC, junk),
        lambda: graph(parameters=junk), lambda: graph(parameters={"a": junk}), lambda: graph(domains=junk),
        lambda: graph(domains={"electrical": junk}), lambda: graph({"L": junk}), lambda: graph(bonds=[*WIRES, junk]),
        *(lambda key=key: graph({"L": {"kind": "I", "value": 1.0, key: junk}})
          for key in ("kind", "value", "law", "inverse", "state", "domain", "model", "parameters")),
        lambda: es.BondGraph.load(junk), lambda: es.BondGraph.of_mechanical_parts("g", junk),
        lambda: es.BondGraph.of_mechanical_parts("g", {"m": junk}), lambda: es.BondGraph.of_circuit_parts("g", {"m": ("I: 1", "a")}, junk),
        lambda: g.rates(junk, [1.0]), lambda: g.rates([1.0, 2.0], junk), lambda: g.rates([1.0, 2.0], [1.0], junk),
        lambda: g.rates([1.0, 2.0], [1.0], parameters=junk), lambda: g.simulate(junk, 0.1), lambda: g.simulate(None, junk),
        lambda: g.simulate(None, 0.1, junk), lambda: g.steady_state(junk), lambda: g.steady_state([1.0], junk),
        lambda: g.steady_state([1.0], None, junk), lambda: g.inverse_statics(junk), lambda: g.inverse_statics({"q4": junk}),
        lambda: g.linearize([1.0, 2.0], junk), lambda: g.causality(junk), lambda: g.junction_structure().symbolic(junk),
        lambda: g.equations(junk), lambda: g.derivative(junk, [1.0, 2.0], [1.0]), lambda: g.unit(junk),
        lambda: g.bond_variables([1.0, 2.0], [1.0])[junk], lambda: g.simulate(None, 0.1)[junk],
    ]  # fmt: skip
    for call in calls:
        with suppress(es.EslabonError):
            call()
