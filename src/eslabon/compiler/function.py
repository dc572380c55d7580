"""A compiled function, and its general call: any real arrays, broadcast over leading axes, several
outputs, `out=`, `threads=`.

    f(q, v)                                      # (n,) or (..., n)
    f(q, parameters={"a1": 0.5}, external={"tool": wrench}, t=0.2, out=a, threads=2)
    f.all_outputs(q, v)                          # those with a bound too, whatever they are
    f.with_checks({"residual": 1e-9}, closer)    # the same code with another limit, and a closer look where one is not kept
    f.bind({"a1": 0.5})                          # the same code with the values of some parameters put in

Nothing is written into a function after it is made. `f.native` is the quickest way in: the runtime
takes what it can by itself (`llvm.runtime`), and hands everything else to the general call here.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats, count, floats, has_symbols
from eslabon.compiler.formula import Argument, Bound
from eslabon.compiler.program import Program, Shape, checked_shape
from eslabon.errors import EslabonError, GraphError, InputError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Results = Floats | tuple[Floats, ...]
Violation = Callable[[list[Floats], list[Floats]], list[Floats]]
GROUPS = (
    "external",
    "parameters",
    "t",
)  # keywords by which inputs may be given: two dictionaries and a value
COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_FLOAT64 = np.dtype(np.float64)
_LARGE = (
    1 << 14
)  # numbers, from which on fresh memory can take longer than to compute what goes into it


class SymbolsError(InputError, TypeError):
    """CasADi's symbols where numbers are expected: a verb of a mechanism gives an expression for
    them instead."""


class Code(Protocol):
    """What computes: native code, or CasADi where there is no LLVM."""

    def run(self, arrays: Sequence[Floats], results: Sequence[Floats]) -> None:
        """Compute all states; inputs, and the arrays for results, have the same leading axes."""

    def quick(self, call: GeneralCall, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """A way in that takes plain calls by itself and leaves the others to another one."""


class Function:
    """A compiled function of arrays."""

    def __init__(self, call: GeneralCall) -> None:
        self.general, self.__name__ = call, call.signature.name

    @staticmethod
    def of(signature: Signature, code: Code) -> Function:
        """The function that some code computes."""
        return Function(GeneralCall(signature, code))

    @cached_property
    def native(self) -> Callable[..., Any]:
        """The quickest way in."""
        return self.entry(self.general)

    def entry(self, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """The quickest way in, with another function for the calls that it does not take by
        itself."""
        return self.general.code.quick(self.general, otherwise)

    def __call__(self, *values: Any, **words: Any) -> Any:
        return self.native(*values, **words)

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.signature.inputs)
        return f"<native {self.signature.name}({names}), {self.signature.size}>"

    @property
    def signature(self) -> Signature:
        """What goes in and comes out."""
        return self.general.signature

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return self.signature.described()

    def all_outputs(self, *values: Any) -> Sequence[Floats]:
        """All outputs, those with a bound too, whatever they are."""
        return self.general.all_outputs(values)

    def with_checks(
        self, limits: Mapping[str, float], on_violation: Violation | None = None
    ) -> Function:
        """The same code with other limits of some outputs, and a handler for states that do not
        keep them.

        `on_violation(inputs, outputs)` gets all of them, and gives the values of the outputs that
        have no bound; without it a violation is an error that names the bound.
        """
        call = self.general
        return Function(
            GeneralCall(call.signature.bounded(limits), call.code, call.bound, on_violation)
        )

    def by_keyword(self, parameter: str) -> Function:
        """The same code with one of its parameters given as `t` instead of among the others."""
        call, signature = self.general, self.general.signature
        inputs = tuple(
            replace(a, group="t") if a.name == parameter and a.group else a
            for a in signature.inputs
        )
        return Function(replace(call, signature=replace(signature, inputs=inputs)))

    def bind(self, values: Mapping[str, float]) -> Function:
        """The same code with the values of some parameters put in, the last of its inputs."""
        call = self.general
        return Function(
            GeneralCall(call.signature, call.code, {**call.bound, **values}, call.on_violation)
        )


@dataclass(frozen=True, eq=False)
class GeneralCall:
    """The call of a function with whatever Python has."""

    signature: Signature
    code: Code
    bound: Mapping[str, float] = field(default_factory=dict)
    on_violation: Violation | None = None

    def __post_init__(self) -> None:
        own = {a.name for a in self.signature.inputs if a.group == "parameters"}
        assert own >= set(self.bound), "only parameters are bound"

    def __call__(
        self, *values: Any, out: Any = None, threads: int | None = None, **named: Any
    ) -> Results:
        arrays, outs = self._arrays([*values, *self._named(len(values), named)]), self._given(out)
        threads = None if threads is None else count(threads, "threads", 1)
        batch = check(self.signature, arrays, outs)
        bounds = self.signature.bounds
        # Nothing is written into an array that is an argument too before the bounds are found to
        # hold.
        apart = [
            o is not None
            and not any(np.may_share_memory(o, a) for a in arrays)
            and o.flags.aligned
            and (not bounds or o.size > _LARGE)
            for o in outs
        ]
        shapes = [batch + s for s in self.signature.output_shapes]
        results = [
            o if o is not None and mine else np.empty(s)
            for o, mine, s in zip(outs, apart, shapes, strict=True)
        ]
        self._computed(arrays, results, batch, threads)
        return self._returned(arrays, outs, results)

    def all_outputs(self, values: Sequence[Any]) -> list[Floats]:
        """All outputs for arguments by their places."""
        arrays = self._arrays(values)
        batch = check(self.signature, arrays)
        results = [np.empty(batch + s) for s in self.signature.output_shapes]
        self._computed(arrays, results, batch, None)
        return results

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _named(self, count: int, named: Mapping[str, Any]) -> Iterator[Any]:
        """The values of groups in the order of the arguments."""
        for word in named:
            if word not in GROUPS:
                raise TypeError(f"{self.signature.name} got an unexpected keyword '{word}'.")
        given = {group: x for group, x in named.items() if x is not None}
        free = {
            g: [n for n in names if n not in self.bound]
            for g, names in self.signature.groups.items()
        }
        absent = named and count < len(self.signature.inputs) - len(self.bound)
        for group, names in free.items() if given or absent else ():
            values = given.get(group, {})
            if group == "t" and names:
                values = {names[0]: values} if group in given else {}
            if not isinstance(values, Mapping) or set(values) != set(names):
                raise TypeError(f"{self.signature.name} takes {names} as {group}.")
            yield from (values[name] for name in names)

    def _arrays(self, values: Sequence[Any]) -> list[Floats]:
        arguments = self.signature.inputs[: len(self.signature.inputs) - len(self.bound)]
        if len(values) != len(arguments):
            names = ", ".join(a.name for a in arguments)
            raise InputError(
                f"{self.signature.name} takes {len(arguments)} arguments ({names}), not {len(values)}."
            )
        try:
            arrays = [
                v if type(v) is np.ndarray and v.dtype is _FLOAT64 else floats(v, a.name)
                for v, a in zip(values, arguments, strict=True)
            ]
        except InputError:
            if has_symbols(*values):
                raise SymbolsError(
                    f"{self.signature.name} takes numbers here, not CasADi's symbols."
                ) from None
            raise
        arrays = [a if a.flags.aligned else a.copy() for a in arrays]
        return arrays + [
            np.array(self.bound[a.name]) for a in self.signature.inputs[len(arguments) :]
        ]

    def _given(self, out: Any) -> list[Floats | None]:
        """`out` as a list with one place for each output; those with a bound are not the
        caller's."""
        outputs = self.signature.outputs
        wanted = sum(not a.bound for a in outputs)
        if out is None:
            return [None] * len(outputs)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outs) != wanted or not all(o is None or _is_writable(o) for o in outs):
            what = "the array" if wanted == 1 else f"a tuple of {wanted} arrays"
            found = f"{out.dtype} array" if isinstance(out, np.ndarray) else type(out).__name__
            raise InputError(
                f"out is {what} of floats that {self.signature.name} writes into; it is a {found}."
            )
        given = iter(outs)
        return [None if a.bound else next(given) for a in outputs]

    # -- results ------------------------------------------------------------------------------------------------------

    def _computed(
        self, arrays: list[Floats], results: list[Floats], batch: Shape, threads: int | None
    ) -> None:
        """Fill the results, in several threads where it pays; each state is computed alone, so that
        cuts change nothing."""
        if 0 in batch:
            return
        shapes = self.signature.input_shapes
        inputs = [
            a if a.shape[: a.ndim - len(s)] == batch else np.broadcast_to(a, batch + s)
            for a, s in zip(arrays, shapes, strict=True)
        ]
        operations = self.signature.expected_operations
        in_threads(self.code.run, inputs, results, batch, operations, threads)

    def _returned(
        self, arrays: list[Floats], outs: list[Floats | None], results: list[Floats]
    ) -> Results:
        """The outputs without a bound, where the others keep theirs, in the arrays that were given
        for them."""
        wanted = [k for k, a in enumerate(self.signature.outputs) if not a.bound]
        found = [results[k] for k in wanted]
        if any(True for _ in self._violated(results)):
            found = (self.on_violation or self._refuse)(arrays, results)
        if not any(
            o is not None for o in outs
        ):  # what looks closer may give something else instead
            made = [_put(x, None) for x in found]
        else:
            made = [_put(x, outs[k]) for x, k in zip(found, wanted, strict=True)]
        return made[0] if len(made) == 1 else tuple(made)

    def _violated(self, results: Sequence[Floats]) -> Iterator[int]:
        """The outputs that do not keep their bounds."""
        for k, a in enumerate(self.signature.outputs):
            if a.bound is not None and not np.all(COMPARISONS[a.bound[0]](results[k], a.bound[1])):
                yield k

    def _refuse(self, _: list[Floats], results: list[Floats]) -> NoReturn:
        """What a violated bound comes to where nobody looks closer."""
        k = next(self._violated(results))
        comparison, limit = self.signature.outputs[k].bound or ("", 0.0)
        values = np.ravel(results[k])
        worst = values[np.argmin(COMPARISONS[comparison](values, limit))]
        of = f" of {self.signature.owner}" if self.signature.owner else ""
        raise EslabonError(
            f"{self.signature.name}{of} is not valid here: its {self.signature.outputs[k].name} is "
            f"{worst:.3g}, and must be {comparison} {limit:g}."
        )


def _put(value: Floats, out: Floats | None) -> Floats:
    """A result in the array given for it; as NumPy's own functions do, a number for an array
    without axes."""
    if out is None:
        number: Floats = value[()] if isinstance(value, np.ndarray) else value
        return number
    if value is not out:
        out[...] = value
    return out


def _is_writable(out: Any) -> bool:
    return isinstance(out, np.ndarray) and out.dtype == _FLOAT64 and out.flags.writeable


# -- what goes in and comes out, in the caller's words ----------------------------------------------------------------


@dataclass(frozen=True)
class Signature:
    """All there is to know about a compiled function without its graph."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    owner: str = ""
    operations: int = 0
    expected_operations: int = 0  # by which a batch is shared among threads

    @staticmethod
    def of(
        program: Program,
        inputs: Sequence[Argument] | None,
        outputs: Sequence[Argument] | None,
        name: str,
        owner: str,
    ) -> Signature:
        """Arguments as the caller describes them, checked against the program, or as CasADi names
        them."""
        made = Signature(
            name or program.name,
            _described(inputs, program.input_names, program.input_shapes, "inputs"),
            _described(outputs, program.output_names, program.output_shapes, "outputs"),
            owner,
            program.operations,
            program.expected_operations,
        )
        _check_bounds(made)
        return made

    @staticmethod
    def of_graph(
        f: Any, inputs: Sequence[Argument], outputs: Sequence[Argument], name: str, owner: str
    ) -> Signature:
        """The same of a `casadi.Function`, without reading its instructions."""
        sizes_in, sizes_out = (
            [f.size_in(k) for k in range(f.n_in())],
            [f.size_out(k) for k in range(f.n_out())],
        )
        described = (
            _described(inputs, f.name_in(), sizes_in, "inputs"),
            _described(outputs, f.name_out(), sizes_out, "outputs"),
        )
        return Signature(name, *described, owner, f.n_instructions(), f.n_instructions())

    @property
    def size(self) -> str:
        """How many operations there are, in words."""
        most = "" if self.operations == self.expected_operations else "up to "
        return f"{most}{self.operations} operations"

    @property
    def of_owner(self) -> str:
        """Its name and its owner's, for messages."""
        return f"{self.name} of {self.owner}" if self.owner else self.name

    @property
    def bounds(self) -> list[Bound]:
        return [a.bound for a in self.outputs if a.bound]

    def bounded(self, limits: Mapping[str, float]) -> Signature:
        """The same with other limits of some outputs."""
        outputs = (
            replace(a, bound=(a.bound[0], limits[a.name])) if a.bound and a.name in limits else a
            for a in self.outputs
        )
        return replace(self, outputs=tuple(outputs))

    def described(self) -> str:
        """What `help` and `inspect.signature` show."""

        def line(a: Argument) -> str:
            shape = ", ".join(["...", *map(str, a.shape)])
            return f"  {a.name}: ({shape}) {a.noun}"

        words = ["out", "threads", *(group for group, names in self.groups.items() if names)]
        given = f"{', '.join(a.name for a in self.inputs)}, /, *, {', '.join(f'{w}=None' for w in words)}"
        return "\n".join([
            f"{self.name}({given})\n--\n",
            f"{self.of_owner}: {self.size} in native code.",
            "Leading axes broadcast.",
            "in", *map(line, self.inputs),
            "out", *map(line, self.outputs),
        ])  # fmt: skip

    @property
    def groups(self) -> dict[str, list[str]]:
        """The names of the inputs that may be given by name."""
        return {g: [a.name for a in self.inputs if a.group == g] for g in GROUPS}

    @property
    def input_shapes(self) -> tuple[Shape, ...]:
        return tuple(a.shape or () for a in self.inputs)

    @property
    def output_shapes(self) -> tuple[Shape, ...]:
        return tuple(a.shape or () for a in self.outputs)

    def to_dict(self) -> dict[str, Any]:
        """Plain data as JSON gives it back, for the cache."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return data

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Signature:
        """The inverse of `to_dict`."""

        def arguments(given: list[dict[str, Any]]) -> tuple[Argument, ...]:
            return tuple(
                Argument(
                    **{
                        **a,
                        "shape": tuple(a["shape"]),
                        "bound": tuple(a["bound"]) if a["bound"] else None,
                    }
                )
                for a in given
            )

        return Signature(
            **{**data, "inputs": arguments(data["inputs"]), "outputs": arguments(data["outputs"])}
        )


def _described(
    given: Sequence[Argument] | None,
    names: Sequence[str],
    shapes: Sequence[tuple[int, int]],
    what: str,
) -> tuple[Argument, ...]:
    given = [Argument(n) for n in names] if given is None else given
    if len(given) != len(shapes):
        raise GraphError(f"the graph has {len(shapes)} {what}; {len(given)} were described.")
    return tuple(
        replace(a, shape=checked_shape(a.shape, *shape, a.name))
        for a, shape in zip(given, shapes, strict=True)
    )


def _check_bounds(signature: Signature) -> None:
    for a in signature.outputs:
        if a.bound and (a.bound[0] not in COMPARISONS or math.prod(a.shape or ()) != 1):
            raise GraphError(f"{a.name} of {signature.name} has shape {a.shape} and the bound {a.bound}; a bound is a "
                f"comparison ({', '.join(COMPARISONS)}) of a single number with a limit.")  # fmt: skip
    if signature.outputs and all(a.bound for a in signature.outputs):
        raise GraphError(
            f"all outputs of {signature.name} have bounds, so that nothing is left to return."
        )


def check(
    signature: Signature, arrays: Sequence[NDArray[Any]], outs: Sequence[NDArray[Any] | None] = ()
) -> Shape:
    """The common leading axes of all arguments, or a sentence on what does not fit."""
    leading = []
    for argument, array in zip(signature.inputs, arrays, strict=True):
        own = len(argument.shape)
        first = array.ndim - own
        if first < 0 or array.shape[first:] != argument.shape:
            _refuse_shape(argument, array, signature.owner)
        leading.append(array.shape[:first])
    batch = leading[0] if len(set(leading)) == 1 else _common(leading, signature)
    for argument, out in zip(signature.outputs, outs, strict=False):
        if out is not None and out.shape != batch + argument.shape:
            raise InputError(
                f"out for {argument.name} has shape {out.shape}; {batch + argument.shape} is expected."
            )
    return batch


def _refuse_shape(argument: Argument, array: NDArray[Any], owner: str) -> NoReturn:
    shape: Shape = argument.shape
    got = array.shape[array.ndim - len(shape) :] if array.ndim >= len(shape) else array.shape
    size = "x".join(map(str, shape))
    expected = (
        f"{owner} has {size} {argument.noun}" if owner else f"{size} {argument.noun} are expected"
    )
    if array.ndim == 0:
        raise InputError(f"{argument.name} is a single number; {expected}.")
    if len(shape) == 1:
        raise InputError(
            f"{argument.name} has {got[0]} value{'s' * (got[0] != 1)} in its last axis; {expected}."
        )
    raise InputError(
        f"{argument.name} has shape {array.shape}; {expected} in its last {len(shape)} axes."
    )


def _common(leading: Sequence[Shape], signature: Signature) -> Shape:
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        parts = [
            f"{a.name} has {s}"
            for a, s in zip(signature.inputs, leading, strict=True)
            if math.prod(s) != 1
        ]
        raise InputError(f"leading axes do not fit together: {', '.join(parts)}.") from None


# -- threads ---------------------------------------------------------------------------------------------------------

# Handing work to the pool costs about 0.1 ms; a share of 0.5 ms for each thread pays. One core does
# about this many operations on packed states in that time.
WORTH_A_THREAD = 5_000_000


@cache
def cores() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@cache
def pool() -> ThreadPoolExecutor:
    """Threads that wait for the next call; there are as many as were ever needed at once."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(64, cores()), thread_name_prefix="eslabon")


def suitable(states: int, operations: int) -> int:
    """All cores for big batches, fewer or one for small ones."""
    return max(1, min(cores(), states * operations // WORTH_A_THREAD))


def in_threads(
    run: Callable[[list[Floats], list[Floats]], None],
    arrays: list[Floats],
    results: list[Floats],
    batch: Shape,
    operations: int,
    threads: int | None,
) -> None:
    """Fill the results for all states of a batch, in so many threads, or as many as pay for so many
    operations a state."""
    states = math.prod(batch)
    shares = min(states, threads or suitable(states, operations))
    if shares < 2:
        run(arrays, results)
        return
    axis = max(range(len(batch)), key=batch.__getitem__)

    def part(cut: slice) -> None:
        where = (slice(None),) * axis + (cut,)
        run([a[where] for a in arrays], [r[where] for r in results])

    list(pool().map(part, _cuts(batch[axis], shares)))


def _cuts(length: int, count: int) -> Iterator[slice]:
    """Slices of about equal length that hold whole blocks of states."""
    size = -(-length // count)
    size = -(-size // 8) * 8
    for first in range(0, length, size):
        yield slice(first, min(first + size, length))


def unshared(operations: int) -> int:
    """How many states of so many operations one thread computes before a second one would help."""
    most = (2 * WORTH_A_THREAD - 1) // max(1, operations)
    return 2**62 if cores() == 1 else max(1, most)  # one state is never shared


# A forked child has the pool's object but none of its threads, and would wait for them for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
