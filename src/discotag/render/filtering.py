"""Fields that filter the articles of a page, and their script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from discotag.render.html import safe

FILTER_SCRIPT: Final = """
const all = [...document.querySelectorAll("article")];
const boxes = document.querySelectorAll("[name=kind]");
const search = document.querySelector("[type=search]"), shown = document.querySelector("output");
function filter() {
  const kinds = new Set([...boxes].filter(b => b.checked).map(b => b.value));
  const wanted = search.value.trim().toLowerCase();
  for (const each of all) each.hidden = !each.dataset.kind.split(" ").some(k => kinds.has(k)) ||
    !each.textContent.toLowerCase().includes(wanted);
  for (const part of document.querySelectorAll("section[data-kind]"))
    part.hidden = !part.querySelector("article:not([hidden])");
  shown.textContent = all.filter(each => !each.hidden).length + " of " + all.length;
}
function go(step) {
  const left = all.filter(each => !each.hidden), at = left.indexOf(document.activeElement);
  const next = left[at < 0 ? 0 : Math.min(Math.max(at + step, 0), left.length - 1)];
  if (next) { next.focus(); next.scrollIntoView({block: "center"}); }
}
if (all.length) {
  document.querySelector("fieldset").hidden = false;
  document.querySelector("fieldset").addEventListener("input", filter);
  document.addEventListener("keydown", event => {
    if (event.target.type === "search" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") go(1);
    if (event.key === "k") go(-1);
  });
  filter();
}
"""
"""Shows the fields of `filter_fields`, which filter articles by `data-kind`, one or more names."""


def filter_fields(kinds: Mapping[str, int], what: str) -> str:
    """Return check boxes for kinds of articles, and a search field; the script shows them.

    Args:
        kinds: The number of articles, or of what they show, of each kind.
        what: What is searched, as in "Search the findings".
    """
    boxes = "".join(
        f'<label><input type="checkbox" name="kind" value="{safe(kind)}" checked> '
        f"{safe(kind.replace('_', ' '))} <small>{number:,}</small></label>"
        for kind, number in kinds.items()
    )
    return (
        f"<fieldset hidden><legend>Show</legend>{boxes}"
        f'<input type="search" placeholder="Search {safe(what)}" aria-label="Search {safe(what)}">'
        '<output aria-live="polite"></output>'
        "<small>keys: j next, k previous</small></fieldset>"
    )
