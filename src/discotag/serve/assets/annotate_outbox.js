// Actions on their way to the server: sent one after the other, kept until it has them.

import { CallError, call, sleep } from "./common.js";

const KEPT_UNDER = "discotag-waiting";
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 3_000;
// An action that the server fails on again and again must not block all later ones for ever.
const MOST_FAILURES = 5;
// A server that has not answered a small action by then is taken to be away.
const ANSWER_LIMIT_MS = 15_000;

/**
 * The actions that the server does not have yet, in order.
 *
 * They survive a reload of the page. Each keeps its id, so that the server applies it once, however
 * often it is sent.
 */
export class Outbox {
  /** Why the first action waits: null, or a CallError. */
  trouble = null;
  waiting = [];
  #running = false;
  #wake = null;
  #tell;

  /**
   * @param {{sent: function, refused: function, changed: function}} tell
   *   `sent(action, answer)` when the server has it, `refused(action, error)` when it never will,
   *   `changed()` whenever the number of waiting actions or the trouble changes.
   */
  constructor(tell) {
    this.#tell = tell;
    try {
      this.waiting = JSON.parse(sessionStorage.getItem(KEPT_UNDER) ?? "[]");
    } catch {
      this.waiting = [];
    }
    window.addEventListener("online", () => this.hurry());
    window.addEventListener("beforeunload", (event) => {
      if (this.waiting.length) event.preventDefault();
    });
  }

  /**
   * Put an action at the end.
   *
   * @param {{number: number, annotator: string, base: number, kind: string}} action
   */
  add(action) {
    this.waiting.push({ id: freshId(), since: Date.now(), ...action });
    this.#keep();
    this.run();
  }

  /** Return the actions of one person on one document, oldest first. */
  of(number, annotator) {
    return this.waiting.filter(
      (action) => action.number === number && action.annotator === annotator,
    );
  }

  /** Try again now instead of after the pause. */
  hurry() {
    this.#wake?.abort();
    this.run();
  }

  /** Send until nothing waits. */
  async run() {
    if (this.#running) return;
    this.#running = true;
    let failures = 0;
    let pause = FIRST_WAIT_MS;
    while (this.waiting.length) {
      const action = this.waiting[0];
      try {
        const answer = await this.#send(action);
        this.#take(action, answer.state.revision);
        [failures, pause] = [0, FIRST_WAIT_MS];
        this.#tell.sent(action, answer);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        failures += error.status === 500 ? 1 : 0;
        if (error.kind === "refused" || failures >= MOST_FAILURES) {
          this.#take(action, error.details.state?.revision ?? action.base);
          failures = 0;
          this.#tell.refused(action, error);
        } else {
          this.trouble = error;
          this.#tell.changed();
          await this.#rest(pause);
          pause = Math.min(pause * 2, LONGEST_WAIT_MS);
        }
      }
    }
    this.#running = false;
  }

  async #send(action) {
    const { number, since, said, ...body } = action;
    const send = () => call(`/api/documents/${number}/actions`, { body, limit: ANSWER_LIMIT_MS });
    try {
      return await send();
    } catch (error) {
      // The server may have got a new journal, which does not know the name yet.
      if (error.code !== "unknown_annotator") throw error;
      await call("/api/annotators", { body: { name: action.annotator } });
      return send();
    }
  }

  /** Take an action out; later ones that were made on the same revision follow it. */
  #take(action, revision) {
    this.waiting = this.waiting.filter((each) => each.id !== action.id);
    for (const later of this.of(action.number, action.annotator))
      if (later.base === action.base) later.base = revision;
    this.trouble = null;
    this.#keep();
  }

  #keep() {
    sessionStorage.setItem(KEPT_UNDER, JSON.stringify(this.waiting));
    this.#tell.changed();
  }

  async #rest(milliseconds) {
    this.#wake = new AbortController();
    await sleep(milliseconds, this.#wake.signal).catch(() => {});
    this.#wake = null;
  }
}

/** Return a random UUID; `crypto.randomUUID` exists only in secure contexts. */
export function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
