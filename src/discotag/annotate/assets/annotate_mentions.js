// Mentions as values: keys to compare them by, words and fragments, and data to draw them from.

const COLOURS = 6; // as in discotag.render.colours

/** Return a string that is equal for equal mentions: the same label and fragments. */
export function keyOf(mention) {
  return JSON.stringify([mention.label, mention.fragments]);
}

/** Return what names a mention in an action. */
export function plain(mention) {
  return { label: mention.label, fragments: mention.fragments };
}

/** Return the words of fragments. */
export function wordsOf(fragments) {
  const words = new Set();
  for (const [start, end] of fragments) for (let word = start; word < end; word++) words.add(word);
  return words;
}

/** Return the fragments of words: their maximal runs, in order. */
export function fragmentsOf(words) {
  const fragments = [];
  for (const word of [...words].sort((one, other) => one - other)) {
    const last = fragments.at(-1);
    if (last && last[1] === word) last[1] = word + 1;
    else fragments.push([word, word + 1]);
  }
  return fragments;
}

/** Return the text of fragments, with " … " for each gap. */
export function textOf(drawing, fragments) {
  const sentence = window.unpacked(drawing);
  return fragments.map(([start, end]) => window.spelled(sentence, start, end)).join(" … ");
}

/** Sort mentions as the server does: by position, then by label. */
export function sorted(mentions) {
  return [...mentions].sort(
    (one, other) =>
      byPosition(one.fragments.flat(), other.fragments.flat()) ||
      (one.label < other.label ? -1 : Number(one.label > other.label)),
  );
}

/**
 * Return drawing data for other mentions of the same words.
 *
 * The server lays out what is saved. This is for what it does not know yet: mentions take the first
 * row that is free. Colours distinguish labels if there are several, otherwise mentions.
 */
export function redrawn(drawing, mentions, labels) {
  const lanes = [];
  const rows = mentions.map(({ label, score = null, fragments }, at) => {
    const number = labels.indexOf(label);
    const percent = score === null ? null : Math.round(score * 100);
    const colour = (labels.length > 1 ? number : at) % COLOURS;
    return [number, score, percent, freeLane(lanes, fragments), colour, fragments];
  });
  return { ...drawing, mentions: rows };
}

function freeLane(lanes, fragments) {
  const [start, end] = [fragments[0][0], fragments.at(-1)[1]];
  let lane = lanes.findIndex((taken) =>
    taken.every(([first, last]) => last <= start || end <= first),
  );
  if (lane < 0) lane = lanes.push([]) - 1;
  lanes[lane].push([start, end]);
  return lane;
}

function byPosition(one, other) {
  for (let at = 0; at < Math.min(one.length, other.length); at++)
    if (one[at] !== other[at]) return one[at] - other[at];
  return one.length - other.length;
}
