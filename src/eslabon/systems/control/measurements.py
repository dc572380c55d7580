"""What sensors say of a mechanism: how its outputs differ from those of another state, exactly and
not to first order only.

Outputs are those of linear models (`linear.measured`): positions and velocities of joints and
frames. What depends on forces, accelerations and reactions, no law of the time, the configuration
and the velocities knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import InputError
from eslabon.formulas.derivatives.measured_outputs import Output
from eslabon.formulas.inputs import Q, V
from eslabon.formulas.kinematics.frames import pose, velocity
from eslabon.model import Model
from eslabon.model.configuration import difference
from eslabon.numerics.quaternions import rotation_vector_from_quaternion
from eslabon.numerics.rigid_motions import position_of, rotation_of
from eslabon.numerics.rotations import quaternion_from_rotation
from eslabon.numerics.scalars import casadi
from eslabon.systems.linear.output_names import measured


def sensors(
    m: Model, names: Any, independent: Sequence[int]
) -> tuple[tuple[str, ...], tuple[Output, ...]]:
    """The names of outputs, component by component, and what they are; refused where no sensor of
    positions or velocities gives them."""
    found = measured(m, names, independent)
    for name, output in found:
        if output.of == "reaction" or output.order > 1:
            raise InputError(
                f"the output {name!r} depends on the forces at the same instant, which a law of t, q and v does not know; "
                "measure positions and velocities."
            )
    if not found:
        raise InputError(
            f"no output of {m.name} is measured, from which its state could be estimated."
        )
    return tuple(name for name, _ in found), tuple(output for _, output in found)


def displacement(m: Model, q: Any, v: Any, q0: Any, v0: Any, outputs: tuple[Output, ...]) -> Any:
    """The outputs at a state, as changes from those at (q0, v0): a column of symbols.

    Rotations of frames are rotation vectors in the axes of the ground, those of joints along their
    velocities.
    """
    between: dict[tuple[str, str, int], Any] = {}

    def change(of: str, name: str, order: int) -> Any:
        if of == "joint":
            return difference(m, q, q0) if order == 0 else v - v0
        if order:
            return velocity(m, q, v, name, axes="aligned") - velocity(
                m, q0, v0, name, axes="aligned"
            )
        here, there = pose(m, q, name), pose(m, q0, name)
        turned = casadi.mtimes(rotation_of(here), rotation_of(there).T)
        w = rotation_vector_from_quaternion(quaternion_from_rotation(turned))
        return casadi.vertcat(w, position_of(here) - position_of(there))

    q0, v0 = casadi.SX(q0), casadi.SX(v0)
    rows = []
    for of, name, place, order in outputs:
        key = (of, name, order)
        if key not in between:
            between[key] = change(*key)
        rows.append(between[key][place])
    return casadi.densify(casadi.vertcat(*rows))


def _count(m: Model, outputs: tuple[Output, ...]) -> tuple[int]:
    return (len(outputs),)


DISPLACEMENT = Formula(
    "output_displacement", displacement,
    (Q, V, Argument("q0", lambda m, **_: (m.nq,)), Argument("v0", lambda m, **_: (m.nv,))),
    (Argument("y", _count),), {"outputs": ()}, rare=True,
)  # fmt: skip
