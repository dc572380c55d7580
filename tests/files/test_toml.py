"""TOML: a person writes a four-bar in thirty lines; every mechanism reads back as it was; mistakes get sentences."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import eslabon as es
from eslabon.files.toml_format import read_toml, to_toml
from eslabon.model import KINDS, Model
from random_mechanisms import random_closed, random_tree
from randomness import examples

FOUR_BAR = """
name = "four_bar"
gravity = [0, -9.81, 0]
actuated = ["q1"]

[parameters]
L1 = 1
L2 = 3
L3 = 1.75

[bodies]
crank   = { mass = 1.0, com = ["L1/2", 0, 0], inertia = [0, 1, 1] }
coupler = { mass = 2.0, com = ["L2/2", 0, 0], inertia = [0, 2, 2] }
rocker  = { mass = 1.5, com = ["L3/2", 0, 0], inertia = [0, 1.5, 1.5] }

[joints]
q1 = { kind = "revolute", parent = "ground", child = "crank", home_deg = 45 }
q2 = { kind = "revolute", parent = "crank", child = "coupler", at = ["L1", 0, 0] }
q3 = { kind = "revolute", parent = "ground", child = "rocker", at = [3, 0, 0], home_deg = 72 }

[loops.close]
kind = "revolute"
first = { body = "coupler", at = ["L2", 0, 0] }
second = { body = "rocker", at = ["L3", 0, 0] }

[frames]
tip = { body = "coupler", at = ["L2", 0, 0], rpy_deg = [0, 0, 90] }
"""


def mechanism(text):
    return Model(read_toml(text))


def test_a_four_bar_in_thirty_lines():
    assert len(FOUR_BAR.strip().splitlines()) <= 30
    m = mechanism(FOUR_BAR)
    assert repr(m) == "<Mechanism four_bar: 3 bodies, 3 joints, 1 loop, 1 actuator>"
    assert m.bodies[1].com == (1.5, 0.0, 0.0)
    assert m.home()[0] == pytest.approx(np.pi / 4)
    assert np.array_equal(m.frame("tip").at.rotation(), [[0, -1, 0], [1, 0, 0], [0, 0, 1]])


def test_every_item_and_option_round_trips(tmp_path):
    b = es.Builder("all", gravity=("g", 0, -9.81), note='with "quotes"\nand lines \\ and é')
    b.parameter("g", 0.1)
    b.parameter("L", "g*2 + sqrt(3)")
    for k, kind in enumerate(KINDS):
        b.body(f"body{k}", mass="L", com=("L/2", 0, 0), inertia=(1, 1, 1, 0.1, 0, 0))
        axis = {"universal": ((1, 2, 3), "x")}.get(
            kind,
            None
            if kind in ("spherical", "free", "fixed")
            else ("L", 0, 1)
            if kind != "planar"
            else "y",
        )
        b.joint(
            f"joint {k}.é",
            kind,
            "ground" if k == 0 else f"body{k - 1}",
            f"body{k}",
            at=((1, "L", 3), (0.1, "g", 0)),
            axis=axis,
            pitch="g" if kind == "helical" else None,
        )
    b.body("last", 1.0)
    b.joint("data", "universal", "body0", "last", limits=((-1, 1), (float("-inf"), "L")), velocity_limit=3, effort_limit=(4, 5),
            viscous="g", coulomb=0.2, stiffness=(1, 2), rest=0.1, motor_inertia=1e-4, gear_ratio=(-3, 100), home=(0.1, 0.2))  # fmt: skip
    b.loop(
        "cut",
        "helical",
        "last",
        "ground",
        first=((1, 0, 0), (0, 0, "g")),
        axis=(1, 1, 0),
        pitch=0.1,
    )
    b.couple("gear", "joint 0.é", "joint 1.é", ratio="-1/g", offset=0.2)
    b.spring("s", "last", "ground", first=(1, "L", 0), stiffness=1, damping=2, length="L")
    b.wrench("load", "last", force=(0, 0, "L"), at=(1, 0, 0), axes="body").wrench("given", "last")
    b.frame("tip", "last", at=((0, 0, "L"), (1, 2, 3))).actuate("data", "joint 0.é")
    m = b.build()
    path = m.save(tmp_path / "all.toml")
    back = es.load(path)
    assert back == m
    assert back.note == m.note
    assert back.save(tmp_path / "again.toml").read_text() == path.read_text()


@examples(60)
@given(st.integers(0, 2**32 - 1))
def test_random_trees_round_trip(seed):
    m = random_tree(np.random.default_rng(seed))
    assert mechanism(to_toml(m.description)) == m


@examples(30)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from([k for k in KINDS if k != "free"]), min_size=1, max_size=3),
)
def test_random_closed_mechanisms_round_trip(seed, cuts):
    m, _ = random_closed(
        np.random.default_rng(seed), ["revolute", "spherical", "prismatic", "universal"], cuts
    )
    assert mechanism(to_toml(m.description)) == m


def test_degrees_and_radians_are_the_same_angle():
    degrees = FOUR_BAR.replace("rpy_deg = [0, 0, 90]", 'rpy = [0, 0, "90*deg"]').replace(
        "home_deg = 45", 'home = "pi/4"'
    )
    assert mechanism(degrees).description == mechanism(FOUR_BAR).description


def test_a_dh_table_in_toml_is_from_dh():
    text = """
    name = "arm"
    [parameters]
    a1 = 0.4
    [dh]
    convention = "modified"
    base = { at = [0, 0, 1] }
    tool = { at = [0, 0, 0.1], rpy_deg = [0, 90, 0] }
    [[dh.links]]
    alpha_deg = 90
    mass = 2
    com = [0, 0, 0.1]
    limits_deg = [-90, 90]
    [[dh.links]]
    a = "a1"
    kind = "P"
    d = 0.3
    """
    rows = [
        {"alpha_deg": 90, "mass": 2, "com": (0, 0, 0.1), "limits": (-np.pi / 2, np.pi / 2)},
        {"a": "a1", "kind": "prismatic", "d": 0.3},
    ]
    arm = es.from_dh(
        rows,
        "modified",
        name="arm",
        parameters={"a1": 0.4},
        base=(0, 0, 1),
        tool=((0, 0, 0.1), (0, np.pi / 2, 0)),
    )
    assert Model(read_toml(text)).description == arm.description


MISTAKES = {
    "syntax": ('name = "x', "not valid TOML"),
    "no name": ("gravity = [0, 0, 1]", "needs a name"),
    "top key": ('name = "x"\nbody = {}', "the file has the unknown key 'body'; did you mean 'bodies'?"),
    "item key": (FOUR_BAR.replace("mass = 1.0", "mas = 1.0"), "bodies.crank has the unknown key 'mas'; did you mean 'mass'?"),
    "far key": (FOUR_BAR.replace("mass = 1.0", "weight = 1.0"), "bodies.crank has the unknown key 'weight' .known: mass, com, inertia."),
    "missing key": (FOUR_BAR.replace('kind = "revolute", parent = "ground", child = "crank",', 'parent = "ground", child = "crank",'), "joints.q1 needs the key 'kind'"),
    "loop without body": (FOUR_BAR.replace('{ body = "coupler", at = ["L2", 0, 0] }\n', "{ at = [1, 0, 0] }\n"), "loops.close.first needs the key 'body'"),
    "both units": (FOUR_BAR.replace("home_deg = 45", "home_deg = 45, home = 1"), "gives both home and home_deg"),
    "degrees of a length": (FOUR_BAR.replace('kind = "revolute", parent = "ground", child = "crank"', 'kind = "prismatic", parent = "ground", child = "crank"'), "home_deg is in degrees, and a prismatic"),
    "no table": ('name = "x"\nbodies = 3', "bodies must be a table"),
    "list of tables": (
        'name = "x"\n[[bodies]]\nname = "a"',
        r"bodies must be a table.*Write \[bodies.NAME\] for each",
    ),
    "item no table": ('name = "x"\nbodies = {a = 3}', "bodies.a must be a table"),
    "actuated": (FOUR_BAR.replace('["q1"]', '"q1"'), "actuated is a list"),
    "note": ("name = 'x'\nnote = 3", "the note is a text"),
    "date": (FOUR_BAR.replace("mass = 1.0", "mass = 2020-01-01"), "mass must be a number"),
    "duplicate": (FOUR_BAR + "\n[bodies]\n", "not valid TOML"),
    "deep": ("name = 'x'\ngravity = " + "[" * 5000, "TOML|nested"),
    "frame pose": (FOUR_BAR.replace("rpy_deg = [0, 0, 90]", "rpy_deg = [0, 0]"), "rpy needs 3 numbers"),
    "pose and rpy": (FOUR_BAR.replace('at = ["L2", 0, 0], rpy_deg = [0, 0, 90]', "at = [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]], rpy = [0,0,0]"), "rpy stands beside a whole pose; keep one"),
    "dh links": ("name = 'x'\ndh = {links = 3}", "dh.links is a list"),
    "dh key": ("name = 'x'\n[[dh.links]]\nalfa = 3", "has the unknown key 'alfa'; did you mean 'alpha'?"),
    "dh convention": ("name = 'x'\n[dh]\nconvention = 'other'\nlinks = [{}]", "'standard' or 'modified'"),
    "dh empty": ("name = 'x'\n[dh]\nlinks = []", "no rows"),
    "model": (FOUR_BAR.replace("mass = 2.0", "mass = -2.0"), "body 'coupler': the mass is -2"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_name_the_file_the_item_and_the_cure(case, tmp_path):
    text, sentence = MISTAKES[case]
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(es.EslabonError, match=sentence) as error:
        es.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert str(error.value).endswith((".", "?"))
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    for source, sentence in (
        (tmp_path / "none.toml", "no such file"),
        (tmp_path / "arm.stl", "'.stl' cannot be read"),
        (tmp_path, "cannot be read"),
        ("four_barr", "no mechanism 'four_barr'|did you mean"),
        ("zzzz", "`eslabon list`"),
    ):
        with pytest.raises(es.ReadError, match=sentence):
            es.load(source)
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(es.ReadError, match=r"latin.toml: the file cannot be read"):
        es.load(tmp_path / "latin.toml")
    (tmp_path / "ok.toml").write_text(FOUR_BAR)
    with pytest.raises(es.ReadError, match="takes no options"):
        es.load(tmp_path / "ok.toml", loops="x.yaml")
    with pytest.raises(es.EslabonError, match=r"end in .toml"):
        es.load(tmp_path / "ok.toml").save(tmp_path / "x.json")


lines = FOUR_BAR.strip().splitlines()


@examples(300)
@given(st.data())
def test_a_damaged_file_gives_a_mechanism_or_a_sentence(data):
    damaged = list(lines)
    for _ in range(data.draw(st.integers(1, 3))):
        k = data.draw(st.integers(0, len(damaged) - 1))
        line = damaged[k]
        cut = data.draw(st.integers(0, len(line)))
        piece = data.draw(
            st.sampled_from(
                [
                    "",
                    "nan",
                    "[",
                    "}",
                    '"',
                    "-",
                    "1e400",
                    "true",
                    "9" * 400,
                    "ground",
                    "\x00",
                    "=",
                    "inf",
                    "[[]]",
                ]
            )
        )
        damaged[k] = line[:cut] + piece + line[data.draw(st.integers(cut, len(line))) :]
    try:
        Model(read_toml("\n".join(damaged)))
    except es.EslabonError as error:
        assert str(error).endswith((".", "?"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=4), x, max_size=3), max_leaves=6), st.sampled_from(["bodies", "joints", "loops", "parameters", "gravity", "dh", "actuated", "frames", "springs", "wrenches", "couplings"]))  # fmt: skip
def test_any_value_anywhere_gives_a_mechanism_or_a_sentence(value, section):
    import tomlkit

    try:
        text = tomlkit.dumps({"name": "x", section: value})
    except Exception:  # not a TOML value, so no file can hold it
        reject()
    try:
        Model(read_toml(text))
    except es.EslabonError as error:
        assert str(error)
