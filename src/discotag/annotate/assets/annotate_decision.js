// A decision between versions while it is made; nothing here touches the page.

import { keyOf, plain, sorted } from "./annotate_mentions.js";

/** What became of a decision, by the status of the document. */
const SINCE = {
  decided: "Deciding again replaces this decision; the versions stay.",
  disagreement: "A version has changed since: decide again.",
  finished: "The versions have changed since and are equal: what they have counts.",
};

/**
 * What a person takes from the versions of a document.
 *
 * What all versions have is in the decision from the beginning; about each other mention the person
 * decides: take it or leave it.
 */
export class Decision {
  #data;
  /** By sentence and mention: true to take it, false to leave it. */
  #choices = new Map();

  /**
   * @param {Object} data what `GET …/versions` returns
   * @param {Decision|null} before the choices so far, or null; a decision that was made is taken
   *   up, as far as it judged these mentions
   */
  constructor(data, before = null) {
    this.#data = data;
    for (const each of data.differences) {
      const place = placeOf(each);
      const chosen = before?.#choices.get(place) ?? judged(data.decision, each);
      if (chosen !== undefined) this.#choices.set(place, chosen);
    }
  }

  /** Return the versions that are compared: finished ones if there are two, otherwise all. */
  get versions() {
    const finished = this.#data.versions.filter((version) => version.finished);
    return finished.length > 1 ? finished : this.#data.versions;
  }

  /**
   * Return whether the versions are equal now, but are not what was decided.
   *
   * Then there is nothing to choose, but what they have can be decided on.
   */
  get overtaken() {
    return this.#data.status === "disagreement" && !this.differences.length;
  }

  /** Return the mentions of each sentence. */
  get content() {
    return this.versions[0].sentences.map((_, place) => this.mentions(place));
  }

  /** Return the mentions of each sentence that versions differ in; none of others. */
  get chosen() {
    const { sentences } = this.versions[0] ?? { sentences: [] };
    return sentences.map((_, place) => (this.of(place).length ? this.mentions(place) : []));
  }

  get differences() {
    return this.#data.differences;
  }

  /** Return the number of differences without a choice. */
  get open() {
    return this.differences.filter((each) => !this.#choices.has(placeOf(each))).length;
  }

  /** Return the differences of a sentence. */
  of(sentence) {
    return this.differences.filter((each) => each.sentence === sentence);
  }

  /** Return true for a mention that is taken, false for one that is left, otherwise undefined. */
  choice(difference) {
    return this.#choices.get(placeOf(difference));
  }

  choose(difference, taken) {
    this.#choices.set(placeOf(difference), taken);
  }

  /** Take some differences as one annotator has them. */
  follow(annotator, differences) {
    for (const each of differences) this.choose(each, each.annotators.includes(annotator));
  }

  /** Return the mentions of a sentence that all have, or that were taken. */
  mentions(sentence) {
    const differing = this.of(sentence);
    const keys = new Set(differing.map((each) => keyOf(each.mention)));
    const first = this.versions[0].sentences[sentence].mentions;
    const shared = first.filter((mention) => !keys.has(keyOf(mention)));
    const taken = differing.filter((each) => this.choice(each)).map((each) => each.mention);
    return sorted([...shared, ...taken].map(plain));
  }
}

/** Return whether a decision took a mention; undefined if no version that it compared had it. */
function judged(decision, { sentence, mention }) {
  const among = (mentions) => mentions.some((each) => keyOf(each) === keyOf(mention));
  if (!decision || !among(decision.compared[sentence])) return undefined;
  return among(decision.sentences[sentence].mentions);
}

/** Return a string that names a difference. */
export function placeOf({ sentence, mention }) {
  return `${sentence}:${keyOf(mention)}`;
}

/** Return who decided, and what became of it. */
export function historyOf({ by, at }, status) {
  return `Decided by ${by}, ${moment(at)}. ${SINCE[status] ?? ""}`;
}

/** Return a time in seconds since 1970 as people write it. */
function moment(at) {
  const style = { dateStyle: "medium", timeStyle: "short" };
  return new Date(at * 1000).toLocaleString("en-GB", style);
}
