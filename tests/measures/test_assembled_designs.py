"""Motions completed in many designs at once: as m.complete does it in each, or a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from eslabon.measures import PeakTorque, Quantity
from eslabon.measures.assembled_designs import assembled
from eslabon.measures.given_motion import given_motion
from eslabon.model.parameter_expressions import number


def motion(m, away, rows=7):
    """A motion of the actuated joints from where the closed home has them."""
    start = m.project(m.home())[list(m.actuated_coordinates)]
    path = es.paths.joint_path([start, start + away], es.paths.quintic(1.0))
    return given_motion(path, samples=rows), path.sample(n=rows)


@pytest.mark.parametrize(
    ("name", "designs"),
    [
        ("planar_3rrr", {"L": [0.95, 1.05], "m_link": [0.9, 1.2]}),
        ("slider_crank", {"r": [0.95, 1.05]}),
        ("delta", {"L_rod": [0.97, 1.03]}),
    ],
)
def test_states_are_those_of_each_mechanism(name: str, designs: dict) -> None:
    m = es.load(name)
    designs = {key: m.parameters[key] * np.array(x) for key, x in designs.items()}
    given, s = motion(m, 0.1)
    found = assembled(m, designs, given)
    assert found.rows.tolist() == [0, 1]
    for k in range(2):
        other = m.with_parameters(**{key: float(x[k]) for key, x in designs.items()})
        states = other.complete(s.q, s.v, s.a, found.q[k, 0], continuation=True)
        for mine, theirs in zip((found.q[k], found.v[k], found.a[k]), states, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-8)


def test_designs_alike_are_completed_once() -> None:
    m = es.load("five_bar")
    given, _ = motion(m, 0.1)
    found = assembled(
        m, {"L2": np.array([0.05, 0.04, 0.05]), "m3": np.array([0.01, 0.02, 0.03])}, given
    )
    np.testing.assert_array_equal(found.q[0], found.q[2])
    assert np.abs(found.q[0] - found.q[1]).max() > 1e-3
    same = assembled(m, {"m3": np.array([0.01, 0.02, 0.03])}, given)
    assert same.q.shape == (1, 7, 4)


def test_what_is_beyond_the_limits_has_a_reason() -> None:
    m = es.load("delta")
    given, _ = motion(m, 2.0)
    found = assembled(m, {"L_rod": 1.01 * np.array([m.parameters["L_rod"]])}, given)
    assert len(found.reasons) == 1
    assert "cannot be assembled" in found.reasons[0]


def test_limits_that_depend_on_a_parameter() -> None:
    """A crank whose range is half a length: of two designs one may go there."""
    m = es.load("five_bar")
    joints = tuple(
        replace(j, limits=((number(0.0), number("30*L2")),)) if j.name == "theta5" else j
        for j in m.description.joints
    )
    m = es.Mechanism(replace(m.description, joints=joints))
    found = PeakTorque(
        es.paths.joint_path([[2.0, 1.0], [2.0, 1.3]], es.paths.quintic(1.0)), samples=5
    )
    found = found.measured(m, {"L2": np.array([0.04, 0.05])})
    assert list(found.reasons) == [0]
    assert "beyond its limits" in found.reasons[0]


def test_passive_motions_are_refused_or_least() -> None:
    m = es.load("rssr")
    q = m.project(m.home())[list(m.actuated_coordinates)]
    states = {"q": q, "v": [1.0], "a": [0.0]}
    with pytest.raises(
        es.ModelError, match=r"does not determine the motion of rssr: .*passive='minimum_norm'"
    ):
        Quantity("energy", **states).columns(m)
    designs = {"r": m.parameters["r"] * np.array([0.98, 1.02])}
    found = (
        Quantity("energy", **states, passive="minimum_norm")
        .measured(m, designs)
        .values["energy.kinetic"]
    )
    for k, r in enumerate(designs["r"]):
        other = m.with_parameters(r=float(r))
        states = other.complete(q, [1.0], [0.0], passive="minimum_norm")
        assert found[k] == pytest.approx(other.energy(*states[:2])[0], rel=1e-6)
