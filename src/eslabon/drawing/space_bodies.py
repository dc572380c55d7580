"""Bodies and joints on axes of space, as shaded solids."""

from __future__ import annotations

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.shading import Solids, colour_rows, divided
from eslabon.drawing.stage import SpaceStage
from eslabon.scene import Scene

COARSE = 12.0  # how many edges of a triangle the mechanism is wide
MANY = 30_000  # triangles, beyond which those of a mesh are not divided further


class SpaceBodies:
    """The solids of a mechanism, which move with its bodies."""

    def __init__(self, stage: SpaceStage, s: Scene, poses: Floats, shapes: bool = True) -> None:
        parts = s.parts if shapes else s.primitives
        longest = s.size / COARSE if sum(len(part.faces) for part in parts) < MANY else np.inf
        pieces = [divided(part.vertices, part.faces, longest) for part in parts]
        counts = [len(piece) for piece in pieces]
        self.corners = np.concatenate(pieces) if pieces else np.zeros((0, 3, 3))
        self.owners = np.repeat([s.bodies.index(part.body) for part in parts], counts).astype(int)
        colours = [
            part.colour or stage.theme.role("link" if part.role == "shape" else part.role)
            for part in parts
        ]
        self.solids = Solids(
            self.corners, colour_rows(colours, counts), linewidths=0.6, zorder=10.0
        )
        self.solids.set_rasterized(True)  # thousands of triangles: a drawing in a page stays small
        self.solids.set_gid("solids")
        self.names = frozenset(part.name for part in parts)
        self.place(poses)
        stage.ax.add_collection(self.solids, autolim=False)

    def place(self, poses: Floats) -> None:
        """Bring every body to its pose `(bodies, 4, 4)`."""
        R, p = poses[self.owners, :3, :3], poses[self.owners, :3, 3]
        self.solids.triangles = np.einsum("tij,tkj->tki", R, self.corners) + p[:, None]
