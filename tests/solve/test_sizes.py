"""Nothing depends on the unit of length: every verb of configurations, of mechanisms from micrometres to megametres."""

import warnings

import numpy as np
import pytest

import eslabon as es
from scaling import scaled, scaled_coordinates, velocity_factors

FACTORS = (1e-7, 1e-3, 1e6)
CLOSED = ("five_bar", "planar_3rrr", "delta", "slider_crank", "stewart_gough", "bennett", "rssr")
DIGITS = (
    1e-9  # of radians, or of lengths over the mechanism's size: what solvers leave of rows is 1e-10
)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.ModelWarning)
        warnings.simplefilter("ignore", es.SingularityWarning)
        yield


def agree(m, mine, other, factor):
    """Whether coordinates of a mechanism and of the scaled one are the same."""
    size = scaled_coordinates(m, np.ones(m.nq), factor)
    assert np.allclose(other / size, mine, rtol=0, atol=DIGITS * max(1.0, np.abs(mine).max()))


def actuated(m, q):
    return q[..., [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]]


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("factor", FACTORS)
def test_assembly_and_rates_do_not_depend_on_the_unit_of_length(name, factor, rng):
    m = es.load(name)
    n = scaled(m, factor)
    q = m.project(m.home())
    agree(m, q, n.project(n.home()), factor)
    values = actuated(m, q) * (1 + 0.02 * rng.uniform(-1, 1, (3, m.nu)))
    sizes = actuated(m, scaled_coordinates(m, np.ones(m.nq), factor))
    mine, other = m.assemble(values, q, report=True), n.assemble(values * sizes, report=True)
    assert np.array_equal(mine.converged, other.converged)
    good = mine.converged
    agree(m, mine.q[good], other.q[good], factor)
    if name == "rssr":
        return  # a rod's spin moves as little as it can: see the test of spins
    rates = velocity_factors(m, factor)
    va = rng.normal(size=m.nu) * actuated(m, scaled_coordinates(m, np.ones(m.nq), 1.0))
    first = m.complete(values[good], va, va, q)
    second = n.complete(values[good] * sizes, va * sizes, va * sizes, other.q[good])
    for a, b in zip(first[1:], second[1:], strict=True):
        assert np.allclose(b / rates, a, rtol=1e-7, atol=1e-7 * np.abs(a).max(initial=1e-12))


@pytest.mark.parametrize("factor", FACTORS)
def test_a_small_five_bar_closes_to_its_last_digits(factor):
    """A million times smaller it once was assembled 3e-4 rad off, ten million times smaller refused."""
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    assert np.abs(scaled(m, factor).assemble([2.0, 1.0]) - q).max() < 1e-9
    modes = scaled(m, factor).assembly_modes([2.0, 1.0])
    assert np.abs(modes - m.assembly_modes([2.0, 1.0])).max() < 1e-8


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "scara"])
@pytest.mark.parametrize("factor", FACTORS)
def test_inverse_kinematics_does_not_depend_on_the_unit_of_length(name, factor, rng):
    m = es.load(name)
    n = scaled(m, factor)
    lower, upper = np.array([j.limits[0] for j in m.joints], dtype=float).T
    q = rng.uniform(0.8 * lower + 0.2 * upper, 0.2 * lower + 0.8 * upper, (6, m.nq))
    guess = q + 0.2 * rng.uniform(-1, 1, q.shape) * np.where(upper - lower > 6, 1.0, upper - lower)
    frame = es.load(name).frames[-1].name
    T = m.pose(q, frame)
    S = T.copy()
    S[:, :3, 3] *= factor
    # To aim nowhere in reach: verdicts agree too.
    T[-1, :3, 3], S[-1, :3, 3] = 50.0, 50.0 * factor
    both = [
        own.inverse_kinematics(
            es.Target(frame, pose=pose), scaled_coordinates(m, guess, f), report=True
        )
        for own, pose, f in ((m, T, 1.0), (n, S, factor))
    ]
    assert np.array_equal(both[0].converged, both[1].converged)
    good = both[0].converged
    assert good[:-1].all() or name != "puma560"
    agree(m, both[0].q[good], both[1].q[good], factor)
    assert np.allclose(both[1].distance[~good], factor * both[0].distance[~good], rtol=1e-6)


@pytest.mark.parametrize("factor", FACTORS)
def test_paths_are_followed_at_any_size(factor):
    m = es.load("five_bar")
    n = scaled(m, factor)
    motions = []
    for own, f in ((m, 1.0), (n, factor)):
        line = es.paths.line(np.array([0.05, 0.08, 0]) * f, np.array([0.06, 0.1, 0]) * f)
        way = es.paths.along(line, es.paths.cycloidal(0.5))
        motions.append(own.follow(way, part="position", times=np.linspace(0, 0.5, 6)))
    for a, b in zip(
        (motions[0].q, motions[0].v, motions[0].a),
        (motions[1].q, motions[1].v, motions[1].a),
        strict=True,
    ):
        assert np.allclose(a, b, rtol=0, atol=1e-7 * np.abs(a).max())
