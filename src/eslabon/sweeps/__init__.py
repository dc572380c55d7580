"""Many designs: sweeps over parameters, their tables, Monte Carlo, on threads or on a cluster.

>>> import eslabon as es
>>> es.sweep(es.load("elbow"), "gravity_forces", over={"m2": "±5 % normal"}, samples=64, q=[0.0, 0.0]).percentiles()
<Percentiles of sweep of elbow: 64 designs>
value                           5 %   50 %    95 %
gravity_forces.theta1 [N m]  ...
"""

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
