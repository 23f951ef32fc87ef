// The page to try a model: the text, the settings, and what was found.

import { call, copyText, isTyping, takeToken } from "./common.js";
import { Asker } from "./try_asking.js";
import { EXAMPLES } from "./try_examples.js";
import { asJson, download, isKept } from "./try_exports.js";
import { Drawer, drawTable, explainReadings, explainTags } from "./try_results.js";

const TEXT_KEY = "discotag-text";
// How many readings of a sentence are shown: more are hardly ever worth reading.
const READINGS = 5;

const at = (id) => document.getElementById(id);
const text = at("text");
const least = at("least");
const asker = new Asker("/api/predict", { waiting, answered, failed });
const drawer = new Drawer();
let models = [];
let shown = null; // {answer, mentions} of the latest answer
let pointed = null; // the mention that is pointed out

function wanted() {
  const request = { text: text.value, tags: true, draw: true };
  if (at("model").value) request.model = at("model").value;
  if (at("alternatives").checked) request.alternatives = READINGS;
  return request;
}

function textChanged({ now = false } = {}) {
  try {
    sessionStorage.setItem(TEXT_KEY, text.value);
  } catch {
    // The text is longer than a browser keeps: it is lost on reload, not here.
  }
  const length = Array.from(text.value).length;
  at("length").textContent = `${length.toLocaleString("en")} ${length === 1 ? "character" : "characters"}`;
  at("clear").disabled = length === 0;
  markExample();
  if (text.value.trim() === "") {
    asker.drop();
    solved();
    show(null);
  } else if (now) asker.ask(wanted());
  else asker.want(wanted());
}

function waiting() {
  document.body.classList.add("waiting");
  at("shown").setAttribute("aria-busy", "true");
}

function settled() {
  document.body.classList.remove("waiting");
  at("shown").removeAttribute("aria-busy");
}

function answered(answer, request) {
  if (answer.documents[0].text !== request.text) throw new Error("an answer to another text");
  show(answer);
  solved();
}

function failed({ text: message, button = "", action = null }) {
  at("message-text").textContent = message;
  at("message-button").textContent = button;
  at("message-button").hidden = !button;
  at("message-button").onclick = action;
  at("message").hidden = false;
}

function solved() {
  settled();
  at("message").hidden = true;
}

function show(answer) {
  const focused = shown?.mentions.find((mention) => mention.line.contains(document.activeElement));
  point(null);
  const drawn = answer ? drawer.draw(answer, settings()) : { sentences: [], mentions: [] };
  shown = answer && { answer, ...drawn };
  replace(at("drawing"), drawn.sentences);
  at("drawing").classList.toggle("one-label", answer?.labels.length === 1);
  at("table").replaceChildren(...(drawn.mentions.length ? [drawTable(drawn.mentions)] : []));
  at("shown").hidden = !answer;
  at("exports").hidden = !answer;
  at("done").textContent = "";
  for (const mention of drawn.mentions) {
    const { line } = mention;
    line.addEventListener("mouseenter", () => pointed || light(mention, true));
    line.addEventListener("mouseleave", () => pointed || light(mention, false));
    line.querySelector("button").addEventListener("click", () =>
      point(pointed === mention ? null : mention),
    );
  }
  if (focused) drawn.mentions[focused.number - 1]?.line.querySelector("button").focus();
  filter();
}

/** Make elements the children of another one; those that stay are not touched. */
function replace(parent, elements) {
  const staying = new Set(elements);
  for (const child of [...parent.children]) if (!staying.has(child)) child.remove();
  elements.forEach((each, place) => {
    if (parent.children[place] !== each) parent.insertBefore(each, parent.children[place] ?? null);
  });
}

/** Hide mentions below the score of the slider, without asking the server. */
function filter() {
  at("least-shown").textContent = `${least.value}%`;
  const mentions = shown?.mentions ?? [];
  let kept = 0;
  for (const mention of mentions) {
    const low = !isKept(mention.given, least.value / 100);
    for (const bar of mention.drawn) bar.classList.toggle("low", low);
    mention.line.hidden = low;
    mention.low = low;
    kept += !low;
  }
  if (pointed?.low) point(null);
  at("table").hidden = kept === 0;
  const all = counted(mentions.length);
  at("count").textContent = !shown ? "" : kept === mentions.length ? all : `${kept} of ${all}`;
  const nothing = at("nothing");
  nothing.hidden = kept > 0;
  if (!shown) nothing.textContent = "The mentions of a text appear here as you type.";
  else if (mentions.length) nothing.textContent = "Every mention has a lower score. Move the slider to the left.";
  else nothing.textContent = `No mentions were found. ${aboutModel()}`;
  at("exports-note").textContent =
    `Files contain ${kept === 1 ? "the mention" : `the ${counted(kept)}`} shown here.`;
}

function counted(number) {
  return `${number} ${number === 1 ? "mention" : "mentions"}`;
}

function aboutModel() {
  const model = models.find((each) => each.name === shown.answer.model);
  return model ? `This model looks for ${model.labels.join(", ")}.` : "";
}

function light(mention, on) {
  at("drawing").classList.toggle("pointing", on);
  for (const bar of mention.drawn) bar.classList.toggle("pointed", on);
  mention.line.classList.toggle("pointed", on);
}

/** Point out a mention in the drawing; null points out none. */
function point(mention) {
  for (const each of shown?.mentions ?? []) light(each, false);
  pointed?.line.querySelector("button").setAttribute("aria-pressed", "false");
  pointed = mention;
  if (!mention) return;
  light(mention, true);
  mention.line.querySelector("button").setAttribute("aria-pressed", "true");
  mention.words.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const kept = (shown?.mentions ?? []).filter((mention) => !mention.low);
  if (!kept.length) return;
  const now = kept.indexOf(pointed);
  const next = now < 0 ? (by > 0 ? 0 : kept.length - 1) : (now + by + kept.length) % kept.length;
  point(kept[next]);
  kept[next].line.querySelector("button").focus({ preventScroll: true });
}

function explain() {
  const { tags, alternatives } = settings();
  const model = models.find((each) => each.name === shown?.answer.model) ?? models[0];
  at("about-tags").hidden = !tags;
  at("about-tags").replaceChildren(...explainTags(model ?? {}));
  at("about-readings").hidden = !alternatives;
  at("about-readings").replaceChildren(...explainReadings());
  at("legend").hidden = !(tags || alternatives);
}

function settings() {
  const [tags, alternatives] = [at("tags").checked, at("alternatives").checked];
  return { least: least.value / 100, tags, alternatives };
}

async function copy() {
  if (!shown) return;
  try {
    await copyText(asJson(shown.answer, settings()));
    at("done").textContent = "Copied.";
  } catch (error) {
    at("done").textContent = `The text could not be copied: ${error.message}`;
  }
}

async function save(format) {
  if (!shown) return;
  at("done").textContent = "";
  try {
    at("done").textContent = `Saved as ${await download(format, shown.answer, settings())}.`;
  } catch (error) {
    at("done").textContent = `The file could not be made: ${error.message}`;
  }
}

function choose(example) {
  text.value = example.text;
  textChanged({ now: true });
}

function markExample() {
  for (const button of at("examples").children)
    button.setAttribute("aria-pressed", String(EXAMPLES[button.dataset.place].text === text.value));
}

const SHORTCUTS = {
  "/": () => text.focus(),
  j: () => step(1),
  k: () => step(-1),
  a: () => at("alternatives").click(),
  t: () => at("tags").click(),
  c: copy,
  d: () => save("json"),
  "?": () => at("shortcuts").showModal(),
};

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    if (event.target === text) at("found").focus();
    else point(null);
  } else if (!isTyping(event) && Object.hasOwn(SHORTCUTS, event.key)) {
    event.preventDefault();
    SHORTCUTS[event.key]();
  }
}

async function listModels() {
  try {
    ({ models } = await call("/api/models"));
  } catch {
    return; // The call for mentions reports what is wrong; the default model answers it.
  }
  const options = models.map(({ name }) => new Option(name, name));
  at("model").replaceChildren(...options);
  at("model").hidden = models.length < 2;
  at("only-model").hidden = models.length > 1;
  at("only-model").textContent = models[0]?.name ?? "none";
  explain();
  filter();
}

function start() {
  takeToken();
  EXAMPLES.forEach((example, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = example.name;
    button.dataset.place = place;
    button.addEventListener("click", () => choose(example));
    at("examples").append(button);
  });
  text.addEventListener("input", () => textChanged());
  // The text of an example is there to be replaced.
  text.addEventListener("focus", () => {
    if (EXAMPLES.some((example) => example.text === text.value)) text.select();
  });
  at("clear").addEventListener("click", () => {
    text.value = "";
    textChanged();
    text.focus();
  });
  least.addEventListener("input", filter);
  at("tags").addEventListener("change", () => {
    explain();
    show(shown?.answer ?? null);
  });
  at("alternatives").addEventListener("change", () => {
    explain();
    textChanged({ now: true });
  });
  at("model").addEventListener("change", () => textChanged({ now: true }));
  at("copy").addEventListener("click", copy);
  for (const button of at("exports").querySelectorAll("[data-format]"))
    button.addEventListener("click", () => save(button.dataset.format));
  at("help").addEventListener("click", () => at("shortcuts").showModal());
  document.addEventListener("keydown", pressed);
  show(null);
  text.value = sessionStorage.getItem(TEXT_KEY) ?? EXAMPLES[0].text;
  textChanged({ now: true });
  listModels();
}

start();
