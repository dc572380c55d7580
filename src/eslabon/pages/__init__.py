"""HTML that stands by itself: tables, figures, equations, and the document around them, readable without a network.

Studies, handouts and the displays of a notebook are put together from these elements; each piece is a text.

>>> from eslabon.sheets import Sheet
>>> table(Sheet("bodies", ("body", "mass [kg]"), [("arm", 0.5)])).count("<td")
2
>>> equation(r"M \\dot v = \\tau")[:5]
'<math'
"""

from eslabon.pages.html_document import document
from eslabon.pages.html_elements import (
    contents,
    equation,
    figure,
    folded,
    heading,
    image,
    listing,
    paragraph,
    picture,
    scene,
    table,
)

__all__ = [
    "contents",
    "document",
    "equation",
    "figure",
    "folded",
    "heading",
    "image",
    "listing",
    "paragraph",
    "picture",
    "scene",
    "table",
]
