"""Whatever is given for whatever argument: a motion, or one sentence; and mechanisms that can hardly move."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.simulate import Motion, Table, simulate, traced
from small_mechanisms import SMALL

M = es.load("double_pendulum")
NAN = float("nan")
NONSENSE = [
    None, True, 0, -1, 1.5, 5, NAN, np.inf, 1j, "", "x", b"x", [], {}, set(), object(), max, [None], ["a"], [[1.0], [2.0, 3.0]],
    np.array("text"), np.array([1 + 1j, 2.0]), np.zeros((0, 2)), {"a": 1}, {5: [1.0]}, {"a": "b"}, lambda: 3, 10**400,
]  # fmt: skip
ARGUMENTS = [
    "q0", "v0", "t", "control", "method", "formulation", "constraints", "step", "every", "hold", "rtol", "atol", "events",
    "external", "parameters", "singular", "progress", "threads",
]  # fmt: skip


def answers(call):
    """Whether a call gives something, or refuses in one sentence."""
    try:
        return call()
    except es.EslabonError as error:
        assert str(error).strip()
        assert "\n" not in str(error)
        return None


@pytest.mark.parametrize("name", ARGUMENTS)
def test_any_argument_of_simulate(name):
    for fixed in ({}, {"method": "rk4", "step": 0.05}):
        for value in NONSENSE:
            given = {"q0": [0.1, 0.0], "v0": None, "t": 0.1, **fixed, name: value}
            found = answers(lambda given=given: simulate(M, **given))
            assert found is None or np.isfinite(found.q).all()


REFUSED = [
    {"parameters": 5}, {"formulation": ""}, {"threads": "a"}, {"every": 1.5}, {"hold": "x"}, {"progress": 3}, {"t": "1"},
    {"step": True}, {"method": ""}, {"singular": None}, {"rtol": "tight"}, {"rtol": 0}, {"atol": -1}, {"atol": [1, 2]},
    {"constraints": "glue"}, {"external": 5}, {"events": "fall"}, {"threads": 0}, {"every": True}, {"control": "up"},
    {"q0": None}, {"v0": "fast"}, {"parameters": {"m2": "heavy"}}, {"parameters": {"m2": -1.0}},
]  # fmt: skip


@pytest.mark.parametrize("given", REFUSED, ids=str)
def test_what_is_never_accepted(given):
    for fixed in ({}, {"method": "rk4", "step": 0.05}):
        with pytest.raises(es.EslabonError):
            simulate(M, **{"q0": [0.1, 0.0], "v0": None, "t": 0.1, **fixed, **given})


def test_tables_laws_and_motions():
    motion = simulate(M, [0.1, 0.0], None, [0.0, 0.1, 0.2])
    many = simulate(M, [[0.1, 0.0]] * 3, None, [0.0, 0.1, 0.2])
    table = Table([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]], "linear")
    for value in NONSENSE:
        for call in (
            lambda x: Table(x, [[1.0]]), lambda x: Table([0.0], x), lambda x: Table([0.0], [[1.0]], x), table.at, traced,
            lambda x: simulate(M, [0.1, 0.0], None, 0.1, traced(x)), motion.until, motion.joint, motion.__getitem__,
            many.__getitem__, motion.save, Motion.load,
        ):  # fmt: skip
            answers(lambda call=call, value=value: call(value))
    for call in (lambda: motion.until("x"), lambda: motion.joint(5), lambda: motion[0], lambda: many[...], lambda: many[None],
        lambda: many[7], lambda: many["x"], lambda: many[1, 2], lambda: traced(5), lambda: motion.save(5)):  # fmt: skip
        with pytest.raises(es.EslabonError):
            call()


@pytest.mark.parametrize("name", SMALL)
def test_small_mechanisms_move_or_say_why_not(name):
    m = SMALL[name]()
    for options in ({}, {"method": "rk4", "step": 0.01}, {"method": "symplectic", "step": 0.01}, {"method": "Radau"}):
        motion = answers(lambda options=options: m.simulate(m.home(), None, 0.1, **options))
        if motion is not None:
            assert np.ptp(motion.energy.total) < 1e-3 * max(1.0, np.abs(motion.energy.total).max())
            assert motion.tau.shape == (len(motion.t), m.nu)
            assert motion.closure.max() < 1e-10
    if name in ("one_joint_and_fixed", "locked_loop"):
        assert m.simulate(m.home(), None, 0.1, method="rk4", step=0.01).t[-1] == 0.1
