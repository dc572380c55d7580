"""The bond graph: a description with its numbers put in. Immutable, and ignorant of every
algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from eslabon.arguments import Floats, instance, known_words, mapping, text
from eslabon.bond_graph.definitions import Chain
from eslabon.bond_graph.elements import DOMAINS, Bond, Description, Element, Port
from eslabon.bond_graph.graph_checks import bond_domains, check_numbers, checked, signals
from eslabon.bond_graph.submodels import flatten, with_parameter
from eslabon.model.memory import FrozenDict
from eslabon.model.parameter_expressions import Number, ParameterExpression, dependency_order
from eslabon.model.parametric import Parametric
from eslabon.numerics.scalars import Expression

WORDS = {"e": "effort", "f": "flow", "p": "momentum", "q": "displacement"}


class Graph(Parametric[Description]):
    """Elements on bonds, with parameters: what formulas are about."""

    _called = "a bond graph"

    def __init__(self, description: Description) -> None:
        vars(self).update(vars(self.from_description(description)))

    @classmethod
    def from_description(
        cls, description: Description, symbols: Mapping[str, Expression | float] | None = None
    ) -> Self:
        """The graph of a description, looked at; with CasADi symbols in place of some parameters'
        values.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> es.BondGraph.from_description(g.description).states == g.states
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
        return FrozenDict({x.name: x for x in self.flat.elements})

    @cached_property
    def bonds(self) -> Mapping[str, Bond]:
        """The bonds by name.

        >>> import eslabon as es
        >>> len(es.BondGraph.load("morales_puma").bonds)
        25
        """
        return FrozenDict({b.name: b for b in self.flat.bonds})

    @cached_property
    def definitions(self) -> Chain:
        """Named expressions that others use.

        >>> import eslabon as es
        >>> len(es.load("five_bar").bond_graph().definitions) > 0
        True
        """
        return Chain(dict(self.flat.definitions))

    @cached_property
    def ports(self) -> Mapping[str, tuple[Port, ...]]:
        """The ends of bonds at each element, in the order of the bonds; of sources active ones
        last, of RS that of its heat.

        >>> import eslabon as es
        >>> len(es.BondGraph.load("morales_puma").ports["i1"])
        1
        """
        made: dict[str, list[Port]] = {x: [] for x in self.elements}
        for b in self.flat.bonds:
            made[b.tail].append(Port(b, False))
            made[b.head].append(Port(b, True))
        for name, own in made.items():
            own.sort(key=self.elements[name].rules.comes_last)
        return FrozenDict({name: tuple(own) for name, own in made.items()})

    @cached_property
    def signals(self) -> Mapping[str, tuple[str, Bond]]:
        """Names of bond variables in expressions: the letter e, f, p or q, and the bond.

        >>> import eslabon as es
        >>> "e13" in es.BondGraph.load("morales_puma").signals
        True
        """
        return FrozenDict(signals(self.flat))

    @cached_property
    def domains(self) -> Mapping[str, str]:
        """The domain of each bond that has one.

        >>> import eslabon as es
        >>> es.BondGraph.load("dc_motor").domains["command"]
        'electrical'
        """
        return FrozenDict(bond_domains(self.flat))

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
        return tuple(x.name for x in self.flat.elements if x.is_port)

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
        return x.state[place] if x.state else port.bond.signal_name(x.letter_at(place))

    # -- states -----------------------------------------------------------------------------------------------------

    @property
    def has_closures(self) -> bool:
        """Whether states can violate the closure of loops, as those of a closed mechanism's graph
        can.

        >>> import eslabon as es
        >>> es.load("five_bar").bond_graph().has_closures, es.load("elbow").bond_graph().has_closures
        (True, False)
        """
        return False

    def check_state(self, x: Floats, t: Floats) -> None:
        """Refuse states that the graph cannot have: those of a closed mechanism whose loops are
        open.

        >>> import eslabon as es, numpy as np
        >>> es.load("elbow").bond_graph().check_state(np.zeros(4), np.zeros(()))
        """

    def _drawn_state(self, rng: np.random.Generator, size: int) -> Floats:
        """A state drawn at random, of those that the graph can have, and which are so many
        numbers."""
        return rng.uniform(0.1, 0.9, size)

    # -- parameters -----------------------------------------------------------------------------

    @cached_property
    def _definitions(self) -> Mapping[str, Number]:
        return dict(self.flat.parameters)

    def _with_values(self, values: Mapping[str, float]) -> Description:
        description = self.description
        for name, value in values.items():  # some belong to submodels
            description = with_parameter(description, name, value)
        return description

    def values_with(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values of all parameters for other numbers, or arrays, in the place of some.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").values_with({"R1": 0.5})["R1"]
        0.5
        """
        values = {**self.parameters, **self._symbols, **mapping(given, "given")}
        for name in dependency_order(self._definitions):
            definition = self._definitions[name]
            if isinstance(definition, ParameterExpression) and name not in values:
                values[name] = definition.evaluate(values)
        return values
