"""The options of the readers: the fields of a class are the keywords that `es.load` and `es.check`
take for its format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eslabon.arguments import flag
from eslabon.errors import ReadError, format_value
from eslabon.files.meshes import Packages

BASES = ("fixed", "free", "planar")


@dataclass(frozen=True)
class Options:
    """Of a format that is read in one way only."""


@dataclass(frozen=True)
class UrdfOptions(Options):
    """How a URDF is read.

    `loops` closes it: a YAML file's path, a list of pairs of frames or of ``{"frames": (a, b),
    "kind": "spherical"}`` (any joint kind; "3d" and "6d" as in the YAML, 6d by default), a mapping
    with the YAML's keys, or False for none, not even the file's own ``<constraint>`` elements; left
    out, the YAML of the same name beside the URDF if there is one. `base` is how the root link
    stands on the ground: "fixed", "free" or "planar"; a moving base has no motor. With `repair`
    every inertia that no solid body has becomes the nearest one that a body has, missing entries
    are zero, and a mass without inertia is a small sphere; the note and a warning list all changes.
    `packages` are folders, or folders by name, where meshes of ``package://`` are
    (`eslabon.files.meshes`). With `strict` a file with elements or attributes that would be left
    out is refused."""

    loops: Any = None
    base: str = "fixed"
    repair: bool = False
    packages: Packages = None
    strict: bool = False

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ReadError(
                f"base is {format_value(self.base)}; it is 'fixed', 'free' or 'planar'."
            )
        flag(self.repair, "repair")
        flag(self.strict, "strict")


@dataclass(frozen=True)
class MjcfOptions(Options):
    """How an MJCF is read: with `strict` a file with something that would be left out is
    refused."""

    strict: bool = False

    def __post_init__(self) -> None:
        flag(self.strict, "strict")


@dataclass(frozen=True)
class UrdfWriteOptions(Options):
    """How a URDF is written: with `hinges` chains of hinges and slides stand for the joints that
    urdfdom does not read."""

    hinges: bool = False
