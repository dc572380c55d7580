"""Pages that live elsewhere in the repository: the changelog, how to contribute, the notebooks. And pages that stand alone."""

import re
from pathlib import Path

from mkdocs.structure.files import File, Files

HEAD = Path(__file__).parents[1]
PAGES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}


def on_files(files: Files, config, **_) -> Files:
    for page, source in PAGES.items():
        text = re.sub(r"\]\(docs/", "](", written(source)).replace("](CHANGELOG.md)", "](changelog.md)")
        files.append(File.generated(config, page, content=text))
    leading = re.sub(r"\]\((\w+\.ipynb)\)", r"](notebooks/\1)", written("examples/README.md"))
    files.append(File.generated(config, "notebooks.md", content=leading))
    for notebook in (HEAD / "examples").glob("*.ipynb"):
        files.append(File.generated(config, f"notebooks/{notebook.name}", abs_src_path=str(notebook)))
    return files


def written(source: str) -> str:
    return (HEAD / source).read_text(encoding="utf-8")


def on_page_markdown(markdown: str, page, **_) -> str:
    """A page without neighbours has no use for a list of them."""
    if page.parent is None:
        page.meta["hide"] = ["navigation", "toc"] if page.is_homepage else ["navigation"]
    return markdown
