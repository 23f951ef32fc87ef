// The words a person has selected for a mention, and the cursor; nothing here touches the page.

import { fragmentsOf, wordsOf } from "./annotate_mentions.js";

/**
 * Words of one sentence, collected in several steps.
 *
 * A range that is being drawn lies between `anchor` and the cursor; `settle` adds it to the words
 * that are kept. Selecting in another sentence starts anew.
 */
export class Selection {
  /** The word that the arrow keys move. */
  cursor = { sentence: 0, word: 0 };
  /** The sentence of the selection, or null. */
  sentence = null;
  /** The mention whose words are being changed, or null. */
  editing = null;
  #kept = new Set();
  #anchor = null;

  /** Return all selected words. */
  get words() {
    if (this.#anchor === null) return this.#kept;
    const [start, end] = [this.#anchor, this.cursor.word].sort((one, other) => one - other);
    return new Set([...this.#kept, ...wordsOf([[start, end + 1]])]);
  }

  get fragments() {
    return fragmentsOf(this.words);
  }

  get empty() {
    return this.words.size === 0;
  }

  has(sentence, word) {
    return sentence === this.sentence && this.words.has(word);
  }

  /** Move the cursor, keeping what is selected. */
  move(sentence, word) {
    this.settle();
    this.cursor = { sentence, word };
  }

  /** Add a word, or take it out. */
  toggle(sentence, word) {
    this.#enter(sentence);
    this.settle();
    if (!this.#kept.delete(word)) this.#kept.add(word);
    this.cursor = { sentence, word };
  }

  /** Begin a range at a word. */
  begin(sentence, word) {
    this.#enter(sentence);
    this.settle();
    this.#anchor = word;
    this.cursor = { sentence, word };
  }

  /** Extend the range that has begun, or one from the cursor, to a word of the same sentence. */
  extend(word) {
    this.#enter(this.cursor.sentence);
    this.#anchor ??= this.cursor.word;
    this.cursor = { sentence: this.cursor.sentence, word };
  }

  /** Keep the range that is being drawn. */
  settle() {
    this.#kept = new Set(this.words);
    this.#anchor = null;
  }

  /** Select the words of a mention in order to change them. */
  edit(sentence, mention) {
    this.clear();
    this.sentence = sentence;
    this.#kept = wordsOf(mention.fragments);
    this.editing = mention;
    this.cursor = { sentence, word: mention.fragments[0][0] };
  }

  clear() {
    this.#kept = new Set();
    this.#anchor = null;
    this.sentence = null;
    this.editing = null;
  }

  #enter(sentence) {
    if (this.sentence === sentence) return;
    this.clear();
    this.sentence = sentence;
  }
}
