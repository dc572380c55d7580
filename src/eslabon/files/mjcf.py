"""MJCF: a model as MuJoCo reads it, through MuJoCo's own compiler (the optional extra ``mjcf``).

The compiler resolves defaults, includes, frames, and inertias from geometry; this room turns the
compiled model into a description. Names keep their meaning: a body's frame is MuJoCo's, a named
site is a frame, a keyframe a mode, and q is MuJoCo's qpos, number by number. So is v its qvel, but
for free joints: here the body twist, angular part first.

Where the two differ:

* A body with several joints gets massless bodies between them. A joint beside its body's origin
  (``pos``) carries a massless body at its anchor, and that one the body, by a fixed joint: here a
  body's frame is its joint's outer frame.
* ``ref`` is part of the joint's pose, qpos0 is home, ``springref`` the rest of the joint's spring,
  ``frictionloss`` its Coulomb friction, ``gravcomp`` a constant wrench, and a spatial tendon
  between two sites a spring.
* A joint is actuated where an actuator acts on it, and its force is that at the joint, gear
  included. ``armature`` is the motor's inertia as seen at the joint: ``motor_inertia`` times the
  square of ``gear_ratio``.
* Equality constraints hold exactly, not softly: ``connect`` is a spherical cut joint, ``weld`` a
  fixed one, ``joint`` a coupling or, for a single joint, a fixed cut joint across it, ``tendon`` a
  coupling if it is of two joints.
* A geom that MuJoCo's viewer shows at first is a shape (`mjcf_geoms`).
* A name that is taken, since MuJoCo lets a body and a site share one, gets its kind behind it:
  ``torso_site``.

What has no place in a description is left out, and a warning and the mechanism's note say so.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np
from defusedxml import DefusedXmlException

from eslabon import model
from eslabon.errors import MissingDependencyError, ReadError
from eslabon.files.diagnostics import MOST_NAMES, Diagnostics
from eslabon.files.mjcf_geoms import Geoms
from eslabon.files.options import MjcfOptions
from eslabon.files.xml_elements import tree_with_lines
from eslabon.model import GROUND, Builder, Description
from eslabon.model.parsing import joint_kind
from eslabon.numerics.rigid_motions import pose
from eslabon.numerics.rotations import rotation_from_quaternion

KINDS = ("free", "spherical", "prismatic", "revolute")  # in the order of MuJoCo's mjtJoint
SCALAR = ("prismatic", "revolute")
TRIAL = "import mujoco, sys; mujoco.MjModel.from_xml_path(sys.argv[1])"
# Starting Python and MuJoCo takes half a second, compiling a large model a few
TRIAL_SECONDS = 60.0
OTHER_FILES = ("include", "model")  # elements that name a file of the same format
Matrix = np.ndarray[Any, Any]


def read_mjcf(options: MjcfOptions, diagnostics: Diagnostics) -> Description:
    """The mechanism that the MJCF file of the diagnostics' source describes."""
    path = diagnostics.source.path
    try:
        import mujoco
    except ImportError:
        raise MissingDependencyError(
            "MJCF needs MuJoCo's compiler; pip install 'eslabon[mjcf]' brings it."
        ) from None
    compiled = _compile(mujoco, path, diagnostics)
    reader = _Reader(mujoco, compiled, diagnostics)
    description = reader.describe()
    if diagnostics.losses:
        diagnostics.leave_out(reader.losses())
    return description


def _compile(mujoco: ModuleType, path: Path, diagnostics: Diagnostics) -> Any:
    """The model that MuJoCo makes of a file.

    An attribute that is blank where numbers must be (``<connect anchor=" ">``) breaks the compiler
    down: an unknown exception, after which every other model waits for ever in this process. No
    other nonsense in any attribute does that, and blank ones may be harmless (``name=""``), so that
    a file that has some is tried in a process of its own first."""
    if blank := list(dict.fromkeys(_blank_attributes(path))):
        _try_elsewhere(path, blank, diagnostics)
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError) as error:
        raise _refusal(str(error), diagnostics) from None


def _refusal(error: str, diagnostics: Diagnostics) -> ReadError:
    line = re.search(r"\bline (\d+)", error)  # only the compiler's own sentence has it
    place = diagnostics.source.line(int(line[1])) if line else ()
    return ReadError(f"MuJoCo cannot compile the model: {' '.join(error.split())}").at(*place)


def _try_elsewhere(path: Path, blank: list[tuple[int, str]], diagnostics: Diagnostics) -> None:
    """Compile a model in another process, and refuse it where that fails."""
    try:
        trial = subprocess.run(
            [sys.executable, "-c", TRIAL, str(path)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        why = f"its compiler did not end within {TRIAL_SECONDS:g} s"
    else:
        if trial.returncode == 0:
            return
        _, refused, error = trial.stderr.rpartition("ValueError: ")
        if refused:
            raise _refusal(error, diagnostics)
        why = "its compiler breaks down"
    few = ", ".join(said for _, said in blank[:MOST_NAMES])
    few += f" and {len(blank) - MOST_NAMES} more" * (len(blank) > MOST_NAMES)
    raise ReadError(
        f"MuJoCo cannot compile the model: {why}; give {few} a value, or take it away."
    ).at(*diagnostics.source.line(blank[0][0]))


def _blank_attributes(main: Path) -> Iterator[tuple[int, str]]:
    """The attributes of a file, and of those that it includes, that have nothing in them: each with
    its line."""
    found, k = [main], 0
    while k < len(found):
        path, k = found[k], k + 1
        try:
            root = tree_with_lines(path.read_bytes())
        except (OSError, ParseError, DefusedXmlException, ValueError, LookupError):
            continue  # MuJoCo says what is wrong with it
        for element in root.iter():
            for key, value in element.items():
                if not value.strip():
                    where = f"line {element.line}" + f" of {path.name}" * (k > 1)
                    yield element.line, f"{key} of <{element.word}> in {where}"
            if element.word in OTHER_FILES and (file := element.get("file")):
                others = (folder.parent / file for folder in (main, path))
                found += [x for x in others if x not in found and x.is_file()]


class _Names(set[str]):
    """The names of a room, each of them once."""

    def new(self, name: str, kind: str) -> str:
        """The name itself if it is free, else with its kind behind it."""
        candidates = chain((name, f"{name}_{kind}"), (f"{name}_{kind}{k}" for k in count(2)))
        self.add(free := next(text for text in candidates if text not in self))
        return free


class _Reader:
    """A compiled model (`mj`) on its way into a Builder (`b`). Lists and dictionaries go by
    MuJoCo's numbers."""

    def __init__(self, mujoco: ModuleType, mj: Any, diagnostics: Diagnostics) -> None:
        self.mujoco, self.mj, self.diagnostics = mujoco, mj, diagnostics
        self.path, self.lose = diagnostics.source.path, diagnostics.lose
        self.frame_names, self.joint_names = _Names((GROUND,)), _Names()
        self.bodies = [GROUND, *self._names("body", range(1, mj.nbody), self.frame_names)]
        self.joints = self._names("joint", range(mj.njnt), self.joint_names)
        self.ends: dict[
            int, tuple[str, str, Matrix]
        ] = {}  # of a joint: parent, child, pose of its inner frame
        title = mj.names.split(b"\0")[0].decode()
        gravity = mj.opt.gravity if self._on("GRAVITY") else np.zeros(3)
        self.b = Builder(
            self.path.stem if title in ("", "MuJoCo Model") else title, gravity.tolist()
        )

    def describe(self) -> Description:
        for i in range(1, self.mj.nbody):
            self._add_body(i)
        self._add_frames()
        self._add_equalities()
        self._add_springs()
        self._add_modes()
        self._add_shapes()
        self.b.actuate(*(self.joints[j] for j in self.drives if self._drives_all(j)))
        self._lose_the_rest()
        note = f"Read from {self.path.name}."
        return replace(
            self.b.describe(), note=f"{note} {self.losses()}" if self.diagnostics.losses else note
        )

    # -- the compiled model ------------------------------------------------------------------------

    def _names(self, kind: str, numbers: Iterable[int], room: _Names) -> list[str]:
        """The names here of items of a kind; those without a name are called by kind and number,
        after all others."""
        given = {i: getattr(self.mj, kind)(i).name for i in numbers}
        made = {
            i: room.new(given[i] or f"{kind}{i}", kind)
            for i in sorted(given, key=lambda i: not given[i])
        }
        return [made[i] for i in given]

    def _on(self, *features: str) -> bool:
        """Whether the options leave features on; what this version of MuJoCo has no switch for,
        is."""
        bits = (
            int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{feature}", 0)) for feature in features
        )
        return not any(self.mj.opt.disableflags & bit for bit in bits)

    def _word(self, enum: str, value: Any) -> str:
        """What a number of one of MuJoCo's enumerations means: "JOINT" for mjtTrn's mjTRN_JOINT."""
        return str(getattr(self.mujoco, enum)(int(value)).name).partition("_")[2]

    def _any(self, i: int, *fields: str) -> bool:
        """Whether one of the fields is not zero at i, of those that this version of MuJoCo has."""
        return any(
            np.any(getattr(self.mj, field)[i]) for field in fields if hasattr(self.mj, field)
        )

    def _coordinates(self, j: int) -> slice:
        """Where a joint's coordinates stand in qpos."""
        first = self.mj.jnt_qposadr[j]
        return slice(first, first + len(self._kind(j).coordinates))

    def _kind(self, j: int) -> type[model.JointKind]:
        return model.KINDS[KINDS[self.mj.jnt_type[j]]]

    def losses(self) -> str:
        """One sentence on all that is left out."""
        return f"Not carried over: {self.diagnostics.lost()}."

    # -- bodies and joints -------------------------------------------------------------------------

    def _add_body(self, i: int) -> None:
        """A body on its joints. MuJoCo's frame of the body goes from T to T shift(p) J(q) shift(-p)
        at each of them."""
        mj, name = self.mj, self.bodies[i]
        parent, here, anchor = (
            self.bodies[mj.body_parentid[i]],
            _pose(mj.body_pos[i], mj.body_quat[i]),
            np.zeros(3),
        )
        joints = range(mj.body_jntadr[i], mj.body_jntadr[i] + mj.body_jntnum[i])
        for j in joints:
            kind = KINDS[mj.jnt_type[j]]
            if kind in (
                "revolute",
                "spherical",
            ):  # a slide is the same everywhere, so it stays at the last anchor
                anchor = mj.jnt_pos[j]
            child = name
            if j != joints[-1] or anchor.any():
                child = self.frame_names.new(f"{self.joints[j]}_anchor", "body")
                self.b.body(child)
            self._add_joint(j, kind, parent, child, here @ _pose(anchor))
            parent, here = child, _pose(-anchor)
        if parent != name:
            self.b.joint(
                self.joint_names.new(f"{name}_fixed", "joint"), "fixed", parent, name, here
            )
        com, R = mj.body_ipos[i].tolist(), rotation_from_quaternion(mj.body_iquat[i])
        with np.errstate(all="ignore"):  # what is not finite is refused by the model
            inertia = R * mj.body_inertia[i] @ R.T
        self.b.body(name, mj.body_mass[i], com, inertia)
        if mj.body_gravcomp[i] and self._on("GRAVITY"):
            lift = -mj.body_gravcomp[i] * mj.body_mass[i] * mj.opt.gravity
            self.b.wrench(f"{name} gravity compensation", name, lift.tolist(), at=com)

    def _add_joint(self, j: int, kind: str, parent: str, child: str, at: Matrix) -> None:
        mj, home, axis = self.mj, self.mj.qpos0[self._coordinates(j)], None
        data = self._resistance(j, kind)
        if kind in SCALAR:
            axis = mj.jnt_axis[j].tolist()
            at = at @ _moved(kind, axis, -home[0])
            data |= self._spring_and_limits(j)
        elif kind == "free":
            at = np.eye(
                4
            )  # qpos is the body's pose itself, not its way from where the file puts it
        self.ends[j] = parent, child, at
        self.b.joint(self.joints[j], kind, parent, child, at, axis, home=home.tolist(), **data)

    def _resistance(self, j: int, kind: str) -> dict[str, Any]:
        """Friction, and the motor's inertia with its gear."""
        mj, d, name = self.mj, self.mj.jnt_dofadr[j], self.joints[j]
        damping, friction, armature = mj.dof_damping[d], mj.dof_frictionloss[d], mj.dof_armature[d]
        gears = [self._gear(k)[0] for k in self.drives.get(j, ())]
        if hasattr(mj, "jnt_actuatorid") and (k := mj.jnt_actuatorid[j]) >= 0:
            if kind in SCALAR:
                damping += self._gear(k)[0] ** 2 * mj.actuator_damping[k]
                armature += self._gear(k)[0] ** 2 * mj.actuator_armature[k]
            if kind not in SCALAR or self._any(k, "actuator_dampingpoly"):
                self.lose("the actuator's damping and armature at the joints", name)
        if self._any(d, "dof_dampingpoly"):
            self.lose("the nonlinear part of the damping of the joints", name)
        if kind == "free" and (
            friction or armature
        ):  # of velocities along the world's axes; here they are the body's
            self.lose("the friction loss and armature of the free joints", name)
            friction = armature = 0.0
        gear = gears[0] if len(gears) == 1 and kind in SCALAR else 1.0
        data = {
            "viscous": damping if self._on("DAMPER", "PASSIVE") else 0.0,
            "coulomb": friction if self._on("FRICTIONLOSS", "CONSTRAINT") else 0.0,
            "motor_inertia": armature / gear**2,
            "gear_ratio": gear if gear != 1.0 else 0.0,
        }
        return {key: value for key, value in data.items() if value}

    def _spring_and_limits(self, j: int) -> dict[str, Any]:
        """What only a joint of one coordinate has: spring, range and effort limit."""
        mj, name, data = self.mj, self.joints[j], dict[str, Any]()
        if mj.jnt_stiffness[j] and self._on("SPRING", "PASSIVE"):
            data |= {"stiffness": mj.jnt_stiffness[j], "rest": mj.qpos_spring[mj.jnt_qposadr[j]]}
        if self._any(j, "jnt_stiffnesspoly", "jnt_springyield"):
            self.lose("the nonlinear part of the springs of the joints", name)
        if mj.jnt_limited[j] and self._on("LIMIT", "CONSTRAINT"):
            data["limits"] = mj.jnt_range[j].tolist()
        drives = self.drives.get(j, ())
        effort = sum(self._limit(k) * abs(self._gear(k)[0]) for k in drives) if drives else math.inf
        if mj.jnt_actfrclimited[j]:
            effort = min(effort, self._larger_side(mj.jnt_actfrcrange[j], name))
        return data if effort == math.inf else data | {"effort_limit": effort}

    def _add_frames(self) -> None:
        mj = self.mj
        self.b.frame(self.frame_names.new("world", "frame"), GROUND)
        for i in range(mj.nsite):
            if name := mj.site(i).name:
                at = _pose(mj.site_pos[i], mj.site_quat[i])
                self.b.frame(self.frame_names.new(name, "site"), self.bodies[mj.site_bodyid[i]], at)

    def _add_modes(self) -> None:
        """Keyframes; MuJoCo reads their quaternions of any length as unit ones."""
        names = self._names("key", range(self.mj.nkey), _Names())
        for name, q in zip(names, self.mj.key_qpos.copy(), strict=True):
            self.mujoco.mj_normalizeQuat(self.mj, q)
            self.b.mode(
                name,
                {joint: q[self._coordinates(j)].tolist() for j, joint in enumerate(self.joints)},
            )

    def _add_shapes(self) -> None:
        names = _Names()
        for body, name, given in Geoms(self.mujoco, self.mj, self.path).shapes():
            self.b.shape(names.new(name, "shape"), self.bodies[body], **given)

    # -- actuators ---------------------------------------------------------------------------------

    @cached_property
    def drives(self) -> dict[int, list[int]]:
        """The actuators of each joint that has some."""
        mj, found = self.mj, dict[int, list[int]]()
        names = self._names("actuator", range(len(mj.actuator_trntype)), _Names())
        for k, name in enumerate(names):
            if self._word("mjtTrn", mj.actuator_trntype[k]) not in ("JOINT", "JOINTINPARENT"):
                self.lose("the actuators that act on something else than a joint:", name)
            elif not self._on("ACTUATION") or mj.opt.disableactuator >> mj.actuator_group[k] & 1:
                self.lose("the disabled actuators", name)
            elif self._gear(k).any():
                found.setdefault(mj.actuator_trnid[k, 0], []).append(k)
                if self._any(k, "actuator_delay"):
                    self.lose("the delays of the actuators", name)
                if not self._is_motor(k):
                    self.lose("the control laws, such as a servo's, of the actuators", name)
        return dict(sorted(found.items()))

    def _gear(self, k: int) -> Matrix:
        """An actuator's force along each velocity of its joint, by its own force."""
        row = self.mj.actuator_outadr[k] if hasattr(self.mj, "actuator_outadr") else k
        return self.mj.actuator_gear[
            row, : len(self._kind(self.mj.actuator_trnid[k, 0]).velocities)
        ]

    def _is_motor(self, k: int) -> bool:
        """Whether an actuator's force is a constant times its control."""
        kinds = (("mjtDyn", "dyntype"), ("mjtGain", "gaintype"), ("mjtBias", "biastype"))
        laws = [self._word(enum, getattr(self.mj, f"actuator_{field}")[k]) for enum, field in kinds]
        return laws == ["NONE", "FIXED", "NONE"]

    def _limit(self, k: int) -> float:
        """The largest force of an actuator: of its range of force and, for a motor, of control."""
        mj, name, limit = self.mj, self.mj.actuator(k).name or f"actuator{k}", math.inf
        if mj.actuator_forcelimited[k]:
            limit = self._larger_side(mj.actuator_forcerange[k], name)
        control = mj.actuator_ctrladr[k] if hasattr(mj, "actuator_ctrladr") else k
        if self._is_motor(k) and mj.actuator_ctrllimited[control] and self._on("CLAMPCTRL"):
            at_most = self._larger_side(
                mj.actuator_gainprm[k, 0] * mj.actuator_ctrlrange[control], name
            )
            limit = min(limit, at_most)
        return limit

    def _larger_side(self, limits: Matrix, name: str) -> float:
        if limits[0] != -limits[1]:
            self.lose("the smaller side of the unsymmetric force limits of", name)
        return float(np.abs(limits).max())

    def _drives_all(self, j: int) -> bool:
        """Whether the actuators of a joint reach all its degrees of freedom."""
        gears = np.array([self._gear(k) for k in self.drives[j]])
        if np.linalg.matrix_rank(gears) == gears.shape[1]:
            return True
        self.lose(
            "the actuators of the joints driven about some of their axes only:", self.joints[j]
        )
        return False

    # -- equality constraints ----------------------------------------------------------------------

    def _add_equalities(self) -> None:
        mj = self.mj
        for e, name in enumerate(self._names("equality", range(mj.neq), self.joint_names)):
            kind = self._word("mjtEq", mj.eq_type[e])
            if not (mj.eq_active0[e] and self._on("EQUALITY", "CONSTRAINT")):
                self.lose("the inactive equality constraints", name)
            elif kind in ("CONNECT", "WELD"):
                self._add_cut(e, name, weld=kind == "WELD")
            elif kind == "JOINT":
                self._add_coupling(e, name)
            elif kind != "TENDON" or not self._add_tendon_coupling(e, name):
                self.lose("the equality constraints of tendons and flexes:", name)

    def _add_cut(self, e: int, name: str, weld: bool) -> None:
        """Two points that coincide and, if welded, two frames of the same axes."""
        mj, ends, data = self.mj, [self.mj.eq_obj1id[e], self.mj.eq_obj2id[e]], self.mj.eq_data[e]
        if self._word("mjtObj", mj.eq_objtype[e]) == "SITE":
            first, second = (_pose(mj.site_pos[s], mj.site_quat[s]) for s in ends)
            ends = [mj.site_bodyid[s] for s in ends]
        elif weld:  # the point on the second body first, then that body's pose in the first one
            first, second = _pose(data[3:6], data[6:10]), _pose(data[:3])
        else:
            first, second = _pose(data[:3]), _pose(data[3:6])
        if any(mj.body_mocapid[i] >= 0 for i in ends):
            self.lose("the equality constraints that follow mocap bodies:", name)
        elif len({mj.body_weldid[i] for i in ends}) == 1:
            self.lose("the equality constraints within one rigid body:", name)
        else:
            kind = (
                "fixed" if weld and data[10] else "spherical"
            )  # a torquescale of zero leaves the orientation free
            one, other = (self.bodies[i] for i in ends)
            self.b.loop(name, kind, one, other, first, second)

    def _add_coupling(self, e: int, name: str) -> None:
        """q1 - ref1 = a0 + a1 (q2 - ref2), or the value a0 that holds a single joint."""
        mj, (j, source), a = (
            self.mj,
            (self.mj.eq_obj1id[e], self.mj.eq_obj2id[e]),
            self.mj.eq_data[e, :5],
        )
        ref, source_ref = (mj.qpos0[mj.jnt_qposadr[k]] for k in (j, source))
        if source >= 0 and a[2:].any():
            self.lose("the couplings of joints by a polynomial of higher order:", name)
        elif source >= 0 and a[1]:
            self.b.couple(
                name, self.joints[j], self.joints[source], a[1], ref + a[0] - a[1] * source_ref
            )
        else:
            parent, child, at = self.ends[j]
            held = at @ _moved(KINDS[mj.jnt_type[j]], mj.jnt_axis[j].tolist(), ref + a[0])
            self.b.loop(name, "fixed", parent, child, held)

    def _add_tendon_coupling(self, e: int, name: str) -> bool:
        """c1 q1 + c2 q2, the length of a fixed tendon over two joints, stays what it is at qpos0,
        plus a0."""
        mj, t = self.mj, self.mj.eq_obj1id[e]
        joints, factors = (
            self._path(t, "JOINT"),
            mj.wrap_prm[mj.tendon_adr[t] :][: mj.tendon_num[t]],
        )
        if mj.eq_obj2id[e] >= 0 or len(joints) != 2 or not factors.all():
            return False
        (one, other), length = (
            (self.joints[j] for j in joints),
            mj.tendon_length0[t] + mj.eq_data[e, 0],
        )
        self.b.couple(name, one, other, -factors[1] / factors[0], length / factors[0])
        return True

    # -- tendons, and what is left -----------------------------------------------------------------

    def _add_springs(self) -> None:
        """Spatial tendons between two sites with a spring or a damper in them."""
        mj = self.mj
        more = (
            "frictionloss",
            "limited",
            "armature",
            "stiffnesspoly",
            "dampingpoly",
            "springyield",
        )
        for t, name in enumerate(self._names("tendon", range(mj.ntendon), _Names())):
            stiffness = mj.tendon_stiffness[t] * self._on("SPRING", "PASSIVE")
            damping = mj.tendon_damping[t] * self._on("DAMPER", "PASSIVE")
            short, long = mj.tendon_lengthspring[t]
            sites = self._path(t, "SITE")
            carried = len(sites) == 2 and (short == long or not stiffness)
            if ((stiffness or damping) and not carried) or self._any(
                t, *(f"tendon_{what}" for what in more)
            ):
                self.lose("what acts in the tendons", name)
            if (stiffness or damping) and carried:
                (one, first), (other, second) = (
                    (self.bodies[mj.site_bodyid[s]], mj.site_pos[s].tolist()) for s in sites
                )
                if one != other:
                    self.b.spring(name, one, other, first, second, stiffness, damping, long)

    def _path(self, t: int, kind: str) -> list[int]:
        """The numbers of the sites or joints that a tendon goes over, if it goes over nothing
        else."""
        wraps = range(self.mj.tendon_adr[t], self.mj.tendon_adr[t] + self.mj.tendon_num[t])
        plain = all(self._word("mjtWrap", self.mj.wrap_type[w]) == kind for w in wraps)
        return [int(self.mj.wrap_objid[w]) for w in wraps] if plain else []

    def _lose_the_rest(self) -> None:
        mj = self.mj
        for j, name in enumerate(self.joints):
            if KINDS[mj.jnt_type[j]] in SCALAR:
                continue
            if mj.jnt_limited[j] and self._on("LIMIT", "CONSTRAINT"):
                self.lose("the limits of the ball joints", name)
            if self._any(j, "jnt_stiffness", "jnt_stiffnesspoly") and self._on("SPRING", "PASSIVE"):
                self.lose("the springs of the ball and free joints", name)
            if any(self._limit(k) < math.inf for k in self.drives.get(j, ())):
                self.lose("the force limits of the actuators of the ball and free joints", name)
        if mj.nmocap:
            self.lose(
                "the motion of the mocap bodies",
                *(self.bodies[i] for i in np.flatnonzero(mj.body_mocapid >= 0)),
            )
        if self._on("CONTACT", "CONSTRAINT") and self._may_touch():
            self.lose("contacts")
        if mj.opt.density or mj.opt.viscosity:
            self.lose("the forces of the fluid around the bodies")
        if mj.nflex:
            self.lose("flexible bodies")
        if mj.nplugin:
            self.lose("plugins")

    def _may_touch(self) -> bool:
        """Whether contacts are possible: by a pair of geoms, or by bits of bodies that are not kept
        apart."""
        mj = self.mj
        types, affinities, whole = mj.body_contype, mj.body_conaffinity, mj.body_weldid
        meet = (types[:, None] & affinities | affinities[:, None] & types) != 0
        meet &= whole[:, None] != whole
        if self._on("FILTERPARENT"):
            parent = whole[mj.body_parentid[whole]]
            below = (parent[:, None] == whole) & (whole != 0)
            meet &= ~(below | below.T)
        for signature in mj.exclude_signature:
            meet[signature >> 16, signature & 0xFFFF] = meet[
                signature & 0xFFFF, signature >> 16
            ] = False
        return bool(mj.npair or meet.any())


def _pose(position: Matrix, quaternion: Matrix | None = None) -> Matrix:
    return pose(np.eye(3) if quaternion is None else rotation_from_quaternion(quaternion), position)


def _moved(kind: str, axis: list[float], by: float) -> Matrix:
    """The pose of a joint's outer frame in its inner one."""
    return pose(*joint_kind(kind, axis, None, "joint").transform(np.array([by])))
