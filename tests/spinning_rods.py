"""Robots whose legs are rods between two ball joints, which spin freely: a 6-SPS platform, a delta robot
and one with four arms and a jointed platform (H4). With universal joints at one end the rods cannot spin.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import eslabon as es

Point = np.ndarray
AXIAL = 0.05  # of a rod's transverse inertia: what it has about its own axis
POSES = {"spherical": "balls", "universal": "universals"}


def turn_to(direction: Point) -> np.ndarray:
    """The quaternion of the least turn that takes z to a direction."""
    z = direction / np.linalg.norm(direction)
    x = np.concatenate([[1 + z[2]], np.cross([0, 0, 1], z)])
    return np.asarray(x / np.linalg.norm(x))


def angles_to(direction: Point) -> np.ndarray:
    """The angles about x and then y that take z to a direction."""
    z = direction / np.linalg.norm(direction)
    return np.array([np.arctan2(-z[1], z[2]), np.arcsin(z[0])])


def around_z(radius: float, degrees: float, z: float = 0.0) -> Point:
    a = np.radians(degrees)
    return np.array([radius * np.cos(a), radius * np.sin(a), z])


def rod(b: es.Builder, name: str, length: float, mass: float, axial: float, start: float = 0.0):
    """A uniform rod along z."""
    I = mass * length**2 / 12
    return b.body(name, mass, (0, 0, start + length / 2), (I, I, axial * I))


def leg_joint(b: es.Builder, name: str, kind: str, parent: str, child: str, at, towards: Point):
    """The joint at a rod's lower end, with the rod along a direction of its parent at home."""
    axes = {"axis": ("x", "y")} if kind == "universal" else {}
    home = angles_to(towards) if kind == "universal" else turn_to(towards)
    b.joint(name, kind=kind, parent=parent, child=child, at=tuple(at), home=tuple(home), **axes)


@cache  # mechanisms do not change, and what is known of them is kept
def stewart(kind: str = "spherical", axial: float = AXIAL, size: float = 1.0) -> es.Mechanism:
    """A 6-SPS platform, or 6-UPS: the platform is free, its balls are cut."""
    b = es.Builder(f"stewart_of_{POSES[kind]}")
    height = 0.6 * size
    b.body("platform", 10.0, (0, 0, 0), tuple(10.0 * size**2 * x for x in (0.02, 0.025, 0.04)))
    b.joint(
        "table", kind="free", parent="ground", child="platform", home=(0, 0, height, 1, 0, 0, 0)
    )
    for k in range(6):
        foot = size * around_z(0.5, 60 * k + (10 if k % 2 else -10) - 30)
        top = size * around_z(0.3, 60 * (k // 2 * 2) + (50 if k % 2 else 10) - 30)
        towards = top + np.array([0, 0, height]) - foot
        rod(b, f"cylinder{k}", 0.45 * size, 2.0, axial)
        rod(b, f"rod{k}", 0.4 * size, 1.0, axial, -0.4 * size)
        leg_joint(b, f"base{k}", kind, "ground", f"cylinder{k}", foot, towards)
        length = float(np.linalg.norm(towards))
        b.joint(
            f"slide{k}", kind="prismatic", axis="z", parent=f"cylinder{k}", child=f"rod{k}", home=length,
            limits=(0.5 * length, 1.5 * length),
        )  # fmt: skip
        b.loop(f"ball{k}", kind="spherical", body_a=f"rod{k}", body_b="platform", second=tuple(top))
    b.actuate(*(f"slide{k}" for k in range(6)))
    return b.frame("tool", "platform", at=(0, 0, 0.05 * size)).build()


def arm_and_rods(b, k: int, kind: str, axial: float, degrees: float, ends, home_of_end) -> None:
    """A driven arm at an angle about z, level at home, and a pair of parallel rods to points of a body."""
    turn = np.radians(degrees)
    R = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    arm, base = 0.35, around_z(0.2, degrees)
    b.body(f"arm{k}", 1.2, (arm / 2, 0, 0), (1e-3, 0.01, 0.01))
    b.joint(
        f"motor{k}", kind="revolute", parent="ground", child=f"arm{k}", axis="y",
        at=(tuple(base), (0, 0, float(turn))),
    )  # fmt: skip
    for side, (body, point) in zip((-1, 1), ends, strict=True):
        name = f"{k}{'a' if side < 0 else 'b'}"
        elbow = np.array([arm, side * 0.06, 0])
        towards = R.T @ (home_of_end(body) + point - base) - elbow
        rod(b, f"rod{name}", float(np.linalg.norm(towards)), 0.15, axial)
        leg_joint(b, f"elbow{name}", kind, f"arm{k}", f"rod{name}", elbow, towards)
        b.loop(
            f"ball{name}", kind="spherical", body_a=f"rod{name}", first=(0, 0, float(np.linalg.norm(towards))),
            body_b=body, second=tuple(point),
        )  # fmt: skip


@cache
def delta(kind: str = "spherical", axial: float = AXIAL) -> es.Mechanism:
    """A delta robot whose six rods have balls at both ends."""
    b = es.Builder(f"delta_of_{POSES[kind]}")
    place = np.array([0, 0, -0.7])
    b.body("platform", 0.6, (0, 0, 0), (1e-3, 1e-3, 2e-3))
    b.joint("table", kind="free", parent="ground", child="platform", home=(*place, 1, 0, 0, 0))
    for k in range(3):
        along = around_z(0.06, 120 * k + 90)
        ends = [("platform", around_z(0.05, 120 * k) + side * along) for side in (-1, 1)]
        arm_and_rods(b, k, kind, axial, 120 * k, ends, lambda body: place)
    return b.actuate("motor0", "motor1", "motor2").frame("tool", "platform").build()


@cache
def h4(kind: str = "spherical", axial: float = AXIAL) -> es.Mechanism:
    """Four arms with pairs of rods, two to each of two bars that hinges join to a middle one."""
    b = es.Builder(f"h4_of_{POSES[kind]}")
    places = {"left": np.array([0, 0.1, -0.7]), "right": np.array([0, -0.1, -0.7])}
    b.body("middle", 0.3, (0, 0, 0), (1e-3, 1e-3, 1e-3)).body("left", 0.2, (0, 0, 0), (1e-3,) * 3)
    b.body("right", 0.2, (0, 0, 0), (1e-3,) * 3)
    b.joint("table", kind="free", parent="ground", child="middle", home=(0, 0, -0.7, 1, 0, 0, 0))
    b.joint("hinge_left", kind="revolute", axis="z", parent="middle", child="left", at=(0, 0.1, 0))
    b.joint(
        "hinge_right", kind="revolute", axis="z", parent="middle", child="right", at=(0, -0.1, 0)
    )
    arms = ((0, "left", 20.0), (1, "left", 110.0), (2, "right", 200.0), (3, "right", -45.0))
    for k, body, degrees in arms:
        along, out = around_z(0.06, degrees + 90), around_z(0.03, degrees)
        ends = [(body, out + side * along) for side in (-1, 1)]
        arm_and_rods(b, k, kind, axial, degrees, ends, places.__getitem__)
    return b.actuate(*(f"motor{k}" for k in range(4))).frame("tool", "middle").build()


@cache
def rssr(
    kind: str = "spherical", axial: float = AXIAL, split: bool = False, swing: bool = False
) -> es.Mechanism:
    """A spatial four-bar whose tree goes through the coupler and on to the rocker, which is cut from the ground.

    `split`: the coupler is two halves that turn about its axis, so that two spins share a joint. `swing`: a pendulum
    hangs on the rocker, which nothing drives.
    """
    b = es.Builder(f"rssr_of_{POSES[kind]}{'_split' * split}{'_swing' * swing}")
    near, far = np.array([0.3, 0, 0]), np.array([0.2, 0.9, 0.6])  # the coupler's ends at home
    towards = far - near
    length = float(np.linalg.norm(towards))
    b.body("crank", 1.0, (0.15, 0, 0), (0.001, 0.01, 0.01))
    b.joint("motor", kind="revolute", axis="z", parent="ground", child="crank")
    parts = ("coupler", "sleeve") if split else ("coupler",)
    for name in parts:
        rod(b, name, length / len(parts), 0.5, axial)
    leg_joint(b, "elbow", kind, "crank", "coupler", near, towards)
    if split:
        b.joint(
            "sleeve",
            kind="revolute",
            axis="z",
            parent="coupler",
            child="sleeve",
            at=(0, 0, length / 2),
        )
    b.body("rocker", 1.5, (0, 0.05, -0.3), (0.02, 0.02, 0.01))
    back = turn_to(towards) * (1, -1, -1, -1) if kind == "spherical" else None
    R = np.eye(3) if back is not None else rotation_of(angles_to(towards)).T
    home = back if back is not None else quaternion_of(R)
    b.joint(
        "knee", kind="spherical", parent=parts[-1], child="rocker", at=(0, 0, length / len(parts)), home=tuple(home)
    )  # fmt: skip
    b.loop(
        "hinge", kind="revolute", body_a="rocker", first=((0, 0, -0.6), (0, 1.2, 0)), body_b="ground",
        second=((0.2, 0.9, 0), (0, 1.2, 0)),
    )  # fmt: skip
    if swing:
        b.body("bob", 0.2, (0, 0, -0.1), (1e-3,) * 3)
        b.joint("swing", kind="revolute", axis="y", parent="rocker", child="bob", at=(0, 0, -0.2))
    return b.actuate("motor").build()


def rotation_of(angles: np.ndarray) -> np.ndarray:
    (s, c), (t, d) = ((np.sin(x), np.cos(x)) for x in angles)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ [[d, 0, t], [0, 1, 0], [-t, 0, d]]


def quaternion_of(R: np.ndarray) -> np.ndarray:
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array([w, *((R - R.T)[[2, 0, 1], [1, 2, 0]] / (4 * w))])
