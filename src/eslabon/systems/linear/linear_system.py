"""Linear systems: A, B, C and D with the names of their signals, in continuous or discrete time.

Everything that works with a linear system takes it through `LinearSystem.from_any`: a linear model
of a mechanism or of a bond graph, a state space of python-control, or matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer, Block, Column, Message, Table, cell_text, matrix_table
from eslabon.arguments import Floats, choice, finite, positive
from eslabon.errors import InputError, MissingDependencyError, format_value
from eslabon.numerics.tolerances import COINCIDENT, ROUND_OFF
from eslabon.systems.linear.numerical_failures import explained

NEEDS = ("AB", "AC", "ABC")  # what a design takes: inputs, outputs, or both
SIGNALS = (("states", "x"), ("inputs", "u"), ("outputs", "y"))


@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem(Answer):
    """x' = A x + B u, y = C x + D u; with a period x[k+1] = A x[k] + B u[k]. Leading axes are many
    systems.

    Attributes
    ----------
    A, B, C, D : `(..., n, n)`, `(..., n, nu)`, `(..., ny, n)`, `(..., ny, nu)`.
    states, inputs, outputs : the names of its signals.
    period : of the samples in seconds; None in continuous time.

    >>> import eslabon as es
    >>> system = es.linear.LinearSystem.from_any(([[0.0, 1.0], [-4.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]]))
    >>> system
    <LinearSystem: 2 states, 1 inputs, 1 outputs; poles 0-2i, 0+2i>
    >>> system.sampled(0.1).poles.round(3)
    array([0.98-0.199j, 0.98+0.199j])
    """

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    period: float | None = None
    name: str = "system"

    @classmethod
    def from_any(cls, system: Any, need: str = "ABC") -> LinearSystem:
        """The linear system that a caller means.

        Parameters
        ----------
        system : a `LinearSystem`, a state space of python-control, or matrices: (A, B, C), (A, B,
            C, D), or the two that are needed.
        need : "AB" where inputs matter, "AC" where outputs do, "ABC" for both.

        >>> LinearSystem.from_any(([[0.0]], [[1.0]]), need="AB").states
        ('x1',)
        """
        choice(need, "need", NEEDS)
        if isinstance(system, LinearSystem):
            made = system
        elif all(hasattr(system, letter) for letter in need):
            made = _of_state_space(system)
        elif isinstance(system, tuple | list):
            made = _of_matrices(system, need)
        else:
            raise InputError(
                "a linear system is what m.linearize gives, a control.StateSpace, or matrices "
                f"{_accepted(need)}; it is {format_value(system)}."
            )
        made._check(need)
        return made

    # -- many ------------------------------------------------------------------------------------

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.A.shape[:-2]

    def __len__(self) -> int:
        if not self.batch:
            raise TypeError("one linear system has no length.")
        return self.batch[0]

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any) -> LinearSystem:
        """Some of many systems."""
        places = self._places(index)

        def some(matrix: Floats) -> Floats:
            whole = np.broadcast_to(matrix, (*self.batch, *matrix.shape[-2:]))
            return whole.reshape(-1, *matrix.shape[-2:])[places]

        A, B, C, D = (some(X) for X in (self.A, self.B, self.C, self.D))
        return replace(self, A=A, B=B, C=C, D=D)

    def _places(self, index: Any) -> Any:
        """The numbers of the chosen systems, counted along all leading axes."""
        if not self.batch:
            raise InputError(
                f"there is one linear model of {self.name} here, and no others to choose from."
            )
        try:
            return np.arange(int(np.prod(self.batch))).reshape(self.batch)[index]
        except IndexError as error:
            raise InputError(
                f"there are {'x'.join(map(str, self.batch))} linear models here: {error}."
            ) from None

    # -- poles -----------------------------------------------------------------------------------

    @property
    @explained("the poles")
    def poles(self) -> np.ndarray[Any, np.dtype[np.complex128]]:
        """The eigenvalues of A, `(..., n)`: by their size, conjugates side by side.

        >>> import eslabon as es
        >>> float(es.load("cart_pole").linearize([0.0, 0.0]).poles.real.max().round(3))
        3.974
        """
        return sort_poles(np.linalg.eigvals(self.A))

    @property
    def stable(self) -> np.ndarray | bool:
        """Whether every state dies out by itself, one by one for many systems."""
        rates = growth(self.poles, self.period)
        decaying = np.all(rates < (0.0 if self.period is None else 1.0), axis=-1)
        return np.asarray(decaying) if self.batch else bool(decaying)

    def combination(self, weights: ArrayLike) -> str:
        """A combination of states in a sentence, its largest terms only.

        >>> import eslabon as es
        >>> es.load("cart_pole").linearize([0.0, 0.0]).combination([1.0, 0.0, -0.5, 0.0])
        "x - 0.5 x'"
        """
        values = finite(weights, "weights")
        if values.shape != (len(self.states),):
            raise InputError(
                f"weights have shape {values.shape}; one for each of the {len(self.states)} states is expected."
            )
        size = np.abs(values).max()
        terms = [
            (weight / size, name)
            for weight, name in zip(values, self.states, strict=True)
            if abs(weight) > 0.05 * size
        ]
        texts = [
            name if np.isclose(x, 1) else f"-{name}" if np.isclose(x, -1) else f"{x:.2g} {name}"
            for x, name in terms
        ]
        return " + ".join([*texts[:4], *(["..."] if len(texts) > 4 else [])]).replace("+ -", "- ")

    # -- other systems ---------------------------------------------------------------------------

    def sampled(self, period: float) -> LinearSystem:
        """The system in discrete time, its inputs held over a period (zero-order hold), exact.

        >>> import eslabon as es
        >>> es.load("cart_pole").linearize([0.0, 0.0]).sampled(0.01).A[0].round(6)
        array([ 1.0e+00, -3.6e-05,  1.0e-02, -0.0e+00])
        """
        if self.period is not None:
            raise InputError(
                f"the system is in discrete time already, with a period of {self.period:g} s; leave period out."
            )
        h = positive(period, "period")
        A, B = zero_order_hold(self.A, self.B, h)
        return LinearSystem(
            A, B, self.C, self.D, self.states, self.inputs, self.outputs, h, self.name
        )  # fmt: skip

    def closed_by(self, K: ArrayLike) -> LinearSystem:
        """The system under the state feedback u = -K x + r, with the inputs r.

        >>> double_integrator = LinearSystem.from_any(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), "AB")
        >>> double_integrator.closed_by([[2.0, 3.0]]).poles.real
        array([-1., -2.])
        """
        gains, shape = finite(K, "K"), (len(self.inputs), len(self.states))
        if gains.shape != shape:
            raise InputError(
                f"K has shape {gains.shape}; {shape} is expected: a row for each input, a column for each state."
            )
        A, C = self.A - self.B @ gains, self.C - self.D @ gains
        return LinearSystem(
            A, self.B, C, self.D, self.states, self.inputs, self.outputs, self.period, self.name
        )

    def to_control(self) -> Any:
        """The system as python-control's `StateSpace` with the names of its signals, for its Bode
        plots, root loci and step responses. Dots in names become underscores; without outputs all
        states are outputs.

        >>> import eslabon as es
        >>> es.load("cart_pole").linearize([0.0, 0.0]).to_control().state_labels
        ['x', 'theta', "x'", "theta'"]
        >>> es.load("cart_pole").linearize([0.0, 0.0]).sampled(0.01).to_control().dt
        0.01
        """
        control = python_control("to_control")
        if self.batch:
            raise InputError(
                f"there are {int(np.prod(self.batch))} linear models of {self.name} here; to_control takes one, such as lm[0]."
            )
        C, D, outputs = self.C, self.D, self.outputs
        if not outputs:
            C, D, outputs = np.eye(len(self.states)), np.zeros_like(self.B), self.states
        signals = {"states": self.states, "inputs": self.inputs, "outputs": outputs}
        names = {what: [name.replace(".", "_") for name in own] for what, own in signals.items()}
        return control.ss(self.A, self.B, C, D, self.period or 0, name=self.name, **names)

    # -- text ------------------------------------------------------------------------------------

    def contents(self) -> Iterator[Block]:
        """The matrices side by side with the names of their signals, and the poles."""
        if self.batch:
            yield Message("Pick one by its index to see its matrices.")
            return
        columns = (*self.states, *(f"u: {name}" for name in self.inputs))
        if self.states:
            rates = [
                f"d({name})/dt" if self.period is None else f"next {name}" for name in self.states
            ]
            yield matrix_table("A, B", np.hstack([self.A, self.B]), rates, columns)
        if len(self.outputs) and not np.array_equal(self.C, np.eye(*self.C.shape)):
            yield matrix_table("C, D", np.hstack([self.C, self.D]), self.outputs, columns)
        units = ("1/s", "rad/s") if self.period is None else ("", "")
        rows = [(cell_text(without_round_off(s)), float(abs(s))) for s in self.poles]
        yield Table((Column("pole", units[0]), Column("magnitude", units[1])), rows, "poles")

    def __repr__(self) -> str:
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        if self.batch:
            return f"<{type(self).__name__}: {'x'.join(map(str, self.batch))} systems; {sizes}>"
        every = "" if self.period is None else f", every {self.period:g} s"
        return f"<{type(self).__name__}: {sizes}{every}; poles {format_poles(self.poles)}>"

    # -- checks ----------------------------------------------------------------------------------

    def _check(self, need: str) -> None:
        """Refuse many systems, no state, no inputs or outputs where they are needed, and matrices
        that do not fit."""
        if self.batch:
            raise InputError(
                f"there are {int(np.prod(self.batch))} linear models of {self.name} here; take one of them, such as lm[0]."
            )
        n = len(self.states)
        if not n:
            raise InputError(
                f"A is a square matrix of at least one state; its shape is {self.A.shape}."
            )
        for letter, count in (("B", len(self.inputs)), ("C", len(self.outputs))):
            if letter in need and not count:
                noun = "inputs" if letter == "B" else "outputs"
                raise InputError(f"the linear system has no {noun}: {letter} is empty.")
        for letter in need:
            finite(getattr(self, letter), letter)


# -- poles -----------------------------------------------------------------------------------------


def sort_poles(poles: Any) -> np.ndarray[Any, np.dtype[np.complex128]]:
    """Poles `(..., n)` by their size, conjugates side by side; sizes that only differ by round-off
    are equal.

    >>> sort_poles([-3.0, 1 + 1j, 1 - 1j, 0.5])
    array([ 0.5+0.j,  1. -1.j,  1. +1.j, -3. +0.j])
    """
    given = np.asarray(poles, dtype=complex)
    sizes = np.abs(given)
    unit = sizes.max(axis=-1, keepdims=True, initial=0.0)
    shares = (sizes / np.where((unit > 0) & np.isfinite(unit), unit, 1.0)).round(12)
    order = np.lexsort((given.imag, given.real, shares), axis=-1)
    return np.take_along_axis(given, order, axis=-1)


def growth(poles: Any, period: float | None) -> Floats:
    """What grows with each pole: its real part in 1/s, or in discrete time its modulus."""
    rates: Floats = np.real(poles) if period is None else np.abs(poles)
    return rates


def slowest_pole(poles: Any, period: float | None = None) -> complex:
    """The pole whose motion dies out last: that of the largest real part, in discrete time of the
    largest modulus.

    >>> slowest_pole([-1.0, -3.0]), slowest_pole([0.5, -0.9], period=0.1)
    ((-1+0j), (-0.9+0j))
    """
    return complex(np.asarray(poles)[int(np.argmax(growth(poles, period)))])


def without_round_off(s: complex) -> complex:
    """A pole without the real or the imaginary part that is round-off of the other."""
    least = max(COINCIDENT * abs(s), ROUND_OFF)
    real, imag = (x if abs(x) > least else 0.0 for x in (complex(s).real, complex(s).imag))
    return complex(real + 0.0, imag + 0.0)


def format_pole(s: complex, period: float | None = None) -> str:
    """A pole in a sentence; the z of a system in discrete time.

    >>> format_pole(-1 + 0j), format_pole(-1 + 2j), format_pole(0.5, 0.1)
    ('s = -1', 's = -1+2i', 'z = 0.5')
    """
    return f"{'s' if period is None else 'z'} = {format_poles([s])}"


def format_poles(poles: Any, most: int = 6) -> str:
    """Poles in a sentence, the first of many.

    >>> format_poles([-1.0, -1 + 2j])
    '-1, -1+2i'
    """
    shown = [without_round_off(s) for s in list(poles)[:most]]
    texts = [f"{s.real:.6g}{s.imag:+.6g}i" if s.imag else f"{s.real:.6g}" for s in shown]
    return ", ".join([*texts, *(["..."] if len(poles) > most else [])])


# -- sampling, and the neighbours' types --------------------------------------------------------------


def zero_order_hold(A: Floats, B: Floats, h: float) -> tuple[Floats, Floats]:
    """exp(A h) and the integral of exp(A s) B ds over the time h, exact: by one exponential of [[A,
    B], [0, 0]].

    >>> zero_order_hold(np.zeros((1, 1)), np.ones((1, 1)), 0.5)
    (array([[1.]]), array([[0.5]]))
    """
    from scipy.linalg import expm

    n, nu = B.shape[-2:]
    block = np.zeros((*np.broadcast_shapes(A.shape[:-2], B.shape[:-2]), n + nu, n + nu))
    block[..., :n, :n], block[..., :n, n:] = A * h, B * h
    made = expm(block)
    return made[..., :n, :n], made[..., :n, n:]


def python_control(task: str) -> Any:
    """The package python-control, or a sentence that says how to install it."""
    try:
        import control
    except ImportError:
        raise MissingDependencyError(
            f"{task} needs python-control; install it with: pip install 'eslabon[control]'"
        ) from None
    return control


def _accepted(need: str) -> str:
    pair = "" if len(need) > 2 else f"({need[0]}, {need[1]}), "
    return f"{pair}(A, B, C) or (A, B, C, D)"


def _of_matrices(given: Any, need: str) -> LinearSystem:
    count = len(given)
    if count not in (3, 4) and count != len(need):
        raise InputError(
            f"a linear system is a linear model or matrices {_accepted(need)}; {count} arrays were given."
        )
    letters = "ABCD"[:count] if count > 2 else need
    return _assembled(dict(zip(letters, given, strict=True)), {}, None, "system")


def _of_state_space(system: Any) -> LinearSystem:
    """A state space of python-control or SciPy."""
    given = {x: getattr(system, x) for x in "ABCD" if getattr(system, x, None) is not None}
    names = {
        noun: getattr(system, f"{noun[:-1]}_labels", None) or getattr(system, noun, None)
        for noun, _ in SIGNALS
    }
    return _assembled(given, names, _period(system), str(getattr(system, "name", "system")))


def _period(system: Any) -> float | None:
    """That of a system in discrete time; 0 and None are continuous, and True does not say how long
    it is."""
    dt = getattr(system, "dt", None)
    if isinstance(dt, bool | np.bool_) and dt:
        raise InputError(
            "the system is in discrete time, but its dt=True does not say how long a period is; give a dt in seconds."
        )
    return positive(dt, "dt") if dt else None


def _assembled(
    given: dict[str, Any], names: dict[str, Any], period: float | None, name: str
) -> LinearSystem:
    """A system of the matrices that were given; the others are empty or zero."""
    arrays = {letter: _matrix(x, letter) for letter, x in given.items()}
    A = arrays["A"]
    n = A.shape[-1]
    if A.shape[-2] != n or not n:
        raise InputError(f"A is a square matrix of at least one state; its shape is {A.shape}.")
    lead = A.shape[:-2]
    B = arrays.get("B", np.zeros((*lead, n, 0)))
    C = arrays.get("C", np.zeros((*lead, 0, n)))
    sizes = n, B.shape[-1], C.shape[-2]
    D = arrays.get("D", np.zeros((*lead, sizes[2], sizes[1])))
    expected = {"B": (n, sizes[1]), "C": (sizes[2], n), "D": (sizes[2], sizes[1])}
    for letter, X in (("B", B), ("C", C), ("D", D)):
        if X.shape[-2:] != expected[letter]:
            fits = ", ".join(f"{x} {arrays[x].shape}" for x in arrays if x != letter)
            raise InputError(f"{letter} has shape {X.shape}, which does not fit {fits}.")
    states, inputs, outputs = (
        _names(names.get(noun), letter, size)
        for (noun, letter), size in zip(SIGNALS, sizes, strict=True)
    )
    return LinearSystem(A, B, C, D, states, inputs, outputs, period, name)


def _matrix(value: Any, name: str) -> Floats:
    matrix = finite(value, name)
    if matrix.ndim < 2:
        raise InputError(f"{name} is a matrix; its shape is {matrix.shape}.")
    return matrix


def _names(given: Any, letter: str, count: int) -> tuple[str, ...]:
    if isinstance(given, tuple | list) and len(given) == count:
        return tuple(map(str, given))
    return tuple(f"{letter}{k + 1}" for k in range(count))
