"""Self-contained HTML pages: they load nothing, and escape all text of users."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from discotag.characters import printable
from discotag.render.colours import variables

JOINERS: Final = "\u200c\u200d"
"""Invisible characters that join letters and emoji; some languages cannot do without them."""


PAGE_STYLE: Final = (
    variables(":root")
    + """
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:2rem 1.2rem 6rem;background:var(--back);color:var(--ink);
font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0}h2{font-size:1.2rem;margin:2.6rem 0 .3rem}
h3{font-size:1rem;margin:1.8rem 0 0}p{margin:.3rem 0}
.soft,small,caption{color:var(--soft)}small{font-size:.85em}
a{color:var(--mark)}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:1.2rem 0;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.3rem}
th,td{text-align:left;padding:.25rem 1.1rem .25rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
th,td{overflow-wrap:break-word}th{font-weight:600}.n{text-align:right}
article{background:var(--card);border:1px solid var(--line);border-radius:.6rem;
padding:.7rem 1rem .8rem;margin:.7rem 0}
:focus-visible,article:focus{outline:2px solid var(--mark);outline-offset:1px}
fieldset{position:sticky;top:0;z-index:1;background:var(--back);border:0;min-width:0;
border-bottom:1px solid var(--line);margin:1.5rem 0 0;padding:.7rem 0;display:flex;flex-wrap:wrap;
gap:.4rem 1rem;align-items:center}
fieldset[hidden]{display:none}legend{position:absolute;left:-99rem}
label{cursor:pointer}
input[type=search],select,button{font:inherit;padding:.2rem .6rem;border-radius:.4rem;
border:1px solid var(--edge);background:var(--card);color:inherit;max-width:100%}
input[type=search]{min-width:14rem}
nav{display:flex;gap:1rem;align-items:center;margin:1.2rem 0}nav[hidden]{display:none}
button{cursor:pointer;padding:.4rem .9rem}button:disabled{opacity:.5;cursor:default}
kbd{font:inherit;border:1px solid var(--edge);border-radius:.25rem;padding:0 .3em}
@media (max-width:40rem){body{padding:1rem .7rem 3rem}fieldset{position:static}
input[type=search]{flex:1 1 100%}}
@media print{fieldset,nav{display:none}article{break-inside:avoid}}
"""
)
"""The style of pages: colours, text, tables, articles, and fields to filter with."""


def visible(text: str) -> str:
    """Make control characters visible, except those that join letters and emoji."""
    return printable(text, keep=JOINERS)


def safe(text: object) -> str:
    """Escape text for HTML, and make control characters visible.

    Example:
        >>> safe("<b>")
        '&lt;b&gt;'
    """
    return escape(visible(str(text)))


def page(title: str, body: str, *, style: str, script: str) -> str:
    """Return a complete page, with a policy that allows no resources and only this script.

    Args:
        title: Plain text.
        body: Markup.
        style: A style sheet.
        script: JavaScript; the page must be readable without it.
    """
    beginning, end = page_frame(title, style=style, script=script)
    return f"{beginning}{body}{end}"


def page_frame(title: str, *, style: str, script: str) -> tuple[str, str]:
    """Return what comes before and after the body of a page, for a body that is written in parts.

    The arguments are those of `page`.
    """
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    beginning = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{safe(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
"""
    return beginning, f"\n<script>{script}</script>\n</body>\n</html>\n"


def json_block(data: object) -> str:
    r"""Return plain data as an element of a page that its script can read.

    Characters with a meaning in HTML or in old JavaScript are escaped, so that no text of a user
    can end the element.

    Example:
        >>> json_block("</script>")
        '<script type="application/json">"\\u003c/script\\u003e"</script>'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f'<script type="application/json">{text}</script>'


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str, left: int = 1
) -> str:
    """Return a table; the first `left` columns are text, the others numbers."""

    def line(cells: Sequence[object], tag: str, scope: str = "") -> str:
        parts = []
        for number, cell in enumerate(cells):
            shown = f"{cell:,}" if isinstance(cell, int) else safe(cell)
            kind = "" if number < left else ' class="n"'
            parts.append(f"<{tag}{scope}{kind}>{shown}</{tag}>")
        return f"<tr>{''.join(parts)}</tr>"

    head, body = line(columns, "th", ' scope="col"'), "\n".join(line(row, "td") for row in rows)
    return (
        f'<div class="wide"><table><caption>{safe(caption)}</caption>'
        f"<thead>{head}</thead>\n<tbody>{body}</tbody></table></div>"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
