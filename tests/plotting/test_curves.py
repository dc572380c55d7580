"""Panels and curves: names, units, what coincides, legends beside the data, and files that stay the same."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

import eslabon as es
from eslabon.plotting import (
    DARK,
    LIGHT,
    THEMES,
    axis_label,
    coinciding,
    curves,
    equal_axes,
    look,
    new_figure,
    panels,
    save_figure,
    svg_text,
)

T = np.linspace(0, 3, 50)


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curves_that_coincide_are_drawn_once_and_named_together():
    (ax,) = panels(1)[1]
    values = {f"theta{k}": np.sin(T * (1 + k % 3)) for k in range(7)}
    lines = curves(ax, T, values, name="angle", unit="rad", title="angles")
    assert texts(ax) == ["theta0 = theta3 = theta6", "theta1 = theta4", "theta2 = theta5"]
    assert len(lines) == len(ax.get_lines()) == 3
    assert ax.get_ylabel() == "angle [rad]"
    assert ax.get_title(loc="left") == "angles"


def test_a_name_keeps_its_colour_whatever_coincides():
    (one, two) = panels(2)[1]
    first = curves(one, T, {"a": T, "b": T, "c": -T})
    second = curves(two, T, {"a": T, "b": 2 * T, "c": -T})
    assert first[1].get_color() == second[2].get_color()


@pytest.mark.parametrize(
    ("other", "labels"),
    [
        (T + 1e-12, ["a = b"]),
        (T * (1 + 1e-3), ["a ≈ b"]),
        (T * 1.05, ["a", "b"]),
        (np.where(T > 2, np.nan, T), ["a", "b"]),
    ],
)
def test_equal_is_not_nearly_equal(other, labels):
    assert list(coinciding({"a": T, "b": other})) == labels


def test_coincidence_counts_in_the_unit_that_is_seen():
    small = {"a": 1e-6 * np.ones(5), "b": 2e-6 * np.ones(5), "c": np.ones(5)}
    assert list(coinciding(small)) == ["a ≈ b", "c"]
    (ax,) = panels(1)[1]
    curves(ax, T[:5], small, log=True)
    assert texts(ax) == ["a", "b", "c"]  # a factor of two is seen on a logarithmic axis
    assert list(coinciding({"a": np.zeros(3), "b": 1e-17 * np.ones(3)})) == ["a = b"]
    assert list(coinciding({"a": np.array([np.inf, 1.0]), "b": np.array([np.inf, 1.0])})) == [
        "a = b"
    ]
    assert list(coinciding({"a": np.full(2, np.nan), "b": np.full(2, np.nan)})) == ["a = b"]
    assert coinciding({}) == {}


def test_many_that_coincide_are_counted():
    (label,) = coinciding({f"leg{k}": T for k in range(12)})
    assert label == "leg0 = leg1 = leg2 = ... = leg11 (12 curves)"


def test_curves_of_a_plane_coincide_if_both_coordinates_do():
    (ax,) = panels(1)[1]
    curves(ax, {"a": T, "b": T, "c": 2 * T}, {"a": T**2, "b": T**2, "c": T**2})
    assert texts(ax) == ["a = b", "c"]


@pytest.mark.parametrize("where", ["right", "below"])
@pytest.mark.parametrize("count", [2, 7, 20])
def test_legends_cover_no_data(where, count):
    figure, axes = panels(3, bottom="t [s]")
    for ax in axes:
        curves(ax, T, {f"name{k}": np.sin(T + k / 5) for k in range(count)}, where=where)
    figure.draw_without_rendering()
    boxes = [ax.get_window_extent() for ax in axes]
    for ax in axes:
        assert not any(ax.get_legend().get_window_extent().overlaps(box) for box in boxes)


def test_many_names_are_counted_and_one_needs_no_legend():
    (one, many) = panels(2)[1]
    curves(one, T, {"q": T})
    curves(many, T, {f"q{k}": T * k for k in range(40)})
    assert one.get_legend() is None
    assert texts(many) == ["40 curves"]
    with pytest.raises(es.ModelError, match="'right', 'below' or 'none'"):
        curves(one, T, {"a": T, "b": 2 * T}, where="above")


def test_a_constant_is_not_drawn_as_its_digits():
    (ax, zero) = panels(2)[1]
    curves(ax, T, {"v": 0.5 + 1e-15 * np.sin(40 * T)})
    curves(zero, T, {"v": 1e-18 * np.sin(40 * T)})
    assert np.ptp(ax.get_ylim()) > 0.09
    assert zero.get_ylim() == (-1.0, 1.0)


def test_trajectories_of_one_name_are_thin():
    (ax,) = panels(1)[1]
    lines = curves(ax, T, {"q": np.outer(np.arange(20), T), "r": -np.outer(np.arange(20), T)})
    assert len(lines) == 40
    assert lines[0].get_alpha() < 1
    assert [line.get_alpha() for line in ax.get_legend().get_lines()] == [1.0, 1.0]


@pytest.mark.parametrize("theme", THEMES)
def test_a_figure_keeps_its_theme(theme):
    own = THEMES[theme]
    figure, (ax,) = panels(1, theme=theme, title="robot", bottom=axis_label("t", "s"))
    curves(ax, T, {"a": T, "b": -T}, title="angles")
    figure.draw_without_rendering()
    assert to_hex(figure.get_facecolor()) == to_hex(ax.get_facecolor()) == own.paper
    said = [
        ax.xaxis.label,
        ax.yaxis.label,
        *ax.get_xticklabels(),
        *ax.get_legend().get_texts(),
        ax.title,
    ]
    assert {to_hex(text.get_color()) for text in said} == {own.ink}
    assert to_hex(ax.get_xgridlines()[0].get_color()) == own.grid
    assert ax.get_xlabel() == "t [s]"


def test_the_look_of_somebody_elses_figure():
    from matplotlib.figure import Figure

    with look("dark"):
        figure = Figure()
        ax = figure.subplots()
    assert to_hex(ax.get_facecolor()) == DARK.paper
    curves(ax, T, {"a": T, "b": -T})
    assert to_hex(ax.get_lines()[0].get_color()) == LIGHT.curves[0]  # the session's


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_figure_is_the_same_file(tmp_path: Path, suffix):
    made = []
    for k in range(2):
        figure, (ax,) = panels(1)
        curves(ax, T, {"a": T, "b": -T})
        made.append(save_figure(figure, tmp_path / f"{k}{suffix}").read_bytes())
    assert made[0] == made[1]


def test_files(tmp_path: Path):
    figure, (ax,) = panels(1, theme="dark")
    curves(ax, T, {"a": T, "b": -T})
    solid, clear = svg_text(figure), svg_text(figure, transparent=True)
    assert DARK.paper in solid
    assert DARK.paper not in clear
    assert ">a</text>" in solid  # letters stay letters
    for name in ("a.jpeg", "a.txt"):
        with pytest.raises(es.ReadError, match=r"written as .png, .svg or .pdf"):
            save_figure(figure, tmp_path / name)
    assert save_figure(figure, tmp_path / "A.PNG").exists()


def test_equal_axes_in_plane_and_space(rng):
    cloud = rng.normal(size=(200, 3)) * [1.0, 2.0, 0.01]
    figure = new_figure()
    space = figure.add_subplot(projection="3d")
    equal_axes(space, cloud)
    limits = np.array(
        [np.ptp(limit) for limit in (space.get_xlim(), space.get_ylim(), space.get_zlim())]
    )
    box = space._box_aspect  # a metre is as long along all axes
    assert np.ptp(limits / box) < 1e-9 * limits.max() / box.max()
    assert (space.get_xlabel(), space.get_zlabel()) == ("x [m]", "z [m]")
    plane = new_figure().add_subplot()
    equal_axes(plane, cloud[:, :2])
    assert plane.get_aspect() == 1.0
    assert plane.get_ylabel() == "y [m]"


def test_names_are_shown_as_they_are(tmp_path: Path):
    """Dollars are no mathematics, and a name may begin with an underscore."""
    figure, (ax,) = panels(1, title="a $robot$")
    curves(ax, T, {"_hidden": T, "$x$": -T, "5 $ \\frac": T**2}, title="$y$")
    shown = texts(ax)
    assert [name.lstrip("\u200b") for name in shown] == ["_hidden", "\\$x\\$", "5 \\$ \\frac"]
    text = svg_text(figure)
    for name in ("_hidden", "$x$", "5 $ \\frac", "$y$", "a $robot$"):
        assert f"{name}</text>" in text


def test_nothing_to_draw():
    ax = panels(1)[1][0]
    assert len(curves(ax, [], {"a": []})) == 1
    assert curves(ax, [], {"a": np.empty((0, 0))}) == curves(ax, [], {}) == []


def test_a_figure_can_be_put_away_and_taken_out():
    figure, (ax,) = panels(1, theme="dark")
    curves(ax, T, {"a": T, "b": -T})
    again = pickle.loads(pickle.dumps(figure))
    assert again.theme is DARK
    assert texts(again.axes[0]) == ["a", "b"]
    assert figure._repr_png_().startswith(b"\x89PNG")  # what a notebook shows
