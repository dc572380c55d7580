"""The document around the pieces: one file, one look, light and dark, on a screen and on paper."""

from __future__ import annotations

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --quiet: #5b6775; --paper: #ffffff; --line: #d8dee6; --mark: #0072b2;
  --shade: #f5f7f9; --warn: #b34700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --quiet: #9aa7b5; --paper: #14191f; --line: #333d48; --mark: #56b4e9; --shade: #1b222a; --warn: #f0a04b; }
}
* { box-sizing: border-box; }
body { font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: var(--paper);
  margin: 0 auto; max-width: 62rem; padding: 2.2rem 1.4rem 5rem; overflow-wrap: break-word; }
h1 { font-size: 2rem; margin: 0 0 .4rem; } h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 3.2rem; border-bottom: 2px solid var(--line); padding-bottom: .35rem; }
h3 { margin: 2.2rem 0 .6rem; font-size: 1.12rem; } p, li { max-width: 48rem; }
a { color: var(--mark); } code, pre { font: .88em/1.45 ui-monospace, "Cascadia Mono", Menlo, monospace; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .92rem; padding: .7rem 0; border-bottom: 1px solid var(--line); }
nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }
pre { overflow-x: auto; background: var(--shade); padding: .8rem 1rem; border-radius: 6px; }
.es-caption, figcaption, .es-quiet { color: var(--quiet); font-size: .9rem; } figcaption { margin-top: .4rem; max-width: 48rem; }
.es-note { border-left: 3px solid var(--mark); padding: .1rem 0 .1rem .9rem; }
.es-trouble { border-left: 3px solid var(--warn); padding: .1rem 0 .1rem .9rem; }
table.es-table { border-collapse: collapse; margin: 1rem 0; font-size: .93rem; font-variant-numeric: tabular-nums; display: block;
  overflow-x: auto; max-width: 100%; } .es-table caption { text-align: left; font-weight: 600; padding: .2rem 0; white-space: nowrap; }
.es-table caption::first-letter, summary::first-letter { text-transform: uppercase; }
.es-table th, .es-table td { padding: .22rem 1.1rem .22rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); overflow-wrap: normal; }
.es-table td, .es-table th { white-space: nowrap; } .es-table .number { text-align: right; }
.es-table td.es-prose { min-width: 16rem; white-space: normal; } .es-table th small { color: var(--quiet); font-weight: 400; }
details.es-folded { margin: 1rem 0; } .es-folded summary { cursor: pointer; font-weight: 600; font-size: .93rem; }
figure.es-figure { margin: 1.3rem 0; break-inside: avoid; } .es-figure svg, .es-figure img { max-width: 100%; height: auto; }
.es-figure > svg, .es-figure > img { background: #fff; border-radius: 6px; }
.es-figure iframe { width: 100%; border: 1px solid var(--line); border-radius: 6px; background: var(--paper); }
.es-pair { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; } .es-pair > * { flex: 1 1 22rem; min-width: 0; }
math { font-size: 1.04em; font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", "DejaVu Math TeX Gyre", math; } .es-equation { overflow-x: auto; overflow-y: hidden; margin: .8rem 0; } .es-equation math { width: max-content; }
mtd[columnalign=left] { text-align: left; } mtd[columnalign=right] { text-align: right; }
.es-wide { overflow: auto; max-height: 42rem; border: 1px solid var(--line); border-radius: 6px; } .es-wide .es-figure svg { max-width: none; }
.es-wide .es-figure { margin: 0; width: max-content; }
@media (prefers-color-scheme: dark) {
  /* Figures are drawn on white: turned over, they keep their hues and fit the page. */
  .es-figure > svg, .es-figure > img { filter: invert(.91) hue-rotate(180deg); mix-blend-mode: lighten; }
  .es-figure iframe { filter: invert(.91) hue-rotate(180deg); background: #fff; }
}
@media print {
  :root { --ink: #000; --paper: #fff; --quiet: #444; --line: #bbb; }
  nav { display: none; } body { max-width: none; font-size: 11pt; padding: 0; } h2 { break-after: avoid; }
  table.es-table { display: table; } .es-wide { overflow: visible; max-height: none; } .es-wide .es-figure svg { max-width: 100%; }
  .es-figure > svg, .es-figure > img, .es-figure iframe { filter: none; mix-blend-mode: normal; }
}
"""
# What is folded away on the screen is there on paper.
SCRIPT = "addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach(d=>d.setAttribute('open','')));"


def document(title: str, body: str, language: str = "en") -> str:
    """A whole HTML document that needs no other file."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    head += f"<style>{STYLE}</style><script>{SCRIPT}</script>"
    return f'<!DOCTYPE html>\n<html lang="{language}"><head>{head}</head>\n<body>{body}</body></html>\n'
