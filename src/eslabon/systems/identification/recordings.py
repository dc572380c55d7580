"""What was measured: times, coordinates and actuators' forces, from a simulated motion, a table or arrays.

Velocities and accelerations that were not measured are derivatives of quintic splines, which follow the coordinates in least
squares up to a cutoff frequency and have no phase. A zero-phase low-pass filter of the same cutoff then goes over both sides of
the equations, which keeps them linear in the same parameters (parallel filtering; Gautier, 1997), and so many samples are left
as tell something new.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats, file_path, finite, known_words, positive, states
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, ReadError, file_name, format_value, suggest
from eslabon.model import Model, as_model
from eslabon.model.configuration import normalize
from eslabon.motion.trajectory import Trajectory, columns
from eslabon.pages.notebook import in_time
from eslabon.sheets import from_inert
from eslabon.solve.assembly import complete, project

ORDER = 8  # of the Butterworth filter, which runs forward and backward
MARGIN = 1.25  # the cutoff over the highest frequency that stands out of the noise
KNOTS = 3.0  # of the splines, a second, over the cutoff: an acceleration at the cutoff is followed to a few percent
STANDS_OUT = 10.0  # times the noise's power
FLAT = 1.89  # samples a second over the cutoff at which filtered white noise is white again: 2 (sqrt(2) - 1)^(1/16)
EVEN = 1e-3  # of a time step: recorded times that differ by less are even
FEWEST = 20  # samples that can be filtered and differentiated

DEGREE = np.pi / 180
UNITS = {
    "s": {"s": 1.0, "ms": 1e-3}, "rad": {"rad": 1.0, "deg": DEGREE}, "m": {"m": 1.0, "mm": 1e-3}, "": {},
    "rad/s": {"rad/s": 1.0, "deg/s": DEGREE}, "m/s": {"m/s": 1.0, "mm/s": 1e-3},
    "rad/s²": {"rad/s²": 1.0, "rad/s^2": 1.0, "deg/s²": DEGREE, "deg/s^2": DEGREE},
    "m/s²": {"m/s²": 1.0, "m/s^2": 1.0, "mm/s²": 1e-3, "mm/s^2": 1e-3},
    "N m": {"N m": 1.0, "Nm": 1.0, "mNm": 1e-3, "mN m": 1e-3}, "N": {"N": 1.0, "mN": 1e-3, "kN": 1e3},
}  # fmt: skip
_HEADING = re.compile(
    r"(?P<joint>.+)\.(?P<what>q|v|a|tau)(?:\.(?P<name>\w+))?\s*(?:\[(?P<unit>.*)\])?", re.DOTALL
)
_TIME = re.compile(r"(?:t|time)\s*(?:\[(?P<unit>.*)\])?", re.IGNORECASE)


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """One recorded motion: times (n,), coordinates (n, nq), or with loops those of the actuated joints alone, and actuators'
    forces (n, nu); velocities and accelerations where they were measured too.

    >>> import numpy as np
    >>> t = np.linspace(0, 1, 101)
    >>> Recording(t, np.sin(t)[:, None], np.zeros((101, 1)))
    <Recording: 101 samples, 0 to 1 s, q, tau>
    """

    t: Floats
    q: Floats
    tau: Floats
    v: Floats | None = None
    a: Floats | None = None

    def __post_init__(self) -> None:
        t = finite(self.t, "t")
        if t.ndim != 1 or len(t) < FEWEST or not (np.diff(t) > 0).all():
            raise InputError(
                f"a recording has at least {FEWEST} times that increase; t has the shape {t.shape}."
            )
        object.__setattr__(self, "t", t)
        for name in ("q", "tau", "v", "a"):
            if (value := getattr(self, name)) is not None:
                array = np.atleast_1d(finite(value, name))
                if array.shape[:-1] != t.shape:
                    raise InputError(
                        f"{name} has the shape {array.shape}; a recording of {len(t)} times has ({len(t)}, n)."
                    )
                object.__setattr__(self, name, array)

    def _pieces(self) -> Iterator[str]:
        own = {word: x for word in ("q", "v", "a", "tau") if (x := getattr(self, word)) is not None}
        yield in_time(
            self.t,
            ((f"{word}[{k}]", "", x[:, k]) for word, x in own.items() for k in range(x.shape[1])),
        )

    def __repr__(self) -> str:
        known = ", ".join(f.name for f in fields(self)[1:] if getattr(self, f.name) is not None)
        return f"<Recording: {len(self.t):,} samples, {self.t[0]:g} to {self.t[-1]:g} s, {known}>"


# -- what users give --------------------------------------------------------------------------------------------------


def recordings(m: Model, given: Any) -> list[Recording]:
    """One recording or several: a `Recording`, a `Trajectory`, a path to a .csv or .npz file, arrays by name, or a list of these."""
    if isinstance(given, list | tuple):
        if not given:
            raise InputError("there is no motion to identify from; give one, or a list of them.")
        return [each for one in given for each in recordings(m, one)]
    if isinstance(given, str | Path):
        return (
            [read_recording(m, given)]
            if Path(given).suffix.lower() != ".npz"
            else recordings(m, Trajectory.load(given))
        )
    if isinstance(given, Trajectory):
        return _of_motion(m, given)
    if isinstance(given, Mapping):
        known_words(given, [f.name for f in fields(Recording)], "a recording has no", InputError)
        if missing := [name for name in ("t", "q", "tau") if name not in given]:
            raise InputError(
                f"a recording needs t, q and tau; it has no {' and no '.join(missing)}."
            )
        return recordings(m, Recording(**given))
    if not isinstance(given, Recording):
        raise InputError(
            "a motion to identify from is a Trajectory, a Recording, the path of a .csv or .npz file, {'t': ..., 'q': ..., "
            f"'tau': ...}}, or a list of these; it is {format_value(given)}."
        )
    return [_fitting(m, given)]


def _of_motion(m: Model, motion: Trajectory) -> list[Recording]:
    own = columns(m)
    if any(motion.columns[what] != own[what] for what in ("q", "tau")):
        raise ModelError(
            f"{motion!r} has other joints or actuators than {m.name}; it is another mechanism's."
        )
    arrays = [x.reshape(-1, *x.shape[-2:]) for x in (motion.q, motion.tau, motion.v, motion.a)]
    return [_fitting(m, Recording(motion.t, *each)) for each in zip(*arrays, strict=True)]


def _fitting(m: Model, r: Recording) -> Recording:
    """The recording, if its arrays are of the mechanism's sizes."""
    driven = sum(m.joint(name).nq for name in m.actuated)
    sizes = (m.nq, driven) if m.closed else (m.nq,)
    if r.q.shape[-1] not in sizes:
        listed = " or ".join(map(str, dict.fromkeys(sizes)))
        raise InputError(
            f"q has {r.q.shape[-1]} columns; {m.name} has {listed} coordinates{_of_which(sizes)}."
        )
    states(r.tau, "tau", m.nu, m.name, "actuators")
    whole = r.q.shape[-1] == m.nq
    for name, x in (("v", r.v), ("a", r.a)):
        if x is not None:
            states(x, name, m.nv if whole else m.nu, m.name, "velocities")
    if not m.nu:
        raise ModelError(
            f"{m.name} has no actuator, and without a known force motion tells ratios of masses only."
        )
    return r


def _of_which(sizes: tuple[int, ...]) -> str:
    return f", {sizes[1]} of them of the actuated joints" if len(set(sizes)) > 1 else ""


def read_recording(m: Model, path: str | Path) -> Recording:
    """A recording from a table with a line of names: `t [s]`, and for each joint `joint.q [rad]`, `joint.tau [N m]` and, where
    they were measured, `joint.v` and `joint.a`; units may be left out. Columns of other names are not read.

    Of joints with several degrees of freedom the names are `joint.q.name`, as `Trajectory.save` writes them. With loops the
    coordinates of the actuated joints are enough.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import eslabon as es
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder, "run.csv")
    ...     rows = "".join(f"{0.01 * k},0.1,0.2,1.0,0.5\\n" for k in range(20))
    ...     _ = table.write_text("t,theta1.q,theta2.q,theta1.tau,theta2.tau\\n" + rows)
    ...     print(len(es.identification.read_recording(es.load("elbow"), table).t))
    20
    """
    made = read_table(as_model(m), path, ("q", "tau"))
    return (
        _of_motion(m, made)[0] if isinstance(made, Trajectory) else _fitting(m, Recording(**made))
    )


def read_table(m: Model, path: str | Path, needed: tuple[str, ...]) -> Trajectory | dict[str, Any]:
    """What a table holds: a motion that was saved, or arrays by name, those that are `needed` among them; see
    `read_recording`."""
    try:
        rows = list(csv.reader(file_path(path).read_text(encoding="utf-8-sig").splitlines()))
    except (
        OSError,
        ValueError,
        csv.Error,
    ) as error:  # the second for a name that no file can have, and for other encodings
        why = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise ReadError(f"{file_name(path)}: it cannot be read ({why}).") from None
    rows[:1] = [[from_inert(cell) for cell in row] for row in rows[:1]]
    if not rows or not (time := [k for k, h in enumerate(rows[0]) if _TIME.fullmatch(h.strip())]):
        raise ReadError(
            f"{path}: the first line names the columns, one of them 't' or 't [s]'; there is none."
        )
    if rows[0][-1].startswith("sha256 "):  # as `Trajectory.save` wrote it, so that damage shows
        return Trajectory.load(path)
    found = {("t", "", ""): time[0]}
    for k, heading in enumerate(rows[0]):
        if parts := _HEADING.fullmatch(heading.strip()):
            _known_joint(m, path, parts["joint"])
            found[parts["what"], parts["joint"], parts["name"] or ""] = k
    return _columns(m, _Table(path, rows), found, needed)


@dataclass(frozen=True)
class _Table:
    """Rows of texts under a line of names."""

    path: str | Path
    rows: list[list[str]]

    def column(self, k: int, unit: str) -> Floats:
        """The numbers of a column, in the SI unit."""
        factor = self._factor(k, unit)
        try:
            return factor * np.array([float(row[k]) for row in self.rows[1:] if row])
        except (ValueError, IndexError):
            bad = next(
                i for i, row in enumerate(self.rows[1:], 2) if row and not _is_number(row, k)
            )
            raise ReadError(
                f"{self.path}: line {bad} has no number under {format_value(self.rows[0][k])}."
            ) from None

    def _factor(self, k: int, unit: str) -> float:
        parts = (_TIME if unit == "s" else _HEADING).fullmatch(self.rows[0][k].strip())
        given = ((parts["unit"] or "") if parts else "").strip()
        if given and given not in UNITS[unit]:
            heading, known = format_value(self.rows[0][k]), suggest(given, UNITS[unit])
            raise ReadError(f"{self.path}: {heading} is in a unit that does not fit it{known}")
        return UNITS[unit].get(given, 1.0)


def _known_joint(m: Model, path: str | Path, name: str) -> None:
    if name not in m.velocities:
        raise ReadError(
            f"{path}: {m.name} has no joint {format_value(name)}{suggest(name, m.velocities)}"
        )


def _is_number(row: list[str], k: int) -> bool:
    try:
        return bool(np.isreal(float(row[k])))
    except (ValueError, IndexError):
        return False


def _columns(
    m: Model, table: _Table, found: Mapping[tuple[str, str, str], int], needed: tuple[str, ...]
) -> dict[str, Any]:
    """The arrays of a recording from the columns of a table."""
    own = columns(m)
    if m.closed and any(
        ("q", c.joint, c.name) not in found for c in own["q"]
    ):  # of the actuated joints alone
        own = {
            what: tuple(c for name in m.actuated for c in own[what] if c.joint == name)
            for what in own
        }
    made: dict[str, Any] = {"t": table.column(found["t", "", ""], "s")}
    for what in ("q", "tau", "v", "a"):
        keys = [(what, c.joint, c.name) for c in own[what]]
        missing = [
            ".".join(filter(None, (joint, what, name)))
            for _, joint, name in keys
            if (what, joint, name) not in found
        ]
        if missing and what in needed:
            raise ReadError(
                f"{table.path}: there is no column '{missing[0]}'; it has those of {_listed(found)}."
            )
        if not missing:
            values = [
                table.column(found[key], c.unit) for key, c in zip(keys, own[what], strict=True)
            ]
            made[what] = np.stack(values, axis=-1) if values else np.zeros((len(made["t"]), 0))
    return made


def _listed(found: Mapping[tuple[str, str, str], Any]) -> str:
    return ", ".join(f"{joint}.{what}" for what, joint, _ in found if joint) or "no joint"


# -- states of the mechanism ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filter:
    """A zero-phase low-pass filter of even samples: cutoff and rate in Hz."""

    cutoff: float
    rate: float

    def __call__(self, x: Floats) -> Floats:
        """Filtered along the first axis, forward and backward, up to where the samples that are kept tell all."""
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
        """Samples at either end that have too few neighbours for a derivative: more than a piece of a spline."""
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
    """States of the mechanism in time, and the filter that both sides of the equations are to pass."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    low_pass: Filter | None = None


def sampled(m: Model, r: Recording, cutoff: float | None, guess: Any) -> Sampled:
    """Coordinates, velocities and accelerations of all joints, on the loops where there are some."""
    low_pass = None
    t, q, v, a, tau = r.t, r.q, r.v, r.a, r.tau
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


def _filter_of(r: Recording, cutoff: float | None) -> Filter:
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
    """A quintic spline: through what was recorded, or, where that is denser than the cutoff needs, near it in least squares."""
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
    """Above the highest frequency at which the coordinates stand out of their noise, which is all there is in the upper half of
    the spectrum."""
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
