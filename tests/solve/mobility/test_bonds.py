"""The kinematic bond between two bodies, and the groups it lies in."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from drawn_mechanisms import Drawn, X, Y, Z
from scaling import scaled


@pytest.mark.parametrize(
    ("robot", "first", "second", "symbol", "dof"),
    [
        ("five_bar", "ground", "link2", "R", 1),
        ("five_bar", "ground", "link3", "E", 2),
        ("five_bar", "link3", "link4", "R", 1),
        ("parallelogram", "ground", "coupler", "T2", 1),
        ("parallelogram", "crank1", "crank2", "T2", 1),
        ("sarrus", "ground", "platform", "P", 1),
        ("sarrus", "platform", "ground", "P", 1),
        ("delta", "ground", "platform", "T3", 3),
        ("planar_3rrr", "ground", "platform", "E", 3),
        ("stewart_gough", "ground", "platform", "D", 6),
        ("bennett", "ground", "link2", "D", 1),
        ("scara", "ground", "link4", "X", 4),
        ("puma560", "link3", "link6", "S", 3),
        ("spatial_four_bar", "ground", "rocker", "R", 1),
        ("elbow", "link1", "link1", "I", 0),
    ],
)
def test_bonds_of_known_mechanisms(robot, first, second, symbol, dof, library):
    found = library(robot).bond(first, second)
    assert (found.group.symbol, found.dof) == (symbol, dof)
    assert found.dimension == es.structure.SUBGROUPS[symbol][0]
    assert found.is_group == (dof == found.dimension)
    assert len(found.generators) == found.dimension
    assert found.name in str(found)


def test_twists_are_those_of_the_relative_motion(rng):
    """Of a leg of a planar robot: w, and the velocity of the point at the origin, against those of
    the bodies."""
    m = es.load("planar_3rrr")
    home = m.home()[list(m.actuated_velocities)]
    q, v, _ = m.complete(home + 0.05, rng.normal(size=3), np.zeros(3))
    found = m.bond("ground", m.bodies[1].name, q)
    twist = m.velocity(q, v, m.bodies[1].name, axes="spatial")
    left = twist - found.twists @ np.linalg.lstsq(found.twists, twist)[0]
    assert np.linalg.norm(left) < 1e-9 * np.linalg.norm(twist)


def test_the_axis_of_a_bond_is_where_the_mechanism_stands(rng):
    """The second hinge of an arm, from the first link, at two configurations."""
    m = es.load("elbow")
    for q in rng.uniform(-3, 3, size=(3, 2)):
        line = m.bond("link1", "link2", q).group
        assert line.symbol == "R"
        assert np.allclose(line.point, m.pose(q, "link2")[:3, 3])


def test_bonds_of_a_screw_and_of_a_dead_point():
    screw = Drawn().joint("a", "H", "ground", "u", (0, 0, 0), Z, pitch=0.2).build()
    found = screw.bond("ground", "u")
    assert (found.group.symbol, found.group.pitch) == ("H", pytest.approx(0.2))
    assert "screw motion about (0, 0, 1)" in found.generators[0]
    dead = es.load("spatial_four_bar")  # at home the rocker is at its limit
    assert dead.bond("ground", "rocker").twists.shape == (6, 0)


@pytest.mark.parametrize("factor", [1e-7, 1e6])
@pytest.mark.parametrize("name", ["sarrus", "delta", "scara", "rssr", "bennett", "slider_crank"])
def test_bonds_do_not_depend_on_size(name, factor, library):
    m = library(name)
    small = scaled(m, factor)
    for body in m.bodies:
        one, other = m.bond("ground", body.name), small.bond("ground", body.name)
        assert (one.group.symbol, one.dof) == (other.group.symbol, other.dof)
        if one.group.point is not None:
            assert np.allclose(np.divide(other.group.point, factor), one.group.point, atol=1e-7)


def test_unknown_bodies_are_named():
    m = es.load("delta")
    with pytest.raises(
        es.ModelError, match="delta has no body 'plattform'; did you mean 'platform'"
    ):
        m.bond("ground", "plattform")
    with pytest.raises(es.ModelError, match="body is a text"):
        m.bond("ground", 3)


def test_subgroup_is_public_and_takes_the_size_of_the_mechanism():
    turn = np.array([0, 0, 1, 0, 0, 0.0])
    for L in (1e-9, 1.0, 1e9):
        middle = np.array([5 * L, 0, 0])
        hinges = [[0, 0, 1, *np.cross(p, Z)] for p in (middle, middle + L * X, middle + L * Y)]
        found = es.structure.subgroup(np.transpose(hinges), centre=middle, length=L)
        assert found.symbol == "E"
        found = es.structure.subgroup(hinges[0], centre=middle, length=L)
        assert (found.symbol, found.axis) == ("R", (0, 0, 1))
        assert np.allclose(np.divide(found.point, L), [5, 0, 0])
    assert es.structure.subgroup(turn) == es.structure.Subgroup("R", (0, 0, 1), (0, 0, 0))
    assert es.structure.subgroup(np.zeros((6, 0))).symbol == "I"
    for bad in (np.zeros(5), np.zeros((3, 6)), np.zeros((6, 2, 2)), 4.0):
        with pytest.raises(es.InputError, match="twists"):
            es.structure.subgroup(bad)
    with pytest.raises(es.InputError, match="length"):
        es.structure.subgroup(turn, length=0.0)


def test_answers_show_themselves():
    m = es.load("rssr")
    r = m.mobility()
    (spin,) = r.passive
    shown = [r, r.loops[0], r.chains[0], spin, r.subgroup, m.bond("ground", m.bodies[0].name)]
    shown += es.load("sarrus").mobility().branches
    for answer in shown:
        assert str(answer)
        assert "<table" in answer._repr_html_() or "<p" in answer._repr_html_()
        assert list(answer.contents())
    assert "dimension" in subgroup_text(r.subgroup)


def subgroup_text(group):
    from eslabon.answers import block_text

    return "".join(map(block_text, group.contents()))


def test_meetings_of_a_sarrus_linkage_in_words():
    (chain,) = es.load("sarrus").mobility().chains
    assert "common to both is P along (0, 0, 1)" in str(chain.meetings[0])


def test_generators_of_planar_motion_are_at_right_angles_to_its_axis():
    u = (X + 2 * Y + 2 * Z) / 3
    group = es.structure.subgroup(np.column_stack([[*u, 0, 0, 0], [*u, *np.cross(Y, u)]]))
    assert group.symbol == "E"
    directions = [text.split("(")[1].rstrip(")") for text in group.generators]
    turn, one, two = (np.array([float(x) for x in text.split(",")]) for text in directions)
    assert np.allclose(turn, u, atol=1e-3)
    assert abs(one @ u) < 1e-3
    assert abs(two @ u) < 1e-3
    assert abs(one @ two) < 1e-3
