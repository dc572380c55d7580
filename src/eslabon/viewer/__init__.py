"""Mechanisms in the browser, to be moved, led, let go and measured.

What goes on is in `session` (a mechanism as it stands), `live_simulation`, `playback` and `readings`, held together by
`exhibit`, all without graphics. `panel` has the controls of one mechanism, with `gizmo`, `overlays` and `words`;
`browser_view` serves them.
"""

from eslabon.viewer.browser_view import View, view
from eslabon.viewer.exhibit import Exhibit
from eslabon.viewer.session import Session

__all__ = ["Exhibit", "Session", "View", "view"]
