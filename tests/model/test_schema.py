"""A field of an item is declared once: a new one is found wherever fields are read, written, counted, checked and changed."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import eslabon as es
from eslabon.files.toml_format import read_toml, to_toml
from eslabon.model import items, schema
from eslabon.model.fields import per_velocity, quantity, reference
from eslabon.model.free_numbers import parameter_units
from eslabon.model.item_tables import item_tables
from eslabon.model.items import ITEMS, Body, Item, Joint


@dataclass(frozen=True)
class ChargedBody(Body):
    """A body with one field more."""

    capacity: float = quantity("kg m²", minimum=0.0)
    twin: str | None = reference("body", None)


@dataclass(frozen=True)
class CooledJoint(Joint):
    cooling: tuple[float, ...] | None = per_velocity("N m", "N", minimum=0.0, unsaid=0.0)


@pytest.fixture
def extended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema with fields more."""
    monkeypatch.setitem(items.ITEMS, "bodies", ChargedBody)
    monkeypatch.setitem(items.ITEMS, "joints", CooledJoint)


TEXT = """
name = "arm"
[parameters]
c = 2.0
[bodies.rod]
mass = "800 g"
capacity = "3*c"
twin = "rod"
[joints.q]
kind = "revolute"
parent = "ground"
child = "rod"
cooling = "5 mN m"
"""


@pytest.mark.usefixtures("extended")
def test_a_new_field_is_found_everywhere(tmp_path: Path) -> None:
    m = es.Mechanism(read_toml(TEXT))
    assert (m.body("rod").capacity, m.joint("q").cooling) == (6.0, (0.005,))
    assert read_toml(to_toml(m.description)) == m.description
    assert parameter_units(m)["c"] == "kg m²"
    assert m.free_numbers()["q.cooling"] == 0.005
    assert m.with_free("q.cooling").with_parameters(q_cooling=0.25).joint("q").cooling == (0.25,)
    assert m.with_body("rod", capacity="7 kg m²").body("rod").capacity == 7.0
    twice = es.join(m, m, at="rod", prefix="b_")
    assert twice.body("b_rod").twin == "b_rod"
    tables = {table.title: table for table in item_tables(m)}
    headings = [(c.name, c.unit) for c in tables["bodies"].columns]
    assert tables["bodies"].rows[0][headings.index(("capacity", "kg m²"))] == 6.0
    assert re.search(r"capacity +6 +kg m²", str(m.body("rod")))
    assert re.search(r"cooling +0.005 +N m", str(m.joint("q")))
    assert "cooling 0.005" in tables["joints"].rows[0][-1]
    assert es.Builder("arm").add("bodies", "rod", capacity=1.0).describe().bodies[0].capacity == 1.0


@pytest.mark.usefixtures("extended")
@pytest.mark.parametrize(
    ("old", "new", "place", "sentence"),
    [
        (
            'capacity = "3*c"',
            'capacity = "3 N"',
            ("bodies", "rod", "capacity"),
            "capacity is in N; it is to be in kg m²",
        ),
        ('capacity = "3*c"', "capacitance = 1", ("bodies", "rod"), "did you mean 'capacity'"),
        (
            'cooling = "5 mN m"',
            "cooling = [1, 2]",
            ("joints", "q", "cooling"),
            "needs 1 number and has 2",
        ),
        ('capacity = "3*c"', "capacity = -1", (), "the capacity is -1; it cannot be negative"),
        (
            'twin = "rod"',
            'twin = "rot"',
            (),
            "refers to the body 'rot', and there is none; did you mean 'rod'",
        ),
    ],
)
def test_a_new_field_is_checked(old: str, new: str, place: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(es.EslabonError, match=sentence) as caught:
        es.Mechanism(read_toml(TEXT.replace(old, new)))
    assert caught.value.place[: len(place)] == place


METHODS = {
    "bodies": es.Builder.body, "joints": es.Builder.joint, "loops": es.Builder.loop, "couplings": es.Builder.couple,
    "springs": es.Builder.spring, "wrenches": es.Builder.wrench, "frames": es.Builder.frame, "modes": es.Builder.mode,
    "shapes": es.Builder.shape,
}  # fmt: skip


@pytest.mark.parametrize("section", ITEMS)
def test_the_builder_takes_what_is_declared(section: str) -> None:
    taken = set(inspect.signature(METHODS[section]).parameters) - {
        "self",
        "name",
        "body_a",
        "body_b",
    }
    assert taken == set(schema.keys_of(ITEMS[section])) - {"rpy"}


@pytest.mark.parametrize("item", ITEMS.values())
def test_every_field_but_the_name_is_declared(item: type[Item]) -> None:
    assert set(schema.specs_of(item)) == set(item.__dataclass_fields__) - {"name"}  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", [3, "rod", ["rod"], {"at": (0, 0, 0)}])
def test_an_end_that_names_no_body_is_refused_in_a_sentence(end: object) -> None:
    b = es.Builder("arm").body("rod")
    with pytest.raises(es.EslabonError, match="loop 'tip': first") as caught:
        b.add("loops", "tip", kind="revolute", first=end, second={"body": "rod"})
    assert caught.value.place[:3] == ("loops", "tip", "first")


def test_signatures_say_what_they_take() -> None:
    """Fewer than one in twenty parameters of the model's functions is `Any`."""
    annotations = [
        ast.unparse(x.annotation)
        for file in Path(schema.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
        for x in ast.walk(node.args)
        if isinstance(x, ast.arg) and x.annotation is not None
    ]
    untyped = [text for text in annotations if re.search(r"\bAny\b", text)]
    assert len(annotations) > 500
    assert len(untyped) < 0.05 * len(annotations)
