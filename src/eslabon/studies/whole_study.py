"""A study: everything the library says of a mechanism, in one page that needs nothing else, and as numbers beside it."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eslabon import pages
from eslabon.arguments import text
from eslabon.atomic_files import check_writable, write
from eslabon.errors import (
    EslabonError,
    InputError,
    ModelError,
    ModelWarning,
    ReadError,
    SingularityWarning,
    format_value,
)
from eslabon.language import phrase, translated
from eslabon.mechanism import Mechanism, load
from eslabon.pages.notebook import framed
from eslabon.sheets import Sheet, plain
from eslabon.studies.choices import Choices
from eslabon.studies.section import Section
from eslabon.studies.sections import SECTIONS
from eslabon.studies.subject import Subject
from eslabon.studies.sweep_request import SweepRequest
from eslabon.sweeps.sweep_table import SweepTable

Watcher = Callable[[Section], None]  # is told of each section as it is finished


@dataclass(frozen=True, eq=False)
class Study:
    """A finished study: `html` is its page, `data` all its numbers; `save` writes both, and the tables as CSV.

    `troubles` are sentences about what could not be computed, by the names of sections.

    >>> import eslabon as es
    >>> made = es.study("elbow", sections=["what_it_is"])
    >>> made.html[:15], made.troubles
    ('<!DOCTYPE html>', {})
    """

    name: str
    language: str
    sections: tuple[Section, ...]
    about: Mapping[str, Any]

    @property
    def troubles(self) -> dict[str, list[str]]:
        return {section.name: section.troubles for section in self.sections if section.troubles}

    @property
    def seconds(self) -> float:
        """The time that all sections took."""
        return sum(section.seconds for section in self.sections)

    @property
    def html(self) -> str:
        """The page."""
        title = translated(phrase("A study of {name}", name=self.name), self.language)
        links = [
            (section.name, translated(section.title, self.language)) for section in self.sections
        ]
        body = [pages.heading(title, 1), pages.contents(links)]
        for section in self.sections:
            body += [
                pages.heading(translated(section.title, self.language), 2, section.name),
                *section.pieces,
            ]
        made = phrase(
            "Computed by eslabon {version}. All numbers stand beside this page as JSON and CSV.",
            version=self.about["eslabon"],
        )
        body.append(pages.paragraph(translated(made, self.language), "es-quiet"))
        return pages.document(title, "\n".join(body), self.language)

    @property
    def data(self) -> dict[str, Any]:
        """All numbers: of each section its tables, by columns, and what else it found."""
        sections = {section.name: section.record() for section in self.sections}
        return {"mechanism": self.name, **plain(dict(self.about)), "sections": sections}

    def __getitem__(self, name: str) -> dict[str, Any]:
        """The numbers of a section."""
        return dict(self.data["sections"][name])

    def save(self, path: str | Path) -> Path:
        """Write the page, and beside it the numbers as JSON and, in a folder, as CSV. `path` is the page, .html, or a folder
        for NAME_study.html. The path of the page is returned."""
        page = page_path(path, self.name)
        stem = page.with_suffix("")
        write(page, self.html)
        write(page.with_suffix(".json"), json.dumps(self.data, ensure_ascii=False, indent=1) + "\n")
        for section in self.sections:
            for sheet in section.sheets:
                write(stem / f"{section.name}_{_file_name(sheet.title)}.csv", sheet.csv())
        return page

    def _repr_html_(self) -> str:
        return framed(pages.scene(self.html, height=800))

    def __repr__(self) -> str:
        told = (
            f", {sum(map(len, self.troubles.values()))} that could not be computed"
            if self.troubles
            else ""
        )
        return f"<Study of {self.name}: {len(self.sections)} sections, {self.seconds:.1f} s{told}>"


def page_path(path: str | Path, name: str) -> Path:
    """Where the page goes."""
    try:
        path = Path(path)
    except TypeError:
        raise ReadError(
            f"a study is written to a file .html or to a folder; it is {format_value(path)}."
        ) from None
    if path.suffix.lower() in (".html", ".htm"):
        return path
    if path.suffix and not path.is_dir():
        raise ReadError(
            f"{path}: a study is written to a page, whose name ends in .html, or to a folder."
        )
    return path / f"{_file_name(name)}_study.html"


def _file_name(name: str) -> str:
    return "".join(x if x.isalnum() or x in "-_." else "_" for x in name)


def study(
    m: Mechanism | str | Path, *, motion: Any = None, at: Any = None, tip: str | None = None, sections: Any = None,
    language: str = "en", sweep: Any = None, output: str | Path | None = None, watch: Watcher | None = None,
) -> Study:  # fmt: skip
    """Everything the library says of a mechanism, in one page: what it is, how it moves, what drives it, how it behaves near a
    point, how to control it, its bond graph, its equations, and how long each computation took.

    Parameters
    ----------
    m : the mechanism, its name in the library, or its file.
    motion : the motion to follow: a file (.csv or .npz, as `Trajectory.save` writes it, or a table with columns `t [s]` and
        `joint.q [rad]`), "rest_to_rest", "let_go", "still", the name of a mode to go to and back from, a `Trajectory`, a joint path of
        `es.paths`, or arrays (t, q) or (t, q, v, a). Left out, one is chosen that suits the mechanism.
    at : the configuration to start from and to linearize at: all coordinates, those of the actuated joints, values by joint, or
        the name of a mode; home if left out.
    tip : the frame or body to follow.
    sections : names of sections, in their order; all if left out.
    language : "en" or "es".
    sweep : many designs to show beside it: a table that `es.sweep` gave, or what to ask of it, such as
        {"quantity": "peak_torque", "over": {"L2": (0.03, 0.06)}, "samples": 200}; measures along a motion follow that of the study
        unless their "options" give another one.
    output : where to write it: a page .html, or a folder.
    watch : is called with each section as it is finished.

    Returns
    -------
    a `Study` with `.html`, `.data`, `.troubles` and `.save(path)`.

    >>> import eslabon as es
    >>> made = es.study("double_pendulum", sections=["what_it_is"])
    >>> made["what_it_is"]["dof"]
    2
    """
    m = load(m) if isinstance(m, str | Path) else m
    if not isinstance(m, Mechanism):
        raise ModelError(
            f"a study is of a mechanism, its name or its file; it was given {format_value(m)}."
        )
    chosen = Choices(motion, at, tip, sections, text(language, "language"), sweep).check(
        m, (*SECTIONS, "timings")
    )
    if watch is not None and not callable(watch):
        raise InputError(
            f"watch is a function of a section, called as it is finished; it is {format_value(watch)}."
        )
    if output is not None:
        check_writable(page_path(output, m.name))
    made = Study(
        m.name, chosen.language, tuple(_written(Subject(m, chosen), watch)), _about(m, chosen)
    )
    if output is not None:
        made.save(output)
    return made


def _about(m: Mechanism, chosen: Choices) -> dict[str, Any]:
    from eslabon import __version__

    motion = (
        chosen.motion
        if isinstance(chosen.motion, str | None)
        else str(chosen.motion)
        if isinstance(chosen.motion, Path)
        else "given"
    )
    return {
        "eslabon": __version__, "language": chosen.language, "motion": motion, "tip": chosen.tip,
        "parameters": {name: float(value) for name, value in m.parameters.items()},
    }  # fmt: skip


def _written(subject: Subject, watch: Watcher | None) -> Iterator[Section]:
    """The sections that are asked for, one after another, and at last the times they took."""
    asked = subject.choices.sections
    if subject.choices.at is not None or subject.choices.motion is not None:
        subject.start  # noqa: B018 a choice that cannot be is told at once
    if subject.choices.motion is not None and subject.moves:
        subject.movement  # noqa: B018
    if subject.choices.sweep is not None and not isinstance(subject.choices.sweep, SweepTable):
        SweepRequest.of(subject.choices.sweep).check(subject)
    finished = []
    for name, (title, function) in SECTIONS.items():
        if (
            name in asked
            if asked is not None
            else name != "many_designs" or subject.choices.sweep is not None
        ):
            section = _one(subject, name, title, function)
            finished.append(section)
            if watch is not None:
                watch(section)
            yield section
    if asked is None or "timings" in asked:
        yield _timings(subject, finished)


def _one(
    subject: Subject, name: str, title: str, function: Callable[[Subject, Section], None]
) -> Section:
    """A section. What it cannot compute it says in a sentence; a mistake of ours ends the section, and not the study."""
    page = subject.section(name, title)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ModelWarning)
        warnings.simplefilter("always", SingularityWarning)
        try:
            function(subject, page)
        except EslabonError as error:
            page.fail(str(error))
        except Exception as error:
            page.fail(
                f"{type(error).__name__}: {error} (this is a mistake of the library; please report it)."
            )
    for sentence in dict.fromkeys(
        str(w.message) for w in told if issubclass(w.category, ModelWarning | SingularityWarning)
    ):
        page.data.setdefault("warnings", []).append(sentence)
        page.pieces.append(f'<div lang="en">{pages.paragraph(sentence, "es-note")}</div>')
    page.seconds = time.perf_counter() - start
    return page


def _timings(subject: Subject, finished: list[Section]) -> Section:
    """How long each computation took."""
    page = subject.section("timings", "How long it took")
    page.say(
        "The first time that a quantity of a mechanism is asked for, its code is compiled; it is kept on disk, so that the same study takes less the next time. All "
        "sections took {seconds:.1f} s.",
        seconds=sum(section.seconds for section in finished),
    )
    rows = []
    for section in finished:
        rows += [(section.title, what, seconds) for what, seconds in section.laps]
        rows.append((section.title, "all of it", section.seconds))
    heads = ("section", "computation", "time [s]")
    page.numbers(Sheet("timings", heads, rows))
    told = [(*row[:2], float(f"{row[2]:.2g}")) for row in rows]
    page.show(Sheet("times", heads, told), words=heads[:2], fold=12)
    return page
