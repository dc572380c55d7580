"""A file is written whole or not at all, and every name that is allowed comes back from it."""

import os
import signal
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from batches import each
from eslabon.atomic_files import replace_file, write
from eslabon.files.toml_format import read_toml, to_toml

KILLED = """
import os, signal, sys
from eslabon.atomic_files import replace_file
with replace_file(sys.argv[1]) as file:
    file.write(b"new" * 100000)
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text("old")
    return path


def test_what_is_written_takes_the_place_of_the_old(old):
    assert write(old, "nuevo: ñ") == old
    assert old.read_text(encoding="utf-8") == "nuevo: ñ"
    assert write(str(old), b"bytes") == old
    assert old.read_bytes() == b"bytes"
    assert os.listdir(old.parent) == [old.name]


@pytest.mark.parametrize(
    "error", [RuntimeError, KeyboardInterrupt, ValueError, MemoryError, es.ModelError]
)
def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(old, error):
    def write():
        with replace_file(old) as file:
            file.write(b"half")
            raise error("stop")

    with pytest.raises(error):
        write()
    assert old.read_text() == "old"
    assert os.listdir(old.parent) == [old.name]


def test_a_full_disk_is_a_sentence_and_leaves_the_old_file(old):
    with pytest.raises(es.ReadError, match="No space left on device"), replace_file(old):
        raise OSError(28, "No space left on device")
    assert old.read_text() == "old"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_a_killed_process_leaves_the_old_file_whole(old):
    died = subprocess.run(
        [sys.executable, "-c", KILLED, str(old)],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert died.returncode == -signal.SIGKILL
    assert old.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="permissions of another kind")
def test_permissions_are_kept_and_links_followed(old, tmp_path):
    old.chmod(0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(old)
    write(link, "new")
    assert link.is_symlink()
    assert old.read_text() == "new"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    write(tmp_path / "fresh.toml", "x")
    (tmp_path / "plain.toml").write_text("x")
    assert (tmp_path / "fresh.toml").stat().st_mode == (tmp_path / "plain.toml").stat().st_mode


@pytest.mark.parametrize("name", ["folder.toml", "nul\0.toml", "x" * 300 + ".toml", "\ud800.toml"])
def test_where_nothing_can_be_written(tmp_path, name):
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(es.ReadError, match="cannot be written"):
        es.load("five_bar").save(tmp_path / name)
    assert os.listdir(tmp_path) == ["folder.toml"]


@pytest.mark.parametrize("path", [5, None, b"x.toml", "x.txt", ["x.toml"]])
def test_what_is_no_path(path):
    with pytest.raises(es.ReadError, match="saved as TOML"):
        es.load("five_bar").save(path)


# -- names --------------------------------------------------------------------------------------------------------

printable = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).filter(
    str.strip
)


@given(
    st.lists(printable.filter(lambda name: name != "ground"), min_size=8, max_size=8, unique=True),
    st.text(st.characters(exclude_categories=("Cs",))),
)
def test_any_printable_name_comes_back(names, note):
    name, a, j, loop, frame, spring, wrench, mode = names
    b = es.Builder(name, note=note).body(a, 1.0).joint(j, "revolute", "ground", a)
    b.loop(loop, "spherical", a, "ground").frame(frame, a).spring(spring, a, "ground").wrench(
        wrench, a
    ).mode(mode, {j: 0.5})
    made = b.actuate(j).describe()
    back = read_toml(to_toml(made))
    assert (back, back.note) == (made, note)


def test_half_a_character_in_a_note_is_refused():
    with pytest.raises(es.ModelError, match="the note"):
        es.Builder("m", note="a\ud800")


MAKERS = {
    "mechanism": lambda name: es.Builder(name),
    "body": lambda name: es.Builder("m").body(name),
    "joint": lambda name: es.Builder("m").joint(name, "revolute", "ground", "a"),
    "loop": lambda name: es.Builder("m").loop(name, "revolute", "a", "b"),
    "coupling": lambda name: es.Builder("m").couple(name, "a", "b"),
    "spring": lambda name: es.Builder("m").spring(name, "a", "b"),
    "wrench": lambda name: es.Builder("m").wrench(name, "a"),
    "frame": lambda name: es.Builder("m").frame(name, "a"),
    "mode": lambda name: es.Builder("m").mode(name, {}),
    "parameter": lambda name: es.Builder("m").parameter(name, 1.0),
    "new mode": lambda name: es.load("five_bar").with_mode(name, es.load("five_bar").home()),
}


@each("what", MAKERS)
@each(
    "name",
    [
        "a\nb",
        "a\0",
        "\tb",
        "a\x1b[31m",
        "a\r",
        "\x7f",
        "\x85",
        "\u2028",
        "\ud800",
        "",
        " ",
        "\n",
        5,
        None,
        ["a"],
        b"a",
        True,
    ],
)
def test_a_name_that_breaks_files_is_refused(what, name):
    with pytest.raises(es.ModelError, match="name") as error:
        MAKERS[what](name)
    assert str(error.value).isprintable()
    assert str(error.value).endswith(".")
