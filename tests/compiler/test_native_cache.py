"""The disk cache: whole files or none, any number of processes, no folder no harm."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import native
from eslabon.compiler import store as cache
from eslabon.compiler.llvm import cpython, machine

X = np.array([[0.3, -1.2], [2.0, 0.7]])
WANT = np.stack([np.sin(X[:, 0]) * X[:, 1], X[:, 0] + X[:, 1]], axis=1)


def graph() -> Any:
    x = ca.SX.sym("x", 2)
    return ca.Function("f", [x], [ca.vertcat(ca.sin(x[0]) * x[1], x[0] + x[1])], ["x"], ["y"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, after what all functions share is in memory, so that no test counts its files."""
    if machine.llvm() is not None:
        cpython.calls(), cpython.batches(), cpython.elementary("sincos", machine.host().width)
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one at each compilation."""
    native.compile(graph(), cache=False)  # what it needs of the runtime is there
    seen: list[str] = []
    assemble = machine.assemble
    monkeypatch.setattr(machine, "assemble", lambda *given: seen.append(given) or assemble(*given))
    return seen


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.native"))


def test_code_is_kept_and_found_again(folder: Path, compilations: list[str]) -> None:
    for _ in range(3):
        np.testing.assert_allclose(native.compile(graph())(X), WANT, rtol=1e-15)
    assert len(compilations) == len(files(folder)) == 1
    native.compile(graph(), cache=False)
    assert len(compilations) == 2


def test_the_shape_an_argument_is_seen_in_belongs_to_the_code(
    folder: Path, compilations: list[str]
) -> None:
    native.compile(graph())
    column = native.compile(graph(), inputs=[native.Argument("x", (2, 1))])
    np.testing.assert_allclose(column(X[..., None]), WANT, rtol=1e-15)
    assert len(compilations) == 2


def test_a_key_finds_code_without_its_graph(folder: Path) -> None:
    assert native.load("arm") is None
    native.compile(
        graph(), key="arm", owner="arm", inputs=[native.Argument("x", (2,), "coordinates")]
    )
    f = native.load("arm")
    assert f is not None
    np.testing.assert_allclose(f(X), WANT, rtol=1e-15)
    assert f.signature.inputs == (native.Argument("x", (2,), "coordinates"),)
    with pytest.raises(
        native.InputError, match="x has 3 values in its last axis; arm has 2 coordinates"
    ):
        f(np.ones(3))


def test_another_graph_or_description_under_a_key_replaces_the_first(
    folder: Path, compilations: list[str]
) -> None:
    native.compile(graph(), key="arm")
    x = ca.SX.sym("x", 2)
    assert np.array_equal(native.compile(ca.Function("g", [x], [3 * x]), key="arm")(X), 3 * X)
    assert np.array_equal(native.load("arm")(X), 3 * X)
    native.compile(ca.Function("g", [x], [3 * x]), key="arm", owner="puma")
    assert native.load("arm").signature.owner == "puma"
    assert len(compilations) == 2
    assert len(files(folder)) == 1


@pytest.mark.parametrize("damage", ["truncated", "emptied", "one bit", "other text", "longer"])
def test_damaged_files_are_compiled_again(
    folder: Path, compilations: list[str], damage: str
) -> None:
    native.compile(graph(), key="arm")
    (path,) = files(folder)
    data = path.read_bytes()
    path.write_bytes({
        "truncated": data[: len(data) // 2],
        "emptied": b"",
        "one bit": data[:-200] + bytes([data[-200] ^ 1]) + data[-199:],
        "other text": b"hello",
        "longer": data + b"x",
    }[damage])  # fmt: skip
    assert native.load("arm") is None
    np.testing.assert_allclose(native.compile(graph(), key="arm")(X), WANT, rtol=1e-15)
    assert len(compilations) == 2
    assert path.read_bytes() == data
    assert native.load("arm") is not None


def test_the_processor_and_the_compiler_belong_to_the_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native.compile(graph(), key="arm")
    from dataclasses import replace

    other = replace(machine.host(), features=machine.host().features + ",+new")
    monkeypatch.setattr(cache, "host", lambda: other)
    cache._surroundings.cache_clear()
    try:
        assert native.load("arm") is None
    finally:
        cache._surroundings.cache_clear()


def test_a_folder_that_cannot_be_written_is_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path / "file" / "cache"))
    cache.warn_once.cache_clear()
    with pytest.warns(native.NativeWarning, match="cannot be written .* set ESLABON_CACHE"):
        f = native.compile(graph())
    np.testing.assert_allclose(f(X), WANT, rtol=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        native.compile(graph())


def test_an_entry_is_used_for_its_own_key_only(folder: Path, compilations: list[str]) -> None:
    """Whatever its file is called: a name may be changed, or copied onto another one."""
    native.compile(graph(), key="arm")
    x = ca.SX.sym("x", 2)
    native.compile(ca.Function("g", [x], [3 * x]), key="leg")
    arm, leg = cache._path("arm"), cache._path("leg")
    leg.write_bytes(arm.read_bytes())
    assert native.load("leg") is None
    np.testing.assert_array_equal(
        native.compile(ca.Function("g", [x], [3 * x]), key="leg")(X), 3 * X
    )
    assert len(compilations) == 3
    arm.rename(leg)
    assert native.load("leg") is None


@pytest.mark.parametrize(
    "named", ["casadi", "source", "cpu", "features", "compiler", "optimization"]
)
def test_an_entry_says_what_it_depends_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    native.compile(graph(), key="arm")
    path, whole = cache._path("arm"), cache._circumstances()
    monkeypatch.setattr(cache, "_circumstances", lambda: {**whole, named: "other"})
    assert cache._path("arm") != path
    path.rename(cache._path("arm"))
    assert native.load("arm") is None


def test_the_oldest_files_go_first(folder: Path) -> None:
    x = ca.SX.sym("x")
    for k in range(4):
        native.compile(ca.Function("f", [x], [x + k]), key=f"{k}")
        os.utime(cache._path(f"{k}"), (1000.0 * k, 1000.0 * k))
    native.load("0")  # used now: the youngest
    (folder / "old.part").write_bytes(b"half")
    os.utime(folder / "old.part", (0, 0))
    (folder / "new.part").write_bytes(b"half")
    size = cache._path("3").stat().st_size
    cache.prune(folder, limit=int(3.5 * size))
    assert [native.load(f"{k}") is not None for k in range(4)] == [True, False, False, True]
    assert [p.name for p in folder.glob("*.part")] == ["new.part"]


def test_the_folder_is_looked_through_now_and_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every file that is stored, it would take a time that grows as the square of their number."""
    looks: list[Path] = []
    monkeypatch.setattr(cache, "prune", looks.append)
    for k in range(640):
        cache.store(f"{k}", cache.Entry({}, b"code"))
    assert 1 <= len(looks) <= 40
    assert set(looks) == {folder}


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESLABON_CACHE", "/here")
    assert cache.folder() == Path("/here")
    monkeypatch.delenv("ESLABON_CACHE")
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_CACHE_HOME", "/there")
        assert cache.folder() == Path("/there/eslabon")
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache.folder() == Path.home() / ".cache" / "eslabon"


@pytest.fixture
def spoken() -> Any:
    """The warnings of this room, each said anew."""
    cache.warn_once.cache_clear()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def sentences(spoken: Any) -> list[str]:
    return [str(w.message) for w in spoken if issubclass(w.category, native.NativeWarning)]


def given_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file or folder another user's; who may not do that becomes another user."""
    if os.geteuid() == 0:
        os.chown(path, 54321, -1, follow_symlinks=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)


posix = pytest.mark.skipif(os.name != "posix", reason="Windows has other ways to say who may write")


@posix
@pytest.mark.parametrize("mode", [0o770, 0o720, 0o707, 0o702, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(
    folder, compilations, spoken, mode: int
) -> None:
    native.compile(graph(), key="arm")
    folder.chmod(mode)
    assert native.load("arm") is None
    before = {p: p.stat().st_mtime_ns for p in folder.iterdir()}
    for _ in range(2):
        np.testing.assert_allclose(native.compile(graph(), key="arm")(X), WANT, rtol=1e-15)
    assert {p: p.stat().st_mtime_ns for p in folder.iterdir()} == before
    assert len(compilations) == 3
    (sentence,) = sentences(spoken)
    assert (
        f"{folder} nor kept there, since it can be written by other users; set ESLABON_CACHE"
        in sentence
    )
    folder.chmod(0o755)
    assert native.load("arm") is not None


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_compiled_again(
    folder, compilations, spoken, mode: int
) -> None:
    native.compile(graph(), key="arm")
    (path,) = files(folder)
    path.chmod(mode)
    assert native.load("arm") is None
    native.compile(graph(), key="arm")
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(compilations) == 2
    assert native.load("arm") is not None
    (sentence,) = sentences(spoken)
    assert f"a file in {folder} can be written by other users" in sentence
    assert "ESLABON_CACHE" in sentence


@posix
@pytest.mark.parametrize("whose", ["folder", "file", "link"])
def test_what_belongs_to_another_user_is_not_used(
    folder, monkeypatch, compilations, spoken, whose: str
) -> None:
    native.compile(graph(), key="arm")
    if whose == "link":
        (folder.parent / "link").symlink_to(folder)
        monkeypatch.setenv("ESLABON_CACHE", str(folder.parent / "link"))
        assert native.load("arm") is not None  # one's own links are followed
    given_away(
        {"folder": folder, "file": files(folder)[0], "link": folder.parent / "link"}[whose],
        monkeypatch,
    )
    assert native.load("arm") is None
    np.testing.assert_allclose(native.compile(graph(), key="arm")(X), WANT, rtol=1e-15)
    assert len(compilations) == 2
    (sentence,) = sentences(spoken)
    assert "belongs to another user" in sentence
    assert "ESLABON_CACHE" in sentence


@posix
def test_links_are_followed_to_what_they_lead_to(folder, compilations, spoken) -> None:
    """In a folder of one's own a link is one's own; the code that it leads to may not be."""
    native.compile(graph(), key="arm")
    (path,) = files(folder)
    elsewhere = path.rename(folder.parent / "elsewhere")
    path.symlink_to(elsewhere)
    assert native.load("arm") is not None
    elsewhere.chmod(0o666)
    assert native.load("arm") is None
    assert len(sentences(spoken)) == 1


def test_a_folder_that_is_read_only_gives_what_is_in_it(
    folder, monkeypatch, compilations, spoken
) -> None:
    import errno

    opened = os.open

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    native.compile(graph(), key="arm")
    monkeypatch.setattr(
        os,
        "open",
        lambda path, flags, *mode: (refuse if flags & os.O_CREAT else opened)(path, flags, *mode),
    )
    monkeypatch.setattr(os, "utime", refuse)
    assert native.load("arm") is not None
    for k in (2.0, 3.0):
        x = ca.SX.sym("x", 2)
        np.testing.assert_array_equal(native.compile(ca.Function("g", [x], [k * x]))(X), k * X)
    (sentence,) = sentences(spoken)
    assert f"{folder} cannot be written (Read-only file system); set ESLABON_CACHE" in sentence


def test_a_file_in_place_of_the_folder_is_one_warning(folder, spoken) -> None:
    folder.write_text("in the way")
    folder.chmod(0o600)
    for _ in range(2):
        np.testing.assert_allclose(native.compile(graph())(X), WANT, rtol=1e-15)
    (sentence,) = sentences(spoken)
    assert f"{folder} nor kept there, since it is a file; set ESLABON_CACHE" in sentence


def test_a_relative_folder_stays_where_it_is(tmp_path, monkeypatch, compilations, spoken) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ESLABON_CACHE", f"here/{tmp_path.name}")
    native.compile(graph(), key="arm")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert native.load("arm") is not None
    assert files(tmp_path / "here" / tmp_path.name)
    assert sentences(spoken) == []


def test_an_empty_name_is_no_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ESLABON_CACHE")
    usual = cache.folder()
    monkeypatch.setenv("ESLABON_CACHE", "")
    assert cache.folder() == usual


@posix
def test_a_user_without_a_home(tmp_path, monkeypatch, compilations, spoken) -> None:
    """As in containers that run under any number: no HOME, and no such user."""
    import pwd
    import tempfile

    def unknown(*_: Any) -> None:
        raise KeyError("getpwuid(): uid not found")

    for name in ("ESLABON_CACHE", "HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for _ in range(2):
        np.testing.assert_allclose(native.compile(graph())(X), WANT, rtol=1e-15)
    assert len(compilations) == 1
    place = tmp_path / f"eslabon-{os.getuid()}"
    assert place.stat().st_mode & 0o777 == 0o700
    (sentence,) = sentences(spoken)
    assert f"kept in {place}, since this user has no home folder; set ESLABON_CACHE" in sentence
    given_away(place, monkeypatch)  # somebody else may have been there first
    np.testing.assert_allclose(native.compile(graph())(X), WANT, rtol=1e-15)
    assert len(compilations) == 2
    assert len(sentences(spoken)) == 2


# Other processes ----------------------------------------------------------------------------------------------------

SECOND = """
import sys
import numpy as np
from eslabon.compiler import native
from eslabon.compiler.llvm import machine
def refuse(text): raise SystemExit("compiled")
machine.assemble = refuse
f = native.load("arm")
print(f(np.array([0.3, -1.2])).tolist(), "casadi" in sys.modules)
"""

WRITER = """
import casadi as ca, numpy as np, sys
from eslabon.compiler import native
x = ca.SX.sym("x", 2)
print("ready", flush=True)
sys.stdin.readline()
for k in range(12):
    f = native.compile(ca.Function("f", [x], [ca.sin(x) * k]), key=f"{k % 4}")
    assert np.allclose(f(np.ones(2)), np.sin(1) * k)
    native.load(f"{(k + 1) % 4}")
"""


PACKAGE = Path(native.__file__).parents[1]


def python(text: str, source: Path = PACKAGE.parent, **more: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-c", text], env=environment, text=True, **pipes, **more
    )


RUNTIME = """
from eslabon.compiler.llvm import cpython, machine
cpython.calls(), cpython.batches(), cpython.elementary("sincos", machine.host().width)
"""


def test_a_second_process_neither_compiles_nor_imports_casadi(folder: Path) -> None:
    native.compile(graph(), key="arm")
    python(RUNTIME).communicate(timeout=600)
    out, err = python(SECOND).communicate(timeout=600)
    assert err == ""
    numbers, casadi = out.split("] ")
    np.testing.assert_allclose(eval(numbers + "]"), WANT[0], rtol=1e-15)
    assert casadi == "False\n"


def test_two_processes_at_once(folder: Path) -> None:
    both = [python(WRITER) for _ in range(2)]
    for p in both:
        assert p.stdout is not None
        assert p.stdout.readline() == "ready\n"
    errors = [p.communicate("go\n", timeout=600)[1] for p in both]
    assert errors == ["", ""]
    assert not list(folder.glob("*.part"))
    assert all(native.load(f"{k}") is not None for k in range(4))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills")
def test_a_process_killed_while_writing(folder: Path) -> None:
    slow = """
import os, time
replace = os.replace
def wait(*a): print("written", flush=True); time.sleep(60)
os.replace = wait
import casadi as ca
from eslabon.compiler import native
x = ca.SX.sym("x", 2)
native.compile(ca.Function("f", [x], [ca.sin(x)]), key="arm")
"""
    victim = python(slow)
    assert victim.stdout is not None
    assert victim.stdout.readline() == "written\n"
    victim.kill()
    victim.communicate()
    assert native.load("arm") is None
    assert len(list(folder.glob("*.part"))) == 1
    native.compile(graph(), key="arm")
    np.testing.assert_allclose(native.load("arm")(X), WANT, rtol=1e-15)


def test_importing_the_room_imports_nothing_heavy() -> None:
    text = "import sys, eslabon.compiler, eslabon.compiler.native, eslabon.export.c_source, eslabon.export.operation_counts, eslabon.export.equations\n"
    text += "print(sorted({'casadi', 'llvmlite', 'sympy'} & set(sys.modules)))"
    out, err = python(text).communicate(timeout=600)
    assert (out, err) == ("[]\n", "")


def test_importing_the_package_reads_no_source() -> None:
    text = "import eslabon; from eslabon.compiler import source_digest; print(source_digest._content.cache_info().misses)"
    assert python(text).communicate(timeout=600) == ("0\n", "")


# Changed source -----------------------------------------------------------------------------------------------------

# Without bytecode, which Python itself believes to be up to date by size and time.
ENERGY = """
import sys
sys.dont_write_bytecode = True
import eslabon as es
from eslabon.compiler import evaluate as evaluator
from eslabon.compiler.llvm import machine
assemble, trace, made = machine.assemble, evaluator.trace, []
machine.assemble = lambda text, *more: ("@kernel" in text and made.append("compiled")) or assemble(text, *more)
evaluator.trace = lambda *given, **more: made.append("traced") or trace(*given, **more)
m = es.load("elbow")
print(float(m.energy([0.1, 0.2], [1.0, 0.5])[0]), *made)
print(m.pose([0.1, 0.2], "tool")[0, 3], *made)
print(sorted({"casadi", "matplotlib", "scipy", "sympy"} & set(sys.modules)))
"""


def run(text: str, source: Path) -> list[str]:
    out, err = python(text, source).communicate(timeout=600)
    assert err == ""
    return out.splitlines()


def copied(to: Path) -> Path:
    """A tree of its own, with other times, of files that are as they are here."""
    shutil.copytree(
        PACKAGE,
        to / "eslabon",
        ignore=shutil.ignore_patterns("__pycache__"),
        copy_function=shutil.copyfile,
    )
    return to


def changed(file: Path, old: str, new: str) -> None:
    """Replace a text in a file, which stays as long and as old as it was."""
    before, text = file.stat(), file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_code_is_as_old_as_its_formula_and_no_older(folder: Path, tmp_path: Path) -> None:
    first, second = copied(tmp_path / "first"), copied(tmp_path / "second")
    energy, pose, _ = run(ENERGY, first)
    number, *made = energy.split()
    assert made == ["traced", "compiled"]
    # A fresh copy elsewhere, in which a wing above has another comment, and one that only shows another colour.
    with open(second / "eslabon" / "systems" / "control" / "__init__.py", "a") as file:
        file.write("# a comment\n")
    with open(second / "eslabon" / "language.py", "a") as file:
        file.write("# another word\n")
    assert run(ENERGY, second) == [number, pose.split()[0], "[]"]
    # A formula of the same length and time.
    changed(
        second / "eslabon" / "formulas" / "dynamics.py",
        "mass_matrix(s) @ s.v) / 2",
        "mass_matrix(s) @ s.v) / 8",
    )
    quarter, *made = run(ENERGY, second)[0].split()
    assert made == ["traced", "compiled"]
    assert float(quarter) == pytest.approx(float(number) / 4, rel=1e-14)
    assert run(ENERGY, first) == [number, pose.split()[0], "[]"]


OWN = """
import sys
sys.dont_write_bytecode = True
import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.llvm import machine
from spring import SPRING
assemble, made = machine.assemble, []
machine.assemble = lambda text, *more: ("@kernel" in text and made.append("compiled")) or assemble(text, *more)
print(float(evaluate(es.load("elbow"), SPRING)([2.0, 0.0])), *made)
"""

SPRING = """
from eslabon.compiler.formula import Formula
from eslabon.compiler.native import Argument
from eslabon.formulas.inputs import Q
from laws import stiffness
def force(m, q): return stiffness() * q[0]
SPRING = Formula("spring", force, (Q,), (Argument("force", ()),))
"""


def test_code_of_a_formula_of_ones_own_is_as_old_as_its_files(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "spring.py").write_text(SPRING)
    (tmp_path / "laws.py").write_text("def stiffness(): return 20\n")
    text = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{OWN}"
    assert run(text, PACKAGE.parent) == ["40.0 compiled"]
    assert run(text, PACKAGE.parent) == ["40.0"]
    changed(tmp_path / "spring.py", "* q[0]", "/ q[0]")
    assert run(text, PACKAGE.parent) == ["10.0 compiled"]
    changed(tmp_path / "laws.py", "20", "80")
    assert run(text, PACKAGE.parent) == ["40.0 compiled"]
