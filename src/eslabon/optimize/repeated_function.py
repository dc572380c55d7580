"""A function that a program repeats at many instants, and its derivatives block by block.

CasADi differentiates a mapped function direction by direction, over all instants for each. Here the first and second derivatives of
one instant are graphs of their own, and those of the program follow by the chain rule: with z = S x + z0 the columns of inputs,

    J = J_Y diag(J_k) S,      H = S^T diag(H_k) S + what is not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from eslabon.numerics.scalars import casadi


class Repeated:
    """An Expression function of a column z with one column of outputs, with its derivatives by z."""

    def __init__(self, function: Any) -> None:
        self.function = function

    @property
    def inputs(self) -> int:
        return int(self.function.size1_in(0))

    @property
    def outputs(self) -> int:
        return int(self.function.size1_out(0))

    @cached_property
    def jacobian(self) -> Any:
        """d(outputs)/dz."""
        z = casadi.SX.sym("z", self.inputs)
        return casadi.Function("jacobian", [z], casadi.cse([casadi.jacobian(self.function(z), z)]))

    @cached_property
    def hessian(self) -> Any:
        """The second derivatives of the sum of multipliers times outputs."""
        z, multipliers = casadi.SX.sym("z", self.inputs), casadi.SX.sym("multipliers", self.outputs)
        H = casadi.hessian(casadi.dot(multipliers, self.function(z)), z)[0]
        return casadi.Function("hessian", [z, multipliers], casadi.cse([H]))


class Block(NamedTuple):
    """A repeated function in a program: its inputs, a column for each instant and affine in the variables, and the symbol that
    stands for its outputs in objective and constraints, which are affine in it."""

    repeated: Repeated
    inputs: Any
    symbol: Any

    @property
    def instants(self) -> int:
        return int(self.inputs.shape[1])

    def values(self) -> Any:
        """The outputs, a column for each instant."""
        return self.repeated.function.map(self.instants)(self.inputs)


def substituted(x: Any, f: Any, g: Any, blocks: Sequence[Block]) -> tuple[Any, Any]:
    """Objective and constraints with the outputs in place of their symbols."""
    outer = casadi.Function("outer", [x, *(b.symbol for b in blocks)], [f, g])
    made = outer.call([x, *(b.values() for b in blocks)], True, False)
    return made[0], made[1]


def derivatives(x: Any, f: Any, g: Any, blocks: Sequence[Block]) -> dict[str, Any]:
    """The functions that `nlpsol` takes for derivatives, of objective and constraints that have symbols of blocks in them."""
    sym = casadi.MX.sym
    X, none, weight, multipliers = (
        sym("x", x.numel()),
        sym("p", 0),
        sym("lam_f"),
        sym("lam_g", g.numel()),
    )
    Y = [sym("Y", *b.symbol.shape) for b in blocks]
    f, g = casadi.Function("outer", [x, *(b.symbol for b in blocks)], [f, g]).call(
        [X, *Y], True, False
    )
    lagrangian = weight * f + casadi.dot(multipliers, g)
    maps = [_chain(x, X, b) for b in blocks]
    outputs = [
        b.repeated.function.map(b.instants)(z) for b, (_, z) in zip(blocks, maps, strict=True)
    ]
    H, J, slope = casadi.hessian(lagrangian, X)[0], casadi.jacobian(g, X), casadi.gradient(f, X)
    for b, y, (S, z) in zip(blocks, Y, maps, strict=True):
        H += (
            S.T
            @ _diagonal(
                b,
                b.repeated.hessian.map(b.instants)(z, casadi.gradient(lagrangian, y)),
                square=True,
            )
            @ S
        )
        along = _diagonal(b, b.repeated.jacobian.map(b.instants)(z)) @ S
        J += casadi.jacobian(g, y) @ along
        slope += along.T @ casadi.vec(casadi.gradient(f, y))
    found = [f, slope, g, J, casadi.triu(H)]
    f, slope, g, J, H = casadi.Function("whole", [X, *Y, weight, multipliers], found).call(
        [X, *outputs, weight, multipliers], True, False
    )
    return {
        "grad_f": casadi.Function(
            "nlp_grad_f", [X, none], [f, slope], ["x", "p"], ["f", "grad_f_x"]
        ),
        "jac_g": casadi.Function("nlp_jac_g", [X, none], [g, J], ["x", "p"], ["g", "jac_g_x"]),
        "hess_lag": casadi.Function(
            "nlp_hess_l",
            [X, none, weight, multipliers],
            [H],
            ["x", "p", "lam_f", "lam_g"],
            ["triu_hess_gamma_x_x"],
        ),
    }


def _chain(x: Any, X: Any, b: Block) -> tuple[Any, Any]:
    """S, and the inputs S X + z0 in columns."""
    flat = casadi.vec(b.inputs)
    at = casadi.Function("inputs", [x], [casadi.jacobian(flat, x), flat])
    S, first = at(casadi.DM.zeros(x.numel()))
    S = casadi.sparsify(S)
    return S, casadi.reshape(casadi.mtimes(S, X) + first, *b.inputs.shape)


def _diagonal(b: Block, stacked: Any, square: bool = False) -> Any:
    """The blocks of all instants, which stand side by side, on the diagonal."""
    one = b.repeated.hessian.sparsity_out(0) if square else b.repeated.jacobian.sparsity_out(0)
    return casadi.sparsity_cast(stacked, casadi.diagcat(*[one] * b.instants))
