// A document as it will be once the waiting actions are saved.

import { keyOf, redrawn, sorted, textOf } from "./annotate_mentions.js";

/**
 * Return a state with waiting actions applied; what they change is marked `waiting`.
 *
 * @param {Object} state the last state that the server sent
 * @param {Object[]} actions oldest first
 */
export function withWaiting(state, actions) {
  const shown = { ...state, sentences: [...state.sentences] };
  const { done, undone } = effective(actions);
  for (const action of done) apply(shown, action);
  if (done.length) shown.undo = done.at(-1).said;
  if (done.length || undone.length) shown.redo = undone.at(-1)?.said ?? null;
  return shown;
}

/** Return the actions that are left after undo and redo among themselves, and those undone. */
function effective(actions) {
  const done = [];
  let undone = [];
  for (const action of actions) {
    if (action.kind === "undo") {
      if (done.length) undone.push(done.pop());
    } else if (action.kind === "redo") {
      if (undone.length) done.push(undone.pop());
    } else {
      done.push(action);
      undone = [];
    }
  }
  return { done, undone };
}

function apply(shown, action) {
  const change = CHANGES[action.kind];
  const places = "sentence" in action ? [action.sentence] : shown.sentences.keys();
  for (const place of places) {
    const sentence = shown.sentences[place];
    const mentions = change(sentence, action);
    if (mentions === sentence.mentions) continue;
    const ordered = sorted(mentions);
    const drawing = redrawn(sentence.drawing, ordered, shown.labels);
    // Problems are found by the server; those of other mentions would point to the wrong ones.
    const problems = action.kind in KEEPING ? sentence.problems : [];
    shown.sentences[place] = { ...sentence, mentions: ordered, drawing, problems };
  }
  if (action.kind === "finish") shown.finished = true;
  if (action.kind === "reopen") shown.finished = false;
}

const KEEPING = { accept: true, accept_all: true, finish: true };
const CHANGES = {
  add: (sentence, action) => [
    ...sentence.mentions.filter((each) => keyOf(each) !== keyOf(action.mention)),
    drawn(sentence, action.mention),
  ],
  remove: (sentence, action) =>
    sentence.mentions.filter((each) => keyOf(each) !== keyOf(action.mention)),
  accept: (sentence, action) =>
    sentence.mentions.map((each) =>
      keyOf(each) === keyOf(action.mention) ? accepted(each) : each,
    ),
  change: (sentence, action) =>
    sentence.mentions.map((each) =>
      keyOf(each) === keyOf(action.mention) ? drawn(sentence, action.to) : each,
    ),
  accept_all: allAccepted,
  finish: allAccepted,
  reopen: (sentence) => sentence.mentions,
};

function allAccepted(sentence) {
  const open = sentence.mentions.some((each) => each.status === "proposed");
  return open ? sentence.mentions.map(accepted) : sentence.mentions;
}

function accepted(mention) {
  return mention.status === "proposed"
    ? { ...mention, status: "accepted", waiting: true }
    : mention;
}

function drawn(sentence, { label, fragments }) {
  const text = textOf(sentence.drawing, fragments);
  const rest = { score: null, origin: "person", status: "accepted", waiting: true };
  return { label, fragments, text, ...rest };
}
