// A form as JSON: the name of a control is its path, data-as says how it is read. In a list it belongs to the last entry.
const split = (by) => (said) => said.split(by).map((each) => each.trim()).filter(Boolean);
const READ = { number: Number, lines: split("\n"), models: split(","), data: JSON.parse, entry: () => ({}), object: () => ({}), file: String, item: String };
const EVEN_EMPTY = ["entry", "object", "file", "item"];

function isChanged(each) {
  if (each.type === "checkbox") return each.checked !== each.defaultChecked;
  return each.options ? [...each.options].some((one) => one.selected !== one.defaultSelected) : each.value !== each.defaultValue;
}

function put(said, name, key, value, listed) {
  const path = name.split("."), last = path.pop();
  for (const part of path) {
    said = said[part] ??= {};
    if (Array.isArray(said)) said = said.at(-1);
  }
  if (listed) (said[last] ??= []).push(value);
  else if (key) (said[last] ??= {})[key] = value;
  else said[last] = value;
}

export function readForm(form) {
  const said = {};
  let path = "";
  for (const each of form.elements) {
    const { name, type, value, dataset: { as, key } } = each;
    if (!name || (type === "radio" && !each.checked) || (each.closest("[data-changed]") && !isChanged(each))) continue;
    if (type === "checkbox") put(said, name, "", each.checked);
    else if (as === "path") path = value.trim();
    else if (as === "file" && !path) {
      if (value) throw new Error(`${name}: a file needs a path.`);
    } else if (value.trim() || EVEN_EMPTY.includes(as)) {
      try {
        put(said, name, as === "file" ? path : key, (READ[as] ?? ((text) => text.trim()))(value), as === "entry" || as === "item");
      } catch { throw new Error(`${name}: this is not JSON.`); }
    }
  }
  return said;
}

function addEntry(list) {
  const template = list.querySelector(":scope > template");
  template.before(template.content.cloneNode(true));
  return template.previousElementSibling;
}

async function chooseFiles(input) {
  const list = input.closest(".list");
  for (const file of input.files) {
    const free = [...list.querySelectorAll(".entry")].find((each) => !one("input", each).value && !one("textarea", each).value);
    const entry = free ?? addEntry(list);
    one("input", entry).value = file.name;
    one("textarea", entry).value = await file.text();
  }
  input.value = "";
}
const one = (selector, root) => root.querySelector(selector);

export function prepareForm(form) {
  form.addEventListener("click", ({ target }) => {
    if ("add" in target.dataset) one("input:not([type=hidden]), textarea", addEntry(target.closest(".list"))).focus();
    if ("remove" in target.dataset) target.closest(".entry").remove();
  });
  form.addEventListener("change", ({ target }) => { if (target.type === "file") chooseFiles(target); });
}
