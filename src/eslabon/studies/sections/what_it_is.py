"""What it is: a drawing, its topology, its tables, and how many degrees of freedom it has."""

from __future__ import annotations

from html import escape

from eslabon import pages
from eslabon.drawing.topology_drawing import topology_svg
from eslabon.language import plural
from eslabon.studies.describe import sheets
from eslabon.studies.section import Section
from eslabon.studies.sections.degrees_of_freedom import degrees_of_freedom
from eslabon.studies.subject import Subject

WORDS = ("kind", "more")  # columns of texts that are translated


def what_it_is(subject: Subject, page: Section) -> None:
    """The first section."""
    m = subject.m
    _counted(subject, page)
    if m.note:
        note = " ".join(m.note.split())
        page.pieces.append(f'<p lang="en" class="es-quiet">{escape(note)}</p>')
    _pictures(subject, page)
    with page.part("mobility"):
        degrees_of_freedom(m, page)
    page.head("The numbers it is made of")
    page.say(
        "Lengths are in metres, masses in kilograms, angles in radians unless a column says otherwise. Each joint carries its child body; "
        "the frame of a body is where its joint holds it. Joints with a star are driven by actuators."
    )
    for sheet in sheets(m):
        page.table(sheet, [word for word in WORDS if word in sheet.columns], fold=14)
    if m.plausibility_warnings:
        page.data["plausibility_warnings"] = list(m.plausibility_warnings)
        page.say("What looks odd in these numbers:")
        page.pieces.append(f'<div lang="en">{pages.listing(m.plausibility_warnings)}</div>')


def _counted(subject: Subject, page: Section) -> None:
    m = subject.m
    page.data |= {
        "mechanism": m.name, "bodies_count": len(m.bodies), "joints_count": len(m.joints), "loops_count": len(m.loops),
        "coordinates": m.nq, "velocities": m.nv, "actuators": m.nu,
    }  # fmt: skip
    page.say(
        "{name} consists of {bodies} and {joints}. {loops} {actuators}",
        name=m.name,
        bodies=plural(len(m.bodies), "{n} moving body", "{n} moving bodies"),
        joints=plural(len(m.joints), "{n} joint", "{n} joints"),
        loops=plural(
            len(m.loops), "{n} cut joint closes a loop.", "{n} cut joints close its loops."
        )
        if m.loops
        else "No loop closes: it is a tree of bodies.",
        actuators=plural(m.nu, "{n} actuator force drives it.", "{n} actuator forces drive it.")
        if m.nu
        else "No actuator drives it.",
    )


def _pictures(subject: Subject, page: Section) -> None:
    """The mechanism as it stands, beside who is joined to whom."""
    m = subject.m
    with page.pair():
        with page.part("drawing"):
            page.data["start"] = m.named(subject.start) if m.nq else {}
            page.figure(
                m.plot(subject.start),
                "{name} where the study starts. Actuated joints are coloured, cut joints marked.",
                name=m.name,
            )
        with page.part("topology"):
            page.picture(
                topology_svg(m, page.language),
                "Who is joined to whom: boxes are bodies, lines are joints. Lines of actuated joints are coloured; dashed ones are the cut joints "
                "that close loops.",
            )
