// What the pages of the service share: calls of the API, the bearer token, files and the clipboard.

const TOKEN_KEY = "discotag-token";
// Longer than the server's own limits for a body and for an answer, 20 and 60 seconds by default,
// so that its message arrives first.
const ANSWER_LIMIT_MS = 90_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 4_000;

/**
 * A call that failed, as a sentence for people.
 *
 * `kind` is what a page decides by:
 * stopped (no connection), token (401), busy (429, 503, 504: try again; `isLate` tells whether that
 * would take too long again), refused (any other 4xx: the message says what to do; `state` and other
 * fields of the error are in `details`), broken (any other status, or an answer that is not JSON).
 */
export class CallError extends Error {
  constructor(kind, message, { status = 0, code = "", details = {} } = {}) {
    super(message);
    this.name = "CallError";
    Object.assign(this, { kind, status, code, details });
  }

  /** Whether the server did not finish in time, so the same call would only burden it again. */
  get isLate() {
    return this.status === 504 || this.code === "too_late";
  }
}

/** Take the token from the address's fragment, `#token=…`, to this tab's storage. */
export function takeToken() {
  const given = location.hash.match(/^#token=(.+)$/)?.[1];
  if (!given) return;
  let token = given;
  try {
    token = decodeURIComponent(given);
  } catch {
    // A percent sign that encodes nothing: the token is as it is written.
  }
  sessionStorage.setItem(TOKEN_KEY, token);
  history.replaceState(null, "", location.pathname + location.search);
}

/**
 * Call the API and return the parsed JSON answer.
 *
 * On a 401 the page's user is asked for the token, once, and the call is repeated with it.
 *
 * @param {string} path such as "/api/predict"
 * @param {{method?: string, body?: any, signal?: AbortSignal, limit?: number}} options
 *   `body` is sent as JSON; `method` is POST if there is a body, otherwise GET; an aborted `signal`
 *   rejects with an AbortError; `limit` is in milliseconds.
 * @throws {CallError}
 */
export async function call(path, options = {}) {
  const response = await fetched(path, options);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new CallError("broken", "The server's answer is not complete. Please try again.");
  }
}

/** Call the API and return the answer as a Blob; the arguments are those of `call`. */
export async function callForFile(path, options = {}) {
  return (await fetched(path, options)).blob();
}

/** Wait until the server answers again, asking at growing intervals. */
export async function untilBack(signal) {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    await sleep(wait, signal);
    try {
      const response = await fetch("/healthz", { cache: "no-store", signal });
      if (response.ok) return;
    } catch (error) {
      if (signal?.aborted) throw error;
    }
  }
}

/** Wait some milliseconds; rejects at once when the signal is aborted. */
export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    function stop() {
      clearTimeout(timer);
      reject(new DOMException("no longer wanted", "AbortError"));
    }
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

let asking = null;
let declined = false;

/**
 * Ask for the token in a dialog; return whether one was entered.
 *
 * Calls that fail with 401 ask by themselves, until the user closes the dialog; this function asks
 * again. Several calls at a time share one dialog.
 */
export function askForToken() {
  asking ??= dialogForToken().finally(() => {
    asking = null;
  });
  return asking;
}

/** Save a file on the user's machine. `content` is a Blob or a string. */
export function saveFile(name, content, type = "application/octet-stream") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // Browsers read the address after the click; a minute is enough for all of them.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Copy text; also where the page is not in a secure context, such as plain HTTP in a network. */
export async function copyText(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.className = "off-screen";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  if (!copied) throw new Error("The browser does not allow pages to copy. Use a download instead.");
}

/**
 * Return a function that takes the characters from start to end of a text.
 *
 * The service counts characters (code points), JavaScript counts UTF-16 units.
 */
export function charactersOf(text) {
  const characters = Array.from(text);
  return (start, end) => characters.slice(start, end).join("");
}

/** Return whether a key is meant for the field that has the focus, not for the page. */
export function isTyping(event) {
  const at = event.target;
  return (
    at.isContentEditable ||
    at.matches?.("textarea, select, input:not([type=checkbox], [type=radio], [type=range])")
  );
}

async function fetched(path, options) {
  let used = sessionStorage.getItem(TOKEN_KEY);
  let response = await sent(path, options, used);
  while (response.status === 401 && !declined) {
    const newest = sessionStorage.getItem(TOKEN_KEY);
    // Another call may have asked for the token in the meantime.
    if (newest === used && !(await askForToken())) break;
    used = sessionStorage.getItem(TOKEN_KEY);
    response = await sent(path, options, used);
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function sent(path, { method, body, signal, limit = ANSWER_LIMIT_MS }, token) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  // A token with other characters cannot be in a header, and cannot be right.
  if (token && /^[\x21-\x7e]+$/.test(token)) headers.Authorization = `Bearer ${token}`;
  const stopper = new AbortController();
  const stop = () => stopper.abort();
  const timer = setTimeout(stop, limit);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await fetch(path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      signal: stopper.signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    if (stopper.signal.aborted)
      throw new CallError("busy", "The server takes too long to answer.", { code: "too_late" });
    throw new CallError("stopped", "The server does not answer.");
  } finally {
    clearTimeout(timer);
  }
}

async function failure(response) {
  let details = {};
  try {
    details = (await response.json()).error ?? {};
  } catch {
    // Not an error of this service, for example one of a proxy: the status decides.
  }
  const { status } = response;
  const kinds = { 401: "token", 429: "busy", 503: "busy", 504: "busy" };
  const kind = kinds[status] ?? (status >= 400 && status < 500 ? "refused" : "broken");
  const message = details.message ?? `The server answered with status ${status}.`;
  return new CallError(kind, message, { status, code: details.code ?? "", details });
}

function dialogForToken() {
  const wrong = sessionStorage.getItem(TOKEN_KEY) !== null;
  const make = (tag, name, ...inside) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...inside);
    return made;
  };
  const field = make("input");
  field.type = "password";
  field.id = "token";
  field.autocomplete = "off";
  field.required = true;
  const label = make("label", "", "Token");
  label.htmlFor = field.id;
  const name = make("h2", "", "This server needs a token");
  name.id = "token-name";
  const form = make(
    "form",
    "",
    name,
    make(
      "p",
      wrong ? "problem" : "soft",
      wrong
        ? "The server does not accept this token. Ask whoever runs the server for the right one."
        : "Whoever runs the server has it. It is kept until this tab is closed.",
    ),
    label,
    field,
    make("div", "buttons", make("button", "main", "Continue")),
  );
  form.method = "dialog";
  const dialog = make("dialog", "ask", form);
  dialog.setAttribute("aria-labelledby", name.id);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    let entered = "";
    form.addEventListener("submit", () => {
      entered = field.value.trim();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      declined = entered === "";
      if (entered) sessionStorage.setItem(TOKEN_KEY, entered);
      resolve(entered !== "");
    });
  });
}
