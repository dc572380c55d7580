"""A linear model: its matrices, the names of its states, inputs and outputs, and the state it
belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import figure
from eslabon.arguments import Floats
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import BALANCED
from eslabon.systems.linear.linear_system import LinearSystem

if TYPE_CHECKING:
    from eslabon.compiler.formula import Formula
    from eslabon.systems.linear.contributions import Contributions
    from eslabon.systems.linear.modes import Modes


@dataclass(frozen=True, eq=False)
class Layout:
    """What all linear models of one request share: the mechanism, its independent velocities,
    names, and how it was asked.

    `values` are the names of what one native call of `formula` gives; `later` makes what else is
    asked for, by name; `constant` is what no state changes.
    """

    model: Model
    partition: Partition
    coordinates: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    formula: Formula
    values: tuple[str, ...]
    constant: Mapping[str, Floats]
    later: Callable[[LinearModel, str], Mapping[str, Floats]]
    request: Any


class LinearModel(LinearSystem):
    """dx/dt = A x + B u + drift, y = C x + D u for small changes about a state of motion, or about
    many: with leading axes.

    The state x are changes of the independent coordinates, then of their velocities; u are changes
    of the actuators' forces. In the same coordinates F dtau = U d(v') + V dv + W dq (Rojas, eq.
    5.4.1); F is the identity where the actuated joints are the independent coordinates.

    Attributes
    ----------
    U, V, W : `(..., n, n)`, for n degrees of freedom.
    F : `(..., n, nu)`.
    A, B, C, D : `(..., 2n, 2n)`, `(..., 2n, nu)`, `(..., ny, 2n)`, `(..., ny, nu)`.
    drift : `(..., 2n)`, the rates of the independent coordinates and velocities at the state
        itself: zero at an equilibrium.
    states, inputs, outputs : names. "theta1'" is the velocity of "theta1".
    coordinates : the names of the independent velocities.
    q, v, a, tau : the state, with its accelerations and the actuators' forces.
    position_map : `(..., nv, n)`, the small displacements of all joints for those of the
        independent coordinates.
    velocity_map : `(..., nv, 2n)`, the changes of all velocities for those of the state.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0])
    >>> lm.states, lm.inputs
    (('x', 'theta', "x'", "theta'"), ('tau(x)',))
    >>> lm.A.shape, lm.B.shape
    ((4, 4), (4, 1))
    """

    layout: Layout
    q: Floats
    v: Floats
    tau: Floats
    _known: dict[str, Floats]

    # Attributes of its own are set as those of any class: what a frozen dataclass has for it would
    # be a tenth of a call.
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__

    def __init__(
        self, layout: Layout, values: tuple[Floats, ...], q: ArrayLike, v: ArrayLike, tau: ArrayLike
    ) -> None:
        self.layout, self._known = layout, dict(zip(layout.values, values, strict=True))
        # the caller's arrays may change
        self.q, self.v, self.tau = np.array(q, float), np.array(v, float), np.array(tau, float)

    def _matrix(self, name: str) -> Floats:
        """What is known, what no state changes, or what is found when it is asked for."""
        constant = self.layout.constant.get(name)
        if constant is not None:
            return np.broadcast_to(constant, (*self.batch, *constant.shape))
        if name not in self._known:
            self._known.update(self.layout.later(self, name))
        return self._known[name]

    @property
    def U(self) -> Floats:
        return self._matrix("U")

    @property
    def V(self) -> Floats:
        return self._matrix("V")

    @property
    def W(self) -> Floats:
        return self._matrix("W")

    @property
    def F(self) -> Floats:
        return self._matrix("F")

    @property
    def A(self) -> Floats:
        return self._matrix("A")

    @property
    def B(self) -> Floats:
        return self._matrix("B")

    @property
    def C(self) -> Floats:
        return self._matrix("C")

    @property
    def D(self) -> Floats:
        return self._matrix("D")

    @property
    def a(self) -> Floats:
        return self._known["a"]

    @property
    def position_map(self) -> Floats:
        return self._matrix("position_map")

    @property
    def velocity_map(self) -> Floats:
        return self._matrix("velocity_map")

    @property
    def drift(self) -> Floats:
        i = list(self.layout.partition.independent)
        v = np.broadcast_to(self.v, self.a.shape)
        return np.concatenate([v[..., i], self.a[..., i]], axis=-1)

    @property
    def name(self) -> str:
        """The mechanism's."""
        return self.layout.model.name

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.layout.coordinates

    @property
    def states(self) -> tuple[str, ...]:
        return self.layout.states

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.layout.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.layout.outputs

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.a.shape[:-1]

    @property
    def dof(self) -> int:
        """The number of independent coordinates."""
        return len(self.coordinates)

    def __getitem__(self, index: Any) -> LinearModel:
        """Some of many models."""
        places, shape = self._places(index), self.batch

        def some(x: Floats, core: int) -> Floats:
            whole = np.broadcast_to(x, (*shape, *x.shape[x.ndim - core :]))
            return whole.reshape(int(np.prod(shape)), *whole.shape[len(shape) :])[places]

        q, v, tau = (some(x, 1) for x in (self.q, self.v, self.tau))
        layout = replace(self.layout, request=self.layout.request.of(shape, places))
        values = tuple(
            some(self._known[name], self._known[name].ndim - len(shape)) for name in layout.values
        )
        return LinearModel(layout, values, q, v, tau)

    def modes(self) -> Modes:
        """The modes: frequencies, damping ratios, time constants, shapes in all joints, and
        participation of the states.

        >>> import eslabon as es
        >>> es.load("double_pendulum").linearize([0.0, 0.0]).modes()[0]
        <Mode of double_pendulum: oscillation, 2.68011 rad/s (0.4266 Hz), damping ratio 0>
        """
        from eslabon.systems.linear.modes import Modes

        return Modes(self)

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure: the poles in their plane, with lines of equal damping ratio; of one
        model also how much each state takes part in each mode, of many the poles of all, coloured
        in their order.

        >>> import eslabon as es
        >>> [ax.get_xlabel() for ax in es.load("double_pendulum").linearize([0.0, 0.0]).plot().axes[:2]]
        ['real part [1/s]', 'state']
        """
        return figure(self, theme=theme, path=path)

    @property
    def equilibrium(self) -> np.ndarray | bool:
        """Whether nothing moves or accelerates at the state, one by one.

        Velocities are zero, and accelerations are round-off of what the actuators' forces, or
        displacements of one radian or one characteristic length, would cause.
        """
        i = list(self.layout.partition.independent)
        scale = np.asarray(velocity_scales(self.layout.model), dtype=float)[i]
        stiffness = np.abs(self.A[..., self.dof :, : self.dof]) * scale[:, None] / scale
        driven = scale * np.einsum(
            "...ij,...j->...i", np.abs(self.B[..., self.dof :, :]), np.abs(self.tau)
        )
        size = np.maximum(
            stiffness.max(axis=(-2, -1), initial=0.0), driven.max(axis=-1, initial=0.0)
        )
        rest = (np.abs(self.a[..., i] * scale) <= BALANCED * size[..., None]).all(axis=-1)
        rest = rest & ~np.any(self.v, axis=-1)
        return rest if self.batch else bool(rest)

    def derivative(
        self, parameter: str, following: str = "nothing", held: Any = None
    ) -> dict[str, Floats]:
        """The derivatives of U, V, W, F, A, B, C, D and of the accelerations a by a parameter of
        the mechanism, by name.

        The independent coordinates and their velocities are held; passive joints follow, so that
        the loops stay closed. `following` says what else does: "nothing", so that the actuators'
        forces stay too; "forces", which change so that the independent coordinates accelerate no
        more than before, and an equilibrium stays one; or "coordinates": the equilibrium moves
        under the same forces. `held` are joints or frames that stay in place of the independent
        coordinates, as in `m.derivative`.

        >>> import eslabon as es
        >>> m = es.load("cart_pole")
        >>> lm = m.linearize([0.0, 0.0])
        >>> lm.A[3, 1].round(3), lm.derivative("L")["A"][3, 1].round(3)     # proportional to 1/L
        (np.float64(15.792), np.float64(-15.792))
        """
        from eslabon.systems.linear.model_derivatives import model_derivative

        return model_derivative(self, parameter, following, held)

    def contributions(self) -> Contributions:
        """What each body, and motors, springs, friction and wrenches, add to U, V and W (Rojas,
        5.5).

        >>> import eslabon as es
        >>> es.load("double_pendulum").linearize([0.3, 0.4]).contributions().sources
        ('bar1', 'bar2')
        """
        from eslabon.systems.linear.contributions import contributions

        return contributions(self)

    def __repr__(self) -> str:
        many = f"{'x'.join(map(str, self.batch))} linear models" if self.batch else "linear model"
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        rest = "" if np.all(self.equilibrium) else ", not at an equilibrium"
        return f"<LinearModel: {many} of {self.name} in {', '.join(self.coordinates) or 'no coordinates'}; {sizes}{rest}>"
