"""What calls are made on: a mechanism in a state of motion, a bond graph in a state, or the
functions of the library."""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import eslabon as es
from baseline.states import TIME, load, state_of


class MechanismCase:
    """A mechanism, its stored state, and arguments that several calls share."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.m = load(name)
        state = state_of(name, self.m)
        self.q, self.v, self.a, self.tau = (
            np.array(state[key], dtype=float) for key in ("q", "v", "a", "tau")
        )
        self.rest = np.zeros(self.m.nv)
        self.kind = "closed" if self.m.closed else "tree"
        self.timed: dict[str, Any] = {"t": TIME} if self.m.rheonomic else {}

    @cached_property
    def frame(self) -> str:
        return self.m.frames[0].name if self.m.frames else self.m.bodies[-1].name

    @cached_property
    def pose(self) -> np.ndarray:
        return np.asarray(self.m.pose(self.q, self.frame))

    @cached_property
    def position(self) -> np.ndarray:
        return self.pose[:3, 3]

    @cached_property
    def parameter(self) -> str:
        """The first parameter of the model; a mechanism without one gets the sentence that says
        so."""
        return next(iter(self.m.parameters), "no_parameter")

    @property
    def parameter_value(self) -> float:
        return float(self.m.parameters.get(self.parameter, 1.0))

    def motors(self, x: np.ndarray, velocities: bool = False) -> np.ndarray:
        """The part of coordinates or velocities that belongs to the actuated joints."""
        places = self.m.actuated_velocities if velocities else self.m.actuated_coordinates
        return x[list(places)]

    @cached_property
    def linear_model(self) -> Any:
        return self.m.linearize(self.q, self.rest, self.tau, **self.timed)

    @cached_property
    def rest_model(self) -> Any:
        """About the state at rest, held by its motors."""
        return self.m.linearize(self.q)

    @cached_property
    def joint_path(self) -> Any:
        """A small motion of the actuated joints from the state on."""
        begin = self.motors(self.q)
        return es.paths.joint_path([begin, begin + 0.05], es.paths.quintic(0.5))

    @cached_property
    def motion(self) -> Any:
        """Let go at rest; a force of 1 N m would hurl small mechanisms about."""
        return self.m.simulate(self.q, self.rest, np.linspace(0.0, 0.1, 5))

    @cached_property
    def graph(self) -> Any:
        return self.m.bond_graph()

    def save(self, suffix: str) -> Path:
        return self.m.save(self.folder / f"{self.name}{suffix}")

    @cached_property
    def folder(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="baseline_")
        return Path(self._folder.name)

    @cached_property
    def recorded_motion(self) -> dict[str, np.ndarray]:
        """A swing of all joints with the forces that it takes, for identification."""
        t = np.linspace(0.0, 2.0, 81)[:, None]
        rate = 2.0 + np.arange(self.m.nv)
        q, v, a = np.sin(rate * t), rate * np.cos(rate * t), -(rate**2) * np.sin(rate * t)
        return {"t": t[:, 0], "q": q, "v": v, "a": a, "tau": self.m.inverse_dynamics(q, v, a)}


class GraphCase:
    """A bond graph of the library, with a state and inputs from a seed."""

    kind = "tree"

    def __init__(self, name: str) -> None:
        self.g = es.BondGraph.load(name)
        self.name = name

    @cached_property
    def x(self) -> np.ndarray:
        return np.random.default_rng(crc32(self.name.encode())).uniform(
            0.1, 0.6, len(self.g.states)
        )

    @cached_property
    def u(self) -> np.ndarray:
        return np.linspace(0.5, 1.0, len(self.g.inputs))

    @cached_property
    def folder(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="baseline_")
        return Path(self._folder.name)


class FunctionCase:
    """Functions that need no mechanism."""

    kind, name = "tree", "functions"
