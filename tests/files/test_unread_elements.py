"""Nothing that constrains, drives, loads or limits is lost without a word; what is harmless makes no noise."""

import warnings

import pytest

import eslabon as es
from eslabon.files import FORMATS

ROBOT = """<robot name="r" {on_robot}>
  <link name="a">{in_link}</link>
  <link name="b"><inertial {on_inertial}><mass value="1" {on_mass}/>{in_inertial}</inertial></link>
  <joint name="j" type="{type}" {on_joint}>
    <parent link="a" {on_parent}/><child link="b"/>
    <limit lower="-1" upper="1" effort="1" velocity="1" {on_limit}/>
    <dynamics damping="0.1" {on_dynamics}/>
    {in_joint}
  </joint>
  <transmission name="t"><joint name="j"/><actuator name="m">{in_actuator}</actuator></transmission>
  {in_robot}
</robot>
"""
PLACES = (
    "on_robot", "in_link", "on_inertial", "on_mass", "in_inertial", "on_joint", "on_parent", "on_limit",
    "on_dynamics", "in_joint", "in_actuator", "in_robot",
)  # fmt: skip
DRAKE = 'xmlns:drake="http://drake.mit.edu"'
# Elements and attributes of public dialects that are not read: where they stand, and the word that is warned of.
LOST = [
    # URDF+ and other ways to close loops
    ("in_robot", '<loop name="l" type="revolute"><predecessor link="a"/><successor link="b"/></loop>', "loop"),
    ("in_robot", '<loop_constraint name="l"><a/></loop_constraint>', "loop_constraint"),
    ("in_robot", '<coupling name="c"><predecessor link="a"/></coupling>', "coupling"),
    # Drake
    ("in_robot", '<loop_joint name="x"><link1 link="a"/><link2 link="b"/></loop_joint>', "loop_joint"),
    ("in_robot", '<force_element><prismatic_spring name="s"/></force_element>', "force_element"),
    ("in_robot", '<ball_constraint><ball_constraint_body_A name="a"/></ball_constraint>', "ball_constraint"),
    ("in_robot", "<weld_constraint/>", "weld_constraint"),
    ("in_robot", "<distance_constraint/>", "distance_constraint"),
    ("in_robot", '<linear_bushing_rpy><frame name="a"/></linear_bushing_rpy>', "linear_bushing_rpy"),
    ("in_robot", '<frame name="f" link="a"/>', "frame"),
    ("in_joint", '<drake:rotor_inertia value="0.1"/>', "rotor_inertia"),
    ("in_joint", '<drake:gear_ratio value="20"/>', "gear_ratio"),
    ("in_joint", '<drake:controller_gains p="1" d="2"/>', "controller_gains"),
    ("in_actuator", "<mechanicalReduction>50</mechanicalReduction>", "mechanicalReduction"),
    ("on_limit", 'drake:acceleration="3"', "acceleration"),
    ("on_dynamics", 'coulomb_window="0.1"', "coulomb_window"),
    # ROS, SRDF, Gazebo, PyBullet
    ("in_joint", '<safety_controller soft_lower_limit="-0.5" k_velocity="1"/>', "soft_lower_limit"),
    ("in_joint", '<safety_controller soft_upper_limit="0.5" k_velocity="1"/>', "soft_upper_limit"),
    ("in_joint", '<axis2 xyz="0 1 0"/>', "axis2"),
    ("in_joint", '<screw_thread_pitch value="0.1"/>', "screw_thread_pitch"),
    ("in_robot", '<passive_joint name="j"/>', "passive_joint"),
    ("in_robot", '<gazebo><joint name="closing" type="revolute"><parent>a</parent></joint></gazebo>', "joint"),
    ("in_robot", '<gazebo reference="b"><turnGravityOff>true</turnGravityOff></gazebo>', "turnGravityOff"),
    ("in_robot", '<gazebo reference="b"><gravity>0</gravity></gazebo>', "gravity"),
    ("in_robot", '<gazebo reference="b"><dampingFactor>0.1</dampingFactor></gazebo>', "dampingFactor"),
    ("in_robot", '<gazebo reference="j"><springStiffness>9</springStiffness></gazebo>', "springStiffness"),
    ("in_robot", '<gazebo reference="j"><springReference>9</springReference></gazebo>', "springReference"),
    ("in_robot", '<gazebo reference="j"><implicitSpringDamper>1</implicitSpringDamper></gazebo>', "implicitSpringDamper"),
    ("in_robot", "<gazebo><static>true</static></gazebo>", "static"),
    ("in_robot", '<gazebo reference="b"><enable_wind>1</enable_wind></gazebo>', "enable_wind"),
    ("in_robot", '<gazebo><plugin name="p"><joint>j</joint><mimicJoint>k</mimicJoint></plugin></gazebo>', "mimicJoint"),
    ("in_robot", '<gazebo><plugin name="lift"><air_density>1.2</air_density></plugin></gazebo>', "air_density"),
    ("in_robot", '<virtual_joint name="v" type="floating" parent_frame="w" child_link="a"/>', "virtual_joint"),
    ("in_robot", '<transmission name="u"><type>x/DifferentialTransmission</type><joint name="j"/></transmission>', "type"),
    ("in_robot", '<transmission name="u" type="pr2/WristTransmission"><joint name="j"/></transmission>', "type"),
    ("in_robot", '<transmission name="u"><flexJoint name="j"/></transmission>', "flexJoint"),
    ("in_robot", '<transmission name="u"><joint name="j"><offset>0.1</offset></joint></transmission>', "offset"),
    ("in_robot", '<transmission name="u"><actuator name="m" mechanicalReduction="3"/></transmission>', "mechanicalReduction"),
    ("in_actuator", "<rotorInertia>1e-4</rotorInertia>", "rotorInertia"),
    ("in_robot", '<ros2_control name="c"><joint name="j"><command_interface name="position"><param name="max">0.5</param></command_interface></joint></ros2_control>', "max"),
    ("in_robot", '<ros2_control name="c"><joint name="j"><command_interface name="effort"><param name="min">-0.5</param></command_interface></joint></ros2_control>', "min"),
    ("in_robot", '<ros2_control name="c"><joint name="j"><param name="mimic">k</param></joint></ros2_control>', "mimic"),
    ("in_robot", '<ros2_control name="c"><transmission name="u"><joint name="j"><mechanical_reduction>50</mechanical_reduction></joint></transmission></ros2_control>', "mechanical_reduction"),
    ("in_link", '<force xyz="0 0 1"/>', "force"),
    ("in_inertial", '<added_mass value="1"/>', "added_mass"),
    # slips
    ("in_link", "<inertail/>", "inertail"),
    ("on_limit", 'uper="3"', "uper"),
    ("on_mass", 'unit="g"', "unit"),
    ("on_joint", 'ratio="2"', "ratio"),
    ("on_parent", 'joint="k"', "joint"),
    ("in_robot", "<joints/>", "joints"),
]  # fmt: skip
HARMLESS = [
    ("in_robot", '<material name="red"><color rgba="1 0 0 1"/><texture filename="x.png"/></material>'),
    ("in_robot", '<sensor name="camera" type="camera"><parent link="b"/></sensor>'),
    ("in_robot", '<gazebo><plugin filename="x.so" name="p"><speed>1</speed></plugin></gazebo>'),
    ("in_robot", '<gazebo reference="b"><material>Gazebo/Red</material><mu1>1</mu1><kp>1e6</kp></gazebo>'),
    ("in_robot", '<gazebo reference="b"><sensor type="imu" name="i"/><selfCollide>1</selfCollide></gazebo>'),
    ("in_robot", '<ros2_control name="c" type="system"><joint name="j"><command_interface name="x"/></joint></ros2_control>'),
    ("in_robot", '<ros2_control name="c" type="system"><hardware><plugin>x</plugin></hardware><joint name="j"><command_interface name="position"><param name="min">-1</param><param name="max">2</param></command_interface><state_interface name="position"/></joint></ros2_control>'),
    ("in_robot", '<ros2_control name="c" type="system"><transmission name="u"><plugin>transmission_interface/SimpleTransmission</plugin><joint name="j" role="joint1"><mechanical_reduction>1.0</mechanical_reduction><offset>0</offset></joint></transmission></ros2_control>'),
    ("in_robot", '<transmission name="u"><type>transmission_interface/SimpleTransmission</type><joint name="j"><hardwareInterface>x</hardwareInterface></joint><actuator name="m"><mechanicalReduction>1e0</mechanicalReduction></actuator></transmission>'),
    ("in_robot", '<virtual_joint name="v" type="fixed" parent_frame="w" child_link="a"/>'),
    ("in_robot", "<gazebo><static>false</static></gazebo>"),
    ("in_robot", '<gazebo reference="b"><gravity>true</gravity><turnGravityOff>0</turnGravityOff></gazebo>'),
    ("in_robot", '<drake:collision_filter_group name="g"><drake:member link="a"/></drake:collision_filter_group>'),
    ("in_link", '<visual name="v"><geometry><sphere radius="1"/></geometry><drake:perception_properties/></visual>'),
    ("in_link", '<collision name="c"><geometry><box size="1 1 1"/></geometry><drake:proximity_properties/></collision>'),
    ("in_link", '<contact><lateral_friction value="1"/></contact>'),
    ("in_joint", '<calibration rising="0"/>'),
    ("in_joint", '<safety_controller k_velocity="1" k_position="2"/>'),
    ("in_actuator", "<mechanicalReduction>1</mechanicalReduction><hardwareInterface>x</hardwareInterface>"),
    ("on_robot", 'version="1.0"'),
]  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(place="", text="", kind="revolute"):
        parts = dict.fromkeys(PLACES, "") | ({place: text} if place else {})
        parts["on_robot"] += f" {DRAKE}"
        path = tmp_path / "r.urdf"
        path.write_text(ROBOT.format(type=kind, **parts))
        return path

    return write


@pytest.mark.parametrize(("place", "text", "word"), LOST)
def test_what_is_left_out_is_said_with_its_line(written, place, text, word):
    path = written(place, text)
    line = next(k for k, x in enumerate(path.read_text().splitlines(), start=1) if text in x)
    with pytest.warns(es.ModelWarning, match=rf"r\.urdf:{line}: .*\b{word}\b.* is not read"):
        es.load(path)
    (finding,) = (f for f in es.check(path) if "is not read" in f.sentence)
    assert (finding.level, finding.line) == ("warning", line)
    with pytest.raises(es.ReadError, match=word):
        es.load(path, strict=True)
    (finding,) = (f for f in es.check(path, strict=True) if "is not read" in f.sentence)
    assert (finding.level, finding.line) == ("error", line)


@pytest.mark.parametrize(("place", "text"), HARMLESS)
def test_what_is_harmless_makes_no_noise(written, place, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.load(written(place, text), strict=True)


def test_a_base_that_moves_as_its_virtual_joint_says_is_read(written):
    joint = '<virtual_joint name="v" type="{}" parent_frame="w" child_link="a"/>'
    for kind, base in (("floating", "free"), ("planar", "planar")):
        es.load(written("in_robot", joint.format(kind)), base=base, strict=True)
        with pytest.raises(es.ReadError, match="virtual_joint"):
            es.load(written("in_robot", joint.format(kind)), strict=True)


def test_a_drive_of_an_unknown_joint_is_said(written):
    for drive in (
        '<transmission name="u"><joint name="k"/></transmission>',
        '<ros2_control name="u"><joint name="k"><command_interface/></joint></ros2_control>',
    ):
        with pytest.warns(es.ModelWarning, match="'u' drives the unknown joint 'k'"):
            es.load(written("in_robot", drive))


def test_limits_of_a_continuous_joint_are_said_unless_they_leave_it_a_turn(written):
    with pytest.warns(es.ModelWarning, match="joint 'j' is continuous.* is not read"):
        m = es.load(written(kind="continuous"))
    assert m.joint("j").limits is None
    with pytest.raises(es.ReadError, match="continuous"):
        es.load(written(kind="continuous"), strict=True)
    path = written(kind="continuous")
    path.write_text(path.read_text().replace('"-1" upper="1"', '"-3.14" upper="3.14"'))
    es.load(path, strict=True)


def test_a_parameter_that_repeats_a_mimic_is_harmless(tmp_path):
    (path := tmp_path / "m.urdf").write_text(
        """<robot name="m"><link name="a"/><link name="b"><inertial><mass value="1"/></inertial></link><link name="c"/>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
        <joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j" multiplier="2"/></joint>
        <ros2_control name="u"><joint name="k"><param name="mimic">j</param><param name="multiplier">2</param>
        </joint></ros2_control></robot>"""
    )
    assert len(es.load(path, strict=True).couplings) == 1


def test_data_that_exporters_leave_in_a_fixed_joint_are_harmless(written):
    path = written(
        "in_joint", '<axis xyz="0 0 0"/><safety_controller soft_lower_limit="1"/>', "fixed"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.load(path, strict=True)


def test_a_misspelled_element_is_told_what_it_looks_like(written):
    with pytest.warns(es.ModelWarning, match="did you mean <inertial>"):
        es.load(written("in_link", "<inertail/>"))
    with pytest.warns(es.ModelWarning, match=r"did you mean upper\?"):
        es.load(written("on_limit", 'uper="3"'))


def test_many_of_a_kind_are_one_warning_and_many_findings(written):
    path = written("in_robot", "<passive_joint/>\n<passive_joint/>\n<passive_joint/>")
    with pytest.warns(es.ModelWarning, match="3 times in all") as caught:
        es.load(path)
    assert len(caught) == 1
    assert len({f.line for f in es.check(path) if "passive_joint" in f.sentence}) == 3


def test_loops_that_are_not_wanted_are_not_lost(written):
    constraint = (
        '<constraint name="c" type="revolute"><parent link="a"/><child link="b"/></constraint>'
    )
    es.load(written("in_robot", constraint), loops=False, strict=True)


TWO_PARENTS = """<robot name="bars"><link name="world"/><link name="a"/><link name="b"/>
<joint name="crank" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="coupler" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="rocker" type="continuous"><parent link="world"/><child link="b"/><origin xyz="3 0 0"/><axis xyz="0 0 1"/></joint>
{}</robot>"""


@pytest.mark.filterwarnings("ignore:.*no moving body has a mass")
def test_a_link_with_two_parents_closes_a_loop(tmp_path):
    path = tmp_path / "bars.urdf"
    path.write_text(TWO_PARENTS.format(""))
    with pytest.warns(es.ModelWarning, match="'coupler' is cut and closes a loop"):
        m = es.load(path)
    assert [j.name for j in m.joints] == ["crank", "rocker"]
    (loop,) = m.loops
    assert (loop.name, loop.kind.kind) == ("coupler", "revolute")
    assert loop.first.at.position == (1.0, 0.0, 0.0)
    assert m.actuated == ()


@pytest.mark.filterwarnings("ignore:.*no moving body has a mass")
def test_an_actuated_joint_is_not_cut(tmp_path):
    path = tmp_path / "bars.urdf"
    path.write_text(
        TWO_PARENTS.format('<transmission name="t"><joint name="coupler"/></transmission>')
    )
    with pytest.warns(es.ModelWarning, match="'rocker' is cut and closes a loop"):
        m = es.load(path)
    assert m.actuated == ("coupler",)
    assert [j.name for j in m.joints] == ["crank", "coupler"]


def test_what_belongs_to_the_motion_of_a_cut_joint_is_said(tmp_path):
    path = tmp_path / "bars.urdf"
    text = TWO_PARENTS.format("").replace(
        '<origin xyz="1 0 0"/>',
        '<origin xyz="1 0 0"/><dynamics damping="1"/><mimic joint="crank"/>',
    )
    path.write_text(text)
    sentences = [f.sentence for f in es.check(path)]
    assert any("joint 'coupler': <dynamics> is not read" in s for s in sentences)
    assert any("the <mimic> is left out" in s for s in sentences)


def test_every_format_says_its_options(tmp_path):
    for row in FORMATS:
        path = tmp_path / f"x{row.suffixes[-1]}"
        path.write_text(f"<{row.root}/>" if row.root else 'name = "x"')
        with pytest.raises(es.ReadError, match=r"has no option 'nonsense'|takes no options"):
            es.load(path, nonsense=1)
        (finding,) = es.check(path, nonsense=1)
        assert "option" in finding.sentence


def test_an_mjcf_that_loses_something_is_refused_if_asked(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(
        '<mujoco><option density="1.2"/><worldbody><body><joint name="j"/><geom size="0.1" contype="0"/></body></worldbody></mujoco>'
    )
    with pytest.warns(es.ModelWarning, match="Not carried over: the forces of the fluid"):
        es.load(path)
    with pytest.raises(es.ReadError, match="Not carried over: the forces of the fluid"):
        es.load(path, strict=True)
