"""Many designs: sweeps over parameters, their tables, Monte Carlo, on threads or on a cluster."""

from eslabon.sweeps.sweep_table import Column, SweepTable

__all__ = ["Column", "SweepTable"]
