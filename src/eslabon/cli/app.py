"""How commands are declared, and how they end: with an answer, or with one sentence and the exit code 2."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape

import eslabon as es
from eslabon.cli.answer import Answer, printed
from eslabon.errors import EslabonError

app = typer.Typer(
    help="Kinematics and dynamics of mechanisms with closed loops.\n\n"
    "A command takes the name of a mechanism (see `eslabon list`) or a .toml, .urdf or MJCF (.xml) file. "
    "`eslabon COMMAND --help` shows its options and an example.",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)
UsageError: Any = typer.BadParameter.__base__  # click's, of which typer may have a copy of its own
EXAMPLES: dict[str, str] = {}  # of every command; the tests run them

Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON, with all digits.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print the results as CSV, with all digits.")]


def command(
    name: str, example: str, data: bool = True
) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Declare a command: a function of what is typed that returns an answer. Data can be had as JSON and as CSV too."""
    EXAMPLES[name] = example

    def declare(function: Callable[..., Answer]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(*, as_json: bool = False, as_csv: bool = False, **typed: Any) -> None:
            if as_json and as_csv:
                raise es.InputError(
                    "the answer is written as --json or as --csv; give one of them."
                )
            code = printed(
                _asked(function, typed), "json" if as_json else "csv" if as_csv else "table"
            )
            if code:
                raise typer.Exit(code)

        hints = get_type_hints(function, include_extras=True)
        own = [
            p.replace(annotation=hints[p.name])
            for p in inspect.signature(function).parameters.values()
        ]
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
            for name, kind in (("as_json", Json), ("as_csv", Csv))
            if data
        ]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(kind=p.KEYWORD_ONLY) for p in own] + shared
        )
        run.__annotations__ = {p.name: p.annotation for p in (*own, *shared)}
        del run.__wrapped__
        app.command(name, epilog=f"Example: [bold]{escape(example)}[/bold]")(run)
        return run

    return declare


def _asked(function: Callable[..., Answer], typed: dict[str, Any]) -> Answer:
    """The answer, with the warnings on the way to it as its notes."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", es.ModelWarning)
        warnings.simplefilter("always", es.SingularityWarning)
        answer = function(**typed)
    notes = [
        str(w.message)
        for w in told
        if issubclass(w.category, es.ModelWarning | es.SingularityWarning)
    ]
    answer.notes.extend(dict.fromkeys(notes))
    return answer


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"eslabon {es.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


OF_PYTHON = ", or pass limits=False"  # advice that the shell has no option for


def main() -> None:
    """Run the command; a mistake of the user ends in one sentence and the exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="eslabon", standalone_mode=False))
    except EslabonError as error:
        _refuse(str(error).replace(OF_PYTHON, ""))
    except UsageError as error:
        _refuse(
            f"{error.format_message().rstrip('.')}; `eslabon --help` and `eslabon COMMAND --help` say what there is."
        )
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)


def _refuse(sentence: str) -> None:
    line = escape(" ".join(sentence.split()))
    Console(stderr=True).print(f"[red]eslabon:[/red] {line}", highlight=False, soft_wrap=True)
    sys.exit(2)
