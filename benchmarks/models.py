"""What is timed: an industrial arm, a redundant arm and a tree of thirty joints, ours and the peers' of the same data."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import eslabon as es
from oracles import Oracle, mujoco_model
from random_mechanisms import random_builder

__all__ = ["Oracle", "models", "mujoco_model"]


def tree30() -> es.Mechanism:
    """A branched tree of thirty revolute joints, the same one every time."""
    return random_builder(np.random.default_rng(7), ["revolute"] * 30).build()


def models() -> dict[str, es.Mechanism]:
    return {"puma560": es.load("puma560"), "panda_like": es.load("panda_like"), "tree30": tree30()}
