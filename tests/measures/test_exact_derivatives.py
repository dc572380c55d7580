"""Exact derivatives of measures against differences of the measures themselves, designs assembled anew."""

import numpy as np
import pytest

import eslabon as es
from eslabon.measures.exact_derivatives import exact_derivatives

FIVE, ELBOW = es.load("five_bar"), es.load("elbow")
SWING = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
LINE = es.paths.along(es.paths.line([0.05, 0.11, 0.0], [0.06, 0.12, 0.0]), es.paths.quintic(0.2))
REACH = es.paths.joint_path([[0.0, 0.3], [0.5, 1.0]], es.paths.quintic(0.5))
M = es.measures

SPRING, PENDULUM, CART = (
    es.load(name) for name in ("four_bar_spring", "double_pendulum", "cart_pole")
)
NAMES = {"five_bar": ("L2", "m3"), "elbow": ("a2", "m2"), "four_bar_spring": ("L", "k"), "double_pendulum": ("L2", "m1"), "cart_pole": ("L", "m_pole")}  # fmt: skip

MEASURES = [
    (FIVE, M.PeakTorque(SWING, 21)),
    (FIVE, M.RmsTorque(SWING, 21)),
    (FIVE, M.PeakPower(SWING, 21)),
    (FIVE, M.EnergyConsumption(SWING, 21, regeneration=0.3)),
    (FIVE, M.PeakReaction(SWING, 21, of=["theta2", "tip"])),
    (FIVE, M.Condition(SWING, 21)),
    (FIVE, M.Condition(SWING, 21, reduce="mean")),
    (FIVE, M.Quantity("pose", q=[2.0, 1.0], frame="point")),
    (
        FIVE,
        M.Quantity("mass_matrix", q=FIVE.assemble([2.0, 1.0])),
    ),  # a whole configuration, closed anew in each design
    (FIVE, M.Quantity("energy", motion=SWING, samples=11, reduce="rms")),
    (FIVE, M.Several({"tau": M.PeakTorque(SWING, 11), "power": M.PeakPower(SWING, 11)})),
    (FIVE, M.PeakTorque(LINE, 11, frame="point", part="position")),
    (FIVE, M.PeakPower(LINE, 11, frame="point", part="position")),
    (SPRING, M.NaturalFrequency([2.2])),
    (PENDULUM, M.NaturalFrequency(mode=(0, 1), unit="Hz")),
    (CART, M.ClosedLoopDamping([0.0, 0.0], "lqr", Q=1.0, R=0.1)),
    (ELBOW, M.PeakTorque(REACH, 21)),
    (ELBOW, M.PeakPower(REACH, 21)),
    (ELBOW, M.Quantity("inverse_dynamics", q=[0.1, 0.2], v=[1.0, 0.3], a=[0.2, 2.0])),
    (ELBOW, M.Quantity("pose", q=[[0.1, 0.2], [0.3, 0.9]], frame="tool", reduce="least")),
]


@pytest.mark.parametrize(("m", "measure"), MEASURES, ids=lambda x: repr(x))
def test_derivatives_are_those_of_differences(m, measure):
    names = NAMES[m.name]
    at = {name: 1.02 * m.parameters[name] for name in names}
    exact = exact_derivatives(measure, m, names, at)
    assert {*exact} == {*measure.columns(m)}
    for k, name in enumerate(names):
        value, step = at[name], 1e-4 * at[name]
        both = {other: np.full(2, x) for other, x in at.items()}
        found = measure.measured(m, {**both, name: value + step * np.array([-1.0, 1.0])}).values
        for column, slopes in exact.items():
            difference = (found[column][1] - found[column][0]) / (2 * step)
            scale = max(np.abs(found[column]).max() / value, 1e-9)
            assert slopes[k] == pytest.approx(difference, rel=1e-4, abs=1e-5 * scale), (
                column,
                name,
            )


def test_what_does_not_oscillate_has_no_frequency_to_differentiate():
    assert exact_derivatives(M.NaturalFrequency(), SPRING, ["L"]) == {}


def test_a_function_and_rows_of_states_have_none():
    assert exact_derivatives(M.Called(len), FIVE, ["L2"]) == {}
    assert (
        exact_derivatives(
            M.Quantity("pose", q=[[0.1, 0.2], [0.3, 0.9]], frame="tool"), ELBOW, ["a2"]
        )
        == {}
    )
