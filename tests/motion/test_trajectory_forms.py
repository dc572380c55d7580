"""What is accepted as a motion in one verb is accepted in all, and means the same."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.motion.motion_forms import joint_path_of

T = np.linspace(0.0, 0.5, 26)


@pytest.fixture(scope="module")
def elbow():
    return es.load("elbow")


@pytest.fixture(scope="module")
def path():
    return es.paths.joint_path([[0.2, 0.4], [0.6, 0.9]], es.paths.septic(0.5))


@pytest.fixture(scope="module")
def forms(elbow, path, tmp_path_factory):
    """One motion in every form, each with the actuators' forces where it can have them."""
    folder = tmp_path_factory.mktemp("forms")
    q, v, a = path(T)
    tau = elbow.inverse_dynamics(q, v, a)
    names = {"t": T, "q": q, "v": v, "a": a, "tau": tau}
    motion = es.as_trajectory(elbow, names)
    table = folder / "measured.csv"
    columns = [T, *q.T, *v.T, *a.T, *tau.T]
    headings = [f"theta{k}.{what}" for what in ("q", "v", "a", "tau") for k in (1, 2)]
    rows = "\n".join(",".join(map(repr, map(float, row))) for row in np.column_stack(columns))
    table.write_text(",".join(["t", *headings]) + "\n" + rows)

    def function(t):
        s = t / 0.5
        done = 35 * s**4 - 84 * s**5 + 70 * s**6 - 20 * s**7
        return casadi.vertcat(0.2 + 0.4 * done, 0.4 + 0.5 * done)

    return {
        "trajectory": motion,
        "mapping": names,
        "arrays": (T, q, v, a, tau),
        "saved .npz": motion.save(folder / "m.npz"),
        "saved .csv": str(motion.save(folder / "m.csv")),
        "measured .csv": table,
        "joint path": path,
        "samples": path.sample(n=26),
        "t, q, v, a": (T, q, v, a),
        "t, q": (T, q),
        "t, function": (T, function),
        "function": function,
    }


FORMS = [
    "trajectory", "mapping", "arrays", "saved .npz", "saved .csv", "measured .csv", "joint path", "samples", "t, q, v, a",
    "t, q", "t, function", "function",
]  # fmt: skip
ENDING = [form for form in FORMS if form != "function"]
WITH_FORCES = FORMS[:6]
TOLERANCE = {"t, q": (1e-6, 1e-3, 0.1)}  # of q, v and a: the rates of a spline


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_trajectory(elbow, forms, path, form):
    motion = es.as_trajectory(elbow, forms[form], samples=26)
    t = np.array([0.0, 0.13, 0.2, 0.37, 0.5])
    for made, true, tolerance in zip(
        motion.at(t), path(t), TOLERANCE.get(form, (1e-7, 1e-5, 1e-3)), strict=True
    ):
        np.testing.assert_allclose(made, true, atol=tolerance * 4)
    s = casadi.SX.sym("t")
    f = casadi.Function("f", [s], [casadi.densify(x) for x in motion.at_symbol(s)])
    for x, y in zip(f(0.37), motion.at(0.37), strict=True):
        np.testing.assert_allclose(np.ravel(x), y, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_control_follows_every_form(elbow, forms, form):
    law = es.control.computed_torque(elbow, forms[form], frequency=10.0)
    same = es.control.computed_torque(elbow, forms["trajectory"], frequency=10.0)
    q, v = np.array([0.3, 0.5]), np.array([0.1, -0.1])
    np.testing.assert_allclose(law(0.2, q, v), same(0.2, q, v), atol=0.05)


@pytest.mark.parametrize("form", ENDING)
def test_measures_take_every_form(elbow, forms, form):
    found, true = (
        es.measures.PeakTorque(forms[x], samples=26).measured(elbow, {"a1": np.array([1.0])})
        for x in (form, "trajectory")
    )
    assert true.values
    for name, value in true.values.items():
        np.testing.assert_allclose(found.values[name], value, rtol=1e-2)


@pytest.mark.parametrize("form", ENDING)
def test_linear_responses_compare_every_form(elbow, forms, form):
    response = es.linear.compare_response(
        elbow,
        forms["trajectory"],
        es.as_trajectory(elbow, forms[form], samples=26) if form == "joint path" else forms[form],
    )
    assert response.dq.shape == (26, 2)
    np.testing.assert_allclose(response.dq, 0, atol=1e-7)


@pytest.mark.parametrize("form", WITH_FORCES)
def test_identification_takes_every_form_with_forces(elbow, forms, form):
    found = es.identification.identify(elbow, forms[form], friction=())
    np.testing.assert_allclose(found.values, found.base.values, atol=1e-6)


def test_forms_without_forces_cannot_be_identified(elbow, forms):
    for form in ("joint path", "t, q", "function"):
        with pytest.raises(es.InputError, match="holds no tau"):
            es.identification.identify(elbow, forms[form])


@pytest.mark.parametrize("form", ENDING)
def test_designs_make_every_form(elbow, forms, path, form):
    made = joint_path_of(es.as_trajectory(elbow, forms[form], samples=26))
    np.testing.assert_allclose(made.position(0.2), path.position(0.2), atol=1e-6)
    assert made.duration == pytest.approx(0.5)


def test_the_actuated_coordinates_are_completed_by_the_loops():
    m = es.load("five_bar")
    path = es.paths.joint_path([[2.0, 1.0], [2.2, 0.9]], es.paths.quintic(0.5))
    part = es.as_trajectory(m, path, samples=11)
    assert part.joints == tuple(m.actuated)
    with pytest.raises(es.ModelError, match="tells the actuated joints alone"):
        _ = part.energy
    whole = part.completed()
    assert np.abs(m.constraint(whole.q)).max() < 1e-9
    np.testing.assert_allclose(whole.energy.total, m.energy(whole.q, whole.v).sum(axis=-1))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (None, "a motion is a Trajectory"),
        ({"q": [0.1, 0.2], "z": 1}, "a motion has no 'z'"),
        ({"t": T}, "coordinates 'q'"),
        ((T[:3], np.zeros((3, 2))), "follow from 6 times or more"),
        ((T, np.zeros((26, 3))), "the motion has 3 coordinates"),
        ((T, np.zeros((26, 2)), np.zeros((26, 2)), np.zeros((26, 2)), np.zeros((26, 1))), r"tau of the motion has shape \(26, 1\)"),
        ("no/such/file.npz", "cannot be read"),
        (es.paths.along(es.paths.line([0, 0, 0], [1, 0, 0]), es.paths.quintic(1.0)), r"m.follow\(path\)"),
    ],
)  # fmt: skip
def test_what_is_no_motion(elbow, given, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        es.as_trajectory(elbow, given)


def test_motions_without_an_end_are_refused_where_times_are_needed(elbow, forms):
    with pytest.raises(es.InputError, match="has no end"):
        es.linear.compare_response(elbow, forms["function"], forms["trajectory"])


LAWS = {
    "pd_gravity": lambda m, motion: es.control.pd_gravity(m, motion, 20.0, 5.0),
    "modal": lambda m, motion: es.control.modal(m, motion, 10.0),
    "adaptive": lambda m, motion: es.control.adaptive(m, motion, 5.0, 2.0),
    "tracking_lqr": lambda m, motion: es.control.tracking_lqr(m, motion, np.eye(4), np.eye(2)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("form", ["mapping", "measured .csv", "joint path", "t, function"])
def test_every_law_follows_other_forms_alike(elbow, forms, law, form):
    made, same = (LAWS[law](elbow, forms[x]) for x in (form, "trajectory"))
    q, v = np.array([0.3, 0.5]), np.array([0.1, -0.1])
    states = () if made.state is None else (same.state,)
    given, wanted = made(0.2, q, v, *states), same(0.2, q, v, *states)
    for x, y in zip(given, wanted, strict=True):  # forces, or forces and rates of states
        np.testing.assert_allclose(x, y, rtol=1e-2, atol=0.05)


@pytest.mark.parametrize("form", ENDING)
def test_players_and_studies_show_every_form(elbow, forms, form):
    from eslabon.studies.movement import movement
    from eslabon.viewer.playback import clips

    (clip,) = clips(elbow, forms[form])
    made = movement(elbow, forms[form], elbow.home(), None)
    for t, q in ((clip.t, clip.q), (made.t, made.q)):
        np.testing.assert_allclose(q[[0, -1]], [[0.2, 0.4], [0.6, 0.9]], atol=1e-6)
        assert t[-1] == pytest.approx(0.5)
