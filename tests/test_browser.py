"""The browser of the tests shows pages, WebGL too, and hears what goes wrong in them."""

import pytest

import browser

WEBGL = """<!doctype html><title>none</title><link rel="icon" href="data:,">
<canvas id="canvas" width="40" height="30"></canvas>
<script>
const canvas = document.getElementById("canvas"), gl = canvas.getContext("webgl2", {preserveDrawingBuffer: true});
gl.clearColor(0.0, 0.6, 0.2, 1.0); gl.clear(gl.COLOR_BUFFER_BIT);
const pixel = new Uint8Array(4);
gl.readPixels(20, 15, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
document.title = Array.from(pixel).join(" ");
console.log("drawn");
</script>"""


def shown(tab, folder, html):
    (folder / "page.html").write_text(html, encoding="utf-8")
    tab.page.goto((folder / "page.html").as_uri())
    return tab


def test_webgl_draws(tab, tmp_path):
    shown(tab, tmp_path, WEBGL)
    assert tab.page.title() == "0 153 51 255"
    assert ("log", "drawn") in tab.console
    assert not tab.complaints


def test_a_tab_has_the_size_asked_for(one_browser):
    with browser.opened(one_browser, 320, 240, color_scheme="dark") as tab:
        assert tab.page.evaluate("[innerWidth, innerHeight]") == [320, 240]
        assert tab.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("console.error('no torque')", "no torque"),
        ("setTimeout(() => { throw new Error('loop is open') })", "loop is open"),
        ("fetch('http://127.0.0.1:9/closed')", "http://127.0.0.1:9/closed"),
        ("new Image().src = 'missing.png'", "missing.png"),
    ],
)
def test_what_goes_wrong_is_heard(tab, tmp_path, script, complaint):
    shown(tab, tmp_path, f"<title>x</title><script>{script}</script>")
    for _ in range(100):
        if any(complaint in text for text in tab.complaints):
            return
        tab.page.wait_for_timeout(50)
    pytest.fail(f"{complaint} is not among {tab.complaints}")


def test_a_warning_is_no_complaint(tab, tmp_path):
    shown(tab, tmp_path, "<title>x</title><script>console.warn('stiff')</script>")
    assert ("warning", "stiff") in tab.console
    assert not tab.complaints


def test_tests_in_a_browser_are_marked(request, tab):
    assert request.node.get_closest_marker("browser")
