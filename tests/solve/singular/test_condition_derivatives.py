"""Reciprocal condition numbers follow a parameter as those of mechanisms assembled anew do."""

from typing import Any

import numpy as np
import pytest

import eslabon as es
from assembled_anew import Held, designed, differences, slope
from eslabon.model.scale import characteristic_length


def numbers(m: es.Mechanism, q: np.ndarray, frame: str, parameters: Any) -> tuple[Any, Any]:
    """Both condition numbers in units of the length that the mechanism has with its own parameters."""
    found = m.conditions(q, frame, parameters=parameters, length=characteristic_length(m))
    return found.parallel, found.serial


@pytest.mark.parametrize(
    ("seed", "kinds", "cuts"),
    [
        (0, ["revolute"] * 5, ["spherical"]),
        (2, ["revolute", "spherical", "prismatic"], ["spherical"]),
        (13, ["spherical", "revolute", "cylindrical", "helical"], ["universal"]),
    ],
)
def test_conditions_of_random_closed_mechanisms(
    seed: int, kinds: list[str], cuts: list[str]
) -> None:
    m, q = designed(seed, kinds, cuts)
    names = m.independent_coordinates()
    m = m.with_actuated(
        [j.name for j in m.joints if any(name.split(".")[0] == j.name for name in names)]
    )
    names = m.independent_coordinates()
    still = np.zeros(m.nv)
    held = Held(m, names)
    anew = held.states(q, still, still)
    parallel, serial = numbers(m, anew["q"], "tip", {"s": anew["s"]})
    found = m.derivative("conditions", "s", q, along="closed", held=names, frame="tip")
    np.testing.assert_allclose(found.parallel, slope(parallel), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.serial, slope(serial), rtol=1e-5, atol=1e-7)
    many = m.derivative(
        "conditions",
        ("s",),
        anew["q"],
        along="closed",
        held=names,
        frame="tip",
        parameters={"s": anew["s"]},
    )
    assert many.parallel.shape == (6, 1)
    between = np.tensordot([0.75, 0.75, -0.3, -0.3, 0.05, 0.05], many.serial[:, 0], axes=1)
    np.testing.assert_allclose(between, found.serial, rtol=1e-6, atol=1e-8)


def test_conditions_of_mechanisms_assembled_anew() -> None:
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    found = m.derivative("conditions", ("L1", "L3"), q, along="closed", part="translation")
    for k, name in enumerate(("L1", "L3")):

        def anew(s: float, n: str = name) -> np.ndarray:
            other = m.variant(**{n: m.parameters[n] + s})
            closed, length = other.assemble([2.0, 1.0], guess=q), characteristic_length(m)
            made = other.conditions(closed, part="translation", length=length)
            return np.array([made.parallel, made.serial])

        np.testing.assert_allclose(
            [found.parallel[k], found.serial[k]], differences(anew, 1e-4), rtol=1e-7
        )
    frozen = m.derivative("conditions", "L3", q, part="translation")
    assert abs(frozen.parallel - found.parallel[1]) > 0.02
    held = m.derivative(
        "conditions", "L3", q, along="closed", held={"point": "position"}, part="translation"
    )
    assert abs(held.parallel - found.parallel[1]) > 0.02


def test_the_characteristic_length_is_held() -> None:
    """With a length of the caller's they are the slopes of `conditions`; each design has its own, else."""
    m = es.load("five_bar")
    lengths = {"L3": np.array([0.1, 0.12]), "L4": np.array([0.1, 0.11])}
    q = m.assemble([2.0, 1.0], parameters=lengths)
    many = m.derivative("conditions", ("L1", "L2"), q, along="closed", parameters=lengths)
    own = m.with_parameters(L3=0.12, L4=0.11)
    alone = own.derivative("conditions", ("L1", "L2"), q[1], along="closed")
    np.testing.assert_allclose(many.serial[1], alone.serial, rtol=1e-9)
    np.testing.assert_allclose(many.parallel[1], alone.parallel, rtol=1e-9)

    def anew(s: float) -> Any:
        other = own.variant(L3=0.12 + s)
        return other.conditions(other.assemble([2.0, 1.0], guess=q[1]), length=0.07).serial

    found = own.derivative("conditions", "L3", q[1], along="closed", length=0.07)
    np.testing.assert_allclose(found.serial, differences(anew, 1e-4), rtol=1e-7)
    assert abs(own.conditions(q[1], length=0.12).serial - own.conditions(q[1]).serial) < 1e-12
    for wrong in (0.0, -1.0, np.nan, "long", [0.1, 0.2]):
        with pytest.raises(es.InputError, match="length is a number greater than zero"):
            own.conditions(q[1], length=wrong)


def test_an_arm_in_closed_form() -> None:
    m = es.load("elbow")
    q = np.array([0.3, 1.1])

    def anew(s: float) -> Any:
        return m.variant(a1=1.0 + s).conditions(q, "tool", part="translation").serial

    for along in ("frozen", "closed"):
        found = m.derivative("conditions", "a1", q, frame="tool", part="translation", along=along)
        assert found.parallel == 0.0
        np.testing.assert_allclose(found.serial, differences(anew, 1e-3), rtol=1e-8)


@pytest.mark.parametrize("part", ["all", "translation"])
def test_singular_values_that_stay_together(part: str) -> None:
    m = es.load("planar_3rrr")
    q = m.project(
        m.home()
    )  # three legs alike: translations in all directions are, whatever the legs' length

    def anew(s: float) -> Any:
        other = m.variant(L=m.parameters["L"] + s)
        driven = q[list(m.actuated_coordinates)]
        found = other.assemble(driven, guess=q)
        changed = {"L": m.parameters["L"] + s}
        return numbers(m, found, "centre", changed)[1] if part == "all" else 1.0

    found = m.derivative("conditions", "L", q, along="closed", part=part)
    np.testing.assert_allclose(found.serial, differences(anew, 1e-4), rtol=1e-6, atol=1e-8)


def test_singular_values_that_part_have_no_derivative() -> None:
    m = es.load("elbow").with_parameters(a1=np.sqrt(2.0))
    with pytest.raises(
        es.SingularityError, match="singular values meet there that the parameter parts"
    ):
        m.derivative("conditions", "a1", [0.2, np.radians(135)], frame="tool", part="translation")


def test_loops_whose_redundancy_changes() -> None:
    m = es.load("bennett")
    q = m.assemble([1.2])

    def anew(s: float) -> Any:
        other = m.variant(alpha=m.parameters["alpha"] + s)
        found = other.assemble([1.2], guess=q)
        return other.conditions(found, length=characteristic_length(m)).parallel

    found = m.derivative("conditions", "alpha", q, along="closed")
    np.testing.assert_allclose(found.parallel, differences(anew, 1e-4), rtol=1e-6, atol=1e-8)


def test_bad_input_is_a_sentence() -> None:
    m, arm = es.load("five_bar"), es.load("elbow")
    q = m.assemble([2.0, 1.0])
    for wrong, sentence in (
        (lambda: m.derivative("conditions", "L9", q), "no parameter 'L9'"),
        (lambda: m.derivative("conditions", "L1", q, part="some"), "part is"),
        (lambda: m.derivative("conditions", "L1", q, frames="point"), "did you mean 'frame'"),
        (lambda: m.derivative("conditions", "L1", q, q), "2 arrays"),
        (lambda: m.derivative("conditions", "L1", q, held="theta2"), "along"),
        (lambda: m.derivative("conditions", "L1", q, threads=2), "no option 'threads'"),
        (lambda: m.derivative("condition", "L1", q, along="closed"), "did you mean 'conditions'"),
    ):
        with pytest.raises(es.ModelError, match=sentence):
            wrong()
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        m.derivative("conditions", "L1", q + 0.1)
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        m.derivative("conditions", "L1", q, parameters={"L2": 0.05})
    with pytest.raises(es.InputError, match="do not fit together"):
        m.derivative("conditions", "L1", np.stack([q] * 3), parameters={"L2": [0.04, 0.04]})
    with pytest.raises(es.SingularityError, match="serial condition of elbow has no derivative"):
        arm.derivative("conditions", "a1", [0.3, 0.0], frame="tool", part="translation")
    lost = arm.derivative(
        "conditions",
        "a1",
        [[0.3, 0.0], [0.3, 1.0]],
        frame="tool",
        part="translation",
        singular="ignore",
    )
    np.testing.assert_array_equal(np.isnan(lost.serial), [True, False])
