"""The mobility at a configuration, and branches of closed configurations that have another one."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest

import eslabon as es
from drawn_mechanisms import Drawn, X, Y, Z, ring
from scaling import scaled, scaled_coordinates

QUARTER = np.pi / 2
SARRUS = [(1, 0, 0), (2, 0, 1), (1, 0, 2), (0, 1, 2), (0, 2, 1), (0, 1, 0)]
# Both pairs of links folded onto one another, their mid hinges out: the platform is on the base.
FOLDED = [QUARTER / 2, -QUARTER, QUARTER / 2, QUARTER / 2, -QUARTER]


def sarrus(scale=1.0):
    return ring("RRRRRR", SARRUS, [Y, Y, Y, X, X, X], scale=scale)


def parallelogram(scale=1.0):
    """Two cranks of length 1, two metres apart, that stand up straight."""
    drawn = Drawn("parallelogram", scale=scale).joint("a", "R", "ground", "u", (0, 0, 0))
    drawn.joint("b", "R", "u", "w", (0, 1, 0)).joint("c", "R", "w", "v", (2, 1, 0))
    return drawn.joint("d", "R", "v", "ground", (2, 0, 0)).build()


def test_a_regular_configuration_has_the_mobility_of_its_branch():
    m = es.load("five_bar")
    r = m.mobility(m.assemble([2.0, 1.0]))
    assert (r.dof, r.instantaneous_dof, r.singular, r.kinematotropic) == (2, 2, False, False)
    assert r.branches == ()
    assert not r.at_home


def test_two_branches_meet_at_the_change_point_of_a_parallelogram():
    """Parallelogram and antiparallelogram; in either the mobility is one, where they meet two."""
    m = parallelogram()
    r = m.mobility([-QUARTER, QUARTER, -QUARTER])
    assert (r.dof, r.instantaneous_dof, r.singular, r.kinematotropic) == (1, 2, True, False)
    assert [(b.dof, b.meets, b.branches) for b in r.branches] == [(1, True, 2)]
    assert "At the given configuration it has 1 more, to first order" in str(r)
    assert "At least 2 branches with 1 degree of freedom meet there." in str(r)
    for q in ([-1.4, 1.4, -1.4], r.branches[0].example):
        assert m.mobility(q).instantaneous_dof == 1


@pytest.mark.parametrize("scale", [1e-155, 1e-7, 1.0, 1e6, 1e155])
def test_a_folded_sarrus_linkage_is_kinematotropic(scale):
    """Folded, either pair of links turns about its two hinges, which coincide, and the platform
    rests; or the platform rises, and the links with it."""
    r = sarrus(scale).mobility(FOLDED)
    assert (r.dof, r.instantaneous_dof, r.kinematotropic) == (1, 3, True)
    assert r.mobilities == (1, 2)
    assert "Branches with 1 and 2 degrees of freedom meet there" in str(r)


def test_the_other_branch_of_a_sarrus_linkage_is_found_and_has_its_own_mobility():
    m = sarrus()
    r = m.mobility()
    (other,) = r.branches
    assert (r.dof, other.dof, other.meets) == (1, 2, False)
    assert r.closed <= r.starts
    assert "another branch has another mobility" in str(r)
    there = m.mobility(other.example)
    assert (there.dof, there.instantaneous_dof, len(there.passive)) == (2, 2, 2)
    assert [b.dof for b in there.branches] == [1]
    # the links turn, and the platform stays where the base is
    assert m.bond("ground", "b3", other.example).dof == 0
    assert m.bond("ground", "b1", other.example).group.symbol == "R"


def wunderlich(a, b, c):
    """Wunderlich's linkage of twelve bars (Ein merkwürdiges Zwölfstabgetriebe, 1954): the edges of a box
    in the plane, of which four each are of one length, hinged at its eight corners."""
    drawn, sides = Drawn("wunderlich"), np.array([a, b, c], dtype=float)
    corners = sorted(product((0, 1), repeat=3), key=lambda v: (v[1] + v[2], v))
    for v in corners:
        bars = ["".join("*" if k == axis else str(x) for k, x in enumerate(v)) for axis in range(3)]
        bars = ["ground" if bar == "*00" else bar for bar in bars]
        bars.sort(key=lambda bar: bar not in drawn.origin)
        for bar in bars[1:]:
            drawn.joint(f"{''.join(map(str, v))} {bar}", "R", bars[0], bar, v @ sides)
    return drawn.build()


def test_wunderlichs_twelve_bars_have_branches_with_one_and_two_degrees_of_freedom():
    """By Gruebler's count one. While all quadrilaterals are parallelograms, bars of one length stay
    parallel, and two angles between three directions are free; crossed ones leave one."""
    r = wunderlich((1, 0, 0), (0.3, 0.8, 0), (-0.5, 0.9, 0)).mobility()
    assert (r.dof, r.instantaneous_dof, r.kinematotropic) == (2, 2, False)
    (other,) = r.branches
    assert (other.dof, other.meets) == (1, False)


def test_the_branches_of_wunderlichs_linkage_meet_where_it_is_flat():
    r = wunderlich((1, 0, 0), (0.7, 0, 0), (0.45, 0, 0)).mobility(np.zeros(11))
    assert (r.instantaneous_dof, r.kinematotropic, r.mobilities) == (6, True, (1, 2))
    assert "Branches with 1 and 2 degrees of freedom meet there" in str(r)


@pytest.mark.parametrize("name", ["bennett", "bricard"])
def test_paradoxical_linkages_move_alike_at_every_configuration(name):
    m = es.load(name)
    found = [m.mobility(x) for x in closed_on_the_way(m)]
    assert {(r.dof, r.instantaneous_dof, r.kind) for r in found} == {(1, 1, "paradoxical")}
    assert all(r.branches == () for r in found)


def closed_on_the_way(m):
    from eslabon.solve.mobility.closed_branches import surroundings

    return [x.q for x in surroundings(m).walked[:3]]


def test_a_search_says_that_it_is_one():
    r = es.load("planar_3rrr").mobility()
    assert r.starts > 0
    assert f"A search from {r.starts} random starts" in str(r)
    assert "no proof" in str(r)
    assert "search" not in str(es.load("elbow").mobility())


def test_an_open_configuration_is_refused():
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    m.mobility(q + 1e-9)
    with pytest.raises(es.AssemblyError, match="mobility: the configuration violates loop closure"):
        m.mobility(q + 1e-3 * np.eye(4)[1])
    with pytest.raises(es.ModelError, match="one configuration"):
        m.mobility([q, q])
    with pytest.raises(es.InputError, match="3 values"):
        m.mobility([0, 0, 0])


def test_a_tree_has_the_mobility_of_its_joints_at_every_configuration():
    r = es.load("puma560").mobility(np.zeros(6))
    assert (r.dof, r.instantaneous_dof, r.branches, r.starts) == (6, 6, (), 0)


def test_structures_have_no_mobility_and_say_so():
    triangle = ring("RRR", [(0, 0, 0), (1, 0, 0), (0.3, 1, 0)], [Z] * 3)
    r = triangle.mobility()
    assert (r.dof, r.instantaneous_dof, r.infinitesimal) == (0, 0, 0)
    assert "0 degrees of freedom" in str(r)
    assert "It is a structure: it does not move." in str(r)
    assert triangle.mobility([0.0, 0.0]).dof == 0


@pytest.mark.parametrize("letters", ["HRRR", "HHHH", "HHHHH"])
def test_loops_of_screws_of_any_size_have_a_mobility_or_a_message(letters):
    """The thread of a cut screw has the pitch times a length in its equations."""
    points = [(0, 0, 0), (1, 0, 0.1), (1.2, 1, 0.3), (0.1, 1.1, 0), (0.5, 0.2, 0.4)]

    def mobility(scale):
        return ring(letters, points[: len(letters)], [Z] * len(letters), scale=scale).mobility()

    expected = mobility(1.0).dof
    for scale in (1e-6, 1e6, 1e150):
        assert mobility(scale).dof == expected
    for scale in (1e155, 1e300):
        try:
            assert mobility(scale).dof == expected
        except es.ModelError as error:
            assert "take another unit of length" in str(error)


# --- size -----------------------------------------------------------------------------------------


def comparable(r):
    """What must not depend on the unit of length."""
    return (
        r.table(), r.sentences(), r.kind, r.dof, r.instantaneous_dof, r.subgroup.symbol,
        [x.subgroup.symbol for x in r.loops], [(x.bodies, x.joints, x.motion.symbol) for x in r.passive],
        [(c.dof, c.trivial, c.groups, c.infinitesimal, c.inactive, c.kind) for c in r.chains],
        [(b.dof, b.meets, b.branches) for b in r.branches],
    )  # fmt: skip


@pytest.mark.parametrize("name", es.robots())
@pytest.mark.parametrize("factor", [1e-7, 1e6])
def test_mobility_does_not_depend_on_size(name, factor, library):
    m = library(name)
    small = scaled(m, factor)
    assert comparable(small.mobility()) == comparable(m.mobility())


@pytest.mark.parametrize("factor", [1e-155, 1e-7, 1e6, 1e155])
@pytest.mark.parametrize(
    "letters", ["RRRR", "RRRP", "RRRRR", "RRRS", "RSSR", "PPPP", "RCSR", "RUSR"]
)
def test_lengths_of_any_size_give_a_number_and_no_warning(letters, factor):
    points = [(0, 0, 0), (1, 0.1, 0), (1.2, 1, 0), (0.5, 1.5, 0), (-0.2, 1, 0)][: len(letters)]
    axes = [
        (X, Y) if letter == "U" else X + Y * k if letter == "P" else Z
        for k, letter in enumerate(letters)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, usual = (ring(letters, points, axes, scale=s).mobility() for s in (factor, 1.0))
    assert comparable(found)[3:-1] == comparable(usual)[3:-1]


def test_a_singular_configuration_is_singular_at_every_size():
    m, q = parallelogram(), [-QUARTER, QUARTER, -QUARTER]
    for factor in (1e-7, 1e-3, 1e6):
        found = scaled(m, factor).mobility(scaled_coordinates(m, np.array(q), factor))
        assert comparable(found) == comparable(m.mobility(q))
