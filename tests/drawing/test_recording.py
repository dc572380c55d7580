"""Motions as pages with a scene: what is in them, how large they are, what is refused."""

import threading

import numpy as np
import pytest

import eslabon as es
from eslabon.drawing.recording import recorded
from eslabon.drawing.traced_paths import paths_of


@pytest.fixture(scope="module")
def swing():
    m = es.load("four_bar_spring")
    q = m.assemble(np.linspace(1.0, 1.4, 40)[:, None], continuation=True)
    return m, np.linspace(0.0, 1.0, 40), q


def test_a_page_is_one_file_of_less_than_a_megabyte_and_leaves_no_thread(swing):
    m, t, q = swing
    before = set(threading.enumerate())
    page = recorded(m, t, q)
    assert "__VISER_EMBED_DATA__" in page
    assert 300_000 < len(page) < 1_000_000
    assert "http://127.0.0.1" not in page
    assert not [x for x in set(threading.enumerate()) - before if x.is_alive() and not x.daemon]


def test_a_thousand_rows_cost_little_more_than_thirty_frames_a_second(swing):
    m, _, _ = swing
    t = np.linspace(0.0, 1.0, 1000)
    q = m.assemble(np.linspace(1.0, 1.4, 1000)[:, None], continuation=True)
    few = recorded(m, t[::33], q[::33])
    assert len(recorded(m, t, q)) < len(few) + 20_000


def test_one_configuration_is_a_still_scene_in_light_and_dark(swing):
    m, _, q = swing
    assert "darkMode:false" in recorded(m, None, q[0])
    assert "darkMode:true" in recorded(m, None, q[0], dark=True)


def test_paths_of_frames_are_drawn():
    m = es.load("elbow")
    t, q = np.linspace(0, 1, 20), np.linspace([0.0, 0.0], [1.0, 1.0], 20)
    assert len(recorded(m, t, q, trace="tool")) > len(recorded(m, t, q))
    with pytest.raises(es.ModelError, match="did you mean 'tool'"):
        recorded(m, t, q, trace="tol")


@pytest.mark.parametrize(
    ("t", "q", "sentence"),
    [
        ([0.0, 1.0], [[0.0, 0.0]], "increasing times"),
        ([1.0, 0.0], np.zeros((2, 2)), "increasing times"),
        (None, np.zeros((3, 2)), "Give t too"),
        ([0.0], [[np.nan, 0.0]], "q"),
    ],
)
def test_what_is_no_motion_is_refused(t, q, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        recorded(es.load("elbow"), t, q)


def test_points_leave_paths_of_their_own():
    """The path of a point of a frame, whichever body carries it; two points of one body are two paths."""
    m = es.load("elbow")
    q = np.linspace([0.0, 0.0], [1.0, 0.5], 4)
    paths = paths_of(m, ["tool", ("tool", (0.1, 0.2, 0.0)), ("tool", (0.0, 0.0, 0.3)), "link1"], q)
    assert len(paths) == 4
    T = m.pose(q, "tool")
    np.testing.assert_allclose(paths["tool"], T[:, :3, 3], atol=1e-14)
    np.testing.assert_allclose(
        paths["tool (0.1, 0.2, 0)"], (T @ [0.1, 0.2, 0.0, 1.0])[:, :3], atol=1e-14
    )
    page = recorded(m, np.arange(4.0), q, trace=("tool", (0.1, 0.2, 0.0)))
    assert len(page) > len(recorded(m, np.arange(4.0), q))
