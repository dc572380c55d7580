"""Who stores, who dissipates, who supplies: power and energy of every element along a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats, count
from eslabon.bond_graph.elements import DOMAINS, KINDS
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import storages
from eslabon.bond_graph.stored_energy import stored_energies
from eslabon.displays import displayed
from eslabon.errors import ModelError, suggest
from eslabon.pages.notebook import in_time
from eslabon.plotting import axis_label, curves, panels, saved

if TYPE_CHECKING:
    from eslabon.bond_graph.graph_runs import Response

SHOWN = 12  # elements that a figure's legend still tells apart


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class EnergyBalance:
    """Power into each element and its integral from the start of a run, (..., times, elements), the
    largest element first.

    A source that gives power has a negative one. Of storages the energy is that of their laws, of
    others the integral of what was reported of the power: `error` is what the sum of all differs
    from zero by, and is small where the run reports often.
    """

    owner: str
    t: Floats
    elements: tuple[str, ...]
    kinds: tuple[str, ...]
    power: Floats
    energy: Floats

    def __getitem__(self, element: str) -> Floats:
        """The energy that an element has taken up, (..., times)."""
        if element not in self.elements:
            raise ModelError(
                f"{self.owner} has no element {element!r} with a power{suggest(element, self.elements)}"
            )
        return self.energy[..., self.elements.index(element)]

    def _sum(self, role: str) -> Floats:
        own = [KINDS[kind].role == role for kind in self.kinds]
        total: Floats = self.energy[..., own].sum(axis=-1)
        return total

    @property
    def stored(self) -> Floats:
        """What the storages have gained, (..., times)."""
        return self._sum("stored")

    @property
    def dissipated(self) -> Floats:
        """What the resistors have taken, (..., times)."""
        return self._sum("dissipated")

    @property
    def supplied(self) -> Floats:
        """What the sources have given, (..., times)."""
        return -self._sum("supplied")

    @property
    def error(self) -> float:
        """The largest difference between what was supplied and what was stored and dissipated, in
        joules."""
        return float(np.abs(self.energy.sum(axis=-1)).max(initial=0.0))

    def plot(
        self, path: str | Path | None = None, most: int = SHOWN, theme: str | None = None
    ) -> Any:
        """A figure: what was supplied, stored and dissipated, and the energies of the largest
        elements; saved if a path is given."""
        if self.energy.ndim > 2:
            raise ModelError("a figure of energies shows one run; take one of the many.")
        made, (above, below) = panels(
            2, across=1, size=(8.0, 2.8), theme=theme, bottom=axis_label("t", "s")
        )
        sums = {name: getattr(self, name) for name in ("supplied", "stored", "dissipated")}
        curves(above, self.t, sums, name="energy", unit="J", title="all elements")
        largest = self.elements[: count(most, "most", 1)]
        each = {f"{name} ({self.kinds[k]})": self.energy[:, k] for k, name in enumerate(largest)}
        curves(
            below, self.t, each, name="energy", unit="J", title="energy into the largest elements"
        )
        return saved(made, path)

    def _pieces(self) -> Iterator[str]:
        if self.energy.ndim == 2:
            own = zip(self.elements, self.kinds, strict=True)
            yield in_time(
                self.t,
                (
                    (f"{name} ({kind})", "J", self.energy[:, k])
                    for k, (name, kind) in enumerate(own)
                ),
            )

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.elements)

    def __repr__(self) -> str:
        rows = [f"Energy balance of {self.owner}, {self.t[0]:g} to {self.t[-1]:g} s"]
        if self.energy.ndim == 2:
            width = max(map(len, self.elements), default=0)
            for k, name in enumerate(self.elements[:SHOWN]):
                rows.append(f"  {name:{width}s} {self.kinds[k]:3s} {self.energy[-1, k]:12.5g} J")
            if len(self.elements) > SHOWN:
                rows.append(f"  and {len(self.elements) - SHOWN} smaller")
        return "\n".join(rows)


def energy_balance(run: Response) -> EnergyBalance:
    """See `Response.energy_balance`."""
    from scipy.integrate import cumulative_simpson

    g = run.graph
    variables = run.bond_variables()
    e, f = variables.e, variables.f
    names = [name for name, x in g.elements.items() if x.rules.role]
    flows = [_power_of_flow(g, b) for b in g.bonds]
    power = np.where(np.isnan(flows), e * f, flows * f)
    power = np.stack([_power(g, name, power) for name in names], axis=-1)
    energy = cumulative_simpson(power, x=run.t, axis=-2, initial=0.0)
    held, stores = stored_energies(g, run.x, run.u, run.t), [x.name for x in storages(g)]
    for k, name in enumerate(stores):
        energy[..., names.index(name)] = held[..., k] - held[..., :1, k]
    size = np.abs(energy).reshape(-1, len(names)).max(axis=0, initial=0.0)
    order = sorted(range(len(names)), key=lambda k: -size[k])
    return EnergyBalance(
        g.name,
        run.t,
        tuple(names[k] for k in order),
        tuple(g.elements[names[k]].kind for k in order),
        power[..., order],
        energy[..., order],
    )


def _power_of_flow(g: Graph, bond: str) -> float:
    """The power that a unit of flow is by itself: 1 of heat, but 0 into a resistor that heat passes
    on its way between two temperatures; NaN where power is effort times flow."""
    if bond not in g.domains or DOMAINS[g.domains[bond]].true:
        return np.nan
    ends = [g.elements[x] for x in (g.bonds[bond].tail, g.bonds[bond].head)]
    passed = any(x.dissipates and not x.heats for x in ends) and any(x.common == "f" for x in ends)
    return 0.0 if passed else 1.0


def _power(g: Graph, name: str, power: Floats) -> Floats:
    """The power into an element by its bonds."""
    places = list(g.bonds)
    total: Floats = np.sum(
        [port.sign * power[..., places.index(port.bond.name)] for port in g.ports[name]], axis=0
    )
    return total
