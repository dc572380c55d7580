"""Linear models of mechanisms about any state of motion, and what they say.

    lm = m.linearize(q, v, tau)            # U, V, W, A, B, C, D, named
    lm.poles, lm.to_control()

`linearize` finds the state and asks the native formula of `dynamics.linearized`, `linear_model` is what comes out, `measured`
reads the names of outputs, `response` sets a perturbed motion's forces beside the linear ones, `contributions` tells
what each body adds to U, V and W.
"""

from eslabon.linear.contributions import Contributions, contributions
from eslabon.linear.linear_model import LinearModel
from eslabon.linear.linearize import linearize
from eslabon.linear.response import Response, compare_response

__all__ = ["Contributions", "LinearModel", "Response", "compare_response", "contributions", "linearize"]
