"""Forces and moments as arrows in the ground's frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from eslabon.model import GROUND, Model
from eslabon.scene.placing import body_poses, moved
from eslabon.scene.scene import Scene, scene_of

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Arrows(NamedTuple):
    """Wrenches in the ground's axes: names, where they act `(..., n, 3)`, forces and moments `(..., n, 3)`."""

    names: tuple[str, ...]
    points: Floats
    forces: Floats
    moments: Floats


def reaction_arrows(m: Model, q: Any, reactions: Any) -> Arrows:
    """The wrenches that joints transmit, as `m.reactions` gives them, `(..., joints + loops, 6)`: each acts on the body that
    the joint carries, of a cut joint on its second body."""
    s = scene_of(m)
    poses, wrenches = body_poses(m, q), np.asarray(reactions, dtype=float)
    at = [s.bodies.index(j.child) for j in s.joints]
    frames = poses[..., at, :, :] @ np.array([j.on_child for j in s.joints])
    return _turned(tuple(j.name for j in s.joints), frames, wrenches)


def external_arrows(m: Model, q: Any, external: Mapping[str, Any]) -> Arrows:
    """Wrenches `(..., 6)` on bodies or frames, in their axes at their origins, or by the name of an open wrench of the model, as
    the verbs of dynamics take them."""
    s, poses = scene_of(m), body_poses(m, q)
    places = [_acting(m, s, poses, name) for name in external]
    wrenches = np.stack(
        np.broadcast_arrays(*(np.asarray(w, dtype=float) for w in external.values())), axis=-2
    )
    return _turned(tuple(external), np.stack(places, axis=-3), wrenches)


def _acting(m: Model, s: Scene, poses: Floats, name: str) -> Floats:
    """Where a wrench acts, and in which axes, `(..., 4, 4)`."""
    opened = next((w for w in m.wrenches if w.name == name), None)
    if opened is None:
        at = next((T for known, _, T in s.frames if known == name), np.eye(4))
        placed: Floats = poses[..., s.bodies.index(m.frame(name).body), :, :] @ at
        return placed
    T = poses[..., s.bodies.index(opened.body), :, :].copy()
    T[..., :3, 3] = moved(T, np.array(opened.at, dtype=float)[None])[..., 0, :]
    if opened.axes == GROUND:
        T[..., :3, :3] = np.eye(3)
    return T


def _turned(names: tuple[str, ...], frames: Floats, wrenches: Floats) -> Arrows:
    R = frames[..., :3, :3]
    moments, forces = (
        np.einsum("...ij,...j->...i", R, half) for half in (wrenches[..., :3], wrenches[..., 3:])
    )
    return Arrows(names, frames[..., :3, 3], forces, moments)
