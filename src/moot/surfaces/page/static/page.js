// The entry: what every page has. Forms and buttons speak to the API of the server; nothing is sent elsewhere.
import { readForm, prepareForm } from "./form.js";
import { followList, followSession } from "./live.js";

const one = (selector, root = document) => root.querySelector(selector);

async function post(url, body) {
  const headers = { "Content-Type": "application/json", "X-Moot-Page": one('meta[name="csrf"]').content };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.ok) return answer;
  const { errors = [], detail, title } = await answer.json().catch(() => ({}));
  throw new Error(errors.map((each) => `${each.at}: ${each.wrong}`).join("; ") || detail || title || `the server said ${answer.status}`);
}

async function goOn(answer, into, then) {
  const made = answer.headers.get("Location");
  if (into) one(`#${into}`).innerHTML = await answer.text();
  else if (made) location.assign(made.replace("/v1/debates/", "/ui/sessions/"));
  else if (then) location.replace(then);
  else if (one("#head [data-over]")) location.reload(); // nothing more is streamed
}

// Every button that changes something is one of a form; where its answer goes is said there.
async function submit(event) {
  const form = event.target.closest("form[data-api]"), button = event.submitter;
  if (!form || button.formMethod === "dialog") return;
  event.preventDefault();
  const { api, into, then, ask, once } = { ...form.dataset, ...button.dataset }, said = one('[role="alert"]', form);
  if (ask && !confirm(ask)) return;
  said.textContent = "";
  button.disabled = true;
  try {
    const body = readForm(form), { needs } = button.dataset;
    if (needs && !body[needs]) throw new Error(`Give a ${needs}.`);
    if (once !== undefined) body.idempotency_key = form.dataset.key ??= crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    await goOn(await post(api, body), into, then);
  } catch (error) {
    said.textContent = error.message;
    delete form.dataset.key;
  }
  button.disabled = false;
}

function click({ target }) {
  const { dialog, fork } = target.closest("button")?.dataset ?? {};
  if (fork && one("#fork")) one('#fork [name="at"]').value = fork;
  if (dialog) one(`#${dialog}`)?.showModal();
}

async function openDetails({ target: details }) {
  if (!details.open || !details.dataset.src) return;
  const answer = await fetch(details.dataset.src).catch(() => null);
  const held = document.createElement("div");
  if (answer?.ok) {
    delete details.dataset.src;
    held.innerHTML = await answer.text();
  } else held.textContent = "It could not be loaded. Close and open it to try again.";
  details.lastElementChild.replaceWith(held);
}

function move(step) {
  const turns = [...document.querySelectorAll(".turn")], at = turns.indexOf(document.activeElement?.closest(".turn"));
  const next = turns[Math.min(Math.max(0, at + step), turns.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "start" });
}

const KEYS = {
  j: () => move(1), k: () => move(-1), G: () => move(Infinity), "?": () => one("#keys")?.showModal(),
  g: () => { one("#head")?.focus(); scrollTo(0, 0); }, "/": () => one("#search")?.focus(),
};

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog[open]")) return;
  if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
}

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    const style = time.closest(".journal") ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
    time.textContent = new Intl.DateTimeFormat(undefined, style).format(new Date(time.dateTime));
  }
}

async function signIn(form) {
  const code = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  if (code) await post("/ui/login", { code }).catch((error) => { one('[role="alert"]', form).textContent = error.message; });
  // Whoever came by a link of another site is signed in, though the browser kept the cookie back for that step.
  const answer = await fetch("/", { headers: { Accept: "application/json" } });
  if (answer.ok) location.replace(form.dataset.then);
}

document.addEventListener("submit", submit);
document.addEventListener("click", click);
document.addEventListener("keydown", key);
document.addEventListener("toggle", openDetails, true);
localTimes(document);
document.querySelectorAll("form[data-api]").forEach(prepareForm);
if (one(".login form")) signIn(one(".login form"));
if (one("#turns[data-events]")) followSession(one("#turns"), localTimes);
if (one("#sessions[data-events]")) followList(one("#sessions"), localTimes);
