"""Write a recording: every call of the table on every subject, as one compressed file.

python -m baseline.record build/baseline/new.json.gz
python -m baseline.record out.json.gz --only five_bar elbow
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import platform
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(
        threads, "1"
    )  # before NumPy is loaded: sums in one order, and the processes share the cores

cache = Path(__file__).resolve().parents[2] / "build" / "baseline" / "cache"
os.environ.setdefault("ESLABON_CACHE", str(cache))  # the developer's own stays as it is

from baseline.answers import answer  # noqa: E402
from baseline.calls import calls_of, subjects  # noqa: E402

FORMAT = 1
SUBJECTS_A_PROCESS = 25  # then a new one takes over, so that compiled code does not fill the memory
DEAREST = (
    "stewart_gough",
    "delta",
    "excavator",
    "andrews_squeezer",
    "rojas_hexiflex",
)  # begun first


class Recorded(NamedTuple):
    subject: str
    kind: str
    answers: dict[str, Any]
    seconds: dict[str, float]


def record_subject(name: str) -> Recorded:
    """All calls on one subject, each with its processor time."""
    case, calls = calls_of(name)
    answers, seconds = {}, {}
    for call in calls:
        began = time.process_time()
        answers[call.name] = answer(lambda call=call: call.read(call.make(case)))
        seconds[call.name] = time.process_time() - began
    return Recorded(name, case.kind, answers, seconds)


def record(names: list[str], processes: int) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """The recording, and the processor seconds of each call on each subject."""
    began = time.monotonic()
    order = sorted(
        names, key=lambda name: (DEAREST.index(name) if name in DEAREST else len(DEAREST), name)
    )
    answers, kinds, seconds = {}, {}, {}
    with multiprocessing.get_context("spawn").Pool(
        processes, maxtasksperchild=SUBJECTS_A_PROCESS
    ) as pool:
        for k, found in enumerate(pool.imap_unordered(record_subject, order, chunksize=1), 1):
            answers[found.subject], kinds[found.subject] = found.answers, found.kind
            seconds[found.subject] = found.seconds
            text = f"{k:3} of {len(order)}  {found.subject:<28}{len(found.answers):4} answers"
            print(
                f"{text}  {sum(found.seconds.values()):6.1f} s  "
                f"({time.monotonic() - began:4.0f} s)",
                flush=True,
            )
    made = {
        "format": FORMAT, "python": platform.python_version(),
        "subjects": dict(sorted(kinds.items())),
        "answers": dict(sorted(answers.items())),
    }  # fmt: skip
    return made, seconds


def write(recording: dict[str, Any], path: Path) -> None:
    """The file whole or not at all, and the same bytes for the same recording."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    data = json.dumps(recording, separators=(",", ":")).encode()
    unfinished.write_bytes(gzip.compress(data, 6, mtime=0))
    unfinished.replace(path)


def summary(recording: dict[str, Any], seconds: dict[str, dict[str, float]], wall: float) -> str:
    """Sizes, times, and answers that no user should get."""
    by_call = sum((Counter(calls) for calls in seconds.values()), Counter[str]())
    answers = [(s, c, x) for s, calls in recording["answers"].items() for c, x in calls.items()]
    refused = sum("error" in x for *_, x in answers)
    lines = [
        f"{len(answers)} answers, {refused} of them refusals; "
        f"{sum(by_call.values()):.0f} processor s, {wall:.0f} s."
    ]
    lines += [f"  {seconds:6.1f} s  {call}" for call, seconds in by_call.most_common(12)]
    raw = Counter(
        (c, f"{x['error'][0]}: {x['error'][1][:120]}") for _, c, x in answers if x.get("raw")
    )
    lines += [
        f"No error of the library, {n} times: {call}: {text}"
        for (call, text), n in raw.most_common()
    ]
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("path", type=Path, help="the file to write, ending in .json.gz")
    options.add_argument("--processes", type=int, default=2)
    options.add_argument(
        "--only", nargs="+", metavar="SUBJECT", help="some subjects instead of all"
    )
    given = options.parse_args()
    began = time.monotonic()
    recording, seconds = record(given.only or subjects(), given.processes)
    write(recording, given.path)
    given.path.with_suffix(".seconds.json").write_text(
        json.dumps(seconds, indent=1)
    )  # beside it: times always differ
    print(summary(recording, seconds, time.monotonic() - began))
    print(f"{given.path}: {given.path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
