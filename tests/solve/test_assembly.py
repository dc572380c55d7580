"""Loops close: assembly from joints and from poses, completion of motions, branches, and honest refusals."""

import numpy as np
import pytest

import eslabon as es
from eslabon.model import KINDS
from eslabon.solve.constraints.closed_configurations import close, jacobian_at
from eslabon.solve.constraints.independent_coordinates import partition
from library_names import CLOSED
from random_mechanisms import random_closed
from randomness import seeded

CUTS = [k for k in KINDS if k != "free"]
TREE = ["revolute", "spherical", "prismatic", "universal", "revolute", "cylindrical"]


@pytest.mark.parametrize("kind", CUTS)
def test_every_kind_can_be_cut(kind, rng):
    for seed in range(3):
        m, q = random_closed(seeded(seed), TREE, [kind])
        assert np.abs(m.constraint(q)).max() < 1e-13
        v = np.linalg.svd(m.constraint_jacobian(q))[2][-1]
        step = 1e-6
        moved = [m.constraint(close_to(m, q, s * step * v)) for s in (-1, 1)]
        assert (
            np.abs((moved[1] - moved[0]) / (2 * step)).max() < 1e-8
        )  # along a free motion nothing opens
        away = rng.normal(size=m.nv)
        difference = (
            m.constraint(close_to(m, q, step * away)) - m.constraint(close_to(m, q, -step * away))
        ) / (2 * step)
        assert np.allclose(m.constraint_jacobian(q) @ away, difference, atol=1e-7)


def close_to(m, q, step):
    """q moved by a small step of velocities."""
    import casadi

    from eslabon.formulas.kinematics.tree import coordinate_rates
    from eslabon.model.configuration import normalize as tidy

    x = casadi.SX.sym("q", m.nq)
    N = np.array(casadi.Function("N", [x], [coordinate_rates(m, x)])(q))
    return tidy(m, q + N @ step)


@pytest.mark.parametrize("kind", CUTS)
def test_the_papers_formula_is_the_jacobian(kind):
    """Phi' = C^T (V_n - Ad_nm V_m) on closed loops (Yime, eq. 25), of the first mechanism above."""
    m, q = random_closed(seeded(0), TREE, [kind])
    loop = m.loops[0]

    def frame(end):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = end.at.rotation(), end.at.translation()
        pose = m.pose(q, end.body) @ T
        return pose, np.linalg.inv(es.algebra.adjoint(T)) @ m.jacobian(q, end.body)

    (T1, J1), (T2, J2) = frame(loop.first), frame(loop.second)
    X = np.linalg.inv(T1) @ T2
    relative = J2 - es.algebra.adjoint(np.linalg.inv(X)) @ J1
    C = np.asarray(loop.kind.covectors(X[:3, :3], X[:3, 3]))
    assert np.allclose(C.T @ relative, m.constraint_jacobian(q), atol=1e-12)


@pytest.mark.parametrize("name", CLOSED)
def test_the_library_assembles_and_completes(name, rng):
    m = es.load(name)
    home = close(m)
    places = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
    if not places:
        return
    values = home[places] + rng.uniform(-0.03, 0.03, (20, len(places)))
    q = m.assemble(values)
    assert np.abs(m.constraint(q)).max() < 1e-12
    assert np.array_equal(q[:, places], values)
    if m.dof != m.nu:
        return
    va, aa = rng.normal(size=(2, 20, m.nu))
    q, v, a = m.complete(values, va, aa)
    J = m.constraint_jacobian(q)
    assert np.abs(np.einsum("kij,kj->ki", J, v)).max() < 1e-10
    assert np.allclose(v[:, list(m.actuated_velocities)], va)
    if (
        m.nq == m.nv
    ):  # velocities and accelerations are rates of the coordinates along the assembled motion
        h = 1e-4
        ahead, behind = (m.assemble(values + s * h * va + h * h / 2 * aa, q) for s in (1, -1))
        assert np.allclose((ahead - behind) / (2 * h), v, rtol=1e-5, atol=1e-5)
        assert np.allclose(
            (ahead - 2 * q + behind) / h**2, a, rtol=1e-3, atol=1e-3 * np.abs(a).max()
        )


def test_yime_five_bar_positions():
    m = es.load("five_bar")
    t = np.array([0, 0.5, 1.0])
    qa = np.radians(np.stack([120 + 30 * np.sin(t), 60 - 30 * np.sin(t)], -1))
    va = np.radians(np.stack([30 * np.cos(t), -30 * np.cos(t)], -1))
    q, v, a = m.complete(qa, va, np.radians(np.stack([-30 * np.sin(t), 30 * np.sin(t)], -1)))
    assert np.allclose(q[:, 1], [-1.298996272, -1.668938714, -1.940857538], atol=1e-9)
    assert np.allclose(v[:, 1], [-0.777581488, -0.669321703, -0.398142848], atol=1e-9)
    assert np.allclose(a[:, 1], [0.013549226, 0.405174968, 0.647397241], atol=1e-9)


def test_a_parallel_robot_is_brought_to_a_pose(rng):
    for name in ("planar_3rrr", "stewart_gough", "delta"):
        m = es.load(name)
        frame = m.frames[0].name
        q = m.assemble(
            close(m)[[k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]]
            + rng.uniform(0, 0.04, (10, m.nu))
        )
        T = m.pose(q, frame)
        back = m.assemble(es.Target(frame, pose=T))
        assert np.abs(m.pose(back, frame) - T).max() < 1e-10
        assert np.abs(m.constraint(back)).max() < 1e-11
        actuated = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
        assert np.allclose(back[:, actuated], q[:, actuated], atol=1e-8)


def test_a_long_way_stays_on_the_branch():
    m = es.load("diaz_four_bar")
    turns = np.linspace(0.785, 0.785 + 2 * np.pi, 200)[:, None]
    far = m.assemble(turns)
    q = far[0]
    for k in range(200):  # the same, step by step
        q = m.assemble(turns[k], q)
        assert np.allclose(q, far[k], atol=1e-9)


def test_assembly_modes_of_a_four_bar_and_of_a_robot():
    m = es.load("diaz_four_bar")
    modes = m.assembly_modes([0.785])
    assert len(modes) == 2
    assert np.allclose(modes[0], close(m), atol=1e-2)
    assert np.abs(m.constraint(modes)).max() < 1e-10
    robot = es.load("planar_3rrr")
    ways = robot.assembly_modes(np.radians([30, 30, 30]))
    assert len(ways) >= 2
    assert np.abs(robot.constraint(ways)).max() < 1e-10


def test_redundant_rows_are_found():
    for name, rows in (
        ("planar_3rrr", 4),
        ("five_bar", 2),
        ("bennett", 2),
        ("sarrus", 4),
        ("stewart_gough", 15),
    ):
        m = es.load(name)
        p = partition(m)
        assert len(p.rows) == len(p.dependent) == rows
        assert len(p.independent) == m.dof
        assert set(m.actuated_velocities) == set(p.independent)
        J = jacobian_at(m, close(m))
        assert np.linalg.matrix_rank(J[list(p.rows)][:, list(p.dependent)]) == rows


def test_projection_is_nearest(rng):
    m = es.load("planar_3rrr")
    q, v, a = m.complete([0.6, 0.5, 0.55], [0.3, -0.2, 0.1], [1.0, 0, 2])
    q2, v2, a2 = m.project(
        q + 0.01 * rng.normal(size=7), v + 0.1 * rng.normal(size=7), a + rng.normal(size=7)
    )
    assert np.abs(m.constraint(q2)).max() < 1e-12
    J = m.constraint_jacobian(q2)
    assert np.abs(J @ v2).max() < 1e-12
    assert m.inverse_dynamics(q2, v2, a2).shape == (3,)
    same = m.project(q, v, a)
    assert all(np.allclose(x, y, atol=1e-12) for x, y in zip(same, (q, v, a), strict=True))


MISTAKES = [
    (lambda: es.load("planar_3rrr").assemble([3, 3, 0.1]), es.AssemblyError, "cannot be assembled with theta1, theta4, theta6 = 3, 3, 0.1: loop 'vertex1' is left open by .*this branch ends near theta1, theta4, theta6 = .*assembly_modes"),
    (lambda: es.load("planar_3rrr").assemble([[0.6] * 3, [3, 3, 0.1]]), es.AssemblyError, "1 of 2 configurations; this is number 1"),
    (lambda: es.load("planar_3rrr").assemble([0.6, 0.6]), es.ModelError, "have 3 coordinates; 2 values were given"),
    (lambda: es.load("planar_3rrr").assemble([0.6] * 3, guess=[0] * 5), es.EslabonError, "guess has 5 values"),
    (lambda: es.load("planar_3rrr").assemble({"thetaa1": 0.6}), es.ModelError, "did you mean 'theta1'?"),
    (lambda: es.load("planar_3rrr").assemble(np.zeros((3, 3)), guess=np.zeros((4, 7))), es.InputError, "do not fit together; give one"),
    (lambda: es.load("planar_3rrr").assemble({"theta1": [0.6, 0.7], "theta4": [0.6] * 3}), es.InputError, "do not fit together"),
    (lambda: es.load("planar_3rrr").assemble([0.6] * 3, joints=("theta1",)), es.ModelError, "assemble has no option 'joints'"),
    (lambda: es.load("planar_3rrr").assemble([0.6] * 3, singular=True), es.ModelError, "singular is 'error', 'warn' or 'ignore'"),
    (lambda: es.load("planar_3rrr").assemble(np.zeros((0, 3)), continuation=True), es.ModelError, "at least one row"),
    (lambda: es.load("planar_3rrr").project(np.zeros(7), None, np.zeros(7)), es.ModelError, "make no sense without velocities"),
    (lambda: es.load("planar_3rrr").conditions("abc"), es.EslabonError, "real numbers"),
    (lambda: es.load("five_bar").workspace(ranges={"theta2": ("a", "b")}), es.EslabonError, "the range of 'theta2'"),
    (lambda: es.load("five_bar").forward_dynamics(es.load("five_bar").project(es.load("five_bar").home()), np.zeros(4), [0, 0], out=np.zeros(2)), es.EslabonError, r"has shape \(2,\)"),
    (lambda: es.load("five_bar").inverse_dynamics(np.zeros(4), np.zeros(4), np.zeros(4), threads="a"), es.EslabonError, "threads is a whole number"),
    (lambda: es.load("planar_3rrr").assemble("abc"), es.EslabonError, "real numbers"),
    (lambda: es.load("planar_3rrr").determined_reactions(np.zeros((2, 7))), es.ModelError, "one configuration"),
    (lambda: es.load("planar_3rrr").assemble([np.nan] * 3), es.EslabonError, "not finite"),
    (lambda: es.load("planar_3rrr").assemble(es.Target(pose=np.eye(3))), es.InputError, "4x4 matrix"),
    (lambda: es.load("planar_3rrr").assemble(es.Target("centre", pose=far())), es.AssemblyError, "cannot bring 'centre' to this target"),
    (lambda: es.load("planar_3rrr").complete({"theta1": 0.55}, [1], [0]), es.ModelError, "theta1 does not determine the motion of planar_3rrr: 2 more degrees of freedom"),
    (lambda: es.load("puma560").complete([0] * 6, [0] * 6, [0] * 6), es.ModelError, "has no loops"),
    (lambda: es.load("planar_3rrr").complete({f"theta{k}": 0.5 for k in range(1, 8)}, [0.5] * 7, [0.5] * 7), es.AssemblyError, "cannot be assembled"),
]  # fmt: skip


def far():
    T = np.eye(4)
    T[0, 3] = 10
    return T


@pytest.mark.parametrize(("call", "kind", "sentence"), MISTAKES)
def test_refusals_say_what_and_where(call, kind, sentence):
    with pytest.raises(kind, match=sentence):
        call()


def test_a_singular_posture_is_refused():
    m = es.load("parallelogram")
    with pytest.raises(es.SingularityError, match="singular configuration"):
        m.complete([0.0], [1.0], [0.0], guess=np.zeros(3))


def test_leaving_the_branch_is_said():
    m = es.load("parallelogram")
    with pytest.warns(
        es.SingularityWarning, match="parallelogram has passed a singular configuration"
    ):
        m.assemble([-0.5])


# -- branches and modes -------------------------------------------------------------------------------------------------


def test_a_mode_is_found_named_kept_and_saved(tmp_path):
    m = es.load("five_bar")
    modes = m.assembly_modes([2.0, 1.0])
    assert len(modes) == 2
    kept = m.with_mode("crossed", modes[1])
    q = kept.assemble([2.1, 1.1], guess="crossed")
    assert np.abs(m.constraint(q)).max() < 1e-12
    assert np.abs(q - modes[1]).max() < 0.5 < np.abs(q - m.assemble([2.1, 1.1])).max()
    again = es.load(kept.save(tmp_path / "x.toml"))
    assert again == kept
    assert np.array_equal(again.modes["crossed"], modes[1])
    assert m.modes == {}
    with pytest.raises(es.ModelError, match="did you mean 'crossed'"):
        kept.assemble([2.0, 1.0], guess="crosed")
    with pytest.raises(es.ModelError, match="needs one configuration of 4 finite coordinates"):
        m.with_mode("short", [1.0])


def test_a_pose_has_its_working_modes():
    m = es.load("planar_3rrr")
    modes = m.assembly_modes(
        es.Target("centre", pose=m.pose(m.assemble([0.6, 0.5, 0.55]), "centre"))
    )
    assert len(modes) == 8  # two elbows in each of the three legs
    assert np.abs(m.constraint(modes)).max() < 1e-10
    assert np.allclose(m.pose(modes, "centre"), m.pose(modes[0], "centre"), atol=1e-9)


def test_a_motion_follows_row_by_row_where_the_straight_way_is_blocked():
    """A crank that turns twice: no posture may be sought from home alone, angles go on counting."""
    m = es.load("diaz_four_bar")
    t = np.linspace(0, 4 * np.pi, 2001)
    q = m.assemble((0.785 + t)[:, None], continuation=True)
    assert np.abs(m.constraint(q)).max() < 1e-12
    assert np.abs(np.diff(q, axis=0)).max() < 0.1
    assert np.allclose(q[1000, 1:] % (2 * np.pi), q[0, 1:] % (2 * np.pi), atol=1e-9)
    many = m.assemble(np.stack([0.785 + t[:50], 1.0 - t[:50]])[..., None], continuation=True)
    assert np.allclose(many[0], q[:50])
    pose = m.pose(
        m.assemble(np.linspace(0.7, 0.9, 30)[:, None]),
        m.frames[0].name if m.frames else m.bodies[1].name,
    )
    back = m.assemble(
        es.Target(m.frames[0].name if m.frames else m.bodies[1].name, pose=pose), continuation=True
    )
    assert np.abs(np.diff(back, axis=0)).max() < 0.1


def test_the_parallelogram_passes_its_change_point_as_told():
    m = es.load("parallelogram")
    motion = np.linspace(1.0, -1.0, 41)[:, None]
    with pytest.warns(es.SingularityWarning, match="between rows 19 and 20|between rows 20 and 21"):
        q = m.assemble(motion, continuation=True)
    assert np.allclose(q[:, 0], q[:, 2], atol=1e-9)  # it stays a parallelogram: both cranks alike
    with pytest.raises(es.SingularityError, match="passes a singular configuration"):
        m.assemble(motion, continuation=True, singular="error")
    np.testing.assert_allclose(
        m.assemble(motion, continuation=True, singular="ignore"), q, atol=1e-9
    )
    with pytest.raises(es.ModelError, match="'error', 'warn' or 'ignore'"):
        m.assemble(motion, continuation=True, singular="loud")


def test_velocities_at_a_singular_posture_are_given_on_request():
    m = es.load("parallelogram")
    with pytest.warns(es.SingularityWarning, match="singular configuration for these values of q1"):
        q, v, a = m.complete([0.0], [0.0], [1.0], guess=np.zeros(3), singular="warn")
    assert np.abs(v).max() == 0
    assert np.abs(m.constraint_jacobian(q) @ a).max() < 1e-9
    with pytest.raises(es.SingularityError, match="branches of parallelogram meet"):
        m.complete([0.0], [1.0], [0.0], guess=np.zeros(3), singular="ignore")


def test_idle_spins_rest_on_request():
    """The rod of the spatial four-bar between its ball joints may spin: nothing drives it."""
    m = es.load("rssr")
    q, v, a = m.complete([0.1], [1.0], [0.5], passive="minimum_norm")
    J = m.constraint_jacobian(q)
    assert np.abs(J @ v).max() < 1e-12
    tau, free = m.hybrid_dynamics(q, v, a)
    assert np.allclose(m.forward_dynamics(q, v, tau), free, atol=1e-8)
    assert free[m.actuated_velocities[0]] == pytest.approx(0.5)
    idle = np.linalg.svd(J)[2][
        -m.dof :
    ]  # of the motions that keep the loops, v is the one that turns least
    spin = idle - np.outer(idle[:, m.actuated_velocities[0]], v)
    assert np.abs(spin @ v).max() < 1e-9


def test_a_guess_half_a_turn_off_closes_all_the_same():
    b = es.Builder("pole")
    b.body("crank", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1)).body(
        "rod", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1)
    )
    b.body("rocker", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
    b.joint("q1", "revolute", "ground", "crank", home=1.0).joint(
        "q2", "revolute", "crank", "rod", at=(1, 0, 0)
    )
    b.joint("q3", "revolute", "ground", "rocker", at=(2, 0, 0), home=1.2)
    b.joint("q4", "revolute", "rocker", "end", at=(1.5, 0, 0), home=-0.2)
    b.body("end", 0.1, (0, 0, 0), (0.01, 0.01, 0.01))
    b.loop("weld", "fixed", "rod", "end", first=(1.8, 0, 0), second=((0, 0, 0), (0, 0, np.pi)))
    m = b.build()
    q = m.project(m.home())
    assert np.abs(m.constraint(q)).max() < 1e-10


def test_what_nothing_drives_makes_no_new_way_of_closing():
    m = es.load("rssr")  # its rod may spin
    assert len(m.assembly_modes([0.1])) == 2
    d = es.load("diaz_four_bar").description
    b = es.Builder("afloat")
    b.body("base", 1.0, (0, 0, 0), (0.1, 0.1, 0.1)).joint("float", "free", "ground", "base")
    for body in d.bodies:
        b.body(body.name, 1.0, (0.1, 0, 0), (0.01, 0.01, 0.01))
    m4 = es.load("diaz_four_bar")
    for joint in m4.joints:
        parent = "base" if joint.parent == "ground" else joint.parent
        b.joint(joint.name, "revolute", parent, joint.child, at=joint.at, axis="z", home=joint.home)
    for loop in m4.loops:
        first, second = (
            "base" if e.body == "ground" else e.body for e in (loop.first, loop.second)
        )
        b.loop(
            loop.name,
            "revolute",
            first,
            second,
            first=loop.first.at,
            second=loop.second.at,
            axis="z",
        )
    afloat = b.actuate(m4.actuated[0]).build()
    assert len(afloat.assembly_modes([0.8])) == len(m4.assembly_modes([0.8])) == 2


def test_the_nearest_value_is_the_nearest():
    """A rocker of a four-bar turns up to where crank and coupler are in line."""
    b = es.Builder("four")
    for name, length in (("crank", 0.1), ("coupler", 0.35), ("rocker", 0.25)):
        b.body(name, 1.0, (length / 2, 0, 0), (0.001, 0.01, 0.01))
    b.joint("a", "revolute", "ground", "crank", home=1.0).joint(
        "b", "revolute", "crank", "coupler", at=(0.1, 0, 0), home=-0.5
    )
    b.joint("c", "revolute", "ground", "rocker", at=(0.3, 0, 0), home=1.5)
    b.loop("pin", "revolute", "coupler", "rocker", first=(0.35, 0, 0), second=(0.25, 0, 0))
    m = b.actuate("a").build()
    with pytest.raises(es.AssemblyError, match="this branch ends near c = ") as caught:
        m.assemble({"c": 3.0})
    told = float(str(caught.value).split("ends near c = ")[1].split(";")[0])
    reach = [
        x
        for x in np.linspace(0, np.pi, 20001)
        if abs(0.1 - 0.35) <= np.hypot(0.3 + 0.25 * np.cos(x), 0.25 * np.sin(x)) <= 0.45
    ]
    assert told == pytest.approx(max(reach), abs=2e-3)


def test_rates_that_are_left_out_are_zero():
    m = es.load("five_bar")
    q, v, a = m.complete([2.0, 1.0])
    assert np.array_equal(q, m.assemble([2.0, 1.0]))
    assert not np.any([v, a])
    _, v, a = m.complete([2.0, 1.0], [1.0, 0.5])
    assert np.array_equal(v, m.complete([2.0, 1.0], [1.0, 0.5], [0.0, 0.0])[1])
