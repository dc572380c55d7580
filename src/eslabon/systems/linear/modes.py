"""Modes of a linear model: its poles as frequencies, damping ratios and time constants, with shapes
that can be animated.

A pole lambda of x' = A x has a right vector x, what moves, and a left one y, what excites it; y_k
x_k is the participation of state k in it. A model without velocity forces, M_r x'' + W x = 0 with W
symmetric, has real modes, orthogonal even where poles repeat: W x = omega^2 U x. Displacements that
no force answers to are rigid-body modes: poles at zero, taken out before the others are sought,
since a double zero would else be found to half its digits only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eslabon.answers import Answer, Block, Column, Table, quantities_table
from eslabon.arguments import Floats, count, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, InputError
from eslabon.model.configuration import integrate, normalize, velocity_names
from eslabon.model.scale import velocity_scales
from eslabon.solve.constraints.closed_configurations import CLOSURE
from eslabon.systems.linear.linear_model import LinearModel

if TYPE_CHECKING:
    from eslabon.drawing.animation import Animation
    from eslabon.systems.linear.mode_derivatives import ModeDerivatives

Complex = NDArray[np.complex128]

RIGID = 1e-11  # of the largest: a displacement that no force answers to
AXIS = 1e-9  # of the largest pole: what is zero, and what is on an axis
SYMMETRIC = 1e-12
ROUND_OFF = 1e-14  # of the forces that hold the state: a stiffness, a radian or metre, that is none

OSCILLATION, DECAY, GROWTH, RIGID_BODY, NEUTRAL = (
    "oscillation",
    "decay",
    "growth",
    "rigid-body",
    "neutral",
)


@dataclass(frozen=True, eq=False, repr=False)
class Mode(Answer):
    """One mode: a pair of conjugate poles, or a real one.

    Attributes
    ----------
    pole : the pole, of a pair that with positive imaginary part.
    kind : "oscillation", "decay", "growth", "rigid-body" (a displacement or a constant velocity
        that no force answers to), or "neutral" (another pole at zero: the change to a neighbouring
        steady motion).
    frequency, hertz : the natural frequency |pole|, in rad/s and in Hz; zero but for oscillations.
    damping : the damping ratio -Re(pole) / |pole|; of a real pole 1 or -1, of one at zero 0.
    time_constant : -1 / Re(pole), negative where the mode grows, infinite where it does neither.
    shape : (nv,), complex: small displacements of all joints along their velocities. The largest is
        one: a radian, or a length as long as the mechanism's size.
    participation : by the name of a state, how much of it is in the mode; they add up to one.

    >>> import eslabon as es
    >>> mode = es.load("double_pendulum").linearize([0.0, 0.0]).modes()[0]
    >>> mode.kind, round(float(mode.frequency), 3)
    ('oscillation', 2.68)
    """

    lm: LinearModel
    pole: complex
    kind: str
    shape: Complex
    participation: dict[str, float]

    @property
    def frequency(self) -> float:
        """The undamped natural frequency in rad/s, the pole's distance from zero; 0 unless it
        oscillates."""
        return abs(self.pole) if self.kind == OSCILLATION else 0.0

    @property
    def hertz(self) -> float:
        """The undamped natural frequency in cycles a second."""
        return self.frequency / (2 * np.pi)

    @property
    def damping(self) -> float:
        """The damping ratio: 0 undamped, 1 critical, negative where it grows."""
        return -self.pole.real / abs(self.pole) if self.pole else 0.0

    @property
    def time_constant(self) -> float:
        """How long it takes to fall to 1/e, in seconds; negative where it grows."""
        return -1 / self.pole.real if self.pole.real else np.inf

    def configurations(self, amplitude: float = 0.2, frames: int = 24) -> Floats:
        """Closed configurations (frames, nq) over one period of the mode, its damping left out, to
        be shown one after another; `amplitude` is the largest displacement, in radians or parts of
        the mechanism's size. A real mode swings to and fro.

        >>> import eslabon as es
        >>> m = es.load("four_bar_spring")
        >>> q = m.linearize(m.assemble([1.2])).modes()[0].configurations(0.1, frames=4)
        >>> q.shape, bool(abs(m.constraint(q)).max() < 1e-10)
        ((4, 3), True)
        """
        m, frames = self.lm.layout.model, count(frames, "frames", 1)
        turn = np.exp(2j * np.pi * np.arange(frames) / frames)
        turn = (
            turn if self.kind == OSCILLATION else -1j * turn
        )  # a real mode begins where the mechanism stands
        away = positive(amplitude, "amplitude") * (turn[:, None] * self.shape).real
        return _closed(
            self.lm, np.asarray(integrate(m, np.broadcast_to(self.lm.q, (frames, m.nq)), away))
        )

    def animate(
        self, path: str | Path | None = None, *, amplitude: float = 0.2, period: float = 2.0, periods: int = 1, fps: float = 30.0,
        size: Any = None, trace: Any = None, theme: str | None = None, progress: bool | None = None, **picture: Any,
    ) -> Animation:  # fmt: skip
        """The mode as an animation that a notebook plays; with a path it is written too, as .mp4,
        .gif or .html.

        A period takes `period` seconds of the film, whatever the frequency; of a GIF one is enough,
        which begins again. Other options are those of the `animate` of simulated motions.

        >>> import eslabon as es
        >>> m = es.load("four_bar_spring")
        >>> m.linearize(m.assemble([1.2])).modes()[0].animate(fps=8)
        <Animation of four_bar_spring: 16 frames, 2 s at 8 frames a second>
        """
        from eslabon.drawing.animation import animation

        steps = max(2, round(positive(period, "period") * positive(fps, "fps")))
        q = np.tile(self.configurations(amplitude, steps), (count(periods, "periods", 1), 1))
        picture.setdefault("title", f"{self.lm.name}, mode of {_told(self)}")
        given = {
            "fps": fps,
            "size": size,
            "trace": trace,
            "theme": theme,
            "progress": progress,
            **picture,
        }
        if isinstance(path, str | Path) and Path(path).suffix.lower() == ".html":
            del given["title"]  # a page has its own
        return animation(self._model(), np.arange(len(q)) / fps, q, path, **given)

    def plot(self, *, amplitude: float = 0.2, ghosts: int = 8, **options: Any) -> Any:
        """A figure of the mechanism where it was linearized, among ghosts of how it moves; options
        are those of `m.plot`.

        >>> import eslabon as es
        >>> mode = es.load("double_pendulum").linearize([0.0, 0.0]).modes()[0]
        >>> len(mode.plot(ghosts=2).axes)
        1
        """
        from eslabon.drawing.draw import draw

        q = np.concatenate(
            [self.configurations(amplitude, count(ghosts, "ghosts", 1)), self.lm.q[None]]
        )
        return draw(
            self._model(), q, **{"title": f"{self.lm.name}, mode of {_told(self)}", **options}
        )

    def contents(self) -> Iterator[Block]:
        """Pole, frequency and damping, and how much each state takes part.

        >>> import eslabon as es
        >>> mode = es.load("double_pendulum").linearize([0.0, 0.0]).modes()[0]
        >>> next(mode.contents()).rows[0]
        ('kind', 'oscillation', '')
        """
        yield quantities_table(
            [
                (Column("kind"), self.kind),
                (Column("pole", "1/s"), self.pole),
                (Column("frequency", "rad/s"), self.frequency),
                (Column("frequency", "Hz"), self.hertz),
                (Column("damping ratio"), self.damping),
                (Column("time constant", "s"), self.time_constant),
                (Column("shape"), self.shape),
                (Column("participation"), self.participation),
            ]
        )

    def _model(self) -> Any:
        """The mechanism with the parameters that it was linearized with."""
        m, given = self.lm.layout.model, self.lm.layout.request.parameters
        return m.with_parameters(**{name: float(x) for name, x in given.items()}) if given else m

    def __repr__(self) -> str:
        return f"<Mode of {self.lm.name}: {self.kind}, {_told(self)}>"


class Modes(Answer):
    """The modes of a linear model, slowest first; of many models, arrays with their leading axes,
    and `modes[k]` are those of one. Of one model `modes[k]` is a `Mode`, a conjugate pair being
    one.

    Attributes
    ----------
    poles : (..., 2n), by size, of a pair that with positive imaginary part first.
    frequencies, hertz : |poles|, in rad/s and Hz.
    damping : damping ratios -Re(poles) / |poles|, zero for poles at zero.
    zero : which poles are at zero: those of rigid-body modes.
    vectors : (..., 2n, 2n), a column of the states for each pole.
    shapes : (..., nv, 2n), displacements of all joints for each pole; the largest is one.
    participation : (..., 2n, 2n), of each state in each pole; columns add up to one.

    >>> import eslabon as es
    >>> len(es.load("double_pendulum").linearize([0.0, 0.0]).modes())
    2
    """

    def __init__(self, lm: LinearModel) -> None:
        self.lm = lm
        shape, n = lm.batch, lm.dof
        lanes = prod(shape)
        A, U, W, V = (x.reshape(lanes, *x.shape[len(shape) :]) for x in (lm.A, lm.U, lm.W, lm.V))
        held = np.broadcast_to(np.abs(lm.tau).max(axis=-1, initial=0.0), shape).reshape(lanes, 1, 1)
        known = np.asarray(np.isfinite(A).all(axis=(1, 2)))  # what is given no number has no modes
        A, V, W = (np.where(known[:, None, None], x, 0.0) for x in (A, V, W))
        U = np.where(known[:, None, None], U, np.eye(n))
        made = _all_modes(A, U, V, np.where(np.abs(W) > ROUND_OFF * held, W, 0.0))
        for x in made[:3]:
            x[~known] = np.nan
        self.poles, self.vectors, self.participation, self.zero = (
            x.reshape((*shape, *x.shape[1:])) for x in made
        )
        self._n = n

    @property
    def frequencies(self) -> Floats:
        """The poles' distances from zero, rad/s."""
        return np.abs(self.poles)

    @property
    def hertz(self) -> Floats:
        """The same in cycles a second."""
        return self.frequencies / (2 * np.pi)

    @property
    def damping(self) -> Floats:
        """The damping ratios."""
        size = self.frequencies
        return np.where(size == 0, 0.0, -self.poles.real / np.where(size == 0, 1.0, size))

    @cached_property
    def shapes(self) -> Complex:
        """The motion of all joints in each mode, `(..., nv, modes)`, complex."""
        m = self.lm.layout.model
        made = self.lm.position_map @ self.vectors[..., : self._n, :]
        if not made.size:
            return np.asarray(made, dtype=complex)
        comparable = made * velocity_scales(m)[:, None]
        largest = np.argmax(np.abs(comparable).round(9), axis=-2, keepdims=True)
        return np.asarray(made / np.take_along_axis(comparable, largest, axis=-2))

    def derivative(
        self, parameter: str, following: str = "forces", held: Any = None, singular: str = "error"
    ) -> ModeDerivatives:
        """How poles, natural frequencies and damping ratios change with a parameter of the
        mechanism, exact.

        The independent coordinates stay where they are, or what is `held` in their place, and the
        loops closed. With `following="forces"` the actuators' forces change so that the state stays
        an equilibrium; with "coordinates" the equilibrium moves under the same forces; with
        "nothing" these stay as they are and what was an equilibrium may be none. Repeated poles
        have a derivative if they stay together, as those of rigid-body motions do; else they are an
        error, or NaN with `singular` "warn" or "ignore".

        >>> import eslabon as es
        >>> m = es.load("four_bar_spring")
        >>> m.linearize(m.assemble([2.2])).modes().derivative("k")
        <ModeDerivatives of four_bar_spring by k: 0.1344 at 2.03 rad/s>
        """
        from eslabon.systems.linear.mode_derivatives import mode_derivatives

        return mode_derivatives(self, parameter, following, held, singular)

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.lm.batch

    @cached_property
    def _listed(self) -> list[Mode]:
        """A mode for each real pole and each pair."""
        return [self._mode(int(k)) for k in np.flatnonzero(self.poles.imag >= 0)]

    def _mode(self, k: int) -> Mode:
        pole = complex(self.poles[k])
        real = DECAY if pole.real < 0 else GROWTH
        kind = self._neutral(k) if self.zero[k] else OSCILLATION if pole.imag else real
        shares = dict(zip(self.lm.states, self.participation[:, k].tolist(), strict=True))
        return Mode(self.lm, pole, kind, self.shapes[:, k], shares)

    def _neutral(self, k: int) -> str:
        """What a pole at zero is."""
        answer = np.abs(self.lm.A[:, : self._n] @ self.vectors[: self._n, k])
        answered = (
            answer.max() > 1e-6 * np.abs(self.lm.A).max() * np.abs(self.vectors[: self._n, k]).max()
        )
        return NEUTRAL if answered else RIGID_BODY

    def __len__(self) -> int:
        return self.batch[0] if self.batch else len(self._listed)

    def __getitem__(self, index: Any) -> Any:
        if not self.batch:
            if not isinstance(index, int | np.integer | slice):
                raise InputError(
                    f"modes of {self.lm.name} are numbered from 0 to {len(self) - 1}; there is no {index!r}."
                )
            return self._listed[index]
        return Modes(self.lm[index])

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def contents(self) -> Iterator[Block]:
        """A row for each mode of one model."""
        if not self.batch:
            heads, *rows = _rows(self.lm, self._listed)
            yield Table(tuple(map(Column, heads)), rows)

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        if self.batch:
            return f"<Modes of {'x'.join(map(str, self.batch))} linear models of {self.lm.name}>"
        if not self._listed:
            return f"<Modes of {self.lm.name}: none>"
        return _table(self.lm, self._listed)


def modes(lm: LinearModel) -> Modes:
    """The modes of a linear model, or of many."""
    return Modes(lm)


# -- vectors -----------------------------------------------------------------------------------------------------------


def _all_modes(A: Floats, U: Floats, V: Floats, W: Floats) -> tuple[Any, ...]:
    """Poles, vectors, participation, and which poles are rigid-body modes, for lanes of models, in
    order of size."""
    lanes, n = len(A), U.shape[-1]
    poles, vectors = (
        np.zeros((lanes, 2 * n), dtype=complex),
        np.zeros((lanes, 2 * n, 2 * n), dtype=complex),
    )
    shares, rigid = np.zeros((lanes, 2 * n, 2 * n)), np.zeros((lanes, 2 * n), dtype=bool)
    if not n:
        return poles, vectors, shares, rigid
    plain = _conservative(A, V, W)
    if plain.any():
        poles[plain], vectors[plain], shares[plain], rigid[plain] = _undamped(U[plain], W[plain])
    if not plain.all():
        poles[~plain], vectors[~plain], shares[~plain], rigid[~plain] = _general(A[~plain])
    order = np.lexsort(
        (-poles.imag, poles.real.round(12), np.abs(poles).round(12), ~rigid), axis=-1
    )
    across = order[:, None, :]
    return (
        np.take_along_axis(poles, order, axis=-1), np.take_along_axis(vectors, across, axis=-1),
        np.take_along_axis(shares, across, axis=-1), np.take_along_axis(rigid, order, axis=-1),
    )  # fmt: skip


def _conservative(A: Floats, V: Floats, W: Floats) -> Any:
    """Which lanes have no velocity forces and a potential."""
    n = V.shape[-1]
    still = ~A[:, :n, :n].any(axis=(1, 2)) & ~V.any(axis=(1, 2))
    skew, size = np.abs(W - np.swapaxes(W, 1, 2)).max(axis=(1, 2)), np.abs(W).max(axis=(1, 2))
    return still & (skew <= SYMMETRIC * size)


def _undamped(U: Floats, W: Floats) -> tuple[Any, ...]:
    """W x = omega^2 U x by the Cholesky factor of U: x mass-normalised, poles +-i omega, or +-sigma
    where it is unstable."""
    L = np.linalg.cholesky(U)
    root = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, (W + np.swapaxes(W, 1, 2)) / 2), 1, 2))
    squares, y = np.linalg.eigh((root + np.swapaxes(root, 1, 2)) / 2)
    x = np.linalg.solve(np.swapaxes(L, 1, 2), y)
    free = np.abs(squares) <= RIGID * np.abs(squares).max(axis=-1, keepdims=True)
    poles = np.sqrt(np.where(free, 0.0, -squares).astype(complex))
    shares = np.abs(x * (U @ x))
    shares = shares / shares.sum(axis=1, keepdims=True) / 2
    rates = x * poles[:, None]
    vectors = np.block([[x, x], [rates, -rates]])
    return (
        np.concatenate([poles, -poles], axis=-1),
        vectors,
        np.tile(shares, (1, 2, 2)),
        np.tile(free, 2),
    )


def _general(A: Floats) -> tuple[Any, ...]:
    """Right and left vectors of A, its rigid-body displacements taken out first."""
    n = A.shape[-1] // 2
    _, size, Vt = np.linalg.svd(A[:, :, :n])
    free = size <= RIGID * size.max(axis=-1, keepdims=True)
    basis = np.swapaxes(Vt * free[..., None], 1, 2)
    rigid = basis @ np.swapaxes(basis, 1, 2)
    deflated = A.copy()
    deflated[:, :n] -= (
        rigid @ A[:, :n]
    )  # displacements along it lead nowhere, and are led to from nowhere
    poles, X = np.linalg.eig(deflated)
    zero = np.abs(poles) <= AXIS * np.abs(poles).max(axis=-1, keepdims=True)
    poles = np.where(zero, 0.0, poles)
    poles = np.where(np.abs(poles.imag) <= 1e-12 * np.abs(poles), poles.real, poles)
    shares = np.abs(X * np.swapaxes(np.linalg.pinv(X), 1, 2))
    led = np.where(zero[:, None], 0.0, X[:, n:] / np.where(zero, 1.0, poles)[:, None])
    X = X.copy()
    X[:, :n] += rigid @ led
    X[:, :n] = np.where(zero[:, None], _rigid_shapes(X, rigid), X[:, :n])
    return poles, X, shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300), zero


def _rigid_shapes(X: Complex, rigid: Floats) -> Complex:
    """The displacement of a pole at zero: its own, or, of one that goes on at constant velocity,
    that of the velocity."""
    n = rigid.shape[-1]
    own = X[:, :n]
    still = np.abs(own).max(axis=1, keepdims=True) < 1e-6 * np.abs(X).max(axis=1, keepdims=True)
    return np.where(still, X[:, n:], own)


# -- configurations ----------------------------------------------------------------------------------------------------


def _closed(lm: LinearModel, q: Floats) -> Floats:
    """Configurations taken onto the constraint manifold of the model's own parameters by least
    steps."""
    m, given = lm.layout.model, lm.layout.request.parameters
    q = np.asarray(normalize(m, q))
    if not m.closed:
        return q
    closure = evaluate(m, CLOSURE, tuple(given))
    for _ in range(30):
        phi, J = closure(q, *(np.full(len(q), float(x)) for x in given.values()))
        if np.abs(phi).max(initial=0.0) < 1e-12:
            break
        q = np.asarray(
            normalize(
                m, integrate(m, q, -np.einsum("lij,lj->li", np.linalg.pinv(J, rcond=1e-9), phi))
            )
        )
    if not np.abs(phi).max(initial=0.0) < 1e-10:
        raise AssemblyError(
            f"{m.name} does not close so far from its state; take a smaller amplitude."
        )
    return q


# -- what is shown -----------------------------------------------------------------------------------------------------


def _told(mode: Mode) -> str:
    if mode.kind == OSCILLATION:
        return f"{mode.frequency:.6g} rad/s ({mode.hertz:.4g} Hz), damping ratio {mode.damping + 0.0:.4g}"
    return "pole at zero" if not mode.pole else f"time constant {mode.time_constant:.6g} s"


def _rows(lm: LinearModel, listed: list[Mode]) -> list[list[str]]:
    """The headings, then a row for each mode."""
    names = velocity_names(lm.layout.model)
    rows = [["", "kind", "rad/s", "Hz", "damping", "time constant", "what moves"]]
    for k, mode in enumerate(listed):
        swings = mode.kind == OSCILLATION
        order = np.argsort(-np.abs(mode.shape * velocity_scales(lm.layout.model)), kind="stable")[
            :3
        ]
        moves = ", ".join(
            f"{names[j]} {mode.shape[j].real + 0.0:.3g}" for j in order if abs(mode.shape[j]) > 1e-9
        )
        numbers = (
            [f"{mode.frequency:.6g}", f"{mode.hertz:.4g}", f"{mode.damping + 0.0:.4g}"]
            if swings
            else ["", "", ""]
        )
        finite = np.isfinite(mode.time_constant) and abs(mode.damping) > 1e-12
        rows.append(
            [str(k), mode.kind, *numbers, f"{mode.time_constant:.4g} s" if finite else "", moves]
        )
    return rows


def _table(lm: LinearModel, listed: list[Mode]) -> str:
    rows = _rows(lm, listed)
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([*(x.rjust(w) for x, w in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
    return "\n".join([f"Modes of {lm.name}", *(f"  {line}".rstrip() for line in lines)])
