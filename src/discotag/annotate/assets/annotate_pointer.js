// Selecting words with a mouse, a pen or a finger.

// As long as phones take for a long press.
const HOLD_MS = 450;
// A finger that moves further than this, in CSS pixels, scrolls.
const STEADY_PX = 10;

/**
 * Listen to pointers on the words of all sentences in an element.
 *
 * A mouse drags over words; a click adds a word or takes it out; with Shift it extends from the
 * cursor. A finger taps words; held on one it selects from the last word to this one, and further
 * words when it moves.
 *
 * @param {Element} root
 * @param {{toggle: function, begin: function, extend: function, settle: function,
 *   continued: function, selecting: function, choose: function}} on
 *   `toggle(sentence, word)`, `begin(sentence, word)`, `extend(word)`, `settle()`;
 *   `continued(sentence)` tells whether a long press continues from the cursor;
 *   `choose(sentence, key)` is called for a click on a mention's bar, unless `selecting(sentence)`
 *   says that words are being selected.
 */
export function listenToPointers(root, on) {
  let press = null;

  root.addEventListener("pointerdown", (event) => {
    const at = wordAt(event.target);
    if (!at || event.button !== 0 || !event.isPrimary) return;
    const bar = event.target.closest(".bars i[data-key]");
    const touch = event.pointerType === "touch";
    press = {
      ...at,
      key: bar?.dataset.key,
      touch,
      drawing: false,
      x: event.clientX,
      y: event.clientY,
    };
    if (touch) press.timer = setTimeout(() => held(press), HOLD_MS);
  });

  function held(held) {
    held.drawing = true;
    if (on.continued(held.sentence)) on.extend(held.word);
    else on.begin(held.sentence, held.word);
    navigator.vibrate?.(10);
  }

  root.addEventListener("pointermove", (event) => {
    if (!press) return;
    const far = Math.hypot(event.clientX - press.x, event.clientY - press.y) > STEADY_PX;
    if (press.touch && !press.drawing) {
      if (far) cancel();
      return;
    }
    const at = wordAt(document.elementFromPoint(event.clientX, event.clientY));
    if (!at || at.sentence !== press.sentence) return;
    if (!press.drawing && at.word === press.word) return;
    if (!press.drawing) {
      press.drawing = true;
      if (event.shiftKey) on.extend(press.word);
      else on.begin(press.sentence, press.word);
    }
    on.extend(at.word);
  });

  window.addEventListener("pointerup", (event) => {
    if (!press) return;
    const { drawing, sentence, word, key } = press;
    cancel();
    if (drawing) on.settle();
    else if (key && !on.selecting(sentence)) on.choose(sentence, key);
    else if (event.shiftKey && on.continued(sentence)) {
      on.extend(word);
      on.settle();
    } else on.toggle(sentence, word);
  });
  window.addEventListener("pointercancel", cancel);

  function cancel() {
    clearTimeout(press?.timer);
    if (press?.drawing) on.settle();
    press = null;
  }

  // While a finger selects, the page must not scroll.
  root.addEventListener("touchmove", (event) => press?.drawing && event.preventDefault(), {
    passive: false,
  });
  root.addEventListener("contextmenu", (event) => {
    if (press?.touch) event.preventDefault();
  });
  // Screen readers click without a pointer.
  root.addEventListener("click", (event) => {
    const at = wordAt(event.target);
    if (at && event.detail === 0) on.toggle(at.sentence, at.word);
  });
}

function wordAt(element) {
  const cell = element?.closest?.(".word[data-word]");
  const sentence = cell?.closest(".sentence[data-place]");
  if (!sentence) return null;
  return { sentence: Number(sentence.dataset.place), word: Number(cell.dataset.word) };
}
