"""Answers in a notebook: a table with intervals, and a chart if there are groups."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from ._answer import pair

if TYPE_CHECKING:
    from ._answer import Noisy
    from ._values import Quote

_MOST_ROWS = 200
_MOST_BARS = 40
_ACCENT = "#4c78a8"
_FURTHEST = 1e300
_CELL = "padding:0.2em 0.6em;text-align:"
_SMALL = "font-size:0.85em;opacity:0.75;margin-top:0.3em"


def answer(a: Noisy) -> str:
    """An answer as HTML."""
    bars = a._bars()
    head = "".join(
        f"<th style='{_CELL}{'left' if not c.noisy else 'right'}'>{escape(c.name)}</th>"
        + (f"<th style='{_CELL}left;font-weight:normal;opacity:0.75'>±{100 * a.confidence:.4g} %</th>" if i in bars else "")
        for i, c in enumerate(a.columns)
    )
    lines = []
    for r, row in enumerate(a.rows[:_MOST_ROWS]):
        cells = []
        for i, (value, c) in enumerate(zip(row, a.columns, strict=True)):
            side = "right" if c.noisy else "left"
            shown, error = pair(value, a.error_at(r, i), c.kind)
            cells.append(f"<td style='{_CELL}{side}'>{escape(shown)}</td>")
            if i in bars:
                cells.append(f"<td style='{_CELL}left;opacity:0.75'{_interval(value, a.error_at(r, i), c.kind)}>{escape(error)}</td>")
        lines.append("<tr>" + "".join(cells) + "</tr>")
    more = f"<p style='{_SMALL}'>{len(a.rows) - _MOST_ROWS} more rows</p>" if len(a.rows) > _MOST_ROWS else ""
    words = "<br>".join(escape(w) for w in a._words())
    return (
        "<div class='discreet'><div style='display:flex;gap:2em;align-items:flex-start;flex-wrap:wrap'>"
        f"<div><table style='color:inherit'><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{more}</div>{chart(a)}</div>"
        f"<p style='{_SMALL}' title='receipt: {escape(a._receipts())}'>{words}</p></div>"
    )


def _interval(value: object, error: float | None, kind: str) -> str:
    if not (isinstance(value, (int, float)) and _near(value) and error is not None):
        return ""
    low, high = (pair(float(value) + sign * error, error, kind)[0] for sign in (-1, 1))
    return f" title='from {escape(low)} to {escape(high)}'"


def _near(value: object) -> bool:
    """Whether it is a number that can be drawn and computed with."""
    return isinstance(value, (int, float)) and abs(value) < _FURTHEST


def quote(q: Quote) -> str:
    """A price as HTML."""
    return f"<div class='discreet'>{'<br>'.join(escape(line) for line in str(q).splitlines())}</div>"


def _ticks(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10((high - low) / 3))
    for times in (1, 2, 5, 10):
        if (high - low) / (step * times) <= 5:
            step *= times
            break
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def chart(a: Noisy) -> str:
    """The first noisy column by groups, as dots with intervals; nothing if there are no groups."""
    _, shown = a._groups()
    if not shown or len(a.rows) > _MOST_BARS:
        return ""
    i = shown[0]
    points = [
        (a.label(r), float(row[i]), a.error_at(r, i) or 0.0)
        for r, row in enumerate(a.rows)
        if _near(row[i]) and _near(a.error_at(r, i) or 0.0)
    ]
    if not points:
        return ""
    low = min(0.0, *(v - e for _, v, e in points))
    high = max(0.0, *(v + e for _, v, e in points))
    if not high - low > 1 / _FURTHEST:
        return ""
    left = 14 + 7 * min(24, max(len(label) for label, _, _ in points))
    width, line = 320, 22
    height = line * len(points) + 34

    def x(v: float) -> float:
        return left + (v - low) / (high - low) * width

    out = [
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{escape(a.names[i], quote=True)} by group' "
        f"viewBox='0 0 {left + width + 24} {height}' width='{left + width + 24}' height='{height}' "
        "style='max-width:100%;font:12px system-ui,sans-serif' fill='currentColor'>"
    ]
    for t in _ticks(low, high):
        out.append(
            f"<line x1='{x(t):.1f}' x2='{x(t):.1f}' y1='4' y2='{height - 30}' stroke='currentColor' opacity='{0.35 if t == 0 else 0.12}'/>"
            f"<text x='{x(t):.1f}' y='{height - 16}' text-anchor='middle' opacity='0.75'>{t:,.10g}</text>"
        )
    for n, (label, v, e) in enumerate(points):
        y = 4 + line * (n + 0.5)
        text = label if len(label) <= 24 else label[:23] + "…"
        out.append(
            f"<g><title>{escape(label)}: {' ± '.join(map(escape, pair(v, e, a.columns[i].kind)))}</title>"
            f"<text x='{left - 8}' y='{y + 4:.1f}' text-anchor='end'>{escape(text)}</text>"
            f"<line x1='{x(v - e):.1f}' x2='{x(v + e):.1f}' y1='{y:.1f}' y2='{y:.1f}' stroke='{_ACCENT}' stroke-width='2' opacity='0.55'/>"
            f"<circle cx='{x(v):.1f}' cy='{y:.1f}' r='4' fill='{_ACCENT}'/></g>"
        )
    out.append(f"<text x='{left + width / 2}' y='{height - 2}' text-anchor='middle' opacity='0.75'>{escape(a.names[i])}</text></svg>")
    return "".join(out)
