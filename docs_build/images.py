"""The pictures of the README, the home page and the tutorial: `make images`.

They are committed, so that the repository shows them without a build; `tests/test_images.py` compares them with fresh
ones. Look at them before you commit.
"""

from io import BytesIO, StringIO
from math import pi
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import eslabon as es

IMAGES = Path(__file__).parents[1] / "docs" / "images"
NAMES = ("planar_3rrr", "delta", "excavator", "stewart_gough", "five_bar")  # drawn at home
MOTOR = es.BondGraph(
    "motor",
    {
        "V": "Se",
        "loop": "1",
        "coil": "I: L",
        "wire": "R: R",
        "motor": "GY: k",
        "shaft": "1",
        "rotor": "I: J",
        "bearing": "R: b",
        "speed": "Df",
    },
    [
        "V -> loop -> coil",
        "loop -> wire",
        "loop -> motor -> shaft -> rotor",
        "shaft -> bearing",
        "shaft -> speed",
    ],
    {"L": 0.5, "R": 1.0, "k": 0.1, "J": 0.01, "b": 0.1},
)
MOVING = "planar_3rrr.gif"
FRAMES_PER_SECOND = 25
SECONDS, PAUSE = 5.4, 0.6  # around the circle, and at its end
COLOURS = 64  # of the GIF: flat areas and their edges


def circle(radius: float, seconds: float, samples: int) -> es.Trajectory:
    """The 3-RRR moves the centre of its platform around a circle, from rest to rest."""
    arc = es.paths.arc([0, 0, 0], [radius, 0, 0], [0, 0, 1], 2 * pi)
    path = es.paths.along(arc, es.paths.cycloidal(seconds), np.eye(3))
    return es.load("planar_3rrr").follow(path, times=np.linspace(0, seconds, samples))


def drawing(name: str) -> str:
    """A picture as the text of an SVG: a mechanism of the library at home, the circle of the tutorial,
    or a bond graph."""
    if name == "circle":
        motion = circle(0.03, 1.0, 101)
        return svg(
            es.load("planar_3rrr").plot(
                motion.q[::4], trace="centre", theme="light", title="", size=(5, 4)
            )
        )
    if name == "motor_bond_graph":
        with TemporaryDirectory() as folder:
            return MOTOR.draw(f"{folder}/{name}.svg", theme="light").read_text(encoding="utf-8")
    return svg(es.load(name).plot(theme="light", title="", size=(4.2, 3.2)))


def svg(figure) -> str:
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def animation():
    """The robot of the README: once around a circle, then a pause. Dark, so that it looks good on any page."""
    motion = circle(0.06, SECONDS, round(SECONDS * FRAMES_PER_SECOND) + 1)
    q = np.concatenate(
        [motion.q, np.repeat(motion.q[-1:], round(PAUSE * FRAMES_PER_SECOND), axis=0)]
    )
    return es.load("planar_3rrr").animate(
        q,
        fps=FRAMES_PER_SECOND,
        trace="centre",
        theme="dark",
        size=(520, 500),
        title="",
        frames=False,
    )


def gif() -> bytes:
    """The animation with one palette for all frames, which makes it a third as large as one for each."""
    frames = [Image.fromarray(frame) for frame in animation().frames()]
    palette = frames[-1].quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    content = BytesIO()
    first.save(
        content,
        "gif",
        save_all=True,
        append_images=others,
        duration=1000 // FRAMES_PER_SECOND,
        loop=0,
    )
    return content.getvalue()


if __name__ == "__main__":
    for name in (*NAMES, "circle", "motor_bond_graph"):
        (IMAGES / f"{name}.svg").write_text(drawing(name), encoding="utf-8")
    (IMAGES / MOVING).write_bytes(gif())
