"""The mesh files that a URDF names. Dynamics needs none of them; a picture of the robot does.

A file is named by a path beside the URDF, by ``file://``, or by ``package://name/path``: a package is a folder of that name,
above the URDF, in one of the folders `packages`, or in one of the variable ROS_PACKAGE_PATH.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from eslabon.files.findings import Findings
from eslabon.files.xml_elements import Tag, children, name_of, parse, pose
from eslabon.model import Pose

Packages = (
    Mapping[str, str | Path] | Iterable[str | Path] | None
)  # folders by name, or where to look for them


class Mesh(NamedTuple):
    """A mesh on a link: the file as it is named and where it is, None if it is not found."""

    link: str
    use: str  # "visual" or "collision"
    name: str
    file: Path | None
    at: Pose
    scale: tuple[float, ...]
    line: int


def meshes(urdf: str | Path, packages: Packages = None) -> list[Mesh]:
    """All meshes of a URDF file."""
    path = Path(urdf)
    return list(_meshes(children(parse(path.read_bytes()), "link", Findings()), path, packages))


def _meshes(links: Mapping[str, Tag], urdf: Path, packages: Packages) -> Iterator[Mesh]:
    for link, tag in links.items():
        for shape in (Tag(e, tag.what, f"{tag.what}: <{name_of(e)}>") for e in tag.element):
            mesh = shape.child("geometry").child("mesh")
            if mesh.there:
                name, scale = mesh.text("filename"), mesh.numbers("scale", 3, (1.0, 1.0, 1.0))
                found = resolved(name, urdf, packages)
                yield Mesh(
                    link,
                    name_of(shape.element),
                    name,
                    found,
                    pose(shape.child("origin")),
                    scale,
                    mesh.line,
                )


def resolved(name: str, urdf: Path, packages: Packages = None) -> Path | None:
    """The file that a name in a URDF stands for; None if there is no such file."""
    scheme, _, rest = name.rpartition("://")
    package, _, inside = unquote(rest).partition("/")
    if scheme not in ("package", "model"):
        places = [urdf.parent / unquote(rest)]
    else:
        named = (
            {k: Path(x).expanduser() for k, x in packages.items()}
            if isinstance(packages, Mapping)
            else {}
        )
        given = (
            []
            if packages is None or isinstance(packages, Mapping)
            else [Path(x).expanduser() for x in packages]
        )
        given += [Path(x) for x in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if x]
        roots = [named[package]] if package in named else []
        roots += [
            p if p.name == package else p / package for p in (*given, *urdf.resolve().parents)
        ]
        places = [root / inside for root in roots]
    return next((place for place in places if place.is_file()), None)
