"""Elementary functions on vectors of states, as LLVM functions with few branches.

Sine and cosine reduce the angle by quarter turns in three fused steps (159 bits of pi/2), exact
enough for every
|angle| below 2^30; the few lanes beyond go to the C library one by one. Polynomials are those of fdlibm (Sun, 1993)
and Cephes (Moshier, 1989). Errors measured against 200-bit arithmetic are in its tests.

What is rare in rigid-body work (pow, fmod, hypot, ...) calls the C library lane by lane; and so
does everything on a processor without fused multiply-add, where these schemes would not hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from eslabon.compiler.llvm.ir import Body, Vector, vector_type

# Operations that have a function here or in the C library, with their number of arguments.
ARITY = {
    **dict.fromkeys(
        ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "expm1", "log", "log1p", "tanh"), 1
    ),
    **dict.fromkeys(("sinh", "cosh", "asinh", "acosh", "atanh", "erf"), 1),
    **dict.fromkeys(("atan2", "pow", "fmod", "remainder", "hypot"), 2),
}

HALF_PI = (
    1.5707963267948966,
    6.123233995736766e-17,
    -1.4973849048591698e-33,
)  # hi, mid and lo of pi/2
LOW = HALF_PI[1]  # what pi/2 has beyond a double; 0.75 pi, pi/4 and pi have their share of it
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
SINE = (1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
        -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01)  # fmt: skip
COSINE = (-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
          2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02)  # fmt: skip
ATAN_P = (-8.750608600031904122785e-01, -1.615753718733365076637e01, -7.500855792314704667340e01,
          -1.228866684490136173410e02, -6.485021904942025371773e01)  # fmt: skip
ATAN_Q = (1.0, 2.485846490142306297962e01, 1.650270098316988542046e02, 4.328810604912902668951e02,
          4.853903996359136964868e02, 1.945506571482613964425e02)  # fmt: skip
LOG = (1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
       2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01)  # fmt: skip
LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)  # the first with 33 bits
EXPM1 = tuple(
    1 / math.factorial(n) for n in range(14, 1, -1)
)  # r^2 (1/2 + r/6 + ...) is below half an ulp at r = 0.35
FAR_ANGLE = 2.0**30


def _quarter_turns(b: Body, x: Vector) -> tuple[Vector, Vector, Vector]:
    """Sine and cosine of the angle's rest within an eighth of a turn, and the number of quarter
    turns + ROUND."""
    shifted = x.fma(2 / math.pi, ROUND)
    k = ROUND - shifted  # minus the number of quarter turns
    y = x
    for part in HALF_PI:
        y = k.fma(part, y)
    z = y * y
    sine = (y * z).fma(b.polynomial(z, SINE), y)
    half = z * 0.5
    w = 1.0 - half
    cosine = w + (z * z).fma(b.polynomial(z, COSINE), (1.0 - w) - half)
    return sine, cosine, shifted


def _sincos(b: Body, x: Vector) -> tuple[Vector, Vector]:
    s, c, shifted = _quarter_turns(b, x)
    turns = shifted.bits()
    odd = turns.has(1)
    sine, cosine = b.select(odd, c, s), b.select(odd, s, c)
    sine, cosine = (
        b.select(turns.has(2), -sine, sine),
        b.select((turns + 1).has(2), -cosine, cosine),
    )
    return b.select(x.equals(0.0), x, sine), cosine  # the sine of -0 is -0


def _tan(b: Body, x: Vector) -> Vector:
    s, c, shifted = _quarter_turns(b, x)
    odd = shifted.bits().has(1)
    return b.select(x.equals(0.0), x, b.select(odd, -c, s) / b.select(odd, s, c))


def _arctangent(b: Body, y: Vector, x: Vector) -> Vector:
    """atan2 in all its cases: Cephes' reduction to |t| < 0.66, by one division of the right pair of
    numbers."""
    up, along = y.absolute(), x.absolute()
    huge = b.select(up > along, up, along) > 2.0**1000
    up, along = (
        b.select(huge, v * 0.25, v) for v in (up, along)
    )  # so that the sum below stays finite
    both_infinite = up.equals(math.inf) & along.equals(math.inf)
    up, along = (b.select(both_infinite, 1.0, v) for v in (up, along))
    steep = up > along * 2.414213562373095
    middle = up > along * 0.66
    over = b.select(steep, -along, b.select(middle, up - along, up))
    under = b.select(steep, up, b.select(middle, up + along, along))
    under = b.select(under.equals(0.0), 1.0, under)  # atan2(0, 0) is 0 or pi by the signs
    t = over / under
    z = t * t
    curve = t.fma(z * b.polynomial(z, ATAN_P) / b.polynomial(z, ATAN_Q), t)
    backward = x.bits().has(-(2**63))
    turned = b.select(backward, -curve, curve)

    def by_case(flat: float, diagonal: float, upright: float) -> Vector:
        """The value for each reduction, from the half plane that is meant."""
        return b.select(steep, upright, b.select(middle, diagonal, flat))

    base = b.select(
        backward,
        by_case(math.pi, 0.75 * math.pi, math.pi / 2),
        by_case(0.0, math.pi / 4, math.pi / 2),
    )
    rest = b.select(backward, by_case(2 * LOW, 1.5 * LOW, LOW), by_case(0.0, 0.5 * LOW, LOW))
    return (base + (turned + rest)).with_sign_of(y)


def _atan(b: Body, x: Vector) -> Vector:
    return _arctangent(b, x, b.constant(1.0))


def _asin(b: Body, x: Vector) -> Vector:
    return _arctangent(b, x, ((1.0 - x) * (1.0 + x)).sqrt())


def _acos(b: Body, x: Vector) -> Vector:
    return _arctangent(b, ((1.0 - x) * (1.0 + x)).sqrt(), x)


def _power_of_two(k: Vector) -> Vector:
    """2^k for whole k in the normal range."""
    return (((k + ROUND).bits() + 1023) << 52).double()


def _exp_parts(b: Body, x: Vector) -> tuple[Vector, Vector]:
    """k and exp(r) - 1, where x = k ln 2 + r."""
    k = x.fma(math.log2(math.e), ROUND) - ROUND
    r = (-k).fma(LN2[1], (-k).fma(LN2[0], x))
    return k, (r * r).fma(b.polynomial(r, EXPM1), r)


def _clamped(b: Body, x: Vector, low: float, high: float) -> Vector:
    """NaN stays NaN: both comparisons are false."""
    x = b.select(x > high, high, x)
    return b.select(x < low, low, x)


def _exp(b: Body, x: Vector) -> Vector:
    k, rest = _exp_parts(b, _clamped(b, x, -746.0, 710.0))
    half = (k * 0.5 + ROUND) - ROUND  # in two steps, for results that are subnormal or overflow
    return (1.0 + rest) * _power_of_two(half) * _power_of_two(k - half)


def _expm1(b: Body, x: Vector) -> Vector:
    k, rest = _exp_parts(b, _clamped(b, x, -40.0, 709.0))
    scale = _power_of_two(k)
    value = scale.fma(rest, scale - 1.0)
    return b.select(x > 709.0, _exp(b, x), b.select(x.equals(0.0), x, value))


def _tanh(b: Body, x: Vector) -> Vector:
    t = _expm1(b, x.absolute() * -2.0)
    return (-t / (t + 2.0)).with_sign_of(x)


def _log(b: Body, x: Vector) -> Vector:
    small = x < 2.0**-1022
    scaled = b.select(small, x * 2.0**54, x).bits()
    # Move sqrt(1/2) to 1: the exponent field then counts powers of two around a mantissa near one.
    moved = scaled + (0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
    raw = ((moved >> 52) | 0x4330000000000000).double()  # 2^52 + biased exponent
    k = raw - b.select(small, 2.0**52 + 1023 + 54, 2.0**52 + 1023)
    f = ((moved & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).double() - 1.0
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    tail = s * (half + z * b.polynomial(z, LOG)) + k * LN2[1]
    value = k * LN2[0] - ((half - tail) - f)
    value = b.select(x.equals(math.inf), x, value)
    value = b.select(x.equals(0.0), -math.inf, value)
    return b.select(x < 0.0, math.nan, b.select(x.is_nan(), x, value))


_VECTOR: dict[str, Callable[..., Vector]] = {
    "tan": _tan, "atan2": _arctangent, "atan": _atan, "asin": _asin, "acos": _acos,
    "exp": _exp, "expm1": _expm1, "log": _log, "tanh": _tanh,
}  # fmt: skip


def function_name(operation: str, width: int, fused: bool) -> str:
    """What an operation on vectors is called; "sincos" gives both."""
    return f"@eslabon.{operation}.v{width}{'' if fused else '.plain'}"


def _result(operation: str, width: int) -> str:
    t = vector_type(width)
    return f"{{{t}, {t}}}" if operation == "sincos" else t


def _arguments(operation: str, width: int) -> list[str]:
    return [vector_type(width)] * ARITY.get(operation, 1)


def declarations(operations: set[str], width: int, fused: bool) -> str:
    """What a kernel must know of the operations that it calls."""
    return "".join(
        f"declare {_result(o, width)} {function_name(o, width, fused)}({', '.join(_arguments(o, width))})\n"
        for o in sorted(operations)
    )


def _vectorised(operation: str, width: int) -> str:
    b = Body(width)
    result = _VECTOR[operation](b, *(b.vector(n) for n in ("%x", "%y")[: ARITY[operation]]))
    if operation == "tan":
        result = _far_lanes(b, b.vector("%x"), [result], ["tan"])[0]
    b.do(f"ret {result.type} {result.name}")
    return _function(b, operation, function_name(operation, width, True))


def _function(b: Body, operation: str, name: str) -> str:
    given = zip(_arguments(operation, b.width), ("%x", "%y"), strict=False)
    arguments = ", ".join(f"{kind} {x}" for kind, x in given)
    return b.function(f"{_result(operation, b.width)} {name}({arguments}) nounwind")


def _lanes(operation: str, width: int) -> str:
    """The name of the C library's function for each lane."""
    return f"@lanes.{operation}.v{width}"


def _lane_by_lane(operation: str, width: int, name: str) -> str:
    """The C library's function for each lane."""
    b = Body(width)
    t, result = vector_type(width), "poison"
    for lane in range(width):
        numbers = [b.lane(n, lane) for n in ("%x", "%y")[: ARITY[operation]]]
        value = b.let(
            f"call double @{operation}(" + ", ".join(f"double {n}" for n in numbers) + ")"
        )
        result = b.with_lane(result, value, lane)
    b.do(f"ret {t} {result}")
    return _function(b, operation, name)


def _far_lanes(b: Body, x: Vector, results: list[Vector], operations: list[str]) -> list[Vector]:
    """Lanes whose angle is too large for the reduction above (infinite ones too) are done by the C
    library."""
    far = x.absolute() > FAR_ANGLE
    slow, done, before = b.new_label("slow"), b.new_label("done"), b.label
    b.do(f"br i1 {far.anywhere()}, label %{slow}, label %{done}")
    b.start(slow)
    exact = [
        Vector(b, b.let(f"call {x.type} {_lanes(o, b.width)}({x.type} {x.name})"))
        for o in operations
    ]
    replaced = [b.select(far, e, r) for e, r in zip(exact, results, strict=True)]
    b.do(f"br label %{done}")
    b.start(done)
    return [
        Vector(b, b.let(f"phi {x.type} [ {r.name}, %{before} ], [ {s.name}, %{slow} ]"))
        for r, s in zip(results, replaced, strict=True)
    ]


def _sincos_function(width: int, fused: bool) -> str:
    """Both at once, since whoever needs one mostly needs the other."""
    b, t = Body(width), vector_type(width)
    x, pair = b.vector("%x"), _result("sincos", width)
    if fused:
        s, c = (v.name for v in _far_lanes(b, x, list(_sincos(b, x)), ["sin", "cos"]))
    else:
        s, c = (b.let(f"call {t} {_lanes(o, width)}({t} %x)") for o in ("sin", "cos"))
    first = b.let(f"insertvalue {pair} poison, {t} {s}, 0")
    b.do(f"ret {pair} {b.let(f'insertvalue {pair} {first}, {t} {c}, 1')}")
    return _function(b, "sincos", function_name("sincos", width, fused))


def definition(operation: str, width: int, fused: bool) -> str:
    """The LLVM function of an operation on vectors; `fused` says that the processor multiplies and
    adds in one rounding."""
    lanes = {"sincos": ("sin", "cos"), "tan": ("tan",)}.get(operation, ())
    text = [_lane_by_lane(o, width, _lanes(o, width)) for o in lanes]
    if operation == "sincos":
        text.append(_sincos_function(width, fused))
    elif fused and operation in _VECTOR:
        text.append(_vectorised(operation, width))
    else:
        text.append(_lane_by_lane(operation, width, function_name(operation, width, fused)))
    return "".join(text)


def library() -> str:
    """The functions of the C library that lanes are given to."""
    return "".join(
        f"declare double @{o}({', '.join(['double'] * ARITY[o])})\n" for o in sorted(ARITY)
    )
