"""Motions as animations: frames in even steps of time, drawn on one stage, as a video, a GIF, or a page to orbit and scrub."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite, flag, floats, known_words, positive, states, text
from eslabon.drawing.between_rows import configurations_at
from eslabon.drawing.drawing_arguments import checked_view, chosen_frames, numbers
from eslabon.drawing.drawn_configurations import configurations
from eslabon.drawing.traced_paths import traced_points
from eslabon.errors import InputError, MissingDependencyError, ReadError, file_name
from eslabon.model import Model
from eslabon.plotting import theme_of

ENDINGS = (".mp4", ".gif", ".html")
MOST = 3000  # frames
PICTURE = ("frames", "coms", "shapes", "view", "title")  # options of the picture


@dataclass(frozen=True, eq=False, repr=False)
class Animation:
    """A motion to be seen: `save` writes it, and a notebook plays it.

    Attributes
    ----------
    t, q : the times of the frames, and the configurations `(frames, nq)`.
    fps : frames a second.
    path : where it was written last, if it was.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> m.animate(np.linspace([0.0, 0.0], [1.0, 1.0], 15), [0.1 * k for k in range(15)], fps=10).q.shape
    (15, 2)
    """

    m: Model
    t: Floats
    q: Floats
    fps: float
    speed: float
    options: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None

    def __repr__(self) -> str:
        seconds = len(self.t) / self.fps
        where = f", in {self.path}" if self.path is not None else ""
        return f"<Animation of {self.m.name}: {len(self.t):,} frames, {seconds:.3g} s at {self.fps:g} frames a second{where}>"

    def save(self, path: str | Path, progress: bool | None = None) -> Path:
        """Write it as .mp4, .gif or .html, by the ending of the name."""
        from eslabon.atomic_files import check_writable, write

        ending = _ending(path)
        check_writable(path)
        return write(path, self._content(ending, progress))

    def frames(self, progress: bool | None = False) -> Iterator[Any]:
        """The pictures one after another, arrays `(height, width, 3)` of bytes."""
        from eslabon.drawing.film import pictures

        return pictures(self.m, self.t, self.q, self.options, progress)

    def _content(self, kind: str, progress: bool | None) -> bytes:
        from eslabon.drawing import film

        if kind == ".html":
            return self._page().encode()
        made = self.frames(progress)
        return film.mp4(made, self.fps) if kind == ".mp4" else film.gif(made, self.fps)

    def _page(self) -> str:
        from eslabon.drawing.recording import recorded

        if unused := [key for key in ("size", *PICTURE) if key in self.options]:
            raise InputError(
                f"a page shows the scene itself, and has no {unused[0]}; leave it out, or write .mp4 or .gif."
            )
        dark = theme_of(self.options.get("theme")).name == "dark"
        return recorded(
            self.m, self.t, self.q, trace=self.options.get("trace"), dark=dark, speed=self.speed
        )

    def _repr_html_(self) -> str:
        try:
            video = b64encode(self._content(".mp4", False)).decode()
            return f'<video controls loop autoplay muted style="max-width:100%" src="data:video/mp4;base64,{video}"></video>'
        except MissingDependencyError:
            picture = b64encode(self._content(".gif", False)).decode()
            return f'<img style="max-width:100%" src="data:image/gif;base64,{picture}">'


def animation(
    m: Model, t: Any, q: Any, path: str | Path | None = None, *, fps: float = 30.0, speed: float = 1.0, size: Any = None,
    trace: Any = None, theme: str | None = None, progress: bool | None = None, **picture: Any,
) -> Animation:  # fmt: skip
    """The motion q `(times, nq)` at times t as an animation, and, with a path, as a file. Without times each row is a frame.

    Parameters
    ----------
    path : a name that ends in .mp4 (a video, by ffmpeg), .gif, or .html (a page to orbit and scrub, by viser).
    fps : frames a second.
    speed : how much faster than in truth it plays; 0.1 is slow motion.
    size : (width, height) in pixels.
    trace : a frame, a body or a point ("frame", (x, y, z)), or several, whose paths are drawn.
    theme : "light" or "dark".
    progress : whether a bar shows how far it is; left out, on a terminal, if it takes long.
    picture : `frames`, `coms`, `shapes`, `view`, `title`, as in `draw`.
    """
    known_words(picture, PICTURE, "an animation has no option", InputError)
    if path is not None:
        _ending(path)  # or a sentence, as of all else, before anything is drawn
    traced_points(m, trace)
    given = {
        "size": size,
        "trace": trace,
        "theme": None if theme is None else theme_of(theme).name,
        **picture,
    }
    options = {key: value for key, value in given.items() if value is not None}
    _check_picture(m, options)
    rate, faster = positive(fps, "fps"), positive(speed, "speed")
    t = np.arange(len(np.atleast_2d(floats(q, "q")))) * faster / rate if t is None else t
    times, rows = _even(m, *_motion(m, t, q), rate, faster)
    made = Animation(m, times, rows, float(fps), float(speed), options)
    return made if path is None else replace(made, path=made.save(path, progress))


def _ending(path: Any) -> str:
    ending = Path(path).suffix.lower() if isinstance(path, str | Path) else ""
    if ending not in ENDINGS:
        raise ReadError(
            f"{file_name(path)}: animations are written as .mp4, .gif or .html; let the name end so."
        )
    return ending


def _check_picture(m: Model, options: Mapping[str, Any]) -> None:
    """Refuse what cannot be drawn before the first frame is."""
    chosen_frames(m, options.get("frames", True))
    for key in ("coms", "shapes"):
        flag(options.get(key, False), key)
    if "view" in options:
        checked_view(options["view"])
    if "title" in options:
        text(options["title"], "title")
    if "size" in options:
        size = numbers(options["size"], "size", 2, "a picture", "pixels: width and height")
        if size.min() < 16 or size.max() > 8000:
            raise InputError(
                f"size is the width and height in pixels, 16 to 8000 each; it is {options['size']}."
            )


def _motion(m: Model, t: Any, q: Any) -> tuple[Floats, Floats]:
    rows, times = states(q, "q", m.nq, m.name), finite(t, "t")
    if rows.ndim > 2:
        raise InputError(
            f"q holds {int(np.prod(rows.shape[:-2]))} motions, and an animation shows one; choose it, as in motion[0]."
        )
    if times.shape != rows.shape[:1] or not len(times) or (np.diff(times) <= 0).any():
        raise InputError(
            f"a motion has increasing times t (times,) and configurations q (times, {m.nq}); they have the shapes "
            f"{times.shape} and {rows.shape}."
        )
    return times, configurations(m, rows)


def _even(m: Model, t: Floats, q: Floats, fps: float, speed: float) -> tuple[Floats, Floats]:
    """Configurations at even steps of time."""
    count = int(np.floor((t[-1] - t[0]) / speed * fps * (1 + 1e-12))) + 1
    if count > MOST:
        raise InputError(
            f"{count:,} frames are more than {MOST:,}; take a larger speed, a smaller fps, or motion.until(t)."
        )
    times = t[0] + np.arange(count) * speed / fps
    return times, configurations_at(m, t, q, times)
