"""The characteristic length: a size that lengths are compared with, wherever a mechanism stands."""

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from cases import MOBILITY
from eslabon.compiler.evaluate import evaluate
from eslabon.model.configuration import integrate
from eslabon.model.scale import characteristic_length, row_scales, row_units, velocity_scales
from eslabon.solve.designs import LENGTH
from scaling import scaled, scaled_coordinates, velocity_factors


def arm(base=(0.0, 0.0, 0.0), first=1.0, mass=1.0) -> es.Mechanism:
    """A 2R arm with links of 1 m and a tip."""
    b = es.Builder("arm")
    b.body("upper", mass=mass, com=(first / 2, 0, 0)).body("lower", mass=mass, com=(0.5, 0, 0))
    b.joint("A", "revolute", "ground", "upper", at=base)
    b.joint("B", "revolute", "upper", "lower", at=(first, 0, 0))
    return b.frame("tip", "lower", at=(1.0, 0, 0)).build()


def test_a_serial_condition_number_does_not_depend_on_where_the_base_stands():
    here, there = (arm(base).conditions([0.3, 0.9]) for base in ((0, 0, 0), (1000.0, 0, 0)))
    assert there.serial == pytest.approx(here.serial, rel=1e-9)
    assert here.serial > 0.2


@pytest.mark.parametrize("name", MOBILITY)
def test_the_length_of_a_mechanism_is_the_same_a_kilometre_away_and_scales_with_its_lengths(
    name, library
):
    m = library(name)
    d = m.description
    there = {"joints": [], "loops": []}
    for j in d.joints:
        there["joints"].append(replace(j, at=_moved(j.at)) if j.parent == "ground" else j)
    for loop in d.loops:
        ends = {
            side: replace(end, at=_moved(end.at)) if end.body == "ground" else end
            for side, end in (("first", loop.first), ("second", loop.second))
        }
        there["loops"].append(replace(loop, **ends))
    moved = es.Mechanism(replace(d, **{key: tuple(x) for key, x in there.items()}))
    own = characteristic_length(m)
    assert characteristic_length(moved) == pytest.approx(own, rel=1e-12)
    for factor in (2.0**-20, 2.0**17):
        assert characteristic_length(scaled(m, factor)) == factor * own
    heavy = replace(d, bodies=tuple(replace(b, mass=b.mass * 7, com=(0.0,) * 3) for b in d.bodies))
    if not name.startswith("morales"):  # of which there is nothing else to go by
        assert characteristic_length(es.Mechanism(heavy)) == own


def _moved(at):
    x, y, z = at.position
    return replace(at, position=(x + 1000.0, y - 500.0, z + 250.0))


def test_without_attachments_apart_frames_and_centres_of_mass_count_then_strokes_then_a_metre():
    def one(kind="prismatic", **more):
        b = es.Builder("one").body("a", mass=1.0, com=more.pop("com", (0, 0, 0)))
        return b.joint("j", kind, "ground", "a", axis="x", at=(9, 9, 9), **more)

    assert characteristic_length(one(com=(0, 0.3, 0.4)).build()) == 0.5
    assert characteristic_length(one().frame("tip", "a", at=(0, 2, 0)).build()) == 2.0
    assert characteristic_length(one(limits=(-0.5, 1.0)).build()) == 1.5
    assert characteristic_length(one().build()) == 1.0
    ground = one().frame("far", "ground", at=(50, 0, 0))
    assert characteristic_length(ground.build()) == 1.0  # a frame of the ground is a place


def test_bodies_that_fixed_joints_hold_together_are_one_and_a_free_joint_is_no_attachment():
    b = es.Builder("legs").body("base", mass=1.0)
    b.joint("floating", "free", "ground", "base", at=(5, 0, 0))
    for name, side in (("left", 0.3), ("right", -0.3)):
        b.body(f"hip_{name}").body(name, mass=1.0)
        b.joint(f"weld_{name}", "fixed", "base", f"hip_{name}", at=((7, side, 0), (0, 0, 1.0)))
        b.joint(name, "revolute", f"hip_{name}", name, at=(0, 0, 0.1))
    assert characteristic_length(b.build()) == pytest.approx(0.6, rel=1e-14)


@pytest.mark.parametrize(("L1", "L2"), [(0.1, 0.06), (0.12, 0.05), (0.02, 0.05)])
def test_designs_have_lengths_of_their_own_and_share_code(L1, L2, library):
    m = library("five_bar")
    own = m.with_parameters(L1=L1, L2=L2)
    assert float(evaluate(m, LENGTH, ("L1", "L2"))(L1, L2)) == characteristic_length(own)
    assert characteristic_length(m.variant(L1=L1, L2=L2)) == characteristic_length(own)


def test_lengths_that_vanish_fall_back_in_a_graph_as_they_do_in_numbers():
    m = es.load("double_pendulum")
    for L1 in (0.0, 2.0):
        native = evaluate(m, LENGTH, ("L1",))(L1)
        assert float(native) == characteristic_length(m.with_parameters(L1=L1)) > 0


@pytest.mark.parametrize("name", MOBILITY)
def test_scaled_rows_and_velocities_do_not_depend_on_the_unit_of_length(name, library):
    m = library(name)
    assert len(row_units(m)) == len(row_scales(m)) == sum(x.kind.rows for x in m.loops)
    assert set(row_units(m)) <= {"m", "rad"}
    away = integrate(m, m.home(), 0.1 / velocity_scales(m))
    for factor in (2.0**-20, 2.0**17):
        big = scaled(m, factor)
        assert velocity_scales(big) * velocity_factors(m, factor) == pytest.approx(
            velocity_scales(m), rel=1e-15
        )
        if m.closed:
            phi = m.constraint(away) * row_scales(m)
            seen = big.constraint(scaled_coordinates(m, away, factor)) * row_scales(big)
            assert np.abs(phi).max() > 1e-6
            np.testing.assert_allclose(seen, phi, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("factor", [1e-300, 1e-155, 1e155, 1e300])
def test_lengths_whose_squares_are_no_numbers(factor):
    """A length of 3 and 4 at right angles, so large or small that its square over- or underflows."""
    b = es.Builder("extreme").body("a").body("b").joint("j", "revolute", "ground", "a")
    m = b.joint("k", "revolute", "a", "b", (3 * factor, 4 * factor, 0)).build()
    assert characteristic_length(m) == pytest.approx(5 * factor, rel=1e-14)
