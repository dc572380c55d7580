"""Loops inside a URDF, and URDF written: a mechanism of any kind of joint comes back with the same mechanics."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import eslabon as es
from eslabon.files.diagnostics import Diagnostics
from eslabon.files.options import UrdfWriteOptions
from eslabon.files.urdf import write_urdf
from eslabon.formulas.kinematics.closure import constraint
from eslabon.formulas.kinematics.tree import placements
from eslabon.model import KINDS, Pose
from oracles import pin
from random_mechanisms import CUTS, random_closed, random_coordinates, random_tree
from randomness import examples, seeds

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*URDF has no place for", "ignore:.*does not read the joints"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("urdf")


def same_bodies(m, other, q):
    np.testing.assert_allclose(
        [b.mass for b in m.bodies], [b.mass for b in other.bodies if b.name in m.body_places]
    )
    here, there = placements(m, q), placements(other, q)
    for body in m.bodies:
        for x, y in zip(here[body.name], there[body.name], strict=True):
            np.testing.assert_allclose(y, x, atol=1e-12)
        np.testing.assert_allclose(
            other.body(body.name).inertia_matrix(), body.inertia_matrix(), atol=1e-15
        )
        np.testing.assert_allclose(other.body(body.name).com, body.com, atol=1e-15)


@examples(40)
@given(seeds)
def test_trees_come_back(folder, seed):
    rng = np.random.default_rng(seed)
    m = random_tree(rng)
    again = es.load(m.save(folder / "tree.urdf"))
    assert again.nq == m.nq
    assert again.nu == m.nu or any(j.kind.kind == "free" for j in m.joints)
    same_bodies(m, again, random_coordinates(rng, m))


@examples(40)
@given(seeds, st.sampled_from(CUTS))
def test_loops_of_every_kind_come_back(folder, seed, kind):
    rng = np.random.default_rng(seed)
    m, q = random_closed(rng, list(rng.choice([k for k in KINDS if k != "fixed"], size=4)), [kind])
    m = m.with_actuated([m.joints[1].name])
    again = es.load(m.save(folder / "closed.urdf"))
    same_bodies(m, again, q)
    assert again.actuated == m.actuated
    elsewhere = random_coordinates(rng, m)
    for x in (q, elsewhere):
        np.testing.assert_allclose(constraint(again, x), constraint(m, x), atol=1e-9)


def test_a_library_of_mechanisms_is_written_and_read(folder):
    for name in es.robots():
        m = es.load(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = es.load(m.save(folder / f"{name}.urdf"))
        same_bodies(m, again, m.home())
        np.testing.assert_allclose(again.home(), m.home())
        assert again.modes.keys() == m.modes.keys()
        assert [x.kind.kind for x in again.loops] == [x.kind.kind for x in m.loops]


@pytest.mark.parametrize("name", ["puma560", "panda_like", "scara"])
def test_others_read_what_is_written(folder, name):
    m = es.load(name)
    model = pin.buildModelFromUrdf(str(m.save(folder / "arm.urdf")))
    assert list(model.names)[1:] == [j.name for j in m.joints]
    if model.nq == m.nq:  # joints without limits have two coordinates there
        q = m.home() + 0.1
        data = model.createData()
        np.testing.assert_allclose(
            np.triu(pin.crba(model, data, q)), np.triu(m.mass_matrix(q)), atol=1e-12
        )


def test_what_urdf_has_no_place_for_is_said(folder):
    m = es.load("four_bar_spring")
    with pytest.warns(es.ModelWarning, match="the springs"):
        m.save(folder / "spring.urdf")
    diagnostics = Diagnostics()
    plain = es.Builder("one").body("a").joint("j", "revolute", "ground", "a").build()
    write_urdf(plain, UrdfWriteOptions(), diagnostics)
    assert not diagnostics.losses


# -- for parsers that know only the standard's joints ------------------------------------------------------------------

CHAINS = {
    "spherical": ("z", "y", "x"),
    "universal": ("first", "second"),
    "cylindrical": ("angle", "slide"),
    "helical": ("", "slide"),
}


def hinge_coordinates(m, again, q):
    """The configuration of the chains where the joints of m stand."""
    made = again.neutral()
    for j in m.joints:
        own, kind = q[m.coordinates[j.name]], j.kind.kind
        if kind == "spherical":
            own = Rotation.from_quat(own[[1, 2, 3, 0]]).as_euler("ZYX")
        elif kind == "helical":
            own = np.array([own[0], j.kind.pitch * own[0]])
        if kind in CHAINS:
            for suffix, x in zip(CHAINS[kind], own, strict=True):
                made[again.coordinates[f"{j.name}_{suffix}".removesuffix("_")]] = x
        else:
            made[again.coordinates[j.name]] = own
    return made


@examples(12)
@given(seeds)
def test_chains_of_hinges_move_as_the_joints_they_stand_for(folder, seed):
    """Every motion of the mechanism is one of the chains, with the same kinetic energy, and neither has a motion more."""
    rng = np.random.default_rng(seed)
    kinds = [*CHAINS, *rng.choice([k for k in KINDS if k != "fixed"], size=2)]
    m = random_tree(rng, list(rng.permutation(kinds)))
    again = es.load(m.save(folder / "hinges.urdf", hinges=True))
    assert not {j.kind.kind for j in again.joints} & CHAINS.keys()
    assert again.dof == m.dof
    q = random_coordinates(rng, m)
    there = hinge_coordinates(m, again, q)
    names = [b.name for b in m.bodies]
    J, K = (
        np.vstack([x.jacobian(at, name) for name in names]) for x, at in ((m, q), (again, there))
    )
    rates, *_ = np.linalg.lstsq(K, J, rcond=None)
    np.testing.assert_allclose(K @ rates, J, atol=1e-9)
    M = m.mass_matrix(q)
    np.testing.assert_allclose(
        rates.T @ again.mass_matrix(there) @ rates, M, atol=1e-9 * np.abs(M).max()
    )


def test_home_modes_limits_and_motors_go_to_the_hinges(folder):
    half = float(np.sqrt(0.5))
    b = es.Builder("arm").body("a", mass=1).body("b", mass=1).body("c", mass=1)
    b.joint("ball", "spherical", "ground", "a", home=[half, 0, 0, half])
    b.joint("cross", "universal", "a", "b", limits=[(-1, 1), (-2, 2)], viscous=[3, 4])
    b.joint("bolt", "helical", "b", "c", pitch=0.01, limits=(-5, 5), home=1.0)
    m = (
        b.mode("up", {"ball": [1, 0, 0, 0], "cross": [0.1, 0.2], "bolt": 2.0})
        .actuate("ball", "bolt")
        .build()
    )
    with pytest.warns(es.ModelWarning, match="which joints are actuated"):
        again = es.load(m.save(folder / "arm.urdf", hinges=True))
    assert again.named(again.home())["ball_z"] == pytest.approx(np.pi / 2)
    assert again.named(again.configuration("up"))["cross_second"] == 0.2
    assert again.joint("cross_second").limits == ((-2.0, 2.0),)
    assert again.joint("cross_first").viscous == (3.0,)
    assert again.joint("bolt").limits == ((-5.0, 5.0),)
    for q, turned in ((again.home(), 1.0), (again.configuration("up"), 2.0)):
        assert again.named(q)["bolt_slide"] == 0.01 * turned


@pytest.mark.filterwarnings("error:.*does not read the joints")
def test_joints_that_ros_does_not_read_are_named(folder):
    b = es.Builder("one").body("a", mass=1).body("b", mass=1)
    m = b.joint("j", "spherical", "ground", "a", viscous=1.0).joint("k", "planar", "a", "b").build()
    with pytest.warns(
        es.ModelWarning, match=r"urdfdom\) does not read the joints 'j' \(spherical\)"
    ):
        m.save(folder / "one.urdf")
    with pytest.warns(es.ModelWarning, match="friction, springs and motors of the ball joints 'j'"):
        path = m.save(folder / "one.urdf", hinges=True)
    assert pin.buildModelFromUrdf(str(path)).nv == m.nv
    with pytest.raises(es.ReadError, match="without the option 'hinges'; it is for URDF"):
        m.save(folder / "one.toml", hinges=True)
    with pytest.raises(es.EslabonError, match="hinges"):
        m.save(folder / "one.urdf", hinges="no")


# -- names and couplings that meet those of the format -----------------------------------------------------------------


@pytest.mark.parametrize(
    "where",
    [
        {"body": "a", "at": [0.1, 0.2, 0.3]},
        {"body": "ground", "at": [1.0, 0, 0]},
        {"body": "ground"},
    ],
)
def test_a_frame_called_world_comes_back_where_it_was(folder, where):
    m = (
        es.Builder("w")
        .body("a", mass=1)
        .joint("j", "revolute", "ground", "a")
        .frame("world", **where)
        .build()
    )
    again = es.load(m.save(folder / "w.urdf"))
    q = np.array([0.7])
    np.testing.assert_allclose(again.pose(q, "world"), m.pose(q, "world"), atol=1e-15)


def test_a_frame_beside_a_joint_of_its_own_name_with_frame_behind(folder):
    b = (
        es.Builder("t")
        .body("a", mass=1)
        .body("b", mass=1)
        .joint("tip_frame", "revolute", "ground", "a")
    )
    b.joint("tip_frame2", "revolute", "a", "b", [0.5, 0, 0]).frame("tip", "b", at=[1.0, 0, 0])
    m = b.build()
    again = es.load(m.save(folder / "t.urdf"))
    q = np.array([0.7, -0.3])
    assert [j.name for j in again.joints if j.nv] == ["tip_frame", "tip_frame2"]
    np.testing.assert_allclose(again.pose(q, "tip"), m.pose(q, "tip"), atol=1e-15)


def test_a_mode_called_home_is_not_where_the_joints_start(folder):
    """A <group_state> of that name is, so that the mode is lost with a word."""
    b = es.Builder("arm").body("a", mass=1.0, inertia=(1, 1, 1))
    m = b.joint("q", "revolute", "ground", "a", home=0.5).mode("home", {"q": 0.2}).build()
    with pytest.warns(es.ModelWarning, match="no place for the mode, .* 'home'"):
        path = m.save(folder / "h.urdf")
    assert es.load(path).home().tolist() == [0.5]


NEGATIVE_ZEROS = """<robot name="zeros"><link name="world"/>
<link name="a"><inertial><origin xyz="-0 -0.0 0.1" rpy="-0 0 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="-0" ixz="-0.0" iyz="0"/></inertial></link><link name="b"/>
<joint name="j" type="revolute"><parent link="world"/><child link="a"/><origin xyz="-0 0 1" rpy="-0 -0 0"/><axis xyz="-0 0 1"/>
<limit lower="-0" upper="1" effort="1" velocity="1"/></joint>
<joint name="k" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="-0 0 -0"/><axis xyz="-1 -0 0"/>
<limit effort="1" velocity="1"/><mimic joint="j" multiplier="2" offset="-0"/></joint></robot>"""


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_negative_zeros_come_back_as_they_are(folder, ending):
    """To the sign of every number, which == does not see."""
    (folder / "zeros.urdf").write_text(NEGATIVE_ZEROS)
    m = es.load(folder / "zeros.urdf")
    minus = es.Builder("minus").body("a", mass=1, com=[-0.0, 0.5, 0]).body("b", mass=1)
    minus.joint(
        "j",
        "revolute",
        "ground",
        "a",
        at=Pose((-0.0, 1.0, 0.0), (-0.0, 0.0, 1.0)),
        axis=[-0.0, 0, 1],
    )
    minus.joint(
        "k", "revolute", "a", "b", at=np.diag([-1.0, 1, -1, 1]), home=-0.0, limits=(-0.0, 1)
    )
    moved = es.join(minus.build(), minus.build(), "b", prefix="second_")
    for x in (m, minus.build(), moved):
        again = es.load(x.save(folder / f"again.{ending}"))
        sections = (
            ("bodies", "joints", "modes")
            if ending == "urdf"
            else ("bodies", "joints", "frames", "couplings", "modes")
        )
        for section in sections:
            assert repr(getattr(again.description, section)) == repr(
                getattr(x.description, section)
            )
        assert ending == "urdf" or again.digest == x.digest


def coupled(*pairs):
    b = es.Builder("gears")
    for k in range(4):
        b.body(f"b{k}", mass=1, inertia=[1, 1, 1]).joint(f"j{k}", "revolute", "ground", f"b{k}")
    for n, (joint, source) in enumerate(pairs):
        b.couple(f"c{n}", f"j{joint}", f"j{source}", 2.0 + n, 0.1 * n)
    return b.build()


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1), (0, 2)],
        [(0, 1), (0, 2), (0, 3)],
        [(0, 1), (2, 1), (0, 3)],
        [(0, 1), (0, 2), (1, 2)],
    ],
)
def test_a_joint_with_several_couplings_comes_back(folder, pairs):
    """The couplings of the file hold the same configurations."""
    m = coupled(*pairs)
    again = es.load(m.save(folder / "gears.urdf"))
    assert len(again.couplings) == len(pairs)
    q = m.project(m.neutral()) if len(pairs) < 4 else m.neutral()
    np.testing.assert_allclose(again.constraint(q), 0, atol=1e-12)
    N, K = (scipy.linalg.null_space(x.constraint_jacobian(q)) for x in (m, again))
    np.testing.assert_allclose(N @ N.T, K @ K.T, atol=1e-12)


def test_couplings_beyond_one_circle_are_named(folder):
    m = coupled((0, 1), (0, 2), (1, 2), (0, 3), (1, 3))
    with pytest.warns(
        es.ModelWarning, match=r"the couplings, of which a joint can have only one, 'c\d'"
    ):
        m.save(folder / "gears.urdf")


# -- as others write it -------------------------------------------------------------------------------------------

BARS = """<robot name="bars"><link name="world"/>
{links}
<joint name="crank" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="coupler" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="rocker" type="continuous"><parent link="world"/><child link="c"/><origin xyz="3 0 0"/><axis xyz="0 0 1"/></joint>
<constraint name="pin" type="{kind}">{constraint}</constraint>
<transmission name="t"><joint name="crank"/></transmission>
</robot>"""
LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
SIDES = '<parent link="b"/>{}<child link="c"/>{}'
BESIDE = SIDES.format(
    '<parent_origin xyz="2 0 0"/><parent_axis xyz="0 0 1"/>',
    '<child_origin xyz="2 0 0"/><child_axis xyz="0 0 1"/>',
)
INSIDE = '<parent link="b"><origin xyz="2 0 0"/><axis xyz="0 0 1"/></parent><child link="c"><origin xyz="2 0 0"/><axis xyz="0 0 1"/></child>'


def bars(folder: Path, constraint: str, kind: str = "revolute", **options) -> es.Mechanism:
    path = folder / "bars.urdf"
    links = "\n".join(LINK.format(name) for name in "abc")
    path.write_text(BARS.format(links=links, constraint=constraint, kind=kind))
    return es.load(path, **options)


@pytest.mark.parametrize("form", [BESIDE, INSIDE])
def test_a_four_bar_closes_by_its_constraint(folder, form):
    m = bars(folder, form)
    assert m.actuated == ("crank",)
    assert m.dof == 1
    q = m.assemble([1.0], guess=[1.0, -1.0, 1.0])

    def reach(angles, lengths):
        return sum(r * np.exp(1j * a) for r, a in zip(lengths, np.cumsum(angles), strict=True))

    assert reach(q[:2], (1, 2)) == pytest.approx(3 + reach(q[2:], (2,)))
    assert not bars(folder, form, loops=False).closed


@pytest.mark.parametrize("turned", [(0, 1, 0), (0, 0, -1), (1, 2, -2)])
def test_axes_that_differ_are_brought_together(folder, turned):
    """A constraint holds where the axis of the child, seen on the ground, is that of the parent."""
    m = bars(
        folder,
        BESIDE.replace(
            'child_axis xyz="0 0 1"', f'child_axis xyz="{turned[0]} {turned[1]} {turned[2]}"'
        ),
    )
    (loop,) = m.loops
    axis = np.array(loop.kind.axis)
    np.testing.assert_allclose(loop.first.at.rotation() @ axis, [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(
        loop.second.at.rotation() @ axis, np.array(turned) / np.linalg.norm(turned), atol=1e-12
    )


@pytest.mark.parametrize(
    ("constraint", "kind", "sentence"),
    [
        (BESIDE, "hinge", "has the unknown type 'hinge'"),
        (BESIDE, "floating", "a free joint closes nothing"),
        (BESIDE.replace('"c"', '"d"'), "revolute", "constraint 'pin' has the unknown link 'd'"),
        (BESIDE + "<limit/>", "revolute", "constraint 'pin' has the unknown element 'limit'"),
        (INSIDE + '<child_axis xyz="1 0 0"/>', "revolute", "keep one"),
        ("<parent/>", "revolute", "<parent> has no link"),
    ],
)
def test_what_is_not_understood_is_said(folder, constraint, kind, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        bars(folder, constraint, kind)
