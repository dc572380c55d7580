"""What is measured in a process of its own, so that two versions of the package can take turns (see `versions`).

Requests and answers are lines of JSON: `{"work": "call", "name": "puma560", ...}`. This file runs with either version;
where they differ in what is measured, which is only where the native function behind a verb is found, both are known.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import eslabon as es

STATE = {"q": "nq", "v": "nv", "a": "nv", "tau": "nu"}
INPUTS = {
    "pose": "q", "jacobian": "q", "velocity": "q v", "acceleration": "q v a", "position_hessian": "q",
    "inverse_dynamics": "q v a", "forward_dynamics": "q v tau", "hybrid_dynamics": "q v a", "mass_matrix": "q",
    "coriolis_matrix": "q v", "gravity_forces": "q", "energy": "q v", "reactions": "q v a", "regressor": "q v a",
    "constraint": "q", "constraint_jacobian": "q",
}  # fmt: skip


@cache
def mechanism(name: str) -> es.Mechanism:
    """A mechanism of the library, or `chain160` and the like: a chain of revolute joints about z and y in turn."""
    if not name.startswith("chain"):
        return es.load(name)
    b, last = es.Builder(name), "ground"
    for k in range(int(name.removeprefix("chain"))):
        b.body(f"b{k}", mass=1.0, com=(0.05, 0.01, 0.02), inertia=(1e-3, 2e-3, 2.5e-3))
        b.joint(f"q{k}", "revolute", last, f"b{k}", at=(0.1 if k else 0.0, 0, 0), axis="zy"[k % 2])
        last = f"b{k}"
    return b.build()


@cache
def states(name: str, count: int) -> dict[str, np.ndarray]:
    """Random states near home, closed where there are loops; `count` 0 is a single one."""
    m, rng = mechanism(name), np.random.default_rng(0)
    near = rng.uniform(-0.1, 0.1, (max(count, 1), m.nu))
    if m.closed:
        home = m.project(m.home())
        places = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
        q = m.assemble(home[places] + near * 0.2, home)
        q, v, a = m.project(q, rng.uniform(-0.1, 0.1, (len(q), m.nv)), np.zeros((len(q), m.nv)))
    else:
        q, v, a = m.home() + near, rng.uniform(-1, 1, near.shape), rng.uniform(-1, 1, near.shape)
    made = {"q": q, "v": v, "a": a, "tau": 0.1 * near}
    return {k: np.ascontiguousarray(x if count else x[0]) for k, x in made.items()}


def arrays_of(name: str, verb: str, count: int = 0) -> list[np.ndarray]:
    return [states(name, count)[k] for k in INPUTS[verb].split()]


def kernel(
    m: es.Mechanism,
    verb: str,
    options: dict[str, Any],
    parameters: tuple[str, ...] = (),
    by: str | None = None,
) -> Any:
    """The native function that a verb calls."""
    try:
        from eslabon.compiler.evaluate import evaluate
        from eslabon.formulas.quantities import quantity
    except ImportError:  # a base from before there was a compiler
        from eslabon.graph.evaluator import evaluate
        from eslabon.quantities import quantity

    formula = quantity(m, verb)
    try:
        from eslabon.solve.constraints.constraint_structure import constraint_structure
        from eslabon.verbs import options_of

        given = {"prepare": constraint_structure, **options_of(m, formula, options)}
    except ImportError:  # a base whose formulas found the structure themselves, and took words
        given = options
    made = evaluate(m, formula, parameters, by=by, **given)
    return getattr(made, "native", made)


@cache
def pair(name: str, verb: str, variant: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A verb as users call it, and its native function, both with what the variant says."""
    m, arrays = mechanism(name), arrays_of(name, verb)
    bound = getattr(m, verb)
    frame = m.frames[0].name
    options = {
        "frame": {"frame": frame},
        "axes": {"frame": frame, "axes": "spatial"},
        "formulation": {"formulation": "lagrange"},
    }
    chosen = options.get(variant, {})
    known = {"m": m, **dict(zip("qvw", arrays, strict=False))}
    state = ", ".join("qvw"[: len(arrays)])
    if variant == "parameters":
        known |= {"parameters": dict([next(iter(m.parameters.items()))])}
        known |= {"value": next(iter(known["parameters"].values()))}
        f = kernel(m, verb, {}, tuple(known["parameters"]))
        return _written(f"m.{verb}({state}, parameters=parameters)", known), _written(
            f"f({state}, value)", {**known, "f": f}
        )
    f = kernel(m, verb, chosen, by="q" if variant == "derivative" else None)
    if variant == "out":
        found = bound(*arrays)
        known["out"] = (
            tuple(map(np.empty_like, found)) if isinstance(found, tuple) else np.empty_like(found)
        )
    words = {"threads": ", threads=1", "out": ", out=out"}.get(variant, "") + "".join(
        f", {k}={v!r}" for k, v in chosen.items()
    )
    text = (
        f"m.derivative({verb!r}, 'q', {state})"
        if variant == "derivative"
        else f"m.{verb}({state}{words})"
    )
    return _written(text, known), _written(f"f({state})", {**known, "f": f})


def _written(text: str, known: dict[str, Any]) -> Callable[[], Any]:
    """A call as users write it: arguments unpacked from a list take longer."""
    return eval(f"lambda: {text}", known)


def call(name: str, verb: str, variant: str, budget: float) -> dict[str, float]:
    """Seconds of a call, and of the native function called directly."""
    return dict(
        zip(
            ("call", "kernel"),
            (per_call(f, budget) for f in pair(name, verb, variant)),
            strict=True,
        )
    )


@cache
def repetitions(f: Callable[[], Any], budget: float) -> int:
    f()
    return max(1, int(budget / max(min(seconds_of(f, 1) for _ in range(3)), 1e-8)))


def per_call(f: Callable[[], Any], budget: float) -> float:
    return seconds_of(f, repetitions(f, budget))


def seconds_of(f: Callable[[], Any], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        f()
    return (time.perf_counter() - start) / repeat


def batch(name: str, verb: str, count: int) -> dict[str, float]:
    """Seconds a state of a batch, on one thread, and the operations of the graph."""
    m, arrays = mechanism(name), arrays_of(name, verb, count)
    f = getattr(m, verb)
    f(*arrays, threads=1)
    return {
        "seconds": seconds_of(lambda: f(*arrays, threads=1), 1) / count,
        "operations": operations(m, verb),
    }


def operations(m: es.Mechanism, verb: str) -> int:
    counted = m.operations(verb)
    return int(counted.multiplications + counted.additions)


def simulate(name: str, trajectories: int, steps: int, step: float = 2e-5) -> dict[str, float]:
    """Steps a second of RK4 from a state in slow motion, all trajectories together, and what is left of the loops."""
    m, s = mechanism(name), states(name, trajectories)
    q, v = (s[k] if trajectories > 1 else s[k][0] for k in ("q", "v"))
    options = {"method": "rk4", "step": step, "every": steps // 10, "progress": False, "threads": 1}
    m.simulate(q, v, 10 * step, **{**options, "every": 1})
    start = time.perf_counter()
    motion = m.simulate(q, v, steps * step, **options)
    seconds = (time.perf_counter() - start) / (steps * trajectories)
    return {
        "seconds": seconds,
        "speed": 1 / seconds,
        "closure": float(abs(m.constraint(motion.q)).max()),
    }


def first(name: str, verb: str) -> dict[str, float]:
    """Seconds of the first call, everything before it done, and bytes of the largest machine code it made."""
    m, s = mechanism(name), states(name, 0)
    before = set(_kept())
    start = time.perf_counter()
    if verb == "rk4":
        m.simulate(s["q"], s["v"], 1e-3, method="rk4", step=1e-4, progress=False)
    else:
        getattr(m, verb)(*arrays_of(name, verb))
    seconds = time.perf_counter() - start
    made = set(_kept()) - before
    return {"seconds": seconds, **({"code": max(map(_text, made))} if made else {})}


def everyday(name: str, verb: str) -> dict[str, float]:
    """CPU seconds of an everyday call at home, from the loaded mechanism to the answer, its imports included; and those of
    a loop that says how fast the processor was just then."""
    m = mechanism(name)
    start = time.process_time()
    EVERYDAY[verb](m)
    seconds = time.process_time() - start
    return {"seconds": seconds, "loop": loop()}


def loop(count: int = 2_000_000) -> float:
    """CPU seconds that Python takes to add up ten million numbers, from a fifth of them."""
    start, total = time.process_time(), 0
    for k in range(count):
        total += k
    return 5 * (time.process_time() - start)


def _rest(m: es.Mechanism) -> tuple[np.ndarray, ...]:
    return m.home(), np.zeros(m.nv)


EVERYDAY: dict[str, Callable[[es.Mechanism], Any]] = {
    "pose": lambda m: m.pose(m.home(), _last_frame(m)),
    "jacobian": lambda m: m.jacobian(m.home(), _last_frame(m)),
    "assemble": lambda m: m.assemble(_motors(m)),
    "inverse_dynamics": lambda m: m.inverse_dynamics(*_rest(m), np.zeros(m.nv)),
    "forward_dynamics": lambda m: m.forward_dynamics(*_rest(m), np.zeros(m.nu)),
    "forward_dynamics_derivatives": lambda m: m.forward_dynamics_derivatives(
        *_rest(m), np.zeros(m.nu)
    ),
    "linearize": lambda m: m.linearize(m.home()),
    "simulate": lambda m: m.simulate(*_rest(m), 0.01, progress=False),
    "plot": lambda m: m.plot(),
    "equations": lambda m: str(m.equations("forward_dynamics")),
}


def _last_frame(m: es.Mechanism) -> str:
    """The name of the last frame, or of the last body where there is none."""
    return (m.frames[-1] if len(m.frames) else m.bodies[-1]).name


def _motors(m: es.Mechanism) -> np.ndarray:
    return m.home()[[k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]]


def bytecode() -> dict[str, float]:
    """Every everyday call once of a tree and of a closed chain, so that the bytecode of what they import is written."""
    for name in ("elbow", "five_bar"):
        for verb in EVERYDAY:
            everyday(name, verb)
    return {}


def _kept() -> list[Any]:
    """The files of the cache; none of a version that keeps them otherwise."""
    try:
        from eslabon.compiler.store import folder
    except ModuleNotFoundError:
        return []
    return list(folder().glob("*.native"))


def _text(file: Any) -> int:
    """The size of the instructions in a file of the cache."""
    from llvmlite.binding import ObjectFileRef

    from eslabon.compiler.llvm.machine import objects
    from eslabon.compiler.store import _decoded

    entry = _decoded(file.read_bytes())
    parts = () if entry is None else map(ObjectFileRef.from_data, objects(entry.code))
    return sum(s.size() for part in parts for s in part.sections() if s.is_text())


WORK = {f.__name__: f for f in (call, batch, simulate, first, everyday, bytecode)}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer: dict[str, Any] = WORK[request.pop("work")](**request)
        except Exception as error:  # a version may lack what is asked for
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
