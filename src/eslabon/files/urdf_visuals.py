"""What the links of a URDF look like, in and out: every ``<visual>`` is a shape, with the colour of
its material.

Nothing depends on shapes but drawings. So a visual that cannot be read is passed over, which a
check tells, and a mesh whose file is not found keeps the name that the URDF gives it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement

from eslabon.arguments import known_words
from eslabon.errors import EslabonError, ReadError, located
from eslabon.files.diagnostics import Diagnostics, SourceText
from eslabon.files.meshes import Packages, resolved
from eslabon.files.urdf_elements import add_origin, elements_by_name, numbers, pose_of
from eslabon.files.xml_elements import XmlElement, read_xml
from eslabon.model import Builder, Pose, Shape

FORMS = ("box", "cylinder", "capsule", "sphere", "mesh")
Links = Mapping[str, XmlElement]


# -- reading ---------------------------------------------------------------------------------------


def add_visuals(
    b: Builder,
    robot: XmlElement,
    links: Links,
    bodies: Mapping[str, str],
    diagnostics: Diagnostics,
    packages: Packages,
) -> None:
    """The shapes of all links."""
    materials = {e.optional_text("name"): e for e in robot.children("material")}
    taken: set[str] = set()
    for link, element in links.items():
        for visual in element.children("visual"):
            try:
                given = _shape(visual, diagnostics.source.path, packages)
                colour = _material(visual.child("material"), materials)
                name = _free_name(visual.optional_text("name") or f"{link}_visual", taken)
                b.shape(name, bodies[link], colour=colour, **given)
            except EslabonError as error:
                if diagnostics.collect:
                    diagnostics.warn(f"{error} The shape is left out of drawings.", *visual.place)
            else:
                diagnostics.source.write_down(("shapes", name), visual.place)


def _free_name(wanted: str, taken: set[str]) -> str:
    """The name itself if no other shape has it, else with a number."""
    name = next(x for k in count(1) if (x := wanted if k == 1 else f"{wanted}{k}") not in taken)
    taken.add(name)
    return name


def _shape(visual: XmlElement, urdf: Path, packages: Packages) -> dict[str, Any]:
    """Kind, size, place and file, as the Builder takes them."""
    found: list[XmlElement] = list(visual.child("geometry"))
    if len(found) != 1:
        raise visual.error(f"{visual.what} needs one shape in its <geometry>; it has {len(found)}.")
    (form,) = found
    kind = form.word
    with located(*form.place):
        known_words([kind], FORMS, f"{visual.what} has the unknown geometry", ReadError)
    given = {"kind": kind, "at": pose_of(visual.child("origin"))}
    if kind == "mesh":
        size = form.numbers("scale", 3, (1.0, 1.0, 1.0))
        return {**given, "size": size, "file": _file(form.text_of("filename"), urdf, packages)}
    if kind == "box":
        size = form.numbers("size", 3)
    else:
        keys = ("radius",) if kind == "sphere" else ("radius", "length")
        size = tuple(form.number(key) for key in keys)
    if min(size) <= 0:
        raise form.error(f"{form.what} has the size {min(size):g}; it must be positive.")
    return {**given, "size": size}


def _file(name: str, urdf: Path, packages: Packages) -> str:
    """The whole path of a mesh; of a package that is not found its name as it is."""
    if found := resolved(name, urdf, packages):
        return str(found.resolve())
    return name if "://" in name else os.path.abspath(urdf.parent / name)


def _material(material: XmlElement, materials: Links) -> str:
    """The colour of a material: its own, or that of the robot's material of its name."""
    shared = materials.get(material.optional_text("name"))
    return _colour(material) or (_colour(shared) if shared is not None else "")


def _colour(material: XmlElement) -> str:
    color = material.child("color")
    if not color.present:
        return ""
    red, green, blue = (round(255 * min(max(x, 0.0), 1.0)) for x in color.numbers("rgba", 4)[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"


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
    links = elements_by_name(read_xml(path.read_bytes(), SourceText(path)), "link", Diagnostics())
    return [mesh for link, e in links.items() for mesh in _meshes(link, e, path, packages)]


def _meshes(link: str, element: XmlElement, urdf: Path, packages: Packages) -> Iterator[Mesh]:
    for use in ("visual", "collision"):
        for shape in element.children(use):
            mesh = shape.child("geometry").child("mesh")
            if mesh.present:
                name, scale = mesh.text_of("filename"), mesh.numbers("scale", 3, (1.0, 1.0, 1.0))
                at = pose_of(shape.child("origin"))
                yield Mesh(link, use, name, resolved(name, urdf, packages), at, scale, mesh.line)


def check_meshes(links: Links, diagnostics: Diagnostics, packages: Packages) -> None:
    """Warn of the meshes that are not found."""
    for link, element in links.items():
        try:
            for mesh in _meshes(link, element, diagnostics.source.path, packages):
                if mesh.file is None:
                    diagnostics.warn(
                        f"link '{link}': the mesh '{mesh.name}' is not found; packages= and ROS_PACKAGE_PATH say where.",
                        *diagnostics.source.line(mesh.line),
                    )
        except EslabonError:
            continue  # of a wrong element the reader has told


# -- writing ---------------------------------------------------------------------------------------


def write_visuals(link: Element, shapes: Iterable[Shape]) -> None:
    for shape in (part for x in shapes for part in _standard_shapes(x)):
        visual = SubElement(link, "visual", name=shape.name)
        add_origin(visual, "origin", shape.at)
        _write_geometry(SubElement(visual, "geometry"), shape)
        if shape.colour:
            material = SubElement(visual, "material", name=shape.colour)
            rgb = (int(shape.colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
            SubElement(material, "color", rgba=numbers((*rgb, 1.0)))


def _standard_shapes(shape: Shape) -> Iterator[Shape]:
    """Shapes that every reader of URDF knows: a capsule is a cylinder between two spheres."""
    if shape.kind != "capsule":
        yield shape
        return
    radius, length = shape.size
    yield replace(shape, kind="cylinder")
    for end, z in (("lower", -length / 2), ("upper", length / 2)):
        at = shape.at @ Pose((0.0, 0.0, z))
        name = f"{shape.name}_{end}"
        yield replace(shape, name=name, kind="sphere", size=(radius,), at=at)


def _write_geometry(geometry: Element, shape: Shape) -> None:
    if shape.kind == "box":
        SubElement(geometry, "box", size=numbers(shape.size))
    elif shape.kind == "mesh":
        whole = "://" not in shape.file and Path(shape.file).is_absolute()
        name = f"file://{shape.file}" if whole else shape.file
        SubElement(geometry, "mesh", filename=name, scale=numbers(shape.size))
    else:
        sizes = zip(("radius", "length"), shape.size, strict=False)
        SubElement(geometry, shape.kind, {key: numbers([x]) for key, x in sizes})
