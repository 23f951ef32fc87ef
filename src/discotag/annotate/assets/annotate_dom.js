// Making elements. Text of users enters the page as text nodes only.

/**
 * Make an element.
 *
 * @param {string} tag
 * @param {Object} attributes `class` and others as in HTML; a function under `onclick` and the like
 *   is a listener; true is an empty attribute; false, null and undefined leave it out.
 * @param {...(Node|string|null)} inside null, undefined and false are left out.
 */
export function make(tag, attributes = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value);
  }
  made.append(
    ...inside.flat().filter((each) => each !== null && each !== undefined && each !== false),
  );
  return made;
}

/** Make a button that does not submit forms. */
export function button(text, onclick, attributes = {}) {
  return make("button", { type: "button", onclick, ...attributes }, text);
}

/** Return the element of the page with this id. */
export function the(id) {
  return document.getElementById(id);
}

/** Return a number with its noun, such as "1 document" or "3 documents". */
export function counted(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/** Return names as people list them: "Ann", "Ann and Ben", "Ann, Ben and Cem". */
export function listed(names) {
  return names.length < 2
    ? names.join("")
    : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

/** Return a message of the server as a sentence. */
export function sentence(message) {
  const end = /[.!?…]$/.test(message) ? "" : ".";
  return message.charAt(0).toUpperCase() + message.slice(1) + end;
}
