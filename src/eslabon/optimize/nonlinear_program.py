"""Nonlinear programs, solved by IPOPT from several starts: what optimal design and optimal motion have in common.

    program = NonlinearProgram("design of five_bar")
    x = program.variable("L2", 0.04, lower=0.03, upper=0.08)       # a CasADi column in its own unit
    program.constrain("closure", residual, scale=0.1)               # equal to zero, or within bounds
    program.minimize(objective)
    found = program.solve([{"L2": 0.05}, {"L2": 0.07}], verify=...)  # the best start that the verification accepts

Expressions are MX: a `casadi.Function` of an Expression graph, mapped over the samples of a motion, is in it once, however many samples
there are. First and second derivatives are CasADi's, exact. Variables are scaled by their own size, constraints by theirs, so that
metres and newtons count alike. Every start is recorded with the solver's own words.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from eslabon.arguments import (
    MAX_SEED,
    Floats,
    choice,
    count,
    finite,
    floats,
    known_words,
    positive,
)
from eslabon.displays import displayed
from eslabon.errors import InputError, OptimizationError
from eslabon.numerics.scalars import casadi
from eslabon.optimize.repeated_function import Block, Repeated, derivatives, substituted
from eslabon.progress import Progress

SOLVED = ("Solve_Succeeded", "Solved_To_Acceptable_Level")
FEASIBLE = 1e-6  # by how much of its scale a constraint may be violated
QUIET: dict[str, Any] = {
    "ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "error_on_fail": False, "show_eval_warnings": False,
    "ipopt.honor_original_bounds": "yes", "ipopt.constr_viol_tol": FEASIBLE / 10,
    "ipopt.acceptable_constr_viol_tol": FEASIBLE,
}  # fmt: skip
NEAR = {"ipopt.mu_init": 1e-4, "ipopt.bound_push": 1e-6, "ipopt.bound_frac": 1e-6, "ipopt.slack_bound_push": 1e-6,
    "ipopt.slack_bound_frac": 1e-6}  # starts that are all but optimal are not to be pushed away  # fmt: skip
HESSIANS = {"exact": "exact", "approximate": "limited-memory"}


@dataclass(frozen=True, eq=False)
class Variable:
    """Numbers that are sought: where they begin, their bounds, and the size that counts as one."""

    name: str
    start: Floats
    lower: Floats
    upper: Floats
    scale: Floats
    symbol: Any

    def scaled(self, value: Any) -> Floats:
        """A value within the bounds, as the solver sees it."""
        given = np.broadcast_to(finite(value, self.name), self.start.shape)
        return np.clip(given, self.lower, self.upper).ravel() / self.scale


@dataclass(frozen=True, eq=False)
class Constraint:
    """An expression within bounds, and the size that counts as one."""

    name: str
    expression: Any
    lower: Floats
    upper: Floats
    scale: Floats


@dataclass(frozen=True, eq=False)
class Start:
    """One start: where it began, and where the solver came to an end, with its own words.

    `violation` is the largest by which a constraint is violated, in its own unit, and `violated` the name of that constraint;
    `refused` is why the verification did not accept what the solver claims.
    """

    number: int
    begun: Mapping[str, Floats]
    values: Mapping[str, Floats]
    value: float
    success: bool
    words: str
    iterations: int
    violation: float
    violated: str
    relative: float = 0.0
    refused: str = ""
    merit: float = np.nan  # what was minimised, where the value tells it otherwise

    @property
    def accepted(self) -> bool:
        """Whether it is an optimum that was verified."""
        return self.success and not self.refused


@displayed
class Starts(tuple[Start, ...]):
    """The starts of a search in a table: `.best` is the one whose optimum is kept.

    >>> program = NonlinearProgram("parabola")
    >>> x = program.variable("x", 0.0, lower=-1, upper=2)
    >>> program.minimize((x - 1) ** 2)
    >>> program.solve([{"x": 0.0}, {"x": 2.0}]).starts
    <2 starts, 2 accepted>
     start      value  iterations  violation
         1  ...  0  Solve Succeeded
         2  ...  0  Solve Succeeded
    """

    @property
    def best(self) -> Start | None:
        """The accepted start of the least value; the first of them, should several be alike."""
        accepted = [s for s in self if s.accepted]
        return (
            min(accepted, key=lambda s: s.value if np.isnan(s.merit) else s.merit)
            if accepted
            else None
        )

    def told(self, value: Callable[[float], float]) -> Starts:
        """The same with values as people are told them, such as the root of a sum of squares that was minimised."""
        return Starts(replace(s, value=value(s.value), merit=s.value) for s in self)

    def _rows(self) -> list[tuple[Any, ...]]:
        words = (f"{s.words}{f'; refused: {s.refused}' if s.refused else ''}" for s in self)
        return [
            (s.number, s.value, s.iterations, s.violation, text)
            for s, text in zip(self, words, strict=True)
        ]

    def __repr__(self) -> str:
        head = (
            f"<{len(self)} start{'s' * (len(self) != 1)}, {sum(s.accepted for s in self)} accepted>"
        )
        lines = [
            f"{n:6d}  {f:9.6g}  {i:10d}  {e:9.2g}  {text}" for n, f, i, e, text in self._rows()
        ]
        return "\n".join(
            [head, f"{'start':>6}  {'value':>9}  {'iterations':>10}  {'violation':>9}", *lines]
        )

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.html_elements import table
        from eslabon.sheets import Sheet

        columns = ("start", "value", "iterations", "violation", "what the solver says")
        yield table(Sheet("", columns, self._rows(), prose=columns[-1:]))


@displayed(only=("value", "starts"))
@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The best of several starts: `.values` of the variables by name, the objective's `.value`, and all `.starts`."""

    title: str
    values: Mapping[str, Floats]
    value: float
    starts: Starts = field(default_factory=Starts)

    def __repr__(self) -> str:
        accepted = sum(s.accepted for s in self.starts)
        return f"<Solution of {self.title}: {self.value:.6g}, {accepted} of {len(self.starts)} starts accepted>"


class NonlinearProgram:
    """Variables, an objective and constraints, as CasADi's MX expressions; `solve` looks for the least.

    `title` says what is sought, as in "design of five_bar"; `noun` what a solution is, in sentences.
    """

    def __init__(self, title: str, noun: str = "solution") -> None:
        self.title, self.noun = title, noun
        self.variables: dict[str, Variable] = {}
        self.constraints: list[Constraint] = []
        self.blocks: list[Block] = []
        self.objective: Any = 0.0
        self.objective_scale = 1.0

    # -- what is sought ---------------------------------------------------------------------------------------------

    def variable(
        self, name: str, start: Any, lower: Any = -np.inf, upper: Any = np.inf, scale: Any = None
    ) -> Any:  # fmt: skip
        """A variable with the shape of its start, `()`, `(n,)` or `(n, k)`, as an MX in its own unit: `(n, k)` is a matrix of n rows.

        Bounds and scale broadcast to it; left out, the scale is the width of finite bounds, else the start's size or one.
        """
        if name in self.variables:
            raise InputError(f"{self.title} has a variable {name!r} already.")
        begun = finite(start, name)
        lower, upper = (
            np.broadcast_to(floats(x, f"a bound of {name}"), begun.shape).ravel()
            for x in (lower, upper)
        )
        if not (lower <= upper).all():
            k = int(np.argmin(lower <= upper))
            raise InputError(
                f"{name} is to be at least {lower[k]:.6g} and at most {upper[k]:.6g}: that is an empty range."
            )
        size = _size(begun.ravel(), lower, upper) if scale is None else np.broadcast_to(finite(scale, "scale"), begun.shape).ravel()  # fmt: skip
        symbol = casadi.MX.sym(name, begun.size)
        own = Variable(
            name, begun, lower.reshape(begun.shape), upper.reshape(begun.shape), size, symbol
        )
        self.variables[name] = own
        column = symbol * casadi.DM(size)
        # NumPy goes row by row through an array, CasADi column by column
        return casadi.reshape(column, *begun.shape[::-1]).T if begun.ndim == 2 else column

    def constrain(
        self, name: str, expression: Any, lower: Any = 0.0, upper: Any = 0.0, scale: Any = 1.0
    ) -> None:
        """Demand lower <= expression <= upper, entry by entry (equality where both are the same); `scale` is what of it counts as
        one. Bounds may be infinite."""
        column = casadi.vec(expression)
        lower, upper, size = (np.broadcast_to(np.ravel(floats(x, f"a bound of {name}")), column.numel()) for x in (lower, upper, scale))  # fmt: skip
        if not (lower <= upper).all():
            k = int(np.argmin(lower <= upper))
            raise InputError(
                f"{name} is to be at least {lower[k]:.6g} and at most {upper[k]:.6g}: that is an empty range."
            )
        self.constraints.append(Constraint(name, column, lower, upper, size))

    def repeated(self, function: Repeated, inputs: Any) -> Any:
        """The outputs of a function at many instants, a column each, of columns of inputs that are affine in the variables; for
        objectives and constraints that are affine in it. So derivatives are those of one instant, repeated."""
        symbol = casadi.MX.sym(f"block_{len(self.blocks) + 1}", function.outputs, inputs.shape[1])
        self.blocks.append(Block(function, inputs, symbol))
        return symbol

    def minimize(self, expression: Any, scale: float = 1.0) -> None:
        """The objective, and the size of it that counts as one."""
        self.objective, self.objective_scale = expression, positive(scale, "scale")

    # -- numbers ----------------------------------------------------------------------------------------------------

    def functions(self) -> tuple[Any, Any]:
        """CasADi functions of the scaled variables: (objective, constraints), both scaled, and their gradients."""
        x, f, g = self._expanded()
        return (
            casadi.Function("values", [x], [f, g], ["x"], ["f", "g"]),
            casadi.Function(
                "derivatives",
                [x],
                [casadi.gradient(f, x), casadi.jacobian(g, x)],
                ["x"],
                ["f_x", "g_x"],
            ),
        )

    def begun(self, start: Mapping[str, Any]) -> Floats:
        """All variables of a start in a row, as the solver sees them; those that it does not give are where they begin."""
        known_words(start, self.variables, f"{self.title} has no variable", InputError)
        parts = [v.scaled(start.get(name, v.start)) for name, v in self.variables.items()]
        return np.concatenate(parts)

    def values(self, x: Any) -> dict[str, Floats]:
        """The variables by name, in their own units and shapes, of what the solver sees."""
        made, at = {}, 0
        for name, v in self.variables.items():
            own = np.asarray(x, dtype=float).ravel()[at : at + v.start.size] * v.scale
            made[name] = np.clip(own.reshape(v.start.shape), v.lower, v.upper)
            at += v.start.size
        return made

    def _scaled(self) -> tuple[Any, Any, Any]:
        x = casadi.vertcat(*(v.symbol for v in self.variables.values()))
        g = [c.expression / casadi.DM(c.scale) for c in self.constraints]
        return (
            x,
            casadi.MX(self.objective) / self.objective_scale,
            casadi.vertcat(casadi.MX(0, 1), *g),
        )

    def _expanded(self) -> tuple[Any, Any, Any]:
        """The same, with what is repeated put in."""
        x, f, g = self._scaled()
        return (x, *substituted(x, f, g, self.blocks)) if self.blocks else (x, f, g)

    # -- the search -------------------------------------------------------------------------------------------------

    def solve(
        self,
        starts: Sequence[Mapping[str, Any]] = (MappingProxyType({}),),
        *,
        verify: Callable[[Mapping[str, Floats], float], str | None] | None = None,
        iterations: int = 500,
        tolerance: float = 1e-8,
        hessian: str = "exact",
        progress: bool | None = None,
        strict: bool = True,
        near: bool = False,
    ) -> Solution:
        """The best optimum from several starts, each a mapping of variables' names to where they begin.

        `verify(values, value)` is called with each optimum that IPOPT claims, and says in a sentence why it is none, or gives
        None. `hessian` is "exact" or "approximate" (L-BFGS), which is better where second derivatives cost more than steps.
        Without an accepted start that is an `OptimizationError`; with strict=False a solution without a value, whose starts say
        why. `near` says that the starts are optima of nearly the same program.
        """
        x, f, g = self._expanded()
        lower, upper = (np.concatenate([getattr(v, side).ravel() / v.scale for v in self.variables.values()]) for side in ("lower", "upper"))  # fmt: skip
        least, most = (np.concatenate([np.zeros(0), *(getattr(c, side) / c.scale for c in self.constraints)]) for side in ("lower", "upper"))  # fmt: skip
        options = {**QUIET, **(NEAR if near else {}), "ipopt.max_iter": count(iterations, "iterations", 1), "ipopt.tol": positive(tolerance, "tolerance"),
            "ipopt.hessian_approximation": HESSIANS[choice(hessian, "hessian", HESSIANS)]}  # fmt: skip
        made: list[Start] = []
        with Progress(self.title, progress) as bar, _interrupts() as interrupted:
            watch = _watch(
                x.numel(),
                g.numel(),
                interrupted,
                lambda: bar.update(len(made) / max(len(starts), 1)),
            )
            bar.update(0.0, "derivatives")
            exact = derivatives(*self._scaled(), self.blocks) if self.blocks else {}
            bar.update(0.0, "derivatives")  # which may take longer than the search
            solver = casadi.nlpsol(
                "search",
                "ipopt",
                {"x": x, "f": f, "g": g},
                {**options, **exact, "iteration_callback": watch},
            )
            for number, start in enumerate(starts, 1):
                x0 = self.begun(start)
                found = solver(x0=x0, lbx=lower, ubx=upper, lbg=least, ubg=most)
                if interrupted:
                    break
                own = self._judged(number, x0, found, solver.stats())
                made.append(own if verify is None or not own.success else replace(own, refused=verify(own.values, own.value) or ""))  # fmt: skip
        return self._best(Starts(made), strict)

    def _judged(
        self, number: int, x0: Floats, found: Mapping[str, Any], stats: Mapping[str, Any]
    ) -> Start:
        """What one start came to."""
        status = str(stats["return_status"])
        worst, relative, name = self._violation(np.asarray(found["g"]).ravel())
        feasible = relative <= 10 * FEASIBLE
        return Start(
            number, self.values(x0), self.values(found["x"]), float(found["f"]) * self.objective_scale,
            status in SOLVED and feasible, status.replace("_", " "), int(stats.get("iter_count", 0)), worst,
            "" if feasible else name, relative,
        )  # fmt: skip

    def _violation(self, g: Floats) -> tuple[float, float, str]:
        """The largest violation of a constraint: in its own unit, in its scale, and the constraint's name."""
        worst, relative, name, at = 0.0, 0.0, "", 0
        for c in self.constraints:
            own = g[at : at + len(c.scale)]
            at += len(c.scale)
            excess = np.maximum(np.maximum(c.lower / c.scale - own, own - c.upper / c.scale), 0.0)
            excess = np.where(np.isfinite(own), excess, np.inf)
            if len(own) and excess.max() > relative:
                k = int(excess.argmax())
                worst, relative, name = float(excess[k] * c.scale[k]), float(excess[k]), c.name
        return worst, relative, name

    def _best(self, starts: Starts, strict: bool) -> Solution:
        best = starts.best
        if best is not None:
            return Solution(self.title, best.values, best.value, starts)
        if strict:
            raise OptimizationError(self._failure(starts))
        return Solution(self.title, {}, np.nan, starts)

    def _failure(self, starts: Starts) -> str:
        """Why there is no solution, in a sentence."""
        several = f"{len(starts)} start{'s' * (len(starts) != 1)}"
        if refused := [s for s in starts if s.refused]:
            best = min(refused, key=lambda s: s.value)
            return f"{self.title}: IPOPT claims an optimum from {len(refused)} of {several}, and none is confirmed; of the best: {best.refused}"
        if feasible := [s for s in starts if not s.violated and np.isfinite(s.value)]:
            best = min(feasible, key=lambda s: s.value)
            return (
                f"{self.title}: IPOPT reached no optimum from {several} ({best.words}); the best feasible {self.noun} has {best.value:.6g}. "
                "Give more iterations, or more starts."
            )
        nearest = min(starts, key=lambda s: s.relative, default=None)
        if nearest is None or not np.isfinite(nearest.relative):
            words = nearest.words if nearest else "there is none"
            return f"{self.title}: IPOPT found no feasible {self.noun} from {several}: {words}."
        return (
            f"{self.title}: IPOPT found no feasible {self.noun} from {several}; the nearest violates '{nearest.violated}' by "
            f"{nearest.violation:.3g} ({nearest.words}). Ask for less, or give wider bounds."
        )


def sobol_starts(lower: Any, upper: Any, n: int, seed: int = 0) -> Floats:
    """n points spread evenly within bounds, `(n, dimensions)`: a scrambled Sobol sequence, the same for the same seed.

    >>> sobol_starts([0, 10], [1, 20], 4).shape
    (4, 2)
    """
    from scipy.stats import qmc

    lower, upper = (np.atleast_1d(finite(x, "a bound")) for x in (lower, upper))
    power = max(0, int(np.ceil(np.log2(max(1, count(n, "starts", 0))))))
    points = qmc.Sobol(len(lower), rng=count(seed, "seed", most=MAX_SEED)).random_base2(power)[:n]
    return np.asarray(lower + points * (upper - lower))


def _size(start: Floats, lower: Floats, upper: Floats) -> Floats:
    width = upper - lower
    bounded = np.isfinite(width) & (width > 0)
    return np.where(
        bounded, np.where(bounded, width, 1.0), np.where(start != 0, np.abs(start), 1.0)
    )


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that is empty until Ctrl-C is pressed: inside IPOPT the exception would be lost, so that it is raised afterwards."""
    seen: list[int] = []
    own = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not own or not callable(before):
        yield seen
        return
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
    if seen:
        before(signal.SIGINT, None)


def _watch(nx: int, ng: int, interrupted: list[int], tell: Callable[[], None]) -> Any:
    """What IPOPT calls after each iteration: it stops once Ctrl-C was pressed."""
    sizes = {"x": nx, "f": 1, "g": ng, "lam_x": nx, "lam_g": ng, "lam_p": 0}

    class Watch(casadi.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.construct("watch", {})

        def get_n_in(self) -> int:
            return len(sizes)

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, k: int) -> Any:
            return casadi.Sparsity.dense(list(sizes.values())[k], 1)

        def get_name_in(self, k: int) -> str:
            return list(sizes)[k]

        def eval(self, arguments: Any) -> list[int]:
            tell()
            return [int(bool(interrupted))]

    return Watch()
