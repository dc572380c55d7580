"""Readers: every way a mechanism comes in, all ending in a description."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from eslabon.arguments import known_options
from eslabon.errors import EslabonError, ReadError, format_value, suggest
from eslabon.files.dh import from_dh
from eslabon.files.findings import Findings
from eslabon.files.toml import read_toml
from eslabon.model import Description

__all__ = ["from_dh", "library_text", "load", "read_toml", "robots"]

LARGEST_FILE = 5_000_000  # bytes; a description is text, and a few kilobytes


def robots() -> list[str]:
    """The names of the mechanisms that come with the package.

    >>> import eslabon as es
    >>> len(es.robots()), es.robots()[:3]
    (34, ['andrews_squeezer', 'bennett', 'bricard'])
    """
    return sorted(
        f.name.removesuffix(".toml") for f in _library().iterdir() if f.name.endswith(".toml")
    )


def load(source: str | Path, **options: Any) -> Description:
    """What describes a mechanism of the library, by name, or of a file: .toml, .urdf or MJCF (.xml).

    Options go to the reader of that kind of file (for .urdf see `eslabon.files.urdf.read_urdf`).
    """
    if not isinstance(source, str | Path):
        raise ReadError(
            f"load takes the name of a mechanism or of a file; it was given {format_value(source)}."
        )
    text = str(source)
    if names_library(source):
        if options:
            raise ReadError(
                f"a mechanism of the library takes no options; take away {', '.join(options)}."
            )
        return read_toml(library_text(text))
    return read_file(Path(source), None, **options)


def names_library(source: str | Path) -> bool:
    """Whether a source is a name of the library's, not of a file."""
    text = str(source)
    return (
        isinstance(source, str) and not Path(text).suffix and "/" not in text and "\\" not in text
    )


def library_text(name: str) -> str:
    """The TOML text of a mechanism of the library."""
    known = robots()
    if name not in known:
        hint = suggest(
            name,
            known,
            "; `eslabon list` shows what there is, and a file's name ends in .toml, .urdf or .xml.",
        )
        raise ReadError(f"the library has no mechanism {format_value(name)}{hint}")
    return (_library() / f"{name}.toml").read_text(encoding="utf-8")


def read_file(path: Path, findings: Findings | None, **options: Any) -> Description:
    """What describes the mechanism of a file; `findings` that gather take the mistakes in it."""
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".urdf", ".xml"):
        raise ReadError(
            f"{path}: files that end in '{suffix}' cannot be read; use .toml, .urdf or .xml (MJCF)."
        )
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ReadError(
                f"{path}: the file has {path.stat().st_size} bytes; a description is smaller than that."
            )
        root = _root(path) if suffix == ".xml" else suffix[1:]
        if root in ("urdf", "robot"):
            from eslabon.files.urdf import read_urdf

            known_options("a .urdf file", read_urdf, options, ReadError)
            return read_urdf(path, findings, **options)
        if options:
            kind = "an MJCF" if root == "mujoco" else "a .toml"
            raise ReadError(
                f"{path}: {kind} file takes no options; take away {', '.join(options)}."
            )
        if root == "mujoco":
            from eslabon.files.mjcf import read_mjcf

            return read_mjcf(path)
        return read_toml(path.read_text(encoding="utf-8-sig"), findings, path.parent)
    except FileNotFoundError:
        raise ReadError(f"{path}: there is no such file.") from None
    except EslabonError as error:
        if str(error).startswith(str(path)):
            raise
        raise type(error)(f"{path}: {error}") from None
    except (
        OSError,
        ValueError,
    ) as error:  # the latter for text in another encoding and for a NUL in the path
        name = str(path) if str(path).isprintable() else ascii(str(path))
        raise ReadError(f"{name}: the file cannot be read: {error}.") from None


def _root(path: Path) -> str:
    """The first element of an XML file: <mujoco> is MJCF, <robot> a URDF."""
    import defusedxml.ElementTree as xml
    from defusedxml import DefusedXmlException

    try:
        _, element = next(xml.iterparse(path, events=["start"], forbid_dtd=True))
    except DefusedXmlException:
        raise ReadError(
            "the XML has a DTD or entities, and those are refused; take the DOCTYPE away."
        ) from None
    except xml.ParseError as error:
        raise ReadError(f"this is not well-formed XML: {error}.") from None
    if element.tag not in ("mujoco", "robot"):
        raise ReadError(
            f"the first element is <{element.tag}>; an MJCF starts with <mujoco>, a URDF with <robot>."
        )
    return str(element.tag)


def _library() -> Any:
    return resources.files("eslabon") / "robots"
