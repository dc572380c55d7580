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
from eslabon.model.model import Model

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
    "Model",
    "Pose",
    "Spring",
    "Wrench",
    "number",
]
