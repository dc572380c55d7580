"""Python's search for cyclic garbage, held while a graph is made and becomes code.

This takes hundreds of thousands of tuples, among which there are no cycles. To look through them
again and again would be a twentieth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_collector() -> Iterator[None]:
    """Without searches for garbage, if there are any."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
