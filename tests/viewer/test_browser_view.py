"""The view in a real browser: it loads, a slider moves the robot, loops stay closed, pictures and pages come out."""

import io
import socket
import threading
import time
from itertools import pairwise
from urllib.parse import urlsplit

import imageio.v3 as iio
import numpy as np
import pytest

import eslabon as es
from eslabon.viewer import View

SIDE = 240  # pixels of the scene, left of the panel


@pytest.fixture
def view():
    with es.view(es.load("five_bar"), open_browser=False) as made:
        yield made


def wait_for(fact, seconds=20.0):
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def picture(page):
    return iio.imread(io.BytesIO(page.screenshot())).astype(int)[..., :3]


def shown(tab, view):
    """The page, once the robot is in it."""
    page = tab.page
    page.set_viewport_size(
        {"width": 320 + SIDE, "height": SIDE}
    )  # software renders every pixel, all the time
    page.goto(view.url)
    page.get_by_text("2 degrees of freedom").wait_for()
    for close in page.locator(".mantine-Notification-closeButton").all():
        close.dispatch_event("click")  # without waiting until it stands still
    wait_for(lambda: len(np.unique(picture(page)[:, :SIDE].reshape(-1, 3), axis=0)) > 50)
    return page


def test_a_slider_moved_in_the_page_moves_the_robot_and_loops_stay_closed(tab, view, tmp_path):
    m, page = view.mechanisms["five_bar"], shown(tab, view)
    before, q = picture(page)[:, :SIDE], view.q()
    box = page.locator("input[inputmode=decimal], input[inputmode=numeric]").first
    box.fill("135")
    box.press("Enter")
    wait_for(lambda: abs(np.rad2deg(view.q()[0]) - 135) < 0.5)
    assert np.abs(m.constraint(view.q())).max() < 1e-9
    assert view.q()[2] == pytest.approx(q[2], abs=1e-9)  # the other slider stays
    wait_for(lambda: (np.abs(picture(page)[:, :SIDE] - before).max(axis=-1) > 30).mean() > 0.002)
    assert "135" in box.input_value()

    # A picture and a page come out, and what simulates is let go by a button.
    image = iio.imread(view.save(tmp_path / "view.png"))
    assert image.shape[2] == 3
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50
    assert "__VISER_EMBED_DATA__" in view.save(tmp_path / "view.html").read_text()
    page.get_by_text("Simulate", exact=True).click()
    page.get_by_text("Push (hold)").click(delay=300)
    wait_for(lambda: np.abs(view.q() - q).max() > 1e-3 and "t = " in page.content())
    assert np.abs(m.constraint(view.q())).max() < 1e-9
    assert not tab.complaints


def test_the_saved_scene_is_seen_without_a_server(tab, view, tmp_path):
    page = view.save(tmp_path / "view.html")
    view.stop()
    tab.page.set_viewport_size({"width": SIDE, "height": SIDE})
    tab.page.goto(page.as_uri())
    for close in tab.page.locator(".mantine-Notification-closeButton").all():
        close.dispatch_event("click")
    wait_for(lambda: len(np.unique(picture(tab.page).reshape(-1, 3), axis=0)) > 50)
    assert not tab.complaints


def test_solids_follow_parameters_and_give_way_to_primitives(recwarn):
    b = (
        es.Builder("clad")
        .body("arm", 1.0, (0.5, 0, 0), (1, 1, 1))
        .joint("q", "revolute", "ground", "arm")
        .actuate("q")
    )
    length = b.parameter("length", 0.5)
    b.frame("tip", "arm", (length, 0, 0)).shape(
        "case", "arm", "box", (length, 0.1, 0.1), at=(length / 2, 0, 0)
    )
    with es.view(b.build(), open_browser=False) as v, v._lock:
        panel = v._panels["clad"]
        before = panel.placed.solids["arm", "shape", ""].vertices.max()
        panel.exhibit.attempt(panel.exhibit.change, "length", 0.75)
        panel.refresh(1e9)
        assert panel.placed.solids["arm", "shape", ""].vertices.max() == pytest.approx(1.5 * before)
        panel._toggle_primitives(True)
        panel.shown |= {"frames", "centres of mass", "forces", "reactions"}
        panel.overlays.show()
        panel.refresh(2e9)
        assert ("arm", "link", "") in panel.placed.solids
        assert len(panel.overlays.arrows["forces"].points) == 1
        assert panel.overlays.arrows["reactions"].visible
    assert not [w for w in recwarn if "removed" in str(w.message)]


def test_a_hexapod_is_updated_thirty_times_a_second():
    """A slider, loops closed, poses, force arrows and readings; in seconds of this thread, whatever else the machine does."""
    with es.view(es.load("stewart_gough"), open_browser=False) as v, v._lock:
        panel = v._panels["stewart_gough"]
        panel.shown |= {"forces"}
        drive, now = panel.exhibit.session.drives[0], 1e9

        def update(k):
            panel.exhibit.attempt(panel.exhibit.move, drive, 0.68 + 0.05 * np.sin(k / 10))
            panel.refresh(now + k / 30)

        for k in range(5):
            update(k)
        start = time.thread_time()
        for k in range(30):
            update(k)
        assert time.thread_time() - start < 1.0
        assert np.abs(panel.exhibit.m.constraint(panel.exhibit.q)).max() < 1e-9


def test_a_program_moves_it_and_is_told_what_cannot_be(view):
    m = view.mechanisms["five_bar"]
    view.update(m.assemble([2.0, 1.0]))
    assert view.q()[:1] == 2.0
    with pytest.raises(es.EslabonError, match="4"):
        view.update([1.0])
    with pytest.raises(es.InputError, match="did you mean 'five_bar'"):
        view.update(m.home(), "fivebar")
    assert view.url.startswith("http://127.0.0.1:")
    assert view.url in repr(view)
    assert view.url in view._repr_html_()


def test_what_cannot_be_saved_is_said(view, tmp_path):
    with pytest.raises(es.InputError, match=r"open http://127\.0\.0\.1"):
        view.save(tmp_path / "a.png")
    with pytest.raises(es.ReadError, match=r"\.html or \.png"):
        view.save(tmp_path / "a.gif")


def test_stopping_leaves_no_thread_behind_and_can_be_done_twice():
    before = set(threading.enumerate())
    v = es.view(es.load("elbow"), open_browser=False)
    v.update([0.2, 0.3])
    v.stop()
    v.stop()
    wait_for(lambda: not [x for x in set(threading.enumerate()) - before if x.is_alive()], 5.0)
    assert "stopped" in repr(v)
    v.wait()
    with pytest.raises(es.InputError, match="stopped"):
        v.save("a.html")


def test_only_the_loopback_address_is_served(view):
    port = urlsplit(view.url).port
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        pass
    try:
        other = socket.gethostbyname(socket.gethostname())
    except OSError:
        pytest.skip("this machine has no other address")
    if not other.startswith("127."):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((other, port), timeout=2)
    assert view._server.request_share_url() is None


def test_a_port_that_is_taken_is_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(es.InputError, match=f"port {port} is taken"):
            es.view(es.load("elbow"), port=port, open_browser=False)


def test_several_mechanisms_stand_side_by_side():
    arm, bar = es.load("elbow"), es.load("five_bar")
    t, q = [0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]]
    with es.view(
        arm, bar, arm, open_browser=False, motion={"elbow": (t, q)}, q={"elbow 2": [0.5, 0.5]}
    ) as v:
        assert list(v.mechanisms) == ["elbow", "five_bar", "elbow 2"]
        assert v.q("elbow 2").tolist() == [0.5, 0.5]
        assert list(v._exhibits["elbow"].clips) == ["motion"]
        with pytest.raises(es.InputError, match="say which one"):
            v.q()
        places = [panel.offset for panel in v._panels.values()]
        assert all(np.linalg.norm(a - b) > 0.1 for a, b in pairwise(places))
        v.update(arm.home() + 0.1, "elbow 2")
    with es.view({"left": arm, "right": arm}, open_browser=False) as v:
        assert list(v.mechanisms) == ["left", "right"]


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((), {}, "none was given"),
        (("delta",), {}, "es.load reads one"),
        (([],), {}, "none was given"),
        ((es.load("elbow"),), {"port": 80}, "from 1024 to 65535"),
        ((es.load("elbow"),), {"port": "a"}, "whole number"),
        ((es.load("elbow"),), {"frame": "tol"}, "did you mean 'tool'"),
        ((es.load("elbow"), es.load("elbow")), {"q": [0.0, 0.0]}, "dict by their names"),
        ((es.load("elbow"),), {"motion": 3}, "a motion is a Trajectory"),
        ((es.load("elbow"),), {"dark": 3}, "dark"),
    ],
)
def test_what_is_no_view_is_refused(arguments, options, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        es.view(*arguments, **{"open_browser": False, **options})


def test_an_error_in_a_callback_is_said_and_the_view_goes_on(view, caplog):
    assert isinstance(view, View)

    def broken():
        raise RuntimeError("a bug of ours")

    view._ask("x", broken)
    wait_for(lambda: view._exhibits["five_bar"].said == "a bug of ours", 5.0)
    view.update(view.mechanisms["five_bar"].assemble([2.0, 1.0]))
    assert view._exhibits["five_bar"].said == ""
    assert view._thread.is_alive()


def test_of_several_mechanisms_the_frame_is_said_for_each():
    arm, bar = es.load("elbow"), es.load("five_bar")
    with pytest.raises(es.InputError, match="frame is a dict by their names"):
        es.view(arm, bar, frame="tool", open_browser=False)
    with es.view(arm, bar, frame={"elbow": "link1"}, open_browser=False) as view:
        assert view._exhibits["elbow"].session.frame == "link1"
