"""What the documentation shows, runs, and prints what it says it prints."""

import doctest
import re
import shlex
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from typer.testing import CliRunner

import eslabon as es
from eslabon.cli import app
from eslabon.files.urdf import to_urdf
from test_words import SPANISH

HERE = Path(__file__).parents[1]


BLOCK = re.compile(r"""^```(\w+)(?: title="(\S+)")?\n(.*?)^```$""", flags=re.S | re.M)
LOOSE = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
OWN_TESTS = ("describe_your_mechanism.md",)  # whose pieces do not follow one another


def blocks(page, language):
    return [
        code
        for kind, _, code in BLOCK.findall((HERE / page).read_text(encoding="utf-8"))
        if kind == language
    ]


def pages():
    """All pages with code of Python, by their names in the repository; `test_spanish` compares the Spanish ones with these."""
    every = [*HERE.glob("*.md"), *(HERE / "docs").rglob("*.md")]
    names = sorted(p.relative_to(HERE).as_posix() for p in every if p.name not in OWN_TESTS)
    names = [name for name in names if not SPANISH.search(name)]
    return [name for name in names if blocks(name, "python")]


def run(page, folder):
    """Run the page's code from top to bottom. A block with a title is written to a file of that name, and text right below
    a piece of code is what it prints."""
    names, printed = {}, None
    text = (HERE / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        kind, title, code = found.groups()
        if title:
            (folder / title).write_text(code)
        elif kind == "python":
            line = text[: found.start()].count("\n") + 1
            with redirect_stdout(StringIO()) as out:
                exec(compile("\n" * line + code, str(HERE / page), "exec"), names)
            printed = out.getvalue(), found.end()
        elif kind == "text" and printed and not text[printed[1] : found.start()].strip():
            assert doctest.OutputChecker().check_output(code, printed[0], LOOSE), (
                f"{page} prints\n{printed[0]}"
            )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", pages())
@pytest.mark.slow(reason="runs a page from top to bottom")
def test_code_of_a_page_runs(folder, page):
    run(page, folder)


def test_three_ways_give_the_same_pendulum(folder):
    page = "docs/describe_your_mechanism.md"
    code = blocks(page, "python")
    names = {"es": es}
    exec(code[0], names)
    (folder / "double_pendulum.toml").write_text(blocks(page, "toml")[0])
    (folder / "double_pendulum.urdf").write_text(blocks(page, "xml")[0])
    exec(code[1], names)
    ways = [names["pendulum"], es.load("double_pendulum.toml"), es.load("double_pendulum.urdf")]
    q = np.array([0.3, -0.8])
    for m in ways:
        assert np.allclose(m.pose(q, "lower"), ways[0].pose(q, "lower"), atol=1e-15)
        assert [b.mass for b in m.bodies if b.mass] == [1.2, 1.2]
        assert np.allclose(m.body("lower").inertia, ways[0].body("lower").inertia)


def test_the_other_examples_of_the_page(folder):
    code = blocks("docs/describe_your_mechanism.md", "python")
    b = es.Builder("four_bar").body("coupler").body("rocker").body("crank")
    b.joint("q1", "revolute", "ground", "crank").joint("q2", "revolute", "crank", "coupler").joint(
        "q3", "revolute", "ground", "rocker"
    )
    tree = to_urdf(b.build()).replace(
        "</robot>", blocks("docs/describe_your_mechanism.md", "xml")[1] + "</robot>"
    )
    (folder / "four_bar.urdf").write_text(tree)
    exec(code[2], {"b": b})
    (written,), (built,) = es.load("four_bar.urdf").loops, b.build().loops
    assert (written.first, written.second) == (built.first, built.second)
    assert len(b.build().loops) == 1
    exec(code[3], {"es": es})
    names = {"es": es}
    with pytest.warns(es.ModelWarning):
        exec(code[4], names)
    assert names["arm"].nv == 3
    exec(code[7], names)
    assert [names[x].nv for x in ("stiff", "short", "hand", "again", "both")] == [4, 4, 2, 6, 8]


def test_shapes_of_the_page(folder):
    page = "docs/describe_your_mechanism.md"
    code, toml = blocks(page, "python"), blocks(page, "toml")
    names = {"es": es}
    exec(code[0], names)
    exec(code[6], names)
    (folder / "shaped.toml").write_text(toml[0] + toml[-1])
    m = es.load("shaped.toml")
    assert m.shape("bucket") == names["b"].build().shape("bucket")
    assert m.shape("hand").size == (0.001, 0.001, 0.001)


def test_the_four_bar_in_mjcf(folder):
    page = "docs/describe_your_mechanism.md"
    (folder / "four_bar.xml").write_text(blocks(page, "xml")[2])
    names = {"es": es}
    exec(blocks(page, "python")[5], names)
    m = names["four_bar"]
    assert m.dof == 1
    assert m.actuated == ("q1",)
    assert m.joint("q1").effort_limit == (20.0,)
    assert np.allclose(m.constraint(names["q"]), 0, atol=1e-12)
    assert m.note == "Read from four_bar.xml."


def english_pages():
    names = [
        "README.md",
        *(f.relative_to(HERE).as_posix() for f in (HERE / "docs").rglob("*.md")),
        "reproductions/README.md",
    ]
    return [name for name in names if not SPANISH.search(name)]


@pytest.mark.parametrize("page", english_pages())
def test_pages_use_the_words_of_the_field(page):
    text = (HERE / page).read_text(encoding="utf-8")
    own = r"postures?|freedoms|tears|tear|torn|idle|shaky|leaps?|along=True|axes=\"ground\"|least of many"
    assert not re.findall(rf"\b(?:{own})", text)


def linked_pages():
    every = [
        *HERE.glob("*.md"),
        *(HERE / "docs").rglob("*.md"),
        HERE / "reproductions" / "README.md",
    ]
    return sorted(page.relative_to(HERE).as_posix() for page in every)


@pytest.mark.parametrize("page", linked_pages())
def test_links_and_pictures_exist_in_the_repository(page):
    """For readers of the repository; `test_site` follows the links of the site, anchors too."""
    path = HERE / page
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[)#]", text) + re.findall(
        r'src="([^"]+)"', text
    ):
        assert (path.parent / target).exists(), f"{page} links to {target}"


# -- pages that state facts about the package -------------------------------------------------------------------------


def rows_of(page):
    """The cells of all tables of a page, row by row."""
    lines = (HERE / page).read_text(encoding="utf-8").splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]


def test_the_installation_page_lists_every_extra():
    extras = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    described = {
        row[0].strip("`"): " ".join(row)
        for row in rows_of("docs/install.md")
        if row[0].strip("`") in extras
    }
    assert set(described) == set(extras)
    for name, needs in extras.items():
        included = {
            extra
            for need in needs
            for extra in re.findall(r"eslabon\[(.+)\]", need)
            if name != "dev"
        }
        for extra in ",".join(included).split(","):
            assert f"`{extra}`" in described[name] or not extra, f"{name} includes {extra}"


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/eslabon"),
        ("linux", {"HOME": "/h"}, "~/.cache/eslabon"),
        ("darwin", {"HOME": "/h"}, "~/Library/Caches/eslabon"),
        ("win32", {"LOCALAPPDATA": "/x"}, "/x/eslabon/Cache"),
    ],
)
def test_the_cache_is_where_the_installation_page_says(platform, environment, folder, monkeypatch):
    from eslabon.compiler import store as cache

    for name in ("ESLABON_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert cache.folder().as_posix() == folder.replace("~", "/h")
    shown = folder.replace("/x", "$XDG_CACHE_HOME" if platform == "linux" else "%LOCALAPPDATA%")
    text = (HERE / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"`{shown}`" in text.replace("\\", "/")


def test_the_cache_has_the_size_that_the_installation_page_says():
    from eslabon.compiler.store import LIMIT

    assert f"beyond {LIMIT // 2**20} MB" in (HERE / "docs" / "install.md").read_text(
        encoding="utf-8"
    )


def shell_lines():
    return [
        line
        for line in "".join(blocks("docs/install.md", "sh")).splitlines()
        if line.startswith("eslabon")
    ]


@pytest.mark.parametrize("line", shell_lines())
def test_shell_lines_of_the_installation_page_run(line):
    ran = CliRunner().invoke(app, shlex.split(line)[1:])
    assert ran.exit_code == 0, ran.output


def test_the_stability_page_lists_every_submodule():
    modules = {f"es.{name}" for name in es.__all__ if isinstance(getattr(es, name), ModuleType)}
    listed = {
        row[0].strip("`") for row in rows_of("docs/stability.md") if row[0].startswith("`es.")
    }
    assert listed == modules


@pytest.mark.parametrize(
    "page", ["docs/stability.md", "docs/limits.md", "docs/conventions.md", "docs/install.md"]
)
def test_names_on_a_page_exist(page):
    """Names of `es` in running text; those in code run."""
    text = re.sub(r"^```.*?^```$", "", (HERE / page).read_text(encoding="utf-8"), flags=re.S | re.M)
    for name in re.findall(r"`es\.([\w.]+)", text):
        assert attrgetter(name)(es)
    for name in re.findall(r"`m\.(\w+)", text):
        assert hasattr(es.Mechanism, name), name
