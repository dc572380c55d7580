"""How many threads, and the pool they live in."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# Handing work to the pool costs about 0.1 ms; a share of 0.5 ms for each thread pays. One core does about this many
# operations on packed states in that time.
WORTH_A_THREAD = 5_000_000


@cache
def cores() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@cache
def pool() -> ThreadPoolExecutor:
    """Threads that wait for the next call; there are as many as were ever needed at once."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(64, cores()), thread_name_prefix="eslabon")


def suitable(states: int, operations: int) -> int:
    """All cores for big batches, fewer or one for small ones."""
    return max(1, min(cores(), states * operations // WORTH_A_THREAD))


def unshared(operations: int) -> int:
    """How many states of so many operations one thread computes before a second one would help."""
    return 2**62 if cores() == 1 else (2 * WORTH_A_THREAD - 1) // max(1, operations)


# A forked child has the pool's object but none of its threads, and would wait for them for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
