"""Coupler curves: known four-bars found again, straight lines, orders and branches that are kept."""

from itertools import combinations

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.optimize.coupler_synthesis import OfCrank
from eslabon.optimize.curve_assignment import assigned
from eslabon.optimize.instant_equations import InstantEquations

KNOWN = {"x0": 0.15, "y0": -0.1, "angle": 0.2, "ground": 1.1, "crank": 0.35, "coupler": 0.8, "rocker": 0.75, "u": 0.3, "w": 0.45}  # fmt: skip


def four_bar():
    """A four-bar anywhere in the plane, with a pen anywhere on its coupler."""
    b = es.Builder("four_bar")
    given = {"x0": 0.0, "y0": 0.0, "angle": 0.0, "ground": 1.0, "crank": 0.4, "coupler": 0.9, "rocker": 0.7, "u": 0.5, "w": 0.3}  # fmt: skip
    for name, value in given.items():
        b.parameter(name, value)
    b.body("crank", mass=1.0).body("coupler", mass=1.0).body("rocker", mass=1.0)
    b.joint("q1", "revolute", "ground", "crank", at=("x0", "y0", 0), home=1.0)
    b.joint("q2", "revolute", "crank", "coupler", at=("crank", 0, 0), home=-0.7)
    b.joint(
        "q3",
        "revolute",
        "ground",
        "rocker",
        at=("x0 + ground*cos(angle)", "y0 + ground*sin(angle)", 0),
        home=1.6,
    )
    b.loop("pin", "revolute", "coupler", "rocker", first=("coupler", 0, 0), second=("rocker", 0, 0))
    return b.frame("pen", "coupler", at=("u", "w", 0)).actuate("q1").build()


@pytest.fixture(scope="module")
def linkage():
    return four_bar()


def drawn(m, angles, guess=None):
    """Points that the pen draws, on the branch of home."""
    return m.pose(m.assemble(np.asarray(angles)[:, None], guess, continuation=True), "pen")[
        :, :2, 3
    ]


RANGES = {"x0": (-0.4, 0.4), "y0": (-0.4, 0.4), "angle": (-0.5, 0.5), "ground": (0.8, 1.4), "crank": (0.2, 0.5), "coupler": (0.6, 1.1),
    "rocker": (0.5, 1.1), "u": (0.0, 0.6), "w": (0.1, 0.6)}  # fmt: skip


def test_a_four_bar_is_found_by_twelve_points_of_its_curve(linkage):
    """Nine numbers, of which the solver knows the ranges."""
    points = drawn(linkage.with_parameters(**KNOWN), np.linspace(0.3, 5.5, 12))
    best = es.optimize.coupler_curve(linkage, "pen", points, RANGES, starts=4)
    assert best.value < 1e-6
    assert best.checks.passed
    assert best.before > 0.05
    cranks = np.linspace(0, 2 * np.pi, 721)
    curve = drawn(
        best.mechanism, cranks
    )  # assembled from home, by a user who knows nothing of the optimiser
    assert np.linalg.norm(curve[:, None] - points, axis=-1).min(axis=0).max() < 5e-3
    assert {name: round(x, 4) for name, x in best.parameters.items()} == KNOWN


def test_two_lengths_against_a_grid(linkage):
    """Points that no such four-bar passes exactly: no design of a grid comes nearer."""
    m = linkage.with_parameters(**KNOWN)
    angles = np.linspace(0.5, 2.5, 6)
    points = drawn(m, angles) + 0.02 * np.array(
        [[1, -1], [0, 1], [-1, 0], [1, 1], [0, -1], [-1, 1]]
    )
    best = es.optimize.coupler_curve(
        m, "pen", points, {"crank": (0.3, 0.4), "rocker": (0.7, 0.8)}, starts=2
    )
    cranks = np.linspace(0, 2 * np.pi, 181, endpoint=False)

    def rms(crank, rocker):
        curve = drawn(m.variant(crank=crank, rocker=rocker), cranks)
        squares = np.square(points[:, None] - curve).sum(axis=-1)
        return np.sqrt(assigned(squares, around=True).cost)

    every = [rms(a, b) for a in np.linspace(0.3, 0.4, 5) for b in np.linspace(0.7, 0.8, 5)]
    assert best.value <= min(every)
    assert best.value == pytest.approx(rms(**best.parameters), rel=2e-2)
    assert best.value > 1e-3


def test_prescribed_timing_is_kept(linkage):
    angles = np.array([0.4, 0.7, 1.3, 2.0, 2.4])
    points = drawn(linkage.with_parameters(crank=0.35, w=0.4), angles)
    over = {"crank": (0.3, 0.45), "w": (0.2, 0.5)}
    best = es.optimize.coupler_curve(
        linkage, "pen", points, over, timing=angles - angles[0], starts=1
    )
    assert best.value < 1e-6
    assert best.parameters == pytest.approx({"crank": 0.35, "w": 0.4}, abs=1e-5)
    start = best.starts.best
    assert np.diff(start.values["crank"]) == pytest.approx(np.diff(angles), abs=1e-7)
    other = es.optimize.coupler_curve(
        linkage, "pen", points, over, timing=2 * (angles - angles[0]), starts=1
    )
    assert other.value > 1e-2  # the same points at other times are another task


def test_a_crank_that_has_to_turn(linkage):
    """The points are those of a double rocker; with a full turn asked for, the shortest link is a crank and Grashof's sum small."""
    rocker = linkage.with_parameters(ground=1.0, crank=0.6, coupler=0.5, rocker=0.7)
    points = drawn(rocker, np.linspace(1.0, 1.6, 5))
    over = {
        "crank": (0.2, 0.7),
        "coupler": (0.4, 1.0),
        "rocker": (0.5, 0.9),
        "u": (0.2, 0.6),
        "w": (0.1, 0.5),
    }
    free = es.optimize.coupler_curve(rocker, "pen", points, over, starts=1)
    assert free.value < 1e-6
    turning = es.optimize.coupler_curve(linkage, "pen", points, over, full_turn=True, starts=3)
    links = np.sort([1.0, *(turning.parameters[name] for name in ("crank", "coupler", "rocker"))])
    assert links[0] + links[3] <= links[1] + links[2] + 1e-6
    assert turning.parameters["crank"] == links[0]
    whole = turning.mechanism.assemble(
        np.linspace(0, 2 * np.pi, 91)[:, None], continuation=True, singular="error"
    )
    assert np.abs(np.exp(1j * whole[-1]) - np.exp(1j * whole[0])).max() < 1e-6
    assert (
        np.abs(np.sin(whole[:, 0] + whole[:, 1] - whole[:, 2])).min() > 0.14
    )  # of the transmission angle
    assert all(s.accepted for s in turning.starts)


def test_a_branch_is_told_by_the_transmission_angle(linkage):
    """Also where coupler and rocker are all but in line, and branches are about to meet."""
    m = linkage.with_parameters(
        crank=0.5999, coupler=0.7, rocker=0.9
    )  # all but a parallel change point
    e = InstantEquations(m, ("crank",), OfCrank(0, 0))
    side = casadi.Function("side", e.inputs, e.signs()[:1])
    q = m.assemble(np.linspace(0.5, np.pi, 40)[:, None], continuation=True)
    sine = np.sin(q[:, 0] + q[:, 1] - q[:, 2])
    assert np.abs(sine).min() < 0.03
    rest = np.zeros(3)
    found = np.array([float(side([0.5999], x, rest, rest, x[0])) for x in q])
    assert np.abs(found) == pytest.approx(np.abs(sine), abs=1e-9)
    assert len(set(np.sign(found))) == 1


def test_bounds_besides(linkage):
    points = drawn(linkage.with_parameters(crank=0.35), np.linspace(0.5, 2.5, 5))
    asked = {
        "condition": (0.45, None),
        "sum": (lambda s: s.values["crank"] + s.values["rocker"], None, 1.0),
    }
    best = es.optimize.coupler_curve(
        linkage,
        "pen",
        points,
        {"crank": (0.3, 0.5), "rocker": (0.6, 0.8)},
        subject_to=asked,
        starts=2,
    )
    assert best.parameters["crank"] + best.parameters["rocker"] <= 1.0 + 1e-6
    q = best.starts.best.values["q"]
    assert best.mechanism.conditions(q).parallel.min() > 0.44


@pytest.mark.parametrize("around", [False, True])
def test_the_assignment_is_the_best_of_all(around, rng):
    for _ in range(10):
        squares = rng.uniform(size=(3, 7))
        found = assigned(squares, around)
        rows = np.arange(3)
        every = [
            squares[rows, list(order)].mean()
            for chosen in combinations(range(7), 3)
            for order in _orders(chosen, around)
        ]
        assert found.cost == pytest.approx(min(every))
        assert squares[rows, found.places].mean() == pytest.approx(found.cost)


def _orders(chosen, around):
    turns = [chosen[k:] + chosen[:k] for k in range(3)] if around else [chosen]
    return [*turns, *(t[::-1] for t in turns)]


def test_figures_show_both_curves(linkage):
    points = drawn(linkage.with_parameters(crank=0.35), np.linspace(0.5, 2.5, 5))
    best = es.optimize.coupler_curve(linkage, None, points, {"crank": (0.3, 0.5)}, starts=1)
    (ax,) = best.plot().axes
    assert [line.get_label() for line in ax.lines] == ["before", "optimum", "points"]
    away = np.linalg.norm(ax.lines[1].get_xydata()[:, None] - points, axis=-1).min(axis=0)
    assert away.max() < 0.02


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"over": {"cranck": (0.1, 0.2)}}, "did you mean 'crank'"),
        ({"over": {"crank": (0.2, 0.1)}}, "goes from 0.2 down to 0.1"),
        ({"points": [[0.0, 1.0]]}, "two at least"),
        ({"points": np.zeros((3, 4))}, r"\(k, 2\) or \(k, 3\)"),
        ({"frame": "pencil"}, "did you mean 'pen'"),
        ({"timing": [0.0, 1.0]}, "an angle of the crank for each of the 3 points"),
        ({"timing": [0.0, 1.0, 0.5]}, "all increasing or all decreasing"),
        ({"subject_to": {"peak_torque": (None, 1.0)}}, "a coupler curve has none"),
        ({"subject_to": {"slow": (lambda s: s.v[0], None, 1.0)}}, "depends on velocities"),
        ({"over": {"ground": (9.0, 10.0)}}, "can be assembled|feasible"),
    ],
)
def test_nonsense_ends_in_a_sentence(linkage, change, sentence):
    arguments = {
        "frame": "pen",
        "points": [[0.1, 0.5], [0.2, 0.6], [0.4, 0.6]],
        "over": {"crank": (0.3, 0.5)},
        "starts": 1,
        **change,
    }
    with pytest.raises(es.EslabonError, match=sentence):
        es.optimize.coupler_curve(linkage, **arguments)


def test_a_robot_has_no_coupler_curve():
    with pytest.raises(
        es.ModelError, match="one degree of freedom and one actuated joint; five_bar has 2 and 2"
    ):
        es.optimize.coupler_curve(
            es.load("five_bar"), "point", np.zeros((3, 2)), {"L2": (0.03, 0.05)}
        )
