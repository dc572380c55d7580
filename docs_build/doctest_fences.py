"""Examples in docstrings become blocks of code, and what is written in backticks stays as it is, in the reference."""

import re

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)", flags=re.MULTILINE)


class DoctestFences(Extension):
    """Put fences around the examples of every docstring."""

    def on_object(self, *, obj: Object, **_) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with a fence around each run of lines that starts with a prompt and ends at an empty line.

    >>> print(fenced("Add.\\n\\n>>> 1 + 1\\n2"))
    Add.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
