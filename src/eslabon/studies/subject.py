"""What the sections of a study share: the mechanism, the choices, and what several sections need, computed once."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.errors import EquilibriumError, EslabonError
from eslabon.formulas.kinematics.frames import default_frame
from eslabon.mechanism import Mechanism
from eslabon.studies.choices import Choices, configuration, instant
from eslabon.studies.movement import Movement, movement
from eslabon.studies.section import Section

if TYPE_CHECKING:
    from eslabon.systems.linear.equilibria import Equilibrium
    from eslabon.systems.linear.linear_model import LinearModel


class Subject:
    """A mechanism under study."""

    def __init__(self, m: Mechanism, choices: Choices) -> None:
        self.m, self.choices = m, choices

    def section(self, name: str, title: str) -> Section:
        """An empty section."""
        return Section(name, title, self.choices.language)

    @cached_property
    def start(self) -> np.ndarray:
        """The configuration that is asked for, or the closed home."""
        return configuration(self.m, self.choices.at)

    @cached_property
    def tip(self) -> str | None:
        """The frame or body that the study follows: the one of the choices, or the default one; None where nothing moves."""
        return (
            default_frame(self.m)
            if self.choices.tip is None
            else self.m.frame(self.choices.tip).name
        )

    @property
    def named_tip(self) -> str:
        """The same in a sentence; quoted, so that a name is not taken for a word."""
        return f"'{self.tip}'"

    @cached_property
    def movement(self) -> Movement:
        """The motion that is given, or the one that suits the mechanism."""
        return movement(self.m, self.choices.motion, self.start, self.tip)

    @cached_property
    def instant(self) -> dict[str, Any]:
        return instant(self.m)

    @cached_property
    def moves(self) -> bool:
        """Whether anything can move; what cannot be assembled is an error."""
        return self.m.nv > 0 and (self.m.rheonomic or self.m.dof > 0)

    # -- a point ----------------------------------------------------------------------------------------------------

    @cached_property
    def equilibria(self) -> Equilibrium:
        """Where it rests by itself."""
        return self.m.equilibrium(all=True, restarts=60)

    @cached_property
    def point(self) -> tuple[np.ndarray, np.ndarray, bool]:
        """The configuration it is linearized at, the actuators' forces there, and whether these hold it: as asked for or at the
        start, where actuators hold it; else at an equilibrium without forces, stable if there is one."""
        m = self.m
        try:
            held = m.equilibrium(self.start)
            return held.q, held.tau, True
        except EslabonError:
            if self.choices.at is not None:
                return self.start, np.zeros(m.nu), False
        with suppress(EquilibriumError):
            found = self.equilibria
            if len(found):
                return found[0].q, found[0].tau, True
        return self.start, np.zeros(m.nu), False

    @cached_property
    def linear_model(self) -> LinearModel:
        q, tau, _ = self.point
        return self.m.linearize(q, np.zeros(self.m.nv), tau, **self.instant)
