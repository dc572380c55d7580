"""Monte Carlo: percentiles of what is known, Sobol indices of functions with known ones, first-order shares of linear ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.stats as st

import eslabon as es
from eslabon.measures import Measure, Measured
from eslabon.sweeps.factors import factors_of, regression
from eslabon.sweeps.sampling import sampling_of
from eslabon.sweeps.variables import variables_of

ELBOW = es.load("elbow")


@dataclass(frozen=True, eq=False)
class Ishigami(Measure):
    """sin(x) + 7 sin^2(y) + 0.1 z^4 sin(x), whose indices are known, and a linear function of the same."""

    name: ClassVar[str] = "ishigami"
    fails: float = np.inf

    def columns(self, m: es.Mechanism) -> Mapping[str, str]:
        return {"ishigami": "", "linear": "kg"}

    def measured(self, m: es.Mechanism, designs: Mapping[str, np.ndarray]) -> Measured:
        x, y, z = (designs[name] for name in ("a1", "a2", "g"))
        bad = z > self.fails
        values = {
            "ishigami": np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x),
            "linear": 3 * x - 4 * y + 0 * z,
        }
        made = {name: np.where(bad, np.nan, column) for name, column in values.items()}
        return Measured(made, {int(k): "z is too large" for k in np.flatnonzero(bad)})


CUBE = dict.fromkeys(("a1", "a2", "g"), (-np.pi, np.pi))


@pytest.fixture(scope="module")
def known():
    return es.sweeps.sensitivities(ELBOW, Ishigami(), CUBE, samples=2048, seed=1)


def test_sobol_indices_are_those_of_ishigami(known):
    own = known["ishigami"]
    np.testing.assert_allclose(own.first, [0.3139, 0.4424, 0.0], atol=0.02)
    np.testing.assert_allclose(own.total, [0.5576, 0.4424, 0.2437], atol=0.02)
    for low, high, exact in zip(*own.total_interval, [0.5576, 0.4424, 0.2437], strict=True):
        assert low < exact < high
    assert own.std == pytest.approx(13.8446**0.5, rel=0.01)
    assert known.sentence("ishigami").startswith("ishigami: a1 matters most, with 5")


def test_first_order_shares_of_a_linear_function_are_its_sobol_indices(known):
    own = known["linear"]
    np.testing.assert_allclose(own.shares, [9 / 25, 16 / 25, 0], atol=1e-12)
    np.testing.assert_allclose(own.first, own.shares, atol=0.02)
    np.testing.assert_allclose(own.total, own.shares, atol=0.02)
    std = 2 * np.pi / 12**0.5
    np.testing.assert_allclose(own.effects, [3 * std, -4 * std, 0], atol=1e-9)
    assert own.explained == pytest.approx(1)
    assert known["ishigami"].explained < 0.3
    assert "A linear model explains" in known.sentence("ishigami")
    assert "A linear model" not in known.sentence("linear")


def test_indices_are_the_same_on_every_run_and_do_not_depend_on_chunks(known):
    again = es.sweeps.sensitivities(ELBOW, Ishigami(), CUBE, samples=2048, seed=1)
    for name in known.values:
        np.testing.assert_array_equal(again[name].total_interval, known[name].total_interval)
    _, variables = variables_of(ELBOW, CUBE)
    drawn = sampling_of(variables, 8, "saltelli", 0)
    whole, parts = drawn.designs(0, 40), [drawn.designs(k, min(k + 7, 40)) for k in range(0, 40, 7)]
    for name in whole:
        np.testing.assert_array_equal(whole[name], np.concatenate([part[name] for part in parts]))


def test_samples_exchange_one_factor_at_a_time():
    five = es.load("five_bar")
    m, variables = variables_of(five, {"L2": "±0.1 mm", "tip.clearance": "0.05 mm"})
    drawn = sampling_of(variables, 4, "saltelli", 0).designs(0, 16)
    A, B, length, play = (
        np.column_stack([drawn[x.name].reshape(4, 4)[:, k] for x in variables]) for k in range(4)
    )
    np.testing.assert_array_equal(length, np.column_stack([B[:, 0], A[:, 1], A[:, 2]]))
    np.testing.assert_array_equal(
        play, np.column_stack([A[:, 0], B[:, 1], B[:, 2]])
    )  # both of its coordinates
    assert m.parameters["tip_play"] == 0.0


def test_torque_is_linear_in_masses_so_all_shares_agree():
    puma, still = es.load("puma560"), np.zeros(6)
    own = {"regression": lambda m: m.inverse_dynamics(still, still, still)[1]}
    own["exact"] = es.measures.Quantity("inverse_dynamics", q=still, v=still, a=still)
    over = {"link2.mass": "±1 kg", "link3.mass": "±1 kg normal", "link4.mass": st.norm(0.82, 0.1)}
    s = es.sweeps.sensitivities(puma, own, over, samples=64)
    assert s.note == "By regression, for want of an exact derivative: regression has none."
    m, variables = variables_of(puma, over)
    slopes = [m.derivative("inverse_dynamics", x.name, still, still, still)[1] for x in variables]
    effects = np.array(slopes) * [x.std for x in variables]
    for column, source in (("regression", "regression"), ("exact.q2", "derivatives")):
        assert s[column].source == source
        np.testing.assert_allclose(s[column].effects, effects, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(s[column].shares, effects**2 / (effects**2).sum(), rtol=1e-8)
        np.testing.assert_allclose(s[column].total, s[column].shares, atol=0.05)


def test_lengths_and_clearances_by_derivatives_are_those_by_regression():
    five = es.load("five_bar")
    over = {
        "L2": "±0.01 mm",
        "L3": "±0.01 mm normal",
        "tip.clearance": "0.005 mm",
        "theta3.clearance": "0.005 mm",
    }
    s = es.sweeps.sensitivities(
        five, es.measures.Quantity("pose", q=[2.0, 1.0], frame="point"), over, samples=16
    )
    m, variables = variables_of(five, over)
    designs = {x.name: s.table[x.name] for x in variables}
    for column in ("pose.x", "pose.y"):
        assert s[column].source == "derivatives"
        fitted = regression(factors_of(variables), designs, s.table[column]).effects
        np.testing.assert_allclose(
            np.abs(s[column].effects), [np.linalg.norm(x) for x in fitted], rtol=1e-3
        )
    assert m.parameters["theta3_play"] == 0.0


def test_designs_that_fail_are_left_out_with_their_sample_and_counted():
    s = es.sweeps.sensitivities(ELBOW, Ishigami(3.0), CUBE, samples=512)
    assert (s.failed, s.samples) == (int(s.table.contents.failed), 256)
    assert "failed" in repr(s)
    with pytest.raises(es.InputError, match="z is too large"):
        es.sweeps.sensitivities(ELBOW, Ishigami(-3.0), CUBE, samples=16)


def test_one_factor_is_all_there_is():
    s = es.sweeps.sensitivities(
        ELBOW, lambda m: m.parameters["a1"] ** 2, {"a1": (1.0, 2.0)}, samples=8
    )
    assert s["value"].total == [1.0]
    assert s["value"].shares == pytest.approx(1.0, abs=0.01)
    flat = es.sweeps.sensitivities(
        ELBOW, lambda m: 3.0, {"a1": (1.0, 2.0), "a2": (1.0, 2.0)}, samples=8
    )
    assert flat.sentence("value") == "value: nothing that varies changes it."
    np.testing.assert_array_equal(flat["value"].shares, 0)


def test_two_that_cannot_be_told_apart_are_both_named():
    s = es.sweeps.sensitivities(ELBOW, lambda m: m.parameters["a1"] + m.parameters["a2"], {"a1": (1.0, 2.0), "a2": (1.0, 2.0)}, samples=16)  # fmt: skip
    assert (
        s.sentence("value")
        == "value: a1 and a2 matter most; 16 samples do not tell which of them more."
    )


def test_bars_stand_side_by_side(known, tmp_path):
    figure = known.plot(path=tmp_path / "bars.svg")
    first, second = figure.axes
    assert [t.get_text() for t in first.get_yticklabels()] == ["a1", "a2", "g"]
    assert [t.get_text() for t in second.get_yticklabels()] == ["a2", "a1", "g"]
    assert len(first.containers) == 3
    assert [bar.get_width() for bar in first.containers[2]] == pytest.approx(
        known["ishigami"].total[[0, 1, 2]]
    )
    assert len(known.plot(of="linear", theme="dark").axes) == 1
    assert "matters most" in known._repr_html_()


# -- statistics ---------------------------------------------------------------------------------------------------------


def test_percentiles_are_those_of_the_distribution():
    made = st.norm(0.5, 0.05)
    table = es.sweep(ELBOW, lambda m: m.parameters["a1"], {"a1": made}, samples=1024)
    found = table.percentiles((5, 50, 95))["value"]
    np.testing.assert_allclose([*found.values()], made.ppf([0.05, 0.5, 0.95]), atol=5e-4)
    own = table.statistics()["value"]
    assert own["mean"] == pytest.approx(0.5, abs=1e-4)
    assert own["standard deviation"] == pytest.approx(0.05, rel=0.01)
    assert table.about["random"] is True


def test_failed_designs_are_counted_beside_percentiles():
    def root(m):
        if m.parameters["a1"] > 2:
            raise ValueError("too long")
        return m.parameters["a1"]

    table = es.sweep(ELBOW, root, {"a1": (1.0, 3.0)}, samples=64)
    (value,) = table.values
    assert "64 designs, 32 of which failed and are left out" in repr(table.percentiles())
    assert table.statistics()[value]["greatest"] <= 2
    with pytest.raises(es.InputError, match=f"did you mean '{value}'"):
        table.statistics()[value[:-1]]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: es.sweeps.sensitivities(ELBOW, lambda m: 1.0, {"a1": (1, 2)}, samples=100), "take 64 or 128"),
        (lambda: es.sweeps.sensitivities(ELBOW, lambda m: 1.0, {"a1": (1, 2)}, samples=4), "indices need 8"),
        (lambda: es.sweeps.sensitivities(ELBOW, lambda m: 1.0, {"a1": (1, 2)}, confidence=95), "below 1"),
        (lambda: es.sweeps.sensitivities(ELBOW, lambda m: 1.0, {"a1": st.cauchy(1, 0.1)}, samples=8), "standard deviation inf|nan"),
        (lambda: es.sweeps.sensitivities(ELBOW, lambda m: 1.0, {"a3": (1, 2)}), "no parameter 'a3'"),
        (lambda: es.sweep(ELBOW, lambda m: 1.0, {"a1": (1, 2)}, samples=4).percentiles((5, 200)), "from 0 to 100"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(call, says):
    with pytest.raises(es.EslabonError, match=says):
        call()


def test_the_frequency_of_a_pendulum_is_as_its_formula_says():
    """omega^2 = m g c / (I + m c^2): derivatives, shares and percentiles, where each is known."""
    b = es.Builder("pendulum")
    b.body("rod", mass=2.0, com=(0, 0, -0.4), inertia=(0.05, 0.05, 0.05))
    b.joint("q", "revolute", "ground", "rod", axis="y")
    m, I = b.build(), 0.05
    over = {"rod.com.z": "±10 mm", "rod.mass": "±5 % normal"}
    found = es.sweeps.sensitivities(m, "natural_frequency", over, samples=256, at=[0.0])
    own = found["natural_frequency"]
    mass, c = 2.0, 0.4
    omega = np.sqrt(mass * 9.81 * c / (I + mass * c**2))
    by_c = omega / 2 * (1 / c - 2 * mass * c / (I + mass * c**2))
    by_mass = omega / 2 * (1 / mass - c**2 / (I + mass * c**2))
    std = {x.name: x.std for x in variables_of(m, over)[1]}
    np.testing.assert_allclose(
        own.effects, [-by_c * std["rod_com_z"], by_mass * std["rod_mass"]], rtol=1e-6
    )
    assert own.source == "derivatives"
    np.testing.assert_allclose(own.total, own.shares, atol=0.1)
    np.testing.assert_allclose(own.shares.sum(), 1.0, atol=0.01)
    table = es.sweep(m, "natural_frequency", {"rod.com.z": "±10 mm"}, samples=1024, at=[0.0])
    c = np.array(
        [0.409, 0.4, 0.391]
    )  # the farther down, the slower: 5 % of a uniform distribution are beyond
    exact = np.sqrt(mass * 9.81 * c / (I + mass * c**2))
    np.testing.assert_allclose(
        list(table.percentiles((5, 50, 95))["natural_frequency"].values()), exact, rtol=1e-4
    )
