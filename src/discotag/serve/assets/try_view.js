// What the page shows of an answer: the drawing, the table, the count, and the mention pointed out.

import { isKept } from "./try_exports.js";
import { Drawer, drawTable } from "./try_results.js";

const at = (id) => document.getElementById(id);

/** Shows answers; hides mentions with a low score; points out one of them. */
export class View {
  #drawer = new Drawer();
  #mentions = [];
  #pointed = null;
  /** The latest answer, or null while there is no text. */
  answer = null;

  /**
   * Show an answer, or nothing.
   *
   * @param {object | null} answer of /api/predict
   * @param {{least: number, tags: boolean, alternatives: boolean, finds: string}} settings
   * @throws {Error} if the answer is not complete; what was shown before stays
   */
  show(answer, settings) {
    const focused = this.#mentions.find(({ line }) => line.contains(document.activeElement));
    this.point(null);
    const drawn = answer ? this.#drawer.draw(answer, settings) : { sentences: [], mentions: [] };
    this.answer = answer;
    this.#mentions = drawn.mentions;
    replace(at("drawing"), drawn.sentences);
    at("drawing").classList.toggle("one-label", answer?.labels.length === 1);
    at("table").replaceChildren(...(drawn.mentions.length ? [drawTable(drawn.mentions)] : []));
    for (const each of ["shown", "exports"]) at(each).hidden = !answer;
    at("done").textContent = "";
    for (const mention of drawn.mentions) this.#listen(mention);
    if (focused) drawn.mentions[focused.number - 1]?.line.querySelector("button").focus();
    this.filter(settings);
  }

  /** Hide mentions with a lower score, without asking the server. */
  filter({ least, finds }) {
    let kept = 0;
    for (const mention of this.#mentions) {
      mention.low = !isKept(mention.given, least);
      for (const bar of mention.drawn) bar.classList.toggle("low", mention.low);
      mention.line.hidden = mention.low;
      kept += !mention.low;
    }
    if (this.#pointed?.low) this.point(null);
    const total = this.#mentions.length;
    at("table").hidden = kept === 0;
    const nothing = at("nothing");
    nothing.hidden = kept > 0;
    if (!this.answer) nothing.textContent = "The mentions of a text appear here as you type.";
    else if (!total) nothing.textContent = `No mentions were found. This model finds ${finds}.`;
    else nothing.textContent = "Every mention has a lower score. Move the slider to the left.";
    const all = counted(total);
    at("count").textContent = !this.answer ? "" : kept === total ? all : `${kept} of ${all}`;
    at("exports-note").textContent =
      `Files contain ${kept === 1 ? "the mention" : `the ${counted(kept)}`} shown here.`;
  }

  /** Point out a mention in the drawing; null points out none. */
  point(mention) {
    for (const each of this.#mentions) this.#light(each, false);
    this.#pointed?.line.querySelector("button").setAttribute("aria-pressed", "false");
    this.#pointed = mention;
    if (!mention) return;
    this.#light(mention, true);
    mention.line.querySelector("button").setAttribute("aria-pressed", "true");
    mention.words.scrollIntoView({ block: "nearest" });
  }

  /** Point out the next mention, or the previous one with -1. */
  step(by) {
    const kept = this.#mentions.filter((mention) => !mention.low);
    if (!kept.length) return;
    const now = kept.indexOf(this.#pointed);
    const next = now < 0 ? (by > 0 ? 0 : kept.length - 1) : (now + by + kept.length) % kept.length;
    this.point(kept[next]);
    kept[next].line.querySelector("button").focus({ preventScroll: true });
  }

  #light(mention, on) {
    at("drawing").classList.toggle("pointing", on);
    for (const bar of mention.drawn) bar.classList.toggle("pointed", on);
    mention.line.classList.toggle("pointed", on);
  }

  #listen(mention) {
    const { line } = mention;
    line.addEventListener("mouseenter", () => this.#pointed || this.#light(mention, true));
    line.addEventListener("mouseleave", () => this.#pointed || this.#light(mention, false));
    line
      .querySelector("button")
      .addEventListener("click", () => this.point(this.#pointed === mention ? null : mention));
  }
}

/** Make elements the children of another one; those that stay are not touched. */
function replace(parent, elements) {
  const staying = new Set(elements);
  for (const child of [...parent.children]) if (!staying.has(child)) child.remove();
  elements.forEach((each, place) => {
    if (parent.children[place] !== each) parent.insertBefore(each, parent.children[place] ?? null);
  });
}

function counted(number) {
  return `${number.toLocaleString("en")} ${number === 1 ? "mention" : "mentions"}`;
}
