"""The object users hold: the model's data with every verb of the library as a method.

This is the only place that knows both the data and the rooms that work on it; a method is a line
that calls its room.
"""

# mypy: disable-error-code=empty-body
from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from eslabon import files, model
from eslabon.answers import notebook_html
from eslabon.arguments import LOOKUP_ERRORS, flag, known_options, number
from eslabon.errors import (
    EslabonError,
    ModelError,
    ModelWarning,
    Place,
    ReadError,
    SingularityError,
    format_value,
    user_stacklevel,
)
from eslabon.files.diagnostics import CheckReport
from eslabon.formulas.motion_state import chosen_formulation
from eslabon.formulas.quantities import SPECTRAL
from eslabon.formulas.quantities import quantity as quantity_of
from eslabon.model import changes, clearances, free_numbers
from eslabon.model.schema import place_of
from eslabon.model.validation import moving_bodies_weigh_nothing
from eslabon.progress import announce
from eslabon.verbs import (
    ALL_FORMULATIONS,
    CallOptions,
    Named,
    NativeVerbs,
    Out,
    forces_or_accelerations,
    hashable,
    options_of_derivative,
    plain_graph,
    solving_verb,
    textbook_equations,
    unhashable,
    verb,
)

if TYPE_CHECKING:
    from eslabon.bond_graph.bond_graph import BondGraph
    from eslabon.bond_graph.mechanism_graph import MechanismGraph
    from eslabon.drawing.animation import Animation
    from eslabon.export.c_source import CSource
    from eslabon.export.equations import Equations
    from eslabon.export.operation_counts import Operations
    from eslabon.motion.trajectory import Trajectory
    from eslabon.solve.assembly_modes import AssemblyModes
    from eslabon.solve.configurations import Configurations
    from eslabon.solve.joint_motion import JointMotion
    from eslabon.solve.mobility import KinematicBond, Mobility
    from eslabon.solve.newton_gauss import Iterations
    from eslabon.solve.path_following import Followed
    from eslabon.solve.singular.conditions import Conditions
    from eslabon.solve.singular.manipulability import Manipulability
    from eslabon.solve.singular.singularity import Singularity
    from eslabon.solve.solve_options import SolveOptions
    from eslabon.solve.velocity_maps import ActuationMap
    from eslabon.solve.workspace.sampled_workspace import Workspace
    from eslabon.solve.workspace.workspace_map import WorkspaceMap
    from eslabon.systems.identification import Identification
    from eslabon.systems.identification.inertial_parameters import BaseParameters
    from eslabon.systems.linear.equilibria import Equilibrium
    from eslabon.systems.linear.linear_model import LinearModel

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Mechanism(model.Model):
    """An articulated system and all that can be asked of it.

    Arrays hold one state or many: `q` is `(nq,)` or `(..., nq)`, and results have the same leading
    axes.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> m.dof, m.nq, m.nu
    (2, 4, 2)
    >>> q = m.assemble([2.0, 1.0])
    >>> m.pose(q, "point")[:2, 3].round(4)
    array([0.0539, 0.1072])
    """

    _native: NativeVerbs
    _derivatives: NativeVerbs

    def __init__(
        self, description: model.Description, symbols: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(description, symbols)
        self.__dict__.update(
            _native=NativeVerbs(self), _derivatives=NativeVerbs(self, options_of_derivative)
        )

    def _repr_html_(self) -> str | None:
        return notebook_html(self)

    # -- files and pictures -------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, hinges: bool = False) -> Path:
        """Write the mechanism as TOML, which `es.load` gives back unchanged, or as URDF, with loops
        as its <constraint> elements; a warning says what URDF has no place for.

        The parser of ROS (urdfdom) does not read ball, universal, cylindrical and screw joints.
        With `hinges` a URDF has chains of hinges and slides in their place, with massless links
        between them.

        >>> import tempfile
        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     es.load(m.save(f"{folder}/elbow.toml")) == m
        True
        """
        return files.save(self, path, **({"hinges": True} if flag(hinges, "hinges") else {}))

    def plot(
        self, q: ArrayLike | str | None = None, *, path: str | Path | None = None, ax: Any = None, theme: str | None = None,
        labels: Any = (), frames: Any = True, coms: bool = False, trace: Any = (), many: str = "ghosts",
        external: Mapping[str, ArrayLike] | None = None, reactions: ArrayLike | bool | None = None, shapes: bool = True,
        view: Any = None, title: str | None = None, size: Any = None,
    ) -> Any:  # fmt: skip
        """A matplotlib figure of the mechanism: in its plane, with the symbols of kinematic
        diagrams, if it moves in one, else as shaded solids in space; actuated joints are
        vermillion, cut joints blue.

        `q` is a configuration, many of them `(n, nq)`, the name of a mode, or left out: home, with
        its loops closed. `many` draws the last of many among "ghosts" of the others, or all as a
        "fan"; `trace` the way of a frame, or of a point ("body", (x, y, z)), through all of them.
        `path` saves the figure as .png, .svg or .pdf; `ax` draws into axes that are there; `theme`
        is "light" or "dark". `labels` is True or some of "joints", "bodies", "frames"; `frames`
        says whether, or which, frames have their axes drawn; `coms` draws centres of mass.
        `external` are wrenches on bodies as in `inverse_dynamics`, `reactions` those that
        `reactions` gives, True for those of the mechanism held at rest. `view` is (elevation,
        azimuth) in degrees, or "front", "side", "top", and draws in space; `size` is in inches.
        Another design is drawn by `m.variant(L1=0.3).plot()`.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> figure = m.plot(m.assemble([2.0, 1.0]), labels="joints", coms=True)
        >>> figure.axes[0].get_xlabel()
        'x [m]'
        """
        from eslabon.drawing.draw import draw

        if isinstance(reactions, bool):
            reactions = self._reactions_at_rest(q) if reactions else None
        return draw(self, q, path=path, ax=ax, theme=theme, labels=labels, frames=frames, coms=coms, trace=trace, many=many,
            external=external, reactions=reactions, shapes=shapes, view=view, title=title, size=size)  # fmt: skip

    def _reactions_at_rest(self, q: ArrayLike | str | None) -> Floats:
        """What the joints transmit where the last configuration of a drawing is held."""
        from eslabon.drawing.drawn_configurations import configurations

        still = np.zeros(self.nv)
        return self.reactions(configurations(self, q)[-1], still, still)

    def animate(
        self, q: ArrayLike, t: ArrayLike | None = None, path: str | Path | None = None, *, fps: float = 30.0, speed: float = 1.0,
        size: Any = None, trace: Any = None, theme: str | None = None, progress: bool | None = None, **picture: Any,
    ) -> Animation:  # fmt: skip
        """Configurations `(n, nq)`, at times t or else a frame each, as an animation that a
        notebook plays; with a path it is written too, as .mp4, .gif or .html. `motion.animate` and
        `mode.animate` do so of what they are; options are the same.

        >>> import eslabon as es, numpy as np
        >>> m = es.load("five_bar")
        >>> m.animate(m.assemble(np.linspace([2.0, 1.0], [1.6, 1.2], 20)), trace="point")
        <Animation of five_bar: 20 frames, 0.667 s at 30 frames a second>
        """
        from eslabon.drawing.animation import animation

        return animation(self, t, q, path, fps=fps, speed=speed, size=size, trace=trace, theme=theme, progress=progress, **picture)  # fmt: skip

    def topology_svg(self) -> str:
        """A drawing of the bodies and of what joins them, as SVG text.

        >>> import eslabon as es
        >>> es.load("five_bar").topology_svg()[:4]
        '<svg'
        """
        from eslabon.drawing.topology_drawing import topology_svg

        return topology_svg(self)

    # -- another mechanism --------------------------------------------------------------------------------------

    def with_joint(self, name: str, **changed: Any) -> Self:
        """The mechanism with other data of a joint, named as in `Builder.joint`; None takes a datum
        away. `motor` is the motor's inertia, or (inertia, gear ratio).

        >>> import eslabon as es
        >>> m = es.load("elbow").with_joint("theta1", viscous=0.1, limits=(-1, 1))
        >>> m.joint("theta1").viscous, m.joint("theta1").limits
        ((0.1,), ((-1.0, 1.0),))
        """
        return self._changed(changes.with_item(self, "joint", name, changed))

    def with_body(self, name: str, **changed: Any) -> Self:
        """The mechanism with another mass, centre of mass or inertia of a body, as in
        `Builder.body`.

        >>> import eslabon as es
        >>> es.load("elbow").with_body("link2", mass=0.3).body("link2").mass
        0.3
        """
        return self._changed(changes.with_item(self, "body", name, changed))

    def with_frame(self, name: str, body: str | None = None, at: Any = None) -> Self:
        """The mechanism with a frame more, or with one of its frames elsewhere.

        >>> import eslabon as es
        >>> m = es.load("elbow").with_frame("camera", "link2", at=(0.1, 0, 0))
        >>> m.pose([0.0, 0.0], "camera")[:3, 3]
        array([1.1, 0. , 0. ])
        """
        return self._changed(changes.with_frame(self, name, body, at))

    def with_shape(self, name: str, **given: Any) -> Self:
        """The mechanism with a shape more, or with other data of one of its shapes, named as in
        `Builder.shape`.

        >>> import eslabon as es
        >>> m = es.load("elbow").with_shape("ball", body="link2", kind="sphere", size=0.1)
        >>> m.with_shape("ball", colour="#d55e00").shape("ball").colour
        '#d55e00'
        """
        return self._changed(changes.with_shape(self, name, given))

    def with_actuated(self, joints: Sequence[str]) -> Self:
        """The mechanism with motors at these joints and at no other.

        >>> import eslabon as es
        >>> es.load("elbow").with_actuated(["theta2"]).nu
        1
        """
        return self._changed(changes.with_actuated(self, joints))

    def with_gravity(self, gravity: Any) -> Self:
        """The mechanism under another acceleration of gravity, a vector in the ground's axes.

        >>> import eslabon as es
        >>> es.load("planar_3rrr").with_gravity((0, -9.81, 0)).gravity
        (0.0, -9.81, 0.0)
        """
        return self._changed(changes.with_gravity(self, gravity))

    def with_payload(
        self, frame: str, mass: Any, com: Any = (0.0, 0.0, 0.0), inertia: Any = None
    ) -> Self:
        """The mechanism with a load welded to the body that carries a frame. The load's centre of
        mass, and its inertia about it, are given in that frame.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> (m.with_payload("tool", 0.5).gravity_forces([0.0, 0.0]) - m.gravity_forces([0.0, 0.0])).round(3)
        array([9.81 , 4.905])
        """
        return self._changed(changes.with_payload(self, frame, mass, com, inertia))

    def with_free(self, *paths: str) -> Self:
        """The mechanism with numbers of its items made parameters, so that sweeps, derivatives and
        optimisation can vary them: "link2.mass" becomes the parameter link2_mass, of today's value.
        `free_numbers` lists the paths. Others stay as they are: the moments of inertia do not
        follow a mass, nor the mass a length. "tip.first.x.deviation" is what a number is off by,
        zero today, whatever parameters it follows from; so legs of one length have tolerances of
        their own.

        >>> import eslabon as es
        >>> m = es.load("puma560").with_free("link2.mass", "q1.coulomb")
        >>> m.parameters
        {'link2_mass': 17.4, 'q1_coulomb': 0.0}
        >>> m.gravity_forces([0.0] * 6, parameters={"link2_mass": [10.0, 17.4]})[:, 1].round(2)
        array([32.55, 37.48])
        """
        return self._changed(free_numbers.with_free(self, paths))

    def free_numbers(self) -> Mapping[str, float]:
        """The numbers of its items that are no parameter and follow from none, by the paths that
        `with_free` takes: masses, centres of mass, moments of inertia, places, axes, friction,
        motors, springs, wrenches, gravity, and payloads of frames.

        >>> import eslabon as es
        >>> numbers = es.load("puma560").free_numbers()
        >>> len(numbers), numbers["link2.mass"]
        (148, 17.4)
        """
        return free_numbers.free_numbers(self)

    def with_clearance(self, *joints: str) -> Self:
        """The mechanism with play in pin or ball joints, cut ones too: parameters NAME_play, how
        far the pin's centre is off the bore's, and NAME_direction, the angle about the axis in
        which it is, both zero; for a ball joint NAME_polar too, its angle from z. Contact is
        quasi-static: the centre does not move about in the clearance during a motion.

        >>> import eslabon as es
        >>> m = es.load("five_bar").with_clearance("tip")
        >>> q = m.with_parameters(tip_play=1e-4).assemble([2.0, 1.0])
        >>> float(abs(q - m.assemble([2.0, 1.0])).max().round(5))
        0.001
        """
        return self._changed(clearances.with_clearance(self, joints))

    def without(self, *names: str, kind: str | None = None) -> Self:
        """The mechanism without items of these names: frames, springs, loops, couplings, wrenches,
        modes, and joints or bodies, which go with all that hangs on them and is tied to them.
        `kind` says which, where one name has two.

        >>> import eslabon as es
        >>> es.load("elbow").without("theta2")
        <Mechanism elbow: 1 body, 1 joint, 0 loops, 1 actuator>
        """
        return self._changed(changes.without(self, *names, kind=kind))

    def locked(self, joints: Mapping[str, Any]) -> Self:
        """The mechanism with some joints made rigid at given coordinates, as in m.locked({"wrist":
        0.3}).

        >>> import eslabon as es
        >>> es.load("puma560").locked({"q1": 0.3, "q5": 0.0}).nv
        4
        """
        return self._changed(changes.lock_joints(self, joints))

    def subtree(self, body: str, name: str | None = None) -> Self:
        """A body with its joint and all that it carries, as a mechanism of its own: the ground
        takes the place of the body that it hung on. Loops and springs that tie it to other bodies
        stay behind. `es.join` puts it back.

        >>> import eslabon as es
        >>> es.load("puma560").subtree("link4", name="wrist")
        <Mechanism wrist: 3 bodies, 3 joints, 0 loops, 3 actuators>
        """
        return self._changed(changes.subtree(self, body, name))

    def _changed(self, description: model.Description) -> Self:
        return type(self)(description).warn(self.plausibility_warnings)

    # -- structure ----------------------------------------------------------------------------------------------

    def mobility(self, q: ArrayLike | None = None) -> Mobility:
        """The mobility counted three ways and compared, at a closed configuration `q`, by default
        the home: `.dof` on the branch of the configuration, `.instantaneous_dof` at the
        configuration itself, and `.branches` of another mobility that a search found.

        >>> import eslabon as es
        >>> es.load("bennett").mobility().kind
        'paradoxical'
        """
        from eslabon.solve.mobility import mobility

        return mobility(self, q)

    def bond(self, first: str, second: str, q: ArrayLike | None = None) -> KinematicBond:
        """The kinematic bond between two bodies (Hervé): the motions of the second relative to the
        first that the whole mechanism allows, and the smallest displacement group that contains
        them. `q` is a closed configuration, by default the home.

        >>> import eslabon as es
        >>> found = es.load("sarrus").bond("ground", "platform")
        >>> found.name, found.dof, found.generators
        ('translation along a line', 1, ('translation along (0, 0, 1)',))
        """
        from eslabon.solve.mobility import bond

        return bond(self, first, second, q)

    @cached_property
    def dof(self) -> int:
        """The mobility: the degrees of freedom that the loops leave, by the rank of the closure
        Jacobian.

        >>> import eslabon as es
        >>> es.load("stewart_gough").dof
        6
        """
        from eslabon.solve.mobility import degrees_of_freedom

        return degrees_of_freedom(self)

    # -- kinematics ---------------------------------------------------------------------------------------------

    @verb
    def pose(
        self, q: ArrayLike, frame: str | None = None, out: Out = None, threads: int | None = None,
        parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The pose of a frame or body on the ground, `(..., 4, 4)`.

        >>> import eslabon as es
        >>> es.load("elbow").pose([0.0, 0.0], frame="tool")[:3, 3]
        array([2., 0., 0.])
        """
        try:
            native = self._native["pose", frame]
        except LOOKUP_ERRORS:
            raise unhashable(frame=frame) from None
        if more:
            return native(q, out=out, threads=threads, parameters=parameters, **more)
        return native(q, out=out, threads=threads, parameters=parameters)

    @verb
    def jacobian(
        self, q: ArrayLike, frame: str | None = None, axes: str = "body", out: Out = None, threads: int | None = None,
        parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The Jacobian of a frame, `(..., 6, nv)`, angular rows first: twist = J v.

        `axes` is "body" (the frame's own axes and origin), "spatial" (the ground's) or "aligned"
        (the ground's axes, the frame's origin).

        >>> import eslabon as es
        >>> es.load("elbow").jacobian([0.0, 0.0], "tool", axes="aligned")[3:] + 0.0
        array([[0., 0.],
               [2., 1.],
               [0., 0.]])
        """
        try:
            native = self._native["jacobian", frame, axes]
        except LOOKUP_ERRORS:
            raise unhashable(frame=frame, axes=axes) from None
        if more:
            return native(q, out=out, threads=threads, parameters=parameters, **more)
        return native(q, out=out, threads=threads, parameters=parameters)

    @verb
    def velocity(
        self, q: ArrayLike, v: ArrayLike, frame: str | None = None, axes: str = "body", out: Out = None,
        threads: int | None = None, parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The twist of a frame, `(..., 6)`, angular part first; `axes` as in `jacobian`.

        >>> import eslabon as es
        >>> es.load("elbow").velocity([0.0, 0.0], [1.0, 0.5], "tool", axes="aligned")
        array([0. , 0. , 1.5, 0. , 2.5, 0. ])
        """
        try:
            native = self._native["velocity", frame, axes]
        except LOOKUP_ERRORS:
            raise unhashable(frame=frame, axes=axes) from None
        if more:
            return native(q, v, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, out=out, threads=threads, parameters=parameters)

    @verb
    def acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str | None = None, axes: str = "body", out: Out = None,
        threads: int | None = None, parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The rate of a frame's twist, `(..., 6)`. With axes="aligned" its linear part is the
        classical acceleration.

        >>> import eslabon as es
        >>> es.load("elbow").acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "tool", axes="aligned")
        array([ 0.,  0.,  0., -2.,  0.,  0.])
        """
        try:
            native = self._native["acceleration", frame, axes]
        except LOOKUP_ERRORS:
            raise unhashable(frame=frame, axes=axes) from None
        if more:
            return native(q, v, a, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, a, out=out, threads=threads, parameters=parameters)

    @verb
    def position_hessian(
        self, q: ArrayLike, frame: str | None = None, out: Out = None, threads: int | None = None,
        parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """Second derivatives of a frame's position, `(..., 3, nv, nv)` (Rojas, eq. 2.6.36).

        >>> import eslabon as es
        >>> es.load("elbow").position_hessian([0.0, 0.0], "tool")[0]
        array([[-2., -1.],
               [-1., -1.]])
        """
        try:
            native = self._native["position_hessian", frame]
        except LOOKUP_ERRORS:
            raise unhashable(frame=frame) from None
        if more:
            return native(q, out=out, threads=threads, parameters=parameters, **more)
        return native(q, out=out, threads=threads, parameters=parameters)

    @overload
    def inverse_kinematics(
        self, target: Any, guess: ArrayLike | str | None = ..., *, solutions: int = ..., report: Literal[False] = ...,
        **options: Unpack[SolveOptions],
    ) -> Floats: ...  # fmt: skip
    @overload
    def inverse_kinematics(
        self, target: Any, guess: ArrayLike | str | None = ..., *, solutions: int = ..., report: Literal[True],
        **options: Unpack[SolveOptions],
    ) -> Configurations: ...  # fmt: skip
    @solving_verb
    def inverse_kinematics(
        self, target: Any, guess: ArrayLike | str | None = None, *, solutions: int = 1, report: bool = False,
        **options: Unpack[SolveOptions],
    ) -> Floats | Configurations:  # fmt: skip
        """Coordinates that bring a frame to a target, `(..., nq)`; with loops, of configurations
        that close them.

        `target` is a pose `(..., 4, 4)`, an `es.Target` for a part of one (a position, an
        orientation, an axis, planar coordinates, chosen rows, points), or a list of targets, each
        with its weight. All targets of a batch are solved in one call, and each gives the same
        result as alone. The search starts from `guess`, then from configurations spread over the
        ranges of the joints.

        A target out of reach raises `InverseKinematicsError`, which says how near the nearest
        configuration comes. With report=True nothing raises, and the result has `q`, `converged`,
        `distance`, `angle` and `iterations`: the nearest configuration that the loops and the
        limits allow.

        `solutions=n` looks for so many configurations, such as the working modes of a target;
        places are NaN where fewer were found. Options are those of `assemble`.

        >>> import eslabon as es, numpy as np
        >>> m = es.load("puma560")
        >>> q = m.inverse_kinematics(m.pose(m.home()), guess=m.home() + 0.1)
        >>> bool(np.allclose(m.pose(q), m.pose(m.home())))
        True
        >>> m = es.load("five_bar")
        >>> q = m.inverse_kinematics(es.Target(position=[0.05, 0.08, 0]))
        >>> m.pose(q)[:3, 3].round(6) + 0.0
        array([0.05, 0.08, 0.  ])
        """
        from eslabon.solve.inverse_kinematics import inverse_kinematics

        return inverse_kinematics(
            self, target, guess, solutions=solutions, report=report, **options
        )

    @solving_verb
    def follow(
        self, path: Followed, guess: ArrayLike | str | None = None, *, frame: str | None = None, part: str = "pose",
        axis: Any = "z", times: ArrayLike | None = None, report: bool = False, **options: Unpack[SolveOptions],
    ) -> Trajectory:  # fmt: skip
        """The joint motion that carries a frame along a path (see `es.paths`), with loops as
        without: a `Trajectory` with exact rates, and with the groups "distance", "angle" and "slip"
        (what is missing to the path) and "condition" (the condition number).

        `part` says what of the path counts: "pose", "position", "orientation", "planar" (x, y and
        the angle in the mechanism's plane), or "axis", the position and the direction of the
        frame's `axis`. The branch of the first configuration is kept by continuation; where the
        path leaves freedom, the joints move as little as they can at every instant. A limit or a
        place out of reach raises an error that says when; a singular configuration that is passed
        is a warning with its time. With report=True neither is. `times` are 101 instants if left
        out. Options are those of `assemble`; `parameters` are those of one design.

        >>> import numpy as np
        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> way = es.paths.along(es.paths.line([0.05, 0.08, 0], [0.06, 0.1, 0]), es.paths.cycloidal(0.5))
        >>> motion = m.follow(way, part="position", times=np.linspace(0, 0.5, 6))
        >>> m.pose(motion.q)[-1, :2, 3].round(6)
        array([0.06, 0.1 ])
        """
        from eslabon.motion.following import follow

        return follow(
            self,
            path,
            guess,
            frame=frame,
            part=part,
            axis=axis,
            times=times,
            report=report,
            **options,
        )

    def newton_gauss(
        self,
        pose: ArrayLike,
        guess: ArrayLike | None = None,
        frame: str | None = None,
        **options: Any,
    ) -> Iterations:
        """The plain iteration of Newton and Gauss on rotation invariants, iterate by iterate
        (Rojas, 3.3.1), to see how it converges; `inverse_kinematics` finds configurations from any
        start.

        Options: `equations`, "invariants" for the seven of the thesis or "vector" for six, without
        the redundant one of the trace, which are spuriously singular where the frame has turned by
        a right angle; `twist` and `acceleration` of the frame for `.v` and `.a` from the same
        matrix; `iterations` at most; `tolerance`; `dtype=np.float32` for single precision. Where a
        guess is far, the iteration may diverge: that is what it shows.

        >>> import eslabon as es
        >>> m = es.load("puma560")
        >>> found = m.newton_gauss(m.pose([0.3, 0.7, -2.6, 0.2, 0.8, 0.1]), guess=[0.3, 0.8, -2.5, 0.1, 0.7, 0.2])
        >>> bool(found.residual[0] > 0.1), bool(found.residual[-1] < 1e-12)
        (True, True)
        """
        from eslabon.solve.newton_gauss import newton_gauss

        known_options("newton_gauss", newton_gauss, options)
        return newton_gauss(self, pose, guess, frame, **options)

    def well_conditioned(self, frame: str | None = None, *, limits: bool = True) -> Floats:
        """A configuration from which a frame moves evenly in all directions, to start from (Rojas,
        eq. 3.3.1.12): the least condition number of the frame's Jacobian; with loops the greatest
        of the lesser reciprocal condition number of `conditions`.

        >>> import eslabon as es
        >>> m = es.load("puma560")
        >>> bool(m.conditions(m.well_conditioned()).serial > m.conditions(m.home()).serial)
        True
        """
        from eslabon.solve.singular.well_conditioned import well_conditioned

        return well_conditioned(self, frame, limits=limits)

    def at_time(self, t: float) -> Self:
        """A driven mechanism with its constraints as they are at an instant: for questions about
        configurations alone.

        >>> import eslabon as es
        >>> b = es.Builder("fan").body("blade", mass=1.0).joint("q", "revolute", "ground", "blade")
        >>> b.drive("motor", "q", "0.5*t").build().at_time(2.0).rheonomic
        False
        """
        from eslabon.solve.driven import at_time, instants

        instants(self, t)  # or a sentence
        return at_time(self, number(t, "t"))

    # -- loops --------------------------------------------------------------------------------------------------

    @verb
    def constraint(
        self, q: ArrayLike, out: Out = None, threads: int | None = None, parameters: Named = None,
        **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The residuals of every loop and coupling, `(..., rows)`: zero where the mechanism is
        closed.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> bool(abs(m.constraint(m.assemble([2.0, 1.0]))).max() < 1e-12)
        True
        """
        native = self._native["constraint",]
        if more:
            return native(q, out=out, threads=threads, parameters=parameters, **more)
        return native(q, out=out, threads=threads, parameters=parameters)

    @verb
    def constraint_jacobian(
        self, q: ArrayLike, out: Out = None, threads: int | None = None, parameters: Named = None,
        **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """J with d(constraint)/dt = J v, `(..., rows, nv)`.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> q, v, _ = m.complete([2.0, 1.0], [1.0, 0.5], [0.0, 0.0])
        >>> bool(abs(m.constraint_jacobian(q) @ v).max() < 1e-12)
        True
        """
        native = self._native["constraint_jacobian",]
        if more:
            return native(q, out=out, threads=threads, parameters=parameters, **more)
        return native(q, out=out, threads=threads, parameters=parameters)

    @overload
    def assemble(
        self, given: Any = ..., guess: ArrayLike | str | None = ..., *, report: Literal[False] = ...,
        **options: Unpack[SolveOptions],
    ) -> Floats: ...  # fmt: skip
    @overload
    def assemble(
        self, given: Any = ..., guess: ArrayLike | str | None = ..., *, report: Literal[True], **options: Unpack[SolveOptions]
    ) -> Configurations: ...  # fmt: skip
    @solving_verb
    def assemble(
        self, given: Any = None, guess: ArrayLike | str | None = None, *, report: bool = False,
        **options: Unpack[SolveOptions],
    ) -> Floats | Configurations:  # fmt: skip
        """Assemble the mechanism: find all coordinates that close its loops, `(..., nq)`.

        `given` is what is prescribed: the coordinates of the actuated joints, `(..., n)`; a mapping
        of joints, {"A": 0.5, "B": 1.0}; an `es.Target` of a frame, or a list of them. The mechanism
        is moved from `guess` (the closed home if left out, or the name of a mode) along a straight
        way, so that it stays on its branch; a singular configuration that is passed is a warning.
        Raises `AssemblyError` if the loops cannot be closed; the message names the loop and the
        remaining gap. With report=True nothing raises, and the result has `q`, `converged`,
        `distance` and `angle`.

        The options are the same in `complete`, `inverse_kinematics` and `follow`: `limits=False`
        lets joints go beyond their limits; `continuation=True` takes the rows of a batch as a
        motion, each following from the one before; `singular` is "error", "warn" or "ignore";
        `tolerance` is in radians, or metres over the mechanism's characteristic length; `restarts`
        bounds other starts of a search; `threads` are native threads; `t` is the time where
        constraints drive the mechanism; `parameters` are those of one design or of many, which
        broadcast like everything else. The way then leads from the model's own values to those of
        each design, so that all stay on one branch; a guess that is closed in its own design stays
        in it.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.assemble([2.0, 1.0]).round(6)
        array([ 2.      , -1.212281,  1.      ,  1.314632])
        >>> m.assemble([2.0, 1.0], parameters={"L2": [0.03, 0.04, 0.05]})[:, 1].round(3)
        array([-1.118, -1.212, -1.308])
        """
        from eslabon.solve.assembly import assemble

        return assemble(self, given, guess, report=report, **options)

    @overload
    def complete(
        self, given: Any = ..., velocity: Any = ..., acceleration: Any = ..., guess: ArrayLike | str | None = ..., *,
        report: Literal[False] = ..., **options: Unpack[SolveOptions],
    ) -> tuple[Floats, Floats, Floats]: ...  # fmt: skip
    @overload
    def complete(
        self, given: Any = ..., velocity: Any = ..., acceleration: Any = ..., guess: ArrayLike | str | None = ..., *,
        report: Literal[True], **options: Unpack[SolveOptions],
    ) -> JointMotion: ...  # fmt: skip
    @solving_verb
    def complete(
        self, given: Any = None, velocity: Any = None, acceleration: Any = None, guess: ArrayLike | str | None = None, *,
        report: bool = False, **options: Unpack[SolveOptions],
    ) -> tuple[Floats, Floats, Floats] | JointMotion:  # fmt: skip
        """Full q, v, a from the motion of what is prescribed: of the actuated joints, of a mapping
        of joints, or of an `es.Target` (Yime, 30-36; Rojas, 3.3.2 and 3.3.3).

        `given` and the options are as in `assemble`. `velocity` and `acceleration` are the rates of
        what is given, zero if left out: of a pose the frame's twist and its rate, in the ground's
        axes at its origin, angular part first; of a position its three components; of joints their
        velocities, as an array or a mapping. Joints that leave motions open are refused; with
        passive="minimum_norm" these move as little as they can. What a target leaves open always
        does, and so does a rod that spins between two ball joints. A singular configuration raises
        `SingularityError`; with singular="warn" the minimum-norm velocities there are given with a
        warning. With report=True nothing raises, and the result also has `slip`, what is missing of
        the velocities, and the `condition` number.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> q, v, a = m.complete(es.Target(position=[0.05, 0.08, 0]), [0.1, 0, 0], [0, 0, 0])
        >>> m.velocity(q, v, axes="aligned")[3:].round(9) + 0.0
        array([0.1, 0. , 0. ])
        """
        from eslabon.solve.assembly import complete

        return complete(self, given, velocity, acceleration, guess, report=report, **options)

    @overload
    def project(
        self, q: ArrayLike, *, limits: bool = ..., t: ArrayLike | None = ..., parameters: Mapping[str, ArrayLike] | None = ...
    ) -> Floats: ...  # fmt: skip
    @overload
    def project(
        self, q: ArrayLike, v: ArrayLike, *, limits: bool = ..., t: ArrayLike | None = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
    ) -> tuple[Floats, Floats]: ...  # fmt: skip
    @overload
    def project(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, limits: bool = ..., t: ArrayLike | None = ...,
        parameters: Mapping[str, ArrayLike] | None = ...,
    ) -> tuple[Floats, Floats, Floats]: ...  # fmt: skip
    def project(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, limits: bool = True,
        t: ArrayLike | None = None, parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Floats | tuple[Floats, ...]:  # fmt: skip
        """The nearest state that keeps the loops closed: q alone, or the tuple (q, v) or (q, v, a),
        as it was given. Where constraints drive the mechanism, `t` is the time. `parameters` are
        those of one design or of many.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> q, v = m.project([2.0, -1.2, 1.0, 1.3], [1.0, 0.0, 0.0, 0.0])
        >>> bool(abs(m.constraint(q)).max() < 1e-12)
        True
        >>> lengths = {"L2": [0.03, 0.05]}
        >>> bool(abs(m.constraint(m.project(q, parameters=lengths), parameters=lengths)).max() < 1e-12)
        True
        """
        from eslabon.solve.assembly import project

        return project(self, q, v, a, limits=limits, t=t, parameters=parameters)

    @overload
    def assembly_modes(
        self, given: Any = ..., *, report: Literal[False] = ..., limits: bool = ..., t: float | None = ...,
        parameters: Mapping[str, float] | None = ...,
    ) -> Floats: ...  # fmt: skip
    @overload
    def assembly_modes(
        self, given: Any = ..., *, report: Literal[True], limits: bool = ..., t: float | None = ...,
        parameters: Mapping[str, float] | None = ...,
    ) -> AssemblyModes: ...  # fmt: skip
    def assembly_modes(
        self, given: Any = None, *, report: bool = False, limits: bool = True, t: float | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Floats | AssemblyModes:  # fmt: skip
        """The assembly modes: the different ways the mechanism closes for the same actuated values,
        or for the same target of a frame, `(modes, nq)`, the nearest home first.

        They are found by a search from some hundred starts, which does not prove that there are no
        more; with report=True the result says how many starts were tried. `given` is as in
        `assemble`. `parameters` are those of one design. `with_mode` keeps a mode under a name.

        >>> import eslabon as es
        >>> es.load("five_bar").assembly_modes([2.0, 1.0]).round(3)
        array([[ 2.   , -1.212,  1.   ,  1.315],
               [ 2.   , -2.827,  1.   ,  2.929]])
        """
        from eslabon.solve.assembly_modes import assembly_modes

        return assembly_modes(self, given, report=report, limits=limits, t=t, parameters=parameters)

    def actuation_map(
        self,
        q: ArrayLike,
        va: ArrayLike | None = None,
        *,
        joints: Sequence[str] | None = None,
        passive: str = "refuse",
        singular: str = "error",
    ) -> ActuationMap:
        """How all velocities follow from those of the actuated joints at closed configurations:
        `.N` with v = N va, and `.rho`, its rows of passive joints (Yime, eqs. 32 and 44). With `va`
        also `.gamma`, the right-hand side of J a = gamma, and `.rate` with a = N aa + rate (eqs.
        33-36).

        `joints` names others than the actuated ones. Motions that they do not determine are
        refused, or the least possible with passive="minimum_norm". `singular` is "error", "warn" or
        "ignore".

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> found = m.actuation_map(m.assemble([2.0, 1.0]), va=[1.0, 0.5])
        >>> found.passive, found.rho.shape, found.N.shape
        (('theta3', 'theta4'), (2, 2), (4, 2))
        """
        from eslabon.solve.velocity_maps import actuation_map

        return actuation_map(self, q, va, joints=joints, passive=passive, singular=singular)

    def link_jacobian(
        self,
        q: ArrayLike,
        body: str | None = None,
        axes: str = "body",
        *,
        joints: Sequence[str] | None = None,
        passive: str = "refuse",
        singular: str = "error",
    ) -> Floats:
        """The Jacobian of a body or frame by the velocities of the actuated joints, `(..., 6, nu)`:
        twist = J va (Yime, eqs. 41, 45 and 46). `axes` as in `jacobian`, the rest as in
        `actuation_map`.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.link_jacobian(m.assemble([2.0, 1.0]), "point", axes="aligned")[3:5].round(4)
        array([[-0.0276, -0.0275],
               [-0.0254,  0.0273]])
        """
        from eslabon.solve.velocity_maps import link_jacobian

        options = {"joints": joints, "passive": passive, "singular": singular}
        return link_jacobian(self, q, body, axes, **options)

    def independent_coordinates(self, q: ArrayLike | None = None) -> tuple[str, ...]:
        """Which velocities elimination takes as independent, by name: near home the actuated ones
        as far as they can be, or those from which the others follow best at a configuration
        (coordinate partitioning by pivoting).

        >>> import eslabon as es
        >>> es.load("five_bar").independent_coordinates()
        ('theta2', 'theta5')
        """
        from eslabon.solve.singular.conditions import independent_coordinates

        return independent_coordinates(self, q)

    def conditions(
        self, q: ArrayLike, frame: str | None = None, part: str = "all", *, parameters: Mapping[str, ArrayLike] | None = None,
        length: float | None = None,
    ) -> Conditions:  # fmt: skip
        """How near configurations are to singular, of the parallel kind (locked actuators do not
        hold the loops) and of the serial kind (a frame loses a direction): reciprocal condition
        numbers from 1 to 0, the mobility at each, and the signs of the Jacobians' determinants.
        `part` is what counts of the frame: "all", "translation" or "rotation". `parameters` are
        those of one design or of many, which broadcast with the configurations. `length` is the
        characteristic length, m, by which translations and rotations are compared; left out, it is
        the size of each design, its longest reach between two joints of a body.

        Along a motion `.crossings` are the rows after which a parallel singular configuration is
        passed, `.passages` where one of either kind is, `.closest` where the motion comes nearest
        to one, and `.distance` how far the joints go from each row until the next.

        >>> import eslabon as es, numpy as np
        >>> m = es.load("elbow")
        >>> q = np.stack([np.full(11, 0.3), np.linspace(1.0, -0.25, 11)], axis=-1)   # it is stretched on the way
        >>> found = m.conditions(q, "tool", part="translation")
        >>> found.closest.kind, round(found.closest.at, 2), round(found.closest.distance, 2)
        ('serial', 8.0, 1.0)
        """
        from eslabon.solve.singular.conditions import conditions

        return conditions(self, q, frame, part, parameters=parameters, length=length)

    def singularity(
        self, q: ArrayLike, frame: str | None = None, part: str = "all", *, tolerance: float = 1e-5
    ) -> Singularity:
        """What is special about a singular configuration: twists that a frame has `.lost`, the
        wrenches `.carried` without the actuators, joint motions `.gained` that locked actuators do
        not hold, `.self_motions` that leave the frame at rest, and joints that are `.locked`;
        `.words` say it in sentences. `part` as in `conditions`. Singular values below `tolerance`
        of a Jacobian's size count as zero: 0.05 tells what is nearly lost.

        >>> import eslabon as es
        >>> print(es.load("elbow").singularity([0.0, 0.0], "tool", part="translation"))
        <Singularity of elbow: parallel 1, serial 0>
          'tool' has lost its translation along (1, 0, 0)
          theta1, theta2 can move without moving 'tool'
        """
        from eslabon.solve.singular.singularity import singularity

        return singularity(self, q, frame, part, tolerance=tolerance)

    def manipulability(
        self, q: ArrayLike, frame: str | None = None, part: str = "all", *, parameters: Mapping[str, ArrayLike] | None = None
    ) -> Manipulability:  # fmt: skip
        """The ellipsoid of a frame's velocities for unit rates of the actuators: `.axes`,
        `.lengths` of its semi-axes, its `.volume`, Yoshikawa's `.measure`, and `.forces`, the
        semi-axes of the force ellipsoid. `part` is "all" (the whole twist, rad/s and m/s together),
        "translation" or "rotation". `parameters` are those of one design or of many.

        >>> import eslabon as es, numpy as np
        >>> es.load("elbow").manipulability([0.0, np.pi / 2], "tool", part="translation")
        <Manipulability: semi-axes 1.62, 0.618, measure 1>
        """
        from eslabon.solve.singular.manipulability import manipulability

        return manipulability(self, q, frame, part, parameters=parameters)

    def workspace(
        self, frame: str | None = None, ranges: Mapping[str, tuple[float, float]] | None = None, samples: int = 2000,
        guess: ArrayLike | str | None = None, *, limits: bool = True, progress: bool | None = None,
    ) -> Workspace:  # fmt: skip
        """Where a frame can go and how near to singular it is there: configurations `.q`, `.poses`
        and `.conditions` spread over what the actuated joints may do (their limits, or `ranges` by
        name), the share `.reached` of the samples, and a `.plot()` of them. No sample depends on
        the others. A bar shows on a terminal after a second, unless progress=False.

        >>> import eslabon as es
        >>> es.load("five_bar").workspace(samples=200)
        <Workspace of five_bar: 200 of 200 samples reached, parallel from 0.34, serial from 0.00081>
        """
        from eslabon.solve.workspace.sampled_workspace import workspace

        return workspace(self, frame, ranges, samples, guess, limits=limits, progress=progress)

    def workspace_map(
        self, frame: str | None = None, over: Mapping[str, Any] | None = None, shape: Any = None, modes: Any = "all", *,
        part: str | None = None, limits: bool = True, configurations: bool = False,
        parameters: Mapping[str, float] | None = None, most: int = 4_000_000, progress: bool | None = None,
        threads: int | None = None,
    ) -> WorkspaceMap:  # fmt: skip
        """A map over a regular grid of poses: for each pose and working mode (each branch of the
        inverse kinematics) whether the mechanism closes, its reciprocal condition numbers and the
        signs of both determinants; `.area`, `.dexterity`, `.components`, `.singular_curves(kind)`,
        `.plot()`.

        `over` gives two or three coordinates ranges and fixes others: "x", "y", "z", "angle" (in
        the plane of the mechanism) or "roll", "pitch", "yaw" of the frame, or joints by name.
        Exactly these are prescribed; coordinates of the pose that are not named follow from the
        loops, and `.layers` has them. `shape` is how many poses there are along each. `modes` is
        "all", names of working modes, or a configuration on the one that is wanted. `part` of the
        frame's twist is as in `conditions`; left out, that which as many actuators move. With
        limits=False joints may be anywhere; configurations=True keeps `.q`; `parameters` are those
        of one design. A grid of more than `most` poses is refused.

        >>> import eslabon as es
        >>> m = es.load("planar_3rrr")
        >>> m.workspace_map(over={"x": (-0.25, 0.25), "y": (-0.25, 0.25), "angle": 0.0}, shape=50)
        <WorkspaceMap of planar_3rrr: x 50, y 50; 8 working modes, 0.153 m2 reached (cells of 0.01 m x 0.01 m; angle = 0 rad), dexterity 0.048>
        """
        from eslabon.solve.workspace.workspace_map import workspace_map

        return workspace_map(self, frame, over, shape, modes, part=part, limits=limits, configurations=configurations,
            parameters=parameters, most=most, progress=progress, threads=threads)  # fmt: skip

    # -- dynamics -----------------------------------------------------------------------------------------------

    @verb
    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, formulation: str | None = None, constraints: str | None = None,
        weights: tuple[float, ...] | None = None, independent: tuple[str, ...] | None = None, out: Out = None,
        threads: int | None = None, parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The actuators' forces for a motion, `(..., nu)`.

        `formulation` is how the equations of the tree are written: "newton_euler", "lagrange" (or
        "kane": Lagrange's equations in Kane's form), "lie", "gibbs_appell", "quaternion" or
        "bond_graph"; `constraints` is how loops are imposed on it: "multipliers", "elimination" or
        "udwadia_kalaba". Left out, the fastest are taken. Elimination keeps the `independent`
        coordinates that are named (joints, or velocities such as 'ball.wx'; see
        `independent_coordinates`), or selects good ones. With loops and more actuators than degrees
        of freedom, actuation redundancy is resolved by the least sum of `weights` times force
        squared (by minimum norm without weights); with fewer, see `hybrid_dynamics`.

        >>> import eslabon as es
        >>> es.load("double_pendulum").inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        array([0., 0.])
        """
        weights = None if weights is None else hashable(weights)
        independent = None if independent is None else hashable(independent)
        try:
            native = self._native[
                "inverse_dynamics", formulation, constraints, weights, independent
            ]
        except LOOKUP_ERRORS:
            raise unhashable(formulation=formulation, constraints=constraints) from None
        if more:
            return native(q, v, a, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, a, out=out, threads=threads, parameters=parameters)

    @verb
    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, formulation: str | None = None,
        constraints: str | None = None, independent: tuple[str, ...] | None = None, out: Out = None,
        threads: int | None = None, parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The accelerations under the actuators' forces, `(..., nv)`; `formulation`, `constraints`
        and `independent` as in `inverse_dynamics`. A motion that moves no mass is refused by name.

        >>> import eslabon as es
        >>> m = es.load("slider_crank")
        >>> q, v, a = m.complete([0.8], [1.0], [0.0])
        >>> m.forward_dynamics(q, v, [0.1]).round(6)
        array([-22.040404,  27.544069,   1.889557])
        >>> m.forward_dynamics(q, v, [0.1], constraints="elimination", independent=("slide",)).round(6)
        array([-22.040404,  27.544069,   1.889557])
        """
        independent = None if independent is None else hashable(independent)
        try:
            native = self._native["forward_dynamics", formulation, constraints, independent]
        except LOOKUP_ERRORS:
            raise unhashable(formulation=formulation, constraints=constraints) from None
        if more:
            return native(q, v, tau, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, tau, out=out, threads=threads, parameters=parameters)

    @verb
    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Out = None, threads: int | None = None,
        parameters: Named = None, **more: Unpack[CallOptions],
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        """The derivatives of the actuators' forces by q (along the velocities), v and a, `(..., nu,
        nv)` each, in one call: Rojas' W, V and U.

        >>> import eslabon as es
        >>> W, V, U = es.load("double_pendulum").inverse_dynamics_derivatives([0.5, 0.2], [1.0, 0.0], [0.0, 0.0])
        >>> bool(abs(U - U.T).max() < 1e-15)
        True
        """
        native = self._native["inverse_dynamics_derivatives",]
        if more:
            return native(q, v, a, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, a, out=out, threads=threads, parameters=parameters)

    @verb
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, independent: tuple[str, ...] | None = None, out: Out = None,
        threads: int | None = None, parameters: Named = None, **more: Unpack[CallOptions],
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        """The derivatives of the accelerations by q (along the velocities), v and tau, `(..., nv,
        nv)` and `(..., nv, nu)`, in one call, with loops too.

        >>> import eslabon as es
        >>> m = es.load("double_pendulum")
        >>> *_, by_tau = m.forward_dynamics_derivatives([0.5, 0.2], [1.0, 0.0], [0.0, 0.0])
        >>> bool(abs(by_tau @ m.mass_matrix([0.5, 0.2]) - [[1, 0], [0, 1]]).max() < 1e-12)
        True
        """
        independent = None if independent is None else hashable(independent)
        native = self._native["forward_dynamics_derivatives", independent]
        if more:
            return native(q, v, tau, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, tau, out=out, threads=threads, parameters=parameters)

    @verb
    def hybrid_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, formulation: str | None = None, constraints: str | None = None,
        independent: tuple[str, ...] | None = None, out: Out = None, threads: int | None = None,
        parameters: Named = None, **more: Unpack[CallOptions],
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Actuators' forces `(..., nu)` and all accelerations `(..., nv)` when only the actuated
        joints' accelerations in `a` are prescribed; motions no actuator reaches, such as the spin
        of a rod, follow their own dynamics. `out` is a tuple of two arrays, and the derivative of
        both is a tuple too.

        >>> import eslabon as es
        >>> tau, a = es.load("cart_pole").hybrid_dynamics([0.0, 0.1], [0.0, 0.0], [1.0, 0.0])
        >>> tau.shape, a.shape
        ((1,), (2,))
        >>> float(a[0])
        1.0
        """
        independent = None if independent is None else hashable(independent)
        try:
            native = self._native["hybrid_dynamics", formulation, constraints, independent]
        except LOOKUP_ERRORS:
            raise unhashable(formulation=formulation, constraints=constraints) from None
        if more:
            return native(q, v, a, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, a, out=out, threads=threads, parameters=parameters)

    @verb
    def mass_matrix(
        self,
        q: ArrayLike,
        formulation: str | None = None,
        out: Out = None,
        threads: int | None = None,
        parameters: Named = None,
        **more: Unpack[CallOptions],
    ) -> Floats:
        """The mass matrix M, `(..., nv, nv)`, motors' own inertia included; of a closed mechanism,
        that of its tree.

        It is found by composite rigid bodies (CRBA), or by the `formulation` that is named, as in
        `inverse_dynamics`.

        >>> import eslabon as es
        >>> es.load("cart_pole").mass_matrix([0.0, 0.0]).round(4)
        array([[1.1   , 0.05  ],
               [0.05  , 0.0333]])
        """
        try:
            native = self._native["mass_matrix", formulation]
        except LOOKUP_ERRORS:
            raise unhashable(formulation=formulation) from None
        if more:
            return native(q, out=out, threads=threads, parameters=parameters, **more)
        return native(q, out=out, threads=threads, parameters=parameters)

    @verb
    def coriolis_matrix(
        self,
        q: ArrayLike,
        v: ArrayLike,
        formulation: str | None = None,
        out: Out = None,
        threads: int | None = None,
        parameters: Named = None,
        **more: Unpack[CallOptions],
    ) -> Floats:
        """The matrix C, `(..., nv, nv)`: C v are the velocity forces, and dM/dt - 2 C is skew.

        These two facts leave a choice. Left out, and of "lagrange" (or "kane"), C is that of Kane's
        form. Every other `formulation` gives the matrix of Christoffel's symbols: "quaternion" by
        the derivatives of its Jacobians, the others by those of their own mass matrix, in
        quasi-velocities by Koszul's formula.

        >>> import eslabon as es
        >>> es.load("double_pendulum").coriolis_matrix([0.0, 0.5], [1.0, 0.0]).round(4) + 0.0
        array([[ 0.    , -0.2397],
               [ 0.2397,  0.    ]])
        """
        try:
            native = self._native["coriolis_matrix", formulation]
        except LOOKUP_ERRORS:
            raise unhashable(formulation=formulation) from None
        if more:
            return native(q, v, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, out=out, threads=threads, parameters=parameters)

    @verb
    def gravity_forces(
        self, q: ArrayLike, out: Out = None, threads: int | None = None, parameters: Named = None,
        **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The joint forces that hold the weight, `(..., nv)`.

        >>> import eslabon as es
        >>> es.load("double_pendulum").gravity_forces([0.5, 0.0]).round(4)
        array([9.4063, 2.3516])
        """
        native = self._native["gravity_forces",]
        if more:
            return native(q, out=out, threads=threads, parameters=parameters, **more)
        return native(q, out=out, threads=threads, parameters=parameters)

    @verb
    def energy(
        self, q: ArrayLike, v: ArrayLike, out: Out = None, threads: int | None = None, parameters: Named = None,
        **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """Kinetic and potential energy, `(..., 2)`; the potential counts weight and springs.

        >>> import eslabon as es
        >>> es.load("double_pendulum").energy([0.0, 0.0], [1.0, 0.0]).round(4)
        array([  1.3333, -19.62  ])
        """
        native = self._native["energy",]
        if more:
            return native(q, v, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, out=out, threads=threads, parameters=parameters)

    @verb
    def reactions(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, formulation: str | None = None,
        constraints: str | None = None, independent: tuple[str, ...] | None = None, out: Out = None,
        threads: int | None = None, parameters: Named = None, *, tau: ArrayLike | None = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The wrench every joint transmits to the body it carries, `(..., joints, 6)`: moment
        first, in that body's axes about its origin. With loops, those of the cut joints follow, on
        their second body in its frame of the cut; `determined_reactions` says which components
        redundant constraints leave open: for those one possible answer is given, with no load in
        the redundant constraints.

        Given are the accelerations, for which the actuators' forces are found, or the actuators'
        forces `tau`, from which the accelerations follow: those of a motion that no actuator holds,
        for instance. `formulation` and `constraints`, as in `inverse_dynamics`, are for what has to
        be found.

        >>> import eslabon as es
        >>> m = es.load("double_pendulum")
        >>> m.reactions([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])[0, 3:]
        array([ 0.  , 19.62,  0.  ])
        """
        if (a is None) == (tau is None):
            raise forces_or_accelerations("reactions")
        quantity = "reactions" if tau is None else "reactions_under_forces"
        independent = None if independent is None else hashable(independent)
        try:
            native = self._native[quantity, formulation, constraints, independent]
        except LOOKUP_ERRORS:
            raise unhashable(formulation=formulation, constraints=constraints) from None
        if more:
            return native(
                q,
                v,
                a if tau is None else tau,
                out=out,
                threads=threads,
                parameters=parameters,
                **more,
            )
        return native(
            q, v, a if tau is None else tau, out=out, threads=threads, parameters=parameters
        )

    @verb
    def coupling_forces(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, formulation: str | None = None,
        constraints: str | None = None, independent: tuple[str, ...] | None = None, out: Out = None,
        threads: int | None = None, parameters: Named = None, *, tau: ArrayLike | None = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The force, or moment, of every coupling on its joint, `(..., couplings)`: what a gear
        transmits, and what drives a joint whose motion is given. Accelerations or the actuators'
        forces are given, as for `reactions`.

        >>> import eslabon as es
        >>> b = es.Builder("fan", gravity=(0, 0, 0)).body("blade", mass=2.0, com=(0.5, 0, 0)).actuate()
        >>> m = b.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.1*t**3").build()
        >>> m.coupling_forces([0.1], [0.3], [0.6], t=1.0).round(3)
        array([0.3])
        """
        if (a is None) == (tau is None):
            raise forces_or_accelerations("coupling_forces")
        quantity = "coupling_forces" if tau is None else "coupling_forces_under_forces"
        independent = None if independent is None else hashable(independent)
        try:
            native = self._native[quantity, formulation, constraints, independent]
        except LOOKUP_ERRORS:
            raise unhashable(formulation=formulation, constraints=constraints) from None
        if more:
            return native(
                q,
                v,
                a if tau is None else tau,
                out=out,
                threads=threads,
                parameters=parameters,
                **more,
            )
        return native(
            q, v, a if tau is None else tau, out=out, threads=threads, parameters=parameters
        )

    def determined_reactions(self, q: ArrayLike) -> np.ndarray:
        """Which components of `reactions` motion determines at a configuration, `(joints + loops,
        6)`: where constraints are redundant, as across the plane of a planar loop, loads may be
        locked in that no motion shows.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.determined_reactions(m.home())[0]
        array([False, False,  True,  True,  True, False])
        """
        from eslabon.solve.constraints.determined_reactions import determined

        return determined(self, q)

    @verb
    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Out = None, threads: int | None = None,
        parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """The matrix Y, `(..., nv, 10 bodies)`, with the rigid-body joint forces Y pi; see
        `inertial_parameters`.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> state = [0.3, 0.2], [1.0, 0.5], [0.0, 2.0]
        >>> bool(abs(m.regressor(*state) @ m.inertial_parameters() - m.inverse_dynamics(*state)).max() < 1e-12)
        True
        """
        native = self._native["regressor",]
        if more:
            return native(q, v, a, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, a, out=out, threads=threads, parameters=parameters)

    def inertial_parameters(self) -> Floats:
        """What the rigid-body joint forces are linear in, ten numbers a body: mass, mass times
        centre of mass (3), and Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the body's frame.

        >>> import eslabon as es
        >>> es.load("elbow").inertial_parameters().shape
        (20,)
        """
        from eslabon.systems.identification.inertial_parameters import inertial_parameters

        return inertial_parameters(self)

    def base_parameters(self) -> BaseParameters:
        """The fewest combinations of inertial parameters that motion can tell, with their values
        and in words; with loops, those that the forces along the independent velocities tell.

        >>> import eslabon as es
        >>> len(es.load("puma560").base_parameters())
        36
        """
        from eslabon.systems.identification.base_parameters import base_parameters

        return base_parameters(self)

    # -- linear models ------------------------------------------------------------------------------------------

    @verb
    def state_matrix(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, independent: tuple[str, ...] | None = None, out: Out = None,
        threads: int | None = None, parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """A of dx/dt = A x + B u about a state, `(..., 2n, 2n)`, as a quantity by itself: for
        `derivative`, `c_source`, `equations` and laws of one's own. `linearize` gives all of the
        linear model.

        >>> import eslabon as es
        >>> es.load("cart_pole").state_matrix([0.0, 0.0], [0.0, 0.0], [0.0]).shape
        (4, 4)
        """
        independent = None if independent is None else hashable(independent)
        native = self._native["state_matrix", independent]
        if more:
            return native(q, v, tau, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, tau, out=out, threads=threads, parameters=parameters)

    @verb
    def input_matrix(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, independent: tuple[str, ...] | None = None, out: Out = None,
        threads: int | None = None, parameters: Named = None, **more: Unpack[CallOptions],
    ) -> Floats:  # fmt: skip
        """B of dx/dt = A x + B u about a state, `(..., 2n, nu)`, as `state_matrix`.

        >>> import eslabon as es
        >>> es.load("cart_pole").input_matrix([0.0, 0.0], [0.0, 0.0], [0.0]).shape
        (4, 1)
        """
        independent = None if independent is None else hashable(independent)
        native = self._native["input_matrix", independent]
        if more:
            return native(q, v, tau, out=out, threads=threads, parameters=parameters, **more)
        return native(q, v, tau, out=out, threads=threads, parameters=parameters)

    def linearize(
        self, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, **options: Any
    ) -> LinearModel:
        """The exact linear model about a state of motion, at rest or not, of trees and of closed
        chains, as an `es.LinearModel`: U, V, W, A, B, C, D, and the names of states, inputs and
        outputs. Many states go in one native call.

        v left out is rest; tau left out are the forces that hold the state. Options: `a`,
        accelerations in place of tau; `outputs`, names such as "tool.x", "theta3'" or
        "reaction(pin)"; `independent` coordinates by name; `external`, `parameters`, `tolerance`,
        `t` (see `eslabon.systems.linear.linearize`).

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> lm = m.linearize(m.home())
        >>> lm.states
        ('theta2', 'theta5', "theta2'", "theta5'")
        """
        usual = v is not None and tau is not None and not options
        if usual and (quick := self._native.get(("linearize",))) is not None:
            with suppress(SingularityError):  # there may be better coordinates
                return quick(q, v, tau)
        from eslabon.systems.linear.linearize import linearize
        from eslabon.systems.linear.linearize import usual as ready

        known_options("linearize", linearize, options)
        made = linearize(self, q, v, tau, **options)
        if usual:
            self._native["linearize",] = ready(self)
        return made

    def equilibrium(self, q: Any = None, **options: Any) -> Equilibrium:
        """The forces that hold a configuration, or the configurations that rest, or move steadily,
        under forces: an object with `q`, `v`, `tau`, `stability`, `energy`, `poles`.

        Given are a configuration `q`, whole or for some joints by name, or the actuators' forces
        `tau`; `v` are constant velocities of cyclic coordinates, for a steady motion. all=True
        finds every equilibrium. Further options: `guess`, `limits`, `restarts`, `weights`,
        `external`, `parameters`, `strict`; see `eslabon.systems.linear.equilibrium`.

        >>> import eslabon as es
        >>> m = es.load("double_pendulum")
        >>> m.equilibrium([0.5, 0.2]).tau.round(3)
        array([10.215,  3.16 ])
        >>> m.equilibrium(tau=[1.0, 0.0]).stability
        'stable'
        """
        from eslabon.systems.linear.equilibrium import equilibrium

        known_options("equilibrium", equilibrium, options)
        return equilibrium(self, q, **options)

    def to_control_nonlinear(self, guess: ArrayLike | str | None = None) -> Any:
        """The equations of motion as a `control.NonlinearIOSystem`, for python-control to simulate
        and trim: inputs are the actuators' forces, outputs the positions and velocities of all
        joints; with loops the states are those of independent joints, and `guess` says on which
        branch the others are assembled (see `eslabon.systems.control.nonlinear_system`).

        >>> import eslabon as es
        >>> es.load("cart_pole").to_control_nonlinear().nstates
        4
        """
        from eslabon.systems.control.nonlinear_system import nonlinear_system

        return nonlinear_system(self, guess)

    def identify(self, motion: Any, **options: Any) -> Identification:
        """Base parameters, friction and motor inertias from recorded motions (a `Trajectory`, a CSV
        file, arrays by name, or a list of these) by weighted least squares, with standard errors, a
        verdict on the model, and the `.mechanism()` that they make.

        Options: `friction=("viscous", "coulomb", "offset")`, `motors=True`, `consistent=True`,
        `noise`, `cutoff`, `mass`, `confidence`, `guess`; see `es.identification.identify`.
        `es.identification.excitation` plans a motion that tells much.

        >>> import numpy as np
        >>> import eslabon as es
        >>> m, t = es.load("elbow"), np.linspace(0, 2, 101)
        >>> q = np.stack([np.sin(3 * t), np.cos(5 * t)], axis=-1)
        >>> v, a = np.stack([3 * np.cos(3 * t), -5 * np.sin(5 * t)], axis=-1), -q * [9, 25]
        >>> found = m.identify({"t": t, "q": q, "v": v, "a": a, "tau": m.inverse_dynamics(q, v, a)}, friction=())
        >>> bool(abs(found.torques(q, v, a) - m.inverse_dynamics(q, v, a)).max() < 1e-9)
        True
        """
        from eslabon.systems.identification import identify

        known_options("identify", identify, options)
        return identify(self, motion, **options)

    # -- simulation ---------------------------------------------------------------------------------------------

    def simulate(
        self, q0: ArrayLike, v0: ArrayLike | None, t: ArrayLike, control: Any = None, **options: Any
    ) -> Trajectory:
        """The motion from a state under a control, as an `es.Trajectory`: t, q, v, a, tau, energy,
        closure error.

        `v0=None` is rest; `t` is a duration, (start, end) or times to report at. `control` is None,
        forces, forces in time as (times, values), a law marked with `es.simulate.traced`, any
        function of t, q, v, or either of them `es.simulate.sampled`. Options: `method` ("DOP853",
        "LSODA", "Radau", "rk4", "symplectic", ...), `step`, `every`, `rtol`, `atol`, `events`,
        `saturate`, `stops`, `external`, `parameters` and more; see `es.simulate.simulate`.

        >>> import eslabon as es
        >>> swing = es.load("double_pendulum").simulate([0.5, 0.0], None, 1.0)
        >>> bool(abs(swing.energy.total - swing.energy.total[0]).max() < 1e-6)
        True
        """
        from eslabon.motion.simulation import simulate

        known_options("simulate", simulate, options)
        if "formulation" in options:
            options["formulation"] = chosen_formulation(options["formulation"], ALL_FORMULATIONS)
        return simulate(self, q0, v0, t, control, **options)

    def bond_graph(
        self, gravity: str = "sources", drives: Mapping[str, BondGraph] | None = None
    ) -> MechanismGraph:
        """The mechanism as a bond graph: Euler's rings of gyrators on inertia fields, joints as
        modulated transformers.

        `gravity` is "sources", a weight on each body, or "platform", a ground that accelerates
        upward (Morales). `drives` are graphs with one open port, by the joint they move in place of
        its actuator: motors with their amplifiers, cylinders with valves. The states are velocities
        `v_...`, coordinates `q_...`, and those of drives and springs.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> g = m.bond_graph()
        >>> g.rates(g.state([0.5, 0.2], [1.0, 0.0]), [0.0, 0.0])[:2] - m.forward_dynamics([0.5, 0.2], [1.0, 0.0], [0.0, 0.0]) < 1e-12
        array([ True,  True])
        """
        from eslabon.bond_graph.mechanism_graph import MechanismGraph

        return MechanismGraph.drawn(self, gravity, drives)

    # -- any quantity -------------------------------------------------------------------------------------------

    def derivative(
        self,
        quantity: str,
        by: str | Sequence[str],
        *arrays: ArrayLike,
        frame: str | None = None,
        axes: str | None = None,
        formulation: str | None = None,
        along: str = "frozen",
        held: Any = None,
        **more: Any,
    ) -> Any:
        """The exact derivative of a quantity by one of its arguments, by a parameter of the model,
        or by several parameters.

        By an argument the result has one more axis, its last, and so it has by parameters ("L1",
        "L2"), all found in one native call. By `q` it is taken along the velocities, so that
        quaternions need no care. The other options are those of the quantity's verb, `external` and
        `tolerance` among them.

        By a parameter q, v and a are held, `along="frozen"`, although another length may not close
        with them. `along="closed"` holds the actuated joints' motion and lets all others follow, so
        that the loops stay closed; "configuration", "velocities" and "accelerations" are quantities
        there too. `held` is what stays in their place: names of joints, a frame, whose pose, twist
        and acceleration stay so that actuated joints follow too, or parts of either, as in
        held={"tool": "position", "q4": "joint"}. A part is "pose", "position", "orientation",
        "planar" or rows of a pose, as in `inverse_kinematics`. Actuators' forces that are given
        stay, as do the accelerations that `hybrid_dynamics` prescribes.

        "conditions" gives the derivatives of both reciprocal condition numbers, `.parallel` and
        `.serial`, with the characteristic `length` that they are of held: left out, it is the size
        of the design as it is; "poles", "natural_frequencies" and "damping_ratios" of q, v and tau
        are those of `m.linearize(q, v, tau).modes()`, along="closed": where tau is left out, the
        forces follow so that the state stays an equilibrium (see `Modes.derivative`).

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> m.derivative("pose", "a1", [0.5, 0.0], frame="tool")[:3, 3]
        array([0.87758256, 0.47942554, 0.        ])
        >>> m = es.load("five_bar")
        >>> m.derivative("configuration", "L2", m.assemble([2.0, 1.0]), along="closed").round(3)     # rad a metre
        array([ 0.   , -9.518,  0.   , -3.512])
        >>> m.derivative("configuration", ("L2", "L3"), m.assemble([2.0, 1.0]), along="closed", held={"point": "position"}).shape
        (4, 2)
        """
        about = by if type(by) is str else hashable(by)
        kept = None if held is None else hashable(held)
        try:
            spectral = quantity in SPECTRAL
            native = self._derivatives[quantity, about, frame, axes, formulation, along, kept]
        except LOOKUP_ERRORS:
            options = {"frame": frame, "axes": axes, "formulation": formulation, "along": along}
            raise unhashable(quantity=quantity, **options) from None
        if not spectral:
            return native(*arrays, **more) if more else native(*arrays)
        from eslabon.systems.linear.spectral_derivatives import spectral_derivative

        followed = None if along == "frozen" else along
        own = {
            "frame": frame,
            "axes": axes,
            "formulation": formulation,
            "along": followed,
            "held": held,
        }
        given = {name: x for name, x in own.items() if x is not None}
        return spectral_derivative(self, quantity, by, arrays, {**more, **given})

    def operations(self, quantity: str = "inverse_dynamics", **options: Any) -> Operations:
        """How many multiplications, additions and other operations a quantity takes.

        >>> import eslabon as es
        >>> es.load("elbow").operations("mass_matrix").multiplications
        1
        """
        from eslabon.export.operation_counts import count

        return count(self._graph(quantity, options))

    def c_source(self, quantity: str = "inverse_dynamics", **options: Any) -> CSource:
        """Portable C for a quantity: an object with `.header`, `.code` and `.write(folder)`.

        >>> import eslabon as es
        >>> print(es.load("elbow").c_source("mass_matrix").header.splitlines()[-5])
        void elbow_mass_matrix(const double *q, double *mass_matrix);
        """
        from eslabon.export.c_source import source

        with announce(f"writing C for {self.name}"):
            return source(
                self._graph(quantity, options),
                f"{self.name}_{quantity}",
                f"{quantity} of {self.name}",
            )

    def equations(
        self,
        quantity: str | None = None,
        parameters: tuple[str, ...] | bool = True,
        long: bool = False,
        **options: Any,
    ) -> Equations:
        """A quantity as equations: print it, or take `.latex()`, the SymPy matrices in `.results`,
        or `.function()`.

        Besides what verbs compute, "equations_of_motion" are the terms of M v' + h = Q, with loops
        of M v' + h = Q + J^T lambda, J v' = gamma, Phi = 0; "velocity_coefficients" and
        "reduced_equations" say the same in independent velocities, without lambda. Left out, the
        quantity is "inverse_dynamics", with loops "equations_of_motion".

        The model's parameters stay letters; with `parameters=False` their values are put in.
        Equations of thousands of operations are printed with `long=True` only.

        >>> import eslabon as es
        >>> print(es.load("cart_pole").equations("equations_of_motion"))
        M v' + h = Q
        M[1,1] = m_cart + m_pole
        M[1,2] = M[2,1] = L*m_pole*cos(q2)/2
        M[2,2] = L**2*m_pole/3
        h[1] = -L*m_pole*v2**2*sin(q2)/2
        h[2] = -L*g*m_pole*sin(q2)/2
        Q[1] = tau
        Q[2] = 0
        """
        with announce(f"writing equations of {self.name}"):
            return textbook_equations(self, quantity, parameters, long, options)

    def _graph(self, quantity: str, options: Mapping[str, Any]) -> Any:
        return plain_graph(self, quantity_of(self, quantity), options)


class Builder(model.Builder):
    __doc__ = model.Builder.__doc__

    def build(self) -> Mechanism:
        """The finished mechanism, checked.

        >>> import eslabon as es
        >>> es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar").build()
        <Mechanism rod: 1 body, 1 joint, 0 loops, 1 actuator>
        """
        return Mechanism(self.describe()).warn()


def join(
    a: Mechanism, b: Mechanism, at: str, *, prefix: str = "", name: str | None = None
) -> Mechanism:
    """The mechanism `b`, such as a gripper, with its ground at a frame or body of `a`, such as an
    arm.

    Names that both have get the prefix in `b`; parameters of one name and definition are the same
    parameter, and modes of one name the same mode. Gravity is that of `a`.

    >>> import eslabon as es
    >>> arm = es.load("elbow")
    >>> es.join(arm, arm, at="tool", prefix="second_").pose([0.0, 0.0, 0.0, 0.0], "second_tool")[:3, 3]
    array([4., 0., 0.])
    """
    for m in (a, b):
        if not isinstance(m, Mechanism):
            raise ModelError(f"join takes two mechanisms; it was given {format_value(m)}.")
    return Mechanism(changes.join(a, b, at, prefix, name)).warn(
        (*a.plausibility_warnings, *b.plausibility_warnings)
    )


def load(source: str | Path, **options: Any) -> Mechanism:
    """A mechanism from the library, by name, or from a file: .toml, .urdf or MJCF (.xml).

    Options are those of the kind of file: of a URDF `eslabon.files.options.UrdfOptions`, such as
    `loops` and `base`; of an MJCF `strict`, which refuses a file of which something would be left
    out.

    >>> import eslabon as es
    >>> es.load("delta")
    <Mechanism delta: 10 bodies, 10 joints, 5 loops, 3 actuators>
    """
    description = files.load(source, **options)
    if files.names_library(source):
        return Mechanism(
            description
        )  # what looks odd in published data is known, and shown on request
    try:
        m = Mechanism(description).warn()
    except ModelError as error:
        raise ModelError(f"{source}: {error}").at(*error.place) from None
    for warning in moving_bodies_weigh_nothing(m):
        warnings.warn(f"{m.name}: {warning}", ModelWarning, stacklevel=user_stacklevel())
    return m


def check(path: str | Path, **options: Any) -> CheckReport:
    """What is wrong ("error") and what is odd ("warning") in a file: a list of findings with level,
    file, line, sentence.

    Mistakes of the text come first, then those of the mechanism: names, references, the tree,
    numbers no body has. The line is that of the key or element, or of the item around it. Options
    are those of `load`.

    >>> import eslabon as es
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "arm.toml"
    >>> _ = file.write_text('name = "arm"\\n[bodies.a]\\nmass = -1\\n[joints.q]\\nkind = "revolut"\\nparent = "ground"\\nchild = "a"\\n')
    >>> for finding in es.check(file):
    ...     print(finding.level, finding.line, finding.sentence)
    error 5 joint 'q': there is no joint kind 'revolut'; did you mean 'revolute'?
    error 3 body 'a': the mass is -1; it cannot be negative.
    """
    from eslabon.files.check import check_file

    if not isinstance(path, str | Path):
        raise ReadError(f"check takes the path of a file; it was given {format_value(path)}.")
    model, diagnostics = check_file(Path(path), options)
    if model is not None and model.closed and not model.rheonomic:
        for warning in _closure_warnings(Mechanism(model.description)):
            diagnostics.warn(str(warning), *warning.place)
    return diagnostics.findings()


def _closure_warnings(m: Mechanism) -> Iterator[ModelWarning]:
    """What only a solution tells, the warnings of the solver among it."""
    found: list[ModelWarning] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found += _closure_at_home(m)
        except EslabonError as error:  # home cannot be projected onto the loops
            found.append(ModelWarning(str(error)).at(*error.place))
    for warning in caught:
        if isinstance(warning.message, ModelWarning):
            said = str(warning.message).removeprefix(f"{m.name}: ")
            yield ModelWarning(said).at(*warning.message.place)
    yield from found


def _closure_at_home(m: Mechanism) -> Iterator[ModelWarning]:
    """Whether home closes the loops, and how many degrees of freedom they leave."""
    from eslabon.model.scale import row_scales
    from eslabon.solve.constraints.closure_violation import accepts, violation_of

    residual = np.abs(m.constraint(m.home()))
    if not accepts(violation_of(residual * row_scales(m))):
        q = m.project(m.home())
        near = [f"{name} = {x:.4g}" for name, x in m.named(q).items() if isinstance(x, float)]
        yield ModelWarning(
            f"home violates loop closure by {residual.max():.3g} (m or rad); the nearest closed configuration is "
            f"{', '.join(near[:6])}."
        ).at(*_place_of_row(m, int(residual.argmax())))
    if m.dof == 0:
        yield ModelWarning(
            "the loops leave no degree of freedom: this is a structure, or a loop is written twice."
        )
    elif m.nu > m.dof:
        yield ModelWarning(
            f"{m.nu} actuator forces drive {m.dof} degree{'s' * (m.dof != 1)} of freedom: actuation is redundant."
        ).at("actuated")


def _place_of_row(m: Mechanism, row: int) -> Place:
    """The loop or coupling that a row of the closure belongs to."""
    owners = [x for x in m.loops for _ in range(x.kind.rows)] + [*m.couplings]
    return place_of(owners[row])


def from_dh(*arguments: Any, **options: Any) -> Mechanism:
    return Mechanism(files.from_dh(*arguments, **options)).warn()


from_dh.__doc__ = files.from_dh.__doc__
