"""Its equations, typeset where they are short enough to be read, and what each computation costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from eslabon.errors import EslabonError
from eslabon.export.operation_counts import Operations
from eslabon.sheets import Sheet
from eslabon.studies.section import Section
from eslabon.studies.sections.what_drives_it import FORMULATIONS, WRITTEN
from eslabon.studies.subject import Subject

READABLE = 6000  # letters of LaTeX, above which nobody reads on
SMALL, LARGE = (
    4,
    12,
)  # velocities, above which equations of motion, and any equations, are not tried
NUMBER = re.compile(r"\d+\.\d{6,}")
ELSEWHERE = re.compile(r"\\text\{(\S+) is zero elsewhere\}")


def equations(subject: Subject, page: Section) -> None:
    """Equations of motion or, where these are too long, of the loops; and operation counts."""
    m = subject.m
    if not m.nv:
        page.say("{name} does not move, so that there are no equations of motion.", name=m.name)
        return
    with page.part("equations"):
        _typeset(subject, page)
    with page.part("operation counts"):
        _counts(subject, page)


def _typeset(subject: Subject, page: Section) -> None:
    m = subject.m
    wanted = ["equations_of_motion"] if m.nv <= SMALL else []
    wanted += (["constraint"] if m.closed else ["pose"]) if m.nv <= LARGE else []
    for quantity in wanted:
        try:
            options: dict[str, Any] = {"frame": subject.tip} if quantity == "pose" else {}
            made = m.equations(quantity, **options)
            latex = made.latex()
        except EslabonError:
            continue
        if len(latex) <= READABLE:
            _explained(subject, page, quantity, made.names)
            page.equation(rf"\begin{{align*}}{_shortened(latex, page)}\end{{align*}}")
            page.data[quantity] = latex
            return
    page.say(
        "Its equations are too long to be read here; `eslabon equations {name} mass_matrix` prints a part of them, and `eslabon c {name}` writes them as C.",
        name=m.name,
    )


def _explained(subject: Subject, page: Section, quantity: str, results: Sequence[str]) -> None:
    m = subject.m
    letters = ", ".join(f"q{k + 1}" for k in range(min(m.nq, 12)))
    names = ", ".join(c for c in _coordinate_names(subject)[:12])
    if quantity == "constraint":
        page.say(
            "Its equations of motion are too long to be read here. These are the conditions that close its loops, each zero:"
        )
    elif quantity == "pose":
        page.say(
            "Its equations of motion are too long to be read here. This is the pose of {tip} on the ground, a rotation with a position beside it:",
            tip=subject.named_tip,
        )
    elif m.closed:
        page.say(
            "M is the mass matrix of the tree, {h} what weight and velocities add, Q what the actuators give; Φ = 0 closes the loops, J is its Jacobian, and λ are the forces that hold them.",
            h=results[1],
        )
    else:
        page.say(
            "M is the mass matrix, {h} what weight and velocities add, and Q what the actuators give.",
            h=results[1],
        )
    if letters != names:
        page.say("Here {letters} stand for {names}.", letters=letters, names=names)


def _coordinate_names(subject: Subject) -> tuple[str, ...]:
    from eslabon.model.configuration import coordinate_names

    return coordinate_names(subject.m)


def _shortened(latex: str, page: Section) -> str:
    """Numbers with six digits, and words in the study's language."""
    latex = NUMBER.sub(lambda x: f"{float(x[0]):.6g}", latex)
    lines = [_with_short_left(line) for line in latex.split(" \\\\\n")]
    latex = " \\\\\n".join(lines)
    return ELSEWHERE.sub(
        lambda x: rf"\text{{{page.said('{name} is zero elsewhere', name=x[1])}}}", latex
    )


def _with_short_left(line: str) -> str:
    """A line whose left side is a chain of equals, as of all entries that are zero, begun where right sides begin."""
    left, sign, right = line.partition(" &= ")
    return f"& {left} = {right}" if sign and left.count(" = ") > 1 else line


def _counts(subject: Subject, page: Section) -> None:
    """Multiplications and additions of each formulation, and of other quantities."""
    m = subject.m
    page.head("What each computation costs")
    page.say(
        "Operations that one evaluation takes, as the library computes it: the same expression is computed once."
    )
    rows: list[tuple[object, ...]] = []
    for formulation in FORMULATIONS if m.nu else ():
        try:
            rows.append(
                _row(
                    "inverse dynamics",
                    WRITTEN[formulation],
                    m.operations("inverse_dynamics", formulation=formulation),
                )
            )
        except EslabonError:
            continue
    for quantity in (
        "forward_dynamics",
        "mass_matrix",
        "energy",
        *(["constraint"] if m.closed else []),
    ):
        try:
            rows.append(_row(quantity.replace("_", " "), "", m.operations(quantity)))
        except EslabonError:
            continue
    heads = (
        "quantity",
        "formulation",
        "multiplications",
        "additions",
        "divisions",
        "trigonometric",
        "other",
        "total",
    )
    page.table(Sheet("operations", heads, rows), words=("quantity", "formulation"))


def _row(quantity: str, formulation: str, n: Operations) -> tuple[object, ...]:
    return (
        quantity,
        formulation,
        n.multiplications,
        n.additions,
        n.divisions,
        n.trigonometric,
        n.square_roots + n.other,
        n.total,
    )
