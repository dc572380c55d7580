"""Loops inside a URDF, and URDF written: a mechanism of any kind of joint comes back with the same mechanics."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from eslabon.files.diagnostics import Diagnostics
from eslabon.files.urdf import to_urdf
from eslabon.formulas.kinematics.closure import constraint
from eslabon.formulas.kinematics.tree import placements
from eslabon.model import KINDS
from oracles import pin
from random_mechanisms import CUTS, random_closed, random_coordinates, random_tree
from randomness import examples, seeds

pytestmark = pytest.mark.filterwarnings("ignore:.*URDF has no place for")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("urdf")


def same_bodies(m, other, q):
    np.testing.assert_allclose(
        [b.mass for b in m.bodies], [b.mass for b in other.bodies if b.name in m.body_places]
    )
    here, there = placements(m, q), placements(other, q)
    for body in m.bodies:
        for x, y in zip(here[body.name], there[body.name], strict=True):
            np.testing.assert_allclose(y, x, atol=1e-12)
        np.testing.assert_allclose(
            other.body(body.name).inertia_matrix(), body.inertia_matrix(), atol=1e-15
        )
        np.testing.assert_allclose(other.body(body.name).com, body.com, atol=1e-15)


@examples(40)
@given(seeds)
def test_trees_come_back(folder, seed):
    rng = np.random.default_rng(seed)
    m = random_tree(rng)
    again = es.load(m.save(folder / "tree.urdf"))
    assert again.nq == m.nq
    assert again.nu == m.nu or any(j.kind.kind == "free" for j in m.joints)
    same_bodies(m, again, random_coordinates(rng, m))


@examples(40)
@given(seeds, st.sampled_from(CUTS))
def test_loops_of_every_kind_come_back(folder, seed, kind):
    rng = np.random.default_rng(seed)
    m, q = random_closed(rng, list(rng.choice([k for k in KINDS if k != "fixed"], size=4)), [kind])
    m = m.with_actuated([m.joints[1].name])
    again = es.load(m.save(folder / "closed.urdf"))
    same_bodies(m, again, q)
    assert again.actuated == m.actuated
    elsewhere = random_coordinates(rng, m)
    for x in (q, elsewhere):
        np.testing.assert_allclose(constraint(again, x), constraint(m, x), atol=1e-9)


def test_a_library_of_mechanisms_is_written_and_read(folder):
    for name in es.robots():
        m = es.load(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = es.load(m.save(folder / f"{name}.urdf"))
        same_bodies(m, again, m.home())
        np.testing.assert_allclose(again.home(), m.home())
        assert again.modes.keys() == m.modes.keys()
        assert [x.kind.kind for x in again.loops] == [x.kind.kind for x in m.loops]


@pytest.mark.parametrize("name", ["puma560", "panda_like", "scara"])
def test_others_read_what_is_written(folder, name):
    m = es.load(name)
    model = pin.buildModelFromUrdf(str(m.save(folder / "arm.urdf")))
    assert list(model.names)[1:] == [j.name for j in m.joints]
    if model.nq == m.nq:  # joints without limits have two coordinates there
        q = m.home() + 0.1
        data = model.createData()
        np.testing.assert_allclose(
            np.triu(pin.crba(model, data, q)), np.triu(m.mass_matrix(q)), atol=1e-12
        )


def test_what_urdf_has_no_place_for_is_said(folder):
    m = es.load("four_bar_spring")
    with pytest.warns(es.ModelWarning, match="the springs"):
        m.save(folder / "spring.urdf")
    diagnostics = Diagnostics()
    to_urdf(
        es.Builder("one").body("a").joint("j", "revolute", "ground", "a").build(),
        diagnostics=diagnostics,
    )
    assert not diagnostics.losses


# -- as others write it -------------------------------------------------------------------------------------------

BARS = """<robot name="bars"><link name="world"/>
{links}
<joint name="crank" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="coupler" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="rocker" type="continuous"><parent link="world"/><child link="c"/><origin xyz="3 0 0"/><axis xyz="0 0 1"/></joint>
<constraint name="pin" type="{kind}">{constraint}</constraint>
<transmission name="t"><joint name="crank"/></transmission>
</robot>"""
LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
SIDES = '<parent link="b"/>{}<child link="c"/>{}'
BESIDE = SIDES.format(
    '<parent_origin xyz="2 0 0"/><parent_axis xyz="0 0 1"/>',
    '<child_origin xyz="2 0 0"/><child_axis xyz="0 0 1"/>',
)
INSIDE = '<parent link="b"><origin xyz="2 0 0"/><axis xyz="0 0 1"/></parent><child link="c"><origin xyz="2 0 0"/><axis xyz="0 0 1"/></child>'


def bars(folder: Path, constraint: str, kind: str = "revolute", **options) -> es.Mechanism:
    path = folder / "bars.urdf"
    links = "\n".join(LINK.format(name) for name in "abc")
    path.write_text(BARS.format(links=links, constraint=constraint, kind=kind))
    return es.load(path, **options)


@pytest.mark.parametrize("form", [BESIDE, INSIDE])
def test_a_four_bar_closes_by_its_constraint(folder, form):
    m = bars(folder, form)
    assert m.actuated == ("crank",)
    assert m.dof == 1
    q = m.assemble([1.0], guess=[1.0, -1.0, 1.0])

    def reach(angles, lengths):
        return sum(r * np.exp(1j * a) for r, a in zip(lengths, np.cumsum(angles), strict=True))

    assert reach(q[:2], (1, 2)) == pytest.approx(3 + reach(q[2:], (2,)))
    assert not bars(folder, form, loops=False).closed


@pytest.mark.parametrize("turned", [(0, 1, 0), (0, 0, -1), (1, 2, -2)])
def test_axes_that_differ_are_brought_together(folder, turned):
    """A constraint holds where the axis of the child, seen on the ground, is that of the parent."""
    m = bars(
        folder,
        BESIDE.replace(
            'child_axis xyz="0 0 1"', f'child_axis xyz="{turned[0]} {turned[1]} {turned[2]}"'
        ),
    )
    (loop,) = m.loops
    axis = np.array(loop.kind.axis)
    np.testing.assert_allclose(loop.first.at.rotation() @ axis, [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(
        loop.second.at.rotation() @ axis, np.array(turned) / np.linalg.norm(turned), atol=1e-12
    )


@pytest.mark.parametrize(
    ("constraint", "kind", "sentence"),
    [
        (BESIDE, "hinge", "has the unknown type 'hinge'"),
        (BESIDE, "floating", "a free joint closes nothing"),
        (BESIDE.replace('"c"', '"d"'), "revolute", "constraint 'pin' has the unknown link 'd'"),
        (BESIDE + "<limit/>", "revolute", "constraint 'pin' has the unknown element 'limit'"),
        (INSIDE + '<child_axis xyz="1 0 0"/>', "revolute", "keep one"),
        ("<parent/>", "revolute", "<parent> has no link"),
    ],
)
def test_what_is_not_understood_is_said(folder, constraint, kind, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        bars(folder, constraint, kind)
