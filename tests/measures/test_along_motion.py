"""Measures along a motion equal a plain loop over mechanisms with other parameters, by the verbs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import eslabon as es
from eslabon import measures
from eslabon.measures import prescribed_designs
from eslabon.measures.native_batches import native_threads
from eslabon.model.scale import characteristic_length
from scaling import scaled

LENGTHS = {"L2": np.array([0.035, 0.04, 0.045]), "m3": np.array([0.02, 0.03, 0.01])}
SWING = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))


@cache
def five_bar() -> es.Mechanism:
    return es.load("five_bar")


@cache
def plain(k: int) -> tuple:
    """The mechanism of a design, made anew, and all joints' motion in it."""
    m = five_bar().with_parameters(**{name: float(x[k]) for name, x in LENGTHS.items()})
    t, *given = SWING.sample(n=21)
    return m, t, *m.complete(*given, continuation=True)


def each(measure) -> tuple[dict, list]:
    found = measure.measured(five_bar(), LENGTHS)
    assert not found.reasons
    assert list(found.values) == list(measure.columns(five_bar()))
    return found.values, [plain(k) for k in range(3)]


def test_peak_and_rms_torque() -> None:
    for kind, reduced in (
        (measures.PeakTorque, lambda t, tau: np.abs(tau).max(axis=0)),
        (
            measures.RmsTorque,
            lambda t, tau: np.sqrt(np.trapezoid(tau**2, t, axis=0) / (t[-1] - t[0])),
        ),
    ):
        found, designs = each(kind(SWING, samples=21))
        for k, (m, t, q, v, a) in enumerate(designs):
            expected = reduced(t, m.inverse_dynamics(q, v, a))
            assert found[f"{kind.name}.theta2"][k] == pytest.approx(expected[0], rel=1e-9)
            assert found[f"{kind.name}.theta5"][k] == pytest.approx(expected[1], rel=1e-9)
            assert found[kind.name][k] == pytest.approx(expected.max(), rel=1e-9)


def test_power_and_energy() -> None:
    power, designs = each(measures.PeakPower(SWING, samples=21))
    energy, _ = each(measures.EnergyConsumption(SWING, samples=21, regeneration=0.25))
    for k, (m, t, q, v, a) in enumerate(designs):
        given = m.inverse_dynamics(q, v, a) * v[:, [0, 2]]
        assert power["peak_power.theta5"][k] == pytest.approx(np.abs(given[:, 1]).max())
        assert power["peak_power.total"][k] == pytest.approx(np.abs(given.sum(axis=1)).max())
        taken = np.trapezoid(np.maximum(given, 0) - 0.25 * np.maximum(-given, 0), t, axis=0)
        assert energy["energy_consumption"][k] == pytest.approx(taken.sum())
        assert energy["energy_consumption.theta2"][k] == pytest.approx(taken[0])


def test_energy_balance() -> None:
    """With all braking energy given back, what is taken is the change of kinetic and potential energy."""
    heavy = five_bar().with_parameters(g=9.81)
    taken = (
        measures.EnergyConsumption(SWING, samples=401, regeneration=1.0)
        .measured(heavy, {"m3": LENGTHS["m3"]})
        .values
    )
    for k, mass in enumerate(LENGTHS["m3"]):
        m = heavy.with_parameters(m3=float(mass))
        q = m.assemble(np.array([[2.0, 1.0], [2.3, 0.8]]))
        before, after = m.energy(q, np.zeros((2, 4))).sum(axis=1)
        assert taken["energy_consumption"][k] == pytest.approx(after - before, rel=1e-3)


def test_peak_reaction() -> None:
    found, designs = each(measures.PeakReaction(SWING, samples=21))
    m, _, q, v, a = designs[1]
    wrench = m.reactions(q, v, a)
    force, moment = (
        np.linalg.norm(wrench[..., 3:], axis=-1),
        np.linalg.norm(wrench[..., :3], axis=-1),
    )
    assert found["peak_reaction.tip.force"][1] == pytest.approx(force[:, 4].max())
    assert found["peak_reaction.theta4.moment"][1] == pytest.approx(moment[:, 3].max())
    assert found["peak_reaction"][1] == pytest.approx(force.max())


def test_condition() -> None:
    parallel, designs = each(measures.Condition(SWING, samples=21))
    mean, _ = each(
        measures.Condition(SWING, samples=21, kind="serial", twist="translation", reduce="mean")
    )
    for k, (m, t, q, *_) in enumerate(designs):
        found = m.conditions(q, part="translation")
        assert parallel["condition"][k] == pytest.approx(found.parallel.min(), rel=1e-9)
        assert mean["condition"][k] == pytest.approx(
            np.trapezoid(found.serial, t) / t[-1], rel=1e-9
        )


def test_condition_of_a_tree_at_configurations() -> None:
    m, q = es.load("elbow"), np.array([[0.3, 0.5], [0.1, 2.0]])
    found = (
        measures.Condition(q, twist="translation")
        .measured(m, {"a2": np.array([0.5, 1.5])})
        .values["condition"]
    )
    for k, a2 in enumerate((0.5, 1.5)):
        assert found[k] == pytest.approx(
            m.with_parameters(a2=a2).conditions(q, "tool", "translation").serial.min()
        )


def test_motion_of_a_frame() -> None:
    """The frame goes the same way in every design, the joints do not."""
    way = es.paths.along(es.paths.line([0.05, 0.1, 0], [0.055, 0.11, 0]), es.paths.quintic(0.3))
    found = (
        measures.PeakTorque(way, samples=11, part="position")
        .measured(five_bar(), {"L2": LENGTHS["L2"]})
        .values
    )
    s = way.sample(n=11)
    for k in (0, 2):
        m = five_bar().with_parameters(L2=float(LENGTHS["L2"][k]))
        rates = s.twist[:, 3:], s.acceleration[:, 3:]
        motion = m.complete(es.Target(position=s.pose[:, :3, 3]), *rates, continuation=True)
        tau = m.inverse_dynamics(*motion)
        assert found["peak_torque"][k] == pytest.approx(np.abs(tau).max(), rel=1e-8)


def test_a_frame_s_motion_stops_where_a_design_does_not_reach() -> None:
    """The others go on, as if they were alone; the motion is closed once for all of them."""
    way = es.paths.along(es.paths.line([0.05, 0.1, 0], [0.055, 0.11, 0]), es.paths.quintic(0.3))
    designs = {"L2": np.array([0.04, 0.002, 0.005, 0.045])}
    measure = measures.PeakTorque(way, samples=11, part="position")
    found = measure.measured(five_bar(), designs)
    assert sorted(found.reasons) == [1, 2]
    assert "does not reach state" in found.reasons[1]
    for k in (0, 3):
        alone = measure.measured(five_bar(), {"L2": designs["L2"][k : k + 1]}).values[
            "peak_torque"
        ][0]
        assert found.values["peak_torque"][k] == pytest.approx(alone, rel=1e-9)


def test_what_can_be_a_motion() -> None:
    """A path, its samples, arrays, and the motion of all joints say the same."""
    _, _, q, v, a = plain(1)
    t, *given = SWING.sample(n=21)
    alike = [
        SWING.sample(n=21),
        (t, *given),
        {"t": t, "q": given[0], "v": given[1], "a": given[2]},
        (t, q, v, a),
    ]
    expected = (
        measures.PeakTorque(SWING, samples=21).measured(five_bar(), LENGTHS).values["peak_torque"]
    )
    for motion in alike:
        found = measures.PeakTorque(motion).measured(five_bar(), LENGTHS).values["peak_torque"]
        assert found == pytest.approx(expected, rel=1e-9)


def test_designs_that_fail_do_not_stop_the_others() -> None:
    short = np.array([0.1, 0.072, 0.1, 0.1])  # the second closes at home, but not along the motion
    designs = {"L3": short, "L4": short, "m3": np.array([0.02, 0.02, 0.03, -1.0])}
    found = measures.PeakTorque(SWING, samples=21).measured(five_bar(), designs)
    assert sorted(found.reasons) == [1, 3]
    assert "cannot be assembled: loop 'tip' is left open by" in found.reasons[1]
    assert "the mass is -1; it cannot be negative" in found.reasons[3]
    assert np.isnan(found.values["peak_torque"]).tolist() == [False, True, False, True]
    alone = measures.PeakTorque(SWING, samples=21).measured(
        five_bar(), {name: x[2:3] for name, x in designs.items()}
    )
    assert alone.values["peak_torque"][0] == pytest.approx(
        found.values["peak_torque"][2], rel=1e-12
    )


def test_a_motion_through_a_singular_configuration_is_a_reason() -> None:
    """Flat, a parallelogram may go on as an antiparallelogram."""
    m = es.load("parallelogram")
    flat = measures.PeakTorque(
        es.paths.joint_path([[0.5], [-0.5]], es.paths.quintic(1.0)), samples=41
    )
    name = next(iter(m.parameters))
    found = flat.measured(m, {name: np.array([0.9, 1.1]) * m.parameters[name]})
    assert sorted(found.reasons) == [0, 1]
    assert "singular configuration" in found.reasons[0]


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = measures.PeakTorque(SWING, samples=21)
    designs = {"m3": np.linspace(0.01, 0.03, 37)}
    whole = measure.measured(five_bar(), designs).values["peak_torque"]
    with native_threads(1):
        assert (measure.measured(five_bar(), designs).values["peak_torque"] == whole).all()
    monkeypatch.setattr("eslabon.measures.native_batches.STATES", 5 * 21)
    parts = measure.measured(five_bar(), designs).values["peak_torque"]
    assert parts == pytest.approx(whole, rel=1e-13)


def test_actuators_of_different_units_have_no_largest() -> None:
    b = (
        es.Builder("crane")
        .body("cart", mass=2.0)
        .body("arm", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    )
    b = b.joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0))
    m = b.joint("q", "revolute", "cart", "arm", axis=(0, 1, 0)).build()
    path = es.paths.joint_path([[0, 0], [1, 1]], es.paths.quintic(1.0))
    assert measures.PeakTorque(path).columns(m) == {"peak_torque.x": "N", "peak_torque.q": "N m"}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: measures.PeakTorque(3.0), "a motion is a Trajectory, a joint path of es.paths"),
        (lambda: measures.PeakTorque([[2.0, 1.0]]), "it has no times"),
        (lambda: measures.PeakTorque(SWING, frame="point"), "frame and part go with the path of a frame"),
        (lambda: measures.PeakTorque(SWING, samples=1), "samples is a whole number, at least 2"),
        (lambda: measures.PeakTorque(([0, 0], [[1], [1]], [[1], [1]], [[1], [1]])), "times that increase"),
        (lambda: measures.EnergyConsumption(SWING, regeneration=2.0), "a share from 0 to 1"),
        (lambda: measures.PeakTorque(SWING, guess="crossed").measured(five_bar(), LENGTHS), None),
        (lambda: measures.PeakReaction(SWING, of="theat2").columns(five_bar()), "did you mean 'theta2'"),
        (lambda: measures.PeakTorque(SWING).columns(es.load("planar_3rrr")), "have 2 coordinates and 2 velocities; planar_3rrr has 7"),
        (lambda: measures.PeakTorque(SWING).columns(es.load("puma560")), "puma560 has 6 coordinates, and no loops"),
        (lambda: measures.Condition(SWING, kind="paralel"), "did you mean 'parallel'"),
        (lambda: measures.Condition([[0.1, 0.2]], kind="parallel").columns(es.load("elbow")), "has no loops"),
        (lambda: measures.PeakTorque(SWING).columns(five_bar().with_actuated([])), "has no actuators"),
    ],
)  # fmt: skip
def test_bad_input(make, sentence: str | None) -> None:
    if sentence is None:
        assert all("has no mode 'crossed'" in why for why in make().reasons.values())
        return
    with pytest.raises(es.EslabonError, match=sentence):
        make()


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_what_counts_as_a_jump_does_not_depend_on_the_size(factor):
    """A slide that moves on by a tenth of the mechanism's size between two samples, at rest in both."""
    m = scaled(es.load("scara"), factor)
    length = float(characteristic_length(m))
    slide = next(j.name for j in m.joints if j.kind.kind == "prismatic")
    for share, jumps in ((0.1, False), (0.5, True)):
        q = np.tile(m.home(), (1, 2, 1))
        q[0, 1, m.coordinates[slide]] += share * length
        found = prescribed_designs._jumping(m, q, np.zeros((1, 2, m.nv)), np.array([0.0, 1.0]))
        assert bool(found) == jumps
