// What others did to the document that is open, as messages.

import { listed } from "./annotate_dom.js";
import { notify } from "./annotate_notices.js";

/**
 * Tell what is new about others on a document; return whether anything is.
 *
 * @param {Object} before the state that the page has
 * @param {{holders: string[], versions: string[], finished_by: string[],
 *   disagreement: boolean}} now what the server says
 * @param {function} compare shows the versions
 */
export function announce(before, now, compare) {
  const fresh = (field) =>
    now[field].filter((name) => !before[field].includes(name) && name !== before.annotator);
  const came = fresh("holders");
  const wrote = fresh("versions");
  const finished = fresh("finished_by");
  const left = before.holders.filter((name) => !now.holders.includes(name));
  if (came.length)
    notify(
      `${listed(came)} opened ${before.name} too. Each of you has a version of your own; ` +
        "nothing is overwritten.",
      { key: "came" },
    );
  if (left.length) notify(`${listed(left)} left ${before.name}.`, { key: "left" });
  if (finished.length)
    notify(`${listed(finished)} finished ${before.name}.`, { key: "wrote", stays: true });
  else if (wrote.length)
    notify(`${listed(wrote)} made a version of ${before.name}.`, { key: "wrote" });
  if (now.disagreement && !before.disagreement)
    notify(`${before.name}: the finished versions differ.`, {
      key: "differ",
      stays: true,
      action: ["Compare", compare],
    });
  return came.length + left.length + wrote.length + finished.length > 0;
}
