"""One fact for many cases in one test, which names all the cases that break it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Check = Callable[..., None]


def each(
    names: str | tuple[str, ...], cases: Iterable[Any] | Callable[[], Iterable[Any]]
) -> Callable[[Check], Check]:
    """As `pytest.mark.parametrize`, but in one test: for cheap cases, which pytest takes longer to count than to run.

    Every case is checked, whatever fails before it. `cases` may be a function, called when the test runs. The cases
    share their fixtures, so a test that changes one (`monkeypatch`) is parametrized instead.
    """
    keys = [names] if isinstance(names, str) else list(names)

    def decorate(test: Check) -> Check:
        @wraps(test)
        def check_all(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            count = 0
            for count, case in enumerate(cases() if callable(cases) else cases, 1):
                arguments = dict(zip(keys, case if len(keys) > 1 else [case], strict=True))
                try:
                    test(**arguments, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    described = ", ".join(f"{key} = {value!r}" for key, value in arguments.items())
                    error.add_note(f"case {count}: {described}")
                    failures.append(error)
            assert count, "there is no case"
            if failures:
                offenders = "\n".join(error.__notes__[-1] for error in failures)
                raise BaseExceptionGroup(
                    f"{len(failures)} of {count} cases fail:\n{offenders}\n", failures
                )

        signature = inspect.signature(test)
        fixtures = [p for key, p in signature.parameters.items() if key not in keys]
        check_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return check_all

    return decorate
