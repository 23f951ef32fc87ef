// Versions of a document side by side, to decide between them.

import { call } from "./common.js";
import { Decision, placeOf } from "./annotate_decision.js";
import { button, counted, listed, make } from "./annotate_dom.js";
import { keyOf, redrawn, textOf } from "./annotate_mentions.js";
import { freshId } from "./annotate_outbox.js";
import { drawWithBars } from "./annotate_sentence.js";

/** Shows versions and lets a person take mentions from them. */
export class VersionsView {
  #root;
  #on;
  #number = null;
  #annotator = "";
  #labels = [];
  #data = null;
  #decision = null;

  /**
   * @param {{back: function, decided: function, notify: function}} on `back()` leaves the view;
   *   `decided()` is called when a decision is saved; `notify` shows a message.
   */
  constructor(root, on) {
    this.#root = root;
    this.#on = on;
  }

  /** Load the versions of a document and show them; choices are kept. */
  async open(number, annotator, labels) {
    if (number !== this.#number) {
      this.#decision = null;
      this.#root.replaceChildren(make("p", { class: "soft" }, "Loading the versions …"));
    }
    this.#number = number;
    this.#annotator = annotator;
    this.#labels = labels;
    const data = await call(`/api/documents/${number}/versions`);
    if (this.#number === number) this.#take(data);
  }

  #take(data) {
    this.#data = data;
    this.#decision = new Decision(data, this.#decision);
    this.#draw();
  }

  #draw() {
    const focused = document.activeElement?.dataset?.choice;
    const { versions, differences } = this.#decision;
    const count = versions[0]?.sentences.length ?? 0;
    this.#root.replaceChildren(
      this.#heading(),
      differences.length > 0 ? this.#whole() : "",
      ...Array.from({ length: count }, (_, place) => this.#sentence(place)),
      this.#footer(),
    );
    const wanted = focused && `[data-choice="${CSS.escape(focused)}"]`;
    if (wanted) this.#root.querySelector(wanted)?.focus({ preventScroll: true });
  }

  #heading() {
    const { decision } = this.#data;
    const names = this.#decision.versions.map((version) => version.annotator);
    const title = names.length ? `Versions of ${listed(names)}` : "Nobody has a version yet";
    const before =
      decision &&
      `Decided by ${decision.by}, ${moment(decision.at)}. Deciding again replaces this decision; ` +
        "the versions stay.";
    return make(
      "div",
      { class: "heading" },
      make("div", { class: "title" }, make("h2", {}, title)),
      make(
        "div",
        { class: "doings" },
        button("Back to your version", this.#on.back, { id: "back" }),
      ),
      make("p", { class: "people" }, this.#summary()),
      before && make("p", { class: "people", id: "decision" }, before),
    );
  }

  #summary() {
    const { versions, differences } = this.#decision;
    const open = this.#data.versions.filter((version) => !version.finished);
    const rest = open.length ? ` Not finished: ${listed(open.map((each) => each.annotator))}.` : "";
    if (versions.length < 2) return `There is nothing to compare.${rest}`;
    if (!differences.length) return `The versions have the same mentions.${rest}`;
    const differing = counted(differences.length, "mention is", "mentions are");
    return `${differing} not in all versions.${rest}`;
  }

  #whole() {
    return make(
      "div",
      { class: "whole", role: "group", "aria-label": "Take a whole version" },
      make("span", { class: "soft" }, "Take everything from"),
      this.#decision.versions.map(({ annotator }, at) =>
        button(annotator, () => this.#follow(annotator, this.#decision.differences), {
          "data-choice": `whole-${at}`,
        }),
      ),
    );
  }

  #sentence(place) {
    const { versions } = this.#decision;
    const differing = this.#decision.of(place);
    if (!differing.length) {
      const { words } = drawWithBars(settled(versions[0].sentences[place]));
      return make("section", { class: "sentence same discotag" }, words);
    }
    const about = `Sentence ${place + 1}: versions differ`;
    const columns = versions.map((version, at) => this.#column(version, at, place, differing));
    return make(
      "section",
      { class: "sentence differing discotag", "aria-label": about },
      make("div", { class: "versions" }, columns),
      make(
        "div",
        { class: "choices" },
        differing.map((each) => this.#choice(each)),
      ),
      this.#result(place),
    );
  }

  #column({ annotator, sentences }, at, place, differing) {
    const sentence = settled(sentences[place]);
    const keys = new Set(differing.map((each) => keyOf(each.mention)));
    const { words, bars } = drawWithBars(sentence);
    for (const [key, drawn] of bars)
      if (keys.has(key)) drawn.forEach((bar) => bar.classList.add("differs"));
    const take = button("Take this sentence", () => this.#follow(annotator, differing), {
      class: "plain",
      "data-choice": `sentence-${at}-${place}`,
      "aria-label": `Take this sentence from ${annotator}`,
    });
    const title = make("h3", {}, make("bdi", {}, annotator), take);
    return make("div", { class: "version" }, title, words, named(sentence, keys));
  }

  #choice(difference) {
    const { sentence, mention, annotators } = difference;
    const { versions } = this.#decision;
    const text = textOf(versions[0].sentences[sentence].drawing, mention.fragments);
    const names = versions.map((version) => version.annotator);
    const missing = names.filter((name) => !annotators.includes(name));
    const chosen = this.#decision.choice(difference);
    const choose = (taken, word) =>
      button(word, () => this.#choose(difference, taken), {
        "aria-pressed": String(chosen === taken),
        "data-choice": `${taken}-${placeOf(difference)}`,
        "aria-label": `${word} ${mention.label}, ${text}`,
      });
    const what = [make("small", {}, mention.label), " ", make("bdi", {}, text)];
    const who = `${listed(annotators)}: yes · ${listed(missing)}: no`;
    return make(
      "div",
      { class: `choice ${chosen === undefined ? "open" : chosen ? "taken" : "left"}` },
      make("span", { class: "what" }, what),
      make("small", { class: "soft" }, who),
      make("span", { class: "pair" }, choose(true, "Take"), choose(false, "Leave")),
    );
  }

  #result(place) {
    const base = this.#decision.versions[0].sentences[place];
    const mentions = this.#decision.mentions(place).map((mention) => ({ ...mention, status: "" }));
    const drawing = redrawn(base.drawing, mentions, this.#labels);
    const { words } = drawWithBars({ ...base, mentions, drawing, problems: [] });
    return make("div", { class: "result" }, make("h3", {}, "Decision"), words);
  }

  #footer() {
    const { open, differences } = this.#decision;
    const done = differences.length ? "Every difference has a choice." : "";
    const text = open ? `${counted(open, "mention")} left to decide` : done;
    const decide = button("Save the decision", () => this.#send(), {
      class: "main",
      id: "decide",
      disabled: open > 0 || !differences.length,
    });
    const said = make("span", { class: "soft", role: "status" }, text);
    return make("div", { class: "footer" }, said, decide);
  }

  #follow(annotator, differences) {
    this.#decision.follow(annotator, differences);
    this.#draw();
  }

  #choose(difference, taken) {
    this.#decision.choose(difference, taken);
    this.#draw();
  }

  async #send() {
    const { sentences: first } = this.#decision.versions[0];
    const sentences = first.map((_, place) => this.#decision.mentions(place));
    const base = this.#data.revision;
    const body = { id: freshId(), annotator: this.#annotator, base, sentences };
    try {
      this.#take(await call(`/api/documents/${this.#number}/decision`, { body }));
      this.#on.decided();
    } catch (error) {
      const why = `The decision is not saved: ${error.message}`;
      if (error.status !== 409) return this.#on.notify(why, { kind: "bad" });
      const now = "These are the versions as they are now; your choices are kept.";
      this.#on.notify(`${why} ${now}`, { kind: "bad" });
      await this.open(this.#number, this.#annotator, this.#labels);
    }
  }
}

/** Return a sentence of a version without what is only of interest while annotating. */
function settled(sentence) {
  return { ...sentence, problems: [] };
}

function named(sentence, keys) {
  const items = sentence.mentions.map((mention, at) => {
    const colour = `c${sentence.drawing.mentions[at][4]}`;
    const differs = keys.has(keyOf(mention)) ? "differs" : "";
    return make(
      "li",
      { class: `chip ${colour} ${differs}` },
      make("b", { class: "number" }, String(at + 1)),
      make("small", { class: "label" }, mention.label),
      make("bdi", {}, textOf(sentence.drawing, mention.fragments)),
    );
  });
  return make("ul", { class: "chips quiet" }, items);
}

/** Return a time in seconds since 1970 as people write it. */
function moment(at) {
  const style = { dateStyle: "medium", timeStyle: "short" };
  return new Date(at * 1000).toLocaleString("en-GB", style);
}
