"""Docstrings as pages show them: examples become blocks of code, and sections such as "Parameters" become lists."""

import re

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*\n?(?:^(?!\s*$).*\n?)*", flags=re.MULTILINE)
SECTION = re.compile(r"^(\w+)\n-{3,}\n((?:^(?!>>>|\s*$).*\n?)+)", flags=re.MULTILINE)
ITEM = re.compile(r"^(\S[^\n]*?) :(?: |$)", flags=re.MULTILINE)


class Docstrings(Extension):
    """Rewrite every docstring while the reference is made."""

    def on_object(self, *, obj: Object, **_) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(listed(obj.docstring.value))


def fenced(text: str) -> str:
    """The text with a fence around each run of lines that starts with a prompt and ends at an empty line.

    >>> fenced("Add.\\n\\n>>> 1 + 1\\n2").splitlines()
    ['Add.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


def listed(text: str) -> str:
    """Sections underlined with dashes, as NumPy writes them, with a point for each name in them.

    >>> print(listed("Parameters\\n----------\\nm : the mechanism;\\n    any.\\nq, v : its state.\\n"))
    **Parameters**
    <BLANKLINE>
    * `m`: the mechanism;
        any.
    * `q, v`: its state.
    <BLANKLINE>
    """

    def points(found: re.Match[str]) -> str:
        return f"**{found[1]}**\n\n" + ITEM.sub(lambda item: f"* `{item[1]}`: ", found[2])

    return SECTION.sub(points, text)
