"""Round-off decides no order."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.numerics.ordering import stable_order


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_what_coincides_keeps_its_order(scale, rng):
    for _ in range(100):
        groups = rng.integers(0, 4, 12)
        values = scale * (1 + groups) * (1 + 1e-13 * rng.normal(size=12))
        assert np.array_equal(stable_order(values), np.argsort(groups, kind="stable"))


def test_what_is_not_finite_comes_last():
    assert stable_order([np.inf, 1.0, np.nan, 0.0, np.inf]).tolist() == [3, 1, 0, 2, 4]
    assert stable_order([]).tolist() == []


def test_an_arm_without_a_guess_starts_a_path_at_the_same_elbow_for_every_design():
    """Both elbows are equally well conditioned: the one nearest to home starts, however numbers round."""
    arm = es.load("elbow")
    law = es.paths.quintic(1.0)
    bent = []
    for length in np.linspace(0.7, 1.1, 9):
        for nudge in (-1e-16, 0.0, 1e-16):
            start = [1.2 * (1 + nudge), 0.5, 0]
            path = es.paths.along(es.paths.line(start, [1.0, 1.0, 0]), law)
            design = arm.variant(a1=length)
            bent.append(design.follow(path, part="position", times=[0.0, 0.5, 1.0]).q[0, 1])
    assert len(set(np.sign(bent))) == 1
