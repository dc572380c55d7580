"""What goes wrong in this room."""

from __future__ import annotations

from eslabon.errors import EslabonError


class PathError(EslabonError, ValueError):
    """A path that cannot be: one point, a duration of zero, a Frenet frame on a straight line."""
