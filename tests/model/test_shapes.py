"""Shapes: what bodies look like goes in and out of every file, follows its body, and changes no number."""

from pathlib import Path

import numpy as np
import pytest

import eslabon as es
from eslabon.files.toml_format import to_toml
from eslabon.files.urdf import to_urdf
from eslabon.model import ParameterExpression, Shape

FORMS = [
    ("box", (0.1, 0.2, 0.3)),
    ("cylinder", (0.1, 0.4)),
    ("capsule", (0.1, 0.4)),
    ("sphere", (0.2,)),
]


@pytest.fixture
def arm(tmp_path: Path) -> es.Mechanism:
    """A double pendulum with every kind of shape."""
    b = es.Builder("arm")
    L = b.parameter("L", 0.5)
    b.body("upper", mass=1.0).body("lower", mass=1.0)
    b.joint("q1", "revolute", "ground", "upper", axis="z")
    b.joint("q2", "revolute", "upper", "lower", at=(L, 0, 0), axis="z")
    for k, (kind, size) in enumerate(FORMS):
        b.shape(
            f"{kind}1", "upper", kind, size, at=((0.1, 0, 0), (0, 0.3, 0.1 * k)), colour="#D55E00"
        )
    b.shape("rod", "lower", "cylinder", (L / 10, L))
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "hand.stl").write_text("solid hand\nendsolid hand\n")
    b.shape("hand", "lower", "mesh", file=str(tmp_path / "meshes" / "hand.stl"))
    return b.shape("floor", "ground", "box", (1, 1, 0.01)).build()


def test_sizes_follow_parameters(arm: es.Mechanism) -> None:
    assert arm.shape("rod").size == (0.05, 0.5)
    assert arm.with_parameters(L=1.0).shape("rod").size == (0.1, 1.0)
    assert isinstance(arm.description.shapes[4].size[1], ParameterExpression)


def test_shapes_change_no_fingerprint(arm: es.Mechanism) -> None:
    """Compiled code is found by the digest: a repainted mechanism must not be compiled again, and yet is another one."""
    plain = arm.without(*(x.name for x in arm.shapes))
    assert not plain.shapes
    assert plain.digest == arm.digest
    assert plain != arm
    assert arm.with_parameters(L=0.6).digest != arm.digest


def test_toml_gives_shapes_back(arm: es.Mechanism, tmp_path: Path) -> None:
    file = arm.save(tmp_path / "arm.toml")
    assert 'file = "meshes/hand.stl"' in file.read_text()  # both can be moved together
    assert es.load(file) == arm
    elsewhere = arm.save(tmp_path / "other" / "arm.toml")
    assert es.load(elsewhere) == arm
    assert to_toml(arm.description).count(str(tmp_path)) == 1
    assert not es.check(file)


def test_urdf_gives_shapes_back(arm: es.Mechanism, tmp_path: Path) -> None:
    """As shapes that every reader of URDF knows, with numbers for expressions."""
    with pytest.warns(es.ModelWarning, match="parameters"):
        back = es.load(arm.save(tmp_path / "arm.urdf"))
    for shape in (x for x in arm.shapes if x.kind != "capsule"):
        got = back.shape(shape.name)
        assert (got.body, got.kind, got.colour, got.file) == (
            shape.body,
            shape.kind,
            shape.colour,
            shape.file,
        )
        assert got.size == pytest.approx(shape.size)
        assert np.allclose(got.at.rotation(), shape.at.rotation())
    capsule, upper = arm.shape("capsule1"), back.shape("capsule1_upper")
    tip = capsule.at @ es.model.Pose((0.0, 0.0, capsule.size[1] / 2))
    assert back.shape("capsule1").kind == "cylinder"
    assert upper.at.position == pytest.approx(tip.position)


def test_shapes_follow_their_bodies(arm: es.Mechanism) -> None:
    names = {x.name for x in arm.shapes}
    assert {x.name for x in arm.locked({"q2": 0.3}).shapes} == names
    assert {x.name for x in arm.without("q2").shapes} == names - {"rod", "hand"}
    assert {x.name for x in arm.subtree("lower").shapes} == {"rod", "hand"}
    both = es.join(arm, arm, at="lower", prefix="b_")
    assert {x.name for x in both.shapes} == names | {f"b_{name}" for name in names}
    assert both.shape("b_floor").body == "lower"
    assert both.shape("b_rod").body == "b_lower"
    moved = es.join(arm.with_frame("tip", "lower", (0.5, 0, 0)), es.load("elbow"), at="tip")
    assert {x.name for x in moved.shapes} == names


def test_a_joined_ground_takes_its_shapes_along(arm: es.Mechanism) -> None:
    tipped = arm.with_frame("tip", "lower", ((0.5, 0, 0), (0, 0, 1.0)))
    floor = es.join(tipped, arm, at="tip", prefix="b_").shape("b_floor")
    assert floor.at.position == (0.5, 0.0, 0.0)
    assert floor.at.rpy == (0.0, 0.0, 1.0)


def test_with_shape_adds_and_changes(arm: es.Mechanism) -> None:
    m = arm.with_shape("rod", colour="#0072b2", size=("L/20", "L"))
    assert m.shape("rod").size == (0.025, 0.5)
    assert m.shape("rod").kind == "cylinder"
    assert m.with_shape("cap", body="upper", kind="sphere", size=0.1).shape("cap") == Shape(
        "cap", "upper", "sphere", (0.1,)
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "cube", "size": 1}, "no kind of shape 'cube'"),
        ({"kind": "box", "size": (1, 2)}, "its lengths along x, y and z"),
        ({"kind": "box", "size": 1}, "its lengths along x, y and z"),
        ({"kind": "cylinder"}, "its radius and its length"),
        ({"kind": "sphere", "size": "blue"}, "no parameter has that name"),
        ({"kind": "sphere", "size": -1}, "not positive"),
        ({"kind": "sphere", "size": 0}, "not positive"),
        ({"kind": "mesh"}, "name of its file"),
        ({"kind": "mesh", "file": "a.stl", "size": (1, 0, 1)}, "flat"),
        ({"kind": "box", "size": (1, 1, 1), "file": "a.stl"}, "has no file"),
        ({"kind": "box", "size": (1, 1, 1), "colour": "reddish"}, "'#d55e00'"),
        ({"kind": "box", "size": (1, 1, 1), "at": "here"}, "a pose is xyz"),
        ({"kind": "sphere", "size": 1, "body": "nobody"}, "refers to the body 'nobody'"),
        ({"kind": "sphere", "size": 1, "tint": 1}, "no field 'tint'"),
    ],
)
def test_nonsense_ends_in_a_sentence(
    arm: es.Mechanism, given: dict[str, object], said: str
) -> None:
    with pytest.raises(es.ModelError, match=said) as error:
        arm.with_shape("new", **{"body": "upper", **given})
    assert "shape" in str(error.value) or "'new'" in str(error.value)


def test_a_check_tells_the_line(tmp_path: Path) -> None:
    text = to_toml(es.load("elbow").description)
    text += '\n[shapes.a]\nbody = "link1"\nkind = "cone"\n[shapes.b]\nbody = "link1"\nkind = "box"\nsize = [1, 1, 1]\ncolor = "#ffffff"\n'
    text += '[shapes.c]\nbody = "link1"\nkind = "mesh"\nfile = "gone.stl"\n[shapes.d]\nbody = "link1"\nkind = "sphere"\nsize = -1\n'
    file = tmp_path / "odd.toml"
    file.write_text(text)
    lines = text.splitlines()
    found = {lines[f.line - 1]: (f.level, f.sentence) for f in es.check(file) if f.line}
    assert "no kind of shape 'cone'" in found['kind = "cone"'][1]
    assert "'colour'" in found['color = "#ffffff"'][1]
    level, sentence = found["[shapes.c]"] if "[shapes.c]" in found else found['file = "gone.stl"']
    assert level == "warning"
    assert "gone.stl" in sentence
    assert found["size = -1"][0] == "error"


URDF = """<robot name="r">
<material name="paint"><color rgba="0 0.5 1 1"/></material>
<link name="base"><visual><geometry><mesh filename="package://nowhere/base.stl" scale="1 1 2"/></geometry></visual></link>
<link name="arm">
  <visual><origin xyz="1 0 0" rpy="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="paint"/></visual>
  <visual name="cap"><geometry><sphere radius="0.1"/></geometry><material name=""><color rgba="1 0 0 0.5"/></material></visual>
  <visual><geometry><capsule radius="0.1" length="1"/></geometry></visual>
  <collision><geometry><sphere radius="9"/></geometry></collision>
</link>
<joint name="q" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>"""


def test_visuals_of_a_urdf(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text(URDF)
    m = es.load(file)
    base, box, cap, capsule = m.shapes
    assert (base.body, base.file, base.size) == (
        "base",
        "package://nowhere/base.stl",
        (1.0, 1.0, 2.0),
    )
    assert (box.name, box.kind, box.size, box.colour) == (
        "arm_visual",
        "box",
        (1.0, 2.0, 3.0),
        "#0080ff",
    )
    assert (box.at.position, box.at.rpy) == ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert (cap.name, cap.size, cap.colour) == ("cap", (0.1,), "#ff0000")
    assert (capsule.name, capsule.kind) == ("arm_visual2", "capsule")
    assert es.load(m.save(tmp_path / "r.toml")) == m
    assert 'filename="package://nowhere/base.stl"' in to_urdf(m)
    (missing,) = (f for f in es.check(file) if "mesh" in f.sentence)
    assert (missing.level, missing.line) == ("warning", 3)
    file.write_text(URDF.replace("package://nowhere/", "gone/"))
    assert es.load(file).shapes[0].file == str(tmp_path / "gone" / "base.stl")
    file.write_text(URDF)
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "nowhere" / "base.stl").write_text("")
    assert es.load(file).shapes[0].file == str((tmp_path / "nowhere" / "base.stl").resolve())
    (tmp_path / "nowhere").rename(tmp_path / "there")
    found = es.load(file, packages={"nowhere": tmp_path / "there"}).shapes[0].file
    assert found == str((tmp_path / "there" / "base.stl").resolve())


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("<cone/>", "unknown geometry"),
        ("", "needs one shape"),
        ('<sphere radius="-1"/>', "positive"),
        ("<box/>", "size"),
    ],
)
def test_a_broken_visual_is_told_and_left_out(tmp_path: Path, broken: str, said: str) -> None:
    """Drawings alone need it, so it is no reason to refuse a robot."""
    file = tmp_path / "r.urdf"
    file.write_text(URDF.replace('<box size="1 2 3"/>', broken))
    assert len(es.load(file).shapes) == 3
    assert any(f.level == "warning" and said in f.sentence for f in es.check(file))


MJCF = """<mujoco><asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><material name="p" rgba="0 1 0 1"/>
<mesh name="f" file="f.stl" scale="2 2 2" refpos="0.1 0 0.3" refquat="1 0.2 0.4 0.5"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
<body name="x"><joint/><geom name="brick" type="box" size="1 2 3" rgba="1 0 0 1"/><geom type="capsule" size="0.1 0.5" material="p"/>
<geom type="ellipsoid" size="0.5 0.1 0.1"/><geom type="ellipsoid" size="0.1 0.1 0.1"/><geom type="mesh" mesh="t"/>
<geom type="mesh" mesh="f" pos="1 2 3" euler="10 20 30"/><geom type="sphere" size="1" group="3"/></body></worldbody></mujoco>"""


def test_geoms_of_an_mjcf(tmp_path: Path) -> None:
    import mujoco
    import trimesh

    solid = trimesh.creation.box((1, 2, 3)).apply_translation((0.5, 0.2, 0.1))
    solid.export(tmp_path / "f.stl")
    (tmp_path / "m.xml").write_text(MJCF)
    with pytest.warns(es.ModelWarning, match="contacts"):
        m = es.load(tmp_path / "m.xml")
    brick, capsule, long, ball, inline, mesh = m.shapes
    assert (brick.name, brick.size, brick.colour) == ("brick", (2.0, 4.0, 6.0), "#ff0000")
    assert (capsule.kind, capsule.size, capsule.colour) == ("capsule", (0.1, 1.0), "#00ff00")
    assert (long.kind, long.size, ball.kind, inline.kind) == (
        "capsule",
        pytest.approx((0.1, 0.8)),
        "sphere",
        "box",
    )
    assert np.allclose(long.at.rotation() @ [0, 0, 1], [1, 0, 0])
    # The file as it is, put where the shape says, is where MuJoCo has its own vertices.
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, compiled.geom_quat[6])
    k = compiled.geom_dataid[6]
    own = (
        compiled.mesh_vert[compiled.mesh_vertadr[k] :][: compiled.mesh_vertnum[k]]
        @ R.reshape(3, 3).T
    )
    own += compiled.geom_pos[6]
    ours = solid.vertices * mesh.size @ mesh.at.rotation().T + mesh.at.position
    assert np.allclose(
        np.ptp(ours, axis=0), np.ptp(own, axis=0), atol=1e-5
    )  # MuJoCo's vertices are single precision
    assert np.allclose(ours.mean(axis=0), own.mean(axis=0), atol=1e-5)
