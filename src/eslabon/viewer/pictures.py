"""Pictures that a browser makes of a view."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from eslabon.drawing.drawn_solids import rgb
from eslabon.errors import InputError


def as_png(client: Any, paper: str, patience: float) -> bytes:
    """What a client sees, on paper of a colour, as a PNG file."""
    import imageio.v3 as iio

    width, height = client.camera.image_width or 1200, client.camera.image_height or 800
    try:
        picture = client.get_render(height, width, transport_format="png", timeout=patience)
    except (RuntimeError, TimeoutError):
        raise InputError("the browser made no picture; is its window open and in front?") from None
    cover = picture[..., 3:] / 255.0
    flat = picture[..., :3] * cover + np.array(rgb(paper)) * (1 - cover)
    file = io.BytesIO()
    iio.imwrite(file, flat.round().astype(np.uint8), extension=".png")
    return file.getvalue()
