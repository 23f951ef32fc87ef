// Versions of a document side by side, to decide between them.

import { CallError, call } from "./common.js";
import { Decision, historyOf, placeOf } from "./annotate_decision.js";
import { button, counted, listed, make, sentence as spelled } from "./annotate_dom.js";
import { keyOf, textOf } from "./annotate_mentions.js";
import { freshId } from "./annotate_outbox.js";
import { Misfits, drawMisfits, drawResult } from "./annotate_result.js";
import { drawWithBars } from "./annotate_sentence.js";

/** Shows versions and lets a person take mentions from them. */
export class VersionsView {
  #root;
  #on;
  #number = null;
  #annotator = "";
  #project = null;
  #data = null;
  #decision = null;
  #misfits = new Misfits();
  /** The decision on its way: its content and its id. A lost answer does not make it another. */
  #sent = null;
  #sending = false;

  /**
   * @param {{back: function, decided: function, notify: function, replaced: function}} on
   *   `back()` leaves the view; `decided()` is called when a decision is saved; `notify` shows a
   *   message; `replaced()` is called when the server has another project.
   */
  constructor(root, on) {
    this.#root = root;
    this.#on = on;
  }

  /** Load the versions of a document and show them; choices are kept. */
  async open(number, annotator, project) {
    if (number !== this.#number) {
      this.#decision = null;
      this.#misfits = new Misfits();
      this.#root.replaceChildren(make("p", { class: "soft" }, "Loading the versions …"));
    }
    this.#number = number;
    this.#annotator = annotator;
    this.#project = project;
    const data = await call(`/api/documents/${number}/versions`);
    if (this.#number === number) this.#take(data);
  }

  #take(data) {
    this.#data = data;
    this.#decision = new Decision(data, this.#decision);
    this.#show();
  }

  /** Draw the versions, and once more when it is known what does not fit. */
  #show() {
    this.#draw();
    const number = this.#number;
    const decision = this.#decision;
    this.#misfits
      .find(number, decision.chosen)
      .then((news) => news && this.#number === number && this.#draw())
      .catch((error) => {
        // Only what does not fit stays unsaid; the decision can be made all the same.
        if (!(error instanceof CallError)) throw error;
      });
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
    const before = decision && historyOf(decision, this.#data.status);
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
    if (this.#decision.overtaken)
      return `The versions have the same mentions, which are not those of the decision.${rest}`;
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
      const sentence = versions[0].sentences[place];
      const misfits = drawMisfits(sentence);
      const { words } = drawWithBars(settled(sentence));
      return make("section", { class: "sentence same discotag" }, words, misfits);
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
    const sentence = this.#decision.versions[0].sentences[place];
    const mentions = this.#decision.mentions(place);
    const problems = this.#misfits.of(place, mentions);
    return drawResult(sentence, mentions, problems, this.#project.labels);
  }

  #footer() {
    const { open, differences, overtaken } = this.#decision;
    const possible = ["disagreement", "decided"].includes(this.#data.status);
    const decide = button("Save the decision", () => this.#send(), {
      class: "main",
      id: "decide",
      disabled: this.#sending || !possible || open > 0 || !(differences.length || overtaken),
    });
    const said = make("span", { class: "soft", role: "status" }, this.#left(possible));
    return make("div", { class: "footer" }, said, decide);
  }

  /** Return what is left to do, as a sentence. */
  #left(possible) {
    const { open, differences, overtaken, chosen } = this.#decision;
    if (overtaken) return "Save to decide on what the versions have now.";
    if (!differences.length) return "";
    if (!possible) return "You can decide once two versions that differ are finished.";
    const misfits = chosen.flatMap((mentions, place) => this.#misfits.of(place, mentions));
    const wrong = misfits.length ? ` ${counted(misfits.length, "problem")}, see above.` : "";
    if (open) return `${counted(open, "mention")} left to decide.${wrong}`;
    return `Every difference has a choice.${wrong}`;
  }

  #follow(annotator, differences) {
    this.#decision.follow(annotator, differences);
    this.#show();
  }

  #choose(difference, taken) {
    this.#decision.choose(difference, taken);
    this.#show();
  }

  async #send() {
    if (this.#sending) return;
    const { content } = this.#decision;
    const what = { annotator: this.#annotator, base: this.#data.revision, sentences: content };
    const key = JSON.stringify([this.#number, what]);
    if (this.#sent?.key !== key) this.#sent = { key, id: freshId() };
    const body = { id: this.#sent.id, project: this.#project.id, ...what };
    this.#sending = true;
    this.#draw();
    try {
      const data = await call(`/api/documents/${this.#number}/decision`, { body });
      this.#sending = false;
      this.#take(data);
      this.#on.decided();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.#sending = false;
      await this.#failed(error);
    }
  }

  async #failed(error) {
    if (error.code === "other_project") return this.#on.replaced();
    this.#draw();
    const message = spelled(error.message);
    if (error.kind !== "refused")
      return this.#on.notify(
        `It is not known whether the decision is saved: ${message} Save it again; it counts once.`,
        { kind: "bad", key: "decision" },
      );
    const why = `The decision is not saved: ${message}`;
    if (error.status !== 409) return this.#on.notify(why, { kind: "bad", key: "decision" });
    const now = "These are the versions as they are now; your choices are kept.";
    this.#on.notify(`${why} ${now}`, { kind: "bad", key: "decision" });
    await this.open(this.#number, this.#annotator, this.#project);
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
