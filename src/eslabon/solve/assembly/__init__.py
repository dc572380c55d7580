"""Closing loops, for whole batches at once: assembly from prescribed joints or from the pose of a frame.

`prescription` says what is given, `closing_formulas` are the native code, `continuation` moves along straight ways and
stays on the branch, `assemble` keeps the limits, `modes` finds the assembly modes, `complete` adds rates.
"""

from eslabon.solve.assembly.assemble import assemble
from eslabon.solve.assembly.closing_formulas import residual
from eslabon.solve.assembly.complete import complete, nearest_rates, project
from eslabon.solve.assembly.modes import assembly_modes

__all__ = ["assemble", "assembly_modes", "complete", "nearest_rates", "project", "residual"]
