"""Continuation gives what a path refined a hundred times gives, and tells of singular configurations where they are."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from eslabon.solve.constraints.closed_configurations import close
from library_names import DETERMINED
from randomness import examples, seeds


def actuated(m):
    return [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]


def refined(x, times):
    """The same straight ways with more rows."""
    rows = np.arange(len(x))
    fine = np.linspace(0, len(x) - 1, (len(x) - 1) * times + 1)
    return np.stack([np.interp(fine, rows, column) for column in x.T], axis=-1)


def continued(m, x):
    """The motion, or what stands in its way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", es.SingularityWarning)
        try:
            return m.assemble(x, continuation=True, limits=False)
        except (es.SingularityWarning, es.AssemblyError) as error:
            return type(error)


def sine(m, rng, rows):
    """A random sine of the actuators from home on."""
    t, n = np.linspace(0, 1, rows)[:, None], m.nu
    size = np.where([m.joint(j).kind.kind == "prismatic" for j in m.actuated], 0.08, 0.6)
    return close(m)[actuated(m)] + size * rng.uniform(-1, 1, n) * np.sin(
        2 * np.pi * t * rng.uniform(0.3, 1.5, n)
    )


@pytest.mark.parametrize("name", DETERMINED)
@examples(12)
@given(seed=seeds, rows=st.integers(3, 40))
def test_the_spacing_of_rows_changes_nothing(library, name, seed, rows):
    m = library(name)
    x = sine(m, np.random.default_rng(seed), rows)
    coarse, fine = continued(m, x), continued(m, refined(x, 100))
    if isinstance(coarse, type) or isinstance(fine, type):
        assert isinstance(
            coarse, type
        )  # both meet a singular configuration or the end of the branch
        assert isinstance(fine, type)
    else:
        assert np.allclose(coarse, fine[::100], rtol=0, atol=1e-7)


def test_far_from_singular_a_motion_stays_on_its_branch():
    m = es.load("five_bar")
    t = np.arange(10) / 10
    x = np.radians(
        np.stack([120 + 20 * np.sin(2 * np.pi * t), 60 - 20 * np.sin(2 * np.pi * t)], axis=-1)
    )
    q = continued(m, x)
    assert np.allclose(q[5], q[0], atol=1e-9)  # half a period later it is where it was
    assert np.all(m.conditions(q).sign == m.conditions(q).sign[0])
    one_by_one = [m.assemble(row, q[0]) for row in x]
    assert np.allclose(one_by_one, q, atol=1e-9)


@pytest.mark.parametrize("rows", [2, 3, 10, 44, 300])
def test_a_change_point_is_told_where_it_is(rows):
    """The parallelogram is flat at q1 = 0, and nowhere else on this motion."""
    m = es.load("parallelogram")
    x = np.linspace(0.9, -1.1, rows)[:, None]
    with pytest.warns(es.SingularityWarning) as told:
        q = m.assemble(x, continuation=True)
    assert len(told) == 1
    row = int(np.flatnonzero(x[:, 0] > 0)[-1])
    near = float(str(told[0].message).split("q1 = ")[1].split(")")[0])
    assert f"between rows {row} and {row + 1}" in str(told[0].message)
    assert abs(near) < 1e-3
    assert np.allclose(q[:, 2], q[:, 0], atol=1e-7)  # straight on: both cranks alike
    assert not isinstance(continued(m, np.linspace(0.9, 0.001, rows)[:, None]), type)


def test_a_near_miss_is_no_crossing():
    """A four-bar that is nearly a parallelogram turns sharply beside its change point, and is followed through the turn."""
    b = es.Builder("nearly")
    for name in ("crank", "rod", "rocker"):
        b.body(name, 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
    b.joint("q1", "revolute", "ground", "crank", home=1.0).joint(
        "q2", "revolute", "crank", "rod", at=(1, 0, 0), home=-1.0
    )
    b.joint("q3", "revolute", "ground", "rocker", at=(2, 0, 0), home=1.0)
    b.loop(
        "l", kind="revolute", body_a="rod", first=(2, 0, 0), body_b="rocker", second=(1.01, 0, 0)
    ).actuate("q1")
    m = b.build()
    x = np.linspace(1.0, -1.0, 5)[:, None]
    coarse, fine = continued(m, x), continued(m, refined(x, 2000))
    assert not isinstance(coarse, type)
    assert np.allclose(coarse, fine[::2000], atol=1e-7)
    assert (
        np.abs(coarse[-1, 2] - coarse[-1, 0]) > 0.5
    )  # it has turned to the antiparallelogram's side


def test_an_end_of_the_branch_is_refused_or_told():
    m = es.load("planar_3rrr")
    with pytest.raises(es.AssemblyError, match="cannot be assembled"):
        m.assemble(np.linspace(close(m)[actuated(m)], [3, 3, 0.1], 20), continuation=True)


def test_poses_are_followed_straight():
    m = es.load("planar_3rrr")
    begin = m.assemble([0.6, 0.5, 0.55])
    T = np.tile(m.pose(begin, "centre"), (4, 1, 1))
    T[:, 0, 3] += [0, 0.03, 0.0, -0.03]
    coarse = m.assemble(es.Target("centre", pose=T), guess=begin, continuation=True)
    shares = np.linspace(0, 3, 301)
    fine = np.tile(T[0], (301, 1, 1))
    fine[:, 0, 3] = np.interp(shares, range(4), T[:, 0, 3])
    assert np.allclose(
        coarse,
        m.assemble(es.Target("centre", pose=fine), guess=begin, continuation=True)[::100],
        atol=1e-8,
    )


# -- limits -------------------------------------------------------------------------------------------------------------


def test_loops_keep_their_limits():
    robot, delta = es.load("stewart_gough"), es.load("delta")
    T = np.eye(4)
    T[2, 3] = 50.0
    target = es.Target(robot.frames[0].name, pose=T)
    with pytest.raises(
        es.AssemblyError,
        match=r"'slide\d' at 5\d\.\d+ m, beyond its limits 0.5 to 0.85.*limits=False",
    ):
        robot.assemble(target)
    with pytest.raises(
        es.InverseKinematicsError, match=r"does not reach this target .* within its limits"
    ):
        robot.inverse_kinematics(target)
    assert robot.inverse_kinematics(target, limits=False).max() > 50
    for call in (
        delta.assemble,
        delta.assembly_modes,
        lambda x, **k: delta.complete(x, [0] * 3, [0] * 3, **k),
    ):
        with pytest.raises(
            es.AssemblyError, match=r"'arm1' at 1.6 rad, beyond its limits .* limits=False"
        ):
            call([1.6] * 3)
    assert np.allclose(delta.assemble([1.6] * 3, limits=False)[actuated(delta)], 1.6)
    turned = delta.assemble([0.5 + 2 * np.pi, 0.5, 0.5])  # a whole turn off is the same place
    assert np.allclose(turned[actuated(delta)], 0.5)


def test_passive_limits_count_too():
    d = es.load("five_bar")
    b = es.Builder("limited")
    for body in d.bodies:
        b.body(body.name, 1.0, (0, 0, 0), (1.0, 1.0, 1.0))
    free = d.assemble([2.0, 1.0])
    low = float(free[1])
    for k, j in enumerate(d.joints):
        b.joint(
            j.name,
            "revolute",
            j.parent,
            j.child,
            at=j.at,
            home=float(free[k]),
            limits=(low - 0.1, low + 0.1) if k == 1 else None,
        )
    loop = d.loops[0]
    b.loop(
        loop.name,
        kind="revolute",
        body_a=loop.first.body,
        first=loop.first.at,
        body_b=loop.second.body,
        second=loop.second.at,
    )
    m = b.actuate(*d.actuated).build()
    assert np.allclose(m.assemble([2.0, 1.0]), free)
    with pytest.raises(
        es.AssemblyError, match=f"only with '{d.joints[1].name}' at .* limits=False"
    ):
        m.assemble([2.4, 0.7])
    assert np.allclose(m.assemble([2.4, 0.7], limits=False), d.assemble([2.4, 0.7]))
    reached = m.workspace(m.bodies[-1].name, samples=200).q[:, 1]
    assert reached.min() >= low - 0.1 - 1e-9
    assert reached.max() <= low + 0.1 + 1e-9
    with pytest.raises(es.AssemblyError, match="limits=False"):
        m.assembly_modes([2.4, 0.7])


# -- what cannot close ----------------------------------------------------------------------------------------------------


def test_a_big_mechanism_that_cannot_close_says_by_how_much_and_where():
    """Eighty-eight bodies in eleven loops, one of which is too long by three metres."""
    b, k = es.Builder("big"), 0
    for i in range(11):
        parent = "ground"
        for j in range(8):
            k += 1
            b.body(f"b{k}", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
            b.joint(
                f"j{k}",
                "revolute",
                parent,
                f"b{k}",
                axis="xyz"[j % 3],
                at=(0.1, 0, 0) if j else (0, 0.3 * i, 0),
                home=0.1,
            )
            parent = f"b{k}"
        far = 3.8 if i == 4 else 0.75
        b.loop(
            f"loop{i}",
            kind="spherical",
            body_a=parent,
            first=(0.1, 0, 0),
            body_b="ground",
            second=(far, 0.3 * i, 0),
        )
    m = b.actuate("j1").build()
    for call in (lambda: m.assemble([0.0]), lambda: m.project(m.home())):
        with pytest.raises(es.AssemblyError) as refusal:
            call()
        assert "'loop4'" in str(refusal.value)
        left = float(str(refusal.value).split(" by ")[1].split()[0])
        assert 2.5 < left < 3.5
