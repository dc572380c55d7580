"""The size of the workspace: an arm of two bars reaches a ring, whose area is known."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.measures import ReachableWorkspace, measure_of

ELBOW = es.load("elbow")
BOX = {"x": (-2.5, 2.5), "y": (-2.5, 2.5)}
BARS = {"a1": np.array([1.0, 1.2, 0.8]), "a2": np.array([1.0, 0.6, 0.5])}


def test_the_area_of_a_ring() -> None:
    """Between |a1 - a2| and a1 + a2."""
    found = ReachableWorkspace(BOX, shape=100).measured(ELBOW, BARS)
    assert not found.reasons
    for k, (a1, a2) in enumerate(zip(*BARS.values(), strict=True)):
        ring = np.pi * ((a1 + a2) ** 2 - (a1 - a2) ** 2)
        assert found.values["workspace"][k] == pytest.approx(ring, rel=0.02)
        assert found.values["workspace.share"][k] == pytest.approx(
            found.values["workspace"][k] / 25
        )


def test_a_design_is_as_the_map_of_its_mechanism() -> None:
    m, box = es.load("five_bar"), {"x": (-0.1, 0.2), "y": (0.0, 0.15)}
    found = (
        measure_of("workspace", {"box": box, "shape": 30})
        .measured(m, {"L2": np.array([0.03, 0.05])})
        .values
    )
    for k, L2 in enumerate((0.03, 0.05)):
        made = m.with_parameters(L2=L2).workspace_map(over=box, shape=30)
        assert found["workspace"][k] == pytest.approx(made.area)
        assert found["workspace.dexterity"][k] == pytest.approx(made.dexterity)


def test_poses_that_are_nearly_singular_do_not_count() -> None:
    every, good = (
        ReachableWorkspace(BOX, shape=50, least=x).measured(ELBOW, BARS).values for x in (0.0, 0.2)
    )
    assert (good["workspace"] < 0.95 * every["workspace"]).all()
    assert (good["workspace.dexterity"] > every["workspace.dexterity"]).all()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ReachableWorkspace({"x": (0, 1)}), "two or three coordinates"),
        (
            lambda: ReachableWorkspace({"x": (1, 0), "y": (0, 1)}),
            r"box\['x'\] is a value, or a lower and a greater",
        ),
        (lambda: ReachableWorkspace(BOX, least=-1.0), "least is a number not less than zero"),
        (lambda: ReachableWorkspace({"x": (0, 1), "yy": (0, 1)}).measured(ELBOW, BARS), "yy"),
    ],
)
def test_bad_input(make, sentence: str) -> None:
    with pytest.raises(es.EslabonError, match=sentence):
        make()


def test_a_sweep_asks_for_it_by_name() -> None:
    """What is varied and the box that is looked at have different names."""
    table = es.sweep(ELBOW, "workspace", over={"a2": [0.5, 0.75, 1.0]}, box=BOX, shape=40)
    rings = np.pi * ((1 + table["a2"]) ** 2 - (1 - table["a2"]) ** 2)
    np.testing.assert_allclose(table["workspace"], rings, rtol=0.05)
