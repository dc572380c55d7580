"""URDF files: what they mean is checked against Pinocchio, what is wrong with them is said in a sentence."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eslabon as es
from eslabon.formulas.kinematics.tree import placements
from oracles import pin
from randomness import examples, seeded

DATA = Path(__file__).parent / "data"
FILES = sorted(p.name for p in DATA.glob("*.urdf"))
TREES = ["branches", "ground", "joints", "mimic", "world"]


def load(name: str, **options) -> es.Mechanism:
    return es.load(DATA / f"{name}.urdf", **{"loops": False, **options})


@pytest.fixture
def written(tmp_path):
    """Load a text as a file; by default a link, a joint and a link, with more put into the joint."""

    def write(text: str | bytes, **options) -> es.Mechanism:
        path = tmp_path / "robot.urdf"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return es.load(path, **options)

    return write


def robot(joint: str = "", link: str = "", kind: str = "revolute", rest: str = "") -> str:
    return (
        f'<robot name="r"><link name="a"/><link name="b">{link}</link><joint name="j" type="{kind}">'
        f'<parent link="a"/><child link="b"/>{joint}</joint>{rest}</robot>'
    )


# -- meaning: the oracle ------------------------------------------------------------------------------------------


def some_configuration(m: es.Mechanism, seed: int) -> np.ndarray:
    rng = seeded(seed)
    q = rng.uniform(-3, 3, m.nq)
    for joint in m.joints:
        if joint.nq != joint.nv:
            q[m.coordinates[joint.name]][-4:] /= np.linalg.norm(q[m.coordinates[joint.name]][-4:])
    return q


def pinocchio_configuration(model, m: es.Mechanism, q: np.ndarray) -> np.ndarray:
    """Pinocchio orders the joints by name, turns without end as (cos, sin) and puts the w of a quaternion last."""
    made = np.zeros(model.nq)
    for joint, name in zip(list(model.joints)[1:], list(model.names)[1:], strict=True):
        x, kind = q[m.coordinates[name]], m.joint(name).kind.kind
        if kind in ("free", "spherical"):
            x = np.r_[x[:-4], x[-3:], x[-4]]
        elif kind == "planar":
            x = np.r_[x[:2], np.cos(x[2]), np.sin(x[2])]
        elif joint.nq == 2:
            x = np.r_[np.cos(x), np.sin(x)]
        made[joint.idx_q : joint.idx_q + joint.nq] = x
    return made


ROOTS = {
    "fixed": (),
    "free": ("JointModelFreeFlyer",),
    "planar": ("JointModelPlanar",),
}  # as Pinocchio names them


@pytest.mark.parametrize(
    ("name", "base"), [*((n, "fixed") for n in TREES), ("joints", "free"), ("branches", "planar")]
)
def test_every_link_stands_where_pinocchio_puts_it(name, base):
    m = load(name, base=base)
    roots = (getattr(pin, kind)() for kind in ROOTS[base])
    model = pin.buildModelFromXML((DATA / f"{name}.urdf").read_text(), *roots)
    data = model.createData()
    for seed in range(5):
        q = some_configuration(m, seed)
        pin.framesForwardKinematics(model, data, pinocchio_configuration(model, m, q))
        placed = placements(m, q)
        for body in m.bodies:
            pose = data.oMf[model.getFrameId(body.name, pin.FrameType.BODY)]
            np.testing.assert_allclose(placed[body.name][0], pose.rotation, atol=1e-12)
            np.testing.assert_allclose(placed[body.name][1], pose.translation, atol=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_every_link_weighs_what_pinocchio_says(name):
    """Pinocchio lumps what is welded together, so the same sums are made of our bodies."""
    m = load(name)
    model = pin.buildModelFromXML((DATA / f"{name}.urdf").read_text())
    lumps = [pin.Inertia.Zero() for _ in model.joints]
    for body in m.bodies:
        frame = model.frames[model.getFrameId(body.name, pin.FrameType.BODY)]
        inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia_matrix()))
        lumps[frame.parentJoint] += frame.placement.act(inertia)
    for ours, theirs in zip(lumps[1:], list(model.inertias)[1:], strict=True):
        assert ours.mass == pytest.approx(theirs.mass, abs=1e-15)
        np.testing.assert_allclose(ours.inertia, theirs.inertia, atol=1e-12)
        if theirs.mass > 0:
            np.testing.assert_allclose(ours.lever, theirs.lever, atol=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_limits_are_pinocchios(name):
    m = load(name)
    model = pin.buildModelFromXML((DATA / f"{name}.urdf").read_text())
    for joint in m.joints:
        if joint.limits and joint.kind.nv == 1:
            k = model.joints[model.getJointId(joint.name)].idx_q
            assert joint.limits == ((model.lowerPositionLimit[k], model.upperPositionLimit[k]),)


def test_joint_data():
    m = load("joints")
    shoulder, hub, rail = m.joint("shoulder"), m.joint("hub"), m.joint("rail")
    assert shoulder.limits == ((-1.5, 2.5),)
    assert shoulder.velocity_limit == (3.0,)
    assert shoulder.effort_limit == (40.0,)
    assert shoulder.viscous == (0.7,)
    assert shoulder.coulomb == (0.2,)
    np.testing.assert_allclose(shoulder.kind.axis, np.array([1, 2, -2]) / 3, atol=1e-16)
    assert hub.limits is None  # it turns without end
    assert hub.velocity_limit == (9.0,)
    assert rail.limits == ((0.0, 0.3),)
    assert rail.kind.axis == (0.0, 0.0, -1.0)
    assert m.joint("default_axis").kind.axis == (1.0, 0.0, 0.0)
    assert m.joint("default_axis").limits is None
    assert m.joint("weld").viscous is None
    assert m.joint("sky").kind.kind == "free"
    assert m.body("flange").mass == 0.0


def test_what_does_not_matter_is_passed_over():
    m = load("decorated")
    assert [j.name for j in m.joints] == ["root_joint", "pin"]
    assert m.joint("pin").limits == ((-np.inf, 1.5),)
    assert m.joint("pin").velocity_limit is None  # infinite is no limit
    assert m.joint("pin").coulomb == (0.25,)


def test_drakes_joints():
    m = load("drake")
    kinds = {j.name: j.kind for j in m.joints}
    assert [k.kind for k in kinds.values()] == [
        "fixed",
        "spherical",
        "universal",
        "universal",
        "helical",
        "cylindrical",
    ]
    assert kinds["hooke"].axes == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    np.testing.assert_allclose(
        kinds["hooke2"].axes, [[0, 0, 1], [0, 0.5**0.5, 0.5**0.5]], atol=1e-16
    )
    assert m.joint("ball").viscous == (0.1, 0.1, 0.1)
    q = m.neutral()
    q[m.coordinates["thread"]] = 2 * np.pi
    np.testing.assert_allclose(
        placements(m, q)["nut"][1], [0, 0, 0.005], atol=1e-15
    )  # one turn, one pitch


def test_an_origin_may_be_a_quaternion():
    at = load("quaternion").joint("pin").at
    assert at.position == (1.0, 2.0, 3.0)
    np.testing.assert_allclose(
        at.rotation(), [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-15
    )  # x to y to z to x


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (1, 2, 3), (0, 0, -1)])
def test_a_planar_joint_keeps_to_its_plane(written, axis):
    m = written(robot(f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>', kind="planar"))
    for seed in range(3):
        R, p = placements(m, some_configuration(m, seed))["b"]
        assert np.dot(axis, p) == pytest.approx(0, abs=1e-14)
        np.testing.assert_allclose(R @ axis, axis, atol=1e-14)


def test_what_the_specification_wants_and_dynamics_does_not_need(written):
    """A revolute joint without limits, a mass without inertia, an inertial frame without anything."""
    m = written(robot(link='<inertial><origin xyz="1 0 0"/><mass value="2"/></inertial>'))
    assert m.joint("j").limits is None
    assert (m.body("b").mass, m.body("b").com, set(m.body("b").inertia)) == (
        2.0,
        (1.0, 0.0, 0.0),
        {0.0},
    )
    assert written(robot(link="<inertial/>")).body("b").mass == 0.0


# -- the root, the motors, the mimics -----------------------------------------------------------------------------


@pytest.mark.parametrize(("base", "nv"), [("fixed", 0), ("free", 6), ("planar", 3)])
def test_the_root_stands_on_a_joint_without_a_motor(base, nv):
    m = load("branches", base=base)
    root = m.joint("root_joint")
    assert (root.parent, root.child, root.nv) == ("ground", "torso", nv)
    assert set(m.actuated) == {"left_shoulder", "left_elbow", "right_shoulder"}


def test_a_joint_may_already_be_called_root_joint(written):
    m = written(robot().replace('"j"', '"root_joint"'))
    assert [j.name for j in m.joints] == ["root_joint2", "root_joint"]


def test_the_world_is_the_ground_and_stays_a_frame():
    m = load("world")
    assert [(j.name, j.parent) for j in m.joints] == [("anchor", "ground")]
    assert m.frame("world").body == "ground"


def test_a_root_called_ground_is_the_ground():
    m = load("ground")
    assert [(j.name, j.parent) for j in m.joints] == [("pin", "ground")]
    assert m.actuated == ("pin",)


@pytest.mark.parametrize("name", ["world", "ground"])
def test_the_ground_does_not_float(name):
    with pytest.raises(
        es.ReadError, match=f"the root link '{name}' stands for the ground and cannot be free"
    ):
        load(name, base="free")


def test_a_world_with_inertia_is_a_body(written):
    m = written(
        robot()
        .replace('<link name="a"/>', '<link name="a"><inertial><mass value="1"/></inertial></link>')
        .replace('"a"', '"world"')
    )
    assert [b.name for b in m.bodies] == ["world", "b"]


def test_mimics_become_couplings_and_have_no_motors():
    m = load("mimic")
    assert [(c.joint, c.source, c.ratio, c.offset) for c in m.couplings] == [
        ("open_right", "open", 1.0, 0.0),
        ("shine", "open", -0.1, 0.5),
    ]
    assert m.actuated == ("open",)


def test_a_floating_joint_has_no_motor():
    assert "sky" not in load("joints").actuated
    assert "table" in load("joints").actuated


def test_a_fixed_joint_that_mimics_is_reported(written):
    text = robot(
        '<mimic joint="k"/>',
        kind="fixed",
        rest='<link name="c"/><joint name="k" type="revolute"><parent link="b"/><child link="c"/></joint>',
    )
    with pytest.warns(es.ModelWarning, match="joint 'j' is fixed and cannot mimic 'k'"):
        assert written(text).couplings == ()


def test_drakes_own_constraints_are_reported(written):
    with pytest.warns(es.ModelWarning, match="has a <loop_joint>, which is not read"):
        written(robot(rest='<loop_joint name="x"/>'))


@pytest.mark.parametrize("name", FILES)
def test_saved_as_toml_it_reads_back_equal(name, tmp_path):
    m = es.load(DATA / name)
    assert es.load(m.save(tmp_path / "copy.toml")) == m


# -- mistakes -----------------------------------------------------------------------------------------------------

THREE = (
    '<link name="c"/><joint name="k" type="revolute"><parent link="b"/><child link="{}"/></joint>'
)
MASS = (
    '<inertial><mass value="{}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" {}/></inertial>'
)
MISTAKES = {
    "nothing": ("", "the file is empty"),
    "blank": (" \n ", "the file is empty"),
    "not XML": ("name = 'r'", "not well-formed XML"),
    "cut short": (robot()[:80], "not well-formed XML"),
    "bytes": (b"\xff\xfe\x00\x01", "not well-formed XML"),
    "encoding": ('<?xml version="1.0" encoding="klingon"?><robot/>', "not well-formed XML"),
    "sdf": ("<sdf/>", "the first element is <sdf>; a URDF starts with <robot"),
    "no links": ("<robot/>", "the robot has no links"),
    "xacro": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include/></robot>',
        "this is a xacro file .* expand it",
    ),
    "nameless link": ("<robot><link/></robot>", 'link number 1 has no name; write it as <link name="...">'),
    "nameless joint": (robot().replace('joint name="j"', "joint"), "joint number 1 has no name"),
    "two links": ('<robot><link name="a"/><link name="a"/></robot>', "the link 'a' is defined twice"),
    "two joints": (robot(rest=THREE.format("c").replace('"k"', '"j"')), "the joint 'j' is defined twice"),
    "no type": (robot().replace(' type="revolute"', ""), "joint 'j' has no type"),
    "unknown type": (robot(kind="revolut"), "joint 'j' has the unknown type 'revolut'; did you mean 'revolute'?"),
    "no parent": (robot().replace('<parent link="a"/>', ""), "joint 'j': <parent> has no link; write it as <parent link"),
    "empty parent": (robot().replace('<parent link="a"/>', "<parent/>"), "joint 'j': <parent> has no link"),
    "unknown link": (
        robot().replace('child link="b"', 'child link="bb"'),
        "joint 'j' joins the unknown link 'bb'",
    ),
    "two children": (robot('<child link="a"/>'), "joint 'j' has 2 elements <child>; keep one"),
    "two roots": (
        '<robot><link name="a"/><link name="b"/></robot>',
        "the links 'a', 'b' are all roots: no joint has them as its child",
    ),
    "no root": (
        robot(rest='<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'),
        "no link is the root",
    ),
    "circle": (
        robot(
            rest='<link name="c"/><link name="d"/>'
            '<joint name="k" type="fixed"><parent link="c"/><child link="d"/></joint>'
            '<joint name="l" type="fixed"><parent link="d"/><child link="c"/></joint>'
        ),
        "the bodies .* hang on one another in a circle",
    ),
    "two parents": (robot(rest=THREE.format("b")), "the links 'a', 'c' are all roots"),
    "zero axis": (robot('<axis xyz="0 0 0"/>'), "joint 'j': the axis is zero"),
    "short axis": (robot('<axis xyz="0 1"/>'), "joint 'j': <axis> xyz needs 3 numbers; it is '0 1'"),
    "axis in words": (robot('<axis xyz="0 z 1"/>'), "joint 'j': <axis> xyz is 'z'; it must be a number"),
    "underscore": (robot('<axis xyz="0 1_0 1"/>'), "'1_0'; it must be a number"),
    "nan": (robot('<origin xyz="0 nan 1"/>'), "joint 'j': <origin> xyz is 'nan'; it must be a number"),
    "inf": (robot('<origin rpy="0 inf 1"/>'), "joint 'j': <origin> rpy is '0 inf 1'; give a finite number"),
    "two angles": (robot('<origin rpy="0 0 1" quat_xyzw="0 0 0 1"/>'), "rpy and quat_xyzw; keep one"),
    "zero quaternion": (robot('<origin quat_xyzw="0 0 0 0"/>'), "has the length 0; it must be 1"),
    "limit": (robot('<limit lower="one"/>'), "joint 'j': <limit> lower is 'one'; it must be a number"),
    "nan limit": (robot('<limit upper="nan"/>'), "joint 'j': <limit> upper is 'nan'; it must be a number"),
    "negative damping": (robot('<dynamics damping="-1"/>'), "joint 'j': the viscous is -1; it cannot be negative"),
    "damping": (robot('<dynamics damping="much"/>'), "joint 'j': <dynamics> damping is 'much'"),
    "no pitch": (robot(kind="screw"), "joint 'j': <screw_thread_pitch> has no value; write it as"),
    "one axis": (robot('<axis xyz="1 0 0"/>', kind="universal"), "a universal joint has an <axis> and an <axis2>"),
    "mimic nobody": (robot('<mimic joint="jj"/>'), "joint 'j' mimics the unknown joint 'jj'"),
    "mimic nothing": (robot("<mimic/>"), "joint 'j': <mimic> has no joint"),
    "mimic itself": (robot('<mimic joint="j"/>'), "couples the joint 'j' to itself"),
    "mimic a ball": (
        robot('<mimic joint="k"/>', rest=THREE.format("c").replace("revolute", "ball")),
        "needs joints of one degree of freedom; 'k' is spherical",
    ),
    "mimic two": (robot('<mimic joint="j" multiplier="1 2"/>'), "<mimic> multiplier needs 1 number; it is '1 2'"),
    "no mass": (robot(link="<inertial><mass/></inertial>"), "link 'b': <mass> has no value"),
    "mass": (robot(link=MASS.format("heavy", 'izz="1"')), "link 'b': <mass> value is 'heavy'"),
    "negative mass": (robot(link=MASS.format(-1, 'izz="1"')), "body 'b': the mass is -1; it cannot be negative"),
    "no izz": (robot(link=MASS.format(1, "")), "link 'b': <inertia> has no izz"),
    "negative inertia": (robot(link=MASS.format(1, 'izz="-1"')), "link 'b': the inertia has the negative principal"),
    "infinite mass": (robot(link=MASS.format("1e999", 'izz="1"')), "link 'b': <mass> value is '1e999'; give a finite"),
    "two inertials": (robot(link="<inertial/><inertial/>"), "link 'b' has 2 elements <inertial>; keep one"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_a_sentence_with_the_files_name(case, written):
    text, sentence = MISTAKES[case]
    with pytest.raises(es.EslabonError, match=sentence) as caught:
        written(text)
    assert "robot.urdf: " in str(caught.value)
    assert str(caught.value)[-1] in ".?"


def test_an_unknown_base():
    with pytest.raises(es.ReadError, match="base is 'floating'; it is 'fixed', 'free' or 'planar'"):
        load("branches", base="floating")


def test_inertia_without_mass_is_suspicious(written):
    with pytest.warns(es.ModelWarning, match="body 'b' has moments of inertia and no mass"):
        written(robot(link=MASS.format(0, 'izz="1"')))


# -- hostile files ------------------------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))
HOSTILE = {
    "billion laughs": f'<!DOCTYPE r [<!ENTITY l0 "lol">{LAUGHS}]><robot name="&l9;"/>',
    "quadratic": f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]><robot name="{"&a;" * 10_000}"/>',
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
    "external DTD": '<!DOCTYPE r SYSTEM "http://localhost:1/x.dtd"><robot/>',
    "deep": "<robot>" + "<a>" * 200_000 + "</a>" * 200_000 + "</robot>",
    "deep and open": "<robot>" * 200_000,
    "wide": "<robot>" + "<x/>" * 300_000 + "</robot>",
    "long name": f'<robot><link name="{"x" * 3_000_000}"/><link name="b"/><link name="b"/></robot>',
    "long number": robot(f'<axis xyz="{"1" * 1_000_000} 0 0"/>'),
    "long list": robot(f'<axis xyz="{"1 " * 500_000}"/>'),
    "huge inertia": robot(link=MASS.format("1e308", 'izz="-1e308"')),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_at_once(case, written):
    with pytest.raises(es.EslabonError) as caught:
        written(HOSTILE[case])
    assert len(str(caught.value)) < 1000


def test_a_long_chain_in_the_worst_order(written):
    n = 2000
    links = "".join(f'<link name="l{k}"/>' for k in range(n + 1))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in reversed(range(n))
    )
    m = written(f"<robot>{links}{joints}</robot>")
    assert [j.name for j in m.joints[1:3]] == ["j0", "j1"]


# -- fuzz ---------------------------------------------------------------------------------------------------------


def only_our_errors(path: Path, text: bytes, **options) -> None:
    path.write_bytes(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # NumPy's complaints are tracebacks to come
        warnings.simplefilter("ignore", es.ModelWarning)
        try:
            es.load(path, **options)
        except es.EslabonError as error:
            assert str(error).startswith(str(path))
            assert options or any(finding.level == "error" for finding in es.check(path))


fuzzing = settings(
    examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
TEXTS = [(DATA / name).read_bytes() for name in FILES]
WORDS = [b"", b"0", b"-1", b"1e308", b"-1e308", b"1e-320", b"nan", b"inf", b"0 0 0", b"1 2 3", b"ground", b"world",
         b"base", b"free", b"floating", b"planar", b"<", b"/>", b"\"", b"&amp;", b"&x;", b"name", b"joint", b"<link/>",
         b"\xc3", b"\x00"]  # fmt: skip


@fuzzing
@given(st.data())
def test_cut_and_pasted_files_raise_only_our_errors(tmp_path, data):
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.sampled_from([0, 1, 3, 10, 100, 10_000])))
        piece = data.draw(
            st.sampled_from(WORDS) | st.binary(max_size=8) | st.sampled_from([text[start:stop] * 2])
        )
        text = text[:start] + piece + text[stop:]
    only_our_errors(
        tmp_path / "fuzz.urdf", text, base=data.draw(st.sampled_from(["fixed", "free", "planar"]))
    )


@fuzzing
@given(st.data())
def test_other_values_raise_only_our_errors(tmp_path, data):
    """Well-formed files whose attributes say anything."""
    pieces = data.draw(st.sampled_from(TEXTS)).split(b'"')
    for _ in range(data.draw(st.integers(1, 5))):
        k = 2 * data.draw(st.integers(0, (len(pieces) - 2) // 2)) + 1
        word = st.sampled_from([w for w in WORDS if not set(w) & set(b'<"&\x00\xc3')])
        number = st.floats(allow_nan=True).map(lambda x: repr(x).encode())
        pieces[k] = b" ".join(data.draw(st.lists(word | number, min_size=1, max_size=3)))
    only_our_errors(tmp_path / "fuzz.urdf", b'"'.join(pieces))


@fuzzing
@given(st.binary(max_size=200))
def test_random_bytes_raise_only_our_errors(tmp_path, text):
    only_our_errors(tmp_path / "fuzz.urdf", text)


# -- the frame that is meant --------------------------------------------------------------------------------------

SERIAL = """<robot name="arm"><link name="base_link"/><link name="plate"/><link name="upper"/><link name="fore"/><link name="tool0"/>
<joint name="p" type="fixed"><parent link="base_link"/><child link="plate"/></joint>
<joint name="j1" type="continuous"><parent link="base_link"/><child link="upper"/><axis xyz="0 0 1"/></joint>
<joint name="j2" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="f" type="fixed"><parent link="fore"/><child link="tool0"/><origin xyz="1 0 0"/></joint>{}</robot>"""
SECOND_TIP = """<link name="camera"/><joint name="c" type="fixed"><parent link="fore"/><child link="camera"/></joint>"""


@pytest.mark.parametrize("root", ["base_link", "world", "ground"])
def test_an_arm_without_named_frames_is_asked_about_its_tip(written, root):
    m = written(SERIAL.format("").replace("base_link", root))
    q = np.array([0.3, 0.4])
    assert np.array_equal(m.pose(q), m.pose(q, "tool0"))
    assert np.linalg.matrix_rank(m.jacobian(q)) == 2


@pytest.mark.parametrize(
    ("more", "options"),
    [
        (SECOND_TIP, {}),
        ("", {"loops": [{"frames": ("tool0", "plate"), "kind": "revolute", "axis": "z"}]}),
    ],
)
def test_a_robot_of_several_tips_or_none_asks_which_frame_is_meant(written, more, options):
    m = written(SERIAL.format(more), **options)
    with pytest.raises(
        es.ModelError, match=r"arm needs the name of a frame or body.*base_link.*tool0"
    ):
        m.jacobian(m.home())


# -- models as people get them ------------------------------------------------------------------------------------


def test_a_moving_link_called_ground_gets_another_name(written):
    m = written(robot().replace('"b"', '"ground"'))
    assert m.joint("j").child == "ground_link"
    assert "'ground' is called 'ground_link'" in m.note


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ('lower="1" upper="-1"', None),
        ('lower="1"', None),
        ('upper="-1"', None),
        ('lower="inf" upper="-inf"', None),
        ('lower="2" upper="2"', ((2.0, 2.0),)),
    ],
)
def test_a_lower_limit_above_the_upper_means_none(written, tmp_path, limits, kept):
    text = robot(f'<limit {limits} effort="3" velocity="4"/>')
    if kept:
        m = written(text)
    else:
        with pytest.warns(es.ModelWarning, match="joint 'j': the lower limit .* read as no limit"):
            m = written(text)
        sentences = [x for x in es.check(tmp_path / "robot.urdf") if "no limit" in x.sentence]
        assert [(x.level, x.line) for x in sentences] == [("warning", 1)]
    joint = m.joint("j")
    assert (joint.limits, joint.effort_limit, joint.velocity_limit) == (kept, (3.0,), (4.0,))


def test_a_world_that_nobody_declares_is_the_ground(written, tmp_path):
    text = (
        '<robot name="r"><link name="b"/><joint name="j" type="continuous"><parent link="{}"/>'
        '<child link="{}"/></joint></robot>'
    )
    with pytest.warns(es.ModelWarning, match="no link is called 'world'"):
        m = written(text.format("world", "b"))
    assert (m.nv, m.joint("j").parent, m.frame("world").body) == (1, "ground", "ground")
    assert {x.level for x in es.check(tmp_path / "robot.urdf")} == {"warning"}
    with pytest.raises(es.ReadError, match="unknown link 'world'"):  # it is not carried
        written(text.format("b", "world"))
    with pytest.raises(es.ReadError, match="unknown link 'wrld'"):
        written(text.format("wrld", "b"))


WEIGHTLESS = "no moving body has a mass or a moment of inertia"
HEAVY_BASE = '<link name="world"/><link name="base"><inertial><mass value="5"/></inertial></link>'


def test_a_robot_whose_moving_bodies_weigh_nothing_says_so(written, tmp_path):
    with pytest.warns(es.ModelWarning, match=WEIGHTLESS):
        written(robot())
    with pytest.warns(es.ModelWarning, match=WEIGHTLESS):  # a mass that stands still does not help
        written(
            robot(
                rest=HEAVY_BASE
                + '<joint name="k" type="fixed"><parent link="world"/><child link="base"/></joint>'
                '<joint name="l" type="fixed"><parent link="base"/><child link="a"/></joint>'
            )
        )
    found = es.check(tmp_path / "robot.urdf")
    assert [x.level for x in found if WEIGHTLESS in x.sentence] == ["warning"]


@pytest.mark.parametrize("name", ["arm.toml", "arm.xml"])
def test_any_file_whose_moving_bodies_weigh_nothing_says_so(tmp_path, name):
    texts = {
        "arm.toml": 'name = "arm"\n[bodies.a]\n[joints.q]\nkind = "revolute"\nparent = "ground"\nchild = "a"\n',
        "arm.xml": '<robot name="r"><link name="world"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="world"/><child link="b"/></joint></robot>',
    }
    (tmp_path / name).write_text(texts[name])
    with pytest.warns(es.ModelWarning, match=WEIGHTLESS):
        es.load(tmp_path / name)
    assert any(WEIGHTLESS in x.sentence for x in es.check(tmp_path / name))


@pytest.mark.parametrize(
    "link", ['<mass value="1"/>', '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>']
)
@pytest.mark.filterwarnings("ignore:.*and no mass")
@pytest.mark.filterwarnings("error:.*no moving body has a mass")
def test_one_moving_body_with_a_mass_or_an_inertia_is_enough(written, link):
    written(robot(link=f"<inertial>{link}</inertial>"))


INERTIA = '<inertial><mass value="1"/><inertia ixx="{}" iyy="0.02" izz="0.03" ixy="0" ixz="{}" iyz="0"/></inertial>'


def can_be(inertia):
    """Whether a solid body has an inertia: its second moments are not negative, but for round-off."""
    values = np.linalg.eigvalsh(inertia)
    return values.sum() / 2 - values[2] >= -1e-6 * np.abs(values).max()


@pytest.mark.parametrize(
    ("xx", "xz"),
    [(-1e-4, 0.0), (0.0, 0.005), (-0.002, -0.003), (-7.0, 0.0), (0.001, 0.0), (2.0, 0)],
)
def test_inertias_that_no_body_has_are_repaired_on_request(written, xx, xz):
    """What is left is the nearest inertia that a body can have, and note and warning say so."""
    text = robot(link=INERTIA.format(xx, xz))
    given = np.array([[xx, 0, xz], [0, 0.02, 0], [xz, 0, 0.03]])
    if np.linalg.eigvalsh(given)[0] < 0:
        with pytest.raises(es.ModelError, match="repair=True"):
            written(text)
    with pytest.warns(es.ModelWarning, match="repaired: link 'b': the principal moments") as said:
        m = written(text, repair=True)
    assert len(said) == 1
    assert "Repaired: link 'b'" in m.note
    made, norm = m.body("b").inertia_matrix(), np.linalg.norm
    assert can_be(made)
    rng = seeded(str((xx, xz)))
    for _ in range(50):  # no other inertia of point masses is nearer
        points = rng.normal(size=(5, 3)) * rng.uniform(0, 0.4)
        other = sum(np.dot(r, r) * np.eye(3) - np.outer(r, r) for r in points)
        assert norm(other - given) > norm(made - given) * (1 - 1e-12)
        # the angle at the nearest point of a convex set is not acute
        assert np.sum((given - made) * (other - made)) <= 1e-12 * norm(given) * norm(other)


@given(
    st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=6, max_size=6),
    st.sampled_from([1e-12, 1e-3, 1.0, 1e9]),
    st.floats(0, 1e3, allow_subnormal=False),
)
@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_inertia_the_repaired_one_is_a_bodys(tmp_path, entries, size, mass):
    keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    moments = " ".join(f'{key}="{size * x!r}"' for key, x in zip(keys, entries, strict=True))
    path = tmp_path / "robot.urdf"
    path.write_text(
        robot(link=f'<inertial><mass value="{mass!r}"/><inertia {moments}/></inertial>')
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "robot.urdf: repaired|.*no moving body has|.*and no mass")
        m = es.load(path, repair=True)  # and nothing of it looks wrong any more
    assert can_be(m.body("b").inertia_matrix())
    assert not mass or any(m.body("b").inertia)


def test_a_mass_without_inertia_is_a_small_sphere_on_request(written):
    for link in ('<mass value="2"/>', '<origin xyz="0 0 0.5"/><mass value="2"/>' + ZERO_INERTIA):
        text = robot(link=f"<inertial>{link}</inertial>")
        assert not any(written(text).body("b").inertia)  # a point mass is legal
        with pytest.warns(es.ModelWarning, match="solid sphere of radius"):
            m = written(text, repair=True)
        reach = 0.5 if "origin" in link else 1.0
        assert m.body("b").inertia == pytest.approx((0.8 * (0.1 * reach) ** 2,) * 3 + (0,) * 3)


def test_moments_of_round_off_are_zero(written):
    """As exporters of drawings write a point mass: the size to compare with is the body's own, not 1 kg m^2."""
    link = '<inertial><mass value="{}"/><inertia ixx="{}" iyy="{}" izz="0" ixy="{}" ixz="0" iyz="0"/></inertial>'
    tip = '<link name="c"/><joint name="k" type="fixed"><parent link="b"/><child link="c"/><origin xyz="{} 0 0"/></joint>'
    m = written(robot(link=link.format(0.1, -6e-21, 2e-21, 1e-20), rest=tip.format(0.3)))
    assert m.body("b").inertia == (0.0,) * 6
    m = written(robot(link=link.format(1, 1e-3, 1e-3, 4e-20), rest=tip.format(0.3)))
    assert m.body("b").inertia == (1e-3, 1e-3, 0.0, 0.0, 0.0, 0.0)
    with pytest.raises(es.ModelError, match="negative principal value"):  # of a robot of microns
        written(robot(link=link.format(1e-9, -6e-21, 2e-21, 0), rest=tip.format(3e-7)))


def test_moments_of_round_off_are_admissible_in_code_too():
    build = (
        es.Builder("b")
        .body("a", mass=0.1, inertia=[-6e-21, 0, 0])
        .joint("j", "revolute", "ground", "a")
    )
    assert build.frame("tip", "a", at=[0.3, 0, 0]).build().nv == 1


ZERO_INERTIA = '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'


@pytest.mark.filterwarnings("ignore::eslabon.ModelWarning")
def test_missing_entries_of_an_inertia_are_zero_on_request(written):
    text = robot(link='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>')
    with pytest.raises(es.ReadError, match="has no ixy"):
        written(text)
    m = written(text, repair=True)
    assert m.body("b").inertia == (1, 1, 1, 0, 0, 0)
    assert m.note.count("which is 0 now") == 3
