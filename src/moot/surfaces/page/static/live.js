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
      if (source.readyState === EventSource.CLOSED) {
        if (isOver()) return say("");
        const answer = await fetch(probe, { headers: { Accept: "application/json" } }).catch(() => null);
        if (answer?.status === 401) return say("You are signed out. Reload the page to sign in.");
        if (answer?.status === 404) return say("This session was deleted.");
        setTimeout(open, LATER * 2);
      }
      say("The connection was lost. Trying again…");
    };
  };
  open();
}

export function followList(list, prepare) {
  const hear = ({ html }) => {
    const focused = document.activeElement?.closest("#sessions a")?.href;
    list.innerHTML = html;
    prepare(list);
    if (focused) [...list.querySelectorAll("a")].find((each) => each.href === focused)?.focus();
  };
  follow(list.dataset.events, { hear, say: () => {}, probe: "/", isOver: () => false });
}

export function followSession(turns, prepare) {
  const news = document.querySelector("#news"), connection = document.querySelector("#connection");
  const lanes = document.querySelector("#lanes"), waiting = [];
  let timer = 0, phase = [...turns.querySelectorAll(".phase")].pop()?.dataset.key ?? "";

  async function refresh() {
    timer = 0;
    const answer = await fetch(turns.dataset.parts).catch(() => null);
    if (!answer?.ok) return;
    const made = element(await answer.text());
    prepare(made);
    for (const part of [...made.children]) {
      const old = document.getElementById(part.id);
      // Whoever writes a reason is not interrupted: the same gate stays as it is.
      const gate = '[data-name="gate"]', typing = old.contains(document.activeElement) && document.activeElement.matches("input, textarea");
      if (typing && old.querySelector(gate)?.value === part.querySelector(gate)?.value) continue;
      const opened = [...old.querySelectorAll("details[open][id]")].map((each) => each.id);
      old.replaceWith(part);
      opened.forEach((id) => part.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", ""));
    }
  }

  function addDot(turn) {
    const { seat, phase, round } = turn.dataset, key = `${round} ${phase}`;
    let column = [...lanes.tHead.rows[0].cells].findIndex((each) => each.dataset.key === key);
    if (column < 0) {
      const head = document.createElement("th"), number = document.createElement("span");
      Object.assign(head, { scope: "col", textContent: `${phase} ` });
      head.dataset.key = key;
      Object.assign(number, { className: "faint", textContent: round });
      head.append(number);
      lanes.tHead.rows[0].append(head);
      for (const row of lanes.tBodies[0].rows) row.append(document.createElement("td"));
      column = lanes.tHead.rows[0].cells.length - 1;
    }
    let row = [...lanes.tBodies[0].rows].find((each) => each.dataset.seat === seat);
    if (!row) {
      row = lanes.tBodies[0].insertRow();
      row.dataset.seat = seat;
      row.append(Object.assign(document.createElement("th"), { scope: "row", textContent: seat }));
      while (row.cells.length <= column) row.append(document.createElement("td"));
    }
    const failed = turn.classList.contains("failed");
    const dot = Object.assign(document.createElement("a"), { href: `#${turn.id}`, className: failed ? "dot failed" : "dot" });
    dot.setAttribute("aria-label", `${seat}, ${phase}, round ${round}${failed ? ", no reply" : ""}`);
    row.cells[column].append(dot);
  }

  function show() {
    const made = document.createDocumentFragment();
    let turn;
    for (const { html, forgotten } of waiting.splice(0)) {
      if (forgotten) for (const each of document.querySelectorAll("[data-seq]")) each.classList.toggle("forgotten", Number(each.dataset.seq) >= forgotten || each.classList.contains("forgotten"));
      const part = html && element(html).firstElementChild;
      if (!part || document.getElementById(part.id)?.dataset.entry === part.dataset.entry) continue;
      if (part.matches(".turn")) {
        const key = `${part.dataset.round} ${part.dataset.phase}`;
        if (key !== phase) {
          phase = key;
          made.append(Object.assign(document.createElement("p"), { className: "phase", textContent: `${part.dataset.phase}, round ${part.dataset.round}` }));
        }
        addDot(part);
        turn = part;
      }
      made.append(part);
    }
    const aim = location.hash.length > 1 ? made.getElementById(location.hash.slice(1)) : null;
    turns.append(made);
    aim?.scrollIntoView();
    if (turn) news.textContent = `${turn.dataset.seat} took a turn: ${turn.dataset.phase}, round ${turn.dataset.round}`;
  }

  const hear = (said) => {
    if (!waiting.length) requestAnimationFrame(show);
    waiting.push(said);
    if (said.refresh) timer ||= setTimeout(refresh, LATER);
  };
  follow(`${turns.dataset.events}?after=${turns.dataset.after}`, {
    hear, say: (said) => { connection.textContent = said; }, probe: turns.dataset.parts,
    isOver: () => document.querySelector("#head [data-over]") !== null,
  });
}
