// The page to try a model: the text, the settings, and what was found.

import { call, copyText, isTyping, takeToken } from "./common.js";
import { Asker } from "./try_asking.js";
import { EXAMPLES } from "./try_examples.js";
import { asJson, download } from "./try_exports.js";
import { explainReadings, explainTags } from "./try_results.js";
import { View } from "./try_view.js";

const TEXT_KEY = "discotag-text";
const KEYS_KEY = "discotag-single-keys";
// How many readings of a sentence are shown: more are hardly ever worth reading.
const READINGS = 5;

// What abbreviations of labels stand for; other labels are shown as they are.
const LABELS = { ADR: "adverse drug reactions (ADR)" };

const at = (id) => document.getElementById(id);
const text = at("text");
const least = at("least");
const asker = new Asker("/api/predict", { waiting, answered, failed });
const view = new View();
let models = [];

function wanted() {
  // Half of a character, which JavaScript can hold and JSON cannot, is sent as a question mark.
  const sent = text.value.toWellFormed?.() ?? text.value;
  const request = { text: sent, tags: true, draw: true };
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
  const unit = length === 1 ? "character" : "characters";
  at("length").textContent = `${length.toLocaleString("en")} ${unit}`;
  at("clear").disabled = length === 0;
  markExample();
  if (text.value.trim() === "") {
    asker.drop();
    solved();
    view.show(null, settings());
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
  view.show(answer, settings());
  solved();
  if (!models.length) listModels(); // the server was not there when the page was opened
}

function failed({ text: message, button = "", action = null }) {
  at("shown").removeAttribute("aria-busy");
  // Screen readers read a message again whenever it is written.
  if (!at("message").hidden && at("message-text").textContent === message) return;
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

function filter() {
  at("least-shown").textContent = `${least.value}%`;
  view.filter(settings());
}

function usedModel() {
  return models.find((each) => each.name === at("model").value) ?? models[0];
}

function modelFinds() {
  return (usedModel()?.labels ?? []).map((label) => LABELS[label] ?? label).join(", ");
}

function explain() {
  const { tags, alternatives } = settings();
  at("finds").textContent = models.length ? `finds ${modelFinds()}` : "";
  at("about-tags").hidden = !tags;
  at("about-tags").replaceChildren(...explainTags(usedModel() ?? {}));
  at("about-readings").hidden = !alternatives;
  at("about-readings").replaceChildren(...explainReadings());
  at("legend").hidden = !(tags || alternatives);
}

function settings() {
  const [tags, alternatives] = [at("tags").checked, at("alternatives").checked];
  return { least: least.value / 100, tags, alternatives, finds: modelFinds() };
}

async function copy() {
  if (!view.answer) return;
  try {
    await copyText(await asJson(view.answer, settings()));
    at("done").textContent = "Copied.";
  } catch (error) {
    at("done").textContent = `The text could not be copied: ${error.message}`;
  }
}

async function save(format) {
  if (!view.answer) return;
  at("done").textContent = "";
  try {
    at("done").textContent = `Saved as ${await download(format, view.answer, settings())}.`;
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
  j: () => view.step(1),
  k: () => view.step(-1),
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
    else view.point(null);
  } else if (
    at("single-keys").checked &&
    !isTyping(event) &&
    Object.hasOwn(SHORTCUTS, event.key)
  ) {
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
  // The text of an example is there to be replaced: the first click or Tab selects all of it.
  let fresh = false;
  const selectExample = () => {
    if (EXAMPLES.some((example) => example.text === text.value)) text.select();
  };
  text.addEventListener("focus", () => {
    fresh = true;
    selectExample();
  });
  text.addEventListener("click", () => {
    if (fresh && text.selectionStart === text.selectionEnd) selectExample();
    fresh = false;
  });
  at("clear").addEventListener("click", () => {
    text.value = "";
    textChanged();
    text.focus();
  });
  least.addEventListener("input", filter);
  at("tags").addEventListener("change", () => {
    explain();
    view.show(view.answer, settings());
  });
  at("alternatives").addEventListener("change", () => {
    explain();
    textChanged({ now: true });
  });
  at("model").addEventListener("change", () => {
    explain();
    textChanged({ now: true });
  });
  at("copy").addEventListener("click", copy);
  for (const button of at("exports").querySelectorAll("[data-format]"))
    button.addEventListener("click", () => save(button.dataset.format));
  at("help").addEventListener("click", () => at("shortcuts").showModal());
  at("single-keys").checked = sessionStorage.getItem(KEYS_KEY) !== "off";
  at("single-keys").addEventListener("change", ({ target }) =>
    sessionStorage.setItem(KEYS_KEY, target.checked ? "on" : "off"),
  );
  document.addEventListener("keydown", pressed);
  view.show(null, settings());
  // A text that is there already was typed while this script was loaded.
  text.value ||= sessionStorage.getItem(TEXT_KEY) ?? EXAMPLES[0].text;
  textChanged({ now: true });
  listModels();
}

start();
