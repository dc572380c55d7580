"""Many designs: sweeps over parameters, their tables, Monte Carlo, on threads or on a cluster."""

from eslabon.sweeps.sweep_table import Column, SweepTable
from eslabon.sweeps.variables import Variable, variables_of

__all__ = ["Column", "SweepTable", "Variable", "variables_of"]
