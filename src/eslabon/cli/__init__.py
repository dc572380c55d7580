"""The command line. A command reads text, asks the library, and returns an answer; this room prints it.

`app` is how commands are declared, what they share, and how they end; `typed` reads what is typed; `answer` writes tables,
JSON and CSV. The other files hold the commands.
"""

from eslabon.cli import (
    dynamics_commands,
    files_commands,
    kinematics_commands,
    library_commands,
    linear_commands,
    plot_command,
    reproduce_command,
    study_command,
    sweep_command,
    symbolic_commands,
    view_command,
)
from eslabon.cli.app import app, main

__all__ = [
    "app",
    "dynamics_commands",
    "files_commands",
    "kinematics_commands",
    "library_commands",
    "linear_commands",
    "main",
    "plot_command",
    "reproduce_command",
    "study_command",
    "sweep_command",
    "symbolic_commands",
    "view_command",
]

ORDER = [
    "list",
    "show",
    "study",
    "sweep",
    "plot",
    "view",
    "pose",
    "ik",
    "workspace",
    "torques",
    "simulate",
    "linearize",
    "equilibrium",
    "equations",
    "c",
    "check",
    "convert",
    "reproduce",
    "demo",
]
app.registered_commands.sort(key=lambda command: ORDER.index(str(command.name)))
