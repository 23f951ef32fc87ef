// The list of documents: filter, order, who has which, and how much is done.

import { call } from "./common.js";
import { button, counted, listed, make, sentence, the } from "./annotate_dom.js";
import { STATUS } from "./annotate_heading.js";

const PAGE = 50;
// The most documents that the server lists at a time.
const MOST_LISTED = 200;
// Typing pauses for this long before the list is asked for.
const TYPING_MS = 250;
const KEPT_UNDER = "discotag-order";

/** The documents of the project, as the person filters and orders them. */
export class DocumentList {
  #annotator = "";
  #current = null;
  #loaded = PAGE;
  #asked = 0;
  #timer = null;
  #signature = "";

  #open;
  #patient;

  /**
   * @param {function(number)} open opens a document
   * @param {function} patient calls a function that may fail because the server is away
   */
  constructor(open, patient) {
    this.#open = open;
    this.#patient = patient;
    the("order").value = sessionStorage.getItem(KEPT_UNDER) ?? "uncertainty";
    the("order").addEventListener("change", () => {
      sessionStorage.setItem(KEPT_UNDER, this.order);
      this.restart();
    });
    the("status").addEventListener("change", () => this.restart());
    the("search").addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.restart(), TYPING_MS);
    });
    the("more").addEventListener("click", () => {
      this.#loaded += PAGE;
      this.refresh();
    });
  }

  get order() {
    return the("order").value;
  }

  enter(annotator) {
    this.#annotator = annotator;
    this.restart();
  }

  /** Point out the document that is open. */
  point(number) {
    this.#current = number;
    for (const link of the("documents").querySelectorAll("button")) {
      const here = Number(link.dataset.number) === number;
      if (here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  restart() {
    this.#loaded = PAGE;
    return this.refresh();
  }

  /** Ask for the list again; failures are left to the next time. */
  refresh() {
    return this.#patient(() => this.#load());
  }

  /** Load the list; the last call counts. */
  async #load() {
    const asked = ++this.#asked;
    const answer = { total: 0, documents: [] };
    for (let offset = 0; offset < this.#loaded; offset += MOST_LISTED) {
      const query = new URLSearchParams({
        annotator: this.#annotator,
        order: this.order,
        status: the("status").value,
        search: the("search").value,
        offset,
        limit: Math.min(this.#loaded - offset, MOST_LISTED),
      });
      const { total, documents } = await call(`/api/documents?${query}`);
      if (asked !== this.#asked) return;
      answer.total = total;
      answer.documents.push(...documents);
      if (answer.documents.length >= total) break;
    }
    const signature = JSON.stringify(answer);
    if (signature === this.#signature) return;
    this.#signature = signature;
    this.#draw(answer);
  }

  #draw({ total, documents }) {
    const focused = document.activeElement?.dataset?.number;
    const list = the("documents");
    const scrolled = the("list").scrollTop;
    list.replaceChildren(...documents.map((each) => make("li", {}, this.#entry(each))));
    if (!documents.length) list.append(make("li", { class: "soft none" }, "No document fits."));
    the("more").hidden = total <= documents.length;
    the("list").scrollTop = scrolled;
    this.point(this.#current);
    if (focused) list.querySelector(`[data-number="${focused}"]`)?.focus();
  }

  #entry(each) {
    const holders = each.holders.filter((name) => name !== this.#annotator);
    const people = [
      holders.length && `${listed(holders)} ${holders.length === 1 ? "has" : "have"} it open`,
      each.finished_by.length && `finished by ${listed(each.finished_by)}`,
    ];
    const entry = button("", () => this.#open(each.number), {
      class: `document ${each.status} mine-${each.mine}`,
      "data-number": each.number,
    });
    const uncertain = typeof each.uncertainty === "number" && each.status === "untouched";
    entry.append(
      make("bdi", { class: "document-name" }, each.name),
      make("span", { class: `badge ${each.status}` }, STATUS[each.status] ?? each.status),
      make(
        "small",
        {},
        [
          each.gone && "no longer in the corpus",
          counted(each.words, "word"),
          uncertain && `${each.uncertainty.toFixed(1)} mistakes expected`,
          each.status !== "untouched" && counted(each.mentions, "mention"),
          ...people,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    );
    return entry;
  }
}

/** Show how many documents are finished, and what the next training waits for. */
export function showTally(project) {
  const { documents, finished, started, disagreements } = project.counts;
  const bar = make("progress", {
    max: Math.max(documents, 1),
    value: finished,
    "aria-label": "Finished documents",
  });
  const more = [
    started > 0 && `${started} started`,
    disagreements > 0 && counted(disagreements, "disagreement"),
  ].filter(Boolean);
  the("tally").replaceChildren(
    make(
      "p",
      {},
      make("strong", {}, `${finished} of ${documents}`),
      " finished",
      more.length ? make("small", {}, ` · ${more.join(" · ")}`) : "",
    ),
    bar,
    make("p", { class: "training", id: "training" }, trainingText(project)),
  );
}

/** Return what is to be said about training, as a sentence. */
export function trainingText({ training, model, can_train: canTrain }) {
  const used = model
    ? `Model ${model.version} proposes.${model.problem ? ` ${model.problem}` : ""}`
    : "No model: draw the mentions yourself.";
  if (!training) return used;
  const { state, message, finished_since: since, needed } = training;
  if (state === "running")
    return `${used} A new model is being trained${message ? `: ${message}` : "."}`;
  if (state === "failed") return `${used} The last training failed: ${sentence(message)}`;
  const left = Math.max(needed - since, 0);
  const next =
    left > 0
      ? `Next training after ${left} more finished ${left === 1 ? "document" : "documents"}.`
      : canTrain
        ? "The next training is about to start."
        : "";
  return [used, next].filter(Boolean).join(" ");
}

/** Return what the last training has measured, as a sentence; empty if none is done. */
export function trainingResult({ training }) {
  return training?.state === "done" && training.message ? sentence(training.message) : "";
}
