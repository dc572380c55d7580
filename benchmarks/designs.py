"""A sweep beside the bare native call that it comes down to: 1,000 states of five_bar in each of 1,000 designs. Maps of a million poses."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

import numpy as np
from report import Row, same
from timing import side_by_side

import eslabon as es

DESIGNS = STATES = 1000
REMARKS = """
The bare call is `m.inverse_dynamics(Q, V, A, parameters=...)` of a million states, arrays in and array out, with as many threads; with
lengths also `m.complete(..., parameters=...)`, since each design closes its loops elsewhere. The sweep samples the designs, measures
them, reduces the states to peaks and makes the table; the last rows write every state into Parquet files. Goal: a sweep takes at most
twice the time of the bare call.

A map has all 8 working modes of planar_3rrr at each of its poses: whether the loops close, the reciprocal condition numbers and the signs of
the determinants of both kinds. Before it is timed, it is compared pose by pose with the reach of the legs, and at a thousand poses with
`m.conditions`. Goal: less than 10 s on two cores.
"""


def rows() -> list[Row]:
    return [*_masses(), *_lengths(), *_maps()]


def _motion(m):
    rng = np.random.default_rng(0)
    s = np.linspace(0, 2 * np.pi, STATES)[:, None]
    driven = np.array([2.0, 1.0]) + 0.1 * np.sin(s + np.array([0.0, 1.0]))
    return driven, *rng.normal(size=(2, STATES, m.nu))


def _masses() -> list[Row]:
    m = es.load("five_bar")
    q, v, a = m.complete(*_motion(m))
    over = {"m2": (0.005, 0.02), "m3": (0.01, 0.05)}
    options = {"q": q, "v": v, "a": a, "samples": DESIGNS, "progress": False}
    swept = es.sweep(m, "inverse_dynamics", over, reduce="peak", **options)
    drawn = {name: swept[name][:, None] for name in over}

    def bare():
        return m.inverse_dynamics(q, v, a, parameters=drawn)

    peaks = np.abs(bare()).max(axis=1)
    same(
        "peaks of a sweep",
        np.stack([swept[name] for name in swept.values[:2]], axis=-1),
        peaks,
        1e-12,
    )
    folder, number = Path(tempfile.mkdtemp()), count()
    reduced = side_by_side(
        {
            "ours": lambda: es.sweep(m, "inverse_dynamics", over, reduce="peak", **options),
            "bare": bare,
        },
        rounds=7,
    )
    kept = side_by_side(
        {
            "ours": lambda: es.sweep(
                m, "inverse_dynamics", over, folder=folder / f"{next(number)}", **options
            ),
            "bare": bare,
        },
        rounds=3,
    )
    return [
        Row(
            "five_bar: peaks of 1,000,000 inverse dynamics over masses",
            reduced,
            0.5,
            "bare",
            per=DESIGNS * STATES,
        ),
        Row(
            "five_bar: 1,000,000 inverse dynamics over masses, all on disk",
            kept,
            None,
            "bare",
            per=DESIGNS * STATES,
        ),
    ]


def _lengths() -> list[Row]:
    m = es.load("five_bar")
    driven, va, aa = _motion(m)
    over = {"L2": (0.035, 0.045), "L3": (0.095, 0.105)}
    options = {
        "motion": (np.linspace(0, 1, STATES), driven, va, aa),
        "samples": DESIGNS,
        "progress": False,
    }
    swept = es.sweep(m, "peak_torque", over, **options)
    drawn = {name: swept[name][:, None] for name in over}

    def bare():
        q, v, a = m.complete(driven, va, aa, continuation=True, parameters=drawn)
        return m.inverse_dynamics(q, v, a, parameters=drawn)

    same(
        "peaks of a sweep over lengths", swept["peak_torque"], np.abs(bare()).max(axis=(1, 2)), 1e-9
    )
    made = side_by_side(
        {"ours": lambda: es.sweep(m, "peak_torque", over, **options), "bare": bare}, rounds=3
    )
    return [
        Row(
            "five_bar: 1,000,000 states closed and their torques, over lengths",
            made,
            0.5,
            "bare",
            per=DESIGNS * STATES,
        )
    ]


def _maps() -> list[Row]:
    m, box = es.load("planar_3rrr"), {"x": (-0.25, 0.25), "y": (-0.25, 0.25)}
    plane, space = ({**box, "angle": 0.0}, 1000), ({**box, "angle": (-1.0, 1.0)}, 100)
    for over, shape in (plane, space):
        _compare(m, m.workspace_map(over=over, shape=shape // 10, configurations=True))
        _within_reach(m, m.workspace_map(over=over, shape=shape))
    timings = [
        side_by_side({"ours": lambda o=over, n=shape: m.workspace_map(over=o, shape=n)}, rounds=3)
        for over, shape in (plane, space)
    ]
    return [
        Row(
            "planar_3rrr: map of 1,000,000 poses over x and y, 8 modes",
            timings[0],
            None,
            "ours",
            unit="s",
        ),
        Row(
            "planar_3rrr: map of 1,000,000 poses over x, y and angle, 8 modes",
            timings[1],
            None,
            "ours",
            unit="s",
        ),
    ]


def _compare(m, found) -> None:
    at = np.argwhere(found.closes)[:: max(1, found.closes.sum() // 1000)]
    exact = m.conditions(found.q[tuple(at.T)], found.frame)
    for name in ("parallel", "serial", "sign", "serial_sign"):
        same(f"{name} of a map", getattr(found, name)[tuple(at.T)], getattr(exact, name), 1e-9)


def _within_reach(m, found) -> None:
    """Every mode closes where each leg, two links of one length, spans the distance from its base to the platform."""
    v, closes = m.parameters, True
    grid = [
        found.axes[name] if name in found.axes else np.array([found.fixed[name]])
        for name in ("x", "y", "angle")
    ]
    x, y, angle = np.meshgrid(*grid, indexing="ij")
    for base in 2 * np.pi * np.arange(3) / 3 - np.pi / 2:
        across = x + v["r_ee"] * np.cos(base + angle) - v["r_base"] * np.cos(base)
        along = y + v["r_ee"] * np.sin(base + angle) - v["r_base"] * np.sin(base)
        closes &= np.hypot(across, along) <= 2 * v["L"]
    for own in found.closes:
        same("poses of a map", own.astype(float), closes.reshape(own.shape).astype(float))
