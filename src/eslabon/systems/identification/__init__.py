"""From recorded motions to the numbers of a mechanism: base parameters, friction and motor inertias
by weighted least squares.

`parameters` says what the equations of motion are linear in, `equations` writes them so,
`base_parameters` which combinations motion can tell, `recordings` reads what was measured,
`estimation` solves, `residual_tests` ask whether the model is right, `consistency` finds inertias
that bodies can have, `excitation` plans a motion that tells much, of `fourier_series`.

>>> import eslabon as es
>>> len(es.identification.base_parameters(es.load("double_pendulum")))
6
"""

from eslabon.systems.identification.base_parameters import base_parameters
from eslabon.systems.identification.excitation import Excitation, excitation
from eslabon.systems.identification.identification import CrossValidation, Identification, identify
from eslabon.systems.identification.inertial_parameters import BaseParameters, inertial_parameters
from eslabon.systems.identification.parameters import parameter_names, pseudo_inertias

__all__ = [
    "BaseParameters",
    "CrossValidation",
    "Excitation",
    "Identification",
    "base_parameters",
    "excitation",
    "identify",
    "inertial_parameters",
    "parameter_names",
    "pseudo_inertias",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
