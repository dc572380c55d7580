"""Driven mechanisms: models at instants, whose time is a parameter that never travels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from eslabon.arguments import Floats, finite
from eslabon.errors import ModelError
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.validation import TIME
from eslabon.solve.prescribed import prescribed
from eslabon.solve.problem import Problem
from eslabon.solve.solve_options import Options

M = TypeVar("M", bound=Model)


def at_time(m: M, t: Any) -> M:
    """The mechanism with its constraints as they are at an instant."""
    return type(m)(replace(m.description, parameters=(*m.description.parameters, (TIME, float(t)))))


@per_model
def _started(m: Model) -> Model:
    return at_time(m, 0.0)


def instants(m: Model, t: Any) -> Floats:
    """The times that are given, where the constraints depend on them."""
    if not m.rheonomic:
        raise ModelError(f"the constraints of {m.name} do not depend on the time; leave t out.")
    if t is None:
        raise ModelError(f"the constraints of {m.name} depend on the time; give it, as t=0.5.")
    return finite(t, "t")


def at_instants(m: Model, given: Any, o: Options) -> tuple[Model, Problem, Floats, Options]:
    """What is prescribed, and of which mechanism: where constraints depend on the time (Díaz, 2),
    of one to which the time is a parameter like any other."""
    if m.rheonomic or o.t is not None:
        when = instants(m, o.t)
        m, o = _started(m), replace(o, t=None, parameters={TIME: when, **dict(o.parameters or {})})
    return m, *prescribed(m, given), o
