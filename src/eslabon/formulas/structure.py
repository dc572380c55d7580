"""What the numbers of a model say about its equations: which rows and velocities are independent.

Formulas never evaluate anything. Whoever does finds a `Structure` and hands it to them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Partition:
    """Independent rows of Phi and a coordinate partitioning: `dependent` velocities follow from the
    `independent` ones."""

    rows: tuple[int, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]


@dataclass(frozen=True)
class HeldMotion(Partition):
    """What stays constant while a parameter changes.

    The `independent` velocities are held, and of `frames`, by name, the rows C of their twists in
    the ground's axes at their origins. `rows` are independent rows of Phi, followed by those of the
    frames; the `dependent` velocities follow from them.
    """

    frames: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...] = ()


@dataclass(frozen=True)
class Structure:
    """What a model's numbers say about its equations, found once and handed to the formulas.

    Attributes
    ----------
    partition : independent rows and velocities.
    rows : retained constraint rows, which hold all that the loops hold in every configuration.
    penalty : rho for which M + rho J^T J is invertible.
    row_sizes : the diagonal of J M^-1 J^T at an ordinary configuration, for all rows.
    floor : for each velocity, the inertia that counts as none.
    passive : independent velocities that no actuator drives.
    """

    partition: Partition
    rows: tuple[int, ...] = ()
    penalty: float = 0.0
    row_sizes: tuple[float, ...] = ()
    floor: tuple[float, ...] = ()
    passive: tuple[int, ...] = ()
