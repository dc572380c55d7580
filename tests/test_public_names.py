"""Every public name says what it is, with an example; the examples run with the other doctests."""

import inspect
from collections import Counter
from importlib import import_module
from pathlib import Path

import eslabon as es
from batches import each

ROOMS = (
    "",
    "numerics",
    "systems.control",
    "systems.identification",
    "systems.linear",
    "motion.paths",
    "plotting",
    "reproductions",
    "motion.simulation",
    "solve.mobility",
    "studies",
    "viewer",
)
CLASSES = (es.Mechanism, es.Builder, es.BondGraph)
DATA = (
    "DOCUMENTS",
    "PALETTE",
    "REPRESENTATIONS",
    "ROLES",
    "SUBGROUPS",
    "THEMES",
)  # constants have a comment, not a docstring


def public_names():
    for room in ROOMS:
        module = import_module(f"eslabon.{room}".rstrip("."))
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)
    for kind in CLASSES:
        for name, thing in inspect.getmembers(kind):
            if not name.startswith("_"):
                yield f"{kind.__name__}.{name}", thing


@each(("name", "thing"), public_names)
def test_a_public_name_has_an_example(name, thing):
    text = inspect.getdoc(thing) or ""
    data = name.rpartition(".")[2] in DATA
    assert data or text, f"{name} has no docstring"
    assert data or ">>>" in text, f"{name} has no example"


def test_no_two_files_share_a_name():
    """A file is found by its name; each room has its own `__init__`, and the package its `__main__`."""
    root = Path(es.__file__).parent
    found = Counter(p.name for p in root.rglob("*.py") if not p.name.startswith("__"))
    assert [name for name, count in found.items() if count > 1] == []
