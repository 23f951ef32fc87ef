// The order of words in sentences that mix scripts from left to right and from right to left.

// Hebrew, Arabic, Syriac, Thaana, NKo and their neighbours, presentation forms, and the blocks that
// Unicode reserves for further scripts from right to left.
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Put the words of a drawing by `drawWords` into their order of reading.
 *
 * Browsers order letters by script, but each word of a drawing is a box, which counts as a neutral
 * character. So neighbouring words that run against the sentence are put into an element with their
 * direction. Neutral words, such as numbers, join them if they are between two of them.
 */
export function orderWords(drawn) {
  const units = [...drawn.children];
  const directions = units.map((unit) => directionOf(unit.textContent));
  const base = directions.find((direction) => direction) ?? "ltr";
  let first = -1;
  let last = -1;
  const wrap = () => {
    if (first < 0) return;
    const against = document.createElement("span");
    against.dir = directions[first];
    units[first].before(against);
    against.append(...units.slice(first, last + 1));
    first = -1;
  };
  directions.forEach((direction, place) => {
    if (direction === base) wrap();
    else if (direction) {
      if (first < 0) first = place;
      last = place;
    }
  });
  wrap();
}

/** Return the direction of the first letter: "ltr", "rtl", or "" if there is none. */
function directionOf(text) {
  const letter = text.match(/\p{L}/u)?.[0];
  if (!letter) return "";
  return RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr";
}
