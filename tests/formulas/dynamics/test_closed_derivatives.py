"""Derivatives by a parameter along the closed configuration are those of mechanisms assembled anew."""

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from assembled_anew import Held, designed, differences, motion, slope
from eslabon.model.configuration import coordinate_rates, velocity_names
from randomness import examples
from strategies import State, degenerate_loops, moving_loops

CASES = [
    (1, ["revolute"] * 8, ["spherical"]),
    (2, ["revolute", "universal", "prismatic", "spherical"], ["spherical"]),
    (1, ["spherical", "revolute", "cylindrical", "helical"], ["universal"]),
    (2, ["planar", "revolute", "universal", "prismatic"], ["spherical"]),
    (1, ["free", "revolute"], ["spherical"]),
]


@pytest.mark.parametrize(("seed", "kinds", "cuts"), CASES)
def test_motion_of_random_closed_mechanisms(seed: int, kinds: list[str], cuts: list[str]) -> None:
    m, q = designed(seed, kinds, cuts)
    v, a = motion(m, q, np.random.default_rng(seed))
    held = Held(m, m.independent_coordinates(q))
    anew = held.states(q, v, a)
    given = {"along": "closed", "held": held.names}
    values = {"parameters": {"s": anew["s"]}}
    np.testing.assert_allclose(
        m.derivative("velocities", "s", q, v, **given), slope(anew["v"]), atol=1e-7
    )
    np.testing.assert_allclose(
        m.derivative("accelerations", "s", q, v, a, **given), slope(anew["a"]), atol=1e-6
    )
    exact = m.derivative("pose", "s", q, frame="tip", **given)
    np.testing.assert_allclose(exact, slope(m.pose(anew["q"], "tip", **values)), atol=1e-8)
    energy = slope(m.energy(anew["q"], anew["v"], **values))
    np.testing.assert_allclose(m.derivative("energy", "s", q, v, **given), energy, atol=1e-6)


def test_what_cannot_follow_is_refused() -> None:
    m, q = designed(
        2, ["revolute"] * 8, ["spherical", "spherical"]
    )  # its second loop holds what the first one does
    with pytest.raises(es.AssemblyError, match="cannot follow a change of 's' alone"):
        m.derivative("configuration", "s", q, along="closed", held=m.independent_coordinates(q))


def test_what_changes_all_lengths_together_is_followed() -> None:
    m = es.load("bennett")
    q = m.assemble([1.2])
    np.testing.assert_allclose(
        m.derivative("configuration", "a", q, along="closed"), 0.0, atol=1e-12
    )
    turned = differences(
        lambda s: m.with_parameters(alpha=m.parameters["alpha"] + s).assemble([1.2], guess=q)
    )
    np.testing.assert_allclose(
        m.derivative("configuration", "alpha", q, along="closed"), turned, atol=1e-7
    )


def test_torques_reactions_and_frozen_by_name() -> None:
    m = es.load("five_bar")
    given = [2.0, 1.0], [1.0, -0.5], [0.3, 0.2]
    q, v, a = m.complete(*given)

    for parameter in ("L1", "L2", "L4", "m3"):
        held = Held(m, m.actuated, parameter=parameter)
        anew = held.states(q, v, a, 1e-5)
        for quantity in ("inverse_dynamics", "reactions"):
            exact = m.derivative(quantity, parameter, q, v, a, along="closed")
            values = getattr(m, quantity)(anew["q"], anew["v"], anew["a"], **held.values(anew["s"]))
            np.testing.assert_allclose(exact, slope(values, 1e-5), rtol=1e-6, atol=1e-8)
    frozen = m.derivative("inverse_dynamics", "L2", q, v, a)
    np.testing.assert_array_equal(
        m.derivative("inverse_dynamics", "L2", q, v, a, along="frozen"), frozen
    )
    assert (
        np.abs(m.derivative("inverse_dynamics", "L2", q, v, a, along="closed") - frozen).max()
        > 1e-5
    )
    many = m.derivative(
        "inverse_dynamics", "L2", *(np.array([x, x]) for x in (q, v, a)), along="closed"
    )
    np.testing.assert_allclose(
        many[1], m.derivative("inverse_dynamics", "L2", q, v, a, along="closed"), rtol=1e-12
    )


def test_bad_input_is_a_sentence() -> None:
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    with pytest.raises(es.ModelError, match="no parameter 'L9'"):
        m.derivative("pose", "L9", q, along="closed")
    with pytest.raises(es.ModelError, match="by a parameter"):
        m.derivative("pose", "q", q, along="closed")
    with pytest.raises(es.ModelError, match="no option 'along'"):
        m.pose(q, along="closed")
    with pytest.raises(es.ModelError, match="along"):
        m.derivative("pose", "L2", q, along="loops")
    for wrong, sentence in (
        ({"along": "close"}, "did you mean 'closed'"), ({"along": None}, "along is"), ({}, r"'configuration' of five_bar .*along=\"closed\""),
    ):  # fmt: skip
        with pytest.raises(es.EslabonError, match=sentence):
            m.derivative("configuration", "L2", q, **wrong)
    with pytest.raises(es.ModelError, match="did you mean 'natural_frequencies'"):
        m.derivative("natural_frequency", "L2", q)
    with pytest.raises(es.AssemblyError, match="violates loop closure"):
        m.derivative("pose", "L2", q + 0.1, along="closed")
    with pytest.raises(es.ModelError, match="held"):
        m.derivative("pose", "L2", q, held=("theta2",))
    with pytest.raises(es.ModelError, match="say which are held"):
        m.with_actuated(["theta2"]).derivative("pose", "L2", q, along="closed")


def test_several_parameters_are_a_last_axis() -> None:
    m = es.load("five_bar")
    q, v, a = m.complete([2.0, 1.0], [1.0, -0.5], [0.3, 0.2])
    names = ("L1", "L2", "m3", "g")
    for quantity, states in (("inverse_dynamics", (q, v, a)), ("mass_matrix", (q,))):
        for along in ("closed", "frozen"):
            several = m.derivative(quantity, names, *states, along=along)
            for k in (1, 2):
                one = m.derivative(quantity, names[k], *states, along=along)
                np.testing.assert_allclose(several[..., k], one, rtol=1e-9, atol=1e-12)
    one = m.derivative("inverse_dynamics", ["L1"], q, v, a, along="closed")
    assert one.shape == (2, 1)
    forces, accelerations = m.derivative("hybrid_dynamics", ("L1", "L2"), q, v, a, along="closed")
    assert forces.shape == (2, 2)
    assert accelerations.shape == (4, 2)
    lengths = {"L1": np.array([0.1, 0.1]), "L2": 0.04}
    many = m.derivative(
        "inverse_dynamics", names, *np.stack([[q, v, a]] * 2, 1), along="closed", parameters=lengths
    )
    np.testing.assert_allclose(
        many[1], m.derivative("inverse_dynamics", names, q, v, a, along="closed"), rtol=1e-9
    )


def test_bad_input_of_several_is_a_sentence() -> None:
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    for by, sentence in (
        (("L1", "L9"), "no parameter 'L9'"), (("L1", "q"), "'q' is an argument of pose"), ((), "each once"),
        (("L1", "L1"), "each once"), (3, "by are names"), ((1, 2), "by are names"),
    ):  # fmt: skip
        for along in ("closed", "frozen"):
            with pytest.raises(es.ModelError, match=sentence):
                m.derivative("pose", by, q, along=along)


def test_a_parameter_may_have_the_name_of_an_argument() -> None:
    m = es.load("bennett")  # whose length a is no acceleration
    q, v, a = m.complete([1.2], [0.5], [0.3])

    def force(s: float, **held: np.ndarray) -> np.ndarray:
        other = m.variant(a=m.parameters["a"] + s)
        return other.inverse_dynamics(
            *(held.values() or other.complete([1.2], [0.5], [0.3], guess=q))
        )

    for by in ("a", ("a",)):
        exact = m.derivative("inverse_dynamics", by, q, v, a, along="closed")
        np.testing.assert_allclose(np.ravel(exact), differences(force, 1e-3), rtol=1e-8)
    frozen = m.derivative("inverse_dynamics", ("a",), q, v, a)[:, 0]
    np.testing.assert_allclose(
        frozen, differences(lambda s: force(s, q=q, v=v, a=a), 1e-3), rtol=1e-8
    )
    assert m.derivative("inverse_dynamics", "a", q, v, a).shape == (1, m.nv)  # by the argument
    with pytest.raises(es.ModelError, match=r"differentiate by \('a',\) for the parameter"):
        m.derivative("inverse_dynamics", "a", q, v, a, parameters={"a": 0.21})


def test_designs_far_from_the_described_one_follow_too() -> None:
    """Of a linkage whose redundant rows are others in every configuration of every design."""
    m = es.load("bennett")
    alpha = m.parameters["alpha"] + np.array([-0.1, 0.15])
    q = m.assemble(np.linspace(0.3, 5.8, 4)[:, None, None], parameters={"alpha": alpha})
    many = m.derivative(
        "configuration", ("a", "alpha"), q, along="closed", parameters={"alpha": alpha}
    )
    for k, value in enumerate(alpha):
        own = m.with_parameters(alpha=float(value))
        np.testing.assert_allclose(many[:, k], own.derivative("configuration", ("a", "alpha"), q[:, k], along="closed"), rtol=1e-7, atol=1e-9)  # fmt: skip


def test_what_has_no_answer_itself_is_refused() -> None:
    b = es.Builder("light")
    length = b.parameter("L", 1.0)
    b.body("bar").joint("q", "revolute", "ground", "bar", (length, 0, 0))
    m = b.build()
    with pytest.raises(es.ModelError, match="moves no mass"):
        m.derivative("forward_dynamics", "L", [0.1], [0.0], [0.0], along="closed")
    with pytest.raises(es.ModelError, match="moves no mass"):
        m.derivative("forward_dynamics", ("L",), [0.1], [0.0], [0.0])


def test_variants_share_the_code_of_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    from eslabon.compiler import evaluate as evaluator

    m = es.load("five_bar")

    def gradient(other: es.Mechanism) -> np.ndarray:
        q, v, a = other.complete([2.0, 1.0], [1.0, -0.5], [0.3, 0.2])
        return other.derivative("inverse_dynamics", ("L2", "m3"), q, v, a, along="closed")

    gradient(m.variant(L2=0.041))
    made = []
    compiled = evaluator._compiled
    monkeypatch.setattr(
        evaluator,
        "_compiled",
        lambda m, request, key: made.append(request) or compiled(m, request, key),
    )
    found = gradient(m.variant(L2=0.043))
    assert not made
    np.testing.assert_allclose(found, gradient(m.with_parameters(L2=0.043)), rtol=1e-9)


@examples(8)
@given(moving_loops(scaled=True) | degenerate_loops(light=False))
def test_any_closed_mechanism_follows_its_size_or_says_why_not(state: State) -> None:
    m, q = state.m, state.q
    names = m.independent_coordinates(q)
    J, opened = m.constraint_jacobian(q), m.derivative("constraint", "size", q)
    rest = [k for k, name in enumerate(velocity_names(m)) if name not in names]
    moved = np.zeros(m.nv)
    moved[rest] = np.linalg.lstsq(J[:, rest], -opened, rcond=1e-9)[0]
    left = np.linalg.norm(J @ moved + opened) / max(np.linalg.norm(opened), 1e-3)
    sizes = np.linalg.svd(J[:, rest], compute_uv=False)
    try:
        exact = m.derivative("configuration", "size", q, along="closed", held=names)
    except es.AssemblyError as error:
        assert "cannot follow a change of 'size'" in str(error)
        assert left > 1e-7
    except (
        es.ModelError,
        es.SingularityError,
    ):  # the choice that suits this configuration does not suit the others
        assert set(names) != set(m.independent_coordinates()) or sizes[-1] < 1e-3 * sizes[0]
    else:
        expected = np.asarray(coordinate_rates(m, q)) @ moved
        np.testing.assert_allclose(
            exact, expected, rtol=1e-6, atol=1e-7 * max(1.0, np.abs(expected).max())
        )
