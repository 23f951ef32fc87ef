// A decision between versions while it is made; nothing here touches the page.

import { keyOf, plain, sorted } from "./annotate_mentions.js";

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
   * @param {Decision|null} before the choices so far, or null; a decision that was made is taken up
   */
  constructor(data, before = null) {
    this.#data = data;
    for (const each of data.differences) {
      const place = placeOf(each);
      const kept = data.decision?.sentences[each.sentence].mentions.map(keyOf);
      const chosen = before?.#choices.get(place) ?? kept?.includes(keyOf(each.mention));
      if (chosen !== undefined) this.#choices.set(place, chosen);
    }
  }

  /** Return the versions that are compared: finished ones if there are two, otherwise all. */
  get versions() {
    const finished = this.#data.versions.filter((version) => version.finished);
    return finished.length > 1 ? finished : this.#data.versions;
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

/** Return a string that names a difference. */
export function placeOf({ sentence, mention }) {
  return `${sentence}:${keyOf(mention)}`;
}
