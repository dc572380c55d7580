"""What it does near a state: its linear model with poles and modes, and where it rests."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.dynamics_commands import V, state
from eslabon.cli.kinematics_commands import coordinate_heads
from eslabon.cli.typed import Actuated, Degrees, Q, Source, Time, as_typed, instant, load, vector
from eslabon.model.configuration import angles
from eslabon.sheets import Sheet

Tau = Annotated[
    str | None,
    typer.Option("--tau", help="Forces of the actuators; left out, those that hold the state."),
]
Constant = Annotated[
    str | None, typer.Option("--tau", help="Constant forces of the actuators; none if left out.")
]


def _matrix(
    title: str, rows: tuple[str, ...], columns: tuple[str, ...], values: np.ndarray
) -> Sheet:
    body = [(name, *map(float, row)) for name, row in zip(rows, values, strict=True)]
    return Sheet(title, ("", *columns), body)


@command("linearize", 'eslabon linearize delta --actuated "10 20 30" --degrees')
def linearize(
    source: Source, q: Q = None, v: V = None, actuated: Actuated = None, tau: Tau = None, degrees: Degrees = False,
    output: Annotated[
        list[str] | None, typer.Option("--output", help="What is measured, such as theta2, tool.x or 'reaction(pin)'; again for more.")
    ] = None,
    time: Time = None,
) -> Answer:  # fmt: skip
    """Compute the linear model at a state: A, B, C, poles, modes.

    The model is exact. The default state is the home configuration, at rest."""
    m = load(source)
    at = instant(m, time)
    with patience("compiling the linear model"):
        full, rates, _ = state(m, q, v, None, actuated, degrees, **at)
        force = None if tau is None else vector(tau, "--tau", m.nu)
        lm = m.linearize(full, rates, force, outputs=output or None, **at)
        modes = lm.modes()
    rows = (
        [(mode.kind, f"{mode.pole + 0:.6g}", mode.frequency, mode.damping) for mode in modes]
        if lm.dof
        else []
    )
    parts: list[Any] = [
        _matrix("A", lm.states, lm.states, lm.A),
        _matrix("B", lm.states, lm.inputs, lm.B),
        Sheet("modes", ("kind", "pole", "frequency [rad/s]", "damping ratio"), rows),
    ]
    parts += [_matrix("C", lm.outputs, lm.states, lm.C)] if output else []
    if not np.all(lm.equilibrium):
        parts.append("The state is no equilibrium: it moves, or accelerates, by itself.")
    matrices = {name: getattr(lm, name) for name in ("U", "V", "W", "A", "B", "C", "D", "drift")}
    names = {"states": lm.states, "inputs": lm.inputs, "outputs": lm.outputs}
    poles = {"real": lm.poles.real, "imaginary": lm.poles.imag}
    return Answer(
        parts, {"mechanism": m.name, **names, **matrices, "poles": poles, "tau": m.named(lm.tau)}
    )


@command("equilibrium", "eslabon equilibrium double_pendulum")
def equilibrium(source: Source, tau: Constant = None, degrees: Degrees = False) -> Answer:
    """Find equilibrium configurations and their stability.

    The actuator forces are constant, and zero by default."""
    m = load(source)
    force = np.zeros(m.nu) if tau is None else vector(tau, "--tau", m.nu)
    with patience("looking for equilibria"):
        found = m.equilibrium(tau=force, all=True)
    shown = as_typed(found.q, angles(m), degrees)
    rows = [
        (str(word), float(energy), *map(float, row))
        for word, energy, row in zip(found.stability, found.energy, shown, strict=True)
    ]
    sheet = Sheet("equilibria", ("stability", "energy [J]", *coordinate_heads(m, degrees)), rows)
    data = {
        "mechanism": m.name,
        "q": m.named(found.q),
        "stability": [str(x) for x in found.stability],
    }
    return Answer([sheet], data | {"energy": found.energy, "tau": m.named(force)})
