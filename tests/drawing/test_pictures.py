"""Drawings compared with pictures that were looked at; `make pictures` makes them again."""

import shutil

import pytest
from matplotlib.testing.compare import compare_images

import eslabon as es
from drawing.pictures import IMAGES, NAMES, picture

# The root mean square over all pixels, of 255. Versions 3.10 and 3.11 of matplotlib make the same pictures, and round-off on
# another machine moves an edge by less than a pixel; a symbol that is left out is 5, a link turned by two degrees 15, as the
# second test shows.
TOLERANCE = 2.0


@pytest.mark.parametrize("name", NAMES)
def test_it_looks_as_it_did(name, tmp_path):
    picture(name).savefig(tmp_path / f"{name}.png", dpi=70)
    shutil.copy(IMAGES / f"{name}.png", tmp_path / "expected.png")
    assert (
        compare_images(str(tmp_path / "expected.png"), str(tmp_path / f"{name}.png"), TOLERANCE)
        is None
    )


def test_a_difference_is_seen(tmp_path):
    m = es.load("five_bar")
    figures = {
        "expected": m.plot(title=""),
        "turned": m.plot(m.assemble(m.home()[[0, 2]] + 0.035), title=""),
    }
    figures["less"] = m.plot(title="")
    pins = [x for x in figures["less"].axes[0].patches if x.get_gid() == "joint theta3"]
    assert len(pins) == 1
    pins[0].remove()
    for name, figure in figures.items():
        figure.set_size_inches(3.6, 3.2)
        figure.axes[0].set_axis_off()
        figure.savefig(tmp_path / f"{name}.png", dpi=70)
    for name in ("turned", "less"):
        found = compare_images(
            str(tmp_path / "expected.png"),
            str(tmp_path / f"{name}.png"),
            TOLERANCE,
            in_decorator=True,
        )
        assert found is not None, name
