"""How files name meshes, and where those are. Dynamics needs none of them; a picture of the
mechanism does.

A URDF names a file by a path beside it, by ``file://``, or by ``package://name/path``: a package is
a folder of that name, above the URDF, in one of the folders `packages`, or in one of the variable
ROS_PACKAGE_PATH."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from eslabon.model import Shape

# Folders by name, or where to look for them
Packages = Mapping[str, str | Path] | Iterable[str | Path] | None


def resolved(name: str, urdf: Path, packages: Packages = None) -> Path | None:
    """The file that a name in a URDF stands for; None if there is no such file."""
    scheme, _, rest = name.rpartition("://")
    package, _, inside = unquote(rest).partition("/")
    if scheme not in ("package", "model"):
        places = [urdf.parent / unquote(rest)]
    else:
        named, given = dict[str, Path](), list[Path]()
        if isinstance(packages, Mapping):
            named = {k: Path(x).expanduser() for k, x in packages.items()}
        elif packages is not None:
            given = [Path(x).expanduser() for x in packages]
        given += [Path(x) for x in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if x]
        roots = [named[package]] if package in named else []
        roots += [
            p if p.name == package else p / package for p in (*given, *urdf.resolve().parents)
        ]
        places = [root / inside for root in roots]
    return next((place for place in places if place.is_file()), None)


def named_from(shapes: tuple[Shape, ...], folder: Path | None) -> tuple[Shape, ...]:
    """The shapes with meshes in a folder, or below it, named from there, so that both can be moved;
    others keep their path."""
    if folder is None:
        return shapes
    return tuple(replace(x, file=_beside(x.file, folder)) for x in shapes)


def _beside(file: str, folder: Path) -> str:
    if not file or "://" in file:
        return file
    whole, root = Path(os.path.abspath(file)), Path(os.path.abspath(folder))
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)
