"""Rotations, quaternions, rigid motions: formulas for numbers and symbols alike.

The public name is `es.algebra`; what each module offers is its `__all__`.

>>> import numpy as np
>>> import eslabon as es
>>> es.algebra.rotation_z(np.pi / 2)
array([[ 0., -1.,  0.],
       [ 1.,  0.,  0.],
       [ 0.,  0.,  1.]])
"""

from collections.abc import Callable
from functools import wraps
from inspect import isfunction, signature
from typing import ParamSpec, TypeVar

import numpy as np  # noqa: F401 (the functions' examples run here too)

from eslabon.errors import InputError
from eslabon.numerics import quaternions, rigid_motions, rotations
from eslabon.numerics.quaternions import *
from eslabon.numerics.rigid_motions import *
from eslabon.numerics.rotations import *

__all__: list[str] = []
__all__ += quaternions.__all__
__all__ += rigid_motions.__all__
__all__ += rotations.__all__

P = ParamSpec("P")
T = TypeVar("T")


def __dir__() -> list[str]:
    """The public names, for completion by the Tab key."""
    return sorted(__all__)


def _naming_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """The function for users, whose errors name the wrong argument. The other wings call the bare
    functions of the modules."""
    names = [*signature(function).parameters]

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            return function(*arguments, **options)
        except InputError as error:
            given = {**dict(zip(names, arguments, strict=False)), **options}
            blamed = [name for name, x in given.items() if x is error.value or len(given) == 1]
            if not blamed or error.argument == blamed[0]:
                raise
            raise type(error)(f"{blamed[0]}: {error}") from None

    call.__module__ = __name__  # where pickle finds it
    return call


for _name in __all__:
    if isfunction(_function := globals()[_name]):
        globals()[_name] = _naming_arguments(_function)
