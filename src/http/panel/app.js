// The page: what is chosen, when to ask again, and the door.
import * as api from "./api.js";
import { by, el, note } from "./dom.js";
import { flowView } from "./flow.js";
import { planView } from "./plan.js";
import { usageView } from "./usage.js";
import { load, moment, nameOf, number, t } from "./words.js";

const BUSY_MS = 1000;
const IDLE_MS = 3000;
const SOON_MS = 250;
const AGAIN_MS = 3000;

// For pictures of the page: asked once, without a stream or a timer.
const still = new URLSearchParams(location.search).has("still");
const chosen = { view: "list", id: "", tab: "flow" };
let drawn = {};
let timer = 0;
let asking = false;
let again = false;
let stream = null;
let last = "";

function readLink() {
  const found = /^#session=([\w-]+)(?:&tab=(flow|plan))?$/.exec(location.hash);
  chosen.view = found ? "session" : location.hash === "#usage" ? "usage" : "list";
  chosen.id = found ? found[1] : "";
  chosen.tab = found?.[2] ?? "flow";
  document.documentElement.dataset.view = chosen.view;
  drawn = {};
  refresh();
}

// Draws a part only if its data changed, so that scrolling and selecting are left alone.
function draw(part, data, make) {
  const key = JSON.stringify(data);
  if (drawn[part] === key) return;
  drawn[part] = key;
  const node = by(part);
  const end = node.scrollHeight - node.scrollTop - node.clientHeight < 40;
  const grown = node.scrollHeight > node.clientHeight;
  node.replaceChildren(...make().filter(Boolean));
  if (end && grown) node.scrollTop = node.scrollHeight;
}

function entry(one) {
  const plan = one.plan && `${t(`face-${one.plan.face}`)}${one.plan.total > 0 ? ` · ${number(one.plan.done)}/${number(one.plan.total)}` : ""}`;
  const link = el(
    "a",
    { href: `#session=${one.id}`, cls: "session" },
    el("i", { cls: one.running ? "dot on" : "dot", title: t(one.running ? "running" : "idle") }),
    el(
      "span",
      {},
      el("strong", { text: one.title || one.id.slice(0, 8), dir: "auto" }),
      el("small", { text: plan || moment(one.updated_at), dir: "auto" }),
    ),
  );
  if (one.id === chosen.id) link.setAttribute("aria-current", "true");
  return link;
}

function drawList(sessions) {
  draw("sessions", [sessions, chosen.id], () =>
    sessions.length > 0 ? sessions.map(entry) : [note(t("empty-title"), t("empty-body"))],
  );
}

function head(name, facts, running) {
  by("name").textContent = name;
  by("facts").textContent = facts;
  by("state").hidden = running === undefined;
  by("state").textContent = t(running ? "running" : "idle");
  by("state").classList.toggle("on", running === true);
  by("tabs").hidden = chosen.view !== "session";
  for (const tab of ["flow", "plan"]) by(`tab-${tab}`).setAttribute("aria-selected", String(tab === chosen.tab));
}

function drawSession(detail) {
  const one = detail.session;
  const facts = [one.model, `${t("turn")} ${number(one.turn)}`];
  if (one.queued > 0) facts.push(`${t("queued")} ${number(one.queued)}`);
  head(one.title || one.id, facts.filter(Boolean).join(" · "), one.running);
  if (chosen.tab === "plan") draw("body", ["plan", detail.plan], () => planView(detail));
  else draw("body", ["flow", one.turn, detail.flow], () => flowView(detail));
}

async function show() {
  const { view, id } = chosen;
  const current = () => chosen.view === view && chosen.id === id;
  drawList(await api.sessions());
  if (view === "session") {
    const detail = await api.session(id).catch((error) => {
      if (error.status !== 404) throw error;
      return null;
    });
    if (!current()) return false;
    if (!detail) {
      head(id, "");
      draw("body", "gone", () => [note(t("gone"))]);
      return false;
    }
    drawSession(detail);
    return detail.session.running;
  }
  if (view === "usage") {
    const usage = await api.usage();
    if (!current()) return false;
    head(t("usage"), "");
    draw("body", ["usage", usage], () => usageView(usage));
    return false;
  }
  head("", "");
  draw("body", "choose", () => [note(t("choose"))]);
  return false;
}

async function refresh() {
  clearTimeout(timer);
  if (document.hidden || by("door").open) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  let wait = IDLE_MS;
  try {
    if (await show()) wait = BUSY_MS;
    by("offline").hidden = true;
    listen();
  } catch (error) {
    if (error.status === 401 || error.status === 403) close(error.word);
    else by("offline").hidden = error.status === 429;
    wait = AGAIN_MS;
  }
  asking = false;
  soon(again ? 0 : wait);
  again = false;
}

function soon(wait) {
  clearTimeout(timer);
  if (!still) timer = setTimeout(refresh, wait);
}

// Events tell when to look; polling goes on without them.
async function listen() {
  if (stream || still) return;
  const mine = new AbortController();
  stream = mine;
  let due = 0;
  const tell = (id) => {
    if (id) last = id;
    clearTimeout(due);
    due = setTimeout(refresh, SOON_MS);
  };
  try {
    await api.follow(last, tell, mine.signal);
  } catch {
    // The next refresh tells what is wrong.
  }
  setTimeout(() => {
    if (stream === mine) stream = null;
  }, AGAIN_MS);
}

function close(word) {
  stream?.abort();
  stream = null;
  const tried = api.token() !== "";
  api.forget();
  const why = { no_token_configured: "token-none", too_many_requests: "token-wait" }[word] ?? "token-wrong";
  by("wrong").textContent = t(why);
  by("wrong").hidden = !tried && word !== "no_token_configured";
  if (!by("door").open) by("door").showModal();
  by("token").focus();
}

function enter(event) {
  event.preventDefault();
  if (!by("token").value) return;
  api.keep(by("token").value);
  by("token").value = "";
  by("door").close();
  refresh();
}

async function speak(language) {
  const told = await load(language);
  const options = told.languages.map((tag) => el("option", { value: tag, text: nameOf(tag) }));
  by("language").replaceChildren(...options);
  by("language").value = told.language;
  drawn = {};
}

function go(hash) {
  if (location.hash === hash) readLink();
  else location.hash = hash;
}

async function start() {
  api.fromLink();
  await speak(sessionStorage.getItem("greenlight-language") ?? navigator.language);
  by("form").addEventListener("submit", enter);
  by("door").addEventListener("cancel", (event) => event.preventDefault());
  by("forget").addEventListener("click", () => {
    api.forget();
    by("sessions").replaceChildren();
    by("body").replaceChildren();
    drawn = {};
    close("");
  });
  by("usage").addEventListener("click", () => go("#usage"));
  by("back").addEventListener("click", () => go("#"));
  for (const tab of ["flow", "plan"]) {
    by(`tab-${tab}`).addEventListener("click", () => go(`#session=${chosen.id}&tab=${tab}`));
  }
  by("language").addEventListener("change", async () => {
    sessionStorage.setItem("greenlight-language", by("language").value);
    await speak(by("language").value);
    refresh();
  });
  addEventListener("hashchange", readLink);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refresh();
  });
  readLink();
}

start();
