"""Mechanisms that pass singular configurations, beside the equation in one coordinate that each of them leaves."""

from __future__ import annotations

from functools import cache

import casadi
import numpy as np
from scipy.integrate import solve_ivp

import eslabon as es

GRAVITY = 9.81
CRANK, COUPLER, ROCKER, GROUND = 1.5, 3.0, 2.5, 4.0  # m: CRANK + GROUND = COUPLER + ROCKER


def rod(b, name, length=1.0, spin=0.0):
    """A slender rod of 1 kg along x."""
    I = length**2 / 12
    return b.body(name, 1.0, (length / 2, 0, 0), (spin, I, I))


@cache
def windows(count, free_bar=False):
    """The N-four-bar: `count` windows of rods of 1 m, upright; perhaps with a bar that swings freely from the first coupler."""
    b = es.Builder(f"windows{count}{'_bar' * free_bar}", gravity=(0, -GRAVITY, 0))
    for k in range(count + 1):
        rod(b, f"rod{k}")
        b.joint(f"r{k}", "revolute", "ground", f"rod{k}", at=(k, 0, 0), home=np.pi / 2)
    for k in range(1, count + 1):
        rod(b, f"coupler{k}")
        b.joint(f"c{k}", "revolute", f"rod{k - 1}", f"coupler{k}", at=(1, 0, 0), home=-np.pi / 2)
        b.loop(f"B{k}", "revolute", f"coupler{k}", f"rod{k}", first=(1, 0, 0), second=(1, 0, 0))
    if free_bar:
        rod(b, "bar")
        b.joint("swing", "revolute", "coupler1", "bar", at=(0.5, 0, 0), home=-np.pi / 2)
    return b.actuate("r0").build()


def falling_windows(count, angle, speed, **options):
    """The mechanism, and a state of it in which all rods stand at an angle and turn with a speed."""
    m = windows(count, **options)
    q, v = np.array(m.home(), dtype=float), np.zeros(m.nv)
    for j in m.joints:
        if j.name[0] in "rc":
            q[m.coordinates[j.name]] = angle if j.name[0] == "r" else -angle
            v[m.velocities[j.name]] = speed if j.name[0] == "r" else -speed
    return m, q, v


def pendulum_rate(count):
    """The angular acceleration of the rods, which stay parallel."""
    share = (count + (count + 1) / 2) / (count + (count + 1) / 3) * GRAVITY
    return lambda angle, speed: -share * np.cos(angle)


@cache
def change_point(longer=0.0):
    """A four-bar whose rods come to lie in one line, with a coupler that may be longer by a little."""
    b = es.Builder("change_point" + f"_{longer:g}".replace("-", "m").replace(".", "_"),
                   gravity=(0, -GRAVITY, 0))  # fmt: skip
    rod(b, "crank", CRANK)
    rod(b, "coupler", COUPLER + longer)
    rod(b, "rocker", ROCKER)
    b.joint("A", "revolute", "ground", "crank")
    b.joint("B", "revolute", "crank", "coupler", at=(CRANK, 0, 0))
    b.joint("C", "revolute", "ground", "rocker", at=(GROUND, 0, 0))
    b.loop(
        "D", "revolute", "coupler", "rocker", first=(COUPLER + longer, 0, 0), second=(ROCKER, 0, 0)
    )
    return b.actuate("A").build()


@cache
def change_point_equation():
    """Its acceleration theta'' = f(theta, theta') on the branch that goes through theta = pi, and the other angles with
    their slopes.

    The rocker's angle has a root there, cos(theta / 2) times a positive function, whose sign the branch keeps.
    """
    angle, speed = casadi.SX.sym("angle"), casadi.SX.sym("speed")
    r, c, b, d = CRANK, COUPLER, ROCKER, GROUND
    e = casadi.sqrt(d * d + r * r - 2 * d * r * casadi.cos(angle))
    apart = 4 * d * r * (c + e - b) / ((b + c + e) * 4 * b * e)
    rocker = np.pi + casadi.atan2(-r * casadi.sin(angle), d - r * casadi.cos(angle))
    rocker -= 2 * casadi.asin(casadi.cos(angle / 2) * casadi.sqrt(apart))
    first = r * casadi.vertcat(casadi.cos(angle), casadi.sin(angle))
    second = casadi.vertcat(d + b * casadi.cos(rocker), b * casadi.sin(rocker))
    middle = (first + second) / 2
    coupler = casadi.atan2(second[1] - first[1], second[0] - first[0])
    turns = casadi.jacobian(casadi.vertcat(coupler, rocker), angle)
    moves = casadi.jacobian(middle, angle)
    inertia = (r * r + (b * turns[1]) ** 2) / 3 + casadi.sumsqr(moves) + (c * turns[0]) ** 2 / 12
    height = (first[1] + second[1]) / 2 + middle[1]
    rate = -casadi.jacobian(inertia, angle) / 2 * speed**2 - GRAVITY * casadi.jacobian(
        height, angle
    )
    f = casadi.Function("f", [angle, speed], [rate / inertia])
    g = casadi.Function("g", [angle], [casadi.vertcat(coupler - angle, rocker), turns])
    return (lambda angle, speed: float(f(angle, speed))), g


def change_point_state(angle, speed):
    """Coordinates and velocities at a crank angle."""
    at, turns = (np.array(x).ravel() for x in change_point_equation()[1](angle))
    return np.array([angle, *at]), speed * np.array([1.0, turns[0] - 1, turns[1]])


def alone(rate, angle, speed, t, rtol=1e-13, method="DOP853"):
    """The angle after t seconds by the one equation, and how many evaluations that took."""
    run = solve_ivp(
        lambda t, x: [x[1], rate(*x)], (0, t), [angle, speed], method, rtol=rtol, atol=rtol / 100
    )
    return run.y[0, -1], run.nfev
