"""The model: a mechanism as plain immutable data, with its checks. Nothing here knows an algorithm."""

from eslabon.model.builder import Builder
from eslabon.model.expressions import Expression, number
from eslabon.model.items import (
    GROUND,
    Body,
    Coupling,
    Description,
    End,
    Frame,
    Joint,
    Loop,
    Pose,
    Spring,
    Wrench,
)
from eslabon.model.joints import KINDS, JointKind
from eslabon.model.mechanism import Mechanism

__all__ = [
    "GROUND",
    "KINDS",
    "Body",
    "Builder",
    "Coupling",
    "Description",
    "End",
    "Expression",
    "Frame",
    "Joint",
    "JointKind",
    "Loop",
    "Mechanism",
    "Pose",
    "Spring",
    "Wrench",
    "number",
]
