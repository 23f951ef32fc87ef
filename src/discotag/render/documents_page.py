"""The HTML page of tagged documents: pages of drawings, a search, a slider for the score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TextIO

from discotag.mentions import Document
from discotag.render.html import PAGE_STYLE, json_block, page_frame, safe, visible
from discotag.render.html_drawing import (
    DRAWING_SCRIPT,
    DRAWING_STYLE,
    draw_sentence,
    drawing_data,
)

PAGE_DOCUMENTS, PAGE_WORDS = 25, 4000
"""The most documents and words that are shown at once; a longer document is shown alone."""

BLOCK: Final = 200
"""The number of documents in one element of data."""

STYLE: Final = (
    PAGE_STYLE
    + """
article h2{font-size:.85rem;margin:0;color:var(--soft)}
article{scroll-margin-top:8rem}
fieldset label{display:flex;align-items:center;gap:.4rem}
.score{flex:1 1 16rem}.score input{flex:1;min-width:6rem;accent-color:var(--mark)}
.score output{min-width:3rem}
#counts{flex:1 1 20rem}
fieldset label[hidden]{display:none}
@media (max-width:40rem){article{scroll-margin-top:.5rem;padding:.6rem .7rem}}
@media (hover:none){.keys{display:none}}
"""
    + DRAWING_STYLE
)

SCRIPT: Final = (
    '"use strict";'
    + DRAWING_SCRIPT
    + """
const get = name => document.getElementById(name);
const blocks = [...document.querySelectorAll("script[type='application/json']")].map(block => {
  const data = JSON.parse(block.textContent);
  block.remove();
  return data;
});
const {labels, mentions, candidates, pageDocuments, pageWords} = blocks.pop(), all = blocks.flat();
const search = get("search"), slider = get("least"), only = get("only"), chosen = get("label");
const list = get("documents"), count = number => number.toLocaleString("en");
let least = 0, label = -1, wanted = "", shown = [], starts = [], page = 0;
let drawn = [], drawnFor = "";

function kept(row) {
  return (row[1] === null || row[1] >= least) && (label < 0 || row[0] === label);
}
function name(number) { return all[number].id ?? "Document " + (number + 1); }
function searched(number) {
  const each = all[number];
  if (each.text === undefined) {
    const parts = [name(number)];
    for (const sentence of each.sentences.map(unpacked)) {
      parts.push(spelled(sentence, 0, sentence.words.length));
      for (const {label, at} of sentence.mentions)
        parts.push(labels[label] + " " + at.map(([a, b]) => spelled(sentence, a, b)).join(" "));
    }
    each.text = parts.join("\\n").toLowerCase();
  }
  return each.text;
}
function hits(sentence) {
  const found = new Set(), begins = [];
  if (!wanted) return found;
  let text = "";
  sentence.words.forEach((word, place) => {
    begins.push(text.length);
    text += word.toLowerCase() + (sentence.glued.has(place) ? "" : " ");
  });
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
    sentence.words.forEach((word, place) => {
      if (begins[place] < at + wanted.length && at < begins[place] + word.length) found.add(place);
    });
  return found;
}
function article(number) {
  const inside = element("div", "discotag");
  for (const sentence of all[number].sentences.map(unpacked)) {
    inside.append(drawWords(sentence, hits(sentence)));
    if (sentence.mentions.length) inside.append(listMentions(sentence, labels));
    drawn.push(...sentence.mentions);
  }
  const made = element("article", "", element("h2", "", name(number)), inside);
  made.tabIndex = -1;
  return made;
}
function filter() {
  const first = shown[starts[page]] ?? 0;
  least = slider.value / 100;
  label = Number(chosen.value);
  wanted = search.value.trim().toLowerCase();
  shown = [];
  let found = 0, review = 0;
  all.forEach((each, number) => {
    const here = each.sentences.flatMap(sentence => (sentence.mentions || []).filter(kept));
    if ((!here.length && (only.checked || label >= 0)) ||
      (wanted && !searched(number).includes(wanted))) return;
    shown.push(number);
    found += here.length;
    review += here.filter(row => row[6]).length;
  });
  starts = [];
  let used = 0, words = 0;
  shown.forEach((number, place) => {
    const more = all[number].sentences.reduce((sum, each) => sum + each.words.length, 0);
    if (!place || used === pageDocuments || words + more > pageWords) {
      starts.push(place);
      used = words = 0;
    }
    used += 1;
    words += more;
  });
  page = Math.max(starts.findLastIndex(place => shown[place] <= first), 0);
  get("shown-score").textContent = slider.value + "%";
  get("counts").textContent = count(shown.length) + " of " + count(all.length) + " documents, " +
    count(found) + " of " + count(mentions) + " mentions" + (candidates ?
    "; candidates to review among them: " + count(review) : "");
  draw();
}
function draw() {
  const numbers = shown.slice(starts[page], starts[page + 1]);
  const drawing = JSON.stringify([numbers, wanted]);
  if (drawing !== drawnFor) {
    drawn = [];
    list.replaceChildren(...numbers.map(article));
    drawnFor = drawing;
  }
  for (const {row, drawn: parts} of drawn)
    for (const part of parts) part.classList.toggle("low", !kept(row));
  get("place").textContent = starts.length ? "Page " + count(page + 1) + " of " +
    count(starts.length) : "No document matches";
  get("previous").disabled = page === 0;
  get("next").disabled = page >= starts.length - 1;
}
function turn(step) {
  if (page + step < 0 || page + step >= starts.length) return false;
  page += step;
  draw();
  return true;
}
function go(step) {
  const here = [...list.children], at = here.indexOf(document.activeElement.closest("article"));
  let next = at < 0 ? 0 : at + step;
  if (next < 0) next = turn(-1) ? -1 : 0;
  else if (next >= here.length) next = turn(1) ? 0 : -1;
  const to = [...list.children].at(next);
  if (to) { to.focus({preventScroll: true}); to.scrollIntoView({block: "start"}); }
}
labels.forEach((label, number) => chosen.append(new Option(label, number)));
get("labels").hidden = labels.length < 2;
get("score").hidden = !all.some(each => each.sentences.some(sentence =>
  (sentence.mentions || []).some(row => row[1] !== null)));
get("note").remove();
get("filter").hidden = get("pages").hidden = false;
let waiting = 0;
search.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(filter, 120);
});
for (const field of [slider, only, chosen]) field.addEventListener("input", filter);
for (const [button, step] of [["previous", -1], ["next", 1]])
  get(button).addEventListener("click", () => { if (turn(step)) scrollTo(0, 0); });
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === search) {
    if (event.key === "Escape") { search.value = ""; filter(); search.blur(); }
    if (event.key === "Enter") { clearTimeout(waiting); filter(); go(0); }
    return;
  }
  if (event.target === chosen) return;
  if (event.key === "j") go(1);
  else if (event.key === "k") go(-1);
  else if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
});
filter();
"""
)

FILTER: Final = """<fieldset id="filter" hidden><legend>Filter</legend>
<input type="search" id="search" placeholder="Search" aria-label="Search documents">
<label class="score" id="score">Score at least
<input type="range" id="least" min="0" max="100" value="0">
<output id="shown-score"></output></label>
<label id="labels">Label <select id="label"><option value="-1">all</option></select></label>
<label><input type="checkbox" id="only"> with mentions only</label>
<output id="counts" aria-live="polite"></output>
<small class="keys"><kbd>j</kbd> next, <kbd>k</kbd> previous, <kbd>/</kbd> search</small></fieldset>
"""

PAGES: Final = """<nav id="pages" aria-label="Pages" hidden><button id="previous">Previous</button>
<span id="place"></span><button id="next">Next</button></nav>
"""


def write_page(
    documents: Iterable[Document], stream: TextIO, *, title: str, about: str, labels: Sequence[str]
) -> None:
    """Write a self-contained page to look through documents, one document at a time.

    The page loads nothing. Its script pages through the documents, searches them, and hides
    mentions with a low score. Without the script the page shows the first documents. Memory does
    not grow with the number of documents.

    Args:
        documents: The documents, any number.
        stream: The file to write to.
        title: The title.
        about: A line below the title.
        labels: All labels that the mentions may have.

    Example:
        >>> import io
        >>> page = io.StringIO()
        >>> write_page([], page, title="Mentions", about="", labels=["ADR"])
    """
    beginning, end = page_frame(title, style=STYLE, script=SCRIPT)
    stream.write(
        f"{beginning}<header><h1>{safe(title)}</h1>"
        f'<p class="soft">{safe(about)}</p>'
        "<noscript><p>Without JavaScript this page shows the first documents only.</p></noscript>"
        f'</header>\n{FILTER}<main id="documents">\n'
    )
    number = drawn = words = mentions = candidates = 0
    block: list[dict[str, Any]] = []
    drawing = True
    for number, document in enumerate(documents, 1):
        size = sum(len(sentence.words) for sentence in document.sentences)
        if drawing and number > 1 and (number > PAGE_DOCUMENTS or words + size > PAGE_WORDS):
            drawing = False
            stream.write("</main>\n")
        if drawing:
            stream.write(_article(number, document, labels))
            drawn, words = number, words + size
        mentions += sum(len(sentence.mentions) for sentence in document.sentences)
        candidates += sum(len(sentence.candidates) for sentence in document.sentences)
        block.append(_data(document, labels))
        if not drawing and len(block) >= BLOCK:
            stream.write(json_block(block) + "\n")
            block.clear()
    if drawing:
        stream.write("</main>\n")
    summary = {
        "labels": [visible(label) for label in labels],
        "mentions": mentions + candidates,
        "candidates": candidates,
        "pageDocuments": PAGE_DOCUMENTS,
        "pageWords": PAGE_WORDS,
    }
    rest = number - drawn
    more = f"; {rest:,} more need JavaScript" if rest else ""
    stream.write(
        f'{json_block(block)}\n{PAGES}<p class="soft" id="note">{drawn:,} of {number:,} documents '
        f"are shown{more}. Mentions in all: {mentions:,}"
        f"{f'; candidates to review: {candidates:,}' if candidates else ''}.</p>\n"
        f"{json_block(summary)}{end}"
    )


def _article(number: int, document: Document, labels: Sequence[str]) -> str:
    """Draw a document as the script of the page does."""
    name = _name(document)
    name = f"Document {number}" if name is None else name
    drawn = "".join(draw_sentence(sentence, labels=labels) for sentence in document.sentences)
    return (
        f'<article tabindex="-1"><h2>{safe(name)}</h2><div class="discotag">{drawn}</div>'
        "</article>\n"
    )


def _data(document: Document, labels: Sequence[str]) -> dict[str, Any]:
    sentences = [drawing_data(sentence, labels) for sentence in document.sentences]
    name = _name(document)
    return {"id": None if name is None else visible(name), "sentences": sentences}


def _name(document: Document) -> str | None:
    """Return the id of a document, and the row of a table that it comes from."""
    row = document.extra.get("row")
    if not isinstance(row, int):
        return document.id
    return f"Row {row}" if document.id in (None, str(row)) else f"{document.id}, row {row}"
