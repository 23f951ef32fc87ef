// Progress of the annotators, their agreement, and training.

import { call } from "./common.js";
import { button, make, sentence } from "./annotate_dom.js";
import { trainingResult, trainingText } from "./annotate_list.js";
import { notify } from "./annotate_notices.js";

/** Load and show progress, agreement and training; return whether figures are still computed. */
export async function showProgress(root, project) {
  const answer = await call("/api/progress");
  const { documents, annotators, agreement, computing } = answer;
  const signature = JSON.stringify([answer, project]);
  if (root.dataset.signature === signature) return computing;
  root.dataset.signature = signature;
  const result = trainingResult(project);
  const shown = [
    make("h2", {}, "Progress"),
    table(
      "Documents",
      Object.keys(documents).map((name) => name[0].toUpperCase() + name.slice(1)),
      [Object.values(documents)],
      0,
    ),
    annotators.length
      ? table(
          "Annotators",
          ["Name", "Finished", "Started", "Actions", "Minutes"],
          annotators.map((each) => [
            each.name,
            each.finished,
            each.started,
            each.actions,
            each.minutes,
          ]),
        )
      : make("p", { class: "soft" }, "Nobody has annotated yet."),
    make("h2", {}, "Agreement"),
    agreement.length
      ? table(
          "Documents that two annotators have finished: F1 of mentions, discontinuous mentions " +
            "and words, and gamma, which also counts near misses and corrects for chance.",
          ["Annotators", "Documents", "F1", "Discontinuous", "Words", "Gamma"],
          agreement.map((each) => [
            each.annotators.join(" and "),
            each.documents,
            ...[each.f1, each.f1_discontinuous, each.word_f1, each.gamma].map(share),
          ]),
        )
      : !computing &&
          make(
            "p",
            { class: "soft" },
            "Agreement is measured once two annotators have finished the same document.",
          ),
    computing &&
      make("p", { class: "soft", id: "computing" }, "Newer figures are being computed …"),
    make("h2", {}, "The model"),
    make("p", { id: "training-state" }, trainingText(project)),
    result && make("p", { id: "training-result" }, `The last training: ${result}`),
    project.can_train && button("Train now", () => trainNow(), { id: "train" }),
  ];
  root.replaceChildren(...shown.filter(Boolean));
  return computing;
}

async function trainNow() {
  try {
    await call("/api/training", { body: {} });
    notify("The training has begun. You can go on annotating meanwhile.", { kind: "good" });
  } catch (error) {
    notify(sentence(error.message), { kind: "bad" });
  }
}

function table(caption, columns, rows, left = 1) {
  const number = (at) => (at >= left ? "n" : null);
  return make(
    "div",
    { class: "wide" },
    make(
      "table",
      {},
      make("caption", {}, caption),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          columns.map((column, at) => make("th", { scope: "col", class: number(at) }, column)),
        ),
      ),
      make(
        "tbody",
        {},
        rows.map((row) =>
          make(
            "tr",
            {},
            row.map((cell, at) => make("td", { class: number(at) }, String(cell))),
          ),
        ),
      ),
    ),
  );
}

function share(value) {
  return typeof value === "number" ? value.toFixed(2) : "–";
}
