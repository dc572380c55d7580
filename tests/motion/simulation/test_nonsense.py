"""Whatever is given for whatever argument: a motion, or one sentence; and mechanisms that can hardly move."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.bond_graph.bond_graph_formulation import BOND_GRAPH
from eslabon.motion.simulation import Table, Trajectory, simulate, traced
from randomness import seeded
from small_mechanisms import SMALL

M = es.load("double_pendulum")
NAN = float("nan")
NONSENSE = [
    None, True, 0, -1, 1.5, 5, NAN, np.inf, 1j, "", "x", b"x", [], {}, set(), object(), max, [None], ["a"], [[1.0], [2.0, 3.0]],
    np.array("text"), np.array([1 + 1j, 2.0]), np.zeros((0, 2)), {"a": 1}, {5: [1.0]}, {"a": "b"}, lambda: 3, 10**400,
]  # fmt: skip
ARGUMENTS = [
    "q0", "v0", "t", "control", "method", "formulation", "constraints", "step", "every", "hold", "rtol", "atol", "events",
    "external", "parameters", "singular", "progress", "threads", "saturate", "stops",
]  # fmt: skip


def answers(call):
    """Whether a call gives something, or refuses in one sentence."""
    try:
        return call()
    except es.EslabonError as error:
        assert str(error).strip()
        assert "\n" not in str(error)
        return None


@pytest.mark.parametrize("name", ARGUMENTS)
def test_any_argument_of_simulate(name):
    for fixed in ({}, {"method": "rk4", "step": 0.05}):
        for value in NONSENSE:
            given = {"q0": [0.1, 0.0], "v0": None, "t": 0.1, **fixed, name: value}
            found = answers(lambda given=given: simulate(M, **given))
            assert found is None or np.isfinite(found.q).all()


REFUSED = [
    {"parameters": 5}, {"formulation": ""}, {"threads": "a"}, {"every": 1.5}, {"hold": "x"}, {"progress": 3}, {"t": "1"},
    {"step": True}, {"method": ""}, {"singular": None}, {"rtol": "tight"}, {"rtol": 0}, {"atol": -1}, {"atol": [1, 2]},
    {"constraints": "glue"}, {"external": 5}, {"events": "fall"}, {"threads": 0}, {"every": True}, {"control": "up"},
    {"q0": None}, {"v0": "fast"}, {"parameters": {"m2": "heavy"}}, {"parameters": {"m2": -1.0}},
]  # fmt: skip


@pytest.mark.parametrize("given", REFUSED, ids=str)
def test_what_is_never_accepted(given):
    for fixed in ({}, {"method": "rk4", "step": 0.05}):
        with pytest.raises(es.EslabonError):
            simulate(M, **{"q0": [0.1, 0.0], "v0": None, "t": 0.1, **fixed, **given})


def test_the_word_of_the_bond_graph_belongs_to_the_mechanism():
    with pytest.raises(
        es.EslabonError, match=r"call m\.simulate\(\.\.\., formulation='bond_graph'\)"
    ):
        simulate(M, [0.1, 0.0], None, 0.1, formulation="bond_graph")
    by_word = M.simulate([0.1, 0.0], None, 0.1, formulation="bond_graph")
    by_value = simulate(M, [0.1, 0.0], None, 0.1, formulation=BOND_GRAPH)
    assert np.array_equal(by_word.q, by_value.q)


def test_tables_laws_and_motions():
    motion = simulate(M, [0.1, 0.0], None, [0.0, 0.1, 0.2])
    many = simulate(M, [[0.1, 0.0]] * 3, None, [0.0, 0.1, 0.2])
    table = Table([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]], "linear")
    for value in NONSENSE:
        for call in (
            lambda x: Table(x, [[1.0]]), lambda x: Table([0.0], x), lambda x: Table([0.0], [[1.0]], x), table.at, traced,
            lambda x: simulate(M, [0.1, 0.0], None, 0.1, traced(x)), motion.until, motion.joint, motion.__getitem__,
            many.__getitem__, motion.save, Trajectory.load,
        ):  # fmt: skip
            answers(lambda call=call, value=value: call(value))
    for call in (lambda: motion.until("x"), lambda: motion.joint(5), lambda: motion[0], lambda: many[...], lambda: many[None],
        lambda: many[7], lambda: many["x"], lambda: many[1, 2], lambda: traced(5), lambda: motion.save(5)):  # fmt: skip
        with pytest.raises(es.EslabonError):
            call()


@pytest.mark.parametrize("name", SMALL)
def test_small_mechanisms_move_or_say_why_not(name):
    m = SMALL[name]()
    for options in (
        {},
        {"method": "rk4", "step": 0.01},
        {"method": "symplectic", "step": 0.01},
        {"method": "Radau"},
    ):
        motion = answers(lambda options=options: m.simulate(m.home(), None, 0.1, **options))
        if motion is not None:
            assert np.ptp(motion.energy.total) < 1e-3 * max(1.0, np.abs(motion.energy.total).max())
            assert motion.tau.shape == (len(motion.t), m.nu)
            assert motion.closure.max() < 1e-10
    if name in ("one_joint_and_fixed", "locked_loop"):
        assert m.simulate(m.home(), None, 0.1, method="rk4", step=0.01).t[-1] == 0.1


GIVEN = [
    1j, "text", b"x", None, {}, object(), [], [None], ["a", "b"], [1j, 0.0], [1.0, 2.0, 3.0], np.zeros((2, 2)), np.zeros((1, 1)),
    [[1.0], [2.0, 3.0]], np.array("x"), set(), lambda: 3,
]  # fmt: skip


@pytest.mark.parametrize("value", GIVEN, ids=lambda x: type(x).__name__)
def test_whatever_a_users_function_gives(value):
    """A control law gives as many real forces as there are actuators, an event one real number; else a sentence."""
    for options in (
        {},
        {"method": "Radau"},
        {"method": "rk4", "step": 0.05},
        {"method": "rk4", "step": 0.05, "hold": True},
    ):
        with pytest.raises(es.EslabonError, match="control"):
            simulate(M, [0.1, 0.0], None, 0.1, lambda t, q, v: value, **options)
        with pytest.raises(es.EslabonError, match="control"):
            simulate(M, [[0.1, 0.0]] * 3, None, [0, 0.1, 0.2], lambda t, q, v: value, **options)
    with pytest.raises(es.EslabonError, match="control law"):
        simulate(M, [0.1, 0.0], None, 0.1, traced(lambda t, q, v: value))
    for event in (lambda t, q, v: value, lambda t, q, v: value if t > 0.05 else 1.0):
        with pytest.raises(es.EslabonError, match="the event 'fall' "):
            simulate(M, [0.1, 0.0], None, 0.1, events={"fall": event})


@pytest.mark.parametrize("value", [NAN, [1.0], [1.0, 2.0]], ids=str)
def test_an_event_is_one_number(value):
    with pytest.raises(es.EslabonError, match="the event 'fall' "):
        simulate(M, [0.1, 0.0], None, 0.1, events={"fall": lambda t, q, v: value})


@pytest.mark.parametrize("word", ["terminal", "direction"])
@pytest.mark.parametrize("value", [1j, "x", None, NAN, np.inf, [1], np.complex128(1)], ids=str)
def test_what_an_event_says_of_itself(word, value):
    def fall(t, q, v):
        return q[0]

    setattr(fall, word, value)
    with pytest.raises(es.EslabonError, match=f"{word} of the event 'fall' is a number"):
        simulate(M, [0.1, 0.0], None, 0.1, events=fall)


# Motions without mass -----------------------------------------------------------------------------------------------

STEPPED = [
    {},
    {"method": "Radau"},
    {"method": "rk4", "step": 0.05},
    {"method": "symplectic", "step": 0.05},
]


def chain(seed):
    """A tree of random joints whose last body has the mass `last`, and no other inertia than by it."""
    rng, b = seeded(seed), es.Builder("chain")
    b.parameter("last", 0.0)
    for k, kind in enumerate(
        rng.choice(["revolute", "prismatic", "cylindrical", "universal"], size=3)
    ):
        mass = (
            {"mass": "last", "inertia": ("last", "last", "last")}
            if k == 2
            else {"mass": 1.0, "inertia": (0.2, 0.3, 0.4)}
        )
        b.body(f"b{k}", com=(0.1, 0.2, 0.3), **mass)
        b.joint(f"j{k}", kind, f"b{k - 1}" if k else "ground", f"b{k}", at=(0.1 * k, 0.2, 0.0))
    return b.build()


@pytest.mark.parametrize("options", STEPPED, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_mass_is_judged_by_the_values_given(seed, options):
    """What the model itself has does not matter: neither where it would be refused, nor where it would do."""
    light, times = chain(seed), [0.0, 0.05, 0.1]
    heavy = light.with_parameters(last=1.0)
    q = 0.1 * np.ones(light.nq)
    want = simulate(heavy, q, None, times, **options).q
    np.testing.assert_allclose(
        simulate(light, q, None, times, parameters={"last": 1.0}, **options).q, want, atol=1e-9
    )
    many = simulate(light, q, None, times, parameters={"last": [0.5, 1.0]}, **options).q
    np.testing.assert_allclose(many[1], want, atol=1e-9)
    for m, given in (
        (light, None),
        (heavy, {"last": 0.0}),
        (heavy, {"last": [1.0, 0.0]}),
        (light, {"last": [0.0, 1.0]}),
    ):
        with pytest.raises(es.EslabonError, match="the motion of 'j2' moves no mass"):
            simulate(m, q, None, times, parameters=given, **options)
