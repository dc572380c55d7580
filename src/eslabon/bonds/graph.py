"""The bond graph: a description with its numbers put in. Immutable, and ignorant of every algorithm."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Self

from eslabon.arguments import instance, known_words, mapping, text
from eslabon.arguments import names as words
from eslabon.bonds.graph_items import DOMAINS, PORT, Bond, Description, Element
from eslabon.bonds.graph_validation import bond_domains, check_numbers, checked, signals
from eslabon.bonds.submodels import flatten, with_parameter
from eslabon.displays import displayed
from eslabon.errors import ModelError, format_value
from eslabon.model.memory import Table
from eslabon.model.parameter_expressions import ParameterExpression, dependency_order, number

WORDS = {"e": "effort", "f": "flow", "p": "momentum", "q": "displacement"}


@displayed
class Port(NamedTuple):
    """An element's end of a bond: the bond, and whether its half arrow points to the element."""

    bond: Bond
    into: bool

    @property
    def sign(self) -> int:
        return 1 if self.into else -1


class Graph:
    """Elements on bonds, with parameters: what formulas are about."""

    description: Description
    _symbols: dict[str, Any]

    def __init__(self, description: Description) -> None:
        vars(self).update(vars(self.of(description)))

    @classmethod
    def of(cls, description: Description, symbols: Mapping[str, Any] | None = None) -> Self:
        """The graph of a description, looked at; with CasADi symbols in place of some parameters' values.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> es.BondGraph.of(g.description).states == g.states
        True
        """
        instance(description, "description", Description, "that of a graph, as g.description")
        symbols = mapping(symbols, "symbols")
        made = object.__new__(cls)
        vars(made).update(description=description, _symbols=dict(symbols))
        if not symbols:
            check_numbers(
                made.flat, made.values
            )  # what is no graph, or has no value, is refused on the way
        return made

    # -- what it is made of -------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What the graph is called.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").name
        'morales_puma'
        """
        return self.description.name

    @property
    def note(self) -> str:
        """Where the graph comes from.

        >>> import eslabon as es
        >>> bool(es.BondGraph.load("morales_puma").note)
        True
        """
        return self.description.note

    @cached_property
    def flat(self) -> Description:
        """Without submodels, and looked at.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").flat.name
        'morales_puma'
        """
        return checked(flatten(self.description))

    @cached_property
    def elements(self) -> Mapping[str, Element]:
        """The elements by name, submodels taken apart.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").elements["i1"].kind
        'I'
        """
        return Table({x.name: x for x in self.flat.elements})

    @cached_property
    def bonds(self) -> Mapping[str, Bond]:
        """The bonds by name.

        >>> import eslabon as es
        >>> len(es.BondGraph.load("morales_puma").bonds)
        25
        """
        return Table({b.name: b for b in self.flat.bonds})

    @cached_property
    def ports(self) -> Mapping[str, tuple[Port, ...]]:
        """The ends of bonds at each element, in the order of the bonds.

        >>> import eslabon as es
        >>> len(es.BondGraph.load("morales_puma").ports["i1"])
        1
        """
        made: dict[str, list[Port]] = {x: [] for x in self.elements}
        for b in self.flat.bonds:
            made[b.tail].append(Port(b, False))
            made[b.head].append(Port(b, True))
        return Table({name: tuple(own) for name, own in made.items()})

    @cached_property
    def signals(self) -> Mapping[str, tuple[str, Bond]]:
        """Names of bond variables in expressions: the letter e, f, p or q, and the bond.

        >>> import eslabon as es
        >>> "e13" in es.BondGraph.load("morales_puma").signals
        True
        """
        return Table(signals(self.flat))

    @cached_property
    def domains(self) -> Mapping[str, str]:
        """The domain of each bond that has one.

        >>> import eslabon as es
        >>> es.BondGraph.load("dc_motor").domains["command"]
        'electrical'
        """
        return Table(bond_domains(self.flat))

    def unit(self, name: str) -> str:
        """The unit of a bond variable or a state, such as "N m"; empty where no domain is known.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_stanford")
        >>> g.unit("e1"), g.unit("q3"), g.unit("q53"), g.unit("p50")
        ('N m', 'rad', 'm', 'N s')
        """
        known_words([text(name, "a variable")], self.signals, f"{self.name} has no variable")
        letter, bond = self.signals[name]
        domain = self.domains.get(bond.name)
        return "" if domain is None else str(getattr(DOMAINS[domain], WORDS[letter]))

    def open_ports(self) -> tuple[str, ...]:
        """Ports that nothing is bonded to from outside: those of a submodel.

        >>> import eslabon as es
        >>> es.BondGraph.load("dc_motor").open_ports()
        ('shaft',)
        """
        return tuple(x.name for x in self.flat.elements if x.kind == PORT)

    def state_name(self, port: Port) -> str:
        """What a storage's energy variable at a bond is called.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> g.state_name(g.ports["i1"][0])
        'p24'
        """
        x = self.elements[
            instance(port, "port", Port, "a port of an element, as in g.ports['I'][0]").bond.head
        ]
        place = [own.bond for own in self.ports[x.name]].index(port.bond)
        return x.state[place] if x.state else port.bond.signal_name(x.letter)

    # -- parameters ---------------------------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """The free parameters and their values; those defined by an expression follow them.

        >>> import eslabon as es
        >>> sorted(es.BondGraph.load("morales_puma").parameters)[:3]
        ['R1', 'R2', 'c1']
        """
        return Table(
            {n: x for n, x in self._definitions.items() if not isinstance(x, ParameterExpression)}
        )

    @cached_property
    def _definitions(self) -> dict[str, Any]:
        return dict(self.flat.parameters)

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """Every parameter's value, symbols in place of the floats they stand for.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> g.values["ix"] == g.parameters["ix"]
        True
        """
        values: dict[str, Any] = {**self.parameters, **self._symbols}
        for name in dependency_order(self._definitions):
            if name not in values:
                values[name] = self._definitions[name].evaluate(values)
        return Table(values)

    def with_parameters(self, **values: float) -> Self:
        """The graph with other values of some parameters.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> g.with_parameters(ix=2.0).parameters["ix"]
        2.0

        Those of a submodel have its name in front, as in `with_parameters(ring_jx=2.0)`.
        """
        self.check_parameters(values)
        description = self.description
        for name, x in values.items():
            value = number(x, f"parameter '{name}'")
            if isinstance(value, ParameterExpression):
                raise ModelError(
                    f"{self.name}: parameter '{name}' needs a plain number; it is {format_value(x)}."
                )
            description = with_parameter(description, name, value)
        return self.of(description)

    def with_symbols(self, symbols: Mapping[str, Any]) -> Self:
        """The graph with CasADi symbols in place of some parameters' values.

        >>> import casadi
        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").with_symbols({"ix": casadi.SX.sym("ix")}).values["ix"]
        SX(ix)
        """
        self.check_parameters(symbols)
        made = self.of(self.description, symbols)
        vars(made)["nominal"] = self.nominal  # with what is already known of it
        return made

    @cached_property
    def nominal(self) -> Graph:
        """The graph with the parameters' own values, whatever symbols were put in.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> g.nominal is g
        True
        """
        return self if not self._symbols else Graph(self.description)

    @cached_property
    def memory(self) -> dict[Any, Any]:
        """What was found out about the graph, native code too; it is forgotten with the graph.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").memory
        {}
        """
        return {}

    @property
    def variant_of(self) -> None:
        """Graphs have no variants that share native code.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").variant_of is None
        True
        """
        return None

    @property
    def varied(self) -> tuple[str, ...]:
        """The parameters in which a variant may differ: none.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").varied
        ()
        """
        return ()

    def check_parameters(self, names: Iterable[str]) -> None:
        """Refuse names that are not free parameters of this graph.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").check_parameters(["ixx"])
        Traceback (most recent call last):
            ...
        eslabon.errors.ModelError: morales_puma: there is no parameter 'ixx'; did you mean 'ix'?
        """
        for name in words(names, "names"):
            if isinstance(self._definitions.get(name), ParameterExpression):
                raise ModelError(
                    f"{self.name}: parameter '{name}' is defined as '{self._definitions[name]}'; change what it is made of."
                )
            known_words([name], self.parameters, f"{self.name}: there is no parameter")

    # -- as a value ---------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.description == other.description and self._symbols == other._symbols

    def __hash__(self) -> int:
        return hash(self.description)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the description.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> g.digest == g.with_parameters(ix=2.0).digest
        False
        """
        return hashlib.sha256(f"bond graph {self.description!r}".encode()).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return self.of, (self.description, self._symbols or None)  # compiled code stays behind

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a bond graph cannot be changed; build another one instead of setting '{name}'."
        )
