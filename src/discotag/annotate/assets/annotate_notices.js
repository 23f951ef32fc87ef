// What the page tells: messages that stay until they are read, what screen readers say, keys.

import { button, make, the } from "./annotate_dom.js";

// Long enough to read two lines.
const SHORT_MS = 8_000;
const MOST_NOTICES = 5;

/**
 * Show a message.
 *
 * @param {string} text
 * @param {{kind?: string, stays?: boolean, key?: string, action?: [string, function],
 *   closes?: boolean}} options
 *   `kind` is info, good or bad; bad ones stay until they are closed, as those that `stays` asks
 *   for; a message replaces the one with the same `key`; `action` is a button's text and what it
 *   does; one that never `closes` leaves only that.
 */
export function notify(text, options = {}) {
  const { kind = "info", stays = kind === "bad", key, action, closes = true } = options;
  if (key)
    the("notices")
      .querySelector(`[data-key="${CSS.escape(key)}"]`)
      ?.remove();
  const close = () => notice.remove();
  const notice = make(
    "div",
    { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status", "data-key": key },
    make("p", {}, text),
    action &&
      button(action[0], () => {
        close();
        action[1]();
      }),
    closes && button("×", close, { class: "plain close", "aria-label": "Close this message" }),
  );
  the("notices").append(notice);
  const passing = [...the("notices").children].filter((each) => !each.matches(".bad, .stays"));
  passing.slice(0, -MOST_NOTICES).forEach((each) => each.remove());
  if (stays) notice.classList.add("stays");
  else setTimeout(close, SHORT_MS);
}

/** Take back the message with a key, if it is shown. */
export function retract(key) {
  the("notices")
    .querySelector(`[data-key="${CSS.escape(key)}"]`)
    ?.remove();
}

/** Say something to screen readers. */
export function say(text) {
  the("spoken").textContent = text;
}

/**
 * Show whether everything is saved.
 *
 * @param {number} waiting the number of actions that the server does not have
 * @param {Error|null} trouble why they wait, or why nothing can be read
 */
export function showSaved(waiting, trouble) {
  const saved = the("saved");
  const state = trouble ? "away" : waiting ? "busy" : "saved";
  const again = trouble?.code === "other_project" ? "" : " Trying again.";
  const why = trouble ? ` · ${trouble.message}${again}` : "";
  const text = waiting ? `Not saved yet: ${waiting}${why}` : (trouble?.message ?? "All saved");
  if (saved.textContent !== text) saved.textContent = text;
  saved.className = state;
}

const KEYS = [
  [
    "Draw a mention",
    [
      [["←", "→", "↑", "↓"], "move over the words"],
      [["Shift"], "with an arrow: select words"],
      [["Space"], "select the word, or take it out; so fragments are collected"],
      [["1", "…", "9"], "choose the label"],
      [["Enter"], "make the mention"],
      [["Esc"], "clear the selection"],
    ],
  ],
  [
    "The document",
    [
      [["u", "Ctrl Z"], "undo"],
      [["Shift U", "Ctrl Y"], "redo"],
      [["f"], "finish it and go to the next"],
      [["?"], "show these keys"],
    ],
  ],
  [
    "A mention",
    [
      [["Tab"], "go to the mentions of the sentence"],
      [["n", "p"], "next and previous proposal"],
      [["a"], "accept it and go on to the next proposal"],
      [["Shift A"], "accept all proposals of the document"],
      [["x", "Del"], "remove it"],
      [["e"], "change its words"],
      [["1", "…", "9"], "change its label"],
    ],
  ],
];

/** Show the keys in a dialog. */
export function showKeys() {
  const dialog = the("keys");
  const groups = KEYS.map(([title, rows]) =>
    make(
      "section",
      {},
      make("h3", {}, title),
      make(
        "dl",
        {},
        rows.flatMap(([keys, what]) => [
          make(
            "dt",
            {},
            keys.flatMap((key) => [make("kbd", {}, key), " "]),
          ),
          make("dd", {}, what),
        ]),
      ),
    ),
  );
  const mouse =
    "With the mouse, drag over words; further drags and clicks add fragments. On a " +
    "touch screen, tap words; hold a word to select everything from the last one to it.";
  dialog.replaceChildren(
    make("h2", {}, "Keys"),
    make("div", { class: "groups" }, groups),
    make("p", { class: "soft" }, mouse),
    make(
      "div",
      { class: "buttons" },
      button("Close", () => dialog.close(), { class: "main" }),
    ),
  );
  dialog.showModal();
}
