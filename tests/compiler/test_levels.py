"""LLVM's two levels: the same numbers bit for bit, and code that is never taken for that of the other level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler import store as cache
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.quantities import QUANTITIES
from eslabon.solve.constraints.closed_configurations import CLOSURE

SWITCH = "ESLABON_OPTIMIZATION"
# Joints of every kind, trees, loops in the plane and in space, springs, motors with rotors.
TEN = (
    "bricard", "cart_pole", "delta", "five_bar", "planar_3rrr", "puma560_drives", "rojas_7r_loop", "rojas_t3",
    "stanford_arm", "stewart_gough",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))
    monkeypatch.delenv(SWITCH, raising=False)


def state(m: es.Mechanism, states: int = 3) -> tuple[Any, ...]:
    rng = np.random.default_rng(7)
    q = m.home() + 0.1 * rng.normal(size=(states, m.nq))
    return q, *rng.normal(size=(2, states, m.nv)), rng.normal(size=(states, m.nu))


def dynamics(name: str) -> dict[str, Any]:
    """Numbers of a mechanism that has no code yet; wherever a state is, also where loops are open."""
    m = es.load(name)
    q, v, a, tau = state(m)
    anywhere = {"tolerance": np.inf} if m.closed else {}
    return {
        "pose": m.pose(q),
        "inverse_dynamics": m.inverse_dynamics(q, v, a, **anywhere),
        "forward_dynamics": m.forward_dynamics(q, v, tau, **anywhere),
    }


def other_verbs(name: str) -> dict[str, Any]:
    m = es.load(name)
    q, v, a, tau = state(m)
    parameter = next(iter(m.parameters))
    own = {parameter: np.full(3, m.parameters[parameter])}
    motion = m.simulate(m.home(), None, 0.02, tau[0], method="rk4", step=1e-3, progress=False)
    return {
        "jacobian": m.jacobian(q), "velocity": m.velocity(q, v), "acceleration": m.acceleration(q, v, a),
        "mass_matrix": m.mass_matrix(q), "coriolis_matrix": m.coriolis_matrix(q, v), "energy": m.energy(q, v),
        "gravity_forces": m.gravity_forces(q), "parameters": m.pose(q, parameters=own),
        "derivative": m.derivative("pose", "q", q), "one state": m.pose(q[0]), "q": motion.q, "v": motion.v,
    }  # fmt: skip


def compare(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, x in one.items():
        assert np.all(np.isfinite(x))
        np.testing.assert_array_equal(other[name], x, err_msg=name)


@pytest.mark.parametrize("name", TEN)
def test_dynamics_agree(levels: list[int], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    found = {}
    for level in (1, 0):
        monkeypatch.setenv(SWITCH, str(level))
        found[level] = dynamics(name)
        assert (
            max(levels) == level
        )  # at level 1, straight code of rare formulas and of long ones is at level 0
        assert levels.count(level) >= 3
        levels.clear()
    compare(found[1], found[0])


@pytest.mark.parametrize("name", ["rojas_3r", "scara"])
def test_other_verbs_agree(levels: list[int], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    usual = other_verbs(name)
    assert max(levels) == 1
    levels.clear()
    monkeypatch.setenv(SWITCH, "0")
    compare(usual, other_verbs(name))
    assert set(levels) == {0}


def test_code_of_the_two_levels_is_kept_apart(
    levels: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On disk and in the memory of a mechanism; not to set the switch is to set it to 1."""
    m, places, functions = es.load("elbow"), [], []
    for setting in ("0", "1", None, "", "0"):
        monkeypatch.delenv(SWITCH) if setting is None else monkeypatch.setenv(SWITCH, setting)
        places.append(cache._path("key"))
        functions.append(evaluate(m, QUANTITIES["energy"].formula(closed=False)))
    assert levels == [0, 1]
    for found in (places, functions):
        assert found[0] == found[4]
        assert found[0] != found[1]
        assert found[1] == found[2] == found[3]
    monkeypatch.setenv(SWITCH, "0")
    es.load("elbow").energy([0.1, 0.2], [0.0, 0.0])  # of which both are on disk
    assert levels == [0, 1]


def test_a_step_that_is_repeated_is_kept_apart(
    levels: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    m = es.load("elbow")
    for setting in ("1", "0", "1", "0"):
        monkeypatch.setenv(SWITCH, setting)
        m.simulate([0.1, 0.2], None, 0.01, method="rk4", step=1e-3, progress=False)
    assert sorted(levels) == [0] * (len(levels) // 2) + [1] * (len(levels) // 2)


def test_a_rare_formula_has_its_straight_code_at_level_0_and_is_kept_apart(
    levels, monkeypatch
) -> None:
    m, found = es.load("five_bar"), {}
    for setting, made in (("1", [1, 0]), ("0", [0]), ("1", []), ("0", [])):
        levels.clear()
        monkeypatch.setenv(SWITCH, setting)
        f = evaluate(m, CLOSURE)
        assert levels == made
        assert found.setdefault(setting, f) is f
    assert found["0"] is not found["1"]


@pytest.mark.parametrize("setting", ["2", "-1", "O1", "yes", " 1", "01"])
def test_another_level_is_refused(
    levels: list[int], monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv(SWITCH, setting)
    with pytest.raises(
        es.InputError,
        match=rf"^ESLABON_OPTIMIZATION is '{setting}'; set it to 0 .* or leave it out\.$",
    ):
        es.load("elbow").pose([0.1, 0.2])
    assert levels == []
