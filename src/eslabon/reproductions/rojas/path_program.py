"""The law and the curve of Rojas' path program: the splined cycloid, and a curve on a sphere and a cylinder."""

from __future__ import annotations

from math import pi

import numpy as np

from eslabon.arguments import MAX_COUNT
from eslabon.motion import paths
from eslabon.motion.paths import path_arguments
from eslabon.motion.paths.space_curve import Curve
from eslabon.motion.paths.time_laws import Law, integrated_polygon
from eslabon.numerics.scalars import cos, sin, sqrt


def splined_cycloid(duration: float, nodes: int = 21) -> Law:
    """The cycloid as Rojas' program carries it: a cubic spline whose nodal velocities are the cycloid's.

    The acceleration is the polygon through (2/h) tan(πh) sin(2πτ) at the nodes, h apart; its integral is exactly
    1 - cos(2πτ) there. The thesis does not print its law β(t). This one is inferred from its tables (4.4.1, 5.4.1):
    with 21 nodes it gives their y = .00082, .04894, 1.95774 at t = 0.05 and the joint angle that goes with it.

    >>> law = splined_cycloid(1.0)
    >>> [round(float(law(0.05, order)), 5) for order in (0, 1, 2)]
    [0.00082, 0.04894, 1.95774]
    """
    path_arguments.whole(
        nodes, 4, MAX_COUNT, "the splined cycloid needs at least four nodes, a whole number; nodes"
    )
    tau, h = np.linspace(0.0, 1.0, nodes), 1.0 / (nodes - 1)
    accelerations = (2 / h) * np.tan(pi * h) * np.sin(2 * pi * tau)
    return Law(
        "splined cycloid",
        path_arguments.duration_of(duration),
        integrated_polygon(tau, accelerations, 2),
    )


def sphere_cylinder(a: float, b: float) -> Curve:
    """The upper branch of the meeting of a sphere and a cylinder, once round (Rojas, 3.6):
    p = (-a cos β, a √(14 - 2 cos β) - b, a sin β), β from 0 to 2π.

    The sphere has its centre at (a, -b, 0) and radius 4a; the cylinder is x² + z² = a².

    >>> sphere_cylinder(0.1, 0.2)(0.5).round(12)
    array([0.1, 0.2, 0. ])
    """
    radius, drop = (
        path_arguments.positive(a, "the cylinder's radius"),
        path_arguments.number(b, "the sphere's drop"),
    )
    return paths.curve(
        lambda beta: (
            -radius * cos(beta),
            radius * sqrt(14 - 2 * cos(beta)) - drop,
            radius * sin(beta),
        ),
        0.0,
        2 * pi,
        name="sphere-cylinder curve",
    )
