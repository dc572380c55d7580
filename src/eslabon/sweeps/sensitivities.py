"""Which parameter matters: the variance of a quantity attributed to what varies, by exact derivatives and by Sobol indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats, known_words, names, positive
from eslabon.displays import displayed
from eslabon.errors import InputError
from eslabon.measures import measure_of
from eslabon.mechanism import Mechanism
from eslabon.sheets import Sheet
from eslabon.sweeps.factors import Factor, factors_of, regression
from eslabon.sweeps.first_order import exact_effects
from eslabon.sweeps.sobol import SobolIndices, sobol_indices
from eslabon.sweeps.sweep import MOST, sweep
from eslabon.sweeps.sweep_table import SweepTable
from eslabon.sweeps.table_statistics import aligned
from eslabon.sweeps.variables import variables_of

if TYPE_CHECKING:
    from eslabon.plotting import Theme

LEAST = 8  # samples from which indices say anything
ROUND_OFF = 1e-12  # of a value: what varies by less does not vary
LINEAR = 0.9  # of the variance: where a linear model explains less, it is said
SHOWN = 3  # values of which a text has tables
DERIVATIVES, REGRESSION = "derivatives", "regression"


@dataclass(frozen=True, eq=False)
class Attribution:
    """The variance of one value: its unit and standard deviation, how much of its variance a linear model explains, and of each factor
    what one standard deviation of it changes to first order, the share of the variance by that, and Sobol indices with the ends
    of their confidence intervals."""

    name: str
    unit: str
    std: float
    source: str
    effects: Floats
    explained: float
    first: Floats
    total: Floats
    first_interval: tuple[Floats, Floats]
    total_interval: tuple[Floats, Floats]

    @property
    def shares(self) -> Floats:
        """The first-order shares: squares of the effects over the variance. They add up to 1 where the value is linear."""
        return self.effects**2 / self.std**2 if self.std else np.zeros(len(self.effects))


@displayed
@dataclass(frozen=True, eq=False)
class Sensitivities:
    """How the variance of values is shared out among factors. `sensitivities[value]` has its numbers, `table` all designs that were
    measured, `plot` draws shares and indices side by side.

    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> over = {"m1": "±0.01 kg", "m2": "±0.02 kg"}
    >>> s = es.sweeps.sensitivities(m, lambda m: m.gravity_forces([0.0, 0.0])[0], over, samples=64)
    >>> s["value"].shares.round(3)
    array([0.027, 0.973])
    >>> s.sentence("value")
    'value: m2 matters most, with 97 % of the variance (total Sobol index; 97 % by regression).'
    """

    title: str
    factors: tuple[str, ...]
    attributions: Mapping[str, Attribution]
    samples: int
    failed: int
    confidence: float
    table: SweepTable
    note: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """The names of what was measured."""
        return tuple(self.attributions)

    def __getitem__(self, value: str) -> Attribution:
        known_words([value], self.attributions, f"{self.title} has no value", InputError)
        return self.attributions[value]

    def sheet(self, value: str) -> Sheet:
        """The numbers of one value as a table, what matters most first."""
        own = self[value]
        effect = f"effect of 1 std{f' [{own.unit}]' if own.unit else ''}"
        heads = (
            "factor",
            effect,
            f"share by {own.source}",
            "Sobol first",
            "Sobol total",
            "from",
            "to",
        )
        columns = (own.effects, own.shares, own.first, own.total, *own.total_interval)
        order = np.argsort(-own.total, kind="stable")
        rows = [(self.factors[k], *(float(x[k]) for x in columns)) for k in order]
        return Sheet(value, heads, rows, f"from, to: where the total index lies with a probability of {self.confidence:.0%}".replace("%", " %"))  # fmt: skip

    def sentence(self, value: str) -> str:
        """Which factor matters most for a value."""
        own = self[value]
        if not own.std:
            return f"{value}: nothing that varies changes it."
        first, *others = np.argsort(-own.total, kind="stable").tolist()
        bent = (
            f" A linear model explains {own.explained:.0%} of the variance."
            if own.explained < LINEAR
            else ""
        )
        rivals = [k for k in others if own.total_interval[1][k] >= own.total_interval[0][first]]
        if rivals:
            *most, last = sorted(self.factors[k] for k in (first, *rivals))
            several = f"{', '.join(most)} and {last}"
            told = f"{several} matter most; {self.samples:,} samples do not tell which of them more"
        else:
            share = f"{own.shares[first]:.0%} by {own.source}"
            told = f"{self.factors[first]} matters most, with {min(own.total[first], 1.0):.0%} of the variance (total Sobol index; {share})"  # fmt: skip
        return f"{value}: {told}.{bent}".replace("%", " %")

    def plot(
        self, of: Any = None, theme: str | Theme | None = None, path: str | Path | None = None
    ) -> Any:
        """Bars of the first-order shares and of the Sobol indices for each factor, a panel for each value; `of` chooses some. A
        matplotlib figure, written to a file too where a path is given.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> over = {"m1": "±0.01 kg", "m2": "±0.02 kg"}
        >>> s = es.sweeps.sensitivities(m, lambda m: m.gravity_forces([0.0, 0.0])[0], over, samples=64)
        >>> s.plot().axes[0].get_xlabel()
        'share of the variance'
        """
        from eslabon.plotting import saved
        from eslabon.sweeps.sensitivity_bars import draw_bars

        chosen = self.values if of is None else names(of, "of")
        return saved(draw_bars(self, [self[name] for name in chosen], theme), path)

    def _counted(self) -> str:
        failed = (
            f"; {self.failed:,} failed, and with them others of their sample are left out"
            if self.failed
            else ""
        )
        return f"{self.title}: {len(self.factors)} factor{'s' * (len(self.factors) != 1)}, {self.samples:,} samples of {2 + len(self.factors)} designs{failed}"  # fmt: skip

    def __repr__(self) -> str:
        lines = [f"<{self._counted()}>"]
        for value in self.values[:SHOWN]:
            sheet = self.sheet(value)
            rows = [
                (name, f"{effect:.4g}", *(f"{x:.3f}" for x in rest))
                for name, effect, *rest in sheet.rows
            ]
            lines += ["", self.sentence(value), *aligned(sheet.columns, rows)]
        if len(self.values) > SHOWN:
            lines += ["", *(self.sentence(value) for value in self.values[SHOWN:])]
        lines += ["", self.note] if self.note else []
        return "\n".join(lines)

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.html_elements import listing, table
        from eslabon.pages.notebook import drawn

        yield listing(
            [*(self.sentence(value) for value in self.values), *([self.note] if self.note else [])]
        )
        yield from (table(self.sheet(value)) for value in self.values[:SHOWN])
        yield from drawn(self.plot)


def sensitivities(
    m: Mechanism, quantity: Any, over: Mapping[str, Any], samples: int = 256, *, seed: int = 0, confidence: float = 0.95,
    cluster: Any = None, folder: str | Path | None = None, most: int = MOST, chunk: int | None = None,
    progress: bool | None = None, **options: Any,
) -> Sensitivities:  # fmt: skip
    """Which of the uncertain parameters matters for a quantity: its variance shared out among them.

    To first order a parameter adds (dy/dp)^2 var(p), with the exact derivative at the mean of all; where a quantity has none, as a
    function in Python, a linear regression of the samples takes its place, and is called so. Beside it are Sobol indices, which
    hold for what is not linear too, by SciPy from `samples` times 2 + d designs, with confidence intervals by bootstrap.

    Parameters
    ----------
    quantity, over, seed, cluster, folder, most, chunk, progress, options : as in `es.sweep`, which measures the designs.
    samples : a power of two.
    confidence : of the intervals.

    Parameters are taken to vary independently of one another; the coordinates of a clearance count as one factor.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> over = {"L2": "±0.1 mm", "L3": "±0.1 mm", "tip.clearance": "0.05 mm"}
    >>> s = es.sweeps.sensitivities(m, lambda m: m.pose(m.assemble([2.0, 1.0]), "point")[0, 3], over, samples=16)
    >>> dict(zip(s.factors, s["value"].shares.round(2).tolist()))
    {'L2': 0.09, 'L3': 0.77, 'tip.clearance': 0.13}
    """
    share = positive(confidence, "confidence")
    if share >= 1:
        raise InputError(f"confidence is a probability below 1, as in 0.95; it is {confidence}.")
    varied, variables = variables_of(m, over)
    chosen = factors_of(variables)
    measure = measure_of(quantity, options)
    if measure.states() > 1:
        raise InputError(f"the quantity has a row for each of {measure.states()} states; say what of them counts, as with reduce='peak'.")  # fmt: skip
    table = sweep(m, measure, over, samples, "saltelli", cluster=cluster, folder=folder, seed=seed, most=most, chunk=chunk,
                  progress=progress)  # fmt: skip
    block = len(chosen) + 2
    rows = _whole_samples(table, block)
    designs = {name: table[name].reshape(-1, block)[rows, :2].ravel() for name in table.parameters}
    exact, why = exact_effects(varied, measure, chosen)
    note = f"By regression, for want of an exact derivative: {why}" if why else ""
    made = {}
    for name in table.values:  # a column at a time, however many there are
        y = table[name].reshape(-1, block)[rows]
        indices = sobol_indices(y[None], share, seed)
        made[name] = _attribution(
            name, table.column(name).unit, chosen, designs, y, indices, 0, exact.get(name)
        )
    names, failed = tuple(x.name for x in chosen), table.contents.failed
    return Sensitivities(
        f"Sensitivities of {m.name}", names, made, len(rows), failed, share, table, note
    )


def _whole_samples(table: SweepTable, block: int) -> Any:
    """The numbers of samples of which no design failed: as many as are a power of two, which Sobol indices need."""
    whole = np.ones(len(table) // block, dtype=bool)
    for name in table.values:
        whole &= np.isfinite(table[name].reshape(-1, block)).all(axis=1)
    good = np.flatnonzero(whole)
    if len(good) < LEAST:
        why = (
            f": {table.contents.reasons[0].sentence.rstrip('.')}" if table.contents.reasons else ""
        )
        raise InputError(f"of {len(whole)} samples {len(good)} have values in all their designs, and indices need {LEAST}{why}.")  # fmt: skip
    return good[: 1 << (len(good).bit_length() - 1)]


def _attribution(
    name: str, unit: str, chosen: tuple[Factor, ...], designs: Mapping[str, Floats], y: Floats, indices: SobolIndices, k: int,
    exact: Floats | None,
) -> Attribution:  # fmt: skip
    own = y[:, :2].ravel()
    if own.std() <= ROUND_OFF * np.abs(own).max(initial=0.0):
        none = np.zeros(len(chosen))
        return Attribution(name, unit, 0.0, REGRESSION if exact is None else DERIVATIVES, none, 1.0, none, none, (none, none), (none, none))  # fmt: skip
    fitted = regression(chosen, designs, own)
    effects = np.array(
        [way[0] if len(way) == 1 else float(np.linalg.norm(way)) for way in fitted.effects]
    )
    intervals = [
        tuple(x[k] for x in ends) for ends in (indices.first_interval, indices.total_interval)
    ]
    return Attribution(
        name, unit, fitted.variance**0.5, REGRESSION if exact is None else DERIVATIVES, effects if exact is None else exact,
        fitted.explained, indices.first[k], indices.total[k], *intervals,
    )  # fmt: skip
