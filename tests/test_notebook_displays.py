"""What a notebook shows: HTML that is whole, with names and numbers in it, harmless, and quick."""

import ast
import inspect
import re
import sys
import typing
from functools import cache
from html.parser import HTMLParser
from importlib import import_module

import numpy as np
import pytest

import eslabon as es
from eslabon.answers import cell_text
from eslabon.displays import displayed
from eslabon.pages.notebook import in_groups, spark

VOID = {"img", "br", "hr", "meta", "link", "input", "col"}


class Whole(HTMLParser):
    """Refuses tags that are not closed in order, and gathers the text."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text += f" {data} "


def parsed(html):
    page = Whole()
    page.feed(html)
    page.close()
    assert not page.open
    return page


def text_of(thing):
    html = thing._repr_html_()
    assert html is not None, f"{thing!r} shows nothing"
    return re.sub(r"\s+", " ", parsed(html).text)


# -- all kinds of results ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def elbow():
    return es.load("elbow")


@pytest.fixture(scope="module")
def pendulum():
    return es.load("double_pendulum")


@pytest.fixture(scope="module")
def motor():
    return es.BondGraph(
        "motor",
        {"V": "Se", "loop": "1", "coil": "I: L", "wire": "R: R", "motor": "GY: k", "shaft": "1", "rotor": "I: J",
         "bearing": "R: b", "speed": "Df"},
        ["V -> loop -> coil", "loop -> wire", "loop -> motor -> shaft -> rotor", "shaft -> bearing", "shaft -> speed"],
        {"L": 0.5, "R": 1.0, "k": 0.1, "J": 0.01, "b": 0.1},
    )  # fmt: skip


def test_mechanism():
    m = es.load("five_bar")
    page = parsed(m._repr_html_())
    assert {"img", "svg", "table", "details"} <= page.seen  # drawn to scale, the topology, tables
    text = re.sub(r"\s+", " ", page.text)
    assert "degrees of freedom 2" in text
    for name in ("five_bar", "theta2", "link4", "tip", "0.00829", "L5"):
        assert name in text


def test_a_mechanism_that_cannot_be_assembled_shows_its_tables():
    m = es.load("planar_3rrr").with_parameters(L=0.01)
    text = text_of(m)
    assert "cannot be assembled" in text
    assert "svg" in parsed(m._repr_html_()).seen  # the topology
    assert "0.01" in text


def test_kinematics(elbow):
    assert "paradoxical" in text_of(es.load("bennett").mobility())
    assert "Hervé's subgroups, in E 3*4 - 10 - 0 passive 2" in text_of(
        es.load("five_bar").mobility()
    )
    assert "has lost its translation" in text_of(
        elbow.singularity([0.0, 0.0], "tool", "translation")
    )
    ellipsoid = elbow.manipulability([0.0, 1.0], "tool", "translation")
    assert "0.841471" in text_of(ellipsoid)
    assert "img" in parsed(ellipsoid._repr_html_()).seen
    assert "serial" in text_of(elbow.conditions([0.3, 0.8]))
    q = np.stack([np.full(5, 0.3), np.linspace(1.0, 0.2, 5)], axis=-1)
    assert "serial" in text_of(elbow.conditions(q).closest)
    reached = text_of(elbow.workspace(samples=60))
    assert "x of tool [m]" in reached
    assert "serial kind" in reached
    assert "converged" in text_of(
        elbow.inverse_kinematics(es.Target(planar=[1.2, 0.3]), report=True)
    )
    assert "mx(link1) + m(link2)" in text_of(elbow.base_parameters())
    path = es.paths.along(es.paths.line([1.2, 0.3, 0], [1.0, 0.8, 0]), es.paths.quintic(1.0))
    assert "velocities" in text_of(elbow.follow(path, part="position", guess=[-0.5, 1.5]))


def test_paths():
    law = es.paths.quintic(2.0)
    path = es.paths.joint_path([[0, 0], [1, 2]], law)
    assert "quintic" in text_of(law)
    assert "duration 2" in text_of(path)
    assert "30 numbers" in text_of(path.sample(n=30))
    assert "\n" not in repr(path.sample(n=300))


def test_motion(pendulum):
    motion = pendulum.simulate([0.5, 0.2], None, np.linspace(0, 0.3, 7))
    text = text_of(motion)
    for word in ("q q1", "v q2", "rad/s", "DOP853", f"{motion.q[-1, 0]:.6g}"):
        assert word in text
    assert motion._repr_html_().count("<polyline") == 4
    many = pendulum.simulate([[0.5, 0.2], [0.1, 0.0]], None, 0.1, method="rk4", step=0.05)
    assert "The first of its trajectories" in text_of(many)
    assert "tau" not in text_of(motion["q1"]) or "tau 0" in text_of(motion["q1"])
    t = np.linspace(0, 1, 5)
    groups = {"few": [("x", "m", t)], "many": [(f"x{k}", "m", k * t) for k in range(20)]}
    few, many = in_groups(t, groups)
    assert "<details open>" in few
    assert "<details>" in many
    assert repr(motion.energy).startswith("<Energy: kinetic ")
    for part in (motion.energy, motion.statistics, motion.joint("q2")):
        text_of(part)


def test_linear_models(pendulum):
    lm = pendulum.linearize([0.0, 0.0])
    text = text_of(lm)
    for word in ("d(q1')/dt", "u: tau(q2)", f"{lm.A[2, 0]:.6g}", "0+2.68011i"):
        assert word in text
    text_of(pendulum.linearize(np.zeros((3, 2))))  # many
    assert "oscillation 2.68011 0.4266" in text_of(lm.modes())
    assert "participation" in text_of(lm.modes()[0])
    assert "img" in parsed(lm.modes()[0]._repr_html_()).seen  # its shape
    assert "stable -19.62 0 0" in text_of(pendulum.equilibrium(tau=[0.0, 0.0], all=True))
    assert "bar1" in text_of(lm.contributions())


def test_control(pendulum):
    lm = pendulum.linearize([0.0, 0.0])
    shown = (
        es.control.lqr(lm, 1.0, 1.0),
        es.control.place(lm, [-1, -2, -3, -4]),
        es.control.controllability(lm),
        es.control.computed_torque(pendulum, [0.0, 0.0], frequency=3.0),
        es.control.luenberger(lm, [-5, -6, -7, -8]),
        es.as_trajectory(pendulum, [0.1, 0.2]),
    )
    assert all(text_of(x) for x in shown)
    assert "gains q1 q2" in text_of(shown[4])


def test_bond_graphs(motor):
    page = parsed(motor._repr_html_())
    assert "svg" in page.seen
    assert "GY" in page.text
    run = motor.simulate([0.0, 0.0], 0.2, [1.0])
    for thing, word in (
        (motor.linearize([0.0, 0.0], [0.0]), "d(p6)/dt"),
        (motor.steady_state([1.0]), "0.454545"),
        (run, "p6"),
        (run.energy_balance(), "coil (I)"),
        (run.bond_variables(), "bonds"),
        (motor.causality(), "integral"),
        (motor.controllability(), "controllable"),
        (motor.causal_paths()[0], "simple"),
        (motor.junction_structure(), "S11"),
    ):
        assert word in text_of(thing)


def test_identification(pendulum, rng):
    t = np.linspace(0, 4, 161)
    law = lambda t, q, v: [3 * np.sin(2 * t), np.sin(5 * t)]  # noqa: E731
    motion = pendulum.simulate([0.3, 0.1], None, t, es.simulate.traced(law))
    recording = {
        "t": motion.t,
        "q": motion.q,
        "tau": motion.tau + 0.01 * rng.normal(size=motion.tau.shape),
    }
    found = pendulum.identify(recording, friction=())
    assert found.names[0] in text_of(found)
    assert "standard error" in text_of(found)


def test_symbolic(elbow):
    assert r"\begin{align*}" in elbow.equations("mass_matrix")._repr_latex_()
    assert "multiplications" in text_of(elbow.operations())
    assert "void elbow_jacobian" in text_of(elbow.c_source("jacobian"))


def test_reports():
    from eslabon.reproductions import Report, Row, Section, Verdict
    from eslabon.reproductions.document import Document

    rows = (
        Row("M11", "1.5", "1.5", 0.0, Verdict.AGREES),
        Row("M12", "2", "3", 1.0, Verdict.WRONG, "a slip of sign"),
    )
    document = Document(("A. Author",), "A paper on arms", "2026")
    report = Report("paper", document, "What it says", (Section("Table 1", "masses", rows),))
    text = text_of(report)
    for word in (
        "A paper on arms",
        "print is wrong",
        "Table 1",
        "M12 2 3 1 ✗ print is wrong 1",
        "a slip of sign",
    ):
        assert word in text
    assert repr(report) == "<Report on paper: 1 agrees, 1 print is wrong>"
    assert "masses" in text_of(report.sections[0])


def test_studies(elbow):
    made = es.study(elbow, sections=["equations"])
    assert {"iframe", "style"} <= parsed(made._repr_html_()).seen
    assert repr(made).startswith("<Study of elbow: 1 section")


def test_tables_of_a_mechanism(elbow):
    assert "a1 1" in text_of(elbow.parameters)
    assert "theta2 1:2" in text_of(elbow.coordinates)
    assert "link1" in text_of(elbow.bodies[0])
    assert "revolute" in text_of(elbow.joints[0]).lower()


# -- all that is returned is shown -------------------------------------------------------------------------------------


INTERNAL = {"Description", "Graph", "Model"}  # what the public classes are made from


def returned():
    """The classes of this package that methods and functions of public classes and rooms say they return."""
    from eslabon.systems.linear.modes import Mode, Modes

    owners = [
        es.Mechanism,
        es.LinearModel,
        Modes,
        Mode,
        es.Trajectory,
        es.BondGraph,
        es.control,
        es.paths,
        es.identification,
    ]
    for owner in owners:
        for name, thing in inspect.getmembers(owner):
            f = thing.fget if isinstance(thing, property) else getattr(thing, "func", thing)
            if name.startswith("_") or not inspect.isfunction(f):
                continue
            for word in re.findall(r"[A-Z]\w+", str(f.__annotations__.get("return", ""))):
                found = names_of(f.__module__).get(word)
                if (
                    inspect.isclass(found)
                    and found.__module__.startswith("eslabon")
                    and word not in INTERNAL
                ):
                    yield f"{owner.__name__}.{name}", found


@cache
def names_of(module):
    """What the names in a module stand for, those among them that only a type checker imports."""
    made = dict(vars(sys.modules[module]))
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("eslabon"):
            made |= {
                x.asname or x.name: getattr(import_module(node.module), x.name, None)
                for x in node.names
            }
    return made


def test_all_that_is_returned_shows_itself():
    es.load("elbow").bond_graph()
    plain = {
        f"{name} gives {cls.__module__}.{cls.__name__}"
        for name, cls in returned()
        if not (hasattr(cls, "_repr_html_") or hasattr(cls, "_repr_latex_"))
    }
    assert plain == set()


# -- harmless, quick, and without what may be missing ------------------------------------------------------------------

EVIL = '<script>alert("x")</script>'


def test_names_are_escaped():
    @displayed
    class Evil(typing.NamedTuple):
        name: str

    page = parsed(Evil(EVIL)._repr_html_())
    assert "script" not in page.seen
    b = es.Builder("arm", gravity=(0, 0, -9.81), note=EVIL).body("a<b", mass=1.0, com=(0.1, 0, 0))
    m = b.joint("<i>", "revolute", "ground", "a<b", axis="y").actuate("<i>").build()
    for thing in (
        m,
        m.mobility(),
        m.simulate([0.1], None, 0.01),
        m.linearize([0.0]),
        m.coordinates,
        m.bond_graph(),
    ):
        page = parsed(thing._repr_html_())
        assert not {"script", "i"} & page.seen
    assert "<i>" in text_of(m)


def test_a_display_never_raises():
    @displayed
    class Broken(typing.NamedTuple):
        x: int

        def _pieces(self):
            raise ValueError("no")

    assert Broken(1)._repr_html_() is None


def test_a_display_changes_nothing():
    m = es.load("stewart_gough")
    other = m.with_parameters()
    assert m._repr_html_() == m._repr_html_()
    assert other == m


def test_without_matplotlib(monkeypatch, motor, elbow):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "svg" in parsed(es.load("elbow")._repr_html_()).seen  # the topology
    assert "GY" in text_of(motor)
    reached = parsed(elbow.workspace(samples=20)._repr_html_())
    assert "img" not in reached.seen
    assert "table" in reached.seen


def test_style_stays_inside():
    html = es.load("elbow").parameters._repr_html_()
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    for selectors in re.findall(r"([^{}]+)\{", style):
        assert all(one.strip().startswith(".es-shown") for one in selectors.split(","))
    assert not re.search(r"(?<!-)color:(?! inherit)", style)


# -- cells -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([1.0, 2.5]), "1 2.5"),
        (np.zeros((0, 6)), "0 x 6 values"),
        (np.array([True, False]), "yes, no"),
        (np.array([1 + 2j, 3.0]), "1+2i, 3"),
        (np.float64(0.1), "0.1"),
        (True, "yes"),
        ({"a": 1.0}, "a: 1"),
        (None, ""),
        ("x" * 500, "x" * 239 + "…"),
    ],
)
def test_cell_text(value, text):
    assert cell_text(value) == text


def test_sparks_of_odd_data():
    for values in ([], [1.0], [np.nan, 1.0, 2.0], [3.0, 3.0], [np.inf, 0.0]):
        assert "nan" not in spark(values)
    assert 'points="' in spark([0.0, 1.0], [0.0, 5.0])


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "ink"), [("#ffffff", "rgb(20, 20, 20)"), ("#111111", "rgb(230, 230, 230)")]
)
def test_displays_look_right_in_light_and_dark(tab, tmp_path, motor, paper, ink):
    m = es.load("five_bar")
    things = (
        m,
        m.mobility(),
        m.linearize(m.home()),
        m.simulate(m.home(), None, 0.01),
        motor,
        m.parameters,
    )
    outside = "<table id='outside'><tr><td>not ours</td></tr></table>"
    page = f"<!DOCTYPE html><meta charset='utf-8'><body style='background:{paper};color:{ink}'>{outside}"
    file = tmp_path / "shown.html"
    file.write_text(page + "".join(thing._repr_html_() for thing in things), "utf-8")
    tab.page.goto(file.as_uri())
    assert not tab.complaints
    colours = tab.page.evaluate(
        "[...document.querySelectorAll('.es-table td')].map(x => getComputedStyle(x).color)"
    )
    assert set(colours) == {ink}
    assert (
        tab.page.evaluate(
            "getComputedStyle(document.querySelector('#outside td')).borderBottomWidth"
        )
        == "0px"
    )
    assert (
        tab.page.evaluate("document.documentElement.scrollWidth") <= 1200
    )  # what is wide scrolls in its own frame
    assert tab.page.locator(".es-shown").count() == len(things)
    assert tab.page.evaluate("[...document.images].every(x => x.complete && x.naturalWidth > 100)")
