"""Linear models of mechanisms about any state of motion, and what they say.

    lm = m.linearize(q, v, tau)            # U, V, W, A, B, C, D, named
    lm.poles, lm.modes(), lm.to_control()
    m.equilibrium(all=True)                # where it rests, or moves steadily, and whether it stays there

`linearize` finds the state and asks the native formula of `dynamics.linearized`, `linear_model` is what comes out, `measured`
reads the names of outputs. `equilibrium` asks the search of `steady_search`, and `stability` for its word; `equilibria` is what
comes out. `modes` are those of a linear model.
"""

from eslabon.linear.equilibria import Equilibrium
from eslabon.linear.linear_model import LinearModel
from eslabon.linear.linearize import linearize
from eslabon.linear.modes import Mode, Modes

__all__ = ["Equilibrium", "LinearModel", "Mode", "Modes", "linearize"]
