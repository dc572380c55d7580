"""Measures of a design: what one number, or a few, say of a mechanism with given values of its parameters.

A sweep evaluates a measure at many designs at once, an optimisation looks for the design at which it is least. Each measure is
one small class in a file of its own; its arrays are evaluated for whole batches of designs by native code.
"""

from eslabon.measures.measure import Measure, Measured
from eslabon.measures.named_measures import Called, measure_of

__all__ = ["Called", "Measure", "Measured", "measure_of"]
