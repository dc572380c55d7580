"""MJCF, read through MuJoCo's compiler: the mechanism moves as MuJoCo's own model does."""

import contextlib
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.applied_loads import CREEP
from eslabon.formulas.kinematics.tree import on_body, placements
from randomness import seeded


def load(path):
    """A mechanism, whatever of it is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.ModelWarning)
        return es.load(path)


def written(folder, text, name="model.xml"):
    path = folder / name
    path.write_text(text)
    return path


class Beside:
    """A mechanism beside the MuJoCo model of the same file: coordinates are the same, velocities but for free joints."""

    def __init__(self, path):
        self.m = load(path)
        self.mj = mujoco.MjModel.from_xml_path(str(path))
        self.mj.opt.disableflags |= (
            mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
        )
        self.mj.opt.density = self.mj.opt.viscosity = 0.0
        self.mj.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.data = mujoco.MjData(self.mj)
        free = self.mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE
        self.free = [
            (q, v) for q, v in zip(self.mj.jnt_qposadr[free], self.mj.jnt_dofadr[free], strict=True)
        ]
        moving = tuple(j.name for j in self.m.joints if j.nv)
        self.driven = es.Mechanism(
            replace(self.m.description, actuated=moving)
        )  # so that every joint's force is given
        self.tree = es.Mechanism(replace(self.driven.description, loops=(), couplings=()))

    def random_state(self, seed, spread=1.0):
        """Coordinates, velocities and accelerations of ours."""
        rng = seeded(seed)
        q = self.mj.qpos0.copy()
        mujoco.mj_integratePos(self.mj, q, spread * rng.uniform(-1, 1, self.mj.nv), 1.0)
        return q, rng.normal(size=self.mj.nv), rng.normal(size=self.mj.nv)

    def turned(self, q):
        """T with qvel = T v: a free joint's velocity is linear first, in world axes, and then as here."""
        T = np.eye(self.mj.nv)
        for place, v in self.free:
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, q[place + 3 : place + 7])
            T[v : v + 6, v : v + 6] = np.block(
                [[np.zeros((3, 3)), R.reshape(3, 3)], [np.eye(3), np.zeros((3, 3))]]
            )
        return T

    def accelerations(self, q, v, a):
        """qacc: the rate of T v is T v' + R (w x u) for the body twist (w, u)."""
        rate = np.zeros(self.mj.nv)
        for _, k in self.free:
            rate[k + 3 : k + 6] = np.cross(v[k : k + 3], v[k + 3 : k + 6])
        return self.turned(q) @ (a + rate)

    def at(self, q, v):
        self.data.qpos, self.data.qvel = q, self.turned(q) @ v
        mujoco.mj_forward(self.mj, self.data)
        return self.data

    def mass_matrix(self, q):
        M, T = np.zeros((self.mj.nv, self.mj.nv)), self.turned(q)
        mujoco.mj_fullM(self.mj, self.at(q, np.zeros(self.mj.nv)), M)
        return T.T @ M @ T

    def joint_forces(self, q, v, a):
        """Inverse dynamics of the tree, with Coulomb friction, a constraint there, put in as it is here."""
        off, on = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT), self.mj.opt.disableflags
        self.mj.opt.disableflags |= off
        self.at(q, v).qacc = self.accelerations(q, v, a)
        mujoco.mj_inverse(self.mj, self.data)
        self.mj.opt.disableflags = on
        of_free = (
            self.mj.jnt_type[self.mj.dof_jntid] == mujoco.mjtJoint.mjJNT_FREE
        )  # theirs is left out
        friction = np.where(
            of_free, 0.0, self.mj.dof_frictionloss * np.tanh(self.data.qvel / CREEP)
        )
        return self.turned(q).T @ (self.data.qfrc_inverse + friction)

    def jacobian(self, q):
        """The rows of the equality constraints, for velocities of ours, and by how much they are violated."""
        off = int(mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
        self.mj.opt.disableflags |= off
        data = self.at(q, np.zeros(self.mj.nv))
        self.mj.opt.disableflags &= ~off
        return data.efc_J.reshape(-1, self.mj.nv) @ self.turned(q), data.efc_pos.copy()

    def constrained_accelerations(self, q, v, force):
        """By the KKT system of MuJoCo's mass matrix, forces and independent combinations of its constraint rows."""
        n, step, (J, _) = self.mj.nv, 1e-6, self.jacobian(q)
        there, back = (self.jacobian(self.moved(q, v, h))[0] @ v for h in (step, -step))
        U, size, V = np.linalg.svd(J, full_matrices=False)
        rank = np.sum(size > 1e-8)
        N, rate = V[:rank], (U.T @ (there - back))[:rank] / (2 * step * size[:rank])
        K = np.block([[self.mass_matrix(q), N.T], [N, np.zeros((rank, rank))]])
        return np.linalg.solve(K, [*(force - self.joint_forces(q, v, np.zeros(n))), *-rate])[:n]

    def moved(self, q, v, step):
        q = q.copy()
        mujoco.mj_integratePos(self.mj, q, self.turned(q) @ v, step)
        return q


def near(got, want, rtol=1e-9):
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1e-3, np.abs(want).max(initial=0.0))


def places_agree(both, q):
    """Every body, and every site whose name was free."""
    data, placed = both.at(q, np.zeros(both.mj.nv)), placements(both.m, q)
    for i in range(1, both.mj.nbody):
        R, p = placed[both.mj.body(i).name or f"body{i}"]
        near(p, data.xpos[i])
        near(R, data.xmat[i].reshape(3, 3))
    frames = {f.name: on_body(placed, f.body, f.at) for f in both.m.frames}
    for i in range(both.mj.nsite):
        if both.mj.site(i).name in frames:
            R, p = frames[both.mj.site(i).name]
            near(p, data.site_xpos[i])
            near(R, data.site_xmat[i].reshape(3, 3))


def tree_agrees(both, seeds=range(3), rtol=1e-8):
    """Places, mass matrix and inverse dynamics, at random states."""
    for seed in seeds:
        q, v, a = both.random_state(seed)
        near(both.tree.mass_matrix(q), both.mass_matrix(q), rtol)
        near(both.tree.inverse_dynamics(q, v, a), both.joint_forces(q, v, a), rtol)


def closed_agrees(both, seeds=range(3), spread=0.1, rtol=1e-5):
    """Constraints, and accelerations under them, at random states that keep the constraints."""
    for seed in seeds:
        q, v, force = both.random_state(seed, spread)
        q, v = both.driven.project(q, v, limits=False)
        J, violation = both.jacobian(q)
        near(violation, 0 * violation, 1e-6)
        assert np.linalg.matrix_rank(J, 1e-8) == np.linalg.matrix_rank(
            both.driven.constraint_jacobian(q), 1e-8
        )
        near(J @ v, 0 * (J @ v), 1e-6)
        near(
            both.driven.forward_dynamics(q, v, force),
            both.constrained_accelerations(q, v, force),
            rtol,
        )


# -- trees ------------------------------------------------------------------------------------------------------------

TREE = """
<mujoco model="everything">
  <compiler angle="degree"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <include file="defaults.xml"/>
  <worldbody>
    <site name="post" pos="0 0 2"/>
    <geom type="plane" size="1 1 1"/>
    <body name="trunk" pos="0 0 1" euler="10 20 30">
      <joint name="root" type="free" damping=".3" armature="0"/>
      <geom type="box" size=".2 .1 .3" pos=".05 0 .1" euler="0 30 0"/>
      <geom type="sphere" size=".1" pos="0 .2 0" mass="2"/>
      <site name="trunk" pos=".1 .2 .3" euler="40 50 60"/>
      <body name="thigh" pos="0 .2 -.3" quat="1 .2 -.3 .4">
        <joint name="hip_x" axis="1 0 0" pos="0 0 .05"/>
        <joint name="hip_d" type="slide" axis="1 2 3" ref=".1"/>
        <joint name="hip_y" axis="0 1 1" pos=".02 0 .05" ref="25" stiffness="7" springref="40" range="-90 120"/>
        <geom class="bone" fromto="0 0 0 .1 0 -.4"/>
        <body name="plate" pos="0 0 -.1" euler="0 90 0">
          <geom type="cylinder" size=".05 .01" density="3000"/>
          <body name="shank" pos=".2 0 -.3">
            <joint name="knee" type="ball" pos="0 .01 .02" damping=".4" armature=".05"/>
            <inertial pos=".01 .02 -.2" mass="1.5" fullinertia=".03 .02 .025 .001 -.002 .003"/>
            <site name="heel" pos="0 0 -.3"/>
          </body>
        </body>
      </body>
      <body name="mast" pos="0 0 .3" gravcomp=".7">
        <joint name="twist" axis="0 0 1" class="stiff"/>
        <geom type="ellipsoid" size=".05 .06 .2" pos="0 0 .2"/>
      </body>
    </body>
    <body name="cart" pos="1 0 0">
      <joint name="rail" type="slide" axis="1 0 0" frictionloss=".6" limited="true" range="-1 2"/>
      <geom type="box" size=".1 .1 .1" mass="1"/>
      <body><joint axis="0 1 0" pos="0 0 .1"/><geom class="bone" fromto="0 0 .1 0 0 .6"/></body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="rope" stiffness="20" damping="3" springlength=".4"><site site="post"/><site site="heel"/></spatial>
  </tendon>
</mujoco>"""
DEFAULTS = """
<mujocoinclude>
  <default>
    <joint damping=".2" armature=".01"/>
    <default class="bone"><geom type="capsule" size=".04" density="1500"/></default>
    <default class="stiff"><joint stiffness="12" damping=".3" armature=".02" frictionloss=".1"/></default>
  </default>
</mujocoinclude>"""


@pytest.fixture
def everything(tmp_path):
    written(tmp_path, DEFAULTS, "defaults.xml")
    return written(tmp_path, TREE)


def test_a_tree_of_every_joint_kind_moves_as_in_mujoco(everything):
    both = Beside(everything)
    places_agree(both, both.random_state(0)[0])
    tree_agrees(both)
    q, v, force = both.random_state(3)
    a = both.driven.forward_dynamics(q, v, force)
    near(both.joint_forces(q, v, a), force)


def random_mjcf(rng, bodies=6):
    """A random tree: up to three joints a body, of every kind, anywhere and with any reference."""
    numbers = lambda *size: " ".join(f"{x:.17g}" for x in rng.normal(size=size))  # noqa: E731
    hung = [[] for _ in range(bodies)]
    for i in reversed(range(bodies)):
        kinds = rng.choice(["hinge", "slide"], rng.integers(0, 4)).tolist() + ["ball"] * (
            rng.random() < 0.3
        )
        joints = "".join(
            f'<joint type="{kind}" axis="{numbers(3)}" pos="{numbers(3) if rng.random() < 0.6 else "0 0 0"}" '
            + f'armature="{rng.random():.3g}" damping="{rng.random():.3g}" '
            + (
                f'ref="{rng.normal()}" stiffness="2" springref="{rng.normal()}"/>'
                if kind != "ball"
                else "/>"
            )
            for kind in kinds
        )
        parent = rng.integers(-1, i) if i else -1
        if parent < 0 and rng.random() < 0.5:
            joints = "<freejoint/>"
        x, y, z = rng.uniform(0.5, 1, 3)
        inertial = f'<inertial pos="{numbers(3)}" quat="{numbers(4)}" mass="1.3" diaginertia="{y + z} {x + z} {x + y}"/>'
        text = f'<body name="b{i}" pos="{numbers(3)}" quat="{numbers(4)}">{joints}{inertial}{"".join(hung[i])}</body>'
        hung[parent].insert(0, text) if parent >= 0 else hung[-1].insert(0, text)
    return f'<mujoco><compiler angle="radian"/><worldbody>{"".join(hung[-1])}</worldbody></mujoco>'


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_move_as_in_mujoco(tmp_path, seed):
    both = Beside(written(tmp_path, random_mjcf(seeded(seed))))
    places_agree(both, both.random_state(seed)[0])
    tree_agrees(both, [seed])


@pytest.mark.parametrize(
    "path", sorted(Path(mujoco.__file__).parent.rglob("*.xml")), ids=lambda path: path.name
)
def test_the_models_of_mujocos_package(path):
    mj = mujoco.MjModel.from_xml_path(str(path))
    if mj.nbody == 1:
        with pytest.raises(es.ModelError, match="no joints"):
            es.load(path)
        return
    both = Beside(path)
    both.mj.tendon_stiffness[:] = both.mj.tendon_damping[:] = 0.0  # those are named, and left out
    places_agree(both, both.random_state(0)[0])
    tree_agrees(both)


# -- equality constraints ---------------------------------------------------------------------------------------------

FOUR_BAR = """
<mujoco>
  <compiler angle="radian"/>
  <default><geom type="capsule" size=".02"/><joint axis="0 1 0"/></default>
  <worldbody>
    <site name="post" pos="1 0 0" euler="0 .2 0"/>
    <body name="crank"><joint name="q1" ref=".3"/><geom fromto="0 0 0 0 0 .3"/>
      <body name="coupler" pos="0 0 .3"><joint name="q2"/><geom fromto="0 0 0 1 0 .2"/>
        <site name="pin" pos="1 0 .2"/>
      </body></body>
    <body name="rocker" pos="1 0 0"><joint name="q3" pos="0 0 0"/><geom fromto="0 0 0 0 0 .5"/>
      <site name="hole" pos="0 0 .5"/></body>
    <body name="wheel" pos="0 1 0"><joint name="q4" ref="-.2"/><geom type="cylinder" size=".1 .02"/></body>
  </worldbody>
  <tendon>
    <fixed name="sum"><joint joint="q3" coef="2"/><joint joint="q4" coef="-3"/></fixed>
    <fixed name="more"><joint joint="q1" coef="2"/><joint joint="q2" coef="1"/><joint joint="q4" coef="-3"/></fixed>
  </tendon>
  <equality>{}</equality>
</mujoco>"""
ARMS = """
<mujoco>
  <compiler angle="radian"/>
  <default><geom type="capsule" size=".02"/></default>
  <worldbody>
    <body name="a1" pos="0 0 1"><joint type="ball" name="q1"/><geom fromto="0 0 0 .4 0 0"/>
      <body name="a2" pos=".4 0 0" euler=".3 0 .1"><joint type="ball" name="q2" pos=".01 0 0"/><geom fromto="0 0 0 .3 .1 0"/>
        <body name="a3" pos=".3 .1 0" euler="0 .4 0"><joint type="ball" name="q3"/><geom fromto="0 0 0 .2 0 .1"/>
          <site name="tip" pos=".2 0 .1" euler=".1 .2 .3"/></body></body></body>
    <body name="raft" pos="0 1 1" euler=".2 .1 0"><freejoint/><geom type="box" size=".2 .3 .1"/>
      <site name="deck" pos="0 .1 .1" euler=".3 .2 .1"/></body>
  </worldbody>
  <equality>{}</equality>
</mujoco>"""


@pytest.mark.parametrize(
    ("text", "equality", "kinds"),
    [
        (FOUR_BAR, '<connect body1="coupler" body2="rocker" anchor="1 0 .2"/>', ["spherical"]),
        (FOUR_BAR, '<connect site1="pin" site2="hole"/>', ["spherical"]),
        (FOUR_BAR, '<joint joint1="q1" joint2="q4" polycoef=".1 -2"/>', []),
        (FOUR_BAR, '<tendon tendon1="sum" polycoef=".1"/>', []),
        (FOUR_BAR, '<joint joint1="q1" polycoef=".1"/>', ["fixed"]),
        (ARMS, '<connect body1="a3" anchor=".2 0 .1"/>', ["spherical"]),
        (ARMS, '<weld body1="a3" body2="raft"/>', ["fixed"]),
        (ARMS, '<weld body1="raft" body2="a3" relpose=".1 .2 .3 .9 .1 .2 .3" anchor=".1 .2 .1"/>', ["fixed"]),
        (ARMS, '<weld site1="tip" site2="deck"/>', ["fixed"]),
        (ARMS, '<weld body1="a3" body2="raft" torquescale="0"/><connect body1="a2" anchor=".3 0 0"/>', ["spherical"] * 2),
    ],
)  # fmt: skip
def test_equality_constraints_hold_and_act_as_in_mujoco(tmp_path, text, equality, kinds):
    both = Beside(written(tmp_path, text.format(equality)))
    assert [loop.kind.kind for loop in both.m.loops] == kinds
    assert len(both.m.couplings) == (not kinds)
    closed_agrees(both)


@pytest.mark.parametrize(
    ("equality", "loss"),
    [
        (
            '<joint name="e" joint1="q1" joint2="q4" polycoef="0 1 .5"/>',
            "polynomial of higher order: 'e'",
        ),
        ('<tendon name="e" tendon1="more"/>', "tendons and flexes: 'e'"),
        ('<tendon name="e" tendon1="sum" tendon2="more"/>', "tendons and flexes: 'e'"),
        (
            '<connect name="e" site1="pin" site2="hole" active="false"/>',
            "inactive equality constraints 'e'",
        ),
        ('<weld name="e" body1="crank" body2="target"/>', "follow mocap bodies: 'e'"),
        ('<weld name="e" body1="wall" body2="world"/>', "within one rigid body: 'e'"),
    ],
)
def test_equality_constraints_that_are_left_out_are_named(tmp_path, equality, loss):
    others = '<body name="target" mocap="true"/><body name="wall"/></worldbody>'
    text = FOUR_BAR.format(equality).replace("</worldbody>", others)
    with pytest.warns(es.ModelWarning, match=loss):
        m = es.load(written(tmp_path, text))
    assert not m.closed


# -- data of joints ---------------------------------------------------------------------------------------------------


def test_friction_springs_limits_and_home(everything):
    m = load(everything)
    hip, rail, twist = (m.joint(name) for name in ("hip_y", "rail", "twist"))
    assert np.allclose(hip.limits, np.deg2rad([[-90, 120]]))
    assert (hip.stiffness, hip.viscous, hip.motor_inertia) == ((7.0,), (0.2,), (0.01,))
    assert np.allclose([hip.rest, hip.home], np.deg2rad([[40], [25]]))
    assert rail.coulomb == (0.6,)
    assert rail.limits == ((-1.0, 2.0),)
    assert twist.stiffness == (12.0,)
    assert m.actuated == ()
    assert np.array_equal(m.home(), mujoco.MjModel.from_xml_path(str(everything)).qpos0)


ARM = """
<mujoco>
  <option><flag contact="disable"/></option>
  <worldbody>
    <body name="b1"><joint name="q1" armature=".5"/><geom size=".1"/>
      <body name="b2"><joint name="q2" actuatorfrcrange="-4 4"/><geom size=".1"/>
        <body name="b3"><joint name="q3" type="ball"/><geom size=".1"/>
          <body name="b4"><joint name="q4"/><geom size=".1"/></body></body></body></body>
  </worldbody>
  <actuator>{}</actuator>
</mujoco>"""


@pytest.mark.parametrize(
    ("actuator", "limit", "gear"),
    [
        ('<motor joint="q1"/>', None, None),
        ('<motor joint="q1" gear="10" ctrlrange="-2 2"/>', 20, 10),
        ('<motor joint="q1" gear="-10" ctrlrange="-2 2" forcerange="-1 1"/>', 10, -10),
        ('<general joint="q1" gear="10" ctrlrange="-2 2" gainprm="3"/>', 60, 10),
        (
            '<motor joint="q1" ctrlrange="-2 2"/><motor joint="q1" gear="3" ctrlrange="-1 1"/>',
            5,
            None,
        ),
        ('<motor joint="q2" gear="10" ctrlrange="-2 2"/>', 4, 10),
        ('<motor joint="q1"/><motor joint="q1" gear="0 1 0 0 0 0" ctrlrange="-2 2"/>', None, None),
    ],
)
def test_gears_and_limits_of_motors(tmp_path, actuator, limit, gear):
    m = es.load(written(tmp_path, ARM.format(actuator)))
    (name,) = m.actuated
    joint = m.joint(name)
    assert joint.effort_limit == (None if limit is None else (limit,))
    assert joint.gear_ratio == (None if gear is None else (gear,))
    if name == "q1":
        assert joint.motor_inertia[0] * (gear or 1) ** 2 == pytest.approx(0.5)


def test_a_ball_joint_is_actuated_where_its_motors_reach_every_axis(tmp_path):
    """The limits of such motors have no place, and are named."""
    motors = [f'<motor joint="q3" gear="{gear}"/>' for gear in ("1 0 0", "0 1 0", "1 1 2")]
    assert es.load(written(tmp_path, ARM.format("".join(motors)))).actuated == ("q3",)
    with pytest.warns(es.ModelWarning, match="some of their axes only: 'q3'"):
        assert es.load(written(tmp_path, ARM.format(motors[0]))).actuated == ()
    with pytest.warns(
        es.ModelWarning, match="force limits of the actuators of the ball and free joints 'q3'"
    ):
        es.load(
            written(tmp_path, ARM.format("".join(motors).replace("/>", ' forcerange="-1 1"/>')))
        )


def test_a_servo_drives_its_joint_and_its_law_is_named(tmp_path):
    path = written(
        tmp_path, ARM.format('<position name="servo" joint="q4" kp="10" kv="1" forcerange="-3 3"/>')
    )
    with pytest.warns(es.ModelWarning, match="control laws, .* of the actuators 'servo'") as caught:
        m = es.load(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert m.actuated == ("q4",)
    assert m.joint("q4").effort_limit == (3.0,)


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="this MuJoCo has none")
def test_armature_and_damping_of_an_actuator_act_at_its_joint(tmp_path):
    tree_agrees(
        Beside(
            written(tmp_path, ARM.format('<motor joint="q1" gear="3" armature=".2" damping=".7"/>'))
        )
    )


# -- names, keyframes, switches, losses -------------------------------------------------------------------------------


def test_names(everything):
    m = load(everything)
    assert m.name == "everything"
    assert {"trunk", "thigh", "hip_x_anchor", "plate", "shank", "cart"} < {b.name for b in m.bodies}
    assert {"world", "post", "heel", "trunk_site"} == {f.name for f in m.frames}
    assert [j.name for j in m.joints if j.nv] == [
        "root", "hip_x", "hip_d", "hip_y", "knee", "twist", "rail", "joint7"
    ]  # fmt: skip


def test_a_name_that_is_taken_gets_its_kind_behind_it(tmp_path):
    bodies = [
        f'<body name="{name}"><joint name="{name}"/><geom size=".1"/></body>'
        for name in ("ground", "body2", "")
    ]
    text = f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>".replace(' name=""', "")
    m = load(written(tmp_path, text))
    assert [b.name for b in m.bodies] == ["ground_body", "body2", "body3"]
    assert [j.name for j in m.joints] == ["ground", "body2", "joint2"]


def test_keyframes_are_modes(tmp_path):
    text = ARM.format("").replace(
        "</mujoco>", '<keyframe><key name="up" qpos="1 2 0 3 0 4 5"/><key/></keyframe></mujoco>'
    )
    m = es.load(written(tmp_path, text))
    assert np.allclose(m.configuration("up"), [1, 2, 0, 0.6, 0, 0.8, 5])
    assert np.array_equal(m.configuration("key1"), m.home())


def test_what_is_switched_off_does_not_act(tmp_path):
    flags = 'gravity="disable" contact="disable" frictionloss="disable" limit="disable" equality="disable"'
    written(tmp_path, DEFAULTS, "defaults.xml")
    text = TREE.replace('<option gravity="0.3 -0.2 -9.7"/>', f"<option><flag {flags}/></option>")
    m = es.load(written(tmp_path, text))
    assert m.gravity == (0.0, 0.0, 0.0)
    assert not m.wrenches
    assert not any(j.limits or j.coulomb for j in m.joints)
    assert m.note == "Read from model.xml."


@pytest.mark.parametrize(
    ("element", "loss"),
    [
        ('<option density="1.2"/>', "fluid"),
        ('<contact><pair geom1="g1" geom2="g2"/></contact>', "contacts"),
        (
            '<tendon><fixed name="t" stiffness="1"><joint joint="q1" coef="1"/></fixed></tendon>',
            "tendons 't'",
        ),
        (
            '<tendon><fixed name="t" limited="true" range="0 1"><joint joint="q1" coef="1"/></fixed></tendon>',
            "tendons 't'",
        ),
        (
            '<tendon><fixed name="t"><joint joint="q1" coef="1"/></fixed></tendon><actuator><motor name="a" tendon="t"/></actuator>',
            "something else than a joint: 'a'",
        ),
        (
            '<actuator><motor name="a" joint="q1" delay="0.1" nsample="3"/></actuator>',
            "the delays of the actuators 'a'",
        ),
        ("", None),
    ],
)
def test_what_is_left_out_is_named_in_one_warning_and_in_the_note(tmp_path, element, loss):
    """Nothing is said where nothing is lost: a body does not touch the one it hangs on."""
    text = f"""
      <mujoco><worldbody><body><joint name="q1"/><geom name="g1" size=".1"/>
        <body><joint/><geom name="g2" size=".1"/></body></body></worldbody>{element}</mujoco>"""
    path = written(tmp_path, text)
    if loss is None:
        assert es.load(path).note == "Read from model.xml."
        return
    with pytest.warns(es.ModelWarning) as caught:
        m = es.load(path)
    assert [loss in str(w.message) for w in caught] == [True]
    assert loss in m.note


def test_a_mechanism_from_mjcf_is_saved_and_comes_back(everything):
    m = load(everything)
    again = load(m.save(everything.with_suffix(".toml")))
    assert again.description == m.description


# -- files ------------------------------------------------------------------------------------------------------------


def test_xml_is_read_by_its_first_element(tmp_path):
    urdf = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    assert es.load(written(tmp_path, urdf), base="free").nv == 7


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
            "MuJoCo cannot compile the model: .*mass",
        ),
        ("<mujoco><worldbody>", "MuJoCo cannot compile"),
        ("<mujocoinclude/>", "<mujocoinclude>; .*MJCF starts with <mujoco>"),
        ("mujoco", "not well-formed"),
        ("", "not well-formed"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><mujoco/>', "DOCTYPE"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path, text, sentence):
    with pytest.raises(es.ReadError, match=rf"model\.xml: .*{sentence}"):
        es.load(written(tmp_path, text))


PAIR = """<mujoco><option gravity="0 0 -9.81"/><compiler angle="radian"/>
<worldbody><body name="a"><joint name="j" axis="0 1 0" range="-1 1" damping="1"/><geom type="sphere" size=".1" pos="1 0 0"/>
<body name="b" quat="1 0 0 0"><joint name="k" type="slide"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
<site name="s" pos="0 0 1"/></body></body></worldbody>
<equality><connect name="c" body1="a" body2="b" anchor="0 0 0" active="true"/><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality>
<actuator><motor joint="j" gear="2" ctrlrange="-1 1"/></actuator><keyframe><key name="up" qpos="0 0"/></keyframe></mujoco>"""


@pytest.mark.parametrize("anchor", ["", " ", "&#10;"])
@pytest.mark.parametrize("included", [False, True])
def test_a_model_that_breaks_mujocos_compiler_is_refused_and_the_next_one_loads(
    tmp_path, anchor, included
):
    text = PAIR.replace('anchor="0 0 0"', f'anchor="{anchor}"')
    if included:
        before, equality, after = text.partition("<equality>")
        equality, end, after = (equality + after).partition("</equality>")
        written(tmp_path, f"<mujocoinclude>{equality}{end}</mujocoinclude>", "held.xml")
        text = f'{before}<include file="held.xml"/>{after}'
    file = " of held.xml" if included else ""
    with pytest.raises(
        es.ReadError,
        match=rf"model\.xml: MuJoCo cannot compile .* give anchor of <connect> in line \d{file} a value",
    ):
        es.load(written(tmp_path, text))
    assert load(written(tmp_path, PAIR)).nv == 2


def test_blank_attributes_that_do_no_harm_are_read(tmp_path):
    assert load(written(tmp_path, PAIR.replace('qpos="0 0"', 'qpos=" "'))).nv == 2
    wrong = PAIR.replace('qpos="0 0"', 'qpos=" "').replace('joint2="k"', 'joint2="x"')
    with pytest.raises(es.ReadError, match=r"MuJoCo cannot compile the model: Error: .*'x'"):
        es.load(written(tmp_path, wrong))


@pytest.mark.parametrize("value", ["x", "nan", "inf", "-1", "1 2", "1e400", "0", "99999999999"])
def test_anything_in_any_attribute_is_read_or_refused_in_a_sentence(tmp_path, monkeypatch, value):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log of what is no number
    for k in range(sum(len(e.attrib) for e in ElementTree.fromstring(PAIR).iter())):
        root = ElementTree.fromstring(PAIR)
        element, key = [(e, key) for e in root.iter() for key in e.attrib][k]
        element.set(key, value)
        with contextlib.suppress(es.EslabonError):
            load(written(tmp_path, ElementTree.tostring(root, "unicode")))
    assert load(written(tmp_path, PAIR)).nv == 2


def test_mjcf_takes_no_options(tmp_path):
    with pytest.raises(es.ReadError, match=r"a \.xml file has no option 'base'"):
        es.load(written(tmp_path, ARM.format("")), base="free")


def test_without_mujoco_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(es.MissingDependencyError, match=r"pip install 'eslabon\[mjcf\]'"):
        es.load(written(tmp_path, ARM.format("")))
