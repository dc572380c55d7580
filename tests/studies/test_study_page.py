"""A study in a real browser: it loads without complaint and without a network, and its animation shows."""

import pytest

import eslabon as es


@pytest.mark.parametrize("scheme", ["dark"])
def test_a_page_shows_its_animation(tab, tmp_path, scheme):
    page = es.study("elbow", sections=["what_it_is", "how_it_moves"]).save(tmp_path)
    asked = []
    tab.page.on("request", lambda request: asked.append(request.url))
    tab.page.emulate_media(color_scheme=scheme)
    tab.page.goto(page.as_uri())
    frame = tab.page.locator("iframe").first
    frame.scroll_into_view_if_needed()
    canvas = tab.page.frame_locator("iframe").first.locator("canvas").first
    canvas.wait_for(state="visible")
    assert canvas.bounding_box()["height"] > 200
    assert tab.page.locator("h2").count() == 2
    assert tab.page.locator("figure svg").count() >= 3
    assert not [url for url in asked if url.startswith("http")]
    assert not tab.complaints
