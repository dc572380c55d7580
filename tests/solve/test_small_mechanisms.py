"""Mechanisms with one degree of freedom, none, or nothing driven: every verb works or says one sentence."""

import warnings

import numpy as np
import pytest

import eslabon as es
from small_mechanisms import SMALL


def verbs(m):
    q, v = m.home(), np.zeros(m.nv)
    frame = m.bodies[-1].name
    T = m.pose(q, frame)
    actuated = q[[k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]]
    own = np.zeros(len(m.actuated_velocities))
    return {
        "assemble": lambda: m.assemble(actuated),
        "assemble nothing": lambda: m.assemble({}),
        "assemble motion": lambda: m.assemble(np.tile(actuated, (3, 1)), continuation=True),
        "assemble pose": lambda: m.assemble(es.Target(frame, pose=T)),
        "complete": lambda: m.complete(actuated, own, own),
        "project": lambda: m.project(q, v, v),
        "assembly_modes": lambda: m.assembly_modes(actuated),
        "conditions": lambda: m.conditions(q, frame),
        "workspace": lambda: m.workspace(frame, samples=5),
        "inverse_kinematics": lambda: m.inverse_kinematics(es.Target(frame, pose=T)),
        "follow": lambda: m.follow(5),
    }


@pytest.mark.parametrize("name", SMALL)
def test_every_verb_works_or_says_a_sentence(name):
    m, wrong = SMALL[name](), []
    for verb, call in verbs(m).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call()
            except es.EslabonError as error:
                assert str(error)
            except Exception as error:
                wrong.append(f"{verb}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


def test_what_is_locked_stays_where_it_is():
    m = SMALL["locked_loop"]()
    q = m.assemble({})
    assert np.abs(m.constraint(q)).max() < 1e-12
    assert m.conditions(q).mobility == 0
    one = SMALL["one_joint_and_fixed"]()
    assert np.allclose(
        one.inverse_kinematics(es.Target("tool", pose=one.pose([0.3], "tool"))), [0.3]
    )
    assert np.allclose(one.assemble([0.4]), [0.4])
