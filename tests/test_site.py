"""The documentation site builds without complaints, needs no network, and its links lead somewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from browser import chromium, opened

HERE = Path(__file__).parents[1]
PHONE = 390  # pixels
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
LOADING = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "preconnect",
    "dns-prefetch",
    "manifest",
}


class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.loads, self.anchors = [], [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and LOADING & set((given.get("rel") or "").split()):
            self.loads.append(given["href"])
        elif given.get(LOADS.get(tag, "")):
            self.loads.append(given[LOADS[tag]])
        self.loads += re.findall(r"url\(([^)]+)\)", given.get("style") or "")


def external(address: str) -> bool:
    return bool(urlsplit(address).netloc)


@pytest.mark.slow(reason="builds the site")
def test_the_site(tmp_path, monkeypatch):
    """One test, so that the site is built once; it ends in a browser, if there is one."""
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path),
    ]
    built = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[-3000:]
    pages = {path.resolve(): Page(path) for path in tmp_path.rglob("*.html")}
    assert len(pages) > 40
    for path, page in pages.items():
        name = path.relative_to(tmp_path)
        assert not [address for address in page.loads if external(address)], (
            f"{name} needs a network"
        )
        for address in [*page.links, *page.loads]:
            check_link(pages, path, name, address)
        check_equations(name, path.read_text(encoding="utf-8"))
    for sheet in tmp_path.rglob("*.css"):
        assert not re.findall(
            r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", sheet.read_text(encoding="utf-8")
        ), sheet.name
    look_at_pages(tmp_path)


def look_at_pages(site):
    """Pages load without complaints and ask for nothing else; equations are set, pictures drawn."""
    with chromium() as browser:
        for name in ("index", "gallery", "formulations/lie", "reference/mechanism"):
            look_at_page(browser, site, name)
        with opened(browser) as tab:
            look_at_contents(tab, site)
        look_at_pages_on_a_phone(browser, site)


def look_at_page(browser, site, name):
    """In a tab of its own: the next page would abort what this one still loads."""
    with opened(browser) as tab:
        asked = []
        tab.page.on("request", lambda request: asked.append(request.url))
        tab.page.goto((site / f"{name}.html").as_uri(), wait_until="networkidle")
        assert tab.page.title()
        assert not tab.complaints
        assert all(address.startswith(("file:", "data:", "blob:")) for address in asked)


def look_at_contents(tab, site):
    tab.page.goto((site / "formulations/lie.html").as_uri())
    assert (
        tab.page.eval_on_selector("math[display=block]", "e => e.getBoundingClientRect().height")
        > 20
    )
    tab.page.goto((site / "index.html").as_uri())
    pictures = "all => all.map(e => e.naturalWidth > 0)"
    assert tab.page.eval_on_selector_all(".first img, .strip img", pictures) == [True] * 5


def look_at_pages_on_a_phone(browser, site):
    """Nothing is wider than the screen: tables and code scroll by themselves."""
    with opened(browser, width=PHONE) as tab:
        for name in (
            "index",
            "install",
            "tutorial",
            "conventions",
            "limits",
            "stability",
            "gallery",
        ):
            tab.page.goto((site / f"{name}.html").as_uri())
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= PHONE, name


def check_link(pages, path, name, address):
    if external(address) or address.startswith(("mailto:", "data:", "javascript:")):
        return
    parts = urlsplit(address)
    root = next(folder for folder in path.parents if (folder / "sitemap.xml").exists())
    target = (
        root / parts.path.lstrip("/")
        if parts.path.startswith("/")
        else path.parent / unquote(parts.path)
    ).resolve()
    target = path if not parts.path else target / "index.html" if target.is_dir() else target
    assert target.exists(), f"{name} links to {address}"
    if target in pages and parts.fragment:
        assert unquote(parts.fragment) in pages[target].anchors, f"{name} links to {address}"


def check_equations(name, html):
    assert 'class="arithmatex"' not in html, f"{name}: an equation was not set"
    for equation in re.findall(r"<math.*?</math>", html, flags=re.DOTALL):
        assert "\\" not in equation, f"{name}: {equation}"
