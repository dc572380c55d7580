"""Pictures of bond graphs: what is on the page, where it stands, and what is refused."""

import itertools
import re
import xml.etree.ElementTree as ET
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from bond_graph_strategies import built, degenerate_graphs, graphs
from eslabon.show.plots.bond_graph_layout import SHORTEST, lattice, untidiness
from eslabon.show.plots.bond_graph_picture import (
    Line,
    Writing,
    flow_side,
    origin_of,
    picture,
    variables,
    wrapped,
)
from eslabon.show.plots.bond_graph_rendering import picture_svg, svg
from randomness import examples

MOTOR = es.BondGraph(
    "motor",
    {"V": "Se", "loop": "1", "coil": "I: L", "wire": "R: R", "motor": "GY: k", "shaft": "1", "rotor": "I: 0.01",
     "bearing": "R: b", "speed": "Df"},
    ["V -> loop -> coil", "loop -> wire", "loop -> motor -> shaft -> rotor", "shaft -> bearing", "shaft -> speed"],
    {"L": 0.5, "R": 1.0, "k": 0.1, "b": 0.1},
)  # fmt: skip
GRAPHS = [
    "morales_puma",
    "morales_stanford",
    "morales_stanford_gravity",
    "double_pendulum",
    "gravity_platform",
]


@cache
def loaded(name):
    return MOTOR if name == "motor" else es.BondGraph.load(name)


@cache
def drawn(name, preference="integral"):
    return picture(loaded(name), preference)


def items(p, role):
    return [x for x in p.items if x.role == role]


def element_places(g, p):
    """The middle of each element, from what is written; titles are in the order of the elements."""
    return dict(zip(g.elements, [np.array(x.at) for x in items(p, "element")], strict=True))


@pytest.mark.parametrize("name", ["elbow", "four_bar_spring"])
def test_the_bond_graph_of_a_mechanism_is_drawn(name):
    """Fields, multiport transformers and residual sinks; many bonds between few elements."""
    g = es.load(name).bond_graph()
    p = picture(g)
    assert len(items(p, "bond")) == len(g.bonds)
    assert max(p.size) < 4000


def bonds_of(g):
    """The bonds that carry power, in order: those drawn with half arrows."""
    return [
        b for b in g.bonds.values() if not b.signal and g.elements[b.head].kind not in ("De", "Df")
    ]


def crossings(segments):
    def side(p, q, r):
        return np.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return sum(
        side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)
        for (a, b), (c, d) in itertools.combinations(segments, 2)
    )


@pytest.mark.parametrize("name", [*GRAPHS, "motor"])
@pytest.mark.parametrize("preference", ["integral", "derivative"])
def test_half_arrows_and_strokes_stand_at_their_ends(name, preference):
    g, p = loaded(name), drawn(name, preference)
    if g.open_ports():
        assert not items(p, "stroke")
        return
    strokes = g.causality(preference).strokes
    at, bonds = element_places(g, p), bonds_of(g)
    assert (
        len(items(p, "bond"))
        == len(items(p, "half arrow"))
        == len(items(p, "stroke"))
        == len(bonds)
    )
    assert len(items(p, "signal")) == len(g.bonds) - len(bonds)
    for bond, line, barb, stroke in zip(
        bonds, items(p, "bond"), items(p, "half arrow"), items(p, "stroke"), strict=True
    ):
        start, end = np.array(line.points)
        assert (end - start) @ (at[bond.head] - at[bond.tail]) > 0
        assert barb.points[0] == line.points[1]
        middle = np.mean(stroke.points, axis=0)
        np.testing.assert_allclose(
            middle, end if strokes[bond.name] == bond.head else start, atol=1e-9
        )
        across, along = np.subtract(*stroke.points), np.subtract(*line.points)
        assert abs(across @ along) < 1e-6


@pytest.mark.parametrize("degrees", range(0, 360, 15))
def test_barbs_are_on_the_side_of_the_flow(degrees):
    """Below the bond, or to the right of one that is upright."""
    along = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    across = flow_side(along)
    assert abs(across @ along) < 1e-12
    assert across[0] > 0.9 if degrees in (90, 270) else across[1] > 0.1  # y is downwards


def overlap(a, b):
    """How far two writings reach into one another."""
    return min(a.box[2] - b.box[0], b.box[2] - a.box[0], a.box[3] - b.box[1], b.box[3] - a.box[1])


def lengths(p):
    return [float(np.linalg.norm(np.subtract(*x.points))) for x in items(p, "bond")]


def orthogonality(p):
    """The share of bonds that run along the page's edges."""
    return np.mean([np.abs(np.subtract(*x.points)).min() < 1e-6 for x in items(p, "bond")])


# The share of bonds that can lie along the edges; junctions with more than four bonds need oblique ones.
SHARES = {
    "dc_motor": 1.0,
    "decoupled_motor": 1.0,
    "gravity_platform": 0.9,
    "morales_puma": 0.9,
    "hydraulic_cylinder": 0.9,
    "euler_ring": 0.9,
    "morales_stanford": 0.85,
    "double_pendulum": 0.75,
    "pendulum": 0.75,
}


@pytest.mark.parametrize("name", SHARES)
def test_bonds_are_orthogonal_where_they_can_be_and_long_enough(name):
    p = drawn(name)
    assert orthogonality(p) >= SHARES[name]
    assert min(lengths(p)) > SHORTEST - 1e-6


@pytest.mark.parametrize("name", [*GRAPHS, "hydraulic_cylinder"])
def test_writings_do_not_overlap(name):
    p = drawn(name)
    written = [x for x in p.items if isinstance(x, Writing) and x.role in ("element", "value")]
    for a, b in itertools.combinations(written, 2):
        assert overlap(a, b) < 3, (a.text, b.text)
    for x in p.items:
        for px, py in x.points if isinstance(x, Line) else (x.box[:2], x.box[2:]):
            assert 0 <= px <= p.size[0]
            assert 0 <= py <= p.size[1]


@pytest.mark.parametrize("name", [*GRAPHS, "hydraulic_cylinder"])
def test_bonds_do_not_run_over_writings(name):
    p = drawn(name)
    written = [x for x in p.items if isinstance(x, Writing) and x.role in ("element", "value")]
    for line in items(p, "bond"):
        a, b = np.array(line.points)
        points = a + np.linspace(0.02, 0.98, 60)[:, None] * (b - a)
        for x in written:
            left, top, right, bottom = x.box
            inside = (points > [left, top]) & (points < [right, bottom])
            assert not inside.all(axis=1).any(), (line.points, x.text)


@pytest.mark.parametrize(
    "name", ["morales_puma", "gravity_platform", "dc_motor", "double_pendulum"]
)
def test_bonds_of_planar_graphs_do_not_cross(name):
    assert crossings([x.points for x in drawn(name).items if x.role in ("bond", "signal")]) == 0


@pytest.mark.parametrize(
    "name", ["morales_puma", "morales_stanford", "hydraulic_cylinder", "dc_motor"]
)
def test_every_signal_starts_at_its_origin_and_ends_at_what_it_modulates(name):
    """The storage of a state, the junction of a flow or an effort."""
    g, p = loaded(name), drawn(name)
    at = element_places(g, p)
    wanted = {}
    for x in g.elements.values():
        for variable in variables(g, x):
            if origin_of(g, variable) != x.name:
                wanted.setdefault(variable, []).append(x.name)
    expected = [(origin_of(g, v), goal) for v, goals in wanted.items() for goal in goals]
    ways, heads = (
        items(p, "modulation"),
        [x for x in items(p, "head") if x.colour != items(p, "bond")[0].colour],
    )
    assert len(ways) == len(heads) == len(expected)

    boxes, owner = {}, iter(g.elements)
    for x in p.items:
        if isinstance(x, Writing) and x.role in ("element", "value", "name"):
            name = next(owner) if x.role == "element" else name
            low, high = boxes.get(name, (at[name], at[name]))
            boxes[name] = np.minimum(low, x.box[:2]), np.maximum(high, x.box[2:])

    def nearest(point):
        away = {
            name: float(np.linalg.norm(np.maximum(0, np.maximum(low - point, point - high))))
            for name, (low, high) in boxes.items()
        }
        return min(away, key=away.get), min(away.values())

    for (origin, goal), way, head in zip(expected, ways, heads, strict=True):
        for point, name_of in ((way.points[0], origin), (head.points[0], goal)):
            found, distance = nearest(np.array(point))
            assert found == name_of
            assert distance < 12
    assert {x.text for x in items(p, "modulating")} == {*wanted}


def test_laws_are_whole():
    """A law that is too long for a line goes on in the next."""
    g, p = loaded("hydraulic_cylinder"), drawn("hydraulic_cylinder")
    written = re.sub(r"\s", "", "".join(x.text for x in items(p, "value")))
    for x in g.elements.values():
        if x.law is not None:
            assert re.sub(r"\s", "", f"law {x.law}") in written
    assert "…" not in written
    long = "+".join(f"a{k}*sin({k}*q_theta)**2" for k in range(30))
    assert "".join(wrapped(long)) == long
    assert max(map(len, wrapped(long))) < 30


def test_a_layout_is_always_the_same_and_tidy():
    square = ((0, 1), (1, 2), (2, 3), (3, 0))
    cells = lattice(4, square)
    assert untidiness(cells, square) < 4 * 0.6 + 1e-9  # four corners of a square, each bent
    lattice.cache_clear()
    np.testing.assert_array_equal(lattice(4, square), cells)


def test_names_values_and_numbers_are_written():
    p = drawn("motor")
    texts = [x.text for x in p.items if isinstance(x, Writing)]
    for expected in (
        "Se : V",
        "I : coil",
        "L = 0.5",
        "I : rotor",
        "0.01",
        "GY : motor",
        "k = 0.1",
        "1",
        "loop",
        "Df : speed",
    ):
        assert expected in texts
    assert [x.text for x in items(p, "number")] == [*MOTOR.bonds]
    plain = [x.text for x in picture(MOTOR, values=False).items if isinstance(x, Writing)]
    assert "L = 0.5" not in plain
    assert "loop" in plain
    puma = drawn("morales_puma")
    assert {"p13", "p12", "p8", "sin(q3)", "cos(q3)"} <= {x.text for x in items(puma, "value")}
    assert len(items(puma, "modulation")) == 5


def test_a_law_a_field_and_a_multiport_are_written():
    g = es.BondGraph(
        "fields", {"F": "Se", "j": "1", "m": {"kind": "I", "value": [[2, 1], [1, 3]]}, "k": "1", "G": "Se",
                   "spring": {"kind": "C", "law": "q**3"}, "damper": {"kind": "R", "law": lambda f: f**3}},
        ["F -> j -> m", "k -> m", "G -> k", "j -> spring", "k -> damper"],
    )  # fmt: skip
    texts = [x.text for x in picture(g).items if isinstance(x, Writing)]
    assert "[2 1]" in texts
    assert "[1 3]" in texts
    assert "law q**3" in texts
    assert any(text.startswith("law f") for text in texts)


def test_svg_is_well_formed_and_always_the_same():
    g = es.BondGraph("a<b & c", {'V "x"': "Se", "1<0": "1", "R&": "R: 2", "L": "I: 1"},
                     ['V "x" -> 1<0 -> R&', "1<0 -> L"])  # fmt: skip
    text = g._repr_svg_()
    root = ET.fromstring(text)
    found = [x for x in root.iter() if x.get("class") == "bond"]
    assert len(found) == 3
    assert "".join(root.itertext()).count("R&") >= 1
    assert text == svg(g)
    stanford = es.BondGraph.load("morales_stanford")
    assert stanford._repr_svg_() == es.BondGraph.load("morales_stanford")._repr_svg_()


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_files(tmp_path, suffix):
    written = MOTOR.draw(tmp_path / f"motor.{suffix}", paths=[1, 2])
    start = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert written.read_bytes().startswith(start)


def test_paths_are_shown():
    p = picture(MOTOR, paths=[[2, 4, 5, 6], ["1", "3"]])
    bands = items(p, "path")
    assert len(bands) == 6
    assert len({x.colour for x in bands}) == 2
    assert [x.text for x in p.items if isinstance(x, Writing) and x.role == "legend"] == [
        "2 4 5 6",
        "1 3",
    ]
    one = SimpleNamespace(bonds=("2", "4", "4", "2"))
    assert (
        len(items(picture(MOTOR, paths=one), "path"))
        == len(items(picture(MOTOR, paths=[one]), "path"))
        == 2
    )


@pytest.mark.parametrize("paths", [3, "2 4", None, [[2], 4.5], [None]])
def test_what_is_no_path_is_refused(paths):
    with pytest.raises(es.EslabonError, match="sequence"):
        picture(MOTOR, paths=paths)


def test_mistakes_are_refused(tmp_path):
    with pytest.raises(es.EslabonError, match="no bond '99'"):
        picture(MOTOR, paths=[[2, 99]])
    with pytest.raises(es.EslabonError, match=r"\.svg, \.png or \.pdf"):
        MOTOR.draw(tmp_path / "motor.txt")
    with pytest.raises(es.EslabonError, match="preferred causality"):
        MOTOR.draw(tmp_path / "motor.svg", "differential")
    assert not list(tmp_path.iterdir())


def test_graphs_without_causality_are_drawn_without_strokes():
    fighting = es.BondGraph(
        "two", {"a": "Se", "b": "Se", "o": "0", "R": "R: 1"}, ["a -> o", "b -> o", "o -> R"]
    )
    with pytest.raises(es.ModelError, match="no causality"):
        picture(fighting)
    assert 'class="stroke"' not in fighting._repr_svg_()
    assert not items(picture(fighting, None), "stroke")
    assert not items(picture(es.BondGraph.load("rigid_bar")), "stroke")


def test_a_graph_without_bonds_has_no_picture():
    nothing = es.BondGraph("nothing", {}, [])
    assert nothing._repr_svg_() is None
    with pytest.raises(es.ModelError, match="no bonds to draw"):
        picture(nothing)


def test_parallel_bonds_and_separate_graphs_are_seen():
    g = es.BondGraph("loops", {"V": "Se", "a": "1", "b": "0", "C": "C: 1", "I": "Sf", "o": "0", "R": "R: 1"},
                     ["V -> a -> b -> C", "b -> a", "I -> o -> R"])  # fmt: skip
    p = picture(g)
    first, second = items(p, "bond")[1], items(p, "bond")[3]
    assert (
        abs(np.subtract(np.mean(first.points, axis=0), np.mean(second.points, axis=0))).max() > 10
    )
    assert np.isfinite(p.size).all()
    assert max(p.size) < 2000


@examples(8)
@given(graphs() | degenerate_graphs())
def test_random_graphs_are_drawn(drawn):
    g = built(*drawn)
    p = picture(g, None)
    ET.fromstring(picture_svg(p))
    assert len(items(p, "bond")) == len(g.bonds)
    titles = items(p, "element")
    for a, b in itertools.combinations(titles, 2):
        apart = max(
            a.box[0] - b.box[2], b.box[0] - a.box[2], a.box[1] - b.box[3], b.box[1] - a.box[3]
        )
        assert apart > -2
