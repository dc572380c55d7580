"""A linear model: its matrices, the names of its states, inputs and outputs, and the state it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, positive
from eslabon.displays import displayed
from eslabon.errors import InputError, MissingDependencyError
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.pages import paragraph
from eslabon.pages.notebook import linear_system
from eslabon.plotting import saved

if TYPE_CHECKING:
    from eslabon.compiler.formula import Formula
    from eslabon.systems.linear.contributions import Contributions
    from eslabon.systems.linear.modes import Modes


@dataclass(frozen=True, eq=False)
class Layout:
    """What all linear models of one request share: the mechanism, its independent velocities, names, and how it was asked.

    `values` are the names of what one native call of `formula` gives; `later` makes what else is asked for, by name;
    `constant` is what no state changes.
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


@displayed
class LinearModel:
    """dx/dt = A x + B u + drift, y = C x + D u for small changes about a state of motion, or about many: with leading axes.

    The state x are changes of the independent coordinates, then of their velocities; u are changes of the actuators' forces.
    In the same coordinates F dtau = U d(v') + V dv + W dq (Rojas, eq. 5.4.1); F is the identity where the actuated
    joints are the independent coordinates.

    Attributes
    ----------
    U, V, W : `(..., n, n)`, for n degrees of freedom.
    F : `(..., n, nu)`.
    A, B, C, D : `(..., 2n, 2n)`, `(..., 2n, nu)`, `(..., ny, 2n)`, `(..., ny, nu)`.
    drift : `(..., 2n)`, the rates of the independent coordinates and velocities at the state itself: zero at an equilibrium.
    states, inputs, outputs : names. "theta1'" is the velocity of "theta1".
    coordinates : the names of the independent velocities.
    q, v, a, tau : the state, with its accelerations and the actuators' forces.
    position_map : `(..., nv, n)`, the small displacements of all joints for those of the independent coordinates.
    velocity_map : `(..., nv, 2n)`, the changes of all velocities for those of the state.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0])
    >>> lm.states, lm.inputs
    (('x', 'theta', "x'", "theta'"), ('tau(x)',))
    >>> lm.A.shape, lm.B.shape
    ((4, 4), (4, 1))
    """

    __slots__ = ("_known", "layout", "q", "tau", "v")

    def __init__(
        self, layout: Layout, values: tuple[Floats, ...], q: ArrayLike, v: ArrayLike, tau: ArrayLike
    ) -> None:  # fmt: skip
        self.layout, self._known = layout, dict(zip(layout.values, values, strict=True))
        self.q, self.v, self.tau = (
            np.array(q, float),
            np.array(v, float),
            np.array(tau, float),
        )  # the caller's may change

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

    def __len__(self) -> int:
        if not self.batch:
            raise TypeError("one linear model has no length.")
        return self.batch[0]

    def __getitem__(self, index: Any) -> LinearModel:
        """Some of many models."""
        if not self.batch:
            raise InputError(
                f"there is one linear model of {self.name} here, and no others to choose from."
            )
        shape = self.batch
        try:
            places = np.arange(int(np.prod(shape))).reshape(shape)[index]
        except IndexError as error:
            raise InputError(
                f"there are {'x'.join(map(str, shape))} linear models here: {error}."
            ) from None

        def some(x: Floats, core: int) -> Floats:
            whole = np.broadcast_to(x, (*shape, *x.shape[x.ndim - core :]))
            return whole.reshape(int(np.prod(shape)), *whole.shape[len(shape) :])[places]

        q, v, tau = (some(x, 1) for x in (self.q, self.v, self.tau))
        layout = replace(self.layout, request=self.layout.request.of(shape, places))
        values = tuple(
            some(self._known[name], self._known[name].ndim - len(shape)) for name in layout.values
        )
        return LinearModel(layout, values, q, v, tau)

    def __bool__(self) -> bool:
        return True

    @property
    def poles(self) -> np.ndarray:
        """The eigenvalues of A, `(..., 2n)`, ordered by their size and with conjugates side by side.

        >>> import eslabon as es
        >>> float(es.load("cart_pole").linearize([0.0, 0.0]).poles.real.max().round(3))
        3.974
        """
        found = np.linalg.eigvals(self.A).astype(complex)
        order = np.lexsort((found.imag, found.real, np.abs(found).round(12)), axis=-1)
        return np.take_along_axis(found, order, axis=-1)

    def modes(self) -> Modes:
        """The modes: frequencies, damping ratios, time constants, shapes in all joints, and participation of the states.

        >>> import eslabon as es
        >>> es.load("double_pendulum").linearize([0.0, 0.0]).modes()[0]
        <Mode of double_pendulum: oscillation, 2.68011 rad/s (0.4266 Hz), damping ratio 0>
        """
        from eslabon.systems.linear.modes import Modes

        return Modes(self)

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure: the poles in their plane, with lines of equal damping ratio; of one model also how much each state
        takes part in each mode, of many the poles of all, coloured in their order.

        >>> import eslabon as es
        >>> [ax.get_xlabel() for ax in es.load("double_pendulum").linearize([0.0, 0.0]).plot().axes[:2]]
        ['real part [1/s]', 'state']
        """
        from eslabon.systems.linear.pole_plot import figure

        return saved(figure(self, theme), path)

    @property
    def equilibrium(self) -> np.ndarray | bool:
        """Whether nothing moves or accelerates at the state, one by one."""
        rest = np.abs(self.drift).max(axis=-1, initial=0.0) < 1e-9 * (
            1.0 + np.abs(self.A).max(axis=(-2, -1), initial=0.0)
        )
        return rest if self.batch else bool(rest)

    def derivative(
        self, parameter: str, following: str = "nothing", held: Any = None
    ) -> dict[str, Floats]:
        """The derivatives of U, V, W, F, A, B, C, D and of the accelerations a by a parameter of the mechanism, by name.

        The independent coordinates and their velocities are held; passive joints follow, so that the loops stay closed.
        `following` says what else does: "nothing", so that the actuators' forces stay too; "forces", which change so that the
        independent coordinates accelerate no more than before, and an equilibrium stays one; or "coordinates": the
        equilibrium moves under the same forces. `held` are joints or frames that stay in place of the independent coordinates,
        as in `m.derivative`.

        >>> import eslabon as es
        >>> m = es.load("cart_pole")
        >>> lm = m.linearize([0.0, 0.0])
        >>> lm.A[3, 1].round(3), lm.derivative("L")["A"][3, 1].round(3)     # proportional to 1/L
        (np.float64(15.792), np.float64(-15.792))
        """
        from eslabon.systems.linear.model_derivatives import model_derivative

        return model_derivative(self, parameter, following, held)

    def contributions(self) -> Contributions:
        """What each body, and motors, springs, friction and wrenches, add to U, V and W (Rojas, 5.5).

        >>> import eslabon as es
        >>> es.load("double_pendulum").linearize([0.3, 0.4]).contributions().sources
        ('bar1', 'bar2')
        """
        from eslabon.systems.linear.contributions import contributions

        return contributions(self)

    def discretized(self, step: float) -> tuple[Floats, Floats]:
        """A and B of x[k+1] = A x[k] + B u[k] for forces held over a step (zero-order hold), exact.

        >>> import eslabon as es
        >>> es.load("cart_pole").linearize([0.0, 0.0]).discretized(0.01)[0][0].round(6)
        array([ 1.0e+00, -3.6e-05,  1.0e-02, -0.0e+00])
        """
        from scipy.linalg import expm

        h, n, nu = positive(step, "step"), self.A.shape[-1], self.B.shape[-1]
        both = np.zeros((*self.batch, n + nu, n + nu))
        both[..., :n, :n], both[..., :n, n:] = self.A * h, self.B * h
        made = expm(both)
        return made[..., :n, :n], made[..., :n, n:]

    def to_control(self, step: float | None = None) -> Any:
        """The model as python-control's `StateSpace`, with the names of its signals, for its Bode plots, root loci and step
        responses; with a `step` in discrete time, forces held over it. Dots in names become underscores.

        >>> import eslabon as es
        >>> es.load("cart_pole").linearize([0.0, 0.0]).to_control().state_labels
        ['x', 'theta', "x'", "theta'"]
        """
        try:
            import control
        except ImportError:
            raise MissingDependencyError(
                "to_control needs python-control; install it with: pip install 'eslabon[control]'"
            ) from None
        if self.batch:
            raise InputError(
                f"there are {int(np.prod(self.batch))} linear models of {self.name} here; to_control takes one, such as lm[0]."
            )
        A, B = (self.A, self.B) if step is None else self.discretized(step)
        signals = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        names = {
            what: [name.replace(".", "_") for name in own] for what, own in signals.items()
        }  # it takes no dots
        return control.ss(
            A, B, self.C, self.D, 0 if step is None else step, name=self.name, **names
        )

    def _pieces(self) -> Iterator[str]:
        if self.batch:
            yield paragraph("Pick one by its index to see its matrices.", "es-caption")
        else:
            yield from linear_system(self)

    def __repr__(self) -> str:
        many = f"{'x'.join(map(str, self.batch))} linear models" if self.batch else "linear model"
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        rest = "" if np.all(self.equilibrium) else ", not at an equilibrium"
        return f"<LinearModel: {many} of {self.name} in {', '.join(self.coordinates) or 'no coordinates'}; {sizes}{rest}>"
