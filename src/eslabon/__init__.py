"""eslabon: the dynamics of articulated rigid-body systems, serial and parallel robots alike.

>>> import eslabon as es
>>> es.load("planar_3rrr")
<Mechanism planar_3rrr: 7 bodies, 7 joints, 2 loops, 3 actuators>
"""

from importlib import import_module
from typing import TYPE_CHECKING

from eslabon import numerics as algebra
from eslabon.answers import install as _install
from eslabon.errors import (
    AssemblyError,
    EquilibriumError,
    EslabonError,
    GraphError,
    InputError,
    InverseKinematicsError,
    MissingDependencyError,
    ModelError,
    ModelWarning,
    OptimizationError,
    ReadError,
    RotationError,
    SingularityError,
    SingularityWarning,
    suggest,
)
from eslabon.files import robots
from eslabon.mechanism import Builder, Mechanism, check, from_dh, join, load
from eslabon.show import LazyPresenter as _LazyPresenter
from eslabon.wings import WINGS as WINGS

if TYPE_CHECKING:
    from eslabon.motion import paths as paths

_install(_LazyPresenter())  # the only place outside `show` and `cli` that knows it

__version__ = "0.2.0.dev0"  # the one place: pyproject.toml reads it from here

__all__ = [
    "AssemblyError",
    "BondGraph",
    "Builder",
    "EquilibriumError",
    "EslabonError",
    "GraphError",
    "InputError",
    "InverseKinematicsError",
    "LinearModel",
    "Mechanism",
    "MissingDependencyError",
    "ModelError",
    "ModelWarning",
    "OptimizationError",
    "ReadError",
    "RotationError",
    "SingularityError",
    "SingularityWarning",
    "Target",
    "Trajectory",
    "algebra",
    "as_trajectory",
    "check",
    "control",
    "from_dh",
    "identification",
    "join",
    "linear",
    "load",
    "measures",
    "optimize",
    "paths",
    "plotting",
    "reproductions",
    "robots",
    "simulate",
    "structure",
    "study",
    "sweep",
    "sweeps",
    "view",
]


_CLASSES = {
    "BondGraph": "bond_graph.bond_graph",
    "LinearModel": "systems.linear",
    "Target": "solve.target",
    "Trajectory": "motion.trajectory",
    "as_trajectory": "motion.motion_forms",
    "study": "studies",
    "sweep": "sweeps",
    "view": "viewer",
}  # public names, and the module they are in
_MODULES = {
    "control": "systems.control",
    "identification": "systems.identification",
    "linear": "systems.linear",
    "measures": "measures",
    "optimize": "optimize",
    "paths": "motion.paths",
    "plotting": "plotting",
    "reproductions": "reproductions",
    "simulate": "motion.simulation",
    "structure": "solve.mobility",
    "sweeps": "sweeps",
}  # public modules, and where they stand


def __getattr__(name: str) -> object:
    """Load what not every process needs when it is first asked for."""
    if name in _MODULES:
        return import_module(f"eslabon.{_MODULES[name]}")
    if name not in _CLASSES:
        raise AttributeError(f"eslabon has no name {name!r}{suggest(name, __all__)}")
    return getattr(import_module(f"eslabon.{_CLASSES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
