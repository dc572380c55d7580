"""Elements of XML with their lines, the numbers in them, and a memory of what was read.

A reader asks an element for its parts; `unread` finds afterwards what nobody asked for. So an
element that a format has and its reader has not, or a misspelled one, is never lost without a word.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, iterparse

from eslabon.errors import Place, ReadError, format_value
from eslabon.files.diagnostics import SourceText

DEEPEST = 100  # elements inside one another in a file that names its parts, as URDF does


class ReadMarks:
    """Which parts of an element were read: children by their names, attributes, and children that
    mean nothing."""

    __slots__ = ("attributes", "children", "passed_over")

    def __init__(self) -> None:
        self.children: set[str] = set()
        self.attributes: set[str] = set()
        self.passed_over: set[Element] = set()


class XmlElement(Element):
    """An element that knows its line, its parent, and which of its parts were read.

    A child that is not there is an empty one with `present` false, so that its parts are not there
    either. A hostile file has hundreds of thousands of elements that nobody reads: slots, and marks
    that come with the first question, make them cheap."""

    __slots__ = ("_marks", "depth", "line", "parent", "present", "step", "word")

    def __init__(self, tag: str, attributes: dict[str, str] | None = None, line: int = 0) -> None:
        super().__init__(tag, attributes or {})
        self.word = tag.rpartition("}")[2]  # without its namespace: <drake:joint> is a joint
        self.line, self.depth = line, 0
        self.parent: XmlElement | None = None
        self.present = True
        self.step = ""  # its name among its siblings: "link", "link[2]", ...
        self._marks: ReadMarks | None = None

    @property
    def marks(self) -> ReadMarks:
        """Which of its parts were read."""
        if self._marks is None:
            self._marks = ReadMarks()
        return self._marks

    @property
    def place(self) -> Place:
        """The steps from the first element of the file to this one."""
        steps, element = [], self
        while element.parent is not None:
            steps.append(element.step or element.word)
            element = element.parent
        return tuple(reversed(steps))

    @property
    def what(self) -> str:
        """How sentences call it: a child of the first element by its name, others by that and their
        own tag."""
        outermost = self
        while outermost.parent is not None and outermost.parent.parent is not None:
            outermost = outermost.parent
        name = outermost.attrib.get("name") if outermost.parent is not None else None
        owner = f"{outermost.word} '{name}'" if name else f"<{outermost.word}>"
        return owner if outermost is self else f"{owner}: <{self.word}>"

    def error(self, sentence: str) -> ReadError:
        """A mistake in this element."""
        return ReadError(sentence).at(*self.place)

    # -- parts -------------------------------------------------------------------------------------

    if TYPE_CHECKING:  # all elements of a file are of this class

        def __iter__(self) -> Iterator[XmlElement]: ...
        def iter(self, tag: str | None = None) -> Generator[XmlElement]: ...

    def children(self, word: str) -> list[XmlElement]:
        """The elements of that name in it, which are read from now on."""
        self.marks.children.add(word)
        return [e for e in self if e.word == word]

    def child(self, word: str) -> XmlElement:
        """The only child of that name."""
        found = self.children(word)
        if len(found) > 1:
            raise found[1].error(f"{self.what} has {len(found)} elements <{word}>; keep one.")
        if found:
            return found[0]
        missing = XmlElement(word)
        missing.parent, missing.present = self, False
        return missing

    def pass_over(self, *words: str) -> None:
        """Children of these names mean nothing here, whatever is in them; all, if no name is
        given."""
        for child in self:
            if not words or child.word in words:
                self.marks.passed_over.add(child)

    def has(self, key: str) -> bool:
        return key in self.attrib

    def optional_text(self, key: str, default: str = "") -> str:
        self.marks.attributes.add(key)
        return self.attrib.get(key, default)

    def text_of(self, key: str) -> str:
        """An attribute that must be there."""
        value = self.optional_text(key)
        if not value.strip():
            raise self.error(f'{self.what} has no {key}; write it as <{self.word} {key}="...">.')
        return value

    def numbers(
        self, key: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """So many numbers of an attribute; without a default it must be there."""
        if default is not None and not self.has(key):
            return default
        values = self.text_of(key).split()
        if len(values) != count:
            raise self.error(
                f"{self.what} {key} needs {count} number{'s' * (count != 1)}; it is {format_value(' '.join(values))}."
            )
        made = tuple(self._number(text, key) for text in values)
        if not all(map(math.isfinite, made)):
            raise self.error(
                f"{self.what} {key} is {format_value(' '.join(values))}; give a finite number."
            )
        return made

    def all_numbers(self, key: str) -> tuple[float, ...]:
        return self.numbers(key, len(self.text_of(key).split()))

    def number(self, key: str) -> float:
        return self.numbers(key, 1)[0]

    def limit(self, key: str) -> float:
        """A number that may be infinite."""
        return self._number(self.text_of(key), key)

    def _number(self, text: str, key: str) -> float:
        try:
            value = float(text.replace("_", "?"))  # Python would take 1_000
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise self.error(f"{self.what} {key} is {format_value(text)}; it must be a number.")
        return value


# -- files -----------------------------------------------------------------------------------------


def tree_with_lines(text: bytes) -> XmlElement:
    """The first element of an XML text, with the lines of all; a DTD is refused."""

    def element(tag: str, attributes: dict[str, str]) -> XmlElement:
        return XmlElement(tag, attributes, parser.parser.CurrentLineNumber)

    parser = DefusedXMLParser(target=TreeBuilder(element_factory=element), forbid_dtd=True)
    parser.feed(text)
    root = parser.close()
    assert isinstance(root, XmlElement), "the parser makes no others"
    for parent in root.iter():
        counts: dict[str, int] = {}
        for child in parent:
            counts[child.word] = count = counts.get(child.word, 0) + 1
            child.parent, child.depth = parent, parent.depth + 1
            child.step = child.word if count == 1 else f"{child.word}[{count}]"
    return root


def first_tag(path: Path, source: SourceText) -> str:
    """The tag of the first element of a file, of which no more is read."""
    with _xml_errors(source):
        _, element = next(iterparse(path, events=["start"], forbid_dtd=True))
    return str(element.tag)


@contextmanager
def _xml_errors(source: SourceText) -> Iterator[None]:
    """What the parser refuses, in a sentence."""
    try:
        yield
    except DefusedXmlException:
        raise ReadError(
            "the XML has a DTD or entities, and those are refused; take the DOCTYPE away."
        ) from None
    except ParseError as error:
        place = source.line(error.position[0])
        raise ReadError(f"this is not well-formed XML: {error}.").at(*place) from None
    except (ValueError, LookupError) as error:  # encodings nobody knows
        raise ReadError(f"this is not well-formed XML: {error}.") from None


def read_xml(text: bytes, source: SourceText) -> XmlElement:
    """The first element of a file; `source` learns the lines of all."""
    if not text.strip():
        raise ReadError("the file is empty; it has no XML in it.")
    with _xml_errors(source):
        root = tree_with_lines(text)
    for element in root.iter():
        if element.depth > DEEPEST:
            raise ReadError(f"the elements are nested more than {DEEPEST} deep; this is no model.")
    source.lines_from(lambda: {e.place: e.line for e in root.iter()})
    return root


# -- what was not read -----------------------------------------------------------------------------


class Unread(NamedTuple):
    """An element, or an attribute of one, that no reader asked for."""

    element: XmlElement
    attribute: str = ""


Harmless = Mapping[
    str, Iterable[str]
]  # by the name of an element: elements in it, attributes as "@name"


def unread(root: XmlElement, harmless: Harmless) -> Iterator[Unread]:
    """What no reader asked for and is not harmless; of an unread element not what is in it."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        read, known = element.marks, harmless.get(element.word, ())
        for key in sorted(element.attrib.keys() - read.attributes):
            plain = key.rpartition("}")[2]
            if f"@{plain}" not in known:
                yield Unread(element, plain)
        inner: list[XmlElement] = [e for e in element if e not in read.passed_over]
        judged = [child for child in inner if child.word not in known]
        for child in judged:
            if child.word not in read.children:
                yield Unread(child)
        waiting += [child for child in reversed(judged) if child.word in read.children]
