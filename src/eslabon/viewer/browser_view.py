"""The view users hold: mechanisms in the browser, served on this machine's loopback address only."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from eslabon.arguments import Floats, flag
from eslabon.drawing.drawn_solids import (
    HOST,
    THEMES,
    close_server,
    extent_of,
    open_server,
    set_stage,
)
from eslabon.errors import EslabonError, InputError, ReadError, file_name, format_value, suggest
from eslabon.scene import scene_of
from eslabon.viewer.exhibit import Exhibit
from eslabon.viewer.panel import Panel
from eslabon.viewer.pictures import as_png
from eslabon.viewer.playback import clips
from eslabon.viewer.request_guard import RequestGuard
from eslabon.viewer.session import Session

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism

PERIOD = 1 / 60  # s, of the view's clock
IDLE = 1.0  # s
ROOM = 1.3  # around mechanisms, to move in
GAP = 0.25  # of a mechanism's width, to the next one
PATIENCE = 15.0  # s for a browser to make a picture
log = logging.getLogger(__name__)


class View:
    """Mechanisms in a browser: `url` is where. It serves until `stop`, or until the program ends; as a context manager it stops at
    the end of the block.

    All that changes goes through one thread: what the page, or a program by `update`, asks for is carried out there.

    >>> import eslabon as es
    >>> with es.view(es.load("elbow"), open_browser=False) as view:
    ...     view.update([0.5, 0.2])
    ...     here = view.q()
    >>> here
    array([0.5, 0.2])
    """

    def __init__(
        self,
        exhibits: Mapping[str, Exhibit],
        port: int = 0,
        dark: bool = False,
        hosts: str | Sequence[str] = (),
    ) -> None:
        self._exhibits, self._theme, self._dark = dict(exhibits), THEMES[dark], dark
        self._guard = RequestGuard(hosts)
        self._pending: dict[Any, Callable[[], Any]] = {}
        self._wake, self._lock, self._stopping = (
            threading.Condition(),
            threading.RLock(),
            threading.Event(),
        )
        self._server = open_server(", ".join(exhibits), port, dark, self._guard.around)
        try:
            self._panels = self._build()
        except BaseException:
            close_server(self._server)
            raise
        self._thread = threading.Thread(target=self._work, name="eslabon view", daemon=True)
        self._thread.start()

    # -- what there is ------------------------------------------------------------------------------------------------

    def _build(self) -> dict[str, Panel]:
        gui: Any = self._server.gui
        offsets, made = self._offsets(), {}
        set_stage(self._server, self._extent(offsets), self._theme, ROOM)
        gui.main_panel.dock_right()
        tabs = gui.add_tab_group() if len(self._exhibits) > 1 else None
        for (name, exhibit), offset in zip(self._exhibits.items(), offsets, strict=True):
            with tabs.add_tab(name) if tabs is not None else gui.add_folder(None):
                made[name] = Panel(
                    self._server, exhibit, name.replace("/", "_"), self._theme, offset, self._ask
                )
        with gui.add_folder("View and export", expand_by_default=False):
            for label, icon, action in (
                ("Whole view", "focus-centered", self._look),
                ("Picture (PNG)", "photo", self._send_picture),
                ("Scene (HTML)", "box", self._send_scene),
            ):
                self._button(gui.add_button(label, icon=icon), action)
        return made

    def _button(self, handle: Any, action: Callable[[Any], None]) -> None:
        @handle.on_click  # type: ignore[untyped-decorator]
        async def clicked(event: Any) -> None:
            self._ask(id(handle), lambda: action(event.client))

    def _offsets(self) -> list[Floats]:
        """Side by side, along the picture's right."""
        right = self._extent([np.zeros(3)] * len(self._exhibits)).right
        made: list[Floats] = []
        edge = 0.0
        for exhibit in self._exhibits.values():
            across = extent_of([scene_of(exhibit.m)], [exhibit.poses], [np.zeros(3)]).points @ right
            made.append((edge - float(across.min())) * right if made else np.zeros(3))
            edge = float(across.max() + made[-1] @ right + GAP * np.ptp(across))
        return made

    def _extent(self, offsets: Sequence[Floats]) -> Any:
        exhibits = list(self._exhibits.values())
        return extent_of([scene_of(x.m) for x in exhibits], [x.poses for x in exhibits], offsets)

    @property
    def url(self) -> str:
        """The address of the view on this machine. It carries the view's token: whoever has it can drive the view."""
        return f"http://{HOST}:{self._server.get_port()}/{self._guard.token}"

    @property
    def mechanisms(self) -> dict[str, Mechanism]:
        """The mechanisms by name, with the parameters that they have by now."""
        return {name: x.m for name, x in self._exhibits.items()}

    def q(self, name: str | None = None) -> Floats:
        """The configuration of a mechanism at this moment."""
        with self._lock:
            return self._chosen(name).q.copy()

    def _chosen(self, name: str | None) -> Exhibit:
        if name is None and len(self._exhibits) == 1:
            return next(iter(self._exhibits.values()))
        if not isinstance(name, str) or name not in self._exhibits:
            known = ", ".join(self._exhibits)
            if name is None:
                raise InputError(f"the view shows {known}; say which one is meant, by name.")
            raise InputError(
                f"the view shows no {format_value(name)}{suggest(name, self._exhibits)}"
            )
        return self._exhibits[name]

    def __repr__(self) -> str:
        state = "stopped" if self._stopping.is_set() else f"at {self.url}"
        return f"<View of {', '.join(self._exhibits)} {state}>"

    def _repr_html_(self) -> str:
        if self._stopping.is_set():
            return f"<p>The view of {escape(', '.join(self._exhibits))} is stopped.</p>"
        return f'<iframe src="{self.url}" width="100%" height="520" style="border:0"></iframe>'

    # -- from a program -----------------------------------------------------------------------------------------------

    def update(self, q: Any, name: str | None = None) -> None:
        """Show a configuration q (nq,), of the mechanism of that name where there are several."""
        with self._lock:
            exhibit = self._chosen(name)
            exhibit.take(q)
            exhibit.said = ""
        self._notify()

    def save(self, path: str | Path) -> Path:
        """Write the scene as it stands as one HTML file, or, from a page that is open in a browser, a picture as PNG."""
        from eslabon.atomic_files import write

        suffix = Path(path).suffix.lower() if isinstance(path, str | Path) else ""
        if suffix not in (".html", ".png"):
            raise ReadError(
                f"{file_name(path)}: a view is saved as a page or a picture; let the name end in .html or .png."
            )
        if self._stopping.is_set():
            raise InputError("the view is stopped; save before that.")
        if suffix == ".html":
            return write(path, self._page())
        clients = list(self._server.get_clients().values())
        if not clients:
            raise InputError(
                f"{path}: a picture is made by a browser; open {self.url} in one first."
            )
        return write(path, self._picture(clients[0]))

    def stop(self) -> None:
        """Stop serving; all threads end."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        close_server(self._server)

    def wait(self) -> None:
        """Wait until the view is stopped, by `stop` or by Ctrl-C."""
        try:
            while not self._stopping.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- the one thread -----------------------------------------------------------------------------------------------

    def _ask(self, key: Any, request: Callable[[], Any]) -> None:
        """Have something done in the view's thread; of requests with one key only the latest is."""
        with self._wake:
            self._pending[key] = request
            self._wake.notify()

    def _notify(self) -> None:
        with self._wake:
            self._pending.setdefault("look", lambda: None)
            self._wake.notify()

    def _work(self) -> None:
        clock, fresh = time.monotonic(), False
        while not self._stopping.is_set():
            going = any(x.going for x in self._exhibits.values())
            with self._wake:
                if not self._pending:
                    self._wake.wait(
                        max(0.0, PERIOD - (time.monotonic() - clock))
                        if going
                        else 0.1
                        if not fresh
                        else IDLE
                    )
                requests, self._pending = list(self._pending.values()), {}
            now = time.monotonic()
            fresh = self._turn(requests, now - clock if going else 0.0, now)
            clock = now
            time.sleep(
                max(0.0, PERIOD - (time.monotonic() - now))
            )  # slider by slider a page asks more often than that

    def _turn(self, requests: Sequence[Callable[[], Any]], seconds: float, now: float) -> bool:
        """Carry out what is asked for, let time go by, and show it; whether all is shown."""
        fresh = True
        with self._lock:
            for request in requests:
                self._guarded(request)
            for panel in self._panels.values():
                panel.exhibit.tick(seconds)
                fresh &= bool(self._guarded(partial(panel.refresh, now)))
        return fresh

    def _guarded(self, request: Callable[[], Any]) -> Any:
        """What goes wrong is said, and the view goes on."""
        try:
            return request()
        except Exception as error:
            if not isinstance(error, EslabonError):
                log.exception("an error in the view")
            for panel in self._panels.values():
                panel.exhibit.said = str(error) or type(error).__name__
            return False

    # -- buttons ------------------------------------------------------------------------------------------------------

    def _look(self, client: Any) -> None:
        """The camera back to where it sees everything."""
        extent = self._extent([panel.offset for panel in self._panels.values()])
        client.camera.up_direction = extent.up
        client.camera.position, client.camera.look_at = extent.camera(ROOM)

    def _page(self) -> str:
        with self._without_grips():
            return str(self._server.scene.as_html(dark_mode=self._dark))

    def _picture(self, client: Any) -> bytes:
        with self._without_grips():
            return as_png(client, self._theme.paper, PATIENCE)

    @contextmanager
    def _without_grips(self) -> Iterator[None]:
        """The grips are for hands, not for pictures."""
        with self._lock:
            grips = [
                panel.gizmo.handle
                for panel in self._panels.values()
                if panel.gizmo.handle is not None
            ]
            for grip in grips:
                grip.visible = False
            try:
                yield
            finally:
                for grip in grips:
                    grip.visible = True

    def _send_scene(self, client: Any) -> None:
        client.send_file_download(
            f"{self._file_name()}.html", self._page().encode(), save_immediately=True
        )

    def _send_picture(self, client: Any) -> None:
        client.send_file_download(
            f"{self._file_name()}.png", self._picture(client), save_immediately=True
        )

    def _file_name(self) -> str:
        return "_and_".join(self._exhibits).replace("/", "_")[:80]


def view(
    *mechanisms: Any,
    q: Any = None,
    motion: Any = None,
    frame: str | Mapping[str, str] | None = None,
    port: int = 0,
    dark: bool = False,
    open_browser: bool = True,
    hosts: str | Sequence[str] = (),
) -> View:
    """Show mechanisms in the browser, to be moved by hand, played, simulated and measured.

    Parameters
    ----------
    mechanisms : one, several, a list of them, or a dict of them by name.
    q : where to start, a configuration (nq,); of several mechanisms, by name. The closed home if left out.
    motion : what to play: a motion in any form of `es.as_trajectory`, such as a `Trajectory` or arrays (t, q), or several of these
        by name; for several mechanisms a dict by the mechanism's name.
    frame : the frame, or body, that is led by hand and judged by the conditions; of several mechanisms, by name. The first
        one if left out.
    port : of the loopback address; any that is free if left out. The view cannot be reached from other machines.
    dark : whether on a dark ground.
    open_browser : whether to open the page in a browser, where there is a screen.
    hosts : host names under which the view answers besides 127.0.0.1, localhost and [::1], such as that of a proxy.
        An SSH tunnel to any port of your own machine needs none. Only the address `url`, with its token, opens the view.

    >>> import eslabon as es
    >>> with es.view(es.load("five_bar"), open_browser=False) as v:
    ...     v.update(v.mechanisms["five_bar"].assemble([2.0, 1.0]))
    ...     v.url.startswith("http://127.0.0.1:"), v.q().round(3)
    (True, array([ 2.   , -1.212,  1.   ,  1.315]))
    """
    named = _named(mechanisms)
    port = _port(port)
    flag(dark, "dark")
    exhibits = {}
    for name, m in named.items():
        given = (("q", q), ("motion", motion), ("frame", frame))
        own = {key: _own(value, name, named, key) for key, value in given}
        exhibits[name] = Exhibit(Session.of(m, own["q"], own["frame"]), clips(m, own["motion"]))
    made = View(exhibits, port, dark, hosts)
    if flag(open_browser, "open_browser") and _has_screen():
        webbrowser.open(made.url)
    return made


def _named(mechanisms: Sequence[Any]) -> dict[str, Mechanism]:
    """The mechanisms by names of their own."""
    from eslabon.mechanism import Mechanism

    given = (
        mechanisms[0]
        if len(mechanisms) == 1 and isinstance(mechanisms[0], list | tuple | Mapping)
        else mechanisms
    )
    pairs = (
        list(given.items())
        if isinstance(given, Mapping)
        else [(getattr(m, "name", ""), m) for m in given]
    )
    if not pairs:
        raise InputError("view shows one mechanism or more; none was given.")
    made: dict[str, Mechanism] = {}
    for name, m in pairs:
        if not isinstance(m, Mechanism):
            raise InputError(
                f"view shows mechanisms; it was given {format_value(m)}. es.load reads one from a name or a file."
            )
        label, k = str(name) or m.name, 2
        while label in made:
            label, k = f"{name} {k}", k + 1
        made[label] = m
    return made


def _own(value: Any, name: str, named: Mapping[str, Any], key: str) -> Any:
    """What is meant for one of the mechanisms."""
    if value is None or len(named) == 1:
        return value
    if not isinstance(value, Mapping) or (strange := [x for x in value if x not in named]):
        what = format_value(strange[0]) if isinstance(value, Mapping) else format_value(value)
        raise InputError(
            f"of several mechanisms, {key} is a dict by their names ({', '.join(named)}); it has {what}."
        )
    return value.get(name)


def _port(port: Any) -> int:
    if (
        isinstance(port, bool)
        or not isinstance(port, int)
        or not (port == 0 or 1024 <= port <= 65535)
    ):
        raise InputError(
            f"a port is a whole number from 1024 to 65535, or 0 for any that is free; it is {format_value(port)}."
        )
    return port


def _has_screen() -> bool:
    """Whether a browser would have a window to open; one in the terminal would only be in the way."""
    return not sys.platform.startswith("linux") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
