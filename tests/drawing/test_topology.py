"""The drawing is well-formed, whole, legible and always the same."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given

from batches import each
from eslabon import load, robots
from eslabon.drawing.topology_drawing import nodes_of, places, shortened, topology_svg
from eslabon.drawing.topology_layout import GAP, across
from eslabon.drawing.topology_text import topology_text
from eslabon.model import Builder
from randomness import examples, seeded, seeds

SVG = "{http://www.w3.org/2000/svg}"


def branched(seed=3, n=30):
    rng = seeded("branched", seed)
    b, names = Builder(f"tree_{seed}"), ["ground"]
    for k in range(n):
        kind, parent = rng.choice(["revolute", "prismatic", "spherical"]), rng.choice(names[-8:])
        b.body(f"body_{k}").joint(f"joint_{k}", str(kind), str(parent), f"body_{k}")
        names.append(f"body_{k}")
    return b.build()


def hand():
    b = Builder("hand").body("palm").joint("wrist", "universal", "ground", "palm")
    for finger in ("thumb", "index", "ring"):
        last = "palm"
        for part in ("near", "far"):
            b.body(f"{finger}_{part}").joint(
                f"{finger}_{part}_joint", "revolute", last, f"{finger}_{part}"
            )
            last = f"{finger}_{part}"
        b.couple(f"{finger}_tendon", f"{finger}_far_joint", f"{finger}_near_joint", ratio=0.7)
    return b.spring("return", "palm", "ring_far", stiffness=1.0).actuate("wrist").build()


def awkward():
    b = Builder(
        'a "very" <long> & awkward name that nobody would ever give to a mechanism of theirs'
    )
    b.body('<b>&"x"').joint(
        "R&D <joint> with an extremely long and winding name, number 17",
        "revolute",
        "ground",
        '<b>&"x"',
    )
    return b.body("连杆").joint("quote ' ]]>  end", "spherical", '<b>&"x"', "连杆").build()


ALL = [*robots(), branched(), hand(), awkward()]


def mechanism(which):
    return load(which) if isinstance(which, str) else which


@each("which", ALL)
def test_every_name_is_there(which):
    m = mechanism(which)
    root = ElementTree.fromstring(topology_svg(m))
    titles = [t.text for t in root.iter(f"{SVG}title")]
    for item in (*m.bodies, *m.joints, *m.loops, *m.springs, *m.couplings):
        name = item.name.replace("\u0007", "\ufffd")
        assert sum(title.endswith(name) for title in titles) >= 1
    classes = [g.get("class") for g in root.iter(f"{SVG}g")]
    assert classes.count("body") == len(m.bodies)
    assert classes.count("cut") == len(m.loops)
    assert classes.count("actuated") == len(m.actuated)
    assert classes.count("spring") == len(m.springs)
    assert classes.count("coupling") == len(m.couplings)
    assert classes.count("ground") == classes.count("legend") == 1


@each("which", ALL)
def test_nothing_overlaps_and_all_is_on_the_page(which):
    m = mechanism(which)
    nodes = list(nodes_of(m))
    x = places(nodes)
    for (i, a), (j, b) in combinations(enumerate(nodes), 2):
        if a.layer == b.layer:
            assert abs(x[i] - x[j]) >= (a.width + b.width) / 2 + 17.9
    root = ElementTree.fromstring(topology_svg(m))
    width = float(root.get("viewBox").split()[2])
    assert max(x[k] + node.width / 2 for k, node in enumerate(nodes)) < width
    assert min(x[k] - node.width / 2 for k, node in enumerate(nodes)) > -1e-6


def test_lines_join_neighbouring_layers():
    """A joint's label stands between its bodies, or below both where they are level."""
    for which in ALL:
        nodes = list(nodes_of(mechanism(which)))
        for node in nodes:
            if node.sort in ("joint", "actuated", "cut"):
                assert {abs(nodes[k].layer - node.layer) for k in node.on} == {1}


def test_a_tree_is_drawn_without_crossings():
    for seed in range(20):
        nodes = list(nodes_of(branched(seed)))
        x = places(nodes)
        links = [
            ((nodes[k].layer, node.layer), x[k], x[i])
            for i, node in enumerate(nodes)
            for k in node.on
        ]
        for a, b in combinations(links, 2):
            assert not (a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < -1e-6)


@examples(40)
@given(seeds)
def test_layout_keeps_its_distances(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=4)
    ends = np.cumsum([0, *sizes])
    layers = [k for k, size in enumerate(sizes) for _ in range(size)]
    links = [
        (int(rng.integers(ends[k - 1], ends[k])), n)
        for n, k in enumerate(layers)
        if k
        for _ in range(2)
    ]
    widths = list(rng.uniform(20, 90, ends[-1]))
    x = across(widths, layers, links)
    for a, b in combinations(range(len(x)), 2):
        if layers[a] == layers[b]:
            assert abs(x[a] - x[b]) >= (widths[a] + widths[b]) / 2 + GAP - 1e-6


def test_a_platform_stands_under_the_middle_of_its_legs():
    nodes = list(nodes_of(load("stewart_gough")))
    x = dict(zip((n.name for n in nodes), places(nodes), strict=True))
    assert x["platform"] == pytest.approx(x["ground"], abs=1)
    assert x["platform"] == pytest.approx((x["rod1"] + x["rod6"]) / 2, abs=1)
    assert x["rod3"] == pytest.approx(x["cylinder3"], abs=1)


def test_it_is_the_same_on_every_run():
    code = "from eslabon import load; from eslabon.drawing.topology_drawing import topology_svg; import zlib\n"
    code += "from eslabon.solve.mobility import mobility\n"
    code += "print([zlib.crc32((topology_svg(load(n)) + str(mobility(load(n)))).encode()) for n in ('delta', 'sarrus')])"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_long_names_keep_both_ends():
    assert shortened("short") == "short"
    name = shortened("x" * 20 + "middle" + "y" * 20)
    assert len(name) == 26
    assert name.startswith("xx")
    assert name.endswith("yy")


def test_outline():
    assert topology_text(hand()) == "\n".join(
        [
            "ground",
            "└─ U wrist* ── palm",
            "   ├─ R thumb_near_joint ── thumb_near",
            "   │  └─ R thumb_far_joint ── thumb_far",
            "   ├─ R index_near_joint ── index_near",
            "   │  └─ R index_far_joint ── index_far",
            "   └─ R ring_near_joint ── ring_near",
            "      └─ R ring_far_joint ── ring_far",
            "couplings:",
            "  thumb_tendon: thumb_far_joint = 0.7 thumb_near_joint",
            "  index_tendon: index_far_joint = 0.7 index_near_joint",
            "  ring_tendon: ring_far_joint = 0.7 ring_near_joint",
            "springs:",
            "  return: palm ~~ ring_far",
        ]
    )
