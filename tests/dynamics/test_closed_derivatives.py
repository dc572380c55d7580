"""Derivatives by a parameter along the closed configuration are those of mechanisms assembled anew."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from eslabon.model import Pose
from eslabon.model.expressions import number
from eslabon.model.items import End
from random_mechanisms import random_closed

STEP = 2e-4
CASES = [
    (["revolute"] * 8, ["spherical"]),
    (["revolute", "universal", "prismatic", "spherical"], ["spherical"]),
    (["spherical", "revolute", "cylindrical", "helical"], ["universal"]),
    (["planar", "revolute", "universal", "prismatic"], ["spherical"]),
    (["free", "revolute"], ["spherical"]),
]


def differences(f: Callable[[float], np.ndarray], h: float = STEP) -> np.ndarray:
    """The derivative at zero by central differences of sixth order."""
    weights = {1: 45, 2: -9, 3: 1}
    return sum(w * (f(k * h) - f(-k * h)) for k, w in weights.items()) / (60 * h)


def designed(seed: int, kinds: list[str], cuts: list[str]) -> tuple[es.Mechanism, np.ndarray]:
    """A closed mechanism of which a length and a mass depend on the parameter s."""
    m, q = random_closed(np.random.default_rng(seed), kinds, cuts)
    d = m.description
    loop, body = d.loops[0], d.bodies[-1]
    x, y, z = loop.first.at.position
    moved = End(loop.first.body, Pose((number(f"{float(x)!r} + s"), y, z), loop.first.at.rpy))
    heavier = replace(body, mass=number(f"{float(body.mass)!r} + s"))
    made = replace(
        d, parameters=(("s", 0.0),), loops=(replace(loop, first=moved), *d.loops[1:]), bodies=(*d.bodies[:-1], heavier)
    )
    return es.Mechanism(made), q


@pytest.mark.parametrize(("kinds", "cuts"), CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_quantities_of_random_closed_mechanisms(seed: int, kinds: list[str], cuts: list[str]) -> None:
    m, q = designed(seed, kinds, cuts)
    rng = np.random.default_rng(seed)
    held = m.independent_coordinates(q)
    m = m.with_actuated([j.name for j in m.joints if j.nv and any(h.split(".")[0] == j.name for h in held)])
    free = rng.normal(size=(2, len(held)))
    places = [es_names(m).index(name) for name in held]
    v = m.project(q, expand(m, q, places, free[0]))[1]
    a = accelerations(m, q, v, places, free[1])

    def state(s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        other = m.with_parameters(s=s)
        qs = reassembled(other, q, places)
        vs = expand(other, qs, places, v[places])
        return qs, vs, accelerations(other, qs, vs, places, a[places])

    frame = m.bodies[-1].name
    exact = m.derivative("pose", "s", q, frame=frame, along="closed", held=held)
    np.testing.assert_allclose(exact, differences(lambda s: m.with_parameters(s=s).pose(state(s)[0], frame)), atol=1e-8)
    exact = m.derivative("velocities", "s", q, v, along="closed", held=held)
    np.testing.assert_allclose(exact, differences(lambda s: state(s)[1]), atol=1e-7)
    exact = m.derivative("accelerations", "s", q, v, a, along="closed", held=held)
    np.testing.assert_allclose(exact, differences(lambda s: state(s)[2]), atol=1e-6)
    exact = m.derivative("energy", "s", q, v, along="closed", held=held)
    energy = differences(lambda s: np.array(tuple(m.with_parameters(s=s).energy(*state(s)[:2]))))
    np.testing.assert_allclose(exact, energy, atol=1e-6)


def es_names(m: es.Mechanism) -> list[str]:
    from eslabon.model.configuration import velocity_names

    return list(velocity_names(m))


def expand(m: es.Mechanism, q: np.ndarray, places: list[int], free: np.ndarray) -> np.ndarray:
    """All velocities from the independent ones: J v = 0."""
    J = m.constraint_jacobian(q)
    v, rest = np.zeros(m.nv), [k for k in range(m.nv) if k not in places]
    v[places] = free
    v[rest] = np.linalg.lstsq(J[:, rest], -J[:, places] @ free, rcond=1e-10)[0]
    return v


def accelerations(m: es.Mechanism, q: np.ndarray, v: np.ndarray, places: list[int], free: np.ndarray) -> np.ndarray:
    """All accelerations from the independent ones: J a = -dJ/dt v, the rate of J by differences along the motion."""
    from eslabon.model.configuration import integrate

    J, h = m.constraint_jacobian(q), 1e-3
    rate = sum(
        w * (m.constraint_jacobian(integrate(m, q, k * h * v)) - m.constraint_jacobian(integrate(m, q, -k * h * v)))
        for k, w in {1: 45, 2: -9, 3: 1}.items()
    ) / (60 * h)
    a, rest = np.zeros(m.nv), [k for k in range(m.nv) if k not in places]
    a[places] = free
    a[rest] = np.linalg.lstsq(J[:, rest], -rate @ v - J[:, places] @ free, rcond=1e-10)[0]
    return a


def reassembled(m: es.Mechanism, q: np.ndarray, places: list[int]) -> np.ndarray:
    """The closed configuration with the same independent coordinates, by Newton's iteration of our own."""
    from eslabon.model.configuration import integrate

    rest = [k for k in range(m.nv) if k not in places]
    for _ in range(12):
        step = np.zeros(m.nv)
        step[rest] = np.linalg.lstsq(m.constraint_jacobian(q)[:, rest], -m.constraint(q), rcond=1e-10)[0]
        q = integrate(m, q, step)
    return q


def test_what_cannot_follow_is_refused() -> None:
    m, q = designed(2, ["revolute"] * 8, ["spherical", "spherical"])  # its second loop holds what the first one does
    with pytest.raises(es.AssemblyError, match="cannot follow a change of 's' alone"):
        m.derivative("configuration", "s", q, along="closed", held=m.independent_coordinates(q))


def test_what_changes_all_lengths_together_is_followed() -> None:
    m = es.load("bennett")
    q = m.assemble([1.2])
    np.testing.assert_allclose(m.derivative("configuration", "a", q, along="closed"), 0.0, atol=1e-12)
    turned = differences(lambda s: m.with_parameters(alpha=m.parameters["alpha"] + s).assemble([1.2], guess=q))
    np.testing.assert_allclose(m.derivative("configuration", "alpha", q, along="closed"), turned, atol=1e-7)


def test_torques_reactions_and_frozen_by_name() -> None:
    m = es.load("five_bar")
    given = [2.0, 1.0], [1.0, -0.5], [0.3, 0.2]
    q, v, a = m.complete(*given)

    def anew(quantity: str, parameter: str) -> np.ndarray:
        def f(step: float) -> np.ndarray:
            other = m.with_parameters(**{parameter: m.parameters[parameter] + step})
            return getattr(other, quantity)(*other.complete(*given, guess=q))

        return differences(f, 1e-5)

    for quantity in ("inverse_dynamics", "reactions"):
        for parameter in ("L1", "L2", "L4", "m3"):
            exact = m.derivative(quantity, parameter, q, v, a, along="closed")
            np.testing.assert_allclose(exact, anew(quantity, parameter), rtol=1e-6, atol=1e-8)
    frozen = m.derivative("inverse_dynamics", "L2", q, v, a)
    np.testing.assert_array_equal(m.derivative("inverse_dynamics", "L2", q, v, a, along="frozen"), frozen)
    assert np.abs(m.derivative("inverse_dynamics", "L2", q, v, a, along="closed") - frozen).max() > 1e-5
    many = m.derivative("inverse_dynamics", "L2", *(np.array([x, x]) for x in (q, v, a)), along="closed")
    np.testing.assert_allclose(many[1], m.derivative("inverse_dynamics", "L2", q, v, a, along="closed"), rtol=1e-12)


def test_bad_input_is_a_sentence() -> None:
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    with pytest.raises(es.ModelError, match="no parameter 'L9'"):
        m.derivative("pose", "L9", q, along="closed")
    with pytest.raises(es.ModelError, match="by a parameter"):
        m.derivative("pose", "q", q, along="closed")
    with pytest.raises(es.ModelError, match="along"):
        m.derivative("pose", "L2", q, along="loops")
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        m.derivative("pose", "L2", q + 0.1, along="closed")
    with pytest.raises(es.ModelError, match="held"):
        m.derivative("pose", "L2", q, held=("theta2",))
    with pytest.raises(es.ModelError, match="say which are held"):
        m.with_actuated(["theta2"]).derivative("pose", "L2", q, along="closed")
