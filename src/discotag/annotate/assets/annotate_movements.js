// Moving the cursor over the words by keys, and selecting words with it.

/** Return the commands that move the cursor, and those that select words with it. */
export function movements(view, refuse) {
  function go(sentence, word, extend) {
    const { selection } = view;
    if (extend && view.readonly) return refuse();
    if (extend && sentence !== selection.cursor.sentence) return;
    if (extend) selection.extend(word);
    else selection.move(sentence, word);
    view.chosen = null;
    view.focusCursor();
    view.paint();
  }

  function step(direction, extend) {
    let { sentence, word } = view.selection.cursor;
    if (!view.cells(sentence).length) return;
    word += view.runsLeft(sentence, word) ? -direction : direction;
    const forward = word >= view.cells(sentence).length;
    if (forward || word < 0) {
      sentence += forward ? 1 : -1;
      word = forward ? 0 : view.cells(sentence).length - 1;
    }
    if (view.cells(sentence).length) go(sentence, word, extend);
  }

  /** Go to the nearest word of the line above or below. */
  function line(direction, extend) {
    const { sentence, word } = view.selection.cursor;
    const here = view.cells(sentence)[word]?.getBoundingClientRect();
    if (!here) return;
    let best = null;
    for (const place of extend ? [sentence] : [sentence - 1, sentence, sentence + 1])
      view.cells(place).forEach((cell, at) => {
        const box = cell.getBoundingClientRect();
        const down = (box.top - here.top) * direction;
        const aside = Math.abs(box.left + box.width / 2 - here.left - here.width / 2);
        // Words of one line differ by less than this.
        if (down < 2) return;
        if (!best || down < best.down - 1 || (down < best.down + 1 && aside < best.aside))
          best = { place, at, down, aside };
      });
    if (best) go(best.place, best.at, extend);
  }

  function edge(key, extend) {
    const { sentence } = view.selection.cursor;
    if (view.cells(sentence).length)
      go(sentence, key === "Home" ? 0 : view.cells(sentence).length - 1, extend);
  }

  function toggle() {
    if (view.readonly) return refuse();
    const { selection } = view;
    const { sentence, word } = selection.cursor;
    if (!view.cells(sentence).length) return;
    selection.toggle(sentence, word);
    view.chosen = null;
    view.focusCursor();
    view.paint();
  }

  return { edge, line, step, toggle };
}
