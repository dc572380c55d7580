"""The smallest mechanisms answer every question about structure: one degree of freedom, none, fixed joints anywhere."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from eslabon.drawing.topology_text import topology_text
from eslabon.mechanism import Mechanism
from eslabon.studies.describe import describe
from randomness import examples, seeds
from small_mechanisms import SMALL, random_locked, random_with_fixed

DOF = {
    "one_joint_and_fixed": 1, "all_fixed": 0, "locked_loop": 0, "fixed_loop": 0, "locked_coupling": 0,
    "massless_wrist": 3, "two_planar_around_massless": 6,
}  # fmt: skip


def check(m: Mechanism, dof: int) -> None:
    """Every verb of structure answers, and all of them agree on the degrees of freedom."""
    assert m.dof == dof
    found = m.mobility()
    assert found.dof == found.instantaneous_dof == dof
    assert f"{dof} degree" in str(found)
    drawn = [
        x.get("class") for x in ElementTree.fromstring(m.topology_svg()).iter() if x.get("class")
    ]
    assert drawn.count("body") == len(m.bodies)
    assert drawn.count("cut") == len(m.loops)
    assert all(j.name in topology_text(m) for j in m.joints)
    console = Console(record=True, width=200, file=io.StringIO())
    console.print(describe(m))
    assert m.name in console.export_text()


@pytest.mark.parametrize("name", SMALL)
def test_every_small_mechanism_answers(name: str) -> None:
    check(SMALL[name](), DOF[name])


@examples(25)
@given(seed=seeds, moving=st.integers(0, 3))
def test_fixed_joints_add_nothing(seed: int, moving: int) -> None:
    check(random_with_fixed(np.random.default_rng(seed), moving), moving)


@examples(15)
@given(seed=seeds)
def test_a_welded_chain_does_not_move(seed: int) -> None:
    check(random_locked(np.random.default_rng(seed)), 0)
