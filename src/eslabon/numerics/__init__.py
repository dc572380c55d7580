"""Rotations, quaternions, rigid motions: formulas for numbers and symbols alike.

The public name is `es.algebra`; what each module offers is its `__all__`.

>>> import numpy as np
>>> import eslabon as es
>>> es.algebra.rotation_z(np.pi / 2)
array([[ 0., -1.,  0.],
       [ 1.,  0.,  0.],
       [ 0.,  0.,  1.]])
"""

from eslabon.numerics import quaternions, rigid_motions, rotations
from eslabon.numerics.quaternions import *
from eslabon.numerics.rigid_motions import *
from eslabon.numerics.rotations import *

__all__: list[str] = []
__all__ += quaternions.__all__
__all__ += rigid_motions.__all__
__all__ += rotations.__all__


def __dir__() -> list[str]:
    """The public names, for completion by the Tab key."""
    return sorted(__all__)
