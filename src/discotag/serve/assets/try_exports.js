// What the page shows, as files and for the clipboard.

import { call, callForFile, saveFile } from "./common.js";

const FILES = {
  json: { name: "mentions.json", type: "application/json" },
  csv: { name: "mentions.csv" },
  brat: { name: "mentions.zip" },
};

/** Return the answer as JSON, with the mentions, tags and readings that are shown. */
export async function asJson(answer, { least, tags, alternatives }) {
  const { model } = answer;
  const [found] = answer.documents;
  const mentions = found.mentions.filter((mention) => isKept(mention, least));
  const shown = { ...found, mentions };
  delete shown.drawings;
  if (!alternatives) delete shown.alternatives;
  if (!tags) delete shown.tags;
  else if (mentions.length < found.mentions.length) {
    // Only the server can encode the mentions that are left as tags.
    const body = { text: found.text, model, min_score: least, tags: true };
    shown.tags = (await call("/api/predict", { body })).documents[0].tags;
  }
  return `${JSON.stringify({ model, documents: [shown] }, null, 2)}\n`;
}

/** Return whether a mention has at least a score; without a score, it has the lowest. */
export function isKept(mention, least) {
  return least <= 0 || (mention.score ?? 0) >= least;
}

/** Download the mentions in a format; return the name of the file. */
export async function download(format, answer, shown) {
  const { name, type } = FILES[format];
  if (format === "json") {
    saveFile(name, await asJson(answer, shown), type);
    return name;
  }
  const { text } = answer.documents[0];
  const body = { text, model: answer.model, min_score: shown.least, format };
  saveFile(name, await callForFile("/api/export", { body }));
  return name;
}
