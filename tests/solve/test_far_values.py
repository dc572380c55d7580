"""Values far away: whole turns of a hinge lead nowhere and cost nothing; what has no end ends in a message."""

import numpy as np
import pytest

import eslabon as es


def test_whole_turns_of_a_hinge_lead_to_the_same_place():
    m = es.load("five_bar")
    near = m.assemble([2.0, 1.0])
    far = m.assemble([2.0 + 2 * np.pi * 1591, 1.0])
    assert far[0] == 2.0 + 2 * np.pi * 1591
    assert np.abs(m.constraint(far)).max() < 1e-10
    assert np.allclose(far[[1, 3]], near[[1, 3]], rtol=0, atol=1e-9)


@pytest.mark.parametrize("value", [1e10, 1e100, 1e300])
def test_an_angle_without_digits_ends_in_a_message(value):
    with pytest.raises(es.EslabonError, match=r"five_bar|beyond"):
        es.load("five_bar").assemble([value, 1.0])


@pytest.mark.parametrize("value", [1e3, 1e12, 1e300])
def test_a_slide_without_end_ends_in_a_message(value):
    m = es.load("slider_crank")
    slide = next(j.name for j in m.joints if j.kind.coordinates[0].unit == "m")
    with pytest.raises(es.EslabonError, match=r"slider_crank|beyond"):
        m.assemble({slide: value}, limits=False)


def test_a_structure_that_cannot_move_is_assembled():
    """Three bars in a triangle: no degree of freedom, and still a configuration to be found."""
    b = es.Builder("triangle")
    for name in ("a", "b"):
        b.body(name, mass=1.0)
    b.joint("A", "revolute", "ground", "a", home=0.9).joint(
        "B", "revolute", "ground", "b", at=[1, 0, 0], home=2.2
    )
    b.loop("tip", "revolute", "a", "b", [1, 0, 0], [1, 0, 0])
    m = b.build()
    assert m.dof == 0
    q = m.assemble()
    assert np.allclose(q, [np.pi / 3, 2 * np.pi / 3], rtol=0, atol=1e-9)


@pytest.mark.parametrize("turns", [1, 2, 6, 30])
@pytest.mark.parametrize("driver", ["motor", "wheel"])
def test_turns_of_a_gear_count(driver, turns):
    """A turn of one wheel of a gear is another part of a turn of the other one: it may not be left out."""
    b = es.Builder("gear")
    for name in ("a", "b"):
        b.body(name, mass=1.0)
    b.joint("motor", "revolute", "ground", "a").joint(
        "wheel", "revolute", "ground", "b", at=[1, 0, 0]
    )
    m = b.couple("gear", "wheel", "motor", ratio=1.5, offset=0.3).build()
    q = m.assemble({driver: 0.4 + 2 * np.pi * turns})
    assert q[m.coordinates[driver]] == 0.4 + 2 * np.pi * turns
    assert abs(q[1] - (1.5 * q[0] + 0.3)) < 1e-9


def test_what_rounds_to_rest_is_rest():
    """A structure whose joints are said to move at 1e-24 rad/s is not refused for it."""
    b = es.Builder("triangle")
    for name in ("a", "b"):
        b.body(name, mass=1.0)
    b.joint("A", "revolute", "ground", "a", home=0.9).joint(
        "B", "revolute", "ground", "b", at=[1, 0, 0], home=2.2
    )
    m = b.loop("tip", "revolute", "a", "b", [1, 0, 0], [1, 0, 0]).build()
    still = m.complete({"A": np.pi / 3}, [1e-24], [1e-24])
    assert np.abs(still[1]).max() < 1e-20
    with pytest.raises(es.AssemblyError, match="cannot move as prescribed"):
        m.complete({"A": np.pi / 3}, [1e-3], [0.0])
