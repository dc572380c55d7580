"""eslabon: the dynamics of articulated rigid-body systems, serial and parallel robots alike.

>>> import eslabon as es
>>> es.load("planar_3rrr")
<Mechanism planar_3rrr: 7 bodies, 7 joints, 2 loops, 3 actuators>
"""

from eslabon import algebra, paths
from eslabon.errors import (
    AssemblyError,
    EslabonError,
    InverseKinematicsError,
    ModelError,
    ModelWarning,
    ReadError,
    RotationError,
    SingularityError,
    SingularityWarning,
)
from eslabon.mechanism import Builder, Mechanism, from_dh, load
from eslabon.read import robots

__version__ = "0.1.0"

__all__ = [
    "AssemblyError",
    "Builder",
    "EslabonError",
    "InverseKinematicsError",
    "Mechanism",
    "ModelError",
    "ModelWarning",
    "ReadError",
    "RotationError",
    "SingularityError",
    "SingularityWarning",
    "algebra",
    "from_dh",
    "load",
    "paths",
    "robots",
]


def __getattr__(name: str) -> object:
    """Rooms that load CasADi come when they are first asked for."""
    if name in ("simulate", "Motion"):
        from importlib import import_module

        room = import_module("eslabon.simulate")
        return room if name == "simulate" else room.Motion
    raise AttributeError(f"eslabon has no name {name!r}")
