"""The model: a mechanism as plain immutable data, with its checks. Nothing here knows an
algorithm."""

# ruff: noqa: I001
from eslabon.model.builder import Builder as Builder
from eslabon.model.parameter_expressions import (
    ParameterExpression as ParameterExpression,
    number as number,
)
from eslabon.model.items import (
    GROUND as GROUND,
    Body as Body,
    Coupling as Coupling,
    Description as Description,
    Frame as Frame,
    Joint as Joint,
    Loop as Loop,
    Shape as Shape,
    Spring as Spring,
    Wrench as Wrench,
)
from eslabon.model.poses import End as End, Pose as Pose
from eslabon.model.joints import KINDS as KINDS, JointKind as JointKind
from eslabon.model.model import Model as Model, as_model as as_model
