"""Base parameters: which combinations of the parameters motion can tell."""

from __future__ import annotations

import numpy as np

from eslabon.arguments import Floats, count, instance
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import ModelError
from eslabon.model import Model, as_model
from eslabon.model.configuration import normalize
from eslabon.model.memory import per_model
from eslabon.solve.constraints.closed_configurations import beside, generic
from eslabon.systems.identification.inertial_parameters import BaseParameters, regrouped
from eslabon.systems.identification.parameters import (
    NO_TERMS,
    Terms,
    model_parameters,
    parameter_names,
)
from eslabon.systems.identification.regressor_equations import (
    INDEPENDENT_MOTION,
    LINEAR_EQUATIONS,
    independent,
)

SINGULAR = 1e-3  # of the reciprocal condition number: configurations nearer to singular tell less of all others


def base_parameters(
    m: Model, samples: int | None = None, terms: Terms = NO_TERMS
) -> BaseParameters:
    """Base parameters by the rank of the regressor over random motions (Gautier and Khalil); none
    where nothing moves.

    With loops the motions are those that keep them closed, and the regressor is that of the
    independent velocities, N^T Y.

    >>> import eslabon as es
    >>> base_parameters(es.load("parallelogram")).expressions
    ('mx(crank1) + 0.5 m(coupler) + mx(crank2)', 'my(crank1) + my(crank2)', 'Izz(crank1) + 0.25 m(coupler) + Izz(crank2)')
    """
    instance(terms, "terms", Terms, "what es.identification.identify fits beside the inertias")
    return _base(as_model(m), samples if samples is None else count(samples, "samples", 1), terms)


@per_model
def _base(m: Model, samples: int | None, terms: Terms) -> BaseParameters:
    refuse_driven(m)
    number = samples or 4 * len(m.bodies) + 10 + len(terms.listed())
    Y = _random_regressor(m, number, terms)
    return regrouped(Y, model_parameters(m, terms), parameter_names(m, terms))


def refuse_driven(m: Model) -> None:
    """Refuse what is not written in independent coordinates here."""
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time; identify it without its drives, with those joints actuated."
        )


def _random_regressor(m: Model, number: int, terms: Terms) -> Floats:
    """N^T Y over random motions, row under row."""
    rng = np.random.default_rng(0)
    if not independent(m):
        return np.zeros((0, 10 * len(m.bodies) + len(terms.listed())))
    if not m.closed:
        q = normalize(m, rng.normal(size=(number, m.nq)))
        v, a = rng.normal(size=(2, number, m.nv))
    else:
        q, (vi, ai) = (
            closed_configurations(m, number, rng),
            rng.normal(size=(2, number, len(independent(m)))),
        )
        v, a, condition = evaluate(m, INDEPENDENT_MOTION)(q, vi, ai)
        good = condition > min(SINGULAR, 0.5 * float(np.max(condition, initial=0.0)))
        q, v, a = q[good], v[good], a[good]
    Y = evaluate(m, LINEAR_EQUATIONS, terms=terms)(q, v, a, np.zeros((len(q), m.nu)))[0]
    return Y.reshape(-1, Y.shape[-1])


def closed_configurations(m: Model, number: int, rng: np.random.Generator) -> Floats:
    """Configurations that close the loops, about the ordinary one near home and farther and farther
    off."""
    q = generic(m)
    return np.array([beside(m, q, rng, far) for far in np.linspace(0.1, 1.0, number)]).reshape(
        number, m.nq
    )
