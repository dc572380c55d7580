"""Ellipsoids of manipulability, poles and participation, and other results that draw themselves: names, units, themes."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es


@pytest.fixture(scope="module")
def elbow():
    return es.load("elbow")


def test_the_ellipses_of_velocity_and_force_are_reciprocal(elbow):
    made = elbow.manipulability([0.3, 1.0], "tool", part="translation")
    velocity, force = made.plot().axes
    assert [velocity.get_xlabel(), velocity.get_ylabel()] == ["x [m/s]", "y [m/s]"]
    assert [force.get_xlabel(), force.get_ylabel()] == ["x [N]", "y [N]"]
    reach = [np.linalg.norm(ax.get_lines()[0].get_xydata(), axis=1) for ax in (velocity, force)]
    np.testing.assert_allclose([reach[0].max(), reach[0].min()], made.lengths, rtol=1e-2)
    np.testing.assert_allclose([reach[1].max(), reach[1].min()], 1 / made.lengths[::-1], rtol=1e-2)
    assert velocity.get_aspect() == force.get_aspect() == 1.0


def test_at_a_singular_configuration_a_force_has_no_bound(elbow):
    _, force = elbow.manipulability([0.0, 0.0], "tool", part="translation").plot().axes
    assert (
        force.get_title(loc="left").splitlines()[1].removeprefix("unbounded along ").lstrip("-")
        == "x"
    )


def test_in_space_and_along_a_path(elbow):
    one = es.load("puma560").manipulability([0.3, -0.5, 0.3, 0.1, 0.7, 0.0])
    assert [ax.name for ax in one.plot(theme="dark").axes] == ["3d", "3d"]
    turning = es.load("puma560").manipulability([0.3, -0.5, 0.3, 0.1, 0.7, 0.0], part="rotation")
    assert [ax.get_zlabel() for ax in turning.plot().axes] == ["z [rad/s]", "z [N m]"]
    path = np.stack([np.linspace(0, 1, 5), np.linspace(1, 2, 5)], axis=-1)
    (ax,) = elbow.manipulability(path, "tool", part="translation").plot().axes
    assert len(ax.patches) == 5
    assert ax.get_xlabel() == "x of tool [m]"
    assert "m is 1 m/s" in ax.get_title(loc="left")


def test_the_poles_are_where_they_are():
    lm = es.load("cart_pole").linearize([0.0, 0.0])
    poles, shares, _ = lm.plot().axes
    drawn = {
        line.get_label(): line.get_xydata()
        for line in poles.get_lines()
        if not line.get_label().startswith("_")
    }
    fast = np.sqrt(lm.A[3, 1])
    np.testing.assert_allclose(drawn["unstable"], [[fast, 0.0]], rtol=1e-9)
    np.testing.assert_allclose(drawn["stable"], [[-fast, 0.0]], rtol=1e-9)
    np.testing.assert_allclose(drawn["on the axis"], [[0.0, 0.0]], atol=1e-9)
    assert "×2" in [text.get_text() for text in poles.texts]
    assert (poles.get_xlabel(), poles.get_ylabel()) == ("real part [1/s]", "imaginary part [rad/s]")
    assert [label.get_text() for label in shares.get_xticklabels()] == list(lm.states)
    written = np.array([float(text.get_text()) for text in shares.texts]).reshape(-1, 4)
    np.testing.assert_allclose(written.sum(axis=1), 1.0, atol=0.02)


def test_poles_of_many_models():
    q = np.stack([np.linspace(0, 1, 7), np.zeros(7)], axis=-1)
    lm = es.load("double_pendulum").linearize(q)
    ax, bar = lm.plot(theme="dark").axes
    np.testing.assert_allclose(ax.collections[-1].get_offsets()[:, 1], lm.poles.imag.ravel())
    assert bar.get_ylabel() == "number of the model"


def test_units_stand_on_other_figures_too():
    m = es.load("double_pendulum")
    lm = m.linearize([0.1, 0.2], [0.3, 0.4])
    for axes in (lm.contributions().plot(theme="dark").axes,):
        assert [ax.get_title(loc="left") for ax in axes] == [f"largest entry of {x}" for x in "UVW"]
    t = np.linspace(0, 1, 5)
    q, v, a = np.sin(np.outer(t, [1.0, 2.0])), np.zeros((5, 2)), np.zeros((5, 2))
    response = es.linear.compare_response(m, (q, v, a), (q + 1e-9, v, a), t=t).plot(theme="dark")
    assert [ax.get_ylabel() for ax in response.axes] == ["[N m]", "[N m]"]
    texts = [text.get_text() for text in response.axes[0].get_legend().get_texts()]
    assert texts[0] == "true ≈ linear"  # so small a change is linear


def test_paths_and_motions_along_them():
    m = es.load("elbow")
    way = es.paths.along(es.paths.line([1.2, 0.5, 0], [1.0, 1.0, 0]), es.paths.quintic(1.0))
    speed = way.plot(theme="dark").axes[1]
    assert speed.get_lines()[0].get_ydata().max() == pytest.approx(
        1.875 * np.hypot(0.2, 0.5)
    )  # of a quintic law
    assert speed.get_title(loc="left") == "speed"
    motion = m.follow(way, part="position", times=np.linspace(0, 1, 5))
    titles = [(ax.get_title(loc="left"), ax.get_ylabel()) for ax in motion.plot().axes]
    assert titles == [
        ("angles", "[rad]"),
        ("angular rates", "[rad/s]"),
        ("angular accelerations", "[rad/s²]"),
        ("conditioning", "condition number"),
    ]
    helix = es.paths.helix([0, 0, 0], [1, 0, 0], [0, 0, 1], np.pi, 0.1)
    assert es.paths.along(helix, es.paths.cycloidal(1.0), "frenet").plot().axes[0].name == "3d"
    joints = es.paths.joint_path([[0, 0], [1, 2]], es.paths.quintic(2.0)).plot()
    assert [ax.get_ylabel() for ax in joints.axes] == ["", "[1/s]", "[1/s²]"]


def test_responses_of_bond_graphs_share_panels_by_unit():
    run = es.BondGraph.load("morales_puma").simulate(None, 1.0, [2.0, 1.0])
    units = [ax.get_ylabel() for ax in run.plot(theme="dark").axes]
    assert units == ["[N m s]", "[rad]", "[N m]"]
    with pytest.raises(es.ModelError, match="has no 'e99'"):
        run.plot("e99")
