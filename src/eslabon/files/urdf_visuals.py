"""What the links of a URDF look like: every ``<visual>`` is a shape, with the colour of its material.

Nothing depends on shapes but drawings. So a visual that cannot be read is passed over, which a check tells, and a mesh whose
file is not found keeps the name that the URDF gives it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from eslabon.arguments import known_words
from eslabon.errors import EslabonError, ReadError
from eslabon.files.findings import Findings
from eslabon.files.meshes import Packages, resolved
from eslabon.files.xml_elements import Tag, Tags, name_of, pose
from eslabon.model import Builder

FORMS = ("box", "cylinder", "capsule", "sphere", "mesh")


def add_visuals(
    b: Builder,
    robot: Element,
    links: Tags,
    bodies: Mapping[str, str],
    urdf: Path,
    findings: Findings,
    packages: Packages,
) -> None:
    """The shapes of all links."""
    materials = {
        e.get("name", ""): Tag(e, "", "<material>") for e in robot if name_of(e) == "material"
    }
    taken: set[str] = set()
    for link, tag in links.items():
        for element in (e for e in tag.element if name_of(e) == "visual"):
            visual = Tag(element, tag.what, f"{tag.what}: <visual>")
            try:
                given = _shape(visual, urdf, packages)
                colour = _material(visual.child("material"), materials)
                b.shape(
                    _name(element.get("name") or f"{link}_visual", taken),
                    bodies[link],
                    colour=colour,
                    **given,
                )
            except EslabonError as error:
                findings.odd.append((f"{error} The shape is left out of drawings.", visual.line))


def _name(wanted: str, taken: set[str]) -> str:
    """The name itself if no other shape has it, else with a number."""
    name = next(x for k in count(1) if (x := wanted if k == 1 else f"{wanted}{k}") not in taken)
    taken.add(name)
    return name


def _shape(visual: Tag, urdf: Path, packages: Packages) -> dict[str, Any]:
    """Kind, size, place and file, as the Builder takes them."""
    found = [e for e in visual.child("geometry").element if isinstance(e.tag, str)]
    if len(found) != 1:
        raise ReadError(f"{visual.what} needs one shape in its <geometry>; it has {len(found)}.")
    kind = name_of(found[0])
    known_words([kind], FORMS, f"{visual.what} has the unknown geometry", ReadError)
    form, given = (
        Tag(found[0], visual.owner, f"{visual.owner}: <{kind}>"),
        {"kind": kind, "at": pose(visual.child("origin"))},
    )
    if kind == "mesh":
        return {
            **given,
            "size": form.numbers("scale", 3, (1.0, 1.0, 1.0)),
            "file": _file(form.text("filename"), urdf, packages),
        }
    if kind == "box":
        size = form.numbers("size", 3)
    else:
        size = tuple(
            form.number(key) for key in (("radius",) if kind == "sphere" else ("radius", "length"))
        )
    if min(size) <= 0:
        raise ReadError(f"{form.what} has the size {min(size):g}; it must be positive.")
    return {**given, "size": size}


def _file(name: str, urdf: Path, packages: Packages) -> str:
    """The whole path of a mesh; of a package that is not found its name as it is."""
    found = resolved(name, urdf, packages)
    return (
        str(found.resolve())
        if found
        else name
        if "://" in name
        else os.path.abspath(urdf.parent / name)
    )


def _material(material: Tag, materials: Tags) -> str:
    """The colour of a material: its own, or that of the robot's material of its name."""
    shared = materials.get(material.element.get("name", ""))
    return _colour(material) or (_colour(shared) if shared else "")


def _colour(material: Tag) -> str:
    color = material.child("color")
    if not color.there:
        return ""
    red, green, blue = (round(255 * min(max(x, 0.0), 1.0)) for x in color.numbers("rgba", 4)[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"
