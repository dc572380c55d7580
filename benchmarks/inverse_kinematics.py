"""Inverse kinematics beside the Robotics Toolbox's C++ solver and a Newton loop on Pinocchio.

All start from the same configurations towards the same reachable poses, and count as solved only what the forward
kinematics confirms. Ours must be within 1e-10 m and rad, the toolbox and Pinocchio within 1e-6. Times are per solved
pose.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import roboticstoolbox as rtb
from models import Oracle, models
from report import Row, same
from timing import Timing, side_by_side

POSES, ALONE, RESTARTS = 1000, 200, 32
LOOSE = 1e-6


def toolbox_arm(m) -> rtb.ETS:
    """An arm of revolute joints about z as the toolbox's sequence of elementary transforms."""
    sequence = rtb.ETS()
    for joint in m.joints:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = joint.at.rotation(), joint.at.translation()
        sequence = sequence * rtb.ET.SE3(T) * rtb.ET.Rz(qlim=[float(x) for x in joint.limits[0]])
    frame, T = m.frames[-1], np.eye(4)
    T[:3, :3], T[:3, 3] = frame.at.rotation(), frame.at.translation()
    return sequence * rtb.ET.SE3(T)


class NewtonLoop:
    """The usual damped Newton loop in Python on Pinocchio's kinematics, with the same damping as ours."""

    def __init__(self, m, lower: np.ndarray, upper: np.ndarray) -> None:
        self.oracle, self.lower, self.upper = Oracle(m), lower, upper
        joint, offset = self.oracle.frame(m.frames[-1].name)
        self.model = self.oracle.model
        self.frame = self.model.addFrame(pin.Frame("tip", joint, 0, offset, pin.FrameType.OP_FRAME))
        self.data = self.model.createData()

    def from_start(self, T: np.ndarray, q: np.ndarray, limits: bool) -> tuple[np.ndarray, bool]:
        target, q = pin.SE3(T), q.copy()
        for _ in range(64):
            pin.framesForwardKinematics(self.model, self.data, q)
            error = pin.log6(self.data.oMf[self.frame].actInv(target)).vector
            if np.linalg.norm(error) < LOOSE:
                q = q - 2 * np.pi * np.ceil((q - self.upper) / (2 * np.pi)) if limits else q
                return q, not limits or bool((q >= self.lower).all())
            J = pin.computeFrameJacobian(self.model, self.data, q, self.frame, pin.LOCAL)
            A = J @ J.T + (0.03 * error @ error + 1e-13) * np.eye(6)
            q = pin.integrate(self.model, q, J.T @ np.linalg.solve(A, error))
        return q, False

    def solve(self, T: np.ndarray, starts: np.ndarray, limits: bool) -> tuple[np.ndarray, bool]:
        for start in starts:
            q, good = self.from_start(T, start, limits)
            if good:
                break
        return q, good


def rows() -> list[Row]:
    return [row for name in ("puma560", "panda_like") for row in _one_model(name, models()[name])]


def _one_model(name: str, m) -> list[Row]:
    lower, upper = np.array([j.limits[0] for j in m.joints]).T
    rng = np.random.default_rng(0)
    T = m.pose(rng.uniform(lower, upper, (POSES, m.nq)))
    starts = rng.uniform(lower, upper, (POSES, RESTARTS + 1, m.nq))
    toolbox, loop = toolbox_arm(m), NewtonLoop(m, lower, upper)
    same(f"{name} pose in the toolbox", m.pose(starts[0, 0]), toolbox.fkine(starts[0, 0]).A)

    def ours(limits: bool, restarts: int, guess: bool = True) -> Callable[[], list]:
        options = {"limits": limits, "restarts": restarts, "threads": 1, "report": True}
        return lambda: m.inverse_kinematics(T, starts[:, 0] if guess else None, **options).q

    def ours_alone(limits: bool, restarts: int) -> Callable[[], list]:
        options = {"limits": limits, "restarts": restarts, "report": True}
        return lambda: [m.inverse_kinematics(T[k], starts[k, 0], **options).q for k in range(ALONE)]

    def theirs(limits: bool, restarts: int, poses: int) -> Callable[[], list]:
        options = {
            "joint_limits": limits,
            "slimit": restarts + 1,
            "tol": LOOSE**2 / 2,
            "method": "chan",
            "k": 0.1,
        }
        return lambda: [toolbox.ik_LM(T[k], q0=starts[k, 0], **options).q for k in range(poses)]

    def looped(limits: bool, restarts: int, poses: int) -> Callable[[], list]:
        return lambda: [
            loop.solve(T[k], starts[k, : restarts + 1], limits)[0] for k in range(poses)
        ]

    made = []
    for limits in (False, True):
        for restarts, words in ((0, "one start"), (RESTARTS, f"up to {RESTARTS} restarts")):
            within = "within limits" if limits else "without limits"
            ranges = (lower, upper) if limits else (-np.inf, np.inf)
            contenders = {
                "ours": (ours(limits, restarts), 1e-10),
                "toolbox": (theirs(limits, restarts, POSES), LOOSE),
                "pinocchio": (looped(limits, restarts, ALONE), LOOSE),
            }
            if restarts:
                contenders["ours, no guess"] = (ours(limits, restarts, guess=False), 1e-10)
            made.append(_row(f"{name}: {POSES} poses, {within}, {words}", m, T, contenders, ranges))
            contenders = {
                "ours": (ours_alone(limits, restarts), 1e-10),
                "toolbox": (theirs(limits, restarts, ALONE), LOOSE),
            }
            made.append(
                _row(f"{name}: pose after pose, {within}, {words}", m, T, contenders, ranges)
            )
    made.append(_near(name, m, toolbox, lower, upper))
    return made


def _near(name: str, m, toolbox, lower: np.ndarray, upper: np.ndarray) -> Row:
    """A control loop's question: the next pose, from the configuration of the one before."""
    rng = np.random.default_rng(1)
    q = rng.uniform(0.9 * lower, 0.9 * upper, (ALONE, m.nq))
    T, guess = m.pose(q), q + 0.02 * rng.uniform(-1, 1, q.shape)
    options = {"joint_limits": True, "slimit": 1, "tol": LOOSE**2 / 2, "method": "chan", "k": 0.1}
    contenders = {
        "ours": (lambda: [m.inverse_kinematics(T[k], guess[k]) for k in range(ALONE)], 1e-10),
        "toolbox": (
            lambda: [toolbox.ik_LM(T[k], q0=guess[k], **options).q for k in range(ALONE)],
            LOOSE,
        ),
    }
    return _row(
        f"{name}: pose after pose from a near guess, at most 15 us",
        m,
        T,
        contenders,
        (lower, upper),
    )


def _row(
    what: str, m, T: np.ndarray, contenders: dict, ranges: tuple, target: float | None = 1.0
) -> Row:
    """A row of times per solved pose, with what part of the poses each contender solved."""
    solved, counts = {}, {}
    for name, (call, tolerance) in contenders.items():
        q = np.array(call())
        error = np.abs(m.pose(q) - T[: len(q)]).max(axis=(1, 2))
        inside = ((q >= ranges[0] - 1e-12) & (q <= ranges[1] + 1e-12)).all(axis=1)
        good = (error < 2 * tolerance) & inside
        solved[name], counts[name] = good.mean(), good.sum()
    timed = side_by_side(
        {name: call for name, (call, _) in contenders.items()}, rounds=5, budget=0.0
    )
    timings = {
        name: Timing(t.seconds / counts[name], t.ratio * counts["ours"] / counts[name])
        for name, t in timed.items()
    }
    parts = ", ".join(f"{name} {100 * part:.1f} %" for name, part in solved.items())
    return Row(f"{what} ({parts} solved)", timings, target, "toolbox")


if __name__ == "__main__":
    start = time.time()
    for row in rows():
        print(row)
    print(f"{time.time() - start:.0f} s")
