"""Targets of which only a part counts: a position, an axis, an orientation, chosen rows, several frames at once.

`parts` says what may be asked of a frame, one small class each; `target` reads what users write; `reaching` finds the
configurations, exactly or as near as they get, of trees and of mechanisms with loops alike; `rates` adds velocities and
accelerations, and follows paths.
"""

from eslabon.solve.targets.reaching import modes_of, reach, reach_along
from eslabon.solve.targets.target import Target

__all__ = ["Target", "modes_of", "reach", "reach_along"]
