"""Linear models of mechanisms about any state of motion, and what they say.

    lm = m.linearize(q, v, tau)            # U, V, W, A, B, C, D, named
    lm.poles, lm.modes(), lm.to_control()
    m.equilibrium(all=True)                # where it rests, or moves steadily, and whether it stays there

`LinearSystem` is A, B, C and D with the names of signals, whoever made them. `linearize` finds the
state and asks the native formula of `formulas.derivatives.linearization`, `linear_model` is what
comes out, `measured` reads the names of outputs, `response` sets a perturbed motion's forces beside
the linear ones, `contributions` tells what each body adds to U, V and W. `equilibrium` asks the
search of `steady_search`, and `stability` for its word; `equilibria` is what comes out. `modes` are
those of a linear model; `model_derivatives` and `mode_derivatives` say how either changes with a
parameter.

>>> import eslabon as es
>>> sorted(es.load("cart_pole").linearize([0.0, 0.0]).poles.real.round(3) + 0.0)[-1].item()
3.974
"""

from eslabon.systems.linear.contributions import Contributions, contributions
from eslabon.systems.linear.equilibria import Equilibrium
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.linear_system import LinearSystem
from eslabon.systems.linear.linearize import linearize
from eslabon.systems.linear.mode_derivatives import ModeDerivatives
from eslabon.systems.linear.modes import Mode, Modes
from eslabon.systems.linear.perturbed_response import Response, compare_response

__all__ = [
    "Contributions",
    "Equilibrium",
    "LinearModel",
    "LinearSystem",
    "Mode",
    "ModeDerivatives",
    "Modes",
    "Response",
    "compare_response",
    "contributions",
    "linearize",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
