"""Parallel robots with fewer than six degrees of freedom, whose platforms have parasitic motions or keep a part of their
orientation."""

from __future__ import annotations

from functools import cache

import numpy as np

import eslabon as es

R_BASE, R_PLATFORM, L_ROD, HEIGHT = 0.5, 0.25, 0.35, 0.2


def quaternion_product(a, b):
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.array([w, *v])


def turn(axis, angle):
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.eye(3)[axis])])


@cache  # mechanisms do not change, and what is known of them is kept
def three_prs():
    """3-PRS: three sliders on vertical columns, a rod on each that swings towards the middle, a platform on three balls. Its
    degrees of freedom are z, roll and pitch; x, y and yaw follow."""
    b = es.Builder("three_prs")
    swing = np.arccos((R_BASE - R_PLATFORM) / L_ROD)  # the rods point down
    for k in range(3):
        a = 2 * np.pi * k / 3
        b.body(f"slider{k}", mass=1.0).body(f"rod{k}", mass=0.5, com=(L_ROD / 2, 0, 0))
        b.joint(
            f"s{k}", "prismatic", "ground", f"slider{k}", axis="z", limits=(0.1, 1.2),
            at=((R_BASE * np.cos(a), R_BASE * np.sin(a), 0), (0, 0, a + np.pi)), home=HEIGHT + L_ROD * np.sin(swing),
        )  # fmt: skip
        b.joint(f"r{k}", "revolute", f"slider{k}", f"rod{k}", axis="y", home=swing)
    _platform(b, [quaternion_product(turn(1, -swing), turn(2, -np.pi))], "rod")
    return b.actuate("s0", "s1", "s2").build()


@cache
def three_rps():
    """3-RPS (Hunt): legs that swing in vertical planes and change their length, with a platform on three balls."""
    b = es.Builder("three_rps")
    inward = R_BASE - R_PLATFORM
    length, swing = np.hypot(inward, HEIGHT + 0.3), np.arctan2(inward, HEIGHT + 0.3)
    for k in range(3):
        a = 2 * np.pi * k / 3
        b.body(f"cylinder{k}", mass=1.0).body(f"rod{k}", mass=0.5)
        place = (R_BASE * np.cos(a), R_BASE * np.sin(a), 0), (0, 0, a + np.pi)
        b.joint(f"r{k}", "revolute", "ground", f"cylinder{k}", axis="y", at=place, home=swing)
        b.joint(
            f"s{k}",
            "prismatic",
            f"cylinder{k}",
            f"rod{k}",
            axis="z",
            home=length,
            limits=(0.2, 1.0),
        )
    _platform(b, [quaternion_product(turn(1, -swing), turn(2, -np.pi))], "rod", at=(0, 0, 0))
    return b.actuate("s0", "s1", "s2").build()


def _platform(b, home, rod, at=(L_ROD, 0, 0)):
    """A platform on balls at the ends of three rods."""
    b.body("platform", mass=2.0, com=(-R_PLATFORM, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.joint("ball0", "spherical", f"{rod}0", "platform", at=at, home=home[0])
    for k in (1, 2):
        a = 2 * np.pi * k / 3
        place = (R_PLATFORM * (np.cos(a) - 1), R_PLATFORM * np.sin(a), 0)
        b.loop(f"ball{k}", "spherical", f"{rod}{k}", "platform", at, place)
    b.frame("centre", "platform", (-R_PLATFORM, 0, 0))


@cache
def schoenflies():
    """Four legs on vertical sliders, askew. Two are PUU: their couples keep the platform from tilting. Two are PUS. So it shifts
    and turns about the vertical."""
    b = es.Builder("schoenflies")
    angles = np.array([0.0, 1.8, 3.1, 4.6])
    columns = R_BASE * np.stack([np.cos(angles + 0.5), np.sin(angles + 0.5)], axis=-1)
    balls = R_PLATFORM * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    heading = np.arctan2(*(balls - columns).T[::-1])
    lean = np.arccos(np.linalg.norm(balls - columns, axis=-1) / 0.5)
    for k in range(4):
        b.body(f"slider{k}", mass=1.0).body(f"rod{k}", mass=0.5, com=(0.25, 0, 0))
        b.joint(
            f"s{k}", "prismatic", "ground", f"slider{k}", axis="z", limits=(0.1, 1.2),
            at=((*columns[k], 0), (0, 0, heading[k])), home=HEIGHT + 0.5 * np.sin(lean[k]),
        )  # fmt: skip
        b.joint(f"u{k}", "universal", f"slider{k}", f"rod{k}", axis=("z", "y"), home=(0, lean[k]))
    b.body("platform", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.joint(
        "v0",
        "universal",
        "rod0",
        "platform",
        at=(0.5, 0, 0),
        axis=("y", "z"),
        home=(-lean[0], -heading[0]),
    )
    for k in (1, 2, 3):
        ends = (0.5, 0, 0), (*(balls[k] - balls[0]), 0)
        if k == 1:
            b.loop("v1", "universal", "rod1", "platform", *ends, axis=("y", "z"))
        else:
            b.loop(f"v{k}", "spherical", f"rod{k}", "platform", *ends)
    b.frame("centre", "platform", (*-balls[0], 0))
    return b.actuate("s0", "s1", "s2", "s3").build()
