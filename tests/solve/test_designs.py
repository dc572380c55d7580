"""Batches over parameters that change geometry: what each design gives is what the mechanism with these parameters gives."""

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from eslabon.model import Pose
from eslabon.model.parameter_expressions import number
from eslabon.model.poses import End
from eslabon.solve.constraints.independent_coordinates import partition_at
from eslabon.solve.designs import depended_on
from random_mechanisms import random_closed
from randomness import seeded

LENGTHS = {
    "five_bar": ("L1", "L2", "L3"),
    "planar_3rrr": ("L", "r_ee"),
    "delta": ("r_base", "L_rod"),
    "rssr": ("r", "l"),
    "spatial_four_bar": ("L1", "L3"),
    "slider_crank": ("r", "l"),
}
COUNT = 2


def lengths(m, names, spread=0.06, count=COUNT, seed=0):
    """Designs around the described one."""
    rng = seeded(seed)
    return {name: m.parameters[name] * rng.uniform(1 - spread, 1 + spread, count) for name in names}


def design(parameters, k):
    return {name: float(x[k]) for name, x in parameters.items()}


def alone(m, parameters, k):
    """A mechanism with the parameters of one design: the last one built anew, the others as variants, which share code."""
    own = design(parameters, k)
    return m.with_parameters(**own) if k == COUNT - 1 else m.variant(**own)


def actuated(m, off=0.1):
    return m.assemble({})[list(m.actuated_coordinates)] + off


@pytest.mark.parametrize(
    "name", sorted(LENGTHS.keys() - {"delta"})
)  # whose designs are brought to poses below
def test_each_design_is_that_of_the_mechanism_with_these_parameters(name, rng):
    m = es.load(name)
    parameters, qa = lengths(m, LENGTHS[name]), actuated(m)
    va, aa = rng.normal(size=(2, m.nu))
    passive = {"passive": "minimum_norm"} if name == "rssr" else {}
    q, v, a = m.complete(qa, va, aa, parameters=parameters, **passive)
    assert np.abs(m.constraint(q, parameters=parameters)).max() < 1e-12
    assert np.ptp(q, axis=0).max() > 1e-3  # the passive joints do follow
    near = q + 0.01 * rng.normal(size=q.shape)
    projected = m.project(near, v, a, parameters=parameters)
    found, ellipsoid = (
        m.conditions(q, parameters=parameters),
        m.manipulability(q, parameters=parameters, frame=m.bodies[-1].name),
    )
    for k in range(COUNT):
        own = alone(m, parameters, k)
        guess = q[k] if passive else q[k] + 1e-3  # the spin of a rod is as the guess has it
        expected = own.complete(qa, va, aa, guess=guess, **passive)
        for mine, theirs in zip((q[k], v[k], a[k]), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)
        for mine, theirs in zip(projected, own.project(near[k], v[k], a[k]), strict=True):
            np.testing.assert_allclose(mine[k], theirs, rtol=1e-8, atol=1e-8)
        judged = own.conditions(q[k])
        np.testing.assert_allclose(
            [found.parallel[k], found.serial[k]], [judged.parallel, judged.serial], rtol=1e-8
        )
        assert found.mobility[k] == judged.mobility
        np.testing.assert_allclose(ellipsoid.lengths[k], own.manipulability(q[k], frame=m.bodies[-1].name).lengths, rtol=1e-8)  # fmt: skip
        np.testing.assert_allclose(
            ellipsoid.position[k], own.pose(q[k], m.bodies[-1].name)[:3, 3], atol=1e-12
        )


def moved(seed, kinds, cuts):
    """A random closed mechanism of which a cut joint's place depends on the parameter s, and a mass."""
    m, q = random_closed(seeded(seed), kinds, cuts)
    d = m.description
    loop, body = d.loops[0], d.bodies[-1]
    x, y, z = loop.first.at.position
    shifted = End(loop.first.body, Pose((number(f"{float(x)!r} + s"), y, z), loop.first.at.rpy))
    heavier = replace(body, mass=number(f"{float(body.mass)!r} + s*s"))
    loops = (replace(loop, first=shifted), *d.loops[1:])
    return es.Mechanism(
        replace(d, parameters=(("s", 0.0),), loops=loops, bodies=(*d.bodies[:-1], heavier))
    ), q


def determined(kinds, cuts):
    """The first such mechanism whose joints of one degree of freedom determine the others, and these joints."""
    for seed in range(40):
        m, q = moved(seed, kinds, cuts)
        single = [j.name for j in m.joints if j.nv == 1]
        chosen = partition_at(m, q, tuple(m.velocity_index(name) for name in single)).independent
        held = tuple(name for name in single if m.velocity_index(name) in chosen)
        J = m.constraint_jacobian(q)[:, [k for k in range(m.nv) if k not in chosen]]
        if len(held) == len(chosen) and np.linalg.cond(J) < 50 and "s" in depended_on(m, ("s",)):
            return m, q, held
    raise AssertionError(kinds)


@pytest.mark.parametrize(
    ("kinds", "cuts"),
    [
        (["revolute"] * 8, ["spherical"]),
        (["revolute", "spherical", "revolute", "prismatic", "revolute"], ["universal"]),
        (["revolute", "universal", "prismatic", "helical", "revolute"], ["spherical"]),
        (["revolute", "cylindrical", "revolute", "helical"], ["universal"]),
        (["planar", "revolute", "prismatic", "helical"], ["universal"]),
    ],
)
def test_random_closed_mechanisms_stay_on_their_branch(kinds, cuts):
    """The designs of a batch are where a chain of mechanisms, each assembled from the one before, leads."""
    m, q, held = determined(kinds, cuts)
    places = [m.index(name) for name in held]
    s = np.array([-0.06, 0.0, 0.04])
    given = dict(zip(held, q[places], strict=True))
    found = m.assemble(given, q, parameters={"s": s}, report=True).q
    left = np.abs(m.constraint(found, parameters={"s": s})).max(axis=-1)
    assert np.allclose(found[..., places], q[places])
    assert left[1] < 1e-10
    for k, end in enumerate(s):
        if left[k] > 1e-10:
            continue
        here = q
        for part in np.linspace(0.0, end, 13)[1:]:
            here = m.variant(s=part).assemble(given, here, singular="ignore")
        np.testing.assert_allclose(found[k], here, atol=1e-8)
    assert (left < 1e-10).sum() > 1


def test_designs_broadcast_with_values_and_guesses():
    m = es.load("five_bar")
    parameters = {
        "L2": np.array([0.038, 0.04, 0.043])[:, None],
        "L3": 0.097,
        "m2": np.array([0.01, 0.02]),
    }
    qa = np.array([2.0, 1.0]) + np.linspace(0.0, 0.1, 2)[:, None]
    q = m.assemble(qa, parameters=parameters)
    assert q.shape == (3, 2, 4)
    for i, k in np.ndindex(3, 2):
        alone = {name: np.broadcast_to(x, (3, 2))[i, k] for name, x in parameters.items()}
        np.testing.assert_allclose(q[i, k], m.assemble(qa[k], parameters=alone), atol=1e-12)
    again = m.assemble(qa, q + 1e-9, parameters=parameters)  # guesses of their own designs
    np.testing.assert_allclose(again, q, atol=1e-10)
    assert m.assemble([2.0, 1.0], parameters={"m2": [0.01, 0.02, 0.03]}).shape == (
        3,
        4,
    )  # a mass moves nothing
    assert m.assemble([2.0, 1.0], parameters={"L2": np.zeros((0, 2))}).shape == (0, 2, 4)
    np.testing.assert_array_equal(m.assemble([2.0, 1.0], parameters={}), m.assemble([2.0, 1.0]))
    q, v, _ = m.complete(
        [2.0, 1.0], np.ones((5, 1, 2)), np.zeros(2), parameters={"L2": [0.038, 0.04]}
    )
    assert v.shape == (5, 2, 4)


def test_a_motion_may_change_its_design_from_row_to_row():
    """Continuation in the parameters, with the actuated joints at rest."""
    m = es.load("five_bar")
    L2 = np.linspace(0.04, 0.05, 6)
    q = m.assemble([[2.0, 1.0]], parameters={"L2": L2}, continuation=True)
    np.testing.assert_allclose(q, m.assemble([2.0, 1.0], parameters={"L2": L2}), atol=1e-10)
    rows = np.linspace([2.0, 1.0], [1.7, 1.2], 5)
    many = m.assemble(rows, parameters={"L2": L2[:, None]}, continuation=True)
    assert many.shape == (6, 5, 4)
    np.testing.assert_allclose(
        many[3], m.variant(L2=L2[3]).assemble(rows, continuation=True), atol=1e-10
    )


def test_another_branch_is_kept():
    m = es.load("five_bar")
    other = m.assembly_modes([2.0, 1.0])[1]
    parameters = {"L2": np.linspace(0.035, 0.05, 4), "L4": np.linspace(0.11, 0.095, 4)}
    q = m.assemble([2.0, 1.0], other, parameters=parameters)
    home = m.assemble([2.0, 1.0], parameters=parameters)
    signs = [m.conditions(x, parameters=parameters).sign for x in (q, home)]
    assert (signs[0] == m.conditions(other).sign).all()
    assert (signs[1] == -signs[0]).all()


DELTA = pytest.param(
    "delta",
    marks=pytest.mark.slow(reason="compiles solvers of 18 velocities for three kinds of targets"),
)


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", DELTA, "scara"])
def test_poses_and_parts_of_them_in_each_design(name):
    m = es.load(name)
    begin = m.assemble(actuated(m)) if m.closed else m.home() + 0.1
    parameters = lengths(m, LENGTHS.get(name, ("a1", "a2")))
    q = (
        m.assemble(actuated(m, 0.15), parameters=parameters)
        if m.closed
        else np.stack([begin, begin - 0.05])
    )
    frame = m.frames[0].name if m.frames else m.bodies[-1].name
    T = m.pose(q, frame, parameters=parameters)
    for found in (
        m.assemble(es.Target(frame, pose=T), guess=begin, parameters=parameters),
        m.inverse_kinematics(es.Target(frame, pose=T), begin, parameters=parameters),
        m.inverse_kinematics(
            es.Target(frame, position=T[:, :3, 3], orientation=T[:, :3, :3]),
            guess=begin,
            parameters=parameters,
        ),
    ):
        np.testing.assert_allclose(m.pose(found, frame, parameters=parameters), T, atol=1e-9)
        np.testing.assert_allclose(found, q, atol=1e-6)
        assert np.abs(m.constraint(found, parameters=parameters)).max(initial=0.0) < 1e-9
    point = T[:, :3, 3]
    states = m.complete(
        es.Target(frame, position=point),
        velocity=[0.1, 0.05, 0.0],
        guess=begin,
        parameters=parameters,
    )
    for k in range(COUNT):
        own = alone(m, parameters, k)
        if (
            k == COUNT - 1
        ):  # a design solves for targets in its own unit of length, and compiles for it
            expected = own.complete(
                es.Target(frame, position=point[k]), velocity=[0.1, 0.05, 0.0], guess=begin
            )
            if own.closed and name != "planar_3rrr":  # else a position leaves freedom open
                np.testing.assert_allclose(states[0][k], expected[0], atol=1e-7)
        V = own.velocity(states[0][k], states[1][k], frame, axes="aligned")[3:]
        np.testing.assert_allclose(V[:2], [0.1, 0.05], atol=1e-9)


def test_designs_that_cannot_close_are_named_or_returned_as_near_as_they_came():
    m = es.load("five_bar")
    L3 = np.array([0.1, 0.02, 0.09])
    q = m.assemble([2.0, 1.0], parameters={"L3": L3}, report=True).q
    closed = np.abs(m.constraint(q, parameters={"L3": L3})).max(axis=-1) < 1e-9
    assert closed.tolist() == [True, False, True]
    assert np.isfinite(q).all()
    with pytest.raises(
        es.AssemblyError,
        match=r"five_bar with L3 = 0.02 cannot be assembled .*1 of 3 configurations; this is number 1",
    ):
        m.assemble([2.0, 1.0], parameters={"L3": L3})
    T = m.pose(m.assemble([2.0, 1.0]))
    with pytest.raises(es.AssemblyError, match=r"five_bar with L2 = 0.001"):
        m.assemble(es.Target(pose=T), parameters={"L2": [0.04, 0.001]})
    with pytest.raises(
        es.InverseKinematicsError, match=r"five_bar with L2 = 0.001 does not reach target"
    ):
        m.inverse_kinematics(es.Target(position=T[:3, 3]), parameters={"L2": [0.04, 0.001]})
    found = m.inverse_kinematics(
        es.Target(position=T[:3, 3]), parameters={"L2": [0.04, 0.001]}, report=True
    )
    assert found.converged.tolist() == [True, False]


@pytest.mark.parametrize("verb", ["assemble", "complete", "project", "conditions"])
def test_bad_parameters_end_in_a_sentence(verb):
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    given = {"assemble": ([2.0, 1.0],), "complete": ([2.0, 1.0], [1.0, 0.0], [0.0, 0.0])}.get(
        verb, (q,)
    )
    ask = getattr(m, verb)
    with pytest.raises(es.ModelError, match=r"no parameter 'l2' .*known: L1, L2, L3"):
        ask(*given, parameters={"l2": 0.05})
    with pytest.raises(
        es.EslabonError, match=r"do not fit together: they have the shapes L2 \(2,\), L3 \(3,\)"
    ):
        ask(*given, parameters={"L2": [0.04, 0.05], "L3": [0.1, 0.1, 0.1]})
    with pytest.raises(es.EslabonError, match="parameter 'L2' holds a number that is not finite"):
        ask(*given, parameters={"L2": [0.04, np.nan]})
    with pytest.raises(es.ModelError, match="the mass is -1"):
        ask(*given, parameters={"m2": [0.04, -1.0]})
    with pytest.raises(es.ModelError, match="gives values by name"):
        ask(*given, parameters=[0.04])
    many = np.broadcast_to(np.asarray(given[0]), (3, len(given[0])))
    with pytest.raises(es.EslabonError, match="do not fit together"):
        ask(many, *given[1:], parameters={"L2": [0.04, 0.041]})


def test_modes_of_each_design():
    """Modes of many designs are a comprehension over variants, which share their native code."""
    m = es.load("five_bar")
    lengths = [(0.04, 0.1), (0.05, 0.1), (0.05, 0.095)]
    modes = [m.variant(L2=a, L3=b).assembly_modes([2.0, 1.0]) for a, b in lengths]
    assert [len(q) for q in modes] == [2, 2, 2]
    own = m.with_parameters(L2=0.05, L3=0.095)
    np.testing.assert_allclose(modes[2], own.assembly_modes([2.0, 1.0]), atol=1e-9)
    one = m.assembly_modes([2.0, 1.0], parameters={"L2": 0.05, "L3": 0.095})
    np.testing.assert_allclose(one, modes[2], atol=1e-9)
    with pytest.raises(
        es.ModelError, match=r"one design at a time.*\[m.variant\(L3=x\).assembly_modes"
    ):
        m.assembly_modes([3.1, 0.0], parameters={"L3": [0.1, 0.072]})


def test_verbs_of_one_design_say_how_to_ask_for_many():
    m = es.load("five_bar")
    parameters, own = {"L2": 0.043}, m.with_parameters(L2=0.043)
    q = m.assemble([2.0, 1.0], parameters=parameters)
    way = es.paths.along(es.paths.line(own.pose(q)[:3, 3], [0.06, 0.1, 0]), es.paths.cycloidal(0.5))
    asked = {
        "follow": ((way, q), {"part": "position", "times": np.linspace(0, 0.5, 5)}, lambda x: x.q),
        "assembly_modes": (([2.0, 1.0],), {}, lambda x: x),
    }
    for verb, (given, options, result) in asked.items():
        made = result(getattr(m, verb)(*given, parameters=parameters, **options))
        np.testing.assert_allclose(made, result(getattr(own, verb)(*given, **options)), atol=1e-9)
        with pytest.raises(
            es.ModelError, match=rf"one design at a time.*\[m.variant\(L2=x\).{verb}"
        ):
            getattr(m, verb)(*given, parameters={"L2": [0.04, 0.05]}, **options)


def test_verbs_without_parameters_are_asked_of_variants():
    """What is drawn, mapped or looked at once has a variant for each design; a variant answers as a mechanism of its own."""
    m = es.load("five_bar")
    variant, own = m.variant(L2=0.043), m.with_parameters(L2=0.043)
    q = own.assemble([2.0, 1.0])
    asked = {
        "determined_reactions": ((q,), lambda x: x),
        "independent_coordinates": ((q,), lambda x: x),
        "well_conditioned": ((), lambda x: x),
        "singularity": ((q,), lambda x: x.gained),
        "workspace": ((None, None, 50), lambda x: x.poses),
        "plot": ((q,), lambda x: x.axes[0].lines[0].get_xydata()),
        "animate": ((np.stack([q, q]),), repr),
    }
    for verb, (given, result) in asked.items():
        found, want = (result(getattr(x, verb)(*given)) for x in (variant, own))
        if verb in ("independent_coordinates", "animate"):
            assert found == want
        else:
            np.testing.assert_allclose(found, want, atol=1e-9)
        with pytest.raises((TypeError, es.InputError), match="parameters"):
            getattr(m, verb)(*given, parameters={"L2": 0.043})
    arm = es.load("scara")
    T, start = arm.variant(a1=0.4).pose([0.3, 0.5, 0.1, 0.2]), [0.2, 0.6, 0.1, 0.1]
    found = arm.variant(a1=0.4).newton_gauss(T, start)
    np.testing.assert_allclose(
        found.q, arm.with_parameters(a1=0.4).newton_gauss(T, start).q, atol=1e-12
    )
    with pytest.raises(es.EslabonError, match="newton_gauss has no option 'parameters'"):
        arm.newton_gauss(T, start, parameters={"a1": 0.4})


def test_verbs_that_answer_for_one_design_say_how_to_ask_for_many():
    m = es.load("five_bar")
    given = ("point", {"x": (0.04, 0.06), "y": (0.08, 0.1)}, 3)
    m.workspace_map(*given, parameters={"L2": 0.043})
    with pytest.raises(
        es.ModelError,
        match=r"workspace_map answers for one design at a time.*\[m.variant\(L2=x\).workspace_map",
    ):
        m.workspace_map(*given, parameters={"L2": [0.04, 0.05]})
    with pytest.raises(es.ModelError, match="no parameter 'L22'; did you mean 'L2'"):
        m.workspace_map(*given, parameters={"L22": 0.04})
    with pytest.raises(
        es.EslabonError, match=r"one set of forces and one design.*m.variant\(...\).equilibrium"
    ):
        m.equilibrium(tau=[0.0, 0.0], all=True, parameters={"L2": [0.04, 0.05]})
    with pytest.raises(es.ModelError, match=r"no option 'parameters' \(known:"):
        m.operations("pose", parameters={"L2": 0.04})


def test_linear_models_and_equilibria_of_each_design():
    m = es.load("slider_crank")
    parameters = lengths(m, ("r", "l"))
    q = m.assemble([0.6], parameters=parameters)
    model, rest = (
        m.linearize(q, parameters=parameters),
        m.equilibrium(guess=q, parameters=parameters),
    )
    assert np.ptp(rest.energy) > 0
    for k in range(COUNT):
        own = alone(m, parameters, k)
        np.testing.assert_allclose(model.A[k], own.linearize(q[k]).A, rtol=1e-8, atol=1e-8)
        still = own.equilibrium(guess=q[k])
        np.testing.assert_allclose(rest.q[k], still.q, atol=1e-8)
        np.testing.assert_allclose(rest.energy[k], still.energy, rtol=1e-8)


def test_linear_models_where_the_actuated_joint_determines_nothing():
    """A crank at its dead centre, where the slider is no independent coordinate, in each design its own."""
    m = es.load("slider_crank").with_actuated(["slide"])
    r = np.array([0.1, 0.13])
    q = m.assemble({"crank": 0.0}, parameters={"r": r})
    found = m.linearize(q, parameters={"r": r})
    for k in range(2):
        alone = m.with_parameters(r=float(r[k])).linearize(q[k])
        assert found.coordinates == alone.coordinates
        np.testing.assert_allclose(found.A[k], alone.A, rtol=1e-9, atol=1e-9)


def test_limits_that_depend_on_a_parameter_are_not_those_of_the_described_mechanism():
    m = es.load("elbow")
    m = m.with_joint("theta2", limits=(-1.0, "a1"))
    lengths = {"a1": [0.9, 1.1]}
    for ask in (
        lambda **more: m.inverse_kinematics(
            es.Target(position=[1.0, 0.5, 0.0]), parameters=lengths, **more
        ),
        lambda **more: m.equilibrium(tau=[0.0, 0.0], guess=[-1.5, 0.1], parameters=lengths, **more),
    ):
        with pytest.raises(
            es.ModelError, match="limits of joints of elbow depend on a1: pass limits=False"
        ):
            ask()
        ask(limits=False)


def driven():
    """A crank of length r that a motor turns by the time, and a rod and a block that follow."""
    b = es.Builder("press", gravity=(0, 0, 0))
    r = b.parameter("r", 0.1)
    for name in ("crank", "rod", "block"):
        b.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.joint("turn", "revolute", "ground", "crank").joint(
        "pin", "revolute", "crank", "rod", at=(r, 0, 0)
    )
    b.joint("slide", "prismatic", "ground", "block", axis="x", home=0.4)
    return (
        b.loop("end", "revolute", "rod", "block", first=(0.3, 0, 0))
        .drive("motor", "turn", "0.5 + 2*t")
        .build()
    )


def test_driven_mechanisms_take_designs_too():
    m = driven()
    r, t = np.array([0.09, 0.1, 0.12]), np.array([0.0, 0.1])[:, None]
    q = m.assemble(t=t, parameters={"r": r})
    assert q.shape == (2, 3, m.nq)
    x = r * np.cos(0.5 + 2 * t) + np.sqrt(0.3**2 - (r * np.sin(0.5 + 2 * t)) ** 2)  # of the block
    np.testing.assert_allclose(q[..., m.index("slide")], x, atol=1e-9)
    q, v, a = m.complete(t=0.1, parameters={"r": r})
    h = 1e-4
    before, after = (m.assemble(t=0.1 + s, parameters={"r": r}, guess=q) for s in (-h, h))
    np.testing.assert_allclose(v, (after - before) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(a, (after - 2 * q + before) / h**2, atol=1e-4)
    np.testing.assert_allclose(
        m.project(q + 1e-3, t=0.1, parameters={"r": r})[:, 0], 0.7, atol=1e-9
    )
    motion = m.simulate(q, v, (0.1, 0.3), method="rk4", step=1e-3, every=100, parameters={"r": r})
    np.testing.assert_allclose(motion.q[:, -1], m.assemble(t=0.3, parameters={"r": r}), atol=1e-9)
