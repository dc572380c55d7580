"""Any quantity of the table at given states, for many designs at once, equals the verb of mechanisms made anew."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.quantities import quantity
from eslabon.measures import Quantity, measure_of

PENDULUM = es.load("double_pendulum")
LENGTHS = {"L1": np.array([0.5, 1.0, 1.5]), "m2": np.array([1.0, 2.0, 0.5])}
Q = np.array([[0.3, 0.2], [0.5, -0.4], [0.1, 1.0], [2.0, 0.3]])
V, A = Q[::-1] + 0.1, 2 * Q


def each(designs=LENGTHS, m=PENDULUM):
    return [
        m.with_parameters(**{name: float(x[k]) for name, x in designs.items()}) for k in range(3)
    ]


def test_a_row_for_each_state() -> None:
    measure = Quantity("inverse_dynamics", Q, V, A)
    found = measure.measured(PENDULUM, LENGTHS)
    names = list(measure.columns(PENDULUM))
    assert measure.states() == 4
    assert [dict(measure.columns(PENDULUM))[name] for name in names] == ["N m", "N m"]
    for k, m in enumerate(each()):
        tau = m.inverse_dynamics(Q, V, A)
        np.testing.assert_allclose(
            np.stack([found.values[name][k] for name in names], axis=-1), tau, rtol=1e-12
        )


@pytest.mark.parametrize(
    ("reduce", "of"),
    [
        ("peak", lambda x: np.abs(x).max(axis=0)),
        ("rms", lambda x: np.sqrt((x**2).mean(axis=0))),
        ("mean", lambda x: x.mean(axis=0)),
        ("least", lambda x: x.min(axis=0)),
        ("greatest", lambda x: x.max(axis=0)),
    ],
)
def test_states_reduced(reduce: str, of) -> None:
    measure = measure_of("energy", {"q": Q, "v": V, "reduce": reduce})
    found = measure.measured(PENDULUM, LENGTHS).values
    assert measure.states() == 1
    for k, m in enumerate(each()):
        kinetic, potential = of(m.energy(Q, V))
        assert found[f"{reduce}_energy.kinetic"][k] == pytest.approx(kinetic)
        assert found[f"{reduce}_energy.potential"][k] == pytest.approx(potential)


@pytest.mark.parametrize(
    "name", ["pose", "jacobian", "mass_matrix", "coriolis_matrix", "gravity_forces", "reactions", "regressor", "forward_dynamics", "reactions_under_forces", "state_matrix", "inverse_dynamics_derivatives"]
)  # fmt: skip
def test_every_number_of_a_quantity_has_a_column(name: str) -> None:
    """One design of its own values: all columns together are what the verb gives, but for the last row of a pose."""
    m, under = (
        PENDULUM,
        {"tau": [0.1, 0.2]}
        if name in ("forward_dynamics", "reactions_under_forces", "state_matrix")
        else {},
    )
    frame = {"frame": m.bodies[-1].name} if name in ("pose", "jacobian") else {}
    found = Quantity(name, Q[0], V[0], A[0], **under, **frame).measured(
        m, {"L1": np.array([m.parameters["L1"]])}
    )
    assert not found.reasons
    takes = [x for x in quantity(m, name).input_names if x != "tau"]
    arrays = [{"q": Q[0], "v": V[0], "a": A[0]}[x] for x in takes]
    if name == "reactions_under_forces":
        made = m.reactions(*arrays, **under)
    else:
        made = getattr(m, name)(*arrays, *under.values(), **frame)
    numbers = np.concatenate([np.ravel(x) for x in (made if isinstance(made, tuple) else (made,))])
    numbers = numbers[:12] if name == "pose" else numbers
    np.testing.assert_allclose(
        [x[0] for x in found.values.values()], numbers, rtol=1e-12, atol=1e-14
    )


def test_whole_states_of_a_closed_mechanism() -> None:
    """Masses leave them as they are; where lengths move the loops, the actuated joints keep their motion."""
    m = es.load("five_bar")
    q, v, a = m.complete([[2.0, 1.0], [2.1, 0.9]], [[1.0, 0.5]] * 2, [[0.3, -1.0]] * 2)
    given = [[2.0, 1.0], [2.1, 0.9]], [[1.0, 0.5]] * 2, [[0.3, -1.0]] * 2
    for designs in ({"m3": np.array([0.01, 0.02, 0.03])}, {"L3": np.array([0.09, 0.1, 0.12])}):
        whole = Quantity("inverse_dynamics", q, v, a).measured(m, designs).values
        actuated = Quantity("inverse_dynamics", *given).measured(m, designs).values
        for k, other in enumerate(each(designs, m)):
            tau = other.inverse_dynamics(*other.complete(*given))
            for values in (whole, actuated):
                np.testing.assert_allclose([values[name][k] for name in values], tau.T, rtol=1e-8)


def test_along_a_path_means_are_in_time() -> None:
    path = es.paths.joint_path([[0, 0], [1, 2]], es.paths.quintic(2.0))
    t, *states = path.sample(n=31)
    found = (
        Quantity("inverse_dynamics", motion=path, samples=31, reduce="mean")
        .measured(PENDULUM, LENGTHS)
        .values
    )
    tau = each()[2].inverse_dynamics(*states)
    assert found[next(iter(found))][2] == pytest.approx(np.trapezoid(tau[:, 0], t) / 2.0)


def test_designs_that_cannot_be() -> None:
    found = Quantity("energy", Q, V).measured(PENDULUM, {"m2": np.array([1.0, -1.0, 2.0])})
    assert list(found.reasons) == [1]
    assert "cannot be negative" in found.reasons[1]
    assert np.isnan(found.values["energy.kinetic"]).all(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Quantity("energy"), "needs states: q"),
        (lambda: Quantity("energy", Q, reduce="max"), "reduce is 'peak'"),
        (lambda: Quantity("energi", Q, V).columns(PENDULUM), "did you mean 'energy'"),
        (
            lambda: Quantity("energy", Q, V, frmae="tool").columns(PENDULUM),
            "energy has no option 'frmae'",
        ),
        (lambda: Quantity("pose", Q, frmae="tool").columns(PENDULUM), "did you mean 'frame'"),
        (lambda: Quantity("energy", Q, V, parameters={"L1": 1.0}), "leave parameters out"),
        (lambda: Quantity("forward_dynamics", Q, V).columns(PENDULUM), "give tau too"),
        (lambda: Quantity("energy", Q, V, tau=[1.0, 2.0]).columns(PENDULUM), "leave tau out"),
        (lambda: Quantity("forward_dynamics", Q, V, tau=[1.0]).columns(PENDULUM), "tau has shape"),
        (
            lambda: Quantity("energy", [0.1, 0.2, 0.3]).columns(PENDULUM),
            "double_pendulum has 2 coordinates",
        ),
        (
            lambda: Quantity("pose", [0.1, 0.2, 0.3, 0.4]).columns(es.load("five_bar")),
            "violates loop closure",
        ),
        (lambda: Quantity("energy", "somewhere"), "q of the motion holds text"),
    ],
)
def test_bad_input(make, sentence: str) -> None:
    with pytest.raises(es.EslabonError, match=sentence):
        make()


def test_configurations_of_quaternions_are_at_rest_if_nothing_is_said() -> None:
    """A ball has four coordinates and three velocities: with loops, and without."""
    b = es.Builder("ball")
    b.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    b.joint("s", "spherical", "ground", "rod")
    ball, q = b.build(), np.array([[1.0, 0, 0, 0], [np.sqrt(0.5), np.sqrt(0.5), 0, 0]])
    table = es.sweep(ball, "gravity_forces", {"rod.mass": [0.5, 1.0, 2.0]}, q=q)
    np.testing.assert_allclose(
        table["gravity_forces.s.wx"], np.outer([0.5, 1.0, 2.0], [0, 0.5 * 9.81]).ravel(), atol=1e-12
    )
    m = es.load("rssr")
    table = es.sweep(m, "gravity_forces", {"r": "±1 %"}, samples=3, q=m.home())
    assert not table.contents.failed
    with pytest.raises(es.InputError, match=r"velocities and accelerations .* give v and a too"):
        es.sweep(ball, "peak_torque", {"rod.mass": (0.5, 2.0)}, motion={"t": [0.0, 1.0], "q": q})
