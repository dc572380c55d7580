"""Mechanisms at the edge of what may be built: one degree of freedom, none, or one that no mass resists.

They are to be asked every question that larger ones are asked; `SMALL` names them all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eslabon.formulas.kinematics.tree import placements
from eslabon.mechanism import Builder, Mechanism
from random_mechanisms import random_builder


def _rod(b: Builder, name: str, length: float = 1.0, mass: float = 1.0) -> Builder:
    """A uniform rod along its x axis from the origin on."""
    inertia = mass * length**2 / 12
    return b.body(name, mass, (length / 2, 0, 0), (0.0, inertia, inertia))


def one_joint_and_fixed() -> Mechanism:
    """One coordinate, with fixed joints before and after it, as every one-joint URDF has."""
    b = Builder("one_joint_and_fixed")
    for name in ("base", "arm", "tool"):
        _rod(b, name)
    b.joint("mount", kind="fixed", parent="ground", child="base", at=(0.1, 0, 0.2))
    b.joint("hinge", kind="revolute", axis="y", parent="base", child="arm")
    b.joint("flange", kind="fixed", parent="arm", child="tool", at=(1, 0, 0))
    return b.build()


def all_fixed() -> Mechanism:
    """Bodies that cannot move."""
    b = Builder("all_fixed")
    b.joint("one", kind="fixed", parent="ground", child="base", at=(0.1, 0, 0.2))
    b.joint("two", kind="fixed", parent="base", child="top", at=(0, 0, 1))
    return _rod(_rod(b, "base"), "top").build()


def locked_loop() -> Mechanism:
    """A triangle of three rods: it closes in one way and does not move."""
    b = Builder("locked_loop")
    b.joint("A", kind="revolute", parent="ground", child="one", home=np.pi / 3)
    b.joint("B", kind="revolute", parent="one", child="two", at=(1, 0, 0), home=-2 * np.pi / 3)
    b.loop("C", kind="revolute", body_a="two", first=(1, 0, 0), body_b="ground", second=(1, 0, 0))
    return _rod(_rod(b, "one"), "two").build()


def fixed_loop() -> Mechanism:
    """A loop without any moving joint, welded shut."""
    b = Builder("fixed_loop")
    b.joint("one", kind="fixed", parent="ground", child="base", at=(1, 0, 0))
    b.loop("shut", kind="fixed", body_a="base", body_b="ground", second=(1, 0, 0))
    return _rod(b, "base").build()


def locked_coupling() -> Mechanism:
    """Two hinges on one axis that a gear couples and a weld holds together: no motion is left."""
    b = Builder("locked_coupling")
    b.joint("A", kind="revolute", parent="ground", child="one")
    b.joint("B", kind="revolute", parent="ground", child="two")
    b.couple("gear", joint="B", source="A", ratio=2.0)
    b.loop("weld", kind="fixed", body_a="one", body_b="two")
    return _rod(_rod(b, "one"), "two").build()


def massless_wrist() -> Mechanism:
    """A z-y-z wrist whose first two bodies have no mass: at zero its outer axes coincide."""
    b = Builder("massless_wrist")
    b.body("yaw").body("pitch").body("hand", 1.0, (0, 0, 0.1), (0.01, 0.01, 0.01))
    b.joint("z1", kind="revolute", axis="z", parent="ground", child="yaw")
    b.joint("y", kind="revolute", axis="y", parent="yaw", child="pitch")
    b.joint("z2", kind="revolute", axis="z", parent="pitch", child="hand")
    return b.build()


def two_planar_around_massless() -> Mechanism:
    """Two planar joints in a row with nothing between them: three motions that no mass resists anywhere."""
    b = Builder("two_planar_around_massless")
    b.body("nothing").body("plate", 1.0, (0.1, 0, 0), (0.01, 0.01, 0.02))
    b.joint("one", kind="planar", axis="z", parent="ground", child="nothing")
    b.joint("two", kind="planar", axis="z", parent="nothing", child="plate")
    return b.build()


def light_beside_a_loop() -> Mechanism:
    """One coordinate that moves no mass and no motor drives, beside a loop that it does not touch."""
    b = _rod(Builder("light_beside_a_loop").body("light"), "base")
    b.joint("spin", kind="revolute", parent="ground", child="light")
    b.joint("mount", kind="fixed", parent="ground", child="base", at=(1, 0, 0))
    return b.loop("shut", kind="fixed", body_a="base", body_b="ground", second=(1, 0, 0)).build()


def random_with_fixed(rng: np.random.Generator, moving: int) -> Mechanism:
    """A tree of `moving` joints of one degree of freedom each with fixed joints anywhere between them."""
    kinds = ["fixed"] * int(rng.integers(1, 4)) + list(
        rng.choice(["revolute", "prismatic", "helical"], moving)
    )
    return random_builder(rng, [str(k) for k in rng.permutation(kinds)]).build()


def random_locked(rng: np.random.Generator) -> Mechanism:
    """Up to three joints in a row in space, the last body welded to the ground where it stands: nothing moves."""
    count = int(rng.integers(1, 4))
    kinds = [
        str(k)
        for k in rng.permutation(
            [*rng.choice(["revolute", "prismatic", "helical"], count), "fixed"]
        )
    ]
    b = random_builder(rng, kinds, branched=False)
    last = f"body{count}"
    R, p = placements(tree := b.build(), np.zeros(tree.nq))[last]
    there = np.eye(4)
    there[:3, :3], there[:3, 3] = R, p
    return b.loop("weld", kind="fixed", body_a=last, body_b="ground", second=there).build()


SMALL: dict[str, Callable[[], Mechanism]] = {
    make.__name__: make
    for make in (
        one_joint_and_fixed, all_fixed, locked_loop, fixed_loop, locked_coupling, massless_wrist,
        two_planar_around_massless,
    )
}  # fmt: skip
