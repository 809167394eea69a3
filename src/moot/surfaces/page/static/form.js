// A form as JSON: the name of a control is its path, data-as says how it is read. In a list it belongs to the last entry.
const split = (by) => (said) => said.split(by).map((each) => each.trim()).filter(Boolean);
const READ = {
  text: (said) => said.trim(), file: (said) => said, item: (said) => said, entry: () => ({}), object: () => ({}),
  number: Number, lines: split("\n"), models: split(","), data: JSON.parse,
};

function isChanged(each) {
  if (each.type === "checkbox") return each.checked !== each.defaultChecked;
  return each.options ? [...each.options].some((one) => one.selected !== one.defaultSelected) : each.value !== each.defaultValue;
}

function put(said, each, value) {
  const path = each.name.split("."), last = path.pop(), { as, key } = each.dataset;
  let at = said;
  for (const part of path) {
    at = at[part] ??= {};
    if (Array.isArray(at)) at = at.at(-1);
  }
  if (as === "entry" || as === "item") (at[last] ??= []).push(value);
  else if (as === "file") (at[last] ??= {})[pathOf(each).value.trim()] = value;
  else if (key) (at[last] ??= {})[key] = value;
  else at[last] = value;
}

const pathOf = (text) => text.closest(".entry").querySelector("input");
const ALWAYS = ["entry", "object", "item"];

export function readForm(form) {
  const said = {};
  for (const each of form.elements) {
    const { as = "text" } = each.dataset, word = each.name?.split(".").pop();
    if (!word || (each.type === "radio" && !each.checked) || (each.closest("[data-changed]") && !isChanged(each))) continue;
    if (each.type === "checkbox") put(said, each, each.checked);
    else if (as === "file" && !pathOf(each).value.trim()) {
      if (each.value) throw new Error(`${word}: a file needs a path.`);
    } else if (each.value.trim() || as === "file" || ALWAYS.includes(as)) {
      try { put(said, each, READ[as](each.value)); } catch { throw new Error(`${word}: this is not JSON.`); }
    }
  }
  return said;
}

function addEntry(list) {
  const template = list.querySelector(":scope > template"), made = template.content.firstElementChild.cloneNode(true);
  template.before(made);
  return made;
}

async function chooseFiles(input) {
  const list = input.closest(".list");
  for (const file of input.files) {
    const free = [...list.querySelectorAll(".entry")].find((each) => ![...each.querySelectorAll("input, textarea")].some((one) => one.value));
    const entry = free ?? addEntry(list);
    entry.querySelector("input").value = file.name;
    entry.querySelector("textarea").value = await file.text();
  }
  input.value = "";
}

export function prepareForm(form) {
  form.addEventListener("click", ({ target }) => {
    if ("add" in target.dataset) addEntry(target.closest(".list")).querySelector("input:not([type=hidden]), textarea").focus();
    if ("remove" in target.dataset) target.closest(".entry").remove();
  });
  form.addEventListener("change", ({ target }) => { if (target.type === "file") chooseFiles(target); });
}
