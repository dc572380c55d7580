"""Linear models of mechanisms about any state of motion, and what they say.

    lm = m.linearize(q, v, tau)            # U, V, W, A, B, C, D, named
    lm.poles, lm.to_control()

`linearize` finds the state and asks the native formula of `dynamics.linearized`, `linear_model` is what comes out, `measured`
reads the names of outputs.
"""

from eslabon.linear.linear_model import LinearModel
from eslabon.linear.linearize import linearize

__all__ = ["LinearModel", "linearize"]
