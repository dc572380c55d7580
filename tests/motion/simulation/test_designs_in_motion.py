"""Trajectories of many designs at once, lengths that change from one to the other included."""

import warnings

import numpy as np
import pytest

import eslabon as es
from randomness import seeded

LENGTHS = {"five_bar": ("L1", "L3"), "slider_crank": ("r", "l"), "planar_3rrr": ("L",)}
COUNT = 3


def designs(m, names, count=COUNT):
    rng = seeded("designs")
    made = {name: m.parameters[name] * rng.uniform(0.95, 1.05, count) for name in names}
    mass = next(name for name in m.parameters if name.startswith("m"))
    return {**made, mass: m.parameters[mass] * rng.uniform(0.8, 1.2, count)}


def started(m, parameters):
    qa = m.assemble({})[list(m.actuated_coordinates)] + 0.1
    q, v, _ = m.complete(qa, np.full(m.nu, 0.3), np.zeros(m.nu), parameters=parameters)
    return q, v


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("method", ["rk4", "DOP853"])
def test_each_trajectory_is_that_of_the_mechanism_with_these_parameters(name, method):
    m = es.load(name)
    parameters = designs(m, LENGTHS[name])
    q, v = started(m, parameters)
    tau, t = np.full(m.nu, 0.002), np.linspace(0.0, 0.05, 6)
    options = {"method": method, **({"step": 1e-3} if method == "rk4" else {})}
    motion = m.simulate(q, v, t, tau, parameters=parameters, **options)
    assert motion.closure.max() < 1e-10
    for k in range(COUNT):
        own = m.variant(**{x: float(values[k]) for x, values in parameters.items()})
        alone = own.simulate(q[k], v[k], t, tau, **options)
        for what in ("q", "v", "a", "closure", "reactions"):
            np.testing.assert_allclose(
                getattr(motion, what)[k], getattr(alone, what), rtol=1e-7, atol=1e-9
            )
        np.testing.assert_allclose(motion.energy.total[k], alone.energy.total, rtol=1e-9)
        np.testing.assert_allclose(motion[k].energy.total, alone.energy.total, rtol=1e-9)


def test_energy_is_kept_in_every_design():
    m = es.load("slider_crank")
    count = 200
    parameters = designs(m, ("r", "l"), count)
    q, v = started(m, parameters)
    motion = m.simulate(q, v, 0.2, method="rk4", step=5e-4, every=100, parameters=parameters)
    total = motion.energy.total
    assert np.abs(total - total[:, :1]).max() < 1e-6 * np.abs(motion.energy.kinetic).max()
    assert np.ptp(total[:, 0]) > 0.01 * np.abs(total).max()  # other designs, other energies
    assert (
        np.abs(
            m.constraint(motion.q, parameters={x: y[:, None] for x, y in parameters.items()})
        ).max()
        < 1e-10
    )


def test_designs_broadcast_with_starts():
    m = es.load("slider_crank")
    parameters = {"l": np.array([0.29, 0.3, 0.31])[:, None], "m_rod": np.array([0.7, 0.8])}
    q = m.assemble([0.4], parameters={"l": parameters["l"]})
    motion = m.simulate(q, None, [0.0, 0.01, 0.02], method="rk4", step=1e-3, parameters=parameters)
    assert motion.q.shape == (3, 2, 3, m.nq)
    alone = m.variant(l=0.31, m_rod=0.8).simulate(
        q[2, 0], None, [0.0, 0.01, 0.02], method="rk4", step=1e-3
    )
    np.testing.assert_allclose(motion.q[2, 1], alone.q, atol=1e-12)


def four_bar():
    """A crank of 0.5 m and a ground and a coupler of 1 m, whose rocker has the length c: a parallelogram for c = 0.5."""
    b = es.Builder("four_bar", gravity=(0, 0, 0))
    c = b.parameter("c", 0.8)
    for name in ("crank", "coupler", "rocker"):
        b.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.joint("q1", "revolute", "ground", "crank", home=1.0).joint(
        "q2", "revolute", "crank", "coupler", at=(0.5, 0, 0), home=-1.0
    )
    b.joint("q3", "revolute", "ground", "rocker", at=(1, 0, 0), home=1.0)
    return (
        b.loop("pin", "revolute", "coupler", "rocker", first=(1, 0, 0), second=(c, 0, 0))
        .actuate("q1")
        .build()
    )


@pytest.mark.parametrize("options", [{"method": "rk4", "step": 2e-3}, {"method": "DOP853"}])
def test_singular_configurations_are_those_of_the_design(options):
    """A parallelogram is flattened, where its branches meet; with another rocker the crank turns all round."""
    m = four_bar()
    for lengths, count in (([0.8, 0.5], 1), ([0.8, 0.7], 0)):
        parameters = {"c": np.array(lengths)}
        q, v, _ = m.complete([1.0], [-6.0], [0.0], parameters=parameters)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            motion = m.simulate(q, v, np.linspace(0, 0.6, 7), parameters=parameters, **options)
        assert motion.q[:, -1, 0].max() < -0.5
        assert motion.closure.max() < 1e-8
        said = [str(w.message) for w in told if w.category is es.SingularityWarning]
        assert len(said) == count
        assert all("in 1 of 2 trajectories" in sentence for sentence in said)


def test_starts_that_do_not_close_in_their_design_are_named():
    m = es.load("five_bar")
    parameters = {"L2": np.array([0.04, 0.05])}
    q = m.assemble([2.0, 1.0])
    with pytest.raises(
        es.AssemblyError,
        match=r"q0 violates loop closure of five_bar with L2 = 0.05 \(trajectory 1\).*parameters",
    ):
        m.simulate(np.stack([q, q]), None, 0.1, method="rk4", step=1e-3, parameters=parameters)
    with pytest.raises(es.ModelError, match="no parameter 'L9'"):
        m.simulate(q, None, 0.1, parameters={"L9": 0.05})
    with pytest.raises(es.EslabonError, match="do not fit together"):
        m.simulate(np.stack([q] * 3), None, 0.1, method="rk4", step=1e-3, parameters=parameters)


def stopped():
    """A double pendulum with a stop, where the parameter `far` has it, and a motor whose force is limited."""
    b = es.Builder("stopped", gravity=(0, -9.81, 0))
    L, far, most = b.parameter("L", 0.3), b.parameter("far", 0.2), b.parameter("most", 1.0)
    b.body("bar", mass=1.0, com=(L / 2, 0, 0), inertia=(0.01, 0.01, 0.01)).body(
        "bob", mass=0.5, inertia=(0.01, 0.01, 0.01)
    )
    b.joint("q1", "revolute", "ground", "bar", home=-1.2, limits=(-3.0, far), effort_limit=most)
    return b.joint("q2", "revolute", "bar", "bob", at=(L, 0, 0)).build()


@pytest.mark.parametrize(
    "options",
    [{"method": "rk4", "step": 1e-3}, {"method": "symplectic", "step": 1e-3}, {"method": "Radau"}],
)
def test_stops_of_each_design(options):
    """Limits may depend on parameters; the stiffness is one for all, or that of a single design."""
    m = stopped()
    far, t = np.array([-0.5, 0.2]), np.linspace(0.0, 0.3, 4)
    start = [-1.0, 0.0], [8.0, 0.0]
    motion = m.simulate(*start, t, parameters={"far": far}, stops=True, **options)
    bumper = es.simulate.Stops(stiffness=900.0, damping=5.0)
    lengths = {"far": far, "L": np.array([0.3, 0.35])}
    other = m.simulate(*start, t, parameters=lengths, stops=bumper, **options)
    for k in range(2):
        alone = m.variant(far=float(far[k])).simulate(*start, t, stops=True, **options)
        np.testing.assert_allclose(motion.q[k], alone.q, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(motion.energy.total[k], alone.energy.total, rtol=1e-6)
        alone = m.variant(far=float(far[k]), L=float(lengths["L"][k])).simulate(
            *start, t, stops=bumper, **options
        )
        np.testing.assert_allclose(other.q[k], alone.q, rtol=1e-6, atol=1e-8)
    assert motion.q[0, :, 0].max() < -0.3 < motion.q[1, :, 0].max()  # the first one hit its stop
    with pytest.raises(
        es.EslabonError,
        match=r"inertia of stopped, which L changes from design to design; .*Stops\(stiffness=\[",
    ):
        m.simulate(*start, t, parameters=lengths, stops=True, **options)
    single = m.simulate(*start, t, parameters={"L": 0.35}, stops=True, **options)
    np.testing.assert_allclose(
        single.q, m.with_parameters(L=0.35).simulate(*start, t, stops=True, **options).q, atol=1e-7
    )


def test_effort_limits_of_a_design():
    m = stopped()
    options = {"method": "rk4", "step": 1e-3, "saturate": True}
    one = m.simulate([-1.0, 0.0], None, 0.05, [5.0, 0.0], parameters={"most": 2.0}, **options)
    assert np.abs(one.tau[:, 0]).max() == 2.0
    with pytest.raises(
        es.EslabonError,
        match=r"effort limits of stopped depend on most: leave saturate out, or simulate m.variant",
    ):
        m.simulate([-1.0, 0.0], None, 0.05, [5.0, 0.0], parameters={"most": [2.0, 3.0]}, **options)
