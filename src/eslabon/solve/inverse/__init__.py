"""Inverse kinematics (Rojas, 3): configurations, rates and accelerations for poses, tool lines, points and paths.

The way through the room: `tasks` say what is asked, `ranges` where the joints may be, `search_formulas` are the native
code of the search, `arm` holds the three together, `search` walks and starts again; `solve`, `joint_motion` and `follow` are what
users call. `newton_gauss` is the thesis' own method with its orthogonal factor, for the last digits and for the rates.
"""

from eslabon.errors import InverseKinematicsError, SingularityWarning
from eslabon.solve.configurations import Configurations
from eslabon.solve.inverse.follow import follow
from eslabon.solve.inverse.joint_motion import JointMotion, inverse_motion
from eslabon.solve.inverse.newton_gauss import condition
from eslabon.solve.inverse.solve import inverse_kinematics

__all__ = [
    "Configurations",
    "InverseKinematicsError",
    "JointMotion",
    "SingularityWarning",
    "condition",
    "follow",
    "inverse_kinematics",
    "inverse_motion",
]
