// Progress and agreement, and the export of the corpus.

import { call, callForFile, saveFile } from "./common.js";
import { button, counted, make } from "./annotate_dom.js";
import { trainingText } from "./annotate_list.js";
import { notify } from "./annotate_notices.js";

const MOST_LEFT_OUT = 20;

/** Load and show progress, agreement and training. */
export async function showProgress(root, project) {
  const { documents, annotators, agreement } = await call("/api/progress");
  root.replaceChildren(
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
          annotators.map((each) => [each.name, each.finished, each.started, each.actions, each.minutes]),
        )
      : make("p", { class: "soft" }, "Nobody has annotated yet."),
    make("h2", {}, "Agreement"),
    agreement.length
      ? table(
          "Documents that two annotators have finished: F1 of mentions, of discontinuous mentions and of words, and gamma, which also counts near misses and corrects for chance.",
          ["Annotators", "Documents", "F1", "Discontinuous", "Words", "Gamma"],
          agreement.map((each) => [
            each.annotators.join(" and "), each.documents,
            ...[each.f1, each.f1_discontinuous, each.word_f1, each.gamma].map(share),
          ]),
        )
      : make("p", { class: "soft" }, "Agreement is measured once two annotators have finished the same document."),
    make("h2", {}, "The model"),
    make("p", { id: "training-state" }, trainingText(project)),
    project.can_train ? button("Train now", () => trainNow(), { id: "train" }) : "",
  );
}

/** Show what can be exported. */
export function showExport(root, project) {
  if (root.dataset.formats === JSON.stringify(project.formats)) return;
  root.dataset.formats = JSON.stringify(project.formats);
  const format = select("format", "Format", project.formats.map((each) => [each.name, each.label]));
  const which = select("which", "Documents", [
    ["finished", "Finished ones"],
    ["all", "All, as far as they are"],
  ]);
  const summary = make("div", { id: "export-summary", role: "status" });
  const save = button("Download", () => download(project, format.value, which.value, save), { class: "main", id: "download" });
  const refresh = () => summarise(summary, format.value, which.value);
  format.addEventListener("change", refresh);
  which.addEventListener("change", refresh);
  root.replaceChildren(
    make("h2", {}, "Export"),
    make("p", { class: "soft" }, "discotag train reads the export as it is."),
    make("div", { class: "fields" }, format.parentNode, which.parentNode),
    summary,
    save,
  );
}

/** Ask again what an export would hold. */
export async function refreshExport(root) {
  const summary = root.querySelector("#export-summary");
  if (summary)
    await summarise(summary, root.querySelector("#format").value, root.querySelector("#which").value);
}

async function summarise(root, format, which) {
  const query = new URLSearchParams({ format, which });
  const answer = await call(`/api/export/summary?${query}`);
  const { documents, left_out: out, more_left_out: more, cannot_hold: lost } = answer;
  const count = out.length + more;
  root.replaceChildren(
    make("p", {}, make("strong", {}, counted(documents, "document")), " will be written."),
    out.length
      ? make(
          "details",
          { open: out.length <= 5 },
          make("summary", {}, `${counted(count, "document is", "documents are")} left out`),
          make("ul", {}, out.slice(0, MOST_LEFT_OUT).map((each) =>
            make("li", {}, make("a", { href: `#${each.number}/versions` }, make("bdi", {}, each.name)), `: ${each.reason}`))),
          count > MOST_LEFT_OUT && make("p", { class: "soft" }, `and ${count - MOST_LEFT_OUT} more`),
        )
      : "",
    ...lost.map((sentence) => make("p", { class: "problem" }, sentence)),
  );
}

async function download(project, format, which, save) {
  const file = project.formats.find((each) => each.name === format)?.file ?? `corpus.${format}`;
  save.disabled = true;
  try {
    saveFile(file, await callForFile(`/api/export?${new URLSearchParams({ format, which })}`));
  } catch (error) {
    notify(`The export failed: ${error.message}`, { kind: "bad" });
  } finally {
    save.disabled = false;
  }
}

async function trainNow() {
  try {
    await call("/api/training", { body: {} });
    notify("The training has begun. You can go on annotating meanwhile.", { kind: "good" });
  } catch (error) {
    notify(error.message, { kind: "bad" });
  }
}

function select(id, label, options) {
  const made = make("select", { id }, options.map(([value, text]) => make("option", { value }, text)));
  make("label", {}, make("span", {}, label), made);
  return made;
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
      make("thead", {}, make("tr", {}, columns.map((column, at) => make("th", { scope: "col", class: number(at) }, column)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell, at) => make("td", { class: number(at) }, String(cell)))))),
    ),
  );
}

function share(value) {
  return typeof value === "number" ? value.toFixed(2) : "–";
}
