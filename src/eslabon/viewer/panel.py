"""The controls of one mechanism: what a person touches becomes a request to the exhibit, what it says is shown.

Callbacks only ask (`ask`); a request is carried out, and all that is shown is changed, in the one thread of the view.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.drawn_solids import Placed, add_mechanism
from eslabon.plotting import Theme
from eslabon.scene import scene_of
from eslabon.viewer import words
from eslabon.viewer.gizmo import Gizmo
from eslabon.viewer.session import Drive, frames_of
from eslabon.viewer.view_overlays import NAMES, Overlays

if TYPE_CHECKING:
    from eslabon.viewer.exhibit import Exhibit

Ask = Callable[
    [Any, Callable[[], Any]], None
]  # a key, of which only the latest request counts, and the request
QUIET = 0.4  # s for which a control that a person moves is left alone
OFTEN = 0.1  # s between two looks at numbers
HOLD = 10.0  # times a second that a button that is held down says so
DIRECTIONS = {
    sign + axis: s * np.eye(3)[k]
    for k, axis in enumerate("xyz")
    for sign, s in (("+", 1.0), ("-", -1.0))
}


class Slider(NamedTuple):
    """A slider and what it moves; `factor` is how many of its units a metre or a radian is."""

    handle: Any
    drive: Drive
    factor: float


class Panel:
    """Controls and readings of an exhibit, and its solids."""

    def __init__(
        self, server: Any, exhibit: Exhibit, name: str, theme: Theme, offset: Floats, ask: Ask
    ) -> None:
        self.server, self.exhibit, self.name, self.theme, self.offset, self._ask = (
            server,
            exhibit,
            name,
            theme,
            offset,
            ask,
        )
        self.shown: set[str] = set()
        self.primitives = self._held = False
        self._touched: dict[
            int, float
        ] = {}  # when a control, by its id, was last moved by a person
        self._released = 0.0  # when a push ends
        self._place, self._shaped, self._looked = np.zeros(0), exhibit.shaped, 0.0
        self.placed: Placed
        self.overlays: Overlays
        self._build_solids()
        self.gizmo = Gizmo(
            server, self.placed.name, exhibit, lambda: self.ask("reach", self._reach)
        )
        self._build_controls()

    def ask(self, key: Any, request: Callable[[], Any]) -> None:
        self._ask((id(self), key), lambda: self.exhibit.attempt(request))

    # -- solids -------------------------------------------------------------------------------------------------------

    def _build_solids(self) -> None:
        self.placed = add_mechanism(
            self.server,
            self.exhibit.m,
            self.name,
            theme=self.theme,
            offset=self.offset.tolist(),
            primitives=self.primitives,
        )
        self._held = False
        self.overlays = Overlays(self.placed, self.shown)
        self._place = np.zeros(0)

    def _hold(self, held: bool) -> None:
        """Bodies can be pulled while a simulation is on, and the frame led while none is: where a body can be dragged, it covers
        the grip."""
        if held == self._held:
            return
        self._held = held
        for (body, _, _), node in self.placed.solids.items():
            if held and body != self.placed.scene.bodies[0]:
                node.on_drag("left")(self._pulling(body))
            elif not held:
                node.remove_drag_callback("all")
        self.gizmo.suspend(held)

    def _pulling(self, body: str) -> Callable[[Any], Any]:
        async def pull(event: Any) -> None:
            grip, to = (
                np.array(p) - self.offset for p in (event.start_position, event.end_position)
            )
            if event.phase == "end":
                self.ask("pull", self.exhibit.let_be)
            else:
                self.ask("pull", lambda: self.exhibit.pull(body, grip, to))

        return pull

    def _rebuild(self) -> str:
        self.gizmo.remove()
        self.placed.remove()
        self._build_solids()
        self.gizmo.add()
        return ""

    # -- controls -----------------------------------------------------------------------------------------------------

    def _build_controls(self) -> None:
        gui = self.server.gui
        gui.add_html(words.heading(self.exhibit.m))
        self.saying = gui.add_html("")
        self.conditions = gui.add_html("")
        self._joints()
        self._lead()
        self._modes()
        self._simulate()
        self._play()
        self._parameters()
        self._show()

    def _changed(self, handle: Any, request: Callable[[], Any]) -> None:
        """A request when a person, not the program, changes a control."""

        @handle.on_update  # type: ignore[untyped-decorator]
        async def changed(event: Any) -> None:
            if event.client_id is not None:
                self._touched[id(handle)] = time.monotonic()
                self.ask(id(handle), request)

    def _clicked(self, handle: Any, request: Callable[[], Any]) -> None:
        @handle.on_click  # type: ignore[untyped-decorator]
        async def clicked(_: Any) -> None:
            _put(
                self.saying, words.BUSY
            )  # until there is something to say: a moment, or seconds of compiling
            self.ask(id(handle), request)

    def _joints(self) -> None:
        self.sliders: list[Slider] = []
        with self.server.gui.add_folder("Joints"):
            for drive in self.exhibit.session.drives:
                unit, factor = words.shown_unit(drive.unit, scene_of(self.exhibit.m).size)
                low, high = factor * drive.lower, factor * drive.upper
                handle = self.server.gui.add_slider(
                    f"{drive.name} [{unit}]", low, high, words.fine(high - low), float(np.clip(0.0, low, high)),
                    hint=None if drive.actuated else "a passive joint: nothing drives it",
                )  # fmt: skip
                self.sliders.append(Slider(handle, drive, factor))
                self._changed(handle, self._moving(self.sliders[-1]))
            self._clicked(self.server.gui.add_button("Home", icon="home"), self.exhibit.home)

    def _moving(self, slider: Slider) -> Callable[[], str]:
        return lambda: self.exhibit.move(slider.drive, slider.handle.value / slider.factor)

    def _lead(self) -> None:
        names = frames_of(self.exhibit.m)
        if not names:
            return
        with self.server.gui.add_folder("Lead by a frame"):
            grip = self.server.gui.add_checkbox(
                "grip", True, hint="arrows and rings at the frame, to be dragged"
            )
            frame = self.server.gui.add_dropdown(
                "frame", names, initial_value=self.exhibit.session.frame
            )
        self.gizmo.show(True)
        self._changed(grip, lambda: self.gizmo.show(grip.value))
        self._changed(frame, lambda: self._other_frame(frame.value))

    def _other_frame(self, name: str) -> str:
        self.exhibit.session.frame = name
        self.gizmo.add()
        return ""

    def _reach(self) -> str:
        frame = self.exhibit.session.frame
        assert frame is not None
        return self.exhibit.reach(frame, self.gizmo.target)

    def _modes(self) -> None:
        with self.server.gui.add_folder("Assembly modes", expand_by_default=False):
            find = self.server.gui.add_button("Find them", icon="search")
            self.modes = self.server.gui.add_dropdown("mode", (words.NONE,), visible=False)
        self._clicked(find, self._find_modes)
        self._changed(self.modes, self._choose_mode)

    def _find_modes(self) -> str:
        said = self.exhibit.find_modes()
        self.modes.options = (words.NONE, *self.exhibit.modes)
        self.modes.value, self.modes.visible = words.NONE, bool(self.exhibit.modes)
        return said

    def _choose_mode(self) -> str:
        return (
            self.exhibit.choose_mode(self.modes.value)
            if self.modes.value in self.exhibit.modes
            else ""
        )

    def _parameters(self) -> None:
        self.parameters: dict[str, Any] = {}
        values = self.exhibit.session.parameters
        if not values:
            return
        with self.server.gui.add_folder("Parameters", expand_by_default=False):
            for name, value in values.items():
                low, high = sorted((0.4 * value, 1.6 * value)) if value else (-1.0, 1.0)
                handle = self.server.gui.add_slider(name, low, high, words.fine(high - low), value)
                self.parameters[name] = handle
                self._changed(handle, self._changing(name, handle))

    def _changing(self, name: str, handle: Any) -> Callable[[], str]:
        return lambda: self.exhibit.change(name, float(handle.value))

    def _simulate(self) -> None:
        gui, exhibit = self.server.gui, self.exhibit
        with gui.add_folder("Simulate", expand_by_default=False):
            drives = gui.add_dropdown(
                "actuators", ("free", "servos"), hint="servos hold their joints, softly"
            )
            stops = gui.add_checkbox(
                "stops", words.limited(exhibit.m), hint="joints bounce off their limits"
            )
            buttons = gui.add_button_group("", ("Let go", "Pause", "Reset"))
            self.state = gui.add_html("")
            body = gui.add_dropdown(
                "push", [b.name for b in exhibit.m.bodies], initial_value=words.outermost(exhibit)
            )
            way = gui.add_dropdown("towards", tuple(DIRECTIONS), initial_value="+x")
            top = words.rounded(2 * exhibit.weight)
            size = gui.add_slider("force [N]", 0.0, top, top / 200, top / 8)
            push = gui.add_button(
                "Push (hold)",
                icon="hand-finger",
                hint="or drag a body in the scene while it simulates",
            )
        exhibit.stops = stops.value
        for handle in (drives, stops):
            self._changed(handle, lambda: exhibit.drive_by(drives.value == "servos", stops.value))
        self._clicked(
            buttons,
            lambda: {"Let go": exhibit.let_go, "Pause": exhibit.pause, "Reset": exhibit.reset}[
                buttons.value
            ](),
        )

        @push.on_hold(callback_hz=HOLD)  # type: ignore[untyped-decorator]
        async def held(_: Any) -> None:
            self._released = time.monotonic() + 2.5 / HOLD
            self.ask("push", lambda: exhibit.push(body.value, size.value * DIRECTIONS[way.value]))

    def _play(self) -> None:
        gui, exhibit = self.server.gui, self.exhibit
        with gui.add_folder("Motions", expand_by_default=bool(exhibit.clips)):
            self.clip = gui.add_dropdown("motion", (*exhibit.clips,) or (words.NONE,))
            buttons = gui.add_button_group("", ("Play", "Pause"))
            self.time = gui.add_slider("time [s]", 0.0, 1.0, 0.001, 0.0)
            speed = gui.add_slider("speed", 0.05, 4.0, 0.05, 1.0)
            shapes = gui.add_button("Mode shapes from here", icon="wave-sine")
        self._clicked(
            buttons,
            lambda: exhibit.play(self.clip.value) if buttons.value == "Play" else exhibit.pause(),
        )
        self._clicked(shapes, self._find_shapes)
        self._changed(self.time, lambda: exhibit.show(self.clip.value, self.time.value))
        self._changed(self.clip, lambda: exhibit.play(self.clip.value))
        self._changed(speed, lambda: setattr(exhibit, "speed", float(speed.value)))

    def _find_shapes(self) -> str:
        said = self.exhibit.find_mode_shapes()
        names = tuple(self.exhibit.clips)
        self.clip.options = names
        shapes = [name for name in names if self.exhibit.clips[name].periodic]
        self.clip.value = next((name for name in shapes if "Hz" in name), shapes[0])
        self.exhibit.play(self.clip.value)
        return said

    def _show(self) -> None:
        with self.server.gui.add_folder("Show", expand_by_default=False):
            for name in NAMES:
                handle = self.server.gui.add_checkbox(name, False)
                self._changed(handle, self._toggling(name, handle))
            if getattr(self.exhibit.m, "shapes", ()):
                plain = self.server.gui.add_checkbox("primitives only", False)
                self._changed(plain, lambda: self._toggle_primitives(plain.value))
            self.server.gui.add_html(words.legend(self.theme))

    def _toggling(self, name: str, handle: Any) -> Callable[[], None]:
        def toggle() -> None:
            (self.shown.add if handle.value else self.shown.discard)(name)
            self.overlays.show()

        return toggle

    def _toggle_primitives(self, primitives: bool) -> str:
        self.primitives = primitives
        return self._rebuild()

    # -- what is shown ------------------------------------------------------------------------------------------------

    def refresh(self, now: float) -> bool:
        """Show how things stand; False where something is left for a quieter moment."""
        if self._released and now > self._released:
            self._released = 0.0
            self.exhibit.attempt(self.exhibit.let_be)
        if self._shaped != self.exhibit.shaped:
            self._shaped = self.exhibit.shaped
            if self.placed.reshape(self.exhibit.m):
                self.overlays = Overlays(self.placed, self.shown)
                self._place = np.zeros(0)
            else:
                self._rebuild()
        self._hold(self.exhibit.run is not None)
        poses = self.exhibit.poses
        if not np.array_equal(poses, self._place):
            self.placed.place(poses)
            self._place = poses
            self.gizmo.follow()
        self.overlays.update(self.exhibit)
        if now - self._looked < OFTEN:
            return False
        self._looked = now
        return self._read(now)

    def _read(self, now: float) -> bool:
        """Numbers and sentences; controls that a person moves just now are left alone."""
        exhibit = self.exhibit
        _put(self.saying, words.sentence(exhibit.said))
        _put(self.state, words.simulation(exhibit.run))
        left = {handle for handle, when in self._touched.items() if now - when < QUIET}
        if not left & {
            id(handle) for handle in self.parameters.values()
        }:  # other dimensions need other code
            _put(self.conditions, words.gauges(exhibit.gauges(), self.theme))
        for slider in self.sliders:
            if id(slider.handle) not in left:
                self._set(
                    slider.handle,
                    slider.factor
                    * words.in_range(float(exhibit.q[slider.drive.place]), slider.drive),
                )
        for name, handle in self.parameters.items():
            if id(handle) not in left:
                self._set(handle, exhibit.session.parameters[name])
        if exhibit.clip is not None and id(self.time) not in left:
            if self.time.max != exhibit.clip.duration:
                self.time.max = max(exhibit.clip.duration, 1e-3)
            self._set(self.time, exhibit.clock)
        self._touched = {handle: self._touched[handle] for handle in left}
        return not left and not self._released

    def _set(self, handle: Any, value: float) -> None:
        digits = max(0, -int(np.floor(np.log10(handle.step) + 1e-9)))
        value = float(np.clip(round(value, digits), handle.min, handle.max))
        if abs(handle.value - value) > 1e-9:
            handle.value = value


def _put(handle: Any, content: str) -> None:
    if handle.content != content:
        handle.content = content
