"""Several measures of the same designs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from eslabon.arguments import Floats, mapping
from eslabon.errors import InputError
from eslabon.measures.measure import Measure, Measured
from eslabon.measures.native_batches import Designs
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class Several(Measure):
    """Several measures at once, by the names that their columns are to have: names of measures, measures or functions.

    The key stands in the place of the measure's own name: "tau" and "tau.theta2" for "peak_torque" and "peak_torque.theta2". A
    design that one of them fails for keeps what the others give, with the reason.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> both = es.measures.Several({"tau": es.measures.PeakTorque(swing), "close": es.measures.Condition(swing)})
    >>> list(both.columns(m))
    ['tau', 'tau.theta2', 'tau.theta5', 'close']
    """

    name: ClassVar[str] = "several"
    measures: Mapping[str, Any]

    def __post_init__(self) -> None:
        from eslabon.measures.named_measures import measure_of

        made = {key: measure_of(each) for key, each in mapping(self.measures, "measures").items()}
        if not made:
            raise InputError(
                "several measures are given by name, as in {'tau': 'peak_torque'}; there is none."
            )
        rows = {key: each.states() for key, each in made.items()}
        if len(set(rows.values())) > 1:
            told = ", ".join(f"{key} {count}" for key, count in rows.items())
            raise InputError(
                f"measures in one table have as many rows a design: {told}; reduce those of several states."
            )
        object.__setattr__(self, "measures", made)

    def states(self) -> int:
        first: Measure = next(iter(self.measures.values()))
        return first.states()

    def together(self) -> int:
        return min(each.together() for each in self.measures.values())

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        made: dict[str, str] = {}
        for key, each in self.measures.items():
            own = {
                renamed_column(key, each.name, column): unit
                for column, unit in each.columns(m).items()
            }
            twice = [column for column in own if column in made]
            if twice:
                raise InputError(
                    f"two of the measures have a column '{twice[0]}'; give them other names."
                )
            made.update(own)
        return made

    def with_columns(self, m: Mechanism, designs: Designs) -> Measure:
        return Several({key: each.with_columns(m, designs) for key, each in self.measures.items()})

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        values: dict[str, Floats] = {}
        reasons: dict[int, dict[str, list[str]]] = {}
        for key, each in self.measures.items():
            found = each.measured(m, designs)
            values.update(
                {renamed_column(key, each.name, column): x for column, x in found.values.items()}
            )
            for k, why in found.reasons.items():
                reasons.setdefault(k, {}).setdefault(why, []).append(key)
        said = {
            k: [f"{', '.join(keys)}: {why}" for why, keys in own.items()]
            for k, own in sorted(reasons.items())
        }
        return Measured(values, {k: " ".join(why) for k, why in said.items()})

    def _told(self) -> str:
        return f": {', '.join(self.measures)}"


def renamed_column(key: str, name: str, column: str) -> str:
    """A column under another name of its measure."""
    if column == name or column.startswith((f"{name}.", f"{name}[")):
        return key + column[len(name) :]
    return f"{key}.{column}"
