// What the page shows, as files and for the clipboard.

import { callForFile, saveFile } from "./common.js";

const FILES = {
  json: { name: "mentions.json", type: "application/json" },
  csv: { name: "mentions.csv" },
  brat: { name: "mentions.zip" },
};

/** Return the answer as JSON, with the mentions, tags and readings that are shown. */
export function asJson(answer, { least, tags, alternatives }) {
  const documents = answer.documents.map((each) => {
    const kept = { ...each, mentions: each.mentions.filter((mention) => isKept(mention, least)) };
    delete kept.drawings;
    if (!tags) delete kept.tags;
    if (!alternatives) delete kept.alternatives;
    return kept;
  });
  return `${JSON.stringify({ model: answer.model, documents }, null, 2)}\n`;
}

/** Return whether a mention has at least a score; a mention without a score is kept. */
export function isKept(mention, least) {
  return (mention.score ?? 1) >= least;
}

/** Download the mentions in a format; return the name of the file. */
export async function download(format, answer, shown) {
  const { name, type } = FILES[format];
  if (format === "json") {
    saveFile(name, asJson(answer, shown), type);
    return name;
  }
  const { text } = answer.documents[0];
  const body = { text, model: answer.model, min_score: shown.least, format };
  saveFile(name, await callForFile("/api/export", { body }));
  return name;
}
