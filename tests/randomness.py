"""Random numbers that do not depend on luck: the same for a test in any order, on any worker, in any run.

A test takes the fixture `rng`. A table at module level takes `seeded("what it draws")`. A test by hypothesis draws its
seed (`seeds`), so that a failing example can be repeated and shrunk. `HYPOTHESIS_PROFILE=nightly` draws other examples
in every run, and 25 times as many. `ESLABON_TEST_SEED=3` (0 unless set) gives every generator other numbers: a test
that fails then has a tolerance that fits one draw, or has found a defect.
"""

from __future__ import annotations

import os
import zlib

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
SCALE = 25 if PROFILE == "nightly" else 1
SHIFT = int(os.environ.get("ESLABON_TEST_SEED", "0"))

seeds = st.integers(0, 2**32 - 1)


def load_profile() -> None:
    """Fixed examples and no deadline: a run can be repeated, and a slow machine fails nothing."""
    settings.register_profile(
        "default",
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.register_profile("nightly", settings.get_profile("default"), derandomize=False)
    settings.load_profile(PROFILE)


def examples(count: int) -> settings:
    """So many examples of a strategy; more of them in the nightly run."""
    return settings(max_examples=count * SCALE)


def seeded(*labels: object) -> np.random.Generator:
    """A generator of its own for whatever the labels name."""
    return np.random.default_rng(zlib.crc32(repr(labels).encode()) + SHIFT)
