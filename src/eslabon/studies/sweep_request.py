"""The sweep that a study shows: from its file, or as it is given in Python.

[sweep]
quantity = "peak_torque"           # a measure, or a quantity of states; several as a list
samples = 1000
method = "sobol"
seed = 0
folder = "results"                 # beside the file; NAME_sweep if left out
most = 100000                      # points without being asked
chunk = 500                        # designs after which what is finished is kept
[sweep.over]
L2 = ["30 mm", "60 mm"]            # a range, "±1 %", levels, { distribution = "norm", loc = 0.05, scale = 1e-4 }
link2.mass = "±5 %"                # a number that is no parameter
[sweep.options]                    # of the quantity
motion = "motion.csv"              # or { points = [[2.0, 1.0], [2.3, 0.8]], time = 0.5 }; the study's own if left out
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from eslabon.arguments import finite, known_words, mapping, positive, text
from eslabon.errors import EslabonError, InputError, format_value
from eslabon.measures import Measure, measure_of
from eslabon.measures.named_measures import MEASURES
from eslabon.studies.movement import movement
from eslabon.studies.subject import Subject
from eslabon.sweeps.sweep import MOST, sweep
from eslabon.sweeps.sweep_table import SweepTable
from eslabon.sweeps.variables import variables_of

KEYS: Mapping[str, tuple[type, ...]] = {
    "quantity": (str, list, dict), "over": (dict,), "samples": (int, list), "method": (str,), "seed": (int,),
    "folder": (str,), "most": (int,), "chunk": (int,), "options": (dict,),
}  # fmt: skip
WORDS = {str: "a text", list: "a list", dict: "a table", int: "a whole number"}
FILES = (".csv", ".npz")


def checked_table(
    said: Mapping[str, Any], where: str, error: type[EslabonError] = InputError
) -> dict[str, Any]:
    """A sweep as a file or a user says it, if it is one: known keys, the right kinds of values."""
    known_words(said, KEYS, f"{where} has no key", error)
    for key, value in said.items():
        if not isinstance(value, KEYS[key]) or isinstance(value, bool):
            kinds = " or ".join(WORDS[kind] for kind in KEYS[key])
            raise error(f"{where}: '{key}' is {kinds}; it is {format_value(value)}.")
    for key, example in (
        ("quantity", 'quantity = "peak_torque"'),
        ("over", 'over = { L2 = ["30 mm", "60 mm"] }'),
    ):
        if not said.get(key):
            raise error(f"{where} needs '{key}', as in {example}.")
    return {**said, "over": dict(_flat(said["over"]))}


def _flat(over: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names with dots in them, which TOML takes for tables of tables."""
    for key, value in over.items():
        if isinstance(value, Mapping) and "distribution" not in value:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def beside(said: Mapping[str, Any], folder: Path, stem: str) -> dict[str, Any]:
    """The same with the files that it names found from where its own file is."""
    options = dict(said.get("options", {}))
    for key, value in options.items():
        if isinstance(value, str) and value.lower().endswith(FILES):
            options[key] = str(folder / value)
    return {**said, "folder": str(folder / said.get("folder", f"{stem}_sweep")), "options": options}


@dataclass(frozen=True)
class SweepRequest:
    """A sweep to be run for a study; what is left out is chosen as `es.sweep` does."""

    quantity: Any
    over: Mapping[str, Any]
    samples: Any = None
    method: str | None = None
    seed: int = 0
    folder: str | None = None
    most: int = MOST
    chunk: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Any) -> SweepRequest:
        """What a user gives as `sweep`."""
        if not isinstance(said, Mapping):
            raise InputError(
                "a study's sweep is a table that es.sweep gave, or what to ask of it, as in "
                f'sweep={{"quantity": "peak_torque", "over": {{"L2": (0.03, 0.06)}}}}; it is {format_value(said)}.'
            )
        known_words(said, KEYS, "a study's sweep has no key", InputError)
        for key in ("quantity", "over"):
            if key not in said:
                raise InputError(f"a study's sweep needs '{key}'.")
        return cls(**said)

    def check(self, subject: Subject) -> None:
        """Refuse what cannot be asked, as far as that is known without the study's own motion."""
        varied, _ = variables_of(subject.m, self.over)
        several = self.quantity if isinstance(self.quantity, list) else [self.quantity]
        if "motion" in mapping(self.options, "options") or not any(
            "motion" in _needed(name) for name in several
        ):
            self._measure(subject).columns(varied)

    def run(self, subject: Subject, **how: Any) -> SweepTable:
        """The table: computed, or read from its folder where it is finished. `how` are further options of `es.sweep`."""
        wanted = self._measure(subject)
        given = {"folder": self.folder, "most": self.most, "chunk": self.chunk, **how}
        return sweep(
            subject.m, wanted, self.over, self.samples, self.method, seed=self.seed, **given
        )

    def _measure(self, subject: Subject) -> Measure:
        """The quantity with its options; several have the same ones."""
        if not isinstance(self.quantity, list):
            return measure_of(self.quantity, self._options(subject, self.quantity))
        for name in self.quantity:
            text(name, "a quantity of a sweep")
        return measure_of(
            {name: measure_of(name, self._options(subject, name)) for name in self.quantity}, {}
        )

    def _options(self, subject: Subject, quantity: Any) -> dict[str, Any]:
        """Options of a quantity, a motion as arrays: the study's own, where the quantity needs one and none is given."""
        options = dict(mapping(self.options, "options"))
        motion = options.get("motion")
        if isinstance(motion, Mapping):
            options["motion"] = _path(motion)
        elif isinstance(motion, str | Path):
            options["motion"] = movement(subject.m, motion, subject.start, subject.tip)
        elif motion is None and "motion" in _needed(quantity):
            options["motion"] = subject.movement
        return options


def _needed(quantity: Any) -> list[str]:
    """The options without which a measure cannot be."""
    measure = MEASURES.get(quantity) if isinstance(quantity, str) else None
    own = [] if measure is None else signature(measure).parameters.values()
    return [p.name for p in own if p.default is Parameter.empty]


def _path(said: Mapping[str, Any]) -> Any:
    """Joints from point to point, at rest at both ends."""
    from eslabon.motion.paths import joint_path, quintic

    known_words(said, ("points", "time"), "a motion of a sweep has no key", InputError)
    if "points" not in said or "time" not in said:
        raise InputError(
            "a motion of a sweep has points and a time, as in { points = [[2.0, 1.0], [2.3, 0.8]], time = 0.5 }."
        )
    return joint_path(
        finite(said["points"], "points of the motion"),
        quintic(positive(said["time"], "the motion's time")),
    )
