"""Singular postures of both kinds are found, and how near others are is told without units."""

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from eslabon.solve.workspace.sampled_workspace import joint_ranges


def test_a_stretched_five_bar_is_singular_in_the_parallel_way():
    m = es.load("five_bar").with_parameters(L2=0.05, L5=0.05)
    # both distal links in one line: the loop cannot be held by the cranks
    reach = np.linspace(0.9, 0.999999, 5)
    worst = []
    for r in reach:
        span = 2 * 0.1 * r
        opening = (span - 0.1) / 2  # how far each crank leans outward along x
        lean = np.arccos(np.clip(-opening / 0.05, -1, 1))
        q = m.assemble([lean, np.pi - lean], guess=m.assemble([2.0, np.pi - 2.0]))
        worst.append(float(m.conditions(q).parallel))
    assert np.all(np.diff(worst) < 0)
    assert worst[-1] < 0.01 < worst[0]


def test_a_stretched_elbow_is_singular_in_the_serial_way():
    m = es.load("puma560")
    q = m.home()
    straight = q.copy()
    straight[4] = 0.0  # two wrist axes in line
    found = m.conditions(np.stack([q, straight]))
    assert found.serial[0] > 1e-3
    assert found.serial[1] < 1e-12
    assert list(found.singular) == [False, True]
    assert np.all(found.parallel == 1)


def test_a_flat_parallelogram_has_one_freedom_more():
    m = es.load("parallelogram")
    found = m.conditions(np.stack([m.home(), np.zeros(3)]))
    assert list(found.mobility) == [1, 2]
    assert found.parallel[1] < 1e-12 < found.parallel[0]


def test_millimetres_make_no_difference():
    m = es.load("planar_3rrr")
    small = m.with_parameters(r_base=0.255e-3, r_ee=0.055e-3, L=0.2e-3)
    big, tiny = (x.conditions(x.home(), "centre") for x in (m, small))
    assert big.serial == pytest.approx(tiny.serial, rel=1e-9)
    assert big.mobility == tiny.mobility == 3


@pytest.mark.parametrize(
    ("name", "frame", "components"),
    [
        ("delta", None, (3, 4, 5)),
        ("planar_3rrr", "centre", (2, 3, 4)),
        ("stewart_gough", None, range(6)),
    ],
)
def test_the_serial_sign_is_that_of_the_determinant_of_the_twist(name, frame, components, rng):
    """Its components are those that the frame has, in their order; no factorisation chooses a sign."""
    m = es.load(name)
    home = m.assemble(m.home()[list(m.actuated_coordinates)])
    for _ in range(5):
        motors = home[list(m.actuated_coordinates)] + 0.05 * rng.normal(size=m.nu)
        q = m.assemble(motors, guess=home)
        J = m.jacobian(q, frame, axes="aligned")
        twists = [J @ m.complete(motors, rate, 0 * rate, guess=q)[1] for rate in np.eye(m.nu)]
        det = np.linalg.det(np.array(twists)[:, list(components)])
        assert m.conditions(q, frame).serial_sign == np.sign(det)


def test_shapes_and_mistakes():
    m = es.load("planar_3rrr")
    assert m.conditions(np.tile(m.home(), (2, 3, 1)), "centre").serial.shape == (2, 3)
    with pytest.raises(
        es.EslabonError, match="q has 3 values in its last axis; planar_3rrr has 7 coordinates"
    ):
        m.conditions([0, 0, 0])
    with pytest.raises(es.AssemblyError, match="violates loop closure of planar_3rrr by"):
        m.conditions(np.zeros(7))


def test_crossings_along_a_motion():
    m = es.load("parallelogram")
    q = m.assemble(np.linspace(1.0, -4.0, 51)[:, None], continuation=True, singular="ignore")
    flat = m.conditions(q).crossings
    assert np.allclose(q[flat, 0], [0.0, -np.pi], atol=0.11)  # where all bars lie in one line
    with pytest.raises(es.ModelError, match="along one motion"):
        _ = m.conditions(q[0]).crossings


def test_the_workspace_of_a_five_bar_is_what_its_links_allow(rng):
    m = es.load("five_bar").with_parameters(L2=0.08, L5=0.08)
    space = m.workspace(samples=3000)
    assert 0.3 < space.reached < 1.0
    assert np.abs(m.constraint(space.q)).max() < 1e-9
    assert np.all(space.conditions.sign == space.conditions.sign[0])  # one branch
    # closed form: it closes where the ends of the two cranks are no farther apart than the two other bars are long
    a = m.parameters
    lower, upper = (np.array([x[k] for x in joint_ranges(m, m.actuated, {})]) for k in (0, 1))
    values = rng.uniform(lower, upper, (20000, 2))
    ends = [np.exp(1j * values[:, k]) * length for k, length in ((0, a["L2"]), (1, a["L5"]))]
    apart = np.abs(ends[0] - ends[1] - a["L1"])
    closes = (apart < a["L3"] + a["L4"]) & (apart > abs(a["L3"] - a["L4"]))
    assert space.reached == pytest.approx(closes.mean(), abs=0.03)


def test_one_actuator_too_many_spans_no_more():
    d = es.load("diaz_four_bar").description
    m = es.Mechanism(replace(d, actuated=tuple(j.name for j in d.joints)))
    assert m.workspace(m.bodies[-1].name, samples=100).reached > 0.5


def test_the_workspace_of_an_arm_and_mistakes():
    m = es.load("puma560")
    slider = es.Mechanism(replace(es.load("slider_crank").description, actuated=("slide",)))
    space = m.workspace(samples=300)
    assert space.reached == 1.0
    assert space.conditions.serial.min() < 0.05
    for call, sentence in [
        (lambda: m.workspace(samples=0), "at least 1"),
        (lambda: m.workspace(ranges={"nobody": (0, 1)}), "no actuated joint"),
        (lambda: m.workspace(ranges={m.actuated[0]: (1, 0)}), "a lower and a greater upper value"),
        (lambda: slider.workspace("slider"), "has no limits"),
        (lambda: space.plot("colour"), "'parallel' or 'serial'"),
    ]:
        with pytest.raises(es.EslabonError, match=sentence):
            call()
    assert len(space.plot("serial").axes) == 2
