"""A formula of symbols as a graph, for the tests of what calls other functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca


def traced_graph(name: str, symbols: Sequence[Any], formula: Callable[..., Any]) -> Any:
    """A `casadi.Function` of what the formula gives, one value or several."""
    made = formula(*symbols)
    outputs = [ca.SX(x) for x in (made if isinstance(made, list | tuple) else [made])]
    return ca.Function(name, symbols, outputs)
