"""Whatever stands where in a file, reading it ends in a mechanism or in a sentence, never in an error of Python's own."""

import json
import sys
import warnings
from copy import deepcopy
from datetime import date, datetime, time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eslabon as es
from eslabon.files.toml_format import read_toml, to_toml
from randomness import examples

HUGE = 16**5000  # too long for Python to print

NONSENSE = {
    "true": True, "false": False, "zero": 0, "minus": -1, "huge": HUGE, "nan": float("nan"), "inf": float("inf"),
    "large": 1e308, "date": date(2020, 1, 1), "moment": datetime(2020, 1, 1, 2, 3), "time": time(1, 2), "empty text": "",
    "text": "no such thing", "name": "a", "line break": "a\nb", "nul": "a\0b", "expression": "1/0", "circle": "L",
    "long sum": "+".join(["L"] * 400), "nested sum": "(" * 60 + "L" + ")" * 60, "no list": [], "list": [1, 2, 3],
    "list of text": ["x", "y", "z"], "nested list": [[1, 2], [3, 4]], "matrix": [[1, 0, 0, 0]] * 4, "mixed": [1, "x", True],
    "list of lists": [[[1]], [[2]], [[3]]], "huge list": [HUGE] * 3, "empty table": {}, "table": {"a": 1},
    "table of tables": {"a": {"b": {"c": [1]}}}, "six": [1, 2, 3, 4, 5, 6], "list of tables": [{"a": 1}], "infs": [float("inf")] * 3,
}  # fmt: skip


def literal(value):
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, int):
        return hex(value) if value > 10**6 else str(value)
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return json.dumps(value) if isinstance(value, str) else repr(value)


def toml(table):
    return "\n".join(f"{json.dumps(key)} = {literal(value)}" for key, value in table.items())


FULL = {
    "name": "full", "note": "a note", "gravity": [0, 0, -9.81], "actuated": ["j1"],
    "parameters": {"L": 1.0, "M": "2*L"},
    "bodies": {"a": {"mass": "M", "com": ["L", 0, 0], "inertia": [1, 1, 1]}, "b": {"mass": 1.0}},
    "joints": {
        "j1": {
            "kind": "revolute", "parent": "ground", "child": "a", "at": [0, 0, 1], "rpy_deg": [0, 0, 90], "axis": "z",
            "home": 0.1, "limits": [-1, 1], "velocity_limit": 1, "effort_limit": 2, "viscous": 0.1, "coulomb": 0.2,
            "stiffness": 1, "rest": 0, "motor_inertia": 1e-3, "gear_ratio": 50,
        },
        "j2": {"kind": "helical", "parent": "a", "child": "b", "pitch": 0.1, "home_deg": 10},
    },
    "loops": {"l": {"kind": "universal", "axis": ["z", "y"], "first": {"body": "b", "at": [0, 0, 1]}, "second": {"body": "ground"}}},
    "couplings": {"c": {"joint": "j2", "source": "j1", "ratio": 2, "offset": 0.1}},
    "springs": {"s": {"first": {"body": "a", "at": [1, 0, 0]}, "second": {"body": "ground"}, "stiffness": 1, "damping": 1, "length": 1}},
    "wrenches": {"w": {"body": "b", "force": [1, 0, 0], "moment": [0, 0, 1], "at": [0, 0, 0], "axes": "body"}},
    "frames": {"tip": {"body": "b", "at": [0, 0, 1], "rpy": [0, 0, 1]}},
    "modes": {"up": {"j1": 0.2, "j2": [0.3]}},
}  # fmt: skip
TABLE = {
    "name": "arm",
    "dh": {
        "convention": "modified", "base": {"at": [0, 0, 1], "rpy_deg": [0, 0, 9]}, "tool": {"at": [0, 0, 1]},
        "links": [{"theta_deg": 1, "d": 1, "a": 1, "alpha": 1, "kind": "R", "name": "l", "joint": "j", "mass": 1, "com": [0, 0, 0], "inertia": [1, 1, 1], "home_deg": 3}],
    },
}  # fmt: skip


def places(table, way=()):
    """Every place in nested tables and lists."""
    for key in table if isinstance(table, dict) else range(len(table)):
        yield (*way, key)
        if isinstance(table[key], dict | list):
            yield from places(table[key], (*way, key))


def changed(table, way, change):
    """A copy with something done to one place."""
    copy = json.loads(json.dumps(table))
    inner = copy
    for key in way[:-1]:
        inner = inner[key]
    change(inner, way[-1])
    return copy


def set_to(value):
    return lambda inner, key: inner.__setitem__(key, value)


def rename(name):
    return lambda inner, key: (
        inner.__setitem__(name, inner.pop(key)) if isinstance(inner, dict) else None
    )


def reads(load):
    """Whether it loads; if not, it was refused in a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.ModelWarning)
        try:
            return load()
        except es.EslabonError as error:
            sentence = str(error)
    assert sentence.rstrip().endswith((".", "?")), sentence
    assert len(sentence) < 20_000
    return None


def read(text):
    m = reads(lambda: es.Mechanism(read_toml(text)))
    if m is not None:
        assert read_toml(to_toml(m.description)) == m.description
        assert m.home().dtype == float


def test_the_starting_points_are_sound():
    for table in (FULL, TABLE):
        es.Mechanism(read_toml(toml(table)))


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_anything_anywhere_in_toml(nonsense):
    for table in (FULL, TABLE):
        for way in places(table):
            read(toml(changed(table, way, set_to(NONSENSE[nonsense]))))


@pytest.mark.parametrize(
    "change",
    [lambda inner, key: inner.pop(key), rename(""), rename("ground"), rename("a\nb"), rename("j1")],
)
def test_any_key_missing_or_renamed_in_toml(change):
    for table in (FULL, TABLE):
        for way in places(table):
            read(toml(changed(table, way, change)))


TEXTS = [
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "9" * 5000,
    "1 2",
    "1 2 3 4",
    "x y z",
    "ground",
    "world",
    "a",
    "&#10;",
    "fixed",
    "1_000",
    "0x10",
    "j1",
]
ROBOT = """<robot name="r"><link name="a"><inertial><origin xyz="0 0 1" rpy="0 0 1"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"/><link name="c"/><link name="d"/>
<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1" quat_xyzw="0 0 0 1"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1" friction="1"/></joint>
<joint name="j2" type="screw"><parent link="b"/><child link="c"/><screw_thread_pitch value="0.1"/><mimic joint="j1" multiplier="2" offset="1"/></joint>
<joint name="j3" type="universal"><parent link="b"/><child link="d"/><axis xyz="1 0 0"/><axis2 xyz="0 1 0"/></joint></robot>"""


def load_urdf(folder, text, **options):
    path = Path(folder) / "robot.urdf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return reads(lambda: es.load(path, **options))


@pytest.mark.parametrize("text", TEXTS)
def test_anything_in_any_attribute_of_a_urdf(text, tmp_path):
    count = sum(len(e.attrib) for e in ElementTree.fromstring(ROBOT).iter())
    for k in range(count):
        robot = ElementTree.fromstring(ROBOT)
        element, key = [(e, key) for e in robot.iter() for key in e.attrib][k]
        element.set(key, text)
        load_urdf(tmp_path, ElementTree.tostring(robot).replace(b"&amp;#10;", b"&#10;"))


def test_any_element_of_a_urdf_missing_twice_or_elsewhere(tmp_path):
    assert load_urdf(tmp_path, ROBOT) is not None
    changes = (
        lambda parent, child: parent.remove(child),
        lambda parent, child: parent.append(child),
        lambda parent, child: child.append(deepcopy(parent)),
        lambda parent, child: child.clear(),
    )
    for k in range(len(list(ElementTree.fromstring(ROBOT).iter())) - 1):
        for change in changes:
            robot = ElementTree.fromstring(ROBOT)
            change(*[(parent, child) for parent in robot.iter() for child in parent][k])
            load_urdf(tmp_path, ElementTree.tostring(robot))


LOOPS = {
    "closed_loop": [["c", "d"]], "type": ["6d"], "name_mot": ["j1"], "joint_name": ["j3"], "joint_type": ["SPHERICAL"],
}  # fmt: skip
OLDER = {
    "name_closedloop": "x",
    "closed_loop_number": 1,
    "rotule_name": "j",
    "Lidmot": [1],
    "name_mot": "j",
    "type": "6d",
}
IN_CODE = {
    "closed_loop": [{"frames": ["c", "d"], "kind": "revolute", "axis": [0, 0, 1], "name": "cut"}]
}


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_anything_anywhere_in_loops(nonsense, tmp_path):
    """As YAML beside the robot, and as a mapping in code."""
    for table in (LOOPS, OLDER, IN_CODE):
        for way in places(table):
            wrong = changed(table, way, set_to(NONSENSE[nonsense]))
            load_urdf(tmp_path, ROBOT, loops=wrong)
            if nonsense not in ("huge", "huge list"):  # no text in YAML either
                (tmp_path / "robot.yaml").write_text(json.dumps(wrong, default=str))
                load_urdf(tmp_path, ROBOT)


@pytest.mark.parametrize(
    "text",
    ["", "&a [*a]", "closed_loop: &a [*a, *a]", "closed_loop: &a {frames: *a}", "? [1]\n: 2", "a: b: c", "\ufeffclosed_loop: []",
     "closed_loop: " + "[" * 3000, "!!python/object:os.system x", "closed_loop: *nobody", "%YAML 9.9\n---\n[]", "\0", "- 1\n- 2"],
)  # fmt: skip
def test_any_yaml(text, tmp_path):
    (tmp_path / "robot.yaml").write_text(text)
    load_urdf(tmp_path, ROBOT)
    (tmp_path / "robot.yaml").write_bytes(b"\xff\xfe\x00" + text.encode())
    load_urdf(tmp_path, ROBOT)


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".yaml"])
@settings(examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes(suffix, tmp_path, data):
    """Random bytes, and sound files cut off, spliced and in other encodings."""
    sound = {".toml": toml(FULL), ".urdf": ROBOT, ".yaml": json.dumps(LOOPS)}[suffix]
    code = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    whole = sound.encode(code)
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    content = whole[:start] + data.draw(st.binary(max_size=20)) + whole[stop:]
    path = tmp_path / f"robot{suffix}"
    path.write_bytes(content)
    if suffix == ".yaml":
        load_urdf(tmp_path, ROBOT)
    else:
        reads(lambda: es.load(path))


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    (tmp_path / "m.toml").write_text(toml(FULL), encoding="utf-8-sig")
    (tmp_path / "m.urdf").write_text(ROBOT, encoding="utf-8-sig")
    assert es.load(tmp_path / "m.toml").name == "full"
    assert es.load(tmp_path / "m.urdf").name == "r"


@pytest.mark.parametrize(
    "source",
    ["a\0b.toml", "a\0b.urdf", "a\0b", "\ud800.toml", "x" * 5000 + ".toml", b"five_bar", 5, None, ["five_bar"], ".", "..", "/", "",
     "no/such.toml", Path("folder.toml"), Path("folder.urdf"), Path(), float("nan")],
)  # fmt: skip
def test_anything_as_a_path(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("folder.toml", "folder.urdf"):
        (tmp_path / folder).mkdir()
    (tmp_path / "robot.urdf").write_text(ROBOT)
    assert reads(lambda: es.load(source)) is None
    if isinstance(source, str | Path):
        assert reads(lambda: es.load(tmp_path / "robot.urdf", loops=source)) is None


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_anything_in_a_table_in_code(nonsense):
    value = NONSENSE[nonsense]
    row = {
        "a": 1.0,
        "mass": 1.0,
        "com": (0, 0, 0),
        "inertia": (1, 1, 1),
        "kind": "R",
        "name": "l",
        "limits": (-1, 1),
    }
    for key in row:
        reads(lambda: es.from_dh([{**row, key: value}]))  # noqa: B023
    for key in ("convention", "name", "gravity", "parameters", "base", "tool", "note"):
        reads(lambda: es.from_dh([row], **{key: value}))  # noqa: B023
    reads(lambda: es.from_dh(value))
    reads(lambda: es.from_dh([value]))


def calls(action):
    """How many calls an action takes: what it costs, whatever the machine does besides."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def parameters_defined_by_the_next(n):
    return {**{f"p{k}": f"p{k + 1} + 1" for k in range(n)}, f"p{n}": 1.0}


def long_toml(n):
    bodies = {f"b{k}": {"mass": "p0", "com": [0.1, 0, 0]} for k in range(n)}
    joints = {
        f"j{k}": {"kind": "revolute", "parent": f"b{k - 1}" if k else "ground", "child": f"b{k}"}
        for k in range(n)
    }
    return toml(
        {
            "name": "long",
            "parameters": parameters_defined_by_the_next(n),
            "bodies": bodies,
            "joints": joints,
        }
    )


def long_urdf(n):
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/></inertial></link>' for k in range(n + 1)
    )
    joint = '<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/><limit lower="-1" upper="1"/></joint>'
    return f"<robot>{links}{''.join(joint.format(k, k + 1) for k in range(n))}</robot>"


@pytest.mark.parametrize(("write", "suffix"), [(long_toml, ".toml"), (long_urdf, ".urdf")])
def test_the_cost_of_reading_grows_with_the_file(write, suffix, tmp_path):
    """Four times the bodies, joints and parameters take four times the work."""

    def cost(n):
        path = tmp_path / f"long{suffix}"
        path.write_text(write(n))
        return calls(lambda: es.load(path))

    cost(10)  # what is imported or kept once
    small, large = cost(100), cost(400)
    assert large < 4.2 * small


def test_a_long_chain_of_parameters_has_its_value(tmp_path):
    (tmp_path / "long.toml").write_text(long_toml(3000))
    assert es.load(tmp_path / "long.toml").bodies[0].mass == 3001
