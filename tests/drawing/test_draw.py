"""Drawings of mechanisms: all of it is there, in true proportions, and nonsense ends in a sentence."""

import warnings
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from eslabon.drawing.draw import Drawing
from eslabon.drawing.drawn_configurations import configurations
from eslabon.drawing.staging import open_stage
from eslabon.scene import body_poses, scene_of
from random_mechanisms import CUTS, ONE_FREEDOM, random_closed, random_tree
from randomness import examples, seeded, seeds

PLANAR = ["revolute", "prismatic", "planar"]


def drawn_joints(m, q):
    """The names of the joints in a drawing, and whether a number in it is none."""
    s, poses = scene_of(m), body_poses(m, np.asarray(q)[None])
    stage = open_stage(s, poses, None, None, None, None)
    made = Drawing(stage, s, poses[0])
    artists = [*stage.ax.patches, *stage.ax.lines, *stage.ax.collections]
    words = [(x.get_gid() or "").partition(" ") for x in artists]
    found = {name for kind, _, name in words if kind in ("joint", "tie")} | getattr(
        made.bodies, "names", set()
    )
    for artist in stage.ax.patches:
        assert np.isfinite(artist.get_path().vertices).all()
    if hasattr(made.bodies, "solids"):
        assert np.isfinite(made.bodies.solids.triangles).all()
    return found


@examples(8)
@given(seeds)
def test_every_joint_of_a_random_tree_is_drawn(seed):
    m = random_tree(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {j.name for j in m.joints} <= drawn_joints(m, m.home())


@examples(8)
@given(seeds)
def test_every_cut_joint_is_drawn(seed):
    rng = np.random.default_rng(seed)
    kinds = [str(x) for x in rng.choice(CUTS, 2)]
    m, q = random_closed(rng, [str(x) for x in rng.choice(ONE_FREEDOM, 4)], kinds)
    assert {x.name for x in (*m.joints, *m.loops)} <= drawn_joints(m, q)


def planar_tree(seed):
    rng = seeded(seed)
    b = es.Builder("flat")
    for k in range(4):
        kind = str(rng.choice(PLANAR))
        axis = (*rng.normal(size=2), 0.0) if kind == "prismatic" else "z"
        parent = "ground" if k == 0 else f"b{rng.integers(k)}"
        b.body(f"b{k}", 1.0, (0.1, 0, 0)).joint(
            f"q{k}",
            kind,
            parent,
            f"b{k}",
            at=((*rng.normal(size=2), 0.1 * k), (0, 0, 1.0)),
            axis=axis,
        )
    return b.build()


@pytest.mark.parametrize("seed", range(3))
def test_a_planar_mechanism_is_drawn_in_its_plane(seed):
    """However it is turned in space; a circle is a circle there."""
    m = planar_tree(seed)
    assert {j.name for j in m.joints} <= drawn_joints(m, m.home())
    stand = (
        es.Builder("stand")
        .body("block")
        .joint("weld", "fixed", "ground", "block")
        .frame("top", "block", ((1, 2, 3), (0.3, 0.7, -0.2)))
    )
    for turned in (m, es.join(stand.build(), m, at="top")):
        figure = turned.plot()
        figure.draw_without_rendering()
        (ax,) = figure.axes
        assert not hasattr(ax, "zaxis")
        one, right, up = ax.transData.transform([[0, 0], [1, 0], [0, 1]])
        assert np.linalg.norm(right - one) == pytest.approx(np.linalg.norm(up - one))
    (ax,) = m.plot(view="front").axes
    assert hasattr(ax, "zaxis")


def test_a_screw_leaves_the_plane():
    b = es.Builder("vice").body("jaw", 1.0).joint("thread", "helical", "ground", "jaw", pitch=0.01)
    assert scene_of(b.build()).plane is None


@pytest.mark.parametrize("name", ["delta", "puma560", "bennett"])
def test_space_has_equal_axes(name):
    figure = es.load(name).plot()
    (ax,) = figure.axes
    spans = np.array([np.ptp(getattr(ax, f"get_{x}lim")()) for x in "xyz"])
    box = ax._box_aspect  # there is no other way to ask
    assert np.allclose(spans / spans.max(), box / box.max())


def test_bodies_of_the_plane_stand_where_their_poses_are():
    """The outline of a link, taken to the page, has its ends where the joints are."""
    m = es.load("five_bar")
    q = m.assemble([1.9, 0.8])
    ax = m.plot(q).axes[0]
    for link in scene_of(m).links[1:]:
        (outline,) = (x for x in ax.patches if x.get_gid() == f"body {link.body}")
        corners = (outline.get_transform() - ax.transData).transform(outline.get_xy())
        ends = m.pose(q, link.body)[:3, 3] + link.points @ m.pose(q, link.body)[:3, :3].T
        assert np.allclose(corners.mean(axis=0), ends.mean(axis=0)[:2], atol=0.003)


def test_home_and_modes_are_closed_before_they_are_drawn():
    m = es.load("five_bar")
    rough = m.with_mode("rough", m.home() + 0.02)
    for given_ in (None, "rough"):
        (q,) = configurations(rough, given_)
        assert abs(rough.constraint(q)).max() < 1e-9


def test_many_configurations_leave_ghosts_and_a_path():
    m = es.load("five_bar")
    q = m.assemble(np.linspace([2.0, 1.0], [1.6, 1.2], 5))
    ids = [line.get_gid() for line in m.plot(q, trace="point").axes[0].lines]
    assert [x for x in ids if x and x.startswith("ghost")] == [f"ghost {k}" for k in range(4)]
    (path,) = (
        x
        for x in m.plot(q, trace=[("link3", (0, 0, 0)), "point"]).axes[0].lines
        if x.get_gid() == "path point"
    )
    assert np.allclose(np.column_stack(path.get_data()), m.pose(q, "point")[:, :2, 3])
    ids = [line.get_gid() for line in m.plot(q, many="fan").axes[0].lines]
    assert "ghost 4" in ids


def test_reactions_are_drawn_to_scale():
    """A pendulum held level: its pin carries the weight, and the moment of it."""
    b = (
        es.Builder("pendulum", gravity=(0, -10, 0))
        .body("rod", 2.0, (0.5, 0, 0))
        .frame("tip", "rod", (1, 0, 0))
    )
    m = b.joint("q", "revolute", "ground", "rod").build()
    figure = m.plot([0.0], reactions=True, external={"tip": [0, 0, 0, 0, -5.0, 0]})
    lines = [x for x in figure.axes[0].lines if x.get_gid() == "reaction q"]
    shaft = np.column_stack(lines[0].get_data())
    assert np.allclose(shaft[1] - shaft[0], [0, 0.3 * scene_of(m).size])
    assert "20 N, 10 N m" in figure.axes[0].get_title(loc="left")
    assert "5 N" in figure.axes[0].get_title(loc="left")


def test_labels_stand_apart_and_within():
    figure = es.load("planar_3rrr").plot(labels=True)
    figure.savefig(BytesIO(), format="png")
    boxes = [t.get_window_extent() for t in figure.axes[0].texts]
    assert {t.get_text() for t in figure.axes[0].texts} >= {
        j.name for j in es.load("planar_3rrr").joints
    }
    crossing = sum(
        a.shrunk(0.8, 0.8).overlaps(b.shrunk(0.8, 0.8))
        for k, a in enumerate(boxes)
        for b in boxes[:k]
    )
    assert crossing == 0


def test_into_axes_that_are_there(tmp_path):
    import matplotlib.figure

    figure = matplotlib.figure.Figure()
    flat, space = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    five, delta = es.load("five_bar"), es.load("delta")
    assert five.plot(ax=flat) is figure
    assert delta.plot(ax=space) is figure
    five.plot(ax=space)
    assert flat.patches
    assert space.collections
    with pytest.raises(es.InputError, match="projection='3d'"):
        delta.plot(ax=flat)
    figure.savefig(tmp_path / "two.pdf")


def test_an_open_wrench_acts_where_the_model_says():
    b = es.Builder("arm").body("rod", 1.0, (0.5, 0, 0)).joint("q", "revolute", "ground", "rod")
    m = b.wrench("push", "rod", at=(1, 0, 0)).build()
    lines = m.plot([np.pi / 2], external={"push": [0, 0, 0, 3.0, 0, 0]}).axes[0].lines
    shaft = next(np.column_stack(x.get_data()) for x in lines if x.get_gid() == "force push")
    assert np.allclose(shaft, [[0, 1], [0.3 * scene_of(m).size, 1]])


def test_nothing_moves_and_it_is_drawn():
    b = es.Builder("bracket").body("plate", 1.0).frame("corner", "plate", (0.3, 0.1, 0))
    m = b.joint("weld", "fixed", "ground", "plate", at=(0, 0, 0.2)).build()
    assert m.plot(labels=True).axes
    assert m.plot([]).axes


def test_files_and_themes(tmp_path):
    m = es.load("elbow")
    for ending, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        file = tmp_path / f"arm{ending}"
        m.plot(path=file, theme="dark")
        assert file.read_bytes().startswith(start)
    assert m.plot(theme="dark").get_facecolor() != m.plot(theme="light").get_facecolor()
    with pytest.raises(es.ReadError, match=r"\.png"):
        m.plot(path=tmp_path / "arm.bmp")


def test_a_mesh_is_drawn_and_a_missing_one_is_a_bar(tmp_path):
    import trimesh

    trimesh.creation.icosphere(radius=0.2).export(tmp_path / "ball.stl")
    m = es.load("elbow").with_shape(
        "ball", body="link2", kind="mesh", file=str(tmp_path / "ball.stl")
    )
    assert not any(x.get_gid() == "body link2" for x in m.plot().axes[0].patches)
    assert m.plot().axes[0].collections
    assert any(x.get_gid() == "body link2" for x in m.plot(shapes=False).axes[0].patches)
    (tmp_path / "ball.stl").unlink()
    gone = es.load("elbow").with_shape(
        "ball", body="link2", kind="mesh", file=str(tmp_path / "ball.stl")
    )
    with pytest.warns(es.ModelWarning, match="is not there"):
        assert any(x.get_gid() == "body link2" for x in gone.plot().axes[0].patches)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"q": [0.0]}, "q has 1 value"),
        ({"q": [[[0.0, 0.0]]]}, "one configuration"),
        ({"q": np.zeros((0, 2))}, "no configuration"),
        ({"q": [np.nan, 0.0]}, "not finite"),
        ({"q": "upside_down"}, "no mode"),
        ({"theme": "grey"}, "'light' or 'dark'"),
        ({"labels": "joint"}, "'joints'"),
        ({"labels": 3}, "labels"),
        ({"frames": "tol"}, "'tool'"),
        ({"coms": "yes"}, "coms is True or False"),
        ({"trace": "tol"}, "'tool'"),
        ({"trace": [3]}, "trace is a frame's name"),
        ({"trace": ("link2", (0, 0))}, "3"),
        ({"many": "blur"}, "'ghosts' or 'fan'"),
        ({"external": {"tol": [0] * 6}}, "'tool'"),
        ({"external": {"tool": [0] * 3}}, "6 components"),
        ({"reactions": [[0.0] * 6]}, "m.reactions"),
        ({"view": "behind"}, "'front'"),
        ({"view": (1, 2, 3)}, "elevation and azimuth"),
        ({"size": (0, 3)}, "width"),
        ({"title": 3}, "title is a text"),
        ({"view": [[0, 0], [1, 1]]}, "shape"),
        ({"size": [[3, 3], [3, 3]]}, "shape"),
        ({"trace": 5}, "trace is a frame's name"),
        ({"external": 5}, "external"),
        ({"ax": 5}, "axes of matplotlib"),
        ({"path": "arm"}, None),
    ],
)
def test_nonsense_ends_in_a_sentence(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if said is None:  # a name without an ending is a PNG
        es.load("elbow").plot(**arguments)
        assert Path("arm").read_bytes().startswith(b"\x89PNG")
        return
    with pytest.raises(es.EslabonError, match=said):
        es.load("elbow").plot(**arguments)


def test_no_window_and_no_global_state():
    before = dict(mpl.rcParams)
    es.load("elbow").plot(theme="dark")
    assert dict(mpl.rcParams) == before
