"""Noise in the loop: the same for every method and driver, another for every sample and trajectory, of the asked size."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import difference
from eslabon.motion.simulation import sampled, simulate, traced
from eslabon.motion.simulation.noise import BLOCK, Noise
from random_mechanisms import random_tree

M = es.load("double_pendulum")
TIMES = np.arange(51) * 0.01
NOISY = {"noise": 1e-2, "velocity_noise": [0.1, 0.0], "force_noise": 0.3, "seed": 3}


def law(t, q, v):
    return 30 * (0.5 - q) - 8 * v


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.01])
def test_every_method_and_driver_has_the_same_noise(delay):
    runs = [
        simulate(
            M, np.zeros((3, 2)), None, TIMES, sampled(own, 0.01, delay=delay, **NOISY), **options
        )
        for own, options in (
            (traced(law), {"method": "rk4", "step": 1e-3}),
            (law, {"method": "rk4", "step": 1e-3}),
            (traced(law), {"rtol": 1e-9, "atol": 1e-9}),
            (law, {"rtol": 1e-9, "atol": 1e-9}),
            (traced(law), {"method": "symplectic", "step": 1e-3}),
        )
    ]
    for run, close in zip(runs[1:], (1e-11, 1e-5, 1e-5, 1e-2), strict=True):
        np.testing.assert_allclose(run.q, runs[0].q, atol=close)
    if delay < 0.01:
        np.testing.assert_allclose(runs[1].tau, runs[0].tau, atol=1e-9)
    assert (np.ptp(runs[0].q[:, -1], axis=0) > 1e-4).all()  # trajectories differ


def test_a_run_does_not_depend_on_how_it_is_cut():
    control = sampled(traced(law), 0.01, **NOISY)
    whole = simulate(M, np.zeros((4, 2)), None, 2.0, control, method="rk4", step=5e-3, every=400)
    often = simulate(M, np.zeros((4, 2)), None, 2.0, control, method="rk4", step=5e-3)
    np.testing.assert_allclose(whole.end[0], often.end[0], atol=1e-11)
    other = simulate(
        M,
        np.zeros((4, 2)),
        None,
        2.0,
        sampled(traced(law), 0.01, noise=1e-2),
        method="rk4",
        step=5e-3,
    )
    assert not np.allclose(other.end[0], often.end[0], atol=1e-6)


def test_deviations_are_as_asked_and_samples_independent(rng):
    """What the law sees is kept as its state; what it saw is the motion and normal noise of the asked size."""
    m = random_tree(rng, ["spherical", "prismatic"])
    deviations = np.array([0.01, 0.02, 0.03, 0.04])
    seeing = traced(lambda t, q, v, x: (np.zeros(m.nu), [*q.elements(), *v.elements()]))
    control = sampled(
        seeing, 0.02, state=np.zeros(m.nq + m.nv), noise=deviations, velocity_noise=2 * deviations
    )
    start = np.broadcast_to(m.neutral(), (40, m.nq))
    motion = simulate(m, start, None, 1.0, control, method="rk4", step=0.02)
    seen_q, seen_v = motion.x[..., : m.nq], motion.x[..., m.nq :]
    np.testing.assert_allclose(np.linalg.norm(seen_q[..., :4], axis=-1), 1, atol=1e-12)
    noise = difference(m, seen_q, motion.q)
    count = noise[..., 0].size
    for x, size in ((noise, deviations), (seen_v - motion.v, 2 * deviations)):
        np.testing.assert_allclose(x.std(axis=(0, 1)), size, rtol=6 / np.sqrt(2 * count))
        assert (np.abs(x.mean(axis=(0, 1))) < 6 * size / np.sqrt(count)).all()
        after = (x[:, 1:] * x[:, :-1]).mean(axis=(0, 1)) / size**2
        assert (np.abs(after) < 6 / np.sqrt(count)).all()


def test_a_random_force_moves_a_mass_like_a_random_walk():
    """var v = (force / mass)^2 period t for a free mass under a held white force."""
    b = (
        es.Builder("cart", gravity=(0, 0, 0))
        .body("cart", mass=2.0)
        .joint("x", "prismatic", "ground", "cart")
        .actuate("x")
    )
    m = b.build()
    control = sampled(traced(lambda t, q, v: 0 * q), 0.01, force_noise=3.0)
    motion = simulate(m, np.zeros((2000, 1)), None, 1.0, control, method="rk4", step=0.01, every=10)
    expected = (3.0 / 2.0) ** 2 * 0.01 * motion.t
    np.testing.assert_allclose(motion.v[..., 0].var(axis=0)[1:], expected[1:], rtol=0.2)
    assert not motion.tau_commanded.any()
    assert motion.tau.std() == pytest.approx(3.0, rel=0.05)


def test_noise_beyond_a_block_and_before_the_first_sample():
    noise = Noise(np.array([2.0]), 7, (2,))
    far = noise.at(np.array([0, BLOCK - 1, BLOCK, 3 * BLOCK + 1, -1]))
    assert far.shape == (2, 5, 1)
    assert not far[:, -1].any()
    assert len(np.unique(far[:, :-1])) == 8
    np.testing.assert_array_equal(noise.at(np.array([BLOCK]))[:, 0], far[:, 2])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"noise": -1.0}, "noise is a standard deviation"),
        ({"noise": np.nan}, "noise holds a number that is not finite"),
        ({"force_noise": "much"}, "force_noise holds text"),
        ({"noise": [1.0, 1.0, 1.0]}, "one for each of the 2 velocities of double_pendulum"),
        ({"force_noise": [1.0]}, "one for each of the 2 actuators"),
        ({"velocity_noise": np.ones((2, 2))}, "velocity_noise is one number"),
        ({"noise": 1.0, "seed": -1}, "seed is a whole number"),
        ({"noise": 1.0, "seed": 0.5}, "seed is a whole number"),
    ],
)
def test_bad_noise_is_said(options, sentence):
    with pytest.raises(es.EslabonError, match=sentence) as caught:
        simulate(M, [0.0, 0.0], None, 0.1, sampled(law, 0.01, **options), method="rk4", step=0.01)
    assert "\n" not in str(caught.value)
