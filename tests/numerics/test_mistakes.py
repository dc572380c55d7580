"""Nonsense for any argument of `es.algebra` ends in our error, whose sentence begins with its name."""

from __future__ import annotations

import inspect

import casadi
import numpy as np
import pytest

import eslabon as es
from batches import each

GOOD = {
    "a": 1.0,
    "angle": 0.3,
    "angles": [0.1, 0.2, 0.3],
    "angular_velocity": [0.0, 0.0, 1.0],
    "axis": [0.0, 0.0, 1.0],
    "axis_angle": [0.0, 0.0, 1.0, 0.3],
    "com": [0.0, 0.0, 0.0],
    "first": np.eye(4),
    "inertia": np.eye(3),
    "invariants": [1.0, 0.0, 0.0, 0.0],
    "m": np.eye(3),
    "mass": 1.0,
    "p": [1.0, 0.0, 0.0, 0.0],
    "pose": np.eye(4),
    "position": [0.0, 0.0, 0.0],
    "q": [1.0, 0.0, 0.0, 0.0],
    "rate": [0.0, 0.0, 0.0, 1.0],
    "rotation": np.eye(3),
    "source": "quaternion",
    "t": 0.5,
    "target": "matrix",
    "twist": [0.0] * 6,
    "u": [1.0, 0.0, 0.0],
    "v": [1.0, 0.0, 0.0],
    "value": [1.0, 0.0, 0.0, 0.0],
}
OWN = {("vee6", "m"): np.eye(4), ("quaternion_from_rodrigues", "p"): [0.0, 0.0, 0.1]}
SCALARS = ("a", "angle", "mass", "t")  # an array of any shape is a batch of them
NONSENSE = {
    "text": "text",
    "complex numbers": [1j, 1j, 1j],
    "None": None,
    "ragged": [[1.0], [2.0, 3.0]],
    "an object": object(),
    "a masked array": np.ma.masked_array([1.0, 2.0], [False, True]),
    "symbols": casadi.SX.sym("x", 7),
}


def arguments():
    for name in es.algebra.__all__:
        function = getattr(es.algebra, name)
        if callable(function):
            every = inspect.signature(function).parameters.values()
            named = [x.name for x in every if x.kind is not x.VAR_POSITIONAL]
            good = {x: OWN.get((name, x), GOOD[x]) for x in named}
            for argument in named:
                yield f"{name}({argument}=...)", function, good, argument


@each(("case", "function", "good", "argument"), arguments)
def test_nonsense_is_refused_by_the_name_of_its_argument(case, function, good, argument):
    function(**good)
    shapes = {} if argument in SCALARS else {"a shape": np.zeros(7)}
    for what, nonsense in (NONSENSE | shapes).items():
        with pytest.raises(es.EslabonError, match=rf"^{argument}\b") as caught:
            function(**{**good, argument: nonsense})
        assert "\n" not in str(caught.value), what


def test_a_pose_among_many_is_named_by_its_place():
    with pytest.raises(es.InputError, match=r"^others\[1\]: a 4x4 matrix was expected"):
        es.algebra.compose(np.eye(4), np.eye(4), np.eye(3))
