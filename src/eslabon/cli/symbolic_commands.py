"""What others read on: equations, and portable C."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.typed import Frame, Source, load, quantities
from eslabon.export.equations import written
from eslabon.sheets import Sheet

Quantity = typer.Argument(
    metavar="QUANTITY",
    help="Such as pose, jacobian, mass_matrix or inverse_dynamics.",
    autocompletion=quantities,
)


def _options(frame: str | None) -> dict[str, Any]:
    return {} if frame is None else {"frame": frame}


@command("equations", "eslabon equations elbow mass_matrix")
def equations(
    source: Source,
    quantity: Annotated[str | None, Quantity] = None,
    frame: Frame = None,
    latex: Annotated[bool, typer.Option("--latex", help="As LaTeX.")] = False,
    values: Annotated[
        bool, typer.Option("--values", help="Put the parameters' values in.")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="Even if there are thousands of operations.")
    ] = False,
) -> Answer:
    """Print the equations of a quantity, with parameters as symbols.

    The default is the inverse dynamics or, for a mechanism with loops, the equations of motion."""
    from eslabon.formulas.textbook_terms import default_quantity

    m = load(source)
    quantity = quantity or default_quantity(m)
    with patience("writing the equations"):
        made = m.equations(quantity, parameters=not values, long=long, **_options(frame))
        text = made.latex() if latex else str(made)
    rows = [("definition", str(name), written(expression)) for name, expression in made.definitions]
    for name, matrix in zip(made.names, made.results, strict=True):
        entries = product(*(range(n) for n in matrix.shape))
        rows += [
            (name, " ".join(str(k + 1) for k in place), written(matrix[place])) for place in entries
        ]
    sheet = Sheet("equations", ("of", "entry", "expression"), rows)
    return Answer(
        [text],
        {
            "mechanism": m.name,
            "quantity": quantity,
            "latex": made.latex(),
            **{"equations": sheet.records()},
        },
        [sheet],
    )


@command("c", "eslabon c elbow jacobian --frame tool")
def c(
    source: Source,
    quantity: Annotated[str, Quantity] = "inverse_dynamics",
    frame: Frame = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the files into this folder; printed if left out.")] = None,
) -> Answer:  # fmt: skip
    """Generate portable C for a quantity: a header and a source."""
    m = load(source)
    with patience("writing C"):
        made = m.c_source(quantity, **_options(frame))
    files = {f"{made.name}.h": made.header, f"{made.name}.c": made.code}
    if out is not None:
        written = made.write(out)
        return Answer(
            [
                Sheet(
                    "files",
                    ("file", "lines"),
                    [(str(path), path.read_text(encoding="utf-8").count("\n")) for path in written],
                )
            ]
        )
    sheet = Sheet("files", ("file", "text"), list(files.items()))
    return Answer(
        ["\n".join(files.values()).rstrip("\n")],
        {"mechanism": m.name, "quantity": quantity, "files": files},
        [sheet],
    )
