"""The library of mechanisms: every file loads, closes, moves as its source says, and carries its source's numbers.

Dynamics is checked against Pinocchio's sweeps over the tree, put together here with our closure Jacobian by virtual
work (tau = G^T (M a + h), dq = G dq_act), so that nothing of ours but the data and the closure is under test.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import eslabon as es
from cases import MOBILITY
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.solve.constraints.closed_configurations import close, jacobian_at
from library_names import CLOSED, DETERMINED
from oracles import Oracle, pin
from randomness import seeded

UNDERDRIVEN = {"cart_pole", "flyball_governor", "rssr"}  # fewer actuators than freedoms
REDUNDANT = {
    "bennett",
    "bricard",
    "rojas_hexiflex",
    "sarrus",
}  # overconstrained in space, and movable all the same
NO_SOLID = {
    "puma560": {"link1", "link3"},
    "puma560_drives": {"link1", "link3"},
    "rojas_t3": {"link1"},
}
SOURCES = r"Rojas|Yime|Díaz|Méndez|Morales|Corke|Paul|IFToMM|Hairer|Barto|Clavel|Gough|Bennett|Sarrus|textbook|publishe[sd]"
NAMES = sorted(MOBILITY)


@cache
def load(name: str) -> es.Mechanism:
    return es.load(name)


# -- what every file must be ------------------------------------------------------------------------------------------


def test_the_library_is_complete() -> None:
    assert es.robots() == NAMES
    assert tuple(name for name in NAMES if load(name).closed) == CLOSED
    assert tuple(name for name in NAMES if load(name).loops) == CLOSED
    assert (
        tuple(name for name in CLOSED if load(name).actuated and load(name).dof == load(name).nu)
        == DETERMINED
    )


@pytest.mark.parametrize("name", NAMES)
def test_it_is_named_as_its_file_and_names_its_source(name: str) -> None:
    m = load(name)
    assert m.name == name
    assert re.search(SOURCES, m.note)
    assert max(len(line) for line in m.note.splitlines()) <= 128


@pytest.mark.parametrize("name", NAMES)
def test_it_survives_save_and_load(name: str, tmp_path) -> None:
    m = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", es.ModelWarning
        )  # a person's file is warned of, published data are not
        again = es.load(m.save(tmp_path / f"{name}.toml"))
    assert again == m
    assert again.note.strip() == m.note.strip()


@pytest.mark.parametrize("name", NAMES)
def test_only_published_tables_look_suspicious(name: str) -> None:
    found = {
        re.search(r"body '(\w+)'", sentence)[1] for sentence in load(name).plausibility_warnings
    }
    assert found == NO_SOLID.get(name, set())


def rank(J: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(J, tol=1e-8 * np.linalg.norm(J)))


def residual(m: es.Mechanism, q: np.ndarray) -> float:
    """How far the loops are open: from the poses alone, without the closure code's own rows."""
    placed = placements(m, q)
    worst = 0.0
    for loop in m.loops:
        (Ra, pa), (Rb, pb) = (
            on_body(placed, end.body, end.at) for end in (loop.first, loop.second)
        )
        worst = max(worst, float(np.abs(pa - pb).max()))
        for axis in loop.kind.axes:
            u = np.array(axis, dtype=float)
            worst = max(worst, float(np.abs(Ra @ u - Rb @ u).max()))
    return worst


def wander(m: es.Mechanism, size: float = 0.3, seed: int = 0) -> np.ndarray:
    """A closed configuration a finite way from home, reached in small steps along the freedoms."""
    q, rng = m.home(), seeded(seed)
    heading = rng.standard_normal(m.nv)
    for _ in range(20):
        J = jacobian_at(m, q) if m.closed else np.zeros((0, m.nv))
        v = heading - np.linalg.pinv(J, rcond=1e-8) @ (J @ heading) if len(J) else heading
        v *= size / 20 / np.linalg.norm(v)
        q = close(m, integrate(m, q, v)) if m.closed else q + v
    return q


def integrate(m: es.Mechanism, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    after = q.copy()
    for j in m.joints:
        here, rate = m.coordinates[j.name], v[m.velocities[j.name]]
        after[here] += np.asarray(j.kind.coordinate_rates(q[here], rate)) if j.nv else 0.0
        if j.nq != j.nv:
            after[here][-4:] /= np.linalg.norm(after[here][-4:])
    return after


@pytest.mark.parametrize("name", CLOSED)
def test_home_is_closed_exactly(name: str) -> None:
    m = load(name)
    assert residual(m, m.home()) < 1e-12
    np.testing.assert_allclose(close(m), m.home(), atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_it_moves_with_its_freedoms_at_home_and_away_from_it(name: str) -> None:
    m = load(name)
    if not m.closed:
        assert m.nv == MOBILITY[name]
        return
    for q in (m.home(), wander(m, 0.15 if name == "andrews_squeezer" else 0.3)):
        assert residual(m, q) < 1e-9
        J = jacobian_at(m, q)
        assert m.nv - rank(J) == MOBILITY[name]
    spatial = not all(
        loop.kind.axes == ((0.0, 0.0, 1.0),) and loop.kind.kind == "revolute" for loop in m.loops
    )
    if spatial and name != "slider_crank":
        assert (rank(J) < len(J)) == (name in REDUNDANT)


@pytest.mark.parametrize("name", NAMES)
def test_its_motors_command_it(name: str) -> None:
    m = load(name)
    driven = list(m.actuated_velocities)
    assert (m.nu == MOBILITY[name]) == (name not in UNDERDRIVEN)
    if m.closed:
        J = jacobian_at(m, m.home())
        assert rank(np.delete(J, driven, axis=1)) == rank(
            J
        )  # the passive joints follow the driven ones


@pytest.mark.parametrize("name", NAMES)
def test_its_mass_matrix_is_positive_on_its_freedoms(name: str) -> None:
    m = load(name)
    M = Oracle(m).mass_matrix(m.home())
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    if m.closed:
        _, s, Vt = np.linalg.svd(jacobian_at(m, m.home()))
        M = Vt[(s > 1e-8 * s[0]).sum() :] @ M @ Vt[(s > 1e-8 * s[0]).sum() :].T
    assert np.linalg.eigvalsh(M)[0] > 1e-9 * np.linalg.eigvalsh(M)[-1]


@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("five_bar", {"L2": 0.05}),
        ("planar_3rrr", {"L": 0.22}),
        ("spatial_four_bar", {"L3": 0.13}),
        ("diaz_four_bar", {"L2": 2.9}),
        ("diaz_3rrr", {"b": 1.31}),
        ("rojas_7r_loop", {"a7": 3.1}),
        ("rojas_hexiflex", {"a": 2.0}),
        ("delta", {"L_arm": 0.3, "w": 0.04, "r_platform": 0.06}),
        ("stewart_gough", {"r_base": 0.6, "a_base": 0.1, "a_platform": 0.25}),
        ("slider_crank", {"l": 0.4}),
        ("parallelogram", {"d": 0.8}),
        ("bennett", {"a": 0.3, "beta": 1.1}),
        ("rssr", {"l": 0.5}),
        ("sarrus", {"L": 0.4}),
        ("bricard", {"L": 2.0, "w": 0.1}),
        ("n_four_bar", {"L": 0.5}),
    ],
)
def test_it_closes_with_other_lengths(name: str, lengths: dict[str, float]) -> None:
    m = load(name).with_parameters(**lengths)
    q = close(m)
    assert residual(m, q) < 1e-9
    assert m.nv - rank(jacobian_at(m, q)) == MOBILITY[name]
    assert np.abs(q - m.home()).max() < 0.5  # the same branch


# -- published numbers ------------------------------------------------------------------------------------------------


def dh_matrix(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


def modified_dh_matrix(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st, 0, a],
            [st * ca, ct * ca, -sa, -sa * d],
            [st * sa, ct * sa, ca, ca * d],
            [0, 0, 0, 1],
        ]
    )


T3 = [
    (0, 1.5, 90),
    (1.02, 0, 0),
    (1.02, 0, 0),
    (0.2, 0, 90),
    (0, 0, 90),
    (0, 0.41, 90),
]  # a, d, alpha
PUMA = [(0, 0, 90), (0.4318, 0, 0), (0.0203, 0.15005, -90), (0, 0.4318, 90), (0, 0, -90), (0, 0, 0)]
UR5E = [
    (0, 0.1625, 90),
    (-0.425, 0, 0),
    (-0.3922, 0, 0),
    (0, 0.1333, 90),
    (0, 0.0997, -90),
    (0, 0.0996, 0),
]
STANFORD = [(0, 0.412, -90), (0, 0.154, 90), (0, 0, 0), (0, 0, -90), (0, 0, 90), (0, 0.263, 0)]
PANDA = [
    (0, 0.333, 0),
    (0, 0, -90),
    (0, 0.316, 90),
    (0.0825, 0, 90),
    (-0.0825, 0.384, -90),
    (0, 0, 90),
    (0.088, 0, 90),
]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("rojas_t3", T3),
        ("puma560", PUMA),
        ("puma560_drives", PUMA),
        ("ur5e_like", UR5E),
        ("stanford_arm", STANFORD),
    ],
)
def test_an_arm_stands_where_its_table_says(
    name: str, table: list[tuple[float, float, float]], rng: np.random.Generator
) -> None:
    m = load(name)
    q = rng.uniform(-2, 2, m.nv)
    T = np.eye(4)
    for joint, x, (a, d, alpha) in zip(m.joints, q, table, strict=True):
        slides = joint.kind.kind == "prismatic"
        T = T @ dh_matrix(-np.pi / 2 if slides else x, d + x * slides, a, np.radians(alpha))
    check_tool(m, q, T)


def test_panda_like_stands_where_its_table_says(rng: np.random.Generator) -> None:
    m = load("panda_like")
    q = rng.uniform(-2, 2, 7)
    T = np.eye(4)
    for x, (a, d, alpha) in zip(q, PANDA, strict=True):
        T = T @ modified_dh_matrix(x, d, a, np.radians(alpha))
    check_tool(m, q, T @ modified_dh_matrix(0, 0.107, 0, 0))


def check_tool(m: es.Mechanism, q: np.ndarray, T: np.ndarray) -> None:
    tool = m.frame("tool")
    R, p = on_body(placements(m, q), tool.body, tool.at)
    np.testing.assert_allclose(R, T[:3, :3], atol=1e-14)
    np.testing.assert_allclose(p, T[:3, 3], atol=1e-14)


@pytest.mark.parametrize(
    ("name", "masses"),
    [
        ("rojas_t3", [680, 360, 180, 55, 36, 68]),
        ("puma560", [0, 17.4, 4.8, 0.82, 0.34, 0.09]),
        ("stanford_arm", [9.29, 5.01, 4.25, 1.08, 0.63, 0.51]),
        ("five_bar", [8.29e-3, 20.14e-3, 8.29e-3, 20.14e-3]),
        ("diaz_3rrr", [3, 4, 8, 3, 4, 3, 4]),
        ("spatial_four_bar", [0.1, 0.4, 0.4]),
        ("flyball_governor", [0.3, 3, 0.3, 5, 0.3, 5]),
        ("bricard", [1] * 5),
        ("n_four_bar", [1] * 5),
    ],
)
def test_masses_are_the_published_ones(name: str, masses: list[float]) -> None:
    np.testing.assert_allclose([b.mass for b in load(name).bodies], masses, rtol=1e-14)


def test_puma560_drives_are_the_arm_with_its_motors() -> None:
    arm, driven = load("puma560"), load("puma560_drives")
    assert arm.bodies == driven.bodies
    assert [(j.at, j.limits, j.home) for j in arm.joints] == [
        (j.at, j.limits, j.home) for j in driven.joints
    ]
    assert all(
        j.motor_inertia is None and j.viscous is None and j.coulomb is None for j in arm.joints
    )
    reflected = [j.motor_inertia[0] * j.gear_ratio[0] ** 2 for j in driven.joints]
    np.testing.assert_allclose(
        reflected, [0.784030, 2.324815, 0.576873, 0.190789, 0.170706, 0.194065], rtol=1e-5
    )
    assert driven.joint("q1").viscous[0] == pytest.approx(1.48e-3 * 62.6111**2, rel=1e-14)
    assert driven.joint("q6").coulomb[0] == pytest.approx(
        (3.96e-3 + 10.5e-3) / 2 * 76.686, rel=1e-14
    )


def test_puma560_carries_its_weight_as_the_toolbox_prints_it() -> None:
    """Corke's well-known gravload(qn): -0, 31.6399, 6.0351, 0, 0.0283, 0 N m."""
    tau = Oracle(load("puma560")).inverse_dynamics(
        np.radians([0, 45, 180, 0, 45, 0]), np.zeros(6), np.zeros(6)
    )
    np.testing.assert_allclose(tau, [0, 31.6399, 6.0351, 0, 0.0283, 0], atol=1e-4)


# -- dynamics by another hand ----------------------------------------------------------------------------------------


class Motion:
    """Closed motions and driving torques from the driven joints' motion (Yime, 4.4 to 5, as corrected)."""

    def __init__(self, m: es.Mechanism) -> None:
        self.m, self.tree = m, Oracle(m)
        self.driven = list(m.actuated_velocities)
        self.passive = [k for k in range(m.nv) if k not in self.driven]

    def follow(
        self, qa: np.ndarray, va: np.ndarray, aa: np.ndarray, guess: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        q = guess.copy()
        for _ in range(8):
            q[self.driven] = qa
            phi = np.array(self.phi(q))
            q[self.passive] -= np.linalg.lstsq(
                self.m.constraint_jacobian(q)[:, self.passive], phi, rcond=1e-10
            )[0]
        G = self.influence(q)
        v = G @ va
        h = 1e-5
        bias = (
            (self.m.constraint_jacobian(q + h * v) - self.m.constraint_jacobian(q - h * v))
            @ v
            / (2 * h)
        )
        a = G @ aa
        J = self.m.constraint_jacobian(q)[:, self.passive]
        a[self.passive] -= np.linalg.lstsq(J, bias, rcond=1e-10)[0]
        return q, v, a

    def phi(self, q: np.ndarray) -> np.ndarray:
        placed, rows = placements(self.m, q), []
        for loop in self.m.loops:
            (Ra, pa), (Rb, pb) = (
                on_body(placed, end.body, end.at) for end in (loop.first, loop.second)
            )
            rows.append(np.asarray(loop.kind.residual(Ra.T @ Rb, Ra.T @ (pb - pa))))
        return np.concatenate(rows)

    def influence(self, q: np.ndarray) -> np.ndarray:
        """dq/dq_act."""
        J = self.m.constraint_jacobian(q)
        G = np.zeros((self.m.nv, len(self.driven)))
        G[self.driven] = np.eye(len(self.driven))
        G[self.passive] = -np.linalg.lstsq(J[:, self.passive], J[:, self.driven], rcond=1e-10)[0]
        return G

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.influence(q).T @ self.tree.inverse_dynamics(q, v, a)


THETA = np.radians([23.51276, 85.48645, -130.23580, 44.74937, 113.51270, 89.99990])
RATES = np.array([1.7807, -0.70995, 0.78862, -0.078669, 1.7807, 0])
ACCELERATIONS = np.array([-0.97251, -3.1997, 4.2557, -1.0559, -0.97251, 0])


def test_rojas_t3_torques() -> None:
    """Rojas, table 5.6.1, t = 0.45 s: as printed, with gravity upwards, and with the physical gravity of the file."""
    tree = Oracle(load("rojas_t3"))
    down = tree.inverse_dynamics(THETA, RATES, ACCELERATIONS)
    np.testing.assert_allclose(
        down, [386.479, 1862.358, 2281.123, 470.693, -48.943, 0], rtol=3e-5, atol=1e-2
    )
    tree.model.gravity = pin.Motion(np.array([0, 0, 9.81]), np.zeros(3))
    up = tree.inverse_dynamics(THETA, RATES, ACCELERATIONS)
    np.testing.assert_allclose(
        up, [386.48, -3011.5, -1975.4, -473.50, -48.943, 0], rtol=3e-5, atol=1e-2
    )


def test_rojas_t3_starts_on_its_line() -> None:
    """Rojas, 4.4: x = 1.33125, y = 0, z = 1.79875 m, with tr R = 0 and 2 vect R = (1, 1, -1)."""
    m = load("rojas_t3")
    tool = m.frame("tool")
    R, p = on_body(placements(m, m.home()), tool.body, tool.at)
    np.testing.assert_allclose(p, [1.33125, 0, 1.79875], atol=1e-5)
    np.testing.assert_allclose(R, [[0, 1, 0], [0, 0, -1], [-1, 0, 0]], atol=1e-15)


def test_rojas_3r_closed_form() -> None:
    """Rojas, 2.5.13."""
    m = load("rojas_3r").with_parameters(d2=0.7, d3=0.4)
    (c1, c2, c3), (s1, s2, s3) = (f(q := np.array([0.4, -1.1, 2.0])) for f in (np.cos, np.sin))
    tool = m.frame("tool")
    _, p = on_body(placements(m, q), tool.body, tool.at)
    x = 0.7 * c1 * c2 + 0.4 * (c1 * c2 * c3 - s1 * s3)
    y = 0.7 * s1 * c2 + 0.4 * (s1 * c2 * c3 + c1 * s3)
    np.testing.assert_allclose(p, [x, y, 0.7 * s2 + 0.4 * s2 * c3], atol=1e-15)


def planar_2r(q, v, a, l1, lc1, lc2, m1, m2, I1, I2, g):
    """Méndez, section 3, as corrected: M a + C v + g."""
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    M11 = m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + I2
    M12 = m2 * (lc2**2 + l1 * lc2 * c2) + I2
    M = np.array([[M11, M12], [M12, m2 * lc2**2 + I2]])
    h = m2 * l1 * lc2 * s2
    C = np.array([[-h * v[1], -h * (v[0] + v[1])], [h * v[0], 0]])
    G2 = m2 * lc2 * g * np.cos(q[0] + q[1])
    return M, M @ a + C @ v + [(m1 * lc1 + m2 * l1) * g * np.cos(q[0]) + G2, G2]


@pytest.mark.parametrize("name", ["mendez_2r", "elbow"])
def test_planar_arms_have_the_closed_form(name: str, rng: np.random.Generator) -> None:
    q, v, a = rng.standard_normal((3, 2))
    m = load(name)
    if name == "mendez_2r":
        values = {
            "l1": 0.9,
            "l2": 0.7,
            "lc1": 0.4,
            "lc2": 0.3,
            "m1": 3.0,
            "m2": 2.0,
            "I1": 0.1,
            "I2": 0.05,
            "g": 9.81,
        }
        m = m.with_parameters(**values)
        form = {k: x for k, x in values.items() if k != "l2"}
    else:
        m = m.with_parameters(a1=0.5, a2=0.4, m1=4.0, m2=2.0)
        form = {
            "l1": 0.5,
            "lc1": 0.25,
            "lc2": 0.2,
            "m1": 4.0,
            "m2": 2.0,
            "I1": 1 / 12,
            "I2": 0.32 / 12,
            "g": 9.81,
        }
    M, tau = planar_2r(q, v, a, **form)
    np.testing.assert_allclose(Oracle(m).mass_matrix(q), M, rtol=1e-13)
    np.testing.assert_allclose(Oracle(m).inverse_dynamics(q, v, a), tau, rtol=1e-12)


def test_morales_puma_is_its_lagrange_model() -> None:
    """Morales (4.107)-(4.112), order joint 1, joint 2, with ix != iy."""
    p = {"i1": 0.1, "i2": 0.2, "i": 0.9, "ix": 1.1, "iy": 0.8, "iz": 1.0}
    tree = Oracle(load("morales_puma").with_parameters(**p))
    q, v, a = np.array([0.3, 0.7]), np.array([1.1, -0.6]), np.array([0.4, 0.9])
    s, c = np.sin(q[1]), np.cos(q[1])
    M = np.diag([p["i1"] + p["i"] + p["ix"] * s**2 + p["iy"] * c**2, p["i2"] + p["iz"]])
    k = (p["ix"] - p["iy"]) * s * c
    np.testing.assert_allclose(tree.mass_matrix(q), M, atol=1e-14)
    np.testing.assert_allclose(
        tree.inverse_dynamics(q, v, a), M @ a + [2 * k * v[0] * v[1], -k * v[0] ** 2], atol=1e-14
    )


def test_morales_stanford_is_its_lagrange_model() -> None:
    """Morales 4.3, corrected: M, B, C and gravity."""
    p = {
        "i1": 0.15,
        "i2": 0.2,
        "i3": 0.25,
        "i": 0.1,
        "ix": 0.35,
        "iy": 0.2,
        "iz": 0.3,
        "m": 0.4,
        "g": 9.81,
    }
    tree = Oracle(load("morales_stanford").with_parameters(**p))
    q, v, a = np.array([0.3, 0.7, 0.5]), np.array([1.1, -0.6, 0.8]), np.array([0.4, 0.9, -0.3])
    s, c, m, r = np.sin(q[1]), np.cos(q[1]), p["m"], q[2]
    M = np.diag(
        [
            p["i1"] + p["i"] + p["ix"] * s**2 + (p["iy"] + m * r**2) * c**2,
            p["i2"] + p["iz"] + m * r**2,
            p["i3"] + m,
        ]
    )
    quadratic = [
        2 * (p["ix"] - p["iy"] - m * r**2) * s * c * v[0] * v[1] + 2 * m * r * c**2 * v[0] * v[2],
        (m * r**2 + p["iy"] - p["ix"]) * s * c * v[0] ** 2 + 2 * m * r * v[1] * v[2],
        -m * r * c**2 * v[0] ** 2 - m * r * v[1] ** 2,
    ]
    gravity = p["g"] * np.array([0, m * r * c, m * s])
    np.testing.assert_allclose(tree.mass_matrix(q), M, atol=1e-14)
    np.testing.assert_allclose(
        tree.inverse_dynamics(q, v, a), M @ a + quadratic + gravity, atol=1e-13
    )


def test_morales_springs_and_frictions() -> None:
    puma, stanford = load("morales_puma"), load("morales_stanford")
    assert [j.stiffness[0] for j in puma.joints] == pytest.approx([10, 5])
    assert [j.viscous[0] for j in puma.joints] == [4, 3]
    assert [j.stiffness[0] for j in stanford.joints] == pytest.approx([10, 5, 1 / 0.3])
    assert [j.viscous and j.viscous[0] for j in stanford.joints] == [3, 5, None]


def sine(start: float, swing: float) -> Callable[[float], tuple[float, float, float]]:
    return lambda t: (start + swing * np.sin(t), swing * np.cos(t), -swing * np.sin(t))


@pytest.mark.parametrize(
    ("g", "expected"),
    [
        (0.0, [7.368249701e-06, -9.355559369e-06, -2.570554661e-05]),
        (9.81, [-8.111649914e-03, -1.019218287e-02, -1.118950734e-02]),
    ],
)
def test_five_bar_torques(g: float, expected: list[float]) -> None:
    """Yime 7.1, recomputed (notes/yime.md): tau2 = -tau5 at t = 0, 0.5, 1 s."""
    m = load("five_bar").with_parameters(g=g)
    motion, q = Motion(m), m.home()
    drives = [sine(*np.radians(x)) for x in ((120, 30), (60, -30))]
    for t, tau in zip((0.0, 0.5, 1.0), expected, strict=True):
        q, v, a = motion.follow(*np.array([drive(t) for drive in drives]).T, q)
        if t == 1.0:
            found = [x[m.velocities["theta3"]][0] for x in (q, v, a)]
            np.testing.assert_allclose(found, [-1.940857538, -0.398142848, 0.647397241], atol=2e-9)
        np.testing.assert_allclose(motion.torques(q, v, a), [tau, -tau], rtol=1e-7)


def test_planar_3rrr_torques() -> None:
    """Yime 7.3, recomputed: equal torques at 0 to 3 s under 6 degrees a second."""
    m = load("planar_3rrr")
    motion, q, rate = Motion(m), m.home(), np.radians(6)
    for t, tau in enumerate((-2.251885e-4, 3.606886e-5, 1.847977e-4, 6.293685e-4)):
        q, v, a = motion.follow(
            np.full(3, np.radians(30) + rate * t), np.full(3, rate), np.zeros(3), q
        )
        np.testing.assert_allclose(motion.torques(q, v, a), [tau] * 3, rtol=2e-6)
    assert np.degrees(q[1]) == pytest.approx(108.031031, abs=1e-6)


def test_spatial_four_bar_turn() -> None:
    """Yime 7.2, recomputed: ranges of the joints and the peak torque over a turn at 1 rpm; weight along -y."""
    m = load("spatial_four_bar")
    heavy = Motion(m.with_parameters(g=9.81))
    motion, q, rate = Motion(m), m.home(), 2 * np.pi / 60
    angles, light, weighty = [], [], []
    for turn in np.linspace(0, 2 * np.pi, 121):
        q, v, a = motion.follow(np.array([np.pi / 2 + turn]), np.array([rate]), np.zeros(1), q)
        angles.append(np.degrees(q))
        light.append(motion.torques(q, v, a)[0])
        weighty.append(heavy.torques(q, v, a)[0])
    low, high = np.min(angles, axis=0)[1:], np.max(angles, axis=0)[1:]  # theta4, theta3u, theta3
    np.testing.assert_allclose(low, [112.774067, -72.429, 97.581969], atol=0.02)
    np.testing.assert_allclose(high, [149.644, 72.429, 115.916], atol=0.02)
    assert np.abs(light).max() == pytest.approx(3.943e-6, rel=5e-3)
    assert np.abs(weighty).max() == pytest.approx(0.2316, rel=5e-3)


def test_diaz_four_bar_torques() -> None:
    """Díaz, example 1, recomputed: the torque that keeps bar 1 at 1 rad/s."""
    m = load("diaz_four_bar")
    motion, q = Motion(m), m.home()
    assert q[0] + q[1] == pytest.approx(0.323599047, abs=1e-9)
    assert q[2] - np.pi == pytest.approx(-1.891511686, abs=1e-9)
    expected = (1.312927165, 0.694364457, -0.014869180, -0.585937339, -0.875272081, -0.584766831)
    for t, tau in zip(np.arange(6) / 2, expected, strict=True):
        q, v, a = motion.follow(np.array([0.785 + t]), np.ones(1), np.zeros(1), q)
        np.testing.assert_allclose(motion.torques(q, v, a), [tau], atol=2e-9)


def test_diaz_3rrr_second() -> None:
    """Díaz, example 2, recomputed: from rest under 0.1, 0.1, -0.1 N m for a second."""
    m = load("diaz_3rrr")
    np.testing.assert_allclose(
        m.home(), [1.047, -0.865, 1.116, 2.751, -1.424, 0.679, -2.718], atol=5.1e-4
    )
    tree, tau = Oracle(m), np.zeros(7)
    tau[list(m.actuated_velocities)] = [0.1, 0.1, -0.1]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:7], y[7:]
        J = jacobian_at(m, q)
        h = 1e-5
        bias = (jacobian_at(m, q + h * v) - jacobian_at(m, q - h * v)) @ v / (2 * h)
        return np.concatenate([v, accelerations(tree, J, bias, q, v, tau)])

    end = solve_ivp(
        rates, (0, 1), np.concatenate([m.home(), np.zeros(7)]), "DOP853", rtol=1e-9, atol=1e-11
    ).y[:7, -1]
    expected = [
        1.10188183,
        -0.95807413,
        1.13974961,
        2.79747542,
        -1.46230170,
        0.59455333,
        -2.69078113,
    ]
    np.testing.assert_allclose(end, expected, atol=1e-7)


def accelerations(
    tree: Oracle, J: np.ndarray, bias: np.ndarray, q: np.ndarray, v: np.ndarray, forces: np.ndarray
):
    """M a + h = forces + J^T lambda with J a = -bias."""
    M, h = tree.mass_matrix(q), tree.inverse_dynamics(q, v, np.zeros(len(v)))
    free = np.linalg.solve(M, forces - h)
    MJ = np.linalg.solve(M, J.T)
    return free - MJ @ np.linalg.lstsq(J @ MJ, J @ free + bias, rcond=1e-10)[0]


def test_andrews_squeezer_starts_as_the_book_says() -> None:
    """Hairer and Wanner, VII.7: the consistent start at rest."""
    m = load("andrews_squeezer")
    tree, q = Oracle(m), m.home()
    spring, wrench = m.springs[0], m.wrenches[0]
    placed = placements(m, q)
    near, far = (on_body(placed, end.body, end.at)[1] for end in (spring.first, spring.second))
    length = np.linalg.norm(far - near)
    pull = -spring.stiffness * (length - spring.length) * (far - near) / length
    forces = tree.point_jacobian(q, spring.second.body, spring.second.at.position)[3:].T @ pull
    forces += tree.point_jacobian(q, wrench.body, wrench.at)[:3].T @ np.array(wrench.moment)
    a = accelerations(tree, jacobian_at(m, q), np.zeros(15), q, np.zeros(7), forces)
    expected = {"beta": 14222.4439199541, "Theta": -10666.8329399656}
    for joint in m.joints:
        assert a[m.velocities[joint.name]][0] == pytest.approx(
            expected.get(joint.name, 0.0), abs=1e-5
        )


def test_flyball_governor_starts_without_spring_load() -> None:
    m = load("flyball_governor")
    placed = placements(m, m.home())
    for spring in m.springs:
        near, far = (on_body(placed, end.body, end.at)[1] for end in (spring.first, spring.second))
        assert np.linalg.norm(far - near) == pytest.approx(spring.length, abs=1e-15)
    assert (m.springs[0].stiffness, m.springs[0].damping) == (8e5, 4e4)


# -- how they move ----------------------------------------------------------------------------------------------------


def driven_to(m: es.Mechanism, value: float, steps: int = 20) -> np.ndarray:
    """The closed configuration with the single driven joint at a value, followed from home."""
    motion, q = Motion(m), m.home()
    for x in np.linspace(q[motion.driven[0]], value, steps + 1)[1:]:
        q = motion.follow(np.array([x]), np.zeros(1), np.zeros(1), q)[0]
    assert residual(m, q) < 1e-10
    return q


@pytest.mark.parametrize("degrees", [124, 160, 230])
def test_rojas_7r_loop_keeps_its_symmetric_branch(degrees: float) -> None:
    """Rojas (3.3.3.7)."""
    theta = driven_to(load("rojas_7r_loop"), np.radians(degrees))
    assert (2 + np.cos(theta[1])) * np.cos(theta[0]) == pytest.approx(-1.5, abs=1e-9)
    np.testing.assert_allclose(
        theta[[2, 3, 4, 5]], [-theta[1], 2 * theta[0], theta[1], -theta[1]], atol=1e-7
    )


@pytest.mark.parametrize("degrees", [-60, 20, 110])
def test_rojas_hexiflex_follows_its_input(degrees: float) -> None:
    """Rojas, 3.5: P(beta), theta2 = theta4 = beta and (1 + cos theta1)(1 + cos theta2) = 1."""
    m = load("rojas_hexiflex")
    mirrored = m.home() * [1, -1, 1, -1, -1]  # beta = 0 is a fork of branches, so start beyond it
    q = close(m, mirrored) if degrees < 0 else driven_to(m, np.radians(degrees))
    beta = q[m.coordinates["beta"]][0]
    assert beta == pytest.approx(np.radians(degrees), abs=1e-9)
    assert (1 + np.cos(q[0])) * (1 + np.cos(q[1])) == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(q[[1, 2, 3]], [beta, q[0], beta], atol=1e-8)
    frame = m.frame("P")
    _, p = on_body(placements(m, q), frame.body, frame.at)
    np.testing.assert_allclose(p, [-(1 + np.cos(beta)), 0, -np.sin(beta)], atol=1e-12)


@pytest.mark.parametrize("degrees", [20, 150, 300])
def test_bennett_relation(degrees: float) -> None:
    m = load("bennett")
    q = driven_to(m, np.radians(degrees))
    alpha, beta = m.parameters["alpha"], m.parameters["beta"]
    k = np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2)
    assert np.tan(q[0] / 2) * np.tan(q[1] / 2) == pytest.approx(k, rel=1e-8)
    assert np.sin((q[2] + q[0]) / 2) == pytest.approx(0, abs=1e-9)


def test_sarrus_platform_goes_straight_up_and_down() -> None:
    m = load("sarrus")
    centre = m.frame("centre")
    for degrees in (100, 150, 170):
        R, p = on_body(placements(m, driven_to(m, np.radians(degrees))), centre.body, centre.at)
        np.testing.assert_allclose(R, np.eye(3), atol=1e-9)
        np.testing.assert_allclose(p, [0, 0, 0.6 * np.sin(np.radians(degrees))], atol=1e-9)


def test_bricard_moves_a_finite_way() -> None:
    m = load("bricard")
    points = np.array([(1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)])
    placed = placements(m, m.home())
    tips = [j.at.translation() for j in m.joints[1:]] + [np.array([0.0, 1.0, 0.0])]
    found = [
        placed[b.name][0] @ tip + placed[b.name][1] for b, tip in zip(m.bodies, tips, strict=True)
    ]
    np.testing.assert_allclose(found, points, atol=1e-15)  # six edges of a cube
    for angle in (-0.45, 0.45):
        q = driven_to(m, angle)
        assert rank(jacobian_at(m, q)) == 4


def test_parallel_platforms_do_not_turn() -> None:
    m = load("parallelogram")
    R, _ = placements(m, driven_to(m, np.radians(140)))["coupler"]
    np.testing.assert_allclose(R, np.eye(3), atol=1e-10)
    m = load("delta")
    q = wander(m, 0.5, seed=4)
    assert np.abs(q - m.home()).max() > 0.1
    R, _ = placements(m, q)["platform"]
    np.testing.assert_allclose(R, np.eye(3), atol=1e-9)


def test_delta_stands_where_its_spheres_meet() -> None:
    """The platform's centre is at the distance L_rod from each elbow, moved in by the platform's radius."""
    m = load("delta")
    q, p = wander(m, 0.5, seed=5), m.parameters
    placed = placements(m, q)
    _, centre = on_body(placed, "platform", m.frame("centre").at)
    for k, azimuth in enumerate((0, 2 * np.pi / 3, 4 * np.pi / 3), start=1):
        theta = q[m.coordinates[f"arm{k}"]][0]
        out = p["r_base"] - p["r_platform"] + p["L_arm"] * np.cos(theta)
        elbow = np.array(
            [out * np.cos(azimuth), out * np.sin(azimuth), -p["L_arm"] * np.sin(theta)]
        )
        assert np.linalg.norm(centre - elbow) == pytest.approx(p["L_rod"], abs=1e-9)


def test_stewart_gough_slides_are_the_lengths_of_its_legs() -> None:
    m = load("stewart_gough")
    q, p = wander(m, 0.4, seed=6), m.parameters
    R, centre = on_body(placements(m, q), "platform", m.frame("centre").at)
    assert np.linalg.norm(R - np.eye(3)) > 0.02
    pair = np.radians(20)
    for j in range(3):
        turn = 2 * np.pi / 3 * j
        for leg, base, top in (
            (2 * j + 1, turn, turn + 2 * pair),
            (2 * j + 2, turn - pair, turn - 3 * pair),
        ):
            foot = p["r_base"] * np.array([np.cos(base), np.sin(base), 0])
            head = centre + R @ (p["r_platform"] * np.array([np.cos(top), np.sin(top), 0]))
            assert np.linalg.norm(head - foot) == pytest.approx(
                q[m.coordinates[f"slide{leg}"]][0], abs=1e-9
            )


def test_rssr_crank_turns_fully_while_its_rod_may_spin() -> None:
    m = load("rssr")
    q, J = m.home(), None
    for turn in np.linspace(0, 2 * np.pi, 61)[1:]:
        q[0] = turn
        for _ in range(4):
            q[0] = turn
            q = close(m, q)
        J = jacobian_at(m, q)
        assert rank(J) == 3
    along = np.zeros(m.nv)
    along[m.velocities["ball"]] = [1, 0, 0]  # the rod's own axis
    np.testing.assert_allclose(J @ along, 0, atol=1e-12)


def test_slider_crank_stroke() -> None:
    m = load("slider_crank")
    for angle, x in ((np.pi, 0.2), (2 * np.pi, 0.4)):
        q = driven_to(m, angle)
        assert q[m.coordinates["slide"]][0] == pytest.approx(x, abs=1e-9)


def test_n_four_bar_is_singular_where_it_lies_flat() -> None:
    m = load("n_four_bar")
    upright = jacobian_at(m, m.home())
    flat = jacobian_at(m, np.zeros(5))
    assert residual(m, np.zeros(5)) == 0
    assert (m.nv - rank(upright), m.nv - rank(flat)) == (1, 3)


def test_cart_pole_closed_form() -> None:
    m = load("cart_pole")
    M = Oracle(m).mass_matrix(np.array([0.3, 0.6]))
    mp, L = 0.1, 1.0
    np.testing.assert_allclose(
        M, [[1.1, mp * L / 2 * np.cos(0.6)], [mp * L / 2 * np.cos(0.6), mp * L**2 / 3]], rtol=1e-13
    )


def test_stanford_arm_is_made_of_solid_bodies_and_has_the_published_moments_about_its_frames() -> (
    None
):
    m = load("stanford_arm")
    body = m.body("link6")  # DH frame 6 stands 0.263 m along z from the joint
    z = body.com[2] - 0.263
    assert z == pytest.approx(0.1554, abs=1e-15)
    assert body.inertia[0] + body.mass * z**2 == pytest.approx(0.013, abs=1e-15)
    boom = m.body("link3")
    assert boom.inertia[0] + boom.mass * boom.com[2] ** 2 == pytest.approx(2.51, abs=1e-13)
