"""Where a frame's motion is held, actuated joints and all others follow a parameter."""

from typing import Any

import numpy as np
import pytest

import eslabon as es
from assembled_anew import Held, designed, differences, motion, slope

ROWS = ("rx", "ry", "rz", "x", "y", "z")
CASES: list[tuple[int, list[str], list[str], tuple[str, ...], Any]] = [
    (0, ["revolute"] * 5, ["spherical"], ("joint1",), ("x",)),
    (7, ["revolute", "spherical", "prismatic"], ["spherical"], (), ("rx", "y")),
    (13, ["spherical", "revolute", "cylindrical", "helical"], ["universal"], (), ("ry", "y", "z")),
    (4, ["planar", "revolute", "universal"], ["spherical"], (), ("rx", "ry", "rz")),
    (3, ["revolute", "free"], ["spherical"], ("joint0",), ("ry", "x", "z")),
]


@pytest.mark.parametrize(("seed", "kinds", "cuts", "joints", "rows"), CASES)
def test_frames_of_random_closed_mechanisms(
    seed: int, kinds: list[str], cuts: list[str], joints: tuple[str, ...], rows: tuple[str, ...]
) -> None:
    m, q = designed(seed, kinds, cuts)
    v, a = motion(m, q, np.random.default_rng(seed))
    anew = Held(m, joints, "tip", tuple(ROWS.index(x) for x in rows)).states(q, v, a)
    given: Any = {"along": "closed", "held": {"tip": rows, **dict.fromkeys(joints, "joint")}}
    np.testing.assert_allclose(
        m.derivative("configuration", "s", q, **given), slope(anew["q"]), rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(
        m.derivative("velocities", "s", q, v, **given), slope(anew["v"]), rtol=1e-6, atol=1e-7
    )
    exact = m.derivative("accelerations", "s", q, v, a, **given)
    np.testing.assert_allclose(exact, slope(anew["a"]), rtol=1e-6, atol=1e-6)
    places = [ROWS.index(x) for x in rows]
    for quantity in ("velocity", "acceleration"):  # of the frame that is held
        states = (q, v) if quantity == "velocity" else (q, v, a)
        still = m.derivative(quantity, "s", *states, frame="tip", axes="aligned", **given)[places]
        np.testing.assert_allclose(still, 0.0, atol=1e-8)


def arm() -> es.Mechanism:
    """Six revolute joints, a wrist at the end, with an offset and two lengths."""
    b = es.Builder("arm")
    a2, a3, tool = b.parameter("a2", 0.4), b.parameter("a3", 0.3), b.parameter("tool", 0.1)
    places = [(0, 0, 0.3), (0, 0, 0), (a2, 0, 0), (a3, 0, 0), (0, 0, 0), (0, 0, 0)]
    before = "ground"
    for k, (axis, at) in enumerate(zip("zyyxyx", places, strict=True)):
        b.body(f"link{k}", 1.0, (0.1, 0, 0), (0.01, 0.02, 0.02))
        b.joint(f"q{k}", "revolute", before, f"link{k}", at, axis=axis)
        before = f"link{k}"
    return b.frame("hand", before, (tool, 0, 0)).build()


def test_the_hand_of_an_open_arm_stays() -> None:
    m = arm()
    rng = np.random.default_rng(3)
    q, v, a = np.array([0.3, -0.7, 1.1, 0.4, 0.8, -0.2]), *rng.normal(size=(2, 6))
    T, V = m.pose(q, "hand"), m.velocity(q, v, "hand", axes="aligned")
    A = m.acceleration(q, v, a, "hand", axes="aligned")

    def forces(step: float, name: str) -> np.ndarray:
        other = m.variant(
            **{name: m.parameters[name] + step}
        )  # which shares its code with all others
        qs = other.inverse_kinematics(es.Target("hand", pose=T), guess=q)
        vs = np.linalg.solve(other.jacobian(qs, "hand", "aligned"), V)
        bias = other.acceleration(qs, vs, np.zeros(6), "hand", axes="aligned")
        return other.inverse_dynamics(
            qs, vs, np.linalg.solve(other.jacobian(qs, "hand", "aligned"), A - bias)
        )

    exact = m.derivative("inverse_dynamics", ("a2", "tool"), q, v, a, along="closed", held="hand")
    for k, name in enumerate(("a2", "tool")):
        np.testing.assert_allclose(
            exact[:, k], differences(lambda h, n=name: forces(h, n), 1e-3), rtol=1e-6, atol=1e-7
        )
    several = m.derivative(
        "inverse_dynamics", "a2", *np.stack([[q, v, a]] * 2, axis=1), along="closed", held="hand"
    )
    np.testing.assert_allclose(
        several, np.stack([exact[:, 0]] * 2), rtol=1e-12, atol=1e-13
    )  # the last is zero


def test_the_point_of_a_five_bar_stays() -> None:
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    T = m.pose(q, "point")

    def reached(step: float) -> np.ndarray:
        other = m.variant(L2=m.parameters["L2"] + step)
        return other.inverse_kinematics(es.Target("point", position=T[:3, 3]), guess=q)

    for part in ("position", ("x", "y"), ["y", "x"]):
        exact = m.derivative("configuration", "L2", q, along="closed", held={"point": part})
        np.testing.assert_allclose(exact, differences(reached, 1e-5), rtol=1e-6, atol=1e-9)


def test_a_platform_stays() -> None:
    m, parameter = es.load("planar_3rrr"), "L"
    q = m.assemble(m.home()[[m.coordinates[j].start for j in m.actuated]] + [0.1, 0.0, -0.05])
    still = np.zeros(m.nv)
    anew = Held(m, (), "centre", tuple(range(6)), parameter).states(q, still, still)["q"]
    exact = m.derivative("configuration", parameter, q, along="closed", held="centre")
    np.testing.assert_allclose(exact, slope(anew), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        m.derivative("pose", parameter, q, along="closed", held="centre"), 0.0, atol=1e-10
    )
    same = m.derivative("configuration", parameter, q, along="closed", held={"centre": "planar"})
    np.testing.assert_allclose(same, exact, rtol=1e-9, atol=1e-12)


def test_what_is_not_determined_or_too_much_is_refused() -> None:
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    for held, sentence in (
        ("point", "would hold 3 motions, and five_bar has 2 degrees of freedom"),
        ({"point": "x"}, "leaves 1 of the 2 degrees of freedom of five_bar open"),
        ({"point": "position", "theta2": "joint"}, "would hold 3 motions"),
        ("pint", "has no joint that moves and no frame 'pint'; did you mean 'point'"),
        ({"pint": "pose"}, "no frame or body 'pint'"),
        ({"point": "positon"}, "did you mean 'position'"),
        ({"point": ("x", "w")}, "rows of its pose such as"),
        ({"point": 3}, "it is 3"),
        (3, "held are names"),
    ):
        with pytest.raises(es.ModelError, match=sentence):
            m.derivative("configuration", "L2", q, along="closed", held=held)
    with pytest.raises(
        es.ModelError, match="'hand' leaves 3 of the 6 degrees of freedom of arm open"
    ):
        arm().derivative("pose", "a2", np.zeros(6), along="closed", held={"hand": "position"})


def test_what_no_joint_makes_up_for_is_refused() -> None:
    m = es.load("scara")
    q = np.array([0.3, 0.5, 0.1, 0.2])
    moved = m.derivative("configuration", "height", q, along="closed", held="tool")
    np.testing.assert_allclose(np.abs(moved), [0, 0, 1, 0], atol=1e-12)
    flat = m.locked({"q3": 0.1})
    with pytest.raises(
        es.AssemblyError, match="cannot follow a change of 'height' alone and hold 'tool'"
    ):
        flat.derivative("configuration", "height", q[[0, 1, 3]], along="closed", held="tool")
    stretched = es.load("elbow")
    with pytest.raises(es.SingularityError, match="to hold 'tool' does not determine"):
        stretched.derivative(
            "configuration", "a1", [0.4, 0.0], along="closed", held={"tool": "position"}
        )
