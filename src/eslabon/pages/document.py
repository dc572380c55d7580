"""The document around the pieces: one file, one look, light and dark."""

from __future__ import annotations

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --quiet: #5b6775; --paper: #ffffff; --line: #d8dee6; --mark: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --quiet: #9aa7b5; --paper: #14191f; --line: #333d48; --mark: #56b4e9; }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 60rem; padding: 2rem 1.2rem 4rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.6rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
a { color: var(--mark); } nav { font-size: .9rem; } code, pre { font: .86em/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; } .es-caption, figcaption { color: var(--quiet); font-size: .88rem; }
table.es-table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; display: block;
  overflow-x: auto; } .es-table caption { text-align: left; font-weight: 600; padding: .2rem 0; }
.es-table th, .es-table td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); }
.es-table td.number, .es-table th.number { text-align: right; } .es-table td.es-prose { min-width: 16rem; } .es-table th small { color: var(--quiet); font-weight: 400; }
figure.es-figure { margin: 1.2rem 0; } .es-figure svg, .es-figure img { max-width: 100%; height: auto; }
.es-figure > svg, .es-figure > img { background: #fff; border-radius: 6px; }
.es-figure iframe { width: 100%; border: 1px solid var(--line); border-radius: 6px; }
math[display=block] { overflow-x: auto; overflow-y: hidden; max-width: 100%; margin: .8rem 0; }
@media print { nav { display: none; } body { max-width: none; } }
"""


def document(title: str, body: str, language: str = "en") -> str:
    """A whole HTML document that needs no other file."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!DOCTYPE html>\n<html lang="{language}"><head>{head}<style>{STYLE}</style></head>\n<body>{body}</body></html>\n'
