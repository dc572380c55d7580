"""Numbers of items made parameters: equal to mechanisms written with them by hand, and differentiated by the graph."""

import numpy as np
import pytest

import eslabon as es
from eslabon.model.free_numbers import free_numbers, parameter_units, places
from eslabon.model.parameter_expressions import number
from eslabon.model.parameter_units import infer_units

STATE = np.linspace(0.1, 0.6, 6), np.linspace(0.5, -0.3, 6), np.linspace(-0.2, 0.7, 6)


@pytest.fixture(scope="module")
def puma():
    return es.load("puma560")


@pytest.fixture(scope="module")
def freed(puma):
    return puma.with_free(
        "link2.mass",
        "link2.com.x",
        "link3.inertia.yy",
        "q2.at.z",
        "q1.viscous",
        "q1.coulomb",
        "gravity.z",
    )


def test_a_freed_mechanism_is_the_same_mechanism(puma, freed):
    assert freed.parameters == {
        "link2_mass": puma.body("link2").mass, "link2_com_x": puma.body("link2").com[0],
        "link3_inertia_yy": puma.body("link3").inertia[1], "q2_at_z": puma.joint("q2").at.position[2],
        "q1_viscous": puma.joint("q1").viscous[0] if puma.joint("q1").viscous else 0.0,
        "q1_coulomb": puma.joint("q1").coulomb[0] if puma.joint("q1").coulomb else 0.0, "gravity_z": -9.81,
    }  # fmt: skip
    np.testing.assert_allclose(
        freed.inverse_dynamics(*STATE), puma.inverse_dynamics(*STATE), rtol=1e-12, atol=1e-12
    )


def test_freed_numbers_equal_mechanisms_written_with_other_numbers(puma, freed):
    x, y, z = puma.body("link2").com
    by_hand = puma.with_body("link2", mass=20.0, com=(x + 0.01, y, z)).with_joint(
        "q1", viscous=0.3, coulomb=1.5
    )
    by_hand = by_hand.with_gravity((0, 0, -1.62))
    values = {
        "link2_mass": 20.0,
        "link2_com_x": x + 0.01,
        "q1_viscous": 0.3,
        "q1_coulomb": 1.5,
        "gravity_z": -1.62,
    }
    expected = by_hand.inverse_dynamics(*STATE)
    np.testing.assert_allclose(
        freed.with_parameters(**values).inverse_dynamics(*STATE), expected, rtol=1e-12
    )
    np.testing.assert_allclose(
        freed.inverse_dynamics(*STATE, parameters=values), expected, rtol=1e-12
    )


@pytest.mark.parametrize(("name", "step"), [("link2_mass", 1e-3), ("link2_com_x", 1e-5), ("q2_at_z", 1e-5), ("q1_coulomb", 1e-3)])  # fmt: skip
def test_derivative_by_a_freed_number_is_that_of_differences(freed, name, step):
    exact = freed.derivative("inverse_dynamics", name, *STATE)
    value = freed.parameters[name]
    ahead, behind = (
        freed.with_parameters(**{name: value + s}).inverse_dynamics(*STATE) for s in (step, 0.0)
    )
    again = freed.with_parameters(**{name: value + 2 * step}).inverse_dynamics(*STATE)
    np.testing.assert_allclose(
        exact, (4 * ahead - 3 * behind - again) / (2 * step), rtol=1e-5, atol=1e-7
    )


def test_every_number_of_every_kind_of_item_can_be_freed_and_saved(tmp_path):
    b = (
        es.Builder("all")
        .body("a", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
        .body("b", mass=1.0)
        .body("c", mass=1.0)
    )
    b.joint("screw", "helical", "ground", "a", pitch=0.01).joint(
        "ball", "spherical", "a", "b", at=(1, 0, 0)
    )
    b.joint("cardan", "universal", "b", "c", at=((1, 0, 0), (0, 0, 0.1)), viscous=(0.1, 0.2))
    b.loop("rod", "distance", "ground", "c", first=(0, 2, 0), second=(0, 0, 0), length=2.0)
    b.spring("s", "ground", "a", first=(0, 1, 0), second=(1, 0, 0), stiffness=50.0, length=1.0)
    b.wrench("push", "c", force=(0, 0, 5)).frame("tool", "c", at=(0.2, 0, 0))
    m = es.Mechanism(b.describe())
    paths = free_numbers(m)
    assert {"screw.pitch", "rod.length", "rod.first.y", "s.stiffness", "s.second.x", "push.force.z", "tool.at.yaw"} <= {*paths}  # fmt: skip
    assert {"cardan.viscous.second", "cardan.first_axis.z", "cardan.at.yaw", "ball.viscous.wx"} <= {
        *paths
    }
    assert "ball.stiffness.wx" not in paths  # a ball joint has no spring
    assert (
        "table.axis.z" not in paths
    )  # the directions in a plane follow from its normal, which is a number
    free = m.with_free(*paths)
    assert [*free.parameters.values()] == [*paths.values()]
    assert {path.split(".")[1] for path in free_numbers(free)} == {
        "rest",
        "gear_ratio",
    }  # of springs and motors there are now
    assert free_numbers(free.with_free(*free_numbers(free))) == {}
    assert free.with_free(*paths) == free
    assert es.load(free.save(tmp_path / "free.toml")) == free
    units = parameter_units(free)
    own = {
        name: places(m)[path].unit if path in places(m) else "kg"
        for name, path in zip(free.parameters, paths, strict=True)
    }
    assert {name: units[name] for name in own} == own


@pytest.mark.parametrize("robot", ["four_bar_spring", "slider_crank", "cart_pole"])
def test_a_mechanism_of_parameters_alone_moves_as_before(robot):
    m = es.load(robot)
    free = m.with_free(*free_numbers(m))
    q = m.assemble(m.home()[list(m.actuated_coordinates)]) if m.closed else m.home() + 0.3
    v = np.linalg.svd(m.constraint_jacobian(q))[2][-1] if m.closed else np.linspace(0.2, 0.5, m.nv)
    tau = np.full(m.nu, 0.3)
    np.testing.assert_allclose(
        free.forward_dynamics(q, v, tau), m.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(free.energy(q, v), m.energy(q, v), rtol=1e-12)


def test_names_that_two_items_share_are_told_apart_by_kind():
    b = (
        es.Builder("twins")
        .body("arm", mass=1.0)
        .joint("tip", "revolute", "ground", "arm")
        .frame("tip", "arm")
    )
    m = es.Mechanism(b.describe())
    assert m.with_free("joint.tip.at.x").parameters == {"joint_tip_at_x": 0.0}
    with pytest.raises(es.ModelError, match=r"no number 'at\.x'|did you mean"):
        m.with_free("tip.at.x")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("link2.mas", r"'link2' of five_bar has no number 'mas'; did you mean 'mass'\?"),
        ("link2.mass", r"link2\.mass is 'm2', which follows from 'm2'; vary that"),
        ("link2.inertia.zz", r"follows from 'L2', 'm2'; vary those"),
        ("link2", r"is not a number by itself"),
        ("elbow.mass", r"m\.free_numbers\(\) lists them|did you mean"),
        (3, r"has no number 3"),
    ],
)
def test_what_cannot_be_freed_is_refused_in_a_sentence(path, says):
    with pytest.raises(es.ModelError, match=says):
        es.load("five_bar").with_free(path)


def test_a_payload_is_a_point_mass_at_a_frame(puma):
    loaded = puma.with_free("tool.payload")
    assert loaded.parameters == {"tool_payload": 0.0}
    assert loaded.with_free("tool.payload") == loaded
    assert "tool.payload" not in loaded.free_numbers()
    for mass in (0.0, 2.5):
        expected = puma.with_payload("tool", mass).inverse_dynamics(*STATE)
        np.testing.assert_allclose(loaded.inverse_dynamics(*STATE, parameters={"tool_payload": mass}), expected, rtol=1e-12)  # fmt: skip
    with pytest.raises(es.ModelError, match="did you mean 'tool'"):
        puma.with_free("tol.payload")


def test_a_deviation_is_added_to_what_a_number_follows_from():
    m = es.load("planar_3rrr")
    path = next(
        p
        for p, x in places(m).items()
        if p.endswith(".first.x") and "L" in getattr(x.value, "names", tuple)()
    )
    off = m.with_free(f"{path}.deviation", f"{path}.deviation")
    name = path.replace(".", "_") + "_deviation"
    assert off.with_free(f"{path}.deviation") == off
    assert parameter_units(off)[name] == "m"
    loop = path.split(".")[0]
    moved = off.with_parameters(**{name: 1e-3, "L": 0.21}).loop(loop).first.at.position
    plain = m.with_parameters(L=0.21).loop(loop).first.at.position
    np.testing.assert_allclose(np.subtract(moved, plain), [1e-3, 0, 0], atol=1e-15)
    both = es.load("puma560").with_free(
        "link2.mass.deviation", "link2.mass", "tool.payload", "link6.mass.deviation"
    )
    assert (
        both.with_parameters(link2_mass=10.0, link2_mass_deviation=1.0).body("link2").mass == 11.0
    )
    heavy = both.with_parameters(link6_mass_deviation=0.01, tool_payload=1.0).body("link6").mass
    assert heavy == pytest.approx(1.1)


def test_a_name_that_is_taken_is_refused():
    b = (
        es.Builder("rod")
        .body("arm", mass=1.0)
        .joint("q", "revolute", "ground", "arm", at=("arm_mass", 0, 0))
    )
    b.parameter("arm_mass", 2.0)
    with pytest.raises(es.ModelError, match="'arm_mass' already"):
        es.Mechanism(b.describe()).with_free("arm.mass")


# -- clearance ----------------------------------------------------------------------------------------------------------


def test_a_pin_in_its_clearance_parts_the_two_ends_by_as_much():
    m = es.load("five_bar").with_clearance("tip")
    for angle in (0.0, 1.0, 4.0):
        moved = m.with_parameters(tip_play=1e-3, tip_direction=angle)
        q = moved.assemble([2.0, 1.0])
        ends = [m.with_frame("end", body, (m.parameters[L], 0, 0)).pose(q, "end")[:3, 3] for body, L in (("link3", "L3"), ("link4", "L4"))]  # fmt: skip
        axes = m.pose(q, "link3")[:3, :3]
        np.testing.assert_allclose(axes.T @ (ends[1] - ends[0]), [1e-3 * np.cos(angle), 1e-3 * np.sin(angle), 0], atol=1e-9)  # fmt: skip


def test_a_pin_of_the_tree_shifts_normal_to_its_axis_and_a_ball_in_space():
    m = es.load("puma560").with_clearance("q2")
    moved = m.with_parameters(q2_play=1e-3, q2_direction=0.7)
    inner = es.load("puma560").joint("q2").at.rotation()
    shift = moved.pose(np.zeros(6), "link2")[:3, 3] - m.pose(np.zeros(6), "link2")[:3, 3]
    assert np.linalg.norm(shift) == pytest.approx(1e-3)
    assert (m.pose(np.zeros(6), "link1")[:3, :3] @ inner @ np.array(m.joint("q2").kind.axis)) @ shift == pytest.approx(0, abs=1e-15)  # fmt: skip
    ball = es.Builder("ball").body("arm", mass=1.0).joint("s", "spherical", "ground", "arm")
    moved = (
        es.Mechanism(ball.describe())
        .with_clearance("s")
        .with_parameters(s_play=1.0, s_polar=0.3, s_direction=2.0)
    )
    expected = (np.sin(0.3) * np.cos(2.0), np.sin(0.3) * np.sin(2.0), np.cos(0.3))
    np.testing.assert_allclose(moved.pose([1.0, 0, 0, 0], "arm")[:3, 3], expected, atol=1e-12)


@pytest.mark.parametrize(("robot", "joint", "says"), [("slider_crank", "slide", "is prismatic"), ("five_bar", "tp", "did you mean 'tip'")])  # fmt: skip
def test_what_has_no_clearance_is_refused(robot, joint, says):
    with pytest.raises(es.ModelError, match=says):
        es.load(robot).with_clearance(joint)


# -- units --------------------------------------------------------------------------------------------------------------


def test_units_of_parameters_follow_from_where_they_stand():
    units = parameter_units(es.load("flyball_governor"))
    assert units["density"] == "kg m^-3"
    assert (units["L"], units["m_ball"], units["k"], units["c"], units["I_along"]) == ("m", "kg", "N/m", "N s/m", "kg m²")  # fmt: skip
    stewart = parameter_units(es.load("stewart_gough"))
    assert (stewart["a_base"], stewart["r_base"]) == ("rad", "m")
    assert parameter_units(es.load("bennett"))["turn"] is None  # only where it starts


def test_a_factor_that_may_convert_tells_no_unit():
    numbers = [(number("L*mm"), "m"), (number("9.81*k"), "N")]
    assert infer_units(numbers, {"L": 20.0, "k": 1.0}) == {"L": None, "k": None}
    assert infer_units([(number("x"), "m"), (number("x"), "kg")], {"x": 1.0}) == {"x": None}
