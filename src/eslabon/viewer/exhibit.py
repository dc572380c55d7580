"""One mechanism of a view with all that goes on with it: where it stands, what it plays, the simulation that runs, what is said.

No graphics here: a panel asks, `tick` lets time go by, and whoever draws looks at `poses`, `run` and `said`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import EslabonError, InputError
from eslabon.viewer.live_simulation import LiveSimulation, Pull
from eslabon.viewer.playback import Clip, mode_shapes
from eslabon.viewer.readings import Gauge, gauges
from eslabon.viewer.session import Drive, Session

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism

LONGEST = 0.05  # s that a simulation goes on in one tick, however late it comes


class Exhibit:
    """What a view knows of a mechanism. Every request leaves its sentence in `said`; what an error says goes there too.

    >>> import eslabon as es
    >>> from eslabon.viewer import Exhibit, Session
    >>> Exhibit(Session.of(es.load("five_bar"))).session.q.round(3)
    array([ 2.094, -1.299,  1.047,  1.299])
    """

    def __init__(self, session: Session, clips: list[Clip] | None = None) -> None:
        self.session = session
        self.clips = {clip.name: clip for clip in clips or []}
        self.modes: dict[str, Floats] = {}
        self.said = ""
        self.run: LiveSimulation | None = None
        self.servos = self.stops = False
        self.clip: Clip | None = None
        self.clock = 0.0  # s since the clip began
        self.speed = 1.0
        self.going = False  # whether the simulation or the clip goes on by itself
        self.shaped = 0  # counts the changes of what the mechanism looks like
        self._begun: Floats | None = None  # where the simulation started

    @property
    def m(self) -> Mechanism:
        return self.session.m

    @property
    def q(self) -> Floats:
        return self.session.q

    @property
    def poses(self) -> Floats:
        return self.session.poses

    def gauges(self) -> tuple[Gauge, ...]:
        try:
            frame = self.session.frame
            return gauges(
                self.m, self.q, frame, None if frame is None else self.session.task(frame)
            )
        except EslabonError:  # a configuration of a motion that is not closed to the last digits
            return ()

    def reactions(self) -> Floats:
        """What joints transmit: in a simulation, or at rest, held by the actuators if they can."""
        m, run, rest = self.session.original, self.run, np.zeros(self.m.nv)
        given: Any = (
            {} if m is self.m else {"parameters": self.session.parameters}
        )  # code for all values, compiled once
        if run is not None:
            return np.asarray(
                m.reactions(run.q, run.v, tau=run.tau, external=run.wrenches, **given)
            )
        try:
            return np.asarray(m.reactions(self.q, rest, rest, **given))
        except EslabonError:  # more degrees of freedom than actuators
            return np.asarray(m.reactions(self.q, rest, tau=np.zeros(m.nu), **given))

    def tick(self, seconds: float) -> None:
        """Let time go by."""
        if self.going and self.run is not None:
            self.attempt(lambda run: run.advance(min(seconds * self.speed, LONGEST)), self.run)
            self.session.q = self.run.q
        elif self.going and self.clip is not None:
            self.seek(self.clock + seconds * self.speed)

    def attempt(self, request: Any, *arguments: Any) -> None:
        """Do what was asked; a sentence of what was in the way, or of an error, is said, and time stands still after an error."""
        try:
            self.said = request(*arguments) or ""
        except EslabonError as error:
            self.said, self.going = str(error), False

    # -- by hand ----------------------------------------------------------------------------------------------------

    def move(self, drive: Drive, value: float) -> str:
        """A joint by hand; while servos hold a simulation, their target."""
        if self.run is not None and self.run.servos and drive.place in self.m.actuated_coordinates:
            self.run.targets[list(self.m.actuated_coordinates).index(drive.place)] = value
            return ""
        self.halt()
        return self.session.move(drive, value)

    def reach(self, frame: str, pose: Floats) -> str:
        self.halt()
        return self.session.reach(frame, pose)

    def take(self, q: Any) -> str:
        self.halt()
        self.session.take(q)
        return ""

    def home(self) -> str:
        self.halt()
        self.session.home()
        return ""

    def change(self, name: str, value: float) -> str:
        self.halt()
        said = self.session.change(name, value)
        self.shaped += not said
        self.modes = {}
        return said

    def find_modes(self) -> str:
        """Look for the assembly modes."""
        self.halt()
        self.modes = self.session.assembly_modes()
        count = len(self.modes)
        return (
            f"{count} were found; choose one."
            if count > 1
            else f"{self.m.name} has no other assembly mode here."
        )

    def choose_mode(self, name: str) -> str:
        self.halt()
        self.session.take(self.modes[name])
        return ""

    def halt(self) -> None:
        """End what goes on by itself; the mechanism stays where it is."""
        self.run, self.clip, self.going = None, None, False

    # -- simulations --------------------------------------------------------------------------------------------------

    def let_go(self) -> str:
        """A simulation from here, at rest; or one that was paused goes on."""
        self.clip = None
        if self.run is None:
            self._begun = self.q
            self.run = LiveSimulation(self.m, self.q, stops=self.stops, servos=self.servos)
        self.going = True
        return ""

    def pause(self) -> str:
        self.going = False
        return ""

    def reset(self) -> str:
        """Back to where the simulation began."""
        if self._begun is not None and self.run is not None:
            self.session.q = self._begun
        self.halt()
        return ""

    def drive_by(self, servos: bool, stops: bool) -> str:
        """Whether servos hold the actuators, and whether joints bounce off their limits; a simulation goes on with it."""
        self.servos, self.stops = servos, stops
        if self.run is not None:
            old = self.run
            self.run = LiveSimulation(self.m, old.q, old.v, old.t, stops=stops, servos=servos)
        return ""

    def push(self, body: str, force: Floats, point: Floats | None = None) -> str:
        """A force on a body, in the ground's axes; it acts until it is let be. A mechanism at rest is let go by it."""
        if self.run is None or not self.going:
            self.let_go()
        assert self.run is not None
        self.run.push(body, force, point)
        return ""

    def pull(self, body: str, grip: Floats, to: Floats) -> str:
        """A spring from a point of a body, held at `grip` on the ground, to another place."""
        if self.run is None or not self.going:
            self.let_go()
        assert self.run is not None
        if self.run.pull is None:  # a point that is held stays the same
            pose = self.poses[1 + self.m.body_places[body]]
            mass = sum(float(b.mass) for b in self.m.bodies) or 1.0
            damping = 0.6 * float(np.sqrt(self.firmness * mass))
            self.run.pull = Pull(
                body, pose[:3, :3].T @ (grip - pose[:3, 3]), to, self.firmness, damping
            )
        self.run.pull = self.run.pull._replace(to=to)
        return ""

    def let_be(self) -> str:
        if self.run is not None:
            self.run.let_be()
        return ""

    @property
    def weight(self) -> float:
        """The mechanism's weight, a force to compare others with; of something weightless, what a metre a second squared takes."""
        gravity = float(np.linalg.norm(np.array(self.m.gravity, dtype=float)))
        return (gravity or 1.0) * sum(float(b.mass) for b in self.m.bodies) or 1.0

    @property
    def firmness(self) -> float:
        """N/m of the spring that pulls: the weight for a quarter of the mechanism's size."""
        from eslabon.scene import scene_of

        return 4 * self.weight / scene_of(self.m).size

    # -- motions ------------------------------------------------------------------------------------------------------

    def find_mode_shapes(self) -> str:
        """The modes about where the mechanism stands, as clips."""
        shapes = mode_shapes(self.m, self.q)
        self.clips = {n: c for n, c in self.clips.items() if not c.periodic} | {
            c.name: c for c in shapes
        }
        return ""

    def play(self, name: str) -> str:
        if name not in self.clips:
            raise InputError(f"there is no motion '{name}' to play.")
        self.run = None
        if self.clip is not self.clips[name] or self.clock >= self.clip.duration:
            self.clip, self.clock = self.clips[name], 0.0
        self.going = True
        return ""

    def seek(self, seconds: float) -> None:
        """Stand where the clip is after some time; a period comes again, another motion ends."""
        if self.clip is None:
            return
        if seconds > self.clip.duration:
            self.going = self.clip.periodic
            seconds = (
                seconds % max(self.clip.duration, 1e-9)
                if self.clip.periodic
                else self.clip.duration
            )
        self.clock = seconds
        self.session.q = self.clip.at(self.m, seconds)

    def show(self, name: str, seconds: float) -> str:
        """A clip at a time, standing still."""
        self.run, self.going, self.clip = None, False, self.clips[name]
        self.seek(seconds)
        return ""
