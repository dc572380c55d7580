"""What goes in and comes out, in the caller's words, and sentences for what does not fit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import floats as as_floats
from eslabon.compiler.program import Program, Shape, checked_shape
from eslabon.errors import GraphError, InputError

Floats = NDArray[np.float64]
Bound = tuple[str, float]  # one of the comparisons below, and a limit
GROUPS = ("external", "parameters", "t")  # keywords by which inputs may be given: two dictionaries and a value
COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
__all__ = [
    "COMPARISONS",
    "GROUPS",
    "Argument",
    "Bound",
    "Floats",
    "InputError",
    "Signature",
    "Tangent",
    "as_floats",
    "check",
]


class Tangent(NamedTuple):
    """Directions in which an input may change: how many an owner has, and the matrix of them for symbols of the input."""

    count: Callable[[Any], int]
    rates: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Argument:
    """One input or output: its name, the shape of one state's worth, and what its numbers are called.

    The shape is filled with the CasADi matrix row by row, so that a 12x4 matrix may be seen as (3, 4, 4). None means
    the matrix as it is, a column being a vector. An output may have a bound, such as ("<=", 1e-9), that says whether the
    other outputs mean anything; it is a single number, and NaN keeps no bound. An input of a group, "parameters" or
    "external", follows those of none, and may also be given by name: f(q, parameters={"a1": 0.5}). A formula's input may
    have tangents, along which derivatives by it are taken; compiled code knows nothing of them.
    """

    name: str
    shape: Any = None  # a tuple, None, or for a formula a function of its owner and the options that gives one
    noun: str = "values"
    bound: Bound | None = None
    group: str = ""
    tangent: Tangent | None = None


@dataclass(frozen=True)
class Signature:
    """All there is to know about a compiled function without its graph."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    owner: str = ""
    operations: int = 0

    @staticmethod
    def of(
        program: Program, inputs: Sequence[Argument] | None, outputs: Sequence[Argument] | None, name: str, owner: str
    ) -> Signature:
        """Arguments as the caller describes them, checked against the program, or as CasADi names them."""
        made = Signature(
            name or program.name,
            _described(inputs, program.input_names, program.input_shapes, "inputs"),
            _described(outputs, program.output_names, program.output_shapes, "outputs"),
            owner,
            program.operations,
        )
        _check_bounds(made)
        return made

    @staticmethod
    def of_graph(f: Any, inputs: Sequence[Argument], outputs: Sequence[Argument], name: str, owner: str) -> Signature:
        """The same of a `casadi.Function`, without reading its instructions."""
        sizes_in, sizes_out = [f.size_in(k) for k in range(f.n_in())], [f.size_out(k) for k in range(f.n_out())]
        described = (
            _described(inputs, f.name_in(), sizes_in, "inputs"),
            _described(outputs, f.name_out(), sizes_out, "outputs"),
        )
        return Signature(name, *described, owner, f.n_instructions())

    @property
    def bounds(self) -> list[Bound]:
        return [a.bound for a in self.outputs if a.bound]

    def bounded(self, limits: Mapping[str, float]) -> Signature:
        """The same with other limits of some outputs."""
        outputs = (
            replace(a, bound=(a.bound[0], limits[a.name])) if a.bound and a.name in limits else a for a in self.outputs
        )
        return replace(self, outputs=tuple(outputs))

    def described(self) -> str:
        """What `help` and `inspect.signature` show."""

        def line(a: Argument) -> str:
            shape = ", ".join(["...", *map(str, a.shape)])
            return f"  {a.name}: ({shape}) {a.noun}"

        words = ["out", "threads", *(group for group, names in self.groups.items() if names)]
        of = f" of {self.owner}" if self.owner else ""
        given = f"{', '.join(a.name for a in self.inputs)}, /, *, {', '.join(f'{w}=None' for w in words)}"
        return "\n".join([
            f"{self.name}({given})\n--\n",
            f"{self.name}{of}: {self.operations} operations in native code.",
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
                Argument(**{**a, "shape": tuple(a["shape"]), "bound": tuple(a["bound"]) if a["bound"] else None})
                for a in given
            )

        return Signature(**{**data, "inputs": arguments(data["inputs"]), "outputs": arguments(data["outputs"])})


def _described(
    given: Sequence[Argument] | None, names: Sequence[str], shapes: Sequence[tuple[int, int]], what: str
) -> tuple[Argument, ...]:
    given = [Argument(n) for n in names] if given is None else given
    if len(given) != len(shapes):
        raise GraphError(f"the graph has {len(shapes)} {what}; {len(given)} were described.")
    return tuple(
        replace(a, shape=checked_shape(a.shape, *shape, a.name)) for a, shape in zip(given, shapes, strict=True)
    )


def _check_bounds(signature: Signature) -> None:
    for a in signature.outputs:
        if a.bound and (a.bound[0] not in COMPARISONS or math.prod(a.shape or ()) != 1):
            raise GraphError(f"{a.name} of {signature.name} has shape {a.shape} and the bound {a.bound}; a bound is a "
                f"comparison ({', '.join(COMPARISONS)}) of a single number with a limit.")  # fmt: skip
    if signature.outputs and all(a.bound for a in signature.outputs):
        raise GraphError(f"all outputs of {signature.name} have bounds, so that nothing is left to return.")


def check(signature: Signature, arrays: Sequence[NDArray[Any]], outs: Sequence[NDArray[Any] | None] = ()) -> Shape:
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
            raise InputError(f"out for {argument.name} has shape {out.shape}; {batch + argument.shape} is expected.")
    return batch


def _refuse_shape(argument: Argument, array: NDArray[Any], owner: str) -> NoReturn:
    shape: Shape = argument.shape
    got = array.shape[array.ndim - len(shape) :] if array.ndim >= len(shape) else array.shape
    size = "x".join(map(str, shape))
    expected = f"{owner} has {size} {argument.noun}" if owner else f"{size} {argument.noun} are expected"
    if array.ndim == 0:
        raise InputError(f"{argument.name} is a single number; {expected}.")
    if len(shape) == 1:
        raise InputError(f"{argument.name} has {got[0]} value{'s' * (got[0] != 1)} in its last axis; {expected}.")
    raise InputError(f"{argument.name} has shape {array.shape}; {expected} in its last {len(shape)} axes.")


def _common(leading: Sequence[Shape], signature: Signature) -> Shape:
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        parts = [f"{a.name} has {s}" for a, s in zip(signature.inputs, leading, strict=True) if math.prod(s) != 1]
        raise InputError(f"leading axes do not fit together: {', '.join(parts)}.") from None
