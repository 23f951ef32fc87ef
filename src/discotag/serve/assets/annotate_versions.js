// Versions of a document side by side, and the decision between them.

import { call } from "./common.js";
import { button, counted, listed, make } from "./annotate_dom.js";
import { keyOf, plain, redrawn, sorted, textOf } from "./annotate_mentions.js";
import { freshId } from "./annotate_outbox.js";
import { drawWithBars } from "./annotate_sentence.js";

/**
 * Shows versions and lets a person take mentions from them.
 *
 * What all versions have is in the decision from the beginning; about each other mention the person
 * decides: take it or leave it.
 */
export class VersionsView {
  #root;
  #on;
  #number = null;
  #annotator = "";
  #labels = [];
  #data = null;
  /** What the person chose: by sentence and mention, true to take it, false to leave it. */
  #choices = new Map();

  /** @param {{back: function, decided: function, notify: function}} on */
  constructor(root, on) {
    this.#root = root;
    this.#on = on;
  }

  /** Load the versions of a document and show them. */
  async open(number, annotator, labels) {
    if (number !== this.#number) {
      this.#choices = new Map();
      this.#root.replaceChildren();
    }
    this.#number = number;
    this.#annotator = annotator;
    const data = await call(`/api/documents/${number}/versions`);
    if (this.#number === number) this.#take(data, labels);
  }

  #take(data, labels) {
    this.#data = data;
    this.#labels = labels;
    if (data.decision && !this.#choices.size) this.#recall(data);
    this.#draw();
  }

  /** Begin with what was decided before. */
  #recall({ differences, decision }) {
    for (const each of differences) {
      const kept = decision.sentences[each.sentence].mentions.map(keyOf);
      this.#choices.set(placeOf(each), kept.includes(keyOf(each.mention)));
    }
  }

  /** Return the versions that are compared: finished ones if there are two, otherwise all. */
  get #versions() {
    const finished = this.#data.versions.filter((version) => version.finished);
    return finished.length > 1 ? finished : this.#data.versions;
  }

  get #open() {
    return this.#data.differences.filter((each) => !this.#choices.has(placeOf(each)));
  }

  #draw() {
    const { differences, decision } = this.#data;
    const versions = this.#versions;
    const names = versions.map((version) => version.annotator);
    const count = versions[0]?.sentences.length ?? 0;
    const sentences = Array.from({ length: count }, (_, place) => this.#drawSentence(place));
    const focused = document.activeElement?.dataset?.choice;
    this.#root.replaceChildren(
      make(
        "div",
        { class: "heading" },
        make("div", { class: "title" }, make("h2", {}, `Versions of ${listed(names)}`)),
        make("div", { class: "doings" }, button("Back to your version", this.#on.back, { id: "back" })),
        make("p", { class: "people" }, this.#summary()),
        decision &&
          make("p", { class: "people", id: "decision" }, `Decided by ${decision.by}${decision.at ? `, ${moment(decision.at)}` : ""}. Deciding again replaces this decision; the versions stay.`),
      ),
      differences.length > 0
        ? make(
            "div",
            { class: "whole", role: "group", "aria-label": "Take a whole version" },
            make("span", { class: "soft" }, "Take everything from"),
            versions.map((version, at) =>
              button(version.annotator, () => this.#takeVersion(at), { "data-choice": `whole-${at}` }),
            ),
          )
        : "",
      ...sentences,
      this.#footer(),
    );
    if (focused) this.#root.querySelector(`[data-choice="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  #summary() {
    const { differences } = this.#data;
    const versions = this.#versions;
    const unfinished = this.#data.versions.filter((version) => !version.finished).map((each) => each.annotator);
    const rest = unfinished.length ? ` Not finished: ${listed(unfinished)}.` : "";
    if (versions.length < 2) return `There is only one version.${rest}`;
    if (!differences.length) return `The versions have the same mentions.${rest}`;
    return `${counted(differences.length, "mention is", "mentions are")} not in all versions.${rest}`;
  }

  #drawSentence(place) {
    const versions = this.#versions;
    const differing = this.#data.differences.filter((each) => each.sentence === place);
    const first = versions[0].sentences[place];
    if (!differing.length)
      return make("section", { class: "sentence same discotag" }, drawWithBars(settled(first)).words);
    const keys = new Set(differing.map((each) => keyOf(each.mention)));
    return make(
      "section",
      { class: "sentence differing discotag", "aria-label": `Sentence ${place + 1}: versions differ` },
      make("div", { class: "versions" }, versions.map((version, at) => this.#column(version, at, place, keys))),
      make("div", { class: "choices" }, differing.map((each) => this.#choice(each))),
      this.#result(place),
    );
  }

  #column(version, at, place, keys) {
    const sentence = settled(version.sentences[place]);
    const { words, bars } = drawWithBars(sentence);
    for (const [key, drawn] of bars) if (keys.has(key)) drawn.forEach((bar) => bar.classList.add("differs"));
    return make(
      "div",
      { class: "version" },
      make("h3", {}, make("bdi", {}, version.annotator), button("Take this sentence", () => this.#takeSentence(at, place), { class: "plain", "data-choice": `sentence-${at}-${place}`, "aria-label": `Take sentence ${place + 1} from ${version.annotator}` })),
      words,
      named(sentence, keys),
    );
  }

  #choice(difference) {
    const { sentence, mention, annotators } = difference;
    const place = placeOf(difference);
    const drawing = this.#versions[0].sentences[sentence].drawing;
    const text = textOf(drawing, mention.fragments);
    const missing = this.#versions.map((each) => each.annotator).filter((each) => !annotators.includes(each));
    const chosen = this.#choices.get(place);
    const choose = (value, word) =>
      button(word, () => this.#choose([[place, value]]), {
        "aria-pressed": String(chosen === value),
        "data-choice": `${value}-${place}`,
        "aria-label": `${word} ${mention.label}, ${text}`,
      });
    return make(
      "div",
      { class: `choice ${chosen === undefined ? "open" : chosen ? "taken" : "left"}` },
      make("span", { class: "what" }, make("small", {}, mention.label), " ", make("bdi", {}, text)),
      make("small", { class: "soft" }, `${listed(annotators)}: yes · ${listed(missing)}: no`),
      make("span", { class: "pair" }, choose(true, "Take"), choose(false, "Leave")),
    );
  }

  #result(place) {
    const base = this.#versions[0].sentences[place];
    const mentions = this.#decided(place).map((mention) => ({ ...mention, status: "accepted" }));
    const drawing = redrawn(base.drawing, base.mentions, mentions, this.#labels);
    return make(
      "div",
      { class: "result" },
      make("h3", {}, "Decision"),
      drawWithBars({ ...base, mentions, drawing, problems: [] }).words,
    );
  }

  #footer() {
    const open = this.#open.length;
    const text = open ? `${counted(open, "mention")} left to decide` : this.#data.differences.length ? "Every difference has a choice." : "";
    const decide = button("Save the decision", () => this.#send(), { class: "main", id: "decide", disabled: open > 0 || !this.#data.differences.length });
    return make("div", { class: "footer" }, make("span", { class: "soft", role: "status" }, text), decide);
  }

  /** Return the mentions of a sentence that all have, or that were taken. */
  #decided(place) {
    const { differences } = this.#data;
    const differing = new Set(differences.filter((each) => each.sentence === place).map((each) => keyOf(each.mention)));
    const shared = this.#versions[0].sentences[place].mentions.filter((each) => !differing.has(keyOf(each)));
    const taken = differences.filter((each) => each.sentence === place && this.#choices.get(placeOf(each)));
    return sorted([...shared.map(plain), ...taken.map((each) => plain(each.mention))]);
  }

  #takeVersion(at) {
    this.#takeFrom(at, this.#data.differences);
  }

  #takeSentence(at, place) {
    this.#takeFrom(at, this.#data.differences.filter((each) => each.sentence === place));
  }

  #takeFrom(at, differences) {
    const { annotator } = this.#versions[at];
    this.#choose(differences.map((each) => [placeOf(each), each.annotators.includes(annotator)]));
  }

  #choose(choices) {
    for (const [place, value] of choices) this.#choices.set(place, value);
    this.#draw();
  }

  async #send() {
    const { revision } = this.#data;
    const sentences = this.#versions[0].sentences.map((_, place) => this.#decided(place));
    const body = { id: freshId(), annotator: this.#annotator, base: revision, sentences };
    try {
      this.#take(await call(`/api/documents/${this.#number}/decision`, { body }), this.#labels);
      this.#on.decided();
    } catch (error) {
      if (error.status !== 409) return this.#on.notify(`The decision is not saved: ${error.message}`, { kind: "bad" });
      this.#on.notify("The decision is not saved, because a version changed in the meantime. These are the versions as they are now; your choices are kept.", { kind: "bad" });
      await this.open(this.#number, this.#annotator, this.#labels);
    }
  }
}

function placeOf({ sentence, mention }) {
  return `${sentence}:${keyOf(mention)}`;
}

/** Return a sentence of a version without what is only of interest while annotating. */
function settled(sentence) {
  return { ...sentence, problems: [] };
}

function named(sentence, keys = new Set()) {
  return make(
    "ul",
    { class: "chips quiet" },
    sentence.mentions.map((mention, at) =>
      make(
        "li",
        { class: `chip c${sentence.drawing.mentions[at][4]} ${keys.has(keyOf(mention)) ? "differs" : ""} ${mention.status}` },
        make("b", { class: "number" }, String(at + 1)),
        make("small", { class: "label" }, mention.label),
        make("bdi", {}, textOf(sentence.drawing, mention.fragments)),
      ),
    ),
  );
}

function moment(at) {
  const date = new Date(typeof at === "number" ? at * 1000 : at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
