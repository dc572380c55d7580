"""What was found wrong in print, as tables in the pages of the documents: `make docs-documents`.

The reports take a minute or two, so that the tables are kept in `docs/documents`, below a mark; the tests of the reports compare.
"""

import re
import sys
from pathlib import Path

from eslabon.reproductions import DOCUMENTS, Report, Verdict, reproduce

PAGES = Path(__file__).parents[1] / "docs" / "documents"
MARK = "<!-- Below this line: make docs-documents -->"
BAD = (Verdict.WRONG, Verdict.DAMAGED)
MOST = 4  # rows shown of those that one sentence explains


def found(report: Report) -> str:
    """For each section the rows that do not agree, with what is right and why."""
    summary = report.summary()
    total = dict(zip(summary.columns[1:], summary.lines[-1][1:], strict=True))
    told = ", ".join(f"*{verdict}* {number}" for verdict, number in total.items())
    parts = [
        f"{sum(map(int, total.values()))} printed values, formulas and statements were compared; the verdicts: {told}."
    ]
    for section in report.sections:
        rows = [row for row in section.rows if row.verdict in BAD]
        if rows:
            parts += [f"### {section.title}", table(rows, section.headings)]
    return "\n\n".join(parts) + "\n"


def table(rows, headings) -> str:
    lines = [[headings[0] or "where", headings[1], headings[2], "why"], ["---"] * 4]
    for remark in dict.fromkeys(row.remark for row in rows):
        every = [row for row in rows if row.remark == remark]
        shown = every if len(every) <= MOST + 1 else every[:MOST]
        lines += [
            [row.what, row.printed, row.computed, remark if row is shown[0] else "as above"]
            for row in shown
        ]
        if len(every) > len(shown):
            lines.append([f"and {len(every) - len(shown)} more", "", "", "as above"])
    return "\n".join("| " + " | ".join(cell(text) for text in line) + " |" for line in lines)


def cell(text: str) -> str:
    """Plain text within a table of Markdown."""
    return re.sub(r"([\\*_|<>\[\]~$])", r"\\\1", text) if text != "---" else text


def page(name: str, report: Report) -> str:
    """The page as it is, with the tables of this report."""
    head = (PAGES / f"{name}.md").read_text(encoding="utf-8").partition(MARK)[0]
    return f"{head.rstrip()}\n\n{MARK}\n\n{found(report)}"


if __name__ == "__main__":
    for name in sys.argv[1:] or DOCUMENTS:
        (PAGES / f"{name}.md").write_text(page(name, reproduce(name)), encoding="utf-8")
