// Actions on their way to the server: sent one after the other, kept until it has them.

import { CallError, call, sleep } from "./common.js";

// Followed by the id of the project: another project must never get these actions.
const KEPT_UNDER = "discotag-waiting-";
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 3_000;
// An action that the server fails on again and again must not block all later ones for ever.
const MOST_FAILURES = 5;
// A server that has not answered a small action by then is taken to be away.
const ANSWER_LIMIT_MS = 15_000;

// These go back from what the person has seen, so they are never moved on to something else.
const GOING_BACK = ["undo", "redo"];

/**
 * The actions of one project that the server does not have yet, in order.
 *
 * They survive a reload of the page. Each keeps its id, so that the server applies it once, however
 * often it is sent.
 */
export class Outbox {
  /** Why the first action waits: null, or a CallError. */
  trouble = null;
  waiting = [];
  /** Whether nothing is sent any more, because the server has another project. */
  stopped = false;
  #project = "";
  #leaving = false;
  #running = false;
  #wake = null;
  #tell;

  /**
   * @param {{sent: function, refused: function, changed: function, replaced: function}} tell
   *   `sent(action, answer)` when the server has it, `refused(action, error)` when it never will,
   *   `changed()` whenever the number of waiting actions or the trouble changes, `replaced()` when
   *   the server says that it has another project.
   */
  constructor(tell) {
    this.#tell = tell;
    window.addEventListener("online", () => this.hurry());
    window.addEventListener("beforeunload", (event) => {
      if (!this.#leaving && this.waiting.length + this.elsewhere) event.preventDefault();
    });
  }

  /** Take up what a reload left behind of a project. */
  open(project) {
    this.#project = project;
    this.waiting = keptFor(KEPT_UNDER + project);
  }

  /** Return the number of actions in this tab that wait for other projects. */
  get elsewhere() {
    return Object.keys(sessionStorage)
      .filter((key) => key.startsWith(KEPT_UNDER) && key !== KEPT_UNDER + this.#project)
      .reduce((sum, key) => sum + keptFor(key).length, 0);
  }

  /** Send nothing more; what waits is kept for its project. */
  stop() {
    this.stopped = true;
    this.trouble = null;
    this.#wake?.abort();
  }

  /** Load the page again, without a question: what waits survives that. */
  reload() {
    this.#leaving = true;
    location.reload();
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
    try {
      await this.#sendAll();
    } finally {
      this.#running = false;
    }
  }

  async #sendAll() {
    let failures = 0;
    let pause = FIRST_WAIT_MS;
    while (this.waiting.length && !this.stopped) {
      const action = this.waiting[0];
      try {
        const answer = await this.#send(action);
        this.#take(action, answer.state.revision, action.base + 1);
        [failures, pause] = [0, FIRST_WAIT_MS];
        report(() => this.#tell.sent(action, answer));
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        failures += error.status === 500 ? 1 : 0;
        if (error.code === "other_project") {
          report(() => this.#tell.replaced());
          return;
        }
        if (error.kind === "refused" || failures >= MOST_FAILURES) {
          this.#take(action, error.details.state?.revision ?? action.base, action.base);
          failures = 0;
          report(() => this.#tell.refused(action, error));
        } else {
          this.trouble = error;
          report(() => this.#tell.changed());
          await this.#rest(pause);
          pause = Math.min(pause * 2, LONGEST_WAIT_MS);
        }
      }
    }
  }

  async #send(action) {
    const { number, since, said, ...rest } = action;
    const body = { project: this.#project, ...rest };
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

  /**
   * Take an action out; later ones that were made on the same revision follow it.
   *
   * If the revision is not the expected one, there is something that the person has not seen. Then
   * undo and redo stay on the revision that they were made on, and the server refuses them.
   */
  #take(action, revision, expected) {
    this.waiting = this.waiting.filter((each) => each.id !== action.id);
    for (const later of this.of(action.number, action.annotator))
      if (later.base === action.base && (revision === expected || !goesBack(later)))
        later.base = revision;
    this.trouble = null;
    this.#keep();
  }

  #keep() {
    const key = KEPT_UNDER + this.#project;
    if (this.waiting.length) sessionStorage.setItem(key, JSON.stringify(this.waiting));
    else sessionStorage.removeItem(key);
    report(() => this.#tell.changed());
  }

  async #rest(milliseconds) {
    this.#wake = new AbortController();
    await sleep(milliseconds, this.#wake.signal).catch(() => {});
    this.#wake = null;
  }
}

/** Return whether an action is an undo or a redo. */
export function goesBack(action) {
  return GOING_BACK.includes(action.kind);
}

function keptFor(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "[]");
  } catch {
    return [];
  }
}

/** Tell somebody; a failure to show something must not hold up what is to be sent. */
function report(tell) {
  try {
    tell();
  } catch (error) {
    reportError(error);
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
