"""Closing loops, for whole batches at once: assembly from prescribed joints or from the pose of a frame.

`prescription` says what is given, `newton` closes in native code, `assemble` moves there and stays on the branch,
`branches` tells when it is left and finds the other ways of closing, `rates` completes velocities and accelerations.
"""

from eslabon.kinematics.assembly.assemble import assemble
from eslabon.kinematics.assembly.branches import assembly_modes
from eslabon.kinematics.assembly.newton import residual
from eslabon.kinematics.assembly.rates import complete, project

__all__ = ["assemble", "assembly_modes", "complete", "project", "residual"]
