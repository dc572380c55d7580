"""Mobility: the rank is the truth, the counts are explained, and nothing depends on place, turn or size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_mechanisms import (
    Drawn,
    X,
    Y,
    Z,
    legs,
    planar_leg,
    planar_points,
    ring,
    spatial_leg,
    unit,
)
from eslabon import load, robots
from eslabon.errors import AssemblyError
from eslabon.model import Builder
from eslabon.numerics import motion_exp
from eslabon.solve.constraints.closed_configurations import jacobian_at
from eslabon.solve.mobility import degrees_of_freedom, mobility
from eslabon.solve.mobility.closed_branches import surroundings
from eslabon.solve.mobility.joint_screws import joint_screws
from randomness import examples, seeds


def closed_configurations(m):
    around = surroundings(m)
    return [x.screws for x in (around.here, *around.near, *around.walked)]


def facts(m):
    r = mobility(m)
    return r.gruebler, r.herve, r.dof, r.kind


# --- single loops ------------------------------------------------------------------------------------------------


def test_planar_four_bar(rng):
    r = mobility(ring("RRRR", planar_points(4, rng), [Z] * 4))
    assert (r.gruebler, r.planar, r.herve, r.dof, r.redundant) == (-2, 1, 1, 1, 3)
    assert r.kind == "trivial"
    assert r.loops[0].subgroup.symbol == "E"
    assert r.loops[0].joints == ("j1", "j2", "j3", "j4")
    assert "1 loop moves in E" in str(r)


def test_spherical_four_bar_and_one_away_from_the_origin(rng):
    axes = unit(4, rng)
    for centre in (0, 5):
        r = mobility(ring("RRRR", centre + axes, axes))
        assert (r.gruebler, r.herve, r.dof, r.kind) == (-2, 1, 1, "trivial")
        assert r.subgroup.symbol == "S"
        assert np.allclose(r.subgroup.point, centre)


@pytest.mark.parametrize(
    ("letters", "axes", "symbol", "dof"),
    [
        ("RRRPP", [Z, Z, Z, Z, X], "X", 1),  # Schoenflies
        ("PPPP", [X, Y, Z, X + Y + Z], "T3", 1),
        ("PPPP", [X, Y, X + Y, X - 2 * Y], "T2", 2),
        ("RRRP", [Z, Z, Z, X], "E", 1),  # slider crank
        ("HHHH", [Z] * 4, "Y", 1),  # equal pitches
        ("HHRPPR", [Z, Z, Z, X, Y, Z], "X", 2),
        ("ERRR", [Z] * 4, "E", 3),
        ("CCCC", [Z] * 4, "X", 4),
    ],
)
def test_trivial_loops(letters, axes, symbol, dof, rng):
    r = mobility(ring(letters, planar_points(len(letters), rng), axes))
    assert (r.loops[0].subgroup.symbol, r.herve + len(r.passive), r.dof, r.kind) == (
        symbol,
        dof,
        dof,
        "trivial",
    )


@pytest.mark.parametrize(
    ("letters", "dof"),
    [
        ("RRRRRRR", 1),
        ("RCCC", 1),
        ("RSCR", 1),
        ("RUSR", 1),
        ("RSSP", 2),
        ("RRRRRRRR", 2),
        ("SSS", 3),
    ],
)
def test_general_spatial_loops(letters, dof, rng):
    n = len(letters)
    axes = [
        (a, b) if k == "U" else a
        for k, a, b in zip(letters, unit(n, rng), unit(n, rng), strict=True)
    ]
    r = mobility(ring(letters, unit(n, rng) * 2, axes))
    assert (r.gruebler, r.dof, r.subgroup.symbol, r.kind, r.redundant) == (
        dof,
        dof,
        "D",
        "trivial",
        0,
    )


def test_rssr_has_one_useful_freedom_and_a_coupler_that_spins():
    r = mobility(ring("RSSR", [(0, 0, 0), (1, 0, 0), (1, 2, 1), (0, 2, 0)], [Z, Z, Z, X]))
    assert (r.gruebler, r.herve, r.dof, r.useful, r.kind) == (
        2,
        1,
        2,
        1,
        "trivial",
    )  # 6*3 - (5+3+3+5) - 1 = 1
    (spin,) = r.passive
    assert spin.bodies == ("b2",)
    assert spin.motion.symbol == "R"
    assert "1 of the 2 degrees of freedom is the spin of 'b2' about its own axis" in str(r)


def test_spin_of_a_motor_is_not_passive():
    drawn = Drawn().ring("RSSR", [(0, 0, 0), (1, 0, 0), (1, 2, 1), (0, 2, 0)], [Z, Z, Z, X])
    assert mobility(drawn.build("j2")).passive == ()


@pytest.mark.parametrize(
    ("letters", "points", "axes", "count", "symbols"),
    [
        # a spherical joint with its centre on the axis of a cylindrical one
        ("RCSR", [(0, 0, 0), (1, 0, 0), (1, 0, 2), (0, 2, 0)], [X, Z, Z, X + Y], 1, {"R"}),
        # two sliders side by side, and two hinges on one line
        ("RRRPPRR", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0), (0, 2, 1), (0, 1, 0), (0, 3, 3)],
         [X, Y, Z, X + Y, X + Y, Z, X + Z], 1, {"P"}),
        ("RRRRRRRR", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 2, 1), (0, 1, 0), (0, 3, 3), (3, 3, 0)],
         [X, Y, X + Y, Z, Z, Z + X, X + Z, Y], 1, {"R"}),
    ],
)  # fmt: skip
def test_other_passive_links(letters, points, axes, count, symbols):
    r = mobility(ring(letters, points, axes))
    assert len(r.passive) == count
    assert {x.motion.symbol for x in r.passive} == symbols
    assert r.dof == r.useful + count


def test_a_door_on_two_hinges_opens():
    r = mobility(
        Drawn()
        .joint("a", "R", "ground", "door", (0, 0, 0))
        .joint("b", "R", "ground", "door", (0, 0, 1))
        .build()
    )
    assert (r.gruebler, r.herve, r.dof, r.passive, r.kind, r.redundant) == (
        -4,
        1,
        1,
        (),
        "trivial",
        5,
    )


def test_sarrus_is_the_intersection_of_two_planar_groups():
    points = [(1, 0, 0), (2, 0, 1), (1, 0, 2), (0, 1, 2), (0, 2, 1), (0, 1, 0)]
    r = mobility(ring("RRRRRR", points, [Y, Y, Y, X, X, X]))
    assert (r.gruebler, r.herve, r.dof, r.kind) == (0, 0, 1, "exceptional")
    assert "common to both is P along (0, 0, 1)" in str(r)


def test_plane_meets_sphere(rng):
    """Three parallel axes and a spherical joint, and a four-bar with one: both are exceptional."""
    r = mobility(ring("RRRS", planar_points(4, rng), [Z] * 4))
    assert (r.gruebler, r.dof, r.kind) == (0, 1, "exceptional")
    axes = unit(3, rng)
    r = mobility(
        ring("RRRRRR", [*planar_points(3, rng), *np.add(axes, [0, 0, 3])], [Z, Z, Z, *axes])
    )
    assert (r.gruebler, r.dof, r.kind) == (0, 1, "exceptional")


def test_a_chain_with_joints_to_spare_moves_though_its_loop_does_not(rng):
    """Four parallel axes in a loop with two others: the rest stands still around a planar four-bar."""
    r = mobility(
        ring(
            "RRRRRR", [*planar_points(4, rng), (0, 0, 2), (2, 1, 1)], [Z, Z, Z, Z, X, X + 2 * Y + Z]
        )
    )
    assert (r.gruebler, r.dof, r.kind) == (0, 1, "exceptional")


def bennett(a=1.0, alpha=0.6, b=1.7):
    """a / sin(alpha) = b / sin(beta), and tan(theta1/2) tan(theta2/2) = sin((beta+alpha)/2) / sin((beta-alpha)/2)."""
    beta = np.arcsin(b * np.sin(alpha) / a)
    theta = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(0.5))
    after_a, after_b = ((a, 0, 0), (alpha, 0, 0)), ((b, 0, 0), (beta, 0, 0))
    builder = Builder("own_bennett")
    for k, (at, home) in enumerate([(None, 1.0), (after_a, theta), (after_b, -1.0)]):
        builder.body(f"b{k}").joint(
            f"q{k}", "revolute", f"b{k - 1}" if k else "ground", f"b{k}", at, home=home
        )
    return builder.loop(
        "close", "revolute", "b2", "ground", after_a, ((-b, 0, 0), (-beta, 0, 0))
    ).build()


def test_bennett_is_paradoxical_and_its_wrong_brother_does_not_move(rng):
    r = mobility(bennett())
    assert (r.gruebler, r.herve, r.dof, r.kind, r.redundant) == (-2, -2, 1, "paradoxical", 3)
    assert "it moves because of its lengths" in str(r)
    r = mobility(ring("RRRR", unit(4, rng) * 2, unit(4, rng)))  # drawn closed, but with any lengths
    assert (r.dof, r.kind) == (0, "trivial")


# --- several loops -----------------------------------------------------------------------------------------------


def test_planar_3rrr():
    r = mobility(legs("RRR", planar_leg).build())
    assert (r.gruebler, r.planar, r.herve, r.dof, r.kind, len(r.loops)) == (
        -3,
        3,
        3,
        3,
        "trivial",
        2,
    )
    assert r.redundant == 6


def test_6ups_and_6sps():
    def ups(leg, k):
        point, line = spatial_leg(leg, k)
        across = np.cross(line, Z)
        return point, (across, np.cross(across, line)) if k == 0 else line

    r = mobility(legs("UPS", ups, n=6).build())
    assert (r.bodies, len(r.loops), r.gruebler, r.herve, r.dof, r.kind) == (
        13,
        5,
        6,
        6,
        6,
        "trivial",
    )
    r = mobility(legs("SPS", spatial_leg, n=6).build())
    assert (r.gruebler, r.herve, r.dof, r.useful, len(r.passive)) == (12, 6, 12, 6, 6)
    assert r.passive[0].bodies == ("leg0_1", "leg0_2")


def test_tripteron_is_the_intersection_of_three_schoenflies_groups(rng):
    def leg(leg, k):
        axis = np.eye(3)[leg]
        return rng.normal(size=3) + 4 * axis, axis

    r = mobility(legs("PRRR", leg).build())
    assert (r.gruebler, r.dof, r.kind) == (0, 3, "exceptional")
    assert "common to both is T3" in str(r)
    assert r.chains[0].groups == 3


def test_sarrus_with_three_legs():
    def leg(leg, k):
        angle = 2 * np.pi * leg / 3
        out = np.array([np.cos(angle), np.sin(angle), 0])
        return out * (1, 2, 1)[k] + [0, 0, k], np.cross(Z, out)

    r = mobility(legs("RRR", leg).build())
    assert (r.gruebler, r.dof, r.kind) == (-3, 1, "exceptional")


def test_delta_of_rods_has_six_spins():
    drawn = Drawn("delta_rods")
    for leg in range(3):
        angle = 2 * np.pi * leg / 3
        out, side = (
            np.array([np.cos(angle), np.sin(angle), 0]),
            np.array([-np.sin(angle), np.cos(angle), 0]),
        )
        drawn.joint(f"motor{leg}", "R", "ground", f"arm{leg}", out, side)
        for s in (-1, 1):
            elbow, wrist = 2 * out + 0.3 * s * side, 0.5 * out + 0.3 * s * side - 2 * Z
            drawn.joint(f"elbow{leg}{s}", "S", f"arm{leg}", f"rod{leg}{s}", elbow)
            drawn.joint(f"wrist{leg}{s}", "S", f"rod{leg}{s}", "platform", wrist)
    r = mobility(drawn.build())
    assert (r.gruebler, r.herve, r.dof, r.useful, r.kind) == (9, 3, 9, 3, "trivial")
    assert {b for x in r.passive for b in x.bodies} == {
        f"rod{leg}{s}" for leg in range(3) for s in (-1, 1)
    }


def test_loops_of_different_groups_are_counted_each_in_its_own(rng):
    """A planar four-bar whose rocker drives a spherical one: neither group fits both."""
    drawn = Drawn("two_groups").ring("RRRR", planar_points(4, rng), [Z] * 4)
    axes, centre = unit(3, rng), np.array([3, 3, 3])
    bodies = ["b1", "c1", "c2", "ground"]
    drawn.joint("k0", "R", "b1", "c1", centre + axes[0], axes[0])
    for k in (1, 2):
        drawn.joint(f"k{k}", "R", bodies[k], bodies[k + 1], centre + axes[k], axes[k])
    r = mobility(drawn.build())
    assert r.subgroup.symbol == "D"
    assert {x.subgroup.symbol for x in r.loops} >= {"E"}
    separate = Drawn("one_after_another").ring("RRRR", planar_points(4, rng), [Z] * 4)
    points, lines = np.add(planar_points(4, rng), [5, 0, 0]), [Y] * 4
    points = points[:, [0, 2, 1]]
    for k, (a, b) in enumerate([("b2", "c1"), ("c1", "c2"), ("c2", "c3"), ("c3", "b2")]):
        separate.joint(f"k{k}", "R", a, b, points[k], lines[k])
    r = mobility(separate.build())
    assert (r.gruebler, r.herve, r.dof, r.kind) == (-4, -4, 2, "trivial")
    assert [c.dof for c in r.chains] == [1, 1]
    assert "2 loops move in E, so each repeats 3 constraints" in str(r)


def test_the_class_is_that_of_the_worst_part():
    b = load("bennett").description
    builder = Builder("bennett_and_four_bar")
    builder._items["bodies"] = list(b.bodies)
    builder._parameters = dict(b.parameters)
    builder._items["joints"], builder._items["loops"] = list(b.joints), list(b.loops)
    for k, (at, home) in enumerate([((0, 0, 0), 1.0), ((1, 0, 0), -0.8), ((1.2, 0, 0), -0.9)]):
        builder.body(f"f{k}").joint(
            f"f{k}", "revolute", f"f{k - 1}" if k else "link1", f"f{k}", at, home=home
        )
    m = builder.loop("shut", "revolute", "f2", "link1", (1.1, 0, 0), (1.3, 0, 0)).build()
    r = mobility(m)
    assert [c.kind for c in r.chains] == ["paradoxical", "trivial"]
    assert (r.dof, r.kind) == (2, "paradoxical")


def test_what_groups_cannot_tell_they_do_not_tell():
    """A planar double parallelogram: five bars, of which one is too many, moved by its lengths."""
    drawn = Drawn("double_parallelogram")
    for k, x in enumerate((0, 1, 2)):
        drawn.joint(f"foot{k}", "R", "ground", f"crank{k}", (x, 0, 0))
        drawn.joint(f"head{k}", "R", f"crank{k}", "bar", (x + 0.5, 1, 0))
    r = mobility(drawn.build())
    assert (r.planar, r.dof, r.kind) == (0, 1, "undecided")
    assert "not decided by groups" in str(r)


# --- open chains, couplings, odd joints --------------------------------------------------------------------------


def test_open_chains_have_the_freedom_of_their_joints():
    drawn = (
        Drawn().joint("a", "R", "ground", "u", (0, 0, 0)).joint("b", "P", "u", "v", (1, 0, 0), X)
    )
    drawn.joint("c", "S", "v", "w", (1, 1, 0)).joint("d", "F", "ground", "x", (0, 0, 0)).joint(
        "e", "W", "x", "y", (0, 0, 0)
    )
    r = mobility(drawn.build())
    assert (r.gruebler, r.herve, r.dof, r.kind, r.redundant) == (11, 11, 11, "open", 0)
    assert r.order == ("u", "v", "w", "x", "y")
    assert r.loops == r.chains == ()
    assert "open chain with 11 degrees of freedom" in str(r)


def test_a_tree_of_welds_stands():
    r = mobility(
        Drawn()
        .joint("a", "W", "ground", "u", (0, 0, 0))
        .joint("b", "W", "u", "v", (1, 0, 0))
        .build()
    )
    assert (r.gruebler, r.herve, r.dof, r.subgroup.symbol) == (0, 0, 0, "I")


def test_a_welded_loop_and_a_weld_in_a_loop(rng):
    r = mobility(
        Drawn()
        .joint("a", "R", "ground", "u", (0, 0, 0))
        .joint("b", "W", "u", "ground", (1, 0, 0))
        .build()
    )
    assert (r.dof, r.kind) == (0, "trivial")
    r = mobility(ring("RRWRR", planar_points(5, rng), [Z] * 5))
    assert (r.gruebler, r.dof, r.kind) == (-2, 1, "trivial")
    assert (
        mobility(
            ring("RSWSR", [(0, 0, 0), (1, 0, 0), (1, 1, 1), (1, 2, 1), (0, 2, 0)], [Z, Z, Z, Z, X])
        ).useful
        == 1
    )


def test_couplings_take_one_freedom_each():
    drawn = (
        Drawn().joint("a", "R", "ground", "u", (0, 0, 0)).joint("b", "P", "u", "v", (1, 0, 0), X)
    )
    drawn.joint("c", "R", "v", "w", (1, 1, 0))
    drawn.builder.couple("gear", "c", "a", ratio=-2).couple("rack", "b", "a", ratio=0.01)
    r = mobility(drawn.build())
    assert (r.gruebler, r.herve, r.dof, r.redundant, r.couplings) == (1, 1, 1, 0, 2)


def test_a_coupling_that_repeats_a_loop_is_redundant():
    """The cranks of a parallelogram turn alike without gears."""
    drawn = (
        Drawn("geared")
        .joint("a", "R", "ground", "u", (0, 0, 0))
        .joint("b", "R", "ground", "v", (2, 0, 0))
    )
    drawn.joint("c", "R", "u", "w", (0.5, 1, 0)).joint("d", "R", "v", "w", (2.5, 1, 0))
    drawn.builder.couple("gear", "b", "a")
    r = mobility(drawn.build())
    assert (r.planar, r.dof, r.redundant) == (0, 1, 4)


def test_a_coupling_that_stops_a_paradoxical_loop_has_no_infinitesimal_mobility():
    b = Builder("stopped_bennett")
    b._items["bodies"], b._items["joints"] = list(bennett().bodies), list(bennett().joints)
    b._items["loops"] = list(bennett().loops)
    b.body("arm").joint("arm", "revolute", "ground", "arm").couple("one", "arm", "q0").couple(
        "two", "arm", "q0", 2.0, -1.0
    )
    r = mobility(b.build())
    assert (r.dof, r.infinitesimal, r.kind) == (0, 0, "paradoxical")


def test_a_singular_home_does_not_mislead():
    """A parallelogram laid flat can leave its line two ways at once, to first order only."""
    drawn = (
        Drawn("flat").joint("a", "R", "ground", "u", (0, 0, 0)).joint("b", "R", "u", "w", (1, 0, 0))
    )
    drawn.joint("c", "R", "w", "v", (3, 0, 0)).joint("d", "R", "v", "ground", (2, 0, 0))
    r = mobility(drawn.build())
    assert (r.dof, r.instantaneous_dof) == (1, 2)
    assert (
        "At its home configuration it has 1 more, to first order: that configuration is singular."
        in str(r)
    )


def test_what_cannot_be_assembled_is_still_counted():
    b = Builder("too_short")
    for k in range(3):
        b.body(f"b{k}").joint(
            f"q{k}",
            "revolute",
            f"b{k - 1}" if k else "ground",
            f"b{k}",
            (float(k > 0), 0, 0),
            home=0.3,
        )
    m = b.loop("shut", "revolute", "b2", "ground", (1, 0, 0), (9, 0, 0)).build()
    r = mobility(m)
    assert (r.gruebler, r.planar, r.herve, r.dof, r.useful, r.redundant) == (
        -2,
        1,
        1,
        None,
        None,
        None,
    )
    assert "too_short does not close" in r.trouble
    assert "cannot be assembled" in str(r)
    with pytest.raises(AssemblyError, match="does not close"):
        degrees_of_freedom(m)


# --- invariance --------------------------------------------------------------------------------------------------

moves = st.tuples(seeds, st.sampled_from([1e-3, 1.0, 1e3]))


@examples(12)
@given(moves, st.sampled_from(["RRRR", "RRRP", "RRRRR", "RPRRR", "RRRS", "EPRR"]))
def test_planar_loops_stay_what_they_are_when_moved_and_scaled(move, letters):
    seed, scale = move
    rng = np.random.default_rng(seed)
    n = len(letters)
    angles = 2 * np.pi * np.arange(n) / n + rng.uniform(-0.2, 0.2, n)
    points = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(n)])
    slide = np.array([*rng.normal(size=2), 0])
    axes = [slide if letter == "P" else Z for letter in letters]
    still = mobility(ring(letters, points, axes))
    T = motion_exp(rng.normal(size=6) * [1, 1, 1, 5 * scale, 5 * scale, 5 * scale])
    moved = mobility(ring(letters, points, axes, move=T, scale=scale))
    assert (moved.gruebler, moved.planar, moved.herve, moved.dof, moved.kind) == (
        still.gruebler, still.planar, still.herve, still.dof, still.kind,
    )  # fmt: skip
    if still.planar is not None:
        assert abs(np.dot(moved.subgroup.axis, T[:3, 2])) == pytest.approx(1.0)


@examples(6)
@given(moves)
def test_spatial_mechanisms_too(move):
    seed, scale = move
    rng = np.random.default_rng(seed)
    T = motion_exp(rng.normal(size=6) * scale)
    sarrus = [(1, 0, 0), (2, 0, 1), (1, 0, 2), (0, 1, 2), (0, 2, 1), (0, 1, 0)]
    assert facts(ring("RRRRRR", sarrus, [Y, Y, Y, X, X, X], move=T, scale=scale)) == (
        0,
        0,
        1,
        "exceptional",
    )
    rssr = [(0, 0, 0), (1, 0, 0), (1, 2, 1), (0, 2, 0)]
    assert facts(ring("RSSR", rssr, [Z, Z, Z, X], move=T, scale=scale)) == (2, 1, 2, "trivial")
    assert facts(legs("RRR", planar_leg, move=T, scale=scale).build()) == (-3, 3, 3, "trivial")
    assert (
        mobility(ring("HHHH", planar_points(4, rng), [Z] * 4, move=T, scale=scale)).subgroup.symbol
        == "Y"
    )


# --- against the closure Jacobian, and the library ---------------------------------------------------------------


@pytest.mark.parametrize("name", robots())
def test_library(name):
    m = load(name)
    for p in closed_configurations(m):
        s = np.linalg.svd(jacobian_at(m, p.q), compute_uv=False) if m.closed else np.zeros(0)
        assert p.dof == m.nv - np.sum(s > 1e-9)
    r = mobility(m)
    assert r.dof == degrees_of_freedom(m) == r.gruebler + r.redundant
    assert r.kind != "undecided"
    assert r.dof == max(r.dof, *(c.groups for c in r.chains), 0)


@pytest.mark.parametrize(
    ("name", "kind", "dof", "passive"),
    [
        ("planar_3rrr", "trivial", 3, 0), ("five_bar", "trivial", 2, 0), ("spatial_four_bar", "trivial", 1, 0),
        ("rojas_7r_loop", "trivial", 1, 0), ("bennett", "paradoxical", 1, 0), ("bricard", "paradoxical", 1, 0),
        ("sarrus", "exceptional", 1, 0), ("rssr", "trivial", 2, 1), ("delta", "trivial", 3, 0),
        ("stewart_gough", "trivial", 6, 0), ("andrews_squeezer", "trivial", 1, 0), ("puma560", "open", 6, 0),
    ],
)  # fmt: skip
def test_known_mechanisms(name, kind, dof, passive):
    r = mobility(load(name))
    assert (r.kind, r.dof, len(r.passive)) == (kind, dof, passive)


def test_screws_are_those_of_the_bodies():
    """The speeds along the screws of a tree joint give its velocities, so K u = 0 is J v = 0 in other units."""
    m = load("spatial_four_bar")
    p = closed_configurations(m)[-1]
    J = jacobian_at(m, p.q)
    _, s, Vt = np.linalg.svd(J)
    v = Vt[np.sum(s > 1e-9) :][0]
    u = np.concatenate([v[m.velocities[j.name]] / p.speeds[j.name] for j in m.joints])
    tree = p.closing[:, : u.size]
    cut = p.closing[:, u.size :]
    assert np.linalg.norm(
        tree @ u + cut @ np.linalg.lstsq(cut, -tree @ u)[0]
    ) < 1e-9 * np.linalg.norm(u)
    assert joint_screws(m, p.q).dof == p.dof


def test_infinitesimal_mobility_is_told_apart():
    """Three hinges on a line close at that configuration only; a motion of first order is no finite mobility."""
    r = mobility(ring("RRR", [(0, 0, 0), (1, 0, 0), (3, 0, 0)], [Z] * 3))
    assert (r.planar, r.dof, r.infinitesimal, r.kind) == (0, 1, 1, "trivial")
    assert "has infinitesimal mobility" in str(r)


def test_joints_that_never_move_are_taken_away():
    """A screw across two parallel cylindrical joints cannot turn; they slide together all the same."""
    r = mobility(ring("CHC", [(0, 0, 2), (1, -2, -2), (-1, 0, -2)], [Y, Z, Y]))
    assert (r.gruebler, r.dof, r.kind) == (-1, 1, "exceptional")
    assert "j2" in r.chains[0].inactive


@examples(25)
@given(seeds)
def test_groups_never_grant_more_than_the_rank_shows(seed):
    """Loops of any joints on lattice points with few directions, so that groups meet in every way."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 8))
    letters = "".join(draw.choice(list("RRRRRPPHCUSE"), n))
    lines = [X, Y, Z, X + Y, Y - Z]
    axes = [
        (lines[k], lines[(k + 1) % 3]) if c == "U" else lines[k]
        for c, k in zip(letters, draw.integers(0, 3, n), strict=True)
    ]
    r = mobility(ring(letters, draw.integers(-2, 3, size=(n, 3)), axes))
    (chain,) = r.chains
    assert chain.trivial <= chain.groups <= chain.dof
    assert len(r.passive) <= r.dof
    assert r.dof == r.gruebler + r.redundant


def test_a_report_is_a_value():
    one, other = (
        mobility(
            Drawn("same")
            .ring("RSSR", [(0, 0, 0), (1, 0, 0), (1, 2, 1), (0, 2, 0)], [Z, Z, Z, X])
            .build()
        )
        for _ in range(2)
    )
    assert one == other
    assert hash(one) == hash(other)
