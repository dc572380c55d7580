"""Non-smooth rates under adaptive methods: modes that are frozen within a step and change where a
surface is reached.

    x' = f(t, x, sigma),        sigma_i = sign g_i(t, x, sigma)              (`compiler.switching`)

Between switches f is smooth. Where a g_i changes its sign, or a held surface lets go, the modes of
all surfaces through that state are found anew: a surface is crossed if g_i goes on in the direction
of its mode, and held where both sides push back. Held surfaces slide: their modes, between -1 and
1, solve the linear system dg_i/dt = 0 for all of them at once (Filippov's convex combination).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import EslabonError

MAX_SWITCHES = 1_000  # within a part of a run
CROWDED = 1e-3  # which is so long, as a share of the run
PARTS = 4  # of a step, between which events and surfaces are looked at
ON_SURFACE = 1e-11  # of the largest |g| of a step: what lies on the surface too
SLACK = 1e-9  # by which modes of held surfaces may leave [-1, 1], and rates their sign, as shares
HELD = 1e-12  # share of the rates that are balanced, below which a surface moves no more
MAX_PIVOTS = 30  # for each surface
NEWTON = 8  # iterations: one, where the rates are affine in the modes

FAR = 0.25  # of what a surface changes by in a step: so near it is looked at along the dense output

_PLACES = np.linspace(0, 1, PARTS + 1)
_HERMITE = np.stack(  # the cubic through values and slopes at the ends of a step
    [
        (1 + 2 * _PLACES) * (1 - _PLACES) ** 2,
        _PLACES * (1 - _PLACES) ** 2,
        _PLACES**2 * (3 - 2 * _PLACES),
        _PLACES**2 * (_PLACES - 1),
    ],
    axis=-1,
)
_INTERPOLATION = np.linalg.inv(np.vander(np.arange(PARTS + 1.0)))  # coefficients from values
_FINE = np.vander(np.linspace(0, PARTS, 4 * PARTS + 1), PARTS + 1) @ _INTERPOLATION
CLOSEST = 20  # quarters of quarters of a step that are looked at beside its beginning
NEAR_ZERO = 0.1  # of the least |value|: where the polynomial comes that near to zero, its extrema are looked at


class SwitchingError(EslabonError):
    """The modes cannot be found, or change too often: a sentence for the run that meets it."""


class SwitchedRates(Protocol):
    """Rates with modes as an input, and the surfaces that these belong to."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the surfaces are called in messages."""

    def rates(self, t: float, x: Floats, modes: Floats) -> Floats:
        """dx/dt; of several modes (..., size) each."""

    def surfaces(self, t: Any, x: Floats, modes: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """g and dg/dt along rates, of times, states, modes and rates that broadcast."""

    def choices(self, t: float, x: Floats) -> Floats:
        """The modes that the rates have by themselves."""

    def settled(self, modes: Floats) -> Floats:
        """The modes with the levels of `floor` moved (`ModeLayout.settled`)."""


class Look(NamedTuple):
    """Numbers at a time whose zeros are looked for."""

    t: float
    values: Floats


class Change(NamedTuple):
    """A change of sign: of which value, between which times, and whether it rises."""

    which: int
    before: float
    after: float
    rises: bool


def sign_changes(looks: Sequence[Look], value: Callable[[float], Floats]) -> list[Change]:
    """Which of the values change their sign in a step, and the times between which each does so.

    Values are looked at `PARTS` + 1 times a step, and once more where the polynomial through these
    has an extremum beyond zero: what changes its sign twice between two looks is seen if it is as
    smooth as that polynomial.
    """
    looks = list(looks)
    if len(looks) == PARTS + 1:
        looks = _with_extrema(looks, value)
    found = []
    for before, after in pairwise(looks):
        falls = (before.values > 0) & (after.values <= 0)
        rises = (before.values < 0) & (after.values >= 0)
        found += [
            Change(int(k), before.t, after.t, bool(rises[k])) for k in np.flatnonzero(falls | rises)
        ]
    return found


def _with_extrema(looks: list[Look], value: Callable[[float], Floats]) -> list[Look]:
    values = np.array([look.values for look in looks])
    one_sign = (values > 0).all(axis=0) | (values < 0).all(axis=0)
    if not one_sign.any():
        return looks
    bounded = np.isfinite(values).all(axis=0)  # no effort limit is an infinite one, never reached
    turned = np.where(bounded, values * np.sign(values[0]), 1.0)
    least = turned.min(axis=0)
    bends = (_FINE @ turned).min(axis=0) < (1 - NEAR_ZERO) * least
    places = {
        place.real
        for k in np.flatnonzero(one_sign & bends)
        for place in np.roots(np.polyder(_INTERPOLATION @ turned[:, k])).tolist()
        if np.isreal(place) and 0 < place.real < PARTS
    }
    begin, length = looks[0].t, (looks[-1].t - looks[0].t) / PARTS
    extra = [Look(t, value(t)) for t in (begin + length * s for s in sorted(places))]
    return sorted([*looks, *extra], key=lambda look: look.t)


def zero_between(function: Callable[[float], float], before: float, after: float) -> float:
    """The time at which a function is zero that has different signs at both ends; or that leaves
    zero at the first one, where it has the sign of the last one by round-off. The first one if it
    does not."""
    from scipy.optimize import brentq

    first, last = function(before), function(after)
    if not np.isfinite(first):
        return before
    if first * last > 0:
        near = (before + (after - before) * 4.0**-k for k in range(1, CLOSEST))
        left = next((t for t in near if function(t) * last < 0), None)
        if left is None:
            return before
        before = left
    tight = 4 * np.finfo(float).eps
    return float(brentq(function, before, after, xtol=tight, rtol=tight))


class Modes:
    """The modes of one run: which surfaces are held, and how they change."""

    def __init__(self, system: SwitchedRates, span: float) -> None:
        self.system = system
        self.modes = np.zeros(0)
        self.held: list[int] = []
        self.switches = 0
        self._count = len(system.names)
        self._window = CROWDED * span
        self._recent: deque[tuple[float, tuple[int, ...]]] = deque()
        self._zero = np.zeros(0)
        self._fresh: set[int] = set()  # surfaces on which the present stretch begins

    # -- rates --------------------------------------------------------------------------------------------------

    def rates(self, t: float, x: Floats) -> Floats:
        """dx/dt with the present modes; where a frozen choice has no number beyond its surface,
        with those of the state."""
        if self.held:
            return self._sliding(t, x, self.modes, self.held)[1]
        made = self.system.rates(t, x, self.modes)
        if made.dot(self._zero) != 0 and np.isfinite(x).all():  # NaN, if one is not finite
            made = self.system.rates(t, x, self.system.choices(t, x))
        return made

    def at(self, t: float, x: Floats) -> Floats:
        """The modes at a state of the present stretch, those of held surfaces between -1 and 1."""
        return self._sliding(t, x, self.modes, self.held)[0] if self.held else self.modes

    def _sliding(
        self, t: float, x: Floats, modes: Floats, held: list[int]
    ) -> tuple[Floats, Floats, Floats]:
        """Modes that hold surfaces, and the rates of the state and of all surfaces with these."""
        modes = modes.copy()
        for corrections in range(NEWTON):
            rates, along = self._along(t, x, _beside(modes, held))
            b, S = along[0, held], _differences(along)[held]
            size = np.abs(b) + np.abs(S).sum(axis=1)
            if corrections and (np.abs(b) <= HELD * size).all():
                break
            change = _solution(S, b)
            if (np.abs(b + S @ change) > 1e-6 * size).any():
                raise SwitchingError(self._singular(held))
            modes[held] += change
        return modes, rates[0], along[0]

    def _along(self, t: float, x: Floats, modes: Floats) -> tuple[Floats, Floats]:
        """The rates of the state and of the surfaces, for modes (..., size)."""
        rates = self.system.rates(t, x, modes)
        return rates, self.system.surfaces(t, x, modes, rates)[1]

    def _slopes(self, t: float, x: Floats, modes: Floats, which: Sequence[int]) -> Floats:
        """How the rates of surfaces depend on the modes of some: exact, since they are affine in
        each."""
        return _differences(self._along(t, x, _beside(modes, which))[1])

    # -- looking ------------------------------------------------------------------------------------------------

    def first_switch(
        self, begin: float, end: float, state: Callable[[Any], Floats]
    ) -> tuple[float, int] | None:
        """When the first mode changes along a step, and which; None if none does. `state` gives the
        state, or several."""

        def value(t: float) -> Floats:
            return self._margins(t, state(t))

        times = np.linspace(begin, end, PARTS + 1)
        if self.held:
            looks = [Look(t, value(t)) for t in times.tolist()]
        else:
            together = self._margins(times, state(times))
            if not self._fresh and _is_clear(together):
                return None
            looks = [Look(t, x) for t, x in zip(times.tolist(), together, strict=True)]
        here = [k for k in self._fresh if not looks[0].values[k] > 0]
        looks[0].values[here] = np.finfo(
            float
        ).tiny  # on the surface, which it leaves as its mode says
        if (due := np.flatnonzero(looks[0].values < 0)).size:  # passed together with another one
            return begin, int(due[0])
        changes = [change for change in sign_changes(looks, value) if not change.rises]
        first = min((change.before for change in changes), default=None)
        return min(
            (
                (zero_between(lambda t, k=k: float(value(t)[k]), before, after), k)  # type: ignore[misc]
                for k, before, after, _ in changes
                if before == first
            ),
            default=None,
        )

    def keeps_clear(
        self, begin: float, x: Floats, rates: Floats, end: float, x_end: Floats, rates_end: Floats
    ) -> bool:
        """Whether all surfaces are far from a step, as cubic polynomials through its ends tell:
        farther than a part of what they change by."""
        if self.held or self._fresh:
            return False
        h = end - begin
        states = _HERMITE @ np.array([x, h * rates, x_end, h * rates_end])
        margins = self._margins(begin + h * _PLACES, states)
        return _is_clear(margins, FAR)

    def _margins(self, t: Any, x: Floats) -> Floats:
        """Positive as long as the modes hold: sigma g of surfaces, and of held ones what their
        modes have left."""
        modes = self.at(t, x)
        g = self.system.surfaces(t, x, modes, np.zeros(x.shape[-1]))[0]
        sigma = modes[: self._count]
        margins = sigma * g
        if not sigma.all():
            margins = np.where(sigma == 0, np.where(g == 0, np.inf, -1.0), margins)
        if self.held:
            margins[self.held] = 1 + 2 * SLACK - np.abs(sigma[self.held])
        margins[margins == 0] = np.finfo(float).tiny
        return margins

    def _neutral(self, sigma: Floats) -> set[int]:
        """Surfaces on which the state rests without being held: nothing there moves it to either
        side."""
        return set(np.flatnonzero(sigma == 0).tolist()) - set(self.held)

    def step_done(self) -> None:
        """A step without a switch is over."""
        self._fresh = set(self.held)

    # -- switching ----------------------------------------------------------------------------------------------

    def start(self, t: float, x: Floats) -> None:
        """Choose the modes where an interval begins, and hold what was held before if both sides
        still push back."""
        own, self._zero = self.system.choices(t, x), np.zeros(len(x))
        g = self.system.surfaces(t, x, own, np.zeros_like(x))[0]
        on_surface = sorted({*np.flatnonzero(g == 0).tolist(), *self.held})
        self.modes, self.held = own, []
        self._choose(t, x, on_surface, hold=on_surface)

    def is_idle(self, t: float, x: Floats, end: float, x_end: Floats, k: int) -> bool:
        """Whether a surface may be crossed without notice: another choice leaves out what it
        chooses between."""
        if k in self.held:
            return False
        other = self.system.settled(self._flipped(k))
        return all(
            np.array_equal(self.system.rates(s, y, self.modes), self.system.rates(s, y, other))
            for s, y in ((t, x), (end, x_end))
        )

    def flip(self, k: int) -> None:
        """Cross a surface without notice."""
        self.modes = self._flipped(k)
        self._fresh.add(k)
        self._settle()

    def _settle(self) -> None:
        """Move the levels of `floor`, whose surfaces then are others."""
        before, self.modes = self.modes, self.system.settled(self.modes)
        self._fresh |= set(
            np.flatnonzero(before[: self._count] != self.modes[: self._count]).tolist()
        )

    def switch(self, t: float, x: Floats, k: int, size: Floats) -> None:
        """Change the modes at a state on surface k; `size` is the largest |g| of each surface in
        the step."""
        g = self.system.surfaces(t, x, self.at(t, x), np.zeros_like(x))[0]
        near = np.flatnonzero(np.abs(g) <= ON_SURFACE * size).tolist()
        on_surface, held = sorted({k, *near, *self.held}), list(self.held)
        self.modes = self.at(t, x)
        neutral = self._neutral(self.modes[: self._count]) - {k}
        if k not in held:
            self.modes = self._flipped(k)
        self.held = []
        self._choose(t, x, on_surface, hold=sorted({*held, *(neutral & set(on_surface))}))
        self._count_switch(t, k)

    def sizes(self, times: Floats, state: Callable[[float], Floats]) -> Floats:
        """The largest |g| of each surface at some times."""
        zero = np.zeros_like(state(float(times[0])))
        each = [self.system.surfaces(t, x := state(t), self.at(t, x), zero)[0] for t in times]
        return np.asarray(np.abs(each).max(axis=0))

    def _flipped(self, k: int) -> Floats:
        modes = self.modes.copy()
        modes[k] = -1.0 if modes[k] > 0 else 1.0
        return modes

    def _choose(self, t: float, x: Floats, on_surface: list[int], hold: list[int]) -> None:
        """Modes of all surfaces through a state, and then of those that depend on these."""
        self._fresh = set()
        for _ in range(2 + self._count):
            modes, held = self._complementary(t, x, self.modes, on_surface, hold)
            g = self.system.surfaces(t, x, modes, np.zeros_like(x))[0]
            wrong = (modes[: self._count] * g < 0) & (np.abs(g) > 0)
            wrong[on_surface] = False
            self.modes, hold = modes, held
            if not wrong.any():
                break
            self.modes[: self._count][wrong] *= -1  # such as a saturation of what has just jumped
        self._settle()
        self.held = held
        self._fresh |= {*on_surface}

    def _complementary(
        self, t: float, x: Floats, modes: Floats, on_surface: list[int], hold: list[int]
    ) -> tuple[Floats, list[int]]:
        """Free surfaces left in the direction of their modes, held ones with modes within [-1, 1]:
        by least-index pivots."""
        modes, held = modes.copy(), sorted(hold)
        if not on_surface:
            return modes, held
        for _ in range(MAX_PIVOTS * len(on_surface)):
            released = self._without_influence(t, x, modes, held)
            if released is not None:
                k, side = released
                held.remove(k)
                modes[k] = side
                continue
            if held:
                modes, _, along = self._sliding(t, x, modes, held)
            else:
                along = self._along(t, x, modes)[1]
            for k in on_surface:
                if k in held:
                    if abs(modes[k]) > 1 + SLACK:
                        held.remove(k)
                        modes[k] = np.sign(modes[k])
                        break
                elif modes[k] * along[k] < 0:
                    slope = self._slopes(t, x, modes, [k])[k, 0]
                    if slope < -SLACK * abs(along[k]):
                        held.append(k)
                        held.sort()
                    else:
                        modes[k] = np.sign(along[k])
                    break
            else:
                return modes, held
        raise SwitchingError(self._singular(on_surface))

    def _without_influence(
        self, t: float, x: Floats, modes: Floats, held: list[int]
    ) -> tuple[int, float] | None:
        """A surface that its own mode does not hold, and the side it goes to: zero if nothing moves
        it."""
        for k in held:
            slope = self._slopes(t, x, modes, [k])[:, 0]
            along = self._along(t, x, modes)[1]
            if slope[k] >= -SLACK * abs(along[k]):
                if slope[k] > 0 and along[k] == 0:
                    continue  # between two sides that both lead away
                return k, float(np.sign(along[k])) if along[k] else self._resting(t, x, k)
        return None

    def _resting(self, t: float, x: Floats, k: int) -> float:
        """The mode that the law itself has on a surface."""
        return float(self.system.choices(t, x)[k])

    # -- too many -----------------------------------------------------------------------------------------------

    def _count_switch(self, t: float, k: int) -> None:
        self.switches += 1
        self._recent.append((t, (k,)))
        while self._recent and self._recent[0][0] < t - self._window:
            self._recent.popleft()
        if len(self._recent) > MAX_SWITCHES:
            common = Counter(k for _, own in self._recent for k in own).most_common(1)[0][0]
            raise SwitchingError(
                f"what acts on it switches more than {MAX_SWITCHES:,} times within {t - self._recent[0][0]:.3g} s, at the "
                f"{self.system.names[common]}. {SMOOTH}"
            )

    def _singular(self, held: list[int]) -> str:
        names = ", ".join(sorted({self.system.names[k] for k in held}))
        return f"the forces that hold the {names} at zero together are not determined. {SMOOTH}"


def _beside(modes: Floats, which: Sequence[int]) -> Floats:
    """Modes, and for some of them the same with that one at 1 and at -1, (1 + 2 k, size)."""
    trials = np.repeat(modes[None], 1 + 2 * len(which), axis=0)
    trials[1::2][np.arange(len(which)), which] = 1.0
    trials[2::2][np.arange(len(which)), which] = -1.0
    return trials


def _differences(along: Floats) -> Floats:
    """What modes `_beside` one another change, (surfaces, k)."""
    return np.asarray((along[1::2] - along[2::2]).T / 2)


def _solution(S: Floats, b: Floats) -> Floats:
    """The least change with S change = -b."""
    if len(b) == 1:
        return np.asarray(-b / S[0] if S[0, 0] else np.zeros(1))
    return np.asarray(-np.linalg.lstsq(S, b, rcond=1e-12)[0])


def _is_clear(values: Floats, share: float = 0.0) -> bool:
    """Whether values at `PARTS` + 1 times stay above zero, by a share of what they change by, and
    so does the polynomial through them."""
    least = values.min(axis=0)
    if not (least > 0).all():
        return False
    if not np.isfinite(values).all():  # no effort limit is an infinite one, never reached
        values = values[:, np.isfinite(values).all(axis=0)]
        least = values.min(axis=0)
    bends = (_FINE @ values).min(axis=0) < (1 - NEAR_ZERO) * least
    near = least < share * (values.max(axis=0) - least)
    return not (bends | near).any()


SMOOTH = "Write the law with a smooth form, such as tanh(x / width) for sign(x), sample it with a period, or give it a dead zone."
