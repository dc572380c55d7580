"""Many designs: sweeps over parameters, their tables, Monte Carlo, on threads or on a cluster."""

from eslabon.sweeps.results_folder import read
from eslabon.sweeps.sweep import Interrupted, sweep
from eslabon.sweeps.sweep_table import Column, SweepTable
from eslabon.sweeps.variables import Variable

__all__ = ["Column", "Interrupted", "SweepTable", "Variable", "read", "sweep"]
