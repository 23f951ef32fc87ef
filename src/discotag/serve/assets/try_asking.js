// When to ask the server, and what to do with answers that come late, out of order or not at all.

import { CallError, askForToken, call, sleep, untilBack } from "./common.js";

// After this long without a key the text is sent, or as long as the last answer took, if that is
// more: a sentence is answered in about 20 ms, a long text in seconds. While keys come without a
// break it is sent every few pauses.
const PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 2_000;
const PAUSES = 4;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;

/** Asks the server about the latest request only: older ones are aborted, their answers dropped. */
export class Asker {
  /**
   * @param {string} path of the API
   * @param {{waiting: Function, answered: Function, failed: Function}} listeners
   *   `waiting()` when a request is wanted, `answered(answer, request)`, `failed(problem)` with
   *   {text, button, action} to be shown until the next answer.
   */
  constructor(path, listeners) {
    this.path = path;
    this.listeners = listeners;
    this.request = null;
    this.running = null;
    this.timer = 0;
    this.since = 0;
    this.pause = PAUSE_MS;
  }

  /** Send a request after a pause of typing. */
  want(request) {
    this.request = request;
    this.listeners.waiting();
    const now = performance.now();
    if (!this.timer) this.since = now;
    clearTimeout(this.timer);
    const latest = this.since + PAUSES * this.pause - now;
    this.timer = setTimeout(() => this.#send(), Math.max(0, Math.min(this.pause, latest)));
  }

  /** Send a request at once. */
  ask(request) {
    this.request = request;
    this.listeners.waiting();
    return this.#send();
  }

  /** Want nothing any more. */
  drop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.running?.abort();
    this.running = null;
  }

  async #send() {
    this.drop();
    const { request } = this;
    const running = new AbortController();
    this.running = running;
    const { signal } = running;
    for (let wait = FIRST_RETRY_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      const begun = performance.now();
      try {
        const answer = await call(this.path, { body: request, signal });
        if (signal.aborted) return;
        this.#deliver(answer, request);
        const took = performance.now() - begun;
        this.pause = Math.min(LONGEST_PAUSE_MS, Math.max(PAUSE_MS, took));
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.listeners.failed(this.#explained(error));
        try {
          if (error.kind === "stopped") await untilBack(signal);
          else if (error.kind === "busy" && !error.isLate) await sleep(wait, signal);
          else return;
        } catch {
          return; // aborted: a newer request is on its way
        }
      }
    }
  }

  #deliver(answer, request) {
    try {
      this.listeners.answered(answer, request);
    } catch {
      throw new CallError("broken", "The server's answer cannot be read.");
    }
    // Keys came in the meantime: this answer is shown until the next one.
    if (this.request !== request) this.listeners.waiting();
  }

  #explained(error) {
    const again = { button: "Try again", action: () => this.ask(this.request) };
    switch (error.kind) {
      case "stopped":
        return {
          text:
            "The server does not answer: it may have been stopped. Your text is kept; this page " +
            "goes on by itself as soon as the server is back.",
        };
      case "busy":
        if (error.isLate)
          return {
            text: "The server takes too long for this text. Shorten it, or try again later.",
            ...again,
          };
        return { text: "The server is busy. This page tries again by itself." };
      case "token":
        return {
          text: "This server needs a token. Whoever runs the server has it.",
          button: "Enter the token",
          action: async () => (await askForToken()) && this.ask(this.request),
        };
      case "refused":
        return {
          // The page sends one text only, so it need not be told which one is wrong.
          text:
            sentence(error.message.replace(/^item 0: /, "")) +
            (error.status === 413 ? " Please shorten the text." : ""),
        };
      case "broken":
        return {
          text:
            `${sentence(error.message)} Try again; if that does not help, reload the page, and ` +
            "tell whoever runs the server.",
          ...again,
        };
      default:
        return {
          text: "Something in this page failed. Please reload it; your text is kept.",
          ...again,
        };
    }
  }
}

/** Return a message as a sentence, with a capital letter and a full stop. */
function sentence(message) {
  const text = message.trim();
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
