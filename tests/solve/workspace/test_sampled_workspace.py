"""Samples of a workspace: none depends on the others, and the share that was reached is told."""

import numpy as np
import pytest

import eslabon as es
from eslabon.solve.workspace import sampled_workspace
from parallel_robots import three_prs


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "three_prs", "delta"])
def test_a_sample_is_the_same_among_few_and_among_many(name):
    m = three_prs() if name == "three_prs" else es.load(name)
    few, many = (m.workspace(m.frames[0].name, samples=n) for n in (37, 120))
    np.testing.assert_array_equal(few.is_reached, many.is_reached[:37])
    np.testing.assert_array_equal(few.q, many.q[: len(few.q)])


def test_samples_that_no_straight_way_leads_to_are_reached_from_waypoints():
    """Around the region where a five-bar linkage with short couplers does not close."""
    m = es.load("five_bar").with_parameters(L2=0.08, L5=0.08)
    space = m.workspace(samples=400)
    v = m.parameters
    joints = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
    a, b = space.q[:, joints].T
    across = np.hypot(
        v["L1"] + v["L5"] * np.cos(b) - v["L2"] * np.cos(a),
        v["L5"] * np.sin(b) - v["L2"] * np.sin(a),
    )
    assert (across <= v["L3"] + v["L4"]).all()
    values = sampled_workspace._Sampling(
        m, m.actuated, np.array([[-np.pi, np.pi]] * 2) + m.home()[joints][:, None], m.home()
    )._values(400)
    a, b = values.T
    closes = (
        np.hypot(
            v["L1"] + v["L5"] * np.cos(b) - v["L2"] * np.cos(a),
            v["L5"] * np.sin(b) - v["L2"] * np.sin(a),
        )
        <= v["L3"] + v["L4"]
    )
    assert closes.mean() < 0.95
    assert space.is_reached[closes].mean() > 0.97
    assert not space.is_reached[~closes].any()


def test_a_workspace_tells_what_share_was_reached():
    m = es.load("planar_3rrr")
    space = m.workspace("centre", samples=60)
    assert space.samples == 60
    assert space.reached == len(space.q) / 60 == space.is_reached.mean()
    first = str(space).splitlines()[0]
    assert first == f"{len(space.q)} of 60 samples reached ({space.reached:.0%})."
    assert repr(space).startswith(
        f"<Workspace of planar_3rrr: {len(space.q)} of 60 samples reached, parallel from"
    )
    assert "<img" in space._repr_html_()
