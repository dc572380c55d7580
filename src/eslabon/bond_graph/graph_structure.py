"""The junction structure as users see it: blocks with symbols, and with numbers at a state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, choice, finite
from eslabon.bond_graph.causality import PREFERENCES
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import DERIVATIVE_FIELDS, FIELDS, STRUCTURE
from eslabon.bond_graph.graph_values import inputs, state, value
from eslabon.bond_graph.junction_structure import (
    BLOCKS,
    DERIVATIVE_BLOCKS,
    JunctionStructure,
    junction_structure,
)
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.numerics.scalars import casadi


@displayed(only=("preference", "key", "blocks", "algebraic_loops"))
@dataclass(frozen=True, repr=False)
class Structure:
    """S, or J with derivative causality preferred, in blocks; `key` names what is in each key
    vector.

    >>> import eslabon as es
    >>> S = es.BondGraph.load("morales_puma").junction_structure()
    >>> S.key["x"], S.key["xd"]
    (('p2', 'p24', 'q3', 'q23'), ('p8', 'p12', 'p13', 'p19'))
    >>> S.symbolic("S11")[0, 1]
    p12*cos(q3) - p13*sin(q3)
    >>> S.at([0.0, 0.0, 0.5, 0.0], [0.0, 0.0], "S14")[1].round(3)
    array([ 0.   , -0.479, -0.878, -1.   ])
    """

    graph: Graph
    preference: str
    structure: JunctionStructure

    @staticmethod
    def of(g: Graph, preference: str) -> Structure:
        choice(preference, "the preferred causality", PREFERENCES)
        return Structure(g, preference, junction_structure(g.nominal, preference))

    @property
    def key(self) -> Mapping[str, tuple[str, ...]]:
        """The names in x, xd, z, zd, D_in, D_out, u, y and xd_rate."""
        return self.structure.key

    @property
    def algebraic_loops(self) -> tuple[tuple[str, ...], ...]:
        """The resistors that answer one another without a storage between, loop by loop."""
        return self.structure.algebraic_loops

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks."""
        return tuple(DERIVATIVE_BLOCKS if self.preference == "derivative" else BLOCKS)

    def casadi(self, block: str) -> Any:
        """A block as a CasADi matrix of its moduli's symbols."""
        return getattr(self.structure, choice(block, "a block", self.blocks))

    def symbolic(self, block: str) -> Any:
        """A block as a SymPy matrix, in the names of parameters and of the graph's variables."""
        from eslabon.export import equations as printed

        matrix = self.casadi(block)
        free = casadi.symvar(matrix)
        names = [s.name() for s in free]
        f = casadi.Function(
            "block", [casadi.vertcat(casadi.SX(0, 1), *free)], [matrix], ["moduli"], [block]
        )
        (made,) = printed.equations(f, {"moduli": names} if names else None).expanded()
        return made

    def at(self, x: ArrayLike, u: ArrayLike | None, block: str, t: ArrayLike = 0.0) -> Floats:
        """A block's numbers at states (..., n) and inputs (..., nu) of the graph with integral
        causality."""
        shape = self.casadi(block).shape
        arrays = state(self.graph, x), inputs(self.graph, u), finite(t, "t")
        if 0 in shape:
            batch = np.broadcast_shapes(arrays[0].shape[:-1], arrays[1].shape[:-1], arrays[2].shape)
            return np.zeros((*batch, *shape))
        made: Floats = evaluate(self.graph, STRUCTURE, preference=self.preference, block=block)(
            *arrays
        )
        return made

    def violations(
        self, x: ArrayLike, u: ArrayLike | None = None, t: ArrayLike = 0.0
    ) -> dict[str, float]:
        """How far the blocks are from what conservation of power asks: skew-symmetry, and
        transposes with a minus sign.

        Active bonds may violate it; nothing else does.
        """
        if self.preference == "derivative":
            pairs = {"J11": ("J11", "J11"), "J22": ("J22", "J22"), "J12 = -J21^T": ("J12", "J21")}
        else:
            pairs = {
                "S11": ("S11", "S11"), "S22": ("S22", "S22"), "S12 = -S21^T": ("S12", "S21"), "S14 = -Z1^T": ("S14", "Z1"),
                "S24 = -Z2^T": ("S24", "Z2"), "Z4": ("Z4", "Z4"),
            }  # fmt: skip
        made = {}
        for name, (one, other) in pairs.items():
            known, back = self._into(one), self._into(other)
            difference = known * self.at(x, u, one, t) + np.swapaxes(
                back * self.at(x, u, other, t), -1, -2
            )
            made[name] = float(np.abs(difference).max(initial=0.0))
        return made

    def _into(self, block: str) -> Floats:
        """A column for the rows of a block: 1 where power is counted into an element, -1 for the
        heat that leaves a resistor."""
        rows = {**BLOCKS, **DERIVATIVE_BLOCKS}[block][0]
        if rows != "D_in":
            return np.ones(1)
        signs = [p.sign for _, ports in self.structure.resistors for p in ports]
        return np.array(signs, dtype=float)[:, None]

    def fields(
        self, x: ArrayLike, u: ArrayLike | None = None, t: ArrayLike = 0.0
    ) -> dict[str, Floats]:
        """F, Fd, L, E, M and Z1_rate at a state: z = F x, z_d = F_d x_d, D_out = L D_in, E = 1 -
        S14 F_d^-1 Z1 F and M = (1 - L S22)^-1 L (Morales, 2.46, 2.47), of linear fields;
        derivatives of laws stand in for others.

        With these E x' = (S11 + S12 M S21 + S14 F_d^-1 Z1_rate) F x + (S13 + S12 M S23) u (4.91,
        where Z1 is called S31).

        >>> import eslabon as es
        >>> g = es.BondGraph("two", {"I": "Sf", "j": "0", "C1": "C: 2", "C2": "C: 3"}, ["I -> j -> C1", "j -> C2"])
        >>> g.junction_structure().fields([0.0], [0.0])["E"]           # 1 + C2 / C1
        array([[2.5]])

        With derivative causality preferred: Ld, Md, A_star and B_star of z_d = A* x_d' + B* u
        (4.185-4.188), in the order of key["zd"] and of the sources, key["u"].
        """
        if self.preference == "derivative":
            made = value(self.graph, DERIVATIVE_FIELDS, x, u, t)
            return dict(zip(("Ld", "Md", "A_star", "B_star"), made, strict=True))
        made = value(self.graph, FIELDS, x, u, t)
        return dict(zip(("F", "Fd", "L", "E", "M", "Z1_rate"), made, strict=True))

    def __repr__(self) -> str:
        letter = "J" if self.preference == "derivative" else "S"
        sizes = ", ".join(f"{len(own)} {name}" for name, own in self.key.items() if own)
        loops = f"; algebraic loops: {self.algebraic_loops}" if self.algebraic_loops else ""
        return f"<Junction structure {letter} of {self.graph.name}: {sizes}{loops}>"
