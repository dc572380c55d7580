"""Facts of mechanics, one function each, with their tolerances: `ALL` of them hold for every mechanism that has what they
need (`cases.shape_traits`, `cases.Moving.traits`).

`agree` is the one comparison. Its floor is the size of the terms: of what is compared, and of what was added up to it,
which a fact passes where sums cancel. Digits say how many of them agree; fewer than 12 have a reason beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

import eslabon as es
from cases import (
    Case,
    Moving,
    inert_parameter,
    least_inertia,
    on_joints,
    rate_along,
    thickened,
    tree_of,
)
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model.configuration import integrate
from eslabon.solve.constraints.constraint_structure import structure
from oracles import FreeBodies, MujocoLoops, Oracle, motor_inertia, pinocchio_loops, unbalanced


@dataclass(frozen=True)
class Fact:
    """A function of a moving mechanism that asserts something, and the traits without which it says nothing."""

    name: str
    check: Callable[[Moving], None]
    needs: frozenset[str]

    def __str__(self) -> str:
        return self.name

    def __call__(self, state: Moving) -> None:
        self.check(state)


ALL: list[Fact] = []


def fact(needs: str = "") -> Callable[[Callable[[Moving], None]], Fact]:
    """State a fact of all mechanisms that have the traits named, separated by commas."""

    def state(check: Callable[[Moving], None]) -> Fact:
        made = Fact(
            check.__name__, check, frozenset(x.strip() for x in needs.split(",") if x.strip())
        )
        ALL.append(made)
        return made

    return state


def check_all(state: Moving) -> None:
    """Every fact that applies to a state."""
    for one in ALL:
        if one.needs <= state.traits:
            one(state)


def pairs(cases: Iterable[Case], facts: Iterable[Fact]) -> list[tuple[Case, Fact]]:
    """Every fact that applies to a case, case by case, so that one worker keeps a case's graphs."""
    stated = list(facts)
    known = [
        (case, case.traits) for case in cases
    ]  # found once a case: some build mechanisms to find out
    return [(case, one) for case, traits in known for one in stated if one.needs <= traits]


def agree(got: object, want: object, *terms: object, digits: float) -> None:
    """Equal to so many digits of the largest among both and the terms that were added up to them."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape
    size = max(float(np.abs(x).max(initial=0.0)) for x in (got, want, *map(np.asarray, terms)))
    error = float(np.abs(got - want).max(initial=0.0))
    assert error <= 10.0**-digits * size, (
        f"differ by {error:.3g}, {error / size:.3g} of the terms' size {size:.3g}"
    )


def nothing(residual: np.ndarray, *terms: object, digits: float) -> None:
    """Zero to so many digits of the terms."""
    agree(residual, np.zeros_like(residual), *terms, digits=digits)


# -- kinematics of the loops ------------------------------------------------------------------------------------------


@fact(needs="closed")
def motion_keeps_the_loops_closed(s: Moving) -> None:
    m, rows = s.m, np.abs(s.J)
    nothing(m.constraint(s.q), 1.0, digits=9)
    nothing(
        s.J @ s.v, rows @ np.abs(s.v), s.v, digits=9
    )  # rows of unit vectors; to what projection leaves
    h, move = 1e-4, np.random.default_rng(s.label).normal(size=m.nv)
    there = m.constraint(integrate(m, s.q, h * move)) - m.constraint(integrate(m, s.q, -h * move))
    agree(
        there / (2 * h), s.J @ move, 1.0, digits=6
    )  # J v is the rate of the constraint; h^2 is left


@fact(needs="closed, determined")
def accelerations_keep_the_loops_closed(s: Moving) -> None:
    agree(
        s.J @ s.forward,
        s.gamma,
        np.abs(s.J) @ (s.push + np.abs(s.forward)),
        digits=min(9, s.digits),
    )


# -- terms of the equations of motion ---------------------------------------------------------------------------------


@fact()
def the_mass_matrix_is_symmetric_and_resists_every_motion(s: Moving) -> None:
    m, M = s.m, s.m.mass_matrix(s.q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min(initial=0.0) >= -1e-13 * np.abs(M).max(initial=0.0)
    kinetic = m.energy(s.q, s.v)[0]
    agree(kinetic, s.v @ M @ s.v / 2, np.abs(s.v) @ np.abs(M) @ np.abs(s.v), digits=13)


@fact(needs="short")
def inertia_changes_as_coriolis_forces_say(s: Moving) -> None:
    C, rate = s.m.coriolis_matrix(s.q, s.v), rate_along(s.m, s.m.mass_matrix, s.q, s.v)
    skew = rate - 2 * C
    nothing(skew + skew.T, rate, C, np.abs(s.M).max(initial=0.0) * s.v, digits=12)


@fact(needs="short")
def forces_are_inertia_coriolis_potential_and_losses(s: Moving) -> None:
    C = s.m.coriolis_matrix(s.q, s.v)
    gradient = s.m.derivative("energy", "q", s.q, s.v)[1]
    sum_of_all = s.M @ s.a + C @ s.v + gradient + s.acting.resistance - s.acting.wrenches
    agree(s.needed, sum_of_all, *s.forces, digits=11)
    agree(gradient, s.m.gravity_forces(s.q) - s.acting.springs, *s.forces, digits=12)
    still = s.tree.inverse_dynamics(s.q, 0 * s.v, 0 * s.a)
    agree(still, gradient - s.acting.wrenches, *s.forces, digits=12)


@fact()
def forces_are_linear_in_inertial_parameters(s: Moving) -> None:
    Y, rigid = s.m.regressor(s.q, s.v, s.a), s.needed + s.acting.push - motor_inertia(s.m) * s.a
    agree(Y @ s.m.inertial_parameters(), rigid, *s.forces, digits=11)


@fact(needs="few velocities")
def base_parameters_tell_all_that_motion_tells(s: Moving) -> None:
    m, base = s.m, s.m.base_parameters()
    Y, rigid = m.regressor(s.q, s.v, s.a), s.needed + s.acting.push - motor_inertia(m) * s.a
    assert len(base) < len(m.inertial_parameters())
    seen = s.free.T @ Y[:, list(base.columns)] @ base.values
    agree(seen, s.free.T @ rigid, *s.forces, digits=8)  # what a base is found by is a rank


# -- power ------------------------------------------------------------------------------------------------------------


def energy_rate(s: Moving, a: np.ndarray) -> tuple[float, np.ndarray]:
    """The rate of all energy, and the terms of it: a difference along the accelerations is exact, since v enters squared."""
    faster, slower = (np.asarray(s.m.energy(s.q, s.v + x)) for x in (a, -a))
    terms = np.concatenate(
        [s.m.derivative("energy", "q", s.q, s.v) * s.v, (faster - slower) / 2], axis=None
    )
    return terms.sum(), np.append(terms, [s.acting.dissipated, s.acting.wrenches @ s.v])


@fact(needs="determined, short")
def power_in_is_the_rate_of_energy(s: Moving) -> None:
    """Of motors and wrenches; loops do no work."""
    rate, terms = energy_rate(s, s.forward)
    power = s.tau @ s.v[s.driven] + s.acting.wrenches @ s.v - s.acting.dissipated
    agree(power, rate, terms, np.abs(s.M @ s.forward) * np.abs(s.v), digits=min(9, s.digits))


@fact(needs="controlled, short")
def power_of_the_forces_needed_is_the_rate_of_energy(s: Moving) -> None:
    """With a wrench on the last body besides; of passive joints in a tree the forces are known too."""
    m, body = s.m, s.m.bodies[-1].name
    wrench = np.random.default_rng(s.label).normal(size=6)
    held = m if m.closed else s.tree
    tau = held.inverse_dynamics(s.q, s.v, s.a, external={body: wrench})
    rate, terms = energy_rate(s, s.a)
    J = m.jacobian(s.q, body)
    power = on_joints(held, tau) @ s.v + wrench @ J @ s.v
    agree(
        power + s.acting.wrenches @ s.v - s.acting.dissipated,
        rate,
        terms,
        s.needed * s.v,
        digits=min(9, s.digits),
    )
    work = J.T @ wrench
    change = on_joints(held, held.inverse_dynamics(s.q, s.v, s.a) - tau)
    agree(s.free.T @ change, s.free.T @ work, *s.forces, digits=min(10, s.digits))


# -- inverse and forward dynamics -------------------------------------------------------------------------------------


@fact(needs="controlled")
def formulations_agree_on_inverse_dynamics(s: Moving) -> None:
    m, digits = s.m, min(10, s.digits)
    tau = m.inverse_dynamics(s.q, s.v, s.a)
    agree(
        s.free.T @ on_joints(m, tau), s.free.T @ s.needed, *s.forces, digits=digits
    ) if m.closed else agree(tau, s.needed[s.driven], *s.forces, digits=12)
    for pair in s.inverse_pairs:
        agree(m.inverse_dynamics(s.q, s.v, s.a, **pair), tau, *s.forces, digits=digits)


@fact(needs="determined")
def formulations_agree_on_forward_dynamics(s: Moving) -> None:
    want = s.accelerations(on_joints(s.m, s.tau))  # from M, h and J alone, by singular values
    agree(s.forward, want, s.push, digits=s.digits)
    for pair in s.forward_pairs:
        agree(s.m.forward_dynamics(s.q, s.v, s.tau, **pair), want, s.push, digits=s.digits)


@fact(needs="determined, controlled")
def forward_dynamics_undoes_inverse_dynamics(s: Moving) -> None:
    m = s.m if s.m.closed else s.tree
    tau = m.inverse_dynamics(s.q, s.v, s.a)
    terms = np.linalg.pinv(s.free.T @ s.M @ s.free) @ s.free.T @ np.abs(s.forces).max(axis=0)
    agree(m.forward_dynamics(s.q, s.v, tau), s.a, terms, s.push, digits=s.digits)


@fact(needs="undetermined, tree")
def a_motion_without_mass_is_refused(s: Moving) -> None:
    tau = np.zeros(s.m.nu)
    for pair in ({}, *s.forward_pairs):
        refused(lambda pair=pair: s.m.forward_dynamics(s.q, s.v, tau, **pair), "moves no mass")


@fact(needs="undetermined, closed")
def a_motion_that_nothing_determines_is_refused(s: Moving) -> None:
    """Without mass, or at a singular configuration; in one sentence."""
    for pair in ({}, *s.forward_pairs):
        refused(
            lambda pair=pair: s.m.forward_dynamics(s.q, s.v, s.tau, **pair),
            "moves no mass|singular configuration",
        )


@fact(needs="uncontrolled, determined")
def inverse_dynamics_names_what_no_motor_controls(s: Moving) -> None:
    """Unless it moves no other body, as a spinning rod: then forces are those of the hybrid problem."""
    if structure(s.m).uncontrolled:
        refused(lambda: s.m.inverse_dynamics(s.q, s.v, s.a), "uncontrolled|singular configuration")
    else:
        agree(s.m.inverse_dynamics(s.q, s.v, s.a), s.m.hybrid_dynamics(s.q, s.v, s.a)[0], digits=9)


def refused(call: Callable[[], object], words: str) -> None:
    """An error in one sentence that has one of the words."""
    try:
        call()
    except (es.ModelError, es.SingularityError) as error:
        assert any(x in str(error) for x in words.split("|")), str(error)
        assert "\n" not in str(error)
    else:
        raise AssertionError(f"no error about: {words}")


@fact(needs="determined, independent motors")
def hybrid_dynamics_is_forward_dynamics(s: Moving) -> None:
    """Motors given their accelerations need the forces that give these; the others move as they do under those."""
    m = s.m
    want = s.forward if m.closed else s.a
    tau, a = m.hybrid_dynamics(s.q, s.v, want)
    agree(a[s.driven], want[s.driven], a, s.push, digits=min(9, s.digits))
    found = m.forward_dynamics(s.q, s.v, tau)
    agree(
        found,
        a,
        np.linalg.pinv(s.M) @ np.abs(s.forces).max(axis=0),
        s.push,
        digits=min(9, s.digits),
    )
    if m.closed:
        agree(tau, s.tau, *s.forces, s.M @ s.forward, digits=min(9, s.digits))


@fact(needs="undetermined, tree")
def hybrid_dynamics_needs_the_inertia_of_passive_joints_alone(s: Moving) -> None:
    loose = np.delete(np.eye(s.m.nv), s.driven, axis=1)
    if least_inertia(s.M, loose) < 1e-15:
        refused(lambda: s.m.hybrid_dynamics(s.q, s.v, s.a), "moves no mass")
    elif least_inertia(s.M, loose) > 1e-9:
        tau, a = s.m.hybrid_dynamics(s.q, s.v, s.a)
        agree(a[s.driven], s.a[s.driven], a, digits=9)
        agree(s.m.inverse_dynamics(s.q, s.v, a), tau, *s.forces, np.abs(s.M) @ np.abs(a), digits=9)


# -- reactions --------------------------------------------------------------------------------------------------------


def carried_by(s: Moving) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accelerations, the motors' forces, and what the joints and cut joints transmit."""
    m = s.m
    if not m.closed:
        return s.a, s.needed, m.reactions(s.q, s.v, s.a)
    if "controlled" in s.traits:
        return s.a, on_joints(m, m.inverse_dynamics(s.q, s.v, s.a)), m.reactions(s.q, s.v, s.a)
    return s.forward, on_joints(m, s.tau), m.reactions(s.q, s.v, tau=s.tau)


@fact(needs="determined, uncoupled")
def reactions_balance_every_body(s: Moving) -> None:
    """Newton's and Euler's laws; a gear's forces are between joints, and belong to no one of them."""
    a, _, carried = carried_by(s)
    left, size = unbalanced(s.m, s.q, s.v, a, carried)
    nothing(left, size, carried, digits=min(10, s.digits))


@fact(needs="determined, uncoupled")
def joints_transmit_what_they_hold_and_their_motors_force(s: Moving) -> None:
    m = s.m
    _, force, carried = carried_by(s)
    bare = [not (j.stiffness or j.viscous or j.coulomb or j.motor_inertia) for j in m.joints]
    for joint, wrench, plain in zip(m.joints, carried, bare, strict=False):
        if joint.nv and plain:
            S = np.asarray(joint.kind.motion(s.q[m.coordinates[joint.name]]))
            agree(
                S.T @ wrench,
                force[m.velocities[joint.name]],
                carried,
                *s.forces,
                digits=min(9, s.digits),
            )
    placed = placements(m, s.q)
    for cut, wrench in zip(m.loops, carried[len(m.joints) :], strict=True):
        first, second = (on_body(placed, end.body, end.at) for end in (cut.first, cut.second))
        R, p = second.relative_to(first)
        C = np.asarray(cut.kind.covectors(R, p), dtype=float)
        agree(C @ np.linalg.lstsq(C, wrench, rcond=None)[0], wrench, carried, digits=9)


@fact(needs="determined, uncoupled")
def reactions_follow_from_forces_too(s: Moving) -> None:
    """Also where motors work against one another, of which accelerations know nothing."""
    m, got = s.m, s.m.reactions(s.q, s.v, tau=s.tau)
    if {"controlled", "independent motors"} <= s.traits:
        agree(
            got,
            m.reactions(s.q, s.v, s.forward),
            *s.forces,
            s.M @ s.forward,
            digits=min(8, s.digits),
        )
    left, size = unbalanced(m, s.q, s.v, s.forward, got)
    nothing(left, size, got, digits=min(9, s.digits))


# -- other programs, and free bodies ----------------------------------------------------------------------------------


@fact()
def pinocchio_has_the_same_tree(s: Moving) -> None:
    oracle = Oracle(s.tree)
    agree(s.M, oracle.mass_matrix(s.q), digits=11)
    agree(s.needed, oracle.inverse_dynamics(s.q, s.v, s.a) - s.acting.push, *s.forces, digits=11)


@fact(needs="determined, tree")
def pinocchio_accelerates_the_same_tree_alike(s: Moving) -> None:
    force = on_joints(s.m, s.tau)
    agree(
        s.forward,
        Oracle(s.tree).forward_dynamics(s.q, s.v, force + s.acting.push),
        s.push,
        digits=s.digits,
    )


@fact(needs="determined, closed, cuts of points, inertia everywhere")
def pinocchio_accelerates_the_same_loops_alike(s: Moving) -> None:
    a, J = pinocchio_loops(s.m, s.tree, s.q, s.v, on_joints(s.m, s.tau) + s.acting.push)
    agree(s.forward, a, s.push, digits=min(7, s.digits))  # its proximal iterations end there
    assert np.linalg.matrix_rank(J, 1e-9) == s.rank
    nothing(J @ s.v, np.abs(J) @ np.abs(s.v), digits=9)


@fact(needs="determined, mujoco")
def mujoco_accelerates_the_same_mechanism_alike(s: Moving) -> None:
    """With bodies a little thicker if some are thin, since MuJoCo refuses these."""
    m = thickened(s.m)
    theirs = MujocoLoops(m, tree_of(m), s.q, s.v)
    nothing(theirs.gap, 1.0, digits=9)
    force = on_joints(m, s.tau)
    a = m.forward_dynamics(s.q, s.v, s.tau)
    agree(
        a, theirs.accelerations(force + s.acting.push), s.push, digits=min(7, s.digits)
    )  # its floor for inertias
    work = (
        theirs.inverse_dynamics(a) - s.acting.push
    ) * s.v  # of the tree: forces of the loops are in it, and do none
    agree(work.sum(), force @ s.v, work, np.abs(s.M @ a) * np.abs(s.v), digits=8)


@fact(needs="determined, closed, only bodies")
def free_bodies_held_together_move_and_are_held_alike(s: Moving) -> None:
    """Newton and Euler for each body by itself, where joints and cut joints alike are ties."""
    m, apart = s.m, FreeBodies(s.m, s.tree, s.q, s.v)
    rates, _ = apart.solve(on_joints(m, s.tau))
    spins = np.abs(apart.V).max(initial=0.0) ** 2, np.abs(m.gravity).max(), s.push
    for k, body in [*enumerate(m.bodies, 1)][
        s.label % min(3, len(m.bodies)) :: 3
    ]:  # of other mechanisms others
        got = m.acceleration(s.q, s.v, s.forward, body.name, axes="aligned")
        agree(got, apart.acceleration(rates, k), rates, *spins, digits=min(8, s.digits - 1))
    change = np.vdot(apart.V, np.tensordot(apart.M, rates) - apart.weight)
    agree(
        s.tau @ s.v[s.driven],
        change,
        np.tensordot(apart.M, rates) * apart.V,
        digits=min(8, s.digits),
    )
    known = m.determined_reactions(s.q)
    assert np.array_equal(known, ~apart.open_reactions())
    _, carried = apart.solve(on_joints(m, s.tau))
    got = m.reactions(s.q, s.v, tau=s.tau)
    agree(got[known], carried[known], carried, digits=min(8, s.digits - 1))


# -- calls ------------------------------------------------------------------------------------------------------------


@fact(needs="determined")
def a_batch_is_its_single_calls(s: Moving) -> None:
    q, v = np.stack([s.q, s.q]), np.stack([s.v, 0 * s.v])
    for k, a in enumerate(s.m.forward_dynamics(q, v, s.tau)):
        agree(a, s.m.forward_dynamics(q[k], v[k], s.tau), s.push, digits=13)
    forces = s.tree.inverse_dynamics(q, v, np.stack([s.a, s.v]))
    agree(forces[0], s.needed, *s.forces, digits=14)
    agree(forces[1], s.tree.inverse_dynamics(s.q, 0 * s.v, s.v), *s.forces, digits=14)


@fact(needs="parameters, determined, few velocities")
def a_design_is_the_mechanism_with_its_parameters(s: Moving) -> None:
    m = s.m
    name = inert_parameter(m) if m.closed else list(m.parameters)[s.label % len(m.parameters)]
    value = m.parameters[name]
    step = abs(value) or 1.0
    h = 1e-3 * step * np.array([-2, -1, 1, 2, 250])
    low, less, more, high, other = s.tree.inverse_dynamics(
        s.q, s.v, s.a, parameters={name: value + h}
    )
    variant = s.tree.with_parameters(**{name: value + h[-1]})
    agree(other, variant.inverse_dynamics(s.q, s.v, s.a), *s.forces, digits=12)
    slope = s.tree.derivative("inverse_dynamics", name, s.q, s.v, s.a)
    steps = (8 * (more - less) - (high - low)) / (12e-3 * step)
    agree(slope * step, steps * step, *s.forces, digits=7)  # differences lose half of the digits
    accelerations = m.forward_dynamics(s.q, s.v, s.tau, parameters={name: [value, value + h[-1]]})
    agree(accelerations[0], s.forward, s.push, digits=min(11, s.digits))
    want = m.with_parameters(**{name: value + h[-1]}).forward_dynamics(s.q, s.v, s.tau)
    agree(accelerations[1], want, s.push, digits=min(11, s.digits))


@fact(needs="few velocities, tree, determined")
def derivatives_are_slopes(s: Moving) -> None:
    m = s.m
    by_forces = slope(s, lambda q: m.inverse_dynamics(q, s.v, s.a))
    agree(m.derivative("inverse_dynamics", "q", s.q, s.v, s.a), by_forces, *s.forces, digits=7)
    if s.margin > 1e-4:  # else accelerations are steeper than differences see
        by_accelerations = slope(s, lambda q: m.forward_dynamics(q, s.v, s.tau))
        agree(
            m.derivative("forward_dynamics", "q", s.q, s.v, s.tau),
            by_accelerations,
            s.forward,
            digits=5,
        )


def slope(s: Moving, f: Callable[[np.ndarray], np.ndarray], h: float = 2e-3) -> np.ndarray:
    """The derivative by q along each velocity, by central differences at h and h/2 extrapolated: h^4 is left."""
    steps = np.eye(s.m.nv)
    one, two = (
        (f(integrate(s.m, s.q, x * steps)) - f(integrate(s.m, s.q, -x * steps))) / (2 * x)
        for x in (h, h / 2)
    )
    return np.moveaxis((4 * two - one) / 3, 0, -1)
