"""The object users hold: the model's data with every verb of the library as a method.

This is the only place that knows both the data and the rooms that work on it; a method is a line that calls its room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from eslabon import model, read
from eslabon.calls import Call, check_call, check_options, check_weights
from eslabon.errors import ModelError, ReadError, suggest

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Mechanism(model.Mechanism):
    """An articulated system and all that can be asked of it.

    Arrays hold one state or many: `q` is `(nq,)` or `(..., nq)`, and results have the same leading axes.
    """

    # -- files and pictures -------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the mechanism as TOML; `es.load` gives it back unchanged."""
        from eslabon.write.toml import to_toml

        target = Path(path)
        if target.suffix.lower() != ".toml":
            raise ReadError(f"{target}: a mechanism is saved as TOML; let the name end in .toml.")
        try:
            target.write_text(to_toml(self.description), encoding="utf-8")
        except OSError as error:
            raise ReadError(f"{target}: the file cannot be written: {error}.") from None
        return target

    def topology_svg(self) -> str:
        """A drawing of the bodies and of what joins them, as SVG text."""
        from eslabon.structure import topology_svg

        return topology_svg(self)

    # -- structure ----------------------------------------------------------------------------------------------

    def mobility(self) -> Any:
        """The mobility counted three ways and compared."""
        from eslabon.structure import mobility

        return mobility(self)

    @cached_property
    def dof(self) -> int:
        """The mobility: the freedoms that the loops leave, by the rank of the closure Jacobian."""
        from eslabon.structure import degrees_of_freedom

        return degrees_of_freedom(self)

    # -- kinematics ---------------------------------------------------------------------------------------------

    def pose(self, q: ArrayLike, frame: str | None = None, **more: Unpack[Call]) -> Floats:
        """The pose of a frame or body on the ground, `(..., 4, 4)`.

        >>> import eslabon as es
        >>> es.load("elbow").pose([0.0, 0.0], frame="tool")[:3, 3]
        array([2., 0., 0.])
        """
        known = self._calls.get(("pose", frame))
        return self._ask("pose", (q,), {"frame": frame}, more) if known is None or more else known(q)

    def jacobian(self, q: ArrayLike, frame: str | None = None, axes: str = "body", **more: Unpack[Call]) -> Floats:
        """The Jacobian of a frame, `(..., 6, nv)`, angular rows first: twist = J v.

        `axes` is "body" (the frame's own axes and origin), "spatial" (the ground's) or "ground" (the ground's axes, the
        frame's origin).
        """
        known = self._calls.get(("jacobian", frame, axes))
        if known is None or more:
            return self._ask("jacobian", (q,), {"frame": frame, "axes": axes}, more)
        return known(q)

    def velocity(
        self, q: ArrayLike, v: ArrayLike, frame: str | None = None, axes: str = "body", **more: Unpack[Call]
    ) -> Floats:
        """The twist of a frame, `(..., 6)`, angular part first; `axes` as in `jacobian`."""
        return self._ask("velocity", (q, v), {"frame": frame, "axes": axes}, more)

    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str | None = None,
        axes: str = "body",
        **more: Unpack[Call],
    ) -> Floats:
        """The rate of a frame's twist, `(..., 6)`. With axes="ground" its linear part is the classical acceleration."""
        return self._ask("acceleration", (q, v, a), {"frame": frame, "axes": axes}, more)

    def position_hessian(self, q: ArrayLike, frame: str | None = None, **more: Unpack[Call]) -> Floats:
        """Second derivatives of a frame's position, `(..., 3, nv, nv)` (Rojas, eq. 2.6.36)."""
        return self._ask("position_hessian", (q,), {"frame": frame}, more)

    def inverse_kinematics(
        self,
        pose: ArrayLike,
        guess: ArrayLike | None = None,
        frame: str | None = None,
        *,
        report: bool = False,
        **options: Any,
    ) -> Any:
        """Coordinates that bring a frame to a pose, `(..., nq)`.

        All targets of a batch are solved in one call. A target that cannot be reached is an error that says how near
        the best posture comes; with report=True nothing is refused, and an object with `q`, `converged`, `distance`,
        `angle` and `iterations` is returned. Options: `solutions=n` for several postures, `limits=False`, `points` or
        `axis` for tools whose spin does not matter, `tolerance`, `restarts` (see `eslabon.kinematics.inverse`). For a
        mechanism with loops all joint values of a posture that also closes them are found.

        >>> import eslabon as es, numpy as np
        >>> m = es.load("puma560")
        >>> q = m.inverse_kinematics(m.pose(m.home()), guess=m.home() + 0.1)
        >>> bool(np.allclose(m.pose(q), m.pose(m.home())))
        True
        """
        if self.closed:
            if report or options:
                asked = ", ".join([*options, *(["report"] if report else [])])
                raise ModelError(f"{self.name} has loops, for which inverse_kinematics has no {asked}; see assemble.")
            return self.assemble(pose=pose, guess=guess, frame=frame)
        from eslabon.kinematics.inverse import inverse_kinematics

        check_options("inverse_kinematics", inverse_kinematics, options)
        found = inverse_kinematics(self, pose, guess, frame, **{"strict": not report, **options})
        return found if report else found.q

    def follow(self, path: Any, guess: ArrayLike | None = None, frame: str | None = None, **options: Any) -> Any:
        """The joint motion that carries a frame along a path (see `es.paths`): an object with `t`, `q`, `v`, `a`."""
        from eslabon.kinematics.inverse import follow

        check_options("follow", follow, options)
        return follow(self, path, guess, frame=frame, **options)

    # -- loops --------------------------------------------------------------------------------------------------

    def constraint(self, q: ArrayLike, **more: Unpack[Call]) -> Floats:
        """The residuals of every loop and coupling, `(..., rows)`: zero where the mechanism is closed."""
        return self._ask("constraint", (q,), {}, more)

    def constraint_jacobian(self, q: ArrayLike, **more: Unpack[Call]) -> Floats:
        """J with d(constraint)/dt = J v, `(..., rows, nv)`."""
        return self._ask("constraint_jacobian", (q,), {}, more)

    def assemble(
        self, actuated: ArrayLike | None = None, guess: ArrayLike | str | None = None, *, joints: tuple[str, ...] | None = None,
        pose: ArrayLike | None = None, frame: str | None = None, strict: bool = True, along: bool = False,
        singular: str = "warn",
    ) -> Floats:  # fmt: skip
        """Full coordinates that close the loops, `(..., nq)`.

        Given are the coordinates of the actuated joints, of other `joints`, or the `pose` of a frame (the inverse
        kinematics of a parallel robot). From the guess, a posture or the name of a mode, by default the closed home, the
        mechanism is moved there in strides, so that it stays on its branch; with along=True rows are a motion, and each
        follows from the one before. `singular` is "warn", "error" or "ignore", where a singular posture is passed and
        the branch may be another. With strict=False what does not close is returned as near as it came.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.assemble([2.0, 1.0]).round(6)
        array([ 2.      , -1.212281,  1.      ,  1.314632])
        """
        from eslabon.kinematics import assembly

        return assembly.assemble(self, actuated, guess, joints=joints, pose=pose, frame=frame, strict=strict,
            along=along, singular=singular)  # fmt: skip

    def complete(
        self,
        qa: ArrayLike,
        va: ArrayLike,
        aa: ArrayLike,
        guess: ArrayLike | str | None = None,
        *,
        joints: tuple[str, ...] | None = None,
        along: bool = False,
        idle: str = "refuse",
        singular: str | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """Full q, v, a from the motion of the actuated joints (or of `joints`).

        `along` as in `assemble`. What the joints do not determine, such as the spin of a rod between ball joints, is
        refused, or moves as little as it can with idle="rest". A singular posture is an error; with singular="warn" the
        least velocities there are given with a warning, and with "ignore" without one.
        """
        from eslabon.kinematics import assembly

        return assembly.complete(self, qa, va, aa, guess, joints=joints, along=along, idle=idle, singular=singular)

    def project(self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None) -> Any:
        """The nearest state that keeps the loops closed: q alone, or the tuple (q, v) or (q, v, a), as it was given."""
        from eslabon.kinematics import assembly

        return assembly.project(self, q, v, a)

    def assembly_modes(
        self, actuated: ArrayLike | None = None, *, joints: tuple[str, ...] | None = None, pose: ArrayLike | None = None,
        frame: str | None = None,
    ) -> Floats:  # fmt: skip
        """The different ways the mechanism closes for the same actuated values, or for the same pose of a frame,
        `(ways, nq)`, the nearest home first. `with_mode` keeps one under a name."""
        from eslabon.kinematics import assembly

        return assembly.assembly_modes(self, actuated, joints=joints, pose=pose, frame=frame)

    def conditions(self, q: ArrayLike, frame: str | None = None) -> Any:
        """How near postures are to singular, of the parallel kind (locked actuators do not hold the loops) and of the
        serial kind (a frame loses a direction): inverse condition numbers from 1 to 0, and the mobility at each. Along a
        motion `.crossings` are the rows after which a singular posture is passed."""
        from eslabon.kinematics.singularities import conditions

        return conditions(self, q, frame)

    def workspace(
        self, frame: str | None = None, ranges: Mapping[str, tuple[float, float]] | None = None, samples: int = 2000,
        guess: ArrayLike | str | None = None,
    ) -> Any:  # fmt: skip
        """Where a frame can go and how near to singular it is there: postures `.q`, `.poses` and `.conditions` spread
        over what the actuated joints may do (their limits, or `ranges` by name), and a `.plot()` of them.

        >>> import eslabon as es
        >>> es.load("five_bar").workspace(samples=200)
        <Workspace of five_bar: 200 of 200 samples reached, parallel from 0.11, serial from 0.00081>
        """
        from eslabon.kinematics.workspace import workspace

        return workspace(self, frame, ranges, samples, guess)

    # -- dynamics -----------------------------------------------------------------------------------------------

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, formulation: str | None = None,
        weights: tuple[float, ...] | None = None, **more: Unpack[Call],
    ) -> Floats:  # fmt: skip
        """The actuators' forces for a motion, `(..., nu)`.

        `formulation` is "newton_euler", "lagrange", "lie", "gibbs_appell" or "quaternion"; left out, the fastest. With
        loops and more actuators than freedoms, the share of least sum of `weights` times force squared is given (of
        least norm without weights); with fewer, see `hybrid_dynamics`.

        >>> import eslabon as es
        >>> es.load("double_pendulum").inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        array([0., 0.])
        """
        known = self._calls.get(("inverse_dynamics", formulation))
        if known is None or more or weights is not None:
            shared = {} if weights is None else {"weights": check_weights(self, weights)}
            return self._ask("inverse_dynamics", (q, v, a), {"formulation": formulation, **shared}, more)
        return known(q, v, a)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, formulation: str | None = None, **more: Unpack[Call]
    ) -> Floats:
        """The accelerations under the actuators' forces, `(..., nv)`."""
        known = self._calls.get(("forward_dynamics", formulation))
        if known is None or more:
            return self._ask("forward_dynamics", (q, v, tau), {"formulation": formulation}, more)
        return known(q, v, tau)

    def hybrid_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **more: Unpack[Call]) -> tuple[Floats, Floats]:
        """Actuators' forces `(..., nu)` and all accelerations `(..., nv)` when only the actuated joints' accelerations
        in `a` are prescribed; motions no actuator reaches, such as the spin of a rod, follow their own dynamics."""
        if not self.closed:
            raise ModelError(
                f"{self.name} has no loops: its joints move as they are told, and inverse_dynamics gives the forces."
            )
        both = self._ask("hybrid_dynamics", (q, v, a), {}, more)
        return both[..., : self.nu], both[..., self.nu :]

    def mass_matrix(self, q: ArrayLike, **more: Unpack[Call]) -> Floats:
        """The mass matrix M, `(..., nv, nv)`, motors' own inertia included."""
        known = self._calls.get(("mass_matrix",))
        return self._ask("mass_matrix", (q,), {}, more) if known is None or more else known(q)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, **more: Unpack[Call]) -> Floats:
        """The matrix C of Kane's form, `(..., nv, nv)`: C v are the velocity forces, and dM/dt - 2 C is skew."""
        return self._ask("coriolis_matrix", (q, v), {}, more)

    def gravity_forces(self, q: ArrayLike, **more: Unpack[Call]) -> Floats:
        """The joint forces that hold the weight, `(..., nv)`."""
        return self._ask("gravity_forces", (q,), {}, more)

    def energy(self, q: ArrayLike, v: ArrayLike, **more: Unpack[Call]) -> Floats:
        """Kinetic and potential energy, `(..., 2)`; the potential counts weight and springs."""
        return self._ask("energy", (q, v), {}, more)

    def reactions(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, *, tau: ArrayLike | None = None, **more: Unpack[Call]
    ) -> Floats:  # fmt: skip
        """The wrench every joint transmits to the body it carries, `(..., joints, 6)`: moment first, in that body's
        axes about its origin. With loops, those of the cut joints follow, on their second body in its frame of the cut;
        `determined_reactions` says which components redundant constraints leave open: for those one possible answer is
        given, with no load in the redundant constraints.

        Given are the accelerations, for which the actuators' forces are found, or the actuators' forces `tau`, from which
        the accelerations follow: those of a motion that no actuator holds, for instance.
        """
        if a is not None and tau is None:
            return self._ask("reactions", (q, v, a), {}, more)
        if tau is not None and a is None:
            return self._ask("reactions_under_forces", (q, v, tau), {}, more)
        raise ModelError("reactions takes the accelerations a or the actuators' forces tau: one of the two.")

    def determined_reactions(self, q: ArrayLike) -> np.ndarray:
        """Which components of `reactions` motion determines at a posture, `(joints + loops, 6)`: where constraints are
        redundant, as across the plane of a planar loop, loads may be locked in that no motion shows."""
        from eslabon.dynamics.determinacy import determined

        return determined(self, q)

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **more: Unpack[Call]) -> Floats:
        """The matrix Y, `(..., nv, 10 bodies)`, with the rigid-body joint forces Y pi; see `inertial_parameters`."""
        return self._ask("regressor", (q, v, a), {}, more)

    def inertial_parameters(self) -> Floats:
        """What the rigid-body joint forces are linear in, ten numbers a body: mass, mass times centre of mass (3), and
        Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the body's frame."""
        from eslabon.dynamics.identification import inertial_parameters

        return inertial_parameters(self)

    def base_parameters(self) -> Any:
        """The fewest combinations of inertial parameters that motion can tell, with their values and in words."""
        from eslabon.dynamics.identification import base_parameters

        return base_parameters(self)

    # -- simulation ---------------------------------------------------------------------------------------------

    def simulate(self, q0: ArrayLike, v0: ArrayLike | None, t: ArrayLike, control: Any = None, **options: Any) -> Any:
        """The motion from a state under a control, as an `es.simulate.Motion`: t, q, v, a, tau, energy, closure error.

        `v0=None` is rest; `t` is a duration, (start, end) or times to report at. `control` is None, forces, a table, a
        law marked with `es.simulate.traced`, or any function of t, q, v. Options: `method` ("DOP853", "LSODA", "Radau",
        "rk4", "symplectic", ...), `step`, `every`, `rtol`, `atol`, `events`, `external`, `parameters` and more; see
        `eslabon.simulate.simulate`.
        """
        from eslabon.simulate import simulate

        check_options("simulate", simulate, options)
        return simulate(self, q0, v0, t, control, **options)

    # -- any quantity -------------------------------------------------------------------------------------------

    def derivative(
        self,
        quantity: str,
        by: str,
        *arrays: ArrayLike,
        parameters: Mapping[str, ArrayLike] | None = None,
        **options: Any,
    ) -> Floats:
        """The exact derivative of a quantity by one of its arguments or by a parameter of the model.

        By an argument the result has one more axis, its last. By `q` it is taken along the velocities, so that
        quaternions need no care. The other options are those of the quantity.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> m.derivative("pose", "a1", [0.5, 0.0], frame="tool")[:3, 3]
        array([0.87758256, 0.47942554, 0.        ])
        """
        given = dict(parameters or {})
        if by not in self._quantity(quantity).inputs:
            given.setdefault(by, self.parameters.get(by, np.nan))
        return self._ask(quantity, arrays, options, {"parameters": given} if given else {}, by)

    def operations(self, quantity: str = "inverse_dynamics", **options: Any) -> Any:
        """How many multiplications, additions and other operations a quantity takes."""
        from eslabon.graph.count import count

        return count(self._graph(quantity, options))

    def c_source(self, quantity: str = "inverse_dynamics", **options: Any) -> Any:
        """Portable C for a quantity: an object with `.header`, `.code` and `.write(folder)`."""
        from eslabon.graph.c import source

        return source(self._graph(quantity, options), f"{self.name}_{quantity}", f"{quantity} of {self.name}")

    def equations(
        self, quantity: str = "inverse_dynamics", parameters: tuple[str, ...] | bool = True, **options: Any
    ) -> Any:
        """A quantity as equations: print it, or take `.latex()`, or the SymPy matrices in `.results`.

        The model's parameters stay letters; with `parameters=False` their values are put in.
        """
        from eslabon.graph.equations import equations

        if self._quantity(quantity).checks:
            raise ModelError(
                f"the {quantity} of {self.name} solves for its loops, which makes no equations anyone would read; ask for its "
                "mass_matrix, gravity_forces, constraint or constraint_jacobian, or for c_source."
            )
        kept = tuple(self.parameters) if parameters is True else tuple(parameters or ())
        return equations(self._graph(quantity, options, kept))

    def _graph(self, quantity: str, options: Mapping[str, Any], parameters: tuple[str, ...] = ()) -> Any:
        from eslabon.graph.trace import trace

        asked = self._request(quantity, options, parameters)
        known = list(signature(asked.quantity.formula()).parameters)[1 + len(asked.quantity.inputs) :]
        for option in options:
            if option not in known:
                raise ModelError(f"{quantity} has no option '{option}'{suggest(option, known)}")
        return trace(self, replace(asked, quantity=replace(asked.quantity, checks=())))

    @cached_property
    def _calls(self) -> dict[tuple[Any, ...], Callable[..., Floats]]:
        """The compiled verbs, by name and options."""
        return {}

    def _quantity(self, name: str) -> Any:
        from eslabon.quantities import LOOPED, QUANTITIES

        known = {**QUANTITIES, **LOOPED} if self.closed else QUANTITIES
        if name not in known:
            raise ModelError(f"there is no quantity '{name}' of {self.name}{suggest(name, known)}")
        return known[name]

    def _request(
        self,
        name: str,
        options: Mapping[str, Any],
        parameters: tuple[str, ...] = (),
        external: tuple[str, ...] = (),
        by: str | None = None,
    ) -> Any:
        from eslabon.graph.trace import Request

        self.check_parameters(parameters)
        quantity = self._quantity(name)
        if external:
            from eslabon.dynamics.applied import check_external

            if not quantity.external:
                raise ModelError(f"{name} does not depend on wrenches; leave external out.")
            check_external(self, external)
        return Request(quantity, tuple(options.items()), parameters, by, external)

    def _ask(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        options: Mapping[str, Any],
        more: Mapping[str, Any],
        by: str | None = None,
    ) -> Floats:
        """A quantity's value: its code found or made, and called."""
        from eslabon.dynamics.judged import judged
        from eslabon.graph.trace import native

        check_call(self, name, options, more)
        parameters, external = (dict(sorted((more.get(k) or {}).items())) for k in ("parameters", "external"))
        inputs = (tuple(external), tuple(parameters))
        allowed = (more.get("tolerance"), more.get("singular"))
        key = (
            name,
            *options.values(),
            *((by, *inputs, *allowed) if by or any(inputs) or allowed != (None, None) else ()),
        )
        if key not in self._calls:
            request = self._request(name, options, inputs[1], inputs[0], by)
            expected = request.quantity.inputs
            if len(arrays) != len(expected):
                raise ModelError(f"{name} takes {', '.join(expected)}; {len(arrays)} were given.")
            self._calls[key] = judged(self, request, more) if request.checks else native(self, request)
        keywords = {k: x for k, x in more.items() if k in ("out", "threads")}
        return self._calls[key](*arrays, *external.values(), *parameters.values(), **keywords)


class Builder(model.Builder):
    __doc__ = model.Builder.__doc__

    def build(self) -> Mechanism:
        """The finished mechanism, checked."""
        return Mechanism(super().build().description)


def load(source: str | Path, **options: Any) -> Mechanism:
    return Mechanism(read.load(source, **options).description)


def from_dh(*arguments: Any, **options: Any) -> Mechanism:
    return Mechanism(read.from_dh(*arguments, **options).description)


load.__doc__, from_dh.__doc__ = read.load.__doc__, read.from_dh.__doc__
