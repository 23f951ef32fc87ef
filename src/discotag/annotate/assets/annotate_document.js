// The document on the page: its sentences, the selection, and the mention that is chosen.

import { drawBar } from "./annotate_bar.js";
import { make, the } from "./annotate_dom.js";
import { drawHeading } from "./annotate_heading.js";
import { keyOf } from "./annotate_mentions.js";
import { listenToPointers } from "./annotate_pointer.js";
import { Selection } from "./annotate_selection.js";
import { drawSentence } from "./annotate_sentence.js";

/**
 * Shows a state and what the person selects in it; sends nothing itself.
 *
 * `commands` is set by the page; see `commandsFor`.
 */
export class DocumentView {
  /** The state that is shown, with waiting actions. */
  shown = null;
  selection = new Selection();
  /** The chosen mention: {place, key}, or null. */
  chosen = null;
  /** The index of the label of new mentions. */
  label = 0;
  commands = null;
  #root;
  #heading = make("div", { class: "heading" });
  #body = make("div", { class: "sentences" });
  #drawn = [];
  #signatures = [];
  #painted = { sentence: null, chosen: null };

  constructor(root) {
    this.#root = root;
    root.append(this.#heading, this.#body);
    this.#body.addEventListener("focusin", (event) => this.#focused(event.target));
    listenToPointers(this.#body, {
      toggle: (sentence, word) => this.#select(() => this.selection.toggle(sentence, word)),
      begin: (sentence, word) => this.#select(() => this.selection.begin(sentence, word)),
      extend: (word) => this.#select(() => this.selection.extend(word)),
      settle: () => this.#select(() => this.selection.settle()),
      continued: (sentence) =>
        this.selection.cursor.sentence === sentence && this.selection.sentence === sentence,
      selecting: (sentence) => this.selection.sentence === sentence && !this.selection.empty,
      choose: (sentence, key) => this.choose(sentence, key),
    });
  }

  get readonly() {
    return !this.shown || this.shown.finished;
  }

  /** Return the mention that is chosen, with its sentence, or null. */
  get chosenMention() {
    if (!this.chosen) return null;
    const { place, key } = this.chosen;
    const mention = this.shown.sentences[place]?.mentions.find((each) => keyOf(each) === key);
    return mention ? { place, mention } : null;
  }

  /** Show a state; sentences that are the same stay as they are. */
  show(shown) {
    const same = this.shown?.number === shown.number && this.shown.annotator === shown.annotator;
    this.shown = shown;
    if (!same) this.#reset();
    if (shown.finished) this.selection.clear();
    const count = shown.sentences.length;
    const about = { count, readonly: this.readonly, labels: shown.labels };
    shown.sentences.forEach((sentence, place) => {
      const signature = JSON.stringify([sentence, this.readonly]);
      if (signature === this.#signatures[place]) return;
      this.#signatures[place] = signature;
      this.#redraw(sentence, { ...about, place });
    });
    if (!count)
      this.#body.replaceChildren(make("p", { class: "soft" }, "This document has no text."));
    drawHeading(this.#heading, shown, this.commands);
    this.paint();
  }

  /** Show that a document is on its way. */
  blank() {
    this.#reset();
    this.shown = null;
    delete this.#heading.dataset.signature;
    this.#heading.replaceChildren(make("p", { class: "soft" }, "Loading the document …"));
    the("bar").replaceChildren();
    delete the("bar").dataset.signature;
  }

  /** Show selection, chosen mention and tools as they are now. */
  paint() {
    this.#paintSelection();
    this.#paintChosen();
    drawBar(the("bar"), this);
  }

  /** Choose a mention and put the focus on it. */
  choose(place, key) {
    this.chosen = { place, key };
    this.#drawn[place]?.chips.get(key)?.querySelector(".chip-main").focus();
    this.paint();
  }

  /** Put the focus on the word at the cursor. */
  focusCursor() {
    const { sentence, word } = this.selection.cursor;
    this.#drawn[sentence]?.cells[word]?.focus();
  }

  /** Put the focus on the first proposal, or on the first word. */
  focusStart() {
    const place = this.shown.sentences.findIndex((sentence) =>
      sentence.mentions.some((mention) => mention.status === "proposed"),
    );
    if (place < 0 || this.readonly) return this.focusCursor();
    const first = this.shown.sentences[place].mentions.find((each) => each.status === "proposed");
    this.choose(place, keyOf(first));
  }

  /** Return the elements of the words of a sentence. */
  cells(place) {
    return this.#drawn[place]?.cells ?? [];
  }

  /** Return whether text runs from right to left at a word. */
  runsLeft(place, word) {
    return getComputedStyle(this.cells(place)[word]).direction === "rtl";
  }

  #reset() {
    this.selection = new Selection();
    this.chosen = null;
    this.#drawn = [];
    this.#signatures = [];
    this.#painted = { sentence: null, chosen: null };
    this.#body.replaceChildren();
    this.#root.scrollTop = 0;
  }

  #redraw(sentence, about) {
    const { place } = about;
    const before = this.#drawn[place];
    const focus = before?.root.contains(document.activeElement) && this.#place(before);
    const drawn = drawSentence(sentence, about, {
      choose: (at, mention) => this.choose(at, keyOf(mention)),
      accept: (at, mention) => this.commands.acceptMention(at, mention),
      remove: (at, mention) => this.commands.removeMention(at, mention),
    });
    this.#drawn[place] = drawn;
    if (before) before.root.replaceWith(drawn.root);
    else this.#body.append(drawn.root);
    if (this.#painted.sentence === place) this.#painted.sentence = null;
    if (this.#painted.chosen?.place === place) this.#painted.chosen = null;
    if (focus) this.#refocus(drawn, focus);
  }

  /** Return which word or which mention of a drawn sentence has the focus. */
  #place(drawn) {
    const chip = document.activeElement.closest(".chip");
    if (!chip) return { word: Number(document.activeElement.dataset.word ?? 0) };
    return { key: chip.dataset.key, at: [...drawn.chips.values()].indexOf(chip) };
  }

  /** Put the focus back where it was, or on what took that place. */
  #refocus(drawn, { key, at, word }) {
    if (key === undefined) return drawn.cells[word]?.focus({ preventScroll: true });
    const wanted = this.chosen?.key ?? key;
    const chips = [...drawn.chips.values()];
    const chip =
      drawn.chips.get(wanted) ?? drawn.chips.get(key) ?? chips[Math.min(at, chips.length - 1)];
    if (chip) chip.querySelector(".chip-main").focus({ preventScroll: true });
    else drawn.cells[this.selection.cursor.word]?.focus({ preventScroll: true });
  }

  #focused(target) {
    const root = target.closest(".sentence");
    if (!root) return;
    const place = Number(root.dataset.place);
    const chip = target.closest(".chip");
    const word = target.closest(".word");
    if (chip) {
      const { key } = chip.dataset;
      const mention = this.shown.sentences[place].mentions.find((each) => keyOf(each) === key);
      if (mention && this.selection.empty) this.selection.move(place, mention.fragments[0][0]);
      this.chosen = { place, key };
      this.paint();
    } else if (word) {
      const { cursor } = this.selection;
      this.chosen = null;
      if (cursor.sentence !== place || cursor.word !== Number(word.dataset.word))
        this.selection.move(place, Number(word.dataset.word));
      this.paint();
    }
  }

  #select(change) {
    if (this.readonly) return this.commands.refuse();
    change();
    this.chosen = null;
    this.paint();
  }

  #paintSelection() {
    const { selection } = this;
    const before = this.#drawn[this.#painted.sentence];
    if (before && this.#painted.sentence !== selection.sentence)
      before.cells.forEach((cell) => cell.setAttribute("aria-selected", "false"));
    const { words } = selection;
    this.#drawn[selection.sentence]?.cells.forEach((cell, word) => {
      cell.setAttribute("aria-selected", String(words.has(word)));
    });
    this.#painted.sentence = selection.sentence;
    const { cursor } = selection;
    this.#drawn.forEach(({ cells }, place) => {
      const wanted = place === cursor.sentence ? cursor.word : 0;
      if (cells[wanted]?.tabIndex === 0) return;
      cells.forEach((cell, word) => {
        cell.tabIndex = word === wanted ? 0 : -1;
      });
    });
  }

  #paintChosen() {
    const before = this.#painted.chosen;
    if (before) this.#mark(before, false);
    this.#painted.chosen = this.chosen;
    if (this.chosen) this.#mark(this.chosen, true);
  }

  #mark({ place, key }, on) {
    const drawn = this.#drawn[place];
    drawn?.chips.get(key)?.classList.toggle("chosen", on);
    drawn?.bars.get(key)?.forEach((bar) => {
      bar.classList.toggle("chosen", on);
      if (bar.classList.contains("bar")) bar.closest(".word").classList.toggle("chosen", on);
    });
  }
}
