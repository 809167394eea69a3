// The entry: what every page has. Forms and buttons speak to the API of the server; nothing is sent elsewhere.
import { readForm, prepareForm } from "./form.js";
import { followList, followSession } from "./live.js";

const one = (selector, root = document) => root.querySelector(selector);
const csrf = one('meta[name="csrf"]')?.content ?? "";

export async function post(url, body) {
  const headers = { "Content-Type": "application/json", "X-Moot-Page": csrf };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body ?? {}) });
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  const slips = (problem.errors ?? []).map((each) => `${each.at}: ${each.wrong}`).join("; ");
  throw new Error(slips || problem.detail || problem.title || `the server said ${answer.status}`);
}

const nextPage = () => {
  const wanted = new URL(new URLSearchParams(location.search).get("next") ?? "/ui", location);
  return wanted.origin === location.origin && /^\/ui(\/|$)/.test(wanted.pathname) ? wanted.pathname : "/ui";
};

function goOn(answer, then) {
  const made = answer.headers.get("Location");
  if (made) location.assign(made.replace("/v1/debates/", "/ui/sessions/"));
  else if (then === "next") location.replace(nextPage());
  else if (then) location.assign(then);
  else if (one("#head [data-over]")) location.reload(); // nothing more is streamed
}

function sayEstimate({ calls, usd }) {
  const bounds = ({ usual, most }, unit) => usual === null ? "unknown" : `about ${unit(usual)}, at most ${most === null ? "unknown" : unit(most)}`;
  return `Calls: ${bounds(calls, String)}. Cost: ${bounds(usd, (each) => `$${each.toFixed(4)}`)}.`;
}

async function submit(event) {
  const form = event.target.closest("form[data-api]");
  if (!form) return;
  event.preventDefault();
  const button = event.submitter ?? one("button", form), said = one('[role="alert"]', form);
  said.textContent = "";
  button.disabled = true;
  try {
    const body = readForm(form);
    if (button.dataset.needs && !body[button.dataset.needs]) throw new Error(`Give a ${button.dataset.needs}.`);
    if (form.hasAttribute("data-once")) body.idempotency_key = form.dataset.key ??= crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    const answer = await post(button.dataset.api ?? form.dataset.api, body);
    if ("estimate" in button.dataset) one(".estimate", form).textContent = sayEstimate(await answer.json());
    else goOn(answer, form.dataset.then);
  } catch (error) {
    said.textContent = error.message;
    delete form.dataset.key;
  } finally {
    button.disabled = false;
  }
}

async function press(button) {
  if (button.dataset.ask && !confirm(button.dataset.ask)) return;
  button.disabled = true;
  try {
    const answer = await post(button.dataset.post);
    if (button.dataset.into) document.getElementById(button.dataset.into).innerHTML = await answer.text();
    else goOn(answer, button.dataset.then);
  } catch (error) {
    one("#news").textContent = error.message;
    alert(error.message);
  } finally {
    button.disabled = false;
  }
}

function click(event) {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.post) press(button);
  else if (button.dataset.dialog) document.getElementById(button.dataset.dialog).showModal();
  else if (button.dataset.fork) {
    const dialog = one("#fork");
    if (!dialog) return;
    one('[data-name="at"]', dialog).value = button.dataset.fork;
    dialog.showModal();
  } else if ("close" in button.dataset) button.closest("dialog").close();
}

async function openDetails(event) {
  const details = event.target;
  if (!details.open || !details.dataset.src) return;
  const url = details.dataset.src, answer = await fetch(url).catch(() => null);
  details.lastElementChild.remove();
  const held = document.createElement("div");
  if (answer?.ok) {
    delete details.dataset.src;
    held.innerHTML = await answer.text();
  } else held.textContent = "It could not be loaded. Close and open it to try again.";
  details.append(held);
}

function move(step) {
  const turns = [...document.querySelectorAll(".turn")], at = turns.indexOf(document.activeElement?.closest(".turn"));
  const next = turns[step === Infinity ? turns.length - 1 : Math.max(0, at + step)];
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

export function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    const style = time.closest(".journal") ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
    time.textContent = new Intl.DateTimeFormat(undefined, style).format(new Date(time.dateTime));
  }
}

async function signIn() {
  const code = location.hash.slice(1), said = one('form [role="alert"]');
  history.replaceState(null, "", location.pathname + location.search);
  try {
    if (code) await post("/ui/login", { code });
  } catch (error) {
    said.textContent = error.message;
  }
  // Whoever came by a link of another site is signed in, though the browser kept the cookie back for that step.
  const answer = await fetch("/", { headers: { Accept: "application/json" } });
  if (answer.ok) location.replace(nextPage());
}

document.addEventListener("submit", submit);
document.addEventListener("click", click);
document.addEventListener("keydown", key);
document.addEventListener("toggle", openDetails, true);
localTimes(document);
document.querySelectorAll("form[data-api]").forEach(prepareForm);
if (document.body.classList.contains("login")) signIn();
if (one("#turns[data-events]")) followSession(one("#turns"), localTimes);
if (one("#sessions[data-events]")) followList(one("#sessions"), localTimes);
