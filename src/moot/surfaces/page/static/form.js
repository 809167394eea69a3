// A form as JSON: each element with data-name is a field, data-kind says how it is read.
const inside = (root) => [...root.querySelectorAll("[data-name]")].filter(
  (each) => each.parentElement.closest("[data-name], .entry, form") === root);
const control = (field) => field.matches("input, textarea, select") ? field : field.querySelector("input, textarea, select");
const isEmpty = (value) => value === undefined || (typeof value === "object" && !Object.keys(value).length);

function isUnchanged(each) {
  if (each.type === "checkbox") return each.checked === each.defaultChecked;
  if (each.tagName === "SELECT") return each.value === ([...each.options].find((o) => o.defaultSelected) ?? each.options[0]).value;
  return each.value === each.defaultValue;
}

const READ = {
  line: (field) => control(field).value.trim() || undefined,
  text: (field) => control(field).value.trim() || undefined,
  choice: (field) => control(field).value || undefined,
  number: (field) => control(field).value === "" ? undefined : Number(control(field).value),
  flag: (field) => control(field).checked,
  radio: (field) => field.querySelector(":checked")?.value,
  lines: (field) => { const said = control(field).value.split("\n").map((l) => l.trim()).filter(Boolean); return said.length ? said : undefined; },
  models: (field) => { const said = control(field).value.split(",").map((m) => m.trim()).filter(Boolean); return said.length ? said : undefined; },
  answers: (field) => [...field.querySelectorAll("input")].map((each) => each.value),
  data: (field) => {
    const said = control(field).value.trim();
    try { return said ? JSON.parse(said) : undefined; } catch { throw new Error(`${field.dataset.name}: this is not JSON.`); }
  },
  object: (field) => readFields(field),
  group: (field) => { const said = entries(field).map(readFields).filter((each) => !isEmpty(each)); return said.length ? said : undefined; },
  files: (field) => {
    const said = {};
    for (const entry of entries(field)) {
      const path = entry.querySelector("input").value.trim(), text = entry.querySelector("textarea").value;
      if (!path && text) throw new Error(`${field.dataset.name}: a file needs a path.`);
      if (path) said[path] = text;
    }
    if ("required" in field.dataset && isEmpty(said)) throw new Error(`${field.dataset.name}: give at least one file.`);
    return said;
  },
};
const entries = (field) => [...field.querySelectorAll(":scope > .entry")];

function readFields(root) {
  const said = {};
  for (const field of inside(root)) {
    const only = field.closest("[data-changed]") && !["object", "group"].includes(field.dataset.kind);
    if (only && isUnchanged(control(field))) continue;
    const value = READ[field.dataset.kind](field);
    if (!isEmpty(value) || "always" in field.dataset) said[field.dataset.name] = value;
  }
  return said;
}

export const readForm = (form) => readFields(form);

function addEntry(field) {
  const template = field.querySelector(":scope > template");
  const made = template.content.firstElementChild.cloneNode(true);
  template.before(made);
  return made;
}

async function chooseFiles(input) {
  const field = input.closest('[data-kind="files"]');
  for (const file of input.files) {
    const free = entries(field).find((each) => !each.querySelector("input").value && !each.querySelector("textarea").value);
    const entry = free ?? addEntry(field);
    entry.querySelector("input").value = file.name;
    entry.querySelector("textarea").value = await file.text();
  }
  input.value = "";
}

export function prepareForm(form) {
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && "add" in button.dataset) addEntry(button.closest("[data-name]")).querySelector("input, textarea").focus();
    if (button && "remove" in button.dataset) button.closest(".entry").remove();
  });
  form.addEventListener("change", (event) => { if (event.target.type === "file") chooseFiles(event.target); });
}
