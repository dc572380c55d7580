"""Every fact of mechanics on every mechanism that it applies to: of the library, small ones, and drawn ones by seed."""

from __future__ import annotations

import pytest

import cases
import covering
import facts
from cases import Case
from facts import Fact


def on_one_worker(case: Case, *more: Fact) -> object:
    """A case's tests belong together, since they share its graphs."""
    return pytest.param(case, *more, marks=pytest.mark.xdist_group(case.name))


@pytest.mark.parametrize(
    ("case", "fact"), [on_one_worker(*x) for x in facts.pairs(cases.ALL, facts.ALL)], ids=str
)
def test_fact(case: Case, fact: Fact) -> None:
    fact(case.state)


@pytest.mark.parametrize("case", [on_one_worker(case) for case in cases.ALL], ids=str)
def test_traits_of_a_description_are_those_that_its_numbers_show(case: Case) -> None:
    assert case.traits == case.state.traits


def test_every_fact_is_stated_of_something() -> None:
    assert {fact for _, fact in facts.pairs(cases.ALL, facts.ALL)} == set(facts.ALL)


@pytest.mark.parametrize("trait", ["controlled", "determined"])
def test_every_formulation_and_method_meets_all_that_it_can(trait: str) -> None:
    """Inverse dynamics is compared where motors control the motion, forward dynamics where masses determine it."""
    compared = [case for case in cases.ALL if trait in case.traits]
    chosen = [
        (case.mechanism, case.inverse_pairs if trait == "controlled" else case.forward_pairs)
        for case in compared
    ]
    met = {x for m, pairs in chosen for pair in pairs for x in covering.meetings(m, pair)}
    assert met == {
        x for m, _ in chosen for pair in covering.pairs_of(m) for x in covering.meetings(m, pair)
    }
    assert {name for name, _ in met} == {*covering.FORMULATIONS, *covering.METHODS}
    assert {("lagrange", "free"), ("bond_graph", "wrenches"), ("elimination", "cut planar")} <= met
    assert all(pairs for m, pairs in chosen if trait == "controlled" or m.nv <= covering.FEW)
