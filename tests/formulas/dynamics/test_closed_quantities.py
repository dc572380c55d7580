"""Every quantity of the table follows a parameter along the closed configuration as mechanisms assembled anew do: on random
mechanisms of all joint kinds, for batches, and where parameters are given as arrays."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import eslabon as es
from assembled_anew import Held, designed, differences, motion, slope
from eslabon.formulas.quantities import FOLLOWING, QUANTITIES

CASES = [
    (9, ["revolute"] * 5, ["spherical"]),
    (2, ["revolute", "spherical", "prismatic"], ["spherical"]),
    (1, ["spherical", "revolute", "cylindrical", "helical"], ["universal"]),
    (4, ["planar", "revolute", "universal"], ["spherical"]),
    (1, ["free", "revolute"], ["spherical"]),
]
NAMES = [
    name
    for name in dict.fromkeys([*QUANTITIES, *FOLLOWING])
    if not name.startswith("coupling_forces")
]
LONG = {
    "inverse_dynamics_derivatives": 1,
    "forward_dynamics_derivatives": 0,
    "state_matrix": 1,
}  # on five velocities
OF_FRAMES = ("pose", "jacobian", "velocity", "acceleration", "position_hessian")


@cache
def case(k: int) -> tuple[Any, ...]:
    """A mechanism in motion, its held velocities, the actuators' forces, and its states assembled anew."""
    seed, kinds, cuts = CASES[k]
    m, q = designed(seed, kinds, cuts)
    names = m.independent_coordinates(q)
    m = m.with_actuated(
        [j.name for j in m.joints if any(name.split(".")[0] == j.name for name in names)]
    )
    rng = np.random.default_rng(seed)
    v, a = motion(m, q, rng)
    tau = rng.normal(size=m.nu)
    held = Held(m, names)
    return m, held, {"q": q, "v": v, "a": a, "tau": tau}, held.states(q, v, a)


def value(
    m: es.Mechanism, name: str, states: dict[str, np.ndarray], options: dict[str, Any]
) -> Any:
    """A quantity at states with their own values of s."""
    if name in FOLLOWING:
        return states[{"configuration": "q", "velocities": "v", "accelerations": "a"}[name]]
    from eslabon.formulas.quantities import quantity
    from eslabon.verbs import NativeVerbs

    formula = quantity(m, name)
    arrays = tuple(states[x] for x in formula.input_names)
    verbs = NativeVerbs(m, lambda _, __: [])
    return verbs.careful((name,), *arrays, **options, parameters={"s": states["s"]})


@pytest.mark.parametrize(
    ("k", "name"), [(LONG.get(name, k % len(CASES)), name) for k, name in enumerate(NAMES)]
)
def test_every_quantity_follows(k: int, name: str) -> None:
    m, held, state, anew = case(k)
    if (
        name == "hybrid_dynamics"
    ):  # which prescribes actuated motion alone, and takes any other accelerations
        m = m.with_actuated([j.name for j in m.joints if j.name in held.names][:1])
        state, anew = (
            {**state, "a": state["a"] * 1.5},
            {**anew, "a": np.broadcast_to(state["a"] * 1.5, anew["a"].shape)},
        )
    options = {"frame": "tip"} if name in OF_FRAMES else {}
    formula = {**QUANTITIES, **FOLLOWING}[name].formula(closed=True)
    given = {**anew, "tau": state["tau"]}
    if m.nu != len(state["tau"]):
        given["tau"] = state["tau"] = np.ones(m.nu)
    expected = value(m, name, given, options)
    exact = m.derivative(
        name,
        "s",
        *(state[x] for x in formula.input_names),
        along="closed",
        held=held.names,
        **options,
    )
    # Where the parameter is given as an array, the states beside belong to its values; their mean is that at zero.
    many = m.derivative(
        name, "s", *(given[x] for x in formula.input_names), along="closed", held=held.names,
        parameters={"s": anew["s"]}, **options,
    )  # fmt: skip
    for x, y, z in zip(
        *(r if isinstance(r, tuple) else (r,) for r in (expected, exact, many)), strict=True
    ):
        about = max(1.0, np.abs(y).max(initial=0.0))
        np.testing.assert_allclose(y / about, slope(x) / about, atol=2e-7)
        between = np.tensordot([0.75, 0.75, -0.3, -0.3, 0.05, 0.05], z, axes=1)
        np.testing.assert_allclose(between / about, y / about, atol=1e-8)


def geared() -> es.Mechanism:
    """A shaft that drives another through a gear, and a third that the time drives, how far is a parameter."""
    b = es.Builder("geared", gravity=(0, -9.81, 0))
    n = b.parameter("n", 2.0)
    b.parameter("far", 0.3)
    for k in (1, 2, 3):
        b.body(f"b{k}", 1.0 + k, (0.2, 0.1, 0), (0.1, 0.1, 0.1))
        b.joint(f"q{k}", "revolute", f"b{k - 1}" if k > 1 else "ground", f"b{k}", (0.3, 0, 0))
    b.couple("gear", "q2", "q1", ratio=n, offset=0.1).drive("cam", "q3", "far*sin(2*t)")
    return b.actuate("q1").build()


@pytest.mark.parametrize("name", ["n", "far"])
def test_gears_and_driven_joints_follow(name: str) -> None:
    m, t = geared(), 0.4

    def state(s: float) -> list[np.ndarray]:
        n, far = (m.parameters[x] + s * (x == name) for x in ("n", "far"))
        angle = far * np.array([np.sin(2 * t), 2 * np.cos(2 * t), -4 * np.sin(2 * t)])
        return [
            np.array([x, n * x + 0.1 * (k == 0), angle[k]]) for k, x in enumerate((0.5, -1.2, 0.7))
        ]

    def force(s: float, quantity: str) -> np.ndarray:
        return getattr(m.variant(**{name: m.parameters[name] + s}), quantity)(*state(s), t=t)

    here = state(0.0)
    moved = m.derivative("accelerations", name, *here, along="closed", t=t)
    np.testing.assert_allclose(moved, differences(lambda s: state(s)[2]), atol=1e-9)
    for quantity in ("coupling_forces", "inverse_dynamics"):
        exact = m.derivative(quantity, name, *here, along="closed", t=t)
        np.testing.assert_allclose(
            exact, differences(lambda s, x=quantity: force(s, x), 1e-3), rtol=1e-8
        )
