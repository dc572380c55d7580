"""What mechanisms and bond graphs share: parameters, symbols, equality, a digest and a memory."""

import pickle

import casadi
import pytest

import eslabon as es
from eslabon.compiler import formula
from eslabon.model import Model
from eslabon.model.parametric import Parametric

OWNERS = {
    "mechanism": lambda: (es.load("elbow"), "a1"),
    "model": lambda: (Model(es.load("elbow").description), "a1"),
    "bond graph": lambda: (es.BondGraph.load("morales_puma"), "ix"),
}


@pytest.fixture(params=OWNERS)
def owned(request):
    return OWNERS[request.param]()


def test_owners_of_formulas_are_parametric(owned):
    x, _ = owned
    assert isinstance(x, Parametric)
    wanted = [name for name in vars(formula.Owner) if not name.startswith("_")]
    assert len(wanted) >= 8
    assert all(hasattr(x, name) for name in wanted)


def test_owners_with_symbols_can_be_compared(owned):
    x, name = owned
    a, b = casadi.SX.sym(name), casadi.SX.sym(name)
    with_a = x.with_symbols({name: a})
    assert with_a == x.with_symbols({name: a})
    assert with_a == x.with_symbols({name: a + 0})
    assert with_a != x.with_symbols({name: b})
    assert with_a != x
    assert len({with_a, x.with_symbols({name: a})}) == 1
    assert with_a.symbols[name] is a


def test_what_is_known_without_symbols_is_shared(owned):
    x, name = owned
    x.memory["found"] = 1
    traced = x.with_symbols({name: casadi.SX.sym(name)})
    assert traced.nominal is x
    assert traced.memory == {}
    assert x.nominal is x
    assert traced.with_symbols({}).nominal == x


def test_values_are_checked_and_change_the_digest(owned):
    x, name = owned
    other = x.with_parameters(**{name: 2.5})
    assert (other.parameters[name], other.values[name]) == (2.5, 2.5)
    assert (other.digest == x.digest, other == x) == (False, False)
    assert other.with_parameters(**{name: x.parameters[name]}) == x
    assert type(other) is type(x)
    with pytest.raises(es.ModelError, match="needs a plain number"):
        x.with_parameters(**{name: f"2*{name}"})
    with pytest.raises(es.ModelError, match="there is no parameter 'nothing'"):
        x.with_symbols({"nothing": casadi.SX.sym("s")})
    with pytest.raises(es.ModelError, match="symbols gives values by name"):
        x.with_symbols(3.0)


def test_nothing_can_be_set(owned):
    x, _ = owned
    with pytest.raises(AttributeError, match="cannot be changed; build another one"):
        x.name = "other"
    with pytest.raises(TypeError):
        x.values["new"] = 1.0


def test_a_copy_from_another_process_is_equal_and_remembers_nothing(owned):
    x, _ = owned
    x.memory["found"] = 1
    again = pickle.loads(pickle.dumps(x))
    assert (again, type(again), again.digest, again.memory) == (x, type(x), x.digest, {})


def test_only_mechanisms_have_variants():
    m, g = es.load("five_bar"), es.BondGraph.load("morales_puma")
    assert (g.variant_of, g.varied, hasattr(g, "variant")) == (None, (), False)
    twice = m.variant(L2=0.05).variant(L3=0.11)
    assert twice.variant_of is m
    assert twice.varied == ("L2", "L3")
    again = pickle.loads(pickle.dumps(twice))
    assert (again, again.variant_of, again.varied) == (twice, m, ("L2", "L3"))


def test_a_defined_parameter_follows_symbols_and_cannot_be_set():
    b = es.Builder("arm")
    b.parameter("L", 0.5)
    b.parameter("c", "L/2")
    b.body("rod", mass=1.0, com=("c", 0, 0)).joint("q", "revolute", "ground", "rod")
    m = b.build()
    L = casadi.SX.sym("L")
    half = casadi.Function("half", [L], [m.with_symbols({"L": L}).values["c"]])
    assert float(half(3.0)) == 1.5
    with pytest.raises(es.ModelError, match="parameter 'c' is defined as 'L/2'"):
        m.with_parameters(c=1.0)


def test_a_mechanism_and_a_graph_are_never_equal():
    assert es.load("morales_puma") != es.BondGraph.load("morales_puma")


def test_looks_do_not_count_in_the_digest_but_in_equality():
    def arm(size, mass=1.0):
        b = es.Builder("arm").body("rod", mass=mass).joint("q", "prismatic", "ground", "rod")
        return b.shape("case", "rod", "box", size).build()

    assert arm((1, 1, 1)).digest == arm((2, 1, 1)).digest
    assert arm((1, 1, 1)) != arm((2, 1, 1))
    assert arm((1, 1, 1)).digest != arm((1, 1, 1), mass=2.0).digest
