"""The reference lists every public name of a room: `<!-- names: eslabon.control -->` in a page stands for all of them.

What is public is said once, in `__all__`; the pages follow. `<!-- command line -->` stands for all commands and their options.
"""

import inspect
import re
from importlib import import_module

ROOM = re.compile(r"<!-- names: (\S+?)(?:, (\w+))? -->")
COMMANDS = "<!-- command line -->"
WHICH = {
    "classes": inspect.isclass,
    "functions": inspect.isroutine,
    "errors": lambda thing: inspect.isclass(thing) and issubclass(thing, Exception),
}


def on_page_markdown(markdown: str, **_) -> str:
    made = ROOM.sub(lambda found: names(found[1], found[2]), markdown)
    return made.replace(COMMANDS, commands()) if COMMANDS in made else made


def names(room: str, which: str | None = None) -> str:
    """A piece of the reference for each public name of a room, or for its classes, functions or errors only."""
    module = import_module(room)
    every = [
        name for name in module.__all__ if which is None or WHICH[which](getattr(module, name))
    ]
    return "\n\n".join(f"::: {place(module, name)}" for name in every)


def place(module, name: str) -> str:
    """Where a name is defined, which is where its text stands."""
    thing = getattr(module, name)
    defined = inspect.isclass(thing) or inspect.isroutine(thing)
    return f"{thing.__module__}.{thing.__qualname__}" if defined else f"{module.__name__}.{name}"


def commands() -> str:
    """Every command with its arguments, options and example."""
    import typer

    from eslabon.cli.app import EXAMPLES, app

    known = typer.main.get_command(app).commands
    return "\n\n".join(command(name, known[name], EXAMPLES.get(name, "")) for name in known)


def command(name: str, known, example: str) -> str:
    rows = [
        f"| `{written(p)}` | {(getattr(p, 'help', '') or '').replace('|', '&#124;')} |"
        for p in known.params
    ]
    table = "\n".join(["| what is typed | |", "|---|---|", *rows]) if rows else ""
    return "\n\n".join(
        [f"## eslabon {name}", inspect.cleandoc(known.help or ""), f"    {example}", table]
    )


def written(parameter) -> str:
    """How a parameter is typed on the line."""
    if parameter.param_type_name == "argument":
        return parameter.name.upper()
    return ", ".join(parameter.opts) + ("" if parameter.is_flag else f" {parameter.name.upper()}")
