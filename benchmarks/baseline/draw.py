"""Draw the mechanisms of the baseline and a state for each. Run once; recordings use the files.

    python -m baseline.draw             states of library mechanisms that have none yet
    python -m baseline.draw --all       everything from the start: all numbers change

Trees and random loops come from the generators of the tests. Most random loops are locked, so most
closed mechanisms here are made to move: planar and spherical loops, loops with seven or more
degrees of freedom, gears, and topologies of the library with other lengths.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import eslabon as es
from baseline.states import DRAWN, derive_state, write_states
from eslabon.files.toml_format import to_toml

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

Drawing = tuple[str, es.Mechanism, str]  # name, mechanism, how it was drawn
KINDS = (
    "revolute",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "fixed",
)
SPATIAL_LOOPS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("revolute", "spherical", "spherical"), "revolute"),
    (("revolute", "universal", "spherical"), "revolute"),
    (("revolute", "cylindrical", "cylindrical"), "cylindrical"),
    (("prismatic", "spherical", "universal"), "revolute"),
    (("helical", "spherical", "universal"), "revolute"),
    (("planar", "universal", "revolute"), "revolute"),
    (("free", "revolute"), "revolute"),
    (("spherical", "revolute"), "spherical"),
    (("universal", "prismatic"), "spherical"),
    (("cylindrical", "revolute", "universal"), "universal"),
)
LENGTHS_CHANGED = {
    "five_bar": ("L2", "L3"), "diaz_four_bar": ("L1", "L3"), "slider_crank": None,
    "four_bar_spring": None,
    "planar_3rrr": None, "n_four_bar": None, "rssr": None, "spatial_four_bar": None,
    "excavator": None,
    "andrews_squeezer": None, "diaz_3rrr": None, "flyball_governor": None,
}  # fmt: skip


# -- trees -----------------------------------------------------------------------------------------


def random_trees() -> Iterator[Drawing]:
    """Every joint kind before a hinge, then serial and branched trees of any kinds."""
    from random_mechanisms import random_tree

    for k, kind in enumerate(KINDS):
        m = random_tree(np.random.default_rng(k), [kind, "revolute"], branched=False)
        yield (
            f"tree_{kind}",
            m,
            f"random_tree(default_rng({k}), ['{kind}', 'revolute'], branched=False)",
        )
    for k in range(12):
        seed, size, branched = 100 + k, 2 + k % 3, k >= 6
        rng = np.random.default_rng(seed)
        kinds = [str(x) for x in rng.choice(KINDS, size=size)] + ["revolute"]
        m = random_tree(rng, kinds, branched)
        shape = "branched" if branched else "serial"
        yield (
            f"tree_{shape}_{k:02}",
            m,
            f"random_tree of kinds {kinds}, default_rng({seed}), {shape}",
        )


def arms() -> Iterator[Drawing]:
    """Serial arms with friction, motors, gears, springs, limits, wrenches, a shape and a mode."""
    for k in range(5):
        rng = np.random.default_rng(200 + k)
        b = es.Builder(f"arm_{k}", gravity=(0, 0, -9.81))
        length = b.parameter("L", round(float(rng.uniform(0.3, 0.8)), 3))
        last = "ground"
        for i in range(2 + k % 3):
            mass = round(float(rng.uniform(0.5, 3.0)), 3)
            b.body(
                f"link{i}",
                mass,
                (length / 2, 0, 0.01),
                (0.001 * mass, mass * length**2 / 12, mass * length**2 / 12),
            )
            b.joint(
                f"q{i}", "revolute", last, f"link{i}", at=(length if i else 0.0, 0, 0.1),
                axis="zyx"[(i + k) % 3],
                viscous=0.1 * (i + 1), coulomb=0.05 if i % 2 else None, limits=(-2.5, 2.5),
                effort_limit=60.0,
                motor_inertia=1e-4, gear_ratio=50.0 + i, stiffness=3.0 if i == 1 else None,
                rest=0.2 if i == 1 else None,
            )  # fmt: skip
            last = f"link{i}"
        b.frame("tool", last, at=(length, 0, 0)).mode("raised", {"q1": -0.7})
        b.wrench("push", last, force=(0, 1.5, -2.0), moment=(0, 0.1, 0)).shape(
            "ball", last, "sphere", 0.05
        )
        b.spring(
            "balance",
            "ground",
            "link0",
            (0, 0, 0.8),
            (length, 0, 0),
            stiffness=40.0,
            damping=1.0,
            length=0.3,
        )
        yield b._name, b.build(), f"arms() of draw.py, default_rng({200 + k})"


# -- closed mechanisms that move -------------------------------------------------------------------


def rod(b: es.Builder, rng: np.random.Generator, name: str, length: float, slender: bool) -> None:
    mass = float(rng.uniform(0.3, 2.0))
    across = mass * length**2 / 12
    b.body(name, mass, (length / 2, 0, 0), (0.0 if slender else 0.1 * across, across, across))


def close(b: es.Builder, home: np.ndarray, cut: Any, first_body: str, at: Any) -> es.Mechanism:
    """The tree with a cut joint from a body to the ground, where the body stands at `home`; home
    goes into the joints."""
    from eslabon.formulas.kinematics.tree import placements
    from random_mechanisms import add_loop

    tree = b.build()
    items = b._items["joints"]
    b._items["joints"] = [
        replace(j, home=tuple(home[tree.coordinates[j.name]].tolist()) or None) for j in items
    ]
    add_loop(
        b, "closure", cut, placements(tree, home), first_body, "ground", at, np.array(cut.neutral())
    )
    return b.build()


def planar_loops() -> Iterator[Drawing]:
    """Single loops in a plane, which may be any plane: three to five bodies, hinges and sliders."""
    from eslabon.model.parsing import joint_kind
    from random_mechanisms import random_rotation

    for k in range(14):
        seed = 300 + k
        rng = np.random.default_rng(seed)
        bodies, tilted, sliding = 3 + k % 3, k % 2 == 1, k % 4 == 3
        b = es.Builder(f"planar_loop_{k:02}", gravity=(0, -9.81, 0) if k % 3 else (0, 0, 0))
        base, last, lengths = np.eye(4), "ground", rng.uniform(0.3, 0.9, bodies)
        if tilted:
            base[:3, :3], base[:3, 3] = random_rotation(rng), rng.normal(size=3) / 3
        for i in range(bodies):
            rod(b, rng, f"body{i}", lengths[i], slender=k % 2 == 0)
            at = base if i == 0 else (lengths[i - 1], 0, 0)
            slider = sliding and i == 1
            kind, axis = ("prismatic", "x") if slider else ("revolute", "z")
            b.joint(
                f"joint{i}",
                kind,
                last,
                f"body{i}",
                at=at,
                axis=axis,
                viscous=0.02 if k % 5 == 0 else None,
            )
            last = f"body{i}"
        b.frame("tip", f"body{bodies - 2}", at=(lengths[-2], 0, 0))
        if k % 4 == 2:
            b.spring(
                "spring", "ground", "body1", (0.1, 0.6, 0), (0.2, 0, 0), stiffness=25.0, length=0.3
            )
        free = bodies - 2
        b.actuate(*(f"joint{i}" for i in range(free if k % 7 else max(0, free - 1))))
        home = np.array(
            [rng.uniform(0.4, 1.3)] + [rng.uniform(-1.3, -0.3) for _ in range(bodies - 1)]
        )
        if sliding:
            home[1] = 0.2
        m = close(b, home, joint_kind("revolute", "z", None, "cut"), last, (lengths[-1], 0, 0))
        yield b._name, m, f"planar_loops() of draw.py, default_rng({seed})"


def spherical_loops() -> Iterator[Drawing]:
    """Hinges whose axes meet in a point."""
    from eslabon.model.parsing import joint_kind
    from random_mechanisms import random_inertia, random_rotation

    for k in range(3):
        seed, bodies = 400 + k, 3 + k % 2
        rng = np.random.default_rng(seed)
        b, last = es.Builder(f"spherical_loop_{k}", gravity=(0, 0, -9.81)), "ground"
        for i in range(bodies):
            at = np.eye(4)
            at[:3, :3] = random_rotation(rng)
            b.body(f"body{i}", 1.0, rng.normal(size=3) / 5, random_inertia(rng, 1.0))
            b.joint(f"joint{i}", "revolute", last, f"body{i}", at=at)
            last = f"body{i}"
        at = np.eye(4)
        at[:3, :3] = random_rotation(rng)
        b.frame("tip", last, at=(0.1, 0.2, 0.3)).actuate(*(f"joint{i}" for i in range(bodies - 2)))
        m = close(b, rng.uniform(-1, 1, bodies), joint_kind("revolute", "z", None, "cut"), last, at)
        yield b._name, m, f"spherical_loops() of draw.py, default_rng({seed})"


def spatial_loops() -> Iterator[Drawing]:
    """Loops in space with seven or more degrees of freedom in their joints."""
    from eslabon.model.parsing import joint_kind
    from random_mechanisms import random_builder, random_coordinates, random_kind, random_pose

    for k, (kinds, cut) in enumerate(SPATIAL_LOOPS):
        seed = 500 + k
        rng = np.random.default_rng(seed)
        b = random_builder(rng, list(kinds), branched=False)
        more = random_kind(rng, cut)
        closing = joint_kind(cut, more.get("axis"), more.get("pitch"), "cut")
        b.actuate("joint0")
        home, at = random_coordinates(rng, b.build()), random_pose(rng)
        m = close(b, home, closing, f"body{len(kinds) - 1}", at)
        yield (
            f"spatial_loop_{k}",
            m,
            f"spatial_loops() of draw.py, kinds {kinds}, cut {cut}, default_rng({seed})",
        )


def other_lengths() -> Iterator[Drawing]:
    """Mechanisms of the library with each length up to three per cent longer or shorter, and masses
    with them."""
    for k, (name, chosen) in enumerate(LENGTHS_CHANGED.items()):
        m, rng = es.load(name), np.random.default_rng(600 + k)
        names = chosen or [
            x for x, value in m.parameters.items() if isinstance(value, float) and value > 0
        ]
        for _ in range(20):
            values = {x: round(m.parameters[x] * float(rng.uniform(0.97, 1.03)), 6) for x in names}
            try:
                changed = m.with_parameters(**values)
                changed.project(changed.home())
                break
            except es.EslabonError:
                continue
        else:
            raise SystemExit(f"{name} does not assemble with other lengths.")
        yield (
            f"{name}_other",
            changed,
            f"{name} with {values}, default_rng({600 + k})",
        )


def geared_and_driven() -> Iterator[Drawing]:
    """Trees whose joints gears couple, joints driven in time, a rope of constant length."""
    from random_mechanisms import random_builder

    for k in range(4):
        rng = np.random.default_rng(700 + k)
        b = random_builder(
            rng,
            ["revolute", ["prismatic", "helical", "revolute", "revolute"][k], "revolute"],
            k % 2 == 0,
        )
        b.couple("gear", "joint1", "joint0", ratio=-1.5 + k, offset=0.1 * k).actuate(
            "joint0", "joint2"
        )
        yield f"geared_{k}", b.build(), f"geared_and_driven() of draw.py, default_rng({700 + k})"
    for k in range(3):
        rng = np.random.default_rng(720 + k)
        b = random_builder(rng, ["revolute", "revolute", "prismatic"][: 2 + k % 2], branched=k == 2)
        b.drive("drive", "joint0", ["0.3*sin(2*t)", "0.5*t", "0.1*t**2 + 0.2"][k]).actuate("joint1")
        yield f"driven_{k}", b.build(), f"geared_and_driven() of draw.py, default_rng({720 + k})"
    b = es.Builder("rope", gravity=(0, -9.81, 0))
    for i, last in enumerate(("ground", "bar0")):
        b.body(f"bar{i}", 1.0, (0.4, 0, 0), (0, 0.05, 0.05))
        b.joint(f"q{i}", "revolute", last, f"bar{i}", at=(0.8 * i, 0, 0), home=(0.7, -0.6)[i])
    end = np.array([0.8 * np.cos(0.7) + 0.8 * np.cos(0.1), 0.8 * np.sin(0.7) + 0.8 * np.sin(0.1)])
    b.loop("rope", "distance", "ground", "bar1", first=(0.2, 1.5, 0), second=(0.8, 0, 0),
        length=float(np.hypot(*(end - [0.2, 1.5])))).actuate("q0").frame("tip", "bar1",
        at=(0.8, 0, 0))  # fmt: skip
    yield "rope", b.build(), "two bars and a rope of constant length; no random number"


# -- closed mechanisms, most of them locked --------------------------------------------------------


def locked() -> Iterator[Drawing]:
    """The smallest mechanisms of the tests, and a random chain welded to the ground."""
    from small_mechanisms import SMALL, random_locked

    for name, make in SMALL.items():
        yield name, make(), f"tests/small_mechanisms.py: {name}"
    yield "welded", random_locked(np.random.default_rng(800)), "random_locked(default_rng(800))"


def random_loops() -> Iterator[Drawing]:
    """Random cut joints between the bodies of random trees."""
    from random_mechanisms import random_closed

    for k, (kinds, cuts) in enumerate(
        (
            (["free", "spherical"], ["revolute"]), (["planar", "spherical", "revolute"],
            ["spherical"]),
            (["free", "revolute", "revolute"], ["cylindrical", "universal"]),
            (["revolute"] * 3, ["planar"]),
            (["universal", "helical", "spherical"], ["prismatic"]),
        )
    ):  # fmt: skip
        m, _ = random_closed(np.random.default_rng(900 + k), kinds, cuts)
        yield f"random_loop_{k}", m, f"random_closed(default_rng({900 + k}), {kinds}, {cuts})"


def collector(drawn: list[es.Mechanism]) -> Callable[[Any], None]:
    """A test that passes and keeps what was drawn."""

    def collect(state: Any) -> None:
        drawn.append(state.m)

    return collect


def strategies() -> Iterator[Drawing]:
    """What the strategies of the tests draw: parameters, massless bodies, rods, springs, motors,
    gears; open and closed."""
    from hypothesis import HealthCheck, Phase, given, settings

    from random_mechanisms import closed_states, states

    quiet = {"database": None, "deadline": None, "derandomize": True, "phases": (Phase.generate,)}
    for label, strategy, count in (
        ("strategy_tree", states(), 8),
        ("strategy_loop", closed_states(), 6),
    ):
        drawn: list[es.Mechanism] = []

        collect = given(strategy)(collector(drawn))
        settings(max_examples=20 * count, suppress_health_check=list(HealthCheck), **quiet)(
            collect
        )()
        different = {tuple(type(j.kind) for j in m.joints): m for m in drawn if 2 <= m.nv <= 9}
        for k, m in enumerate(list(different.values())[-count:]):
            yield (
                f"{label}_{k}",
                m,
                f"{label.replace('_', ' ')} of tests/random_mechanisms.py, derandomised",
            )


# -- files -----------------------------------------------------------------------------------------

FAMILIES: tuple[Callable[[], Iterator[Drawing]], ...] = (
    random_trees, arms, strategies, planar_loops, spherical_loops, spatial_loops, other_lengths,
    geared_and_driven,
    random_loops, locked,
)  # fmt: skip


def draw_mechanisms() -> None:
    for old in DRAWN.glob("*.toml"):
        old.unlink()
    for family in FAMILIES:
        for name, m, how in family():
            description = replace(m.description, name=name, note="")
            (DRAWN / f"{name}.toml").write_text(
                f"# {how}\n{to_toml(description)}", encoding="utf-8"
            )
        print(f"{family.__name__}: {len(list(DRAWN.glob('*.toml')))} files", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--all", action="store_true", help="draw mechanisms and states anew")
    warnings.simplefilter("ignore")
    if (given := options.parse_args()).all:
        draw_mechanisms()
    write_states(derive_state, anew=given.all)


if __name__ == "__main__":
    main()
