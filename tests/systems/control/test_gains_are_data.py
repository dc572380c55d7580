"""Gains, schedules and references are data of compiled laws: a law with other ones compiles nothing and gives its own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.trace import graphs_traced

CART = es.load("cart_pole")
LINEAR = CART.linearize([0.0, 0.0], outputs=["x", "theta"])
ARM = es.load("elbow")
FIVE = es.load("five_bar")


@contextmanager
def nothing_traced() -> Iterator[None]:
    before = graphs_traced.copy()
    yield
    assert graphs_traced - before == {}


def _path(m: Any, scale: float, points: int) -> Any:
    first = np.array([2.0, 1.0]) if m is FIVE else np.zeros(2)
    steps = np.linspace(0.0, 1.0, points)[:, None] * scale * np.array([0.3, 0.2])
    return es.paths.joint_path(first + steps, es.paths.quintic(0.5))


def _feedback(scale: float) -> Any:
    gains = es.control.lqr(LINEAR, scale, 0.1)
    observer = es.control.luenberger(LINEAR, -scale * np.array([8.0, 9.0, 10.0, 11.0]))
    return es.control.output_feedback(LINEAR, gains, observer).law()


def _filtered(scale: float) -> Any:
    observer = es.control.kalman_filter(
        LINEAR, 0.1 * scale, 1e-6, 0.01, through=LINEAR.B, period=0.01
    )
    gains = es.control.lqr(LINEAR, scale, 0.1)
    return es.control.output_feedback(LINEAR, gains, observer).law()


def _extended(scale: float) -> Any:
    observer = es.control.extended_kalman_filter(ARM, 1e-4 * scale, 1e-6 * scale, 0.01)
    law = es.control.computed_torque(ARM, [0.3 * scale, 0.2], 5.0 * scale)
    return observer.law(law, [0.0, 0.0], covariance=1e-4 * scale)


LAWS: dict[str, tuple[Any, Callable[[float], Any]]] = {
    "state_feedback": (CART, lambda s: es.control.state_feedback(CART, LINEAR, es.control.lqr(LINEAR, s, 0.1))),
    "pd_gravity": (ARM, lambda s: es.control.pd_gravity(ARM, [0.3 * s, 0.2], 20 * s, 5.0)),
    "pd_gravity of loops": (FIVE, lambda s: es.control.pd_gravity(FIVE, [2.0, 1.0 + 0.01 * s], s, 0.1)),
    "computed_torque": (ARM, lambda s: es.control.computed_torque(ARM, _path(ARM, s, 3), 5.0 * s)),
    "computed_torque of loops": (FIVE, lambda s: es.control.computed_torque(FIVE, _path(FIVE, s, 3), 5.0 * s)),
    "tracking_lqr": (ARM, lambda s: es.control.tracking_lqr(ARM, _path(ARM, s, 3), 10.0 * s, 1.0)),
    "modal": (ARM, lambda s: es.control.modal(ARM, _path(ARM, s, 3), 5.0 * s)),
    "adaptive": (ARM, lambda s: es.control.adaptive(ARM, _path(ARM, s, 3), 5.0 * s, 20.0 * s)),
    "sampled adaptive": (ARM, lambda s: es.control.adaptive(ARM, [0.1 * s, 0.2], 5.0 * s, 2.0 * s).sampled(0.01)),
    "sampled computed_torque": (ARM, lambda s: es.control.computed_torque(ARM, [0.1 * s, 0], s).sampled(0.01)),
    "output feedback": (CART, _feedback),
    "filtered output feedback": (CART, _filtered),
    "extended Kalman filter": (ARM, _extended),
}  # fmt: skip
LAWS["a law of one's own"] = (
    ARM,
    lambda s: es.control.law(
        ARM,
        lambda t, q, v, K, goal: K @ (goal - q) - 2 * v,
        numbers={"K": s * np.array([[5.0, 1.0], [1.0, 4.0]]), "goal": [0.3, 0.2]},
    ),
)
WAYS = {"fixed": {"method": "rk4", "step": 1e-3}, "explicit": {}, "implicit": {"method": "Radau"}}


def _end(m: Any, law: Any, way: str) -> np.ndarray:
    q0 = m.assemble([2.0, 1.0]) if m is FIVE else np.full(m.nq, 0.05)
    return np.concatenate(m.simulate(q0, None, 0.1, law, **WAYS[way]).end)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LAWS)
def test_another_gain_compiles_nothing(name: str, way: str) -> None:
    m, made = LAWS[name]
    first = _end(m, made(1.0), way)
    with nothing_traced():
        second = _end(m, made(1.5), way)
    assert not np.array_equal(first, second)
    assert np.array_equal(_end(m, made(1.0), way), first)


@pytest.mark.parametrize("name", [x for x in LAWS if "sampled" not in x and "filter" not in x])
def test_numbers_of_a_law_are_those_of_its_constants(name: str) -> None:
    import casadi

    m, made = LAWS[name]
    made(1.0)  # its code is there
    law = made(1.5)
    size = 0 if law.state is None else law.state.shape[-1]
    t, q, v, x = (casadi.SX.sym(*s) for s in (("t",), ("q", m.nq), ("v", m.nv), ("x", size)))
    baked = law(t, q, v, x) if size else (law(t, q, v),)
    f = casadi.Function("law", [t, q, v, x], [casadi.SX(y) for y in baked])
    q0 = m.assemble([2.0, 1.0]) if m is FIVE else np.full(m.nq, 0.05)
    for time in (-0.1, 0.0, 0.13, 0.5, 0.7):
        found = law(time, q0, np.full(m.nv, 0.1))
        want = f(time, q0, np.full(m.nv, 0.1), law.state if size else [])
        want = [want] if not size else want
        for a, b in zip(found if size else (found,), want, strict=True):
            np.testing.assert_allclose(a, np.array(b).ravel(), rtol=1e-12, atol=1e-12)


def test_another_reference_compiles_nothing_however_long_it_is() -> None:
    _end(ARM, es.control.computed_torque(ARM, _path(ARM, 1.0, 3), 5.0), "fixed")
    law = es.control.computed_torque(ARM, _path(ARM, 1.0, 40), 5.0)
    with nothing_traced():
        _end(ARM, law, "fixed")


@pytest.mark.parametrize("way", ["fixed", "explicit"])
def test_each_trajectory_may_have_a_gain_of_its_own(way: str) -> None:
    gains = np.array([es.control.lqr(LINEAR, s, 0.1).K for s in (1.0, 2.0, 3.0)])
    law = es.control.state_feedback(CART, LINEAR, gains)
    options = {**WAYS[way], **({} if way == "fixed" else {"rtol": 1e-8})}
    together = CART.simulate([0.05, 0.05], None, [0.0, 0.05, 0.1], law, **options)
    assert together.q.shape == (3, 3, 2)
    for k in range(3):
        alone = es.control.state_feedback(CART, LINEAR, gains[k])
        motion = CART.simulate([0.05, 0.05], None, [0.0, 0.05, 0.1], alone, **options)
        assert np.array_equal(motion.q, together.q[k])
        assert np.array_equal(motion.tau, together.tau[k])


@pytest.mark.parametrize(
    "numbers", [[1.0], {"K": []}, {"K": np.zeros((2, 2, 2))}, {"K": "a"}, {1: 2.0}]
)
def test_numbers_of_a_law_are_arrays_by_name(numbers: Any) -> None:
    with pytest.raises(es.InputError, match=r"numbers|K"):
        es.control.law(ARM, lambda t, q, v, K: -K @ v, numbers=numbers)


def test_a_law_in_another_process_has_tables_of_its_own() -> None:
    import cloudpickle

    law = es.control.tracking_lqr(ARM, _path(ARM, 1.0, 3), 10.0, 1.0)
    own = _end(ARM, law, "explicit")
    written = cloudpickle.dumps(law)
    del law
    assert np.array_equal(_end(ARM, cloudpickle.loads(written), "explicit"), own)


@pytest.mark.parametrize("way", WAYS)
def test_a_law_of_data_gives_the_bits_of_its_constants(way: str) -> None:
    """With effort limits too, which adaptive methods switch."""
    m = ARM.with_joint("theta1", effort_limit=5.0).with_joint("theta2", effort_limit=5.0)
    law = es.control.computed_torque(m, _path(m, 3.0, 4), 20.0)
    baked = es.simulate.traced(lambda t, q, v: law(t, q, v))
    options = {"saturate": True, **WAYS[way]}
    one, other = (m.simulate([0.1, 0.1], None, 0.3, x, **options) for x in (law, baked))
    # Graphs with numbers and with constants round differently in the last bit of a surface, so that an effort limit is met
    # 1e-16 s apart; the implicit method's iterations, which end within a part of its tolerances, then differ by as much.
    assert np.allclose(one.q, other.q, rtol=0, atol=2e-6 if way == "implicit" else 0)
    assert np.abs(one.tau).max() == pytest.approx(5.0)


def test_a_law_made_of_another_one_is_the_same() -> None:
    law = es.control.pd_gravity(ARM, [0.3, 0.2], 20.0, 5.0)
    same = es.control.law(ARM, law)
    assert np.array_equal(same(0.0, [0.1, 0.1], [0.2, 0.0]), law(0.0, [0.1, 0.1], [0.2, 0.0]))


def test_a_law_of_many_gains_has_no_source() -> None:
    gains = np.array([es.control.lqr(LINEAR, s, 0.1).K for s in (1.0, 2.0, 3.0)])
    law = es.control.state_feedback(CART, LINEAR, gains)
    assert law(0.0, [0.1, 0.1], [0.0, 0.0]).shape == (3, 1)
    with pytest.raises(es.InputError, match=r"trajectories of the shape \(3,\)"):
        law.c_source()


def test_a_filter_hands_its_estimates_to_a_law_with_and_without_numbers() -> None:
    observer = es.control.extended_kalman_filter(ARM, 1e-4, 1e-6, 0.01)
    laws = (
        lambda t, q, v: 4 * (0.3 - q) - 2 * v,
        es.control.law(ARM, lambda t, q, v: 4 * (0.3 - q) - 2 * v),
        es.control.law(ARM, lambda t, q, v, k: k * (0.3 - q) - 2 * v, numbers={"k": 4.0}),
    )
    ends = [_end(ARM, observer.law(x, [0.0, 0.0], covariance=1e-2), "fixed") for x in laws]
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=1e-12)


def test_another_noise_of_a_filter_compiles_nothing() -> None:
    motion = ARM.simulate([0.1, 0.2], None, 0.1, method="rk4", step=0.01)

    def followed(scale: float) -> np.ndarray:
        observer = es.control.extended_kalman_filter(ARM, 1e-4 * scale, 1e-6 * scale**2, 0.01)
        return observer.follow(motion.t, motion.q, q0=[0.0, 0.0], covariance=0.1).q

    first = followed(1.0)
    with nothing_traced():
        second = followed(3.0)
    assert not np.array_equal(first, second)
