"""Controllers of mechanisms, serial and parallel alike: from a linear model or from the equations of motion to a law.

A law is a formula of the time, the configuration and the velocities (`simulate.traced_laws`), so that a simulation, a batch
of thousands and the C file of a microcontroller all have the same native code.
"""

from __future__ import annotations

__all__: list[str] = []
