// From an answer of /api/predict to elements: sentences, their readings and tags, and the table.
// All text of users becomes text nodes. The drawing functions come from drawing.js.
/* global element, unpacked, spelled, drawWords, listMentions */

/**
 * Draws answers, and keeps the sentences that did not change: in a long text, few do.
 */
export class Drawer {
  #kept = new Map();

  /**
   * Draw the first document of an answer.
   *
   * Mentions are numbered through the document. The result has the elements of all sentences, and
   * for each mention what was found (`given`), its bars (`drawn`) and its row in the table (`line`).
   *
   * @param {object} answer of /api/predict
   * @param {{tags: boolean, alternatives: boolean}} settings what to draw besides mentions
   * @throws {Error} if the answer is not complete
   */
  draw(answer, settings) {
    const { labels, documents } = answer;
    const [found] = documents;
    const before = this.#kept;
    const kept = new Map();
    const mentions = [];
    let passed = 0; // words of the sentences before
    const sentences = found.drawings.map((drawing, place) => {
      const tags = settings.tags ? (found.tags[place] ?? []) : null;
      const given = settings.alternatives ? found.alternatives?.[place] : null;
      const readings = given ? ofSentence(given, passed) : null;
      passed += drawing.words.length;
      const first = mentions.length;
      const key = JSON.stringify([drawing, tags, readings, labels]);
      // Mentions of readings show numbers, so such a sentence must have the same ones.
      const same = before.get(key)?.find((each) => !readings || each.first === first);
      if (same) before.set(key, before.get(key).filter((each) => each !== same));
      const sentence = same ?? drawSentence(drawing, tags, readings, labels, first);
      sentence.first = first;
      kept.set(key, [...(kept.get(key) ?? []), sentence]);
      for (const mention of sentence.mentions) mentions.push(mention);
      return sentence.box;
    });
    if (mentions.length !== found.mentions.length) throw new Error("drawings of other mentions");
    mentions.forEach((mention, place) => finish(mention, place + 1, found.mentions[place], labels));
    this.#kept = kept;
    return { sentences, mentions };
  }
}

/** Return the table of mentions. */
export function drawTable(mentions) {
  const heads = ["Mention", "Label", "Characters", "Score"].map((name) => {
    const head = element("th", name.toLowerCase(), name);
    head.scope = "col";
    return head;
  });
  return element(
    "table",
    "",
    element("caption", "unseen", "Mentions"),
    element("thead", "", element("tr", "", ...heads)),
    element("tbody", "", ...mentions.map((mention) => mention.line)),
  );
}

/** Explain alternatives. */
export function explainReadings() {
  return [
    "Below each sentence are its most probable readings: the sets of mentions that may be in it. " +
      "The first one has the mentions found, those with low scores included. ",
    element("b", "sign", "+"),
    " marks a mention that is not among those found.",
  ];
}

/** Explain the tags of a model. */
export function explainTags({ slots = 2, gap_mentions: gapMentions = false }) {
  const names = ["x", "y", "z", "w"].slice(0, Math.max(slots, 0));
  const explained = [
    [["O"], "in no mention"],
    [["CB", "CI"], "first and further words of a mention without gaps that shares no words"],
  ];
  if (names.length) {
    explained.push(
      [["DB-", "DI-"], "first and further words of a set: mentions that share words or have gaps"],
      [
        names.map((name) => `B${name} I${name}`),
        "first and further words of a component; " +
          `${names.join(", ")} are the slots that components fill`,
      ],
      [["DI-O"], "in a gap"],
    );
    if (gapMentions) explained.push([["DI-CB", "DI-CI"], "a mention that is wholly inside a gap"]);
  }
  const list = explained.map(([tags, meaning]) =>
    element(
      "div",
      "",
      element("dt", "", ...tags.flatMap((tag) => [element("code", "", tag), " "])),
      element("dd", "", meaning),
    ),
  );
  const rule = element(
    "p",
    "soft",
    "The mentions of a set are all combinations of one component of each slot. In “pain in arms " +
      "and shoulders”, “pain in” fills x, “arms” and “shoulders” fill y: two mentions.",
  );
  const all = element("p", "soft", "The tags are those of all mentions found, whatever their score.");
  return [element("dl", "", ...list), ...(names.length ? [rule] : []), all];
}

/** Return a probability as people write it. */
export function percent(probability) {
  if (probability > 0 && probability < 0.001) return "<0.1%";
  if (probability < 1 && probability > 0.999) return ">99.9%";
  const shown = probability * 100;
  return `${shown.toFixed(shown < 1 || shown > 99 ? 1 : 0)}%`.replace(/^(0|100)\.0%$/, "$1%");
}

/** Return readings whose mentions are counted in words of the sentence, not of the document. */
function ofSentence(readings, passed) {
  return readings.map(({ probability, mentions }) => ({
    probability,
    mentions: mentions.map(({ label, fragments }) => ({
      label,
      at: fragments.map(([start, end]) => [start - passed, end - passed]),
    })),
  }));
}

function drawSentence(drawing, tags, readings, labels, before) {
  const sentence = unpacked(drawing);
  const words = drawWords(sentence);
  const box = element("article", "sentence", words);
  const mentions = sentence.mentions.map((mention, place) => ({
    ...mention,
    sentence,
    words,
    number: before + place + 1,
  }));
  if (tags?.length) addTags(box, sentence, tags);
  else if (tags) box.append(element("p", "soft", "These mentions have no common tag sequence."));
  if (readings) box.append(drawReadings(sentence, mentions, readings, labels));
  return { box, mentions };
}

function finish(mention, number, given, labels) {
  mention.number = number;
  mention.given = given;
  for (const bar of mention.drawn) if (bar.dataset.number) bar.dataset.number = number;
  mention.line = drawRow(mention, labels);
}

function addTags(box, sentence, tags) {
  if (tags.length !== sentence.words.length) throw new Error("tags of other words");
  const cells = box.querySelectorAll(".words .word");
  tags.forEach((tag, place) => {
    const shown = element("span", tag === "O" ? "tag outside" : "tag", tag);
    shown.setAttribute("aria-hidden", "true");
    cells[place].firstChild.after(shown);
  });
  // Screen readers get words and tags as a list; in the drawing they would read them mixed.
  const pairs = sentence.words.map((word, place) => element("li", "", `${word}: ${tags[place]}`));
  const list = element("ul", "", ...pairs);
  list.setAttribute("aria-label", "Words and their tags");
  box.append(element("div", "unseen", list));
}

function drawReadings(sentence, found, readings, labels) {
  const items = readings.map(({ probability, mentions }) => {
    const drawn = mentions.map(({ label, at }) => {
      const place = JSON.stringify(at);
      const same = found.find(
        (each) => labels[each.label] === label && JSON.stringify(each.at) === place,
      );
      return {
        label: labels.indexOf(label),
        at,
        colour: same?.colour ?? 0,
        number: same?.number,
        score: null,
        drawn: [],
      };
    });
    const shown = drawn.length
      ? listMentions({ ...sentence, mentions: drawn }, labels)
      : element("p", "soft", "no mention");
    drawn.forEach((mention, place) => {
      const item = shown.children[place];
      item.querySelector(".number").textContent = mention.number ?? "+";
      if (mention.number === undefined) item.classList.add("other");
    });
    return element("li", "", scoreBar(probability), shown);
  });
  const list = element("ol", "", ...items);
  list.setAttribute("aria-label", "Most probable readings");
  return element("div", "readings", list);
}

function drawRow(mention, labels) {
  const { given, number, colour, sentence, at } = mention;
  const text = at.map(([start, end]) => spelled(sentence, start, end)).join(" … ");
  const button = element("button", "plain", element("b", "number", String(number)),
    element("bdi", "", text));
  button.type = "button";
  button.setAttribute("aria-label", `${number} ${text}`);
  button.setAttribute("aria-pressed", "false");
  const characters = (given.spans ?? []).map(([start, end]) => `${start}–${end}`).join(", ");
  if (at.length > 1) button.append(element("span", "badge", at.length === 2 ? "gap" : "gaps"));
  const scores = given.score === undefined ? [] : [scoreBar(given.score)];
  return element(
    "tr",
    `c${colour}`,
    element("td", "mention", button),
    element("td", "label", labels[mention.label]),
    element("td", "characters", characters),
    element("td", "score", ...scores),
  );
}

function scoreBar(share) {
  const filled = element("i", "");
  filled.style.inlineSize = `${Math.max(share * 100, 1)}%`;
  const track = element("span", "track", filled);
  track.setAttribute("aria-hidden", "true");
  return element("span", "share", track, element("span", "figure", percent(share)));
}
