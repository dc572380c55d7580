"""A mechanism as a figure, and as something on a stage that can be moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eslabon.arguments import Floats, choice, flag, text
from eslabon.drawing.drawing_arguments import (
    checked_view,
    chosen_frames,
    joint_reactions,
    labelled,
    wrenches,
)
from eslabon.drawing.drawn_configurations import configurations
from eslabon.drawing.traced_paths import paths_of
from eslabon.model import Model
from eslabon.plotting import save_figure
from eslabon.scene import Scene, body_poses, external_arrows, reaction_arrows, scene_of

MANY = ("ghosts", "fan")


def draw(
    m: Model, q: Any = None, *, path: str | Path | None = None, ax: Any = None, theme: str | None = None,
    labels: Any = (), frames: Any = True, coms: bool = False, trace: Any = (), many: str = "ghosts",
    external: Mapping[str, Any] | None = None, reactions: Any = None, shapes: bool = True, view: Any = None,
    title: str | None = None, size: Any = None,
) -> Any:  # fmt: skip
    """A figure of a mechanism in one configuration or in many: in its plane if it moves in one, else in space.

    Parameters
    ----------
    q : a configuration `(nq,)`, many of them `(n, nq)`, the name of a mode, or nothing: home, with its loops closed.
    path : where the figure is written, as .png, .svg or .pdf.
    ax : axes to draw into, of space or of the plane.
    theme : "light" or "dark".
    labels : True, or which names stand beside what they name: "joints", "bodies", "frames".
    frames : whether named frames are drawn, or which frames and bodies have their axes drawn.
    coms : whether centres of mass are drawn.
    trace : a frame or body whose way through all of q is drawn, a point as ("frame", (x, y, z)), or a list of these.
    many : of many configurations the last is drawn among "ghosts" of the others, or all as a "fan".
    external : wrenches on bodies or frames, as `inverse_dynamics` takes them, drawn as arrows.
    reactions : wrenches of all joints, as `m.reactions` gives them, drawn as arrows.
    shapes : whether bodies look as the model's shapes say.
    view : (elevation, azimuth) in degrees, or "front", "side" or "top": what is looked at so is drawn in space.
    title : above the drawing; the mechanism's name if left out.
    size : (width, height) in inches.
    """
    from eslabon.drawing.label_places import add_names
    from eslabon.drawing.overlays import add_arrows, add_ghosts, add_paths
    from eslabon.drawing.staging import extent_of, fill_page, open_stage, write_title

    s, rows, fan = scene_of(m), configurations(m, q), choice(many, "many", MANY) == "fan"
    chosen, words = chosen_frames(m, frames), labelled(labels)
    paths = paths_of(m, trace, rows)
    poses = body_poses(m, rows)
    stage = open_stage(s, poses, ax, theme, None if view is None else checked_view(view), size)
    drawn = Drawing(stage, s, poses[-1], chosen, flag(coms, "coms"), flag(shapes, "shapes"))
    if len(poses) > 1:
        add_ghosts(stage, s, poses if fan else poses[:-1], fan)
    add_paths(stage, paths)
    arrows = []
    if acting := wrenches(m, external):
        arrows.append(add_arrows(stage, external_arrows(m, rows[-1], acting), "force"))
    if reactions is not None:
        arrows.append(
            add_arrows(
                stage, reaction_arrows(m, rows[-1], joint_reactions(s, reactions)), "reaction"
            )
        )
    stage.frame(extent_of(s, poses, drawn.bodies, [*paths.values(), *(ends for _, ends in arrows)]))
    fill_page(stage, own=ax is None, sized=size is not None)
    write_title(
        stage,
        m.name if title is None else text(title, "title"),
        [told for told, _ in arrows if told],
        own=ax is None,
    )
    add_names(stage, s, words, chosen, poses[-1], getattr(drawn.bodies, "supports", ()))
    figure = stage.ax.get_figure(root=True)
    if path is not None:
        save_figure(figure, path)
    return figure


class Drawing:
    """A mechanism on a stage: `place` moves it."""

    def __init__(
        self,
        stage: Any,
        s: Scene,
        poses: Floats,
        frames: Sequence[str] = (),
        coms: bool = False,
        shapes: bool = True,
    ) -> None:
        from eslabon.drawing.overlays import Overlays
        from eslabon.drawing.plane_bodies import PlaneBodies
        from eslabon.drawing.space_bodies import SpaceBodies
        from eslabon.drawing.stage import PlaneStage

        self.bodies = (PlaneBodies if isinstance(stage, PlaneStage) else SpaceBodies)(
            stage, s, poses, shapes
        )
        self.over = Overlays(stage, s, frames, coms)
        self.over.place(poses)

    def place(self, poses: Floats) -> None:
        """Bring every body to its pose `(bodies, 4, 4)`."""
        self.bodies.place(poses)
        self.over.place(poses)
