"""A test of many cases checks all of them and names every one that fails."""

from __future__ import annotations

import pytest

from batches import each


@each(("a", "b"), [(1, 1), (2, 2), (3, 3)])
def test_cases_and_fixtures_meet(a, b, rng):
    assert a == b
    assert 0 <= rng.random() < 1


@each(("a", "b"), lambda: [(1, 1), (2, 3), (3, 3), (4, 5)])
def compare(a, b):
    assert a == b


@each("a", [1.0, 0.0])
def refuse(a):
    with pytest.raises(ZeroDivisionError):
        1 / a


@each("a", [])
def none(a):
    raise NotImplementedError


def test_every_case_that_fails_is_named():
    with pytest.raises(
        ExceptionGroup, match=r"2 of 4 cases fail:\ncase 2: a = 2, b = 3\ncase 4: a = 4, b = 5"
    ) as failure:
        compare()
    assert len(failure.value.exceptions) == 2


def test_an_error_that_is_not_raised_counts_and_so_does_a_test_without_cases():
    with pytest.raises(BaseExceptionGroup, match=r"1 of 2 cases fail:\ncase 1: a = 1\.0"):
        refuse()
    with pytest.raises(AssertionError, match="there is no case"):
        none()
