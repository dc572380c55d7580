"""What every path in time does, in space or in joint coordinates: join, turn back, repeat, stretch,
wait.

A path is a function of time that gives a value, its rate and its acceleration. Outside [0,
duration] it stays at its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import MAX_COUNT
from eslabon.displays import displayed
from eslabon.motion.paths.arc_length import panel_of
from eslabon.motion.paths.path_arguments import (
    Floats,
    PathError,
    duration_of,
    numbers,
    positive,
    waiting,
    whole,
)
from eslabon.motion.paths.time_laws import Law

Triple = tuple[Floats, Floats, Floats]  # value, rate, acceleration

S = TypeVar("S")  # the samples of a kind of path
Size = Callable[[Floats], Floats]  # a number to be limited, of times

# Joined paths may be this far apart, of how far and how fast they go.
GAP = 1e-6

# How densely the smooth parts of a path are searched for the greatest rate, before the search is
# refined.
PLACES = 257
INSIDE = np.linspace(1e-9, 1 - 1e-9, 17)  # of a smooth part, in which sizes are looked for


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Timed(Generic[S]):
    """A motion in time.

    Parameters
    ----------
    duration : float
        How long it takes.
    motion : callable
        Gives value, rate and acceleration for an array of times in [0, duration].
    title : str
        What it is, in a few words.
    breaks : array
        The times, both ends included, between which it is smooth.
    """

    duration: float
    motion: Callable[[Floats], Triple]
    title: str
    breaks: Floats
    samples: ClassVar[Any]  # names of the times, the value, its rate and its acceleration

    def __call__(self, t: ArrayLike) -> Triple:
        """Value, rate and acceleration at times of any shape."""
        times = numbers(t, "t")
        inside = ((times >= 0.0) & (times <= self.duration))[..., None]
        value, rate, acceleration = self.motion(np.clip(times, 0.0, self.duration))
        return value, np.where(inside, rate, 0.0), np.where(inside, acceleration, 0.0)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.title}, {self.duration:.6g} s>"

    @property
    def rests(self) -> bool:
        """Whether rate and acceleration are zero at both ends."""
        _, *ends = self(np.array([0.0, self.duration]))
        return all(
            bool((np.abs(x) <= GAP * size).all())
            for x, size in zip(ends, self._sizes[1:], strict=True)
        )

    @property
    def _places(self) -> Floats:
        """Times at which it is seen how far and how fast the path goes, within its smooth parts."""
        return np.concatenate([a + (b - a) * INSIDE for a, b in pairwise(self.breaks)])

    @property
    def _sizes(self) -> Triple:
        """How far the path goes, and its largest rate and acceleration: what gaps are measured
        by."""
        raise NotImplementedError

    def sample(self, n: int | None = None, dt: float | None = None) -> S:
        """The path at n evenly spaced times, or at steps of dt, the last of which may be shorter;
        both ends are among them."""
        if (n is None) == (dt is None):
            raise PathError(
                "sample a path by a number of points n or by a time step dt, one of the two."
            )
        if dt is not None:
            step = positive(dt, "the time step")
            t = np.minimum(
                step * np.arange(np.ceil(self.duration / step - 1e-9) + 1), self.duration
            )
        else:
            t = np.linspace(
                0.0,
                self.duration,
                whole(n, 2, MAX_COUNT, "a path is sampled at two or more points; n"),
            )
        made: S = self.samples(t, *self(t))
        return made

    # -- motions from motions -----------------------------------------------------------------------------------

    def then(self, *others: Self) -> Self:
        """This path and others after it; each starts where and as fast as the one before it
        ends."""
        paths = (self, *others)
        for first, second in pairwise(paths):
            self._check_join(first, second)
        titles = "; then ".join(path.title for path in paths)
        return self._joined(paths, titles if len(paths) < 4 else f"{len(paths)} paths joined")

    def _joined(self, paths: tuple[Self, ...], title: str) -> Self:
        starts = np.concatenate([[0.0], np.cumsum([path.duration for path in paths])])
        breaks = np.unique(
            np.concatenate([start + p.breaks for start, p in zip(starts, paths, strict=False)])
        )
        motion = partial(_assembled, paths, starts)
        return replace(self, duration=float(starts[-1]), motion=motion, title=title, breaks=breaks)

    def _check_join(self, first: Self, second: Self) -> None:
        if type(first) is not type(second):
            raise PathError(
                f"a {type(first).__name__} cannot be joined to a {type(second).__name__}."
            )
        (end, leaving, _), (start, entering, _) = first(first.duration), second(0.0)
        if end.shape != start.shape:
            raise PathError(f"the paths differ in size: {end.shape} and {start.shape}.")
        far, fast = (
            np.maximum(a, b) for a, b in zip(first._sizes[:2], second._sizes, strict=False)
        )
        apart, change = np.abs(end - start), np.abs(leaving - entering)
        if (apart > GAP * far).any():
            gap = float(apart.max())
            raise PathError(
                f"the next path starts {gap:.6g} (metres or radians) from where the one before it ends."
            )
        if (change > GAP * fast).any():
            jump = float(change.max())
            raise PathError(
                f"the velocity would jump by {jump:.6g} where the paths join; let both rest there (cycloidal, quintic) "
                "or meet at the same velocity."
            )

    def reversed(self) -> Self:
        """The path run backwards."""

        def motion(t: Floats) -> Triple:
            value, rate, acceleration = self.motion(self.duration - t)
            return value, -rate, acceleration

        return replace(
            self,
            motion=motion,
            title=f"{self.title}, reversed",
            breaks=self.duration - self.breaks[::-1],
        )

    def repeat(self, times: int) -> Self:
        """The path several times over; it must end where and as fast as it starts."""
        times = whole(
            times, 1, MAX_COUNT, "a path is repeated a whole number of times, one or more; times"
        )
        self._check_join(self, self)
        return self._joined((self,) * times, f"{self.title}, {times} times")

    def lasting(self, duration: float) -> Self:
        """The same motion over another duration: rates scale with its inverse, accelerations with
        its square."""
        ratio = duration_of(duration) / self.duration

        def motion(t: Floats) -> Triple:
            value, rate, acceleration = self.motion(np.minimum(t / ratio, self.duration))
            return value, rate / ratio, acceleration / ratio**2

        return replace(self, duration=float(duration), motion=motion, breaks=ratio * self.breaks)

    def wait(self, before: float = 0.0, after: float = 0.0) -> Self:
        """The path with rests at its ends, where it must stand still."""
        before, after = waiting(before, after)
        for rest, end in ((before, 0.0), (after, self.duration)):
            if rest and (np.abs(self(end)[1]) > GAP * self._sizes[1]).any():
                raise PathError(
                    f"the path moves at t = {end:g} s, so it cannot wait there; use a law that rests."
                )
        longer = self.duration + before + after
        breaks = np.unique([0.0, *(before + self.breaks), longer])
        return replace(self, duration=longer, motion=lambda t: self(t - before), breaks=breaks)

    # -- limits -------------------------------------------------------------------------------------------------

    def _fastest(self, limits: list[tuple[int, Size, float, str]]) -> Self:
        """The same motion over the shortest duration that keeps limits, each on a size that goes as
        T^-order."""
        needed = [
            (self._peak(size) / positive(limit, what)) ** (1 / order)
            for order, size, limit, what in limits
        ]
        if not needed:
            raise PathError("give a limit to keep, such as acceleration=1.0.")
        if max(needed) == 0.0:
            raise PathError("nothing that is limited moves, so that any duration would do.")
        return self.lasting(self.duration * max(needed))

    def _peak(self, size: Size) -> float:
        """The greatest size over time: looked for at many places of each smooth part, then refined
        around the best."""
        from scipy.optimize import minimize_scalar

        inside = np.linspace(1e-9, 1 - 1e-9, PLACES)  # not on the breaks, where a rate may jump
        parts = [a + (b - a) * inside for a, b in pairwise(self.breaks)]
        found = [size(t) for t in parts]
        peak = max(float(x.max()) for x in found)
        for t, x in zip(parts, found, strict=True):
            if (
                x.max() > 0.99 * peak
            ):  # else the places looked at would have to be far from a very narrow peak
                k = int(np.argmax(x))
                around = t[max(k - 1, 0)], t[min(k + 1, PLACES - 1)]
                best = minimize_scalar(
                    lambda x: -float(size(np.array(x))), bounds=around, method="bounded"
                )
                peak = max(peak, -float(best.fun))
        return peak


def _assembled(paths: tuple[Timed[Any], ...], starts: Floats, t: Floats) -> Triple:
    """The values of each path at the times that fall to it."""
    flat, owner = t.reshape(-1), panel_of(starts, t).reshape(-1)
    results: tuple[Floats, ...] = ()
    for k in np.unique(owner) if owner.size else [0]:
        here, path = owner == k, paths[k]
        values = path.motion(np.clip(flat[here] - starts[k], 0.0, path.duration))
        results = results or tuple(np.empty((len(flat), *v.shape[1:])) for v in values)
        for result, v in zip(results, values, strict=True):
            result[here] = v
    value, rate, acceleration = (r.reshape(*t.shape, *r.shape[1:]) for r in results)
    return value, rate, acceleration


def by_law(law: Law, course: Callable[[Floats], Triple]) -> Callable[[Floats], Triple]:
    """A motion from its value and its first and second derivatives by s: rates p' ds/dt and p''
    (ds/dt)² + p' d²s/dt²."""

    def motion(t: Floats) -> Triple:
        rate, change = law(t, 1)[..., None], law(t, 2)[..., None]
        value, first, second = course(law(t))
        return value, first * rate, second * rate**2 + first * change

    return motion


def meeting_times(law: Law, parameters: Floats) -> Floats:
    """The times at which a law passes given parameters, together with its own breaks."""
    from scipy.optimize import brentq

    crossed = [
        brentq(lambda t, s=s: float(law(t) - s), a, b, xtol=1e-14 * law.duration)
        for a, b in pairwise(law.breaks)
        for s in parameters
        if (law(a) - s) * (law(b) - s) < 0
    ]
    return np.unique([*law.breaks, *crossed])
