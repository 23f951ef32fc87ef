// The keys of the annotator.

import { isTyping } from "./common.js";

const ARROWS = { ArrowLeft: -1, ArrowRight: 1 };
const LINES = { ArrowUp: -1, ArrowDown: 1 };

/**
 * Listen to the keys of the whole page.
 *
 * @param {function(): Object|null} commands returns the commands of the document that is shown, or
 *   null where there is none; see `DocumentView`.
 * @param {function} showKeys shows the keys
 */
export function listenToKeys(commands, showKeys) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isTyping(event) || document.querySelector("dialog[open]")) return;
    if (event.key === "?") return done(event, showKeys);
    const on = commands();
    if (!on) return;
    const command = event.ctrlKey || event.metaKey ? withControl(event, on) : alone(event, on);
    if (command) done(event, command);
  });
}

function done(event, command) {
  event.preventDefault();
  command();
}

function withControl(event, on) {
  const key = event.key.toLowerCase();
  if (event.altKey) return null;
  if (key === "z") return event.shiftKey ? on.redo : on.undo;
  return key === "y" && !event.shiftKey ? on.redo : null;
}

function alone(event, on) {
  if (event.altKey) return null;
  const { key, shiftKey } = event;
  if (key in ARROWS) return () => on.step(ARROWS[key], shiftKey);
  if (key in LINES) return () => on.line(LINES[key], shiftKey);
  if (key === "Home" || key === "End") return onWord(event) && (() => on.edge(key, shiftKey));
  if (key === "Enter" || key === " ") {
    // Buttons and links use these keys themselves.
    if (!onWord(event) && event.target !== document.body) return null;
    return key === "Enter" ? on.make : on.toggle;
  }
  if (key === "Escape") return on.clear;
  if (key === "Delete") return on.remove;
  if (/^[1-9]$/.test(key)) return () => on.label(Number(key) - 1);
  if (shiftKey) return { A: on.acceptAll, U: on.redo }[key];
  const letters = {
    a: on.accept,
    e: on.edit,
    f: on.finish,
    n: () => on.proposal(1),
    p: () => on.proposal(-1),
    u: on.undo,
    x: on.remove,
  };
  return Object.hasOwn(letters, key) ? letters[key] : null;
}

function onWord(event) {
  return Boolean(event.target.closest?.(".word[data-word]"));
}
