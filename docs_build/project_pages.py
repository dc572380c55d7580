"""Pages that live elsewhere in the repository: the changelog, how to contribute, the notebooks. And pages that stand alone.

Pages link to these files where the repository has them, so that the links work there too; on the site they lead to pages.
"""

import re
from pathlib import Path
from posixpath import dirname, relpath

from mkdocs.structure.files import File, Files

HEAD = Path(__file__).parents[1]
PAGES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
ELSEWHERE = {**PAGES, "notebooks.md": "examples/README.md"}  # pages of the site, and their files


def on_files(files: Files, config, **_) -> Files:
    for page, source in PAGES.items():
        text = re.sub(r"\]\(docs/", "](", written(source)).replace(
            "](CHANGELOG.md)", "](changelog.md)"
        )
        files.append(File.generated(config, page, content=text))
    leading = re.sub(r"\]\((\w+\.ipynb)\)", r"](notebooks/\1)", written("examples/README.md"))
    files.append(File.generated(config, "notebooks.md", content=leading))
    for notebook in (HEAD / "examples").glob("*.ipynb"):
        files.append(
            File.generated(config, f"notebooks/{notebook.name}", abs_src_path=str(notebook))
        )
    return files


def written(source: str) -> str:
    return (HEAD / source).read_text(encoding="utf-8")


def on_page_markdown(markdown: str, page, **_) -> str:
    """A page without neighbours has no use for a list of them."""
    if page.parent is None:
        page.meta["hide"] = ["navigation", "toc"] if page.is_homepage else ["navigation"]
    return linked(markdown, dirname(page.file.src_uri) or ".")


def linked(markdown: str, folder: str) -> str:
    """A page in a folder of docs, with links to files of the repository made links to pages of the site.

    >>> linked("[changes](../../CHANGELOG.md#unreleased)", "howto")
    '[changes](../changelog.md#unreleased)'
    """
    for page, source in ELSEWHERE.items():
        markdown = markdown.replace(
            f"]({relpath(f'../{source}', folder)}", f"]({relpath(page, folder)}"
        )
    return markdown
