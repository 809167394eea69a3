// A session or the list of them, as it changes. The browser comes back by itself with the last event it heard.
const LATER = 800;
const element = (html) => { const held = document.createElement("template"); held.innerHTML = html.trim(); return held.content; };

function follow(url, { hear, say, probe, isOver }) {
  let last = "";
  const open = () => {
    const to = new URL(url, location);
    if (last) to.searchParams.set("after", last);
    const source = new EventSource(to);
    for (const kind of ["message", "entry"])
      source.addEventListener(kind, (event) => { last = event.lastEventId; hear(JSON.parse(event.data)); });
    source.onopen = () => say("");
    source.onerror = async () => {
      if (isOver()) return say(""); // its stream ends; the browser asks once more, and is told so
      say("The connection was lost. Trying again…");
      if (source.readyState !== EventSource.CLOSED) return;
      const answer = await fetch(probe, { headers: { Accept: "application/json" } }).catch(() => null);
      if (answer?.status === 401) return say("You are signed out. Reload the page to sign in.");
      if (answer?.status === 404) return say("This session was deleted.");
      setTimeout(open, LATER * 2);
    };
  };
  open();
}

export function followList(list, prepare) {
  const hear = ({ html }) => {
    const focused = document.activeElement?.closest("#sessions a")?.getAttribute("href");
    // moot: ignore[javascript-html] our own server rendered it with autoescape; the CSP allows no other origin
    list.innerHTML = html;
    prepare(list);
    list.querySelector(`a[href="${focused}"]`)?.focus();
  };
  follow(list.dataset.events, { hear, say: () => {}, probe: "/", isOver: () => false });
}

export function followSession(turns, prepare) {
  const news = document.querySelector("#news"), connection = document.querySelector("#connection"), waiting = [];
  let timer = 0, phase = [...turns.querySelectorAll(".phase")].pop()?.dataset.key;

  async function refresh() {
    timer = 0;
    const answer = await fetch(turns.dataset.parts).catch(() => null);
    if (!answer?.ok) return;
    const made = element(await answer.text());
    prepare(made);
    for (const part of [...made.children]) {
      const old = document.getElementById(part.id), left = old.scrollLeft;
      // Whoever writes a reason is not interrupted: the same gate stays as it is.
      const gate = '[name="gate"]', typing = old.contains(document.activeElement) && document.activeElement.matches("input, textarea");
      if (typing && old.querySelector(gate)?.value === part.querySelector(gate)?.value) continue;
      const opened = [...old.querySelectorAll("details[open][id]")].map((each) => each.id);
      old.replaceWith(part);
      part.scrollLeft = left;
      opened.forEach((id) => part.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", ""));
    }
  }
  const refreshSoon = () => { timer ||= setTimeout(refresh, LATER); };

  // The lanes have every turn up to the newest that was known when they were drawn.
  function addDot({ entry, cell, dot }) {
    const lanes = document.querySelector("#lanes"), place = lanes.querySelector(`[data-cell="${CSS.escape(cell)}"]`);
    if (entry <= lanes.dataset.last) return;
    lanes.dataset.last = entry;
    if (place) place.append(element(dot)); else refreshSoon();
  }

  function show() {
    const made = document.createDocumentFragment();
    let turn;
    for (const said of waiting.splice(0)) {
      if (said.forgotten) for (const each of document.querySelectorAll("[data-seq]")) if (each.dataset.seq >= said.forgotten) each.classList.add("forgotten");
      const part = said.html && element(said.html).firstElementChild;
      if (!part || document.getElementById(part.id)?.dataset.entry === part.dataset.entry) continue;
      if (said.key) {
        if (said.key !== phase) made.append(element(said.heading));
        phase = said.key;
        addDot(said);
        turn = part;
      }
      made.append(part);
    }
    const aim = location.hash.length > 1 ? made.getElementById(location.hash.slice(1)) : null;
    turns.append(made);
    aim?.scrollIntoView();
    if (turn) news.textContent = `A turn of ${turn.querySelector("h4").textContent}`;
  }

  const hear = (said) => {
    if (!waiting.length) requestAnimationFrame(show);
    waiting.push(said);
    if (said.refresh) refreshSoon();
  };
  follow(`${turns.dataset.events}?after=${turns.dataset.after}`, {
    hear, say: (said) => { connection.textContent = said; }, probe: turns.dataset.parts,
    isOver: () => document.querySelector("#head [data-over]") !== null,
  });
}
