"""Everything that is wrong or odd in a file at once, each with its line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from eslabon.errors import EslabonError, ModelWarning, ReadError, format_value
from eslabon.files import read_file
from eslabon.files.findings import QUOTED, CheckReport, Finding, Findings
from eslabon.files.meshes import Packages, meshes
from eslabon.mechanism import Mechanism
from eslabon.model import Description, Model, ParameterExpression
from eslabon.model.admissible import inadmissible, moving_bodies_weigh_nothing
from eslabon.model.items import ITEMS
from eslabon.model.parameter_expressions import leaves
from eslabon.model.validation import violations

CLOSED = 1e-6  # metres or radians


def check(path: str | Path, packages: Packages = None) -> CheckReport:
    """What is wrong ("error") and what is odd ("warning") in a file: a list of findings with level, file, line, sentence.

    Mistakes of the text come first, then those of the mechanism: names, references, the tree, numbers no body has. The line
    is that of the item, or of its key or element, where it can be told. Meshes of a URDF are looked for in `packages` too
    (`eslabon.files.meshes`).

    >>> import eslabon as es
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "arm.toml"
    >>> _ = file.write_text('name = "arm"\\n[bodies.a]\\nmass = -1\\n[joints.q]\\nkind = "revolut"\\nparent = "ground"\\nchild = "a"\\n')
    >>> for finding in es.check(file):
    ...     print(finding.level, finding.line, finding.sentence)
    error 5 joint 'q': there is no joint kind 'revolut'; did you mean 'revolute'?
    error 3 body 'a': the mass is -1; it cannot be negative.
    """
    if not isinstance(path, str | Path):
        raise ReadError(f"check takes the path of a file; it was given {format_value(path)}.")
    path, findings = Path(path), Findings(gather=True)
    description: Description | None = None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with findings.of("", line=None):
            description = read_file(path, findings)
    found = [Finding("error", *_placed(path, sentence, line)) for sentence, line in findings.errors]
    sentences = [str(w.message) for w in told if issubclass(w.category, ModelWarning)]
    if description is not None:
        wrong = [
            s for s in _wrong(description, not findings.errors) if not findings.concerns_unread(s)
        ]
        found += [Finding("error", *_placed(path, s, findings.line(s))) for s in wrong]
        sentences += _all(lambda: _odd(description)) if not found else []
        findings.odd += _meshes(path, packages)
        sentences += _mesh_files(path, description)
    odd = [*findings.odd, *((s, findings.line(s)) for s in dict.fromkeys(sentences))]
    return CheckReport([*found, *(Finding("warning", *_placed(path, s, line)) for s, line in odd)])


def _meshes(path: Path, packages: Packages) -> Iterator[tuple[str, int]]:
    """The meshes of a URDF that are not found."""
    if path.suffix.lower() != ".urdf":
        return
    with suppress(EslabonError):  # of wrong elements the reader has told
        for mesh in meshes(path, packages):
            if mesh.file is None:
                yield (
                    f"link '{mesh.link}': the mesh '{mesh.name}' is not found; packages= and ROS_PACKAGE_PATH say where.",
                    mesh.line,
                )


def _mesh_files(path: Path, d: Description) -> Iterator[str]:
    """The meshes of a TOML file that are not found."""
    for shape in d.shapes if path.suffix.lower() == ".toml" else ():
        if shape.file and not Path(shape.file).is_file():
            yield f"shape '{shape.name}': there is no file '{shape.file}'; meshes are named from where the description is."


def _placed(path: Path, sentence: str, line: int | None) -> tuple[str, int | None, str]:
    """The file that a sentence is about, the line, and the sentence without the file's name."""
    own = rf"(?:{re.escape(str(path))}|{re.escape(path.name)}): "
    said, file = re.sub(rf"^({own})+", "", sentence), path
    beside = re.match(r"([^\s:/]+\.ya?ml): ", said)
    if beside and path.with_name(beside[1]).is_file():
        said, file, line = said[beside.end() :], path.with_name(beside[1]), None
    told = re.search(r"\bline (\d+)", said)  # of what is not well-formed: the parsers say it
    return str(file), line or (int(told[1]) if told else _line_of(file, said)), said


def _line_of(file: Path, sentence: str) -> int | None:
    """The first line with a word that a sentence about a YAML file quotes, or with its key."""
    if file.suffix.lower() not in (".yaml", ".yml"):
        return None
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    for word in (*QUOTED.findall(sentence), *re.findall(r"\w+_\w+", sentence)):
        for number, text in enumerate(lines, start=1):
            if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text):
                return number
    return None


class _Unchecked(Model):
    """A model of whatever there is, to ask of its numbers."""

    def __init__(self, description: Description) -> None:
        self.__dict__.update(description=description, _symbols={})


def _evaluable(d: Description) -> Description:
    """Without what uses parameters that are not there."""
    known: set[str] = set()
    while (more := {name for name, x in d.parameters if _names(x) <= known}) != known:
        known = more
    items: dict[str, Any] = {
        kind: tuple(x for x in getattr(d, kind) if _names(x) <= known) for kind in ITEMS
    }
    return replace(
        d, parameters=tuple((name, x) for name, x in d.parameters if name in known), **items
    )


def _names(item: Any) -> set[str]:
    """The parameters that an item is made of."""
    return {name for x in leaves(item) if isinstance(x, ParameterExpression) for name in x.names()}


def _wrong(d: Description, complete: bool) -> Iterator[str]:
    """What keeps it from being a mechanism; of an incomplete one nothing is said of the tree."""
    wrong = list(_all(lambda: violations(d, tree=complete)))
    yield from wrong
    yield from _all(lambda: inadmissible(_Unchecked(_evaluable(d) if wrong or not complete else d)))


def _all(sentences: Callable[[], Iterable[str]]) -> Iterator[str]:
    """Sentences, and the one that ends them if it must."""
    try:
        yield from sentences()
    except EslabonError as error:
        yield str(error)


def _odd(d: Description) -> Iterator[str]:
    """What is legal and looks like a slip."""
    m = Mechanism(d)
    yield from m.plausibility_warnings
    yield from moving_bodies_weigh_nothing(m)
    items = (d.gravity, d.parameters, *(getattr(d, kind) for kind in ITEMS))
    used = {name for x in leaves(items) if isinstance(x, ParameterExpression) for name in x.names()}
    yield from (
        f"parameter '{name}' is used nowhere." for name, _ in d.parameters if name not in used
    )
    if not m.nv:
        yield "nothing moves: all joints are fixed."
    elif not m.actuated:
        yield "no joint is actuated; name those that motors drive."
    if m.closed and not m.rheonomic:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = list(_all(lambda: _closing(m)))
        said = (str(w.message) for w in told if issubclass(w.category, ModelWarning))
        yield from dict.fromkeys((*(x.removeprefix(f"{m.name}: ") for x in said), *found))


def _closing(m: Mechanism) -> Iterator[str]:
    residual = abs(m.constraint(m.home())).max(initial=0.0)
    if residual > CLOSED:
        q = m.project(m.home())
        yield (
            f"home violates loop closure by {residual:.3g} (m or rad); the nearest closed configuration is "
            + ", ".join(
                f"{name} = {x:.4g}"
                for name, x in list(m.named(q).items())[:6]
                if isinstance(x, float)
            )
            + "."
        )
    if m.dof == 0:
        yield "the loops leave no degree of freedom: this is a structure, or a loop is written twice."
    elif m.nu > m.dof:
        yield f"{m.nu} actuator forces drive {m.dof} degree{'s' * (m.dof != 1)} of freedom: actuation is redundant."
