// What a decision makes of a sentence, and which of its mentions do not fit together.

import { call } from "./common.js";
import { make } from "./annotate_dom.js";
import { redrawn, textOf } from "./annotate_mentions.js";
import { drawWithBars } from "./annotate_sentence.js";

/**
 * Draw the mentions that a decision has in a sentence.
 *
 * @param {Object} sentence of any version
 * @param {{label: string, fragments: number[][]}[]} mentions
 * @param {Object[]} problems what does not fit
 * @param {string[]} labels of the project
 */
export function drawResult(sentence, mentions, problems, labels) {
  const drawing = redrawn(sentence.drawing, mentions, labels);
  const { words } = drawWithBars({ ...sentence, mentions, drawing, problems });
  const misfits = drawMisfits({ drawing, mentions, problems });
  return make("div", { class: "result" }, make("h3", {}, "Decision"), words, misfits);
}

/** Draw what does not fit in a sentence, naming the mentions by their text. */
export function drawMisfits({ drawing, mentions, problems }) {
  return problems.map((problem) => {
    const concerned = problem.mentions.map((at, place) => [
      place ? ", " : "",
      make("bdi", {}, `“${textOf(drawing, mentions[at].fragments)}”`),
    ]);
    return make(
      "div",
      { class: "does-not-fit" },
      make("p", {}, problem.message),
      make("p", { class: "concerned" }, "Mentions concerned: ", ...concerned.flat()),
    );
  });
}

/** The problems of decisions that are being made, as the server finds them. */
export class Misfits {
  #known = new Map();
  #asked = 0;

  /** Return the problems of a sentence with some mentions; none while they are not known. */
  of(place, mentions) {
    return this.#known.get(keyFor(place, mentions)) ?? [];
  }

  /** Ask for the problems of each sentence; return whether something new is known. */
  async find(number, sentences) {
    const keys = sentences.map((mentions, place) => keyFor(place, mentions));
    if (sentences.every((mentions, at) => !mentions.length || this.#known.has(keys[at])))
      return false;
    const asked = ++this.#asked;
    const path = `/api/documents/${number}/problems`;
    const { problems } = await call(path, { body: { sentences } });
    problems.forEach((found, place) => this.#known.set(keys[place], found));
    return asked === this.#asked;
  }
}

function keyFor(place, mentions) {
  return JSON.stringify([place, mentions]);
}
