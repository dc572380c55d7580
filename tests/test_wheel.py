"""The wheel stands by itself: it has all its data, works where there is no repository, and points to nothing that is not there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = (
    "robots/*.toml",
    "robots/*.yaml",
    "robots/*.urdf",
    "bond_graphs/*.toml",
    "languages/*.toml",
    "py.typed",
)
REPOSITORY = re.compile(
    r"(?<![\w/.-])(?:docs|docs_build|tests|examples|benchmarks|reproductions)/[\w*]|\b(?:README|CHANGELOG|CONTRIBUTING|Makefile)\b"
    r"|\bmake (?:demo|test|docs|lint|check)\b|\bsrc/eslabon\b|(?<![\w{}])(?:guide|design|tutorial|gallery)\.md"
)
UNACCENTED = re.compile(
    r"\b(?:Diaz|Saltaren|Gudino|Roldan|Chacon|Mendez|Herve|Dinamica|rigidos|Anahuac|Lugris)\b"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by our own backend, and unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    with zipfile.ZipFile(made) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_all_data_are_in_it(wheel):
    source = ROOT / "src" / "eslabon"
    wanted = {path.relative_to(source) for pattern in DATA for path in source.glob(pattern)}
    wanted |= {path.relative_to(source) for path in source.rglob("*.py")}
    assert {Path("languages/es.toml"), Path("robots/delta.toml"), Path("py.typed")} <= wanted
    found = {
        path.relative_to(wheel / "eslabon")
        for path in (wheel / "eslabon").rglob("*")
        if path.is_file()
    }
    assert not wanted - found
    assert not (wheel / "tests").exists()


def test_it_works_where_there_is_no_repository(wheel, tmp_path):
    code = (
        "import eslabon as es; from eslabon.language import translated; "
        "print(es.load('delta').dof, es.BondGraph.load('morales_puma').order, translated('torque', 'es'), es.__file__)"
    )
    own = {**os.environ, "PYTHONPATH": str(wheel)}
    for arguments in (["-c", code], ["-m", "eslabon", "list"], ["-m", "eslabon", "--help"]):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=own,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if arguments[0] == "-c":
            assert done.stdout.startswith("3 4 par " + str(wheel))


@cache
def said() -> list[tuple[str, str]]:
    return list(_said())


def _said() -> Iterator[tuple[str, str]]:
    """Every text of the package that a person may be shown: literals and docstrings, notes of mechanisms, translations."""
    for path in (ROOT / "src" / "eslabon").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value
    for path in (ROOT / "src" / "eslabon").rglob("*.toml"):
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")
        tomllib.loads(path.read_text("utf-8"))


def test_no_text_names_a_file_of_the_repository():
    wrong = {where: found[0] for where, text in said() if (found := REPOSITORY.search(text))}
    assert not wrong, "what is installed has no such file"


def test_names_have_their_accents():
    """In all that is shown: the package, the documentation, the examples."""
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("reproductions/*.md"),
        *ROOT.glob("examples/*.ipynb"),
    ]
    texts = [*said(), *((str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in pages)]
    assert not {where: found[0] for where, text in texts if (found := UNACCENTED.search(text))}
