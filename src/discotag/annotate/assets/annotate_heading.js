// The head of a document: its name, how far it is, and who else is on it.

import { button, counted, listed, make } from "./annotate_dom.js";

export const STATUS = {
  untouched: "untouched",
  started: "started",
  finished: "finished",
  disagreement: "disagreement",
  decided: "decided",
};

/** Draw the head of a document. */
export function drawHeading(root, shown, commands) {
  const open = shown.sentences
    .flatMap((each) => each.mentions)
    .filter((each) => each.status === "proposed");
  const misfits = shown.sentences.reduce((sum, each) => sum + each.problems.length, 0);
  const others = shown.versions.filter((name) => name !== shown.annotator);
  const signature = JSON.stringify([
    shown.number,
    shown.name,
    shown.status,
    shown.finished,
    shown.holders,
    others,
    shown.disagreement,
    shown.decided,
    open.length,
    misfits,
  ]);
  if (root.dataset.signature === signature) return;
  root.dataset.signature = signature;
  root.replaceChildren(
    make(
      "div",
      { class: "title" },
      make("h2", { id: "document-name" }, make("bdi", {}, shown.name)),
      make(
        "span",
        { class: `badge ${shown.finished ? "finished" : ""}` },
        shown.finished ? "finished by you" : "open",
      ),
      shown.decided && make("span", { class: "badge decided" }, "decided"),
      misfits > 0 && make("span", { class: "badge bad" }, counted(misfits, "problem")),
    ),
    make(
      "div",
      { class: "doings" },
      open.length > 0 &&
        !shown.finished &&
        button(
          `Accept all ${open.length === 1 ? "" : `${open.length} `}proposed`,
          commands.acceptAll,
          {
            id: "accept-all",
            "aria-keyshortcuts": "Shift+A",
          },
        ),
      others.length > 0 &&
        button(shown.disagreement ? "Compare versions" : "See versions", commands.compare, {
          id: "compare",
          class: shown.disagreement ? "main" : "",
        }),
    ),
    make(
      "p",
      { class: "people", id: "people" },
      shown.holders.length > 0 &&
        make(
          "span",
          { class: "holders" },
          `${listed(shown.holders)} ${shown.holders.length === 1 ? "is" : "are"} ` +
            "on this document too. ",
        ),
      others.length > 0 &&
        make("span", { class: shown.disagreement ? "differs" : "" }, said(shown, others)),
    ),
  );
}

function said(shown, others) {
  const has = `${listed(others)} ${others.length === 1 ? "has" : "have"} a version of it.`;
  if (shown.decided) return `${has} Somebody decided between the versions.`;
  return shown.disagreement ? `${has} The finished versions differ.` : has;
}
