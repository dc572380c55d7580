"""Elements and bonds as people write them: short texts or tables, in code and in files alike.

"Se", "1", "I: L", "MTF: sin(q3)" an element: its kind and its value {"kind": "C", "law": "k*q +
k3*q**3", "state": "x"} the same with more words "V -> series -> L" bonds with half arrows, one
after another "platform => lift" an active bond
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from eslabon.arguments import choice, known_words, mapping, names, text
from eslabon.arguments import count as whole_number
from eslabon.bond_graph.definitions import Definitions
from eslabon.bond_graph.elements import (
    DOMAINS,
    KINDS,
    RESERVED,
    TIME,
    Bond,
    Description,
    Element,
    Law,
    Matrix,
)
from eslabon.errors import ModelError, format_value
from eslabon.model.parameter_expressions import Number, check_parameter_name, number
from eslabon.numerics.scalars import casadi

KEYS = (
    "kind",
    "value",
    "law",
    "inverse",
    "energy",
    "momenta",
    "width",
    "state",
    "domain",
    "model",
    "parameters",
)
ARROWS = re.compile(r"(->|=>)")
PORTS = 100  # of a field: more is a mistake


def description(
    name: str,
    elements: Mapping[str, Any],
    bonds: Iterable[str] | Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    domains: Mapping[str, Any] | None = None,
    note: str = "",
    definitions: Mapping[str, Any] | None = None,
    letters: Collection[str] = RESERVED,
) -> Description:
    """What was written, as data; `letters` are names that no parameter may have."""
    if not isinstance(elements, Mapping):
        raise ModelError(
            f"elements gives each element by its name, as in {{'L': 'I: 0.1'}}; it is {format_value(elements)}."
        )
    own = domains_of(mapping(domains, "domains"))
    known_words(own, elements, "domains names the unknown element")
    named: dict[str, Number] = {
        parameter_name(n, letters): number(x, f"definition '{n}'")
        for n, x in mapping(definitions, "definitions").items()
    }
    made = tuple(element(key, value, own.get(key, ""), named) for key, value in elements.items())
    values = tuple(
        (parameter_name(n, letters), number(x, f"parameter '{n}'"))
        for n, x in mapping(parameters, "parameters").items()
    )
    return Description(
        text(name, "the name of a bond graph"),
        made,
        bonds_of(bonds),
        values,
        text(note, "note"),
        tuple(named.items()),
    )


def parameter_name(name: Any, letters: Collection[str] = RESERVED) -> str:
    """The name, if expressions and laws do not mean something else by it."""
    if name in letters:
        what = "time" if name == TIME else "own variable of an element"
        raise ModelError(
            f"parameter '{name}' has the name of the {what} in expressions; choose another."
        )
    return check_parameter_name(name)


def domains_of(domains: Mapping[str, Any]) -> dict[str, str]:
    """The domain of each element, from names by domain."""
    made: dict[str, str] = {}
    for domain, members in domains.items():
        choice(domain, "a domain", DOMAINS)
        for member in (
            members.split() if isinstance(members, str) else names(members, f"members of {domain}")
        ):
            if made.setdefault(text(member, f"a member of the domain {domain}"), domain) != domain:
                raise ModelError(
                    f"'{member}' is put in two domains, {made[member]} and {domain}; keep one."
                )
    return made


def element(
    name: str, written: Any, domain: str = "", definitions: dict[str, Number] | None = None
) -> Element:
    """One element; what a Python function needs besides its expression goes among the
    definitions."""
    if not isinstance(name, str) or not name or ARROWS.search(name) or name != name.strip():
        raise ModelError(
            f"an element needs a name without arrows and blanks at its ends; it is {format_value(name)}."
        )
    table = _table(name, written)
    known_words(table, KEYS, f"the element '{name}' has the unknown key")
    kind = choice(table.get("kind"), f"the kind of '{name}'", KINDS)
    if KINDS[kind].is_submodel != ("model" in table):
        raise ModelError(f"'{name}' is a submodel if it has a model, and only then.")
    if not KINDS[kind].is_submodel and "parameters" in table:
        raise ModelError(
            f"'{name}' is no submodel and has no parameters of its own; write them into its value."
        )
    if "." in name:
        raise ModelError(
            f"'{name}' has a point in its name, which stands between a submodel and its port; choose another."
        )
    own = (
        choice(table["domain"], f"the domain of '{name}'", DOMAINS) if "domain" in table else domain
    )
    return Element(
        name,
        kind,
        value(table["value"], name) if "value" in table else None,
        law(table["law"], name, kind, "law", definitions) if "law" in table else None,
        law(table["inverse"], name, kind, "inverse", definitions) if "inverse" in table else None,
        state=_states(table.get("state", ()), name),
        domain=own,
        model=_model(name, table["model"]) if "model" in table else None,
        parameters=_bindings(name, table.get("parameters", {})),
        energy=number(table["energy"], f"the energy of '{name}'") if "energy" in table else None,
        momenta=whole_number(
            table.get("momenta", KINDS[kind].momenta), f"the momenta of '{name}'", 0
        ),
        width=whole_number(table.get("width", 1), f"the width of '{name}'", 1, PORTS),
    )


def _table(name: str, written: Any) -> Mapping[str, Any]:
    """The long form of what was written."""
    if isinstance(written, str):
        kind, colon, rest = written.partition(":")
        return {"kind": kind.strip(), **({"value": rest.strip()} if colon else {})}
    if isinstance(getattr(written, "description", None), Description):
        return {"kind": "submodel", "model": written}
    if isinstance(written, Mapping):
        return {"kind": "submodel", **written} if "model" in written else written
    raise ModelError(
        f"the element '{name}' is written as 'kind' or 'kind: value', such as 'I: 0.2', or as a table; it is {format_value(written)}."
    )


def _model(name: str, given: Any) -> Description:
    found = given if isinstance(given, Description) else getattr(given, "description", None)
    if not isinstance(found, Description):
        raise ModelError(
            f"the model of the submodel '{name}' is a bond graph; it is {format_value(given)}."
        )
    return found


def _bindings(name: str, given: Any) -> tuple[tuple[str, Number], ...]:
    if not isinstance(given, Mapping):
        raise ModelError(
            f"the parameters of the submodel '{name}' are given by name; they are {format_value(given)}."
        )
    return tuple((key, number(x, f"parameter '{key}' of '{name}'")) for key, x in given.items())


def _states(given: Any, name: str) -> tuple[str, ...]:
    states = (
        (given,)
        if isinstance(given, str)
        else tuple(given)
        if isinstance(given, list | tuple)
        else (None,)
    )
    for state in states:
        if not isinstance(state, str):
            raise ModelError(
                f"the state of '{name}' is a name, or a list of names; it is {format_value(given)}."
            )
        check_parameter_name(state)
    return states


def value(given: Any, name: str) -> Number | Matrix:
    """A number, an expression, or a matrix of these by rows."""
    what = f"the value of '{name}'"
    if hasattr(given, "tolist"):
        given = given.tolist()
    if not isinstance(given, list | tuple):
        return number(given, what)
    rows = [row if isinstance(row, list | tuple) else [row] for row in given]
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1 or len(rows) > PORTS:
        raise ModelError(
            f"{what} is a matrix given by its rows, all of the same length; it is {format_value(given)}."
        )
    return tuple(tuple(number(x, what) for x in row) for row in rows)


def law(given: Any, name: str, kind: str, key: str, definitions: dict[str, Number] | None) -> Law:
    """A constitutive law: an expression, or a Python function, which is traced."""
    if not callable(given):
        return number(given, f"the {key} of '{name}'")
    letters = KINDS[kind].own_letters() or RESERVED
    known = {} if definitions is None else definitions
    names = (f"{re.sub(r'[^0-9A-Za-z_]', '_', name)}_{key}_{k}" for k in count(1))
    chain = Definitions(n for n in names if n not in known)
    made = traced(given, name, letters[key == "inverse"], chain)
    if chain.made and definitions is None:
        raise ModelError(f"the {key} of '{name}' is too long for a part; write it in a graph.")
    known |= chain.made
    return made


def traced(function: Callable[[Any], Any], name: str, letter: str, chain: Definitions) -> Number:
    """A Python function of one number as an expression of a letter."""
    x = casadi.SX.sym(letter)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # CasADi's, about its ways with NumPy's functions
            made = casadi.densify(casadi.SX(function(x)))
        if made.shape != (1, 1):
            raise ValueError("it gives more than one number")
        return chain.matrix(made)[0][0]
    except Exception as error:
        raise ModelError(
            f"the law of '{name}' cannot be traced ({type(error).__name__}: {str(error).splitlines()[0]}); write it with "
            "arithmetic and casadi's or NumPy's functions, without asking for the value of its argument."
        ) from error


# Bonds
# ---------------------------------------------------------------------------------------------------------------


def bonds_of(written: Iterable[str] | Mapping[str, Any]) -> tuple[Bond, ...]:
    """Bonds by name, or a list in which each arrow is a bond and gets the next number."""
    if isinstance(written, Mapping):
        return tuple(bond(str(key), value) for key, value in written.items())
    if isinstance(written, str | bytes) or not isinstance(written, Collection):
        raise ModelError(
            f"bonds are a list such as ['V -> j', 'j -> L'], or such texts by name; it is {format_value(written)}."
        )
    made: list[Bond] = []
    for line in written:
        for tail, arrow, head in _arrows(line, f"bond {len(made) + 1}"):
            made.append(_bond(str(len(made) + 1), tail, arrow, head, ""))
    return tuple(made)


def bond(name: str, written: Any) -> Bond:
    """One bond: a text, or a table that also says which signal an active bond carries."""
    signal = ""
    if isinstance(written, Mapping):
        known_words(written, ("bond", "signal"), f"bond {name} has the unknown key")
        signal = (
            choice(written["signal"], f"the signal of bond {name}", ("effort", "flow"))
            if "signal" in written
            else ""
        )
        written = written.get("bond")
    arrows = _arrows(written, f"bond {name}")
    if len(arrows) != 1:
        raise ModelError(
            f"bond {name} has {len(arrows)} arrows in {format_value(written)}; a bond with a name has one."
        )
    if not re.fullmatch(r"\w+", name):
        raise ModelError(
            f"a bond's name has letters, digits and underscores only; it is {format_value(name)}."
        )
    return _bond(name, *arrows[0], signal)


def _arrows(line: Any, what: str) -> Sequence[tuple[str, str, str]]:
    if not isinstance(line, str):
        raise ModelError(f"{what} is a text such as 'V -> j'; it is {format_value(line)}.")
    parts = [part.strip() for part in ARROWS.split(line)]
    if len(parts) < 3 or not all(parts):
        raise ModelError(
            f"{what} leads from one element to another, as in 'V -> j'; it is {format_value(line)}."
        )
    return [(parts[k], parts[k + 1], parts[k + 2]) for k in range(0, len(parts) - 2, 2)]


def _bond(name: str, tail: str, arrow: str, head: str, signal: str) -> Bond:
    if signal and arrow == "->":
        raise ModelError(
            f"bond {name} carries a signal only and so is active: write '{tail} => {head}'."
        )
    return Bond(name, tail, head, (signal or "active") if arrow == "=>" else "")
