// The tools below the document: for the selection, for the chosen mention, for the document.

import { button, make } from "./annotate_dom.js";
import { textOf } from "./annotate_mentions.js";

// Further labels do not fit beside the other tools.
const IN_A_ROW = 2;

/** Draw the tools that fit what is selected or chosen; nothing happens if they are the same. */
export function drawBar(root, view) {
  const { shown, selection, chosen, label } = view;
  if (!shown) return;
  const words = selection.empty ? null : selection.fragments;
  const mention = view.chosenMention;
  const signature = JSON.stringify([
    words,
    selection.sentence,
    selection.editing,
    chosen,
    mention,
    label,
    shown.labels,
    shown.undo,
    shown.redo,
    shown.finished,
    shown.number,
  ]);
  if (root.dataset.signature === signature) return;
  root.dataset.signature = signature;
  const focused = root.contains(document.activeElement)
    ? document.activeElement.dataset.tool
    : null;
  // Many labels get a row of their own.
  const kind = shown.labels.length > IN_A_ROW ? "about many" : "about";
  root.replaceChildren(
    make("div", { class: kind }, words ? ofSelection(view, words) : ofMention(view, mention)),
    make("div", { class: "always" }, ofDocument(view)),
  );
  if (focused) root.querySelector(`[data-tool="${focused}"]`)?.focus();
}

function ofSelection(view, words) {
  const { shown, selection, commands } = view;
  const text = textOf(shown.sentences[selection.sentence].drawing, words);
  const quoted = make("q", { class: "quoted" }, make("bdi", {}, text));
  if (selection.editing)
    return [
      make("span", { class: "soft" }, "New words:"),
      quoted,
      tool("save", "Save words", commands.make, { class: "main", "aria-keyshortcuts": "Enter" }),
      tool("cancel", "Cancel", commands.clear, { "aria-keyshortcuts": "Escape" }),
    ];
  return [
    quoted,
    tool("clear", "Clear", commands.clear, { class: "plain", "aria-keyshortcuts": "Escape" }),
    ofLabels(view, "Add", commands.makeWith, view.label),
  ];
}

function ofMention(view, found) {
  const { shown, commands } = view;
  if (shown.finished)
    return [
      make("span", { class: "soft" }, "Finished."),
      tool("reopen", "Reopen to change", commands.reopen),
    ];
  if (!found)
    return [
      make(
        "span",
        { class: "soft hint fine" },
        "Drag over words to draw a mention; more drags add fragments. ",
        make("kbd", {}, "?"),
        " shows the keys.",
      ),
      make(
        "span",
        { class: "soft hint coarse" },
        "Tap words to draw a mention; hold a word to select up to it.",
      ),
    ];
  const { place, mention } = found;
  const text = textOf(shown.sentences[place].drawing, mention.fragments);
  const several = shown.labels.length > 1;
  return [
    make("q", { class: "quoted" }, make("bdi", {}, text)),
    mention.status === "proposed" &&
      tool("accept", "Accept", commands.accept, { class: "main", "aria-keyshortcuts": "a" }),
    tool("remove", "Remove", commands.remove, { "aria-keyshortcuts": "x Delete" }),
    tool("edit", "Words", commands.edit, {
      "aria-keyshortcuts": "e",
      title: "Change its words",
      "aria-label": "Change words",
    }),
    several && ofLabels(view, "Label", commands.label, shown.labels.indexOf(mention.label)),
  ];
}

function ofLabels(view, title, onchoose, chosen) {
  const { labels } = view.shown;
  const adds = title === "Add";
  const many = labels.length > IN_A_ROW;
  const buttons = labels.map((name, index) => {
    const each = tool(
      `label-${index}`,
      adds && !many ? `Add ${name}` : name,
      () => onchoose(index),
      {
        class: index === chosen ? "chosen-label" : "",
        "aria-current": index === chosen ? "true" : null,
        "aria-keyshortcuts": index < 9 ? String(index + 1) : null,
      },
    );
    if (labels.length > 1 && index < 9) each.append(" ", make("kbd", {}, String(index + 1)));
    else if (adds && labels.length === 1) each.append(" ", make("kbd", {}, "⏎"));
    return each;
  });
  return make(
    "span",
    { class: "labels", role: "group", "aria-label": title },
    many && make("span", { class: "soft" }, adds ? "Add as" : title),
    buttons,
  );
}

function ofDocument(view) {
  const { shown, commands } = view;
  return [
    tool("undo", "↶", commands.undo, {
      class: "plain sign",
      "aria-keyshortcuts": "u Control+Z",
      disabled: !shown.undo,
      title: shown.undo ? `Undo: ${shown.undo}` : "Nothing to undo",
      "aria-label": shown.undo ? `Undo: ${shown.undo}` : "Undo",
    }),
    tool("redo", "↷", commands.redo, {
      class: "plain sign",
      "aria-keyshortcuts": "Shift+U Control+Y",
      disabled: !shown.redo,
      title: shown.redo ? `Redo: ${shown.redo}` : "Nothing to redo",
      "aria-label": shown.redo ? `Redo: ${shown.redo}` : "Redo",
    }),
    shown.finished
      ? tool("next", "Next document", commands.next, { class: "main", "aria-keyshortcuts": "f" })
      : tool("finish", "Finish and next", commands.finish, {
          class: "main",
          "aria-keyshortcuts": "f",
        }),
  ];
}

function tool(name, text, onclick, attributes = {}) {
  return button(text, () => onclick(), { "data-tool": name, ...attributes });
}
