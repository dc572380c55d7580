"""Compare two recordings: digits, verdicts, messages, counts. Unexpected differences fail.

python -m baseline.compare base.json.gz new.json.gz
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from baseline.answers import COUNTS, NUMBERS, PAIRS, decode_array

EXPECTED = Path(__file__).with_name("expected.toml")
TOLERANCE = 1e-12  # of the largest number of an array
ROUND_OFF = 1e-12  # in a message, numbers below this one are all zero
GROWTH = 1.02  # how many times as many operations a quantity may take
KINDS = ("number", "verdict", "message", "count", "missing", "new")
MOST_LINES = 200
# A number that stands by itself; the 2 of theta2 and the 3 of 3rrr are parts of names.
A_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


@dataclass(frozen=True)
class Precision:
    """How near two numbers of a call must be: a part of the largest one, or an absolute value below
    which all is noise."""

    tolerance: float = TOLERANCE
    floor: float = 0.0
    tree_tolerance: float | None = None  # for mechanisms without loops, where it is another
    closed_growth: float = GROWTH  # of operations, for mechanisms with loops

    def of_kind(self, kind: str) -> Precision:
        """What counts for a tree or for a closed mechanism."""
        if kind == "closed":
            return self
        tolerance = self.tolerance if self.tree_tolerance is None else self.tree_tolerance
        return Precision(tolerance, self.floor)


@dataclass(frozen=True)
class Difference:
    subject: str
    call: str
    kind: str
    text: str
    fails: bool = True

    def __str__(self) -> str:
        return f"{self.kind:<8} {self.subject}: {self.call}: {self.text}"


@dataclass
class Expected:
    """A difference that an issue asked for."""

    reason: str
    calls: str = "*"
    subjects: str = "*"
    kinds: tuple[str, ...] = KINDS
    met: int = field(default=0, compare=False)

    def covers(self, d: Difference) -> bool:
        return (
            fnmatchcase(d.call, self.calls)
            and fnmatchcase(d.subject, self.subjects)
            and d.kind in self.kinds
        )


def read_expected(path: Path = EXPECTED) -> list[Expected]:
    """The listed differences; each needs a reason and says which calls it is about."""
    made = []
    for k, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("expected", [])):
        where = f"{path.name}: entry {k + 1}"
        if unknown := set(entry) - {"reason", "calls", "subjects", "kinds"}:
            raise SystemExit(
                f"{where} has unknown keys ({', '.join(sorted(unknown))}); "
                "use reason, calls, subjects, kinds."
            )
        if not str(entry.get("reason", "")).strip():
            raise SystemExit(
                f"{where} has no reason; say which issue asks for the difference, and why."
            )
        if not {"calls", "subjects"} & set(entry):
            raise SystemExit(f"{where} covers everything; name its calls or its subjects.")
        kinds = tuple(entry.get("kinds", KINDS))
        if wrong := set(kinds) - set(KINDS):
            raise SystemExit(
                f"{where} has unknown kinds ({', '.join(sorted(wrong))}); "
                f"they are {', '.join(KINDS)}."
            )
        made.append(
            Expected(entry["reason"], entry.get("calls", "*"), entry.get("subjects", "*"), kinds)
        )
    return made


def read_recording(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        made: dict[str, Any] = json.load(file)
    return made


# -- one answer ------------------------------------------------------------------------------------


def differences(
    base: Mapping[str, Any],
    new: Mapping[str, Any],
    precisions: Mapping[str, Precision] | None = None,
) -> Iterator[Difference]:
    """All that differs between two recordings, subject by subject and call by call."""
    precisions = precisions or {}
    for subject in sorted({*base["answers"], *new["answers"]}):
        old_calls, new_calls = (r["answers"].get(subject, {}) for r in (base, new))
        kind = new["subjects"].get(subject) or base["subjects"].get(subject, "tree")
        for call in sorted({*old_calls, *new_calls}):
            if call not in new_calls:
                yield Difference(subject, call, "missing", "the call is only in the base")
            elif call not in old_calls:
                yield Difference(subject, call, "new", "the call is not in the base", fails=False)
            else:
                precision = precisions.get(call, Precision()).of_kind(kind)
                for d, text, fails in answer_differences(
                    old_calls[call],
                    new_calls[call],
                    precision,
                    precision.closed_growth,
                ):
                    yield Difference(subject, call, d, text, fails)


Found = Iterator[tuple[str, str, bool]]  # kind, text, whether it fails


def answer_differences(
    old: Mapping[str, Any], new: Mapping[str, Any], precision: Precision, limit: float
) -> Found:
    if ("error" in old) != ("error" in new):
        yield "verdict", f"{outcome(old)} became {outcome(new)}", True
    elif "error" in old:
        (old_type, old_text), (new_type, new_text) = old["error"], new["error"]
        if old_type != new_type:
            yield "verdict", f"{old_type} became {new_type}", True
        if not same_text(old_text, new_text):
            yield "message", f"{old_text!r} became {new_text!r}", True
    else:
        yield from value_differences(old.get("value"), new.get("value"), "", precision, limit)
    before, after = old.get("warnings", []), new.get("warnings", [])
    if len(before) != len(after) or not all(
        x[0] == y[0] and same_text(x[1], y[1]) for x, y in zip(before, after, strict=True)
    ):
        yield "message", f"warnings {before} became {after}", True


def outcome(answer: Mapping[str, Any]) -> str:
    return "{}({!r})".format(*answer["error"]) if "error" in answer else "an answer"


def value_differences(old: Any, new: Any, place: str, precision: Precision, limit: float) -> Found:
    """What differs between two values, each named by its place in the answer."""
    here = place or "the answer"
    if is_kind(old, NUMBERS) and is_kind(new, NUMBERS):
        if text := array_difference(decode_array(old), decode_array(new), precision):
            kind = (
                "number"
                if old["kind"] in ("<f8", "<c16") and old["shape"] == new["shape"]
                else "verdict"
            )
            yield kind, f"{here} {text}", True
    elif is_kind(old, COUNTS) and is_kind(new, COUNTS):
        yield from count_differences(old[COUNTS], new[COUNTS], limit)
    elif is_kind(old, PAIRS) and is_kind(new, PAIRS):
        before, after = dict(old[PAIRS]), dict(new[PAIRS])
        if list(before) != list(after):
            yield "verdict", f"{here}: names {list(before)} became {list(after)}", True
        for name in (x for x in before if x in after):
            yield from value_differences(
                before[name], after[name], f"{place}.{name}".lstrip("."), precision, limit
            )
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (x, y) in enumerate(zip(old, new, strict=True)):
            yield from value_differences(x, y, f"{place}[{k}]", precision, limit)
    elif isinstance(old, str) and isinstance(new, str):
        if not same_text(old, new):
            yield "message", f"{here}: {text_change(old, new)}", True
    elif type(old) is not type(new) or old != new:
        yield "verdict", f"{here}: {shortened(old)} became {shortened(new)}", True


def is_kind(x: Any, key: str) -> bool:
    return isinstance(x, dict) and key in x


def array_difference(x: np.ndarray, y: np.ndarray, precision: Precision) -> str:
    """How two arrays differ, in words; empty where they agree."""
    if x.shape != y.shape:
        return f"of shape {x.shape} became one of shape {y.shape}"
    if x.size == 0 or np.array_equal(x, y):
        return ""
    if x.dtype.kind not in "fc" or y.dtype.kind not in "fc":
        return f"{shortened(x.tolist())} became {shortened(y.tolist())}"
    strange = ~(np.isfinite(x) & np.isfinite(y))
    if not np.array_equal(x[strange], y[strange], equal_nan=True):
        return "has infinities or NaN in other places"
    x, y = x[~strange], y[~strange]
    largest = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    gap = np.abs(x - y).max(initial=0.0)
    if gap <= max(precision.tolerance * largest, precision.floor):
        return ""
    k = int(np.abs(x - y).argmax())
    return f"differs by {gap:.3g}, {gap / largest:.2g} of the largest: {x[k]!r} became {y[k]!r}"


def count_differences(old: Mapping[str, int], new: Mapping[str, int], limit: float) -> Found:
    """Counts as ratios: above the limit a failure, below it a note."""
    before, after = sum(old.values()), sum(new.values())
    if old != new:
        ratio = after / before if before else float("inf")
        kinds = ", ".join(
            f"{k} {old.get(k, 0)} -> {new.get(k, 0)}"
            for k in {**old, **new}
            if old.get(k) != new.get(k)
        )
        yield "count", f"{before} -> {after} operations, {ratio:.3f} times ({kinds})", ratio > limit


def same_text(x: str, y: str) -> bool:
    """Whether two texts agree word by word, and their numbers within a unit of the last printed
    digit."""
    if x == y:
        return True
    if A_NUMBER.sub("#", x) != A_NUMBER.sub("#", y):
        return False
    return all(map(same_number, A_NUMBER.findall(x), A_NUMBER.findall(y)))


def same_number(x: str, y: str) -> bool:
    if x == y:
        return True
    a, b = float(x), float(y)
    if max(abs(a), abs(b)) < ROUND_OFF:
        return True
    if re.fullmatch(r"[-+]?\d+", x) and re.fullmatch(r"[-+]?\d+", y):
        return a == b
    return abs(a - b) <= 1.001 * min(last_digit(x), last_digit(y)) or abs(a - b) <= TOLERANCE * max(
        abs(a), abs(b)
    )


def last_digit(number: str) -> float:
    """The value of a unit in the last digit of a printed number."""
    mantissa, _, exponent = number.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(exponent or 0) - decimals))


def text_change(x: str, y: str) -> str:
    """The first lines that differ."""
    for before, after in zip(x.splitlines(), y.splitlines(), strict=False):
        if not same_text(before, after):
            return f"{shortened(before)} became {shortened(after)}"
    return f"{len(x.splitlines())} lines became {len(y.splitlines())}"


def shortened(x: Any, most: int = 160) -> str:
    text = x if isinstance(x, str) else json.dumps(x, default=str)
    return text if len(text) <= most else f"{text[:most]}..."


# -- the whole -------------------------------------------------------------------------------------


def sorted_out(
    found: Sequence[Difference], expected: Sequence[Expected]
) -> tuple[list[Difference], list[Difference], list[Expected]]:
    """Differences that fail, those that are noted only, and listed differences that do not
    occur."""
    failing, noted = [], []
    for d in found:
        covering = [e for e in expected if e.covers(d)]
        for e in covering:
            e.met += 1
        (failing if d.fails and not covering else noted).append(d)
    return failing, noted, [e for e in expected if e.met == 0]


def report(
    base: Mapping[str, Any], new: Mapping[str, Any], expected: Sequence[Expected]
) -> tuple[str, bool]:
    """What a developer reads, and whether the recordings agree but for listed differences."""
    from baseline.calls import precisions

    failing, noted, absent = sorted_out(list(differences(base, new, precisions())), expected)
    total = sum(len(calls) for calls in new["answers"].values())
    lines = [
        f"{total} answers of {len(new['answers'])} subjects compared with "
        f"{sum(map(len, base['answers'].values()))}."
    ]
    for title, listed in (
        ("Noted, no failure", noted),
        ("Differences that expected.toml does not list", failing),
    ):
        if listed:
            lines += [f"\n{title}: {len(listed)}", *summary(listed), *map(str, listed[:MOST_LINES])]
            lines += [f"... and {len(listed) - MOST_LINES} more"] * (len(listed) > MOST_LINES)
    for e in absent:
        lines.append(
            "\nListed in expected.toml, but it does not occur: "
            f"{e.calls} of {e.subjects} ({e.reason})"
        )
    lines.append(
        "\nThe recordings agree."
        if not failing
        else f"\nThe recordings differ: {len(failing)} differences."
    )
    return "\n".join(lines), not failing


def summary(found: Sequence[Difference]) -> list[str]:
    """How many differences of which kind each call has, most first."""
    return [
        f"  {n:5} x {kind} in {call}"
        for (kind, call), n in Counter((d.kind, d.call) for d in found).most_common(30)
    ]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("base", type=Path, help="the recording of the earlier checkout")
    options.add_argument("new", type=Path, help="the recording of this checkout")
    options.add_argument(
        "--expected",
        type=Path,
        default=EXPECTED,
        help="the list of differences that issues ask for",
    )
    given = options.parse_args()
    text, agree = report(
        read_recording(given.base), read_recording(given.new), read_expected(given.expected)
    )
    print(text)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
