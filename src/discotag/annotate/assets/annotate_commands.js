// What a person can do with the document that is shown: by key, pointer or button.

import { notify, say } from "./annotate_notices.js";
import { keyOf, plain, textOf } from "./annotate_mentions.js";
import { movements } from "./annotate_movements.js";

/**
 * Return the commands of a view.
 *
 * @param {DocumentView} view
 * @param {{act: function, waiting: function, next: function, compare: function}} on
 *   `act(kind, details, said)` sends an action; `waiting()` is the number of those on their way;
 *   `next()` goes to the next document; `compare()` shows the versions.
 */
export function commandsFor(view, on) {
  const sentenceAt = (place) => view.shown.sentences[place];
  const named = (place, { label, fragments }) =>
    `${label} “${textOf(sentenceAt(place).drawing, fragments)}”`;

  function refuse() {
    notify("This document is finished. Reopen it to change it.", {
      key: "finished",
      action: ["Reopen", reopen],
    });
  }

  /** Return the mention that a key is meant for, or say why there is none. */
  function target() {
    if (view.readonly) return refuse();
    if (view.chosenMention) return view.chosenMention;
    if (!view.selection.empty) return void say("Press Enter to make a mention, or Escape first.");
    const { sentence, word } = view.selection.cursor;
    const here = (sentenceAt(sentence)?.mentions ?? []).filter(({ fragments }) =>
      fragments.some(([start, end]) => start <= word && word < end),
    );
    if (here.length === 1) return { place: sentence, mention: here[0] };
    const several = "Several mentions have this word: press Tab to choose one.";
    notify(here.length ? several : "No mention here: press Tab or n to choose one.", {
      key: "where",
    });
    return null;
  }

  function act(kind, place, mention, said, details = {}) {
    on.act(kind, { sentence: place, mention: plain(mention), ...details }, said);
    say(said);
  }

  function acceptMention(place, mention) {
    if (mention.status === "proposed")
      act("accept", place, mention, `accept ${named(place, mention)}`);
  }

  function removeMention(place, mention) {
    act("remove", place, mention, `remove ${named(place, mention)}`);
  }

  function change(place, mention, to) {
    const exists = sentenceAt(place).mentions.some((each) => keyOf(each) === keyOf(to));
    if (exists) {
      const same = keyOf(to) === keyOf(mention);
      if (!same) notify(`${named(place, to)} is there already.`, { key: "exists" });
      return;
    }
    if (view.chosen?.key === keyOf(mention)) view.chosen = { place, key: keyOf(to) };
    act("change", place, mention, `change ${named(place, mention)} to ${named(place, to)}`, { to });
  }

  function proposals() {
    return view.shown.sentences.flatMap((sentence, place) =>
      sentence.mentions
        .filter((mention) => mention.status === "proposed")
        .map((mention) => ({
          place,
          mention,
          start: mention.fragments[0][0],
          key: keyOf(mention),
        })),
    );
  }

  function proposal(direction) {
    const all = proposals();
    if (!all.length) return notify("No proposals are left in this document.", { key: "where" });
    const { sentence, word } = view.selection.cursor;
    let at = all.findIndex(
      ({ key, place }) => view.chosen?.key === key && view.chosen.place === place,
    );
    if (at >= 0) at += direction;
    else {
      at = all.findIndex(
        ({ place, start }) => place > sentence || (place === sentence && start >= word),
      );
      if (direction < 0) at = (at < 0 ? all.length : at) - 1;
    }
    const { place, key } = all.at(at % all.length);
    view.choose(place, key);
  }

  function accept() {
    const found = target();
    if (!found) return;
    const all = proposals();
    const at = all.findIndex(
      ({ place, key }) => place === found.place && key === keyOf(found.mention),
    );
    acceptMention(found.place, found.mention);
    if (all[at + 1]) view.choose(all[at + 1].place, all[at + 1].key);
    else view.choose(found.place, keyOf(found.mention));
  }

  function remove() {
    const found = target();
    if (found) removeMention(found.place, found.mention);
  }

  function edit() {
    const found = target();
    if (!found) return;
    view.selection.edit(found.place, found.mention);
    view.chosen = null;
    view.focusCursor();
    view.paint();
    say("Change the words of the mention, then press Enter.");
  }

  function make() {
    const { selection } = view;
    if (view.readonly) return refuse();
    if (selection.empty)
      return say("Select words first: Space selects the word, Shift and arrows several.");
    selection.settle();
    const { sentence: place, fragments, editing } = selection;
    const label = editing ? editing.label : view.shown.labels[view.label];
    const made = { label, fragments };
    const there = sentenceAt(place).mentions.find((each) => keyOf(each) === keyOf(made));
    selection.clear();
    if (editing) change(place, editing, made);
    else if (there?.status === "proposed") acceptMention(place, there);
    else if (there) notify(`${named(place, made)} is there already.`, { key: "exists" });
    else act("add", place, made, `add ${named(place, made)}`);
    view.focusCursor();
    view.paint();
  }

  function label(index) {
    const wanted = view.shown.labels[index];
    if (!wanted) return;
    const found = view.chosenMention;
    if (found && view.readonly) return refuse();
    if (found)
      return change(found.place, found.mention, { ...plain(found.mention), label: wanted });
    if (view.selection.editing) return say("Press Enter to save the words, or Escape first.");
    view.label = index;
    say(`Label ${wanted}`);
    view.paint();
  }

  function makeWith(index) {
    view.label = index;
    make();
  }

  function clear() {
    const { place } = view.chosen ?? {};
    const { editing, sentence } = view.selection;
    view.selection.clear();
    if (editing) view.choose(sentence, keyOf(editing));
    else if (place !== undefined || document.activeElement === document.body) view.focusCursor();
    view.paint();
  }

  function finish() {
    if (view.readonly) return on.next();
    if (!view.selection.empty) {
      const first =
        "Some words are selected: make a mention of them, or clear the selection, first.";
      return notify(first, { key: "where" });
    }
    on.act("finish", {}, "finish the document");
    say("Finished");
  }

  function reopen() {
    on.act("reopen", {}, "reopen the document");
  }

  function acceptAll() {
    if (view.readonly) return refuse();
    if (proposals().length) on.act("accept_all", {}, "accept all proposals");
  }

  function undo() {
    if (view.shown.undo || on.waiting()) on.act("undo", {}, "undo");
    else say("Nothing to undo");
  }

  function redo() {
    if (view.shown.redo || on.waiting()) on.act("redo", {}, "redo");
    else say("Nothing to redo");
  }

  const { next, compare } = on;
  return {
    accept,
    acceptAll,
    acceptMention,
    clear,
    compare,
    edit,
    finish,
    label,
    make,
    makeWith,
    next,
    proposal,
    proposals,
    redo,
    refuse,
    remove,
    removeMention,
    reopen,
    undo,
    ...movements(view, refuse),
  };
}
