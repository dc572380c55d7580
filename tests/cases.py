"""Mechanisms in motion, for the facts of `facts`: every one of the library, every small one, and drawn ones by seed.

A `Case` is a name and a recipe. Its mechanism is built once in a process, without solving anything; its state, once a
fact needs it. Which facts apply is read from the mechanism's description (`traits`) before anything is solved, so that a
test exists only where it says something; `Moving.traits` finds the same by numbers, and a test compares the two.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

import covering
import eslabon as es
from covering import SIMPLE
from eslabon.model import KINDS, Body
from eslabon.model.configuration import integrate
from oracles import Acting
from random_mechanisms import allowed, random_builder, random_closed, random_tree
from randomness import seeded
from small_mechanisms import SMALL, light_beside_a_loop

POINTS = {"spherical", "revolute", "fixed"}  # the cut joints that coincident points make
BIG = 12  # velocities, up to which MuJoCo has the same mechanism
LONGEST = 18  # velocities, up to which facts are stated that differentiate M or the energy
FEW = 4  # velocities, up to which facts are stated of what takes many graphs: base parameters, designs, derivatives

# The degrees of freedom of the library's mechanisms; robots/test_library.py counts them.
MOBILITY = {
    "andrews_squeezer": 1, "bennett": 1, "bricard": 1, "cart_pole": 2, "delta": 3, "diaz_3rrr": 3, "diaz_four_bar": 1,
    "double_pendulum": 2, "elbow": 2, "excavator": 3, "five_bar": 2, "flyball_governor": 4, "four_bar_spring": 1,
    "mendez_2r": 2, "morales_puma": 2, "morales_stanford": 3, "n_four_bar": 1, "panda_like": 7, "parallelogram": 1,
    "planar_3rrr": 3, "puma560": 6, "puma560_drives": 6, "rojas_3r": 3, "rojas_7r_loop": 1, "rojas_hexiflex": 1,
    "rojas_t3": 6, "rssr": 2, "sarrus": 1, "scara": 4, "slider_crank": 1, "spatial_four_bar": 1, "stanford_arm": 6,
    "stewart_gough": 6, "ur5e_like": 6,
}  # fmt: skip


def all_driven(m: es.Mechanism) -> es.Mechanism:
    """The same with a motor in every joint that moves."""
    every = tuple(j.name for j in m.description.joints if j.nv)
    return m if m.actuated == every else es.Mechanism(replace(m.description, actuated=every))


def tree_of(m: es.Mechanism) -> es.Mechanism:
    """The tree that its loops and couplings close, with a motor in every joint."""
    return all_driven(
        es.Mechanism(replace(m.description, loops=(), couplings=())) if m.closed else m
    )


def thickened(m: es.Mechanism, radius: float = 0.02) -> es.Mechanism:
    """The same with a radius of gyration more, which thin rods lack and MuJoCo demands; what is thick stays as it is."""
    if all(np.linalg.eigvalsh(b.inertia_matrix())[0] > 1e-9 for b in m.bodies):
        return m
    wider = [(*np.add(b.inertia[:3], b.mass * radius**2), *b.inertia[3:]) for b in m.bodies]
    bodies = tuple(replace(b, inertia=x) for b, x in zip(m.bodies, wider, strict=True))
    return es.Mechanism(replace(m.description, bodies=bodies))


def on_joints(m: es.Mechanism, tau: np.ndarray) -> np.ndarray:
    """The motors' forces among those of all velocities."""
    force = np.zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    return force


def closed_near(m: es.Mechanism, q: np.ndarray) -> np.ndarray:
    """A configuration that closes the loops, by Gauss and Newton."""
    for _ in range(12):
        q = integrate(
            m, q, -np.linalg.lstsq(m.constraint_jacobian(q), m.constraint(q), rcond=1e-6)[0]
        )
    return q


def rate_along(
    m: es.Mechanism, f: Callable[[np.ndarray], np.ndarray], q: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """df(q)/dt by central differences of eighth order over a hundredth of a radian or metre: round-off is left, 1e-14 of f.

    The exact derivative takes a graph that is several times as long as that of f.
    """
    weights = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
    h = 0.01 / max(1.0, np.abs(v).max(initial=0.0))
    ahead, behind = (
        f(np.stack([integrate(m, q, sign * k * h * v) for k in (1, 2, 3, 4)])) for sign in (1, -1)
    )
    return np.tensordot(weights, ahead - behind, axes=1) / h


def inert_parameter(m: es.Mechanism) -> str | None:
    """A parameter that leaves all joints and loops where they are, such as a mass."""
    for name, value in m.parameters.items():
        try:
            other = m.with_parameters(**{name: 1.25 * value + (value == 0.0)})
        except es.EslabonError:
            continue
        if (other.joints, other.loops, other.couplings) == (
            m.joints,
            m.loops,
            m.couplings,
        ) and other != m:
            return name
    return None


def is_solid(body: Body) -> bool:
    """Whether some distribution of mass has these moments of inertia."""
    least, middle, largest = np.linalg.eigvalsh(np.asarray(body.inertia_matrix(), dtype=float))
    return least + middle >= largest * (1 - 1e-12)


def shape_traits(m: es.Mechanism) -> set[str]:
    """What a description alone says of a mechanism."""
    joints, cuts = {j.kind.kind for j in m.joints}, {loop.kind.kind for loop in m.loops}
    own = any(j.stiffness or j.viscous or j.coulomb or j.motor_inertia for j in m.joints)
    found = {
        "closed": m.closed,
        "tree": not m.closed,
        "uncoupled": not m.couplings,
        "few velocities": 0 < m.nv <= FEW,
        "short": m.nv <= LONGEST,
        "simple": joints <= SIMPLE,
        "cuts of points": cuts <= POINTS and not m.couplings,
        "mujoco": joints <= SIMPLE and cuts <= POINTS and not m.couplings and 0 < m.nv <= BIG and not own
        and all(b.mass > 0 and is_solid(b) for b in m.bodies) and not any(s.damping for s in m.springs),
        "only bodies": not (own or m.springs or m.wrenches or m.couplings),
        "parameters": inert_parameter(m) is not None,
    }  # fmt: skip
    return {name for name, true in found.items() if true}


def least_inertia(M: np.ndarray, free: np.ndarray) -> float:
    """The least eigenvalue of M among some motions, with each joint measured by its own inertia."""
    scale = np.sqrt(np.maximum(np.diag(M), 1e-16 * np.diag(M).max(initial=1.0)))
    free = np.linalg.qr(scale[:, None] * free)[0]
    return float(np.linalg.eigvalsh(free.T @ (M / np.outer(scale, scale)) @ free).min(initial=1.0))


class Moving:
    """A mechanism in a motion that keeps its loops closed, and what its tree says of it, solved by singular values."""

    def __init__(
        self, m: es.Mechanism, q: np.ndarray, rng: np.random.Generator, v: np.ndarray | None = None, label: int = 0,
        case: Case | None = None,
    ) -> None:  # fmt: skip
        self.m, self.q, self.label = (
            m,
            q,
            label,
        )  # by the label it takes other formulations than its neighbours
        self.case = case  # whose place in the covering design decides instead
        self.J = m.constraint_jacobian(q) if m.closed else np.zeros((0, m.nv))
        _, sizes, V = np.linalg.svd(self.J)
        self.rank = int((sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))).sum())
        self.free = V[self.rank :].T  # the motions that the loops allow
        self.row_sizes = sizes[: self.rank]
        self.v = self.free @ rng.normal(size=self.free.shape[1]) if v is None else v
        self.tau = rng.normal(size=m.nu)
        self.gamma = (
            -rate_along(m, m.constraint_jacobian, q, self.v) @ self.v
            if len(self.J)
            else np.zeros(0)
        )
        self.held = np.linalg.lstsq(self.J, self.gamma, rcond=1e-9)[0]
        self.a = self.held + self.free @ rng.normal(size=self.free.shape[1])

    @cached_property
    def tree(self) -> es.Mechanism:
        return tree_of(self.m)

    @cached_property
    def acting(self) -> Acting:
        return Acting(self.tree, self.q, self.v)

    @cached_property
    def M(self) -> np.ndarray:
        return self.m.mass_matrix(self.q)

    @cached_property
    def h(self) -> np.ndarray:
        """The forces that the tree needs at this velocity without acceleration."""
        return self.tree.inverse_dynamics(self.q, self.v, 0 * self.a)

    @cached_property
    def needed(self) -> np.ndarray:
        """The forces that the tree needs in all joints for this motion."""
        return self.tree.inverse_dynamics(self.q, self.v, self.a)

    @property
    def driven(self) -> list[int]:
        return list(self.m.actuated_velocities)

    @property
    def forces(self) -> tuple[np.ndarray, ...]:
        """The terms that joint forces are sums of: their size is what differences are measured by."""
        return np.abs(self.M) @ np.abs(self.a), self.h, self.needed, *self.potential_terms

    @cached_property
    def potential_terms(self) -> tuple[np.ndarray, ...]:
        still = 0 * self.a
        return (
            self.m.gravity_forces(self.q),
            self.acting.springs,
            self.acting.resistance,
            self.acting.wrenches,
            still,
        )

    @cached_property
    def inertia(self) -> float:
        """The least inertia of an allowed motion, of the inertia of its joints: 1e-16 is round-off."""
        return least_inertia(self.M, self.free)

    @cached_property
    def margin(self) -> float:
        """How well determined accelerations are: also by the least singular value of the rows, squared as in W."""
        rows = (self.row_sizes.min(initial=1.0) / max(1.0, self.row_sizes.max(initial=0.0))) ** 2
        return float(min(self.inertia, rows))

    @property
    def push(self) -> float:
        """The size of accelerations without the loops; where these hold everything, round-off is of that size."""
        forces = np.abs(self.h).max(initial=0.0) + np.abs(self.tau).max(initial=0.0)
        return float(forces / (np.diag(self.M).max(initial=0.0) or 1.0))

    @property
    def digits(self) -> float:
        """The digits of accelerations that survive the conditioning."""
        return min(11.0, 13.0 + np.log10(max(self.margin, 1e-13)))

    @cached_property
    def regular(self) -> bool:
        """Whether the loops hold as many velocities nearby as here; where they do not, the configuration is singular."""
        if not len(self.J):
            return True
        if np.abs(self.J @ self.held - self.gamma).max(initial=0.0) > 1e-8 * max(
            1.0, np.abs(self.gamma).max(initial=0.0)
        ):
            return False
        rng, ranks = np.random.default_rng(0), set()
        for _ in range(3):
            q = closed_near(
                self.m,
                integrate(self.m, self.q, 0.02 * allowed(self.J) @ rng.normal(size=self.m.nv)),
            )
            if np.abs(self.m.constraint(q)).max(initial=0.0) > 1e-9:
                return False
            sizes = np.linalg.svd(self.m.constraint_jacobian(q), compute_uv=False)
            ranks.add(int((sizes > 1e-7 * max(1.0, sizes.max(initial=0.0))).sum()))
        return ranks == {self.rank}

    @cached_property
    def traits(self) -> set[str]:
        """What numbers say, beside the description: whether the masses determine the motion, and the motors the forces."""
        reached = (
            np.linalg.matrix_rank(self.free[self.driven], 1e-6)
            if self.driven and self.free.size
            else 0
        )
        determined = self.margin > (1e-6 if self.m.closed else 1e-9) and self.regular
        found = {
            "determined": determined,
            "inertia everywhere": least_inertia(self.M, np.eye(self.m.nv))
            > 1e-9,  # also in motions that loops prevent
            "undetermined": self.inertia < 1e-15
            and self.regular,  # between the two verbs may answer or refuse
            "controlled": not self.m.closed or (determined and reached == self.free.shape[1]),
            "uncontrolled": self.m.closed and determined and reached < self.free.shape[1],
            "independent motors": not self.m.closed or (determined and reached == len(self.driven)),
        }
        return shape_traits(self.m) | {name for name, true in found.items() if true}

    def accelerations(self, force: np.ndarray) -> np.ndarray:
        """Those under forces in all joints, from M, h and every row of the loops."""
        along = self.free.T @ (force - self.h - self.M @ self.held)
        return self.held + self.free @ np.linalg.solve(self.free.T @ self.M @ self.free, along)

    @cached_property
    def forward(self) -> np.ndarray:
        """The accelerations under the forces `tau`."""
        return self.m.forward_dynamics(self.q, self.v, self.tau)

    @property
    def inverse_pairs(self) -> list[dict[str, str]]:
        """The formulations and methods that inverse dynamics is compared by."""
        chosen = self.case.inverse_pairs if self.case else covering.some_of(self.m, self.label)
        return [covering.options(pair) for pair in chosen]

    @property
    def forward_pairs(self) -> list[dict[str, str]]:
        """The same for forward dynamics, which takes a long graph each time: one of them where nobody designed it."""
        chosen = self.case.forward_pairs if self.case else covering.some_of(self.m, self.label)[:1]
        return [covering.options(pair) for pair in chosen]


@dataclass(frozen=True)
class Case:
    """A mechanism by name, the traits that its numbers will show, and a state of it."""

    name: str
    make: Callable[[], es.Mechanism]
    mobility: int | None = None  # None: a motor in every joint
    determined: bool = True

    def __str__(self) -> str:
        return self.name

    @property
    def mechanism(self) -> es.Mechanism:
        return _mechanism(self)

    @property
    def state(self) -> Moving:
        return _state(self)

    @property
    def inverse_pairs(self) -> list[covering.Pair]:
        return _design("controlled")[self.name]

    @property
    def forward_pairs(self) -> list[covering.Pair]:
        label = zlib.crc32(self.name.encode())
        return (
            _design("determined")[self.name]
            if self.determined
            else covering.some_of(self.mechanism, label)[:2]
        )

    @property
    def traits(self) -> set[str]:
        """What is known before anything is solved."""
        m = self.mechanism
        found = shape_traits(m) | (
            {"determined", "inertia everywhere"} if self.determined else {"undetermined"}
        )
        if not m.closed:
            return found | {"controlled", "independent motors"}
        if not self.determined:
            return found
        controlled = m.nu in (m.nv, self.mobility)
        independent = self.mobility is not None and m.nu <= self.mobility
        return (
            found
            | {"controlled" if controlled else "uncontrolled"}
            | ({"independent motors"} if independent else set())
        )


@cache
def _mechanism(case: Case) -> es.Mechanism:
    return case.make()


@cache
def _design(trait: str) -> dict[str, list[covering.Pair]]:
    """The pairs by which all cases with a trait are compared: by inverse dynamics if controlled, by forward if determined."""
    largest = covering.FEW if trait == "determined" else None
    return covering.design(
        {case.name: case.mechanism for case in ALL if trait in case.traits}, largest
    )


@cache
def _state(case: Case) -> Moving:
    """Away from home, where no mechanism here is singular."""
    m, rng, label = case.mechanism, seeded("state", case.name), zlib.crc32(case.name.encode())
    q = m.home()
    if not m.closed:
        return Moving(m, integrate(m, q, rng.uniform(-1, 1, m.nv)), rng, label=label, case=case)
    v = allowed(m.constraint_jacobian(q)) @ rng.normal(size=m.nv)
    q = closed_near(m, integrate(m, q, 0.1 * v / max(1.0, np.abs(v).max(initial=0.0))))
    return Moving(m, q, rng, label=label, case=case)


def state_of(name: str) -> Moving:
    """A mechanism of the library in motion."""
    return next(case for case in LIBRARY if case.name == name).state


# -- drawn mechanisms -------------------------------------------------------------------------------------------------


def tree_of_kinds(*kinds: str, branched: bool = True) -> Case:
    """A tree of the given joint kinds, or of any."""
    name = f"tree {''.join(k[0].upper() for k in kinds)}{'' if branched else ', serial'}"
    return Case(name, lambda: random_tree(seeded(name), [*kinds], branched))


def every_kind(seed: int) -> Case:
    """A tree of three to seven joints, so that all kinds occur beside all others."""
    kinds = [*seeded("kinds", seed).permutation(list(KINDS))[: 3 + seed % 5], "revolute"]
    return Case(f"tree {seed}", lambda: random_tree(seeded("tree", seed), [str(k) for k in kinds]))


def closed_by(kinds: tuple[str, ...], cuts: tuple[str, ...], seed: int) -> Case:
    """A tree closed by cut joints between random bodies, with a motor in every joint; the seeds give some that move."""

    def make() -> es.Mechanism:
        m, _ = random_closed(np.random.default_rng(seed), [*kinds], [*cuts])
        return all_driven(es.Mechanism(replace(m.description, name=f"closed by {' '.join(cuts)}")))

    return Case(f"{kinds[0]}... closed by {' '.join(cuts)} ({seed})", make)


def with_drives() -> es.Mechanism:
    """Springs, friction and geared motors in joints of several velocities."""
    b = random_builder(seeded("drives"), ["revolute", "prismatic", "spherical", "universal"])
    data = {"viscous": 0.3, "coulomb": 0.2, "motor_inertia": 2e-3, "gear_ratio": -40.0}
    for k, joint in enumerate(b._items["joints"]):
        own = {key: (x,) * joint.nv for key, x in data.items()}
        if joint.nq == joint.nv:
            own |= {"stiffness": (2.0,) * joint.nv, "rest": (0.1,) * joint.nv}
        b._items["joints"][k] = replace(joint, **own)
    return b.build()


def with_springs() -> es.Mechanism:
    """Springs and a damper between bodies."""
    b = random_builder(seeded("springs"), ["revolute", "spherical", "prismatic", "revolute"])
    b.spring(
        "s", "body3", "ground", first=(0.1, 0, 0.2), second=(1, 2, 3), stiffness=50, length=0.4
    )
    b.spring("t", "body1", "body3", second=(0, 0.3, 0), stiffness=20, length=0.1)
    return b.spring("d", "body2", "ground", second=(1, 2, 3), damping=7).build()


def with_wrenches() -> es.Mechanism:
    """Constant wrenches in the axes of the ground and of a body, and an open one."""
    b = random_builder(seeded("wrenches"), ["revolute", "universal", "revolute"])
    b.wrench(
        "fixed", "body2", force=(1, 2, 3), moment=(0.1, 0, 0), at=(0.1, 0.2, 0.3), axes="ground"
    )
    b.wrench("carried", "body0", force=(-1, 0, 2), at=(0.3, 0, 0), axes="body")
    return b.wrench("open", "body1", at=(0, 0, 0.5), axes="body").build()


def damped_loop() -> es.Mechanism:
    """A four-bar with friction, a geared motor, springs, a damper and a wrench."""
    d = es.load("diaz_four_bar")
    b = es.Builder("damped_loop", gravity=d.gravity)
    b._items["bodies"], b._items["loops"] = [*d.bodies], [*d.loops]
    first, *rest = d.joints
    driven = replace(
        first, viscous=(0.4,), coulomb=(0.3,), motor_inertia=(1e-2,), gear_ratio=(5.0,)
    )
    b._items["joints"] = [
        driven,
        replace(rest[0], viscous=(0.2,), stiffness=(3.0,), rest=(0.1,)),
        *rest[1:],
    ]
    one, *_, last = (body.name for body in d.bodies)
    b.spring("s", last, "ground", (0.5, 0.1, 0), (1, 2, 0), stiffness=40, damping=5, length=0.3)
    b.wrench("load", one, force=(3, -1, 0), moment=(0, 0, 2), at=(0.4, 0, 0), axes="body")
    return b.actuate(first.name).build()


def geared_loop() -> es.Mechanism:
    """A five-bar whose motors a gear couples: one degree of freedom."""
    five = es.load("five_bar")
    q, (one, other) = five.home(), five.actuated
    b = es.Builder("geared_loop", gravity=five.gravity)
    b._items["bodies"], b._items["joints"] = [*five.bodies], [*five.joints]
    b._items["loops"] = [*five.loops]
    here, there = (float(q[five.coordinates[name]][0]) for name in (one, other))
    return b.couple("gear", other, one, ratio=-1.5, offset=there + 1.5 * here).actuate(one).build()


MIXED = ("revolute", "spherical", "prismatic", "universal", "revolute", "cylindrical")
RARE = ("helical", "planar", "universal", "fixed", "revolute", "spherical")
PLAIN = (
    "revolute",
    "prismatic",
    "revolute",
    "fixed",
    "revolute",
    "revolute",
    "prismatic",
    "revolute",
    "revolute",
)
LOCKED = dict.fromkeys(("locked_loop", "fixed_loop", "locked_coupling"), 0)
LETTERS = {"R": "revolute", "P": "prismatic", "F": "fixed"}

LIBRARY = [Case(name, lambda name=name: es.load(name), MOBILITY[name]) for name in MOBILITY]
EDGES = [
    *(
        Case(name, make, LOCKED.get(name), determined=name != "two_planar_around_massless")
        for name, make in SMALL.items()
    ),
    Case("light_beside_a_loop", light_beside_a_loop, 1, determined=False),
]
DRAWN = [
    *(every_kind(seed) for seed in range(6)),
    *(tree_of_kinds(*(LETTERS[x] for x in word), branched=k % 2) for k, word in enumerate(("RRRR", "RPRP", "PRRF", "PPR"))),
    *(tree_of_kinds(*["revolute"] * 20, branched=branched) for branched in (True, False)),
    *(Case(make.__name__, make) for make in (with_drives, with_springs, with_wrenches)),
    *(closed_by(MIXED if k in list(KINDS)[::2] else RARE, (k,), 19 if k in list(KINDS)[::2] else 20) for k in KINDS if k != "free"),
    closed_by(MIXED, ("revolute", "spherical"), 20),
    closed_by(PLAIN, ("spherical",), 12),
    Case("damped_loop", damped_loop, 1),
    Case("geared_loop", geared_loop, 1),
]  # fmt: skip
ALL = [*LIBRARY, *EDGES, *DRAWN]
assert len({case.name for case in ALL}) == len(ALL)
