"""Is the model right? What a right model leaves of the forces is noise, which knows nothing of the
motion.

Where the noise of the measured forces is known, the sum of squares is chi-squared. Without that,
the residuals' power at the frequencies of the motion is compared with that at all others: their
ratio follows Fisher's F. Errors of filtered and differentiated coordinates grow with the frequency,
so that they make no right model look wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eslabon.answers import answer
from eslabon.arguments import Floats
from eslabon.formulas.applied_loads import CREEP
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.systems.identification.estimation import Equations, Estimate
from eslabon.systems.identification.parameters import Terms
from eslabon.systems.identification.regressor_equations import independent

SURE = 1e-4  # a right model is refused once in ten thousand
NOTICEABLE = 1.5  # times the noise's power: less is no reason to refuse a model, however sure
NEGLIGIBLE = 1e-6  # of the forces: round-off and integration errors are no noise
CARRIED = 0.95  # of the forces' power is at what counts as the motion's frequencies
EXPLAINS = 0.1  # of the residuals' power, for a term to be named
WORDS = {
    "viscous": "viscous friction", "coulomb": "Coulomb friction", "offset": "an offset of the measured force",
    "motor_inertia": "the motor's inertia", "stiffness": "a spring",
}  # fmt: skip


@answer
class ResidualTest(NamedTuple):
    """What the residuals of one equation say of the model."""

    coordinate: str
    relative: float  # the residuals over the forces, root mean squares
    ratio: float  # power at the motion's frequencies over that at all others
    p: float  # how likely a right model has such a ratio
    rejects: bool


def tests(m: Model, several: list[Equations], found: Estimate, beta: Floats) -> list[ResidualTest]:
    """A test for each equation."""
    from scipy.stats import f as fisher

    made = []
    for row, place in enumerate(independent(m)):
        low, high, size, total = np.zeros(2), np.zeros(2), 0.0, 0.0
        for e, r in zip(several, found.residuals, strict=True):
            parts = e.Y[:, row] * beta
            fitted = parts.sum(axis=1)
            band, power = _motion_band(fitted, r[:, row])
            low += power[band].sum(), band.sum()
            high += power[~band].sum(), (~band).sum()
            total += float(np.sum(r[:, row] ** 2))
            size += float(max(np.sum((fitted + r[:, row]) ** 2), np.sum(parts**2)))
        relative = float(np.sqrt(total / size)) if size > 0 else 0.0
        ratio = (
            float((low[0] / low[1]) / max(high[0] / high[1], np.finfo(float).tiny))
            if total > 0
            else 1.0
        )
        p = float(fisher.sf(ratio, 2 * low[1], 2 * high[1]))
        wrong = p < SURE and ratio > NOTICEABLE and relative > NEGLIGIBLE
        made.append(ResidualTest(velocity_names(m)[place], relative, ratio, p, wrong))
    return made


def _motion_band(forces: Floats, residuals: Floats) -> tuple[np.ndarray, Floats]:
    """Which frequencies carry the forces, zero among them and at most a half of all, and the
    residuals' power at each."""
    window = np.hanning(len(forces))
    carried = np.abs(np.fft.rfft(window * (forces - forces.mean()))) ** 2
    power = np.abs(np.fft.rfft(window * residuals)) ** 2
    order = np.argsort(carried)[::-1]
    needed = int(np.searchsorted(np.cumsum(carried[order]), CARRIED * carried.sum())) + 1
    band = np.zeros(len(power), dtype=bool)
    band[order[: min(needed, len(power) // 2)]] = True
    band[:2] = True  # of a window zero's neighbour is its other half
    return band, power


def chi_squared(found: Estimate, count: int) -> tuple[float, int, float]:
    """The residuals' sum of squares in units of their known errors, its degrees of freedom, and its
    probability."""
    from scipy.stats import chi2

    x = sum(float(np.sum((r / s) ** 2)) for r, s in zip(found.residuals, found.errors, strict=True))
    free = sum(r.size for r in found.residuals) - count
    return x, free, float(chi2.sf(x, max(1, free)))


def missing_term(m: Model, several: list[Equations], found: Estimate, terms: Terms) -> str:
    """The joint's term that would explain most of the residuals, in words; empty where none
    explains much."""
    weigh = [1 / e for e in found.errors]
    Y = np.concatenate([e.Y * w[..., None] for e, w in zip(several, weigh, strict=True)])
    r = np.concatenate([r * w for r, w in zip(found.residuals, weigh, strict=True)]).ravel()
    Q = np.linalg.qr(Y.reshape(-1, Y.shape[-1]))[0]
    best, name = EXPLAINS * float(r @ r), ""
    rows = {place: row for row, place in enumerate(independent(m))}
    for kind, words in WORDS.items():
        for place in (k for k in rows if k not in getattr(terms, kind, ())):
            column = np.zeros(Y.shape[:2])
            signal = np.concatenate([_signal(m, e, kind, place) for e in several])
            column[:, rows[place]] = signal * np.concatenate([w[:, rows[place]] for w in weigh])
            x = column.ravel() - Q @ (Q.T @ column.ravel())
            share = float(x @ r) ** 2 / max(float(x @ x), 1e-300)
            if share > best and float(x @ x) > 1e-12 * float(np.sum(column**2)):
                best, name = (
                    share,
                    f"{words} of '{velocity_names(m)[place]}' would explain {share / float(r @ r):.0%} of it",
                )
    return name


def _signal(m: Model, e: Equations, kind: str, place: int) -> Floats:
    s = e.motion
    if kind == "stiffness":
        joint = next(j for j in m.joints if place in range(m.nv)[m.velocities[j.name]])
        plain = not joint.kind.has_quaternion
        return (
            s.q[:, m.coordinates[joint.name].start + place - m.velocities[joint.name].start]
            if plain
            else 0.0 * s.t
        )
    signals = {
        "viscous": s.v,
        "coulomb": np.tanh(s.v / CREEP),
        "offset": np.ones_like(s.v),
        "motor_inertia": s.a,
    }
    return signals[kind][:, place]
