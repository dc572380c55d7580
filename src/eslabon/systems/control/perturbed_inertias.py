"""Mechanisms whose inertias are not quite what was thought: what a law is tried on."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eslabon.answers import answer
from eslabon.arguments import MAX_SEED, Floats, count, positive
from eslabon.errors import InputError, ModelError
from eslabon.model import Body, Model, as_model
from eslabon.model.parameter_expressions import parameter


@answer
class Perturbed(NamedTuple):
    """A mechanism with a parameter for each body's inertia, and random values of these, (samples,)
    each, by name.

    >>> import eslabon as es
    >>> tried, parameters = es.control.perturbed(es.load("elbow"), 0.1, 3)
    >>> {name: values.shape for name, values in parameters.items()}
    {'inertia_of_link1': (3,), 'inertia_of_link2': (3,)}
    """

    m: Model
    parameters: dict[str, Floats]

    def __repr__(self) -> str:
        samples = len(next(iter(self.parameters.values()), ()))
        return f"<Perturbed: {self.m.name}, {len(self.parameters)} inertias, {samples} samples>"


def perturbed(m: Model, tolerance: float, samples: int, seed: int = 0) -> Perturbed:
    """The mechanism with its inertias known within a tolerance only, for many trajectories of one
    native run:

        tried, parameters = es.control.perturbed(m, 0.2, 1000)
        motion = tried.simulate(Q0, None, 2.0, law, parameters=parameters, method="rk4", step=1e-3, every=100)

    Mass and moments of inertia of each body are multiplied by one factor, even between 1 -
    tolerance and 1 + tolerance, so that they stay those of a body; centres of mass stay. The law
    keeps to what it was designed for.

    Parameters
    ----------
    m : the mechanism.
    tolerance : of each body's inertia, below 1.
    samples : how many.
    seed : of the random numbers.

    >>> import eslabon as es, numpy as np
    >>> m = es.load("double_pendulum")
    >>> law = es.control.computed_torque(m, [0.5, 0.2], frequency=10.0)
    >>> tried, parameters = es.control.perturbed(m, 0.2, 100)
    >>> motion = tried.simulate(np.zeros((100, 2)), None, 3.0, law, parameters=parameters, method="rk4", step=5e-3, every=100)
    >>> bool(0.01 < np.abs(motion.q[:, -1] - [0.5, 0.2]).max() < 0.3)
    True
    """
    if positive(tolerance, "tolerance", zero=True) >= 1:
        raise InputError(f"tolerance is a share of the inertias, below 1; it is {tolerance:g}.")
    known = {name for name, _ in as_model(m).description.parameters}
    names = {
        b.name: _free(f"inertia_of_{''.join(c if c.isalnum() else '_' for c in b.name)}", known)
        for b in m.bodies
    }
    if not names:
        raise ModelError(f"{m.name} has no bodies whose inertia could be another.")
    bodies = tuple(_scaled(b, names[b.name]) for b in m.description.bodies)
    parameters = (*m.description.parameters, *((name, 1.0) for name in names.values()))
    made = type(m)(replace(m.description, bodies=bodies, parameters=parameters))
    shares = np.random.default_rng(count(seed, "seed", most=MAX_SEED)).uniform(
        1 - tolerance, 1 + tolerance, size=(len(names), count(samples, "samples", 1))
    )
    return Perturbed(made, dict(zip(names.values(), shares, strict=True)))


def _free(name: str, known: set[str]) -> str:
    """A name that no parameter has yet."""
    while name in known:
        name += "_"
    known.add(name)
    return name


def _scaled(body: Body, name: str) -> Body:
    factor = parameter(name)
    return replace(body, mass=factor * body.mass, inertia=tuple(factor * x for x in body.inertia))
