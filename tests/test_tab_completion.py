"""The Tab key in a notebook: names after a dot, keys after a bracket, arguments of verbs."""

import inspect

import pytest

import eslabon as es


@pytest.fixture(scope="module")
def offered():
    """What IPython offers after a text, with the names of a session about a five-bar and a bond graph."""
    from IPython.core.completer import IPCompleter, provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    m = es.load("five_bar").with_mode("up", es.load("five_bar").assemble([2.0, 1.0]))
    q = m.modes["up"]
    g = es.BondGraph.load("morales_puma")
    lm = m.linearize(q)
    names = {
        "es": es,
        "m": m,
        "motion": m.simulate(q, None, 0.01),
        "lm": lm,
        "modes": lm.modes(),
        "g": g,
    }
    names |= {
        "run": g.simulate([0.0] * 4, 0.01, [0.0, 0.0]),
        "rest": m.equilibrium(q),
        "reached": m.workspace(samples=5),
    }
    names |= {"joint": names["motion"]["theta2"], "chain": m.mobility(), "mode": lm.modes()[0]}
    names |= {"balance": names["run"].energy_balance(), "steady": g.steady_state([0.0, 0.0])}
    shell = InteractiveShell()
    completer = IPCompleter(shell=shell, namespace=names, global_namespace={}, parent=shell)
    completer.use_jedi = False

    def completions(text):
        with provisionalcompleter():
            return {x.text.lstrip(".") for x in completer.completions(text, len(text))}

    return completions


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("es.", {"load", "control", "Trajectory", "LinearModel", "BondGraph", "robots"}),
        ("es.control.", {"lqr", "computed_torque", "modal"}),
        ("es.paths.", {"quintic", "joint_path", "line"}),
        ("m.", {"pose", "inverse_dynamics", "simulate", "parameters", "workspace", "home"}),
        ("m.inv", {"inverse_dynamics", "inverse_kinematics"}),
        ("m.joints[0].", {"name", "kind", "parent", "limits"}),
        ("motion.", {"t", "q", "energy", "plot", "save"}),
        ("motion.energy.", {"kinetic", "potential", "total"}),
        ("lm.", {"A", "B", "modes", "to_control", "poles"}),
        ("modes.", {"frequencies", "shapes", "damping"}),
        ("mode.", {"frequency", "configurations", "participation"}),
        ("rest.", {"q", "tau", "stability"}),
        ("reached.", {"q", "poses", "plot", "conditions"}),
        ("reached.conditions.", {"parallel", "serial"}),
        ("joint.", {"q", "v", "a", "tau"}),
        ("chain.", {"dof", "herve", "gruebler"}),
        ("run.", {"x", "energy_balance"}),
        ('m.parameters["', {"L1", "L5", "m2"}),
        ('m.modes["', {"up"}),
        ('m.coordinates["', {"theta2", "theta5"}),
        ('motion["', {"theta2", "theta3", "theta4", "theta5"}),
        ('motion.columns["', {"q", "v", "a", "tau"}),
        ('run["', {"p2", "q3", "e1"}),
        ('balance["', {"R1"}),
        ('steady["', {"p2", "q3"}),
        ("m.pose(q, fr", {"frame="}),
        ("m.forward_dynamics(q, v, tau, s", {"singular="}),
        ("es.Target(po", {"pose=", "position=", "points="}),
    ],
)
def test_offered(offered, text, names):
    assert names <= offered(text)


def test_rooms_offer_names_and_not_files(offered):
    assert "computed_torque_control" not in offered("es.control.comp")
    for room in (
        es.control,
        es.identification,
        es.simulate,
        es.linear,
        es.paths,
        es.algebra,
        es.plotting,
        es.reproductions,
    ):
        assert set(dir(room)) == set(room.__all__)


def test_lazily_loaded_names_are_there():
    assert set(es.__all__) <= set(dir(es))
    assert all(hasattr(es, name) for name in es.__all__)


def test_verbs_say_what_they_take():
    m = es.load("elbow")
    assert list(inspect.signature(m.pose).parameters) == [
        "q", "frame", "out", "threads", "parameters", "external", "tolerance", "singular", "t",
    ]  # fmt: skip
    for name, f in inspect.getmembers(m, inspect.ismethod):
        if not name.startswith("_") and inspect.getdoc(f):
            assert not any(
                "Unpack" in str(p.annotation) for p in inspect.signature(f).parameters.values()
            )
