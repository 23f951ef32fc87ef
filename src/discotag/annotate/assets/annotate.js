// The annotator's page: who is here, which view is shown, and what is asked of the server again.

import { CallError, call, sleep, takeToken } from "./common.js";
import { commandsFor } from "./annotate_commands.js";
import { DocumentView } from "./annotate_document.js";
import { make, sentence, the } from "./annotate_dom.js";
import { askForName, forgetName, keptName } from "./annotate_entry.js";
import { refreshExport, showExport } from "./annotate_export.js";
import { listenToKeys } from "./annotate_keys.js";
import { DocumentList, showTally, trainingResult } from "./annotate_list.js";
import { notify, showKeys } from "./annotate_notices.js";
import { showProgress } from "./annotate_progress.js";
import { Session } from "./annotate_session.js";
import { VersionsView } from "./annotate_versions.js";

const POLL_MS = 5_000;
// While the server is away, it is asked more often, so that work goes on when it is back.
const AWAY_POLL_MS = 1_000;
// Figures that are being computed are asked for again after this time.
const COMPUTING_MS = 1_000;
const VIEWS = ["work", "versions", "progress", "export"];

let project = null;
let watching = 0;

const view = new DocumentView(the("work"));
const session = new Session({
  blank: () => view.blank(),
  show: (state) => view.show(state),
  finished: (number) => route().view === "work" && session.number === number && goToNext(number),
  listChanged: refreshAll,
  compare: (number) => go(`${number}/versions`),
  stopped: () => {
    for (const part of document.querySelectorAll("header, .columns")) part.inert = true;
  },
});
const list = new DocumentList((number) => go(String(number)), quietly);
const versions = new VersionsView(the("versions"), {
  back: () => go(String(route().number)),
  notify,
  replaced: () => session.replaced(),
  decided: () => {
    notify("The decision is saved.", { kind: "good", key: "decision" });
    refreshAll();
  },
});
view.commands = commandsFor(view, {
  act: (kind, details, said) => session.act(kind, details, said),
  waiting: () => session.waiting,
  next: () => goToNext(session.number),
  compare: () => go(`${session.number}/versions`),
});

/** Return what the address asks for. */
function route() {
  const hash = location.hash.replace(/^#\/?/, "");
  const [, number, part] = /^(\d+)(\/versions)?$/.exec(hash) ?? [];
  if (number !== undefined) return { view: part ? "versions" : "work", number: Number(number) };
  return { view: VIEWS.includes(hash) ? hash : "work", number: null };
}

function go(hash) {
  if (location.hash === `#${hash}`) return follow();
  location.hash = hash;
}

/** Show what the address asks for. */
async function follow() {
  if (session.stopped) return session.replaced();
  const { view: wanted, number } = route();
  const still = () => route().view === wanted && route().number === number;
  for (const name of VIEWS) the(name).hidden = name !== wanted;
  for (const name of ["work", "progress", "export"]) {
    const here = name === wanted || (name === "work" && wanted === "versions");
    if (here) the(`to-${name}`).setAttribute("aria-current", "page");
    else the(`to-${name}`).removeAttribute("aria-current");
  }
  the("bar").hidden = wanted !== "work" || number === null;
  scrollTo(0, 0);
  closeList();
  try {
    if (wanted === "work" && number === null) return await goToNext(session.number);
    if (number !== null) list.point(number);
    if (wanted === "work" && (await session.open(number)) && still()) opened();
    if (wanted === "versions")
      await session.patiently(
        () => versions.open(number, session.annotator, project),
        still,
      );
    if (wanted === "progress" && !the("progress").children.length)
      the("progress").append(make("p", { class: "soft" }, "Computing the agreement …"));
    if (wanted === "progress") await watchProgress();
    if (wanted === "export") {
      showExport(the("export"), project);
      await session.patiently(() => refreshExport(the("export")), still);
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.code === "other_project") session.replaced();
    else notify(sentence(error.message), { kind: "bad" });
  }
}

/** Show the progress, and again until all figures are computed; the last call counts. */
async function watchProgress() {
  const mine = ++watching;
  const still = () => route().view === "progress" && mine === watching && !session.stopped;
  const show = () => showProgress(the("progress"), project);
  while (still() && (await session.patiently(show, still))) await sleep(COMPUTING_MS);
}

function opened() {
  document.title = `${session.state.name} · discotag`;
  the("to-work").href = `#${session.number}`;
  view.focusStart();
  list.refresh();
}

/** Go to the document that is most useful now. */
async function goToNext(after) {
  const query = new URLSearchParams({ annotator: session.annotator, order: list.order });
  if (after !== null) query.set("after", after);
  const before = location.hash;
  const answer = await session.patiently(
    () => call(`/api/next?${query}`),
    () => location.hash === before,
  );
  if (!answer || location.hash !== before) return;
  if (answer.number !== null && answer.number !== undefined) return go(String(answer.number));
  if (session.state)
    return notify(
      "No open document is left for you. Disagreements may be left to decide: see the list.",
      { kind: "good", stays: true, key: "done" },
    );
  the("work").hidden = false;
  the("bar").hidden = true;
  notify("No open document is left for you. Choose one from the list to look at it again.", {
    kind: "good",
    stays: true,
    key: "done",
  });
}

async function refreshProject() {
  const before = project;
  const now = await call("/api/project");
  if (now.id !== before.id) return session.replaced();
  project = now;
  showTally(project);
  the("project").replaceChildren(make("bdi", {}, project.name));
  if (before.model && project.model && before.model.version !== project.model.version) {
    notify(
      `Model ${project.model.version} is in use now. The proposals of documents that nobody has ` +
        "touched are new.",
      { kind: "good", stays: true, key: "model" },
    );
  }
  const failed = project.training?.state === "failed" && before.training?.state !== "failed";
  if (failed)
    notify(`The training failed: ${sentence(project.training.message)}`, {
      kind: "bad",
      key: "training",
    });
  const result = trainingResult(project);
  if (result && result !== trainingResult(before))
    notify(`The training is done. ${result}`, { kind: "good", stays: true, key: "training" });
  if (route().view === "progress" && JSON.stringify(before) !== JSON.stringify(project))
    quietly(watchProgress);
}

/** Ask again for the project and for the list of documents. */
async function refreshAll() {
  await quietly(refreshProject);
  await list.refresh();
}

/** Do something that may fail because the server is away; it is done again later anyway. */
async function quietly(ask) {
  if (session.stopped) return;
  try {
    await ask();
    session.heard(null);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.code === "other_project") session.replaced();
    else if (error.kind !== "refused") session.heard(error);
  }
}

async function poll() {
  let wake = new AbortController();
  // Somebody who comes back to the window wants to see what happened meanwhile.
  window.addEventListener("focus", () => wake.abort());
  while (!session.stopped) {
    await sleep(session.trouble ? AWAY_POLL_MS : POLL_MS, wake.signal).catch(() => {});
    wake = new AbortController();
    await quietly(() => session.meet());
    await refreshAll();
  }
}

function closeList() {
  document.body.classList.remove("list-open");
  the("show-list").setAttribute("aria-expanded", "false");
}

async function start() {
  takeToken();
  project = await session.patiently(() => call("/api/project"));
  const kept = keptName();
  // The journal may be a new one, which does not know the name yet.
  if (kept) await session.patiently(() => call("/api/annotators", { body: { name: kept } }));
  const annotator = kept ?? (await askForName(project));
  the("who").textContent = annotator;
  the("who").title = "Work under another name";
  the("workplace").hidden = false;
  await session.patiently(refreshProject);
  session.start(annotator, project.id);
  list.enter(annotator);
  window.addEventListener("hashchange", follow);
  follow();
  poll();
}

the("show-list").addEventListener("click", () => {
  const open = document.body.classList.toggle("list-open");
  the("show-list").setAttribute("aria-expanded", String(open));
});
the("show-keys").addEventListener("click", showKeys);
the("who").addEventListener("click", () => {
  if (session.waiting)
    return notify("Some actions are not saved yet: wait until they are.", {
      kind: "bad",
      key: "who",
    });
  session.leave();
  forgetName();
  location.reload();
});
window.addEventListener("pagehide", () => session.leave());
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
const working = () => route().view === "work" && session.state && !session.stopped;
listenToKeys(() => (working() ? view.commands : null), showKeys);
start();
