"""Equations become MathML while the site is built, so that pages need no script to show them.

`pymdownx.arithmatex` finds what stands between dollars and leaves it as TeX in an element of its own.
"""

import re
from html import unescape

from eslabon.pages import equation

MARKED = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', flags=re.DOTALL)


def on_page_content(html: str, **_) -> str:
    return MARKED.sub(lambda found: typeset(unescape(found[2]), found[1] == "div"), html)


def typeset(latex: str, block: bool) -> str:
    """MathML with dots and hats close above their letters."""
    return equation(latex, block=block).replace("<mover>", '<mover accent="true">')
