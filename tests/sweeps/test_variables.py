"""What `over` of a sweep may say, and the quantiles that come of it."""

import pickle

import numpy as np
import pytest
import scipy.stats as st

import eslabon as es
from batches import each
from eslabon.sweeps import variables_of

U = (np.arange(20_000) + 0.5) / 20_000  # midpoints: means over them are integrals


def variable(said, name="L2", robot="five_bar"):
    _, (made, *_) = variables_of(es.load(robot), {name: said})
    return made


@each(
    ("said", "low", "high"),
    [((0.03, 0.06), 0.03, 0.06), ([0.03, 0.06], 0.03, 0.06), ("3..6 cm", 0.03, 0.06), (("30 mm", "6 cm"), 0.03, 0.06),
     ("10 mm..3 cm", 0.01, 0.03), ("1e-2 .. 3e-2", 0.01, 0.03), ("±0.1 mm", 0.0399, 0.0401), ("+/-0.1 mm", 0.0399, 0.0401),
     ("±2 %", 0.0392, 0.0408), ("50 ± 0.1 mm", 0.0499, 0.0501), ("50±0.1mm uniform", 0.0499, 0.0501), ("5 cm ± 1 %", 0.0495, 0.0505)],
)  # fmt: skip
def test_ranges(said, low, high):
    x = variable(said)
    assert (x.low, x.high) == (pytest.approx(low), pytest.approx(high))
    assert (x.unit, x.nominal, x.levels) == ("m", 0.04, None)
    np.testing.assert_allclose(x.values_at([0.0, 0.25]), [low, low + (high - low) / 4])
    assert x.values_at(U).std() == pytest.approx(x.std, rel=1e-6)
    np.testing.assert_allclose(x.on_grid(3), [low, (low + high) / 2, high])


def test_a_tolerance_said_to_be_normal_is_three_sigma_cut_off():
    x = variable("±0.3 mm normal")
    reference = st.truncnorm(-3, 3, loc=0.04, scale=1e-4)
    np.testing.assert_allclose(x.values_at(U), reference.ppf(U), rtol=1e-12)
    assert (x.mean, x.std) == (pytest.approx(0.04), pytest.approx(reference.std(), rel=1e-9))
    assert x.values_at(0.0) == pytest.approx(0.0397)


def test_angles_and_other_units():
    assert variable("−5..5deg", "theta2.at.yaw").low == pytest.approx(-np.deg2rad(5))
    assert variable("-5..5 deg", "theta2.at.yaw").high == pytest.approx(np.deg2rad(5))
    assert variable("900..1100 g", "link2.mass", "puma560").high == pytest.approx(1.1)
    assert variable("0..2 N/mm", "k", "four_bar_spring").high == pytest.approx(2000.0)


@each("said", [[0.01, 0.02, 0.03], np.array([0.01, 0.02, 0.03]), ["1 cm", "20 mm", "0.03 m"]])
def test_levels(said):
    x = variable(said)
    assert x.levels == (0.01, 0.02, 0.03)
    np.testing.assert_array_equal(x.values_at([0.0, 0.34, 0.999]), x.levels)
    np.testing.assert_array_equal(x.on_grid(7), x.levels)
    assert x.values_at(U).std() == pytest.approx(x.std, rel=1e-4)


@each("made", [st.norm(0.04, 1e-4), st.norm(loc=0.04, scale=1e-4), st.gamma(3.0, scale=0.01), st.triang(0.5, loc=0.03, scale=0.01)])  # fmt: skip
def test_distributions_of_scipy(made, rng):
    x = variable(made)
    np.testing.assert_array_equal(x.values_at(U), made.ppf(U))
    assert (x.mean, x.std) == (pytest.approx(made.mean()), pytest.approx(made.std()))
    assert np.isfinite(x.values_at([0.0, 1.0])).all()
    assert pickle.loads(pickle.dumps(x)).describe() == x.describe()
    # One draw in a million fails by chance; a distribution that is off by a fifth of its width has p < 1e-25.
    assert st.kstest(x.values_at(rng.random(5000)), made.cdf).pvalue > 1e-6


def test_a_file_names_a_distribution():
    assert variable({"distribution": "norm", "loc": 0.04, "scale": 1e-4}) == variable(
        st.norm(loc=0.04, scale=1e-4)
    )


def test_texts_of_variables_tell_them_apart_to_the_last_digit():
    assert variable((0.03, 0.06)).describe() == "L2 [m] = uniform(0.03, 0.06)"
    assert variable(st.norm(0.04, scale=1e-4)).describe() == "L2 [m] = norm(0.04, scale=0.0001)"
    one, other = (
        variable(st.rv_histogram((np.array(n), np.array([0.01, 0.02, 0.03])))())
        for n in ([1, 2], [2, 1])
    )
    assert one.describe() != other.describe()
    assert variable((0.03, np.nextafter(0.06, 1))).describe() != variable((0.03, 0.06)).describe()


def test_a_clearance_is_equally_likely_all_over_its_disc_or_ball(rng):
    m, (play, direction) = variables_of(es.load("five_bar"), {"tip.clearance": "0.05 mm"})
    assert (m.parameters["tip_play"], play.group, direction.group) == (
        0.0,
        "tip.clearance",
        "tip.clearance",
    )
    r, phi = play.values_at(rng.random(40_000)), direction.values_at(rng.random(40_000))
    x, y = r * np.cos(phi), r * np.sin(phi)
    radius = 5e-5
    inside = (abs(x) < radius / 2) & (
        abs(y) < radius / 2
    )  # a square of the area R^2 in a disc of pi R^2
    assert inside.mean() == pytest.approx(1 / np.pi, abs=0.01)
    assert (x.std(), y.std()) == (
        pytest.approx(radius / 2, rel=0.02),
        pytest.approx(radius / 2, rel=0.02),
    )
    assert (play.values_at(U).std(), play.values_at(U).mean()) == (pytest.approx(play.std, 1e-4), pytest.approx(play.mean, 1e-4))  # fmt: skip
    stewart = es.load("stewart_gough")
    _, (play, direction, polar) = variables_of(stewart, {f"{stewart.loops[0].name}.clearance": 1.0})
    r, phi, theta = (v.values_at(rng.random(40_000)) for v in (play, direction, polar))
    z = r * np.cos(theta)
    assert z.std() == pytest.approx(1 / 5**0.5, rel=0.02)  # of a ball of radius 1
    assert (abs(z) < 0.5).mean() == pytest.approx(11 / 16, abs=0.01)
    assert polar.values_at(U).std() == pytest.approx(polar.std, rel=1e-4)
    assert play.values_at(U).std() == pytest.approx(play.std, rel=1e-3)


def test_a_payload_and_the_mass_it_adds_to_vary_together():
    m, (load, mass) = variables_of(
        es.load("puma560"), {"tool.payload": "0..2 kg", "link6.mass": "±10 %"}
    )
    assert (load.name, load.unit, load.high, mass.nominal) == (
        "tool_payload",
        "kg",
        2.0,
        pytest.approx(0.09),
    )
    assert m.with_parameters(tool_payload=2.0).body("link6").mass == pytest.approx(2.09)


def test_a_design_without_a_home_is_not_refused_before_it_is_tried():
    assert (
        variable("10..30 cm").high == 0.3
    )  # five_bar cannot stand as it is drawn with so long a crank


@each(
    ("over", "says"),
    [
        ({}, "over is empty"),
        ([1, 2], "over gives values by name"),
        ({"l2": (1, 2)}, "no parameter 'l2'"),
        ({"L22": (1, 2)}, "did you mean 'L2'"),
        ({"foo": (1, 2)}, "free_numbers"),
        ({"link2.mas": (1, 2)}, "did you mean 'mass'"),
        ({"link2.mass": (1, 2)}, "follows from 'm2'"),
        ({"L2": (3, 1)}, "from 3 down to 1"),
        ({"L2": (1, 1)}, "empty range"),
        ({"L2": (np.nan, 1)}, "not finite"),
        ({"L2": [1, 2, np.inf]}, "not finite"),
        ({"L2": (1,)}, "two numbers"),
        ({"L2": ()}, "two numbers"),
        ({"L2": [1, 2, 2]}, "twice"),
        ({"L2": np.zeros((2, 2))}, "in one row"),
        ({"L2": 3}, "is a range"),
        ({"L2": "1..3 kg"}, "is in kg, and the parameter is in m"),
        ({"L2": "1..3 kgg"}, "no unit 'kgg'"),
        ({"L2": "about 3"}, "which is no range"),
        ({"L2": "±0 mm"}, "not positive"),
        ({"L2": ("1 cm", "x")}, "no number with a unit"),
        ({"link2.com.y": "±2 %"}, "a percentage of zero is zero"),
        ({"theta2.coulomb": "0..1 N"}, "the parameter is in N m"),
        ({"theta2.axis.z": "1..2 deg"}, "a mere number"),
        ({"m2": (-1, 2)}, "the mass is -1"),
        ({"m2": st.norm(-1, 0.1)}, "the mass is -1"),
        ({"L2": st.norm}, "a family"),
        ({"L2": st.norm(0, -1)}, "cannot have"),
        ({"L2": st.norm([0, 1], 1)}, "several distributions"),
        ({"L2": {"distribution": "nrm"}}, "did you mean 'norm'"),
        ({"L2": {"distribution": "norm", "lo": 3}}, "other numbers"),
        ({"tip.clearance": -1}, "the radius"),
        ({"tip.clearance": (0, 1)}, "the radius"),
        ({"tip.clearance": "1 kg"}, "is in kg"),
        ({"tp.clearance": 1e-5}, "did you mean 'tip'"),
        ({"theta2.viscous": (0, 1), "theta2_viscous": (0, 1)}, "twice"),
    ],
)
def test_what_cannot_be_varied_is_refused_in_a_sentence(over, says):
    with pytest.raises(es.EslabonError, match=says):
        variables_of(es.load("five_bar"), over)


def test_a_unit_that_cannot_be_told_is_asked_for_in_plain_numbers():
    b = es.Builder("odd").body("arm", mass="9.81*k").joint("q", "revolute", "ground", "arm")
    b.parameter("k", 1.0)
    with pytest.raises(es.InputError, match="does not tell its unit"):
        variables_of(es.Mechanism(b.describe()), {"k": "1..2 kg"})
    assert variables_of(es.Mechanism(b.describe()), {"k": (1, 2)})[1][0].unit == ""
