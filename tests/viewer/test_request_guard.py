"""A view answers its own pages only: foreign Host and Origin headers, and requests without its token, are refused."""

import re
import socket
import threading
from contextlib import ExitStack
from email import message_from_string
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

import eslabon as es
from eslabon.drawing.drawn_solids import close_server, open_server
from eslabon.viewer.request_guard import RequestGuard

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


def request(port, path="/", *, websocket=False, **headers):
    """Send headers that no well-behaved client would send, and return the answer."""
    own = {"Host": f"127.0.0.1:{port}"} | (UPGRADE if websocket else {}) | headers
    lines = [
        f"GET {path} HTTP/1.1",
        *(f"{name}: {value}" for name, value in own.items() if value is not None),
    ]
    with socket.create_connection(("127.0.0.1", port), timeout=300) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        received = b""
        while b"\r\n\r\n" not in received or not websocket:
            part = connection.recv(1 << 16)
            if not part:
                break
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    first, _, fields = head.decode().partition("\r\n")
    return Reply(
        int(first.split()[1]), dict(message_from_string(fields)), body.decode(errors="replace")
    )


def origin(name, port):
    return f"http://{name}:{port}"


@pytest.fixture(scope="module")
def view():
    with es.view(es.load("elbow"), open_browser=False) as made:
        yield made


@pytest.fixture
def port(view):
    return urlsplit(view.url).port


@pytest.fixture
def path(view):
    return urlsplit(view.url).path


@pytest.mark.parametrize("websocket", [False, True])
class TestEveryRequest:
    """Pages and the WebSocket are guarded alike."""

    @pytest.mark.parametrize(
        "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "evil@127.0.0.1", "192.168.0.7", "", "[", None]
    )  # fmt: skip
    def test_a_foreign_host_is_refused_even_with_the_token(self, port, path, websocket, host):
        named = host and host.format(port=port)
        reply = request(
            port, path, websocket=websocket, Host=named, Cookie=f"eslabon_view_{port}={path[1:]}"
        )
        assert reply.status == 403
        assert "host name" in reply.text or websocket

    @pytest.mark.parametrize(
        "foreign", ["http://evil.example", "https://evil.example:{port}", "null", "file://", "http://[", "http://127.0.0.1@evil.example", "127.0.0.1"]
    )  # fmt: skip
    def test_a_foreign_origin_is_refused_even_with_the_token(self, port, path, websocket, foreign):
        reply = request(port, path, websocket=websocket, Origin=foreign.format(port=port))
        assert reply.status == 403

    def test_without_the_token_or_with_another_one_it_is_refused(self, port, path, websocket):
        other = RequestGuard().token
        cookie = f"eslabon_view_{port}"
        for target, cookies in (
            ("/", None), ("/index.html", None), (f"/{other}", None), (path[:-1], None), ("/" + path[2:], None), (f"/x{path}", None),
            (f"/?token={other}", None), ("/", f"{cookie}={other}"), ("/", f"{cookie}="), ("/", f"other={path[1:]}"),
            ("/\xff", None),
        ):  # fmt: skip
            reply = request(port, target, websocket=websocket, Cookie=cookies)
            assert reply.status == 403, (target, cookies)
            assert "Set-Cookie" not in reply.headers
            assert path[1:] not in reply.text

    def test_the_url_opens_it_and_its_cookie_opens_it_again(self, port, path, websocket):
        page = request(port, path)
        assert page.status == 200
        assert "<html" in page.text
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(
            page.headers["Set-Cookie"].split("; ")
        )
        cookie = page.headers["Set-Cookie"].split(";")[0]
        good = 101 if websocket else 200
        assert request(port, path, websocket=websocket).status == good
        assert request(port, path + "/?showStats", websocket=websocket).status == good
        assert request(port, websocket=websocket, Cookie=cookie).status == good
        assert (
            request(
                port,
                websocket=websocket,
                Cookie=f"a=b; {cookie}; {{odd}}",
                Origin=origin("127.0.0.1", port),
            ).status
            == good
        )
        assert (
            request(
                port, "/", websocket=websocket, Cookie=cookie, Origin="http://evil.example"
            ).status
            == 403
        )

    def test_the_cookie_counts_only_for_pages_of_the_view_since_browsers_send_it_to_every_port(
        self, port, path, websocket
    ):
        cookie, other = f"eslabon_view_{port}={path[1:]}", origin("127.0.0.1", port + 1)
        assert request(port, websocket=websocket, Cookie=cookie, Origin=other).status == 403
        assert request(port, path, websocket=websocket, Origin=other).status == (
            101 if websocket else 200
        )

    @pytest.mark.parametrize("host", ["localhost:9000", "LOCALHOST", "[::1]:80", "127.0.0.1"])
    def test_a_tunnel_may_end_at_any_port(self, port, path, websocket, host):
        good = 101 if websocket else 200
        page = request(port, path, Host=host)
        assert page.status == 200
        cookie = page.headers["Set-Cookie"].split(";")[0]
        assert (
            request(port, path, websocket=websocket, Host=host, Origin=f"http://{host}").status
            == good
        )
        assert (
            request(
                port, websocket=websocket, Host=host, Origin=f"http://{host}", Cookie=cookie
            ).status
            == good
        )


def test_a_refusal_says_what_to_do(port):
    assert "whole address that es.view printed" in request(port).text
    assert "hosts=[...]" in request(port, Host="lab.example").text
    assert (
        request(port).headers["Content-Type"].startswith("text/plain")
    )  # a name of a host is no markup


def test_a_file_that_is_not_there_is_no_way_in(port, path):
    assert request(port, path + "/nothing.js").status == 404
    assert request(port, path + "/../../infra/_infra.py").status == 404
    assert request(port, "/nothing.js").status == 403


def test_two_views_have_tokens_and_cookies_of_their_own():
    with ExitStack() as stack:
        views = [
            stack.enter_context(es.view(es.load("elbow"), open_browser=False)) for _ in range(2)
        ]
        (first, first_path), (second, second_path) = (
            (urlsplit(v.url).port, urlsplit(v.url).path) for v in views
        )
        assert first_path != second_path
        pages = [request(first, first_path), request(second, second_path)]
        jar = "; ".join(page.headers["Set-Cookie"].split(";")[0] for page in pages)
        for port in (first, second):  # one jar for both, as browsers have it
            assert (
                request(port, websocket=True, Cookie=jar, Origin=origin("127.0.0.1", port)).status
                == 101
            )
        assert request(first, second_path).status == request(second, first_path).status == 403


def test_views_that_start_at_once_are_all_guarded():
    made, model = [], es.load("elbow")
    threads = [
        threading.Thread(target=lambda: made.append(es.view(model, open_browser=False)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        for v in made:
            port, path = urlsplit(v.url).port, urlsplit(v.url).path
            assert (request(port).status, request(port, path).status) == (403, 200)
    finally:
        for v in made:
            v.stop()
    assert len(made) == 4


def test_other_host_names_are_added_by_name():
    with es.view(es.load("elbow"), open_browser=False, hosts=["Lab.example"]) as v:
        port, path = urlsplit(v.url).port, urlsplit(v.url).path
        assert request(port, path, Host="lab.example").status == 200
        named = {"Host": "lab.example", "Origin": "https://lab.example"}
        assert request(port, path, websocket=True, **named).status == 101
        assert request(port, Host="lab.example").status == 403
        assert request(port, path, Host="evil.example").status == 403
        assert request(port, path, Origin="http://evil.example").status == 403


@pytest.mark.parametrize(
    "hosts", ["http://lab.example", "lab.example:80", "*", "a b", "", ["ok", "no/"], 3, [3]]
)
def test_what_is_no_host_name_is_refused(hosts):
    with pytest.raises(es.EslabonError, match="hosts"):
        es.view(es.load("elbow"), open_browser=False, hosts=hosts)


def test_a_server_that_only_composes_a_scene_serves_nobody():
    server = open_server("scene")
    try:
        port = server.get_port()
        assert request(port).status == request(port, websocket=True).status == 403
    finally:
        close_server(server)


def test_a_viser_that_cannot_be_guarded_is_not_used(monkeypatch):
    import websockets.asyncio.server as websocket_server
    from viser.infra import _infra

    monkeypatch.setattr(_infra, "websockets", _Bypass(websocket_server.serve), raising=True)
    with pytest.raises(es.MissingDependencyError, match="cannot guard"):
        open_server("scene")


class _Bypass:
    """The package websockets as viser sees it, with a `serve` that is bound early."""

    def __init__(self, serve):
        import types

        self.asyncio = types.SimpleNamespace(server=types.SimpleNamespace(serve=serve))


# -- in a browser ---------------------------------------------------------------------------------------------------


def test_a_browser_opens_it_by_its_url_and_then_by_the_plain_address(tab, view):
    page = tab.page
    plain = re.match(r"http://[^/]+", view.url)[0]
    refusal = page.request.get(
        plain
    )  # not in the tab, whose console would complain of it some time later
    assert refusal.status == 403
    assert "needs its token" in refusal.text()
    for address in (view.url, plain, view.url.replace("127.0.0.1", "localhost")):
        page.goto(address)
        page.get_by_text("2 degrees of freedom").wait_for()
    assert not tab.complaints


def test_a_notebook_of_another_host_name_shows_it_in_a_frame(tab, view, tmp_path):
    """Browsers send a frame of another site no SameSite cookie: the address alone has to do."""
    notebook = tmp_path / "notebook.html"
    notebook.write_text(view._repr_html_())
    tab.page.goto(notebook.as_uri())
    tab.page.frame_locator("iframe").get_by_text("2 degrees of freedom").wait_for()
    assert not tab.complaints
