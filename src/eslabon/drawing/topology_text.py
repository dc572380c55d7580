"""The topology as text, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from eslabon.model import GROUND, Model


def topology_text(m: Model) -> str:
    """The tree of a mechanism as text, with the symbol of each joint, a star for a motor, and the loops below.

    >>> from eslabon import load
    >>> print(topology_text(load("five_bar")))
    ground
    ├─ R theta2* ── link2
    │  └─ R theta3 ── link3
    └─ R theta5* ── link5
       └─ R theta4 ── link4
    loops:
      R tip: link3 ┄┄ link4
    """
    children: dict[str, list[int]] = {}
    for k, joint in enumerate(m.joints):
        children.setdefault(joint.parent, []).append(k)
    lines = [GROUND]
    waiting = [(k, "") for k in reversed(children.get(GROUND, []))]
    while waiting:
        k, indent = waiting.pop()
        joint = m.joints[k]
        last = k == children[joint.parent][-1]
        star = "*" if joint.name in m.actuated else ""
        lines.append(
            f"{indent}{'└─' if last else '├─'} {joint.kind.symbol} {joint.name}{star} ── {joint.child}"
        )
        inner = indent + ("   " if last else "│  ")
        waiting += [(child, inner) for child in reversed(children.get(joint.child, []))]
    for title, rows in _beside_the_tree(m):
        if rows:
            lines += [f"{title}:", *(f"  {row}" for row in rows)]
    return "\n".join(lines)


def _beside_the_tree(m: Model) -> Iterator[tuple[str, list[str]]]:
    yield "loops", [f"{x.kind.symbol} {x.name}: {x.first.body} ┄┄ {x.second.body}" for x in m.loops]
    yield (
        "couplings",
        [
            f"{c.name}: {c.joint}" + (f" = {c.ratio:g} {c.source}" if c.source else " driven")
            for c in m.couplings
        ],
    )
    yield "springs", [f"{s.name}: {s.first.body} ~~ {s.second.body}" for s in m.springs]
