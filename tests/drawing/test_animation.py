"""Motions as films: frames in even time on closed loops, files of every kind, and sentences for what cannot be shown."""

import numpy as np
import pytest
from PIL import Image

import eslabon as es
from eslabon.drawing.animation import animation


@pytest.fixture(scope="module")
def pendulum():
    m = es.load("double_pendulum")
    return m.simulate([1.2, 0.4], None, np.linspace(0, 1, 21))


def test_a_gif_has_every_frame_and_its_time(pendulum, tmp_path):
    made = pendulum.animate(tmp_path / "swing.gif", fps=10, trace="tip", size=(240, 200))
    film = Image.open(made.path)
    assert film.size == (240, 200)
    assert film.n_frames == 11
    seconds = 0.0
    for k in range(film.n_frames):
        film.seek(k)
        seconds += film.info["duration"] / 1000
    assert seconds == pytest.approx(1.1)


def test_a_video_is_one_that_browsers_play(pendulum, tmp_path):
    import imageio_ffmpeg as ffmpeg

    made = pendulum.animate(
        tmp_path / "swing.mp4", fps=10, speed=0.5, size=(201, 161), theme="dark"
    )
    facts = next(ffmpeg.read_frames(str(made.path)))
    assert facts["size"] == (200, 160)
    assert facts["fps"] == 10
    assert (facts["codec"], facts["pix_fmt"].partition("(")[0]) == ("h264", "yuv420p")
    assert ffmpeg.count_frames_and_secs(str(made.path))[0] == 21


def test_a_page_is_whole(pendulum, tmp_path):
    made = pendulum.animate(tmp_path / "swing.html", fps=10, trace="tip")
    assert "</html>" in made.path.read_text()
    with pytest.raises(es.InputError, match="no size"):
        pendulum.animate(tmp_path / "swing.html", size=(100, 100))


def test_a_notebook_plays_it(pendulum, monkeypatch):
    made = pendulum.animate(fps=4, size=(120, 100))
    assert "data:video/mp4;base64," in made._repr_html_()
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    assert "data:image/gif;base64," in made._repr_html_()
    with pytest.raises(es.MissingDependencyError, match=r"eslabon\[video\]"):
        made.save("swing.mp4")


def test_what_moves_is_seen_to_move(pendulum):
    """Between two pictures something differs, and what differs is the mechanism: the corner of the page stays."""
    pictures = list(pendulum.animate(fps=4, size=(240, 200)).frames())
    assert (pictures[0] != pictures[-1]).any()
    assert (pictures[0][-10:, :10] == pictures[-1][-10:, :10]).all()
    again = list(pendulum.animate(fps=4, size=(240, 200)).frames())
    assert (pictures[2] == again[2]).all()


@pytest.mark.parametrize("name", ["five_bar", "spatial_four_bar"])
def test_frames_between_rows_are_closed(name):
    m = es.load(name)
    q = m.project(m.home())
    t = np.array([0.0, 0.3, 1.0])
    lead = q[list(m.actuated_coordinates)]
    rows = m.assemble(lead + 0.2 * t[:, None], guess=q)
    made = animation(m, t, rows, fps=10)
    assert abs(m.constraint(made.q)).max() < 1e-6
    assert np.allclose(made.q[[0, 3, 10]], rows, atol=1e-9)
    assert np.allclose(made.t, np.linspace(0, 1, 11))


def test_rows_without_times_are_frames():
    m = es.load("elbow")
    made = m.animate(np.linspace([0, 0], [1, 1], 7), fps=5)
    assert len(made.t) == 7
    assert "7 frames, 1.4 s" in repr(made)


def test_modes_and_followed_paths(tmp_path):
    m = es.load("four_bar_spring")
    mode = m.linearize(m.assemble([1.2])).modes()[0]
    made = mode.animate(tmp_path / "mode.gif", fps=5, size=(160, 140), amplitude=0.3)
    assert Image.open(made.path).n_frames == 10
    ids = [line.get_gid() for line in mode.plot(ghosts=4).axes[0].lines]
    assert "ghost 3" in ids
    arm, path = (
        es.load("elbow"),
        es.paths.along(es.paths.line([0.5, 1.2, 0], [1.0, 1.0, 0]), es.paths.cycloidal(1.0)),
    )
    followed = arm.follow(path, [0.3, 1.2], part="position")
    assert len(followed.animate(fps=10, trace="tool").t) == 11


def test_a_batch_a_file_and_one_pose_have_nothing_to_show(pendulum, tmp_path):
    m = es.load("double_pendulum")
    with pytest.raises(es.InputError, match=r"motion\[0\]"):
        m.simulate([[0.1, 0.2], [0.3, 0.1]], None, [0.0, 0.1, 0.2]).animate()
    pendulum.save(tmp_path / "swing.npz")
    with pytest.raises(es.ModelError, match=r"m\.animate"):
        es.Trajectory.load(tmp_path / "swing.npz").animate()
    assert len(m.animate(pendulum.q, pendulum.t, fps=5).t) == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "swing.avi"}, r"\.mp4, \.gif or \.html"),
        ({"path": 3}, r"\.mp4"),
        ({"fps": 0}, "fps"),
        ({"speed": -1}, "speed"),
        ({"speed": 1e-6}, "frames are more"),
        ({"size": (3, 3)}, "pixels"),
        ({"size": "large"}, "size"),
        ({"trace": "tpi"}, "'tip'"),
        ({"theme": "blue"}, "'light' or 'dark'"),
        ({"labels": True}, "no option 'labels'"),
        ({"coms": 2}, "coms is True or False"),
        ({"view": "behind"}, "'front'"),
        ({"frames": "tpi"}, "'tip'"),
    ],
)
def test_nonsense_ends_in_a_sentence(pendulum, options, said):
    with pytest.raises(es.EslabonError, match=said):
        pendulum.animate(**options)


def test_times_that_stand_still_are_refused():
    m = es.load("elbow")
    for t in ([0.0, 0.0], [0.0], [0.0, np.inf]):
        with pytest.raises(es.InputError):
            m.animate(np.zeros((2, 2)), t)
