"""Many designs: sweeps over parameters, their tables, Monte Carlo, on threads or on a cluster."""

from eslabon.sweeps.cluster import ClusterError
from eslabon.sweeps.results_folder import read
from eslabon.sweeps.sensitivities import Attribution, Sensitivities, sensitivities
from eslabon.sweeps.sweep import Interrupted, TooManyPoints, sweep
from eslabon.sweeps.sweep_table import Column, SweepTable
from eslabon.sweeps.table_statistics import Summary
from eslabon.sweeps.variables import Variable, variables_of

__all__ = [
    "Attribution",
    "ClusterError",
    "Column",
    "Interrupted",
    "Sensitivities",
    "Summary",
    "SweepTable",
    "TooManyPoints",
    "Variable",
    "read",
    "sensitivities",
    "sweep",
    "variables_of",
]
