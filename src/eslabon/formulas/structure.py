"""What the numbers of a model say about its equations: which rows and velocities are independent,
and which motions are passive.

Formulas never evaluate anything. Whoever does finds a `Structure` and hands it to them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Partition:
    """Independent rows of Phi and a coordinate partitioning: `dependent` velocities follow from the
    `independent` ones, of which `spins` stand for passive spins."""

    rows: tuple[int, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    spins: tuple[int, ...] = ()

    @property
    def driven(self) -> tuple[int, ...]:
        """The independent velocities besides those of passive spins."""
        return tuple(k for k in self.independent if k not in self.spins)


@dataclass(frozen=True)
class HeldMotion(Partition):
    """What stays constant while a parameter changes.

    The `independent` velocities are held, and of `frames`, by name, the rows C of their twists in
    the ground's axes at their origins. `rows` are independent rows of Phi, followed by those of the
    frames; the `dependent` velocities follow from them.
    """

    frames: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...] = ()


@dataclass(frozen=True)
class PassiveSpin:
    """A motion that no actuator drives and that moves no other body: a rod between two ball joints
    turns about its own axis.

    Attributes
    ----------
    bodies : those that move, as one.
    joints : the joints and loops that hold them.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]


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
    spins : passive motions that move no other body.
    """

    partition: Partition
    rows: tuple[int, ...] = ()
    penalty: float = 0.0
    row_sizes: tuple[float, ...] = ()
    floor: tuple[float, ...] = ()
    passive: tuple[int, ...] = ()
    spins: tuple[PassiveSpin, ...] = ()

    @property
    def uncontrolled(self) -> tuple[int, ...]:
        """Passive velocities that move other bodies, so that no motion can be prescribed."""
        return tuple(k for k in self.passive if k not in self.partition.spins)
