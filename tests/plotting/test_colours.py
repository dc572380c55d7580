"""Colours that the colour-blind tell apart, and that stand out from their paper."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import eslabon as es
from eslabon.plotting import DARK, LIGHT, PALETTE, new_figure, set_theme, theme_of
from eslabon.plotting.axes import colour_map

# Machado, Oliveira and Fernandes (2009), a physiologically-based model for simulation of color vision deficiency: severity 1.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
WHITE = np.array([0.95047, 1.0, 1.08883])
# CIE76: about 2.3 is just noticeable. The palette's own least distance, orange and vermillion of the protanope, is 15.
APART = 14.0


def linear(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear rgb."""
    x = np.array(XYZ) @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(a: str, b: str) -> float:
    """WCAG's ratio of the luminances."""
    low, high = sorted(float(np.array(XYZ)[1] @ linear(x)) for x in (a, b))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_curves_are_told_apart(theme, deficiency):
    seen = {
        c: lab(np.array(DEFICIENCIES[deficiency]) @ linear(c)) for c in (*theme.curves, theme.paper)
    }
    for a, b in combinations(seen, 2):
        assert np.linalg.norm(seen[a] - seen[b]) > APART, (a, b)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_all_stands_out_from_the_paper(theme):
    assert contrast(theme.ink, theme.paper) > 12
    assert contrast(theme.quiet, theme.paper) > 4.5  # WCAG, for writing
    assert min(contrast(c, theme.paper) for c in theme.curves[:3]) > 3  # WCAG, for graphics
    assert min(contrast(c, theme.paper) for c in theme.curves) > 2
    for name in ("link", "joint", "actuated", "cut", "ground", "reaction", "com", "force"):
        assert contrast(theme.role(name), theme.paper) > 2.9, name
    for part in (0.0, 1.0):
        rgb = colour_map(theme)(part)[:3]
        assert contrast("#" + "".join(f"{round(255 * x):02x}" for x in rgb), theme.paper) > 1.4
    assert 1.1 < contrast(theme.grid, theme.paper) < 2


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_actuated_cut_and_other_joints_are_told_apart(theme, deficiency):
    seen = [
        lab(np.array(DEFICIENCIES[deficiency]) @ linear(theme.role(x)))
        for x in ("actuated", "cut", "joint", "reaction", "force")
    ]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > APART


def test_curves_beyond_the_colours_are_dashed():
    styles = [LIGHT.curve(k) for k in range(20)]
    assert len({(s["color"], str(s["linestyle"])) for s in styles}) == 20
    assert {s["color"] for s in styles} <= {*PALETTE.values(), LIGHT.ink}


def test_a_session_has_a_theme(monkeypatch):
    assert theme_of() is LIGHT
    monkeypatch.setenv("ESLABON_THEME", "dark")
    assert new_figure().theme is DARK
    set_theme("light")
    try:
        assert new_figure().theme is LIGHT
        assert new_figure("dark").theme is DARK
    finally:
        set_theme(None)
    monkeypatch.setenv("ESLABON_THEME", "night")
    with pytest.raises(es.ModelError, match="ESLABON_THEME is 'light' or 'dark'; it is 'night'"):
        new_figure()
    for call in (lambda: set_theme("drak"), lambda: new_figure(theme="drak")):
        with pytest.raises(
            es.ModelError, match="theme is 'light' or 'dark'; it is 'drak'; did you mean 'dark'"
        ):
            call()
    with pytest.raises(es.ModelError, match="a role is"):
        LIGHT.role("wheel")
