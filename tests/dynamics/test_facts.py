"""Every fact of mechanics on every mechanism that it applies to: of the library, small ones, and drawn ones by seed."""

from __future__ import annotations

import pytest

import cases
import facts
from cases import Case
from facts import Fact


def on_one_worker(case: Case, *more: Fact) -> object:
    """A case's tests belong together, since they share its graphs."""
    return pytest.param(case, *more, marks=pytest.mark.xdist_group(case.name))


@pytest.mark.parametrize(("case", "fact"), [on_one_worker(*x) for x in facts.pairs(cases.ALL, facts.ALL)], ids=str)
def test_fact(case: Case, fact: Fact) -> None:
    fact(case.state)


@pytest.mark.parametrize("case", [on_one_worker(case) for case in cases.ALL], ids=str)
def test_traits_of_a_description_are_those_that_its_numbers_show(case: Case) -> None:
    assert case.traits == case.state.traits


def test_every_fact_is_stated_of_something() -> None:
    assert {fact for _, fact in facts.pairs(cases.ALL, facts.ALL)} == set(facts.ALL)
