"""Which joints of a closed mechanism carry bodies and which are cut, where a format does not say
it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heappop, heappush
from typing import NamedTuple


class DirectedJoint(NamedTuple):
    """A joint as a file has it: from its parent to its child."""

    name: str
    parent: str
    child: str


def spanning_tree(
    joints: Sequence[DirectedJoint], root: str, actuated: Collection[str]
) -> tuple[list[str], list[str]]:
    """The names of the joints that carry their child, and of those that are cut, each in the order
    of the file.

    A body with several parents hangs on an actuated joint if it can, then on the shortest chain
    from the root, then on the joint that comes first. What the root does not reach keeps its first
    joint.

    >>> texts = ("a ground l1", "b l1 l2", "c ground l2")
    >>> crank, rod, rocker = (DirectedJoint(*text.split()) for text in texts)
    >>> spanning_tree([crank, rod, rocker], "ground", ())
    (['a', 'c'], ['b'])
    >>> spanning_tree([crank, rod, rocker], "ground", ("b",))
    (['a', 'b'], ['c'])
    """
    wanted = {joint.child for joint in joints if joint.name in actuated}
    outgoing: dict[str, list[int]] = {}
    for k, joint in enumerate(joints):
        outgoing.setdefault(joint.parent, []).append(k)
    carrier: dict[str, int] = {}
    reached, waiting = {root}, list[tuple[bool, int, int]]()

    def reach(body: str, depth: int) -> None:
        reached.add(body)
        for k in outgoing.get(body, ()):
            inferior = joints[k].child in wanted and joints[k].name not in actuated
            heappush(waiting, (inferior, depth, k))

    reach(root, 0)
    while waiting:
        _, depth, k = heappop(waiting)
        if joints[k].child not in reached:
            carrier[joints[k].child] = k
            reach(joints[k].child, depth + 1)
    for k, joint in enumerate(joints):
        if joint.child != root:
            carrier.setdefault(joint.child, k)
    carrying = set(carrier.values())
    return (
        [joint.name for k, joint in enumerate(joints) if k in carrying],
        [joint.name for k, joint in enumerate(joints) if k not in carrying],
    )
