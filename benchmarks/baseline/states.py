"""The subjects of the baseline and the state of motion in which each is examined.

States are stored, so that a verb is called with the same numbers by every version of the library: a
change in how loops are assembled then shows in the verbs that assemble, and in no other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import eslabon as es

HERE = Path(__file__).parent
DRAWN = HERE / "drawn"
STATES = HERE / "states.json"
TIME = 0.3  # s, for mechanisms that are driven in time

State = dict[str, list[float]]


def drawn_names() -> list[str]:
    return sorted(file.stem for file in DRAWN.glob("*.toml"))


def load(name: str) -> es.Mechanism:
    """A mechanism of the library or of `drawn`, by name."""
    file = DRAWN / f"{name}.toml"
    return es.load(file if file.exists() else name)


@cache
def stored_states() -> dict[str, State]:
    made: dict[str, State] = (
        json.loads(STATES.read_text(encoding="utf-8")) if STATES.exists() else {}
    )
    return made


def state_of(name: str, m: es.Mechanism) -> State:
    """The stored state; a mechanism that has none yet gets the one that `draw` would store."""
    stored = stored_states().get(name)
    return derive_state(name, m) if stored is None else stored


def derive_state(name: str, m: es.Mechanism) -> State:
    """A state near home, by a seed from the name; closed with velocities and accelerations that
    keep it so."""
    rng = np.random.default_rng(crc32(name.encode()))
    timed: dict[str, Any] = {"t": TIME} if m.rheonomic else {}
    v, a = rng.uniform(-1, 1, m.nv), rng.uniform(-2, 2, m.nv)
    tau = rng.uniform(-1, 1, m.nu)
    step = rng.uniform(-0.15, 0.15, m.nv)
    for scale in (1.0, 0.3, 0.1, 0.0):
        try:
            q = moved(m, m.home(), scale * step)
            if m.closed:
                q, v, a = (np.asarray(x) for x in m.project(q, v, a, **timed))
            break
        except es.EslabonError:
            if scale == 0.0:
                q = m.home()
    return {"q": q.tolist(), "v": v.tolist(), "a": a.tolist(), "tau": tau.tolist()}


def moved(m: es.Mechanism, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """A configuration after a step along the velocities; quaternions stay of unit length."""
    from eslabon.model.configuration import integrate

    return np.asarray(integrate(m, q, step))


def write_states(derive: Callable[[str, es.Mechanism], State], anew: bool) -> None:
    states = {} if anew else stored_states()
    for name in (*es.robots(), *drawn_names()):
        if name not in states:
            states[name] = derive(name, load(name))
    lines = (f"{json.dumps(name)}: {json.dumps(state)}" for name, state in sorted(states.items()))
    STATES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
