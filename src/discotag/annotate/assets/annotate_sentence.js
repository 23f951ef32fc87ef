// One sentence on the page: words to select, bars below them, the mentions, and what does not fit.

import { button, make } from "./annotate_dom.js";
import { keyOf, textOf, wordsOf } from "./annotate_mentions.js";

/**
 * Draw a sentence.
 *
 * @param {Object} sentence as in a state
 * @param {{place: number, count: number, readonly: boolean, labels: string[]}} about
 * @param {{choose: function, accept: function, remove: function}} on `choose(place, mention)` and
 *   so on, for the buttons of mentions
 * @returns {{root: Element, words: Element, cells: Element[], chips: Map<string, Element>,
 *   bars: Map<string, Element[]>, sentence: Object}}
 */
export function drawSentence(sentence, about, on) {
  const { words, cells, bars } = drawWithBars(sentence);
  makeSelectable(words, cells, sentence, about);
  const chips = new Map();
  const list = make("ul", {
    class: "chips",
    "aria-label": `Mentions of sentence ${about.place + 1}`,
  });
  sentence.mentions.forEach((mention, at) => {
    const item = drawChip(sentence, mention, at, about, on);
    chips.set(keyOf(mention), item);
    list.append(item);
  });
  const root = make(
    "section",
    {
      class: "sentence discotag",
      "data-place": about.place,
      "aria-label": `Sentence ${about.place + 1} of ${about.count}`,
    },
    words,
    sentence.mentions.length > 0 && list,
    drawProblems(sentence, about, on),
  );
  return { root, words, cells, chips, bars, sentence };
}

/** Draw words and bars; proposals and mentions with a problem are marked. */
export function drawWithBars(sentence) {
  const drawing = window.unpacked(sentence.drawing);
  const words = window.drawWords(drawing);
  const wrong = new Set(sentence.problems.flatMap((problem) => problem.mentions));
  const bars = new Map();
  sentence.mentions.forEach((mention, at) => {
    const key = keyOf(mention);
    for (const bar of drawing.mentions[at].drawn) {
      bar.classList.toggle("proposed", mention.status === "proposed");
      bar.classList.toggle("wrong", wrong.has(at));
      bar.classList.toggle("waiting", Boolean(mention.waiting));
      bar.dataset.key = key;
    }
    bars.set(key, drawing.mentions[at].drawn);
  });
  return { words, cells: [...words.querySelectorAll(".word")], bars, drawing };
}

function makeSelectable(words, cells, sentence, about) {
  words.setAttribute("role", "listbox");
  words.setAttribute("aria-multiselectable", "true");
  words.setAttribute("aria-label", `Words of sentence ${about.place + 1}`);
  if (about.readonly) words.setAttribute("aria-readonly", "true");
  const within = sentence.words.map(() => []);
  sentence.mentions.forEach((mention, at) => {
    for (const word of wordsOf(mention.fragments))
      within[word].push(
        `${mention.label} ${at + 1}${mention.status === "proposed" ? " proposed" : ""}`,
      );
  });
  cells.forEach((cell, word) => {
    cell.setAttribute("role", "option");
    cell.setAttribute("aria-selected", "false");
    cell.tabIndex = -1;
    cell.dataset.word = word;
    cell.setAttribute("aria-label", [sentence.drawing.words[word], ...within[word]].join(", "));
  });
}

function drawChip(sentence, mention, at, about, on) {
  const { place, readonly } = about;
  const proposed = mention.status === "proposed";
  const wrong = sentence.problems.some((problem) => problem.mentions.includes(at));
  const text = textOf(sentence.drawing, mention.fragments);
  const [, , percent, , colour] = sentence.drawing.mentions[at];
  const score = proposed && percent !== null ? `${percent}%` : "";
  const kind = [proposed && "proposed", wrong && "wrong", mention.waiting && "waiting"];
  const state = [
    proposed ? "proposed" : "accepted",
    wrong && "does not fit",
    mention.waiting && "not saved yet",
  ];
  const choose = button("", () => on.choose(place, mention), {
    class: "chip-main",
    "aria-keyshortcuts": readonly ? null : "a x e",
    title: proposed ? "Proposed by the model" : null,
  });
  choose.append(
    make("b", { class: "number" }, String(at + 1)),
    make("small", { class: "label" }, mention.label),
    make("bdi", {}, text),
    score && make("small", { class: "score" }, score),
    make("span", { class: "unseen" }, state.filter(Boolean).join(", ")),
  );
  const tools = readonly
    ? []
    : [
        proposed &&
          tool("✓", `Accept ${at + 1}, ${text}`, "accept", () => on.accept(place, mention)),
        tool("✕", `Remove ${at + 1}, ${text}`, "remove", () => on.remove(place, mention)),
      ];
  return make(
    "li",
    {
      class: ["chip", `c${colour}`, ...kind].filter(Boolean).join(" "),
      "data-key": keyOf(mention),
    },
    choose,
    tools,
  );
}

/** Make a small button that the Tab key passes over: keys do the same from the mention itself. */
function tool(sign, label, kind, onclick) {
  return button(sign, onclick, {
    class: `tool ${kind}`,
    "aria-label": label,
    title: label,
    tabindex: -1,
  });
}

function drawProblems(sentence, about, on) {
  return sentence.problems.map((problem) =>
    make(
      "div",
      { class: "does-not-fit", role: "alert" },
      make("p", {}, problem.message),
      make(
        "p",
        { class: "concerned" },
        "Mentions concerned: ",
        problem.mentions.map((at) =>
          button(String(at + 1), () => on.choose(about.place, sentence.mentions[at]), {
            class: `number c${sentence.drawing.mentions[at][4]}`,
            "aria-label": `Mention ${at + 1}, ${sentence.mentions[at].text}`,
          }),
        ),
      ),
    ),
  );
}
