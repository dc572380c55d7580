"""First-order effects of factors on measures, by exact derivatives where a measure has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import EslabonError
from eslabon.measures import Measure
from eslabon.measures.exact_derivatives import exact_derivatives
from eslabon.mechanism import Mechanism
from eslabon.sweeps.factors import Direction, Factor


def exact_effects(
    m: Mechanism, measure: Measure, chosen: Sequence[Factor]
) -> tuple[Mapping[str, Floats], str]:
    """By column, what one standard deviation of each factor changes at the mean of all; of a clearance, which has several directions,
    the root of their squares. Columns that have no exact derivative there are left out, and it is said why."""
    centre = {name: x for factor in chosen for name, x in factor.centre.items()}
    ways = [(k, way) for k, factor in enumerate(chosen) for way in factor.directions]
    squares: dict[str, Floats] = {}
    signs: dict[str, Floats] = {}
    try:
        for at in dict.fromkeys(way.at for _, way in ways):
            own = [(k, way) for k, way in ways if way.at == at]
            for column, slopes in _slopes(
                m, measure, {**centre, **dict(at)}, [way for _, way in own]
            ).items():
                squares.setdefault(column, np.zeros(len(chosen)))
                signs.setdefault(column, np.ones(len(chosen)))
                for (k, way), slope in zip(own, slopes, strict=True):
                    squares[column][k] += (slope * way.std) ** 2
                    signs[column][k] = np.sign(slope) if len(chosen[k].directions) == 1 else 1.0
    except EslabonError as error:  # a design without derivatives, such as a singular one
        return {}, str(error)
    made = {
        column: signs[column] * np.sqrt(x) for column, x in squares.items() if np.isfinite(x).all()
    }
    left = (
        [column for column in measure.columns(m) if column not in made] if made else [measure.name]
    )
    return made, f"{', '.join(left)} {'has' if len(left) == 1 else 'have'} none." if left else ""


def _slopes(
    m: Mechanism, measure: Measure, at: Mapping[str, float], ways: Sequence[Direction]
) -> Mapping[str, Floats]:
    return exact_derivatives(measure, m, [way.parameter for way in ways], at)
