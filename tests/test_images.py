"""The committed pictures of the pages are those that the library draws; `make images` makes them again."""

import re
from base64 import b64decode
from io import BytesIO
from itertools import islice

import numpy as np
import pytest
from gallery import PAGE, with_table
from images import FRAMES_PER_SECOND, IMAGES, MOVING, NAMES, animation, drawing
from PIL import Image

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
HASH = re.compile(
    r"\b(?:[mp]|image)[0-9a-f]{10}\b"
)  # matplotlib's names of markers, clips and pictures follow from their digits
PICTURE = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")
LARGEST_SHIFT = (
    0.02  # points: round-off on another machine moves a line by far less, a wrong angle by far more
)
LARGEST_DIFFERENCE = (
    6.0  # root mean square of 255: what 64 colours leave; a robot that moved on makes over 18
)
LARGEST_FILE = {".gif": 1_000_000, ".svg": 150_000}  # bytes


def skeleton_and_numbers(svg: str) -> tuple[str, np.ndarray]:
    text = HASH.sub("name", PICTURE.sub("picture", svg))
    return NUMBER.sub("#", text), np.array(NUMBER.findall(text), dtype=float)


def pictures_inside(svg: str) -> list[np.ndarray]:
    """The pixels of shaded solids, which matplotlib writes as one picture into the drawing."""
    return [
        np.asarray(Image.open(BytesIO(b64decode(data))).convert("RGBA"), dtype=float)
        for data in PICTURE.findall(svg)
    ]


def committed(name: str) -> str:
    return (IMAGES / f"{name}.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*NAMES, "circle", "motor_bond_graph"])
def test_a_drawing_is_fresh(name):
    kept, fresh = committed(name), drawing(name)
    (old, before), (new, after) = skeleton_and_numbers(kept), skeleton_and_numbers(fresh)
    assert old == new, f"images/{name}.svg is drawn otherwise; look at it after `make images`"
    assert np.abs(after - before).max() < LARGEST_SHIFT
    for one, other in zip(pictures_inside(kept), pictures_inside(fresh), strict=True):
        assert one.shape == other.shape
        assert difference(one, other) < LARGEST_DIFFERENCE


def test_a_changed_drawing_is_seen():
    """The comparison fails for another mechanism, and for one that stands otherwise."""
    assert (
        skeleton_and_numbers(committed("delta"))[0]
        != skeleton_and_numbers(committed("five_bar"))[0]
    )
    (solids,), (others,) = (pictures_inside(committed(name)) for name in ("delta", "stewart_gough"))
    assert solids.shape != others.shape or difference(solids, others) > LARGEST_DIFFERENCE
    moved = committed("five_bar").replace("L 1", "L 2")
    assert (
        np.abs(
            skeleton_and_numbers(moved)[1] - skeleton_and_numbers(committed("five_bar"))[1]
        ).max()
        > LARGEST_SHIFT
    )


def frames_of_the_gif(count: int) -> list[np.ndarray]:
    frames = []
    with Image.open(IMAGES / MOVING) as picture:
        for k in range(count):
            picture.seek(k)
            frames.append(np.asarray(picture.convert("RGB"), dtype=float))
    return frames


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.sqrt(np.mean((one - other) ** 2)))


def test_the_animation_is_fresh():
    count = 41
    kept, fresh = frames_of_the_gif(count), list(islice(animation().frames(), count))
    for k in (0, 20, count - 1):
        assert difference(kept[k], fresh[k]) < LARGEST_DIFFERENCE
    assert difference(kept[0], fresh[-1]) > 3 * LARGEST_DIFFERENCE


def test_the_animation_repeats_about_every_six_seconds():
    with Image.open(IMAGES / MOVING) as picture:
        assert 5 <= picture.n_frames / FRAMES_PER_SECOND <= 7
        assert picture.info["duration"] == 1000 // FRAMES_PER_SECOND
        assert picture.info["loop"] == 0


@pytest.mark.parametrize(
    "name", [MOVING, *(f"{name}.svg" for name in (*NAMES, "circle", "motor_bond_graph"))]
)
def test_a_picture_loads_quickly(name):
    path = IMAGES / name
    assert path.stat().st_size < LARGEST_FILE[path.suffix]


def test_the_table_of_the_gallery_lists_the_library():
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text) == text
