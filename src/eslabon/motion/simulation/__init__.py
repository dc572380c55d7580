"""Motion in time: adaptive and fixed-step integration, and the trajectories that come of it.

    motion = m.simulate(q0, v0, 10.0)                                   # adaptive; reported at the method's own steps
    motion = m.simulate(Q0, V0, 10.0, traced(law), method="rk4", step=1e-3, every=10)   # thousands at once, native
    motion.plot(); motion.save("x.npz")

`control` is what drives, `traced_laws`, `called` and `sampling` are its laws, and `memory` is what
those remember. `motion_equations` says what is integrated, with `stops` at the joints' limits,
`system` puts what acts in, `projection` keeps loops closed and drives followed, `step_formulas` and
`fixed` take fixed steps, `adaptive` lets SciPy choose them, `singular_passages` watches the loops,
`run` is the way in, `simulated_motion` what comes out.

>>> import eslabon as es
>>> es.load("double_pendulum").simulate([0.5, 0.0], None, 1.0, method="rk4", step=1e-3, every=500)
<Trajectory of double_pendulum: 0 to 1 s, 3 times, rk4>
"""

from eslabon.motion.simulation.actuation import Table
from eslabon.motion.simulation.joint_stops import Stops
from eslabon.motion.simulation.native_laws import Traced, traced
from eslabon.motion.simulation.sampled_laws import Sampled, sampled
from eslabon.motion.simulation.simulate import simulate
from eslabon.motion.simulation.simulation_errors import (
    Interrupted,
    SimulationError,
    SimulationWarning,
)
from eslabon.motion.trajectory import Trajectory

__all__ = [
    "Interrupted",
    "Sampled",
    "SimulationError",
    "SimulationWarning",
    "Stops",
    "Table",
    "Traced",
    "Trajectory",
    "sampled",
    "simulate",
    "traced",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
