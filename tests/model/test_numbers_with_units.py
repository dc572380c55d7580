"""A number with its unit stands wherever a number does, and is checked against the unit that belongs there."""

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.files import read_toml


def two_joints(first: str = "revolute", second: str = "prismatic") -> es.Builder:
    b = es.Builder("two").body("a", mass=1.0).body("b", mass=1.0)
    return b.joint("q1", first, "ground", "a").joint("q2", second, "a", "b")


def test_tables_of_denavit_and_hartenberg_take_units():
    row = {"theta": "30 deg", "d": "80 mm", "a": "1 in", "alpha": "90°", "mass": "500 g"}
    plain = es.from_dh([(np.pi / 180 * 30, 0.08, 0.0254, np.pi / 180 * 90)])
    assert es.from_dh([row]).with_body("link1", mass=0.0) == plain
    in_degrees = es.from_dh([(30, "80 mm", "1 in", "90 deg")], degrees=True)
    np.testing.assert_allclose(in_degrees.pose([0.2], "tool"), plain.pose([0.2], "tool"), rtol=0)
    text = (
        'name = "arm"\n[dh]\nlinks = [{theta = "30 deg", d = "80 mm", a = "1 in", alpha_deg = 90}]'
    )
    np.testing.assert_allclose(
        es.Mechanism(read_toml(text)).pose([0.2], "tool"), plain.pose([0.2], "tool"), rtol=0
    )
    with pytest.raises(es.ModelError, match="row 1 of the table: d is in deg; it is to be in m"):
        es.from_dh([(0, "80 deg", 0, 0)])


def test_a_unit_tells_more_than_a_key_in_degrees():
    text = """name = "arm"
[bodies.a]
mass = 1
[joints.q]
kind = "revolute"
parent = "ground"
child = "a"
rpy_deg = [0, "0.5 rad", 90]
limits_deg = ["-1 rad", 90]
velocity_limit_deg = "60 rpm"
"""
    joint = es.Mechanism(read_toml(text)).joint("q")
    assert joint.at.rpy == (0.0, 0.5, np.pi / 180 * 90)
    assert joint.limits == ((-1.0, np.pi / 180 * 90),)
    assert joint.velocity_limit == (60 * (np.pi / 30),)


def test_parameters_are_set_in_units_that_fit(library):
    m = library("five_bar")
    assert m.with_parameters(L1="80 mm").parameters["L1"] == 0.08
    assert m.variant(m2="10 g").parameters["m2"] == 0.01
    with pytest.raises(es.ModelError, match="parameter 'L1' is in kg; it is to be in m"):
        m.with_parameters(L1="80 kg")
    g = es.BondGraph.load("morales_puma")
    assert g.with_parameters(R1="2 N m s").parameters["R1"] == 2.0


@pytest.mark.parametrize("late", [False, True], ids=["joints first", "joints last"])
@pytest.mark.parametrize(
    ("kinds", "add", "unit"),
    [
        ("rr", lambda b: b.couple("c", "q1", "q2", "2 m/rad"), "a mere number"),
        ("pr", lambda b: b.couple("c", "q1", "q2", "2 rad/m"), "in m/rad"),
        ("rp", lambda b: b.couple("c", "q1", "q2", 2.0, "3 mm"), "in rad"),
        ("pr", lambda b: b.drive("c", "q1", "3 deg"), "in m"),
        ("rp", lambda b: b.mode("m", {"q1": "3 mm"}), "in rad"),
        ("rp", lambda b: b.mode("m", {"q2": "3 deg"}), "in m"),
        ("cp", lambda b: b.mode("m", {"q1": ["3 deg", "3 deg"]}), "in m"),
    ],
)
def test_units_of_couplings_and_modes_are_those_of_their_joints(kinds, add, unit, late):
    first, second = ({"r": "revolute", "p": "prismatic", "c": "cylindrical"}[x] for x in kinds)

    def build() -> None:
        b = es.Builder("two").body("a", mass=1.0).body("b", mass=1.0)
        if late:
            add(b)
        b.joint("q1", first, "ground", "a").joint("q2", second, "a", "b")
        if not late:
            add(b)
        b.build()

    with pytest.raises(es.ModelError, match=f"is in .*; it is to be {unit}"):
        build()


def test_couplings_and_modes_take_the_units_of_their_joints():
    b = (
        es.Builder("two")
        .body("a", mass=1.0)
        .body("b", mass=1.0)
        .couple("c", "q2", "q1", "2 mm/rad", "3 mm")
    )
    b.joint("q1", "revolute", "ground", "a").joint("q2", "prismatic", "a", "b")
    m = b.mode("m", {"q1": "90 deg", "q2": "3 mm"}).build()
    assert (m.couplings[0].ratio, m.couplings[0].offset) == (0.002, 0.003)
    np.testing.assert_allclose(m.modes["m"], [np.pi / 2, 0.003], rtol=1e-15)


def test_an_open_limit_may_be_of_any_precision():
    b = two_joints().body("c", mass=1.0)
    limits = np.array([-np.inf, np.inf], dtype=np.float32)
    m = b.joint("q3", "revolute", "b", "c", limits=limits).build()
    assert m.joint("q3").limits == ((-np.inf, np.inf),)


def test_symbols_are_symbols_or_numbers(library):
    m = library("five_bar")
    for nonsense in ("x", None, [1.0], casadi.SX.sym("x", 2), np.nan, True):
        with pytest.raises(es.ModelError, match="L1"):
            m.with_symbols({"L1": nonsense})
    assert m.with_symbols({"L1": 0.08}).values["L1"] == 0.08


def test_a_masked_array_is_named():
    three = np.ma.masked_array([0.1, 0.0, 0.0], mask=[True, False, False])
    for call, name in (
        (lambda: es.Builder("arm", gravity=three), "gravity"),
        (lambda: es.Builder("arm").body("rod", com=three), "body 'rod': com"),
        (lambda: two_joints().mode("m", {"q1": three}), "mode 'm': q1"),
        (lambda: es.from_dh([three]), "row 1 of the table"),
    ):
        with pytest.raises(es.InputError, match=f"{name} is a masked array"):
            call()
