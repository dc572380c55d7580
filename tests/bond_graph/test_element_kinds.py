"""A kind of element is one class: what holds of it stands there, and no other file asks for it."""

import ast
from pathlib import Path

import pytest

import eslabon
from eslabon.bond_graph.elements import KINDS, Element

SOURCE = Path(eslabon.__file__).parent
FILES = [
    *(p for p in (SOURCE / "bond_graph").glob("*.py") if p.name != "elements.py"),
    *(SOURCE / "show" / "plots").glob("bond_graph_*.py"),
]


def asks_for_a_kind(tree):
    """Where the word of a kind is compared, looked up, or taken apart."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            asked = [node.slice]
        elif isinstance(node, ast.Match):
            asked = [node.subject]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = [node.func.value]
        else:
            continue
        for x in asked:
            word = x.value if isinstance(x, ast.Constant) else None
            if (isinstance(x, ast.Attribute) and x.attr == "kind") or (
                isinstance(node, ast.Compare) and word in KINDS and word not in ("0", "1")
            ):
                yield node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_no_other_file_compares_a_kind(path):
    text = path.read_text()
    lines = text.splitlines()
    found = [
        n
        for n in asks_for_a_kind(ast.parse(text))
        if "joint.kind" not in lines[n - 1] and "loop.kind" not in lines[n - 1]
    ]
    assert found == [], [lines[n - 1].strip() for n in found]


def test_what_asks_for_a_kind_is_found():
    for text in ('x.kind == "I"', 'x.kind in ("I",)', "ROLES[x.kind]", 'x.kind.removeprefix("M")'):
        assert {*asks_for_a_kind(ast.parse(text))} == {1}, text


@pytest.mark.parametrize("word", KINDS)
def test_a_kind_is_what_it_is_called(word):
    x = Element("x", word)
    assert x.rules.word == word
    # Everything is one of these, and one of these alone
    roles = [x.is_source, x.stores, x.dissipates, x.conducts, x.measures, x.is_port, x.is_submodel]
    assert sum(roles) + (x.is_sink and not x.is_source) == 1
    assert bool(x.imposes) == (x.is_source or x.measures or x.is_sink)
