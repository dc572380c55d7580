"""What a release rests on agrees with itself: the version, the citation, the workflows, the hooks, the templates."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import eslabon as es

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))


def text(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def read_yaml(name: str | Path) -> Any:
    return yaml.safe_load(text(name))


# The version ---------------------------------------------------------------------------------------------------------


def test_the_version_is_stated_once():
    """As a literal in the package, so that a checkout without an installation has it, and at no cost."""
    (stated,) = (
        node.value
        for node in ast.parse(text("src/eslabon/__init__.py")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"
    )
    assert ast.literal_eval(stated) == es.__version__
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert built.stdout.strip() == es.__version__


def test_the_changelog_begins_with_the_version_of_the_package():
    """An open section while the version is a development version, a dated one for a release."""
    first, *others = re.findall(r"^## (.*)$", text("CHANGELOG.md"), flags=re.M)
    released = rf"{re.escape(es.__version__)} \(\d{{4}}-\d\d-\d\d\)"
    wanted = rf"Unreleased \({re.escape(es.__version__)}\)" if "dev" in es.__version__ else released
    assert re.fullmatch(wanted, first)
    assert not [name for name in others if "Unreleased" in name]


# The citation --------------------------------------------------------------------------------------------------------

CITATION_KEYS = {
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "title",
    "type", "url", "version",
}  # fmt: skip
REFERENCE_KEYS = {
    "authors", "doi", "end", "institution", "journal", "languages", "month", "start", "thesis-type", "title", "type", "volume", "year"
}  # fmt: skip
REFERENCE_TYPES = {"article", "book", "conference-paper", "generic", "report", "thesis"}


def test_the_citation_is_valid():
    """What the schema 1.2.0 of the Citation File Format demands, as far as the file makes use of it."""
    citation = read_yaml("CITATION.cff")
    assert {"authors", "cff-version", "message", "title"} <= citation.keys() <= CITATION_KEYS
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation.get("version", es.__version__) == es.__version__
    assert ("version" in citation) == ("date-released" in citation)
    for author in citation["authors"]:
        assert author.keys() == {"name"}
    for reference in citation["references"]:
        assert {"authors", "title", "type"} <= reference.keys() <= REFERENCE_KEYS
        assert reference["type"] in REFERENCE_TYPES
        assert all(
            author.keys() == {"family-names", "given-names"} for author in reference["authors"]
        )
        assert "doi" not in reference or re.fullmatch(r"10\.\d{4,}/\S+", reference["doi"])
        assert ("journal" in reference) == (reference["type"] == "article")


def test_the_citation_names_the_documents_that_are_reproduced():
    """Titles, years and authors as `es.reproductions` has them."""
    cited = {
        reference["title"].casefold(): reference
        for reference in read_yaml("CITATION.cff")["references"]
    }
    names = ("rojas", "morales", "yime", "diaz", "mendez")
    documents = {d.title.casefold(): d for d in (_document(name) for name in names)}
    assert cited.keys() == documents.keys()
    for title, document in documents.items():
        people = [(a["family-names"], a["given-names"]) for a in cited[title]["authors"]]
        for printed, (family, given) in zip(document.authors, people, strict=True):
            assert printed.endswith(f". {family}")
            assert printed[0] == given[0].replace("Á", "A")
        years = re.findall(r"\b(?:19|20)\d\d\b", document.where)
        assert years == [str(cited[title]["year"])] if "year" in cited[title] else not years


def _document(name: str) -> Any:
    return importlib.import_module(f"eslabon.reproductions.{name}").DOCUMENT


# The workflows -------------------------------------------------------------------------------------------------------


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", ())]


def commands(name: Path) -> str:
    """All that a workflow runs, a command a line."""
    return "\n".join(step["run"] for step in steps(read_yaml(name)) if "run" in step)


@pytest.mark.parametrize("name", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_asks_for_little(name):
    """It may read unless a job says more, does not run twice for one branch, and every job ends some day."""
    workflow = read_yaml(name)
    assert {"name", "jobs", "permissions", "concurrency"} <= workflow.keys()
    assert workflow["name"] == name.stem
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert set(job.get("permissions", ())) <= {"pages", "id-token"}
        assert "uses" in job or job["timeout-minutes"] <= 360


@pytest.mark.parametrize("name", WORKFLOWS, ids=lambda p: p.stem)
def test_actions_are_pinned_by_a_version(name):
    workflow = read_yaml(name)
    used = [
        part["uses"] for part in (*steps(workflow), *workflow["jobs"].values()) if "uses" in part
    ]
    for action in used:
        if action.startswith("./"):
            assert (ROOT / action).is_file()
            assert True in read_yaml(action[2:])  # YAML reads `on` as true
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", action), action
    for step in steps(workflow):
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_runs_what_exists(name):
    """Targets of make, scripts, folders of tests, extras."""
    run = commands(name)
    targets = set(re.findall(r"^([a-z][\w-]*):", text("Makefile"), flags=re.M))
    assert set(re.findall(r"\bmake ([a-z][\w-]*)", run)) <= targets
    for path in re.findall(r"(?<![\w/.])(?:\.github|tests|docs|src)/[\w./]+", run):
        assert (ROOT / path).exists(), path
    extras = {e for group in re.findall(r"\.\[([\w,]+)\]", run) for e in group.split(",")}
    assert extras | set(re.findall(r"--extra (\w+)", run)) <= EXTRAS.keys()


def supported() -> list[str]:
    classified = "\n".join(PROJECT["project"]["classifiers"])
    return re.findall(r"^Programming Language :: Python :: (3\.\d+)$", classified, flags=re.M)


@pytest.mark.parametrize("name", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_uses_pythons_that_are_supported(name):
    stated = re.findall(r"\"(3\.\d+)\"", text(name))
    assert set(stated) <= set(supported())
    for job in read_yaml(name)["jobs"].values():
        for step in job.get("steps", ()):
            if step.get("uses", "").startswith("actions/setup-python"):
                assert isinstance(step["with"]["python-version"], str)  # 3.10 is a number, 3.1


@pytest.mark.parametrize(("name", "job"), [("tests", "suite"), ("wheels", "install")])
def test_all_systems_and_all_pythons_are_tested(name, job):
    matrix = read_yaml(GITHUB / "workflows" / f"{name}.yml")["jobs"][job]["strategy"]["matrix"]
    assert matrix["python"] == supported()
    assert PROJECT["project"]["requires-python"] == f">={supported()[0]}"
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}


def test_the_lowest_dependencies_are_tested_with_every_extra_that_users_install():
    """Nested extras count by their parts; the lowest Python goes with the lowest packages."""
    job = read_yaml(GITHUB / "workflows" / "tests.yml")["jobs"]["lowest"]
    run = "\n".join(step["run"] for step in job["steps"] if "run" in step)
    named = set(re.findall(r"--extra (\w+)", run))

    def packages(extras: set[str]) -> set[str]:
        inner = {e for extra in extras for line in EXTRAS[extra] for e in _parts(line)}
        own = {line for extra in extras for line in EXTRAS[extra] if not _parts(line)}
        return own | packages(inner) if inner else own

    assert packages(named) == packages(EXTRAS.keys() - {"dev"})
    assert "--resolution lowest-direct" in run
    assert f"--python-version {supported()[0]}" in run


def _parts(requirement: str) -> list[str]:
    """The extras of eslabon itself that a requirement stands for."""
    found = re.fullmatch(r"eslabon\[([\w,]+)\]", requirement)
    return found[1].split(",") if found else []


def test_every_dependency_has_a_floor():
    """Those that users install; a package without one would be tried in its first version."""
    users = [
        *PROJECT["project"]["dependencies"],
        *(x for name, extra in EXTRAS.items() if name != "dev" for x in extra),
    ]
    assert not [
        line for line in users if not _parts(line) and not re.fullmatch(r"[\w-]+>=[\d.]+", line)
    ]


def test_the_nightly_run_can_be_repeated():
    (recipe,) = re.findall(r"^nightly:.*\n((?:\t.*\n)+)", text("Makefile"), flags=re.M)
    for part in (
        "HYPOTHESIS_PROFILE=nightly",
        "ESLABON_OPTIMIZATION=1",
        "--random-order-seed=$(SEED)",
        "--hypothesis-seed=$(SEED)",
    ):
        assert part in recipe
    assert any(line.startswith("pytest-random-order") for line in EXTRAS["dev"])
    assert "make nightly" in commands(GITHUB / "workflows" / "nightly.yml")


# Hooks and templates -------------------------------------------------------------------------------------------------


def test_hooks_are_the_tools_of_this_project():
    """So that their versions are those of `make lint`."""
    owners = {"ruff": "ruff", "codespell": "codespell", "lint-imports": "import-linter"}
    (repository,) = read_yaml(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    used = [hook["entry"].split()[0] for hook in repository["hooks"]]
    assert set(used) == owners.keys()
    for tool in set(used):
        assert any(re.match(rf"{owners[tool]}\b", line) for line in EXTRAS["dev"])
        assert f"$(BIN)/{tool}" in text("Makefile")
    assert all(hook["language"] == "system" for hook in repository["hooks"])


FORMS = sorted(path for path in GITHUB.glob("ISSUE_TEMPLATE/*.yml") if path.name != "config.yml")


@pytest.mark.parametrize("name", FORMS, ids=lambda p: p.stem)
def test_a_form_for_issues_is_valid(name):
    form = read_yaml(name)
    assert {"name", "description", "body"} <= form.keys()
    inputs = [part for part in form["body"] if part["type"] != "markdown"]
    assert {part["type"] for part in inputs} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert len({part["id"] for part in inputs}) == len(inputs)
    assert all(part["attributes"]["label"] for part in inputs)
    assert any(part.get("validations", {}).get("required") for part in inputs)


def test_there_is_a_form_for_each_kind_of_issue():
    assert {path.stem for path in FORMS} == {"bug", "feature", "mechanism", "wrong_number"}
    assert isinstance(
        read_yaml(GITHUB / "ISSUE_TEMPLATE" / "config.yml")["blank_issues_enabled"], bool
    )


@pytest.mark.parametrize(
    "name",
    ["SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", ".github/PULL_REQUEST_TEMPLATE.md"],
)
def test_no_address_is_invented(name):
    """Reports go through the forge, so that no mailbox has to be kept."""
    assert not re.findall(r"\S+@\S+\.\w+", text(name))


# The distributions ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return folder


@pytest.fixture(scope="module")
def complaints() -> Any:
    """The function of the script that the workflows run before anything is published."""
    spec = importlib.util.spec_from_file_location(
        "check_distributions", GITHUB / "scripts" / "check_distributions.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.complaints


def test_the_distributions_are_complete(distributions, complaints, tmp_path):
    assert complaints(distributions, f"v{es.__version__}") == []
    assert "they must agree" in complaints(distributions, "v9.9")[0]
    assert "one of each" in complaints(tmp_path)[0]


def test_a_file_too_few_or_too_many_in_the_wheel_is_found(distributions, complaints, tmp_path):
    shutil.copytree(distributions, tmp_path, dirs_exist_ok=True)
    (whole,) = distributions.glob("*.whl")
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(tmp_path / whole.name, "w") as new:
        for name in old.namelist():
            if name != "eslabon/py.typed":
                new.writestr(name, old.read(name))
        new.writestr("tests/conftest.py", "")
    assert complaints(tmp_path) == [
        "the wheel has no eslabon/py.typed.",
        "the wheel has tests/conftest.py, which is not of the package.",
    ]


# Other systems -------------------------------------------------------------------------------------------------------


def test_pinocchio_is_imported_in_one_place():
    """It has no packages for Windows: `from oracles import pin` skips the tests that need it, where it is missing."""
    own = Path(__file__)
    tests = [
        path for path in (ROOT / "tests").rglob("*.py") if path.name != "oracles.py" and path != own
    ]
    assert not [
        path.name
        for path in tests
        if re.search(r"^\s*(import|from) pinocchio", path.read_text("utf-8"), re.M)
    ]
