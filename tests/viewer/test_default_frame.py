"""One rule for the frame that is followed if none is named: in the view, in a study, for whatever a file calls its root."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.kinematics.frames import default_frame
from eslabon.studies.choices import Choices
from eslabon.studies.subject import Subject

TESTS = Path(__file__).parents[1]
URDF = sorted(TESTS.rglob("*.urdf"))
FIVE_BAR = TESTS / "files" / "data" / "five_bar.yaml"


def models_of(path):
    """A file's mechanism, and for a five-bar the one whose loop is closed too."""
    yield es.load(path)
    if path.stem.startswith("five_bar"):
        yield es.load(path, loops=FIVE_BAR)


def read(name):
    return es.load(TESTS / "files" / "data" / f"{name}.urdf")


def body_moves(m, frame):
    return bool(np.abs(m.jacobian(m.home(), frame)).max() > 1e-9)


@pytest.mark.parametrize("path", URDF, ids=lambda path: path.stem)
def test_every_urdf_is_viewed_and_leads_the_frame_that_a_study_follows(path):
    for m in models_of(path):
        tip = default_frame(m)
        assert Subject(m, Choices()).tip == tip
        assert (tip is None) == (m.nv == 0)
        assert tip is None or body_moves(m, tip)
        with es.view(m, open_browser=False) as view, view._lock:
            exhibit = view._exhibits[m.name]
            assert exhibit.session.frame == tip
            assert not exhibit.said
            exhibit.gauges()


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*on_world.urdf")), ids=lambda path: path.stem)
def test_verbs_without_a_frame_answer_or_name_one_that_moves(path):
    for m in models_of(path):
        for verb in (
            lambda m: m.pose(m.home()),
            lambda m: m.jacobian(m.home()),
            lambda m: m.conditions(m.home()),
            lambda m: m.singularity(m.home()),
            lambda m: m.manipulability(m.home()),
            lambda m: m.workspace(samples=5),
            lambda m: m.inverse_kinematics(es.Target(position=[0.1, 0.1, 0.6]), report=True),
            lambda m: plt.close(m.plot()),
        ):
            try:
                verb(m)
            except es.ModelError as error:
                assert f"as in frame='{default_frame(m)}'" in str(error)


def test_a_long_row_of_fixed_links_is_no_tip():
    assert default_frame(read("arm_on_world")) == "tool0"
    assert default_frame(read("gripper_on_world")) == "right_finger"
    assert default_frame(read("world")) is None


def test_a_frame_on_the_ground_hides_no_condition():
    """A `world` frame must not take the place of the loops' condition, nor of the tool's."""
    data = TESTS / "files" / "data"
    plain, on_world = (
        es.load(data / f"{name}.urdf", loops=FIVE_BAR) for name in ("five_bar", "five_bar_on_world")
    )
    q = plain.home()
    assert on_world.conditions(q).parallel == pytest.approx(plain.conditions(q).parallel, abs=1e-12)
    arm = read("arm_on_world")
    q = np.array([0.3, 0.4])
    assert arm.conditions(q).serial == pytest.approx(arm.conditions(q, "tool0").serial)


def test_a_frame_that_stands_still_cannot_be_led():
    m = read("arm_on_world")
    for name in ("world", "ground", "camera"):
        with pytest.raises(
            es.ModelError,
            match="fixed to the ground and cannot be led; name one that moves, such as 'tool0'",
        ):
            es.view(m, frame=name, open_browser=False)
    with pytest.raises(es.ModelError, match="did you mean 'tool0'"):
        es.view(m, frame="tool", open_browser=False)
    with pytest.raises(es.ModelError, match="leave frame out"):
        es.view(read("world"), frame="post", open_browser=False)
