"""Optimal designs against brute force, direct search, differences and what mechanics says beforehand."""

import casadi
import numpy as np
import pytest
from scipy.optimize import minimize

import eslabon as es
from eslabon.optimize.design_problem import DesignProblem
from eslabon.optimize.design_quantities import demands_of, quantity_of
from eslabon.optimize.instant_equations import conditioning
from eslabon.optimize.optimal_design import ranges_of
from eslabon.optimize.prescribed_motion import prescribed
from randomness import seeded

SWING = es.paths.joint_path([[2.0, 1.0], [1.7, 1.3]], es.paths.cycloidal(0.3))
LINE = es.paths.along(es.paths.line([0.03, 0.10, 0], [0.07, 0.10, 0]), es.paths.cycloidal(0.12))
RODS = {"L3": (0.08, 0.12), "L4": (0.08, 0.12)}


@pytest.fixture(scope="module")
def five_bar():
    return es.load("five_bar")


@pytest.fixture(scope="module")
def least_peak(five_bar):
    return es.optimize.design(five_bar, "peak_torque", RODS, SWING, samples=25, starts=3)


def measured(m, name, designs, **options):
    """A measure of designs, which knows nothing of the optimiser."""
    arrays = {key: np.atleast_1d(x) for key, x in designs.items()}
    return getattr(es.measures, name)(SWING, samples=97, **options).measured(m, arrays)


def grid(n):
    a, b = np.meshgrid(np.linspace(0.08, 0.12, n), np.linspace(0.08, 0.12, n))
    return {"L3": a.ravel(), "L4": b.ravel()}


# -- optima -------------------------------------------------------------------------------------------------------------


def test_no_design_of_a_grid_is_better(five_bar, least_peak):
    found = measured(five_bar, "PeakTorque", grid(9)).values["peak_torque"]
    assert least_peak.value <= np.nanmin(found)
    assert least_peak.value > 0.95 * np.nanmin(found)


def test_a_direct_search_on_the_plain_verbs_finds_the_same(five_bar, least_peak):
    t = np.linspace(0, 0.3, 97)

    def peak(x):
        m = five_bar.variant(L3=x[0], L4=x[1])
        return np.abs(m.inverse_dynamics(*m.complete(*SWING(t), continuation=True))).max()

    direct = minimize(
        peak,
        [0.1, 0.1],
        method="Nelder-Mead",
        bounds=[(0.08, 0.12)] * 2,
        options={"maxfev": 90, "xatol": 1e-5},
    )
    assert least_peak.value == pytest.approx(
        direct.fun, rel=2e-3
    )  # the peak may lie between instants of the program
    assert list(least_peak.parameters.values()) == pytest.approx(direct.x, rel=2e-3)


def test_the_condition_of_a_loop_with_redundant_constraints_is_optimised():
    """In symbols it is the number of `conditions`, in spatial loops with redundant constraints too."""
    m = es.load("sarrus")
    home = float(m.project(m.home())[m.actuated_coordinates[0]])
    path = es.paths.joint_path([[home - 0.2], [home + 0.2]], es.paths.cycloidal(1.0))
    best = es.optimize.design(m, "condition", {"b": (0.1, 0.2)}, path, samples=5, starts=1)
    t = np.linspace(0, 1, 65)
    values = []
    for b in (*np.linspace(0.1, 0.2, 6), best.parameters["b"]):
        variant = m.variant(b=b)
        q = variant.assemble(path(t)[0], continuation=True)
        values.append(float(variant.conditions(q).parallel.min()))
    assert values[-1] == pytest.approx(best.value, rel=1e-9)
    assert values[-1] >= max(values) - 1e-9


def test_what_is_told_of_an_optimum_is_so(five_bar, least_peak):
    assert least_peak.mechanism == five_bar.with_parameters(**least_peak.parameters)
    assert least_peak.value == pytest.approx(
        measured(five_bar, "PeakTorque", least_peak.parameters).values["peak_torque"][0], rel=1e-9
    )
    before = measured(five_bar, "PeakTorque", {"L3": 0.1}).values["peak_torque"][0]
    assert least_peak.before == pytest.approx(before, rel=1e-9)
    assert least_peak.improvement == pytest.approx(1 - least_peak.value / before, rel=1e-9)
    assert least_peak.checks.passed
    assert [s.success for s in least_peak.starts] == [True] * 3
    assert "peak_torque" in repr(least_peak)
    assert "Solve Succeeded" in repr(least_peak.starts)
    assert "L3" in least_peak._repr_html_()


def test_a_seed_determines_everything(five_bar):
    one, two = (
        es.optimize.design(
            five_bar,
            "mass",
            {"L3": (0.08, 0.12), "m3": (0.01, 0.03)},
            SWING,
            samples=5,
            starts=2,
            seed=3,
        )
        for _ in range(2)
    )
    assert one.parameters == two.parameters
    assert [s.iterations for s in one.starts] == [s.iterations for s in two.starts]
    assert one.starts[1].begun["parameters"].tolist() == two.starts[1].begun["parameters"].tolist()


@pytest.mark.parametrize(
    "said", [(0.08, 0.12), ("80 mm", "12 cm"), "80..120 mm", ("80*mm", "12*cm")]
)
def test_ranges_have_units_as_in_a_sweep(five_bar, said):
    assert ranges_of(five_bar, {"L3": said})["L3"] == pytest.approx((0.08, 0.12))


@pytest.mark.parametrize(
    ("objective", "measure"),
    [("rms_torque", "RmsTorque"), ("energy_consumption", "EnergyConsumption"), ("peak_reaction", "PeakReaction"),
     ("peak_power", "PeakPower"), ("condition", "Condition")],
)  # fmt: skip
def test_other_objectives_are_those_of_measures_and_beat_a_grid(five_bar, objective, measure):
    best = es.optimize.design(five_bar, objective, RODS, SWING, samples=21, starts=1)
    own = measured(five_bar, measure, best.parameters).values[objective][0]
    assert best.value == pytest.approx(own, rel=3e-3)
    every = measured(five_bar, measure, grid(7)).values[objective]
    assert (
        (own >= np.nanmax(every))
        if objective == "condition"
        else (own <= np.nanmin(every) * (1 + 1e-6))
    )
    assert best.improvement > 0


def test_a_frame_s_motion_with_a_bound_that_binds(five_bar):
    """Short cranks save torque until the point can hardly be moved: the least peak torque is where the bound is."""
    over = {"L2": (0.01, 0.06), "L5": (0.01, 0.06), "L3": (0.08, 0.13), "L4": (0.08, 0.13)}
    best = es.optimize.design(
        five_bar,
        "peak_torque",
        over,
        LINE,
        subject_to={"dexterity": (0.6, None)},
        samples=15,
        starts=1,
        tolerance=0.05,
    )
    pose, twist, acceleration = LINE(np.linspace(0, 0.12, 31))
    guess = five_bar.inverse_kinematics(es.Target(position=[0.05, 0.1, 0]))

    def judged(**design):
        m = five_bar.variant(**design)
        q, v, a = m.complete(
            es.Target(position=pose[:, :3, 3]), twist[:, 3:], acceleration[:, 3:], guess
        )
        return np.abs(m.inverse_dynamics(q, v, a)).max(), m.conditions(
            q, "point", "translation"
        ).serial.min()

    peak, dexterity = judged(**best.parameters)
    assert peak == pytest.approx(best.value, rel=1e-2)
    assert dexterity == pytest.approx(0.6, abs=5e-3)
    symmetric = [
        (0.012, 0.1125),
        (0.015, 0.11),
        (0.02, 0.11),
        (0.03, 0.1),
        (0.03, 0.11),
        (0.03, 0.12),
        (0.04, 0.1),
        (0.04, 0.12),
    ]
    every = np.array([judged(L2=a, L5=a, L3=b, L4=b) for a, b in symmetric])
    assert (every[every[:, 1] >= 0.6, 0] >= peak).all()
    assert (every[every[:, 1] < 0.6, 0] < peak).any()  # else the bound would say nothing


def test_a_balanced_arm_needs_least_torque():
    """Moved slowly, an arm of 1 kg at 0.3 m is balanced by 2 kg at 0.15 m on the other side."""
    b = es.Builder("balance", gravity=(0, -9.81, 0))
    b.parameter("d", 0.05)
    b.body("arm", mass=3.0, com=("(0.3 - 2*d)/3", 0, 0)).joint(
        "q", "revolute", "ground", "arm", axis="z"
    ).actuate("q")
    slow = es.paths.joint_path([[0.0], [1.0]], es.paths.cycloidal(100.0))
    best = es.optimize.design(
        b.build(), "rms_torque", {"d": (0.0, 0.3)}, slow, samples=9, starts=2, tolerance=10.0
    )
    assert best.parameters["d"] == pytest.approx(0.15, abs=1e-3)


def test_two_loops_and_an_arm_without_any():
    robot = es.load("planar_3rrr")
    path = es.paths.joint_path([[0.55, 0.5, 0.6], [0.75, 0.6, 0.5]], es.paths.cycloidal(0.5))
    best = es.optimize.design(robot, "rms_torque", {"L": (0.15, 0.25)}, path, samples=9, starts=1)
    lengths = np.linspace(0.15, 0.25, 11)
    every = (
        es.measures.RmsTorque(path, samples=33).measured(robot, {"L": lengths}).values["rms_torque"]
    )
    assert best.value <= np.nanmin(every)
    assert abs(best.parameters["L"] - lengths[np.nanargmin(every)]) < 0.01
    arm = es.load("elbow")
    reach = es.paths.along(es.paths.line([1.2, 0.5, 0], [1.0, 1.0, 0]), es.paths.quintic(1.0))
    found = es.optimize.design(
        arm, "peak_torque", {"a1": (0.7, 1.2)}, reach, samples=9, starts=1, tolerance=0.1
    )
    t = np.linspace(0, 1, 33)
    for length in (0.7, 0.9, 1.1):
        other = arm.variant(a1=length)
        motion = other.follow(reach, part="position", times=t)
        assert np.abs(other.inverse_dynamics(motion.q, motion.v, motion.a)).max() >= found.value * (
            1 - 1e-3
        )


def test_functions_of_one_s_own(five_bar):
    """The sum of lengths that still reach: a linear program with a known answer, and no motion."""
    best = es.optimize.design(
        five_bar,
        lambda s: s.values["L2"] + 2 * s.values["L3"] + 0 * s.values["L1"],
        {"L2": (0.01, 0.2), "L3": (0.01, 0.2)},
        subject_to={
            "reach": (lambda s: s.parameters["L2"] + s.parameters["L3"], 0.15, None),
            "mass": (None, 1.0),
        },
        starts=2,
    )
    # home asks for acos((L1 + L2)/2/L3), which bounds L2 too: L2 + L3 = 0.15 and (0.1 + L2)/2 = L3
    assert best.parameters["L2"] == pytest.approx(0.2 / 3, abs=1e-5)
    assert best.value == pytest.approx(0.2 / 3 + 2 * 0.25 / 3, abs=1e-5)
    quiet = es.optimize.design(
        five_bar, lambda s: s.tau[0], RODS, SWING, summary="rms", samples=15, starts=1
    )
    t = np.linspace(0, 0.3, 57)
    tau = quiet.mechanism.inverse_dynamics(*quiet.mechanism.complete(*SWING(t), continuation=True))[
        :, 0
    ]
    assert quiet.value == pytest.approx(np.sqrt(np.trapezoid(tau**2, t) / 0.3), rel=1e-6)
    with pytest.raises(es.InputError, match="no motion to plot"):
        best.plot()


def test_parameters_that_move_nothing_leave_the_motion_as_numbers(five_bar):
    best = es.optimize.design(
        five_bar, "peak_torque", {"m3": (0.01, 0.03)}, SWING, samples=15, starts=1
    )
    assert best.parameters["m3"] == pytest.approx(0.01, abs=1e-6)
    assert "q" not in best.starts[0].values


# -- the program ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("motion", [SWING, LINE], ids=["joints", "frame"])
def test_gradients_of_the_program_are_those_of_differences(five_bar, motion, rng):
    given = prescribed(five_bar, motion, None, None, None)
    demands = demands_of(
        five_bar, {"condition": (0.1, None), "mass": (None, 1.0), "energy_consumption": (None, 1.0)}
    )
    objective = quantity_of(five_bar, "peak_torque", None, "objective")
    problem = DesignProblem(
        five_bar, {"L2": (0.03, 0.06), **RODS}, given, objective, demands, 4, None, True, 0.02
    )
    values, derivatives = problem.program.functions()
    x, h = problem.program.begun(problem.starts(2, 0)[1]), 1e-6
    f_x, g_x = (np.asarray(d) for d in derivatives(x))
    for _ in range(4):
        way = rng.normal(size=len(x))
        (f1, g1), (f0, g0) = values(x + h * way), values(x - h * way)
        assert float(f1 - f0) / (2 * h) == pytest.approx(float(f_x[:, 0] @ way), rel=1e-6, abs=1e-8)
        assert np.asarray(g1 - g0)[:, 0] / (2 * h) == pytest.approx(
            g_x @ way, rel=1e-5, abs=1e-6 * np.abs(g_x).max()
        )


def test_the_described_mechanism_keeps_the_program_s_equations(five_bar):
    given = prescribed(five_bar, LINE, None, None, None)
    objective = quantity_of(five_bar, "peak_torque", None, "objective")
    problem = DesignProblem(five_bar, RODS, given, objective, (), 5, None, True, 0.02)
    values, _ = problem.program.functions()
    constraints = np.asarray(values(problem.program.begun(problem.starts(1, 0)[0]))[1]).ravel()
    _, relative, name = problem.program._violation(constraints)
    assert relative < 1e-9, name


@pytest.mark.parametrize("n", [2, 3, 4])
def test_conditioning_bounds_the_condition_number(n):
    rng = seeded(n)
    for _ in range(20):
        A = rng.normal(size=(n, n))
        h = float(casadi.evalf(conditioning(casadi.SX(A.T @ A))))
        c = (h - np.sqrt(h**2 - 4)) / 2
        exact = 1 / np.linalg.cond(A)
        assert c <= exact * (1 + 1e-6)
        if n == 2:
            assert c == pytest.approx(exact, rel=1e-6)


# -- what is refused ----------------------------------------------------------------------------------------------------


def test_a_claim_that_is_not_confirmed_is_refused(five_bar):
    """Three instants, of which two are at rest, tell nothing of the peak between them."""
    with pytest.raises(
        es.OptimizationError, match=r"none is confirmed; of the best: peak_torque \[N m\]: measured"
    ):
        es.optimize.design(five_bar, "peak_torque", RODS, SWING, samples=3, starts=1)


def test_what_no_design_can_do_is_said(five_bar):
    with pytest.raises(
        es.OptimizationError,
        match="no feasible design from 2 starts; the nearest violates 'condition' by",
    ):
        es.optimize.design(
            five_bar,
            "peak_torque",
            RODS,
            SWING,
            subject_to={"condition": (0.99, None)},
            samples=7,
            starts=2,
        )
    far = es.paths.along(es.paths.line([0.5, 0.1, 0], [0.6, 0.1, 0]), es.paths.cycloidal(0.2))
    with pytest.raises(es.EslabonError, match="five_bar"):
        es.optimize.design(five_bar, "peak_torque", RODS, far)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"over": {"L33": (0.1, 0.2)}}, "no parameter 'L33'; did you mean 'L3'"),
        ({"over": {"L3": (0.2, 0.1)}}, "goes from 0.2 down to 0.1"),
        ({"over": {"L3": 0.2}}, r"over\['L3'\] is a range"),
        ({"over": {}}, "over gives ranges of parameters"),
        ({"over": {"L3": ("L2", 0.2)}}, "no number with a unit"),
        ({"over": {"L3": (0.1, 0.1)}}, "is an empty range"),
        ({"over": {"L3": ("80 kg", "0.2 kg")}}, "is in kg, and the parameter is in m; give it a unit that fits"),
        ({"over": {"L3": (np.nan, 0.2)}}, "holds a number that is not finite"),
        ({"objective": lambda s: 1.0}, "does not depend on L3"),
        ({"objective": "mass", "motion": None}, "mass of five_bar does not depend on L3, L4; seek other parameters"),
        ({"objective": lambda s: None}, "it gives None"),
        ({"over": {"L3": (0.01, 0.02), "L4": (0.01, 0.02)}}, "no feasible design from 1 start; the nearest violates"),
        ({"objective": "peak_torqe"}, "did you mean 'peak_torque'"),
        ({"objective": 3}, "none called 3"),
        ({"objective": lambda s: float(s.tau[0])}, "is traced with CasADi symbols, and that failed"),
        ({"summary": "mean"}, "peak_torque is a number already"),
        ({"motion": None}, "peak_torque is asked along a motion"),
        ({"motion": 7}, "a motion is a Trajectory"),
        ({"motion": es.paths.joint_path([[0.0], [1.0]], es.paths.quintic(1.0))}, "the motion has 1 coordinates"),
        ({"frame": "point"}, "the motion of joints needs neither"),
        ({"motion": LINE, "part": "orientation"}, "cannot follow the path"),
        ({"motion": LINE, "part": "place"}, "part is 'pose', 'orientation' or 'position'"),
        ({"subject_to": {"condition": (None, 0.3)}}, "a lower bound between 0 and 1"),
        ({"subject_to": {"peak_torque": (0.1, None)}}, "has an upper bound only"),
        ({"subject_to": {"mass": (1.0, 0.5)}}, "empty range"),
        ({"subject_to": {"conditon": (0.3, None)}}, "did you mean 'condition'"),
        ({"subject_to": {"mass": 0.5}}, r"subject_to\['mass'\] is \(least, most\)"),
        ({"samples": 2}, "samples is a whole number, at least 3"),
        ({"starts": 0}, "starts is a whole number, at least 1"),
    ],
)  # fmt: skip
def test_nonsense_ends_in_a_sentence(five_bar, change, sentence):
    arguments = {
        "objective": "peak_torque",
        "over": RODS,
        "motion": SWING,
        "starts": 1,
        "samples": 7,
        **change,
    }
    with pytest.raises(es.EslabonError, match=sentence) as refused:
        es.optimize.design(five_bar, **arguments)
    assert "\n" not in str(refused.value)


def test_ranges_are_written_as_those_of_sweeps(five_bar):
    given = {"objective": "mass", "starts": 1}
    least = [
        es.optimize.design(five_bar, over={"m3": m3}, **given).parameters["m3"]
        for m3 in ((0.01, 0.03), ("10 g", "30 g"), "10..30 g")
    ]
    assert least == pytest.approx([0.01] * 3, rel=1e-6)


def test_a_mass_ends_above_zero(five_bar):
    """A range that reaches below: the optimum is at nothing, and can be built."""
    best = es.optimize.design(five_bar, "mass", {"m3": (-1.0, 0.03)}, starts=1)
    assert 0 < best.parameters["m3"] < 1e-6


def test_a_motion_that_leaves_a_degree_of_freedom_open():
    line = es.paths.along(es.paths.line([0.0, 0.0, 0], [0.02, 0.0, 0]), es.paths.cycloidal(0.2))
    with pytest.raises(
        es.ModelError,
        match="the position of 'centre' leaves 1 of the 3 degrees of freedom of planar_3rrr open",
    ):
        es.optimize.design(es.load("planar_3rrr"), "peak_torque", {"L": (0.15, 0.25)}, line)


def test_loops_that_are_not_there():
    with pytest.raises(es.ModelError, match="elbow has no loops"):
        es.optimize.design(es.load("elbow"), "condition", {"a1": (0.5, 1.0)}, SWING)
