"""Figures of sweeps show what is in their tables: values where they are, failed designs as such, and how much of a long table."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.sweeps.sweep_scatter import spearman
from hand_made_tables import grid, hill, on_disk, sampled, table

L = np.linspace(0.03, 0.06, 41)
KINDS = ("curves", "map", "scatter", "histogram")


def title(figure):
    return figure.get_suptitle()


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def line(ax, label):
    handles, own = ax.get_legend_handles_labels()
    return handles[own.index(label)].get_xydata()


def drawn(ax, kind):
    return next(c for c in ax.collections if type(c).__name__ == kind)


# -- curves ----------------------------------------------------------------------------------------------------------


def test_values_of_one_unit_share_a_panel_and_break_where_designs_failed():
    failed = (L > 0.05) & (L < 0.053)
    made = table({"L2": L}, {("tau1", "N m"): np.sin(40 * L), ("tau2", "N m"): 3 * L}, failed)
    (ax,) = made.plot().axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("L2 [m]", "[N m]")
    np.testing.assert_array_equal(
        line(ax, "tau1"), np.stack([L, np.where(failed, np.nan, np.sin(40 * L))], axis=1)
    )
    np.testing.assert_array_equal(line(ax, f"failed ({failed.sum()})")[:, 0], L[failed])
    assert "nominal: 0.045 m" in labels(ax)


def test_values_of_several_units_have_panels():
    made = table({"L2": L[::-1]}, {("torque", "N m"): L, ("ratio", ""): L**2})
    first, second = made.plot().axes
    assert [ax.get_ylabel() for ax in (first, second)] == ["torque [N m]", "ratio"]
    curve = first.get_lines()[0].get_xydata()
    np.testing.assert_array_equal(
        curve, np.stack([L, L[::-1]], axis=1)
    )  # left to right, whatever the order of rows
    assert len(made.plot(of="ratio").axes) == 1


def test_on_a_grid_each_level_of_the_other_parameter_has_its_curve():
    (ax,) = grid(25, 5).plot("curves").axes
    assert labels(ax)[:5] == [f"L3 = {y:.6g} m" for y in np.linspace(0.03, 0.06, 5)]
    np.testing.assert_allclose(
        line(ax, "L3 = 0.03 m")[:, 1], hill(np.linspace(0.03, 0.06, 25), 0.03)
    )
    ax, bar = grid(25, 21).plot("curves", x="L3").axes  # too many for a legend
    assert len(ax.collections[0].get_segments()) == 25
    assert bar.get_ylabel() == "L2 [m]"


def test_a_curve_for_each_state():
    made = table(
        {"L2": np.repeat(L, 3)},
        {("tau", "N m"): np.repeat(L, 3) * np.tile(np.arange(3), 41)},
        states=3,
    )
    (ax,) = made.plot().axes
    np.testing.assert_allclose(line(ax, "state = 2")[:, 1], 2 * L)


def test_samples_of_many_parameters_are_dots_over_one():
    made = sampled(parameters=("L2", "L3", "L4"))
    ax = made.plot(x="L4", of="frequency").axes[0]
    known = np.isfinite(made["frequency"])
    dots = np.ma.filled(ax.collections[0].get_offsets(), np.nan)
    assert {tuple(dot) for dot in dots if np.isfinite(dot).all()} == set(
        zip(made["L4"][known], made["frequency"][known], strict=True)
    )


# -- maps ------------------------------------------------------------------------------------------------------------


def test_a_map_on_a_grid_has_a_cell_for_each_design():
    made = grid()
    ax, bar = made.plot().axes
    cells = np.ma.filled(drawn(ax, "QuadMesh").get_array(), np.nan)
    assert cells.shape == (21, 25)
    np.testing.assert_allclose(cells.ravel(), made["torque"])
    failed = np.isnan(made["torque"])
    crosses = line(ax, f"failed ({failed.sum()})")
    assert set(map(tuple, crosses)) == set(zip(made["L2"][failed], made["L3"][failed], strict=True))
    assert (ax.get_xlabel(), ax.get_ylabel(), bar.get_ylabel()) == (
        "L2 [m]",
        "L3 [m]",
        "torque [N m]",
    )


def test_a_map_can_be_turned():
    ax = grid().plot("map", x="L3").axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("L3 [m]", "L2 [m]")


def test_contours_between_samples_do_not_reach_over_failed_ones():
    """The filled area is that of triangles between designs that have values: none of it beyond the line L2 + L3 = 0.112 m."""
    ax = sampled(1000).plot(of="torque").axes[0]
    filled = next(c for c in ax.collections if type(c).__name__ == "TriContourSet" and c.filled)
    corners = np.concatenate([path.vertices for path in filled.get_paths() if len(path.vertices)])
    assert corners.sum(axis=1).max() < 0.112
    assert len(corners) > 100


def test_where_other_parameters_vary_a_grid_shows_means_and_samples_are_dots():
    x, y, z = (a.ravel() for a in np.meshgrid(*[np.linspace(0.03, 0.06, 4)] * 3))
    made = table({"L2": x, "L3": y, "L4": z}, {("torque", "N m"): hill(x, y) + z})
    ax, bar = made.plot("map").axes
    at = np.linspace(0.03, 0.06, 4)
    np.testing.assert_allclose(
        drawn(ax, "QuadMesh").get_array(), hill(at[None], at[:, None]) + 0.045
    )
    assert bar.get_ylabel() == "mean of torque [N m]"
    three = sampled(parameters=("L2", "L3", "L4"))
    ax = three.plot("map", of="frequency").axes[0]
    assert len(drawn(ax, "PathCollection").get_offsets()) == np.isfinite(three["frequency"]).sum()


def test_a_value_far_from_all_others_does_not_take_all_colours():
    made = grid()
    changed = np.where(np.arange(525) == 5, 1e9, made["torque"])
    mesh = drawn(
        table({"L2": made["L2"], "L3": made["L3"]}, {("torque", "N m"): changed}).plot().axes[0],
        "QuadMesh",
    )
    assert mesh.norm.vmax < 1000
    assert mesh.cmap.colorbar_extend == "max"


def test_samples_on_a_line_and_few_samples_are_drawn():
    table({"L2": L, "L3": 2 * L}, {("torque", "N m"): L}).plot("map").canvas.draw()
    sampled(5).plot("map").canvas.draw()


# -- scatter matrices and histograms -----------------------------------------------------------------------------------


def test_a_scatter_matrix_has_every_pair_and_rank_correlations():
    from scipy.stats import spearmanr

    made = sampled(parameters=("L2", "L3", "L4"))
    figure = made.plot(theme="dark")
    assert len(figure.axes) == 25
    assert figure.axes[-1].get_xlabel() == "frequency [Hz]"
    known = np.isfinite(made["torque"])
    told = figure.axes[3].texts[0]  # L2 beside the torque
    theirs = spearmanr(made["L2"][known], made["torque"][known]).statistic
    assert float(told.get_text()) == pytest.approx(theirs, abs=0.006)
    assert told.get_color() == figure.theme.ink
    crosses = line(figure.axes[5], f"failed ({(~known).sum()})")
    np.testing.assert_array_equal(crosses[:, 0], made["L2"][~known])
    assert np.isnan(spearman(np.ones(5), np.arange(5.0)))


def test_a_tolerance_histogram_has_percentiles_and_the_nominal_value():
    made = sampled(over=["L2 [m] = tolerance(0.03, 0.06)"])
    made.about["nominal"] = {"torque": 330.0}
    torque, frequency = made.plot().axes
    known = made["torque"][np.isfinite(made["torque"])]
    for percent in (5, 50, 95):
        assert f"{percent} %: {np.percentile(known, percent):.5g}" in labels(torque)
    assert sum(bar.get_height() for bar in torque.patches) == len(known)
    assert "nominal: 330 N m" in labels(torque)
    assert not any("nominal" in label for label in labels(frequency))
    assert torque.get_xlabel() == "torque [N m]"


def test_a_histogram_says_what_it_leaves_out():
    x = np.r_[np.linspace(0, 1, 200), 1e6]
    (ax,) = table({"L2": x}, {("torque", "N m"): x}).plot("histogram").axes
    assert labels(ax)[-1].endswith("outside")


@pytest.mark.parametrize("kind", KINDS)
def test_a_sweep_of_which_all_fails_is_drawn(kind, rng):
    x = rng.uniform(0, 1, (2, 30))
    made = table({"a": x[0], "b": x[1]}, {("torque", "N m"): x[0]}, np.ones(30, dtype=bool))
    figure = made.plot(kind)
    figure.canvas.draw()
    assert "30 designs, 30 failed" in title(figure)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_values_that_are_all_equal_are_drawn(kind, value, rng):
    places = dict(zip("ab", rng.uniform(0, 1, (2, 30)), strict=True))
    table(places, {("c", ""): np.full(30, value)}).plot(kind, log=value > 0).canvas.draw()


@pytest.mark.parametrize("kind", KINDS)
def test_logarithmic_scales(kind):
    sampled().plot(kind, log=True).canvas.draw()
    x = np.linspace(-1, 1, 16)
    with pytest.raises(
        es.InputError, match="c goes down to -1, and a logarithmic scale has no zero"
    ):
        table({"a": x, "b": x**2}, {("c", ""): x}).plot(kind, log=True)


# -- what suits, how much, and what is refused -----------------------------------------------------------------------


def test_the_kind_suits_the_parameters(rng):
    assert grid().plot().axes[1].get_ylabel() == "torque [N m]"  # the bar of a map
    assert len(sampled(parameters=("a", "b", "c", "d")).plot().axes) == 36
    scattered = sampled(over=["L2 [m] = uniform(0.03, 0.06)", "L3 [m] = tolerance(0.03, 0.06)"])
    assert scattered.plot().axes[0].get_ylabel() == "designs"
    x = 0.045 * rng.uniform(0.99, 1.01, (2, 50))
    near = table({"L2": x[0], "L3": x[1]}, {("torque", "N m"): x[0]}, method="random")
    assert near.plot().axes[0].get_ylabel() == "designs"


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_long_table_some_is_drawn_and_it_says_so(kind, tmp_path, monkeypatch):
    for module in ("sweep_curves", "sweep_maps", "sweep_scatter", "tolerance_histograms"):
        monkeypatch.setattr(f"eslabon.sweeps.{module}.MOST", 2000)
    made = on_disk(sampled(12_000), tmp_path, 1700)
    figure = made.plot(kind)
    figure.canvas.draw()
    said = "means in 24 x 24 cells" if kind == "map" else "2,000 rows drawn"
    assert f"12,000 designs, {made.contents.failed} failed, {said}" in title(figure)


def test_means_in_cells_are_those_of_all_rows(tmp_path):
    from scipy.stats import binned_statistic_2d

    from eslabon.sweeps.table_contents import in_cells

    made = on_disk(sampled(3000), tmp_path, 700)
    cells = in_cells(made, "L2", "L3", ["torque"], 8)
    known = np.isfinite(made["torque"])
    places = made["L2"][known], made["L3"][known]
    theirs = binned_statistic_2d(
        *places, made["torque"][known], bins=[cells.x, cells.y]
    ).statistic.T
    np.testing.assert_allclose(cells.means["torque"], theirs)
    assert cells.count.sum() + cells.failed.sum() == 3000


def test_more_columns_than_panels_are_told():
    values = {(f"v{k}", "m"): L * k for k in range(12)}
    assert "9 of 12 columns; of= chooses others" in title(
        table({"L2": L}, values).plot("histogram")
    )
    figure = table({f"p{k}": L for k in range(9)}, values).plot()
    assert "7 of 21 columns" in title(figure)
    shown = [ax.get_ylabel() for ax in figure.axes[::7]]
    assert shown == [*(f"p{k} [m]" for k in range(4)), *(f"v{k} [m]" for k in range(3))]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"kind": "mapp"}, "did you mean 'map'"),
        ({"kind": "histogram", "x": "L2"}, "kind 'histogram' takes neither x nor y"),
        ({"kind": "curves", "x": "L2", "y": "L3"}, "kind 'curves' takes x and no y"),
        ({"x": "L22"}, "none called 'L22'; did you mean 'L2'"),
        ({"kind": "map", "x": "torque"}, "none called 'torque'"),
        ({"x": "L2", "y": "L2"}, "x and y are both 'L2'"),
        ({"of": "torqe"}, "five_bar has no value 'torqe'; did you mean 'torque'"),
        ({"kind": "scatter", "of": ["L2", "x"]}, "five_bar has no column 'x'"),
        ({"of": []}, "of names at least one of torque, frequency"),
        ({"log": "yes"}, "log is True or False"),
        ({"theme": "drak"}, "did you mean 'dark'"),
    ],
)
def test_what_cannot_be_drawn_is_said(asked, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        sampled(30).plot(**asked)


def test_one_parameter_makes_no_map_and_no_rows_no_figure():
    with pytest.raises(
        es.InputError, match="kind 'map' is drawn over 2 parameters; five_bar has 1"
    ):
        table({"L2": L}, {("torque", "N m"): L}).plot("map")
    with pytest.raises(es.InputError, match="five_bar has no rows to draw"):
        table({"L2": L[:0]}, {("torque", "N m"): L[:0]}).plot()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_is_written_in_its_theme(tmp_path, theme):
    figure = grid().plot(theme=theme, path=tmp_path / "map.svg")
    assert figure.theme.name == theme
    assert "<svg" in (tmp_path / "map.svg").read_text()
