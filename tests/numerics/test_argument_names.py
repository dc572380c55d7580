"""Every public function of es.algebra says which of its arguments is wrong."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import casadi
import numpy as np
import pytest

import eslabon as es
from nonsense.valid_calls import Examples

FUNCTIONS = [name for name in es.algebra.__all__ if inspect.isfunction(getattr(es.algebra, name))]
WRONG = {
    "text": "x",
    "dict": {},
    "ragged": [[1.0, 2.0], [3.0]],
    "object": object(),
    "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False]),
}
WRONG_SHAPES = {"array": np.zeros((2, 5, 7)), "symbols": casadi.SX.sym("s", 7, 5)}


@pytest.fixture(scope="module")
def examples(library: Callable[[str], es.Mechanism]) -> Examples:
    return Examples(library)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_argument_is_named(name: str, examples: Examples) -> None:
    function = getattr(es.algebra, name)
    call, signature = examples.call_of(function), inspect.signature(function)
    assert call is not None
    valid = signature.bind(*call.arguments, **call.options).arguments
    kinds = {x.name: x.kind for x in signature.parameters.values()}
    for argument in (x for x in valid if kinds[x] is not inspect.Parameter.VAR_POSITIONAL):
        for kind, value in (WRONG | WRONG_SHAPES).items():
            given = inspect.BoundArguments(signature, {**valid, argument: value})
            try:
                function(*given.args, **given.kwargs)
            except es.EslabonError as error:
                assert argument in str(error), kind
            else:
                # only where numbers of every shape are a batch of them
                assert kind == "array", (argument, kind)
                assert np.ndim(valid[argument]) == 0, (argument, kind)
