// Who is annotating: a name, kept for this tab, so that two tabs can be two people.

import { call } from "./common.js";
import { button, make, the } from "./annotate_dom.js";

const KEPT_UNDER = "discotag-annotator";

/** Return the name that this tab works under, or null. */
export function keptName() {
  return sessionStorage.getItem(KEPT_UNDER);
}

/** Forget the name of this tab. */
export function forgetName() {
  sessionStorage.removeItem(KEPT_UNDER);
}

/** Ask for a name until the server accepts one, and return it. */
export function askForName(project) {
  const form = the("entry");
  const field = the("name");
  the("known").replaceChildren(
    ...(project.annotators.length ? [make("span", { class: "soft" }, "Or continue as")] : []),
    ...project.annotators.map(({ name }) =>
      button(name, () => {
        field.value = name;
        form.requestSubmit();
      }),
    ),
  );
  the("welcome").hidden = false;
  field.value = "";
  field.focus();
  return new Promise((resolve) => {
    async function enter(event) {
      event.preventDefault();
      the("entry-problem").textContent = "";
      try {
        const { name } = await call("/api/annotators", { body: { name: field.value.trim() } });
        sessionStorage.setItem(KEPT_UNDER, name);
        form.removeEventListener("submit", enter);
        the("welcome").hidden = true;
        resolve(name);
      } catch (error) {
        the("entry-problem").textContent = error.message;
      }
    }
    form.addEventListener("submit", enter);
  });
}
