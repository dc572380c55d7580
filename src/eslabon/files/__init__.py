"""Every way a mechanism comes in and goes out: one file a format, reading and writing side by side.

`FORMATS` is the table of them. `load`, `save` and `check_file` find the format of a file in it, by
the end of its name and, of XML, by its first element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from eslabon.arguments import known_words
from eslabon.atomic_files import write
from eslabon.errors import (
    EslabonError,
    ReadError,
    file_name,
    format_value,
    suggest,
)
from eslabon.files.dh import from_dh
from eslabon.files.diagnostics import Diagnostics, SourceText
from eslabon.files.options import MjcfOptions, Options, UrdfOptions, UrdfWriteOptions
from eslabon.files.toml_format import read_toml, to_toml
from eslabon.model import Description, Model

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["FORMATS", "Format", "from_dh", "library_text", "load", "read_toml", "robots", "save"]

LARGEST_FILE = 5_000_000  # bytes; a description is text, and a few kilobytes


class Format(NamedTuple):
    """A kind of file: how its name ends, what its XML begins with, and what reads and writes it.

    `read` and `write` take options of the classes that the row names, and the diagnostics, whose
    source is the file: they learn what is wrong, and what is lost."""

    name: str
    suffixes: tuple[str, ...]
    root: str | None  # the first element, of XML
    options: type[Options]
    read: Callable[[Any, Diagnostics], Description]
    write_options: type[Options] = Options
    write: Callable[[Model, Any, Diagnostics], str] | None = None


def _read_toml(options: Options, diagnostics: Diagnostics) -> Description:
    path = diagnostics.source.path
    return read_toml(path.read_text(encoding="utf-8-sig"), diagnostics, path.parent)


def _write_toml(m: Model, options: Options, diagnostics: Diagnostics) -> str:
    return to_toml(m.description, diagnostics.source.path.parent)


# The parsers of XML and YAML are imported when they are needed.


def _read_urdf(options: UrdfOptions, diagnostics: Diagnostics) -> Description:
    from eslabon.files.urdf import read_urdf

    return read_urdf(options, diagnostics)


def _write_urdf(m: Model, options: UrdfWriteOptions, diagnostics: Diagnostics) -> str:
    from eslabon.files.urdf import write_urdf

    return write_urdf(m, options, diagnostics)


def _read_mjcf(options: MjcfOptions, diagnostics: Diagnostics) -> Description:
    from eslabon.files.mjcf import read_mjcf

    return read_mjcf(options, diagnostics)


FORMATS = (
    Format("TOML", (".toml",), None, Options, _read_toml, Options, _write_toml),
    Format(
        "URDF", (".urdf", ".xml"), "robot", UrdfOptions, _read_urdf, UrdfWriteOptions, _write_urdf
    ),
    Format("MJCF", (".xml",), "mujoco", MjcfOptions, _read_mjcf),
)


# -- the library -----------------------------------------------------------------------------------


def robots() -> list[str]:
    """The names of the mechanisms that come with the package.

    >>> import eslabon as es
    >>> len(es.robots()), es.robots()[:3]
    (34, ['andrews_squeezer', 'bennett', 'bricard'])
    """
    return sorted(
        f.name.removesuffix(".toml") for f in _library().iterdir() if f.name.endswith(".toml")
    )


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


def _library() -> Traversable:
    from importlib import resources

    return resources.files("eslabon") / "robots"


# -- reading ---------------------------------------------------------------------------------------


def load(source: str | Path, **options: Any) -> Description:
    """What describes a mechanism of the library, by name, or of a file: .toml, .urdf or MJCF
    (.xml).

    Options are those of the format (`eslabon.files.options`).
    """
    if not isinstance(source, str | Path):
        raise ReadError(
            f"load takes the name of a mechanism or of a file; it was given {format_value(source)}."
        )
    if names_library(source):
        if options:
            raise ReadError(
                f"a mechanism of the library takes no options; take away {', '.join(options)}."
            )
        return read_toml(library_text(str(source)))
    diagnostics = Diagnostics(SourceText(Path(source)))
    try:
        return read_file(diagnostics, options)
    except EslabonError as error:
        raise with_file(error, diagnostics.source) from None


def with_file(error: EslabonError, source: SourceText) -> EslabonError:
    """The error with its file in front of its sentence, and the file beside it, where it is in that
    one."""
    path, file = source.path, source.position(error.place).file
    name = str(path) if str(path).isprintable() else ascii(str(path))
    beside = f"{file.name}: " if file != path else ""
    return type(error)(f"{name}: {beside}{error}").at(*error.place)


def read_file(diagnostics: Diagnostics, options: Mapping[str, Any]) -> Description:
    """What describes the mechanism of a file, the source of the diagnostics."""
    path = diagnostics.source.path
    try:
        format_ = _format_of(path, diagnostics.source)
        known = tuple(f.name for f in fields(format_.options))
        if options and not known:
            raise ReadError(
                f"a {path.suffix} file takes no options; take away {', '.join(options)}."
            )
        known_words(options, known, f"a {path.suffix} file has no option", ReadError)
        chosen = format_.options(**options)
        diagnostics.strict = getattr(chosen, "strict", False)
        return format_.read(chosen, diagnostics)
    except FileNotFoundError:
        raise ReadError("there is no such file.") from None
    except EslabonError:
        raise
    except (OSError, ValueError) as error:  # the latter: other encodings, a NUL in the path
        raise ReadError(f"the file cannot be read: {error}.") from None


def _format_of(path: Path, source: SourceText) -> Format:
    """The format of a file: by the end of its name and, where several have that, by its first
    element."""
    suffix = path.suffix.lower()
    fitting = [x for x in FORMATS if suffix in x.suffixes]
    if not fitting:
        raise ReadError(
            f"files that end in '{suffix}' cannot be read; use .toml, .urdf or .xml (MJCF)."
        )
    if path.stat().st_size > LARGEST_FILE:
        raise ReadError(
            f"the file has {path.stat().st_size} bytes; a description is smaller than that."
        )
    if len(fitting) == 1:
        return fitting[0]
    from eslabon.files.xml_elements import first_tag

    tag = first_tag(path, source)
    for format_ in fitting:
        if format_.root == tag:
            return format_
    starts = ", ".join(f"{x.name} starts with <{x.root}>" for x in fitting)
    raise ReadError(f"the first element is <{tag}>; {starts}.")


# -- writing ---------------------------------------------------------------------------------------


def save(m: Model, path: str | Path, **options: Any) -> Path:
    """Write a mechanism to a file of the format that its name ends in; warnings say what is
    lost."""
    suffix = Path(path).suffix.lower() if isinstance(path, str | Path) else ""
    for format_ in FORMATS:
        if format_.write is not None and suffix == format_.suffixes[0]:
            break
    else:
        raise ReadError(
            f"{file_name(path)}: a mechanism is saved as TOML or URDF; let the name end in .toml or .urdf."
        )
    for key in options:
        owners = [x.name for x in FORMATS if key in {f.name for f in fields(x.write_options)}]
        if format_.name not in owners:
            known = f"it is for {', '.join(owners)}" if owners else "take it away"
            raise ReadError(
                f"{path}: {format_.name} is written without the option '{key}'; {known}."
            )
    diagnostics = Diagnostics(SourceText(Path(path)))
    text = format_.write(m, format_.write_options(**options), diagnostics)
    if diagnostics.losses:
        diagnostics.warn(f"{format_.name} has no place for {diagnostics.lost()}.")
    return write(path, text)
