"""The runtime: what it takes by itself, what it leaves to Python, and bounds on outputs."""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import GraphError, native
from eslabon.compiler.function import GeneralCall
from eslabon.errors import EslabonError


@pytest.fixture
def quick(monkeypatch) -> None:
    """Whatever reaches the general call fails."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the general call was reached")

    monkeypatch.setattr(GeneralCall, "__call__", refused)


def scaled() -> Any:
    x, s = ca.SX.sym("x", 3), ca.SX.sym("s")
    f = ca.Function("scaled", [x, s], [s * x])
    return native.compile(
        f, inputs=[native.Argument("x", (3,)), native.Argument("s", ())], cache=False
    )


def length() -> Any:
    x = ca.SX.sym("x", 2)
    return native.compile(
        ca.Function("length", [x], [ca.norm_2(x)]), outputs=[native.Argument("d", ())], cache=False
    )


X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("s", [2.0, 2, np.float64(2.0), np.array(2.0), np.array(2)], ids=str)
def test_a_single_number_of_any_plain_kind(quick, s: Any) -> None:
    np.testing.assert_array_equal(scaled()(X, s), 2 * X)


@pytest.mark.parametrize("s", [True, np.float32(2.0), "2", None, np.array([2.0])])
def test_every_other_kind_of_number_goes_to_python(s: Any) -> None:
    f = scaled()
    if s in ("2", None):
        with pytest.raises(native.InputError):
            f(X, s)
    else:
        np.testing.assert_array_equal(np.ravel(f(X, s)), float(np.ravel(s)[0]) * X)


def test_out_and_threads_in_any_order(quick) -> None:
    f, out = scaled(), np.empty(3)
    for keywords in ({"out": out}, {"out": out, "threads": 2}, {"threads": 1, "out": out}):
        out[:] = 0
        assert f(X, 2.0, **keywords) is out
        np.testing.assert_array_equal(out, 2 * X)
    np.testing.assert_array_equal(f(X, 2.0, threads=3), 2 * X)
    np.testing.assert_array_equal(f(X, 2.0, out=None, threads=None), 2 * X)


def test_out_may_be_an_input(quick) -> None:
    f, x = scaled(), X.copy()
    assert f(x, 2.0, out=x) is x
    np.testing.assert_array_equal(x, 2 * X)


def test_several_results_into_a_tuple_of_arrays(quick) -> None:
    x = ca.SX.sym("x", 3)
    f = native.compile(ca.Function("both", [x], [2 * x, x[:2]]), cache=False)
    outs = (np.empty(3), np.empty(2))
    found = f(X, out=outs)
    assert found[0] is outs[0]
    assert found[1] is outs[1]
    np.testing.assert_array_equal(np.concatenate(outs), [2, 4, 6, 1, 2])
    before = [sys.getrefcount(x) for x in outs]
    for _ in range(50):
        f(X, out=outs)
    assert [sys.getrefcount(x) for x in outs] == [before[0], before[1]]


def test_a_number_into_a_given_array(quick) -> None:
    f, out = length(), np.array(0.0)
    assert f(np.array([3.0, 4.0]), out=out) is out
    assert out == 5.0
    assert isinstance(f(np.array([3.0, 4.0])), np.float64)


def test_what_does_not_fit_is_refused_as_ever() -> None:
    f = scaled()
    with pytest.raises(native.InputError, match="out for"):
        f(X, 2.0, out=np.empty(4))
    with pytest.raises(native.InputError, match="threads is a whole number, at most 1e"):
        f(X, 2.0, threads=10**30)
    with pytest.raises(native.InputError, match="threads is a whole number, at least 1; it is 0"):
        f(X, 2.0, threads=0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        f(X, 2.0, theads=2)
    protected = np.zeros(3)
    protected.flags.writeable = False
    with pytest.raises(native.InputError, match="writes into"):
        f(X, 2.0, out=protected)
    assert not protected.any()
    wide = np.zeros(6)
    f(X, 2.0, out=wide[::2], threads=10**8)
    np.testing.assert_array_equal(wide[::2], 2 * X)


def test_no_reference_is_lost_or_left() -> None:
    f, out = scaled(), np.empty(3)
    small = np.array(-1.0)
    guarded = guarded_root().with_checks({}, lambda arrays, results: results[1:2])
    place = np.array(0.0)
    before = [sys.getrefcount(x) for x in (X, out, small, place)]
    for _ in range(50):
        f(X, 2.0, out=out, threads=1)
        f(X, 2.0)
        guarded(small, out=place)
    assert [sys.getrefcount(x) for x in (X, out, small, place)] == before


# One state in any of Python's kinds of arrays, and batches


def together(*shape: int) -> Any:
    """x + 10 y of arrays of one shape, and the largest of both."""
    size = int(np.prod(shape))
    x, y = ca.SX.sym("x", size), ca.SX.sym("y", size)
    described = [native.Argument("x", shape), native.Argument("y", shape)]
    f = ca.Function("together", [x, y], [x + 10 * y, ca.fmax(ca.mmax(x), ca.mmax(y))])
    return native.compile(
        f,
        inputs=described,
        outputs=[native.Argument("sum", shape), native.Argument("most", ())],
        cache=False,
    )


NUMBERS = np.arange(1.0, 7.0)
KINDS = {
    "array": NUMBERS,
    "list": NUMBERS.tolist(),
    "tuple": tuple(NUMBERS),
    "integers": [1, 2, 3, 4, 5, 6],
    "mixed": [1, 2.0, np.float64(3), 4, 5.0, 6],
    "float32": NUMBERS.astype(np.float32),
    "int64": NUMBERS.astype(np.int64),
    "strided": np.repeat(NUMBERS, 3)[::3],
    "reversed": NUMBERS[::-1].copy()[::-1],
    "strided float32": np.repeat(NUMBERS.astype(np.float32), 2)[::2],
    "read only": np.broadcast_to(NUMBERS, (6,)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_one_state_of_any_kind_of_array(quick, kind: str) -> None:
    f, other = together(6), np.linspace(-1.0, 1.0, 6)
    for x, y in ((KINDS[kind], other), (other, KINDS[kind]), (KINDS[kind], KINDS[kind])):
        a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        found, most = f(x, y)
        np.testing.assert_array_equal(found, a + 10 * b)
        assert most == max(a.max(), b.max())


@pytest.mark.parametrize("order", ["C", "F", "transposed", "every other", "float32"])
def test_one_matrix_in_any_order(quick, order: str, rng) -> None:
    f, x = together(3, 4), rng.normal(size=(3, 4)).astype(np.float32).astype(float)
    given = {
        "C": x, "F": np.asfortranarray(x), "transposed": x.T.copy().T, "every other": np.repeat(x, 2, axis=1)[:, ::2],
        "float32": np.asfortranarray(x.astype(np.float32)),
    }[order]  # fmt: skip
    np.testing.assert_array_equal(f(given, x)[0], x + 10 * x)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 100])
@pytest.mark.parametrize("layout", ["both", "one alone", "a list for all", "backwards", "strided"])
def test_a_batch_whose_leading_axes_are_equal_or_absent(
    quick, count: int, layout: str, rng
) -> None:
    f, x, y = together(6), rng.normal(size=(count, 6)), rng.normal(size=(count, 6))
    x, y = {
        "both": (x, y), "one alone": (x, y[0]), "a list for all": (x, y[0].tolist()), "backwards": (x[::-1], y),
        "strided": (np.repeat(x, 2, axis=1)[:, ::2], np.repeat(y, 2, axis=0)[::2]),
    }[layout]  # fmt: skip
    found, most = f(x, y)
    single = [f(a, b) for a, b in zip(x, np.broadcast_to(y, x.shape), strict=True)]
    np.testing.assert_array_equal(found, [a for a, _ in single])
    np.testing.assert_array_equal(most, [b for _, b in single])


@pytest.mark.parametrize(
    "x", [[1, 2, 3], [1, 2, 3, 4, 5, "6"], [1, 2, 3, 4, 5, 6j], [[1] * 6, [2] * 5], np.ones(6, complex), {1: 2}, "abcdef", None,
          np.ma.masked_array(NUMBERS), np.ones((6, 1)), [10**400] * 6, [None] * 6],
    ids=lambda x: str(x)[:20],
)  # fmt: skip
def test_what_is_no_state_is_refused_or_converted_by_python(x: Any) -> None:
    f = together(6)
    try:
        found = f(x, NUMBERS)[0]
    except EslabonError as error:
        assert str(error).startswith(("x ", "leading axes"))
    else:
        np.testing.assert_array_equal(found, np.asarray(x, dtype=float) + 10 * NUMBERS)


@pytest.mark.parametrize("x", [[True, 2, 3, 4, 5, 6], np.arange(6, dtype=np.uint8), np.arange(6, dtype=">f8"),
                               np.arange(6, dtype=np.float16), [np.float32(x) for x in range(6)], range(6)], ids=str)  # fmt: skip
def test_other_real_numbers_are_python_s(x: Any) -> None:
    np.testing.assert_array_equal(
        together(6)(x, NUMBERS)[0], np.asarray(x, dtype=float) + 10 * NUMBERS
    )


def test_an_array_that_is_not_aligned() -> None:
    raw = np.zeros(8 * 6 + 1, dtype=np.uint8)
    x = raw[1:].view(np.float64)
    x[:] = NUMBERS
    assert not x.flags.aligned
    np.testing.assert_array_equal(together(6)(x, NUMBERS)[0], 11 * NUMBERS)
    out = raw[1:].view(np.float64), np.array(0.0)
    together(6)(NUMBERS, NUMBERS, out=out)
    np.testing.assert_array_equal(out[0], 11 * NUMBERS)


def test_lists_keep_their_references() -> None:
    f, x = together(6), [1.5, 2.5, 1000, 4.5, 5.5, 6.5]
    batch = np.ones((3, 6))
    before = [sys.getrefcount(a) for a in (x, *x, batch)]
    for _ in range(50):
        f(x, x)
        f(batch, x)
    assert [sys.getrefcount(a) for a in (x, *x, batch)] == before


# Names -------


def named() -> Any:
    """a x + b y + w, with the numbers a and b in one group and the vector w in another."""
    x, w, a, b = ca.SX.sym("x", 3), ca.SX.sym("w", 3), ca.SX.sym("a"), ca.SX.sym("b")
    inputs = [
        native.Argument("x", (3,)),
        native.Argument("w", (3,), group="external"),
        native.Argument("a", (), group="parameters"),
        native.Argument("b", (), group="parameters"),
    ]
    return native.compile(
        ca.Function("named", [x, w, a, b], [a * x + b + w]), inputs=inputs, cache=False
    )


def test_groups_by_place_and_by_name_are_the_same(quick) -> None:
    f, w = named(), np.array([0.1, 0.2, 0.3])
    expected, out = f(X, w, 2.0, 3.0), np.empty(3)
    np.testing.assert_allclose(expected, 2 * X + 3 + w, rtol=1e-15)
    for parameters in ({"a": 2.0, "b": 3.0}, {"b": np.float64(3), "a": np.array(2.0)}):
        assert np.array_equal(f(X, parameters=parameters, external={"w": w}), expected)
        assert f(X, out=out, external={"w": w}, parameters=parameters, threads=2) is out
        assert np.array_equal(out, expected)
    assert np.array_equal(scaled()(X, 2.0, parameters=None, external=None), 2 * X)


def test_other_names_are_not_taken_for_these() -> None:
    f, w = named(), np.zeros(3)
    good = {"a": 2.0, "b": 3.0}
    for words in (
        {"parameters": {"a": 2.0, "c": 3.0}, "external": {"w": w}},
        {"parameters": {**good, "c": 3.0}, "external": {"w": w}},
        {"parameters": {"a": 2.0}, "external": {"w": w}},
        {"parameters": good},
        {"parameters": good, "external": {"v": w}},
        {"parameters": {}, "external": {"w": w}},
    ):
        with pytest.raises(TypeError, match="takes"):
            f(X, **words)
    with pytest.raises(TypeError, match="takes"):
        scaled()(X, 2.0, parameters=good)
    with pytest.raises(native.InputError, match="4 arguments"):
        f(X)
    with pytest.raises(native.InputError, match="4 arguments"):
        f(X, w, 2.0, 3.0, parameters=good, external={"w": w})
    many = f(
        np.array([X, 2 * X]),
        parameters={"a": np.array([1.0, 2.0]), "b": 0},
        external={"w": [0, 0, 1]},
    )
    np.testing.assert_allclose(many, np.array([X, 4 * X]) + np.array([0, 0, 1]))


def test_a_parameter_as_a_keyword_of_its_own(quick) -> None:
    w = np.zeros(3)
    plain = named()
    f = plain.by_keyword("b")
    expected = plain(X, w, 2.0, 3.0)
    for t in (3.0, 3, np.array(3.0)):
        np.testing.assert_array_equal(f(X, external={"w": w}, parameters={"a": 2.0}, t=t), expected)
    many = f(X, external={"w": w}, parameters={"a": 2.0}, t=np.array([3.0, 4.0]))
    np.testing.assert_array_equal(many, [expected, expected + 1])


def test_parameters_that_are_bound(quick) -> None:
    w, plain = np.zeros(3), named()
    f = plain.bind({"b": 3.0})
    expected = plain(X, w, 2.0, 3.0)
    np.testing.assert_array_equal(f(X, w, 2.0), expected)
    np.testing.assert_array_equal(f(X, external={"w": w}, parameters={"a": 2.0}), expected)
    np.testing.assert_array_equal(
        f(np.array([X, 2 * X]), w, 2.0), [expected, plain(2 * X, w, 2.0, 3.0)]
    )
    both = f.bind({"a": 2.0})
    np.testing.assert_array_equal(both(X, w), expected)


def test_bound_parameters_in_the_general_call() -> None:
    w, plain = np.zeros(3), named()
    f = plain.bind({"b": 3.0})
    many = np.array([[X], [2 * X]])
    np.testing.assert_array_equal(f(many, w, [1.0, 2.0]), plain(many, w, [1.0, 2.0], 3.0))
    with pytest.raises(native.InputError, match="takes 3 arguments"):
        f(X, w, 2.0, 3.0)
    with pytest.raises(TypeError, match="takes"):
        f(X, external={"w": w}, parameters={"a": 2.0, "b": 1.0})


def test_names_keep_their_references() -> None:
    f, w, a = named(), np.zeros(3), np.array(2.0)
    parameters = {"a": a, "b": 3.0}
    before = [sys.getrefcount(x) for x in (w, a, parameters)]
    for _ in range(50):
        f(X, parameters=parameters, external={"w": w})
    assert [sys.getrefcount(x) for x in (w, a, parameters)] == before


# Bounds --------------------------------------------------------------------------------------------------------------


def guarded_root(**described: Any) -> Any:
    """The root of x, and how far its square is from x."""
    x = ca.SX.sym("x")
    root = ca.sqrt(ca.fmax(x, 0))
    f = ca.Function("root", [x], [ca.fabs(root**2 - x), root, x])
    outputs = [
        native.Argument("residual", (), bound=("<=", 1e-9)),
        native.Argument("root", ()),
        native.Argument("size", (), bound=(">", -4.0)),
    ]
    return native.compile(
        f, inputs=[native.Argument("x", ())], outputs=outputs, cache=False, **described
    )


def test_where_all_bounds_hold_the_other_outputs_are_returned(quick) -> None:
    assert guarded_root()(4.0) == 2.0


def test_over_a_batch_too(quick) -> None:
    np.testing.assert_array_equal(guarded_root()(np.array([4.0, 9.0])), [2.0, 3.0])


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (-1.0, "root of puma is not valid here: its residual is 1, and must be <= 1e-09"),
        (np.array([1.0, -2.0, 4.0]), "its residual is 2, and"),
        (np.nan, "its residual is nan"),
    ],
)
def test_a_violated_bound_is_named(x: Any, sentence: str) -> None:
    with pytest.raises(EslabonError, match=sentence):
        guarded_root(owner="puma")(x)


def test_whoever_set_the_bound_may_look_closer() -> None:
    seen = []

    def closer(arrays: list[Any], results: list[Any]) -> list[Any]:
        seen.append((arrays, results))
        return [np.where(results[1] > 0, results[1], 7.0)]

    f = guarded_root().with_checks({}, closer)
    out = np.array(0.0)
    assert f(-1.0, out=out, threads=1) is out
    assert out == 7.0
    (arrays, (residual, root, size)) = seen[0]
    assert (arrays[0], residual, root, size) == (-1.0, 1.0, 0.0, -1.0)
    assert f(4.0) == 2.0
    np.testing.assert_array_equal(f(np.array([4.0, -1.0])), [2.0, 7.0])


def test_limits_are_data_of_the_same_code() -> None:
    f = guarded_root()
    loose, tight = (f.with_checks({"residual": limit}) for limit in (2.0, -1.0))
    for x in (-1.0, np.array([-1.0, 4.0])):
        np.testing.assert_array_equal(loose(x), np.sqrt(np.maximum(x, 0)))
    for call, x in (
        (f, -1.0),
        (loose, -3.0),
        (loose, -5.0),
        (tight, 4.0),
        (tight, np.array([4.0])),
    ):
        with pytest.raises(EslabonError, match="is not valid here"):
            call(x)
    residual, root, size = f.all_outputs([-3.0, 4.0])
    np.testing.assert_array_equal([residual, root, size], [[3.0, 0.0], [0.0, 2.0], [-3.0, 4.0]])


def test_an_input_that_is_also_out_is_whole_when_a_bound_is_violated() -> None:
    x = ca.SX.sym("x", 2)
    outputs = [native.Argument("y", (2,)), native.Argument("good", (), bound=(">=", 0.0))]
    f = native.compile(ca.Function("f", [x], [2 * x, x[0]]), outputs=outputs, cache=False)
    state = np.array([-1.0, 5.0])
    for many in (state, np.array([state, state])):
        with pytest.raises(EslabonError, match="its good is -1"):
            f(many, out=many)
        np.testing.assert_array_equal(many, np.broadcast_to([-1.0, 5.0], many.shape))
    f = f.with_checks({}, lambda arrays, results: [results[0] + arrays[0]])
    np.testing.assert_array_equal(f(state, out=state), [-3.0, 15.0])


def test_bounds_are_part_of_what_is_kept_on_disk(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [2 * x, x])

    def compiled(limit: float) -> Any:
        outputs = [native.Argument("y", ()), native.Argument("size", (), bound=("<", limit))]
        return native.compile(f, inputs=[native.Argument("x", ())], outputs=outputs, key="kept")

    compiled(1.0)
    loaded = native.load("kept")
    assert loaded is not None
    assert loaded(0.5) == 1.0
    with pytest.raises(EslabonError):
        loaded(2.0)
    assert compiled(3.0)(2.0) == 4.0


def test_bounds_that_make_no_sense_are_refused() -> None:
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [x, x[0]])
    with pytest.raises(GraphError, match="a single number"):
        native.compile(f, outputs=[native.Argument("a", bound=("<", 1.0)), native.Argument("b")])
    with pytest.raises(GraphError, match="comparison"):
        native.compile(f, outputs=[native.Argument("a"), native.Argument("b", bound=("==", 1.0))])
    with pytest.raises(GraphError, match="nothing is left"):
        native.compile(
            ca.Function("f", [x], [x[0]]), outputs=[native.Argument("a", bound=("<", 1.0))]
        )
    with pytest.raises(GraphError, match="bound"):
        native.compile(
            f, states=1, outputs=[native.Argument("a"), native.Argument("b", bound=("<", 1.0))]
        )
