"""A report as one self-contained HTML page, to attach to a ticket: no script, no network, light and dark, printable.

What must not live here: reports of several conversations, and anything fetched from elsewhere.
"""

from __future__ import annotations

from html import escape

from sendable.render.entries import causes_first, deed, facts, field, one_line, place, plain
from sendable.render.json import dump
from sendable.render.text import summary
from sendable.report import Entry, Report

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --bad: #c0392b; --odd: #b9770e; --fine: #2e7d5b }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.25rem } p.refused { color: var(--bad); font-weight: 600 }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600 }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere }
.verb { font-weight: 600; white-space: nowrap } .drop, .strip, .degrade, .fault { color: var(--bad) }
.synthesize { color: var(--odd) } .move, .rename, .note { color: var(--fine) }
.more { display: block; opacity: .75 } tr.because td:first-child::before { content: "↳ "; opacity: .6 }
""".strip()


def render(report: Report, *, title: str = "What was lost on the way", values: bool = False) -> str:
    """A whole page with one table row for each entry, consequences under their cause. Every word of the history is escaped."""
    rows = "\n".join(_row(depth, entry, values) for depth, entry in causes_first(report))
    table = f"""<table>
<thead><tr><th>Where</th><th>Code</th><th>Done</th><th>Found</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>"""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title)}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<h1>{_text(title)}</h1>
<p{' class="refused"' if report.refused else ""}>{_text(summary(report))}</p>
{table if report.entries else ""}
</body>
</html>
"""


def _row(depth: int, entry: Entry, values: bool) -> str:
    because = ' class="because"' if depth else ""
    indent = f' style="padding-left:{0.6 + 1.2 * min(depth, 10):.1f}rem"' if depth else ""
    return (
        f"<tr{because}><td{indent}><code>{_text(place(entry))}</code></td>"
        f"<td><code>{_text(entry.code)}</code> {_text(entry.name)}</td>"
        f'<td class="verb {_text(entry.verb)}">{_text(deed(entry))}</td>'
        f"<td>{_text(entry.message)}{_more(entry, values)}</td></tr>"
    )


def _more(entry: Entry, values: bool) -> str:
    shown = [f"{name}: {dump(value).decode()}" for name, value in facts(entry, values).items()]
    if at := field(entry):
        shown.insert(0, f"field {at}")
    if entry.related:
        shown.append("see " + ", ".join(entry.related))
    if values:
        shown.append(f"was: {dump(plain(entry.original)).decode()}")
    return "".join(f'<code class="more">{_text(words)}</code>' for words in shown)


def _text(words: str) -> str:
    return escape(one_line(words))
