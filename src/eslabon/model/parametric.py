"""What mechanisms and bond graphs have in common: a description with the values of its parameters
put in.

The evaluator compiles formulas for an owner (`compiler.formula.Owner`): whatever has a fingerprint,
parameters and a memory. This is the one class that has them.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, NoReturn, Protocol, Self, TypeVar

from eslabon.arguments import known_words, mapping
from eslabon.arguments import names as words
from eslabon.errors import ModelError, format_value
from eslabon.model.memory import FrozenDict
from eslabon.model.parameter_expressions import (
    Number,
    ParameterExpression,
    dependency_order,
    number,
)
from eslabon.model.parameter_units import has_unit, number_with_unit
from eslabon.numerics.scalars import Expression, casadi, is_symbolic

COMPARED_LEVELS = (
    2  # of an expression in a parameter's place, so that equal ones need not be one node
)


class Described(Protocol):
    """What every description has, whatever it describes."""

    @property
    def name(self) -> str: ...
    @property
    def note(self) -> str: ...


D = TypeVar("D", bound=Described)


class Parametric(ABC, Generic[D]):
    """A description with values of its parameters. Immutable, and ignorant of every algorithm.

    A class of its own says how it is made of a description (`from_description`), which parameters
    the description defines (`_definitions`), and how other values are written into it
    (`_with_values`).
    """

    _called: ClassVar[str]  # in sentences, as "a mechanism"
    description: D
    _symbols: dict[str, Expression | float]

    @classmethod
    @abstractmethod
    def from_description(
        cls, description: D, symbols: Mapping[str, Expression | float] | None = None
    ) -> Self:
        """Make one of a description, with CasADi symbols in place of some parameters' values.

        >>> import eslabon as es
        >>> m, g = es.load("five_bar"), es.BondGraph.load("morales_puma")
        >>> es.Mechanism.from_description(m.description) == m
        True
        >>> es.BondGraph.from_description(g.description) == g
        True
        """

    @property
    @abstractmethod
    def _definitions(self) -> Mapping[str, Number]:
        """All parameters, with their values or the expressions that define them."""

    @abstractmethod
    def _with_values(self, values: Mapping[str, float]) -> D:
        """The description with other values of some parameters."""

    @cached_property
    def _variables(self) -> Mapping[str, float]:
        """What expressions may use beside the parameters, and its value where no symbol stands for
        it."""
        return {}

    @property
    def name(self) -> str:
        """The name.

        >>> import eslabon as es
        >>> es.load("delta").name, es.BondGraph.load("morales_puma").name
        ('delta', 'morales_puma')
        """
        return self.description.name

    @property
    def note(self) -> str:
        """Where the numbers come from, and what was inferred.

        >>> import eslabon as es
        >>> print(es.load("sarrus").note.split(" (")[0])
        Sarrus' linkage
        """
        return self.description.note

    # -- parameters -----------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """The free parameters and their values; those defined by an expression follow them.

        >>> import eslabon as es
        >>> es.load("elbow").parameters["a1"]
        1.0
        >>> sorted(es.BondGraph.load("morales_puma").parameters)[:3]
        ['R1', 'R2', 'c1']
        """
        definitions = self._definitions.items()
        return FrozenDict(
            {name: x for name, x in definitions if not isinstance(x, ParameterExpression)}
        )

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The value of every parameter, those defined by an expression too; symbols stand for their
        values.

        >>> import eslabon as es
        >>> es.load("elbow").values["a1"]
        1.0
        """
        values: dict[str, Any] = {**self.parameters, **self._variables, **self._symbols}
        definitions = dict(self._definitions)
        for name in dependency_order(definitions):
            definition = definitions[name]
            if isinstance(definition, ParameterExpression) and name not in values:
                values[name] = definition.evaluate(values)
        return FrozenDict(values)

    def check_parameters(self, names: Iterable[str]) -> None:
        """Refuse names that are not free parameters.

        >>> import eslabon as es
        >>> es.load("elbow").check_parameters(["a3"])
        Traceback (most recent call last):
            ...
        eslabon.errors.ModelError: elbow: there is no parameter 'a3' (known: a1, a2, m1, m2, g).
        """
        for name in words(names, "names"):
            if name in self._variables:
                continue
            definition = self._definitions.get(name)
            if isinstance(definition, ParameterExpression):
                defined = f"parameter '{name}' is defined as '{definition}'"
                raise ModelError(f"{self.name}: {defined}; change what it is made of.")
            known_words([name], self.parameters, f"{self.name}: there is no parameter")

    def with_parameters(self, **values: float | str) -> Self:
        """The same with other values of some parameters, checked again.

        >>> import eslabon as es
        >>> es.load("five_bar").with_parameters(L2=0.05).parameters["L2"]
        0.05
        >>> es.load("five_bar").with_parameters(L2="50 mm").parameters["L2"]
        0.05

        Parameters of a bond graph's submodel have its name in front, as in
        `with_parameters(ring_jx=2.0)`.
        """
        self.check_parameters(values)
        changed: dict[str, float] = {}
        for name, x in values.items():
            units = self._units_of_parameter(name) if has_unit(x) else ()
            value = number_with_unit(x, f"parameter '{name}'", *units)
            changed[name] = self._plain_number(value, name, x)
        return self.from_description(self._with_values(changed))

    def _plain_number(self, value: Number, name: str, written: object) -> float:
        if isinstance(value, ParameterExpression):
            needs = f"parameter '{name}' needs a plain number; it is {format_value(written)}."
            raise ModelError(f"{self.name}: {needs}")
        return value

    def _units_of_parameter(self, name: str) -> tuple[str, ...]:
        """The unit of a parameter; none where it does not follow, and any is accepted."""
        return ()

    def with_symbols(self, symbols: Mapping[str, Expression | float]) -> Self:
        """The same with CasADi symbols in place of some parameters' values: what graphs are traced
        with.

        >>> import casadi
        >>> import eslabon as es
        >>> es.load("elbow").with_symbols({"a1": casadi.SX.sym("a1")}).values["a1"]
        SX(a1)
        """
        self.check_parameters(mapping(symbols, "symbols"))
        for name, x in symbols.items():
            if not is_symbolic(x):
                self._plain_number(number(x, f"parameter '{name}'"), name, x)
            elif casadi.SX(x).numel() != 1:
                raise ModelError(f"parameter '{name}' needs one symbol; it is {format_value(x)}.")
        return self._with_substituted(symbols)

    def _with_substituted(self, symbols: Mapping[str, Expression | float]) -> Self:
        """With these symbols, and all that is already known of it without them."""
        made = self.from_description(self.description, symbols)
        if symbols:
            vars(made)["nominal"] = self.nominal
        return made

    @property
    def symbols(self) -> Mapping[str, Expression | float]:
        """The symbols in place of parameters' values and the time.

        >>> import eslabon as es
        >>> es.load("elbow").symbols
        {}
        """
        return self._symbols

    @cached_property
    def nominal(self) -> Self:
        """The same with the parameters' own values, whatever symbols were put in.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> m.nominal is m
        True
        """
        return self.from_description(self.description) if self._symbols else self

    # -- as the owner of formulas ---------------------------------------------------------------

    @cached_property
    def memory(self) -> dict[Any, Any]:
        """What was found out about it, native code too; it is forgotten with it.

        >>> import eslabon as es
        >>> es.load("five_bar").memory
        {}
        """
        return {}

    @cached_property
    def variant_of(self) -> Self | None:
        """The mechanism whose native code this one shares, as `variant` makes it; None of any
        other, and of bond graphs.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.variant(L2=0.05).variant_of is m
        True
        """
        return None

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """The parameters in which a variant may differ from the mechanism that it is a variant of.

        >>> import eslabon as es
        >>> es.load("five_bar").variant(L2=0.05).varied
        ('L2',)
        """
        return ()

    # -- as a value -----------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that numbers depend on, which is what the description's `repr`
        shows.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> m.digest == m.with_parameters(a1=2.0).digest
        False
        """
        return hashlib.sha256(f"{self._called} {self.description!r}".encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parametric):
            return NotImplemented
        same = self.description == other.description
        return same and are_same_symbols(self._symbols, other._symbols)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.description)

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.description, self._symbols or None)
        return self.from_description, given  # compiled code stays behind

    def __setattr__(self, name: str, value: object) -> NoReturn:
        other = f"build another one instead of setting '{name}'"
        raise AttributeError(f"{self._called} cannot be changed; {other}.")


def are_same_symbols(
    symbols: Mapping[str, Expression | float], others: Mapping[str, Expression | float]
) -> bool:
    """Whether the same names have the same symbols or numbers.

    >>> import casadi
    >>> a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    >>> are_same_symbols({"x": a + 1}, {"x": a + 1}), are_same_symbols({"x": a}, {"x": b})
    (True, False)
    """
    return symbols.keys() == others.keys() and all(
        casadi.is_equal(casadi.SX(x), casadi.SX(others[name]), COMPARED_LEVELS)
        for name, x in symbols.items()
    )
