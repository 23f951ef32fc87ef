// The export of the corpus.

import { call, callForFile, saveFile } from "./common.js";
import { button, counted, make } from "./annotate_dom.js";
import { notify } from "./annotate_notices.js";

const MOST_LEFT_OUT = 20;

/** Show what can be exported. */
export function showExport(root, project) {
  if (root.dataset.formats === JSON.stringify(project.formats)) return;
  root.dataset.formats = JSON.stringify(project.formats);
  const format = select(
    "format",
    "Format",
    project.formats.map((each) => [each.name, each.label]),
  );
  const which = select("which", "Documents", [
    ["finished", "Finished ones"],
    ["all", "All, as far as they are"],
  ]);
  const summary = make("div", { id: "export-summary", role: "status" });
  const save = button("Download", () => download(project, format.value, which.value, save), {
    class: "main",
    id: "download",
  });
  const refresh = () => summarise(summary, format.value, which.value);
  format.addEventListener("change", refresh);
  which.addEventListener("change", refresh);
  root.replaceChildren(
    make("h2", {}, "Export"),
    make(
      "p",
      { class: "soft" },
      "To train on it, split it with discotag corpus split; discotag train reads the parts.",
    ),
    make("div", { class: "fields" }, format.parentNode, which.parentNode),
    summary,
    save,
  );
}

/** Ask again what an export would hold. */
export async function refreshExport(root) {
  const summary = root.querySelector("#export-summary");
  if (summary)
    await summarise(
      summary,
      root.querySelector("#format").value,
      root.querySelector("#which").value,
    );
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
          make(
            "ul",
            {},
            out
              .slice(0, MOST_LEFT_OUT)
              .map((each) =>
                make(
                  "li",
                  {},
                  make("a", { href: `#${each.number}/versions` }, make("bdi", {}, each.name)),
                  `: ${each.reason}`,
                ),
              ),
          ),
          count > MOST_LEFT_OUT &&
            make("p", { class: "soft" }, `and ${count - MOST_LEFT_OUT} more`),
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

function select(id, label, options) {
  const made = make(
    "select",
    { id },
    options.map(([value, text]) => make("option", { value }, text)),
  );
  make("label", {}, make("span", {}, label), made);
  return made;
}
