"""The options that every verb of configurations takes: the same words with the same meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from numpy.typing import ArrayLike

from eslabon.arguments import choice, count, flag, known_words, positive
from eslabon.errors import SINGULAR_CHOICES
from eslabon.numerics.tolerances import CONVERGED

PASSIVE = ("refuse", "minimum_norm")


class SolveOptions(TypedDict, total=False):
    """What may be said beside what is prescribed.

    limits : whether the joints' limits count.
    tolerance : how near is near enough: radians, or metres over the characteristic length.
    restarts : how many other starts a target may have.
    threads : native threads of a batch.
    continuation : whether the rows of a batch are a motion, each following from the one before.
    singular : "error", "warn" or "ignore", for singular configurations that are met or passed.
    passive : "refuse" or "minimum_norm", for motions that nothing prescribes.
    t : the time, where constraints drive the mechanism.
    parameters : values in place of the model's own, by name; arrays are many designs.
    """

    limits: bool
    tolerance: float
    restarts: int
    threads: int | None
    continuation: bool
    singular: str
    passive: str
    t: ArrayLike | None
    parameters: Mapping[str, ArrayLike] | None


@dataclass(frozen=True, eq=False)
class Options:
    """The same, checked."""

    limits: bool = True
    tolerance: float = CONVERGED
    restarts: int = 32
    threads: int | None = None
    continuation: bool = False
    singular: str | None = None
    passive: str = "refuse"
    t: Any = None
    parameters: Any = None


def read_options(verb: str, given: Mapping[str, Any]) -> Options:
    """The options of a call, checked."""
    if not given:
        return PLAIN
    known_words(given, SolveOptions.__annotations__, f"{verb} has no option")
    made = dict(given)
    for name in ("limits", "continuation"):
        if name in made:
            flag(made[name], name)
    if "tolerance" in made:
        made["tolerance"] = positive(made["tolerance"], "tolerance")
    if "restarts" in made:
        made["restarts"] = count(made["restarts"], "restarts")
    if made.get("threads") is not None:
        made["threads"] = count(made["threads"], "threads", 1)
    if made.get("singular") is not None:
        choice(made["singular"], "singular", SINGULAR_CHOICES)
    if "passive" in made:
        choice(made["passive"], "passive", PASSIVE)
    return Options(**made)


PLAIN = Options()
