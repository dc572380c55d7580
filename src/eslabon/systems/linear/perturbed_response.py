"""What a linear model says of a perturbed motion beside what is true (Rojas, 5.4).

Along a nominal motion the forces of a neighbouring one differ by F dtau = U da + V dv + W dq to
first order (eq. 5.4.1). The difference of inverse dynamics of both motions is exact; what is left
between them grows with the square of the perturbation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer, figure
from eslabon.arguments import Floats, finite, states
from eslabon.errors import InputError, format_value
from eslabon.model import Model, as_model
from eslabon.model.configuration import difference, velocity_names
from eslabon.motion.motion_forms import as_trajectory, require_span
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.linearize import linearize

TERMS = ("W dq", "V dv", "U da")
COLUMNS = (*TERMS, "linear", "true", "linear - true")


@dataclass(frozen=True, eq=False, repr=False)
class Response(Answer):
    """The forces of a perturbed motion less those of the nominal one: linear, term by term, and
    true.

    Arrays are `(..., n)`, in the independent coordinates of the linear model, with the leading axes
    of the motions.

    Attributes
    ----------
    model : the linear models along the nominal motion.
    t : the times, or None where the motions have none.
    dq, dv, da : the perturbation of the independent coordinates, velocities and accelerations; of
        dq the displacements in the tangent space, as quaternions need it.
    W_dq, V_dv, U_da : the terms of the linear response.
    true : F dtau, with the difference dtau of both motions' actuator forces.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> response = es.linear.compare_response(m, ([0.1, 0.2], [0.0, 1.0], [1.0, 0.0]), ([0.101, 0.2], [0.0, 1.0], [1.0, 0.0]))
    >>> bool(abs(response.residual).max() < 1e-4)
    True
    """

    model: LinearModel
    t: Floats | None
    dq: Floats
    dv: Floats
    da: Floats
    W_dq: Floats
    V_dv: Floats
    U_da: Floats
    true: Floats

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the independent coordinates."""
        return self.model.coordinates

    @property
    def linear(self) -> Floats:
        """U da + V dv + W dq."""
        return self.U_da + self.V_dv + self.W_dq

    @property
    def residual(self) -> Floats:
        """Linear less true."""
        return self.linear - self.true

    def __getitem__(self, index: Any) -> Response:
        """Some of many states, by their leading axes: instants of one motion, or trajectories of
        many."""
        if not self.dq.shape[:-1]:
            raise InputError(
                f"{self!r} is that of one state, and there are no others to choose from."
            )
        t, axes = self.t, self.dq.ndim - 1
        if t is not None and axes == 1:
            t = t[index]
        elif isinstance(index, tuple) and (len(index) >= axes or Ellipsis in index):
            t = None  # instants of several trajectories: no times of one
        parts = {
            f.name: getattr(self, f.name)[index]
            for f in fields(self)
            if f.name not in ("t", "model")
        }
        return replace(self, model=self.model[index], t=t, **parts)

    def table(self, t: float | None = None) -> str:
        """The terms for each coordinate, as table 5.4.2 of Rojas has them; of a motion, those of
        the sample nearest to t.

        >>> import eslabon as es
        >>> m = es.load("double_pendulum")
        >>> nominal = ([0.1, 0.2], [0.0, 1.0], [1.0, 0.0])
        >>> perturbed = ([0.11, 0.2], [0.0, 1.0], [1.0, 0.1])
        >>> print(compare_response(m, nominal, perturbed).table())
                W dq  V dv      U da    linear      true  linear - true
        q1   0.19327     0  0.082337   0.27561   0.27546     0.00014915
        q2  0.046859     0  0.033333  0.080193  0.080119     7.3257e-05
        """
        at = self._at(t)
        values = (at.W_dq, at.V_dv, at.U_da, at.linear, at.true, at.residual)
        cells = [["", *COLUMNS]]
        for k, name in enumerate(self.coordinates):
            cells.append([name, *(f"{x[k] + 0.0:.5g}" for x in values)])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in cells
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _at(self, t: float | None) -> Response:
        """One state: the only one, or that of a time."""
        if self.dq.ndim == 1 and t is None:
            return self
        if self.t is None or self.dq.ndim != 2:
            raise InputError(
                f"{self!r}: choose one state first, as response[3], then ask for its table()."
            )
        if (
            t is None
            or not self.t.size
            or not self.t[0] <= (at := float(finite(t, "t"))) <= self.t[-1]
        ):
            raise InputError(
                f"table needs a time between {self.t.min(initial=0):g} and {self.t.max(initial=0):g} s; it is {format_value(t)}."
            )
        return self[int(np.abs(self.t - at).argmin())]

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure: for each coordinate the true and the linear response, and what is
        left between them."""
        return figure(self, theme=theme, path=path)

    def __repr__(self) -> str:
        shape = self.dq.shape[:-1]
        many = f"{'x'.join(map(str, shape))} states" if shape else "one state"
        largest = (float(np.abs(x).max(initial=0.0)) for x in (self.true, self.residual))
        return "<Response of {}: {}, up to {:.3g}, linear - true up to {:.2g}>".format(
            self.model.name, many, *largest
        )


def compare_response(
    m: Model, nominal: Any, perturbed: Any, *, t: ArrayLike | None = None, independent: Any = None,
    external: Mapping[str, ArrayLike] | None = None, parameters: Mapping[str, ArrayLike] | None = None,
) -> Response:  # fmt: skip
    """The forces that a perturbed motion needs besides those of the nominal one: by the linear
    model, and true.

    Parameters
    ----------
    nominal, perturbed : motions in any form of `es.as_trajectory`, or states (q, v, a). Those of a
        closed mechanism keep its loops closed.
    t : the times, where the motions do not know them; a mechanism that is driven in time needs
        them.
    independent, external, parameters : as for `linearize`.

    Both motions go through one native call.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> nominal, perturbed = (m.complete(qa, [0.2, 0.1], [0.0, 0.3]) for qa in ([2.0, 1.0], [2.001, 1.0]))
    >>> response = compare_response(m, nominal, perturbed)
    >>> bool(abs(response.residual).max() < 1e-3 * abs(response.true).max())
    True
    """
    (q0, v0, a0), t0 = _motion(as_model(m), nominal, "nominal")
    (q1, v1, a1), t1 = _motion(m, perturbed, "perturbed")
    if q0.shape != q1.shape:
        raise InputError(
            f"the nominal motion is {_states(q0)} and the perturbed one {_states(q1)}; they are compared state by state."
        )
    times = _times(t, t0, t1, q0.shape[:-1])
    both = linearize(
        m, np.stack([q0, q1]), np.stack([v0, v1]), a=np.stack([a0, a1]), independent=independent, external=external,
        parameters=parameters, t=times if m.rheonomic else None,
    )  # fmt: skip
    lm, names = both[0], velocity_names(m)
    i = [names.index(name) for name in lm.coordinates]
    dq, dv, da = (x[..., i] for x in (difference(m, q1, q0), v1 - v0, a1 - a0))
    W_dq, V_dv, U_da = (_times_vector(A, x) for A, x in ((lm.W, dq), (lm.V, dv), (lm.U, da)))
    true = _times_vector(lm.F, both[1].tau - lm.tau)
    return Response(lm, times, dq, dv, da, W_dq, V_dv, U_da, true)


def _times_vector(A: Floats, x: Floats) -> Floats:
    made: Floats = np.einsum("...ij,...j->...i", A, x)
    return made


def _motion(m: Model, given: Any, name: str) -> tuple[tuple[Floats, Floats, Floats], Any]:
    """q, v and a of a motion, with the same leading axes, and its times if it has some."""
    if isinstance(given, tuple | list) and len(given) == 3:  # states, without times
        parts, t = tuple(given), None
    elif not hasattr(given, "t") and all(hasattr(given, x) for x in "qva"):
        parts, t = (given.q, given.v, given.a), None
    else:
        motion = require_span(as_trajectory(m, given)).completed()
        parts, t = (motion.q, motion.v, motion.a), motion.t
    q = states(parts[0], f"{name} q", m.nq, m.name)
    v, a = (
        states(x, f"{name} {of}", m.nv, m.name, "velocities")
        for x, of in zip(parts[1:], "va", strict=True)
    )
    try:
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, a)))
    except ValueError:
        raise InputError(
            f"q, v and a of the {name} motion are {_states(q)}, {_states(v)} and {_states(a)}."
        ) from None
    q, v, a = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v, a))
    return (q, v, a), t


def _states(x: Floats) -> str:
    return f"{'x'.join(map(str, x.shape[:-1]))} states" if x.ndim > 1 else "one state"


def _times(t: Any, nominal: Any, perturbed: Any, shape: tuple[int, ...]) -> Floats | None:
    """The times of both motions."""
    known = [finite(x, "t") for x in (t, nominal, perturbed) if x is not None]
    if not known:
        return None
    for x in known:
        if x.shape != shape[len(shape) - x.ndim :] or x.ndim > 1:
            raise InputError(
                f"t has the shape {x.shape}; the motions have {'x'.join(map(str, shape)) or 'no'} times."
            )
        if not np.allclose(x, known[0], rtol=0, atol=1e-9):
            raise InputError(
                "the nominal and the perturbed motion are given at different times; give both at the same."
            )
    return known[0]
