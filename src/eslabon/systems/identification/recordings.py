"""What was measured: times, coordinates and actuators' forces, from a simulated motion, a table or
arrays.

Velocities and accelerations that were not measured are derivatives of quintic splines, which follow
the coordinates in least squares up to a cutoff frequency and have no phase. A zero-phase low-pass
filter of the same cutoff then goes over both sides of the equations, which keeps them linear in the
same parameters (parallel filtering; Gautier, 1997), and so many samples are left as tell something
new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats, positive
from eslabon.errors import InputError, ModelError
from eslabon.model import Model
from eslabon.model.configuration import normalize
from eslabon.motion.motion_forms import as_trajectory
from eslabon.motion.trajectory import Trajectory
from eslabon.solve.assembly import complete, project

ORDER = 8  # of the Butterworth filter, which runs forward and backward
MARGIN = 1.25  # the cutoff over the highest frequency that stands out of the noise
KNOTS = 3.0  # of the splines, a second, over the cutoff: an acceleration at the cutoff is followed to a few percent
STANDS_OUT = 10.0  # times the noise's power
FLAT = 1.89  # samples a second over the cutoff at which filtered white noise is white again: 2 (sqrt(2) - 1)^(1/16)
EVEN = 1e-3  # of a time step: recorded times that differ by less are even
FEWEST = 20  # samples that can be filtered and differentiated


# -- what users give --------------------------------------------------------------------------------------------------


def recordings(m: Model, given: Any) -> list[Trajectory]:
    """One recorded motion or several: any motion with the actuators' forces, or a list of them."""
    if isinstance(given, list) or (isinstance(given, tuple) and not _is_one(given)):
        if not given:
            raise InputError("there is no motion to identify from; give one, or a list of them.")
        return [each for one in given for each in recordings(m, one)]
    motion = as_trajectory(m, given, need=("q", "tau"), on_loops=False)
    if len(motion.t) < FEWEST:
        raise InputError(
            f"a motion to identify from has at least {FEWEST} times; {motion!r} has {len(motion.t)}."
        )
    if not m.nu:
        raise ModelError(
            f"{m.name} has no actuator, and without a known force motion tells ratios of masses only."
        )
    if not motion.whole and not m.closed:
        raise InputError(
            f"{motion!r} is not enough: the joints of {m.name} do not follow from them."
        )
    return [motion[index] for index in np.ndindex(motion.batch)] if motion.batch else [motion]


def _is_one(given: tuple[Any, ...]) -> bool:
    """Whether a tuple is one motion (t, q, ...): its first item is a row of times."""
    return bool(given) and not isinstance(given[0], tuple | Mapping | str | Path | Trajectory)


# -- states of the mechanism ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filter:
    """A zero-phase low-pass filter of even samples: cutoff and rate in Hz."""

    cutoff: float
    rate: float

    def __call__(self, x: Floats) -> Floats:
        """Filtered along the first axis, forward and backward, up to where the samples that are
        kept tell all."""
        from scipy.signal import butter, sosfiltfilt

        if self.step == 1:
            return x
        sections = butter(ORDER, self.rate / (FLAT * self.step), fs=self.rate, output="sos")
        return sosfiltfilt(sections, x, axis=0, padlen=min(len(x) - 1, 8 * self.step))

    @property
    def step(self) -> int:
        """Every how many samples tell something new."""
        return max(1, int(self.rate / (FLAT * self.cutoff)))

    @property
    def settled(self) -> int:
        """Samples at either end that have too few neighbours for a derivative: more than a piece of
        a spline."""
        return int(np.ceil(self.rate / self.cutoff))

    def gain(self, count: int) -> float:
        """The standard deviation that white noise keeps."""
        impulse = np.zeros((count, 1))
        impulse[count // 2] = 1.0
        return float(np.linalg.norm(self(impulse)))

    def kept(self, x: Floats) -> Floats:
        """What is left after the ends are cut off, of every so many samples one."""
        return x[self.settled : len(x) - self.settled : self.step]


@dataclass(frozen=True)
class Sampled:
    """States of the mechanism in time, and the filter that both sides of the equations are to
    pass."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    low_pass: Filter | None = None


def sampled(m: Model, r: Trajectory, cutoff: float | None, guess: Any) -> Sampled:
    """Coordinates, velocities and accelerations of all joints, on the loops where there are
    some."""
    low_pass = None
    t, q, tau = r.t, r.q, r.tau
    v = r.groups.get("v")
    a = r.a if "a" in r.groups or (v is not None and r.source is None and _simulated(r)) else None
    if v is None or a is None or cutoff is not None:
        _refuse_quaternions(m, q)
        t = np.linspace(r.t[0], r.t[-1], len(r.t))
        low_pass = _filter_of(r, cutoff)
        position = _course(r.t, q, low_pass)
        speed = position.derivative() if v is None else _course(r.t, v, low_pass)
        q, v, a = position(t), speed(t), speed(t, 1) if a is None else _course(r.t, a, low_pass)(t)
        tau = np.stack(
            [np.interp(t, r.t, x) for x in r.tau.T], axis=-1
        )  # friction jumps: no spline goes through that
    assert v is not None
    assert a is not None
    if m.closed:
        q, v, a = _closed(m, q, v, a, guess)
    return Sampled(t, normalize(m, q), v, a, tau, low_pass)


def _simulated(r: Trajectory) -> bool:
    """Whether its accelerations follow from the forces of a run."""
    return r.statistics.steps > 0 and r.whole


def _filter_of(r: Trajectory, cutoff: float | None) -> Filter:
    """The filter of a recording, which leaves something of it."""
    rate = (len(r.t) - 1) / float(r.t[-1] - r.t[0])
    chosen = Filter(
        positive(cutoff, "cutoff") if cutoff is not None else usual_cutoff(r.t, r.q, rate), rate
    )
    if len(r.t) - 2 * chosen.settled < FEWEST:
        raise InputError(
            f"a filter of {chosen.cutoff:.3g} Hz leaves nothing of {r.t[-1] - r.t[0]:.3g} s; record longer, or give a higher "
            "cutoff."
        )
    return chosen


def _course(t: Floats, x: Floats, low_pass: Filter) -> Any:
    """A quintic spline: through what was recorded, or, where that is denser than the cutoff needs,
    near it in least squares."""
    from scipy.interpolate import make_interp_spline, make_lsq_spline

    pieces = int(np.ceil(KNOTS * low_pass.cutoff * (t[-1] - t[0])))
    if 2 * pieces > len(t):
        return make_interp_spline(t, x, k=5)
    inner = np.linspace(t[0], t[-1], pieces + 1)
    return make_lsq_spline(t, x, np.concatenate([[t[0]] * 5, inner, [t[-1]] * 5]), k=5)


def _refuse_quaternions(m: Model, q: Floats) -> None:
    recorded = m.joints if q.shape[-1] == m.nq else [m.joint(name) for name in m.actuated]
    turning = [j.name for j in recorded if j.kind.has_quaternion]
    if turning:
        raise InputError(
            f"joint '{turning[0]}' of {m.name} turns by a quaternion, whose numbers cannot be filtered one by one; record its "
            "velocities and accelerations too, and leave cutoff out."
        )


def usual_cutoff(t: Floats, q: Floats, rate: float) -> float:
    """Above the highest frequency at which the coordinates stand out of their noise, which is all
    there is in the upper half of the spectrum."""
    from scipy.interpolate import make_interp_spline
    from scipy.ndimage import uniform_filter1d
    from scipy.signal import detrend

    even = np.linspace(t[0], t[-1], len(t))
    if np.abs(t - even).max() > EVEN * (even[1] - even[0]):
        q = make_interp_spline(t, q, k=3)(even)
    window = np.hanning(len(q))[:, None]
    power = np.abs(np.fft.rfft(window * detrend(q, axis=0), axis=0)) ** 2
    frequency = np.fft.rfftfreq(len(q), 1 / rate)
    smooth = uniform_filter1d(
        power, 9, axis=0, mode="constant"
    )  # chance does not lift nine neighbours
    floor = np.median(power[len(power) // 2 :], axis=0)
    alive = (smooth > STANDS_OUT * floor) & (power.max(axis=0) > 1e-20)
    highest = frequency[np.flatnonzero(alive.any(axis=1))].max(initial=2 * frequency[1])
    return float(min(MARGIN * highest, 0.45 * rate))


def _closed(m: Model, q: Floats, v: Floats, a: Floats, guess: Any) -> tuple[Floats, Floats, Floats]:
    """The states on the loops: the nearest ones, or those that follow from the actuated joints."""
    if q.shape[-1] == m.nq:
        q, v, a = project(m, q, v, a, limits=False)
    else:
        q, v, a = complete(m, q, v, a, guess, continuation=True, limits=False)
    return q, v, a
