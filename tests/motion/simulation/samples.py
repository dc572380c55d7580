"""Mechanisms whose motion is known, and a cache of their own for tests."""

from __future__ import annotations

import numpy as np

from eslabon.mechanism import Builder, Mechanism

MOMENTS = np.array([1.0, 2.0, 3.0])


def pendulum(length: float = 1.0, viscous: float = 0.0) -> Mechanism:
    """A mass on a rod without mass, hanging along -y at q = 0."""
    b = Builder("pendulum", gravity=(0, -9.81, 0))
    b.body("bob", mass=2.0, com=(0, -length, 0), inertia=(0, 0, 0))
    b.joint(
        "hinge", "revolute", "ground", "bob", axis="z", **({"viscous": viscous} if viscous else {})
    )
    b.actuate("hinge")
    return b.build()


def free_body(gravity=(0, 0, 0), moments=MOMENTS) -> Mechanism:
    """A body that nothing holds."""
    b = Builder("body", gravity=gravity)
    b.body("body", mass=1.5, com=(0, 0, 0), inertia=tuple(moments))
    b.joint("flight", "free", "ground", "body")
    b.frame("nose", "body", at=(1, 0, 0))
    return b.build()


def top(moments=MOMENTS) -> Mechanism:
    """A body turning about its centre of mass."""
    b = Builder("top", gravity=(0, 0, -9.81))
    b.body("body", mass=1.5, com=(0, 0, 0), inertia=tuple(moments))
    b.joint("ball", "spherical", "ground", "body")
    return b.build()
