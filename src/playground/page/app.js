// The page: who I am, which chat is open, what comes in.

import * as calls from "./calls.js";
import { make } from "./text.js";
import { bubble, face, initials, tone, welcome } from "./view.js";

const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const RTL = ["ar", "fa", "he", "ur"];
const state = {
  strings: {}, people: [], chats: [], bot: {}, languages: ["en"], messages: new Map(),
  me: 0, chat: 0, thread: null, language: "en", reply: null,
  read: new Map(), typing: new Map(), waiting: new Map(), open: new Set(), drawn: new Map(),
};

const getJson = async (path) => (await fetch(path)).json();
const post = (path, body) =>
  fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).then((reply) => (reply.status === 204 ? null : reply.json()));
const key = (chat, id) => `${chat}/${id}`;
const room = () => state.chats.find((one) => one.id === state.chat);
const place = (chat, thread) => `${state.me}:${chat}:${thread ?? 0}`;
const inThread = (message, thread) => (message.thread ?? null) === (thread ?? null);
const visible = (chat, thread) =>
  [...state.messages.values()].filter((one) => one.chat === chat && !one.deleted && inThread(one, thread)).sort((a, b) => a.id - b.id);
const mine = () => state.chats.filter((one) => one.kind !== "private" ? one.members.includes(state.me) : one.id === state.me)
  .sort((a, b) => (b.kind === "private") - (a.kind === "private"));
const threads = (chat) => [null, ...chat.topics.map((topic) => topic.id)];

async function start() {
  const data = await load();
  const role = query.get("as") ?? "owner";
  state.me = (state.people.find((one) => one.role === role) ?? state.people[0])?.id ?? 0;
  const wanted = query.get("lang") ?? localStorage.getItem("language") ?? navigator.language;
  const language = state.languages.find((tag) => tag === wanted) ?? state.languages.find((tag) => wanted.startsWith(tag)) ?? state.languages[0];
  applyTheme(query.get("theme") ?? localStorage.getItem("theme"));
  await speak(language);
  calls.reset(data.calls);
  const group = state.chats.find((one) => one.kind !== "private");
  open(query.get("chat") === "group" && group ? group.id : state.me, Number(query.get("thread")) || null);
  document.documentElement.dataset.view = query.get("view") ?? "chat";
  if (query.get("pane") === "calls") document.documentElement.dataset.calls = "open";
  // A still page is for pictures: a browser that waits for the network would wait for ever.
  if (!query.has("still")) listen();
  setInterval(() => calls.tick(state.strings), 1000);
  calls.tick(state.strings);
  document.documentElement.dataset.ready = "yes";
}

async function load() {
  const data = await getJson("/page/snapshot");
  Object.assign(state, { people: data.people, chats: data.chats, bot: data.bot, languages: data.languages });
  state.messages = new Map(data.messages.map((one) => [key(one.chat, one.id), one]));
  $("notice").hidden = !data.notice;
  $("notice").textContent = data.notice ?? "";
  return data;
}

async function speak(language) {
  state.language = language;
  localStorage.setItem("language", language);
  state.strings = await getJson(`/page/strings?lang=${encodeURIComponent(language)}`);
  const html = document.documentElement;
  html.lang = language;
  html.dir = RTL.includes(language.split("-")[0]) ? "rtl" : "ltr";
  document.title = state.strings.title;
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = state.strings[node.dataset.t];
  $("text").placeholder = state.strings.write;
  for (const [id, name] of [["send", "send"], ["back", "back"], ["pane", "calls"], ["theme", "theme"], ["slash", "menu"], ["close", "cancel"]]) $(id).ariaLabel = state.strings[name];
  const names = new Intl.DisplayNames([language], { type: "language" });
  $("language").replaceChildren(...state.languages.map((tag) => {
    const option = make("option", "", names.of(tag));
    option.value = tag;
    option.selected = tag === language;
    return option;
  }));
  await Promise.all(state.people.map((one) => post("/page/language", { user: one.id, language })));
}

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function open(chat, thread = null) {
  const found = state.chats.find((one) => one.id === chat) ?? mine()[0];
  if (!found) return;
  state.chat = found.id;
  state.thread = found.forum ? thread : null;
  state.reply = null;
  document.documentElement.dataset.view = "chat";
  paint(true);
}

function become(id) {
  const chat = room();
  state.me = id;
  open(chat && chat.kind !== "private" ? chat.id : id, state.thread);
}

// ---- painting

function unread(chat, thread) {
  const after = state.read.get(place(chat, thread)) ?? 0;
  const fresh = visible(chat, thread).filter((one) => one.id > after && one.from !== state.me && !service(one));
  return { count: fresh.length, loud: fresh.some((one) => !one.silent) };
}

function total(chat) {
  return threads(chat).map((thread) => unread(chat.id, thread)).reduce(
    (sum, one) => ({ count: sum.count + one.count, loud: sum.loud || one.loud }), { count: 0, loud: false });
}

function badge(node, { count, loud }) {
  node.hidden = !count;
  node.textContent = count > 99 ? "99+" : count;
  node.classList.toggle("silent", !loud);
}

const service = (one) => (!one.text && !one.file);
const title = (chat) => (chat.kind === "private" ? state.bot.name : chat.title);

function paint(toEnd) {
  const atEnd = toEnd || nearEnd();
  if (nearEnd() || toEnd) markRead();
  paintPeople();
  paintChats();
  paintBar();
  paintMessages();
  if (atEnd) scrollToEnd();
  paintReply();
  paintDown();
}

function paintPeople() {
  const choose = (one, small) => {
    const button = make("button");
    button.type = "button";
    button.role = "radio";
    button.ariaChecked = String(one.id === state.me);
    button.ariaLabel = `${one.name}, ${state.strings[`role-${one.role}`]}`;
    button.append(face(one.id, one.name));
    if (!small) {
      const words = make("div");
      words.append(make("strong", "", one.name), make("small", "", state.strings[`role-${one.role}`]));
      button.append(words);
    }
    button.addEventListener("click", () => become(one.id));
    return button;
  };
  $("people").replaceChildren(...state.people.map((one) => choose(one, false)));
  $("faces").replaceChildren(...state.people.map((one) => choose(one, true)));
}

function paintChats() {
  $("chats").replaceChildren(...mine().map((chat) => {
    const button = make("button");
    button.type = "button";
    button.ariaCurrent = String(chat.id === state.chat);
    const newest = threads(chat).flatMap((thread) => visible(chat.id, thread)).filter((one) => one.text || one.file).sort((a, b) => a.date - b.date || a.id - b.id).at(-1);
    const words = make("div");
    const line = make("small", "", newest ? (newest.text || newest.file.name).slice(0, 60) : "");
    line.dir = "auto";
    words.append(make("strong", "", title(chat)), line);
    const count = make("b", "badge");
    badge(count, total(chat));
    button.append(face(chat.id, title(chat), chat.kind === "private"), words, count);
    button.addEventListener("click", () => open(chat.id));
    return button;
  }));
}

function paintBar() {
  const chat = room();
  if (!chat) return;
  const bot = chat.kind === "private";
  $("face").className = `face ${tone(chat.id, bot)}`;
  $("face").textContent = initials(title(chat));
  $("name").textContent = title(chat);
  const busy = state.typing.has(`${chat.id}/${state.thread ?? 0}`);
  $("status").textContent = busy ? state.strings.typing : bot ? state.strings.bot : `${chat.members.length + 1} ${state.strings.members}`;
  $("status").classList.toggle("busy", busy);
  badge($("others"), mine().filter((one) => one.id !== chat.id).map(total).reduce((sum, one) => ({ count: sum.count + one.count, loud: sum.loud || one.loud }), { count: 0, loud: false }));
  $("topics").hidden = !chat.forum;
  $("topics").replaceChildren(...(chat.forum ? threads(chat) : []).map((thread) => {
    const name = thread === null ? state.strings["topic-general"] : chat.topics.find((topic) => topic.id === thread).name;
    const button = make("button", "", name);
    button.type = "button";
    button.ariaCurrent = String(thread === state.thread);
    const count = make("b", "badge");
    badge(count, thread === state.thread ? { count: 0 } : unread(chat.id, thread));
    button.append(count);
    button.addEventListener("click", () => open(chat.id, thread));
    return button;
  }));
}

function paintMessages() {
  const shown = visible(state.chat, state.thread).filter((one) => !service(one));
  const known = new Set([...$("messages").querySelectorAll(".bubble")].map((node) => `${$("messages").dataset.place}/${node.dataset.id}`));
  const here = place(state.chat, state.thread);
  const nodes = [];
  let day = "";
  const kept = new Map();
  shown.forEach((one, index) => {
    const date = new Date(one.date * 1000).toLocaleDateString(state.language, { day: "numeric", month: "long" });
    if (date !== day) nodes.push(keep(`day/${date}`, date, () => [make("div", "day", date)], kept)[0]);
    day = date;
    const context = {
      me: state.me, strings: state.strings, language: state.language, open: state.open, waiting: state.waiting,
      group: room()?.kind !== "private", previous: shown[index - 1], next: one.keyboard.length ? null : shown[index + 1],
      find: (id) => [...state.messages.values()].find((other) => other.chat === one.chat && other.id === id && !other.deleted),
      onReply: answer, onTap: tap, onCommand: say, onJump: jump,
    };
    const waits = one.keyboard.flat().map((button) => state.waiting.has(`${one.chat}/${one.id}/${button.data}`));
    const sign = JSON.stringify([one, context.me, context.language, context.previous?.from, context.next?.from, one.reply_to && context.find(one.reply_to)?.text, waits]);
    const drawn = keep(key(one.chat, one.id), sign, () => bubble(one, context), kept);
    if ($("messages").dataset.place === here && !known.has(`${here}/${one.id}`)) drawn[0].classList.add("fresh");
    nodes.push(...drawn);
  });
  state.drawn = kept;
  $("messages").dataset.place = here;
  sync($("messages"), nodes.length ? nodes : [welcome(state.strings, (text) => say(room().kind === "private" ? text : `@${state.bot.username} ${text}`))]);
}

// What looks as before stays as it is: a tap or a selection survives the edits of other messages.
function keep(name, sign, draw, kept) {
  const old = state.drawn.get(name);
  const entry = old?.sign === sign ? old : { sign, nodes: draw() };
  kept.set(name, entry);
  return entry.nodes;
}

function sync(box, nodes) {
  const wanted = new Set(nodes);
  [...box.childNodes].filter((node) => !wanted.has(node)).forEach((node) => node.remove());
  nodes.forEach((node, place) => {
    if (box.childNodes[place] !== node) box.insertBefore(node, box.childNodes[place] ?? null);
  });
}

const nearEnd = () => $("messages").scrollHeight - $("messages").scrollTop - $("messages").clientHeight < 90;
const scrollToEnd = () => { $("messages").scrollTop = $("messages").scrollHeight; };

function markRead() {
  const newest = visible(state.chat, state.thread).at(-1);
  if (newest) state.read.set(place(state.chat, state.thread), newest.id);
}

function paintDown() {
  $("down").hidden = nearEnd();
  badge($("down").querySelector("b"), unread(state.chat, state.thread));
}

function paintReply() {
  $("answering").hidden = !state.reply;
  if (!state.reply) return;
  $("answering").querySelector("strong").textContent = `${state.strings.reply}: ${state.reply.author}`;
  $("answering").querySelector("span").textContent = state.reply.text.slice(0, 120);
}

function jump(id) {
  const node = $("messages").querySelector(`[data-id="${Number(id)}"]`);
  node?.scrollIntoView({ block: "center", behavior: "smooth" });
  node?.classList.add("flash");
}

// ---- acting

function answer(message) {
  state.reply = message;
  paintReply();
  $("text").focus();
}

async function say(text) {
  const words = text.trim();
  if (!words) return;
  const reply = state.reply;
  state.reply = null;
  await post("/page/say", { user: state.me, chat: state.chat, thread: state.thread, reply_to: reply?.id ?? null, text: words });
  scrollToEnd();
}

async function tap(message, button, node) {
  const name = `${message.chat}/${message.id}/${button.data}`;
  node.classList.add("busy");
  state.waiting.set(name, true);
  const id = await post("/page/tap", { user: state.me, chat: message.chat, message: message.id, data: button.data });
  state.waiting.set(name, id);
  // Telegram's spinner ends by itself as well.
  setTimeout(() => { if (state.waiting.delete(name)) paint(); }, 15_000);
}

let toastTimer = 0;
function toast(text) {
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $("toast").hidden = true; }, 3500);
}

function answered(body) {
  for (const name of [...state.waiting.keys()]) {
    if (state.waiting.get(name) === body.tap || (state.waiting.get(name) === true && name.startsWith(`${body.chat}/`) && name.endsWith(`/${body.data}`))) state.waiting.delete(name);
  }
  if (body.user === state.me && body.text) {
    if (body.alert) {
      $("alert").querySelector("p").textContent = body.text;
      $("alert").showModal();
    } else {
      toast(body.text);
    }
  }
  paint();
}

async function menu(show) {
  const box = $("menu");
  box.hidden = !show;
  if (!show) return;
  const commands = await getJson(`/page/menu?chat=${state.chat}&user=${state.me}`);
  const typed = $("text").value.trim().toLowerCase();
  const fitting = commands.filter((one) => !typed.startsWith("/") || `/${one.command}`.startsWith(typed));
  box.hidden = !fitting.length;
  box.replaceChildren(...fitting.map((one) => {
    const button = make("button");
    button.type = "button";
    button.append(make("b", "", `/${one.command}`), make("span", "", one.description));
    button.addEventListener("click", () => {
      box.hidden = true;
      $("text").value = "";
      say(room().kind === "private" ? `/${one.command}` : `/${one.command}@${state.bot.username}`);
    });
    return button;
  }));
}

// ---- live events

function listen() {
  const source = new EventSource("/page/events");
  let lost = false;
  source.addEventListener("open", async () => {
    if (lost) calls.reset((await load()).calls);
    lost = false;
    paint();
  });
  source.addEventListener("error", () => { lost = true; });
  source.addEventListener("message", (event) => take(JSON.parse(event.data)));
}

let pending = false;
function soon() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; paint(); });
}

async function take({ kind, body }) {
  if (kind === "message") {
    state.messages.set(key(body.chat, body.id), body);
    if (!state.chats.some((one) => one.id === body.chat)) await load();
    soon();
  } else if (kind === "typing") {
    const name = `${body.chat}/${body.thread ?? 0}`;
    clearTimeout(state.typing.get(name));
    state.typing.delete(name);
    if (body.on) state.typing.set(name, setTimeout(() => { state.typing.delete(name); paintBar(); }, 5000));
    paintBar();
  } else if (kind === "answer") {
    answered(body);
  } else if (kind === "call") {
    calls.add(body);
  } else if (kind === "reset") {
    calls.reset((await load()).calls);
    soon();
  }
}

// ---- controls

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("text").value;
  $("text").value = "";
  grow();
  $("menu").hidden = true;
  say(text);
});
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("composer").requestSubmit();
  }
  if (event.key === "Escape") { state.reply = null; $("menu").hidden = true; paintReply(); }
});
function grow() {
  $("text").style.height = "auto";
  $("text").style.height = `${$("text").scrollHeight}px`;
}
$("text").addEventListener("input", () => { grow(); menu(/^\/\S*$/.test($("text").value)); });
$("slash").addEventListener("click", () => menu($("menu").hidden));
$("answering").querySelector("button").addEventListener("click", () => { state.reply = null; paintReply(); });
$("back").addEventListener("click", () => { document.documentElement.dataset.view = "list"; });
$("pane").addEventListener("click", () => { document.documentElement.dataset.calls = "open"; });
$("close").addEventListener("click", () => { delete document.documentElement.dataset.calls; });
$("down").addEventListener("click", () => { scrollToEnd(); paint(); });
$("messages").addEventListener("scroll", () => { if (nearEnd()) { markRead(); paintChats(); paintBar(); } paintDown(); }, { passive: true });
$("language").addEventListener("change", async () => { await speak($("language").value); paint(); });
$("theme").addEventListener("click", () => {
  const html = document.documentElement;
  const dark = html.dataset.theme ? html.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  html.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", html.dataset.theme);
});

start();
