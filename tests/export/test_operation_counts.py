"""Counts of formulas that can be counted by hand."""

import casadi as ca

from eslabon.export.operation_counts import Operations, count


def test_a_cross_product() -> None:
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    assert count(ca.Function("f", [a, b], [ca.cross(a, b)])) == Operations(
        multiplications=6, additions=3
    )


def test_a_product_of_matrices() -> None:
    a, b = ca.SX.sym("a", 3, 3), ca.SX.sym("b", 3, 3)
    assert count(ca.Function("f", [a, b], [a @ b])) == Operations(multiplications=27, additions=18)


def test_a_planar_arm_shares_its_sines() -> None:
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    tip = ca.vertcat(ca.cos(q[0]) + ca.cos(q[0] + q[1]), ca.sin(q[0]) + ca.sin(q[0] + q[1]))
    f = ca.Function("f", [q, v], [tip, ca.jacobian(tip, q) @ v])
    assert count(f).trigonometric == 4


def test_what_counts_as_what() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function(
        "f",
        [x, y],
        [-x, x**2, 2 * y, 1 / x, x / y, ca.sqrt(y), ca.atan2(x, y), ca.fmin(x, y), x - y],
    )
    assert count(f) == Operations(
        multiplications=1, additions=2, divisions=2, trigonometric=1, square_roots=1, other=1
    )


def test_subexpressions_are_shared_before_counting() -> None:
    x = ca.SX.sym("x")
    assert count(ca.Function("f", [x], [ca.sin(x + 1) * x, ca.sin(x + 1)])).trigonometric == 1
