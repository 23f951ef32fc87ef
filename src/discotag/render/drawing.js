function element(tag, name, ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside);
  return made;
}
function unpacked(sentence) {
  const rows = sentence.mentions || [];
  return {words: sentence.words, glued: new Set(sentence.glued), together: sentence.together,
    mentions: rows.map(row => {
      const [label, score, percent, lane, colour, at, candidate] = row;
      return {row, label, score, percent, lane, colour, at, candidate, drawn: []};
    })};
}
function spelled(sentence, start, end) {
  let text = "";
  for (let word = start; word < end; word++)
    text += sentence.words[word] + (sentence.glued.has(word) ? "" : " ");
  return text.trimEnd();
}
function directionOf(text) {
  const letter = text.match(/\p{L}/u)?.[0];
  if (!letter) return "";
  const backward =
    /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  return backward.test(letter) ? "rtl" : "ltr";
}
function orderUnits(drawn) {
  const units = [...drawn.children], directions = units.map(unit => directionOf(unit.textContent));
  const base = directions.find(direction => direction);
  for (let first = 0; first < units.length; first++) {
    if (!directions[first] || directions[first] === base) continue;
    let last = first;
    for (let at = first + 1; at < units.length && directions[at] !== base; at++)
      if (directions[at]) last = at;
    const against = element("span", "");
    against.dir = directions[first];
    units[first].before(against);
    against.append(...units.slice(first, last + 1));
    first = last;
  }
}
function drawWords(sentence, hits) {
  const bars = sentence.words.map(() => []);
  sentence.mentions.forEach((mention, number) => {
    const [start, end] = [mention.at[0][0], mention.at.at(-1)[1]];
    let at = 0;
    for (let word = start; word < end; word++) {
      if (word >= mention.at[at][1]) at++;
      const [first, last] = mention.at[at], bar = document.createElement("i");
      let kind = word < first ? "gap" : "bar";
      if (word === first) { kind += " first"; bar.dataset.number = number + 1; }
      if (word === last - 1) kind += " last";
      bar.className = kind + " c" + mention.colour + (mention.candidate ? " candidate" : "");
      while (bars[word].length < mention.lane) bars[word].push(document.createElement("i"));
      bars[word][mention.lane] = bar;
      mention.drawn.push(bar);
    }
  });
  const drawn = element("p", "words");
  drawn.dir = "auto";
  const together = new Map(sentence.together);
  let run = null, until = 0;
  sentence.words.forEach((word, place) => {
    const space = place + 1 < sentence.words.length && !sentence.glued.has(place);
    const text = element("b", "");
    if (hits && hits.has(place)) text.append(element("mark", "", word)); else text.append(word);
    if (space) text.append(" ");
    const cell = element("span", space ? "word spaced" : "word", text);
    if (bars[place].length) {
      const below = element("span", "bars", ...Array.from(bars[place], bar => bar ||
        document.createElement("i")));
      below.setAttribute("aria-hidden", "true");
      cell.append(below);
    }
    if (together.has(place)) { run = element("span", "run"); drawn.append(run);
      until = together.get(place); }
    (place < until ? run : drawn).append(cell);
  });
  orderUnits(drawn);
  return drawn;
}
function listMentions(sentence, labels) {
  const list = element("ol", "mentions");
  list.setAttribute("role", "list");
  sentence.mentions.forEach((mention, number) => {
    const item = element("li", "c" + mention.colour + (mention.candidate ? " candidate" : ""),
      element("b", "number", String(number + 1)),
      " ", element("small", "", labels[mention.label]), " ", element("bdi", "",
      mention.at.map(([start, end]) => spelled(sentence, start, end)).join(" … ")));
    if (mention.score !== null) item.append(" ", element("small", "", mention.percent + "%"));
    if (mention.candidate) item.append(" ", element("small", "", "to review"));
    mention.drawn.push(item);
    list.append(item);
  });
  return list;
}
