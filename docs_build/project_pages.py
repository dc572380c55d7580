"""Pages of the project that live at the head of the repository, the changelog and how to contribute; and pages that stand alone."""

import re
from pathlib import Path

from mkdocs.structure.files import File, Files

HEAD = Path(__file__).parents[1]
PAGES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}


def on_files(files: Files, config, **_) -> Files:
    for page, source in PAGES.items():
        text = re.sub(r"\]\(docs/", "](", (HEAD / source).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=text.replace("](CHANGELOG.md)", "](changelog.md)")))
    return files


def on_page_markdown(markdown: str, page, **_) -> str:
    """A page without neighbours has no use for a list of them."""
    if page.parent is None:
        page.meta["hide"] = ["navigation", "toc"] if page.is_homepage else ["navigation"]
    return markdown
