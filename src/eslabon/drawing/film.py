"""The pictures of an animation, drawn on one stage, and the files they make."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.draw import Drawing
from eslabon.drawing.drawing_arguments import checked_view, chosen_frames
from eslabon.drawing.traced_paths import paths_of
from eslabon.errors import MissingDependencyError
from eslabon.model import Model
from eslabon.plotting import look
from eslabon.progress import Progress
from eslabon.scene import Scene, body_poses, scene_of

DPI = 110
LEAST = 3.2  # inches: the shorter side of a page for which letters have their size
COLOURS = 128  # of a GIF
MEASURED = 60  # frames, evenly chosen, from which it follows how much must be on the page


def pictures(
    m: Model, t: Floats, q: Floats, options: Mapping[str, Any], progress: bool | None
) -> Iterator[Any]:
    """One array `(height, width, 3)` of bytes for each configuration, both sides even, as videos need them."""
    film = _Film(scene_of(m), body_poses(m, q), q, options)
    with Progress(f"{m.name}: drawing", progress) as bar:
        for k, time in enumerate(t):
            yield film.picture(k, float(time))
            bar.update((k + 1) / len(t))


class _Film:
    """A stage with a mechanism, of which only what moves is drawn again for each picture."""

    def __init__(self, s: Scene, poses: Floats, q: Floats, options: Mapping[str, Any]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.poses, m = poses, s.m
        self.paths = paths_of(m, options.get("trace"), q)
        self.stage = self._staged(s, options)
        self.figure = self.stage.ax.get_figure(root=True)
        self.lines = [self._line(k, path) for k, path in enumerate(self.paths.values())]
        self.clock = self.figure.text(
            0.985, 0.985, "", ha="right", va="top", fontsize=9, color=self.stage.theme.quiet
        )
        self.canvas = cast(Any, FigureCanvasAgg(self.figure))
        with look(self.stage.theme):
            self.canvas.draw()  # the axes get their place
            self.figure.set_layout_engine("none")
            ax = self.stage.ax
            self.moving = sorted(
                (*ax.patches, *ax.collections, *ax.lines), key=lambda artist: artist.get_zorder()
            )
            for artist in (*self.moving, self.clock):
                artist.set_animated(True)
            self.canvas.draw()
        self.empty = self.canvas.copy_from_bbox(self.figure.bbox)

    def _staged(self, s: Scene, options: Mapping[str, Any]) -> Any:
        from eslabon.drawing.staging import extent_of, fill_page, open_stage, write_title

        some = self.poses[np.unique(np.linspace(0, len(self.poses) - 1, MEASURED).astype(int))]
        view = checked_view(options["view"]) if "view" in options else None
        pixels = np.array(options.get("size", ()), dtype=float)
        dpi = (
            min(DPI, pixels.min() / LEAST) if pixels.size else DPI
        )  # a small picture has small letters
        size = np.round(pixels / 2) * 2 / dpi if pixels.size else None
        stage = open_stage(s, some, None, options.get("theme"), view, size)
        frames = chosen_frames(s.m, options.get("frames", True))
        self.drawn = Drawing(
            stage, s, self.poses[0], frames, options.get("coms", False), options.get("shapes", True)
        )
        stage.frame(extent_of(s, some, self.drawn.bodies, self.paths.values()))
        stage.ax.get_figure(root=True).set_dpi(dpi)
        fill_page(stage, own=True, sized=size is not None)
        _make_even(stage.ax.get_figure(root=True))
        write_title(stage, options.get("title", s.m.name), (), own=True)
        return stage

    def _line(self, k: int, path: Floats) -> tuple[Any, Any, Floats]:
        from eslabon.drawing.overlays import path_style

        style = path_style(self.stage.theme, k)
        return (
            self.stage.line(path[:1], **style),
            self.stage.line(path[:1], marker="o", markersize=4.5, color=style["color"]),
            path,
        )

    def picture(self, k: int, time: float) -> Any:
        self.drawn.place(self.poses[k])
        for line, dot, path in self.lines:
            self.stage.move(line, path[: k + 1])
            self.stage.move(dot, path[k : k + 1])
        self.clock.set_text(f"t = {time:.2f} s")
        self.canvas.restore_region(self.empty)
        with look(self.stage.theme):
            for artist in self.moving:
                if hasattr(artist, "do_3d_projection"):
                    artist.do_3d_projection()
                self.stage.ax.draw_artist(artist)
            self.figure.draw_artist(self.clock)
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()


def _make_even(figure: Any) -> None:
    """Both sides an even number of pixels."""
    figure.set_size_inches((np.round(np.asarray(figure.bbox.size) / 2) * 2 + 0.01) / figure.dpi)


# -- files ------------------------------------------------------------------------------------------------------------


def mp4(made: Iterator[Any], fps: float) -> bytes:
    """A video of H.264, which every browser plays."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingDependencyError(
            "videos need ffmpeg; pip install 'eslabon[video]' brings it, or let the name end in .gif."
        ) from None
    first = next(made)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        writer = imageio_ffmpeg.write_frames(
            os.fspath(file), first.shape[1::-1], fps=fps, codec="libx264", quality=None, macro_block_size=2,
            output_params=["-crf", "20", "-preset", "veryfast", "-movflags", "+faststart"], ffmpeg_log_level="error",
        )  # fmt: skip
        writer.send(None)
        for picture in chain([first], made):
            writer.send(np.ascontiguousarray(picture))
        writer.close()
        return file.read_bytes()


def gif(made: Iterator[Any], fps: float) -> bytes:
    """A GIF that begins again at its end; its times are hundredths of a second."""
    from PIL import Image

    images = [
        Image.fromarray(picture).quantize(COLOURS, dither=Image.Dither.NONE) for picture in made
    ]
    ends = np.round(100 * np.arange(1, len(images) + 1) / fps).astype(int)
    times = np.maximum(np.diff(ends, prepend=0), 2) * 10  # browsers slow down what is shorter
    picture = BytesIO()
    images[0].save(
        picture, "gif", save_all=True, append_images=images[1:], duration=times.tolist(), loop=0
    )
    return picture.getvalue()
