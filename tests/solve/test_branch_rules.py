"""What assembly promises of branches: held coordinates, redundant rows, crossings, guesses, the time."""

import warnings
from dataclasses import replace

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.solve import branch_assembly
from eslabon.solve.branch_kernels import ADVANCE
from eslabon.solve.constraints.closed_configurations import comparable_jacobian_at
from eslabon.solve.prescribed import actuated
from library_names import DETERMINED


def coordinates(m, joints):
    return [k for j in joints for k in range(m.nq)[m.coordinates[j]]]


def four_bar(offset=0.0, limits=None):
    """A planar four-bar whose last hinge is off its plane by `offset`."""
    b = es.Builder("four_bar")
    for name in ("crank", "rod", "rocker"):
        b.body(name, mass=1.0)
    b.joint("crank", "revolute", "ground", "crank", home=1.0, limits=limits)
    b.joint("elbow", "revolute", "crank", "rod", at=(1, 0, 0), home=-0.8)
    b.joint("rocker", "revolute", "ground", "rocker", at=(3, 0, 0), home=1.4)
    b.loop("tip", "revolute", "rod", "rocker", first=(3, 0, 0), second=(2.2, 0, offset))
    return b.actuate("crank").build()


# -- held coordinates ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DETERMINED)
def test_prescribed_coordinates_are_returned_as_they_were_given(library, name, rng):
    """They are no unknowns: not one bit of them changes, near and far, alone and along a motion."""
    m = library(name)
    places = coordinates(m, m.actuated)
    home = m.project(m.home())
    size = np.where([m.joint(j).kind.kind == "prismatic" for j in m.actuated], 0.01, 0.05)
    x = home[places] + size * rng.uniform(-1, 1, (6, len(places)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.SingularityWarning)
        for given in (x, x[0]):
            np.testing.assert_array_equal(m.assemble(given, home, limits=False)[..., places], given)
        motion = m.assemble(x, home, limits=False, continuation=True)
    np.testing.assert_array_equal(motion[:, places], x)


def test_a_motion_is_shifted_by_whole_turns_as_a_whole():
    """Row by row it would jump by a turn where it meets the limit."""
    m = four_bar(limits=(-3.5, 3.5))
    x = np.linspace(3.6, 4.5, 7)[:, None]
    q = m.assemble(x, continuation=True)
    np.testing.assert_allclose(q[:, 0], x[:, 0] - 2 * np.pi, rtol=0, atol=1e-12)
    with pytest.raises(es.AssemblyError, match="beyond its limits"):
        m.assemble(np.linspace(3.0, 4.0, 7)[:, None], continuation=True)


# -- redundant rows --------------------------------------------------------------------------------


def test_all_rows_are_checked_where_independent_ones_are_solved():
    """Of the five rows of a hinge three are independent in a planar loop. Those across its plane are
    not solved for, and yet a loop that is open across the plane is refused."""
    m = four_bar()
    q = m.assemble([1.2])
    assert np.abs(m.constraint(q)).max() < 1e-12
    for offset in (1e-3, 1e-5):
        with pytest.raises(es.AssemblyError, match=r"does not close|cannot be assembled"):
            four_bar(offset).assemble([1.2])


def test_rows_that_are_redundant_on_the_manifold_alone_stay_in_the_equations():
    """Which rows of Bennett's loop follow from the others changes with the configuration."""
    m = es.load("bennett")
    x = np.linspace(0, 2 * np.pi, 41)[:, None] + m.home()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.SingularityWarning)
        q = m.assemble(x, continuation=True)
    assert np.abs(m.constraint(q)).max() < 1e-10
    np.testing.assert_allclose(np.sin(q[-1] - q[0]), 0, atol=1e-6)  # after a turn it is back


# -- along a branch --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "stewart_gough"])
def test_a_way_is_regular_as_far_as_the_pivots_of_its_jacobians_say(name):
    """With A at the knot and B at the end, (1 - t) A + t B is regular for t from 0 to 1 if the
    symmetric part of A^+ B has positive pivots; the least of them is what the native code gives."""
    m = es.load(name)
    problem, q = actuated(m), m.project(m.home())
    free = problem.free(m)
    dx = np.full(problem.size(m), 0.02)
    x = q[problem.coordinates(m)] + dx
    to, good, _, _, regular = evaluate(m, ADVANCE, problem=problem)(q, x, dx, 1.0)
    assert good > 0
    A, B = (comparable_jacobian_at(m, y)[:, free] for y in (q, to))
    both = np.linalg.pinv(A) @ B
    pivots = np.array(casadi.DM(casadi.ldl(casadi.DM(both + both.T) / 2, False)[0]))
    assert regular == pytest.approx(pivots.min(), rel=1e-6)
    along = [np.linalg.svd((1 - t) * A + t * B, compute_uv=False)[-1] for t in np.linspace(0, 1, 9)]
    assert min(along) > 0.35 * np.linalg.svd(A, compute_uv=False)[-1]


def test_a_change_point_is_passed_once_and_its_values_are_told():
    """After the stride over it the way goes on in small steps: the rows after it are on one branch."""
    m = es.load("parallelogram")
    x = np.linspace(0.4, -0.4, 9)[:, None]
    with pytest.warns(es.SingularityWarning) as told:
        q = m.assemble(x, continuation=True)
    assert len(told) == 1
    again = m.assemble(x[::-1][:4], q[-1], continuation=True)  # back again, without passing it
    np.testing.assert_allclose(again, q[::-1][:4], atol=1e-9)


def test_where_more_is_prescribed_than_can_move_rows_must_fit_and_ways_need_not():
    """Motors and a passive joint of a robot together: between rows only the loops are closed."""
    m = es.load("planar_3rrr")
    others = [j.name for j in m.joints if j.name not in m.actuated]
    names = (*m.actuated, others[0])
    places = coordinates(m, m.actuated)
    start = m.project(m.home())
    x = start[places] + np.linspace(0, 1, 5)[:, None] * [0.2, -0.15, 0.1]
    q = m.assemble(x, start, continuation=True)
    given = {name: q[:, m.coordinates[name]][:, 0] for name in names}
    found = m.assemble(given, start, continuation=True)
    np.testing.assert_allclose(found, q, atol=1e-9)
    given[others[0]] = given[others[0]] + 0.01
    with pytest.raises(es.AssemblyError, match="planar_3rrr"):
        m.assemble(given, start, continuation=True)


# -- guesses and designs ---------------------------------------------------------------------------


def test_a_guess_that_closes_its_own_design_stays_in_it():
    m = es.load("five_bar")
    for L3 in (0.09, 0.12):
        own = m.variant(L3=L3).assemble([2.0, 1.0])
        found = m.assemble([2.0, 1.0], own, parameters={"L3": L3})
        np.testing.assert_allclose(found, own, rtol=0, atol=1e-12)


def test_a_guess_that_closes_the_described_design_leads_from_there():
    """The branch is that of the guess, whatever the design: the design moves along."""
    m = es.load("five_bar")
    modes = m.assembly_modes([2.0, 1.0])
    for guess in modes:
        found = m.assemble([2.0, 1.0], guess, parameters={"L3": np.linspace(0.1, 0.13, 4)})
        assert (np.sign(np.sin(found[:, 1])) == np.sign(np.sin(guess[1]))).all()
        np.testing.assert_allclose(found[0], guess, atol=1e-9)


def test_of_which_design_a_guess_is():
    """A guess that closes neither is of the described design, unless it violates that ten times more
    than the lane's own."""
    m = es.load("five_bar")
    task = branch_assembly.Assembly(m, actuated(m), branch_assembly.Ranges.of(m))
    designs = branch_assembly.designs_of(m, {"L3": 0.12}, True)
    designs = replace(designs, values=np.atleast_2d(designs.values))
    q, own = m.assemble([2.0, 1.0]), m.variant(L3=0.12).assemble([2.0, 1.0])
    for guess, L3 in ((q + 1e-6, 0.1), (q + 0.3, 0.1), (own + 1e-6, 0.12), (own + 0.3, 0.1)):
        _, taken = task.started(guess[None], designs)
        assert float(taken.values[0, 0]) == pytest.approx(L3)


def test_one_guess_for_all_lanes_is_closed_once(monkeypatch):
    m = es.load("planar_3rrr")
    seen, closed = [], branch_assembly.Assembly._closed

    def counted(self, holding, q, guess, designs):
        seen.append(len(q))
        return closed(self, holding, q, guess, designs)

    home = m.project(m.home())
    monkeypatch.setattr(branch_assembly.Assembly, "_closed", counted)
    x = home[coordinates(m, m.actuated)] + np.linspace(0, 0.1, 50)[:, None]
    m.assemble(x, home + 0.01)
    assert seen == [1]


def test_the_time_never_travels():
    """At any instant a driven mechanism is assembled there, and not on a way from another instant."""
    m = driven_slide()
    guess = m.at_time(0.0).home()
    for t in (0.3, 7.1, 5000.3):
        own = m.at_time(t)
        np.testing.assert_array_equal(m.assemble(guess=guess, t=t), own.assemble(guess=guess))
    times = np.array([0.3, 5000.3, 0.3])
    q = m.assemble(guess=guess, t=times)
    np.testing.assert_array_equal(q[0], q[2])


def driven_slide():
    """A slider-crank whose crank turns by 0.5 + 2 t."""
    b = es.Builder("driven")
    for name in ("crank", "rod", "block"):
        b.body(name, 1.0, (0.05, 0, 0), (0.01, 0.01, 0.01))
    b.joint("q1", "revolute", "ground", "crank", home=0.5)
    b.joint("q2", "revolute", "crank", "rod", at=(0.1, 0, 0), home=-0.7)
    b.joint("slide", "prismatic", "ground", "block", axis="x", home=0.38)
    b.loop("pin", "revolute", "rod", "block", first=(0.3, 0, 0))
    return b.drive("motor", "q1", "0.5 + 2*t").build()


# -- native code -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar_3rrr", "delta"])
def test_the_newton_step_is_in_native_code_once(name):
    """Five corrections along a branch call one function; written out they were five times the code."""
    from eslabon.compiler.formula import requested
    from eslabon.compiler.trace import trace

    m = es.load(name)
    graph = trace(m, requested(m, ADVANCE, {"problem": actuated(m)}))
    functions = [f.name() for f in graph.find_functions()]
    assert functions.count("newton_step") == 1
    calls = [graph.instruction_id(k) for k in range(graph.n_instructions())]
    assert calls.count(casadi.OP_CALL) >= 5
