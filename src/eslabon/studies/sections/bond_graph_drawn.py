"""Its bond graph: drawn where it is small, counted where it is not, and checked against the equations of motion."""

from __future__ import annotations

from collections import Counter

import numpy as np

from eslabon.sheets import Sheet
from eslabon.studies.section import Section
from eslabon.studies.subject import Subject

LARGE, WIDE = (
    70,
    24,
)  # elements, above which a drawing is no longer read, and above which it is wider than the page
MEANING = {
    "I": "inertia", "C": "spring or other store of displacement", "R": "friction or other resistance", "Se": "source of effort",
    "Sf": "source of flow", "MSe": "modulated source of effort", "MSf": "modulated source of flow", "TF": "transformer", "GY": "gyrator",
    "MTF": "modulated transformer", "MGY": "modulated gyrator", "0": "junction of equal effort", "1": "junction of equal flow",
    "De": "effort detector", "Df": "flow detector", "rSe": "residual effort, which closes a loop", "rSf": "residual flow, which makes a velocity a state",
}  # fmt: skip


def bond_graph(subject: Subject, page: Section) -> None:
    """The graph."""
    m = subject.m
    if not m.nv:
        page.say("{name} does not move, so that no power flows.", name=m.name)
        return
    with page.part("bond graph"):
        graph = m.bond_graph()
        kinds = Counter(x.kind for x in graph.elements.values())
        page.say(
            "A bond graph shows how power flows: a bond is an effort times a flow, here force times velocity. Bodies are inertias in Euler's rings of gyrators, "
            "joints are transformers modulated by the configuration, weights and actuators are sources of effort."
        )
        rows = [(kind, MEANING.get(kind, ""), number) for kind, number in kinds.most_common()]
        page.table(Sheet("elements", ("kind", "meaning", "number"), rows), words=("meaning",))
        page.data |= {"states": graph.states, "inputs": graph.inputs, "bonds": len(graph.bonds)}
        page.say(
            "{bonds} bonds join them. States are {states}; inputs are {inputs}.",
            bonds=len(graph.bonds), states=", ".join(graph.states[:12]) + (", ..." if len(graph.states) > 12 else ""),
            inputs=", ".join(graph.inputs) or "–",
        )  # fmt: skip
        if not m.rheonomic:
            _check(subject, page, graph)
        if sum(kinds.values()) > LARGE:
            page.say(
                "With {n} elements it is too large to be read as a picture; `m.bond_graph().draw('graph.svg')` draws it.",
                n=sum(kinds.values()),
            )
            return
        drawn = graph._repr_svg_()
        assert drawn is not None  # a mechanism that moves has bonds
        caption = "Half arrows show where power counts as positive; a stroke stands at the end that receives the effort."
        page.picture(drawn, caption, wide=sum(kinds.values()) > WIDE)


def _check(subject: Subject, page: Section, graph: object) -> None:
    """Its rates beside the accelerations of forward dynamics."""
    m, motion = subject.m, subject.movement
    k = len(motion.t) // 3
    tau = np.zeros(m.nu) if motion.tau is None else motion.tau[k]
    state = graph.state(motion.q[k], motion.v[k])  # type: ignore[attr-defined]
    own = graph.velocities(graph.rates(state, tau))  # type: ignore[attr-defined]
    away = float(np.abs(own - m.forward_dynamics(motion.q[k], motion.v[k], tau)).max(initial=0.0))
    page.data["difference_from_forward_dynamics"] = away
    page.say(
        "At t = {t:.3g} s of the motion its accelerations differ from those of forward dynamics by {away:.1g} at most.",
        t=float(motion.t[k]), away=away,
    )  # fmt: skip
