"""Every mistake ends in one sentence that says what is wrong and what to do."""

import math
import subprocess
import sys

import numpy as np
import pytest

import eslabon as es
from batches import each
from eslabon import paths
from eslabon.reproductions.rojas.path_program import splined_cycloid

LAW = paths.quintic(1.0)
LINE = paths.line([0, 0, 0], [1, 0, 0])
PATH = paths.along(LINE, LAW)
NAN = float("nan")
CUSP = paths.curve(lambda u: (u**2, u**3, 0), -1, 1)
HALF_TURN = [[0, 0, 0], [1, 0, 0], [0, 0, 0]]

MISTAKES = {
    # laws
    "the duration must be greater than zero; it is 0": lambda: paths.cycloidal(0),
    "the duration must be greater than zero; it is -1": lambda: paths.quintic(-1),
    "the duration must be one number": lambda: paths.septic([1, 2]),
    "the duration holds a number that is not finite": lambda: paths.trapezoidal(NAN),
    "the duration needs numbers": lambda: paths.cycloidal("long"),
    "fraction of the duration is at most 0.5; it is 0.7": lambda: paths.trapezoidal(1.0, 0.7),
    "fraction must be greater than zero": lambda: paths.trapezoidal(1.0, 0),
    "at least four nodes": lambda: splined_cycloid(1.0, 3),
    "order 0 to 3; order is 4": lambda: LAW(0.5, 4),
    "t holds a number that is not finite (the first at index 1)": lambda: LAW([0, NAN]),
    "times must increase; after 2 comes 1": lambda: paths.spline_law([0, 2, 1], [0, 0.5, 1]),
    "at least two values of s": lambda: paths.spline_law([0], [0]),
    "times needs one number for each of the 3 points": lambda: paths.spline_law(
        [0, 1], [0, 0.5, 1]
    ),
    "cubic or quintic, degree 3 or 5; degree is 4": lambda: paths.spline_law(
        [0, 1], [0, 1], degree=4
    ),
    "ends is 'clampd'; did you mean 'clamped'?": lambda: paths.spline_law(
        [0, 1], [0, 1], ends="clampd"
    ),
    "must end where it starts": lambda: paths.spline_law(
        [0, 1, 2, 3], [0, 1, 2, 3], ends="periodic"
    ),
    "at least three different points; it has 2": lambda: paths.spline_law(
        [0, 1, 2], [0, 1, 0], ends="periodic"
    ),
    "the rest before must be zero or more seconds": lambda: LAW.wait(before=-1),
    "give a limit to keep: velocity": lambda: LAW.within(2.0),
    "the limit of the velocity must be greater than zero": lambda: LAW.within(2.0, velocity=0),
    "the limit of the velocity is one number or one for each of 2": lambda: LAW.within(
        [1, 2], velocity=[1, 2, 3]
    ),
    "the travel must be greater than zero": lambda: LAW.within(0.0, velocity=1.0),
    # curves
    "starts and ends in the same point; use paths.point": lambda: paths.line([1, 2, 3], [1, 2, 3]),
    "the line's end needs three numbers; its shape is (2,)": lambda: paths.line([0, 0, 0], [1, 2]),
    "the line's start holds a number that is not finite": lambda: paths.line(
        [0, NAN, 0], [1, 2, 3]
    ),
    "the arc turns through an angle of zero": lambda: paths.arc(
        [0, 0, 0], [1, 0, 0], [0, 0, 1], 0.0
    ),
    "the helix starts on its axis": lambda: paths.helix([0, 0, 0], [0, 0, 1], [0, 0, 1], 1.0, 1.0),
    "the arc's axis has length zero": lambda: paths.arc([0, 0, 0], [1, 0, 0], [0, 0, 0], 1.0),
    "three points lie on one line": lambda: paths.arc_through([0, 0, 0], [1, 1, 1], [2, 2, 2]),
    "lie on one line or two of them are equal": lambda: paths.arc_through(
        [0, 0, 0], [0, 0, 0], [2, 2, 2]
    ),
    "the spline needs at least two points; it has 1": lambda: paths.spline([[0, 0, 0]]),
    "equal points in rows 1 and 2": lambda: paths.spline(
        [[0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 0]]
    ),
    "the spline needs rows of 3 numbers; its shape is (2, 2)": lambda: paths.spline(
        [[0, 0], [1, 0]]
    ),
    "all rows of one length": lambda: paths.spline([[0, 0, 0], [1, 0]]),
    "knots must increase; after 1 comes 1": lambda: paths.spline(np.eye(3), knots=[0, 1, 1]),
    "a curve has its value and four derivatives": lambda: LINE(0.5, 5),
    "needs two different ends; both are 0.5": lambda: LINE.part(0.5, 0.5),
    "the range of the curve is empty": lambda: paths.curve(lambda u: (u, u, u), 1, 1),
    "must give three components; it gives 2": lambda: paths.curve(lambda u: (u, u)),
    "must give three components; it gives 4": lambda: paths.curve(lambda u: (u,) * 4),
    "no formula that can be differentiated (": lambda: paths.curve(
        lambda u: (u, math.cos(u), 0) if u > 0 else (u, 0, 0)
    ),
    "if it is no formula, lay a spline through its points": lambda: paths.curve(
        lambda u: (float(u), 0, 0)
    ),
    "gives no finite point at u = 0.5": lambda: paths.curve(lambda u: (u, 1 / (u - 0.5), 0)),
    "at least one curve": lambda: paths.chain(),
    "curve 1 of the chain starts 1 m from the end of curve 0": lambda: paths.chain(LINE, LINE),
    "a corner of 90 degrees between curves 0 and 1": lambda: paths.chain(
        LINE, paths.line([1, 0, 0], [1, 1, 0])
    ),
    "turns back at point 1": lambda: paths.rounded(HALF_TURN, 0.1),
    "too large for the side from point 0 to point 1": lambda: paths.rounded(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0]], 2.0
    ),
    "the radius must be greater than zero": lambda: paths.rounded([[0, 0, 0], [1, 0, 0]], 0),
    "has no tangent at s = 0.5, for its derivative is zero": lambda: CUSP.tangent(0.5),
    "the curve has no tangent at s = 0.5": lambda: paths.evenly(CUSP),
    "has a cusp or corner near s = 0.333": lambda: paths.minimal(
        paths.curve(lambda u: (u, abs(u), 0), -1, 2)
    ),
    "the line is straight at s = 0.25": lambda: LINE.torsion(0.25),
    # orientations
    "the orientation needs 3x3 rotation matrices; its shape is (2, 2)": lambda: paths.fixed(
        np.eye(2)
    ),
    "is not a rotation": lambda: paths.fixed(2 * np.eye(3)),
    "a fixed orientation is one 3x3 matrix": lambda: paths.fixed([np.eye(3)]),
    "at least two 3x3 matrices": lambda: paths.turning([np.eye(3)]),
    "knots needs one number for each of the 3 points": lambda: paths.turning(
        [np.eye(3)] * 3, knots=[0, 1]
    ),
    "the normal lies along the curve's first tangent": lambda: paths.minimal(
        LINE, normal=[2, 0, 0]
    ),
    "has no tangent at s = 0": lambda: paths.minimal(paths.point([0, 0, 0])),
    'use orientation="minimal"': lambda: paths.along(LINE, LAW, "frenet"),
    "no orientation is called 'frenett'; did you mean 'frenet'?": lambda: paths.along(
        LINE, LAW, "frenett"
    ),
    # paths
    "a path goes along a curve by a law": lambda: paths.along(LAW, LINE),
    "at least two 4x4 poses": lambda: paths.pose_path([np.eye(4)], LAW),
    "starts 1 (metres or radians) from where": lambda: PATH.then(PATH),
    "cannot be joined to a JointPath": lambda: PATH.then(paths.joint_path([[0], [1]], LAW)),
    "the paths differ in size: (1,) and (2,)": lambda: paths.joint_path([[0], [1]], LAW).then(
        paths.joint_path([[1, 0], [1, 1]], LAW)
    ),
    "starts 1 (metres or radians)": lambda: PATH.repeat(2),
    "a whole number of times": lambda: PATH.repeat(0),
    "by a number of points n or by a time step dt": lambda: PATH.sample(),
    "by a time step dt, one of the two": lambda: PATH.sample(3, dt=0.1),
    "two or more points; n is 1": lambda: PATH.sample(1),
    "the time step must be greater than zero": lambda: PATH.sample(dt=0),
    "such as acceleration=1.0": lambda: PATH.within(),
    "the speed must be greater than zero": lambda: PATH.within(speed=0.0),
    "nothing that is limited moves": lambda: PATH.within(angular_speed=1.0),
    "the path moves at t = 0 s": lambda: paths.along(
        LINE, paths.spline_law([0, 1], [0, 1], ends="free")
    ).wait(1.0),
    "t holds a number that is not finite.": lambda: PATH(NAN),
    # joint paths
    "the joint path needs at least two points": lambda: paths.joint_path([[0, 0]], LAW),
    "the joint path has equal points in rows 0 and 1": lambda: paths.joint_path(
        [[0, 0], [0, 0]], LAW
    ),
    "the joint path needs one point to a row": lambda: paths.joint_path([0, 1], LAW),
    "by a law or by the times of its points": lambda: paths.joint_path([[0], [1]]),
    "one of the two.": lambda: paths.joint_path([[0], [1]], LAW, times=[0, 1]),
    "times must increase": lambda: paths.joint_path([[0], [1]], times=[1, 0]),
    "a joint path's law is one such as": lambda: paths.joint_path([[0], [1]], 2.0),
    "the limit of the velocity is one number or one for each of 1": lambda: paths.joint_path(
        [[0], [1]], LAW
    ).within(velocity=[1, 2]),
}


@each("sentence", MISTAKES)
def test_a_mistake_ends_in_a_sentence(sentence):
    with pytest.raises(es.EslabonError) as caught:
        MISTAKES[sentence]()
    told = str(caught.value)
    assert sentence in told
    assert told.endswith((".", "?"))
    assert "\n" not in told


def test_importing_the_room_leaves_scipy_and_casadi_alone():
    code = "import sys, eslabon.motion.paths; print([m for m in ('scipy.interpolate', 'scipy.optimize') if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
