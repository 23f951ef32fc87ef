// The open document between the page and the server: its state, actions on it, others on it.

import { CallError, askForToken, call, sleep } from "./common.js";
import { counted, sentence } from "./annotate_dom.js";
import { notify, retract, showSaved } from "./annotate_notices.js";
import { announce } from "./annotate_others.js";
import { Outbox, goesBack } from "./annotate_outbox.js";
import { withWaiting } from "./annotate_waiting.js";

// Saving takes some milliseconds; only what takes longer is drawn as waiting.
const SLOW_MS = 250;
const AGAIN_MS = 700;

/** Keeps the state of the open document, and passes on what happens to it. */
export class Session {
  annotator = "";
  /** The id of the project. */
  project = "";
  /** The last state from the server, or null. */
  state = null;
  /** Why reading fails: null, or a CallError. */
  trouble = null;
  #on;
  #outbox;
  #number = null;
  #opened = 0;
  #told = null;

  /**
   * @param {{blank: function, show: function, finished: function, listChanged: function,
   *   compare: function, stopped: function}} on `blank()` while another document is loaded;
   *   `show(state)` whenever there is something new to show; `finished(number)` when the server has
   *   finished a document; `listChanged()` when the list of documents may be different;
   *   `compare(number)` when the person wants to see the versions; `stopped()` when the server has
   *   another project.
   */
  constructor(on) {
    this.#on = on;
    this.#outbox = new Outbox({
      sent: (action, answer) => this.#sent(action, answer),
      refused: (action, error) => this.#refused(action, error),
      changed: () => this.#tellSaved(),
      replaced: () => this.replaced(),
    });
  }

  /** Return whether nothing more can be done here, because the server has another project. */
  get stopped() {
    return this.#outbox.stopped;
  }

  get waiting() {
    return this.#outbox.waiting.length;
  }

  get number() {
    return this.#number;
  }

  /** Send what a reload left behind. */
  start(annotator, project) {
    this.annotator = annotator;
    this.project = project;
    this.#outbox.open(project);
    this.#tellSaved();
    this.#outbox.run();
    const { elsewhere } = this.#outbox;
    if (elsewhere)
      notify(unsaved(elsewhere, "another corpus"), { key: "elsewhere", stays: true });
  }

  /** Stop, because the server has another project now; what waits is kept for the former one. */
  replaced() {
    this.#outbox.stop();
    this.#on.stopped();
    retract("away");
    this.#tellSaved();
    const kept = this.waiting
      ? unsaved(this.waiting, "the former corpus")
      : "What you did on the former corpus is saved.";
    notify(`${otherProject().message} ${kept} Reload to work on the new one.`, {
      kind: "bad",
      key: "replaced",
      closes: false,
      action: ["Reload", () => this.#begin()],
    });
  }

  /** Open a document; waits for the server if it is away. Return whether it is still wanted. */
  async open(number) {
    if (this.#number !== number) {
      this.leave();
      this.#on.blank();
    }
    const opened = ++this.#opened;
    this.#number = number;
    const state = await this.patiently(
      () => this.#load(number),
      () => opened === this.#opened,
    );
    if (opened !== this.#opened) return false;
    this.#take(state);
    return true;
  }

  /** Tell the server that nobody of this page is on the document any more. */
  leave() {
    const number = this.#number;
    this.#opened++;
    this.#number = null;
    this.state = null;
    if (number === null || this.stopped) return;
    const query = new URLSearchParams({ annotator: this.annotator });
    call(`/api/documents/${number}/presence?${query}`, { method: "DELETE" }).catch(() => {});
  }

  /** Send an action on the open document. */
  act(kind, details, said) {
    if (!this.state) return;
    if (this.stopped) return this.replaced();
    // Without a model, `model_version` is null, which says that no proposals were seen.
    const { number, revision, model_version } = this.state;
    const about = { number, annotator: this.annotator, base: revision, model_version };
    this.#outbox.add({ ...about, kind, said, ...details });
    setTimeout(() => this.#showWaiting(), this.#outbox.trouble ? 0 : SLOW_MS);
  }

  /** Call until the server answers; an answer that says no is thrown. */
  async patiently(ask, wanted = () => true) {
    for (;;) {
      try {
        const answer = await ask();
        this.heard(null);
        return answer;
      } catch (error) {
        if (!(error instanceof CallError) || error.kind === "refused") throw error;
        this.heard(error);
        await sleep(AGAIN_MS);
        if (!wanted()) return null;
      }
    }
  }

  /** Note whether the server answers. */
  heard(trouble) {
    const back = this.trouble !== null && trouble === null;
    this.trouble = trouble;
    if (back) this.#outbox.hurry();
    this.#tellSaved();
  }

  /** Tell the server who is here, and take over what others did. */
  async meet() {
    const { state } = this;
    if (!state) return;
    const path = `/api/documents/${state.number}/presence`;
    const body = { project: this.project, annotator: this.annotator };
    const news = await call(path, { body });
    if (this.state?.number !== state.number) return;
    this.#hear(news);
    const moved = news.revision > this.state.revision;
    const proposed =
      news.model_version !== this.state.model_version && this.state.mine === "untouched";
    if ((moved || proposed) && !this.waiting) await this.#reload(moved);
    else
      Object.assign(this.state, pick(news, ["holders", "versions", "disagreement", "finished_by"]));
    this.#showWaiting();
  }

  async #load(number) {
    const query = new URLSearchParams({ annotator: this.annotator });
    const state = await call(`/api/documents/${number}?${query}`);
    if (state.id !== this.project) throw otherProject();
    return state;
  }

  async #reload(moved) {
    const { number, revision } = this.state;
    const state = await this.#load(number);
    if (this.state?.number !== number || this.waiting || state.revision < revision) return;
    if (moved)
      notify(`Another window of yours changed ${state.name}. This is how it is now.`, {
        key: "moved",
        stays: true,
      });
    this.#take(state);
  }

  /** Tell what others did to the open document. */
  #hear(news) {
    const { number } = this.state;
    const compare = () => this.#on.compare(number);
    if (announce(this.state, news, compare)) this.#on.listChanged();
  }

  #take(state) {
    if (this.state?.number === state.number) this.#hear(state);
    this.state = state;
    this.#showWaiting(true);
  }

  /** Show the state, with what waits for longer than saving usually takes. */
  #showWaiting(always = false) {
    if (!this.state) return;
    const actions = this.#outbox.of(this.state.number, this.annotator);
    const slow = this.#outbox.trouble || actions.some(({ since }) => Date.now() - since >= SLOW_MS);
    if (actions.length && slow) this.#on.show(withWaiting(this.state, actions));
    else if (always || !actions.length) this.#on.show(this.state);
  }

  #sent(action, { state, moved, repeated }) {
    const mine = action.annotator === this.annotator;
    if (mine && this.state?.number === action.number) {
      this.#take(state);
      // A repeated action was moved by the answer that was lost.
      if (moved && !repeated)
        notify(
          `Another window of yours changed ${state.name} too. Your change is applied to what is ` +
            "there now.",
          { key: "moved", stays: true },
        );
    }
    if (action.kind === "finish") this.#on.finished(action.number);
    if (["finish", "reopen"].includes(action.kind) || state.revision <= 1) this.#on.listChanged();
  }

  #refused(action, error) {
    const { state } = error.details;
    const done = action.kind === "undo" ? "undone" : "redone";
    if (goesBack(action) && state && state.revision !== action.base)
      notify(
        `Another window of yours changed ${state.name}, so nothing was ${done}. This is how it ` +
          `is now; ${action.kind} again if you still want to.`,
        { kind: "bad", key: "outdated" },
      );
    else {
      const what = action.said ? `“${action.said}”` : action.kind;
      const now = state ? " This is the document as it is now." : "";
      notify(`Not applied: ${what}. ${sentence(error.message)}${now}`, { kind: "bad" });
    }
    const open = this.state?.number === action.number && action.annotator === this.annotator;
    if (open && state) this.#take(state);
    else if (open) this.#showWaiting(true);
  }

  #tellSaved() {
    const trouble = this.stopped ? otherProject() : (this.#outbox.trouble ?? this.trouble);
    showSaved(this.waiting, trouble);
    const told = trouble?.kind === "token" ? "token" : this.#outbox.trouble && "away";
    if (told === this.#told || (!told && this.waiting)) return;
    this.#told = told;
    retract("away");
    if (told === "token")
      notify("The server needs a token.", {
        key: "away",
        stays: true,
        action: ["Enter the token", () => this.#enterToken()],
      });
    else if (told)
      notify(
        "The server does not answer. Go on: what you do is kept in this tab and sent when it is " +
          "back. Do not close the tab.",
        { key: "away", stays: true },
      );
  }

  #begin() {
    history.replaceState(null, "", location.pathname);
    this.#outbox.reload();
  }

  async #enterToken() {
    if (await askForToken()) this.#outbox.hurry();
    else this.#told = null;
  }
}

/** Return the error that the server answers with if a page is of another project. */
function otherProject() {
  const more = { status: 409, code: "other_project" };
  return new CallError("refused", "Another corpus is served at this address now.", more);
}

/** Return what is said about actions that wait for another project. */
function unsaved(count, corpus) {
  const [are, they] = count === 1 ? ["is", "It is"] : ["are", "They are"];
  return (
    `${counted(count, "action")} on ${corpus} ${are} not saved. ${they} kept in this tab until ` +
    "that corpus is served at this address again, so do not close the tab."
  );
}

function pick(values, names) {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
