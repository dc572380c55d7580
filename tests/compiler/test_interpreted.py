"""CasADi's evaluator in the place of native code."""

import casadi
import numpy as np

from eslabon.compiler.calls import call, inlined
from eslabon.compiler.formula import Argument
from eslabon.compiler.function import Function, Signature
from eslabon.compiler.interpreted import Evaluator
from traced_graph import traced_graph


def test_a_batch_of_states_without_coordinates_has_its_results_for_each():
    nothing = casadi.SX.sym("q", 0)
    f = casadi.Function("energy", [nothing], [casadi.SX([1.5, 2.0])], ["q"], ["energy"])
    signature = Signature.of_graph(
        f, [Argument("q", (0,))], [Argument("energy", (2,))], "energy", "truss"
    )
    np.testing.assert_array_equal(
        Function.of(signature, Evaluator(f, signature))(np.zeros((3, 0))),
        np.tile([1.5, 2.0], (3, 1)),
    )


def test_a_result_that_is_zero_by_structure_is_inlined():
    x = casadi.SX.sym("x", 2)
    square = casadi.Function("square", [x], [x**2, casadi.SX(1, 1)])
    f = traced_graph(
        "twice", [x], lambda x: casadi.vertcat(call(square, x)[0], call(square, 2 * x)[1])
    )
    np.testing.assert_array_equal(np.array(inlined(f)([3.0, 4.0])).ravel(), [9.0, 16.0, 0.0])
