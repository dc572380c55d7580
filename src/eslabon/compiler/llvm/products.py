"""Which products are rounded and which are not: decided here for a whole program, before any code
is written.

A product that is used once, by an addition or a subtraction, is fused with it into one operation
that rounds once. LLVM could do the same by itself (`contract`), but not alike at each of its
levels, nor for scalars and for vectors. Here the decision depends on the program alone: neither the
level, nor the number of lanes, nor where the code is cut changes a bit of a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from eslabon.compiler.program import Instruction

SHARED = 3  # numbers divided by the same one, from which on its inverse is taken: CasADi writes x / y for x * (1 / y)

# x y + z, x y - z and z - x y of (x, y, z), rounded once.
PLUS, MINUS, FROM = "product_plus", "product_minus", "minus_product"


def arithmetic(steps: Sequence[Instruction], fused: bool) -> list[Instruction]:
    """The instructions as a processor carries them out, with fused operations if it has them.

    >>> steps = [Instruction("input", place=(0, k)) for k in range(2)]
    >>> steps += [Instruction("mul", (0, 1)), Instruction("sub", (0, 2)), Instruction("output", (3,))]
    >>> [(i.name, i.args) for i in arithmetic(steps, fused=True)]
    [('input', ()), ('input', ()), ('minus_product', (0, 1, 0)), ('output', (2,))]
    """
    return _Rewriting(steps, fused).made


class _Rewriting:
    """Instructions numbered anew, in the order of the old ones: `number` has the new one of
    each."""

    def __init__(self, steps: Sequence[Instruction], fused: bool) -> None:
        divided = Counter([i.args[1] for i in steps if i.name == "div"])
        self._steps, self._shared = steps, {k for k, count in divided.items() if count >= SHARED}
        self._inverse: dict[int, int] = {}
        self._number: list[int] = []
        self.made: list[Instruction] = []
        sums = self._sums() if fused else {}
        gone = set(sums.values())
        for k, i in enumerate(steps):
            if k in gone:
                self._number.append(-1)
                continue
            new = self._fused(i, sums[k]) if k in sums else self._alone(k, i)
            self._number.append(len(self.made))
            self.made.append(new)

    def _is_product(self, i: Instruction) -> bool:
        return i.name in ("mul", "sq") or (i.name == "div" and i.args[1] in self._shared)

    def _sums(self) -> dict[int, int]:
        """The product that is fused with each sum. Of two the later one, whose factors are at
        hand."""
        uses = Counter(chain.from_iterable([i.args for i in self._steps]))
        once = {k for k, i in enumerate(self._steps) if self._is_product(i) and uses[k] == 1}
        found = {}
        for k, i in enumerate(self._steps):
            if i.name in ("add", "sub") and not once.isdisjoint(i.args):
                found[k] = max(once.intersection(i.args))
        return found

    def _alone(self, k: int, i: Instruction) -> Instruction:
        if i.name == "div" and i.args[1] in self._shared:
            return Instruction("mul", self._factors(k))
        return (
            Instruction(i.name, tuple([self._number[a] for a in i.args]), i.value, i.place)
            if i.args
            else i
        )

    def _fused(self, i: Instruction, product: int) -> Instruction:
        first, second = i.args
        name = PLUS if i.name == "add" else MINUS if first == product else FROM
        term = self._number[second if first == product else first]
        return Instruction(name, (*self._factors(product), term))

    def _factors(self, product: int) -> tuple[int, int]:
        """The two factors of a product; a divisor's inverse stands where it is first needed."""
        i = self._steps[product]
        first, second = i.args[0], i.args[-1]
        if i.name != "div":
            return self._number[first], self._number[second]
        if second not in self._inverse:
            self._inverse[second] = len(self.made)
            self.made.append(Instruction("inv", (self._number[second],)))
        return self._number[first], self._inverse[second]
