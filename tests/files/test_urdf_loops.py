"""Closed loops beside a URDF: the YAML of the public "extended URDF" models, and the same in code."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import casadi
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eslabon as es
from eslabon.formulas.kinematics.closure import constraint
from eslabon.formulas.kinematics.tree import placements
from eslabon.solve.constraints.closed_configurations import close, jacobian_at
from oracles import pin
from randomness import examples

DATA = Path(__file__).parent / "data"


def residual(m: es.Mechanism, q: np.ndarray) -> np.ndarray:
    return np.array(casadi.DM(constraint(m, casadi.SX(q)))).ravel()


@pytest.fixture
def beside(tmp_path):
    """The five-bar with another YAML beside it."""

    def load(text: str | bytes, urdf: str = "five_bar") -> es.Mechanism:
        shutil.copy(DATA / f"{urdf}.urdf", tmp_path / "robot.urdf")
        (tmp_path / "robot.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return es.load(tmp_path / "robot.urdf")

    return load


# -- meaning ------------------------------------------------------------------------------------------------------


def test_the_yaml_beside_a_urdf_closes_it():
    m = es.load(DATA / "five_bar.urdf")
    assert [(x.kind.kind, x.first.body, x.second.body) for x in m.loops] == [
        ("fixed", "tip_A", "tip_B")
    ]
    assert m.actuated == ("motor_left", "motor_right")
    np.testing.assert_allclose(residual(m, m.neutral()), 0, atol=1e-15)  # it is drawn closed
    assert m.nv - np.linalg.matrix_rank(jacobian_at(m, m.neutral())) == 2


def test_a_three_d_loop_holds_the_points_together(rng):
    """And only them: |Phi| is the distance of the two frames, wherever they stand."""
    m = es.load(DATA / "five_bar.urdf", loops=DATA / "five_bar_3d.yaml")
    assert m.loops[0].kind.kind == "spherical"
    assert m.actuated == ()
    for q in rng.uniform(-1, 1, (5, m.nq)):
        placed = placements(m, q)
        distance = np.linalg.norm(placed["tip_A"][1] - placed["tip_B"][1])
        assert np.linalg.norm(residual(m, q)) == pytest.approx(distance, abs=1e-14)
    assert m.nv - np.linalg.matrix_rank(jacobian_at(m, m.neutral())) == 2 + 1  # tip_B spins freely


def test_it_assembles_from_another_configuration():
    m = es.load(DATA / "five_bar.urdf")
    q = close(m, m.neutral() + 0.2)
    np.testing.assert_allclose(residual(m, q), 0, atol=1e-12)


def test_placeholders_become_what_the_yaml_says():
    m = es.load(DATA / "legs.urdf")
    kinds = {j.name: j.kind.kind for j in m.joints}
    assert kinds == {
        "root_joint": "fixed", "hooke": "universal", "on": "prismatic", "socket": "spherical", "locked": "fixed",
        "goal_frame": "fixed",
    }  # fmt: skip
    hooke = m.joint("hooke")
    assert (hooke.limits, hooke.viscous) == (None, None)  # those were the placeholder's
    assert m.actuated == ("on",)  # YAML's own idea of `on` is the boolean true


@pytest.mark.parametrize("axes", ["XY", "YZ", "ZX", "ZY", "XZ", "YX"])
def test_a_universal_joint_is_two_revolutes_in_a_row(beside, axes):
    """The public loader makes a joint about the first letter at the place, then one about the second."""
    m = beside(f"joint_name: [hooke]\njoint_type: [UJOINT_{axes}]\n", urdf="legs")
    q = m.neutral()
    q[m.coordinates["hooke"]] = 0.7, -0.4
    at, model = m.joint("hooke").at, pin.Model()
    place = pin.SE3(at.rotation(), np.array(at.position))
    for k, letter in enumerate(axes):
        model.addJoint(
            k, getattr(pin, f"JointModelR{letter}")(), pin.SE3.Identity() if k else place, letter
        )
    data = model.createData()
    pin.forwardKinematics(model, data, np.array([0.7, -0.4]))
    R, p = placements(m, q)["leg"]
    np.testing.assert_allclose(R, data.oMi[2].rotation, atol=1e-15)
    np.testing.assert_allclose(p, data.oMi[2].translation, atol=1e-15)


def test_cardan_is_the_older_name(beside):
    m = beside("joint_name: hooke\njoint_type: CARDAN", urdf="legs")
    assert m.joint("hooke").kind.axes == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def test_loops_in_code():
    path = DATA / "five_bar.urdf"
    plain = es.load(path, loops=[("tip_A", "tip_B")])
    assert [(x.name, x.kind.kind) for x in plain.loops] == [("tip_A_tip_B", "fixed")]
    assert plain.actuated == ()  # nobody said where the motors are
    pair = {"frames": ("tip_A", "tip_B"), "kind": "revolute", "axis": "z", "name": "tip"}
    assert [(x.name, x.kind.kind) for x in es.load(path, loops=[pair]).loops] == [
        ("tip", "revolute")
    ]
    full = es.load(
        path, loops={"closed_loop": [["tip_A", "tip_B"]], "type": "3D", "name_mot": ["motor_left"]}
    )
    assert (full.loops[0].kind.kind, full.actuated) == ("spherical", ("motor_left",))
    assert es.load(path, loops=str(DATA / "five_bar.yaml")) == es.load(path)


def test_no_loops_on_request():
    m = es.load(DATA / "five_bar.urdf", loops=False)
    assert m.loops == ()
    assert len(m.actuated) == 5


def test_a_yml_does_as_well(tmp_path):
    shutil.copy(DATA / "five_bar.urdf", tmp_path / "robot.urdf")
    shutil.copy(DATA / "five_bar.yaml", tmp_path / "robot.yml")
    assert len(es.load(tmp_path / "robot.urdf").loops) == 1
    shutil.copy(DATA / "five_bar.yaml", tmp_path / "robot.yaml")
    with pytest.raises(
        es.ReadError, match=r"both robot.yaml and robot.yml stand beside it; name one of them"
    ):
        es.load(tmp_path / "robot.urdf")


def test_a_loop_on_the_ground(beside, tmp_path):
    text = '<robot><link name="world"/><link name="rod"/><joint name="pin" type="continuous"><parent link="world"/><child link="rod"/></joint></robot>'
    (tmp_path / "pendulum.urdf").write_text(text)
    m = es.load(tmp_path / "pendulum.urdf", loops=[["pin", "world"]])
    assert (m.loops[0].first.body, m.loops[0].second.body) == ("rod", "ground")


def test_a_part_of_the_motors_names(beside):
    assert beside("name_mot: motor\nclosed_loop: [[tip_A, tip_B]]").actuated == (
        "motor_left",
        "motor_right",
    )


def test_a_type_may_be_left_out(beside):
    assert beside("closed_loop: [[tip_A, tip_B]]").loops[0].kind.kind == "fixed"


def test_a_motor_that_is_not_there_is_reported_and_left_out(beside):
    """As the public loader does: one of its own files names such motors."""
    with pytest.warns(
        es.ModelWarning,
        match=r"robot.yaml:\d+: name_mot names 'motor_lef', .* did you mean 'motor_left'",
    ):
        assert beside("name_mot: [motor_lef, motor_right]").actuated == ("motor_right",)
    with pytest.warns(es.ModelWarning, match="no moving joint's name contains it; it is left out"):
        assert beside("name_mot: xyz").actuated == ()
    with pytest.warns(
        es.ModelWarning, match="joint_name names 'tip_A_frame', and no moving joint has that name"
    ):
        beside("joint_name: [tip_A_frame]\njoint_type: [SPHERICAL]")


# -- several loops, and the older keys ---------------------------------------------------------------------------------


def test_loops_of_both_types_and_joints_of_every_sort():
    m = es.load(DATA / "struts.urdf")
    kinds = {j.name: j.kind.kind for j in m.joints}
    assert (kinds["foot_a"], kinds["foot_b"], kinds["swivel_a"]) == (
        "universal",
        "universal",
        "spherical",
    )
    assert m.joint("foot_b").kind.axes == ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    assert [(x.kind.kind, x.first.body, x.second.body) for x in m.loops] == [
        ("fixed", "lid_eye_a", "ball_a"),
        ("spherical", "rod_b", "lid_eye_b"),
    ]
    assert (m.nv, m.nu, m.dof) == (10, 1, 1)
    q = m.project(m.home())
    placed = placements(m, q)
    np.testing.assert_allclose(placed["ball_a"][1], placed["lid_eye_a"][1], atol=1e-12)
    np.testing.assert_allclose(placed["ball_a"][0], placed["lid_eye_a"][0], atol=1e-12)
    np.testing.assert_allclose(placed["rod_b"][1], placed["lid_eye_b"][1], atol=1e-12)


def test_what_is_read_moves_as_it_is_driven():
    """The motor's force for a motion gives the motion back."""
    m = es.load(DATA / "struts.urdf")
    start = m.project(m.home())
    q, v, a = m.complete(start[m.coordinates["lift_a"]] + 0.05, [0.2], [0.7], start)
    tau = m.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(m.forward_dynamics(q, v, tau), a, atol=1e-9)


@pytest.mark.parametrize("motors", ["[hooke_Y, on]", "hooke_Y"])
def test_a_motor_at_one_axis_of_a_universal_joint(beside, motors):
    """The public loader makes two revolute joints of it, and a motor may stand at one of them."""
    keys = "joint_name: [hooke]\njoint_type: [UJOINT_ZY]\nname_mot: "
    split, whole = beside(keys + motors, urdf="legs"), beside(keys + "[hooke]", urdf="legs")
    assert split.actuated == (("hooke_Y", "on") if "on" in motors else ("hooke_Y",))
    assert (whole.actuated, whole.nu, split.nv) == (("hooke",), 2, whole.nv)
    q = np.arange(1.0, whole.nq + 1) / 10
    turned = split.neutral()
    turned[
        [split.coordinates[n].start for n in ("hooke_Z", "hooke_Y", "on", "socket", "locked")]
    ] = q
    for mine, theirs in zip(
        placements(split, turned)["ball"], placements(whole, q)["ball"], strict=True
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-15)


def test_the_keys_of_the_first_models():
    m = es.load(DATA / "older.urdf")
    assert [x.name for x in m.loops] == ["latch1_A_latch1_B"]
    assert m.actuated == ("drive",)
    pairs = {"closed_loop": [["latch1_A", "latch1_B"]], "type": "6d", "name_mot": ["drive"]}
    assert m == es.load(DATA / "older.urdf", loops=pairs)


def test_numbers_of_loops_count_as_numbers(tmp_path):
    """Loop 1 is not loop 12, and closed_loop_number is the last one."""
    links = "".join(f'<link name="cut{k}_{end}"/>' for k in (1, 2, 12) for end in "AB")
    joints = "".join(
        f'<joint name="j{k}{end}" type="continuous"><parent link="world"/><child link="cut{k}_{end}"/></joint>'
        for k in (1, 2, 12)
        for end in "AB"
    )
    (tmp_path / "robot.urdf").write_text(f'<robot><link name="world"/>{links}{joints}</robot>')

    def names(**more):
        loops = {"name_closedloop": "cut", **more}
        return [x.name for x in es.load(tmp_path / "robot.urdf", loops=loops).loops]

    assert names() == ["cut1_A_cut1_B", "cut2_A_cut2_B", "cut12_A_cut12_B"]
    assert names(closed_loop_number=-1) == names()
    assert names(closed_loop_number=2) == ["cut1_A_cut1_B", "cut2_A_cut2_B"]


def test_spherical_joints_by_a_part_of_their_names(beside):
    keys = "rotule_name: ock\nname_mot: [on]\nLidmot: [0]\n"
    with pytest.warns(
        es.ModelWarning,
        match=r"robot.yaml:\d+: Lidmot is left out: name_mot gives the motors by name",
    ):
        m = beside(keys + "joint_name: locked\njoint_type: FIXED", urdf="legs")
    kinds = {j.name: j.kind.kind for j in m.joints}
    assert (kinds["socket"], kinds["locked"], kinds["hooke"]) == ("spherical", "fixed", "revolute")


@pytest.fixture
def rounded(tmp_path):
    """The four-bar linkage of the older form, its quarter turns written with fewer digits."""

    def load(quarter: str, half: str, **options) -> es.Mechanism:
        text = (DATA / "older.urdf").read_text()
        text = text.replace("1.5707963267948966", quarter).replace("3.141592653589793", half)
        (tmp_path / "robot.urdf").write_text(text)
        return es.load(tmp_path / "robot.urdf", **{"loops": DATA / "older.yaml", **options})

    return load


@pytest.mark.parametrize(
    ("quarter", "half"), [("1.5708", "3.1415"), ("1.570796", "3.14159"), ("1.57079", "3.1416")]
)
def test_rounded_quarter_turns_close_a_linkage_in_a_plane(rounded, quarter, half):
    with pytest.warns(
        es.ModelWarning,
        match=rf"robot.urdf: the angles {quarter}, -{half}, .* of joints are read as",
    ):
        m = rounded(quarter, half)
    assert [(j.name, j.at.rpy) for j in m.joints] == [
        (j.name, j.at.rpy) for j in es.load(DATA / "older.urdf").joints
    ]
    assert m.dof == 1
    np.testing.assert_allclose(residual(m, m.project(m.home() + 0.1)), 0, atol=1e-12)


def test_without_loops_the_angles_are_as_written(rounded):
    assert rounded("1.5708", "3.1415", loops=False).joint("drive").at.rpy == (1.5708, 0.0, 1.5708)


@pytest.mark.parametrize(
    "text", ["1.57", "1.6", "0.0001", "0.7854", "1.5710", "1", "1e0", "1.570796326794896558"]
)
def test_other_angles_stay(rounded, text):
    assert rounded(text, text).joint("drive").at.rpy == (float(text), 0.0, float(text))


def test_a_yaml_of_the_public_name_is_not_passed_over(tmp_path):
    """Their loader reads robot.yaml whatever the URDF is called; ours asks."""
    shutil.copy(DATA / "five_bar.urdf", tmp_path / "arm.urdf")
    shutil.copy(DATA / "five_bar.yaml", tmp_path / "robot.yaml")
    with pytest.warns(
        es.ModelWarning, match="arm.urdf: robot.yaml beside it lists loops and is not read"
    ):
        assert es.load(tmp_path / "arm.urdf").loops == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(es.load(tmp_path / "arm.urdf", loops=tmp_path / "robot.yaml").loops) == 1
        assert es.load(tmp_path / "arm.urdf", loops=False).loops == ()
        shutil.copy(DATA / "five_bar.urdf", tmp_path / "robot.urdf")  # then the YAML is that one's
        es.load(tmp_path / "arm.urdf")


def test_links_and_joints_may_share_names(tmp_path):
    """Exporters number both from the same word, and the joint of a name need not carry the link of that name."""
    text = (DATA / "struts.urdf").read_text().replace('joint name="lift_a"', 'joint name="jack_b"')
    (tmp_path / "robot.urdf").write_text(text)
    keys = {"closed_loop": [["lid_eye_b", "rod_b"]], "type": "3d", "name_mot": ["jack_b"]}
    m = es.load(tmp_path / "robot.urdf", loops=keys)
    assert (m.actuated, m.joint("jack_b").child, m.loops[0].second.body) == (
        ("jack_b",),
        "rod_a",
        "rod_b",
    )


# -- mistakes -----------------------------------------------------------------------------------------------------

MISTAKES = {
    "empty": ("", r"this has no keys such as closed_loop \(loops=False leaves the file alone\)"),
    "list": ("[1, 2]", "this has no keys such as closed_loop"),
    "not YAML": ("closed_loop: [[", "this is not valid YAML"),
    "not text": (b"\xff\xfe\x00", "this is not valid YAML"),
    "control": ("closed_loop: \x00", "this is not valid YAML"),
    "a tag": ("!!python/object/apply:os.system ['true']", "this has no keys"),
    "twice": ("type: 3d\ntype: 6d", "the key 'type' is given twice"),
    "typo": ("closed_loops: []", ".* has the unknown key 'closed_loops'; did you mean 'closed_loop'?"),
    "another file": ("controllers: {}", r"\(loops=False leaves the file alone\) has the unknown key 'controllers'"),
    "no pairs": ("name_closedloop: fermeture", "no frame has it and a number in its name; list the pairs of frames under"),
    "half a pair": ("name_closedloop: motor_left\nclosed_loop_number: 2", "asks for two frames with 'motor_left1' in their names; found: none"),
    "part of names": ("name_closedloop: [tip]", "name_closedloop is a part of names, a text; it is"),
    "no part of names": ("rotule_name: ''", "rotule_name is a part of names, a text; it is ''"),
    "both forms": ("name_closedloop: tip\nclosed_loop: [[tip_A, tip_B]]", "both give the loops; keep closed_loop"),
    "number alone": ("closed_loop_number: 2", "closed_loop_number goes with name_closedloop; take it away"),
    "number": ("name_closedloop: tip\nclosed_loop_number: two", "closed_loop_number is the number of loops; it is 'two'"),
    "older types": ("name_closedloop: tip\ntype: [6d]", "with name_closedloop one type serves all loops"),
    "planar": ("closed_loop: [[tip_A, tip_B]]\ntype: planar", "the type 'planar' of a loop is of an older form; a linkage in a plane closes with '6d'"),
    "no rotule": ("rotule_name: to_rotule", "rotule_name is 'to_rotule', and no moving joint's name contains it; name the spherical joints under joint_name"),
    "places": ("Lidmot: [1, 2]", "Lidmot numbers the motors in another program's order; name them under name_mot"),
    "joint twice": ("joint_name: [free_left, free_left]\njoint_type: [FIXED, SPHERICAL]", "joint_name names the joint 'free_left' twice; keep one"),
    "no list": ("closed_loop: {a: b}", "closed_loop is a list of pairs of frames"),
    "no pair": ("closed_loop: [a, b]", "a loop is a pair of frame names, as in"),
    "three": ("closed_loop: [[a, b, c]]", "a loop is a pair of frame names, as in"),
    "loop key": ("closed_loop: [{frame: [a, b]}]", "a loop has the unknown key 'frame'; did you mean 'frames'?"),
    "type": ("closed_loop: [[tip_A, tip_B]]\ntype: [4d]", "the type '4d' of a loop is not known; it is '3d' or '6d'"),
    "types": ("closed_loop: [[tip_A, tip_B]]\ntype: [3d, 6d]", "type has 2 entries and closed_loop has 1"),
    "type list": ("closed_loop: [[tip_A, tip_B]]\ntype: {a: b}", "type is a list of names; it is"),
    "frame": ("closed_loop: [[tip_A, tip_C]]", "no link or joint has the name of the frame 'tip_C'; did you mean 'tip_B'?"),
    "one body": ("closed_loop: [[tip_A, tip_A_frame]]", "joins the body 'tip_A' to itself"),
    "loop twice": ("closed_loop: [[tip_A, tip_B], [tip_A, tip_B]]", "the name 'tip_A_tip_B' is used for 2 items"),
    "motors": ("name_mot: {a: b}", "name_mot is a list of names; it is"),
    "motors of lists": ("name_mot: [[a]]", "name_mot is a list of names; it is"),
    "joint type": ("joint_name: [free_left]\njoint_type: [SPHERICA]", "the joint 'free_left' has the unknown joint_type 'SPHERICA'; did you mean 'SPHERICAL'"),
    "no joint type": ("joint_name: [free_left]", "joint_type has 0 entries and joint_name has 1"),
    "deep": ("closed_loop: " + "[" * 5000, "nested too deeply|not valid YAML"),
    "long": ("#" * 200_001, "a list of loops is smaller"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_a_sentence_that_names_the_yaml(case, beside):
    text, sentence = MISTAKES[case]
    with pytest.raises(es.EslabonError, match=sentence) as caught:
        beside(text)
    assert "robot.urdf: " in str(caught.value)
    if case not in ("one body", "loop twice"):  # the model finds these, whatever they come from
        assert "robot.yaml: " in str(caught.value)


@pytest.mark.parametrize(
    ("loops", "sentence"),
    [
        (3, "loops is a YAML file, a list of pairs of frames, or False; it is 3"),
        (True, "it is True"),
        ("nowhere.yaml", "the loops of 'nowhere.yaml' cannot be read: No such file"),
        (("tip_A", "tip_B"), "a loop is a pair of frame names"),
        (
            [{"frames": ("tip_A", "tip_B"), "kind": "sperical"}],
            "no joint kind 'sperical'; did you mean 'spherical'",
        ),
        ([{"frames": ("tip_A", "tip_B"), "kind": "free"}], "a free joint closes nothing"),
        (
            [{"frames": ("tip_A", "tip_B"), "kind": "fixed", "axis": "z"}],
            "a fixed joint has no axis",
        ),
        (
            {"closed_lop": []},
            "loops: this has the unknown key 'closed_lop'; did you mean 'closed_loop'",
        ),
        ({3: []}, "loops: this has the unknown key 3"),
    ],
)
def test_mistakes_in_code(loops, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        es.load(DATA / "five_bar.urdf", loops=loops)


def test_a_frame_with_two_meanings(tmp_path):
    text = (
        (DATA / "five_bar.urdf")
        .read_text()
        .replace('joint name="tip_B_joint"', 'joint name="tip_A"')
    )
    (tmp_path / "robot.urdf").write_text(text)
    with pytest.raises(
        es.ReadError, match="'tip_A' is the name of a link and of the joint of another one, 'tip_B'"
    ):
        es.load(tmp_path / "robot.urdf", loops=[["tip_A", "left_rod"]])


@pytest.mark.parametrize("key", ["closed_loop", "type", "name_mot", "joint_name", "joint_type"])
def test_laughing_yaml_is_refused_at_once(beside, key):
    """Lists of ten lists of ten lists: small in memory, endless in print."""
    laughs = ", ".join(f"&a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 12))
    with pytest.raises(es.EslabonError) as caught:
        beside(f"{key}: [&a0 [lol], {laughs}]")
    assert len(str(caught.value)) < 1000


YAML = (DATA / "legs.yaml").read_text()
PIECES = st.sampled_from(
    [
        "",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "'",
        "&a ",
        "*a",
        "!!int ",
        "- ",
        "\n",
        "3d",
        "ball",
        "2001-99-99",
        "~",
        "on",
        "\t",
    ]
)


@settings(
    examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.data())
def test_mangled_yaml_raises_only_our_errors(beside, data):
    text = YAML
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = start + data.draw(st.sampled_from([0, 0, 1, 5, 30]))
        text = text[:start] + data.draw(PIECES | st.text(max_size=3)) + text[stop:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.ModelWarning)
        try:
            beside(text.encode(errors="ignore"), urdf="legs")
        except es.EslabonError as error:
            assert "robot.urdf: " in str(error)
