"""Every mistake a person can make in a model ends in a sentence that names the item and the cure."""

from collections.abc import Callable

import casadi
import numpy as np
import pytest

import eslabon as es
from batches import each
from eslabon.files import read_toml

nan = float("nan")


def base():
    """A sound start: two bodies on two joints."""
    b = es.Builder("arm").body("a", 1.0).body("b", 1.0)
    return b.joint("j1", "revolute", "ground", "a").joint("j2", "revolute", "a", "b")


STRUCTURE = {
    "no joints": (lambda: es.Builder("x").body("a"), "no joints"),
    "duplicate body": (lambda: base().body("a"), "'a' is used for 2 items"),
    "duplicate joint": (lambda: base().body("c").joint("j1", "revolute", "b", "c"), "'j1' is used for 2 items"),
    "loop named as a joint": (lambda: base().loop("j1", "revolute", "b", "ground"), "'j1' is used for 2 items"),
    "frame named as a body": (lambda: base().frame("a", "b"), "'a' is used for 2 items"),
    "body called ground": (lambda: base().body("ground"), "fixed frame's own"),
    "no parent": (lambda: base().body("c").joint("j", "revolute", "bb", "c"), "body 'bb', and there is none; did you mean 'b'?"),
    "no child": (lambda: base().joint("j", "revolute", "b", "zzz"), "body 'zzz', and there is none; add it"),
    "two parents": (lambda: base().joint("j3", "revolute", "ground", "b"), "'b' has two parents, through the joints 'j2' and 'j3'; keep one"),
    "detached": (lambda: base().body("c"), "'c' hangs on nothing; add a joint"),
    "circle": (lambda: base().body("c").body("d").joint("j3", "revolute", "c", "d").joint("j4", "revolute", "d", "c"), "in a circle"),
    "itself": (lambda: base().body("c").joint("j3", "revolute", "c", "c"), "in a circle"),
    "ground as child": (lambda: base().joint("j3", "revolute", "b", "ground"), "ground as its child"),
    "loop to nothing": (lambda: base().loop("l", "revolute", "b", "grond"), "loop 'l' refers to the body 'grond'.*'ground'"),
    "loop to itself": (lambda: base().loop("l", "revolute", "b", "b"), "joins the body 'b' to itself"),
    "spring to nothing": (lambda: base().spring("s", "b", "nowhere"), "spring 's' refers to the body 'nowhere'"),
    "frame on nothing": (lambda: base().frame("f", "zz"), "frame 'f' refers to the body 'zz'"),
    "wrench on nothing": (lambda: base().wrench("w", "zz"), "wrench 'w' refers to the body 'zz'"),
    "actuate nothing": (lambda: base().actuate("j11"), "joint 'j11', and there is none; did you mean 'j1'?"),
    "actuate a loop": (lambda: base().loop("cut", "revolute", "b", "ground").actuate("cut"), "it is a loop"),
    "actuate twice": (lambda: base().actuate("j1", "j1"), "actuated 2 times"),
    "actuate fixed": (lambda: base().body("c").joint("w", "fixed", "b", "c").actuate("w"), "fixed and cannot be actuated"),
    "couple nothing": (lambda: base().couple("c", "j1", "j9"), "coupling 'c' names the joint 'j9'"),
    "couple itself": (lambda: base().couple("c", "j1", "j1"), "to itself"),
    "couple many degrees of freedom": (lambda: base().body("c").joint("s", "spherical", "b", "c").couple("c1", "s", "j1"), "one degree of freedom"),
    "unknown parameter": (lambda: base().frame("f", "b", at=("L1", 0, 0)), "'f' uses the parameter 'L1'.*add it to the parameters"),
    "circular parameters": (lambda: _circle(), "parameter 'x' is defined by itself .x -> y -> x."),
}  # fmt: skip


def _circle():
    b = base()
    b.parameter("x", "y+1")
    b.parameter("y", "x-1")
    return b


@each("case", STRUCTURE)
def test_structure(case):
    make, sentence = STRUCTURE[case]
    with pytest.raises(es.ModelError, match=sentence) as error:
        make().build()
    assert str(error.value).endswith((".", "?"))


ITEMS = {
    "unknown kind": (lambda: base().joint("j", "revolut", "b", "c"), "joint 'j': there is no joint kind 'revolut'; did you mean 'revolute'?"),
    "no name": (lambda: base().body(""), "has no name"),
    "no mechanism name": (lambda: es.Builder(""), "a mechanism has no name"),
    "parameter twice": (lambda: _twice(), "given twice"),
    "parameter name": (lambda: es.Builder("x").parameter("2L", 1), "letters, digits"),
    "parameter reserved": (lambda: es.Builder("x").parameter("sin", 1), "built-in"),
    "NaN mass": (lambda: base().body("c", nan), "body 'c': mass is nan"),
    "text mass": (lambda: base().body("c", "one kilo"), "body 'c': mass cannot be read"),
    "list mass": (lambda: base().body("c", [1]), "body 'c': mass must be a number"),
    "true mass": (lambda: base().body("c", True), "body 'c': mass must be a number"),
    "short com": (lambda: base().body("c", 1, (0, 0)), "body 'c': com needs 3 numbers and has 2"),
    "com a number": (lambda: base().body("c", 1, 0.3), "body 'c': com needs 3 numbers"),
    "inertia of four": (lambda: base().body("c", 1, inertia=(1, 2, 3, 4)), "3 numbers, 6 numbers or a 3x3 matrix; it has 4"),
    "inertia a number": (lambda: base().body("c", 1, inertia=2), "3 numbers, 6 numbers or a 3x3"),
    "asymmetric": (lambda: base().body("c", 1, inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric: entry .1,2. is 2"),
    "asymmetric text": (lambda: base().body("c", 1, inertia=[[1, "p", 0], ["q", 1, 0], [0, 0, 1]]), "not symmetric"),
    "axis letter": (lambda: base().joint("j", "revolute", "b", "c", axis="w"), "the axis 'w' is not known"),
    "axis of two": (lambda: base().joint("j", "revolute", "b", "c", axis=(1, 0)), "axis needs 3 numbers"),
    "one universal axis": (lambda: base().joint("j", "universal", "b", "c", axis="z"), "two axes"),
    "axis of a ball": (lambda: base().joint("j", "spherical", "b", "c", axis="z"), "has no axis"),
    "no pitch": (lambda: base().joint("j", "helical", "b", "c"), "needs its pitch"),
    "pitch of a hinge": (lambda: base().joint("j", "revolute", "b", "c", pitch=1), "has no pitch"),
    "planar parameter axis": (lambda: base().joint("j", "planar", "b", "c", axis=("n", 0, 1)), "plain numbers"),
    "pose of two": (lambda: base().frame("f", "b", at=(1, 2)), "a pose is xyz"),
    "pose a number": (lambda: base().frame("f", "b", at=3), "a pose is xyz"),
    "no rotation": (lambda: base().frame("f", "b", at=np.diag([1, 1, 2, 1])), "not a rotation"),
    "mirror": (lambda: base().frame("f", "b", at=np.diag([1, 1, -1, 1])), "not a rotation"),
    "last row": (lambda: base().frame("f", "b", at=np.eye(4) + np.eye(4, k=-3)), "does not end in the row"),
    "NaN pose": (lambda: base().frame("f", "b", at=np.full((4, 4), nan)), "misses by nan"),
    "parameter pose": (lambda: base().frame("f", "b", at=[["a", 0, 0, 0]] + [[0, 0, 0, 1]] * 3), "use parameters"),
    "limits of a ball": (lambda: base().joint("j", "spherical", "b", "c", limits=(0, 1)), "angles or lengths"),
    "three limits": (lambda: base().joint("j", "revolute", "b", "c", limits=(0, 1, 2)), "pair"),
    "spring of a ball": (lambda: base().joint("j", "spherical", "b", "c", stiffness=1), "angles or lengths"),
    "friction of a weld": (lambda: base().joint("j", "fixed", "b", "c", viscous=1), "fixed"),
    "home of a ball": (lambda: base().joint("j", "spherical", "b", "c", home=1), "home needs 4 numbers"),
    "free loop": (lambda: base().loop("l", "free", "b", "ground"), "closes nothing"),
    "wrench axes": (lambda: base().wrench("w", "b", axes="tool"), "'ground' or 'body'"),
}  # fmt: skip


def _twice():
    b = base()
    b.parameter("L", 1)
    b.parameter("L", 2)


@each("case", ITEMS)
def test_items(case):
    make, sentence = ITEMS[case]
    with pytest.raises(es.ModelError, match=sentence) as error:
        make()
    assert str(error.value).endswith((".", "?"))


VALUES = {
    "negative mass": (lambda: base().body("c", -1).joint("j", "revolute", "b", "c"), "body 'c': the mass is -1"),
    "negative moment": (lambda: base().body("c", 1, inertia=(-1, 1, 1)).joint("j", "revolute", "b", "c"), "body 'c': the inertia has the negative principal value -1"),
    "indefinite inertia": (lambda: base().body("c", 1, inertia=(1, 1, 1, 2, 0, 0)).joint("j", "revolute", "b", "c"), "negative principal value"),
    "zero axis": (lambda: base().body("c").joint("j", "revolute", "b", "c", axis=(0, 0, 0)), "joint 'j': the axis is zero"),
    "zero loop axis": (lambda: base().loop("l", "revolute", "b", "ground", axis=(0, 0, 0)), "loop 'l': the axis is zero"),
    "parallel axes": (lambda: base().body("c").joint("j", "universal", "b", "c", axis=("z", "-z")), "parallel"),
    "zero pitch": (lambda: base().body("c").joint("j", "helical", "b", "c", pitch=0), "other than zero"),
    "limits exchanged": (lambda: base().body("c").joint("j", "revolute", "b", "c", limits=(1, -1)), "exchange them"),
    "negative friction": (lambda: base().body("c").joint("j", "revolute", "b", "c", viscous=-1), "viscous is -1"),
    "zero gear": (lambda: base().body("c").joint("j", "revolute", "b", "c", gear_ratio=0), "gear ratio is zero"),
    "negative stiffness": (lambda: base().spring("s", "b", "ground", stiffness=-3), "stiffness is -3"),
    "zero ratio": (lambda: base().couple("c", "j1", "j2", ratio=0), "ratio is zero"),
    "long quaternion": (lambda: base().body("c").joint("j", "spherical", "b", "c", home=(1, 1, 0, 0)), "quaternion has the length 1.41"),
}  # fmt: skip


@each("case", VALUES)
def test_values(case):
    make, sentence = VALUES[case]
    with pytest.raises(es.ModelError, match=sentence) as error:
        make().build()
    assert str(error.value).endswith((".", "?"))


def test_moments_no_solid_body_has_are_a_warning():
    b = es.Builder("thin").body("a", 1, inertia=(0, 0.35, 0)).joint("j", "revolute", "ground", "a")
    with pytest.warns(es.ModelWarning, match="thin: body 'a' has the principal moments 0, 0, 0.35"):
        m = b.build()
    assert len(m.plausibility_warnings) == 1


@each("inertia", [(0, 1, 1), (0, 0, 0), (1, 2, 3), (1e-9, 1, 1 + 1e-9)])
def test_rods_plates_and_massless_bodies_are_fine(inertia):
    assert (
        es.Builder("fine")
        .body("a", 1, inertia=inertia)
        .joint("j", "revolute", "ground", "a")
        .build()
        .plausibility_warnings
        == ()
    )


def test_a_home_outside_the_limits_is_a_warning():
    b = es.Builder("out").body("a").joint("j", "revolute", "ground", "a", limits=(-1, 1), home=2)
    with pytest.warns(es.ModelWarning, match="starts at 2, outside"):
        b.build()


def test_names_that_are_not_there_suggest_near_ones():
    m = base().frame("tip", "b").build()
    for call, sentence in (
        (lambda: m.frame("tipp"), "no frame or body 'tipp'; did you mean 'tip'?"),
        (lambda: m.body("c"), r"no body 'c' \(known: a, b\)"),
        (lambda: m.joint("joint"), r"no joint 'joint' \(known: j1, j2\)"),
        (lambda: m.loop("x"), r"no loop 'x' \(known: none\)"),
    ):
        with pytest.raises(es.ModelError, match=sentence):
            call()


NO_ROOM = [(np.inf, np.inf), (-np.inf, -np.inf), (np.inf, -np.inf), (np.inf, 1.0), (1.0, -np.inf)]
NO_NUMBER = [(np.nan, 1.0), (0.0, np.nan), (np.nan, np.nan)]
ENTRIES = {
    "Builder.joint": lambda limits: (
        es.Builder("arm").body("rod").joint("q", "revolute", "ground", "rod", limits=limits)
    ),
    "Builder.add": lambda limits: es.Builder("arm").add(
        "joints", "q", kind="revolute", parent="ground", child="rod", limits=limits
    ),
    "with_joint": lambda limits: base().build().with_joint("j1", limits=limits),
    "from_dh": lambda limits: es.from_dh([{"a": 1.0, "limits": limits}]),
    "TOML": lambda limits: es.Mechanism(
        read_toml(
            'name = "arm"\n[bodies.rod]\n[joints.q]\nkind = "revolute"\nparent = "ground"\nchild = "rod"\n'
            f"limits = [{limits[0]}, {limits[1]}]\n"
        )
    ),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("limits", NO_ROOM + NO_NUMBER)
def test_limits_that_leave_no_room_are_refused(entry: str, limits: tuple[float, float]) -> None:
    sentence = (
        "limits leave the joint no room" if limits in NO_ROOM else "limits is nan; give a finite"
    )
    with pytest.raises(es.EslabonError, match=sentence):
        ENTRIES[entry](limits)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_limits_by_parameters_are_finite(value: float) -> None:
    """A parameter is no way round it."""
    b = es.Builder("arm").body("rod", mass=1.0)
    m = b.joint("q", "revolute", "ground", "rod", limits=(-1, b.parameter("top", 1.0))).build()
    for change in (m.with_parameters, m.variant):
        with pytest.raises(es.EslabonError, match="top"):
            change(top=value)
    with pytest.raises(es.EslabonError, match="the lower limit -1 is above the upper -2"):
        m.with_parameters(top=-2.0)


def test_degrees_of_a_table_is_a_flag() -> None:
    with pytest.raises(es.InputError, match="degrees is True or False; it is 'no'"):
        es.from_dh([(0, 0, 1.0, 0)], degrees="no")


def test_masked_arrays_are_refused(library: Callable[[str], es.Mechanism]) -> None:
    m = library("double_pendulum")
    for q in (np.ma.masked_array([0.1, 0.2], mask=[True, False]), np.ma.masked_array([0.1, 0.2])):
        with pytest.raises(es.InputError, match="q is a masked array; fill in its masked values"):
            m.pose(q)
    three = np.ma.masked_array([0.1, 0.0, 0.0], mask=[True, False, False])
    pair = np.ma.masked_array([-1.0, 1.0], mask=[True, False])
    b = es.Builder("arm").body("rod", mass=1.0)
    arm = b.joint("q", "revolute", "ground", "rod").build()
    for call in (
        lambda: es.Builder("arm", gravity=three),
        lambda: es.Builder("arm").body("rod", com=three),
        lambda: es.Builder("arm").body("rod", inertia=three),
        lambda: es.Builder("arm").body("rod", mass=three[:1]),
        lambda: es.Builder("arm").joint("q", "revolute", "ground", "rod", at=three),
        lambda: es.Builder("arm").joint("q", "revolute", "ground", "rod", axis=three),
        lambda: es.Builder("arm").joint("q", "revolute", "ground", "rod", limits=pair),
        lambda: arm.with_joint("q", limits=pair),
        lambda: arm.with_body("rod", com=three),
        lambda: arm.with_gravity(three),
        lambda: arm.with_frame("tip", "rod", three),
        lambda: m.with_parameters(**{next(iter(m.parameters)): three[:1]}),
        lambda: es.from_dh(
            [np.ma.masked_array([0.0, 0.0, 1.0, 0.0], mask=[True, False, False, False])]
        ),
        lambda: es.algebra.rotation_from_rpy(three),
    ):
        with pytest.raises(es.EslabonError, match="masked array"):
            call()


def test_models_with_symbols_can_be_compared() -> None:
    m = es.load("five_bar")
    name, s = next(iter(m.parameters)), casadi.SX.sym("s")
    one, other = (
        m.with_symbols({name: casadi.SX.sym(name)}),
        m.with_symbols({name: casadi.SX.sym(name)}),
    )
    assert one == one
    assert one != other
    assert one != m
    assert m.with_symbols({name: s}) == m.with_symbols({name: s})
    assert m.with_symbols({name: s + 1}) != m.with_symbols({name: s})
