"""Observers fed with what was recorded: outputs and inputs at times, of one experiment or of
many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats, finite, states
from eslabon.errors import InputError
from eslabon.numerics.scalars import times as product
from eslabon.systems.linear.linear_system import zero_order_hold

if TYPE_CHECKING:
    from eslabon.systems.control.observers import LinearObserver


def record(
    t: Any, y: Any, u: Any, start: Any, sizes: tuple[int, int, int]
) -> tuple[float, Floats, Floats, Floats]:
    """The spacing of the times, outputs and inputs with the times in front, and the estimate at the
    start."""
    n, ny, nu = sizes
    t = finite(t, "t")
    if (
        t.ndim != 1
        or len(t) < 2
        or not np.allclose(np.diff(t), t[1] - t[0], rtol=1e-6)
        or t[1] <= t[0]
    ):
        raise InputError(
            "the times of a record increase by equal steps, and there are two or more of them."
        )
    y = states(y, "y", ny, "the system", "outputs")
    u = np.zeros((len(t), nu)) if u is None else states(u, "u", nu, "the system", "inputs")
    start = np.zeros(n) if start is None else states(start, "start", n, "the system", "states")
    for x, name in ((y, "y"), (u, "u")):
        if x.shape[-2:-1] != (len(t),):
            raise InputError(
                f"{name} has shape {x.shape}; a record of {len(t)} times is (..., {len(t)}, {x.shape[-1]})."
            )
    try:
        batch = np.broadcast_shapes(y.shape[:-2], u.shape[:-2], start.shape[:-1])
    except ValueError:
        raise InputError(
            f"leading axes do not fit together: y has {y.shape[:-2]}, u {u.shape[:-2]}, start {start.shape[:-1]}."
        ) from None
    y, u = (np.moveaxis(np.broadcast_to(x, (*batch, *x.shape[-2:])), -2, 0) for x in (y, u))
    return float(t[1] - t[0]), y, u, np.broadcast_to(start, (*batch, n))


def sampled(observer: LinearObserver, t: Any, y: Any, u: Any, start: Any) -> Floats:
    """The estimates of an observer in discrete time along a record of samples."""
    p = observer.plant
    h, y, u, start = record(t, y, u, start, (len(p.A), len(p.C), p.B.shape[1]))
    if p.period is None or not np.isclose(h, p.period, rtol=1e-6):
        raise InputError(
            f"the record has a sample every {h:g} s; the observer was designed for {p.period:g} s."
        )
    z, made = observer.start(start), []
    for now, drive in zip(y - product(p.D, u), product(p.B, u), strict=True):
        made.append(observer.estimate(z, now))
        z = observer.advance(z, now, made[-1], drive)
    return np.stack(made, axis=-2)


def continuous(observer: LinearObserver, t: Any, y: Any, u: Any, start: Any) -> Floats:
    """The estimates of an observer in continuous time: between two times of the record the outputs
    run straight and the inputs are held, for which each step is exact."""
    p, (F, G, Z, *_) = observer.plant, observer.steps
    h, y, u, start = record(t, y, u, start, (len(p.A), len(p.C), p.B.shape[1]))
    z, y = observer.start(start), y - product(p.D, u)
    step, constant = zero_order_hold(F, G, h)
    ramp, forced = _ramp(F, G, h), zero_order_hold(F, Z @ p.B, h)[1]
    made = [observer.estimate(z, y[0])]
    for k in range(len(y) - 1):
        z = (
            product(step, z)
            + product(constant, y[k])
            + product(ramp, y[k + 1] - y[k])
            + product(forced, u[k])
        )
        made.append(observer.estimate(z, y[k + 1]))
    return np.stack(made, axis=-2)


def _ramp(F: Floats, G: Floats, h: float) -> Floats:
    """What an input that grows from 0 to 1 over the time h adds to the state."""
    n, m = G.shape
    both = np.zeros((n + m, n + m))
    both[:n, :n], both[:n, n:] = F, G
    unit = np.vstack([np.zeros((n, m)), np.eye(m)])
    return zero_order_hold(both, unit, h)[1][:n] / h
