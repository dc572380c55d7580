"""Rotations and their invariants, quaternions, rigid motions: pure formulas on numbers and symbols alike.

>>> import numpy as np
>>> import eslabon as es
>>> es.algebra.rotation_z(np.pi / 2).round(12) + 0.0
array([[ 0., -1.,  0.],
       [ 1.,  0.,  0.],
       [ 0.,  0.,  1.]])
"""

import re
from collections.abc import Callable
from functools import wraps
from inspect import isfunction, signature
from typing import Any, TypeVar

from eslabon.errors import InputError
from eslabon.numerics.quaternions import (
    axis_angle_from_quaternion,
    body_rates,
    invariants_from_quaternion,
    quaternion_about,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_from_axis_angle,
    quaternion_from_invariants,
    quaternion_from_rodrigues,
    quaternion_from_rotation_vector,
    quaternion_from_scalar,
    quaternion_from_vector,
    quaternion_inverse,
    quaternion_log,
    quaternion_norm,
    quaternion_normalize,
    quaternion_product,
    quaternion_rate,
    quaternion_rotate,
    quaternion_sum,
    rodrigues_from_quaternion,
    rotation_vector_from_quaternion,
    scalar_part,
    slerp,
    vector_part,
)
from eslabon.numerics.rigid_motions import (
    adjoint,
    bracket,
    check_pose,
    coadjoint,
    cobracket,
    compose,
    hat,
    hat6,
    inertia_matrix,
    motion_exp,
    motion_log,
    pose,
    pose_inverse,
    position_of,
    rotation_of,
    vee,
    vee6,
)
from eslabon.numerics.rotations import (
    REPRESENTATIONS,
    bryant_from_rotation,
    check_rotation,
    convert,
    euler_from_rotation,
    invariant_rates,
    invariants_from_rotation,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_axis_angle,
    rotation_from_bryant,
    rotation_from_euler,
    rotation_from_invariants,
    rotation_from_quaternion,
    rotation_from_rotation_vector,
    rotation_from_rpy,
    rotation_from_unit_quaternion,
    rotation_x,
    rotation_y,
    rotation_z,
    rpy_from_rotation,
    trace,
    vect,
)

_F = TypeVar("_F", bound=Callable[..., Any])

__all__ = [
    "REPRESENTATIONS",
    "adjoint",
    "axis_angle_from_quaternion",
    "body_rates",
    "bracket",
    "bryant_from_rotation",
    "check_pose",
    "check_rotation",
    "coadjoint",
    "cobracket",
    "compose",
    "convert",
    "euler_from_rotation",
    "hat",
    "hat6",
    "inertia_matrix",
    "invariant_rates",
    "invariants_from_quaternion",
    "invariants_from_rotation",
    "motion_exp",
    "motion_log",
    "pose",
    "pose_inverse",
    "position_of",
    "quaternion_about",
    "quaternion_conjugate",
    "quaternion_exp",
    "quaternion_from_axis_angle",
    "quaternion_from_invariants",
    "quaternion_from_rodrigues",
    "quaternion_from_rotation",
    "quaternion_from_rotation_vector",
    "quaternion_from_scalar",
    "quaternion_from_vector",
    "quaternion_inverse",
    "quaternion_log",
    "quaternion_norm",
    "quaternion_normalize",
    "quaternion_product",
    "quaternion_rate",
    "quaternion_rotate",
    "quaternion_sum",
    "rodrigues_from_quaternion",
    "rotation_about",
    "rotation_from_axis_angle",
    "rotation_from_bryant",
    "rotation_from_euler",
    "rotation_from_invariants",
    "rotation_from_quaternion",
    "rotation_from_rotation_vector",
    "rotation_from_rpy",
    "rotation_from_unit_quaternion",
    "rotation_of",
    "rotation_vector_from_quaternion",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "rpy_from_rotation",
    "scalar_part",
    "slerp",
    "trace",
    "vect",
    "vector_part",
    "vee",
    "vee6",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)


def _naming_arguments(function: _F) -> _F:
    """The function, with the name of the argument in what it says of a wrong one. Its own file keeps the bare function,
    which the other wings call."""
    names = [*signature(function).parameters]

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except InputError as error:
            given = {**dict(zip(names, arguments, strict=False)), **options}
            blamed = [name for name, x in given.items() if x is error.value or len(given) == 1]
            if not blamed or re.search(rf"\b{blamed[0]}\b", str(error)):
                raise
            raise type(error)(f"{blamed[0]}: {error}") from None

    return call  # type: ignore[return-value]


for _name in __all__:
    if isfunction(_function := globals()[_name]):
        globals()[_name] = _naming_arguments(_function)
